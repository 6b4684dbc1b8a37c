/* tree_mass.c: recursions over a forest of links.
 *
 * With A the inertia of a link and all that hangs on it, U = A S, D = Sᵀ U, and p the force that a link needs
 * beyond A v (of `project` −M v*):
 *
 *   up     u = −Sᵀ p     A' = A − U D⁻¹ Uᵀ     p' = p + A' c + U D⁻¹ u     both added to the parent's
 *   down   y = X v_parent + c     q' = D⁻¹ (u − Uᵀ y)     v = y + S q'
 *
 * A spring with g = J S adds g gᵀ / soft to D and −g (J c + pull) / soft to u: then q' minimises the sum of
 * the kinetic energy of the change and (J v + pull)² / (2 soft).
 *
 * L⁻¹ u of a row's load, D = L Lᵀ, is that row's factor: M⁻¹ = Σ Φᵀ D⁻¹ Φ over links.
 */
#include "server/engine/dynamics/tree_mass.h"

#include "server/engine/linalg/chol.h"

/* 1. A pivot of D below this part of its diagonal is rounding: its axis is held. */
#define PIVOT_MIN 1e-14

#define ALLOCATE(type, count) ARENA_ARRAY(arena, type, count)

static struct spatial spatial_add(struct spatial a, struct spatial b)
{
	return spatial_mul_add(a, b, 1);
}

/* M v of a body. */
static struct spatial momentum_of(const struct mass_body *body, struct spatial v)
{
	return (struct spatial){ vec3_hadamard(body->mass, v.linear),
				 sym3_apply(body->inertia, v.angular) };
}

/* ---- axes ---------------------------------------------------------------------------------------- */

static const struct body_motion *motion_of(const struct tree_mass *self, uint32_t slot,
					   const struct body_motion *given)
{
	return slot == ROW_NO_BODY ? given : &self->motions[slot];
}

static mat3 axes_of(quat body, quat frame)
{
	return mat3_from_quat(quat_mul(body, frame));
}

/* The axes about which b may turn against a, any basis of them; their number. `locked`: of the turns. */
static uint32_t free_turns(uint32_t locked, mat3 a, mat3 b, vec3 out[3])
{
	uint32_t count = 0;
	ASSERT(locked < 8);
	if (locked == 0) {
		/* The world's axes, of which a plane keeps one. */
		for (uint32_t k = 0; k < 3; k++)
			out[count++] = vec3_axis(k);
		return count;
	}
	if (!(locked & 1))
		out[count++] = a.x;
	if (!(locked & 2)) /* beside a free x it is b's y, else a's */
		out[count++] = locked & 1 ? a.y : b.y;
	if (!(locked & 4))
		out[count++] = b.z;
	return count;
}

/* The axes of a link at these motions of its joint's bodies, whether its body may move along them or not;
 * their number, which is the same for all motions. */
static uint32_t link_axes(const struct tree_link *link, const struct joint *joint,
			  const struct body_motion *a, const struct body_motion *b,
			  struct spatial all[TREE_AXES_MAX])
{
	uint32_t count = 0;
	if (joint == NULL) {
		for (uint32_t k = 0; k < 6; k++)
			all[count++] = k < 3 ? (struct spatial){ vec3_axis(k), vec3_zero() }
					     : spatial_about(vec3_axis(k - 3));
	} else {
		mat3 frame = axes_of(a->rotation, joint->frame_a);
		vec3 turns[3], centre = link->reversed ? a->centre : b->centre;
		vec3 lever = vec3_sub(centre, joint_anchor_b(joint, b));
		uint32_t turn_count = free_turns(link->locked >> 3 & 7, frame,
						 axes_of(b->rotation, joint->frame_b), turns);
		for (uint32_t k = 0; k < 3; k++)
			if (!(link->locked >> k & 1))
				all[count++] = (struct spatial){ k == 0	  ? frame.x
								 : k == 1 ? frame.y
									  : frame.z,
								 vec3_zero() };
		for (uint32_t k = 0; k < turn_count; k++)
			all[count++] = (struct spatial){ vec3_cross(turns[k], lever), turns[k] };
	}
	ASSERT(count <= TREE_AXES_MAX);
	return count;
}

/* ---- the forest ---------------------------------------------------------------------------------- */

bool tree_joint_is_edge(const struct joint *self)
{
	if (self->gear != NULL)
		return false;
	uint32_t locked = joint_locked_axes(self);
	if (self->type == JOINT_DISTANCE || locked == 0)
		return false;
	if (self->type == JOINT_SPHERICAL && (locked >> 3 & 7) != 0)
		return false;
	for (uint32_t k = 3; k < JOINT_AXES; k++)
		if (locked >> k & 1 && joint_locked_value(self, k) != 0)
			return false;
	return true;
}

/* What a forest is grown from. `start`, `list`: joints of each place, ascending; places are those of the
 * slots, then the ground. */
