/* step.c: the stages of a step but collide and sleep: the bodies that take part, the list of
 * contacts, the commit.
 *
 * The rows of new pairs are known before they are taken: with the rows of gone pairs freed, new
 * pairs take the lowest free rows in the order of their pieces. So the list is in order of rows
 * from the beginning, and a method that uses that order sees the same before and after the commit.
 */
#include "server/engine/dynamics/step.h"

#include "server/base/array.h"
#include "server/base/inline.h"
#include "server/base/prefetch.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/one_way.h"
#include "server/engine/dynamics/pairs.h"
#include "server/engine/math/scalar.h"

#include <string.h>

enum { EVENTS_SPARE = 16, SCRATCH_PUSHES = 40 };

/* Contacts: how far ahead the commit fetches their heads, of which there are one in five lines. */
enum { FETCH_AHEAD = 6 };

/* Contacts of a piece of parallel work, at least; a multiple of 64. */
enum { CONTACT_GRAIN = 128 };

static void bit_set(uint64_t *bits, uint32_t at)
{
	bits[at / 64] |= UINT64_C(1) << (at % 64);
}

static bool bit_get(const uint64_t *bits, uint32_t at)
{
	return bits[at / 64] >> (at % 64) & 1;
}

static uint32_t words_of(uint64_t bits)
{
	return (uint32_t)((bits + 63) / 64);
}

/* ---- limits and memory --------------------------------------------------------------------- */

static enum status check_limits(struct dynamics *dynamics, uint64_t contacts, struct reason *why)
{
	const struct world_table *world = &dynamics->tables->world;
	if (contacts > world->contacts_max[0]) {
		dynamics->limit_met = world->contacts_max[0];
		return reason_set(why, STATUS_LIMIT, -1, "contacts",
				  "%llu pairs are near, the world's contacts_max is %u",
				  (unsigned long long)contacts, world->contacts_max[0]);
	}
	uint32_t rows = MAX_OF((uint32_t)contacts, dynamics->tables->contact.count);
	if (!tables_fit(dynamics->tables, TABLE_CONTACT, rows)) {
		dynamics->limit_met = (double)world->memory_max[0];
		return reason_set(
			why, STATUS_LIMIT, -1, "memory",
			"rows for %u contacts would pass the world's memory_max of %llu bytes",
			rows, (unsigned long long)world->memory_max[0]);
	}
	return STATUS_OK;
}

enum status step_check_limits(const struct step *self, uint64_t more, struct reason *why)
{
	struct dynamics *dynamics = self->dynamics;
	uint64_t count = (uint64_t)dynamics->contact_used.count - dynamics->report.pairs_gone +
			 dynamics->report.pairs_new;
	return check_limits(dynamics, count + more, why);
}

/* ---- bodies that take part ----------------------------------------------------------------- */

/* The sleep set of a body takes part from now on; some of it may already. */
static void wake_rest(struct step *self, uint32_t body)
{
	ASSERT(body < self->dynamics->tables->body.count);
	const struct body_table *table = &self->dynamics->tables->body;
	for (uint32_t at = body;; at = table->sleep_next[at]) {
		if (!bit_get(self->woken, at)) {
			bit_set(self->woken, at);
			ASSERT(self->woken_count < table->count);
			self->bodies[self->woken_count++] = at;
		}
		if (table->sleep_next[at] == body)
			break;
	}
}

static void wake_set(struct step *self, uint32_t body)
{
	if (self->dynamics->tables->body.sleep_set[body] != 0 && !bit_get(self->woken, body))
		wake_rest(self, body);
}

void step_push(struct step *self, uint32_t body)
{
	ASSERT(body < self->dynamics->tables->body.count);
	const struct tables *tables = self->dynamics->tables;
	if (tables->body.sleep_set[body] == 0 || bit_get(self->woken, body))
		return;
	if (joint_first(tables, body) != DYNAMICS_NONE) {
		wake_set(self, body);
		return;
	}
	bit_set(self->woken, body);
	ASSERT(self->woken_count < tables->body.count);
	self->bodies[self->woken_count++] = body;
}

void step_doze(struct step *self, uint32_t body)
{
	ASSERT(bit_get(self->woken, body));
	self->woken[body / 64] &= ~(UINT64_C(1) << (body % 64));
	self->dynamics->report.awake_bodies--;
}

/* ---- the list of contacts ------------------------------------------------------------------ */

