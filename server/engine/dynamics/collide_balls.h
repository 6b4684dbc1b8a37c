/* collide_balls.h: pairs of balls, collided side by side. Private to collide.c and collide_balls.c.
 *
 * Two balls about the origins and mass centres of their bodies need little arithmetic, in one long chain
 * of square roots and divisions. So BALLS_AT_ONCE pairs of a piece of the list go through the chain
 * together, two in a vector, and then one by one through what branches. Every operation is that of
 * collide_contact, in the same order, so a contact has the same bits either way. */
#ifndef CAIRN_ENGINE_DYNAMICS_COLLIDE_BALLS_H
#define CAIRN_ENGINE_DYNAMICS_COLLIDE_BALLS_H

#include "server/base/inline.h"
#include "server/engine/dynamics/one_way.h"
#include "server/engine/dynamics/step.h"

#define VECTOR balls
#define VECTOR_BYTES 16
#define VECTOR_ELEMENT double
#define VECTOR_BITS int64_t
#include "server/engine/math/vector_lanes.h"

enum { BALLS_AT_ONCE = 8, BALL_LANES = 2 };

struct ball_batch {
	uint32_t count;
	uint32_t contact[BALLS_AT_ONCE], body_a[BALLS_AT_ONCE], body_b[BALLS_AT_ONCE];
	/* By vector; a last one that is half full has its pair twice. */
	struct {
		struct balls3 position; /* of B in A's frame, m */
		struct balls4 turn;
		struct balls3 unit;
		balls squared, distance; /* m², m */
		balls straight;		 /* m: the way of one centre in the other's axes */
	} at[BALLS_AT_ONCE / BALL_LANES];
};

/* Two balls that are awake, or static, and solid from all sides. */
static inline bool balls_meet(const struct dynamics *dynamics, const struct contact_state *contact)
{
	const struct body_cache *bodies = dynamics->bodies.items;
	const uint32_t *sleeps = dynamics->tables->body.sleep_set;
	return bodies[contact->body_b].ball && bodies[contact->body_a].ball &&
	       (sleeps[contact->body_a] | sleeps[contact->body_b]) == 0 &&
	       !one_way_concerns(dynamics, contact->body_a, contact->body_b);
}

/* Collides the pairs that wait in the batch, and empties it. options->motions is NULL. */
void balls_flush(struct ball_batch *batch, const struct step *step, const struct contact_list *list,
		 const struct collide_options *options);

/* Adds contact i of the list, for which balls_meet, and collides all when the batch is full. */
static inline void balls_push(struct ball_batch *batch, const struct step *step,
			      const struct contact_list *list, uint32_t i,
			      const struct collide_options *options)
{
	VALIDATE(batch->count < BALLS_AT_ONCE);
	batch->contact[batch->count] = i;
	batch->body_a[batch->count] = list->items[i].body_a;
	batch->body_b[batch->count] = list->items[i].body_b;
	if (++batch->count == BALLS_AT_ONCE)
		balls_flush(batch, step, list, options);
}

#endif
