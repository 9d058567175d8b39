// An interface model on its way to the process that takes its micro steps, and back to the mechanism.
#include "rim/contacts.h"

// Rows of a measured message: as many as there is room for.
static int count_rows(const ItmPacket* p, int n, int capacity)
{
    return p->use == ITM_PACKET_MEASURE ? capacity : n;
}

// What solves of bounded rows count: the mechanism goes on with it.
static void move_notes(ItmRim* rim, ItmPacket* p)
{
    ItmData* d = rim->data;
    itm_packet_move(p, &d->info, sizeof d->info);
    if (d->bounded != NULL) {
        itm_packet_move(p, &d->bounded->worst_row, sizeof d->bounded->worst_row);
        itm_packet_move(p, &d->bounded->worst_residual, sizeof d->bounded->worst_residual);
    }
}

static void move_rows(ItmRim* rim, ItmPacket* p)
{
    ItmRimContacts* r = &rim->contacts;
    ItmRowProblem* problem = &r->problem;
    itm_packet_move_count(p, &problem->n, r->capacity);
    itm_packet_move_count(p, &problem->ncoupling, r->coupling_capacity);
    int nc = count_rows(p, problem->n, r->capacity),
        ncoupling = count_rows(p, problem->ncoupling, r->coupling_capacity);
    itm_packet_move(p, &r->has_bounces, sizeof r->has_bounces);
    itm_packet_move(p, problem->rows, sizeof(ItmRow) * (size_t)nc);
    itm_packet_move(p, problem->couplings, sizeof(ItmMlcpContact) * (size_t)ncoupling);
    itm_packet_move(p, problem->state, (size_t)nc);
    itm_packet_move_reals(p, problem->H, nc * nc);
    itm_packet_move(p, r->table, sizeof(int) * (size_t)nc);
    itm_packet_move_reals(p, r->ac, nc);
    itm_packet_move_reals(p, r->gap_drift, nc);
    itm_packet_move_reals(p, r->x, nc);
    itm_packet_move_reals(p, r->Hci, nc * rim->n);
    itm_packet_move_reals(p, r->s_drift, nc > 0 ? rim->n : 0);
}

void itm_rim_move_model(ItmRim* rim, const ItmModel* m, ItmData* d, ItmPacket* p)
{
    int n = rim->n;
    rim->model = m;
    rim->data = d;
    itm_packet_move_reals(p, &rim->t, 1);
    itm_packet_move_reals(p, &rim->H, 1);
    itm_packet_move_reals(p, rim->W, n * n);
    itm_packet_move_reals(p, rim->a0, n);
    itm_packet_move_reals(p, rim->s, n);
    itm_packet_move_reals(p, rim->w, n);
    move_notes(rim, p);
    move_rows(rim, p);
    if (p->use == ITM_PACKET_READ && d->bounded != NULL) {
        rim->contacts.workspace = d->bounded->workspace;
    }
}

void itm_rim_move_impulses(ItmRim* rim, ItmData* d, ItmPacket* p)
{
    ItmRimContacts* r = &rim->contacts;
    rim->data = d;
    int n = rim->n, nc = count_rows(p, r->problem.n, r->capacity);
    if (p->use == ITM_PACKET_WRITE && nc > 0) {
        itm_rim_steady_end(rim, rim->h);
    }
    double* const scalars[] = {&rim->h, &rim->tau, &rim->theta};
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++) {
        itm_packet_move_reals(p, scalars[i], 1);
    }
    itm_packet_move(p, &rim->use_heun, sizeof rim->use_heun);
    double* const of_interfaces[] = {rim->P0, rim->P1, rim->work, rim->s, rim->w};
    for (size_t i = 0; i < sizeof of_interfaces / sizeof of_interfaces[0]; i++) {
        itm_packet_move_reals(p, of_interfaces[i], n);
    }
    move_notes(rim, p);
    double* const of_rows[] = {r->Q0, r->Q1, r->work, r->correction, r->x, r->set.ratio};
    for (size_t i = 0; i < sizeof of_rows / sizeof of_rows[0]; i++) {
        itm_packet_move_reals(p, of_rows[i], nc);
    }
    itm_packet_move(p, r->problem.rows, sizeof(ItmRow) * (size_t)nc);
    itm_packet_move(p, r->problem.state, (size_t)nc);
    itm_packet_move(p, r->set.state, (size_t)nc);
    itm_packet_move(p, r->has_changed, sizeof(bool) * (size_t)nc);
    // compliance of the last micro step is on the diagonal of H
    for (int i = 0; i < nc; i++) {
        itm_packet_move_reals(p, &r->problem.H[(size_t)i * (size_t)(nc + 1)], 1);
    }
    if (p->use == ITM_PACKET_READ) {
        r->steady.is_on = false;
    }
}
