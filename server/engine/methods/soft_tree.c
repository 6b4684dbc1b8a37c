/* soft_tree.c: a tree of joints in reduced coordinates: poses, inertias, velocities.
 *
 * Poses of links are those of the coordinates q of their joints, so joints are exact. All vectors
 * are about one origin, which does not move within a step, so nothing is carried from link to link.
 * With A the inertia of a link and all that hangs on it, s an axis, m = sᵀ A s + rotors and springs:
 *
 *   factor  A ← A − (A s)(A s)ᵀ/m    axis after axis, from the leaves; then added to the parent's
 *   up      u = given − sᵀ p,  p ← p + A s u/m     p = −(momentum that a link has and is given)
 *   down    q' = (u − (A s)ᵀ v)/m,  v ← v + s q'
 *
 * A sub-step has two passes; the factor of the second is that of the next sub-step's first:
 *
 *   solve   momenta L, forces over h, and half of what motion itself changes: h/2 v × s q' of
 *           velocities, −h/2 v × L of momenta; so q' is that of the sub-step's middle. Coordinates
 *           move by h q'. Momenta then are I v + h/2 v × L.
 *   relax   at the new poses: of the velocities that joints allow, those nearest to these momenta,
 *           which are kept about the origin: those of a floating tree to rounding, and its mass
 *           centre moves with them.
 *
 * A pendulum turns on without loss. If links turn far in a sub-step, the first half fades out
 * (FADE), and the second takes energy only.
 *
 * Springs, gains and rotors add to m: they act at the speed of the sub-step's end. What drives or
 * stops an axis holds it at a speed, as long as its bounds allow (soft_tree_drive.c). Contacts are
 * rows on the axes between a link and its root (soft_tree_rows.c).
 */
#include "server/engine/methods/soft_step.h"

#include "server/base/inline.h"

/* rad a sub-step. */
#define FADE 0.5

/* Number by number: a load of two that were just stored one by one waits. */
struct spatial soft_tree_inertia_apply(const struct tree_inertia *a, const struct spatial *v)
{
	struct spatial out;
	double vx = v->linear.x, vy = v->linear.y, vz = v->linear.z;
	double wx = v->angular.x, wy = v->angular.y, wz = v->angular.z;
	const mat3 *c = &a->cross; /* by columns */
	out.linear.x = a->along.xx * vx + a->along.xy * vy + a->along.zx * vz +
		       (c->x.x * wx + c->y.x * wy + c->z.x * wz);
	out.linear.y = a->along.xy * vx + a->along.yy * vy + a->along.yz * vz +
		       (c->x.y * wx + c->y.y * wy + c->z.y * wz);
	out.linear.z = a->along.zx * vx + a->along.yz * vy + a->along.zz * vz +
		       (c->x.z * wx + c->y.z * wy + c->z.z * wz);
	out.angular.x = c->x.x * vx + c->x.y * vy + c->x.z * vz +
			(a->about.xx * wx + a->about.xy * wy + a->about.zx * wz);
	out.angular.y = c->y.x * vx + c->y.y * vy + c->y.z * vz +
			(a->about.xy * wx + a->about.yy * wy + a->about.yz * wz);
	out.angular.z = c->z.x * vx + c->z.y * vy + c->z.z * vz +
			(a->about.zx * wx + a->about.yz * wy + a->about.zz * wz);
	return out;
}

static const struct tree_kernels *kernels_of(const struct soft_trees *all,
					     const struct link_group *group)
{
	if (group->lanes > 2)
		return all->wide;
	return group->lanes > 1 ? &tree_kernels_2 : &tree_kernels_1;
}

static const struct soft_tree *tree_of(const struct soft_trees *all, const struct link_group *group,
				       uint32_t lane)
{
	VALIDATE(lane < TREE_GROUP_MAX);
	return &all->trees[all->tree_of_link[group->link[lane]]];
}

/* ---- poses ---------------------------------------------------------------------------------------- */

/* The pose of the body on which a tree hangs. */
static void place_ground(struct soft_step *self, const struct soft_tree *tree, double now)
{
	ASSERT(tree->first + tree->count <= self->trees.link_count);
	struct soft_tree_link *first = &self->trees.links[tree->first];
	if (!tree->moving || first->ground == 0)
		return;
	struct body_motion ground = soft_motion(self, first->ground, now);
	first->ground_rotation = ground.rotation;
	first->ground_centre = ground.centre;
}

