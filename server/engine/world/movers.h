/* movers.h: bodies that walk: commands, state, and their part of a tick.
 *
 * A mover is an animated body with one convex shape. Before the method's step, movers_begin decides
 * by ascending ids where each mover is at the end of the tick, and gives its body the velocity that
 * takes it there; so every method moves it, and other bodies meet it, as any animated body.
 *
 * The tick of a mover, in this order (movers_step.c):
 *   1. it is carried by what it stands on: the rigid motion of that body, and that of its surface;
 *   2. it is pushed out of what moves into it (static and animated bodies; a dynamic body does not
 *      move it); if there is no place, it is squeezed: it stays where it was, and that is counted;
 *   3. on ground it goes its wish along the ground, climbs steps, and stays on ground that falls
 *      away; in the air it goes its wish level, and its fall;
 *   4. dynamic bodies in its way are pushed with at most push_force together, and no faster than
 *      the wish; one that it stands on bears its weight.
 *
 * Animated bodies count as where they are at the end of the tick, movers with higher ids as where
 * they are at its beginning. Dynamic bodies count as where they are at its beginning, or, if they
 * move away from the mover or carry it, as where their velocities take them.
 *
 * Invariant 1: a mover that was not squeezed overlaps, at the end of a tick, no static and no
 *   animated body by more than rounding.
 * Invariant 2: the result is a function of the tables. A mover that rests is skipped; to examine it
 *   all the same (dynamics.disturbed) changes nothing.
 * Invariant 3: a step that is refused leaves the movers as they were.
 */
#ifndef CAIRN_ENGINE_WORLD_MOVERS_H
#define CAIRN_ENGINE_WORLD_MOVERS_H

#include "server/engine/collision/walker.h"
#include "server/engine/world/plan_find.h"

/* m: the gap between a mover and what it touches. Smaller: sweeps along a floor meet its rounding;
 * larger: it is seen. */
#define MOVER_SKIN 1e-3

/* ---- commands, for the tables of commands_check.c and commands_apply.c --------------------- */

enum status check_set_mover(struct check *check, struct command *command);
enum status check_steer(struct check *check, struct command *command);
void apply_set_mover(const struct apply_context *context, const struct command *command);
void apply_steer(const struct apply_context *context, const struct command *command);
/* STATUS_WRONG if the body is a mover, whose velocities the world makes. */
MUST_CHECK enum status check_no_mover(struct check *check, const struct planned_body *body);
/* The body was put elsewhere: it does not stand on what it stood on. No effect on one that is no
 * mover. */
void movers_displaced(struct tables *tables, uint32_t body);

/* ---- the tick ------------------------------------------------------------------------------ */

/* Before the method's step. NO_MEMORY: nothing changed. */
MUST_CHECK enum status movers_begin(struct world *world);
/* After a step that was made, before the drives are counted down; after one that was refused. */
void movers_end(struct world *world);
void movers_undo(struct world *world);

#endif
