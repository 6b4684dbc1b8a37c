/* wire_particles.c: streams of BLOCKS for the tests of every client (wire_streams.h): two systems,
 * one of which is removed in the end, with births, deaths, rests and impacts. */
#include <inttypes.h>
#include <string.h>

#include "protocol/delta.h"
#include "protocol/pack.h"
#include "protocol/particle_blocks.h"
#include "server/base/rng.h"
#include "tests/lib/wire_streams.h"

enum { PARTICLES_MOST = 64, SYSTEMS = 2, FRAMES = 7, CONTENT_MAX = 1 << 16 };
static const double STEP = 1.0 / 60, FALL = -9.81, DECAY = 0.98;

struct cloud {
	struct rng rng;
	uint64_t tick, born[SYSTEMS];
	uint32_t count;
	bool gone; /* system 2 is removed */
	struct wire_particle items[PARTICLES_MOST];
};

/* Density and pressure: of any size, also 0, beyond a float, and as before but for the last bits. */
static void set_scalars(struct cloud *cloud, struct wire_particle *particle)
{
	static const double SIZES[] = { 0, 1e-3, 1, 1e3, 1e6, 1e39 };
	if (rng_below(&cloud->rng, 3) == 0) {
		particle->density *= 1 + 1e-9;
		particle->pressure *= 1 + 1e-9;
		return;
	}
	particle->density = rng_range(&cloud->rng, 900, 1100);
	particle->pressure = rng_range(&cloud->rng, 1, 2);
	particle->pressure *= SIZES[rng_below(&cloud->rng, COUNT_OF(SIZES))];
}

static void bear_particle(struct cloud *cloud, uint32_t system)
{
	ASSERT(cloud->count < PARTICLES_MOST);
	struct wire_particle *to = &cloud->items[cloud->count++];
	*to = (struct wire_particle){ .system = system + 1,
				      .serial = cloud->born[system] +=
				      1 + rng_below(&cloud->rng, 2),
				      .life = { cloud->tick, system == 0 ? 0 : cloud->tick + 9 } };
	for (uint32_t i = 0; i < 3; i++) {
		to->position[i] = rng_range(&cloud->rng, -5, 5);
		to->velocity[i] = rng_range(&cloud->rng, -4, 4);
	}
	to->size[0] = rng_range(&cloud->rng, 0.01, 0.1);
	to->size[1] = rng_range(&cloud->rng, 0.001, 0.01);
	/* System 1 is a fluid. */
	if (system == 0)
		set_scalars(cloud, to);
}

static void fly(struct cloud *cloud, struct wire_particle *particle)
{
	if (particle->system == 1)
		set_scalars(cloud, particle);
	if (particle->serial % 5 == 0)
		return;
	if (rng_below(&cloud->rng, 8) == 0)
		particle->velocity[1] *= -2;
	for (uint32_t i = 0; i < 3; i++) {
		particle->position[i] += particle->velocity[i] * STEP;
		particle->velocity[i] *= DECAY;
	}
	particle->position[1] += 0.5 * FALL * STEP * STEP;
	particle->velocity[1] += FALL * STEP;
}

static void live(struct cloud *cloud)
{
	struct cloud before = *cloud;
	cloud->tick++;
	cloud->count = 0;
	for (uint32_t system = 0; system < SYSTEMS; system++) {
		for (uint32_t i = 0; i < before.count; i++) {
			bool stays = before.items[i].system == system + 1 &&
				     !(cloud->gone && system == 1) && rng_below(&cloud->rng, 9) > 0;
			if (!stays)
				continue;
			cloud->items[cloud->count] = before.items[i];
			fly(cloud, &cloud->items[cloud->count++]);
		}
		for (uint32_t i = 0; i < 3 && !(cloud->gone && system == 1); i++)
			bear_particle(cloud, system);
	}
}

static void write_hex(FILE *out, enum message_type type, const uint8_t *tail, uint32_t bytes)
{
	uint8_t head[WIRE_HEAD_MAX];
	uint32_t count = message_pack_head(type, 9, bytes, true, head);
	fputc('"', out);
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%02x", head[i]);
	for (uint32_t i = 0; i < bytes; i++)
		fprintf(out, "%02x", tail[i]);
	fputc('"', out);
}

/* A SNAPSHOT or DELTA of no bodies, which announces BLOCKS. */
static void write_announcement(FILE *out, enum wire_profile profile, const struct cloud *now,
			       const struct cloud *base)
{
	static uint8_t tail[CONTENT_MAX];
	struct delta_part part = { 0 };
	uint32_t bytes;
	const struct delta_frame frame = { .snapshot = base == NULL,
					   .profile = profile,
					   .fields = WIRE_COLUMN_POSITION,
					   .flags = WIRE_FRAME_ABSOLUTE | WIRE_FRAME_BLOCKS,
					   .epoch = 1,
					   .tick = now->tick,
					   .base = base != NULL ? base->tick : 0 };
	enum status status = delta_pack_tail(&frame, &part, 1, 0, tail, sizeof tail, &bytes);
	ASSERT(status == STATUS_OK);
	write_hex(out, delta_type(&frame), tail, bytes);
}

