/* inline.h: functions that are always inlined: those of kernels of lanes, because a call would spill the
 * registers that kernels depend on, and small ones whose structs a call would pass by memory. With a
 * sanitizer the compiler chooses: a kernel in one piece with a check at each access takes it minutes. */
#ifndef CAIRN_BASE_INLINE_H
#define CAIRN_BASE_INLINE_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ALWAYS_INLINE static inline
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ALWAYS_INLINE static inline
#endif
#endif

#ifndef ALWAYS_INLINE
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#endif

#endif
