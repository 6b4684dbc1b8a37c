/* closure.c: see closure.h. With the scaled matrix A = L Lᵀ of rank r, L rows × r, the solution of least
 * norm of A x = b is L (Lᵀ L)⁻¹ (Lᵀ L)⁻¹ Lᵀ b. One step of refinement takes out what the cut pivots left. */
#include "server/engine/articulated/closure.h"

#include "server/base/heap.h"
#include "server/engine/linalg/chol.h"
#include "server/engine/linalg/dense.h"

/* ---- rows ---------------------------------------------------------------------------------------- */

/* Rows of the locked axes of the closures. */
static uint32_t count_rows(const struct articulation *tree)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < tree->closure_count; i++) {
		uint32_t locked = joint_locked_axes(&tree->source.joints[tree->closures[i]].joint);
		for (; locked != 0; locked &= locked - 1)
			count++;
	}
	return count;
}

static struct body_motion moved_motion(const struct articulation *tree, uint32_t link)
{
	struct body_motion motion = tree->source.motions[tree->links[link].body];
	motion.velocity = tree->links[link].velocity.linear;
	motion.angular_velocity = tree->links[link].velocity.angular;
	return motion;
}

static uint32_t slot_of(const struct articulation *tree, uint32_t body)
{
	return body == ARTICULATION_NONE ? ROW_NO_BODY : tree->link_of[body];
}

/* Appends a row with parts of its own. */
static void append_row(struct closures *self, const struct constraint_row *row)
{
	struct row_part *own = &self->parts[(size_t)2 * GEAR_ENDS * self->row_count];
	self->rows[self->row_count] = *row;
	struct jacobian *j = &self->rows[self->row_count++].j;
	ASSERT(j->count <= 2 * GEAR_ENDS);
	for (uint32_t k = 0; k < j->count; k++)
		own[k] = j->parts[k];
	j->parts = own;
}

/* Appends the rows of locked axes of one joint. */
static void append_closure(struct closures *self, const struct articulation *tree, uint32_t joint)
{
	const struct articulation_joint *from = &tree->source.joints[joint];
	static const struct constraint_options OPTIONS = { .level = CONSTRAINT_ACCELERATION };
	struct constraint_row rows[JOINT_ROWS_MAX];
	struct row_block blocks[1 + JOINT_ROWS_MAX];
	struct row_part parts[2 * JOINT_ROWS_MAX];
	struct row_list list = { .rows = rows,
				 .blocks = blocks,
				 .parts = parts,
				 .row_capacity = JOINT_ROWS_MAX,
				 .block_capacity = 1 + JOINT_ROWS_MAX,
				 .part_capacity = 2 * JOINT_ROWS_MAX };
	struct constraint constraint = { .kind = &constraint_joint,
					 .body_a = slot_of(tree, from->body[0]),
					 .body_b = slot_of(tree, from->body[1]),
					 .data = &from->joint };
	struct body_motion a = from->joint.a, b = from->joint.b;
	if (constraint.body_a != ROW_NO_BODY)
		a = moved_motion(tree, constraint.body_a);
	if (constraint.body_b != ROW_NO_BODY)
		b = moved_motion(tree, constraint.body_b);
	constraint_joint.rows(&constraint, 0, &a, &b, &OPTIONS, &list);
	ASSERT(list.block_count > 0 && blocks[0].key.feature == 0);
	for (uint32_t i = 0; i < blocks[0].count; i++)
		append_row(self, &rows[blocks[0].first + i]);
}

/* Appends the row of a gear, at the motions of the tree. */
static void append_gear(struct closures *self, const struct articulation *tree,
			const struct gear *from)
{
	static const struct constraint_options OPTIONS = { .level = CONSTRAINT_ACCELERATION };
	struct gear gear = *from;
	struct constraint_row row;
	struct row_block block;
	struct row_part parts[2 * GEAR_ENDS];
	struct row_list list = { .rows = &row,
				 .blocks = &block,
				 .parts = parts,
				 .row_capacity = 1,
				 .block_capacity = 1,
				 .part_capacity = 2 * GEAR_ENDS };
	for (uint32_t end = 0; end < GEAR_ENDS; end++)
		for (uint32_t side = 0; side < 2; side++) {
			struct joint *joint = &gear.joints[end];
			uint32_t link = slot_of(tree, from->slots[end][side]);
			gear.slots[end][side] = link;
			if (link != ROW_NO_BODY)
				*(side == 0 ? &joint->a : &joint->b) = moved_motion(tree, link);
		}
	struct joint entry = gear_entry(&gear, 0, 0);
	struct constraint constraint = { .kind = &constraint_gear,
					 .body_a = ROW_NO_BODY,
					 .body_b = ROW_NO_BODY,
					 .data = &entry };
	constraint_gear.rows(&constraint, 0, NULL, NULL, &OPTIONS, &list);
	append_row(self, &row);
}

