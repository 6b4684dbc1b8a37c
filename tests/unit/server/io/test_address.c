/* Addresses: valid and invalid texts, and the networks that contain an address. */
#include "server/io/address.h"

#include <string.h>

#include "tests/lib/check_main.h"

static const char *const GOOD[] = {
	"unix:/run/cairn.sock", "unix:relative",   "tcp:127.0.0.1:7411",
	"tcp:127.255.1.2:0",	"tcp:[::1]:65535",
};

START_TEST(an_accepted_address_prints_as_written)
{
	struct address address;
	char text[ADDRESS_TEXT_MAX];
	ck_assert_int_eq(address_parse(GOOD[_i], &address, NULL), STATUS_OK);
	address_print(&address, text);
	ck_assert_str_eq(text, GOOD[_i]);
}
END_TEST

static const struct {
	const char *text;
	enum status status;
} BAD[] = {
	{ "", STATUS_TYPE },
	{ "7411", STATUS_TYPE },
	{ "udp:127.0.0.1:7411", STATUS_TYPE },
	{ "unix:", STATUS_TYPE },
	{ "tcp:", STATUS_TYPE },
	{ "tcp::7411", STATUS_TYPE },
	{ "tcp:127.0.0.1", STATUS_TYPE },
	{ "tcp:127.0.0.1:", STATUS_RANGE },
	{ "tcp:127.0.0.1:65536", STATUS_RANGE },
	{ "tcp:127.0.0.1:123456", STATUS_RANGE },
	{ "tcp:127.0.0.1:-1", STATUS_RANGE },
	{ "tcp:127.0.0.1:74x", STATUS_RANGE },
	{ "tcp:127.0.0.256:1", STATUS_TYPE },
	{ "tcp:example.org:1", STATUS_TYPE },
	{ "tcp:::1:7411", STATUS_TYPE },
	{ "tcp:[::1:7411", STATUS_TYPE },
	{ "tcp:[]:7411", STATUS_TYPE },
};

START_TEST(only_addresses_of_this_machine_are_loopback)
{
	static const struct {
		const char *text;
		bool loopback;
	} CASES[] = {
		{ "tcp:127.0.0.1:7411", true },
		{ "tcp:127.255.0.9:1", true },
		{ "tcp:[::1]:7411", true },
		{ "tcp:localhost:7411", true },
		{ "unix:/run/c", true },
		{ "tcp:0.0.0.0:7411", false },
		{ "tcp:10.0.0.1:7411", false },
		{ "tcp:128.0.0.1:7411", false },
		{ "tcp:[::]:7411", false },
		{ "tcp:[fe80::1]:7411", false },
		{ "tcp:[::ffff:127.0.0.1]:7411", false },
	};
	for (size_t i = 0; i < COUNT_OF(CASES); i++) {
		struct address address;
		ck_assert_int_eq(address_parse(CASES[i].text, &address, NULL), STATUS_OK);
		ck_assert_int_eq(address_is_loopback(&address), CASES[i].loopback);
	}
}
END_TEST

START_TEST(a_refused_address_has_a_reason_and_leaves_the_result_unchanged)
{
	struct address address, before;
	struct reason why;
	memset(&address, 0xa5, sizeof address);
	before = address;
	ck_assert_int_eq(address_parse(BAD[_i].text, &address, &why), BAD[_i].status);
	ck_assert_int_eq(why.status, BAD[_i].status);
	ck_assert_str_eq(why.field, "address");
	ck_assert_uint_gt(strlen(why.text), 0);
	ck_assert_mem_eq(&address, &before, sizeof address);
}
END_TEST

START_TEST(localhost_is_127_0_0_1_without_name_resolution)
{
	struct address address;
	char text[ADDRESS_TEXT_MAX];
	ck_assert_int_eq(address_parse("tcp:localhost:80", &address, NULL), STATUS_OK);
	address_print(&address, text);
	ck_assert_str_eq(text, "tcp:127.0.0.1:80");
}
END_TEST

