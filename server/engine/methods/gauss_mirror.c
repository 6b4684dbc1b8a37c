/* gauss_mirror.c: keeps what begins mirrored mirrored.
 *
 * The optimum of a mirrored problem is mirrored, but a solver reaches it up to rounding, and a tower that
 * falls amplifies that (papers R, failure cases). If the moving bodies are images of each other in a plane
 * x = x0 as the step begins, and so are the motions found, up to rounding, then each pair gets the mean of
 * its motion and the image of the other's.
 *
 * x0 is the mean of all mass centres. A body and its image have the same |x − x0|, y and z, so also
 * the same |x − x0| + √2 y + √3 z. Bodies are sorted by that; only those whose keys differ by no
 * more than two images' may are compared. The bodies of a tower lie on a lattice, of which no two
 * points that are not images have equal keys, because 1, √2 and √3 have no rational relation (by |x
 * − x0| alone, all bricks of two columns would be compared with each other). What does not move is
 * not looked at: if it is not mirrored, the motions are not. O(n log n).
 *
 * Solutions whose rows are all good may differ: each gap by gauss.overlap and each row by the
 * solver's residual, over the step, times what nearly dependent rows make of it (velocity_island.c
 * takes rows for contradictory beyond that). Motions that differ by less are equally good, and so
 * is their mean, because rows are linear; energy is convex, so the mean has no more of it. Motions
 * that differ by more are left alone.
 */
#include "server/base/sort.h"
#include "server/engine/methods/gauss.h"

/* m, m/s, rad/s, 1: what begins no farther from its image is mirrored. */
#define MIRRORED 1e-9
#define ROOT_2 1.4142135623730951
#define ROOT_3 1.7320508075688772
/* m: keys of images differ by no more. */
#define KEY_WIDTH (MIRRORED * (1 + ROOT_2 + ROOT_3))
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
	if (body->mass[a] != body->mass[b] || body->status[a] != body->status[b])
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
	compare_motions(image, &self->start[slot], &places, &velocities);
	return places <= MIRRORED && velocities <= MIRRORED &&
	       are_alike(self->step->dynamics, self->step->bodies[of], self->step->bodies[slot]);
}

/* The slot of the image of bodies[at]; UINT32_MAX: there is none. */
static uint32_t find_image(const struct gauss_mirror *self, const struct mirror_body *bodies,
			   uint32_t at)
{
	uint32_t slot = bodies[at].slot, first = at;
	struct body_motion image = image_of(&self->start[slot], self->plane);
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
		ASSERT(slot < self->step->body_count);
		self->partner[bodies[i].slot] = slot;
	}
	return true;
}

enum status gauss_mirror_find(struct gauss_mirror *self, const struct step *step,
			      const struct mass_operator *mass, const struct body_motion *start)
{
	struct arena *arena = &step->dynamics->scratch;
	uint32_t slots = step->body_count;
	struct mirror_body *bodies = ARENA_ARRAY(arena, struct mirror_body, slots);
	struct mirror_body *merged = ARENA_ARRAY(arena, struct mirror_body, slots);
	*self = (struct gauss_mirror){ .step = step,
				       .start = start,
				       .partner = ARENA_ARRAY(arena, uint32_t, slots) };
	if (bodies == NULL || merged == NULL || self->partner == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t slot = 0; slot < slots; slot++) {
		self->partner[slot] = UINT32_MAX;
		if (!mass_moves(mass, slot))
			continue;
		bodies[self->count++].slot = slot;
		self->plane += start[slot].centre.x;
	}
	if (self->count == 0)
		return STATUS_OK;
	self->plane /= self->count;
	for (uint32_t i = 0; i < self->count; i++) {
		vec3 at = start[bodies[i].slot].centre;
		bodies[i].key = scalar_abs(at.x - self->plane) + ROOT_2 * at.y + ROOT_3 * at.z;
	}
	sort_items(bodies, merged, self->count, sizeof *bodies, compare_bodies, NULL);
	self->mirrored = find_pairs(self, bodies);
	return STATUS_OK;
}

/* Whether the motions found are images of each other up to `error`, m/s and rad/s. */
static bool ends_mirrored(const struct gauss_mirror *self, const struct body_motion *motions,
			  double error)
{
	double most = 0;
	ASSERT(self->mirrored && self->count > 0);
	for (uint32_t slot = 0; slot < self->step->body_count; slot++) {
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
	for (uint32_t slot = 0; slot < self->step->body_count; slot++) {
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
