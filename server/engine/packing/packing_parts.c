/* packing_parts.c: divides a polygon into convex parts.
 *
 * Ears are cut off until a triangle is left (exact signs, so every simple polygon has one), and pieces on
 * both sides of a cut are joined again where the union is convex (Hertel and Mehlhorn): at most four times
 * as many parts as the fewest possible. Sides that cross or touch are refused, because no region then is
 * the inside. Corners in the middle of a straight side are left out.
 */
#include "server/engine/packing/packing_work.h"

#include "server/engine/geometry/orient.h"

struct outline_piece {
	uint32_t *corner; /* counter-clockwise */
	uint32_t count;
};

struct division {
	const vec2 *points; /* counter-clockwise, no three in a row on a line */
	uint32_t count;
	struct outline_piece *pieces;
	uint32_t piece_count;
	uint32_t (*cuts)[2];
	uint32_t cut_count;
};

static vec3 lift(vec2 p)
{
	return (vec3){ p.x, p.y, 0 };
}

/* 1: c is to the left of a → b; exact. */
static int side_of(vec2 a, vec2 b, vec2 c)
{
	int side = orient_line(2, lift(a), lift(b), lift(c));
	ASSERT(side >= -1 && side <= 1);
	return side;
}

/* ---- checks ------------------------------------------------------------------------------------ */

/* Leaves out corners that repeat the last one or lie on a straight side. DEGENERATE: a side runs back. */
static enum status clean_corners(vec2 *points, uint32_t *count, struct reason *why)
{
	uint32_t kept = *count;
	for (bool again = true; again && kept >= 3;) {
		again = false;
		for (uint32_t i = 0; i < kept && kept >= 3; i++) {
			vec2 a = points[(i + kept - 1) % kept], b = points[i],
			     c = points[(i + 1) % kept];
			bool same = a.x == b.x && a.y == b.y;
			if (!same && side_of(a, b, c) != 0)
				continue;
			if (!same && vec2_dot(vec2_sub(b, a), vec2_sub(c, b)) < 0)
				return reason_set(why, STATUS_DEGENERATE, -1, "points",
						  "the side to (%.9g, %.9g) runs back; an outline "
						  "must not touch itself",
						  b.x, b.y);
			for (uint32_t k = i; k + 1 < kept; k++)
				points[k] = points[k + 1];
			kept--;
			again = true;
		}
	}
	*count = kept;
	return kept >= 3
		       ? STATUS_OK
		       : reason_set(why, STATUS_DEGENERATE, -1, "points",
				    "the outline has no area: at least three corners must not lie "
				    "on one line");
}

static bool boxes_meet(vec2 a, vec2 b, vec2 c, vec2 d)
{
	return scalar_max(a.x, b.x) >= scalar_min(c.x, d.x) &&
	       scalar_max(c.x, d.x) >= scalar_min(a.x, b.x) &&
	       scalar_max(a.y, b.y) >= scalar_min(c.y, d.y) &&
	       scalar_max(c.y, d.y) >= scalar_min(a.y, b.y);
}

/* Whether two closed segments have a point in common; exact. */
static bool segments_meet(vec2 a, vec2 b, vec2 c, vec2 d)
{
	return boxes_meet(a, b, c, d) && side_of(a, b, c) * side_of(a, b, d) <= 0 &&
	       side_of(c, d, a) * side_of(c, d, b) <= 0;
}

static enum status check_simple(const vec2 *points, uint32_t count, struct reason *why)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = i + 2; k < count; k++) {
			if (i == 0 && k == count - 1)
				continue;
			if (segments_meet(points[i], points[i + 1], points[k],
					  points[(k + 1) % count]))
				return reason_set(why, STATUS_DEGENERATE, -1, "points",
						  "the sides from (%.9g, %.9g) and from (%.9g, "
						  "%.9g) cross or touch; an outline must not",
						  points[i].x, points[i].y, points[k].x,
						  points[k].y);
		}
	return STATUS_OK;
}

static double signed_area(const vec2 *points, uint32_t count)
{
	double twice = 0;
	for (uint32_t i = 1; i + 1 < count; i++)
		twice += vec2_cross(vec2_sub(points[i], points[0]),
				    vec2_sub(points[i + 1], points[0]));
	return twice / 2;
}

