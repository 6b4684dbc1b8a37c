/* soft_joint_tree.c: all joints of a tree at once.
 *
 * Bodies and the joints between them are a graph; whatever no impulse moves is one node of it, the
 * ground. Joints in order of their rows that close no loop are a forest, and the rest is loose:
 * solved one by one. The forest's rows are solved exactly, as a chain of a hundred links or a load
 * of a hundred times a link's mass needs it: one sweep over single joints a sub-step would take a
 * hundred sub-steps to tell the first of the last.
 *
 * Gauss' elimination from the leaves on, one joint after the other. W of a body is what an impulse
 * on it does to it while the joints below it, that have been done, hold; at first M⁻¹. Joint c with
 * J_k on the body below it, J_p on that above it:
 *
 *   T = J_p W_p    D = J_k W_k J_kᵀ + T J_pᵀ    W_p ← W_p − Tᵀ D⁻¹ T             once a sub-step
 *   μ = −D⁻¹ (J v − wanted)    v_p ← v_p + Tᵀ μ                                  from the leaves
 *   λ = μ − D⁻¹ T F_p    F_p ← F_p + J_pᵀ λ    F_k ← F_k + J_kᵀ λ                from the roots
 *
 * F is the impulse on a body of the joints done later. Nothing fills in, so the cost is that of so
 * many single joints.
 *
 * Of motors, friction and limits those that act within their bounds are members: rows of their
 * joint like locked ones, of which an axis has one at most. What goes beyond its bound is held
 * there and no member; what a bound holds back from where it wants is one. With another set the
 * tree is factored and solved again, a few times in a pass at most: what then is not settled is so
 * in the next.
 */
#include "server/engine/methods/soft_step.h"

#include <string.h>

enum {
	TREE_GRAIN = 8,
	SETS_MAX = 6, /* of members that a pass tries */
};

/* 1, of a row's speed: what of it is rounding. */
#define SPEED_TINY 1e-12

static struct soft_held *child_of(const struct soft_joints *joints, const struct soft_joint *joint)
{
	return &joints->held[joint->child_b ? joint->b : joint->a];
}

static struct soft_held *parent_of(const struct soft_joints *joints, const struct soft_joint *joint)
{
	return &joints->held[joint->child_b ? joint->a : joint->b];
}

static bool is_bounded(const struct soft_extra *extra)
{
	return scalar_is_finite(extra->lower) || scalar_is_finite(extra->upper);
}

/* ---- the forest ----------------------------------------------------------------------------- */

bool soft_forest_make(struct soft_step *self, uint64_t bodies)
{
	struct soft_forest *forest = &self->joints.forest;
	struct arena *scratch = &self->dynamics->scratch;
	uint64_t joints = self->joints.list.count;
	forest->nodes = ARENA_ARRAY(scratch, struct soft_node, bodies);
	forest->ends = ARENA_ARRAY(scratch, uint32_t, 2 * joints);
	forest->order = ARENA_ARRAY(scratch, uint32_t, joints);
	forest->queue = ARENA_ARRAY(scratch, uint32_t, bodies);
	forest->trees = ARENA_ARRAY(scratch, struct soft_tree, joints);
	return forest->nodes != NULL && forest->ends != NULL && forest->order != NULL &&
	       forest->queue != NULL && forest->trees != NULL;
}

/* The number of the node: that of the body, or 0. */
static uint32_t node_of(const struct soft_step *self, uint32_t held)
{
	return self->joints.held[held].moves ? held : 0;
}

static uint32_t find(struct soft_node *nodes, uint32_t i)
{
	while (nodes[i].above != i) {
		nodes[i].above = nodes[nodes[i].above].above;
		i = nodes[i].above;
	}
	return i;
}

