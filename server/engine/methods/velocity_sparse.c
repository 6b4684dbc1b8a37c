/* velocity_sparse.c: islands too large for pivoting: rows over bodies for solvers/lcp_sparse.h, and
 * with friction for solvers/lcp_friction_sparse.h. Both solvers find multipliers and the change of
 * velocity together, so one solver serves both cores: the complementarity problem and the projection.
 *
 * Where the island's joints are part of its mass operator, the solver's bodies are the links, whose axes take
 * the place of a body's six coordinates.
 *
 * The friction of the projection is lcp_sparse again, with bounds of tangents from the last round's
 * normal impulses.
 */
#include "server/engine/methods/velocity.h"

#include "server/engine/solvers/lcp_friction_sparse.h"

#include <string.h>

/* 1, of a row's diagonal. As in velocity_island.c, for rows that contradict each other. */
#define COMPLIANCE 1e-6

#define ALLOCATE(type, count) ARENA_ARRAY(self->arena, type, count)

/* The included rows over the movable bodies, which are numbered in the order of the island's slots. */
struct sparse_problem {
	struct lcp_sparse_problem problem;
	uint32_t *row; /* of the island */
	uint32_t *start, *body;
	double (*jacobian)[LCP_BODY];
	double (*mass_inv)[LCP_BODY][LCP_BODY];
	double *b, *x, *lower, *upper, *compliance, *friction;
	uint8_t *kind;
	bool frictional, soft;
};

/* Index of a slot among the island's, which ascend; UINT32_MAX for a body that cannot move. */
static uint32_t body_index(const struct velocity_island *self, uint32_t slot)
{
	const uint32_t *slots = self->island->slots;
	uint32_t low = 0, high = self->island->slot_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (slots[middle] < slot)
			low = middle + 1;
		else
			high = middle;
	}
	return low < self->island->slot_count && slots[low] == slot ? low : UINT32_MAX;
}

static void store_spatial(double out[LCP_BODY], struct spatial from)
{
	out[0] = from.linear.x;
	out[1] = from.linear.y;
	out[2] = from.linear.z;
	out[3] = from.angular.x;
	out[4] = from.angular.y;
	out[5] = from.angular.z;
}

/* M⁻¹ of a body, column by column: the mass operator's response to unit rows. */
static void store_mass_inv(const struct mass_operator *mass, uint32_t slot,
			   double out[LCP_BODY][LCP_BODY])
{
	memset(out, 0, sizeof(double[LCP_BODY][LCP_BODY]));
	for (uint32_t axis = 0; axis < LCP_BODY; axis++) {
		vec3 unit = vec3_axis(axis % 3);
		struct row_part part = { slot, axis < 3 ? (struct spatial){ unit, vec3_zero() }
							: (struct spatial){ vec3_zero(), unit } };
		struct jacobian j = { &part, 1 };
		struct spatial room[LCP_BODY];
		struct mass_response response;
		ASSERT(mass_room(mass, j) <= LCP_BODY);
		mass_respond(mass, j, room, &response);
		if (response.count > 0)
			store_spatial(out[axis], response.change[0][0]);
	}
}

/* What the solver takes for bodies: bodies, or the links of trees in the coordinates of tree_mass_row, in
 * which M is the identity. */
static uint32_t body_count(const struct velocity_island *self)
{
	return self->tree == NULL ? self->island->slot_count : self->tree->mass.plan->link_count;
}

static void store_unit(const struct tree_link *link, double out[LCP_BODY][LCP_BODY])
{
	memset(out, 0, sizeof(double[LCP_BODY][LCP_BODY]));
	for (uint32_t k = 0; k < link->count; k++)
		out[k][k] = 1;
}

