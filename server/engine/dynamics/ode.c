/* ode.c: the integrators of the book's appendix B over a flat state.
 *
 *   EULER            Y += h f(t, Y)                                                local error h²
 *   RK2 (midpoint)   k1 = f(t, Y), k2 = f(t + h/2, Y + h/2 k1); Y += h k2          h³
 *   RK4              k3 = f(t + h/2, Y + h/2 k2), k4 = f(t + h, Y + h k3);         h⁵
 *                    Y += h/6 (k1 + 2 k2 + 2 k3 + k4)
 *   RK45             Dormand and Prince's pair of orders 5 and 4 in 7 stages         h⁶, estimated as h⁵
 *   IMPLICIT_EULER   (1 − h J) ΔY = h f(t + h, Y), J = ∂f/∂Y; Y += ΔY              h²
 *
 * (The print has k4 at Y + h/2 k3, which is of first order only.) J is taken by central differences,
 * exact to rounding for linear forces, and solved densely: the implicit method is for small stiff
 * systems. It is stable for every h on decaying systems, and adds damping.
 *
 * Step doubling: Ya by one step of h, Yb by two of h/2; Δ = Yb − Ya, of order h^p with p the order
 * above, gives the largest step within the tolerance: h (tolerance/|Δ|)^(1/p). The norm is the
 * largest component over its scale, which the book leaves open.
 *
 * Sums run in component order; powers are our own (trig_pow): the same bits everywhere.
 */
#include "server/engine/dynamics/ode.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/linalg/lu.h"
#include "server/engine/math/scalar.h"
#include "server/engine/math/trig.h"
#include "server/engine/solvers/solver.h"

#define MARGIN                                                                                     \
	0.8 /* 1, of the ideal step when it grows: a rejected step costs more than a shorter one */
enum { STEPS_MAX = 10000000 }; /* of one ode_run, if its limits have none */
#define DIFFERENCE 0x1p-17     /* of 1 + |Y|, the step of J's central differences: about ε^(1/3) */

static void carve_work(struct ode_work *self, struct solver_memory *memory, uint32_t size,
		       bool implicit)
{
	*self = (struct ode_work){ .size_max = size };
	for (uint32_t i = 0; i < COUNT_OF(self->k); i++)
		self->k[i] = SOLVER_CARVE(memory, double, size);
	self->stage = SOLVER_CARVE(memory, double, size);
	self->saved = SOLVER_CARVE(memory, double, size);
	self->coarse = SOLVER_CARVE(memory, double, size);
	if (!implicit)
		return;
	self->matrix = SOLVER_CARVE(memory, double, (size_t)size *size);
	self->high = SOLVER_CARVE(memory, double, size);
	self->pivots = SOLVER_CARVE(memory, uint32_t, size);
}

size_t ode_work_bytes(uint32_t size_max, bool implicit)
{
	struct solver_memory memory = { NULL, 0 };
	struct ode_work self;
	carve_work(&self, &memory, size_max, implicit);
	return memory.used;
}

void ode_work_init(struct ode_work *self, void *bytes, uint32_t size_max, bool implicit)
{
	struct solver_memory memory = { solver_memory_good(bytes) ? bytes : NULL, 0 };
	carve_work(self, &memory, size_max, implicit);
}

static void repair_state(const struct ode *ode, double *state)
{
	if (ode->repair != NULL)
		ode->repair(ode, state);
}

/* stage := state + s k, repaired. */
static const double *make_stage(struct ode_work *self, const struct ode *ode, const double *state,
				const double *k, double s)
{
	ASSERT(ode->size <= self->size_max);
	dense_copy(self->stage, state, ode->size);
	dense_mul_add(self->stage, k, s, ode->size);
	repair_state(ode, self->stage);
	return self->stage;
}

/* ---- one step: each writes ΔY to k[0] ------------------------------------------------------ */

static void step_euler(struct ode_work *self, const struct ode *ode, double time, double h,
		       const double *state)
{
	ode->rate(ode, time, state, self->k[0]);
	for (uint32_t i = 0; i < ode->size; i++)
		self->k[0][i] *= h;
}

static void step_rk2(struct ode_work *self, const struct ode *ode, double time, double h,
		     const double *state)
{
	ode->rate(ode, time, state, self->k[0]);
	ode->rate(ode, time + 0.5 * h, make_stage(self, ode, state, self->k[0], 0.5 * h),
		  self->k[1]);
	for (uint32_t i = 0; i < ode->size; i++)
		self->k[0][i] = h * self->k[1][i];
}

