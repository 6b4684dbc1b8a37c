/* velocity_tree.c: islands whose joints are part of the mass operator: reduced coordinates.
 *
 * The locked axes of a forest's joints are no rows of such an island (tree_mass.h). The step is the same as
 * over bodies (velocity_joint.c), because both state one problem: of the velocities that hold the joints, the
 * nearest to the given ones, with the rows that are left. They differ in how it is solved:
 *
 *   the motion   λ of locked axes is never formed. A link's bias c is the velocity by which its pose after
 *                the straight motion misses the one that its joint's coordinates give it there; it takes the
 *                place of the curvature of locked axes, in the same rounds
 *   its poses    those of the joints' coordinates at the end, so errors of locked axes are rounding of one
 *                joint and never add up. What is left of the motion's error before that is taken back in the
 *                metric of mass, so that a floating mechanism keeps its centre and its angular momentum
 *   springs      of joints of the forest, without limits, are part of the masses: they act implicitly in the
 *                joints' coordinates
 *   rotors       of joints of the forest are part of the masses everywhere but for displacements: a row
 *                J v + λ/a = ω adds a to the axis' inertia
 *
 * Impulses of the joints follow from the changes of momentum, from the leaves up.
 *
 * Which islands: `articulated.coordinates` 0 none, 2 all whose bodies have reduced coordinates, 1 of these
 * the ones with at most articulated.rows rows beside the locked axes, because an entry of J M⁻¹ Jᵀ costs the
 * path between its rows, and the elimination over bodies costs what touches. Islands that do not suit are
 * solved over bodies and counted.
 */
#include "server/engine/methods/velocity.h"

#include <string.h>

/* m, rad, of coordinates near 1: a pose as near to that of its joint's coordinates is rounding. */
#define CLOSED 1e-13
/* The same of a motion, after which errors are taken back without a change of velocity: momenta drift
 * by as much. */
#define ROUNDING 1e-15

/* m, rad. Where rows depend on others, rounds come as near as the compliance of a solution permits, some
 * 1e-8. Smaller: such motions are straight, which takes energy; larger: bodies that turn too far for rounds
 * to converge are mistaken for them. */
#define DEPENDENT 1e-6

#define ALLOCATE(type, count) ARENA_ARRAY(arena, type, count)

/* ---- poses of links ------------------------------------------------------------------------------- */

/* Motions of the state by slot: of the beginning or of the end. */
static const struct body_motion *motions_of(const struct velocity_step *step)
{
	return step->at != NULL ? step->at : step->start;
}

/* By how much a link's pose misses the one of its joint's coordinates, at these motions. */
static struct spatial pose_error(const struct velocity_step *step, const struct tree_link *link,
				 const struct body_motion *motions, struct body_motion *placed)
{
	ASSERT(link->joint < step->joints.count);
	const struct joint *joint = &step->joints.joints[link->joint];
	const struct constraint *of = &step->joints.constraints[link->joint];
	const struct body_motion *a = of->body_a == ROW_NO_BODY ? &joint->a : &motions[of->body_a];
	const struct body_motion *b = of->body_b == ROW_NO_BODY ? &joint->b : &motions[of->body_b];
	*placed = tree_place(joint, link, a, b);
	return tree_displacement(&motions[link->slot], placed);
}

static double spatial_size(struct spatial a)
{
	return scalar_max(vec3_max_component(vec3_abs(a.linear)),
			  vec3_max_component(vec3_abs(a.angular)));
}

/* ---- which islands --------------------------------------------------------------------------------- */

bool velocity_joint_has_no_rows(const struct velocity_step *self, uint32_t joint)
{
	if (!velocity_joint_is_held(self, joint))
		return false;
	const struct joint_layout *layout = &self->joints.joints[joint].layout;
	VALIDATE(layout->known);
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		if (!(layout->locked >> axis & 1) && layout->parts[axis] != 0)
			return false;
	return true;
}

static uint32_t locked_count(const struct joint *joint)
{
	uint32_t locked = joint_locked_axes(joint), count = 0;
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		count += locked >> axis & 1;
	return count;
}

