/* soft_prepare.c: from contacts to lanes of constraints, and impulses back.
 *
 * A manifold with normal n, points with arms r_a, r_b and separations s:
 *   J_i = (−n, −r_a×n, n, r_b×n),   mass_i = 1 / (J_i M⁻¹ J_iᵀ)
 * Friction is stated once a manifold, at a centre c, the mean of its points weighted by nearness:
 * two tangents as one 2×2 block, and one twist about n. Nearness fades over FRICTION_FADE beyond
 * the nearest point, so that the centre moves smoothly when points come and go.
 *
 * Softness. A contact is a damped spring of frequency f and damping ratio ζ, integrated implicitly over a
 * sub-step of h. With ω = 2πf, a₁ = 2ζ + hω, a₂ = hω a₁, a₃ = 1/(1 + a₂):
 *   λ ← λ − a₂ a₃ mass (J v + (ω/a₁) s) − a₃ λ.
 * f is relative to nothing but time, so light and heavy bodies are equally stiff; above HERTZ_MAX of
 * the sub-step rate it could not be resolved. Against what cannot move f is doubled and ζ halved.
 *
 * Impulses that warm-start the next step are those of the last sub-step: `multiplier` holds them, the
 * normal one of point i at 3i, friction as a vector in A's frame at 1, 2 and 4, the twist at 5. Kept
 * as a vector, friction survives a change of normal.
 */
#include "server/engine/methods/soft_step.h"

#include "server/base/prefetch.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/tuning.h"

#include <string.h>

enum { BLOCK_GRAIN = 4 };

/* Of the sub-step rate. Measured on a pyramid of 20 rows, 4 sub-steps: at 0.125 it drifts 10.5 mm and
 * sinks 3.1 mm, at 0.15 7.3 and 2.2, at 0.175 5.9 and 1.7; at 0.2 9.6 and 1.5, from 0.25 on it wanders. */
#define HERTZ_MAX 0.15

struct softness {
	float bias_rate, mass_scale, impulse_scale;
};

struct prepare {
	struct soft_step *step;
	struct softness dynamic, fixed; /* between two bodies that move; against one that does not */
};

static struct softness softness_of(double hertz, double damping, double h)
{
	double omega = TWO_PI * hertz;
	double a1 = 2 * damping + h * omega, a2 = h * omega * a1, a3 = 1 / (1 + a2);
	return (struct softness){ (float)(omega / a1), (float)(a2 * a3), (float)a3 };
}

/* ---- one lane --------------------------------------------------------------------------------- */

struct lane_body {
	float mass_inv;
	const sym3f *inertia_inv;
};

static const sym3f NO_INERTIA;

static struct lane_body lane_body(const struct soft_step *self, uint32_t number)
{
	if (number == 0 || !self->drives[number - 1].dynamic)
		return (struct lane_body){ 0, &NO_INERTIA };
	const struct soft_drive *drive = &self->drives[number - 1];
	return (struct lane_body){ drive->mass_inv, &drive->inertia_inv };
}

static void put3(struct lane8x3 *to, uint32_t lane, vec3f v)
{
	to->x.at[lane] = v.x;
	to->y.at[lane] = v.y;
	to->z.at[lane] = v.z;
}

static vec3f narrow(vec3 v)
{
	return vec3f_make((float)v.x, (float)v.y, (float)v.z);
}

static vec3f lanes_vec3f(lanes v)
{
	return vec3f_make(v[0], v[1], v[2]);
}

/* What the points of one manifold share while they are written. */
struct lane_work {
	struct soft_step *step;
	struct soft_block *block;
	uint32_t lane;
	const struct contact_state *contact;
	struct lane_body a, b;
	const struct soft_body *soft_a, *soft_b;
	vec3f normal;
};

static vec3f relative_velocity(const struct lane_work *w, vec3f arm_a, vec3f arm_b)
{
	vec3f at_a = vec3f_add(lanes_vec3f(w->soft_a->velocity),
			       vec3f_cross(lanes_vec3f(w->soft_a->spin), arm_a));
	vec3f at_b = vec3f_add(lanes_vec3f(w->soft_b->velocity),
			       vec3f_cross(lanes_vec3f(w->soft_b->spin), arm_b));
	return vec3f_sub(at_b, at_a);
}

