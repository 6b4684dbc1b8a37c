/* mass_blocks.c: see mass_blocks.h.
 *
 * With M = L Lᵀ over the free coordinates, T = L⁻¹ S L⁻ᵀ = Q Λ Qᵀ and Λ₊ = max(Λ, 0),
 *
 *   M + S₊ = L Q (1 + Λ₊) Qᵀ Lᵀ,    (M + S₊)⁻¹ = L⁻ᵀ Q (1 + Λ₊)⁻¹ Qᵀ L⁻¹
 *
 * so that both are positive definite whatever S is, and do not depend on the units of turning.
 */
#include "server/engine/dynamics/mass_blocks.h"

#include "server/engine/linalg/chol.h"
#include "server/engine/linalg/eigen.h"
#include "server/engine/math/scalar.h"

enum { N = MASS_COORDINATES };

/* ---- one block ------------------------------------------------------------------------------ */

/* T = L⁻¹ S L⁻ᵀ: both sides are the same solution with L. */
static void whiten(const struct chol *of, double t[N][N])
{
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < of->size; i++)
			chol_solve_lower(of, t[i]);
		for (uint32_t i = 0; i < of->size; i++)
			for (uint32_t k = 0; k < i; k++) {
				double swapped = t[i][k];
				t[i][k] = t[k][i];
				t[k][i] = swapped;
			}
	}
}

/* matrix = C diag(weights) Cᵀ, with columns C[·][axis]. */
static void sum_axes(uint32_t n, const double columns[N][N], const double *weights,
		     double matrix[N][N])
{
	ASSERT(n <= N);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++) {
			double sum = 0;
			for (uint32_t axis = 0; axis < n; axis++)
				sum += weights[axis] * columns[i][axis] * columns[k][axis];
			matrix[i][k] = sum;
		}
}

/* Component of world axis 0 … 5. */
static double get_component(struct spatial v, uint32_t axis)
{
	return vec3_get(axis < 3 ? v.linear : v.angular, axis % 3);
}

/* uᵀ S v over world axes, of the symmetric part of S. */
static double measure_between(double (*s)[N], struct spatial u, struct spatial v)
{
	double sum = 0;
	for (uint32_t i = 0; i < N; i++)
		for (uint32_t k = 0; k < N; k++)
			sum += get_component(u, i) * 0.5 * (s[i][k] + s[k][i]) *
			       get_component(v, k);
	return sum;
}

bool mass_block_make(struct mass_block *self, const struct mass_operator *plain, uint32_t slot,
		     double (*s)[N])
{
	uint32_t group = mass_group(plain, slot), n = mass_coordinates(plain, group);
	ASSERT(n > 0 && n <= N);
	*self = (struct mass_block){ .count = n };
	double storage[N * N], m[N][N], t[N][N], whole[N][N] = { 0 }, undone[N][N] = { 0 };
	struct chol of;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++) {
			m[i][k] = mass_entry(plain, group, i, k);
			t[i][k] = measure_between(s, mass_axis(plain, slot, i),
						  mass_axis(plain, slot, k));
		}
	chol_init(&of, storage, N);
	if (!chol_factor(&of, &m[0][0], n, N))
		return false;
	whiten(&of, t);
	struct eigen axes = eigen_symmetric(&t[0][0], n, N);
	if (!scalar_is_finite(axes.residue))
		return false;
	double more[N], less[N];
	for (uint32_t axis = 0; axis < n; axis++) {
		more[axis] = 1 + scalar_max(axes.values[axis], 0);
		less[axis] = 1 / more[axis];
		/* Columns L q and L⁻ᵀ q. */
		double q[N];
		for (uint32_t i = 0; i < n; i++) {
			q[i] = axes.vectors[i][axis];
			for (uint32_t k = i; k < n; k++)
				whole[k][axis] += storage[k * N + i] * q[i];
		}
		chol_solve_upper(&of, q);
		for (uint32_t i = 0; i < n; i++)
			undone[i][axis] = q[i];
	}
	sum_axes(n, whole, more, self->matrix);
	sum_axes(n, undone, less, self->inverse);
	return true;
}

/* `matrix` times v, both over the coordinates; 0 along locked axes. */
static struct spatial multiply_block(const struct mass_block *self, const double (*matrix)[N],
				     const struct mass_operator *plain, uint32_t slot,
				     struct spatial v)
{
	double x[N];
	struct spatial out = spatial_zero();
	ASSERT(self->count == mass_coordinates(plain, mass_group(plain, slot)));
	for (uint32_t i = 0; i < self->count; i++)
		x[i] = spatial_dot(mass_axis(plain, slot, i), v);
	for (uint32_t i = 0; i < self->count; i++) {
		double sum = 0;
		for (uint32_t k = 0; k < self->count; k++)
			sum += matrix[i][k] * x[k];
		out = spatial_mul_add(out, mass_axis(plain, slot, i), sum);
	}
	return out;
}

struct spatial mass_block_velocity(const struct mass_block *self, const struct mass_operator *plain,
				   uint32_t slot, struct spatial momentum)
{
	return multiply_block(self, self->inverse, plain, slot, momentum);
}

