/* lcp.c: contact as a linear complementarity problem at the level of velocities: the assignment's §3, as
 * a prototype by projected Gauss–Seidel until the exact solvers take its place.
 *
 * With J the rows of all contacts, M the masses and v* the velocities after forces, find λ >= 0 with
 *   w = J (v* + M⁻¹ Jᵀ λ) + b >= 0,   λ·w = 0,   friction rows |λ_t| <= μ λ_n each.
 * b lets an open gap close (gap/dt) and a violated one part slowly (PART of it a step, at most
 * soft_step.push_speed). Inelastic. Sweeps go over the rows in order, in double, until one changes no
 * velocity by more than SETTLED, or lcp.iterations are over. The residual is the largest change of a
 * row's speed in the last sweep, m/s. Redundant contacts only make it slow, never fail.
 */
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/integrate.h"
#include "server/engine/methods/method.h"
#include "server/engine/world/parameters.h"

#define PART 0.2      /* 1: of a penetration, taken out in a step */
#define SETTLED 1e-12 /* m/s */
#define SHAPES (1u << SHAPE_SPHERE | 1u << SHAPE_PLANE | 1u << SHAPE_POLYGON)

struct velocity {
	vec3 linear, angular;
	mat3 inertia_inv;
	double mass_inv;
};
struct problem {
	struct dynamics *dynamics;
	double dt;
	struct velocity *bodies; /* by slot + 1; 0 is the world */
	struct row *rows;
	double *lambda, *mass;
	uint32_t row_count;
};

static enum status refuse(struct reason *why, body_id id, const struct shape *shape)
{
	return reason_set(why, STATUS_METHOD_REFUSES, -1, "method",
			  "lcp needs spheres, planes or polygons: body %u is a %s", id,
			  shape_kind_name(shape->kind));
}

static enum status supports(const struct dynamics *dynamics, struct reason *why)
{
	const struct tables *tables = dynamics->tables;
	for (uint32_t p = 0; p < tables->placement.count; p++) {
		if (tables->placement.body[p] == 0)
			continue;
		const struct shape *shape = dynamics->shapes[tables->placement.shape[p]];
		if (!(SHAPES >> shape->kind & 1))
			return refuse(why, tables->body.id[placement_body(tables, p)], shape);
	}
	return STATUS_OK;
}

static enum status admit(const struct dynamics *dynamics, const struct command *command,
			 const struct shape *const *shapes, uint32_t count, struct reason *why)
{
	if (command->op != COMMAND_SPAWN)
		return STATUS_OK;
	for (uint32_t i = 0; i < count; i++)
		if (!(SHAPES >> shapes[i]->kind & 1))
			return refuse(why, dynamics->tables->world.next_body[0], shapes[i]);
	return STATUS_OK;
}

static void attach(struct dynamics *dynamics)
{
	dynamics_contacts_reset(dynamics);
}

static void detach(struct dynamics *dynamics)
{
	dynamics_contacts_reset(dynamics);
	dynamics_wake_all(dynamics);
}

static uint64_t need(uint64_t bodies, uint64_t contacts)
{
	return (bodies + 1) * (sizeof(struct velocity) + sizeof(uint32_t) + 2 * sizeof(vec3) +
			       sizeof(struct body_motion)) +
	       contacts * CONTACT_ROWS_MAX * (sizeof(struct row) + 2 * sizeof(double));
}

static struct velocity *velocity_of(const struct problem *self, uint32_t body)
{
	bool awake = bitset_get(&self->dynamics->awake, body);
	return &self->bodies[awake ? self->dynamics->bodies.items[body].slot + 1 : 0];
}

static void apply(struct problem *self, const struct row *row, double impulse)
{
	struct velocity *a = velocity_of(self, row->body_a), *b = velocity_of(self, row->body_b);
	a->linear = vec3_mul_add(a->linear, row->linear_a, a->mass_inv * impulse);
	b->linear = vec3_mul_add(b->linear, row->linear_b, b->mass_inv * impulse);
	a->angular = vec3_mul_add(a->angular, mat3_mul_vec(a->inertia_inv, row->angular_a), impulse);
	b->angular = vec3_mul_add(b->angular, mat3_mul_vec(b->inertia_inv, row->angular_b), impulse);
}

/* Rows, their effective masses, and a first λ from the last step. */
static void state(struct problem *self)
{
	struct dynamics *dynamics = self->dynamics;
	double push = dynamics->tables->parameter.value[PARAMETER_PUSH_SPEED];
	for (uint32_t i = 0; i < dynamics->contact_count; i++) {
		const struct contact_state *contact = &dynamics->contacts[i];
		self->row_count += contact_rows(dynamics, contact, true, self->row_count,
						&self->rows[self->row_count]);
	}
	for (uint32_t i = 0; i < self->row_count; i++) {
		struct row *row = &self->rows[i];
		const struct velocity *a = velocity_of(self, row->body_a);
		const struct velocity *b = velocity_of(self, row->body_b);
		double k = a->mass_inv + b->mass_inv +
			   vec3_dot(row->angular_a, mat3_mul_vec(a->inertia_inv, row->angular_a)) +
			   vec3_dot(row->angular_b, mat3_mul_vec(b->inertia_inv, row->angular_b));
		self->mass[i] = k > 0 ? 1 / k : 0;
		uint32_t axis = row->kind == ROW_CONTACT ? 0 : i - row->friction_of;
		self->lambda[i] =
			dynamics->tables->contact.multiplier[row->source][3 * row->point + axis];
		if (row->kind == ROW_CONTACT)
			row->bias = row->gap > 0 ? row->gap / self->dt :
						   scalar_max(PART * row->gap / self->dt, -push);
		apply(self, row, self->lambda[i]);
	}
}

