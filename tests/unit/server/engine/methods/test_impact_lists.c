/* The rest of the checklists' rows that need a world, under `impact` (docs/CHECKLISTS.md has all of them):
 * motion of single bodies, lists and groups of events, frames of collisions, blocks and rods on their
 * supports, the rod of Painlevé. */
#include "server/engine/collision/manifold.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/math/sym3.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/solids.h"
#include "tests/lib/stage_scenes.h"

/* SOLID_FIELD of geometry/solid.h, whose struct has a namesake in solids.h. */
enum { FIELD = 3 };
#define G 9.81

static void open_stage(struct stage *stage, double dt, vec3 gravity)
{
	stage_init(stage, "impact");
	stage->dt = dt;
	stage->tables.world.gravity[0] = gravity;
	stage_parameter(stage, PARAMETER_SLEEP_ENABLED, 0);
	stage_parameter(stage, PARAMETER_RESTITUTION_SPEED, 1e-6);
}

static uint32_t put(struct stage *stage, uint8_t status, struct shape *shape, vec3 at,
		    vec3 velocity)
{
	return stage_add(stage, (struct stage_body){ .status = status,
						     .shape = stage_shape(stage, shape),
						     .position = at,
						     .velocity = velocity,
						     .mass = 1,
						     .friction = -1,
						     .restitution = 1 });
}

static void set_inertia(struct stage *stage, uint32_t body, vec3 inertia)
{
	vec3 inverse = vec3_make(1 / inertia.x, 1 / inertia.y, 1 / inertia.z);
	sym3_store(sym3_diagonal(inertia), stage->tables.body.inertia[body]);
	sym3_store(sym3_diagonal(inverse), stage->tables.body.inertia_inv[body]);
}

static void push(struct stage *stage, uint32_t body, vec3 force, vec3 torque)
{
	uint32_t next = stage->tables.drive.count + 1;
	ck_assert_int_eq(tables_reserve(&stage->tables, TABLE_DRIVE, next), STATUS_OK);
	uint32_t drive = tables_append(&stage->tables, TABLE_DRIVE);
	stage->tables.drive.body[drive] = body;
	stage->tables.drive.force[drive] = force;
	stage->tables.drive.torque[drive] = torque;
	stage->tables.drive.ticks[drive] = UINT32_MAX;
}

/* N: the normal forces of a body's contacts in the last tick. */
static double force_on(const struct stage *stage, uint32_t body)
{
	const struct contact_table *contact = &stage->tables.contact;
	double sum = 0;
	for (uint32_t row = 0; row < contact->count; row++)
		if (contact->used[row] && (contact_body_a(&stage->tables, row) == body ||
					   contact_body_b(&stage->tables, row) == body))
			for (uint32_t k = 0; k < MANIFOLD_POINTS_MAX; k++)
				sum += contact->normal_impulse[row][k];
	return sum / stage->dt;
}

/* The `index`-th beginning of a contact of the last step, in the order of events; NULL: none. */
static const struct event *begun(const struct stage *stage, uint32_t index)
{
	for (uint32_t i = 0; i < stage->dynamics.events.count; i++)
		if (stage->dynamics.events.items[i].kind == EVENT_CONTACT_BEGIN && index-- == 0)
			return &stage->dynamics.events.items[i];
	return NULL;
}

/* ---- single bodies -------------------------------------------------------------------------------- */

/* ch1-3 A-13: a constant force: RK2 and RK4 are exact; after n steps of h from rest explicit Euler has
 * moved a h² n (n − 1) / 2. */
START_TEST(a_constant_force_is_integrated_as_each_integrator_says)
{
	enum { STEPS = 40 };
	static const uint8_t kinds[] = { INTEGRATOR_EULER, INTEGRATOR_RK2, INTEGRATOR_RK4 };
	const double h = 1.0 / 60, a = 3;
	for (uint32_t k = 0; k < COUNT_OF(kinds); k++) {
		struct stage stage;
		open_stage(&stage, h, vec3_make(a, 0, 0));
		uint32_t ball =
			put(&stage, BODY_DYNAMIC, make_sphere(0.5), vec3_zero(), vec3_zero());
		stage.tables.body.integrator[ball] = kinds[k];
		stage_run(&stage, STEPS);
		double moved = kinds[k] == INTEGRATOR_EULER ? a * h * h * STEPS * (STEPS - 1) / 2
							    : 0.5 * a * h * h * STEPS * STEPS;
		ck_assert_double_eq_tol(stage.tables.body.position[ball].x, moved, 1e-12);
		ck_assert_double_eq_tol(stage.tables.body.velocity[ball].x, a * h * STEPS, 1e-12);
		stage_release(&stage);
	}
}
END_TEST

