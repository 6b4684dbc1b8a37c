/* velocity_island.c: one island as a system of rows, and the choice of its solver.
 *
 *   small       dense: A = J M⁻¹ Jᵀ by pivoting (lcp_dantzig); with friction by Baraff's extension of it
 *               (lcp_friction); the projection by a dual active set over the bodies' coordinates
 *               (qp_dual_active_set). With joint rows of two bounds pivoting, because that is no
 *               projection
 *   larger      sparse (lcp_sparse), which solves the dual and the primal at once: x and the velocity
 *
 * Tangents are rotated so that the first points along the slip that the contact would have without
 * friction. For a body that slides straight the pyramid's limit then equals the cone's, and a block on
 * a slope holds and slides by the analytic rule. With a friction axis the first points along the axis, and
 * each tangent has its own coefficient (ch4-5 I3b).
 *
 * If rows contradict each other, the solver proves it (INFEASIBLE). Then every row gets a compliance of
 * COMPLIANCE times its own diagonal. That system always has a solution, and the residual is the
 * violation of the original rows. Rows that contradict each other by friction, or all but, are proved by no
 * solver: they are told by how they grow (find_growth).
 */
#include "server/engine/methods/velocity.h"

#include "server/engine/dynamics/locks.h"
#include "server/engine/solvers/lcp_dantzig.h"
#include "server/engine/solvers/lcp_friction_sparse.h"
#include "server/engine/solvers/qp_dual_active_set.h"

#include <string.h>

/* 1, of a row's diagonal. Larger: scripted plates pass through a body between them sooner; smaller:
 * forces between them grow, and rounding with them. */
#define COMPLIANCE 1e-6

/* 1, of the greatest speed that rows ask for. A body that changes its velocity by more is pressed by
 * rows that nearly contradict each other; COMPLIANCE lets them amplify it by 1 / (2 √COMPLIANCE) = 500. */
#define SPEED_GROWTH 1e3
/* The same of the speed that a single impulse causes. A heavy body on a light one needs the ratio of
 * their masses, up to 1e8; compliance lets it come to 1 / COMPLIANCE. */
#define IMPULSE_GROWTH 1e9

/* Islands with joints of at most this many rows are projected dense; above, the sparse solver is
 * faster. */
enum { PROJECTED_JOINTS = 12 };

/* 1. The solvers' default (solver.h). */
#define TOLERANCE 1e-10

/* m/s. A slower slip has no direction, because rounding would choose it. */
#define SLIP_MIN 1e-9

/* m/s. A contact that slips faster as the step begins slides, and has dynamic friction. Larger: a slow
 * slide may stick; smaller: a block at rest, which creeps by rounding, gets the lesser friction and
 * begins to slide. */
#define SLIDE_MIN 1e-6

#define ALLOCATE(type, count) ARENA_ARRAY(self->arena, type, count)

/* ---- the system ------------------------------------------------------------------------------- */

/* Rotates both tangents of a block by the angle with cosine c and sine s; `parts` gets their new J. */
static void rotate_tangents(struct constraint_row *rows, struct row_part *parts, double c, double s)
{
	uint32_t count = rows[0].j.count;
	ASSERT(rows[1].j.count == count);
	double wanted0 = rows[0].wanted, wanted1 = rows[1].wanted;
	for (uint32_t k = 0; k < count; k++) {
		struct row_part t = rows[0].j.parts[k], n = rows[1].j.parts[k];
		parts[k] = (struct row_part){ t.slot,
					      spatial_mul_add(spatial_scale(t.on, c), n.on, s) };
		parts[count + k] =
			(struct row_part){ t.slot,
					   spatial_mul_add(spatial_scale(n.on, c), t.on, -s) };
	}
	rows[0].j.parts = parts;
	rows[1].j.parts = parts + count;
	rows[0].wanted = c * wanted0 + s * wanted1;
	rows[1].wanted = c * wanted1 - s * wanted0;
}

static void turn_block(struct velocity_island *self, uint32_t first, struct row_part *parts,
		       double c, double s)
{
	struct constraint_row *t = &self->rows[first + 1];
	double u = t[0].approach, v = t[1].approach;
	rotate_tangents(t, parts, c, s);
	t[0].approach = c * u + s * v;
	t[1].approach = c * v - s * u;
	for (uint32_t k = 1; k <= 2; k++) {
		self->turned[first + k][0] = c;
		self->turned[first + k][1] = s;
	}
}

