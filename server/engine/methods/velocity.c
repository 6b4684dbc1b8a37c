/* velocity.c: contact and joints as a problem of velocities: the step that `lcp`, `projection` and
 * `reflection` share.
 *
 * A step of h seconds from positions x and velocities v:
 *
 *   v*  = v after forces: gravity, drives, damping (integrate.h)
 *   v_m = the velocity nearest to v* in the metric of mass with N v ≥ −gap/h    papers C-03, C-07, R-11
 *         (gap rows: an open gap may close within the step; a closed one may not close further),
 *         with friction of at most μ times the normal impulse if the method has friction
 *   x'  = x moved by h (v_m + d), where d is the least velocity that removes penetration; a body
 *         without constraints takes its exact free path
 *   v'  = v_m, except in an island that bounces: the impulses of v_m are taken back at x', with the
 *         contacts found there anew, so that bodies arrive with the velocity they had, and the
 *         impact is resolved there (papers C-08, C-09)
 *
 * The joints' rows are part of the same systems. Joints hold at x', in position and in velocity, for
 * which an island with joints has two more stages (velocity_joint.c).
 *
 * Impacts are resolved at x' because impulses then act at points common to both bodies, which
 * conserves angular momentum exactly; and because a body that arrives within the step then loses no
 * energy to the row that stopped it.
 *
 * The displacement h d gives no velocity. The work it does against forces is counted (push_work); a
 * frictionless step gains no other kinetic energy beyond that of v*.
 *
 * A rotation conserves the angular momentum L = I ω: ω' = I(q')⁻¹ I(q) ω, and the energy of a body
 * without torque (integrate_turn).
 *
 * Islands are solved one by one, each on any worker: small ones dense by pivoting, the others sparse;
 * the statistics count both. A body that cannot move has no coordinates in any system. Contacts whose
 * rows contradict each other (a body between two scripted plates) have no solution: their rows become
 * slightly compliant, which counts as a fallback.
 *
 * Residual: the worst violation of a row of all systems solved, m/s.
 */
#include "server/engine/methods/velocity.h"

#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/locks.h"
#include "server/engine/dynamics/one_way.h"
#include "server/engine/world/parameters.h"

#include <string.h>

void velocity_attach(struct dynamics *dynamics)
{
	dynamics_contacts_reset(dynamics);
}

void velocity_detach(struct dynamics *dynamics)
{
	dynamics_contacts_reset(dynamics);
	dynamics_wake_all(dynamics);
}

#define ALLOCATE(type, count) ARENA_ARRAY(&self->step->dynamics->scratch, type, count)

static uint32_t to_count(double value)
{
	uint32_t count = 0;
	return scalar_to_u32(value, &count) ? count : 0;
}

struct velocity_settings velocity_settings_of(const struct dynamics *dynamics,
					      struct velocity_method method)
{
	const double *parameter = dynamics->tables->parameter.value;
	struct velocity_settings settings = {
		.method = method,
		.articulated = (enum velocity_articulated)to_count(
			parameter[PARAMETER_ARTICULATED_COORDINATES]),
		.articulated_rows = to_count(parameter[PARAMETER_ARTICULATED_ROWS]),
		.printed = parameter[PARAMETER_VELOCITY_PRINTED] != 0,
		.dense_rows = to_count(parameter[PARAMETER_VELOCITY_DENSE_ROWS]),
		.rounds_max = to_count(parameter[PARAMETER_REFLECTION_ROUNDS]),
		.push_speed = parameter[PARAMETER_PUSH_SPEED],
		.joint_push_speed = parameter[PARAMETER_JOINT_PUSH_SPEED],
		.exact_work = parameter[PARAMETER_EXACT_WORK] != 0,
		.joint_tolerance = parameter[PARAMETER_JOINT_TOLERANCE],
		.restitution_speed = parameter[PARAMETER_RESTITUTION_SPEED],
	};
	if (method.core == VELOCITY_PROJECTION)
		settings.friction_rounds =
			to_count(parameter[PARAMETER_PROJECTION_FRICTION_ROUNDS]);
	settings.method.friction |= settings.friction_rounds > 0;
	ASSERT(method.core == VELOCITY_PROJECTION || settings.friction_rounds == 0);
	return settings;
}

