/* Limits of players in a world, through the whole daemon: each player has a share of pending batches,
 * forces and bodies. They end with the session and do not reduce the shares of other sessions. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/engine/world/world.h"
#include "server/host/host_state.h"
#include "server/session/session.h"
#include "tests/lib/check_main.h"
#include "tests/lib/server_sim.h"

#define TICK (NS_PER_S / 60)
#define FOR_EVER 4294967295u

static const char *const FEW[] = { "--player-horizon",
				   "60",
				   "--player-pending",
				   "5",
				   "--player-forces",
				   "4",
				   "--player-bodies",
				   "6",
				   NULL };

static struct server_sim *open_sim(uint64_t seed, const char *data)
{
	struct server_sim_options options = server_sim_options_default(seed);
	uint32_t count = 0;
	options.io.quiet = true;
	for (; FEW[count] != NULL; count++)
		options.arguments[count] = FEW[count];
	if (data != NULL) {
		options.arguments[count++] = "--data";
		options.arguments[count++] = data;
	}
	return server_sim_create(&options);
}

static struct sim_client *guest(struct server_sim *sim, const char *role)
{
	struct sim_client_options who = sim_client_options_default();
	who.role = role;
	struct sim_client *client = server_sim_guest(sim, &who);
	return client;
}

static struct sim_client *player_in(struct server_sim *sim, uint32_t world)
{
	struct sim_client *client = guest(sim, "player");
	sim_join(client, world);
	return client;
}

static struct command push(int64_t body, uint32_t ticks)
{
	struct command command;
	command_defaults(&command, COMMAND_FORCE);
	command.force.body = body;
	command.force.force = vec3_make(1, 2, 3);
	command.force.ticks = ticks;
	return command;
}

static uint64_t tick_of(struct server_sim *sim, uint32_t world)
{
	return world_info(server_sim_world(sim, world)).tick;
}

static enum status status_of(struct sim_client *client, uint32_t world, uint64_t batch)
{
	struct sim_result *result = sim_await_result(client, world, batch);
	ck_assert_ptr_nonnull(result);
	return result->code;
}

static enum status command_status(struct sim_client *client, uint32_t world,
				  const struct command *commands, uint32_t count, uint64_t at)
{
	return status_of(client, world,
			 sim_commands(client, world, commands, count, at, WIRE_LATE_APPLY));
}

static struct world_share share_of(struct server_sim *sim, uint32_t world, uint32_t session)
{
	struct world_share share = { .session = session };
	world_shares(server_sim_world(sim, world), &share, 1);
	return share;
}

/* The number of lasting forces and torques on bodies that the session owns. */
static uint32_t drives_of(struct server_sim *sim, uint32_t world, uint32_t session)
{
	const struct tables *tables = &server_sim_world(sim, world)->tables;
	uint32_t count = 0;
	for (uint32_t row = 0; row < tables->drive.count; row++)
		count += tables->body.owner[tables->drive.body[row]] == session;
	return count;
}

static uint32_t running_world(struct server_sim *sim, struct sim_client **keeper)
{
	*keeper = guest(sim, NULL);
	uint32_t world = sim_make_world(*keeper, "arena", NULL);
	ck_assert_int_eq(sim_control(*keeper, world, WIRE_CONTROL_RESUME, 0), STATUS_OK);
	server_sim_run(sim, 10 * TICK);
	return world;
}

START_TEST(a_date_too_far_ahead_is_refused_and_blocks_no_later_batch)
{
	struct sim_client *keeper;
	struct server_sim *sim = open_sim(check_seed(), NULL);
	uint32_t world = running_world(sim, &keeper);
	struct sim_client *player = player_in(sim, world);
	struct command spawn = sim_spawn(0, 1, 0, 1, false);
	static const uint64_t FAR[] = { 200, 100000, UINT64_C(1) << 52 };
	for (size_t i = 0; i < COUNT_OF(FAR); i++)
		ck_assert_int_eq(
			command_status(player, world, &spawn, 1, tick_of(sim, world) + FAR[i]),
			STATUS_RANGE);
	ck_assert_int_eq(command_status(player, world, &spawn, 1, tick_of(sim, world) + 50),
			 STATUS_WAITING);
	/* An undated batch waits for the dated batch before it, but not for the refused ones. */
	ck_assert_int_eq(command_status(player, world, &spawn, 1, 0), STATUS_WAITING);
	server_sim_run(sim, 60 * TICK);
	ck_assert_int_eq(sim_result(player, world, player->batches[world])->code, STATUS_OK);
	ck_assert_int_eq(sim_result(player, world, player->batches[world] - 1)->code, STATUS_OK);
	/* The keeper has no such limit. */
	ck_assert_int_eq(command_status(keeper, world, &spawn, 1, tick_of(sim, world) + 100000),
			 STATUS_WAITING);
	ck_assert(server_sim_sound(sim));
	server_sim_destroy(sim);
}
END_TEST

