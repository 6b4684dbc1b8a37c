/* epa.c: penetration depth by an expanding polytope (van den Bergen).
 *
 * Problem: the pieces overlap, so the origin lies in W = B − A. The boundary point of W nearest to the
 * origin, at distance h along the outward normal n, is the least translation: moving B by −h n
 * separates them. W is known only through its support points.
 *
 * Method: P ⊂ W is a closed polytope of support points that contains the origin; each triangle
 * stores its neighbours. The surface of P is at least as near as that of W, so the least distance
 * of a triangle is a lower bound. The support point w of W along that triangle's normal n gives W ⊂
 * {n·x ≤ n·w}: an upper bound. The search ends when the bounds meet. Otherwise w is added: the
 * triangles visible from w are removed, and each edge of their rim is joined to w. For polyhedra
 * this ends exactly, on a face of W.
 *
 * Visibility is decided by exact signs (geometry/orient.h) of the vertices as stored, so P is
 * closed and convex whatever the rounding: the visible triangles form one disc, triangles coplanar
 * with w are not visible, and every new triangle has an area. The distance of a triangle is that of
 * its nearest point, not of its plane, because a sliver's plane is mostly rounding and its edges
 * are not.
 *
 * Start: the final simplex of GJK. If it has fewer than four points, or four in a plane (the pieces
 * just touch), support points along fixed directions complete it; among equal choices the first is
 * taken. If W is flat, no tetrahedron exists, and the depth is 0. The origin may then lie outside
 * P: such triangles have a negative distance and are expanded first. If one of them remains, the
 * pieces touch up to rounding, and the depth is 0.
 *
 * What goes wrong: the normal of a sliver may be inaccurate, so that its support point proves
 * nothing. Then the normals of its neighbours are tried, the triangle is set aside, and the gap
 * stays open (EPA_OPEN). Or the workspace is full (EPA_CAPACITY). In both cases both bounds hold,
 * and the caller can count the case and use the separating axes instead.
 *
 * Order: the least distance, then the lowest index; free triangles are reused last in, first out.
 */
#include "server/engine/collision/epa.h"

#include "server/engine/collision/gjk_exact.h"
#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/orient.h"

#define GAP_RELATIVE 1e-11 /* of the depth, between the bounds */
#define GAP_ABSOLUTE 4e-15 /* of the largest coordinate */
#define THIN 1e-2	   /* height of a triangle as a part of its longest side */

enum { NONE = 0xffff };
enum { FACE_FREE = 0, FACE_OPEN = 1, FACE_LEFT = 2, FACE_SEEN = 3 };

struct epa_search {
	const struct gjk_core *a, *b;
	const mat3 *rotation;
	vec3 translation;
	struct epa_workspace *work;
	double scale;	/* m, largest coordinate of a vertex so far */
	double upper;	/* m, bound of the depth */
	vec3 normal;	/* of the upper bound, outward */
	double left;	/* m, least distance of the triangles set aside */
	uint32_t round; /* iterations */
};

/* ---- supports -------------------------------------------------------------------------------- */

static struct epa_vertex vertex_make(struct epa_search *self, uint32_t i, uint32_t j)
{
	ASSERT(i < self->a->count && j < self->b->count);
	vec3 p = self->a->points[i];
	vec3 q = vec3_add(self->translation, mat3_mul_vec(*self->rotation, self->b->points[j]));
	self->scale = scalar_max(self->scale, scalar_max(vec3_max_component(vec3_abs(p)),
							 vec3_max_component(vec3_abs(q))));
	return (struct epa_vertex){ vec3_sub(q, p), p, q, (uint16_t)i, (uint16_t)j };
}

/* The support point of W along the direction; on large hulls the climb begins at the vertex `from`. */
static struct epa_vertex support(struct epa_search *self, vec3 along, const struct epa_vertex *from)
{
	uint32_t i = gjk_support(self->a, vec3_negate(along), from->index_a);
	uint32_t j = gjk_support(self->b, mat3_transposed_mul_vec(*self->rotation, along),
				 from->index_b);
	return vertex_make(self, i, j);
}

