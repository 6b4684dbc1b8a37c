/* decompose_cut.c: tracing a cut face and splitting the solid along it (app F-04 … F-06).
 *
 * Every point of the piece is classified once, by its distance, as above, in (within `snap` metres)
 * or below the plane; everything after that follows half-edges and cannot contradict itself. Seen
 * from above, the solid is on the left of the trace; on the surface, seen from outside, the upper
 * side is on the left as well. So the trace leaves a vertex where, going round it
 * counter-clockwise, below changes to above: through a triangle, or along an edge with both ends in
 * the plane. A triangle in the plane counts as above when the solid is above it, that is when its
 * normal points down. Where a vertex has several such exits the one with the least inner angle is
 * taken.
 *
 * What goes wrong: the trace ends without closing, runs round a hole of the solid (its area is
 * negative), makes too sharp an angle, passes too near a vertex, or other surface crosses the plane
 * inside the face (the face has a hole). Then the plane is refused, and the piece is unchanged. Two
 * departures from the book: it refuses a face that meets a vertex twice; here the face may touch
 * itself there, because afterwards each cycle of triangles has a point of its own. And it measures
 * the distance of F-05.1 to all vertices; here only to those of triangles that are cut, because the
 * others get neither slivers nor short edges.
 */
#include "server/engine/geometry/decompose_cut.h"

#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/orient.h"
#include "server/engine/math/trig.h"

#include <string.h>

/* ---- memory ----------------------------------------------------------------------------------- */

void cutter_release(struct cutter *self)
{
	heap_free(self->stamp);
	heap_free(self->distance);
	*self = (struct cutter){ 0 };
}

/* A trace passes each triangle at most once and leaves no vertex twice by the same exit; a longer
 * one circles without returning to its start. */
bool cutter_reserve(struct cutter *self, struct decompose_piece *piece)
{
	ASSERT(piece->triangle_count > 0 && piece->point_count > 0);
	uint32_t points = piece->point_count, triangles = piece->triangle_count;
	self->piece = piece;
	if (points <= self->points && triangles <= self->triangles)
		return true;
	cutter_release(self);
	size_t nodes = 3 * (size_t)triangles + 2;
	self->stamp = heap_alloc_zero((size_t)points * 2 * sizeof *self->stamp + nodes * 40);
	self->distance = heap_alloc(points * sizeof *self->distance +
				    nodes * (sizeof *self->nodes + sizeof *self->ear));
	if (self->stamp == NULL || self->distance == NULL) {
		cutter_release(self);
		return false;
	}
	self->passed = self->stamp + points;
	self->before = self->passed + points;
	self->after = self->before + nodes;
	self->border = self->after + nodes;
	self->blunt = self->border + nodes;
	self->cap = (uint32_t(*)[3])(self->blunt + nodes);
	self->cap_twin = self->cap + nodes;
	self->ear = self->distance + points;
	self->nodes = (struct cut_node *)(self->ear + nodes);
	self->points = points;
	self->triangles = triangles;
	self->node_room = (uint32_t)nodes;
	self->piece = piece;
	return true;
}

/* ---- sides of the plane ----------------------------------------------------------------------- */

static double plane_distance(struct cutter *self, uint32_t point)
{
	VALIDATE(point < self->points);
	if (self->stamp[point] != self->now) {
		vec3 p = self->piece->points[point];
		double d = vec3_dot(self->plane.normal, vec3_sub(p, self->plane.at));
		self->distance[point] = scalar_abs(d) <= self->limits.snap ? 0 : d;
		self->stamp[point] = self->now;
	}
	return self->distance[point];
}

static int plane_sign(struct cutter *self, uint32_t half)
{
	double d = plane_distance(self, self->piece->corner[half]);
	return (d > 0) - (d < 0);
}

/* Side of a triangle that the plane does not cross; for one in the plane, the side of the solid. */
static int triangle_side(struct cutter *self, uint32_t triangle)
{
	for (uint32_t k = 0; k < 3; k++) {
		int s = plane_sign(self, 3 * triangle + k);
		if (s != 0)
			return s;
	}
	return vec3_dot(piece_area(self->piece, triangle), self->plane.normal) < 0 ? 1 : -1;
}

