/* closest.c: hashes of GJK, V-Clip, separating axes, EPA and conservative advancement on hulls that
 * are apart, overlapping, almost touching or aligned: of every number of the results, and of every
 * feature on the way. */
#include "tests/golden/closest.h"

#include "server/base/hash.h"
#include "server/engine/collision/advance.h"
#include "server/engine/collision/epa.h"
#include "server/engine/collision/vclip.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

enum { SHAPES = 5, POSES = 600, MOTIONS = 100 };

struct sums {
	struct hasher values, ways;
};

enum { BY_GJK, BY_VCLIP, BY_SAT, BY_EPA, BY_ADVANCE, METHODS };

struct closest {
	struct rng rng;
	struct shape *shapes[SHAPES];
	struct sums sums[METHODS];
	struct vclip_features features;
	struct gjk_simplex simplex;
	struct pair_cache axis;
	struct epa_workspace work;
};

static void add_number(struct sums *sums, double x)
{
	hasher_f64(&sums->values, x);
}

static void add_vector(struct sums *sums, vec3 v)
{
	add_number(sums, v.x);
	add_number(sums, v.y);
	add_number(sums, v.z);
}

static void add_simplex(struct sums *sums, const struct gjk_simplex *simplex)
{
	hasher_u32(&sums->ways, simplex->count);
	for (uint32_t k = 0; k < simplex->count; k++)
		hasher_u32(&sums->ways, (uint32_t)simplex->a[k] << 16 | simplex->b[k]);
}

static struct gjk_core core_of(const struct shape *shape)
{
	return (struct gjk_core){ shape->hull->vertices, shape->hull->vertex_count, shape->hull, 0,
				  NULL };
}

static void add_depth(struct closest *self, const struct gjk_core *a, const struct gjk_core *b,
		      const struct placing *at, const struct gjk_simplex *touching)
{
	struct sums *sums = &self->sums[BY_EPA];
	struct epa_result r;
	epa_depth(a, b, &at->rotation, at->translation, touching, &self->work, &r);
	add_number(sums, r.depth);
	add_number(sums, r.lower);
	add_vector(sums, r.normal);
	add_vector(sums, r.point_a);
	add_vector(sums, r.point_b);
	hasher_u32(&sums->ways, (uint32_t)r.status);
	hasher_u32(&sums->ways, r.iterations);
}

static void add_gjk(struct closest *self, const struct gjk_core *a, const struct gjk_core *b,
		    const struct placing *at, bool warm)
{
	struct sums *sums = &self->sums[BY_GJK];
	struct gjk_result r;
	gjk_distance(a, b, &at->rotation, at->translation, warm ? &self->simplex : NULL, &r);
	self->simplex = r.simplex;
	add_number(sums, r.distance);
	add_number(sums, r.lower);
	add_vector(sums, r.normal);
	add_vector(sums, r.point_a);
	add_vector(sums, r.point_b);
	add_simplex(sums, &r.simplex);
	hasher_u32(&sums->ways, r.iterations << 1 | r.handed_over);
	if (r.touching)
		add_depth(self, a, b, at, &r.simplex);
}

static void add_vclip(struct closest *self, const struct hull *a, const struct hull *b,
		      const struct placing *at, bool warm)
{
	struct sums *sums = &self->sums[BY_VCLIP];
	struct vclip_result r;
	vclip_distance(a, b, at, warm ? &self->features : NULL, &r);
	self->features = r.features;
	add_number(sums, r.distance);
	add_number(sums, r.lower);
	add_vector(sums, r.normal);
	add_vector(sums, r.point_a);
	add_vector(sums, r.point_b);
	hasher_u32(&sums->ways, (uint32_t)r.features.a.kind << 16 | r.features.a.index);
	hasher_u32(&sums->ways, (uint32_t)r.features.b.kind << 16 | r.features.b.index);
	hasher_u32(&sums->ways, r.steps << 1 | r.handed_over);
}

static void add_sat(struct closest *self, const struct hull *a, const struct hull *b,
		    const struct placing *at, double enough)
{
	struct sums *sums = &self->sums[BY_SAT];
	struct sat_axis r;
	sat_greatest(a, b, at, enough, &self->axis, &r);
	add_number(sums, r.separation);
	add_vector(sums, r.normal);
	hasher_u32(&sums->ways, (uint32_t)r.axis.kind << 1 | r.remembered);
	hasher_u32(&sums->ways, (uint32_t)r.axis.feature_a << 16 | r.axis.feature_b);
}

