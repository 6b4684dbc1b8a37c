/* soft_tree_plan.c: which joints make trees in reduced coordinates, and which trees act on each
 * other.
 *
 * A group of bodies that joints connect is a tree in reduced coordinates if soft_step.coordinates
 * asks for it and all of this holds. Else its joints are rows, as ever, and it counts in
 * islands_maximal:
 *
 *   its joints close no loop, and at most one of them leads to what does not move
 *   all joints are edges (tree_mass.h); no limit has a restitution, no spring a bound or a
 *     frequency; balls have nothing on their axes; no gear acts on it; of an axis, a motor without
 *     gains or friction, not both
 *   bodies have mass and no locked axes, and the world is in space
 *   no contact has rolling or spinning friction, a friction axis or a belt
 *   joints are closed to OPEN_MAX, no link turns farther than TURN_MAX in a sub-step, and of three
 *     turns in sequence the second is not near a right angle
 *   no joint pulls so that a link is too stiff for a sub-step, or may: rows make that implicit
 *     (soft_joint_taut.c); and no command has torn a joint's bodies apart
 *
 * Trees that touch each other, or a common dynamic body, are an island. An island that touches only
 * what is at rest is closed: nothing else acts on it, so it goes through a whole step by itself.
 */
#include "server/engine/methods/soft_step.h"

#include "server/base/union_find.h"
#include "server/engine/dynamics/belt.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/locks.h"
#include "server/engine/math/trig.h"
#include "server/engine/world/parameters.h"

#include <string.h>

/* m, rad. Larger: a link that was stopped for a tick jumps back at once; smaller: rounding and
 * what commands leave open keep trees from reduced coordinates. */
#define OPEN_MAX 0.02
/* rad in a sub-step. Above it the explicit half of its own motion is no approximation. */
#define TURN_MAX 0.5
/* (h ω)² of a link's turn under the pull of its joints. Larger: chains under heavy loads
 * gain energy. */
#define TAUT_MAX 0.5
/* Of a body between two joints: the mass of a neighbour at its arm, over the body's own
 * inertia. Larger: a load that is stopped within a step tears at links that were not taut
 * before. */
#define LOAD_MAX 500.0
/* Cosine of the second of three turns. */
#define GIMBAL_MIN 0.2

enum { LINKS_MAX = 1024, MODE_AUTO = 1 };

struct tree_group {
	uint32_t bodies, joints, grounds, axes, rows, root_joint;
	bool bad;
};

struct tree_choice {
	struct soft_step *self;
	struct step_joints *list;
	uint32_t *above, *island;  /* union-find by number */
	struct tree_group *groups; /* by number of the root */
	uint32_t *start, *joints;  /* of a body: its joints */
	uint8_t *jointed;
	double *pull, *load; /* N m, kg m², by body */
	uint32_t *ends;	     /* joints of a body */
	bool *taken;	     /* by joint */
	double *coordinates; /* JOINT_AXES a joint */
	uint32_t mode, rows_max;
};

static uint32_t count_bits(uint32_t bits)
{
	uint32_t count = 0;
	for (; bits != 0; bits &= bits - 1)
		count++;
	return count;
}

/* The number of a joint's body on a side; 0: it does not take part. */
static uint32_t number_at(const struct tree_choice *c, uint32_t joint, uint32_t side)
{
	ASSERT(c->list != NULL && c->self != NULL);
	const struct constraint *of = &c->list->constraints[joint];
	uint32_t slot = side == 0 ? of->body_a : of->body_b;
	return slot == ROW_NO_BODY ? 0 : slot + 1;
}

static bool number_moves(const struct tree_choice *c, uint32_t number)
{
	VALIDATE(number <= c->self->body_count);
	return number != 0 && c->self->drives[number].dynamic;
}

/* ---- what qualifies -------------------------------------------------------------------------- */

static bool axis_fits(const struct joint_axis *axis, uint32_t parts)
{
	bool limited = parts & (1u << JOINT_HOLD | 1u << JOINT_UPPER);
	bool spring = parts >> JOINT_SPRING & 1, motor = parts >> JOINT_MOTOR & 1;
	if (limited && axis->restitution > 0)
		return false;
	if (limited && axis->lower >= axis->upper)
		return false;
	if (spring && (axis->spring_limit > 0))
		return false;
	return !(parts >> JOINT_FRICTION & 1) || !motor || joint_axis_is_servo(axis);
}

static uint32_t free_turns(uint32_t locked)
{
	return 3 - count_bits(locked >> 3 & 7);
}

/* `q`: the joint's coordinates. */
static bool joint_fits(const struct joint *joint, const double *q)
{
	VALIDATE(joint->gear == NULL || joint->layout.known);
	uint32_t locked = joint->layout.locked, parts_about = 0;
	if (!tree_joint_is_edge(joint) || !joint->layout.known)
		return false;
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		uint32_t parts = joint->layout.parts[axis];
		if (locked >> axis & 1) {
			if (!(scalar_abs(q[axis] - joint_locked_value(joint, axis)) < OPEN_MAX))
				return false;
			continue;
		}
		if (parts == 0)
			continue;
		if (!axis_fits(&joint->axes[axis], parts))
			return false;
		parts_about |= axis >= 3;
		if (parts >> JOINT_SPRING & 1 &&
		    joint_row_law(joint, JOINT_PARTS * axis + JOINT_SPRING).softness ==
			    ROW_FREQUENCY)
			return false;
	}
	if (free_turns(locked) < 3 || parts_about == 0)
		return true;
	return joint->type != JOINT_SPHERICAL && scalar_abs(trig_cos(q[4])) > GIMBAL_MIN;
}