/* The point where an edge crosses the plane; the same from both its ends. */
static vec3 edge_crossing(struct cutter *self, uint32_t half)
{
	VALIDATE(plane_sign(self, half) * plane_sign(self, half_next(half)) < 0);
	const struct decompose_piece *piece = self->piece;
	uint32_t p = piece->corner[half], q = piece->corner[half_next(half)];
	if (p > q) {
		uint32_t other = p;
		p = q;
		q = other;
	}
	double dp = plane_distance(self, p), dq = plane_distance(self, q);
	return vec3_lerp(piece->points[p], piece->points[q], dp / (dp - dq));
}

/* ---- the trace -------------------------------------------------------------------------------- */

struct loop_step {
	uint32_t half; /* leaving the vertex */
	bool along;    /* along this edge; else through its triangle */
	vec3 to;
};

static bool find_step(struct cutter *self, uint32_t h, struct loop_step *way)
{
	const struct decompose_piece *piece = self->piece;
	int right = plane_sign(self, half_next(h)), left = plane_sign(self, half_previous(h));
	way->half = h;
	if (right < 0 && left > 0) {
		way->along = false;
		way->to = edge_crossing(self, half_next(h));
		return true;
	}
	if (right != 0 || triangle_side(self, h / 3) <= 0 ||
	    triangle_side(self, piece->twin[h] / 3) >= 0)
		return false;
	way->along = true;
	way->to = piece_end(piece, h);
	return true;
}

/* Pseudo-angle: grows from 0 to 4 as `d` turns clockwise from `back`. */
static double turn_clockwise(const struct cutter *self, vec3 back, vec3 d)
{
	double length = vec3_length(back) * vec3_length(d);
	double x = length > 0 ? vec3_dot(back, d) / length : 0;
	double y = vec3_dot(d, vec3_cross(back, self->plane.normal));
	return y >= 0 ? 1 - x : 3 + x;
}

/* The exit from the vertex that `half` leaves, when the trace came from `from`. False: no exit. */
static bool choose_step(struct cutter *self, uint32_t half, vec3 from, struct loop_step *out)
{
	const struct decompose_piece *piece = self->piece;
	vec3 at = piece_start(piece, half), back = vec3_sub(from, at);
	double least = SCALAR_MAX;
	bool found = false;
	uint32_t h = half;
	do {
		struct loop_step way;
		if (find_step(self, h, &way)) {
			double angle = turn_clockwise(self, back, vec3_sub(way.to, at));
			if (angle < least) {
				least = angle;
				*out = way;
			}
			found = true;
		}
		h = piece->twin[half_previous(h)];
	} while (h != half);
	return found;
}

/* F-04's angle, on both sides of the step a → b, whose surface is `left` above and `right` below. */
static bool angles_pass(const struct cutter *self, vec3 a, vec3 b, uint32_t left, uint32_t right)
{
	vec3 along = vec3_normalize(vec3_sub(b, a));
	vec3 inward = vec3_cross(self->plane.normal, along);
	vec3 up = vec3_cross(vec3_normalize(piece_area(self->piece, left)), along);
	vec3 down = vec3_cross(along, vec3_normalize(piece_area(self->piece, right)));
	return vec3_dot(up, inward) <= self->limits.cosine &&
	       vec3_dot(down, inward) <= self->limits.cosine;
}

/* F-05.1 for the corners of a triangle that is cut. */
static bool distances_pass(struct cutter *self, uint32_t triangle)
{
	VALIDATE(triangle < self->piece->triangle_count);
	for (uint32_t k = 0; k < 3; k++) {
		double d = scalar_abs(plane_distance(self, self->piece->corner[3 * triangle + k]));
		if (d > 0 && d < self->limits.distance_min)
			return false;
	}
	return true;
}

/* The position of the trace: at a vertex (`half` leaves it) or at a crossed edge (`half` belongs to
 * the triangle to enter). */
struct loop_trace {
	uint32_t half;
	bool vertex;
	vec3 from; /* the node before */
};