/* ---- tableaus ------------------------------------------------------------------------------ */

const struct ode_tableau *ode_tableau(enum ode_method method)
{
	static const struct ode_tableau tableaus[ODE_METHODS] = {
		[ODE_EULER] = { 1, { 0 }, { { 0 } }, { 1 }, { 0 } },
		[ODE_RK2] = { 2, { 0, 0.5 }, { { 0 }, { 0.5 } }, { 0, 1 }, { 0 } },
		[ODE_RK4] = { 4,
			      { 0, 0.5, 0.5, 1 },
			      { { 0 }, { 0.5 }, { 0, 0.5 }, { 0, 0, 1 } },
			      { 1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6 },
			      { 0 } },
		[ODE_RK45] = { 7,
			       { 0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1 },
			       { { 0 },
				 { 1.0 / 5 },
				 { 3.0 / 40, 9.0 / 40 },
				 { 44.0 / 45, -56.0 / 15, 32.0 / 9 },
				 { 19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729 },
				 { 9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176,
				   -5103.0 / 18656 },
				 { 35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784,
				   11.0 / 84 } },
			       { 35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784,
				 11.0 / 84, 0 },
			       { 71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200,
				 22.0 / 525, -1.0 / 40 } },
	};
	ASSERT((uint32_t)method < ODE_METHODS);
	return method == ODE_IMPLICIT_EULER ? NULL : &tableaus[method];
}

/* ΔY to k[0], and the estimate of its error to k[1]. */
static void step_rk45(struct ode_work *self, const struct ode *ode, double time, double h,
		      const double *state)
{
	const struct ode_tableau *t = ode_tableau(ODE_RK45);
	double **k = self->k;
	for (uint32_t s = 0; s < t->stages; s++) {
		dense_copy(self->stage, state, ode->size);
		for (uint32_t j = 0; j < s; j++)
			dense_mul_add(self->stage, k[j], h * t->a[s][j], ode->size);
		if (s > 0)
			repair_state(ode, self->stage);
		ode->rate(ode, time + t->c[s] * h, self->stage, k[s]);
	}
	for (uint32_t i = 0; i < ode->size; i++) {
		double sum = 0, error = 0;
		for (uint32_t s = 0; s < t->stages; s++) {
			sum += t->b[s] * k[s][i];
			error += t->error[s] * k[s][i];
		}
		k[0][i] = h * sum;
		k[1][i] = h * error;
	}
}

static void step_rk4(struct ode_work *self, const struct ode *ode, double time, double h,
		     const double *state)
{
	double **k = self->k;
	ode->rate(ode, time, state, k[0]);
	ode->rate(ode, time + 0.5 * h, make_stage(self, ode, state, k[0], 0.5 * h), k[1]);
	ode->rate(ode, time + 0.5 * h, make_stage(self, ode, state, k[1], 0.5 * h), k[2]);
	ode->rate(ode, time + h, make_stage(self, ode, state, k[2], h), k[3]);
	for (uint32_t i = 0; i < ode->size; i++)
		k[0][i] = h * ((k[0][i] + k[3][i]) / 6 + (k[1][i] + k[2][i]) / 3);
}

/* matrix := 1 − h ∂f/∂Y. States are not repaired in between, because J is that of f itself. */
static void make_implicit_matrix(struct ode_work *self, const struct ode *ode, double time,
				 double h, const double *state)
{
	ASSERT(self->matrix != NULL && ode->size <= self->size_max);
	uint32_t n = ode->size;
	dense_copy(self->stage, state, n);
	for (uint32_t j = 0; j < n; j++) {
		double step = DIFFERENCE * (1 + scalar_abs(state[j]));
		self->stage[j] = state[j] + step;
		double above = self->stage[j];
		ode->rate(ode, time, self->stage, self->high);
		self->stage[j] = state[j] - step;
		double width = above - self->stage[j];
		ode->rate(ode, time, self->stage, self->k[1]);
		self->stage[j] = state[j];
		for (uint32_t i = 0; i < n; i++)
			self->matrix[i * n + j] =
				(i == j) - h * ((self->high[i] - self->k[1][i]) / width);
	}
}

static bool step_implicit_euler(struct ode_work *self, const struct ode *ode, double time, double h,
				const double *state)
{
	make_implicit_matrix(self, ode, time + h, h, state);
	step_euler(self, ode, time + h, h, state);
	if (!lu_factor(self->matrix, ode->size, ode->size, self->pivots))
		return false;
	lu_solve(self->matrix, ode->size, ode->size, self->pivots, self->k[0]);
	return true;
}

