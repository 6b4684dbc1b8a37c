/* bench_lcp.h: the solvers of Bullet and ODE for bench_lcp, behind a C interface. */
#ifndef CAIRN_BENCH_BENCH_LCP_H
#define CAIRN_BENCH_BENCH_LCP_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

bool bench_has_bullet(void);
/* which: 0 Dantzig, 1 Lemke. A x + b = w; false if the solver reports a failure. */
bool bench_bullet_lcp(int which, int rows, int stride, const double *a, const double *b, double *x);

bool bench_has_ode(void);
bool bench_ode_lcp(int rows, int stride, const double *a, const double *b, double *x);

#ifdef __cplusplus
}
#endif

#endif
