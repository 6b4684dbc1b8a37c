/* soft_prepare.c: lanes of constraints from contacts, and their impulses back into the table.
 *
 * A manifold with normal n, points with arms r_a, r_b and separations s:
 *   J_i = (−n, −r_a×n, n, r_b×n),   mass_i = 1 / (J_i M⁻¹ J_iᵀ)
 * Friction acts once a manifold, at a centre c, the mean of its points weighted by nearness:
 * two tangents as one 2×2 block, and one twist about n. Nearness fades over FRICTION_FADE beyond
 * the nearest point, so that the centre moves smoothly when points appear and disappear.
 *
 * Softness. A contact is a damped spring of frequency f and damping ratio ζ, integrated implicitly over
 * a sub-step of h. With ω = 2πf, a₁ = 2ζ + hω, a₂ = hω a₁, a₃ = 1/(1 + a₂):
 *   λ ← λ − a₂ a₃ mass (J v + (ω/a₁) s) − a₃ λ.
 * f is a rate, not a stiffness, so light and heavy bodies penetrate alike; above HERTZ_MAX of the
 * sub-step rate it could not be resolved. Against a body that cannot move f is doubled and ζ halved.
 *
 * The impulses of the last sub-step warm-start the next step. `multiplier` has the normal one of point
 * i at 3i, friction as a vector in A's frame at 1, 2 and 4, the twist at 5. Stored as a vector,
 * friction remains valid when the normal changes.
 */
#include "server/engine/methods/soft_step.h"

#include "server/base/prefetch.h"
#include "server/engine/dynamics/belt.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/locks.h"
#include "server/engine/dynamics/tuning.h"
#include "server/engine/geometry/support.h"

#include <string.h>

enum { BLOCK_GRAIN = 4 };

/* Of the sub-step rate. Measured on a pyramid of 20 rows, 4 sub-steps: at 0.125 it drifts 9.5 mm and
 * sinks 3.2 mm, at 0.15 8.5 and 2.1, at 0.16 8.4 and 1.9, at 0.17 8.9 and 1.7; at 0.19 13.6 and 1.6, and it
 * creeps. */
#define HERTZ_MAX 0.16

/* m/s. A contact that slips faster as the step begins slides, and has dynamic friction for the step.
 * Larger: a slow slide sticks; smaller: a body at rest, with the speed that one sweep leaves in it,
 * gets the lesser friction and begins to slide. */
#define SLIDE_MIN 0.01

struct softness {
	float bias_rate, mass_scale, impulse_scale;
};

struct prepare_work {
	struct soft_step *step;
	struct softness dynamic, fixed; /* between two dynamic bodies; against another one */
};

static struct softness softness_of(double hertz, double damping, double h)
{
	ASSERT(hertz > 0 && damping >= 0 && h > 0);
	double omega = TWO_PI * hertz;
	double a1 = 2 * damping + h * omega, a2 = h * omega * a1, a3 = 1 / (1 + a2);
	return (struct softness){ (float)(omega / a1), (float)(a2 * a3), (float)a3 };
}

/* ---- one lane --------------------------------------------------------------------------------- */

static const sym3f NO_INERTIA;

static void store_vec3(struct lane8x3 *to, uint32_t lane, vec3 v)
{
	to->x.at[lane] = (float)v.x;
	to->y.at[lane] = (float)v.y;
	to->z.at[lane] = (float)v.z;
}

/* Data that the points of one manifold share while a lane is filled. Everything computed from positions
 * and velocities of the start is computed in double. */
struct lane_work {
	struct soft_step *step;
	struct soft_block *block;
	uint32_t lane;
	const struct contact_state *contact;
	const struct soft_drive *a, *b;
	struct contact_material material;
	vec3 drift; /* m/s, of the mass centres */
	bool slips;
};

/* m/s, at the common point of two arms, at the start. By address: copies of vectors just made wait for
 * their stores. */
static inline vec3 relative_velocity(const struct lane_work *w, const vec3 *arm_a,
				     const vec3 *arm_b)
{
	vec3 at_a = vec3_cross(w->a->start.velocity.angular, *arm_a);
	vec3 at_b = vec3_cross(w->b->start.velocity.angular, *arm_b);
	return vec3_add(w->drift, vec3_sub(at_b, at_a));
}

