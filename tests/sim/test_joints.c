/* Joints in subscriptions. The mirror of every subscription (whole or part, late, after gaps) holds
 * the world's joints: server_sim compares every frame with world_joint, bit for bit in the profile's
 * form. Joints at rest cost nothing.
 *
 * SEEDS=N in the environment runs N long lives (10^5 ticks) instead of the short ones of a suite. */
#include <stdio.h>
#include <stdlib.h>

#include "server/engine/world/world.h"
#include "server/host/host_state.h"
#include "server/server.h"
#include "tests/lib/check_main.h"
#include "tests/lib/server_sim.h"
#include "tests/lib/worlds.h"

enum { WATCHERS = 4, BODIES_MAX = 60, TICKS_SHORT = 1500, TICKS_LONG = 100000, BATCH_MAX = 6 };

struct yard {
	struct server_sim *sim;
	struct sim_client *keeper;
	uint32_t world;
	struct rng rng;
};

static double random_between(struct yard *yard, double most)
{
	return ((double)rng_below(&yard->rng, 2001) / 1000 - 1) * most;
}

/* A lock-step world of `bodies` spheres in a cube, without gravity. */
static struct yard open_yard(uint64_t seed, uint32_t bodies)
{
	struct server_sim_options options = server_sim_options_default(seed);
	struct sim_client_options who = sim_client_options_default();
	struct command commands[2 + BODIES_MAX];
	uint32_t count = 0;
	struct yard yard = { .sim = server_sim_create(&options), .rng = rng_seeded(seed) };
	yard.keeper = server_sim_guest(yard.sim, &who);
	yard.world = sim_make_world(yard.keeper, "yard", NULL);
	sim_upload(yard.keeper, yard.world, TEST_SPHERE);
	command_defaults(&commands[count], COMMAND_SHAPE_USE);
	commands[count++].shape_use.name = test_shape_name(TEST_SPHERE);
	command_defaults(&commands[count], COMMAND_GRAVITY);
	commands[count++].gravity.gravity = (vec3){ 0, 0, 0 };
	for (uint32_t i = 0; i < bodies; i++) {
		commands[count] = sim_spawn(random_between(&yard, 12), random_between(&yard, 12),
					    random_between(&yard, 12), i, true);
		commands[count++].spawn.velocity =
			(vec3){ random_between(&yard, 2), random_between(&yard, 2),
				random_between(&yard, 2) };
	}
	ck_assert_int_eq(sim_step(yard.keeper, yard.world, 1, 0, commands, count)->type,
			 MESSAGE_STEPPED);
	return yard;
}

static void close_yard(struct yard *yard)
{
	ck_assert(server_sim_sound(yard->sim));
	ck_assert(server_sim_drain(yard->sim, 60 * NS_PER_S));
	server_sim_destroy(yard->sim);
}

static struct served_world *served(const struct yard *yard)
{
	return worlds_find(&yard->sim->server->worlds, yard->world);
}

static const struct world *engine(const struct yard *yard)
{
	return server_sim_world(yard->sim, yard->world);
}

static int64_t any_body(struct yard *yard)
{
	body_id ids[2 * BODIES_MAX];
	uint32_t count = world_bodies(engine(yard), ids, COUNT_OF(ids));
	return count == 0 ? 0 : ids[rng_below(&yard->rng, MIN_OF(count, COUNT_OF(ids)))];
}

static int64_t any_joint(struct yard *yard)
{
	joint_id ids[512];
	uint32_t count = world_joints(engine(yard), 0, ids, COUNT_OF(ids));
	return count == 0 ? 0 : ids[rng_below(&yard->rng, MIN_OF(count, COUNT_OF(ids)))];
}

/* A joint of two bodies, or of one body and the world (id 0), at their present places. */
static struct command a_joint(int64_t a, int64_t b, enum joint_type type)
{
	struct command command;
	command_defaults(&command, COMMAND_JOINT_CREATE);
	command.joint_create.type = type;
	command.joint_create.body_a = a;
	command.joint_create.body_b = b;
	command.joint_create.place = 1;
	return command;
}

