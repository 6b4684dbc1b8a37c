/* engine.h: the engine's public header. Code outside server/engine/ that uses the simulation
 * includes this file and nothing deeper.
 *
 * The engine uses no socket, clock, file, thread or MessagePack. At any time one thread may use a
 * world; different threads may use different worlds. The same build, creation options and batches
 * at the same ticks give the same bits, for any number of workers in `parallel`.
 * */
#ifndef CAIRN_ENGINE_ENGINE_H
#define CAIRN_ENGINE_ENGINE_H

#include "server/base/bytes.h"
#include "server/base/parallel.h"
#include "server/base/profile.h"
#include "server/base/status.h"
#include "server/engine/collision/placed.h" /* queries of a list that world_near returned */
#include "server/engine/geometry/shape.h"   /* shape_cook, shape_retain, shape_release, limits */
#include "server/engine/types.h"
#include "server/engine/world/command.h"

/* ---- the numbers of motion
 * --------------------------------------------------------------------- */

/* Motion is numbered in parts: the core (collision, dynamics, cooking of shapes) and each
 * method. A change of bits raises the number of its part; docs/DETERMINISM.md lists each raise
 * with its reason. Two builds compute the same next state from the same state if the core's number
 * and that of the method in force are equal. A method of number 0 is experimental: its bits may
 * change in any build. */
#define ENGINE_CORE 4

enum { MOTION_METHODS_MAX = 32, MOTION_TEXT_MAX = 512 };
struct motion_numbers {
	uint32_t core, method_count;
	struct {
		uint16_t method; /* its permanent number */
		uint32_t number; /* of its motion */
	} methods[MOTION_METHODS_MAX];
};
/* The numbers of this build. */
struct motion_numbers engine_motion(void);
/* The numbers of older files and images, which contain one number, `abi` 1. */
struct motion_numbers motion_of_abi_1(void);
/* True if both compute the same ticks under the method of this name. */
bool motion_is_same(const struct motion_numbers *a, const struct motion_numbers *b,
		    const char *method);
/* Writes and reads "core 1, free 1, soft-step 1, lcp 0". Methods that this build lacks are skipped.
 * MALFORMED: the text has another form, or names a method twice. */
void motion_text(const struct motion_numbers *numbers, char text[MOTION_TEXT_MAX]);
MUST_CHECK enum status motion_parse(const char *text, struct motion_numbers *out);

struct world;

/* ---- creation -------------------------------------------------------------------------------- */

/* Where a world finds shapes by name. `find` returns a borrowed shape (the world retains it) or
 * NULL. Called only by world_apply (SHAPE_USE), world_restore and world_load, on the caller's
 * thread. */
struct shape_source {
	const struct shape *(*find)(void *context, const uint8_t name[SHAPE_NAME_BYTES]);
	void *context;
};

struct world_limits {
	uint32_t bodies, placements, contacts, shapes, joints;
	uint32_t events; /* of one boundary; the last in their order beyond it are dropped, and an
			    EVENT_LIMIT reports how many */
	uint64_t memory_bytes, shape_bytes;
};

/* Fixed at creation. Everything else is changed by commands. */
struct world_options {
	uint32_t rate_num, rate_den; /* ticks per rate_den seconds; 1 … 10000 per second overall */
	bool planar;
	vec3 gravity;
	uint64_t seed;
	char method[32];
	char broad_phase[16]; /* "tree", "grid", "levels", "sweep"; "": the method's default */
	struct world_limits limits;
	struct shape_source shapes;
};
/* 60 Hz, not planar, gravity (0,−9.81,0), seed 1, soft-step and its broad phase, limits 65536
 * bodies, 131072 placements, 524288 contacts, 16384 shapes, 65536 joints, 1048576 events, 4 GiB,
 * 1 GiB; no shape source. */
struct world_options world_options_default(void);

/* Errors: RANGE (why names the field), UNKNOWN_METHOD, METHOD_REFUSES, UNSUPPORTED (this machine's
 * arithmetic), NO_MEMORY. *out is returned owned. */
MUST_CHECK enum status world_create(const struct world_options *options, struct world **out,
				    struct reason *why);
void world_destroy(struct world *world);
/* Replaces the source of shapes, for example after the owner of a world changes. */
void world_set_shape_source(struct world *world, struct shape_source shapes);

/* ---- commands -------------------------------------------------------------------------------- */

enum { BATCH_COMMANDS_MAX = 4096 };
/* LATE_WITHDRAW: the session's restricted batches that are stored for a later tick are removed
 * before anything else of this call. LATE_REMOVE_DRAGS: the drags that the session owns (0: of
 * all sessions) and its bodies that end with their owner are removed, in the order of batches.
 * Such batches have no commands and no tick. */
enum late_policy { LATE_NEXT_TICK = 0, LATE_REFUSE = 1, LATE_WITHDRAW = 2, LATE_REMOVE_DRAGS = 3 };

/* Commands that are applied together or not at all. */
struct batch {
	uint32_t session; /* order within a tick is (session, number) */
	uint64_t number;  /* per session and world, ascending */
	uint64_t at;	  /* tick before which to apply; a batch for a later tick is stored */
	uint8_t late;	  /* enum late_policy, if `at` has passed */
	bool restricted; /* a player's: only bodies that `session` owns; SPAWN gives it the new ones */
	/* It was applied before, perhaps by an earlier build: it is not asked whether the method
	 * ignores a property of a material, which earlier builds did not refuse. */
	bool recorded;
	struct command *commands; /* borrowed; normalised in place */
	uint32_t count;
};