/* ch4-5 D2: v = (0, 1, 0), ω = (0, 0, 2), α = (0, 0, 3): the point at (1, 0, 0) from the mass centre has
 * the velocity (0, 3, 0) and the acceleration (−4, 3, 0). */
START_TEST(a_point_of_a_body_moves_as_its_body_turns)
{
	struct stage stage;
	const double h = 1e-6;
	open_stage(&stage, h, vec3_zero());
	uint32_t body = put(&stage, BODY_DYNAMIC, make_sphere(0.5), vec3_zero(), vec3_axis(1));
	set_inertia(&stage, body, vec3_all(1));
	stage.tables.body.angular_velocity[body] = vec3_make(0, 0, 2);
	push(&stage, body, vec3_zero(), vec3_make(0, 0, 3));
	vec3 point = vec3_make(1, 0, 0), speed[2];
	for (uint32_t k = 0; k < 2; k++) {
		vec3 arm = quat_rotate(stage.tables.body.rotation[body], point);
		speed[k] = vec3_add(stage.tables.body.velocity[body],
				    vec3_cross(stage.tables.body.angular_velocity[body], arm));
		if (k == 0)
			stage_step(&stage);
	}
	vec3 rate = vec3_scale(vec3_sub(speed[1], speed[0]), 1 / h);
	ck_assert_double_le(vec3_distance(speed[0], vec3_make(0, 3, 0)), 1e-12);
	ck_assert_double_le(vec3_distance(rate, vec3_make(-4, 3, 0)), 2e-5);
	stage_release(&stage);
}
END_TEST

/* ch4-5 D3, D4: inertia (1, 2, 3). With ω = (0.01, 1, 0.01) and RK4 at 2 ms the middle axis first turns
 * below −0.9 at 13.47 s; energy and angular momentum stay. With ω = (1, 1, 1), α = (−1, 1, −1/3). */
START_TEST(a_racket_turns_over_at_its_time)
{
	struct stage stage;
	open_stage(&stage, 0.002, vec3_zero());
	uint32_t body = put(&stage, BODY_DYNAMIC, make_sphere(0.5), vec3_zero(), vec3_zero());
	set_inertia(&stage, body, vec3_make(1, 2, 3));
	struct body_table *table = &stage.tables.body;
	table->integrator[body] = INTEGRATOR_RK4;
	table->angular_velocity[body] = vec3_make(0.01, 1, 0.01);
	double energy = stage_kinetic(&stage), first = 0;
	vec3 momentum = stage_angular_momentum(&stage);
	for (uint32_t tick = 1; tick <= 7000 && first == 0; tick++) {
		stage_step(&stage);
		quat back = quat_conjugate(table->rotation[body]);
		if (quat_rotate(back, table->angular_velocity[body]).y < -0.9)
			first = tick * stage.dt;
	}
	ck_assert_double_eq_tol(first, 13.47, 0.005);
	ck_assert_double_le(scalar_abs(stage_kinetic(&stage) / energy - 1), 5e-12);
	ck_assert_double_le(vec3_distance(stage_angular_momentum(&stage), momentum), 5e-12);
	table->rotation[body] = quat_identity();
	table->angular_velocity[body] = vec3_all(1);
	stage.dt = 1e-6;
	stage_step(&stage);
	vec3 rate = vec3_scale(vec3_sub(table->angular_velocity[body], vec3_all(1)), 1 / stage.dt);
	ck_assert_double_le(vec3_distance(rate, vec3_make(-1, 1, -1.0 / 3)), 1e-5);
	stage_release(&stage);
}
END_TEST