static uint32_t rotor_count(const struct joint *joint)
{
	uint32_t count = 0;
	VALIDATE(joint->layout.known);
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		count += joint->layout.parts[axis] >> JOINT_ROTOR & 1;
	return count;
}

uint32_t velocity_held_axes(const struct velocity_step *self, uint32_t joint)
{
	return velocity_joint_is_held(self, joint) ? locked_count(&self->joints.joints[joint]) : 0;
}

/* An upper bound of the rows that an island has beside the locked axes of joints that may be edges, and its
 * joints, as indices. */
static uint32_t count_rows(const struct velocity_step *self, const struct island *island,
			   uint32_t *list, uint32_t *list_count)
{
	uint32_t rows = 0, each = self->settings.method.friction ? 3 : 1;
	*list_count = 0;
	for (uint32_t i = 0; i < island->constraint_count; i++) {
		uint32_t c = island->constraints[i];
		uint8_t places[JOINT_ROWS_MAX];
		if (c < self->contact_count) {
			const struct contact_found *found = self->constraints[c].data;
			rows += each * found->point_count;
			continue;
		}
		uint32_t j = c - self->contact_count;
		const struct joint *joint = &self->joints.joints[j];
		list[(*list_count)++] = j;
		rows += joint_places(joint, places);
		if (tree_joint_is_edge(joint))
			rows -= locked_count(joint) + rotor_count(joint);
	}
	return rows;
}

/* Whether some joint of a forest is off by more than joint.push_speed closes in the step: its rows do that,
 * because poses of links are those of their joints' coordinates at once. */
static bool opens(const struct velocity_step *self, const struct tree_plan *plan)
{
	double by = self->settings.joint_push_speed * self->step->dt;
	bool any = false;
	for (uint32_t i = 0; i < plan->link_count && by > 0; i++) {
		struct body_motion placed;
		if (plan->links[i].joint != TREE_NONE)
			any |= spatial_size(pose_error(self, &plan->links[i], motions_of(self),
						       &placed)) > by;
	}
	return any;
}

/* Makes the plan of an island none. */
static void drop_plan(const struct velocity_step *self, const struct island *island,
		      struct tree_plan *plan, uint32_t *link_of, bool *held)
{
	for (uint32_t i = 0; i < plan->link_count; i++)
		if (plan->links[i].joint != TREE_NONE)
			held[plan->links[i].joint] = false;
	for (uint32_t i = 0; i < island->slot_count; i++)
		link_of[island->slots[i]] = TREE_NONE;
	plan->link_count = 0;
	ASSERT(self->joints.count > 0);
}

static enum status choose_island(struct velocity_step *self, uint32_t index,
				 struct velocity_trees *trees, struct tree_plan *plan,
				 uint32_t *link_of, bool *held, bool *refused)
{
	ASSERT(index < self->islands.count);
	struct arena *arena = &self->step->dynamics->scratch;
	const struct island *island = &self->islands.items[index];
	uint32_t *list = ALLOCATE(uint32_t, island->constraint_count), joints;
	if (list == NULL)
		return STATUS_NO_MEMORY;
	uint32_t rows = count_rows(self, island, list, &joints), edges = 0;
	for (uint32_t i = 0; i < joints; i++)
		edges += tree_joint_is_edge(&self->joints.joints[list[i]]);
	if (edges == 0)
		return STATUS_OK;
	*refused = self->settings.articulated == VELOCITY_AUTO &&
		   rows > self->settings.articulated_rows;
	if (*refused)
		return STATUS_OK;
	enum status status =
		tree_plan_make(plan, arena, &trees->joints, list, joints, island->slots,
			       island->slot_count, self->masses, link_of, held);
	if (status == STATUS_OK && opens(self, plan))
		drop_plan(self, island, plan, link_of, held);
	*refused = plan->link_count == 0;
	return status;
}