enum status closures_make_geared(struct closures *self, const struct articulation *tree,
				 const struct gear *gears, uint32_t gear_count, struct reason *why)
{
	uint32_t count = count_rows(tree) + gear_count;
	size_t room = (size_t)count + 1;
	*self = (struct closures){ 0 };
	if (count > CLOSURE_ROWS_MAX)
		return reason_set(
			why, STATUS_LIMIT, -1, "closures",
			"the loops and gears of the robot have %u rows, at most %u can be solved: "
			"ask for a smaller part of it",
			count, (unsigned)CLOSURE_ROWS_MAX);
	self->rows = heap_alloc(room * sizeof *self->rows);
	self->parts = heap_alloc(2 * GEAR_ENDS * room * sizeof *self->parts);
	self->force = heap_alloc_zero(room * sizeof *self->force);
	self->matrix = heap_alloc(room * room * sizeof *self->matrix);
	self->factor = heap_alloc(2 * room * room * sizeof *self->factor);
	self->scale = heap_alloc(room * sizeof *self->scale);
	self->work = heap_alloc(2 * (size_t)CLOSURE_ROWS_MAX * sizeof *self->work);
	self->loads = heap_alloc(((size_t)tree->link_count + 1) * sizeof *self->loads);
	self->rates = heap_alloc(((size_t)tree->axis_count + 1) * sizeof *self->rates);
	if (self->rates == NULL || self->rows == NULL || self->parts == NULL ||
	    self->force == NULL || self->matrix == NULL || self->factor == NULL ||
	    self->scale == NULL || self->work == NULL || self->loads == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory", "out of memory");
	for (uint32_t i = 0; i < tree->closure_count; i++)
		append_closure(self, tree, tree->closures[i]);
	for (uint32_t i = 0; i < gear_count; i++)
		append_gear(self, tree, &gears[i]);
	ASSERT(self->row_count == count);
	return STATUS_OK;
}

void closures_release(struct closures *self)
{
	heap_free(self->rows);
	heap_free(self->parts);
	heap_free(self->force);
	heap_free(self->matrix);
	heap_free(self->factor);
	heap_free(self->scale);
	heap_free(self->work);
	heap_free(self->loads);
	heap_free(self->rates);
	*self = (struct closures){ 0 };
}

/* ---- factoring ----------------------------------------------------------------------------------- */

static void clear_loads(struct closures *self, const struct articulation *tree)
{
	for (uint32_t i = 0; i < tree->link_count; i++)
		self->loads[i] = spatial_zero();
}

/* J M⁻¹ Jᵀ of a row if its bodies had no joints: the scale on which its response to itself is zero. */
static double free_response(const struct articulation *tree, struct jacobian j)
{
	double sum = 0;
	ASSERT(j.count <= 2 * GEAR_ENDS);
	for (uint32_t k = 0; k < j.count; k++) {
		const struct mass_body *mass =
			&tree->source.masses[tree->links[j.parts[k].slot].body];
		struct spatial on = j.parts[k].on;
		sum += vec3_dot(on.linear, vec3_hadamard(mass->mass_inv, on.linear)) +
		       sym3_quadratic(mass->inertia_inv, on.angular);
	}
	return sum;
}

static void form_matrix(struct closures *self, struct tree_dynamics *dynamics)
{
	const struct articulation *tree = dynamics->tree;
	size_t n = self->row_count;
	for (uint32_t i = 0; i < n; i++) {
		clear_loads(self, tree);
		jacobian_push(self->rows[i].j, 1, self->loads);
		tree_forward(dynamics, NULL, self->loads, false, self->rates);
		for (uint32_t j = 0; j < n; j++)
			self->matrix[j * n + i] =
				jacobian_speed(self->rows[j].j, dynamics->acceleration);
	}
	for (uint32_t i = 0; i < n; i++) {
		double d = free_response(tree, self->rows[i].j);
		self->scale[i] = d > 0 ? 1 / scalar_sqrt(d) : 0;
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			self->matrix[i * n + j] *= self->scale[i] * self->scale[j];
}

/* Columns of L by the largest remaining diagonal, the first of equal ones. `left` holds rows numbers. */
static void factor_matrix(struct closures *self, double *left)
{
	size_t n = self->row_count;
	double *l = self->factor;
	self->rank = 0;
	for (uint32_t i = 0; i < n; i++)
		left[i] = self->matrix[i * n + i];
	for (size_t k = 0; k < n; k++) {
		uint32_t best = 0;
		for (uint32_t i = 1; i < n; i++)
			if (left[i] > left[best])
				best = i;
		if (!(left[best] > CLOSURE_DEPENDENT))
			break;
		double pivot = scalar_sqrt(left[best]);
		for (uint32_t i = 0; i < n; i++) {
			double entry = self->matrix[i * n + best] -
				       dense_dot(&l[i * n], &l[best * n], (uint32_t)k);
			l[i * n + k] = left[i] > 0 ? entry / pivot : 0;
		}
		for (uint32_t i = 0; i < n; i++)
			left[i] = i == best ? 0 : left[i] - l[i * n + k] * l[i * n + k];
		self->rank++;
	}
	ASSERT(self->rank <= n);
}

/* The factor of Lᵀ L, behind L. */
static struct chol inner_factor(const struct closures *self)
{
	struct chol chol;
	chol_init(&chol, self->factor + (size_t)self->row_count * self->row_count, self->rank);
	chol.size = self->rank;
	return chol;
}

static void factor_inner(struct closures *self)
{
	uint32_t n = self->row_count, rank = self->rank;
	struct chol chol = inner_factor(self);
	for (uint32_t i = 0; i < rank; i++)
		for (uint32_t j = 0; j <= i; j++) {
			double sum = 0;
			for (size_t k = 0; k < n; k++)
				sum += self->factor[k * n + i] * self->factor[k * n + j];
			chol.lower[i * rank + j] = sum;
		}
	/* Pivots are at least CLOSURE_DEPENDENT, so this fails only for rows that are not finite. */
	if (rank > 0 && !chol_factor(&chol, chol.lower, rank, rank))
		self->rank = 0;
}

void closures_factor(struct closures *self, struct tree_dynamics *dynamics)
{
	if (self->row_count == 0)
		return;
	ASSERT(self->row_count <= CLOSURE_ROWS_MAX);
	form_matrix(self, dynamics);
	factor_matrix(self, self->work);
	factor_inner(self);
}

/* ---- solving ------------------------------------------------------------------------------------- */

/* self->force += the forces that change the rows' accelerations by `change` (overwritten). */
static void add_forces(struct closures *self, double *change)
{
	uint32_t n = self->row_count, rank = self->rank;
	double *inner = self->work + CLOSURE_ROWS_MAX;
	ASSERT(rank <= n);
	ASSERT(n <= CLOSURE_ROWS_MAX);
	struct chol chol = inner_factor(self);
	if (rank == 0)
		return;
	for (uint32_t i = 0; i < n; i++)
		change[i] *= self->scale[i];
	for (uint32_t k = 0; k < rank; k++) {
		inner[k] = 0;
		for (size_t i = 0; i < n; i++)
			inner[k] += self->factor[i * n + k] * change[i];
	}
	chol_solve(&chol, inner);
	chol_solve(&chol, inner);
	for (size_t i = 0; i < n; i++)
		self->force[i] += self->scale[i] * dense_dot(&self->factor[i * n], inner, rank);
}

/* tree_forward with the present forces; in self->work what the rows' accelerations lack. */
static void try_forces(struct closures *self, struct tree_dynamics *dynamics, const double *forces,
		       const struct spatial *loads, double *accelerations)
{
	clear_loads(self, dynamics->tree);
	for (uint32_t i = 0; loads != NULL && i < dynamics->tree->link_count; i++)
		self->loads[i] = loads[i];
	for (uint32_t i = 0; i < self->row_count; i++)
		jacobian_push(self->rows[i].j, self->force[i], self->loads);
	tree_forward(dynamics, forces, self->loads, true, accelerations);
	self->residual = 0;
	for (uint32_t i = 0; i < self->row_count; i++) {
		double now = jacobian_speed(self->rows[i].j, dynamics->acceleration) +
			     self->rows[i].bias;
		self->work[i] = -now;
		self->residual = MAX_OF(self->residual, scalar_abs(now));
	}
}

/* Solution and refinements: each takes the error of the one before times 1e-6 or less. */
enum { CLOSURE_SOLVES = 3 };

void closures_forward(struct closures *self, struct tree_dynamics *dynamics, const double *forces,
		      const struct spatial *loads, double *accelerations)
{
	for (uint32_t i = 0; i < self->row_count; i++)
		self->force[i] = 0;
	try_forces(self, dynamics, forces, loads, accelerations);
	for (uint32_t i = 0; i < CLOSURE_SOLVES && self->row_count > 0; i++) {
		add_forces(self, self->work);
		try_forces(self, dynamics, forces, loads, accelerations);
	}
	ASSERT(self->residual >= 0);
}

double closures_error(const struct closures *self, const struct spatial *accelerations)
{
	double error = 0;
	for (uint32_t i = 0; i < self->row_count; i++) {
		double now = jacobian_speed(self->rows[i].j, accelerations) + self->rows[i].bias;
		error = MAX_OF(error, scalar_abs(now));
	}
	return error;
}
