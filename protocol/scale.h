/* scale.h: the steps of the profiles `view` and `sim` (listed in quantise.h). */
#ifndef CAIRN_PROTOCOL_SCALE_H
#define CAIRN_PROTOCOL_SCALE_H

#include "protocol/message.h"

/* 2^39 steps are 134 million metres in `sim`; a difference of two takes six bytes. */
#define WIRE_QUANTISED_POSITION_MAX (INT64_C(1) << 39)
/* 2^28 steps are 262 km/s in `sim`; a difference of two takes five bytes. */
#define WIRE_QUANTISED_SPEED_MAX (INT32_C(1) << 28)

/* A profile's numbers. */
struct wire_scale {
	double position;  /* steps in a metre */
	double speed;	  /* steps in 1 m/s and in 1 rad/s */
	int16_t rotation; /* N */
};

static inline bool wire_profile_quantised(enum wire_profile profile)
{
	return profile == WIRE_PROFILE_VIEW || profile == WIRE_PROFILE_SIM;
}
/* `profile` is VIEW or SIM. */
const struct wire_scale *wire_scale_of(enum wire_profile profile);

/* The nearest integer, halves away from zero, within ±max ≤ 2^39. */
int64_t wire_nearest(double value, int64_t max);

#endif