struct forest_growth {
	const struct tree_joints *joints;
	const uint32_t *slots;
	uint32_t slot_count;
	uint32_t *start, *list;
	uint32_t *place_of; /* by slot: borrowed link_of, as scratch */
	uint32_t *link;	    /* by place */
	struct tree_plan *plan;
};

static uint32_t place_of(const struct forest_growth *work, uint32_t joint, uint32_t side)
{
	ASSERT(side < 2 && joint < work->joints->count);
	const struct constraint *of = &work->joints->constraints[joint];
	uint32_t slot = side == 0 ? of->body_a : of->body_b;
	if (slot == ROW_NO_BODY || work->place_of[slot] == TREE_NONE)
		return work->slot_count;
	return work->place_of[slot];
}

static void list_edges(struct forest_growth *work, const uint32_t *list, uint32_t count)
{
	ASSERT(work->start != NULL && work->list != NULL);
	for (uint32_t i = 0; i < work->slot_count + 3; i++)
		work->start[i] = 0;
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < count; i++) {
			uint32_t j = list[i];
			uint32_t a = place_of(work, j, 0), b = place_of(work, j, 1);
			if (a == b || !tree_joint_is_edge(&work->joints->joints[j]))
				continue;
			if (pass == 0) {
				work->start[a + 2]++;
				work->start[b + 2]++;
			} else {
				work->list[work->start[a + 1]++] = j;
				work->list[work->start[b + 1]++] = j;
			}
		}
		for (uint32_t i = 2; i < work->slot_count + 3 && pass == 0; i++)
			work->start[i] += work->start[i - 1];
	}
}

static void add_link(struct forest_growth *work, uint32_t place, uint32_t parent, uint32_t joint,
		     uint32_t side)
{
	struct tree_plan *plan = work->plan;
	struct tree_link *link = &plan->links[plan->link_count];
	ASSERT(work->link[place] == TREE_NONE);
	*link = (struct tree_link){ .slot = work->slots[place],
				    .parent = parent,
				    .ground = ROW_NO_BODY,
				    .joint = joint,
				    .depth = 1 };
	if (joint != TREE_NONE) {
		const struct constraint *of = &work->joints->constraints[joint];
		link->locked = (uint8_t)joint_locked_axes(&work->joints->joints[joint]);
		link->reversed = side == 0;
		if (parent == TREE_NONE)
			link->ground = side == 0 ? of->body_b : of->body_a;
		plan->edge_count++;
	}
	if (parent == TREE_NONE)
		link->tree = plan->tree_count++;
	else {
		link->tree = plan->links[parent].tree;
		link->depth = plan->links[parent].depth + 1;
	}
	work->link[place] = plan->link_count++;
}

/* Bodies beyond the joints of a place that no link has yet. */
static void reach_from(struct forest_growth *work, uint32_t place)
{
	ASSERT(place <= work->slot_count);
	uint32_t parent = place < work->slot_count ? work->link[place] : TREE_NONE;
	for (uint32_t i = work->start[place]; i < work->start[place + 1]; i++) {
		uint32_t joint = work->list[i];
		uint32_t side = place_of(work, joint, 0) == place ? 1 : 0;
		uint32_t other = place_of(work, joint, side);
		if (other < work->slot_count && work->link[other] == TREE_NONE)
			add_link(work, other, parent, joint, side);
	}
}

/* Breadth first, from the ground, then from the first slot that no link has yet. */
static void grow_forest(struct forest_growth *work)
{
	uint32_t done = 0;
	for (uint32_t place = 0; place < work->slot_count; place++)
		work->link[place] = TREE_NONE;
	reach_from(work, work->slot_count);
	for (uint32_t base = 0; base <= work->slot_count; base++) {
		if (base > 0 && work->link[base - 1] == TREE_NONE)
			add_link(work, base - 1, TREE_NONE, TREE_NONE, 0);
		for (; done < work->plan->link_count; done++)
			reach_from(work, work->place_of[work->plan->links[done].slot]);
	}
	ASSERT(work->plan->link_count == work->slot_count);
}

/* Orders links by tree; link[] of places is no longer valid. */
static enum status gather_trees(struct tree_plan *plan, struct arena *arena)
{
	ASSERT(plan->link_count > 0 && plan->tree_count <= plan->link_count);
	uint32_t *to = ALLOCATE(uint32_t, plan->link_count);
	struct tree_link *links = ALLOCATE(struct tree_link, plan->link_count);
	plan->first = arena_push_zero(arena, (plan->tree_count + 2u) * sizeof *plan->first);
	if (to == NULL || links == NULL || plan->first == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < plan->link_count; i++)
		plan->first[plan->links[i].tree + 2]++;
	for (uint32_t t = 2; t < plan->tree_count + 2; t++)
		plan->first[t] += plan->first[t - 1];
	for (uint32_t i = 0; i < plan->link_count; i++)
		to[i] = plan->first[plan->links[i].tree + 1]++;
	for (uint32_t i = 0; i < plan->link_count; i++) {
		struct tree_link *link = &links[to[i]];
		*link = plan->links[i];
		if (link->parent != TREE_NONE)
			link->parent = to[link->parent];
		ASSERT(link->parent == TREE_NONE || link->parent < to[i]); /* invariant 1 */
	}
	plan->links = links;
	return STATUS_OK;
}

