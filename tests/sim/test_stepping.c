/* STEP: leases, barriers, repeats, wrong ticks, and clients that vanish while others wait. */
#include <string.h>

#include "protocol/command_wire.h"
#include "server/base/heap.h"
#include "server/host/host_state.h"
#include "tests/lib/check_main.h"
#include "tests/lib/server_sim.h"
#include "tests/lib/worlds.h"

enum { GUESTS = 3, TICKS = 40 };

struct party {
	struct server_sim *sim;
	struct sim_client *guests[GUESTS];
	uint32_t world;
};

static void open_party_of(struct party *party, const struct server_sim_options *options)
{
	struct sim_client_options who = sim_client_options_default();
	party->sim = server_sim_create(options);
	for (uint32_t i = 0; i < GUESTS; i++)
		party->guests[i] = server_sim_guest(party->sim, &who);
	party->world = sim_make_world(party->guests[0], "party", NULL);
	for (uint32_t i = 1; i < GUESTS; i++)
		sim_join(party->guests[i], party->world);
}

static void open_party_with(struct party *party, uint64_t seed, enum sim_stepper stepper)
{
	struct server_sim_options options = server_sim_options_default(seed);
	options.stepper = stepper;
	options.io.quiet = true;
	open_party_of(party, &options);
}

static void open_party(struct party *party, uint64_t seed)
{
	open_party_with(party, seed, SIM_STEPPER_DRAWN);
}

static void close_party(struct party *party)
{
	ck_assert(server_sim_sound(party->sim));
	ck_assert(server_sim_drain(party->sim, 60 * NS_PER_S));
	server_sim_destroy(party->sim);
}

static uint64_t tick_of(const struct party *party)
{
	return world_info(server_sim_world(party->sim, party->world)).tick;
}

/* Sends a STEP and does not wait; commands of raw bytes. */
static void send_step(struct party *party, uint32_t guest, uint64_t request, uint64_t n,
		      struct wire_option from, struct wire_list commands)
{
	struct message step;
	message_init(&step, MESSAGE_STEP);
	step.step.world = party->world;
	step.step.request = request;
	step.step.n = n;
	step.step.from = from;
	step.step.commands = commands;
	sim_send(party->guests[guest], &step);
}

static const struct wire_option ANY = { false, 0 };
static const struct wire_list NOTHING = { NULL, 0, 0 };

static enum status code_of(const struct message *message)
{
	ck_assert_ptr_nonnull(message);
	return message->type == MESSAGE_ERROR ? (enum status)message->error.code : STATUS_OK;
}

START_TEST(a_lease_belongs_to_one_session_and_ends_with_it)
{
	struct party party;
	struct server_sim_options options = server_sim_options_default(check_seed() + (uint64_t)_i);
	/* The virtual clock stands still in a slice, so a slice of many ticks would make all of them
	 * before the holder can disconnect. */
	options.one_tick_a_slice = options.io.quiet = true;
	open_party_of(&party, &options);
	struct sim_client *holder = party.guests[1], *other = party.guests[2];
	ck_assert_int_eq(sim_control(holder, party.world, WIRE_CONTROL_LOCKSTEP, 1), STATUS_OK);
	ck_assert_int_eq(sim_control(other, party.world, WIRE_CONTROL_RESUME, 1), STATUS_LEASED);
	ck_assert_int_eq(code_of(sim_step(other, party.world, 1, 0, NULL, 0)), STATUS_LEASED);
	ck_assert_uint_eq(tick_of(&party), 0);
	/* Another session's batch is accepted and applied with the holder's next tick. */
	struct command spawn = sim_spawn(0, 1, 0, 5, false);
	uint64_t batch = sim_commands(other, party.world, &spawn, 1, 0, WIRE_LATE_APPLY);
	server_sim_run(party.sim, 200 * NS_PER_MS);
	ck_assert_ptr_null(sim_result(other, party.world, batch));
	ck_assert_int_eq(code_of(sim_step(holder, party.world, 1, 0, NULL, 0)), STATUS_OK);
	ck_assert_ptr_nonnull(sim_await_result(other, party.world, batch));
	/* The holder disconnects while its STEP still has ticks to make. */
	send_step(&party, 1, 2, WIRE_STEPS_MAX, ANY, NOTHING);
	server_sim_run(party.sim, 3 * NS_PER_MS);
	sim_disconnect(holder);
	server_sim_run(party.sim, NS_PER_S);
	uint64_t left_at = tick_of(&party);
	ck_assert_uint_lt(left_at, WIRE_STEPS_MAX);
	ck_assert_int_eq(code_of(sim_step(other, party.world, 2, 0, NULL, 0)), STATUS_OK);
	ck_assert_uint_eq(tick_of(&party), left_at + 2);
	close_party(&party);
}
END_TEST

