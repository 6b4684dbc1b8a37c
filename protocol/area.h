/* area.h: the parts of a world that a subscription sees: SUBSCRIBE.areas, FOCUS.areas.
 *
 *	kind  numbers                                                              contents
 *	0     –                                                                    everything
 *	1     min x, y, z, max x, y, z                                             box
 *	2     centre x, y, z, radius                                               ball
 *	3     eye x, y, z, rotation w, x, y, z, half width, half height, near, far frustum
 *
 * in metres. A frustum looks along −z of its rotation with +y up, as cameras of 3D libraries do; half
 * width and height are those at distance 1 (tangents of half the angles). On the wire an area is
 * [kind, [numbers], body]. With a body, positions are relative to that body's position (but not to its
 * rotation), so the area moves with it. The position of a body is its origin.
 *
 * Hysteresis: a body inside the area leaves it only when it is outside by a margin, 1/16 of the area's
 * size (wire_area_margin). An area that moves with a body lags behind it by at most half a margin, and is
 * larger by as much. So all bodies in the exact area are seen, and none further out than two margins.
 *
 * Only + − × ÷ and comparisons: both sides of the wire agree to the bit.
 */
#ifndef CAIRN_PROTOCOL_AREA_H
#define CAIRN_PROTOCOL_AREA_H

#include "protocol/message.h"
#include "protocol/packer.h"

enum wire_area_kind {
	WIRE_AREA_EVERYTHING = 0,
	WIRE_AREA_BOX = 1,
	WIRE_AREA_BALL = 2,
	WIRE_AREA_FRUSTUM = 3,
	WIRE_AREA_KINDS,
};
enum { WIRE_AREA_NUMBERS_MAX = 11 };

struct wire_area {
	uint8_t kind;
	uint32_t body;			       /* 0: fixed in the world */
	double numbers[WIRE_AREA_NUMBERS_MAX]; /* as many as the kind has, the others 0 */
};

/* How many numbers a kind has. */
uint32_t wire_area_numbers(uint32_t kind);
/* One [kind, [numbers], body]. */
void wire_area_pack(struct wire_packer *out, const struct wire_area *area);
/* Reads and checks a list; a rotation is made a unit. RANGE or TYPE with the area's index. */
MUST_CHECK enum status wire_areas_take(const struct wire_list *list,
				       struct wire_area areas[WIRE_AREAS_MAX], uint32_t *count,
				       struct reason *why);
/* True if two areas are equal bit by bit. */
bool wire_area_same(const struct wire_area *a, const struct wire_area *b);

/* True if the point is in the area, enlarged by `pad` metres on all sides. `origin` is the position
 * of the area's body (zero for an area without a body). */
bool wire_area_holds(const struct wire_area *area, const double origin[3], const double point[3],
		     double pad);
/* A bounding box of the enlarged area; infinite for EVERYTHING. */
void wire_area_box(const struct wire_area *area, const double origin[3], double pad, double min[3],
		   double max[3]);
/* Half its longest extent in metres; infinite for EVERYTHING. */
double wire_area_size(const struct wire_area *area);
/* The margin of the hysteresis, in metres; 0 for EVERYTHING. */
double wire_area_margin(const struct wire_area *area);
/* The point near which bodies matter most: the centre, or a frustum's eye. False for EVERYTHING. */
bool wire_area_focus(const struct wire_area *area, const double origin[3], double focus[3]);

#endif