static enum status allocate_sparse(struct velocity_island *self, struct sparse_problem *out)
{
	uint32_t n = self->count, parts = 0, bodies = body_count(self);
	for (uint32_t i = 0; i < n; i++)
		parts += self->tree == NULL
				 ? self->rows[i].j.count
				 : tree_plan_depth(self->tree->mass.plan, self->tree->mass.link_of,
						   self->rows[i].j);
	*out = (struct sparse_problem){
		.row = ALLOCATE(uint32_t, n),
		.start = ALLOCATE(uint32_t, n + 1),
		.body = ALLOCATE(uint32_t, parts),
		.jacobian = arena_push_array(self->arena, parts, sizeof(double[LCP_BODY])),
		.mass_inv =
			arena_push_array(self->arena, bodies, sizeof(double[LCP_BODY][LCP_BODY])),
		.b = ALLOCATE(double, n),
		.x = ALLOCATE(double, n),
		.lower = ALLOCATE(double, n),
		.upper = ALLOCATE(double, n),
		.compliance = ALLOCATE(double, n),
		.friction = ALLOCATE(double, n),
		.kind = ALLOCATE(uint8_t, n),
	};
	bool all = out->row != NULL && out->start != NULL && out->body != NULL &&
		   out->jacobian != NULL && out->mass_inv != NULL && out->b != NULL &&
		   out->x != NULL && out->lower != NULL && out->upper != NULL &&
		   out->compliance != NULL && out->friction != NULL && out->kind != NULL;
	return all ? STATUS_OK : STATUS_NO_MEMORY;
}

static void add_sparse_row(const struct velocity_island *self,
			   const struct velocity_problem *problem, uint32_t i,
			   struct sparse_problem *out)
{
	const struct constraint_row *row = &self->rows[i];
	struct velocity_bounds bounds = velocity_row_bounds(self, i);
	uint32_t at = out->problem.rows++, entry = out->start[at];
	ASSERT(row->j.count <= ROW_PARTS_MAX);
	ASSERT(at <= i && bounds.lower < bounds.upper);
	out->row[at] = i;
	if (self->tree != NULL)
		entry += tree_mass_row(&self->tree->mass, row->j, out->body + entry,
				       out->jacobian + entry);
	for (uint32_t k = 0; k < row->j.count && self->tree == NULL; k++) {
		uint32_t body = body_index(self, row->j.parts[k].slot);
		if (body == UINT32_MAX)
			continue;
		out->body[entry] = body;
		store_spatial(out->jacobian[entry++], row->j.parts[k].on);
	}
	out->start[at + 1] = entry;
	out->b[at] = problem->b[i];
	out->x[at] = problem->x[i];
	out->lower[at] = bounds.lower;
	out->upper[at] = bounds.upper;
	out->friction[at] = bounds.friction;
	out->kind[at] = bounds.kind;
	out->compliance[at] = velocity_row_soft(self, i);
	out->frictional |= bounds.kind == FRICTION_STATIC;
	out->soft |= out->compliance[at] > 0;
}

static enum status make_sparse_problem(struct velocity_island *self,
				       const struct velocity_problem *problem,
				       struct sparse_problem *out)
{
	enum status status = allocate_sparse(self, out);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < body_count(self); i++)
		if (self->tree == NULL)
			store_mass_inv(&self->mass, self->island->slots[i], out->mass_inv[i]);
		else
			store_unit(&self->tree->mass.plan->links[i], out->mass_inv[i]);
	out->start[0] = 0;
	for (uint32_t i = 0; i < self->count; i++)
		if (velocity_row_included(self, problem, i))
			add_sparse_row(self, problem, i, out);
	ASSERT(out->problem.rows <= self->count);
	out->problem.bodies = body_count(self);
	out->problem.start = out->start;
	out->problem.body = out->body;
	out->problem.jacobian = (const double(*)[LCP_BODY])out->jacobian;
	out->problem.mass_inv = (const double(*)[LCP_BODY][LCP_BODY])out->mass_inv;
	out->problem.b = out->b;
	out->problem.lower = out->lower;
	out->problem.upper = out->upper;
	if (out->soft)
		out->problem.compliance = out->compliance;
	return STATUS_OK;
}