/* ---- triangles ------------------------------------------------------------------------------- */

static vec3 corner(const struct epa_workspace *work, const struct epa_face *face, uint32_t k)
{
	return work->vertices[face->corner[k]].w;
}

static void face_measure(struct epa_workspace *work, struct epa_face *face)
{
	vec3 w[3] = { corner(work, face, 0), corner(work, face, 1), corner(work, face, 2) };
	vec3 ab = vec3_sub(w[1], w[0]), ac = vec3_sub(w[2], w[0]), n = vec3_cross(ab, ac);
	double longest = scalar_max(vec3_length_squared(ab), vec3_length_squared(ac)), near,
	       parts[3];
	longest = scalar_max(longest, vec3_distance_squared(w[1], w[2]));
	/* A thin triangle's normal and distance need more digits than its corners have. */
	if (vec3_length_squared(n) < THIN * THIN * longest * longest) {
		face->normal = gjk_normal(w[0], w[1], w[2]);
		near = gjk_nearest(w, 3, parts);
	} else {
		face->normal = vec3_normalize(n);
		near = scalar_sqrt(
			closest_point_triangle(vec3_zero(), w[0], w[1], w[2]).distance_squared);
	}
	face->state = FACE_OPEN;
	if (orient_plane(w[0], w[1], w[2], vec3_zero()) > 0)
		face->key = -scalar_min(scalar_abs(vec3_dot(face->normal, w[0])), near);
	else
		face->key = near;
}

/* Adds a triangle and returns its index, NONE if the workspace is full. The caller sets the
 * neighbours. */
static uint32_t face_add(struct epa_search *self, uint32_t a, uint32_t b, uint32_t c)
{
	struct epa_workspace *work = self->work;
	ASSERT(a < work->vertex_count && b < work->vertex_count && c < work->vertex_count);
	ASSERT(a != b && b != c && c != a);
	uint32_t at;
	if (work->free_count > 0)
		at = work->free[--work->free_count];
	else if (work->face_count < EPA_FACES_MAX)
		at = work->face_count++;
	else
		return NONE;
	struct epa_face *face = &work->faces[at];
	face->corner[0] = (uint16_t)a;
	face->corner[1] = (uint16_t)b;
	face->corner[2] = (uint16_t)c;
	face_measure(work, face);
	return at;
}

static void face_drop(struct epa_workspace *work, uint32_t at)
{
	ASSERT(at < work->face_count);
	ASSERT(work->free_count < EPA_FACES_MAX);
	work->faces[at].state = FACE_FREE;
	work->free[work->free_count++] = (uint16_t)at;
}

/* The edge of `face` that it shares with the triangle `other`, 0 … 2. */
static uint32_t shared_edge(const struct epa_face *face, uint32_t other)
{
	uint32_t k = 0;
	while (k < 2 && face->beside[k] != other)
		k++;
	ASSERT(face->beside[k] == other);
	return k;
}

/* True if the triangle is visible from w: w lies strictly above its plane. */
static bool is_visible(const struct epa_workspace *work, uint32_t at, vec3 w)
{
	const struct epa_face *face = &work->faces[at];
	return orient_plane(corner(work, face, 0), corner(work, face, 1), corner(work, face, 2),
			    w) > 0;
}

/* Walks the disc of triangles visible from w, starting at `first`, and writes its rim: (outside
 * triangle, its edge), counter-clockwise around the disc. Visible triangles get FACE_SEEN. The walk
 * is depth first with edges in order, so the rim is written in its order. Returns the number of rim
 * edges. */
