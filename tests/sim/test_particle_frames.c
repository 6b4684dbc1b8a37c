/* Particles in subscriptions. The mirror of every subscription (whole, part, sample, late, after
 * gaps) holds the world's particles: server_sim compares every frame with world_particle_rows, bit
 * for bit in the profile's form.
 *
 * SEEDS=N in the environment runs N long lives (10^5 ticks) instead of the short ones of a suite.
 * */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/engine/world/world.h"
#include "server/host/host_state.h"
#include "server/server.h"
#include "tests/lib/check_main.h"
#include "tests/lib/server_sim.h"
#include "tests/lib/worlds.h"

enum { WATCHERS = 5, TICKS_SHORT = 700, TICKS_LONG = 100000, SYSTEMS_MOST = 5, BATCH_MAX = 4 };

struct spray {
	struct server_sim *sim;
	struct sim_client *keeper;
	uint32_t world;
	struct rng rng;
};

static double random_between(struct spray *spray, double most)
{
	return ((double)rng_below(&spray->rng, 2001) / 1000 - 1) * most;
}

/* A lock-step world with a few spheres, one of them held on a large static one. */
static struct spray open_spray(uint64_t seed)
{
	struct server_sim_options options = server_sim_options_default(seed);
	struct sim_client_options who = sim_client_options_default();
	struct command commands[6];
	struct spray spray = { .sim = server_sim_create(&options), .rng = rng_seeded(seed) };
	spray.keeper = server_sim_guest(spray.sim, &who);
	spray.world = sim_make_world(spray.keeper, "spray", NULL);
	sim_upload(spray.keeper, spray.world, TEST_SPHERE);
	command_defaults(&commands[0], COMMAND_SHAPE_USE);
	commands[0].shape_use.name = test_shape_name(TEST_SPHERE);
	for (uint32_t i = 1; i < COUNT_OF(commands); i++)
		commands[i] = sim_spawn(3.0 * i - 9, 0, 0, i, i % 2 == 0);
	ck_assert_int_eq(
		sim_step(spray.keeper, spray.world, 1, 0, commands, COUNT_OF(commands))->type,
		MESSAGE_STEPPED);
	return spray;
}

static void close_spray(struct spray *spray)
{
	ck_assert(server_sim_sound(spray->sim));
	ck_assert(server_sim_drain(spray->sim, 60 * NS_PER_S));
	server_sim_destroy(spray->sim);
}

static struct served_world *served(const struct spray *spray)
{
	return worlds_find(&spray->sim->server->worlds, spray->world);
}

static const struct world *engine(const struct spray *spray)
{
	return server_sim_world(spray->sim, spray->world);
}

/* ---- commands
 * ------------------------------------------------------------------------------------ */

static struct command an_emitter(struct spray *spray)
{
	struct command command;
	command_defaults(&command, COMMAND_PARTICLES_CREATE);
	struct command_PARTICLES_CREATE *system = &command.particles_create;
	system->name = test_text("spray");
	system->emitter = rng_below(&spray->rng, 4) == 0 ? 0 : 1;
	system->position = (vec3){ random_between(spray, 8), 4, random_between(spray, 2) };
	system->capacity = 200;
	system->rate = 1 + rng_below(&spray->rng, 6);
	system->life = rng_below(&spray->rng, 3) == 0 ? 0 : 0.2 + random_between(spray, 0.15);
	system->life_deviation = system->life / 2;
	system->speed = 3;
	system->spread = 1;
	system->drag = rng_below(&spray->rng, 2) * 0.001;
	system->mass_deviation = rng_below(&spray->rng, 2) * 0.0003;
	return command;
}

static int64_t any_system(struct spray *spray)
{
	struct system_flight flights[SYSTEMS_MAX];
	uint32_t count = world_system_flights(engine(spray), flights);
	return count == 0 ? 0 : flights[rng_below(&spray->rng, count)].id;
}

