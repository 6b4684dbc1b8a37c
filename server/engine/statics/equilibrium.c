/* equilibrium.c: see equilibrium.h. One sparse complementarity problem over bodies (lcp_sparse.h):
 * rows J, b = J (M⁻¹ f + u) + shift, bounds of λ, and when bodies settle a compliance.
 *
 * Settling is a sequence of such problems, because the springs' u has no term of mass: u grows by
 * what is left of M⁻¹ (f + Jᵀ λ) after each, as in the method of multipliers, so that the forces
 * balance in the end to rounding. The springs are stiff (SOFTNESS), so a few problems suffice
 * unless the settlement is large in units of springs, as in tall towers. The shift of friction is
 * brought up to date at the same time.
 */
#include "server/engine/statics/equilibrium.h"

#include <string.h>

#include "server/base/heap.h"
#include "server/engine/math/scalar.h"
#include "server/engine/math/trig.h"

/* 1, of a row's diagonal. A larger one needs more problems in tall towers; a smaller one leaves
 * fewer digits of the forces where they are not unique. */
#define SOFTNESS 1e-6
/* Settling ends if so many rounds leave more than this part of what was left: the bodies fall. */
#define STALLED 0.9
#define EXTRAPOLATION_MAX 1e4
enum { STALL_ROUNDS = 5 };
enum { SETTLE_ROUNDS = 80, SLIP_ROUNDS = 60, ROUNDS_MAX = 60 };
/* 1: of the scale. Balanced, and consistent with the slip. */
#define BALANCED 1e-11
#define SLIP_BALANCED 1e-9
/* 1, of a row's J: what is less is rounding. */
#define LOCKED 1e-12
/* 1. A point that presses is closed by at least so much of what the law of its spring asks for.
 * Pressure that nothing builds up has 0; a smaller value ends sooner where slip is large. */
#define CLOSED 1e-3
/* 1: of that closing; and of the largest force, below which a point does not press. */
#define WITNESS 1e-6
#define TOLERANCE 1e-12
/* Of the solver. Where rows are so dependent that a factor loses more, λ is found by steps that
 * each may change it by as much as soft springs allow; the steps end at the same λ (proximal
 * points). Each step's springs are HARDER times as soft as the ones before, down to HARDEST of
 * SOFTNESS: with equal ones pressure that has to grow far, between two cards that lean on each
 * other, would grow by the same little amount in each of thousands of steps. */
#define GOOD 1e-11
#define HARDER 0.1
#define HARDEST 1e-6
enum { PROXIMAL_ROUNDS = 12 };
/* Factors of one call: after so many the result is what there is, and its errors tell. */
enum { FACTORS_MAX = 300, SLIP_FACTORS_MAX = 160 };
/* Falls of smaller problems start from nothing, which costs little and leaves bodies that stay at 0. */
enum { WARM_ROWS = 2000 };
/* Rounds of the active set, of which walls need up to seven. */
enum { ACTIVE_ROUNDS = 8 };
/* Settling pauses after so many factors, or at once where the first round leaves more than this part
 * of the loads: bodies that fall are told by their fall. */
enum { PAUSE_FACTORS = 40 };
/* Of other forces that do the same: rounds, and what is left of a body's acceleration if they ended well. */
enum { PROJECT_ROUNDS = 24 };
#define PROJECTED 1e-9
/* 1. Where rounds leave more than this part of what was left, springs become HARDER times as soft. */
#define SLOW 0.1
#define PAUSE_LEFT 0.05

/* ---- pyramids -------------------------------------------------------------------------------- */

uint32_t statics_edge_count(const struct statics_problem *problem,
			    const struct statics_point *point)
{
	return point->friction > 0 ? problem->sides : 1;
}

/* Direction k of friction, unit. */
static vec3 slip_axis(const struct statics_problem *problem, vec3 normal, uint32_t k)
{
	ASSERT(k < problem->sides);
	if (problem->planar)
		return k == 0 ? vec3_make(-normal.y, normal.x, 0)
			      : vec3_make(normal.y, -normal.x, 0);
	vec3 t, s;
	double sine, cosine;
	row_frame(normal, &t, &s);
	/* Opposite directions are exactly opposite, so that mirrored problems have mirrored edges. */
	uint32_t half = problem->sides / 2;
	trig_sincos(PI * (k % half) / half, &sine, &cosine);
	vec3 axis = vec3_mul_add(vec3_scale(t, cosine), s, sine);
	return k < half ? axis : vec3_negate(axis);
}

vec3 statics_edge(const struct statics_problem *problem, const struct statics_point *point,
		  uint32_t k)
{
	ASSERT(k < statics_edge_count(problem, point));
	if (!(point->friction > 0))
		return point->normal;
	return vec3_mul_add(point->normal, slip_axis(problem, point->normal, k), point->friction);
}

