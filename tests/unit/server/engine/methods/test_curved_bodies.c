/* Cylinders, cones, ellipsoids and rounded boxes under every method: what stands stays, what rolls
 * neither sinks nor gains energy, and momenta are kept. */
#include "server/base/rng.h"
#include "server/engine/geometry/support.h"
#include "tests/lib/check_main.h"
#include "tests/lib/near.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage.h"

#include <math.h>
#include <stdio.h>

static const char *const METHODS[] = { "soft-step",  "lcp",    "projection",
				       "reflection", "impact", "penalty" };
enum { METHODS_COUNT = COUNT_OF(METHODS), EXACT = METHODS_COUNT - 1 };

/* 0 plane, 1 box, 2 mesh of two triangles. */
static void add_floor(struct stage *stage, uint32_t kind, double friction)
{
	static const vec3 corners[4] = {
		{ -60, 0, -60 }, { 60, 0, -60 }, { 60, 0, 60 }, { -60, 0, 60 }
	};
	static const uint32_t halves[2][3] = { { 0, 2, 1 }, { 0, 3, 2 } };
	struct shape *shape = kind == 0	  ? make_plane(vec3_make(0, 1, 0), 0)
			      : kind == 1 ? make_box(60, 1, 60)
					  : make_mesh(corners, 4, halves, 2);
	stage_add(stage, (struct stage_body){ .status = BODY_STATIC,
					      .shape = stage_shape(stage, shape),
					      .position = vec3_make(0, kind == 1 ? -1 : 0, 0),
					      .friction = friction });
}

static double lowest(const struct stage *stage, uint32_t body, const struct shape *shape)
{
	pose at = { stage->tables.body.position[body], stage->tables.body.rotation[body] };
	vec3 down = pose_inverse_vector(at, vec3_make(0, -1, 0));
	vec3 p = pose_point(at, support_core(shape, 0, down).point);
	return p.y - support_radius(shape);
}

static struct shape *make_kind(uint32_t kind)
{
	switch (kind) {
	case 0:
		return make_cylinder(0.4, 0.3);
	case 1:
		return make_cone(0.4, 0.3);
	case 2:
		return make_ellipsoid(0.4, 0.3, 0.5);
	default:
		return make_rounded_box(0.2, 0.3, 0.25, 0.05);
	}
}

START_TEST(bodies_stay_where_they_stand)
{
	for (uint32_t m = 0; m < METHODS_COUNT; m++)
		for (uint32_t floor = 0; floor < 3; floor++)
			for (uint32_t kind = 0; kind < 4; kind++) {
				struct stage stage;
				stage_init(&stage, METHODS[m]);
				add_floor(&stage, floor, 0.6);
				struct shape *shape = make_kind(kind);
				vec3 at = vec3_make(0.3, 1e-4 - shape->aabb_min.y, 0.2);
				uint32_t row = stage_shape(&stage, shape);
				uint32_t body = stage_add(
					&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								     .shape = row,
								     .position = at,
								     .wakeful = true });
				stage_run(&stage, 300);
				vec3 p = stage.tables.body.position[body];
				quat q = stage.tables.body.rotation[body];
				double low = lowest(&stage, body, shape);
				/* The penalty is a spring: bodies stand on it as deep as they are
				 * heavy, and turn a little before it has settled. */
				bool still =
					fabs(low) < (m < EXACT ? 2e-3 : 1e-2) &&
					hypot(p.x - at.x, p.z - at.z) < (m < EXACT ? 2e-3 : 1e-2) &&
					vec3_length(quat_vector(q)) < (m < EXACT ? 5e-3 : 3e-2);
				if (!still)
					printf("# %s floor %u kind %u: low %g turn %g\n",
					       METHODS[m], floor, kind, low,
					       vec3_length(quat_vector(q)));
				fflush(stdout);
				ck_assert(still);
				stage_release(&stage);
			}
}
END_TEST