/* Which joints are of the forest, and which of them each node has. */
static void join_nodes(struct soft_step *self)
{
	struct soft_joints *joints = &self->joints;
	struct soft_node *nodes = joints->forest.nodes;
	for (uint32_t i = 0; i < joints->held_count; i++)
		nodes[i] = (struct soft_node){ .above = i };
	for (uint32_t i = 0; i < joints->list.count; i++) {
		struct soft_joint *joint = &joints->items[i];
		uint32_t a = node_of(self, joint->a), b = node_of(self, joint->b);
		uint32_t root_a = find(nodes, a), root_b = find(nodes, b);
		joint->loose = joint->lock_count == 0 || root_a == root_b;
		if (joint->loose)
			continue;
		nodes[MAX_OF(root_a, root_b)].above = MIN_OF(root_a, root_b);
		nodes[a].count++;
		nodes[b].count++;
	}
	uint32_t first = 0;
	for (uint32_t i = 0; i < joints->held_count; i++) {
		nodes[i].first = first;
		first += nodes[i].count;
		nodes[i].count = 0;
	}
	for (uint32_t i = 0; i < joints->list.count; i++) {
		struct soft_joint *joint = &joints->items[i];
		if (joint->loose)
			continue;
		struct soft_node *a = &nodes[node_of(self, joint->a)];
		struct soft_node *b = &nodes[node_of(self, joint->b)];
		joints->forest.ends[a->first + a->count++] = i;
		joints->forest.ends[b->first + b->count++] = i;
	}
}

/* A joint whose one end has been seen: what hangs on the other, too. */
static bool take_joint(struct soft_step *self, uint32_t i, uint32_t parent, uint32_t *last)
{
	struct soft_joints *joints = &self->joints;
	struct soft_forest *forest = &joints->forest;
	struct soft_joint *joint = &joints->items[i];
	uint32_t a = node_of(self, joint->a), b = node_of(self, joint->b);
	uint32_t child = a == parent ? b : a;
	if (forest->nodes[child].seen)
		return false;
	forest->nodes[child].seen = true;
	joint->child_b = child == b;
	joint->moves_parent = parent != 0;
	forest->queue[(*last)++] = child;
	forest->order[forest->count++] = i;
	return true;
}

/* What hangs on the nodes of the queue, the nearer joints first, as one tree. */
static void grow(struct soft_step *self, uint32_t last)
{
	struct soft_forest *forest = &self->joints.forest;
	for (uint32_t at = 0; at < last; at++) {
		uint32_t parent = forest->queue[at];
		const struct soft_node *node = &forest->nodes[parent];
		for (uint32_t k = 0; k < node->count; k++)
			(void)take_joint(self, forest->ends[node->first + k], parent, &last);
	}
	struct soft_tree *before = &forest->trees[forest->tree_count];
	uint32_t first = forest->tree_count == 0 ? 0 : before[-1].last;
	forest->trees[forest->tree_count++] = (struct soft_tree){ first, forest->count };
}

/* The ground holds no two joints together: each of its joints is the root of a tree. */
void soft_forest_plant(struct soft_step *self)
{
	struct soft_joints *joints = &self->joints;
	struct soft_forest *forest = &joints->forest;
	forest->count = forest->tree_count = 0;
	join_nodes(self);
	const struct soft_node *ground = &forest->nodes[0];
	forest->nodes[0].seen = true;
	for (uint32_t k = 0; k < ground->count; k++) {
		uint32_t last = 0;
		if (take_joint(self, forest->ends[ground->first + k], 0, &last))
			grow(self, last);
	}
	for (uint32_t i = 1; i < joints->held_count; i++) {
		if (forest->nodes[i].seen || forest->nodes[i].count == 0)
			continue;
		forest->nodes[i].seen = true;
		forest->queue[0] = i;
		grow(self, 1);
	}
}

/* ---- once a sub-step ------------------------------------------------------------------------ */

/* W v, v as six numbers: along, then about. */
static inline void spread(const double *w, const struct spatial *v, double out[6])
{
	const double x[6] = { v->linear.x, v->linear.y, v->linear.z,
			      v->angular.x, v->angular.y, v->angular.z };
	for (uint32_t i = 0; i < 6; i++) {
		const double *row = &w[6 * i];
		out[i] = row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + row[3] * x[3] +
			 row[4] * x[4] + row[5] * x[5];
	}
}

static inline double dot6(const struct spatial *v, const double x[6])
{
	return v->linear.x * x[0] + v->linear.y * x[1] + v->linear.z * x[2] + v->angular.x * x[3] +
	       v->angular.y * x[4] + v->angular.z * x[5];
}

static void first_response(struct soft_held *held)
{
	const sym3 *t = &held->inertia_inv;
	const double full[36] = {
		held->mass_inv.x, 0, 0, 0, 0, 0, 0, held->mass_inv.y, 0, 0, 0, 0, 0, 0,
		held->mass_inv.z, 0, 0, 0, 0, 0, 0, t->xx, t->xy, t->zx, 0, 0, 0, t->xy,
		t->yy, t->yz, 0, 0, 0, t->zx, t->yz, t->zz,
	};
	memcpy(held->response, full, sizeof full);
}