/* ---- making ---------------------------------------------------------------------------------- */

/* What carries a body; NULL: it moves by itself. */
static const struct statics_carried *carried_at(const struct equilibrium *self, uint32_t body)
{
	ASSERT(body < self->problem->body_count);
	uint32_t index = self->carried[body];
	return index != 0 ? &self->problem->carried[index - 1] : NULL;
}

/* Adds to the entry of a body in the row that begins at `first`, or appends one: bodies may share points. */
static void put_entry(struct equilibrium *self, uint32_t first, uint32_t *at, uint32_t body,
		      struct spatial on)
{
	uint32_t entry = first;
	while (entry < *at && self->body[entry] != body)
		entry++;
	double *to = self->jacobian[entry];
	if (entry == *at) {
		memset(to, 0, sizeof self->jacobian[entry]);
		self->body[(*at)++] = body;
	}
	for (uint32_t k = 0; k < 3; k++) {
		to[k] += vec3_get(on.linear, k);
		to[3 + k] += vec3_get(on.angular, k);
	}
}

/* The part of a row on a body, or on what carries it. */
static void put_part(struct equilibrium *self, uint32_t first, uint32_t *at, uint32_t body,
		     struct spatial on)
{
	const struct statics_carried *of = carried_at(self, body);
	if (of == NULL)
		put_entry(self, first, at, body, on);
	for (uint32_t k = 0; of != NULL && k < of->frame.count; k++)
		put_entry(self, first, at, of->points[k],
			  carrier_part(&of->frame, of->rotation, on, k));
}

void equilibrium_push(const struct equilibrium *self, uint32_t body, struct spatial push,
		      struct spatial *loads)
{
	const struct statics_carried *of = carried_at(self, body);
	if (of == NULL)
		loads[body] = spatial_mul_add(loads[body], push, 1);
	for (uint32_t k = 0; of != NULL && k < of->frame.count; k++)
		loads[of->points[k]] = spatial_mul_add(
			loads[of->points[k]], carrier_part(&of->frame, of->rotation, push, k), 1);
}

/* Sets the motions of carried bodies from those of their points. */
static void follow_points(const struct equilibrium *self, struct spatial *of)
{
	for (uint32_t i = 0; i < self->problem->carried_count; i++) {
		const struct statics_carried *carried = &self->problem->carried[i];
		vec3 points[CARRIER_POINTS];
		for (uint32_t k = 0; k < carried->frame.count; k++)
			points[k] = of[carried->points[k]].linear;
		of[carried->body] = carrier_speed(&carried->frame, carried->rotation, points);
	}
}

/* J M⁻¹ Jᵀ of one row. */
static double diagonal_of(const struct equilibrium *self, uint32_t row)
{
	double sum = 0;
	ASSERT(row < self->rows);
	for (uint32_t e = self->start[row]; e < self->start[row + 1]; e++)
		for (uint32_t i = 0; i < LCP_BODY; i++)
			for (uint32_t k = 0; k < LCP_BODY; k++)
				sum += self->jacobian[e][i] * self->mass_inv[self->body[e]][i][k] *
				       self->jacobian[e][k];
	return sum;
}

/* What J M⁻¹ Jᵀ of a row would at most be, in whatever directions its bodies move easily. */
static double diagonal_at_most(const struct equilibrium *self, uint32_t row)
{
	double sum = 0;
	ASSERT(row < self->rows);
	for (uint32_t e = self->start[row]; e < self->start[row + 1]; e++)
		for (uint32_t i = 0; i < LCP_BODY; i++) {
			const double(*inv)[LCP_BODY] =
				(const double(*)[LCP_BODY])self->mass_inv[self->body[e]];
			uint32_t k = i < 3 ? 0 : 3;
			double trace = inv[k][k] + inv[k + 1][k + 1] + inv[k + 2][k + 2];
			sum += scalar_square(self->jacobian[e][i]) * trace;
		}
	return sum;
}

/* A row along axes that are locked, as of a hinge's tilt in the plane, moves its bodies by its
 * rounding alone, which would hold them with forces of 1e16 N. It exerts nothing. */
static void drop_locked_row(struct equilibrium *self, uint32_t row)
{
	if (diagonal_of(self, row) > LOCKED * LOCKED * diagonal_at_most(self, row))
		return;
	for (uint32_t e = self->start[row]; e < self->start[row + 1]; e++)
		memset(self->jacobian[e], 0, sizeof self->jacobian[e]);
	self->lower[row] = self->upper[row] = 0;
}

