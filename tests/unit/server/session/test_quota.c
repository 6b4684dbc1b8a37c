/* test_quota.c: token buckets: rates by role, bursts, and the end of a session that stays over its
 * quota. */
#include "server/session/quota.h"

#include "tests/lib/check_main.h"

/* Takes one token every `every` ns for `time`; returns how many it got. */
static uint64_t take_for(struct quota *quota, enum quota_kind kind, uint64_t *now, uint64_t every,
			 uint64_t time)
{
	uint64_t got = 0;
	for (uint64_t end = *now + time; *now < end; *now += every)
		got += quota_take(quota, kind, 1, *now);
	return got;
}

START_TEST(a_bucket_gives_its_rate_and_a_burst_of_two_seconds)
{
	struct quota quota;
	uint64_t now = 5 * NS_PER_S;
	quota_init(&quota, WIRE_ROLE_PLAYER, now);
	double rate = quota.rate[QUOTA_QUERIES];
	uint64_t got = take_for(&quota, QUOTA_QUERIES, &now, 100 * NS_PER_US, 10 * NS_PER_S);
	ck_assert_double_eq_tol((double)got, 12 * rate, 2);
	ck_assert(!quota_take(&quota, QUOTA_QUERIES, 2 * rate + 1, now + 100 * NS_PER_S));
	ck_assert(quota_take(&quota, QUOTA_QUERIES, 2 * rate, now + 100 * NS_PER_S));
}
END_TEST

START_TEST(a_refused_request_takes_no_tokens)
{
	struct quota quota;
	quota_init(&quota, WIRE_ROLE_PLAYER, 0);
	double all = 2 * quota.rate[QUOTA_COMMANDS];
	ck_assert(!quota_take(&quota, QUOTA_COMMANDS, all + 1, 0));
	ck_assert(quota_take(&quota, QUOTA_COMMANDS, all, 0));
	ck_assert(!quota_take(&quota, QUOTA_COMMANDS, 1, 0));
	ck_assert_uint_eq(quota.refusals, 2);
}
END_TEST

START_TEST(only_an_unbroken_excess_of_one_kind_ends_a_session)
{
	struct quota quota;
	uint64_t now = 0;
	quota_init(&quota, WIRE_ROLE_PLAYER, now);
	/* Far over the quota of frames, while bytes are within theirs. */
	for (; now < (QUOTA_SUSTAINED_MS - 100) * NS_PER_MS; now += 100 * NS_PER_US) {
		(void)quota_take(&quota, QUOTA_FRAMES, 1, now);
		ck_assert(quota_take(&quota, QUOTA_BYTES, 1, now));
		ck_assert(!quota_exhausted(&quota, now));
	}
	(void)take_for(&quota, QUOTA_FRAMES, &now, 100 * NS_PER_US, 2 * NS_PER_S);
	ck_assert(quota_exhausted(&quota, now));
	/* An excess with a pause in it never ends the session. */
	quota_init(&quota, WIRE_ROLE_PLAYER, now);
	for (int i = 0; i < 10; i++) {
		(void)take_for(&quota, QUOTA_FRAMES, &now, 100 * NS_PER_US, 3 * NS_PER_S);
		now += 2 * NS_PER_S;
		(void)quota_take(&quota, QUOTA_FRAMES, 1, now);
		ck_assert(!quota_exhausted(&quota, now));
	}
}
END_TEST

START_TEST(every_role_has_at_least_what_the_one_below_it_has)
{
	struct quota lower, higher;
	for (int role = WIRE_ROLE_NOBODY; role < WIRE_ROLE_ADMIN; role++) {
		quota_init(&lower, (enum wire_role)role, 0);
		quota_init(&higher, (enum wire_role)(role + 1), 0);
		for (int kind = 0; kind < QUOTA_KINDS; kind++)
			ck_assert_double_ge(higher.rate[kind], lower.rate[kind]);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/session/quota");
	TCase *buckets = tcase_create("buckets");
	tcase_add_test(buckets, a_bucket_gives_its_rate_and_a_burst_of_two_seconds);
	tcase_add_test(buckets, a_refused_request_takes_no_tokens);
	tcase_add_test(buckets, only_an_unbroken_excess_of_one_kind_ends_a_session);
	tcase_add_test(buckets, every_role_has_at_least_what_the_one_below_it_has);
	suite_add_tcase(suite, buckets);
	return suite;
}

int main(void)
{
	return check_main(make);
}