/* Rotates a contact's tangents so that the first points along its friction axis, or, without one, along its
 * slip without friction. */
static void align_block(struct velocity_island *self, uint32_t first, struct row_part *parts)
{
	ASSERT(first + 2 < self->count);
	const struct spatial *velocities = self->step->forced;
	const double *along = self->step->rows.blocks[self->block[first]].along;
	struct constraint_row *t = &self->rows[first + 1];
	if (along[0] != 0 || along[1] != 0) {
		turn_block(self, first, parts, along[0], along[1]);
		return;
	}
	double u = jacobian_speed(t[0].j, velocities) - t[0].wanted;
	double v = jacobian_speed(t[1].j, velocities) - t[1].wanted;
	double speed = scalar_sqrt(u * u + v * v);
	if (!(speed > SLIP_MIN))
		return;
	turn_block(self, first, parts, u / speed, v / speed);
}

#ifdef CAIRN_VALIDATE
static bool ascends(const uint32_t *numbers, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (numbers[i - 1] >= numbers[i])
			return false;
	return true;
}
#endif

/* Copies the island's rows, block by block; contacts come first, because constraints ascend. */
static enum status gather_rows(struct velocity_island *self)
{
	const struct velocity_step *step = self->step;
	uint32_t rows = 0, at = 0;
	VALIDATE(ascends(self->island->constraints, self->island->constraint_count));
	for (uint32_t i = 0; i < self->island->constraint_count; i++) {
		uint32_t c = self->island->constraints[i];
		for (uint32_t b = step->first_block[c]; b < step->first_block[c + 1]; b++)
			rows += velocity_block_is_held(step, b) ? 0 : step->rows.blocks[b].count;
		if (c < step->contact_count)
			self->contact_rows = rows;
	}
	self->taut_from = rows;
	rows += velocity_taut_count(step, self->island);
	self->count = rows;
	self->rows = ALLOCATE(struct constraint_row, rows);
	self->block = ALLOCATE(uint32_t, rows);
	self->place = ALLOCATE(uint8_t, rows);
	self->turned = (double(*)[2])arena_push_array(self->arena, rows, 2 * sizeof(double));
	struct row_part *parts = ALLOCATE(struct row_part, (size_t)rows * 2);
	if (self->rows == NULL || self->block == NULL || self->place == NULL ||
	    self->turned == NULL || parts == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < self->island->constraint_count; i++) {
		uint32_t c = self->island->constraints[i];
		for (uint32_t b = step->first_block[c]; b < step->first_block[c + 1]; b++) {
			const struct row_block *block = &step->rows.blocks[b];
			if (velocity_block_is_held(step, b))
				continue;
			for (uint32_t k = 0; k < block->count; k++, at++) {
				self->rows[at] = step->rows.rows[block->first + k];
				self->block[at] = b;
				self->place[at] = (uint8_t)k;
				self->turned[at][0] = 1;
				self->turned[at][1] = 0;
			}
			if (block->count >= 3 && c < step->contact_count)
				align_block(self, at - block->count,
					    parts + (size_t)2 * (at - block->count));
		}
	}
	return STATUS_OK;
}

/* Whether a small island is solved dense. An island with joints is not if it has friction, because
 * pivoting with friction supports no rows with two bounds, and loses digits where a body hangs by
 * joints from one in contact and hardly moves along the tangents; nor if it is projected and large,
 * because many equalities are slow. */
static bool suits_dense(const struct velocity_island *self)
{
	const struct velocity_method *method = &self->step->settings.method;
	if (self->joints == NULL && self->tree == NULL)
		return !(method->friction && lcp_friction_sparse_is_cheaper(self->count)) ||
		       self->count <= self->step->settings.friction_rows;
	for (uint32_t i = 0; i < self->contact_rows; i++)
		if (self->rows[i].set == ROW_PYRAMID)
			return false;
	return method->core == VELOCITY_LCP || self->count <= PROJECTED_JOINTS;
}

