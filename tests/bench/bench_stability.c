/* bench_stability: the time of the verdict on walls in running bond with a brick left out, over
 * their size, without and with friction; and of a margin of the small ones. */
#include <stdio.h>
#include <time.h>

#include "tests/lib/towers.h"

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void measure(uint32_t rows, uint32_t columns, double friction)
{
	static const char *const names[STABILITY_VERDICTS] = { "falls", "stands", "may stand",
							       "undecided" };
	struct towers towers;
	struct equilibrium found;
	towers_init(&towers, 1, 0.25, 4, 9.81);
	towers.friction = friction;
	towers_wall(&towers, rows, columns, (int)columns / 2);
	double begin = now();
	if (equilibrium_init(&found, &towers.problem) != STATUS_OK) {
		printf("out of memory\n");
		return;
	}
	struct stability_answer answer = stability_of(&found, towers.loads);
	printf("%6u bricks, friction %.1f: %9.2f ms  %-9s %4u factors, residual %.1e, kkt %.1e\n",
	       towers.count, friction, now() - begin, names[answer.verdict], answer.rounds,
	       answer.residual, answer.kkt);
	equilibrium_release(&found);
	towers_release(&towers);
}

int main(void)
{
	static const uint32_t sizes[][2] = { { 5, 20 }, { 20, 50 }, { 100, 100 } };
	for (uint32_t i = 0; i < COUNT_OF(sizes); i++) {
		measure(sizes[i][0], sizes[i][1], 0);
		measure(sizes[i][0], sizes[i][1], 0.6);
	}
	return 0;
}
