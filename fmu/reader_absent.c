// Parts of model files that an exported FMU has no reader for: XML, recordings, and FMUs. `interim export` writes robot descriptions as
// tables and recordings into the model, and refuses the rest.
#include "fmi/mechanism.h"
#include "fmi/ssp.h"
#include "io/geometry/urdf.h"
#include "io/model/file.h"
#include "io/model/reader.h"

#include "base/error.h"

// ---------------------------------------------------------------------------- sections

// The exporter has put tables in place of the XML.
ItmStatus itm_urdf_parse(ItmUrdf* robot, ItmDocument* doc, const char* bytes, size_t length, const char* path,
                         ItmError* error)
{
    (void)path;
    return itm_urdf_restore(robot, doc, bytes, length, error);
}

void itm_read_recording(ItmReader* r, const ItmNode* node, ItmSignalDef* def, ItmSignalUnit* unit)
{
    (void)def;
    (void)unit;
    itm_reader_fail(r, node, "a model with signals from CSV files cannot be exported");
}

void itm_read_fmu(ItmReader* r, const ItmItem* item)
{
    itm_reader_fail(r, item->key, "a model with FMUs cannot be exported");
}

// ---------------------------------------------------------------------------- functions that nothing reaches

static ItmStatus refuse(ItmError* error)
{
    return itm_error_set(error, ITM_ERR_UNSUPPORTED, "itm_file_load", NULL, "an exported FMU reads its own model only");
}

ItmStatus itm_archive_open(ItmArchive** archive, const char* path, const ItmArchiveLimits* limits, ItmError* error)
{
    (void)path;
    (void)limits;
    *archive = NULL;
    return refuse(error);
}

void itm_archive_close(ItmArchive* archive)
{
    (void)archive;
}

ItmStatus itm_archive_unpack(ItmArchive* archive, const char** folder, ItmError* error)
{
    (void)archive;
    *folder = NULL;
    return refuse(error);
}

ItmStatus itm_ssp_read(ItmSsp** ssp, ItmArchive* archive, ItmError* error)
{
    (void)archive;
    *ssp = NULL;
    return refuse(error);
}

ItmStatus itm_ssp_read_file(ItmSsp** ssp, const char* path, ItmError* error)
{
    (void)path;
    *ssp = NULL;
    return refuse(error);
}

void itm_ssp_destroy(ItmSsp* ssp)
{
    (void)ssp;
}

ItmStatus itm_file_make_ssp_document(ItmDocument* doc, const ItmSsp* ssp, const char* folder, ItmError* error)
{
    (void)doc;
    (void)ssp;
    (void)folder;
    return refuse(error);
}

void itm_fmu_close(ItmFmu* fmu)
{
    (void)fmu;
}

int itm_fmi_get_note_count(const ItmFmu* fmu)
{
    (void)fmu;
    return 0;
}

const char* itm_fmi_get_note(const ItmFmu* fmu, int note)
{
    (void)fmu;
    (void)note;
    return NULL;
}

ItmOutputInfo itm_fmi_get_output_info(const ItmFmu* fmu, int output)
{
    (void)fmu;
    (void)output;
    return (ItmOutputInfo){.name = ""};
}

const ItmFmuSpec* itm_fmi_get_spec(const ItmFmu* fmu)
{
    static const ItmFmuSpec NONE = {0};
    (void)fmu;
    return &NONE;
}

ItmStatus itm_fmi_make_subsystem(ItmSubsystem* subsystem, ItmFmu* fmu, ItmFmuProcess** process, ItmError* error)
{
    (void)subsystem;
    (void)fmu;
    (void)process;
    return refuse(error);
}

ItmStatus itm_fmi_make_mechanism(ItmForeignMechanism* mechanism, ItmFmu* fmu, const ItmFmuMechanismPort* ports,
                                 int nport, ItmError* error)
{
    (void)mechanism;
    (void)fmu;
    (void)ports;
    (void)nport;
    return refuse(error);
}

double itm_fmi_get_mechanism_step(const ItmFmu* fmu)
{
    (void)fmu;
    return 0.0;
}

ItmStatus itm_fmi_prove(ItmFmu* fmu, ItmError* error)
{
    (void)fmu;
    return refuse(error);
}

ItmStatus itm_file_note_units(ItmModelFile* file, ItmError* error)
{
    (void)file;
    (void)error;
    return ITM_OK;
}

void itm_archive_remove_all(void)
{
}
