/* film.h: where the bodies of a planar world were at some ticks, for pictures of them.
 *
 * A film keeps the outlines of bodies as they are when a body is first seen, and a pose of each
 * body at each picture. It holds at most FILM_POSES_MAX poses: before there would be more, every
 * second picture is dropped, and from then on only every second one is taken, so a film of any
 * length has evenly spaced pictures from its first one on.
 */
#ifndef CAIRN_COMMANDS_FILM_H
#define CAIRN_COMMANDS_FILM_H

#include "server/base/array.h"
#include "server/engine/engine.h"

enum { FILM_BODIES_MAX = 4096, FILM_POSES_MAX = 1 << 19 };

struct film_point {
	double x, y; /* m */
};

/* A convex polygon on a body, as the points within `radius` of it; body axes, m. */
struct film_piece {
	uint32_t first, count; /* points */
	double radius;
};

struct film_body {
	body_id id;
	bool fixed;		     /* not dynamic when it was first seen */
	uint32_t colour;	     /* as of body_view */
	uint32_t piece, piece_count; /* its pieces */
};

struct film_pose {
	double x, y, angle; /* m, rad; angles of a body go on beyond half a turn */
	bool shown;	    /* false: the body does not exist */
};

struct film_picture {
	uint64_t tick;
	double time;	       /* s */
	uint32_t first, count; /* poses of the first `count` bodies */
};

struct film {
	/* By ids, ascending. */
	ARRAY_OF(struct film_body) bodies;
	ARRAY_OF(struct film_piece) pieces;
	ARRAY_OF(struct film_point) points;
	ARRAY_OF(struct film_pose) poses;
	ARRAY_OF(struct film_picture) pictures;
	/* Scratch. */
	ARRAY_OF(body_id) ids;
	ARRAY_OF(struct placement_view) placed;
	uint64_t offered; /* pictures */
	uint64_t stride;  /* every so many of them is taken; 0 before the first */
};

void film_release(struct film *self);
/* Takes a picture of the world, unless it is one that is left out. PLANAR: a world in space; LIMIT:
 * FILM_BODIES_MAX; NO_MEMORY. */
MUST_CHECK enum status film_add(struct film *self, const struct world *world, struct reason *why);

#endif
