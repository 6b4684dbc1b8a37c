/* interest.h: who watches what of one world: areas, followed bodies, and the grid between them.
 *
 * An *interest* is a set of areas (protocol/area.h) and followed bodies; equal subscriptions share
 * one. It has *members*: the bodies it sees now. A grid of cells joins bodies and interests: a cell
 * knows the rows of the view that lie in it and the interests whose areas touch it, so a body that
 * changes is looked at by those who watch its cell and nobody else. Neither cost nor memory knows
 * bodies × clients.
 *
 *	report ─► row moved ─► its cell ─► watchers ─► inside? ─ yes, was not ─► turn: entered
 *	                                                       ├ yes, was     ─► change
 *	                                                       └ no, was      ─► turn: left
 *
 * Turns and changes go into two logs of the interest, numbered from 1 on. A subscription remembers
 * where they stood when its last frame was made (its mark): what lies behind the mark is what the
 * next frame has to say, however many ticks were skipped. The first turn of a body behind the mark
 * tells whether the client has it. Where the log of changes is too short the members are looked
 * through instead; where the log of turns is, only a SNAPSHOT will do.
 *
 * Who is in stays in until it is out by a margin (area.h); areas on a body are put where it is each
 * time it has gone half a margin. An interest that only one subscription has can be moved (FOCUS):
 * leaving and entering are turns like others. The size of cells follows the areas: an area spans
 * two or three cells each way. An area over CELLS_MAX cells is *wide*: it looks at every change.
 *
 * Being shown every change costs, whether a frame is made of them or not. An interest that is shown
 * more in a report than it is allowed to (`allowed`, the fanout's choice) *rests*: it watches no
 * cell, and looks for itself who is in when a frame is to be made (interest_settle_now). Its frames
 * say the same; only what came and went between two of them is never noted. interest_wake ends the
 * rest.
 *
 * Invariants: I1 every live row of the view is in the cell its position is in (clamped at the rim).
 * I2 an interest that is not wide and does not rest is a watcher of every cell that its areas, with
 * their margins, touch. I3 members are exactly the bodies that `wants` chose when they last changed
 * or the areas last moved; of one that rests, when it was last settled. Without memory an interest
 * is *stale*: it is built anew, and its subscriptions begin with a SNAPSHOT.
 */
#ifndef CAIRN_SYNC_INTEREST_H
#define CAIRN_SYNC_INTEREST_H

#include "protocol/area.h"
#include "server/sync/view.h"

struct allowance;

/* A place in both logs. */
struct interest_mark {
	uint64_t turns, changes;
};

/* What is watched. */
struct interest_set {
	uint32_t area_count, follow_count;
	struct wire_area areas[WIRE_AREAS_MAX + 1];
	uint32_t follow[WIRE_FOLLOW_MAX]; /* ascending, each once */
};
/* From SUBSCRIBE or FOCUS. False in *limited: the whole world. RANGE and TYPE name the field. */
MUST_CHECK enum status interest_set_take(const struct wire_box *area,
					 const struct wire_list *follow,
					 const struct wire_list *areas, struct interest_set *out,
					 bool *limited, struct reason *why);

struct interest_turn {
	uint32_t id;
	bool entered;
};
/* The same with its place in the log; scratch. */
struct interest_first {
	uint32_t id, order;
	bool entered;
};

struct interest {
	struct interest_set set;
	uint32_t refs;
	bool moved; /* its areas are not those it was made with: nobody new shares it */
	bool wide, stale;
	bool rests;	  /* it is shown no changes */
	uint64_t settled; /* serial at which it last looked for itself; 0 never */
	/* Bodies held against it in the report at hand, and how many may be; in the last one. */
	uint32_t shown, allowed, cost;
	/* The fanout's: somebody pays for the report at hand, and who; NULL: without bound. */
	bool paid;
	struct allowance *payer;
	double origins[WIRE_AREAS_MAX + 1][3]; /* where the bodies of areas were last looked for */
	bool placed[WIRE_AREAS_MAX + 1];       /* such a body has been seen */
	int32_t ranges[WIRE_AREAS_MAX + 1][6]; /* cells touched: lowest x, y, z, highest x, y, z */
	bool due;			       /* an anchor has gone too far */
	ARRAY_OF(uint32_t) cells;	       /* it is a watcher of these, each once */
	struct table index;		       /* id → member */
	ARRAY_OF(uint32_t) members;	       /* ids, in no particular order */
	/* Rings: entry number n stands at n % capacity; those from `first` on are there. */
	struct interest_turn *turns;
	uint32_t *changes;
	uint32_t turn_capacity, change_capacity;
	uint64_t turn_first, turn_next, change_first, change_next;
	/* The fanout's: its groups of this round. */
	uint64_t round;
	uint32_t group;
};

