// The broad phase against all pairs, one by one.
#include "contact_shapes.h"

#include "contact/broad.h"

#include <time.h>

typedef struct World {
    int n;
    ItmAabb* boxes;
    ItmBroadFilter* filters;
    ItmArena arena;
    ItmBroad broad;
} World;

static void make_world(World* w, int n, int capacity)
{
    *w = (World){
        .n = n, .boxes = calloc((size_t)n, sizeof(ItmAabb)), .filters = calloc((size_t)n, sizeof(ItmBroadFilter))};
    for (int i = 0; i < n; i++) {
        w->filters[i] = (ItmBroadFilter){1, 1, i};
    }
    itm_broad_init(&w->broad, &w->arena, w->filters, n, capacity);
    assert_int_equal(itm_arena_allocate(&w->arena), 0);
    itm_broad_init(&w->broad, &w->arena, w->filters, n, capacity);
}

static void free_world(World* w)
{
    free(w->boxes);
    free(w->filters);
    itm_arena_free(&w->arena);
}

static ItmAabb box_at(ItmVec3 p, double half)
{
    ItmVec3 h = {half, half, half};
    return (ItmAabb){itm_vec_sub(p, h), itm_vec_add(p, h)};
}

static bool brute_may_meet(const World* w, int i, int j)
{
    const ItmBroadFilter *a = &w->filters[i], *b = &w->filters[j];
    return itm_aabb_overlap(&w->boxes[i], &w->boxes[j]) && a->body != b->body && (a->group & b->mask) != 0 &&
           (b->group & a->mask) != 0;
}

static void check_against_all_pairs(World* w)
{
    assert_int_equal(itm_broad_find(&w->broad, w->boxes, NULL, NULL), 0);
    int k = 0;
    for (int i = 0; i < w->n; i++) {
        for (int j = i + 1; j < w->n; j++) {
            if (brute_may_meet(w, i, j)) {
                assert_true(k < w->broad.npair);
                assert_int_equal(w->broad.pairs[k].a, i);
                assert_int_equal(w->broad.pairs[k].b, j);
                k++;
            }
        }
    }
    assert_int_equal(w->broad.npair, k);
}

static void finds_exactly_the_overlapping_pairs_while_things_move(void** state)
{
    (void)state;
    Random r = {1};
    World w;
    make_world(&w, 300, 20000);
    for (int k = 0; k < 60; k++) {
        double stretch[3] = {k % 3 == 0 ? 5 : 1, k % 3 == 1 ? 5 : 1, k % 3 == 2 ? 5 : 1};
        for (int i = 0; i < w.n; i++) {
            ItmVec3 p = draw_vec(&r, 1);
            double half = draw(&r, 0, i % 20 == 0 ? 3 : 0.3);  // some are too wide for the strips
            w.boxes[i] = box_at(itm_vec(stretch[0] * p.x, stretch[1] * p.y, stretch[2] * p.z), half);
            w.filters[i] = (ItmBroadFilter){1u << (i % 3), i % 7 == 0 ? 5u : 7u, i % 11 == 0 ? ITM_GROUND : i / 2};
        }
        check_against_all_pairs(&w);
        for (int step = 0; step < 5; step++) {
            for (int i = 0; i < w.n; i++) {
                ItmVec3 d = draw_vec(&r, 0.01);
                w.boxes[i] = (ItmAabb){itm_vec_add(w.boxes[i].lo, d), itm_vec_add(w.boxes[i].hi, d)};
            }
            check_against_all_pairs(&w);
        }
    }
    free_world(&w);
}

static void result_does_not_depend_on_the_past(void** state)
{
    (void)state;
    Random r = {2};
    World w, fresh;
    make_world(&w, 100, 5000);
    make_world(&fresh, 100, 5000);
    for (int k = 0; k < 20; k++) {
        for (int i = 0; i < w.n; i++) {
            // coarse places make many ties
            ItmVec3 p = draw_vec(&r, 2);
            w.boxes[i] = fresh.boxes[i] = box_at(itm_vec(floor(p.x), floor(p.y), floor(p.z)), 0.5);
            fresh.broad.order[i] = i;
        }
        itm_broad_find(&w.broad, w.boxes, NULL, NULL);
        itm_broad_find(&fresh.broad, fresh.boxes, NULL, NULL);
        assert_int_equal(w.broad.npair, fresh.broad.npair);
        assert_memory_equal(w.broad.pairs, fresh.broad.pairs, (size_t)w.broad.npair * sizeof(ItmPair));
    }
    free_world(&w);
    free_world(&fresh);
}

static bool only_even(void* context, int a, int b)
{
    (*(int*)context)++;
    return (a + b) % 2 == 0;
}

static void capacity_and_callback_are_respected(void** state)
{
    (void)state;
    World w;
    make_world(&w, 10, 20);
    for (int i = 0; i < w.n; i++) {
        w.boxes[i] = box_at(itm_vec(0, 0, 0), 1);
    }
    assert_int_equal(itm_broad_find(&w.broad, w.boxes, NULL, NULL), 45 - 20);
    assert_int_equal(w.broad.npair, 20);
    int calls = 0;
    assert_int_equal(itm_broad_find(&w.broad, w.boxes, only_even, &calls), 0);
    assert_int_equal(w.broad.npair, 20);
    assert_int_equal(calls, 45);
    free_world(&w);
}

static void infinite_and_broken_boxes_do_no_harm(void** state)
{
    (void)state;
    World w;
    make_world(&w, 50, 500);
    for (int i = 0; i < w.n; i++) {
        w.boxes[i] = box_at(itm_vec(3 * i, 0, 0), 1);
    }
    w.boxes[7] = (ItmAabb){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, 0}};
    w.boxes[9].lo.x = NAN;
    w.boxes[11].hi.y = NAN;
    w.boxes[13] = (ItmAabb){{NAN, NAN, NAN}, {NAN, NAN, NAN}};
    assert_int_equal(itm_broad_find(&w.broad, w.boxes, NULL, NULL), 0);
    assert_int_equal(w.broad.npair, 46);  // the plane with all sound ones
    free_world(&w);
    make_world(&w, 0, 0);
    assert_int_equal(itm_broad_find(&w.broad, w.boxes, NULL, NULL), 0);
    free_world(&w);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// A row of boxes: tests per box do not grow with their number. Time is only printed.
static void a_long_row_costs_linear_time(void** state)
{
    (void)state;
    for (int n = 1000; n <= 16000; n *= 4) {
        World w;
        make_world(&w, n, 4 * n);
        for (int i = 0; i < n; i++) {
            w.boxes[i] = box_at(itm_vec(0.9 * i, 0, 0), 0.5);
        }
        itm_broad_find(&w.broad, w.boxes, NULL, NULL);
        double start = seconds();
        for (int k = 0; k < 10; k++) {
            itm_broad_find(&w.broad, w.boxes, NULL, NULL);
        }
        print_message("%d boxes: %.1f ns a box\n", n, (seconds() - start) / 10 / n * 1e9);
        assert_int_equal(w.broad.npair, n - 1);
        free_world(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_exactly_the_overlapping_pairs_while_things_move),
        cmocka_unit_test(result_does_not_depend_on_the_past),
        cmocka_unit_test(capacity_and_callback_are_respected),
        cmocka_unit_test(infinite_and_broken_boxes_do_no_harm),
        cmocka_unit_test(a_long_row_costs_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
