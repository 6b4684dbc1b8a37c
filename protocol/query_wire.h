/* query_wire.h: questions about a state and their answers.
 *
 *   QUERY.query
 *     RAY       [1, origin, direction, length, limit = 1, category, mask, ignore = 0]
 *     OVERLAP   [2, shape, position, rotation = identity, limit = 1024, category, mask, ignore = 0]
 *     CONTACTS  [3, body = 0, limit = 1024]
 *     TOTALS    [4]
 *     BODY      [5, body]
 *     GEOMETRY  [6, name, part = 0]
 *     CAST      [7, shape, position, way, rotation = identity, limit = 1, category, mask, ignore = 0]
 *     CLOSEST   [8, body, other = 0, reach = 1000]
 *     MASS      [9, body = 0]
 *     MOVE      [10, shape, position, way, rotation = identity, iterations = 4, slope = 0.7, step = 0,
 *                skin = 0.001, category, mask, ignore = 0]
 *     REGIONS   [11, body, other, limit = 64]
 *   ANSWER.answer
 *     RAY       [[body, placement, child, fraction, point, normal], …], nearest first
 *     OVERLAP   [id, …], ascending
 *     CONTACTS  [[a, b, child_a, child_b, point, normal, separation, impulse, friction], …]
 *     TOTALS    [kinetic, potential, linear, angular]
 *     BODY      [id, status, flags, owner, tag, position, rotation, velocity, spin, mass, centre,
 *                [[name, position, rotation], …]]
 *     GEOMETRY  [part, of, data]: canonical bytes of a shape the world may use, WIRE_SHAPE_PART to a part
 *
 *     CAST      [[body, placement, child, fraction, point, normal, depth, own child], …], nearest first
 *     CLOSEST   [] when nothing is in reach, else [distance, normal, side, side], a side being
 *                [body, placement, child, point, [vertex, …]]
 *     MASS      [mass, centre, [xx, yy, zz, xy, xz, yz], moments, axes, radius, bodies]
 *     MOVE      [position, left, flags, iterations, climbed, ground or nil, [contact, …]], ground and
 *                contacts as in CAST
 *     REGIONS   [[placement, other's placement, depth, volume, point, other's point, normal, contours], …],
 *                deepest first
 *
 * Vectors are [x, y, z], rotations [w, x, y, z], `shape` is a bin of canonical bytes (those of
 * SHAPE_UPLOAD, at most 4096 and no solid) or, in 32 bytes, the name of a shape the world may use;
 * category and mask are 32 bits each, all set unless given. A direction need not be
 * a unit vector: it is normalised. A limit is a bound on the number of items; there may be more.
 * Lengths are metres, impulses N·s over the last tick, energies J, momenta those about the world's
 * origin.
 *
 * CAST and MOVE go from `position` along `way` (metres) without turning. CLOSEST and REGIONS are between two
 * bodies, other = 0 meaning whatever is nearest; a distance < 0 is a depth. A vertex list names the
 * feature: one a vertex, two an edge, three a face of the child. MASS of body 0 is that of all dynamic
 * bodies; axes turn principal axes to the world's. MOVE slides along what it meets: ground is what
 * leans less than acos(slope) from up (against gravity, else y), `step` the height of ledges it
 * steps on, `skin` the distance it keeps; flags are 1 grounded, 2 stuck (it began inside
 * something). CAST, CLOSEST, MOVE and REGIONS may be answered by the helper: later, for the tick
 * the answer names.
 */
#ifndef CAIRN_PROTOCOL_QUERY_WIRE_H
#define CAIRN_PROTOCOL_QUERY_WIRE_H

#include "protocol/columns.h"
#include "protocol/cursor.h"
#include "protocol/packer.h"

enum wire_query_kind {
	WIRE_QUERY_RAY = 1,
	WIRE_QUERY_OVERLAP = 2,
	WIRE_QUERY_CONTACTS = 3,
	WIRE_QUERY_TOTALS = 4,
	WIRE_QUERY_BODY = 5,
	WIRE_QUERY_GEOMETRY = 6,
	WIRE_QUERY_CAST = 7,
	WIRE_QUERY_CLOSEST = 8,
	WIRE_QUERY_MASS = 9,
	WIRE_QUERY_MOVE = 10,
	WIRE_QUERY_REGIONS = 11,
	WIRE_QUERY_LAST = WIRE_QUERY_REGIONS,
};
enum { WIRE_QUERY_LIMIT_MAX = 4096, WIRE_QUERY_SHAPE_MAX = 4096, WIRE_MOVE_ITERATIONS_MAX = 16 };
/* m. */
#define WIRE_REACH_MAX 1e6
#define WIRE_STEP_MAX 100.0
#define WIRE_SKIN_MIN 1e-5

