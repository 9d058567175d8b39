#include "io/results/interface_log.h"

#include "cosim/cosim.h"
#include "io/results/recorder.h"

#include <string.h>

// ---------------------------------------------------------------------------- mobility

// Row of a direction of a frame in the interface model of its mechanism, or ITM_NONE.
static int find_row(const ItmInterface* it, int direction)
{
    int row = it->first;
    for (int k = 0; k < direction; k++) {
        row += (int)(it->directions >> k & 1u);
    }
    return (it->directions >> direction & 1u) != 0u ? row : ITM_NONE;
}

static void take_frame(const ItmRim* rim, const ItmInterface* it, float* W)
{
    static const int ROWS[ITM_INTERFACE_REALS] = {ITM_TX, ITM_TY, ITM_TZ, ITM_TX, ITM_TX, ITM_TY};
    static const int COLUMNS[ITM_INTERFACE_REALS] = {ITM_TX, ITM_TY, ITM_TZ, ITM_TY, ITM_TZ, ITM_TZ};
    for (int k = 0; k < ITM_INTERFACE_REALS; k++) {
        int i = find_row(it, ROWS[k]), j = find_row(it, COLUMNS[k]);
        W[k] = i != ITM_NONE && j != ITM_NONE ? itm_contact_log_to_float(rim->W[i * rim->n + j]) : 0.0f;
    }
}

void itm_interface_log_take(ItmCosim* x, float* W)
{
    for (int i = 0; i < x->nmechanism; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        if (part->rim.n > 0 && part->foreign == NULL) {  // a foreign mechanism keeps the model of its last step
            itm_rim_compute_mobility(part->model, part->data, &part->rim);
        }
    }
    for (int i = 0; i < x->ninterface; i++, W += ITM_INTERFACE_REALS) {
        take_frame(&x->mechanisms[x->interfaces[i].mechanism].rim, &x->interfaces[i], W);
    }
    for (int i = 0; i < x->nbond; i++, W += ITM_INTERFACE_REALS) {
        const ItmRim* rim = &x->mechanisms[x->bonds[i].mechanism].rim;
        memset(W, 0, ITM_INTERFACE_REALS * sizeof *W);
        W[0] = itm_contact_log_to_float(rim->W[x->bonds[i].slot * (rim->n + 1)]);
    }
}

// ---------------------------------------------------------------------------- scene

static const ItmWatched* find_watched(const ItmWatchedList* mechanisms, const ItmMechanism* part)
{
    for (int i = 0; i < mechanisms->count; i++) {
        if (mechanisms->items[i].data == part->data) {
            return &mechanisms->items[i];
        }
    }
    return NULL;
}

static void describe_frame(const ItmCosim* x, const ItmInterface* it, const ItmWatched* watched, ItmText* text)
{
    const ItmModel* m = watched->model;
    itm_scene_open_member(text, watched->prefix, it->name);
    itm_text_format(text, ", \"kind\": \"frame\", \"body\": %d",
                    itm_scene_find_body(m, it->frame.body, watched->first_body));
    itm_scene_add_vec(text, "point", itm_model_find_user_point(m, it->frame.body, it->frame.point));
    itm_text_add(text, ", \"directions\": [");
    const char* comma = "";
    for (int k = 0; k < ITM_DIRECTION_COUNT; k++) {
        if ((it->directions >> k & 1u) != 0u) {
            itm_text_format(text, "%s\"%s\"", comma, itm_model_direction_name((ItmDirection)k));
            comma = ", ";
        }
    }
    itm_text_add(text, "], \"bond\": ");
    itm_text_add_json(text, it->bond != ITM_NONE ? x->frame_bonds[it->bond].name : "");
    itm_scene_close_member(text);
}

static void describe_line(const ItmBond* bond, const char* actuator, const ItmWatched* watched, ItmText* text)
{
    itm_scene_open_member(text, watched->prefix, actuator);
    itm_text_add(text, ", \"kind\": \"line\", \"bond\": ");
    itm_text_add_json(text, bond->name);
    itm_scene_close_member(text);
}

void itm_interface_log_describe(ItmCosim* x, const ItmWatchedList* mechanisms, ItmText* text)
{
    for (int i = 0; i < x->ninterface; i++) {
        const ItmWatched* watched = find_watched(mechanisms, &x->mechanisms[x->interfaces[i].mechanism]);
        if (watched != NULL) {
            describe_frame(x, &x->interfaces[i], watched, text);
        }
    }
    for (int i = 0; i < x->nbond; i++) {
        const ItmMechanism* part = &x->mechanisms[x->bonds[i].mechanism];
        const ItmWatched* watched = find_watched(mechanisms, part);
        if (watched != NULL) {
            describe_line(&x->bonds[i], itm_mechanism_get_port_name(part, x->bonds[i].slot), watched, text);
        }
    }
}
