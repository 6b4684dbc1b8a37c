/* Integrators: the reference numbers of app B, observed orders, stability, exact rejection, and the
 * conserved quantities of free, spinning and precessing bodies (ch. 4 D3). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/engine/dynamics/coupled_motion.h"
#include "tests/lib/check_main.h"

enum { SIZE = 39 };

static struct ode_work work;
static void *memory;
static uint32_t calls;

static void setup(void)
{
	memory = aligned_alloc(64, ode_work_bytes(SIZE, true));
	ck_assert_ptr_nonnull(memory);
	memset(memory, 0xa5, ode_work_bytes(SIZE, true));
	ode_work_init(&work, memory, SIZE, true);
	calls = 0;
}

static void teardown(void)
{
	free(memory);
}

static void decay_rate(const struct ode *self, double time, const double *y, double *rate)
{
	(void)self;
	(void)time;
	rate[0] = -y[0];
	calls++;
}

static const struct ode decay = { .size = 1, .rate = decay_rate };

static double one_step(enum ode_method method, double h)
{
	double y = 1;
	ck_assert(ode_step(&work, &decay, method, 0, h, &y));
	return y;
}

/* app B, reference numbers of y' = −y, h = 0.1. */
START_TEST(one_step_of_decay_matches_the_books_numbers)
{
	ck_assert_double_eq_tol(one_step(ODE_EULER, 0.1), 0.9, 1e-15);
	ck_assert_double_eq_tol(one_step(ODE_IMPLICIT_EULER, 0.1), 1 / 1.1, 1e-11);
	ck_assert_double_eq_tol(one_step(ODE_RK2, 0.1), 0.905, 1e-15);
	ck_assert_double_eq_tol(one_step(ODE_RK4, 0.1), 0.9048375, 1e-15);
}
END_TEST

/* D5: a step evaluates the rate once a stage. */
START_TEST(a_step_evaluates_the_rate_once_a_stage)
{
	static const uint32_t stages[ODE_METHODS] = { 1, 3, 2, 4, 7 };
	for (uint32_t m = 0; m < ODE_METHODS; m++) {
		calls = 0;
		(void)one_step((enum ode_method)m, 0.1);
		ck_assert_uint_eq(calls, stages[m]);
	}
}
END_TEST

static const struct ode_limits loose = { 1e-4, 1e-9, 10, 5, 0 };

static struct ode_trial try_decay(enum ode_method method, double h)
{
	double y = 1;
	return ode_try(&work, &decay, method, 0, h, &loose, &y);
}

/* B-05: Δ = 2.5e-3, −1.234375e-4, −7.705071e-8; halving divides by 4.000, 7.950, 31.78. */
START_TEST(step_doubling_measures_the_books_differences)
{
	static const enum ode_method methods[] = { ODE_EULER, ODE_RK2, ODE_RK4 };
	static const double error[] = { 2.5e-3, 1.234375e-4, 7.705071e-8 };
	static const double ratio[] = { 4.000, 7.950, 31.78 };
	for (uint32_t m = 0; m < 3; m++) {
		double whole = try_decay(methods[m], 0.1).error,
		       half = try_decay(methods[m], 0.05).error;
		ck_assert_double_eq_tol(whole / error[m], 1, 1e-6);
		ck_assert_double_eq_tol(whole / half / ratio[m], 1, 1e-3);
	}
}
END_TEST

/* B-05: Euler at h = 0.1 with Δd = 1e-4 proposes exactly 0.02; a rejected step restores every bit. */
START_TEST(a_rejected_step_proposes_0_02_and_restores_the_state)
{
	double y = 1;
	struct ode_trial rejected = ode_try(&work, &decay, ODE_EULER, 0, 0.1, &loose, &y);
	ck_assert(!rejected.accepted);
	ck_assert_double_eq_tol(rejected.h_ideal, 0.02, 1e-15);
	ck_assert_double_eq_tol(rejected.h_next, 0.02, 1e-15);
	ck_assert_mem_eq(&y, &(double){ 1 }, sizeof y);
	struct ode_trial accepted = ode_try(&work, &decay, ODE_EULER, 0, 0.01, &loose, &y);
	ck_assert(accepted.accepted);
	ck_assert_double_eq_tol(accepted.h_next, 0.8 * 0.02, 1e-6);
	ck_assert_double_eq_tol(y, 0.995 * 0.995, 1e-15);
}
END_TEST

