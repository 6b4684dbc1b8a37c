/* inline.h: the functions of kernels of lanes. They are always inlined, because a call would spill the
 * registers that kernels depend on. With a sanitizer the compiler chooses: a kernel in one piece with a
 * check at each access takes it minutes. */
#ifndef CAIRN_BASE_INLINE_H
#define CAIRN_BASE_INLINE_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LANES_INLINE static inline
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LANES_INLINE static inline
#endif
#endif

#ifndef LANES_INLINE
#define LANES_INLINE static inline __attribute__((always_inline))
#endif

#endif
