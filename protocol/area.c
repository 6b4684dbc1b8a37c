/* See area.h. Areas are checked and normalized when they are read, so tests of points only compute. */
#include "protocol/area.h"

#include <math.h>
#include <string.h>

#include "protocol/cursor.h"

/* Indices of a frustum's numbers. */
enum { EYE = 0, TURN = 3, HALF_WIDTH = 7, HALF_HEIGHT = 8, NEAR = 9, FAR = 10 };

/* No visible coordinate is larger, and squares of it do not overflow. */
#define NUMBER_MAX 1e12

uint32_t wire_area_numbers(uint32_t kind)
{
	static const uint8_t counts[WIRE_AREA_KINDS] = { 0, 6, 4, 11 };
	return kind < WIRE_AREA_KINDS ? counts[kind] : 0;
}

/* ---- on the wire ------------------------------------------------------------------------------- */

void wire_area_pack(struct wire_packer *out, const struct wire_area *area)
{
	uint32_t count = wire_area_numbers(area->kind);
	wire_pack_array(out, 3);
	wire_pack_uint(out, area->kind);
	wire_pack_array(out, count);
	for (uint32_t i = 0; i < count; i++)
		wire_pack_real(out, area->numbers[i]);
	wire_pack_uint(out, area->body);
}

static bool normalize_rotation(double turn[4])
{
	double square = 0;
	for (int i = 0; i < 4; i++)
		square += turn[i] * turn[i];
	if (!(square > 1e-12))
		return false;
	double length = sqrt(square);
	for (int i = 0; i < 4; i++)
		turn[i] /= length;
	return true;
}

/* The fault of an area whose numbers are finite; NULL: none. */
static const char *complaint_of(struct wire_area *area)
{
	double *n = area->numbers;
	for (uint32_t i = 0; i < wire_area_numbers(area->kind); i++)
		if (fabs(n[i]) > NUMBER_MAX)
			return "the numbers of an area must be at most 1e12";
	switch (area->kind) {
	case WIRE_AREA_BOX:
		return n[0] <= n[3] && n[1] <= n[4] && n[2] <= n[5]
			       ? NULL
			       : "a box must have min <= max on each axis";
	case WIRE_AREA_BALL:
		return n[3] >= 0 ? NULL : "the radius of a ball must be at least 0";
	case WIRE_AREA_FRUSTUM:
		if (!normalize_rotation(n + TURN))
			return "the rotation of a frustum must not be zero";
		return n[HALF_WIDTH] > 0 && n[HALF_HEIGHT] > 0 && n[HALF_WIDTH] <= 1e3 &&
				       n[HALF_HEIGHT] <= 1e3 && n[NEAR] >= 0 && n[NEAR] < n[FAR]
			       ? NULL
			       : "a frustum must have half sizes in (0, 1000] and 0 <= near < far";
	default:
		return NULL;
	}
}

static enum status take_one(struct wire_cursor *in, struct wire_area *area)
{
	uint32_t items;
	uint64_t kind, body = 0;
	memset(area, 0, sizeof *area);
	enum status status = wire_take_array(in, &items);
	if (status != STATUS_OK || items < 2)
		return STATUS_TYPE;
	status = wire_take_uint(in, WIRE_AREA_KINDS - 1, &kind);
	if (status != STATUS_OK)
		return status;
	area->kind = (uint8_t)kind;
	status = wire_take_tuple(in, area->numbers, wire_area_numbers(area->kind));
	if (status == STATUS_OK && items > 2)
		status = wire_take_uint(in, UINT32_MAX, &body);
	area->body = (uint32_t)body;
	return status == STATUS_OK && items > 3 ? wire_skip_many(in, items - 3) : status;
}

enum status wire_areas_take(const struct wire_list *list, struct wire_area areas[WIRE_AREAS_MAX],
			    uint32_t *count, struct reason *why)
{
	struct wire_cursor in = wire_cursor_list(list);
	*count = 0;
	if (list->count > WIRE_AREAS_MAX)
		return reason_set(why, STATUS_RANGE, -1, "areas",
				  "%u areas: there must be at most %d", list->count,
				  WIRE_AREAS_MAX);
	for (uint32_t i = 0; i < list->count; i++) {
		enum status status = take_one(&in, &areas[i]);
		if (status != STATUS_OK)
			return reason_set(why, status == STATUS_RANGE ? status : STATUS_TYPE,
					  (int32_t)i, "areas",
					  "an area must be [kind, [numbers], body]");
		const char *text = complaint_of(&areas[i]);
		if (text != NULL)
			return reason_set(why, STATUS_RANGE, (int32_t)i, "areas", "%s", text);
	}
	*count = list->count;
	return STATUS_OK;
}

bool wire_area_same(const struct wire_area *a, const struct wire_area *b)
{
	return a->kind == b->kind && a->body == b->body &&
	       memcmp(a->numbers, b->numbers, sizeof a->numbers) == 0;
}

/* ---- geometry ---------------------------------------------------------------------------------- */

