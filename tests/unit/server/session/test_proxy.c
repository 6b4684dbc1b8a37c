/* test_proxy.c: the PROXY protocol, versions 1 and 2: valid headers, headers cut anywhere, and
 * other bytes. */
#include "server/session/proxy.h"

#include "server/base/rng.h"
#include "tests/lib/check_main.h"

#include <stdio.h>
#include <string.h>

static const uint8_t V2_IP4[] = { 0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49,
				  0x54, 0x0a, 0x21, 0x11, 0,	12,   203,  0,	  113,	7,
				  192,	0,    2,    1,	  0xc3, 0x50, 0x1c, 0xf3 };
static const uint8_t V2_LOCAL[] = { 0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51,
				    0x55, 0x49, 0x54, 0x0a, 0x20, 0,	0,    0 };
static struct peer peer;
static size_t bytes;

static struct peer balancer(void)
{
	struct peer at = { .kind = ADDRESS_TCP4, .octets = { 127, 0, 0, 1 }, .local = true };
	snprintf(at.text, sizeof at.text, "tcp:127.0.0.1:9");
	return at;
}

static enum status read_bytes(const void *data, size_t count)
{
	peer = balancer();
	bytes = 0;
	/* A block of exactly `count` bytes, so that a sanitizer reports a read beyond its end. */
	uint8_t copy[PROXY_HEADER_MAX * 2];
	memcpy(copy + sizeof copy - count, data, count);
	return proxy_read(copy + sizeof copy - count, count, &bytes, &peer);
}

static enum status read_text(const char *text)
{
	return read_bytes(text, strlen(text));
}

START_TEST(the_stated_source_becomes_the_peer)
{
	ck_assert_int_eq(read_text("PROXY TCP4 203.0.113.7 192.0.2.1 50000 7411\r\nmore"),
			 STATUS_OK);
	ck_assert_uint_eq(bytes, strlen("PROXY TCP4 203.0.113.7 192.0.2.1 50000 7411\r\n"));
	ck_assert_str_eq(peer.text, "tcp:203.0.113.7:50000");
	ck_assert_uint_eq(peer.octets[0], 203);
	/* The source is not local, and the balancer is responsible for encryption on the way to it. */
	ck_assert(!peer.local && peer.secure);
	ck_assert_int_eq(read_text("PROXY TCP6 2001:db8::7 2001:db8::1 50000 7411\r\n"), STATUS_OK);
	ck_assert_str_eq(peer.text, "tcp:[2001:db8::7]:50000");
	ck_assert_int_eq(read_bytes(V2_IP4, sizeof V2_IP4), STATUS_OK);
	ck_assert_uint_eq(bytes, sizeof V2_IP4);
	ck_assert_str_eq(peer.text, "tcp:203.0.113.7:50000");
}
END_TEST

START_TEST(a_stated_source_is_never_local)
{
	static const char *const HEADERS[] = {
		"PROXY TCP4 127.0.0.1 192.0.2.1 50000 7411\r\n",
		"PROXY TCP6 ::1 ::1 50000 7411\r\n",
		"PROXY TCP6 ::ffff:127.0.0.1 ::1 50000 7411\r\n",
		"PROXY UNKNOWN\r\n",
	};
	for (size_t i = 0; i < COUNT_OF(HEADERS); i++) {
		ck_assert_int_eq(read_text(HEADERS[i]), STATUS_OK);
		ck_assert_msg(!peer.local && !peer.known && peer.secure, "%s", HEADERS[i]);
	}
	ck_assert_int_eq(read_bytes(V2_LOCAL, sizeof V2_LOCAL), STATUS_OK);
	ck_assert(!peer.local);
	uint8_t unix_family[sizeof V2_IP4];
	memcpy(unix_family, V2_IP4, sizeof unix_family);
	unix_family[13] = 0x31;
	ck_assert_int_eq(read_bytes(unix_family, sizeof unix_family), STATUS_OK);
	ck_assert(!peer.local);
}
END_TEST

START_TEST(an_ipv4_mapped_source_becomes_the_ipv4_source)
{
	ck_assert_int_eq(read_text("PROXY TCP6 ::ffff:203.0.113.7 ::1 50000 7411\r\n"), STATUS_OK);
	ck_assert_int_eq(peer.kind, ADDRESS_TCP4);
	ck_assert_str_eq(peer.text, "tcp:203.0.113.7:50000");
	ck_assert_uint_eq(peer.octets[0], 203);
	ck_assert_uint_eq(peer.octets[4], 0);
}
END_TEST

