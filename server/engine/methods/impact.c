/* impact.c: `impact`: rigid bodies from event to event (the book's engine; ch4-5 D6a,
 * D6c; ch1-3 ).
 *
 * A tick of h seconds:
 *
 *   1  at its start, contacts that touch and approach get impulses, all of an island at once: Newton's
 *      restitution above restitution.speed, static and dynamic friction, joints in the same system
 *   2  every body moves to the tick's end under its forces; points that touch carry contact forces,
 *      which the accelerations and their curvature terms decide (impact_island.c); islands with joints
 *      move as under `lcp` (velocity_joint.c)
 *   3  pairs are complete over all paths, also of bodies that leave their fat boxes (step_reach)
 *   4  for each pair the time at which it meets on its paths (impact_path.c)
 *   5  the earliest pairs, with those within impact.time_tolerance of them, are one event. Its bodies, and
 *      all that are linked to them by touching or by joints, go back to the time of the event: they are
 *      integrated to it from their clocks. Contacts are found there, impulses solved, and the bodies,
 *      and no others, are moved to the tick's end again: 1 and 2 with the event's time; then 3 to 5
 *
 * Each body has its own clock, so an event costs with what is linked to it. Bodies that no event
 * concerns keep their motion bit for bit.
 *
 * Invalid states. Bodies that overlap and approach collide at once; bodies that overlap and part have no
 * event until they approach again. Penetration is removed by displacements that give no velocity, at
 * most at contact.push_speed.
 *
 * Ends. Above impact.rounds events of a body in a tick its collisions lose their restitution for the rest of
 * the tick; above twice as many, the gaps around it are closed by its contact forces and no further event of
 * it is looked for. An event of n linked bodies counts as 1 + n/ROUND_BODIES of each of them, because it
 * costs with n. So the cost of a tick is bounded. Both are counted as fallbacks, and so is a time of
 * collision that could not be found.
 *
 * Bodies with sub-steps or a tolerance reach the tick's end in parts (impact_parts.c). The end of a
 * part is an event of their group that is no collision: contacts are found anew, and the next part
 * begins.
 *
 * A collision that would end within END of the tick's end happens as the next one begins.
 */
#include "server/engine/methods/impact.h"

#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/joint_torque.h"
#include "server/engine/methods/method.h"
#include "server/engine/world/parameters.h"

#include <string.h>

/* 1, of the tick. Shorter motions than this part are not made: they would end by rounding. */
#define END 1e-9

enum {
	TIME_GRAIN = 16,
	/* Of one solution of a large island with friction. Heaps that need more need hundreds, and are solved
	 * several times a tick. */
	SOLVER_ROUNDS = 120,
	/* Rows of an island with friction that is solved dense. Its contacts are new at an event,
	 * so the sparse solver would need many factors. */
	FRICTION_ROWS = 60,
};
/* 1. How far the sparse solver refines sets of active rows of which it leaves many again. */
#define SOLVER_COARSE 1e-3

#define ALLOCATE(type, count) ARENA_ARRAY(&self->step->dynamics->scratch, type, count)

/* ---- bodies ----------------------------------------------------------------------------------- */

