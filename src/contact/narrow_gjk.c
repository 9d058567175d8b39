// Distance of two convex cores: the point of their difference b - a nearest to the origin, approached over
// simplices of support points (Gilbert, Johnson and Keerthi 1988; closest points as in Ericson 2005, ch. 5).
#include "contact/narrow_core.h"

#define MAX_ITERATIONS 100

typedef struct Simplex {
    int n;
    ItmVec3 w[4];        // b - a
    ItmVec3 a[4], b[4];  // the points it came from
    double weight[4];    // of the nearest point, sum 1
} Simplex;

// A face of the simplex: which vertices, and the weights of its point nearest to the origin.
typedef struct Part {
    int n;
    int vertex[3];
    double weight[3];
} Part;

// Keep the vertices of a part, with their weights.
static void keep_part(Simplex* s, const Part* part)
{
    Simplex old = *s;
    s->n = part->n;
    // the second bound is for the compiler, which cannot derive the first
    for (int i = 0; i < part->n && i < 3; i++) {
        s->w[i] = old.w[part->vertex[i]];
        s->a[i] = old.a[part->vertex[i]];
        s->b[i] = old.b[part->vertex[i]];
        s->weight[i] = part->weight[i];
    }
}

static ItmVec3 part_point(const Simplex* s, const Part* part)
{
    ItmVec3 p = {0, 0, 0};
    for (int i = 0; i < part->n; i++) {
        p = itm_vec_axpy(part->weight[i], s->w[part->vertex[i]], p);
    }
    return p;
}

static Part nearest_on_segment(const Simplex* s, int i, int j)
{
    ItmVec3 a = s->w[i], ab = itm_vec_sub(s->w[j], a);
    double length2 = itm_vec_dot(ab, ab);
    double t = -itm_vec_dot(a, ab);
    if (t <= 0 || !(length2 > 0)) {
        return (Part){1, {i}, {1}};
    }
    if (t >= length2) {
        return (Part){1, {j}, {1}};
    }
    return (Part){2, {i, j}, {1 - t / length2, t / length2}};
}

static Part nearer(const Simplex* s, Part p, Part q)
{
    ItmVec3 a = part_point(s, &p), b = part_point(s, &q);
    return itm_vec_dot(b, b) < itm_vec_dot(a, a) ? q : p;
}

static Part nearest_on_edges(const Simplex* s, int i, int j, int k)
{
    Part best = nearest_on_segment(s, i, j);
    best = nearer(s, best, nearest_on_segment(s, j, k));
    return nearer(s, best, nearest_on_segment(s, k, i));
}

// Inside the triangle the weights are the areas seen from the foot of the origin; otherwise on an edge.
static Part nearest_on_triangle(const Simplex* s, int i, int j, int k)
{
    ItmVec3 a = s->w[i], b = s->w[j], c = s->w[k];
    ItmVec3 n = itm_vec_cross(itm_vec_sub(b, a), itm_vec_sub(c, a));
    double u = itm_vec_dot(n, itm_vec_cross(b, c)), v = itm_vec_dot(n, itm_vec_cross(c, a));
    double w = itm_vec_dot(n, itm_vec_cross(a, b)), sum = u + v + w;
    if (u > 0 && v > 0 && w > 0) {
        return (Part){3, {i, j, k}, {u / sum, v / sum, w / sum}};
    }
    return nearest_on_edges(s, i, j, k);
}

static const int TETRAHEDRON[4][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}};

// False where the origin is inside. A face counts where the origin is not on the side of the fourth vertex;
// of a tetrahedron without volume every face counts.
static bool nearest_on_tetrahedron(const Simplex* s, Part* best)
{
    bool is_outside = false;
    for (int f = 0; f < 4; f++) {
        const int* v = TETRAHEDRON[f];
        ItmVec3 a = s->w[v[0]];
        ItmVec3 n = itm_vec_cross(itm_vec_sub(s->w[v[1]], a), itm_vec_sub(s->w[v[2]], a));
        double here = -itm_vec_dot(n, a), fourth = itm_vec_dot(n, itm_vec_sub(s->w[v[3]], a));
        double rounding = 1e-14 * itm_vec_norm(n) * (itm_vec_norm(a) + itm_vec_norm(s->w[v[3]]));
        if (here * fourth > 0 && fabs(fourth) > rounding) {
            continue;
        }
        Part part = nearest_on_triangle(s, v[0], v[1], v[2]);
        *best = is_outside ? nearer(s, *best, part) : part;
        is_outside = true;
    }
    return is_outside;
}

