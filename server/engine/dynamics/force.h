/* force.h: a list of forces, evaluated at any state and time: gravity, drives, force fields, and forces
 * that a method adds.
 *
 * A force is a pure function of its arguments, so multi-stage integrators may evaluate it at stage
 * states, and methods that go back in time at any time within a tick. Damping is not in the list,
 * because the method integrates it exactly over its own sub-steps (integrate.h).
 */
#ifndef CAIRN_ENGINE_DYNAMICS_FORCE_H
#define CAIRN_ENGINE_DYNAMICS_FORCE_H

#include "server/engine/dynamics/dynamics.h"

/* Motion of one body at a stage. */
struct force_state {
	vec3 centre; /* mass centre, world, m */
	quat rotation;
	vec3 velocity, angular_velocity;
	double mass; /* kg */
};

/* Sum of forces on one body, world axes. Forces proportional to mass are summed as accelerations and are
 * never multiplied and divided by the mass, so free fall does not depend on the mass in any bit. */
struct force_sum {
	vec3 acceleration; /* m/s² */
	vec3 force;	   /* N, without mass × acceleration */
	vec3 torque;	   /* N·m, about the mass centre */
};

/* A set of bodies. */
struct force_bodies {
	const uint32_t *rows;		   /* of the body table, ascending */
	const struct body_motion *motions; /* of rows[i]; NULL: those in the tables */
	uint32_t count;
};
/* Index of a body among the rows, or their count. */
uint32_t force_bodies_find(const struct force_bodies *self, uint32_t body);

/* Either `add` or `add_all`. */
struct force {
	/* Adds its force on body row `body` at `time` seconds from the tick's start. */
	void (*add)(const struct force *self, uint32_t body, const struct force_state *state,
		    double time, struct force_sum *sum);
	/* Adds its forces on many bodies: sums[i] for rows[i]; sums of rows that are not dynamic are
	 * unchanged. */
	void (*add_all)(const struct force *self, const struct force_bodies *bodies, double time,
			struct force_sum *sums);
	const void *context; /* borrowed */
};

enum { FORCES_MAX = 8 };

/* All forces of a world, in the order in which they are summed: gravity, drives in the order of their
 * commands, fields in the order of their rows, loads of fluids, then those of force_list_push.
 * Given forces of joints are one of these (joint_torque.h). */
struct force_list {
	const struct tables *tables;	   /* borrowed */
	const struct shape *const *shapes; /* by row of the shape table, borrowed */
	struct force items[FORCES_MAX];
	uint32_t count;
	/* s for which the caller holds the forces, or 0, the initial value (force_field.h). */
	double span;
	/* s, initially 0: a buoyancy is that of the pose after so long. Half of `span` for a caller that
	 * holds the force while the body falls along a parabola: the motion then keeps its energy, while
	 * the force of the pose at the beginning would feed it. */
	double ahead;
};

/* Gravity, drives and fields. The list must not be moved or copied, because its forces point to it. */
void force_list_init(struct force_list *self, const struct tables *tables,
		     const struct shape *const *shapes);
/* Appends a force; at most FORCES_MAX in all. */
void force_list_push(struct force_list *self, struct force force);
/* The sums on many bodies at `time`, s: sums[i] for rows[i], 0 for a body that is not dynamic. */
void force_list_all(const struct force_list *self, const struct force_bodies *bodies, double time,
		    struct force_sum *sums);
/* Gravity, drives and fields on `count` bodies, rows ascending, at the motions in the tables, held for
 * `span` seconds: sums[i] for bodies[i]. */
void force_all(const struct dynamics *self, const uint32_t *bodies, uint32_t count, double span,
	       struct force_sum *sums);
/* m/s², of the world: without z in a planar one. */
vec3 force_gravity(const struct tables *tables);
/* A body's state at a motion; NULL: that of the tables. */
struct force_state force_state_of(const struct tables *tables, uint32_t body,
				  const struct body_motion *motion);

#endif