static enum status allocate_bodies(struct impact_step *self)
{
	ASSERT(self->step->dt > 0);
	uint32_t n = self->step->body_count;
	enum status status = impact_parts_begin(self);
	if (status != STATUS_OK)
		return status;
	self->first_pair = ALLOCATE(uint32_t, n);
	self->first_joint = ALLOCATE(uint32_t, n);
	self->clock = ALLOCATE(double, n);
	self->from = ALLOCATE(struct body_motion, n);
	self->to = ALLOCATE(struct body_motion, n);
	self->now = ALLOCATE(struct body_motion, n);
	self->rounds = ALLOCATE(uint32_t, n);
	self->local = ALLOCATE(uint32_t, n);
	self->reached = ALLOCATE(struct aabb, n);
	if (self->first_pair == NULL || self->first_joint == NULL || self->clock == NULL ||
	    self->from == NULL || self->to == NULL || self->now == NULL || self->rounds == NULL ||
	    self->local == NULL || self->reached == NULL)
		return STATUS_NO_MEMORY;
	const struct dynamics *dynamics = self->step->dynamics;
	struct force_sum none = { vec3_zero(), vec3_zero(), vec3_zero() };
	for (uint32_t slot = 0; slot < n; slot++) {
		uint32_t body = self->step->bodies[slot];
		self->from[slot] = dynamics_motion(dynamics, body);
		self->clock[slot] = 0;
		self->rounds[slot] = 0;
		self->local[slot] = UINT32_MAX;
		self->reached[slot] = aabb_empty();
		struct body_start start = integrate_start_at(dynamics, body, &self->from[slot],
							     &none, self->step->dt);
		self->to[slot] = integrate_free_at(dynamics, body, &self->from[slot], &start,
						   self->step->dt, 1);
		self->now[slot] = self->from[slot];
	}
	return STATUS_OK;
}

/* ---- times ------------------------------------------------------------------------------------ */

struct time_work {
	struct impact_step *self;
	const uint32_t *pairs;
};

static void find_times(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct time_work *work = context;
	for (uint32_t i = first; i < last; i++) {
		uint32_t p = work->pairs[i];
		struct impact_pair *pair = &work->self->pairs[p];
		pair->unresolved = 0;
		pair->time = impact_is_settled(work->self, &work->self->list->items[p])
				     ? __builtin_inf()
				     : impact_time(work->self, p, &pair->unresolved);
	}
}

/* An event at or after the tick's end is none of this tick. */
static void note_time(const struct impact_step *self, struct min_heap *heap, uint32_t item,
		      double time)
{
	if (time < self->step->dt * (1 - END))
		min_heap_put(heap, item, time);
	else
		min_heap_remove(heap, item);
}

/* The times of all pairs and joints of a set. */
static enum status update_times(struct impact_step *self, const struct impact_set *set)
{
	struct arena *scratch = &self->step->dynamics->scratch;
	struct arena_mark mark = arena_mark(scratch);
	uint32_t *pairs, count;
	enum status status = impact_pairs_of(self, set, &pairs, &count);
	if (status != STATUS_OK)
		return status;
	ASSERT(count <= self->list->count);
	struct time_work work = { self, pairs };
	parallel_run(self->step->parallel, count, TIME_GRAIN, find_times, &work);
	for (uint32_t i = 0; i < count; i++) {
		const struct impact_pair *pair = &self->pairs[pairs[i]];
		self->counts.unresolved += pair->unresolved;
		note_time(self, &self->coming, pairs[i], pair->time);
	}
	arena_rewind(scratch, mark);
	for (uint32_t i = 0; i < set->count; i++) {
		uint32_t slot = set->items[i];
		for (uint32_t j = self->first_joint[slot]; j != UINT32_MAX;) {
			bool is_a = self->joints.constraints[j].body_a == slot;
			if (self->bounces[j])
				note_time(self, &self->limits, j, impact_limit_time(self, j));
			j = is_a ? self->joint_next_a[j] : self->joint_next_b[j];
		}
	}
	return STATUS_OK;
}

/* ---- motion ----------------------------------------------------------------------------------- */

void impact_forget_coming(const struct impact_step *self, const uint32_t *pairs, uint32_t count,
			  const struct impact_set *set)
{
	for (uint32_t i = 0; i < count; i++)
		self->records[pairs[i]].coming = (struct impact_impulses){ .count = 0 };
	for (uint32_t i = 0; i < set->count; i++) {
		uint32_t slot = set->items[i];
		for (uint32_t j = self->first_joint[slot]; j != UINT32_MAX;) {
			bool is_a = self->joints.constraints[j].body_a == slot;
			memset(&self->joint_records[j].coming, 0,
			       sizeof self->joint_records[j].coming);
			j = is_a ? self->joint_next_a[j] : self->joint_next_b[j];
		}
	}
}