START_TEST(an_adaptive_run_meets_its_tolerance_and_ends_at_its_end_time)
{
	static const enum ode_method methods[] = { ODE_EULER, ODE_RK2, ODE_RK4, ODE_RK45 };
	uint32_t steps[4];
	for (uint32_t m = 0; m < 4; m++) {
		const struct ode_limits limits = { 1e-6, 1e-6, 1, 5, 0 };
		double y = 1;
		struct ode_run run = ode_run(&work, &decay, methods[m], 0, 3, 1, &limits, &y);
		ck_assert(!run.failed);
		ck_assert_uint_eq(run.forced, 0);
		ck_assert_double_le(run.error, 1e-6);
		ck_assert_double_eq_tol(y, exp(-3), 1e-6 * run.accepted);
		steps[m] = run.accepted;
	}
	ck_assert_uint_gt(steps[0], steps[1]);
	ck_assert_uint_gt(steps[1], steps[2]);
}
END_TEST

/* B-07: rows sum to their times, weights to 1, and the weights of the error to 0. */
START_TEST(tableaus_are_consistent)
{
	for (uint32_t m = 0; m < ODE_METHODS; m++) {
		const struct ode_tableau *t = ode_tableau((enum ode_method)m);
		double weights = 0, errors = 0, third = 0;
		ck_assert((t == NULL) == (m == ODE_IMPLICIT_EULER));
		for (uint32_t s = 0; t != NULL && s < t->stages; s++) {
			double row = 0;
			for (uint32_t k = 0; k < s; k++)
				row += t->a[s][k];
			ck_assert_double_eq_tol(row, t->c[s], 1e-14);
			weights += t->b[s];
			errors += t->error[s];
			third += t->b[s] * t->c[s] * t->c[s];
		}
		ck_assert(t == NULL || scalar_abs(weights - 1) < 1e-14);
		ck_assert_double_eq_tol(errors, 0, 1e-14);
		if (m == ODE_RK4 || m == ODE_RK45)
			ck_assert_double_eq_tol(third, 1.0 / 3, 1e-14);
	}
}
END_TEST

/* B-07: of order 5 with an estimate of order 4's error: halving h divides them by 2^6 and 2^5. */
START_TEST(the_embedded_pair_has_its_orders)
{
	double off[2], error[2];
	for (uint32_t k = 0; k < 2; k++) {
		double h = k == 0 ? 0.4 : 0.2;
		off[k] = scalar_abs(one_step(ODE_RK45, h) - exp(-h));
		error[k] = try_decay(ODE_RK45, h).error;
		ck_assert_double_lt(off[k], error[k]);
	}
	ck_assert_double_eq_tol(off[0] / off[1], 64, 10);
	ck_assert_double_eq_tol(error[0] / error[1], 32, 4);
}
END_TEST

