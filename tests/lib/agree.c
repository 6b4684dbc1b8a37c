/* agree.c: poses and the comparison.
 *
 * The tolerance is 1e-9 d + 1e-13 extent, where extent is the largest distance of a placed vertex
 * from A's origin. Hulls whose faces were joined from triangles are flat only to `bumps`: the shape
 * given by the vertices and the one given by the faces differ by that, so twice that amount is
 * added for each hull. */
#include "tests/lib/agree.h"

#include "server/base/heap.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

#include <stdarg.h>
#include <stdio.h>

#define RELATIVE 1e-9
#define ABSOLUTE 1e-13

enum { BOXES = 6, HULLS = 16, SLIVERS = 10, TINY = 6, LARGE = 6, BUMPY = 6 };

struct agree {
	struct rng rng;
	struct shape *boxes[BOXES], *hulls[HULLS], *slivers[SLIVERS], *tiny[TINY], *large[LARGE];
	struct shape *bumpy[BUMPY];
	struct epa_workspace work;
	struct oracle_hull a, b;
	/* of the pair before, as a warm start that may not fit this pair */
	struct vclip_features features;
	struct gjk_simplex simplex;
	struct pair_cache axis;
};

const char *agree_family_name(enum agree_family family)
{
	static const char *const NAMES[AGREE_FAMILIES] = { "random",  "near",  "aligned", "shared",
							   "slivers", "sizes", "bumpy" };
	return NAMES[family];
}

/* ---- shapes --------------------------------------------------------------------------------------- */

static struct shape *cloud(struct agree *self, uint32_t count, vec3 size)
{
	vec3 points[64];
	for (uint32_t k = 0; k < count; k++) {
		double r = rng_range(&self->rng, 0.7, 1);
		points[k] = vec3_hadamard(vec3_scale(random_direction(&self->rng), r), size);
	}
	return make_hull(points, count);
}

static struct shape *prism(uint32_t sides, double radius, double half)
{
	/* Corners of a square, a hexagon or an octagon with exact symmetry where there is one. */
	static const double C[3][8] = { { 1, 0, -1, 0 },
					{ 1, 0.5, -0.5, -1, -0.5, 0.5 },
					{ 1, 0.7, 0, -0.7, -1, -0.7, 0, 0.7 } };
	static const double S[3][8] = { { 0, 1, 0, -1 },
					{ 0, 0.8125, 0.8125, 0, -0.8125, -0.8125 },
					{ 0, 0.7, 1, 0.7, 0, -0.7, -1, -0.7 } };
	vec3 points[16];
	for (uint32_t k = 0; k < sides; k++) {
		double c = C[sides / 2 - 2][k] * radius, s = S[sides / 2 - 2][k] * radius;
		points[2 * k] = vec3_make(c, s, -half);
		points[2 * k + 1] = vec3_make(c, s, half);
	}
	return make_hull(points, 2 * sides);
}

/* A box or an eight-sided prism with extra points on its faces, rotated and rounded to floats. */
static struct shape *bumpy(struct agree *self, bool box)
{
	vec3 points[64];
	quat turn = random_rotation(&self->rng);
	for (uint32_t k = 0; k < 64; k++) {
		vec3 p = random_vector(&self->rng, 1);
		double y = rng_below(&self->rng, 2) == 0 ? -0.5 : 0.5;
		double reach = scalar_abs(p.x) + scalar_abs(p.z);
		p.y = k < 32 ? y : p.y / 2;
		if (k < 16)
			p = vec3_make(k & 1 ? -1 : 1, y, k & 2 ? -1 : 1);
		else if (!box && reach > 1.5)
			p = vec3_scale(p, 0.5);
		p = quat_rotate(turn, p);
		volatile float x = (float)p.x, v = (float)p.y, z = (float)p.z;
		points[k] = vec3_make((double)x, (double)v, (double)z);
	}
	if (!box)
		for (uint32_t k = 0; k < 16; k++)
			points[k] = vec3_lerp(points[k], points[(k + 1) % 16], 0.25);
	return make_hull(points, 64);
}

