/* soft_cluster.c: the many contacts of a pair of bodies, merged into few manifolds.
 *
 * A slab of 64 cubes on a fine mesh has 3200 contacts with 8000 points, all between the same two bodies,
 * so that no two may be solved side by side, and each has friction. Four points support a rigid body as
 * well as thousands.
 *
 *   group             the contacts with points of one pair of bodies (a, b), in order of rows
 *   cluster           of a group: each contact joins the first earlier contact whose normal is within
 *                     CLUSTER_COS of its own
 *   manifold          of a cluster: the four points that span the widest area, nearer points preferred
 *   second manifold   of a cluster: four more points, if some are deeper than all of the first manifold
 *                     or carry a load
 *
 * The second manifold supports a plate over a hump under its middle, which points at its corners do not.
 *
 * Nearness of a point is its separation at the step's end if its bodies keep their velocities. The four
 * points are chosen by width and not by depth, because at rest depths are rounding errors: the deepest
 * point would be another one in each tick, and the plate would be supported at another place.
 *
 * Warm starts. A point starts with its stored impulse. The stored impulse of a point that is no longer
 * chosen is added to the nearest chosen one, so that the sum is kept when points change. Friction and
 * twist are stored in the row of one of a manifold's points. They continue in the manifold that has
 * points of that row, or else in the first one: in another manifold they would act at another place, and
 * bodies at rest would creep.
 *
 * A contact alone in its cluster is solved unchanged. A cluster is of pieces with one material and one
 * surface velocity.
 *
 * Invariant 1: a cluster's points are points of its contacts, so the sum of stored impulses over a
 *   pair's rows is the impulse that acted.
 * Invariant 2: the clusters are a function of the list of contacts, of their multipliers and of the
 *   bodies' velocities; not of workers, because each group writes to its own slots.
 */
#include "server/engine/methods/soft_cluster.h"

#include "server/base/sort.h"
#include "server/engine/dynamics/contact_words.h"
#include "server/engine/dynamics/piece.h"
#include "server/engine/dynamics/tuning.h"
#include "server/engine/math/vec2.h"

#include <string.h>

enum {
	LEADERS_MAX = 16, /* clusters of a group; further contacts are solved alone */
	ALONE = 255,	  /* label of a contact without a cluster */
	GROUP_GRAIN = 16,
	CLEAR_GRAIN = 256,
	SECOND_MIN = 4, /* contacts of a cluster that may have a second manifold */
};

/* Cosine of 11°: normals that differ by less form one cluster. Larger: more manifolds on rough ground;
 * smaller: forces along wrong directions. */
#define CLUSTER_COS 0.98
/* m. A point this much farther away than the nearest one counts for half in the choice of four. Larger:
 * wide points without load are chosen, and humps sink in; smaller: rounding chooses. */
#define CLUSTER_FADE 2.5e-4
/* m. A point this much deeper than the four causes a second manifold. Larger: humps sink in by as much;
 * smaller: rounding causes second manifolds. */
#define CLUSTER_DEEPER 1e-4
/* 1. Weight of a point that carried a load, so that points change only for a reason. Larger: points
 * that are no longer the widest stay; 1: rounding changes them. */
#define CLUSTER_MEMORY 1.25
/* 1, of the width: points nearer than this are at one place. */
#define CLUSTER_PLACE 0.1

struct contact_group {
	uint32_t first, count; /* into `members` */
	uint32_t slot;	       /* its first cluster; as many as half its members at most */
	uint32_t clusters;     /* made */
};

/* A point of a contact, while the manifolds of a cluster are made. */
struct candidate {
	vec2 at;    /* m, from A's mass centre, in the plane of the cluster's normal */
	double key; /* m, separation at the step's end */
	double weight, load;
	uint32_t contact;
	uint8_t point;
	enum { POINT_LEFT, POINT_OPEN, POINT_CHOSEN } state;
};