static struct command random_command(struct spray *spray)
{
	struct command command;
	struct system_flight flights[SYSTEMS_MAX];
	uint32_t systems = world_system_flights(engine(spray), flights);
	switch (rng_below(&spray->rng, 7)) {
	case 0:
		if (systems < SYSTEMS_MOST)
			return an_emitter(spray);
		command_defaults(&command, COMMAND_PARTICLES_REMOVE);
		command.particles_remove.system = any_system(spray);
		return command;
	case 1:
		command_defaults(&command, COMMAND_PARTICLES_LATTICE);
		command.particles_lattice.system = any_system(spray);
		command.particles_lattice.position = (vec3){ random_between(spray, 8), 3, 0 };
		command.particles_lattice.columns = 3;
		command.particles_lattice.rows = 3;
		command.particles_lattice.spacing = 0.2;
		return command;
	case 2:
		/* A fluid, whose density and pressure differ in every tick; or none any more. */
		command_defaults(&command, COMMAND_PARTICLES_FLUID);
		command.particles_fluid.system = any_system(spray);
		command.particles_fluid.kernel_radius = rng_below(&spray->rng, 4) == 0 ? 0 : 0.3;
		return command;
	case 3:
		command_defaults(&command, COMMAND_GRAVITY);
		command.gravity.gravity = (vec3){ 0, random_between(spray, 10), 0 };
		return command;
	default:
		command_defaults(&command, COMMAND_PARTICLES_ADD);
		command.particles_add.system = any_system(spray);
		command.particles_add.position =
			(vec3){ random_between(spray, 8), random_between(spray, 3),
				random_between(spray, 3) };
		return command;
	}
}

/* Sends a batch of random commands. Some commands are invalid; then the whole batch is refused. */
static void send_batch(struct spray *spray)
{
	struct command commands[BATCH_MAX];
	uint32_t count = 1 + rng_below(&spray->rng, BATCH_MAX);
	for (uint32_t i = 0; i < count; i++)
		commands[i] = random_command(spray);
	sim_commands(spray->keeper, spray->world, commands, count, 0, WIRE_LATE_APPLY);
}

/* ---- lives
 * --------------------------------------------------------------------------------------- */

/* One client a profile, and one that samples and counts; each to the whole world, a fixed ball, a
 * ball on a moving body, and a ball within a budget of bytes. */
static void subscribe_watchers(struct spray *spray)
{
	const struct wire_area ball = { .kind = WIRE_AREA_BALL, .numbers = { 0, 2, 0, 3 } };
	const struct wire_area moving = { .kind = WIRE_AREA_BALL,
					  .body = 2,
					  .numbers = { 0, 0, 0, 4 } };
	const uint32_t follow[1] = { 3 };
	for (uint32_t i = 0; i < WATCHERS; i++) {
		struct sim_client_options who = sim_client_options_default();
		enum wire_profile profile = (enum wire_profile)(i % WIRE_PROFILES);
		who.ack_delay_max = (2 + 60 * i) * NS_PER_MS;
		who.resumes = true;
		who.particles = i == 2 ? WIRE_PARTICLE_POSITION : WIRE_PARTICLE_COLUMNS_ALL;
		who.sample = i == 4 ? 3 : 1;
		struct sim_client *client = server_sim_guest(spray->sim, &who);
		sim_join(client, spray->world);
		sim_subscribe(client, 1, spray->world, WIRE_COLUMNS_TICK, profile, 1 + i % 3, 0);
		sim_subscribe_part(client, 2, spray->world, WIRE_COLUMNS_TICK, profile, 0, 0, &ball,
				   1, NULL, 0);
		sim_subscribe_part(client, 3, spray->world, WIRE_COLUMNS_ALL, profile, 0, 0,
				   &moving, 1, follow, 1);
		if (i == 4)
			client->options.particles = WIRE_PARTICLE_COUNT;
		sim_subscribe_part(client, 4, spray->world, WIRE_COLUMNS_TICK, profile, 0, 20000,
				   &ball, 1, NULL, 0);
	}
}

/* Ends or stalls a connection, or moves a FOCUS. */
static void disturb(struct spray *spray)
{
	struct sim_client *client = spray->sim->clients[1 + rng_below(&spray->rng, WATCHERS)];
	struct sim_subscription *part = sim_subscription(client, 2 + rng_below(&spray->rng, 2));
	struct wire_area ball = { .kind = WIRE_AREA_BALL, .numbers = { 0, 2, 0, 4 } };
	switch (rng_below(&spray->rng, 4)) {
	case 0:
		sim_resume(client);
		return;
	case 1:
		sim_stall(client, true);
		server_sim_run(spray->sim, NS_PER_S);
		sim_stall(client, false);
		return;
	default:
		ball.numbers[0] = random_between(spray, 6);
		if (part != NULL && client->stream != NULL)
			sim_focus(client, part, &ball, 1, NULL, 0);
	}
}

