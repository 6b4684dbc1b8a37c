/* The exact velocity methods against closed forms (papers C-02 … C-11, R-11). */
#include "server/base/rng.h"
#include "server/engine/collision/manifold.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

static const char *const METHODS[] = { "lcp", "projection", "reflection" };

static void open_stage(struct stage *stage, const char *method, bool planar, bool gravity)
{
	stage_init(stage, method);
	stage->tables.world.planar[0] = planar;
	if (!gravity)
		stage->tables.world.gravity[0] = vec3_zero();
	stage_parameter(stage, PARAMETER_SLEEP_ENABLED, 0);
	stage_parameter(stage, PARAMETER_RESTITUTION_SPEED, 1e-6);
}

/* A polygon of the given mass and inertia about z, its mass centre at its origin. */
static uint32_t add_polygon(struct stage *stage, uint32_t shape, double mass, double inertia,
			    vec3 at, vec3 velocity, double spin, double restitution)
{
	uint32_t row = stage_add(stage, (struct stage_body){ .status = BODY_DYNAMIC,
							     .shape = shape,
							     .position = at,
							     .velocity = velocity,
							     .spin = { 0, 0, spin },
							     .friction = -1,
							     .restitution = restitution });
	struct body_table *body = &stage->tables.body;
	body->centre[row] = vec3_zero();
	body->mass[row] = mass;
	body->mass_inv[row] = 1 / mass;
	body->inertia[row][2] = inertia;
	body->inertia_inv[row][2] = 1 / inertia;
	ck_assert_int_eq(dynamics_rebuild(&stage->dynamics), STATUS_OK);
	return row;
}

static uint32_t add_table(struct stage *stage)
{
	static const vec3 corners[] = {
		{ -20, -3, 0 }, { 20, -3, 0 }, { 20, -1, 0 }, { -20, -1, 0 }
	};
	uint32_t shape = stage_shape(stage, make_polygon(corners, 4, 0));
	return stage_add(stage, (struct stage_body){
					.status = BODY_STATIC, .shape = shape, .friction = -1 });
}

static double impulse_sum(const struct stage *stage)
{
	double sum = 0;
	for (uint32_t row = 0; row < stage->tables.contact.count; row++)
		for (uint32_t p = 0; p < MANIFOLD_POINTS_MAX; p++)
			sum += stage->tables.contact.normal_impulse[row][p];
	return sum;
}

START_TEST(the_worked_example_tips_over_its_edge)
{
	/* C-04: λ = (0, 20/3), V_y = ω = −1/3; the printed matrix would make it rebound at +2. */
	static const vec3 legs[] = { { -2, -1, 0 }, { -1, -1, 0 }, { 0, 1, 0 }, { -2, 1, 0 } };
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++) {
		struct stage stage;
		open_stage(&stage, METHODS[m], true, false);
		add_table(&stage);
		uint32_t shape = stage_shape(&stage, make_polygon(legs, 4, 0));
		uint32_t row =
			add_polygon(&stage, shape, 4, 20, vec3_zero(), vec3_make(0, -2, 0), 0, 0);
		stage_step(&stage);
		ck_assert_double_eq_tol(stage.tables.body.velocity[row].y, -1.0 / 3, 1e-12);
		ck_assert_double_eq_tol(stage.tables.body.angular_velocity[row].z, -1.0 / 3, 1e-12);
		ck_assert_double_eq_tol(impulse_sum(&stage), 20.0 / 3, 1e-12);
		ck_assert_uint_eq(stage.dynamics.report.fallbacks, 0);
		stage_release(&stage);
	}
}
END_TEST

START_TEST(a_block_lands_flat_and_leaves_flat)
{
	/* C-11: M 4, I 20, contacts (±2, −1), v (0, −2, 0.3) → (0, 2, −0.3). Both contacts exist at the
	 * begin of the step, because a turning block would touch with one end first. */
	static const vec3 feet[] = { { -2, -1, 0 }, { 2, -1, 0 }, { 2, 1, 0 }, { -2, 1, 0 } };
	struct stage stage;
	open_stage(&stage, "reflection", true, false);
	stage.dt = 1e-7; /* nothing rotates within the step */
	add_table(&stage);
	uint32_t shape = stage_shape(&stage, make_polygon(feet, 4, 0));
	uint32_t row = add_polygon(&stage, shape, 4, 20, vec3_zero(), vec3_make(0, -2, 0), 0.3, 1);
	stage_step(&stage);
	ck_assert_double_eq_tol(stage.tables.body.velocity[row].y, 2, 1e-6);
	ck_assert_double_eq_tol(stage.tables.body.angular_velocity[row].z, -0.3, 1e-6);
	stage_release(&stage);
}
END_TEST

/* ---- rows of balls ---------------------------------------------------------------------------- */

struct cradle {
	uint32_t balls;
	double gap;		/* before the first, m */
	const double *after[3]; /* by METHODS */
};