struct cluster_work {
	const struct step *step;
	double dt;
	struct soft_clusters *out;
	uint32_t *members;	      /* indexes of contacts, by group */
	uint8_t *labels;	      /* by member */
	struct candidate *candidates; /* MANIFOLD_POINTS_MAX a member */
	struct contact_group *groups;
	uint32_t group_count;
};

uint64_t soft_clusters_need(uint64_t contacts)
{
	uint64_t per_contact = 2 * sizeof(uint64_t) + 2 * sizeof(uint32_t) + 2 * sizeof(uint8_t) +
			       MANIFOLD_POINTS_MAX * sizeof(struct candidate);
	uint64_t per_two =
		sizeof(struct contact_group) + sizeof(struct soft_cluster) + sizeof(uint32_t);
	return contacts * per_contact + contacts / 2 * per_two +
	       contact_words((uint32_t)contacts) * sizeof(uint64_t);
}

/* ---- choosing points -------------------------------------------------------------------------- */

static double apart_squared(vec2 a, vec2 b)
{
	return vec2_length_squared(vec2_sub(a, b));
}

/* Weighs the open points by nearness; returns their weighted mean. */
static vec2 weigh_candidates(struct candidate *candidates, uint32_t count)
{
	double nearest = __builtin_inf(), weights = 0;
	vec2 sum = vec2_zero();
	for (uint32_t i = 0; i < count; i++)
		if (candidates[i].state == POINT_OPEN)
			nearest = scalar_min(nearest, candidates[i].key);
	for (uint32_t i = 0; i < count; i++) {
		struct candidate *c = &candidates[i];
		if (c->state != POINT_OPEN)
			continue;
		double farther = (c->key - nearest) / CLUSTER_FADE,
		       near = 1 / (1 + farther * farther);
		c->weight = c->load > 0 ? near * CLUSTER_MEMORY : near;
		sum = vec2_mul_add(sum, c->at, near);
		weights += near;
	}
	return weights > 0 ? vec2_scale(sum, 1 / weights) : sum;
}

/* The gain of a further point over the chosen ones: the square of its distance from a point; or, because
 * the area of a triangle is linear in its third corner, twice the largest of `count` areas. */
struct gain {
	vec2 from;
	uint32_t count; /* 0: the distance */
	vec2 slope[3];
	double offset[3];
};

/* Twice the area of (a, b, at), seen from one side or the other. */
static void gain_add(struct gain *self, vec2 a, vec2 b, double side)
{
	ASSERT(self->count < COUNT_OF(self->slope) && (side == 1 || side == -1));
	vec2 along = vec2_scale(vec2_sub(b, a), side);
	self->slope[self->count] = vec2_make(-along.y, along.x);
	self->offset[self->count] = -vec2_cross(along, a);
	self->count++;
}

static struct gain gain_of(vec2 middle, struct candidate *const *chosen, uint32_t count)
{
	ASSERT(count < MANIFOLD_POINTS_MAX);
	struct gain gain = { .from = count == 0 ? middle : chosen[0]->at };
	if (count < 2)
		return gain;
	vec2 a = chosen[0]->at, b = chosen[1]->at;
	if (count == 2) {
		gain_add(&gain, a, b, 1);
		gain_add(&gain, a, b, -1);
		return gain;
	}
	vec2 c = chosen[2]->at;
	double outside = vec2_cross(vec2_sub(b, a), vec2_sub(c, a)) > 0 ? -1 : 1;
	gain_add(&gain, a, b, outside);
	gain_add(&gain, b, c, outside);
	gain_add(&gain, c, a, outside);
	return gain;
}

static double gain_at(const struct gain *self, vec2 at)
{
	if (self->count == 0)
		return apart_squared(at, self->from);
	double most = vec2_dot(self->slope[0], at) + self->offset[0];
	for (uint32_t k = 1; k < self->count; k++)
		most = scalar_max(most, vec2_dot(self->slope[k], at) + self->offset[k]);
	return most;
}

/* Chooses up to four of the open points, the widest; the first of equal ones. Returns their number, ≥ 1
 * if any point is open. */
