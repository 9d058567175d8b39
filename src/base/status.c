#include "interim/base.h"

#include "commit.h"

static const char* const STATUS_MESSAGES[ITM_STATUS_COUNT] = {
    [ITM_OK] = "success",
    [ITM_ERR_ARGUMENT] = "an argument is outside what the function accepts",
    [ITM_ERR_MEMORY] = "out of memory",
    [ITM_ERR_INPUT] = "the definition does not describe a valid model",
    [ITM_ERR_ASSEMBLY] = "the joints cannot be closed",
    [ITM_ERR_CAPACITY] = "a fixed capacity was exceeded",
    [ITM_ERR_NOT_FINITE] = "a value became infinite or not a number",
    [ITM_ERR_DIVERGED] = "an implicit step found no solution",
    [ITM_ERR_IO] = "a file could not be read or written",
    [ITM_ERR_UNSUPPORTED] = "the request is not supported here",
};

const char* itm_status_message(ItmStatus status)
{
    if ((int)status < 0 || status >= ITM_STATUS_COUNT) {
        return "unknown status";
    }
    return STATUS_MESSAGES[status];
}

const char* itm_version(void)
{
    return ITM_VERSION;
}

const char* itm_commit(void)
{
    return ITM_COMMIT;
}
