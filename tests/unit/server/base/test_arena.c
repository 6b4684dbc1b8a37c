/* The arena: reserved pushes make no heap call, pieces are aligned to 64 bytes and disjoint, rewinding
 * and joining keep the memory, and a failed allocation leaves a usable arena. */
#include "server/base/arena.h"

#include <string.h>

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"

START_TEST(pushes_within_a_reservation_make_no_heap_call)
{
	struct rng rng = rng_seeded(check_seed());
	struct arena arena;
	ck_assert_int_eq(arena_init(&arena, 0), STATUS_OK);
	for (int round = 0; round < 200; round++) {
		size_t sizes[20], sum = 0;
		for (int i = 0; i < 20; i++) {
			sizes[i] = rng_below(&rng, 3000);
			sum += (sizes[i] + 63) / 64 * 64;
		}
		ck_assert_int_eq(arena_reserve(&arena, sum), STATUS_OK);
		uint64_t calls = heap_calls();
		for (int i = 0; i < 20; i++)
			ck_assert_ptr_nonnull(arena_push(&arena, sizes[i]));
		ck_assert_uint_eq(heap_calls(), calls);
		ck_assert_uint_eq(arena.growths, 0);
		if (round % 7 == 0)
			arena_reset(&arena);
	}
	arena_release(&arena);
}
END_TEST

START_TEST(pieces_are_aligned_and_do_not_overlap)
{
	struct arena arena;
	uint8_t *piece[100];
	ck_assert_int_eq(arena_init(&arena, 1000), STATUS_OK);
	for (int i = 0; i < 100; i++) {
		piece[i] = arena_push(&arena, 700);
		ck_assert_uint_eq((uintptr_t)piece[i] % 64, 0);
		memset(piece[i], i, 700);
	}
	for (int i = 0; i < 100; i++)
		for (int j = 0; j < 700; j++)
			ck_assert_int_eq(piece[i][j], i);
	ck_assert_uint_gt(arena.growths, 0);
	arena_release(&arena);
}
END_TEST

START_TEST(rewinding_gives_the_same_memory_again)
{
	struct arena arena;
	ck_assert_int_eq(arena_init(&arena, 4096), STATUS_OK);
	void *before = arena_push(&arena, 100);
	struct arena_mark mark = arena_mark(&arena);
	size_t used = arena_used(&arena);
	void *first = arena_push(&arena, 50);
	for (int i = 0; i < 100; i++)
		ck_assert_ptr_nonnull(arena_push(&arena, 5000));
	arena_rewind(&arena, mark);
	ck_assert_uint_eq(arena_used(&arena), used);
	ck_assert_ptr_eq(arena_push(&arena, 50), first);
	ck_assert_ptr_ne(before, first);
	ck_assert_uint_ge(arena.peak, 100 * 5000);
	arena_release(&arena);
}
END_TEST

START_TEST(an_arena_that_grew_becomes_one_block_when_it_is_empty)
{
	struct arena arena;
	ck_assert_int_eq(arena_init(&arena, 64), STATUS_OK);
	struct arena_mark start = arena_mark(&arena);
	for (int i = 0; i < 200; i++)
		ck_assert_ptr_nonnull(arena_push(&arena, 10000));
	size_t peak = arena.peak;
	arena_rewind(&arena, start);
	int64_t live = heap_live();
	ck_assert_int_eq(arena_reserve(&arena, 64), STATUS_OK);
	ck_assert_int_lt(heap_live(), live);
	arena_rewind(&arena, start); /* the old mark of the empty arena still works */
	uint64_t calls = heap_calls();
	for (int i = 0; i < 200; i++)
		ck_assert_ptr_nonnull(arena_push(&arena, 10000));
	ck_assert_uint_eq(heap_calls(), calls);
	ck_assert_uint_eq(arena.peak, peak);
	arena_release(&arena);
}
END_TEST

START_TEST(a_failed_allocation_is_reported_and_leaves_the_arena_usable)
{
	struct arena arena;
	heap_fail_at(1);
	ck_assert_int_eq(arena_init(&arena, 100), STATUS_NO_MEMORY);
	ck_assert_int_eq(arena_reserve(&arena, 100), STATUS_OK);
	heap_fail_at(1);
	ck_assert_ptr_null(arena_push(&arena, 1 << 20));
	ck_assert_ptr_null(arena_push_array(&arena, SIZE_MAX / 2, 3));
	ck_assert_ptr_null(arena_push(&arena, SIZE_MAX));
	ck_assert_int_eq(arena_reserve(&arena, SIZE_MAX), STATUS_NO_MEMORY);
	ck_assert_uint_eq(arena_used(&arena), 0);
	ck_assert_ptr_nonnull(arena_push(&arena, 100));
	ck_assert_ptr_nonnull(arena_push(&arena, 0));
	arena_release(&arena);
}
END_TEST

START_TEST(typed_pieces_are_aligned_and_zeroed_pieces_are_zero)
{
	struct arena arena;
	ck_assert_int_eq(arena_init(&arena, 0), STATUS_OK);
	memset(arena_push(&arena, 800), 0xff, 800);
	arena_reset(&arena);
	uint64_t *zero = arena_push_zero(&arena, 800);
	for (int i = 0; i < 100; i++)
		ck_assert_uint_eq(zero[i], 0);
	double *numbers = ARENA_ARRAY(&arena, double, 10);
	ck_assert_ptr_nonnull(numbers);
	ck_assert_uint_eq(arena_used(&arena), 832 + 128);
	arena_release(&arena);
	ck_assert_uint_eq(arena_used(&arena), 0);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("arena");
	TCase *all = tcase_create("arena");
	tcase_add_test(all, pushes_within_a_reservation_make_no_heap_call);
	tcase_add_test(all, pieces_are_aligned_and_do_not_overlap);
	tcase_add_test(all, rewinding_gives_the_same_memory_again);
	tcase_add_test(all, an_arena_that_grew_becomes_one_block_when_it_is_empty);
	tcase_add_test(all, a_failed_allocation_is_reported_and_leaves_the_arena_usable);
	tcase_add_test(all, typed_pieces_are_aligned_and_zeroed_pieces_are_zero);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
