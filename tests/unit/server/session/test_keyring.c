/* test_keyring.c: admission by tokens, single use of connect tokens, and replacing the tokens file. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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
	struct wire_slice slice = { .at = (const uint8_t *)token,
				    .bytes = (uint32_t)strlen(token) };
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

/* Admits a player's token that expires at expires_s, at the time now_s. */
static enum status use_token(uint32_t key, uint32_t nonce, uint64_t expires_s, uint64_t now_s)
{
	struct grant grant;
	return admit(issue(key, nonce, WIRE_ROLE_PLAYER, expires_s), now_s, &grant);
}

static void add_bearer(char *file, size_t bytes, const char *name, const char *role,
		       const char *token, const char *worlds)
{
	uint8_t hash[32];
	size_t used = strlen(file);
	hash_sha256(token, strlen(token), hash);
	used += (size_t)snprintf(file + used, bytes - used, "bearer %s %s ", name, role);
	for (int i = 0; i < 32; i++)
		used += (size_t)snprintf(file + used, bytes - used, "%02x", hash[i]);
	snprintf(file + used, bytes - used, " %s\n", worlds);
}

START_TEST(a_bearer_has_the_role_and_worlds_of_its_line)
{
	char file[1024] = "# admission\n\n";
	struct grant grant;
	add_bearer(file, sizeof file, "grafana", "observer", "correct horse battery", "");
	add_bearer(file, sizeof file, "ops", "admin", "another long secret", "arena lobby # both");
	ck_assert_int_eq(load(file), STATUS_OK);
	ck_assert_int_eq(admit("correct horse battery", NOW, &grant), STATUS_OK);
	ck_assert_int_eq(grant.role, WIRE_ROLE_OBSERVER);
	ck_assert_str_eq(grant.name, "grafana");
	ck_assert(grant_allows_world(&grant, "anything"));
	/* A bearer token may be used any number of times. */
	ck_assert_int_eq(admit("another long secret", NOW, &grant), STATUS_OK);
	ck_assert_int_eq(admit("another long secret", NOW, &grant), STATUS_OK);
	ck_assert_int_eq(grant.role, WIRE_ROLE_ADMIN);
	ck_assert(grant_allows_world(&grant, "arena") && grant_allows_world(&grant, "lobby"));
	ck_assert(!grant_allows_world(&grant, "lob") && !grant_allows_world(&grant, "anything"));
	ck_assert(grant_allows_world(NULL, "anything"));
	static const char *const NOT[] = {
		"",	  "correct horse batterz", "correct horse battery ", "b1.AAAA", "c1.AAAA",
		"grafana"
	};
	for (size_t i = 0; i < COUNT_OF(NOT); i++)
		ck_assert_int_eq(admit(NOT[i], NOW, &grant), STATUS_AUTH);
}
END_TEST

START_TEST(a_token_below_the_minimum_length_is_refused)
{
	char file[512] = "";
	struct grant grant;
	add_bearer(file, sizeof file, "weak", "admin", "short", "");
	ck_assert_int_eq(load(file), STATUS_OK);
	ck_assert_int_eq(admit("short", NOW, &grant), STATUS_AUTH);
}
END_TEST

START_TEST(a_connect_token_is_admitted_once_and_before_it_expires)
{
	struct grant grant;
	ck_assert_int_eq(load("key 7 " SECRET "\n"), STATUS_OK);
	ck_assert_int_eq(admit(issue(7, 1, WIRE_ROLE_PLAYER, NOW + 60), NOW, &grant), STATUS_OK);
	ck_assert_int_eq(grant.role, WIRE_ROLE_PLAYER);
	ck_assert_str_eq(grant.name, "key 7");
	ck_assert_int_eq(admit(issue(7, 1, WIRE_ROLE_PLAYER, NOW + 60), NOW, &grant), STATUS_AUTH);
	ck_assert_ptr_nonnull(strstr(why.text, "used"));
	/* A used nonce stays used for a token with another role and expiry. */
	ck_assert_int_eq(admit(issue(7, 1, WIRE_ROLE_OBSERVER, NOW + 90), NOW, &grant),
			 STATUS_AUTH);
	ck_assert_int_eq(admit(issue(7, 2, WIRE_ROLE_PLAYER, NOW + 60), NOW + 59, &grant),
			 STATUS_OK);
	ck_assert_int_eq(admit(issue(7, 3, WIRE_ROLE_PLAYER, NOW + 60), NOW + 60, &grant),
			 STATUS_AUTH);
	ck_assert_int_eq(
		admit(issue(7, 4, WIRE_ROLE_PLAYER, NOW + KEYRING_LIFE_S + 1), NOW, &grant),
		STATUS_AUTH);
	ck_assert_int_eq(admit(issue(8, 5, WIRE_ROLE_PLAYER, NOW + 60), NOW, &grant), STATUS_AUTH);
}
END_TEST