static void put_point(struct equilibrium *self, uint32_t index, uint32_t *row, uint32_t *at)
{
	const struct statics_point *point = &self->problem->points[index];
	uint32_t edges = statics_edge_count(self->problem, point);
	ASSERT(point->a != ROW_NO_BODY || point->b != ROW_NO_BODY);
	self->first[index] = *row;
	for (uint32_t k = 0; k < edges; k++, ++*row) {
		vec3 edge = statics_edge(self->problem, point, k);
		vec3 about_a = vec3_cross(point->arm_a, edge);
		vec3 about_b = vec3_cross(point->arm_b, edge);
		self->start[*row] = *at;
		if (point->a != ROW_NO_BODY)
			put_part(self, self->start[*row], at, point->a,
				 (struct spatial){ vec3_negate(edge), vec3_negate(about_a) });
		if (point->b != ROW_NO_BODY)
			put_part(self, self->start[*row], at, point->b,
				 (struct spatial){ edge, about_b });
		self->lower[*row] = 0;
		self->upper[*row] = __builtin_inf();
	}
	self->frictional |= edges > 1;
}

/* The springs of a point are equally stiff along all edges. */
static void soften(struct equilibrium *self)
{
	for (uint32_t p = 0; p < self->problem->point_count; p++) {
		double most = 0;
		for (uint32_t i = self->first[p]; i < self->first[p + 1]; i++)
			most = scalar_max(most, diagonal_of(self, i));
		for (uint32_t i = self->first[p]; i < self->first[p + 1]; i++)
			self->softness[i] = SOFTNESS * most;
	}
	for (uint32_t i = self->first[self->problem->point_count]; i < self->rows; i++)
		self->softness[i] = SOFTNESS * diagonal_of(self, i);
}

static void fill_rows(struct equilibrium *self)
{
	const struct statics_problem *problem = self->problem;
	uint32_t row = 0, at = 0;
	for (uint32_t i = 0; i < problem->body_count; i++)
		memcpy(self->mass_inv[i], problem->bodies[i].mass_inv, sizeof self->mass_inv[i]);
	for (uint32_t i = 0; i < problem->point_count; i++)
		put_point(self, i, &row, &at);
	self->first[problem->point_count] = row;
	for (uint32_t i = 0; i < problem->row_count; i++, row++) {
		const struct statics_row *from = &problem->rows[i];
		self->start[row] = at;
		for (uint32_t k = 0; k < from->count; k++)
			put_part(self, self->start[row], &at, from->parts[k].slot,
				 from->parts[k].on);
		self->lower[row] = from->lower;
		self->upper[row] = from->upper;
		self->start[row + 1] = at;
		drop_locked_row(self, row);
	}
	self->start[row] = at;
	ASSERT(row == self->rows);
	soften(self);
}

static struct lcp_sparse_problem lcp_of(const struct equilibrium *self)
{
	return (struct lcp_sparse_problem){
		.rows = self->rows,
		.bodies = self->problem->body_count,
		.start = self->start,
		.body = self->body,
		.jacobian = (const double(*)[LCP_BODY])self->jacobian,
		.mass_inv = (const double(*)[LCP_BODY][LCP_BODY])self->mass_inv,
		.b = self->b,
		.lower = self->lower,
		.upper = self->upper,
	};
}

/* The workspace, with room for the factor. */
static enum status make_solver(struct equilibrium *self)
{
	struct lcp_sparse_problem problem = lcp_of(self);
	struct lcp_sparse_size size = lcp_sparse_size_of(&problem);
	for (uint32_t round = 0; round < 2; round++) {
		size_t blocks;
		self->solver_memory = heap_alloc_aligned(lcp_sparse_bytes(size));
		if (self->solver_memory == NULL)
			return STATUS_NO_MEMORY;
		lcp_sparse_init(&self->solver, self->solver_memory, size);
		if (lcp_sparse_order(&self->solver, &problem, &blocks) != SOLVER_LIMIT)
			return STATUS_OK;
		heap_free(self->solver_memory);
		self->solver_memory = NULL;
		size.blocks = blocks;
	}
	return STATUS_NO_MEMORY;
}