/* j_a and j_b hold the arms until they are derived. */
static void write_point(const struct lane_work *w, uint32_t p, double weight, double warm)
{
	VALIDATE(p < w->contact->point_count);
	const struct contact_point *from = &w->contact->points[p];
	struct soft_point *to = &w->block->points[p];
	uint32_t lane = w->lane;
	vec3 velocity = relative_velocity(w, &from->arm_a, &from->arm_b);
	store_vec3(&to->j_a, lane, from->arm_a);
	store_vec3(&to->j_b, lane, from->arm_b);
	to->separation.at[lane] = to->gap.at[lane] = (float)from->separation;
	to->weight.at[lane] = (float)weight;
	to->impulse.at[lane] = (float)warm;
	to->total.at[lane] = 0;
	to->approach.at[lane] = (float)vec3_dot(w->contact->normal, velocity);
}

/* A point that is never reached, so that its impulse stays 0. */
static void write_no_point(struct soft_point *to, uint32_t lane)
{
	store_vec3(&to->j_a, lane, vec3_zero());
	store_vec3(&to->j_b, lane, vec3_zero());
	to->separation.at[lane] = to->gap.at[lane] = SOFT_NOWHERE;
	to->impulse.at[lane] = to->total.at[lane] = to->approach.at[lane] = to->weight.at[lane] = 0;
}

/* Weights of the points in the friction centre, by nearness; they sum to 1. */
static void friction_weights(const struct contact_state *contact, double *weights)
{
	double nearest = 0, sum = 0;
	ASSERT(contact->point_count > 0 && contact->point_count <= MANIFOLD_POINTS_MAX);
	if (contact->point_count == 1) { /* of balls: what the rest would compute */
		weights[0] = 1;
		return;
	}
	for (uint32_t p = 0; p < contact->point_count; p++)
		if (p == 0 || contact->points[p].separation < nearest)
			nearest = contact->points[p].separation;
	nearest = scalar_max(nearest, 0);
	for (uint32_t p = 0; p < contact->point_count; p++) {
		double beyond = contact->points[p].separation - nearest;
		/* At rest all points are within; these take no division. */
		weights[p] = beyond > 0 ? scalar_max(1 - beyond / FRICTION_FADE, 0) : 1;
		sum += weights[p];
	}
	for (uint32_t p = 0; p < contact->point_count; p++)
		weights[p] /= sum;
	VALIDATE(!(sum < 1)); /* the nearest point has weight 1 */
}

static vec3 friction_centre(const struct contact_state *contact, const double *weights)
{
	vec3 centre = vec3_zero();
	for (uint32_t p = 0; p < contact->point_count; p++)
		centre = vec3_mul_add(centre, contact->points[p].arm_a, weights[p]);
	return centre;
}

vec3 soft_friction_arm(const struct contact_state *contact)
{
	double weights[MANIFOLD_POINTS_MAX];
	friction_weights(contact, weights);
	return friction_centre(contact, weights);
}

/* m², from the friction centre to the farthest point. */
static double reach_squared(const struct contact_state *contact, vec3 centre)
{
	double most = 0;
	for (uint32_t p = 0; p < contact->point_count; p++)
		most = scalar_max(most, vec3_distance_squared(contact->points[p].arm_a, centre));
	return most;
}

static inline bool has_friction_axis(const struct lane_work *w)
{
	const vec3 *axis = &w->material.axis;
	return axis->x != 0 || axis->y != 0 || axis->z != 0; /* few materials */
}

/* The part of the friction axis in the plane; false if there is none. */
static bool axis_in_plane(const struct lane_work *w, vec3 *out)
{
	vec3 axis = w->material.axis, normal = w->contact->normal;
	if (!has_friction_axis(w))
		return false;
	double length = vec3_length(axis);
	vec3 flat = vec3_mul_add(axis, normal, -vec3_dot(axis, normal));
	if (!(vec3_length(flat) > FRICTION_AXIS_LEAST * length))
		return false;
	*out = vec3_normalize(flat);
	return true;
}

static inline vec3 first_tangent(const struct lane_work *w)
{
	vec3 t1, k, along;
	if (has_friction_axis(w) && axis_in_plane(w, &along))
		return along;
	vec3_frame(w->contact->normal, &t1, &k);
	return t1;
}

/* The velocity at which points do not slip; into the lane, too. The first lane of a block that has one clears
 * the others. */