/* SAVE, or RESTORE of the saved state: a new epoch with other particles. */
static void save_or_restore(struct spray *spray, bool save)
{
	struct message ask;
	message_init(&ask, save ? MESSAGE_SAVE : MESSAGE_RESTORE);
	if (save) {
		ask.save.ref = sim_ref(spray->keeper);
		ask.save.world = spray->world;
		ask.save.name = wire_text("then");
	} else {
		ask.restore.ref = sim_ref(spray->keeper);
		ask.restore.world = spray->world;
		ask.restore.name = wire_text("then");
	}
	ck_assert_int_eq(sim_try(spray->keeper, &ask, save ? MESSAGE_SAVED : MESSAGE_RESTORED),
			 STATUS_OK);
}

static uint64_t shown_particles(const struct spray *spray)
{
	uint64_t shown = 0;
	for (uint32_t i = 1; i < spray->sim->client_count; i++)
		for (uint32_t k = 0; k < spray->sim->clients[i]->subscription_count; k++)
			shown += spray->sim->clients[i]
					 ->subscriptions[k]
					 .mirror.particles.shown.items.count;
	return shown;
}

static void run_life(uint64_t seed, uint64_t ticks)
{
	struct spray spray = open_spray(seed);
	uint64_t shown = 0, made = 0, compared = 0;
	subscribe_watchers(&spray);
	save_or_restore(&spray, true);
	while (made < ticks) {
		uint32_t n = 1 + rng_below(&spray.rng, 12);
		send_batch(&spray);
		ck_assert_int_eq(sim_step(spray.keeper, spray.world, n, 0, NULL, 0)->type,
				 MESSAGE_STEPPED);
		made += n;
		if (rng_below(&spray.rng, 3) == 0)
			server_sim_run(spray.sim, (1 + rng_below(&spray.rng, 100)) * NS_PER_MS);
		if (rng_below(&spray.rng, 30) == 0)
			disturb(&spray);
		if (rng_below(&spray.rng, 100) == 0)
			save_or_restore(&spray, rng_below(&spray.rng, 2) == 0);
		shown += shown_particles(&spray);
		/* No mirror shows states older than 1000 ticks; their copies are freed. */
		if (made - compared > 1000) {
			compared = made;
			server_sim_run(spray.sim, 3 * NS_PER_S);
			server_sim_forget(spray.sim);
		}
	}
	for (uint32_t i = 1; i <= WATCHERS; i++)
		if (spray.sim->clients[i]->stream != NULL)
			ck_assert(sim_caught_up(spray.sim->clients[i], 1, 5 * NS_PER_S));
	printf("# seed %llu: %llu ticks, %llu particles shown, %llu frames held against the world\n",
	       (unsigned long long)seed, (unsigned long long)made, (unsigned long long)shown,
	       (unsigned long long)spray.sim->compared);
	ck_assert_uint_gt(shown, ticks);
	ck_assert_uint_gt(spray.sim->compared, ticks / 4);
	close_spray(&spray);
}

START_TEST(mirrors_hold_the_particles_through_births_deaths_and_restore)
{
	run_life(check_seed() + (uint64_t)_i, getenv("SEEDS") != NULL ? TICKS_LONG : TICKS_SHORT);
}
END_TEST

static uint32_t life_count(void)
{
	const char *text = getenv("SEEDS");
	return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 3;
}

/* ---- one thing each
 * ------------------------------------------------------------------------------ */

static void unsubscribe(struct spray *spray, uint64_t sub)
{
	struct message end;
	message_init(&end, MESSAGE_UNSUBSCRIBE);
	end.unsubscribe.sub = sub;
	ck_assert_int_eq(sim_try(spray->keeper, &end, MESSAGE_REPLY), STATUS_OK);
}

START_TEST(the_host_reports_particles_only_while_a_subscription_needs_them)
{
	struct spray spray = open_spray(check_seed());
	struct command emitter = an_emitter(&spray);
	emitter.particles_create.emitter = 1;
	sim_step(spray.keeper, spray.world, 10, 0, &emitter, 1);
	sim_subscribe(spray.keeper, 1, spray.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0);
	ck_assert(sim_caught_up(spray.keeper, 1, NS_PER_S));
	const struct mirror *mirror = &sim_subscription(spray.keeper, 1)->mirror;
	ck_assert_uint_eq(mirror->particles.shown.items.count, 0);
	spray.keeper->options.particles = WIRE_PARTICLE_COLUMNS_ALL;
	for (uint64_t sub = 2; sub < 5; sub++) {
		const struct view_particles *particles =
			&fanout_view(served(&spray)->fanout)->particles;
		ck_assert(!served(&spray)->host->particles_watched && particles->count == 0);
		/* Also in a paused world. */
		sim_subscribe(spray.keeper, sub, spray.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_VIEW,
			      1, 0);
		ck_assert(sim_caught_up(spray.keeper, sub, NS_PER_S));
		mirror = &sim_subscription(spray.keeper, sub)->mirror;
		ck_assert_uint_eq(mirror->particles.shown.items.count,
				  world_particle_count(engine(&spray)));
		ck_assert(served(&spray)->host->particles_watched && particles->valid);
		unsubscribe(&spray, sub);
		sim_step(spray.keeper, spray.world, 2, 0, NULL, 0);
	}
	close_spray(&spray);
}
END_TEST

