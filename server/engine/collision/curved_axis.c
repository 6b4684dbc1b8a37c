/* curved_axis.c: the axis of greatest separation of two convex cores given by support functions.
 *
 * Let s(n) be the separation along a unit n, from supports. If the cores are apart, its maximum is
 * their distance, and GJK finds it. If they overlap, −max s is the depth, and s has a local maximum
 * for each way out. A local maximum is found by moving the cores apart: B moved by t = −s(n) + g
 * along n is separated from A by g > 0 at least, so that GJK has a distance to measure, which is
 * well conditioned; with n′ the normal of the nearest points,
 *   s(n′) + t n·n′ ≥ s(n) + t,   hence   s(n′) ≥ s(n) + t (1 − n·n′):
 * no step makes it worse, and the fixed points are the stationary points of s. A face's normal is
 * reached in one step (s has a kink there); on smooth surfaces a step reduces the error by t / (t +
 * ρ), where ρ is the sum of the radii of curvature less the depth. Where corners or edges overlap,
 * s falls over the whole cone of their normals, and a step turns n by the depth over t at most: so
 * g is about the depth, but not so small that GJK loses the direction.
 *
 * Starts: the direction of the centres, the axes of curved pieces, the normals of faces, and the
 * normal of the nearest points if the cores are hardly apart. The search is made from the best
 * three and from between them, but not from those that are HOPELESS times as deep as what is found;
 * the best result counts. Deep in each other, another way out may be shorter than the one found:
 * the axis is then not the best, but its separation is that of a true way out.
 *
 * What goes wrong: ROUNDS_MAX steps; the axis is returned as it is. */
#include "server/engine/collision/curved_pair.h"

enum { ROUNDS_MAX = 24, STARTS = 3 };

/* Of the least half-width: the most and the least that cores are moved apart. */
#define PART_MOST 0.05
#define PART_LEAST 1e-3
/* Of the largest coordinates: a distance below has no direction in doubles. */
#define CLOSE 1e-7
/* Times the depth found: a start that is deeper is not followed. */
#define HOPELESS 8
/* Of the least half-width: a smaller gain ends the search. */
#define GAIN 1e-13

void curved_pair_init(struct curved_pair *self, const struct pair *pair)
{
	const struct shape *a = pair->a, *b = pair->b;
	self->a.shape = a;
	self->b.shape = b;
	self->a.child = 0;
	self->b.child = pair->child;
	self->a.core = gjk_core_of(a, 0, &self->a.room);
	self->b.core = gjk_core_of(b, pair->child, &self->b.room);
	self->a.at = (struct placing){ mat3_identity(), vec3_zero() };
	self->b.at =
		(struct placing){ mat3_from_quat(pair->b_in_a.rotation), pair->b_in_a.position };
	self->radii = self->a.core.radius + self->b.core.radius;
	self->margin = pair->margin;
	/* Surfaces of triangles, and the balls of particles, have no least extent. */
	double size = a->extent_min > 0 && b->extent_min > 0
			      ? scalar_min(a->extent_min, b->extent_min)
			      : scalar_max(a->extent_min, b->extent_min);
	ASSERT(size > 0);
	self->slop = scalar_min(PAIR_SLOP_RELATIVE * size, PAIR_SLOP_MAX);
}

double curved_separation(const struct curved_pair *self, vec3 normal)
{
	const struct placing *at = &self->b.at;
	vec3 far = gjk_support_point(&self->a.core, normal);
	vec3 back = mat3_transposed_mul_vec(at->rotation, vec3_negate(normal));
	vec3 near = placing_point(at, gjk_support_point(&self->b.core, back));
	return vec3_dot(normal, near) - vec3_dot(normal, far);
}

/* ---- starts ---------------------------------------------------------------------------------- */

struct starts {
	vec3 normal[STARTS];
	double separation[STARTS];
	uint32_t count;
};

static void offer_start(const struct curved_pair *self, vec3 normal, struct starts *out)
{
	ASSERT(out->count <= STARTS);
	double separation = curved_separation(self, normal);
	uint32_t at = out->count;
	while (at > 0 && separation > out->separation[at - 1])
		at--;
	if (at == STARTS || (at > 0 && vec3_dot(out->normal[at - 1], normal) > 1 - 1e-9))
		return;
	out->count = out->count < STARTS ? out->count + 1 : STARTS;
	for (uint32_t k = out->count - 1; k > at; k--) {
		out->normal[k] = out->normal[k - 1];
		out->separation[k] = out->separation[k - 1];
	}
	out->normal[at] = normal;
	out->separation[at] = separation;
}

static void offer_axis(const struct curved_pair *self, const mat3 *rotation, vec3 axis,
		       struct starts *out)
{
	vec3 turned = mat3_mul_vec(*rotation, axis);
	offer_start(self, turned, out);
	offer_start(self, vec3_negate(turned), out);
}

