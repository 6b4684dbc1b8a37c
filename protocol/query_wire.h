/* query_wire.h: queries about a state and their answers.
 *
 *   QUERY.query    [kind, …]: queries.def has the kinds and their fields
 *   ANSWER.answer
 *     RAY       [[body, placement, child, fraction, point, normal], …], nearest first
 *     OVERLAP   [id, …], ascending
 *     SENSED    [id, …], ascending
 *     CARRIERS  [[body, [point, …], off], …]
 *     CONTACTS  [[a, b, child_a, child_b, point, normal, separation, impulse, friction], …]
 *     FORCES    [[a, b, child_a, child_b, point, normal, separation, normal force, friction force, known], …]
 *     TOTALS    [kinetic, potential, linear, angular]
 *     BODY      [id, status, flags, owner, tag, position, rotation, velocity, spin, mass, centre,
 *                [[name, position, rotation], …]]
 *     GEOMETRY  [part, of, data]: canonical bytes of a shape that the world has, WIRE_SHAPE_PART to a part
 *
 *     CAST      [[body, placement, child, fraction, point, normal, depth, own child], …], nearest first
 *     CLOSEST   [] if no body is in reach, else [distance, normal, side, side]; a side is
 *                [body, placement, child, point, [vertex, …]]
 *     MASS      [mass, centre, [xx, yy, zz, xy, xz, yz], moments, axes, radius, bodies]
 *     MOVE      [position, left, flags, iterations, climbed, ground or nil, [contact, …]], ground and
 *                contacts as in CAST
 *     JOINT     [id, type, flags, a, b, owner, tag, point a, frame a, point b, frame b, coordinates, force,
 *                torque, anchor a, anchor b, [break force, break torque], [axis × 6]], an axis as JOINT_AXIS
 *     JOINTS    [[id, type, flags, a, b, coordinates, force, torque, anchor a, anchor b, owner, tag], …]
 *     LINKED    [id, …], ascending
 *     WHEN      [] or [epoch, tick, body, value, [[session, batch, op], …], [[body, impulse], …]]
 *     PAST      [[[epoch, first, last, cause], …], [spacing, keyframes, bytes],
 *                [[epoch, tick, kind, text], …]]
 *     RECORDINGS  [[name, title, since, bytes, [epoch, tick], [epoch, tick], running], …]
 *     DIFFERENCE  [] or [text, table, row, column]
 *     FIELDS    [acceleration, force, [[id, kind, region, falloff, flags, power, mask, tag, position,
 *                rotation, half, strength, velocity, linear, quadratic, angular, core], …]]
 *     SYSTEMS   [[id, name, owner, tag, emitter, alive, capacity, born, lost, refused, cut, position,
 *                rotation, half, size, mass, life, speed, spread, drag, gravity scale, category, mask,
 *                colours], …]
 *     PARTICLES [0, count, serials, positions, velocities, radii, masses, ages]
 *                or [1, count, last, corner, step, positions, colours]
 *     REGIONS   [[placement, other's placement, depth, volume, point, other's point, normal, contours], …],
 *                deepest first
 *     STABILITY [verdict, law, [residual, kkt, gap, witness], rounds, fallbacks, [bodies, points, rows],
 *                [lower, upper, stands], [[body, acceleration, angular], …], [[a, b, child a, child b, point,
 *                normal, separation, normal force, friction force, parting, breaks, known], …],
 *                [[joint, point, force, torque, known], …], lowest, [known, open]]
 *     ROBOT     [[[body, parent, joint, kind, [axis, …]], …], q, rates, accelerations, bias,
 *                [closure rows, rank, residual], regular]
 *     INERTIA, JACOBIAN  [axes, bin]
 *     PIECES    [command, …], each a SET_PIECE (command_wire.h)
 *
 * Vectors are [x, y, z], rotations [w, x, y, z], `shape` is a bin of canonical bytes (those of
 * SHAPE_UPLOAD, at most 4096 and no solid) or, in 32 bytes, the name of a shape that the world has.
 * Category and mask are 32 bits each, all set unless given. A direction is normalised, so it need
 * not be a unit vector. A limit is the largest number of items of the answer; items beyond it are
 * left out. Lengths are metres, impulses N·s over the last tick, energies J, momenta those about
 * the world's origin.
 *
 * CAST and MOVE move a shape from `position` along `way` (metres) without turning it. CLOSEST and
 * REGIONS are between two bodies; for CLOSEST other = 0 is the nearest body. A negative distance is
 * a depth. A vertex list names the feature: one vertex, two for an edge, three for a face of the
 * child. MASS of body 0 is that of all dynamic bodies; `axes` rotates principal axes to world axes.
 * MOVE slides along the surfaces it hits. A surface is ground if its normal is within acos(slope)
 * of up (against gravity, else y); `step` is the height of ledges that it climbs, `skin` the
 * distance from surfaces; flags are 1 grounded, 2 stuck (it began inside a shape). CAST, CLOSEST,
 * MOVE and REGIONS may be answered by the helper thread: later, and for the tick that the answer
 * names.
 */