/* How far links are from where their mass centre is to be. */
static void find_shift(const struct soft_trees *all, struct soft_tree *tree)
{
	ASSERT(tree->first + tree->count <= all->link_count);
	vec3 sum = vec3_zero();
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++)
		sum = vec3_mul_add(sum, all->links[i].centre, all->links[i].mass);
	tree->shift = vec3_sub(tree->centre, vec3_scale(sum, 1 / tree->mass));
}

void soft_tree_place(struct soft_step *self, const struct tree_run *run, double now, bool moving)
{
	struct soft_trees *all = &self->trees;
	uint32_t first = soft_tree_first(all, run), last = soft_tree_last(all, run);
	ASSERT(first < last);
	for (uint32_t t = first; t < last; t++)
		place_ground(self, &all->trees[t], now);
	for (uint32_t g = run->group_first; g < run->group_last; g++)
		if (!moving || tree_of(all, &all->groups[g], 0)->moving)
			kernels_of(all, &all->groups[g])->pose(all, &all->groups[g]);
	for (uint32_t t = first; t < last; t++) {
		if (moving && !all->trees[t].moving)
			continue;
		all->trees[t].factored = false;
		if (all->trees[t].floating)
			find_shift(all, &all->trees[t]);
	}
	for (uint32_t g = run->group_first; g < run->group_last; g++)
		if (!moving || tree_of(all, &all->groups[g], 0)->moving)
			kernels_of(all, &all->groups[g])->derive(all, &all->groups[g]);
}

/* ---- recursions ------------------------------------------------------------------------------------ */

/* Factors what has changed. */
void soft_tree_factor(struct soft_trees *all, const struct tree_run *run)
{
	bool any = false;
	ASSERT(run->group_first < run->group_last);
	for (uint32_t t = soft_tree_first(all, run); t < soft_tree_last(all, run); t++)
		any |= !all->trees[t].factored;
	for (uint32_t g = run->group_last; any && g-- > run->group_first;) {
		const struct link_group *group = &all->groups[g];
		bool stale = false;
		for (uint32_t i = 0; i < group->lanes; i++)
			stale |= !tree_of(all, group, i)->factored;
		if (stale)
			kernels_of(all, group)->factor(all, group);
	}
	for (uint32_t t = soft_tree_first(all, run); any && t < soft_tree_last(all, run); t++) {
		all->trees[t].version += !all->trees[t].factored;
		all->trees[t].factored = true;
	}
}

/* The velocity at the origin of the body on which a tree hangs. */
static void set_under(struct soft_step *self, const struct soft_tree *tree)
{
	ASSERT(tree->first + tree->count <= self->trees.link_count);
	struct soft_tree_link *link = &self->trees.links[tree->first];
	if (!tree->moving || link->ground == 0)
		return;
	struct body_motion ground = soft_motion(self, link->ground, (double)self->time);
	vec3 r = vec3_sub(tree->origin, ground.centre);
	link->under =
		(struct spatial){ vec3_add(ground.velocity, vec3_cross(ground.angular_velocity, r)),
				  ground.angular_velocity };
}

void soft_tree_solve(struct soft_step *self, const struct tree_run *run, enum tree_pass pass)
{
	struct soft_trees *all = &self->trees;
	ASSERT(run->group_first < run->group_last);
	for (uint32_t g = run->group_last; g-- > run->group_first;)
		kernels_of(all, &all->groups[g])->up(all, &all->groups[g], pass);
	for (uint32_t t = soft_tree_first(all, run); t < soft_tree_last(all, run); t++)
		set_under(self, &all->trees[t]);
	for (uint32_t g = run->group_first; g < run->group_last; g++)
		kernels_of(all, &all->groups[g])->down(all, &all->groups[g], pass);
}

/* ---- a sub-step ------------------------------------------------------------------------------------- */

/* The part of the first half that acts: 1, and less where links turn far. */
static double fade_of(const struct soft_trees *all, const struct soft_tree *tree)
{
	ASSERT(tree->first + tree->count <= all->link_count);
	double most = 0;
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++)
		most = scalar_max(most, vec3_length_squared(all->links[i].velocity.angular));
	most *= all->h * all->h;
	return most > FADE * FADE ? FADE * FADE / most : 1;
}

