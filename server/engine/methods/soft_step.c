/* soft_step.c: `soft-step`, the default method: sub-stepped soft contacts.
 *
 * One tick of dt, n sub-steps of h = dt/n:
 *
 *   pairs, narrow phase, islands woken             once, in double (dynamics)
 *   contacts at seams of flat surfaces dropped                            soft_seams.c
 *   the many contacts of a pair of bodies merged into a few manifolds     soft_cluster.c
 *   bodies and manifolds converted to float, relative to the step's start; manifolds coloured into blocks
 *   joints grouped as trees and cores              soft_joint_plan.c
 *   n times:  velocities by forces                 soft_body.c
 *             restitution                          soft_solve.c, bounce
 *             impulses of the last sub-step        warm start; with soft_step.energy 0 before they bounce
 *             joints, then contacts, as damped springs       soft_joint.c; solve
 *             positions                            soft_body.c
 *             gaps, and arms that changed          soft_arms.c
 *             rows of joints at the new positions  soft_joint_rows.c
 *             joints, then contacts, without the springs' bias, and friction   relax
 *   all of this again with sleeping bodies that were pushed               soft_sleepers.c
 *   fast bodies end before obstacles (sweep.h)
 *   impulses and poses back into the tables, in double; sleep
 *
 * Many small steps give a smaller error than many iterations of a large one, because the error of a step
 * is proportional to h². Relaxing removes the speed that a soft constraint leaves behind, so that stacks
 * come to rest and correcting penetration adds no energy. Every float of a body is a difference from the
 * step's start, so that no precision is lost far from the origin.
 *
 * Joints are few and form chains. A stack may be slightly soft, but a chain must not stretch. Therefore
 * the rows of joints are in double and made again in every sub-step, and trees and loops are solved
 * together. Contacts are solved after joints, so the velocities at the end of a pass satisfy the contacts.
 *
 * Results do not depend on the number of workers: narrow phase, lanes, trees and bodies write to their
 * own slots, and colours are solved in order. Everything that outlives a step is in columns (the
 * contact table's multipliers), so the method has no block of its own to save.
 *
 * Residual: the greatest speed (m/s, rad/s), after the last pass, at which a touching point with an
 * impulse still closes or separates, or a locked axis of a joint still moves.
 */
#include "server/engine/methods/soft_step.h"

#include "server/engine/dynamics/sweep.h"
#include "server/engine/methods/method.h"
#include "server/engine/world/parameters.h"

enum {
	SHAPES_ALL = 1 << SHAPE_SPHERE | 1 << SHAPE_CAPSULE | 1 << SHAPE_BOX | 1 << SHAPE_HULL |
		     1 << SHAPE_PLANE | 1 << SHAPE_MESH | 1 << SHAPE_POLYGON | 1 << SHAPE_SOLID |
		     1 << SHAPE_ROUNDED | 1 << SHAPE_CYLINDER | 1 << SHAPE_CONE |
		     1 << SHAPE_ELLIPSOID | 1 << SHAPE_HEIGHTFIELD,
};

static void attach_soft_step(struct dynamics *dynamics)
{
	dynamics_contacts_reset(dynamics);
}

static void detach_soft_step(struct dynamics *dynamics)
{
	dynamics_contacts_reset(dynamics);
	dynamics_wake_all(dynamics);
}

/* What lies in scratch memory to the end of the step. */
static uint64_t scratch_of(uint64_t bodies, uint64_t contacts, uint64_t blocks)
{
	uint64_t per_body = sizeof(struct soft_body) + sizeof(struct soft_drive) +
			    sizeof(struct soft_turn) + sizeof(struct force_sum) +
			    sizeof(struct body_motion) + sizeof(uint32_t) + sizeof(uint64_t) +
			    sizeof(double) + 2 * sizeof(bool);
	blocks *= sizeof(struct soft_block) + sizeof(struct soft_slide) + sizeof(struct soft_rough);
	return (bodies + 1) * per_body + blocks +
	       (contacts > 0 ? soft_colouring_need(contacts) : 0);
}