ALWAYS_INLINE void put_row(struct step *self, uint32_t row, uint32_t place)
{
	VALIDATE(place < self->contacts.capacity);
	const struct contact_table *table = &self->dynamics->tables->contact;
	const uint32_t *body = self->dynamics->tables->placement.body;
	uint32_t a = table->placement_a[row], b = table->placement_b[row];
	uint32_t child_a = table->child_a[row], child_b = table->child_b[row];
	uint32_t body_a = body[a] - 1, body_b = body[b] - 1;
	VALIDATE(table->used[row]);
	struct contact_state *to = &self->contacts.items[place];
	to->row = row;
	to->a = (struct contact_piece){ a, child_a };
	to->b = (struct contact_piece){ b, child_b };
	to->body_a = body_a;
	to->body_b = body_b;
	to->is_new = to->met = to->scratch = to->timed = false;
	bit_set(self->listed, row);
}

ALWAYS_INLINE void list_row(struct step *self, uint32_t row)
{
	ASSERT(self->contacts.count < self->contacts.capacity);
	put_row(self, row, self->contacts.count++);
}

struct list_work {
	struct step *step;
	uint32_t *places; /* by word of rows: of its first row in the list */
};

static void list_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct list_work *work = context;
	struct step *self = work->step;
	for (uint32_t w = first; w < last; w++) {
		uint32_t place = work->places[w];
		uint64_t bits = self->dynamics->live.words[w] & ~self->listed[w];
		for (; bits != 0; bits &= bits - 1)
			put_row(self, w * 64 + (uint32_t)__builtin_ctzll(bits), place++);
	}
}

/* Lists all live rows that are not gone. False: no memory for that in parallel. */
static bool list_live(struct step *self)
{
	const struct dynamics *dynamics = self->dynamics;
	struct arena *scratch = &self->dynamics->scratch;
	struct arena_mark mark = arena_mark(scratch);
	uint32_t words = words_of(dynamics->tables->contact.count), count = 0;
	struct list_work work = { self, ARENA_ARRAY(scratch, uint32_t, words) };
	if (work.places == NULL)
		return false;
	for (uint32_t w = 0; w < words; w++) {
		work.places[w] = count;
		count += bits_count(dynamics->live.words[w] & ~self->listed[w]);
	}
	ASSERT(count <= self->contacts.capacity);
	parallel_run(self->parallel, words, CONTACT_GRAIN / 64, list_piece, &work);
	self->contacts.count = count;
	arena_rewind(scratch, mark);
	return true;
}

/* The lowest row at or above `from` that is free, or becomes so when gone pairs are dropped. */
static uint32_t free_row(const struct step *self, uint32_t from)
{
	const struct bitset *used = &self->dynamics->contact_used;
	for (uint32_t row = from;;) {
		if (row >= used->size)
			return row;
		uint64_t taken = used->words[row / 64] & ~self->gone[row / 64];
		uint64_t free = ~taken & UINT64_MAX << (row % 64);
		if (free != 0)
			return row / 64 * 64 + (uint32_t)__builtin_ctzll(free);
		row = (row / 64 + 1) * 64;
	}
}

/* Lists all live rows that are not gone and all new pairs, ascending. New pairs are written at the
 * end of the array with the rows they will get, and merged from there. */
static void list_contacts(struct step *self)
{
	const struct dynamics *dynamics = self->dynamics;
	const struct tables *tables = dynamics->tables;
	struct contact_list *list = &self->contacts;
	uint32_t fresh = dynamics->new_pairs.count, from = 0, next = 0;
	struct contact_state *made = list->items + (list->capacity - fresh);
	ASSERT(fresh <= list->capacity);
	for (uint32_t i = 0; i < dynamics->gone.count; i++) {
		bit_set(self->gone, dynamics->gone.items[i]);
		bit_set(self->listed, dynamics->gone.items[i]);
	}
	for (uint32_t i = 0; i < fresh; i++) {
		struct contact_state *contact = &made[i];
		const struct contact_pair *pair = &dynamics->new_pairs.items[i];
		from = free_row(self, from);
		*contact = (struct contact_state){
			.row = from++,
			.body_a = placement_body(tables, pair->a.placement),
			.body_b = placement_body(tables, pair->b.placement),
			.a = pair->a,
			.b = pair->b,
			.is_new = true,
		};
		/* If neither body takes part, a command put a body that is not awake beside a
		 * sleeping one (a wall set down in a pile): both take part from now on. */
		contact->met = !step_takes_part(self, contact->body_a) &&
			       !step_takes_part(self, contact->body_b);
		if (contact->met) {
			wake_set(self, contact->body_a);
			wake_set(self, contact->body_b);
		}
	}
	if (dynamics->live.count == 0 && fresh == 0)
		return;
	if (fresh == 0 && list_live(self))
		return;
	for (uint32_t row = bitset_next(&dynamics->live, 0); row != BITSET_NONE;
	     row = bitset_next(&dynamics->live, row + 1)) {
		if (bit_get(self->listed, row))
			continue;
		while (next < fresh && made[next].row < row)
			list->items[list->count++] = made[next++];
		list_row(self, row);
	}
	while (next < fresh)
		list->items[list->count++] = made[next++];
	ASSERT(list->count <= list->capacity);
}

