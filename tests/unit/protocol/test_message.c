/* The manifest of messages is consistent: numbers, names, offsets, fallbacks and roles. */
#include "protocol/message.h"

#include <string.h>

#include "protocol/capabilities.h"
#include "tests/lib/check_main.h"

static struct wire_slice text(const char *name)
{
	return wire_text(name);
}

START_TEST(messages_are_listed_in_order_of_their_numbers)
{
	uint32_t before = 0;
	for (size_t i = 0; message_info_at(i) != NULL; i++) {
		const struct message_info *info = message_info_at(i);
		ck_assert_uint_gt((uint32_t)info->type, before);
		ck_assert_uint_lt((uint32_t)info->type, 128);
		ck_assert_ptr_eq(message_info((uint32_t)info->type), info);
		before = (uint32_t)info->type;
	}
	ck_assert_uint_gt(before, 0);
}
END_TEST

START_TEST(a_number_without_a_message_is_not_found)
{
	ck_assert_ptr_null(message_info(0));
	ck_assert_ptr_null(message_info(9));
	ck_assert_ptr_null(message_info(127));
	ck_assert_ptr_null(message_info(UINT32_MAX));
}
END_TEST

START_TEST(message_names_are_distinct_and_fields_documented)
{
	for (size_t i = 0; message_info_at(i) != NULL; i++) {
		const struct message_info *info = message_info_at(i);
		ck_assert_uint_gt(strlen(info->doc), 0);
		ck_assert(info->reserved == (info->field_count == 0));
		for (size_t j = 0; j < i; j++)
			ck_assert_str_ne(message_info_at(j)->name, info->name);
		for (uint32_t f = 0; f < info->field_count; f++)
			ck_assert_uint_gt(strlen(info->fields[f].doc), 0);
	}
}
END_TEST

START_TEST(needed_fields_of_arrays_come_before_those_with_fallbacks)
{
	for (size_t i = 0; message_info_at(i) != NULL; i++) {
		const struct message_info *info = message_info_at(i);
		for (uint32_t f = 1; f < info->field_count; f++)
			ck_assert(!info->fields[f].needed || info->fields[f - 1].needed ||
				  info->layout == WIRE_LAYOUT_MAP);
	}
}
END_TEST

START_TEST(fields_are_within_the_message_and_do_not_overlap)
{
	for (size_t i = 0; message_info_at(i) != NULL; i++) {
		const struct message_info *info = message_info_at(i);
		for (uint32_t f = 0; f < info->field_count; f++) {
			ck_assert_uint_lt(info->fields[f].offset, sizeof(struct message));
			for (uint32_t g = 0; g < f; g++)
				ck_assert_uint_lt(info->fields[g].offset, info->fields[f].offset);
		}
	}
}
END_TEST

START_TEST(optional_fields_start_at_their_fallbacks)
{
	struct message message;
	memset(&message, 0xa5, sizeof message);
	message_init(&message, MESSAGE_SUBSCRIBE);
	ck_assert_uint_eq(message.subscribe.fields, 31);
	ck_assert_uint_eq(message.subscribe.divisor, 1);
	ck_assert(!message.subscribe.area.set);
	ck_assert_uint_eq(message.subscribe.follow.count, 0);
	message_init(&message, MESSAGE_ERROR);
	ck_assert_int_eq(message.error.index, -1);
	message_init(&message, MESSAGE_CONTROL);
	ck_assert(message.control.value == 1);
}
END_TEST

START_TEST(roles_are_nested)
{
	for (uint32_t type = 0; type < 128; type++) {
		for (int role = WIRE_ROLE_OBSERVER; role < WIRE_ROLE_ADMIN; role++)
			ck_assert(!wire_role_may((enum wire_role)role, type) ||
				  wire_role_may((enum wire_role)(role + 1), type));
	}
}
END_TEST

/* The role × message table of docs/PROTOCOL.md, written by hand as an independent copy. */
START_TEST(each_role_may_send_what_the_design_says)
{
	ck_assert(wire_role_may(WIRE_ROLE_NOBODY, MESSAGE_HELLO));
	ck_assert(!wire_role_may(WIRE_ROLE_NOBODY, MESSAGE_PING));
	ck_assert(wire_role_may(WIRE_ROLE_OBSERVER, MESSAGE_SUBSCRIBE));
	ck_assert(wire_role_may(WIRE_ROLE_OBSERVER, MESSAGE_QUERY));
	ck_assert(!wire_role_may(WIRE_ROLE_OBSERVER, MESSAGE_COMMANDS));
	ck_assert(wire_role_may(WIRE_ROLE_PLAYER, MESSAGE_COMMANDS));
	ck_assert(!wire_role_may(WIRE_ROLE_PLAYER, MESSAGE_STEP));
	ck_assert(!wire_role_may(WIRE_ROLE_PLAYER, MESSAGE_WORLD_CREATE));
	ck_assert(wire_role_may(WIRE_ROLE_CONTROLLER, MESSAGE_STEP));
	ck_assert(wire_role_may(WIRE_ROLE_CONTROLLER, MESSAGE_FORK));
	ck_assert(!wire_role_may(WIRE_ROLE_CONTROLLER, MESSAGE_WORLD_DESTROY));
	ck_assert(wire_role_may(WIRE_ROLE_ADMIN, MESSAGE_WORLD_DESTROY));
}
END_TEST

