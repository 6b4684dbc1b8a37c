/* The worlds that a token allows and the owners of bodies. Every message that names another world is
 * refused without effect. No session becomes the owner of bodies that an earlier session left in a
 * copied world. */
#include <string.h>

#include "protocol/token.h"
#include "server/session/session.h"
#include "tests/lib/check_main.h"
#include "tests/lib/recorder.h"
#include "tests/lib/server_sim.h"
#include "tests/lib/worlds.h"

static const uint8_t KEY[16] = { 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6 };
#define FILE_TEXT "key 7 09080706050403020100010203040506 admin\n"

static struct sim_client *administrator(struct server_sim *sim)
{
	struct sim_client_options options = sim_client_options_default();
	options.address = SIM_UNIX;
	return server_sim_guest(sim, &options);
}

/* A client with a token for two worlds, the second of which does not exist yet. */
static struct sim_client *connect_bearer(struct server_sim *sim, enum wire_role role)
{
	static char text[TOKEN_TEXT_MAX + 1];
	struct connect_token token = {
		.role = role,
		.key = 7,
		.expires_s = IO_SIM_EPOCH_S + server_sim_now(sim) / NS_PER_S + 60,
		.nonce = { (uint8_t)role, 1 },
		.world_count = 2,
		.worlds = { "arena", "annex" },
	};
	ck_assert_int_eq(token_write(&token, KEY, sizeof KEY, text), STATUS_OK);
	struct sim_client_options who = sim_client_options_default();
	who.token = text;
	return server_sim_guest(sim, &who);
}

static struct server_sim *open_guarded_sim(void)
{
	struct server_sim_options options = server_sim_options_default(check_seed());
	struct reason why;
	options.io.quiet = true;
	struct server_sim *sim = server_sim_create(&options);
	ck_assert_int_eq(
		keyring_load(&sim->server->service.keyring, FILE_TEXT, strlen(FILE_TEXT), &why),
		STATUS_OK);
	return sim;
}

static enum status join(struct sim_client *client, uint32_t number, const char *name)
{
	struct message message;
	message_init(&message, MESSAGE_WORLD_JOIN);
	message.world_join.ref = sim_ref(client);
	message.world_join.world = number;
	message.world_join.name = wire_text(name);
	return sim_try(client, &message, MESSAGE_WORLD_INFO);
}

static enum status create(struct sim_client *client, const char *name)
{
	struct message message;
	message_init(&message, MESSAGE_WORLD_CREATE);
	message.world_create.ref = sim_ref(client);
	message.world_create.name = wire_text(name);
	return sim_try(client, &message, MESSAGE_WORLD_INFO);
}

static enum status fork_into(struct sim_client *client, uint32_t world, const char *name)
{
	struct message message;
	message_init(&message, MESSAGE_FORK);
	message.fork.ref = sim_ref(client);
	message.fork.world = world;
	message.fork.name = wire_text(name);
	return sim_try(client, &message, MESSAGE_FORKED);
}

static enum status destroy(struct sim_client *client, uint32_t world)
{
	struct message message;
	message_init(&message, MESSAGE_WORLD_DESTROY);
	message.world_destroy.ref = sim_ref(client);
	message.world_destroy.world = world;
	return sim_try(client, &message, MESSAGE_REPLY);
}

static bool world_exists(struct server_sim *sim, const char *name)
{
	return worlds_find_name(&sim->server->worlds, name) != NULL;
}

START_TEST(a_token_allows_creating_ending_and_forking_its_worlds_only)
{
	struct server_sim *sim = open_guarded_sim();
	struct sim_client *admin = administrator(sim),
			  *guest = connect_bearer(sim, WIRE_ROLE_ADMIN);
	uint32_t arena = sim_make_world(admin, "arena", NULL);
	uint32_t lobby = sim_make_world(admin, "lobby", NULL);
	ck_assert_int_eq(join(guest, lobby, ""), STATUS_FORBIDDEN);
	ck_assert_int_eq(join(guest, 0, "lobby"), STATUS_FORBIDDEN);
	ck_assert_int_eq(destroy(guest, lobby), STATUS_FORBIDDEN);
	ck_assert(world_exists(sim, "lobby"));
	ck_assert_int_eq(create(guest, "other"), STATUS_FORBIDDEN);
	ck_assert(!world_exists(sim, "other"));
	/* A FORK before the JOIN is refused because the session is not a member. After the JOIN the
	 * FORK is refused because of the copy's name, used or not. */
	ck_assert_int_eq(fork_into(guest, arena, "copy"), STATUS_NOT_JOINED);
	ck_assert_int_eq(join(guest, arena, ""), STATUS_OK);
	ck_assert_int_eq(fork_into(guest, arena, "copy"), STATUS_FORBIDDEN);
	ck_assert_int_eq(fork_into(guest, arena, "lobby"), STATUS_FORBIDDEN);
	ck_assert_int_eq(fork_into(guest, lobby, "annex"), STATUS_NOT_JOINED);
	server_sim_run(sim, NS_PER_S);
	ck_assert(!world_exists(sim, "copy") && !world_exists(sim, "annex"));
	/* A world that the token names may be created, forked into and ended. */
	ck_assert_int_eq(fork_into(guest, arena, "annex"), STATUS_OK);
	ck_assert_int_eq(join(guest, 0, "annex"), STATUS_OK);
	ck_assert_int_eq(fork_into(guest, arena, "annex"), STATUS_EXISTS);
	ck_assert_int_eq(destroy(guest, arena), STATUS_OK);
	ck_assert_int_eq(create(guest, "arena"), STATUS_OK);
	/* A token without names allows every world. */
	ck_assert_int_eq(fork_into(admin, lobby, "copy"), STATUS_OK);
	ck_assert(server_sim_sound(sim));
	server_sim_destroy(sim);
}
END_TEST