/* Appends the contacts of the bodies woken since number `from`. */
static void list_woken(struct step *self, uint32_t from)
{
	const struct dynamics *dynamics = self->dynamics;
	for (uint32_t i = from; i < self->woken_count; i++) {
		uint32_t e = dynamics->bodies.items[self->bodies[i]].first_edge;
		for (; e != DYNAMICS_NONE; e = dynamics->edges.items[e].next)
			if (!bit_get(self->listed, edge_row(e)))
				list_row(self, edge_row(e));
	}
}

/* Puts the list in order of rows, by counting. */
static void sort_list(struct step *self)
{
	struct contact_list *list = &self->contacts, sorted = self->spare;
	uint32_t rows = 0, count = 0, *place = self->place;
	for (uint32_t i = 0; i < list->count; i++)
		rows = MAX_OF(rows, list->items[i].row + 1);
	ASSERT(sorted.items != NULL && place != NULL); /* some contacts slept */
	memset(place, 0xff, rows * sizeof *place);
	for (uint32_t i = 0; i < list->count; i++)
		place[list->items[i].row] = i;
	for (uint32_t row = 0; row < rows; row++) {
		if (place[row] == UINT32_MAX)
			continue;
		sorted.items[count] = list->items[place[row]];
		if (!sorted.items[count].kept)
			sorted.made[count] = list->made[place[row]];
		count++;
	}
	ASSERT(count == list->count);
	sorted.count = count;
	sorted.reaches = list->reaches;
	self->spare = *list;
	*list = sorted;
}

/* ---- begin --------------------------------------------------------------------------------- */

/* Room for pairs that step_reach adds, so that the whole list is copied only after so many. */
static uint64_t spare_pairs(uint64_t contacts)
{
	return contacts / 16;
}

enum {
	BODY_BYTES = 2 * sizeof(uint64_t) + 6 * sizeof(uint32_t) + sizeof(double),
	CONTACT_BYTES = sizeof(struct contact_state) + sizeof(struct contact_made) + 1,
};

uint64_t step_own_bytes(uint64_t bodies, uint64_t contacts)
{
	/* SCRATCH_PUSHES × 64 covers the rounding of each push; `gone`, `listed` and `woken` are bits. */
	return SCRATCH_PUSHES * 64 + 2 * (contacts / 8) + bodies / 8 + bodies * BODY_BYTES +
	       contacts * CONTACT_BYTES;
}

/* Reserves the arena for the whole step and makes the step's own sets and lists. */
static enum status reserve_scratch(struct step *self, step_need *need, uint64_t contacts,
				   struct reason *why)
{
	struct dynamics *dynamics = self->dynamics;
	struct arena *scratch = &dynamics->scratch;
	const struct bitset *used = &dynamics->contact_used;
	uint32_t bodies = dynamics->tables->body.count;
	/* Sleeping contacts are counted too, because any of them may be woken. */
	uint32_t rows = MAX_OF((uint32_t)contacts, dynamics->tables->contact.count);
	uint64_t per_contact = CONTACT_BYTES;
	if (dynamics->one_way.count > 0)
		per_contact += 2 * (sizeof(uint64_t) + sizeof(uint32_t));
	bool sleeps = dynamics->live.count < used->count; /* sort_list needs a second list */
	if (sleeps)
		per_contact += per_contact + sizeof(uint32_t);
	/* `gone` and `listed` have a bit for each row of the capacity. */
	uint64_t sets = 2 * (uint64_t)used->size / 8 + (uint64_t)bodies / 8;
	/* An upper bound; SCRATCH_PUSHES × 64 covers the rounding of each push. */
	uint64_t bytes = SCRATCH_PUSHES * 64 + sets + (need != NULL ? need(bodies, rows) : 0) +
			 bodies * (uint64_t)BODY_BYTES + rows * per_contact;
	if (bytes > SIZE_MAX || arena_reserve(scratch, (size_t)bytes) != STATUS_OK)
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory",
				  "no memory for %llu contacts", (unsigned long long)contacts);
	/* `bodies` holds the woken bodies until step_number makes it the list of all that take part. */
	self->bodies = ARENA_ARRAY(scratch, uint32_t, bodies);
	self->woken = arena_push_zero(scratch, words_of(bodies) * sizeof(uint64_t));
	self->gone = arena_push_zero(scratch, words_of(used->size) * sizeof(uint64_t));
	self->listed = arena_push_zero(scratch, words_of(rows) * sizeof(uint64_t));
	self->contacts.capacity = (uint32_t)contacts;
	self->contacts.items = ARENA_ARRAY(scratch, struct contact_state, contacts);
	self->contacts.made = ARENA_ARRAY(scratch, struct contact_made, contacts);
	ASSERT(self->bodies != NULL && self->woken != NULL && self->gone != NULL &&
	       self->listed != NULL);
	ASSERT(self->contacts.items != NULL && self->contacts.made != NULL);
	if (!sleeps)
		return STATUS_OK;
	self->spare = self->contacts;
	self->spare.items = ARENA_ARRAY(scratch, struct contact_state, contacts);
	self->spare.made = ARENA_ARRAY(scratch, struct contact_made, contacts);
	self->place = ARENA_ARRAY(scratch, uint32_t, rows);
	ASSERT(self->spare.items != NULL && self->spare.made != NULL && self->place != NULL);
	return STATUS_OK;
}

