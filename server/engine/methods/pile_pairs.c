/* pile_pairs.c: fields of kind `mutual` under `pile`: every two bodies of the mask attract each other
 * (papers P-13, P-15).
 *
 * The force on the one is s w(r) x / L^(p + 1) towards the other, with x the vector between their mass
 * centres, r its length and L = √(r² + core²), times both masses with `per_mass`; w(r) is that of a ball:
 * 1, or 1 − r / R, and 0 from r = R on. The energy is concave in L, as that of an attractor, so its
 * tangent in L at the beginning of the step is an upper bound with the same slope (pile_potential.c), now
 * in the displacement
 * of the one against the other: a term between two bodies.
 *
 * In a ball, the broad phase finds who is near, so a short range costs with the number of pairs in
 * it. Everywhere, all pairs attract. A field with more than PAIRS_MAX pairs exerts no force in the step,
 * a counted fallback.
 *
 * Bodies asleep attract as they are. They wake when one that attracts them has moved: it is awake, and
 * its sleep_time is 0.
 */
#include "server/base/sort.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/math/scalar.h"
#include "server/engine/methods/pile.h"

/* Pairs of one field in a step, each with two blocks of the programme's matrix. */
enum { PAIRS_MAX = 32768 };

/* ---- who is near ------------------------------------------------------------------------------- */

static bool takes_part(const struct tables *tables, uint32_t field, uint32_t body)
{
	ASSERT(body < tables->body.count);
	return tables->body.id[body] != 0 && tables->body.status[body] == BODY_DYNAMIC &&
	       (tables->body.category[body] & tables->field.mask[field]) != 0;
}

/* A search of bodies that one attracts. */
struct attraction_search {
	struct dynamics *dynamics;
	struct pile_room *room;
	uint32_t field, body;
	enum status status;
};

/* m: between mass centres; LP_INFINITY beyond the field. */
static double pair_distance(const struct tables *tables, uint32_t field, uint32_t a, uint32_t b)
{
	double distance = vec3_distance(dynamics_centre(tables, a), dynamics_centre(tables, b));
	bool ball = tables->field.region[field] == FIELD_BALL;
	return ball && distance >= tables->field.half[field].x ? LP_INFINITY : distance;
}

static bool note_body(struct attraction_search *search, uint32_t other)
{
	const struct tables *tables = search->dynamics->tables;
	struct pile_room *room = search->room;
	if (other == search->body || !takes_part(tables, search->field, other) ||
	    pair_distance(tables, search->field, search->body, other) == LP_INFINITY)
		return true;
	search->status = ARRAY_RESERVE(&room->near, room->near.count + 1);
	if (search->status == STATUS_OK)
		room->near.items[room->near.count++] = other;
	return search->status == STATUS_OK;
}

static bool note_placement(uint32_t placement, void *context)
{
	struct attraction_search *search = context;
	return note_body(search, placement_body(search->dynamics->tables, placement));
}

static int compare_rows_of_bodies(const void *a, const void *b, void *context)
{
	const uint32_t *x = a, *y = b;
	UNUSED(context);
	return *x < *y ? -1 : *x > *y;
}

/* Lists what the body attracts in room->near, ascending, each once. */
static enum status find_near(struct attraction_search *search)
{
	struct dynamics *dynamics = search->dynamics;
	const struct field_table *table = &dynamics->tables->field;
	struct pile_room *room = search->room;
	struct arena *arena = &dynamics->scratch;
	room->near.count = 0;
	search->status = STATUS_OK;
	if (table->region[search->field] != FIELD_BALL) {
		for (uint32_t body = bitset_next(&dynamics->body_used, 0); body != BITSET_NONE;
		     body = bitset_next(&dynamics->body_used, body + 1))
			if (!note_body(search, body))
				break;
		return search->status;
	}
	vec3 centre = dynamics_centre(dynamics->tables, search->body);
	struct aabb box = aabb_of_centre(centre, vec3_all(table->half[search->field].x));
	broad_phase_query(dynamics->broad_phase, &box, note_placement, search);
	if (search->status != STATUS_OK)
		return search->status;
	struct arena_mark mark = arena_mark(arena);
	void *scratch = ARENA_ARRAY(arena, uint32_t, room->near.count);
	if (scratch == NULL)
		return STATUS_NO_MEMORY;
	sort_items(room->near.items, scratch, room->near.count, sizeof *room->near.items,
		   compare_rows_of_bodies, NULL);
	arena_rewind(arena, mark);
	uint32_t count = 0;
	for (uint32_t i = 0; i < room->near.count; i++)
		if (i == 0 || room->near.items[i] != room->near.items[i - 1])
			room->near.items[count++] = room->near.items[i];
	room->near.count = count;
	return STATUS_OK;
}

static bool is_mutual(const struct field_table *table, uint32_t row)
{
	return table->id[row] != 0 && table->kind[row] == FIELD_MUTUAL;
}

/* ---- terms ------------------------------------------------------------------------------------- */

