#include "fmi/elf.h"

#include "base/error.h"
#include "base/list.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_SYMBOLS 1000000

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#define OUR_MACHINE EM_NONE
#endif

typedef struct Image {
    const char* bytes;
    size_t length;
    ItmElf* elf;
    Elf64_Shdr* sections;
    int nsection;
    bool has_failed;  // memory
} Image;

// ---------------------------------------------------------------------------- bytes

// Copy a piece of the file; false if it is not all there.
static bool get_piece(const Image* image, void* to, uint64_t at, size_t size)
{
    if (at > image->length || size > image->length - at) {
        return false;
    }
    memcpy(to, image->bytes + at, size);
    return true;
}

// A text inside a section of texts; "" if it does not end there.
static const char* get_text(const Image* image, const Elf64_Shdr* texts, uint64_t offset)
{
    if (texts->sh_offset > image->length || texts->sh_size > image->length - texts->sh_offset ||
        offset >= texts->sh_size) {
        return "";
    }
    const char* start = image->bytes + texts->sh_offset + offset;
    return memchr(start, '\0', (size_t)(texts->sh_size - offset)) != NULL ? start : "";
}

static void add_name(Image* image, ItmElfNames* names, const char* text)
{
    const char* copy = text[0] != '\0' ? itm_owned_copy_string(&image->elf->owned, text) : NULL;
    if (text[0] != '\0' && (copy == NULL || !ITM_LIST_APPEND(*names, copy))) {
        image->has_failed = true;
    }
}

static int compare_names(const void* a, const void* b)
{
    return strcmp(*(const char* const*)a, *(const char* const*)b);
}

static void sort_names(ItmElfNames* names)
{
    if (names->count > 0) {
        qsort(names->items, (size_t)names->count, sizeof *names->items, compare_names);
    }
}

// ---------------------------------------------------------------------------- sections

// Sections of 32-bit files, widened.
static bool get_section(const Image* image, Elf64_Shdr* section, uint64_t at)
{
    Elf32_Shdr narrow;
    if (image->elf->bits == 64) {
        return get_piece(image, section, at, sizeof *section);
    }
    if (!get_piece(image, &narrow, at, sizeof narrow)) {
        return false;
    }
    *section = (Elf64_Shdr){.sh_type = narrow.sh_type,
                            .sh_offset = narrow.sh_offset,
                            .sh_size = narrow.sh_size,
                            .sh_link = narrow.sh_link,
                            .sh_info = narrow.sh_info};
    return true;
}

static const Elf64_Shdr* find_section(const Image* image, uint32_t type)
{
    for (int i = 0; i < image->nsection; i++) {
        if (image->sections[i].sh_type == type) {
            return &image->sections[i];
        }
    }
    return NULL;
}

static const Elf64_Shdr* get_texts(const Image* image, const Elf64_Shdr* section)
{
    static const Elf64_Shdr NONE;
    return section->sh_link < (uint32_t)image->nsection ? &image->sections[section->sh_link] : &NONE;
}

static void read_dynamic(Image* image)
{
    const Elf64_Shdr* section = find_section(image, SHT_DYNAMIC);
    size_t size = image->elf->bits == 64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
    for (uint64_t at = 0; section != NULL && at + size <= section->sh_size; at += size) {
        Elf64_Dyn wide = {0};
        Elf32_Dyn narrow = {0};
        if (!(image->elf->bits == 64 ? get_piece(image, &wide, section->sh_offset + at, size)
                                     : get_piece(image, &narrow, section->sh_offset + at, size))) {
            return;
        }
        int64_t tag = image->elf->bits == 64 ? wide.d_tag : narrow.d_tag;
        uint64_t value = image->elf->bits == 64 ? wide.d_un.d_val : narrow.d_un.d_val;
        if (tag == DT_NULL) {
            return;
        }
        const char* text = get_text(image, get_texts(image, section), value);
        if (tag == DT_NEEDED) {
            add_name(image, &image->elf->needed, text);
        } else if (tag == DT_RPATH || tag == DT_RUNPATH) {
            const char* copy = itm_owned_copy_string(&image->elf->owned, text);
            image->elf->run_path = copy != NULL ? copy : "";
        }
    }
}