enum status step_begin(struct step *self, struct dynamics *dynamics, double dt, bool contacts,
		       step_need *need, struct reason *why)
{
	ASSERT(dt > 0);
	*self = (struct step){ .dynamics = dynamics,
			       .parallel = dynamics->parallel,
			       .dt = dt,
			       .block_bytes = dynamics->tables->method_block.count };
	ASSERT(arena_used(&dynamics->scratch) == 0);
	profile_enter(dynamics->profile, PROFILE_BROAD);
	dynamics->slept.count = dynamics->gone.count = dynamics->new_pairs.count = 0;
	dynamics->limit_met = 0;
	enum status status = contacts ? pairs_find(dynamics, why) : STATUS_OK;
	if (status == STATUS_NO_MEMORY)
		return reason_set(why, status, -1, "memory", "no memory to find near pairs");
	if (status != STATUS_OK)
		return status;
	uint64_t count = (uint64_t)dynamics->contact_used.count - dynamics->gone.count +
			 dynamics->new_pairs.count;
	if (contacts)
		status = check_limits(dynamics, count, why);
	if (status == STATUS_OK)
		status =
			reserve_scratch(self, need, contacts ? count + spare_pairs(count) : 0, why);
	if (status != STATUS_OK)
		return status;
	dynamics->report = (struct step_report){ .pairs_new = dynamics->new_pairs.count,
						 .pairs_gone = dynamics->gone.count };
	if (contacts) {
		list_contacts(self);
		uint32_t live = self->contacts.count;
		list_woken(self, 0);
		self->unsorted = self->contacts.count > live;
	}
	return STATUS_OK;
}

void step_wake_reached(struct step *self, const struct collide_options *options)
{
	struct contact_list *list = &self->contacts;
	self->body_count = 0;
	profile_enter(self->dynamics->profile, PROFILE_WAKE);
	for (uint32_t i = 0; i < list->count && list->reaches; i++) {
		if (!list->items[i].reaches)
			continue;
		uint32_t before = self->woken_count, first = list->count;
		wake_set(self, list->items[i].body_a);
		wake_set(self, list->items[i].body_b);
		list_woken(self, before);
		self->unsorted |= list->count > first;
		step_collide(self, list, first, options);
	}
	if (self->unsorted)
		sort_list(self);
	self->unsorted = false;
}

/* The bodies woken since number `first`, and those of their sets that touch them, in layers. */
static void push_layers(struct step *self, uint32_t first, uint32_t layers)
{
	const struct dynamics *dynamics = self->dynamics;
	const struct tables *tables = dynamics->tables;
	for (uint32_t layer = 0, end; layer < layers && first < self->woken_count; layer++) {
		end = self->woken_count;
		for (; first < end; first++) {
			uint32_t e = dynamics->bodies.items[self->bodies[first]].first_edge;
			for (; e != DYNAMICS_NONE; e = dynamics->edges.items[e].next)
				if (tables->contact.touching[edge_row(e)])
					step_push(self, edge_other(tables, e));
		}
	}
}

