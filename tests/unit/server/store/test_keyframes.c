/* keyframes: the nearest state is found, the bytes of the policy are kept by wider spacing, and spans are
 * excluded exactly if no state in them can satisfy a condition. The oracle is the list of all values. */
#include "server/store/keyframes.h"

#include "server/base/rng.h"
#include "tests/lib/check_main.h"

enum { BODIES = 5, TICKS = 600 };

static struct bytes image_of(struct rng *rng, size_t bytes)
{
	struct bytes image = { 0 };
	for (size_t i = 0; i < bytes; i++) {
		uint8_t byte = (uint8_t)rng_below(rng, 256);
		ck_assert_int_eq(bytes_append(&image, &byte, 1), STATUS_OK);
	}
	return image;
}

/* An image is only unpacked if it is one of a world. */
static struct bytes image_of_world(uint64_t seed)
{
	struct world_options options = world_options_default();
	struct bytes image = { 0 };
	struct reason why;
	struct world *world;
	options.seed = seed;
	ck_assert_int_eq(world_create(&options, &world, &why), STATUS_OK);
	ck_assert_int_eq(world_save(world, &image), STATUS_OK);
	world_destroy(world);
	return image;
}

static void put_plain(struct keyframes *keyframes, uint64_t tick, uint64_t from, struct bytes image)
{
	struct keyframe_bounds_list bounds = { 0 };
	struct recorded_place place = { 1, tick };
	keyframes_put(keyframes, place, from, &image, &bounds, true);
}

START_TEST(the_nearest_state_at_or_before_a_tick_is_found)
{
	struct keyframe_policy policy = { 1 << 20, 10 };
	struct keyframes *keyframes;
	struct bytes images[8];
	ck_assert_int_eq(keyframes_create(&policy, &keyframes), STATUS_OK);
	for (uint32_t i = 0; i < 8; i++) {
		struct bytes copy = { 0 };
		images[i] = image_of_world(i);
		ck_assert_int_eq(bytes_append(&copy, images[i].data, images[i].count), STATUS_OK);
		put_plain(keyframes, 10 * (i + 1), 10 * i, copy);
		ck_assert(keyframes_pack(keyframes));
	}
	ck_assert(!keyframes_pack(keyframes));
	for (uint64_t tick = 0; tick < 100; tick++) {
		struct recorded_place place = { 1, tick }, found = { 0, 0 };
		struct bytes image = { 0 };
		enum status status = keyframes_find(keyframes, place, &found, &image);
		ck_assert_int_eq(status, tick < 10 ? STATUS_MISSING : STATUS_OK);
		if (status == STATUS_OK) {
			uint64_t nearest = MIN_OF(tick / 10, UINT64_C(8));
			ck_assert_uint_eq(found.tick, 10 * nearest);
			ck_assert_uint_eq(image.count, images[nearest - 1].count);
			ck_assert_mem_eq(image.data, images[nearest - 1].data, image.count);
		}
		bytes_release(&image);
	}
	struct recorded_place other = { 2, 50 }, found;
	ck_assert(!keyframes_nearest(keyframes, other, &found));
	keyframes_forget(keyframes, (struct recorded_place){ 1, 45 });
	ck_assert(!keyframes_nearest(keyframes, (struct recorded_place){ 1, 49 }, &found));
	ck_assert(keyframes_nearest(keyframes, (struct recorded_place){ 1, 50 }, &found));
	for (uint32_t i = 0; i < 8; i++)
		bytes_release(&images[i]);
	keyframes_release(keyframes);
}
END_TEST

START_TEST(the_spacing_widens_until_the_bytes_suffice)
{
	struct rng rng = rng_seeded(check_seed());
	struct keyframe_policy policy = { 20000, 10 };
	struct keyframes *keyframes;
	uint64_t from = 0;
	ck_assert_int_eq(keyframes_create(&policy, &keyframes), STATUS_OK);
	for (uint64_t tick = 1; tick <= 4000; tick++) {
		if (tick - from < keyframes_spacing(keyframes))
			continue;
		put_plain(keyframes, tick, from, image_of(&rng, 500));
		while (keyframes_pack(keyframes))
			;
		from = tick;
		struct keyframe_figures figures = keyframes_figures(keyframes);
		ck_assert_uint_le(figures.bytes, policy.bytes);
	}
	struct keyframe_figures figures = keyframes_figures(keyframes);
	ck_assert_uint_gt(figures.spacing, 10);
	/* They are spread over the whole time: no gap is much wider than the spacing. */
	for (uint64_t tick = 2 * figures.spacing; tick <= 4000; tick += 7) {
		struct recorded_place found;
		ck_assert(keyframes_nearest(keyframes, (struct recorded_place){ 1, tick }, &found));
		ck_assert_uint_le(tick - found.tick, 2 * figures.spacing);
	}
	keyframes_release(keyframes);
}
END_TEST