static bool body_fits(const struct soft_step *self, uint32_t number)
{
	VALIDATE(number <= self->body_count);
	const struct body_table *table = &self->dynamics->tables->body;
	uint32_t body = self->rows[number - 1];
	const double *inertia = table->inertia[body];
	double turn = vec3_length(self->drives[number].start.velocity.angular) * self->dt;
	return table->mass_inv[body] > 0 && inertia[0] > 0 && inertia[1] > 0 && inertia[2] > 0 &&
	       table->inertia_inv[body][0] > 0 && table->inertia_inv[body][1] > 0 &&
	       table->inertia_inv[body][2] > 0 && locks_of(self->dynamics->tables, body) == 0 &&
	       turn < TURN_MAX * self->substeps;
}

static uint32_t number_of(const struct soft_step *self, uint32_t body)
{
	if (!step_takes_part(self->step, body))
		return 0;
	return self->dynamics->bodies.items[body].slot + 1;
}

static bool contact_fits(const struct soft_step *self, const struct contact_state *contact)
{
	struct contact_material material = contact_material(self->dynamics, contact->a, contact->b);
	return !(material.rolling > 0) && !(material.spinning > 0) &&
	       vec3_equal(material.axis, vec3_zero()) &&
	       !belt_concerns(self->dynamics, contact->body_a, contact->body_b);
}

/* ---- groups -------------------------------------------------------------------------------------------- */

static struct tree_group *group_at(const struct tree_choice *c, uint32_t number)
{
	VALIDATE(number <= c->self->body_count);
	return &c->groups[union_find_root(c->above, number)];
}

/* Of joints that exert nothing. */
static bool is_idle(const struct joint *joint)
{
	VALIDATE(joint->gear == NULL || joint->layout.known);
	bool any = joint->layout.locked != 0;
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		any |= joint->layout.parts[axis] != 0;
	return joint->layout.known && !any;
}

static double mass_of(const struct soft_step *self, uint32_t number)
{
	VALIDATE(number <= self->body_count);
	return self->dynamics->tables->body.mass[self->rows[number - 1]];
}

/* Adds the stiffness by which a joint's pull in the last step turns its bodies back
 * (soft_joint_taut.c). */
static void add_pull(const struct tree_choice *c, uint32_t j)
{
	ASSERT(c->list != NULL && c->self != NULL);
	const struct joint *joint = &c->list->joints[j];
	vec3 force = c->self->dynamics->tables->joint.force[joint->row];
	for (uint32_t side = 0; side < 2; side++) {
		uint32_t number = number_at(c, j, side);
		if (!number_moves(c, number))
			continue;
		vec3 arm = side == 0 ? vec3_sub(joint_anchor_a(joint, &joint->a), joint->a.centre)
				     : vec3_sub(joint_anchor_b(joint, &joint->b), joint->b.centre);
		double pull = vec3_dot(force, arm);
		c->pull[number] += side == 0 ? -pull : pull;
		uint32_t other = number_at(c, j, 1 - side);
		double load = number_moves(c, other) ? mass_of(c->self, other) : 0;
		c->load[number] = scalar_max(c->load[number], load * vec3_length_squared(arm));
		c->ends[number]++;
	}
}

/* Whether pulls make a body too stiff for a sub-step. */
static bool is_taut(const struct tree_choice *c, uint32_t number)
{
	VALIDATE(number <= c->self->body_count);
	const struct soft_step *self = c->self;
	const double *inertia = self->dynamics->tables->body.inertia[self->rows[number - 1]];
	double h = self->trees.h, mean = (inertia[0] + inertia[1] + inertia[2]) / 3;
	return h * h * c->pull[number] > TAUT_MAX * mean ||
	       (c->ends[number] > 1 && c->load[number] > LOAD_MAX * mean);
}

/* Whether a command has given a joint's bodies speeds, by which they would turn too far in a sub-step. */
static bool is_torn(const struct tree_choice *c, uint32_t j)
{
	ASSERT(j < c->list->count);
	const struct joint *joint = &c->list->joints[j];
	vec3 a = vec3_sub(joint_anchor_a(joint, &joint->a), joint->a.centre);
	vec3 b = vec3_sub(joint_anchor_b(joint, &joint->b), joint->b.centre);
	vec3 at_a = vec3_add(joint->a.velocity, vec3_cross(joint->a.angular_velocity, a));
	vec3 at_b = vec3_add(joint->b.velocity, vec3_cross(joint->b.angular_velocity, b));
	double arm = 0, by = c->self->trees.h * vec3_distance(at_a, at_b);
	if (number_moves(c, number_at(c, j, 0)))
		arm = vec3_length(a);
	if (number_moves(c, number_at(c, j, 1)))
		arm = scalar_max(arm, vec3_length(b));
	/* Along slides, and by rounding, bodies move apart. */
	return by > TURN_MAX * scalar_max(arm, OPEN_MAX) && (joint->layout.locked & 7) == 7;
}

