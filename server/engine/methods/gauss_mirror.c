/* gauss_mirror.c: keeps what begins mirrored mirrored.
 *
 * The optimum of a mirrored problem is mirrored, but a solver reaches it up to rounding, and a
 * tower that falls amplifies that (papers R, failure cases). If the moving bodies are images of
 * each other in a plane x = x0 as the step begins, and so are the motions found, up to rounding,
 * then each pair gets the mean of its motion and the image of the other's.
 *
 * x0 is the mean of all mass centres. A body and its image have the same |x − x0|, y and z, so also
 * the same |x − x0| + √2 y + √3 z. Bodies are sorted by that; only those whose keys differ by no
 * more than two images' may are compared. The bodies of a tower lie on a lattice, of which no two
 * points that are not images have equal keys, because 1, √2 and √3 have no rational relation (by |x
 * − x0| alone, all bricks of two columns would be compared with each other). What does not move is
 * looked at where bodies touch it: the contact's normal and the velocity of what is touched must
 * have images at the body's image. Forces must be images too, up to rounding: a body that leans by
 * a hair, or a wind of a hair's strength, has none, and its small motion is no error. O(n log n).
 *
 * The image of a bar (a distance joint) has its ends at the images of the bar's ends and the same
 * data. Other joints have frames and directions; a world with one is not mirrored.
 *
 * Solutions whose rows are all good may differ: each gap by gauss.overlap and each row by the
 * solver's residual, over the step, times what nearly dependent rows make of it (velocity_island.c
 * takes rows for contradictory beyond that). Motions that differ by less are equally good, and so
 * is their mean, because rows are linear; energy is convex, so the mean has no more of it. Motions
 * that differ by more are left alone.
 */
#include "server/base/sort.h"
#include "server/engine/dynamics/locks.h"
#include "server/engine/methods/gauss.h"

/* m, m/s, rad/s, 1: what begins no farther from its image is mirrored. */
#define MIRRORED 1e-9
#define ROOT_2 1.4142135623730951
#define ROOT_3 1.7320508075688772
/* m: keys of images differ by no more. */
#define KEY_WIDTH (MIRRORED * (1 + ROOT_2 + ROOT_3))
/* 1, m/s, rad/s: obstacles that differ by more from an image are others, not an inexact image. */
#define FAR_FROM_MIRRORED 1e-2
/* 1, of the largest change of velocity by forces, and of the largest speed: forces at images differ by no
 * more if they are computed alike. */
#define FORCE_ROUNDING 1e-12
#define SPEED_ROUNDING 0x1p-48
/* 1: by how much nearly dependent rows amplify (SPEED_GROWTH in velocity_island.c). */
#define GROWTH 1e3

struct mirror_body {
	double key; /* |x − x0| + √2 y + √3 z */
	uint32_t slot;
};

static int compare_bodies(const void *a, const void *b, void *context)
{
	const struct mirror_body *p = a, *q = b;
	UNUSED(context);
	if (p->key != q->key)
		return p->key < q->key ? -1 : 1;
	return p->slot < q->slot ? -1 : p->slot > q->slot;
}

static double key_of(const struct gauss_mirror *self, vec3 at)
{
	return scalar_abs(at.x - self->plane) + ROOT_2 * at.y + ROOT_3 * at.z;
}

static struct body_motion image_of(const struct body_motion *of, double plane)
{
	struct body_motion image = *of;
	image.centre.x = 2 * plane - of->centre.x;
	image.rotation.y = -of->rotation.y;
	image.rotation.z = -of->rotation.z;
	image.velocity.x = -of->velocity.x;
	image.angular_velocity.y = -of->angular_velocity.y;
	image.angular_velocity.z = -of->angular_velocity.z;
	return image;
}

static double largest_of(vec3 a, vec3 b)
{
	vec3 d = vec3_abs(vec3_sub(a, b));
	return scalar_max(d.x, scalar_max(d.y, d.z));
}

static double size_of(struct spatial of)
{
	return scalar_max(largest_of(of.linear, vec3_zero()), largest_of(of.angular, vec3_zero()));
}