START_TEST(pending_batches_are_bounded_and_end_with_their_session)
{
	struct sim_client *keeper;
	struct server_sim *sim = open_sim(check_seed(), NULL);
	uint32_t world = running_world(sim, &keeper);
	struct sim_client *greedy = player_in(sim, world), *calm = player_in(sim, world);
	uint32_t number = greedy->session;
	uint64_t at = tick_of(sim, world) + 55;
	struct command spawn = sim_spawn(0, 1, 0, 1, false);
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(command_status(greedy, world, NULL, 0, at),
				 i < 5 ? STATUS_WAITING : STATUS_LIMIT);
	ck_assert_int_eq(command_status(calm, world, &spawn, 1, at), STATUS_WAITING);
	ck_assert_int_eq(command_status(keeper, world, &spawn, 1, at), STATUS_WAITING);
	ck_assert_uint_eq(world_pending(server_sim_world(sim, world), NULL, 0), 7);
	sim_disconnect(greedy);
	server_sim_run(sim, 5 * TICK);
	ck_assert_uint_eq(share_of(sim, world, number).pending, 0);
	ck_assert_uint_eq(world_pending(server_sim_world(sim, world), NULL, 0), 2);
	server_sim_run(sim, 80 * TICK);
	ck_assert_uint_eq(share_of(sim, world, calm->session).bodies, 1);
	ck_assert(server_sim_sound(sim));
	server_sim_destroy(sim);
}
END_TEST

START_TEST(lasting_forces_are_limited_in_number_and_duration)
{
	struct sim_client *keeper;
	struct server_sim *sim = open_sim(check_seed(), NULL);
	uint32_t world = running_world(sim, &keeper);
	struct sim_client *player = player_in(sim, world);
	struct command commands[] = { sim_spawn(0, 1, 0, 1, false), push(-1, 60) };
	ck_assert_int_eq(command_status(player, world, commands, 2, 0), STATUS_OK);
	int64_t body = sim_result(player, world, 1)->values[0];
	struct command ever = push(body, FOR_EVER), longer = push(body, 61);
	struct command most = push(body, 60), once = push(body, 1);
	ck_assert_int_eq(command_status(player, world, &ever, 1, 0), STATUS_RANGE);
	ck_assert_int_eq(command_status(player, world, &longer, 1, 0), STATUS_RANGE);
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(command_status(player, world, &most, 1, 0),
				 i < 3 ? STATUS_OK : STATUS_LIMIT);
	/* A force of one tick does not count. */
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(command_status(player, world, &once, 1, 0), STATUS_OK);
	ck_assert_int_eq(command_status(keeper, world, &ever, 1, 0), STATUS_OK);
	server_sim_run(sim, 70 * TICK);
	ck_assert_uint_eq(drives_of(sim, world, player->session), 1); /* made by the keeper */
	server_sim_destroy(sim);
}
END_TEST

/* SAVE or RESTORE of the only snapshot, "before". */
static void snapshot(struct sim_client *keeper, uint32_t world, enum message_type type)
{
	struct message message;
	message_init(&message, type);
	if (type == MESSAGE_SAVE) {
		message.save.ref = sim_ref(keeper);
		message.save.world = world;
		message.save.name = wire_text("before");
	} else {
		message.restore.ref = sim_ref(keeper);
		message.restore.world = world;
		message.restore.name = wire_text("before");
	}
	ck_assert_int_eq(
		sim_try(keeper, &message, type == MESSAGE_SAVE ? MESSAGE_SAVED : MESSAGE_RESTORED),
		STATUS_OK);
}

START_TEST(forces_of_an_abandoned_epoch_do_not_count)
{
	struct sim_client *keeper;
	struct server_sim *sim = open_sim(check_seed(), NULL);
	uint32_t world = running_world(sim, &keeper);
	struct sim_client *player = player_in(sim, world);
	struct command spawn = sim_spawn(0, 1, 0, 1, false);
	ck_assert_int_eq(command_status(player, world, &spawn, 1, 0), STATUS_OK);
	struct command most = push(sim_result(player, world, 1)->values[0], 60);
	snapshot(keeper, world, MESSAGE_SAVE);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 5; i++)
			ck_assert_int_eq(command_status(player, world, &most, 1, 0),
					 i < 4 ? STATUS_OK : STATUS_LIMIT);
		snapshot(keeper, world, MESSAGE_RESTORE);
		ck_assert_uint_eq(drives_of(sim, world, player->session), 0);
	}
	ck_assert(server_sim_sound(sim));
	server_sim_destroy(sim);
}
END_TEST