static void make_ordinary(struct agree *self)
{
	static const double HALF[BOXES][3] = { { 0.5, 0.5, 0.5 },    { 1, 0.5, 0.25 },
					       { 0.5, 1, 0.5 },	     { 2, 0.1, 0.1 },
					       { 0.75, 0.75, 0.05 }, { 0.3, 0.7, 1.1 } };
	for (uint32_t k = 0; k < BOXES; k++)
		self->boxes[k] = make_box(HALF[k][0], HALF[k][1], HALF[k][2]);
	for (uint32_t k = 0; k < HULLS; k++) {
		if (k < 3)
			self->hulls[k] = prism(4 + 2 * k, 0.8, 0.5);
		else
			self->hulls[k] =
				cloud(self, k < 15 ? 4 + (k - 3) / 2 * 2 : 40, vec3_all(0.8));
	}
}

struct agree *agree_create(uint64_t seed)
{
	struct agree *self = heap_alloc_zero(sizeof *self);
	ASSERT(self != NULL);
	self->rng = rng_seeded(seed);
	make_ordinary(self);
	for (uint32_t k = 0; k < SLIVERS; k++) {
		double thin = k & 1 ? 1e-3 : 3e-2;
		vec3 size = k & 2 ? vec3_make(thin, thin, 1) : vec3_make(1, thin, 1);
		self->slivers[k] =
			k < 4 ? make_box(size.x, size.y, size.z) : cloud(self, 5 + k, size);
	}
	for (uint32_t k = 0; k < BUMPY; k++)
		self->bumpy[k] = bumpy(self, k & 1);
	for (uint32_t k = 0; k < TINY; k++) {
		self->tiny[k] = k < 2 ? make_box(2e-4, 1e-4 * (1 + k), 1e-4)
				      : cloud(self, 4 + 2 * k, vec3_all(4e-4));
		self->large[k] = k < 2 ? make_box(200, 100 * (1 + k), 100)
				       : cloud(self, 4 + 2 * k, vec3_all(400));
	}
	return self;
}

static void release_all(struct shape **shapes, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++)
		shape_release(shapes[k]);
}

void agree_destroy(struct agree *self)
{
	release_all(self->boxes, BOXES);
	release_all(self->hulls, HULLS);
	release_all(self->slivers, SLIVERS);
	release_all(self->tiny, TINY);
	release_all(self->large, LARGE);
	release_all(self->bumpy, BUMPY);
	heap_free(self);
}

/* ---- the comparison ------------------------------------------------------------------------------- */

struct comparison {
	struct agree *self;
	struct agree_tally *tally;
	const char *what;
	const pose *at;
	struct oracle_answer truth;
	double allowed, touch;
};

__attribute__((format(printf, 2, 3))) static void fail(struct comparison *x, const char *format,
						       ...)
{
	va_list list;
	int n = 0;
	if (x->tally->failures++ > 0)
		return;
	va_start(list, format);
	n = vsnprintf(x->tally->first, sizeof x->tally->first, format, list);
	va_end(list);
	snprintf(
		x->tally->first + n, sizeof x->tally->first - (size_t)n,
		" (%s, %u and %u vertices; truth: separation %.17g distance %.17g allowed %g; at %a %a %a, "
		"%a %a %a %a)",
		x->what, x->self->a.vertex_count, x->self->b.vertex_count, x->truth.separation,
		x->truth.distance, x->allowed, x->at->position.x, x->at->position.y,
		x->at->position.z, x->at->rotation.w, x->at->rotation.x, x->at->rotation.y,
		x->at->rotation.z);
}

/* Records an error relative to the tolerance if it is the greatest of its kind. */
static void error(struct comparison *x, const char *name, double found, double wanted, double *most)
{
	double part = scalar_abs(found - wanted) / x->allowed;
	*most = scalar_max(*most, part);
	if (!(part <= 1))
		fail(x, "%s says %.17g", name, found);
}

static void at_most(struct comparison *x, const char *name, double found, double bound,
		    double *most)
{
	*most = scalar_max(*most, (found - bound) / x->allowed);
	if (!(found <= bound + x->allowed))
		fail(x, "%s is %.17g", name, found);
}

/* Both witnesses lie in their hulls up to rounding, and their distance is the reported one. */
static void witnesses(struct comparison *x, const char *name, vec3 a, vec3 b, double apart)
{
	double *most = &x->tally->witness;
	at_most(x, name, oracle_outside(&x->self->a, a), 0, most);
	at_most(x, name, oracle_outside(&x->self->b, b), 0, most);
	error(x, name, vec3_distance(a, b), apart, most);
}