/* Scratch bytes that a step needs, which step_begin reserves. */
static uint64_t soft_scratch_needed(uint64_t bodies, uint64_t contacts)
{
	return scratch_of(bodies, contacts, soft_blocks_max(contacts)) +
	       soft_seams_need(bodies, contacts) + soft_clusters_need(contacts);
}

/* Most groups of manifolds fill their blocks. */
static uint64_t soft_scratch_used(uint64_t bodies, uint64_t contacts)
{
	return scratch_of(bodies, contacts, contacts / BLOCK_LANES + BLOCK_LANES);
}

static struct soft_step soft_step_of(struct step *step)
{
	struct dynamics *dynamics = step->dynamics;
	const double *parameter = dynamics->tables->parameter.value;
	double dt = step->dt;
	struct soft_step self = {
		.kernels = soft_kernels_choose(), .step = step, .dynamics = dynamics, .dt = dt
	};
	uint32_t substeps = 1;
	if (scalar_to_u32(parameter[PARAMETER_SUBSTEPS], &substeps))
		substeps = MAX_OF(substeps, 1u);
	self.substeps = substeps;
	ASSERT(substeps >= 1 && dt > 0);
	self.h = (float)(dt / substeps);
	self.h_inv = (float)(substeps / dt);
	self.push_speed = (float)parameter[PARAMETER_PUSH_SPEED];
	self.restitution_speed = (float)parameter[PARAMETER_RESTITUTION_SPEED];
	self.contact_hertz = parameter[PARAMETER_CONTACT_HERTZ];
	self.contact_damping = parameter[PARAMETER_CONTACT_DAMPING];
	self.energy = parameter[PARAMETER_SOFT_ENERGY] != 0;
	VALIDATE(self.push_speed >= 0 && self.restitution_speed >= 0);
	return self;
}

/* From the contacts to the velocities and impulses at the end of the last sub-step. */
static enum status solve_step(struct soft_step *self, struct reason *why)
{
	struct profile *profile = self->step->dynamics->profile;
	profile_enter(profile, PROFILE_PREPARE);
	soft_prepare_bodies(self);
	enum status status = soft_joints_make(self, why);
	if (status == STATUS_OK)
		status = soft_drop_seams(self, why);
	if (status != STATUS_OK)
		return status;
	step_report_contacts(self->step, &self->step->contacts);
	soft_clusters_make(&self->clusters, self->step, self->dt);
	status = soft_trees_lay_out(self, why);
	if (status == STATUS_OK)
		status = soft_colour(self, why);
	if (status != STATUS_OK)
		return status;
	soft_prepare_turns(self);
	soft_prepare_contacts(self);
	status = soft_hard_make(self, why);
	if (status != STATUS_OK)
		return status;
	for (uint32_t b = 0; self->hard.count > 0 && b < self->block_count; b++)
		self->blocks[b].twists = true; /* an exact solution may leave −0 */
	soft_joints_measure(self);
	soft_trees_begin(self);
	profile_enter(profile, PROFILE_SOLVE);
	for (uint32_t i = 0; i < self->substeps; i++) {
		double now = self->dt * (i + 1) / self->substeps;
		soft_integrate_velocities(self);
		/* What a bounce gives is not taken back later, as impulses of the warm start are. */
		if (self->energy)
			soft_bounce(self);
		soft_warm_start(self);
		if (!self->energy)
			soft_bounce(self);
		soft_joints_solve(self, self->dt * (i + 0.5) / self->substeps);
		soft_solve(self);
		for (uint32_t round = 1; soft_joints_strained(self, round); round++) {
			soft_joints_solve_again(self);
			soft_solve(self);
		}
		soft_hard_solve(self, true);
		soft_trees_solve(self, now);
		self->time = (float)now;
		soft_integrate_positions(self);
		soft_measure(self);
		soft_joints_relax(self, now);
		soft_relax(self);
		soft_hard_solve(self, false);
		soft_trees_relax(self, now);
	}
	soft_residual(self);
	soft_hard_report(self);
	soft_joints_restitution(self);
	ASSERT(self->body_count == self->step->body_count);
	return STATUS_OK;
}