/* How far two motions differ: places and velocities. */
static void compare_motions(const struct body_motion *a, const struct body_motion *b,
			    double *places, double *velocities)
{
	double same = vec3_dot(quat_vector(a->rotation), quat_vector(b->rotation)) +
		      a->rotation.w * b->rotation.w;
	double side = same < 0 ? -1 : 1;
	double turn =
		largest_of(quat_vector(a->rotation), vec3_scale(quat_vector(b->rotation), side));
	turn = scalar_max(turn, scalar_abs(a->rotation.w - side * b->rotation.w));
	*places = scalar_max(largest_of(a->centre, b->centre), turn);
	*velocities = scalar_max(largest_of(a->velocity, b->velocity),
				 largest_of(a->angular_velocity, b->angular_velocity));
}

static bool are_alike(const struct dynamics *dynamics, uint32_t a, uint32_t b)
{
	const struct body_table *body = &dynamics->tables->body;
	uint32_t p = body->first_placement[a], q = body->first_placement[b];
	const struct placement_table *placement = &dynamics->tables->placement;
	if (body->mass[a] != body->mass[b] || body->status[a] != body->status[b] ||
	    locks_of(dynamics->tables, a) != locks_of(dynamics->tables, b))
		return false;
	while (p != 0 && q != 0 && placement->shape[p - 1] == placement->shape[q - 1]) {
		p = placement->next[p - 1];
		q = placement->next[q - 1];
	}
	return p == 0 && q == 0;
}

/* Whether body `slot` is where the image of another one is. */
static bool is_image(const struct gauss_mirror *self, const struct body_motion *image, uint32_t of,
		     uint32_t slot)
{
	double places, velocities;
	compare_motions(image, &self->solve->start[slot], &places, &velocities);
	return places <= MIRRORED && velocities <= MIRRORED &&
	       are_alike(self->solve->step->dynamics, self->solve->step->bodies[of],
			 self->solve->step->bodies[slot]);
}

/* The slot of the image of bodies[at]; UINT32_MAX: there is none. */
static uint32_t find_image(const struct gauss_mirror *self, const struct mirror_body *bodies,
			   uint32_t at)
{
	uint32_t slot = bodies[at].slot, first = at;
	struct body_motion image = image_of(&self->solve->start[slot], self->plane);
	if (is_image(self, &image, slot, slot))
		return slot;
	while (first > 0 && bodies[first - 1].key >= bodies[at].key - KEY_WIDTH)
		first--;
	for (uint32_t k = first; k < self->count; k++) {
		if (bodies[k].key > bodies[at].key + KEY_WIDTH)
			break;
		if (is_image(self, &image, slot, bodies[k].slot))
			return bodies[k].slot;
	}
	return UINT32_MAX;
}

/* Fills `partner` (by slot) and tells whether every moving body has an image. */
static bool find_pairs(struct gauss_mirror *self, struct mirror_body *bodies)
{
	for (uint32_t i = 0; i < self->count; i++) {
		uint32_t slot = find_image(self, bodies, i);
		if (slot == UINT32_MAX)
			return false;
		ASSERT(slot < self->solve->step->body_count);
		self->partner[bodies[i].slot] = slot;
	}
	return true;
}

/* ---- forces and obstacles ---------------------------------------------------------------------- */

static struct spatial image_of_velocity(struct spatial of)
{
	of.linear.x = -of.linear.x;
	of.angular.y = -of.angular.y;
	of.angular.z = -of.angular.z;
	return of;
}

/* Whether the change of velocity by forces of every body has an image up to rounding. */
static bool forces_mirrored(const struct gauss_mirror *self)
{
	const struct velocity_step *solve = self->solve;
	double worst = 0, change = 0, speed = 0;
	ASSERT(solve->forced != NULL && solve->before != NULL);
	for (uint32_t slot = 0; slot < solve->step->body_count; slot++) {
		uint32_t partner = self->partner[slot];
		if (partner == UINT32_MAX)
			continue;
		struct spatial by = spatial_mul_add(solve->forced[slot], solve->before[slot], -1);
		struct spatial of =
			spatial_mul_add(solve->forced[partner], solve->before[partner], -1);
		of = image_of_velocity(of);
		worst = scalar_max(worst, size_of(spatial_mul_add(by, of, -1)));
		change = scalar_max(change, size_of(by));
		speed = scalar_max(speed, size_of(solve->forced[slot]));
	}
	return worst <= FORCE_ROUNDING * change + SPEED_ROUNDING * speed;
}

