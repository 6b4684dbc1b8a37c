/* interest_grid.h: what interest.c and interest_grid.c share: cells, their watchers, and followers
 * of bodies. */
#ifndef CAIRN_SYNC_INTEREST_GRID_H
#define CAIRN_SYNC_INTEREST_GRID_H

#include "server/sync/interest.h"

enum {
	GRID_INDEX_MAX = (1 << 20) - 1, /* positions beyond it are in the outermost cell */
	GRID_CELLS_MAX = 1024,		/* of one interest; with more it is wide */
	GRID_REBUILD_SERIALS = 64,	/* the size of cells is checked once in so many serials */
};

/* The cell a coordinate is in, clamped at the rim. */
int32_t grid_index(const struct interest_map *self, double at);
uint64_t grid_key(int32_t x, int32_t y, int32_t z);
/* Makes the interest a watcher of a cell, once. NO_MEMORY. */
MUST_CHECK enum status grid_watch(struct interest_map *self, uint64_t key,
				  struct interest *interest);
/* Makes the interest wide, or not. */
void grid_widen(struct interest_map *self, struct interest *interest);
void grid_narrow(struct interest_map *self, struct interest *interest);
void grid_unwatch(struct interest_map *self, uint32_t cell, struct interest *interest);
/* Registers the interest with the bodies that it follows or has areas on. NO_MEMORY: some are
 * registered. */
MUST_CHECK enum status grid_follow(struct interest_map *self, struct interest *interest);
void grid_unfollow(struct interest_map *self, struct interest *interest);
/* Rebuilds cells and places from the view; every interest becomes stale. */
void grid_build(struct interest_map *self, const struct view *view);
void grid_clear(struct interest_map *self);

/* interest.c: tests a changed body, unless the interest rests or begins to rest. */
void interest_test_body(struct interest_map *map, struct interest *self,
			const struct wire_body *body);
/* A body was removed from the world. */
void interest_remove_member(struct interest *self, uint32_t id);
/* Makes the interest a watcher of the cells that its areas touch now. */
void interest_enter_cells(struct interest_map *map, struct interest *self);
/* Moves areas to their bodies and finds the members; `anew`: after dropping members and logs. */
void interest_settle(struct interest_map *map, const struct view *view, struct interest *self,
		     bool anew);
/* True if interest_settle is needed: the interest is stale, or an area must follow its body. */
bool interest_needs_settling(struct interest *self, const struct view *view);

#endif
