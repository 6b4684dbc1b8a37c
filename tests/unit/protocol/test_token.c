/* Connect tokens to the byte, and their parts: HMAC-SHA-256 (RFC 4231), base64url (RFC 4648). */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "protocol/token.h"
#include "server/base/bytes.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"

static struct wire_slice slice(const char *text)
{
	return (struct wire_slice){ .at = (const uint8_t *)text, .bytes = (uint32_t)strlen(text) };
}

static void hex(const uint8_t *data, size_t bytes, char *out)
{
	for (size_t i = 0; i < bytes; i++)
		snprintf(out + 2 * i, 3, "%02x", data[i]);
}

START_TEST(hmac_is_that_of_rfc_4231)
{
	uint8_t key[131], mac[32];
	char text[65];
	memset(key, 0x0b, 20);
	hash_hmac_sha256(key, 20, "Hi There", 8, mac);
	hex(mac, 32, text);
	ck_assert_str_eq(text, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	hash_hmac_sha256((const uint8_t *)"Jefe", 4, "what do ya want for nothing?", 28, mac);
	hex(mac, 32, text);
	ck_assert_str_eq(text, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, sizeof key);
	hash_hmac_sha256(key, sizeof key, "Test Using Larger Than Block-Size Key - Hash Key First",
			 54, mac);
	hex(mac, 32, text);
	ck_assert_str_eq(text, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}
END_TEST

START_TEST(two_digests_are_equal_only_if_every_byte_is)
{
	uint8_t a[32] = { 1, 2, 3 }, b[32] = { 1, 2, 3 };
	ck_assert(hash_same(a, b, 32));
	for (int i = 0; i < 32; i++) {
		b[i] ^= 0x80;
		ck_assert(!hash_same(a, b, 32));
		b[i] ^= 0x80;
	}
}
END_TEST

START_TEST(base64url_follows_rfc_4648_and_has_one_text_per_token)
{
	static const char *const CASES[][2] = { { "", "" },	      { "f", "Zg" },
						{ "fo", "Zm8" },      { "foo", "Zm9v" },
						{ "foob", "Zm9vYg" }, { "fooba", "Zm9vYmE" },
						{ "\xfb\xff", "-_8" } };
	for (size_t i = 0; i < COUNT_OF(CASES); i++) {
		char text[16];
		uint8_t back[16];
		size_t bytes;
		const char *plain = CASES[i][0], *letters = CASES[i][1];
		token_encode((const uint8_t *)plain, strlen(plain), text);
		ck_assert_str_eq(text, letters);
		ck_assert(
			token_decode((const uint8_t *)letters, strlen(letters), back, 16, &bytes));
		ck_assert_uint_eq(bytes, strlen(plain));
		ck_assert_mem_eq(back, plain, bytes);
	}
	static const char *const NONE[] = { "Z",     "Zh",   "Zm9",  "Zg==",
					    "Zm9v ", "Zm+v", "Zm/v", "Zm9vY" };
	for (size_t i = 0; i < COUNT_OF(NONE); i++) {
		uint8_t back[16];
		size_t bytes;
		ck_assert(
			!token_decode((const uint8_t *)NONE[i], strlen(NONE[i]), back, 16, &bytes));
	}
	uint8_t little[2];
	size_t bytes;
	ck_assert(!token_decode((const uint8_t *)"Zm9v", 4, little, 2, &bytes));
}
END_TEST

static const uint8_t KEY[32] = { 0,  1,	 2,  3,	 4,  5,	 6,  7,	 8,  9,	 10, 11, 12, 13, 14, 15,
				 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 };

static struct connect_token example(void)
{
	struct connect_token token = { .role = WIRE_ROLE_PLAYER,
				       .key = 7,
				       .expires_s = 1700000060,
				       .world_count = 1,
				       .worlds = { "arena" } };
	for (int i = 0; i < TOKEN_NONCE_BYTES; i++)
		token.nonce[i] = (uint8_t)(0xa0 + i);
	return token;
}

/* The worked example of docs/PROTOCOL.md. */
START_TEST(the_example_equals_that_of_the_page)
{
	struct connect_token token = example(), back;
	char text[TOKEN_TEXT_MAX + 1], bytes[2 * TOKEN_BYTES_MAX + 1];
	ck_assert_int_eq(token_write(&token, KEY, sizeof KEY, text), STATUS_OK);
	ck_assert_int_eq(token_read(slice(text), &back), STATUS_OK);
	hex(back.bytes, back.signed_bytes, bytes);
	ck_assert_str_eq(bytes, "010200000007000000006553f13ca0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
				"01056172656e61");
	ck_assert_str_eq(text, "c1.AQIAAAAHAAAAAGVT8TygoaKjpKWmp6ipqqusra6vAQVhcmVuYVYy8rlGZrhV0"
			       "lnzn_btzu807_gJlbdOA56HeGEk_14P");
}
END_TEST

START_TEST(a_written_token_is_genuine_under_its_key_alone)
{
	struct rng rng = rng_seeded(check_seed());
	for (int round = 0; round < 200; round++) {
		struct connect_token token = { .role = (enum wire_role)(1 + rng_below(&rng, 4)),
					       .key = (uint32_t)rng_u64(&rng),
					       .expires_s = rng_u64(&rng),
					       .world_count = (uint32_t)rng_below(&rng, 9) },
				     back;
		for (uint32_t i = 0; i < token.world_count; i++)
			memset(token.worlds[i], 'a' + (int)i, 1 + rng_below(&rng, WIRE_NAME_MAX));
		for (int i = 0; i < TOKEN_NONCE_BYTES; i++)
			token.nonce[i] = (uint8_t)rng_u64(&rng);
		char text[TOKEN_TEXT_MAX + 1];
		memset(text, 'x', sizeof text);
		ck_assert_int_eq(token_write(&token, KEY, sizeof KEY, text), STATUS_OK);
		ck_assert_int_eq(token_read(slice(text), &back), STATUS_OK);
		ck_assert_uint_eq(back.key, token.key);
		ck_assert_uint_eq(back.expires_s, token.expires_s);
		ck_assert_int_eq(back.role, token.role);
		ck_assert_uint_eq(back.world_count, token.world_count);
		ck_assert_mem_eq(back.nonce, token.nonce, TOKEN_NONCE_BYTES);
		for (uint32_t i = 0; i < token.world_count; i++)
			ck_assert_str_eq(back.worlds[i], token.worlds[i]);
		ck_assert(token_genuine(&back, KEY, sizeof KEY));
		ck_assert(!token_genuine(&back, KEY, sizeof KEY - 1));
	}
}
END_TEST

START_TEST(a_token_with_one_changed_character_is_not_genuine)
{
	struct connect_token token = example(), back;
	char text[TOKEN_TEXT_MAX + 1];
	ck_assert_int_eq(token_write(&token, KEY, sizeof KEY, text), STATUS_OK);
	for (size_t i = 0; text[i] != '\0'; i++) {
		static const char OTHERS[] = "AZaz09-_.=";
		char kept = text[i];
		for (const char *other = OTHERS; *other != '\0'; other++) {
			text[i] = *other;
			if (*other != kept)
				ck_assert(token_read(slice(text), &back) != STATUS_OK ||
					  !token_genuine(&back, KEY, sizeof KEY));
		}
		text[i] = kept;
	}
	for (size_t length = strlen(text); length-- > 0;) {
		text[length] = '\0';
		ck_assert(token_read(slice(text), &back) != STATUS_OK ||
			  !token_genuine(&back, KEY, sizeof KEY));
	}
}
END_TEST

START_TEST(an_invalid_token_body_is_refused)
{
	struct connect_token back;
	uint8_t bytes[TOKEN_BYTES_MAX] = { 1, 2 };
	char text[TOKEN_TEXT_MAX + 8] = "c1.";
	static const struct {
		size_t at;
		uint8_t value;
	} LIES[] = { { 0, 0 },	 { 0, 2 },  { 1, 0 },
		     { 1, 5 },	 { 30, 1 }, { 30, TOKEN_WORLDS_MAX + 1 },
		     { 30, 255 } };
	const size_t whole = TOKEN_HEAD_BYTES + TOKEN_MAC_BYTES;
	token_encode(bytes, whole, text + 3);
	ck_assert_int_eq(token_read(slice(text), &back), STATUS_OK);
	for (size_t i = 0; i < COUNT_OF(LIES); i++) {
		uint8_t kept = bytes[LIES[i].at];
		bytes[LIES[i].at] = LIES[i].value;
		token_encode(bytes, whole, text + 3);
		ck_assert_int_eq(token_read(slice(text), &back), STATUS_MALFORMED);
		bytes[LIES[i].at] = kept;
	}
	token_encode(bytes, whole - 1, text + 3);
	ck_assert_int_eq(token_read(slice(text), &back), STATUS_MALFORMED);
	token_encode(bytes, whole + 1, text + 3);
	ck_assert_int_eq(token_read(slice(text), &back), STATUS_MALFORMED);
	ck_assert_int_eq(token_read(slice("b1.AAAA"), &back), STATUS_MALFORMED);
	ck_assert_int_eq(token_read(slice("c1."), &back), STATUS_MALFORMED);
	ck_assert_int_eq(token_read(slice(""), &back), STATUS_MALFORMED);
}
END_TEST

START_TEST(invalid_world_names_are_not_written)
{
	static const char *const BAD[] = { "", ".hidden", "a b", "a/b", "\xc3\xa9" };
	for (size_t i = 0; i < COUNT_OF(BAD); i++) {
		struct connect_token token = example();
		char text[TOKEN_TEXT_MAX + 1];
		snprintf(token.worlds[0], sizeof token.worlds[0], "%s", BAD[i]);
		ck_assert_int_eq(token_write(&token, KEY, sizeof KEY, text), STATUS_RANGE);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("token");
	TCase *base = tcase_create("base");
	tcase_add_test(base, hmac_is_that_of_rfc_4231);
	tcase_add_test(base, two_digests_are_equal_only_if_every_byte_is);
	tcase_add_test(base, base64url_follows_rfc_4648_and_has_one_text_per_token);
	suite_add_tcase(suite, base);
	TCase *connect = tcase_create("connect");
	tcase_add_test(connect, the_example_equals_that_of_the_page);
	tcase_add_test(connect, a_written_token_is_genuine_under_its_key_alone);
	tcase_add_test(connect, a_token_with_one_changed_character_is_not_genuine);
	tcase_add_test(connect, an_invalid_token_body_is_refused);
	tcase_add_test(connect, invalid_world_names_are_not_written);
	suite_add_tcase(suite, connect);
	return suite;
}

int main(void)
{
	return check_main(make);
}