static void group_joints(struct tree_choice *c)
{
	ASSERT(c->list != NULL && c->self != NULL);
	struct soft_step *self = c->self;
	bool planar = self->dynamics->tables->world.planar[0];
	for (uint32_t i = 0; i <= self->body_count; i++) {
		c->above[i] = c->island[i] = i;
		c->groups[i] = (struct tree_group){ .root_joint = TREE_NONE, .bad = planar };
		c->jointed[i] = 0;
		c->pull[i] = c->load[i] = 0;
		c->ends[i] = 0;
	}
	for (uint32_t j = 0; j < c->list->count; j++) {
		uint32_t a = number_at(c, j, 0), b = number_at(c, j, 1);
		if (is_idle(&c->list->joints[j]))
			continue;
		c->jointed[a] = c->jointed[b] = 1;
		add_pull(c, j);
		if (number_moves(c, a) && number_moves(c, b))
			(void)union_find_join(c->above, a, b);
	}
	for (uint32_t i = 1; i <= self->body_count; i++)
		if (c->jointed[i] && number_moves(c, i)) {
			struct tree_group *group = group_at(c, i);
			group->bodies++;
			group->bad |= !body_fits(self, i) || is_taut(c, i);
		}
	for (uint32_t j = 0; j < c->list->count; j++) {
		uint32_t a = number_at(c, j, 0), b = number_at(c, j, 1);
		struct tree_group *group = group_at(c, number_moves(c, a) ? a : b);
		const struct joint *joint = &c->list->joints[j];
		if (is_idle(joint))
			continue;
		group->joints++;
		group->axes += JOINT_AXES - count_bits(joint->layout.locked);
		if (!number_moves(c, a) || !number_moves(c, b)) {
			group->grounds++;
			group->root_joint = j;
		}
		double *q = c->coordinates + (size_t)JOINT_AXES * j;
		joint_coordinates_near(joint, &joint->a, &joint->b, OPEN_MAX, q);
		group->bad = group->bad || !joint_fits(joint, q) || is_torn(c, j);
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
			group->rows += count_bits(joint->layout.parts[axis]);
	}
}

static void spoil_geared(const struct tree_choice *c)
{
	ASSERT(c->list != NULL && c->self != NULL);
	const struct soft_gears *gears = &c->self->joints.gears;
	for (uint32_t i = 0; i < gears->count; i++)
		for (uint32_t k = 0; k < 2 * GEAR_ENDS; k++) {
			uint32_t slot = gears->items[i].data.slots[k / 2][k % 2];
			if (slot != ROW_NO_BODY)
				group_at(c, slot + 1)->bad = true;
		}
}

static void judge_contacts(const struct tree_choice *c)
{
	ASSERT(c->list != NULL && c->self != NULL);
	const struct soft_step *self = c->self;
	for (uint32_t i = 0; i < self->step->contacts.count; i++) {
		const struct contact_state *contact = &self->step->contacts.items[i];
		if (contact->point_count == 0)
			continue;
		uint32_t numbers[2] = { number_of(self, contact->body_a),
					number_of(self, contact->body_b) };
		bool known = false, fits = true;
		for (uint32_t k = 0; k < 2; k++) {
			if (!number_moves(c, numbers[k]) || !c->jointed[numbers[k]])
				continue;
			if (!known)
				fits = contact_fits(self, contact);
			known = true;
			group_at(c, numbers[k])->bad |= !fits;
			group_at(c, numbers[k])->rows += 3u * contact->point_count;
		}
	}
}

static bool is_tree(const struct tree_choice *c, const struct tree_group *group)
{
	ASSERT(c->list != NULL && c->self != NULL);
	if (group->bad || group->joints == 0 || group->grounds > 1 || group->bodies > LINKS_MAX)
		return false;
	if (group->joints + 1 != group->bodies + group->grounds)
		return false;
	return c->mode != MODE_AUTO || group->rows <= c->rows_max;
}

/* Unites trees that touch, and the dynamic bodies that they touch. */
static void unite_islands(const struct tree_choice *c)
{
	ASSERT(c->list != NULL && c->self != NULL);
	const struct soft_step *self = c->self;
	for (uint32_t i = 1; i <= self->body_count; i++)
		if (c->jointed[i] && number_moves(c, i))
			(void)union_find_join(c->island, i, union_find_root(c->above, i));
	for (uint32_t i = 0; i < self->step->contacts.count; i++) {
		const struct contact_state *contact = &self->step->contacts.items[i];
		uint32_t a = number_of(self, contact->body_a), b = number_of(self, contact->body_b);
		if (contact->point_count == 0 || !number_moves(c, a) || !number_moves(c, b))
			continue;
		bool tree_a = c->jointed[a] && is_tree(c, group_at(c, a));
		bool tree_b = c->jointed[b] && is_tree(c, group_at(c, b));
		if (tree_a || tree_b)
			(void)union_find_join(c->island, a, b);
	}
}

/* Lists the joints of each body. */
static void list_joints(const struct tree_choice *c)
{
	ASSERT(c->list != NULL && c->self != NULL);
	uint32_t bodies = c->self->body_count;
	memset(c->start, 0, (bodies + 3) * sizeof *c->start);
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t j = 0; j < c->list->count; j++)
			for (uint32_t side = 0; side < 2; side++) {
				uint32_t number = number_at(c, j, side);
				if (!number_moves(c, number) || is_idle(&c->list->joints[j]))
					continue;
				if (pass == 0)
					c->start[number + 2]++;
				else
					c->joints[c->start[number + 1]++] = j;
			}
		for (uint32_t i = 2; i < bodies + 3 && pass == 0; i++)
			c->start[i] += c->start[i - 1];
	}
}