enum status velocity_trees_choose(struct velocity_step *self)
{
	struct arena *arena = &self->step->dynamics->scratch;
	self->trees = NULL;
	self->islands_made = false;
	if (self->settings.articulated == VELOCITY_MAXIMAL || self->joints.count == 0)
		return STATUS_OK;
	enum status status = velocity_islands(self);
	if (status != STATUS_OK)
		return status;
	struct velocity_trees *trees = ALLOCATE(struct velocity_trees, 1);
	uint32_t count = self->islands.count;
	struct tree_plan *plans = arena_push_zero(arena, count * sizeof *plans);
	uint32_t *link_of = ALLOCATE(uint32_t, self->step->body_count);
	bool *held = arena_push_zero(arena, self->joints.count * sizeof *held);
	bool *refused = arena_push_zero(arena, count * sizeof *refused);
	if (trees == NULL || plans == NULL || link_of == NULL || held == NULL || refused == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t slot = 0; slot < self->step->body_count; slot++)
		link_of[slot] = TREE_NONE;
	*trees = (struct velocity_trees){ .plans = plans,
					  .joints = { self->joints.joints, self->joints.constraints,
						      self->joints.count },
					  .link_of = link_of,
					  .held = held,
					  .refused = refused };
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		if (velocity_has_joints(self, &self->islands.items[i]))
			status = choose_island(self, i, trees, &plans[i], link_of, held,
					       &refused[i]);
	self->trees = trees;
	return status;
}

/* ---- an island ------------------------------------------------------------------------------------- */

static enum status allocate_tree(struct velocity_tree *self, struct arena *arena,
				 const struct tree_plan *plan)
{
	self->given = ALLOCATE(struct spatial, plan->link_count);
	self->offset = arena_push_zero(arena, plan->link_count * sizeof *self->offset);
	self->work = ALLOCATE(struct spatial, plan->link_count);
	return self->given != NULL && self->offset != NULL && self->work != NULL ? STATUS_OK
										 : STATUS_NO_MEMORY;
}

enum status velocity_tree_make(struct velocity_island *self, uint32_t index)
{
	const struct velocity_step *step = self->step;
	struct arena *arena = self->arena;
	if (step->trees == NULL)
		return STATUS_OK;
	self->outcome->maximal |= step->trees->refused[index];
	const struct tree_plan *plan = &step->trees->plans[index];
	if (plan->link_count == 0)
		return STATUS_OK;
	struct velocity_tree *tree = arena_push_zero(arena, sizeof *tree);
	if (tree == NULL || allocate_tree(tree, arena, plan) != STATUS_OK)
		return STATUS_NO_MEMORY;
	enum status status = tree_mass_make(&tree->mass, arena, plan, &step->trees->joints,
					    step->trees->link_of, step->masses, motions_of(step));
	if (status != STATUS_OK)
		return status;
	self->outcome->reduced = true;
	self->tree = tree;
	self->mass = tree_mass_operator(&tree->mass, step->mass.slots);
	return STATUS_OK;
}

enum status velocity_tree_find_still(struct velocity_island *self)
{
	struct mass_operator free = mass_operator_free(self->step->masses, self->step->mass.slots);
	struct arena *arena = self->arena;
	struct velocity_tree *tree = self->tree;
	tree->still = ALLOCATE(bool, self->count);
	tree->alone = ALLOCATE(double, self->count);
	if (tree->still == NULL || tree->alone == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < self->count; i++) {
		struct jacobian j = self->rows[i].j;
		struct spatial room[ROW_PARTS_MAX];
		struct mass_response response;
		mass_respond(&free, j, room, &response);
		tree->alone[i] = mass_couple(&free, j, &response);
		double moves = mass_couple(&self->mass, j, &self->system.responses[i]);
		tree->still[i] = !(moves > VELOCITY_MOVE_MIN * tree->alone[i]);
		/* A joint that closes a loop and says what the forest's joints say. */
		if (tree->still[i] && velocity_holds(self, i) && velocity_is_beginning(self->step))
			self->outcome->dependent = true;
	}
	return STATUS_OK;
}

/* ---- springs --------------------------------------------------------------------------------------- */

