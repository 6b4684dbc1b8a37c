/* curve_cook.c: cylinders, cones and ellipsoids.
 *
 *   cylinder   V = 2π r² h,        about y: V r²/2, across: V (r²/4 + h²/3)
 *   cone       V = 2π r² h / 3,    centre at y = −h/2; with H = 2h about y: 3/10 V r²,
 *                                  across: V (3/20 r² + 3/80 H²)
 *   ellipsoid  V = 4/3 π a b c,    V/5 diag(b² + c², c² + a², a² + b²)
 */
#include "server/engine/geometry/cook.h"
#include "server/engine/geometry/curve.h"
#include "server/engine/math/trig.h"

/* Refuses slivers. */
static enum status check_slender(struct cook *cook, const char *field, double least, double most)
{
	ASSERT(least > 0 && least <= most);
	if (most <= SHAPE_SLENDER_MAX * least)
		return STATUS_OK;
	return reason_set(
		cook->why, STATUS_DEGENERATE, -1, field,
		"%s: %s is a sliver, its longest length is %.4g times its shortest; at most "
		"%.10g are allowed",
		field, shape_kind_name(cook->shape->kind), most / least, (double)SHAPE_SLENDER_MAX);
}

/* Points of circles around the y axis: `count` radii and heights, and the ends at ±`ends` where not
 * 0. */
struct circles {
	double radius_x[CURVE_RINGS], radius_z[CURVE_RINGS], height[CURVE_RINGS];
	uint32_t count, sides;
	double top, bottom; /* m; 0: no such point */
};

static enum status make_stand_in(struct cook *cook, const struct circles *circles)
{
	vec3 points[CURVE_RINGS * CURVE_SIDES + 2];
	uint32_t count = 0;
	ASSERT(circles->count <= CURVE_RINGS &&
	       circles->count * circles->sides <= COUNT_OF(points));
	for (uint32_t i = 0; i < circles->count; i++) {
		for (uint32_t k = 0; k < circles->sides; k++) {
			double sine, cosine;
			trig_sincos(2 * PI * k / circles->sides, &sine, &cosine);
			points[count++] =
				vec3_make(circles->radius_x[i] * cosine, circles->height[i],
					  circles->radius_z[i] * sine);
		}
	}
	if (circles->top != 0)
		points[count++] = vec3_make(0, circles->top, 0);
	if (circles->bottom != 0)
		points[count++] = vec3_make(0, circles->bottom, 0);
	enum status status = shape_of_points(points, count, &cook->shape->stand_in, cook->why);
	if (status == STATUS_OK)
		cook->shape->memory_bytes += cook->shape->stand_in->memory_bytes;
	return status;
}

/* Reads half length and radius. */
static enum status read_round(struct cook *cook)
{
	struct shape *shape = cook->shape;
	enum status status = cook_expect(cook, 16);
	if (status != STATUS_OK)
		return status;
	double h, r;
	status = cook_number(cook, "half_length", SHAPE_LENGTH_MIN, SHAPE_LENGTH_MAX, &h);
	if (status == STATUS_OK)
		status = cook_number(cook, "radius", SHAPE_LENGTH_MIN, SHAPE_LENGTH_MAX, &r);
	if (status == STATUS_OK)
		status = check_slender(cook, "radius", scalar_min(h, r), scalar_max(h, r));
	if (status != STATUS_OK)
		return status;
	shape->cylinder.half_length = h;
	shape->cylinder.radius = r;
	shape->aabb_max = vec3_make(r, h, r);
	shape->aabb_min = vec3_negate(shape->aabb_max);
	return STATUS_OK;
}