/* A random pose, a pose with a small gap, or an aligned pose on a grid. */
static pose draw_pose(struct closest *self, const struct shape *a, const struct shape *b,
		      uint32_t k)
{
	double r = rng_range(&self->rng, 0, 2);
	vec3 direction = random_direction(&self->rng);
	pose at = pose_make(vec3_scale(direction, r), awkward_rotation(&self->rng));
	if (k % 3 == 1) {
		struct gjk_core core_a = core_of(a), core_b = core_of(b);
		mat3 rotation = mat3_from_quat(at.rotation);
		struct gjk_result near;
		at.position = vec3_scale(at.position, 8);
		gjk_distance(&core_a, &core_b, &rotation, at.position, NULL, &near);
		double gap = rng_range(&self->rng, -1, 1) * (k % 2 == 0 ? 1e-3 : 1e-9);
		at.position = vec3_mul_sub(at.position, near.normal, near.distance - gap);
	} else if (k % 3 == 2) {
		at.rotation = quat_identity();
		at.position.x = scalar_round(2 * at.position.x) / 2;
		at.position.y = scalar_round(2 * at.position.y) / 2;
		at.position.z = scalar_round(2 * at.position.z) / 2;
	}
	return at;
}

static void add_advance(struct closest *self)
{
	struct sums *sums = &self->sums[BY_ADVANCE];
	const struct advance_options options = { 1e-6, 100 };
	struct gjk_points room_a, room_b;
	struct advance_result r;
	struct motion one, other;
	pose ends[4];
	for (uint32_t k = 0; k < 4; k++) {
		vec3 place = random_vector(&self->rng, 2);
		ends[k] = pose_make(place, awkward_rotation(&self->rng));
	}
	const struct shape *a = self->shapes[rng_below(&self->rng, SHAPES)];
	const struct shape *b = self->shapes[rng_below(&self->rng, SHAPES)];
	if (motion_between(ends[0], 0, ends[1], 1, &one) != STATUS_OK ||
	    motion_between(ends[2], 0, ends[3], 1, &other) != STATUS_OK)
		return;
	struct advance_body moving_a = advance_body_of(a, 0, &one, &room_a);
	struct advance_body moving_b = advance_body_of(b, 0, &other, &room_b);
	advance_convex(&moving_a, &moving_b, &options, NULL, &r);
	add_number(sums, r.time);
	add_number(sums, r.distance);
	add_vector(sums, r.normal);
	add_vector(sums, r.point_a);
	hasher_u32(&sums->ways, (uint32_t)r.outcome);
	hasher_u32(&sums->ways, r.iterations);
}

static struct shape *draw_hull(struct rng *rng, uint32_t count)
{
	vec3 points[64];
	for (uint32_t k = 0; k < count; k++) {
		double r = rng_range(rng, 0.5, 0.9);
		points[k] = vec3_scale(random_direction(rng), r);
	}
	return make_hull(points, count);
}

void golden_closest(golden_line *line)
{
	static const char *const NAMES[METHODS] = { "closest-gjk", "closest-vclip", "closest-sat",
						    "closest-epa", "closest-advance" };
	static struct closest self;
	self = (struct closest){ .rng = rng_seeded(1) };
	for (uint32_t m = 0; m < METHODS; m++) {
		hasher_init(&self.sums[m].values, 1);
		hasher_init(&self.sums[m].ways, 2);
	}
	self.shapes[0] = make_box(0.5, 0.5, 0.5);
	self.shapes[1] = make_box(0.25, 0.75, 0.5);
	for (uint32_t k = 2; k < SHAPES; k++)
		self.shapes[k] = draw_hull(&self.rng, 6 + 20 * (k - 2));
	for (uint32_t k = 0; k < POSES; k++) {
		const struct shape *a = self.shapes[rng_below(&self.rng, SHAPES)];
		const struct shape *b = self.shapes[rng_below(&self.rng, SHAPES)];
		pose at = draw_pose(&self, a, b, k);
		struct placing there = { mat3_from_quat(at.rotation), at.position };
		struct gjk_core core_a = core_of(a), core_b = core_of(b);
		for (int warm = 0; warm < 2; warm++) {
			add_gjk(&self, &core_a, &core_b, &there, warm);
			add_vclip(&self, a->hull, b->hull, &there, warm);
			add_sat(&self, a->hull, b->hull, &there, warm ? 0 : SCALAR_MAX);
		}
	}
	for (uint32_t k = 0; k < MOTIONS; k++)
		add_advance(&self);
	for (uint32_t m = 0; m < METHODS; m++)
		line(NAMES[m], m == BY_ADVANCE ? MOTIONS : POSES,
		     hasher_digest(&self.sums[m].values), hasher_digest(&self.sums[m].ways));
	for (uint32_t k = 0; k < SHAPES; k++)
		shape_release(self.shapes[k]);
}