static void add_node(struct cutter *self, uint32_t half, bool vertex)
{
	ASSERT(self->node_count < self->node_room);
	const struct decompose_piece *piece = self->piece;
	uint32_t point = vertex ? piece->corner[half] : UINT32_MAX;
	self->nodes[self->node_count++] =
		(struct cut_node){ half, point,
				   vertex ? piece->points[point] : edge_crossing(self, half) };
	if (vertex)
		self->passed[point] = self->now;
}

/* Advances from a vertex by exit `way`; refuses by angle or distance. */
static enum decompose_refusal step_from_vertex(struct cutter *self, struct loop_trace *walk,
					       const struct loop_step *way)
{
	const struct decompose_piece *piece = self->piece;
	uint32_t triangle = way->half / 3, twin = piece->twin[way->half];
	vec3 at = piece_start(piece, way->half);
	if (!angles_pass(self, at, way->to, triangle, way->along ? twin / 3 : triangle))
		return DECOMPOSE_REFUSED_ANGLE;
	if (!way->along && !distances_pass(self, triangle))
		return DECOMPOSE_REFUSED_DISTANCE;
	*walk = way->along ? (struct loop_trace){ half_next(way->half), true, at }
			   : (struct loop_trace){ piece->twin[half_next(way->half)], false, at };
	return DECOMPOSE_REFUSALS;
}

/* Advances through the triangle of walk->half: enters over p → q, p above and q below, leaves
 * opposite. */
static enum decompose_refusal step_from_edge(struct cutter *self, struct loop_trace *walk)
{
	ASSERT(self->node_count > 0);
	const struct decompose_piece *piece = self->piece;
	uint32_t triangle = walk->half / 3, far = half_previous(walk->half);
	vec3 at = self->nodes[self->node_count - 1].at;
	int s = plane_sign(self, far);
	uint32_t out = s > 0 ? half_next(walk->half) : far;
	vec3 to = s == 0 ? piece_start(piece, far) : edge_crossing(self, out);
	if (!angles_pass(self, at, to, triangle, triangle))
		return DECOMPOSE_REFUSED_ANGLE;
	if (!distances_pass(self, triangle))
		return DECOMPOSE_REFUSED_DISTANCE;
	*walk = s == 0 ? (struct loop_trace){ far, true, at }
		       : (struct loop_trace){ piece->twin[out], false, at };
	return DECOMPOSE_REFUSALS;
}

/* At a vertex: done if the trace is back at its start, otherwise advances. */
static enum decompose_refusal trace_vertex(struct cutter *self, struct loop_trace *walk,
					   uint32_t start, bool crossed, bool *done)
{
	struct loop_step way;
	if (!choose_step(self, walk->half, walk->from, &way))
		return DECOMPOSE_REFUSED_OPEN;
	if (!crossed && way.along && way.half == start) {
		*done = true;
		return DECOMPOSE_REFUSALS;
	}
	add_node(self, way.half, true);
	return step_from_vertex(self, walk, &way);
}

static enum decompose_refusal trace_loop(struct cutter *self, uint32_t start, bool crossed)
{
	ASSERT(self->node_count == 0);
	const struct decompose_piece *piece = self->piece;
	struct loop_trace walk = { start, false, vec3_zero() };
	enum decompose_refusal answer = DECOMPOSE_REFUSALS;
	bool done = false;
	if (!crossed) {
		struct loop_step way = { start, true, piece_end(piece, start) };
		add_node(self, start, true);
		answer = step_from_vertex(self, &walk, &way);
	}
	while (answer == DECOMPOSE_REFUSALS && !done) {
		if (self->node_count == self->node_room) {
			answer = DECOMPOSE_REFUSED_OPEN;
		} else if (walk.vertex) {
			answer = trace_vertex(self, &walk, start, crossed, &done);
		} else if (crossed && self->node_count > 0 && walk.half == start) {
			done = true;
		} else {
			add_node(self, walk.half, false);
			answer = step_from_edge(self, &walk);
		}
	}
	return answer;
}

/* ---- tests on the finished face --------------------------------------------------------------- */

int cut_turn(const struct cutter *self, vec3 a, vec3 b, vec3 p)
{
	VALIDATE(vec3_length_squared(self->plane.normal) > 0);
	vec3 n = self->plane.normal;
	uint32_t axis = vec3_largest_axis(vec3_abs(n));
	int turn = orient_line(axis, a, b, p);
	return vec3_get(n, axis) > 0 ? turn : -turn;
}