START_TEST(invalid_arguments_are_refused_and_leave_the_state)
{
	const enum ode_method none = (enum ode_method)ODE_METHODS;
	struct ode large = decay;
	struct ode_substeps substeps = ode_substeps_default();
	double y = 1, bad[] = { NAN, INFINITY, -INFINITY };
	large.size = work.size_max + 1;
	ck_assert(!ode_step(&work, &decay, none, 0, 0.1, &y));
	ck_assert(!ode_step(&work, &large, ODE_RK4, 0, 0.1, &y));
	ck_assert(!ode_try(&work, &decay, none, 0, 0.1, &loose, &y).accepted);
	ck_assert(!ode_try(&work, &large, ODE_RK4, 0, 0.1, &loose, &y).accepted);
	ck_assert(ode_run(&work, &decay, none, 0, 1, 0.1, &loose, &y).failed);
	ck_assert(ode_frame(&work, &decay, none, 0, 1, 1e-6, &substeps, &y).failed);
	ck_assert(ode_frame(&work, &decay, ODE_RK4, 0, 1, 0, &substeps, &y).failed);
	substeps.count = 0;
	ck_assert(ode_frame(&work, &decay, ODE_RK4, 0, 1, 1e-6, &substeps, &y).failed);
	for (uint32_t i = 0; i < 3; i++) {
		substeps = ode_substeps_default();
		ck_assert(!ode_step(&work, &decay, ODE_RK4, 0, bad[i], &y));
		ck_assert(!ode_step(&work, &decay, ODE_RK4, bad[i], 0.1, &y));
		ck_assert(!ode_try(&work, &decay, ODE_RK4, 0, bad[i], &loose, &y).accepted);
		ck_assert(ode_run(&work, &decay, ODE_RK4, bad[i], 1, 0.1, &loose, &y).failed ||
			  bad[i] > 1);
		ck_assert(ode_frame(&work, &decay, ODE_RK4, 0, bad[i], 1e-6, &substeps, &y).failed);
	}
	struct ode_limits limits[] = { loose, loose, loose, loose, loose };
	limits[0].tolerance = 0;
	limits[1].h_min = 0;
	limits[2].h_max = 1e-10;
	limits[3].h_max = INFINITY;
	limits[4].growth = NAN;
	for (uint32_t i = 0; i < COUNT_OF(limits); i++) {
		ck_assert(!ode_try(&work, &decay, ODE_RK4, 0, 0.1, &limits[i], &y).accepted);
		ck_assert(ode_run(&work, &decay, ODE_RK4, 0, 1, 0.1, &limits[i], &y).failed);
	}
	ck_assert_mem_eq(&y, &(double){ 1 }, sizeof y);
	/* A workspace without memory, misaligned, or without storage for the implicit method. */
	struct ode_work other;
	_Alignas(64) unsigned char room[1024];
	ode_work_init(&other, NULL, 1, true);
	ck_assert(!ode_step(&other, &decay, ODE_EULER, 0, 0.1, &y));
	ode_work_init(&other, room + 8, 1, true);
	ck_assert(!ode_step(&other, &decay, ODE_EULER, 0, 0.1, &y));
	ode_work_init(&other, room, 1, false);
	ck_assert(!ode_step(&other, &decay, ODE_IMPLICIT_EULER, 0, 0.1, &y));
	ck_assert(ode_step(&other, &decay, ODE_EULER, 0, 0.1, &y));
}
END_TEST

START_TEST(a_run_of_endless_time_stops_or_fails)
{
	struct ode_limits limits = loose;
	limits.steps_max = 1000;
	double y = 1;
	struct ode_run run = ode_run(&work, &decay, ODE_RK4, 0, INFINITY, 0.1, &limits, &y);
	ck_assert(run.stopped && !run.failed);
	ck_assert_uint_eq(run.accepted + run.rejected, 1000);
	ck_assert_double_gt(run.time, 1);
	ck_assert_double_le(fabs(y), 1e-3);
	/* At 1e17 s the spacing of doubles is 16 s: the steps do not advance the time. */
	y = 1;
	run = ode_run(&work, &decay, ODE_RK4, 1e17, INFINITY, 0.1, &limits, &y);
	ck_assert(run.failed && run.accepted == 0);
	ck_assert_double_eq(run.time, 1e17);
	/* The end is farther away than steps_max steps reach. */
	run = ode_run(&work, &decay, ODE_RK4, 0, 1e308, 0.1, &limits, &y);
	ck_assert(run.stopped && run.time < 1e308);
	run = ode_run(&work, &decay, ODE_RK4, 2, 1, 0.1, &limits, &y);
	ck_assert(!run.failed && !run.stopped && run.accepted == 0);
}
END_TEST

/* ---- stiffness (B-03) ------------------------------------------------------------------------- */

static void spring_rate(const struct ode *self, double time, const double *y, double *rate)
{
	double omega = *(const double *)self->context;
	(void)time;
	rate[0] = y[1];
	rate[1] = -omega * omega * y[0];
}

/* ω = 1000, h = 0.1, 1000 steps: implicit Euler decays; the explicit method diverges until a step is
 * refused. */
