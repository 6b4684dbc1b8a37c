/* types.h: ids, enumerations, definitions with defaults and events: the values that engine.h passes
 * in and out.
 *
 * Ids are 32-bit, one sequence per kind, monotone within a world epoch; 0 is null and never given
 * out. SI units, right-handed, y up. A state is named (world, epoch, tick).
 * */
#ifndef CAIRN_ENGINE_TYPES_H
#define CAIRN_ENGINE_TYPES_H

#include "server/base/status.h"
#include "server/engine/math/pose.h"
#include "server/engine/math/quat.h"
#include "server/engine/math/vec3.h"

typedef uint32_t body_id;
typedef uint32_t shape_id;
typedef uint32_t joint_id;
typedef uint32_t field_id;
typedef uint32_t system_id;

/* The body that carries the walls of BOUNDS_WALLS: static, in the body table while there are
 * walls, in contacts and their events, nowhere else. Its contacts are not filtered. No command
 * may name it. */
#define BODY_WALLS UINT32_MAX

enum body_status {
	BODY_INACTIVE = 0, /* stored, but takes no part in steps */
	BODY_STATIC = 1,   /* never moves */
	BODY_DYNAMIC = 2,  /* moved by forces and contacts */
	BODY_ANIMATED = 3, /* moves at its given velocity; acts on others and is not acted on */
};

/* How the values of two materials are combined. */
enum combine_rule {
	COMBINE_AVERAGE = 0,
	COMBINE_MINIMUM = 1,
	COMBINE_MULTIPLY = 2,
	COMBINE_MAXIMUM = 3,
	COMBINE_GEOMETRIC = 4, /* square root of the product */
};

/* The effect of the world's bounds on a body that leaves them. */
enum bounds_mode {
	BOUNDS_NONE = 0,
	BOUNDS_INACTIVE = 1, /* a body whose mass centre leaves becomes inactive, with an event */
	BOUNDS_WALLS = 2,    /* six planes; every shape collides with them from inside */
};

/* Limits of every magnitude in commands. Beyond them squares and products in a step could
 * overflow, and positions would lose the millimetre: a double at 1e6 m resolves 1e-10 m. */
#define LENGTH_MAX 1e6		       /* m, world coordinates */
#define SPEED_MAX 1e4		       /* m/s */
#define ANGULAR_SPEED_MAX 1e4	       /* rad/s */
#define MASS_MIN 1e-12		       /* kg */
#define MASS_MAX 1e9		       /* kg */
#define DENSITY_MIN 1e-3	       /* kg/m³ */
#define DENSITY_MAX 1e6		       /* kg/m³ */
#define FORCE_MAX 1e12		       /* N and N·m */
#define IMPULSE_MAX 1e12	       /* N·s and N·m·s */
#define GRAVITY_MAX 1e4		       /* m/s² */
#define FRICTION_MAX 10.0	       /* 1 */
#define ROLLING_MAX 1e3		       /* m */
#define TOLERANCE_MAX 1.0	       /* m */
#define GRAVITY_SCALE_MAX 1e3	       /* 1 */
#define MOVER_STEP_MAX 100.0	       /* m */
#define MOVER_SLOPE_MAX 1.5	       /* rad: at π/2 a wall would be ground */
#define INERTIA_MAX 1e18	       /* kg m² */
#define DAMPING_MAX 1e3		       /* 1/s */
#define STIFFNESS_MAX 1e12	       /* N/m, N·m/rad, and N·s/m, N·m·s/rad of its damping */
#define JOINT_HERTZ_MAX 1e4	       /* 1/s */
#define GEAR_RATIO_MAX 1e6	       /* m, rad of the follower for one of its leader */
#define TURNS_MAX 1e6		       /* rad: largest angle that a command may set for a joint */
#define INTEGER_MAX 9007199254740991.0 /* 2^53 − 1: what every client's numbers can hold */