static void run_cradle(const struct cradle *cradle, uint32_t method, double core)
{
	struct stage stage;
	open_stage(&stage, METHODS[method], false, false);
	stage_parameter(&stage, PARAMETER_REFLECTION_CORE, core);
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	for (uint32_t i = 0; i < cradle->balls; i++)
		stage_add(&stage,
			  (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = ball,
					       .position = { i == 0 ? -cradle->gap : i, 0, 0 },
					       .velocity = { i == 0, 0, 0 },
					       .mass = 1,
					       .friction = -1,
					       .restitution = 1 });
	stage_run(&stage, 20);
	for (uint32_t i = 0; i < cradle->balls; i++)
		ck_assert_msg(scalar_near(stage.tables.body.velocity[i].x, cradle->after[method][i],
					  1e-12),
			      "%s, gap %g, ball %u: %.17g", METHODS[method], cradle->gap, i,
			      stage.tables.body.velocity[i].x);
	ck_assert(scalar_near(stage_kinetic(&stage), 0.5, 1e-12));
	ck_assert(scalar_near(stage_momentum(&stage).x, 1, 1e-12));
	stage_release(&stage);
}

START_TEST(balls_in_a_row_touching_and_arriving)
{
	static const double stick3[] = { -1.0 / 3, 2.0 / 3, 2.0 / 3 }, part3[] = { 0, 0, 1 };
	static const double stick5[] = { -0.6, 0.4, 0.4, 0.4, 0.4 }, part5[] = { 0, 0, 0, 0, 1 };
	static const double gaps[] = { 0, 0.003, 0.0121, 0.0166, 0.1 };
	for (uint32_t g = 0; g < COUNT_OF(gaps); g++) {
		struct cradle three = { 3, gaps[g], { stick3, stick3, part3 } };
		struct cradle five = { 5, gaps[g], { stick5, stick5, part5 } };
		for (uint32_t m = 0; m < COUNT_OF(METHODS); m++)
			for (uint32_t core = 0; core <= (m == 2); core++) {
				run_cradle(&three, m, core);
				run_cradle(&five, m, core);
			}
	}
}
END_TEST

START_TEST(a_ball_hitting_two_balls_parts_them_evenly)
{
	/* C-11: a ball at (0, −1) hits two touching balls at ±30°: (0, 1/5), (∓√3/5, −3/5). */
	for (uint32_t core = 0; core < 2; core++) {
		struct stage stage;
		open_stage(&stage, "reflection", false, false);
		stage_parameter(&stage, PARAMETER_REFLECTION_CORE, core);
		uint32_t ball = stage_shape(&stage, make_sphere(0.5));
		vec3 at[3] = { { 0, scalar_sqrt(3) / 2, 0 }, { -0.5, 0, 0 }, { 0.5, 0, 0 } };
		for (uint32_t i = 0; i < 3; i++)
			stage_add(&stage,
				  (struct stage_body){ .status = BODY_DYNAMIC,
						       .shape = ball,
						       .position = at[i],
						       .velocity = { 0, i == 0 ? -1 : 0, 0 },
						       .mass = 1,
						       .friction = -1,
						       .restitution = 1 });
		stage.dt = 1e-9; /* so short that the normals do not turn */
		stage_step(&stage);
		const vec3 *v = stage.tables.body.velocity;
		ck_assert_double_eq_tol(v[0].y, 0.2, 1e-8);
		ck_assert_double_eq_tol(v[1].x, -scalar_sqrt(3) / 5, 1e-8);
		ck_assert_double_eq_tol(v[2].x, scalar_sqrt(3) / 5, 1e-8);
		ck_assert_double_eq_tol(v[1].y, -0.6, 1e-8);
		ck_assert(scalar_near(stage_kinetic(&stage), 0.5, 1e-12));
		stage_release(&stage);
	}
}
END_TEST

/* Fifteen balls in a triangle, apex towards a cue ball that comes from −x. */
static void rack(struct stage *stage, double gap, double aside)
{
	uint32_t ball = stage_shape(stage, make_sphere(0.5));
	struct stage_body like = {
		.status = BODY_DYNAMIC, .shape = ball, .mass = 1, .friction = -1, .restitution = 1
	};
	for (uint32_t row = 0; row < 5; row++)
		for (uint32_t i = 0; i <= row; i++) {
			like.position = vec3_make(row * scalar_sqrt(3) / 2, i - 0.5 * row, 0);
			stage_add(stage, like);
		}
	like.position = vec3_make(-scalar_sqrt(1 - aside * aside) - gap, aside, 0);
	like.velocity = vec3_make(1, 0, 0);
	stage_add(stage, like);
}

START_TEST(a_break_conserves_energy_momentum_and_symmetry)
{
	static const double gaps[] = { 0, 0.01, 0.1 };
	for (uint32_t g = 0; g < COUNT_OF(gaps); g++)
		for (uint32_t core = 0; core < 2; core++) {
			struct stage stage;
			open_stage(&stage, "reflection", true, false);
			stage_parameter(&stage, PARAMETER_REFLECTION_CORE, core);
			rack(&stage, gaps[g], 0);
			stage_run(&stage, 12);
			const vec3 *v = stage.tables.body.velocity;
			ck_assert_double_eq_tol(stage_kinetic(&stage), 0.5, 1e-12);
			ck_assert_double_eq_tol(stage_momentum(&stage).x, 1, 1e-12);
			ck_assert_double_eq_tol(stage_momentum(&stage).y, 0, 1e-12);
			double error = 0;
			for (uint32_t row = 0, first = 0; row < 5; first += ++row)
				for (uint32_t i = 0; i <= row; i++)
					error = scalar_max(
						error,
						vec3_distance(v[first + i],
							      vec3_make(v[first + row - i].x,
									-v[first + row - i].y, 0)));
			ck_assert_msg(error < 1e-12, "gap %g, core %u: mirror error %g", gaps[g],
				      core, error);
			stage_release(&stage);
		}
}
END_TEST

