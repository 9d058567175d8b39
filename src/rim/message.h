// A RIM as a message to another process, which takes the micro steps there, and the results as a message back. One walk over the memory
// writes and reads the rows, another one the results.
//
// Processes that hold the same system (cosim/ranks.c) move the model and its impulses, itm_rim_move_model and itm_rim_move_impulses.
//
// Processes of which one holds the mechanism (FMUs) exchange bounded rows: the owner of the rows calls itm_rim_begin and writes the rows; the
// other side reads them into a RIM of its own (interface numbers W, a0, s, w come separately), takes all micro steps of the macro step with
// the same code, and writes the results. Both messages start with ItmRimMessage, have the same size and hold the structs of src/mlcp as
// they are, so both sides must be of one build.
#ifndef ITM_RIM_MESSAGE_H
#define ITM_RIM_MESSAGE_H

#include "base/packet.h"
#include "rim/rim.h"

// clang-format off
typedef struct ItmRimMessage {
    char     build[48];          // of the writer, itm_rim_write_build
    uint64_t size;               // of the message, bytes
    int      n, nc, ncoupling;   // interfaces, bounded rows, friction couplings
    int      nlcp;               // capacity of the owner's solver for Lemke's method
    int      is_result;
    ItmRowStep step;
    ItmContactOptions options;   // solver, tolerance, effort
} ItmRimMessage;
// clang-format on

// Version of the library and sizes of the structs in a message.
void itm_rim_write_build(char build[48]);

// Memory of a RIM for rows that it reads: what micro steps need of a model and a data object. Zero at the start; freed by itm_rim_free_room.
typedef struct ItmRimRoom {
    ItmModel model;  // options of the solver
    ItmData data;    // counters and errors
    ItmBounded bounded;
    ItmArena arena;
    struct ItmMlcpWorkspace* workspace;
} ItmRimRoom;

void itm_rim_free_room(ItmRimRoom* room);

// Bytes of a message of a RIM with n interfaces, nc rows and ncoupling couplings.
size_t itm_rim_measure_message(int n, int nc, int ncoupling);

// After itm_rim_begin. bytes: itm_rim_measure_message of the RIM.
void itm_rim_write_rows(const ItmRim* rim, void* bytes);
// Into a RIM with n interfaces; its contacts, model and data are then those of the room, which grows where it must. ITM_ERR_INPUT: the message
// is of another build or damaged.
ItmStatus itm_rim_read_rows(ItmRim* rim, ItmRimRoom* room, const void* bytes, size_t size, ItmError* error);

// After the last micro step, from the RIM that read the rows. lambda: forces of that micro step (n).
void itm_rim_write_results(ItmRim* rim, const double* lambda, void* bytes);
// Into the RIM that wrote the rows; what names rows and bodies is not taken from the message. lambda (n). False: the message does not belong
// to it.
bool itm_rim_read_results(ItmRim* rim, double* lambda, const void* bytes);

// From the process of the mechanism after itm_rim_extract to the one that takes the micro steps (itm_rim_begin to the last
// itm_rim_advance), and back to the mechanism's itm_rim_take_over. m, d: those of the mechanism, in the process that calls.
void itm_rim_move_model(ItmRim* rim, const ItmModel* m, ItmData* d, ItmPacket* packet);
void itm_rim_move_impulses(ItmRim* rim, ItmData* d, ItmPacket* packet);

#endif