/* ---- bodies ----------------------------------------------------------------------------------- */

/* Sets `after` and, of bodies that no impulse moves, `motions`: rounds of the motion of an island with
 * joints read them. */
static void prepare_jointed_bodies(struct velocity_step *self)
{
	const struct step *step = self->step;
	for (uint32_t slot = 0; slot < step->body_count; slot++) {
		self->after[slot] = self->forced[slot];
		if (!mass_moves(&self->mass, slot))
			self->motions[slot] = integrate_motion(
				step->dynamics, step->bodies[slot], &self->start[slot],
				self->forced[slot], self->forced[slot], step->dt);
	}
}

enum status velocity_take_bodies(struct velocity_step *self, struct arena *arena, uint32_t count)
{
	self->masses = ARENA_ARRAY(arena, struct mass_body, count);
	self->masses_end = ARENA_ARRAY(arena, struct mass_body, count);
	self->starts = ARENA_ARRAY(arena, struct body_start, count);
	self->before = ARENA_ARRAY(arena, struct spatial, count);
	self->forced = ARENA_ARRAY(arena, struct spatial, count);
	self->arriving = ARENA_ARRAY(arena, struct spatial, count);
	self->moving = ARENA_ARRAY(arena, struct spatial, count);
	self->after = ARENA_ARRAY(arena, struct spatial, count);
	self->push = ARENA_ARRAY(arena, struct spatial, count);
	self->force = ARENA_ARRAY(arena, struct spatial, count);
	self->motions = ARENA_ARRAY(arena, struct body_motion, count);
	self->constrained = ARENA_ARRAY(arena, bool, count);
	bool taken = self->masses != NULL && self->masses_end != NULL && self->starts != NULL &&
		     self->before != NULL && self->forced != NULL && self->arriving != NULL &&
		     self->moving != NULL && self->after != NULL && self->push != NULL &&
		     self->force != NULL && self->motions != NULL && self->constrained != NULL;
	return taken ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status velocity_prepare_bodies(struct velocity_step *self, struct body_motion *start)
{
	const struct step *step = self->step;
	const struct dynamics *dynamics = step->dynamics;
	uint32_t count = step->body_count;
	enum status status = velocity_take_bodies(self, &step->dynamics->scratch, count);
	struct force_sum *sums = ALLOCATE(struct force_sum, count);
	if (status != STATUS_OK || sums == NULL)
		return STATUS_NO_MEMORY;
	force_all(dynamics, step->bodies, count, step->dt, sums);
	for (uint32_t slot = 0; slot < count; slot++) {
		uint32_t row = step->bodies[slot];
		self->starts[slot] = integrate_start(dynamics, row, &sums[slot], step->dt);
		const struct body_start *begin = &self->starts[slot];
		double mass = dynamics->tables->body.mass[row];
		start[slot] = dynamics_motion(dynamics, row);
		start[slot].velocity = begin->velocity.linear;
		start[slot].angular_velocity = begin->velocity.angular;
		self->before[slot] = begin->velocity;
		self->force[slot].linear =
			vec3_mul_add(sums[slot].force, sums[slot].acceleration, mass);
		self->force[slot].angular = sums[slot].torque;
		self->forced[slot] = integrate_velocity(dynamics, row, begin, step->dt);
		self->moving[slot] = self->arriving[slot] = self->forced[slot];
		self->push[slot] = spatial_zero();
	}
	mass_bodies_from_tables(dynamics->tables, step->bodies, count, start, self->masses);
	self->mass = mass_operator_free(self->masses, count);
	self->start = start;
	if (self->joints.count > 0)
		prepare_jointed_bodies(self);
	velocity_rotors_start(self, true);
	return STATUS_OK;
}

void velocity_mark_constrained(struct velocity_step *self)
{
	memset(self->constrained, 0, self->step->body_count * sizeof *self->constrained);
	for (uint32_t i = 0; i < self->constraint_count; i++) {
		const uint32_t slots[2] = { self->constraints[i].body_a,
					    self->constraints[i].body_b };
		ASSERT(slots[0] != slots[1] || slots[0] == ROW_NO_BODY);
		for (uint32_t k = 0; k < 2; k++)
			if (slots[k] != ROW_NO_BODY) {
				ASSERT(slots[k] < self->step->body_count);
				self->constrained[slots[k]] = true;
			}
	}
}

void velocity_move_bodies(struct velocity_step *self, const struct body_motion *start)
{
	const struct step *step = self->step;
	for (uint32_t slot = 0; slot < step->body_count; slot++) {
		struct spatial by = spatial_mul_add(self->moving[slot], self->push[slot], 1);
		uint32_t body = step->bodies[slot];
		if (self->constrained[slot])
			self->motions[slot] = integrate_motion(step->dynamics, body, &start[slot],
							       self->moving[slot], by, step->dt);
		else
			self->motions[slot] = integrate_free(step->dynamics, body,
							     &self->starts[slot], step->dt, 1);
		self->after[slot] = (struct spatial){ self->motions[slot].velocity,
						      self->motions[slot].angular_velocity };
	}
	mass_bodies_from_tables(step->dynamics->tables, step->bodies, step->body_count,
				self->motions, self->masses_end);
}

/* ---- the motion ------------------------------------------------------------------------------- */

void velocity_motion_targets(const struct velocity_island *island, bool *selected, double *b)
{
	const struct velocity_step *self = island->step;
	double h = self->step->dt;
	row_system_speeds(&island->system, self->moving, b);
	for (uint32_t i = 0; i < island->contact_rows; i++) {
		const struct constraint_row *row = &island->rows[i];
		b[i] -= row->wanted;
		if (row->set == ROW_POSITIVE && row->gap > 0 && !self->settings.printed)
			b[i] += row->gap / h;
	}
	if (island->joints != NULL || island->tree != NULL)
		velocity_joints_targets(island, selected, b);
}

/* The velocities from which the motion is solved, and b there. */
static void begin_motion(struct velocity_island *island, bool *selected, double *b)
{
	if (island->joints != NULL || island->tree != NULL)
		velocity_joints_initial_velocities(island);
	if (island->tree != NULL)
		velocity_tree_hold(island, island->step->moving);
	velocity_motion_targets(island, selected, b);
}

/* b of the push, from the gaps that the motion leaves: a penetrating row is pushed out, the others must
 * stay open. Whether any row penetrates by more than VELOCITY_DEPTH. */
static bool set_push_targets(const struct velocity_island *island, bool *selected, double *b)
{
	const struct velocity_step *self = island->step;
	double h = self->step->dt, deepest = 0;
	row_system_speeds(&island->system, self->moving, b);
	for (uint32_t i = 0; i < island->contact_rows; i++) {
		const struct constraint_row *row = &island->rows[i];
		selected[i] = row->set == ROW_POSITIVE;
		double gap = row->gap + h * b[i];
		deepest = scalar_min(deepest, gap);
		/* The first VELOCITY_DEPTH is rounding. */
		b[i] = gap < 0 ? scalar_max((gap + VELOCITY_DEPTH) / h, -self->settings.push_speed)
			       : gap / h;
		b[i] = gap < 0 ? scalar_min(b[i], 0) : b[i];
	}
	if (island->joints != NULL)
		velocity_joints_push_targets(island, selected, b);
	ASSERT(!(deepest > 0));
	return deepest < -VELOCITY_DEPTH;
}

/* Counts the work of the push against forces, if positive: a push down a slope returns no energy. */
static void add_push_work(const struct velocity_island *island)
{
	const struct velocity_step *self = island->step;
	double work = 0;
	for (uint32_t i = 0; i < island->island->slot_count; i++) {
		uint32_t slot = island->island->slots[i];
		VALIDATE(slot < self->step->body_count);
		work -= self->step->dt * spatial_dot(self->force[slot], self->push[slot]);
	}
	island->outcome->push_work += scalar_max(work, 0);
}

void velocity_warm_start(const struct velocity_island *island, double *x)
{
	const struct velocity_step *self = island->step;
	if (island->joints != NULL)
		velocity_joints_warm_start(island, x);
	for (uint32_t i = 0; i < island->contact_rows; i++) {
		uint32_t block = island->block[i];
		uint32_t constraint = self->rows.blocks[block].constraint;
		uint32_t point = block - self->first_block[constraint];
		ASSERT(constraint < self->contact_count);
		uint32_t contact = self->contact_of[constraint];
		const double *from = step_multipliers(self->step, self->list, contact);
		if (velocity_is_printed(self, &self->list->items[contact])) {
			x[i] = 0; /* its points are not those of a manifold */
			continue;
		}
		double t = from[3 * point + 1], k = from[3 * point + 2];
		ASSERT(point < self->list->items[contact].point_count);
		x[i] = velocity_row_impulse(island, i, from[3 * point], t, k);
	}
}

/* Stores x by block, with tangents rotated back to those of row_frame. */
static void add_block_impulses(const struct velocity_island *island, const double *x)
{
	const struct velocity_step *self = island->step;
	if (island->joints != NULL)
		velocity_joints_add_results(island, x);
	for (uint32_t i = 0; i < island->contact_rows; i++) {
		struct velocity_impulse *to = &self->impulses[island->block[i]];
		double c = island->turned[i][0], s = island->turned[i][1];
		VALIDATE(island->place[i] < 3);
		if (island->place[i] == 0)
			*to = (struct velocity_impulse){ x[i], { 0, 0 } };
		else if (island->place[i] == 1) {
			to->tangent[0] += c * x[i];
			to->tangent[1] += s * x[i];
		} else {
			to->tangent[0] -= s * x[i];
			to->tangent[1] += c * x[i];
		}
	}
}

/* Whether an island whose rows all have no impulse may take its free paths: along these, too, nothing
 * overlaps. `moving` then is the mean velocity along them. */
static bool take_free_paths(const struct velocity_island *island, const double *x, double *b)
{
	const struct velocity_step *self = island->step;
	double h = self->step->dt;
	bool free = self->settings.exact_work && island->joints == NULL && island->tree == NULL;
	for (uint32_t i = 0; i < island->count && free; i++)
		free = !(scalar_abs(x[i]) > 0);
	if (!free)
		return false;
	for (uint32_t i = 0; i < island->island->slot_count; i++) {
		uint32_t slot = island->island->slots[i];
		struct spatial sum = spatial_mul_add(self->before[slot], self->forced[slot], 1);
		self->moving[slot] = spatial_scale(sum, 0.5);
	}
	row_system_speeds(&island->system, self->moving, b);
	for (uint32_t i = 0; i < island->count && free; i++)
		free = island->rows[i].set != ROW_POSITIVE ||
		       island->rows[i].gap + h * b[i] >= -0.5 * VELOCITY_DEPTH;
	for (uint32_t i = 0; i < island->island->slot_count && !free; i++)
		self->moving[island->island->slots[i]] = self->forced[island->island->slots[i]];
	return free;
}

enum status velocity_motion_island(const struct island *members, uint32_t index,
				   struct arena *arena, void *context)
{
	UNUSED(members);
	struct velocity_step *self = context;
	struct velocity_island island;
	enum status status = velocity_island_make(&island, self, index, arena);
	if (status != STATUS_OK)
		return status;
	double *b = ARENA_ARRAY(arena, double, island.count),
	       *x = ARENA_ARRAY(arena, double, island.count);
	bool *selected = ARENA_ARRAY(arena, bool, island.count);
	if (b == NULL || x == NULL || selected == NULL)
		return STATUS_NO_MEMORY;
	begin_motion(&island, selected, b);
	velocity_warm_start(&island, x);
	struct velocity_problem motion = { NULL, b, x };
	status = island.tree != NULL	 ? velocity_tree_solve_motion(&island, selected, b, x)
		 : island.joints == NULL ? velocity_island_solve(&island, &motion)
					 : velocity_joints_solve_motion(&island, selected, b, x);
	if (status != STATUS_OK)
		return status;
	island.outcome->free = take_free_paths(&island, x, b);
	row_system_apply(&island.system, x, self->moving);
	add_block_impulses(&island, x);
	if (island.tree != NULL)
		velocity_tree_add_results(&island, self->moving, x);
	island.outcome->impact = velocity_bounces(&island, x);
	if (island.outcome->impact && (island.joints != NULL || island.tree != NULL)) {
		double *alone = ARENA_ARRAY(arena, double, island.count);
		status = alone == NULL
				 ? STATUS_NO_MEMORY
				 : velocity_joints_solve_arriving(&island, selected, b, alone);
		if (status != STATUS_OK)
			return status;
		island.outcome->impact = velocity_bounces(&island, x);
	}
	if (!set_push_targets(&island, selected, b))
		return STATUS_OK;
	status = velocity_tree_stiffen(&island);
	if (status != STATUS_OK)
		return status;
	memset(x, 0, island.count * sizeof *x);
	struct velocity_problem push = { selected, b, x };
	status = velocity_island_solve(&island, &push);
	if (status != STATUS_OK)
		return status;
	row_system_apply(&island.system, x, self->push);
	island.outcome->pushed = true;
	add_push_work(&island);
	return STATUS_OK;
}

/* ---- angular momentum after a push ------------------------------------------------------------ */

double velocity_body_energy(const struct mass_body *mass, struct spatial v)
{
	return 0.5 * (mass->mass.x * v.linear.x * v.linear.x +
		      mass->mass.y * v.linear.y * v.linear.y +
		      mass->mass.z * v.linear.z * v.linear.z) +
	       0.5 * sym3_quadratic(mass->inertia, v.angular);
}

double velocity_energy(const struct mass_body *masses, const struct spatial *velocities,
		       const struct island *island)
{
	double sum = 0;
	for (uint32_t i = 0; i < island->slot_count; i++)
		sum += velocity_body_energy(&masses[island->slots[i]],
					    velocities[island->slots[i]]);
	return sum;
}

/* Whether every constraint of the island is between two movable bodies, none of which has locked axes. */
static bool is_unsupported(const struct velocity_step *self, const struct island *island)
{
	for (uint32_t i = 0; i < island->slot_count; i++)
		if (locks_of(self->step->dynamics->tables, self->step->bodies[island->slots[i]]) !=
		    0)
			return false;
	for (uint32_t i = 0; i < island->constraint_count; i++) {
		const struct constraint *constraint = &self->constraints[island->constraints[i]];
		const uint32_t slots[2] = { constraint->body_a, constraint->body_b };
		for (uint32_t k = 0; k < 2; k++)
			if (slots[k] == ROW_NO_BODY || !mass_moves(&self->mass, slots[k]))
				return false;
	}
	return true;
}

/* A push moves bodies across their velocities, which changes Σ x × m v. This function gives that
 * amount back to the island as a rigid rotation, which changes no relative speed of any contact. It
 * applies to unsupported islands only, because others exchange angular momentum with their supports. */
static void restore_momentum(struct velocity_step *self, const struct island *island)
{
	ASSERT(island->slot_count > 0);
	double mass = 0, h = self->step->dt;
	vec3 centre = vec3_zero(), lost = vec3_zero();
	for (uint32_t i = 0; i < island->slot_count; i++) {
		uint32_t slot = island->slots[i];
		double m = self->masses_end[slot].mass.x;
		mass += m;
		centre = vec3_mul_add(centre, self->motions[slot].centre, m);
		vec3 moved = vec3_scale(self->push[slot].linear, h);
		lost = vec3_mul_add(lost, vec3_cross(moved, self->after[slot].linear), -m);
	}
	centre = vec3_scale(centre, 1 / mass);
	mat3 inertia = mat3_zero(), inverse;
	for (uint32_t i = 0; i < island->slot_count; i++) {
		uint32_t slot = island->slots[i];
		double m = self->masses_end[slot].mass.x;
		vec3 r = vec3_sub(self->motions[slot].centre, centre);
		mat3 skew = mat3_skew(r);
		inertia = mat3_add(inertia, sym3_matrix(self->masses_end[slot].inertia));
		inertia = mat3_sub(inertia, mat3_scale(mat3_mul(skew, skew), m));
	}
	if (self->step->dynamics->tables->world.planar[0]) {
		double about = inertia.z.z;
		inertia = mat3_identity();
		inertia.z.z = about;
		lost.x = lost.y = 0;
	}
	if (!mat3_inverse(inertia, &inverse))
		return;
	vec3 spin = mat3_mul_vec(inverse, lost);
	for (uint32_t i = 0; i < island->slot_count; i++) {
		uint32_t slot = island->slots[i];
		vec3 r = vec3_sub(self->motions[slot].centre, centre);
		struct spatial rigid = { vec3_cross(spin, r), spin };
		self->after[slot] = spatial_mul_add(self->after[slot], rigid, 1);
	}
}

void velocity_finish_pushes(struct velocity_step *self)
{
	for (uint32_t i = 0; i < self->islands.count; i++) {
		const struct island *island = &self->islands.items[i];
		if (!self->outcomes[i].pushed)
			continue;
		if (is_unsupported(self, island))
			restore_momentum(self, island);
		double gained = velocity_energy(self->masses_end, self->after, island) -
				velocity_energy(self->masses, self->moving, island);
		self->outcomes[i].push_work += scalar_max(gained, 0);
		ASSERT(!(self->outcomes[i].push_work < 0));
	}
}

/* ---- impacts ---------------------------------------------------------------------------------- */

static bool any_impact(const struct velocity_step *self)
{
	for (uint32_t i = 0; i < self->islands.count; i++)
		if (self->outcomes[i].impact)
			return true;
	return false;
}

/* Adds the impulses of the end to the beginning's blocks of the same feature, or else to the contact's
 * first block, so that the contact table reports them. */
static void merge_impulses(struct velocity_step *self, const struct velocity_step *end)
{
	for (uint32_t c = 0; c < end->contact_count; c++) {
		uint32_t first, last;
		velocity_blocks_of(self, end->contact_of[c], &first, &last);
		if (first == last)
			continue; /* without points at the beginning it has no column to report in */
		ASSERT(last <= self->rows.block_count);
		for (uint32_t k = end->first_block[c]; k < end->first_block[c + 1]; k++) {
			uint32_t to = first;
			for (uint32_t j = first; j < last; j++)
				if (self->rows.blocks[j].key.feature ==
				    end->rows.blocks[k].key.feature)
					to = j;
			self->impulses[to].normal += end->impulses[k].normal;
			self->impulses[to].tangent[0] += end->impulses[k].tangent[0];
			self->impulses[to].tangent[1] += end->impulses[k].tangent[1];
		}
	}
}

/* Collides the pairs of the step again at the end, and resolves there the impacts of islands that
 * bounce. */
static enum status solve_impacts(struct velocity_step *self)
{
	struct step *step = self->step;
	struct velocity_step end = *self;
	struct contact_list list;
	if (step_list_copy(step, &list) != STATUS_OK)
		return STATUS_NO_MEMORY;
	struct collide_options options = collide_options_default(step->dt);
	options.motions = self->motions;
	options.anew = true;
	step_collide(step, &list, 0, &options);
	one_way_note_end(step, &list);
	end.masses = self->masses_end;
	end.mass = mass_operator_free(end.masses, step->body_count);
	enum status status = velocity_state(&end, &list, self->motions);
	if (status == STATUS_OK)
		status = velocity_islands(&end);
	if (status != STATUS_OK)
		return status;
	struct velocity_impact impact;
	status = velocity_impact_init(&impact, self, &end);
	if (status != STATUS_OK)
		return status;
	end.outcomes = ALLOCATE(struct velocity_outcome, end.islands.count);
	if (end.outcomes == NULL)
		return STATUS_NO_MEMORY;
	memset(end.outcomes, 0, end.islands.count * sizeof *end.outcomes);
	status = islands_solve(step, &end.islands, velocity_impact_island, &impact);
	if (status != STATUS_OK)
		return status;
	self->impact_outcomes = end.outcomes;
	self->impact_count = end.islands.count;
	merge_impulses(self, &end);
	return STATUS_OK;
}

/* ---- the step --------------------------------------------------------------------------------- */

void velocity_merge_outcomes(struct step_report *report, const struct velocity_outcome *outcomes,
			     uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct velocity_outcome *outcome = &outcomes[i];
		ASSERT(!(outcome->residual < 0));
		report->residual = scalar_max(report->residual, outcome->residual);
		report->push_work += outcome->push_work;
		report->iterations += outcome->iterations;
		report->fallbacks += outcome->fallbacks;
		report->islands_dense += outcome->solved && outcome->dense;
		report->islands_sparse += outcome->solved && !outcome->dense;
		report->islands_dependent += outcome->dependent;
		report->islands_reduced += outcome->solved && outcome->reduced;
		report->islands_maximal += outcome->solved && outcome->maximal;
	}
}