/* A solve in which sleeping bodies are pushed enough to wake does not count: they take part in the next
 * one. After some solves those around them do too, in more layers each time, so that a hit on a long stack
 * needs few. */
enum { SOLVES_ALONE = 1, SOLVES_BY_LAYERS = 7 };

static uint32_t layers_after(uint32_t solve)
{
	if (solve < SOLVES_ALONE)
		return 0;
	return solve < SOLVES_BY_LAYERS ? 1u << (solve - SOLVES_ALONE) : STEP_WHOLE_SETS;
}

static enum status solve_until_held(struct soft_step *self, struct step *step,
				    const struct collide_options *options, struct reason *why)
{
	struct dynamics *dynamics = step->dynamics;
	for (uint32_t solve = 0;; solve++) {
		struct arena_mark mark = arena_mark(&dynamics->scratch);
		struct step_report before = dynamics->report;
		uint32_t woken = step->woken_count;
		*self = soft_step_of(step);
		enum status status = solve_step(self, why);
		if (status == STATUS_OK)
			status = soft_push_sleepers(self, why);
		if (status != STATUS_OK || step->woken_count == woken)
			return status;
		arena_rewind(&dynamics->scratch, mark);
		dynamics->report = before;
		step_wake_pushed(step, woken, layers_after(solve), options);
		step_number(step);
	}
}

/* 1, of soft_sag. Bodies of a smaller half width sink into others by more than an eighth of their width. */
#define SAG_MOST 4

/* Bodies that are so thin that the springs of contacts do not carry them. */
static uint32_t count_sagging(const struct soft_step *self)
{
	const struct dynamics *dynamics = self->dynamics;
	double least = SAG_MOST * soft_sag(self);
	uint32_t count = 0;
	for (uint32_t i = 0; i < self->step->body_count; i++) {
		uint32_t body = self->step->bodies[i];
		double inner = dynamics->bodies.items[body].inner;
		count += dynamics->tables->body.status[body] == BODY_DYNAMIC && inner > 0 &&
			 inner < least;
	}
	return count;
}

static enum status step_soft_step(void *state, struct dynamics *dynamics, double dt,
				  struct reason *why)
{
	UNUSED(state);
	struct step step;
	enum status status = step_begin(&step, dynamics, dt, true, soft_scratch_needed, why);
	if (status != STATUS_OK)
		return status;
	struct collide_options options = collide_options_default(dt);
	options.carry = CARRY_NORMALS;
	options.hold = true;
	step_collide(&step, &step.contacts, 0, &options);
	step_wake_reached(&step, &options);
	step_number(&step);
	struct soft_step self;
	status = solve_until_held(&self, &step, &options, why);
	if (status == STATUS_OK) {
		soft_doze(&self);
		status = soft_finish_bodies(&self, why);
	}
	if (status == STATUS_OK)
		status = step_commit(&step, &step.contacts, why);
	if (status != STATUS_OK)
		return status;
	soft_store_contacts(&self);
	soft_clusters_store(&self.clusters, &step);
	soft_store_sleepers(&self);
	step_contacts_solved(&step, &step.contacts, NULL);
	step_store_all(&step, self.motions);
	step_sweep_commit(&step);
	soft_joints_store(&self);
	soft_trees_store(&self);
	step_sleep(&step);
	dynamics->report.iterations = self.substeps;
	dynamics->report.taut = soft_joints_taut(&self.joints);
	dynamics->report.sagging = count_sagging(&self);
	step_finish(&step);
	return STATUS_OK;
}

const struct method method_soft_step = {
	.name = "soft-step",
	.summary = "sub-stepped soft contacts with islands and sleep: the default",
	.number = 2,
	.motion = 5,
	.attach = attach_soft_step,
	.detach = detach_soft_step,
	.step = step_soft_step,
	.need = soft_scratch_needed,
	.usual = soft_scratch_used,
	.shapes = SHAPES_ALL,
	.friction = true,
	.restitution = true,
	.sleep = true,
	.planar = true,
	.three_d = true,
	.joints = true,
};