void soft_tree_before(struct soft_trees *all, const struct tree_run *run, enum tree_pass pass)
{
	ASSERT(run->group_first < run->group_last);
	for (uint32_t t = soft_tree_first(all, run);
	     t < soft_tree_last(all, run) && pass == TREE_SOLVE; t++)
		all->trees[t].half = 0.5 * all->h * fade_of(all, &all->trees[t]);
	for (uint32_t g = run->group_first; g < run->group_last; g++)
		kernels_of(all, &all->groups[g])->before(all, &all->groups[g], pass);
}

void soft_tree_after(struct soft_trees *all, const struct tree_run *run, enum tree_pass pass)
{
	ASSERT(run->group_first < run->group_last);
	for (uint32_t g = run->group_last; g-- > run->group_first;)
		kernels_of(all, &all->groups[g])->after(all, &all->groups[g], pass);
}

/* Moves a floating base. */
static void move_base(struct soft_trees *all, struct soft_tree *tree)
{
	ASSERT(tree->first + tree->count <= all->link_count);
	struct soft_tree_link *base = &all->links[tree->first];
	vec3 sum = vec3_zero();
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++)
		sum = vec3_add(sum, all->links[i].momentum.linear);
	tree->centre = vec3_mul_add(tree->centre, sum, all->h / tree->mass);
	base->rotation = quat_integrate(base->rotation, base->velocity.angular, all->h);
	vec3 r = vec3_sub(base->centre, tree->origin);
	vec3 v = vec3_add(base->velocity.linear, vec3_cross(base->velocity.angular, r));
	base->centre = vec3_mul_add(base->centre, v, all->h);
}

static void move_ball(const struct soft_trees *all, struct soft_tree_link *link)
{
	VALIDATE(link->count <= TREE_AXES_MAX);
	/* Of the child against its parent, in the joint's frame on the parent. */
	vec3 spin = vec3_zero();
	for (uint32_t k = link->first; k < link->first + link->count; k++)
		if (all->axes[k].kind == TREE_BALL)
			vec3_set(&spin, all->axes[k].along, all->axes[k].rate);
	link->ball = quat_integrate(link->ball, link->reversed ? vec3_negate(spin) : spin, all->h);
}

static void move_tree(struct soft_trees *all, struct soft_tree *tree)
{
	ASSERT(tree->first + tree->count <= all->link_count);
	if (tree->floating)
		move_base(all, tree);
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++) {
		struct soft_tree_link *link = &all->links[i];
		bool ball = false;
		for (uint32_t k = link->first; k < link->first + link->count; k++) {
			struct tree_axis *axis = &all->axes[k];
			ball |= axis->kind == TREE_BALL;
			axis->q += all->h * axis->rate;
		}
		if (ball)
			move_ball(all, link);
	}
}

void soft_tree_move(struct soft_step *self, const struct tree_run *run, double now)
{
	struct soft_trees *all = &self->trees;
	ASSERT(run->group_first < run->group_last);
	for (uint32_t t = soft_tree_first(all, run); t < soft_tree_last(all, run); t++)
		move_tree(all, &all->trees[t]);
	soft_tree_place(self, run, now, false);
}

/* What blocks of contacts read of a link. */
void soft_tree_write(struct soft_step *self, const struct soft_tree *tree, double now, bool touched)
{
	ASSERT(tree->first + tree->count <= self->trees.link_count);
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++) {
		const struct soft_tree_link *link = &self->trees.links[i];
		if (touched && !link->touched)
			continue;
		const struct soft_drive *drive = &self->drives[link->number];
		uint32_t row = self->rows[link->number - 1];
		struct soft_body *to = &self->bodies[link->number];
		vec3 r = vec3_sub(link->centre, tree->origin), w = link->velocity.angular;
		vec3 v = vec3_add(link->velocity.linear, vec3_cross(w, r));
		vec3 way = vec3_sub(link->centre, self->dynamics->bodies.items[row].centre);
		way = vec3_mul_add(way, drive->start.velocity.linear, -now);
		v = vec3_sub(v, drive->start.velocity.linear);
		w = vec3_sub(w, drive->start.velocity.angular);
		quat q = quat_mul(link->rotation,
				  quat_conjugate(self->dynamics->tables->body.rotation[row]));
		to->velocity = (float4){ (float)v.x, (float)v.y, (float)v.z, 0 };
		to->spin = (float4){ (float)w.x, (float)w.y, (float)w.z, 0 };
		to->shift = (float4){ (float)way.x, (float)way.y, (float)way.z, 0 };
		to->turn = (float4){ (float)q.x, (float)q.y, (float)q.z, (float)q.w };
	}
}
