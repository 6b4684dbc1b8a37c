/* BLOCKS of particles: mirrors of every profile follow births, deaths, removed systems and whole
 * frames in parts; what moves as forecast costs two bytes; blocks that contradict a mirror, and
 * damaged ones, are refused. */
#include <string.h>

#include "protocol/mirror.h"
#include "protocol/pack.h"
#include "protocol/unpack.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"

enum { SYSTEMS = 4, PARTICLES = 4000, TICKS = 40 };

struct cloud {
	struct rng rng;
	struct wire_particle items[PARTICLES], before[PARTICLES];
	uint32_t count, before_count;
	uint32_t alive[SYSTEMS];
	bool exists[SYSTEMS];
	uint64_t born[SYSTEMS];
	uint64_t tick;
};
static struct cloud cloud;
static uint8_t content[WIRE_FRAME_DOWN];
static struct particle_parts parts;

static const double STEP = 1.0 / 60, FALL = -9.81;

static struct wire_particle draw(uint32_t system, uint64_t serial)
{
	struct wire_particle particle = { .system = system, .serial = serial };
	for (uint32_t i = 0; i < 3; i++) {
		particle.velocity[i] = rng_range(&cloud.rng, -5, 5);
		particle.position[i] = rng_range(&cloud.rng, -20, 20);
	}
	particle.size[0] = rng_range(&cloud.rng, 0.001, 0.1);
	particle.size[1] = rng_range(&cloud.rng, 0.001, 0.1);
	particle.density = system == 2 ? 0 : rng_range(&cloud.rng, 500, 1500);
	particle.pressure = system == 2 ? 0 : rng_range(&cloud.rng, 0, 1e5);
	particle.life[0] = cloud.tick;
	particle.life[1] = rng_below(&cloud.rng, 3) == 0 ? 0 : cloud.tick + 100;
	return particle;
}

/* Flight; a few particles rest, and a few are struck. */
static void fly(struct wire_particle *particle)
{
	if (particle->serial % 7 == 0)
		return;
	if (rng_below(&cloud.rng, 50) == 0)
		particle->velocity[0] = -particle->velocity[0] * 3;
	/* Often by less than the profiles show. */
	if (particle->system != 2 && rng_below(&cloud.rng, 3) > 0) {
		particle->density += rng_below(&cloud.rng, 2) ? 1e-7 : 1;
		particle->pressure += rng_below(&cloud.rng, 2) ? 1e-7 : 1000;
	}
	for (uint32_t i = 0; i < 3; i++)
		particle->position[i] += particle->velocity[i] * STEP;
	particle->position[1] += 0.5 * FALL * STEP * STEP;
	particle->velocity[1] += FALL * STEP;
}

static void live(uint32_t deaths, uint32_t births)
{
	static struct wire_particle next[PARTICLES];
	uint32_t count = 0, at = 0;
	cloud.tick++;
	memcpy(cloud.before, cloud.items, sizeof cloud.before);
	cloud.before_count = cloud.count;
	for (uint32_t s = 0; s < SYSTEMS; s++) {
		cloud.alive[s] = 0;
		if (births > 0 && rng_below(&cloud.rng, 12) == 0)
			cloud.exists[s] = !cloud.exists[s];
		for (; at < cloud.count && cloud.items[at].system == s + 1; at++) {
			if (!cloud.exists[s] || rng_below(&cloud.rng, 100) < deaths)
				continue;
			next[count] = cloud.items[at];
			fly(&next[count++]);
			cloud.alive[s]++;
		}
		uint32_t more = rng_below(&cloud.rng, births + 1);
		for (uint32_t i = 0; i < more && cloud.exists[s] && count < PARTICLES; i++) {
			cloud.born[s] += 1 + rng_below(&cloud.rng, 2);
			next[count++] = draw(s + 1, cloud.born[s]);
			cloud.alive[s]++;
		}
	}
	memcpy(cloud.items, next, sizeof cloud.items);
	cloud.count = count;
}

static void start_cloud(void)
{
	memset(&cloud, 0, sizeof cloud);
	cloud.rng = rng_seeded(check_seed());
	for (uint32_t s = 0; s < SYSTEMS; s++)
		cloud.exists[s] = true;
	/* Serial numbers need 64 bits. */
	cloud.born[1] = UINT64_C(1) << 40;
}

/* ---- frames -------------------------------------------------------------------------------------
 * */

