// Approximate minimum degree: Amestoy, Davis and Duff, SIAM J. Matrix Anal. Appl. 17 (1996) 886-905, without supervariables.
//
// The graph of what is left to eliminate is held as a quotient graph: an eliminated vertex p becomes an *element*, whose list L_p are the
// vertices that its elimination made neighbours. A vertex i keeps the neighbours A_i that no element covers, and its elements E_i;
// its degree is at most |A_i| + |L_p \ i| + sum over the other elements of |L_e \ L_p|.
#include "math/ordering.h"

#include "base/list.h"
#include "interim/base.h"

#include <string.h>

typedef struct List {
    int* items;
    int count, capacity;
} List;

typedef struct Graph {
    int n;
    List* neighbours;     // A_i                                                              (n)
    List* elements;       // E_i; for an element its vertices L_e                             (n)
    bool* is_eliminated;  //                                                                  (n)
    bool* is_absorbed;    // element that others cover                                        (n)
    int* mark;            // stamp of the last set a vertex was put into                      (n)
    int* outside;         // |L_e \ L_p| where mark_element is the present stamp              (n)
    int* mark_element;    //                                                                  (n)
    int stamp;
    int *head, *next, *prev, *degree;  // vertices by degree, linked; the last one put in comes first   (n each)
    int least;
} Graph;

// ---------------------------------------------------------------------------- vertices by degree

static void put_in(Graph* g, int i)
{
    int d = g->degree[i];
    g->prev[i] = ITM_NONE;
    g->next[i] = g->head[d];
    if (g->head[d] != ITM_NONE) {
        g->prev[g->head[d]] = i;
    }
    g->head[d] = i;
    g->least = d < g->least ? d : g->least;
}

static void take_out(Graph* g, int i)
{
    if (g->prev[i] != ITM_NONE) {
        g->next[g->prev[i]] = g->next[i];
    } else {
        g->head[g->degree[i]] = g->next[i];
    }
    if (g->next[i] != ITM_NONE) {
        g->prev[g->next[i]] = g->prev[i];
    }
}

static int take_least(Graph* g)
{
    while (g->head[g->least] == ITM_NONE) {
        g->least++;
    }
    int i = g->head[g->least];
    take_out(g, i);
    return i;
}

// ---------------------------------------------------------------------------- elimination

// Vertices of a list that are not yet in the set with the present stamp, into the set.
static bool add_vertices(Graph* g, List* set, const List* from)
{
    for (int k = 0; k < from->count; k++) {
        int i = from->items[k];
        if (!g->is_eliminated[i] && g->mark[i] != g->stamp) {
            g->mark[i] = g->stamp;
            if (!ITM_LIST_APPEND(*set, i)) {
                return false;
            }
        }
    }
    return true;
}

// L_p = (A_p + the lists of its elements) \ p; the elements are absorbed.
static bool form_element(Graph* g, int p)
{
    List set = {0};
    g->stamp++;
    g->is_eliminated[p] = true;
    bool ok = add_vertices(g, &set, &g->neighbours[p]);
    for (int k = 0; ok && k < g->elements[p].count; k++) {
        int e = g->elements[p].items[k];
        ok = g->is_absorbed[e] || add_vertices(g, &set, &g->elements[e]);
        g->is_absorbed[e] = true;
        free(g->elements[e].items);
        g->elements[e] = (List){0};
    }
    free(g->neighbours[p].items);
    free(g->elements[p].items);
    g->neighbours[p] = (List){0};
    g->elements[p] = set;
    return ok;
}

// |L_e \ L_p| of every element e that shares a vertex with L_p
static void count_outside(Graph* g, const List* Lp)
{
    for (int k = 0; k < Lp->count; k++) {
        const List* E = &g->elements[Lp->items[k]];
        for (int l = 0; l < E->count; l++) {
            int e = E->items[l];
            if (g->is_absorbed[e]) {
                continue;
            }
            if (g->mark_element[e] != g->stamp) {
                g->mark_element[e] = g->stamp;
                g->outside[e] = g->elements[e].count;
            }
            g->outside[e]--;
        }
    }
}

// Elements of i that p does not cover, and p; neighbours that no element covers; the new degree.
static bool update_vertex(Graph* g, int i, int p, int nleft)
{
    List *A = &g->neighbours[i], *E = &g->elements[i];
    int covered = g->elements[p].count - 1, degree = covered, kept = 0;
    for (int l = 0; l < E->count; l++) {
        int e = E->items[l];
        if (!g->is_absorbed[e] && g->outside[e] == 0) {
            g->is_absorbed[e] = true;  // p covers all of it
            free(g->elements[e].items);
            g->elements[e] = (List){0};
        }
        if (!g->is_absorbed[e]) {
            degree += g->outside[e];
            E->items[kept++] = e;
        }
    }
    E->count = kept;
    kept = 0;
    for (int l = 0; l < A->count; l++) {
        int j = A->items[l];
        if (!g->is_eliminated[j] && g->mark[j] != g->stamp) {
            A->items[kept++] = j;
        }
    }
    A->count = kept;
    degree += kept;
    int before = g->degree[i] + covered, most = nleft - 1;
    take_out(g, i);
    g->degree[i] = degree < before ? degree : before;
    g->degree[i] = g->degree[i] < most ? g->degree[i] : most;
    put_in(g, i);
    return ITM_LIST_APPEND(*E, p);
}

static bool eliminate(Graph* g, int* order)
{
    for (int k = 0; k < g->n; k++) {
        int p = take_least(g);
        order[k] = p;
        if (!form_element(g, p)) {
            return false;
        }
        const List* Lp = &g->elements[p];
        count_outside(g, Lp);
        for (int l = 0; l < Lp->count; l++) {
            if (!update_vertex(g, Lp->items[l], p, g->n - k - 1)) {
                return false;
            }
        }
    }
    return true;
}

// ---------------------------------------------------------------------------- memory

static bool fill(Graph* g, const int* adr, const int* list)
{
    for (int i = 0; i < g->n; i++) {
        g->head[i] = ITM_NONE;
    }
    for (int i = g->n - 1; i >= 0; i--) {
        int count = adr[i + 1] - adr[i];
        g->neighbours[i].items = malloc(sizeof(int) * (size_t)(count + 1));
        if (g->neighbours[i].items == NULL) {
            return false;
        }
        memcpy(g->neighbours[i].items, list + adr[i], sizeof(int) * (size_t)count);
        g->neighbours[i].count = count;
        g->neighbours[i].capacity = count + 1;
        g->degree[i] = count;
        put_in(g, i);
    }
    return true;
}

bool itm_ordering_compute(int* order, int n, const int* adr, const int* list)
{
    size_t count = (size_t)n + 1;
    Graph g = {.n = n};
    List* lists = calloc(2 * count, sizeof *lists);
    bool* flags = calloc(2 * count, sizeof *flags);
    int* numbers = calloc(7 * count, sizeof *numbers);
    bool ok = lists != NULL && flags != NULL && numbers != NULL;
    if (ok) {
        g.neighbours = lists;
        g.elements = lists + count;
        g.is_eliminated = flags;
        g.is_absorbed = flags + count;
        int** arrays[] = {&g.mark, &g.outside, &g.mark_element, &g.head, &g.next, &g.prev, &g.degree};
        for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
            *arrays[i] = numbers + i * count;
        }
        ok = fill(&g, adr, list) && eliminate(&g, order);
    }
    for (size_t i = 0; lists != NULL && i < 2 * count; i++) {
        free(lists[i].items);
    }
    free(lists);
    free(flags);
    free(numbers);
    return ok;
}