static void write_point(const struct lane_work *w, uint32_t p, double warm, vec3f centre_arm)
{
	const struct contact_point *from = &w->contact->points[p];
	struct soft_point *to = &w->block->points[p];
	uint32_t lane = w->lane;
	vec3f arm_a = narrow(from->arm_a), arm_b = narrow(from->arm_b);
	vec3f j_a = vec3f_cross(arm_a, w->normal), j_b = vec3f_cross(arm_b, w->normal);
	vec3f spin_a = sym3f_apply(w->a.inertia_inv, j_a);
	vec3f spin_b = sym3f_apply(w->b.inertia_inv, j_b);
	float k = w->a.mass_inv + w->b.mass_inv + vec3f_dot(j_a, spin_a) + vec3f_dot(j_b, spin_b);
	put3(&to->j_a, lane, j_a);
	put3(&to->j_b, lane, j_b);
	put3(&to->spin_a, lane, spin_a);
	put3(&to->spin_b, lane, spin_b);
	to->separation.at[lane] = (float)from->separation;
	to->mass.at[lane] = k > 0 ? 1 / k : 0;
	to->impulse.at[lane] = (float)warm;
	to->total.at[lane] = 0;
	to->approach.at[lane] = vec3f_dot(w->normal, relative_velocity(w, arm_a, arm_b));
	to->lever.at[lane] = vec3f_length(vec3f_sub(arm_a, centre_arm));
}

static void write_no_point(struct soft_point *to, uint32_t lane)
{
	put3(&to->j_a, lane, vec3f_zero());
	put3(&to->j_b, lane, vec3f_zero());
	put3(&to->spin_a, lane, vec3f_zero());
	put3(&to->spin_b, lane, vec3f_zero());
	to->separation.at[lane] = to->mass.at[lane] = to->impulse.at[lane] = 0;
	to->total.at[lane] = to->approach.at[lane] = to->lever.at[lane] = 0;
}

/* The mean arm from A's mass centre, weighted by nearness. */
static vec3 friction_centre(const struct contact_state *contact)
{
	double nearest = 0;
	for (uint32_t p = 0; p < contact->point_count; p++)
		if (p == 0 || contact->points[p].separation < nearest)
			nearest = contact->points[p].separation;
	nearest = scalar_max(nearest, 0);
	vec3 sum = vec3_zero();
	double weights = 0;
	for (uint32_t p = 0; p < contact->point_count; p++) {
		double beyond = contact->points[p].separation - nearest;
		double weight = scalar_clamp(1 - beyond / FRICTION_FADE, 0, 1);
		sum = vec3_mul_add(sum, contact->points[p].arm_a, weight);
		weights += weight;
	}
	return vec3_scale(sum, 1 / weights);
}

/* The inverse of the 2×2 block of the tangents at the friction centre. */
static void write_tangent_mass(const struct lane_work *w, vec3f arm_a, vec3f arm_b, vec3f t1, vec3f t2)
{
	vec3f a1 = vec3f_cross(arm_a, t1), a2 = vec3f_cross(arm_a, t2);
	vec3f b1 = vec3f_cross(arm_b, t1), b2 = vec3f_cross(arm_b, t2);
	vec3f ia1 = sym3f_apply(w->a.inertia_inv, a1), ib1 = sym3f_apply(w->b.inertia_inv, b1);
	vec3f ia2 = sym3f_apply(w->a.inertia_inv, a2), ib2 = sym3f_apply(w->b.inertia_inv, b2);
	float masses = w->a.mass_inv + w->b.mass_inv;
	float k11 = masses + vec3f_dot(a1, ia1) + vec3f_dot(b1, ib1);
	float k22 = masses + vec3f_dot(a2, ia2) + vec3f_dot(b2, ib2);
	float k12 = vec3f_dot(a1, ia2) + vec3f_dot(b1, ib2);
	float det = k11 * k22 - k12 * k12;
	float inverse = det > 0 ? 1 / det : 0;
	w->block->tangent_mass[0].at[w->lane] = k22 * inverse;
	w->block->tangent_mass[1].at[w->lane] = k11 * inverse;
	w->block->tangent_mass[2].at[w->lane] = -k12 * inverse;
}