START_TEST(a_stiff_spring_decays_implicitly_and_diverges_explicitly)
{
	double omega = 1000, y[2] = { 1, 0 }, last = 1;
	struct ode spring = { .size = 2, .rate = spring_rate, .context = &omega };
	for (uint32_t i = 0; i < 1000; i++) {
		ck_assert(ode_step(&work, &spring, ODE_IMPLICIT_EULER, 0.1 * i, 0.1, y));
		double size = fabs(y[0]) + fabs(y[1]) / omega;
		ck_assert_double_le(size, last);
		last = size;
	}
	y[0] = 1;
	y[1] = 0;
	uint32_t steps = 0;
	while (steps < 1000 && ode_step(&work, &spring, ODE_EULER, 0, 0.1, y))
		steps++;
	ck_assert_uint_lt(steps, 1000);
	ck_assert(isfinite(y[0]) && isfinite(y[1]));
}
END_TEST

/* Explicit methods are stable up to h c = 2 on y' = −c y (2.785 for RK4). */
START_TEST(stability_ends_at_the_theoretical_limit)
{
	static const struct {
		enum ode_method method;
		double stable, unstable;
	} limit[] = { { ODE_EULER, 1.99, 2.01 }, { ODE_RK2, 1.99, 2.01 }, { ODE_RK4, 2.78, 2.79 } };
	for (uint32_t m = 0; m < 3; m++) {
		double below = 1, above = 1;
		for (uint32_t i = 0; i < 2000; i++) {
			ck_assert(ode_step(&work, &decay, limit[m].method, 0, limit[m].stable,
					   &below));
			ck_assert(ode_step(&work, &decay, limit[m].method, 0, limit[m].unstable,
					   &above));
		}
		ck_assert_double_lt(fabs(below), 1e-3);
		ck_assert_double_gt(fabs(above), 1e3);
	}
}
END_TEST

/* ---- sub-steps (B-06, A-11) ------------------------------------------------------------------- */

START_TEST(sub_steps_double_on_reject_and_halve_after_four_calm_frames)
{
	struct ode_substeps substeps = ode_substeps_default();
	double y = 1, expected = 1;
	/* Euler's error of a sub-step h is h²/4 y: 0.5 needs N = 8 for 1e-3. */
	struct ode_frame frame = ode_frame(&work, &decay, ODE_EULER, 0, 0.5, 1e-3, &substeps, &y);
	ck_assert_uint_eq(frame.count, 8);
	ck_assert_uint_eq(frame.rejected, 3);
	ck_assert_uint_eq(substeps.count, 8);
	for (uint32_t i = 0; i < 16; i++)
		expected -= expected * (0.5 / 8 / 2);
	/* The rejected tries left y unchanged. */
	ck_assert_double_eq_tol(y, expected, 1e-15);
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(substeps.count, 8);
		y = 1e-6;
		frame = ode_frame(&work, &decay, ODE_EULER, 0, 0.5, 1e-3, &substeps, &y);
		ck_assert_uint_eq(frame.rejected, 0);
	}
	ck_assert_uint_eq(substeps.count, 4);
	for (uint32_t i = 0; i < 40; i++) {
		y = 1e-6;
		(void)ode_frame(&work, &decay, ODE_EULER, 0, 0.5, 1e-3, &substeps, &y);
	}
	ck_assert_uint_eq(substeps.count, 1);
}
END_TEST

START_TEST(a_frame_beyond_the_tolerance_at_most_sub_steps_is_forced)
{
	struct ode_substeps substeps = { 1, 4, 0, 4 };
	double y = 1;
	struct ode_frame frame = ode_frame(&work, &decay, ODE_EULER, 0, 0.5, 1e-9, &substeps, &y);
	ck_assert(frame.forced && !frame.failed);
	ck_assert_uint_eq(frame.count, 4);
	ck_assert_double_eq_tol(y, pow(1 - 0.5 / 8, 8), 1e-15);
}
END_TEST

/* ---- bodies ----------------------------------------------------------------------------------- */

static struct coupled_body body_of(double mass, double a, double b, double c)
{
	struct coupled_body body = { .mass = mass,
				     .inertia_body = mat3_diagonal(vec3_make(a, b, c)) };
	ck_assert(mat3_inverse(body.inertia_body, &body.inertia_body_inv));
	return body;
}

static struct force_state states[3];

static struct coupled_motion motion_of(const struct coupled_body *bodies, uint32_t count,
				       const struct force *const *forces, uint32_t force_count)
{
	return (struct coupled_motion){ bodies, states, forces, count, force_count };
}