START_TEST(an_oblique_break_conserves_energy_and_both_momenta)
{
	for (uint32_t core = 0; core < 2; core++) {
		struct stage stage;
		open_stage(&stage, "reflection", true, false);
		stage_parameter(&stage, PARAMETER_REFLECTION_CORE, core);
		rack(&stage, 0.07, 0.4);
		vec3 turning = stage_angular_momentum(&stage);
		stage_run(&stage, 60);
		ck_assert_double_eq_tol(stage_kinetic(&stage), 0.5, 1e-12);
		ck_assert(vec3_distance(stage_momentum(&stage), vec3_make(1, 0, 0)) < 1e-12);
		ck_assert(vec3_distance(stage_angular_momentum(&stage), turning) < 1e-11);
		stage_release(&stage);
	}
}
END_TEST

START_TEST(an_inelastic_impact_shares_the_momentum)
{
	/* 1 kg at 1 m/s into 3 kg at rest: both 0.25, by every method. */
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++) {
		struct stage stage;
		open_stage(&stage, METHODS[m], false, false);
		uint32_t ball = stage_shape(&stage, make_sphere(0.5));
		struct stage_body like = {
			.status = BODY_DYNAMIC, .shape = ball, .mass = 1, .velocity = { 1, 0, 0 }
		};
		stage_add(&stage, like);
		like.mass = 3;
		like.velocity = vec3_zero();
		like.position = vec3_make(1.05, 0, 0);
		stage_add(&stage, like);
		stage_run(&stage, 10);
		for (uint32_t i = 0; i < 2; i++)
			ck_assert_double_eq_tol(stage.tables.body.velocity[i].x, 0.25, 1e-13);
		stage_release(&stage);
	}
}
END_TEST

/* ---- the printed form ------------------------------------------------------------------------- */

START_TEST(the_printed_form_touches_strictly_below_the_sum_of_radii)
{
	/* C-02: no contact at a distance of exactly the sum of radii; a contact one ulp closer. The right
	 * side is 0, so the body stops. */
	static const vec3 square[] = {
		{ -0.5, -0.5, 0 }, { 0.5, -0.5, 0 }, { 0.5, 0.5, 0 }, { -0.5, 0.5, 0 }
	};
	for (uint32_t near = 0; near < 2; near++)
		for (uint32_t m = 0; m < 2; m++) {
			struct stage stage;
			open_stage(&stage, METHODS[m], true, false);
			stage_parameter(&stage, PARAMETER_VELOCITY_PRINTED, 1);
			uint32_t shape = stage_shape(&stage, make_polygon(square, 4, 0.125));
			double apart = near == 0 ? 1.25 : 1.25 * (1 - 0x1p-52);
			add_polygon(&stage, shape, 1, 1, vec3_zero(), vec3_zero(), 0, 0);
			add_polygon(&stage, shape, 1, 1, vec3_make(0, apart, 0),
				    vec3_make(0, -1, 0), 0, 0);
			stage_step(&stage);
			ck_assert_double_eq_tol(stage.tables.body.velocity[1].y,
						near == 0 ? -1 : -0.5, 1e-12);
			ck_assert_double_eq_tol(stage.tables.body.velocity[0].y,
						near == 0 ? 0 : -0.5, 1e-12);
			stage_release(&stage);
		}
}
END_TEST

/* ---- redundant, heavy, sloping ---------------------------------------------------------------- */

START_TEST(velocities_do_not_depend_on_the_order_of_redundant_supports)
{
	/* C-05, as a body: a plank on three pillars falls onto all of them, in all six orders. */
	static const double places[] = { -3, 0, 3 };
	static const uint32_t orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					       { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++) {
		vec3 velocity[6], spin[6];
		for (uint32_t o = 0; o < 6; o++) {
			struct stage stage;
			open_stage(&stage, METHODS[m], false, true);
			uint32_t pillar = stage_shape(&stage, make_box(0.2, 1, 0.2));
			uint32_t plank = stage_shape(&stage, make_box(4, 0.1, 0.5));
			for (uint32_t i = 0; i < 3; i++)
				stage_add(&stage,
					  (struct stage_body){
						  .status = BODY_STATIC,
						  .shape = pillar,
						  .position = { places[orders[o][i]], -1, 0 } });
			uint32_t row = stage_add(&stage,
						 (struct stage_body){ .status = BODY_DYNAMIC,
								      .shape = plank,
								      .position = { 0.7, 0.1, 0.1 },
								      .velocity = { 0, -2, 0 },
								      .spin = { 0.1, 0, 0.4 },
								      .friction = -1 });
			stage_step(&stage);
			velocity[o] = stage.tables.body.velocity[row];
			spin[o] = stage.tables.body.angular_velocity[row];
			/* No bit of the pillars' positions changes. */
			ck_assert(vec3_equal(stage.tables.body.velocity[0], vec3_zero()));
			stage_release(&stage);
		}
		for (uint32_t o = 1; o < 6; o++) {
			ck_assert(vec3_distance(velocity[o], velocity[0]) < 1e-9);
			ck_assert(vec3_distance(spin[o], spin[0]) < 1e-9);
		}
	}
}
END_TEST