/* A frame of no bodies, with BLOCKS announced. */
static enum status announce_blocks(struct mirror *mirror, bool snapshot)
{
	static const uint8_t none[] = { 0xC4, 1, 0 }, list[] = { 0x90 };
	struct wire_slice empty = mirror->profile == WIRE_PROFILE_PLAIN
					  ? (struct wire_slice){ list, 1 }
					  : (struct wire_slice){ none, 3 };
	uint8_t flags = WIRE_FRAME_BLOCKS | WIRE_FRAME_ABSOLUTE;
	struct msg_snapshot first = {
		.tick = cloud.tick, .of = 1, .flags = flags, .columns = empty
	};
	struct msg_delta next = {
		.tick = cloud.tick, .base = mirror->tick, .of = 1, .flags = flags, .columns = empty
	};
	bool last = true;
	enum status status = snapshot ? mirror_snapshot(mirror, &first, &last)
				      : mirror_delta(mirror, &next, &last);
	ck_assert(!last && !mirror->complete);
	return status;
}

static struct wire_system_count counts[SYSTEMS];
static struct wire_forecast forecasts[SYSTEMS];

static struct particle_frame frame_of(enum wire_profile profile, wire_mask columns, bool whole)
{
	struct particle_frame frame = { .profile = profile,
					.columns = columns,
					.flags = whole ? WIRE_FRAME_WHOLE : 0,
					.tick = cloud.tick,
					.systems = counts,
					.forecasts = forecasts,
					.base = cloud.before,
					.base_count = whole ? 0 : cloud.before_count,
					.now = cloud.items,
					.now_count = cloud.count };
	for (uint32_t s = 0; s < SYSTEMS; s++)
		if (cloud.exists[s]) {
			struct wire_forecast *forecast = &forecasts[frame.system_count];
			counts[frame.system_count++] =
				(struct wire_system_count){ s + 1, cloud.alive[s] };
			*forecast = WIRE_FORECAST_NONE;
			if (!wire_profile_quantised(profile))
				continue;
			const struct wire_scale *scale = wire_scale_of(profile);
			forecast->carry = STEP * scale->position / scale->speed;
			forecast->shift[1] = 0.5 * FALL * STEP * STEP * scale->position;
			forecast->gain[1] = FALL * STEP * scale->speed;
		}
	if (!(columns & WIRE_PARTICLE_COLUMNS_OWN))
		frame.now_count = frame.base_count = 0;
	frame.hash = (struct wire_hash){ true, particle_frame_hash(&frame) };
	return frame;
}

/* Packs part `index` and reads it back; the message borrows `content`. */
static struct message part_of(const struct particle_frame *frame, uint32_t index, uint32_t *size)
{
	uint8_t *tail = content + WIRE_HEAD_MAX, head[WIRE_HEAD_MAX];
	struct message message;
	ck_assert_int_eq(particle_parts_pack_tail(frame, &parts, index, tail,
						  sizeof content - WIRE_HEAD_MAX, size),
			 STATUS_OK);
	uint32_t before = message_pack_head(MESSAGE_BLOCKS, 1, *size, false, head);
	memcpy(tail - before, head, before);
	ck_assert_uint_le(before + *size, WIRE_FRAME_PARTICLES);
	ck_assert_int_eq(
		message_read(tail - before, before + *size, &VALIDATE_DOWN, &message, NULL),
		STATUS_OK);
	return message;
}

/* Sends BLOCKS in parts; returns the bytes. */
static uint64_t deliver_blocks(struct mirror *mirror, const struct particle_frame *frame)
{
	uint64_t bytes = 0;
	uint32_t size;
	ck_assert_int_eq(particle_parts_make(frame, WIRE_FRAME_PARTICLES, &parts), STATUS_OK);
	for (uint32_t i = 0; i < parts.items.count; i++) {
		struct message message = part_of(frame, i, &size);
		bool last = false, final = i + 1 == parts.items.count;
		ck_assert_int_eq(mirror_take(mirror, &message, &last), STATUS_OK);
		ck_assert(last == final && mirror->complete == final);
		bytes += size;
	}
	return bytes;
}

static struct mirror mirror_of(enum wire_profile profile, wire_mask columns)
{
	struct mirror mirror;
	mirror_init(&mirror, profile, WIRE_COLUMNS_TICK, 10);
	mirror_watch_particles(&mirror, columns, PARTICLES);
	return mirror;
}