void step_wake_pushed(struct step *self, uint32_t from, uint32_t layers,
		      const struct collide_options *options)
{
	ASSERT(from < self->woken_count);
	struct contact_list *list = &self->contacts;
	uint32_t pushed = self->woken_count, first = list->count;
	if (layers < STEP_WHOLE_SETS)
		push_layers(self, from, layers);
	for (uint32_t i = from; i < pushed && layers == STEP_WHOLE_SETS; i++)
		wake_rest(self, self->bodies[i]);
	list_woken(self, from);
	self->unsorted |= list->count > first;
	step_collide(self, list, first, options);
	step_wake_reached(self, options);
}

void step_number(struct step *self)
{
	struct dynamics *dynamics = self->dynamics;
	const struct bitset *awake = &dynamics->awake;
	uint32_t count = 0, words = words_of(dynamics->tables->body.count);
	profile_enter(dynamics->profile, PROFILE_WAKE);
	for (uint32_t w = 0; w < words; w++) {
		uint64_t bits = (w < awake->size / 64 ? awake->words[w] : 0) | self->woken[w];
		for (; bits != 0; bits &= bits - 1) {
			uint32_t body = w * 64 + (uint32_t)__builtin_ctzll(bits);
			dynamics->bodies.items[body].slot = count;
			self->bodies[count++] = body;
		}
	}
	ASSERT(count <= dynamics->tables->body.count);
	self->body_count = count;
	dynamics->report.awake_bodies = count;
	/* What follows is the method's own. */
	profile_enter(dynamics->profile, PROFILE_SOLVE);
}

/* ---- views and copies ---------------------------------------------------------------------- */

enum status step_list_copy(struct step *self, struct contact_list *out)
{
	struct arena *scratch = &self->dynamics->scratch;
	const struct contact_list *from = &self->contacts;
	*out = (struct contact_list){ ARENA_ARRAY(scratch, struct contact_state, from->count),
				      ARENA_ARRAY(scratch, struct contact_made, from->count),
				      from->count, from->count, false };
	if (out->items == NULL || out->made == NULL)
		return STATUS_NO_MEMORY;
	if (from->count > 0)
		memcpy(out->items, from->items, from->count * sizeof *out->items);
	return STATUS_OK;
}

const double *step_multipliers(const struct step *self, const struct contact_list *list, uint32_t i)
{
	ASSERT(i < list->count);
	const struct contact_state *contact = &list->items[i];
	return contact->kept ? self->dynamics->tables->contact.multiplier[contact->row]
			     : list->made[i].multiplier;
}

/* ---- commit -------------------------------------------------------------------------------- */

/* Reserves all that the commit needs, and checks the limit of memory for the method's block and the
 * contact rows together. *contact_rows: upper bound of the rows of the contact table after the
 * commit. */
static enum status reserve_commit(struct step *self, const struct contact_list *list,
				  uint64_t *contact_rows, struct reason *why)
{
	struct dynamics *dynamics = self->dynamics;
	struct tables *tables = dynamics->tables;
	uint64_t rows = tables->contact.count, block = tables->method_block.count;
	/* Scratch pairs are last and take any free row or a new one; the others are in order of rows. */
	uint32_t listed = list != NULL ? list->count : 0, scratch = 0;
	while (scratch < listed && list->items[listed - 1 - scratch].row == STEP_NO_ROW)
		scratch++;
	if (scratch < listed)
		rows = MAX_OF(rows, (uint64_t)list->items[listed - 1 - scratch].row + 1);
	rows += scratch;
	*contact_rows = rows;
	/* Three events per contact: it may begin, be hit and, if bounds or quarantine remove its body, end.
	 * Four per body: it may wake, fall asleep, be removed, and be woken by the removal of a
	 * neighbour. */
	uint64_t contacts = dynamics->contact_used.count + dynamics->new_pairs.count + scratch;
	bool hits = step_hit_speed(self) > 0;
	uint64_t events = dynamics->events.count + (2 + hits) * contacts + dynamics->gone.count +
			  4 * (uint64_t)dynamics->body_used.count + EVENTS_SPARE;
	enum status status =
		rows >= BITSET_NONE ? STATUS_NO_MEMORY : ARRAY_RESERVE(&dynamics->events, events);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&dynamics->slept, self->body_count);
	if (status == STATUS_OK && hits)
		status = ARRAY_RESERVE(&dynamics->hits, 2 * (uint64_t)listed);
	if (status == STATUS_OK && list != NULL)
		status = one_way_reserve(self, list);
	if (status == STATUS_OK && list != NULL)
		status = dynamics_contact_reserve(dynamics, (uint32_t)rows);
	if (status == STATUS_OK)
		status = tables_reserve(tables, TABLE_METHOD_BLOCK, self->block_bytes);
	if (status != STATUS_OK)
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory", "no memory to store a step");
	if (self->block_bytes <= block)
		return STATUS_OK;
	uint64_t more = rows - tables->contact.count;
	uint64_t bytes = tables_charge(tables) + more * table_row_charge(TABLE_CONTACT) +
			 self->block_bytes - block;
	if (bytes <= tables->world.memory_max[0])
		return STATUS_OK;
	dynamics->limit_met = (double)tables->world.memory_max[0];
	return reason_set(
		why, STATUS_LIMIT, -1, "memory",
		"%u bytes of the method's state would pass the world's memory_max of %llu bytes",
		self->block_bytes, (unsigned long long)tables->world.memory_max[0]);
}