static double face_area(const struct cutter *self)
{
	vec3 sum = vec3_zero(), at = self->nodes[0].at;
	for (uint32_t i = 1; i + 1 < self->node_count; i++)
		sum = vec3_add(sum, vec3_cross(vec3_sub(self->nodes[i].at, at),
					       vec3_sub(self->nodes[i + 1].at, at)));
	return vec3_dot(sum, self->plane.normal) / 2;
}

/* Whether p, in the plane, is inside the face and not on its border. */
static bool face_holds(const struct cutter *self, vec3 p)
{
	uint32_t y = (vec3_largest_axis(vec3_abs(self->plane.normal)) + 2) % 3;
	int winding = 0;
	double height = vec3_get(p, y), k;
	for (uint32_t i = 0; i < self->node_count; i++) {
		vec3 a = self->nodes[i].at;
		vec3 b = self->nodes[i + 1 == self->node_count ? 0 : i + 1].at;
		bool a_under = vec3_get(a, y) <= height, b_under = vec3_get(b, y) <= height;
		if (a_under != b_under && (cut_turn(self, a, b, p) > 0) == a_under)
			winding += a_under ? 1 : -1;
	}
	if (winding == 0)
		return false;
	for (uint32_t i = 0; i < self->node_count; i++) {
		vec3 a = self->nodes[i].at;
		vec3 b = self->nodes[i + 1 == self->node_count ? 0 : i + 1].at;
		if (vec3_distance(p, closest_point_segment(p, a, b, &k)) <= 4 * self->limits.snap)
			return false;
	}
	return true;
}

/* F-05.3: nothing else of the surface may meet the plane inside the face. */
static bool has_hole(struct cutter *self)
{
	ASSERT(self->node_count >= 3);
	const struct decompose_piece *piece = self->piece;
	struct aabb box = aabb_empty();
	for (uint32_t i = 0; i < self->node_count; i++)
		box = aabb_add_point(box, self->nodes[i].at);
	box = aabb_grow(box, self->limits.snap);
	for (uint32_t h = 0; h < 3 * piece->triangle_count; h++) {
		int s = plane_sign(self, h);
		vec3 p;
		if (s == 0 && self->passed[piece->corner[h]] != self->now)
			p = piece_start(piece, h);
		else if (s > 0 && plane_sign(self, half_next(h)) < 0)
			p = edge_crossing(self, h);
		else
			continue;
		if (aabb_contains_point(box, p) && face_holds(self, p))
			return true;
	}
	return false;
}

enum decompose_refusal cut_trace(struct cutter *self, struct cut_plane plane,
				 struct cut_limits limits, uint32_t start, bool crossed)
{
	ASSERT(start < 3 * self->piece->triangle_count);
	ASSERT(limits.snap >= 0);
	self->plane = plane;
	self->limits = limits;
	self->now++;
	self->node_count = self->cap_count = 0;
	enum decompose_refusal answer = trace_loop(self, start, crossed);
	if (answer != DECOMPOSE_REFUSALS)
		return answer;
	/* Two edges between the same two vertices: the solid touches itself there and is separated. */
	if (self->node_count == 2)
		return DECOMPOSE_REFUSALS;
	if (!(face_area(self) > scalar_square(limits.snap)))
		return DECOMPOSE_REFUSED_TURN;
	if (has_hole(self))
		return DECOMPOSE_REFUSED_HOLE;
	return cut_make_cap(self) ? DECOMPOSE_REFUSALS : DECOMPOSE_REFUSED_CAP;
}

/* ---- splitting -------------------------------------------------------------------------------- */

struct cut_split {
	struct decompose_piece *piece;
	uint32_t *mark;	 /* of half-edges: node + 1 of the crossed edge it represents */
	uint32_t *leave; /* of points: a half-edge that starts there */
	uint32_t *loop;	 /* of nodes: the half-edge to the next one, on the upper side */
};

