/* clip.c: clipping of a polygon by a half-space, and the reduction of a manifold to four points.
 *
 * The points of a face contact are the corners of the incident face, clipped by the side planes of the
 * reference face. Each corner stores the two sides it lies between; a pair of sides identifies the same
 * geometric corner from step to step, however many other corners appear and disappear.
 *
 * Contact points under one rigid face are equivalent to the corners of their convex hull. Four of them
 * change the possible torque by less than friction and softness do. The choice of the four must not
 * flicker between steps, so candidates that are equal up to rounding are decided by the order in the list.
 */
#include "server/engine/collision/clip.h"

uint32_t clip_polygon(const struct clip_corner *in, uint32_t count, vec3 normal, double offset,
		      double slop, uint32_t side, struct clip_corner *out)
{
	uint32_t made = 0;
	ASSERT(count <= CLIP_CORNERS_MAX);
	ASSERT(in != out);
	ASSERT(slop >= 0);
	if (count == 0)
		return 0;
	const struct clip_corner *from = &in[count - 1];
	double from_out = vec3_dot(normal, from->point) - offset;
	for (uint32_t k = 0; k < count; k++) {
		const struct clip_corner *to = &in[k];
		double to_out = vec3_dot(normal, to->point) - offset;
		/* One end stays and the other is cut off. The end that stays may itself lie on the
		 * plane or within `slop` outside; then there is no cut. A polygon bent by rounding may
		 * cross the plane more than twice; the limit of corners suffices for a convex one. */
		bool leaving = from_out <= slop, crossing = leaving != (to_out <= slop);
		if (crossing && (leaving ? from_out : to_out) < 0 && made < CLIP_CORNERS_MAX) {
			vec3 cut =
				vec3_lerp(from->point, to->point, from_out / (from_out - to_out));
			out[made++] = (struct clip_corner){ cut, leaving ? to->before : side,
							    leaving ? side : to->before };
		}
		if (to_out <= slop && made < CLIP_CORNERS_MAX)
			out[made++] = *to;
		from = to;
		from_out = to_out;
	}
	return made;
}

/* ---- reduction -------------------------------------------------------------------------------- */

/* Ratio by which a distance or an area must exceed that of an earlier point to replace it. At 1 the choice
 * among equal points would depend on rounding and change from step to step. */
#define CLEARLY (1 + 1e-3)

static uint32_t deepest(const struct manifold_point *points, uint32_t count, double slop)
{
	ASSERT(count > 0 && slop >= 0);
	double least = points[0].separation;
	for (uint32_t k = 1; k < count; k++)
		least = scalar_min(points[k].separation, least);
	uint32_t k = 0;
	while (points[k].separation > least + slop)
		k++;
	return k;
}

/* Twice the signed area of a b c seen along the normal. */
static double area(vec3 a, vec3 b, vec3 c, vec3 normal)
{
	return vec3_triple(normal, vec3_sub(b, a), vec3_sub(c, a));
}

static uint32_t farthest(const struct manifold_point *points, uint32_t count, uint32_t a,
			 vec3 normal)
{
	uint32_t best = a;
	double most = 0;
	for (uint32_t k = 0; k < count; k++) {
		vec3 d = vec3_sub(points[k].point, points[a].point);
		d = vec3_mul_sub(d, normal, vec3_dot(d, normal));
		double far = vec3_length_squared(d);
		if (far > most * CLEARLY) {
			most = far;
			best = k;
		}
	}
	return best;
}

static uint32_t widest(const struct manifold_point *points, uint32_t count, uint32_t a, uint32_t b,
		       vec3 normal)
{
	uint32_t best = a;
	double most = 0;
	for (uint32_t k = 0; k < count; k++) {
		double wide =
			scalar_abs(area(points[a].point, points[b].point, points[k].point, normal));
		if (wide > most * CLEARLY) {
			most = wide;
			best = k;
		}
	}
	return best;
}

/* The point that adds most area to the triangle a b c, or a if none lies outside. */
static uint32_t outermost(const struct manifold_point *points, uint32_t count, uint32_t a,
			  uint32_t b, uint32_t c, vec3 normal)
{
	if (area(points[a].point, points[b].point, points[c].point, normal) < 0) {
		uint32_t swap = b;
		b = c;
		c = swap;
	}
	const uint32_t from[3] = { a, b, c }, to[3] = { b, c, a };
	uint32_t best = a;
	double most = 0;
	for (uint32_t k = 0; k < count; k++) {
		for (int e = 0; e < 3; e++) {
			double added = -area(points[from[e]].point, points[to[e]].point,
					     points[k].point, normal);
			if (added > most * CLEARLY) {
				most = added;
				best = k;
			}
		}
	}
	return best;
}

void manifold_reduce(const struct manifold_point *points, uint32_t count, vec3 normal, double slop,
		     struct manifold *out)
{
	ASSERT(count <= CLIP_CORNERS_MAX);
	out->normal = normal;
	out->count = 0;
	if (count <= MANIFOLD_POINTS_MAX) {
		for (uint32_t k = 0; k < count; k++)
			out->points[out->count++] = points[k];
		return;
	}
	uint32_t a = deepest(points, count, slop), b = farthest(points, count, a, normal);
	uint32_t c = widest(points, count, a, b, normal);
	uint32_t d = outermost(points, count, a, b, c, normal);
	/* Each point once, in the order of the list. If points coincide, fewer than four remain. */
	for (uint32_t k = 0; k < count; k++)
		if (k == a || k == b || k == c || k == d)
			out->points[out->count++] = points[k];
	ASSERT(out->count >= 1 && out->count <= MANIFOLD_POINTS_MAX);
}