/* Blocks of a manifold are its points, in order; further blocks of the printed form are added to the
 * last point. `first`: by block, the impulses of the motion, which warm-start the next step. */
static void store_impulses(const struct velocity_step *self, const struct velocity_impulse *first)
{
	struct contact_table *table = &self->step->dynamics->tables->contact;
	for (uint32_t i = 0; i < self->list->count; i++) {
		const struct contact_state *contact = &self->list->items[i];
		uint32_t row = contact->row, from, last;
		vec3 t, k, friction = vec3_zero();
		memset(table->normal_impulse[row], 0, sizeof table->normal_impulse[row]);
		memset(table->friction_impulse[row], 0, sizeof table->friction_impulse[row]);
		memset(table->multiplier[row], 0, sizeof table->multiplier[row]);
		velocity_blocks_of(self, i, &from, &last);
		ASSERT(from == last || contact->point_count > 0);
		row_frame(contact->normal, &t, &k);
		for (uint32_t block = from; block < last; block++) {
			uint32_t p = MIN_OF(block - from, contact->point_count - 1u);
			ASSERT(p < MANIFOLD_POINTS_MAX);
			const struct velocity_impulse *sum = &self->impulses[block];
			table->normal_impulse[row][p] += sum->normal;
			table->multiplier[row][3 * p] += first[block].normal;
			table->multiplier[row][3 * p + 1] += first[block].tangent[0];
			table->multiplier[row][3 * p + 2] += first[block].tangent[1];
			friction = vec3_mul_add(friction, t, sum->tangent[0]);
			friction = vec3_mul_add(friction, k, sum->tangent[1]);
		}
		table->friction_impulse[row][0] = friction.x;
		table->friction_impulse[row][1] = friction.y;
		table->friction_impulse[row][2] = friction.z;
	}
}