static void check_gjk(struct comparison *x, const struct gjk_result *r)
{
	struct agree_tally *tally = x->tally;
	tally->gjk_handed += r->handed_over;
	tally->gjk_most = MAX_OF(tally->gjk_most, r->iterations);
	if (r->touching ? x->truth.separation > x->touch : x->truth.separation < -x->touch)
		fail(x, "gjk says %s", r->touching ? "touching" : "apart");
	error(x, "gjk", r->distance, x->truth.distance, &tally->gjk);
	at_most(x, "gjk's lower bound", r->lower, x->truth.distance, &tally->gjk);
	at_most(x, "gjk's gap", r->distance - r->lower, 0, &tally->gjk);
	witnesses(x, "gjk's witness", r->point_a, r->point_b, x->truth.distance);
}

static void check_vclip(struct comparison *x, const struct vclip_result *r)
{
	struct agree_tally *tally = x->tally;
	tally->vclip_handed += r->handed_over;
	tally->vclip_most = MAX_OF(tally->vclip_most, r->steps);
	if (r->touching ? x->truth.separation > x->touch : x->truth.separation < -x->touch)
		fail(x, "vclip says %s", r->touching ? "touching" : "apart");
	error(x, "vclip", r->distance, x->truth.distance, &tally->vclip);
	at_most(x, "vclip's lower bound", r->lower, x->truth.distance, &tally->vclip);
	at_most(x, "vclip's gap", r->distance - r->lower, 0, &tally->vclip);
	witnesses(x, "vclip's witness", r->point_a, r->point_b, x->truth.distance);
}

static void check_epa(struct comparison *x, const struct epa_result *r)
{
	struct agree_tally *tally = x->tally;
	double depth = scalar_max(-x->truth.separation, 0);
	tally->epa_open += r->status == EPA_OPEN;
	tally->epa_capacity += r->status == EPA_CAPACITY;
	tally->epa_most = MAX_OF(tally->epa_most, r->iterations);
	if (r->status == EPA_FLAT)
		fail(x, "epa says flat");
	error(x, "epa", r->depth, depth, &tally->epa);
	at_most(x, "epa's lower bound", r->lower, depth, &tally->epa);
	at_most(x, "epa's gap", r->depth - r->lower, 0, &tally->epa);
	witnesses(x, "epa's witness", r->point_a, r->point_b, depth);
}

static void check_sat(struct comparison *x, const struct sat_axis *r, const struct sat_axis *sign)
{
	double s = x->truth.separation;
	if (s > 0)
		at_most(x, "sat", r->separation, x->truth.distance, &x->tally->sat);
	else
		error(x, "sat", r->separation, s, &x->tally->sat);
	if (s > x->touch ? !(r->separation > 0) : s < -x->touch && !(r->separation < 0))
		fail(x, "sat says %.17g", r->separation);
	if (s > x->touch ? !(sign->separation > 0) : s < -x->touch && sign->separation > 0)
		fail(x, "sat, asked for the sign, says %.17g", sign->separation);
}