#ifndef CAIRN_PROTOCOL_QUERY_WIRE_H
#define CAIRN_PROTOCOL_QUERY_WIRE_H

#include "protocol/columns.h"
#include "protocol/cursor.h"
#include "protocol/joint_rows.h"
#include "protocol/packer.h"
#include "server/engine/types.h"

enum wire_query_kind {
#define QUERY(number, NAME, name, where, doc, answer, about) WIRE_QUERY_##NAME = (number),
#include "protocol/queries.def"
};
enum { WIRE_QUERY_LIMIT_MAX = 4096, WIRE_QUERY_SHAPE_MAX = 4096, WIRE_MOVE_ITERATIONS_MAX = 16 };
enum { WIRE_PARTICLES_MAX = 2048 }; /* of one page: each column is a bin within WIRE_STRING_DOWN */
/* m. */
#define WIRE_REACH_MAX 1e6
#define WIRE_STEP_MAX 100.0
#define WIRE_SKIN_MIN 1e-5

struct wire_query {
	enum wire_query_kind kind;
#define MEMBER_VALUE(ctype, name) ctype name;
#define MEMBER_VECTOR(ctype, name) ctype name[3];
#define MEMBER_QUATERNION(ctype, name) ctype name[4];
#define MEMBER_STRUCT(ctype, name) ctype name;
#define MEMBER(ctype, name, form, fallback, doc) MEMBER_##form(ctype, name)
#include "protocol/queries.def"
#undef MEMBER_VALUE
#undef MEMBER_VECTOR
#undef MEMBER_QUATERNION
#undef MEMBER_STRUCT
};

/* A kind, from the list. */
enum wire_query_type {
	WIRE_ASK_U32,
	WIRE_ASK_REAL,
	WIRE_ASK_LENGTH,
	WIRE_ASK_PLACE,
	WIRE_ASK_DIRECTION,
	WIRE_ASK_WAY,
	WIRE_ASK_ROTATION,
	WIRE_ASK_SHAPE,
	WIRE_ASK_NAME,
	WIRE_ASK_BODIES,
	WIRE_ASK_NUMBERS,
};
struct query_field {
	const char *name;
	enum wire_query_type type;
	uint32_t offset; /* in struct wire_query */
	bool needed;
	double min, max, fallback;
};
struct query_info {
	uint32_t number;
	const char *name, *doc;
	const char *answer, *about; /* the layout of ANSWER, and remarks about it */
	bool placed;		    /* computed over a list of placed shapes */
	bool past;     /* computed from the world's file; if neither, read from the tables */
	bool reserved; /* a number without a query yet */
	const struct query_field *fields;
	uint32_t field_count;
};
/* In order of numbers. */
const struct query_info *query_list(uint32_t *count);
/* NULL when no query has that number; reserved ones are found. */
const struct query_info *query_info(uint32_t number);

