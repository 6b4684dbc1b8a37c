/* walker.h: a shape that moves among placed shapes without turning: it slides along what it hits,
 * climbs steps, follows slopes, stands on ground, and is pushed out of what moves into it.
 *
 * Obstacles are solid or soft. A solid one is never entered, and it moves the walker away if it
 * overlaps it. A soft one (a body that gives way) only ends the walker's own ways, and does so
 * where half of the gap is left, so that whoever extrapolates the walker's motion by as much again
 * sees no collision. Of an overlapped soft one, the walker may part but not go deeper.
 *
 * Invariant 1: the walker's position changes only along ways that a sweep has proved free of the
 *   obstacles that it did not overlap when the way began.
 * Invariant 2: results depend on the arguments only; the order of the list breaks ties.
 */
#ifndef CAIRN_ENGINE_COLLISION_WALKER_H
#define CAIRN_ENGINE_COLLISION_WALKER_H

#include "server/engine/collision/placed.h"

enum { WALKER_OVERLAPS_MAX = 16, WALKER_PLANES_MAX = 2 * MOVER_ITERATIONS_MAX };

/* What the list of placed shapes does not say of an obstacle. */
struct walker_trait {
	vec3 one_way; /* unit: solid only for those who come from this side; zero: from all */
	bool soft;
};

/* A displacement x is asked for with normal·x ≥ least (m). */
struct walker_demand {
	vec3 normal;
	double least;
};

struct walker {
	const struct placed_shape *placed;
	const struct walker_trait *traits; /* one for each of them; NULL: all are solid */
	uint32_t count;
	const struct shape *shape;	     /* convex, of one piece unless `edges` is false */
	const struct mover_options *options; /* borrowed, like the lists */
	/* Steps are told from slopes by the faces beside an edge, and unwalkable slopes are walls.
	 * Else a hit is judged by its normal alone. */
	bool edges;
	double soft_skin; /* m: in place of options->skin, of soft obstacles */
	double foot;	  /* m: the lowest point of the shape along up, from its position */
	pose at;
	/* Obstacles that sweeps pass, as indices of the list. */
	uint32_t passed[WALKER_OVERLAPS_MAX], passed_count;
	/* Normals of what the way has hit so far. The first `held` are of overlapped soft
	 * obstacles. */
	vec3 planes[WALKER_PLANES_MAX];
	uint32_t plane_count, held;
	struct mover_result *out;		    /* borrowed */
	uint32_t contact_index[MOVER_CONTACTS_MAX]; /* of out->contacts: index of the obstacle */
};

/* Begins at `from`; *out is emptied. `traits` may be NULL. */
void walker_init(struct walker *self, const struct placed_shape *placed,
		 const struct walker_trait *traits, uint32_t count, const struct shape *shape,
		 pose from, const struct mover_options *options, struct mover_result *out);

/* Passes obstacle `index` from now on; walker_pass_none ends that for all. */
void walker_pass(struct walker *self, uint32_t index);
void walker_pass_none(struct walker *self);

/* The first hit along `way` from `from`; *index is that of the obstacle. Of a soft one, the
 * fraction is where the walker has to stop. */
bool walker_cast(const struct walker *self, pose from, vec3 way, struct cast_hit *hit,
		 uint32_t *index);
/* The same of one obstacle. */
bool walker_cast_one(const struct walker *self, uint32_t index, pose from, vec3 way,
		     struct cast_hit *hit);

/* Moves the walker out of solid obstacles, and so that the demands are met; soft obstacles do not
 * stop that. False, and the walker is where it was, if there is no such place on a free way: it is
 * squeezed. */
bool walker_free(struct walker *self, struct walker_demand *demands, uint32_t count);
/* After walker_free: holds the planes of the soft obstacles that the walker overlaps, and passes
 * them. */
void walker_hold_soft(struct walker *self);

/* Moves along `way`, sliding along what is hit; out->left is what was not covered. `level`: the
 * walker is on the ground: it follows walkable ground, climbs steps, and takes other hits as
 * upright walls; the way must be level, or along the ground. Else it stops on ground only if
 * `lands`, and returns true then. */
bool walker_slide(struct walker *self, vec3 way, bool level, bool lands);
/* The part of `way` that points into no plane hit by the last walker_slide. */
vec3 walker_clip(const struct walker *self, vec3 way);

/* Whether a hit can be stood on. */
bool walker_is_ground(const struct walker *self, const struct cast_hit *hit, uint32_t index);
/* A level displacement along a plane, whose normal is not level. */
vec3 walker_along(const struct walker *self, vec3 way, vec3 normal);
/* Looks for ground within `reach` m below. If there is some, the walker goes down to it, and the
 * hit is out->ground with out->grounded; *index is that of the obstacle. */
bool walker_land(struct walker *self, double reach, uint32_t *index);

#endif
