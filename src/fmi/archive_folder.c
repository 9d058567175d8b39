// The private folder of a process, in which archives are unpacked, and its removal.
//
// The folder is locked (flock) as long as the process lives; the kernel releases the lock when the process dies, however
// it dies. So a folder whose lock can be taken belongs to nobody, also where processes cannot see each other's numbers.
#define _DEFAULT_SOURCE  // syscall
#include "fmi/archive_private.h"

#include "base/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PREFIX "interim-fmu-"
#define DEEPEST 64

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char process_folder[PATH_MAX / 2];
static atomic_int process_owner;  // the process whose folder it is; 0: there is none
static int process_lock = -1;     // descriptor of the folder
static int process_users;         // archives unpacked in it
static int process_count;         // number of the next archive in it

// ---------------------------------------------------------------------------- removal

// What the kernel returns for getdents64, which readdir hides behind an allocation that a signal handler must not make.
typedef struct Entry {
    uint64_t inode;
    int64_t offset;
    unsigned short size;
    unsigned char type;
    char name[];
} Entry;

static void remove_tree(int parent, const char* name, int depth);

// One buffer of entries; the number of removed ones.
static int remove_some(int folder, int depth)
{
    _Alignas(Entry) char buffer[2048];
    int nremoved = 0;
    lseek(folder, 0, SEEK_SET);
    long n = syscall(SYS_getdents64, folder, buffer, sizeof buffer);
    for (long at = 0; at < n;) {
        const Entry* e = (const Entry*)(const void*)(buffer + at);
        if (strcmp(e->name, ".") != 0 && strcmp(e->name, "..") != 0) {
            remove_tree(folder, e->name, depth + 1);
            struct stat s;
            nremoved += fstatat(folder, e->name, &s, AT_SYMLINK_NOFOLLOW) != 0;
        }
        at += e->size;
    }
    return nremoved;
}

// Remove a file or a folder with all inside. Links are removed, not followed. Safe in a signal handler.
static void remove_tree(int parent, const char* name, int depth)
{
    if (unlinkat(parent, name, 0) == 0 || depth > DEEPEST) {
        return;
    }
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) {
        return;
    }
    while (remove_some(folder, depth) > 0) {
    }
    close(folder);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void itm_archive_remove_all(void)
{
    int saved = errno;
    if (atomic_load(&process_owner) == (int)getpid()) {
        remove_tree(AT_FDCWD, process_folder, 0);
    }
    errno = saved;
}

static const char* get_temporary(void)
{
    const char* folder = getenv("TMPDIR");
    return folder != NULL && folder[0] == '/' && strlen(folder) < sizeof process_folder / 2 ? folder : "/tmp";
}

// Remove a folder unless a living process holds its lock.
static bool remove_if_stale(int parent, const char* name)
{
    struct stat s;
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool is_stale =
        folder >= 0 && fstat(folder, &s) == 0 && s.st_uid == geteuid() && flock(folder, LOCK_EX | LOCK_NB) == 0;
    if (is_stale) {
        remove_tree(parent, name, 0);
    }
    if (folder >= 0) {
        close(folder);
    }
    return is_stale;
}

int itm_archive_remove_stale(void)
{
    int nremoved = 0;
    DIR* temporary = opendir(get_temporary());
    for (const struct dirent* e = temporary != NULL ? readdir(temporary) : NULL; e != NULL; e = readdir(temporary)) {
        if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) == 0) {
            nremoved += remove_if_stale(dirfd(temporary), e->d_name);
        }
    }
    if (temporary != NULL) {
        closedir(temporary);
    }
    return nremoved;
}

// ---------------------------------------------------------------------------- the folder of the process

// A new folder with its lock taken. Another process may find it unlocked for a moment and remove it: then again.
static bool make_process_folder(void)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        snprintf(process_folder, sizeof process_folder, "%s/" PREFIX "%ld-XXXXXX", get_temporary(), (long)getpid());
        if (mkdtemp(process_folder) == NULL) {
            return false;
        }
        int fd = open(process_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct stat s;
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && stat(process_folder, &s) == 0) {
            process_lock = fd;
            return true;
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    return false;
}

// Count one more user of the process's folder, made with the first. The mutex is held.
static ItmStatus enter(ItmError* error)
{
    static bool is_registered;
    if (!is_registered) {
        is_registered = true;
        itm_archive_remove_stale();
        atexit(itm_archive_remove_all);
    }
    if (atomic_load(&process_owner) != (int)getpid()) {
        // none yet, or that of the process we were forked from
        if (process_lock >= 0) {
            close(process_lock);
            process_lock = -1;
        }
        process_users = 0;
        if (!make_process_folder()) {
            return itm_error_set(error, ITM_ERR_IO, "itm_archive_unpack", NULL,
                                 "cannot make a private folder in %s: %s; set TMPDIR to a folder that can be written",
                                 get_temporary(), strerror(errno));
        }
        atomic_store(&process_owner, (int)getpid());
    }
    process_users++;
    return ITM_OK;
}