static struct command join_two(struct yard *yard)
{
	int64_t a = rng_below(&yard->rng, 5) == 0 ? 0 : any_body(yard);
	enum joint_type type = 1 + rng_below(&yard->rng, JOINT_TYPES_END - 1);
	struct command command = a_joint(type == JOINT_DRAG ? 0 : a, any_body(yard), type);
	command.joint_create.point_a = (vec3){ random_between(yard, 12), random_between(yard, 12),
					       random_between(yard, 12) };
	command.joint_create.point_b = command.joint_create.point_a;
	if (type == JOINT_DISTANCE || type == JOINT_DRAG)
		command.joint_create.point_b.y += 1 + random_between(yard, 1);
	command.joint_create.tag = rng_below(&yard->rng, 1000);
	if (rng_below(&yard->rng, 3) == 0)
		command.joint_create.break_force = 50;
	return command;
}

static struct command random_command(struct yard *yard)
{
	struct command command;
	switch (rng_below(&yard->rng, 9)) {
	case 0:
		return sim_spawn(random_between(yard, 12), random_between(yard, 12),
				 random_between(yard, 12), 7, true);
	case 1:
		if (world_bodies(engine(yard), NULL, 0) < BODIES_MAX / 2)
			return sim_spawn(random_between(yard, 12), 0, random_between(yard, 12), 8,
					 true);
		command_defaults(&command, COMMAND_REMOVE);
		command.remove.body = any_body(yard);
		return command;
	case 2:
		command_defaults(&command, COMMAND_JOINT_REMOVE);
		command.joint_remove.joint = any_joint(yard);
		return command;
	case 3:
		command_defaults(&command, COMMAND_JOINT_SET);
		command.joint_set.joint = any_joint(yard);
		command.joint_set.tag = rng_below(&yard->rng, 9);
		command.joint_set.break_torque = rng_below(&yard->rng, 2) * 1e6;
		return command;
	case 4:
	case 5:
		command_defaults(&command, COMMAND_IMPULSE);
		command.impulse.body = any_body(yard);
		command.impulse.impulse =
			(vec3){ random_between(yard, 4000), random_between(yard, 4000),
				random_between(yard, 4000) };
		return command;
	default:
		return join_two(yard);
	}
}

/* Sends a batch of random commands. Some commands are invalid; then the whole batch is refused. */
static void send_batch(struct yard *yard)
{
	struct command commands[BATCH_MAX];
	uint32_t count = 1 + rng_below(&yard->rng, BATCH_MAX);
	for (uint32_t i = 0; i < count; i++)
		commands[i] = random_command(yard);
	sim_commands(yard->keeper, yard->world, commands, count, 0, WIRE_LATE_APPLY);
}

/* Subscribes WATCHERS clients, one for each profile, to the whole world, a fixed ball, a ball around a
 * moving body, and a ball within a byte budget. */
static void subscribe_watchers(struct yard *yard)
{
	const struct wire_area ball = { .kind = WIRE_AREA_BALL, .numbers = { 0, 0, 0, 8 } };
	const struct wire_area moving = { .kind = WIRE_AREA_BALL,
					  .body = 3,
					  .numbers = { 0, 0, 0, 5 } };
	const uint32_t follow[2] = { 2, 5 };
	for (uint32_t i = 0; i < WATCHERS; i++) {
		struct sim_client_options who = sim_client_options_default();
		enum wire_profile profile = (enum wire_profile)i;
		who.ack_delay_max = (2 + 60 * i) * NS_PER_MS;
		who.resumes = true;
		who.joints =
			i == 2 ? WIRE_JOINT_COORDINATES | WIRE_JOINT_OWNER : WIRE_JOINT_COLUMNS_ALL;
		struct sim_client *client = server_sim_guest(yard->sim, &who);
		sim_join(client, yard->world);
		sim_subscribe(client, 1, yard->world, WIRE_COLUMNS_TICK, profile, 1 + i % 3, 0);
		sim_subscribe_part(client, 2, yard->world, WIRE_COLUMNS_TICK, profile, 0, 0, &ball,
				   1, NULL, 0);
		sim_subscribe_part(client, 3, yard->world, WIRE_COLUMNS_ALL, profile, 0, 0, &moving,
				   1, follow, 2);
		sim_subscribe_part(client, 4, yard->world, WIRE_COLUMNS_TICK, profile, 0, 20000,
				   &ball, 1, NULL, 0);
	}
}