/* ch4-5 X1: a dumbbell of three parts is one body: it falls and spins as one. */
START_TEST(a_dumbbell_of_three_parts_moves_as_one_body)
{
	static const vec3 parts[3][2] = { { { -1, 0, 0 }, { 0.3, 0.3, 0.3 } },
					  { { 0, 0, 0 }, { 0.71, 0.1, 0.1 } },
					  { { 1, 0, 0 }, { 0.3, 0.3, 0.3 } } };
	struct stage stage;
	open_stage(&stage, 1.0 / 60, vec3_make(0, -G, 0));
	uint32_t body = put(&stage, BODY_DYNAMIC, make_boxes_solid(parts, 3), vec3_zero(),
			    vec3_make(1, 0, 0));
	stage.tables.body.angular_velocity[body] = vec3_make(0, 0, 2);
	double energy = stage_kinetic(&stage);
	stage_run(&stage, 60);
	const struct body_table *table = &stage.tables.body;
	vec3 turned = quat_rotate(table->rotation[body], vec3_axis(0));
	ck_assert_double_le(vec3_distance(table->position[body], vec3_make(1, -G / 2, 0)), 1e-9);
	ck_assert_double_le(vec3_distance(turned, vec3_make(trig_cos(2), trig_sin(2), 0)), 1e-9);
	ck_assert_double_eq_tol(stage_kinetic(&stage), energy + 0.5 * G * G, 1e-9);
	stage_release(&stage);
}
END_TEST

/* ---- events --------------------------------------------------------------------------------------- */

/* ch1-3: pairs that meet at 0.2, 0.2, 0.5 and 0.6 of the tick. The first two are one group; the
 * third would meet a body that the first turned back, and is dropped. */
START_TEST(events_come_by_time_and_in_groups)
{
	/* Balls of 0.1 m on lines of their own: a meets b at 0.2, and would meet e at 0.5. */
	static const struct {
		double x, y, speed;
	} balls[] = { { 0, 0, 1 },   { 0.4, 0, 0 }, { 0, 5, 1 },   { 0.4, 5, 0 },
		      { 0.7, 0, 0 }, { 0, 10, 1 },  { 0.8, 10, 0 } };
	struct stage stage;
	open_stage(&stage, 1, vec3_zero());
	uint32_t rows[COUNT_OF(balls)];
	for (uint32_t k = 0; k < COUNT_OF(balls); k++)
		rows[k] =
			put(&stage, BODY_DYNAMIC, make_sphere(0.1),
			    vec3_make(balls[k].x, balls[k].y, 0), vec3_make(balls[k].speed, 0, 0));
	/* e stands still, and b, a hundred times as heavy, hardly moves: a turns back. */
	stage.tables.body.mass[rows[1]] *= 1e6;
	stage.tables.body.mass_inv[rows[1]] /= 1e6;
	stage_step(&stage);
	static const double times[] = { 0.2, 0.2, 0.6 };
	for (uint32_t k = 0; k < COUNT_OF(times); k++) {
		bool found = false;
		for (uint32_t i = 0; begun(&stage, i) != NULL; i++)
			found |= scalar_abs(begun(&stage, i)->fraction - times[k]) <= 1e-9;
		ck_assert_msg(found, "no event at %g", times[k]);
	}
	ck_assert_ptr_null(begun(&stage, 3));
	ck_assert_uint_eq(stage.dynamics.report.impact.events, 3);
	ck_assert_uint_eq(stage.dynamics.report.impact.groups, 2);
	ck_assert_double_le(stage.tables.body.velocity[rows[0]].x, -0.99);
	ck_assert_double_eq(stage.tables.body.velocity[rows[4]].x, 0);
	stage_release(&stage);
}
END_TEST