/* The outcome of a batch. `values[i]` is the id that command i made, else 0. */
struct batch_result {
	uint32_t session;
	uint64_t number;
	uint64_t tick; /* boundary at which it was applied or refused, or for which it is stored */
	enum status status; /* OK, or the error of the first refused command */
	bool stored;	    /* OK, but not applied yet: it is stored until `tick` */
	uint32_t edit;	    /* (epoch, tick, edit) is the first state that contains the batch */
	struct reason why;
	uint32_t value_count;
	uint32_t *values; /* borrowed until the next call that applies */
};

/* Applies batches at the current boundary, in the order (session, number), merged with those stored
 * for this tick; each is checked whole before it changes anything. results[i] is the outcome of
 * batches[i]. A batch for a later tick is stored (`stored`) and reported again by
 * world_stored_results when its tick comes. NO_MEMORY: nothing was applied. The first call of a
 * tick also applies the batches stored for it; without a call, world_step does. Calls at one
 * boundary differ in `edit`
 * (world_info), and a replay repeats the same calls. */
MUST_CHECK enum status world_apply(struct world *world, struct batch *batches, uint32_t count,
				   struct batch_result *results);
/* Results of stored batches applied at this boundary; borrowed until the next world_step. */
const struct batch_result *world_stored_results(const struct world *world, uint32_t *count);
/* The caller has reported the changes, events and results of the boundary: the next world_apply or
 * world_step starts new lists. */
void world_close_boundary(struct world *world);

/* A batch stored for a later tick. */
struct pending_batch {
	uint64_t at;
	uint32_t session;
	uint64_t number;
};
/* Stored batches in the order in which they will be applied. Writes at most `capacity`, returns
 * how many are stored. */
uint32_t world_pending(const struct world *world, struct pending_batch *out, uint32_t capacity);

/* What a session owns in a world at this boundary. */
struct world_share {
	uint32_t session;
	uint32_t bodies;  /* that it owns */
	uint32_t pending; /* restricted batches stored for later ticks */
};
/* Fills in `count` shares. The caller sets their sessions: not 0, strictly ascending. */
void world_shares(const struct world *world, struct world_share *shares, uint32_t count);

/* ---- stepping -------------------------------------------------------------------------------- */

/* One tick. LIMIT (why names the limit) or NO_MEMORY: the step was not made, nothing moved,
 * world_stopped() is true until a step succeeds, and the events contain an EVENT_LIMIT.
 * `parallel` is borrowed for the call. */
MUST_CHECK enum status world_step(struct world *world, const struct parallel *parallel,
				  struct reason *why);
bool world_stopped(const struct world *world);
/* Steps enter their stages in `profile` from now on; borrowed, NULL ends it. The state is
 * unaffected. */
void world_set_profile(struct world *world, struct profile *profile);
/* After a step: the next world_step adds its changes (world_changes, world_joint_changes,
 * world_contacts_changed) to those of this boundary, for a caller that reports several ticks at
 * once. Its events and results of stored batches replace those of this boundary. The state is
 * unaffected. */
void world_keep_changes(struct world *world);

/* What happened to fast bodies since the process began (docs/METHODS.md, Fast bodies). */
struct sweep_totals {
	uint64_t bodies; /* paths searched */
	uint64_t stops;	 /* of these, the ones that ended early */
	uint64_t cores;	 /* bodies that stopped because only their core was left to stop them */
	uint64_t pairs;	 /* pairs of fast bodies that stopped each other */
	uint64_t
		limits; /* searches without an answer; the path ended where it was known to be free */
};

/* Figures of the last step. */
struct world_stats {
	uint32_t bodies, awake, placements, shapes, contacts, touching, points, islands, colours;
	uint32_t manifolds_made, manifolds_kept, iterations, fallbacks, quarantined;
	uint32_t joints;
	uint32_t taut; /* bodies that the tension of joints made too stiff for a sub-step */
	/* Under soft-step: awake bodies that are thin beside the depth by which contacts of bodies of
	 * one weight give way. They sink into each other. */
	uint32_t sagging;
	uint64_t joints_broken_total;
	double joint_error; /* m (rad counted as m): largest error of a locked axis after the step */
	/* Of the last step, for methods with two solvers: islands solved dense, islands solved
	 * sparse, and islands whose impulses are not unique. */
	uint32_t islands_dense, islands_sparse, islands_dependent;
	/* With articulated.coordinates 1 or 2: islands with joints in reduced coordinates, and islands
	 * that keep maximal ones for their structure. */
	uint32_t islands_reduced, islands_maximal;
	uint64_t fallbacks_total, quarantined_total;
	struct sweep_totals sweeps_total;
	struct impact_figures impact_total; /* of method impact, since the process began */
	double impact_error; /* m: largest estimated error of a part of the last tick; 0: no estimate */
	double residual, penetration_max, penetration_mean;
	/* J: work done against forces by pushing bodies out of penetration; in the last step, and
	 * since the world was made or loaded. */
	double push_work, push_work_total;
	uint64_t memory_bytes;
};
struct world_stats world_stats(const struct world *world);
/* Frees the memory that only steps use, for a world that is paused. The next step allocates it
 * again and computes the same state. */
void world_trim(struct world *world);

/* Events of this boundary: of commands since the last step, or, after it, of those and the step, in
 * their defined order; borrowed until the next world_apply or world_step. */
const struct event *world_events(const struct world *world, uint32_t *count);

/* ---- views ----------------------------------------------------------------------------------- */

/* A state's name and the world's settings. The name of a state is (epoch, tick, edit). `edit`
 * counts the calls since the last step that applied or stored at least one command, withdrew
 * stored batches or removed drags; a step sets it to 0. */
