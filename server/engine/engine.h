/* engine.h: the engine's one door. Everything outside server/engine/ that touches the simulation
 * includes this and nothing deeper.
 *
 * The engine is pure: no socket, clock, file, thread or MessagePack. A world is used by one thread at a
 * time; different worlds by different threads. Same build, same creation options, same batches at the
 * same ticks: same bits, for any number of workers in `parallel`.
 */
#ifndef CAIRN_ENGINE_ENGINE_H
#define CAIRN_ENGINE_ENGINE_H

#include "server/base/bytes.h"
#include "server/base/parallel.h"
#include "server/base/status.h"
#include "server/engine/collision/placed.h" /* longer questions over a list from world_near */
#include "server/engine/geometry/shape.h"   /* shape_cook, shape_retain, shape_release, limits */
#include "server/engine/types.h"
#include "server/engine/world/command.h"

/* ---- the numbers of motion --------------------------------------------------------------------- */

/* Motion is numbered in parts: the core (collision, dynamics, cooking of shapes) and each
 * method. A change of bits raises the number of its part; docs/DETERMINISM.md lists each raise
 * with its reason. Two builds make the same tick of the same state where the core's number and
 * that of the method in force are equal. A method of number 0 is experimental: its bits are
 * promised to nobody. */
#define ENGINE_CORE 2

enum { MOTION_METHODS_MAX = 32, MOTION_TEXT_MAX = 512 };
struct motion_numbers {
	uint32_t core, method_count;
	struct {
		uint16_t method; /* its permanent number */
		uint32_t number; /* of its motion */
	} methods[MOTION_METHODS_MAX];
};
/* Of this build. */
struct motion_numbers engine_motion(void);
/* Of files and images from before motion was numbered in parts, which say `abi` 1. */
struct motion_numbers motion_of_abi_1(void);
/* Whether both make the same ticks under `method` (its name). */
bool motion_is_same(const struct motion_numbers *a, const struct motion_numbers *b,
		    const char *method);
/* "core 1, free 1, soft-step 1, lcp 0" and back; a method that is not known here is passed over. */
void motion_text(const struct motion_numbers *numbers, char text[MOTION_TEXT_MAX]);
MUST_CHECK enum status motion_parse(const char *text, struct motion_numbers *out);

struct world;

/* ---- life ------------------------------------------------------------------------------------ */

/* Where a world finds shapes by name. `find` returns a borrowed shape (the world retains it) or NULL.
 * Called only by world_apply (SHAPE_USE), world_restore and world_load, on the caller's thread. */
struct shape_source {
	const struct shape *(*find)(void *context, const uint8_t name[SHAPE_NAME_BYTES]);
	void *context;
};

struct world_limits {
	uint32_t bodies, placements, contacts, shapes, joints;
	uint32_t events; /* of one boundary; of more, the last in their order are dropped, which an
			    EVENT_LIMIT tells */
	uint64_t memory_bytes, shape_bytes;
};

/* Fixed at creation. Everything else is changed by commands. */
struct world_options {
	uint32_t rate_num, rate_den; /* ticks per rate_den seconds; 1 … 10000 per second overall */
	bool planar;
	vec3 gravity;
	uint64_t seed;
	char method[32];
	char broad_phase[16]; /* "tree", "grid", "levels", "sweep"; "": as the method likes it */
	struct world_limits limits;
	struct shape_source shapes;
};
/* 60 Hz, not planar, gravity (0,−9.81,0), seed 1, soft-step and its broad phase, limits 65536 bodies,
 * 131072 placements, 524288 contacts, 16384 shapes, 65536 joints, 1048576 events, 4 GiB, 1 GiB; no
 * shape source. */
struct world_options world_options_default(void);

/* Errors: RANGE (why names the field), UNKNOWN_METHOD, METHOD_REFUSES, UNSUPPORTED (this machine's
 * arithmetic), NO_MEMORY. *out is returned owned. */
MUST_CHECK enum status world_create(const struct world_options *options, struct world **out,
				    struct reason *why);
void world_destroy(struct world *world);
/* From now on shapes are looked for there (after the owner of a world changes). */
void world_set_shape_source(struct world *world, struct shape_source shapes);

/* ---- commands -------------------------------------------------------------------------------- */