/* ---- trees --------------------------------------------------------------------------------------------- */

/* Counts of what trees need. */
static void count_trees(struct tree_choice *c)
{
	ASSERT(c->list != NULL && c->self != NULL);
	struct soft_trees *all = &c->self->trees;
	for (uint32_t i = 1; i <= c->self->body_count; i++) {
		struct tree_group *group = &c->groups[i];
		if (c->above[i] != i || group->joints == 0)
			continue;
		bool tree = is_tree(c, group);

		c->self->dynamics->report.islands_reduced += tree;
		c->self->dynamics->report.islands_maximal += !tree;
		if (!tree)
			continue;
		all->tree_count++;
		all->link_count += group->bodies;
		all->axis_count += group->axes + (group->grounds == 0 ? TREE_AXES_MAX : 0);
	}
}

static bool allocate_trees(struct tree_choice *c, uint32_t joints)
{
	ASSERT(c->list != NULL && c->self != NULL);
	struct soft_trees *all = &c->self->trees;
	struct arena *scratch = &c->self->dynamics->scratch;
	all->trees = arena_push_zero(scratch, all->tree_count * sizeof *all->trees);
	all->links = ARENA_ARRAY(scratch, struct soft_tree_link, all->link_count);
	all->axes = arena_push_zero(scratch, all->axis_count * sizeof *all->axes);
	all->parts = arena_push_zero(scratch, all->axis_count * sizeof *all->parts);
	all->change = ARENA_ARRAY(scratch, double, all->axis_count);
	all->tree_of_link = ARENA_ARRAY(scratch, uint32_t, all->link_count);
	all->islands = arena_push_zero(scratch, all->tree_count * sizeof *all->islands);
	all->wide = soft_tree_kernels();
	all->groups = ARENA_ARRAY(scratch, struct link_group, all->link_count);
	all->runs = ARENA_ARRAY(scratch, struct tree_run, all->tree_count);
	all->keys = ARENA_ARRAY(scratch, uint64_t, all->link_count);
	all->sorted = ARENA_ARRAY(scratch, uint32_t, all->link_count);
	all->link_of = ARENA_ARRAY(scratch, uint32_t, c->self->body_count + 1);
	all->list = (struct step_joints){ .joints = c->list->joints,
					  .constraints = c->list->constraints };
	all->list.order = all->order = ARENA_ARRAY(scratch, uint32_t, joints);
	all->results = ARENA_ARRAY(scratch, struct joint_result, joints);
	return all->trees != NULL && all->links != NULL && all->axes != NULL &&
	       all->parts != NULL && all->change != NULL && all->tree_of_link != NULL &&
	       all->islands != NULL && all->groups != NULL && all->runs != NULL &&
	       all->keys != NULL && all->sorted != NULL && all->link_of != NULL &&
	       all->order != NULL && all->results != NULL;
}

static struct tree_axis *add_axis(struct soft_trees *all, struct soft_tree_link *link, uint8_t kind,
				  uint32_t along)
{
	VALIDATE(link->count <= TREE_AXES_MAX);
	struct tree_axis *axis = &all->axes[all->axis_count++];
	axis->kind = kind;
	axis->along = (uint8_t)along;
	link->count++;
	return axis;
}

/* The part of an axis of the link's joint, if something acts on it. */
static void add_part(struct soft_trees *all, const struct soft_tree_link *link,
		     struct tree_axis *axis, uint32_t of)
{
	VALIDATE(axis->kind <= TREE_BASE);
	struct joint *joint = &all->list.joints[link->joint];
	if (joint->layout.parts[of] == 0)
		return;
	axis->part = &all->parts[all->part_count++];
	axis->part->joint = link->joint;
	axis->part->axis = (uint8_t)of;
	axis->part->data = &joint->axes[of];
}

/* The axes of a link's joint, from its parent on, with their coordinates. */
static void add_axes(struct soft_trees *all, struct soft_tree_link *link, const double *q)
{
	VALIDATE(link->count <= TREE_AXES_MAX);
	const struct joint *joint = &all->list.joints[link->joint];
	uint32_t locked = joint->layout.locked;
	bool ball = joint->type == JOINT_SPHERICAL && free_turns(locked) == 3;
	bool plain = free_turns(locked) == 3;
	for (uint32_t axis = 3; axis < JOINT_AXES && plain; axis++)
		plain = joint->layout.parts[axis] == 0;
	ball |= plain;
	for (uint32_t i = 0; i < JOINT_AXES; i++) {
		uint32_t of = link->reversed ? JOINT_AXES - 1 - i : i;
		if (locked >> of & 1)
			continue;
		uint8_t kind = of < 3 ? TREE_SLIDE : ball ? TREE_BALL : TREE_TURN;
		struct tree_axis *axis = add_axis(all, link, kind, of % 3);
		axis->q = kind == TREE_BALL ? 0 : q[of];
		add_part(all, link, axis, of);
	}
	for (uint32_t k = 0; k < 3; k++)
		if (locked >> k & 1)
			vec3_set(&link->locked, k, joint_locked_value(joint, k));
	if (!ball)
		return;
	quat a = quat_mul(joint->a.rotation, joint->frame_a);
	quat b = quat_mul(joint->b.rotation, joint->frame_b);
	quat turn = quat_normalize(quat_mul(quat_conjugate(a), b));
	link->ball = link->reversed ? quat_conjugate(turn) : turn;
}

