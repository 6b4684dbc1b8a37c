/* `impact`: ellipsoids that rock and roll on a floor, whose curvature differs from direction to direction. */
#include "server/base/rng.h"
#include "server/engine/geometry/curve.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

static const vec3 HALF = { 1, 0.5, 0.3 };

/* The height of an ellipsoid's centre that touches y = 0. */
static double height_at(quat q)
{
	vec3 down = quat_rotate_inverse(q, vec3_axis(1));
	return vec3_length(vec3_hadamard(HALF, down));
}

struct rocking {
	double energy; /* 1: its largest change */
	double depth;  /* m: the largest distance of the surface from the floor */
};

/* Released at rest, tilted by 0.3 and 0.4 rad, on a floor without friction or with; two seconds. */
static struct rocking rock(double rate, double friction)
{
	struct stage stage;
	struct rocking out = { 0, 0 };
	stage_init(&stage, "impact");
	stage.dt = 1 / rate;
	stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
	stage_parameter(&stage, PARAMETER_IMPACT_SUBSTEPS_MAX, 1);
	stage_add(&stage,
		  (struct stage_body){ .status = BODY_STATIC,
				       .shape = stage_shape(&stage, make_plane(vec3_axis(1), 0)),
				       .friction = friction });
	quat tilt = quat_mul(quat_from_rotation_vector(vec3_make(0.4 + HALF_PI, 0, 0)),
			     quat_from_rotation_vector(vec3_make(0, 0, 0.3)));
	uint32_t egg = stage_add(
		&stage,
		(struct stage_body){
			.status = BODY_DYNAMIC,
			.shape = stage_shape(&stage, make_ellipsoid(HALF.x, HALF.y, HALF.z)),
			.position = { 0, height_at(tilt), 0 },
			.rotation = tilt,
			.mass = 1,
			.friction = friction });
	double first = stage_kinetic(&stage) + stage_potential(&stage);
	for (uint32_t tick = 0; tick < 2 * rate; tick++) {
		stage_step(&stage);
		double now = stage_kinetic(&stage) + stage_potential(&stage);
		vec3 at = stage.tables.body.position[egg];
		double off = at.y - height_at(stage.tables.body.rotation[egg]);
		out.energy = scalar_max(out.energy, scalar_abs(now - first) / first);
		out.depth = scalar_max(out.depth, scalar_abs(off));
	}
	stage_release(&stage);
	return out;
}

/* A quarter of the step: a sixteenth of the error of the energy, and a thirtieth of that of the height. */
START_TEST(an_ellipsoid_rocks_with_errors_of_second_order)
{
	static const double frictions[] = { -1, 5 };
	struct rocking coarse = rock(60, frictions[_i]), fine = rock(240, frictions[_i]);
	ck_assert_double_lt(coarse.energy, 0.01);
	ck_assert_double_lt(coarse.depth, 2e-4);
	ck_assert_double_lt(fine.energy, coarse.energy / 12);
	ck_assert_double_lt(fine.depth, coarse.depth / 30);
}
END_TEST

/* The radius along d is how fast the point with the normal n goes along d as n turns by d. */
START_TEST(the_radius_of_a_direction_is_the_slope_of_the_support)
{
	struct rng rng = rng_seeded(check_seed());
	struct shape *shapes[] = { make_ellipsoid(HALF.x, HALF.y, HALF.z), make_cylinder(0.7, 0.4),
				   make_cone(0.7, 0.4), make_sphere(0.3) };
	for (uint32_t k = 0; k < 600; k++) {
		const struct shape *shape = shapes[k % 2];
		vec3 n = random_direction(&rng), d = random_direction(&rng);
		if (k % 2 == 1) /* of its side */
			n.y = 0;
		n = vec3_normalize(n);
		d = vec3_normalize(vec3_mul_sub(d, n, vec3_dot(d, n)));
		struct curve curve = curve_of(shape);
		if (k % 2 == 1) /* on its side points along the axis are all as far */
			d = vec3_normalize(vec3_make(d.x, 0, d.z));
		double h = 1e-5;
		vec3 far = curve_support(&curve, vec3_mul_add(n, d, h));
		vec3 near = curve_support(&curve, vec3_mul_sub(n, d, h));
		double slope = vec3_dot(d, vec3_sub(far, near)) / (2 * h);
		ck_assert_double_eq_tol(curve_rounding_along(shape, n, vec3_scale(d, 3)), slope,
					1e-7);
	}
	/* Nothing rolls along the line of a side. */
	vec3 out = vec3_axis(0), up = vec3_axis(1);
	ck_assert_double_eq_tol(curve_rounding_along(shapes[1], out, up), 0, 1e-15);
	double slope = 0.4 / scalar_sqrt(0.4 * 0.4 + 1.4 * 1.4);
	vec3 side = { scalar_sqrt(1 - slope * slope), slope, 0 };
	vec3 line = { -slope, side.x, 0 };
	ck_assert_double_eq_tol(curve_rounding_along(shapes[2], side, line), 0, 1e-15);
	ck_assert_double_eq_tol(curve_rounding_along(shapes[2], side, vec3_axis(2)),
				curve_rounding(shapes[2], side), 1e-15);
	ck_assert_double_eq_tol(curve_rounding_along(shapes[3], side, line), 0.3, 1e-15);
	for (uint32_t k = 0; k < COUNT_OF(shapes); k++)
		shape_release(shapes[k]);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/impact_rolling");
	TCase *tcase = tcase_create("rolling");
	tcase_add_loop_test(tcase, an_ellipsoid_rocks_with_errors_of_second_order, 0, 2);
	tcase_add_test(tcase, the_radius_of_a_direction_is_the_slope_of_the_support);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