static inline const struct spatial *on_child(const struct soft_joint *joint, uint32_t row)
{
	return joint->child_b ? &joint->locks[row].on_b : &joint->locks[row].on_a;
}

static inline const struct spatial *on_parent(const struct soft_joint *joint, uint32_t row)
{
	return joint->child_b ? &joint->locks[row].on_a : &joint->locks[row].on_b;
}

/* W_p − Tᵀ D⁻¹ T, with D = L Δ Lᵀ: X = L⁻¹ T row by row, W_p − Xᵀ Δ⁻¹ X. */
static void take_response(const struct soft_joint *joint, double *w)
{
	double x[SOFT_LOCKS_MAX][6];
	const double *l = joint->factor;
	for (uint32_t i = 0; i < joint->count; i++) {
		memcpy(x[i], joint->reach[i], sizeof x[i]);
		for (uint32_t k = 0; k < i; k++)
			for (uint32_t c = 0; c < 6; c++)
				x[i][c] -= l[k] * x[k][c];
		l += i;
		for (uint32_t r = 0; r < 6; r++) {
			double scaled = x[i][r] * joint->pivot_inv[i];
			for (uint32_t c = 0; c < 6; c++)
				w[6 * r + c] -= scaled * x[i][c];
		}
	}
}

static void factor_branch(struct soft_joints *joints, struct soft_joint *joint)
{
	struct soft_held *child = child_of(joints, joint), *parent = parent_of(joints, joint);
	double k[SOFT_LOCKS_MAX * (SOFT_LOCKS_MAX + 1) / 2], *row = k;
	for (uint32_t i = 0; i < joint->count; i++) {
		double below[6];
		spread(child->response, on_child(joint, i), below);
		for (uint32_t j = 0; j <= i; j++)
			row[j] = dot6(on_child(joint, j), below);
		if (joint->moves_parent) {
			spread(parent->response, on_parent(joint, i), joint->reach[i]);
			for (uint32_t j = 0; j <= i; j++)
				row[j] += dot6(on_parent(joint, j), joint->reach[i]);
		}
		row += i + 1;
	}
	soft_joint_factor(joints, joint, k, joint->count);
	for (uint32_t i = joint->lock_count; i < joint->count; i++)
		joint->extras[joint->member[i]].felt = joint->pivot_inv[i];
	if (joint->moves_parent)
		take_response(joint, parent->response);
}

static void factor_tree(struct soft_joints *joints, const struct soft_tree *tree)
{
	const uint32_t *order = joints->forest.order;
	for (uint32_t i = tree->first; i < tree->last; i++) {
		const struct soft_joint *joint = &joints->items[order[i]];
		first_response(child_of(joints, joint));
		if (joint->moves_parent)
			first_response(parent_of(joints, joint));
	}
	for (uint32_t i = tree->last; i-- > tree->first;)
		factor_branch(joints, &joints->items[order[i]]);
}

static void factor_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct soft_joints *joints = context;
	for (uint32_t i = first; i < last; i++)
		factor_tree(joints, &joints->forest.trees[i]);
}

void soft_forest_factor(struct soft_step *self)
{
	struct soft_joints *joints = &self->joints;
	parallel_run(self->dynamics->parallel, joints->forest.tree_count, TREE_GRAIN, factor_piece,
		     joints);
}

/* ---- a pass --------------------------------------------------------------------------------- */

static inline void add6(struct spatial *v, const double x[6], double s)
{
	v->linear = vec3_mul_add(v->linear, vec3_make(x[0], x[1], x[2]), s);
	v->angular = vec3_mul_add(v->angular, vec3_make(x[3], x[4], x[5]), s);
}

static double speed_of(const struct soft_joints *joints, const struct soft_joint *joint,
		       const struct soft_row *row)
{
	return spatial_dot(row->on_a, joints->held[joint->a].velocity) +
	       spatial_dot(row->on_b, joints->held[joint->b].velocity);
}

/* The speed that a row is to have after the pass; `speed` as it finds it. */
static double extra_aim(const struct soft_pass *pass, const struct soft_extra *extra, double speed)
{
	double off;
	switch (extra->part) {
	case JOINT_DRIVE:
		if (!extra->follows)
			return extra->wanted;
		if (is_bounded(extra))
			return extra->wanted - soft_servo_speed(pass, extra);
		off = speed - extra->wanted + pass->bias_rate * extra->gap;
		return speed - pass->mass_scale * off;
	case JOINT_RUB:
		return 0;
	default:
		if (extra->wanted > 0)
			return extra->wanted; /* it bounces */
		if (extra->gap > 0)
			return -extra->gap * pass->h_inv;
		return speed - pass->mass_scale * (speed + soft_limit_bias(pass, extra));
	}
}

