/* tower.h: towers, arches, dominoes and card houses as pieces in the plane, and as the text of a
 * scene (papers ).
 *
 * A tower is a list of convex pieces, each a shape at a place. Bricks are brick[0] long, brick[1]
 * high and, in space, brick[2] deep, of 1 kg; other shapes have their share of it by area. Rows
 * of several bricks leave `gap` between neighbours: bricks are shorter by it, so overhangs keep
 * their lengths.
 */
#ifndef CAIRN_COMMANDS_TOWER_H
#define CAIRN_COMMANDS_TOWER_H

#include "server/base/bytes.h"
#include "server/base/status.h"

enum { TOWER_SHAPES_MAX = 8, TOWER_POINTS_MAX = 6, TOWER_PIECES_MAX = 100000, TOWER_COLUMNS = 10 };

struct tower_order {
	const char *kind; /* a word of tower_kinds */
	uint32_t count;	  /* bricks, rows, stones or floors; 0: of the kind */
	uint32_t columns; /* of a wall; 0: TOWER_COLUMNS */
	double brick[3];  /* m; 0: of the kind */
	double factor;	  /* 1: of overhangs, thickness or distances; 0: of the kind */
	double gap;	  /* m; negative: of the kind */
	double friction;  /* 1; negative: of the kind */
	double gravity;	  /* m/s², down */
	bool without, space;
	enum tower_carried { TOWER_RIGID, TOWER_NINE_POINTS, TOWER_TRIANGLES } carried;
	uint32_t without_row,
		without_column; /* with `without`: the brick of a wall that is missing */
};

/* A convex polygon, counter-clockwise, about its origin. A rectangle is a box in space. */
struct tower_shape {
	const char *name;
	double points[TOWER_POINTS_MAX][2]; /* m */
	uint32_t point_count;
	bool rectangle, fixed;
};

struct tower_piece {
	double x, y, degrees;
	uint32_t shape;
};

struct tower {
	struct tower_order order; /* with the values of the kind where it had none */
	struct tower_shape shapes[TOWER_SHAPES_MAX];
	struct tower_piece *pieces; /* owned */
	uint32_t shape_count, count, capacity;
	double floor;	    /* m: height of the ground */
	enum status status; /* the first failure: NO_MEMORY, or LIMIT: TOWER_PIECES_MAX */
};

/* Makes the pieces. RANGE: an unknown kind, or a number that the kind cannot have. Release
 * it in any case. */
MUST_CHECK enum status tower_make(struct tower *self, const struct tower_order *order,
				  struct reason *why);
void tower_release(struct tower *self);
/* Appends the scene's text. NO_MEMORY. */
MUST_CHECK enum status tower_text(const struct tower *self, struct bytes *out);

/* ---- frames (tower_frames.c) ---- */

enum { TOWER_FRAME_POINTS = 9, TOWER_FRAME_BARS = 16 };

/* Points and bars that carry a piece, about its origin. */
struct tower_frame {
	struct tower_point {
		double x, y, mass;
	} points[TOWER_FRAME_POINTS];
	uint8_t bars[TOWER_FRAME_BARS][2]; /* indexes of points */
	uint8_t carriers[4];		   /* the points that carry it */
	uint32_t point_count, bar_count, carrier_count;
};
/* nine_points: of a rectangle; other shapes, and without it all, by triangles. */
void tower_frame_make(struct tower_frame *self, const struct tower_shape *shape, bool nine_points,
		      double mass);

/* For the kinds (tower_kinds.c): */
uint32_t tower_add_shape(struct tower *self, const struct tower_shape *shape);
uint32_t tower_add_rectangle(struct tower *self, const char *name, double width, double height);
void tower_add(struct tower *self, uint32_t shape, double x, double y, double degrees);
struct tower_kind {
	const char *name;
	uint32_t count;		      /* this and the next four: where the order has none */
	double factor, friction, gap; /* gap: of the length of a brick */
	double brick[3];
	void (*make)(struct tower *self);
};
const struct tower_kind *tower_kinds(uint32_t *count);

#endif