/* A query of a kind with everything at its default. */
void query_init(struct wire_query *self, enum wire_query_kind kind);
/* Checks kind and numbers of a query before it is sent, as the server does. UNSUPPORTED, RANGE, NOT_FINITE;
 * `why` (may be NULL) names the field. */
MUST_CHECK enum status query_check(const struct wire_query *query, struct reason *why);
/* Packs the items of QUERY.query; their number is returned. */
uint32_t query_pack(struct wire_packer *out, const struct wire_query *query);
/* Decodes the items of QUERY.query. Errors: STATUS_TYPE, STATUS_RANGE and STATUS_NOT_FINITE for a
 * field's value, STATUS_UNSUPPORTED for an unknown or reserved kind. `why` (may be NULL) names the
 * field. */
MUST_CHECK enum status query_take(const struct wire_list *list, struct wire_query *query,
				  struct reason *why);

struct wire_ray_hit {
	uint32_t body, placement, child;
	double fraction; /* of the length */
	double point[3], normal[3];
};
struct wire_contact {
	uint32_t a, b, child_a, child_b;
	double point[3], normal[3];
	double separation, impulse;
	double friction[3];
};
/* A contact point with its forces: N, on b, means over the last tick. */
struct wire_force {
	struct wire_contact contact; /* impulse and friction are forces here */
	uint8_t known;		     /* enum force_known (engine/types.h) */
};
struct wire_totals {
	double kinetic, potential;
	double linear[3], angular[3];
};
/* A mover's state after the last tick, and what it can. */
struct wire_mover {
	uint32_t flags, ground, squeezes;
	double normal[3], velocity[3], wish[3];
	double step_height, slope, push_force, snap;
};
struct wire_body_facts {
	struct wire_body body; /* with its shapes */
	double mass;
	double centre[3];
	bool walks;
	struct wire_mover mover; /* if it walks */
};

struct wire_cast_hit {
	uint32_t body, placement, child, own_child;
	double fraction, depth;
	double point[3], normal[3];
};
enum { WIRE_FEATURE_MAX = 3, WIRE_MOVE_CONTACTS_MAX = 16 };
struct wire_closest_side {
	uint32_t body, placement, child;
	double point[3];
	uint32_t feature[WIRE_FEATURE_MAX], feature_count;
};
struct wire_closest {
	bool found;
	double distance;
	double normal[3];
	struct wire_closest_side a, b;
};
struct wire_mass {
	double mass, centre[3], inertia[6], moments[3], axes[4], radius;
	uint32_t bodies;
};
enum wire_move_flags { WIRE_MOVE_GROUNDED = 1, WIRE_MOVE_STUCK = 2 };
struct wire_move {
	double position[3], left[3];
	uint32_t flags, iterations;
	double climbed;
	struct wire_cast_hit ground; /* with WIRE_MOVE_GROUNDED */
	uint32_t contact_count;
	struct wire_cast_hit contacts[WIRE_MOVE_CONTACTS_MAX];
};
struct wire_region {
	uint32_t placement, other_placement, contours;
	double depth, volume;
	double point[3], other_point[3], normal[3];
};

#define WIRE_STABILITY_ENDLESS 1e300 /* of a margin: no limit */
struct wire_stability {
	uint32_t items;	       /* of the answer; only taken */
	uint32_t verdict, law; /* enums stability_verdict and stability_law (types.h) */
	uint32_t rounds, fallbacks;
	double quality[4]; /* residual, KKT, duality gap, witness */
	uint32_t bodies, points, rows;
	double margin[3];		      /* lower, upper, stands */
	uint32_t motions, contacts, joints;   /* of the lists */
	uint32_t known, open;		      /* as in struct stability_view */
	bool lowered;			      /* the state of lowest energy was asked for */
	double drop[2];			      /* J, residual */
	uint32_t limited, programmes, plates; /* plates: of the list */
};
struct wire_stability_plate {
	uint32_t body;
	double rise, slope, across; /* m; 1: along x, along z */
};
struct wire_stability_motion {
	uint32_t body;
	double acceleration[3], angular[3];
};
struct wire_stability_joint {
	uint32_t joint;
	double point[3], force[3], torque[3];
	uint32_t known; /* enum force_known */
};
struct wire_stability_contact {
	uint32_t a, b, child_a, child_b;
	double point[3], normal[3], separation, force, friction[3], parting[3];
	bool breaks;
	uint32_t known; /* enum force_known */
};