static uint32_t choose_points(struct candidate *candidates, uint32_t count,
			      struct candidate **chosen)
{
	vec2 middle = weigh_candidates(candidates, count);
	double least = -1;
	for (uint32_t n = 0; n < MANIFOLD_POINTS_MAX; n++) {
		struct gain gain = gain_of(middle, chosen, n);
		struct candidate *best = NULL;
		double most = least;
		for (uint32_t i = 0; i < count; i++) {
			struct candidate *c = &candidates[i];
			double adds = c->weight * gain_at(&gain, c->at);
			if (adds > most && c->state == POINT_OPEN) {
				most = adds;
				best = c;
			}
		}
		if (best == NULL)
			return n;
		best->state = POINT_CHOSEN;
		chosen[n] = best;
		/* Distances below 10 µm, and areas that are nearly a line, add no support. */
		least = n == 0 ? 1e-10 : 1e-4 * apart_squared(chosen[1]->at, chosen[0]->at);
	}
	return MANIFOLD_POINTS_MAX;
}

/* Leaves those unchosen points open that are deeper than all chosen ones, or that carry a load at
 * another place than these. True if there is one. */
static bool open_deeper(struct candidate *candidates, uint32_t count,
			struct candidate *const *chosen, uint32_t chosen_count)
{
	ASSERT(chosen_count >= 1 && chosen_count <= count);
	double deepest = __builtin_inf(), wide = 0;
	for (uint32_t n = 0; n < chosen_count; n++) {
		deepest = scalar_min(deepest, chosen[n]->key);
		wide = scalar_max(wide, apart_squared(chosen[n]->at, chosen[0]->at));
	}
	bool any = false;
	for (uint32_t i = 0; i < count; i++) {
		struct candidate *c = &candidates[i];
		if (c->state == POINT_CHOSEN)
			continue;
		double apart = __builtin_inf();
		for (uint32_t n = 0; n < chosen_count; n++)
			apart = scalar_min(apart, apart_squared(c->at, chosen[n]->at));
		bool loaded = c->load > 0 && c->key < scalar_max(deepest, 0) + CLUSTER_DEEPER &&
			      apart > CLUSTER_PLACE * CLUSTER_PLACE * wide;
		c->state = loaded || c->key < deepest - CLUSTER_DEEPER ? POINT_OPEN : POINT_LEFT;
		any |= c->state == POINT_OPEN;
	}
	return any;
}

/* ---- one manifold ----------------------------------------------------------------------------- */

static void fill_cluster(const struct cluster_work *work, struct soft_cluster *to,
			 struct candidate *const *chosen, uint32_t count)
{
	const struct contact_state *items = work->step->contacts.items;
	ASSERT(count >= 1 && count <= MANIFOLD_POINTS_MAX);
	const struct contact_state *first = &items[chosen[0]->contact];
	vec3 normal = vec3_zero();
	memset(to, 0, sizeof *to);
	to->state = (struct contact_state){ .row = STEP_NO_ROW,
					    .body_a = first->body_a,
					    .body_b = first->body_b,
					    .a = first->a,
					    .b = first->b,
					    .point_count = (uint8_t)count };
	for (uint32_t n = 0; n < count; n++) {
		const struct contact_state *contact = &items[chosen[n]->contact];
		normal = vec3_add(normal, contact->normal);
		to->state.points[n] = contact->points[chosen[n]->point];
		to->contact[n] = chosen[n]->contact;
		to->point[n] = chosen[n]->point;
		to->multiplier[3 * n] = chosen[n]->load;
	}
	to->state.normal = vec3_normalize(normal);
}

