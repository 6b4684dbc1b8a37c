/* types.h: ids, enumerations, definitions with defaults and events: the values that cross the door.
 *
 * Ids are 32-bit, one sequence per kind, monotone within a world epoch; 0 is null and never given out.
 * SI units, right-handed, y up. A state is named (world, epoch, tick).
 */
#ifndef CAIRN_ENGINE_TYPES_H
#define CAIRN_ENGINE_TYPES_H

#include "server/base/status.h"
#include "server/engine/math/pose.h"
#include "server/engine/math/quat.h"
#include "server/engine/math/vec3.h"

typedef uint32_t body_id;
typedef uint32_t shape_id;

/* The body that carries the walls of BOUNDS_WALLS: static, in the body table while there are walls, in
 * contacts and their events, nowhere else. Its contacts are not filtered. No command may name it. */
#define BODY_WALLS UINT32_MAX

enum body_status {
	BODY_INACTIVE = 0, /* keeps its place and state, takes part in nothing */
	BODY_STATIC = 1,   /* never moves */
	BODY_DYNAMIC = 2,  /* moved by forces and contacts */
	BODY_ANIMATED = 3, /* moves at its given velocity; others feel it, it feels nothing */
};

/* How two materials make one. */
enum combine_rule {
	COMBINE_AVERAGE = 0,
	COMBINE_MINIMUM = 1,
	COMBINE_MULTIPLY = 2,
	COMBINE_MAXIMUM = 3,
	COMBINE_GEOMETRIC = 4, /* square root of the product */
};

/* What leaving the world's bounds means. */
enum bounds_mode {
	BOUNDS_NONE = 0,
	BOUNDS_INACTIVE = 1, /* a body whose mass centre leaves becomes inactive, with an event */
	BOUNDS_WALLS = 2,    /* six planes; every shape collides with them from inside */
};

/* Bounds on every magnitude that may come in. Beyond them double arithmetic would still work, but
 * squares and products of a step could leave the finite numbers, and a millimetre would be lost. */
#define LENGTH_MAX 1e6		 /* m, world coordinates */
#define SPEED_MAX 1e4		 /* m/s */
#define ANGULAR_SPEED_MAX 1e4	 /* rad/s */
#define MASS_MIN 1e-6		 /* kg */
#define MASS_MAX 1e9		 /* kg */
#define DENSITY_MIN 1e-3	 /* kg/m³ */
#define DENSITY_MAX 1e6		 /* kg/m³ */
#define FORCE_MAX 1e12		 /* N and N·m */
#define IMPULSE_MAX 1e12	 /* N·s and N·m·s */
#define GRAVITY_MAX 1e4		 /* m/s² */
#define FRICTION_MAX 10.0	 /* 1 */
#define DAMPING_MAX 1e3		 /* 1/s */
#define INTEGER_MAX 9007199254740991.0 /* 2^53 − 1: what every client's numbers can hold */

/* Flags of a body. */
enum {
	BODY_MAY_SLEEP = 1u << 0,
	BODY_FIXED_ROTATION = 1u << 1, /* infinite moment of inertia */
};

/* A shape placed on a body by SPAWN. `shape` is a shape id, or −k for the k-th command's result. */
struct attachment {
	int64_t shape;
	vec3 position;
	quat rotation;
};
enum { ATTACHMENTS_MAX = 64 }; /* shapes of one body */

enum event_kind {
	EVENT_CONTACT_BEGIN = 1, /* a, b; point, normal a → b; value = normal impulse of the tick, N·s */
	EVENT_CONTACT_END = 2,	 /* bodies a, b */
	EVENT_SLEEP = 3,	 /* body a */
	EVENT_WAKE = 4,		 /* body a */
	EVENT_OUT_OF_BOUNDS = 5, /* body a; point = its mass centre */
	EVENT_QUARANTINE = 6,	 /* body a: a non-finite number was about to be stored */
	EVENT_FALLBACK = 7,	 /* value = times the method took its plan B this tick */
	/* value = the limit. fraction 0: the step was not made, the world pauses; 1: it was made,
	 * and `child_a` events over the limit of events were dropped */
	EVENT_LIMIT = 8,
	EVENT_JOINT_BREAK = 9,	 /* reserved */
	EVENT_BIRTHS = 10,	 /* reserved: particles */
	EVENT_DEATHS = 11,	 /* reserved: particles */
};

/* Events of a tick come in this order: by kind, then a, then b, then child a, then
 * child b. */
struct event {
	uint8_t kind;
	body_id a, b; /* 0 where there is none */
	uint32_t child_a, child_b; /* of a contact: which piece of each body's shape, e.g. a mesh's
				      triangle */
	double fraction; /* of the tick at which it happened, 0 … 1; 1 where the method has no finer time */
	vec3 point, normal;
	double value;
};

#endif
