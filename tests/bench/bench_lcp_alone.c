/* bench_lcp_alone.c: bench_lcp without Bullet, if it is not installed. */
#include "tests/bench/bench_lcp.h"

bool bench_has_bullet(void)
{
	return false;
}

bool bench_bullet_lcp(int which, int rows, int stride, const double *a, const double *b, double *x)
{
	(void)which, (void)rows, (void)stride, (void)a, (void)b, (void)x;
	return false;
}
