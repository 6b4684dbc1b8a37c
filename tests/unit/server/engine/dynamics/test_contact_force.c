/* Contact forces: ch. 4 K1 to K3, 9.5 and P1, ch. 3 P-30 to P-32 and P-34, by the LCPs of
 * solvers/. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/engine/dynamics/constraint.h"
#include "server/engine/dynamics/contact_force.h"
#include "server/engine/dynamics/frame_rate.h"
#include "server/engine/dynamics/row_system.h"
#include "server/engine/solvers/lcp_dantzig.h"
#include "server/engine/solvers/lcp_friction.h"
#include "tests/lib/check_main.h"

enum { FLOOR = 0, BODIES = 6, CONTACTS = 6, ROWS = 3 * CONTACTS };

#define G 9.81

static struct lcp_dantzig lcp;
static struct lcp_friction friction;
static struct row_system row_system;
static void *lcp_memory, *friction_memory, *system_memory;
static struct mass_body masses[BODIES];
static struct mass_operator masses_at;
static struct body_motion motions[BODIES];
static struct spatial pushes[BODIES], free_motion[BODIES];
static struct contact_found found[CONTACTS];
static struct contact_found_point points[CONTACTS];
static struct constraint constraints[CONTACTS];
static uint32_t body_count, contact_count;
static struct constraint_row rows[ROWS];
static struct row_block blocks[CONTACTS];
static struct row_part parts[2 * ROWS];
static double a[ROWS * ROWS], b[ROWS], force[ROWS];

static void clear(void)
{
	memset(motions, 0, sizeof motions);
	memset(pushes, 0, sizeof pushes);
	memset(free_motion, 0, sizeof free_motion);
	for (uint32_t i = 0; i < BODIES; i++)
		motions[i].rotation = quat_identity();
	masses[FLOOR] = mass_body_make(1, 0, sym3_zero(), sym3_zero(), quat_identity(), 0);
	body_count = 1;
	contact_count = 0;
}

static void setup(void)
{
	struct row_system_sizes sizes = { ROWS, 2 * ROWS, 2 * ROWS };
	lcp_memory = aligned_alloc(64, lcp_dantzig_bytes(ROWS));
	friction_memory = aligned_alloc(64, lcp_friction_bytes(ROWS));
	system_memory = aligned_alloc(64, row_system_bytes(sizes));
	lcp_dantzig_init(&lcp, lcp_memory, ROWS);
	lcp_friction_init(&friction, friction_memory, ROWS);
	row_system_init(&row_system, system_memory, sizes);
	clear();
}

static void teardown(void)
{
	free(lcp_memory);
	free(friction_memory);
	free(system_memory);
}

static uint32_t add_body(double mass, double inertia, vec3 push)
{
	uint32_t index = body_count++;
	sym3 inverse = inertia > 0 ? sym3_diagonal(vec3_all(1 / inertia)) : sym3_zero();
	masses[index] = mass_body_make(mass, 1 / mass, sym3_diagonal(vec3_all(inertia)), inverse,
				       quat_identity(), 0);
	pushes[index].linear = push;
	return index;
}

/* A contact of the first body with the second; the normal points from the second to the first. */
static struct contact_found *add_contact(uint32_t body, uint32_t other, vec3 normal)
{
	uint32_t index = contact_count++;
	points[index] = (struct contact_found_point){ .feature = index };
	found[index] = (struct contact_found){ .normal = normal,
					       .points = &points[index],
					       .point_count = 1 };
	constraints[index] =
		(struct constraint){ &constraint_contact, other, body, index, &found[index] };
	return &found[index];
}

/* Makes the rows of all contacts at the level of accelerations, A, b and the accelerations without
 * contact forces. The floor has its given acceleration. Returns the number of rows. */
