/* collide.c: where near pieces touch: a pure function of motions, pairs and the contact table at
 * the start of the step.
 *
 * The narrow phase makes a manifold for one relative pose of two pieces. The manifold is kept, in A's
 * frame, while the pieces move little relative to each other: its normal and its points on both surfaces
 * stay, and only separations are measured anew. With T the motion of B relative to A since the manifold
 * was made, n its normal, m and s a point and its separation then:
 *
 *   on A: p = m − n s/2,  on B: q = T (m + n s/2),  now: separation n·(q − p), point (p + q)/2.
 *
 * The relative pose at which it was made is a column, so a restored world keeps the same manifolds. A
 * manifold without points says that the pieces were farther apart than the margin of the narrow phase,
 * which is stored as its first separation; it is valid until the pieces may have come nearer than that.
 * Or, with a triangle of a mesh, it says that a neighbour reports the contact, and is valid while the
 * pieces rest.
 *
 * Manifolds of round pieces (spheres, capsules) are never kept: a rolling piece would carry the normal
 * with it, and their narrow phase costs less than the test.
 *
 * Contacts are independent: each work item writes only its own entries of the list. Waking, which
 * concerns several contacts, follows in step.c.
 */
#include "server/engine/dynamics/collide.h"

#include "server/engine/collision/vclip.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/collide_balls.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/one_way.h"
#include "server/engine/dynamics/sweep_path.h"

enum { COLLIDE_GRAIN = 32 };

/* One body of a contact at the motion that the options give it, and its piece. */
struct contact_side {
	uint32_t body;
	struct contact_piece piece;
	const struct shape *shape;
	double reach;	      /* m, of the body */
	pose at;	      /* of the body's origin */
	const mat3 *rotation; /* the cache's, or rotation_there */
	mat3 rotation_there;
	vec3 centre; /* mass centre, world */
	vec3 velocity, spin;
};

static inline void init_side(struct contact_side *self, const struct step *step,
			     struct contact_piece piece, uint32_t body,
			     const struct collide_options *options)
{
	ASSERT(body < step->dynamics->tables->body.count);
	const struct dynamics *dynamics = step->dynamics;
	const struct tables *tables = dynamics->tables;
	const struct body_cache *cache = &dynamics->bodies.items[body];
	self->body = body;
	self->piece = piece;
	self->shape = placement_shape(dynamics, piece.placement);
	self->reach = cache->reach;
	if (options->motions == NULL || !step_takes_part(step, body)) {
		self->at = body_pose(tables, body);
		self->rotation = &cache->rotation;
		self->centre = cache->centre;
		self->velocity = tables->body.velocity[body];
		self->spin = tables->body.angular_velocity[body];
		return;
	}
	const struct body_motion *motion = &options->motions[cache->slot];
	self->rotation_there = mat3_from_quat(motion->rotation);
	self->rotation = &self->rotation_there;
	self->centre = motion->centre;
	self->velocity = motion->velocity;
	self->spin = motion->angular_velocity;
	vec3 arm = quat_rotate(motion->rotation, tables->body.centre[body]);
	self->at = pose_make(vec3_sub(motion->centre, arm), motion->rotation);
}

/* ---- distance that matters ----------------------------------------------------------------- */

/* m: bound of how far a point of the surface moves in `dt` s because the body turns (body.c, Turning). */
static inline double turning_distance(const struct tables *tables, const struct contact_side *side,
				      double dt)
{
	if (tables->body.status[side->body] == BODY_STATIC)
		return 0;
	double radius = side->reach - (shape_is_round(side->shape) ? side->shape->extent_min : 0);
	return radius * scalar_min(vec3_length(side->spin) * dt, 2);
}

/* m, near ≤ far. Points up to `near` apart matter in this step; points up to `far` matter if
 * turning brings them near. The share of linear motion is limited (CONTACT_LOOK_AHEAD). That of
 * turning is not, because the end of a long piece would otherwise be deep inside before it is
 * found. */
struct needed_distance {
	double near, far;
};

