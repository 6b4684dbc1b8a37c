/* sweep_list.h: the fast bodies of a step, shared by sweep.c and sweep_pairs.c. Private to these. */
#ifndef CAIRN_ENGINE_DYNAMICS_SWEEP_LIST_H
#define CAIRN_ENGINE_DYNAMICS_SWEEP_LIST_H

#include "server/engine/dynamics/sweep_path.h"

struct sweep_body {
	uint32_t slot, body;
	struct sweep_path path; /* as far as it goes */
	double left;		/* 1: part of its path that it goes */
	vec3 core_normal;	/* to what its core touches */
	vec3 core_way;		/* m, of that obstacle's point in the tick */
	bool stops, core;
	struct aabb box; /* of its path, grown by slow_most; for sweep_pairs */
	uint64_t limits; /* searches without an answer */
};

struct sweep_list {
	struct sweep_body *items; /* in scratch, ascending by slots */
	uint32_t count;
	double slow_most; /* m, the most that a dynamic body moves that is not in the list */
};

/* Ends the paths of pairs of dynamic bodies of which one is in the list and has BODY_FAST. NO_MEMORY. */
MUST_CHECK enum status sweep_pairs(struct step *self, const struct body_motion *motions,
				   struct sweep_list *list);

#endif