static void aim(const struct soft_pass *pass, struct soft_joint *joint)
{
	const struct soft_joints *joints = pass->joints;
	for (uint32_t i = 0; i < joint->lock_count; i++) {
		joint->aim[i] = 0;
		if (pass->biased) {
			double speed = speed_of(joints, joint, &joint->locks[i]);
			joint->aim[i] = speed - pass->mass_scale * (speed + joint->bias[i]);
		}
	}
	for (uint32_t i = 0; i < joint->extra_count; i++) {
		struct soft_extra *extra = &joint->extras[i];
		if (extra->part != JOINT_PULL)
			extra->aim = extra_aim(pass, extra, speed_of(joints, joint, &extra->row));
	}
	for (uint32_t i = joint->lock_count; i < joint->count; i++)
		joint->aim[i] = joint->extras[joint->member[i]].aim;
}

/* From the leaves: μ of a joint, and what it does to the body above. */
static void lift(const struct soft_joints *joints, struct soft_joint *joint)
{
	struct soft_held *child = child_of(joints, joint), *parent = parent_of(joints, joint);
	const struct spatial *above = joint->moves_parent ? &parent->trial : &parent->velocity;
	for (uint32_t i = 0; i < joint->count; i++)
		joint->change[i] = joint->aim[i] - spatial_dot(*on_child(joint, i), child->trial) -
				   spatial_dot(*on_parent(joint, i), *above);
	soft_joint_unfactor(joint, joint->count, joint->change);
	if (joint->moves_parent)
		for (uint32_t i = 0; i < joint->count; i++)
			add6(&parent->trial, joint->reach[i], joint->change[i]);
}

/* From the roots: λ of a joint. */
static void lower(const struct soft_joints *joints, struct soft_joint *joint)
{
	struct soft_held *child = child_of(joints, joint), *parent = parent_of(joints, joint);
	if (joint->moves_parent) {
		double x[SOFT_LOCKS_MAX];
		for (uint32_t i = 0; i < joint->count; i++)
			x[i] = dot6(&parent->impulse, joint->reach[i]);
		soft_joint_unfactor(joint, joint->count, x);
		for (uint32_t i = 0; i < joint->count; i++)
			joint->change[i] -= x[i];
	}
	struct spatial on_k = spatial_zero(), on_p = spatial_zero();
	for (uint32_t i = 0; i < joint->count; i++) {
		double change = joint->change[i];
		on_k = spatial_mul_add(on_k, *on_child(joint, i), change);
		on_p = spatial_mul_add(on_p, *on_parent(joint, i), change);
	}
	child->impulse = spatial_mul_add(child->impulse, on_k, 1);
	if (joint->moves_parent)
		parent->impulse = spatial_mul_add(parent->impulse, on_p, 1);
	/* On b, or on a where b has none. */
	joint->branch = joint->child_b == (joint->b != 0) ? on_k : on_p;
}

static void solve_once(struct soft_joints *joints, const struct soft_tree *tree)
{
	const uint32_t *order = joints->forest.order;
	for (uint32_t i = tree->first; i < tree->last; i++) {
		const struct soft_joint *joint = &joints->items[order[i]];
		struct soft_held *child = child_of(joints, joint);
		struct soft_held *parent = parent_of(joints, joint);
		child->trial = child->velocity;
		child->impulse = spatial_zero();
		if (joint->moves_parent && i == tree->first) {
			parent->trial = parent->velocity;
			parent->impulse = spatial_zero();
		}
	}
	for (uint32_t i = tree->last; i-- > tree->first;)
		lift(joints, &joints->items[order[i]]);
	for (uint32_t i = tree->first; i < tree->last; i++)
		lower(joints, &joints->items[order[i]]);
}

static void take_solution(struct soft_joints *joints, const struct soft_tree *tree)
{
	for (uint32_t i = tree->first; i < tree->last; i++) {
		struct soft_joint *joint = &joints->items[joints->forest.order[i]];
		struct soft_held *parent = parent_of(joints, joint);
		for (uint32_t r = 0; r < joint->count; r++) {
			double change = joint->change[r];
			if (r < joint->lock_count)
				joint->impulse[r] += change;
			else
				joint->extras[joint->member[r]].impulse += change;
			joint->acted |= change != 0;
		}
		joint->pushed = spatial_mul_add(joint->pushed, joint->branch, 1);
		soft_held_yield(child_of(joints, joint), &child_of(joints, joint)->impulse);
		if (joint->moves_parent && i == tree->first)
			soft_held_yield(parent, &parent->impulse);
	}
}