static vec3 write_belt(const struct lane_work *w)
{
	struct soft_rough *rough = &w->step->roughs[w->block - w->step->blocks];
	vec3 belt = belt_velocity(w->step->dynamics, w->contact->a, w->contact->b);
	if (!w->block->belts)
		memset(&rough->belt, 0, sizeof rough->belt);
	w->block->belts = true;
	store_vec3(&rough->belt, w->lane, vec3_negate(belt));
	return belt;
}

static void write_friction(struct lane_work *w, const double *weights, const double *multiplier)
{
	VALIDATE(w->lane < BLOCK_LANES);
	const struct dynamics *dynamics = w->step->dynamics;
	struct soft_block *block = w->block;
	uint32_t lane = w->lane;
	const struct contact_point *any = &w->contact->points[0];
	vec3 arm_a = friction_centre(w->contact, weights);
	vec3 arm_b = vec3_add(arm_a, vec3_sub(any->arm_b, any->arm_a));
	vec3 t1 = first_tangent(w), normal = w->contact->normal;
	vec3 t2 = vec3_cross(normal, t1);
	store_vec3(&block->tangent, lane, t1);
	store_vec3(&block->arm_a, lane, arm_a);
	store_vec3(&block->arm_b, lane, arm_b);
	vec3 slip = relative_velocity(w, &arm_a, &arm_b);
	if (belt_concerns(dynamics, w->contact->body_a, w->contact->body_b))
		slip = vec3_sub(slip, write_belt(w));
	vec3 spin = vec3_sub(w->b->start.velocity.angular, w->a->start.velocity.angular);
	double slip1 = vec3_dot(slip, t1), slip2 = vec3_dot(slip, t2),
	       twist = vec3_dot(spin, normal);
	block->slip[0].at[lane] = (float)slip1;
	block->slip[1].at[lane] = (float)slip2;
	block->spin_slip.at[lane] = (float)twist;
	w->slips =
		slip1 * slip1 + slip2 * slip2 + twist * twist * reach_squared(w->contact, arm_a) >
		SLIDE_MIN * SLIDE_MIN;
	vec3 warm = mat3_mul_vec(dynamics->bodies.items[w->contact->body_a].rotation,
				 vec3_make(multiplier[1], multiplier[2], multiplier[4]));
	block->tangent_impulse[0].at[lane] = (float)vec3_dot(warm, t1);
	block->tangent_impulse[1].at[lane] = (float)vec3_dot(warm, t2);
	block->twist_impulse.at[lane] = (float)multiplier[5];
	block->tangent_total[0].at[lane] = block->tangent_total[1].at[lane] = 0;
	block->pushed.at[lane] = 0;
}

static void write_free(struct lane8x3 *free, uint32_t lane, uint32_t locks)
{
	store_vec3(free, lane, locks_along(locks, vec3_all(1)));
}

/* The first lane with locks sets the axes of all others free. */
static void write_locks(const struct lane_work *w)
{
	struct soft_block *block = w->block;
	if ((w->a->locks | w->b->locks) == 0)
		return;
	for (uint32_t lane = 0; lane < BLOCK_LANES && !block->locks; lane++) {
		write_free(&block->free_a, lane, 0);
		write_free(&block->free_b, lane, 0);
	}
	block->locks = true;
	write_free(&block->free_a, w->lane, w->a->locks);
	write_free(&block->free_b, w->lane, w->b->locks);
}

static void write_masses(const struct lane_work *w)
{
	struct soft_block *block = w->block;
	uint32_t lane = w->lane;
	const sym3f *inertia_a = w->a->dynamic ? &w->a->inertia_inv : &NO_INERTIA;
	const sym3f *inertia_b = w->b->dynamic ? &w->b->inertia_inv : &NO_INERTIA;
	store_vec3(&block->normal, lane, w->contact->normal);
	store_vec3(&block->drift, lane, w->drift);
	block->mass_inv_a.at[lane] = w->a->mass_inv;
	block->mass_inv_b.at[lane] = w->b->mass_inv;
	for (uint32_t i = 0; i < 6; i++) {
		block->inertia_inv_a[i].at[lane] = inertia_a->at[i];
		block->inertia_inv_b[i].at[lane] = inertia_b->at[i];
	}
}