/* Copies a manifold into its row. Points beyond the count are zero there, so that equal states have
 * equal bytes. */
static void commit_manifold(struct contact_table *table, uint32_t row,
			    const struct contact_made *made)
{
	const struct manifold *manifold = &made->manifold;
	ASSERT(manifold->count <= MANIFOLD_POINTS_MAX);
	double *anchor = table->anchor[row], *separation = table->separation[row];
	for (uint32_t i = 0; i < manifold->count; i++) {
		const struct manifold_point *point = &manifold->points[i];
		memcpy(&anchor[3 * i], &point->point, sizeof point->point);
		separation[i] = point->separation;
		table->feature[row][i] = point->feature;
	}
	for (uint32_t i = manifold->count; i < MAX_OF(table->point_count[row], 1u); i++) {
		memset(&anchor[3 * i], 0, sizeof(vec3));
		separation[i] = 0;
		table->feature[row][i] = 0;
	}
	if (manifold->count == 0)
		separation[0] = made->margin;
	table->point_count[row] = (uint8_t)manifold->count;
	table->normal[row] = manifold->count > 0 ? manifold->normal : vec3_zero();
	table->relative_position[row] = made->b_in_a.position;
	table->relative_rotation[row] = made->b_in_a.rotation;
	table->cache_kind[row] = made->cache.kind;
	table->cache_a[row] = made->cache.feature_a;
	table->cache_b[row] = made->cache.feature_b;
	table->fresh[row] = 0;
	memcpy(table->multiplier[row], made->multiplier, sizeof made->multiplier);
}

/* Rows for the list's new pairs, in its order; scratch pairs take theirs last. */
static void take_rows(struct step *self, struct contact_list *list)
{
	struct dynamics *dynamics = self->dynamics;
	if (dynamics->new_pairs.count == 0 && !self->reached)
		return;
	for (uint32_t i = 0; i < list->count; i++) {
		struct contact_state *contact = &list->items[i];
		prefetch(&list->items[MIN_OF(i + FETCH_AHEAD, list->count - 1)], 1);
		if (!contact->is_new)
			continue;
		if (contact->row == STEP_NO_ROW) {
			contact->row = bitset_lowest_clear(&dynamics->contact_used);
			contact->scratch = true;
		}
		struct contact_pair pair = { contact->a, contact->b };
		contact_take(dynamics, contact->row, &pair);
	}
}

struct commit_work {
	struct contact_table *table;
	const struct contact_list *list;
	bool *wakes; /* by worker: some contact wakes its bodies */
};

static bool wakes_bodies(const struct contact_state *contact)
{
	return contact->met || contact->reaches;
}

/* Each contact has a row of its own. */
static void commit_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	const struct commit_work *work = context;
	const struct contact_list *list = work->list;
	for (uint32_t i = first; i < last; i++) {
		const struct contact_state *contact = &list->items[i];
		prefetch(&list->items[MIN_OF(i + FETCH_AHEAD, last - 1)], 1);
		ASSERT(!contact->is_new || !contact->kept);
		if (wakes_bodies(contact))
			work->wakes[worker] = true;
		if (!contact->kept)
			commit_manifold(work->table, contact->row, &list->made[i]);
	}
}

static void wake_bodies(struct dynamics *dynamics, const struct contact_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (!wakes_bodies(&list->items[i]))
			continue;
		dynamics_wake(dynamics, list->items[i].body_a);
		dynamics_wake(dynamics, list->items[i].body_b);
	}
}