static inline struct needed_distance find_needed(const struct tables *tables,
						 const struct contact_side *a,
						 const struct contact_side *b,
						 const struct collide_options *options)
{
	double straight = vec3_distance(a->velocity, b->velocity) * options->dt;
	double turning =
		turning_distance(tables, a, options->dt) + turning_distance(tables, b, options->dt);
	ASSERT(options->dt >= 0 && options->near >= 0);
	double least = __builtin_inf();
	if (tables->body.status[a->body] == BODY_DYNAMIC)
		least = a->shape->extent_min;
	if (tables->body.status[b->body] == BODY_DYNAMIC)
		least = scalar_min(least, b->shape->extent_min);
	double most = CONTACT_LOOK_AHEAD * least;
	return (struct needed_distance){ options->near + scalar_min(straight + turning, most),
					 options->near + scalar_min(straight, most) + turning };
}

/* ---- keeping ------------------------------------------------------------------------------- */

static bool may_keep_manifold(const struct tables *tables, uint32_t row,
			      const struct contact_side *a, const struct contact_side *b,
			      const pose *now, double needed)
{
	ASSERT(row < tables->contact.count && tables->contact.used[row]);
	const struct contact_table *contact = &tables->contact;
	if (contact->fresh[row])
		return false;
	/* While a field turns, a contact passes from one of its sides to another. All sides must then be
	 * collided at the same ticks, or a contact would be lost on the way to a side that is kept. So
	 * no manifold of a field's side is kept as empty. */
	bool sided = shape_is_sided(a->shape, b->shape) || shape_is_sided(b->shape, a->shape);
	bool empty = contact->point_count[row] == 0 && !sided;
	if (!empty && (shape_is_smooth(a->shape) || shape_is_smooth(b->shape)))
		return false;
	pose before = { contact->relative_position[row], contact->relative_rotation[row] };
	double angle;
	double moved = collide_moved(a->reach, b->reach, &before, now, &angle);
	if (empty)
		return collide_still_empty(contact, row, moved, needed);
	return angle <= CONTACT_KEEP_ANGLE && moved <= CONTACT_KEEP_DISTANCE &&
	       moved + needed <= CONTACT_NEAR + CONTACT_SPARE;
}

/* ---- making -------------------------------------------------------------------------------- */

/* Replaces a manifold of convex polyhedra that are apart, but by at most `touch`, by their nearest points, if
 * its points do not show that: clipping has lost the nearest ones, or its axis is another one. */
static void keep_nearest(struct piece a, struct piece b, const pose *b_in_a, double touch,
			 struct manifold *out)
{
	ASSERT(touch > 0);
	const struct hull *hull_a = shape_part(a.shape, &a.child)->hull;
	const struct hull *hull_b = shape_part(b.shape, &b.child)->hull;
	double least = __builtin_inf();
	for (uint32_t i = 0; i < out->count; i++)
		least = scalar_min(least, out->points[i].separation);
	if (hull_a == NULL || hull_b == NULL || scalar_abs(least) <= touch)
		return;
	struct placing there = { mat3_from_quat(b_in_a->rotation), b_in_a->position };
	struct vclip_result found;
	vclip_distance(hull_a, hull_b, &there, NULL, &found);
	if (found.touching || found.distance > touch)
		return;
	vec3 middle = vec3_scale(vec3_add(found.point_a, found.point_b), 0.5);
	out->normal = found.normal;
	out->count = 1;
	out->points[0] = (struct manifold_point){ .point = middle, .separation = found.distance };
}

/* Runs the narrow phase; the manifold is in the frame of A's body. */
static void narrow_phase(const struct tables *tables, const struct contact_side *a,
			 const struct contact_side *b, const pose *b_in_a, double margin,
			 double nearest, struct pair_cache *cache, struct manifold *out)
{
	pose on_a = placement_pose(tables, a->piece.placement);
	pose on_b = placement_pose(tables, b->piece.placement);
	bool plain = pose_is_identity(&on_a) && pose_is_identity(&on_b);
	pose shapes = plain ? *b_in_a : pose_relative(on_a, pose_mul(*b_in_a, on_b));
	struct piece piece_a = { a->shape, a->piece.child }, piece_b = { b->shape, b->piece.child };
	collide_pieces(piece_a, piece_b, &shapes, margin, cache, out);
	if (nearest > 0)
		keep_nearest(piece_a, piece_b, &shapes, nearest, out);
	if (pose_is_identity(&on_a))
		return;
	ASSERT(out->count <= MANIFOLD_POINTS_MAX);
	out->normal = pose_vector(on_a, out->normal);
	for (uint32_t i = 0; i < out->count; i++)
		out->points[i].point = pose_point(on_a, out->points[i].point);
}

