/* soft_tree_passes.h: the recursions of soft_tree.c over links of trees, TREE_LANES side by side. A file
 * per width defines it and TREE_KERNELS, the name of its table, and includes this once.
 *
 * The links of a group (soft_tree.h) have as many axes of the same kinds and as many children each, so
 * all branches are those of the group. What children leave for their parent (sent, sent_bias, all,
 * lacking) the parent adds in their order, the last one first. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_TREE_PASSES_H
#define CAIRN_ENGINE_METHODS_SOFT_TREE_PASSES_H

#include "server/engine/math/trig.h"
#include "server/engine/methods/soft_tree_lanes.h"

#ifndef TREE_KERNELS
#define TREE_KERNELS tree_kernels_1
#endif

/* 1. Of s A s before axes of its link give way. Below it is rounding, and the axis is held. */
#define PIVOT_MIN 1e-12

/* Numbers of an axis from its mass on. */
enum {
	AXIS_MASS,
	AXIS_INVERSE,
	AXIS_ROOT,
	AXIS_DRIVE,
	AXIS_GIVEN,
	AXIS_SPEED,
	AXIS_RATE,
	AXIS_Q,
	AXIS_NUMBERS
};

/* Numbers of a link from `before` on. */
struct tv_changes {
	struct tv_spatial before, turning, bias, given, pushed, lacking;
};

ALWAYS_INLINE const struct soft_tree_link *any_link(const struct soft_trees *all,
						    const struct link_group *group)
{
	return &all->links[group->link[0]];
}

ALWAYS_INLINE struct tree_places tree_places_of(const struct soft_trees *all,
						const struct link_group *group)
{
	struct tree_places out;
	LANES_UNROLL
	for (uint32_t i = 0; i < TREE_LANES; i++)
		out.at[i] = (char *)&all->trees[all->tree_of_link[group->link[i]]];
	return out;
}

/* The child after `before` of each link (TREE_NONE: the first to be added). */
ALWAYS_INLINE struct tree_places next_children(const struct soft_trees *all,
					       uint32_t child[TREE_LANES])
{
	struct tree_places out = tree_link_places(all, child);
	LANES_UNROLL
	for (uint32_t i = 0; i < TREE_LANES; i++)
		child[i] = all->links[child[i]].sibling;
	return out;
}

ALWAYS_INLINE void first_children(const struct soft_trees *all, const struct link_group *group,
				  uint32_t child[TREE_LANES])
{
	LANES_UNROLL
	for (uint32_t i = 0; i < TREE_LANES; i++)
		child[i] = all->links[group->link[i]].child;
}

/* The velocity of what a link hangs on. */
ALWAYS_INLINE struct tv_spatial velocity_below(const struct soft_trees *all,
					       const struct link_group *group)
{
	struct tree_places from;
	LANES_UNROLL
	for (uint32_t i = 0; i < TREE_LANES; i++) {
		const struct soft_tree_link *link = &all->links[group->link[i]];
		from.at[i] = link->parent != TREE_NONE ? (char *)&all->links[link->parent].velocity
						       : (char *)&link->under;
	}
	return tv_gather_spatial(&from, 0);
}

#define LINK_SPATIAL(places, member)                                                               \
	tv_gather_spatial(places, offsetof(struct soft_tree_link, member))
#define LINK_SCATTER(places, member, count, from)                                                  \
	TV_SCATTER(places, struct soft_tree_link, member, count, from)
#define LINK_GATHER(places, member, count, out)                                                    \
	TV_GATHER(places, struct soft_tree_link, member, count, out)

/* ---- poses ----------------------------------------------------------------------------------- */

/* A pose on the way from a parent to its link. */
struct tv_walk {
	struct tv4 frame;
	struct tv3 p;
};

ALWAYS_INLINE struct tv3 axis_along(struct tv4 frame, uint32_t along, tv sign)
{
	struct tv3 e = { tv_all(along == 0), tv_all(along == 1), tv_all(along == 2) };
	return tv3_scale(tv4_rotate(frame, e), sign);
}