/* An animated plate takes part in the step but links no islands, because no impulse moves it. */
START_TEST(bodies_on_one_moving_plate_are_separate_islands)
{
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++) {
		struct stage stage;
		open_stage(&stage, METHODS[m], false, true);
		uint32_t slab = stage_shape(&stage, make_box(20, 0.5, 20));
		uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
		/* The plate is made before, between or after the bodies on it. */
		for (uint32_t i = 0; i < 4; i++) {
			if (i == (uint32_t)_i)
				stage_add(&stage, (struct stage_body){ .status = BODY_ANIMATED,
								       .shape = slab,
								       .velocity = { 0, 0.3, 0 } });
			if (i < 3)
				stage_add(&stage,
					  (struct stage_body){ .status = BODY_DYNAMIC,
							       .shape = box,
							       .position = { 5.0 * i, 1, 0 } });
		}
		stage_run(&stage, 3);
		ck_assert_uint_eq(stage.dynamics.report.islands_dense +
					  stage.dynamics.report.islands_sparse,
				  3);
		ck_assert_double_gt(impulse_sum(&stage), 0);
		stage_release(&stage);
	}
}
END_TEST

/* A deeply overlapping body leaves at push_speed; it gains no velocity. */
START_TEST(overlap_is_pushed_out_at_push_speed_at_most)
{
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++) {
		struct stage stage;
		open_stage(&stage, METHODS[m], false, false);
		stage_parameter(&stage, PARAMETER_PUSH_SPEED, 2);
		uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
		uint32_t ball = stage_shape(&stage, make_sphere(0.5));
		stage_add(&stage, (struct stage_body){ .status = BODY_STATIC, .shape = box });
		uint32_t row = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								      .shape = ball,
								      .position = { 0, 0.8, 0 } });
		for (uint32_t tick = 1; tick <= 10; tick++) {
			stage_step(&stage);
			double wanted = scalar_min(0.8 + tick * 2.0 / 60, 1);
			ck_assert_double_eq_tol(stage.tables.body.position[row].y, wanted, 1e-6);
			ck_assert_double_le(vec3_length(stage.tables.body.velocity[row]), 1e-9);
		}
		stage_release(&stage);
	}
}
END_TEST

/* A block slides 1 cm deep in its floor. It is pushed out upwards, and friction acts on its velocity
 * only, not on the push. */
START_TEST(pushing_out_does_not_change_sliding)
{
	for (uint32_t m = 0; m < 2; m++) {
		struct stage stage;
		open_stage(&stage, METHODS[m], false, true);
		stage_parameter(&stage, PARAMETER_PROJECTION_FRICTION_ROUNDS, 5);
		uint32_t slab = stage_shape(&stage, make_box(20, 0.5, 20));
		uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
		stage_add(&stage, (struct stage_body){
					  .status = BODY_STATIC, .shape = slab, .friction = 0.1 });
		uint32_t row = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								      .shape = box,
								      .position = { 0, 0.99, 0 },
								      .velocity = { 3, 0, 0 },
								      .friction = 0.1 });
		stage_step(&stage);
		double speed = stage.tables.body.velocity[row].x;
		ck_assert_double_eq_tol(speed, 3 - 0.1 * 9.81 / 60, 1e-9);
		ck_assert_double_eq_tol(stage.tables.body.position[row].x, speed / 60, 1e-9);
		ck_assert_double_eq_tol(stage.tables.body.position[row].y, 1, 1e-6);
		ck_assert_double_le(vec3_length(stage.tables.body.angular_velocity[row]), 1e-9);
		/* The work of lifting the block is counted in push_work. */
		ck_assert_double_eq_tol(stage.dynamics.report.push_work,
					stage.tables.body.mass[row] * 9.81 * 0.01, 1e-3);
		stage_release(&stage);
	}
}
END_TEST

/* The reported impulse of all contacts on the body in the tick: normal impulses and friction. */
static vec3 reported_impulse(const struct stage *stage, uint32_t body)
{
	const struct contact_table *contact = &stage->tables.contact;
	vec3 sum = vec3_zero();
	for (uint32_t row = 0; row < contact->count; row++) {
		bool is_b = contact->used[row] && contact_body_b(&stage->tables, row) == body;
		bool is_a = contact->used[row] && contact_body_a(&stage->tables, row) == body;
		if (!is_a && !is_b)
			continue;
		const double *friction = contact->friction_impulse[row];
		vec3 reported = vec3_make(friction[0], friction[1], friction[2]);
		for (uint32_t p = 0; p < contact->point_count[row]; p++)
			reported = vec3_mul_add(reported, contact->normal[row],
						contact->normal_impulse[row][p]);
		sum = vec3_add(sum, is_b ? reported : vec3_negate(reported));
	}
	return sum;
}

/* m Δv = g m h + the reported impulses, for a block that slides askew and a block that lands and bounces,
 * with the floor made first or last. */
