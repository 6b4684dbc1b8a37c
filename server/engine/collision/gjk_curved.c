/* gjk_curved.c: the distance of two convex sets that are given by support functions, not by
 * vertices.
 *
 * Problem and rounds are those of gjk.c: v is the point of a simplex of supports of W = B − A
 * nearest to the origin, w the support against v; v·w / |v| ≤ distance ≤ |v|. A curved set has no
 * vertices, so the bounds never meet exactly: each round adds a point of the surface, and near the
 * nearest points the simplex becomes an ever smaller triangle on it. The gap shrinks with the
 * square of its size.
 *
 * End: the gap is below CURVED_GAP of the distance, or below OPEN of the coordinates (the
 * certificate: both bounds are returned); or w does not bring v nearer, which rounding causes; or
 * GJK_CURVED_ITERATIONS_MAX rounds. In the last two cases, if the gap is above CURVED_CLOSED of the
 * coordinates, handed_over is set: the bounds are valid, but wide.
 *
 * Nearest points of simplices are computed in doubles, from differences of corners, and with 106
 * bits (gjk_nearest) once that brings v no nearer. Touching: four supports around the origin by
 * exact signs, or |v| within TOUCHING of the coordinates. */
#include "server/engine/collision/gjk.h"
#include "server/engine/collision/gjk_exact.h"
#include "server/engine/geometry/closest.h"

#define CURVED_GAP 1e-12    /* of the distance */
#define OPEN 1e-15	    /* of the largest coordinate: a narrower gap is rounding */
#define CURVED_CLOSED 1e-10 /* of the largest coordinate */
#define TOUCHING 1e-14	    /* of the largest coordinate */

struct aabb gjk_box(const struct gjk_core *core, const mat3 *rotation, vec3 translation)
{
	if (core->curve != NULL)
		return aabb_grow(curve_box(core->curve, rotation, translation), core->radius);
	struct aabb box = aabb_empty();
	for (uint32_t i = 0; i < core->count; i++)
		box = aabb_add_point(
			box, vec3_add(translation, mat3_mul_vec(*rotation, core->points[i])));
	return aabb_grow(box, core->radius);
}

/* ---- simplices ------------------------------------------------------------------------------- */

struct support_pair {
	vec3 w, a, b; /* w = b − a, all in A's frame */
};

struct search {
	const struct gjk_core *a, *b;
	const mat3 *rotation;
	vec3 translation;
	double scale; /* largest coordinate so far, m */
	bool exact;   /* simplices are solved with 106 bits */
	uint32_t count;
	struct support_pair corners[4];
	double parts[4];
	vec3 v;
	double distance; /* |v| */
};

/* The support of B − A against `direction`. */
static struct support_pair find_support(struct search *self, vec3 direction)
{
	vec3 p = gjk_support_point(self->a, direction);
	vec3 back = mat3_transposed_mul_vec(*self->rotation, vec3_negate(direction));
	vec3 q = vec3_add(self->translation,
			  mat3_mul_vec(*self->rotation, gjk_support_point(self->b, back)));
	self->scale = scalar_max(self->scale, scalar_max(vec3_max_component(vec3_abs(p)),
							 vec3_max_component(vec3_abs(q))));
	return (struct support_pair){ vec3_sub(q, p), p, q };
}

/* The nearest point of a triangle by its interior in doubles; false: it may be on an edge. */
static bool nearest_inside(const vec3 w[3], double parts[3])
{
	vec3 ab = vec3_sub(w[1], w[0]), ac = vec3_sub(w[2], w[0]), n = vec3_cross(ab, ac);
	double size = vec3_length_squared(n);
	if (!(size > 1e-20 * vec3_length_squared(ab) * vec3_length_squared(ac)))
		return false;
	/* The foot of the origin, relative to corner 0, keeps the digits of a small triangle. */
	vec3 foot = vec3_mul_sub(vec3_negate(w[0]), n, vec3_dot(vec3_negate(w[0]), n) / size);
	double b = vec3_dot(vec3_cross(foot, ac), n) / size;
	double c = vec3_dot(vec3_cross(ab, foot), n) / size;
	if (!(b > 1e-9 && c > 1e-9 && 1 - b - c > 1e-9))
		return false;
	parts[0] = 1 - b - c;
	parts[1] = b;
	parts[2] = c;
	return true;
}

/* The nearest point of a segment in doubles. */
static void nearest_between(vec3 a, vec3 b, double *part_a, double *part_b)
{
	vec3 e = vec3_sub(b, a);
	double along = -vec3_dot(a, e), length = vec3_dot(e, e);
	double t = length > 0 ? scalar_clamp(along / length, 0, 1) : 0;
	*part_a = 1 - t;
	*part_b = t;
}

/* The shares of up to three corners in doubles; false: in doubt. */
static bool nearest_quickly(const vec3 *w, uint32_t count, double parts[3])
{
	ASSERT(count >= 1 && count <= 3);
	if (count == 1) {
		parts[0] = 1;
		return true;
	}
	if (count == 2) {
		nearest_between(w[0], w[1], &parts[0], &parts[1]);
		return true;
	}
	if (nearest_inside(w, parts))
		return true;
	enum triangle_feature feature =
		closest_point_triangle(vec3_zero(), w[0], w[1], w[2]).feature;
	if (feature == TRIANGLE_FACE)
		return false;
	if (feature < TRIANGLE_EDGE_0) {
		parts[feature - TRIANGLE_VERTEX_0] = 1;
		return true;
	}
	uint32_t i = feature - TRIANGLE_EDGE_0, j = (i + 1) % 3;
	nearest_between(w[i], w[j], &parts[i], &parts[j]);
	return true;
}

