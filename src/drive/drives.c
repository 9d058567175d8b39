// Definitions, outputs and steps of a set of drives.
#include "drive/drives.h"

#include "base/check.h"
#include "base/error.h"
#include "base/guard.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- checks

static void positive_or_infinite(ItmCheck* k, const char* field, double value)
{
    if (!(value > 0)) {
        itm_check_refuse(k, field, "%s must be positive (INFINITY: none), got %g", field, value);
    }
}

static ItmStatus check_def(const ItmDriveDef* def, ItmError* error)
{
    ItmCheck k = itm_check_start("itm_drives_create", "drive", def->name, error);
    if ((int)def->kind < 0 || def->kind >= ITM_DRIVE_KIND_COUNT) {
        itm_check_refuse(&k, "kind", "%d is not a kind of motor", (int)def->kind);
    }
    if ((int)def->mode < 0 || def->mode >= ITM_DRIVE_MODE_COUNT) {
        itm_check_refuse(&k, "mode", "%d is not a mode of control", (int)def->mode);
    }
    itm_check_positive(&k, "resistance", def->resistance);
    itm_check_positive(&k, "inductance", def->inductance);
    itm_check_not_negative(&k, "inductance_d", def->inductance_d);
    itm_check_positive(&k, "torque_constant", def->torque_constant);
    if (def->kind == ITM_DRIVE_PMSM && def->pole_pairs < 1) {
        itm_check_refuse(&k, "pole_pairs", "a motor has at least one pole pair, got %d", def->pole_pairs);
    }
    itm_check_positive(&k, "inertia", def->inertia);
    itm_check_not_negative(&k, "viscous", def->viscous);
    itm_check_not_negative(&k, "coulomb", def->coulomb);
    itm_check_positive(&k, "coulomb_speed", def->coulomb_speed);
    if (!isfinite(def->ratio) || def->ratio == 0.0) {
        itm_check_refuse(&k, "ratio", "the gear ratio must be finite and not 0, got %g", def->ratio);
    }
    itm_check_positive(&k, "stiffness", def->stiffness);
    itm_check_not_negative(&k, "damping", def->damping);
    itm_check_not_negative(&k, "backlash", def->backlash);
    itm_check_not_negative(&k, "drum_radius", def->drum_radius);
    if (!(isfinite(def->parts) && def->parts >= 1.0)) {
        itm_check_refuse(&k, "parts", "at least one part of the rope carries the load, got %g", def->parts);
    }
    positive_or_infinite(&k, "current_limit", def->current_limit);
    positive_or_infinite(&k, "voltage_limit", def->voltage_limit);
    itm_check_finite(&k, "command", def->command);
    itm_check_positive(&k, "current_bandwidth", def->current_bandwidth);
    itm_check_not_negative(&k, "speed_gain", def->speed_gain);
    itm_check_not_negative(&k, "speed_integral", def->speed_integral);
    itm_check_not_negative(&k, "position_gain", def->position_gain);
    itm_check_finite(&k, "start_load", def->start_load);
    if (def->drum_radius > 0.0 && def->start_load < 0.0) {
        itm_check_refuse(&k, "start_load", "a rope cannot push: its tension must not be negative, got %g N",
                         def->start_load);
    }
    return k.status;
}

// ---------------------------------------------------------------------------- life

// In the order of itm_drives_compute_outputs.
static bool name_outputs(ItmDrives* drives)
{
    static const ItmOutputInfo ROTARY[3] = {{"angle", "rad", "angle of the output"},
                                            {"rate", "rad/s", "rate of the output"},
                                            {"torque", "N m", "torque on the output"}},
                               WINCH[3] = {{"length", "m", "distance that the rope spans"},
                                           {"rate", "m/s", "rate of the distance"},
                                           {"tension", "N", "tension of the rope"}},
                               REST[ITM_DRIVES_OUTPUTS - 3] = {
                                   {"motor_angle", "rad", "angle of the rotor since the start"},
                                   {"motor_rate", "rad/s", "rate of the rotor"},
                                   {"motor_torque", "N m", "torque on the rotor"},
                                   {"current", "A", "current that makes torque"},
                                   {"current_d", "A", "current along the magnets"},
                                   {"voltage", "V", "voltage; alternating: amplitude"},
                                   {"power", "W", "electric power"}};
    bool ok = true;
    for (int i = 0; i < ITM_DRIVES_OUTPUTS * drives->n; i++) {
        const ItmDriveDef* def = &drives->defs[i / ITM_DRIVES_OUTPUTS];
        int k = i % ITM_DRIVES_OUTPUTS;
        drives->outputs[i] = k >= 3 ? REST[k - 3] : def->drum_radius > 0.0 ? WINCH[k] : ROTARY[k];
        drives->outputs[i].name = itm_owned_print(&drives->owned, "%s.%s", def->name, drives->outputs[i].name);
        ok = ok && drives->outputs[i].name != NULL;
    }
    return ok;
}

