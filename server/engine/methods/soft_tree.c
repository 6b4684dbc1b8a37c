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
#include "server/engine/math/trig.h"

/* rad a sub-step. */
#define FADE 0.5
/* 1. Of s A s before axes of its link give way. Below it is rounding, and the axis is held. */
#define PIVOT_MIN 1e-12

/* ---- inertia ------------------------------------------------------------------------------------ */

/* Number by number: a load of two that were just stored one by one waits. */
ALWAYS_INLINE void apply_inertia(const struct tree_inertia *a, const struct spatial *v,
				 struct spatial *out)
{
	double vx = v->linear.x, vy = v->linear.y, vz = v->linear.z;
	double wx = v->angular.x, wy = v->angular.y, wz = v->angular.z;
	const mat3 *c = &a->cross; /* by columns */
	out->linear.x = a->along.xx * vx + a->along.xy * vy + a->along.zx * vz +
			(c->x.x * wx + c->y.x * wy + c->z.x * wz);
	out->linear.y = a->along.xy * vx + a->along.yy * vy + a->along.yz * vz +
			(c->x.y * wx + c->y.y * wy + c->z.y * wz);
	out->linear.z = a->along.zx * vx + a->along.yz * vy + a->along.zz * vz +
			(c->x.z * wx + c->y.z * wy + c->z.z * wz);
	out->angular.x = c->x.x * vx + c->x.y * vy + c->x.z * vz +
			 (a->about.xx * wx + a->about.xy * wy + a->about.zx * wz);
	out->angular.y = c->y.x * vx + c->y.y * vy + c->y.z * vz +
			 (a->about.xy * wx + a->about.yy * wy + a->about.yz * wz);
	out->angular.z = c->z.x * vx + c->z.y * vy + c->z.z * vz +
			 (a->about.zx * wx + a->about.yz * wy + a->about.zz * wz);
}

struct spatial soft_tree_inertia_apply(const struct tree_inertia *inertia, const struct spatial *v)
{
	struct spatial out;
	apply_inertia(inertia, v, &out);
	return out;
}

/* a −= x xᵀ scale. */
static inline void take_square(struct tree_inertia *a, const struct spatial *x, double scale)
{
	vec3 f = x->linear, n = x->angular, sf = vec3_scale(f, scale), sn = vec3_scale(n, scale);
	a->along.xx -= f.x * sf.x;
	a->along.yy -= f.y * sf.y;
	a->along.zz -= f.z * sf.z;
	a->along.xy -= f.x * sf.y;
	a->along.yz -= f.y * sf.z;
	a->along.zx -= f.z * sf.x;
	a->about.xx -= n.x * sn.x;
	a->about.yy -= n.y * sn.y;
	a->about.zz -= n.z * sn.z;
	a->about.xy -= n.x * sn.y;
	a->about.yz -= n.y * sn.z;
	a->about.zx -= n.z * sn.x;
	a->cross = mat3_sub(a->cross, mat3_outer(f, sn));
}

static inline void add_inertia(struct tree_inertia *to, const struct tree_inertia *a)
{
	to->along = sym3_add(to->along, a->along);
	to->about = sym3_add(to->about, a->about);
	to->cross = mat3_add(to->cross, a->cross);
}

/* Of a body whose mass centre is at r. */
static void set_inertia(struct tree_inertia *to, double mass, vec3 r, sym3 about)
{
	double square = vec3_length_squared(r);
	to->along = sym3_diagonal(vec3_all(mass));
	to->cross = mat3_scale(mat3_skew(r), -mass);
	to->about =
		sym3_add(about, sym3_make(mass * (square - r.x * r.x), mass * (square - r.y * r.y),
					  mass * (square - r.z * r.z), -mass * r.x * r.y,
					  -mass * r.y * r.z, -mass * r.z * r.x));
}

static struct spatial add(struct spatial a, struct spatial b)
{
	return spatial_mul_add(a, b, 1);
}