/* Flags of a body. */
enum {
	BODY_MAY_SLEEP = 1u << 0,
	BODY_FIXED_ROTATION = 1u << 1, /* infinite moment of inertia */
	BODY_FAST = 1u << 2,   /* when it is fast it does not pass through dynamic bodies either */
	BODY_SENSOR = 1u << 3, /* it has no contacts, and tells which bodies it overlaps */
	/* Set by commands, not by SPAWN's flags: */
	BODY_SCALED = 1u << 4,	/* gravity acts with the factor gravity_scale */
	BODY_LIMITED = 1u << 5, /* it has a greatest speed or angular speed of its own */
	BODY_AIMED = 1u << 6,	/* animated: its velocity takes it to a target in the next tick */
	BODY_ARRIVES = 1u << 7, /* that tick has been made: without a new target it stops */
};

/* A body's colour is 0xRRGGBB plus this; 0: it has none. */
enum { COLOUR_GIVEN = 1 << 24 };

/* Where SPAWN's mass properties come from. */
enum mass_rule {
	MASS_OF_SHAPES = 0,
	MASS_WITH_CENTRE = 1, /* the centre is given */
	MASS_GIVEN = 2,	      /* centre and moments of inertia are given */
};

/* Whether a command changes a flag. */
enum command_switch { SWITCH_KEEP = 0, SWITCH_OFF = 1, SWITCH_ON = 2 };

/* How method impact integrates the motion of a body. */
enum body_integrator {
	INTEGRATOR_AUTOMATIC =
		0, /* exact without contact, else second order; springs are implicit */
	INTEGRATOR_EULER = 1,
	INTEGRATOR_IMPLICIT_EULER = 2,
	INTEGRATOR_RK2 = 3,
	INTEGRATOR_RK4 = 4,
	INTEGRATOR_RK45 = 5, /* Dormand and Prince's pair of orders 5 and 4 */
};
enum { INTEGRATORS_END = 6, SUBSTEPS_MAX = 1024 };

/* What method impact counts, in the order of its documentation: X(name, NAME, text). */
#define IMPACT_COUNTS(X)                                                                           \
	X(events, EVENTS, "Collisions and arrivals at limits within ticks.")                       \
	X(groups, GROUPS, "Sets of these that were resolved together.")                            \
	X(inelastic, INELASTIC, "Collisions that lost their restitution, beyond impact.rounds.")   \
	X(settled, SETTLED, "Bodies that had twice as many events.")                               \
	X(unresolved, UNRESOLVED, "Searches for a time of collision without an answer.")           \
	X(dead_ends, DEAD_ENDS, "Sliding contacts without consistent accelerations.")              \
	X(substeps, SUBSTEPS, "Parts of ticks that ended before the tick's end.")                  \
	X(redone, REDONE, "Parts of ticks that were done again, shorter.")                         \
	X(forced, FORCED, "Parts over their tolerance that could not be shorter.")                 \
	X(rejected, REJECTED, "Motions for which the body's integrator was replaced.")             \
	X(met_parts, MET_PARTS, "Collisions of a part of a solid in convex parts.")                \
	X(met_fields, MET_FIELDS, "Collisions with the distance field of a solid.")                \
	X(overlaps, OVERLAPS, "Pairs that overlapped by over 1 mm as a tick began.")               \
	X(met_regions, MET_REGIONS, "Regions in which solids were deep as a tick began.")          \
	X(regions_left, REGIONS_LEFT, "Deep solids whose regions could not be found.")             \
	X(met_depths, MET_DEPTHS, "Collisions with fields at a path's beginning, by depth.")
#define IMPACT_COUNT_MEMBER(name, NAME, text) uint64_t name;
struct impact_figures {
	IMPACT_COUNTS(IMPACT_COUNT_MEMBER)
};
#define IMPACT_COUNT_NUMBER(name, NAME, text) IMPACT_COUNT_##NAME,
enum impact_count { IMPACT_COUNTS(IMPACT_COUNT_NUMBER) IMPACT_COUNTS_END };

/* A shape placed on a body by SPAWN. `shape` is a shape id, or −k for the k-th command's result. */
struct attachment {
	int64_t shape;
	vec3 position;
	quat rotation;
};
enum { ATTACHMENTS_MAX = 64 }; /* shapes of one body */
enum { VISUALS_MAX = 64 };     /* visuals of one body */
enum { LABEL_BYTES = 32 };     /* of a name of a body or joint, with its zero */
/* Of one question about the dynamics of robots: the largest force or acceleration of an axis; robots; axes
 * and links, each; rows of loops. */
