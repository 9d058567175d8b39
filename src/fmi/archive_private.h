// Inside of an archive, for archive*.c.
#ifndef ITM_FMI_ARCHIVE_PRIVATE_H
#define ITM_FMI_ARCHIVE_PRIVATE_H

#include "base/list.h"
#include "base/owned.h"
#include "fmi/archive.h"

#include <sys/types.h>
#include <zip.h>

typedef struct ItmArchiveEntry {
    ItmArchiveFile file;
    zip_uint64_t index;  // in the ZIP
    uint32_t checksum;   // of its bytes, as the ZIP declares it
    bool is_executable;
} ItmArchiveEntry;

struct ItmArchive {
    char* path;
    bool is_folder;
    ItmArchiveLimits limits;
    zip_t* zip;      // NULL for a folder
    uint64_t size;   // packed, bytes
    uint64_t total;  // unpacked, bytes
    struct {
        ItmArchiveEntry* items;
        int count, capacity;
    } entries;  // sorted by name
    ItmOwned owned;
    char* folder;  // where it is unpacked, or NULL
    pid_t owner;   // process that unpacked it; 0: none
};

// archive_folder.c: remove what was unpacked.
void itm_archive_release_folder(ItmArchive* a);

#endif