static uint32_t state_rows(enum constraint_friction tangents)
{
	struct constraint_options options = { CONSTRAINT_ACCELERATION, tangents, 1e-9, NULL };
	struct row_list list = { rows, blocks, parts, 0, 0, 0, ROWS, CONTACTS, 2 * ROWS };
	struct spatial told = free_motion[FLOOR], velocities[BODIES];
	masses_at = mass_operator_free(masses, BODIES);
	for (uint32_t c = 0; c < contact_count; c++) {
		found[c].a = motions[constraints[c].body_a];
		found[c].b = motions[constraints[c].body_b];
	}
	for (uint32_t i = 0; i < BODIES; i++)
		velocities[i] =
			(struct spatial){ motions[i].velocity, motions[i].angular_velocity };
	mass_accelerate(&masses_at, pushes, velocities, free_motion);
	free_motion[FLOOR] = told;
	constraint_rows(constraints, contact_count, NULL, &options, &list);
	row_system_make(&row_system, &masses_at, rows, list.row_count);
	row_system_dense(&row_system, a, list.row_count);
	for (uint32_t i = 0; i < list.row_count; i++)
		b[i] = contact_force_bias(&rows[i], free_motion);
	return list.row_count;
}

/* Frictionless forces, and the accelerations a = A F + b of the contacts. */
static void solve(double *acceleration)
{
	struct solver_options options = solver_options_default();
	uint32_t n = state_rows(CONSTRAINT_SMOOTH);
	struct lcp_problem lcp_problem = { n, n, a, b, NULL, NULL };
	struct solver_result result = lcp_dantzig_solve(&lcp, &lcp_problem, &options, force, NULL);
	ck_assert_int_eq(result.status, SOLVER_SOLVED);
	for (uint32_t i = 0; i < n; i++) {
		acceleration[i] = b[i];
		for (uint32_t j = 0; j < n; j++)
			acceleration[i] += a[i * n + j] * force[j];
	}
}

static void near(double value, double expected)
{
	ck_assert_double_eq_tol(value, expected, 1e-9 * (1 + fabs(expected)));
}

/* K1: at rest F = 9.81, a = 0; pulled up by 20 N F = 0, a = 10.19. P-34: 19.62, and 21.62 on an
 * accelerating animated plate. */
START_TEST(the_force_on_a_mass_at_rest_lifted_and_on_a_rising_plate)
{
	static const double mass[] = { 1, 1, 2, 2 }, pull[] = { 0, 20, 0, 0 };
	static const double plate[] = { 0, 0, 0, 1 }, push[] = { 9.81, 0, 19.62, 21.62 };
	for (uint32_t i = 0; i < 4; i++) {
		double acceleration[1];
		clear();
		uint32_t body = add_body(mass[i], 0, vec3_make(0, pull[i] - mass[i] * G, 0));
		free_motion[FLOOR].linear.y = plate[i];
		add_contact(body, FLOOR, vec3_axis(1));
		solve(acceleration);
		near(force[0], push[i]);
		near(acceleration[0], i == 1 ? 10.19 : 0);
	}
}
END_TEST

/* The LCP forces of the island of contacts first … last − 1, after contacts that separate by the
 * impulses are left out; the left out contacts get 0. Returns the number of kept contacts. */
static uint32_t solve_rechecked(uint32_t first, uint32_t last, double *forces)
{
	uint32_t kept[CONTACTS], m = state_rows(CONSTRAINT_SMOOTH);
	double approach[CONTACTS], some[CONTACTS * CONTACTS], bias[CONTACTS], part[CONTACTS];
	struct solver_options options = solver_options_default();
	for (uint32_t i = first; i < last; i++) {
		approach[i] = rows[i].approach;
		forces[i] = 0;
	}
	uint32_t n = contact_force_recheck(approach + first, b + first, last - first, 1e-6, kept);
	for (uint32_t i = 0; i < n; i++) {
		bias[i] = b[first + kept[i]];
		for (uint32_t j = 0; j < n; j++)
			some[i * n + j] = a[(first + kept[i]) * m + first + kept[j]];
	}
	struct lcp_problem left = { n, n, some, bias, NULL, NULL };
	ck_assert_int_eq(lcp_dantzig_solve(&lcp, &left, &options, part, NULL).status,
			 SOLVER_SOLVED);
	for (uint32_t i = 0; i < n; i++)
		forces[first + kept[i]] = part[i];
	return n;
}

