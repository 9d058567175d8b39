// From a common normal to contact points: the features that face each other are clipped with each other in the
// plane perpendicular to n, and each corner of what they share is lifted back onto both, along n.
#include "contact/narrow_core.h"

#define LOOSE 0.5   // faces and edges up to 30 degrees from the contact plane take part
#define TIGHT 1e-6  // those that really touch

// Kinds of contacts, part of their key.
enum { VERTEX_A, VERTEX_B, CROSSING, NEAREST };

uint64_t itm_narrow_manifold_key(unsigned kind, uint64_t id_a, uint64_t id_b)
{
    // splitmix64 over the parts
    uint64_t parts[3] = {kind, id_a, id_b}, h = 0;
    for (int i = 0; i < 3; i++) {
        h += parts[i] + 0x9e3779b97f4a7c15ULL;
        h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
        h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
        h ^= h >> 31;
    }
    return h;
}

static uint64_t edge_id(const ItmFeature* f, int i)
{
    uint64_t p = f->id[i], q = f->id[(i + 1) % f->n];
    return p < q ? p << 32 | q : q << 32 | p;
}

// ---------------------------------------------------------------------------- set of points

static double distance2(const ItmContactPoint* p, const ItmContactPoint* q)
{
    ItmVec3 d = itm_vec_sub(p->point_a, q->point_a);
    return itm_vec_dot(d, d);
}

static double turn2(const ItmContactPoint* p, const ItmContactPoint* q)
{
    ItmVec3 d = itm_vec_sub(p->normal, q->normal);
    return itm_vec_dot(d, d);
}

void itm_narrow_manifold_push(ItmManifold* m, const ItmContactPoint* point)
{
    ItmContactPoint new = *point;
    // the same features twice: the same contact, or (in a groove) another one, which gets the next key
    for (int i = 0; i < m->n; i++) {
        if (m->points[i].key != new.key) {
            continue;
        }
        double d2 = distance2(&m->points[i], &new);
        if (turn2(&m->points[i], &new) < 1e-6 && d2 <= m->same_place * m->same_place) {
            return;
        }
        new.key++;
        i = -1;
    }
    if (m->n == ITM_MANIFOLD_MAX) {
        itm_narrow_manifold_reduce(m, ITM_MANIFOLD_MAX / 2);
    }
    m->points[m->n++] = new;
}

static int find_deepest(const ItmManifold* m)
{
    int best = 0;
    for (int i = 1; i < m->n; i++) {
        if (m->points[i].gap < m->points[best].gap - 1e-12) {
            best = i;
        }
    }
    return best;
}

// The deepest, then always the one farthest from those chosen; a turn of the normal counts as an extent.
void itm_narrow_manifold_reduce(ItmManifold* m, int max)
{
    if (m->n <= max || max < 1) {
        m->n = max < 1 ? 0 : m->n;
        return;
    }
    double extent2 = 0, apart[ITM_MANIFOLD_MAX];
    bool is_chosen[ITM_MANIFOLD_MAX] = {false};
    for (int i = 1; i < m->n; i++) {
        extent2 = fmax(extent2, distance2(&m->points[0], &m->points[i]));
    }
    for (int i = 0; i < m->n; i++) {
        apart[i] = INFINITY;
    }
    int next = find_deepest(m);
    for (int k = 0; k < max; k++) {
        int chosen = next;
        is_chosen[chosen] = true;
        apart[chosen] = -1;
        double best = -1;
        for (int i = 0; i < m->n; i++) {
            double d2 =
                distance2(&m->points[i], &m->points[chosen]) + extent2 * turn2(&m->points[i], &m->points[chosen]);
            apart[i] = fmin(apart[i], d2);
            // by more than rounding, so that ties always go to the first
            if (!is_chosen[i] && apart[i] > best + 1e-9 * extent2) {
                best = apart[i];
                next = i;
            }
        }
    }
    int n = 0;
    for (int i = 0; i < m->n; i++) {
        if (is_chosen[i]) {
            m->points[n++] = m->points[i];
        }
    }
    m->n = n;
}

// ---------------------------------------------------------------------------- cutting

typedef struct Point2 {
    double x, y;
} Point2;

// A feature in the contact plane.
typedef struct Flat {
    const ItmFeature* feature;
    int n;
    Point2 p[ITM_FEATURE_MAX];
    Point2 side[ITM_FEATURE_MAX];  // from p[i] to the next, and its length
    double length[ITM_FEATURE_MAX];
    double turn;     // +1 counter-clockwise, -1 clockwise
    ItmVec3 normal;  // of the feature's own plane, scaled so that normal . n = 1; polygons only
} Flat;

