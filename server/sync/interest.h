/* interest.h: which parts of one world are watched: areas, followed bodies, and the grid between
 * them.
 *
 * An *interest* is a set of areas (protocol/area.h) and followed bodies; subscriptions with equal
 * sets share one. Its *members* are the bodies that it sees now. A grid of cells joins bodies and
 * interests: a cell lists the rows of the view inside it and the interests whose areas touch it
 * (its *watchers*), so a body that changes is tested by the watchers of its cell and no other
 * interest. Neither time nor memory grows with bodies × clients.
 *
 *	report ─► row moved ─► its cell ─► watchers ─► inside? ─ yes, was not ─► turn: entered
 *	                                                       ├ yes, was     ─► change
 *	                                                       └ no, was      ─► turn: left
 *
 * A *turn* is a body's entering or leaving. Turns and changes go into two logs of the interest,
 * numbered from 1. A subscription stores the next numbers at its last frame (its *mark*): the
 * entries from the mark on are what the next frame contains, however many ticks were skipped. The
 * first turn of a body after the mark shows if the client has the body. If the log of changes is
 * too short, the members are iterated instead. If the log of turns is too short, a SNAPSHOT is
 * needed.
 *
 * A member leaves only when it is outside by a margin (area.h). An area attached to a body is moved
 * when the body has gone half a margin. An interest of only one subscription can be moved (FOCUS),
 * which makes turns like any other. The size of cells follows the areas: an area spans two or three
 * cells each way. An area over GRID_CELLS_MAX cells is *wide*: its interest tests every change.
 *
 * Testing every change costs work, whether a frame is made of it or not. An interest that has
 * tested more bodies in a report than `allowed` (set by the fanout) *rests*: it watches no cell,
 * and finds its members when a frame is made (interest_settle_now). Its frames are the same, but
 * bodies that came and went between two of them are never logged. interest_wake ends the rest.
 *
 * Invariants: I1 every live row of the view is in the cell of its position (clamped at the rim). I2
 * an interest that is not wide and does not rest is a watcher of every cell that its areas, with
 * their margins, touch. I3 members are exactly the bodies for which `wants` was true when they last
 * changed or the areas last moved; of a resting interest, when it was last settled. Without memory
 * an interest becomes *stale*: it is rebuilt, and its subscriptions begin with a SNAPSHOT.
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
/* Reads a set from SUBSCRIBE or FOCUS. *limited is false for the whole world. RANGE and TYPE name
 * the field. */
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
	bool moved; /* FOCUS has changed its set: no further subscription shares it */
	bool wide, stale;
	bool rests;	  /* it tests no changes */
	uint64_t settled; /* serial at which its members were last found; 0 never */
	/* Bodies tested in this report, the limit of that, and those tested in the last report. */
	uint32_t shown, allowed, cost;
	/* The fanout's: this report is paid for, and by which allowance; NULL: no bound. */
	bool paid;
	struct allowance *payer;
	double origins[WIRE_AREAS_MAX + 1]
		      [3];		 /* last used positions of the bodies of areas, metres */
	bool placed[WIRE_AREAS_MAX + 1]; /* such a body has been seen */
	int32_t ranges[WIRE_AREAS_MAX + 1][6]; /* cells touched: lowest x, y, z, highest x, y, z */
	bool due;			       /* a body of an area has moved by half a margin */
	ARRAY_OF(uint32_t) cells;	       /* those it watches, each once */
	struct table index;		       /* id → member */
	ARRAY_OF(uint32_t) members;	       /* ids, in no particular order */
	/* Rings: entry n is at n % capacity; entries from `first` to `next` - 1 exist. */
	struct interest_turn *turns;
	uint32_t *changes;
	uint32_t turn_capacity, change_capacity;
	uint64_t turn_first, turn_next, change_first, change_next;
	/* Owned ring of INTEREST_SIGHTS; NULL until its particles are watched. */
	struct interest_sight *sights;
	uint32_t sight_next; /* so far */
	/* The fanout's: its groups of this round. */
	uint64_t round;
	uint32_t group;
};

/* What an interest saw of the particles at one state: its areas as they were. Particles are tested
 * against them state by state, so no log is needed. */
struct interest_sight {
	uint64_t serial; /* of the state; 0: none */
	uint32_t area_count;
	struct wire_area areas[WIRE_AREAS_MAX + 1];
	double origins[WIRE_AREAS_MAX + 1][3]; /* of their bodies */
	double pads[WIRE_AREAS_MAX + 1];       /* m */
};
enum { INTEREST_SIGHTS = 16 };