START_TEST(a_key_signs_tokens_up_to_its_role)
{
	struct grant grant;
	ck_assert_int_eq(
		load("key 1 " SECRET "\nkey 2 " SECRET " observer\nkey 3 " SECRET " admin"),
		STATUS_OK);
	ck_assert_int_eq(admit(issue(1, 1, WIRE_ROLE_CONTROLLER, NOW + 9), NOW, &grant),
			 STATUS_AUTH);
	ck_assert_int_eq(admit(issue(2, 1, WIRE_ROLE_PLAYER, NOW + 9), NOW, &grant), STATUS_AUTH);
	ck_assert_int_eq(admit(issue(2, 2, WIRE_ROLE_OBSERVER, NOW + 9), NOW, &grant), STATUS_OK);
	ck_assert_int_eq(admit(issue(3, 1, WIRE_ROLE_ADMIN, NOW + 9), NOW, &grant), STATUS_OK);
}
END_TEST

START_TEST(keys_are_replaced_by_a_new_file_and_used_tokens_stay_used)
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
		"key",
		"key 1",
		"key x " SECRET,
		"key 99999999999 " SECRET,
		"key 1 abc",
		"key 1 00",
		"key 1 " SECRET "0",
		"key 1 zz0102030405060708090a0b0c0d0e0f",
		"key 1 " SECRET " king",
		"key 1 " SECRET " player more",
		"key 2 " SECRET "\nkey 2 " OTHER,
		"bearer a observer",
		"bearer a observer " SECRET,
		"bearer a king " SECRET SECRET,
		"secret x",
		"bearer a observer " SECRET SECRET " 1 2 3 4 5 6 7 8 9",
		"\x01",
	};
	struct grant grant;
	ck_assert_int_eq(load("key 1 " SECRET), STATUS_OK);
	for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
		char file[512];
		snprintf(file, sizeof file, "# fine\nkey 9 " SECRET "\n%s\n", WRONG[i]);
		ck_assert_int_eq(load(file), STATUS_TYPE);
		ck_assert_int_ge(why.index, 3);
		ck_assert_ptr_null(strstr(why.text, SECRET));
		ck_assert_int_eq(
			admit(issue(1, (uint32_t)i, WIRE_ROLE_PLAYER, NOW + 60), NOW, &grant),
			STATUS_OK);
		ck_assert_int_eq(
			admit(issue(9, (uint32_t)i, WIRE_ROLE_PLAYER, NOW + 60), NOW, &grant),
			STATUS_AUTH);
	}
}
END_TEST

START_TEST(the_list_of_used_tokens_is_bounded_and_forgets_expired_ones_only)
{
	struct grant grant;
	ck_assert_int_eq(load("key 1 " SECRET "\nkey 2 " SECRET), STATUS_OK);
	for (uint32_t i = 0; i < NONCES_MAX; i++)
		ck_assert_int_eq(
			admit(issue(1, i, WIRE_ROLE_PLAYER, NOW + 60 + i % 2), NOW, &grant),
			STATUS_OK);
	ck_assert_int_eq(admit(issue(1, 1u << 20, WIRE_ROLE_PLAYER, NOW + 60), NOW, &grant),
			 STATUS_BUSY);
	/* The bound is that of one key: a token of the other key is admitted. */
	ck_assert_int_eq(admit(issue(2, 1u << 20, WIRE_ROLE_PLAYER, NOW + 60), NOW, &grant),
			 STATUS_OK);
	ck_assert_int_eq(admit(issue(1, 5, WIRE_ROLE_PLAYER, NOW + 61), NOW, &grant), STATUS_AUTH);
	/* At NOW + 60 half of the tokens have expired and are forgotten; the others are still in
	 * the list. */
	ck_assert_int_eq(admit(issue(1, 1u << 20, WIRE_ROLE_PLAYER, NOW + 90), NOW + 60, &grant),
			 STATUS_OK);
	for (uint32_t i = 1; i < NONCES_MAX; i += 2)
		ck_assert_int_eq(admit(issue(1, i, WIRE_ROLE_PLAYER, NOW + 61), NOW + 60, &grant),
				 STATUS_AUTH);
	ck_assert_uint_le(ring.nonces.sets.items[0].room, 4 * NONCES_MAX);
}
END_TEST

