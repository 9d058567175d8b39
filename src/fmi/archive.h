// FMUs and SSP files as archives: a ZIP file or a folder. The archive is not trusted: names cannot leave it, and its size is
// limited before anything is unpacked.
//
// Reading one file needs no unpacking. Running an FMU does: itm_archive_unpack puts everything into a private folder below
// $TMPDIR. All folders of one process are inside one folder, which the last itm_archive_close, the exit of the process, or
// itm_archive_remove_all removes. The folder of a killed process is removed by the next process that unpacks something.
#ifndef ITM_FMI_ARCHIVE_H
#define ITM_FMI_ARCHIVE_H

#include "interim/base.h"

#include <stdint.h>

typedef struct ItmArchive ItmArchive;

typedef struct ItmArchiveLimits {
    int files;       // files and folders in the archive
    uint64_t total;  // all files unpacked, bytes
    uint64_t file;   // one file unpacked, bytes
    double ratio;    // unpacked to packed size of the whole archive, where more than `free` bytes come out of it
    uint64_t free;   // bytes
} ItmArchiveLimits;

ItmArchiveLimits itm_default_archive_limits(void);

// One file of the archive. Folders are not listed.
typedef struct ItmArchiveFile {
    const char* name;      // inside the archive, separators "/", UTF-8
    uint64_t size;         // unpacked, bytes
    bool had_backslashes;  // the archive writes the name with "\"
} ItmArchiveFile;

// Open a ZIP file, or a folder with the same content. limits: NULL for the defaults. ITM_ERR_IO if it cannot be read,
// ITM_ERR_INPUT if it is refused; the message names the file inside and the reason.
ItmStatus itm_archive_open(ItmArchive** archive, const char* path, const ItmArchiveLimits* limits, ItmError* error);
// The same from bytes, which must live as long as the archive. name: for messages.
ItmStatus itm_archive_open_bytes(ItmArchive** archive, const void* bytes, size_t length, const char* name,
                                 const ItmArchiveLimits* limits, ItmError* error);
// Free it and remove what was unpacked. NULL does nothing.
void itm_archive_close(ItmArchive* archive);

// Path as given to open.
const char* itm_archive_get_path(const ItmArchive* archive);
// Size of the ZIP file, or of all files of the folder, bytes.
uint64_t itm_archive_get_size(const ItmArchive* archive);
bool itm_archive_is_folder(const ItmArchive* archive);
// The files, sorted by name.
int itm_archive_get_count(const ItmArchive* archive);
const ItmArchiveFile* itm_archive_get_file(const ItmArchive* archive, int index);
// Index of a file, or ITM_NONE.
int itm_archive_find(const ItmArchive* archive, const char* name);

// All bytes of one file of at most `most` bytes, with a zero byte behind them; to be freed.
ItmStatus itm_archive_read(ItmArchive* archive, char** bytes, size_t* length, const char* name, size_t most,
                           ItmError* error);

// Unpack everything, once; *folder is the absolute path of the root (for an FMU in a folder that folder itself, made
// absolute) and belongs to the archive.
ItmStatus itm_archive_unpack(ItmArchive* archive, const char** folder, ItmError* error);

// Remove the folder of this process at once. Only calls that a signal handler may make; does nothing in a process that
// was forked from the one that unpacked.
void itm_archive_remove_all(void);
// Remove folders that dead processes of this user left behind; their number. itm_archive_unpack calls it once.
int itm_archive_remove_stale(void);

#endif