#define ROBOT_VALUE_MAX 1e15
enum { ROBOT_DYNAMICS_MAX = 1024, ROBOT_DYNAMICS_AXES = 8192, ROBOT_DYNAMICS_ROWS = 1024 };

/* What a piece of a body, that is one of its shapes, has of its own (bits). The rest it has from
 * the body. */
enum piece_own {
	OWN_MATERIAL = 1 << 0, /* frictions, restitution and their rules */
	OWN_FILTER = 1 << 1,   /* category, mask, group */
	OWN_SENSOR = 1 << 2,   /* whether it is a sensor */
	OWN_SURFACE = 1 << 3,  /* surface_velocity */
	OWN_DENSITY = 1 << 4,
	OWN_ALL = 31,
	OWN_OF_PATCH = OWN_MATERIAL | OWN_SURFACE,
};
/* Numbers of triangles of a mesh, by which they have materials, are below. 0: those of the
 * piece. */
enum { PATCHES_END = 65 };

/* The type of a joint determines which of its six axes are locked, and how its coordinates are
 * measured.
 *
 * A joint has a frame on each of two bodies (one of them may be the world). Axes 0, 1, 2 are the
 * x, y and z components of the vector from a's anchor to b's, in the frame on a, m. Axes 3, 4, 5
 * are the angles that turn a's frame into b's, rad, about x, then y, then z (R = Rx Ry Rz),
 * unless the type defines other ones. */
enum joint_type {
	JOINT_SPHERICAL = 1,   /* no axis slides; 3: twist about x, 4: swing, the angle between the
				  frames' x axes, which has an upper limit only, and whose friction
				  acts whichever way it swings; 5 is not used */
	JOINT_REVOLUTE = 2,    /* 3 is free: about x */
	JOINT_PRISMATIC = 3,   /* 0 is free: along x */
	JOINT_CYLINDRICAL = 4, /* 0 and 3 are free: along and about x */
	JOINT_UNIVERSAL = 5,   /* 3 and 4 are free: about x of a, and about y of b */
	JOINT_FIXED = 6,       /* none is free */
	JOINT_DISTANCE = 7, /* 0: the distance of the anchors, m; locked at `rest` (a rod), limited
				  (a rope), or free with a spring; the others are not used */
	JOINT_SIX_DOF =
		8, /* each axis as JOINT_AXIS sets it; locked at first. Where 5 is locked at 0 and 4
				  is not: about x, then z, then y (R = Rx Rz Ry). Where 3 is locked
				  at 0, 4 and 5 are not: about y, then x, then z (R = Ry Rx Rz) */
	JOINT_WHEEL = 9, /* x points up; free are 0 the suspension, 3 the steering, 5 the
				  rotation of the wheel about its axle z */
	JOINT_DRAG =
		10, /* body a is the world: 0, 1, 2 are springs to a point that commands move */
};
enum { JOINT_AXES = 6, JOINT_TYPES_END = 11 };

enum joint_mode {
	JOINT_FREE = 0,
	JOINT_LOCKED = 1,  /* at 0; of a distance at `rest` */
	JOINT_LIMITED = 2, /* lower ≤ coordinate ≤ upper */
};
enum joint_spring {
	JOINT_SPRING_NONE = 0,
	JOINT_SPRING_STIFFNESS = 1, /* stiffness N/m (N·m/rad), damping N·s/m (N·m·s/rad) */
	JOINT_SPRING_HERTZ =
		2, /* stiffness: Hz, damping: ratio; of the mass that the joint's locked axes
				       leave free to move along the axis */
};
enum joint_motor {
	JOINT_MOTOR_NONE = 0,
	/* Without gains they hold their targets as far as their limits allow; with gains they are
	 * servos: forces by what is missing to the target. */
	JOINT_MOTOR_VELOCITY = 1, /* the rate of the coordinate, m/s (rad/s); gain: damping */
	JOINT_MOTOR_POSITION = 2, /* the coordinate, m (rad); gains: stiffness and damping */
	JOINT_MOTOR_FORCE = 3,	  /* none: its target is the force that it exerts, N (N·m) */
};
/* The target of a motor as a function of the time since it was set. */
enum joint_wave {
	JOINT_WAVE_CONSTANT = 0,
	JOINT_WAVE_SINE = 1,  /* target + amplitude sin(2π hertz t + phase) */
	JOINT_WAVE_TABLE = 2, /* linear interpolation of the points of JOINT_TABLE */
};