/* Makes a solver whose workspace has room for the factor. */
static enum status make_solver(struct velocity_island *self,
			       const struct lcp_sparse_problem *problem, struct lcp_sparse *out)
{
	struct lcp_sparse_size size = lcp_sparse_size_of(problem);
	for (;;) {
		void *memory = arena_push(self->arena, lcp_sparse_bytes(size));
		if (memory == NULL)
			return STATUS_NO_MEMORY;
		lcp_sparse_init(out, memory, size);
		size_t blocks;
		if (lcp_sparse_order(out, problem, &blocks) != SOLVER_LIMIT ||
		    blocks <= size.blocks)
			return STATUS_OK;
		size.blocks = blocks;
	}
}

/* The projection with friction, as in velocity_island.c. */
static void solve_boxes(struct velocity_island *self, struct lcp_sparse *solver,
			struct sparse_problem *sparse, struct solver_options *options,
			struct solver_result *result)
{
	ASSERT(sparse->frictional);
	for (uint32_t round = 0; round <= self->step->settings.friction_rounds; round++) {
		double normal = 0;
		for (uint32_t i = 0; i < sparse->problem.rows; i++) {
			if (sparse->kind[i] == FRICTION_NORMAL)
				normal = round == 0 ? 0 : scalar_max(sparse->x[i], 0);
			if (sparse->kind[i] != FRICTION_STATIC)
				continue;
			sparse->upper[i] = sparse->friction[i] * normal;
			sparse->lower[i] = -sparse->upper[i];
		}
		*result = lcp_sparse_solve(solver, &sparse->problem, options, sparse->x, NULL);
		self->outcome->iterations++;
		options->warm = true;
	}
}

static void solve_rows(struct velocity_island *self, struct lcp_sparse *solver,
		       struct sparse_problem *sparse, struct solver_result *result)
{
	struct solver_options options = solver_options_default();
	options.warm = true;
	if (self->tolerance > 0)
		options.tolerance = self->tolerance;
	if (!sparse->frictional)
		*result = lcp_sparse_solve(solver, &sparse->problem, &options, sparse->x, NULL);
	else if (self->step->settings.method.core == VELOCITY_LCP) {
		struct friction_sparse_problem problem = { sparse->problem, sparse->kind,
							   sparse->friction };
		options.rounds_max = self->step->settings.solver_rounds;
		options.coarse = self->step->settings.solver_coarse;
		*result = lcp_friction_sparse_solve(solver, &problem, &options, sparse->x, NULL);
	} else
		solve_boxes(self, solver, sparse, &options, result);
	self->outcome->iterations += result->rounds;
	self->outcome->fallbacks +=
		result->fallbacks + (result->status != SOLVER_SOLVED && result->fallbacks == 0);
}

/* The worst violation, m/s, of the original rows, without added compliance; as in velocity_island.c. */
static enum status violation_of(struct velocity_island *self, const struct sparse_problem *sparse,
				double *worst)
{
	size_t bytes = self->step->mass.slots * sizeof(struct spatial);
	struct spatial *change =
		arena_push_zero(self->arena, bytes); /* animated bodies keep their speed */
	double normal = 0;
	*worst = 0;
	if (change == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < sparse->problem.rows; i++)
		mass_apply(&self->mass, &self->system.responses[sparse->row[i]], sparse->x[i],
			   change);
	for (uint32_t i = 0; i < sparse->problem.rows; i++) {
		struct jacobian j = self->rows[sparse->row[i]].j;
		ASSERT(sparse->row[i] < self->count);
		double w = sparse->b[i] + jacobian_speed(j, change) +
			   velocity_row_soft(self, sparse->row[i]) * sparse->x[i];
		double a = mass_couple(&self->mass, j, &self->system.responses[sparse->row[i]]);
		if (sparse->kind[i] == FRICTION_NORMAL)
			normal = scalar_max(sparse->x[i], 0);
		bool tangent = sparse->kind[i] == FRICTION_STATIC;
		double limit = sparse->friction[i] * normal;
		double off =
			lcp_row_violation(a, sparse->x[i], w, tangent ? -limit : sparse->lower[i],
					  tangent ? limit : sparse->upper[i]);
		*worst = scalar_max(*worst, off);
	}
	return STATUS_OK;
}