static uint32_t rim_find(struct epa_search *self, uint32_t first, vec3 w)
{
	struct epa_workspace *work = self->work;
	uint32_t depth = 0, count = 0;
	work->faces[first].state = FACE_SEEN;
	/* An entry: the triangle, and its edges that are still to be crossed: two bits for the
	 * first, two for the number. */
	work->stack[depth][0] = (uint16_t)first;
	work->stack[depth++][1] = 0 | 3 << 2;
	while (depth > 0) {
		uint16_t *entry = work->stack[depth - 1];
		uint32_t edge = entry[1] & 3, left = (uint32_t)entry[1] >> 2;
		if (left == 0) {
			depth--;
			continue;
		}
		uint32_t from = entry[0], to = work->faces[from].beside[edge];
		entry[1] = (uint16_t)((edge + 1) % 3 | (left - 1) << 2);
		struct epa_face *other = &work->faces[to];
		if (other->state == FACE_SEEN)
			continue;
		uint32_t back = shared_edge(other, from);
		ASSERT(count < EPA_FACES_MAX && depth < EPA_FACES_MAX);
		if (is_visible(work, to, w)) {
			other->state = FACE_SEEN;
			work->stack[depth][0] = (uint16_t)to;
			work->stack[depth++][1] = (uint16_t)((back + 1) % 3 | 2 << 2);
		} else {
			work->rim[count][0] = (uint16_t)to;
			work->rim[count++][1] = (uint16_t)back;
		}
	}
	return count;
}

/* Replaces the visible triangles by triangles from the rim to the new vertex. False: the workspace
 * is full and the polytope is unchanged. */
static bool expand(struct epa_search *self, uint32_t first, const struct epa_vertex *vertex)
{
	struct epa_workspace *work = self->work;
	if (work->vertex_count == EPA_VERTICES_MAX)
		return false;
	uint32_t rim = rim_find(self, first, vertex->w), before = NONE, begin = NONE;
	ASSERT(rim > 0);
	uint32_t at = work->vertex_count++;
	work->vertices[at] = *vertex;
	for (uint32_t f = 0; f < work->face_count; f++)
		if (work->faces[f].state == FACE_SEEN)
			face_drop(work, f);
	/* V vertices have at most 2V − 4 triangles, so the workspace has room for these. */
	for (uint32_t k = 0; k < rim; k++) {
		struct epa_face *outside = &work->faces[work->rim[k][0]];
		uint32_t edge = work->rim[k][1];
		/* The edge runs the other way round in the new triangle. */
		uint32_t new =
			face_add(self, outside->corner[(edge + 1) % 3], outside->corner[edge], at);
		ASSERT(new != NONE);
		outside->beside[edge] = (uint16_t) new;
		work->faces[new].beside[0] = work->rim[k][0];
		if (before == NONE)
			begin = new;
		else {
			work->faces[before].beside[1] = (uint16_t) new;
			work->faces[new].beside[2] = (uint16_t)before;
		}
		before = new;
	}
	work->faces[before].beside[1] = (uint16_t)begin;
	work->faces[begin].beside[2] = (uint16_t)before;
	return true;
}

/* ---- the start ------------------------------------------------------------------------------- */

static bool spans(const struct epa_vertex *s, uint32_t count, vec3 w)
{
	if (count == 1)
		return !vec3_equal(s[0].w, w);
	if (count == 2)
		return !orient_collinear(s[0].w, s[1].w, w);
	return orient_plane(s[0].w, s[1].w, s[2].w, w) != 0;
}

/* The directions across the span of the points: the three axes, two across a line, one across a
 * plane. */
static uint32_t directions(const struct epa_vertex *s, uint32_t count, vec3 out[6])
{
	uint32_t n = 0;
	ASSERT(count >= 1 && count <= 3);
	if (count == 3) {
		out[n++] = vec3_normalize(
			vec3_cross(vec3_sub(s[1].w, s[0].w), vec3_sub(s[2].w, s[0].w)));
	} else if (count == 2) {
		vec3 t, k;
		vec3_frame(vec3_normalize(vec3_sub(s[1].w, s[0].w)), &t, &k);
		out[n++] = t;
		out[n++] = k;
	} else {
		for (uint32_t axis = 0; axis < 3; axis++)
			out[n++] = vec3_axis(axis);
	}
	return n;
}

/* Adds the support point farthest from the span of the points; false: all lie within it, so W is
 * flat. */