ALWAYS_INLINE struct tv4 turned_about(struct tv4 frame, uint32_t along, tv angle)
{
	tv half = tv_all(0.5) * angle, zero = tv_all(0), sine = zero, cosine = zero;
#if TREE_LANES == 1
	trig_sincos(half, &sine, &cosine);
#else
	for (uint32_t i = 0; i < TREE_LANES; i++) {
		double s, c;
		trig_sincos(half[i], &s, &c);
		sine[i] = s;
		cosine[i] = c;
	}
#endif
	struct tv4 turn = { cosine, along == 0 ? sine : zero, along == 1 ? sine : zero,
			    along == 2 ? sine : zero };
	return tv4_mul(frame, turn);
}

/* Moves by the slides of links, along the axes of the joint's frame on a. */
ALWAYS_INLINE void slide_group(const struct soft_trees *all, const struct link_group *group,
			       struct tv3 locked, struct tv_walk *walk)
{
	const struct soft_tree_link *any = any_link(all, group);
	tv sign = tv_all(any->reversed ? -1 : 1);
	if (soft_tree_is_offset(any))
		walk->p = tv3_mul_add(walk->p, tv4_rotate(walk->frame, locked), sign);
	for (uint32_t k = 0; k < any->count; k++) {
		const struct tree_axis *axis = &all->axes[any->first + k];
		if (axis->kind != TREE_SLIDE)
			continue;
		struct tree_places axes = tree_axis_places(all, group->link, k);
		struct tv3 way[2] = { axis_along(walk->frame, axis->along, sign), walk->p };
		walk->p = tv3_mul_add(walk->p, way[0], TV_ONE(&axes, struct tree_axis, q));
		TV_SCATTER(&axes, struct tree_axis, direction, 6, way);
	}
}

/* Turns by the turns of links. */
ALWAYS_INLINE void turn_group(const struct soft_trees *all, const struct link_group *group,
			      struct tv4 ball, struct tv_walk *walk)
{
	const struct soft_tree_link *any = any_link(all, group);
	tv sign = tv_all(any->reversed ? -1 : 1);
	bool is_ball = false;
	for (uint32_t k = 0; k < any->count; k++) {
		const struct tree_axis *axis = &all->axes[any->first + k];
		if (axis->kind == TREE_SLIDE)
			continue;
		struct tree_places axes = tree_axis_places(all, group->link, k);
		struct tv3 way[2] = { axis_along(walk->frame, axis->along, sign), walk->p };
		TV_SCATTER(&axes, struct tree_axis, direction, 6, way);
		is_ball |= axis->kind == TREE_BALL;
		if (axis->kind == TREE_TURN)
			walk->frame = turned_about(walk->frame, axis->along,
						   sign * TV_ONE(&axes, struct tree_axis, q));
	}
	if (is_ball)
		walk->frame = tv4_mul(walk->frame, ball);
}

/* Poses of links from those of their parents. */
static void pose_group(const struct soft_trees *all, const struct link_group *group)
{
	const struct soft_tree_link *any = any_link(all, group);
	struct tree_places links = tree_link_places(all, group->link), on;
	if (any->joint == TREE_NONE)
		return;
	LANES_UNROLL
	for (uint32_t i = 0; i < TREE_LANES; i++) {
		const struct soft_tree_link *link = &all->links[group->link[i]];
		on.at[i] = link->parent != TREE_NONE ? (char *)&all->links[link->parent].rotation
						     : (char *)&link->ground_rotation;
	}
	struct tv_pose parent, at_parent, at_own, turn; /* turn: ball, locked */
	struct {
		struct tv_pose pose;
		struct tv3 anchor;
	} out;
	tv_gather(&on, 0, 7, &parent);
	LINK_GATHER(&links, frame_parent, 7, &at_parent);
	LINK_GATHER(&links, frame_own, 7, &at_own);
	LINK_GATHER(&links, ball, 7, &turn);
	struct tv_walk walk = { tv4_mul(parent.rotation, at_parent.rotation),
				tv3_add(parent.centre,
					tv4_rotate(parent.rotation, at_parent.centre)) };
	if (!any->reversed)
		slide_group(all, group, turn.centre, &walk);
	out.anchor = walk.p;
	turn_group(all, group, turn.rotation, &walk);
	if (any->reversed)
		slide_group(all, group, turn.centre, &walk);
	out.pose.rotation = tv4_mul(walk.frame, tv4_conjugate(at_own.rotation));
	out.pose.centre = tv3_sub(walk.p, tv4_rotate(out.pose.rotation, at_own.centre));
	LINK_SCATTER(&links, rotation, 10, &out);
}

