/* test_allowance.c: allowances: shares, the pool of a role, overdrafts and refunds. */
#include "server/sync/allowance.h"

#include "tests/lib/check_main.h"

enum { SESSIONS = 100 };

/* Spends one unit at a time while that is permitted; returns how many. */
static uint64_t spend_all(struct allowance *self, uint64_t now)
{
	uint64_t count = 0;
	for (; allowance_permits(self, now); count++)
		allowance_spend(self, 1);
	return count;
}

START_TEST(without_an_allowance_everything_is_permitted)
{
	struct allowance none = { 0 };
	ck_assert(allowance_permits(NULL, 0));
	ck_assert(allowance_permits(&none, 0));
	allowance_spend(NULL, 1e9);
	allowance_spend(&none, 1e9);
	ck_assert(allowance_permits(&none, 0));
	ck_assert(!allowance_is_far_over(&none));
}
END_TEST

START_TEST(one_session_spends_at_its_own_rate_in_the_long_run)
{
	struct allowance_pool pool;
	struct allowance one;
	allowance_pool_init(&pool, 1e6, 0);
	allowance_init(&one, &pool, 1e5, 0);
	uint64_t count = 0;
	for (uint64_t now = 0; now <= 10 * NS_PER_S; now += NS_PER_MS)
		count += spend_all(&one, now);
	ck_assert_double_eq_tol((double)count, 1e6 + 1e5 / 8, 2e4);
	ck_assert_uint_eq(pool.spent, count);
}
END_TEST

/* A frame is paid for before it is encoded; what it did not cost is refunded. */
START_TEST(a_refund_restores_every_bucket)
{
	struct allowance_pool pool;
	struct allowance one, other;
	allowance_pool_init(&pool, 1e6, 0);
	allowance_init(&one, &pool, 1e6, 0);
	allowance_init(&other, &pool, 1e6, 0);
	uint64_t now = NS_PER_S;
	ck_assert(allowance_permits(&one, now) && allowance_permits(&other, now));
	double left = allowance_left(&one, now), others = allowance_left(&other, now),
	       share = one.share;
	/* Costs from half its share up to all that is left, so that the pool pays a part, too. */
	for (double cost = share / 2; cost < left; cost += share / 2) {
		uint64_t spent = pool.spent;
		allowance_spend(&one, cost);
		ck_assert_uint_eq(pool.spent, spent + (uint64_t)cost);
		ck_assert_double_lt(allowance_left(&one, now), left);
		allowance_spend(&one, -cost);
		ck_assert_uint_eq(pool.spent, spent);
		ck_assert_double_eq_tol(one.share, share, 1e-6);
		ck_assert_double_eq_tol(allowance_left(&one, now), left, 1e-6);
		ck_assert_double_eq_tol(allowance_left(&other, now), others, 1e-6);
	}
	/* A refund never fills a bucket beyond its capacity. */
	allowance_spend(&one, -1e9);
	ck_assert_double_le(allowance_left(&one, now), left + 1e-6);
	ck_assert_double_le(allowance_left(&other, now), others + 1e-6);
}
END_TEST

/* Sessions that spend all they can together get the role's rate. A session that spends no more than
 * its share gets it all, whatever the others spend and whatever its place in the order. */
START_TEST(a_session_gets_its_share_beside_sessions_that_spend_all)
{
	struct allowance_pool pool;
	struct allowance all[SESSIONS];
	allowance_pool_init(&pool, 1e6, 0);
	for (int i = 0; i < SESSIONS; i++)
		allowance_init(&all[i], &pool, 6e5, 0);
	struct allowance *modest = &all[SESSIONS - 1];
	uint64_t spent_by_others = 0, served = 0, asked = 0;
	for (uint64_t now = 0; now < 10 * NS_PER_S; now += 10 * NS_PER_MS) {
		for (int i = 0; i < SESSIONS - 1; i++)
			spent_by_others += spend_all(&all[i], now);
		/* Its share: half of the rate divided by all sessions, 5000 a second. */
		asked++;
		if (allowance_permits(modest, now)) {
			allowance_spend(modest, 49);
			served++;
		}
	}
	ck_assert_uint_eq(served, asked);
	ck_assert_double_le((double)spent_by_others + 49.0 * (double)served,
			    1e6 * 10.2 + SESSIONS * 100);
	ck_assert_double_ge((double)spent_by_others, 1e6 * 9);
}
END_TEST

START_TEST(an_overdraft_is_paid_before_the_next_frame)
{
	struct allowance_pool pool;
	struct allowance one;
	allowance_pool_init(&pool, 1e6, 0);
	allowance_init(&one, &pool, 1e6, 0);
	allowance_spend(&one, 1e6); /* the burst was 125 000 */
	ck_assert(allowance_is_far_over(&one));
	ck_assert(!allowance_permits(&one, 500 * NS_PER_MS));
	ck_assert_double_eq(allowance_left(&one, 600 * NS_PER_MS), 0);
	ck_assert(allowance_permits(&one, 2500 * NS_PER_MS));
	ck_assert(!allowance_is_far_over(&one));
}
END_TEST

START_TEST(a_refund_restores_the_time_until_the_next_frame)
{
	struct allowance_pool pool;
	struct allowance one;
	allowance_pool_init(&pool, 1e6, 0);
	allowance_init(&one, &pool, 1e6, 0);
	double before = allowance_left(&one, 0);
	allowance_spend(&one, 5e4);
	allowance_spend(&one, -5e4);
	ck_assert_double_eq_tol(allowance_left(&one, 0), before, 1e-6);
}
END_TEST

START_TEST(the_share_of_an_ended_session_goes_to_the_others)
{
	struct allowance_pool pool;
	struct allowance a, b;
	allowance_pool_init(&pool, 1e6, 0);
	allowance_init(&a, &pool, 1e6, 0);
	allowance_init(&b, &pool, 1e6, 0);
	allowance_release(&b);
	allowance_release(&b);
	ck_assert_uint_eq(pool.members, 1);
	ck_assert(allowance_permits(&b, 0));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/sync/allowance");
	TCase *buckets = tcase_create("buckets");
	tcase_add_test(buckets, without_an_allowance_everything_is_permitted);
	tcase_add_test(buckets, one_session_spends_at_its_own_rate_in_the_long_run);
	tcase_add_test(buckets, a_refund_restores_every_bucket);
	tcase_add_test(buckets, a_session_gets_its_share_beside_sessions_that_spend_all);
	tcase_add_test(buckets, an_overdraft_is_paid_before_the_next_frame);
	tcase_add_test(buckets, a_refund_restores_the_time_until_the_next_frame);
	tcase_add_test(buckets, the_share_of_an_ended_session_goes_to_the_others);
	suite_add_tcase(suite, buckets);
	return suite;
}

int main(void)
{
	return check_main(make);
}