void agree_pair(struct agree *self, const struct hull *a, const struct hull *b, const pose *at,
		const char *what, struct agree_tally *tally)
{
	struct placing there = { mat3_from_quat(at->rotation), at->position };
	struct gjk_core core_a = { a->vertices, a->vertex_count, a, 0, NULL };
	struct gjk_core core_b = { b->vertices, b->vertex_count, b, 0, NULL };
	struct comparison x = { .self = self, .tally = tally, .what = what, .at = at };
	struct gjk_result gjk;
	struct vclip_result vclip;
	struct sat_axis axis, sign;
	struct pair_cache none = { 0 };
	oracle_hull_make(&self->a, a, NULL);
	oracle_hull_make(&self->b, b, &there);
	oracle_convex(&self->a, &self->b, &x.truth);
	double extent = scalar_max(self->a.extent, self->b.extent);
	x.touch = ABSOLUTE * extent + 2 * (self->a.bumps + self->b.bumps);
	x.allowed = RELATIVE * scalar_abs(x.truth.separation > 0 ? x.truth.distance
								 : x.truth.separation) +
		    x.touch;
	tally->poses++;
	tally->apart += x.truth.separation > x.touch;
	tally->overlapping += x.truth.separation < -x.touch;
	tally->rounding += scalar_abs(x.truth.separation) <= x.touch;
	/* First without a warm start, then from the final state of the pair before. */
	gjk_distance(&core_a, &core_b, &there.rotation, there.translation, &self->simplex, &gjk);
	check_gjk(&x, &gjk);
	gjk_distance(&core_a, &core_b, &there.rotation, there.translation, NULL, &gjk);
	check_gjk(&x, &gjk);
	self->simplex = gjk.simplex;
	vclip_distance(a, b, &there, &self->features, &vclip);
	check_vclip(&x, &vclip);
	vclip_distance(a, b, &there, NULL, &vclip);
	check_vclip(&x, &vclip);
	self->features = vclip.features;
	sat_greatest(a, b, &there, SCALAR_MAX, &none, &axis);
	sat_greatest(a, b, &there, 0, &self->axis, &sign);
	check_sat(&x, &axis, &sign);
	if (gjk.touching) {
		struct epa_result epa;
		epa_depth(&core_a, &core_b, &there.rotation, there.translation, &gjk.simplex,
			  &self->work, &epa);
		check_epa(&x, &epa);
	}
}

/* ---- poses ---------------------------------------------------------------------------------------- */

static const struct hull *pick(struct agree *self, struct shape **shapes, uint32_t count)
{
	return shapes[rng_below(&self->rng, count)]->hull;
}

static const struct hull *any(struct agree *self)
{
	if (rng_below(&self->rng, 3) == 0)
		return pick(self, self->boxes, BOXES);
	/* The last hull, of forty vertices, is a candidate in one of 50 draws only. */
	return pick(self, self->hulls, rng_below(&self->rng, 50) == 0 ? HULLS : HULLS - 1);
}

static double size_of(const struct hull *hull)
{
	double most = 0;
	for (uint32_t v = 0; v < hull->vertex_count; v++)
		most = scalar_max(most, vec3_length(hull->vertices[v]));
	return most;
}

/* 10^-k with random sign, k drawn from first … last. */
static double tiny_number(struct rng *rng, uint32_t first, uint32_t last)
{
	double x = rng_range(rng, 0.5, 5);
	for (uint32_t k = first + rng_below(rng, last - first + 1); k > 0; k--)
		x *= 0.1;
	return rng_below(rng, 2) == 0 ? x : -x;
}

/* Moves b along the line through the nearest points until the gap is `gap` (negative: a depth). */
static void bring_near(const struct hull *a, const struct hull *b, pose *at, double gap)
{
	struct gjk_core core_a = { a->vertices, a->vertex_count, a, 0, NULL };
	struct gjk_core core_b = { b->vertices, b->vertex_count, b, 0, NULL };
	mat3 rotation = mat3_from_quat(at->rotation);
	struct gjk_result near;
	gjk_distance(&core_a, &core_b, &rotation, at->position, NULL, &near);
	if (!near.touching)
		at->position = vec3_mul_sub(at->position, near.normal, near.distance - gap);
}

static void run_free(struct agree *self, const char *name, const struct hull *a,
		     const struct hull *b, bool near, quat turn, struct agree_tally *tally)
{
	double reach = size_of(a) + size_of(b);
	double r = near ? reach : rng_range(&self->rng, 0, 1.3 * reach);
	pose at = pose_make(vec3_scale(random_direction(&self->rng), r), turn);
	if (near)
		bring_near(a, b, &at, reach * tiny_number(&self->rng, 2, 12));
	agree_pair(self, a, b, &at, name, tally);
}

/* One of the 24 rotations of a cube, exact. */
static quat quarter_turn(struct rng *rng)
{
	static const double R = 0.70710678118654752440;
	static const double Q[7][4] = { { 1, 0, 0, 0 },	       { 0, 1, 0, 0 }, { 0, 0, 1, 0 },
					{ 0, 0, 0, 1 },	       { R, R, 0, 0 }, { R, 0, R, 0 },
					{ 0.5, 0.5, 0.5, 0.5 } };
	const double *q = Q[rng_below(rng, 7)];
	return quat_make(q[0], q[1], q[2], q[3]);
}