/* Whether two balls, or what else, meet within a tick of 1 s, and when. */
static double meeting(struct shape *a, vec3 at_a, vec3 moves_a, vec3 turns_a, struct shape *b,
		      vec3 at_b, vec3 moves_b)
{
	struct stage stage;
	open_stage(&stage, 1, vec3_zero());
	uint32_t one = put(&stage, BODY_DYNAMIC, a, at_a, moves_a);
	stage.tables.body.angular_velocity[one] = turns_a;
	bool rests = vec3_equal(moves_b, vec3_zero());
	put(&stage, rests ? BODY_STATIC : BODY_DYNAMIC, b, at_b, moves_b);
	stage_step(&stage);
	const struct event *first = begun(&stage, 0);
	double when = first != NULL ? first->fraction : __builtin_inf();
	stage_release(&stage);
	return when;
}

/* ch4-5 C6: bodies on parallel paths, and on paths that cross at different times, do not meet. */
START_TEST(paths_that_cross_at_different_times_do_not_meet)
{
	vec3 none = vec3_zero();
	double parallel = meeting(make_sphere(0.5), vec3_make(0, 0, 0), vec3_make(50, 0, 0), none,
				  make_sphere(0.5), vec3_make(3, 1.1, 0), vec3_make(50, 0, 0));
	double later = meeting(make_sphere(0.5), vec3_make(-10, 0, 0), vec3_make(50, 0, 0), none,
			       make_sphere(0.5), vec3_make(0, -30, 0), vec3_make(0, 50, 0));
	double both = meeting(make_sphere(0.5), vec3_make(-10, 0, 0), vec3_make(50, 0, 0), none,
			      make_sphere(0.5), vec3_make(0, -10, 0), vec3_make(0, 50, 0));
	ck_assert_double_eq(parallel, __builtin_inf());
	ck_assert_double_eq(later, __builtin_inf());
	ck_assert_double_eq_tol(both, (10 - scalar_sqrt(0.5)) / 50, 1e-9);
}
END_TEST

/* app H-02: a rod of half length 1, 0.8 from a wall, turns at 1 rad/s: asin 0.8 = 0.927295. ch4-5 C8: its
 * far end comes round to a wall on the other side; one 0.1 beyond its ends it passes. */
START_TEST(a_rod_that_turns_meets_what_its_ends_reach)
{
	const double r = 0.01, thick = 0.5;
	static const struct {
		double wall, spin;
	} rods[] = { { 0.8, 1 }, { -0.8, 1 }, { 1.1, 6 } };
	for (uint32_t k = 0; k < COUNT_OF(rods); k++) {
		double side = scalar_sign(rods[k].wall);
		/* A capsule lies along y. */
		double when =
			meeting(make_capsule(1, r), vec3_zero(), vec3_zero(),
				vec3_make(0, 0, rods[k].spin), make_box(thick, 5, 5),
				vec3_make(rods[k].wall + side * (r + thick), 0, 0), vec3_zero());
		bool reaches = scalar_abs(rods[k].wall) < 1;
		ck_assert_double_eq_tol(reaches ? when : 0, reaches ? 0.927295218 : 0, 1e-8);
		ck_assert_int_eq(when < __builtin_inf(), reaches);
	}
}
END_TEST

/* ch4-5 C2: the normal of a corner on a floor is the floor's, that of crossing edges e₁ × e₂, and the point
 * is that of the features. ch4-5 C3: what overlaps and approaches as the tick begins collides then. */
START_TEST(frames_of_collisions_are_those_of_their_features)
{
	quat corner = quat_from_axis_angle(vec3_normalize(vec3_make(1, 0, -1)),
					   trig_atan2(scalar_sqrt(2), 1));
	quat edge = quat_from_axis_angle(vec3_axis(0), PI / 4);
	const quat turns[3] = { corner, quat_from_axis_angle(vec3_axis(2), PI / 4),
				quat_identity() };
	for (uint32_t k = 0; k < 3; k++) {
		struct stage stage;
		/* The normal is that at the tick's end. */
		open_stage(&stage, k == 2 ? 0.1 : 0.05 + 1e-8, vec3_zero());
		double floor = k == 1 ? scalar_sqrt(0.5) : 0.5;
		double reach = k == 0 ? scalar_sqrt(0.75) : k == 1 ? scalar_sqrt(0.5) : 0.5;
		double gap = k == 2 ? -0.01 : 0.05;
		uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
		stage_add(&stage, (struct stage_body){ .status = BODY_STATIC,
						       .shape = box,
						       .rotation = k == 1 ? edge : quat_identity(),
						       .friction = -1,
						       .restitution = 1 });
		uint32_t high = stage_add(
			&stage, (struct stage_body){ .status = BODY_DYNAMIC,
						     .shape = box,
						     .position = { 0.1, floor + reach + gap, 0.15 },
						     .rotation = turns[k],
						     .velocity = { 0, -1, 0 },
						     .friction = -1,
						     .restitution = 1 });
		stage_step(&stage);
		const struct event *first = begun(&stage, 0);
		ck_assert_ptr_nonnull(first);
		ck_assert_double_eq_tol(first->fraction * stage.dt, scalar_max(gap, 0), 1e-9);
		ck_assert_double_eq_tol(scalar_abs(first->normal.y), 1, 1e-7);
		ck_assert_double_gt(stage.tables.body.velocity[high].y, -1 + 1e-9);
		stage_release(&stage);
	}
}
END_TEST

