/* See pairs.h. A solid that is a distance field (app G-08) against every kind.
 *
 * Candidates for contact are gathered in the field's frame, each with a normal out of the field's
 * solid and a separation:
 *   a sphere        where the field is least on the sphere. Found by going down on it from the
 *                   direction in which the field rises at the centre, and from each side's direction
 *                   in which the sphere comes about as near: a groove is touched in several places.
 *   a capsule       the spheres at its ends, and one between where the field along the axis is less.
 *   a convex solid  its vertices in the field, its edges in the field where they come nearer between
 *                   than at their ends; the vertices of the field's mesh against its faces.
 *   another field   vertices and convex edges of each one's mesh in the other's field.
 *   a half-space    vertices of the mesh.
 *   a triangle      its vertices and convex edges in the field; vertices of the mesh over it.
 * Vertices of meshes are found by walking the mesh's hierarchy: nodes that are surely too far go.
 *
 * The normal is the field's slope, which beside an edge or a corner is rounded off: a box that
 * stands with its corners on those of another would be pushed aside. So where the field is not
 * flat, the faces around the vertex are asked a few cells away from it: if one lies flat on the
 * field there, that is the contact, and its plane is carried on to the vertex. A vertex of the
 * field between faces of a hull that are equally far takes the one its own faces look at.
 *
 * What was gathered is sorted by sides (distance_field_sides.h); each gives a manifold of its
 * own: its deepest candidate's normal, and four of the candidates whose normals are near to
 * that. Against surfaces that are asked piece by piece themselves (meshes, solids of parts), and
 * half-spaces, one manifold is all.
 *
 * The sides of a pair are tested one after the other. Each thread caches the result of the last pair, so
 * the work is done once for all its sides. The result depends only on the pair, so the order of the tests
 * has no effect.
 *
 * Failure: a body that is thinner than the distance it moves in a tick, or one inside beyond
 * the middle, is pushed out on the near side. On a medial axis there is no slope (the sample
 * says what is taken). Candidates beyond CANDIDATES_MAX: the shallowest are forgotten.
 */
#include "server/engine/collision/clip.h"
#include "server/engine/collision/field_pair.h"
#include "server/engine/collision/pairs.h"
#include "server/engine/geometry/mesh.h"

#include <string.h>

enum { CANDIDATES_MAX = 192, DESCENTS = 24, AXIS_SAMPLES = 9, SECTIONS = 16 };

/* Cosine: of one manifold's normals to each other (20 degrees); of two places a sphere touches
 * that count as one (11 degrees). */
#define ALIKE 0.94
#define SAME 0.98
/* rad: more than a manifold is kept for (CONTACT_KEEP_ANGLE). */
#define TURN 0.05
/* Sine: a slope that leans less from the normal is down. Going on would gain r STRAIGHT² / 2,
 * and a ball that lies all around in a ring would slide along it to whichever facet is lowest. */
#define STRAIGHT 0.03
/* 1 − cos of half the greatest angle between neighbouring sides, and a little: how much farther
 * than the least the field may be, in radii, on the direction of its side. */
#define ASIDE 0.13

static struct field_pair field_pair_of(const struct pair *pair)
{
	VALIDATE(pair->a->kind == SHAPE_SOLID);
	const struct solid *solid = pair->a->solid;
	struct field_pair x = { .pair = pair,
				.field = solid->field,
				.sides = solid->sides,
				.b_in_a = { mat3_from_quat(pair->b_in_a.rotation),
					    pair->b_in_a.position },
				.reach = pair->margin };
	return x;
}

void field_add(struct field_pair *self, vec3 on_b, vec3 normal, double separation, uint32_t feature)
{
	ASSERT(self->count <= CANDIDATES_MAX);
	if (!(separation <= self->pair->margin))
		return;
	uint32_t at = self->count;
	if (at == CANDIDATES_MAX) {
		at = 0;
		for (uint32_t k = 1; k < self->count; k++)
			if (self->candidates[k].point.separation >
			    self->candidates[at].point.separation)
				at = k;
		if (!(separation < self->candidates[at].point.separation))
			return;
	} else {
		self->count++;
	}
	self->candidates[at] = (struct field_candidate){
		{ vec3_mul_sub(on_b, normal, 0.5 * separation), separation, feature }, normal
	};
}

/* ---- spheres and capsules -------------------------------------------------------------------- */