static bool locks_fit(uint32_t locks)
{
	return locks == 0 || locks == MASS_LOCK_PLANAR;
}

/* How many axes link_axes finds. */
static uint32_t free_axes(const struct tree_link *link)
{
	uint32_t count = TREE_AXES_MAX;
	for (uint32_t k = 0; k < JOINT_AXES && link->joint != TREE_NONE; k++)
		count -= link->locked >> k & 1;
	return count;
}

/* Numbers the axes; false: some body or joint has no reduced coordinates. */
static bool number_axes(struct tree_plan *plan, const struct tree_joints *joints,
			const struct mass_body *masses)
{
	bool mixed = false;
	for (uint32_t i = 0; i < plan->link_count; i++) {
		struct tree_link *link = &plan->links[i];
		uint32_t locks = masses[link->slot].locks;
		struct spatial axes[TREE_AXES_MAX];
		const struct joint *joint =
			link->joint == TREE_NONE ? NULL : &joints->joints[link->joint];
		if (!locks_fit(locks))
			return false;
		link->first = plan->axis_count;
		link->count = link->kept = 0;
		if (locks == 0) {
			link->count = free_axes(link);
			link->kept = (uint8_t)((1u << link->count) - 1);
			plan->axis_count += link->count;
			continue;
		}
		uint32_t count = link_axes(link, joint, joint == NULL ? NULL : &joint->a,
					   joint == NULL ? NULL : &joint->b, axes);
		for (uint32_t k = 0; k < count; k++)
			if (mass_locks_let(axes[k], locks, &mixed)) {
				link->kept |= (uint8_t)(1u << k);
				link->count++;
			}
		plan->axis_count += link->count;
	}
	return !mixed;
}

static enum status make_forest(struct forest_growth *work, struct arena *arena,
			       const uint32_t *list, uint32_t count, const struct mass_body *masses)
{
	struct tree_plan *plan = work->plan;
	list_edges(work, list, count);
	grow_forest(work);
	if (plan->edge_count == 0 || !number_axes(plan, work->joints, masses)) {
		plan->link_count = 0;
		return STATUS_OK;
	}
	enum status status = gather_trees(plan, arena);
	plan->axis_count = 0;
	if (status == STATUS_OK && !number_axes(plan, work->joints, masses))
		plan->link_count = 0;
	return status;
}

enum status tree_plan_make(struct tree_plan *plan, struct arena *arena,
			   const struct tree_joints *joints, const uint32_t *list,
			   uint32_t list_count, const uint32_t *slots, uint32_t slot_count,
			   const struct mass_body *masses, uint32_t *link_of, bool *held)
{
	*plan = (struct tree_plan){ .links = ALLOCATE(struct tree_link, slot_count) };
	struct forest_growth work = { .joints = joints,
				      .slots = slots,
				      .slot_count = slot_count,
				      .start = ALLOCATE(uint32_t, slot_count + 3u),
				      .list = ALLOCATE(uint32_t, 2u * list_count),
				      .place_of = link_of,
				      .link = ALLOCATE(uint32_t, slot_count),
				      .plan = plan };
	if (plan->links == NULL || work.start == NULL || work.list == NULL || work.link == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t place = 0; place < slot_count; place++) {
		ASSERT(link_of[slots[place]] == TREE_NONE);
		link_of[slots[place]] = place;
	}
	enum status status = make_forest(&work, arena, list, list_count, masses);
	for (uint32_t place = 0; place < slot_count; place++)
		link_of[slots[place]] = TREE_NONE;
	for (uint32_t i = 0; i < plan->link_count && status == STATUS_OK; i++) {
		link_of[plan->links[i].slot] = i;
		if (plan->links[i].joint != TREE_NONE)
			held[plan->links[i].joint] = true;
	}
	return status;
}

/* ---- numbers ------------------------------------------------------------------------------------- */

static void place_link(struct tree_mass *self, uint32_t index)
{
	ASSERT(index < self->plan->link_count);
	const struct tree_link *link = &self->plan->links[index];
	const struct body_motion *a = NULL, *b = NULL;
	const struct joint *joint = NULL;
	self->arm[index] = vec3_zero();
	self->bias[index] = spatial_zero();
	if (link->joint != TREE_NONE) {
		const struct constraint *of = &self->joints->constraints[link->joint];
		joint = &self->joints->joints[link->joint];
		a = motion_of(self, of->body_a, &joint->a);
		b = motion_of(self, of->body_b, &joint->b);
		self->arm[index] = link->reversed ? vec3_sub(a->centre, b->centre)
						  : vec3_sub(b->centre, a->centre);
	}
	struct spatial axes[TREE_AXES_MAX];
	uint32_t count = link_axes(link, joint, a, b, axes), kept = 0;
	for (uint32_t k = 0; k < count; k++)
		if (link->kept >> k & 1)
			self->axes[link->first + kept++] = axes[k];
	ASSERT(kept == link->count);
}