struct world_info {
	uint64_t tick;
	uint32_t edit;
	uint32_t epoch, rate_num, rate_den;
	bool planar, stopped;
	vec3 gravity;
	enum bounds_mode bounds_mode;
	vec3 bounds_min, bounds_max;
	const char *method;
	struct world_limits limits;
};
struct world_info world_info(const struct world *world);
void world_new_epoch(struct world *world, uint32_t epoch);
/* Ends creation: batches applied so far, as by a scene, belong to the first state, (epoch, 0,
 * 0). The world must be at tick 0. */
void world_begin(struct world *world);

/* A body as clients see it. */
struct body_view {
	body_id id;
	uint8_t status; /* enum body_status */
	bool asleep, quarantined, fast, sensor;
	uint32_t owner;
	int64_t tag;
	uint32_t colour; /* 0xRRGGBB + COLOUR_GIVEN; 0: none */
	vec3 position;	 /* of the origin */
	quat rotation;
	vec3 velocity; /* of the mass centre */
	vec3 angular_velocity;
	double mass;
	vec3 centre; /* mass centre, body axes */
	uint32_t placement_count;
};
MUST_CHECK enum status world_body(const struct world *world, body_id id, struct body_view *out);
/* A mover's state after the last tick, and what it can (commands SET_MOVER, STEER). */
struct mover_view {
	uint8_t flags;	    /* MOVER_ON_GROUND … */
	body_id ground;	    /* on which it stands, 0 none */
	uint32_t squeezes;  /* ticks in which it had no place */
	vec3 normal;	    /* of its ground, unit; zero without ground */
	vec3 velocity;	    /* m/s, in the air: beside the wish */
	vec3 wish;	    /* m/s */
	double step_height; /* m */
	double slope;	    /* rad */
	double push_force;  /* N */
	double snap;	    /* m */
};
/* False if there is no such body, or it is no mover. */
bool world_mover(const struct world *world, body_id id, struct mover_view *out);
/* Ids of all bodies, ascending; returns how many there are, writes at most `capacity`. */
uint32_t world_bodies(const struct world *world, body_id *ids, uint32_t capacity);
/* A body's shapes and their places on it; writes at most `capacity`, returns how many it has, 0
 * if there is no such body. */
struct placement_view {
	const struct shape *shape; /* borrowed */
	vec3 position;
	quat rotation;
};
uint32_t world_body_placements(const struct world *world, body_id id, struct placement_view *out,
			       uint32_t capacity);

/* Changes of the visible state between the previous boundary and this one (commands and step). Ids
 * ascending; borrowed until the next world_step or world_apply. `moved`: pose, velocity or status;
 * `changed`: owner, tag, flags or placements; a new id is in `created` only. */
struct world_changes {
	const body_id *created, *moved, *changed, *removed;
	uint32_t created_count, moved_count, changed_count, removed_count;
};
struct world_changes world_changes(const struct world *world);

/* A shape that pictures show of a body in place of its own. */
struct visual_view {
	shape_id shape;
	struct name32 name; /* SHA-256 of the shape's canonical bytes */
	vec3 position;	    /* m, body axes */
	quat rotation;	    /* shape axes to body axes */
	uint32_t colour;    /* 0xRRGGBB + COLOUR_GIVEN; 0: the body's */
};
/* The visuals of a body in the order of their commands; returns how many there are, writes at
 * most `capacity`. 0: the body has none, or there is no such body. */
uint32_t world_visuals(const struct world *world, body_id body, struct visual_view *out,
		       uint32_t capacity);

/* The name of a body, or of a joint, zero-terminated; false, and "", if it has none or is not there. */
bool world_body_name(const struct world *world, body_id id, char out[LABEL_BYTES]);
bool world_joint_name(const struct world *world, joint_id id, char out[LABEL_BYTES]);

/* ---- joints ---------------------------------------------------------------------------------- */

/* A joint as clients see it. */
struct joint_view {
	joint_id id;
	uint8_t type;  /* enum joint_type */
	uint8_t flags; /* JOINT_BODIES_PASS */
	bool asleep;   /* none of its bodies is awake */
	uint32_t owner;
	int64_t tag;
	body_id a, b;	       /* 0 the world */
	vec3 point_a, point_b; /* m, from the body's origin in its axes; of the world: world axes */
	quat frame_a, frame_b; /* the joint's axes to the body's */
	double break_force, break_torque; /* 0 never */
	double coordinates[JOINT_AXES];	  /* m, rad; at the present poses */
	vec3 anchor_a, anchor_b;	  /* m, world */
	vec3 force; /* N, on b at its anchor, world axes, mean over the last tick it was solved in */
	vec3 torque; /* N·m, on b about its anchor */
};
/* UNKNOWN_JOINT. */
MUST_CHECK enum status world_joint(const struct world *world, joint_id id, struct joint_view *out);
/* Ids of all joints, or (body ≠ 0) of a body's, ascending; returns how many there are, writes at
 * most `capacity`; if there are more, the written ones are in no order. */
uint32_t world_joints(const struct world *world, body_id body, joint_id *ids, uint32_t capacity);
/* The number of drags that a session owns; 0: that all sessions own. */
uint32_t world_drags(const struct world *world, uint32_t owner);
/* True if LATE_REMOVE_DRAGS of that session (0: of all sessions) would remove something.
 * O(joints + bodies). */
bool world_session_leaves(const struct world *world, uint32_t session);
/* Bodies that joints link with `body`, itself included, ids ascending. A body that is not
 * dynamic is listed but links no further. *count is 0 if there is no such body. O(linked
 * joints). NO_MEMORY. */
MUST_CHECK enum status world_linked(const struct world *world, body_id body, body_id *ids,
				    uint32_t capacity, uint32_t *count);