/* Brings the bodies of a set from their clocks to `time`. Linked bodies have equal clocks. */
static enum status go_to(struct impact_step *self, const struct impact_set *set, double time)
{
	struct arena *scratch = &self->step->dynamics->scratch;
	uint32_t *part = ALLOCATE(uint32_t, set->count);
	ASSERT(time >= 0 && set->count <= self->step->body_count);
	if (part == NULL)
		return STATUS_NO_MEMORY;
	for (;;) {
		double clock = time;
		for (uint32_t i = 0; i < set->count; i++)
			if (self->movable[set->items[i]])
				clock = scalar_min(clock, self->clock[set->items[i]]);
		if (!(clock < time))
			return STATUS_OK;
		uint32_t count = 0;
		for (uint32_t i = 0; i < set->count; i++)
			if (!self->movable[set->items[i]] || self->clock[set->items[i]] == clock)
				part[count++] = set->items[i];
		struct arena_mark mark = arena_mark(scratch);
		struct impact_batch batch;
		impact_set_forget(self, set);
		enum status status = STATUS_OK;
		if (time - clock > END * END * self->step->dt) {
			status = impact_batch_make(&batch, self, part, count, time - clock);
			if (status == STATUS_OK)
				status = impact_batch_move(&batch, self->from, false);
		}
		arena_rewind(scratch, mark);
		impact_set_forget(self, set);
		if (status != STATUS_OK)
			return status;
		for (uint32_t i = 0; i < count; i++)
			if (self->movable[part[i]])
				self->clock[part[i]] = time;
	}
}

/* Contacts of the pairs at `time`, and whether they touch: with bodies of the set (`local`), and with
 * bodies that cannot move. */
enum status impact_find_contacts(struct impact_step *self, const struct impact_set *set,
				 const uint32_t *pairs, uint32_t count, double time)
{
	ASSERT(count <= self->list->count && time >= 0);
	struct contact_list list = { ALLOCATE(struct contact_state, count),
				     ALLOCATE(struct contact_made, count), count, count, false };
	if (list.items == NULL || list.made == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		const struct contact_state *contact = &self->list->items[pairs[i]];
		const uint32_t bodies[2] = { contact->body_a, contact->body_b };
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t slot = impact_slot(self, bodies[k]);
			if (slot != ROW_NO_BODY)
				self->now[slot] = impact_motion_at(self, bodies[k], time);
		}
		list.items[i] = *contact;
	}
	struct collide_options options = collide_options_default(self->step->dt - time);
	options.motions = self->now;
	options.nearest = IMPACT_TOUCH;
	options.anew = true;
	options.carry = CARRY_POINTS;
	step_collide(self->step, &list, 0, &options);
	enum status status = impact_regions_apply(self, &list, pairs, self->now, false);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < set->count; i++)
		self->local[set->items[i]] = i;
	for (uint32_t i = 0; i < count; i++) {
		struct contact_state *contact = &self->list->items[pairs[i]];
		*contact = list.items[i];
		self->list->made[pairs[i]] = list.made[i];
		uint32_t a = impact_slot(self, contact->body_a);
		uint32_t b = impact_slot(self, contact->body_b);
		bool in_a = a == ROW_NO_BODY || !self->movable[a] || self->local[a] != UINT32_MAX;
		bool in_b = b == ROW_NO_BODY || !self->movable[b] || self->local[b] != UINT32_MAX;
		struct body_motion at_a = impact_motion_at(self, contact->body_a, time);
		struct body_motion at_b = impact_motion_at(self, contact->body_b, time);
		struct impact_pair *pair = &self->pairs[pairs[i]];
		pair->touching = in_a && in_b && impact_touches(self, pairs[i], &at_a, &at_b);
		if (pair->touching && pair->first > time && !pair->rested)
			pair->first = time;
	}
	impact_set_forget(self, set);
	return STATUS_OK;
}

