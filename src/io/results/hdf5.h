// The HDF5 library, loaded when the first .h5 file is read or written: it brings some forty other libraries along, and runs with CSV
// results need none of them. Files that include this header call its functions as usual, after itm_hdf5_load.
#ifndef ITM_IO_RESULTS_HDF5_H
#define ITM_IO_RESULTS_HDF5_H

#include "interim/base.h"

#include <hdf5.h>

// Functions and variables in use.
// clang-format off
#define ITM_HDF5_SYMBOLS(X)                                                                                            \
    X(H5Aclose)                                                                                                        \
    X(H5Acreate2)                                                                                                      \
    X(H5Aexists) X(H5Aget_type) X(H5Aopen) X(H5Aread) X(H5Awrite) X(H5Dclose) X(H5Dcreate2) X(H5Dget_space)            \
        X(H5Dget_type) X(H5Dopen2) X(H5Dread) X(H5Dset_extent) X(H5Dwrite) X(H5Eauto_is_v2) X(H5Eget_auto1)            \
            X(H5Eget_auto2) X(H5Eset_auto1) X(H5Eset_auto2) X(H5Fclose) X(H5Fcreate) X(H5Fflush) X(H5Fget_eoa)         \
                X(H5Fopen) X(H5Gclose) X(H5Gcreate2) X(H5Gopen2) X(H5Literate) X(H5P_CLS_DATASET_CREATE_ID_g)          \
                    X(H5P_CLS_FILE_CREATE_ID_g) X(H5Pclose) X(H5Pcreate) X(H5Pset_chunk) X(H5Pset_deflate)             \
                        X(H5Pset_link_creation_order) X(H5Pset_shuffle) X(H5Sclose) X(H5Screate) X(H5Screate_simple)   \
                            X(H5Sget_simple_extent_dims) X(H5Sget_simple_extent_ndims) X(H5Sget_simple_extent_npoints) \
                                X(H5Sselect_hyperslab) X(H5T_C_S1_g) X(H5T_IEEE_F32LE_g) X(H5T_IEEE_F64LE_g)           \
                                    X(H5T_NATIVE_DOUBLE_g) X(H5T_NATIVE_FLOAT_g) X(H5T_NATIVE_INT32_g)                 \
                                        X(H5T_STD_I32LE_g) X(H5Tclose) X(H5Tcopy) X(H5Tget_class)                      \
                                            X(H5Tis_variable_str) X(H5Tset_cset) X(H5Tset_size) X(H5Zfilter_avail)     \
                                                X(H5check_version) X(H5free_memory) X(H5open)       \
    X(H5Adelete) X(H5Aget_space) X(H5Gget_info) X(H5Iget_type) X(H5Lexists) X(H5Oclose) \
    X(H5Oopen) X(H5P_CLS_FILE_ACCESS_ID_g) X(H5Pset_fletcher32) X(H5Pset_istore_k) X(H5Pset_libver_bounds) X(H5Pset_obj_track_times) X(H5Tget_size) \
    X(H5Fget_file_image) X(H5Pset_fapl_core) X(H5Dget_create_plist) X(H5Lunregister) X(H5PLset_loading_state) X(H5Pget_external_count) X(H5Pget_layout)
// clang-format on

#define ITM_HDF5_FIELD(name) __typeof__(&(name)) name;
typedef struct ItmHdf5 {
    ITM_HDF5_SYMBOLS(ITM_HDF5_FIELD)
} ItmHdf5;
#undef ITM_HDF5_FIELD

// Load the library once per process. ITM_ERR_UNSUPPORTED: it cannot be loaded; the message has the reason. Threads: any.
ItmStatus itm_hdf5_load(ItmError* error);
// Addresses of the symbols, after itm_hdf5_load has succeeded.
const ItmHdf5* itm_hdf5_get(void);

