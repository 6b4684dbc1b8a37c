/* islands.h: who must be solved together, and solving islands side by side.
 *
 * An island is a set of groups of slots (mass_operator.h) that constraints link: two constraints
 * are of one island when a chain of constraints joins them through what can move. Whatever cannot
 * move links nothing. Islands are numbered by their lowest slot; slots and constraints of each
 * ascend. So all of it is a function of the list of constraints, and no island depends on who
 * solves it.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_ISLANDS_H
#define CAIRN_ENGINE_DYNAMICS_ISLANDS_H

#include "server/engine/dynamics/constraint.h"
#include "server/engine/dynamics/mass_operator.h"
#include "server/engine/dynamics/step.h"

struct island {
	const uint32_t *slots;	     /* that move; ascending */
	const uint32_t *constraints; /* ascending */
	uint32_t slot_count, constraint_count;
};

struct islands {
	struct island *items; /* in the arena given, as what they point to */
	uint32_t count;
	uint32_t *
		island_of; /* by slot: its island, UINT32_MAX for a slot that no constraint touches */
};

/* Constraints between two things that cannot move are in no island. O(slots + constraints). NO_MEMORY. */
MUST_CHECK enum status islands_make(struct arena *arena, const struct mass_operator *mass,
				    const struct constraint *constraints, uint32_t count,
				    struct islands *out);

/* Solves one island; `room` is the worker's own arena, empty, and emptied after. Reads what was
 * final before, writes only what belongs to its island. `index`: its number. */
typedef enum status island_solve(const struct island *island, uint32_t index, struct arena *room,
				 void *context);

/* All islands, each on any worker. The status of the first, in their order, that did not answer OK. */
MUST_CHECK enum status islands_solve(struct step *step, const struct islands *islands,
				     island_solve *solve, void *context);

#endif