static uint32_t moving_slot(const struct gauss_mirror *self, uint32_t slot)
{
	return slot == ROW_NO_BODY || self->partner[slot] == UINT32_MAX ? UINT32_MAX : slot;
}

/* A normal with which an obstacle presses a moving body. */
struct mirror_touch {
	uint32_t slot;
	vec3 normal; /* towards the body */
	struct spatial velocity;
};

/* By how much two touches differ in normal, 1, and velocity, m/s and rad/s. */
static double touches_differ(const struct mirror_touch *p, const struct mirror_touch *q)
{
	return scalar_max(largest_of(p->normal, q->normal),
			  size_of(spatial_mul_add(p->velocity, q->velocity, -1)));
}

static int compare_touches(const void *a, const void *b, void *context)
{
	const struct mirror_touch *p = a, *q = b;
	UNUSED(context);
	return p->slot < q->slot ? -1 : p->slot > q->slot;
}

static bool find_touch(const struct gauss_mirror *self, uint32_t constraint,
		       struct mirror_touch *out)
{
	const struct velocity_step *solve = self->solve;
	const struct constraint *of = &solve->constraints[constraint];
	const struct contact_found *found = of->data;
	uint32_t a = moving_slot(self, of->body_a), b = moving_slot(self, of->body_b);
	uint32_t block = solve->first_block[constraint];
	if ((a == UINT32_MAX) == (b == UINT32_MAX) || !(solve->impulses[block].normal > 0))
		return false;
	uint32_t other = a == UINT32_MAX ? of->body_a : of->body_b;
	out->slot = a == UINT32_MAX ? b : a;
	out->normal = a == UINT32_MAX ? found->normal : vec3_negate(found->normal);
	out->velocity = other == ROW_NO_BODY ? spatial_zero() : solve->forced[other];
	return true;
}

/* Sets `out` to the touches of all bodies by slot, each normal of a body once, and first[slot] to the
 * first of each slot. Returns their number. */
static uint32_t list_touches(const struct gauss_mirror *self, struct mirror_touch *out,
			     struct mirror_touch *merged, uint32_t *first)
{
	uint32_t count = 0, kept = 0, slots = self->solve->step->body_count;
	for (uint32_t i = 0; i < self->solve->contact_count; i++)
		count += find_touch(self, i, &out[count]);
	sort_items(out, merged, count, sizeof *out, compare_touches, NULL);
	for (uint32_t slot = 0, i = 0; slot <= slots; slot++) {
		first[slot] = kept;
		for (; i < count && out[i].slot == slot; i++) {
			bool known = false;
			for (uint32_t k = first[slot]; k < kept && !known; k++)
				known = touches_differ(&out[k], &out[i]) == 0;
			if (!known)
				out[kept++] = out[i];
		}
	}
	return kept;
}

/* Whether the obstacles that press bodies are mirrored. Where they are not by far, as at seams, of which
 * rounding decides the normals, the motions found say whether that matters. */
static enum status match_touches(struct gauss_mirror *self)
{
	struct arena *arena = &self->solve->step->dynamics->scratch;
	uint32_t most = self->solve->contact_count;
	struct mirror_touch *items = ARENA_ARRAY(arena, struct mirror_touch, most);
	struct mirror_touch *merged = ARENA_ARRAY(arena, struct mirror_touch, most);
	uint32_t *first = ARENA_ARRAY(arena, uint32_t, self->solve->step->body_count + 1);
	if (items == NULL || merged == NULL || first == NULL)
		return STATUS_NO_MEMORY;
	uint32_t count = list_touches(self, items, merged, first);
	for (uint32_t i = 0; i < count && self->mirrored; i++) {
		uint32_t partner = self->partner[items[i].slot];
		struct mirror_touch image = items[i];
		double least = __builtin_inf();
		image.normal.x = -image.normal.x;
		image.velocity = image_of_velocity(image.velocity);
		for (uint32_t k = first[partner]; k < first[partner + 1]; k++)
			least = scalar_min(least, touches_differ(&image, &items[k]));
		self->mirrored = least <= MIRRORED || least > FAR_FROM_MIRRORED;
	}
	return STATUS_OK;
}

