/* query_wire.h: questions about a state and their answers.
 *
 *   QUERY.query
 *     RAY       [1, origin, direction, length, limit = 1, category, mask, ignore = 0]
 *     OVERLAP   [2, shape, position, rotation = identity, limit = 1024, category, mask, ignore = 0]
 *     CONTACTS  [3, body = 0, limit = 1024]
 *     TOTALS    [4]
 *     BODY      [5, body]
 *     GEOMETRY  [6, name, part = 0]
 *   ANSWER.answer
 *     RAY       [[body, placement, child, fraction, point, normal], …], nearest first
 *     OVERLAP   [id, …], ascending
 *     CONTACTS  [[a, b, child_a, child_b, point, normal, separation, impulse, friction], …]
 *     TOTALS    [kinetic, potential, linear, angular]
 *     BODY      [id, status, flags, owner, tag, position, rotation, velocity, spin, mass, centre,
 *                [[name, position, rotation], …]]
 *     GEOMETRY  [part, of, data]: canonical bytes of a shape the world may use, WIRE_SHAPE_PART to a part
 *
 * Vectors are [x, y, z], rotations [w, x, y, z], `shape` is a bin of canonical bytes (those of
 * SHAPE_UPLOAD), category and mask are 32 bits each, all set unless given. A direction need not be
 * a unit vector: it is normalised. A limit is a bound on the number of items; there may be more.
 * Lengths are metres, impulses N·s over the last tick, energies J, momenta those about the world's
 * origin.
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
	WIRE_QUERY_LAST = WIRE_QUERY_GEOMETRY,
};
enum { WIRE_QUERY_LIMIT_MAX = 4096, WIRE_QUERY_SHAPE_MAX = 4096 };

struct wire_query {
	enum wire_query_kind kind;
	double origin[3];        /* RAY; OVERLAP: position */
	double direction[3];     /* RAY: as given */
	double length;           /* RAY, m */
	double rotation[4];      /* OVERLAP */
	struct wire_slice shape; /* OVERLAP: canonical bytes (borrowed) */
	uint32_t body;           /* CONTACTS: 0 for all; BODY */
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
enum status answer_take_hit(struct wire_cursor *in, struct wire_ray_hit *hit) MUST_CHECK;
enum status answer_take_contact(struct wire_cursor *in, struct wire_contact *contact) MUST_CHECK;
enum status answer_take_totals(struct wire_cursor *in, struct wire_totals *totals) MUST_CHECK;
/* Shapes go to `shapes` (WIRE_BODY_SHAPES × WIRE_SHAPE_BYTES bytes, borrowed by the result). */
enum status answer_take_body(struct wire_cursor *in, struct wire_body_facts *facts,
			     uint8_t *shapes) MUST_CHECK;
enum status answer_take_geometry(struct wire_cursor *in, struct wire_geometry *geometry) MUST_CHECK;

#endif