enum status tree_mass_make(struct tree_mass *self, struct arena *arena,
			   const struct tree_plan *plan, const struct tree_joints *joints,
			   const uint32_t *link_of, const struct mass_body *masses,
			   const struct body_motion *motions)
{
	uint32_t links = plan->link_count, axes = plan->axis_count;
	*self = (struct tree_mass){
		.plan = plan,
		.joints = joints,
		.link_of = link_of,
		.masses = masses,
		.motions = motions,
		.arm = ALLOCATE(vec3, links),
		.axes = ALLOCATE(struct spatial, axes),
		.u = ALLOCATE(struct spatial, axes),
		.factor = ALLOCATE(double, (size_t)axes *TREE_AXES_MAX),
		.stiff = ALLOCATE(double, (size_t)axes *TREE_AXES_MAX),
		.drive = ALLOCATE(double, axes),
		.pull = ALLOCATE(double, axes),
		.bias = ALLOCATE(struct spatial, links),
		.force = ALLOCATE(struct spatial, links),
		.inertia = ALLOCATE(struct spatial_inertia, links),
	};
	if (self->arm == NULL || self->axes == NULL || self->u == NULL || self->factor == NULL ||
	    self->stiff == NULL || self->drive == NULL || self->pull == NULL ||
	    self->bias == NULL || self->force == NULL || self->inertia == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < links; i++)
		place_link(self, i);
	return STATUS_OK;
}

static struct chol factor_of(const struct tree_mass *self, const struct tree_link *link)
{
	struct chol factor;
	ASSERT(link->first + link->count <= self->plan->axis_count);
	chol_init(&factor, self->factor + (size_t)link->first * TREE_AXES_MAX, link->count);
	factor.size = link->count;
	return factor;
}

/* L of D in place, `count` a line. A pivot that is rounding becomes infinite in effect: its axis is held. */
static void factor_pivots(struct tree_mass *self, double *d, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		double *line = d + (size_t)i * count, diagonal = line[i];
		for (uint32_t j = 0; j < i; j++) {
			for (uint32_t k = 0; k < j; k++)
				line[j] -= line[k] * d[(size_t)j * count + k];
			line[j] /= d[(size_t)j * count + j];
			line[i] -= line[j] * line[j];
		}
		if (line[i] > PIVOT_MIN * diagonal) {
			line[i] = scalar_sqrt(line[i]);
			continue;
		}
		self->weak++;
		line[i] = 1e150;
	}
}

/* Makes A' of a link's A, after U and the factor of D. */
static void eliminate_link(struct tree_mass *self, uint32_t index)
{
	const struct tree_link *link = &self->plan->links[index];
	struct spatial_inertia *inertia = &self->inertia[index];
	const struct spatial *axes = self->axes + link->first;
	struct spatial *u = self->u + link->first, reduced[TREE_AXES_MAX];
	double *d = self->factor + (size_t)link->first * TREE_AXES_MAX;
	const double *stiff = self->stiff + (size_t)link->first * TREE_AXES_MAX;
	uint32_t count = link->count;
	ASSERT(count <= TREE_AXES_MAX);
	for (uint32_t i = 0; i < count; i++)
		u[i] = spatial_inertia_apply(inertia, axes[i]);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j <= i; j++) {
			d[i * count + j] = spatial_dot(axes[i], u[j]);
			if (self->spring_count > 0)
				d[i * count + j] += stiff[i * TREE_AXES_MAX + j];
		}
	factor_pivots(self, d, count);
	if (link->parent == TREE_NONE)
		return;
	/* Columns of U L⁻ᵀ, so that what is taken is symmetric. */
	for (uint32_t i = 0; i < count; i++) {
		reduced[i] = u[i];
		for (uint32_t j = 0; j < i; j++)
			reduced[i] = spatial_mul_add(reduced[i], reduced[j], -d[i * count + j]);
		reduced[i] = spatial_scale(reduced[i], 1 / d[i * count + i]);
		spatial_inertia_take(inertia, reduced[i], reduced[i]);
	}
}

/* g = J S of a spring, by axis of its link. */
static void spring_gains(const struct tree_mass *self, const struct tree_spring *spring,
			 double gains[TREE_AXES_MAX])
{
	const struct tree_link *link = &self->plan->links[spring->link];
	ASSERT(spring->soft > 0);
	for (uint32_t k = 0; k < link->count; k++)
		gains[k] = spatial_dot(spring->on, self->axes[link->first + k]);
}

