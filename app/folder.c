// Folders for temporary files.
#include "app.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char* app_folder_create(const char* command, const char* purpose)
{
    const char* base = getenv("TMPDIR");
    base = base != NULL && base[0] != '\0' ? base : "/tmp";
    size_t size = strlen(base) + sizeof "/interim-XXXXXX";
    char* path = malloc(size);
    if (path != NULL) {
        snprintf(path, size, "%s/interim-XXXXXX", base);
    }
    if (path == NULL || mkdtemp(path) == NULL) {
        fprintf(stderr,
                "interim %s: %s: cannot create a folder in '%s': %s; set TMPDIR to a folder that can be written\n",
                command, purpose, base, strerror(errno));
        free(path);
        return NULL;
    }
    return path;
}

char* app_folder_join(const char* folder, const char* name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char* path = malloc(size);
    if (path != NULL) {
        snprintf(path, size, "%s/%s", folder, name);
    }
    return path;
}

void app_folder_remove(char* folder)
{
    char* pattern = folder != NULL ? app_folder_join(folder, "*") : NULL;
    glob_t files = {0};
    if (pattern != NULL && glob(pattern, GLOB_NOSORT, NULL, &files) == 0) {
        for (size_t i = 0; i < files.gl_pathc; i++) {
            unlink(files.gl_pathv[i]);
        }
    }
    if (pattern != NULL) {
        globfree(&files);
        rmdir(folder);
    }
    free(pattern);
    free(folder);
}