static uint64_t particles_examined(const struct spray *spray)
{
	struct fanout_counters counters;
	fanout_counters(served(spray)->fanout, &counters);
	return counters.particles;
}

START_TEST(particles_at_rest_cost_no_frames)
{
	struct spray spray = open_spray(check_seed());
	struct command commands[3];
	commands[0] = an_emitter(&spray);
	commands[0].particles_create.emitter = 0;
	commands[0].particles_create.life = commands[0].particles_create.life_deviation = 0;
	commands[0].particles_create.gravity_scale = 0;
	for (uint32_t i = 1; i < 3; i++) {
		command_defaults(&commands[i], COMMAND_PARTICLES_ADD);
		commands[i].particles_add.system = -1;
		commands[i].particles_add.position = (vec3){ i, 20, 0 };
	}
	sim_step(spray.keeper, spray.world, 1, 0, commands, 3);
	spray.keeper->options.particles = WIRE_PARTICLE_COLUMNS_ALL;
	sim_subscribe(spray.keeper, 1, spray.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_SIM, 1, 0);
	ck_assert(sim_caught_up(spray.keeper, 1, NS_PER_S));
	uint64_t before = particles_examined(&spray);
	sim_step(spray.keeper, spray.world, 50, 0, NULL, 0);
	ck_assert(sim_caught_up(spray.keeper, 1, NS_PER_S));
	ck_assert_uint_eq(particles_examined(&spray), before);
	struct command add = commands[1];
	add.particles_add.system = 1;
	sim_step(spray.keeper, spray.world, 1, 0, &add, 1);
	ck_assert(sim_caught_up(spray.keeper, 1, NS_PER_S));
	const struct mirror *mirror = &sim_subscription(spray.keeper, 1)->mirror;
	ck_assert_uint_eq(mirror->particles.shown.items.count, 3);
	ck_assert_uint_eq(mirror->particles.systems[0].alive, 3);
	close_spray(&spray);
}
END_TEST

static void expect_refused(struct spray *spray, const struct message *ask, enum status status,
			   const char *field)
{
	ck_assert_int_eq(sim_try(spray->keeper, ask, MESSAGE_SNAPSHOT), status);
	const struct msg_error *error = sim_error(spray->keeper, ask->subscribe.sub);
	ck_assert(error != NULL && error->field.bytes == strlen(field) &&
		  memcmp(error->field.at, field, strlen(field)) == 0);
}

START_TEST(unknown_columns_and_no_sample_are_refused_by_name)
{
	struct spray spray = open_spray(check_seed());
	struct message ask;
	message_init(&ask, MESSAGE_SUBSCRIBE);
	ask.subscribe.sub = 1;
	ask.subscribe.world = spray.world;
	ask.subscribe.particles = WIRE_PARTICLE_COLUMNS_ALL + 1;
	expect_refused(&spray, &ask, STATUS_RANGE, "particles");
	ask.subscribe.sub = 2;
	ask.subscribe.particles = 1;
	ask.subscribe.sample = 0;
	expect_refused(&spray, &ask, STATUS_RANGE, "sample");
	close_spray(&spray);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tests/sim/particle_frames");
	TCase *kind = tcase_create("kind");
	tcase_add_test(kind, the_host_reports_particles_only_while_a_subscription_needs_them);
	tcase_add_test(kind, particles_at_rest_cost_no_frames);
	tcase_add_test(kind, unknown_columns_and_no_sample_are_refused_by_name);
	suite_add_tcase(suite, kind);
	TCase *life = tcase_create("life");
	tcase_set_timeout(life, getenv("SEEDS") != NULL ? 3600 : 120);
	tcase_add_loop_test(life, mirrors_hold_the_particles_through_births_deaths_and_restore, 0,
			    (int)life_count());
	suite_add_tcase(suite, life);
	return suite;
}

int main(void)
{
	return check_main(make);
}
