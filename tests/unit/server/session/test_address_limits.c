/* test_address_limits.c: connections per address, before and after HELLO. */
#include <check.h>
#include <string.h>

#include "server/session/address_limits.h"
#include "tests/lib/check_main.h"

static struct peer peer_at(enum address_kind kind, uint8_t last, uint8_t middle, bool local)
{
	struct peer peer = { .kind = kind, .local = local };
	peer.octets[0] = 10;
	peer.octets[kind == ADDRESS_TCP4 ? 3 : 15] = last;
	peer.octets[kind == ADDRESS_TCP4 ? 2 : 7] = middle;
	return peer;
}

START_TEST(an_address_has_a_limit_and_a_closed_connection_frees_a_place)
{
	struct address_limits limits;
	struct peer one = peer_at(ADDRESS_TCP4, 1, 0, false),
		    other = peer_at(ADDRESS_TCP4, 2, 0, false);
	address_limits_init(&limits, 3, 5);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(address_limits_add(&limits, &one), STATUS_OK);
	ck_assert_int_eq(address_limits_add(&limits, &one), STATUS_FULL);
	ck_assert_int_eq(address_limits_add(&limits, &other), STATUS_OK);
	/* A connection that has sent HELLO frees a place for another before HELLO. */
	address_limits_greeted(&limits, &one);
	address_limits_greeted(&limits, &one);
	ck_assert_int_eq(address_limits_add(&limits, &one), STATUS_OK);
	ck_assert_int_eq(address_limits_add(&limits, &one), STATUS_OK);
	ck_assert_uint_eq(address_limits_count(&limits, &one), 5);
	address_limits_greeted(&limits, &one);
	ck_assert_int_eq(address_limits_add(&limits, &one), STATUS_FULL);
	address_limits_remove(&limits, &one, false);
	ck_assert_int_eq(address_limits_add(&limits, &one), STATUS_OK);
	ck_assert_uint_eq(limits.refused, 2);
	address_limits_remove(&limits, &other, true);
	ck_assert_uint_eq(address_limits_count(&limits, &other), 0);
	address_limits_release(&limits);
}
END_TEST

START_TEST(addresses_without_connections_take_no_memory)
{
	struct address_limits limits;
	address_limits_init(&limits, 0, 0);
	for (int round = 0; round < 4; round++) {
		for (int k = 0; k < 250; k++) {
			struct peer peer = peer_at(ADDRESS_TCP4, (uint8_t)k, (uint8_t)round, false);
			ck_assert_int_eq(address_limits_add(&limits, &peer), STATUS_OK);
			if (k % 2 == 0)
				address_limits_greeted(&limits, &peer);
		}
		for (int k = 0; k < 250; k++) {
			struct peer peer = peer_at(ADDRESS_TCP4, (uint8_t)k, (uint8_t)round, false);
			address_limits_remove(&limits, &peer, k % 2 != 0);
		}
		ck_assert_uint_eq(limits.counts.count, 0);
	}
	address_limits_release(&limits);
}
END_TEST

START_TEST(an_ipv6_network_counts_as_one_address)
{
	struct address_limits limits;
	struct peer one = peer_at(ADDRESS_TCP6, 1, 7, false),
		    near = peer_at(ADDRESS_TCP6, 2, 7, false);
	struct peer far = peer_at(ADDRESS_TCP6, 1, 8, false);
	address_limits_init(&limits, 1, 0);
	ck_assert_int_eq(address_limits_add(&limits, &one), STATUS_OK);
	ck_assert_int_eq(address_limits_add(&limits, &near), STATUS_FULL);
	ck_assert_int_eq(address_limits_add(&limits, &far), STATUS_OK);
	address_limits_release(&limits);
}
END_TEST

START_TEST(local_peers_are_counted_only_if_a_limit_is_set_for_them)
{
	struct address_limits limits;
	struct peer here = peer_at(ADDRESS_TCP4, 1, 0, true),
		    there = peer_at(ADDRESS_TCP4, 1, 0, false);
	struct peer file = { .kind = ADDRESS_UNIX, .local = true };
	address_limits_init(&limits, 0, 0);
	for (int i = 0; i < 2 * ADDRESS_GREETINGS; i++) {
		ck_assert_int_eq(address_limits_add(&limits, &here), STATUS_OK);
		ck_assert_int_eq(address_limits_add(&limits, &there),
				 i < ADDRESS_GREETINGS ? STATUS_OK : STATUS_FULL);
	}
	address_limits_release(&limits);
	address_limits_init(&limits, 1, 0);
	ck_assert_int_eq(address_limits_add(&limits, &here), STATUS_OK);
	ck_assert_int_eq(address_limits_add(&limits, &here), STATUS_FULL);
	ck_assert_int_eq(address_limits_add(&limits, &file), STATUS_OK);
	ck_assert_int_eq(address_limits_add(&limits, &file), STATUS_OK);
	address_limits_release(&limits);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("address limits");
	TCase *cases = tcase_create("addresses");
	tcase_add_test(cases, an_address_has_a_limit_and_a_closed_connection_frees_a_place);
	tcase_add_test(cases, addresses_without_connections_take_no_memory);
	tcase_add_test(cases, an_ipv6_network_counts_as_one_address);
	tcase_add_test(cases, local_peers_are_counted_only_if_a_limit_is_set_for_them);
	suite_add_tcase(suite, cases);
	return suite;
}

int main(void)
{
	return check_main(make);
}