/* Of bodies whose mass centres are at r; `about`: about these. */
ALWAYS_INLINE struct tv_inertia inertia_at(tv mass, struct tv3 r, struct tv_sym3 about)
{
	tv zero = tv_all(0), square = tv3_dot(r, r);
	struct tv_sym3 shift = { mass * (square - r.x * r.x), mass * (square - r.y * r.y),
				 mass * (square - r.z * r.z), -mass * r.x * r.y,
				 -mass * r.y * r.z,	      -mass * r.z * r.x };
	struct tv_mat3 skew = { { zero, r.z, -r.y }, { -r.z, zero, r.x }, { r.y, -r.x, zero } };
	return (struct tv_inertia){ { mass, mass, mass, zero, zero, zero },
				    tv_sym3_add(about, shift),
				    { tv3_scale(skew.x, -mass), tv3_scale(skew.y, -mass),
				      tv3_scale(skew.z, -mass) } };
}

/* Axes and inertias of links at their poses, which floating trees shift. */
static void derive_group(const struct soft_trees *all, const struct link_group *group)
{
	const struct soft_tree_link *any = any_link(all, group);
	bool floating = all->trees[all->tree_of_link[group->link[0]]].floating;
	struct tree_places links = tree_link_places(all, group->link),
			   trees = tree_places_of(all, group);
	struct tv3 tree[2]; /* origin, shift */
	struct {
		struct tv_pose pose;
		struct tv3 anchor;
	} at;
	struct {
		tv mass;
		struct tv_sym3 about;
	} body;
	TV_GATHER(&trees, struct soft_tree, origin, 6, tree);
	LINK_GATHER(&links, rotation, 10, &at);
	LINK_GATHER(&links, mass, 7, &body);
	if (floating) {
		at.pose.centre = tv3_add(at.pose.centre, tree[1]);
		at.anchor = tv3_add(at.anchor, tree[1]);
		LINK_SCATTER(&links, centre, 6, &at.pose.centre);
	}
	for (uint32_t k = 0; k < any->count; k++) {
		const struct tree_axis *axis = &all->axes[any->first + k];
		if (axis->kind == TREE_BASE)
			continue;
		struct tree_places axes = tree_axis_places(all, group->link, k);
		struct tv3 way[2]; /* direction, at */
		TV_GATHER(&axes, struct tree_axis, direction, 6, way);
		struct tv_spatial s = { way[0], tv_spatial_zero().angular };
		if (axis->kind != TREE_SLIDE) {
			struct tv3 p = floating ? tv3_add(way[1], tree[1]) : way[1];
			s.linear = tv3_cross(tv3_sub(p, tree[0]), way[0]);
			s.angular = way[0];
		}
		TV_SCATTER(&axes, struct tree_axis, s, 6, &s);
	}
	struct tv_mat3 r = tv_mat3_from_quat(at.pose.rotation);
	struct tv_inertia own = inertia_at(body.mass, tv3_sub(at.pose.centre, tree[0]),
					   tv_sym3_rotate(&r, body.about));
	LINK_SCATTER(&links, own, 21, &own);
}

/* ---- factor ----------------------------------------------------------------------------------- */

ALWAYS_INLINE tv tv_root(tv v)
{
#if TREE_LANES == 1
	return scalar_sqrt(v);
#else
	LANES_UNROLL
	for (uint32_t i = 0; i < TREE_LANES; i++)
		v[i] = scalar_sqrt(v[i]);
	return v;
#endif
}

ALWAYS_INLINE bool is_set(tv_mask mask, uint32_t lane)
{
#if TREE_LANES == 1
	UNUSED(lane);
	return mask != 0;
#else
	return mask[lane] != 0;
#endif
}

ALWAYS_INLINE double lane_of(tv v, uint32_t lane)
{
#if TREE_LANES == 1
	UNUSED(lane);
	return v;
#else
	return v[lane];
#endif
}

ALWAYS_INLINE bool all_set(tv_mask mask)
{
	bool set = true;
	LANES_UNROLL
	for (uint32_t i = 0; i < TREE_LANES; i++)
		set &= is_set(mask, i);
	return set;
}