static void stiffen(struct tree_mass *self)
{
	ASSERT(self->springs != NULL);
	size_t size = (size_t)self->plan->axis_count * TREE_AXES_MAX;
	double g[TREE_AXES_MAX];
	for (size_t i = 0; i < size; i++)
		self->stiff[i] = 0;
	for (uint32_t s = 0; s < self->spring_count; s++) {
		const struct tree_spring *spring = &self->springs[s];
		const struct tree_link *link = &self->plan->links[spring->link];
		double *to = self->stiff + (size_t)link->first * TREE_AXES_MAX;
		spring_gains(self, spring, g);
		for (uint32_t i = 0; i < link->count; i++)
			for (uint32_t j = 0; j <= i; j++)
				to[i * TREE_AXES_MAX + j] += g[i] * g[j] / spring->soft;
	}
}

void tree_mass_factor(struct tree_mass *self, const struct tree_spring *springs, uint32_t count)
{
	ASSERT(springs != NULL || count == 0);
	const struct tree_plan *plan = self->plan;
	self->springs = springs;
	self->spring_count = count;
	if (count > 0)
		stiffen(self);
	for (uint32_t i = 0; i < plan->link_count; i++) {
		const struct mass_body *body = &self->masses[plan->links[i].slot];
		self->inertia[i] = (struct spatial_inertia){ mat3_diagonal(body->mass), mat3_zero(),
							     sym3_matrix(body->inertia) };
	}
	for (uint32_t i = plan->link_count; i-- > 0;) {
		const struct tree_link *link = &plan->links[i];
		eliminate_link(self, i);
		if (link->parent != TREE_NONE)
			spatial_inertia_bear(&self->inertia[link->parent], &self->inertia[i],
					     self->arm[i]);
	}
}

/* D⁻¹ of three numbers, in the order of the loops below: no number waits for its own store. */
static inline void solve_three(const double *lower, double *values)
{
	VALIDATE(lower[0] > 0 && lower[4] > 0 && lower[8] > 0);
	double a = values[0] / lower[0];
	double b = (values[1] - (0 + lower[3] * a)) / lower[4];
	double c = (values[2] - (0 + lower[6] * a + lower[7] * b)) / lower[8];
	c /= lower[8];
	b = (b + lower[7] * -c) / lower[4];
	a = (a + lower[6] * -c + lower[3] * -b) / lower[0];
	values[0] = a;
	values[1] = b;
	values[2] = c;
}

/* D⁻¹ of a link's numbers, as chol_solve. */
static void solve_link(const struct tree_mass *self, const struct tree_link *link, double *values)
{
	uint32_t count = link->count;
	const double *lower = self->factor + (size_t)link->first * TREE_AXES_MAX;
	ASSERT(link->first + count <= self->plan->axis_count && count <= TREE_AXES_MAX);
	if (count == 1) {
		values[0] /= lower[0] * lower[0];
		return;
	}
	if (count == 3) {
		solve_three(lower, values);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		double sum = 0;
		for (uint32_t k = 0; k < i; k++)
			sum += lower[i * count + k] * values[k];
		values[i] = (values[i] - sum) / lower[i * count + i];
	}
	for (uint32_t i = count; i-- > 0;) {
		values[i] /= lower[i * count + i];
		for (uint32_t k = 0; k < i; k++)
			values[k] += lower[i * count + k] * -values[i];
	}
}

/* y + S q' with q' = D⁻¹ (u − Uᵀ y). */
static struct spatial move_link(const struct tree_mass *self, const struct tree_link *link,
				struct spatial y)
{
	double q[TREE_AXES_MAX];
	for (uint32_t k = 0; k < link->count; k++)
		q[k] = self->drive[link->first + k] - spatial_dot(self->u[link->first + k], y);
	solve_link(self, link, q);
	for (uint32_t k = 0; k < link->count; k++)
		y = spatial_mul_add(y, self->axes[link->first + k], q[k]);
	return y;
}

/* u of the springs at the present biases. */
static void pull_springs(const struct tree_mass *self)
{
	double g[TREE_AXES_MAX];
	for (uint32_t k = 0; k < self->plan->axis_count; k++)
		self->pull[k] = 0;
	for (uint32_t s = 0; s < self->spring_count; s++) {
		const struct tree_spring *spring = &self->springs[s];
		const struct tree_link *link = &self->plan->links[spring->link];
		double by = spatial_dot(spring->on, self->bias[spring->link]) + spring->pull;
		spring_gains(self, spring, g);
		for (uint32_t k = 0; k < link->count; k++)
			self->pull[link->first + k] -= g[k] * by / spring->soft;
	}
}

