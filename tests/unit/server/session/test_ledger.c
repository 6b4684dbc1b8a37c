/* test_ledger.c: the ledger of batches: new, repeated, pending, expired and out-of-order numbers. */
#include "server/session/ledger.h"

#include <string.h>

#include "server/base/heap.h"
#include "tests/lib/check_main.h"

static uint8_t room[LEDGER_RESULT_BYTES];

static struct wire_slice answer(struct ledger *ledger, uint64_t batch, uint64_t tick)
{
	struct wire_result result = { .batch = batch, .tick = tick, .index = -1 };
	return ledger_answer(ledger, &result, room);
}

/* `at` of a batch that names no tick. */
#define NEXT UINT64_MAX

static enum ledger_verdict offer(struct ledger *ledger, uint64_t batch, uint64_t at,
				 enum status *status, struct wire_slice *packed)
{
	struct reason why = { .status = STATUS_OK };
	enum ledger_verdict verdict = ledger_offer(ledger, batch, at != NEXT, at, packed, &why);
	*status = why.status;
	return verdict;
}

START_TEST(only_the_next_number_is_a_new_batch)
{
	struct ledger ledger = { 0 };
	struct wire_slice packed;
	enum status status;
	ck_assert_int_eq(offer(&ledger, 2, NEXT, &status, &packed), LEDGER_REFUSED);
	ck_assert_int_eq(status, STATUS_SEQUENCE);
	ck_assert_int_eq(offer(&ledger, 0, NEXT, &status, &packed), LEDGER_REFUSED);
	ck_assert_int_eq(status, STATUS_SEQUENCE);
	for (uint64_t batch = 1; batch <= 3; batch++)
		ck_assert_int_eq(offer(&ledger, batch, NEXT, &status, &packed), LEDGER_NEW);
	ck_assert_int_eq(offer(&ledger, 5, NEXT, &status, &packed), LEDGER_REFUSED);
	ck_assert_uint_eq(ledger.last, 3);
	ledger_release(&ledger);
}
END_TEST

START_TEST(a_repeat_waits_for_its_result_and_then_gets_the_same_bytes)
{
	struct ledger ledger = { 0 };
	struct wire_slice packed;
	enum status status;
	uint8_t kept[LEDGER_RESULT_BYTES];
	ck_assert_int_eq(offer(&ledger, 1, NEXT, &status, &packed), LEDGER_NEW);
	ck_assert_int_eq(offer(&ledger, 1, NEXT, &status, &packed), LEDGER_WAITING);
	struct wire_slice first = answer(&ledger, 1, 7);
	ck_assert_uint_gt(first.bytes, 0);
	memcpy(kept, first.at, first.bytes);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(offer(&ledger, 1, NEXT, &status, &packed), LEDGER_REPEATED);
		ck_assert_uint_eq(packed.bytes, first.bytes);
		ck_assert_mem_eq(packed.at, kept, first.bytes);
	}
	/* A batch for a later tick gets a second result, which replaces the first. */
	struct wire_slice second = answer(&ledger, 1, 90);
	memcpy(kept, second.at, second.bytes);
	ck_assert_int_eq(offer(&ledger, 1, NEXT, &status, &packed), LEDGER_REPEATED);
	ck_assert_mem_eq(packed.at, kept, second.bytes);
	ledger_release(&ledger);
}
END_TEST

START_TEST(requested_ticks_never_decrease_within_an_epoch)
{
	struct ledger ledger = { 0 };
	struct wire_slice packed;
	enum status status;
	ck_assert_int_eq(offer(&ledger, 1, 50, &status, &packed), LEDGER_NEW);
	ck_assert_int_eq(offer(&ledger, 2, 49, &status, &packed), LEDGER_REFUSED);
	ck_assert_int_eq(status, STATUS_SEQUENCE);
	ck_assert_int_eq(offer(&ledger, 2, NEXT, &status, &packed), LEDGER_NEW);
	ck_assert_uint_eq(ledger.last_at, 50);
	ck_assert_int_eq(offer(&ledger, 3, 50, &status, &packed), LEDGER_NEW);
	ledger_start_epoch(&ledger);
	ck_assert_int_eq(offer(&ledger, 4, 10, &status, &packed), LEDGER_NEW);
	ledger_release(&ledger);
}
END_TEST