static uint32_t link_of_joint(const struct velocity_island *self, uint32_t joint)
{
	const struct velocity_trees *trees = self->step->trees;
	const struct constraint *of = &self->step->joints.constraints[joint];
	for (uint32_t side = 0; side < 2; side++) {
		uint32_t slot = side == 0 ? of->body_a : of->body_b;
		uint32_t link = slot == ROW_NO_BODY ? TREE_NONE : trees->link_of[slot];
		if (link != TREE_NONE && self->tree->mass.plan->links[link].joint == joint)
			return link;
	}
	ASSERT(false);
	return TREE_NONE;
}

/* Whether row i is a rotor, or in the motion a spring without limits, of a joint of the forest. */
static bool is_inner_spring(const struct velocity_island *self, uint32_t i)
{
	ASSERT(i >= self->contact_rows && i < self->taut_from);
	const struct velocity_joint_row *row = &self->joints[i - self->contact_rows];
	bool passes = velocity_is_beginning(self->step) && !self->step->instant;
	bool spring = row->role == VELOCITY_SPRING && passes;
	return (spring || row->role == VELOCITY_ROTOR) && row->soft > 0 &&
	       velocity_joint_is_held(self->step, row->joint) && row->lower == -__builtin_inf() &&
	       row->upper == __builtin_inf();
}

/* Which rows are springs or rotors of the forest. NO_MEMORY. */
static enum status gather_springs(struct velocity_island *self)
{
	struct velocity_tree *tree = self->tree;
	struct arena *arena = self->arena;
	uint32_t count = 0;
	for (uint32_t i = self->contact_rows; i < self->taut_from; i++)
		count += is_inner_spring(self, i);
	if (count == 0)
		return STATUS_OK;
	tree->springs = ALLOCATE(struct tree_spring, count);
	tree->rows = ALLOCATE(uint32_t, count);
	if (tree->springs == NULL || tree->rows == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = self->contact_rows; i < self->taut_from; i++) {
		if (!is_inner_spring(self, i))
			continue;
		struct velocity_joint_row *row = &self->joints[i - self->contact_rows];
		struct tree_spring *spring = &tree->springs[tree->spring_count];
		tree->rows[tree->spring_count++] = i;
		*spring = (struct tree_spring){ .link = link_of_joint(self, row->joint),
						.soft = row->soft,
						.pull = row->pull };
		for (uint32_t k = 0; k < self->rows[i].j.count; k++)
			if (self->rows[i].j.parts[k].slot ==
			    tree->mass.plan->links[spring->link].slot)
				spring->on = self->rows[i].j.parts[k].on;
		row->lower = row->upper = 0;
	}
	ASSERT(tree->spring_count == count);
	return STATUS_OK;
}

enum status velocity_tree_soften(struct velocity_island *self)
{
	struct velocity_tree *tree = self->tree;
	enum status status = gather_springs(self);
	if (status != STATUS_OK)
		return status;
	tree_mass_factor(&tree->mass, tree->springs, tree->spring_count);
	self->outcome->fallbacks += tree->mass.weak;
	return STATUS_OK;
}

enum status velocity_tree_stiffen(struct velocity_island *self)
{
	if (self->tree == NULL || self->tree->mass.spring_count == 0)
		return STATUS_OK;
	tree_mass_factor(&self->tree->mass, NULL, 0);
	return velocity_island_respond(self);
}

/* ---- velocities and impulses ----------------------------------------------------------------------- */

static uint32_t slot_at(const struct velocity_island *self, uint32_t link)
{
	return self->tree->mass.plan->links[link].slot;
}

/* Sets the pulls of springs and rotors, which bend with their coordinates. */
static void pull_again(const struct velocity_island *self)
{
	const struct velocity_tree *tree = self->tree;
	for (uint32_t s = 0; s < tree->spring_count; s++) {
		const struct velocity_joint_row *row =
			&self->joints[tree->rows[s] - self->contact_rows];
		tree->springs[s].pull = row->pull + row->curvature;
	}
}

void velocity_tree_hold(struct velocity_island *self, struct spatial *velocities)
{
	ASSERT(self->tree != NULL);
	struct velocity_tree *tree = self->tree;
	pull_again(self);
	for (uint32_t i = 0; i < tree->mass.plan->link_count; i++) {
		tree->given[i] = velocities[slot_at(self, i)];
		tree->mass.bias[i] = spatial_zero();
	}
	tree_mass_project(&tree->mass, velocities);
}