START_TEST(a_header_without_a_source_leaves_the_balancer_as_the_peer)
{
	ck_assert_int_eq(read_text("PROXY UNKNOWN\r\n"), STATUS_OK);
	ck_assert_str_eq(peer.text, "tcp:127.0.0.1:9");
	ck_assert_int_eq(read_text("PROXY UNKNOWN ff::1 ff::2 1 2\r\n"), STATUS_OK);
	ck_assert_int_eq(read_bytes(V2_LOCAL, sizeof V2_LOCAL), STATUS_OK);
	ck_assert_uint_eq(bytes, sizeof V2_LOCAL);
	ck_assert_str_eq(peer.text, "tcp:127.0.0.1:9");
}
END_TEST

START_TEST(every_beginning_of_a_header_needs_more_bytes)
{
	static const char V1[] = "PROXY TCP4 203.0.113.7 192.0.2.1 50000 7411\r\n";
	for (size_t i = 0; i < sizeof V1 - 1; i++)
		ck_assert_int_eq(read_bytes(V1, i), STATUS_AGAIN);
	for (size_t i = 0; i < sizeof V2_IP4; i++)
		ck_assert_int_eq(read_bytes(V2_IP4, i), STATUS_AGAIN);
}
END_TEST

START_TEST(bytes_that_are_not_a_header_are_refused)
{
	static const char *const WRONG[] = {
		"GET / HTTP/1.1\r\n\r\n",
		"\xc6",
		"PROXY\r\n\r\n ",
		"PROXY TCP4\r\n",
		"PROXY TCP4 1.2.3.4 5.6.7.8 1\r\n",
		"PROXY TCP4 1.2.3.4 5.6.7.8 70000 1\r\n",
		"PROXY TCP4 ::1 ::2 1 2\r\n",
		"PROXY TCP6 1.2.3.4 5.6.7.8 1 2\r\n",
		"PROXY UDP4 1.2.3.4 5.6.7.8 1 2\r\n",
		"PROXY TCP4 1.2.3.4 5.6.7.8 1 2 3\r\n",
		"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\n",
		"PROXY UNKNOWNS\r\n",
	};
	char longest[200];
	uint8_t block[sizeof V2_IP4];
	for (size_t i = 0; i < COUNT_OF(WRONG); i++)
		ck_assert_msg(read_text(WRONG[i]) == STATUS_MALFORMED, "%s", WRONG[i]);
	memset(longest, ' ', sizeof longest);
	memcpy(longest, "PROXY ", 6);
	ck_assert_int_eq(read_bytes(longest, sizeof longest), STATUS_MALFORMED);
	for (int wrong = 0; wrong < 3; wrong++) {
		memcpy(block, V2_IP4, sizeof block);
		block[wrong == 0 ? 12 : 13 + wrong] = wrong == 0 ? 0x31 : wrong == 1 ? 0xff : 4;
		ck_assert_int_eq(read_bytes(block, sizeof block), STATUS_MALFORMED);
	}
}
END_TEST

START_TEST(random_bytes_are_accepted_refused_or_incomplete)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t read = 0;
	for (uint32_t round = 0; round < 20000; round++) {
		uint8_t data[64];
		size_t count = rng_below(&rng, sizeof data + 1);
		for (size_t i = 0; i < count; i++)
			data[i] = (uint8_t)rng_below(&rng, 256);
		/* Three of four begin as a header does. */
		if (rng_below(&rng, 4) > 0)
			memcpy(data, V2_IP4, MIN_OF(count, sizeof V2_IP4));
		if (count > 0 && rng_below(&rng, 2) > 0) {
			size_t at = rng_below(&rng, (uint32_t)count);
			data[at] ^= (uint8_t)(1u << rng_below(&rng, 8));
		}
		enum status status = read_bytes(data, count);
		read += status == STATUS_OK;
		ck_assert(status == STATUS_OK || status == STATUS_AGAIN ||
			  status == STATUS_MALFORMED);
		ck_assert(status != STATUS_OK || (bytes > 0 && bytes <= count));
	}
	ck_assert_uint_gt(read, 1000);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("proxy");
	TCase *headers = tcase_create("headers");
	tcase_add_test(headers, the_stated_source_becomes_the_peer);
	tcase_add_test(headers, a_stated_source_is_never_local);
	tcase_add_test(headers, an_ipv4_mapped_source_becomes_the_ipv4_source);
	tcase_add_test(headers, a_header_without_a_source_leaves_the_balancer_as_the_peer);
	tcase_add_test(headers, every_beginning_of_a_header_needs_more_bytes);
	tcase_add_test(headers, bytes_that_are_not_a_header_are_refused);
	tcase_add_test(headers, random_bytes_are_accepted_refused_or_incomplete);
	suite_add_tcase(suite, headers);
	return suite;
}

int main(void)
{
	return check_main(make);
}
