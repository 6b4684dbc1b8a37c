/* force.h: forces at any state and time, as a list: gravity and drives; fields, springs, drags as
 * they come.
 *
 * A force is a pure function of its arguments, so that multi-stage integrators may ask for it at
 * stage states and methods that go back at times within a tick. Damping is no force here: it is the
 * method's, which knows its sub-steps.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_FORCE_H
#define CAIRN_ENGINE_DYNAMICS_FORCE_H

#include "server/base/arena.h"
#include "server/engine/dynamics/dynamics.h"

/* Where one body is at a stage. */
struct force_state {
	vec3 centre; /* mass centre, world, m */
	quat rotation;
	vec3 velocity, angular_velocity;
	double mass;
};

/* What acts on one body, world axes. What pulls every mass alike is summed as an acceleration and
 * never as a force to be divided again: a body's mass is in no bit of its fall. */
struct force_sum {
	vec3 acceleration; /* m/s² */
	vec3 force;	   /* N, beside it */
	vec3 torque;	   /* N·m, about the mass centre */
};

/* Many bodies at once. */
struct force_bodies {
	const uint32_t *rows;		   /* of the body table, ascending */
	const struct body_motion *motions; /* of rows[i]; NULL: as the tables have them */
	uint32_t count;
};

struct force {
	/* Adds what acts on body row `body` at `time` seconds from the tick's start. */
	void (*add)(const struct force *self, uint32_t body, const struct force_state *state,
		    double time, struct force_sum *sum);
	/* The same for many, with the same bits: sums[i] for rows[i]. Rows that are not dynamic
	 * are left alone. NULL: one by one. */
	void (*add_all)(const struct force *self, const struct force_bodies *bodies, double time,
			struct force_sum *sums);
	/* It changes much within a tick: methods with sub-steps ask for it in each of them. */
	bool stiff;
	const void *context; /* borrowed */
};

enum { FORCES_MAX = 8 };

/* All forces of a world, in the order in which they are summed: gravity, drives in the order they
 * were commanded, then what force_list_push appends. */
struct force_list {
	const struct tables *tables; /* borrowed */
	struct force items[FORCES_MAX];
	uint32_t count;
	/* Drives by body, for asking about single ones: rows of the drive table by (body, row). */
	const uint64_t *drive_body;
	const uint32_t *drive_row;
	uint32_t drive_count;
};

/* Gravity and drives. The list must stay where it is. */
void force_list_init(struct force_list *self, const struct tables *tables);
/* Appends; there is room for FORCES_MAX. */
void force_list_push(struct force_list *self, struct force force);
/* Makes drives findable by body, so that force_list_at may be asked; on the arena. O(drives).
 * NO_MEMORY. */
MUST_CHECK enum status force_list_index(struct force_list *self, struct arena *arena);

enum force_part { FORCES_ALL, FORCES_STEADY, FORCES_STIFF };

/* The sums on many bodies at `time`: sums[i] for rows[i], 0 for one that is not dynamic. */
void force_list_all(const struct force_list *self, const struct force_bodies *bodies, double time,
		    enum force_part part, struct force_sum *sums);
/* The sum on one body, with the same bits; after force_list_index. */
void force_list_at(const struct force_list *self, uint32_t body, const struct force_state *state,
		   double time, enum force_part part, struct force_sum *sum);
/* Gravity and drives on `count` bodies as the tables have them: sums[i] for bodies[i], whose cache
 * says slot i. */
void force_all(const struct dynamics *self, const uint32_t *bodies, uint32_t count,
	       struct force_sum *sums);
/* A body's state at a motion; NULL: as the tables have it. */
struct force_state force_state_of(const struct tables *tables, uint32_t body,
				  const struct body_motion *motion);

#endif