typedef struct Cut {
    ItmManifold* manifold;
    const ItmAxis* axis;
    double radius_a, radius_b, margin;  // m
    double tol;                         // nearer than this is the same place, m
    int nplace;
    Point2 places[ITM_MANIFOLD_MAX];  // where there is a contact already
    double smallest;                  // gap of the cores so far
} Cut;

static double cross2(Point2 a, Point2 b)
{
    return a.x * b.y - a.y * b.x;
}

static Point2 sub2(Point2 a, Point2 b)
{
    return (Point2){a.x - b.x, a.y - b.y};
}

static double norm2(Point2 a)
{
    return sqrt(a.x * a.x + a.y * a.y);
}

static void flatten(Flat* flat, const ItmFeature* f, ItmVec3 n, ItmVec3 u, ItmVec3 v)
{
    flat->feature = f;
    flat->n = f->n;
    double area = 0;
    flat->normal = itm_vec(0, 0, 0);
    for (int i = 0; i < f->n; i++) {
        flat->p[i] = (Point2){itm_vec_dot(u, f->p[i]), itm_vec_dot(v, f->p[i])};
    }
    for (int i = 0; i < f->n; i++) {
        flat->side[i] = sub2(flat->p[i + 1 < f->n ? i + 1 : 0], flat->p[i]);
        flat->length[i] = norm2(flat->side[i]);
    }
    for (int i = 1; i + 1 < f->n; i++) {
        area += cross2(sub2(flat->p[i], flat->p[0]), sub2(flat->p[i + 1], flat->p[0]));
        flat->normal =
            itm_vec_add(flat->normal, itm_vec_cross(itm_vec_sub(f->p[i], f->p[0]), itm_vec_sub(f->p[i + 1], f->p[0])));
    }
    flat->turn = area < 0 ? -1 : 1;
    double along = itm_vec_dot(flat->normal, n);
    flat->normal = itm_vec_scale(along != 0 ? 1.0 / along : 0, flat->normal);
}

// Inside a polygon, or not farther than tol from it.
static bool is_inside(const Flat* polygon, Point2 q, double tol)
{
    for (int i = 0; i < polygon->n; i++) {
        if (polygon->turn * cross2(polygon->side[i], sub2(q, polygon->p[i])) < -tol * polygon->length[i]) {
            return false;
        }
    }
    return true;
}

// Height of a polygon's plane above a point, along n.
static double height_over(const Flat* polygon, ItmVec3 p)
{
    return itm_vec_dot(polygon->normal, itm_vec_sub(polygon->feature->p[0], p));
}

static bool is_taken(const Cut* cut, Point2 q)
{
    for (int i = 0; i < cut->nplace; i++) {
        Point2 d = sub2(q, cut->places[i]);
        if (d.x * d.x + d.y * d.y <= cut->tol * cut->tol) {
            return true;
        }
    }
    return false;
}

// A place that belongs to the surface's other triangles: recorded, but no contact of its own.
static void note_quiet(Cut* cut, double gap)
{
    cut->smallest = fmin(cut->smallest, gap);
}

// A contact at point p of core a, with the other core `gap` further on.
static void add_contact(Cut* cut, Point2 q, ItmVec3 p, double gap, uint64_t key)
{
    if (cut->nplace < ITM_MANIFOLD_MAX) {
        cut->places[cut->nplace++] = q;
    }
    // nothing is nearer than the cores are: a vertex taken in within tol of a leaning polygon may seem to be
    gap = cut->axis->is_imposed ? gap : fmax(gap, cut->axis->gap);
    cut->smallest = fmin(cut->smallest, gap);
    double outer_gap = gap - cut->radius_a - cut->radius_b;
    if (!(outer_gap <= cut->margin)) {
        return;
    }
    ItmVec3 n = cut->axis->n, point_a = itm_vec_axpy(cut->radius_a, n, p);
    ItmContactPoint point = {point_a, itm_vec_axpy(outer_gap, n, point_a), n, outer_gap, key};
    itm_narrow_manifold_push(cut->manifold, &point);
}

static void cut_vertices_a(Cut* cut, const Flat* a, const Flat* b)
{
    for (int i = 0; i < a->n; i++) {
        if (is_inside(b, a->p[i], cut->tol)) {
            ItmVec3 p = a->feature->p[i];
            add_contact(cut, a->p[i], p, height_over(b, p), itm_narrow_manifold_key(VERTEX_A, a->feature->id[i], 0));
        }
    }
}

