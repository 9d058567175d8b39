// A function whose constant arguments and unused results the compiler is to see at every call.
#ifndef ITM_BASE_INLINE_H
#define ITM_BASE_INLINE_H

#if defined(__GNUC__)
#define ITM_INLINE static inline __attribute__((always_inline))
#else
#define ITM_INLINE static inline
#endif

#endif