/* I1: a body at rest on the floor (u_n = 0) is a contact and not a collision, even with e = 1. */
START_TEST(a_body_at_rest_is_no_collision_and_does_not_bounce)
{
	static const double speed[] = { -1, -1e-7, 0, 1e-7, 1 };
	static const enum contact_kind kinds[] = { CONTACT_COLLIDES, CONTACT_RESTS, CONTACT_RESTS,
						   CONTACT_RESTS, CONTACT_PARTS };
	double forces[1];
	uint32_t body = add_body(1, 0, vec3_make(0, -G, 0));
	add_contact(body, FLOOR, vec3_axis(1))->surface.restitution = 1;
	for (uint32_t i = 0; i < COUNT_OF(speed); i++) {
		motions[body].velocity.y = speed[i];
		state_rows(CONSTRAINT_SMOOTH);
		ck_assert_int_eq(contact_force_kind(rows[0].approach, 1e-6), kinds[i]);
	}
	motions[body].velocity.y = 0;
	ck_assert_uint_eq(solve_rechecked(0, 1, forces), 1);
	near(forces[0], G);
}
END_TEST

/* I1: the plank of I5c after its impulse. One end stays; the other separates at 0.5667 and gets no
 * force. A second pair that is pulled apart is left out too; a third that presses together is not. */
START_TEST(a_contact_that_an_impulse_separated_gets_no_force)
{
	double forces[CONTACTS], arm = sqrt(0.2);
	uint32_t plank = add_body(1, 1, vec3_make(0, -G, 0));
	motions[plank].velocity = vec3_make(0, -0.55 + 1 / 1.2, 0);
	motions[plank].angular_velocity = vec3_make(0, 0, 0.45 / arm - arm / 1.2);
	for (uint32_t side = 0; side < 2; side++) {
		add_contact(plank, FLOOR, vec3_axis(1));
		points[side].arm_b = vec3_make(side == 0 ? -arm : arm, 0, 0);
	}
	state_rows(CONSTRAINT_SMOOTH);
	near(rows[0].approach, 0);
	near(rows[1].approach, 0.8 / 1.2 - 0.1);
	uint32_t pulled = add_body(1, 0, vec3_make(0, 1, 0));
	add_contact(pulled, FLOOR, vec3_axis(1));
	uint32_t low = add_body(1, 0, vec3_make(0, 1, 0)),
		 high = add_body(1, 0, vec3_make(0, -5, 0));
	add_contact(low, FLOOR, vec3_axis(1));
	add_contact(high, low, vec3_axis(1));
	/* Three islands: the plank, the pulled pair, the pressing pair. */
	ck_assert_uint_eq(solve_rechecked(0, 2, forces), 1);
	ck_assert_uint_eq(solve_rechecked(2, 3, forces), 0);
	ck_assert_uint_eq(solve_rechecked(3, 5, forces), 2);
	ck_assert_double_gt(forces[0], 0);
	ck_assert_double_eq(forces[1], 0);
	ck_assert_double_eq(forces[2], 0);
	near(forces[3], 4);
	near(forces[4], 5);
}
END_TEST

/* K2: b of a contact on a floor that turns at (0, 0, 0.5), sliding along x at 1: −1. */
START_TEST(a_turning_floor_adds_its_coriolis_part)
{
	uint32_t body = add_body(1, 0, vec3_zero());
	motions[body].velocity = vec3_axis(0);
	motions[FLOOR].angular_velocity = vec3_make(0, 0, 0.5);
	add_contact(body, FLOOR, vec3_axis(1))->normal_of = CONTACT_NORMAL_OF_A;
	state_rows(CONSTRAINT_SMOOTH);
	near(b[0], -1);
	/* The same with a given rate of the normal. */
	found[0].normal_of = CONTACT_NORMAL_GIVEN;
	found[0].normal_rate = frame_rate_fixed(motions[FLOOR].angular_velocity, found[0].normal);
	state_rows(CONSTRAINT_SMOOTH);
	near(b[0], -1);
}
END_TEST