static void make_manifold(const struct tables *tables, const struct contact_state *contact,
			  const struct contact_side *a, const struct contact_side *b,
			  const pose *b_in_a, double needed, const struct collide_options *options,
			  struct contact_made *made)
{
	made->margin = needed + CONTACT_SPARE;
	made->b_in_a = *b_in_a;
	collide_hints(tables, contact, &made->cache);
	narrow_phase(tables, a, b, b_in_a, made->margin, options->nearest, &made->cache,
		     &made->manifold);
	collide_begin(tables, contact, options->carry, made);
}

/* ---- points at the present pose ------------------------------------------------------------ */

struct contact_motion contact_motion(const struct tables *tables, uint32_t row, const pose *b_in_a)
{
	ASSERT(row < tables->contact.count);
	const struct contact_table *contact = &tables->contact;
	pose before = { contact->relative_position[row], contact->relative_rotation[row] };
	pose since = pose_mul(*b_in_a, pose_inverse(before));
	return (struct contact_motion){ mat3_from_quat(since.rotation), since.position };
}

struct contact_place contact_place(const struct tables *tables, uint32_t row, uint32_t point,
				   const struct contact_motion *motion)
{
	ASSERT(point < MANIFOLD_POINTS_MAX);
	const struct contact_table *contact = &tables->contact;
	const double *anchor = &contact->anchor[row][(size_t)3 * point];
	vec3 normal = contact->normal[row], middle = vec3_make(anchor[0], anchor[1], anchor[2]);
	vec3 half = vec3_scale(normal, 0.5 * contact->separation[row][point]);
	vec3 p = vec3_sub(middle, half);
	vec3 q = vec3_add(mat3_mul_vec(motion->turn, vec3_add(middle, half)), motion->shift);
	return (struct contact_place){ vec3_scale(vec3_add(p, q), 0.5),
				       vec3_dot(normal, vec3_sub(q, p)) };
}

/* From the frame of A's body to world axes. */
static inline struct contact_point place_point(const struct tables *tables,
					       const struct contact_side *a, vec3 a_to_b,
					       struct contact_place place, uint32_t feature)
{
	vec3 arm = mat3_mul_vec(*a->rotation, vec3_sub(place.point, tables->body.centre[a->body]));
	return (struct contact_point){ arm, vec3_sub(arm, a_to_b), place.separation, feature };
}

static void place_kept(const struct tables *tables, const struct contact_side *a,
		       const struct contact_side *b, const pose *b_in_a, struct contact_state *out)
{
	ASSERT(!out->is_new);
	const struct contact_table *contact = &tables->contact;
	vec3 a_to_b = vec3_sub(b->centre, a->centre);
	struct contact_motion motion = contact_motion(tables, out->row, b_in_a);
	out->normal = mat3_mul_vec(*a->rotation, contact->normal[out->row]);
	out->point_count = contact->point_count[out->row];
	for (uint32_t i = 0; i < out->point_count; i++)
		out->points[i] =
			place_point(tables, a, a_to_b, contact_place(tables, out->row, i, &motion),
				    contact->feature[out->row][i]);
}

static void place_made(const struct tables *tables, const struct contact_side *a,
		       const struct contact_side *b, const struct manifold *made,
		       struct contact_state *out)
{
	ASSERT(made->count <= MANIFOLD_POINTS_MAX);
	vec3 a_to_b = vec3_sub(b->centre, a->centre);
	out->normal = mat3_mul_vec(*a->rotation, made->count > 0 ? made->normal : vec3_zero());
	out->point_count = (uint8_t)made->count;
	for (uint32_t i = 0; i < made->count; i++) {
		const struct manifold_point *point = &made->points[i];
		out->points[i] = place_point(
			tables, a, a_to_b,
			(struct contact_place){ point->point, point->separation }, point->feature);
	}
}