struct spatial mass_block_momentum(const struct mass_block *self, const struct mass_operator *plain,
				   uint32_t slot, struct spatial velocity)
{
	return multiply_block(self, self->matrix, plain, slot, velocity);
}

/* ---- the operator -------------------------------------------------------------------------- */

static const struct mass_blocks *context_of(const struct mass_operator *self)
{
	return self->context;
}

static const struct mass_operator *plain_of(const struct mass_operator *self)
{
	return &context_of(self)->plain;
}

static const struct mass_block *block_of(const struct mass_operator *self, uint32_t slot)
{
	VALIDATE(slot < self->slots);
	return context_of(self)->blocks[slot];
}

static uint32_t blocks_room(const struct mass_operator *self, struct jacobian j)
{
	return mass_room(plain_of(self), j);
}

static void blocks_respond(const struct mass_operator *self, struct jacobian j,
			   struct spatial *room, struct mass_response *out)
{
	out->count = 0;
	for (uint32_t k = 0; k < j.count; k++) {
		struct jacobian part = { &j.parts[k], 1 };
		const struct mass_block *block = block_of(self, j.parts[k].slot);
		struct mass_response alone;
		mass_respond(plain_of(self), part, &room[out->count], &alone);
		ASSERT(alone.count <= 1);
		if (alone.count == 0)
			continue;
		if (block != NULL)
			room[out->count] = mass_block_velocity(block, plain_of(self),
							       j.parts[k].slot, j.parts[k].on);
		out->group[out->count] = alone.group[0];
		out->change[out->count] = &room[out->count];
		out->count++;
	}
	ASSERT(out->count <= j.count);
}

static double blocks_couple(const struct mass_operator *self, struct jacobian j,
			    const struct mass_response *response)
{
	return mass_couple(plain_of(self), j, response);
}

static void blocks_apply(const struct mass_operator *self, const struct mass_response *response,
			 double lambda, struct spatial *velocities)
{
	mass_apply(plain_of(self), response, lambda, velocities);
}

static void blocks_accelerate(const struct mass_operator *self, const struct spatial *forces,
			      const struct spatial *velocities, struct spatial *accelerations)
{
	const struct mass_operator *plain = plain_of(self);
	mass_accelerate(plain, forces, velocities, accelerations);
	for (uint32_t slot = 0; slot < self->slots; slot++) {
		const struct mass_block *block = block_of(self, slot);
		if (block == NULL)
			continue;
		/* M a is the force less c. */
		uint32_t group = mass_group(plain, slot);
		struct spatial force = spatial_zero();
		for (uint32_t i = 0; i < block->count; i++)
			for (uint32_t k = 0; k < block->count; k++) {
				double a =
					spatial_dot(mass_axis(plain, slot, k), accelerations[slot]);
				force = spatial_mul_add(force, mass_axis(plain, slot, i),
							mass_entry(plain, group, i, k) * a);
			}
		accelerations[slot] = mass_block_velocity(block, plain, slot, force);
	}
}

static bool blocks_multiply(const struct mass_operator *self, const struct spatial *velocities,
			    struct spatial *momenta)
{
	bool finite = mass_multiply(plain_of(self), velocities, momenta);
	for (uint32_t slot = 0; slot < self->slots; slot++) {
		const struct mass_block *block = block_of(self, slot);
		if (block != NULL)
			momenta[slot] =
				mass_block_momentum(block, plain_of(self), slot, velocities[slot]);
	}
	return finite;
}

static uint32_t blocks_group(const struct mass_operator *self, uint32_t slot)
{
	return mass_group(plain_of(self), slot);
}

static bool blocks_moves(const struct mass_operator *self, uint32_t slot)
{
	return mass_moves(plain_of(self), slot);
}

static uint32_t blocks_coordinates(const struct mass_operator *self, uint32_t group)
{
	return mass_coordinates(plain_of(self), group);
}

static struct spatial blocks_axis(const struct mass_operator *self, uint32_t slot,
				  uint32_t coordinate)
{
	return mass_axis(plain_of(self), slot, coordinate);
}

static double blocks_entry(const struct mass_operator *self, uint32_t group, uint32_t i, uint32_t j)
{
	/* A free body is a group with the number of its slot. */
	const struct mass_block *block = block_of(self, group);
	VALIDATE(block == NULL || (i < block->count && j < block->count));
	return block == NULL ? mass_entry(plain_of(self), group, i, j) : block->matrix[i][j];
}

static const struct mass_operator_kind blocks_of_bodies = {
	.room = blocks_room,
	.respond = blocks_respond,
	.couple = blocks_couple,
	.apply = blocks_apply,
	.accelerate = blocks_accelerate,
	.multiply = blocks_multiply,
	.group = blocks_group,
	.moves = blocks_moves,
	.coordinates = blocks_coordinates,
	.axis = blocks_axis,
	.entry = blocks_entry,
};

struct mass_operator mass_operator_blocks(const struct mass_blocks *blocks)
{
	const struct mass_operator *plain = &blocks->plain;
	ASSERT(plain->slots == plain->groups);
	return (struct mass_operator){ &blocks_of_bodies, blocks, plain->slots, plain->groups };
}
