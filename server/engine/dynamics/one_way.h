/* one_way.h: bodies that are solid from one side only (body.one_way). Private to dynamics, methods
 * and the invariants.
 *
 * A body with a direction lets others through unless they come from the side that the direction points
 * to. A pair of bodies is in one of four states, which is a column of all its contact rows:
 *
 *   OPEN     apart, or only near. The first touch decides: the other body lands if the normal at the
 *            touch faces the direction (ONE_WAY_FACING), it was outside before, and it does not move
 *            away along the direction.
 *   THROUGH  let through: no contact until no piece of one body overlaps a piece of the other.
 *   SOLID    it landed: a contact like any other until they are CONTACT_NEAR apart.
 *   ABOVE    as OPEN, and in the last tick all near points were apart on the solid side. So whoever
 *            overlaps there now has come from outside, whatever threw it back within the tick.
 *
 * So a body that turns back inside falls out on the side from which it came, and one that is pressed
 * deep into a platform on which it rests does not fall through. A body that moves away is refused
 * without being let through, so that its motion is that without the platform; if something throws it
 * back within the tick, it lands in the next one (ABOVE).
 *
 * Invariant 1: all rows of a pair of bodies have the same state, because a step lists all of them or
 *   none, and writes all that it lists. New rows begin with it (one_way_between).
 * Invariant 2: within a step the states do not change. What a contact does depends on them, on the
 *   poses, and on the velocities of the tables and at those poses.
 *
 * Where it acts: contacts that are refused have no points after step_collide; sweeps (sweep_path.c) and
 * searches of times of collision (impact_path.c) pass them. Sensors and queries do not know of it.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_ONE_WAY_H
#define CAIRN_ENGINE_DYNAMICS_ONE_WAY_H

#include "server/engine/dynamics/step.h"

/* contact.passage */
enum passage { PASSAGE_OPEN = 0, PASSAGE_THROUGH = 1, PASSAGE_SOLID = 2, PASSAGE_ABOVE = 3 };

/* Whether one of two bodies is one-way. */
static inline bool one_way_concerns(const struct dynamics *self, uint32_t a, uint32_t b)
{
	return self->one_way.count > 0 &&
	       (bitset_get(&self->one_way, a) || bitset_get(&self->one_way, b));
}

/* The state of a pair of bodies. O(contacts of the body that has fewer). */
enum passage one_way_between(const struct dynamics *self, uint32_t a, uint32_t b);
/* The same for a contact of the list, whose row mostly has it. */
enum passage one_way_passage(const struct dynamics *self, const struct contact_state *contact);
/* Whether a touch with this normal (unit, a → b, world axes) is on the solid side of both bodies. */
bool one_way_faces(const struct dynamics *self, uint32_t a, uint32_t b, vec3 normal);
/* Whether body b, which a meets on its path with this normal from a to b, ends that path. `core`: a's
 * core met it, so they touched when the path began. */
bool one_way_ends_path(const struct dynamics *self, uint32_t a, uint32_t b, vec3 normal, bool core);

/* A contact at the motions of a collide: its points are there; if it is refused it gets none. Sets
 * contact->one_way. `a`, `b`: the bodies' motions there. */
void one_way_judge(const struct step *step, struct contact_state *contact,
		   const struct body_motion *a, const struct body_motion *b);

/* Bits of contact_state.one_way */
enum {
	ONE_WAY = 1,	      /* one of the bodies is one-way */
	ONE_WAY_REFUSED = 2,  /* it has no points because of that */
	ONE_WAY_OVERLAPS = 4, /* the pieces overlap */
	ONE_WAY_ENTERS = 8,   /* refused, and the pieces overlap: the pair is let through */
	ONE_WAY_NEAR = 16,    /* not farther apart than CONTACT_NEAR */
	ONE_WAY_ABOVE = 32,   /* all points are apart, on the solid side */
	ONE_WAY_MET = 64,     /* the pieces touched, not refused, at the end of the step */
};

/* The body's membership in dynamics->one_way, by its column. */
void one_way_refresh(struct dynamics *self, uint32_t body);
/* Forgets the states of all its pairs: the next touch decides. */
void one_way_forget(struct dynamics *self, uint32_t body);

/* For a method that collides a copy of the step's list again at the end of the way: what touches there and is
 * not refused has landed, though the step's own contact may have no points. */
void one_way_note_end(struct step *step, const struct contact_list *end);
/* Room for one_way_store. NO_MEMORY: nothing changed. */
MUST_CHECK enum status one_way_reserve(struct step *step, const struct contact_list *list);
/* After `touching` is set: the states of all pairs of the list. */
void one_way_store(struct step *step, const struct contact_list *list);

#endif