struct wire_query {
	enum wire_query_kind kind;
	double origin[3];        /* RAY; OVERLAP, CAST, MOVE: position */
	double direction[3];     /* RAY: as given; CAST, MOVE: the way, m */
	double length;           /* RAY; CLOSEST: reach, m */
	double rotation[4];      /* OVERLAP, CAST, MOVE */
	struct wire_slice shape; /* OVERLAP, CAST, MOVE: canonical bytes or a name (borrowed) */
	uint32_t body;           /* CONTACTS, MASS: 0 for all; BODY, CLOSEST, REGIONS */
	uint32_t other;          /* CLOSEST: 0 for any; REGIONS */
	uint32_t iterations;     /* MOVE */
	double slope, step, skin; /* MOVE: cosine, m, m */
	uint32_t limit;
	uint32_t category, mask, ignore;
	struct wire_name name; /* GEOMETRY */
	uint32_t part;
};

/* A query of a kind with everything at its default. */
void query_init(struct wire_query *self, enum wire_query_kind kind);
/* Packs the items of QUERY.query; their number is returned. */
uint32_t query_pack(struct wire_packer *out, const struct wire_query *query);
/* STATUS_TYPE, STATUS_RANGE, STATUS_NOT_FINITE, STATUS_UNSUPPORTED for a kind that is not known;
 * `why` (may be NULL) names the field. */
enum status query_take(const struct wire_list *list, struct wire_query *query,
		       struct reason *why) MUST_CHECK;

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
struct wire_totals {
	double kinetic, potential;
	double linear[3], angular[3];
};
struct wire_body_facts {
	struct wire_body body; /* with its shapes */
	double mass;
	double centre[3];
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

struct wire_geometry {
	uint32_t part, of;
	struct wire_slice data; /* borrowed */
};

/* Answers: RAY and CONTACTS are arrays of these items, OVERLAP an array of integers; the caller
 * packs the array header. */
void answer_pack_hit(struct wire_packer *out, const struct wire_ray_hit *hit);
void answer_pack_contact(struct wire_packer *out, const struct wire_contact *contact);
void answer_pack_totals(struct wire_packer *out, const struct wire_totals *totals);
void answer_pack_body(struct wire_packer *out, const struct wire_body_facts *facts);
void answer_pack_geometry(struct wire_packer *out, const struct wire_geometry *geometry);
void answer_pack_cast_hit(struct wire_packer *out, const struct wire_cast_hit *hit);
void answer_pack_closest(struct wire_packer *out, const struct wire_closest *closest);
void answer_pack_mass(struct wire_packer *out, const struct wire_mass *mass);
void answer_pack_move(struct wire_packer *out, const struct wire_move *move);
void answer_pack_region(struct wire_packer *out, const struct wire_region *region);
enum status answer_take_cast_hit(struct wire_cursor *in, struct wire_cast_hit *hit) MUST_CHECK;
enum status answer_take_closest(struct wire_cursor *in, struct wire_closest *closest) MUST_CHECK;
enum status answer_take_mass(struct wire_cursor *in, struct wire_mass *mass) MUST_CHECK;
enum status answer_take_move(struct wire_cursor *in, struct wire_move *move) MUST_CHECK;
enum status answer_take_region(struct wire_cursor *in, struct wire_region *region) MUST_CHECK;
enum status answer_take_hit(struct wire_cursor *in, struct wire_ray_hit *hit) MUST_CHECK;
enum status answer_take_contact(struct wire_cursor *in, struct wire_contact *contact) MUST_CHECK;
enum status answer_take_totals(struct wire_cursor *in, struct wire_totals *totals) MUST_CHECK;
/* Shapes go to `shapes` (WIRE_BODY_SHAPES × WIRE_SHAPE_BYTES bytes, borrowed by the result). */
enum status answer_take_body(struct wire_cursor *in, struct wire_body_facts *facts,
			     uint8_t *shapes) MUST_CHECK;
enum status answer_take_geometry(struct wire_cursor *in, struct wire_geometry *geometry) MUST_CHECK;

#endif