/* Ends or stalls a connection, or moves a FOCUS. */
static void disturb(struct yard *yard)
{
	struct sim_client *client = yard->sim->clients[1 + rng_below(&yard->rng, WATCHERS)];
	struct sim_subscription *part = sim_subscription(client, 2 + rng_below(&yard->rng, 2));
	struct wire_area ball = { .kind = WIRE_AREA_BALL, .numbers = { 0, 0, 0, 8 } };
	uint32_t follow = (uint32_t)any_body(yard);
	switch (rng_below(&yard->rng, 4)) {
	case 0:
		sim_resume(client);
		return;
	case 1:
		sim_stall(client, true);
		server_sim_run(yard->sim, NS_PER_S);
		sim_stall(client, false);
		return;
	default:
		ball.numbers[0] = random_between(yard, 6);
		if (part != NULL && client->stream != NULL)
			sim_focus(client, part, &ball, 1, &follow, 1);
	}
}

/* SAVE, or RESTORE of the saved state: a new epoch with other joints. */
static void save_or_restore(struct yard *yard, bool save)
{
	struct message ask;
	message_init(&ask, save ? MESSAGE_SAVE : MESSAGE_RESTORE);
	if (save) {
		ask.save.ref = sim_ref(yard->keeper);
		ask.save.world = yard->world;
		ask.save.name = wire_text("then");
	} else {
		ask.restore.ref = sim_ref(yard->keeper);
		ask.restore.world = yard->world;
		ask.restore.name = wire_text("then");
	}
	ck_assert_int_eq(sim_try(yard->keeper, &ask, save ? MESSAGE_SAVED : MESSAGE_RESTORED),
			 STATUS_OK);
}

static uint64_t shown_joints(const struct yard *yard)
{
	uint64_t shown = 0;
	for (uint32_t i = 1; i < yard->sim->client_count; i++)
		for (uint32_t k = 0; k < yard->sim->clients[i]->subscription_count; k++)
			shown += yard->sim->clients[i]->subscriptions[k].mirror.joints.count;
	return shown;
}

static void run_life(uint64_t seed, uint64_t ticks)
{
	struct yard yard = open_yard(seed, BODIES_MAX / 2);
	uint64_t shown = 0, made = 0, compared = 0;
	subscribe_watchers(&yard);
	save_or_restore(&yard, true);
	while (made < ticks) {
		uint32_t n = 1 + rng_below(&yard.rng, 12);
		send_batch(&yard);
		ck_assert_int_eq(sim_step(yard.keeper, yard.world, n, 0, NULL, 0)->type,
				 MESSAGE_STEPPED);
		made += n;
		if (rng_below(&yard.rng, 3) == 0)
			server_sim_run(yard.sim, (1 + rng_below(&yard.rng, 100)) * NS_PER_MS);
		if (rng_below(&yard.rng, 40) == 0)
			disturb(&yard);
		if (rng_below(&yard.rng, 150) == 0)
			save_or_restore(&yard, rng_below(&yard.rng, 2) == 0);
		shown += shown_joints(&yard);
		/* No mirror shows states older than 4000 ticks; their copies are freed. */
		if (made - compared > 4000) {
			compared = made;
			server_sim_run(yard.sim, 3 * NS_PER_S);
			server_sim_forget(yard.sim);
		}
	}
	for (uint32_t i = 1; i <= WATCHERS; i++)
		if (yard.sim->clients[i]->stream != NULL)
			ck_assert(sim_caught_up(yard.sim->clients[i], 1, 5 * NS_PER_S));
	printf("# seed %llu: %llu ticks, %u joints made, %llu frames held against the world\n",
	       (unsigned long long)seed, (unsigned long long)made,
	       (unsigned)engine(&yard)->tables.world.next_joint[0] - 1,
	       (unsigned long long)yard.sim->compared);
	ck_assert_uint_gt(shown, ticks);
	ck_assert_uint_gt(yard.sim->compared, ticks / 4);
	close_yard(&yard);
}

START_TEST(mirrors_hold_the_joints_through_creation_breaking_and_restore)
{
	run_life(check_seed() + (uint64_t)_i, getenv("SEEDS") != NULL ? TICKS_LONG : TICKS_SHORT);
}
END_TEST

static uint32_t life_count(void)
{
	const char *text = getenv("SEEDS");
	return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 4;
}

/* Two joined spheres and a third one apart, all at rest. */
static struct yard open_pair(void)
{
	struct yard yard = open_yard(check_seed(), 0);
	struct command commands[4];
	commands[0] = sim_spawn(0, 0, 0, 0, true);
	commands[1] = sim_spawn(3, 0, 0, 0, true);
	commands[2] = sim_spawn(30, 0, 0, 0, true);
	commands[3] = a_joint(1, 2, JOINT_FIXED);
	commands[3].joint_create.point_a = (vec3){ 1.5, 0, 0 };
	ck_assert_int_eq(sim_step(yard.keeper, yard.world, 1, 0, commands, 4)->type,
			 MESSAGE_STEPPED);
	yard.keeper->options.joints = WIRE_JOINT_COLUMNS_ALL;
	return yard;
}