/* ---- events ----------------------------------------------------------------------------------- */

/* Adds the bodies whose parts of the tick end at `time`, and all that are linked to them. */
static void add_ending(struct impact_step *self, struct impact_set *set, double time)
{
	while (impact_parts_next(self) == time)
		impact_set_add(self, set, impact_parts_take(self));
	impact_set_add_linked(self, set);
	impact_set_forget(self, set);
	self->counts.substeps++;
}

/* Counts the way in which the pieces of a collision were found: by convex parts, by a distance field. */
static void count_way(struct impact_step *self, const struct contact_state *contact)
{
	const struct dynamics *dynamics = self->step->dynamics;
	const struct shape *a = placement_shape(dynamics, contact->a.placement);
	const struct shape *b = placement_shape(dynamics, contact->b.placement);
	ASSERT(contact->a.placement != contact->b.placement);
	bool field = shape_is_field(a) || shape_is_field(b);
	bool solid = a->kind == SHAPE_SOLID || b->kind == SHAPE_SOLID;
	self->counts.met_fields += field;
	self->counts.met_parts += solid && !field;
}

/* The bodies of the earliest event (collisions, or a joint on its way to a limit; or ends of parts of the
 * tick, which are no *collision) and all that are linked to them. *time is infinite if there is no event.
 * NO_MEMORY. */
static enum status next_event(struct impact_step *self, struct impact_set *set, double *time,
			      bool *collision)
{
	struct arena *scratch = &self->step->dynamics->scratch;
	struct arena_mark mark = arena_mark(scratch);
	const struct min_heap_entry *pair = min_heap_first(&self->coming);
	const struct min_heap_entry *joint = min_heap_first(&self->limits);
	double first = pair != NULL ? pair->key : __builtin_inf();
	double end = impact_parts_next(self);
	bool is_joint = joint != NULL && joint->key < first;
	if (is_joint)
		first = joint->key;
	set->count = 0;
	*collision = first < __builtin_inf() && first <= end;
	*time = *collision ? first : end;
	if (!*collision) {
		if (end < __builtin_inf())
			add_ending(self, set, end);
		return STATUS_OK;
	}
	self->counts.groups++;
	if (is_joint) {
		const struct constraint *of = &self->joints.constraints[joint->item];
		self->counts.events++;
		impact_set_add(self, set, of->body_a);
		impact_set_add(self, set, of->body_b);
	}
	ASSERT(set->count <= 2);
	uint32_t *hit = ALLOCATE(uint32_t, self->coming.count);
	if (hit == NULL)
		return STATUS_NO_MEMORY;
	uint32_t count = min_heap_up_to(&self->coming, first + self->time_tolerance, hit);
	self->counts.events += count;
	for (uint32_t i = 0; i < count; i++) {
		const struct contact_state *contact = &self->list->items[hit[i]];
		self->pairs[hit[i]].hit = true;
		count_way(self, contact);
		impact_set_add(self, set, impact_slot(self, contact->body_a));
		impact_set_add(self, set, impact_slot(self, contact->body_b));
	}
	arena_rewind(scratch, mark);
	impact_set_add_linked(self, set);
	impact_set_forget(self, set);
	return STATUS_OK;
}

static enum status resolve_event(struct impact_step *self, struct impact_set *set, double time,
				 bool collision, struct reason *why)
{
	struct arena *scratch = &self->step->dynamics->scratch;
	struct arena_mark mark = arena_mark(scratch);
	uint32_t *pairs, count;
	enum status status = impact_set_sort(self, set);
	if (status == STATUS_OK)
		status = impact_pairs_of(self, set, &pairs, &count);
	if (status != STATUS_OK)
		return status;
	impact_parts_end(self, set, pairs, count, time);
	impact_forget_coming(self, pairs, count, set);
	status = go_to(self, set, time);
	if (status == STATUS_OK)
		status = impact_fields_collide(self, pairs, count);
	if (status == STATUS_OK)
		status = impact_find_contacts(self, set, pairs, count, time);
	if (status == STATUS_OK)
		status = impact_parts_resolve(self, set, collision);
	impact_set_forget(self, set);
	for (uint32_t i = 0; i < count; i++)
		self->pairs[pairs[i]].hit = false;
	arena_rewind(scratch, mark);
	if (status != STATUS_OK)
		return status;
	/* The list may grow, and stays on the arena. */
	status = impact_reach(self, set, why);
	return status == STATUS_OK ? update_times(self, set) : status;
}