static void fill_body(const struct soft_step *self, struct soft_tree_link *link)
{
	VALIDATE(link->count <= TREE_AXES_MAX);
	const struct body_table *table = &self->dynamics->tables->body;
	uint32_t body = self->rows[link->number - 1];
	const struct body_start *start = &self->drives[link->number].start;
	double h = self->trees.h;
	link->mass = table->mass[body];
	link->inertia = sym3_load(table->inertia[body]);
	link->rotation = table->rotation[body];
	link->centre = self->dynamics->bodies.items[body].centre;
	struct damped linear = integrate_damped(table->linear_damping[body], h);
	struct damped angular = integrate_damped(table->angular_damping[body], h);
	link->keep = linear.keep;
	link->spin_keep = angular.keep;
	link->damped = linear.keep != 1 || angular.keep != 1;
	link->force = vec3_scale(start->acceleration.linear, link->mass * linear.gain);
	vec3 torque = integrate_tensor_at(sym3_load(table->inertia[body]), table->rotation[body],
					  start->acceleration.angular);
	link->torque = vec3_scale(torque, angular.gain);
}

/* Adds a body as a link, by the joint `j` of the list (TREE_NONE: a base). */
static void add_link(struct tree_choice *c, struct soft_tree *tree, uint32_t number,
		     uint32_t parent, uint32_t j)
{
	VALIDATE(number <= c->self->body_count);
	struct soft_step *self = c->self;
	struct soft_trees *all = &self->trees;
	uint32_t at = tree->first + tree->count++;
	struct soft_tree_link *link = &all->links[at];
	memset(&link->load, 0, sizeof *link - offsetof(struct soft_tree_link, load));
	link->number = number;
	link->parent = parent;
	link->joint = link->child = link->sibling = TREE_NONE;
	link->first = all->axis_count;
	link->ground_rotation = quat_identity();
	if (parent != TREE_NONE) {
		struct soft_tree_link *on = &all->links[parent];
		link->depth = (uint16_t)(on->depth + 1);
		link->sibling = on->child;
		on->child = at;
		on->children++;
	}
	all->link_of[number] = at;
	all->tree_of_link[at] = (uint32_t)(tree - all->trees);
	self->drives[number].spins = false;
	fill_body(self, link);
	tree->mass += link->mass;
	if (j == TREE_NONE) {
		for (uint32_t k = 0; k < 6; k++)
			add_axis(all, link, TREE_BASE, k % 3)->s =
				k < 3 ? (struct spatial){ vec3_axis(k), vec3_zero() }
				      : (struct spatial){ vec3_zero(), vec3_axis(k - 3) };
		tree->axis_count += link->count;
		return;
	}
	link->reversed = number_at(c, j, 0) == number;
	uint32_t ground = number_at(c, j, link->reversed ? 1 : 0);
	c->taken[j] = true;
	link->joint = j;
	link->result = all->list.count++;
	all->order[link->result] = j;
	const struct joint *joint = &all->list.joints[j];
	link->frame_parent = link->reversed ? joint->frame_b : joint->frame_a;
	link->frame_own = link->reversed ? joint->frame_a : joint->frame_b;
	link->point_parent = link->reversed ? joint->point_b : joint->point_a;
	link->point_own = link->reversed ? joint->point_a : joint->point_b;
	if (parent == TREE_NONE && ground != 0) {
		link->ground = ground;
		tree->moving = true;
		self->drives[ground].constrained = true;
	} else if (parent == TREE_NONE) {
		/* What does not take part stands where the joint's data have it. */
		const struct body_motion *on = link->reversed ? &joint->b : &joint->a;
		link->point_parent =
			vec3_add(on->centre, quat_rotate(on->rotation, link->point_parent));
		link->frame_parent = quat_mul(on->rotation, link->frame_parent);
	}
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		tree->driven |=
			self->dynamics->tables->joint.wave[joint->row][axis] != JOINT_WAVE_CONSTANT;
	add_axes(all, link, c->coordinates + (size_t)JOINT_AXES * j);
	tree->axis_count += link->count;
}

/* Depth first, in the order of joints, so that links of a limb are consecutive. `stack`:
 * joints to bodies that are to be links, and parents. */
static void grow_tree(struct tree_choice *c, struct soft_tree *tree, uint32_t root, uint32_t *stack)
{
	ASSERT(c->list != NULL && c->self != NULL);
	struct soft_trees *all = &c->self->trees;
	const struct tree_group *group = &c->groups[root];
	uint32_t depth = 0;
	tree->first = all->link_count;
	tree->axis_first = all->axis_count;
	tree->floating = group->grounds == 0;
	uint32_t number = root, parent = TREE_NONE, by = TREE_NONE;
	if (!tree->floating) {
		by = group->root_joint;
		number = number_moves(c, number_at(c, by, 0)) ? number_at(c, by, 0)
							      : number_at(c, by, 1);
	}
	for (;;) {
		add_link(c, tree, number, parent, by);
		uint32_t at = all->link_of[number];
		for (uint32_t k = c->start[number + 1]; k-- > c->start[number];) {
			uint32_t j = c->joints[k];
			if (c->taken[j])
				continue;
			joint_prefetch(&c->list->joints[j]);
			stack[2 * depth] = j;
			stack[2 * depth + 1] = at;
			depth++;
		}
		if (depth == 0)
			break;
		depth--;
		by = stack[2 * depth];
		parent = stack[2 * depth + 1];
		uint32_t a = number_at(c, by, 0), b = number_at(c, by, 1);
		number = a == all->links[parent].number ? b : a;
	}
	all->link_count += tree->count;
	ASSERT(tree->count == group->bodies);
	const struct soft_tree_link *first = &all->links[tree->first];
	tree->origin = first->centre;
}

