/* particle_columns.h: the visible values of a particle, as columns (columns.def, PARTICLE_COLUMN),
 * in every profile.
 *
 *	             exact     view, sim
 *	velocity     3 f64     3 integers, steps of quantise.h
 *	position     3 f64     3 integers, likewise
 *	size         2 f64     2 f32, the nearest, limited to ±3.4028235e38
 *	life         2 u64     2 u64
 *	density      f64       3 bytes: the upper 24 bits of the f32
 *	pressure     f64       view: the upper 16 bits of the f32, sim: the upper 24
 *
 * Density and pressure of a fluid change a little in every tick, so they are rounded to numbers of 16
 * significant bits (pressure in view: 8), to the nearest, halves away from 0, and only a particle whose
 * rounded number differs has a new value. A float keeps the same relative accuracy for a drop and for a
 * lake; no step in Pa would serve both.
 *
 * A particle has a serial number of 64 bits within its system; it is never used again. Particles
 * are ordered by (system, serial).
 */
#ifndef CAIRN_PROTOCOL_PARTICLE_COLUMNS_H
#define CAIRN_PROTOCOL_PARTICLE_COLUMNS_H

#include "protocol/columns.h"
#include "protocol/scale.h"

enum wire_particle_column {
#define PARTICLE_COLUMN(bit, NAME, name, bytes, doc) WIRE_PARTICLE_##NAME = 1u << (bit),
#include "protocol/columns.def"
};
enum {
#define PARTICLE_COLUMN(bit, NAME, name, bytes, doc) +1
	WIRE_PARTICLE_COLUMN_COUNT = 0
#include "protocol/columns.def"
	,
	WIRE_PARTICLE_COLUMNS_ALL = (1 << WIRE_PARTICLE_COLUMN_COUNT) - 1,
	/* Those that belong to a particle. */
	WIRE_PARTICLE_COLUMNS_OWN = WIRE_PARTICLE_COLUMNS_ALL & ~WIRE_PARTICLE_COUNT,
	/* Integers in `view` and `sim`. */
	WIRE_PARTICLE_COLUMNS_STEPS = WIRE_PARTICLE_VELOCITY | WIRE_PARTICLE_POSITION,
	/* A number each, rounded in `view` and `sim`. */
	WIRE_PARTICLE_COLUMNS_SCALAR = WIRE_PARTICLE_DENSITY | WIRE_PARTICLE_PRESSURE,
	WIRE_SYSTEMS_MAX = 64, /* systems of one world */
};

struct wire_particle {
	uint32_t system;
	uint64_t serial;
	double velocity[3], position[3]; /* m/s, m */
	double size[2];			 /* radius m, mass kg */
	uint64_t life[2];		 /* ticks of birth and death; death 0: never */
	double density, pressure;	 /* kg/m3, Pa; 0: of no fluid */
};
/* The integers of `view` and `sim`. */
struct wire_particle_steps {
	int64_t velocity[3], position[3];
};
struct wire_system_count {
	uint32_t system;
	uint32_t alive; /* particles, also those that the subscription does not see */
};

/* bit < WIRE_PARTICLE_COLUMN_COUNT. */
const char *wire_particle_column_name(uint32_t bit);
const char *wire_particle_column_doc(uint32_t bit);

/* Negative, 0 or positive by (system, serial). */
static inline int wire_particle_compare(const struct wire_particle *a,
					const struct wire_particle *b)
{
	if (a->system != b->system)
		return a->system < b->system ? -1 : 1;
	return (a->serial > b->serial) - (a->serial < b->serial);
}
/* Bytes of a value of one column, of those that are not integers in the profile; `plain` as
 * `exact`. */
uint32_t wire_particle_bytes(enum wire_profile profile, wire_mask bit);
uint8_t *wire_particle_put(enum wire_profile profile, uint8_t *at, const struct wire_particle *from,
			   wire_mask bit);
/* False: a number is not finite or above 2^53. The caller has checked that enough bytes are left.
 * */
MUST_CHECK bool wire_particle_get(enum wire_profile profile, const uint8_t *at,
				  struct wire_particle *to, wire_mask bit);
/* Whether a column differs, bit by bit; density and pressure as the profile rounds them. */
bool wire_particle_differs(enum wire_profile profile, const struct wire_particle *a,
			   const struct wire_particle *b, wire_mask bit);
/* Density or pressure as a client of the profile sees it. */
double wire_particle_rounded(enum wire_profile profile, double value, wire_mask bit);

/* The integers of the columns of `mask`, the others 0. `profile` is VIEW or SIM. */
void wire_particle_quantise(enum wire_profile profile, const struct wire_particle *from,
			    wire_mask mask, struct wire_particle_steps *to);
void wire_particle_dequantise(enum wire_profile profile, const struct wire_particle_steps *from,
			      wire_mask mask, struct wire_particle *to);

/* A particle's term of the hash of visible particles: XXH3-64 (seed 0) of u32 system, u64 serial
 * and the columns of `mask` in the encoding of the profile, with integers as i64; `plain` as
 * `exact`. body_hash_finish finishes the sum over all particles. `steps` is read in `view` and
 * `sim`. */
uint64_t wire_particle_hash(enum wire_profile profile, const struct wire_particle *particle,
			    const struct wire_particle_steps *steps, wire_mask mask);

/* ---- forecasts ----------------------------------------------------------------------------------
 * */

/* How the particles of a system are expected to move from one frame to the next, in steps:
 *
 *	velocity  ← round(decay velocity + gain)
 *	position  ← round(position + carry (velocity + correction / 2) + shift)
 *
 * where velocity on the right is that of the frame before, and correction what the true velocity
 * has more than the expected one. In double precision, one operation after the other from left to
 * right; round(x) is floor(x + 0.5), within the limits of scale.h. */
struct wire_forecast {
	double carry, shift[3];
	double decay, gain[3];
};
enum { WIRE_FORECAST_BYTES = 8 * 8 };
/* Nothing moves. */
#define WIRE_FORECAST_NONE ((struct wire_forecast){ .decay = 1 })

int64_t wire_expected_velocity(const struct wire_forecast *forecast,
			       const struct wire_particle_steps *base, uint32_t axis);
int64_t wire_expected_position(const struct wire_forecast *forecast,
			       const struct wire_particle_steps *base, int64_t correction,
			       uint32_t axis);

#endif
