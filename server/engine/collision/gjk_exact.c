/* gjk_exact.c: the second algorithm for the distance of two convex sets: nearest point of each simplex
 * by brute force, in numbers of 106 bits (Wolfe's nearest-point method on a corral of up to four points).
 *
 * Problem: as in gjk.c, whose doubles lose the significant digits when |v| is small against the vertices: v
 * is a difference of long vectors, and so are the signs that choose the part of a simplex.
 *
 * Method: the same rounds, but (1) for a simplex the nearest point of every vertex, edge and triangle is
 * computed from exact differences of the vertices in double2: t = −a·e / e·e on an edge,
 * v = n (n·a) / n·n with shares n·(b×c), n·(c×a), n·(a×b) over a triangle with n = (b−a) × (c−a); the
 * nearest of those that lie inside wins; (2) whether four points hold the origin is decided by exact
 * signs (geometry/orient.h). The vertices w are taken as the doubles they are; the true pieces are those
 * within rounding of them (GJK_TOUCHING).
 *
 * End: the plane across v through the support point w proves `lower`. The search ends when it meets |v|,
 * when w is in the simplex already, or when |v| does not decrease strictly, which it must as long as there
 * is a nearer point. No simplex is visited twice, so the rounds end. Touching is reported only with a proof:
 * four points around the origin, or |v| within GJK_TOUCHING.
 *
 * What goes wrong: GJK_EXACT_ROUNDS_MAX rounds (never seen). Then distance and lower are both valid bounds
 * with a gap between them.
 */
#include "server/engine/collision/gjk_exact.h"

#include "server/engine/geometry/orient.h"
#include "server/engine/math/double_double.h"

#define GAP 1e-13 /* of the distance: where lower and upper bound count as one */

struct long3 {
	double2 x, y, z;
};

static struct long3 vector_between(vec3 from, vec3 to)
{
	return (struct long3){ double2_sum(to.x, -from.x), double2_sum(to.y, -from.y),
			       double2_sum(to.z, -from.z) };
}

static struct long3 widen(vec3 v)
{
	return (struct long3){ { v.x, 0 }, { v.y, 0 }, { v.z, 0 } };
}

static vec3 narrow(const struct long3 *v)
{
	return vec3_make(v->x.hi, v->y.hi, v->z.hi);
}

static double2 dot(const struct long3 *a, const struct long3 *b)
{
	return double2_add(double2_add(double2_mul(a->x, b->x), double2_mul(a->y, b->y)),
			   double2_mul(a->z, b->z));
}

static double2 minor(double2 a, double2 b, double2 c, double2 d)
{
	return double2_add(double2_mul(a, b), double2_negate(double2_mul(c, d)));
}

static struct long3 cross(const struct long3 *a, const struct long3 *b)
{
	return (struct long3){ minor(a->y, b->z, a->z, b->y), minor(a->z, b->x, a->x, b->z),
			       minor(a->x, b->y, a->y, b->x) };
}

static struct long3 mul_add(const struct long3 *a, const struct long3 *b, double2 s)
{
	return (struct long3){ double2_add(a->x, double2_mul(b->x, s)),
			       double2_add(a->y, double2_mul(b->y, s)),
			       double2_add(a->z, double2_mul(b->z, s)) };
}

/* ---- the nearest point of a simplex ------------------------------------------------------------- */

struct corner {
	vec3 w, a, b; /* w = b − a, all in A's frame */
	uint16_t index_a, index_b;
};

/* A part of a simplex and its point nearest to the origin. */
struct nearest {
	uint32_t count, of[3]; /* corners that carry it */
	double parts[3];
	struct long3 v;
	double2 squared;
};

static bool less(double2 a, double2 b)
{
	return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}

static void offer_feature(struct nearest *best, struct nearest *candidate)
{
	candidate->squared = dot(&candidate->v, &candidate->v);
	if (best->count == 0 || less(candidate->squared, best->squared))
		*best = *candidate;
}

static void offer_edge(const struct corner *s, uint32_t i, uint32_t j, struct nearest *best)
{
	struct long3 from = widen(s[i].w), along = vector_between(s[i].w, s[j].w);
	double2 length2 = dot(&along, &along), at = double2_negate(dot(&from, &along));
	if (!(at.hi > 0) || !less(at, length2))
		return;
	double2 t = double2_div(at, length2);
	struct nearest candidate = { .count = 2,
				     .of = { i, j },
				     .parts = { 1 - t.hi, t.hi },
				     .v = mul_add(&from, &along, t) };
	offer_feature(best, &candidate);
}