static void write_friction(const struct lane_work *w, vec3 centre, const double *multiplier)
{
	const struct dynamics *dynamics = w->step->dynamics;
	struct soft_block *block = w->block;
	uint32_t lane = w->lane;
	const struct contact_point *any = &w->contact->points[0];
	vec3f arm_a = narrow(centre);
	vec3f arm_b = narrow(vec3_add(centre, vec3_sub(any->arm_b, any->arm_a)));
	vec3 t, k;
	vec3_frame(w->contact->normal, &t, &k);
	vec3f t1 = narrow(t), t2 = vec3f_cross(w->normal, t1);
	put3(&block->tangent, lane, t1);
	put3(&block->arm_a, lane, arm_a);
	put3(&block->arm_b, lane, arm_b);
	write_tangent_mass(w, arm_a, arm_b, t1, t2);
	vec3f twist_a = sym3f_apply(w->a.inertia_inv, w->normal);
	vec3f twist_b = sym3f_apply(w->b.inertia_inv, w->normal);
	float twist = vec3f_dot(w->normal, twist_a) + vec3f_dot(w->normal, twist_b);
	put3(&block->twist_a, lane, twist_a);
	put3(&block->twist_b, lane, twist_b);
	block->twist_mass.at[lane] = twist > 0 ? 1 / twist : 0;
	vec3f warm = narrow(mat3_mul_vec(dynamics->bodies.items[w->contact->body_a].rotation,
					 vec3_make(multiplier[1], multiplier[2], multiplier[4])));
	block->tangent_impulse[0].at[lane] = vec3f_dot(warm, t1);
	block->tangent_impulse[1].at[lane] = vec3f_dot(warm, t2);
	block->twist_impulse.at[lane] = (float)multiplier[5];
	block->tangent_total[0].at[lane] = block->tangent_total[1].at[lane] = 0;
}

static void write_shared(const struct prepare *prepare, const struct lane_work *w)
{
	struct soft_block *block = w->block;
	uint32_t lane = w->lane;
	bool both = w->a.mass_inv > 0 && w->b.mass_inv > 0;
	const struct softness *soft = both ? &prepare->dynamic : &prepare->fixed;
	struct contact_material material =
		contact_material(w->step->dynamics->tables, w->contact->a, w->contact->b);
	put3(&block->normal, lane, w->normal);
	block->mass_inv_a.at[lane] = w->a.mass_inv;
	block->mass_inv_b.at[lane] = w->b.mass_inv;
	for (uint32_t i = 0; i < 6; i++) {
		block->inertia_inv_a[i].at[lane] = w->a.inertia_inv->at[i];
		block->inertia_inv_b[i].at[lane] = w->b.inertia_inv->at[i];
	}
	block->bias_rate.at[lane] = soft->bias_rate;
	block->mass_scale.at[lane] = soft->mass_scale;
	block->impulse_scale.at[lane] = soft->impulse_scale;
	block->static_friction.at[lane] = (float)material.static_friction;
	block->dynamic_friction.at[lane] = (float)material.dynamic_friction;
	block->restitution.at[lane] = (float)material.restitution;
	block->bounces |= material.restitution > 0;
}

static void write_lane(const struct prepare *prepare, struct soft_block *block, uint32_t lane)
{
	struct soft_step *self = prepare->step;
	const struct contact_state *contact = &self->step->contacts.items[block->contact[lane]];
	struct lane_work w = {
		.step = self,
		.block = block,
		.lane = lane,
		.contact = contact,
		.a = lane_body(self, block->body_a[lane]),
		.b = lane_body(self, block->body_b[lane]),
		.soft_a = &self->bodies[block->body_a[lane]],
		.soft_b = &self->bodies[block->body_b[lane]],
		.normal = narrow(contact->normal),
	};
	const double *multiplier =
		step_multipliers(self->step, &self->step->contacts, block->contact[lane]);
	vec3 centre = friction_centre(contact);
	write_shared(prepare, &w);
	write_friction(&w, centre, multiplier);
	for (uint32_t p = 0; p < block->point_count; p++) {
		if (p < contact->point_count)
			write_point(&w, p, multiplier[3 * p], narrow(centre));
		else
			write_no_point(&block->points[p], lane);
	}
}

/* ---- all of them ------------------------------------------------------------------------------ */