static ItmStatus check_all(const ItmDriveDef* defs, int n, ItmError* error)
{
    for (int i = 0; i < n; i++) {
        ItmStatus status = check_def(&defs[i], error);
        for (int k = 0; k < i && status == ITM_OK; k++) {
            if (strcmp(defs[i].name, defs[k].name) == 0) {
                status = itm_error_set(error, ITM_ERR_INPUT, "itm_drives_create", "name", "there are two drives '%s'",
                                       defs[i].name);
            }
        }
        if (status != ITM_OK) {
            char field[2 * ITM_LONGEST_NAME];
            snprintf(field, sizeof field, "%.*s.%.40s", ITM_LONGEST_NAME, defs[i].name != NULL ? defs[i].name : "",
                     error != NULL ? error->field : "");
            if (error != NULL) {
                snprintf(error->field, sizeof error->field, "%s", field);
            }
            return status;
        }
    }
    return ITM_OK;
}

ItmStatus itm_drives_create(ItmDrives** drives, const ItmDriveDef* defs, int n, ItmError* error)
{
    if (drives == NULL || defs == NULL || n < 1) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "there is no drive");
    }
    *drives = NULL;
    ItmStatus status = check_all(defs, n, error);
    if (status != ITM_OK) {
        return status;
    }
    ItmDrives* d = calloc(1, sizeof *d);
    bool ok = d != NULL;
    if (ok) {
        d->n = n;
        d->defs = itm_owned_take(&d->owned, (size_t)n, sizeof *d->defs);
        d->outputs = itm_owned_take(&d->owned, (size_t)(ITM_DRIVES_OUTPUTS * n), sizeof *d->outputs);
        ok = d->defs != NULL && d->outputs != NULL;
    }
    for (int i = 0; i < n && ok; i++) {
        d->defs[i] = defs[i];
        d->defs[i].name = itm_owned_print(&d->owned, "%s", defs[i].name);
        ok = d->defs[i].name != NULL;
    }
    if (!ok || !name_outputs(d)) {
        itm_drives_destroy(d);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for %d drives", n);
    }
    *drives = d;
    return ITM_OK;
}

void itm_drives_destroy(ItmDrives* drives)
{
    if (drives != NULL) {
        itm_owned_free(&drives->owned);
        free(drives);
    }
}

int itm_drives_get_count(const ItmDrives* drives)
{
    ITM_GUARD(drives != NULL, 0);
    return drives->n;
}

const ItmDriveDef* itm_drives_get_def(const ItmDrives* drives, int drive)
{
    ITM_GUARD(drives != NULL, NULL);
    return drive >= 0 && drive < drives->n ? &drives->defs[drive] : NULL;
}

int itm_drives_get_output_count(const ItmDrives* drives)
{
    ITM_GUARD(drives != NULL, 0);
    return ITM_DRIVES_OUTPUTS * drives->n;
}

ItmOutputInfo itm_drives_get_output_info(const ItmDrives* drives, int output)
{
    ITM_GUARD(drives != NULL, (ItmOutputInfo){0});
    bool exists = output >= 0 && output < itm_drives_get_output_count(drives);
    return exists ? drives->outputs[output] : (ItmOutputInfo){0};
}