/* One sweep; returns the largest change of a row's speed. */
static double sweep(struct problem *self)
{
	double most = 0;
	for (uint32_t i = 0; i < self->row_count; i++) {
		const struct row *row = &self->rows[i];
		const struct velocity *a = velocity_of(self, row->body_a);
		const struct velocity *b = velocity_of(self, row->body_b);
		double speed = vec3_dot(row->linear_a, a->linear) + vec3_dot(row->linear_b, b->linear) +
			       vec3_dot(row->angular_a, a->angular) +
			       vec3_dot(row->angular_b, b->angular) + row->bias;
		double limit = row->kind == ROW_FRICTION ?
				       row->friction * self->lambda[row->friction_of] :
				       row->upper;
		double low = row->kind == ROW_FRICTION ? -limit : row->lower;
		double after = scalar_clamp(self->lambda[i] - self->mass[i] * speed, low, limit);
		double change = after - self->lambda[i];
		self->lambda[i] = after;
		apply(self, row, change);
		if (self->mass[i] > 0)
			most = scalar_max(most, scalar_abs(change) / self->mass[i]);
	}
	return most;
}

static void store_impulses(const struct problem *self)
{
	struct contact_table *table = &self->dynamics->tables->contact;
	for (uint32_t i = 0; i < self->row_count; i++) {
		const struct row *row = &self->rows[i];
		uint32_t axis = row->kind == ROW_CONTACT ? 0 : i - row->friction_of;
		double *total = table->friction_impulse[row->source];
		if (axis == 0 && row->point == 0)
			total[0] = total[1] = total[2] = 0;
		table->multiplier[row->source][3 * row->point + axis] = self->lambda[i];
		if (axis == 0) {
			table->normal_impulse[row->source][row->point] = self->lambda[i];
			continue;
		}
		total[0] += row->linear_b.x * self->lambda[i];
		total[1] += row->linear_b.y * self->lambda[i];
		total[2] += row->linear_b.z * self->lambda[i];
	}
}

static void solve(struct problem *self)
{
	struct step_report *report = &self->dynamics->report;
	double most = self->dynamics->tables->parameter.value[PARAMETER_LCP_ITERATIONS];
	state(self);
	report->residual = self->row_count > 0 ? __builtin_inf() : 0;
	while (report->residual > SETTLED && report->iterations < most) {
		report->residual = sweep(self);
		report->iterations++;
	}
	store_impulses(self);
}

/* Velocities after forces, of the awake; slot 0 is the world. */
static void begin(struct problem *self, const uint32_t *rows, uint32_t count)
{
	struct dynamics *dynamics = self->dynamics;
	vec3 *forces = ARENA_ARRAY(&dynamics->scratch, vec3, count);
	vec3 *torques = ARENA_ARRAY(&dynamics->scratch, vec3, count);
	ASSERT(forces != NULL && torques != NULL);
	dynamics_forces(dynamics, forces, torques, count);
	self->bodies[0] = (struct velocity){ .mass_inv = 0 };
	for (uint32_t i = 0; i < count; i++) {
		struct velocity *to = &self->bodies[i + 1];
		to->mass_inv = dynamics->tables->body.mass_inv[rows[i]];
		to->inertia_inv = integrate_inertia_inv(dynamics, rows[i]);
		integrate_velocities(dynamics, rows[i], forces[i], torques[i], self->dt,
				     &to->linear, &to->angular);
	}
}

static enum status step(struct dynamics *dynamics, double dt, struct reason *why)
{
	enum status status = dynamics_prepare(dynamics, need, why);
	if (status != STATUS_OK)
		return status;
	dynamics_collide(dynamics);
	struct arena *scratch = &dynamics->scratch;
	uint32_t count = dynamics->awake.count;
	uint32_t rows_max = dynamics->contact_count * CONTACT_ROWS_MAX;
	uint32_t *rows = ARENA_ARRAY(scratch, uint32_t, count);
	struct problem self = { .dynamics = dynamics,
				.dt = dt,
				.bodies = ARENA_ARRAY(scratch, struct velocity, count + 1),
				.rows = ARENA_ARRAY(scratch, struct row, rows_max),
				.lambda = ARENA_ARRAY(scratch, double, rows_max),
				.mass = ARENA_ARRAY(scratch, double, rows_max) };
	struct body_motion *motions = ARENA_ARRAY(scratch, struct body_motion, count);
	ASSERT(rows != NULL && self.bodies != NULL && self.rows != NULL && self.lambda != NULL);
	ASSERT(self.mass != NULL && motions != NULL);
	dynamics_number_awake(dynamics, rows);
	begin(&self, rows, count);
	solve(&self);
	dynamics_contacts_solved(dynamics);
	for (uint32_t i = 0; i < count; i++)
		motions[i] = integrate_pose(dynamics, rows[i], dt, self.bodies[i + 1].linear,
					    self.bodies[i + 1].linear, self.bodies[i + 1].angular);
	dynamics_store_all(dynamics, rows, motions, count);
	dynamics_sleep(dynamics, dt);
	dynamics_finish(dynamics);
	return STATUS_OK;
}

const struct method method_lcp = {
	.name = "lcp",
	.summary = "velocity-level complementarity by projected Gauss-Seidel (prototype)",
	.number = 3,
	.motion = 0,
	.supports = supports,
	.admit = admit,
	.attach = attach,
	.detach = detach,
	.step = step,
	.shapes = SHAPES,
	.friction = true,
	.sleep = true,
	.planar = true,
	.three_d = true,
};
