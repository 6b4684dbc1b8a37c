/* Drags and the sessions that own them. A drag ends when its session ends, and not before. Watchers
 * get the event. A replay of the file ends the same drags at the same ticks. */
#include <stdio.h>
#include <string.h>

#include "server/server.h"
#include "server/session/session.h"
#include "server/store/replay.h"
#include "tests/lib/check_main.h"
#include "tests/lib/recorder.h"
#include "tests/lib/server_sim.h"

#define TICK (NS_PER_S / 60)

struct room {
	struct server_sim *sim;
	struct sim_client *keeper; /* subscribes to the whole world with all joint columns */
	uint32_t world;
};

static struct sim_client *guest(struct server_sim *sim, const char *role, bool resumes)
{
	struct sim_client_options who = sim_client_options_default();
	who.role = role;
	who.resumes = resumes;
	who.joints = WIRE_JOINT_COLUMNS_ALL;
	return server_sim_guest(sim, &who);
}

/* A world of four points that the keeper owns; `runs`: it runs, else it is paused. */
static struct room open_room(uint64_t seed, const char *data, bool runs)
{
	struct server_sim_options options = server_sim_options_default(seed);
	struct room room;
	options.io.quiet = true;
	if (data != NULL) {
		options.arguments[0] = "--data";
		options.arguments[1] = data;
	}
	room.sim = server_sim_create(&options);
	room.keeper = guest(room.sim, NULL, false);
	room.world = sim_make_world(room.keeper, "room", NULL);
	struct command commands[4];
	for (int i = 0; i < 4; i++)
		commands[i] = sim_spawn(3 * i, 0, 0, i, false);
	sim_step(room.keeper, room.world, 1, 0, commands, 4);
	sim_subscribe(room.keeper, 1, room.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0);
	if (runs)
		ck_assert_int_eq(sim_control(room.keeper, room.world, WIRE_CONTROL_RESUME, 0),
				 STATUS_OK);
	return room;
}

static void close_room(struct room *room)
{
	ck_assert(server_sim_sound(room->sim));
	ck_assert(server_sim_drain(room->sim, 60 * NS_PER_S));
	server_sim_destroy(room->sim);
}

static const struct world *engine(const struct room *room)
{
	return server_sim_world(room->sim, room->world);
}

static struct command joint(enum joint_type type, int64_t body, uint32_t owner)
{
	struct command command;
	command_defaults(&command, COMMAND_JOINT_CREATE);
	command.joint_create.type = type;
	command.joint_create.body_b = body;
	command.joint_create.place = 1;
	command.joint_create.owner = owner;
	return command;
}

static int64_t send_and_await(struct sim_client *client, uint32_t world,
			      const struct command *commands, uint32_t count)
{
	struct sim_result *result = sim_await_result(
		client, world, sim_commands(client, world, commands, count, 0, WIRE_LATE_APPLY));
	ck_assert_ptr_nonnull(result);
	ck_assert_int_eq(result->code, STATUS_OK);
	return result->values[count - 1];
}

/* Spawns a body and a drag on it, both owned by the client. Returns the drag's id. */
static int64_t make_drag(struct sim_client *client, uint32_t world)
{
	struct command commands[] = { sim_spawn(0, 3, 0, 9, false),
				      joint(JOINT_DRAG, -1, client->session) };
	return send_and_await(client, world, commands, 2);
}

/* The drag exists both in the engine and in a watcher's mirror, or in neither. */
static bool drag_exists(struct room *room, int64_t id)
{
	struct joint_view view;
	bool there = world_joint(engine(room), (joint_id)id, &view) == STATUS_OK;
	server_sim_run(room->sim, NS_PER_S / 4);
	const struct mirror_joints *seen = &sim_subscription(room->keeper, 1)->mirror.joints;
	ck_assert_int_eq(mirror_joints_find(seen, (uint32_t)id) != NULL, there);
	return there;
}

static bool body_exists(const struct room *room, int64_t id)
{
	struct body_view view;
	return world_body(engine(room), (body_id)id, &view) == STATUS_OK;
}

static void end_session(struct sim_client *client, uint32_t world, int how)
{
	struct message message;
	message_init(&message, MESSAGE_WORLD_LEAVE);
	message.world_leave.ref = sim_ref(client);
	message.world_leave.world = world;
	if (how == 0)
		sim_disconnect(client);
	else if (how == 1)
		sim_vanish(client);
	else
		ck_assert_int_eq(sim_try(client, &message, MESSAGE_REPLY), STATUS_OK);
}

