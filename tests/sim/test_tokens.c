/* Tokens through the whole daemon under a virtual clock: expiry to the second, single use in any
 * order, and the limits of an address. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "protocol/token.h"
#include "server/session/session.h"
#include "tests/lib/check_main.h"
#include "tests/lib/server_sim.h"

static const uint8_t KEY[16] = { 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6 };
#define FILE_TEXT "key 7 09080706050403020100010203040506\n"

static struct server_sim *open_sim(const char *const *arguments)
{
	struct server_sim_options options = server_sim_options_default(check_seed());
	struct reason why;
	options.io.quiet = true;
	for (int i = 0; arguments != NULL && arguments[i] != NULL; i++)
		options.arguments[i] = arguments[i];
	struct server_sim *sim = server_sim_create(&options);
	ck_assert_int_eq(
		keyring_load(&sim->server->service.keyring, FILE_TEXT, strlen(FILE_TEXT), &why),
		STATUS_OK);
	return sim;
}

static void issue(struct server_sim *sim, uint32_t nonce, uint64_t seconds,
		  char text[TOKEN_TEXT_MAX + 1])
{
	struct connect_token token = {
		.role = WIRE_ROLE_PLAYER,
		.key = 7,
		.expires_s = IO_SIM_EPOCH_S + server_sim_now(sim) / NS_PER_S + seconds,
	};
	memcpy(token.nonce, &nonce, sizeof nonce);
	ck_assert_int_eq(token_write(&token, KEY, sizeof KEY, text), STATUS_OK);
}

/* Connects with a token; returns OK, or the status of the refusal. */
static enum status connect_with_token(struct server_sim *sim, const char *token,
				      struct sim_client **out)
{
	struct sim_client_options who = sim_client_options_default();
	who.token = token;
	struct sim_client *client = server_sim_client(sim, &who);
	server_sim_run(sim, 200 * NS_PER_MS);
	if (out != NULL)
		*out = client;
	if (client->open)
		return STATUS_OK;
	return client->goodbye != STATUS_OK ? client->goodbye : STATUS_CLOSED;
}

START_TEST(a_token_is_valid_until_its_second_of_expiry)
{
	static const char *const STRICT[] = { "--loopback-role", "none", NULL };
	struct server_sim *sim = open_sim(STRICT);
	char early[TOKEN_TEXT_MAX + 1], late[TOKEN_TEXT_MAX + 1];
	issue(sim, 1, 30, early);
	issue(sim, 2, 30, late);
	ck_assert_int_eq(connect_with_token(sim, NULL, NULL), STATUS_AUTH);
	server_sim_run(sim, 28 * NS_PER_S);
	ck_assert_int_eq(connect_with_token(sim, early, NULL), STATUS_OK);
	server_sim_run(sim, 2 * NS_PER_S);
	ck_assert_int_eq(connect_with_token(sim, late, NULL), STATUS_AUTH);
	ck_assert(server_sim_sound(sim));
	server_sim_destroy(sim);
}
END_TEST

START_TEST(a_connect_token_sent_by_many_at_once_admits_one)
{
	struct server_sim *sim = open_sim(NULL);
	struct sim_client *clients[20];
	char token[TOKEN_TEXT_MAX + 1];
	uint32_t in = 0, refused = 0;
	issue(sim, 3, 60, token);
	for (int i = 0; i < 20; i++) {
		struct sim_client_options who = sim_client_options_default();
		who.token = token;
		clients[i] = server_sim_client(sim, &who);
	}
	server_sim_run(sim, NS_PER_S);
	for (int i = 0; i < 20; i++) {
		in += clients[i]->open;
		refused += !clients[i]->open && clients[i]->goodbye == STATUS_AUTH;
		if (clients[i]->open)
			ck_assert_int_eq(clients[i]->handshake.role, WIRE_ROLE_PLAYER);
	}
	ck_assert_uint_eq(in, 1);
	ck_assert_uint_eq(refused, 19);
	ck_assert_uint_eq(sim->server->service.keyring.refused, 19);
	server_sim_destroy(sim);
}
END_TEST

START_TEST(one_address_cannot_use_up_the_connections_before_hello)
{
	static const char *const FEW[] = { "--address-greetings", "5", "--address-sessions", "8",
					   NULL };
	struct server_sim *sim = open_sim(FEW);
	struct sim_client_options mute = sim_client_options_default();
	mute.raw = true;
	for (int i = 0; i < 10; i++)
		(void)server_sim_client(sim, &mute);
	server_sim_run(sim, 500 * NS_PER_MS);
	ck_assert_uint_eq(sim->server->service.sessions.greeting, 5);
	ck_assert_uint_eq(sim->server->service.address_limits.refused, 5);
	/* The time limit before HELLO has passed; the connections are closed and their places free. */
	server_sim_run(sim, 5 * NS_PER_S);
	ck_assert_uint_eq(sim->server->service.sessions.greeting, 0);
	uint32_t open = 0;
	for (int i = 0; i < 10; i++)
		open += connect_with_token(sim, NULL, NULL) == STATUS_OK;
	ck_assert_uint_eq(open, 8);
	/* The administrator's Unix socket is not limited. */
	struct sim_client_options keeper = sim_client_options_default();
	keeper.address = SIM_UNIX;
	ck_assert(server_sim_guest(sim, &keeper)->open);
	server_sim_destroy(sim);
}
END_TEST

START_TEST(closed_and_resumed_connections_are_not_counted)
{
	static const char *const COUNTED[] = { "--address-sessions", "100", NULL };
	struct server_sim *sim = open_sim(COUNTED);
	struct peer here = { .kind = ADDRESS_TCP4, .local = true, .octets = { 127, 0, 0, 1 } };
	struct sim_client *clients[10];
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(connect_with_token(sim, NULL, &clients[i]), STATUS_OK);
	ck_assert_uint_eq(address_limits_count(&sim->server->service.address_limits, &here), 10);
	for (int i = 0; i < 10; i++) {
		if (i % 2 == 0)
			sim_vanish(clients[i]);
		else
			sim_disconnect(clients[i]);
	}
	server_sim_run(sim, 120 * NS_PER_S);
	ck_assert_uint_eq(address_limits_count(&sim->server->service.address_limits, &here), 0);
	ck_assert_uint_eq(sim->server->service.address_limits.counts.count, 0);
	server_sim_destroy(sim);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("sim/tokens");
	TCase *cases = tcase_create("daemon");
	tcase_add_test(cases, a_token_is_valid_until_its_second_of_expiry);
	tcase_add_test(cases, a_connect_token_sent_by_many_at_once_admits_one);
	tcase_add_test(cases, one_address_cannot_use_up_the_connections_before_hello);
	tcase_add_test(cases, closed_and_resumed_connections_are_not_counted);
	suite_add_tcase(suite, cases);
	return suite;
}

int main(void)
{
	return check_main(make);
}
