/* Frames of the pool: capacity, holders on several threads, idle frames, and limits. */
#include "server/io/frame.h"

#include <pthread.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"

START_TEST(a_frame_has_the_requested_capacity_and_returns_after_its_last_release)
{
	struct frame_pool *pool;
	struct frame_pool_counters counters;
	ck_assert_int_eq(frame_pool_create(8 << 20, &pool), STATUS_OK);
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t i = 0; i < 300; i++) {
		struct frame *frame;
		uint32_t bytes = 1 + rng_below(&rng, i % 10 == 0 ? FRAME_CAPACITY_MAX : 5000);
		ck_assert_int_eq(frame_create(pool, bytes, &frame), STATUS_OK);
		ck_assert_uint_ge(frame->capacity, bytes);
		ck_assert_uint_eq(frame->bytes, 0);
		memset(frame->data, 0x5a, frame->capacity);
		ck_assert_ptr_eq(frame_retain(frame), frame);
		frame_release(frame);
		frame_pool_counters(pool, &counters);
		ck_assert_uint_eq(counters.live, 1);
		frame_release(frame);
	}
	frame_release(NULL);
	frame_pool_counters(pool, &counters);
	ck_assert_uint_eq(counters.live, 0);
	ck_assert_uint_eq(counters.made + counters.reused, 300);
	frame_pool_destroy(pool);
}
END_TEST

START_TEST(a_steady_tick_makes_no_heap_call)
{
	struct frame_pool *pool;
	struct frame *frames[16];
	uint64_t calls = 0;
	ck_assert_int_eq(frame_pool_create(1 << 20, &pool), STATUS_OK);
	for (uint32_t tick = 0; tick < 10; tick++) {
		for (uint32_t i = 0; i < COUNT_OF(frames); i++)
			ck_assert_int_eq(frame_create(pool, 100 + 300 * i, &frames[i]), STATUS_OK);
		for (uint32_t i = 0; i < COUNT_OF(frames); i++)
			frame_release(frames[i]);
		if (tick == 0)
			calls = heap_calls();
	}
	ck_assert_uint_eq(heap_calls(), calls);
	frame_pool_destroy(pool);
}
END_TEST

START_TEST(idle_frames_are_kept_only_up_to_the_limit)
{
	struct frame_pool *pool;
	struct frame *frames[64];
	struct frame_pool_counters counters;
	ck_assert_int_eq(frame_pool_create(64 << 10, &pool), STATUS_OK);
	for (uint32_t i = 0; i < COUNT_OF(frames); i++)
		ck_assert_int_eq(frame_create(pool, 4000, &frames[i]), STATUS_OK);
	for (uint32_t i = 0; i < COUNT_OF(frames); i++)
		frame_release(frames[i]);
	frame_pool_counters(pool, &counters);
	ck_assert_uint_le(counters.idle_bytes, 64 << 10);
	ck_assert_uint_gt(counters.idle_bytes, 0);
	frame_pool_destroy(pool);
}
END_TEST

START_TEST(a_frame_too_large_or_without_memory_is_refused)
{
	struct frame_pool *pool;
	struct frame *frame;
	struct frame_pool_counters counters;
	ck_assert_int_eq(frame_pool_create(1 << 20, &pool), STATUS_OK);
	ck_assert_int_eq(frame_create(pool, FRAME_CAPACITY_MAX + 1, &frame), STATUS_TOO_LARGE);
	heap_fail_at(1);
	ck_assert_int_eq(frame_create(pool, 100, &frame), STATUS_NO_MEMORY);
	frame_pool_counters(pool, &counters);
	ck_assert_uint_eq(counters.live, 0);
	frame_pool_destroy(pool);
}
END_TEST

static void *release_all(void *context)
{
	struct frame **frames = context;
	for (uint32_t i = 0; i < 1000; i++)
		frame_release(frames[i]);
	return NULL;
}

START_TEST(holders_on_several_threads_may_release_at_the_same_time)
{
	struct frame_pool *pool;
	static struct frame *frames[1000];
	pthread_t threads[3];
	ck_assert_int_eq(frame_pool_create(1 << 20, &pool), STATUS_OK);
	for (uint32_t i = 0; i < COUNT_OF(frames); i++) {
		ck_assert_int_eq(frame_create(pool, 64, &frames[i]), STATUS_OK);
		(void)frame_retain(frame_retain(frames[i]));
	}
	for (uint32_t i = 0; i < COUNT_OF(threads); i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, release_all, frames), 0);
	for (uint32_t i = 0; i < COUNT_OF(threads); i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	frame_pool_destroy(pool);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/io/frame");
	TCase *pool = tcase_create("pool");
	tcase_add_test(pool, a_frame_has_the_requested_capacity_and_returns_after_its_last_release);
	tcase_add_test(pool, a_steady_tick_makes_no_heap_call);
	tcase_add_test(pool, idle_frames_are_kept_only_up_to_the_limit);
	tcase_add_test(pool, a_frame_too_large_or_without_memory_is_refused);
	tcase_add_test(pool, holders_on_several_threads_may_release_at_the_same_time);
	suite_add_tcase(suite, pool);
	return suite;
}

int main(void)
{
	return check_main(make);
}