/* ---- poses ---------------------------------------------------------------------------------------- */

static quat turned_about(quat frame, uint32_t axis, double angle)
{
	double sine, cosine;
	trig_sincos(0.5 * angle, &sine, &cosine);
	vec3 v = vec3_zero();
	vec3_set(&v, axis, sine);
	return quat_mul(frame, quat_from_parts(cosine, v));
}

static vec3 axis_of(quat frame, uint32_t axis)
{
	return quat_rotate(frame, vec3_axis(axis));
}

/* Moves p by the slides of a link, along the axes of the joint's frame on a. */
static vec3 slide_along(struct tree_axis *axes, const struct soft_tree_link *link, quat frame,
			vec3 p)
{
	VALIDATE(link->count <= TREE_AXES_MAX);
	double sign = link->reversed ? -1 : 1;
	if (link->locked.x != 0 || link->locked.y != 0 || link->locked.z != 0)
		p = vec3_mul_add(p, quat_rotate(frame, link->locked), sign);
	for (uint32_t k = link->first; k < link->first + link->count; k++) {
		if (axes[k].kind != TREE_SLIDE)
			continue;
		axes[k].direction = vec3_scale(axis_of(frame, axes[k].along), sign);
		p = vec3_mul_add(p, axes[k].direction, axes[k].q);
	}
	return p;
}

/* Turns the frame by the turns of a link at p. */
static quat turn_frame(struct tree_axis *axes, const struct soft_tree_link *link, quat frame,
		       vec3 p)
{
	VALIDATE(link->count <= TREE_AXES_MAX);
	double sign = link->reversed ? -1 : 1;
	bool ball = false;
	for (uint32_t k = link->first; k < link->first + link->count; k++) {
		struct tree_axis *axis = &axes[k];
		if (axis->kind == TREE_SLIDE)
			continue;
		axis->at = p;
		axis->direction = vec3_scale(axis_of(frame, axis->along), sign);
		ball |= axis->kind == TREE_BALL;
		if (axis->kind == TREE_TURN)
			frame = turned_about(frame, axis->along, sign * axis->q);
	}
	return ball ? quat_mul(frame, link->ball) : frame;
}

/* The pose of a link from that of its parent. */
static void pose_link(struct tree_axis *axes, struct soft_tree_link *link, quat parent_rotation,
		      vec3 parent_centre)
{
	VALIDATE(link->count <= TREE_AXES_MAX);
	quat frame = quat_mul(parent_rotation, link->frame_parent);
	vec3 p = vec3_add(parent_centre, quat_rotate(parent_rotation, link->point_parent));
	if (link->reversed) {
		link->anchor = p;
		frame = turn_frame(axes, link, frame, p);
		p = slide_along(axes, link, frame, p);
	} else {
		p = slide_along(axes, link, frame, p);
		link->anchor = p;
		frame = turn_frame(axes, link, frame, p);
	}
	link->rotation = quat_mul(frame, quat_conjugate(link->frame_own));
	link->centre = vec3_sub(p, quat_rotate(link->rotation, link->point_own));
}

/* Axes and inertia of a link at its pose. */
static void derive_link(const struct soft_tree *tree, struct tree_axis *axes,
			struct soft_tree_link *link)
{
	VALIDATE(link->count <= TREE_AXES_MAX);
	for (uint32_t k = link->first; k < link->first + link->count; k++) {
		struct tree_axis *axis = &axes[k];
		if (axis->kind == TREE_BASE)
			continue;
		if (axis->kind == TREE_SLIDE) {
			axis->s = (struct spatial){ axis->direction, vec3_zero() };
			continue;
		}
		vec3 r = vec3_sub(axis->at, tree->origin);
		axis->s = (struct spatial){ vec3_cross(r, axis->direction), axis->direction };
	}
	sym3 about = sym3_rotate(mat3_from_quat(link->rotation), link->inertia);
	set_inertia(&link->own, link->mass, vec3_sub(link->centre, tree->origin), about);
}

