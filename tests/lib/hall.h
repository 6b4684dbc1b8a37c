/* hall.h: a world with shapes of any size, in which movers walk. An unexpected refusal ends the
 * program. */
#ifndef CAIRN_TESTS_HALL_H
#define CAIRN_TESTS_HALL_H

#include "tests/lib/shapes.h"
#include "tests/lib/worlds.h"

enum { HALL_SHAPES = 512 };

struct hall {
	struct world *world;
	struct shape *shapes[HALL_SHAPES]; /* owned */
	uint32_t shape_count;
	struct shape_source source; /* these */
};

/* A world with default options but for the method. *hall must stay where it is. */
void hall_open(struct hall *hall, const char *method);
void hall_close(struct hall *hall);

/* A body with one shape, which is taken; static unless `moving` (animated, or dynamic with a mass
 * of `mass` kg above 0). */
body_id hall_static(struct hall *hall, struct shape *shape, pose at);
body_id hall_animated(struct hall *hall, struct shape *shape, pose at, vec3 velocity, vec3 spin);
body_id hall_dynamic(struct hall *hall, struct shape *shape, pose at, double mass, double friction);
/* A box of full sizes, at its middle. */
body_id hall_box(struct hall *hall, vec3 size, vec3 middle);
body_id hall_floor(struct hall *hall);

/* The command that makes `body` a mover, with defaults. */
struct command hall_mover_command(body_id body);
/* A capsule 1.8 m high of radius 0.3 m and 80 kg, with its foot at `foot`, as a mover. */
body_id hall_mover(struct hall *hall, vec3 foot);
void hall_steer(struct hall *hall, body_id mover, vec3 velocity, double jump);
struct mover_view hall_view(const struct hall *hall, body_id mover);
/* Where the foot of hall_mover's capsule is. */
vec3 hall_foot(const struct hall *hall, body_id mover);
pose hall_pose(const struct hall *hall, body_id body);

/* m: how deep the body's shapes overlap those of static and animated bodies; 0: they are apart. */
double hall_overlap(const struct hall *hall, body_id body);

#endif
