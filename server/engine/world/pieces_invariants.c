/* pieces_invariants.c: the invariants of what pieces have of their own; see invariants.c. */
#include "server/engine/world/checking.h"

#include <string.h>

static enum status check_material(const struct piece_table *t, uint32_t row, struct reason *why)
{
	EXPECT(check_within(t->static_friction[row], 0, FRICTION_MAX), TABLE_PIECE, row,
	       "static_friction");
	EXPECT(check_within(t->dynamic_friction[row], 0, t->static_friction[row]), TABLE_PIECE, row,
	       "dynamic_friction");
	EXPECT(check_within(t->restitution[row], 0, 1), TABLE_PIECE, row, "restitution");
	EXPECT(t->friction_rule[row] <= COMBINE_GEOMETRIC, TABLE_PIECE, row, "friction_rule");
	EXPECT(t->restitution_rule[row] <= COMBINE_GEOMETRIC, TABLE_PIECE, row, "restitution_rule");
	EXPECT(check_within(t->rolling_friction[row], 0, ROLLING_MAX), TABLE_PIECE, row,
	       "rolling_friction");
	EXPECT(check_within(t->spinning_friction[row], 0, ROLLING_MAX), TABLE_PIECE, row,
	       "spinning_friction");
	EXPECT(check_vector_within(t->friction_axis[row], 1), TABLE_PIECE, row, "friction_axis");
	EXPECT(check_within(t->axis_friction[row], 0, FRICTION_MAX), TABLE_PIECE, row,
	       "axis_friction");
	return STATUS_OK;
}

static enum status check_row(const struct tables *tables, uint32_t row, struct reason *why)
{
	const struct piece_table *t = &tables->piece;
	uint32_t own = t->own[row];
	EXPECT(own != 0 && own <= OWN_ALL &&
		       (t->patch[row] == 0 || !(own & ~(uint32_t)OWN_OF_PATCH)),
	       TABLE_PIECE, row, "own");
	EXPECT(t->patch[row] < PATCHES_END, TABLE_PIECE, row, "patch");
	EXPECT(t->sensor[row] <= (own & OWN_SENSOR ? 1 : 0), TABLE_PIECE, row, "sensor");
	EXPECT(check_vector_within(t->surface_velocity[row], own & OWN_SURFACE ? SPEED_MAX : 0),
	       TABLE_PIECE, row, "surface_velocity");
	bool weighs = (own & OWN_DENSITY) != 0;
	EXPECT(weighs ? check_within(t->density[row], DENSITY_MIN, DENSITY_MAX)
		      : t->density[row] == 0,
	       TABLE_PIECE, row, "density");
	EXPECT(!weighs || tables->body.density[t->body[row] - 1] > 0, TABLE_PIECE, row, "density");
	return check_material(t, row, why);
}

/* Every row is once in the list of a placement of its body, where patches ascend. */
enum status pieces_check(const struct tables *tables, struct checking *work, struct reason *why)
{
	const struct placement_table *placement = &tables->placement;
	const struct piece_table *t = &tables->piece;
	memset(work->counts, 0, t->count * sizeof *work->counts);
	for (uint32_t p = 0; p < placement->count; p++) {
		EXPECT(placement->first_piece[p] == 0 || placement->body[p] != 0, TABLE_PLACEMENT,
		       p, "first_piece");
		uint32_t at = placement->first_piece[p], from = 0;
		for (; at != 0; at = t->next[at - 1]) {
			EXPECT(at <= t->count, TABLE_PLACEMENT, p, "first_piece");
			EXPECT(t->body[at - 1] == placement->body[p], TABLE_PIECE, at - 1, "body");
			EXPECT(work->counts[at - 1]++ == 0, TABLE_PIECE, at - 1, "next");
			EXPECT(t->patch[at - 1] >= from, TABLE_PIECE, at - 1, "patch");
			from = t->patch[at - 1] + 1u;
		}
	}
	for (uint32_t row = 0; row < t->count; row++) {
		if (t->body[row] == 0)
			continue;
		EXPECT(work->counts[row] == 1, TABLE_PIECE, row, "body");
		enum status status = check_row(tables, row, why);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}
