/* constraint.h: constraints between bodies (contacts, joints and later kinds) as scalar rows.
 *
 * A constraint is a kind, two bodies and data of its kind. Its rows are a pure function of the
 * data, of the motions given, and of the level:
 *
 *   position      gap and J = ∂gap/∂(shift, turn), exact at those motions, for Newton's method
 *   velocity      also the target speed (wanted) and the present speed (approach)
 *   acceleration  also bias = J' v and the direction of slip; where a contact slips, friction is data
 *
 * A row's J is the same at every level.
 *
 * Rows of each kind. Blocks are in the order given; a row is ROW_FREE and rigid unless stated
 * otherwise:
 *
 *   contact        a block a point: normal (POSITIVE, gap = separation), two tangents (PYRAMID or CONE),
 *                  then, where the material resists it, twist about the normal (PYRAMID, μ a length) and
 *                  rolling about the two tangents (CONE, μ a length); all are bounded by row 0 (`of`)
 *   revolute       block 0: three rows along the axes of the frame on a, at the anchors (gap = p_b − p_a);
 *                  two about the axes perpendicular to the hinge (gap: joint.h).
 *                  Block 1, lower limit: about the hinge, POSITIVE, gap = angle − lower. Block 2, upper
 *                  limit: the negative of it, gap = upper − angle. Block 3, motor: about the hinge, BOX
 *                  ± greatest torque, wanted = speed. The angle counts whole turns, which are data.
 *   prismatic      block 0: two along the axes perpendicular to the slide, which turn with a: J on a has
 *                  (p_b − p_a) × axis more; three about all axes. Limits and motor along the slide.
 *   fixed          three along, three about; with ROW_FREQUENCY a soft weld
 *   distance       one along the line of the anchors, gap = |p_b − p_a| − length: rod FREE, rope POSITIVE
 *                  with J and gap negated, spring FREE with ROW_SPRING (BOX when its force is limited)
 *   six-dof        each axis independently: no rows, FREE, limits, motor or spring, as for prismatic and
 *                  revolute
 *   wheel          along the wheel's width FREE; along the suspension ROW_FREQUENCY and limits; about the
 *                  axle a motor (BOX, wanted = speed); about the two others FREE or a steering spring
 *   mouse, weld to the world
 *                  body a ROW_NO_BODY
 *   gear           one row with parts on up to four bodies, ratio in J (gear.h)
 *   bar            of a framework, whose points are slots with mass and no inertia: one along the bar, gap =
 *                  |p_j − p_i| − length, at position level
 *   vertex, edge   of frameworks or cloth: normal to the edge (face), parts on the vertex (1) and on the
 *                  edge's ends (−α, α − 1), POSITIVE: three or four slots
 *   pair           of a particle with a body: as a contact, the particle being a slot that does not turn
 *   tree           in reduced coordinates: its inner joints are no rows; its limits, motors and contacts are,
 *                  on the links' slots, and the mass operator knows how the links move together
 */
#ifndef CAIRN_ENGINE_DYNAMICS_CONSTRAINT_H
#define CAIRN_ENGINE_DYNAMICS_CONSTRAINT_H

#include "server/engine/collision/contact_polygon.h"
#include "server/engine/dynamics/dynamics.h"
#include "server/engine/dynamics/row.h"

enum constraint_level { CONSTRAINT_POSITION, CONSTRAINT_VELOCITY, CONSTRAINT_ACCELERATION };

enum constraint_friction {
	CONSTRAINT_SMOOTH,  /* normal rows only */
	CONSTRAINT_PYRAMID, /* each tangent is bounded separately */
	CONSTRAINT_CONE,    /* both tangents are bounded together */
};

struct constraint_options {
	enum constraint_level level;
	enum constraint_friction friction;
	double slip_speed; /* m/s ≥ 0: above it, contacts have a slip direction (acceleration level) */
	/* By slot, borrowed; NULL: those in the data. Only of kinds with more than two bodies (gear.h). */
	const struct body_motion *motions;
};

struct constraint;

/* Upper bounds of what a constraint appends to a row_list. */
struct constraint_room {
	uint32_t rows, blocks, parts;
};

struct constraint_kind {
	const char *name;
	struct constraint_room (*room)(const struct constraint *self,
				       const struct constraint_options *options);
	/* Appends its rows, each block with `index`. a and b: motions of the bodies; NULL: those in
	 * the data. */
	void (*rows)(const struct constraint *self, uint32_t index, const struct body_motion *a,
		     const struct body_motion *b, const struct constraint_options *options,
		     struct row_list *out);
};

struct constraint {
	const struct constraint_kind *kind; /* borrowed */
	uint32_t body_a,
		body_b;	  /* slots; ROW_NO_BODY: the world, or a body that does not take part */
	uint32_t source;  /* row of the contact (joint, …) table */
	const void *data; /* borrowed: of the kind */
};

/* The sum over constraints 0 … count−1. */
struct constraint_room constraint_room(const struct constraint *constraints, uint32_t count,
				       const struct constraint_options *options);
/* Appends the rows of constraints 0 … count−1, each block with its constraint's index. `motions` by
 * slot; NULL: those in the constraints' data. The list needs the room that constraint_room returns. */
void constraint_rows(const struct constraint *constraints, uint32_t count,
		     const struct body_motion *motions, const struct constraint_options *options,
		     struct row_list *out);

/* ---- contacts ------------------------------------------------------------------------------ */

struct contact_surface {
	double static_friction[2],
		dynamic_friction[2];		 /* 1, along the first and second tangent, or as
							 * `axis` says; static ≥ dynamic ≥ 0 */
	double twist_friction, rolling_friction; /* m ≥ 0 */
	double restitution;			 /* 0 … 1 */
	vec3 velocity; /* m/s: of b's point against a's when they do not slip (conveyors), world axes */
	/* Friction axis, of any length, world axes, as found; it turns with body a or b. Zero: none.
	 * Otherwise the coefficients hold along the axis and across it, and those across it in all
	 * directions where the axis is along the normal (ch4-5 I3b). */
	vec3 axis;
	bool axis_of_b;
};

struct contact_found_point {
	vec3 arm_a,
		arm_b; /* m, from the mass centres to the point midway between the surfaces, world axes */
	double separation; /* m; negative: penetrating */
	uint32_t feature;
};

/* The contact geometry of a pair of pieces, from the narrow phase. */
struct contact_found {
	struct body_motion a, b; /* the motions it was found at, also of bodies without a slot */
	vec3 normal;		 /* unit, a → b, world axes, as found */
	enum contact_normal normal_of;
	vec3 normal_rate;    /* 1/s, of GIVEN */
	vec3 edge_a, edge_b; /* of EDGES: directions of any length, world axes, as found */
	vec3 ball_a, ball_b; /* of CENTRES: m, from the mass centres, world axes, as found */
	/* m ≥ 0. A round surface (ball, capsule): its point is this far along the normal from a point that
	 * is fixed in the body, and does not turn with the body. 0: the surface's point is fixed in the
	 * body. Not read for CENTRES. */
	double radius_a, radius_b;
	uint32_t child_a, child_b;
	struct contact_surface surface;
	const struct contact_found_point
		*points; /* borrowed; four of a manifold, all of a polygon */
	uint32_t point_count;
};

/* The kind of constraint of a contact; its data is a struct contact_found. Tangents are row_frame's.
 * Each block of rows holds the restitution, which applies to the approach speed of the normal row.
 * Without a friction axis the axes of anisotropic friction are those of row_frame: they do not turn with a
 * body. */
extern const struct constraint_kind constraint_contact;

#endif