/* Parallel boxes: on each axis flush outside, flush inside, centred, or anywhere; sometimes off by
 * rounding. */
static void run_aligned(struct agree *self, struct agree_tally *tally)
{
	struct rng *rng = &self->rng;
	const struct hull *a = pick(self, self->boxes, BOXES), *b = pick(self, self->boxes, BOXES);
	pose at = pose_make(vec3_zero(),
			    rng_below(rng, 4) == 0 ? awkward_rotation(rng) : quarter_turn(rng));
	mat3 m = mat3_from_quat(at.rotation);
	vec3 half_b = vec3_abs(mat3_mul_vec(m, b->vertices[7])), half_a = a->vertices[7];
	for (uint32_t k = 0; k < 3; k++) {
		double u = vec3_get(half_a, k), v = vec3_get(half_b, k), place = 0;
		switch (rng_below(rng, 5)) {
		case 0:
			place = u + v;
			break;
		case 1:
			place = u - v;
			break;
		case 2:
			place = rng_range(rng, -2, 2);
			break;
		case 3:
			place = (u + v) * (1 + tiny_number(rng, 3, 16));
			break;
		default:
			break;
		}
		vec3_set(&at.position, k, rng_below(rng, 2) == 0 ? place : -place);
	}
	agree_pair(self, a, b, &at, "aligned", tally);
}

/* Vertex i of a coincides with vertex j of b; with equal hulls and no rotation, whole edges and
 * faces do. */
static void run_shared(struct agree *self, struct agree_tally *tally)
{
	struct rng *rng = &self->rng;
	const struct hull *a = any(self), *b = rng_below(rng, 2) == 0 ? a : any(self);
	uint32_t i = rng_below(rng, a->vertex_count), j = rng_below(rng, b->vertex_count);
	quat turn = rng_below(rng, 3) == 0 ? awkward_rotation(rng) : quarter_turn(rng);
	vec3 q = mat3_mul_vec(mat3_from_quat(turn), b->vertices[j]);
	pose at = pose_make(vec3_sub(a->vertices[i], q), turn);
	if (rng_below(rng, 3) == 0) /* away from the middle of a, or into it */
		at.position = vec3_mul_add(at.position, a->vertices[i], tiny_number(rng, 2, 15));
	agree_pair(self, a, b, &at, "shared", tally);
}

static void run_one(struct agree *self, enum agree_family family, struct agree_tally *tally)
{
	struct rng *rng = &self->rng;
	const struct hull *a = any(self), *b = any(self);
	quat turn = rng_below(rng, 2) == 0 ? random_rotation(rng) : awkward_rotation(rng);
	bool near = rng_below(rng, 2) == 0;
	const char *name = agree_family_name(family);
	switch (family) {
	case AGREE_RANDOM:
		run_free(self, name, a, b, false, random_rotation(rng), tally);
		break;
	case AGREE_NEAR:
		run_free(self, name, a, b, true, turn, tally);
		break;
	case AGREE_ALIGNED:
		run_aligned(self, tally);
		break;
	case AGREE_SHARED:
		run_shared(self, tally);
		break;
	case AGREE_SLIVERS:
		a = pick(self, self->slivers, SLIVERS);
		b = rng_below(rng, 2) == 0 ? b : pick(self, self->slivers, SLIVERS);
		run_free(self, name, a, b, near, turn, tally);
		break;
	case AGREE_BUMPY:
		a = pick(self, self->bumpy, BUMPY);
		b = rng_below(rng, 2) == 0 ? b : pick(self, self->bumpy, BUMPY);
		run_free(self, name, a, b, near, turn, tally);
		break;
	case AGREE_SIZES:
	case AGREE_FAMILIES:
		a = pick(self, self->large, LARGE);
		b = pick(self, self->tiny, TINY);
		if (rng_below(rng, 2) == 0)
			run_free(self, name, a, b, near, turn, tally);
		else
			run_free(self, name, b, a, near, turn, tally);
		break;
	}
}

void agree_run(struct agree *self, enum agree_family family, uint32_t count,
	       struct agree_tally *tally)
{
	for (uint32_t k = 0; k < count; k++)
		run_one(self, family, tally);
}