/* ---- bars ------------------------------------------------------------------------------------- */

/* An end of a bar: where it is, m, and the slot of what it is on, if that moves. */
struct mirror_end {
	vec3 at;
	uint32_t slot; /* UINT32_MAX: it does not move */
};

static void ends_of(const struct gauss_mirror *self, const struct step_joints *joints,
		    uint32_t index, struct mirror_end ends[2])
{
	const struct joint *joint = &joints->joints[index];
	const struct body_motion *start = self->solve->start;
	uint32_t a = joints->constraints[index].body_a, b = joints->constraints[index].body_b;
	const struct body_motion *at_a = a == ROW_NO_BODY ? &joint->a : &start[a];
	const struct body_motion *at_b = b == ROW_NO_BODY ? &joint->b : &start[b];
	ends[0] = (struct mirror_end){ joint_anchor_a(joint, at_a), moving_slot(self, a) };
	ends[1] = (struct mirror_end){ joint_anchor_b(joint, at_b), moving_slot(self, b) };
}

/* Whether `of` is the image of an end. */
static bool is_end_image(const struct gauss_mirror *self, const struct mirror_end *end,
			 const struct mirror_end *of)
{
	vec3 image = vec3_make(2 * self->plane - end->at.x, end->at.y, end->at.z);
	vec3 off = vec3_abs(vec3_sub(of->at, image));
	uint32_t slot = end->slot == UINT32_MAX ? UINT32_MAX : self->partner[end->slot];
	return scalar_max(off.x, scalar_max(off.y, off.z)) <= MIRRORED && of->slot == slot;
}

static bool is_joint_image(const struct gauss_mirror *self, const struct step_joints *joints,
			   uint32_t i, uint32_t k)
{
	const struct joint_axis *p = &joints->joints[i].axes[0], *q = &joints->joints[k].axes[0];
	struct mirror_end a[2], b[2];
	bool alike = p->mode == q->mode && p->spring == q->spring && p->motor == q->motor &&
		     p->lower == q->lower && p->upper == q->upper && p->friction == q->friction &&
		     p->stiffness == q->stiffness && p->damping == q->damping &&
		     scalar_abs(p->rest - q->rest) <= MIRRORED &&
		     p->spring_limit == q->spring_limit && p->motor_limit == q->motor_limit &&
		     p->motor_stiffness == q->motor_stiffness &&
		     p->motor_damping == q->motor_damping && p->armature == q->armature &&
		     p->target == q->target && p->rate == q->rate;
	if (!alike)
		return false;
	ends_of(self, joints, i, a);
	ends_of(self, joints, k, b);
	return (is_end_image(self, &a[0], &b[0]) && is_end_image(self, &a[1], &b[1])) ||
	       (is_end_image(self, &a[0], &b[1]) && is_end_image(self, &a[1], &b[0]));
}

/* Whether every joint is a bar that has an image. */
static enum status match_joints(struct gauss_mirror *self, const struct step_joints *joints)
{
	struct arena *arena = &self->solve->step->dynamics->scratch;
	struct mirror_body *items = ARENA_ARRAY(arena, struct mirror_body, joints->count);
	struct mirror_body *merged = ARENA_ARRAY(arena, struct mirror_body, joints->count);
	if (items == NULL || merged == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < joints->count; i++) {
		struct mirror_end ends[2];
		self->mirrored &= joints->joints[i].type == JOINT_DISTANCE;
		ends_of(self, joints, i, ends);
		items[i].key = 0.5 * (key_of(self, ends[0].at) + key_of(self, ends[1].at));
		items[i].slot = i;
	}
	if (!self->mirrored)
		return STATUS_OK;
	sort_items(items, merged, joints->count, sizeof *items, compare_bodies, NULL);
	for (uint32_t i = 0; i < joints->count && self->mirrored; i++) {
		uint32_t k = i;
		while (k > 0 && items[k - 1].key >= items[i].key - KEY_WIDTH)
			k--;
		bool found = false;
		for (; k < joints->count && !found && items[k].key <= items[i].key + KEY_WIDTH; k++)
			found = is_joint_image(self, joints, items[i].slot, items[k].slot);
		self->mirrored = found;
	}
	return STATUS_OK;
}

