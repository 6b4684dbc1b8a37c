/* Every shape under `impact`, in space and in the plane: bounces on floors of every kind against
 * their closed form. */
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

#include <stdio.h>

static const vec3 CUBE[8] = { { -0.5, -0.5, -0.5 }, { 0.5, -0.5, -0.5 }, { -0.5, 0.5, -0.5 },
			      { 0.5, 0.5, -0.5 },   { -0.5, -0.5, 0.5 }, { 0.5, -0.5, 0.5 },
			      { -0.5, 0.5, 0.5 },   { 0.5, 0.5, 0.5 } };

enum { SHAPES = 11, FLOORS = 5 };

/* A shape whose lowest points lie below its mass centre, and how far: m. */
static struct shape *make_falling(uint32_t kind, double *below)
{
	static const vec3 pieces[2][2] = { { { -0.6, 0, 0 }, { 0.3, 0.5, 0.3 } },
					   { { 0.6, 0, 0 }, { 0.3, 0.5, 0.3 } } };
	*below = 0.5;
	switch (kind) {
	case 0:
		return make_sphere(0.5);
	case 1:
		return make_capsule(0.3, 0.2);
	case 2:
		return make_box(0.7, 0.5, 0.4);
	case 3:
		return make_hull(CUBE, 8);
	case 4:
		return make_rounded_box(0.4, 0.3, 0.4, 0.2);
	case 5:
		*below = 0.6;
		return make_rounded_hull(CUBE, 8, 0.1);
	case 6:
		return make_cylinder(0.5, 0.4);
	case 7:
		*below = 0.25; /* a quarter of the height above the base */
		return make_cone(0.5, 0.4);
	case 8:
		return make_ellipsoid(0.7, 0.5, 0.6);
	case 9:
		return make_boxes_solid(pieces, 2);
	default:
		*below = 0.2;
		return make_boxes_solid((const vec3[1][2]){ { { 0, 0, 0 }, { 0.4, 0.2, 0.4 } } },
					1);
	}
}

/* A floor whose surface is y = 0. */
static struct shape *make_floor(uint32_t kind)
{
	static const vec3 corners[4] = { { -6, 0, -6 }, { -6, 0, 6 }, { 6, 0, -6 }, { 6, 0, 6 } };
	static const uint32_t triangles[2][3] = { { 0, 1, 2 }, { 1, 3, 2 } };
	static const vec3 slab[1][2] = { { { 0, -1, 0 }, { 6, 1, 6 } } };
	switch (kind) {
	case 0:
		return make_plane(vec3_axis(1), 0);
	case 1:
		return make_mesh(corners, 4, triangles, 2);
	case 2:
		return make_terrain(4, 3, 0, 1);
	case 3:
		return make_boxes_solid(slab, 1);
	default:
		return make_box(6, 1e-3, 6);
	}
}

static double worst; /* m */

/* The mass centre after 1 s: a fall of 1 m, a bounce with e = 0.8, a flight; and none of it turns or
 * moves sideways. */
static void drop(struct stage *stage, struct shape *shape, double below, struct shape *floor,
		 double top, double near, const char *what)
{
	const double g = 9.81, e = 0.8;
	stage_add(stage, (struct stage_body){ .status = BODY_STATIC,
					      .shape = stage_shape(stage, floor),
					      .position = { 0, -top, 0 },
					      .friction = -1 });
	vec3 centre = shape->mass.centre;
	vec3 start = vec3_make(0.2, 1 + below, stage->tables.world.planar[0] ? 0 : 0.3);
	uint32_t body = stage_add(stage, (struct stage_body){ .status = BODY_DYNAMIC,
							      .shape = stage_shape(stage, shape),
							      .position = vec3_sub(start, centre),
							      .friction = -1,
							      .mass = 2,
							      .restitution = e });
	stage_run(stage, 60);
	double fall = scalar_sqrt(2 / g), t = 1 - fall, up = e * g * fall;
	vec3 expected = vec3_make(start.x, below + up * t - 0.5 * g * t * t, start.z);
	vec3 found = vec3_add(stage->tables.body.position[body],
			      quat_rotate(stage->tables.body.rotation[body], centre));
	double off = vec3_distance(found, expected);
	double turned = vec3_length(stage->tables.body.angular_velocity[body]);
	worst = scalar_max(worst, off);
	ck_assert_msg(off <= near && turned <= 1e-9, "%s: off %.3g m, turns %.3g rad/s", what, off,
		      turned);
	ck_assert_uint_eq(stage->dynamics.report.fallbacks, 0);
}

START_TEST(every_shape_bounces_on_every_floor)
{
	for (uint32_t kind = 0; kind < SHAPES; kind++)
		for (uint32_t floor = 0; floor < FLOORS; floor++) {
			struct stage stage;
			double below;
			char what[32];
			stage_init(&stage, "impact");
			stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
			struct shape *shape = make_falling(kind, &below);
			/* Cylinders, cones, ellipsoids: distances by GJK on curved surfaces. */
			double near = kind >= 6 && kind <= 8 ? 1e-8 : 1e-9;
			snprintf(what, sizeof what, "shape %u, floor %u", kind, floor);
			drop(&stage, shape, below, make_floor(floor), floor == 4 ? 1e-3 : 0, near,
			     what);
			stage_release(&stage);
		}
	printf("# off by at most %.3g m\n", worst);
}
END_TEST

START_TEST(every_shape_of_the_plane_bounces)
{
	static const vec3 square[4] = {
		{ -0.5, -0.5, 0 }, { 0.5, -0.5, 0 }, { 0.5, 0.5, 0 }, { -0.5, 0.5, 0 }
	};
	static const vec3 slab[4] = { { -6, -1, 0 }, { 6, -1, 0 }, { 6, 0, 0 }, { -6, 0, 0 } };
	for (uint32_t k = 0; k < 2; k++) {
		struct stage stage;
		stage_init(&stage, "impact");
		stage.tables.world.planar[0] = 1;
		stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
		double radius = 0.1 * k;
		drop(&stage, make_polygon(square, 4, radius), 0.5 + radius,
		     make_polygon(slab, 4, 0), 0, 1e-9, k == 0 ? "polygon" : "rounded polygon");
		stage_release(&stage);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/impact: shapes");
	TCase *tcase = tcase_create("shapes");
	tcase_add_test(tcase, every_shape_bounces_on_every_floor);
	tcase_add_test(tcase, every_shape_of_the_plane_bounces);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