/* The float nearest to a number with so many significant bits, by division. */
static double nearest(double value, uint32_t bits)
{
	double step = 1, size = (double)(float)value;
	if (size == 0)
		return 0;
	while (step * 2 <= size)
		step *= 2;
	while (step > size)
		step /= 2;
	for (uint32_t i = 1; i < bits; i++)
		step /= 2;
	return (double)(uint64_t)(size / step + 0.5) * step;
}

/* The mirror has the cloud's values: all bits in exact and plain, the nearest steps in view and
 * sim. */
static void expect_equal(const struct mirror *mirror)
{
	const struct mirror_particles *mine = &mirror->particles;
	wire_mask columns = mine->columns;
	ck_assert_uint_eq(mine->shown.items.count, cloud.count);
	for (uint32_t i = 0; i < cloud.count; i++) {
		const struct wire_particle *own = &mine->shown.items.items[i];
		struct wire_particle particle = cloud.items[i];
		ck_assert_int_eq(wire_particle_compare(own, &particle), 0);
		ck_assert_ptr_eq(mirror_particles_find(mine, particle.system, particle.serial),
				 own);
		if (wire_profile_quantised(mirror->profile)) {
			struct wire_particle_steps steps;
			wire_particle_quantise(mirror->profile, &particle, columns, &steps);
			wire_particle_dequantise(mirror->profile, &steps, columns, &particle);
			particle.size[0] = (double)(float)particle.size[0];
			particle.size[1] = (double)(float)particle.size[1];
			particle.density = nearest(particle.density, 16);
			particle.pressure = nearest(particle.pressure,
						    mirror->profile == WIRE_PROFILE_VIEW ? 8 : 16);
		}
		for (uint32_t bit = 1; bit <= WIRE_PARTICLE_COLUMNS_OWN; bit *= 2)
			if (columns & WIRE_PARTICLE_COLUMNS_OWN & bit)
				ck_assert(!wire_particle_differs(WIRE_PROFILE_EXACT, own, &particle,
								 (wire_mask)bit));
	}
}

static const wire_mask CHOICES[] = { 127, 31, 15, 2, 3, 12, 96, 34, 64 };

START_TEST(mirrors_follow_births_and_deaths)
{
	enum wire_profile profile = (enum wire_profile)(_i % WIRE_PROFILES);
	wire_mask columns = CHOICES[_i / WIRE_PROFILES];
	struct mirror mirror = mirror_of(profile, columns);
	uint32_t most = 0;
	start_cloud();
	for (uint32_t tick = 0; tick < TICKS; tick++) {
		bool snapshot = tick % 15 == 0, whole = snapshot || tick % 11 == 0;
		live(3, 100);
		struct particle_frame frame = frame_of(profile, columns, whole);
		ck_assert_int_eq(announce_blocks(&mirror, snapshot), STATUS_OK);
		deliver_blocks(&mirror, &frame);
		most = MAX_OF(most, parts.items.count);
		expect_equal(&mirror);
		ck_assert_uint_eq(mirror.particles.system_count, frame.system_count);
	}
	if (columns == WIRE_PARTICLE_COLUMNS_ALL && !wire_profile_quantised(profile))
		ck_assert_uint_gt(most, 1);
	mirror_release(&mirror);
}
END_TEST

/* Numbers of every size: within half of the last bit, ascending with what they round, never infinite. */
START_TEST(rounded_numbers_are_near_and_finite)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t i = 0; i < 4000; i++) {
		double value = rng_range(&rng, 1, 2), more;
		for (uint32_t k = rng_below(&rng, 120); k > 0; k--)
			value *= i % 2 ? 2 : 0.5;
		more = value * (1 + rng_range(&rng, 0, 0.01));
		double view =
			wire_particle_rounded(WIRE_PROFILE_VIEW, value, WIRE_PARTICLE_PRESSURE);
		double sim = wire_particle_rounded(WIRE_PROFILE_SIM, value, WIRE_PARTICLE_PRESSURE);
		ck_assert(view - value <= value / 256 && value - view <= value / 256);
		ck_assert(sim - value <= value / 65536 && value - sim <= value / 65536);
		ck_assert(sim ==
			  wire_particle_rounded(WIRE_PROFILE_VIEW, value, WIRE_PARTICLE_DENSITY));
		ck_assert(wire_particle_rounded(WIRE_PROFILE_EXACT, value, WIRE_PARTICLE_DENSITY) ==
			  value);
		ck_assert(sim ==
			  wire_particle_rounded(WIRE_PROFILE_SIM, sim, WIRE_PARTICLE_PRESSURE));
		ck_assert(view <=
			  wire_particle_rounded(WIRE_PROFILE_VIEW, more, WIRE_PARTICLE_PRESSURE));
		ck_assert(-sim ==
			  wire_particle_rounded(WIRE_PROFILE_SIM, -value, WIRE_PARTICLE_PRESSURE));
	}
	double most = wire_particle_rounded(WIRE_PROFILE_VIEW, 1e300, WIRE_PARTICLE_PRESSURE);
	ck_assert(most > 3.3e38 && most < 3.41e38);
	ck_assert(wire_particle_rounded(WIRE_PROFILE_SIM, 0, WIRE_PARTICLE_DENSITY) == 0);
}
END_TEST