enum status velocity_island_make(struct velocity_island *self, const struct velocity_step *step,
				 uint32_t index, struct arena *arena)
{
	ASSERT(index < step->islands.count);
	*self = (struct velocity_island){ .step = step,
					  .island = &step->islands.items[index],
					  .arena = arena,
					  .mass = step->mass,
					  .outcome = &step->outcomes[index] };
	enum status status = gather_rows(self);
	if (status == STATUS_OK && self->contact_rows < self->count)
		status = velocity_joints_gather(self);
	if (status == STATUS_OK && self->taut_from < self->count)
		status = velocity_taut_gather(self);
	if (status != STATUS_OK)
		return status;
	ASSERT(self->contact_rows <= self->taut_from && self->taut_from <= self->count);
	ASSERT((self->joints != NULL) == (self->contact_rows < self->count));
	status = velocity_tree_make(self, index);
	if (status != STATUS_OK)
		return status;
	if (self->joints != NULL || self->tree != NULL)
		velocity_joints_soften(self);
	if (self->tree != NULL)
		status = velocity_tree_soften(self);
	struct row_system_sizes sizes = row_system_sizes(&self->mass, self->rows, self->count);
	void *memory = arena_push(arena, row_system_bytes(sizes));
	if (memory == NULL || status != STATUS_OK)
		return STATUS_NO_MEMORY;
	row_system_init(&self->system, memory, sizes);
	self->outcome->solved = true;
	self->outcome->dense = self->count <= step->settings.dense_rows && suits_dense(self);
	return velocity_island_respond(self);
}

enum status velocity_island_respond(struct velocity_island *self)
{
	row_system_make(&self->system, &self->mass, self->rows, self->count);
	self->rank = NULL;
	if (self->tree != NULL &&
	    (velocity_tree_find_still(self) != STATUS_OK || velocity_rank_find(self) != STATUS_OK))
		return STATUS_NO_MEMORY;
	if (!self->outcome->dense)
		return STATUS_OK;
	self->a = arena_push_array(self->arena, (size_t)self->count * self->count, sizeof(double));
	if (self->a == NULL)
		return STATUS_NO_MEMORY;
	row_system_dense(&self->system, self->a, self->count);
	for (uint32_t i = self->contact_rows; i < self->count; i++)
		self->a[(size_t)i * self->count + i] += velocity_row_soft(self, i);
	return STATUS_OK;
}

void velocity_add_impulses(const struct velocity_island *self, const double *x, double share)
{
	for (uint32_t i = 0; i < self->contact_rows; i++) {
		struct velocity_impulse *to = &self->step->impulses[self->block[i]];
		double c = self->turned[i][0], s = self->turned[i][1], p = share * x[i];
		to->normal += self->place[i] == 0 ? p : 0;
		to->tangent[0] += self->place[i] == 1 ? c * p : self->place[i] == 2 ? -s * p : 0;
		to->tangent[1] += self->place[i] == 1 ? s * p : self->place[i] == 2 ? c * p : 0;
	}
}

/* ---- dense ------------------------------------------------------------------------------------ */

/* The rows of a problem that are included, with their part of A. */
struct dense_problem {
	uint32_t count;
	uint32_t *row; /* of the island */
	double *a, *b, *x, *lower, *upper, *friction;
	uint8_t *kind, *state;
	bool frictional;
	bool bounded; /* some joint row has two bounds or compliance: no row of a projection */
};

struct velocity_bounds velocity_row_bounds(const struct velocity_island *self, uint32_t i)
{
	ASSERT(i < self->count);
	struct velocity_bounds bounds = { -__builtin_inf(), __builtin_inf(), 0, FRICTION_JOINT };
	const struct constraint_row *row = &self->rows[i];
	if (i >= self->contact_rows) {
		const struct velocity_joint_row *joint = &self->joints[i - self->contact_rows];
		bounds.lower = joint->lower;
		bounds.upper = joint->upper;
		if (joint->role == VELOCITY_LIMIT)
			bounds.kind = FRICTION_NORMAL;
		return bounds;
	}
	double slip = scalar_abs(row->approach - row->wanted);
	switch (row->set) {
	case ROW_POSITIVE:
		bounds.lower = 0;
		bounds.kind = FRICTION_NORMAL;
		break;
	case ROW_PYRAMID:
	case ROW_CONE:
		bounds.friction = slip > SLIDE_MIN ? row->dynamic_friction : row->static_friction;
		bounds.kind = FRICTION_STATIC;
		break;
	default:
		break;
	}
	return bounds;
}

/* 1, of 1/m. A contact whose normal moves its bodies by less is held by locked axes and rounding: nothing
 * can press it, and it has no friction. */
#define HELD 1e-9