/* Bodies of islands in which nothing acts take the path of bodies without constraints. */
static void release_free(struct velocity_step *self)
{
	for (uint32_t k = 0; k < self->islands.count; k++) {
		const struct island *island = &self->islands.items[k];
		for (uint32_t i = 0; i < island->slot_count && self->outcomes[k].free; i++)
			self->constrained[island->slots[i]] = false;
	}
}

/* From positions x and velocities v to x', v' and the impulses. *first: by block, those of the motion. */
static enum status solve_step(struct velocity_step *self, struct velocity_impulse **first)
{
	struct step *step = self->step;
	struct body_motion *start = ALLOCATE(struct body_motion, step->body_count);
	self->joint_results = ALLOCATE(struct joint_result, self->joints.count);
	if (start == NULL || self->joint_results == NULL)
		return STATUS_NO_MEMORY;
	memset(self->joint_results, 0, self->joints.count * sizeof *self->joint_results);
	profile_enter(step->dynamics->profile, PROFILE_PREPARE);
	enum status status = velocity_prepare_bodies(self, start);
	if (status == STATUS_OK)
		status = velocity_state(self, &step->contacts, NULL);
	if (status == STATUS_OK)
		status = velocity_islands(self);
	if (status != STATUS_OK)
		return status;
	self->outcomes = ALLOCATE(struct velocity_outcome, self->islands.count);
	if (self->outcomes == NULL)
		return STATUS_NO_MEMORY;
	memset(self->outcomes, 0, self->islands.count * sizeof *self->outcomes);
	profile_enter(step->dynamics->profile, PROFILE_SOLVE);
	status = islands_solve(step, &self->islands, velocity_motion_island, self);
	if (status != STATUS_OK)
		return status;
	velocity_mark_constrained(self);
	release_free(self);
	profile_enter(step->dynamics->profile, PROFILE_INTEGRATE);
	velocity_move_bodies(self, start);
	profile_enter(step->dynamics->profile, PROFILE_JOINTS);
	if (self->joints.count > 0)
		status = velocity_joints_project(self);
	if (status != STATUS_OK)
		return status;
	profile_enter(step->dynamics->profile, PROFILE_SOLVE);
	velocity_finish_pushes(self);
	*first = self->impulses;
	bool impact = any_impact(self);
	if (!impact && self->joints.count == 0)
		return STATUS_OK;
	/* The impulses of the motion warm-start the next step; all of this step are reported. */
	uint32_t blocks = self->rows.block_count;
	self->impulses = ALLOCATE(struct velocity_impulse, blocks);
	if (self->impulses == NULL)
		return STATUS_NO_MEMORY;
	memcpy(self->impulses, *first, blocks * sizeof **first);
	if (self->joints.count > 0)
		status = velocity_joints_solve_end(self);
	return status == STATUS_OK && impact ? solve_impacts(self) : status;
}

