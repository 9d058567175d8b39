// Guards of the public border: what a caller must give, checked first, so that a NULL object, a NULL name or an index out of range
// is refused and not followed. The rest of a function relies on it.
#ifndef ITM_BASE_GUARD_H
#define ITM_BASE_GUARD_H

// Return `value` unless the condition holds.
#define ITM_GUARD(condition, value)                                                                                    \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            return value;                                                                                              \
        }                                                                                                              \
    } while (0)

// The same in a function without a value.
#define ITM_GUARD_VOID(condition)                                                                                      \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)

// Whether an index is in 0 .. count - 1.
#define ITM_IS_INDEX(index, count) ((index) >= 0 && (index) < (count))

#endif