static void read_symbols(Image* image)
{
    const Elf64_Shdr* section = find_section(image, SHT_DYNSYM);
    size_t size = image->elf->bits == 64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    int count = 0;
    for (uint64_t at = 0; section != NULL && at + size <= section->sh_size && count < MOST_SYMBOLS;
         at += size, count++) {
        Elf64_Sym wide = {0};
        Elf32_Sym narrow = {0};
        if (!(image->elf->bits == 64 ? get_piece(image, &wide, section->sh_offset + at, size)
                                     : get_piece(image, &narrow, section->sh_offset + at, size))) {
            break;
        }
        bool is_64 = image->elf->bits == 64;
        uint32_t name = is_64 ? wide.st_name : narrow.st_name;
        unsigned info = is_64 ? wide.st_info : narrow.st_info, other = is_64 ? wide.st_other : narrow.st_other;
        uint16_t place = is_64 ? wide.st_shndx : narrow.st_shndx;
        unsigned binding = info >> 4, kind = info & 15u, visibility = other & 3u;
        const char* text = get_text(image, get_texts(image, section), name);
        if (place == SHN_UNDEF) {
            // weak ones may stay undefined
            if (binding == STB_GLOBAL) {
                add_name(image, &image->elf->undefined, text);
            }
        } else if (binding != STB_LOCAL && visibility == STV_DEFAULT && kind <= STT_FUNC) {
            add_name(image, &image->elf->exported, text);
        }
    }
    sort_names(&image->elf->exported);
    sort_names(&image->elf->undefined);
}

// Versions of other libraries' symbols: a chain of libraries, each with a chain of versions. Same layout for 32 and 64 bits.
static void read_versions(Image* image)
{
    const Elf64_Shdr* section = find_section(image, SHT_GNU_verneed);
    uint64_t at = 0;
    for (int i = 0; section != NULL && i < 1000; i++) {
        Elf64_Verneed library;
        if (at >= section->sh_size || !get_piece(image, &library, section->sh_offset + at, sizeof library)) {
            return;
        }
        uint64_t inner = at + library.vn_aux;
        for (int k = 0; k < (int)library.vn_cnt && k < 1000; k++) {
            Elf64_Vernaux version;
            if (inner >= section->sh_size || !get_piece(image, &version, section->sh_offset + inner, sizeof version)) {
                return;
            }
            const char* text = get_text(image, get_texts(image, section), version.vna_name);
            if (strncmp(text, "GLIBC_", 6) == 0) {
                add_name(image, &image->elf->versions, text);
            }
            inner += version.vna_next;
        }
        at += library.vn_next;
        if (library.vn_next == 0) {
            return;
        }
    }
}

// ---------------------------------------------------------------------------- reading

static const char* get_machine(int machine)
{
    switch (machine) {
    case EM_X86_64:
        return "x86_64";
    case EM_AARCH64:
        return "aarch64";
    case EM_386:
        return "x86";
    case EM_ARM:
        return "aarch32";
    default:
        return "other";
    }
}

// Header and table of sections; false if the file is not an ELF library of little-endian order, complete.
static bool read_header(Image* image)
{
    unsigned char id[EI_NIDENT];
    if (!get_piece(image, id, 0, sizeof id) || memcmp(id, ELFMAG, SELFMAG) != 0 || id[EI_DATA] != ELFDATA2LSB) {
        return false;
    }
    Elf64_Ehdr wide = {0};
    Elf32_Ehdr narrow = {0};
    bool is_64 = id[EI_CLASS] == ELFCLASS64;
    if (!(is_64 ? get_piece(image, &wide, 0, sizeof wide) : get_piece(image, &narrow, 0, sizeof narrow))) {
        return false;
    }
    int type = is_64 ? wide.e_type : narrow.e_type;
    int machine = is_64 ? wide.e_machine : narrow.e_machine;
    uint64_t at = is_64 ? wide.e_shoff : narrow.e_shoff;
    size_t size = is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
    int count = is_64 ? wide.e_shnum : narrow.e_shnum;
    image->elf->bits = is_64 ? 64 : 32;
    image->elf->machine = get_machine(machine);
    image->elf->is_ours = machine == OUR_MACHINE && is_64;
    image->sections = calloc((size_t)count + 1, sizeof *image->sections);
    if (type != ET_DYN || image->sections == NULL) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (!get_section(image, &image->sections[i], at + (uint64_t)i * size)) {
            return false;
        }
    }
    image->nsection = count;
    return true;
}