/* ---- supports ------------------------------------------------------------------------------------- */

/* ch4-5 K3: a rod of 1 kg and 2 m on supports at its ends, pulled up by 6 N at the right one: forces
 * (5.4525, 0), accelerations of the ends (0, 3.285). */
START_TEST(a_rod_that_is_lifted_at_one_end_leans_on_the_other)
{
	struct stage stage;
	const double h = 1e-6;
	open_stage(&stage, h, vec3_make(0, -G, 0));
	uint32_t supports[2];
	for (uint32_t k = 0; k < 2; k++)
		supports[k] = put(&stage, BODY_STATIC, make_sphere(0.1),
				  vec3_make(k == 0 ? -1 : 1, -0.15, 0), vec3_zero());
	uint32_t rod =
		put(&stage, BODY_DYNAMIC, make_box(1.1, 0.05, 0.05), vec3_zero(), vec3_zero());
	set_inertia(&stage, rod, vec3_all(1.0 / 3));
	push(&stage, rod, vec3_make(0, 6, 0), vec3_make(0, 0, 6));
	stage_step(&stage);
	double a = stage.tables.body.velocity[rod].y / h;
	double alpha = stage.tables.body.angular_velocity[rod].z / h;
	ck_assert_double_eq_tol(force_on(&stage, supports[0]), 5.4525, 1e-6);
	ck_assert_double_eq_tol(force_on(&stage, supports[1]), 0, 1e-6);
	ck_assert_double_eq_tol(a - alpha, 0, 1e-6);
	ck_assert_double_eq_tol(a + alpha, 3.285, 1e-6);
	stage_release(&stage);
}
END_TEST

/* ch4-5 P1: a particle of 1 kg, pulled with 10 N onto a free body of 4 kg: 8 N, and one acceleration. */
START_TEST(a_particle_pushes_a_free_body)
{
	struct stage stage;
	open_stage(&stage, 1.0 / 60, vec3_zero());
	uint32_t dot = put(&stage, BODY_DYNAMIC, make_sphere(0.01), vec3_zero(), vec3_zero());
	uint32_t body = stage_add(
		&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					     .shape = stage_shape(&stage, make_sphere(0.5)),
					     .position = { 0.51, 0, 0 },
					     .mass = 4,
					     .friction = -1 });
	push(&stage, dot, vec3_make(10, 0, 0), vec3_zero());
	stage_step(&stage);
	ck_assert_double_eq_tol(force_on(&stage, body), 8, 1e-9);
	ck_assert_double_eq_tol(stage.tables.body.velocity[body].x, 2.0 / 60, 1e-12);
	ck_assert_double_eq_tol(stage.tables.body.velocity[dot].x, 2.0 / 60, 1e-12);
	stage_release(&stage);
}
END_TEST

/* app I-04 to I-06: a block on four points on a slope of 20°: μ = 0.5 holds, with 0.3 it slides at
 * g (sin 20° − 0.3 cos 20°) = 0.589702 m/s². */