/* The motion of the body on which a link of a tree hangs. */
static struct body_motion ground_motion(struct soft_step *self, const struct soft_tree_link *link,
					double now)
{
	VALIDATE(link->count <= TREE_AXES_MAX);
	if (link->ground == 0)
		return (struct body_motion){ .rotation = quat_identity() };
	return soft_motion(self, link->ground, now);
}

static void shift_tree(struct soft_trees *all, struct soft_tree *tree)
{
	ASSERT(tree->first + tree->count <= all->link_count);
	vec3 sum = vec3_zero();
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++)
		sum = vec3_mul_add(sum, all->links[i].centre, all->links[i].mass);
	vec3 by = vec3_sub(tree->centre, vec3_scale(sum, 1 / tree->mass));
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++) {
		struct soft_tree_link *link = &all->links[i];
		link->centre = vec3_add(link->centre, by);
		link->anchor = vec3_add(link->anchor, by);
		for (uint32_t k = link->first; k < link->first + link->count; k++)
			all->axes[k].at = vec3_add(all->axes[k].at, by);
	}
}

void soft_tree_place(struct soft_step *self, struct soft_tree *tree, double now)
{
	ASSERT(tree->first + tree->count <= self->trees.link_count);
	struct soft_trees *all = &self->trees;
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++) {
		struct soft_tree_link *link = &all->links[i];
		if (link->parent != TREE_NONE) {
			const struct soft_tree_link *parent = &all->links[link->parent];
			pose_link(all->axes, link, parent->rotation, parent->centre);
		} else if (link->joint != TREE_NONE) {
			struct body_motion ground = ground_motion(self, link, now);
			pose_link(all->axes, link, ground.rotation, ground.centre);
		}
	}
	if (tree->floating)
		shift_tree(all, tree);
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++)
		derive_link(tree, all->axes, &all->links[i]);
	tree->factored = false;
}

/* ---- recursions ------------------------------------------------------------------------------------ */

static double added_to(const struct tree_axis *axis)
{
	VALIDATE(axis->kind <= TREE_BASE);
	const struct tree_part *part = axis->part;
	if (part == NULL)
		return 0;
	return part->armature + part->spring_damp + (part->servo_at == 0 ? part->servo_damp : 0);
}

static void factor_axis(struct soft_tree_link *link, struct tree_axis *axis, double whole)
{
	VALIDATE(axis->kind <= TREE_BASE);
	apply_inertia(&link->all, &axis->s, &axis->u);
	double plain = spatial_dot(axis->s, axis->u);
	axis->mass = plain + added_to(axis);
	axis->held = axis->part != NULL && axis->part->hold != TREE_FREE;
	axis->inverse = axis->root = 0;
	if (axis->held)
		return;
	if (!(axis->mass > PIVOT_MIN * whole)) {
		axis->held = true;
		axis->speed = 0;
		return;
	}
	axis->inverse = 1 / axis->mass;
	axis->root = scalar_sqrt(axis->inverse);
	take_square(&link->all, &axis->u, axis->inverse);
}

void soft_tree_factor(struct soft_trees *all, struct soft_tree *tree)
{
	ASSERT(tree->first + tree->count <= all->link_count);
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++)
		all->links[i].all = all->links[i].own;
	for (uint32_t i = tree->first + tree->count; i-- > tree->first;) {
		struct soft_tree_link *link = &all->links[i];
		double whole[TREE_AXES_MAX] = { 0 };
		for (uint32_t k = 0; k < link->count && link->count > 1; k++) {
			const struct tree_axis *axis = &all->axes[link->first + k];
			struct spatial u;
			if (axis->kind != TREE_TURN)
				continue;
			apply_inertia(&link->all, &axis->s, &u);
			whole[k] = spatial_dot(axis->s, u);
		}
		for (uint32_t k = link->count; k-- > 0;)
			factor_axis(link, &all->axes[link->first + k], whole[k]);
		if (link->parent != TREE_NONE)
			add_inertia(&all->links[link->parent].all, &link->all);
	}
	tree->factored = true;
	tree->version++;
}

