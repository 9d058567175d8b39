#include "io/results/hdf5.h"

#include "base/error.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

// ITM_HDF5_LIBRARY is the name with the version of the interface that the headers belong to. It has no slash, so the loader looks in
// the folders of the system, as for any library that a program is linked with.

#define ITM_HDF5_NAME(name) #name,

static pthread_once_t once = PTHREAD_ONCE_INIT;
static ItmHdf5 library;
static char reason[256];  // why it is not there, otherwise ""

_Static_assert(sizeof(void (*)(void)) == sizeof(void*), "the table holds addresses of one size");

static bool find(void* handle, const char* name, void* address)
{
    void* symbol = dlsym(handle, name);
    if (symbol == NULL) {
        snprintf(reason, sizeof reason, "%s has no '%s'", ITM_HDF5_LIBRARY, name);
        return false;
    }
    memcpy(address, &symbol, sizeof symbol);
    return true;
}

static void load(void)
{
    void* handle = dlopen(ITM_HDF5_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char* why = dlerror();
        snprintf(reason, sizeof reason, "%s", why != NULL ? why : "unknown reason");
        return;
    }
    // the symbols are the fields of the table in order
    static const char* const NAMES[] = {ITM_HDF5_SYMBOLS(ITM_HDF5_NAME)};
    char* field = (char*)&library;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0] && find(handle, NAMES[i], field); i++) {
        field += sizeof(void*);
    }
    if (reason[0] != '\0') {
        dlclose(handle);
    }
}

ItmStatus itm_hdf5_load(ItmError* error)
{
    pthread_once(&once, load);
    return reason[0] == '\0' ? ITM_OK
                             : itm_error_set(error, ITM_ERR_UNSUPPORTED, __func__, NULL,
                                             "the HDF5 library cannot be loaded: %s; use .csv files", reason);
}

const ItmHdf5* itm_hdf5_get(void)
{
    return &library;
}

// ---------------------------------------------------------------------------- texts

hid_t itm_hdf5_make_string_type(const char* text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

bool itm_hdf5_write_string(hid_t object, const char* name, const char* text)
{
    if (H5Aexists(object, name) > 0 && H5Adelete(object, name) < 0) {
        return false;
    }
    hid_t type = itm_hdf5_make_string_type(text);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool is_written = attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
    if (attribute >= 0) {
        H5Aclose(attribute);
    }
    H5Sclose(space);
    H5Tclose(type);
    return is_written;
}