enum status gauss_mirror_find(struct gauss_mirror *self, const struct velocity_step *solve)
{
	struct arena *arena = &solve->step->dynamics->scratch;
	const struct body_motion *start = solve->start;
	uint32_t slots = solve->step->body_count;
	struct mirror_body *bodies = ARENA_ARRAY(arena, struct mirror_body, slots);
	struct mirror_body *merged = ARENA_ARRAY(arena, struct mirror_body, slots);
	*self = (struct gauss_mirror){ .solve = solve,
				       .partner = ARENA_ARRAY(arena, uint32_t, slots) };
	if (bodies == NULL || merged == NULL || self->partner == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t slot = 0; slot < slots; slot++) {
		self->partner[slot] = UINT32_MAX;
		if (!mass_moves(&solve->mass, slot))
			continue;
		bodies[self->count++].slot = slot;
		self->plane += start[slot].centre.x;
	}
	if (self->count == 0)
		return STATUS_OK;
	self->plane /= self->count;
	for (uint32_t i = 0; i < self->count; i++)
		bodies[i].key = key_of(self, start[bodies[i].slot].centre);
	sort_items(bodies, merged, self->count, sizeof *bodies, compare_bodies, NULL);
	self->mirrored = find_pairs(self, bodies) && forces_mirrored(self);
	enum status status = self->mirrored ? match_touches(self) : STATUS_OK;
	if (status == STATUS_OK && self->mirrored)
		status = match_joints(self, &solve->joints);
	return status;
}

/* Whether the motions found are images of each other up to `error`, m/s and rad/s. */
static bool ends_mirrored(const struct gauss_mirror *self, const struct body_motion *motions,
			  double error)
{
	double most = 0;
	ASSERT(self->mirrored && self->count > 0);
	for (uint32_t slot = 0; slot < self->solve->step->body_count; slot++) {
		uint32_t partner = self->partner[slot];
		if (partner == UINT32_MAX)
			continue;
		double places, velocities;
		struct body_motion image = image_of(&motions[partner], self->plane);
		compare_motions(&motions[slot], &image, &places, &velocities);
		most = scalar_max(most, velocities);
	}
	return most <= GROWTH * error;
}

void gauss_mirror_apply(const struct gauss_mirror *self, struct body_motion *motions, double error)
{
	ASSERT(self->partner != NULL && error > 0);
	if (!self->mirrored || !ends_mirrored(self, motions, error))
		return;
	for (uint32_t slot = 0; slot < self->solve->step->body_count; slot++) {
		uint32_t partner = self->partner[slot];
		if (partner == UINT32_MAX || partner < slot)
			continue;
		struct body_motion *mine = &motions[slot], image;
		image = image_of(&motions[partner], self->plane);
		bool turned = vec3_dot(quat_vector(mine->rotation), quat_vector(image.rotation)) +
				      mine->rotation.w * image.rotation.w <
			      0;
		quat q = turned ? quat_negate(image.rotation) : image.rotation;
		mine->centre = vec3_lerp(mine->centre, image.centre, 0.5);
		mine->velocity = vec3_lerp(mine->velocity, image.velocity, 0.5);
		mine->angular_velocity =
			vec3_lerp(mine->angular_velocity, image.angular_velocity, 0.5);
		mine->rotation =
			quat_normalize(quat_make(mine->rotation.w + q.w, mine->rotation.x + q.x,
						 mine->rotation.y + q.y, mine->rotation.z + q.z));
		image = image_of(mine, self->plane);
		if (partner != slot)
			motions[partner] = image;
	}
}