static void offer_triangle(const struct corner *s, uint32_t i, uint32_t j, uint32_t k,
			   struct nearest *best)
{
	struct long3 ab = vector_between(s[i].w, s[j].w), ac = vector_between(s[i].w, s[k].w);
	struct long3 n = cross(&ab, &ac), a = widen(s[i].w), b = widen(s[j].w), c = widen(s[k].w);
	double2 size = dot(&n, &n);
	if (!(size.hi > 0))
		return;
	struct long3 bc = cross(&b, &c), ca = cross(&c, &a), a_b = cross(&a, &b);
	double2 parts[3] = { dot(&n, &bc), dot(&n, &ca), dot(&n, &a_b) };
	if (!(parts[0].hi > 0 && parts[1].hi > 0 && parts[2].hi > 0))
		return;
	double2 sum = double2_add(double2_add(parts[0], parts[1]), parts[2]);
	struct long3 zero = widen(vec3_zero());
	struct nearest candidate = { .count = 3, .of = { i, j, k } };
	for (uint32_t p = 0; p < 3; p++)
		candidate.parts[p] = double2_div(parts[p], sum).hi;
	candidate.v = mul_add(&zero, &n, double2_div(dot(&n, &a), size));
	offer_feature(best, &candidate);
}

static void nearest_of(const struct corner *s, uint32_t count, struct nearest *best)
{
	ASSERT(count >= 1 && count <= 4);
	best->count = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct nearest candidate = {
			.count = 1, .of = { i }, .parts = { 1 }, .v = widen(s[i].w)
		};
		offer_feature(best, &candidate);
	}
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = i + 1; j < count; j++)
			offer_edge(s, i, j, best);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = i + 1; j < count; j++)
			for (uint32_t k = j + 1; k < count; k++)
				offer_triangle(s, i, j, k, best);
}

bool gjk_tetrahedron_holds(const vec3 w[4], int inner[4])
{
	static const uint8_t FACES[4][3] = { { 1, 3, 2 }, { 0, 2, 3 }, { 0, 3, 1 }, { 0, 1, 2 } };
	int volume = orient_plane(w[0], w[1], w[2], w[3]);
	bool holds = volume != 0;
	for (uint32_t f = 0; f < 4; f++) {
		const uint8_t *face = FACES[f];
		/* About the origin, so that no difference has to be taken; of face and origin the sign is
		 * that of −det. */
		int side = -orient_plane(vec3_zero(), w[face[0]], w[face[1]], w[face[2]]);
		inner[f] = side * volume;
		holds = holds && inner[f] > 0;
	}
	return holds;
}

double gjk_nearest(const vec3 *w, uint32_t count, double parts[3])
{
	struct corner corners[3];
	struct nearest best;
	ASSERT(count >= 1 && count <= 3);
	for (uint32_t k = 0; k < count; k++) {
		corners[k] = (struct corner){ .w = w[k] };
		parts[k] = 0;
	}
	nearest_of(corners, count, &best);
	ASSERT(best.count >= 1 && best.count <= count);
	for (uint32_t k = 0; k < best.count; k++)
		parts[best.of[k]] = best.parts[k];
	return scalar_sqrt(best.squared.hi);
}

void gjk_shares(const vec3 w[4], double parts[4])
{
	double2 volumes[4], sum = { 0, 0 };
	for (uint32_t k = 0; k < 4; k++) {
		struct long3 a = widen(w[(k + 1) % 4]), b = widen(w[(k + 2) % 4]),
			     c = widen(w[(k + 3) % 4]);
		struct long3 n = cross(&b, &c);
		volumes[k] = dot(&a, &n);
		if (volumes[k].hi < 0)
			volumes[k] = double2_negate(volumes[k]);
		sum = double2_add(sum, volumes[k]);
	}
	for (uint32_t k = 0; k < 4; k++)
		parts[k] = sum.hi > 0 ? double2_div(volumes[k], sum).hi : 0.25;
}

vec3 gjk_normal(vec3 a, vec3 b, vec3 c)
{
	struct long3 ab = vector_between(a, b), ac = vector_between(a, c), n = cross(&ab, &ac);
	return vec3_normalize(narrow(&n));
}

/* ---- the rounds --------------------------------------------------------------------------------- */

struct exact_search {
	const struct gjk_core *a, *b;
	const mat3 *rotation;
	vec3 translation;
	double scale; /* largest coordinate of a vertex so far, m */
	uint32_t count;
	struct corner corners[4];
};

static struct corner corner_make(struct exact_search *self, uint32_t i, uint32_t j)
{
	ASSERT(i < self->a->count && j < self->b->count);
	vec3 p = self->a->points[i];
	vec3 q = vec3_add(self->translation, mat3_mul_vec(*self->rotation, self->b->points[j]));
	self->scale = scalar_max(self->scale, scalar_max(vec3_max_component(vec3_abs(p)),
							 vec3_max_component(vec3_abs(q))));
	return (struct corner){ vec3_sub(q, p), p, q, (uint16_t)i, (uint16_t)j };
}

static bool has(const struct exact_search *self, const struct corner *corner)
{
	for (uint32_t k = 0; k < self->count; k++)
		if (vec3_equal(self->corners[k].w, corner->w))
			return true;
	return false;
}

