/* bench_closest_ccd.c: libccd. It has no distance, only whether two solids meet (GJK), and the depth
 * (GJK + EPA); it keeps nothing between queries; supports are its user's, here ours. */
#include "tests/bench/bench_closest.h"

#include <ccd/ccd.h>
#include <ccd/quat.h>
#include <stdlib.h>

struct solid {
	struct closest_shape shape;
	ccd_vec3_t position;
	ccd_quat_t rotation, inverse;
};
struct ccd_pair {
	struct solid a, b;
	ccd_t ccd;
};

static void support(const void *object, const ccd_vec3_t *direction, ccd_vec3_t *out)
{
	const struct solid *s = object;
	ccd_vec3_t d = *direction;
	ccdQuatRotVec(&d, &s->inverse);
	if (s->shape.half[0] > 0) {
		const double *half = s->shape.half;
		ccdVec3Set(out, ccdSign(ccdVec3X(&d)) * half[0], ccdSign(ccdVec3Y(&d)) * half[1],
			   ccdSign(ccdVec3Z(&d)) * half[2]);
	} else {
		const double *p = s->shape.points + 3 * s->shape.climb(s->shape.of, d.v);
		ccdVec3Set(out, p[0], p[1], p[2]);
	}
	ccdQuatRotVec(out, &s->rotation);
	ccdVec3Add(out, &s->position);
}

static void *create(const struct closest_shape *a, const struct closest_shape *b)
{
	struct ccd_pair *pair = calloc(1, sizeof *pair);
	if (pair == NULL)
		abort();
	pair->a.shape = *a;
	pair->b.shape = *b;
	ccdQuatSet(&pair->a.rotation, 0, 0, 0, 1);
	ccdQuatSet(&pair->a.inverse, 0, 0, 0, 1);
	CCD_INIT(&pair->ccd);
	pair->ccd.support1 = support;
	pair->ccd.support2 = support;
	pair->ccd.max_iterations = 200;
	return pair;
}

static void place(struct ccd_pair *pair, const struct closest_pose *at)
{
	const double *q = at->rotation;
	ccdVec3Set(&pair->b.position, at->position[0], at->position[1], at->position[2]);
	ccdQuatSet(&pair->b.rotation, q[1], q[2], q[3], q[0]);
	ccdQuatInvert2(&pair->b.inverse, &pair->b.rotation);
}

static double apart(void *object, const struct closest_pose *at, bool warm)
{
	struct ccd_pair *pair = object;
	(void)warm;
	place(pair, at);
	return !ccdGJKIntersect(&pair->a, &pair->b, &pair->ccd);
}

static double depth(void *object, const struct closest_pose *at, bool warm)
{
	struct ccd_pair *pair = object;
	ccd_real_t depth = 0;
	ccd_vec3_t direction, position;
	(void)warm;
	place(pair, at);
	return ccdGJKPenetration(&pair->a, &pair->b, &pair->ccd, &depth, &direction, &position) == 0
		       ? depth
		       : -1;
}

const struct closest_peer closest_ccd = { "libccd", create, free, apart, depth, NULL, NULL, NULL };