START_TEST(a_used_token_stays_refused_when_the_clock_is_set_back)
{
	ck_assert_int_eq(load("key 1 " SECRET), STATUS_OK);
	for (uint32_t i = 0; i < 500; i++)
		ck_assert_int_eq(use_token(1, i, NOW + 60 + i % 3, NOW), STATUS_OK);
	/* An hour later these tokens are forgotten, because the list needs the space. */
	for (uint32_t i = 1000; i < 4000; i++)
		ck_assert_int_eq(use_token(1, i, NOW + 3700, NOW + 3600), STATUS_OK);
	for (uint32_t i = 0; i < 500; i++)
		ck_assert_int_eq(use_token(1, i, NOW + 60 + i % 3, NOW), STATUS_AUTH);
	/* A nonce that was never used is admitted. */
	ck_assert_int_eq(use_token(1, 9999, NOW + 90, NOW), STATUS_OK);
}
END_TEST

START_TEST(a_checked_token_is_not_used_up)
{
	struct grant grant;
	const char *token = issue(1, 1, WIRE_ROLE_PLAYER, NOW + 60);
	struct wire_slice slice = { .at = (const uint8_t *)token,
				    .bytes = (uint32_t)strlen(token) };
	ck_assert_int_eq(load("key 1 " SECRET), STATUS_OK);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(keyring_check(&ring, slice, NOW, &grant, &why), STATUS_OK);
	ck_assert_int_eq(keyring_use(&ring, &grant, NOW, &why), STATUS_OK);
	ck_assert_int_eq(keyring_use(&ring, &grant, NOW, &why), STATUS_AUTH);
	ck_assert_int_eq(keyring_check(&ring, slice, NOW, &grant, &why), STATUS_AUTH);
}
END_TEST

/* As a new process does: an empty keyring that reads the used tokens from the directory. */
static void restart(const char *directory, uint64_t now_s)
{
	keyring_release(&ring);
	keyring_init(&ring);
	ck_assert_int_eq(load("key 1 " SECRET "\nkey 2 " SECRET), STATUS_OK);
	ck_assert_int_eq(keyring_persist(&ring, directory, now_s, &why), STATUS_OK);
}

START_TEST(used_tokens_survive_a_restart_with_a_damaged_file)
{
	char directory[] = "/tmp/cairn-used-XXXXXX", path[64];
	struct stat found;
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof path, "%s/cairnd.tokens", directory);
	restart(directory, NOW);
	for (uint32_t i = 1; i <= 9000; i++)
		ck_assert_int_eq(use_token(1 + i % 2, i, NOW + (i < 8000 ? 60 : 600), NOW),
				 STATUS_OK);
	ck_assert_int_eq(stat(path, &found), 0);
	ck_assert_uint_eq(found.st_mode & 0777, 0600);
	ck_assert_int_eq(found.st_size, 9000 * USED_TOKEN_BYTES);
	/* A record in the middle is damaged, and the last is torn. */
	FILE *file = fopen(path, "r+b");
	fseek(file, 5 * USED_TOKEN_BYTES + 14, SEEK_SET);
	fputc(0xee, file);
	fclose(file);
	ck_assert_int_eq(truncate(path, found.st_size - 7), 0);
	restart(directory, NOW);
	uint32_t again = 0;
	for (uint32_t i = 1; i < 9000; i++)
		again += use_token(1 + i % 2, i, NOW + (i < 8000 ? 60 : 600), NOW) == STATUS_OK;
	ck_assert_uint_eq(again, 1);
	/* At NOW + 300 most tokens have expired and the file is rewritten; then the clock is set
	 * back to NOW. */
	restart(directory, NOW + 300);
	for (uint32_t i = 20000; i < 20100; i++)
		ck_assert_int_eq(use_token(1 + i % 2, i, NOW + 400, NOW + 300), STATUS_OK);
	ck_assert_int_eq(stat(path, &found), 0);
	ck_assert_int_lt(found.st_size, 2000 * USED_TOKEN_BYTES);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 1; i < 9000; i += 7)
			ck_assert_int_eq(use_token(1 + i % 2, i, NOW + (i < 8000 ? 60 : 600), NOW),
					 STATUS_AUTH);
		restart(directory, NOW);
	}
	ck_assert_int_eq(use_token(1, 77777, NOW + 90, NOW), STATUS_OK);
	keyring_release(&ring);
	unlink(path);
	rmdir(directory);
}
END_TEST