// clang-format off
#define H5Aclose (*itm_hdf5_get()->H5Aclose)
#define H5Acreate2 (*itm_hdf5_get()->H5Acreate2)
#define H5Aexists (*itm_hdf5_get()->H5Aexists)
#define H5Aget_type (*itm_hdf5_get()->H5Aget_type)
#define H5Aopen (*itm_hdf5_get()->H5Aopen)
#define H5Aread (*itm_hdf5_get()->H5Aread)
#define H5Awrite (*itm_hdf5_get()->H5Awrite)
#define H5Dclose (*itm_hdf5_get()->H5Dclose)
#define H5Dcreate2 (*itm_hdf5_get()->H5Dcreate2)
#define H5Dget_space (*itm_hdf5_get()->H5Dget_space)
#define H5Dget_type (*itm_hdf5_get()->H5Dget_type)
#define H5Dopen2 (*itm_hdf5_get()->H5Dopen2)
#define H5Dread (*itm_hdf5_get()->H5Dread)
#define H5Dset_extent (*itm_hdf5_get()->H5Dset_extent)
#define H5Dwrite (*itm_hdf5_get()->H5Dwrite)
#define H5Eauto_is_v2 (*itm_hdf5_get()->H5Eauto_is_v2)
#define H5Eget_auto1 (*itm_hdf5_get()->H5Eget_auto1)
#define H5Eget_auto2 (*itm_hdf5_get()->H5Eget_auto2)
#define H5Eset_auto1 (*itm_hdf5_get()->H5Eset_auto1)
#define H5Eset_auto2 (*itm_hdf5_get()->H5Eset_auto2)
#define H5Fclose (*itm_hdf5_get()->H5Fclose)
#define H5Fcreate (*itm_hdf5_get()->H5Fcreate)
#define H5Fflush (*itm_hdf5_get()->H5Fflush)
#define H5Fget_eoa (*itm_hdf5_get()->H5Fget_eoa)
#define H5Fget_file_image (*itm_hdf5_get()->H5Fget_file_image)
#define H5Fopen (*itm_hdf5_get()->H5Fopen)
#define H5Gclose (*itm_hdf5_get()->H5Gclose)
#define H5Gcreate2 (*itm_hdf5_get()->H5Gcreate2)
#define H5Gopen2 (*itm_hdf5_get()->H5Gopen2)
#define H5Literate (*itm_hdf5_get()->H5Literate)
#define H5P_CLS_DATASET_CREATE_ID_g (*itm_hdf5_get()->H5P_CLS_DATASET_CREATE_ID_g)
#define H5P_CLS_FILE_CREATE_ID_g (*itm_hdf5_get()->H5P_CLS_FILE_CREATE_ID_g)
#define H5Pclose (*itm_hdf5_get()->H5Pclose)
#define H5Pcreate (*itm_hdf5_get()->H5Pcreate)
#define H5Pset_chunk (*itm_hdf5_get()->H5Pset_chunk)
#define H5Pset_deflate (*itm_hdf5_get()->H5Pset_deflate)
#define H5Pset_link_creation_order (*itm_hdf5_get()->H5Pset_link_creation_order)
#define H5Pset_shuffle (*itm_hdf5_get()->H5Pset_shuffle)
#define H5Sclose (*itm_hdf5_get()->H5Sclose)
#define H5Screate (*itm_hdf5_get()->H5Screate)
#define H5Screate_simple (*itm_hdf5_get()->H5Screate_simple)
#define H5Sget_simple_extent_dims (*itm_hdf5_get()->H5Sget_simple_extent_dims)
#define H5Sget_simple_extent_ndims (*itm_hdf5_get()->H5Sget_simple_extent_ndims)
#define H5Sget_simple_extent_npoints (*itm_hdf5_get()->H5Sget_simple_extent_npoints)
#define H5Sselect_hyperslab (*itm_hdf5_get()->H5Sselect_hyperslab)
#define H5T_C_S1_g (*itm_hdf5_get()->H5T_C_S1_g)
#define H5T_IEEE_F32LE_g (*itm_hdf5_get()->H5T_IEEE_F32LE_g)
#define H5T_IEEE_F64LE_g (*itm_hdf5_get()->H5T_IEEE_F64LE_g)
#define H5T_NATIVE_DOUBLE_g (*itm_hdf5_get()->H5T_NATIVE_DOUBLE_g)
#define H5T_NATIVE_FLOAT_g (*itm_hdf5_get()->H5T_NATIVE_FLOAT_g)
#define H5T_NATIVE_INT32_g (*itm_hdf5_get()->H5T_NATIVE_INT32_g)
#define H5T_STD_I32LE_g (*itm_hdf5_get()->H5T_STD_I32LE_g)
#define H5Tclose (*itm_hdf5_get()->H5Tclose)
#define H5Tcopy (*itm_hdf5_get()->H5Tcopy)
#define H5Tget_class (*itm_hdf5_get()->H5Tget_class)
#define H5Tis_variable_str (*itm_hdf5_get()->H5Tis_variable_str)
#define H5Tset_cset (*itm_hdf5_get()->H5Tset_cset)
#define H5Tset_size (*itm_hdf5_get()->H5Tset_size)
#define H5Zfilter_avail (*itm_hdf5_get()->H5Zfilter_avail)
#define H5check_version (*itm_hdf5_get()->H5check_version)
#define H5free_memory (*itm_hdf5_get()->H5free_memory)
#define H5open (*itm_hdf5_get()->H5open)
#define H5Adelete (*itm_hdf5_get()->H5Adelete)
#define H5Aget_space (*itm_hdf5_get()->H5Aget_space)
#define H5Gget_info (*itm_hdf5_get()->H5Gget_info)
#define H5Iget_type (*itm_hdf5_get()->H5Iget_type)
#define H5Lexists (*itm_hdf5_get()->H5Lexists)
#define H5Oclose (*itm_hdf5_get()->H5Oclose)
#define H5Oopen (*itm_hdf5_get()->H5Oopen)
#define H5P_CLS_FILE_ACCESS_ID_g (*itm_hdf5_get()->H5P_CLS_FILE_ACCESS_ID_g)
#define H5Pset_fapl_core (*itm_hdf5_get()->H5Pset_fapl_core)
#define H5Pset_fletcher32 (*itm_hdf5_get()->H5Pset_fletcher32)
#define H5Pset_istore_k (*itm_hdf5_get()->H5Pset_istore_k)
#define H5Pset_obj_track_times (*itm_hdf5_get()->H5Pset_obj_track_times)
#define H5Pset_libver_bounds (*itm_hdf5_get()->H5Pset_libver_bounds)
#define H5Dget_create_plist (*itm_hdf5_get()->H5Dget_create_plist)
#define H5Lunregister (*itm_hdf5_get()->H5Lunregister)
#define H5PLset_loading_state (*itm_hdf5_get()->H5PLset_loading_state)
#define H5Pget_external_count (*itm_hdf5_get()->H5Pget_external_count)
#define H5Pget_layout (*itm_hdf5_get()->H5Pget_layout)
#define H5Tget_size (*itm_hdf5_get()->H5Tget_size)
// clang-format on

// Type of a text of fixed length: the heap of variable ones has no checksum, and a damaged one crashes the library.
hid_t itm_hdf5_make_string_type(const char* text);
// Create or replace a string attribute.
bool itm_hdf5_write_string(hid_t object, const char* name, const char* text);

#endif
