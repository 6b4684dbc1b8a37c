/* impact_parts.c: parts of a tick, and how long they are (ch1-3 1.4.2, exercises 1.6-1 and 1.6-4;
 * app B-05, B-06).
 *
 * Linked bodies move together, over one part of the tick at a time: from their clock to `until`.
 * Its length is the tick, divided by the largest number of sub-steps of any of them. At its end the
 * next part begins as a tick does: contacts are found, approaches stopped, forces evaluated. Paths
 * end with their part, so a collision is found on the part that leads to it.
 *
 * Under a tolerance (the smallest of the bodies; impact.accuracy where they have none) each part has an
 * estimate of its error, with all of its contacts:
 *
 *   step doubling   the part at once, and in two halves with contacts found anew between them; the
 *                   first half is then the next part, and the second needs no estimate any more
 *   rk45            the difference of its two results, where all bodies of the group have it
 *
 * An error above the tolerance's share (tolerance × part / tick, so that a tick keeps the tolerance)
 * halves the part. Only this part is done again, from its own beginning. An estimate below GROW of
 * its share doubles the next part. Parts that impact.substeps_max forbids to be shorter go on with
 * their error, which is counted. A collision ends a part and all that is known of it.
 *
 * Without a tolerance, an island in contact that gains more energy than IMPACT_GAIN permits moves over
 * half of the part instead, and again, within the same limit (calm): contact forces at both ends of a
 * motion are an approximation of second order, and nothing else holds a body that turns by half a radian.
 */
#include "server/engine/methods/impact.h"

#include <string.h>

/* 1, of the tick: as in impact.c. */
#define END 1e-9
/* 1. A part of twice the length has 4 times the error at order 1 and 8 times at order 2, and its
 * share is twice as large. Larger: parts are done again more often; smaller: they stay short. */
#define GROW 0.1
/* m. The tolerance of rk45 without another. */
#define EMBEDDED_TOLERANCE 1e-6

enum {
	/* Bodies. An event of so many linked bodies counts twice, of twice as many three times. Larger: heaps
	 * are solved more often in a tick; smaller: they lose their restitution earlier. */
	ROUND_BODIES = 2,
	/* Bodies. Linked bodies have events in proportion to their number, so that their cost in a tick grows
	 * with its square; an event of more than these counts in proportion to the square, too. */
	ROUND_BODIES_MANY = 8,
};

#define ALLOCATE(type, count) ARENA_ARRAY(&self->step->dynamics->scratch, type, count)

/* ---- ends of parts, the earliest first -------------------------------------------------------- */

static void set_end(struct impact_step *self, uint32_t slot, double until)
{
	self->until[slot] = until;
	if (until < self->step->dt)
		min_heap_put(&self->ends, slot, until);
	else
		min_heap_remove(&self->ends, slot);
}

double impact_parts_next(const struct impact_step *self)
{
	const struct min_heap_entry *first = min_heap_first(&self->ends);
	return first != NULL ? first->key : __builtin_inf();
}

uint32_t impact_parts_take(struct impact_step *self)
{
	const struct min_heap_entry *first = min_heap_first(&self->ends);
	ASSERT(first != NULL);
	uint32_t slot = first->item;
	min_heap_remove(&self->ends, slot);
	return slot;
}

/* ---- what the bodies ask for ------------------------------------------------------------------ */

bool impact_parts_divide(const struct impact_step *self, uint32_t slot)
{
	const struct body_table *table = &self->step->dynamics->tables->body;
	uint32_t body = self->step->bodies[slot];
	return self->movable[slot] &&
	       (table->substeps[body] > 1 || table->tolerance[body] > 0 || self->accuracy > 0 ||
		table->integrator[body] == INTEGRATOR_RK45);
}

enum status impact_parts_begin(struct impact_step *self)
{
	const struct body_table *table = &self->step->dynamics->tables->body;
	uint32_t n = self->step->body_count;
	self->until = ALLOCATE(double, n);
	self->part = ALLOCATE(double, n);
	self->sure = ALLOCATE(double, n);
	struct min_heap_entry *ends = ALLOCATE(struct min_heap_entry, n);
	uint32_t *places = ALLOCATE(uint32_t, n);
	self->movable = ALLOCATE(bool, n);
	self->gained = ALLOCATE(double, n);
	if (self->gained == NULL || self->until == NULL || self->part == NULL ||
	    self->sure == NULL || ends == NULL || places == NULL || self->movable == NULL)
		return STATUS_NO_MEMORY;
	min_heap_init(&self->ends, ends, places, n);
	self->parted = false;
	for (uint32_t slot = 0; slot < n; slot++) {
		uint32_t body = self->step->bodies[slot];
		self->until[slot] = self->step->dt;
		self->part[slot] = self->step->dt / MAX_OF(table->substeps[body], 1);
		self->sure[slot] = 0;
		self->movable[slot] = table->status[body] == BODY_DYNAMIC;
		self->parted |= impact_parts_divide(self, slot);
	}
	return STATUS_OK;
}