/* The springs' multipliers at these velocities: soft λ + J v + pull = 0. A rotor loses soft λ. */
static void add_springs(const struct velocity_island *self, const struct spatial *velocities)
{
	const struct velocity_tree *tree = self->tree;
	for (uint32_t s = 0; s < tree->mass.spring_count; s++) {
		const struct velocity_joint_row *row =
			&self->joints[tree->rows[s] - self->contact_rows];
		double speed = jacobian_speed(self->rows[tree->rows[s]].j, velocities);
		double lost = -(speed + tree->springs[s].pull);
		self->step->joint_results[row->joint].multiplier[row->place] +=
			lost / tree->springs[s].soft;
		if (row->role == VELOCITY_ROTOR)
			self->step->joints.joints[row->joint]
				.axes[joint_place_axis(row->place)]
				.rotor -= lost;
	}
}

/* The impulse `on` a link by its joint, about the link's centre, as one on b about b's anchor. */
static struct spatial on_anchor(const struct velocity_island *self, const struct tree_link *link,
				struct spatial on)
{
	ASSERT(link->joint < self->step->joints.count);
	const struct velocity_step *step = self->step;
	const struct joint *joint = &step->joints.joints[link->joint];
	uint32_t slot = step->joints.constraints[link->joint].body_b;
	const struct body_motion *motions = motions_of(step);
	const struct body_motion *b = slot == ROW_NO_BODY ? &joint->b : &motions[slot];
	vec3 arm = vec3_sub(joint_anchor_b(joint, b), motions[link->slot].centre);
	on.angular = vec3_sub(on.angular, vec3_cross(arm, on.linear));
	return link->reversed ? spatial_negate(on) : on;
}

void velocity_tree_add_results(const struct velocity_island *self, const struct spatial *velocities,
			       const double *x)
{
	const struct velocity_tree *tree = self->tree;
	const struct tree_plan *plan = tree->mass.plan;
	struct spatial *change = tree->work;
	for (uint32_t i = 0; i < plan->link_count; i++) {
		const struct mass_body *body = &tree->mass.masses[slot_at(self, i)];
		struct spatial by =
			spatial_mul_add(velocities[slot_at(self, i)], tree->given[i], -1);
		change[i].linear = vec3_hadamard(body->mass, by.linear);
		change[i].angular = sym3_apply(body->inertia, by.angular);
	}
	for (uint32_t i = 0; i < self->count; i++)
		for (uint32_t k = 0; k < self->rows[i].j.count && x[i] != 0; k++) {
			const struct row_part *part = &self->rows[i].j.parts[k];
			uint32_t link = self->step->trees->link_of[part->slot];
			if (link != TREE_NONE)
				change[link] = spatial_mul_add(change[link], part->on, -x[i]);
		}
	tree_mass_loads(&tree->mass, change);
	for (uint32_t i = 0; i < plan->link_count; i++) {
		if (plan->links[i].joint == TREE_NONE)
			continue;
		struct joint_result *to = &self->step->joint_results[plan->links[i].joint];
		to->on_b =
			spatial_mul_add(to->on_b, on_anchor(self, &plan->links[i], change[i]), 1);
	}
	add_springs(self, velocities);
}

/* ---- the motion ------------------------------------------------------------------------------------ */

/* Adds to each link's bias what its pose misses; the greatest change, m or rad. */
static double bend_links(const struct velocity_island *self)
{
	struct velocity_tree *tree = self->tree;
	const struct velocity_step *step = self->step;
	double h = step->step->dt, worst = 0;
	for (uint32_t i = 0; i < tree->mass.plan->link_count; i++) {
		const struct tree_link *link = &tree->mass.plan->links[i];
		struct body_motion placed;
		if (link->joint == TREE_NONE)
			continue;
		struct spatial by = pose_error(step, link, step->motions, &placed);
		by = spatial_mul_add(by, tree->offset[i], -1);
		tree->mass.bias[i] = spatial_mul_add(tree->mass.bias[i], by, 1 / h);
		worst = scalar_max(worst, spatial_size(by));
	}
	return worst;
}