/* What acts on axes by itself adds to their masses. */
ALWAYS_INLINE void part_of_axis(const struct tree_axis *axis, double *added, bool *held)
{
	const struct tree_part *part = axis->part;
	*added = 0;
	*held = false;
	if (part == NULL)
		return;
	*added = part->armature + part->spring_damp + (part->servo_at == 0 ? part->servo_damp : 0);
	*held = part->hold != TREE_FREE;
}

/* Axes give way, or are held. */
ALWAYS_INLINE void factor_axes(const struct soft_trees *all, const struct link_group *group,
			       uint32_t k, tv whole, struct tv_inertia *a)
{
	struct tree_places axes = tree_axis_places(all, group->link, k);
	struct tv_spatial s = tv_gather_spatial(&axes, offsetof(struct tree_axis, s));
	struct tv_spatial u = tv_inertia_apply(a, s);
	double added[TREE_LANES];
	bool held[TREE_LANES], any_held = false;
	LANES_UNROLL
	for (uint32_t i = 0; i < TREE_LANES; i++) {
		part_of_axis((const struct tree_axis *)axes.at[i], &added[i], &held[i]);
		any_held |= held[i];
	}
#if TREE_LANES == 4
	tv more = { added[0], added[1], added[2], added[3] };
#elif TREE_LANES == 2
	tv more = { added[0], added[1] };
#else
	tv more = added[0];
#endif
	tv mass = tv_spatial_dot(s, u) + more;
	tv_mask gives = mass > tv_all(PIVOT_MIN) * whole;
	if (any_held) {
#if TREE_LANES == 1
		gives = 0;
#else
		LANES_UNROLL
		for (uint32_t i = 0; i < TREE_LANES; i++)
			gives[i] = held[i] ? 0 : gives[i];
#endif
	}
	tv inverse = tv_all(1) / mass, zero = tv_all(0);
	bool every = all_set(gives);
	if (!every)
		inverse = tv_select(gives, inverse, zero);
	tv numbers[4] = { mass, inverse, tv_root(inverse), zero };
	struct tv_inertia less = tv_inertia_take(a, u, inverse);
	*a = every ? less : tv_inertia_select(gives, &less, a);
	TV_SCATTER(&axes, struct tree_axis, u, 6, &u);
	TV_SCATTER(&axes, struct tree_axis, mass, 4, numbers);
	for (uint32_t i = 0; i < TREE_LANES && !every; i++)
		if (!is_set(gives, i) && !held[i])
			((struct tree_axis *)axes.at[i])->speed = 0;
}

/* From the leaves. */
static void factor_group(const struct soft_trees *all, const struct link_group *group)
{
	const struct soft_tree_link *any = any_link(all, group);
	struct tree_places links = tree_link_places(all, group->link);
	struct tv_inertia a, more;
	uint32_t child[TREE_LANES];
	tv whole[TREE_AXES_MAX];
	LINK_GATHER(&links, own, 21, &a);
	first_children(all, group, child);
	for (uint32_t c = 0; c < group->children; c++) {
		struct tree_places children = next_children(all, child);
		LINK_GATHER(&children, all, 21, &more);
		a = tv_inertia_add(&a, &more);
	}
	for (uint32_t k = 0; k < any->count; k++) {
		whole[k] = tv_all(0);
		if (all->axes[any->first + k].kind != TREE_TURN || any->count == 1)
			continue;
		struct tree_places axes = tree_axis_places(all, group->link, k);
		struct tv_spatial s = tv_gather_spatial(&axes, offsetof(struct tree_axis, s));
		whole[k] = tv_spatial_dot(s, tv_inertia_apply(&a, s));
	}
	for (uint32_t k = any->count; k-- > 0;)
		factor_axes(all, group, k, whole[k], &a);
	if (any->parent != TREE_NONE)
		LINK_SCATTER(&links, all, 21, &a);
}

/* ---- velocities of momenta --------------------------------------------------------------------- */

