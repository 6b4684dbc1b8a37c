/* plan.h: the plan of a batch: the effect of each command, computed before any command is
 * applied.
 *
 * The check walks the commands in order and records their effects (bodies made and removed,
 * statuses, owners, uses of shapes, the method) in the plan instead of the tables, so a refused
 * batch changes nothing. Commands are copied with their ids resolved, so applying them only
 * writes and cannot fail.
 */
#ifndef CAIRN_ENGINE_WORLD_PLAN_H
#define CAIRN_ENGINE_WORLD_PLAN_H

#include "server/base/arena.h"
#include "server/engine/world/body_mass.h"
#include "server/engine/world/world.h"

/* A body after the commands checked so far. */
struct planned_body {
	body_id id;
	uint32_t row;	/* ROW_NONE: an earlier command of the batch makes it */
	uint32_t spawn; /* index of that command */
	uint32_t owner;
	body_id ends_with;
	uint8_t status, flags, locks;
	bool quarantined, removed, static_only, mover;
	bool carried, carries; /* by points; a body, as a point */
	bool joined;	       /* it has joints, or had as the batch began */
	struct body_mass mass;
	double density;	  /* kg/m3 of its pieces without their own; 0: none has had one */
	uint32_t weights; /* the first of plan->weights that is its + 1, 0 none */
	uint32_t visuals;
	/* Pose and velocity after the commands checked so far, without the effect of impulses. */
	vec3 position, velocity, angular_velocity;
	quat rotation;
};

/* A joint after the commands checked so far. */
struct planned_joint {
	joint_id id;
	uint32_t row; /* ROW_NONE: an earlier command of the batch makes it */
	uint32_t owner;
	uint8_t type;
	uint8_t motor[JOINT_AXES];
	body_id a, b; /* 0 the world */
	bool removed;
};

/* A body that goes with another, in the tables as the batch begins. */
struct planned_follower {
	body_id with, id;
};

/* The density that a piece of a body has after the commands checked so far; 0: not its own. */
struct planned_weight {
	uint32_t piece, next; /* next: of the body's, + 1; 0 last */
	double density;
};

struct planned_field {
	field_id id;
	bool removed;
};

/* A particle system after the commands checked so far. */
struct planned_system {
	system_id id;
	uint32_t owner, capacity, alive;
	uint64_t born;	  /* the last serial number */
	uint64_t refused; /* births inside a body */
	bool recycle;
	uint32_t meets; /* other systems, at most */
	bool linked;	/* it has links, pins or holds */
	bool interacts; /* PARTICLES_INTERACT gave it forces or collisions */
	bool fluid;	/* PARTICLES_FLUID made it one */
	bool removed;
	uint32_t sinks; /* bit k: it has the sink with the number k + 1 */
};

struct planned_shape {
	shape_id id;
	uint32_t row; /* ROW_NONE: an earlier command makes it usable */
	const struct shape *shape;
	int64_t uses;
	bool dropped;
};

struct batch_plan {
	/* The batch. */
	const struct command *source; /* borrowed, values checked */
	uint32_t count, session;
	bool restricted;

	/* By command: the command with ids resolved, the id it yields (0 none), the shape that a
	 * SHAPE_USE adds (NULL: it was there already). */
	struct command *commands;
	uint32_t *values;
	const struct shape **added;
	/* Attachments of all SPAWNs, resolved, and their shapes. */
	struct attachment *attachments;
	const struct shape **attached;
	uint32_t attachment_count;

	struct planned_body *bodies;
	struct planned_shape *shapes;
	struct planned_joint *joints;
	struct planned_field *fields;
	struct planned_weight *weights; /* of all bodies */
	struct planned_system *systems;
	/* Followers by (with, id), if the batch removes bodies, and room to sort them. The
	 * followers that the REMOVEs take along, in the order of commands; gone_end: by command. */
	struct planned_follower *followers, *follower_scratch;
	body_id *gone;
	uint32_t *gone_end;
	uint32_t follower_count, gone_count;
	uint32_t born_followers; /* made by the batch */
	/* Targets of all JOINT_TARGETS, resolved. */
	struct joint_target *targets;
	uint32_t body_count, shape_count, joint_count, field_count, target_count, weight_count,
		system_count;

	/* The world after the commands checked so far. */
	uint32_t next_body, next_shape, next_joint, next_field, next_system;
	uint32_t joints_after; /* upper bound: joints removed with a body are still counted */
	uint32_t fields_after, systems_after;
	uint32_t capacity_after;			       /* sum over particle systems */
	uint32_t bodies_after, placements_after, shapes_after; /* without the walls' */
	uint64_t shape_bytes_after;
	uint32_t new_bodies, new_placements, new_shapes, new_drives; /* upper bounds of new rows */
	uint32_t new_joints, new_points, new_fields, new_pieces, new_movers, new_systems,
		new_particles, new_visuals, new_labels, new_links, new_pins, new_holds,
		new_carriers, new_fluids, new_meetings, new_sinks;
	uint64_t links_after; /* of particles */
	const struct method *method;
};

/* Upper bounds of the resources that the batches of a call need; memory is reserved before any
 * check. */
struct plan_size {
	uint32_t commands, attachments, targets, weights; /* of the largest batch */
	uint32_t shapes_known;				  /* usable before; set by the caller */
	uint32_t followers; /* that may be removed with others; set by the caller */
	uint64_t bodies, placements, shapes, drives, removes, joints, points, fields, movers,
		pieces, systems, particles, visuals, labels, links, pins, holds, carriers, fluids,
		meetings, sinks; /* of all batches */
	bool walls;
};
void plan_size_add(struct plan_size *size, const struct batch *batch);

/* Allocates from the arena the memory that the largest batch needs; batches use the plan in turn.
 * NO_MEMORY. */
MUST_CHECK enum status plan_init(struct batch_plan *plan, struct arena *arena,
				 const struct plan_size *size);

/* One planned command being applied. */
struct apply_context {
	struct world *world;
	const struct batch_plan *plan;
	uint32_t index;
};

/* Checks a batch against the world and fills the plan; changes no table; rotations in the batch
 * are normalised. commands_check.c */
MUST_CHECK enum status plan_check(struct batch_plan *plan, struct world *world,
				  const struct batch *batch, struct reason *why);
/* Refuses a batch that asks for what the world's method, or one that the batch chooses, would
 * ignore (method_asks_world, method_asks_command). commands_check.c */
MUST_CHECK enum status batch_asks(const struct world *world, const struct batch *batch,
				  struct reason *why);
/* Applies a plan that plan_check accepted. Rows are reserved; cannot fail. commands_apply.c */
void plan_apply(const struct batch_plan *plan, struct world *world);

#endif