/* Whether row i follows the curvature of its coordinate: rotors also as parts of the masses. */
static bool bends(const struct velocity_island *self, uint32_t i)
{
	const struct velocity_joint_row *row = &self->joints[i - self->contact_rows];
	return velocity_row_has_place(row) || (row->role == VELOCITY_ROTOR && row->soft > 0);
}

/* Updates the curvature of the rows of one joint, `count` from row `first` of the island, which are
 * those from `skip` on of the joint; the greatest change of one that acts. */
static double bend_joint_rows(const struct velocity_island *self, uint32_t constraint,
			      uint32_t first, uint32_t count, uint32_t skip, const double *x,
			      struct row_list *list)
{
	ASSERT(first >= self->contact_rows && first + count <= self->taut_from);
	double worst = 0, h = self->step->step->dt;
	double tolerance = velocity_curvature_tolerance(self->step);
	bool any = false;
	for (uint32_t i = first; i < first + count; i++)
		any |= bends(self, i);
	if (!any)
		return 0;
	list->row_count = list->block_count = list->part_count = 0;
	velocity_constraint_rows(self->step, constraint, self->step->motions, list);
	ASSERT(list->row_count == skip + count);
	for (uint32_t i = first; i < first + count; i++) {
		struct velocity_joint_row *joint = &self->joints[i - self->contact_rows];
		if (!bends(self, i))
			continue;
		double before = self->rows[i].gap, gap = list->rows[skip + i - first].gap;
		double speed = jacobian_speed(self->rows[i].j, self->step->after);
		double more = (gap - before) / h - speed - joint->curvature;
		joint->curvature += more;
		bool holds = (joint->lower < x[i] && x[i] < joint->upper) ||
			     joint->role == VELOCITY_ROTOR;
		if (holds ||
		    (joint->role == VELOCITY_LIMIT && gap < scalar_min(before, 0) - tolerance))
			worst = scalar_max(worst, h * scalar_abs(more));
	}
	return worst;
}

static double bend_rows(const struct velocity_island *self, const double *x, struct row_list *list)
{
	const struct velocity_step *step = self->step;
	double worst = 0;
	for (uint32_t i = 0, at = self->contact_rows; i < self->island->constraint_count; i++) {
		uint32_t c = self->island->constraints[i];
		uint8_t places[JOINT_ROWS_MAX];
		if (c < step->contact_count)
			continue;
		const struct joint *joint = &step->joints.joints[c - step->contact_count];
		uint32_t skip = velocity_held_axes(step, c - step->contact_count);
		uint32_t count = joint_places(joint, places) - skip;
		worst = scalar_max(worst, bend_joint_rows(self, c, at, count, skip, x, list));
		at += count;
	}
	return worst;
}

/* Room for the rows of one joint. */
static enum status allocate_joint_rows(struct arena *arena, struct row_list *list)
{
	*list = (struct row_list){ .rows = ALLOCATE(struct constraint_row, JOINT_ROWS_MAX),
				   .blocks = ALLOCATE(struct row_block, JOINT_ROWS_MAX + 1),
				   .parts = ALLOCATE(struct row_part, 2 * JOINT_ROWS_MAX),
				   .row_capacity = JOINT_ROWS_MAX,
				   .block_capacity = JOINT_ROWS_MAX + 1,
				   .part_capacity = 2 * JOINT_ROWS_MAX };
	return list->rows != NULL && list->blocks != NULL && list->parts != NULL ? STATUS_OK
										 : STATUS_NO_MEMORY;
}

/* Sets `moving` to the velocities that hold the joints with the present biases. */
static void hold_again(const struct velocity_island *self)
{
	const struct velocity_tree *tree = self->tree;
	pull_again(self);
	for (uint32_t i = 0; i < tree->mass.plan->link_count; i++)
		self->step->moving[slot_at(self, i)] = tree->given[i];
	tree_mass_project(&tree->mass, self->step->moving);
}