void soft_tree_up(struct soft_trees *all, const struct soft_tree *tree, bool biased)
{
	ASSERT(tree->first + tree->count <= all->link_count);
	for (uint32_t i = tree->first + tree->count; i-- > tree->first;) {
		struct soft_tree_link *link = &all->links[i];
		struct spatial p = link->impulse;
		for (uint32_t k = link->first + link->count; k-- > link->first;) {
			struct tree_axis *axis = &all->axes[k];
			axis->drive = axis->given - spatial_dot(axis->s, p);
			double by = axis->held ? axis->speed : axis->drive * axis->inverse;
			p = spatial_mul_add(p, axis->u, by);
		}
		if (link->parent == TREE_NONE)
			continue;
		struct spatial *to = &all->links[link->parent].impulse;
		*to = add(*to, p);
		if (!biased)
			continue;
		struct spatial bias;
		apply_inertia(&link->all, &link->bias, &bias);
		*to = add(*to, bias);
	}
}

/* The velocity at the origin of the body on which a link hangs. */
static struct spatial ground_velocity(struct soft_step *self, const struct soft_tree *tree,
				      const struct soft_tree_link *link)
{
	ASSERT(tree->first + tree->count <= self->trees.link_count);
	if (!tree->moving || link->ground == 0)
		return spatial_zero();
	struct body_motion ground = soft_motion(self, link->ground, (double)self->time);
	vec3 r = vec3_sub(tree->origin, ground.centre);
	return (struct spatial){ vec3_add(ground.velocity, vec3_cross(ground.angular_velocity, r)),
				 ground.angular_velocity };
}

void soft_tree_down(struct soft_step *self, struct soft_trees *all, const struct soft_tree *tree)
{
	ASSERT(tree->first + tree->count <= all->link_count);
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++) {
		struct soft_tree_link *link = &all->links[i];
		if (link->parent == TREE_NONE)
			link->under = ground_velocity(self, tree, link);
		struct spatial y =
			link->parent != TREE_NONE ? all->links[link->parent].velocity : link->under;
		y = add(y, link->bias);
		for (uint32_t k = link->first; k < link->first + link->count; k++) {
			struct tree_axis *axis = &all->axes[k];
			double across = spatial_dot(axis->u, y);
			if (axis->held) {
				axis->rate = axis->speed;
				if (axis->part != NULL) /* what holds it */
					axis->given =
						across + axis->mass * axis->speed - axis->drive;
			} else
				axis->rate = (axis->drive - across) * axis->inverse;
			y = spatial_mul_add(y, axis->s, axis->rate);
		}
		link->velocity = y;
	}
}

/* ---- a sub-step ------------------------------------------------------------------------------------- */

/* v × s: how a motion fixed in what moves with v changes. */
static struct spatial carried_by(const struct spatial *v, const struct spatial *s)
{
	return (struct spatial){ vec3_add(vec3_cross(v->angular, s->linear),
					  vec3_cross(v->linear, s->angular)),
				 vec3_cross(v->angular, s->angular) };
}

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

static void set_half(struct soft_trees *all, const struct soft_tree *tree)
{
	ASSERT(tree->first + tree->count <= all->link_count);
	double half = 0.5 * all->h * fade_of(all, tree);
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++) {
		struct soft_tree_link *link = &all->links[i];
		const struct spatial *v = &link->velocity, *m = &link->momentum;
		link->bias = spatial_zero();
		link->turning =
			(struct spatial){ vec3_scale(vec3_cross(v->angular, m->linear), -half),
					  vec3_scale(vec3_add(vec3_cross(v->angular, m->angular),
							      vec3_cross(v->linear, m->linear)),
						     -half) };
		if (link->joint == TREE_NONE)
			continue;
		struct spatial y =
			link->parent != TREE_NONE ? all->links[link->parent].velocity : link->under;
		struct spatial base = y;
		for (uint32_t k = link->first; k < link->first + link->count; k++) {
			const struct tree_axis *axis = &all->axes[k];
			if (axis->kind != TREE_BALL || k == link->first ||
			    all->axes[k - 1].kind != TREE_BALL)
				base = y; /* a ball's axes are fixed in its parent */
			struct spatial c = carried_by(&base, &axis->s);
			link->bias = spatial_mul_add(link->bias, c, half * axis->rate);
			y = spatial_mul_add(y, axis->s, axis->rate);
		}
	}
}

