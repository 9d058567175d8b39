#include "contact/broad.h"

#include <string.h>

#define MOST_STRIPS 4    // that a shape lies in; wider ones are in none
#define STRIP_WIDTH 1.5  // mean extents
#define SWEEP_ALONE 32   // shapes: up to here one strip has all

void itm_broad_init(ItmBroad* broad, ItmArena* arena, const ItmBroadFilter* filters, int n, int capacity)
{
    *broad = (ItmBroad){.n = n, .capacity = capacity, .filters = filters};
    broad->order = ITM_TAKE(arena, int, n);
    broad->ends = ITM_TAKE(arena, double, 2 * n);
    broad->sorted = ITM_TAKE(arena, ItmAabb, n);
    broad->strip = ITM_TAKE(arena, int, n);
    broad->strip_adr = ITM_TAKE(arena, int, n + 1);
    broad->entries = ITM_TAKE(arena, int, MOST_STRIPS* n);
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

// How the middles of the finite boxes spread, and their mean extents.
typedef struct Spread {
    int count;
    double variance[3];  // times 4 count
    double extent[3];
} Spread;

static Spread measure_spread(const ItmAabb* boxes, int n)
{
    ItmVec3 sum = {0, 0, 0}, squares = {0, 0, 0}, extents = {0, 0, 0};
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (is_finite_box(&boxes[i])) {
            ItmVec3 c = itm_vec_add(boxes[i].lo, boxes[i].hi);
            sum = itm_vec_add(sum, c);
            squares = itm_vec_add(squares, itm_vec(c.x * c.x, c.y * c.y, c.z * c.z));
            extents = itm_vec_add(extents, itm_vec_sub(boxes[i].hi, boxes[i].lo));
            count++;
        }
    }
    Spread spread = {.count = count};
    for (int k = 0; k < 3 && count > 0; k++) {
        double total = itm_vec_get(sum, k);
        spread.variance[k] = itm_vec_get(squares, k) - total * total / count;
        spread.extent[k] = itm_vec_get(extents, k) / count;
    }
    return spread;
}

// The axis along which boxes spread most, ITM_NONE or `other` left out.
static int choose_axis(const Spread* spread, int other)
{
    int best = other == 0 ? 1 : 0;
    for (int k = best + 1; k < 3; k++) {
        best = k != other && spread->variance[k] > spread->variance[best] ? k : best;
    }
    return best;
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

// Note the pair of the shapes at places k and l if their boxes overlap and they may collide. Returns 1 if it did not fit.
static int add_pair(ItmBroad* broad, int k, int l, ItmBroadAllow allow, void* context)
{
    if (!itm_aabb_overlap(&broad->sorted[k], &broad->sorted[l])) {
        return 0;
    }
    int i = broad->order[k], j = broad->order[l];
    ItmPair pair = i < j ? (ItmPair){i, j} : (ItmPair){j, i};
    if (!may_meet(&broad->filters[i], &broad->filters[j]) || (allow != NULL && !allow(context, pair.a, pair.b))) {
        return 0;
    }
    if (broad->npair == broad->capacity) {
        return 1;
    }
    broad->found[broad->npair++] = pair;
    return 0;
}

// Put the shapes into strips across the second axis; those that are too wide, infinite or not finite are in none.
static void fill_strips(ItmBroad* broad, const Spread* spread)
{
    int axis = broad->second;
    double lo = INFINITY, hi = -INFINITY;
    for (int k = 0; k < broad->n; k++) {
        if (is_finite_box(&broad->sorted[k])) {
            lo = fmin(lo, itm_vec_get(broad->sorted[k].lo, axis));
            hi = fmax(hi, itm_vec_get(broad->sorted[k].hi, axis));
        }
    }
    double width = fmax(STRIP_WIDTH * spread->extent[axis], (hi - lo) / (broad->n > 0 ? broad->n : 1));
    bool is_one = broad->n <= SWEEP_ALONE || !(width > 0.0 && width < INFINITY);
    broad->nstrip = is_one ? 1 : (int)fmin(broad->n, (hi - lo) / width + 1.0);
    memset(broad->strip_adr, 0, ((size_t)broad->nstrip + 1) * sizeof(int));
    // numbers of the shapes in strips, then where strips begin, then the shapes
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < broad->n; k++) {
            const ItmAabb* box = &broad->sorted[k];
            int first = 0, last = 0;
            bool is_finite = is_finite_box(box);
            if (is_finite && !is_one) {
                first = (int)((itm_vec_get(box->lo, axis) - lo) / width);
                last = (int)fmin((itm_vec_get(box->hi, axis) - lo) / width, broad->nstrip - 1);
                first = first < last ? first : last;
            }
            broad->strip[k] = is_finite && last - first < MOST_STRIPS ? first : ITM_NONE;
            for (int t = first; broad->strip[k] != ITM_NONE && t <= last; t++) {
                if (pass == 0) {
                    broad->strip_adr[t + 1]++;
                } else {
                    broad->entries[broad->strip_adr[t]++] = k;
                }
            }
        }
        for (int t = 0; pass == 0 && t < broad->nstrip; t++) {
            broad->strip_adr[t + 1] += broad->strip_adr[t];
        }
    }
}

// All overlaps within strip t, whose entries are from .. to. A pair that shares several strips counts in the first of them.
static int sweep_strip(ItmBroad* broad, int t, int from, int to, ItmBroadAllow allow, void* context)
{
    int lost = 0;
    for (int e = from; e < to; e++) {
        int k = broad->entries[e];
        double end = broad->ends[2 * k + 1];
        for (int f = e + 1; f < to && broad->ends[2 * broad->entries[f]] <= end; f++) {
            int l = broad->entries[f];
            if ((broad->strip[k] > broad->strip[l] ? broad->strip[k] : broad->strip[l]) == t) {
                lost += add_pair(broad, k, l, allow, context);
            }
        }
    }
    return lost;
}

// All overlaps of the shape at place k, which is in no strip, with those in strips and with later ones that are in none.
static int sweep_wide(ItmBroad* broad, int k, ItmBroadAllow allow, void* context)
{
    int lost = 0;
    for (int l = 0; l < broad->n && !(broad->ends[2 * l] > broad->ends[2 * k + 1]); l++) {
        if (broad->strip[l] != ITM_NONE || l > k) {
            lost += add_pair(broad, k, l, allow, context);
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
    Spread spread = measure_spread(boxes, broad->n);
    broad->axis = choose_axis(&spread, ITM_NONE);
    broad->second = choose_axis(&spread, broad->axis);
    sort_order(broad, boxes);
    for (int k = 0; k < broad->n; k++) {
        broad->sorted[k] = boxes[broad->order[k]];
        broad->ends[2 * k] = itm_vec_get(broad->sorted[k].lo, broad->axis);
        broad->ends[2 * k + 1] = itm_vec_get(broad->sorted[k].hi, broad->axis);
    }
    fill_strips(broad, &spread);
    int lost = 0;
    broad->npair = 0;
    // entries were put in from the beginning of each strip to that of the next
    for (int t = 0; t < broad->nstrip; t++) {
        lost += sweep_strip(broad, t, t > 0 ? broad->strip_adr[t - 1] : 0, broad->strip_adr[t], allow, context);
    }
    for (int k = 0; k < broad->n; k++) {
        if (broad->strip[k] == ITM_NONE) {
            lost += sweep_wide(broad, k, allow, context);
        }
    }
    sort_pairs(broad);
    return lost;
}
