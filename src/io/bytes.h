// The bytes of a file that a model refers to. Neither the file nor its size is trusted.
#ifndef ITM_IO_BYTES_H
#define ITM_IO_BYTES_H

#include <stddef.h>

// The whole of a regular file (a device or a pipe may never end) of at most `most` bytes, with a zero byte behind it. NULL
// on failure, and *why holds the reason. The caller frees it.
char* itm_bytes_read(const char* path, size_t most, size_t* length, const char** why);

#endif