static bool grow(struct epa_search *self, uint32_t *count)
{
	struct epa_vertex *s = self->work->vertices, best = s[0];
	vec3 along[6];
	double far = 0;
	ASSERT(*count >= 1 && *count < 4);
	bool found = false;
	uint32_t n = directions(s, *count, along);
	for (uint32_t k = 0; k < 2 * n; k++) {
		vec3 d = k & 1 ? vec3_negate(along[k / 2]) : along[k / 2];
		struct epa_vertex vertex = support(self, d, &s[0]);
		double out = vec3_dot(d, vec3_sub(vertex.w, s[0].w));
		if (spans(s, *count, vertex.w) && (!found || out > far)) {
			best = vertex;
			far = out;
			found = true;
		}
	}
	if (found)
		s[(*count)++] = best;
	return found;
}

/* Builds a tetrahedron with volume from the simplex. False: W is flat, and *flat is its normal. */
static bool start(struct epa_search *self, const struct gjk_simplex *touching, vec3 *flat)
{
	struct epa_vertex *s = self->work->vertices;
	uint32_t count = 0;
	for (uint32_t k = 0; k < touching->count && k < 4; k++) {
		struct epa_vertex vertex = vertex_make(self, touching->a[k], touching->b[k]);
		if (count == 0 || spans(s, count, vertex.w))
			s[count++] = vertex;
	}
	if (count == 0)
		s[count++] = vertex_make(self, 0, 0);
	while (count < 4 && grow(self, &count))
		;
	self->work->vertex_count = count;
	if (count < 4) {
		vec3 t, k;
		*flat = vec3_axis(0);
		if (count == 2) {
			vec3_frame(vec3_normalize(vec3_sub(s[1].w, s[0].w)), &t, &k);
			*flat = t;
		} else if (count == 3) {
			*flat = vec3_normalize(
				vec3_cross(vec3_sub(s[1].w, s[0].w), vec3_sub(s[2].w, s[0].w)));
		}
		return false;
	}
	if (orient_plane(s[0].w, s[1].w, s[2].w, s[3].w) > 0) {
		struct epa_vertex swap = s[0];
		s[0] = s[1];
		s[1] = swap;
	}
	/* Vertex 3 lies below 0 1 2. */
	static const uint8_t FACES[4][3] = { { 0, 1, 2 }, { 1, 0, 3 }, { 2, 1, 3 }, { 0, 2, 3 } };
	static const uint8_t BESIDE[4][3] = { { 1, 2, 3 }, { 0, 3, 2 }, { 0, 1, 3 }, { 0, 2, 1 } };
	for (uint32_t f = 0; f < 4; f++) {
		uint32_t at = face_add(self, FACES[f][0], FACES[f][1], FACES[f][2]);
		for (uint32_t k = 0; k < 3; k++)
			self->work->faces[at].beside[k] = BESIDE[f][k];
	}
	return true;
}

/* ---- the rounds ------------------------------------------------------------------------------ */

static uint32_t nearest_face(const struct epa_workspace *work)
{
	uint32_t best = NONE;
	double least = SCALAR_MAX;
	for (uint32_t f = 0; f < work->face_count; f++) {
		if (work->faces[f].state == FACE_OPEN && work->faces[f].key < least) {
			least = work->faces[f].key;
			best = f;
		}
	}
	return best;
}

/* The support point along n; lowers the upper bound if its plane proves less. */
static struct epa_vertex support_and_bound(struct epa_search *self, vec3 n,
					   const struct epa_vertex *from)
{
	struct epa_vertex vertex = support(self, n, from);
	double height = vec3_dot(n, vertex.w);
	bool unit = vec3_length_squared(n) >
		    0.5; /* n is zero if the triangle's normal was lost in rounding. */
	if (unit && height < self->upper) {
		self->upper = height;
		self->normal = n;
	}
	return vertex;
}

static bool closed(const struct epa_search *self, double lower)
{
	return self->upper - lower <= GAP_RELATIVE * self->upper + GAP_ABSOLUTE * self->scale;
}

/* Sets a face aside whose own support point does not lie outside: it is a face of W, or its normal is
 * inaccurate. The normals of its neighbours may still lower the upper bound. */
