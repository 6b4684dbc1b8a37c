/* checking.h: macros and functions that report a broken invariant. Private to the checks. */
#ifndef CAIRN_ENGINE_WORLD_CHECKING_H
#define CAIRN_ENGINE_WORLD_CHECKING_H

#include "server/base/arena.h"
#include "server/base/table.h"
#include "server/engine/world/world.h"

/* Scratch memory of one check. */
struct checking {
	struct arena arena;
	struct table ids; /* ids found so far: kind << 32 | id */
	uint32_t *counts; /* one for each row of the largest table */
};

/* Both need `why` in scope. */
#define BROKEN(table, row, column, text)                                                           \
	reason_set(why, STATUS_CORRUPT, (int64_t)(row), column, "%s row %u: %s %s",                \
		   table_infos[table].name, (unsigned)(row), column, text)
#define EXPECT(fact, table, row, column)                                                           \
	do {                                                                                       \
		if (!(fact))                                                                       \
			return BROKEN(table, row, column,                                          \
				      "is out of range or disagrees with other columns");          \
	} while (0)

/* tables_check with `work`, whose arena is made and whose memory stays, for a caller that checks often. */
MUST_CHECK enum status tables_check_with(const struct tables *tables, struct checking *work,
					 struct reason *why);
/* Contacts refer to existing pieces; a world is planar if and only if its shapes are polygons; bodies with
 * planes or meshes do not move. `shapes` by row of the shape table (checks.c). CORRUPT. */
MUST_CHECK enum status tables_check_pieces(const struct tables *tables,
					   const struct shape *const *shapes, struct reason *why);

/* low ≤ value ≤ high; false for NaN. */
bool check_within(double value, double low, double high);
/* True if each component is within ±most. */
bool check_vector_within(vec3 v, double most);
/* True if the length is 1 to rounding. */
bool check_unit(quat q);

/* Checks joints and their points (joints_invariants.c). CORRUPT. */
MUST_CHECK enum status joints_check_tables(const struct tables *tables, struct checking *work,
					   struct reason *why);
/* Checks force fields (force_fields_invariants.c). CORRUPT. */
MUST_CHECK enum status force_fields_check_tables(const struct tables *tables, struct reason *why);
/* Checks particle systems and their particles (particle_invariants.c). CORRUPT. */
MUST_CHECK enum status particles_check_tables(const struct tables *tables, struct reason *why);
/* Fluids are systems without links and forces, and what they did is finite. */
MUST_CHECK enum status fluids_check_tables(const struct tables *tables, struct reason *why);

/* Checks what pieces have of their own (pieces_invariants.c). CORRUPT. */
MUST_CHECK enum status pieces_check(const struct tables *tables, struct checking *work,
				    struct reason *why);

#endif
