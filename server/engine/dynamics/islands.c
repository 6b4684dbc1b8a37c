/* islands.c: islands by union-find over groups, then a counting sort; solving with one arena per worker.
 *
 * The group with the lower number becomes the root, so the root of a set is a function of the set alone.
 */
#include "server/engine/dynamics/islands.h"

#include "server/base/union_find.h"

#include <string.h>

#define NO_ISLAND UINT32_MAX

static bool slot_moves(const struct mass_operator *mass, uint32_t slot)
{
	return slot != ROW_NO_BODY && mass_moves(mass, slot);
}

/* The slot that puts a constraint into its island: body a's if it can move, else b's; ROW_NO_BODY
 * if neither. */
static uint32_t linking_slot(const struct mass_operator *mass, const struct constraint *constraint)
{
	ASSERT(constraint->body_a == ROW_NO_BODY || constraint->body_a < mass->slots);
	ASSERT(constraint->body_b == ROW_NO_BODY || constraint->body_b < mass->slots);
	if (slot_moves(mass, constraint->body_a))
		return constraint->body_a;
	return slot_moves(mass, constraint->body_b) ? constraint->body_b : ROW_NO_BODY;
}

/* Union-find over groups. */
static void link_groups(const struct mass_operator *mass, const struct constraint *constraints,
			uint32_t count, uint32_t *parent, uint8_t *linked)
{
	for (uint32_t g = 0; g < mass->groups; g++)
		parent[g] = g;
	memset(linked, 0, mass->groups);
	for (uint32_t i = 0; i < count; i++) {
		const struct constraint *constraint = &constraints[i];
		uint32_t slot = linking_slot(mass, constraint);
		if (slot == ROW_NO_BODY)
			continue;
		uint32_t group = mass_group(mass, slot);
		linked[group] = 1;
		if (slot == constraint->body_b || !slot_moves(mass, constraint->body_b))
			continue;
		uint32_t other = mass_group(mass, constraint->body_b);
		linked[other] = 1;
		(void)union_find_join(parent, group, other);
	}
}

enum status islands_make(struct arena *arena, const struct mass_operator *mass,
			 const struct constraint *constraints, uint32_t count, struct islands *out)
{
	uint32_t groups = mass->groups;
	ASSERT(groups <= mass->slots);
	*out = (struct islands){ ARENA_ARRAY(arena, struct island, groups), 0,
				 ARENA_ARRAY(arena, uint32_t, mass->slots) };
	uint32_t *parent = ARENA_ARRAY(arena, uint32_t, groups);  /* by group */
	uint32_t *of_root = ARENA_ARRAY(arena, uint32_t, groups); /* by root: its island */
	uint8_t *linked = ARENA_ARRAY(arena, uint8_t, groups); /* a constraint touches the group */
	uint32_t *slots = ARENA_ARRAY(arena, uint32_t, mass->slots); /* by island */
	uint32_t *members = ARENA_ARRAY(arena, uint32_t, count);     /* constraints, by island */
	if (out->items == NULL || out->island_of == NULL || parent == NULL || of_root == NULL ||
	    linked == NULL || slots == NULL || members == NULL)
		return STATUS_NO_MEMORY;
	link_groups(mass, constraints, count, parent, linked);
	/* Islands are numbered by their lowest slot. */
	memset(of_root, 0xff, groups * sizeof *of_root);
	for (uint32_t slot = 0; slot < mass->slots; slot++) {
		out->island_of[slot] = NO_ISLAND;
		uint32_t group = mass_group(mass, slot);
		if (!linked[group] || !mass_moves(mass, slot))
			continue;
		uint32_t root = union_find_root(parent, group);
		if (of_root[root] == NO_ISLAND) {
			of_root[root] = out->count;
			out->items[out->count++] = (struct island){ 0 };
		}
		out->island_of[slot] = of_root[root];
		out->items[of_root[root]].slot_count++;
	}
	ASSERT(out->count <= groups);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t slot = linking_slot(mass, &constraints[i]);
		if (slot != ROW_NO_BODY)
			out->items[out->island_of[slot]].constraint_count++;
	}
	/* Each island gets its part of the arrays; then slots and constraints are appended in
	 * ascending order. */
	uint32_t *slot_end = parent, *member_end = of_root; /* no longer needed, reused */
	uint32_t slots_used = 0, members_used = 0;
	for (uint32_t i = 0; i < out->count; i++) {
		struct island *island = &out->items[i];
		island->slots = slots + slots_used;
		island->constraints = members + members_used;
		slot_end[i] = slots_used;
		member_end[i] = members_used;
		slots_used += island->slot_count;
		members_used += island->constraint_count;
	}
	ASSERT(slots_used <= mass->slots && members_used <= count);
	for (uint32_t slot = 0; slot < mass->slots; slot++)
		if (out->island_of[slot] != NO_ISLAND)
			slots[slot_end[out->island_of[slot]]++] = slot;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t slot = linking_slot(mass, &constraints[i]);
		if (slot != ROW_NO_BODY)
			members[member_end[out->island_of[slot]]++] = i;
	}
	return STATUS_OK;
}

/* ---- solving in parallel ------------------------------------------------------------------- */

struct solve_work {
	struct dynamics *dynamics;
	const struct islands *islands;
	island_solve *solve;
	void *context;
	enum status *statuses;
};

static void solve_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	const struct solve_work *work = context;
	struct arena *arena = &work->dynamics->worker_arenas[worker];
	for (uint32_t i = first; i < last; i++) {
		ASSERT(arena_used(arena) == 0);
		work->statuses[i] = work->solve(&work->islands->items[i], i, arena, work->context);
		arena_reset(arena);
	}
}

enum status islands_solve(struct step *step, const struct islands *islands, island_solve *solve,
			  void *context)
{
	struct arena *scratch = &step->dynamics->scratch;
	struct solve_work work = { step->dynamics, islands, solve, context,
				   ARENA_ARRAY(scratch, enum status, islands->count) };
	if (work.statuses == NULL)
		return STATUS_NO_MEMORY;
	/* An arena that had to grow becomes one block again, so that a steady tick makes no heap call. */
	for (uint32_t i = 0; i < step->parallel->workers; i++)
		if (arena_reserve(&step->dynamics->worker_arenas[i],
				  step->dynamics->worker_arenas[i].peak) != STATUS_OK)
			return STATUS_NO_MEMORY;
	parallel_run(step->parallel, islands->count, 1, solve_piece, &work);
	for (uint32_t i = 0; i < islands->count; i++)
		if (work.statuses[i] != STATUS_OK)
			return work.statuses[i];
	return STATUS_OK;
}