/* Data of a rough lane. The first rough lane of a block clears the others. */
static void write_rough(const struct lane_work *w)
{
	const struct contact_material *material = &w->material;
	vec3 axis;
	bool has_axis = has_friction_axis(w) && axis_in_plane(w, &axis);
	if (!(material->rolling > 0 || material->spinning > 0 || has_axis))
		return;
	struct soft_rough *rough = &w->step->roughs[w->block - w->step->blocks];
	uint32_t lane = w->lane;
	if (!w->block->rough)
		memset(rough, 0, offsetof(struct soft_rough, belt));
	w->block->rough = true;
	rough->rolling.at[lane] = (float)material->rolling;
	rough->spinning.at[lane] = (float)material->spinning;
	rough->has_axis.at[lane] = has_axis ? 1 : 0;
	rough->along.at[lane] = (float)(w->slips ? material->axis_dynamic : material->axis_static);
	store_vec3(&rough->spin, lane,
		   vec3_sub(w->b->start.velocity.angular, w->a->start.velocity.angular));
}

static void write_rounding(const struct lane_work *w)
{
	const struct dynamics *dynamics = w->step->dynamics;
	const uint32_t *shape = dynamics->tables->placement.shape;
	const struct shape *a = dynamics->shapes[shape[w->contact->a.placement]];
	const struct shape *b = dynamics->shapes[shape[w->contact->b.placement]];
	double rounding_a = support_radius(a), rounding_b = support_radius(b);
	if (shape_is_curved(a))
		rounding_a =
			placement_rounding(dynamics, w->contact->a.placement, w->contact->normal);
	if (shape_is_curved(b))
		rounding_b = placement_rounding(dynamics, w->contact->b.placement,
						vec3_negate(w->contact->normal));
	w->block->rounding_a.at[w->lane] = (float)rounding_a;
	w->block->rounding_b.at[w->lane] = (float)rounding_b;
	w->block->bend.at[w->lane] = 0;
	/* The normal of balls that overlap to their centres is arbitrary, and does not rotate. */
	double touching = rounding_a + rounding_b,
	       apart = touching + w->contact->points[0].separation;
	if (a->kind == SHAPE_SPHERE && b->kind == SHAPE_SPHERE && apart > 0.5 * touching)
		w->block->bend.at[w->lane] = (float)(1 / apart);
}

/* Softness, material, locks and curvature. */
static void write_surface(const struct prepare_work *prepare, const struct lane_work *w)
{
	struct soft_block *block = w->block;
	uint32_t lane = w->lane;
	const struct contact_material *material = &w->material;
	const struct softness *soft =
		w->a->dynamic && w->b->dynamic ? &prepare->dynamic : &prepare->fixed;
	block->bias_rate.at[lane] = soft->bias_rate;
	block->mass_scale.at[lane] = soft->mass_scale;
	block->impulse_scale.at[lane] = soft->impulse_scale;
	block->friction.at[lane] =
		(float)(w->slips ? material->dynamic_friction : material->static_friction);
	block->restitution.at[lane] = (float)material->restitution;
	block->bounces |= material->restitution > 0;
	write_locks(w);
	write_rough(w);
	write_rounding(w);
}

/* What is known of a lane before it is filled. */
static inline void open_lane(const struct prepare_work *prepare, struct soft_block *block,
			     uint32_t lane, struct lane_work *w)
{
	struct soft_step *self = prepare->step;
	w->step = self;
	w->block = block;
	w->lane = lane;
	w->contact = soft_manifold(&self->clusters, self->step, block->contact[lane]);
	w->a = &self->drives[block->body_a[lane]];
	w->b = &self->drives[block->body_b[lane]];
	w->slips = false;
	VALIDATE(block->body_a[lane] <= self->body_count &&
		 block->body_b[lane] <= self->body_count);
	w->material = contact_material(self->dynamics, w->contact->a, w->contact->b);
}

static void write_lane(const struct prepare_work *prepare, struct soft_block *block, uint32_t lane)
{
	struct lane_work w; /* all is set below; clearing it first would take as long as a point */
	open_lane(prepare, block, lane, &w);
	const struct contact_state *contact = w.contact;
	w.drift = vec3_sub(w.b->start.velocity.linear, w.a->start.velocity.linear);
	const double *multiplier = soft_multipliers(&prepare->step->clusters, prepare->step->step,
						    block->contact[lane]);
	double weights[MANIFOLD_POINTS_MAX];
	friction_weights(contact, weights);
	write_friction(&w, weights, multiplier);
	write_masses(&w);
	write_surface(prepare, &w);
	block->twists |= contact->point_count > 1 || scalar_bits(multiplier[5]) != 0;
	for (uint32_t p = 0; p < block->point_count; p++) {
		if (p < contact->point_count)
			write_point(&w, p, weights[p], multiplier[3 * p]);
		else
			write_no_point(&block->points[p], lane);
	}
}