static void cut_vertices_b(Cut* cut, const Flat* a, const Flat* b)
{
    for (int j = 0; j < b->n; j++) {
        if (!is_inside(a, b->p[j], cut->tol) || is_taken(cut, b->p[j])) {
            continue;
        }
        double gap = -height_over(a, b->feature->p[j]);
        if (b->n == 3 && (b->feature->quiet_vertices >> j & 1u) != 0) {
            note_quiet(cut, gap);
        } else {
            ItmVec3 p = itm_vec_axpy(-gap, cut->axis->n, b->feature->p[j]);
            add_contact(cut, b->p[j], p, gap, itm_narrow_manifold_key(VERTEX_B, 0, b->feature->id[j]));
        }
    }
}

static ItmVec3 between(const ItmFeature* f, int i, double s)
{
    ItmVec3 p = f->p[i];
    return itm_vec_axpy(s, itm_vec_sub(f->p[(i + 1) % f->n], p), p);
}

static void cut_edges(Cut* cut, const Flat* a, int i, const Flat* b, int j)
{
    Point2 p = a->p[i], d = a->side[i], e = b->side[j], r = sub2(b->p[j], p);
    double det = cross2(d, e), size = fabs(det);
    // p + s d = q + t e with s and t, times det, between 0 and det; edges that stay within tol of each other
    // cross nowhere in particular, and their ends are contacts already
    double s_det = copysign(1, det) * cross2(r, e), t_det = copysign(1, det) * cross2(r, d);
    if (!(s_det > 0 && s_det < size && t_det > 0 && t_det < size) ||
        size <= cut->tol * fmax(a->length[i], b->length[j])) {
        return;
    }
    double s = s_det / size, t = t_det / size;
    Point2 place = {p.x + s * d.x, p.y + s * d.y};
    if (is_taken(cut, place)) {
        return;
    }
    ItmVec3 point_a = between(a->feature, i, s), point_b = between(b->feature, j, t);
    double gap = itm_vec_dot(cut->axis->n, itm_vec_sub(point_b, point_a));
    if (b->n == 3 && (b->feature->quiet_edges >> j & 1u) != 0) {
        note_quiet(cut, gap);
    } else {
        add_contact(cut, place, point_a, gap,
                    itm_narrow_manifold_key(CROSSING, edge_id(a->feature, i), edge_id(b->feature, j)));
    }
}

static void cut_crossings(Cut* cut, const Flat* a, const Flat* b)
{
    int nedge_a = a->n > 2 ? a->n : a->n - 1, nedge_b = b->n > 2 ? b->n : b->n - 1;
    for (int i = 0; i < nedge_a; i++) {
        for (int j = 0; j < nedge_b; j++) {
            cut_edges(cut, a, i, b, j);
        }
    }
}

// Two segments side by side: the ends of each that lie beside the other.
static void cut_parallel(Cut* cut, const Flat* a, const Flat* b)
{
    for (int side = 0; side < 2; side++) {
        const Flat *own = side == 0 ? a : b, *other = side == 0 ? b : a;
        Point2 d = sub2(other->p[1], other->p[0]);
        double length2 = d.x * d.x + d.y * d.y, slack = cut->tol / sqrt(length2);
        for (int i = 0; i < 2; i++) {
            Point2 r = sub2(own->p[i], other->p[0]);
            double t = (r.x * d.x + r.y * d.y) / length2;
            // places along the other segment, so that the lateral distance does not hide a repetition
            Point2 place = side == 0 ? own->p[i] : (Point2){other->p[0].x + t * d.x, other->p[0].y + t * d.y};
            if (!(t >= -slack && t <= 1 + slack) || is_taken(cut, place)) {
                continue;
            }
            ItmVec3 p = own->feature->p[i], q = between(other->feature, 0, t);
            double gap = itm_vec_dot(cut->axis->n, itm_vec_sub(side == 0 ? q : p, side == 0 ? p : q));
            add_contact(cut, place, side == 0 ? p : q, gap,
                        itm_narrow_manifold_key(side == 0 ? VERTEX_A : VERTEX_B, side == 0 ? own->feature->id[i] : 0,
                                                side == 0 ? 0 : own->feature->id[i]));
        }
    }
}

