// Narrow and broad phase by themselves: CPU time a pair, resting contacts of every kind.
//
// Output, one line a figure: interim contact <pair> time_ns <value>.
#include "contact/broad.h"
#include "contact/narrow.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static ItmFrame place(double x, double y, double z, double rx, double ry, double rz)
{
    return (ItmFrame){{x, y, z}, itm_quat_to_mat(itm_quat_exp(itm_vec(rx, ry, rz)))};
}

// Best of five runs, b moved a little each time so that gaps of both signs occur.
static void time_pair(const char* name, const ItmGeom* a, ItmFrame fa, const ItmGeom* b, ItmFrame fb)
{
    enum { CALLS = 20000 };
    ItmContactPoint points[ITM_NARROW_MAX_POINTS];
    double best = INFINITY;
    for (int run = 0; run < 5; run++) {
        double start = now();
        for (int k = 0; k < CALLS; k++) {
            ItmFrame f = fb;
            f.p.x += 1e-6 * (k % 17);
            f.p.z += 1e-8 * (k % 13 - 6);
            if (itm_narrow_collide(points, ITM_NARROW_MAX_POINTS, a, &fa, b, &f, 1e-3) < 1) {
                fprintf(stderr, "%s: no contact\n", name);
                exit(1);
            }
        }
        best = fmin(best, (now() - start) / CALLS);
    }
    printf("interim contact %s time_ns %.0f\n", name, 1e9 * best);
}

static void require(ItmStatus status)
{
    if (status != ITM_OK) {
        exit(1);
    }
}

// n x n columns of boxes on a plane.
static void time_broad(int side)
{
    int n = side * side + 1;
    ItmBroad broad;
    ItmArena arena = {0};
    ItmAabb* boxes = calloc((size_t)n, sizeof *boxes);
    ItmBroadFilter* filters = calloc((size_t)n, sizeof *filters);
    itm_broad_init(&broad, &arena, filters, n, 8 * n);
    if (boxes == NULL || filters == NULL || itm_arena_allocate(&arena) != 0) {
        exit(1);
    }
    itm_broad_init(&broad, &arena, filters, n, 8 * n);
    for (int i = 0; i < n; i++) {
        double x = 2 * (i % side), y = 2 * (i / side);
        filters[i] = (ItmBroadFilter){1, 1, i};
        boxes[i] = (ItmAabb){{x - 0.5, y - 0.5, 0}, {x + 0.5, y + 0.5, 1}};
    }
    boxes[n - 1] = (ItmAabb){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, 0}};
    itm_broad_find(&broad, boxes, NULL, NULL);
    double start = now();
    for (int k = 0; k < 100; k++) {
        itm_broad_find(&broad, boxes, NULL, NULL);
    }
    printf("interim broad %d time_ns_a_box %.0f\n", n, 1e9 * (now() - start) / 100 / n);
    free(boxes);
    free(filters);
    itm_arena_free(&arena);
}

int main(void)
{
    ItmGeom *plane, *sphere, *capsule, *box, *slab, *cylinder;
    require(itm_geom_create_plane(&plane, NULL));
    require(itm_geom_create_sphere(&sphere, 0.5, NULL));
    require(itm_geom_create_capsule(&capsule, 0.2, 1, NULL));
    require(itm_geom_create_box(&box, (double[3]){1, 1, 1}, NULL));
    require(itm_geom_create_box(&slab, (double[3]){10, 10, 1}, NULL));
    require(itm_geom_create_cylinder(&cylinder, 0.3, 1, NULL));
    ItmFrame here = place(0, 0, 0, 0, 0, 0);
    double quarter = ITM_PI / 2, eighth = ITM_PI / 4;
    time_pair("plane-box", plane, here, box, place(0, 0, 0.5, 0, 0, 0));
    time_pair("plane-cylinder", plane, here, cylinder, place(0, 0, 0.5, 0, 0, 0));
    time_pair("sphere-sphere", sphere, here, sphere, place(0, 0, 1, 0, 0, 0));
    time_pair("box-sphere", slab, here, sphere, place(0, 0, 1, 0, 0, 0));
    time_pair("box-capsule", slab, here, capsule, place(0, 0, 0.7, 0, quarter, 0));
    time_pair("box-box-brick", box, here, box, place(0.5, 0, 1, 0, 0, 0));
    time_pair("box-box-turned", box, here, box, place(0, 0, 1, 0, 0, eighth));
    time_pair("box-box-edges", box, place(0, 0, 0, eighth, 0, 0), box, place(0.1, 0.2, sqrt(2), 0, eighth, 0));
    time_pair("box-cylinder-lying", slab, here, cylinder, place(0, 0, 0.8, 0, quarter, 0));
    time_pair("box-cylinder-standing", slab, here, cylinder, place(0, 0, 1, 0, 0, 0));
    time_pair("cylinder-cylinder", cylinder, place(0, 0, 0, quarter, 0, 0), cylinder, place(0, 0, 0.6, 0, quarter, 0));
    time_broad(10);
    time_broad(32);
    time_broad(100);
    itm_geom_destroy(plane);
    itm_geom_destroy(sphere);
    itm_geom_destroy(capsule);
    itm_geom_destroy(box);
    itm_geom_destroy(slab);
    itm_geom_destroy(cylinder);
    return 0;
}