/* What links need beyond A v, from the leaves. */
static void up_group(const struct soft_trees *all, const struct link_group *group,
		     enum tree_pass pass)
{
	const struct soft_tree_link *any = any_link(all, group);
	struct tree_places links = tree_link_places(all, group->link);
	struct tv_spatial p = LINK_SPATIAL(&links, momentum), bias;
	uint32_t child[TREE_LANES];
	if (pass == TREE_SOLVE) {
		p = tv_spatial_add(p, LINK_SPATIAL(&links, given));
		p = tv_spatial_add(p, LINK_SPATIAL(&links, turning));
	}
	if (pass == TREE_RELAX) /* so that −0 is 0 */
		p = tv_spatial_add(p, tv_spatial_zero());
	if (pass != TREE_BEGIN)
		p = tv_spatial_add(p, LINK_SPATIAL(&links, pushed));
	p = tv_spatial_negate(p);
	first_children(all, group, child);
	for (uint32_t c = 0; c < group->children; c++) {
		struct tree_places children = next_children(all, child);
		p = tv_spatial_add(p, LINK_SPATIAL(&children, sent));
		if (pass == TREE_SOLVE)
			p = tv_spatial_add(p, LINK_SPATIAL(&children, sent_bias));
	}
	for (uint32_t k = any->count; k-- > 0;) {
		struct tree_places axes = tree_axis_places(all, group->link, k);
		struct tv_spatial su[2];
		tv n[AXIS_NUMBERS];
		TV_GATHER(&axes, struct tree_axis, s, 12, su);
		TV_GATHER(&axes, struct tree_axis, mass, AXIS_NUMBERS, n);
		tv drive = n[AXIS_GIVEN] - tv_spatial_dot(su[0], p);
		tv by = tv_select(n[AXIS_INVERSE] == tv_all(0), n[AXIS_SPEED],
				  drive * n[AXIS_INVERSE]);
		p = tv_spatial_mul_add(p, su[1], by);
		tv_scatter_one(&axes, offsetof(struct tree_axis, drive), drive);
	}
	if (any->parent == TREE_NONE)
		return;
	LINK_SCATTER(&links, sent, 6, &p);
	if (pass != TREE_SOLVE)
		return;
	struct tv_inertia a;
	LINK_GATHER(&links, all, 21, &a);
	bias = tv_inertia_apply(&a, LINK_SPATIAL(&links, bias));
	LINK_SCATTER(&links, sent_bias, 6, &bias);
}

/* Speeds of axes and velocities of links, from the roots. */
static void down_group(const struct soft_trees *all, const struct link_group *group,
		       enum tree_pass pass)
{
	const struct soft_tree_link *any = any_link(all, group);
	struct tree_places links = tree_link_places(all, group->link);
	struct tv_spatial y = velocity_below(all, group);
	y = tv_spatial_add(y, pass == TREE_SOLVE ? LINK_SPATIAL(&links, bias) : tv_spatial_zero());
	for (uint32_t k = 0; k < any->count; k++) {
		struct tree_places axes = tree_axis_places(all, group->link, k);
		struct tv_spatial su[2];
		tv n[AXIS_NUMBERS];
		TV_GATHER(&axes, struct tree_axis, s, 12, su);
		TV_GATHER(&axes, struct tree_axis, mass, AXIS_NUMBERS, n);
		tv across = tv_spatial_dot(su[1], y);
		tv_mask held = n[AXIS_INVERSE] == tv_all(0);
		tv rate =
			tv_select(held, n[AXIS_SPEED], (n[AXIS_DRIVE] - across) * n[AXIS_INVERSE]);
		tv holds = across + n[AXIS_MASS] * n[AXIS_SPEED] - n[AXIS_DRIVE];
		LANES_UNROLL
		for (uint32_t i = 0; i < TREE_LANES; i++) {
			struct tree_axis *axis = (struct tree_axis *)axes.at[i];
			axis->rate = lane_of(rate, i);
			if (is_set(held, i) && axis->part != NULL) /* what holds it */
				axis->given = lane_of(holds, i);
		}
		y = tv_spatial_mul_add(y, su[0], rate);
	}
	LINK_SCATTER(&links, velocity, 6, &y);
}

/* ---- before and after a pass ------------------------------------------------------------------- */

/* v × s: how a motion fixed in what moves with v changes. */
ALWAYS_INLINE struct tv_spatial carried_by(struct tv_spatial v, struct tv_spatial s)
{
	return (struct tv_spatial){ tv3_add(tv3_cross(v.angular, s.linear),
					    tv3_cross(v.linear, s.angular)),
				    tv3_cross(v.angular, s.angular) };
}