static vec3 point_velocity(const struct contact_side *side, vec3 arm)
{
	return vec3_add(side->velocity, vec3_cross(side->spin, arm));
}

/* True if an animated body is so fast that points of a manifold do not show whether it reaches the sleeping
 * one, and a search along its way finds a touch. */
static bool sweeps_over_sleeper(const struct step *self, const struct contact_side *moving,
				const struct contact_side *asleep, double dt)
{
	const struct dynamics *dynamics = self->dynamics;
	double most = SWEEP_FAST * dynamics->bodies.items[asleep->body].inner;
	double time = CONTACT_WAKE_REACH * dt, turn = vec3_length(moving->spin) * time;
	double way = vec3_length(moving->velocity) * time;
	if (dynamics->tables->body.status[moving->body] != BODY_ANIMATED ||
	    way + (turn > 0 ? turn * moving->reach : 0) <= most)
		return false;
	struct body_motion motion = {
		.centre = vec3_mul_add(moving->centre, moving->velocity, time),
		.rotation = quat_mul(quat_from_rotation_vector(vec3_scale(moving->spin, time)),
				     moving->at.rotation),
		.velocity = moving->velocity,
		.angular_velocity = moving->spin,
	};
	struct sweep_path path, still = sweep_path_still(dynamics, asleep->body);
	struct sweep_hit hit = { .fraction = 1 };
	if (!sweep_path_of(dynamics, moving->body, &motion, time, &path))
		return false;
	uint32_t parts = sweep_parts(&still, &path);
	for (uint32_t part = 0; part < parts && hit.fraction == 1; part++)
		sweep_placements(dynamics, &still, asleep->piece.placement, &path,
				 moving->piece.placement, part, parts, &hit);
	return hit.fraction < 1;
}

static bool is_asleep(const struct step *self, const struct contact_side *side)
{
	return self->dynamics->tables->body.sleep_set[side->body] != 0 &&
	       !step_takes_part(self, side->body);
}

/* True if a sleeping body does not move until the method finds that `other` pushes it. Those that an
 * animated body meets wake at once, because the two alone are not solved for; and a body that may not
 * sleep lets nothing sleep that it touches. */
static bool holds_still(const struct step *self, const struct contact_side *asleep,
			const struct contact_side *other)
{
	const struct tables *tables = self->dynamics->tables;
	return tables->body.status[other->body] == BODY_DYNAMIC &&
	       (tables->body.flags[other->body] & BODY_MAY_SLEEP) != 0 &&
	       step_takes_part(self, other->body) &&
	       joint_first(tables, asleep->body) == DYNAMICS_NONE;
}

/* True if a point of the two closes within this step; one of them sleeps. */
static bool reaches_sleeper(const struct step *self, const struct contact_side *asleep,
			    const struct contact_side *a, const struct contact_side *b,
			    const struct contact_state *contact,
			    const struct collide_options *options)
{
	double dt = options->dt;
	for (uint32_t i = 0; i < contact->point_count; i++) {
		const struct contact_point *point = &contact->points[i];
		vec3 closing =
			vec3_sub(point_velocity(a, point->arm_a), point_velocity(b, point->arm_b));
		double way = vec3_dot(closing, contact->normal) * dt;
		if (point->separation <= scalar_max(options->touch, CONTACT_WAKE_REACH * way))
			return true;
	}
	return sweeps_over_sleeper(self, asleep == b ? a : b, asleep, dt);
}

/* Whether the contact holds or reaches a sleeping body. */
static void meet_sleeper(const struct step *self, const struct contact_side *a,
			 const struct contact_side *b, const struct collide_options *options,
			 struct contact_state *out)
{
	out->holds = out->reaches = false;
	bool sleeps_b = is_asleep(self, b);
	if (!sleeps_b && !is_asleep(self, a))
		return;
	const struct contact_side *asleep = sleeps_b ? b : a;
	out->holds = options->hold && holds_still(self, asleep, sleeps_b ? a : b);
	out->reaches = !out->holds && reaches_sleeper(self, asleep, a, b, out, options);
}