/* The nearest of up to three corners; keeps those that carry it. */
static void solve_part(const struct search *self, const uint32_t *of, uint32_t count,
		       struct search *out)
{
	ASSERT(count >= 1 && count <= 3);
	vec3 w[3];
	double parts[3] = { 0 };
	for (uint32_t k = 0; k < count; k++)
		w[k] = self->corners[of[k]].w;
	if (self->exact || !nearest_quickly(w, count, parts))
		gjk_nearest(w, count, parts);
	out->count = 0;
	/* v from corner 0 and differences, so that a small simplex far away does not lose its
	 * digits. */
	uint32_t base = 0;
	while (base + 1 < count && !(parts[base] > 0))
		base++;
	out->v = w[base];
	for (uint32_t k = 0; k < count; k++) {
		if (!(parts[k] > 0))
			continue;
		out->parts[out->count] = parts[k];
		out->corners[out->count++] = self->corners[of[k]];
		if (k != base)
			out->v = vec3_mul_add(out->v, vec3_sub(w[k], w[base]), parts[k]);
	}
	out->distance = vec3_length(out->v);
}

/* True: four corners hold the origin. */
static bool solve_simplex(struct search *self)
{
	static const uint32_t ALL[3] = { 0, 1, 2 };
	static const uint32_t FACES[4][3] = { { 1, 2, 3 }, { 0, 2, 3 }, { 0, 1, 3 }, { 0, 1, 2 } };
	struct search best = *self, part = *self;
	if (self->count < 4) {
		solve_part(self, ALL, self->count, &best);
		*self = best;
		return false;
	}
	int inner[4];
	vec3 w[4];
	for (uint32_t k = 0; k < 4; k++)
		w[k] = self->corners[k].w;
	if (gjk_tetrahedron_holds(w, inner))
		return true;
	best.distance = SCALAR_MAX;
	for (uint32_t f = 0; f < 4; f++) {
		if (inner[f] > 0)
			continue;
		solve_part(self, FACES[f], 3, &part);
		if (part.distance < best.distance)
			best = part;
	}
	*self = best;
	return false;
}

/* ---- the search ------------------------------------------------------------------------------ */

static void report_inside(const struct search *self, struct gjk_result *out)
{
	ASSERT(self->count == 4);
	vec3 w[4];
	double parts[4];
	for (uint32_t k = 0; k < 4; k++)
		w[k] = self->corners[k].w;
	gjk_shares(w, parts);
	for (uint32_t k = 0; k < 4; k++) {
		out->point_a = vec3_mul_add(out->point_a, self->corners[k].a, parts[k]);
		out->point_b = vec3_mul_add(out->point_b, self->corners[k].b, parts[k]);
	}
	out->touching = true;
	out->lower = 0;
	out->handed_over = false;
}

static void report_outside(const struct search *self, vec3 proof, struct gjk_result *out)
{
	vec3 a = self->corners[0].a, b = self->corners[0].b;
	ASSERT(self->count >= 1 && self->count <= 3);
	out->point_a = a;
	out->point_b = b;
	for (uint32_t k = 1; k < self->count; k++) {
		out->point_a =
			vec3_mul_add(out->point_a, vec3_sub(self->corners[k].a, a), self->parts[k]);
		out->point_b =
			vec3_mul_add(out->point_b, vec3_sub(self->corners[k].b, b), self->parts[k]);
	}
	out->touching = self->distance <= TOUCHING * self->scale;
	out->handed_over = false;
	if (out->touching) {
		out->lower = 0;
		return;
	}
	out->distance = self->distance;
	out->lower = scalar_min(out->lower, self->distance);
	out->normal = out->lower > 0 ? proof : vec3_scale(self->v, 1 / self->distance);
	out->handed_over = out->distance - out->lower > CURVED_CLOSED * self->scale;
}

void gjk_curved(const struct gjk_core *a, const struct gjk_core *b, const mat3 *rotation,
		vec3 translation, double enough, struct gjk_result *out)
{
	struct search self = { .a = a, .b = b, .rotation = rotation, .translation = translation };
	vec3 proof = vec3_zero();
	*out = (struct gjk_result){ 0 };
	vec3 between = vec3_sub(vec3_add(translation, mat3_mul_vec(*rotation, b->points[0])),
				a->points[0]);
	self.corners[0] = find_support(&self, between);
	self.count = 1;
	solve_simplex(&self);
	while (out->iterations < GJK_CURVED_ITERATIONS_MAX &&
	       self.distance > TOUCHING * self.scale) {
		out->iterations++;
		vec3 unit = vec3_scale(self.v, 1 / self.distance);
		struct support_pair next = find_support(&self, unit);
		double proved = vec3_dot(unit, next.w);
		if (proved > out->lower) {
			out->lower = proved;
			proof = unit;
		}
		double gap = self.distance - out->lower;
		if (gap <= CURVED_GAP * self.distance || gap <= OPEN * self.scale ||
		    out->lower > enough)
			break;
		struct search before = self;
		self.corners[self.count++] = next;
		if (solve_simplex(&self)) {
			report_inside(&self, out);
			return;
		}
		if (!(self.distance < before.distance)) {
			self = before;
			if (self.exact || gap <= CURVED_CLOSED * self.scale)
				break;
			self.exact = true;
		}
	}
	report_outside(&self, proof, out);
}