/* Reverses a clockwise outline: its lowest corner turns to the right. */
static void make_counter_clockwise(vec2 *points, uint32_t count)
{
	uint32_t low = 0;
	for (uint32_t i = 1; i < count; i++)
		if (points[i].y < points[low].y ||
		    (points[i].y == points[low].y && points[i].x < points[low].x))
			low = i;
	int turn =
		side_of(points[(low + count - 1) % count], points[low], points[(low + 1) % count]);
	ASSERT(turn != 0);
	for (uint32_t i = 0; turn < 0 && i < count / 2; i++) {
		vec2 swap = points[i];
		points[i] = points[count - 1 - i];
		points[count - 1 - i] = swap;
	}
}

/* ---- ears -------------------------------------------------------------------------------------- */

/* Whether the closed triangle of a corner and its neighbours in the ring has no other corner of it. */
static bool is_ear(const struct division *self, const uint32_t *ring, uint32_t left, uint32_t at)
{
	uint32_t before = (at + left - 1) % left, after = (at + 1) % left;
	vec2 a = self->points[ring[before]], b = self->points[ring[at]],
	     c = self->points[ring[after]];
	if (side_of(a, b, c) <= 0)
		return false;
	for (uint32_t i = 0; i < left; i++) {
		if (i == before || i == at || i == after)
			continue;
		vec2 p = self->points[ring[i]];
		if (side_of(a, b, p) >= 0 && side_of(b, c, p) >= 0 && side_of(c, a, p) >= 0)
			return false;
	}
	return true;
}

static bool add_triangle(struct division *self, struct arena *arena, uint32_t a, uint32_t b,
			 uint32_t c)
{
	/* A piece may grow to all corners by joins; it is then copied. */
	uint32_t *corner = ARENA_ARRAY(arena, uint32_t, 3);
	if (corner == NULL)
		return false;
	corner[0] = a;
	corner[1] = b;
	corner[2] = c;
	self->pieces[self->piece_count++] = (struct outline_piece){ corner, 3 };
	return true;
}

static enum status cut_ears(struct division *self, struct arena *arena, struct reason *why)
{
	uint32_t left = self->count, *ring = ARENA_ARRAY(arena, uint32_t, left);
	if (ring == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < left; i++)
		ring[i] = i;
	uint32_t at = 0, tried = 0;
	while (left > 3 && tried < left) {
		if (!is_ear(self, ring, left, at)) {
			at = (at + 1) % left;
			tried++;
			continue;
		}
		uint32_t before = ring[(at + left - 1) % left], after = ring[(at + 1) % left];
		if (!add_triangle(self, arena, before, ring[at], after))
			return STATUS_NO_MEMORY;
		self->cuts[self->cut_count][0] = before;
		self->cuts[self->cut_count++][1] = after;
		for (uint32_t i = at; i + 1 < left; i++)
			ring[i] = ring[i + 1];
		left--;
		at = (at + 1) % left;
		tried = 0;
	}
	if (left > 3)
		return reason_set(why, STATUS_DEGENERATE, -1, "points",
				  "the outline cannot be divided into triangles");
	return add_triangle(self, arena, ring[0], ring[1], ring[2]) ? STATUS_OK : STATUS_NO_MEMORY;
}

/* ---- joining ----------------------------------------------------------------------------------- */

/* The piece with the side from → to, and the index of `from` in it. */
static struct outline_piece *find_side(struct division *self, uint32_t from, uint32_t to,
				       uint32_t *at)
{
	for (uint32_t i = 0; i < self->piece_count; i++) {
		struct outline_piece *piece = &self->pieces[i];
		for (uint32_t k = 0; k < piece->count; k++)
			if (piece->corner[k] == from &&
			    piece->corner[(k + 1) % piece->count] == to) {
				*at = k;
				return piece;
			}
	}
	return NULL;
}

static int turn_at(const struct division *self, uint32_t a, uint32_t b, uint32_t c)
{
	return side_of(self->points[a], self->points[b], self->points[c]);
}

/* Joins the pieces on both sides of a cut, if the union is convex. */
static bool join_at(struct division *self, struct arena *arena, const uint32_t cut[2])
{
	uint32_t i = 0, k = 0;
	struct outline_piece *p = find_side(self, cut[0], cut[1], &i);
	struct outline_piece *q = find_side(self, cut[1], cut[0], &k);
	ASSERT(p != NULL);
	ASSERT(q != NULL && q != p);
	uint32_t before_p = p->corner[(i + p->count - 1) % p->count];
	uint32_t after_p = p->corner[(i + 2) % p->count];
	uint32_t before_q = q->corner[(k + q->count - 1) % q->count];
	uint32_t after_q = q->corner[(k + 2) % q->count];
	if (turn_at(self, before_p, cut[0], after_q) < 0 ||
	    turn_at(self, before_q, cut[1], after_p) < 0)
		return true;
	uint32_t count = p->count + q->count - 2;
	uint32_t *corner = ARENA_ARRAY(arena, uint32_t, count);
	if (corner == NULL)
		return false;
	/* Around p from the cut's end to its start, then q without the cut's ends. */
	for (uint32_t n = 0; n < p->count; n++)
		corner[n] = p->corner[(i + 1 + n) % p->count];
	for (uint32_t n = 0; n + 2 < q->count; n++)
		corner[p->count + n] = q->corner[(k + 2 + n) % q->count];
	*p = (struct outline_piece){ corner, count };
	*q = self->pieces[--self->piece_count];
	return true;
}