/* Rows of the rotation matrix: the frustum's axes in the world. */
static void axes_of(const double q[4], double x[3], double y[3], double z[3])
{
	double w = q[0], i = q[1], j = q[2], k = q[3];
	x[0] = 1 - 2 * (j * j + k * k);
	x[1] = 2 * (i * j + w * k);
	x[2] = 2 * (i * k - w * j);
	y[0] = 2 * (i * j - w * k);
	y[1] = 1 - 2 * (i * i + k * k);
	y[2] = 2 * (j * k + w * i);
	z[0] = 2 * (i * k + w * j);
	z[1] = 2 * (j * k - w * i);
	z[2] = 1 - 2 * (i * i + j * j);
}

static double dot3(const double a[3], const double b[3])
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Side planes are sloped: `pad` metres outwards are pad·√(1 + t²) along the axis across. */
static bool frustum_holds(const double *n, const double from_eye[3], double pad)
{
	double x[3], y[3], z[3];
	axes_of(n + TURN, x, y, z);
	double depth = -dot3(from_eye, z);
	if (depth < n[NEAR] - pad || depth > n[FAR] + pad)
		return false;
	double wide = n[HALF_WIDTH], high = n[HALF_HEIGHT];
	return fabs(dot3(from_eye, x)) <= depth * wide + pad * sqrt(1 + wide * wide) &&
	       fabs(dot3(from_eye, y)) <= depth * high + pad * sqrt(1 + high * high);
}

bool wire_area_holds(const struct wire_area *area, const double origin[3], const double point[3],
		     double pad)
{
	const double *n = area->numbers;
	const double p[3] = { point[0] - origin[0], point[1] - origin[1], point[2] - origin[2] };
	switch (area->kind) {
	case WIRE_AREA_BOX:
		return p[0] >= n[0] - pad && p[0] <= n[3] + pad && p[1] >= n[1] - pad &&
		       p[1] <= n[4] + pad && p[2] >= n[2] - pad && p[2] <= n[5] + pad;
	case WIRE_AREA_BALL: {
		const double d[3] = { p[0] - n[0], p[1] - n[1], p[2] - n[2] };
		return dot3(d, d) <= (n[3] + pad) * (n[3] + pad);
	}
	case WIRE_AREA_FRUSTUM: {
		const double d[3] = { p[0] - n[0], p[1] - n[1], p[2] - n[2] };
		return frustum_holds(n, d, pad);
	}
	default:
		return true;
	}
}

/* The eye and the four far corners bound the whole frustum. */
static void frustum_box(const double *n, double min[3], double max[3])
{
	double x[3], y[3], z[3];
	axes_of(n + TURN, x, y, z);
	for (int c = 0; c < 3; c++)
		min[c] = max[c] = n[EYE + c];
	for (int corner = 0; corner < 4; corner++) {
		double wide = (corner & 1 ? 1 : -1) * n[HALF_WIDTH] * n[FAR];
		double high = (corner & 2 ? 1 : -1) * n[HALF_HEIGHT] * n[FAR];
		for (int c = 0; c < 3; c++) {
			double at = n[EYE + c] + wide * x[c] + high * y[c] - n[FAR] * z[c];
			min[c] = MIN_OF(min[c], at);
			max[c] = MAX_OF(max[c], at);
		}
	}
}

void wire_area_box(const struct wire_area *area, const double origin[3], double pad, double min[3],
		   double max[3])
{
	const double *n = area->numbers;
	for (int c = 0; c < 3; c++) {
		switch (area->kind) {
		case WIRE_AREA_BOX:
			min[c] = n[c];
			max[c] = n[3 + c];
			break;
		case WIRE_AREA_BALL:
			min[c] = n[c] - n[3];
			max[c] = n[c] + n[3];
			break;
		case WIRE_AREA_FRUSTUM:
			break;
		default:
			min[c] = -INFINITY;
			max[c] = INFINITY;
		}
	}
	if (area->kind == WIRE_AREA_FRUSTUM)
		frustum_box(n, min, max);
	/* A pad perpendicular to a sloped side reaches further than `pad` along the axes; rounding
	 * of the corners is far less. */
	double slope = 1;
	if (area->kind == WIRE_AREA_FRUSTUM)
		slope = 2 + n[HALF_WIDTH] + n[HALF_HEIGHT];
	for (int c = 0; c < 3; c++) {
		min[c] += origin[c] - pad * slope;
		max[c] += origin[c] + pad * slope;
	}
}

double wire_area_size(const struct wire_area *area)
{
	const double *n = area->numbers;
	switch (area->kind) {
	case WIRE_AREA_BOX:
		return MAX_OF(MAX_OF(n[3] - n[0], n[4] - n[1]), n[5] - n[2]) / 2;
	case WIRE_AREA_BALL:
		return n[3];
	case WIRE_AREA_FRUSTUM:
		return MAX_OF(n[FAR] / 2, n[FAR] * MAX_OF(n[HALF_WIDTH], n[HALF_HEIGHT]));
	default:
		return INFINITY;
	}
}

double wire_area_margin(const struct wire_area *area)
{
	return area->kind == WIRE_AREA_EVERYTHING ? 0 : wire_area_size(area) / 16;
}

bool wire_area_focus(const struct wire_area *area, const double origin[3], double focus[3])
{
	const double *n = area->numbers;
	for (int c = 0; c < 3; c++)
		focus[c] = origin[c] + (area->kind == WIRE_AREA_BOX ? (n[c] + n[3 + c]) / 2 : n[c]);
	return area->kind != WIRE_AREA_EVERYTHING;
}