enum wire_method_abilities {
	WIRE_METHOD_FRICTION = 1,
	WIRE_METHOD_RESTITUTION = 2,
	WIRE_METHOD_SLEEP = 4,
	WIRE_METHOD_PLANAR = 8,
	WIRE_METHOD_SPATIAL = 16,
	WIRE_METHOD_JOINTS = 32,
};
/* Texts and lists are borrowed from the bytes of the answer. */
struct wire_method {
	uint32_t number, motion, shapes, abilities;
	uint32_t
		code; /* 0 if the world can switch to the method now, else the status of the refusal */
	struct wire_slice name, why, summary;
	struct wire_list names; /* its other names: answer_take_method_name */
};
struct wire_method_name {
	struct wire_slice name, parameter; /* parameter empty: the name sets none */
	double value;
};
struct wire_parameter {
	uint32_t number;
	bool whole;
	double value, initial, min, max;
	struct wire_slice name, unit, doc;
	struct wire_list methods, old; /* texts */
};

/* One axis of a joint, with the fields of JOINT_AXIS. */
struct wire_joint_axis {
	uint8_t mode, spring, motor, wave;
	double lower, upper, restitution, friction;
	double stiffness, damping, rest, spring_limit;
	double target, motor_limit, amplitude, hertz, phase, motor_stiffness, motor_damping;
	uint32_t leader; /* 0: it follows no axis */
	uint8_t leader_axis;
	double ratio, offset, gear_force;
	double armature, rotor_force;
};
enum { WIRE_JOINT_AXES = 6 };
struct wire_joint_facts {
	struct wire_joint joint;
	double anchor_a[3], anchor_b[3];	      /* m, world */
	struct wire_joint_axis axes[WIRE_JOINT_AXES]; /* of JOINT only */
};

/* A force field, with the numbers of FIELD_CREATE. */
struct wire_force_field {
	uint32_t id, mask;
	uint8_t kind, region, falloff, flags, power;
	int64_t tag;
	double position[3], rotation[4], half[3], strength[3], velocity[3];
	double linear, quadratic, angular, core, density;
};
/* The beginning of the answer to FIELDS. */
struct wire_field_force {
	double acceleration[3], force[3];
	uint32_t count; /* of the items that follow */
};