struct interest_cell {
	uint64_t key;
	ARRAY_OF(uint32_t) rows; /* of the view */
	ARRAY_OF(struct interest *) watchers;
	bool used;
};

/* By row of the view. */
struct interest_place {
	uint32_t cell, slot; /* cell UINT32_MAX: none (a dead row) */
	uint32_t followers;  /* index + 1 in interest_map.followers, 0 none */
	uint64_t stamp;
};

struct interest_followers {
	ARRAY_OF(struct interest *) interests;
};

struct interest_map {
	ARRAY_OF(struct interest *) interests;
	ARRAY_OF(struct interest *) wides; /* those that are wide, in no particular order */
	bool standing;			   /* grid and members match the view */
	uint64_t compacted;		   /* view.compacted when `places` was made */
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
	uint64_t looked;			/* bodies tested against interests so far */
	ARRAY_OF(struct interest_first) sorted; /* scratch */
};

void interest_map_init(struct interest_map *self);
void interest_map_release(struct interest_map *self);
/* Before view_apply: bodies that the report removes leave their interests. */
void interest_map_before(struct interest_map *self, const struct view *view,
			 const struct tick_report *report);
/* After view_apply returned OK. */
void interest_map_after(struct interest_map *self, const struct view *view,
			const struct tick_report *report);
/* After view_apply failed; nothing is valid until the next whole report. */
void interest_map_invalidate(struct interest_map *self);

/* Returns an interest with a reference owned by the caller. `standing`: the view is valid.
 * NO_MEMORY. */
MUST_CHECK enum status interest_acquire(struct interest_map *self, const struct view *view,
					bool standing, const struct interest_set *set,
					struct interest **out);
void interest_release(struct interest_map *self, struct interest *interest);
/* Replaces the set of a subscription's interest; *interest may become another one. NO_MEMORY:
 * nothing changed. */
MUST_CHECK enum status interest_move(struct interest_map *self, const struct view *view,
				     struct interest **interest, const struct interest_set *set);

/* Finds the members of a resting interest; call it before collecting. Does nothing for others. */
void interest_settle_now(struct interest_map *self, const struct view *view,
			 struct interest *interest);
/* Ends the rest: the interest tests changes again, from the view that it was settled for. */
void interest_wake(struct interest_map *self, const struct view *view, struct interest *interest);
/* Begins the rest: the interest tests no changes. */
void interest_rest(struct interest_map *self, struct interest *interest);

static inline struct interest_mark interest_mark(const struct interest *self)
{
	return (struct interest_mark){ self->turn_next, self->change_next };
}
/* True if the body is a member. */
bool interest_sees(const struct interest *self, uint32_t id);
/* Prepares interest_saw for a subscription with that mark, until the next collection. MISSING: the
 * log of turns does not reach back to it. */
MUST_CHECK enum status interest_look_back(struct interest_map *self,
					  const struct interest *interest,
					  struct interest_mark mark);
/* True if the body was a member at the mark given to interest_look_back. */
bool interest_saw(const struct interest_map *self, const struct interest *interest, uint32_t id);
/* Collects the changes since `mark` and serial `base`. MISSING: a SNAPSHOT is needed; NO_MEMORY. */
MUST_CHECK enum status interest_collect(struct interest_map *self, struct view *view,
					struct interest *interest, struct interest_mark mark,
					uint64_t base, wire_mask fields, struct view_delta *delta);
/* Collects every member as created. NO_MEMORY. */
MUST_CHECK enum status interest_collect_all(struct interest_map *self, const struct view *view,
					    struct interest *interest, wire_mask fields,
					    struct view_delta *delta);
/* What it sees of particles now; remembered under the serial. NULL: no memory. */
const struct interest_sight *interest_look(struct interest *self, uint64_t serial);
/* What it saw at that serial, of frames made before; NULL: it is not remembered. */
const struct interest_sight *interest_recall(const struct interest *self, uint64_t serial);
/* Nothing is remembered any more. */
void interest_forget_sights(struct interest *self);
/* True if all particles are seen. */
bool interest_sight_is_everything(const struct interest_sight *sight);
/* True if a particle is seen. */
bool interest_sight_holds(const struct interest_sight *sight, const double position[3]);
/* Centres of its areas and followed bodies, at most `capacity` points, metres; for priorities. */
uint32_t interest_foci(const struct interest *self, const struct view *view, double foci[][3],
		       uint32_t capacity);
/* Half the extent of its largest bounded area in metres; 0 if there is none. */
double interest_scale(const struct interest *self);

#endif