/* ---- near by turning ----------------------------------------------------------------------- */

enum { TURN_SAMPLES = 8 };

/* Turns of both bodies after `time` s at constant velocities. */
struct turned_pair {
	double time;
	quat turn_a, turn_b;
};

static pose pose_later(const struct contact_side *side, quat turn, double time)
{
	vec3 arm = quat_rotate(turn, vec3_sub(side->at.position, side->centre));
	vec3 centre = vec3_mul_add(side->centre, side->velocity, time);
	return pose_make(vec3_add(centre, arm), quat_mul(turn, side->at.rotation));
}

/* True if a point is then near, measured along its present normal; a cheap test before the narrow
 * phase. */
static bool planes_near(const struct contact_side *a, const struct contact_side *b,
			const struct contact_state *contact, const struct turned_pair *later,
			double near)
{
	vec3 apart = vec3_sub(b->velocity, a->velocity);
	double way = vec3_dot(contact->normal, apart) * later->time;
	for (uint32_t i = 0; i < contact->point_count; i++) {
		const struct contact_point *point = &contact->points[i];
		vec3 half = vec3_scale(contact->normal, 0.5 * point->separation);
		vec3 at_a = vec3_sub(point->arm_a, half), at_b = vec3_add(point->arm_b, half);
		vec3 by_a = vec3_sub(quat_rotate(later->turn_a, at_a), at_a);
		vec3 by_b = vec3_sub(quat_rotate(later->turn_b, at_b), at_b);
		double turned = vec3_dot(contact->normal, vec3_sub(by_b, by_a));
		if (point->separation + way + turned <= near)
			return true;
	}
	return false;
}

/* True if the pieces come near each other within the step at constant velocities. Sampled at poses on the
 * way, because a turning piece passes many others that only its arc would reach, and a contact with one
 * that it never reaches would stop it. */
static bool turns_near(const struct tables *tables, const struct contact_side *a,
		       const struct contact_side *b, const struct contact_state *contact,
		       const struct collide_options *options)
{
	double fastest = scalar_max(vec3_length(a->spin), vec3_length(b->spin));
	double most = fastest * options->dt > PI ? PI / fastest : options->dt;
	for (uint32_t k = 1; k <= TURN_SAMPLES; k++) {
		struct turned_pair later = { .time = most * k / TURN_SAMPLES };
		later.turn_a = quat_from_rotation_vector(vec3_scale(a->spin, later.time));
		later.turn_b = quat_from_rotation_vector(vec3_scale(b->spin, later.time));
		if (!planes_near(a, b, contact, &later, options->near))
			continue;
		pose b_in_a = pose_relative(pose_later(a, later.turn_a, later.time),
					    pose_later(b, later.turn_b, later.time));
		struct pair_cache none = { 0 };
		struct manifold there;
		narrow_phase(tables, a, b, &b_in_a, options->near, options->nearest, &none, &there);
		if (there.count > 0)
			return true;
	}
	return false;
}

/* ---- one contact --------------------------------------------------------------------------- */

static struct body_motion motion_of_side(const struct contact_side *side)
{
	return (struct body_motion){ side->centre, side->at.rotation, side->velocity, side->spin };
}

/* Whether the contact is refused because a body is one-way; then no sleeping one wakes either. */
static bool is_let_through(const struct step *self, const struct contact_side *a,
			   const struct contact_side *b, struct contact_state *out)
{
	struct body_motion at_a = motion_of_side(a), at_b = motion_of_side(b);
	one_way_judge(self, out, &at_a, &at_b);
	if (!(out->one_way & ONE_WAY_REFUSED))
		return false;
	out->holds = out->reaches = false;
	return true;
}