/* Whether locked axes hold the bodies of contact row i along its normal. */
static bool is_held(const struct velocity_island *self, uint32_t i)
{
	const struct step *step = self->step->step;
	ASSERT(i < self->contact_rows && self->place[i] <= i);
	const struct jacobian *j = &self->rows[i - self->place[i]].j;
	double moves = 0, free = 0;
	uint32_t locks = 0;
	for (uint32_t k = 0; k < j->count; k++) {
		const struct mass_body *body = &self->step->masses[j->parts[k].slot];
		struct spatial on = j->parts[k].on;
		uint32_t row = step->bodies[j->parts[k].slot];
		locks |= locks_of(step->dynamics->tables, row);
		free += step->dynamics->tables->body.mass_inv[row];
		moves += vec3_dot(on.linear, vec3_hadamard(body->mass_inv, on.linear)) +
			 sym3_quadratic(body->inertia_inv, on.angular);
	}
	return locks != 0 && !(moves > HELD * free);
}

bool velocity_row_included(const struct velocity_island *self,
			   const struct velocity_problem *problem, uint32_t i)
{
	if (problem->selected != NULL && !problem->selected[i])
		return false;
	if (i < self->contact_rows && is_held(self, i))
		return false;
	if (self->tree != NULL && self->tree->still[i])
		return false;
	struct velocity_bounds bounds = velocity_row_bounds(self, i);
	return bounds.lower < bounds.upper &&
	       (bounds.kind != FRICTION_STATIC || bounds.friction > 0);
}

static void add_dense_row(const struct velocity_island *self,
			  const struct velocity_problem *problem, uint32_t i,
			  struct dense_problem *out)
{
	struct velocity_bounds bounds = velocity_row_bounds(self, i);
	uint32_t at = out->count++;
	ASSERT(at <= i && bounds.lower < bounds.upper);
	out->row[at] = i;
	out->b[at] = problem->b[i];
	out->x[at] = problem->x[i];
	out->lower[at] = bounds.lower;
	out->upper[at] = bounds.upper;
	out->friction[at] = bounds.friction;
	out->kind[at] = bounds.kind;
	out->frictional |= bounds.kind == FRICTION_STATIC;
	bool rigid = bounds.lower == -__builtin_inf() && bounds.upper == __builtin_inf() &&
		     !(velocity_row_soft(self, i) > 0);
	out->bounded |= bounds.kind == FRICTION_JOINT && !rigid;
}

static enum status make_dense_problem(const struct velocity_island *self,
				      const struct velocity_problem *problem,
				      struct dense_problem *out)
{
	uint32_t n = self->count;
	*out = (struct dense_problem){ .row = ALLOCATE(uint32_t, n),
				       .b = ALLOCATE(double, n),
				       .x = ALLOCATE(double, n),
				       .lower = ALLOCATE(double, n),
				       .upper = ALLOCATE(double, n),
				       .friction = ALLOCATE(double, n),
				       .kind = ALLOCATE(uint8_t, n),
				       .state = ALLOCATE(uint8_t, n) };
	if (out->row == NULL || out->b == NULL || out->x == NULL || out->lower == NULL ||
	    out->upper == NULL || out->friction == NULL || out->kind == NULL || out->state == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < n; i++)
		if (velocity_row_included(self, problem, i))
			add_dense_row(self, problem, i, out);
	ASSERT(out->count <= n);
	if (out->count == n) {
		out->a = self->a;
		return STATUS_OK;
	}
	uint32_t m = out->count;
	out->a = arena_push_array(self->arena, (size_t)m * m, sizeof(double));
	if (out->a == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < m; i++)
		for (uint32_t k = 0; k < m; k++)
			out->a[(size_t)i * m + k] = self->a[(size_t)out->row[i] * n + out->row[k]];
	return STATUS_OK;
}

static void count_result(struct velocity_island *self, const struct solver_result *result)
{
	self->outcome->iterations += result->pivots + result->rounds;
	self->outcome->fallbacks += result->fallbacks + (result->status != SOLVER_SOLVED);
}