/* A set's wishes. */
struct wish {
	double begin;	  /* s: its clock */
	double part;	  /* s: longest part */
	double sure;	  /* s: until then no estimate is needed */
	double tolerance; /* m, of a tick; infinite: no estimate */
};

static struct wish wish_of(const struct impact_step *self, const struct impact_set *set)
{
	const struct body_table *table = &self->step->dynamics->tables->body;
	struct wish wish = { 0, self->step->dt, self->step->dt, __builtin_inf() };
	for (uint32_t i = 0; i < set->count; i++) {
		uint32_t slot = set->items[i], body = self->step->bodies[slot];
		wish.begin = scalar_max(wish.begin, self->clock[slot]);
		if (!self->movable[slot])
			continue;
		double own = table->tolerance[body];
		if (!(own > 0))
			own = self->accuracy;
		if (!(own > 0) && table->integrator[body] == INTEGRATOR_RK45)
			own = EMBEDDED_TOLERANCE;
		if (own > 0)
			wish.tolerance = scalar_min(wish.tolerance, own);
		wish.part = scalar_min(wish.part, self->part[slot]);
		wish.part =
			scalar_min(wish.part, self->step->dt / MAX_OF(table->substeps[body], 1));
		wish.sure = scalar_min(wish.sure, self->sure[slot]);
	}
	return wish;
}

/* The length of the next part: the rest of the tick in the fewest equal parts. */
static double part_length(const struct impact_step *self, const struct wish *wish)
{
	double rest = self->step->dt - wish->begin;
	if (wish->sure > wish->begin + END * self->step->dt)
		return scalar_min(wish->sure - wish->begin, rest);
	double parts = -scalar_floor(-(rest / wish->part - 1e-6));
	return parts > 1 ? rest / parts : rest;
}

/* ---- motion ----------------------------------------------------------------------------------- */

static void set_ends(struct impact_step *self, const struct impact_set *set, double until)
{
	if (until > self->step->dt * (1 - END))
		until = self->step->dt;
	for (uint32_t i = 0; i < set->count; i++)
		if (self->movable[set->items[i]])
			set_end(self, set->items[i], until);
}

/* What an event of `bodies` linked ones counts more than that of one. */
static uint32_t rounds_of(uint32_t bodies)
{
	const uint32_t most =
		1u << 12; /* ends the tick for any parameter, and its square has no overflow */
	uint32_t n = MIN_OF(bodies, most);
	return n <= ROUND_BODIES_MANY ? n / ROUND_BODIES
				      : n * n / (ROUND_BODIES * ROUND_BODIES_MANY);
}

/* Bodies of an island, those that joints hold together as one: their rows are a forest mostly, which costs in
 * proportion to its length, and a robot of thirty links may bounce as often as a ball. */
static uint32_t loose_bodies(const struct impact_batch *batch, const struct island *island)
{
	uint32_t joints = 0;
	ASSERT(island->slot_count > 0);
	for (uint32_t k = 0; k < island->constraint_count; k++)
		joints += island->constraints[k] >= batch->solve.contact_count;
	return island->slot_count > joints ? island->slot_count - joints : 1;
}

static void count_rounds(struct impact_step *self, const struct impact_batch *batch)
{
	const struct islands *islands = &batch->solve.islands;
	uint32_t settled = 2 * self->rounds_max;
	for (uint32_t i = 0; i < batch->count; i++) {
		uint32_t slot = batch->slots[i], before = self->rounds[slot];
		uint32_t island = islands->island_of[i];
		ASSERT(slot < self->step->body_count);
		ASSERT(island == UINT32_MAX || island < islands->count);
		if (!self->movable[slot])
			continue;
		self->rounds[slot] += 1;
		if (island != UINT32_MAX)
			self->rounds[slot] +=
				rounds_of(loose_bodies(batch, &islands->items[island]));
		self->counts.settled += before <= settled && self->rounds[slot] > settled;
	}
}

/* How a set is moved, and the error of a pair of methods; infinite: there is none. */
struct move {
	double span;
	bool collide, event;
	bool repeats; /* it may be made again (calm) */
	bool embedded;
	double error;
};

