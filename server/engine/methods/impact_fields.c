/* impact_fields.c: collisions with distance fields as app G-08 and G-09 have them, where
 * impact.field_rounds asks for it.
 *
 * A pair with a field has no time of collision: its overlap is looked at where its paths end.
 * Each point that is deep there, and that approaches as its paths begin, is a collision at their
 * beginning. It is solved alone (restitution, friction: u⁺·n = −e u⁻·n, each tangent sticks or
 * slides), with the velocities of the beginning and with the arms that the points have there. Of
 * body b, with collisions i of impulses P_i and depths w_i,
 *
 *   v += Σ f_i M⁻¹ J_iᵀ P_i,   f_i = w_i / max(W_a, W_b),   W = Σ w of a body's collisions
 *
 * which is the book's mean Σ w V / Σ w where one of the two bodies is fixed, or both have the
 * same collisions. (Otherwise the book divides by each body's own sum. Then b gets another part
 * of P_i than a, and momentum is lost.) Since Σ f ≤ 1 for each body and no single collision
 * gains energy, their mean gains none either. The motion begins anew with these velocities, ends
 * are looked at again, and so on; above impact.field_rounds collisions of a body in a tick its
 * restitution is 0.
 *
 * Points that do not approach at the beginning, or more slowly than restitution.speed, are no
 * collisions: their pair has its time of collision as others do, and pairs that touch have
 * contact forces.
 *
 * What the source states as limits holds: who passes a field within one path does not meet it,
 * and the body turns back before the surface, by up to the way of one path. The moment of a
 * tangential impulse is that of each body's own point, as in the source; momentum is kept, its
 * moment up to the gap.
 */
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/mass_operator.h"
#include "server/engine/methods/impact.h"
#include "server/engine/solvers/impulse.h"

/* m/s. Slower slip has no direction. */
#define SLIP 1e-9

#define ALLOCATE(type, count) ARENA_ARRAY(&self->step->dynamics->scratch, type, count)

/* One point of a pair. */
struct field_collision {
	uint32_t slots[2]; /* of a, b; ROW_NO_BODY: cannot move */
	uint32_t pair, point;
	vec3 arms[2], normal;
	vec3 impulse; /* N s, on b */
	double weight;
};

struct field_work {
	struct impact_step *self;
	struct impulse solver;
	struct field_collision *items;
	uint32_t count, capacity;
};

static struct mass_body mass_of(const struct impact_step *self, uint32_t slot)
{
	struct mass_body out = { .locks = 0 };
	if (slot == ROW_NO_BODY || !self->movable[slot])
		return out;
	mass_bodies_from_tables(self->step->dynamics->tables, &self->step->bodies[slot], 1,
				&self->from[slot], &out);
	return out;
}

/* Change of velocity by an impulse at an arm. */
static struct spatial response(const struct mass_body *mass, vec3 arm, vec3 impulse)
{
	vec3 linear = vec3_make(mass->mass_inv.x * impulse.x, mass->mass_inv.y * impulse.y,
				mass->mass_inv.z * impulse.z);
	return (struct spatial){ linear, sym3_apply(mass->inertia_inv, vec3_cross(arm, impulse)) };
}

static vec3 point_speed(struct spatial motion, vec3 arm)
{
	return vec3_add(motion.linear, vec3_cross(motion.angular, arm));
}

/* The tangents of a collision: along its slip, or along the axis of friction if it has one. */
static void make_frame(vec3 normal, vec3 u, const struct contact_material *material, vec3 frame[3])
{
	vec3 along = vec3_mul_sub(u, normal, vec3_dot(u, normal));
	vec3 axis = vec3_mul_sub(material->axis, normal, vec3_dot(material->axis, normal));
	double size = vec3_length(axis);
	if (size > 1e-3 * vec3_length(material->axis)) {
		along = axis;
	} else {
		size = vec3_length(along);
	}
	frame[0] = normal;
	vec3_frame(normal, &frame[1], &frame[2]);
	if (!(size > SLIP))
		return;
	frame[1] = vec3_scale(along, 1 / size);
	frame[2] = vec3_cross(normal, frame[1]);
}