static enum status solve_by_pivoting(struct velocity_island *self,
				     const struct dense_problem *dense, const double *lower,
				     const double *upper, bool warm, struct solver_result *result)
{
	void *memory = arena_push(self->arena, lcp_dantzig_bytes(dense->count));
	if (memory == NULL)
		return STATUS_NO_MEMORY;
	struct lcp_dantzig lcp;
	lcp_dantzig_init(&lcp, memory, dense->count);
	struct lcp_problem problem = {
		dense->count, dense->count, dense->a, dense->b, lower, upper
	};
	struct solver_options options = solver_options_default();
	options.warm = warm;
	if (self->tolerance > 0)
		options.tolerance = self->tolerance;
	*result = lcp_dantzig_solve(&lcp, &problem, &options, dense->x, dense->state);
	for (uint32_t i = 0; i < dense->count; i++)
		self->outcome->dependent |= dense->state[i] == LCP_HELD;
	return STATUS_OK;
}

static enum status solve_lcp(struct velocity_island *self, const struct dense_problem *dense,
			     struct solver_result *result)
{
	for (uint32_t i = 0; i < dense->count; i++)
		dense->state[i] = !(dense->x[i] > dense->lower[i]) ? LCP_LOWER
				  : dense->x[i] >= dense->upper[i] ? LCP_UPPER
								   : LCP_ACTIVE;
	return solve_by_pivoting(self, dense, dense->lower, dense->upper, true, result);
}

static enum status solve_friction(struct velocity_island *self, const struct dense_problem *dense,
				  struct solver_result *result)
{
	void *memory = arena_push(self->arena, lcp_friction_bytes(dense->count));
	if (memory == NULL)
		return STATUS_NO_MEMORY;
	struct lcp_friction lcp;
	lcp_friction_init(&lcp, memory, dense->count);
	struct friction_problem problem = { dense->count, dense->count, dense->a,
					    dense->b,	  dense->kind,	dense->friction };
	struct solver_options options = solver_options_default();
	if (self->tolerance > 0)
		options.tolerance = self->tolerance;
	*result = lcp_friction_solve(&lcp, &problem, &options, dense->x, NULL);
	for (uint32_t i = 0; i < dense->count; i++)
		self->outcome->dependent |= lcp.state[i] == FRICTION_HELD;
	return STATUS_OK;
}

/* The projection with friction: |x_t| ≤ μ times the last round's normal impulse, friction_rounds times
 * after a first round without friction. */
static enum status solve_boxes(struct velocity_island *self, const struct dense_problem *dense,
			       struct solver_result *result)
{
	ASSERT(dense->frictional);
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < dense->count; i++)
		dense->state[i] = LCP_LOWER;
	for (uint32_t round = 0; round <= self->step->settings.friction_rounds; round++) {
		double normal = 0;
		for (uint32_t i = 0; i < dense->count; i++) {
			if (dense->kind[i] == FRICTION_NORMAL)
				normal = round == 0 ? 0 : scalar_max(dense->x[i], 0);
			if (dense->kind[i] != FRICTION_STATIC)
				continue;
			dense->upper[i] = dense->friction[i] * normal;
			dense->lower[i] = -dense->upper[i];
		}
		status = solve_by_pivoting(self, dense, dense->lower, dense->upper, round > 0,
					   result);
		if (status != STATUS_OK)
			return status;
		self->outcome->iterations++;
	}
	return status;
}

enum status velocity_island_coordinates(struct velocity_island *self, const uint32_t *row,
					uint32_t count, struct velocity_coordinates *out)
{
	uint32_t n = self->system.coordinates, *start = ALLOCATE(uint32_t, self->count + 1);
	if (start == NULL)
		return STATUS_NO_MEMORY;
	uint32_t entries = row_system_jacobian(&self->system, start, NULL, NULL);
	uint32_t *column = ALLOCATE(uint32_t, entries);
	double *value = ALLOCATE(double, entries);
	*out = (struct velocity_coordinates){
		n, arena_push_array(self->arena, (size_t)n * n, sizeof(double)),
		arena_push_zero(self->arena, (size_t)n * count * sizeof(double))
	};
	if (column == NULL || value == NULL || out->mass == NULL || out->rows == NULL)
		return STATUS_NO_MEMORY;
	row_system_mass(&self->system, out->mass);
	row_system_jacobian(&self->system, start, column, value);
	for (uint32_t i = 0; i < count; i++) {
		ASSERT(row[i] < self->count);
		for (uint32_t k = start[row[i]]; k < start[row[i] + 1]; k++)
			out->rows[(size_t)i * n + column[k]] = value[k];
	}
	return STATUS_OK;
}