struct interest_cell {
	uint64_t key;
	ARRAY_OF(uint32_t) rows; /* of the view */
	ARRAY_OF(struct interest *) watchers;
	bool used;
};

/* By row of the view. */
struct interest_place {
	uint32_t cell, slot; /* cell UINT32_MAX: none (a dead row) */
	uint32_t followers;  /* index + 1 of those who follow it, 0 nobody */
	uint64_t stamp;
};

struct interest_followers {
	ARRAY_OF(struct interest *) interests;
};

struct interest_map {
	ARRAY_OF(struct interest *) interests;
	ARRAY_OF(struct interest *) wides; /* those that are wide, in no particular order */
	bool standing;			   /* grid and members are the view's */
	uint64_t compacted;		   /* of the view when the places were made */
	uint64_t built;			   /* serial */
	int32_t level;			   /* cells are 2^level metres */
	double cells_per_metre;
	struct table table; /* key → cell */
	ARRAY_OF(struct interest_cell) cells;
	ARRAY_OF(uint32_t) idle; /* cells not in use */
	ARRAY_OF(struct interest_place) places;
	struct table followed; /* id → followers */
	ARRAY_OF(struct interest_followers) followers;
	ARRAY_OF(uint32_t) idle_followers;
	uint64_t stamp;
	uint64_t looked;			/* bodies held against interests so far: the work */
	ARRAY_OF(struct interest_first) sorted; /* scratch */
};

void interest_map_init(struct interest_map *self);
void interest_map_release(struct interest_map *self);
/* Before view_apply: bodies that go leave. */
void interest_map_before(struct interest_map *self, const struct view *view,
			 const struct tick_report *report);
/* After a view_apply that went well. */
void interest_map_after(struct interest_map *self, const struct view *view,
			const struct tick_report *report);
/* After one that did not, until the next whole report. */
void interest_map_invalidate(struct interest_map *self);

/* Returned with a reference of the caller's. `view` may not stand yet (standing false). */
MUST_CHECK enum status interest_acquire(struct interest_map *self, const struct view *view,
					bool standing, const struct interest_set *set,
					struct interest **out);
void interest_release(struct interest_map *self, struct interest *interest);
/* Watches something else from now on; *interest may become another. NO_MEMORY: nothing changed. */
MUST_CHECK enum status interest_move(struct interest_map *self, const struct view *view,
				     struct interest **interest, const struct interest_set *set);

/* Before anything is collected of an interest that rests: it is as one that was shown all changes. */
void interest_settle_now(struct interest_map *self, const struct view *view,
			 struct interest *interest);
/* It is shown changes again, as from the view it was settled for. */
void interest_wake(struct interest_map *self, const struct view *view, struct interest *interest);
/* It is shown no more changes. */
void interest_rest(struct interest_map *self, struct interest *interest);

static inline struct interest_mark interest_mark(const struct interest *self)
{
	return (struct interest_mark){ self->turn_next, self->change_next };
}
bool interest_sees(const struct interest *self, uint32_t id);
/* Makes interest_saw tell of a subscription that stands at `mark`, until something else is collected.
 * MISSING: the log does not reach back to it. */
MUST_CHECK enum status interest_look_back(struct interest_map *self,
					  const struct interest *interest,
					  struct interest_mark mark);
/* Whether it had that body then. */
bool interest_saw(const struct interest_map *self, const struct interest *interest, uint32_t id);
/* What a subscription that stands at `mark` and serial `base` needs to know. MISSING: only a SNAPSHOT
 * will do. */
MUST_CHECK enum status interest_collect(struct interest_map *self, struct view *view,
					struct interest *interest, struct interest_mark mark,
					uint64_t base, wire_mask fields, struct view_delta *delta);
/* Every member, as created. */
MUST_CHECK enum status interest_collect_all(struct interest_map *self, const struct view *view,
					    struct interest *interest, wire_mask fields,
					    struct view_delta *delta);
/* Where its areas and followed bodies are, at most `capacity` points; for priorities. */
uint32_t interest_foci(const struct interest *self, const struct view *view, double foci[][3],
		       uint32_t capacity);
/* Half the extent of its largest bounded area in metres; 0 where there is none. */
double interest_scale(const struct interest *self);

#endif
