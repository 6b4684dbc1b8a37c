/* See processor.h. The processor is asked once, because a virtual machine answers in microseconds. */
#include "server/base/processor.h"

#include <stdatomic.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static _Atomic uint32_t known; /* lanes of the processor; 0: not asked yet */
static _Atomic uint32_t limit = UINT32_MAX;

static uint32_t find_lanes(void)
{
#if defined(__x86_64__)
	enum { OSXSAVE = 1 << 27, AVX = 1 << 28, AVX2 = 1 << 5, YMM_SAVED = 6, ZMM_SAVED = 0xe6 };
	/* F, DQ and BW, and VL: all that soft_kernels_16.c is compiled for. */
	const unsigned avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
	unsigned a, b, c, d, low, high;
	if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (~c & (OSXSAVE | AVX)) != 0)
		return 4;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	/* The system saves the wide registers of a thread. */
	if ((~low & YMM_SAVED) != 0 || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0)
		return 4;
	if ((b & AVX2) == 0)
		return 4;
	return (~b & avx512) == 0 && (~low & ZMM_SAVED) == 0 ? 16 : 8;
#else
	return 4;
#endif
}

uint32_t processor_lanes(void)
{
	uint32_t lanes = atomic_load_explicit(&known, memory_order_relaxed);
	if (lanes == 0) {
		lanes = find_lanes();
		atomic_store_explicit(&known, lanes, memory_order_relaxed);
	}
	return MIN_OF(lanes, atomic_load_explicit(&limit, memory_order_relaxed));
}

void processor_limit_lanes(uint32_t most)
{
	ASSERT(most >= 1);
	atomic_store_explicit(&limit, most, memory_order_relaxed);
}