/* The settings of one axis, as JOINT_AXIS sets them. */
struct joint_axis_view {
	uint8_t mode, spring, motor, wave;
	double lower, upper, restitution, friction;
	double stiffness, damping, rest, spring_limit;
	double target, motor_limit, motor_stiffness, motor_damping, amplitude, hertz, phase;
	/* As JOINT_GEAR sets them; 0: it follows none. */
	joint_id leader;
	uint8_t leader_axis;
	double ratio, offset;
	double gear_force;  /* N, N m: of the gear along the axis, mean of the last tick */
	double armature;    /* kg, kg m², as JOINT_ARMATURE sets it */
	double rotor_force; /* N, N m: of its rotor along the axis, mean of the last tick */
};
MUST_CHECK enum status world_joint_axis(const struct world *world, joint_id id, uint32_t axis,
					struct joint_axis_view *out);

/* Changes of joints between the previous boundary and this one, as world_changes for bodies.
 * `moved`: one of its bodies moved or its force changed; the list may contain more joints than
 * those. `changed`: anything that a command sets. */
struct world_joint_changes {
	const joint_id *created, *moved, *changed, *removed;
	uint32_t created_count, moved_count, changed_count, removed_count;
};
/* NO_MEMORY. */
MUST_CHECK enum status world_joint_changes(const struct world *world,
					   struct world_joint_changes *out);

/* ---- force fields ---------------------------------------------------------------------------- */

/* A force field, as FIELD_CREATE and FIELD_SET make it (types.h). */
struct field_view {
	field_id id;
	uint8_t kind, region, falloff, flags, power;
	uint32_t mask;
	int64_t tag;
	vec3 position, half; /* m */
	quat rotation;	     /* field axes → world */
	vec3 strength;	     /* N or m/s², field axes */
	vec3 velocity;	     /* m/s, of a drag's medium, world axes */
	double linear, quadratic, angular, core, density;
};
/* All fields, ids ascending; returns how many there are. */
uint32_t world_fields(const struct world *world, struct field_view out[FIELDS_MAX]);
/* What all fields together exert at a place (m) on a point mass (kg) that moves at `velocity`
 * (m/s), is of every category and has no size: an acceleration (m/s²), to which a force (N) is
 * added. */
void world_field_force(const struct world *world, vec3 at, vec3 velocity, double mass,
		       vec3 *acceleration, vec3 *force);

/* ---- particles ------------------------------------------------------------------------------- */

/* A particle system, as PARTICLES_CREATE and PARTICLES_SET make it (commands.def), and its
 * counts so far. */
struct system_view {
	system_id id;
	char name[32];
	uint32_t owner, capacity, rate, rate_deviation, delay, category, mask;
	int64_t tag;
	uint8_t emitter, recycle, colour_count;
	vec3 position, half; /* m */
	quat rotation;	     /* emitter axes → world */
	/* Mean and largest deviation; borrowed until the world changes: m, kg, s, m/s. */
	const double *size, *mass, *life, *speed;
	double spread, drag, gravity_scale;
	double static_friction, dynamic_friction, restitution;
	uint64_t seed;
	const double *colour_age; /* s; borrowed, as colour, 0xRRGGBB */
	const uint32_t *colour;
	uint32_t alive;
	uint64_t born, lost, refused, cut; /* fields.def */
	/* As PARTICLES_INTERACT set them. */
	uint8_t forces, collisions; /* enum interact */
	uint32_t substeps;	    /* 0: it was not given */
	double cutoff, core, charge, gravitation;
	double well_depth, well_distance, repulsion, repulsion_damping;
	uint64_t crowded;
	/* As PARTICLES_SELF and PARTICLES_EMITTER set them. */
	double self_thickness, self_friction, self_overlap, mount_velocity; /* fields.def */
	double stretch_limit; /* of PARTICLES_LIMIT, and the passes that it took so far */
	uint64_t limit_passes;
	body_id mount; /* 0 none: position and rotation are in its axes */
	bool recoil, room;
	/* As PARTICLES_MEET set them: others that its linked particles meet, by ids. */
	struct meeting_view {
		system_id other;
		double thickness, friction, overlap; /* fields.def */
	} meets[PARTICLE_MEETINGS_MAX];
	uint32_t meet_count;
	/* As PARTICLES_SPLIT and PARTICLES_TRAIL set them; mean, largest deviation. */
	const uint32_t *split_number; /* borrowed, as the next two lines */
	const double *split_age, *split_velocity, *split_burst; /* s, share, m/s */
	const double *split_size, *split_life;			/* shares */
	uint32_t split_delay, split_depth;
	double split_spread;
	bool split_spend;
	uint64_t splits; /* so far */
	system_id trail; /* 0 none */
	uint32_t trail_delay, trail_depth;
	double trail_velocity;
	/* Of its links. */
	uint32_t links, pins, holds, link_substeps;
	uint8_t contacts; /* enum particle_contacts */
	uint64_t torn;
	double stretch, volume_error; /* see fields.def */
	uint32_t sinks;
	uint64_t taken; /* particles that sinks took, so far */
};
/* A sink of a system, as PARTICLES_SINK makes it, and its counts so far. */
struct sink_view {
	uint32_t number;
	uint8_t region; /* enum sink_region */
	body_id body;	/* 0 none */
	vec3 position, size;
	quat rotation;
	double radius, mass; /* mass: kg, of what it took */
	uint64_t taken;
};
/* The sinks of a system by number; returns how many. */
uint32_t world_sinks(const struct world *world, system_id system,
		     struct sink_view out[PARTICLE_SINKS_MAX]);
struct particle_view {
	uint64_t serial;
	uint8_t generation;
	vec3 position, velocity;  /* m, m/s */
	double radius, mass, age; /* m, kg, s */
};
/* All systems, ids ascending; returns how many there are. */
uint32_t world_systems(const struct world *world, struct system_view out[SYSTEMS_MAX]);
/* Particles of all systems. */
uint32_t world_particle_count(const struct world *world);
/* The particles of a system with serial numbers above `after`, ascending, at most `capacity`;
 * returns their number. O(particles of the world). */