enum { BATCH_COMMANDS_MAX = 4096 };
/* WITHDRAW: what waits of the session's restricted batches is taken back before anything else of this
 * call. LET_GO: the drags that the session owns (0: that any does) are removed, in the order of batches.
 * Such batches have no commands and no tick. */
enum late_policy { LATE_NEXT_TICK = 0, LATE_REFUSE = 1, LATE_WITHDRAW = 2, LATE_LET_GO = 3 };

/* Commands that are applied together or not at all. */
struct batch {
	uint32_t session; /* order within a tick is (session, number) */
	uint64_t number;  /* per session and world, ascending */
	uint64_t at;	  /* tick before which to apply; later than the present one: kept */
	uint8_t late;	  /* enum late_policy, when `at` has passed */
	bool restricted;  /* a player: only bodies owned by `session`; SPAWN makes them so */
	struct command *commands; /* borrowed; normalised in place */
	uint32_t count;
};

/* What became of a batch. `value[i]` is the id that command i made, else 0. */
struct batch_result {
	uint32_t session;
	uint64_t number;
	uint64_t tick; /* boundary at which it was applied or refused, or for which it is kept */
	enum status status; /* OK, or of the first command that was refused */
	bool kept;	    /* OK, but nothing was applied: it waits for `tick` */
	uint32_t
		edit; /* of the state it was applied in: (epoch, tick, edit) is the first that has it */
	struct reason why;
	uint32_t value_count;
	uint32_t *values; /* borrowed until the next call that applies */
};

/* Applies batches at the current boundary, in the order (session, number), merged with those that were
 * kept for this tick; each is checked whole before it changes anything. results[i] tells of batches[i]; a
 * batch for a later tick is kept, which its result says, and answered again through
 * world_kept_results when its tick comes. NO_MEMORY: nothing was applied. The tick's first call also
 * applies what was kept for it; world_step does so when there was no call. Calls at one boundary are told
 * apart by `edit` (world_info), and a replay makes the same calls. */
MUST_CHECK enum status world_apply(struct world *world, struct batch *batches, uint32_t count,
				   struct batch_result *results);
/* Results of kept batches applied at this boundary; borrowed until the next world_step. */
const struct batch_result *world_kept_results(const struct world *world, uint32_t *count);
/* Changes, events and results of the boundary have been told: what comes now is told from here on. */
void world_told(struct world *world);

/* A batch that waits for its tick. */
struct pending_batch {
	uint64_t at;
	uint32_t session;
	uint64_t number;
};
/* What waits, in the order in which it will be applied; at most `capacity` of them. Returns how many wait. */
uint32_t world_pending(const struct world *world, struct pending_batch *out, uint32_t capacity);

/* What a session has of a world at this boundary. */
struct world_share {
	uint32_t session;
	uint32_t bodies;  /* that it owns */
	uint32_t pending; /* restricted batches that wait */
};
/* Fills in `count` shares, whose sessions ascend; not 0. */
void world_shares(const struct world *world, struct world_share *shares, uint32_t count);

/* ---- stepping -------------------------------------------------------------------------------- */

/* One tick. LIMIT or NO_MEMORY (why says which): the step was not made, nothing moved, world_stopped()
 * is true until a step succeeds; an EVENT_LIMIT stands in the events. `parallel` is borrowed for the call. */
MUST_CHECK enum status world_step(struct world *world, const struct parallel *parallel,
				  struct reason *why);
bool world_stopped(const struct world *world);

/* Figures of the last step. */
struct world_stats {
	uint32_t bodies, awake, placements, shapes, contacts, touching, points, islands, colours;
	uint32_t manifolds_made, manifolds_kept, iterations, fallbacks, quarantined;
	uint32_t joints;
	uint64_t joints_broken_total;
	double joint_error; /* m (rad counted as metres): the worst of a locked axis as the last step ended */
	/* Of the last step: islands solved by which of two solvers, where a method has two; those
	 * whose impulses are one choice of many. */
	uint32_t islands_dense, islands_sparse, islands_dependent;
	uint64_t fallbacks_total, quarantined_total;
	double residual, penetration_max, penetration_mean;
	/* J: energy that taking penetration out has given to bodies against forces; in the last
	 * step, in all. */
	double push_work, push_work_total;
	uint64_t memory_bytes;
};
struct world_stats world_stats(const struct world *world);
/* Gives back the memory that only steps use, as for a world that stands still from now on. The next step
 * takes it again and makes the same state. */