/* Pressures that differ by less than a profile shows are no reason for a frame. */
START_TEST(calm_fluids_cost_nothing)
{
	struct mirror mirror = mirror_of(WIRE_PROFILE_VIEW, WIRE_PARTICLE_COLUMNS_SCALAR);
	start_cloud();
	live(0, 100);
	for (uint32_t tick = 0; tick < 4; tick++) {
		struct particle_frame frame =
			frame_of(WIRE_PROFILE_VIEW, WIRE_PARTICLE_COLUMNS_SCALAR, tick == 0);
		ck_assert_int_eq(announce_blocks(&mirror, tick == 0), STATUS_OK);
		uint64_t bytes = deliver_blocks(&mirror, &frame);
		ck_assert(tick == 0 || bytes < 80);
		expect_equal(&mirror);
		cloud.tick++;
		memcpy(cloud.before, cloud.items, sizeof cloud.before);
		cloud.before_count = cloud.count;
		for (uint32_t i = 0; i < cloud.count; i++) {
			struct wire_particle *item = &cloud.items[i];
			double density = nearest(item->density, 16),
			       pressure = nearest(item->pressure, 8);
			item->density = (density + item->density) / 2;
			item->pressure = (pressure + item->pressure) / 2;
		}
	}
	mirror_release(&mirror);
}
END_TEST

START_TEST(counts_alone_are_small)
{
	struct mirror mirror = mirror_of(WIRE_PROFILE_VIEW, WIRE_PARTICLE_COUNT);
	start_cloud();
	for (uint32_t tick = 0; tick < TICKS; tick++) {
		live(3, 100);
		struct particle_frame frame =
			frame_of(WIRE_PROFILE_VIEW, WIRE_PARTICLE_COUNT, tick == 0);
		ck_assert_int_eq(announce_blocks(&mirror, tick == 0), STATUS_OK);
		ck_assert_uint_lt(deliver_blocks(&mirror, &frame), 80);
		ck_assert_uint_eq(mirror.particles.shown.items.count, 0);
		for (uint32_t i = 0; i < frame.system_count; i++)
			ck_assert_uint_eq(mirror.particles.systems[i].alive, counts[i].alive);
	}
	mirror_release(&mirror);
}
END_TEST

/* 4000 particles in flight, 2 % of them struck in a tick. */
enum { FLIGHT = WIRE_PARTICLE_COLUMNS_ALL & ~WIRE_PARTICLE_COLUMNS_SCALAR };

START_TEST(flight_takes_two_bytes)
{
	struct mirror mirror = mirror_of(WIRE_PROFILE_VIEW, FLIGHT);
	uint64_t bytes = 0, rows = 0;
	start_cloud();
	for (uint32_t i = 0; i < PARTICLES; i++)
		cloud.items[cloud.count++] = draw(1, cloud.born[0] += 1);
	for (uint32_t tick = 0; tick < TICKS; tick++) {
		live(0, 0);
		struct particle_frame frame = frame_of(WIRE_PROFILE_VIEW, FLIGHT, tick == 0);
		ck_assert_int_eq(announce_blocks(&mirror, tick == 0), STATUS_OK);
		uint64_t size = deliver_blocks(&mirror, &frame);
		bytes += tick > 0 ? size : 0;
		rows += tick > 0 ? cloud.count : 0;
	}
	ck_assert_uint_lt(bytes, rows * 5 / 2);
	mirror_release(&mirror);
}
END_TEST

/* ---- hostile input ------------------------------------------------------------------------------
 * */