/* ---- eight lanes with as many points each ------------------------------------------------------ */

static bool may_fill(const struct soft_step *self, const struct soft_block *block)
{
	if (self->kernels->fill == NULL || block->contact[BLOCK_LANES - 1] == DYNAMICS_NONE ||
	    self->dynamics->belts.count > 0)
		return false;
	bool even = true;
	for (uint32_t lane = 0; lane < BLOCK_LANES && block->point_count > 2; lane++)
		even &= soft_manifold(&self->clusters, self->step, block->contact[lane])
				->point_count == block->point_count;
	return even;
}

/* As write_lane for each: those with a friction axis are written by it. */
static void fill_lanes(const struct prepare_work *prepare, struct soft_block *block)
{
	struct soft_step *self = prepare->step;
	struct soft_fill from;
	from.slide = SLIDE_MIN;
	for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
		uint32_t index = block->contact[lane];
		from.contact[lane] = soft_manifold(&self->clusters, self->step, index);
		from.multiplier[lane] = soft_multipliers(&self->clusters, self->step, index);
		from.rotation[lane] =
			&self->dynamics->bodies.items[from.contact[lane]->body_a].rotation;
	}
	uint32_t slips = self->kernels->fill(self, block, &from);
	ASSERT(slips < 1u << BLOCK_LANES);
	for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
		struct lane_work w;
		open_lane(prepare, block, lane, &w);
		if (has_friction_axis(&w)) {
			write_lane(prepare, block, lane);
			continue;
		}
		w.slips = (slips >> lane & 1) != 0;
		write_surface(prepare, &w);
		block->twists |=
			block->point_count > 1 || scalar_bits(from.multiplier[lane][5]) != 0;
	}
}

/* ---- all lanes -------------------------------------------------------------------------------- */

/* Unused lanes are zero, because masses and impulses of zero do nothing. The colouring has filled the
 * head of the block. */
static void clear_lanes(struct soft_block *block)
{
	VALIDATE(block->point_count <= MANIFOLD_POINTS_MAX);
	size_t from = offsetof(struct soft_block, normal);
	size_t to = offsetof(struct soft_block, points) +
		    block->point_count * sizeof(struct soft_point);
	memset((char *)block + from, 0, to - from);
}

enum {
	FETCH_BYTES = 2 * PREFETCH_LINE,       /* of a manifold: one point */
	MULTIPLIERS_USED = 6 * sizeof(double), /* of one point and of its friction */
};

/* Prefetches `bytes` ≤ 64, wherever they lie in their lines. */
static inline void prefetch_across(const void *at, size_t bytes)
{
	prefetch(at, 1);
	prefetch((const char *)at + bytes - 1, 1);
}

/* Prefetches the next block's contacts, because those of one colour are far apart in memory. */
static void fetch_contacts(const struct soft_step *self, const struct soft_block *block)
{
	for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
		if (block->contact[lane] == DYNAMICS_NONE)
			continue;
		uint32_t i = block->contact[lane];
		prefetch(soft_manifold(&self->clusters, self->step, i), FETCH_BYTES);
		if (i < self->clusters.plain)
			prefetch_across(self->step->contacts.made[i].multiplier, MULTIPLIERS_USED);
	}
}

static void contacts_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct prepare_work *prepare = context;
	for (uint32_t b = first; b < last; b++) {
		struct soft_block *block = &prepare->step->blocks[b];
		if (b + 1 < last)
			fetch_contacts(prepare->step, block + 1);
		if (block->contact[BLOCK_LANES - 1] == DYNAMICS_NONE)
			clear_lanes(block);
		bool fills = may_fill(prepare->step, block);
		if (fills)
			fill_lanes(prepare, block);
		for (uint32_t lane = 0; lane < BLOCK_LANES && !fills; lane++)
			if (block->contact[lane] != DYNAMICS_NONE)
				write_lane(prepare, block, lane);
		prepare->step->kernels->derive(block);
	}
}

