/* See pairs.h. A solid whose form is a distance field (app G-08) against every kind.
 *
 * 1. Candidate contact points are gathered in the field's frame, each with a normal out of the field's solid
 *    and a separation. Which points are candidates depends on the other shape:
 *      a sphere        local minima of the field on the sphere, by descent from the gradient at the centre
 *                      and from the direction of each side in which the sphere is about as near: a sphere
 *                      in a groove touches in several places.
 *      a capsule       as spheres: its two ends, and a point between them if the field is less there.
 *      a convex solid  its vertices in the field; its edges where they are nearer to the field than at
 *                      their ends; vertices of the field's mesh against its faces.
 *      another field   vertices and convex edges of each mesh in the other one's field.
 *      a half-space    vertices of the field's mesh.
 *      a triangle      its vertices and convex edges in the field; vertices of the field's mesh over it.
 *    Vertices of a mesh are found through its hierarchy; nodes that are too far away are skipped.
 * 2. The normal is the gradient of the field. Near an edge or a corner the gradient is rounded, and a box
 *    whose corners rest on those of another would be pushed sideways. Where the field is not flat, the faces
 *    around the vertex are therefore sampled a few cells away from it: if one lies flat on the field, its
 *    plane, extended to the vertex, gives normal and separation. A vertex of the field that is equally far
 *    from several faces of a hull takes the face that is most opposed to its own faces.
 * 3. The candidates are sorted by sides (distance_field_sides.h). Each side gives one manifold: the normal of
 *    its deepest candidate, and up to four candidates with nearly that normal. A pair without a side
 *    (child_a is UINT32_MAX: b is a half-space, or its triangles or parts are pairs of their own) gives one
 *    manifold of all candidates.
 *
 * The sides of a pair are tested one after the other. Each thread caches the result of the last pair, so
 * the work is done once for all its sides. The result depends only on the pair, so the order of the tests
 * has no effect.
 *
 * Limits: a body that moves more than its thickness in a tick, or that is past the middle of the solid, is
 * pushed out on the nearer side. On the medial axis the gradient is undefined; distance_field_sample defines
 * the normal there. Of more than CANDIDATES_MAX candidates the deepest are kept.
 */
#include "server/engine/collision/clip.h"
#include "server/engine/collision/field_pair.h"
#include "server/engine/collision/pairs.h"
#include "server/engine/geometry/mesh.h"

#include <string.h>

enum { CANDIDATES_MAX = 192, DESCENT_STEPS = 24, AXIS_SAMPLES = 9, SECTIONS = 16 };

/* Cosine of the greatest angle between the normals of one manifold's candidates (20 degrees). */
#define MANIFOLD_COSINE 0.94
/* Cosine of the greatest angle at which two minima on a sphere count as one (11 degrees). */
#define SAME_MINIMUM_COSINE 0.98
/* rad. Must exceed CONTACT_KEEP_ANGLE, by which a body may turn before its manifold is computed again. */
#define KEPT_TURN 0.05
/* Sine of the angle between gradient and normal at which a descent ends. Going on would gain only
 * r DESCENT_SINE² / 2, and a ball that touches a ring all around would drift to the lowest facet. */
#define DESCENT_SINE 0.03
/* Radii by which the field in the direction of a side may exceed the reach at the start of a descent:
 * 1 − cos of half the greatest angle between neighbouring sides, and a margin. A smaller value loses minima
 * between two sides. */
#define SIDE_SLACK 0.13

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

/* Descends on the sphere from its point in direction −*n to a minimum of the field; writes *n and *low there.
 * False: the minimum is beyond the reach. */