/* Rows of gone pairs are freed before new pairs take theirs (list_contacts). */
static void commit_contacts(struct step *self, struct contact_list *list)
{
	struct dynamics *dynamics = self->dynamics;
	bool wakes[PARALLEL_WORKERS_MAX] = { false }, any = false;
	for (uint32_t i = 0; i < dynamics->gone.count; i++)
		contact_drop(dynamics, dynamics->gone.items[i]);
	take_rows(self, list);
	struct commit_work work = { &dynamics->tables->contact, list, wakes };
	parallel_run(self->parallel, list->count, CONTACT_GRAIN, commit_piece, &work);
	for (uint32_t i = 0; i < self->parallel->workers; i++)
		any |= wakes[i];
	if (any)
		wake_bodies(dynamics, list);
	for (uint32_t i = 0; i < self->body_count; i++)
		if (bit_get(self->woken, self->bodies[i]))
			dynamics_wake_some(dynamics, self->bodies[i], self->woken);
	ASSERT(dynamics->contact_index.count == dynamics->contact_used.count);
	broad_phase_settle(dynamics->broad_phase);
	bitset_reset(&dynamics->moved);
}

enum status step_commit(struct step *self, struct contact_list *list, struct reason *why)
{
	struct dynamics *dynamics = self->dynamics;
	struct tables *tables = dynamics->tables;
	uint64_t rows;
	profile_enter(dynamics->profile, PROFILE_STORE);
	enum status status = reserve_commit(self, list, &rows, why);
	if (status != STATUS_OK)
		return status;
	if (self->block_bytes < tables->method_block.count)
		tables_truncate(tables, TABLE_METHOD_BLOCK, self->block_bytes);
	while (tables->method_block.count < self->block_bytes)
		tables_append(tables, TABLE_METHOD_BLOCK);
	ASSERT(tables->method_block.count == self->block_bytes);
	for (uint32_t i = 0; i < self->body_count; i++)
		dynamics->bodies.items[self->bodies[i]].motion = 0;
	if (list == NULL)
		return STATUS_OK;
	commit_contacts(self, list);
	ASSERT(tables->contact.count <= rows);
	self->committed = list;
	return STATUS_OK;
}

void step_set_contact(struct step *self, struct contact_list *list, uint32_t i, vec3 normal,
		      vec3 point, double separation)
{
	struct dynamics *dynamics = self->dynamics;
	struct contact_state *contact = &list->items[i];
	struct manifold *made = &list->made[i].manifold;
	ASSERT(self->committed == list && i < list->count && !contact->kept);
	ASSERT(scalar_abs(vec3_length_squared(normal) - 1) < 1e-9);
	pose at = body_pose(dynamics->tables, contact->body_a);
	made->normal = pose_inverse_vector(at, normal);
	made->count = 1;
	made->points[0] = (struct manifold_point){ .point = pose_inverse_point(at, point),
						   .separation = separation };
	contact->normal = normal;
	contact->point_count = 1;
	contact->points[0] = (struct contact_point){
		.arm_a = vec3_sub(point, dynamics->bodies.items[contact->body_a].centre),
		.arm_b = vec3_sub(point, dynamics->bodies.items[contact->body_b].centre),
		.separation = separation,
	};
	commit_manifold(&dynamics->tables->contact, contact->row, &list->made[i]);
}

/* ---- after the solve ----------------------------------------------------------------------- */

static void note_contact_event(struct dynamics *dynamics, const struct contact_list *list,
			       uint32_t i, bool begins, double impulse)
{
	const struct contact_state *contact = &list->items[i];
	ASSERT(!begins || contact->point_count > 0);
	const struct tables *tables = dynamics->tables;
	struct event event = { .kind = begins ? EVENT_CONTACT_BEGIN : EVENT_CONTACT_END,
			       .a = tables->body.id[contact->body_a],
			       .b = tables->body.id[contact->body_b],
			       .child_a = contact->a.child,
			       .child_b = contact->b.child,
			       .fraction = begins ? contact_begins(list, i) : 1 };
	if (begins) {
		event.value = impulse;
		event.point = vec3_add(dynamics->bodies.items[contact->body_a].centre,
				       contact->points[0].arm_a);
		event.normal = contact->normal;
	}
	dynamics_event(dynamics, event);
}

/* Not 0 if any of `count` numbers is not +0; by bits, so that −0 and NaN count too. */
static uint64_t any_bits(const double *numbers, uint32_t count)
{
	uint64_t any = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t bits;
		memcpy(&bits, &numbers[i], sizeof bits);
		any |= bits;
	}
	return any;
}

/* Clears the impulses of a contact that is too far apart to be solved. `touching` does not show
 * whether there are any, because the last solve may have left friction without a normal impulse.
 * Most are 0 and only read. */