START_TEST(a_block_of_four_contacts_holds_or_slides)
{
	static const double frictions[] = { 0.5, 0.3 }, found[] = { 0, 0.589702 };
	for (uint32_t k = 0; k < 2; k++) {
		struct stage stage;
		double angle = PI / 9;
		open_stage(&stage, 1.0 / 60,
			   vec3_make(G * trig_sin(angle), -G * trig_cos(angle), 0));
		uint32_t ground = stage_ground(&stage);
		stage.tables.body.static_friction[ground] = frictions[k];
		stage.tables.body.dynamic_friction[ground] = frictions[k];
		uint32_t block = stage_add(
			&stage,
			(struct stage_body){ .status = BODY_DYNAMIC,
					     .shape = stage_shape(&stage, make_box(0.5, 0.2, 0.4)),
					     .position = { 0, 0.2, 0 },
					     .mass = 1,
					     .friction = frictions[k] });
		stage_run(&stage, 60);
		ck_assert_double_eq_tol(stage.tables.body.velocity[block].x, found[k],
					k == 0 ? 1e-12 : 1e-6);
		ck_assert_double_eq_tol(force_on(&stage, ground), G * trig_cos(angle), 1e-9);
		stage_release(&stage);
	}
}
END_TEST

/* The force on Painlevé's rod as it slides, N: length 2 m, 1 kg, its inclination's tangent 2, and the
 * dead ends that were counted. */
static double painleve(double friction, uint64_t *dead_ends)
{
	struct stage stage;
	/* The end of the capsule's axis is above the point that touches. */
	const double radius = 1e-4, x = 1 / scalar_sqrt(5), y = 2 / scalar_sqrt(5) - radius;
	const double half = scalar_sqrt(x * x + y * y), angle = trig_atan2(y, x);
	open_stage(&stage, 1e-8, vec3_make(0, -G, 0));
	uint32_t ground = stage_ground(&stage);
	stage.tables.body.static_friction[ground] = friction;
	stage.tables.body.dynamic_friction[ground] = friction;
	/* The lower end slides towards −x. */
	uint32_t rod = stage_add(
		&stage, (struct stage_body){
				.status = BODY_DYNAMIC,
				.shape = stage_shape(&stage, make_capsule(half, radius)),
				.position = vec3_make(0, y + radius, 0),
				.rotation = quat_from_axis_angle(vec3_axis(2), angle - HALF_PI),
				.velocity = { -1, 0, 0 },
				.mass = 1,
				.friction = friction });
	set_inertia(&stage, rod, vec3_all(1.0 / 3));
	stage_step(&stage);
	double force = force_on(&stage, ground);
	*dead_ends = stage.dynamics.report.impact.dead_ends;
	stage_release(&stage);
	return force;
}

/* app I-07, I-08: 245.25 N at μ = 1.3; at 1.34 and 1.5 there is no force, and the contact is a collision. */
START_TEST(the_rod_of_painleve_has_a_force_or_collides)
{
	uint64_t dead_ends;
	ck_assert_double_eq_tol(painleve(1.3, &dead_ends) / 245.25, 1, 1e-6);
	ck_assert_uint_eq(dead_ends, 0);
	for (double friction = 1.34; friction < 1.6; friction += 0.16) {
		double force = painleve(friction, &dead_ends);
		ck_assert_uint_gt(dead_ends, 0);
		/* An impulse that ends the slip of 1 m/s, however short the tick. */
		ck_assert_double_gt(force * 1e-8, 0.1);
	}
}
END_TEST

/* papers C-04: M = 4, I = 20, legs at (−2, −1) and (−1, −1), 2 m/s down: λ = (0, 20/3), V_y = ω = −1/3. */
START_TEST(the_worked_example_tips_over_its_edge)
{
	struct stage stage;
	open_stage(&stage, 1e-9, vec3_zero());
	for (uint32_t k = 0; k < 2; k++)
		stage_add(&stage,
			  (struct stage_body){ .status = BODY_STATIC,
					       .shape = stage_shape(&stage, make_sphere(0.1)),
					       .position = { k == 0 ? -2 : -1, -1.1, 0 },
					       .friction = -1 });
	uint32_t block = stage_add(
		&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					     .shape = stage_shape(&stage, make_box(3, 1, 1)),
					     .velocity = { 0, -2, 0 },
					     .mass = 4,
					     .friction = -1 });
	set_inertia(&stage, block, vec3_all(20));
	stage_step(&stage);
	ck_assert_double_eq_tol(stage.tables.body.velocity[block].y, -1.0 / 3, 1e-9);
	ck_assert_double_eq_tol(stage.tables.body.angular_velocity[block].z, -1.0 / 3, 1e-9);
	ck_assert_double_eq_tol(force_on(&stage, block) * stage.dt, 20.0 / 3, 1e-9);
	stage_release(&stage);
}
END_TEST