static void cut_features(Cut* cut, const Flat* a, const Flat* b)
{
    if (a->n == 2 && b->n == 2) {
        cut_parallel(cut, a, b);
        return;
    }
    if (b->n > 2) {
        cut_vertices_a(cut, a, b);
    }
    if (a->n > 2) {
        cut_vertices_b(cut, a, b);
    }
    cut_crossings(cut, a, b);
}

// ---------------------------------------------------------------------------- one point

static bool are_parallel(const ItmFeature* a, const ItmFeature* b, ItmVec3 n)
{
    ItmVec3 d = itm_vec_sub(a->p[1], a->p[0]), e = itm_vec_sub(b->p[1], b->p[0]);
    return fabs(itm_vec_dot(n, itm_vec_cross(d, e))) < 1e-3 * itm_vec_norm(d) * itm_vec_norm(e);
}

static bool are_crossed(const ItmFeature* a, const ItmFeature* b, ItmVec3 n)
{
    return a->n == 2 && b->n == 2 && !are_parallel(a, b, n);
}

// Where two lines are nearest: the point of the first.
static ItmVec3 nearest_on_line(const ItmFeature* a, const ItmFeature* b)
{
    ItmVec3 d = itm_vec_sub(a->p[1], a->p[0]), e = itm_vec_sub(b->p[1], b->p[0]);
    ItmVec3 r = itm_vec_sub(b->p[0], a->p[0]);
    double dd = itm_vec_dot(d, d), ee = itm_vec_dot(e, e), de = itm_vec_dot(d, e);
    double det = dd * ee - de * de;
    double s = det > 0 ? (itm_vec_dot(r, d) * ee - itm_vec_dot(r, e) * de) / det : 0.5;
    return itm_vec_axpy(fmin(fmax(s, 0), 1), d, a->p[0]);
}

// The single contact of features that touch in a point; gap as the axis has it.
static void add_single(Cut* cut, const ItmFeature* a, const ItmFeature* b)
{
    const ItmAxis* axis = cut->axis;
    ItmVec3 p;
    uint64_t key;
    if (a->n == 1) {
        p = a->p[0];
        key = itm_narrow_manifold_key(VERTEX_A, a->id[0], 0);
    } else if (b->n == 1) {
        p = itm_vec_axpy(-axis->gap, axis->n, b->p[0]);
        key = itm_narrow_manifold_key(VERTEX_B, 0, b->id[0]);
    } else if (are_crossed(a, b, axis->n)) {
        p = nearest_on_line(a, b);
        key = itm_narrow_manifold_key(CROSSING, edge_id(a, 0), edge_id(b, 0));
    } else {
        p = axis->has_points ? axis->point_a : a->p[0];
        key = itm_narrow_manifold_key(NEAREST, 0, 0);
    }
    add_contact(cut, (Point2){0, 0}, p, axis->gap, key);
}

void itm_narrow_manifold_add(ItmManifold* manifold, const ItmAxis* axis, const ItmCore* a, const ItmCore* b,
                             double margin)
{
    ItmVec3 n = axis->n, u = itm_vec_perpendicular(n), v = itm_vec_cross(n, u);
    double size = fmin(a->size, b->size);
    Cut cut;  // places are written before they are read
    cut.manifold = manifold;
    cut.axis = axis;
    cut.radius_a = a->radius;
    cut.radius_b = b->radius;
    cut.margin = margin;
    cut.tol = 1e-5 * size;
    cut.nplace = 0;
    cut.smallest = INFINITY;
    ItmFeature feature_a, feature_b;
    itm_narrow_find_feature(&feature_a, a, n, LOOSE);
    itm_narrow_find_feature(&feature_b, b, itm_vec_neg(n), LOOSE);
    if (!axis->is_imposed && (feature_a.n == 1 || feature_b.n == 1)) {
        add_single(&cut, &feature_a, &feature_b);
        return;
    }
    if (axis->is_imposed || !are_crossed(&feature_a, &feature_b, n)) {
        Flat flat_a, flat_b;
        flatten(&flat_a, &feature_a, n, u, v);
        flatten(&flat_b, &feature_b, n, u, v);
        cut_features(&cut, &flat_a, &flat_b);
    }
    // the nearest points of all, where clipping has missed them
    if (!axis->is_imposed && cut.smallest > axis->gap + 1e-8 * size) {
        itm_narrow_find_feature(&feature_a, a, n, TIGHT);
        itm_narrow_find_feature(&feature_b, b, itm_vec_neg(n), TIGHT);
        add_single(&cut, &feature_a, &feature_b);
    }
}