/* Values of all bodies at all ticks; a body moves in some spans only. */
struct history {
	float value[TICKS + 1][BODIES];
	bool moves[TICKS + 1][BODIES];
};

static void make_history(struct rng *rng, struct history *history)
{
	for (uint32_t b = 0; b < BODIES; b++)
		history->value[0][b] = 0;
	for (uint32_t t = 1; t <= TICKS; t++)
		for (uint32_t b = 0; b < BODIES; b++) {
			history->moves[t][b] = (t / 50 + b) % 3 == 0;
			float step = (float)rng_below(rng, 200) / 100 - 1;
			history->value[t][b] =
				history->value[t - 1][b] + (history->moves[t][b] ? step : 0);
		}
}

static void put_span(struct keyframes *keyframes, const struct history *history, uint64_t from,
		     uint64_t to, struct bytes image)
{
	struct keyframe_bounds_list bounds = { 0 };
	for (uint32_t b = 0; b < BODIES; b++) {
		struct keyframe_bounds one = { .body = b + 1 };
		bool any = false;
		for (uint64_t t = from + 1; t <= to; t++) {
			float value = history->value[t][b];
			if (!history->moves[t][b])
				continue;
			one.low[1] = any ? MIN_OF(one.low[1], value) : value;
			one.high[1] = any ? MAX_OF(one.high[1], value) : value;
			any = true;
		}
		if (!any)
			continue;
		ck_assert_int_eq(ARRAY_RESERVE(&bounds, bounds.count + 1u), STATUS_OK);
		bounds.items[bounds.count++] = one;
	}
	keyframes_put(keyframes, (struct recorded_place){ 1, to }, from, &image, &bounds, true);
}

static bool holds(const struct history *history, const struct keyframe_condition *condition,
		  uint64_t tick)
{
	for (uint32_t b = 0; b < BODIES; b++)
		if ((condition->body == 0 || condition->body == b + 1) &&
		    keyframe_holds(condition, (double)history->value[tick][b]))
			return true;
	return false;
}

START_TEST(excluded_ticks_never_satisfy_the_condition)
{
	static struct history history;
	struct rng rng = rng_seeded(check_seed());
	/* Small enough that spans are merged on the way. */
	struct keyframe_policy policy = { _i == 0 ? 1 << 20 : 6000, 10 };
	struct keyframes *keyframes;
	uint64_t excluded = 0, from = 0;
	make_history(&rng, &history);
	ck_assert_int_eq(keyframes_create(&policy, &keyframes), STATUS_OK);
	for (uint64_t tick = 1; tick <= TICKS; tick++) {
		if (tick - from < keyframes_spacing(keyframes))
			continue;
		put_span(keyframes, &history, from, tick, image_of(&rng, 50));
		while (keyframes_pack(keyframes))
			;
		from = tick;
	}
	for (int trial = 0; trial < 300; trial++) {
		struct keyframe_condition condition = {
			.body = (body_id)rng_below(&rng, BODIES + 1),
			.quantity = 1,
			.above = rng_below(&rng, 2) == 1,
			.value = (double)rng_below(&rng, 1000) / 50 - 10,
		};
		struct recorded_place at = { 1, rng_below(&rng, TICKS) };
		if (holds(&history, &condition, at.tick))
			continue;
		uint64_t end = keyframes_excluded(keyframes, at, &condition);
		for (uint64_t t = at.tick; t <= end; t++)
			ck_assert(!holds(&history, &condition, t));
		uint64_t begin = keyframes_excluded_before(keyframes, at, &condition);
		for (uint64_t t = begin + 1; t <= at.tick; t++)
			ck_assert(!holds(&history, &condition, t));
		excluded += end - at.tick + (at.tick - begin);
		ck_assert_uint_gt(keyframes_span_end(keyframes, at, UINT64_MAX), at.tick);
	}
	ck_assert_uint_gt(excluded, 1000);
	keyframes_release(keyframes);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("store/keyframes");
	TCase *tests = tcase_create("keyframes");
	tcase_add_test(tests, the_nearest_state_at_or_before_a_tick_is_found);
	tcase_add_test(tests, the_spacing_widens_until_the_bytes_suffice);
	tcase_add_loop_test(tests, excluded_ticks_never_satisfy_the_condition, 0, 2);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
