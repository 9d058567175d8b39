// Files that a model refers to, whose bytes and size are not trusted, and files in folders that others may write to.
#ifndef ITM_IO_BYTES_H
#define ITM_IO_BYTES_H

#include <stddef.h>
#include <stdio.h>

// The whole of a regular file (a device or a pipe may never end) of at most `most` bytes, with a zero byte behind it. NULL
// on failure, and *why holds the reason. The caller frees it.
char* itm_bytes_read(const char* path, size_t most, size_t* length, const char** why);

// A stream of mode "wb" (made or truncated) or "r+b". A symbolic link of this name, which somebody else may have put into a shared folder,
// is not followed. NULL with errno on failure.
FILE* itm_bytes_open(const char* path, const char* mode);

#endif