START_TEST(a_path_is_limited_to_the_length_that_the_kernel_accepts)
{
	struct address address;
	char text[5 + ADDRESS_PATH_MAX + 2] = "unix:", printed[ADDRESS_TEXT_MAX];
	memset(text + 5, 'p', ADDRESS_PATH_MAX + 1);
	ck_assert_int_eq(address_parse(text, &address, NULL), STATUS_RANGE);
	text[5 + ADDRESS_PATH_MAX] = '\0';
	ck_assert_int_eq(address_parse(text, &address, NULL), STATUS_OK);
	address_print(&address, printed);
	ck_assert_str_eq(printed, text);
}
END_TEST

START_TEST(only_an_ipv4_mapped_address_becomes_an_ipv4_address)
{
	static const struct {
		const char *text, *plain;
	} CASES[] = {
		{ "tcp:[::ffff:192.0.2.7]:1", "tcp:192.0.2.7:1" },
		{ "tcp:[::ffff:127.0.0.1]:1", "tcp:127.0.0.1:1" },
		{ "tcp:[::fffe:192.0.2.7]:1", "tcp:[::fffe:c000:207]:1" },
		{ "tcp:[::1]:1", "tcp:[::1]:1" },
		{ "tcp:192.0.2.7:1", "tcp:192.0.2.7:1" },
	};
	for (size_t i = 0; i < COUNT_OF(CASES); i++) {
		struct address address;
		char text[ADDRESS_TEXT_MAX];
		ck_assert_int_eq(address_parse(CASES[i].text, &address, NULL), STATUS_OK);
		address_unmap(&address);
		address_print(&address, text);
		ck_assert_str_eq(text, CASES[i].plain);
	}
}
END_TEST

START_TEST(a_network_contains_the_addresses_with_its_prefix)
{
	static const struct {
		const char *network, *address;
		bool has;
	} CASES[] = {
		{ "192.0.2.7", "tcp:192.0.2.7:1", true },
		{ "192.0.2.7", "tcp:192.0.2.8:1", false },
		{ "192.0.2.0/24", "tcp:192.0.2.255:1", true },
		{ "192.0.2.0/24", "tcp:192.0.3.0:1", false },
		{ "192.0.2.0/23", "tcp:192.0.3.9:1", true },
		{ "0.0.0.0/0", "tcp:8.8.8.8:1", true },
		{ "0.0.0.0/0", "tcp:[::1]:1", false },
		{ "2001:db8::/33", "tcp:[2001:db8:7fff::1]:1", true },
		{ "2001:db8::/33", "tcp:[2001:db8:8000::1]:1", false },
		{ "::ffff:192.0.2.7", "tcp:192.0.2.7:1", true },
	};
	static const char *const WRONG[] = {
		"",	  "x",	   "1.2.3",	  "1.2.3.4/33",	 "1.2.3.4/",	       "1.2.3.4/-1",
		"::/129", "::/1x", "1.2.3.4/1/1", "tcp:1.2.3.4", "1.2.3.4/0000000001",
	};
	struct address_network network;
	for (size_t i = 0; i < COUNT_OF(CASES); i++) {
		struct address address;
		ck_assert_int_eq(network_parse(CASES[i].network, &network, NULL), STATUS_OK);
		ck_assert_int_eq(address_parse(CASES[i].address, &address, NULL), STATUS_OK);
		ck_assert_msg(network_has(&network, address.kind, address.octets) == CASES[i].has,
			      "%s %s", CASES[i].network, CASES[i].address);
	}
	for (size_t i = 0; i < COUNT_OF(WRONG); i++)
		ck_assert_msg(network_parse(WRONG[i], &network, NULL) != STATUS_OK, "%s", WRONG[i]);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/io/address");
	TCase *parse = tcase_create("parse");
	tcase_add_loop_test(parse, an_accepted_address_prints_as_written, 0, COUNT_OF(GOOD));
	tcase_add_loop_test(parse, a_refused_address_has_a_reason_and_leaves_the_result_unchanged,
			    0, COUNT_OF(BAD));
	tcase_add_test(parse, only_addresses_of_this_machine_are_loopback);
	tcase_add_test(parse, localhost_is_127_0_0_1_without_name_resolution);
	tcase_add_test(parse, a_path_is_limited_to_the_length_that_the_kernel_accepts);
	tcase_add_test(parse, only_an_ipv4_mapped_address_becomes_an_ipv4_address);
	tcase_add_test(parse, a_network_contains_the_addresses_with_its_prefix);
	suite_add_tcase(suite, parse);
	return suite;
}

int main(void)
{
	return check_main(make);
}