static void leave(void)
{
    if (--process_users == 0) {
        itm_archive_remove_all();
        atomic_store(&process_owner, 0);
        close(process_lock);
        process_lock = -1;
    }
}

void itm_archive_release_folder(ItmArchive* a)
{
    if (a->folder != NULL && a->owner == getpid()) {
        pthread_mutex_lock(&mutex);
        remove_tree(AT_FDCWD, a->folder, 0);
        leave();
        pthread_mutex_unlock(&mutex);
    }
    free(a->folder);
    a->folder = NULL;
    a->owner = 0;
}

// ---------------------------------------------------------------------------- unpacking

// Make the folders of a name below `root`. Names are clean: they cannot lead out, and links do not exist there.
static bool make_folders(const char* root, const char* name)
{
    char path[PATH_MAX];
    size_t length = (size_t)snprintf(path, sizeof path, "%s/", root);
    for (const char* slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        int n = snprintf(path + length, sizeof path - length, "%.*s", (int)(slash - name), name);
        if (n >= (int)(sizeof path - length) || (mkdir(path, 0700) != 0 && errno != EEXIST)) {
            return false;
        }
    }
    return true;
}

// Copy from the ZIP to a descriptor, exactly as many bytes as declared. NULL: done; otherwise the reason.
static const char* copy_bytes(int to, zip_file_t* from, uint64_t size)
{
    char buffer[65536];
    uint64_t done = 0;
    for (;;) {
        zip_int64_t n = zip_fread(from, buffer, sizeof buffer);
        if (n <= 0) {
            return n == 0 && done == size ? NULL : "it is damaged";
        }
        done += (uint64_t)n;
        if (done > size) {
            return "it is longer than the archive declares";
        }
        for (zip_int64_t at = 0; at < n;) {
            ssize_t written = write(to, buffer + at, (size_t)(n - at));
            if (written < 0 && errno != EINTR) {
                return strerror(errno);
            }
            at += written > 0 ? written : 0;
        }
    }
}

static ItmStatus unpack_file(ItmArchive* a, const ItmArchiveEntry* e, ItmError* error)
{
    char path[PATH_MAX];
    const char* why = NULL;
    int n = snprintf(path, sizeof path, "%s/%s", a->folder, e->file.name);
    int to = -1;
    zip_file_t* from = NULL;
    if (n < 0 || n >= (int)sizeof path) {
        why = "the path is too long";
    } else if (!make_folders(a->folder, e->file.name) ||
               (to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, e->is_executable ? 0700 : 0600)) <
                   0) {
        why = strerror(errno);
    } else if ((from = zip_fopen_index(a->zip, e->index, 0)) == NULL) {
        why = zip_strerror(a->zip);
    } else {
        why = copy_bytes(to, from, e->file.size);
    }
    ItmStatus status = ITM_OK;
    if (why != NULL) {
        status = itm_error_set(error, ITM_ERR_IO, "itm_archive_unpack", NULL, "%s!%s: cannot be unpacked: %s", a->path,
                               e->file.name, why);
    }
    if (from != NULL) {
        zip_fclose(from);
    }
    if (to >= 0) {
        close(to);
    }
    return status;
}

static ItmStatus enter_folder(ItmArchive* a, ItmError* error)
{
    pthread_mutex_lock(&mutex);
    ItmStatus status = enter(error);
    if (status == ITM_OK) {
        size_t size = strlen(process_folder) + 16;
        a->folder = malloc(size);
        if (a->folder != NULL) {
            snprintf(a->folder, size, "%s/%d", process_folder, process_count++);
        }
        if (a->folder == NULL || mkdir(a->folder, 0700) != 0) {
            status = itm_error_set(error, a->folder == NULL ? ITM_ERR_MEMORY : ITM_ERR_IO, "itm_archive_unpack", NULL,
                                   "cannot make a folder in %s: %s", process_folder, strerror(errno));
            free(a->folder);
            a->folder = NULL;
            leave();
        } else {
            a->owner = getpid();
        }
    }
    pthread_mutex_unlock(&mutex);
    return status;
}

ItmStatus itm_archive_unpack(ItmArchive* archive, const char** folder, ItmError* error)
{
    *folder = NULL;
    ItmStatus status = ITM_OK;
    if (archive->folder == NULL && archive->is_folder) {
        archive->folder = realpath(archive->path, NULL);
        if (archive->folder == NULL) {
            status = itm_error_set(error, ITM_ERR_IO, __func__, NULL, "%s: %s", archive->path, strerror(errno));
        }
    } else if (archive->folder == NULL) {
        status = enter_folder(archive, error);
        for (int i = 0; i < archive->entries.count && status == ITM_OK; i++) {
            status = unpack_file(archive, &archive->entries.items[i], error);
        }
        if (status != ITM_OK) {
            itm_archive_release_folder(archive);
        }
    }
    *folder = archive->folder;
    return status;
}