/* Adds the stored impulse of each point that is in neither manifold to the nearest point that is. */
static void transfer_loads(struct soft_cluster *clusters, uint32_t made,
			   const struct candidate *candidates, uint32_t count,
			   struct candidate *const *chosen, const uint32_t *chosen_counts)
{
	ASSERT(made == 1 || made == 2);
	for (uint32_t i = 0; i < count; i++) {
		const struct candidate *c = &candidates[i];
		if (c->state == POINT_CHOSEN || c->load == 0)
			continue;
		double nearest = __builtin_inf();
		double *to = NULL;
		for (uint32_t m = 0; m < made; m++)
			for (uint32_t n = 0; n < chosen_counts[m]; n++) {
				const struct candidate *other = chosen[MANIFOLD_POINTS_MAX * m + n];
				double apart = apart_squared(c->at, other->at);
				if (apart < nearest) {
					nearest = apart;
					to = &clusters[m].multiplier[3 * n];
				}
			}
		if (to != NULL)
			*to += c->load;
	}
}

/* ---- one cluster ------------------------------------------------------------------------------ */

/* m/s: normal speed of a point, above 0 if it separates. */
static double separation_speed(const struct body_table *body, const struct contact_state *contact,
			       const struct contact_point *point)
{
	uint32_t a = contact->body_a, b = contact->body_b;
	vec3 at_a =
		vec3_add(body->velocity[a], vec3_cross(body->angular_velocity[a], point->arm_a));
	vec3 at_b =
		vec3_add(body->velocity[b], vec3_cross(body->angular_velocity[b], point->arm_b));
	return vec3_dot(contact->normal, vec3_sub(at_b, at_a));
}

/* Whether two bodies move so little against each other in the step that the choice does not depend on
 * it. */
static bool is_still(const struct dynamics *dynamics, uint32_t a, uint32_t b, double dt)
{
	const struct body_table *body = &dynamics->tables->body;
	double speed = vec3_distance(body->velocity[a], body->velocity[b]);
	const uint32_t both[2] = { a, b };
	for (uint32_t i = 0; i < 2; i++) {
		double spin = vec3_length(body->angular_velocity[both[i]]);
		if (spin > 0) /* a body of infinite reach has no spin: avoids 0 · ∞ */
			speed += spin * dynamics->bodies.items[both[i]].reach;
	}
	return speed * dt < 1e-3 * CLUSTER_FADE;
}

/* Collects the points of a label's contacts as candidates, and marks these clustered. */
static uint32_t gather_points(const struct cluster_work *work, const struct contact_group *group,
			      uint8_t label, vec3 normal)
{
	const struct step *step = work->step;
	const struct body_table *body = &step->dynamics->tables->body;
	const struct contact_state *any = &step->contacts.items[work->members[group->first]];
	bool still = is_still(step->dynamics, any->body_a, any->body_b, work->dt);
	vec3 right, up;
	vec3_frame(normal, &right, &up);
	struct candidate *out = &work->candidates[(size_t)MANIFOLD_POINTS_MAX * group->first];
	uint32_t count = 0;
	for (uint32_t m = group->first; m < group->first + group->count; m++) {
		if (work->labels[m] != label)
			continue;
		uint32_t index = work->members[m];
		const struct contact_state *contact = &step->contacts.items[index];
		const double *multiplier = step_multipliers(step, &step->contacts, index);
		work->out->clustered[index] = 1;
		for (uint32_t p = 0; p < contact->point_count; p++) {
			const struct contact_point *point = &contact->points[p];
			double way = still ? 0
					   : scalar_min(separation_speed(body, contact, point) *
								work->dt,
							0);
			out[count++] = (struct candidate){ .at = { vec3_dot(right, point->arm_a),
								   vec3_dot(up, point->arm_a) },
							   .key = point->separation + way,
							   .load = multiplier[3 * p],
							   .contact = index,
							   .point = (uint8_t)p,
							   .state = POINT_OPEN };
		}
	}
	return count;
}

static bool has_contact(const struct soft_cluster *cluster, uint32_t contact)
{
	for (uint32_t n = 0; n < cluster->state.point_count; n++)
		if (cluster->contact[n] == contact)
			return true;
	return false;
}