enum status cylinder_cook(struct cook *cook)
{
	ASSERT(cook->shape->kind == SHAPE_CYLINDER);
	struct shape *shape = cook->shape;
	enum status status = read_round(cook);
	if (status != STATUS_OK)
		return status;
	double h = shape->cylinder.half_length, r = shape->cylinder.radius;
	double volume = 2 * PI * r * r * h;
	double along = 0.5 * volume * r * r, across = volume * (0.25 * r * r + h * h / 3);
	shape->mass.volume = volume;
	shape->mass.centre = vec3_zero();
	shape->mass.inertia = mat3_diagonal(vec3_make(across, along, across));
	shape->radius_max = scalar_sqrt(r * r + h * h);
	shape->extent_min = scalar_min(r, h);
	ASSERT(shape->extent_min <= shape->radius_max);
	struct circles circles = { .radius_x = { r, r },
				   .radius_z = { r, r },
				   .height = { -h, h },
				   .count = 2,
				   .sides = CURVE_RIM_SIDES };
	return make_stand_in(cook, &circles);
}

enum status cone_cook(struct cook *cook)
{
	ASSERT(cook->shape->kind == SHAPE_CONE);
	struct shape *shape = cook->shape;
	enum status status = read_round(cook);
	if (status != STATUS_OK)
		return status;
	double h = shape->cone.half_length, r = shape->cone.radius;
	double volume = 2 * PI * r * r * h / 3, side = scalar_sqrt(4 * h * h + r * r);
	double along = 0.3 * volume * r * r, across = 0.15 * volume * (r * r + h * h);
	shape->mass.volume = volume;
	shape->mass.centre = vec3_make(0, -0.5 * h, 0);
	shape->mass.inertia = mat3_diagonal(vec3_make(across, along, across));
	shape->radius_max = scalar_max(1.5 * h, scalar_sqrt(r * r + 0.25 * h * h));
	shape->extent_min = scalar_min(0.5 * h, 1.5 * h * r / side);
	ASSERT(shape->extent_min <= shape->radius_max);
	struct circles circles = { .radius_x = { r },
				   .radius_z = { r },
				   .height = { -h },
				   .count = 1,
				   .sides = CURVE_RIM_SIDES,
				   .top = h };
	return make_stand_in(cook, &circles);
}

enum status ellipsoid_cook(struct cook *cook)
{
	static const char *const NAMES[3] = { "half_x", "half_y", "half_z" };
	ASSERT(cook->shape->kind == SHAPE_ELLIPSOID);
	struct shape *shape = cook->shape;
	vec3 a = vec3_zero();
	enum status status = cook_expect(cook, 24);
	for (uint32_t k = 0; k < 3 && status == STATUS_OK; k++) {
		double value = 0;
		status = cook_number(cook, NAMES[k], SHAPE_LENGTH_MIN, SHAPE_LENGTH_MAX, &value);
		vec3_set(&a, k, value);
	}
	if (status == STATUS_OK)
		status = check_slender(cook, "half", vec3_min_component(a), vec3_max_component(a));
	if (status != STATUS_OK)
		return status;
	vec3 q = vec3_hadamard(a, a);
	double volume = 4.0 / 3 * PI * a.x * a.y * a.z;
	shape->ellipsoid.half = a;
	shape->mass.volume = volume;
	shape->mass.centre = vec3_zero();
	shape->mass.inertia =
		mat3_diagonal(vec3_scale(vec3_make(q.y + q.z, q.z + q.x, q.x + q.y), volume / 5));
	shape->aabb_max = a;
	shape->aabb_min = vec3_negate(a);
	shape->radius_max = vec3_max_component(a);
	shape->extent_min = vec3_min_component(a);
	struct circles circles = {
		.count = CURVE_RINGS, .sides = CURVE_SIDES, .top = a.y, .bottom = -a.y
	};
	for (uint32_t i = 0; i < CURVE_RINGS; i++) {
		double sine, cosine;
		trig_sincos(PI * (i + 1) / (CURVE_RINGS + 1), &sine, &cosine);
		circles.radius_x[i] = a.x * sine;
		circles.radius_z[i] = a.z * sine;
		circles.height[i] = a.y * cosine;
	}
	ASSERT(shape->extent_min <= shape->radius_max);
	return make_stand_in(cook, &circles);
}