enum { WIRE_COLOURS_MAX = 8, WIRE_MEETINGS_MAX = 8, WIRE_SINKS_MAX = 16 };
/* A sink of a system; fields.def has the meanings. */
struct wire_sink {
	uint32_t number, body;
	uint8_t region;
	double position[3], rotation[4], size[3], radius, mass;
	uint64_t taken;
};
/* A particle system, with numbers of PARTICLES_CREATE; means with their deviations. */
struct wire_system {
	uint32_t id, owner, alive, capacity, category, mask, colours;
	struct wire_slice name; /* borrowed */
	int64_t tag;
	uint8_t emitter;
	uint64_t born, lost, refused, cut;
	double position[3], rotation[4], half[3];
	double size[2], mass[2], life[2], speed[2];
	double spread, drag, gravity_scale;
	double colour[WIRE_COLOURS_MAX][2]; /* age s, 0xRRGGBB */
	/* Of PARTICLES_INTERACT. */
	uint8_t forces, collisions;
	uint32_t substeps; /* 0: it was not given */
	double cutoff, core, charge, gravitation;
	double well_depth, well_distance, repulsion, repulsion_damping;
	uint64_t crowded;
	/* Of its links. */
	uint32_t links, pins, link_substeps;
	uint64_t torn;
	double stretch, volume_error;
	/* Of PARTICLES_SPLIT: mean, largest deviation. */
	double split_number[2], split_age[2], split_velocity[2], split_burst[2];
	double split_size[2], split_life[2], split_spread;
	uint32_t split_delay, split_depth;
	uint8_t split_spend;
	uint64_t splits;
	/* Of PARTICLES_TRAIL. */
	uint32_t trail, trail_delay, trail_depth; /* trail: a system, 0 none */
	double trail_velocity;
	uint8_t contacts; /* of PARTICLES_CONTACTS */
	uint32_t holds;
	double self_thickness, self_friction,
		self_overlap; /* of PARTICLES_SELF, and the largest overlap */
	double stretch_limit; /* of PARTICLES_LIMIT, and the passes that it took so far */
	uint64_t limit_passes;
	/* Of PARTICLES_EMITTER: mount: a body, 0 none. */
	uint32_t mount;
	double mount_velocity;
	uint8_t recoil, room;
	/* Of PARTICLES_MEET: another system, thickness m, friction, largest overlap. */
	double meet[WIRE_MEETINGS_MAX][4];
	uint32_t meets;
	uint64_t taken; /* of all sinks */
	uint32_t sink_count;
	struct wire_sink sinks[WIRE_SINKS_MAX];
};
/* A particle system that is a fluid; fields.def has the meanings. */
struct wire_fluid {
	uint32_t system, particles;
	uint8_t solver;
	double kernel_radius, rest_density, viscosity, wall_viscosity, surface_tension;
	double tolerance, compression, speed, stiffness, step_ratio;
	uint32_t substeps_max, substeps, iterations;
	double density_error, density_error_max, residual, divergence_error, speed_max;
	uint64_t capped, unconverged, inside, crowded, lost, bad, blocked;
	uint32_t unsampled, coarse;
};
enum wire_particle_form { WIRE_PARTICLES_EXACT = 0, WIRE_PARTICLES_VIEW = 1 };
/* A page of particles. Columns are little-endian and borrowed. */
struct wire_particles {
	uint32_t form, count;
	/* Exact. */
	struct wire_slice serials, positions, velocities, radii, masses, ages, generations;
	/* View: positions in steps of `step` m from the corner. */
	uint64_t last;
	double corner[3], step;
	struct wire_slice places, colours;
};

struct wire_geometry {
	uint32_t part, of;
	struct wire_slice data; /* borrowed */
};

/* Answers: RAY and CONTACTS are arrays of these items, OVERLAP an array of integers; the caller
 * packs the array header. */
void answer_pack_hit(struct wire_packer *out, const struct wire_ray_hit *hit);
void answer_pack_contact(struct wire_packer *out, const struct wire_contact *contact);
void answer_pack_force(struct wire_packer *out, const struct wire_force *force);
void answer_pack_totals(struct wire_packer *out, const struct wire_totals *totals);
void answer_pack_body(struct wire_packer *out, const struct wire_body_facts *facts);
void answer_pack_geometry(struct wire_packer *out, const struct wire_geometry *geometry);
void answer_pack_cast_hit(struct wire_packer *out, const struct wire_cast_hit *hit);
void answer_pack_closest(struct wire_packer *out, const struct wire_closest *closest);
void answer_pack_mass(struct wire_packer *out, const struct wire_mass *mass);
void answer_pack_move(struct wire_packer *out, const struct wire_move *move);
void answer_pack_joint(struct wire_packer *out, const struct wire_joint_facts *facts);
void answer_pack_joints_item(struct wire_packer *out, const struct wire_joint_facts *facts);
MUST_CHECK enum status answer_take_joint(struct wire_cursor *in, struct wire_joint_facts *facts);
/* Members that the list does not have are 0. */
MUST_CHECK enum status answer_take_joints_item(struct wire_cursor *in,
					       struct wire_joint_facts *facts);
