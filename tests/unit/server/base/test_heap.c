/* The heap, arrays and rings: calls and blocks are counted, the n-th call can be made to fail, and a
 * failed call changes nothing. */
#include "server/base/heap.h"

#include <string.h>

#include "server/base/array.h"
#include "server/base/ring.h"
#include "tests/lib/check_main.h"

START_TEST(every_allocating_call_is_counted_and_every_block_is_given_back)
{
	uint64_t calls = heap_calls(), total = heap_calls_total();
	int64_t live = heap_live();
	void *a = heap_alloc(10), *b = heap_alloc_zero(20), *c = heap_alloc_aligned(30);
	ck_assert(a != NULL && b != NULL && c != NULL);
	a = heap_realloc(a, 1000);
	ck_assert_ptr_nonnull(a);
	ck_assert_uint_eq(heap_calls() - calls, 4);
	ck_assert_uint_ge(heap_calls_total() - total, 4);
	ck_assert_int_eq(heap_live() - live, 3);
	heap_free(a);
	heap_free(b);
	heap_free(c);
	heap_free(NULL);
	ck_assert_int_eq(heap_live(), live);
}
END_TEST

START_TEST(blocks_of_zero_bytes_are_valid_and_distinct)
{
	void *a = heap_alloc(0), *b = heap_alloc_zero(0), *c = heap_alloc_aligned(0);
	void *d = heap_realloc(NULL, 0);
	ck_assert(a && b && c && d && a != b && c != d);
	heap_free(a);
	heap_free(b);
	heap_free(c);
	heap_free(d);
}
END_TEST

START_TEST(aligned_blocks_are_aligned_and_zeroed_blocks_are_zero)
{
	for (size_t bytes = 1; bytes < 300; bytes += 7) {
		uint8_t *line = heap_alloc_aligned(bytes), *zero = heap_alloc_zero(bytes);
		ck_assert(line && zero);
		ck_assert_uint_eq((uintptr_t)line % HEAP_LINE_BYTES, 0);
		ck_assert_uint_eq((uintptr_t)zero % 16, 0);
		for (size_t i = 0; i < bytes; i++)
			ck_assert_uint_eq(zero[i], 0);
		memset(line, 0xa5, bytes);
		heap_free(line);
		heap_free(zero);
	}
}
END_TEST

START_TEST(exactly_the_nth_call_fails)
{
	for (uint64_t n = 1; n <= 4; n++) {
		heap_fail_at(n);
		for (uint64_t i = 1; i <= 6; i++) {
			ck_assert(heap_fail_pending() == (i <= n));
			void *block = heap_alloc(8);
			ck_assert((block == NULL) == (i == n));
			heap_free(block);
		}
	}
	heap_fail_at(1);
	heap_fail_at(0);
	void *block = heap_alloc(8);
	ck_assert_ptr_nonnull(block);
	heap_free(block);
}
END_TEST

START_TEST(a_failed_realloc_leaves_the_block)
{
	char *block = heap_alloc(4);
	ck_assert_ptr_nonnull(block);
	memcpy(block, "abc", 4);
	heap_fail_at(1);
	ck_assert_ptr_null(heap_realloc(block, 4096));
	ck_assert_str_eq(block, "abc");
	heap_free(block);
}
END_TEST

START_TEST(an_impossible_size_is_refused)
{
	ck_assert_ptr_null(heap_alloc_aligned(SIZE_MAX - 8));
}
END_TEST

START_TEST(an_array_keeps_its_items_while_it_grows)
{
	ARRAY_OF(uint64_t) numbers = { 0 };
	for (uint64_t i = 0; i < 10000; i++) {
		ck_assert_int_eq(ARRAY_RESERVE(&numbers, numbers.count + 1), STATUS_OK);
		numbers.items[numbers.count++] = i * i;
	}
	for (uint64_t i = 0; i < 10000; i++)
		ck_assert_uint_eq(numbers.items[i], i * i);
	ARRAY_RELEASE(&numbers);
	ck_assert(numbers.items == NULL && numbers.count == 0 && numbers.capacity == 0);
}
END_TEST

START_TEST(an_array_that_cannot_grow_is_unchanged)
{
	ARRAY_OF(uint32_t) numbers = { 0 };
	ck_assert_int_eq(ARRAY_RESERVE(&numbers, 4), STATUS_OK);
	uint32_t capacity = numbers.capacity, *items = numbers.items;
	heap_fail_at(1);
	ck_assert_int_eq(ARRAY_RESERVE(&numbers, capacity + 1), STATUS_NO_MEMORY);
	ck_assert_int_eq(ARRAY_RESERVE(&numbers, (uint64_t)UINT32_MAX + 1), STATUS_NO_MEMORY);
	ck_assert(numbers.items == items && numbers.capacity == capacity);
	ARRAY_RELEASE(&numbers);
}
END_TEST

START_TEST(a_ring_returns_items_in_order_and_reports_when_it_is_full)
{
	uint32_t storage[5], in = 0, out = 0, item;
	struct ring ring;
	ring_init(&ring, storage, 5, sizeof storage[0]);
	for (int round = 0; round < 100; round++) {
		while (ring_push(&ring, &in) == STATUS_OK)
			in++;
		ck_assert_uint_eq(ring.count, 5);
		for (int i = 0; i < round % 5 + 1; i++) {
			ck_assert_uint_eq(*(uint32_t *)ring_at(&ring, 0), out);
			ck_assert(ring_pop(&ring, &item));
			ck_assert_uint_eq(item, out++);
		}
	}
	ck_assert_ptr_null(ring_at(&ring, ring.count));
	ring_reset(&ring);
	ck_assert(!ring_pop(&ring, &item));
}
END_TEST

START_TEST(a_ring_without_capacity_is_full_and_empty)
{
	struct ring ring;
	int item = 1;
	ring_init(&ring, NULL, 0, sizeof item);
	ck_assert_int_eq(ring_push(&ring, &item), STATUS_FULL);
	ck_assert(!ring_pop(&ring, &item));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("heap");
	TCase *heap = tcase_create("heap");
	tcase_add_test(heap, every_allocating_call_is_counted_and_every_block_is_given_back);
	tcase_add_test(heap, blocks_of_zero_bytes_are_valid_and_distinct);
	tcase_add_test(heap, aligned_blocks_are_aligned_and_zeroed_blocks_are_zero);
	tcase_add_test(heap, exactly_the_nth_call_fails);
	tcase_add_test(heap, a_failed_realloc_leaves_the_block);
	tcase_add_test(heap, an_impossible_size_is_refused);
	suite_add_tcase(suite, heap);
	TCase *on_it = tcase_create("arrays and rings");
	tcase_add_test(on_it, an_array_keeps_its_items_while_it_grows);
	tcase_add_test(on_it, an_array_that_cannot_grow_is_unchanged);
	tcase_add_test(on_it, a_ring_returns_items_in_order_and_reports_when_it_is_full);
	tcase_add_test(on_it, a_ring_without_capacity_is_full_and_empty);
	suite_add_tcase(suite, on_it);
	return suite;
}

int main(void)
{
	return check_main(make);
}