static enum status allocate_rows(struct equilibrium *self, uint32_t entries)
{
	size_t rows = self->rows + 1u, points = self->problem->point_count + 1u;
	size_t bodies = self->problem->body_count + 1u;
	self->carried = heap_alloc_zero(bodies * sizeof *self->carried);
	self->first = heap_alloc(points * sizeof *self->first);
	self->start = heap_alloc(rows * sizeof *self->start);
	self->body = heap_alloc((entries + 1u) * sizeof *self->body);
	self->jacobian = heap_alloc((entries + 1u) * sizeof *self->jacobian);
	self->mass_inv = heap_alloc(bodies * sizeof *self->mass_inv);
	self->b = heap_alloc_zero((7 * rows + 2 * points) * sizeof *self->b);
	self->acceleration = heap_alloc_zero(5 * bodies * sizeof *self->acceleration);
	self->known = heap_alloc(points + self->problem->row_count);
	if (self->carried == NULL || self->first == NULL || self->start == NULL ||
	    self->body == NULL || self->jacobian == NULL || self->mass_inv == NULL ||
	    self->b == NULL || self->acceleration == NULL || self->known == NULL)
		return STATUS_NO_MEMORY;
	memset(self->known, FORCE_NOT_DETERMINED, points + self->problem->row_count);
	self->lower = self->b + rows;
	self->upper = self->lower + rows;
	self->compliance = self->upper + rows;
	self->softness = self->compliance + rows;
	self->lambda = self->softness + rows;
	self->kept = self->lambda + rows;
	self->shift = self->kept + rows;
	self->kept_shift = self->shift + points;
	self->free = self->acceleration + bodies;
	self->settlement = self->free + bodies;
	self->last_settlement = self->settlement + bodies;
	self->last_change = self->last_settlement + bodies;
	return STATUS_OK;
}

enum status equilibrium_init(struct equilibrium *self, const struct statics_problem *problem)
{
	uint64_t rows = problem->row_count, parts = 0;
	uint32_t points = problem->carried_count > 0 ? CARRIER_POINTS : 1; /* of a part, at most */
	*self = (struct equilibrium){ .problem = problem };
	ASSERT(problem->sides >= 2 && problem->sides % 2 == 0);
	for (uint32_t i = 0; i < problem->point_count; i++)
		rows += statics_edge_count(problem, &problem->points[i]);
	if (rows > STATICS_ROWS_MAX)
		return STATUS_LIMIT;
	self->rows = (uint32_t)rows;
	parts = 2 * (rows - problem->row_count);
	for (uint32_t i = 0; i < problem->row_count; i++)
		parts += problem->rows[i].count;
	enum status status = allocate_rows(self, (uint32_t)parts * points);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < problem->carried_count; i++) {
		ASSERT(self->carried[problem->carried[i].body] == 0);
		self->carried[problem->carried[i].body] = i + 1;
	}
	fill_rows(self);
	return STATUS_OK;
}

enum status equilibrium_ready(struct equilibrium *self)
{
	ASSERT(self->problem != NULL);
	return self->solver_memory == NULL ? make_solver(self) : STATUS_OK;
}

void equilibrium_release(struct equilibrium *self)
{
	heap_free(self->carried);
	heap_free(self->first);
	heap_free(self->start);
	heap_free(self->body);
	heap_free(self->jacobian);
	heap_free(self->mass_inv);
	heap_free(self->b);
	heap_free(self->acceleration);
	heap_free(self->known);
	heap_free(self->solver_memory);
	*self = (struct equilibrium){ 0 };
}

/* ---- one problem ----------------------------------------------------------------------------- */

static struct spatial respond_to(const double mass_inv[6][6], struct spatial force)
{
	double f[6] = { force.linear.x,	 force.linear.y,  force.linear.z,
			force.angular.x, force.angular.y, force.angular.z },
	       a[6];
	for (uint32_t i = 0; i < 6; i++) {
		a[i] = 0;
		for (uint32_t k = 0; k < 6; k++)
			a[i] += mass_inv[i][k] * f[k];
	}
	return (struct spatial){ vec3_make(a[0], a[1], a[2]), vec3_make(a[3], a[4], a[5]) };
}

static double row_speed(const struct equilibrium *self, uint32_t row,
			const struct spatial *velocities)
{
	double sum = 0;
	for (uint32_t e = self->start[row]; e < self->start[row + 1]; e++) {
		const double *j = self->jacobian[e];
		const struct spatial *v = &velocities[self->body[e]];
		sum += j[0] * v->linear.x + j[1] * v->linear.y + j[2] * v->linear.z +
		       j[3] * v->angular.x + j[4] * v->angular.y + j[5] * v->angular.z;
	}
	return sum;
}

static double size_of(const struct equilibrium *self, uint32_t body, const struct spatial *a)
{
	return vec3_length(a->linear) +
	       self->problem->bodies[body].gyration * vec3_length(a->angular);
}

static double largest_of(const struct equilibrium *self, const struct spatial *of)
{
	double most = 0;
	for (uint32_t i = 0; i < self->problem->body_count; i++)
		most = scalar_max(most, size_of(self, i, &of[i]));
	return most;
}

void equilibrium_load(struct equilibrium *self, const struct spatial *loads)
{
	for (uint32_t i = 0; i < self->problem->body_count; i++)
		self->free[i] = respond_to(self->mass_inv[i], loads[i]);
	follow_points(self, self->free);
	self->scale = largest_of(self, self->free);
}