/* The answer to FIELDS is this, then `count` items. */
void answer_pack_fields(struct wire_packer *out, const struct wire_field_force *head);
void answer_pack_field(struct wire_packer *out, const struct wire_force_field *field);
MUST_CHECK enum status answer_take_fields(struct wire_cursor *in, struct wire_field_force *head);
MUST_CHECK enum status answer_take_field(struct wire_cursor *in, struct wire_force_field *field);
/* The answer to SYSTEMS is an array of these items. */
void answer_pack_system(struct wire_packer *out, const struct wire_system *system);
MUST_CHECK enum status answer_take_fluid(struct wire_cursor *in, struct wire_fluid *fluid);
void answer_pack_fluid(struct wire_packer *out, const struct wire_fluid *fluid);
MUST_CHECK enum status answer_take_system(struct wire_cursor *in, struct wire_system *system);
/* The whole answer to PARTICLES. TYPE: a column has another length than `count` asks for. */
void answer_pack_particles(struct wire_packer *out, const struct wire_particles *page);
MUST_CHECK enum status answer_take_particles(struct wire_cursor *in, struct wire_particles *page);
/* The answer to ROBOT: links are packed after the head of as many, then the rest. Columns are f64. */
struct wire_robot_link {
	uint32_t body, parent, joint, kind, axis_count;
	uint32_t axis[WIRE_JOINT_AXES];
};
/* One robot of the answer to DYNAMICS. */
struct wire_robot_dynamics {
	uint32_t axes, closure_rows, closure_rank, regular;
	double residual;
};
struct wire_robot {
	struct wire_slice q, rates, accelerations, bias, forces; /* borrowed */
	uint32_t closure_rows, closure_rank, regular;
	double residual;
};
void answer_pack_robot_links(struct wire_packer *out, uint32_t count);
void answer_pack_robot_link(struct wire_packer *out, const struct wire_robot_link *link);
void answer_pack_robot(struct wire_packer *out, const struct wire_robot *robot);
MUST_CHECK enum status answer_take_robot_links(struct wire_cursor *in, uint32_t *count);
MUST_CHECK enum status answer_take_robot_link(struct wire_cursor *in, struct wire_robot_link *link);
MUST_CHECK enum status answer_take_robot(struct wire_cursor *in, struct wire_robot *robot);
/* The answer to DYNAMICS: the count of robots, each of them, then the values. */
void answer_pack_dynamics(struct wire_packer *out, uint32_t count);
void answer_pack_dynamics_robot(struct wire_packer *out, const struct wire_robot_dynamics *robot);
void answer_pack_column(struct wire_packer *out, struct wire_slice column);
MUST_CHECK enum status answer_take_dynamics(struct wire_cursor *in, uint32_t *count);
MUST_CHECK enum status answer_take_dynamics_robot(struct wire_cursor *in,
						  struct wire_robot_dynamics *robot);
MUST_CHECK enum status answer_take_column(struct wire_cursor *in, struct wire_slice *column);
/* The answers to INERTIA and JACOBIAN. */
void answer_pack_matrix(struct wire_packer *out, uint32_t axes, struct wire_slice entries);
MUST_CHECK enum status answer_take_matrix(struct wire_cursor *in, uint32_t *axes,
					  struct wire_slice *entries);
/* Number `index` of a column, and id `index` of one. */
double wire_column_real(struct wire_slice column, uint32_t index);
uint32_t wire_column_id(struct wire_slice column, uint32_t index);

/* The answer to STABILITY: the head, then the motions, the count of contacts, the contacts, the
 * count of joints, the joints, the head of the lowest state, its plates, and what is known. Older servers
 * sent no joints, no lowest state, or nothing known: their counts are 0, and known is
 * FORCE_NOT_DETERMINED. */
void answer_pack_stability(struct wire_packer *out, const struct wire_stability *head);
void answer_pack_stability_motion(struct wire_packer *out,
				  const struct wire_stability_motion *motion);
