/* Who comes in with which token, how often, and how a file is taken in place of another. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "server/session/keyring.h"
#include "tests/lib/check_main.h"

#define SECRET "000102030405060708090a0b0c0d0e0f"
#define OTHER "f00102030405060708090a0b0c0d0e0f"
static const uint8_t KEY[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
enum { NOW = 1700000000 };

static struct keyring ring;
static struct reason why;

static void setup(void)
{
	keyring_init(&ring);
}

static void teardown(void)
{
	keyring_release(&ring);
}

static enum status load(const char *text)
{
	return keyring_load(&ring, text, strlen(text), &why);
}

static enum status admit(const char *token, uint64_t now_s, struct grant *grant)
{
	struct wire_slice slice = { .at = (const uint8_t *)token, .bytes = (uint32_t)strlen(token) };
	why.text[0] = '\0';
	return keyring_admit(&ring, slice, now_s, grant, &why);
}

static const char *issue(uint32_t key, uint32_t nonce, enum wire_role role, uint64_t expires_s)
{
	static char text[TOKEN_TEXT_MAX + 1];
	struct connect_token token = { .role = role, .key = key, .expires_s = expires_s };
	memcpy(token.nonce, &nonce, sizeof nonce);
	ck_assert_int_eq(token_write(&token, KEY, sizeof KEY, text), STATUS_OK);
	return text;
}

static void add_bearer(char *file, size_t bytes, const char *name, const char *role, const char *token,
		       const char *worlds)
{
	uint8_t hash[32];
	size_t used = strlen(file);
	hash_sha256(token, strlen(token), hash);
	used += (size_t)snprintf(file + used, bytes - used, "bearer %s %s ", name, role);
	for (int i = 0; i < 32; i++)
		used += (size_t)snprintf(file + used, bytes - used, "%02x", hash[i]);
	snprintf(file + used, bytes - used, " %s\n", worlds);
}

START_TEST(a_bearer_is_who_the_file_says_where_it_says)
{
	char file[1024] = "# who may come in\n\n";
	struct grant grant;
	add_bearer(file, sizeof file, "grafana", "observer", "correct horse battery", "");
	add_bearer(file, sizeof file, "ops", "admin", "another long secret", "arena lobby # both");
	ck_assert_int_eq(load(file), STATUS_OK);
	ck_assert_int_eq(admit("correct horse battery", NOW, &grant), STATUS_OK);
	ck_assert_int_eq(grant.role, WIRE_ROLE_OBSERVER);
	ck_assert_str_eq(grant.name, "grafana");
	ck_assert(grant_has_world(&grant, "anything"));
	/* As often as one likes. */
	ck_assert_int_eq(admit("another long secret", NOW, &grant), STATUS_OK);
	ck_assert_int_eq(admit("another long secret", NOW, &grant), STATUS_OK);
	ck_assert_int_eq(grant.role, WIRE_ROLE_ADMIN);
	ck_assert(grant_has_world(&grant, "arena") && grant_has_world(&grant, "lobby"));
	ck_assert(!grant_has_world(&grant, "lob") && !grant_has_world(&grant, "anything"));
	ck_assert(grant_has_world(NULL, "anything"));
	static const char *const NOT[] = { "", "correct horse batterz", "correct horse battery ",
					   "b1.AAAA", "c1.AAAA", "grafana" };
	for (size_t i = 0; i < COUNT_OF(NOT); i++)
		ck_assert_int_eq(admit(NOT[i], NOW, &grant), STATUS_AUTH);
}
END_TEST

START_TEST(a_short_secret_is_nobodys_token)
{
	char file[512] = "";
	struct grant grant;
	add_bearer(file, sizeof file, "weak", "admin", "short", "");
	ck_assert_int_eq(load(file), STATUS_OK);
	ck_assert_int_eq(admit("short", NOW, &grant), STATUS_AUTH);
}
END_TEST

START_TEST(a_connect_token_is_good_once_and_until_it_expires)
{
	struct grant grant;
	ck_assert_int_eq(load("key 7 " SECRET "\n"), STATUS_OK);
	ck_assert_int_eq(admit(issue(7, 1, WIRE_ROLE_PLAYER, NOW + 60), NOW, &grant), STATUS_OK);
	ck_assert_int_eq(grant.role, WIRE_ROLE_PLAYER);
	ck_assert_str_eq(grant.name, "key 7");
	ck_assert_int_eq(admit(issue(7, 1, WIRE_ROLE_PLAYER, NOW + 60), NOW, &grant), STATUS_AUTH);
	ck_assert_ptr_nonnull(strstr(why.text, "used"));
	/* The same nonce under other words is as used. */
	ck_assert_int_eq(admit(issue(7, 1, WIRE_ROLE_OBSERVER, NOW + 90), NOW, &grant), STATUS_AUTH);
	ck_assert_int_eq(admit(issue(7, 2, WIRE_ROLE_PLAYER, NOW + 60), NOW + 59, &grant), STATUS_OK);
	ck_assert_int_eq(admit(issue(7, 3, WIRE_ROLE_PLAYER, NOW + 60), NOW + 60, &grant), STATUS_AUTH);
	ck_assert_int_eq(admit(issue(7, 4, WIRE_ROLE_PLAYER, NOW + KEYRING_LIFE_S + 1), NOW, &grant),
			 STATUS_AUTH);
	ck_assert_int_eq(admit(issue(8, 5, WIRE_ROLE_PLAYER, NOW + 60), NOW, &grant), STATUS_AUTH);
}
END_TEST