/* ---- the tick --------------------------------------------------------------------------------- */

static uint32_t to_count(double value)
{
	uint32_t count = 0;
	return scalar_to_u32(value, &count) ? count : 0;
}

static double pair_impulse(const struct impact_record *record)
{
	double sum = 0;
	ASSERT(record->past.count <= MANIFOLD_POINTS_MAX);
	ASSERT(record->coming.count <= MANIFOLD_POINTS_MAX);
	for (uint32_t k = 0; k < record->past.count; k++)
		sum += record->past.normal[k];
	for (uint32_t k = 0; k < record->coming.count; k++)
		sum += record->coming.normal[k];
	return sum;
}

static bool rested_before(const struct impact_step *self, const struct contact_state *contact)
{
	const struct contact_table *table = &self->step->dynamics->tables->contact;
	if (contact->is_new || !table->touching[contact->row])
		return false;
	double sum = 0;
	for (uint32_t k = 0; k < MANIFOLD_POINTS_MAX; k++)
		sum += table->normal_impulse[contact->row][k];
	return sum > 0;
}

/* Whether a pair is deeper than what is closed without an event: it began so, or was pressed. */
static bool overlaps(const struct contact_state *contact)
{
	bool deep = false;
	ASSERT(contact->point_count <= MANIFOLD_POINTS_MAX);
	for (uint32_t k = 0; k < contact->point_count; k++)
		deep |= contact->points[k].separation < -IMPACT_CLOSE;
	return deep;
}

static enum status begin_pairs(struct impact_step *self)
{
	uint32_t count = self->list->count;
	enum status status = impact_link_pairs(self);
	if (status != STATUS_OK)
		return status;
	uint32_t *all = ALLOCATE(uint32_t, count);
	if (all == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t p = 0; p < count; p++) {
		all[p] = p;
		self->counts.overlaps += overlaps(&self->list->items[p]);
	}
	status = impact_regions_apply(self, self->list, all, self->from, true);
	if (status != STATUS_OK)
		return status;
	for (uint32_t p = 0; p < count; p++) {
		struct contact_state *contact = &self->list->items[p];
		struct body_motion a = impact_motion_at(self, contact->body_a, 0);
		struct body_motion b = impact_motion_at(self, contact->body_b, 0);
		self->pairs[p].rested = rested_before(self, contact);
		self->pairs[p].touching = impact_touches(self, p, &a, &b);
		if (self->pairs[p].touching)
			self->pairs[p].first = 0;
	}
	return STATUS_OK;
}

static enum status begin_joints(struct impact_step *self, struct reason *why)
{
	enum status status = step_joints_make(self->step, self->step->dt, &self->joints, why);
	if (status != STATUS_OK)
		return status;
	uint32_t count = self->joints.count;
	ASSERT(count == 0 || self->joints.constraints != NULL);
	self->joint_next_a = ALLOCATE(uint32_t, count);
	self->joint_next_b = ALLOCATE(uint32_t, count);
	self->joint_records = arena_push_zero(&self->step->dynamics->scratch,
					      count * sizeof *self->joint_records);
	if (self->joint_next_a == NULL || self->joint_next_b == NULL || self->joint_records == NULL)
		return STATUS_NO_MEMORY;
	self->bounces = ALLOCATE(bool, count);
	struct min_heap_entry *entries = ALLOCATE(struct min_heap_entry, count);
	uint32_t *place = ALLOCATE(uint32_t, count);
	if (self->bounces == NULL || entries == NULL || place == NULL)
		return STATUS_NO_MEMORY;
	min_heap_init(&self->limits, entries, place, count);
	for (uint32_t j = 0; j < count; j++) {
		self->bounces[j] = false;
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
			self->bounces[j] |=
				self->joints.joints[j].axes[axis].mode == JOINT_LIMITED &&
				self->joints.joints[j].axes[axis].restitution > 0;
	}
	impact_link_joints(self);
	return STATUS_OK;
}

