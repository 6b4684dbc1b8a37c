/* fluid_forces.c: what acts on a fluid besides its pressure, over a sub-step; see fluid_work.h.
 *
 *   viscosity        friction takes Σ_i n_i Σ_j μ V_i V_j ∇²W |v_j − v_i − ω_i × e|²/2, e from i to j, with
 *                    the Laplacian of the viscosity kernel and the turn ω_i for which the sum over j is
 *                    least. Its slope is the force of j on i,
 *                    μ V_i V_j ∇²W [(n_i + n_j) (v_j − v_i) − (n_i ω_i + n_j ω_j) × e]:
 *                    none in a rigid turn, and angular momentum is kept to rounding. It is the divergence
 *                    of twice the rate of strain, so a velocity that is quadratic in space has its own
 *                    Laplacian (P-48). Plain differences of velocity brake turns at a free surface.
 *                    n_i makes up for neighbours that are missing: 1 where they are on all sides.
 *   walls            μ V ∇²W (w − v) with the body's velocity w and wall_viscosity, where it lies in the
 *                    kernel; the velocity goes on linearly beyond its surface (fluid_layer_drag)
 *   surface tension  the slope of the energy of the free surface (fluid_tension.c)
 *
 * Each is the exact opposite for the partner; the energy does not change with a turn, so angular
 * momentum is kept as well. Then gravity, fields and drag as for other particles. */
#include "server/engine/fluids/fluid_work.h"

#include "server/engine/math/sym3.h"

/* 1: the part of a difference of velocities that a wall takes away in a sub-step, by what is left of it. */
static double drag_rate(const struct fluid_work *self, uint32_t place,
			const struct fluid_wall *wall)
{
	const struct fluid_liquid *liquid = &self->liquids[self->liquid.items[place]];
	double force = liquid->wall_viscosity * self->volume.items[place] * wall->drag;
	ASSERT(force >= 0);
	return force * self->step / self->mass.items[place];
}

static vec3 wall_velocity(const struct fluid_work *self, uint32_t place,
			  const struct fluid_wall *wall)
{
	const struct fluid_body *body = &self->bodies.items[wall->body];
	return vec3_add(fluid_body_velocity(body, self->x.items[place]), wall->surface);
}

/* The velocity after the drag of all walls, which is implicit: v' = v + Σ r (w − v'). So in a steady flow
 * the slip does not depend on the step. */
static vec3 drag_walls(struct fluid_work *self, uint32_t place, vec3 v)
{
	uint32_t first = self->wall_starts.items[place], end = self->wall_ends.items[place];
	double rates = 0;
	vec3 sum = v;
	for (uint32_t k = first; k < end; k++) {
		const struct fluid_wall *wall = &self->walls.items[k];
		double rate = drag_rate(self, place, wall);
		sum = vec3_mul_add(sum, wall_velocity(self, place, wall), rate);
		rates += rate;
	}
	v = vec3_scale(sum, 1 / (1 + rates));
	for (uint32_t k = first; k < end; k++) {
		const struct fluid_wall *wall = &self->walls.items[k];
		vec3 slip = vec3_sub(wall_velocity(self, place, wall), v);
		double rate = drag_rate(self, place, wall);
		vec3 push = vec3_scale(slip, rate * self->mass.items[place]);
		vec3 arm = vec3_sub(self->x.items[place], self->bodies.items[wall->body].centre);
		struct fluid_push *out = &self->pushes.items[wall->sum];
		out->push = vec3_sub(out->push, push);
		out->twist = vec3_sub(out->twist, vec3_cross(arm, push));
	}
	return v;
}

static struct fluid_slips slips_of(const struct fluid_work *self)
{
	/* Until there are pressures, `load` is the volume in cubes of radii times the viscosity. */
	return (struct fluid_slips){ self->sites.items, self->turns.items, self->load.items,
				     self->v.items };
}

/* The turn ω with the least Σ w |v_j − v_i − ω × e|²: J ω = Σ w e × (v_j − v_i), J = Σ w (e² − e e^T), which
 * has no inverse where all neighbours are on one line. */
#define TURN_FLOOR 1e-12
static vec3 turn_of(const struct fluid_swirl *swirl)
{
	const double *s = swirl->squares, *m = swirl->mixed;
	double all = s[0] + s[1] + s[2], floor = TURN_FLOOR * all;
	mat3 inverse;
	ASSERT(!(all < 0));
	if (!(all > 0))
		return vec3_zero();
	double unit = 1 / all;
	sym3 inertia = sym3_make(s[1] + s[2] + floor, s[2] + s[0] + floor, s[0] + s[1] + floor,
				 -m[0], -m[1], -m[2]);
	if (!mat3_inverse(sym3_matrix(sym3_scale(inertia, unit)), &inverse))
		return vec3_zero();
	return vec3_scale(
		mat3_mul_vec(inverse, vec3_make(swirl->zxy[1], swirl->zxy[2], swirl->zxy[0])),
		unit);
}