ItmStatus itm_elf_read(ItmElf* elf, const char* bytes, size_t length, const char* name, ItmError* error)
{
    *elf = (ItmElf){.run_path = "", .machine = "other"};
    Image image = {.bytes = bytes, .length = length, .elf = elf};
    ItmStatus status = ITM_OK;
    if (!read_header(&image)) {
        status = itm_error_set(error, ITM_ERR_INPUT, __func__, NULL,
                               "%.200s is not a complete shared library of Linux (ELF)", name);
    } else {
        read_dynamic(&image);
        read_symbols(&image);
        read_versions(&image);
        if (image.has_failed) {
            status = itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
        }
    }
    free(image.sections);
    if (status != ITM_OK) {
        itm_elf_free(elf);
    }
    return status;
}

void itm_elf_free(ItmElf* elf)
{
    free(elf->needed.items);
    free(elf->versions.items);
    free(elf->exported.items);
    free(elf->undefined.items);
    itm_owned_free(&elf->owned);
    *elf = (ItmElf){.run_path = "", .machine = "other"};
}

bool itm_elf_exports(const ItmElf* elf, const char* symbol)
{
    return elf->exported.count > 0 && bsearch(&symbol, elf->exported.items, (size_t)elf->exported.count,
                                              sizeof *elf->exported.items, compare_names) != NULL;
}

const char* itm_elf_get_c_library(const ItmElf* elf)
{
    const char* newest = "";
    int best[2] = {0, 0};
    for (int i = 0; i < elf->versions.count; i++) {
        int v[2] = {0, 0};
        if (sscanf(elf->versions.items[i], "GLIBC_%d.%d", &v[0], &v[1]) == 2 &&
            (v[0] > best[0] || (v[0] == best[0] && v[1] > best[1]))) {
            best[0] = v[0];
            best[1] = v[1];
            newest = elf->versions.items[i] + 6;
        }
    }
    return newest;
}

// ---------------------------------------------------------------------------- libraries of this machine

// The loader's cache holds the names of all libraries in its folders as texts that end with a zero byte.
static bool is_in_cache(const char* name)
{
    FILE* file = fopen("/etc/ld.so.cache", "rb");
    if (file == NULL) {
        return false;
    }
    size_t n = strlen(name) + 1, capacity = 0, length = 0;
    char* bytes = NULL;
    for (size_t got = 1; got > 0 && length < (64u << 20);) {
        if (length == capacity) {
            capacity = 2 * capacity + 65536;
            char* moved = realloc(bytes, capacity);
            if (moved == NULL) {
                break;
            }
            bytes = moved;
        }
        got = fread(bytes + length, 1, capacity - length, file);
        length += got;
    }
    fclose(file);
    bool is_there = false;
    for (size_t i = 1; i + n <= length && !is_there; i++) {
        is_there = bytes[i - 1] == '\0' && memcmp(bytes + i, name, n) == 0;
    }
    free(bytes);
    return is_there;
}

static bool is_in_folders(const char* name, const char* folders)
{
    char path[1024];
    for (const char* at = folders; at != NULL && *at != '\0';) {
        size_t n = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)(n < 700 ? n : 700), at, name);
        if (n > 0 && access(path, R_OK) == 0) {
            return true;
        }
        at += n + (at[n] == ':');
    }
    return false;
}

bool itm_elf_has_library(const char* name)
{
    return is_in_folders(name, getenv("LD_LIBRARY_PATH")) || is_in_cache(name) ||
           is_in_folders(name, "/lib64:/usr/lib64:/lib:/usr/lib:/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:"
                               "/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu");
}