START_TEST(a_key_signs_for_its_role_and_no_more)
{
	struct grant grant;
	ck_assert_int_eq(load("key 1 " SECRET "\nkey 2 " SECRET " observer\nkey 3 " SECRET " admin"),
			 STATUS_OK);
	ck_assert_int_eq(admit(issue(1, 1, WIRE_ROLE_CONTROLLER, NOW + 9), NOW, &grant), STATUS_AUTH);
	ck_assert_int_eq(admit(issue(2, 1, WIRE_ROLE_PLAYER, NOW + 9), NOW, &grant), STATUS_AUTH);
	ck_assert_int_eq(admit(issue(2, 2, WIRE_ROLE_OBSERVER, NOW + 9), NOW, &grant), STATUS_OK);
	ck_assert_int_eq(admit(issue(3, 1, WIRE_ROLE_ADMIN, NOW + 9), NOW, &grant), STATUS_OK);
}
END_TEST

START_TEST(keys_are_changed_by_another_file_and_used_tokens_stay_used)
{
	struct grant grant;
	ck_assert_int_eq(load("key 1 " SECRET), STATUS_OK);
	ck_assert_int_eq(admit(issue(1, 1, WIRE_ROLE_PLAYER, NOW + 60), NOW, &grant), STATUS_OK);
	ck_assert_int_eq(load("key 1 " SECRET "\nkey 2 " SECRET), STATUS_OK);
	ck_assert_int_eq(admit(issue(1, 1, WIRE_ROLE_PLAYER, NOW + 60), NOW, &grant), STATUS_AUTH);
	ck_assert_int_eq(admit(issue(2, 1, WIRE_ROLE_PLAYER, NOW + 60), NOW, &grant), STATUS_OK);
	ck_assert_int_eq(load("key 1 " OTHER), STATUS_OK);
	ck_assert_int_eq(admit(issue(1, 2, WIRE_ROLE_PLAYER, NOW + 60), NOW, &grant), STATUS_AUTH);
	ck_assert_int_eq(admit(issue(2, 2, WIRE_ROLE_PLAYER, NOW + 60), NOW, &grant), STATUS_AUTH);
}
END_TEST

START_TEST(a_file_with_one_wrong_line_changes_nothing_and_names_it)
{
	static const char *const WRONG[] = {
		"key", "key 1", "key x " SECRET, "key 99999999999 " SECRET, "key 1 abc", "key 1 00",
		"key 1 " SECRET "0", "key 1 zz0102030405060708090a0b0c0d0e0f", "key 1 " SECRET " king",
		"key 1 " SECRET " player more", "key 2 " SECRET "\nkey 2 " OTHER, "bearer a observer",
		"bearer a observer " SECRET, "bearer a king " SECRET SECRET, "secret x",
		"bearer a observer " SECRET SECRET " 1 2 3 4 5 6 7 8 9", "\x01",
	};
	struct grant grant;
	ck_assert_int_eq(load("key 1 " SECRET), STATUS_OK);
	for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
		char file[512];
		snprintf(file, sizeof file, "# fine\nkey 9 " SECRET "\n%s\n", WRONG[i]);
		ck_assert_int_eq(load(file), STATUS_TYPE);
		ck_assert_int_ge(why.index, 3);
		ck_assert_ptr_null(strstr(why.text, SECRET));
		ck_assert_int_eq(admit(issue(1, (uint32_t)i, WIRE_ROLE_PLAYER, NOW + 60), NOW, &grant),
				 STATUS_OK);
		ck_assert_int_eq(admit(issue(9, (uint32_t)i, WIRE_ROLE_PLAYER, NOW + 60), NOW, &grant),
				 STATUS_AUTH);
	}
}
END_TEST

START_TEST(memory_of_used_tokens_is_bounded_and_forgets_only_what_has_expired)
{
	struct grant grant;
	ck_assert_int_eq(load("key 1 " SECRET), STATUS_OK);
	for (uint32_t i = 0; i < KEYRING_NONCES_MAX; i++)
		ck_assert_int_eq(admit(issue(1, i, WIRE_ROLE_PLAYER, NOW + 60 + i % 2), NOW, &grant),
				 STATUS_OK);
	ck_assert_int_eq(admit(issue(1, 1u << 20, WIRE_ROLE_PLAYER, NOW + 60), NOW, &grant), STATUS_BUSY);
	ck_assert_int_eq(admit(issue(1, 5, WIRE_ROLE_PLAYER, NOW + 61), NOW, &grant), STATUS_AUTH);
	/* Half of them have gone by then; the others are still known. */
	ck_assert_int_eq(admit(issue(1, 1u << 20, WIRE_ROLE_PLAYER, NOW + 90), NOW + 60, &grant), STATUS_OK);
	for (uint32_t i = 1; i < KEYRING_NONCES_MAX; i += 2)
		ck_assert_int_eq(admit(issue(1, i, WIRE_ROLE_PLAYER, NOW + 61), NOW + 60, &grant),
				 STATUS_AUTH);
	ck_assert_uint_le(ring.nonce_room, 4 * KEYRING_NONCES_MAX);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("keyring");
	TCase *cases = tcase_create("tokens");
	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, a_bearer_is_who_the_file_says_where_it_says);
	tcase_add_test(cases, a_short_secret_is_nobodys_token);
	tcase_add_test(cases, a_connect_token_is_good_once_and_until_it_expires);
	tcase_add_test(cases, a_key_signs_for_its_role_and_no_more);
	tcase_add_test(cases, keys_are_changed_by_another_file_and_used_tokens_stay_used);
	tcase_add_test(cases, a_file_with_one_wrong_line_changes_nothing_and_names_it);
	tcase_add_test(cases, memory_of_used_tokens_is_bounded_and_forgets_only_what_has_expired);
	suite_add_tcase(suite, cases);
	return suite;
}

int main(void)
{
	return check_main(make);
}
