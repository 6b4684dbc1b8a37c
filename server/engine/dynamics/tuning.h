/* tuning.h: every tolerance of contacts and sleep: unit, reason, effect of changing it. */
#ifndef CAIRN_ENGINE_DYNAMICS_TUNING_H
#define CAIRN_ENGINE_DYNAMICS_TUNING_H

/* m. Points this far apart are given to a method, so that it can stop an approach before it becomes a
 * penetration. Larger: earlier and more contacts, ghosts beside edges; smaller: more penetration. */
#define CONTACT_NEAR 0.02

/* m. The narrow phase reports points this much farther than the method needs. What two pieces may
 * move before their manifold is stale. Larger: fewer narrow phases for pieces that only pass by. */
#define CONTACT_SPARE 0.03

/* 1. How much of the smaller piece's least half-width its motion of one tick may add to CONTACT_NEAR:
 * fast pieces are seen earlier. Larger: more ghosts beside edges; 0: fast pieces sink in first. */
#define CONTACT_LOOK_AHEAD 0.5

/* m and rad. A manifold is kept while its pieces moved less than this relative to each other since it
 * was made. Larger: fewer narrow phases, older normals. The angle keeps small pieces honest, for which
 * a centimetre is a large turn. */
#define CONTACT_KEEP_DISTANCE 0.01
#define CONTACT_KEEP_ANGLE 0.02

/* 1. Part of the relative speed that a point may have gone in a tick when a sleeping body is asked
 * whether an awake one reaches it. Above 1, so that what the step's own forces add is counted too. */
#define CONTACT_WAKE_REACH 1.5

/* A point that is this much farther away than touching has no weight in the friction centre; between,
 * it fades, because a sudden change of the centre would turn a resting body. m. */
#define FRICTION_FADE 0.01

/* m and 1. Room that the broad phase's boxes leave around a piece beside half of CONTACT_NEAR: at most
 * so much, and at most so much of its largest side. More: fewer moves of boxes, more pairs. */
#define BOX_ROOM_MAX 0.03
#define BOX_ROOM_PART 0.125

/* Ticks for which a box reaches ahead along the velocity and the turning. */
#define BOX_TICKS_AHEAD 2.0

#endif