static uint32_t joints_of(struct yard *yard, uint64_t sub)
{
	ck_assert(sim_caught_up(yard->keeper, sub, NS_PER_S));
	return sim_subscription(yard->keeper, sub)->mirror.joints.count;
}

static void unsubscribe(struct yard *yard, uint64_t sub)
{
	struct message end;
	message_init(&end, MESSAGE_UNSUBSCRIBE);
	end.unsubscribe.sub = sub;
	ck_assert_int_eq(sim_try(yard->keeper, &end, MESSAGE_REPLY), STATUS_OK);
}

START_TEST(the_host_reports_joints_only_while_a_subscription_needs_them)
{
	struct yard yard = open_pair();
	yard.keeper->options.joints = 0;
	sim_subscribe(yard.keeper, 1, yard.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0);
	ck_assert_uint_eq(joints_of(&yard, 1), 0);
	yard.keeper->options.joints = WIRE_JOINT_COLUMNS_ALL;
	for (uint64_t sub = 2; sub < 5; sub++) {
		const struct view_joints *joints = &fanout_view(served(&yard)->fanout)->joints;
		ck_assert(!served(&yard)->host->joints_watched && joints->rows.items == NULL);
		/* Also in a paused world. */
		sim_subscribe(yard.keeper, sub, yard.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_VIEW, 1,
			      0);
		ck_assert_uint_eq(joints_of(&yard, sub), 1);
		ck_assert(served(&yard)->host->joints_watched && joints->rows.count == 1);
		unsubscribe(&yard, sub);
		sim_step(yard.keeper, yard.world, 2, 0, NULL, 0);
	}
	close_yard(&yard);
}
END_TEST

static uint64_t joints_examined(const struct yard *yard)
{
	struct fanout_counters counters;
	fanout_counters(served(yard)->fanout, &counters);
	return counters.joints;
}

START_TEST(joints_at_rest_cost_nothing_until_they_change)
{
	struct yard yard = open_pair();
	struct command command;
	sim_subscribe(yard.keeper, 1, yard.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0);
	ck_assert_uint_eq(joints_of(&yard, 1), 1);
	sim_step(yard.keeper, yard.world, 300, 0, NULL, 0);
	ck_assert_uint_eq(joints_of(&yard, 1), 1);
	ck_assert_uint_eq(world_stats(engine(&yard)).awake, 0);
	uint64_t before = joints_examined(&yard);
	sim_step(yard.keeper, yard.world, 50, 0, NULL, 0);
	ck_assert_uint_eq(joints_of(&yard, 1), 1);
	ck_assert_uint_eq(joints_examined(&yard), before);
	command_defaults(&command, COMMAND_JOINT_SET);
	command.joint_set.joint = 1;
	command.joint_set.tag = 77;
	sim_step(yard.keeper, yard.world, 1, 0, &command, 1);
	ck_assert_uint_eq(joints_of(&yard, 1), 1);
	ck_assert_int_eq(sim_subscription(yard.keeper, 1)->mirror.joints.items[0].tag, 77);
	ck_assert_uint_gt(joints_examined(&yard), before);
	close_yard(&yard);
}
END_TEST

