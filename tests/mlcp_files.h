// Readers for the problem files that others made (formats: README of the data folder), for tests.
#ifndef ITM_TESTS_MLCP_FILES_H
#define ITM_TESTS_MLCP_FILES_H

#include "interim/mlcp.h"

typedef struct MlcpFile {
    double *H, *b, *lo, *up;
    ItmMlcpContact* contacts;
    ItmMlcpProblem problem;  // points into the arrays above
} MlcpFile;

typedef enum MlcpFormat { MLCP_FILE_LCP, MLCP_FILE_MLCP, MLCP_FILE_FRICTION, MLCP_FILE_BOXED } MlcpFormat;

// Returns false if the file cannot be read as that format; nothing is then left allocated.
bool mlcp_file_read(MlcpFile* file, const char* path, MlcpFormat format);
void mlcp_file_free(MlcpFile* file);

#endif