static double distance(const double *a, const double *b, uint32_t count)
{
	double most = 0;
	for (uint32_t i = 0; i < count; i++)
		most = fmax(most, fabs(a[i] - b[i]));
	return most;
}

static void tumble(enum ode_method method, uint32_t steps, double *y)
{
	struct coupled_body body = body_of(1, 1, 2, 3);
	struct coupled_motion motion = motion_of(&body, 1, NULL, 0);
	struct ode ode = coupled_motion_ode(&motion);
	coupled_motion_put(&body, vec3_zero(), quat_identity(), vec3_zero(), vec3_make(1, 2, 0.5),
			   y);
	for (uint32_t i = 0; i < steps; i++)
		ck_assert(ode_step(&work, &ode, method, 0, 1.0 / steps, y));
}

/* B-02…04: observed global orders 1, 1, 2, 4 ± 0.05 on a torque-free tumbling body. */
START_TEST(tumbling_shows_the_orders_1_1_2_and_4)
{
	static const double order[ODE_METHODS] = { 1, 1, 2, 4 };
	static const uint32_t steps[ODE_METHODS] = { 1024, 1024, 256, 128 };
	double exact[COUPLED_STATE], y[COUPLED_STATE], error[2];
	tumble(ODE_RK4, 4096, exact);
	for (uint32_t m = 0; m < ODE_METHODS; m++) {
		for (uint32_t k = 0; k < 2; k++) {
			tumble((enum ode_method)m, steps[m] << k, y);
			error[k] = distance(y, exact, COUPLED_STATE);
		}
		double seen = log2(error[0] / error[1]);
		printf("# method %u: order %.3f\n", m, seen);
		ck_assert_double_eq_tol(seen, order[m], 0.05);
	}
}
END_TEST

/* D3, the tennis racket: I = (1, 2, 3), w = (0.01, 1, 0.01), RK4 at 2 ms for 20 s. */
START_TEST(a_tennis_racket_flips_at_13_47_s_and_conserves_momentum_and_energy)
{
	struct coupled_body body = body_of(1, 1, 2, 3);
	struct coupled_motion motion = motion_of(&body, 1, NULL, 0);
	struct ode ode = coupled_motion_ode(&motion);
	double y[COUPLED_STATE], start[COUPLED_STATE], over = 0;
	coupled_motion_put(&body, vec3_zero(), quat_identity(), vec3_zero(),
			   vec3_make(0.01, 1, 0.01), y);
	memcpy(start, y, sizeof y);
	double energy = coupled_motion_energy(&body, y);
	for (uint32_t i = 1; i <= 10000; i++) {
		ck_assert(ode_step(&work, &ode, ODE_RK4, 0, 0.002, y));
		struct force_state now = coupled_motion_get(&body, y);
		vec3 w = quat_rotate_inverse(now.rotation, now.angular_velocity);
		if (over == 0 && w.y < -0.9)
			over = 0.002 * i;
	}
	ck_assert_mem_eq(y + 7, start + 7, 6 * sizeof *y);
	ck_assert_double_lt(fabs(coupled_motion_energy(&body, y) / energy - 1), 1e-12);
	ck_assert_double_eq_tol(over, 13.47, 0.005);
	quat q = quat_make(y[3], y[4], y[5], y[6]);
	mat3 r = mat3_from_quat(q), unit = mat3_transposed_mul(r, r);
	ck_assert_double_lt(vec3_length(vec3_sub(unit.x, vec3_axis(0))), 1e-12);
}
END_TEST

START_TEST(the_rackets_energy_drifts_with_the_order_of_the_method)
{
	static const enum ode_method methods[] = { ODE_EULER, ODE_RK2, ODE_RK4 };
	struct coupled_body body = body_of(1, 1, 2, 3);
	struct coupled_motion motion = motion_of(&body, 1, NULL, 0);
	struct ode ode = coupled_motion_ode(&motion);
	for (uint32_t m = 0; m < 3; m++) {
		double drift[3];
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t steps = 400u << k;
			double y[COUPLED_STATE];
			coupled_motion_put(&body, vec3_zero(), quat_identity(), vec3_zero(),
					   vec3_make(0.01, 1, 0.01), y);
			double energy = coupled_motion_energy(&body, y);
			for (uint32_t i = 0; i < steps; i++)
				ck_assert(ode_step(&work, &ode, methods[m], 0, 20.0 / steps, y));
			drift[k] = fabs(coupled_motion_energy(&body, y) / energy - 1);
			printf("# racket, method %u, h = %g ms: energy off by %.2e\n", methods[m],
			       2e4 / steps, drift[k]);
		}
		ck_assert_double_gt(drift[0], drift[1]);
		ck_assert_double_gt(drift[1], drift[2]);
	}
}
END_TEST

