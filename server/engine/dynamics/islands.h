/* islands.h: islands of constraints that must be solved together, and solving islands in parallel.
 *
 * An island is a set of groups of slots (mass_operator.h) linked by constraints: two constraints
 * are in one island if a chain of constraints connects them through slots that can move. A slot
 * that cannot move links nothing. Islands are numbered by their lowest slot; the slots and
 * constraints of each ascend. So islands are a function of the list of constraints, and no result
 * depends on the worker that solves one.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_ISLANDS_H
#define CAIRN_ENGINE_DYNAMICS_ISLANDS_H

#include "server/engine/dynamics/constraint.h"
#include "server/engine/dynamics/mass_operator.h"
#include "server/engine/dynamics/step.h"

struct island {
	const uint32_t *slots;	     /* that can move; ascending */
	const uint32_t *constraints; /* ascending */
	uint32_t slot_count, constraint_count;
};

struct islands {
	struct island *items; /* on the arena given, with the arrays they point to */
	uint32_t count;
	uint32_t *
		island_of; /* by slot: its island, UINT32_MAX for a slot that no constraint touches */
};

/* Constraints between slots that cannot move are in no island. O(slots + constraints). NO_MEMORY. */
MUST_CHECK enum status islands_make(struct arena *arena, const struct mass_operator *mass,
				    const struct constraint *constraints, uint32_t count,
				    struct islands *out);

/* Solves island `index`. `arena`: the worker's own arena, empty before and reset after. It must
 * write only data of its island and read no data of other islands. */
typedef enum status island_solve(const struct island *island, uint32_t index, struct arena *arena,
				 void *context);

/* Solves all islands, each on any worker. Returns the status of the first, in order of numbers,
 * that is not OK. NO_MEMORY. */
MUST_CHECK enum status islands_solve(struct step *step, const struct islands *islands,
				     island_solve *solve, void *context);

#endif