/* ---- members -------------------------------------------------------------------------------- */

void soft_joint_choose(struct soft_joint *joint)
{
	uint32_t axes = 0;
	joint->count = joint->lock_count;
	/* What has no bounds comes before what would have to go beyond them. */
	for (uint32_t bounded = 0; bounded < 2; bounded++)
		for (uint32_t r = 0; r < joint->extra_count; r++) {
			struct soft_extra *extra = &joint->extras[r];
			uint32_t axis = 1u << joint->place[joint->lock_count + r] / JOINT_PARTS;
			if (is_bounded(extra) != (bounded == 1))
				continue;
			extra->member = extra->inside && !joint->loose && !(axes & axis) &&
					extra->mass > 0 && joint->count < SOFT_LOCKS_MAX;
			if (!extra->member)
				continue;
			axes |= axis;
			joint->member[joint->count] = (uint8_t)r;
			joint->aim[joint->count] = extra->aim;
			joint->locks[joint->count++] = extra->row;
		}
}

/* Members that would go beyond their bounds are held there; false if there is none. */
static bool hold_bounds(struct soft_joints *joints, struct soft_joint *joint)
{
	bool any = false;
	for (uint32_t r = joint->lock_count; r < joint->count; r++) {
		struct soft_extra *extra = &joint->extras[joint->member[r]];
		double after = extra->impulse + joint->change[r];
		double bound = scalar_clamp(after, extra->lower, extra->upper);
		if (bound == after)
			continue;
		soft_joint_push(joints, joint, &extra->row, bound - extra->impulse);
		extra->impulse = bound;
		extra->inside = false;
		any = true;
	}
	return any;
}

/* What a bound does not hold any more becomes a member; false if there is none. */
static bool let_go(const struct soft_joints *joints, struct soft_joint *joint)
{
	bool any = false;
	for (uint32_t r = 0; r < joint->extra_count; r++) {
		struct soft_extra *extra = &joint->extras[r];
		if (extra->inside || extra->part == JOINT_PULL || extra->mass == 0)
			continue;
		double speed = speed_of(joints, joint, &extra->row), off = speed - extra->aim;
		double tiny = SPEED_TINY * (scalar_abs(speed) + scalar_abs(extra->aim));
		bool up = extra->impulse < extra->upper && off < -tiny;
		bool down = extra->impulse > extra->lower && off > tiny;
		extra->inside = up || down;
		any |= extra->inside;
	}
	return any;
}

static void solve_tree(const struct soft_pass *pass, const struct soft_tree *tree)
{
	struct soft_joints *joints = pass->joints;
	const uint32_t *order = joints->forest.order;
	bool extras = false;
	for (uint32_t i = tree->first; i < tree->last; i++) {
		aim(pass, &joints->items[order[i]]);
		extras |= joints->items[order[i]].extra_count > 0;
	}
	for (uint32_t set = 1;; set++) {
		uint32_t asked = extras && set < SETS_MAX ? tree->last : tree->first;
		bool other = false;
		solve_once(joints, tree);
		for (uint32_t i = tree->first; i < asked; i++)
			other |= hold_bounds(joints, &joints->items[order[i]]);
		if (!other) {
			take_solution(joints, tree);
			for (uint32_t i = tree->first; i < asked; i++)
				other |= let_go(joints, &joints->items[order[i]]);
		}
		if (!other)
			break;
		for (uint32_t i = tree->first; i < tree->last; i++)
			soft_joint_choose(&joints->items[order[i]]);
		factor_tree(joints, tree);
	}
}

struct forest_work {
	const struct soft_pass *pass;
};

static void solve_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct soft_pass *pass = ((struct forest_work *)context)->pass;
	for (uint32_t i = first; i < last; i++)
		solve_tree(pass, &pass->joints->forest.trees[i]);
}

void soft_forest_solve(const struct soft_step *self, const struct soft_pass *pass)
{
	struct forest_work work = { pass };
	uint32_t trees = pass->joints->forest.tree_count;
	parallel_run(self->dynamics->parallel, trees, TREE_GRAIN, solve_piece, &work);
}