START_TEST(reported_impulses_equal_the_change_of_momentum)
{
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++) {
		for (uint32_t k = 0; k < 4; k++) {
			struct stage stage;
			bool bounces = k >= 2, floor_first = k % 2;
			open_stage(&stage, METHODS[m], false, true);
			uint32_t slab = stage_shape(&stage, make_box(20, 0.5, 20));
			uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
			struct stage_body floor = { .status = BODY_STATIC,
						    .shape = slab,
						    .friction = 0.3,
						    .restitution = bounces ? 0.5 : 0 };
			struct stage_body block = { .status = BODY_DYNAMIC,
						    .shape = box,
						    .friction = 0.3,
						    .position = { 0, bounces ? 1.02 : 1, 0 },
						    .velocity = { 2, bounces ? -3 : 0, -1 },
						    .restitution = bounces ? 0.5 : 0 };
			if (floor_first)
				stage_add(&stage, floor);
			uint32_t row = stage_add(&stage, block);
			if (!floor_first)
				stage_add(&stage, floor);
			for (uint32_t tick = 0; tick < 3; tick++) {
				const struct body_table *body = &stage.tables.body;
				vec3 before = body->velocity[row];
				stage_step(&stage);
				vec3 change = vec3_scale(vec3_sub(body->velocity[row], before),
							 body->mass[row]);
				vec3 weight = vec3_make(0, -9.81 * body->mass[row] / 60, 0);
				vec3 reported = vec3_add(weight, reported_impulse(&stage, row));
				ck_assert_msg(vec3_distance(change, reported) <
						      1e-6 * body->mass[row],
					      "%s, %u, tick %u: (%g %g %g), reported (%g %g %g)",
					      METHODS[m], k, tick, change.x, change.y, change.z,
					      reported.x, reported.y, reported.z);
			}
			stage_release(&stage);
		}
	}
}
END_TEST

/* A plane y = 0 and bodies on it, all without friction. */
static uint32_t add_smooth_floor(struct stage *stage, double restitution)
{
	uint32_t plane = stage_shape(stage, make_plane(vec3_make(0, 1, 0), 0));
	return stage_add(stage, (struct stage_body){ .status = BODY_STATIC,
						     .shape = plane,
						     .friction = -1,
						     .restitution = restitution });
}

static uint32_t add_smooth(struct stage *stage, struct shape *shape, double restitution,
			   struct stage_body body)
{
	body.status = BODY_DYNAMIC;
	body.shape = stage_shape(stage, shape);
	body.friction = -1;
	body.restitution = restitution;
	return stage_add(stage, body);
}

/* The lowest normal impulse of a contact point, at most 0. */
static double lowest_impulse(const struct stage *stage)
{
	const struct contact_table *contact = &stage->tables.contact;
	double lowest = 0;
	for (uint32_t row = 0; row < contact->count; row++)
		for (uint32_t p = 0; p < MANIFOLD_POINTS_MAX && contact->used[row]; p++)
			lowest = scalar_min(lowest, contact->normal_impulse[row][p]);
	return lowest;
}

/* The lowest normal impulse of a point while a ball is thrown onto a box on a plane. The normal of the
 * plane is constant, so its reported impulse equals the change of momentum of both bodies. */
static double lowest_under_ball(const char *method, double restitution, double aside, bool exact)
{
	struct stage stage;
	double lowest = 0;
	open_stage(&stage, method, false, true);
	stage_parameter(&stage, PARAMETER_EXACT_WORK, exact);
	uint32_t floor = add_smooth_floor(&stage, restitution);
	struct stage_body stands = { .position = { 0, 0.5, 0 }, .velocity = { 0, -5, 0 } };
	struct stage_body flies = { .position = { aside, 1.6, 0 },
				    .velocity = { 0, -20, 0 },
				    .spin = { 0, 0, 9 } };
	uint32_t box = add_smooth(&stage, make_box(0.5, 0.5, 0.5), restitution, stands);
	uint32_t ball = add_smooth(&stage, make_sphere(0.5), restitution, flies);
	double mass = stage.tables.body.mass[box] + stage.tables.body.mass[ball];
	for (uint32_t tick = 0; tick < 8; tick++) {
		double before = stage_momentum(&stage).y;
		stage_step(&stage);
		double changed = stage_momentum(&stage).y - before + mass * 9.81 * stage.dt;
		ck_assert_double_eq_tol(-reported_impulse(&stage, floor).y, changed,
					1e-9 * 20 * mass);
		lowest = scalar_min(lowest, lowest_impulse(&stage));
	}
	stage_release(&stage);
	return lowest;
}

/* Where work is exact, less of the motion's impulses is taken back, and none is below 0 here. */
START_TEST(points_of_a_bounce_may_report_negative_impulses_that_add_up)
{
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++) {
		double bounced = 0;
		for (uint32_t k = 0; k < 40; k++) {
			double aside = 0.25 + 0.01 * k;
			double early = lowest_under_ball(METHODS[m], 1, aside, false);
			bounced = scalar_min(bounced, early);
			ck_assert_double_gt(lowest_under_ball(METHODS[m], 1, aside, true), -1e-9);
			ck_assert(!(lowest_under_ball(METHODS[m], 0, aside, false) < 0));
			ck_assert(!(lowest_under_ball(METHODS[m], 0, aside, true) < 0));
		}
		/* Without negative impulses the checks of sums would be trivial. */
		ck_assert_msg(bounced < -1, "%s: at worst %g N s", METHODS[m], bounced);
	}
}
END_TEST