/* Impulses at the clocks of a set, if it collides, then its motion by `span`. */
static enum status move_set(struct impact_step *self, const struct impact_set *set,
			    struct move *move)
{
	struct arena *scratch = &self->step->dynamics->scratch;
	struct arena_mark mark = arena_mark(scratch);
	struct impact_batch batch;
	enum status status = impact_batch_make(&batch, self, set->items, set->count, move->span);
	if (status == STATUS_OK && move->collide)
		status = impact_batch_collide(&batch);
	if (status == STATUS_OK && batch.changed) {
		arena_rewind(scratch, mark);
		status = impact_batch_make(&batch, self, set->items, set->count, move->span);
	}
	batch.repeats = move->repeats;
	if (status == STATUS_OK)
		status = impact_batch_move(&batch, self->to, true);
	if (status == STATUS_OK && move->event)
		count_rounds(self, &batch);
	move->embedded = batch.embedded;
	move->error = batch.error;
	arena_rewind(scratch, mark);
	return status;
}

/* ---- step doubling ---------------------------------------------------------------------------- */

/* Copies of everything that a motion of a set changes. */
struct saved {
	const struct impact_set *set;
	uint32_t *pairs, pair_count;
	struct body_motion *from, *to, *now;
	double *clock;
	struct contact_state *contacts;
	struct contact_made *made;
	struct impact_pair *states;
	struct impact_record *records;
	struct impact_joint_record *joints; /* of all of the step */
	struct impact_figures counts;
	struct step_report report;
};

static enum status save_allocate(struct impact_step *self, struct saved *saved)
{
	uint32_t n = saved->set->count, m = saved->pair_count;
	saved->from = ALLOCATE(struct body_motion, n);
	saved->to = ALLOCATE(struct body_motion, n);
	saved->now = ALLOCATE(struct body_motion, n);
	saved->clock = ALLOCATE(double, n);
	saved->contacts = ALLOCATE(struct contact_state, m);
	saved->made = ALLOCATE(struct contact_made, m);
	saved->states = ALLOCATE(struct impact_pair, m);
	saved->records = ALLOCATE(struct impact_record, m);
	saved->joints = ALLOCATE(struct impact_joint_record, self->joints.count);
	return saved->from != NULL && saved->to != NULL && saved->now != NULL &&
			       saved->clock != NULL && saved->contacts != NULL &&
			       saved->made != NULL && saved->states != NULL &&
			       saved->records != NULL && saved->joints != NULL
		       ? STATUS_OK
		       : STATUS_NO_MEMORY;
}

/* States and impulses of the set's motion. */
static void save_motion(const struct impact_step *self, struct saved *saved)
{
	for (uint32_t i = 0; i < saved->set->count; i++)
		saved->to[i] = self->to[saved->set->items[i]];
	for (uint32_t i = 0; i < saved->pair_count; i++)
		saved->records[i] = self->records[saved->pairs[i]];
	if (self->joints.count > 0)
		memcpy(saved->joints, self->joint_records,
		       self->joints.count * sizeof *saved->joints);
	saved->counts = self->counts;
	saved->report = self->step->dynamics->report;
}

static void restore_motion(struct impact_step *self, const struct saved *saved)
{
	for (uint32_t i = 0; i < saved->set->count; i++)
		self->to[saved->set->items[i]] = saved->to[i];
	for (uint32_t i = 0; i < saved->pair_count; i++)
		self->records[saved->pairs[i]] = saved->records[i];
	if (self->joints.count > 0)
		memcpy(self->joint_records, saved->joints,
		       self->joints.count * sizeof *saved->joints);
	/* Iterations are cost, and stay. */
	uint32_t iterations = self->step->dynamics->report.iterations;
	self->counts = saved->counts;
	self->step->dynamics->report = saved->report;
	self->step->dynamics->report.iterations = iterations;
}

/* States and contacts at the set's clock. */
static void save_clock(const struct impact_step *self, struct saved *saved)
{
	for (uint32_t i = 0; i < saved->set->count; i++) {
		saved->from[i] = self->from[saved->set->items[i]];
		saved->now[i] = self->now[saved->set->items[i]];
		saved->clock[i] = self->clock[saved->set->items[i]];
	}
	for (uint32_t i = 0; i < saved->pair_count; i++) {
		saved->contacts[i] = self->list->items[saved->pairs[i]];
		saved->made[i] = self->list->made[saved->pairs[i]];
		saved->states[i] = self->pairs[saved->pairs[i]];
	}
}