void collide_contact(const struct step *self, struct contact_state *out, struct contact_made *made,
		     const struct collide_options *options)
{
	ASSERT(out->body_a != out->body_b);
	const struct tables *tables = self->dynamics->tables;
	struct contact_side a, b;
	init_side(&a, self, out->a, out->body_a, options);
	init_side(&b, self, out->b, out->body_b, options);
	pose b_in_a = pose_relative(a.at, b.at);
	struct needed_distance needed = find_needed(tables, &a, &b, options);
	out->kept = !out->is_new && !options->anew &&
		    may_keep_manifold(tables, out->row, &a, &b, &b_in_a, needed.far);
	if (out->kept) {
		place_kept(tables, &a, &b, &b_in_a, out);
	} else {
		make_manifold(tables, out, &a, &b, &b_in_a, needed.far, options, made);
		place_made(tables, &a, &b, &made->manifold, out);
	}
	ASSERT(out->point_count <= MANIFOLD_POINTS_MAX);
	out->one_way = 0;
	if (one_way_concerns(self->dynamics, a.body, b.body) && is_let_through(self, &a, &b, out))
		return;
	meet_sleeper(self, &a, &b, options, out);
	/* A contact that is not near in this step has no points for the method. */
	double nearest = __builtin_inf();
	for (uint32_t i = 0; i < out->point_count; i++)
		nearest = scalar_min(nearest, out->points[i].separation);
	if (nearest > needed.near &&
	    !(nearest <= needed.far && turns_near(tables, &a, &b, out, options)))
		out->point_count = 0;
}

/* ---- contact polygon ----------------------------------------------------------------------- */

/* A contact whose narrow phase ran again, with the hints of the step's start. */
struct found_again {
	pose at_a, b_in_a; /* of the placements: in the world; b's in a's */
	struct piece a, b;
	double margin;
	struct manifold manifold;
};

static void find_again(const struct step *self, const struct contact_state *contact,
		       const struct collide_options *options, struct found_again *out)
{
	const struct tables *tables = self->dynamics->tables;
	struct contact_side a, b;
	init_side(&a, self, contact->a, contact->body_a, options);
	init_side(&b, self, contact->b, contact->body_b, options);
	out->at_a = pose_mul(a.at, placement_pose(tables, a.piece.placement));
	pose at_b = pose_mul(b.at, placement_pose(tables, b.piece.placement));
	out->b_in_a = pose_relative(out->at_a, at_b);
	out->a = (struct piece){ a.shape, a.piece.child };
	out->b = (struct piece){ b.shape, b.piece.child };
	struct pair_cache hints;
	collide_hints(tables, contact, &hints);
	out->margin = find_needed(tables, &a, &b, options).far;
	ASSERT(out->margin >= 0);
	collide_pieces(out->a, out->b, &out->b_in_a, out->margin, &hints, &out->manifold);
}

void step_polygon(const struct step *self, const struct contact_state *contact,
		  const struct collide_options *options, struct contact_polygon *out)
{
	struct found_again again;
	find_again(self, contact, options, &again);
	contact_polygon(again.a, again.b, &again.b_in_a, again.margin, &again.manifold, out);
	if (out->count == 0)
		return;
	pose at_a = again.at_a;
	out->normal = pose_vector(at_a, out->normal);
	out->edge_a = pose_vector(at_a, out->edge_a);
	out->edge_b = pose_vector(at_a, out->edge_b);
	if (out->normal_of == CONTACT_NORMAL_OF_CENTRES) {
		out->ball_a = pose_point(at_a, out->ball_a);
		out->ball_b = pose_point(at_a, out->ball_b);
	}
	for (uint32_t k = 0; k < out->count; k++)
		out->points[k].point = pose_point(at_a, out->points[k].point);
}

uint32_t step_corners(const struct step *self, const struct contact_state *contact,
		      const struct collide_options *options, struct contact_corner *out)
{
	struct found_again again;
	find_again(self, contact, options, &again);
	uint32_t count = contact_corners(again.a, again.b, &again.b_in_a, again.margin,
					 &again.manifold, out);
	for (uint32_t k = 0; k < count; k++) {
		out[k].normal = pose_vector(again.at_a, out[k].normal);
		out[k].edge_a = pose_vector(again.at_a, out[k].edge_a);
		out[k].edge_b = pose_vector(again.at_a, out[k].edge_b);
		out[k].ball_a = pose_point(again.at_a, out[k].ball_a);
		out[k].ball_b = pose_point(again.at_a, out[k].ball_b);
		out[k].point = pose_point(again.at_a, out[k].point);
	}
	return count;
}

/* ---- the list ------------------------------------------------------------------------------ */