/* Each guest sends a STEP that spawns a body; the seed decides the order and the delays. Returns the
 * state hash. */
static uint64_t run_barrier(uint64_t seed)
{
	struct party party;
	open_party(&party, seed);
	ck_assert_int_eq(sim_control(party.guests[0], party.world, WIRE_CONTROL_BARRIER, GUESTS),
			 STATUS_OK);
	for (uint32_t tick = 0; tick < TICKS; tick++) {
		uint32_t first = rng_below(&party.sim->rng, GUESTS);
		for (uint32_t i = 0; i < GUESTS; i++) {
			uint8_t bytes[256];
			struct wire_packer out = wire_packer_over(bytes, sizeof bytes);
			uint32_t guest = (first + i) % GUESTS;
			struct command spawn = sim_spawn(guest, tick, 0, tick * 10 + guest, false);
			ck_assert_uint_eq(tick_of(&party), tick);
			command_pack(&out, &spawn);
			send_step(&party, guest, tick + 1, 1, (struct wire_option){ true, tick },
				  (struct wire_list){ bytes, out.bytes, 1 });
			server_sim_run(party.sim, rng_below(&party.sim->rng, 30) * NS_PER_MS);
		}
		for (uint32_t i = 0; i < GUESTS; i++) {
			const struct message *stepped =
				sim_wait(party.guests[i], MESSAGE_STEPPED, tick + 1);
			ck_assert_int_eq(code_of(stepped), STATUS_OK);
			ck_assert_uint_eq(stepped->stepped.tick, tick + 1);
		}
	}
	/* Within a tick, body ids follow the order of the session numbers. */
	const struct world *world = server_sim_world(party.sim, party.world);
	body_id ids[GUESTS * TICKS];
	ck_assert_uint_eq(world_bodies(world, ids, COUNT_OF(ids)), GUESTS * TICKS);
	for (uint32_t i = 0; i < GUESTS * TICKS; i++) {
		struct body_view view;
		ck_assert_int_eq(world_body(world, ids[i], &view), STATUS_OK);
		ck_assert_int_eq(view.tag, (int64_t)(i / GUESTS * 10 + i % GUESTS));
	}
	uint64_t hash = world_state_hash(world, NULL, NULL);
	close_party(&party);
	return hash;
}

START_TEST(a_barrier_makes_the_same_ticks_in_any_order_of_arrival)
{
	uint64_t expected = run_barrier(check_seed());
	for (uint64_t i = 1; i < 4; i++)
		ck_assert_uint_eq(run_barrier(check_seed() + i), expected);
}
END_TEST

