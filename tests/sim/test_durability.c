/* Durability levels, faults of the disk, and what a crash leaves: every answered batch, every session.
 *
 * The campaign draws each run from a seed: a disk that fails, tears, fills up and forgets what was not
 * synced (tests/lib/lying_disk.h), racing clients, and a loss of power at some instant. SEEDS=N in the
 * environment makes N runs; `make soak-disk` makes ten thousand. */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/host/host_state.h"
#include "server/session/session.h"
#include "server/store/replay.h"
#include "tests/lib/bad_disk.h"
#include "tests/lib/check_main.h"
#include "tests/lib/io_sim_internal.h"
#include "tests/lib/lying_disk.h"
#include "tests/lib/recorder.h"
#include "tests/lib/server_sim.h"
#include "tests/lib/worlds.h"

enum { CLIENTS = 3, BATCHES_MAX = 64, SEEDS_DEFAULT = 200 };

static char directory[RECORDER_PATH];

static struct server_sim *open_sim(uint64_t seed, const char *const *arguments)
{
	struct server_sim_options options = server_sim_options_default(seed);
	uint32_t count = 0;
	options.truth = false;
	options.io.quiet = true;
	options.arguments[count++] = "--data";
	options.arguments[count++] = directory;
	for (; arguments != NULL && *arguments != NULL; arguments++)
		options.arguments[count++] = *arguments;
	return server_sim_create(&options);
}

static struct sim_client *administrator(struct server_sim *sim)
{
	struct sim_client_options options = sim_client_options_default();
	options.address = SIM_UNIX;
	return server_sim_guest(sim, &options);
}

static struct sim_client *guest(struct server_sim *sim, uint32_t world)
{
	struct sim_client_options options = sim_client_options_default();
	options.resumes = true;
	struct sim_client *client = server_sim_guest(sim, &options);
	sim_join(client, world);
	return client;
}

/* The body with that tag; 0 none. Fails if there are two. */
static body_id find_tag(const struct world *world, int64_t tag)
{
	static body_id ids[4096];
	uint32_t count = world_bodies(world, ids, COUNT_OF(ids));
	body_id found = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct body_view view;
		ck_assert_int_eq(world_body(world, ids[i], &view), STATUS_OK);
		if (view.tag != tag)
			continue;
		ck_assert_msg(found == 0, "tag %d is there twice", (int)tag);
		found = ids[i];
	}
	return found;
}

static uint64_t spawn(struct sim_client *client, uint32_t world, int64_t tag)
{
	struct command command = sim_spawn((double)tag * 4, 1000, 0, tag, false);
	return sim_commands(client, world, &command, 1, 0, WIRE_LATE_APPLY);
}

static uint32_t world_number(const struct server_sim *sim, const char *name)
{
	const struct served_world *world = worlds_find_name(&sim->server->worlds, name);
	return world != NULL ? world->number : 0;
}

static void make_directory(void)
{
	recorder_directory(directory);
}

static void remove_directory(void)
{
	recorder_remove(directory);
}

/* ---- levels ------------------------------------------------------------------------------------- */

/* How long a RESULT takes where a sync takes up to 20 ms. */
static uint64_t latency(uint64_t seed, const char *level)
{
	const char *const arguments[] = { "--durability", level, NULL };
	lying_disk_install(seed);
	struct server_sim *sim = open_sim(seed, arguments);
	struct sim_client *admin = administrator(sim);
	uint32_t world = sim_make_world(admin, level, NULL);
	server_sim_run(sim, NS_PER_S);
	uint64_t most = 0;
	lying_disk_slow(sim->sim, 20 * NS_PER_MS);
	for (int i = 0; i < 20; i++) {
		uint64_t began = server_sim_now(sim);
		struct sim_result *result =
			sim_await_result(admin, world, spawn(admin, world, 100 + i));
		ck_assert_ptr_nonnull(result);
		ck_assert_int_eq(result->code, STATUS_OK);
		most = MAX_OF(most, server_sim_now(sim) - began);
		server_sim_run(sim, 200 * NS_PER_MS);
	}
	lying_disk_slow(NULL, 0);
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
	lying_disk_remove();
	return most;
}