START_TEST(exactly_the_newest_results_are_kept)
{
	struct ledger ledger = { 0 };
	struct wire_slice packed;
	enum status status;
	const uint64_t count = 3 * WIRE_RESULTS_KEPT + 17;
	for (uint64_t batch = 1; batch <= count; batch++) {
		ck_assert_int_eq(offer(&ledger, batch, NEXT, &status, &packed), LEDGER_NEW);
		answer(&ledger, batch, batch * 3);
	}
	for (uint64_t batch = 1; batch <= count; batch++) {
		bool kept = batch + WIRE_RESULTS_KEPT > count;
		ck_assert_int_eq(offer(&ledger, batch, NEXT, &status, &packed),
				 kept ? LEDGER_REPEATED : LEDGER_REFUSED);
		if (!kept) {
			ck_assert_int_eq(status, STATUS_EXPIRED);
			continue;
		}
		struct wire_cursor in = wire_cursor_of(packed);
		struct wire_result result;
		ck_assert_int_eq(result_take(&in, &result), STATUS_OK);
		ck_assert_uint_eq(result.batch, batch);
		ck_assert_uint_eq(result.tick, batch * 3);
	}
	ledger_release(&ledger);
}
END_TEST

START_TEST(a_result_too_late_to_be_kept_is_still_packed)
{
	struct ledger ledger = { 0 };
	struct wire_slice packed;
	enum status status;
	for (uint64_t batch = 1; batch <= WIRE_RESULTS_KEPT + 1; batch++)
		ck_assert_int_eq(offer(&ledger, batch, NEXT, &status, &packed), LEDGER_NEW);
	/* The place of the late result belongs to the newest batch, which is still pending. */
	ck_assert_uint_gt(answer(&ledger, 1, 5).bytes, 0);
	ck_assert_int_eq(offer(&ledger, 1, NEXT, &status, &packed), LEDGER_REFUSED);
	ck_assert_int_eq(status, STATUS_EXPIRED);
	ck_assert_int_eq(offer(&ledger, WIRE_RESULTS_KEPT + 1, NEXT, &status, &packed),
			 LEDGER_WAITING);
	/* A session that sent no batch gets no result in practice; packing one must still work. */
	struct ledger empty = { 0 };
	ck_assert_uint_gt(answer(&empty, 1, 5).bytes, 0);
	ledger_release(&ledger);
}
END_TEST

START_TEST(the_largest_result_fits_and_takes_no_more_than_it_needs)
{
	static uint32_t values[WIRE_BATCH_MAX];
	static char text[97];
	struct ledger ledger = { 0 };
	struct wire_slice packed;
	enum status status;
	memset(values, 0xff, sizeof values);
	memset(text, 'x', sizeof text - 1);
	ck_assert_int_eq(offer(&ledger, 1, NEXT, &status, &packed), LEDGER_NEW);
	struct wire_result result = { .batch = 1,
				      .tick = WIRE_INTEGER_MAX,
				      .index = -1,
				      .values = values,
				      .value_count = WIRE_BATCH_MAX,
				      .field = wire_text("a_field_of_31_bytes_and_no_more"),
				      .text = wire_text(text) };
	struct wire_slice slice = ledger_answer(&ledger, &result, room);
	ck_assert_uint_gt(slice.bytes, 5 * WIRE_BATCH_MAX);
	ck_assert_uint_le(slice.bytes, LEDGER_RESULT_BYTES);
	ck_assert_int_eq(offer(&ledger, 2, NEXT, &status, &packed), LEDGER_NEW);
	answer(&ledger, 2, 1);
	ck_assert_uint_le(ledger.entries[2].packed.capacity, 64);
	ledger_release(&ledger);
}
END_TEST

START_TEST(without_memory_a_repeat_is_expired_and_not_applied_again)
{
	struct ledger ledger = { 0 };
	struct wire_slice packed;
	enum status status;
	heap_fail_at(1);
	ck_assert_int_eq(offer(&ledger, 1, NEXT, &status, &packed), LEDGER_REFUSED);
	ck_assert_int_eq(status, STATUS_NO_MEMORY);
	ck_assert_int_eq(offer(&ledger, 1, NEXT, &status, &packed), LEDGER_NEW);
	heap_fail_at(1);
	ck_assert_uint_gt(answer(&ledger, 1, 4).bytes, 0);
	ck_assert_int_eq(offer(&ledger, 1, NEXT, &status, &packed), LEDGER_REFUSED);
	ck_assert_int_eq(status, STATUS_EXPIRED);
	ledger_release(&ledger);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/session/ledger");
	TCase *order = tcase_create("order");
	tcase_add_test(order, only_the_next_number_is_a_new_batch);
	tcase_add_test(order, requested_ticks_never_decrease_within_an_epoch);
	suite_add_tcase(suite, order);
	TCase *results = tcase_create("results");
	tcase_add_test(results, a_repeat_waits_for_its_result_and_then_gets_the_same_bytes);
	tcase_add_test(results, exactly_the_newest_results_are_kept);
	tcase_add_test(results, a_result_too_late_to_be_kept_is_still_packed);
	tcase_add_test(results, the_largest_result_fits_and_takes_no_more_than_it_needs);
	tcase_add_test(results, without_memory_a_repeat_is_expired_and_not_applied_again);
	suite_add_tcase(suite, results);
	return suite;
}

int main(void)
{
	return check_main(make);
}