static struct pile_pull pull_between(const struct tables *tables, uint32_t field, uint32_t a,
				     uint32_t b)
{
	const struct field_table *table = &tables->field;
	vec3 from = vec3_sub(dynamics_centre(tables, a), dynamics_centre(tables, b));
	double core = table->core[field], distance = vec3_length(from);
	double length = scalar_sqrt(distance * distance + core * core);
	double k = table->strength[field].x;
	ASSERT(a != b && length > 0);
	if (table->region[field] == FIELD_BALL && table->falloff[field] == FIELD_LINEAR)
		k *= 1 - distance / table->half[field].x;
	if (table->flags[field] & FIELD_PER_MASS)
		k *= tables->body.mass[a] * tables->body.mass[b];
	for (uint32_t i = 0; i < table->power[field]; i++)
		k /= length;
	return (struct pile_pull){ .k = k, .from = from, .length = length, .core = core };
}

/* Adds the pairs of one body: two that move once, by the one with the lower slot. */
static enum status add_pairs(struct pile *self, uint32_t field, uint32_t slot)
{
	const struct step *step = self->step;
	const struct tables *tables = step->dynamics->tables;
	struct pile_room *room = self->room;
	struct attraction_search search = { .dynamics = step->dynamics,
					    .room = room,
					    .field = field,
					    .body = self->bodies[slot].row };
	enum status status = find_near(&search);
	for (uint32_t i = 0; i < room->near.count && status == STATUS_OK; i++) {
		uint32_t other = room->near.items[i];
		bool moves = step_takes_part(step, other);
		uint32_t its = moves ? step->dynamics->bodies.items[other].slot : PILE_STATIC;
		ASSERT(its != slot);
		if (moves && its < slot)
			continue;
		struct pile_term term = { .kind = PILE_TERM_PAIR,
					  .a = slot,
					  .b = its,
					  .joint = PILE_NO_JOINT,
					  .pull = pull_between(tables, field, search.body, other) };
		if (!(term.pull.k > 0))
			continue;
		status = ARRAY_RESERVE(&room->pairs, room->pairs.count + 1);
		if (status == STATUS_OK)
			room->pairs.items[room->pairs.count++] = term;
	}
	return status;
}

enum status pile_find_pairs(struct pile *self)
{
	const struct field_table *table = &self->step->dynamics->tables->field;
	struct pile_room *room = self->room;
	ASSERT(self->bodies != NULL || self->step->body_count == 0);
	room->pairs.count = 0;
	for (uint32_t row = 0; row < table->count; row++) {
		uint32_t before = room->pairs.count;
		bool many = false;
		for (uint32_t slot = 0;
		     is_mutual(table, row) && slot < self->step->body_count && !many; slot++) {
			if (!takes_part(self->step->dynamics->tables, row, self->bodies[slot].row))
				continue;
			enum status status = add_pairs(self, row, slot);
			if (status != STATUS_OK)
				return status;
			many = room->pairs.count - before > PAIRS_MAX;
		}
		if (many)
			room->pairs.count = before;
		self->fallbacks += many;
	}
	return STATUS_OK;
}

void pile_make_pairs(struct pile *self)
{
	for (uint32_t i = 0; i < self->room->pairs.count; i++) {
		const struct pile_term *term = &self->room->pairs.items[i];
		const struct pile_pull *pull = &term->pull;
		ASSERT(term->a < self->step->body_count && pull->length > 0);
		struct pile_body *a = &self->bodies[term->a];
		a->force = vec3_mul_sub(a->force, pull->from, pull->k / pull->length);
		a->size += pull->k;
		a->bent = true;
		if (term->b != PILE_STATIC) {
			struct pile_body *b = &self->bodies[term->b];
			b->force = vec3_mul_add(b->force, pull->from, pull->k / pull->length);
			b->size += pull->k;
			b->bent = true;
		}
		self->terms[self->term_count++] = *term;
	}
}

/* ---- sleep ------------------------------------------------------------------------------------- */

enum status pile_wake_attracted(struct step *step, struct pile_room *room,
				const struct collide_options *options)
{
	struct dynamics *dynamics = step->dynamics;
	const struct tables *tables = dynamics->tables;
	uint32_t from = step->woken_count;
	for (uint32_t row = 0; row < tables->field.count; row++) {
		if (!is_mutual(&tables->field, row))
			continue;
		for (uint32_t body = bitset_next(&dynamics->awake, 0); body != BITSET_NONE;
		     body = bitset_next(&dynamics->awake, body + 1)) {
			struct attraction_search search = {
				.dynamics = dynamics, .room = room, .field = row, .body = body
			};
			if (!takes_part(tables, row, body) || tables->body.sleep_time[body] > 0)
				continue;
			enum status status = find_near(&search);
			if (status != STATUS_OK)
				return status;
			for (uint32_t i = 0; i < room->near.count; i++)
				if (tables->body.sleep_set[room->near.items[i]] != 0)
					step_push(step, room->near.items[i]);
		}
	}
	if (step->woken_count > from)
		step_wake_pushed(step, from, STEP_WHOLE_SETS, options);
	else
		step_wake_reached(step, options);
	return STATUS_OK;
}