static void clear_impulses(struct contact_table *table, uint32_t row)
{
	double *normal = table->normal_impulse[row], *friction = table->friction_impulse[row];
	double *multiplier = table->multiplier[row];
	if ((any_bits(normal, MANIFOLD_POINTS_MAX) | any_bits(friction, 3) |
	     any_bits(multiplier, 3 * MANIFOLD_POINTS_MAX)) == 0)
		return;
	memset(normal, 0, sizeof table->normal_impulse[row]);
	memset(friction, 0, sizeof table->friction_impulse[row]);
	memset(multiplier, 0, sizeof table->multiplier[row]);
}

/* Of 64 contacts of the list: which touch, and of which that is news. */
struct solved_word {
	uint64_t touch, news;
};

struct solved_work {
	struct contact_table *table;
	const struct contact_list *list;
	struct solved_word *words; /* by 64 contacts */
};

/* N s: the normal impulse of a contact in this step. */
static double normal_impulse(const struct contact_table *table, const struct contact_state *contact)
{
	double impulse = 0;
	for (uint32_t k = 0; k < contact->point_count; k++)
		impulse += table->normal_impulse[contact->row][k];
	return impulse;
}

static struct solved_word solve_word(struct contact_table *table, const struct contact_list *list,
				     uint32_t w)
{
	struct solved_word word = { 0, 0 };
	uint32_t first = w * 64, count = MIN_OF(list->count - first, 64u);
	for (uint32_t i = 0; i < count; i++) {
		const struct contact_state *contact = &list->items[first + i];
		/* One that was apart before, too, has been cleared then. */
		bool was_apart = contact->kept && table->point_count[contact->row] == 0;
		bool touched = table->touching[contact->row], touching = false;
		if (contact->point_count == 0 && !was_apart)
			clear_impulses(table, contact->row);
		for (uint32_t k = 0; k < contact->point_count; k++)
			touching |= contact->points[k].separation <= 0;
		touching |= normal_impulse(table, contact) > 0;
		word.touch |= (uint64_t)touching << i;
		word.news |= (uint64_t)(touching != touched) << i;
		table->touching[contact->row] = touching;
	}
	return word;
}

static void solved_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct solved_work *work = context;
	for (uint32_t w = first; w < last; w++)
		work->words[w] = solve_word(work->table, work->list, w);
}

/* Which contacts touch, and events where that is news, in the list's order. */
static void store_touching(struct step *self, const struct contact_list *list)
{
	struct dynamics *dynamics = self->dynamics;
	struct contact_table *table = &dynamics->tables->contact;
	struct arena_mark mark = arena_mark(&dynamics->scratch);
	uint32_t count = words_of(list->count);
	struct solved_work work = { table, list,
				    ARENA_ARRAY(&dynamics->scratch, struct solved_word, count) };
	/* Without memory, which step_reach may have used up, word by word. */
	if (work.words != NULL)
		parallel_run(self->parallel, count, CONTACT_GRAIN / 64, solved_piece, &work);
	for (uint32_t w = 0; w < count; w++) {
		struct solved_word word =
			work.words != NULL ? work.words[w] : solve_word(table, list, w);
		dynamics->report.touching += bits_count(word.touch);
		for (uint64_t news = word.news; news != 0; news &= news - 1) {
			uint32_t i = (uint32_t)__builtin_ctzll(news);
			note_contact_event(dynamics, list, w * 64 + i, word.touch >> i & 1,
					   normal_impulse(table, &list->items[w * 64 + i]));
		}
	}
	arena_rewind(&dynamics->scratch, mark);
}

void step_contacts_solved(struct step *self, const struct contact_list *list,
			  const struct step_met *met)
{
	ASSERT(self->committed == list);
	if (list->count > 0)
		store_touching(self, list);
	one_way_store(self, list);
	if (step_hit_speed(self) > 0)
		step_note_hits(self, list, met);
}

void step_finish(struct step *self)
{
	struct dynamics *dynamics = self->dynamics;
	profile_enter(dynamics->profile, PROFILE_STORE);
	/* Drops rows of scratch pairs whose fat boxes do not overlap, because invariant 1 of
	 * dynamics.h does not have them. */
	uint32_t count = self->committed != NULL && self->reached ? self->committed->count : 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct contact_state *contact = &self->committed->items[i];
		struct contact_pair pair = { contact->a, contact->b };
		/* The row may be freed already, with a body that was removed or put into quarantine. */
		if (contact->scratch && contact_find(dynamics, &pair) == contact->row &&
		    !pair_wanted(dynamics, &pair))
			contact_drop(dynamics, contact->row);
	}
	arena_reset(&dynamics->scratch);
	*self = (struct step){ 0 };
}

void step_abandon(struct step *self)
{
	arena_reset(&self->dynamics->scratch);
	*self = (struct step){ 0 };
}