/* Islands in the order of their least bodies; trees by islands. */
static enum status make_trees(struct tree_choice *c)
{
	ASSERT(c->list != NULL && c->self != NULL);
	struct soft_step *self = c->self;
	struct soft_trees *all = &self->trees;
	struct arena *scratch = &self->dynamics->scratch;
	uint32_t count = all->tree_count, links = all->link_count, islands = 0;
	uint32_t *roots = ARENA_ARRAY(scratch, uint32_t, count);
	uint32_t *index = ARENA_ARRAY(scratch, uint32_t, self->body_count + 1);
	uint32_t *first = arena_push_zero(scratch, (count + 2) * sizeof *first);
	uint32_t *stack = ARENA_ARRAY(scratch, uint32_t, 2 * links + 2);
	if (roots == NULL || index == NULL || first == NULL || stack == NULL)
		return STATUS_NO_MEMORY;
	memset(index, 0xff, (self->body_count + 1) * sizeof *index);
	memset(all->link_of, 0xff, (self->body_count + 1) * sizeof *all->link_of);
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 1; i <= self->body_count; i++) {
			if (c->above[i] != i || !is_tree(c, &c->groups[i]))
				continue;
			uint32_t *island = &index[union_find_root(c->island, i)];
			if (*island == TREE_NONE)
				*island = islands++;
			if (pass == 0)
				first[*island + 2]++;
			else
				roots[first[*island + 1]++] = i;
		}
		for (uint32_t i = 2; i < count + 2 && pass == 0; i++)
			first[i] += first[i - 1];
	}
	all->island_count = islands;
	all->link_count = all->axis_count = 0;
	for (uint32_t k = 0; k < islands; k++) {
		all->islands[k].tree_first = first[k];
		all->islands[k].tree_last = first[k + 1];
		all->islands[k].closed = true;
		for (uint32_t t = first[k]; t < first[k + 1]; t++) {
			grow_tree(c, &all->trees[t], roots[t], stack);
			all->islands[k].closed &= !all->trees[t].moving;
		}
	}
	ASSERT(all->link_count == links);
	return STATUS_OK;
}

/* Takes joints of links that exert nothing: they have results, too. */
static void take_idle(struct tree_choice *c)
{
	ASSERT(c->list != NULL && c->self != NULL);
	struct soft_trees *all = &c->self->trees;
	for (uint32_t j = 0; j < c->list->count; j++) {
		bool of_links = false;
		for (uint32_t side = 0; side < 2; side++)
			of_links |= soft_trees_have(all, number_at(c, j, side));
		if (c->taken[j] || !of_links)
			continue;
		ASSERT(is_idle(&c->list->joints[j]));
		const struct joint *joint = &all->list.joints[j];
		uint32_t at = all->list.count++;
		all->order[at] = j;
		all->results[at] =
			(struct joint_result){ .point = joint_anchor_b(joint, &joint->b) };
		c->taken[j] = true;
	}
}

/* Leaves to rows what is not of trees: in a list of its own, because trees keep the joints where they are.
 * Entries of gears follow the joints. */
static enum status keep_others(const struct tree_choice *c)
{
	ASSERT(c->list != NULL && c->self != NULL);
	struct step_joints *list = c->list, kept = { 0 };
	struct arena *scratch = &c->self->dynamics->scratch;
	uint32_t gears = c->self->joints.gears.count, last = list->count + gears;
	uint32_t count = last - c->self->trees.list.count, to = 0;
	kept.joints = ARENA_ARRAY(scratch, struct joint, count);
	kept.constraints = ARENA_ARRAY(scratch, struct constraint, count);
	if (kept.joints == NULL || kept.constraints == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t j = 0; j < last; j++) {
		if (j < list->count && c->taken[j])
			continue;
		kept.joints[to] = list->joints[j];
		kept.constraints[to] = list->constraints[j];
		kept.constraints[to].data = &kept.joints[to];
		to++;
	}
	ASSERT(to == count);
	kept.count = count - gears;
	*list = kept;
	return STATUS_OK;
}

