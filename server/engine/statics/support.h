/* support.h: which bodies of a world support which: the problem of equilibrium.h from the tables.
 *
 * Two pieces touch if they are no farther apart than `touch`. Every corner of their contact
 * polygon that is within `touch` is a point; corners lie exactly at the borders of the faces,
 * without the slop that the narrow phase allows. Bodies that are dynamic and not in quarantine are
 * loaded by all forces that act on them, held at rest. Joints give rows: locked axes, limits that
 * are reached, motors and friction, which hold with at most their largest force; springs exert the
 * force of their present length. A gear is a row on the bodies of both its joints. Velocities,
 * sleep, rolling and spinning friction are not read; static friction along the pyramid is the smaller
 * of both axes of a direction-dependent one. A body that points carry has no loads of its own
 * (dynamics/carrier.h); where one of its points takes no part, it moves by itself, as in a step.
 */
#ifndef CAIRN_ENGINE_STATICS_SUPPORT_H
#define CAIRN_ENGINE_STATICS_SUPPORT_H

#include "server/engine/dynamics/dynamics.h"
#include "server/engine/statics/equilibrium.h"

struct support_options {
	double touch;	/* m; 0: SUPPORT_TOUCH of the smaller piece's least half-width */
	uint32_t sides; /* of a pyramid in space */
};
#define SUPPORT_TOUCH 0.01 /* 1 */
/* 1: a larger `touch` counts as this, because bodies farther apart do not support each other. */
#define SUPPORT_TOUCH_MAX 0.25
/* 1, of the smaller piece's least half-width: deeper overlaps are refused, because points inside a
 * body are no contacts. Resting contacts of soft-step overlap by a slop. */
#define SUPPORT_OVERLAP 0.2

struct support_place {
	uint32_t a, b;		   /* rows of the body table */
	uint32_t child_a, child_b; /* ordinals of the pieces' placements on their bodies */
	vec3 point;		   /* m, world, midway between the surfaces */
	double separation;	   /* m */
};

/* A joint of which a body moves. */
struct support_joint {
	uint32_t row; /* of the joint table */
	vec3 anchor;  /* m, world: on b */
	vec3 force,
		torque; /* N, N m, on b about the anchor: of springs and force motors, which are loads */
};
/* What a row exerts on b of a joint about the anchor, times its λ; that of a gear on both joints. */
struct support_joint_row {
	uint32_t joint; /* index of a support_joint */
	uint32_t row;	/* of the problem */
	vec3 force, torque;
};

struct support_graph {
	struct statics_problem problem; /* its arrays are those below */
	struct statics_body *bodies;	/* by slot */
	struct statics_carried *carried;
	uint32_t *rows;		 /* of the body table, by slot, ascending */
	uint32_t *slots;	 /* by row of the body table; ROW_NO_BODY */
	struct spatial *loads;	 /* by slot: N, N m about the mass centre */
	struct spatial *weights; /* by slot: the part of gravity in them */
	struct {
		struct statics_point *items; /* by bodies, in the order of pairs of placements */
		uint32_t count, capacity;
	} points;
	struct {
		struct support_place *items; /* beside points */
		uint32_t count, capacity;
	} places;
	struct {
		struct statics_row *items;
		uint32_t count, capacity;
	} joints;
	struct {
		struct support_joint_row *items; /* by rows of the problem */
		uint32_t count, capacity;
	} joint_rows;
	struct {
		struct support_joint *items; /* by rows of the joint table */
		uint32_t count, capacity;
	} loaded;
};

/* LIMIT: bodies, points; UNSUPPORTED: a mesh, a field, a solid of parts, or a motor that turns;
 * DEGENERATE: bodies overlap; NO_MEMORY. `why` names bodies. Release it in any case. */
MUST_CHECK enum status support_make(struct support_graph *self, const struct dynamics *dynamics,
				    const struct support_options *options, struct reason *why);
void support_release(struct support_graph *self);

#endif