uint32_t world_particles(const struct world *world, system_id system, uint64_t after,
			 struct particle_view *out, uint32_t capacity);

/* A particle of any system. */
struct particle_row {
	system_id system;
	uint64_t serial;
	uint64_t birth, death;	  /* ticks at whose end it was made and dies; death 0: never */
	vec3 position, velocity;  /* m, m/s */
	double radius, mass;	  /* m, kg */
	double density, pressure; /* of the fluid there, kg/m3, Pa; 0: of no fluid */
};
/* All particles, ascending by (system, serial); `out` has room for world_particle_count. */
void world_particle_rows(const struct world *world, struct particle_row *out);
/* How a particle of a system, of its mean mass, moves in a tick unless it meets or feels something
 * but gravity and drag: x += v carry + shift, v = v decay + gain. */
struct system_flight {
	system_id id;
	uint32_t alive;	     /* particles that it has */
	double carry, decay; /* s, 1 */
	vec3 shift, gain;    /* m, m/s */
};
/* Of all systems, ids ascending; returns how many there are. */
uint32_t world_system_flights(const struct world *world, struct system_flight out[SYSTEMS_MAX]);

/* A particle system that is a fluid, and the figures of its last tick (fields.def). */
struct fluid_view {
	system_id system;
	uint32_t particles;
	uint8_t solver;			  /* enum fluid_solver */
	double kernel_radius;		  /* m */
	double rest_density;		  /* kg/m³ */
	double viscosity, wall_viscosity; /* Pa s */
	double surface_tension;		  /* N/m */
	double tolerance, compression, speed, stiffness, step_ratio;
	uint32_t substeps_max, substeps, iterations;
	double density_error, density_error_max, residual, divergence_error, speed_max;
	uint64_t capped, unconverged, inside, crowded, lost, bad, blocked;
	uint32_t unsampled, coarse;
};
/* All fluids, in the order in which their systems became fluids; returns how many there are. */
uint32_t world_fluids(const struct world *world, struct fluid_view out[SYSTEMS_MAX]);

/* A link between particles of a system. */
struct link_view {
	uint8_t kind;		    /* enum link_kind */
	uint64_t serial[LINK_ENDS]; /* of its particles; 0 where a distance has none */
};
/* The links of a system in the order in which they are solved, without the first `after`, at most
 * `capacity`; returns their number. O(links of the world). */
uint32_t world_links(const struct world *world, system_id system, uint64_t after,
		     struct link_view *out, uint32_t capacity);

/* ---- hashes ---------------------------------------------------------------------------------- */

/* Hash of the state that every client can know: id, status, pose, velocities of all bodies
 * (server/base/body_hash.h). It covers bodies only, also in worlds with other things, because
 * clients compare it: each further visible kind (joints, frameworks, particles;
 * protocol/columns.def) gets a hash of its own beside it, and the journal stores both. */
uint64_t world_tick_hash(const struct world *world);
/* Hash of all tables except empty ones and absent columns (fields.def). per_table (may be NULL)
 * receives one hash for each table, in the order of fields.def; 0 for a table that is left out. */
enum { WORLD_TABLES_MAX = 64 };
uint64_t world_state_hash(const struct world *world, uint64_t per_table[WORLD_TABLES_MAX],
			  uint32_t *table_count);
const char *world_table_name(uint32_t table);

/* ---- snapshots ------------------------------------------------------------------------------- */

/* Appends the world's image. Field by field, little-endian, no padding, no pointers. */
MUST_CHECK enum status world_save(const struct world *world, struct bytes *out);
/* The same without the checksum at its end, which costs two thirds of the time; world_image_seal
 * computes it, perhaps on another thread, and again without harm. Bytes that are no image stay
 * as they are. */
MUST_CHECK enum status world_save_open(const struct world *world, struct bytes *out);
void world_image_seal(struct bytes *image);
/* Makes a world from an image (FORK, recovery). CORRUPT, VERSION (of a later build),
 * UNKNOWN_SHAPE (why names it), METHOD_REFUSES (the method in force does not support the
 * content), NO_MEMORY. *out is returned owned. */
MUST_CHECK enum status world_load(const uint8_t *data, size_t bytes, struct shape_source shapes,
				  struct world **out, struct reason *why);
/* Replaces the world's state by the image's; on failure nothing changed. The epoch is kept;
 * changes and events are empty after. Errors of world_load, and RANGE if the image has another
 * rate or is planar where the world is spatial, or the reverse. */
MUST_CHECK enum status world_restore(struct world *world, const uint8_t *data, size_t bytes,
				     struct reason *why);
/* OK if two images contain the same state apart from the epoch; DIVERGED with the first
 * difference as text: table, row (and body id), column, both values. CORRUPT, VERSION,
 * NO_MEMORY. */
MUST_CHECK enum status world_image_difference(const uint8_t *a, size_t a_bytes, const uint8_t *b,
					      size_t b_bytes, struct reason *difference);

/* Description of an image. */
struct image_about {
	uint32_t version;	       /* of its form */
	struct motion_numbers numbers; /* of the build that wrote it */
	uint64_t tick;
	uint16_t method; /* in force; its permanent number */
	/* The hashes reported when it was saved: over its own bytes, by the rule of its version. */
	uint64_t saved_hash, saved_hashes[WORLD_TABLES_MAX];
	/* world_state_hash of a world loaded from it, by this build's rule. */
	uint64_t state_hash, hashes[WORLD_TABLES_MAX];
	uint32_t table_count; /* of the image */
};
/* CORRUPT, VERSION, NO_MEMORY. Invariants are not checked. */
MUST_CHECK enum status world_image_about(const uint8_t *data, size_t bytes, struct image_about *out,
					 struct reason *why);