static void split_edges(struct cutter *cutter, struct cut_split *self)
{
	ASSERT(cutter->node_count >= 2);
	struct decompose_piece *piece = self->piece;
	for (uint32_t h = 0; h < 3 * piece->triangle_count; h++)
		self->leave[piece->corner[h]] = h;
	for (uint32_t i = 0; i < cutter->node_count; i++)
		if (cutter->nodes[i].point == UINT32_MAX)
			self->mark[cutter->nodes[i].half] = i + 1;
	for (uint32_t i = 0; i < cutter->node_count; i++) {
		struct cut_node *node = &cutter->nodes[i];
		struct piece_moved moved;
		if (node->point != UINT32_MAX)
			continue;
		uint32_t h = node->half, g = piece->twin[h];
		uint32_t p = piece->corner[h], q = piece->corner[g];
		node->point = piece_split(piece, h, node->at, &moved);
		self->leave[p] = h;
		self->leave[q] = g;
		self->leave[node->point] = piece->twin[h];
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t crossed = self->mark[moved.from[k]];
			self->mark[moved.from[k]] = 0;
			self->mark[moved.to[k]] = crossed;
			if (crossed != 0)
				cutter->nodes[crossed - 1].half = moved.to[k];
		}
	}
}

/* The half-edge from node i to the next one: the one the trace left by, if it still runs there.
 * That is tested first because two vertices may have two edges between them. */
static uint32_t step_half(const struct cutter *cutter, const struct cut_split *self, uint32_t i)
{
	ASSERT(i < cutter->node_count);
	const struct decompose_piece *piece = self->piece;
	const struct cut_node *node = &cutter->nodes[i];
	uint32_t to = cutter->nodes[(i + 1) % cutter->node_count].point;
	if (piece->corner[node->half] == node->point && piece->corner[half_next(node->half)] == to)
		return node->half;
	uint32_t first = self->leave[node->point], h = first;
	do {
		if (piece->corner[half_next(h)] == to)
			return h;
		h = piece->twin[half_previous(h)];
	} while (h != first);
	ASSERT(false);
	return UINT32_MAX;
}

/* Opens the surface along the loop and closes both sides with the cap: counter-clockwise seen from
 * above for the lower side, clockwise for the upper. */
static void add_caps(struct cutter *cutter, struct cut_split *self)
{
	ASSERT(cutter->cap_count == cutter->node_count - 2);
	static const uint32_t TURNED[3] = { 0, 2, 1 };
	struct decompose_piece *piece = self->piece;
	uint32_t below = 3 * piece->triangle_count, above = below + 3 * cutter->cap_count;
	piece->triangle_count += 2 * cutter->cap_count;
	for (uint32_t c = 0; c < cutter->cap_count; c++) {
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t from = cutter->nodes[cutter->cap[c][k]].point;
			uint32_t to = cutter->nodes[cutter->cap[c][(k + 1) % 3]].point;
			uint32_t low = below + 3 * c + k, high = above + 3 * c + TURNED[k];
			uint32_t twin = cutter->cap_twin[c][k];
			piece->corner[low] = from;
			piece->corner[high] = to;
			if ((twin & CUT_LOOP) == 0) {
				piece->twin[low] = below + twin;
				piece->twin[high] = above + twin / 3 * 3 + TURNED[twin % 3];
				continue;
			}
			uint32_t upper = self->loop[twin & ~CUT_LOOP], lower = piece->twin[upper];
			piece->twin[high] = upper;
			piece->twin[low] = lower;
			piece->twin[lower] = low;
			piece->twin[upper] = high;
		}
	}
}

/* A face of two corners has no area and needs no triangles. */
static void separate_sheets(struct cut_split *self)
{
	ASSERT(self->loop[0] != self->loop[1]);
	uint32_t *twin = self->piece->twin, there = self->loop[0], back = self->loop[1];
	uint32_t lower_there = twin[there], lower_back = twin[back];
	twin[there] = back;
	twin[back] = there;
	twin[lower_there] = lower_back;
	twin[lower_back] = lower_there;
}