void tree_mass_project(const struct tree_mass *self, struct spatial *velocities)
{
	ASSERT(velocities != NULL);
	const struct tree_plan *plan = self->plan;
	if (self->spring_count > 0)
		pull_springs(self);
	for (uint32_t i = 0; i < plan->link_count; i++)
		self->force[i] = spatial_negate(momentum_of(&self->masses[plan->links[i].slot],
							    velocities[plan->links[i].slot]));
	for (uint32_t i = plan->link_count; i-- > 0;) {
		const struct tree_link *link = &plan->links[i];
		double scaled[TREE_AXES_MAX];
		struct spatial p = self->force[i];
		for (uint32_t k = 0; k < link->count; k++) {
			uint32_t axis = link->first + k;
			double pull = self->spring_count > 0 ? self->pull[axis] : 0;
			scaled[k] = self->drive[axis] = pull - spatial_dot(self->axes[axis], p);
		}
		if (link->parent == TREE_NONE)
			continue;
		solve_link(self, link, scaled);
		p = spatial_add(p, spatial_inertia_apply(&self->inertia[i], self->bias[i]));
		for (uint32_t k = 0; k < link->count; k++)
			p = spatial_mul_add(p, self->u[link->first + k], scaled[k]);
		self->force[link->parent] =
			spatial_add(self->force[link->parent], spatial_bear(self->arm[i], p));
	}
	for (uint32_t i = 0; i < plan->link_count; i++) {
		const struct tree_link *link = &plan->links[i];
		struct spatial y = self->bias[i];
		uint32_t on =
			link->parent != TREE_NONE ? plan->links[link->parent].slot : link->ground;
		if (on != ROW_NO_BODY)
			y = spatial_add(y, spatial_carry(self->arm[i], velocities[on]));
		velocities[link->slot] = move_link(self, link, y);
	}
}

/* ---- rows ---------------------------------------------------------------------------------------- */

/* A load on some links on its way to their roots. */
struct load_walk {
	const struct tree_mass *self;
	uint32_t link[ROW_PARTS_MAX];
	struct spatial force[ROW_PARTS_MAX];
	uint32_t count;
};

static struct load_walk first_step(const struct tree_mass *self, struct jacobian j)
{
	ASSERT(j.count <= ROW_PARTS_MAX);
	struct load_walk walk = { .self = self };
	for (uint32_t k = 0; k < j.count; k++) {
		uint32_t link = self->link_of[j.parts[k].slot];
		if (link == TREE_NONE)
			continue;
		walk.link[walk.count] = link;
		walk.force[walk.count++] = j.parts[k].on;
	}
	return walk;
}

/* The last link with a load, and the load, which leaves the walk; TREE_NONE: none is left. */
static uint32_t take_last(struct load_walk *walk, struct spatial *force)
{
	ASSERT(walk->count <= ROW_PARTS_MAX);
	uint32_t last = TREE_NONE, kept = 0;
	for (uint32_t k = 0; k < walk->count; k++)
		if (last == TREE_NONE || walk->link[k] > last)
			last = walk->link[k];
	*force = spatial_zero();
	for (uint32_t k = 0; k < walk->count; k++) {
		if (walk->link[k] == last) {
			*force = spatial_add(*force, walk->force[k]);
			continue;
		}
		walk->link[kept] = walk->link[k];
		walk->force[kept++] = walk->force[k];
	}
	walk->count = kept;
	return last;
}

/* One link up: u of its axes; what its parent bears joins the walk. Returns the link or TREE_NONE. */
static uint32_t step_up(struct load_walk *walk, double u[TREE_AXES_MAX])
{
	const struct tree_mass *self = walk->self;
	struct spatial force;
	uint32_t at = take_last(walk, &force);
	if (at == TREE_NONE)
		return at;
	const struct tree_link *link = &self->plan->links[at];
	double scaled[TREE_AXES_MAX];
	for (uint32_t k = 0; k < link->count; k++)
		scaled[k] = u[k] = spatial_dot(self->axes[link->first + k], force);
	if (link->parent == TREE_NONE)
		return at;
	solve_link(self, link, scaled);
	for (uint32_t k = 0; k < link->count; k++)
		force = spatial_mul_add(force, self->u[link->first + k], -scaled[k]);
	ASSERT(walk->count < ROW_PARTS_MAX);
	walk->link[walk->count] = link->parent;
	walk->force[walk->count++] = spatial_bear(self->arm[at], force);
	return at;
}

uint32_t tree_mass_row(const struct tree_mass *self, struct jacobian j, uint32_t *link,
		       double (*entry)[TREE_AXES_MAX])
{
	struct load_walk walk = first_step(self, j);
	uint32_t count = 0, at;
	double u[TREE_AXES_MAX];
	while ((at = step_up(&walk, u)) != TREE_NONE) {
		struct chol factor = factor_of(self, &self->plan->links[at]);
		uint32_t axes = self->plan->links[at].count;
		if (axes == 0)
			continue;
		chol_solve_lower(&factor, u);
		for (uint32_t k = 0; k < TREE_AXES_MAX; k++)
			entry[count][k] = k < axes ? u[k] : 0;
		link[count++] = at;
	}
	return count;
}

