/* step_touch.c: memory for a first step, taken and touched when bodies are made.
 *
 * Memory that the system has not given yet costs a fault for each page, which is more than what a step of a
 * small world does with the page: the first tick of a world of 210 boxes took four times as long as a later
 * one, and half of that were faults.
 *
 * How many contacts there will be is guessed from a sample of placements, by the fat boxes that each meets
 * now. A wrong guess costs time or memory, and changes no result.
 */
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/step.h"

enum {
	LEAST_BODIES = 16, /* fewer use memory that the heap has */
	SAMPLES = 64,
	PAGE = 4096,
	MOST_BYTES = 64 << 20, /* of scratch: a tick that uses more takes long anyway */
};

struct boxes_met {
	const struct dynamics *dynamics;
	uint32_t of;	 /* placement */
	uint32_t halves; /* of pairs: one with a moving neighbour is found from both */
};

static bool count_box(uint32_t placement, void *context)
{
	struct boxes_met *self = context;
	const struct tables *tables = self->dynamics->tables;
	if (placement == self->of)
		return true;
	bool still = tables->body.status[placement_body(tables, placement)] == BODY_STATIC;
	self->halves += still ? 2 : 1;
	return true;
}

/* Pairs of boxes that meet, estimated, and more for the bodies that may follow before the next guess. */
static uint32_t guess_pairs(const struct dynamics *self)
{
	const struct tables *tables = self->tables;
	const struct bitset *used = &self->placement_used;
	uint32_t every = used->count / SAMPLES + 1, at = 0;
	uint64_t halves = 0;
	for (uint32_t p = bitset_next(used, 0); p != BITSET_NONE; p = bitset_next(used, p + 1)) {
		if (at++ % every != 0 || !tables->placement.active[p] ||
		    tables->body.status[placement_body(tables, p)] == BODY_STATIC)
			continue;
		struct boxes_met near = { self, p, 0 };
		struct aabb box =
			aabb_make(tables->placement.fat_min[p], tables->placement.fat_max[p]);
		broad_phase_query(self->broad_phase, &box, count_box, &near);
		halves += near.halves;
	}
	uint64_t pairs = halves * every / 2;
	pairs += pairs * 3 / 8;
	return (uint32_t)MIN_OF(pairs, (uint64_t)tables->world.contacts_max[0]);
}

static void touch_scratch(struct arena *scratch, uint64_t most, uint64_t usual)
{
	if (usual > MOST_BYTES || most > SIZE_MAX / 2 ||
	    arena_reserve(scratch, (size_t)most) != STATUS_OK)
		return;
	uint8_t *memory = arena_push(scratch, (size_t)usual);
	for (size_t k = 0; memory != NULL && k < usual; k += PAGE)
		memory[k] = 0;
	arena_reset(scratch);
}

void step_touch(struct dynamics *dynamics, step_need *need, step_need *usual)
{
	uint32_t bodies = dynamics->body_used.count;
	if (bodies < LEAST_BODIES || bodies <= dynamics->touched ||
	    arena_used(&dynamics->scratch) > 0)
		return;
	dynamics->touched = bodies + bodies / 4;
	uint32_t pairs = guess_pairs(dynamics), before = dynamics->contact_used.count;
	if (pairs <= before || !tables_fit(dynamics->tables, TABLE_CONTACT, pairs) ||
	    dynamics_contact_reserve(dynamics, pairs) != STATUS_OK)
		return;
	uint64_t own = step_own_bytes(bodies, pairs);
	touch_scratch(&dynamics->scratch, own + need(bodies, pairs), own + usual(bodies, pairs));
}