static void restore_clock(struct impact_step *self, const struct saved *saved)
{
	for (uint32_t i = 0; i < saved->set->count; i++) {
		self->from[saved->set->items[i]] = saved->from[i];
		self->now[saved->set->items[i]] = saved->now[i];
		self->clock[saved->set->items[i]] = saved->clock[i];
	}
	for (uint32_t i = 0; i < saved->pair_count; i++) {
		self->list->items[saved->pairs[i]] = saved->contacts[i];
		self->list->made[saved->pairs[i]] = saved->made[i];
		self->pairs[saved->pairs[i]] = saved->states[i];
	}
}

static double distance(const struct impact_step *self, const struct impact_set *set,
		       const struct body_motion *other, double span)
{
	double worst = 0;
	for (uint32_t i = 0; i < set->count; i++)
		if (self->movable[set->items[i]])
			worst = scalar_max(worst, impact_batch_distance(self, set->items[i],
									&self->to[set->items[i]],
									&other[i], span));
	return worst;
}

/* The error of the set's motion by `span`, against two of half of it. Its motion is then the first half. */
static enum status estimate(struct impact_step *self, const struct impact_set *set, double begin,
			    double span, double *error)
{
	struct arena *scratch = &self->step->dynamics->scratch;
	struct arena_mark mark = arena_mark(scratch);
	struct saved saved = { .set = set };
	struct move half = { .span = 0.5 * span };
	struct body_motion *once = ALLOCATE(struct body_motion, set->count);
	enum status status = once == NULL
				     ? STATUS_NO_MEMORY
				     : impact_pairs_of(self, set, &saved.pairs, &saved.pair_count);
	if (status == STATUS_OK)
		status = save_allocate(self, &saved);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < set->count; i++)
		once[i] = self->to[set->items[i]];
	impact_forget_coming(self, saved.pairs, saved.pair_count, set);
	set_ends(self, set, begin + half.span);
	status = move_set(self, set, &half);
	if (status != STATUS_OK)
		return status;
	save_motion(self, &saved);
	save_clock(self, &saved);
	impact_parts_end(self, set, saved.pairs, saved.pair_count, begin + half.span);
	set_ends(self, set, begin + span);
	status = impact_find_contacts(self, set, saved.pairs, saved.pair_count, begin + half.span);
	half.collide = true;
	if (status == STATUS_OK)
		status = move_set(self, set, &half);
	if (status != STATUS_OK)
		return status;
	*error = distance(self, set, once, span);
	restore_clock(self, &saved);
	restore_motion(self, &saved);
	set_ends(self, set, begin + half.span);
	arena_rewind(scratch, mark);
	return STATUS_OK;
}

/* ---- the length of a part --------------------------------------------------------------------- */

/* Notes an accepted part: what is known of the next one. */
static void accept(struct impact_step *self, const struct impact_set *set, double next, double sure)
{
	for (uint32_t i = 0; i < set->count; i++) {
		self->part[set->items[i]] = next;
		self->sure[set->items[i]] = sure;
	}
}

/* Moves the set again, over a part of another length. */
static enum status move_again(struct impact_step *self, const struct impact_set *set, double begin,
			      struct move *move)
{
	struct arena *scratch = &self->step->dynamics->scratch;
	struct arena_mark mark = arena_mark(scratch);
	uint32_t *pairs, count;
	enum status status = impact_pairs_of(self, set, &pairs, &count);
	if (status != STATUS_OK)
		return status;
	impact_forget_coming(self, pairs, count, set);
	arena_rewind(scratch, mark);
	set_ends(self, set, begin + move->span);
	move->collide = move->event = false;
	return move_set(self, set, move);
}

/* Halves the part until its error is within its share of the tolerance. */
static enum status control(struct impact_step *self, const struct impact_set *set,
			   const struct wish *wish, struct move *move)
{
	double shortest = self->step->dt / self->substeps_max * (1 + 1e-6);
	for (;;) {
		double span = move->span, share = wish->tolerance * span / self->step->dt;
		double error = move->error;
		bool embedded = move->embedded && error < __builtin_inf();
		enum status status = STATUS_OK;
		if (!embedded)
			status = estimate(self, set, wish->begin, span, &error);
		if (status != STATUS_OK)
			return status;
		bool good = error <= share;
		if (good || span <= shortest) {
			self->counts.forced += !good;
			self->error = scalar_max(self->error, error);
			accept(self, set, error < GROW * share ? 2 * span : span,
			       wish->begin + span);
			return STATUS_OK;
		}
		self->counts.redone++;
		move->span = 0.5 * span;
		/* Half of it is its motion already, after step doubling. */
		if (embedded)
			status = move_again(self, set, wish->begin, move);
		if (status != STATUS_OK)
			return status;
		move->embedded = embedded;
	}
}

