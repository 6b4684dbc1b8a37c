/* continuous_box.c: ch1-3 G-34 by intervals.
 *
 * On each axis the boxes overlap while |P + s V| ≤ R. This is an interval of s whose ends are roots of linear
 * equations (the book's quadratics are their squares). The boxes touch at the last entry of the three axes,
 * unless that is after the first exit. No root needs a check with a tolerance on its own axis.
 */
#include "server/engine/collision/continuous_box.h"

/* Intersects [*enter, *leave] with the interval of overlap on one axis; false if it becomes empty. *later:
 * *enter was raised. */
static bool clip_axis(double low, double high, double v, double *enter, double *leave, bool *later)
{
	*later = false;
	if (v == 0)
		return low <= 0 && high >= 0;
	/* On this axis the slabs overlap while low ≤ s v ≤ high. */
	double first = (v > 0 ? low : high) / v, last = (v > 0 ? high : low) / v;
	if (first > *enter) {
		*enter = first;
		*later = true;
	}
	if (last < *leave)
		*leave = last;
	return *enter <= *leave;
}

bool continuous_box_box(struct aabb a, vec3 a_step, struct aabb b, vec3 b_step,
			struct continuous_box_hit *hit)
{
	vec3 v = vec3_sub(a_step, b_step);
	vec3 low = vec3_sub(b.min, a.max), high = vec3_sub(b.max, a.min);
	double enter = 0, leave = 1;
	struct continuous_box_hit found = { .time = 0 };
	if (!aabb_overlaps(a, b)) {
		for (uint32_t axis = 0; axis < 3; axis++) {
			double speed = vec3_get(v, axis);
			bool later;
			if (!clip_axis(vec3_get(low, axis), vec3_get(high, axis), speed, &enter,
				       &leave, &later))
				return false;
			if (!later)
				continue;
			found.normal = vec3_zero();
			vec3_set(&found.normal, axis, speed > 0 ? -1 : 1);
		}
	}
	ASSERT(enter >= 0 && enter <= 1);
	found.time = enter;
	vec3 from_b = vec3_sub(aabb_centre(a), aabb_centre(b));
	found.centres = vec3_normalize(vec3_mul_add(from_b, v, enter));
	*hit = found;
	return true;
}