/* Moves all bodies from the tick's start: those whose tick is not divided at once, the others with all that
 * are linked to them. Leaves all slots in the set. */
static enum status move_all(struct impact_step *self, struct impact_set *set)
{
	uint32_t n = self->step->body_count, count = 0;
	uint32_t *whole = ALLOCATE(uint32_t, n);
	bool *done = arena_push_zero(&self->step->dynamics->scratch, n * sizeof *done);
	enum status status = whole == NULL || done == NULL ? STATUS_NO_MEMORY : STATUS_OK;
	for (uint32_t slot = 0; slot < n && status == STATUS_OK; slot++) {
		bool divides = false;
		if (done[slot])
			continue;
		set->count = 0;
		impact_set_add(self, set, slot);
		if (self->parted)
			impact_set_add_linked(self, set);
		impact_set_forget(self, set);
		for (uint32_t i = 0; i < set->count; i++)
			divides |= impact_parts_divide(self, set->items[i]);
		for (uint32_t i = 0; i < set->count; i++) {
			uint32_t member = set->items[i];
			if (!divides && !done[member])
				whole[count++] = member;
			done[member] |= self->movable[member] || !divides;
		}
		if (divides)
			status = impact_set_sort(self, set);
		if (divides && status == STATUS_OK) {
			status = impact_parts_resolve(self, set, false);
			impact_set_forget(self, set);
		}
	}
	struct impact_set rest = { whole, count };
	if (status == STATUS_OK && self->parted)
		status = impact_set_sort(self, &rest);
	if (status == STATUS_OK)
		status = impact_parts_resolve(self, &rest, false);
	impact_set_forget(self, &rest);
	for (uint32_t slot = 0; slot < n; slot++)
		set->items[slot] = slot;
	set->count = n;
	return status;
}

static enum status solve_tick(struct impact_step *self, struct reason *why)
{
	struct impact_set set = { ALLOCATE(uint32_t, self->step->body_count),
				  self->step->body_count };
	if (set.items == NULL)
		return STATUS_NO_MEMORY;
	enum status status = move_all(self, &set);
	if (status == STATUS_OK)
		status = impact_reach(self, &set, why);
	if (status == STATUS_OK)
		status = update_times(self, &set);
	while (status == STATUS_OK) {
		double time;
		bool collision;
		status = next_event(self, &set, &time, &collision);
		if (status != STATUS_OK || !(time < __builtin_inf()))
			break;
		status = resolve_event(self, &set, time, collision, why);
	}
	return status;
}

/* Contacts at the tick's end, for the table. */
static void find_last_contacts(struct impact_step *self)
{
	struct collide_options options = collide_options_default(self->step->dt);
	options.motions = self->to;
	options.anew = true;
	step_collide(self->step, self->list, 0, &options);
	for (uint32_t p = 0; p < self->list->count; p++) {
		self->list->items[p].timed = self->pairs[p].first < __builtin_inf();
		self->list->made[p].begins = self->pairs[p].first / self->step->dt;
	}
}

static void add_impulses(const struct contact_state *contact, const struct impact_impulses *from,
			 double normal[MANIFOLD_POINTS_MAX])
{
	ASSERT(from->count <= MANIFOLD_POINTS_MAX);
	for (uint32_t k = 0; k < from->count; k++) {
		uint32_t at = 0;
		for (uint32_t p = 0; p < contact->point_count; p++)
			if (contact->points[p].feature == from->feature[k])
				at = p;
		normal[at] += from->normal[k];
	}
}