/* n_i: the inverse of the part of r² ∇²W that the neighbours and walls of a place have. */
#define SHARE_MAX 2.0
static double share_of(const struct fluid_work *self, uint32_t place,
		       const struct fluid_swirl *swirl)
{
	double viscosity = self->liquids[self->liquid.items[place]].viscosity, walls = 0;
	double sum = swirl->squares[0] + swirl->squares[1] + swirl->squares[2];
	double full = sum * fluid_kernel_laplacian(0) / 12;
	for (uint32_t k = self->wall_starts.items[place]; k < self->wall_ends.items[place]; k++)
		walls += self->walls.items[k].spread;
	full += walls * viscosity;
	ASSERT(viscosity >= 0 && walls >= 0);
	return full > 0 ? scalar_min(viscosity / full, SHARE_MAX) : 1;
}

static void turn_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	const struct fluid_slips slips = slips_of(self);
	for (uint32_t i = first * FLUID_BLOCK; i < fluid_block_end(self, last - 1); i++) {
		const struct fluid_liquid *liquid = &self->liquids[self->liquid.items[i]];
		struct fluid_swirl swirl;
		uint32_t count;
		const struct fluid_pair *pairs = fluid_pairs(self, i, &count);
		self->kernels->sum_swirls(&slips, pairs, count, i, liquid->viscosity, &swirl);
		vec3 turn = turn_of(&swirl);
		double share = share_of(self, i, &swirl);
		self->turns.items[i] = (struct fluid_turn){ share * turn.x, share * turn.y,
							    share * turn.z, share };
	}
}

/* N, of viscosity, without walls. */
static vec3 pair_drag(const struct fluid_work *self, uint32_t place)
{
	const struct fluid_liquid *own = &self->liquids[self->liquid.items[place]];
	const struct fluid_slips slips = slips_of(self);
	uint32_t count;
	const struct fluid_pair *pairs = fluid_pairs(self, place, &count);
	vec3 sum = self->kernels->sum_slips(&slips, pairs, count, place, own->viscosity);
	double unit = fluid_kernel_laplacian(0) / (self->radius * self->radius);
	return vec3_scale(sum, 0.5 * self->thinning * unit * self->volume.items[place]);
}

static void force_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	for (uint32_t i = first * FLUID_BLOCK; i < fluid_block_end(self, last - 1); i++) {
		const struct fluid_liquid *liquid = &self->liquids[self->liquid.items[i]];
		struct particle_law law = liquid->law;
		vec3 push = vec3_zero(), v = self->v.items[i], a = law.acceleration;
		double mass = self->mass.items[i];
		if (self->is_viscous)
			push = vec3_scale(pair_drag(self, i), self->step);
		if (self->has_tension)
			push = vec3_mul_add(push, self->pull.items[i], self->step);
		if (law.drag > 0 && mass != law.mass)
			particle_law_of_mass(&law, mass, self->step);
		if (law.fields)
			a = vec3_add(a, particle_field_acceleration(self->motion, liquid->row,
								    self->x.items[i], v, mass));
		v = vec3_mul_add(vec3_scale(v, law.decay), a, law.coast * self->step);
		v = vec3_mul_add(v, push, 1 / mass);
		if (liquid->wall_viscosity > 0)
			v = drag_walls(self, i, v);
		self->gain.items[i] = vec3_sub(v, self->v.items[i]);
	}
}

void fluid_force(struct fluid_work *self)
{
	if (self->is_viscous)
		fluid_run(self, turn_blocks);
	fluid_run(self, force_blocks);
	for (uint32_t i = 0; i < self->points.count; i++)
		self->v.items[i] = vec3_add(self->v.items[i], self->gain.items[i]);
	fluid_collect(self);
	fluid_give(self);
	ASSERT(self->thinning > 0 && self->thinning <= 1);
	for (uint32_t i = 0; i < self->bodies.count; i++) {
		struct fluid_body *body = &self->bodies.items[i];
		if (!body->dynamic)
			continue;
		body->velocity = vec3_mul_add(body->velocity, body->acceleration, self->step);
		body->spin = vec3_mul_add(body->spin, body->turning, self->step);
	}
}
