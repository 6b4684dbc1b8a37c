/* decompose_piece.h: a closed half-edge surface being divided into convex parts. Private to
 * decompose*.c.
 *
 * A closed oriented triangle surface by half-edges: half-edge h = 3t + k runs from corner k of
 * triangle t to the next; `twin[h]` is the same edge from the other side. A vertex is a point with
 * one cycle of triangles around it: where two sheets of surface touch there are two points at one
 * place.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_DECOMPOSE_PIECE_H
#define CAIRN_ENGINE_GEOMETRY_DECOMPOSE_PIECE_H

#include "server/base/array.h"
#include "server/engine/geometry/decompose.h"

struct decompose_piece {
	uint32_t point_count, triangle_count;
	uint32_t point_room, triangle_room;
	vec3 *points;	  /* owned */
	uint32_t *corner; /* owned; of half-edges: the point it starts from */
	uint32_t *twin;	  /* owned */
	uint32_t level;	  /* how often the thresholds were lowered for it */
	bool convex; /* known to be convex, and divided only because its hull has too many vertices */
};

static inline uint32_t half_next(uint32_t h)
{
	return h % 3 == 2 ? h - 2 : h + 1;
}

static inline uint32_t half_previous(uint32_t h)
{
	return h % 3 == 0 ? h + 2 : h - 1;
}

static inline vec3 piece_start(const struct decompose_piece *self, uint32_t h)
{
	VALIDATE(h < 3 * self->triangle_count);
	return self->points[self->corner[h]];
}

static inline vec3 piece_end(const struct decompose_piece *self, uint32_t h)
{
	return self->points[self->corner[half_next(h)]];
}

/* Twice the area times the outward normal. */
static inline vec3 piece_area(const struct decompose_piece *self, uint32_t triangle)
{
	VALIDATE(triangle < self->triangle_count);
	vec3 a = piece_start(self, 3 * triangle);
	return vec3_cross(vec3_sub(piece_start(self, 3 * triangle + 1), a),
			  vec3_sub(piece_start(self, 3 * triangle + 2), a));
}

/* An empty piece with room for so many points and triangles. Returned owned; NULL: out of memory. */
MUST_CHECK struct decompose_piece *piece_create(uint32_t points, uint32_t triangles);
void piece_destroy(struct decompose_piece *self);
/* Makes room for this many points and triangles in all. False: out of memory. */
MUST_CHECK bool piece_reserve(struct decompose_piece *self, uint32_t points, uint32_t triangles);

typedef ARRAY_OF(struct decompose_piece *) piece_list;
/* The connected surfaces of a closed mesh, owned by *out, in the order of their first triangles.
 * False: out of memory. */
MUST_CHECK bool piece_list_of_mesh(const struct mesh *mesh, piece_list *out);
/* F-01 (4): whether two points of these surfaces coincide, and where first. False: out of memory. */
MUST_CHECK bool piece_list_find_pinch(const piece_list *self, bool *found, vec3 *place);
/* Adds the connected surfaces of `piece`, with one point for each cycle of triangles. False: out of
 * memory. */
MUST_CHECK bool piece_list_of_piece(const struct decompose_piece *piece, piece_list *out);
void piece_list_release(piece_list *self);

/* Volume, m³, summed about `origin` to reduce rounding. Negative for a surface that bounds a
 * cavity. */
double piece_volume(const struct decompose_piece *self, vec3 origin);
struct aabb piece_box(const struct decompose_piece *self);
double piece_mean_edge(const struct decompose_piece *self);

/* Splits half-edge h at a new point and adds two triangles. Afterwards h runs from its start to the
 * point, its twin from its end to the point; *moved names the two half-edges whose number changed,
 * before and after: those that followed h and its twin. Returns the point. The caller has reserved
 * room. */
struct piece_moved {
	uint32_t from[2], to[2];
};
uint32_t piece_split(struct decompose_piece *self, uint32_t h, vec3 at, struct piece_moved *moved);

/* F-02: the edge's inner angle is over π: each side's far corner lies outside the other's plane by more
 * than `slack` metres and DECOMPOSE_FLAT_SINE. *normal: mean of both sides' normals, unit. */
bool piece_is_notch(const struct decompose_piece *self, uint32_t h, double slack, vec3 *normal);
uint32_t piece_count_notches(const struct decompose_piece *self, double slack);

#ifdef CAIRN_VALIDATE
/* Whether every twin is mutual and runs the other way. */
bool piece_is_closed(const struct decompose_piece *self);
#endif

#endif
