/* The shortest run of a daemon: one world is made, subscribed to and stepped. */
#include "tests/lib/check_main.h"
#include "tests/lib/server_sim.h"
#include "tests/lib/worlds.h"
#include "server/base/heap.h"

START_TEST(a_world_is_made_watched_and_stepped_and_all_memory_is_freed)
{
	int64_t live = heap_live();
	(void)test_shape(TEST_SPHERE);
	live = heap_live();
	struct server_sim_options options = server_sim_options_default(check_seed() + (uint64_t)_i);
	struct server_sim *sim = server_sim_create(&options);
	struct sim_client_options who = sim_client_options_default();
	struct sim_client *client = server_sim_guest(sim, &who);
	uint32_t world = sim_make_world(client, "demo", NULL);
	sim_upload(client, world, TEST_SPHERE);
	struct command commands[4];
	command_defaults(&commands[0], COMMAND_SHAPE_USE);
	commands[0].shape_use.name = test_shape_name(TEST_SPHERE);
	for (int i = 1; i < 4; i++)
		commands[i] = sim_spawn(i * 0.3, 2 * i, 0, i, true);
	sim_subscribe(client, 1, world, 127, WIRE_PROFILE_EXACT, 1, ~0ull >> 11);
	sim_subscribe(client, 2, world, 31, WIRE_PROFILE_PLAIN, 3, 0);
	const struct message *stepped = sim_step(client, world, 10, 15, commands, 4);
	ck_assert_ptr_nonnull(stepped);
	ck_assert_int_eq(stepped->type, MESSAGE_STEPPED);
	ck_assert_int_eq(sim_control(client, world, WIRE_CONTROL_RESUME, 1), STATUS_OK);
	server_sim_run(sim, 3 * NS_PER_S);
	ck_assert_int_eq(sim_control(client, world, WIRE_CONTROL_PAUSE, 1), STATUS_OK);
	ck_assert(sim_caught_up(client, 1, NS_PER_S));
	ck_assert(server_sim_sound(sim));
	ck_assert_uint_gt(sim->compared, 150);
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
	ck_assert_int_eq(heap_live(), live);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tests/sim/smoke");
	TCase *life = tcase_create("life");
	tcase_add_loop_test(life, a_world_is_made_watched_and_stepped_and_all_memory_is_freed, 0,
			    5);
	suite_add_tcase(suite, life);
	return suite;
}

int main(void)
{
	return check_main(make);
}
