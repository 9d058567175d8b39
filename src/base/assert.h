// ITM_ASSERT guards our own promises, never user data. The handler can be replaced, because a library
// that aborts inside somebody's simulator should at least do it their way.
#ifndef ITM_BASE_ASSERT_H
#define ITM_BASE_ASSERT_H

void itm_assert_fail(const char* expression, const char* file, int line);

#ifdef NDEBUG
#define ITM_ASSERT(expression) ((void)sizeof(expression))
#else
#define ITM_ASSERT(expression) ((expression) ? (void)0 : itm_assert_fail(#expression, __FILE__, __LINE__))
#endif

#endif
