// Union-find: sets named by their smallest member.
#ifndef ITM_BASE_UNION_FIND_H
#define ITM_BASE_UNION_FIND_H

// The name of the set of i, with paths halved on the way. root[i] = i for single sets.
static inline int itm_union_find(int* root, int i)
{
    while (root[i] != i) {
        root[i] = root[root[i]];
        i = root[i];
    }
    return i;
}

// Join the sets of i and j. Returns the name of the union.
static inline int itm_union_join(int* root, int i, int j)
{
    int a = itm_union_find(root, i), b = itm_union_find(root, j);
    int lo = a < b ? a : b;
    root[a > b ? a : b] = lo;
    return lo;
}

#endif
