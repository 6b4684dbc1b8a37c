/* HELLO and WELCOME: versions, capabilities, roles, tokens and limits, and every refusal. */
#include "protocol/handshake.h"

#include <string.h>

#include "protocol/capabilities.h"
#include "protocol/unpack.h"
#include "tests/lib/check_main.h"

static struct handshake server(void)
{
	static const struct handshake_offer OFFER = {
		.name = "cairnd",
		.build = "test",
		.abi = "1",
		.caps = WIRE_CAP_ACK | WIRE_CAP_EXACT,
		.role = WIRE_ROLE_CONTROLLER,
		.session = 7,
		.time_us = 123,
	};
	struct handshake self;
	handshake_init(&self, &OFFER);
	return self;
}

static struct handshake client(void)
{
	static const struct handshake_offer OFFER = {
		.name = "tester",
		.caps = WIRE_CAP_ACK | WIRE_CAP_DURABLE,
		.limits = { 0, 100000 },
	};
	struct handshake self;
	handshake_init(&self, &OFFER);
	return self;
}

START_TEST(client_and_server_agree_on_version_capabilities_and_limits)
{
	struct handshake ours = server(), theirs = client();
	struct message hello, welcome;
	handshake_hello(&theirs, &hello);
	ck_assert_int_eq(handshake_receive(&ours, &hello, &welcome), STATUS_OK);
	ck_assert_int_eq(handshake_welcome(&theirs, &welcome), STATUS_OK);
	ck_assert_int_eq(ours.state, HANDSHAKE_OPEN);
	ck_assert_int_eq(theirs.state, HANDSHAKE_OPEN);
	ck_assert_uint_eq(ours.caps, WIRE_CAP_ACK);
	ck_assert_uint_eq(theirs.caps, WIRE_CAP_ACK);
	ck_assert_uint_eq(ours.limits.frame_down, 100000);
	ck_assert_uint_eq(theirs.limits.frame_down, 100000);
	ck_assert_uint_eq(ours.limits.frame_up, WIRE_FRAME_UP);
	ck_assert_uint_eq(theirs.limits.frame_up, WIRE_FRAME_UP);
	ck_assert_int_eq(ours.role, WIRE_ROLE_CONTROLLER);
	ck_assert_int_eq(theirs.role, WIRE_ROLE_CONTROLLER);
	ck_assert_uint_eq(theirs.session, 7);
	ck_assert_uint_eq(welcome.welcome.time_us, 123);
}
END_TEST

/* The status of a HELLO modified by `change`, and the state after it. */
static enum status try_hello(void (*change)(struct msg_hello *hello), struct handshake *ours)
{
	struct handshake theirs = client();
	struct message hello, reply;
	*ours = server();
	handshake_hello(&theirs, &hello);
	change(&hello.hello);
	enum status status = handshake_receive(ours, &hello, &reply);
	ck_assert_int_eq(reply.type, status == STATUS_OK ? MESSAGE_WELCOME : MESSAGE_ERROR);
	if (status != STATUS_OK) {
		ck_assert_uint_eq(reply.error.code, (uint64_t)status);
		ck_assert_uint_eq(reply.error.about, MESSAGE_HELLO);
		ck_assert_int_eq(ours->state, wire_status_closes(status) ? HANDSHAKE_CLOSED
									 : HANDSHAKE_EXPECTING);
	}
	return status;
}

static void major_two(struct msg_hello *hello)
{
	hello->protocol.major = 2;
}
static void minor_nine(struct msg_hello *hello)
{
	hello->protocol.minor = 9;
}
static void as_observer(struct msg_hello *hello)
{
	hello->role = wire_text("observer");
}
static void as_admin(struct msg_hello *hello)
{
	hello->role = wire_text("admin");
}
static void as_king(struct msg_hello *hello)
{
	hello->role = wire_text("king");
}
static void with_token(struct msg_hello *hello)
{
	hello->token = wire_text("secret");
}
static void with_resume(struct msg_hello *hello)
{
	hello->resume = wire_text("0123456789abcdef");
}
static void tiny_frames(struct msg_hello *hello)
{
	hello->limits = (struct wire_limits){ 1, 1 };
}
static void huge_frames(struct msg_hello *hello)
{
	hello->limits = (struct wire_limits){ UINT32_MAX, UINT32_MAX };
}

START_TEST(another_major_version_closes)
{
	struct handshake ours;
	ck_assert_int_eq(try_hello(major_two, &ours), STATUS_HANDSHAKE);
}
END_TEST