START_TEST(a_token_whose_use_cannot_be_written_is_refused)
{
	char directory[] = "/tmp/cairn-used-XXXXXX", path[64];
	struct rlimit limit, none;
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof path, "%s/cairnd.tokens", directory);
	restart(directory, NOW);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	none = limit;
	none.rlim_cur = USED_TOKEN_BYTES + 10;
	setrlimit(RLIMIT_FSIZE, &none);
	ck_assert_int_eq(use_token(1, 1, NOW + 60, NOW), STATUS_OK);
	ck_assert_int_eq(use_token(1, 2, NOW + 60, NOW), STATUS_IO);
	setrlimit(RLIMIT_FSIZE, &limit);
	/* The refused token was not used, and its partial record does not damage the next one. */
	ck_assert_int_eq(use_token(1, 2, NOW + 60, NOW), STATUS_OK);
	restart(directory, NOW);
	for (uint32_t i = 1; i <= 2; i++)
		ck_assert_int_eq(use_token(1, i, NOW + 60, NOW), STATUS_AUTH);
	keyring_release(&ring);
	unlink(path);
	rmdir(directory);
}
END_TEST

START_TEST(a_session_ends_if_its_bearer_line_is_gone_or_grants_less)
{
	static const struct {
		const char *role, *worlds;
		bool held;
	} CASES[] = {
		{ "player", "arena lobby", true },
		{ "player", "lobby arena more", true },
		{ "player", "", true },
		{ "admin", "arena lobby", true },
		{ "observer", "arena lobby", false },
		{ "player", "arena", false },
	};
	char file[1024] = "";
	struct grant grant;
	add_bearer(file, sizeof file, "ann", "player", "a token of some length", "arena lobby");
	ck_assert_int_eq(load(file), STATUS_OK);
	ck_assert_int_eq(admit("a token of some length", NOW, &grant), STATUS_OK);
	for (size_t i = 0; i < COUNT_OF(CASES); i++) {
		file[0] = '\0';
		add_bearer(file, sizeof file, "ann2", CASES[i].role, "a token of some length",
			   CASES[i].worlds);
		ck_assert_int_eq(load(file), STATUS_OK);
		ck_assert_msg(keyring_holds(&ring, &grant) == CASES[i].held, "case %zu", i);
	}
	ck_assert_int_eq(load(""), STATUS_OK);
	ck_assert(!keyring_holds(&ring, &grant));
}
END_TEST

START_TEST(a_grant_allows_the_worlds_it_names_and_no_others)
{
	static const char *const others[] = { "abc", "a", "abd", "Ab", "ab.", "", "b", "cd" };
	struct grant grant = { .role = WIRE_ROLE_PLAYER,
			       .world_count = 2,
			       .worlds = { "ab", "cde" } };
	ck_assert(grant_allows_world(&grant, "ab") && grant_allows_world(&grant, "cde"));
	for (uint32_t i = 0; i < COUNT_OF(others); i++)
		ck_assert_msg(!grant_allows_world(&grant, others[i]), "allows %s", others[i]);
	grant.world_count = 0;
	ck_assert(grant_allows_world(&grant, "abc") && grant_allows_world(NULL, "abc"));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("keyring");
	TCase *cases = tcase_create("tokens");
	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, a_bearer_has_the_role_and_worlds_of_its_line);
	tcase_add_test(cases, a_token_below_the_minimum_length_is_refused);
	tcase_add_test(cases, a_connect_token_is_admitted_once_and_before_it_expires);
	tcase_add_test(cases, a_key_signs_tokens_up_to_its_role);
	tcase_add_test(cases, keys_are_replaced_by_a_new_file_and_used_tokens_stay_used);
	tcase_add_test(cases, a_file_with_one_wrong_line_changes_nothing_and_names_it);
	tcase_add_test(cases, the_list_of_used_tokens_is_bounded_and_forgets_expired_ones_only);
	tcase_add_test(cases, a_used_token_stays_refused_when_the_clock_is_set_back);
	tcase_add_test(cases, a_checked_token_is_not_used_up);
	tcase_add_test(cases, used_tokens_survive_a_restart_with_a_damaged_file);
	tcase_add_test(cases, a_token_whose_use_cannot_be_written_is_refused);
	tcase_add_test(cases, a_session_ends_if_its_bearer_line_is_gone_or_grants_less);
	tcase_add_test(cases, a_grant_allows_the_worlds_it_names_and_no_others);
	suite_add_tcase(suite, cases);
	return suite;
}

int main(void)
{
	return check_main(make);
}