/* Down on the sphere from direction −n; false when it ends too far away. */
static bool descend_to_field(const struct field_pair *self, vec3 centre, double radius, vec3 *n,
			     struct field_sample *low)
{
	double step = 1, reach = self->reach + 2 * radius;
	if (!distance_field_sample(self->field, vec3_mul_sub(centre, *n, radius), reach, low))
		return false;
	for (uint32_t i = 0; i < DESCENTS && step > 0x1p-12; i++) {
		struct field_sample next;
		vec3 aside = vec3_mul_sub(low->normal, *n, vec3_dot(low->normal, *n));
		vec3 to = vec3_normalize(vec3_mul_add(*n, aside, step));
		if (vec3_length_squared(aside) < STRAIGHT * STRAIGHT)
			break;
		if (distance_field_sample(self->field, vec3_mul_sub(centre, to, radius), reach,
					  &next) &&
		    next.value < low->value) {
			*n = to;
			*low = next;
		} else {
			step *= 0.5;
		}
	}
	return low->value <= self->reach;
}

static void meet_sphere(struct field_pair *self, vec3 centre, double radius, uint32_t number)
{
	VALIDATE(self->sides->count <= FIELD_SIDES);
	struct field_sample low, here;
	vec3 found[FIELD_SIDES + 1];
	uint32_t count = 0, sides[FIELD_SIDES + 1];
	if (!distance_field_sample(self->field, centre, self->reach + radius, &here))
		return;
	for (uint32_t k = 0; k <= self->sides->count; k++) {
		vec3 n = k == 0 ? here.normal : self->sides->direction[k - 1];
		double value = 0;
		if (k > 0)
			distance_field_value(self->field, vec3_mul_sub(centre, n, radius), &value);
		if (value > self->reach + ASIDE * radius)
			continue;
		if (!descend_to_field(self, centre, radius, &n, &low))
			continue;
		uint32_t same = 0;
		while (same < count && vec3_dot(found[same], n) < SAME)
			same++;
		if (same < count)
			continue;
		uint32_t side = field_sides_of(self->sides, n), before = 0;
		for (uint32_t i = 0; i < count; i++)
			before += sides[i] == side;
		uint32_t place = (number * FIELD_SIDES + side) * FIELD_SIDES + before;
		sides[count] = side;
		found[count++] = n;
		field_add(self, vec3_mul_sub(centre, n, radius), n, low.value,
			  field_feature(FEATURE_ROUND, place, false, 0));
	}
	ASSERT(count <= FIELD_SIDES + 1);
}

static double along_axis(const struct field_pair *self, const vec3 ends[2], double t)
{
	struct field_sample sample;
	double reach = SCALAR_MAX;
	distance_field_sample(self->field, vec3_lerp(ends[0], ends[1], t), reach, &sample);
	return sample.value;
}

/* Where between the ends the field is least; false when that is an end. */
static bool lowest_between(const struct field_pair *self, const vec3 ends[2], double *t)
{
	double value[AXIS_SAMPLES];
	uint32_t best = 0;
	for (uint32_t k = 0; k < AXIS_SAMPLES; k++) {
		value[k] = along_axis(self, ends, (double)k / (AXIS_SAMPLES - 1));
		best = value[k] < value[best] ? k : best;
	}
	if (best == 0 || best == AXIS_SAMPLES - 1)
		return false;
	double low = (best - 1.0) / (AXIS_SAMPLES - 1), high = (best + 1.0) / (AXIS_SAMPLES - 1);
	for (uint32_t k = 0; k < SECTIONS; k++) {
		double one = low + 0.382 * (high - low), two = low + 0.618 * (high - low);
		if (along_axis(self, ends, one) <= along_axis(self, ends, two))
			high = two;
		else
			low = one;
	}
	*t = 0.5 * (low + high);
	return along_axis(self, ends, *t) <
	       scalar_min(value[0], value[AXIS_SAMPLES - 1]) - 0.05 * self->field->cell;
}

static void meet_capsule(struct field_pair *self, double half, double radius)
{
	const vec3 ends[2] = { placing_point(&self->b_in_a, vec3_make(0, -half, 0)),
			       placing_point(&self->b_in_a, vec3_make(0, half, 0)) };
	double t;
	for (uint32_t k = 0; k < 2; k++)
		meet_sphere(self, ends[k], radius, k);
	if (lowest_between(self, ends, &t))
		meet_sphere(self, vec3_lerp(ends[0], ends[1], t), radius, 2);
}

/* ---- sorting --------------------------------------------------------------------------------- */

/* Leaves out points that others are below: by more than a body can turn before it is looked at
 * again. Of a round thing on a plane the far and high ones would else be chosen for the area
 * they span, and carry nothing. Order is kept. */