enum status velocity_step_begin(struct step *step, struct dynamics *dynamics, double dt,
				struct reason *why)
{
	ASSERT(dt > 0);
	enum status status = step_begin(step, dynamics, dt, true, NULL, why);
	if (status != STATUS_OK)
		return status;
	struct collide_options options = collide_options_default(dt);
	options.carry = CARRY_POINTS;
	options.anew = true;
	step_collide(step, &step->contacts, 0, &options);
	step_wake_reached(step, &options);
	step_number(step);
	step_report_contacts(step, &step->contacts);
	return STATUS_OK;
}

enum status velocity_step_make(struct dynamics *dynamics, double dt, struct velocity_method method,
			       struct reason *why)
{
	ASSERT(dt > 0);
	struct step step;
	enum status status = velocity_step_begin(&step, dynamics, dt, why);
	if (status != STATUS_OK)
		return status;
	struct velocity_step self = { .step = &step,
				      .settings = velocity_settings_of(dynamics, method) };
	struct velocity_impulse *first;
	status = step_joints_make(&step, dt, &self.joints, why);
	if (status == STATUS_OK)
		status = solve_step(&self, &first);
	if (status == STATUS_NO_MEMORY)
		return reason_set(why, status, -1, "memory",
				  "no memory to solve %u contacts and %u joints",
				  step.contacts.count, self.joints.count);
	if (status == STATUS_OK)
		status = step_commit(&step, &step.contacts, why);
	if (status != STATUS_OK)
		return status;
	store_impulses(&self, first);
	step_contacts_solved(&step, &step.contacts, NULL);
	for (uint32_t slot = 0; slot < step.body_count; slot++) {
		self.motions[slot].velocity = self.after[slot].linear;
		self.motions[slot].angular_velocity = self.after[slot].angular;
	}
	step_store_all(&step, self.motions);
	velocity_joints_finish_results(&self);
	step_joints_store(&step, &self.joints, self.joint_results);
	step_sleep(&step);
	velocity_merge_outcomes(&dynamics->report, self.outcomes, self.islands.count);
	if (self.end_outcomes != NULL)
		velocity_merge_outcomes(&dynamics->report, self.end_outcomes, self.islands.count);
	velocity_merge_outcomes(&dynamics->report, self.impact_outcomes, self.impact_count);
	step_finish(&step);
	return STATUS_OK;
}