/* The impulse of one collision alone, on b. */
static vec3 solve_alone(struct field_work *work, const struct field_collision *item, vec3 u,
			double restitution, const struct contact_material *material)
{
	struct impact_step *self = work->self;
	struct mass_body a = mass_of(self, item->slots[0]), b = mass_of(self, item->slots[1]);
	vec3 frame[3], sum = vec3_zero();
	double matrix[9], speeds[3], impulses[3] = { 0, 0, 0 };
	bool has_axis = vec3_length_squared(material->axis) > 0;
	double friction[2] = { has_axis ? material->axis_dynamic : material->dynamic_friction,
			       material->dynamic_friction };
	make_frame(item->normal, u, material, frame);
	for (uint32_t j = 0; j < 3; j++) {
		struct spatial by_a = response(&a, item->arms[0], frame[j]);
		struct spatial by_b = response(&b, item->arms[1], frame[j]);
		vec3 change = vec3_add(point_speed(by_a, item->arms[0]),
				       point_speed(by_b, item->arms[1]));
		speeds[j] = vec3_dot(frame[j], u);
		for (uint32_t i = 0; i < 3; i++)
			matrix[3 * i + j] = vec3_dot(frame[i], change);
	}
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t j = 0; j < i; j++)
			matrix[3 * i + j] = matrix[3 * j + i];
	struct impulse_problem problem = { 1, 3, matrix, speeds, &restitution, friction };
	struct solver_options options = solver_options_default();
	struct solver_result result = impulse_solve(&work->solver, &problem, &options, impulses);
	self->step->dynamics->report.fallbacks += result.fallbacks;
	for (uint32_t i = 0; i < 3; i++)
		sum = vec3_mul_add(sum, frame[i], impulses[i]);
	return sum;
}

static bool is_capped(const struct impact_step *self, uint32_t slot)
{
	return slot != ROW_NO_BODY && self->field_count[slot] >= self->field_rounds;
}

static struct spatial velocity_of(const struct impact_step *self, uint32_t body, double time)
{
	struct body_motion at = impact_motion_at(self, body, time);
	return (struct spatial){ at.velocity, at.angular_velocity };
}

/* The collisions of one pair. */
static void add_pair(struct field_work *work, uint32_t pair)
{
	struct impact_step *self = work->self;
	const struct contact_state *contact = &self->list->items[pair];
	struct impact_meeting met;
	if (!impact_meeting_find(self, pair, &met))
		return;
	struct contact_material material =
		contact_material(self->step->dynamics, contact->a, contact->b);
	struct field_collision item = { .slots = { impact_slot(self, contact->body_a),
						   impact_slot(self, contact->body_b) },
					.pair = pair,
					.normal = met.normal };
	struct spatial a = velocity_of(self, contact->body_a, met.begin);
	struct spatial b = velocity_of(self, contact->body_b, met.begin);
	bool capped = is_capped(self, item.slots[0]) || is_capped(self, item.slots[1]);
	for (uint32_t k = 0; k < met.count; k++) {
		if (!(met.speed[k] < -self->settings.restitution_speed))
			continue;
		ASSERT(work->count < work->capacity && met.depth[k] > 0);
		item.point = met.feature[k];
		item.arms[0] = met.arm_a[k];
		item.arms[1] = met.arm_b[k];
		item.weight = met.depth[k];
		vec3 u = vec3_sub(point_speed(b, item.arms[1]), point_speed(a, item.arms[0]));
		item.impulse =
			solve_alone(work, &item, u, capped ? 0 : material.restitution, &material);
		self->counts.inelastic += capped && material.restitution > 0;
		work->items[work->count++] = item;
		struct step_met *told = &self->records[pair].met;
		if (-met.speed[k] > told->speed)
			*told = (struct step_met){
				.speed = -met.speed[k],
				.fraction = met.begin / self->step->dt,
				.point = vec3_add(
					impact_motion_at(self, contact->body_a, met.begin).centre,
					item.arms[0]),
				.normal = met.normal,
			};
	}
	self->pairs[pair].first = scalar_min(self->pairs[pair].first, met.begin);
}