/* Half of what motion itself changes of the speeds of axes. */
ALWAYS_INLINE struct tv_spatial half_bias(const struct soft_trees *all,
					  const struct link_group *group, tv half)
{
	const struct soft_tree_link *any = any_link(all, group);
	struct tv_spatial bias = tv_spatial_zero(), y = velocity_below(all, group), base = y;
	for (uint32_t k = 0; k < any->count; k++) {
		const struct tree_axis *axis = &all->axes[any->first + k];
		struct tree_places axes = tree_axis_places(all, group->link, k);
		struct tv_spatial s = tv_gather_spatial(&axes, offsetof(struct tree_axis, s));
		tv rate = TV_ONE(&axes, struct tree_axis, rate);
		if (axis->kind != TREE_BALL || k == 0 || axis[-1].kind != TREE_BALL)
			base = y; /* a ball's axes are fixed in its parent */
		bias = tv_spatial_mul_add(bias, carried_by(base, s), half * rate);
		y = tv_spatial_mul_add(y, s, rate);
	}
	return bias;
}

/* What forces and damping give links in a sub-step. */
ALWAYS_INLINE struct tv_spatial given_to(const struct soft_trees *all,
					 const struct link_group *group, struct tv_spatial momentum)
{
	struct tree_places links = tree_link_places(all, group->link),
			   trees = tree_places_of(all, group);
	struct tv3 tree[2], place[2], force[2];
	tv keep[2], one = tv_all(1);
	TV_GATHER(&trees, struct soft_tree, origin, 6, tree);
	LINK_GATHER(&links, centre, 6, place);
	LINK_GATHER(&links, force, 6, force);
	struct tv3 r = tv3_sub(place[0], tree[0]);
	if (any_link(all, group)->damped) {
		keep[0] = TV_ONE(&links, struct soft_tree_link, keep);
		keep[1] = TV_ONE(&links, struct soft_tree_link, spin_keep);
		struct tv3 p = momentum.linear;
		struct tv3 own = tv3_sub(momentum.angular, tv3_cross(r, p));
		force[0] = tv3_mul_add(force[0], p, keep[0] - one);
		force[1] = tv3_mul_add(force[1], own, keep[1] - one);
	}
	return (struct tv_spatial){ force[0], tv3_add(force[1], tv3_cross(r, force[0])) };
}

static void before_group(const struct soft_trees *all, const struct link_group *group,
			 enum tree_pass pass)
{
	const struct soft_tree_link *any = any_link(all, group);
	struct tree_places links = tree_link_places(all, group->link);
	struct tv_spatial m = LINK_SPATIAL(&links, momentum), zero = tv_spatial_zero();
	struct tv_changes to = { zero, zero, zero, zero, zero, zero };
	if (pass == TREE_SOLVE) {
		struct tree_places trees = tree_places_of(all, group);
		struct tv_spatial v = LINK_SPATIAL(&links, velocity);
		tv half = TV_ONE(&trees, struct soft_tree, half);
		to.before = v;
		to.turning.linear = tv3_scale(tv3_cross(v.angular, m.linear), -half);
		to.turning.angular = tv3_scale(
			tv3_add(tv3_cross(v.angular, m.angular), tv3_cross(v.linear, m.linear)),
			-half);
		if (any->joint != TREE_NONE)
			to.bias = half_bias(all, group, half);
		to.given = given_to(all, group, m);
	}
	to.lacking = tv_spatial_negate(tv_spatial_add(m, to.given));
	if (pass == TREE_SOLVE)
		LINK_SCATTER(&links, before, 36, &to);
	else
		LINK_SCATTER(&links, pushed, 12, &to.pushed);
}

/* Momenta after a pass, and what joints gave links in it, from the leaves up, at the poses at which
 * they gave it. */