START_TEST(the_smaller_minor_version_is_used)
{
	struct handshake ours;
	ck_assert_int_eq(try_hello(minor_nine, &ours), STATUS_OK);
	ck_assert_uint_eq(ours.minor, WIRE_MINOR);
}
END_TEST

START_TEST(a_lesser_role_is_granted_and_a_greater_refused)
{
	struct handshake ours;
	ck_assert_int_eq(try_hello(as_observer, &ours), STATUS_OK);
	ck_assert_int_eq(ours.role, WIRE_ROLE_OBSERVER);
	ck_assert_int_eq(try_hello(as_admin, &ours), STATUS_FORBIDDEN);
	ck_assert_int_eq(try_hello(as_king, &ours), STATUS_RANGE);
}
END_TEST

static enum status admit_players(void *context, struct wire_slice token, enum wire_role *role,
				 struct reason *why)
{
	uint32_t *asked = context;
	++*asked;
	if (token.bytes != 6 || memcmp(token.at, "secret", 6) != 0)
		return reason_set(why, STATUS_AUTH, -1, "token", "no");
	*role = WIRE_ROLE_PLAYER;
	return STATUS_OK;
}

static enum status show(const char *token, const char *role, enum wire_role without,
			struct handshake *ours)
{
	static uint32_t asked;
	struct handshake theirs = client();
	struct message hello, reply;
	struct handshake_offer offer = server().offer;
	offer.role = without;
	offer.admit = admit_players;
	offer.admit_context = &asked;
	handshake_init(ours, &offer);
	handshake_hello(&theirs, &hello);
	hello.hello.token = wire_text(token);
	hello.hello.role = wire_text(role);
	return handshake_receive(ours, &hello, &reply);
}

START_TEST(a_token_decides_the_role_over_any_transport)
{
	static const enum wire_role WITHOUT[] = { WIRE_ROLE_NOBODY, WIRE_ROLE_OBSERVER,
						  WIRE_ROLE_ADMIN };
	struct handshake ours;
	for (size_t i = 0; i < COUNT_OF(WITHOUT); i++) {
		ck_assert_int_eq(show("secret", "", WITHOUT[i], &ours), STATUS_OK);
		ck_assert_int_eq(ours.role, WIRE_ROLE_PLAYER);
		ck_assert_int_eq(show("secret", "observer", WITHOUT[i], &ours), STATUS_OK);
		ck_assert_int_eq(ours.role, WIRE_ROLE_OBSERVER);
		ck_assert_int_eq(show("secret", "controller", WITHOUT[i], &ours), STATUS_FORBIDDEN);
		ck_assert_int_eq(ours.state, HANDSHAKE_EXPECTING);
	}
}
END_TEST

START_TEST(a_wrong_or_missing_token_closes)
{
	struct handshake ours;
	ck_assert_int_eq(show("secrets", "", WIRE_ROLE_ADMIN, &ours), STATUS_AUTH);
	ck_assert_int_eq(ours.state, HANDSHAKE_CLOSED);
	ck_assert_int_eq(show("", "", WIRE_ROLE_NOBODY, &ours), STATUS_AUTH);
	ck_assert_int_eq(ours.state, HANDSHAKE_CLOSED);
	ck_assert_int_eq(show("", "", WIRE_ROLE_OBSERVER, &ours), STATUS_OK);
	ck_assert_int_eq(ours.role, WIRE_ROLE_OBSERVER);
}
END_TEST

START_TEST(unsupported_tokens_and_unknown_sessions_are_refused_by_name)
{
	struct handshake ours;
	ck_assert_int_eq(try_hello(with_token, &ours), STATUS_UNSUPPORTED);
	ck_assert_str_eq(ours.why.field, "token");
	ck_assert_int_eq(try_hello(with_resume, &ours), STATUS_EXPIRED);
	ck_assert_str_eq(ours.why.field, "resume");
}
END_TEST

START_TEST(frame_limits_are_between_the_minimum_and_the_servers)
{
	struct handshake ours;
	ck_assert_int_eq(try_hello(tiny_frames, &ours), STATUS_OK);
	ck_assert_uint_eq(ours.limits.frame_up, WIRE_FRAME_MIN);
	ck_assert_uint_eq(ours.limits.frame_down, WIRE_FRAME_MIN);
	ck_assert_int_eq(try_hello(huge_frames, &ours), STATUS_OK);
	ck_assert_uint_eq(ours.limits.frame_up, WIRE_FRAME_UP);
	ck_assert_uint_eq(ours.limits.frame_down, WIRE_FRAME_DOWN);
	/* Who is one of many sends little. */
	ck_assert_int_eq(try_hello(as_observer, &ours), STATUS_OK);
	ck_assert_uint_eq(ours.limits.frame_up, WIRE_FRAME_UP_GUEST);
}
END_TEST