static struct msg_blocks message_of(const uint8_t *blocks, uint32_t bytes)
{
	static uint8_t systems[] = { 0x92, 1, 3 };
	static uint8_t bins[2][256];
	/* Those of two_particles are read before the next ones are made. */
	uint8_t *bin = bins[cloud.tick == 1];
	bin[0] = 0xC4;
	bin[1] = (uint8_t)bytes;
	memcpy(bin + 2, blocks, bytes);
	return (struct msg_blocks){ .tick = cloud.tick,
				    .kind = WIRE_VISIBLE_PARTICLE,
				    .of = 1,
				    .systems = { systems, sizeof systems, 1 },
				    .blocks = { bin, bytes + 2 } };
}

/* A mirror of profile view, positions only, that has the particles 1 and 3 of system 1. */
static struct mirror two_particles(void)
{
	static const uint8_t blocks[] = { 1, 1, 3, 0, 2, 0, 1, 0, 2, 4, 6, 2, 4, 6 };
	struct mirror mirror = mirror_of(WIRE_PROFILE_VIEW, WIRE_PARTICLE_POSITION);
	cloud.tick = 1;
	struct msg_blocks frame = message_of(blocks, sizeof blocks);
	bool last;
	frame.flags = WIRE_FRAME_WHOLE;
	ck_assert_int_eq(announce_blocks(&mirror, true), STATUS_OK);
	ck_assert_int_eq(mirror_blocks(&mirror, &frame, &last), STATUS_OK);
	ck_assert(last && mirror.particles.shown.items.count == 2);
	cloud.tick = 2;
	ck_assert_int_eq(announce_blocks(&mirror, false), STATUS_OK);
	return mirror;
}

static void refuse_frame(const struct msg_blocks *frame, enum status status)
{
	struct mirror mirror = two_particles();
	bool last;
	ck_assert_int_eq(mirror_blocks(&mirror, frame, &last), status);
	ck_assert(!mirror.complete);
	/* What was shown is still there, and no frame arrives any more. */
	ck_assert_uint_eq(mirror.particles.shown.items.count, 2);
	ck_assert_int_eq(mirror_blocks(&mirror, frame, &last), STATUS_SEQUENCE);
	mirror_release(&mirror);
}

START_TEST(blocks_that_contradict_a_mirror_are_refused)
{
	static const struct {
		uint32_t count;
		uint8_t bytes[72];
	} cases[] = {
		{ 9, { 1, 1, 3, 1, 1, 0, 0, 125, 0 } },		  /* 2 is not there and goes */
		{ 12, { 1, 1, 3, 0, 1, 0, 0, 125, 1, 0, 0, 0 } }, /* 1 is there and is new */
		{ 8, { 1, 1, 3, 0, 0, 0, 125, 2 } },		  /* a run beyond the range */
		{ 7, { 1, 1, 3, 0, 0, 0, 127 } },		  /* an unknown code */
		{ 9, { 1, 1, 3, 0, 0, 0, 126, 1, 1 } },		  /* cut off */
		{ 6, { 1, 1, 3, 0, 0, 2 } },			  /* an unknown forecast */
		{ 8, { 1, 1, 3, 0, 0, 1, 0, 0 } },		  /* a forecast cut off */
		{ 8, { 1, 0, 3, 0, 0, 0, 125, 1 } },		  /* serial 0 */
		{ 6, { 1, 3, 1, 0, 0, 0 } },			  /* an empty range */
		{ 6, { 2, 1, 3, 0, 0, 0 } },			  /* a system that is not listed */
		{ 7, { 1, 1, 3, 1, 3, 0, 0 } },			  /* a serial beyond the range */
		{ 5, { 1, 1, 3, 0xFF, 0x7F } },			  /* more than a block has */
		/* Ranges that overlap, and that descend. */
		{ 13, { 1, 1, 1, 0, 0, 0, 62, 1, 1, 3, 0, 0, 0 } },
		{ 14, { 1, 3, 3, 0, 0, 0, 62, 1, 1, 1, 0, 0, 0, 62 } },
		/* carry is not a number */
		{ 72, { 1, 1, 3, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xF8, 0x7F } },
		/* a position beyond the limit */
		{ 17,
		  { 1, 1, 3, 0, 0, 0, 126, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0, 0, 62 } },
	};
	for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
		cloud.tick = 2;
		struct msg_blocks frame = message_of(cases[i].bytes, cases[i].count);
		refuse_frame(&frame, STATUS_MALFORMED);
	}
	ck_assert_uint_eq(cloud.tick, 2);
}
END_TEST