/* Entries of a row's multipliers that belong to the whole manifold: friction and twist. */
static const uint32_t SHARED[] = { 1, 2, 4, 5 };

/* Adds the stored friction and twist of the label's rows to its manifolds. */
static void collect_friction(const struct cluster_work *work, const struct contact_group *group,
			     uint8_t label, struct soft_cluster *clusters, uint32_t made)
{
	ASSERT(made == 1 || made == 2);
	const struct step *step = work->step;
	for (uint32_t m = group->first; m < group->first + group->count; m++) {
		if (work->labels[m] != label)
			continue;
		uint32_t index = work->members[m];
		const double *from = step_multipliers(step, &step->contacts, index);
		if (from[1] == 0 && from[2] == 0 && from[4] == 0 && from[5] == 0)
			continue;
		bool second = made == 2 && has_contact(&clusters[1], index) &&
			      !has_contact(&clusters[0], index);
		for (uint32_t k = 0; k < COUNT_OF(SHARED); k++)
			clusters[second].multiplier[SHARED[k]] += from[SHARED[k]];
	}
}

/* Chooses the contact whose row stores friction: one that the label's other manifold has no point of. */
static void choose_friction_contact(struct soft_cluster *cluster, const struct soft_cluster *other)
{
	ASSERT(cluster->state.point_count > 0);
	cluster->friction_contact = cluster->contact[0];
	for (uint32_t n = 0; other != NULL && n < cluster->state.point_count; n++)
		if (!has_contact(other, cluster->contact[n])) {
			cluster->friction_contact = cluster->contact[n];
			return;
		}
}

/* Makes a label's one or two manifolds; returns how many. */
static uint32_t make_clusters(const struct cluster_work *work, const struct contact_group *group,
			      uint8_t label, uint32_t contacts, vec3 normal,
			      struct soft_cluster *to)
{
	ASSERT(contacts >= 2 && contacts <= group->count);
	struct candidate *candidates =
		&work->candidates[(size_t)MANIFOLD_POINTS_MAX * group->first];
	struct candidate *chosen[2 * MANIFOLD_POINTS_MAX];
	uint32_t count = gather_points(work, group, label, normal), made = 1;
	uint32_t counts[2] = { choose_points(candidates, count, chosen), 0 };
	ASSERT(count <= MANIFOLD_POINTS_MAX * group->count);
	if (counts[0] == 0)
		return 0; /* an infinite speed leaves no order among the points: nothing is solved */
	fill_cluster(work, &to[0], chosen, counts[0]);
	if (contacts >= SECOND_MIN && open_deeper(candidates, count, chosen, counts[0])) {
		counts[1] = choose_points(candidates, count, &chosen[MANIFOLD_POINTS_MAX]);
		if (counts[1] > 0) {
			fill_cluster(work, &to[1], &chosen[MANIFOLD_POINTS_MAX], counts[1]);
			made = 2;
		}
	}
	for (uint32_t m = 0; m < made; m++)
		choose_friction_contact(&to[m], made == 2 ? &to[1 - m] : NULL);
	transfer_loads(to, made, candidates, count, chosen, counts);
	collect_friction(work, group, label, to, made);
	return made;
}

/* ---- groups ----------------------------------------------------------------------------------- */

/* Whether two contacts of a pair of bodies are of the same two surfaces. */
static bool is_alike(const struct dynamics *dynamics, const struct contact_state *x,
		     const struct contact_state *y)
{
	ASSERT(x->body_a == y->body_a && x->body_b == y->body_b);
	return dynamics->piece_used.count == 0 ||
	       (piece_alike(dynamics, x->a, y->a) && piece_alike(dynamics, x->b, y->b));
}

