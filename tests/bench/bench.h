/* bench.h: common scenes for our engine and others, with one implementation of timing and quality.
 *
 * Scenes (y is up, gravity 0,-9.81,0, steps of 1/60 s, unit masses, friction 0.6, restitution 0):
 *   pyramid:N   N rows of unit boxes, row i has N-i boxes, resting on the plane y=0 (N=20: 210
 *   boxes)
 *   spheres:N   N^3 spheres of radius 0.4 dropped into an open 10 x 10 box (N=10: 1000)
 *   grid:N      N^3 unit boxes, pitch 1.1, lowest layer 0.5 above the plane (N=10: 1000)
 *   tower:R     8 unit boxes in a column, the top one of mass R (default 100)
 *
 * A driver makes the scene, steps it, and fills in the state after each step. Penetration, drift
 * and energy are computed here, in double, outside the timed region. Also included from C++. */
#ifndef CAIRN_BENCH_BENCH_H
#define CAIRN_BENCH_BENCH_H

#ifdef __cplusplus
extern "C" {
#endif

#define BENCH_GRAVITY 9.81
#define BENCH_STEP (1.0 / 60.0)
#define BENCH_FRICTION 0.6
#define BENCH_RADIUS 0.4    /* of the spheres, m */
#define BENCH_HALF 0.5	    /* of the boxes, m */
#define BENCH_CONTAINER 5.0 /* from the middle to each wall, m */

enum bench_kind { BENCH_PYRAMID, BENCH_SPHERES, BENCH_GRID, BENCH_TOWER };

struct bench_vec {
	double x, y, z;
};
struct bench_quat {
	double w, x, y, z;
};

struct bench {
	enum bench_kind kind;
	int size, count, steps, threads, sleep;
	const char *engine, *variant;
	char name[64];
	/* By body. The driver reads `start` and `mass` and fills the others. */
	double *mass;
	struct bench_vec *start, *position, *velocity, *spin;
	struct bench_quat *rotation;
	double *ms;		/* of each step */
	double penetration_run; /* m, the greatest of all samples */
};

/* Reads "scene[:n] [-s steps] [-t threads] [-v variant] [-sleep]"; on a mistake prints the usage
 * and exits. Allocates all arrays; positions are at their start. */
void bench_init(struct bench *self, const char *engine, const char *variant, int argc, char **argv);
/* Milliseconds of a monotonic clock. */
double bench_now(void);
/* To be called after each step, when the state is filled in. */
void bench_sample(struct bench *self, int step);
/* Prints one line: times (all, the first two seconds, the rest), penetration, drift, energy, hash. */
void bench_report(struct bench *self);
void bench_release(struct bench *self);

#ifdef __cplusplus
}
#endif

#endif