START_TEST(a_repeated_step_is_answered_but_not_applied_twice)
{
	struct party party;
	open_party(&party, check_seed() + (uint64_t)_i);
	struct sim_client *client = party.guests[0];
	/* Repeats before the answer and after it. */
	for (int i = 0; i < 3; i++)
		send_step(&party, 0, 1, 5, ANY, NOTHING);
	const struct message *first = sim_wait(client, MESSAGE_STEPPED, 1);
	ck_assert_int_eq(code_of(first), STATUS_OK);
	uint64_t hash = first->stepped.tick_hash.value;
	server_sim_run(party.sim, 200 * NS_PER_MS);
	ck_assert_uint_eq(tick_of(&party), 5);
	for (int i = 0; i < 2; i++) {
		client->looked = client->received.count;
		send_step(&party, 0, 1, 7, ANY, NOTHING);
		const struct message *again = sim_wait(client, MESSAGE_STEPPED, 1);
		ck_assert_int_eq(code_of(again), STATUS_OK);
		ck_assert_uint_eq(again->stepped.tick, 5);
		ck_assert_uint_eq(again->stepped.tick_hash.value, hash);
	}
	/* After an ERROR the number is still free, and the last answer is still stored. */
	for (int i = 0; i < 2; i++) {
		client->looked = client->received.count;
		send_step(&party, 0, 2, 1, (struct wire_option){ true, 99 }, NOTHING);
		ck_assert_int_eq(code_of(sim_wait(client, MESSAGE_STEPPED, 2)), STATUS_TICK);
	}
	client->looked = client->received.count;
	send_step(&party, 0, 2, 1, ANY, NOTHING);
	ck_assert_int_eq(code_of(sim_wait(client, MESSAGE_STEPPED, 2)), STATUS_OK);
	ck_assert_uint_eq(tick_of(&party), 6);
	/* An older answer is no longer stored. */
	client->looked = client->received.count;
	send_step(&party, 0, 1, 1, ANY, NOTHING);
	ck_assert_int_eq(code_of(sim_wait(client, MESSAGE_STEPPED, 1)), STATUS_EXPIRED);
	ck_assert_uint_eq(tick_of(&party), 6);
	close_party(&party);
}
END_TEST

START_TEST(a_bad_step_is_refused_by_name_and_makes_no_tick)
{
	struct party party;
	open_party(&party, check_seed());
	struct sim_client *client = party.guests[0];
	static const uint8_t unknown_op[] = { 0x91, 0x7f }, not_a_list[] = { 0x07 };
	uint64_t before = sim_hash(client, party.world);
	uint64_t request = client->steps[party.world];
	const struct {
		struct wire_option from;
		uint64_t n;
		struct wire_list commands;
		enum status status;
	} wrong[] = {
		{ { true, 3 }, 1, NOTHING, STATUS_TICK },
		{ ANY, 1, { unknown_op, 2, 1 }, STATUS_UNKNOWN_COMMAND },
		{ ANY, 1, { not_a_list, 1, 1 }, STATUS_TYPE },
		{ ANY, 0, { unknown_op, 2, 1 }, STATUS_UNKNOWN_COMMAND },
	};
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		client->looked = client->received.count;
		send_step(&party, 0, ++request, wrong[i].n, wrong[i].from, wrong[i].commands);
		ck_assert_int_eq(code_of(sim_wait(client, MESSAGE_STEPPED, request)),
				 wrong[i].status);
	}
	client->steps[party.world] = request;
	ck_assert_uint_eq(tick_of(&party), 0);
	ck_assert_uint_eq(sim_hash(client, party.world), before);
	/* A STEP is refused while the world runs. */
	ck_assert_int_eq(sim_control(client, party.world, WIRE_CONTROL_RESUME, 1), STATUS_OK);
	ck_assert_int_eq(code_of(sim_step(client, party.world, 1, 0, NULL, 0)), STATUS_RUNNING);
	close_party(&party);
}
END_TEST

START_TEST(a_barrier_does_not_count_steps_of_ended_sessions)
{
	struct party party;
	open_party(&party, check_seed() + (uint64_t)_i);
	ck_assert_int_eq(sim_control(party.guests[0], party.world, WIRE_CONTROL_BARRIER, 2),
			 STATUS_OK);
	/* One guest sends a STEP and disconnects before any other STEP arrives. */
	send_step(&party, 0, 1, 1, ANY, NOTHING);
	server_sim_run(party.sim, 50 * NS_PER_MS);
	sim_disconnect(party.guests[0]);
	server_sim_run(party.sim, 100 * NS_PER_MS);
	send_step(&party, 1, 1, 1, ANY, NOTHING);
	server_sim_run(party.sim, 500 * NS_PER_MS);
	ck_assert_uint_eq(tick_of(&party), 0);
	send_step(&party, 2, 1, 1, ANY, NOTHING);
	ck_assert_int_eq(code_of(sim_wait(party.guests[1], MESSAGE_STEPPED, 1)), STATUS_OK);
	ck_assert_int_eq(code_of(sim_wait(party.guests[2], MESSAGE_STEPPED, 1)), STATUS_OK);
	ck_assert_uint_eq(tick_of(&party), 1);
	/* A STEP that waits at a barrier is answered with RUNNING when the world is resumed. */
	send_step(&party, 1, 2, 1, ANY, NOTHING);
	server_sim_run(party.sim, 50 * NS_PER_MS);
	ck_assert_int_eq(sim_control(party.guests[2], party.world, WIRE_CONTROL_RESUME, 1),
			 STATUS_OK);
	ck_assert_int_eq(code_of(sim_wait(party.guests[1], MESSAGE_STEPPED, 2)), STATUS_RUNNING);
	close_party(&party);
}
END_TEST

