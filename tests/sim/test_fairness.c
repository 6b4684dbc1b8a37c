/* Fairness: frames of worlds at rest, and the service of other clients beside greedy watchers and
 * floods. Work takes no time in the simulation, so the tests count the work of each loop turn. */
#include <string.h>

#include "server/session/session.h"
#include "tests/lib/check_main.h"
#include "tests/lib/server_sim.h"

enum { GREEDY = 12 };

struct hall {
	struct server_sim *sim;
	struct sim_client *keeper;
	uint32_t world;
};

static void open_hall(struct hall *hall, uint64_t seed)
{
	struct server_sim_options options = server_sim_options_default(seed);
	struct sim_client_options who = sim_client_options_default();
	options.io.quiet = true;
	hall->sim = server_sim_create(&options);
	who.address = SIM_UNIX;
	hall->keeper = server_sim_guest(hall->sim, &who);
	hall->world = sim_make_world(hall->keeper, "hall", NULL);
}

static void close_hall(struct hall *hall)
{
	ck_assert(server_sim_sound(hall->sim));
	ck_assert(server_sim_drain(hall->sim, 60 * NS_PER_S));
	server_sim_destroy(hall->sim);
}

/* Points that fly apart; the first one rests at the origin. */
static void fill(struct hall *hall, uint32_t bodies)
{
	static struct command commands[200];
	for (uint32_t made = 0; made < bodies;) {
		uint32_t count = MIN_OF(bodies - made, (uint32_t)COUNT_OF(commands));
		for (uint32_t i = 0; i < count; i++) {
			commands[i] = sim_spawn(i + 10, 100, made, 0, false);
			commands[i].spawn.velocity = (vec3){ 1, 30, 0 };
		}
		const struct message *stepped =
			sim_step(hall->keeper, hall->world, 1, 0, commands, count);
		ck_assert_ptr_nonnull(stepped);
		ck_assert_int_eq(stepped->type, MESSAGE_STEPPED);
		made += count;
	}
}

static struct sim_client *guest(struct hall *hall, const char *role, uint32_t caps)
{
	struct sim_client_options who = sim_client_options_default();
	who.role = role;
	who.caps = caps;
	struct sim_client *client = server_sim_guest(hall->sim, &who);
	sim_join(client, hall->world);
	return client;
}

/* ---- worlds at rest --------------------------------------------------------------------------- */

/* A dozen parts arrive as fast as the network takes them, not a few at each quarter-second check. */
START_TEST(a_paused_world_is_sent_as_fast_as_the_client_reads)
{
	struct hall hall;
	open_hall(&hall, check_seed() + (uint64_t)_i);
	fill(&hall, 6000);
	struct sim_client *client =
		guest(&hall, NULL, WIRE_CAPS_ALL & ~(_i % 2 ? WIRE_CAP_ACK : 0u));
	sim_subscribe(client, 1, hall.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0);
	ck_assert(sim_caught_up(client, 1, 400 * NS_PER_MS));
	ck_assert_uint_gt(client->bytes_in, 500000);
	close_hall(&hall);
}
END_TEST

START_TEST(the_last_tick_of_a_stopped_world_is_sent_whatever_the_divisor)
{
	struct hall hall;
	open_hall(&hall, check_seed() + (uint64_t)_i);
	fill(&hall, 20);
	struct sim_client *client = guest(&hall, NULL, WIRE_CAPS_ALL);
	sim_subscribe(client, 1, hall.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 600, 0);
	ck_assert(sim_caught_up(client, 1, NS_PER_S));
	ck_assert_int_eq(sim_control(hall.keeper, hall.world, WIRE_CONTROL_RESUME, 1), STATUS_OK);
	server_sim_run(hall.sim, 500 * NS_PER_MS);
	uint64_t frames = client->subscriptions[0].frames;
	ck_assert_int_eq(sim_control(hall.keeper, hall.world, WIRE_CONTROL_PAUSE, 0), STATUS_OK);
	ck_assert(sim_caught_up(client, 1, 60 * NS_PER_MS));
	/* Likewise the last tick of each STEP of a paused world. */
	for (int n = 0; n < 3; n++) {
		ck_assert_int_eq(sim_step(hall.keeper, hall.world, 5, 0, NULL, 0)->type,
				 MESSAGE_STEPPED);
		ck_assert(sim_caught_up(client, 1, 100 * NS_PER_MS));
	}
	ck_assert_uint_le(client->subscriptions[0].frames - frames, 5);
	close_hall(&hall);
}
END_TEST