/* The energy gained in a tick is at most the work of gravity on the free path less its work on the actual
 * path (`withheld`); without a bounce, and where work is exact, it is at most 0. */
static void assert_energy(struct stage *stage, const char *what)
{
	bool exact = stage->tables.parameter.value[PARAMETER_EXACT_WORK] > 0;
	const struct body_table *body = &stage->tables.body;
	double before = stage_kinetic(stage) + stage_potential(stage), withheld = 0;
	bool bounces = false;
	vec3 velocity[4], position[4];
	for (uint32_t row = 0; row < body->count; row++) {
		velocity[row] = body->velocity[row];
		position[row] = body->position[row];
	}
	stage_step(stage);
	for (uint32_t row = 0; row < body->count; row++) {
		double weight = body->mass[row] * 9.81, fall = 0.5 * 9.81 * stage->dt * stage->dt;
		if (body->status[row] != BODY_DYNAMIC)
			continue;
		fall -= velocity[row].y * stage->dt;
		withheld += weight * (fall - (position[row].y - body->position[row].y));
		bounces |= body->velocity[row].y > velocity[row].y;
	}
	double gained = stage_kinetic(stage) + stage_potential(stage) - before;
	ck_assert_msg(gained <= 1e-9 * before + (bounces && !exact ? withheld : 0),
		      "%s: gained %g J, withheld %g J", what, gained, withheld);
}

START_TEST(a_bounce_gains_at_most_the_withheld_work_of_gravity)
{
	for (uint32_t k = 0; k < COUNT_OF(METHODS) * 24; k++) {
		struct stage stage;
		uint32_t scene = k % 24;
		open_stage(&stage, METHODS[k / 24], false, true);
		stage_parameter(&stage, PARAMETER_EXACT_WORK, _i);
		stage.dt = scene % 2 ? 1.0 / 60 : 1.0 / 480;
		add_smooth_floor(&stage, 1);
		struct stage_body turns = { .position = { scene % 4 < 2 ? 0 : 4, 2.5, 0 },
					    .spin = { 0.3 * scene, 1, -0.2 * scene } };
		struct stage_body falls = { .position = { 0, 0.5 + 0.05 * (scene / 4), 0 },
					    .velocity = { 0, -20, 0 } };
		add_smooth(&stage, make_box(0.5, 0.3, 0.4), 1, turns);
		add_smooth(&stage, make_sphere(0.5), 1, falls);
		for (uint32_t tick = 0; tick < 60; tick++)
			assert_energy(&stage, METHODS[k / 24]);
		stage_release(&stage);
	}
}
END_TEST

/* A ball on the floor bounces without moving in the tick: it gains the whole bound, m g h (v + g h/2), or,
 * where work is exact, nothing. */
START_TEST(a_ball_bouncing_in_place_gains_all_withheld_work)
{
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++) {
		struct stage stage;
		open_stage(&stage, METHODS[m], false, true);
		stage_parameter(&stage, PARAMETER_EXACT_WORK, _i);
		add_smooth_floor(&stage, 1);
		struct stage_body stands = { .position = { 0, 0.5, 0 },
					     .velocity = { 0, -20, 0 },
					     .mass = 1 };
		uint32_t ball = add_smooth(&stage, make_sphere(0.5), 1, stands);
		double before = stage_kinetic(&stage), g = 9.81, h = stage.dt;
		stage_step(&stage);
		ck_assert_double_eq_tol(stage_kinetic(&stage) - before,
					_i ? 0 : g * h * (20 + g * h / 2), 1e-9);
		ck_assert_double_eq_tol(stage.tables.body.position[ball].y, 0.5, 1e-9);
		ck_assert(!(stage.dynamics.report.push_work > 0));
		stage_release(&stage);
	}
}
END_TEST

/* A block that lands flat leaves with its speed times the restitution, with the dense and the sparse
 * solver. */
START_TEST(a_block_landing_flat_bounces_with_its_restitution)
{
	static const double shares[] = { 0.25, 0.5, 1 };
	for (uint32_t k = 0; k < COUNT_OF(METHODS) * COUNT_OF(shares) * 2; k++) {
		struct stage stage;
		double share = shares[k / 2 % COUNT_OF(shares)];
		const char *method = METHODS[k / 2 / COUNT_OF(shares)];
		open_stage(&stage, method, false, false);
		stage_parameter(&stage, PARAMETER_VELOCITY_DENSE_ROWS, k % 2 == 0 ? 60 : 1);
		uint32_t slab = stage_shape(&stage, make_box(20, 0.5, 20));
		uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
		stage_add(&stage, (struct stage_body){ .status = BODY_STATIC,
						       .shape = slab,
						       .friction = -1,
						       .restitution = share });
		uint32_t row = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								      .shape = box,
								      .position = { 0, 1.02, 0 },
								      .velocity = { 0, -3, 0 },
								      .friction = -1,
								      .restitution = share });
		stage_step(&stage);
		ck_assert_uint_eq(stage.dynamics.report.fallbacks, 0);
		ck_assert_msg(scalar_near(stage.tables.body.velocity[row].y, 3 * share, 1e-9),
			      "%s, %g: %g", method, share, stage.tables.body.velocity[row].y);
		stage_release(&stage);
	}
}
END_TEST