static void store_impulses(const struct impact_step *self)
{
	struct contact_table *table = &self->step->dynamics->tables->contact;
	for (uint32_t p = 0; p < self->list->count; p++) {
		const struct contact_state *contact = &self->list->items[p];
		const struct impact_record *record = &self->records[p];
		uint32_t row = contact->row;
		ASSERT(row < table->count);
		double *normal = table->normal_impulse[row], *multiplier = table->multiplier[row];
		double rest[MANIFOLD_POINTS_MAX] = { 0 }, sum = 0;
		memset(normal, 0, sizeof table->normal_impulse[row]);
		memset(table->friction_impulse[row], 0, sizeof table->friction_impulse[row]);
		memset(multiplier, 0, sizeof table->multiplier[row]);
		if (contact->point_count == 0)
			continue;
		add_impulses(contact, &record->past, normal);
		add_impulses(contact, &record->coming, normal);
		add_impulses(contact, &record->coming, rest);
		vec3 friction = vec3_add(record->past.friction, record->coming.friction), t, k;
		table->friction_impulse[row][0] = friction.x;
		table->friction_impulse[row][1] = friction.y;
		table->friction_impulse[row][2] = friction.z;
		row_frame(contact->normal, &t, &k);
		for (uint32_t i = 0; i < contact->point_count; i++)
			sum += rest[i];
		/* Friction is known of the pair: each point begins with its share of it. */
		for (uint32_t i = 0; i < contact->point_count && sum > 0; i++) {
			multiplier[3 * i] = rest[i];
			multiplier[3 * i + 1] =
				vec3_dot(t, record->coming.friction) * rest[i] / sum;
			multiplier[3 * i + 2] =
				vec3_dot(k, record->coming.friction) * rest[i] / sum;
		}
	}
}

/* Pairs that met and parted so far within the tick that no point is near at its end. */
static void note_passing(const struct impact_step *self)
{
	struct dynamics *dynamics = self->step->dynamics;
	const struct tables *tables = dynamics->tables;
	for (uint32_t p = 0; p < self->list->count; p++) {
		const struct contact_state *contact = &self->list->items[p];
		double impulse = pair_impulse(&self->records[p]);
		if (contact->point_count > 0 || !(impulse > 0) ||
		    tables->contact.touching[contact->row])
			continue;
		struct event event = { .kind = EVENT_CONTACT_BEGIN,
				       .a = tables->body.id[contact->body_a],
				       .b = tables->body.id[contact->body_b],
				       .child_a = contact->a.child,
				       .child_b = contact->b.child,
				       .fraction = contact_begins(self->list, p),
				       .value = impulse };
		struct body_motion at = impact_motion_at(
			self, contact->body_a, contact_begins(self->list, p) * self->step->dt);
		event.point = at.centre;
		dynamics_event(dynamics, event);
		event.kind = EVENT_CONTACT_END;
		event.fraction = 1;
		event.value = 0;
		event.point = vec3_zero();
		dynamics_event(dynamics, event);
	}
}

static void store_joints(const struct impact_step *self, struct joint_result *results)
{
	for (uint32_t j = 0; j < self->joints.count; j++) {
		const struct impact_joint_record *record = &self->joint_records[j];
		results[j] = record->coming;
		for (uint32_t k = 0; k < JOINT_PLACES; k++)
			results[j].multiplier[k] += record->past.multiplier[k];
		results[j].on_b = spatial_mul_add(results[j].on_b, record->past.on_b, 1);
	}
	step_joints_store(self->step, &self->joints, results);
}

static void report_counts(const struct impact_step *self)
{
	struct step_report *to = &self->step->dynamics->report;
	const struct impact_figures *counts = &self->counts;
	to->fallbacks += (uint32_t)(counts->inelastic + counts->settled + counts->unresolved +
				    counts->forced + counts->rejected);
	to->impact = *counts;
	to->impact_error = self->error;
}

