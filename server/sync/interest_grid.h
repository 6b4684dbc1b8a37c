/* interest_grid.h: what interest.c and interest_grid.c share: cells, who watches them, who follows
 * whom. */
#ifndef CAIRN_SYNC_INTEREST_GRID_H
#define CAIRN_SYNC_INTEREST_GRID_H

#include "server/sync/interest.h"

enum {
	GRID_INDEX_MAX = (1 << 20) - 1, /* beyond it the outermost cell stands for all */
	GRID_CELLS_MAX = 1024,		/* of one interest */
	GRID_REBUILD_SERIALS = 64,	/* from look to look whether cells fit the areas */
};

/* The cell a coordinate is in, clamped at the rim. */
int32_t grid_index(const struct interest_map *self, double at);
uint64_t grid_key(int32_t x, int32_t y, int32_t z);
/* Has the interest watch a cell, once. NO_MEMORY. */
MUST_CHECK enum status grid_watch(struct interest_map *self, uint64_t key,
				  struct interest *interest);
/* Has it look at everything, and no more. */
void grid_widen(struct interest_map *self, struct interest *interest);
void grid_narrow(struct interest_map *self, struct interest *interest);
void grid_unwatch(struct interest_map *self, uint32_t cell, struct interest *interest);
/* Notes the bodies an interest follows or has areas on. NO_MEMORY: some are noted. */
MUST_CHECK enum status grid_follow(struct interest_map *self, struct interest *interest);
void grid_unfollow(struct interest_map *self, struct interest *interest);
/* Cells and places from the view, every interest from anew. */
void grid_build(struct interest_map *self, const struct view *view);
void grid_clear(struct interest_map *self);

/* interest.c: a body that has changed is held against an interest, unless that rests or begins to. */
void interest_test_body(struct interest_map *map, struct interest *self,
			const struct wire_body *body);
/* A body that is gone. */
void interest_remove_member(struct interest *self, uint32_t id);
/* Watches the cells its areas touch now. */
void interest_enter_cells(struct interest_map *map, struct interest *self);
/* Puts areas where their bodies are and looks who is inside; `anew`: with members and logs
 * forgotten. */
void interest_settle(struct interest_map *map, const struct view *view, struct interest *self,
		     bool anew);
/* Whether it has to settle: it is stale, or an area has to follow its body. */
bool interest_needs_settling(struct interest *self, const struct view *view);

#endif