/* The bias equals the second difference of the gap along a motion without forces. */
START_TEST(the_bias_is_the_second_derivative_of_the_gap)
{
	uint32_t body = add_body(1, 1, vec3_make(0.3, -0.7, 0.2));
	vec3 n = vec3_normalize(vec3_make(0.2, 0.9, -0.3)), point = vec3_make(0.1, 0.2, 0.3);
	add_contact(body, FLOOR, n)->normal_of = CONTACT_NORMAL_OF_A;
	vec3 arm = points[0].arm_b = vec3_make(0.3, -0.4, 0.2);
	points[0].arm_a = point;
	struct body_motion *moving = &motions[body], *floor = &motions[FLOOR];
	moving->velocity = vec3_make(0.5, -0.1, 0.4);
	moving->angular_velocity = vec3_make(0.3, 0.8, -0.6);
	floor->angular_velocity = vec3_make(-0.2, 0.5, 0.7);
	state_rows(CONSTRAINT_SMOOTH);
	double h = 1e-3, gap[3];
	for (int i = -1; i <= 1; i++) {
		double t = i * h;
		vec3 centre = vec3_mul_add(vec3_sub(point, arm), moving->velocity, t);
		centre = vec3_mul_add(centre, free_motion[body].linear, 0.5 * t * t);
		quat q = quat_from_rotation_vector(vec3_scale(moving->angular_velocity, t));
		quat r = quat_from_rotation_vector(vec3_scale(floor->angular_velocity, t));
		vec3 p1 = vec3_add(centre, quat_rotate(q, arm));
		vec3 p2 = quat_rotate(r, point);
		gap[1 + i] = vec3_dot(vec3_sub(p1, p2), quat_rotate(r, n));
	}
	double expected = (gap[2] - 2 * gap[1] + gap[0]) / (h * h);
	ck_assert_double_eq_tol(b[0], expected, 1e-5);
}
END_TEST

/* K2b, P-31: static or sliding friction on a slope of 30 degrees, whose first tangent points up. */
static void on_slope(double inertia, double radius, double mu, bool sliding, vec3 *linear,
		     double *spin, double *along)
{
	clear();
	vec3 n = vec3_make(-0.5, sqrt(0.75), 0), down = vec3_make(-sqrt(0.75), -0.5, 0);
	uint32_t body = add_body(1, inertia, vec3_make(0, -G, 0));
	struct contact_found *contact = add_contact(body, FLOOR, n);
	points[0].arm_b = vec3_scale(n, -radius);
	for (uint32_t k = 0; k < 2; k++)
		contact->surface.static_friction[k] = contact->surface.dynamic_friction[k] = mu;
	motions[body].velocity = sliding ? down : vec3_zero();
	ck_assert_uint_eq(state_rows(CONSTRAINT_PYRAMID), 3);
	double coefficient[3] = { 0, rows[1].dynamic_friction, rows[2].dynamic_friction };
	uint8_t kind[3] = { FRICTION_NORMAL };
	for (uint32_t k = 1; k < 3; k++)
		kind[k] = (uint8_t)(rows[k].slip == 0  ? FRICTION_STATIC
				    : rows[k].slip < 0 ? FRICTION_FORWARD
						       : FRICTION_BACKWARD);
	ck_assert_int_eq(kind[1], sliding ? FRICTION_FORWARD : FRICTION_STATIC);
	struct friction_problem slope = { 3, 3, a, b, kind, coefficient };
	struct solver_options options = solver_options_default();
	struct solver_result result = lcp_friction_solve(&friction, &slope, &options, force, NULL);
	ck_assert_int_eq(result.status, SOLVER_SOLVED);
	row_system_apply(&row_system, force, free_motion);
	*linear = free_motion[body].linear;
	*spin = vec3_length(free_motion[body].angular);
	*along = vec3_dot(*linear, down);
}