static uint32_t keep_low(struct manifold_point *points, uint32_t count)
{
	ASSERT(count <= CANDIDATES_MAX);
	bool below[CANDIDATES_MAX];
	uint32_t kept = 0;
	for (uint32_t k = 0; k < count; k++) {
		below[k] = false;
		for (uint32_t l = 0; l < count && !below[k]; l++) {
			double higher = points[k].separation - points[l].separation;
			below[k] = higher > 0 &&
				   higher > TURN * vec3_distance(points[k].point, points[l].point);
		}
	}
	for (uint32_t k = 0; k < count; k++)
		if (!below[k])
			points[kept++] = points[k];
	VALIDATE(kept <= count);
	return kept;
}

/* Of those of `side` (all when it is UINT32_MAX): the deepest, and what looks the same way. */
static void sort_out(const struct field_pair *self, const uint8_t *side_of, uint32_t side,
		     struct manifold *out)
{
	ASSERT(self->count <= CANDIDATES_MAX);
	ASSERT(side == UINT32_MAX || side < self->sides->count);
	struct manifold_point points[CANDIDATES_MAX];
	const struct shape *a = self->pair->a, *b = self->pair->b;
	uint32_t best = UINT32_MAX, count = 0;
	out->count = 0;
	for (uint32_t k = 0; k < self->count; k++) {
		if (side != UINT32_MAX && side_of[k] != side)
			continue;
		if (best == UINT32_MAX ||
		    self->candidates[k].point.separation < self->candidates[best].point.separation)
			best = k;
	}
	if (best == UINT32_MAX)
		return;
	vec3 normal = self->candidates[best].normal;
	for (uint32_t k = 0; k < self->count; k++)
		if ((side == UINT32_MAX || side_of[k] == side) &&
		    vec3_dot(self->candidates[k].normal, normal) >= ALIKE)
			points[count++] = self->candidates[k].point;
	double slop = scalar_min(PAIR_SLOP_RELATIVE * a->extent_min, PAIR_SLOP_MAX);
	if (b->extent_min > 0)
		slop = scalar_min(slop, pair_slop(a, b));
	manifold_reduce(points, keep_low(points, count), normal, slop, out);
	ASSERT(out->count <= MANIFOLD_POINTS_MAX);
}

/* ---- cache of the last pair ------------------------------------------------------------------- */

struct last {
	uint64_t a, b; /* serials; 0: none yet */
	pose b_in_a;
	double margin;
	struct manifold sides[FIELD_SIDES];
};

static bool is_asked(const struct last *last, const struct pair *pair)
{
	return last->a != 0 && last->a == pair->a->serial && last->b == pair->b->serial &&
	       last->margin == pair->margin &&
	       vec3_equal(last->b_in_a.position, pair->b_in_a.position) &&
	       quat_equal(last->b_in_a.rotation, pair->b_in_a.rotation);
}

static void gather_points(struct field_pair *self)
{
	const struct shape *b = self->pair->b;
	switch (b->kind) {
	case SHAPE_SPHERE:
		meet_sphere(self, self->b_in_a.translation, b->sphere.radius, 0);
		return;
	case SHAPE_CAPSULE:
		meet_capsule(self, b->capsule.half_length, b->capsule.radius);
		return;
	case SHAPE_PLANE:
		field_meet_plane(self);
		return;
	case SHAPE_MESH:
		field_meet_triangle(self);
		return;
	case SHAPE_SOLID:
		field_meet_field(self);
		return;
	case SHAPE_BOX:
	case SHAPE_HULL:
	case SHAPE_POLYGON:
	case SHAPE_KINDS:
		break;
	}
	field_meet_hull(self);
}

static void answer_sides(const struct field_pair *self, struct last *last)
{
	ASSERT(self->count <= CANDIDATES_MAX);
	ASSERT(self->sides->count <= FIELD_SIDES);
	uint8_t side_of[CANDIDATES_MAX];
	for (uint32_t k = 0; k < self->count; k++)
		side_of[k] = (uint8_t)field_sides_of(self->sides, self->candidates[k].normal);
	for (uint32_t s = 0; s < self->sides->count; s++)
		sort_out(self, side_of, s, &last->sides[s]);
}

void pair_field(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	ASSERT(pair->child_a == UINT32_MAX || pair->child_a < FIELD_SIDES);
	static _Thread_local struct last last;
	struct field_candidate candidates[CANDIDATES_MAX];
	UNUSED(cache);
	if (pair->child_a != UINT32_MAX && is_asked(&last, pair)) {
		*out = last.sides[pair->child_a];
		return;
	}
	struct field_pair self = field_pair_of(pair);
	self.candidates = candidates;
	gather_points(&self);
	if (pair->child_a == UINT32_MAX) {
		sort_out(&self, NULL, UINT32_MAX, out);
		return;
	}
	last.a = pair->a->serial;
	last.b = pair->b->serial;
	last.b_in_a = pair->b_in_a;
	last.margin = pair->margin;
	answer_sides(&self, &last);
	*out = last.sides[pair->child_a];
}