static void cluster_group(const struct cluster_work *work, struct contact_group *group)
{
	ASSERT(group->count >= 2);
	const struct contact_state *items = work->step->contacts.items;
	vec3 leaders[LEADERS_MAX];
	const struct contact_state *firsts[LEADERS_MAX];
	uint32_t counts[LEADERS_MAX], leader_count = 0;
	for (uint32_t m = group->first; m < group->first + group->count; m++) {
		const struct contact_state *contact = &items[work->members[m]];
		vec3 normal = contact->normal;
		uint32_t k = 0;
		while (k < leader_count && (vec3_dot(normal, leaders[k]) < CLUSTER_COS ||
					    !is_alike(work->step->dynamics, contact, firsts[k])))
			k++;
		work->labels[m] = k < LEADERS_MAX ? (uint8_t)k : ALONE;
		if (k == LEADERS_MAX)
			continue;
		if (k == leader_count) {
			leaders[leader_count] = normal;
			firsts[leader_count] = contact;
			counts[leader_count++] = 0;
		}
		counts[k]++;
	}
	ASSERT(group->clusters == 0 && leader_count <= LEADERS_MAX);
	for (uint32_t k = 0; k < leader_count; k++)
		if (counts[k] > 1)
			group->clusters +=
				make_clusters(work, group, (uint8_t)k, counts[k], leaders[k],
					      &work->out->items[group->slot + group->clusters]);
}

static void group_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct cluster_work *work = context;
	for (uint32_t i = first; i < last; i++)
		cluster_group(work, &work->groups[i]);
}

static bool is_movable(const struct step *step, uint32_t body)
{
	return step->dynamics->tables->body.status[body] == BODY_DYNAMIC &&
	       step_takes_part(step, body);
}

/* Whether its two bodies may have several contacts that are solved. */
ALWAYS_INLINE bool may_be_one_of_several(const struct step *step,
					 const struct contact_state *contact)
{
	const struct body_cache *bodies = step->dynamics->bodies.items;
	uint32_t a = contact->body_a, b = contact->body_b;
	return (bodies[a].divided || bodies[b].divided) && contact->point_count > 0 &&
	       (is_movable(step, a) || is_movable(step, b));
}

struct several_work {
	const struct step *step;
	uint64_t *several; /* bit a contact */
};

static void several_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct several_work *work = context;
	for (uint32_t w = first; w < last; w++)
		work->several[w] = contact_word(work->step, w, may_be_one_of_several);
}

/* Collects the contacts of pairs that may have several, with the bodies as keys, in order of rows.
 * *sorted stays true if the keys ascend, as those of a single large pair do. */
static uint32_t gather_members(const struct step *step, uint64_t *several, uint64_t *keys,
			       uint32_t *members, bool *sorted)
{
	uint32_t count = 0, words = contact_words(step->contacts.count);
	struct several_work work = { step, several };
	parallel_run(step->parallel, words, CONTACT_WORD_GRAIN, several_piece, &work);
	for (uint32_t w = 0; w < words; w++)
		for (uint64_t bits = several[w]; bits != 0; bits &= bits - 1) {
			uint32_t i = w * CONTACT_WORD + (uint32_t)__builtin_ctzll(bits);
			const struct contact_state *contact = &step->contacts.items[i];
			keys[count] = (uint64_t)contact->body_a << 32 | contact->body_b;
			*sorted = *sorted && (count == 0 || keys[count - 1] <= keys[count]);
			members[count++] = i;
		}
	return count;
}

static void find_groups(struct cluster_work *work, const uint64_t *keys, uint32_t count)
{
	uint32_t slot = 0;
	for (uint32_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && keys[end] == keys[i]; end++)
			;
		if (end - i < 2)
			continue;
		work->groups[work->group_count++] = (struct contact_group){ i, end - i, slot, 0 };
		slot += (end - i) / 2;
	}
}