START_TEST(a_subscription_shows_a_joint_if_it_shows_one_of_its_bodies)
{
	struct yard yard = open_pair();
	const struct wire_area here = { .kind = WIRE_AREA_BALL, .numbers = { 0, 0, 0, 1 } };
	const struct wire_area nowhere = { .kind = WIRE_AREA_BALL, .numbers = { 0, 90, 0, 1 } };
	const uint32_t second = 2, third = 3;
	struct command command;
	sim_subscribe_part(yard.keeper, 1, yard.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_SIM, 0, 0,
			   &here, 1, NULL, 0);
	sim_subscribe_part(yard.keeper, 2, yard.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_PLAIN, 0, 0,
			   NULL, 0, &third, 1);
	ck_assert_uint_eq(joints_of(&yard, 1), 1);
	ck_assert_uint_eq(joints_of(&yard, 2), 0);
	/* The FOCUS moves to the other body of the joint, to an empty area, and back. */
	sim_focus(yard.keeper, sim_subscription(yard.keeper, 1), &nowhere, 1, &second, 1);
	sim_step(yard.keeper, yard.world, 1, 0, NULL, 0);
	ck_assert_uint_eq(joints_of(&yard, 1), 1);
	sim_focus(yard.keeper, sim_subscription(yard.keeper, 1), &nowhere, 1, NULL, 0);
	sim_step(yard.keeper, yard.world, 1, 0, NULL, 0);
	ck_assert_uint_eq(joints_of(&yard, 1), 0);
	sim_focus(yard.keeper, sim_subscription(yard.keeper, 1), &here, 1, NULL, 0);
	sim_step(yard.keeper, yard.world, 1, 0, NULL, 0);
	ck_assert_uint_eq(joints_of(&yard, 1), 1);
	/* Removing a body removes its joints. */
	command_defaults(&command, COMMAND_REMOVE);
	command.remove.body = 2;
	sim_step(yard.keeper, yard.world, 1, 0, &command, 1);
	ck_assert_uint_eq(joints_of(&yard, 1), 0);
	ck_assert_uint_eq(sim_subscription(yard.keeper, 1)->mirror.count, 1);
	close_yard(&yard);
}
END_TEST

/* A mirror of all joints in the exact profile has the hash that STEPPED reports. */
START_TEST(the_joints_hash_equals_the_hash_of_a_whole_mirror)
{
	struct yard yard = open_pair();
	sim_subscribe(yard.keeper, 1, yard.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0);
	for (uint32_t n = 0; n < 20; n++) {
		send_batch(&yard);
		const struct message *stepped = sim_step(yard.keeper, yard.world, 1 + n % 3,
							 WIRE_WANT_JOINTS_HASH, NULL, 0);
		ck_assert_int_eq(stepped->type, MESSAGE_STEPPED);
		struct wire_hash hash = stepped->stepped.joints_hash;
		ck_assert(hash.set && !stepped->stepped.state_hash.set);
		ck_assert(sim_caught_up(yard.keeper, 1, NS_PER_S));
		const struct mirror *mirror = &sim_subscription(yard.keeper, 1)->mirror;
		ck_assert_uint_eq(mirror_joints_hash(&mirror->joints, mirror->tick), hash.value);
	}
	ck_assert_uint_gt(sim_subscription(yard.keeper, 1)->mirror.joints.count, 1);
	ck_assert(!sim_step(yard.keeper, yard.world, 1, WIRE_WANT_HASH, NULL, 0)
			   ->stepped.joints_hash.set);
	close_yard(&yard);
}
END_TEST

START_TEST(unknown_joint_columns_are_refused_by_name)
{
	struct yard yard = open_pair();
	struct message ask;
	message_init(&ask, MESSAGE_SUBSCRIBE);
	ask.subscribe.sub = 1;
	ask.subscribe.world = yard.world;
	ask.subscribe.divisor = 1;
	ask.subscribe.joints = WIRE_JOINT_COLUMNS_ALL + 1;
	ck_assert_int_eq(sim_try(yard.keeper, &ask, MESSAGE_SNAPSHOT), STATUS_RANGE);
	const struct msg_error *error = sim_error(yard.keeper, 1);
	ck_assert(error != NULL && error->field.bytes == 6 &&
		  memcmp(error->field.at, "joints", 6) == 0);
	close_yard(&yard);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tests/sim/joints");
	TCase *kind = tcase_create("kind");
	tcase_add_test(kind, the_host_reports_joints_only_while_a_subscription_needs_them);
	tcase_add_test(kind, joints_at_rest_cost_nothing_until_they_change);
	tcase_add_test(kind, a_subscription_shows_a_joint_if_it_shows_one_of_its_bodies);
	tcase_add_test(kind, the_joints_hash_equals_the_hash_of_a_whole_mirror);
	tcase_add_test(kind, unknown_joint_columns_are_refused_by_name);
	suite_add_tcase(suite, kind);
	TCase *life = tcase_create("life");
	tcase_set_timeout(life, getenv("SEEDS") != NULL ? 3600 : 120);
	tcase_add_loop_test(life, mirrors_hold_the_joints_through_creation_breaking_and_restore, 0,
			    (int)life_count());
	suite_add_tcase(suite, life);
	return suite;
}

int main(void)
{
	return check_main(make);
}