static void face_leave(struct epa_search *self, struct epa_face *face)
{
	struct epa_workspace *work = self->work;
	for (uint32_t k = 0; k < 3 && !closed(self, face->key); k++)
		support_and_bound(self, work->faces[face->beside[k]].normal,
				  &work->vertices[face->corner[0]]);
	face->state = FACE_LEFT;
	self->left = scalar_min(self->left, face->key);
}

static enum epa_status rounds(struct epa_search *self, double *lower, uint32_t *nearest)
{
	struct epa_workspace *work = self->work;
	*nearest = NONE;
	for (;;) {
		uint32_t at = nearest_face(work);
		if (at == NONE)
			return EPA_OPEN;
		struct epa_face *face = &work->faces[at];
		if (*nearest == NONE || work->faces[*nearest].state != FACE_LEFT)
			*nearest = at;
		*lower = scalar_min(face->key, self->left);
		if (closed(self, *lower))
			return EPA_DONE;
		self->round++;
		struct epa_vertex vertex =
			support_and_bound(self, face->normal, &work->vertices[face->corner[0]]);
		if (closed(self, *lower))
			return EPA_DONE;
		if (!is_visible(work, at, vertex.w))
			face_leave(self, face);
		else if (!expand(self, at, &vertex))
			return EPA_CAPACITY;
	}
}

/* The triangle nearest to an origin that is outside by rounding. It need not be the one with the
 * least key, whose plane the origin is farthest outside of. Where no distance compares (overflow),
 * the first triangle. */
static uint32_t touched_face(const struct epa_workspace *work)
{
	uint32_t best = NONE;
	double least = SCALAR_MAX, parts[3];
	for (uint32_t f = 0; f < work->face_count; f++) {
		const struct epa_face *face = &work->faces[f];
		if (face->state == FACE_FREE)
			continue;
		vec3 w[3] = { corner(work, face, 0), corner(work, face, 1), corner(work, face, 2) };
		double near = gjk_nearest(w, 3, parts);
		if (near < least || best == NONE)
			best = f;
		least = scalar_min(near, least);
	}
	return best;
}

/* Sets the points of both pieces that belong to the face's point nearest to the origin. */
static void witnesses(const struct epa_search *self, uint32_t at, struct epa_result *out)
{
	if (at == NONE || !(self->work->faces[at].key > 0))
		at = touched_face(self->work);
	ASSERT(at < self->work->face_count);
	const struct epa_face *face = &self->work->faces[at];
	vec3 w[3] = { corner(self->work, face, 0), corner(self->work, face, 1),
		      corner(self->work, face, 2) };
	double parts[3];
	gjk_nearest(w, 3, parts);
	for (uint32_t k = 0; k < 3; k++) {
		const struct epa_vertex *vertex = &self->work->vertices[face->corner[k]];
		out->point_a = vec3_mul_add(out->point_a, vertex->a, parts[k]);
		out->point_b = vec3_mul_add(out->point_b, vertex->b, parts[k]);
	}
}

void epa_depth(const struct gjk_core *a, const struct gjk_core *b, const mat3 *rotation,
	       vec3 translation, const struct gjk_simplex *touching, struct epa_workspace *work,
	       struct epa_result *out)
{
	struct epa_search self = { .a = a,
				   .b = b,
				   .rotation = rotation,
				   .translation = translation,
				   .work = work,
				   .upper = SCALAR_MAX,
				   .left = SCALAR_MAX };
	vec3 flat;
	double lower = 0;
	uint32_t nearest = NONE;
	work->vertex_count = work->face_count = work->free_count = 0;
	*out = (struct epa_result){ .status = EPA_FLAT };
	if (!start(&self, touching, &flat)) {
		out->normal = flat;
		out->point_a = work->vertices[0].a;
		out->point_b = work->vertices[0].b;
		return;
	}
	out->status = rounds(&self, &lower, &nearest);
	out->iterations = self.round;
	out->normal = vec3_negate(self.normal);
	out->depth = scalar_max(self.upper, 0);
	out->lower = scalar_clamp(lower, 0, out->depth);
	witnesses(&self, nearest, out);
}