START_TEST(gifts_do_not_change_the_share_of_bodies_of_giver_or_receiver)
{
	struct sim_client *keeper;
	struct server_sim *sim = open_sim(check_seed(), NULL);
	uint32_t world = running_world(sim, &keeper);
	struct sim_client *giver = player_in(sim, world), *other = player_in(sim, world);
	struct command spawn = sim_spawn(0, 1, 0, 1, false), give;
	command_defaults(&give, COMMAND_SET_OWNER);
	give.set_owner.owner = other->session;
	for (int i = 0; i < 6; i++) {
		ck_assert_int_eq(command_status(giver, world, &spawn, 1, 0), STATUS_OK);
		give.set_owner.body = sim_result(giver, world, giver->batches[world])->values[0];
		ck_assert_int_eq(command_status(giver, world, &give, 1, 0), STATUS_OK);
	}
	ck_assert_int_eq(command_status(giver, world, &spawn, 1, 0), STATUS_LIMIT);
	/* The other player owns six bodies as gifts and may still spawn six. */
	ck_assert_uint_eq(share_of(sim, world, other->session).bodies, 6);
	struct command own[2] = { spawn, spawn };
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(command_status(other, world, own, 2, 0), STATUS_OK);
	ck_assert_int_eq(command_status(other, world, &spawn, 1, 0), STATUS_LIMIT);
	/* Removing its own bodies frees its share. */
	struct command remove;
	command_defaults(&remove, COMMAND_REMOVE);
	remove.remove.body = sim_result(other, world, 1)->values[0];
	for (int i = 0; i < 6; i++) {
		remove.remove.body = sim_result(other, world, 1 + (uint64_t)i / 2)->values[i % 2];
		ck_assert_int_eq(command_status(other, world, &remove, 1, 0), STATUS_OK);
	}
	ck_assert_int_eq(command_status(other, world, &spawn, 1, 0), STATUS_OK);
	ck_assert(server_sim_sound(sim));
	server_sim_destroy(sim);
}
END_TEST

/* ---- lives ------------------------------------------------------------------------------------ */

/* A player uses its limits to the full; then its session ends in a random way. */
static void use_every_limit(struct server_sim *sim, uint32_t world, struct rng *rng)
{
	struct sim_client *debtor = player_in(sim, world);
	for (uint32_t acts = 4 + rng_below(rng, 12); acts > 0; acts--) {
		uint32_t ticks = 2 + rng_below(rng, 58);
		double x = rng_below(rng, 8);
		if (rng_below(rng, 3) == 0)
			ticks = FOR_EVER;
		struct command commands[4] = { sim_spawn(x, 1, 2, 7, false), push(-1, ticks) };
		command_defaults(&commands[2], COMMAND_JOINT_CREATE);
		commands[2].joint_create.type = JOINT_DRAG;
		commands[2].joint_create.body_b = -1;
		command_defaults(&commands[3], COMMAND_SET_OWNER);
		commands[3].set_owner.body = -1;
		commands[3].set_owner.owner = rng_below(rng, 4);
		uint64_t at = tick_of(sim, world) + rng_below(rng, 90);
		if (rng_below(rng, 2) == 0)
			at = 0;
		sim_commands(debtor, world, commands, 1 + rng_below(rng, 4), at, WIRE_LATE_APPLY);
		if (rng_below(rng, 4) == 0 && debtor->subscription_count < SIM_SUBSCRIPTIONS_MAX)
			sim_subscribe(debtor, acts + 1, world, WIRE_COLUMNS_ALL, WIRE_PROFILE_VIEW,
				      1, 0);
		server_sim_run(sim, rng_below(rng, 3) * TICK);
	}
	switch (rng_below(rng, 3)) {
	case 0:
		sim_vanish(debtor);
		break;
	case 1:
		sim_stall(debtor, true);
		break;
	default:
		sim_disconnect(debtor);
	}
}

/* Ended sessions have no pending batch, drag, force or subscription, and the number of bodies that
 * they left is bounded. */