// Reduce the simplex to the part nearest to the origin. False where the origin is inside it.
static bool reduce_simplex(Simplex* s)
{
    Part best = {1, {0}, {1}};
    switch (s->n) {
    case 2:
        best = nearest_on_segment(s, 0, 1);
        break;
    case 3:
        best = nearest_on_triangle(s, 0, 1, 2);
        break;
    case 4:
        if (!nearest_on_tetrahedron(s, &best)) {
            return false;
        }
        break;
    default:
        break;
    }
    keep_part(s, &best);
    return true;
}

static ItmVec3 blend(const ItmVec3* points, const double* weight, int n)
{
    ItmVec3 p = {0, 0, 0};
    for (int i = 0; i < n; i++) {
        p = itm_vec_axpy(weight[i], points[i], p);
    }
    return p;
}

static bool is_vertex(const Simplex* s, ItmVec3 w)
{
    for (int i = 0; i < s->n; i++) {
        if (s->w[i].x == w.x && s->w[i].y == w.y && s->w[i].z == w.z) {
            return true;
        }
    }
    return false;
}

static void add_support(Simplex* s, const ItmCore* a, const ItmCore* b, ItmVec3 shift, ItmVec3 v)
{
    s->a[s->n] = itm_narrow_core_support(a, v);
    s->b[s->n] = itm_vec_add(itm_narrow_core_support(b, itm_vec_neg(v)), shift);
    s->w[s->n] = itm_vec_sub(s->b[s->n], s->a[s->n]);
    s->weight[s->n] = 1;
}

ItmDistance itm_narrow_gjk_distance(const ItmCore* a, const ItmCore* b, ItmVec3 shift, ItmVec3 guess, double near)
{
    double size = a->size + b->size, touching = 1e-15 * size;
    // polytopes end after finitely many steps; for curved cores more digits would be lost in thin simplices
    double tolerance = a->hull != NULL && b->hull != NULL ? 1e-13 : 1e-9;
    Simplex s = {0};
    bool has_guess = itm_vec_dot(guess, guess) > 0.0;
    ItmVec3 v = has_guess ? guess : itm_vec_sub(itm_vec_add(b->middle, shift), a->middle);
    if (!(itm_vec_norm(v) > touching)) {
        v = itm_vec(0, 0, size);
    }
    add_support(&s, a, b, shift, v);
    s.n = 1;
    v = s.w[0];
    bool is_inside = false;
    double near2 = near > 0.0 ? near * near : 0.0;
    for (int iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
        double vv = itm_vec_dot(v, v);
        if (!(vv > touching * touching)) {
            is_inside = true;
            break;
        }
        if (vv <= near2) {
            break;
        }
        // no point of b - a lies nearer along v: v.w is a lower bound of |v| d
        Simplex last = s;
        add_support(&s, a, b, shift, v);
        if (vv - itm_vec_dot(v, s.w[s.n]) <= tolerance * vv || is_vertex(&last, s.w[s.n])) {
            break;
        }
        s.n++;
        if (!reduce_simplex(&s)) {
            is_inside = true;
            break;
        }
        ItmVec3 next = blend(s.w, s.weight, s.n);
        if (!(itm_vec_dot(next, next) < vv)) {
            s = last;  // rounding: no further progress
            break;
        }
        v = next;
    }
    ItmDistance out = {.point_a = blend(s.a, s.weight, s.n), .point_b = itm_vec_sub(blend(s.b, s.weight, s.n), shift)};
    if (!is_inside) {
        out.distance = itm_vec_norm(v);
        out.n = itm_vec_scale(1.0 / out.distance, v);
    }
    return out;
}