void world_trim(struct world *world);

/* Events of this boundary: of commands since the last step, or, after it, of those and the step, in
 * their defined order; borrowed until the next world_apply or world_step. */
const struct event *world_events(const struct world *world, uint32_t *count);

/* ---- looking --------------------------------------------------------------------------------- */

/* A state's name and the world's settings. */
/* A state has one name: (epoch, tick, edit). `edit` counts the calls since the last step that applied or
 * kept at least one command, withdrew what waited or let drags go; the step sets it to 0. */
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
/* What has been applied so far, as by a scene, made the world: its first state is (epoch, 0, 0). */
void world_begin(struct world *world);

/* What a client may see of a body. */
struct body_view {
	body_id id;
	uint8_t status; /* enum body_status */
	bool asleep, quarantined;
	uint32_t owner;
	int64_t tag;
	vec3 position; /* of the origin */
	quat rotation;
	vec3 velocity; /* of the mass centre */
	vec3 angular_velocity;
	double mass;
	vec3 centre; /* mass centre, body axes */
	uint32_t placement_count;
};
MUST_CHECK enum status world_body(const struct world *world, body_id id, struct body_view *out);
/* Ids of all bodies, ascending; returns how many there are, writes at most `capacity`. */
uint32_t world_bodies(const struct world *world, body_id *ids, uint32_t capacity);
/* The body's shapes and where they sit, at most `capacity`; returns how many it has, 0 for no body. */
struct placement_view {
	const struct shape *shape; /* borrowed */
	vec3 position;
	quat rotation;
};
uint32_t world_body_placements(const struct world *world, body_id id, struct placement_view *out,
			       uint32_t capacity);

/* What changed in the visible state between the previous boundary and this one (commands and step). Ids
 * ascending; borrowed until the next world_step or world_apply. `moved`: pose, velocity or status;
 * `changed`: owner, tag, flags or placements; a new id is in `created` only. */
struct world_changes {
	const body_id *created, *moved, *changed, *removed;
	uint32_t created_count, moved_count, changed_count, removed_count;
};
struct world_changes world_changes(const struct world *world);

/* ---- joints ---------------------------------------------------------------------------------- */

/* What a client may see of a joint. */
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
	double coordinates[JOINT_AXES];	  /* m, rad; as the bodies stand */
	vec3 anchor_a, anchor_b;	  /* m, world */
	vec3 force; /* N, on b at its anchor, world axes, mean over the last tick it was solved in */
	vec3 torque; /* N·m, on b about its anchor */
};
/* UNKNOWN_JOINT. */
MUST_CHECK enum status world_joint(const struct world *world, joint_id id, struct joint_view *out);
/* Ids of all joints, or (body ≠ 0) of a body's, ascending; returns how many there are, writes at most
 * `capacity`, in no order where that is less. */
uint32_t world_joints(const struct world *world, body_id body, joint_id *ids, uint32_t capacity);
/* How many drags a session owns, or (0) all sessions do. */
uint32_t world_drags(const struct world *world, uint32_t owner);
/* Bodies that joints link with `body`, itself among them, ascending; not through what is not
 * dynamic. 0 for no body. O(linked joints). NO_MEMORY. */
MUST_CHECK enum status world_linked(const struct world *world, body_id body, body_id *ids,
				    uint32_t capacity, uint32_t *count);

/* What holds for one axis, as JOINT_AXIS tells it. */
struct joint_axis_view {
	uint8_t mode, spring, motor, wave;
	double lower, upper, restitution, friction;
	double stiffness, damping, rest, spring_limit;
	double target, motor_limit, amplitude, hertz, phase;
};
MUST_CHECK enum status world_joint_axis(const struct world *world, joint_id id, uint32_t axis,
					struct joint_axis_view *out);

/* What changed of joints between the previous boundary and this one, as world_changes tells of
 * bodies. `moved`: one of its bodies did, or its force; perhaps more than those. `changed`:
 * anything a command sets. */
struct world_joint_changes {
	const joint_id *created, *moved, *changed, *removed;
	uint32_t created_count, moved_count, changed_count, removed_count;
};
/* NO_MEMORY. */
MUST_CHECK enum status world_joint_changes(const struct world *world,
					   struct world_joint_changes *out);

