/* test_registry.c: the registry of sessions: numbers, removal, and lookups afterwards. */
#include "server/session/registry.h"

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/session/session.h"
#include "tests/lib/check_main.h"

enum { SESSIONS = 500 };

START_TEST(a_number_finds_its_session_and_is_never_reused)
{
	static struct session sessions[SESSIONS];
	static bool here[SESSIONS];
	struct registry registry;
	struct rng rng = rng_seeded(check_seed());
	uint32_t last = 40, live = 0;
	registry_init(&registry, 41);
	for (int round = 0; round < 20000; round++) {
		uint32_t who = rng_below(&rng, SESSIONS);
		if (here[who]) {
			registry_remove(&registry, sessions[who].number);
			ck_assert_ptr_null(registry_find(&registry, sessions[who].number));
			live--;
		} else {
			ck_assert_int_eq(
				registry_add(&registry, &sessions[who], &sessions[who].number),
				STATUS_OK);
			ck_assert_uint_eq(sessions[who].number, ++last);
			live++;
		}
		here[who] = !here[who];
		ck_assert_uint_eq(registry.items.count, live);
		uint32_t other = rng_below(&rng, SESSIONS);
		if (here[other])
			ck_assert_ptr_eq(registry_find(&registry, sessions[other].number),
					 &sessions[other]);
	}
	ck_assert_uint_eq(registry.opened - registry.closed, live);
	ck_assert_ptr_null(registry_find(&registry, 0));
	registry_remove(&registry, 0); /* 0 is no session: nothing happens */
	registry_release(&registry);
}
END_TEST

START_TEST(without_memory_no_session_is_added_and_no_number_is_skipped)
{
	static struct session session;
	struct registry registry;
	uint32_t number;
	registry_init(&registry, 1);
	for (uint64_t n = 1; n <= 2; n++) {
		heap_fail_at(n);
		ck_assert_int_eq(registry_add(&registry, &session, &number), STATUS_NO_MEMORY);
		ck_assert_uint_eq(registry.items.count, 0);
	}
	ck_assert_int_eq(registry_add(&registry, &session, &number), STATUS_OK);
	ck_assert_uint_eq(number, 1);
	registry_release(&registry);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/session/registry");
	TCase *numbers = tcase_create("numbers");
	tcase_add_test(numbers, a_number_finds_its_session_and_is_never_reused);
	tcase_add_test(numbers, without_memory_no_session_is_added_and_no_number_is_skipped);
	suite_add_tcase(suite, numbers);
	return suite;
}

int main(void)
{
	return check_main(make);
}