/* Reads the image's motion numbers only; the rest is not checked. CORRUPT, VERSION. */
MUST_CHECK enum status world_image_numbers(const uint8_t *data, size_t bytes,
					   struct motion_numbers *out, struct reason *why);

/* The limit `memory_max` of an image's world, from its first bytes; false if they do not contain
 * it. */
bool world_image_memory_max(const uint8_t *head, size_t bytes, uint64_t *out);

/* ---- rollback
 * --------------------------------------------------------------------------------- */

/* A state of a world against which rollback images are differences: a copy of all its tables.
 * Immutable: any thread may use it. */
struct rollback_base;
/* The present state. NO_MEMORY. *out is returned owned. */
MUST_CHECK enum status rollback_base_create(const struct world *world, struct rollback_base **out);
void rollback_base_destroy(struct rollback_base *base);		/* NULL is ignored */
uint64_t rollback_base_bytes(const struct rollback_base *base); /* of memory */

/* Appends the present state as what differs from `base`: whole and exact, with bodies and joints
 * made and removed since, and small if little but motion has changed (docs/RECORDING.md). It
 * belongs to this process and needs `base` to be restored. Allocates only while `out` and the
 * world's own buffers grow. NO_MEMORY: nothing is appended. */
MUST_CHECK enum status world_save_rollback(struct world *world, const struct rollback_base *base,
					   struct bytes *out);
/* Replaces the world's state by the image's; on failure nothing changed. The epoch is kept, and
 * so are stats' totals; changes and events are empty after. CORRUPT (damaged, or saved with
 * another base), errors of world_restore. */
MUST_CHECK enum status world_restore_rollback(struct world *world, const struct rollback_base *base,
					      const uint8_t *data, size_t bytes,
					      struct reason *why);

/* Builds every derived cache again (trees, indexes, free rows). Changes no hash, now or later.
 * NO_MEMORY. */
MUST_CHECK enum status world_rebuild_caches(struct world *world);
/* The slow check of every invariant of the tables; CORRUPT; `why` names the invariant. */
MUST_CHECK enum status world_check(const struct world *world, struct reason *why);

/* ---- queries --------------------------------------------------------------------------------- */

struct query_filter {
	uint32_t category, mask; /* as a body's */
	body_id ignore;
};
/* The placed shapes whose boxes in the broad phase overlap `box`, without the walls, in the
 * order (body, placement); *count is how many there are. Shapes are borrowed; a caller that uses
 * the list after the next world_apply must retain them. The queries of collision/placed.h are
 * exact on the list if `box` contains their whole reach. LIMIT: there are more than `capacity`,
 * and `out` is not usable. NO_MEMORY. */
MUST_CHECK enum status world_near(const struct world *world, const struct aabb *box,
				  struct query_filter filter, struct placed_shape *out,
				  uint32_t capacity, uint32_t *count);
/* The same for shapes whose boxes the segment from `origin` to `origin` + `way` hits. */
MUST_CHECK enum status world_near_ray(const struct world *world, vec3 origin, vec3 way,
				      struct query_filter filter, struct placed_shape *out,
				      uint32_t capacity, uint32_t *count);
/* placed_ray and placed_overlap on such a list: `direction` of any size, RANGE, NOT_FINITE and
 * NO_MEMORY through `status` (may be NULL). */
uint32_t world_ray(const struct world *world, vec3 origin, vec3 direction, double length,
		   struct query_filter filter, struct ray_hit *hits, uint32_t capacity,
		   enum status *status);
uint32_t world_overlap(const struct world *world, const struct shape *shape, vec3 position,
		       quat rotation, struct query_filter filter, body_id *ids, uint32_t capacity,
		       enum status *status);

/* All placed shapes of one body, in order; writes at most `capacity`, returns how many there
 * are. */
uint32_t world_placed(const struct world *world, body_id body, struct placed_shape *out,
		      uint32_t capacity);

/* Mass properties of a body, or (0) of all dynamic bodies together, at their present poses. */
struct mass_view {
	double mass;  /* kg */
	vec3 centre;  /* world, m */
	mat3 inertia; /* about the centre, world axes, kg m² */
	vec3 moments; /* principal, largest first */
	quat axes;    /* principal axes → world */
	double radius; /* m, of the sphere about the centre that contains the body; of all bodies: 0 */
	uint32_t bodies;
};
/* UNKNOWN_BODY. For a body without mass every number is 0 except radius and bodies. */
MUST_CHECK enum status world_mass(const struct world *world, body_id body, struct mass_view *out);

/* The ids of the bodies that a sensor (BODY_SENSOR) overlapped at the end of the last tick,
 * ascending, at most `capacity`; none for a body that is no sensor. UNKNOWN_BODY. */
MUST_CHECK enum status world_sensed(const struct world *world, body_id sensor, body_id *out,
				    uint32_t capacity, uint32_t *count);

/* What pieces of a body have of their own, as the commands that give it to them: by piece and patch,
 * without the first `first`; *count is how many were written, at most `capacity`. UNKNOWN_BODY. */
MUST_CHECK enum status world_pieces(const struct world *world, body_id body, uint32_t first,
				    struct command_SET_PIECE *out, uint32_t capacity,
				    uint32_t *count);

/* A body that points carry. */
struct carrier_view {
	body_id body, points[4];
	uint32_t count; /* of points */
	double off;	/* m: the largest distance of a point from its place in the body */
};
/* Those of `body` (0: of all, by rows), without the first `first`; *count is how many were written, at
 * most `capacity`. UNKNOWN_BODY. */
MUST_CHECK enum status world_carriers(const struct world *world, body_id body, uint32_t first,
				      struct carrier_view *out, uint32_t capacity, uint32_t *count);