/* Flags of a joint. */
enum {
	JOINT_BODIES_PASS = 1u << 0, /* its two bodies do not collide with each other */
};

/* One target of JOINT_TARGETS: `joint` is an id, or −k for the k-th command's result. */
struct joint_target {
	int64_t joint;
	uint8_t axis;
	double value;
};
enum { JOINT_TARGETS_MAX = 2048 }; /* of one command, so that it fits into a frame */
/* A point of a motor's table. */
struct joint_point {
	double time; /* s since the table was set */
	double value;
};
enum { JOINT_POINTS_MAX = 256 }; /* of one axis */

/* A force field acts on dynamic bodies whose mass centre is in its region. Vectors are in the
 * field's axes, d is the vector from its centre to the mass centre, w the weight that its
 * fall-off gives there. */
enum field_kind {
	FIELD_WIND = 1, /* w × strength */
	FIELD_VORTEX =
		2, /* about the field's y axis (in a planar world z): w × (x of strength around it,
				y along it, z towards it) */
	FIELD_ATTRACTOR =
		3, /* towards the centre, w × x of strength × |d| / (d² + core²)^((power + 1) / 2);
				negative: away from it */
	FIELD_DRAG = 4, /* −w (linear + quadratic |u|) u, u: velocity relative to the medium's, and
				−w angular × inertia × angular velocity; both at most what stops that motion
				within the time for which the force is held */
	FIELD_FLUID =
		5, /* a liquid at rest or in steady flow, below the plane through its centre (of a
				box: through its top) across the field's y axis; −density × submerged
				volume × gravity at the centre of that part, and a drag with w the submerged
				part of the volume */
	FIELD_MUTUAL =
		6, /* every two dynamic bodies attract each other as by an attractor, with d between
				their mass centres and w that of a ball of this radius around either; with
				FIELD_PER_MASS times both masses, strength in N/kg². `pile` alone has it */
};
enum field_region {
	FIELD_EVERYWHERE = 0,
	FIELD_BALL = 1, /* radius: x of the half size */
	FIELD_BOX = 2,	/* half sizes along the field's axes */
};
enum field_falloff {
	FIELD_CONSTANT = 0, /* 1 */
	FIELD_LINEAR =
		1, /* ball: 1 − |d| / radius; box: the product of 1 − |dᵢ| / halfᵢ; 0 at the border */
	FIELD_COMPONENTS =
		2, /* wind in a box: each component has its own factor 1 − |dᵢ| / halfᵢ */
};
/* Flags of a force field. */
enum {
	FIELD_PER_MASS = 1u << 0, /* strengths are m/s² in place of N; linear 1/s, quadratic 1/m */
};
/* m: least core of an attractor, so that its force stays finite. */
#define FIELD_CORE_MIN 1e-3
enum { FIELDS_MAX = 256 }; /* of one world: each is compared with each awake body in each tick */