/* ---- hashes ---------------------------------------------------------------------------------- */

/* Of what every client can know: id, status, pose, velocities of all bodies
 * (server/base/body_hash.h). It stays one over bodies whatever else a world holds, so that clients
 * which compare it go on: each further visible kind (joints, frameworks, particles;
 * protocol/columns.def) gets a hash of its own beside it, and the journal keeps both. */
uint64_t world_tick_hash(const struct world *world);
/* Of all tables, but for what holds nothing (fields.def). per_table (may be NULL) receives one
 * hash a table, in the order of fields.def; 0 of one that is left out. */
enum { WORLD_TABLES_MAX = 64 };
uint64_t world_state_hash(const struct world *world, uint64_t per_table[WORLD_TABLES_MAX],
			  uint32_t *table_count);
const char *world_table_name(uint32_t table);

/* ---- snapshots ------------------------------------------------------------------------------- */

/* Appends the world's image. Field by field, little-endian, no padding, no pointers. */
MUST_CHECK enum status world_save(const struct world *world, struct bytes *out);
/* Makes a world from an image (FORK, recovery). CORRUPT, VERSION (of a later build),
 * UNKNOWN_SHAPE (why names it), METHOD_REFUSES (the method in force does not take what is
 * there), NO_MEMORY. */
MUST_CHECK enum status world_load(const uint8_t *data, size_t bytes, struct shape_source shapes,
				  struct world **out, struct reason *why);
/* Puts the image's state in place of the world's; on failure nothing changed. The epoch is kept; changes
 * and events are empty after. As world_load, and RANGE for an image of another rate or of planar
 * against spatial. */
MUST_CHECK enum status world_restore(struct world *world, const uint8_t *data, size_t bytes,
				     struct reason *why);
/* OK when two images hold the same state (the epoch apart); DIVERGED with the first difference, for
 * people: table, row (and body id), column, both values. CORRUPT, VERSION, NO_MEMORY. */
MUST_CHECK enum status world_image_difference(const uint8_t *a, size_t a_bytes, const uint8_t *b,
					      size_t b_bytes, struct reason *difference);

/* What an image says of itself. */
struct image_about {
	uint32_t version;	       /* of its form */
	struct motion_numbers numbers; /* of the build that wrote it */
	uint64_t tick;
	uint16_t method; /* in force; its permanent number */
	/* What was told of it when it was saved: over its own bytes, by the rule of its version. */
	uint64_t saved_hash, saved_hashes[WORLD_TABLES_MAX];
	/* world_state_hash of a world loaded from it, by this build's rule. */
	uint64_t state_hash, hashes[WORLD_TABLES_MAX];
	uint32_t table_count; /* of the image */
};
/* CORRUPT, VERSION, NO_MEMORY. Invariants are not looked at. */
MUST_CHECK enum status world_image_about(const uint8_t *data, size_t bytes, struct image_about *out,
					 struct reason *why);

/* The first part of it alone, without looking further. CORRUPT, VERSION. */
MUST_CHECK enum status world_image_numbers(const uint8_t *data, size_t bytes,
					   struct motion_numbers *out, struct reason *why);

/* Names of the shapes an image needs: at most `capacity` are written; returns how many there are. */
uint32_t world_image_shapes(const uint8_t *data, size_t bytes, struct name32 *names,
			    uint32_t capacity);

/* The limit `memory_max` of an image's world, from its first bytes alone: false where they do not hold it. */
bool world_image_memory_max(const uint8_t *head, size_t bytes, uint64_t *out);

/* Makes every derived cache anew (trees, indexes, free rows). Must not change any hash, now or later. */
MUST_CHECK enum status world_rebuild_caches(struct world *world);
/* The slow check of every invariant of the tables; CORRUPT with the broken one in `why`. */
MUST_CHECK enum status world_check(const struct world *world, struct reason *why);

/* ---- queries --------------------------------------------------------------------------------- */

struct query_filter {
	uint32_t category, mask; /* as a body's */
	body_id ignore;
};
/* The placed shapes whose boxes in the broad phase meet `box`, walls apart, in the order (body, placement);
 * *count is how many there are. Shapes are borrowed: whoever keeps the list beyond the next world_apply
 * retains them. Answers to the questions of collision/placed.h are exact as long as `box` holds all they
 * reach. LIMIT: there are more than `capacity`, and what was written is no list. NO_MEMORY. */