START_TEST(steps_of_one_tick_and_one_step_of_many_give_the_same_world)
{
	uint64_t hashes[2];
	for (int way = 0; way < 2; way++) {
		struct party party;
		open_party(&party, check_seed() + (uint64_t)(10 * way));
		struct sim_client *client = party.guests[0];
		sim_upload(client, party.world, TEST_SPHERE);
		struct command commands[4];
		command_defaults(&commands[0], COMMAND_SHAPE_USE);
		commands[0].shape_use.name = test_shape_name(TEST_SPHERE);
		for (int i = 1; i < 4; i++)
			commands[i] = sim_spawn(0.1 * i, i, 0, i, true);
		sim_subscribe(client, 1, party.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0);
		ck_assert_int_eq(code_of(sim_step(client, party.world, 1, 0, commands, 4)),
				 STATUS_OK);
		for (int i = 0; i < (way ? 1 : 60); i++)
			ck_assert_int_eq(
				code_of(sim_step(client, party.world, way ? 60 : 1, 15, NULL, 0)),
				STATUS_OK);
		hashes[way] = sim_hash(client, party.world);
		ck_assert(sim_caught_up(client, 1, NS_PER_S));
		close_party(&party);
	}
	ck_assert_uint_eq(hashes[0], hashes[1]);
}
END_TEST

/* A pile falls, with commands between and within the STEPs. `hashes`: the state hash after each STEP;
 * `loop_slices`: the number of slices that the loop's own thread made. */
static void drop_pile(enum sim_stepper stepper, uint64_t hashes[TICKS], uint64_t *loop_slices)
{
	struct party party;
	struct pool_counters counters;
	open_party_with(&party, check_seed(), stepper);
	struct sim_client *client = party.guests[0];
	sim_upload(client, party.world, TEST_SPHERE);
	struct command use, spawn;
	command_defaults(&use, COMMAND_SHAPE_USE);
	use.shape_use.name = test_shape_name(TEST_SPHERE);
	ck_assert_int_eq(code_of(sim_step(client, party.world, 1, 0, &use, 1)), STATUS_OK);
	sim_subscribe(client, 1, party.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0);
	for (int i = 0; i < TICKS; i++) {
		spawn = sim_spawn(0.01 * i, 1 + 0.9 * (i % 5), 0, i, true);
		if (i % 3 == 0)
			(void)sim_commands(client, party.world, &spawn, 1, 0, WIRE_LATE_APPLY);
		const struct message *stepped = sim_step(client, party.world, 1 + (i % 4 == 0),
							 WIRE_WANT_HASH, &spawn, i % 2);
		ck_assert_int_eq(code_of(stepped), STATUS_OK);
		hashes[i] = stepped->stepped.state_hash.value;
	}
	ck_assert(sim_caught_up(client, 1, NS_PER_S));
	pool_counters(party.sim->server->service.pool, &counters);
	*loop_slices = counters.slices;
	close_party(&party);
}

START_TEST(a_tick_gives_the_same_state_on_a_worker_and_on_the_loop)
{
	uint64_t hashes[2][TICKS], loop_slices[2];
	drop_pile(SIM_STEPPER_WORKER, hashes[0], &loop_slices[0]);
	drop_pile(SIM_STEPPER_LOOP, hashes[1], &loop_slices[1]);
	ck_assert_mem_eq(hashes[0], hashes[1], sizeof hashes[0]);
	ck_assert_uint_eq(loop_slices[0], 0);
	ck_assert_uint_ge(loop_slices[1], TICKS / 2);
}
END_TEST

