/* poses.h: random and awkward poses for tests of geometry. */
#ifndef CAIRN_TESTS_POSES_H
#define CAIRN_TESTS_POSES_H

#include "server/base/rng.h"
#include "server/engine/math/pose.h"

/* Even in the cube of half edge `size` about the origin. */
static inline vec3 random_vector(struct rng *rng, double size)
{
	double x = rng_range(rng, -size, size), y = rng_range(rng, -size, size);
	return vec3_make(x, y, rng_range(rng, -size, size));
}

/* A unit vector. Directions to the cube's corners are more frequent than others. */
static inline vec3 random_direction(struct rng *rng)
{
	vec3 v = random_vector(rng, 1);
	while (vec3_length(v) < 0.1)
		v = random_vector(rng, 1);
	return vec3_normalize(v);
}

static inline quat random_rotation(struct rng *rng)
{
	double w = rng_range(rng, -1, 1), x = rng_range(rng, -1, 1), y = rng_range(rng, -1, 1);
	return quat_normalize(quat_make(w, x, y, rng_range(rng, -1, 1)));
}

/* The identity, quarter turns, eighth turns, random rotations, and each of them perturbed by 1e-14
 * to 1e-2. */
static inline quat awkward_rotation(struct rng *rng)
{
	static const double PARTS[4] = { 0, 1, -1, 0.41421356237309503 /* tan 22.5° */ };
	quat q = random_rotation(rng);
	if (rng_below(rng, 3) > 0) {
		double w = rng_below(rng, 2), x = PARTS[rng_below(rng, 4)];
		double y = PARTS[rng_below(rng, 4)];
		q = quat_normalize(quat_make(w, x, y, PARTS[rng_below(rng, 4)]));
	}
	if (rng_below(rng, 2) == 0) {
		double size = 1e-14;
		for (uint32_t k = rng_below(rng, 13); k > 0; k--)
			size *= 10;
		vec3 off = random_vector(rng, size);
		q = quat_normalize(quat_mul(q, quat_make(1, off.x, off.y, off.z)));
	}
	return q;
}

#endif