/* The ball comes close to the wall without touching it, so it bounces off the floor only. */
START_TEST(a_close_wall_without_contact_takes_no_part_in_an_impact)
{
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++) {
		struct stage stage;
		open_stage(&stage, METHODS[m], false, false);
		uint32_t slab = stage_shape(&stage, make_box(20, 0.5, 20));
		uint32_t ball = stage_shape(&stage, make_sphere(0.5));
		struct stage_body fixed = {
			.status = BODY_STATIC, .shape = slab, .friction = -1, .restitution = 1
		};
		stage_add(&stage, fixed);
		fixed.shape = stage_shape(&stage, make_box(0.5, 20, 20));
		fixed.position = vec3_make(0.5 + 0.5 + 0.03, 0, 0);
		stage_add(&stage, fixed);
		uint32_t row = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								      .shape = ball,
								      .position = { 0, 1.02, 0 },
								      .velocity = { 1, -3, 0 },
								      .friction = -1,
								      .restitution = 1 });
		stage_step(&stage);
		ck_assert_double_eq_tol(stage.tables.body.velocity[row].y, 3, 1e-9);
		ck_assert_double_eq_tol(stage.tables.body.velocity[row].x, 1, 1e-9);
		stage_release(&stage);
	}
}
END_TEST

/* One end of a rod arrives at 1 m/s while the other separates at 2·10⁻⁵ m/s. Newton's law alone would add
 * energy, because it stops the separating end. */
START_TEST(a_separating_end_of_a_rod_adds_no_energy)
{
	static const vec3 rod[] = {
		{ -2, -0.05, 0 }, { 2, -0.05, 0 }, { 2, 0.05, 0 }, { -2, 0.05, 0 }
	};
	for (uint32_t m = 0; m < 2; m++) {
		struct stage stage;
		open_stage(&stage, METHODS[m], true, false);
		uint32_t table = add_table(&stage);
		stage.tables.body.restitution[table] = 1;
		uint32_t shape = stage_shape(&stage, make_polygon(rod, 4, 0));
		double leaves = 2e-5, arrives = -1;
		add_polygon(&stage, shape, 3, 4, vec3_make(0, -0.95, 0),
			    vec3_make(0, (leaves + arrives) / 2, 0), (leaves - arrives) / 4, 1);
		double before = stage_kinetic(&stage);
		stage_step(&stage);
		ck_assert_uint_gt(stage.dynamics.report.fallbacks, 0);
		ck_assert_double_le(stage_kinetic(&stage), before * (1 + 1e-10));
		stage_release(&stage);
	}
}
END_TEST

/* A cradle of five needs more than one round. */
START_TEST(reflections_beyond_the_limit_of_rounds_are_reported)
{
	for (uint32_t k = 0; k < 4; k++) {
		struct stage stage;
		bool enough = k / 2;
		open_stage(&stage, "reflection", false, false);
		stage_parameter(&stage, PARAMETER_VELOCITY_DENSE_ROWS, k % 2 == 0 ? 60 : 1);
		stage_parameter(&stage, PARAMETER_REFLECTION_ROUNDS, enough ? 200 : 1);
		uint32_t ball = stage_shape(&stage, make_sphere(0.5));
		for (uint32_t i = 0; i < 5; i++)
			stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							       .shape = ball,
							       .position = { i, 0, 0 },
							       .velocity = { i == 0 ? 2 : 0, 0, 0 },
							       .friction = -1,
							       .restitution = 1 });
		stage_step(&stage);
		ck_assert((stage.dynamics.report.fallbacks > 0) == !enough);
		stage_release(&stage);
	}
}
END_TEST

START_TEST(a_tower_stands_under_a_heavy_top)
{
	static const double tops[] = { 1, 10, 1000 };
	for (uint32_t m = 0; m < 2; m++)
		for (uint32_t t = 0; t < COUNT_OF(tops); t++) {
			struct stage stage;
			open_stage(&stage, METHODS[m], false, true);
			stage_ground(&stage);
			uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5)), top = 0;
			for (uint32_t i = 0; i < 8; i++)
				top = stage_add(&stage, (struct stage_body){
								.status = BODY_DYNAMIC,
								.shape = box,
								.position = { 0, 0.5 + i, 0 },
								.mass = i == 7 ? tops[t] : 1 });
			stage_run(&stage, 120);
			double sink = 7.5 - stage.tables.body.position[top].y;
			ck_assert_msg(scalar_abs(sink) <= 1e-8, "%s, top %g: sinks %g m",
				      METHODS[m], tops[t], sink);
			stage_release(&stage);
		}
}
END_TEST

