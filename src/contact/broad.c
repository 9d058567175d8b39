#include "contact/broad.h"

#include <string.h>

void itm_broad_init(ItmBroad* broad, ItmArena* arena, const ItmBroadFilter* filters, int n, int capacity)
{
    *broad = (ItmBroad){.n = n, .capacity = capacity, .filters = filters};
    broad->order = ITM_TAKE(arena, int, n);
    broad->ends = ITM_TAKE(arena, double, 2 * n);
    broad->merge = ITM_TAKE(arena, int, n);
    broad->first = ITM_TAKE(arena, int, n + 1);
    broad->pairs = ITM_TAKE(arena, ItmPair, capacity);
    broad->found = ITM_TAKE(arena, ItmPair, capacity);
    for (int i = 0; i < n && broad->order != NULL; i++) {
        broad->order[i] = i;
    }
}

// ---------------------------------------------------------------------------- axis

// Infinite boxes (planes) have no useful place.
static bool is_finite_box(const ItmAabb* box)
{
    return itm_vec_is_finite(box->lo) && itm_vec_is_finite(box->hi);
}

static int choose_axis(const ItmAabb* boxes, int n)
{
    ItmVec3 sum = {0, 0, 0}, squares = {0, 0, 0};
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (is_finite_box(&boxes[i])) {
            ItmVec3 c = itm_vec_add(boxes[i].lo, boxes[i].hi);
            sum = itm_vec_add(sum, c);
            squares = itm_vec_add(squares, itm_vec(c.x * c.x, c.y * c.y, c.z * c.z));
            count++;
        }
    }
    if (count == 0) {
        return 0;
    }
    double x = squares.x - sum.x * sum.x / count, y = squares.y - sum.y * sum.y / count;
    double z = squares.z - sum.z * sum.z / count;
    return x >= y && x >= z ? 0 : y >= z ? 1 : 2;
}

// ---------------------------------------------------------------------------- sorting

// Whether shape i comes before shape j; a NaN counts as the far end.
static bool comes_before(const ItmAabb* boxes, int axis, int i, int j)
{
    double x = itm_vec_get(boxes[i].lo, axis), y = itm_vec_get(boxes[j].lo, axis);
    x = isnan(x) ? INFINITY : x;
    y = isnan(y) ? INFINITY : y;
    return x < y || (x == y && i < j);
}

// Merge runs from the bottom up: n log n at worst, when everything has moved.
static void merge_sort(ItmBroad* broad, const ItmAabb* boxes)
{
    int *from = broad->order, *to = broad->merge;
    for (int width = 1; width < broad->n; width *= 2) {
        for (int begin = 0; begin < broad->n; begin += 2 * width) {
            int middle = begin + width < broad->n ? begin + width : broad->n;
            int end = middle + width < broad->n ? middle + width : broad->n;
            int i = begin, j = middle;
            for (int k = begin; k < end; k++) {
                bool takes_first = j == end || (i < middle && comes_before(boxes, broad->axis, from[i], from[j]));
                to[k] = takes_first ? from[i++] : from[j++];
            }
        }
        int* swap = from;
        from = to;
        to = swap;
    }
    if (from != broad->order) {
        memcpy(broad->order, from, (size_t)broad->n * sizeof(int));
    }
}

// Insertion is linear while the order has hardly changed; after 8 n moves it gives way to merging.
static void sort_order(ItmBroad* broad, const ItmAabb* boxes)
{
    int moves = 0;
    for (int k = 1; k < broad->n; k++) {
        int shape = broad->order[k], at = k;
        while (at > 0 && comes_before(boxes, broad->axis, shape, broad->order[at - 1])) {
            broad->order[at] = broad->order[at - 1];
            at--;
        }
        broad->order[at] = shape;
        moves += k - at;
        if (moves > 8 * broad->n) {
            merge_sort(broad, boxes);
            return;
        }
    }
}

// ---------------------------------------------------------------------------- sweeping

static bool may_meet(const ItmBroadFilter* a, const ItmBroadFilter* b)
{
    return a->body != b->body && (a->group & b->mask) != 0 && (b->group & a->mask) != 0;
}

// All overlaps of the shape at place k with later ones. Returns how many did not fit.
static int sweep_from(ItmBroad* broad, const ItmAabb* boxes, int k, ItmBroadAllow allow, void* context)
{
    int i = broad->order[k], lost = 0;
    double end = broad->ends[2 * k + 1];
    for (int l = k + 1; l < broad->n && broad->ends[2 * l] <= end; l++) {
        int j = broad->order[l];
        if (!itm_aabb_overlap(&boxes[i], &boxes[j]) || !may_meet(&broad->filters[i], &broad->filters[j])) {
            continue;
        }
        ItmPair pair = i < j ? (ItmPair){i, j} : (ItmPair){j, i};
        if (allow != NULL && !allow(context, pair.a, pair.b)) {
            continue;
        }
        if (broad->npair < broad->capacity) {
            broad->found[broad->npair++] = pair;
        } else {
            lost++;
        }
    }
    return lost;
}

// Counting sort by b, then by a, each keeping the order of equals.
static void sort_pairs(ItmBroad* broad)
{
    for (int pass = 0; pass < 2; pass++) {
        memset(broad->first, 0, ((size_t)broad->n + 1) * sizeof(int));
        for (int k = 0; k < broad->npair; k++) {
            broad->first[(pass == 0 ? broad->found[k].b : broad->found[k].a) + 1]++;
        }
        for (int i = 0; i < broad->n; i++) {
            broad->first[i + 1] += broad->first[i];
        }
        for (int k = 0; k < broad->npair; k++) {
            broad->pairs[broad->first[pass == 0 ? broad->found[k].b : broad->found[k].a]++] = broad->found[k];
        }
        if (pass == 0) {
            memcpy(broad->found, broad->pairs, (size_t)broad->npair * sizeof(ItmPair));
        }
    }
}

int itm_broad_find(ItmBroad* broad, const ItmAabb* boxes, ItmBroadAllow allow, void* context)
{
    broad->axis = choose_axis(boxes, broad->n);
    sort_order(broad, boxes);
    for (int k = 0; k < broad->n; k++) {
        const ItmAabb* box = &boxes[broad->order[k]];
        broad->ends[2 * k] = itm_vec_get(box->lo, broad->axis);
        broad->ends[2 * k + 1] = itm_vec_get(box->hi, broad->axis);
    }
    int lost = 0;
    broad->npair = 0;
    for (int k = 0; k < broad->n; k++) {
        lost += sweep_from(broad, boxes, k, allow, context);
    }
    sort_pairs(broad);
    return lost;
}
