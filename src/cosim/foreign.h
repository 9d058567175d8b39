// A mechanism that is simulated elsewhere, and its interface model                        [docs/theory-cosim.md, foreign mechanisms]
//
//   w+ = w + h (a0 + W lambda)
//
// W and a0 for the coming macro step H come from the best source that the mechanism offers:
//   port          it returns them itself, and may solve its contacts in every micro step
//   derivatives   W = d(dw/dt)/df at the communication point, a0 = dw/dt - W f
//   probing       from the saved state, one macro step at the last forces f and one per port at f + delta e_j:
//                 W e_j = (w_j - w_free) / (H delta), a0 = (w_free - w) / H - W f
//   identified    recursive least squares over the past steps: dw/H = a0 + W f. Unproven.
// Within the macro step a0 has a slope a1 about the middle, so that the model ends at the position of the mechanism, too:
//   s_end = s + H w + H^2/2 (a0 + W f) - H^3/12 a1
// Probing finds it from the free run. Derivatives belong to the start of the step: a0 and a1 get what the model missed in the last step.
// The model starts at the position where it ended, which its partner has, not at that of the mechanism: a jump would be a volume of oil that
// comes from nowhere, the same sign in every step. a1 closes the gap within the step: -12 gap / H^3 moves the end by gap, and changes no rate.
// Over the macro step the mechanism receives the impulse P0 and its moment P1, without a port as two constant forces, each over
// half of H:
//   f_1 = (4 P1 - P0) / H,   f_2 = (3 P0 - 4 P1) / H
#ifndef ITM_COSIM_FOREIGN_H
#define ITM_COSIM_FOREIGN_H

#include "interim/cosim.h"
#include "rim/message.h"

// clang-format off
// Values that the next step depends on; doubles only, saved as bytes. Its arrays follow it in memory.
typedef struct ItmForeignMemory {
    double age;              // macro steps since the last probe of W; < 0: none yet
    double has_past;         // 1: a_last and f_last are those of a step before
    double nprobe;           // probes so far: columns of W and free runs, each one macro step
    double asymmetry;        // largest |W - W'| / |W| of a probe so far
    double nonlinearity;     // change of W when probing forces are doubled, at the first probe
    double error;            // rate that the model missed in the last step, over the change of rates
} ItmForeignMemory;

typedef struct ItmForeign {
    char* name;
    ItmForeignMechanism table;
    ItmForeignOptions options;
    ItmMobility source;      // in use, never ITM_MOBILITY_AUTO
    int     n;               // ports
    double  first_step;      // of the table as it was given                                        s
    ItmForeignMemory* memory;
    double* W;               // mobility of the last probe or identification            (n x n)     1/kg
    double* covariance;      // of the identification                                   (n x n)     1/N^2
    double* f;               // mean forces over the last macro step                    (n)         N
    double* delta;           // probing forces; 0: not chosen yet                       (n)         N
    double* a_last;          // accelerations over the last macro step                  (n)         m/s^2
    double* f_last;          // and the forces that belong to them                      (n)         N
    double* shift;           // of a0: what the model missed in the last macro step     (n)         m/s^2
    double* slope;           // a1 of the last macro step                               (n)         m/s^3
    double* gap;             // by which the position at its end exceeded that of the model, which the partner has (n) m
    double* u;               // inputs                                                  (ninput)
    size_t  nmemory;         // doubles from memory on

    // of the present macro step
    double  t, H;            // s
    bool    is_begun;        // the port has begun its step
    bool    is_smooth;       // and W and a0 are all of its model
    void*   rows;            // of contacts that the port has handed over, to become results; NULL: none
    ItmRimRoom room;         // for them in the interface model
    double *s, *w;           // at the start                                            (n)         m, m/s
    double* work;            // of the forces on the mechanism                          (n)         J
    double *w_free, *s_free, *w_probe, *s_probe, *force, *column; // scratch            (n)
    double* a1;              // of the interface model                                  (n)         m/s^3
    double* vectors;         // eigenvectors of W, scratch                              (n x n)
    void*   state;           // saved state of the mechanism, for probing               (state_size)
    size_t  state_size;
} ItmForeign;
// clang-format on

// Take over the table (destroyed with the object, also on failure) and choose the source of the interface model.
// ITM_ERR_UNSUPPORTED: the mechanism does not offer what options->mobility requires.
ItmStatus itm_foreign_create(ItmForeign** foreign, const char* name, const ItmForeignMechanism* table,
                             const ItmForeignOptions* options, ItmError* error);
void itm_foreign_destroy(ItmForeign* f);

// Take macro steps H from the next reset on. has_rim: with the interface model, otherwise with constant forces.
ItmStatus itm_foreign_fit_step(ItmForeign* f, double H, bool has_rim, ItmError* error);
// Back to the initial state, time 0.
ItmStatus itm_foreign_reset(ItmForeign* f, ItmError* error);
// Positions s and rates w of the ports now (n).
ItmStatus itm_foreign_measure(ItmForeign* f, double* s, double* w, ItmError* error);
// The interface model for the macro step H from t in K micro steps: rim->W, rim->a0. rim->s and rim->w are those of this time.
ItmStatus itm_foreign_reduce(ItmForeign* f, ItmRim* rim, double t, double H, int K, bool use_heun, ItmError* error);

// Whether the numbers in rim, contact rows included, are all of the interface model; otherwise the port solves contacts in every micro step.
bool itm_foreign_is_smooth(const ItmForeign* f);
// Micro steps as itm_rim_predict and itm_rim_advance: by the port where it solves contacts, otherwise by the numbers in rim.
ItmStatus itm_foreign_predict(ItmForeign* f, ItmRim* rim, double h, const double* lambda, double* w_end,
                              ItmError* error);
ItmStatus itm_foreign_advance(ItmForeign* f, ItmRim* rim, double h, const double* lambda, ItmError* error);

// The macro step with the impulses that rim received, lambda (n) those of its last micro step, or with constant forces (n).
ItmStatus itm_foreign_take_over(ItmForeign* f, ItmRim* rim, const double* lambda, ItmError* error);
ItmStatus itm_foreign_step_held(ItmForeign* f, double t, double H, const double* force, ItmError* error);
// The macro step H from t at constant forces (n); nothing is counted or learnt from it.
ItmStatus itm_foreign_repeat(ItmForeign* f, double t, double H, const double* force, ItmError* error);
// End a macro step that failed: the port forgets it.
void itm_foreign_cancel(ItmForeign* f);

// The whole state as bytes: of the mechanism (none where it cannot be saved) and of the object.
size_t itm_foreign_get_state_size(const ItmForeign* f);
ItmStatus itm_foreign_save(const ItmForeign* f, void* bytes);
ItmStatus itm_foreign_restore(ItmForeign* f, const void* bytes);

#endif