/* A contact point with its impulses of the last tick. */
struct contact_view {
	body_id a, b;
	uint32_t child_a, child_b;
	vec3 point, normal;    /* world, a → b */
	double separation;     /* m */
	double normal_impulse; /* N·s over the last tick */
	vec3 friction_impulse; /* N·s on b, of the whole manifold; only in its first point */
};
/* Contact points of `body` (0: of all), sorted by (a, b, children, point). *count is how many
 * were written, at most `capacity`. NO_MEMORY: none. */
MUST_CHECK enum status world_contacts(const struct world *world, body_id body,
				      struct contact_view *out, uint32_t capacity, uint32_t *count);

/* A touching contact point with its forces: means over the last tick. */
struct force_view {
	body_id a, b;
	uint32_t child_a, child_b;
	vec3 point, normal; /* world, a → b */
	double separation;  /* m */
	double normal_force; /* N; below 0 only of a bounce whose impulses are taken back (METHODS) */
	vec3 friction_force; /* N on b, of the whole manifold; only in its first point */
	uint8_t known;	     /* enum force_known: of both forces */
};
/* Forces of the touching contact points of `body` (0: of all), sorted as in world_contacts.
 * `least`: where they are not unique, those of least norm that balance the same loads without
 * pulling (joints and unique forces stay). UNKNOWN_BODY; NO_MEMORY: none. */
MUST_CHECK enum status world_forces(const struct world *world, body_id body, bool least,
				    struct force_view *out, uint32_t capacity, uint32_t *count);

/* Whether the bodies stand, taken at rest at their present places (statics/stability.h). */
struct stability_query {
	double touch; /* m: pieces no farther apart touch; 0: 1 % of the smaller one's least half-width */
	uint32_t sides; /* of a pyramid of friction in space: even, 4 … 16 */
	uint8_t margin; /* enum stability_margin */
	body_id body;	/* of LOAD and PUSH */
	vec3 direction; /* of PUSH and TILT, of any length but 0 */
	bool lowest;	/* the state of lowest energy as well (statics/lowest.h) */
};
struct stability_contact {
	body_id a, b;
	uint32_t child_a, child_b; /* indices of the shapes in their bodies */
	vec3 point, normal;	   /* m, world; unit, a → b */
	double separation;	   /* m */
	double normal_force;	   /* N ≥ 0 */
	vec3 friction_force;	   /* N, on b */
	vec3 parting;		   /* m/s²: initial acceleration of b's surface against a's */
	bool breaks;		   /* it parts along the normal */
	uint8_t known;		   /* enum force_known: of both forces */
};
struct stability_joint {
	joint_id joint;
	vec3 point; /* m, world: its anchor on b */
	vec3 force,
		torque; /* N, N m, on b about it, world axes; of springs and force motors, too */
	uint8_t known;	/* enum force_known */
};
struct stability_motion {
	body_id body;
	vec3 acceleration, angular; /* m/s², rad/s²: with which it begins to fall */
};
struct stability_plate {
	body_id body;
	double rise;	      /* m, of the mass centre */
	double slope, across; /* 1: by how much it rises along x and along z */
};
struct stability_view {
	uint8_t verdict, law;		    /* enum stability_verdict, stability_law */
	double residual, kkt, gap, witness; /* 1 */
	uint32_t rounds;		    /* factors made */
	uint32_t fallbacks; /* problems solved in steps, because rows are too dependent */
	uint8_t known; /* enum force_known: FORCE_UNIQUE if all forces are, else the least certain */
	uint32_t open; /* contacts and joints whose forces are not unique or were not examined */
	uint32_t bodies, points, rows, joints; /* rows: of joints */
	double lower, upper, stands;	       /* the margin; infinite: without end */
	struct stability_contact *contacts;    /* owned; `points` of them, by pairs of shapes */
	struct stability_motion *motions;      /* owned; `bodies` of them, by rows */
	struct stability_joint *loaded;	       /* owned; `joints` of them, by rows */
	/* With `lowest`: by how much the energy can fall, J; bodies at a limit of slope or drop; the
	 * residual and the number of the programmes; where the dynamic bodies go. */
	double drop, drop_residual;
	uint32_t limited, programmes, plates;
	struct stability_plate *lowest; /* owned; `plates` of them, by rows */
};
/* UNKNOWN_BODY; RANGE: a number of the query, a body that does not move; LIMIT; UNSUPPORTED:
 * shapes that are not convex, motors that turn, with `lowest` what are no plates; DEGENERATE: bodies
 * overlap; NO_MEMORY. Release `out` if the call succeeded. */
MUST_CHECK enum status world_stability(const struct world *world,
				       const struct stability_query *query,
				       struct stability_view *out, struct reason *why);
void stability_view_release(struct stability_view *self);

/* The bodies that joints link with a body, in reduced coordinates (articulated/articulation.h):
 * links, each after its parent, and their axes in the order of the links. */
enum { ROBOT_LINKS_MAX = 1024, ROBOT_MATRIX_MAX = 96, ROBOT_JACOBIAN_MAX = 1024 };
struct robot_view_link {
	body_id body,
		parent; /* parent 0: the world, a body that is not dynamic, or (joint 0) none */
	joint_id joint; /* 0: a floating base */
	uint8_t kind; /* 0 floating base, 1 axes with a coordinate each, 2 a ball after its slides */
	uint8_t axes;
	uint8_t axis[6]; /* of the joint; of a base 0 … 2 along x, y, z and 3 … 5 about them */
};
struct robot_view {
	struct robot_view_link *link; /* owned; `links` of them */
	double *q; /* owned, with the four below: `coordinates`, then `axes` of each */
	double *rates, *accelerations, *bias;
	/* N, N·m: what each axis' joint exerted along it, mean of the last tick; of a base 0 */
	double *forces;
	uint32_t links, axes, coordinates;
	uint32_t closure_rows, closure_rank; /* of loops; rows that do not depend on others */
	double residual; /* m/s², rad/s²: the largest acceleration by which a loop opens */
	bool regular;	 /* false: the mass matrix is singular to rounding; accelerations are 0 */
};
/* `body` 0: all dynamic bodies of the world. `accelerations`: under gravity, drives and fields
 * alone, loops closed; springs, motors, limits and friction of joints, and contacts, exert
 * nothing. `bias`: the forces of the axes for which all accelerations of axes are 0.
 * UNKNOWN_BODY; RANGE: not dynamic; LIMIT; UNSUPPORTED: locks; NO_MEMORY. Release `out` if the
 * call succeeded. */
