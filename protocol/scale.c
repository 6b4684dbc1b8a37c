/* See scale.h. */
#include "protocol/scale.h"

static const struct wire_scale SCALES[] = {
	[WIRE_PROFILE_VIEW] = { 512, 128, 255 },
	[WIRE_PROFILE_SIM] = { 4096, 1024, 16383 },
};

const struct wire_scale *wire_scale_of(enum wire_profile profile)
{
	ASSERT(wire_profile_quantised(profile));
	return &SCALES[profile];
}

/* Scales of positions and speeds are powers of two and `value - whole` is exact: nothing is rounded
 * twice. */
int64_t wire_nearest(double value, int64_t max)
{
	double limit = (double)max;
	if (!(value > -limit)) /* true also for a NaN */
		return -max;
	if (value >= limit)
		return max;
	int64_t whole = (int64_t)value;
	double rest = value - (double)whole;
	return whole + (rest >= 0.5) - (rest <= -0.5);
}