/* ---- greedy watchers -------------------------------------------------------------------------- */

START_TEST(a_greedy_watcher_skips_frames_and_a_modest_one_gets_every_frame)
{
	struct hall hall;
	struct sim_client *greedy[GREEDY];
	open_hall(&hall, check_seed() + (uint64_t)_i);
	fill(&hall, 1000);
	for (uint32_t i = 0; i < GREEDY; i++) {
		greedy[i] = guest(&hall, "observer", WIRE_CAPS_ALL);
		for (uint32_t n = 0; n < SIM_SUBSCRIPTIONS_MAX; n++) {
			double edge = 1e5 + 100 * i + n;
			struct wire_area area = { .kind = WIRE_AREA_BOX,
						  .numbers = { -edge, -edge, -edge, edge, edge,
							       edge } };
			sim_subscribe_part(greedy[i], 1 + n, hall.world, WIRE_COLUMNS_ALL,
					   WIRE_PROFILE_EXACT, 0, 0, &area, 1, NULL, 0);
		}
	}
	struct sim_client *modest = guest(&hall, "observer", WIRE_CAPS_ALL);
	uint32_t follow[] = { 3, 4, 5 };
	sim_subscribe_part(modest, 1, hall.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 0, 0, NULL,
			   0, follow, 3);
	ck_assert_int_eq(sim_control(hall.keeper, hall.world, WIRE_CONTROL_RESUME, 1), STATUS_OK);
	server_sim_run(hall.sim, NS_PER_S);
	const struct served_world *world = worlds_find(&hall.sim->server->worlds, hall.world);
	struct fanout_counters before, after;
	uint64_t tick = world->tick, frames = modest->subscriptions[0].frames;
	fanout_counters(world->fanout, &before);
	server_sim_run(hall.sim, 2 * NS_PER_S);
	fanout_counters(world->fanout, &after);
	uint64_t ticks = world->tick - tick;
	ck_assert_uint_ge(ticks, 115);
	/* The work is bounded by the role's rate plus the overdraft of the last frames. */
	uint64_t work = after.looked + after.rows - before.looked - before.rows;
	double rate = quota_of(WIRE_ROLE_OBSERVER, QUOTA_WATCHED_BY_ROLE);
	ck_assert_double_le((double)work, 2 * rate + 2.0 * GREEDY * 8 * 1000);
	ck_assert_uint_gt(after.short_of, before.short_of);
	uint64_t skipped = 0;
	for (uint32_t i = 0; i < GREEDY; i++)
		for (uint32_t n = 0; n < SIM_SUBSCRIPTIONS_MAX; n++) {
			ck_assert_uint_gt(greedy[i]->subscriptions[n].frames, 0);
			skipped += greedy[i]->subscriptions[n].skipped;
		}
	ck_assert_uint_gt(skipped, 0);
	/* Other sessions are not affected. */
	ck_assert_uint_eq(modest->subscriptions[0].skipped, 0);
	ck_assert_uint_ge(modest->subscriptions[0].frames - frames, ticks - 10);
	/* After the world stops, every client gets its whole state. */
	ck_assert_int_eq(sim_control(hall.keeper, hall.world, WIRE_CONTROL_PAUSE, 0), STATUS_OK);
	for (uint32_t i = 0; i < GREEDY; i++)
		for (uint32_t n = 0; n < SIM_SUBSCRIPTIONS_MAX; n++)
			ck_assert(sim_caught_up(greedy[i], 1 + n, 5 * NS_PER_S));
	close_hall(&hall);
}
END_TEST

/* ---- floods ----------------------------------------------------------------------------------- */

enum { PINGS = 3000 };