bool cut_apply(struct cutter *self, piece_list *out)
{
	ASSERT(self->node_count >= 2 && self->node_count <= self->node_room);
	struct decompose_piece *piece = self->piece;
	uint32_t nodes = self->node_count;
	struct cut_split split = { .piece = piece };
	size_t halves = 3 * ((size_t)piece->triangle_count + 2 * nodes);
	size_t points = (size_t)piece->point_count + nodes;
	split.mark = heap_alloc_zero((halves + points + nodes) * sizeof *split.mark);
	if (split.mark == NULL)
		return false;
	split.leave = split.mark + halves;
	split.loop = split.leave + points;
	bool good = piece_reserve(piece, (uint32_t)points, piece->triangle_count + 4 * nodes);
	if (good) {
		split_edges(self, &split);
		for (uint32_t i = 0; i < nodes; i++)
			split.loop[i] = step_half(self, &split, i);
		if (nodes == 2)
			separate_sheets(&split);
		else
			add_caps(self, &split);
		good = piece_list_of_piece(piece, out);
	}
	heap_free(split.mark);
	return good;
}

/* ---- planes (F-03) ---------------------------------------------------------------------------- */

struct plane_candidates {
	vec3 at, along, into1, into2; /* along the notch; into its faces, off the notch; unit */
	uint32_t count, capacity;
	struct cut_plane *out;
};

/* Adds the plane if it leaves neither part of the notch reflex: f1 not below it, f2 not above; the
 * normal may be reversed for that. Duplicates are dropped. */
static void add_candidate(struct plane_candidates *self, vec3 normal)
{
	ASSERT(self->count <= self->capacity);
	static const double SLACK = 1e-9;
	if (self->count == self->capacity || !(vec3_length_squared(normal) > 0))
		return;
	double one = vec3_dot(normal, self->into1), two = vec3_dot(normal, self->into2);
	if (one < -SLACK || two > SLACK) {
		normal = vec3_negate(normal);
		if (one > SLACK || two < -SLACK)
			return;
	}
	for (uint32_t i = 0; i < self->count; i++)
		if (vec3_dot(self->out[i].normal, normal) > 1 - 1e-12)
			return;
	self->out[self->count++] = (struct cut_plane){ self->at, normal };
}

static void add_edge_candidates(struct plane_candidates *self, const struct decompose_piece *piece,
				uint32_t leaving)
{
	uint32_t h = leaving;
	do {
		vec3 d = vec3_sub(piece_end(piece, h), piece_start(piece, h));
		vec3 across = vec3_mul_sub(d, self->along, vec3_dot(d, self->along));
		if (vec3_length(across) > 1e-6 * vec3_length(d))
			add_candidate(self, vec3_normalize(vec3_cross(self->along, across)));
		h = piece->twin[half_previous(h)];
	} while (h != leaving);
}

uint32_t cut_candidates(const struct decompose_piece *piece, uint32_t notch, uint32_t capacity,
			struct cut_plane *out)
{
	ASSERT(notch < 3 * piece->triangle_count);
	static const double PARTS[5] = { 0.25, 0.5, 0.75, 0.375, 0.625 };
	uint32_t twin = piece->twin[notch];
	vec3 n1 = vec3_normalize(piece_area(piece, notch / 3));
	vec3 n2 = vec3_normalize(piece_area(piece, twin / 3));
	struct plane_candidates self = { .at = piece_start(piece, notch),
					 .capacity = capacity,
					 .out = out };
	self.along = vec3_normalize(vec3_sub(piece_end(piece, notch), self.at));
	self.into1 = vec3_cross(n1, self.along);
	self.into2 = vec3_cross(self.along, n2);
	/* The extension of f2 runs above f2; that of f1 below f1. */
	add_candidate(&self, n2);
	add_candidate(&self, vec3_negate(n1));
	add_edge_candidates(&self, piece, notch);
	add_edge_candidates(&self, piece, twin);
	double angle = PI - trig_atan2(vec3_triple(self.along, n1, n2), vec3_dot(n1, n2));
	for (uint32_t i = 0; i < 5; i++) {
		double s, c;
		trig_sincos(PARTS[i] * angle, &s, &c);
		add_candidate(&self, vec3_add(vec3_scale(n1, c), vec3_scale(self.into1, s)));
	}
	ASSERT(self.count <= capacity);
	return self.count;
}