START_TEST(a_sphere_on_a_slope_rolls_or_slides)
{
	vec3 linear;
	double spin, along;
	on_slope(0.4, 1, 0.5, false, &linear, &spin, &along);
	near(along, 5 * G / 14);
	near(along, 3.5035714285714286);
	near(force[1], 1.4014285714285715);
	near(spin, along);
	on_slope(0.4, 1, 0.1, false, &linear, &spin, &along);
	ck_assert_double_eq_tol(force[1], 0.849571, 1e-6);
	ck_assert_double_eq_tol(along, 4.055429, 1e-6);
	ck_assert_double_eq_tol(spin, 2.123928, 1e-6);
}
END_TEST

START_TEST(a_particle_on_a_slope_stays_or_accelerates_by_dynamic_friction)
{
	vec3 linear;
	double spin, along;
	on_slope(0, 0, 0.6, false, &linear, &spin, &along);
	ck_assert_double_le(vec3_length(linear), 1e-12);
	on_slope(0, 0, 0.5, false, &linear, &spin, &along);
	ck_assert_double_gt(along, 0.1);
	on_slope(0, 0, 0.4, true, &linear, &spin, &along);
	ck_assert_double_eq_tol(along, 1.506716, 1e-6);
}
END_TEST

/* K3: 1 kg on 2 kg on the floor. */
START_TEST(a_stack_of_two_carries_9_81_and_29_43)
{
	double acceleration[2];
	uint32_t low = add_body(2, 0, vec3_make(0, -2 * G, 0));
	uint32_t high = add_body(1, 0, vec3_make(0, -G, 0));
	add_contact(high, low, vec3_axis(1));
	add_contact(low, FLOOR, vec3_axis(1));
	solve(acceleration);
	near(force[0], 9.81);
	near(force[1], 29.43);
	near(a[1], a[2]);
}
END_TEST

/* K3: a rod of 1 kg and 2 m on two supports, 6 N up at its right end: F = (5.4525, 0), a = (0,
 * 3.285). */
START_TEST(a_rod_lifts_off_one_support)
{
	double acceleration[2];
	uint32_t rod = add_body(1, 1 / 3.0, vec3_make(0, 6 - G, 0));
	pushes[rod].angular.z = 6;
	for (uint32_t side = 0; side < 2; side++) {
		add_contact(rod, FLOOR, vec3_axis(1));
		points[side].arm_b = vec3_make(side == 0 ? -1 : 1, 0, 0);
	}
	solve(acceleration);
	near(force[0], 5.4525);
	near(force[1], 0);
	near(acceleration[0], 0);
	near(acceleration[1], 3.285);
}
END_TEST

/* 9.5: four contacts under a box, singular A: the forces carry the weight without a moment. */
START_TEST(four_contacts_under_a_box_carry_its_weight)
{
	double acceleration[4], sum = 0, x = 0, z = 0;
	uint32_t box = add_body(3, 0.5, vec3_make(0, -3 * G, 0));
	for (uint32_t k = 0; k < 4; k++) {
		add_contact(box, FLOOR, vec3_axis(1));
		points[k].arm_b =
			vec3_make((k & 1) != 0 ? 0.5 : -0.5, -0.5, (k & 2) != 0 ? 0.5 : -0.5);
	}
	solve(acceleration);
	for (uint32_t k = 0; k < 4; k++) {
		ck_assert_double_ge(force[k], 0);
		near(acceleration[k], 0);
		sum += force[k];
		x += force[k] * points[k].arm_b.x;
		z += force[k] * points[k].arm_b.z;
	}
	near(sum, 3 * G);
	near(x, 0);
	near(z, 0);
}
END_TEST