/* a = M⁻¹ f + M⁻¹ Jᵀ λ, summed anew. */
static void find_accelerations(struct equilibrium *self)
{
	uint32_t bodies = self->problem->body_count;
	struct spatial *a = self->acceleration;
	for (uint32_t i = 0; i < bodies; i++)
		a[i] = spatial_zero();
	for (uint32_t row = 0; row < self->rows; row++)
		for (uint32_t e = self->start[row]; e < self->start[row + 1]; e++) {
			const double *j = self->jacobian[e];
			struct spatial on = { vec3_make(j[0], j[1], j[2]),
					      vec3_make(j[3], j[4], j[5]) };
			a[self->body[e]] = spatial_mul_add(a[self->body[e]], on, self->lambda[row]);
		}
	for (uint32_t i = 0; i < bodies; i++)
		a[i] = spatial_mul_add(respond_to(self->mass_inv[i], a[i]), self->free[i], 1);
	follow_points(self, a);
}

/* b without the springs' own terms; `settling`: from the settlement. */
static void set_b(struct equilibrium *self, bool settling)
{
	const struct statics_problem *problem = self->problem;
	for (uint32_t p = 0; p < problem->point_count; p++)
		for (uint32_t i = self->first[p]; i < self->first[p + 1]; i++)
			self->b[i] = self->shift[p];
	for (uint32_t i = self->first[problem->point_count]; i < self->rows; i++)
		self->b[i] = 0;
	for (uint32_t i = 0; i < self->rows; i++) {
		self->b[i] += row_speed(self, i, self->free);
		if (settling)
			self->b[i] += row_speed(self, i, self->settlement);
	}
}

static struct solver_result solve_once(struct equilibrium *self, bool soft, bool warm)
{
	struct lcp_sparse_problem lcp = lcp_of(self);
	struct solver_options options = solver_options_default();
	lcp.compliance = soft ? self->compliance : NULL;
	options.tolerance = TOLERANCE;
	options.rounds_max = ROUNDS_MAX;
	options.active_rounds = ACTIVE_ROUNDS;
	options.warm = warm;
	struct solver_result result =
		lcp_sparse_solve(&self->solver, &lcp, &options, self->lambda, NULL);
	for (uint32_t i = 0; i < self->rows; i++)
		self->lambda[i] = scalar_clamp(self->lambda[i], self->lower[i], self->upper[i]);
	return result;
}

static void set_compliance(struct equilibrium *self, double part)
{
	for (uint32_t i = 0; i < self->rows; i++)
		self->compliance[i] = part * self->softness[i];
}

/* Solves in steps from λ = 0, without springs in the end. A step that needs no factor changes
 * nothing any more. */
static uint32_t solve_by_steps(struct equilibrium *self)
{
	uint32_t rounds = 0;
	double part = 1;
	for (uint32_t i = 0; i < self->rows; i++)
		self->lambda[i] = 0;
	for (uint32_t step = 0; step < PROXIMAL_ROUNDS && rounds < FACTORS_MAX; step++) {
		set_b(self, false);
		set_compliance(self, part);
		for (uint32_t i = 0; i < self->rows; i++)
			self->b[i] -= self->compliance[i] * self->lambda[i];
		uint32_t needed = solve_once(self, true, step > 0).rounds;
		if (step > 0 && needed == 0)
			break;
		rounds += needed;
		part = scalar_max(HARDEST, part * HARDER);
	}
	return rounds;
}

/* What a solve leaves to do if its factor loses too many digits. */
enum { AS_IT_IS, BY_STEPS };

/* Solves with the present shift; `settling`: from the settlement, with springs. Sets self->good. */
static uint32_t solve_forces(struct equilibrium *self, bool settling, bool warm, int otherwise)
{
	set_b(self, settling);
	set_compliance(self, 1);
	struct solver_result result = solve_once(self, settling, warm);
	uint32_t rounds = result.rounds;
	self->good = result.residual <= GOOD;
	if (!self->good && otherwise == BY_STEPS) {
		rounds += solve_by_steps(self);
		self->fallbacks++;
	}
	find_accelerations(self);
	return rounds;
}