/* The motion without curvature: bodies turn too far for rounds, or curvature contradicts other rows. */
static void go_straight(const struct velocity_island *self, const double *straight, double *x)
{
	ASSERT(self->tree != NULL);
	for (uint32_t i = 0; i < self->tree->mass.plan->link_count; i++)
		self->tree->mass.bias[i] = spatial_zero();
	for (uint32_t i = self->contact_rows; i < self->taut_from; i++)
		if (velocity_is_rotor(self, i))
			self->joints[i - self->contact_rows].curvature = 0;
	hold_again(self);
	memcpy(x, straight, self->count * sizeof *x);
}

/* Errors of poses at the beginning, which a motion keeps: they are drift, and displacements remove them. */
static void find_offsets(const struct velocity_island *self)
{
	const struct tree_plan *plan = self->tree->mass.plan;
	struct body_motion placed;
	for (uint32_t i = 0; i < plan->link_count; i++)
		if (plan->links[i].joint != TREE_NONE)
			self->tree->offset[i] =
				pose_error(self->step, &plan->links[i], self->step->start, &placed);
}

/* A motion's last solution, with the biases and curvatures of the round before: what is left of the poses'
 * errors then is rounding, and taking it back changes no angular momentum. */
static enum status finish_motion(struct velocity_island *self, struct velocity_problem *motion,
				 double *b, bool *again)
{
	hold_again(self);
	velocity_motion_targets(self, again, b);
	return velocity_island_solve(self, motion);
}

enum status velocity_tree_solve_motion(struct velocity_island *self, bool *selected, double *b,
				       double *x)
{
	struct arena *arena = self->arena;
	struct velocity_problem motion = { selected, b, x };
	struct row_list list;
	double tolerance = velocity_curvature_tolerance(self->step), least = __builtin_inf();
	double *straight = ALLOCATE(double, self->count);
	bool *again = ALLOCATE(bool, self->count), was_near = false, depends = false;
	if (straight == NULL || again == NULL || allocate_joint_rows(arena, &list) != STATUS_OK)
		return STATUS_NO_MEMORY;
	find_offsets(self);
	for (uint32_t round = 0, last = 0;; round++) {
		struct velocity_outcome before = *self->outcome;
		if (round > 0) {
			hold_again(self);
			velocity_motion_targets(self, again, b);
		}
		if (round < VELOCITY_TAUT_ROUNDS)
			velocity_taut_soften(self, x, selected);
		enum status status = velocity_island_solve(self, &motion);
		if (status != STATUS_OK)
			return status;
		/* Rows that nearly depend on others (velocity_rank.c: those that do are none), and whose
		 * curvatures are not exact yet: rounds go on from the solution of least error. */
		bool fell = self->outcome->fallbacks != before.fallbacks;
		depends |= fell;
		if (round == 0)
			memcpy(straight, x, self->count * sizeof *x);
		velocity_island_move(self, x);
		double worst = scalar_max(bend_links(self), bend_rows(self, x, &list));
		if (worst < least) {
			least = worst;
			last = round;
		}
		if (!(worst > ROUNDING) || round == VELOCITY_CURVATURE_ROUNDS)
			return STATUS_OK;
		bool stalls = round - last > VELOCITY_ROUNDS_WITHOUT_GAIN_MAX;
		bool near = !(worst > (stalls ? VELOCITY_CURVATURE_TOLERANCE : tolerance));
		stalls &= !near;
		if (stalls && depends && !(worst > DEPENDENT))
			return STATUS_OK;
		/* Fallbacks and violations of a solution that another one replaces do not count. */
		if (fell && round > 0)
			*self->outcome = before;
		if (self->rank != NULL)
			self->outcome->residual = before.residual;
		if (stalls) {
			go_straight(self, straight, x);
			return STATUS_OK;
		}
		if (near && (was_near || !(worst > CLOSED)))
			return finish_motion(self, &motion, b, again);
		was_near = near;
	}
}

/* ---- poses of the end ------------------------------------------------------------------------------ */