MUST_CHECK enum status world_robot(const struct world *world, body_id body, struct robot_view *out,
				   struct reason *why);
void robot_view_release(struct robot_view *self);
/* The mass matrix, axes × axes row by row, and the Jacobian of a point (m, world) of the body, 6
 * × axes: its velocity, then the body's spin, of the rates. *matrix: owned by the caller
 * (heap_free) if OK. As above. */
MUST_CHECK enum status world_robot_mass(const struct world *world, body_id body, double **matrix,
					uint32_t *axes, struct reason *why);
MUST_CHECK enum status world_robot_jacobian(const struct world *world, body_id body, vec3 point,
					    double **matrix, uint32_t *axes, struct reason *why);

/* Forward dynamics: accelerations of axes under given forces of axes; inverse: the forces that cause
 * given accelerations. Of many robots at once, in the present state; gravity, drives and fields act
 * as in world_robot. */
struct robot_dynamics {
	const body_id *bodies; /* one of each robot; borrowed, as the values are */
	uint32_t body_count;   /* at most ROBOT_DYNAMICS_MAX (types.h) */
	bool inverse;
	bool still;	      /* as if no body moved */
	const double *values; /* of the axes of the robots, one robot after another */
	uint32_t value_count; /* 0: all are 0 */
};
struct robot_dynamics_item {
	uint32_t axes, closure_rows, closure_rank; /* rank 0 for inverse */
	bool regular; /* false: the mass matrix is singular to rounding; the values are 0 */
	/* m/s², rad/s²: the largest acceleration by which a loop opens. Inverse: that of the given
	 * accelerations, whose forces are those of the forest, with nothing from its closures. */
	double residual;
};
struct robot_dynamics_view {
	struct robot_dynamics_item *items; /* owned; one for each body asked */
	double *values;			   /* owned */
	uint32_t axes;			   /* of all: how many values */
};
/* As world_robot; RANGE also: another number of values. LIMIT: more than ROBOT_DYNAMICS_AXES axes
 * or links, or ROBOT_DYNAMICS_ROWS rows of loops, together. Release `out` if the call succeeded. */
MUST_CHECK enum status world_robot_dynamics(const struct world *world,
					    const struct robot_dynamics *asked,
					    struct robot_dynamics_view *out, struct reason *why);
void robot_dynamics_view_release(struct robot_dynamics_view *self);

/* Points of the contacts assigned to `body`. A contact belongs to its dynamic body; of two
 * dynamic bodies to that with the higher id. As above, but with `body` as b (so `a` is the
 * other), sorted by (a, child_b, child_a, point). *count is how many there are, of which at most
 * `capacity` are written. NO_MEMORY. */
MUST_CHECK enum status world_assigned_contacts(const struct world *world, body_id body,
					       struct contact_view *out, uint32_t capacity,
					       uint32_t *count);
/* Bodies whose contacts may differ from those at the opening of the boundary: bodies awake
 * before or after its step, changed by a command, or with lost contact points; and sleeping
 * bodies to which contacts with these are assigned. In no order, some more than once; returns
 * how many there are. */
uint32_t world_contacts_changed(const struct world *world, body_id *out, uint32_t capacity);

struct world_energy {
	double kinetic, potential; /* J; potential of gravity, zero at the world's origin */
	vec3 linear;		   /* kg·m/s, of dynamic bodies */
	vec3 angular;		   /* kg·m²/s, about the world's origin */
};
struct world_energy world_energy(const struct world *world);

/* ---- methods --------------------------------------------------------------------------------- */

struct method_info {
	uint32_t number; /* permanent */
	const char *name, *summary;
	uint32_t motion; /* the number of its motion */
	uint32_t shapes; /* bit per enum shape_kind */
	bool friction, restitution, sleep, planar, three_d, joints;
};
uint32_t world_methods(struct method_info *out, uint32_t capacity);
/* Other names of methods, from their sources. They are accepted wherever a method is named. A
 * parameter that such a name sets stays when another method is chosen. */
struct method_name {
	const char *name, *method;
	const char *parameter; /* set with it, or NULL */
	double value;
};
uint32_t world_method_names(struct method_name *out, uint32_t capacity);
/* OK if the world could switch to the method now; UNKNOWN_METHOD, METHOD_REFUSES. */
MUST_CHECK enum status world_supports(const struct world *world, const char *method,
				      struct reason *why);

/* The parameters of parameters.def. */
struct parameter_info {
	uint32_t number; /* permanent */
	const char *name, *unit, *doc;
	const char *methods; /* names of the methods that read it, separated by blanks */
	const char *old;     /* an earlier name, accepted for ever; NULL: none */
	double initial, min, max;
	bool whole; /* a count or a switch: integers only */
};
uint32_t world_parameters(struct parameter_info *out, uint32_t capacity);
/* The value of a parameter by its present or an earlier name; NaN if there is no such parameter. */
double world_parameter(const struct world *world, const char *name);

#endif