/* Lanes that nobody has are zero: masses and impulses of zero do nothing. The head of the block has
 * been filled by the colouring. */
static void clear_lanes(struct soft_block *block)
{
	size_t from = offsetof(struct soft_block, normal);
	size_t to = offsetof(struct soft_block, points) +
		    block->point_count * sizeof(struct soft_point);
	memset((char *)block + from, 0, to - from);
}

enum { FETCH_BYTES = 2 * PREFETCH_LINE };

/* Contacts of one colour lie far apart. */
static void fetch_contacts(const struct step *step, const struct soft_block *block)
{
	for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
		if (block->contact[lane] == DYNAMICS_NONE)
			continue;
		uint32_t i = block->contact[lane];
		prefetch(&step->contacts.items[i], FETCH_BYTES);
		prefetch(step->contacts.made[i].multiplier, 1);
	}
}

static void contacts_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct prepare *prepare = context;
	for (uint32_t b = first; b < last; b++) {
		struct soft_block *block = &prepare->step->blocks[b];
		if (b + 1 < last)
			fetch_contacts(prepare->step->step, block + 1);
		if (block->contact[BLOCK_LANES - 1] == DYNAMICS_NONE)
			clear_lanes(block);
		for (uint32_t lane = 0; lane < BLOCK_LANES; lane++)
			if (block->contact[lane] != DYNAMICS_NONE)
				write_lane(prepare, block, lane);
	}
}

void soft_prepare_contacts(struct soft_step *self)
{
	double h = self->dt / self->substeps;
	double hertz = scalar_min(self->contact_hertz, HERTZ_MAX / h);
	struct prepare prepare = {
		.step = self,
		.dynamic = softness_of(hertz, self->contact_damping, h),
		.fixed = softness_of(2 * hertz, 0.5 * self->contact_damping, h),
	};
	parallel_run(self->dynamics->parallel, self->block_count, BLOCK_GRAIN, contacts_piece,
		     &prepare);
}

static void store_lane(const struct soft_step *self, const struct soft_block *block, uint32_t lane)
{
	const struct dynamics *dynamics = self->dynamics;
	const struct contact_state *contact = &self->step->contacts.items[block->contact[lane]];
	struct contact_table *table = &dynamics->tables->contact;
	uint32_t row = contact->row;
	for (uint32_t p = 0; p < MANIFOLD_POINTS_MAX; p++) {
		bool used = p < contact->point_count;
		const struct soft_point *point = &block->points[p];
		table->normal_impulse[row][p] = used ? (double)point->total.at[lane] : 0;
		table->multiplier[row][3 * p] = used ? (double)point->impulse.at[lane] : 0;
	}
	vec3 t1 = vec3_make((double)block->tangent.x.at[lane], (double)block->tangent.y.at[lane],
			    (double)block->tangent.z.at[lane]);
	vec3 t2 = vec3_cross(contact->normal, t1);
	vec3 total = vec3_mul_add(vec3_scale(t1, (double)block->tangent_total[0].at[lane]), t2,
				  (double)block->tangent_total[1].at[lane]);
	vec3 last = vec3_mul_add(vec3_scale(t1, (double)block->tangent_impulse[0].at[lane]), t2,
				 (double)block->tangent_impulse[1].at[lane]);
	last = mat3_transposed_mul_vec(dynamics->bodies.items[contact->body_a].rotation, last);
	table->friction_impulse[row][0] = total.x;
	table->friction_impulse[row][1] = total.y;
	table->friction_impulse[row][2] = total.z;
	table->multiplier[row][1] = last.x;
	table->multiplier[row][2] = last.y;
	table->multiplier[row][4] = last.z;
	table->multiplier[row][5] = (double)block->twist_impulse.at[lane];
}

static void store_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct soft_step *self = context;
	for (uint32_t b = first; b < last; b++)
		for (uint32_t lane = 0; lane < BLOCK_LANES; lane++)
			if (self->blocks[b].contact[lane] != DYNAMICS_NONE)
				store_lane(self, &self->blocks[b], lane);
}

void soft_store_contacts(struct soft_step *self)
{
	parallel_run(self->dynamics->parallel, self->block_count, BLOCK_GRAIN, store_piece, self);
}