/* The conditions of the solution, without springs. */
static void measure_solution(const struct equilibrium *self, struct statics_outcome *out)
{
	double gap = 0, worst = 0, loads = 0;
	ASSERT(self->first[self->problem->point_count] <= self->rows);
	for (uint32_t p = 0; p < self->problem->point_count; p++)
		for (uint32_t i = self->first[p]; i < self->first[p + 1]; i++) {
			double w = row_speed(self, i, self->acceleration) + self->shift[p];
			worst = scalar_max(worst, -w);
			gap += self->lambda[i] * w;
		}
	for (uint32_t i = self->first[self->problem->point_count]; i < self->rows; i++) {
		double w = row_speed(self, i, self->acceleration);
		double below = self->lambda[i] - self->lower[i];
		double above = self->upper[i] - self->lambda[i];
		if (scalar_is_finite(below) && w > 0)
			gap += below * w;
		else if (scalar_is_finite(above) && w < 0)
			gap -= above * w;
		else
			worst = scalar_max(worst, scalar_abs(w));
	}
	/* fᵀM⁻¹f = fᵀ free; the loads themselves are not kept, so M⁻¹ is inverted by its diagonal. */
	for (uint32_t i = 0; i < self->problem->body_count; i++)
		for (uint32_t k = 0; k < 3; k++) {
			double inv = self->problem->bodies[i].mass_inv[k][k];
			double a = vec3_get(self->free[i].linear, k);
			loads += inv > 0 ? a * a / inv : 0;
		}
	out->residual = self->scale > 0 ? largest_of(self, self->acceleration) / self->scale : 0;
	out->kkt = self->scale > 0 ? worst / self->scale : 0;
	out->gap = loads > 0 ? scalar_abs(gap) / loads : 0;
}

/* ---- slip ------------------------------------------------------------------------------------ */

static vec3 point_speed(const struct equilibrium *self, uint32_t index, const struct spatial *of)
{
	const struct statics_point *point = &self->problem->points[index];
	vec3 speed = vec3_zero();
	ASSERT(index < self->problem->point_count);
	ASSERT(index < self->problem->point_count);
	if (point->b != ROW_NO_BODY)
		speed = vec3_add(of[point->b].linear,
				 vec3_cross(of[point->b].angular, point->arm_b));
	if (point->a != ROW_NO_BODY)
		speed = vec3_sub(speed, vec3_add(of[point->a].linear,
						 vec3_cross(of[point->a].angular, point->arm_a)));
	return speed;
}

/* Sets the shifts of friction to those of motions `of`; returns the largest change. */
static double update_shift(struct equilibrium *self, const struct spatial *of)
{
	double most = 0;
	for (uint32_t p = 0; p < self->problem->point_count; p++) {
		const struct statics_point *point = &self->problem->points[p];
		uint32_t edges = statics_edge_count(self->problem, point);
		vec3 speed = point_speed(self, p, of);
		double shift = 0;
		for (uint32_t k = 0; k < edges && edges > 1; k++)
			shift = scalar_max(
				shift, -point->friction *
					       vec3_dot(slip_axis(self->problem, point->normal, k),
							speed));
		most = scalar_max(most, scalar_abs(shift - self->shift[p]));
		self->shift[p] = shift;
	}
	return most;
}

static void reset_shift(struct equilibrium *self)
{
	for (uint32_t p = 0; p < self->problem->point_count; p++)
		self->shift[p] = 0;
}

/* `warm`: from the present λ. */
static struct statics_outcome fall_from(struct equilibrium *self, const struct spatial *loads,
					bool coulomb, bool warm)
{
	struct statics_outcome out = { 0 };
	ASSERT(loads != NULL && self->solver_memory != NULL);
	reset_shift(self);
	equilibrium_load(self, loads);
	out.rounds = solve_forces(self, false, warm, BY_STEPS);
	measure_solution(self, &out);
	out.coulomb = !self->frictional || out.residual <= SLIP_BALANCED;
	return coulomb ? equilibrium_slip(self, out) : out;
}

struct statics_outcome equilibrium_fall(struct equilibrium *self, const struct spatial *loads,
					bool coulomb)
{
	return fall_from(self, loads, coulomb, false);
}

/* λ and the shifts of friction, in place of those kept. */
static void exchange(double *a, double *b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		double own = a[i];
		a[i] = b[i];
		b[i] = own;
	}
}

void equilibrium_exchange(struct equilibrium *self)
{
	exchange(self->lambda, self->kept, self->rows);
	exchange(self->shift, self->kept_shift, self->problem->point_count);
	find_accelerations(self);
}

static void keep(struct equilibrium *self)
{
	memcpy(self->kept, self->lambda, self->rows * sizeof *self->kept);
	memcpy(self->kept_shift, self->shift,
	       self->problem->point_count * sizeof *self->kept_shift);
}