START_TEST(a_result_waits_for_the_disk_only_with_command)
{
	uint64_t tick = latency(check_seed(), "tick"), command = latency(check_seed(), "command");
	ck_assert_uint_gt(command, 2 * tick);
	ck_assert_uint_gt(command, 10 * NS_PER_MS);
}
END_TEST

START_TEST(without_durability_a_world_has_no_file)
{
	uint8_t packed[64];
	struct wire_packer out = wire_packer_over(packed, sizeof packed);
	wire_pack_string(&out, "durability");
	wire_pack_string(&out, "off");
	struct wire_list options = { packed, out.bytes, 1 };
	struct server_sim *sim = open_sim(check_seed(), NULL);
	struct sim_client *admin = administrator(sim);
	uint32_t kept = sim_make_world(admin, "kept", NULL);
	uint32_t gone = sim_make_world(admin, "gone", &options);
	ck_assert(!worlds_find(&sim->server->worlds, gone)->has_journal);
	server_sim_run(sim, NS_PER_S);
	server_sim_end(sim);
	server_sim_begin(sim, directory);
	ck_assert_uint_eq(world_number(sim, "kept"), kept);
	ck_assert_uint_eq(world_number(sim, "gone"), 0);
	/* No later world gets the number that clients know another world by. */
	admin = administrator(sim);
	ck_assert_uint_gt(sim_make_world(admin, "later", NULL), gone);
	server_sim_destroy(sim);
}
END_TEST

/* ---- faults ------------------------------------------------------------------------------------- */

START_TEST(what_cannot_be_stored_is_not_acknowledged)
{
	static const char *const COMMAND[] = { "--durability", "command", NULL };
	bad_disk_install();
	struct server_sim *sim = open_sim(check_seed(), COMMAND);
	struct sim_client *admin = administrator(sim);
	uint32_t world = sim_make_world(admin, "full", NULL);
	bad_disk_break(1, ENOSPC);
	struct sim_result *result = sim_await_result(admin, world, spawn(admin, world, 1));
	ck_assert_ptr_nonnull(result);
	ck_assert_int_eq(result->code, STATUS_NOT_STORED);
	/* Later batches are refused, and not applied. */
	result = sim_await_result(admin, world, spawn(admin, world, 2));
	ck_assert_ptr_nonnull(result);
	ck_assert_int_eq(result->code, STATUS_FULL);
	ck_assert_uint_eq(find_tag(server_sim_world(sim, world), 2), 0);
	ck_assert_int_eq(server_sim_world(sim, world) != NULL, 1);
	bad_disk_mend();
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
}
END_TEST

START_TEST(a_world_may_continue_without_its_file)
{
	static const char *const GO_ON[] = { "--disk-failure", "continue", NULL };
	bad_disk_install();
	struct server_sim *sim = open_sim(check_seed(), GO_ON);
	struct sim_client *admin = administrator(sim);
	uint32_t world = sim_make_world(admin, "on", NULL);
	ck_assert_int_eq(sim_control(admin, world, WIRE_CONTROL_RESUME, 1), STATUS_OK);
	server_sim_run(sim, NS_PER_S);
	bad_disk_break(1, EIO);
	server_sim_run(sim, NS_PER_S);
	const struct served_world *served = worlds_find(&sim->server->worlds, world);
	uint64_t tick = served->tick, durable = served->durable_tick;
	ck_assert_int_eq(served->journal_failure.status, STATUS_IO);
	ck_assert_int_eq(served->durability, DURABILITY_OFF);
	server_sim_run(sim, NS_PER_S);
	ck_assert_uint_ge(served->tick, tick + 50);
	ck_assert_uint_eq(served->durable_tick, durable);
	struct sim_result *result = sim_await_result(admin, world, spawn(admin, world, 1));
	ck_assert_ptr_nonnull(result);
	ck_assert_int_eq(result->code, STATUS_OK);
	bad_disk_mend();
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
}
END_TEST