enum status soft_trees_choose(struct soft_step *self, struct step_joints *list, double bias_rate)
{
	const double *parameter = self->dynamics->tables->parameter.value;
	struct arena *scratch = &self->dynamics->scratch;
	uint32_t bodies = self->body_count;
	struct tree_choice c = { .self = self, .list = list };
	self->trees = (struct soft_trees){ .h = self->dt / self->substeps, .bias_rate = bias_rate };
	if (!scalar_to_u32(parameter[PARAMETER_SOFT_COORDINATES], &c.mode) || c.mode == 0 ||
	    !scalar_to_u32(parameter[PARAMETER_ARTICULATED_ROWS], &c.rows_max))
		return STATUS_OK;
	c.above = ARENA_ARRAY(scratch, uint32_t, bodies + 1);
	c.island = ARENA_ARRAY(scratch, uint32_t, bodies + 1);
	c.groups = ARENA_ARRAY(scratch, struct tree_group, bodies + 1);
	c.start = ARENA_ARRAY(scratch, uint32_t, bodies + 3);
	c.joints = ARENA_ARRAY(scratch, uint32_t, 2 * (size_t)list->count);
	c.jointed = ARENA_ARRAY(scratch, uint8_t, bodies + 1);
	c.pull = ARENA_ARRAY(scratch, double, bodies + 1);
	c.load = ARENA_ARRAY(scratch, double, bodies + 1);
	c.ends = ARENA_ARRAY(scratch, uint32_t, bodies + 1);
	c.coordinates = ARENA_ARRAY(scratch, double, (size_t)JOINT_AXES * list->count);
	c.taken = arena_push_zero(scratch, list->count * sizeof *c.taken);
	if (c.above == NULL || c.island == NULL || c.groups == NULL || c.start == NULL ||
	    c.joints == NULL || c.jointed == NULL || c.pull == NULL || c.load == NULL ||
	    c.ends == NULL || c.coordinates == NULL || c.taken == NULL)
		return STATUS_NO_MEMORY;
	group_joints(&c);
	spoil_geared(&c);
	judge_contacts(&c);
	unite_islands(&c);
	list_joints(&c);
	count_trees(&c);
	if (self->trees.tree_count == 0)
		return STATUS_OK;
	if (!allocate_trees(&c, list->count) || make_trees(&c) != STATUS_OK)
		return STATUS_NO_MEMORY;
	take_idle(&c);
	return keep_others(&c);
}

/* ---- contacts ------------------------------------------------------------------------------------------ */

/* A manifold of links, and its bodies. */
struct link_contact {
	uint32_t manifold, island, number[2];
	uint32_t points;
};

static bool link_contact_at(const struct soft_step *self, uint32_t i, struct link_contact *out)
{
	const struct soft_trees *all = &self->trees;
	const struct contact_state *contact = soft_manifold(&self->clusters, self->step, i);
	if (contact->point_count == 0 || soft_is_clustered(&self->clusters, i))
		return false;
	*out = (struct link_contact){ .manifold = i,
				      .number = { number_of(self, contact->body_a),
						  number_of(self, contact->body_b) },
				      .points = contact->point_count };
	for (uint32_t k = 0; k < 2; k++)
		if (soft_trees_have(all, out->number[k]))
			return true;
	return false;
}

static uint32_t link_at(const struct soft_trees *all, uint32_t number)
{
	return number == 0 ? TREE_NONE : all->link_of[number];
}

/* Writes the way of a manifold from its links to their roots, if `to` is not NULL; its length. */
static uint32_t list_way(const struct soft_trees *all, const uint32_t links[2], struct tree_way *to)
{
	uint32_t at[2] = { links[0], links[1] }, count = 0;
	bool meets = false;
	while (at[0] != TREE_NONE || at[1] != TREE_NONE) {
		uint32_t side = at[0] == TREE_NONE || (at[1] != TREE_NONE && at[1] > at[0]) ? 1 : 0;
		if (at[0] == at[1]) {
			meets = true;
			at[1] = TREE_NONE;
			side = 0;
		}
		const struct soft_tree_link *link = &all->links[at[side]];
		for (uint32_t k = link->first + link->count; k-- > link->first; count++) {
			if (to != NULL)
				to[count] = (struct tree_way){ k, (uint8_t)side, meets };
			meets = false;
		}
		at[side] = link->parent;
	}
	return count;
}

/* Rows are written four numbers at a time. */
static uint32_t whole_ways(uint32_t count)
{
	return (count + 3) & ~3u;
}

/* What islands have of contacts: counts, then places. */
static void count_contacts(struct soft_step *self, uint32_t *ways, uint32_t *entries)
{
	struct soft_trees *all = &self->trees;
	struct link_contact contact;
	for (uint32_t i = 0; i < soft_manifolds(&self->clusters); i++) {
		if (!link_contact_at(self, i, &contact))
			continue;
		uint32_t links[2] = { link_at(all, contact.number[0]),
				      link_at(all, contact.number[1]) };
		uint32_t length = list_way(all, links, NULL);
		uint32_t any = links[0] != TREE_NONE ? links[0] : links[1];
		struct soft_island *island = &all->islands[all->island_of[all->tree_of_link[any]]];
		island->manifold_last++;
		*ways += length;
		*entries += whole_ways(length) * (contact.points + 3);
		all->manifold_count++;
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t number = contact.number[k];
			if (number == 0 || links[k] != TREE_NONE)
				continue;
			self->drives[number].constrained = true;
			island->closed = false;
		}
	}
}

/* Open islands first, so that their blocks are measured with all others. */
static void place_contacts(struct soft_trees *all)
{
	uint32_t manifolds = 0, blocks = 0;
	for (uint32_t pass = 0; pass < 2; pass++)
		for (uint32_t k = 0; k < all->island_count; k++) {
			struct soft_island *island = &all->islands[k];
			if (island->closed != (pass == 1))
				continue;
			uint32_t count = island->manifold_last;
			island->manifold_first = island->manifold_last = manifolds;
			island->block_first = blocks;
			blocks += (count + BLOCK_LANES - 1) / BLOCK_LANES;
			island->block_last = blocks;
			manifolds += count;
			all->open_blocks = pass == 0 ? blocks : all->open_blocks;
		}
	all->block_count = blocks;
}