/* For each role of the owner and each way of ending, in a running and in a paused world. */
START_TEST(a_drag_ends_with_its_session_and_all_other_joints_stay)
{
	static const char *const roles[] = { "player", "controller" };
	struct room room = open_room(check_seed() + (uint64_t)_i, NULL, _i & 1);
	struct sim_client *holder = guest(room.sim, roles[_i >> 1 & 1], false);
	struct sim_client *other = guest(room.sim, "player", false);
	sim_join(holder, room.world);
	sim_join(other, room.world);
	int64_t held[] = { make_drag(holder, room.world), make_drag(holder, room.world) },
		theirs = make_drag(other, room.world);
	struct command stays[] = { joint(JOINT_DRAG, 1, 0),
				   joint(JOINT_SPHERICAL, 2, holder->session) };
	int64_t nobodys = send_and_await(room.keeper, room.world, &stays[0], 1);
	int64_t hinge = send_and_await(room.keeper, room.world, &stays[1], 1);
	server_sim_run(room.sim, NS_PER_S);
	for (int i = 0; i < 2; i++)
		ck_assert(drag_exists(&room, held[i]));
	end_session(holder, room.world, _i >> 2);
	/* A silent client is detected after two PINGs. */
	server_sim_run(room.sim, (_i >> 2 == 1 ? 45 : 1) * NS_PER_S);
	for (int i = 0; i < 2; i++)
		ck_assert(!drag_exists(&room, held[i]));
	ck_assert(drag_exists(&room, nobodys) && drag_exists(&room, hinge) &&
		  drag_exists(&room, theirs));
	ck_assert(sim_control(room.keeper, room.world, WIRE_CONTROL_PAUSE, 0) == STATUS_OK);
	ck_assert(sim_caught_up(room.keeper, 1, 5 * NS_PER_S));
	close_room(&room);
}
END_TEST

START_TEST(a_drag_survives_a_resume_and_ends_with_the_resume_period)
{
	struct room room = open_room(check_seed() + (uint64_t)_i, NULL, true);
	struct sim_client *holder = guest(room.sim, "player", true);
	sim_join(holder, room.world);
	int64_t held = make_drag(holder, room.world);
	struct command move;
	struct joint_view view;
	command_defaults(&move, COMMAND_JOINT_MOVE);
	move.joint_move.joint = held;
	for (int round = 1; round < 4; round++) {
		sim_disconnect(holder);
		server_sim_run(room.sim, 20 * NS_PER_S);
		ck_assert(drag_exists(&room, held));
		ck_assert(sim_resumed(holder));
		move.joint_move.point = vec3_make(round, 2, 3);
		send_and_await(holder, room.world, &move, 1);
		ck_assert_int_eq(world_joint(engine(&room), (joint_id)held, &view), STATUS_OK);
		ck_assert(view.point_a.x == round && view.owner == holder->session);
	}
	sim_disconnect(holder);
	server_sim_run(room.sim, 25 * NS_PER_S);
	ck_assert(drag_exists(&room, held));
	server_sim_run(room.sim, 10 * NS_PER_S);
	ck_assert(!drag_exists(&room, held));
	ck_assert(!sim_resumed(holder));
	close_room(&room);
}
END_TEST

/* A drag sent just before the session ends is applied and ended at the same boundary; so is a body that
 * ends with its owner. */
START_TEST(a_drag_in_the_inbox_ends_with_its_session)
{
	struct room room = open_room(check_seed() + (uint64_t)_i, NULL, false);
	ck_assert_int_eq(sim_control(room.keeper, room.world, WIRE_CONTROL_LOCKSTEP, 0), STATUS_OK);
	struct sim_client *holder = guest(room.sim, _i & 1 ? "player" : "controller", false);
	sim_join(holder, room.world);
	struct command commands[] = { sim_spawn(0, 3, 0, 9, false),
				      joint(JOINT_DRAG, -1, holder->session) };
	bool ends = (_i & 2) != 0;
	commands[0].spawn.owner = holder->session;
	commands[0].spawn.ends_with_owner = ends;
	sim_commands(holder, room.world, commands, ends ? 1 : 2, 0, WIRE_LATE_APPLY);
	server_sim_run(room.sim, NS_PER_S);
	sim_disconnect(holder);
	server_sim_run(room.sim, NS_PER_S);
	ck_assert_uint_eq(world_stats(engine(&room)).bodies, 4);
	sim_step(room.keeper, room.world, 1, 0, NULL, 0);
	ck_assert_uint_eq(world_stats(engine(&room)).bodies, ends ? 4 : 5);
	ck_assert_uint_eq(world_joints(engine(&room), 0, NULL, 0), 0);
	ck_assert(sim_caught_up(room.keeper, 1, 5 * NS_PER_S));
	close_room(&room);
}
END_TEST

static enum status named(struct room *room, enum message_type type)
{
	struct message message;
	uint64_t ref = sim_ref(room->keeper);
	message_init(&message, type);
	if (type == MESSAGE_SAVE) {
		message.save.ref = ref;
		message.save.world = room->world;
		message.save.name = wire_text("then");
		return sim_try(room->keeper, &message, MESSAGE_SAVED);
	}
	if (type == MESSAGE_RESTORE) {
		message.restore.ref = ref;
		message.restore.world = room->world;
		message.restore.name = wire_text("then");
		return sim_try(room->keeper, &message, MESSAGE_RESTORED);
	}
	message.fork.ref = ref;
	message.fork.world = room->world;
	message.fork.name = wire_text("copy");
	return sim_try(room->keeper, &message, MESSAGE_FORKED);
}