/* P-30, P1 and P-32: particles that press and pull. */
START_TEST(particles_press_on_each_other_with_the_books_forces)
{
	double acceleration[2];
	uint32_t one = add_body(1, 0, vec3_make(-5, 0, 0)), two = add_body(2, 0, vec3_zero());
	add_contact(one, two, vec3_axis(0));
	solve(acceleration);
	near(force[0], 10 / 3.0);
	pushes[one].linear.x = 5;
	solve(acceleration);
	near(force[0], 0);
	clear();
	one = add_body(1, 0, vec3_make(-10, 0, 0));
	two = add_body(4, 1, vec3_zero());
	add_contact(one, two, vec3_axis(0));
	solve(acceleration);
	near(force[0], 8);
	near(-10 + force[0], -force[0] / 4);
	clear();
	add_body(1, 0, vec3_make(5, 0, 0));
	add_body(2, 0, vec3_zero());
	add_body(3, 0, vec3_make(-3, 0, 0));
	add_contact(2, 1, vec3_axis(0));
	add_contact(3, 2, vec3_axis(0));
	solve(acceleration);
	near(force[0], 14 / 3.0);
	near(force[1], 4);
	near(a[0], 1.5);
	near(a[1], -0.5);
	near(a[3], 1 / 2.0 + 1 / 3.0);
	near(5 - force[0], 1 / 3.0);
	near((force[0] - force[1]) / 2, 1 / 3.0);
}
END_TEST

/* P-30: a particle sliding down a fixed frictionless ball leaves at cos θ = 2/3 (the book's term:
 * 0.8). */
START_TEST(a_particle_leaves_a_ball_at_cosine_two_thirds)
{
	double low = 0, high = 1.5;
	uint32_t particle = add_body(1, 0, vec3_make(0, -G, 0));
	for (uint32_t i = 0; i < 60; i++) {
		double theta = 0.5 * (low + high), speed = sqrt(2 * G * (1 - cos(theta)));
		vec3 n = vec3_make(sin(theta), cos(theta), 0);
		contact_count = 0;
		add_contact(particle, FLOOR, n)->normal_of = CONTACT_NORMAL_OF_CENTRES;
		points[0].arm_a = motions[particle].centre = n;
		motions[particle].velocity = vec3_make(speed * cos(theta), -speed * sin(theta), 0);
		state_rows(CONSTRAINT_SMOOTH);
		bool pressed = b[0] < 0;
		low = pressed ? theta : low;
		high = pressed ? high : theta;
	}
	near(cos(low), 2 / 3.0);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("contact_force");
	TCase *forces = tcase_create("forces");
	tcase_add_checked_fixture(forces, setup, teardown);
	tcase_add_test(forces, a_body_at_rest_is_no_collision_and_does_not_bounce);
	tcase_add_test(forces, a_contact_that_an_impulse_separated_gets_no_force);
	tcase_add_test(forces, the_force_on_a_mass_at_rest_lifted_and_on_a_rising_plate);
	tcase_add_test(forces, a_turning_floor_adds_its_coriolis_part);
	tcase_add_test(forces, the_bias_is_the_second_derivative_of_the_gap);
	tcase_add_test(forces, a_sphere_on_a_slope_rolls_or_slides);
	tcase_add_test(forces, a_particle_on_a_slope_stays_or_accelerates_by_dynamic_friction);
	tcase_add_test(forces, a_stack_of_two_carries_9_81_and_29_43);
	tcase_add_test(forces, a_rod_lifts_off_one_support);
	tcase_add_test(forces, four_contacts_under_a_box_carry_its_weight);
	tcase_add_test(forces, particles_press_on_each_other_with_the_books_forces);
	tcase_add_test(forces, a_particle_leaves_a_ball_at_cosine_two_thirds);
	suite_add_tcase(suite, forces);
	return suite;
}

int main(void)
{
	return check_main(make);
}