static struct particle_frame frame_of(enum wire_profile profile, const struct cloud *now,
				      const struct cloud *base,
				      struct wire_system_count counts[SYSTEMS],
				      struct wire_forecast forecasts[SYSTEMS])
{
	struct particle_frame frame = { .profile = profile,
					.columns = WIRE_PARTICLE_COLUMNS_ALL,
					.flags = base == NULL ? WIRE_FRAME_WHOLE : 0,
					.epoch = 1,
					.tick = now->tick,
					.systems = counts,
					.system_count = now->gone ? 1 : 2,
					.now = now->items,
					.now_count = now->count };
	for (uint32_t system = 0; system < SYSTEMS; system++) {
		counts[system] = (struct wire_system_count){ .system = system + 1 };
		for (uint32_t i = 0; i < now->count; i++)
			counts[system].alive += now->items[i].system == system + 1;
		forecasts[system] = WIRE_FORECAST_NONE;
	}
	if (base != NULL) {
		frame.base = base->items;
		frame.base_count = base->count;
	}
	if (base != NULL && wire_profile_quantised(profile)) {
		const struct wire_scale *scale = wire_scale_of(profile);
		forecasts[0] =
			(struct wire_forecast){ .carry = STEP * scale->position / scale->speed,
						.shift[1] =
							0.5 * FALL * STEP * STEP * scale->position,
						.decay = DECAY,
						.gain[1] = FALL * STEP * scale->speed };
		frame.forecasts = forecasts;
	}
	frame.hash = (struct wire_hash){ true, particle_frame_hash(&frame) };
	return frame;
}

static void write_three(FILE *out, const char *name, const double *values, uint32_t count)
{
	fprintf(out, ", \"%s\": [", name);
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%s%.17g", i == 0 ? "" : ", ", values[i]);
	fputc(']', out);
}

/* A particle as the profile shows it. */
static void write_particle(FILE *out, enum wire_profile profile,
			   const struct wire_particle *particle, const char *before)
{
	struct wire_particle shown = *particle;
	struct wire_particle_steps steps;
	if (wire_profile_quantised(profile)) {
		wire_particle_quantise(profile, particle, WIRE_PARTICLE_COLUMNS_ALL, &steps);
		wire_particle_dequantise(profile, &steps, WIRE_PARTICLE_COLUMNS_ALL, &shown);
		for (uint32_t i = 0; i < 2; i++)
			shown.size[i] = (double)(float)shown.size[i];
		shown.density =
			wire_particle_rounded(profile, shown.density, WIRE_PARTICLE_DENSITY);
		shown.pressure =
			wire_particle_rounded(profile, shown.pressure, WIRE_PARTICLE_PRESSURE);
	}
	fprintf(out, "%s{\"system\": %" PRIu32 ", \"serial\": %" PRIu64, before, shown.system,
		shown.serial);
	write_three(out, "velocity", shown.velocity, 3);
	write_three(out, "position", shown.position, 3);
	write_three(out, "size", shown.size, 2);
	fprintf(out,
		", \"life\": [%" PRIu64 ", %" PRIu64 "], \"density\": %.17g, \"pressure\": %.17g}",
		shown.life[0], shown.life[1], shown.density, shown.pressure);
}

static void write_frame(FILE *out, enum wire_profile profile, const struct cloud *now,
			const struct cloud *base)
{
	static uint8_t tail[CONTENT_MAX];
	struct wire_system_count counts[SYSTEMS];
	struct wire_forecast forecasts[SYSTEMS];
	struct particle_parts parts = { 0 };
	uint32_t bytes;
	struct particle_frame frame = frame_of(profile, now, base, counts, forecasts);
	enum status status = particle_parts_make(&frame, WIRE_FRAME_PARTICLES, &parts);
	ASSERT(status == STATUS_OK && parts.items.count == 1);
	status = particle_parts_pack_tail(&frame, &parts, 0, tail, sizeof tail, &bytes);
	ASSERT(status == STATUS_OK);
	particle_parts_release(&parts);
	fprintf(out, "%s\n      {\"tick\": %" PRIu64 ", \"parts\": [", base == NULL ? "" : ",",
		now->tick);
	write_announcement(out, profile, now, base);
	fputs(", ", out);
	write_hex(out, MESSAGE_BLOCKS, tail, bytes);
	fputs("],\n       \"systems\": [", out);
	for (uint32_t i = 0; i < frame.system_count; i++)
		fprintf(out, "%s[%" PRIu32 ", %" PRIu32 "]", i == 0 ? "" : ", ", counts[i].system,
			counts[i].alive);
	fputs("],\n       \"particles\": [", out);
	for (uint32_t i = 0; i < now->count; i++)
		write_particle(out, profile, &now->items[i], i == 0 ? "" : ",\n         ");
	fputs("]}", out);
}

void wire_vectors_particles(FILE *out)
{
	static const char *const PROFILES[] = { "plain", "exact", "view", "sim" };
	fprintf(out, "{\"fields\": %u, \"particles\": %u, \"streams\": [",
		(unsigned)WIRE_COLUMN_POSITION, (unsigned)WIRE_PARTICLE_COLUMNS_ALL);
	for (uint32_t profile = 0; profile < COUNT_OF(PROFILES); profile++) {
		/* Serial numbers of system 2 need more than 32 bits. */
		struct cloud now = { .rng = rng_seeded(13),
				     .tick = 100,
				     .born = { 0, UINT64_C(1) << 40 } },
			     base;
		fprintf(out, "%s\n    {\"profile\": \"%s\", \"frames\": [", profile == 0 ? "" : ",",
			PROFILES[profile]);
		for (uint32_t i = 0; i < FRAMES; i++) {
			base = now;
			now.gone = i + 2 >= FRAMES;
			live(&now);
			write_frame(out, (enum wire_profile)profile, &now, i == 0 ? NULL : &base);
		}
		fputs("]}", out);
	}
	fputs("\n]}\n", out);
}