/* Adds compliances to the rows' w, as forces against a change of x from what it is (proximal points):
 * a fixed point of this solves the rows without them. */
static void solve_proximal(struct velocity_island *self, const struct velocity_problem *problem,
			   struct lcp_sparse *solver, struct sparse_problem *sparse,
			   const double *added, struct solver_result *result)
{
	for (uint32_t i = 0; i < sparse->problem.rows; i++)
		sparse->b[i] = problem->b[sparse->row[i]] - added[i] * sparse->x[i];
	solve_rows(self, solver, sparse, result);
	for (uint32_t i = 0; i < sparse->problem.rows; i++)
		sparse->b[i] = problem->b[sparse->row[i]];
}

/* Solves again with a compliance of COMPLIANCE times each row's diagonal, which always has a solution, and
 * proximal_rounds times more from that solution. The best x of these stays if it violates the rows by
 * less than the one given. */
static enum status solve_compliant(struct velocity_island *self,
				   const struct velocity_problem *problem,
				   struct lcp_sparse *solver, struct sparse_problem *sparse,
				   double *violation)
{
	struct solver_result result;
	uint32_t rows = sparse->problem.rows;
	double given, *first = ALLOCATE(double, rows), *added = ALLOCATE(double, rows);
	if (first == NULL || added == NULL)
		return STATUS_NO_MEMORY;
	memcpy(first, sparse->x, rows * sizeof *first);
	for (uint32_t i = 0; i < rows; i++) {
		double diagonal = mass_couple(&self->mass, self->rows[sparse->row[i]].j,
					      &self->system.responses[sparse->row[i]]);
		added[i] = COMPLIANCE * (diagonal > 0 ? diagonal : 1);
		sparse->compliance[i] += added[i];
		sparse->x[i] = 0;
	}
	sparse->problem.compliance = sparse->compliance;
	for (uint32_t round = 0; round <= self->step->settings.proximal_rounds; round++) {
		solve_proximal(self, problem, solver, sparse, added, &result);
		enum status status = violation_of(self, sparse, &given);
		if (status != STATUS_OK)
			return status;
		if (given < *violation) {
			*violation = given;
			memcpy(first, sparse->x, rows * sizeof *first);
		}
	}
	memcpy(sparse->x, first, rows * sizeof *first);
	return STATUS_OK;
}

enum status velocity_island_sparse(struct velocity_island *self,
				   const struct velocity_problem *problem)
{
	double violation;
	struct sparse_problem sparse;
	struct lcp_sparse solver;
	struct solver_result result;
	enum status status = make_sparse_problem(self, problem, &sparse);
	if (status == STATUS_OK)
		status = make_solver(self, &sparse.problem, &solver);
	if (status != STATUS_OK)
		return status;
	solve_rows(self, &solver, &sparse, &result);
	/* The rows contradict each other if the solver proves it. Without friction, a solve that does
	 * not converge counts as such; with friction its last iterate stays. */
	bool proved = result.status == SOLVER_INFEASIBLE;
	violation = proved ? __builtin_inf() : result.violation;
	if (proved || (result.status != SOLVER_SOLVED && !sparse.frictional))
		status = solve_compliant(self, problem, &solver, &sparse, &violation);
	if (status != STATUS_OK)
		return status;
	ASSERT(!(violation < 0));
	self->outcome->residual = scalar_max(self->outcome->residual, violation);
	for (uint32_t i = 0; i < self->count; i++)
		problem->x[i] = 0;
	for (uint32_t i = 0; i < sparse.problem.rows; i++)
		problem->x[sparse.row[i]] = sparse.x[i];
	return STATUS_OK;
}