/* Moves the bodies of a subset, which is linked to no others, over ever shorter parts until they gain no
 * more energy than IMPACT_GAIN permits. */
static enum status calm_linked(struct impact_step *self, const struct impact_set *set, double begin,
			       double span)
{
	double shortest = self->step->dt / self->substeps_max * (1 + 1e-6);
	struct move move = { .span = span, .repeats = true };
	bool gains = true;
	enum status status = STATUS_OK;
	while (gains && status == STATUS_OK) {
		move.span *= 0.5;
		move.repeats = move.span > shortest;
		self->counts.redone++;
		status = move_again(self, set, begin, &move);
		impact_set_forget(self, set);
		gains = false;
		for (uint32_t i = 0; i < set->count && move.repeats; i++)
			gains |= self->gained[set->items[i]] > 0;
	}
	self->counts.forced += !move.repeats;
	accept(self, set, move.span, begin);
	return status;
}

/* Moves those islands of a set again that gained energy in its motion by `span`. */
static enum status calm(struct impact_step *self, const struct impact_set *set, double begin,
			double span)
{
	struct arena *scratch = &self->step->dynamics->scratch;
	struct arena_mark mark = arena_mark(scratch);
	uint32_t *hot = ALLOCATE(uint32_t, set->count), count = 0;
	struct impact_set linked = { ALLOCATE(uint32_t, self->step->body_count), 0 };
	if (hot == NULL || linked.items == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < set->count; i++)
		if (self->gained[set->items[i]] > 0)
			hot[count++] = set->items[i];
	if (count > 0)
		impact_set_forget(self, set);
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
		if (!(self->gained[hot[i]] > 0))
			continue; /* it was linked to one before */
		linked.count = 0;
		impact_set_add(self, &linked, hot[i]);
		impact_set_add_linked(self, &linked);
		impact_set_forget(self, &linked);
		status = impact_set_sort(self, &linked);
		if (status == STATUS_OK)
			status = calm_linked(self, &linked, begin, span);
		for (uint32_t k = 0; k < linked.count; k++)
			self->gained[linked.items[k]] = 0;
	}
	arena_rewind(scratch, mark);
	return status;
}

enum status impact_parts_resolve(struct impact_step *self, const struct impact_set *set, bool event)
{
	struct wish wish = wish_of(self, set);
	if (event)
		wish.sure = wish.begin;
	bool sure = wish.sure > wish.begin + END * self->step->dt;
	bool controls = wish.tolerance < __builtin_inf();
	struct move move = { .span = part_length(self, &wish), .collide = true, .event = event };
	move.repeats = !controls && move.span > self->step->dt / self->substeps_max * (1 + 1e-6);
	set_ends(self, set, wish.begin + move.span);
	enum status status = move_set(self, set, &move);
	if (status != STATUS_OK || sure)
		return status;
	if (move.repeats)
		return calm(self, set, wish.begin, move.span);
	return controls ? control(self, set, &wish, &move) : STATUS_OK;
}

void impact_parts_end(struct impact_step *self, const struct impact_set *set, const uint32_t *pairs,
		      uint32_t count, double time)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct contact_state *contact = &self->list->items[pairs[i]];
		uint32_t a = impact_slot(self, contact->body_a);
		uint32_t b = impact_slot(self, contact->body_b);
		bool ends_a = a == ROW_NO_BODY || !self->movable[a] || self->until[a] == time;
		bool ends_b = b == ROW_NO_BODY || !self->movable[b] || self->until[b] == time;
		struct impact_record *record = &self->records[pairs[i]];
		if (!ends_a || !ends_b)
			continue;
		impact_add_impulses(&record->past, &record->coming);
		record->coming = (struct impact_impulses){ .count = 0 };
	}
	for (uint32_t i = 0; i < set->count; i++) {
		uint32_t slot = set->items[i];
		if (!self->movable[slot] || self->until[slot] != time)
			continue;
		for (uint32_t j = self->first_joint[slot]; j != UINT32_MAX;) {
			struct impact_joint_record *record = &self->joint_records[j];
			bool is_a = self->joints.constraints[j].body_a == slot;
			impact_add_joint(&record->past, &record->coming);
			memset(&record->coming, 0, sizeof record->coming);
			j = is_a ? self->joint_next_a[j] : self->joint_next_b[j];
		}
		self->from[slot] = self->to[slot];
		self->clock[slot] = time;
	}
}