/* One displacement of an island in the metric of mass that closes its joints, by errors in `bias`. */
static enum status displace_island(struct velocity_step *begin, const struct island *members,
				   uint32_t index, struct arena *arena, struct tree_mass *mass,
				   double worst)
{
	ASSERT(!(worst < 0));
	const struct step *step = begin->step;
	struct spatial *d = arena_push_zero(arena, step->body_count * sizeof *d);
	if (d == NULL)
		return STATUS_NO_MEMORY;
	tree_mass_factor(mass, NULL, 0);
	tree_mass_project(mass, d);
	double turn = 0;
	for (uint32_t i = 0; i < members->slot_count; i++)
		turn = scalar_max(turn, step->dt * vec3_length(d[members->slots[i]].angular));
	double share =
		turn > VELOCITY_PROJECTION_TURN_MAX ? VELOCITY_PROJECTION_TURN_MAX / turn : 1;
	for (uint32_t i = 0; i < members->slot_count; i++)
		d[members->slots[i]] = spatial_scale(d[members->slots[i]], share);
	if (worst > VELOCITY_DEPTH)
		velocity_displace(begin, members, index, d);
	else /* what rounds of the motion leave is no drift */
		for (uint32_t i = 0; i < members->slot_count; i++)
			velocity_displace_body(begin, members->slots[i], d[members->slots[i]]);
	return STATUS_OK;
}

/* Errors of all links into work, m and rad; the greatest. */
static double find_errors(const struct velocity_step *begin, const struct tree_plan *plan,
			  struct spatial *errors)
{
	double worst = 0;
	struct body_motion placed;
	for (uint32_t i = 0; i < plan->link_count; i++) {
		errors[i] = spatial_zero();
		if (plan->links[i].joint == TREE_NONE)
			continue;
		errors[i] = pose_error(begin, &plan->links[i], begin->motions, &placed);
		double far = vec3_length(placed.centre);
		worst = scalar_max(worst, spatial_size(errors[i]) / (1 + 1e-3 * far));
	}
	return worst;
}

static enum status close_island(const struct island *members, uint32_t index, struct arena *arena,
				void *context)
{
	struct velocity_step *begin = context;
	const struct tree_plan *plan = &begin->trees->plans[index];
	if (plan->link_count == 0)
		return STATUS_OK;
	struct spatial *errors = ALLOCATE(struct spatial, plan->link_count);
	if (errors == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t round = 0; round < VELOCITY_PROJECTION_ROUNDS; round++) {
		double worst = find_errors(begin, plan, errors);
		if (!(worst > CLOSED))
			break;
		struct arena_mark mark = arena_mark(arena);
		struct tree_mass mass;
		for (uint32_t i = 0; i < members->slot_count; i++) {
			uint32_t slot = members->slots[i];
			mass_bodies_from_tables(begin->step->dynamics->tables,
						&begin->step->bodies[slot], 1,
						&begin->motions[slot], &begin->masses_end[slot]);
		}
		enum status status =
			tree_mass_make(&mass, arena, plan, &begin->trees->joints,
				       begin->trees->link_of, begin->masses_end, begin->motions);
		for (uint32_t i = 0; i < plan->link_count && status == STATUS_OK; i++)
			mass.bias[i] = spatial_scale(errors[i], 1 / begin->step->dt);
		if (status == STATUS_OK)
			status = displace_island(begin, members, index, arena, &mass, worst);
		if (status != STATUS_OK)
			return status;
		arena_rewind(arena, mark);
	}
	for (uint32_t i = 0; i < plan->link_count; i++) {
		const struct tree_link *link = &plan->links[i];
		struct body_motion placed;
		if (link->joint == TREE_NONE)
			continue;
		(void)pose_error(begin, link, begin->motions, &placed);
		begin->motions[link->slot].centre = placed.centre;
		begin->motions[link->slot].rotation = placed.rotation;
	}
	return STATUS_OK;
}

enum status velocity_trees_close(struct velocity_step *begin)
{
	return begin->trees == NULL
		       ? STATUS_OK
		       : islands_solve(begin->step, &begin->islands, close_island, begin);
}