/* Rolls along x with the axis along z. */
static void roll(const char *method, uint32_t floor, struct shape *shape, quat q, double radius,
		 uint32_t ticks, double *sunk, double *gained, double *lost)
{
	struct stage stage;
	stage_init(&stage, method);
	add_floor(&stage, floor, 0.6);
	double speed = 0.3;
	uint32_t row = stage_shape(&stage, shape);
	uint32_t body =
		stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
						       .shape = row,
						       .position = vec3_make(-25, radius, 0.3),
						       .rotation = q,
						       .velocity = vec3_make(speed, 0, 0),
						       .spin = vec3_make(0, 0, -speed / radius),
						       .wakeful = true });
	double start = stage_kinetic(&stage), most = start, least = start;
	*sunk = 0;
	for (uint32_t t = 0; t < ticks; t++) {
		stage_step(&stage);
		double energy = stage_kinetic(&stage);
		most = fmax(most, energy);
		least = fmin(least, energy);
		*sunk = fmax(*sunk, -lowest(&stage, body, shape));
	}
	*gained = most / start - 1;
	*lost = 1 - least / start;
	stage_release(&stage);
}

START_TEST(a_rolling_cylinder_neither_sinks_nor_gains_energy)
{
	quat lying = quat_make(sin(PI / 4), sin(PI / 4), 0, 0);
	for (uint32_t m = 0; m < METHODS_COUNT; m++) {
		bool long_run = m == 0 || m == 4; /* soft-step, impact */
		for (uint32_t floor = 0; floor < 3; floor++) {
			double sunk, gained, lost;
			roll(METHODS[m], floor, make_cylinder(0.4, 0.3), lying, 0.3,
			     long_run ? 10000 : 1000, &sunk, &gained, &lost);
			printf("# %s floor %u: sunk %.3g m, energy +%.3g -%.3g\n", METHODS[m],
			       floor, sunk, gained, lost);
			fflush(stdout);
			ck_assert_double_lt(sunk, 2e-3);
			/* The penalty's springs swing at first: nothing is lost, and what is gained
			 * was height. */
			ck_assert_double_lt(gained, m < EXACT ? 1e-4 : 0.5);
			ck_assert_double_lt(lost, 1e-3);
		}
	}
}
END_TEST

START_TEST(curved_bodies_keep_momentum)
{
	for (uint32_t m = 0; m < EXACT; m++) {
		struct rng rng = rng_seeded(check_seed());
		struct stage stage;
		stage_init(&stage, METHODS[m]);
		stage.tables.world.gravity[0] = vec3_zero();
		uint32_t rows[4];
		for (uint32_t k = 0; k < 4; k++)
			rows[k] = stage_shape(&stage, make_kind(k));
		for (uint32_t i = 0; i < 24; i++) {
			vec3 cell = vec3_make(i % 3, i / 3 % 3, i / 9);
			vec3 at = vec3_add(cell, random_vector(&rng, 0.05));
			stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							       .shape = rows[i % 4],
							       .position = vec3_scale(at, 1.4),
							       .rotation = random_rotation(&rng),
							       .velocity = random_vector(&rng, 2),
							       .spin = random_vector(&rng, 2),
							       .restitution = 0.5 });
		}
		vec3 before = stage_momentum(&stage), turning = stage_angular_momentum(&stage);
		double energy = stage_kinetic(&stage);
		stage_run(&stage, 120);
		ck_assert_double_le(stage_kinetic(&stage), energy * 1.001);
		expect_near(stage_momentum(&stage), before, 1e-6 * 1000);
		expect_near(stage_angular_momentum(&stage), turning, m == 0 ? 1 : 1e-3 * 1000);
		stage_release(&stage);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("curved_bodies");
	TCase *all = tcase_create("all");
	tcase_set_timeout(all, 120);
	tcase_add_test(all, bodies_stay_where_they_stand);
	tcase_add_test(all, a_rolling_cylinder_neither_sinks_nor_gains_energy);
	tcase_add_test(all, curved_bodies_keep_momentum);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