struct statics_outcome equilibrium_slip(struct equilibrium *self, struct statics_outcome fall)
{
	struct statics_outcome out = fall;
	double before = __builtin_inf();
	ASSERT(self->solver_memory != NULL);
	if (out.coulomb)
		return out;
	keep(self);
	self->good = true; /* of the fall: it may have been found by steps */
	for (uint32_t round = 0; round < SLIP_ROUNDS && out.rounds < SLIP_FACTORS_MAX; round++) {
		double change = update_shift(self, self->acceleration);
		out.coulomb = change <= SLIP_BALANCED * self->scale;
		/* Accelerations that are not exact, or shifts that alternate, lead nowhere. */
		bool stalls = round % STALL_ROUNDS == 0 && change > STALLED * before;
		if (out.coulomb || stalls || !self->good)
			break;
		before = round % STALL_ROUNDS == 0 ? change : before;
		out.rounds += solve_forces(self, false, true, AS_IT_IS);
	}
	if (!out.coulomb)
		equilibrium_exchange(self);
	measure_solution(self, &out);
	return out;
}

struct statics_outcome equilibrium_fall_on(struct equilibrium *self, const struct spatial *loads)
{
	keep(self);
	return fall_from(self, loads, false, self->rows > WARM_ROWS);
}

/* ---- settling -------------------------------------------------------------------------------- */

/* How far a point is from the signs: it presses although the settlement closes it by less than
 * CLOSED of what its spring needs, or it is rubbed along its slip. 0: it keeps them. */
static double violation_of_signs(const struct equilibrium *self, uint32_t index, double force)
{
	const struct statics_point *point = &self->problem->points[index];
	struct statics_force f = equilibrium_force(self, index);
	double rubs = vec3_length(f.friction);
	if (!(f.normal > WITNESS * force))
		return 0;
	vec3 speed = point_speed(self, index, self->settlement);
	double needed = CLOSED * self->softness[self->first[index]] * f.normal;
	if (!(needed > 0))
		return 1;
	double worst = scalar_max(0, 1 + vec3_dot(speed, point->normal) / needed);
	if (rubs > WITNESS * force)
		worst = scalar_max(worst, vec3_dot(f.friction, speed) / (rubs * needed));
	return worst;
}

static double check_witness(const struct equilibrium *self)
{
	double worst = 0, force = 0;
	for (uint32_t p = 0; p < self->problem->point_count; p++)
		force = scalar_max(force, equilibrium_force(self, p).normal);
	for (uint32_t p = 0; p < self->problem->point_count; p++)
		worst = scalar_max(worst, violation_of_signs(self, p, force));
	return worst;
}

/* Extrapolates a settlement that grows by a nearly constant factor a round (Anderson's method of
 * depth 1), as that of a steep wedge does. `first`: there is no settlement before the present one. */
static void extrapolate_settlement(struct equilibrium *self, bool first)
{
	double across = 0, square = 0;
	for (uint32_t i = 0; i < self->problem->body_count && !first; i++) {
		double arm = scalar_square(self->problem->bodies[i].gyration);
		struct spatial f = self->acceleration[i];
		struct spatial d = spatial_mul_add(f, self->last_change[i], -1);
		across += vec3_dot(f.linear, d.linear) + arm * vec3_dot(f.angular, d.angular);
		square += vec3_dot(d.linear, d.linear) + arm * vec3_dot(d.angular, d.angular);
	}
	double more = square > 0 ? scalar_clamp(-across / square, 0, EXTRAPOLATION_MAX) : 0;
	for (uint32_t i = 0; i < self->problem->body_count; i++) {
		struct spatial now = self->settlement[i];
		struct spatial grown = spatial_mul_add(now, self->last_settlement[i], -1);
		self->last_settlement[i] = now;
		self->last_change[i] = self->acceleration[i];
		self->settlement[i] = spatial_mul_add(now, grown, more);
	}
}

/* One round: forces of the springs, and what the settlement grows by. True: it has ended. */
static bool settle_round(struct equilibrium *self, struct statics_settling *at)
{
	struct statics_outcome *out = &at->out;
	uint32_t bodies = self->problem->body_count, round = at->round++;
	out->rounds += solve_forces(self, true, round > 0, AS_IT_IS);
	for (uint32_t i = 0; i < bodies; i++)
		self->settlement[i] =
			spatial_mul_add(self->settlement[i], self->acceleration[i], 1);
	at->left = largest_of(self, self->acceleration);
	out->witness = check_witness(self);
	out->found = at->left <= BALANCED * self->scale && out->witness <= WITNESS;
	if (out->found || (round % STALL_ROUNDS == 0 && at->left > STALLED * at->before))
		return true;
	at->before = round % STALL_ROUNDS == 0 ? at->left : at->before;
	/* While the signs hold the shift stays, because the problem is convex then. */
	at->fresh |= out->witness <= WITNESS;
	if (self->frictional && out->witness > WITNESS) {
		extrapolate_settlement(self, at->fresh);
		update_shift(self, self->settlement);
		at->fresh = false;
	}
	return at->round == SETTLE_ROUNDS || out->rounds >= FACTORS_MAX;
}