static void after_group(const struct soft_trees *all, const struct link_group *group,
			enum tree_pass pass)
{
	const struct soft_tree_link *any = any_link(all, group);
	struct tree_places links = tree_link_places(all, group->link),
			   trees = tree_places_of(all, group);
	struct tv_inertia own;
	struct tv3 tree[2], place[2];
	uint32_t child[TREE_LANES];
	LINK_GATHER(&links, own, 21, &own);
	struct tv_spatial m = tv_inertia_apply(&own, LINK_SPATIAL(&links, velocity)), lacking;
	if (pass == TREE_SOLVE)
		m = tv_spatial_sub(m, LINK_SPATIAL(&links, turning));
	if (pass == TREE_BEGIN) {
		lacking = tv_spatial_sub(m, LINK_SPATIAL(&links, momentum));
	} else {
		lacking =
			tv_spatial_sub(LINK_SPATIAL(&links, lacking), LINK_SPATIAL(&links, pushed));
		lacking = tv_spatial_add(lacking, m);
	}
	first_children(all, group, child);
	for (uint32_t c = 0; c < group->children; c++) {
		struct tree_places children = next_children(all, child);
		lacking = tv_spatial_add(lacking, LINK_SPATIAL(&children, lacking));
	}
	LINK_SCATTER(&links, momentum, 6, &m);
	LINK_SCATTER(&links, lacking, 6, &lacking);
	TV_GATHER(&trees, struct soft_tree, origin, 6, tree);
	LINK_GATHER(&links, centre, 6, place); /* and the anchor */
	struct tv_spatial load = LINK_SPATIAL(&links, load);
	struct tv3 r = tv3_sub(place[1], tree[0]);
	lacking.angular = tv3_sub(lacking.angular, tv3_cross(r, lacking.linear));
	load = any->reversed ? tv_spatial_sub(load, lacking) : tv_spatial_add(load, lacking);
	LINK_SCATTER(&links, load, 6, &load);
}

/* ---- rows of contacts ------------------------------------------------------------------------- */

ALWAYS_INLINE struct tv3 tv3_of(vec3 v)
{
	return (struct tv3){ tv_all(v.x), tv_all(v.y), tv_all(v.z) };
}

/* TREE_LANES rows from `first` on, the last one repeated. */
ALWAYS_INLINE void walk_some(const struct soft_trees *all, struct tree_manifold *of, uint32_t first)
{
	const struct tree_way *way = &all->ways[of->way_first];
	uint32_t side = of->link[0] == TREE_NONE ? 1 : 0, last = of->points + 2u;
	struct tree_places rows, to;
	LANES_UNROLL
	for (uint32_t i = 0; i < TREE_LANES; i++) {
		struct tree_row *row = &of->rows[MIN_OF(first + i, last)];
		rows.at[i] = (char *)row;
		to.at[i] = (char *)row->g;
	}
	struct tv_spatial f = tv_gather_spatial(&rows, offsetof(struct tree_row, on) +
							       side * sizeof(struct spatial));
	tv sum = tv_all(0), g[TREE_LANES];
	for (uint32_t k = 0; k < of->way_count; k += TREE_LANES) {
		LANES_UNROLL
		for (uint32_t i = 0; i < TREE_LANES; i++) {
			if (k + i >= of->way_count) {
				g[i] = tv_all(0);
				continue;
			}
			const struct tree_axis *axis = &all->axes[way[k + i].axis];
			struct tv_spatial s = { tv3_of(axis->s.linear), tv3_of(axis->s.angular) };
			struct tv_spatial u = { tv3_of(axis->u.linear), tv3_of(axis->u.angular) };
			tv e = tv_spatial_dot(s, f), by = e * tv_all(axis->inverse);
			g[i] = e * tv_all(axis->root);
			sum += g[i] * g[i];
			f.linear = tv3_sub(f.linear, tv3_scale(u.linear, by));
			f.angular = tv3_sub(f.angular, tv3_scale(u.angular, by));
		}
		tv_scatter(&to, 8 * (size_t)k, TREE_LANES, g);
	}
	tv_scatter_one(&rows, offsetof(struct tree_row, response), sum);
}

static void walk_manifold(const struct soft_trees *all, struct tree_manifold *of)
{
	VALIDATE(of->points <= MANIFOLD_POINTS_MAX);
	for (uint32_t r = 0; r < of->points + 3u; r += TREE_LANES)
		walk_some(all, of, r);
}

const struct tree_kernels TREE_KERNELS = {
	.lanes = TREE_LANES,
	.pose = pose_group,
	.derive = derive_group,
	.factor = factor_group,
	.up = up_group,
	.down = down_group,
	.before = before_group,
	.after = after_group,
	.walk = walk_manifold,
};

#endif