START_TEST(a_refused_hello_may_be_tried_again)
{
	struct handshake ours;
	ck_assert_int_eq(try_hello(with_token, &ours), STATUS_UNSUPPORTED);
	struct handshake theirs = client();
	struct message hello, reply;
	handshake_hello(&theirs, &hello);
	ck_assert_int_eq(handshake_receive(&ours, &hello, &reply), STATUS_OK);
}
END_TEST

START_TEST(a_first_message_other_than_hello_closes)
{
	struct handshake ours = server();
	struct message ping, reply;
	message_init(&ping, MESSAGE_PING);
	ck_assert_int_eq(handshake_receive(&ours, &ping, &reply), STATUS_HANDSHAKE);
	ck_assert_int_eq(ours.state, HANDSHAKE_CLOSED);
}
END_TEST

START_TEST(a_second_hello_is_refused)
{
	struct handshake ours = server(), theirs = client();
	struct message hello, reply;
	handshake_hello(&theirs, &hello);
	ck_assert_int_eq(handshake_receive(&ours, &hello, &reply), STATUS_OK);
	ck_assert_int_eq(handshake_receive(&ours, &hello, &reply), STATUS_PROTOCOL);
	ck_assert_int_eq(ours.state, HANDSHAKE_OPEN);
}
END_TEST

START_TEST(a_client_reports_the_error_of_a_refusal)
{
	struct handshake theirs = client();
	struct message error;
	message_init(&error, MESSAGE_ERROR);
	error.error.code = STATUS_BUSY;
	error.error.text = wire_text("come back later");
	ck_assert_int_eq(handshake_welcome(&theirs, &error), STATUS_BUSY);
	ck_assert_str_eq(theirs.why.text, "come back later");
	ck_assert_int_eq(theirs.state, HANDSHAKE_CLOSED);
	theirs = client();
	error.error.code = STATUS_OK;
	ck_assert_int_eq(handshake_welcome(&theirs, &error), STATUS_HANDSHAKE);
}
END_TEST

START_TEST(a_client_refuses_an_invalid_welcome)
{
	struct message welcome;
	struct handshake theirs = client();
	message_init(&welcome, MESSAGE_WELCOME);
	welcome.welcome.protocol.major = 2;
	ck_assert_int_eq(handshake_welcome(&theirs, &welcome), STATUS_HANDSHAKE);
	theirs = client();
	welcome.welcome.protocol.major = WIRE_MAJOR;
	welcome.welcome.role = wire_text("king");
	ck_assert_int_eq(handshake_welcome(&theirs, &welcome), STATUS_HANDSHAKE);
	theirs = client();
	message_init(&welcome, MESSAGE_PONG);
	ck_assert_int_eq(handshake_welcome(&theirs, &welcome), STATUS_HANDSHAKE);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("protocol/handshake");
	TCase *both = tcase_create("both");
	tcase_add_test(both, client_and_server_agree_on_version_capabilities_and_limits);
	suite_add_tcase(suite, both);
	TCase *server_side = tcase_create("server");
	tcase_add_test(server_side, another_major_version_closes);
	tcase_add_test(server_side, the_smaller_minor_version_is_used);
	tcase_add_test(server_side, a_lesser_role_is_granted_and_a_greater_refused);
	tcase_add_test(server_side, a_token_decides_the_role_over_any_transport);
	tcase_add_test(server_side, a_wrong_or_missing_token_closes);
	tcase_add_test(server_side, unsupported_tokens_and_unknown_sessions_are_refused_by_name);
	tcase_add_test(server_side, frame_limits_are_between_the_minimum_and_the_servers);
	tcase_add_test(server_side, a_refused_hello_may_be_tried_again);
	tcase_add_test(server_side, a_first_message_other_than_hello_closes);
	tcase_add_test(server_side, a_second_hello_is_refused);
	suite_add_tcase(suite, server_side);
	TCase *client_side = tcase_create("client");
	tcase_add_test(client_side, a_client_reports_the_error_of_a_refusal);
	tcase_add_test(client_side, a_client_refuses_an_invalid_welcome);
	suite_add_tcase(suite, client_side);
	return suite;
}

int main(void)
{
	return check_main(make);
}
