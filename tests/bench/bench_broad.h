/* bench_broad.h: boxes that move, for broad phases of Cairn and others in one run. */
#ifndef CAIRN_TESTS_BENCH_BROAD_H
#define CAIRN_TESTS_BENCH_BROAD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bench_box {
	double min[3], max[3];
};

/* `rounds` times: every box moves to its next place (round r: boxes[r × count …]), then all pairs
 * are found. */
struct bench_boxes {
	const char *name;
	uint32_t count, rounds;
	const struct bench_box
		*boxes; /* (rounds + 1) × count; the first `count` are the initial places */
};

struct bench_broad_result {
	double move_ns; /* a proxy and round: updating moved proxies */
	double pair_ns; /* a proxy and round: finding pairs */
	uint64_t pairs; /* of the last round */
};

double bench_broad_now(void); /* ns */
struct bench_broad_result bench_broad_bullet(const struct bench_boxes *boxes);
struct bench_broad_result bench_broad_ode(const struct bench_boxes *boxes);

#ifdef __cplusplus
}
#endif

#endif