int itm_drives_find_output(const ItmDrives* drives, const char* name)
{
    ITM_GUARD(drives != NULL && name != NULL, ITM_NONE);
    for (int i = 0; i < itm_drives_get_output_count(drives); i++) {
        if (strcmp(drives->outputs[i].name, name) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

// ---------------------------------------------------------------------------- running

ItmStatus itm_drives_create_run(ItmDrivesRun** run, const ItmDrives* drives, ItmError* error)
{
    int n = drives->n, nsaved = (ITM_MOTOR_STATES + 4) * n;
    ItmDrivesRun* r = calloc(1, sizeof *r);
    double* memory = calloc((size_t)(nsaved + n), sizeof *memory);
    if (r == NULL || memory == NULL) {
        free(r);
        free(memory);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for %d drives", n);
    }
    *r = (ItmDrivesRun){.drives = drives, .memory = memory, .nsaved = nsaved, .x = memory};
    r->s = r->x + ITM_MOTOR_STATES * n;
    r->w = r->s + n;
    r->w_end = r->w + n;
    r->input = r->w_end + n;
    r->s_start = r->input + n;
    itm_drives_reset(r);
    *run = r;
    return ITM_OK;
}

void itm_drives_destroy_run(ItmDrivesRun* run)
{
    if (run != NULL) {
        free(run->memory);
        free(run);
    }
}

void itm_drives_reset(ItmDrivesRun* run)
{
    memset(run->memory, 0, sizeof(double) * (size_t)run->nsaved);
    for (int i = 0; i < run->drives->n; i++) {
        itm_motor_start(&run->drives->defs[i], run->x + ITM_MOTOR_STATES * i);
        run->s[i] = run->s_start[i];
    }
}

// Rates of drive i at tau into the step h, from states x.
static void compute_rates(const ItmDrivesRun* run, int i, double* k, const double* x, double h, double tau)
{
    const ItmDriveDef* def = &run->drives->defs[i];
    double slope = (run->w_end[i] - run->w[i]) / h;
    ItmMotorPort port = {run->s[i] - run->s_start[i] + tau * (run->w[i] + 0.5 * tau * slope), run->w[i] + tau * slope};
    itm_motor_compute(def, k, x, port, def->command + run->input[i], run->s_start[i]);
}

static void step_drive(const ItmDrivesRun* run, int i, double h)
{
    static const double AT[4] = {0.0, 0.5, 0.5, 1.0}, WEIGHT[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    double *x = run->x + ITM_MOTOR_STATES * i, k[ITM_MOTOR_STATES] = {0.0}, stage[ITM_MOTOR_STATES],
           sum[ITM_MOTOR_STATES] = {0.0};
    for (int n = 0; n < 4; n++) {
        for (int j = 0; j < ITM_MOTOR_STATES; j++) {
            stage[j] = x[j] + AT[n] * h * k[j];
        }
        compute_rates(run, i, k, stage, h, AT[n] * h);
        for (int j = 0; j < ITM_MOTOR_STATES; j++) {
            sum[j] += WEIGHT[n] * k[j];
        }
    }
    for (int j = 0; j < ITM_MOTOR_STATES; j++) {
        x[j] += h * sum[j];
    }
}

ItmStatus itm_drives_step(ItmDrivesRun* run, double t, double h, ItmError* error)
{
    for (int i = 0; i < run->drives->n; i++) {
        step_drive(run, i, h);
        double sum = 0.0;
        for (int j = 0; j < ITM_MOTOR_STATES; j++) {
            sum += run->x[ITM_MOTOR_STATES * i + j];
        }
        if (!isfinite(sum)) {
            return itm_error_set(error, ITM_ERR_NOT_FINITE, __func__, run->drives->defs[i].name,
                                 "drive '%s' became infinite at t = %.9g s; take a smaller step than %g s",
                                 run->drives->defs[i].name, t + h, h);
        }
        run->s[i] += 0.5 * h * (run->w[i] + run->w_end[i]);
        run->w[i] = run->w_end[i];
    }
    return ITM_OK;
}

static ItmMotorView look(const ItmDrivesRun* run, int i)
{
    const ItmDriveDef* def = &run->drives->defs[i];
    return itm_motor_compute(def, NULL, run->x + ITM_MOTOR_STATES * i,
                             (ItmMotorPort){run->s[i] - run->s_start[i], run->w[i]}, def->command + run->input[i],
                             run->s_start[i]);
}

void itm_drives_get_forces(const ItmDrivesRun* run, double* force)
{
    for (int i = 0; i < run->drives->n; i++) {
        force[i] = look(run, i).force;
    }
}

void itm_drives_compute_outputs(const ItmDrivesRun* run, double* y)
{
    for (int i = 0; i < run->drives->n; i++, y += ITM_DRIVES_OUTPUTS) {
        const double* x = run->x + ITM_MOTOR_STATES * i;
        ItmMotorView view = look(run, i);
        const double values[ITM_DRIVES_OUTPUTS] = {run->s[i],         run->w[i],   view.load,       x[ITM_MOTOR_ANGLE],
                                                   x[ITM_MOTOR_RATE], view.torque, x[ITM_MOTOR_IQ], x[ITM_MOTOR_ID],
                                                   view.voltage,      view.power};
        memcpy(y, values, sizeof values);
    }
}