/* Writes the stretches of a manifold's way. */
static void list_stretches(const struct soft_trees *all, struct tree_manifold *of)
{
	ASSERT(of->stretch_count == 0);
	const struct tree_way *way = &all->ways[of->way_first];
	struct tree_stretch *to = &all->stretches[of->way_first];
	for (uint32_t k = 0; k < of->way_count; k++) {
		if (k == 0 || way[k].axis + 1 != way[k - 1].axis)
			to[of->stretch_count++] =
				(struct tree_stretch){ soft_tree_change(all, way[k].axis), 0 };
		to[of->stretch_count - 1].count++;
	}
}

static void add_manifold(struct soft_step *self, const struct link_contact *contact, uint32_t *ways,
			 double **entries)
{
	struct soft_trees *all = &self->trees;
	uint32_t links[2] = { link_at(all, contact->number[0]), link_at(all, contact->number[1]) };
	uint32_t any = links[0] != TREE_NONE ? links[0] : links[1];
	struct soft_island *island = &all->islands[all->island_of[all->tree_of_link[any]]];
	uint32_t at = island->manifold_last++, local = at - island->manifold_first;
	struct tree_manifold *to = &all->manifolds[at];
	memset(to, 0, offsetof(struct tree_manifold, rows));
	to->block = island->block_first + local / BLOCK_LANES;
	to->lane = (uint8_t)(local % BLOCK_LANES);
	to->points = (uint8_t)contact->points;
	to->way_first = *ways;
	all->lanes[at] = contact->manifold;
	to->way_count = list_way(all, links, &all->ways[*ways]);
	list_stretches(all, to);
	*ways += to->way_count;
	for (uint32_t r = 0; r < contact->points + 3; r++) {
		to->rows[r].g = *entries;
		*entries += whole_ways(to->way_count);
	}
	for (uint32_t k = 0; k < 2; k++) {
		uint32_t number = contact->number[k];
		to->link[k] = links[k];
		if (links[k] != TREE_NONE)
			all->links[links[k]].touched = true;
		to->number[k] = number;
		to->partner[k] = TREE_NONE;
		if (links[k] != TREE_NONE || number == 0 || !self->drives[number].dynamic)
			continue;
		to->partner[k] = number; /* its index later */
	}
}

/* Numbers the dynamic bodies that islands touch, island by island. */
static enum status list_partners(struct soft_step *self)
{
	struct soft_trees *all = &self->trees;
	struct arena *scratch = &self->dynamics->scratch;
	uint32_t *index = ARENA_ARRAY(scratch, uint32_t, self->body_count + 1);
	all->partners = ARENA_ARRAY(scratch, struct tree_partner, 2 * (size_t)all->manifold_count);
	if (index == NULL || all->partners == NULL)
		return STATUS_NO_MEMORY;
	memset(index, 0xff, (self->body_count + 1) * sizeof *index);
	for (uint32_t k = 0; k < all->island_count; k++) {
		struct soft_island *island = &all->islands[k];
		island->partner_first = all->partner_count;
		for (uint32_t i = island->manifold_first; i < island->manifold_last; i++)
			for (uint32_t side = 0; side < 2; side++) {
				uint32_t *partner = &all->manifolds[i].partner[side];
				if (*partner == TREE_NONE)
					continue;
				if (index[*partner] == TREE_NONE) {
					index[*partner] = all->partner_count;
					all->partners[all->partner_count++].number = *partner;
				}
				*partner = index[*partner];
			}
		island->partner_last = all->partner_count;
	}
	return STATUS_OK;
}

enum status soft_trees_lay_out(struct soft_step *self, struct reason *why)
{
	struct soft_trees *all = &self->trees;
	struct arena *scratch = &self->dynamics->scratch;
	uint32_t ways = 0, entries = 0;
	if (all->tree_count == 0)
		return STATUS_OK;
	all->island_of = ARENA_ARRAY(scratch, uint32_t, all->tree_count);
	if (all->island_of != NULL) {
		for (uint32_t k = 0; k < all->island_count; k++)
			for (uint32_t t = all->islands[k].tree_first; t < all->islands[k].tree_last;
			     t++)
				all->island_of[t] = k;
		count_contacts(self, &ways, &entries);
		place_contacts(all);
	}
	all->manifolds = ARENA_ARRAY(scratch, struct tree_manifold, all->manifold_count);
	all->lanes = ARENA_ARRAY(scratch, uint32_t, all->manifold_count);
	all->ways = ARENA_ARRAY(scratch, struct tree_way, ways);
	all->stretches = ARENA_ARRAY(scratch, struct tree_stretch, ways);
	all->entries = ARENA_ARRAY(scratch, double, entries);
	bool fine = all->island_of != NULL && all->manifolds != NULL && all->lanes != NULL &&
		    all->ways != NULL && all->stretches != NULL && all->entries != NULL;
	double *entry = all->entries;
	struct link_contact contact;
	ways = 0;
	for (uint32_t i = 0; fine && i < soft_manifolds(&self->clusters); i++)
		if (link_contact_at(self, i, &contact))
			add_manifold(self, &contact, &ways, &entry);
	if (fine && list_partners(self) == STATUS_OK)
		return STATUS_OK;
	return reason_set(why, STATUS_NO_MEMORY, -1, "memory", "no memory for contacts of trees");
}

void soft_trees_fill(struct soft_step *self, uint32_t *by_lane)
{
	struct soft_trees *all = &self->trees;
	for (uint32_t i = 0; i < all->manifold_count; i++) {
		struct tree_manifold *of = &all->manifolds[i];
		of->block += all->block_first;
		by_lane[of->block * BLOCK_LANES + of->lane] = all->lanes[i];
	}
}