MUST_CHECK enum status world_near(const struct world *world, const struct aabb *box,
				  struct query_filter filter, struct placed_shape *out,
				  uint32_t capacity, uint32_t *count);
/* The same of those whose boxes a ray meets that goes from `origin` along `way`. */
MUST_CHECK enum status world_near_ray(const struct world *world, vec3 origin, vec3 way,
				      struct query_filter filter, struct placed_shape *out,
				      uint32_t capacity, uint32_t *count);
/* placed_ray and placed_overlap on such a list: `direction` of any size, RANGE, NOT_FINITE and NO_MEMORY
 * through `status` (may be NULL). */
uint32_t world_ray(const struct world *world, vec3 origin, vec3 direction, double length,
		   struct query_filter filter, struct ray_hit *hits, uint32_t capacity,
		   enum status *status);
uint32_t world_overlap(const struct world *world, const struct shape *shape, vec3 position,
		       quat rotation, struct query_filter filter, body_id *ids, uint32_t capacity,
		       enum status *status);

/* All of one body's, in order. */
uint32_t world_placed(const struct world *world, body_id body, struct placed_shape *out,
		      uint32_t capacity);

/* Mass properties of a body, or (0) of all dynamic bodies together, as they stand. */
struct mass_view {
	double mass;  /* kg */
	vec3 centre;  /* world, m */
	mat3 inertia; /* about the centre, world axes, kg m² */
	vec3 moments; /* principal, largest first */
	quat axes;    /* principal axes → world */
	double radius; /* m: of the sphere about the centre that holds the body however it turns; of all: 0 */
	uint32_t bodies;
};
/* UNKNOWN_BODY. A body without mass has 0 of all but radius and bodies. */
MUST_CHECK enum status world_mass(const struct world *world, body_id body, struct mass_view *out);

/* A contact point with what it carried in the last tick. */
struct contact_view {
	body_id a, b;
	uint32_t child_a, child_b;
	vec3 point, normal;    /* world, a → b */
	double separation;     /* m */
	double normal_impulse; /* N·s over the last tick */
	vec3 friction_impulse; /* N·s on b, of the whole manifold, given with its first point */
};
/* Points of contacts of `body` (0: of all), by (a, b, children, point). */
uint32_t world_contacts(const struct world *world, body_id body, struct contact_view *out,
			uint32_t capacity);

/* Points of the contacts that `body` holds: those of a dynamic one with what is not dynamic, and with dynamic
 * ones made before it. As above, but with the holder as b (so `a` is the other), by (a, child_b, child_a,
 * point). *count is how many there are, of which at most `capacity` are written. NO_MEMORY. */
MUST_CHECK enum status world_held_contacts(const struct world *world, body_id body,
					   struct contact_view *out, uint32_t capacity,
					   uint32_t *count);
/* Bodies whose contacts may be others than when the boundary opened: who was awake before or after its
 * step, was changed by a command or has lost contact points; and who holds contacts with them, asleep
 * itself. In no particular order, some more than once; returns how many there are. */
uint32_t world_stirred(const struct world *world, body_id *out, uint32_t capacity);

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
/* Other names of methods, from their sources. Taken wherever a method is named; what such a name
 * sets beside the method stays when another is chosen. */
struct method_name {
	const char *name, *method;
	const char *parameter; /* set with it, or NULL */
	double value;
};
uint32_t world_method_names(struct method_name *out, uint32_t capacity);
/* Whether the world could switch to it now. */
MUST_CHECK enum status world_supports(const struct world *world, const char *method,
				      struct reason *why);

/* The parameters of parameters.def. */
struct parameter_info {
	uint32_t number; /* permanent */
	const char *name, *unit, *doc;
	const char *methods; /* names of those that read it, a blank between */
	const char *old;     /* a name that it had, taken for good; NULL: it never had another */
	double initial, min, max;
	bool whole; /* a count or a switch: integers only */
};
uint32_t world_parameters(struct parameter_info *out, uint32_t capacity);
/* By name, of today or an old one; NaN when there is none. */
double world_parameter(const struct world *world, const char *name);

#endif
