/* Contact forces: ch. 4 K1 to K3, 9.5 and P1, ch. 3 P-30 to P-32 and P-34, by the LCPs of solvers/. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/engine/dynamics/contact_force.h"
#include "server/engine/dynamics/frame_rate.h"
#include "server/engine/solvers/lcp_dantzig.h"
#include "server/engine/solvers/lcp_friction.h"
#include "tests/lib/check_main.h"

enum { FLOOR = 0, BODIES = 6, CONTACTS = 6, ROWS = 3 * CONTACTS };

#define G 9.81

static struct lcp_dantzig lcp;
static struct lcp_friction friction;
static void *lcp_memory, *friction_memory;
static struct impact_body bodies[BODIES];
static struct contact_free free_motion[BODIES];
static struct impact_contact contacts[CONTACTS];
static struct impact_problem problem;
static double a[ROWS * ROWS], b[ROWS], force[ROWS];

static void clear(void)
{
	memset(bodies, 0, sizeof bodies);
	memset(free_motion, 0, sizeof free_motion);
	problem = (struct impact_problem){ bodies, contacts, 1, 0 };
}

static void setup(void)
{
	lcp_memory = aligned_alloc(64, lcp_dantzig_bytes(ROWS));
	friction_memory = aligned_alloc(64, lcp_friction_bytes(ROWS));
	lcp_dantzig_init(&lcp, lcp_memory, ROWS);
	lcp_friction_init(&friction, friction_memory, ROWS);
	clear();
}

static void teardown(void)
{
	free(lcp_memory);
	free(friction_memory);
}

static uint32_t add_body(double mass, double inertia, vec3 push)
{
	uint32_t index = problem.body_count++;
	struct impact_body *body = &bodies[index];
	mat3 tensor = mat3_diagonal(vec3_all(inertia));
	body->mass_inv = 1 / mass;
	body->inertia_inv = inertia > 0 ? mat3_diagonal(vec3_all(1 / inertia)) : mat3_zero();
	free_motion[index] = contact_free_make(body, tensor, push, vec3_zero());
	return index;
}

static struct impact_contact *add_contact(uint32_t body1, uint32_t body2, vec3 normal)
{
	struct impact_contact *contact = &contacts[problem.contact_count++];
	*contact = impact_contact_make(body1, body2, vec3_zero(), vec3_zero(), normal, 0);
	return contact;
}

/* Frictionless forces, and the accelerations a = A F + b of the contacts. */
static void solve(double *acceleration)
{
	struct solver_options options = solver_options_default();
	uint32_t n = problem.contact_count;
	for (uint32_t i = 0; i < n; i++) {
		b[i] = contact_force_bias(&problem, i, free_motion, vec3_zero()).x;
		for (uint32_t j = 0; j < n; j++)
			a[i * n + j] = impact_normal_entry(&problem, i, j);
	}
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

/* K1: resting: F = 9.81, a = 0; pulled up by 20 N: F = 0, a = 10.19. P-34: 19.62, and 21.62 on a plate
 * that a script accelerates. */
START_TEST(a_mass_rests_or_is_lifted_or_is_carried_up)
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

/* The contacts kept after the impulses, and their forces by the LCP; all others get none. */
static uint32_t solve_rechecked(double *forces)
{
	uint32_t order[CONTACTS], starts[CONTACTS + 1], scratch[BODIES + CONTACTS], kept[CONTACTS];
	double bias[CONTACTS], some[CONTACTS * CONTACTS], part[CONTACTS];
	struct solver_options options = solver_options_default();
	uint32_t clusters = impact_clusters(&problem, order, starts, scratch);
	for (uint32_t i = 0; i < problem.contact_count; i++) {
		bias[i] = contact_force_bias(&problem, i, free_motion, vec3_zero()).x;
		forces[i] = 0;
	}
	uint32_t n = contact_force_recheck(&problem, bias, 1e-6, order, starts, clusters, kept);
	for (uint32_t i = 0; i < n; i++) {
		b[i] = bias[kept[i]];
		for (uint32_t j = 0; j < n; j++)
			some[i * n + j] = impact_normal_entry(&problem, kept[i], kept[j]);
	}
	struct lcp_problem left = { n, n, some, b, NULL, NULL };
	ck_assert_int_eq(lcp_dantzig_solve(&lcp, &left, &options, part, NULL).status,
			 SOLVER_SOLVED);
	for (uint32_t i = 0; i < n; i++)
		forces[kept[i]] = part[i];
	return n;
}

/* I1: at rest on the floor (u_n = 0) a body is a contact and not a collision, even with e = 1. */
START_TEST(what_rests_is_no_collision_and_does_not_bounce)
{
	static const double speed[] = { -1, -1e-7, 0, 1e-7, 1 };
	static const enum contact_kind kinds[] = { CONTACT_COLLIDES, CONTACT_RESTS, CONTACT_RESTS,
						   CONTACT_RESTS, CONTACT_PARTS };
	double forces[1];
	uint32_t body = add_body(1, 0, vec3_make(0, -G, 0));
	add_contact(body, FLOOR, vec3_axis(1))->restitution = 1;
	for (uint32_t i = 0; i < COUNT_OF(speed); i++) {
		bodies[body].velocity.y = speed[i];
		ck_assert_int_eq(contact_force_kind(&problem, 0, 1e-6), kinds[i]);
	}
	bodies[body].velocity.y = 0;
	ck_assert_uint_eq(solve_rechecked(forces), 1);
	near(forces[0], G);
}
END_TEST

/* I1: the plank of I5c after its impulse: one end stays, the other has 0.5667 and gets no force. A pair
 * elsewhere that is pulled apart is left out too; one that is pushed by its neighbour is not. */
START_TEST(a_contact_that_an_impulse_parted_gets_no_force)
{
	double forces[CONTACTS], arm = sqrt(0.2);
	uint32_t plank = add_body(1, 1, vec3_make(0, -G, 0));
	bodies[plank].velocity = vec3_make(0, -0.55 + 1 / 1.2, 0);
	bodies[plank].spin = vec3_make(0, 0, 0.45 / arm - arm / 1.2);
	for (uint32_t side = 0; side < 2; side++)
		add_contact(plank, FLOOR, vec3_axis(1))->arm[0] =
			vec3_make(side == 0 ? -arm : arm, 0, 0);
	near(impact_velocity(&problem, 0).x, 0);
	near(impact_velocity(&problem, 1).x, 0.8 / 1.2 - 0.1);
	uint32_t pulled = add_body(1, 0, vec3_make(0, 1, 0));
	add_contact(pulled, FLOOR, vec3_axis(1));
	uint32_t low = add_body(1, 0, vec3_make(0, 1, 0)), high = add_body(1, 0, vec3_make(0, -5, 0));
	add_contact(low, FLOOR, vec3_axis(1));
	add_contact(high, low, vec3_axis(1));
	ck_assert_uint_eq(solve_rechecked(forces), 3);
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
	bodies[body].velocity = vec3_axis(0);
	bodies[FLOOR].spin = vec3_make(0, 0, 0.5);
	add_contact(body, FLOOR, vec3_axis(1));
	vec3 rate = frame_rate_fixed(bodies[FLOOR].spin, contacts[0].normal);
	near(contact_force_bias(&problem, 0, free_motion, rate).x, -1);
}
END_TEST

/* The bias is the second derivative of the gap, by differences, along a motion without forces. */
START_TEST(the_bias_is_the_second_derivative_of_the_gap)
{
	uint32_t body = add_body(1, 1, vec3_make(0.3, -0.7, 0.2));
	vec3 n = vec3_normalize(vec3_make(0.2, 0.9, -0.3)), point = vec3_make(0.1, 0.2, 0.3);
	struct impact_contact *contact = add_contact(body, FLOOR, n);
	contact->arm[0] = vec3_make(0.3, -0.4, 0.2);
	contact->arm[1] = point;
	bodies[body].velocity = vec3_make(0.5, -0.1, 0.4);
	bodies[body].spin = vec3_make(0.3, 0.8, -0.6);
	bodies[FLOOR].spin = vec3_make(-0.2, 0.5, 0.7);
	double h = 1e-3, gap[3];
	for (int i = -1; i <= 1; i++) {
		double t = i * h;
		vec3 centre = vec3_sub(point, contact->arm[0]);
		centre = vec3_mul_add(centre, bodies[body].velocity, t);
		centre = vec3_mul_add(centre, free_motion[body].linear, 0.5 * t * t);
		quat q = quat_from_rotation_vector(vec3_scale(bodies[body].spin, t));
		quat r = quat_from_rotation_vector(vec3_scale(bodies[FLOOR].spin, t));
		vec3 p1 = vec3_add(centre, quat_rotate(q, contact->arm[0]));
		vec3 p2 = quat_rotate(r, point);
		gap[1 + i] = vec3_dot(vec3_sub(p1, p2), quat_rotate(r, n));
	}
	vec3 rate = frame_rate_fixed(bodies[FLOOR].spin, n);
	double expected = (gap[2] - 2 * gap[1] + gap[0]) / (h * h);
	ck_assert_double_eq_tol(contact_force_bias(&problem, 0, free_motion, rate).x, expected,
				1e-5);
}
END_TEST

/* K2b, P-31: static or sliding friction on a slope of 30 degrees. */
static void on_slope(double inertia, double radius, double mu, bool sliding, vec3 *linear,
		     double *spin, double *along)
{
	clear();
	vec3 n = vec3_make(-0.5, sqrt(0.75), 0), down = vec3_make(-sqrt(0.75), -0.5, 0);
	uint32_t body = add_body(1, inertia, vec3_make(0, -G, 0));
	struct impact_contact *contact = add_contact(body, FLOOR, n);
	contact->arm[0] = vec3_scale(n, -radius);
	contact->tangent = down;
	contact->binormal = vec3_cross(n, down);
	mat3 block = impact_block(&problem, 0, 0);
	double coefficient[3] = { 0, mu, mu };
	uint8_t kind[3] = { FRICTION_NORMAL, sliding ? FRICTION_BACKWARD : FRICTION_STATIC,
			    FRICTION_STATIC };
	for (uint32_t i = 0; i < 9; i++)
		a[i] = mat3_get(block, i / 3, i % 3);
	b[0] = vec3_dot(n, free_motion[body].linear);
	b[1] = vec3_dot(down, free_motion[body].linear);
	b[2] = 0;
	struct friction_problem slope = { 3, 3, a, b, kind, coefficient };
	struct solver_options options = solver_options_default();
	struct solver_result result = lcp_friction_solve(&friction, &slope, &options, force, NULL);
	ck_assert_int_eq(result.status, SOLVER_SOLVED);
	vec3 push = vec3_add(vec3_scale(n, force[0]), vec3_scale(down, force[1]));
	*linear = vec3_add(free_motion[body].linear, push);
	*spin = inertia > 0 ? vec3_length(vec3_cross(contact->arm[0], push)) / inertia : 0;
	*along = vec3_dot(*linear, down);
}

START_TEST(a_sphere_on_a_slope_rolls_or_slides)
{
	vec3 linear;
	double spin, along;
	on_slope(0.4, 1, 0.5, false, &linear, &spin, &along);
	near(along, 5 * G / 14);
	near(along, 3.5035714285714286);
	near(-force[1], 1.4014285714285715);
	near(spin, along);
	on_slope(0.4, 1, 0.1, false, &linear, &spin, &along);
	ck_assert_double_eq_tol(-force[1], 0.849571, 1e-6);
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

/* K3: a rod of 1 kg and 2 m on two supports, 6 N up at its right end: F = (5.4525, 0), a = (0, 3.285). */
START_TEST(a_rod_lifts_off_one_support)
{
	double acceleration[2];
	uint32_t rod = add_body(1, 1 / 3.0, vec3_make(0, 6 - G, 0));
	free_motion[rod].angular.z = 6 * 3;
	for (int side = -1; side <= 1; side += 2)
		add_contact(rod, FLOOR, vec3_axis(1))->arm[0] = vec3_make(side, 0, 0);
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
	for (uint32_t k = 0; k < 4; k++)
		add_contact(box, FLOOR, vec3_axis(1))->arm[0] =
			vec3_make((k & 1) != 0 ? 0.5 : -0.5, -0.5, (k & 2) != 0 ? 0.5 : -0.5);
	solve(acceleration);
	for (uint32_t k = 0; k < 4; k++) {
		ck_assert_double_ge(force[k], 0);
		near(acceleration[k], 0);
		sum += force[k];
		x += force[k] * contacts[k].arm[0].x;
		z += force[k] * contacts[k].arm[0].z;
	}
	near(sum, 3 * G);
	near(x, 0);
	near(z, 0);
}
END_TEST

/* P-30, P1 and P-32: particles that press and pull. */
START_TEST(particles_press_on_each_other_as_the_book_says)
{
	double acceleration[2];
	uint32_t one = add_body(1, 0, vec3_make(-5, 0, 0)), two = add_body(2, 0, vec3_zero());
	add_contact(one, two, vec3_axis(0));
	solve(acceleration);
	near(force[0], 10 / 3.0);
	free_motion[one].linear.x = 5;
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

/* P-30: a particle sliding down a fixed frictionless ball leaves at cos θ = 2/3 (the book's term: 0.8). */
START_TEST(a_particle_leaves_a_ball_at_two_thirds)
{
	double low = 0, high = 1.5;
	uint32_t particle = add_body(1, 0, vec3_make(0, -G, 0));
	for (uint32_t i = 0; i < 60; i++) {
		double theta = 0.5 * (low + high), speed = sqrt(2 * G * (1 - cos(theta)));
		problem.contact_count = 0;
		add_contact(particle, FLOOR, vec3_make(sin(theta), cos(theta), 0));
		bodies[particle].velocity = vec3_make(speed * cos(theta), -speed * sin(theta), 0);
		bool pressed = contact_force_bias_centres(&problem, 0, free_motion, 1) < 0;
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
	tcase_add_test(forces, what_rests_is_no_collision_and_does_not_bounce);
	tcase_add_test(forces, a_contact_that_an_impulse_parted_gets_no_force);
	tcase_add_test(forces, a_mass_rests_or_is_lifted_or_is_carried_up);
	tcase_add_test(forces, a_turning_floor_adds_its_coriolis_part);
	tcase_add_test(forces, the_bias_is_the_second_derivative_of_the_gap);
	tcase_add_test(forces, a_sphere_on_a_slope_rolls_or_slides);
	tcase_add_test(forces, a_particle_on_a_slope_stays_or_accelerates_by_dynamic_friction);
	tcase_add_test(forces, a_stack_of_two_carries_9_81_and_29_43);
	tcase_add_test(forces, a_rod_lifts_off_one_support);
	tcase_add_test(forces, four_contacts_under_a_box_carry_its_weight);
	tcase_add_test(forces, particles_press_on_each_other_as_the_book_says);
	tcase_add_test(forces, a_particle_leaves_a_ball_at_two_thirds);
	suite_add_tcase(suite, forces);
	return suite;
}

int main(void)
{
	return check_main(make);
}