const char* itm_elf_get_package(const char* name)
{
    static const char* const PACKAGES[][2] = {{"libblas.so.3", "libblas3"},
                                              {"libboost_filesystem.so.1.74.0", "libboost-filesystem1.74.0"},
                                              {"libc.so.6", "libc6"},
                                              {"libcrypto.so.3", "libssl3"},
                                              {"libcurl.so.4", "libcurl4"},
                                              {"libexpat.so.1", "libexpat1"},
                                              {"libgcc_s.so.1", "libgcc-s1"},
                                              {"libgfortran.so.3", ""},
                                              {"libgfortran.so.4", ""},
                                              {"libgfortran.so.5", "libgfortran5"},
                                              {"libgomp.so.1", "libgomp1"},
                                              {"libgsl.so.27", "libgsl27"},
                                              {"libhdf5_serial.so.103", "libhdf5-103-1"},
                                              {"liblapack.so.3", "liblapack3"},
                                              {"libopenblas.so.0", "libopenblas0"},
                                              {"libpython2.7.so.1.0", ""},
                                              {"libpython3.11.so.1.0", "libpython3.11"},
                                              {"libquadmath.so.0", "libquadmath0"},
                                              {"libsqlite3.so.0", "libsqlite3-0"},
                                              {"libssl.so.3", "libssl3"},
                                              {"libstdc++.so.6", "libstdc++6"},
                                              {"libsundials_cvode.so.6", "libsundials-cvode6"},
                                              {"libuuid.so.1", "libuuid1"},
                                              {"libX11.so.6", "libx11-6"},
                                              {"libxml2.so.2", "libxml2"},
                                              {"libz.so.1", "zlib1g"},
                                              {"libzmq.so.5", "libzmq5"},
                                              {"libGL.so.1", "libgl1"},
                                              {"libatomic.so.1", "libatomic1"},
                                              {"libssl.so.1.1", ""},
                                              {"libcrypto.so.1.1", ""},
                                              {"libncurses.so.5", ""},
                                              {"libtinfo.so.5", ""},
                                              {"libpng12.so.0", ""}};
    for (size_t i = 0; i < sizeof PACKAGES / sizeof *PACKAGES; i++) {
        if (strcmp(name, PACKAGES[i][0]) == 0) {
            return PACKAGES[i][1];
        }
    }
    return NULL;
}

// Beginnings of names; "dgemm_" alone stands for BLAS, because its names have no common beginning.
const char* itm_elf_get_clash(const char* symbol)
{
    static const char* const STARTS[][2] = {
        {"CVode", "SUNDIALS"},  {"CVSpils", "SUNDIALS"}, {"CVDls", "SUNDIALS"},   {"N_V", "SUNDIALS"},
        {"SUNLin", "SUNDIALS"}, {"SUNMat", "SUNDIALS"},  {"KIN", "SUNDIALS"},     {"IDA", "SUNDIALS"},
        {"cblas_", "BLAS"},     {"LAPACKE_", "LAPACK"},  {"xmlParse", "libxml2"}, {"XML_Parse", "expat"},
        {"H5F", "HDF5"},        {"zip_", "libzip"},      {"inflate", "zlib"},     {"deflate", "zlib"}};
    static const char* const SYMBOLS[][2] = {{"dgemm_", "BLAS"},    {"daxpy_", "BLAS"},    {"ddot_", "BLAS"},
                                             {"dscal_", "BLAS"},    {"dgemv_", "BLAS"},    {"dgesv_", "LAPACK"},
                                             {"dgetrf_", "LAPACK"}, {"dgetrs_", "LAPACK"}, {"dgeev_", "LAPACK"}};
    for (size_t i = 0; i < sizeof STARTS / sizeof *STARTS; i++) {
        if (strncmp(symbol, STARTS[i][0], strlen(STARTS[i][0])) == 0) {
            return STARTS[i][1];
        }
    }
    for (size_t i = 0; i < sizeof SYMBOLS / sizeof *SYMBOLS; i++) {
        if (strcmp(symbol, SYMBOLS[i][0]) == 0) {
            return SYMBOLS[i][1];
        }
    }
    return NULL;
}