/* Where a particle system's particles are born, and in which direction they fly. */
enum emitter_kind {
	EMITTER_NONE = 0, /* only PARTICLES_ADD makes particles */
	EMITTER_POINT = 1,
	EMITTER_PLANAR = 2, /* a square grid across y, with cells of two largest diameters */
	EMITTER_BOX = 3,    /* anywhere on the surface of a box, along its normal */
	EMITTER_SPHERE = 4, /* on a sphere, one in each of as many equal cells, along the radius */
	EMITTER_BODY = 5, /* anywhere on the shapes of the body that carries it, along the normal */
};
/* Which particles those of a system act on: a pair of systems, if both say so. */
enum interact {
	INTERACT_NONE = 0,
	INTERACT_INTERNAL = 1, /* on those of the same system */
	INTERACT_EXTERNAL = 2, /* on those of other systems */
	INTERACT_BOTH = 3,
};
/* What a link of particles keeps. */
enum link_kind {
	LINK_ROD = 0,	 /* the distance of two */
	LINK_ROPE = 1,	 /* that they are not farther apart */
	LINK_VOLUME = 2, /* the volume of the tetrahedron of four */
};
/* What a sink takes. */
enum sink_region {
	SINK_NONE = 0, /* there is no sink */
	SINK_BALL = 1,
	SINK_BOX = 2,
	SINK_BODY = 3, /* what is nearer to a body than its radius */
};
/* When linked particles meet bodies. */
enum particle_contacts {
	CONTACTS_AFTER = 0,  /* once a tick, after the sub-steps */
	CONTACTS_WITHIN = 1, /* in each sub-step; they move before the bodies do */
};
/* Which links a lattice gets; bits. */
enum lattice_links {
	LATTICE_EDGES = 1u << 0,
	LATTICE_DIAGONALS = 1u << 1, /* of faces: against shear */
	LATTICE_SECONDS = 1u << 2,   /* from a particle to the next but one: against bending */
	LATTICE_VOLUMES = 1u << 3,   /* five tetrahedra a cell */
};
enum {
	LINK_ENDS = 4,
	PARTICLE_LINKS_MAX = 1048576, /* of one world */
	LATTICE_SIDE_MAX = 4096,
};
#define LINK_COMPLIANCE_MAX 1e6 /* m/N */
/* How the pressure of a fluid is found (fluids/fluid.h). */
enum fluid_solver {
	FLUID_EXPLICIT = 0,	  /* from an equation of state, in small sub-steps */
	FLUID_INCOMPRESSIBLE = 1, /* such that the density stays, by iteration */
};
#define FLUID_RADIUS_MIN 1e-3 /* m: smaller cells would have coordinates beyond 53 bits */
#define FLUID_RADIUS_MAX 1e3
#define FLUID_DENSITY_MIN 1e-3 /* kg/m³ */
#define FLUID_DENSITY_MAX 1e5
#define FLUID_VISCOSITY_MAX 1e6 /* Pa s */
#define FLUID_TENSION_MAX 1e3	/* N/m */
#define FLUID_TOLERANCE_MIN 1e-8
#define FLUID_TOLERANCE_MAX 0.1
#define FLUID_COMPRESSION_MIN 1e-4
#define FLUID_STIFFNESS_MAX 1e8 /* m²/s² */
#define FLUID_RATIO_MIN 0.01
enum { FLUID_SUBSTEPS_MAX = 1024 };
#define LINK_TEAR_MAX 1e3
/* Limits of particles. One that is lighter or smaller gives impulses or contacts below rounding. */
#define PARTICLE_SIZE_MIN 1e-4 /* m */
#define PARTICLE_SIZE_MAX 100.0
#define PARTICLE_MASS_MIN 1e-9 /* kg */
#define PARTICLE_LIFE_MAX 1e6  /* s */
#define PARTICLE_SPREAD_MAX 3.141592653589793
#define PARTICLE_CORE_MIN 1e-6	      /* m: forces between particles stay finite */
#define PARTICLE_CORE 1e-3	      /* m: without another one */
#define PARTICLE_CUTOFF_MAX 1e5	      /* m */
#define PARTICLE_CHARGE_MAX 1e3	      /* C */
#define PARTICLE_GRAVITATION_MAX 1e12 /* m³/(kg s²) */
#define PARTICLE_DAMPING_RATIO_MAX 10.0
#define STRETCH_LIMIT_MIN 0.001	 /* of links of a system, if they have a limit */
#define PARTICLE_SHARE_MAX 100.0 /* of a parent's velocity, size, life */
enum {
	PARTICLES_MAX = 1048576, /* of one world: the sum of the capacities of its systems */
	SYSTEMS_MAX = 64,	 /* of one world */
	PARTICLE_COLOURS_MAX = 8,
	PARTICLE_MEETINGS_MAX = 8, /* other systems that one meets */
	PARTICLE_SINKS_MAX = 16,   /* of one system */
	PARTICLE_SUBSTEPS_MAX = 64,
	PARTICLE_CHILDREN_MAX = 4096,	/* of one split */
	PARTICLE_GENERATIONS_MAX = 255, /* generation has one byte */
	PARTICLE_HITS_MAX = 8,		/* of one particle in a tick; then its path ends */
};

/* Whether bodies stand (statics/stability.h). */
enum stability_verdict {
	STABILITY_FALLS = 0,
	STABILITY_STANDS = 1,
	STABILITY_MAY_STAND = 2,
	STABILITY_UNDECIDED = 3,
	STABILITY_VERDICTS = 4,
};