/* Hz: of contacts between bodies that move; twice of those with bodies that do not. */
static double contact_frequency(const struct soft_step *self)
{
	ASSERT(self->substeps >= 1 && self->dt > 0);
	double h = self->dt / self->substeps;
	return scalar_min(self->contact_hertz, HERTZ_MAX / h);
}

double soft_sag(const struct soft_step *self)
{
	double rate = TWO_PI * contact_frequency(self);
	return 2 * vec3_length(self->dynamics->tables->world.gravity[0]) / (rate * rate);
}

void soft_prepare_contacts(struct soft_step *self)
{
	ASSERT(self->substeps >= 1);
	double h = self->dt / self->substeps, hertz = contact_frequency(self);
	struct prepare_work prepare = {
		.step = self,
		.dynamic = softness_of(hertz, self->contact_damping, h),
		.fixed = softness_of(2 * hertz, 0.5 * self->contact_damping, h),
	};
	parallel_run(self->dynamics->parallel, self->block_count, BLOCK_GRAIN, contacts_piece,
		     &prepare);
	for (uint32_t b = 0; b < self->block_count; b++)
		self->bounces |= self->blocks[b].bounces;
}

static void store_lane(const struct soft_step *self, const struct soft_block *block, uint32_t lane)
{
	VALIDATE(block->contact[lane] < soft_manifolds(&self->clusters));
	const struct dynamics *dynamics = self->dynamics;
	uint32_t index = block->contact[lane];
	const struct contact_state *contact = soft_manifold(&self->clusters, self->step, index);
	struct soft_impulses to = soft_impulses_of(&self->clusters, self->step, index);
	uint32_t points = contact->point_count;
	for (uint32_t p = 0; p < points; p++) {
		const struct soft_point *point = &block->points[p];
		VALIDATE(!(point->impulse.at[lane] < 0));
		to.normal[p] = (double)point->total.at[lane];
		to.multiplier[3 * p] = (double)point->impulse.at[lane];
	}
	for (uint32_t p = points; p < MANIFOLD_POINTS_MAX; p++)
		to.normal[p] = to.multiplier[3 * p] = 0;
	vec3 t1 = vec3_make((double)block->tangent.x.at[lane], (double)block->tangent.y.at[lane],
			    (double)block->tangent.z.at[lane]);
	vec3 t2 = vec3_cross(contact->normal, t1);
	vec3 total = vec3_mul_add(vec3_scale(t1, (double)block->tangent_total[0].at[lane]), t2,
				  (double)block->tangent_total[1].at[lane]);
	vec3 last = vec3_mul_add(vec3_scale(t1, (double)block->tangent_impulse[0].at[lane]), t2,
				 (double)block->tangent_impulse[1].at[lane]);
	last = mat3_transposed_mul_vec(dynamics->bodies.items[contact->body_a].rotation, last);
	to.friction[0] = total.x;
	to.friction[1] = total.y;
	to.friction[2] = total.z;
	to.multiplier[1] = last.x;
	to.multiplier[2] = last.y;
	to.multiplier[4] = last.z;
	to.multiplier[5] = (double)block->twist_impulse.at[lane];
}

/* Prefetches where the next block's impulses go, as far apart as its contacts. */
static void fetch_rows(const struct soft_step *self, const struct soft_block *block)
{
	for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
		if (block->contact[lane] == DYNAMICS_NONE)
			continue;
		struct soft_impulses to =
			soft_impulses_of(&self->clusters, self->step, block->contact[lane]);
		prefetch(to.normal, 1);
		prefetch_across(to.friction, 3 * sizeof *to.friction);
		prefetch(to.multiplier, PREFETCH_LINE + 1);
	}
}

static void store_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct soft_step *self = context;
	for (uint32_t b = first; b < last; b++) {
		if (b + 1 < last)
			fetch_rows(self, &self->blocks[b + 1]);
		for (uint32_t lane = 0; lane < BLOCK_LANES; lane++)
			if (self->blocks[b].contact[lane] != DYNAMICS_NONE)
				store_lane(self, &self->blocks[b], lane);
	}
}

void soft_store_contacts(struct soft_step *self)
{
	parallel_run(self->dynamics->parallel, self->block_count, BLOCK_GRAIN, store_piece, self);
}