/* Adds what a collision gives a body, by its share of the mean. */
static void change_velocity(struct impact_step *self, uint32_t slot, vec3 arm, vec3 impulse)
{
	if (slot == ROW_NO_BODY || !self->movable[slot])
		return;
	struct mass_body mass = mass_of(self, slot);
	struct spatial by = response(&mass, arm, impulse);
	struct body_motion *at = &self->from[slot];
	at->velocity = vec3_add(at->velocity, by.linear);
	at->angular_velocity = vec3_add(at->angular_velocity, by.angular);
}

static void apply_collisions(struct field_work *work)
{
	struct impact_step *self = work->self;
	for (uint32_t i = 0; i < work->count; i++)
		for (uint32_t k = 0; k < 2; k++)
			if (work->items[i].slots[k] != ROW_NO_BODY)
				self->field_weight[work->items[i].slots[k]] +=
					work->items[i].weight;
	for (uint32_t i = 0; i < work->count; i++) {
		const struct field_collision *item = &work->items[i];
		double sum = 0;
		for (uint32_t k = 0; k < 2; k++)
			if (item->slots[k] != ROW_NO_BODY && self->movable[item->slots[k]])
				sum = scalar_max(sum, self->field_weight[item->slots[k]]);
		ASSERT(sum >= item->weight);
		vec3 part = vec3_scale(item->impulse, item->weight / sum);
		change_velocity(self, item->slots[0], item->arms[0], vec3_negate(part));
		change_velocity(self, item->slots[1], item->arms[1], part);
		double normal = vec3_dot(part, item->normal);
		struct impact_impulses told = {
			.feature = { item->point },
			.normal = { normal },
			.friction = vec3_mul_sub(part, item->normal, normal),
			.count = 1,
		};
		impact_add_impulses(&self->records[item->pair].past, &told);
	}
	/* A body's round is one, however many points it has. */
	for (uint32_t i = 0; i < work->count; i++)
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t slot = work->items[i].slots[k];
			if (slot == ROW_NO_BODY || !(self->field_weight[slot] > 0))
				continue;
			self->field_weight[slot] = 0;
			self->field_count[slot]++;
		}
}

enum status impact_fields_begin(struct impact_step *self)
{
	uint32_t n = self->step->body_count;
	struct arena *scratch = &self->step->dynamics->scratch;
	if (self->field_rounds == 0)
		return STATUS_OK;
	self->field_count = arena_push_zero(scratch, n * sizeof *self->field_count);
	self->field_weight = arena_push_zero(scratch, n * sizeof *self->field_weight);
	return self->field_count == NULL || self->field_weight == NULL ? STATUS_NO_MEMORY
								       : STATUS_OK;
}

enum status impact_fields_collide(struct impact_step *self, const uint32_t *pairs, uint32_t count)
{
	uint32_t hits = 0;
	for (uint32_t i = 0; i < count && self->field_rounds > 0; i++)
		hits += self->pairs[pairs[i]].hit && impact_meets_field(self, pairs[i]);
	if (hits == 0)
		return STATUS_OK;
	struct arena *scratch = &self->step->dynamics->scratch;
	struct field_work work = { .self = self, .capacity = hits * MANIFOLD_POINTS_MAX };
	void *memory = arena_push(scratch, impulse_bytes(1));
	work.items = ALLOCATE(struct field_collision, work.capacity);
	if (memory == NULL || work.items == NULL)
		return STATUS_NO_MEMORY;
	impulse_init(&work.solver, memory, 1);
	for (uint32_t i = 0; i < count; i++)
		if (self->pairs[pairs[i]].hit && impact_meets_field(self, pairs[i]))
			add_pair(&work, pairs[i]);
	apply_collisions(&work);
	self->counts.met_depths += work.count;
	return STATUS_OK;
}