START_TEST(no_role_may_send_messages_of_servers)
{
	ck_assert(!wire_role_may(WIRE_ROLE_ADMIN, MESSAGE_WELCOME));
	ck_assert(!wire_role_may(WIRE_ROLE_ADMIN, MESSAGE_DELTA));
	/* Unknown and reserved ones get answers of their own. */
	ck_assert(wire_role_may(WIRE_ROLE_OBSERVER, 9));
	ck_assert(wire_role_may(WIRE_ROLE_OBSERVER, MESSAGE_SEEK));
}
END_TEST

START_TEST(role_names_are_read_back)
{
	for (int i = WIRE_ROLE_OBSERVER; i <= WIRE_ROLE_ADMIN; i++) {
		enum wire_role role = WIRE_ROLE_NOBODY;
		ck_assert_int_eq(wire_role_parse(text(wire_role_name((enum wire_role)i)), &role),
				 STATUS_OK);
		ck_assert_int_eq((int)role, i);
	}
	enum wire_role role;
	ck_assert_int_eq(wire_role_parse(text("nobody"), &role), STATUS_RANGE);
	ck_assert_int_eq(wire_role_parse(text("adminx"), &role), STATUS_RANGE);
	ck_assert_int_eq(wire_role_parse(text(""), &role), STATUS_RANGE);
}
END_TEST

START_TEST(every_status_that_closes_has_a_goodbye_text)
{
	static const int NUMBERS[] = {
#define STATUS(number, NAME, name, text) number,
#include "server/base/status.def"
	};
	for (size_t i = 0; i < COUNT_OF(NUMBERS); i++) {
		enum status status = (enum status)NUMBERS[i];
		/* A refused message never closes. */
		if (wire_status_closes(status)) {
			ck_assert_ptr_nonnull(wire_status_goodbye(status));
			ck_assert(NUMBERS[i] >= 20 && NUMBERS[i] < 40);
		}
	}
}
END_TEST

START_TEST(capabilities_are_found_by_name_and_by_bit)
{
	uint32_t all = 0;
	for (uint32_t bit = 0; bit < 32; bit++) {
		if (wire_cap_name(bit) == NULL)
			continue;
		ck_assert_uint_eq(wire_cap_find(text(wire_cap_name(bit))), 1u << bit);
		all |= 1u << bit;
	}
	ck_assert_uint_eq(all, (uint32_t)WIRE_CAPS_ALL);
	ck_assert_uint_eq(wire_cap_find(text("ac")), 0);
	ck_assert_uint_eq(wire_cap_find(text("")), 0);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("protocol/message");
	TCase *manifest = tcase_create("manifest");
	tcase_add_test(manifest, messages_are_listed_in_order_of_their_numbers);
	tcase_add_test(manifest, a_number_without_a_message_is_not_found);
	tcase_add_test(manifest, message_names_are_distinct_and_fields_documented);
	tcase_add_test(manifest, needed_fields_of_arrays_come_before_those_with_fallbacks);
	tcase_add_test(manifest, fields_are_within_the_message_and_do_not_overlap);
	tcase_add_test(manifest, optional_fields_start_at_their_fallbacks);
	suite_add_tcase(suite, manifest);
	TCase *roles = tcase_create("roles");
	tcase_add_test(roles, roles_are_nested);
	tcase_add_test(roles, each_role_may_send_what_the_design_says);
	tcase_add_test(roles, no_role_may_send_messages_of_servers);
	tcase_add_test(roles, role_names_are_read_back);
	suite_add_tcase(suite, roles);
	TCase *tables = tcase_create("tables");
	tcase_add_test(tables, every_status_that_closes_has_a_goodbye_text);
	tcase_add_test(tables, capabilities_are_found_by_name_and_by_bit);
	suite_add_tcase(suite, tables);
	return suite;
}

int main(void)
{
	return check_main(make);
}
