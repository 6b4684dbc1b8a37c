/* frames.h: worlds under `gauss` of square bricks of 1 kg and edges of 1 m that nine points and 16
 * bars carry, or of rigid ones at the same places (papers ). */
#ifndef CAIRN_TESTS_FRAMES_H
#define CAIRN_TESTS_FRAMES_H

#include "tests/lib/worlds.h"

enum { FRAME_BRICKS_MAX = 8, FRAME_POINTS = 9, FRAME_BARS = 16 };

/* Coordinates of columns and rows of the nine points, m. */
extern const double FRAME_PLACES[3];

void frame_set(struct world *world, const char *name, double value);
/* A body without friction and restitution. */
body_id frame_put(struct world *world, enum test_shape shape, vec3 at, uint8_t status, double mass);
/* A bar between the centres of two bodies. */
void frame_bar(struct world *world, body_id a, body_id b);
struct command frame_carry_command(body_id body, const body_id *points, uint32_t count);
/* A brick; `points`: where the ids of the nine points that carry it go, or NULL: it is rigid. */
body_id frame_brick(struct world *world, vec3 at, body_id *points);
/* A planar world with a floor of 25 squares at y = 0 and without sleep. */
struct world *frame_world(void);
/* Rows of one, two and three bricks. Returns 6. `points`: of each brick, or NULL: they are rigid. */
uint32_t frame_triangle(struct world *world, body_id (*points)[FRAME_POINTS], body_id *bricks);

#endif