/* The owner belongs to another epoch or world, so the drag is removed before any command. */
START_TEST(a_world_made_from_an_image_has_no_drags)
{
	struct room room = open_room(check_seed() + (uint64_t)_i, NULL, false);
	struct sim_client *holder = guest(room.sim, "player", false);
	sim_join(holder, room.world);
	int64_t held = make_drag(holder, room.world);
	struct command nobodys = joint(JOINT_DRAG, 1, 0);
	int64_t stays = send_and_await(room.keeper, room.world, &nobodys, 1);
	uint64_t saved = sim_hash(room.keeper, room.world);
	ck_assert_int_eq(named(&room, MESSAGE_SAVE), STATUS_OK);
	ck_assert_int_eq(named(&room, MESSAGE_FORK), STATUS_OK);
	ck_assert_int_eq(named(&room, MESSAGE_RESTORE), STATUS_OK);
	ck_assert_uint_eq(sim_hash(room.keeper, room.world), saved);
	/* The commands that remove the old drag may create a new one. */
	int64_t again = make_drag(holder, room.world);
	ck_assert(!drag_exists(&room, held) && drag_exists(&room, again) &&
		  drag_exists(&room, stays));
	struct room copy = room;
	copy.world = worlds_find_name(&room.sim->server->worlds, "copy")->number;
	sim_join(room.keeper, copy.world);
	ck_assert_uint_eq(sim_hash(room.keeper, copy.world), saved);
	ck_assert_uint_eq(world_drags(engine(&copy), 0), 1);
	sim_step(room.keeper, copy.world, 1, 0, NULL, 0);
	ck_assert_uint_eq(world_drags(engine(&copy), 0), 0);
	ck_assert_uint_eq(world_joints(engine(&copy), 0, NULL, 0), 1);
	close_room(&room);
}
END_TEST

static void check_file(const char *directory, uint64_t hash)
{
	char path[RECORDER_PATH + 80];
	struct replay_report report;
	struct reason why;
	snprintf(path, sizeof path, "%s/room.cairn", directory);
	struct replay_options options = { .file = path, .verify = true };
	ck_assert_msg(replay_file(&options, &report, &why) == STATUS_OK, "%s", why.text);
	ck_assert_msg(report.verdict == REPLAY_SAME, "epoch %u tick %d: %s", report.first_epoch,
		      (int)report.first_tick, report.detail);
	ck_assert_uint_eq(report.state_hash, hash);
}

START_TEST(a_replay_ends_drags_at_the_recorded_ticks_and_recovery_ends_the_rest)
{
	char directory[RECORDER_PATH];
	recorder_directory(directory);
	struct room room = open_room(check_seed() + (uint64_t)_i, directory, _i & 1);
	struct sim_client *holder = guest(room.sim, "player", false),
			  *late = guest(room.sim, "player", false);
	sim_join(holder, room.world);
	sim_join(late, room.world);
	int64_t held = make_drag(holder, room.world), left = make_drag(late, room.world);
	struct command spawn = sim_spawn(1, 3, 0, 9, false);
	spawn.spawn.ends_with_owner = 1;
	int64_t ends = send_and_await(holder, room.world, &spawn, 1);
	int64_t later = send_and_await(late, room.world, &spawn, 1);
	server_sim_run(room.sim, 20 * TICK);
	sim_disconnect(holder);
	server_sim_run(room.sim, 20 * TICK);
	ck_assert(!drag_exists(&room, held) && drag_exists(&room, left));
	ck_assert(!body_exists(&room, ends) && body_exists(&room, later));
	ck_assert_int_eq(sim_control(room.keeper, room.world, WIRE_CONTROL_PAUSE, 0), STATUS_OK);
	sim_step(room.keeper, room.world, 5, 0, NULL, 0);
	uint64_t hash = world_state_hash(engine(&room), NULL, NULL);
	server_sim_end(room.sim);
	check_file(directory, hash);
	server_sim_begin(room.sim, directory);
	room.keeper = guest(room.sim, NULL, false);
	room.world = worlds_find_name(&room.sim->server->worlds, "room")->number;
	sim_join(room.keeper, room.world);
	sim_step(room.keeper, room.world, 3, 0, NULL, 0);
	ck_assert_uint_eq(world_drags(engine(&room), 0), 0);
	ck_assert(!body_exists(&room, later));
	hash = world_state_hash(engine(&room), NULL, NULL);
	close_room(&room);
	check_file(directory, hash);
	recorder_remove(directory);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("sim/drags");
	TCase *drags = tcase_create("drags");
	tcase_set_timeout(drags, 60);
	tcase_add_loop_test(drags, a_drag_ends_with_its_session_and_all_other_joints_stay, 0, 12);
	tcase_add_loop_test(drags, a_drag_survives_a_resume_and_ends_with_the_resume_period, 0, 4);
	tcase_add_loop_test(drags, a_drag_in_the_inbox_ends_with_its_session, 0, 6);
	tcase_add_loop_test(drags, a_world_made_from_an_image_has_no_drags, 0, 4);
	tcase_add_loop_test(
		drags, a_replay_ends_drags_at_the_recorded_ticks_and_recovery_ends_the_rest, 0, 4);
	suite_add_tcase(suite, drags);
	return suite;
}

int main(void)
{
	return check_main(make_suite);
}