/* What forces and damping give a link in a sub-step. */
static struct spatial given_to(const struct soft_tree *tree, const struct soft_tree_link *link)
{
	VALIDATE(link->count <= TREE_AXES_MAX);
	vec3 r = vec3_sub(link->centre, tree->origin), force = link->force, torque = link->torque;
	if (link->damped) {
		vec3 p = link->momentum.linear;
		vec3 own = vec3_sub(link->momentum.angular, vec3_cross(r, p));
		force = vec3_mul_add(force, p, link->keep - 1);
		torque = vec3_mul_add(torque, own, link->spin_keep - 1);
	}
	return (struct spatial){ force, vec3_add(torque, vec3_cross(r, force)) };
}

void soft_tree_before(struct soft_trees *all, struct soft_tree *tree, bool biased)
{
	ASSERT(tree->first + tree->count <= all->link_count);
	if (biased)
		set_half(all, tree);
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++) {
		struct soft_tree_link *link = &all->links[i];
		if (biased) {
			link->given = given_to(tree, link);
			link->before = link->velocity;
		} else {
			link->bias = link->turning = link->given = spatial_zero();
		}
		link->lacking = spatial_negate(add(link->momentum, link->given));
		link->pushed = spatial_zero();
	}
	for (uint32_t k = tree->axis_first; k < tree->axis_first + tree->axis_count; k++)
		all->axes[k].before = all->axes[k].rate;
}

/* Adds what joints gave links to their loads, from the leaves up. */
void soft_tree_add_loads(struct soft_trees *all, const struct soft_tree *tree)
{
	ASSERT(tree->first + tree->count <= all->link_count);
	for (uint32_t i = tree->first + tree->count; i-- > tree->first;) {
		struct soft_tree_link *link = &all->links[i];
		struct spatial on = link->lacking;
		if (link->parent != TREE_NONE) {
			struct spatial *to = &all->links[link->parent].lacking;
			*to = add(*to, on);
		}
		vec3 r = vec3_sub(link->anchor, tree->origin);
		on.angular = vec3_sub(on.angular, vec3_cross(r, on.linear));
		link->load = spatial_mul_add(link->load, on, link->reversed ? -1 : 1);
	}
}

/* Momenta after a pass, and what joints gave each link in it, at the poses at which they gave it. */
void soft_tree_after(struct soft_trees *all, struct soft_tree *tree, bool biased)
{
	ASSERT(tree->first + tree->count <= all->link_count);
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++) {
		struct soft_tree_link *link = &all->links[i];
		apply_inertia(&link->own, &link->velocity, &link->momentum);
		if (biased)
			link->momentum = spatial_mul_add(link->momentum, link->turning, -1);
		link->lacking = spatial_mul_add(link->lacking, link->pushed, -1);
		link->lacking = add(link->lacking, link->momentum);
	}
	soft_tree_add_loads(all, tree);
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

void soft_tree_move(struct soft_step *self, struct soft_tree *tree, double now)
{
	ASSERT(tree->first + tree->count <= self->trees.link_count);
	struct soft_trees *all = &self->trees;
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
	soft_tree_place(self, tree, now);
}

/* What blocks of contacts read of a link. */
void soft_tree_write(struct soft_step *self, const struct soft_tree *tree, double now)
{
	ASSERT(tree->first + tree->count <= self->trees.link_count);
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++) {
		const struct soft_tree_link *link = &self->trees.links[i];
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