START_TEST(a_flood_is_read_in_turns_and_every_message_is_answered_in_order)
{
	struct hall hall;
	open_hall(&hall, check_seed() + (uint64_t)_i);
	fill(&hall, 20);
	struct sim_client *client = guest(&hall, "controller", WIRE_CAPS_ALL);
	struct server *server = hall.sim->server;
	struct session *session = registry_find(&server->service.sessions, client->session);
	struct message ping;
	message_init(&ping, MESSAGE_PING);
	for (uint32_t n = 0; n < PINGS; n++) {
		ping.ping.t = n + 1;
		sim_send(client, &ping);
	}
	uint64_t pongs = 0, turn = 0, read = session->frames_in, before = read, last = read;
	uint64_t end = server_sim_now(hall.sim) + 20 * NS_PER_S, full = 0, pauses = 0;
	uint64_t whole =
		0; /* turns with a full read; the network decides how many bytes arrive at once */
	bool counted = false;
	while (session->frames_in < before + PINGS && server_sim_now(hall.sim) < end) {
		if (server->service.turn.number != turn) {
			turn = server->service.turn.number;
			read = session->frames_in;
			counted = false;
		}
		ck_assert(server_sim_step(hall.sim));
		if (server->service.turn.number == turn) {
			ck_assert_uint_le(session->frames_in - read, READING_MESSAGES);
			bool full_turn = session->frames_in - read == READING_MESSAGES;
			whole += full_turn && !counted;
			counted |= full_turn;
		}
		/* A pause follows a full turn, because the loop sleeps in between. */
		uint64_t now = server_sim_now(hall.sim);
		if (session->frames_in != last) {
			ck_assert(full == 0 || now >= full + READING_PAUSE_MS * NS_PER_MS);
			full = 0;
		}
		last = session->frames_in;
		if (session->reading.paused && full == 0) {
			full = now;
			pauses++;
		}
	}
	server_sim_run(hall.sim, NS_PER_S);
	for (uint32_t i = 0; i < client->received.count; i++) {
		const struct message *message = &client->received.items[i].message;
		if (message->type != MESSAGE_PONG)
			continue;
		ck_assert_uint_eq(message->pong.t, ++pongs);
	}
	ck_assert_uint_eq(pongs, PINGS);
	ck_assert_uint_ge(pauses, whole);
	close_hall(&hall);
}
END_TEST

/* The session's bytes are parsed and answered only at the quarter-second checks; at last the session
 * is disconnected. */
START_TEST(a_session_over_its_quota_is_read_four_times_a_second)
{
	struct hall hall;
	open_hall(&hall, check_seed() + (uint64_t)_i);
	struct sim_client *client = guest(&hall, "observer", WIRE_CAPS_ALL);
	struct message ping;
	message_init(&ping, MESSAGE_PING);
	uint64_t sent = 0, begun = server_sim_now(hall.sim);
	while (client->goodbye == STATUS_OK && server_sim_now(hall.sim) < begun + 20 * NS_PER_S) {
		for (uint32_t n = 0; n < 500 && sent - client->errors < 20000; n++, sent++) {
			ping.ping.t = sent + 1;
			sim_send(client, &ping);
		}
		server_sim_run(hall.sim, 50 * NS_PER_MS);
	}
	ck_assert_int_eq(client->goodbye, STATUS_BUSY);
	uint64_t seconds = (server_sim_now(hall.sim) - begun) / NS_PER_S + 1;
	ck_assert_uint_ge(seconds, 5);
	ck_assert_uint_le(client->errors, 5 * seconds * READING_MESSAGES);
	close_hall(&hall);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tests/sim/fairness");
	TCase *still = tcase_create("still");
	tcase_set_timeout(still, 60);
	tcase_add_loop_test(still, a_paused_world_is_sent_as_fast_as_the_client_reads, 0, 4);
	tcase_add_loop_test(still, the_last_tick_of_a_stopped_world_is_sent_whatever_the_divisor, 0,
			    4);
	suite_add_tcase(suite, still);
	TCase *greedy = tcase_create("greedy");
	tcase_set_timeout(greedy, 60);
	tcase_add_loop_test(greedy, a_greedy_watcher_skips_frames_and_a_modest_one_gets_every_frame,
			    0, 1);
	suite_add_tcase(suite, greedy);
	TCase *floods = tcase_create("floods");
	tcase_set_timeout(floods, 60);
	tcase_add_loop_test(floods, a_flood_is_read_in_turns_and_every_message_is_answered_in_order,
			    0, 4);
	tcase_add_loop_test(floods, a_session_over_its_quota_is_read_four_times_a_second, 0, 2);
	suite_add_tcase(suite, floods);
	return suite;
}

int main(void)
{
	return check_main(make);
}