static void check_ended_sessions(struct server_sim *sim, uint32_t world, uint64_t seed,
				 uint32_t sessions)
{
	const struct server *server = sim->server;
	struct fanout_counters fanout;
	uint32_t here = 0, bodies = world_stats(server_sim_world(sim, world)).bodies;
	for (uint32_t number = 1; number <= sessions; number++) {
		if (registry_find(&server->service.sessions, number) != NULL) {
			here++;
			continue;
		}
		struct world_share share = share_of(sim, world, number);
		ck_assert_msg(share.pending == 0,
			      "seed %llu: session %u has ended and has %u pending batches",
			      (unsigned long long)seed, (unsigned)number, (unsigned)share.pending);
		ck_assert_msg(world_drags(server_sim_world(sim, world), number) == 0,
			      "seed %llu: session %u has ended and has a drag",
			      (unsigned long long)seed, (unsigned)number);
		ck_assert_msg(drives_of(sim, world, number) == 0,
			      "seed %llu: session %u has ended and has a force",
			      (unsigned long long)seed, (unsigned)number);
	}
	fanout_counters(worlds_find(&server->worlds, world)->fanout, &fanout);
	ck_assert_msg(fanout.subscriptions == 1, "seed %llu: %u subscriptions",
		      (unsigned long long)seed, (unsigned)fanout.subscriptions);
	ck_assert_uint_le(bodies, 6 * sessions + 100);
	ck_assert_uint_ge(here, 2);
}

static void run_life(uint64_t seed)
{
	struct sim_client *keeper;
	struct rng rng = rng_seeded(seed);
	struct server_sim *sim = open_sim(seed, NULL);
	uint32_t world = running_world(sim, &keeper), sessions = 0;
	struct sim_client *calm = player_in(sim, world);
	struct command spawn = sim_spawn(20, 1, 0, 1, false), once;
	sim_subscribe(keeper, 1, world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0);
	ck_assert_int_eq(command_status(calm, world, &spawn, 1, 0), STATUS_OK);
	once = push(sim_result(calm, world, 1)->values[0], 30);
	for (uint32_t round = 2 + rng_below(&rng, 5); round > 0; round--) {
		use_every_limit(sim, world, &rng);
		/* The calm player's batches are applied at once and accepted for later. */
		ck_assert_int_eq(command_status(calm, world, &once, 1, 0), STATUS_OK);
		ck_assert_int_eq(command_status(calm, world, &once, 1, tick_of(sim, world) + 20),
				 STATUS_WAITING);
		server_sim_run(sim, 60 * TICK);
	}
	/* Silent sessions end after two PING periods; forces end within the players' horizon. */
	server_sim_run(sim, 45 * NS_PER_S);
	for (uint32_t i = 0; i < sim->client_count; i++)
		sessions = MAX_OF(sessions, sim->clients[i]->session);
	check_ended_sessions(sim, world, seed, sessions);
	ck_assert_int_eq(command_status(calm, world, &once, 1, 0), STATUS_OK);
	ck_assert(sim_control(keeper, world, WIRE_CONTROL_PAUSE, 0) == STATUS_OK);
	ck_assert(sim_caught_up(keeper, 1, 5 * NS_PER_S));
	ck_assert(server_sim_sound(sim));
	server_sim_destroy(sim);
}

START_TEST(ended_sessions_leave_nothing_that_harms_other_sessions)
{
	const char *seeds = getenv("SEEDS");
	uint32_t count = seeds != NULL ? (uint32_t)strtoul(seeds, NULL, 10) : 12;
	for (uint32_t i = 0; i < count; i++)
		run_life(check_seed() + i);
	if (seeds != NULL)
		printf("# %u lives\n", (unsigned)count);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("sim/shares");
	TCase *shares = tcase_create("shares");
	tcase_set_timeout(shares, getenv("SEEDS") != NULL ? 0 : 60);
	tcase_add_test(shares, a_date_too_far_ahead_is_refused_and_blocks_no_later_batch);
	tcase_add_test(shares, pending_batches_are_bounded_and_end_with_their_session);
	tcase_add_test(shares, lasting_forces_are_limited_in_number_and_duration);
	tcase_add_test(shares, forces_of_an_abandoned_epoch_do_not_count);
	tcase_add_test(shares, gifts_do_not_change_the_share_of_bodies_of_giver_or_receiver);
	tcase_add_test(shares, ended_sessions_leave_nothing_that_harms_other_sessions);
	suite_add_tcase(suite, shares);
	return suite;
}

int main(void)
{
	return check_main(make);
}