struct collide_work {
	const struct step *step;
	const struct contact_list *list;
	uint32_t first;
	const struct collide_options *options;
	bool reaches[PARALLEL_WORKERS_MAX]; /* by worker: some contact does */
};

static void collide_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	struct collide_work *work = context;
	bool reaches = false;
	struct contact_list list = *work->list;
	struct ball_batch batch = { .count = 0 };
	bool plain = work->options->motions == NULL;
	for (uint32_t i = work->first + first; i < work->first + last; i++) {
		if (plain && balls_meet(work->step->dynamics, &list.items[i]))
			balls_push(&batch, work->step, &list, i, work->options);
		else {
			collide_contact(work->step, &list.items[i], &list.made[i], work->options);
			reaches |= list.items[i].reaches;
		}
	}
	balls_flush(&batch, work->step, &list, work->options);
	if (reaches)
		work->reaches[worker] = true;
}

void step_collide(const struct step *self, struct contact_list *list, uint32_t first,
		  const struct collide_options *options)
{
	ASSERT(first <= list->count && list->count <= list->capacity);
	ASSERT(options->dt >= 0);
	if (first == list->count)
		return;
	struct collide_work work = { self, list, first, options, { false } };
	enum profile_stage before = profile_enter(self->dynamics->profile, PROFILE_NARROW);
	parallel_run(self->parallel, list->count - first, COLLIDE_GRAIN, collide_piece, &work);
	list->reaches = list->reaches && first > 0;
	for (uint32_t i = 0; i < self->parallel->workers; i++)
		list->reaches |= work.reaches[i];
	profile_enter(self->dynamics->profile, before);
}

/* Figures of FIGURES_OF contacts of the list that follow each other. */
struct contact_figures {
	double sum, most; /* m, of depths */
	uint32_t points, deep, kept;
};
enum { FIGURES_OF = 64, FIGURES_GRAIN = 2 };

struct figures_work {
	const struct contact_list *list;
	struct contact_figures *figures;
};

static struct contact_figures figures_of(const struct contact_list *list, uint32_t group)
{
	struct contact_figures out = { 0 };
	uint32_t first = group * FIGURES_OF, last = MIN_OF(first + FIGURES_OF, list->count);
	for (uint32_t i = first; i < last; i++) {
		const struct contact_state *contact = &list->items[i];
		out.kept += contact->kept;
		out.points += contact->point_count;
		for (uint32_t k = 0; k < contact->point_count; k++) {
			double depth = -contact->points[k].separation;
			if (depth <= 0)
				continue;
			out.sum += depth;
			out.deep++;
			out.most = scalar_max(out.most, depth);
		}
	}
	return out;
}

static void figures_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct figures_work *work = context;
	for (uint32_t group = first; group < last; group++)
		work->figures[group] = figures_of(work->list, group);
}

void step_report_contacts(struct step *self, const struct contact_list *list)
{
	struct step_report *report = &self->dynamics->report;
	struct arena *scratch = &self->dynamics->scratch;
	if (list->count == 0)
		return;
	struct arena_mark mark = arena_mark(scratch);
	uint32_t groups = (list->count + FIGURES_OF - 1) / FIGURES_OF, deep = 0, kept = 0;
	struct figures_work work = { list, ARENA_ARRAY(scratch, struct contact_figures, groups) };
	double sum = 0;
	/* Without memory, on this thread. */
	if (work.figures != NULL)
		parallel_run(self->parallel, groups, FIGURES_GRAIN, figures_piece, &work);
	for (uint32_t group = 0; group < groups; group++) {
		struct contact_figures some =
			work.figures != NULL ? work.figures[group] : figures_of(list, group);
		kept += some.kept;
		deep += some.deep;
		sum += some.sum;
		report->points += some.points;
		report->penetration_max = scalar_max(report->penetration_max, some.most);
	}
	arena_rewind(scratch, mark);
	report->contacts = list->count;
	report->manifolds_kept += kept;
	report->manifolds_made += list->count - kept;
	ASSERT(deep <= report->points);
	ASSERT(report->penetration_max >= 0);
	report->penetration_mean = deep > 0 ? sum / deep : 0;
}
