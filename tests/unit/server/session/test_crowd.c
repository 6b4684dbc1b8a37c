/* How many connections one address may have. */
#include <check.h>
#include <string.h>

#include "server/session/crowd.h"
#include "tests/lib/check_main.h"

static struct peer from(enum address_kind kind, uint8_t last, uint8_t middle, bool local)
{
	struct peer peer = { .kind = kind, .local = local };
	peer.octets[0] = 10;
	peer.octets[kind == ADDRESS_TCP4 ? 3 : 15] = last;
	peer.octets[kind == ADDRESS_TCP4 ? 2 : 7] = middle;
	return peer;
}

START_TEST(an_address_has_its_places_and_no_more_and_gets_them_back)
{
	struct crowd crowd;
	struct peer one = from(ADDRESS_TCP4, 1, 0, false), other = from(ADDRESS_TCP4, 2, 0, false);
	crowd_init(&crowd, 3, 5);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(crowd_enter(&crowd, &one), STATUS_OK);
	ck_assert_int_eq(crowd_enter(&crowd, &one), STATUS_FULL);
	ck_assert_int_eq(crowd_enter(&crowd, &other), STATUS_OK);
	/* Who has said HELLO makes room for another that has not. */
	crowd_greeted(&crowd, &one);
	crowd_greeted(&crowd, &one);
	ck_assert_int_eq(crowd_enter(&crowd, &one), STATUS_OK);
	ck_assert_int_eq(crowd_enter(&crowd, &one), STATUS_OK);
	ck_assert_uint_eq(crowd_of(&crowd, &one), 5);
	crowd_greeted(&crowd, &one);
	ck_assert_int_eq(crowd_enter(&crowd, &one), STATUS_FULL);
	crowd_leave(&crowd, &one, false);
	ck_assert_int_eq(crowd_enter(&crowd, &one), STATUS_OK);
	ck_assert_uint_eq(crowd.refused, 2);
	crowd_leave(&crowd, &other, true);
	ck_assert_uint_eq(crowd_of(&crowd, &other), 0);
	crowd_release(&crowd);
}
END_TEST

START_TEST(nothing_is_kept_of_addresses_that_have_gone)
{
	struct crowd crowd;
	crowd_init(&crowd, 0, 0);
	for (int round = 0; round < 4; round++) {
		for (int k = 0; k < 250; k++) {
			struct peer peer = from(ADDRESS_TCP4, (uint8_t)k, (uint8_t)round, false);
			ck_assert_int_eq(crowd_enter(&crowd, &peer), STATUS_OK);
			if (k % 2 == 0)
				crowd_greeted(&crowd, &peer);
		}
		for (int k = 0; k < 250; k++) {
			struct peer peer = from(ADDRESS_TCP4, (uint8_t)k, (uint8_t)round, false);
			crowd_leave(&crowd, &peer, k % 2 != 0);
		}
		ck_assert_uint_eq(crowd.counts.count, 0);
	}
	crowd_release(&crowd);
}
END_TEST

START_TEST(a_network_of_ipv6_is_one_address)
{
	struct crowd crowd;
	struct peer one = from(ADDRESS_TCP6, 1, 7, false), near = from(ADDRESS_TCP6, 2, 7, false);
	struct peer far = from(ADDRESS_TCP6, 1, 8, false);
	crowd_init(&crowd, 1, 0);
	ck_assert_int_eq(crowd_enter(&crowd, &one), STATUS_OK);
	ck_assert_int_eq(crowd_enter(&crowd, &near), STATUS_FULL);
	ck_assert_int_eq(crowd_enter(&crowd, &far), STATUS_OK);
	crowd_release(&crowd);
}
END_TEST

START_TEST(this_machine_is_counted_only_where_a_bound_is_set)
{
	struct crowd crowd;
	struct peer here = from(ADDRESS_TCP4, 1, 0, true), there = from(ADDRESS_TCP4, 1, 0, false);
	struct peer file = { .kind = ADDRESS_UNIX, .local = true };
	crowd_init(&crowd, 0, 0);
	for (int i = 0; i < 2 * CROWD_GREETINGS; i++) {
		ck_assert_int_eq(crowd_enter(&crowd, &here), STATUS_OK);
		ck_assert_int_eq(crowd_enter(&crowd, &there),
				 i < CROWD_GREETINGS ? STATUS_OK : STATUS_FULL);
	}
	crowd_release(&crowd);
	crowd_init(&crowd, 1, 0);
	ck_assert_int_eq(crowd_enter(&crowd, &here), STATUS_OK);
	ck_assert_int_eq(crowd_enter(&crowd, &here), STATUS_FULL);
	ck_assert_int_eq(crowd_enter(&crowd, &file), STATUS_OK);
	ck_assert_int_eq(crowd_enter(&crowd, &file), STATUS_OK);
	crowd_release(&crowd);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("crowd");
	TCase *cases = tcase_create("addresses");
	tcase_add_test(cases, an_address_has_its_places_and_no_more_and_gets_them_back);
	tcase_add_test(cases, nothing_is_kept_of_addresses_that_have_gone);
	tcase_add_test(cases, a_network_of_ipv6_is_one_address);
	tcase_add_test(cases, this_machine_is_counted_only_where_a_bound_is_set);
	suite_add_tcase(suite, cases);
	return suite;
}

int main(void)
{
	return check_main(make);
}