uint32_t tree_plan_depth(const struct tree_plan *self, const uint32_t *link_of, struct jacobian j)
{
	ASSERT(j.count <= ROW_PARTS_MAX);
	uint32_t depth = 0;
	for (uint32_t k = 0; k < j.count; k++)
		if (link_of[j.parts[k].slot] != TREE_NONE)
			depth += self->links[link_of[j.parts[k].slot]].depth;
	return depth;
}

/* ---- the operator -------------------------------------------------------------------------------- */

static const struct tree_mass *tree_of(const struct mass_operator *self)
{
	return self->context;
}

static uint32_t link_at(const struct mass_operator *self, uint32_t slot)
{
	VALIDATE(slot < self->slots);
	return tree_of(self)->link_of[slot];
}

/* The trees of a row's parts, ascending by their first part; their number. */
static uint32_t trees_of(const struct mass_operator *self, struct jacobian j,
			 uint32_t out[ROW_PARTS_MAX])
{
	uint32_t count = 0;
	for (uint32_t k = 0; k < j.count; k++) {
		uint32_t link = link_at(self, j.parts[k].slot), g = 0;
		if (link == TREE_NONE)
			continue;
		uint32_t tree = tree_of(self)->plan->links[link].tree;
		while (g < count && out[g] != tree)
			g++;
		out[g] = tree;
		count = g == count ? count + 1 : count;
	}
	return count;
}

static uint32_t tree_room(const struct mass_operator *self, struct jacobian j)
{
	uint32_t trees[ROW_PARTS_MAX], count = trees_of(self, j, trees), room = 0;
	const uint32_t *first = tree_of(self)->plan->first;
	for (uint32_t g = 0; g < count; g++)
		room += first[trees[g] + 1] - first[trees[g]];
	return room;
}

static void tree_respond(const struct mass_operator *self, struct jacobian j, struct spatial *room,
			 struct mass_response *out)
{
	const struct tree_mass *tree = tree_of(self);
	const struct tree_plan *plan = tree->plan;
	struct load_walk walk = first_step(tree, j);
	double u[TREE_AXES_MAX];
	uint32_t trees[ROW_PARTS_MAX], at;
	out->count = trees_of(self, j, trees);
	for (uint32_t g = 0; g < out->count; g++)
		for (uint32_t i = plan->first[trees[g]]; i < plan->first[trees[g] + 1]; i++)
			for (uint32_t k = 0; k < plan->links[i].count; k++)
				tree->drive[plan->links[i].first + k] = 0;
	while ((at = step_up(&walk, u)) != TREE_NONE)
		for (uint32_t k = 0; k < plan->links[at].count; k++)
			tree->drive[plan->links[at].first + k] = u[k];
	for (uint32_t g = 0; g < out->count; g++) {
		uint32_t first = plan->first[trees[g]];
		out->group[g] = trees[g];
		out->change[g] = room;
		for (uint32_t i = first; i < plan->first[trees[g] + 1]; i++) {
			const struct tree_link *link = &plan->links[i];
			struct spatial y = spatial_zero();
			if (link->parent != TREE_NONE)
				y = spatial_carry(tree->arm[i], room[link->parent - first]);
			room[i - first] = move_link(tree, link, y);
		}
		room += plan->first[trees[g] + 1] - first;
	}
}

static double tree_couple(const struct mass_operator *self, struct jacobian j,
			  const struct mass_response *response)
{
	const struct tree_plan *plan = tree_of(self)->plan;
	double sum = 0;
	for (uint32_t k = 0; k < j.count; k++) {
		uint32_t link = link_at(self, j.parts[k].slot);
		for (uint32_t g = 0; link != TREE_NONE && g < response->count; g++)
			if (response->group[g] == plan->links[link].tree)
				sum += spatial_dot(
					j.parts[k].on,
					response->change[g]
							[link - plan->first[response->group[g]]]);
	}
	return sum;
}

static void tree_apply(const struct mass_operator *self, const struct mass_response *response,
		       double lambda, struct spatial *velocities)
{
	const struct tree_plan *plan = tree_of(self)->plan;
	VALIDATE(response->count <= ROW_PARTS_MAX);
	for (uint32_t g = 0; g < response->count; g++) {
		uint32_t first = plan->first[response->group[g]];
		for (uint32_t i = first; i < plan->first[response->group[g] + 1]; i++) {
			struct spatial *velocity = &velocities[plan->links[i].slot];
			*velocity =
				spatial_mul_add(*velocity, response->change[g][i - first], lambda);
		}
	}
}

