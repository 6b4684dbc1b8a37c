/* target.h: compiles the functions of a file for processors beyond the architecture's baseline. They are
 * called only where the processor has it (processor.h); products and sums stay apart (-ffp-contract=off).
 *
 *   #if defined(__x86_64__)
 *   #include "server/base/target.h"
 *   TARGET_AVX2
 *   #define LANES_WIDTH 8
 *   #include "…/passes.h"
 *   TARGET_END
 *   #endif
 */
#ifndef CAIRN_BASE_TARGET_H
#define CAIRN_BASE_TARGET_H

#define TARGET_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define TARGET_PUSH(features)                                                                      \
	TARGET_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define TARGET_AVX2 TARGET_PUSH("avx2")
#define TARGET_AVX512 TARGET_PUSH("avx512f,avx512vl,avx512dq,avx512bw")
#define TARGET_END TARGET_PRAGMA(clang attribute pop)
#else
#define TARGET_AVX2 TARGET_PRAGMA(GCC target("avx2"))
#define TARGET_AVX512                                                                              \
	TARGET_PRAGMA(GCC target("avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512"))
#define TARGET_END
#endif

#endif