static void weight_add(const struct force *self, uint32_t body, const struct force_state *state,
		       double time, struct force_sum *sum)
{
	(void)self, (void)body, (void)time, (void)state;
	sum->acceleration.y -= 9.81;
	calls++;
}

/* A top on its tip, the tip fixed at the origin: torque of the weight about the tip. */
static void top_add(const struct force *self, uint32_t body, const struct force_state *state,
		    double time, struct force_sum *sum)
{
	(void)self, (void)body, (void)time;
	vec3 arm = quat_rotate(state->rotation, vec3_make(0, 0.5, 0));
	sum->torque = vec3_add(sum->torque, vec3_cross(arm, vec3_make(0, -9.81 * state->mass, 0)));
}

/* A heavy symmetric top about its tip: energy, the vertical and the axial momentum are constant. */
START_TEST(a_spinning_top_conserves_energy_and_two_momenta)
{
	const struct force force = { .add = top_add };
	const struct force *const forces[] = { &force };
	struct coupled_body body = body_of(1, 0.3, 0.05, 0.3);
	struct coupled_motion motion = motion_of(&body, 1, forces, 1);
	struct ode ode = coupled_motion_ode(&motion);
	quat tilt = quat_from_axis_angle(vec3_axis(0), 0.4);
	double last = 1;
	for (uint32_t steps = 500; steps <= 2000; steps *= 2) {
		double y[COUPLED_STATE];
		coupled_motion_put(&body, vec3_zero(), tilt, vec3_zero(),
				   quat_rotate(tilt, vec3_make(0, 40, 0)), y);
		double vertical = y[11], worst = 0;
		double energy = coupled_motion_energy(&body, y) +
				9.81 * 0.5 * quat_rotate(tilt, vec3_axis(1)).y;
		for (uint32_t i = 0; i < steps; i++) {
			ck_assert(ode_step(&work, &ode, ODE_RK4, 0, 2.0 / steps, y));
			quat q = quat_make(y[3], y[4], y[5], y[6]);
			vec3 axis = quat_rotate(q, vec3_axis(1));
			vec3 turning = vec3_make(y[10], y[11], y[12]);
			double now = coupled_motion_energy(&body, y) + 9.81 * 0.5 * axis.y;
			worst = fmax(worst, fabs(now / energy - 1));
			worst = fmax(worst, fabs(vec3_dot(axis, turning) / 2 - 1));
			ck_assert_double_eq_tol(y[11], vertical, 1e-9);
		}
		printf("# top, RK4, h = %g ms: energy and axial momentum off by %.2e\n",
		       2e3 / steps, worst);
		ck_assert_double_lt(worst, last / 8);
		last = worst;
	}
	ck_assert_double_lt(last, 1e-6);
}
END_TEST

/* F1: 1 s of free fall from rest: y = −4.905, L_y = −9.81 m, exactly (force constant). */
START_TEST(free_fall_is_exact_and_forces_are_evaluated_at_every_stage)
{
	const struct force force = { .add = weight_add };
	const struct force *const forces[] = { &force };
	struct coupled_body body = body_of(2, 1, 1, 1);
	struct coupled_motion motion = motion_of(&body, 1, forces, 1);
	struct ode ode = coupled_motion_ode(&motion);
	double y[COUPLED_STATE];
	coupled_motion_put(&body, vec3_zero(), quat_identity(), vec3_zero(), vec3_zero(), y);
	for (uint32_t i = 0; i < 60; i++)
		ck_assert(ode_step(&work, &ode, ODE_RK4, i / 60.0, 1 / 60.0, y));
	ck_assert_double_eq_tol(y[1], -4.905, 1e-12);
	ck_assert_double_eq_tol(y[8], -19.62, 1e-12);
	ck_assert_uint_eq(calls, 240);
}
END_TEST