static void tree_accelerate(const struct mass_operator *self, const struct spatial *forces,
			    const struct spatial *velocities, struct spatial *accelerations)
{
	const struct tree_mass *tree = tree_of(self);
	for (uint32_t slot = 0; slot < self->slots; slot++) {
		const struct mass_body *body = &tree->masses[slot];
		struct spatial force = forces[slot];
		accelerations[slot] = spatial_zero();
		if (link_at(self, slot) == TREE_NONE)
			continue;
		if (velocities != NULL) {
			vec3 spin = velocities[slot].angular;
			force.angular = vec3_add(force.angular,
						 vec3_cross(sym3_apply(body->inertia, spin), spin));
		}
		accelerations[slot] =
			(struct spatial){ vec3_hadamard(body->mass_inv, force.linear),
					  sym3_apply(body->inertia_inv, force.angular) };
	}
	tree_mass_project(tree, accelerations);
}

static bool tree_multiply(const struct mass_operator *self, const struct spatial *velocities,
			  struct spatial *momenta)
{
	const struct tree_mass *tree = tree_of(self);
	for (uint32_t slot = 0; slot < self->slots; slot++)
		momenta[slot] = link_at(self, slot) == TREE_NONE
					? spatial_zero()
					: momentum_of(&tree->masses[slot], velocities[slot]);
	return true;
}

static uint32_t tree_group(const struct mass_operator *self, uint32_t slot)
{
	uint32_t link = link_at(self, slot);
	return link == TREE_NONE ? 0 : tree_of(self)->plan->links[link].tree;
}

static bool tree_moves(const struct mass_operator *self, uint32_t slot)
{
	return link_at(self, slot) != TREE_NONE;
}

/* Coordinates in which M is the identity: L⁻ᵀ of each link's axes (tree_mass_row). */
static uint32_t tree_coordinates(const struct mass_operator *self, uint32_t group)
{
	ASSERT(group < self->groups);
	const struct tree_plan *plan = tree_of(self)->plan;
	uint32_t count = 0;
	for (uint32_t i = plan->first[group]; i < plan->first[group + 1]; i++)
		count += plan->links[i].count;
	return count;
}

/* The velocity of a slot when a link of its tree moves by q' = L⁻ᵀ e, and links beyond it respond. */
static struct spatial tree_axis(const struct mass_operator *self, uint32_t slot,
				uint32_t coordinate)
{
	const struct tree_mass *tree = tree_of(self);
	const struct tree_plan *plan = tree->plan;
	uint32_t at = link_at(self, slot);
	if (at == TREE_NONE)
		return spatial_zero();
	uint32_t of = plan->first[plan->links[at].tree];
	while (coordinate >= plan->links[of].count)
		coordinate -= plan->links[of++].count;
	/* From the link that moves down to the slot's, along the path found upwards. */
	uint32_t up = at, next;
	while (up != TREE_NONE && up > of)
		up = plan->links[up].parent;
	if (up != of)
		return spatial_zero();
	double q[TREE_AXES_MAX] = { 0 };
	struct chol factor = factor_of(tree, &plan->links[of]);
	q[coordinate] = 1;
	chol_solve_upper(&factor, q);
	struct spatial v = spatial_zero();
	for (uint32_t k = 0; k < plan->links[of].count; k++)
		v = spatial_mul_add(v, tree->axes[plan->links[of].first + k], q[k]);
	for (uint32_t from = of; from != at; from = next) {
		for (next = at; plan->links[next].parent != from;)
			next = plan->links[next].parent;
		v = spatial_carry(tree->arm[next], v);
		for (uint32_t k = 0; k < plan->links[next].count; k++)
			tree->drive[plan->links[next].first + k] = 0;
		v = move_link(tree, &plan->links[next], v);
	}
	return v;
}

static double tree_entry(const struct mass_operator *self, uint32_t group, uint32_t i, uint32_t j)
{
	UNUSED(self);
	UNUSED(group);
	return i == j ? 1 : 0;
}

static const struct mass_operator_kind trees = {
	.room = tree_room,
	.respond = tree_respond,
	.couple = tree_couple,
	.apply = tree_apply,
	.accelerate = tree_accelerate,
	.multiply = tree_multiply,
	.group = tree_group,
	.moves = tree_moves,
	.coordinates = tree_coordinates,
	.axis = tree_axis,
	.entry = tree_entry,
	.mirrors = true, /* velocities are sums from 0 on, so that none is −0 */
};

struct mass_operator tree_mass_operator(const struct tree_mass *self, uint32_t slots)
{
	return (struct mass_operator){ &trees, self, slots, self->plan->tree_count };
}

/* ---- loads --------------------------------------------------------------------------------------- */

void tree_mass_loads(const struct tree_mass *self, struct spatial *change)
{
	for (uint32_t i = self->plan->link_count; i-- > 0;) {
		uint32_t parent = self->plan->links[i].parent;
		if (parent != TREE_NONE)
			change[parent] =
				spatial_add(change[parent], spatial_bear(self->arm[i], change[i]));
	}
}