/* `sign`: 1 for A, −1 for B, whose outward normals point to A. */
static void offer_side(const struct curved_pair *self, const struct curved_side *side, double sign,
		       struct starts *out)
{
	const mat3 *rotation = &side->at.rotation;
	const struct gjk_core *core = &side->core;
	if (core->curve != NULL) {
		offer_axis(self, rotation, vec3_axis(1), out);
		if (side->shape->kind != SHAPE_ELLIPSOID)
			return;
		offer_axis(self, rotation, vec3_axis(0), out);
		offer_axis(self, rotation, vec3_axis(2), out);
	} else if (core->hull != NULL) {
		for (uint32_t f = 0; f < core->hull->face_count; f++)
			offer_start(self,
				    vec3_scale(mat3_mul_vec(*rotation, core->hull->faces[f].normal),
					       sign),
				    out);
	} else if (core->count == 3) {
		vec3 n = vec3_cross(vec3_sub(core->points[1], core->points[0]),
				    vec3_sub(core->points[2], core->points[0]));
		offer_start(self, vec3_scale(mat3_mul_vec(*rotation, vec3_normalize(n)), sign),
			    out);
	}
}

/* ---- the search ------------------------------------------------------------------------------ */

static void improve(const struct curved_pair *self, vec3 start, double separation, double least,
		    struct curved_axis *out)
{
	vec3 n = start;
	out->separation = -SCALAR_MAX;
	out->rounds = 0;
	for (uint32_t k = 0; k < ROUNDS_MAX; k++) {
		double part = scalar_clamp(-separation, PART_LEAST * least, PART_MOST * least);
		double way = part - separation;
		struct gjk_result near;
		vec3 moved = vec3_mul_add(self->b.at.translation, n, way);
		gjk_distance(&self->a.core, &self->b.core, &self->b.at.rotation, moved, NULL,
			     &near);
		out->rounds++;
		if (near.touching)
			break;
		double better = curved_separation(self, near.normal);
		if (better > out->separation) {
			out->separation = better;
			out->normal = near.normal;
			out->point_a = near.point_a;
			out->point_b = vec3_mul_sub(near.point_b, n, way);
		}
		if (!(better > separation + GAIN * least))
			break;
		n = near.normal;
		separation = better;
	}
}

/* Another start, unless it is so much worse that its way out cannot be near the surface too. */
static void try_start(const struct curved_pair *self, vec3 normal, double least,
		      struct curved_axis *out)
{
	struct curved_axis other;
	double separation = curved_separation(self, normal);
	if (separation < HOPELESS * out->separation)
		return;
	improve(self, normal, separation, least, &other);
	if (other.separation > out->separation)
		*out = other;
}

static void find_overlap(const struct curved_pair *self, const struct gjk_result *near,
			 struct curved_axis *out)
{
	const struct placing *at = &self->b.at;
	struct starts starts = { .count = 0 };
	double least = self->a.shape->extent_min;
	if (self->b.shape->extent_min > 0)
		least = scalar_min(least, self->b.shape->extent_min);
	vec3 from = self->a.shape->mass.centre;
	vec3 to = self->b.shape->mass.volume > 0 ? self->b.shape->mass.centre
						 : self->b.core.points[0];
	double length;
	vec3 between = vec3_normalize_length(vec3_sub(placing_point(at, to), from), &length);
	offer_start(self, length > 0 ? between : vec3_make(0, 1, 0), &starts);
	if (!near->touching)
		offer_start(self, near->normal, &starts);
	offer_side(self, &self->a, 1, &starts);
	offer_side(self, &self->b, -1, &starts);
	improve(self, starts.normal[0], starts.separation[0], least, out);
	for (uint32_t k = 1; k < starts.count; k++)
		try_start(self, starts.normal[k], least, out);
	/* Between two faces: the way out over their edge. */
	for (uint32_t k = 0; k < starts.count && starts.count > 1; k++) {
		vec3 sum = vec3_add(starts.normal[k], starts.normal[(k + 1) % starts.count]);
		vec3 middle = vec3_normalize_length(sum, &length);
		if (length > 0.1)
			try_start(self, middle, least, out);
	}
	if (out->separation > -SCALAR_MAX)
		return;
	/* Only if rounding lets moved cores touch: the start itself. */
	out->normal = starts.normal[0];
	out->separation = starts.separation[0];
	out->point_a = gjk_support_point(&self->a.core, out->normal);
	out->point_b = vec3_mul_add(out->point_a, out->normal, out->separation);
}

bool curved_axis_find(const struct curved_pair *self, struct curved_axis *out)
{
	struct gjk_result near;
	const struct placing *at = &self->b.at;
	gjk_distance(&self->a.core, &self->b.core, &at->rotation, at->translation, NULL, &near);
	if (!near.touching && near.lower - self->radii > self->margin)
		return false;
	double size = vec3_length(at->translation) + gjk_reach(&self->a.core);
	bool exact = self->a.core.curve == NULL && self->b.core.curve == NULL;
	if (!near.touching && near.distance > (exact ? 0 : CLOSE * size)) {
		*out = (struct curved_axis){ near.normal, near.distance, near.point_a, near.point_b,
					     0 };
		return true;
	}
	find_overlap(self, &near, out);
	return out->separation - self->radii <= self->margin;
}