enum stability_margin {
	STABILITY_NO_MARGIN = 0,
	STABILITY_LOAD = 1, /* N, along gravity, on the mass centre of a body */
	STABILITY_PUSH = 2, /* N, along a direction, on the mass centre of a body */
	STABILITY_TILT = 3, /* 1, the tangent of the angle: gravity g becomes g + s |g| direction */
	STABILITY_MARGINS = 4,
};

/* Which forces are given. */
enum stability_law {
	STABILITY_SETTLED = 0, /* those that build up over equally stiff contacts */
	STABILITY_COULOMB = 1, /* of the initial fall, friction consistent with the slip */
	STABILITY_ASSOCIATIVE =
		2, /* of the initial fall, or as found: contacts open as they slide */
};

/* What is known of a contact force (ch. 4 K3). All solutions that move the bodies alike are equally
 * right; a method finds one of them. */
enum force_known {
	FORCE_AS_FOUND,	      /* not unique: the one that the method found */
	FORCE_UNIQUE,	      /* every solution has this one */
	FORCE_NOT_DETERMINED, /* as the method found it; its island is too large to examine */
	FORCE_LEAST_NORM,     /* not unique: that of the solution of least norm */
	FORCE_KNOWN_KINDS,
};

/* Flags of a mover after the last tick. */
enum {
	MOVER_ON_GROUND = 1u << 0,
	MOVER_BLOCKED = 1u << 1,  /* it went less than half of its wish */
	MOVER_SQUEEZED = 1u << 2, /* it overlaps something, and no free way leads out: it stayed */
	MOVER_PUSHES = 1u << 3,	  /* it pushed a dynamic body */
	MOVER_RESTS = 1u << 4,	  /* it stands on ground that does not move, without a wish */
};

enum event_kind {
	EVENT_CONTACT_BEGIN =
		1, /* a, b; point, normal a → b; value = normal impulse of the tick, N·s */
	EVENT_CONTACT_END = 2,	 /* bodies a, b */
	EVENT_SLEEP = 3,	 /* body a */
	EVENT_WAKE = 4,		 /* body a */
	EVENT_OUT_OF_BOUNDS = 5, /* body a; point = its mass centre */
	EVENT_QUARANTINE =
		6, /* body a: its new state was not finite or too far away; it is inactive */
	EVENT_FALLBACK = 7, /* value = number of times the method used its fallback this tick */
	/* value = the limit. fraction 0: no step was made, and the world pauses; 1: the step was
	 * made, and `child_a` events over the limit of events were dropped */
	EVENT_LIMIT = 8,
	/* joint `child_a` of bodies a and b (0: the world) broke and was removed; point: its
	 * anchor; value: load / limit, above 1 */
	EVENT_JOINT_BREAK = 9,
	EVENT_BIRTHS = 10, /* reserved: particles */
	EVENT_DEATHS = 11, /* reserved: particles */
	/* Sensor a began to overlap body b in this tick; fraction 1: it does at the tick's end.
	 * Where b has crossed it within the tick, both events have the fraction at which their
	 * surfaces met. */
	EVENT_SENSOR_BEGIN = 12,
	EVENT_SENSOR_END =
		13, /* sensor a does not overlap body b any more, or one of them is gone */
	/* Bodies a < b met faster than the parameter hit.speed: `speed` is that of their fastest
	 * pieces, `point`, `normal` a → b and the children are theirs; value = sum of the normal
	 * impulses between the bodies in this tick, N·s */
	EVENT_HIT = 14,
	EVENT_SQUEEZED =
		15, /* mover a found no place in this tick, for the first time; point: where it is */
	/* A link of particles tore and was removed. child_a: its system, child_b: serial number
	 * of its first particle, which is at `point`; value: elongation / limit, above 1 */
	EVENT_LINK_TORN = 16,
};

/* Events of a tick are sorted by kind, then a, then b, then child a, then child b. */
struct event {
	uint8_t kind;
	body_id a, b;		   /* 0 where there is none */
	uint32_t child_a, child_b; /* of a contact: piece of each body's shape, such as a mesh's
				      triangle */
	double fraction; /* of the tick at which it happened, 0 … 1; 1 if the method does not resolve it */
	vec3 point, normal;
	double value;
	double speed; /* m/s, of a hit; 0 else */
};

#endif