START_TEST(a_block_sticks_or_slides_on_a_slope_by_the_analytic_rule)
{
	/* 20°: tan = 0.364. */
	double angle = 20 * TWO_PI / 360, sine = trig_sin(angle), cosine = trig_cos(angle);
	static const double frictions[] = { 0.5, 0.3 };
	for (uint32_t f = 0; f < 2; f++)
		for (uint32_t turn = 0; turn < 3; turn++) {
			struct stage stage;
			open_stage(&stage, "lcp", false, true);
			quat lean = quat_from_axis_angle(vec3_make(0, 0, 1), -angle);
			quat yaw = quat_from_axis_angle(vec3_make(0, 1, 0), 0.4 * turn);
			uint32_t floor = stage_shape(&stage, make_box(50, 1, 50));
			uint32_t box = stage_shape(&stage, make_box(0.5, 0.25, 0.5));
			quat at = quat_mul(yaw, lean);
			stage_add(&stage, (struct stage_body){ .status = BODY_STATIC,
							       .shape = floor,
							       .rotation = at,
							       .friction = frictions[f],
							       .position = quat_rotate(
								       at, vec3_make(0, -1, 0)) });
			uint32_t row = stage_add(
				&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							     .shape = box,
							     .rotation = at,
							     .friction = frictions[f],
							     .position = quat_rotate(
								     at, vec3_make(0, 0.25, 0)) });
			stage_run(&stage, 30);
			double before = vec3_length(stage.tables.body.velocity[row]);
			stage_run(&stage, 30);
			double gained = (vec3_length(stage.tables.body.velocity[row]) - before) /
					(30 * stage.dt);
			double wanted = f == 0 ? 0 : 9.81 * (sine - 0.3 * cosine);
			ck_assert_msg(scalar_near(gained, wanted, 1e-9),
				      "μ %g: %.12g m/s2, not %.12g", frictions[f], gained, wanted);
			if (f == 0)
				ck_assert_msg(before < 1e-10, "turn %u: creeps at %g", turn,
					      before);
			stage_release(&stage);
		}
}
END_TEST

START_TEST(a_body_squeezed_between_animated_bodies_stays_finite)
{
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++) {
		struct stage stage;
		open_stage(&stage, METHODS[m], false, true);
		stage_ground(&stage);
		uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
		uint32_t row = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								      .shape = box,
								      .position = { 0, 0.5, 0 } });
		stage_add(&stage, (struct stage_body){ .status = BODY_ANIMATED,
						       .shape = box,
						       .position = { 0, 1.5, 0 },
						       .velocity = { 0, -1, 0 } });
		uint32_t fallbacks = 0;
		double residual = 0;
		for (uint32_t i = 0; i < 30; i++) {
			stage_step(&stage);
			fallbacks += stage.dynamics.report.fallbacks;
			residual = scalar_max(residual, stage.dynamics.report.residual);
		}
		ck_assert_uint_gt(fallbacks, 0);
		/* The rows are violated by 1 m/s, which the residual reports. */
		ck_assert_double_gt(residual, 0.1);
		ck_assert_uint_eq(stage.tables.body.quarantined[row], 0);
		ck_assert(vec3_is_finite(stage.tables.body.position[row]));
		stage_release(&stage);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/velocity");
	TCase *values = tcase_create("values");
	tcase_set_timeout(values, 60);
	tcase_add_test(values, the_worked_example_tips_over_its_edge);
	tcase_add_test(values, a_block_lands_flat_and_leaves_flat);
	tcase_add_test(values, balls_in_a_row_touching_and_arriving);
	tcase_add_test(values, a_ball_hitting_two_balls_parts_them_evenly);
	tcase_add_test(values, a_break_conserves_energy_momentum_and_symmetry);
	tcase_add_test(values, an_oblique_break_conserves_energy_and_both_momenta);
	tcase_add_test(values, an_inelastic_impact_shares_the_momentum);
	tcase_add_test(values, the_printed_form_touches_strictly_below_the_sum_of_radii);
	suite_add_tcase(suite, values);
	TCase *loads = tcase_create("loads");
	tcase_set_timeout(loads, 60);
	tcase_add_test(loads, velocities_do_not_depend_on_the_order_of_redundant_supports);
	tcase_add_loop_test(loads, bodies_on_one_moving_plate_are_separate_islands, 0, 4);
	tcase_add_test(loads, overlap_is_pushed_out_at_push_speed_at_most);
	tcase_add_test(loads, pushing_out_does_not_change_sliding);
	tcase_add_test(loads, reported_impulses_equal_the_change_of_momentum);
	tcase_add_test(loads, points_of_a_bounce_may_report_negative_impulses_that_add_up);
	tcase_add_loop_test(loads, a_bounce_gains_at_most_the_withheld_work_of_gravity, 0, 2);
	tcase_add_loop_test(loads, a_ball_bouncing_in_place_gains_all_withheld_work, 0, 2);
	tcase_add_test(values, a_block_landing_flat_bounces_with_its_restitution);
	tcase_add_test(values, a_close_wall_without_contact_takes_no_part_in_an_impact);
	tcase_add_test(values, a_separating_end_of_a_rod_adds_no_energy);
	tcase_add_test(values, reflections_beyond_the_limit_of_rounds_are_reported);
	tcase_add_test(loads, a_tower_stands_under_a_heavy_top);
	tcase_add_test(loads, a_block_sticks_or_slides_on_a_slope_by_the_analytic_rule);
	tcase_add_test(loads, a_body_squeezed_between_animated_bodies_stays_finite);
	suite_add_tcase(suite, loads);
	return suite;
}

int main(void)
{
	return check_main(make);
}
