/* sweep_path.h: the paths of bodies over a step, and where two of them first touch. Private to dynamics.
 *
 * Fractions are parts of a path: 0 its start, 1 its end. All functions are pure and allocate nothing. */
#ifndef CAIRN_ENGINE_DYNAMICS_SWEEP_PATH_H
#define CAIRN_ENGINE_DYNAMICS_SWEEP_PATH_H

#include "server/engine/dynamics/dynamics.h"
#include "server/engine/dynamics/step.h"
#include "server/engine/math/interpolate.h"

/* A body's mass centre goes straight, and the body turns about it at a constant rate. */
struct sweep_path {
	pose from, to; /* of the mass centre, world */
	vec3 axis;     /* unit */
	double angle;  /* rad ≥ 0; above π for a body that turns more than half a turn */
	double reach;  /* m, farthest point from the mass centre; infinite with a plane */
	bool wound;    /* it turns more often than `angle` says */
};

/* The path from the tables to `motion` in dt seconds. False: a number is not finite. */
bool sweep_path_of(const struct dynamics *self, uint32_t body, const struct body_motion *motion,
		   double dt, struct sweep_path *out);
/* The path of a body that stays where it is. */
struct sweep_path sweep_path_still(const struct dynamics *self, uint32_t body);
pose sweep_path_at(const struct sweep_path *path, double fraction);
/* Ends the path at the fraction. */
void sweep_path_cut(struct sweep_path *path, double fraction);
/* The straight path from a pose to another, by the shorter turn. */
struct sweep_path sweep_path_between(pose from, pose to, double reach);
/* A box that holds the body between two fractions. */
struct aabb sweep_path_box(const struct sweep_path *path, double from, double to);

/* Of the inner radius: a body of which a point moves farther in a tick is fast. Larger: contacts may act too
 * late; smaller: more bodies are swept. */
#define SWEEP_FAST 0.5

/* A body turns at most SWEEP_TURN in one search, rad: the steps of a search are the shorter the farther the
 * body turns, and a search needs less than half a turn. */
#define SWEEP_TURN (0.25 * PI)
/* The most searches for one path: bounds the cost of a body that turns many times in a tick. */
enum { SWEEP_PARTS_MAX = 64 };
/* In how many parts two paths are searched. */
uint32_t sweep_parts(const struct sweep_path *a, const struct sweep_path *b);

/* The earliest touch that ends a path, and what was met on the way. */
struct sweep_hit {
	double fraction;    /* 1: none */
	uint32_t placement; /* of the obstacle */
	vec3 normal;	    /* from the body to the obstacle, at `fraction` */
	bool core;	    /* it is the body's core that touches */
	vec3 obstacle_way;  /* m, of the obstacle's point there, in a whole path */
	uint64_t limits; /* searches that ended without an answer; the path ends where they did */
};

/* Searches part `part` of `parts` of two paths for the first touch of the placements a and b, whose bodies
 * may collide, and stores it in *hit if it is earlier; of equally early ones that with the lower number of
 * b. Touches at the start of the paths do not count, but then a's core may touch (time_of_impact.h). */
void sweep_placements(const struct dynamics *self, const struct sweep_path *path_a, uint32_t a,
		      const struct sweep_path *path_b, uint32_t b, uint32_t part, uint32_t parts,
		      struct sweep_hit *hit);

#endif