START_TEST(blocks_out_of_place_are_refused)
{
	static const uint8_t still[] = { 1, 1, 3, 0, 0, 0, 125, 1 };
	cloud.tick = 2;
	const struct msg_blocks good = message_of(still, sizeof still);
	struct msg_blocks frame = good;
	frame.tick = 3;
	refuse_frame(&frame, STATUS_SEQUENCE);
	frame = good;
	frame.kind = WIRE_VISIBLE_JOINT;
	refuse_frame(&frame, STATUS_MALFORMED);
	frame = good;
	frame.part = 1;
	frame.of = 2;
	refuse_frame(&frame, STATUS_SEQUENCE);
	frame = good;
	frame.of = 0;
	refuse_frame(&frame, STATUS_MALFORMED);
	frame = good;
	frame.systems.count = 0;
	frame.systems.bytes = 0;
	refuse_frame(&frame, STATUS_MALFORMED);
	frame = good;
	frame.hash = (struct wire_hash){ true, 1 };
	struct mirror mirror = two_particles();
	bool last;
	ck_assert_int_eq(mirror_blocks(&mirror, &frame, &last), STATUS_DIVERGED);
	mirror_release(&mirror);
	mirror = two_particles();
	mirror.particles.max = 1;
	ck_assert_int_eq(mirror_blocks(&mirror, &good, &last), STATUS_LIMIT);
	mirror_release(&mirror);
	/* A mirror without a subscription to particles refuses their announcement. */
	mirror = mirror_of(WIRE_PROFILE_EXACT, 0);
	ck_assert_int_eq(announce_blocks(&mirror, true), STATUS_MALFORMED);
	mirror_release(&mirror);
}
END_TEST

/* Damaged blocks are refused, or give a mirror whose particles still ascend. */
START_TEST(damaged_blocks_do_no_harm)
{
	enum wire_profile profile = (enum wire_profile)(_i % WIRE_PROFILES);
	start_cloud();
	for (uint32_t round = 0; round < 60; round++) {
		struct mirror mirror = mirror_of(profile, WIRE_PARTICLE_COLUMNS_ALL);
		uint32_t size;
		bool last;
		live(10, 20);
		struct particle_frame frame = frame_of(profile, WIRE_PARTICLE_COLUMNS_ALL, true);
		ck_assert_int_eq(announce_blocks(&mirror, true), STATUS_OK);
		deliver_blocks(&mirror, &frame);
		live(10, 20);
		frame = frame_of(profile, WIRE_PARTICLE_COLUMNS_ALL, false);
		frame.hash.set = false;
		ck_assert_int_eq(announce_blocks(&mirror, false), STATUS_OK);
		ck_assert_int_eq(particle_parts_make(&frame, WIRE_FRAME_PARTICLES, &parts),
				 STATUS_OK);
		struct message message = part_of(&frame, 0, &size);
		uint8_t *blocks = (uint8_t *)(uintptr_t)message.blocks.blocks.at;
		uint32_t bytes = message.blocks.blocks.bytes;
		for (uint32_t i = 0; i < 1 + rng_below(&cloud.rng, 4) && bytes > 4; i++)
			blocks[4 + rng_below(&cloud.rng, bytes - 4)] =
				(uint8_t)rng_below(&cloud.rng, 256);
		enum status status = mirror_take(&mirror, &message, &last);
		ck_assert(status == STATUS_OK || status == STATUS_MALFORMED ||
			  status == STATUS_LIMIT);
		const struct particle_list *shown = &mirror.particles.shown;
		for (uint32_t i = 1; i < shown->items.count; i++)
			ck_assert_int_lt(wire_particle_compare(&shown->items.items[i - 1],
							       &shown->items.items[i]),
					 0);
		mirror_release(&mirror);
	}
}
END_TEST

static void drop_parts(void)
{
	particle_parts_release(&parts);
}

static Suite *make(void)
{
	Suite *suite = suite_create("protocol/particle_blocks");
	TCase *tests = tcase_create("blocks");
	tcase_add_checked_fixture(tests, NULL, drop_parts);
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, mirrors_follow_births_and_deaths, 0,
			    WIRE_PROFILES * (int)COUNT_OF(CHOICES));
	tcase_add_test(tests, counts_alone_are_small);
	tcase_add_test(tests, rounded_numbers_are_near_and_finite);
	tcase_add_test(tests, calm_fluids_cost_nothing);
	tcase_add_test(tests, flight_takes_two_bytes);
	tcase_add_test(tests, blocks_that_contradict_a_mirror_are_refused);
	tcase_add_test(tests, blocks_out_of_place_are_refused);
	tcase_add_loop_test(tests, damaged_blocks_do_no_harm, 0, WIRE_PROFILES);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