/* ---- distance fields ------------------------------------------------------------------------------ */

/* app G-08, G-09: a box that begins 2 cm within a distance field: four of its corners are inside, and it
 * comes out within the caps, without energy beyond the counted work. */
START_TEST(a_box_comes_out_of_a_distance_field)
{
	static struct solid solid;
	struct stage stage;
	struct bytes bytes = { 0 };
	open_stage(&stage, 1.0 / 60, vec3_make(0, -G, 0));
	solid_reset(&solid);
	solid_add_box(&solid, vec3_make(-2, -1, -2), vec3_make(2, 0, 2), false);
	bytes_of_solid(&bytes, FIELD, 32, solid.vertex, solid.vertices,
		       (const uint32_t(*)[3])solid.triangle, solid.triangles);
	put(&stage, BODY_STATIC, shape_of_bytes(&bytes), vec3_zero(), vec3_zero());
	uint32_t box = put(&stage, BODY_DYNAMIC, make_box(0.5, 0.3, 0.4), vec3_make(0, 0.28, 0),
			   vec3_zero());
	stage.tables.body.restitution[box] = 0;
	double energy = stage_kinetic(&stage) + stage_potential(&stage), work = 0;
	uint32_t points = 0;
	uint64_t overlaps = 0;
	for (uint32_t tick = 0; tick < 60; tick++) {
		stage_step(&stage);
		overlaps += stage.dynamics.report.impact.overlaps;
		points = tick == 0 ? stage.dynamics.report.points : points;
		work += stage.dynamics.report.push_work;
		double now = stage_kinetic(&stage) + stage_potential(&stage);
		ck_assert_double_le(now, energy + work + 1e-9);
	}
	ck_assert_uint_ge(points, 4);
	ck_assert_uint_gt(overlaps, 0);
	ck_assert_double_ge(stage.tables.body.position[box].y, 0.3 - 1e-4);
	ck_assert_double_le(vec3_length(stage.tables.body.velocity[box]), 1e-6);
	stage_release(&stage);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/impact: the rest of the lists");
	TCase *motion = tcase_create("motion"), *events = tcase_create("events");
	TCase *supports = tcase_create("supports");
	tcase_add_test(motion, a_constant_force_is_integrated_as_each_integrator_says);
	tcase_add_test(motion, a_point_of_a_body_moves_as_its_body_turns);
	tcase_add_test(motion, a_racket_turns_over_at_its_time);
	tcase_add_test(motion, a_dumbbell_of_three_parts_moves_as_one_body);
	tcase_add_test(events, events_come_by_time_and_in_groups);
	tcase_add_test(events, paths_that_cross_at_different_times_do_not_meet);
	tcase_add_test(events, a_rod_that_turns_meets_what_its_ends_reach);
	tcase_add_test(events, frames_of_collisions_are_those_of_their_features);
	tcase_add_test(supports, a_rod_that_is_lifted_at_one_end_leans_on_the_other);
	tcase_add_test(supports, a_particle_pushes_a_free_body);
	tcase_add_test(supports, a_block_of_four_contacts_holds_or_slides);
	tcase_add_test(supports, the_rod_of_painleve_has_a_force_or_collides);
	tcase_add_test(supports, the_worked_example_tips_over_its_edge);
	tcase_add_test(supports, a_box_comes_out_of_a_distance_field);
	suite_add_tcase(suite, motion);
	suite_add_tcase(suite, events);
	suite_add_tcase(suite, supports);
	return suite;
}

int main(void)
{
	return check_main(make);
}