/* A spring of 100 N/m between the centres of bodies 0 and 1, at the stage states of both. */
static void link_add(const struct force *self, uint32_t body, const struct force_state *state,
		     double time, struct force_sum *sum)
{
	const struct force_state *all = self->context;
	(void)time;
	if (body < 2)
		sum->force = vec3_mul_add(sum->force, vec3_sub(all[1 - body].centre, state->centre),
					  100);
}

/* B-01: a stage advances coupled bodies together; the total momentum is constant. */
START_TEST(a_coupled_pair_oscillates_at_its_natural_rate_and_conserves_momentum)
{
	const struct force force = { .add = link_add, .context = states };
	const struct force *const forces[] = { &force };
	struct coupled_body bodies[2] = { body_of(1, 1, 1, 1), body_of(3, 1, 1, 1) };
	struct coupled_motion motion = motion_of(bodies, 2, forces, 1);
	struct ode ode = coupled_motion_ode(&motion);
	double y[2 * COUPLED_STATE], period = 2 * PI / sqrt(100 * (1 + 1 / 3.0));
	coupled_motion_put(&bodies[0], vec3_make(-1, 0, 0), quat_identity(), vec3_zero(),
			   vec3_zero(), y);
	coupled_motion_put(&bodies[1], vec3_make(1, 0, 0), quat_identity(), vec3_zero(),
			   vec3_zero(), y + COUPLED_STATE);
	for (uint32_t i = 0; i < 500; i++)
		ck_assert(ode_step(&work, &ode, ODE_RK4, 0, period / 500, y));
	ck_assert_double_eq_tol(y[0], -1, 1e-8);
	ck_assert_double_eq_tol(y[COUPLED_STATE], 1, 1e-8);
	ck_assert_double_eq_tol(y[7] + y[COUPLED_STATE + 7], 0, 1e-13);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("ode");
	TCase *numbers = tcase_create("numbers");
	tcase_add_checked_fixture(numbers, setup, teardown);
	tcase_add_test(numbers, one_step_of_decay_matches_the_books_numbers);
	tcase_add_test(numbers, a_step_evaluates_the_rate_once_a_stage);
	tcase_add_test(numbers, step_doubling_measures_the_books_differences);
	tcase_add_test(numbers, a_rejected_step_proposes_0_02_and_restores_the_state);
	tcase_add_test(numbers, an_adaptive_run_meets_its_tolerance_and_ends_at_its_end_time);
	tcase_add_test(numbers, tableaus_are_consistent);
	tcase_add_test(numbers, the_embedded_pair_has_its_orders);
	tcase_add_test(numbers, invalid_arguments_are_refused_and_leave_the_state);
	tcase_add_test(numbers, a_run_of_endless_time_stops_or_fails);
	tcase_add_test(numbers, a_stiff_spring_decays_implicitly_and_diverges_explicitly);
	tcase_add_test(numbers, stability_ends_at_the_theoretical_limit);
	tcase_add_test(numbers, sub_steps_double_on_reject_and_halve_after_four_calm_frames);
	tcase_add_test(numbers, a_frame_beyond_the_tolerance_at_most_sub_steps_is_forced);
	suite_add_tcase(suite, numbers);
	TCase *bodies = tcase_create("bodies");
	tcase_add_checked_fixture(bodies, setup, teardown);
	tcase_add_test(bodies, tumbling_shows_the_orders_1_1_2_and_4);
	tcase_add_test(bodies, a_tennis_racket_flips_at_13_47_s_and_conserves_momentum_and_energy);
	tcase_add_test(bodies, the_rackets_energy_drifts_with_the_order_of_the_method);
	tcase_add_test(bodies, a_spinning_top_conserves_energy_and_two_momenta);
	tcase_add_test(bodies, free_fall_is_exact_and_forces_are_evaluated_at_every_stage);
	tcase_add_test(bodies,
		       a_coupled_pair_oscillates_at_its_natural_rate_and_conserves_momentum);
	suite_add_tcase(suite, bodies);
	return suite;
}

int main(void)
{
	return check_main(make);
}