void answer_pack_stability_contacts(struct wire_packer *out, const struct wire_stability *head);
void answer_pack_stability_contact(struct wire_packer *out,
				   const struct wire_stability_contact *contact);
void answer_pack_stability_joints(struct wire_packer *out, const struct wire_stability *head);
void answer_pack_stability_joint(struct wire_packer *out, const struct wire_stability_joint *joint);
void answer_pack_stability_lowest(struct wire_packer *out, const struct wire_stability *head);
void answer_pack_stability_plate(struct wire_packer *out, const struct wire_stability_plate *plate);
void answer_pack_stability_known(struct wire_packer *out, const struct wire_stability *head);
/* In the same order; each list is taken item by item. */
MUST_CHECK enum status answer_take_stability(struct wire_cursor *in, struct wire_stability *head);
MUST_CHECK enum status answer_take_stability_motion(struct wire_cursor *in,
						    struct wire_stability_motion *motion);
MUST_CHECK enum status answer_take_stability_contacts(struct wire_cursor *in,
						      struct wire_stability *head);
MUST_CHECK enum status answer_take_stability_contact(struct wire_cursor *in,
						     struct wire_stability_contact *contact);
MUST_CHECK enum status answer_take_stability_joints(struct wire_cursor *in,
						    struct wire_stability *head);
MUST_CHECK enum status answer_take_stability_joint(struct wire_cursor *in,
						   struct wire_stability_joint *joint);
MUST_CHECK enum status answer_take_stability_lowest(struct wire_cursor *in,
						    struct wire_stability *head);
MUST_CHECK enum status answer_take_stability_plate(struct wire_cursor *in,
						   struct wire_stability_plate *plate);
MUST_CHECK enum status answer_take_stability_known(struct wire_cursor *in,
						   struct wire_stability *head);
void answer_pack_region(struct wire_packer *out, const struct wire_region *region);
/* The lists of a method and of a parameter are given as items that are packed already. */
void answer_pack_method(struct wire_packer *out, const struct wire_method *method);
void answer_pack_method_name(struct wire_packer *out, const struct wire_method_name *name);
void answer_pack_parameter(struct wire_packer *out, const struct wire_parameter *parameter);
MUST_CHECK enum status answer_take_method(struct wire_cursor *in, struct wire_method *method);
MUST_CHECK enum status answer_take_method_name(struct wire_cursor *in,
					       struct wire_method_name *name);
MUST_CHECK enum status answer_take_parameter(struct wire_cursor *in,
					     struct wire_parameter *parameter);
/* One text of a list. */
MUST_CHECK enum status answer_take_text(struct wire_cursor *in, struct wire_slice *text);
MUST_CHECK enum status answer_take_cast_hit(struct wire_cursor *in, struct wire_cast_hit *hit);
MUST_CHECK enum status answer_take_closest(struct wire_cursor *in, struct wire_closest *closest);
MUST_CHECK enum status answer_take_mass(struct wire_cursor *in, struct wire_mass *mass);
MUST_CHECK enum status answer_take_move(struct wire_cursor *in, struct wire_move *move);
MUST_CHECK enum status answer_take_region(struct wire_cursor *in, struct wire_region *region);
MUST_CHECK enum status answer_take_hit(struct wire_cursor *in, struct wire_ray_hit *hit);
MUST_CHECK enum status answer_take_contact(struct wire_cursor *in, struct wire_contact *contact);
MUST_CHECK enum status answer_take_force(struct wire_cursor *in, struct wire_force *force);
MUST_CHECK enum status answer_take_totals(struct wire_cursor *in, struct wire_totals *totals);
/* Shapes go to `shapes` (WIRE_BODY_SHAPES × WIRE_SHAPE_BYTES bytes, borrowed by the result). */
MUST_CHECK enum status answer_take_body(struct wire_cursor *in, struct wire_body_facts *facts,
					uint8_t *shapes);
MUST_CHECK enum status answer_take_geometry(struct wire_cursor *in, struct wire_geometry *geometry);

#endif