bool ode_fits(const struct ode_work *self, const struct ode *ode, enum ode_method method)
{
	if (self->coarse == NULL || ode->size > self->size_max || (uint32_t)method >= ODE_METHODS)
		return false;
	return method != ODE_IMPLICIT_EULER || self->pivots != NULL;
}

bool ode_step(struct ode_work *self, const struct ode *ode, enum ode_method method, double time,
	      double h, double *state)
{
	bool good = true;
	if (!ode_fits(self, ode, method) || !solver_finite(&time, 1) || !solver_finite(&h, 1))
		return false;
	if (method == ODE_EULER)
		step_euler(self, ode, time, h, state);
	else if (method == ODE_RK2)
		step_rk2(self, ode, time, h, state);
	else if (method == ODE_RK4)
		step_rk4(self, ode, time, h, state);
	else if (method == ODE_RK45)
		step_rk45(self, ode, time, h, state);
	else
		good = step_implicit_euler(self, ode, time, h, state);
	/* The sum is made in the stage, because a non-finite state must not replace a good one. */
	dense_copy(self->stage, state, ode->size);
	dense_mul_add(self->stage, self->k[0], 1, ode->size);
	if (!good || !solver_finite(self->stage, ode->size))
		return false;
	repair_state(ode, self->stage);
	dense_copy(state, self->stage, ode->size);
	return true;
}

/* ---- step doubling ------------------------------------------------------------------------- */

static double error_order(enum ode_method method)
{
	ASSERT((uint32_t)method < ODE_METHODS);
	return method == ODE_RK4 || method == ODE_RK45 ? 5 : method == ODE_RK2 ? 3 : 2;
}

/* Two half steps in `state`, one whole step in self->coarse; or one step of a pair. Returns their
 * scaled distance, SCALAR_MAX if not finite. */
static double step_twice(struct ode_work *self, const struct ode *ode, enum ode_method method,
			 double time, double h, double *state)
{
	double worst = 0;
	if (method == ODE_RK45) {
		if (!ode_step(self, ode, method, time, h, state))
			return SCALAR_MAX;
		for (uint32_t i = 0; i < ode->size; i++) {
			double off = scalar_abs(self->k[1][i]);
			worst = scalar_max(ode->scale != NULL ? off / ode->scale[i] : off, worst);
		}
		return worst;
	}
	dense_copy(self->coarse, state, ode->size);
	if (!ode_step(self, ode, method, time, h, self->coarse) ||
	    !ode_step(self, ode, method, time, 0.5 * h, state) ||
	    !ode_step(self, ode, method, time + 0.5 * h, 0.5 * h, state))
		return SCALAR_MAX;
	for (uint32_t i = 0; i < ode->size; i++) {
		double off = scalar_abs(state[i] - self->coarse[i]);
		worst = scalar_max(ode->scale != NULL ? off / ode->scale[i] : off, worst);
	}
	return worst;
}

bool ode_limits_valid(const struct ode_limits *limits)
{
	return limits->tolerance > 0 && limits->h_min > 0 && limits->h_min <= limits->h_max &&
	       limits->h_max <= SCALAR_MAX && limits->growth > 1;
}

struct ode_trial ode_try(struct ode_work *self, const struct ode *ode, enum ode_method method,
			 double time, double h, const struct ode_limits *limits, double *state)
{
	struct ode_trial trial = { .error = SCALAR_MAX, .h_ideal = SCALAR_MAX };
	if (!ode_fits(self, ode, method) || !ode_limits_valid(limits))
		return trial;
	dense_copy(self->saved, state, ode->size);
	trial.error = step_twice(self, ode, method, time, h, state);
	bool finite = trial.error < SCALAR_MAX;
	if (trial.error > 0 && finite)
		trial.h_ideal =
			h * trig_pow(limits->tolerance / trial.error, 1 / error_order(method));
	trial.accepted = finite && (trial.error <= limits->tolerance || h <= limits->h_min);
	if (trial.accepted) {
		double grown = scalar_min(MARGIN * trial.h_ideal, limits->growth * h);
		trial.h_next = scalar_max(grown, h);
	} else {
		dense_copy(state, self->saved, ode->size);
		trial.h_next = finite ? trial.h_ideal : 0.1 * h;
	}
	if (trial.error > limits->tolerance)
		trial.h_next = scalar_min(trial.h_next, h);
	trial.h_next = scalar_clamp(trial.h_next, limits->h_min, limits->h_max);
	ASSERT(trial.error >= 0);
	ASSERT(!trial.accepted || trial.error < SCALAR_MAX);
	return trial;
}