void soft_clusters_make(struct soft_clusters *self, const struct step *step, double dt)
{
	struct arena *scratch = &step->dynamics->scratch;
	uint32_t contacts = step->contacts.count;
	*self = (struct soft_clusters){ .plain = contacts };
	if (contacts < 2 || !step->dynamics->any_divided)
		return;
	struct arena_mark mark = arena_mark(scratch);
	uint64_t *keys = ARENA_ARRAY(scratch, uint64_t, 2 * (uint64_t)contacts);
	uint32_t *members = ARENA_ARRAY(scratch, uint32_t, 2 * (uint64_t)contacts);
	uint64_t *several = ARENA_ARRAY(scratch, uint64_t, contact_words(contacts));
	ASSERT(keys != NULL && members != NULL && several != NULL); /* step_begin reserved all */
	bool sorted = true;
	uint32_t count = gather_members(step, several, keys, members, &sorted);
	struct cluster_work work = { .step = step, .dt = dt, .out = self, .members = members };
	if (count > 1) {
		if (!sorted)
			sort_keys(keys, members, keys + count, members + count, count);
		work.groups = ARENA_ARRAY(scratch, struct contact_group, count / 2);
		ASSERT(work.groups != NULL);
		find_groups(&work, keys, count);
	}
	if (work.group_count == 0) {
		arena_rewind(scratch, mark);
		return;
	}
	work.labels = ARENA_ARRAY(scratch, uint8_t, count);
	work.candidates =
		ARENA_ARRAY(scratch, struct candidate, (uint64_t)count * MANIFOLD_POINTS_MAX);
	self->items = ARENA_ARRAY(scratch, struct soft_cluster, count / 2);
	self->order = ARENA_ARRAY(scratch, uint32_t, count / 2);
	self->clustered = arena_push_zero(scratch, contacts);
	ASSERT(work.labels != NULL && work.candidates != NULL && self->items != NULL);
	ASSERT(self->order != NULL && self->clustered != NULL);
	parallel_run(step->parallel, work.group_count, GROUP_GRAIN, group_piece, &work);
	for (uint32_t g = 0; g < work.group_count; g++)
		for (uint32_t k = 0; k < work.groups[g].clusters; k++)
			self->order[self->count++] = work.groups[g].slot + k;
	ASSERT(self->count <= count / 2);
}

/* ---- storing ---------------------------------------------------------------------------------- */

struct clear_work {
	const struct soft_clusters *clusters;
	const struct step *step;
};

static void clear_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct clear_work *work = context;
	struct contact_table *table = &work->step->dynamics->tables->contact;
	for (uint32_t i = first; i < last; i++) {
		if (!work->clusters->clustered[i])
			continue;
		uint32_t row = work->step->contacts.items[i].row;
		memset(table->normal_impulse[row], 0, sizeof table->normal_impulse[row]);
		memset(table->friction_impulse[row], 0, sizeof table->friction_impulse[row]);
		memset(table->multiplier[row], 0, sizeof table->multiplier[row]);
	}
}

/* Friction acts once a manifold, and is stored in one row. */
static void store_cluster(struct contact_table *table, const struct contact_state *items,
			  const struct soft_cluster *from)
{
	for (uint32_t n = 0; n < from->state.point_count; n++) {
		VALIDATE(from->point[n] < items[from->contact[n]].point_count);
		uint32_t row = items[from->contact[n]].row;
		table->normal_impulse[row][from->point[n]] = from->normal_impulse[n];
		table->multiplier[row][3 * from->point[n]] = from->multiplier[3 * n];
	}
	uint32_t row = items[from->friction_contact].row;
	for (uint32_t k = 0; k < 3; k++)
		table->friction_impulse[row][k] += from->friction_impulse[k];
	for (uint32_t k = 0; k < COUNT_OF(SHARED); k++)
		table->multiplier[row][SHARED[k]] += from->multiplier[SHARED[k]];
}

void soft_clusters_store(const struct soft_clusters *self, const struct step *step)
{
	if (self->clustered == NULL)
		return;
	struct clear_work work = { self, step };
	parallel_run(step->parallel, self->plain, CLEAR_GRAIN, clear_piece, &work);
	for (uint32_t k = 0; k < self->count; k++)
		store_cluster(&step->dynamics->tables->contact, step->contacts.items,
			      &self->items[self->order[k]]);
}