static bool descend_to_field(const struct field_pair *self, vec3 centre, double radius, vec3 *n,
			     struct field_sample *low)
{
	double step = 1, reach = self->reach + 2 * radius;
	if (!distance_field_sample(self->field, vec3_mul_sub(centre, *n, radius), reach, low))
		return false;
	for (uint32_t i = 0; i < DESCENT_STEPS && step > 0x1p-12; i++) {
		struct field_sample next;
		vec3 aside = vec3_mul_sub(low->normal, *n, vec3_dot(low->normal, *n));
		vec3 to = vec3_normalize(vec3_mul_add(*n, aside, step));
		if (vec3_length_squared(aside) < DESCENT_SINE * DESCENT_SINE)
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

/* `number`: of the sphere in b, for the feature ids. */
static void gather_sphere(struct field_pair *self, vec3 centre, double radius, uint32_t number)
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
		if (value > self->reach + SIDE_SLACK * radius)
			continue;
		if (!descend_to_field(self, centre, radius, &n, &low))
			continue;
		uint32_t same = 0;
		while (same < count && vec3_dot(found[same], n) < SAME_MINIMUM_COSINE)
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

static double sample_axis(const struct field_pair *self, const vec3 ends[2], double t)
{
	struct field_sample sample;
	double reach = SCALAR_MAX;
	distance_field_sample(self->field, vec3_lerp(ends[0], ends[1], t), reach, &sample);
	return sample.value;
}

/* Golden-section search for the parameter *t at which the field is least between the ends; false if it is not
 * less there than at the ends by a twentieth of a cell. */
static bool find_axis_minimum(const struct field_pair *self, const vec3 ends[2], double *t)
{
	double value[AXIS_SAMPLES];
	uint32_t best = 0;
	for (uint32_t k = 0; k < AXIS_SAMPLES; k++) {
		value[k] = sample_axis(self, ends, (double)k / (AXIS_SAMPLES - 1));
		best = value[k] < value[best] ? k : best;
	}
	if (best == 0 || best == AXIS_SAMPLES - 1)
		return false;
	double low = (best - 1.0) / (AXIS_SAMPLES - 1), high = (best + 1.0) / (AXIS_SAMPLES - 1);
	for (uint32_t k = 0; k < SECTIONS; k++) {
		double one = low + 0.382 * (high - low), two = low + 0.618 * (high - low);
		if (sample_axis(self, ends, one) <= sample_axis(self, ends, two))
			high = two;
		else
			low = one;
	}
	*t = 0.5 * (low + high);
	return sample_axis(self, ends, *t) <
	       scalar_min(value[0], value[AXIS_SAMPLES - 1]) - 0.05 * self->field->cell;
}

static void gather_capsule(struct field_pair *self, double half, double radius)
{
	const vec3 ends[2] = { placing_point(&self->b_in_a, vec3_make(0, -half, 0)),
			       placing_point(&self->b_in_a, vec3_make(0, half, 0)) };
	double t;
	for (uint32_t k = 0; k < 2; k++)
		gather_sphere(self, ends[k], radius, k);
	if (find_axis_minimum(self, ends, &t))
		gather_sphere(self, vec3_lerp(ends[0], ends[1], t), radius, 2);
}

/* ---- manifolds ------------------------------------------------------------------------------- */

/* Removes each point that another one is below by more than a turn of KEPT_TURN could equalise; the order is
 * kept. Otherwise, of a round body on a plane, far and high points would be chosen for the area they span,
 * and carry no load. Returns the new count. */
static uint32_t drop_high_points(struct manifold_point *points, uint32_t count)
{
	ASSERT(count <= CANDIDATES_MAX);
	bool below[CANDIDATES_MAX];
	uint32_t kept = 0;
	for (uint32_t k = 0; k < count; k++) {
		below[k] = false;
		for (uint32_t l = 0; l < count && !below[k]; l++) {
			double higher = points[k].separation - points[l].separation;
			below[k] = higher > 0 &&
				   higher > KEPT_TURN *
						    vec3_distance(points[k].point, points[l].point);
		}
	}
	for (uint32_t k = 0; k < count; k++)
		if (!below[k])
			points[kept++] = points[k];
	VALIDATE(kept <= count);
	return kept;
}

/* The manifold of one side (UINT32_MAX: of all candidates): the deepest candidate and those with nearly its
 * normal. */
static void write_manifold(const struct field_pair *self, const uint8_t *side_of, uint32_t side,
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
		    vec3_dot(self->candidates[k].normal, normal) >= MANIFOLD_COSINE)
			points[count++] = self->candidates[k].point;
	double slop = scalar_min(PAIR_SLOP_RELATIVE * a->extent_min, PAIR_SLOP_MAX);
	if (b->extent_min > 0)
		slop = scalar_min(slop, pair_slop(a, b));
	manifold_reduce(points, drop_high_points(points, count), normal, slop, out);
	ASSERT(out->count <= MANIFOLD_POINTS_MAX);
}

/* ---- cache of the last pair ------------------------------------------------------------------- */

/* The manifolds of all sides of one pair. */
struct field_pair_cache {
	uint64_t a, b; /* serials of the shapes; 0: empty */
	pose b_in_a;
	double margin;
	struct manifold sides[FIELD_SIDES];
};

static bool is_cached(const struct field_pair_cache *last, const struct pair *pair)
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
		gather_sphere(self, self->b_in_a.translation, b->sphere.radius, 0);
		return;
	case SHAPE_CAPSULE:
		gather_capsule(self, b->capsule.half_length, b->capsule.radius);
		return;
	case SHAPE_PLANE:
		field_gather_plane(self);
		return;
	case SHAPE_MESH:
	case SHAPE_HEIGHTFIELD:
		field_gather_triangle(self);
		return;
	case SHAPE_SOLID:
		field_gather_field(self);
		return;
	case SHAPE_BOX:
	case SHAPE_HULL:
	case SHAPE_POLYGON:
	case SHAPE_ROUNDED: /* as the hull that stands for them */
	case SHAPE_CYLINDER:
	case SHAPE_CONE:
	case SHAPE_ELLIPSOID:
	case SHAPE_KINDS:
		break;
	}
	field_gather_hull(self);
}

static void write_sides(const struct field_pair *self, struct field_pair_cache *last)
{
	ASSERT(self->count <= CANDIDATES_MAX);
	ASSERT(self->sides->count <= FIELD_SIDES);
	uint8_t side_of[CANDIDATES_MAX];
	for (uint32_t k = 0; k < self->count; k++)
		side_of[k] = (uint8_t)field_sides_of(self->sides, self->candidates[k].normal);
	for (uint32_t s = 0; s < self->sides->count; s++)
		write_manifold(self, side_of, s, &last->sides[s]);
}

void pair_field(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	ASSERT(pair->child_a == UINT32_MAX || pair->child_a < FIELD_SIDES);
	static _Thread_local struct field_pair_cache last;
	struct field_candidate candidates[CANDIDATES_MAX];
	UNUSED(cache);
	if (pair->child_a != UINT32_MAX && is_cached(&last, pair)) {
		*out = last.sides[pair->child_a];
		return;
	}
	struct field_pair self = field_pair_of(pair);
	self.candidates = candidates;
	gather_points(&self);
	if (pair->child_a == UINT32_MAX) {
		write_manifold(&self, NULL, UINT32_MAX, out);
		return;
	}
	last.a = pair->a->serial;
	last.b = pair->b->serial;
	last.b_in_a = pair->b_in_a;
	last.margin = pair->margin;
	write_sides(&self, &last);
	*out = last.sides[pair->child_a];
}