START_TEST(a_session_sees_only_the_worlds_its_token_names)
{
	struct server_sim *sim = open_guarded_sim();
	struct sim_client *admin = administrator(sim);
	(void)sim_make_world(admin, "lobby", NULL);
	uint32_t arena = sim_make_world(admin, "arena", NULL);
	(void)sim_make_world(admin, "attic", NULL);
	for (enum wire_role role = WIRE_ROLE_OBSERVER; role <= WIRE_ROLE_ADMIN; role++) {
		struct sim_client *guest = connect_bearer(sim, role);
		struct message message;
		message_init(&message, MESSAGE_WORLD_LIST);
		message.world_list.ref = sim_ref(guest);
		const struct message *info = sim_ask(guest, &message, MESSAGE_WORLD_INFO);
		ck_assert_ptr_nonnull(info);
		ck_assert_int_eq(info->type, MESSAGE_WORLD_INFO);
		ck_assert_uint_eq(info->world_info.of, 1);
		ck_assert_uint_eq(info->world_info.world, arena);
		ck_assert_int_eq(join(guest, 0, "attic"), STATUS_FORBIDDEN);
		ck_assert_int_eq(join(guest, 0, "arena"), STATUS_OK);
	}
	server_sim_destroy(sim);
}
END_TEST

/* The file of a copied world contains no batch of the session that owns the bodies. New sessions must
 * still get higher numbers than that session. */
START_TEST(after_a_restart_no_session_gets_the_number_of_an_owner)
{
	char directory[RECORDER_PATH];
	recorder_directory(directory);
	struct server_sim_options options = server_sim_options_default(check_seed());
	options.io.quiet = true;
	options.arguments[0] = "--data";
	options.arguments[1] = directory;
	struct server_sim *sim = server_sim_create(&options);
	struct sim_client *admin = administrator(sim);
	uint32_t world = sim_make_world(admin, "w", NULL);
	/* The player's session number is above the numbers that a fresh count after the restart
	 * would give. */
	struct sim_client_options who = sim_client_options_default();
	for (int i = 0; i < 20; i++)
		sim_disconnect(server_sim_guest(sim, &who));
	who.role = "player";
	struct sim_client *player = server_sim_guest(sim, &who);
	sim_join(player, world);
	struct command spawn = sim_spawn(0, 1, 0, 7, false);
	uint64_t batch = sim_commands(player, world, &spawn, 1, 0, WIRE_LATE_APPLY);
	ck_assert_int_eq(sim_control(admin, world, WIRE_CONTROL_RESUME, 1), STATUS_OK);
	const struct sim_result *result = sim_await_result(player, world, batch);
	ck_assert_ptr_nonnull(result);
	ck_assert_int_eq(result->code, STATUS_OK);
	uint32_t owner = player->session;
	ck_assert_int_eq(fork_into(admin, world, "copy"), STATUS_OK);
	ck_assert_int_eq(destroy(admin, world), STATUS_OK);
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_begin(sim, NULL);
	admin = administrator(sim);
	who.role = NULL;
	for (int i = 0; i < 25; i++)
		ck_assert_uint_gt(server_sim_guest(sim, &who)->session, owner);
	ck_assert_int_eq(join(admin, 0, "copy"), STATUS_OK);
	uint32_t copy = worlds_find_name(&sim->server->worlds, "copy")->number;
	struct body_view body;
	ck_assert_int_eq(world_body(server_sim_world(sim, copy), 1, &body), STATUS_OK);
	ck_assert_uint_eq(body.owner, owner);
	server_sim_destroy(sim);
	recorder_remove(directory);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("sim/grants");
	TCase *tokens = tcase_create("tokens");
	tcase_add_test(tokens, a_token_allows_creating_ending_and_forking_its_worlds_only);
	tcase_add_test(tokens, a_session_sees_only_the_worlds_its_token_names);
	suite_add_tcase(suite, tokens);
	TCase *owners = tcase_create("owners");
	tcase_add_test(owners, after_a_restart_no_session_gets_the_number_of_an_owner);
	suite_add_tcase(suite, owners);
	return suite;
}

int main(void)
{
	return check_main(make);
}
