/* bench_lcp_no_ode.c: bench_lcp without ODE, if it is not installed. */
#include "tests/bench/bench_lcp.h"

bool bench_has_ode(void)
{
	return false;
}

bool bench_ode_lcp(int rows, int stride, const double *a, const double *b, double *x)
{
	(void)rows, (void)stride, (void)a, (void)b, (void)x;
	return false;
}