/* ---- parts ------------------------------------------------------------------------------------- */

/* Appends a piece, from its lowest corner on, without corners on straight sides. */
static enum status append_part(struct packing *self, const struct division *division,
			       const struct outline_piece *piece, struct packing_shape *shape)
{
	if (ARRAY_RESERVE(&self->corners, self->corners.count + (uint64_t)piece->count) !=
		    STATUS_OK ||
	    ARRAY_RESERVE(&self->parts, self->parts.count + UINT64_C(1)) != STATUS_OK)
		return STATUS_NO_MEMORY;
	struct packing_part part = { .first = self->corners.count };
	uint32_t lowest = 0;
	for (uint32_t n = 1; n < piece->count; n++) {
		vec2 p = division->points[piece->corner[n]];
		vec2 low = division->points[piece->corner[lowest]];
		if (p.y < low.y || (p.y == low.y && p.x < low.x))
			lowest = n;
	}
	part.low = part.high = division->points[piece->corner[lowest]];
	for (uint32_t n = 0; n < piece->count; n++) {
		uint32_t at = (lowest + n) % piece->count;
		uint32_t a = piece->corner[(at + piece->count - 1) % piece->count];
		if (turn_at(division, a, piece->corner[at],
			    piece->corner[(at + 1) % piece->count]) == 0)
			continue;
		vec2 p = division->points[piece->corner[at]];
		part.low = vec2_make(scalar_min(part.low.x, p.x), scalar_min(part.low.y, p.y));
		part.high = vec2_make(scalar_max(part.high.x, p.x), scalar_max(part.high.y, p.y));
		self->corners.items[self->corners.count++] = p;
	}
	part.count = self->corners.count - part.first;
	ASSERT(part.count >= 3);
	self->parts.items[self->parts.count++] = part;
	bool first = shape->part_count++ == 0;
	shape->low = first ? part.low
			   : vec2_make(scalar_min(shape->low.x, part.low.x),
				       scalar_min(shape->low.y, part.low.y));
	shape->high = first ? part.high
			    : vec2_make(scalar_max(shape->high.x, part.high.x),
					scalar_max(shape->high.y, part.high.y));
	return STATUS_OK;
}

static enum status divide_outline(struct packing *self, const vec2 *points, uint32_t count,
				  struct packing_shape *shape, struct reason *why)
{
	struct arena *arena = &self->arena;
	struct division division = { .points = points, .count = count };
	division.pieces = ARENA_ARRAY(arena, struct outline_piece, count);
	division.cuts = arena_push_array(arena, count, sizeof *division.cuts);
	if (division.pieces == NULL || division.cuts == NULL)
		return STATUS_NO_MEMORY;
	enum status status = cut_ears(&division, arena, why);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < division.cut_count; i++)
		if (!join_at(&division, arena, division.cuts[i]))
			return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < division.piece_count && status == STATUS_OK; i++)
		status = append_part(self, &division, &division.pieces[i], shape);
	return status;
}

enum status packing_divide(struct packing *self, const struct packing_polygon *polygon,
			   struct packing_shape *shape, struct reason *why)
{
	struct arena_mark mark = arena_mark(&self->arena);
	uint32_t count = polygon->count;
	ASSERT(count >= 3 && count <= PACKING_CORNERS_MAX);
	vec2 *points = ARENA_ARRAY(&self->arena, vec2, count);
	if (points == NULL)
		return STATUS_NO_MEMORY;
	memcpy(points, polygon->corners, count * sizeof *points);
	*shape = (struct packing_shape){ .first_part = self->parts.count, .place = polygon->place };
	enum status status = clean_corners(points, &count, why);
	if (status == STATUS_OK)
		status = check_simple(points, count, why);
	if (status == STATUS_OK) {
		make_counter_clockwise(points, count);
		shape->area = signed_area(points, count);
		status = divide_outline(self, points, count, shape, why);
	}
	arena_rewind(&self->arena, mark);
	return status;
}