struct ode_run ode_run(struct ode_work *self, const struct ode *ode, enum ode_method method,
		       double from, double to, double h, const struct ode_limits *limits,
		       double *state)
{
	struct ode_run run = { .h = scalar_clamp(h, limits->h_min, limits->h_max), .time = from };
	uint32_t steps_max = limits->steps_max != 0 ? limits->steps_max : STEPS_MAX;
	double time = from;
	run.failed = !ode_fits(self, ode, method) || !ode_limits_valid(limits) || !(h > 0) ||
		     !solver_finite(&from, 1) || scalar_is_nan(to);
	while (time < to && !run.failed && !run.stopped) {
		/* The last step ends at `to`; a remainder of 1e-9 of a step is not left for another. */
		bool last = time + run.h * (1 + 1e-9) >= to;
		double step = last ? to - time : run.h;
		struct ode_limits here = *limits;
		here.h_min = scalar_min(limits->h_min, step);
		here.h_max = scalar_max(limits->h_max, step);
		bool least = step <= limits->h_min;
		/* A step too small to change the time would be repeated for ever. */
		run.failed = !last && !(time + step > time);
		if (run.failed)
			break;
		struct ode_trial trial = ode_try(self, ode, method, time, step, &here, state);
		run.stopped = run.accepted + run.rejected + 1 >= steps_max;
		if (!trial.accepted) {
			run.rejected++;
			run.failed = least;
			run.h = scalar_max(trial.h_next, limits->h_min);
			continue;
		}
		run.accepted++;
		run.forced += trial.error > limits->tolerance;
		run.error = scalar_max(trial.error, run.error);
		time = run.time = last ? to : time + step;
		if (!last || trial.h_next > run.h)
			run.h = scalar_clamp(trial.h_next, limits->h_min, limits->h_max);
	}
	run.stopped = run.stopped && !run.failed && time < to;
	ASSERT(run.accepted + run.rejected <= steps_max);
	ASSERT(run.forced <= run.accepted);
	return run;
}

/* ---- equal sub-steps ----------------------------------------------------------------------- */

/* The frame in `count` sub-steps; stops at the first over tolerance unless `force`. */
static double try_frame(struct ode_work *self, const struct ode *ode, enum ode_method method,
			double time, double dt, double tolerance, uint32_t count, bool force,
			double *state)
{
	ASSERT(count >= 1);
	double worst = 0, h = dt / count;
	for (uint32_t i = 0; i < count; i++) {
		double error = step_twice(self, ode, method, time + dt * i / count, h, state);
		worst = scalar_max(error, worst);
		if (worst == SCALAR_MAX || (worst > tolerance && !force))
			break;
	}
	return worst;
}

struct ode_frame ode_frame(struct ode_work *self, const struct ode *ode, enum ode_method method,
			   double time, double dt, double tolerance, struct ode_substeps *substeps,
			   double *state)
{
	struct ode_frame frame = { .count = substeps->count };
	frame.failed = !ode_fits(self, ode, method) || !(tolerance > 0) || substeps->count < 1 ||
		       substeps->count > substeps->count_max;
	if (frame.failed)
		return frame;
	dense_copy(self->saved, state, ode->size);
	for (;;) {
		bool force = substeps->count >= substeps->count_max;
		frame.count = substeps->count;
		frame.error = try_frame(self, ode, method, time, dt, tolerance, frame.count, force,
					state);
		frame.failed = force && frame.error == SCALAR_MAX;
		frame.forced = force && frame.error > tolerance && !frame.failed;
		if (frame.error <= tolerance || frame.forced)
			break;
		dense_copy(state, self->saved, ode->size);
		substeps->calm = 0;
		if (frame.failed)
			return frame;
		frame.rejected++;
		substeps->count =
			(uint32_t)MIN_OF(2 * (uint64_t)substeps->count, substeps->count_max);
	}
	ASSERT(frame.count >= 1 && frame.count <= substeps->count_max);
	if (frame.forced)
		return frame;
	if (++substeps->calm >= substeps->calm_limit) {
		substeps->count = MAX_OF(substeps->count / 2, 1);
		substeps->calm = 0;
	}
	return frame;
}