static void begin(struct exact_search *self, const struct gjk_simplex *start)
{
	self->count = 0;
	for (uint32_t k = 0; k < start->count && k < 4; k++) {
		struct corner corner = corner_make(self, start->a[k], start->b[k]);
		if (!has(self, &corner))
			self->corners[self->count++] = corner;
	}
	if (self->count == 0)
		self->corners[self->count++] = corner_make(self, 0, 0);
}

/* Removes the corners that do not carry the nearest point. */
static void carry(struct exact_search *self, const struct nearest *nearest)
{
	ASSERT(nearest->count >= 1 && nearest->count <= 3);
	struct corner kept[3];
	for (uint32_t k = 0; k < nearest->count; k++)
		kept[k] = self->corners[nearest->of[k]];
	self->count = nearest->count;
	for (uint32_t k = 0; k < nearest->count; k++)
		self->corners[k] = kept[k];
}

static bool holds_origin(const struct exact_search *self)
{
	int inner[4];
	vec3 w[4];
	if (self->count < 4)
		return false;
	for (uint32_t k = 0; k < 4; k++)
		w[k] = self->corners[k].w;
	return gjk_tetrahedron_holds(w, inner);
}

static struct corner exact_support(struct exact_search *self, vec3 v)
{
	const struct corner *near = &self->corners[0];
	uint32_t i = gjk_support(self->a, v, near->index_a);
	uint32_t j = gjk_support(self->b, mat3_transposed_mul_vec(*self->rotation, vec3_negate(v)),
				 near->index_b);
	return corner_make(self, i, j);
}

/* The tetrahedron around the origin: shares by volumes. */
static void result_inside(const struct exact_search *self, struct gjk_result *out)
{
	ASSERT(self->count == 4);
	const struct corner *s = self->corners;
	vec3 w[4] = { s[0].w, s[1].w, s[2].w, s[3].w };
	double parts[4];
	gjk_shares(w, parts);
	for (uint32_t k = 0; k < 4; k++) {
		out->point_a = vec3_mul_add(out->point_a, s[k].a, parts[k]);
		out->point_b = vec3_mul_add(out->point_b, s[k].b, parts[k]);
	}
	out->touching = true;
}

/* `proof`: the direction that gave `lower`. */
static void result_outside(const struct exact_search *self, const struct nearest *nearest,
			   double lower, vec3 proof, struct gjk_result *out)
{
	for (uint32_t k = 0; k < nearest->count; k++) {
		out->point_a = vec3_mul_add(out->point_a, self->corners[k].a, nearest->parts[k]);
		out->point_b = vec3_mul_add(out->point_b, self->corners[k].b, nearest->parts[k]);
	}
	double distance = scalar_sqrt(nearest->squared.hi);
	out->touching = distance <= GJK_TOUCHING * self->scale;
	if (out->touching)
		return;
	out->distance = distance;
	out->lower = scalar_min(lower, distance);
	out->normal = lower > 0 ? proof : vec3_scale(narrow(&nearest->v), 1.0 / distance);
}

void gjk_exact(const struct gjk_core *a, const struct gjk_core *b, const mat3 *rotation,
	       vec3 translation, struct gjk_result *out)
{
	struct exact_search self = {
		.a = a, .b = b, .rotation = rotation, .translation = translation
	};
	struct nearest now, next;
	double lower = 0;
	vec3 proof = vec3_zero();
	begin(&self, &out->simplex);
	*out = (struct gjk_result){ .handed_over = true, .iterations = out->iterations };
	bool inside = holds_origin(&self);
	nearest_of(self.corners, self.count, &now);
	if (!inside)
		carry(&self, &now);
	for (uint32_t round = 0; !inside && round < GJK_EXACT_ROUNDS_MAX; round++) {
		double distance = scalar_sqrt(now.squared.hi);
		if (distance <= GJK_TOUCHING * self.scale)
			break;
		vec3 unit = vec3_scale(narrow(&now.v), 1.0 / distance);
		struct corner corner = exact_support(&self, unit);
		struct long3 w = widen(corner.w), n = widen(unit);
		double proved = dot(&n, &w).hi;
		if (proved > lower) {
			lower = proved;
			proof = unit;
		}
		out->iterations++;
		if (distance - lower <= GAP * distance || has(&self, &corner))
			break;
		struct exact_search before = self;
		ASSERT(self.count < 4);
		self.corners[self.count++] = corner;
		inside = holds_origin(&self);
		nearest_of(self.corners, self.count, &next);
		if (!inside && !less(next.squared, now.squared)) {
			self = before;
			break;
		}
		now = next;
		if (!inside)
			carry(&self, &now);
	}
	ASSERT(self.count >= 1 && self.count <= 4);
	out->simplex.count = self.count;
	for (uint32_t k = 0; k < self.count; k++) {
		out->simplex.a[k] = self.corners[k].index_a;
		out->simplex.b[k] = self.corners[k].index_b;
	}
	if (inside)
		result_inside(&self, out);
	else
		result_outside(&self, &now, lower, proof, out);
}