static enum status solve_projection(struct velocity_island *self, const struct dense_problem *dense,
				    struct solver_result *result)
{
	ASSERT(!dense->frictional && !dense->bounded);
	struct velocity_coordinates over;
	enum status status = velocity_island_coordinates(self, dense->row, dense->count, &over);
	if (status != STATUS_OK)
		return status;
	uint32_t n = over.count, m = dense->count;
	void *memory = arena_push(self->arena, qp_dual_active_set_bytes(n, m));
	double *c = arena_push_zero(self->arena, n * sizeof *c), *v = ALLOCATE(double, n);
	double *d = ALLOCATE(double, m);
	bool *equal = ALLOCATE(bool, m);
	if (memory == NULL || c == NULL || v == NULL || d == NULL || equal == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < m; i++) {
		d[i] = -dense->b[i];
		equal[i] = dense->kind[i] == FRICTION_JOINT;
		dense->state[i] = dense->x[i] > 0 || equal[i] ? LCP_ACTIVE : LCP_LOWER;
	}
	struct qp_dual_active_set qp;
	qp_dual_active_set_init(&qp, memory, n, m);
	struct qp_problem problem = { n, m, over.mass, c, over.rows, d, equal };
	struct solver_options options = solver_options_default();
	options.warm = true;
	if (self->tolerance > 0)
		options.tolerance = self->tolerance;
	*result = qp_dual_active_set_solve(&qp, &problem, &options, v, dense->x, dense->state);
	for (uint32_t i = 0; i < m; i++)
		self->outcome->dependent |= dense->state[i] == LCP_HELD;
	return STATUS_OK;
}

/* The solver for a dense island: by friction, core and bounds. */
static enum status solve_dense(struct velocity_island *self, const struct dense_problem *dense,
			       struct solver_result *result)
{
	const struct velocity_settings *settings = &self->step->settings;
	if (dense->frictional)
		return (settings->method.core == VELOCITY_LCP ? solve_friction
							      : solve_boxes)(self, dense, result);
	bool projects = settings->method.core == VELOCITY_PROJECTION && !dense->bounded;
	return (projects ? solve_projection : solve_lcp)(self, dense, result);
}

/* The worst violation of a row by the solution x, m/s. */
static double violation_of(const struct dense_problem *dense)
{
	double worst = 0, normal = 0;
	uint32_t m = dense->count;
	for (uint32_t i = 0; i < m; i++) {
		double w = dense->b[i], a = dense->a[(size_t)i * m + i];
		for (uint32_t k = 0; k < m; k++)
			w += dense->a[(size_t)i * m + k] * dense->x[k];
		if (dense->kind[i] == FRICTION_NORMAL)
			normal = scalar_max(dense->x[i], 0);
		bool tangent = dense->kind[i] == FRICTION_STATIC;
		double limit = dense->friction[i] * normal;
		worst = scalar_max(worst, lcp_row_violation(a, dense->x[i], w,
							    tangent ? -limit : dense->lower[i],
							    tangent ? limit : dense->upper[i]));
	}
	return worst;
}

/* The solvers' tolerance, as a part of the largest b. Where all of b is small (a motion that hardly
 * curves), dependent rows contradict each other by rounding, which is then more than the solvers'
 * default part of b. Without such rows the settings' tolerance; 0: the solvers' default. */
static double velocity_tolerance(const struct velocity_island *self,
				 const struct velocity_problem *problem)
{
	double size = 0, least = TOLERANCE, joints = self->step->settings.joint_tolerance;
	if (!(self->noise > 0))
		return self->step->settings.tolerance;
	if (joints < VELOCITY_DEPTH) /* joints that are closed further are solved as much further */
		least *= joints / VELOCITY_DEPTH;
	for (uint32_t i = 0; i < self->count; i++)
		if (velocity_row_included(self, problem, i))
			size = scalar_max(size, scalar_abs(problem->b[i]));
	return size > 0 ? scalar_clamp(self->noise / size, least, 1) : 0;
}

/* The largest change of a body's velocity by x, m/s. */
static enum status fastest_change(struct velocity_island *self, const struct dense_problem *dense,
				  double *fastest)
{
	size_t bytes = self->step->mass.slots * sizeof(struct spatial);
	struct spatial *change = arena_push_zero(self->arena, bytes);
	*fastest = 0;
	if (change == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < dense->count; i++)
		mass_apply(&self->mass, &self->system.responses[dense->row[i]], dense->x[i],
			   change);
	for (uint32_t i = 0; i < self->island->slot_count; i++)
		*fastest = scalar_max(*fastest, vec3_length(change[self->island->slots[i]].linear));
	return STATUS_OK;
}