/* How the pairs met; *met stays NULL if nobody asks. NO_MEMORY. */
static enum status collect_met(const struct impact_step *self, const struct step_met **met)
{
	if (!(step_hit_speed(self->step) > 0) || self->list->count == 0)
		return STATUS_OK;
	struct step_met *out = ALLOCATE(struct step_met, self->list->count);
	if (out == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t p = 0; p < self->list->count; p++) {
		ASSERT(self->records[p].met.speed >= 0);
		out[p] = self->records[p].met;
		out[p].impulse = pair_impulse(&self->records[p]);
	}
	*met = out;
	return STATUS_OK;
}

static enum status finish_tick(struct impact_step *self, struct reason *why)
{
	struct step *step = self->step;
	struct joint_result *results = ALLOCATE(struct joint_result, self->joints.count);
	if (results == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory", "no memory for joints");
	const struct step_met *met = NULL;
	enum status status = impact_pairs_finish(self);
	if (status == STATUS_OK)
		status = collect_met(self, &met);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "memory", "no memory to sort pairs");
	find_last_contacts(self);
	status = step_commit(step, self->list, why);
	if (status != STATUS_OK)
		return status;
	note_passing(self);
	store_impulses(self);
	step_contacts_solved(step, self->list, met);
	step_store_all(step, self->to);
	store_joints(self, results);
	step_sleep(step);
	report_counts(self);
	step_finish(step);
	return STATUS_OK;
}

static enum status step_impact(void *state, struct dynamics *dynamics, double dt,
			       struct reason *why)
{
	UNUSED(state);
	struct step step;
	enum status status = velocity_step_begin(&step, dynamics, dt, why);
	if (status != STATUS_OK)
		return status;
	struct velocity_method method = { .core = VELOCITY_LCP, .friction = true };
	const double *parameter = dynamics->tables->parameter.value;
	struct impact_step self = {
		.step = &step,
		.settings = velocity_settings_of(dynamics, method),
		.list = &step.contacts,
		.rounds_max = to_count(parameter[PARAMETER_IMPACT_ROUNDS]),
		.time_tolerance = parameter[PARAMETER_IMPACT_TIME_TOLERANCE],
		.accuracy = parameter[PARAMETER_IMPACT_ACCURACY],
		.substeps_max = to_count(parameter[PARAMETER_IMPACT_SUBSTEPS_MAX]),
		.field_rounds = to_count(parameter[PARAMETER_IMPACT_FIELD_ROUNDS]),
	};
	self.settings.printed = false;
	self.settings.solver_rounds = SOLVER_ROUNDS;
	self.settings.solver_coarse = SOLVER_COARSE;
	self.settings.friction_rows = FRICTION_ROWS;
	force_list_init(&self.forces, dynamics->tables, dynamics->shapes);
	force_list_push_joints(&self.forces);
	self.forces.span = step.dt;
	status = allocate_bodies(&self);
	if (status == STATUS_OK)
		status = impact_fields_begin(&self);
	if (status == STATUS_OK)
		status = begin_joints(&self, why);
	if (status == STATUS_OK)
		status = begin_pairs(&self);
	if (status == STATUS_OK)
		status = solve_tick(&self, why);
	if (status == STATUS_NO_MEMORY)
		return reason_set(why, status, -1, "memory",
				  "no memory to solve %u contacts and %u joints",
				  step.contacts.count, self.joints.count);
	return status == STATUS_OK ? finish_tick(&self, why) : status;
}

const struct method method_impact = {
	.name = "impact",
	.summary = "from event to event: exact times of collision, contact forces, second order",
	.number = 6,
	.motion = 0,
	.attach = velocity_attach,
	.detach = velocity_detach,
	.step = step_impact,
	.shapes = VELOCITY_SHAPES,
	.friction = true,
	.restitution = true,
	.sleep = true,
	.planar = true,
	.three_d = true,
	.joints = true,
	.no_locks = true,
	.ignores = MATERIAL_ROLLING | MATERIAL_SPINNING,
};
