/* tuning.h: every tolerance of contacts and sleep: unit, reason, effect of changing it. */
#ifndef CAIRN_ENGINE_DYNAMICS_TUNING_H
#define CAIRN_ENGINE_DYNAMICS_TUNING_H

/* m. Points nearer than this are passed to the method, so that it can stop an approach before it
 * becomes a penetration. Larger: earlier and more contacts, and ghost contacts beside edges; smaller:
 * more penetration. */
#define CONTACT_NEAR 0.02

/* m. The narrow phase reports points this much farther away than the method needs, so a manifold stays
 * valid until its pieces have moved this far. Larger: fewer narrow phases for pieces that only pass
 * by. */
#define CONTACT_SPARE 0.03

/* 1. The motion of one tick adds to CONTACT_NEAR, so that fast pieces are found earlier, but at most this
 * part of the smaller piece's least half-width. Larger: more ghost contacts beside edges; 0: fast pieces
 * penetrate before they are found. */
#define CONTACT_LOOK_AHEAD 0.5

/* m and rad. A manifold is kept while its pieces have moved less than this relative to each other since
 * it was made. Larger: fewer narrow phases, older normals. The angle is needed for small pieces, for
 * which a centimetre at the surface is a large turn. */
#define CONTACT_KEEP_DISTANCE 0.01
#define CONTACT_KEEP_ANGLE 0.02

/* m. A manifold of a triangle that left its contact to a neighbour is kept while the pieces have moved less
 * than this. Larger: a body that crosses a seam slowly has no contact for some ticks, and sinks; 0: bodies at
 * rest collide with all triangles near them in each tick. */
#define CONTACT_KEEP_NEIGHBOUR 1e-5

/* 1. An awake body reaches a sleeping one if a point of theirs closes within this many ticks at its
 * present relative speed. Above 1, because the forces of the step may add speed. */
#define CONTACT_WAKE_REACH 1.5

/* m. The weight of a point in the friction centre falls from 1 at the nearest point (or at
 * separation 0, if that is larger) to 0 at this much more. It fades, because a sudden change of the
 * centre would turn a resting body. */
#define FRICTION_FADE 0.01

/* 1, of the axis's length. A friction axis whose part in the plane of contact is shorter has no direction
 * there. Larger: axes that lean are lost; smaller: rounding decides the direction. */
#define FRICTION_AXIS_LEAST 1e-3

/* m and 1. Margin of a fat box beyond half of CONTACT_NEAR: at most BOX_ROOM_MAX, and at most
 * BOX_ROOM_PART of the piece's largest side. Larger: fewer updates of boxes, more pairs. */
#define BOX_ROOM_MAX 0.03
#define BOX_ROOM_PART 0.125

/* Ticks. A new fat box holds the motion of so many ticks ahead, linear and angular. At least 1, because
 * invariant 1 of dynamics.h needs the pairs of the next tick; larger: as with BOX_ROOM_MAX. */
#define BOX_TICKS_AHEAD 2.0

#endif