/* Whether the rows nearly contradict each other, which no solver proves: bodies become far faster than their
 * rows ask, or the rounding of the speeds that single impulses cause is not small against them. */
static enum status find_growth(struct velocity_island *self, const struct dense_problem *dense,
			       bool *grows)
{
	double most = 0, wanted = 0, fastest;
	for (uint32_t i = 0; i < dense->count; i++) {
		double speed = dense->a[(size_t)i * dense->count + i] * dense->x[i];
		most = scalar_max(most, scalar_abs(speed));
		wanted = scalar_max(wanted, scalar_abs(dense->b[i]));
	}
	ASSERT(!(most < 0));
	*grows = most > IMPULSE_GROWTH * wanted;
	if (*grows || !(most > SPEED_GROWTH * wanted))
		return STATUS_OK;
	enum status status = fastest_change(self, dense, &fastest);
	*grows = fastest > SPEED_GROWTH * wanted;
	return status;
}

/* Whether some row is part of the problem: joints of trees alone leave none. If none is, x becomes 0. */
static bool any_included(const struct velocity_island *self, const struct velocity_problem *problem)
{
	for (uint32_t i = 0; i < self->count; i++)
		if (velocity_row_included(self, problem, i))
			return true;
	for (uint32_t i = 0; i < self->count; i++)
		problem->x[i] = 0;
	return false;
}

static enum status solve(struct velocity_island *self, const struct velocity_problem *problem)
{
	self->tolerance = velocity_tolerance(self, problem);
	if (!self->outcome->dense)
		return velocity_island_sparse(self, problem);
	struct dense_problem dense;
	struct solver_result result;
	enum status status = make_dense_problem(self, problem, &dense);
	if (status == STATUS_OK)
		status = solve_dense(self, &dense, &result);
	if (status != STATUS_OK)
		return status;
	/* The other solver's last answer is nearer than the fallback of this one. */
	if (result.status != SOLVER_SOLVED && dense.frictional && self->joints == NULL &&
	    self->step->settings.friction_rows > 0) {
		self->outcome->iterations += result.pivots + result.rounds;
		return velocity_island_sparse(self, problem);
	}
	count_result(self, &result);
	bool grows = false;
	status = find_growth(self, &dense, &grows);
	if (status != STATUS_OK)
		return status;
	self->outcome->fallbacks += grows;
	if (grows || result.status == SOLVER_INFEASIBLE || result.status == SOLVER_UNBOUNDED) {
		uint32_t m = dense.count;
		double *soft = arena_push_array(self->arena, (size_t)m * m, sizeof(double));
		if (soft == NULL)
			return STATUS_NO_MEMORY;
		memcpy(soft, dense.a, (size_t)m * m * sizeof *soft);
		for (uint32_t i = 0; i < m; i++)
			soft[(size_t)i * m + i] +=
				COMPLIANCE *
				(soft[(size_t)i * m + i] > 0 ? soft[(size_t)i * m + i] : 1);
		struct dense_problem compliant = dense;
		compliant.a = soft;
		status = compliant.frictional ? solve_friction(self, &compliant, &result)
					      : solve_lcp(self, &compliant, &result);
		if (status != STATUS_OK)
			return status;
		count_result(self, &result);
	}
	self->outcome->residual = scalar_max(self->outcome->residual, violation_of(&dense));
	for (uint32_t i = 0; i < self->count; i++)
		problem->x[i] = 0;
	for (uint32_t i = 0; i < dense.count; i++)
		problem->x[dense.row[i]] = dense.x[i];
	return STATUS_OK;
}

enum status velocity_island_solve(struct velocity_island *self,
				  const struct velocity_problem *problem)
{
	struct velocity_problem reduced;
	double left;
	if (self->tree != NULL && !any_included(self, problem))
		return STATUS_OK;
	if (self->rank == NULL || !velocity_rank_reduce(self, problem, &reduced, &left))
		return solve(self, problem);
	enum status status = solve(self, &reduced);
	velocity_rank_share(self, problem->x);
	self->outcome->dependent = true;
	self->outcome->residual = scalar_max(self->outcome->residual, left);
	self->outcome->fallbacks +=
		left * self->step->step->dt > self->step->settings.joint_tolerance;
	return status;
}