struct statics_settling equilibrium_settle_begin(struct equilibrium *self,
						 const struct spatial *loads)
{
	struct statics_settling at = { .before = __builtin_inf(), .fresh = true };
	ASSERT(loads != NULL && self->solver_memory != NULL);
	reset_shift(self);
	equilibrium_load(self, loads);
	for (uint32_t i = 0; i < self->problem->body_count; i++)
		self->settlement[i] = spatial_zero();
	while (!at.ended) {
		at.ended = settle_round(self, &at);
		if (at.out.rounds >= PAUSE_FACTORS || at.left > PAUSE_LEFT * self->scale)
			break;
	}
	return at;
}

void equilibrium_settle_on(struct equilibrium *self, struct statics_settling *at)
{
	ASSERT(self->solver_memory != NULL);
	while (!at->ended)
		at->ended = settle_round(self, at);
}

struct statics_outcome equilibrium_settled(struct equilibrium *self,
					   const struct statics_settling *at)
{
	struct statics_outcome out = at->out;
	ASSERT(at->round > 0);
	reset_shift(self);
	measure_solution(self, &out);
	out.coulomb = out.found;
	return out;
}

struct statics_outcome equilibrium_settle(struct equilibrium *self, const struct spatial *loads)
{
	struct statics_settling at = equilibrium_settle_begin(self, loads);
	equilibrium_settle_on(self, &at);
	return equilibrium_settled(self, &at);
}

/* ---- other forces that do the same ----------------------------------------------------------- */

/* The rounds of settling, towards `target`, against the force that λ exerts. The settlement is the
 * multiplier, in units of the springs. */
bool equilibrium_project(struct equilibrium *self, const double *target)
{
	uint32_t bodies = self->problem->body_count;
	double size, left = __builtin_inf(), part = 1;
	ASSERT(self->solver_memory != NULL && target != self->lambda);
	reset_shift(self);
	for (uint32_t i = 0; i < bodies; i++)
		self->free[i] = self->settlement[i] = spatial_zero();
	find_accelerations(self);
	size = largest_of(self, self->acceleration);
	memcpy(self->last_change, self->acceleration, bodies * sizeof *self->last_change);
	memcpy(self->lambda, target, self->rows * sizeof *self->lambda);
	find_accelerations(self);
	size = scalar_max(size, largest_of(self, self->acceleration));
	for (uint32_t i = 0; i < bodies; i++)
		self->free[i] = spatial_scale(self->last_change[i], -1);
	for (uint32_t round = 0; round < PROJECT_ROUNDS && left > BALANCED * size; round++) {
		double before = left;
		set_b(self, true);
		set_compliance(self, part);
		for (uint32_t i = 0; i < self->rows; i++)
			self->b[i] -= self->compliance[i] * target[i];
		(void)solve_once(self, true, round > 0);
		find_accelerations(self);
		left = largest_of(self, self->acceleration);
		bool slow = left > SLOW * before && part > HARDEST;
		part *= slow ? HARDER : 1;
		for (uint32_t i = 0; i < bodies; i++) {
			struct spatial *u = &self->settlement[i];
			*u = spatial_mul_add(*u, self->acceleration[i], 1);
			*u = spatial_scale(*u, slow ? HARDER : 1);
		}
	}
	return left <= PROJECTED * size;
}

/* ---- what was found -------------------------------------------------------------------------- */

struct statics_force equilibrium_force(const struct equilibrium *self, uint32_t index)
{
	return equilibrium_force_of(self, index, self->lambda);
}

struct statics_force equilibrium_force_of(const struct equilibrium *self, uint32_t index,
					  const double *lambda)
{
	const struct statics_point *point = &self->problem->points[index];
	struct statics_force force = { 0, vec3_zero() };
	ASSERT(index < self->problem->point_count);
	ASSERT(index < self->problem->point_count);
	for (uint32_t i = self->first[index]; i < self->first[index + 1]; i++) {
		force.normal += lambda[i];
		if (point->friction > 0)
			force.friction = vec3_mul_add(
				force.friction,
				slip_axis(self->problem, point->normal, i - self->first[index]),
				point->friction * lambda[i]);
	}
	return force;
}

double equilibrium_row_parting(const struct equilibrium *self, uint32_t row)
{
	ASSERT(row < self->rows);
	return row_speed(self, row, self->acceleration);
}

double equilibrium_row_force(const struct equilibrium *self, uint32_t row)
{
	ASSERT(row < self->problem->row_count);
	return self->lambda[self->first[self->problem->point_count] + row];
}

vec3 equilibrium_parting(const struct equilibrium *self, uint32_t point)
{
	return point_speed(self, point, self->acceleration);
}