/* Another program holds the file's lock for a while. */
START_TEST(a_locked_file_is_written_when_it_is_free)
{
	static const char *const COMMAND[] = { "--durability", "command", NULL };
	char path[RECORDER_PATH + 32];
	sqlite3 *other;
	struct server_sim *sim = open_sim(check_seed(), COMMAND);
	struct sim_client *admin = administrator(sim);
	uint32_t world = sim_make_world(admin, "busy", NULL);
	snprintf(path, sizeof path, "%s/busy.cairn", directory);
	ck_assert_int_eq(sqlite3_open(path, &other), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	uint64_t batch = spawn(admin, world, 1);
	server_sim_run(sim, 500 * NS_PER_MS);
	ck_assert_ptr_null(sim_result(admin, world, batch));
	ck_assert_uint_gt(worlds_find(&sim->server->worlds, world)->figures.busy, 0);
	ck_assert_int_eq(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(other);
	struct sim_result *result = sim_await_result(admin, world, batch);
	ck_assert_ptr_nonnull(result);
	ck_assert_int_eq(result->code, STATUS_OK);
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
}
END_TEST

/* ---- crashes ------------------------------------------------------------------------------------ */

static void crash(struct server_sim *sim)
{
	lying_disk_cut();
	server_sim_end(sim);
	lying_disk_power();
	lying_disk_slow(NULL, 0);
	server_sim_begin(sim, NULL);
}

START_TEST(a_session_continues_after_a_crash)
{
	static const char *const COMMAND[] = { "--durability", "command", NULL };
	lying_disk_install(check_seed());
	struct server_sim *sim = open_sim(check_seed(), COMMAND);
	struct sim_client *admin = administrator(sim);
	(void)sim_make_world(admin, "first", NULL);
	uint32_t world = sim_make_world(admin, "a", NULL);
	struct sim_client *client = guest(sim, world);
	uint64_t batch = spawn(client, world, 1);
	struct sim_result *result = sim_await_result(client, world, batch);
	ck_assert_int_eq(result->code, STATUS_OK);
	uint32_t id = result->values[0], session = client->session;
	crash(sim);
	ck_assert_uint_eq(find_tag(server_sim_world(sim, world), 1), id);
	ck_assert(sim_resumed(client));
	ck_assert_uint_eq(client->session, session);
	/* A repeat gets the same answer and is not applied again; the next number is the next. */
	struct command again = sim_spawn(4, 1000, 0, 1, false);
	uint32_t arrivals = result->arrivals;
	sim_commands_as(client, world, batch, &again, 1, 0, WIRE_LATE_APPLY);
	server_sim_run(sim, NS_PER_S);
	result = sim_result(client, world, batch);
	ck_assert_uint_eq(result->arrivals, arrivals + 1);
	ck_assert_int_eq(result->code, STATUS_OK);
	ck_assert_uint_eq(result->values[0], id);
	ck_assert_uint_eq(find_tag(server_sim_world(sim, world), 1), id);
	result = sim_await_result(client, world, spawn(client, world, 2));
	ck_assert_int_eq(result->code, STATUS_OK);
	/* Once more: the session, its new token and its numbers are stored again. */
	crash(sim);
	ck_assert(sim_resumed(client));
	result = sim_await_result(client, world, spawn(client, world, 3));
	ck_assert_int_eq(result->code, STATUS_OK);
	ck_assert_uint_ne(find_tag(server_sim_world(sim, world), 2), 0);
	/* A session that nobody resumes ends. */
	crash(sim);
	ck_assert_uint_eq(sim->server->service.sessions.lost, 1);
	server_sim_run(sim, 2 * (uint64_t)WIRE_RESUME_MS * NS_PER_MS);
	ck_assert_uint_eq(sim->server->service.sessions.lost, 0);
	ck_assert(!sim_resumed(client));
	server_sim_destroy(sim);
	lying_disk_remove();
}
END_TEST

/* ---- the campaign ------------------------------------------------------------------------------- */

struct race {
	uint64_t seed;
	struct rng rng;
	struct server_sim *sim;
	uint32_t world;
	bool faulty, command;
	struct sim_client *clients[CLIENTS];
	struct {
		struct sim_client *client;
		uint64_t batch;
		int64_t tag;
	} sent[BATCHES_MAX];
	uint32_t sent_count;
};

static void draw_faults(struct race *race)
{
	struct rng *rng = &race->rng;
	uint32_t kind = rng_below(rng, 6);
	race->faulty = kind >= 2;
	if (kind == 2)
		lying_disk_fail_write(1 + rng_below(rng, 60));
	else if (kind == 3)
		lying_disk_fail_sync(1 + rng_below(rng, 20));
	else if (kind == 4)
		lying_disk_room(rng_below(rng, 60000));
	else if (kind == 5)
		lying_disk_fail_write(1 + rng_below(rng, 200));
	lying_disk_slow(race->sim->sim, 1 + rng_below(rng, 4000) * NS_PER_US);
}

static void send_some(struct race *race)
{
	uint32_t acts = 4 + rng_below(&race->rng, 16);
	for (uint32_t i = 0; i < acts && race->sent_count < BATCHES_MAX; i++) {
		struct sim_client *client = race->clients[rng_below(&race->rng, CLIENTS)];
		int64_t tag = (int64_t)race->sent_count + 1;
		if (client->open && !client->closed) {
			race->sent[race->sent_count].client = client;
			race->sent[race->sent_count].tag = tag;
			race->sent[race->sent_count++].batch = spawn(client, race->world, tag);
		}
		server_sim_run(race->sim, rng_below(&race->rng, 12) * NS_PER_MS);
	}
}

/* Every acknowledged batch is there, and every refused one is not. */
static void judge(const struct race *race, bool all)
{
	const struct world *world = server_sim_world(race->sim, race->world);
	unsigned long long seed = race->seed;
	ck_assert_msg(world != NULL, "seed %llu: the world is gone", seed);
	for (uint32_t i = 0; i < race->sent_count; i++) {
		const struct sim_result *result =
			sim_result(race->sent[i].client, race->world, race->sent[i].batch);
		body_id id = find_tag(world, race->sent[i].tag);
		ck_assert_msg(!all || result != NULL, "seed %llu: batch %u has no answer", seed,
			      (unsigned)i);
		if (result == NULL || result->code == STATUS_NOT_STORED ||
		    result->code == STATUS_EXPIRED)
			continue;
		if (result->code == STATUS_OK && race->command)
			ck_assert_msg(id != 0 && id == result->values[0],
				      "seed %llu: batch %u was acknowledged, its body %u is %u",
				      seed, (unsigned)i, (unsigned)result->values[0], (unsigned)id);
		else if (result->code != STATUS_OK)
			ck_assert_msg(id == 0, "seed %llu: batch %u was refused (%s) and applied",
				      seed, (unsigned)i, status_name(result->code));
	}
}

/* Clients resume and repeat what has no answer. */
static void carry_on(struct race *race)
{
	for (uint32_t i = 0; i < CLIENTS; i++) {
		bool back = sim_resumed(race->clients[i]);
		ck_assert_msg(back || race->faulty || !race->command,
			      "seed %llu: client %u cannot resume", (unsigned long long)race->seed,
			      (unsigned)i);
	}
	for (uint32_t i = 0; i < race->sent_count; i++) {
		struct sim_client *client = race->sent[i].client;
		struct command command =
			sim_spawn((double)race->sent[i].tag * 4, 1000, 0, race->sent[i].tag, false);
		if (client->open && !client->closed &&
		    sim_result(client, race->world, race->sent[i].batch) == NULL)
			sim_commands_as(client, race->world, race->sent[i].batch, &command, 1, 0,
					WIRE_LATE_APPLY);
	}
	server_sim_run(race->sim, NS_PER_S);
}

/* The file recomputes to the states it recorded, from the world's birth and without a stop. */
static void check_file(const struct race *race)
{
	char path[RECORDER_PATH + 32];
	struct replay_report report;
	struct reason why;
	snprintf(path, sizeof path, "%s/race.cairn", directory);
	struct replay_options options = { .file = path, .verify = true };
	enum status status = replay_file(&options, &report, &why);
	ck_assert_msg(status == STATUS_OK, "seed %llu: %s", (unsigned long long)race->seed,
		      why.text);
	ck_assert_msg(report.whole && report.verdict == REPLAY_SAME, "seed %llu: %s",
		      (unsigned long long)race->seed, report.detail);
}

static void run_race(uint64_t seed)
{
	static const char *const LEVELS[] = { "command", "command", "tick" };
	struct race race = { .seed = seed, .rng = rng_seeded(seed * 31 + 7) };
	const char *level = LEVELS[rng_below(&race.rng, COUNT_OF(LEVELS))];
	const char *const arguments[] = { "--durability",   level, "--checkpoint-ticks", "25",
					  "--journal-keep", NULL };
	make_directory();
	lying_disk_install(seed);
	race.command = strcmp(level, "command") == 0;
	race.sim = open_sim(seed, arguments);
	struct sim_client *admin = administrator(race.sim);
	race.world = sim_make_world(admin, "race", NULL);
	for (uint32_t i = 0; i < CLIENTS; i++)
		race.clients[i] = guest(race.sim, race.world);
	if (rng_below(&race.rng, 4) > 0)
		ck_assert_int_eq(sim_control(admin, race.world, WIRE_CONTROL_RESUME, 1), STATUS_OK);
	/* With `tick` even the world's beginning may be lost. */
	if (!race.command)
		server_sim_run(race.sim, 200 * NS_PER_MS);
	draw_faults(&race);
	for (uint32_t crashes = 1 + rng_below(&race.rng, 2); crashes > 0; crashes--) {
		send_some(&race);
		crash(race.sim);
		judge(&race, false);
		carry_on(&race);
		judge(&race, race.command && !race.faulty);
		race.faulty = false;
	}
	ck_assert(server_sim_sound(race.sim));
	ck_assert(server_sim_drain(race.sim, 60 * NS_PER_S));
	server_sim_destroy(race.sim);
	check_file(&race);
	lying_disk_remove();
	remove_directory();
}

START_TEST(a_lying_disk_loses_nothing_acknowledged)
{
	enum { AT_ONCE = 20 };
	for (uint64_t i = 0; i < AT_ONCE; i++)
		run_race(check_seed() + (uint64_t)_i * AT_ONCE + i);
}
END_TEST

static Suite *make(void)
{
	const char *seeds = getenv("SEEDS");
	int count = seeds != NULL ? atoi(seeds) : SEEDS_DEFAULT;
	Suite *suite = suite_create("tests/sim/durability");
	TCase *levels = tcase_create("levels");
	tcase_set_timeout(levels, 60);
	tcase_add_checked_fixture(levels, make_directory, remove_directory);
	tcase_add_test(levels, a_result_waits_for_the_disk_only_with_command);
	tcase_add_test(levels, without_durability_a_world_has_no_file);
	tcase_add_test(levels, what_cannot_be_stored_is_not_acknowledged);
	tcase_add_test(levels, a_world_may_continue_without_its_file);
	tcase_add_test(levels, a_locked_file_is_written_when_it_is_free);
	tcase_add_test(levels, a_session_continues_after_a_crash);
	if (seeds == NULL)
		suite_add_tcase(suite, levels);
	TCase *races = tcase_create("races");
	tcase_set_timeout(races, 120);
	tcase_add_loop_test(races, a_lying_disk_loses_nothing_acknowledged, 0, (count + 19) / 20);
	suite_add_tcase(suite, races);
	return suite;
}

int main(void)
{
	return check_main(make);
}