/* Falling spheres, STEP(60) twice with batches dated within both and a removal; a subscription afterwards,
 * or from the beginning. `ticks`: at which the
 * dated batches were applied. */
static uint64_t step_with_dated_batches(uint64_t seed, bool watched, bool one_tick, uint64_t *ticks)
{
	struct party party;
	struct server_sim_options options = server_sim_options_default(seed);
	options.one_tick_a_slice = one_tick;
	options.io.quiet = true;
	open_party_of(&party, &options);
	struct sim_client *client = party.guests[0];
	struct command commands[6], later, gone;
	sim_upload(client, party.world, TEST_SPHERE);
	command_defaults(&commands[0], COMMAND_SHAPE_USE);
	commands[0].shape_use.name = test_shape_name(TEST_SPHERE);
	for (int i = 1; i < 6; i++)
		commands[i] = sim_spawn(0.1 * i, i, 0, i, true);
	if (watched)
		sim_subscribe(client, 1, party.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0);
	ck_assert_int_eq(code_of(sim_step(client, party.world, 1, 0, commands, 6)), STATUS_OK);
	later = sim_spawn(2, 3, 0, 77, true);
	command_defaults(&gone, COMMAND_REMOVE);
	gone.remove.body = 2;
	uint64_t made = sim_commands(client, party.world, &later, 1, 31, WIRE_LATE_APPLY);
	uint64_t removed = sim_commands(client, party.world, &gone, 1, 85, WIRE_LATE_APPLY);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(code_of(sim_step(client, party.world, 60, 0, NULL, 0)), STATUS_OK);
	struct sim_result *results[] = { sim_await_result(client, party.world, made),
					 sim_await_result(client, party.world, removed) };
	for (int i = 0; i < 2; i++) {
		ck_assert_ptr_nonnull(results[i]);
		ck_assert_int_eq(results[i]->code, STATUS_OK);
		ticks[i] = results[i]->tick;
	}
	if (!watched)
		sim_subscribe(client, 1, party.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0);
	ck_assert_int_eq(code_of(sim_step(client, party.world, 1, 0, NULL, 0)), STATUS_OK);
	ck_assert(sim_caught_up(client, 1, NS_PER_S));
	uint64_t hash = sim_hash(client, party.world);
	close_party(&party);
	return hash;
}

START_TEST(ticks_that_share_a_slice_change_neither_states_nor_results_nor_mirrors)
{
	uint64_t hashes[4], ticks[4][2];
	for (int way = 0; way < 4; way++)
		hashes[way] = step_with_dated_batches(check_seed() + (uint64_t)_i, way & 1, way & 2,
						      ticks[way]);
	for (int way = 1; way < 4; way++) {
		ck_assert_uint_eq(hashes[way], hashes[0]);
		ck_assert_mem_eq(ticks[way], ticks[0], sizeof ticks[0]);
	}
	ck_assert_uint_eq(ticks[0][0], 31);
	ck_assert_uint_eq(ticks[0][1], 85);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tests/sim/stepping");
	TCase *stepping = tcase_create("stepping");
	tcase_set_timeout(stepping, 30);
	tcase_add_loop_test(stepping, a_lease_belongs_to_one_session_and_ends_with_it, 0, 5);
	tcase_add_test(stepping, a_barrier_makes_the_same_ticks_in_any_order_of_arrival);
	tcase_add_loop_test(stepping, a_repeated_step_is_answered_but_not_applied_twice, 0, 5);
	tcase_add_test(stepping, a_bad_step_is_refused_by_name_and_makes_no_tick);
	tcase_add_loop_test(stepping, a_barrier_does_not_count_steps_of_ended_sessions, 0, 5);
	tcase_add_test(stepping, steps_of_one_tick_and_one_step_of_many_give_the_same_world);
	tcase_add_test(stepping, a_tick_gives_the_same_state_on_a_worker_and_on_the_loop);
	tcase_add_loop_test(stepping,
			    ticks_that_share_a_slice_change_neither_states_nor_results_nor_mirrors,
			    0, 4);
	suite_add_tcase(suite, stepping);
	return suite;
}

int main(void)
{
	return check_main(make);
}
