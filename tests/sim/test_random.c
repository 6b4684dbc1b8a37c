/* Many lives of the daemon, each from one seed: clients that join, command, watch, stall, vanish and come
 * back as the seed says, over a network that tears and delays. Whatever happens, every complete mirror is
 * the world at its tick, every batch has one fate, and all memory comes back.
 *
 * SEEDS=N in the environment runs so many of them instead of the few that fit into a suite. */
#include <stdio.h>
#include <stdlib.h>

#include "server/base/heap.h"
#include "tests/lib/check_main.h"
#include "tests/lib/server_sim.h"
#include "tests/lib/worlds.h"

enum { CLIENTS = 5, WORLDS = 2, SEEDS_DEFAULT = 12, ACTIONS = 500, FATES_MAX = 2048 };

/* What a client has sent and must hear of. */
struct fate {
	struct sim_client *client;
	uint32_t world, repeats;
	uint64_t batch;
	int64_t tag;
	bool dated; /* answered twice */
};

struct life {
	struct server_sim *sim;
	struct rng rng;
	struct sim_client *keeper; /* makes and paces the worlds, is never lost */
	struct sim_client *clients[CLIENTS];
	bool stalled[CLIENTS], joined[CLIENTS][WORLDS];
	uint32_t worlds[WORLDS];
	struct fate fates[FATES_MAX];
	uint32_t fate_count;
	uint64_t next_sub;
	bool goes_back; /* worlds are saved and restored: bodies may be undone */
	bool left[SERVER_SIM_CLIENTS_MAX]; /* a world, at some time: results may have come since */
};

static uint32_t draw(struct life *life, uint32_t below)
{
	return rng_below(&life->rng, below);
}

static double draw_real(struct life *life, double span)
{
	return ((double)draw(life, 20001) / 10000 - 1) * span;
}

static void connect(struct life *life, uint32_t who)
{
	static const char *const roles[] = { NULL, "player", "controller" };
	struct sim_client_options options = sim_client_options_default();
	options.role = roles[draw(life, COUNT_OF(roles))];
	options.ack_delay_max = draw(life, 40) * NS_PER_MS + 1;
	options.caps = draw(life, 4) > 0 ? WIRE_CAPS_ALL : WIRE_CAP_EXACT;
	options.frame_down = draw(life, 2) > 0 ? 0 : WIRE_FRAME_MIN;
	options.resumes = draw(life, 2) > 0;
	life->clients[who] = server_sim_client(life->sim, &options);
	life->stalled[who] = false;
	for (uint32_t w = 0; w < WORLDS; w++)
		life->joined[who][w] = false;
}

static void join(struct life *life, uint32_t who, uint32_t w)
{
	struct message join;
	message_init(&join, MESSAGE_WORLD_JOIN);
	join.world_join.ref = sim_ref(life->clients[who]);
	join.world_join.world = life->worlds[w];
	sim_send(life->clients[who], &join);
	life->joined[who][w] = true;
}

static void leave(struct life *life, uint32_t who, uint32_t w)
{
	struct message leave;
	message_init(&leave, MESSAGE_WORLD_LEAVE);
	leave.world_leave.ref = sim_ref(life->clients[who]);
	leave.world_leave.world = life->worlds[w];
	sim_send(life->clients[who], &leave);
	life->joined[who][w] = false;
	life->left[life->clients[who]->index] = true;
	/* Its subscriptions there end with it. */
	struct sim_client *client = life->clients[who];
	for (uint32_t i = client->subscription_count; i-- > 0;) {
		if (client->subscriptions[i].world != life->worlds[w])
			continue;
		mirror_release(&client->subscriptions[i].mirror);
		client->subscriptions[i] = client->subscriptions[--client->subscription_count];
	}
}

static void command(struct life *life, uint32_t who, uint32_t w)
{
	struct sim_client *client = life->clients[who];
	struct command commands[3];
	uint32_t count = 0;
	if (life->fate_count == FATES_MAX)
		return;
	struct fate *fate = &life->fates[life->fate_count++];
	*fate = (struct fate){ .client = client, .world = life->worlds[w] };
	fate->tag = 1000 + life->fate_count;
	double x = draw_real(life, 3), y = 2 + draw_real(life, 1), z = draw_real(life, 3);
	commands[count++] = sim_spawn(x, y, z, fate->tag, draw(life, 4) > 0);
	command_defaults(&commands[count], COMMAND_IMPULSE);
	commands[count].impulse.body = -1;
	commands[count++].impulse.impulse = (vec3){ draw_real(life, 100), 0, draw_real(life, 100) };
	/* Now and then one that must be refused, with all before it. */
	if (draw(life, 5) == 0) {
		command_defaults(&commands[count], COMMAND_REMOVE);
		commands[count++].remove.body = 4000000000;
	}
	uint64_t tick = world_info(server_sim_world(life->sim, life->worlds[w])).tick;
	uint64_t at = 0;
	if (draw(life, 6) == 0 && client->steps[fate->world] == 0)
		at = client->steps[0] = MAX_OF(client->steps[0], tick + draw(life, 30));
	/* Without a tick of its own a batch waits for those before it. */
	fate->dated = client->steps[0] != 0;
	fate->batch = sim_commands(client, fate->world, commands, count, at, WIRE_LATE_APPLY);
	if (draw(life, 4) == 0) {
		/* The same number again, with other commands: answered or ignored, never done. */
		sim_commands_as(client, fate->world, fate->batch, commands, 1, at, WIRE_LATE_APPLY);
		fate->repeats++;
	}
}

/* One or two areas near where things happen, fixed or on a body, and perhaps bodies. */
struct sights {
	struct wire_area areas[2];
	uint32_t area_count, follow[2], follow_count;
};

static struct sights draw_sights(struct life *life)
{
	struct sights sights = { .area_count = 1 + draw(life, 2) };
	for (uint32_t i = 0; i < sights.area_count; i++) {
		struct wire_area *area = &sights.areas[i];
		area->kind = (uint8_t)(1 + draw(life, 3));
		double size = 0.5 + draw(life, 40) * 0.1;
		for (int c = 0; c < 3; c++)
			area->numbers[c] = draw_real(life, 3);
		for (int c = 3; c < 6 && area->kind == WIRE_AREA_BOX; c++)
			area->numbers[c] = area->numbers[c - 3] + size;
		if (area->kind == WIRE_AREA_BALL)
			area->numbers[3] = size;
		for (int c = 3; c < 7 && area->kind == WIRE_AREA_FRUSTUM; c++)
			area->numbers[c] = draw_real(life, 1) + (c == 3 ? 1.5 : 0);
		for (int c = 7; c < 11 && area->kind == WIRE_AREA_FRUSTUM; c++)
			area->numbers[c] = c == 9 ? 0.1 : c == 10 ? 3 * size : 0.7;
		if (draw(life, 4) == 0)
			area->body = 1 + draw(life, 30);
	}
	sights.follow_count = draw(life, 3);
	for (uint32_t i = 0; i < sights.follow_count; i++)
		sights.follow[i] = 1 + draw(life, 40);
	return sights;
}

static void look(struct life *life, uint32_t who, uint32_t w)
{
	struct sights sights = draw_sights(life);
	struct sim_client *client = life->clients[who];
	bool exact = draw(life, 2) == 0;
	uint64_t budget = draw(life, 4) == 0 ? 1000 + draw(life, 20000) : 0;
	if (client->subscription_count == 4)
		return;
	sim_subscribe_part(client, ++life->next_sub, life->worlds[w], WIRE_COLUMNS_ALL,
			   exact ? WIRE_PROFILE_EXACT : WIRE_PROFILE_PLAIN, 0x1fe, budget,
			   sights.areas, sights.area_count, sights.follow, sights.follow_count);
}

/* Cameras move. */
static void turn_round(struct life *life, uint32_t who)
{
	struct sim_client *client = life->clients[who];
	for (uint32_t i = 0; i < client->subscription_count; i++) {
		struct sim_subscription *subscription = &client->subscriptions[i];
		if (!subscription->part)
			continue;
		struct sights sights = draw_sights(life);
		sim_focus(client, subscription, sights.areas, sights.area_count, sights.follow,
			  sights.follow_count);
	}
}

static void watch(struct life *life, uint32_t who, uint32_t w)
{
	struct sim_client *client = life->clients[who];
	enum wire_profile profile = (enum wire_profile)draw(life, 4);
	uint8_t fields = draw(life, 3) == 0 ? (uint8_t)(1 + draw(life, 127)) : WIRE_COLUMNS_ALL;
	if (client->subscription_count == 4)
		return;
	sim_subscribe(client, ++life->next_sub, life->worlds[w], fields, profile, 1 + draw(life, 4),
		      0x1fe);
}

static void resync(struct life *life, uint32_t who)
{
	struct sim_client *client = life->clients[who];
	struct message resync;
	if (client->subscription_count == 0)
		return;
	message_init(&resync, MESSAGE_RESYNC);
	resync.resync.sub = client->subscriptions[draw(life, client->subscription_count)].sub;
	sim_send(client, &resync);
}

static void lose(struct life *life, uint32_t who)
{
	if (draw(life, 2) == 0)
		sim_disconnect(life->clients[who]);
	else
		sim_vanish(life->clients[who]);
	struct sim_client *client = life->clients[who];
	if (client->options.resumes && client->token_bytes > 0 && draw(life, 4) > 0)
		sim_resume(client);
	else
		connect(life, who);
}

static void pace(struct life *life, uint32_t w)
{
	static const double speeds[] = { 0.5, 1, 4 };
	uint32_t what = draw(life, 4);
	struct message control;
	message_init(&control, MESSAGE_CONTROL);
	control.control.ref = sim_ref(life->keeper);
	control.control.world = life->worlds[w];
	control.control.action = what == 0 ? WIRE_CONTROL_PAUSE
				 : what == 1 ? WIRE_CONTROL_SPEED
					     : WIRE_CONTROL_RESUME;
	control.control.value = what == 1 ? speeds[draw(life, 3)] : 1;
	sim_send(life->keeper, &control);
}

static void go_back(struct life *life, uint32_t w)
{
	struct message message;
	if (draw(life, 2) == 0) {
		message_init(&message, MESSAGE_SAVE);
		message.save.ref = sim_ref(life->keeper);
		message.save.world = life->worlds[w];
		message.save.name = wire_text("s");
	} else {
		message_init(&message, MESSAGE_RESTORE);
		message.restore.ref = sim_ref(life->keeper);
		message.restore.world = life->worlds[w];
		message.restore.name = wire_text("s");
	}
	sim_send(life->keeper, &message);
}

static void act(struct life *life)
{
	uint32_t who = draw(life, CLIENTS), w = draw(life, WORLDS), what = draw(life, 100);
	struct sim_client *client = life->clients[who];
	if (client->refused && !client->open && client->stream != NULL)
		sim_disconnect(client);
	if (client->closed && client->stream == NULL) {
		connect(life, who);
		return;
	}
	if (!client->open || life->stalled[who]) {
		if (life->stalled[who] && draw(life, 4) == 0) {
			sim_stall(client, false);
			life->stalled[who] = false;
		}
		return;
	}
	if (!life->joined[who][w])
		join(life, who, w);
	else if (what < 45)
		command(life, who, w);
	else if (what < 54)
		watch(life, who, w);
	else if (what < 60)
		look(life, who, w);
	else if (what < 65)
		leave(life, who, w);
	else if (what < 72)
		resync(life, who);
	else if (what < 80) {
		sim_stall(client, true);
		life->stalled[who] = true;
	} else if (what < 84 && life->sim->client_count < SERVER_SIM_CLIENTS_MAX)
		lose(life, who);
	else if (what < 90)
		pace(life, w);
	else if (what < 93 && life->goes_back)
		go_back(life, w);
	else if (what >= 93)
		turn_round(life, who);
}

static void begin(struct life *life, uint64_t seed)
{
	struct server_sim_options options = server_sim_options_default(seed);
	struct sim_client_options admin = sim_client_options_default();
	options.io.executor.workers = 1 + seed % 3;
	life->sim = server_sim_create(&options);
	life->rng = rng_seeded(seed * 77 + 5);
	life->goes_back = seed % 3 == 0;
	admin.address = SIM_UNIX;
	life->keeper = server_sim_guest(life->sim, &admin);
	for (uint32_t w = 0; w < WORLDS; w++) {
		char name[] = { 'w', (char)('0' + w), '\0' };
		struct command commands[2];
		life->worlds[w] = sim_make_world(life->keeper, name, NULL);
		sim_upload(life->keeper, life->worlds[w], TEST_SPHERE);
		sim_upload(life->keeper, life->worlds[w], TEST_PLANE);
		command_defaults(&commands[0], COMMAND_SHAPE_USE);
		commands[0].shape_use.name = test_shape_name(TEST_SPHERE);
		commands[1] = commands[0];
		commands[1].shape_use.name = test_shape_name(TEST_PLANE);
		ck_assert_ptr_nonnull(sim_step(life->keeper, life->worlds[w], 1, 0, commands, 2));
		ck_assert_int_eq(sim_control(life->keeper, life->worlds[w], WIRE_CONTROL_RESUME, 1),
				 STATUS_OK);
	}
	for (uint32_t i = 0; i < CLIENTS; i++)
		connect(life, i);
}

static void settle(struct life *life)
{
	for (uint32_t i = 0; i < CLIENTS; i++)
		sim_stall(life->clients[i], false);
	for (uint32_t w = 0; w < WORLDS; w++)
		ck_assert_int_eq(sim_control(life->keeper, life->worlds[w], WIRE_CONTROL_RESUME, 1),
				 STATUS_OK);
	server_sim_run(life->sim, 3 * NS_PER_S);
	for (uint32_t w = 0; w < WORLDS; w++)
		ck_assert_int_eq(sim_control(life->keeper, life->worlds[w], WIRE_CONTROL_PAUSE, 1),
				 STATUS_OK);
	for (uint32_t i = 0; i < CLIENTS; i++)
		for (uint32_t k = 0; k < life->clients[i]->subscription_count; k++) {
			const struct sim_subscription *sub = &life->clients[i]->subscriptions[k];
			if (life->clients[i]->closed || sub->frames == 0 || sub->mirror.fields == 0)
				continue;
			/* With a divisor the last frame may be older than the last tick. */
			if (sim_error(life->clients[i], sub->sub) != NULL)
				continue;
			struct world_info info =
				world_info(server_sim_world(life->sim, sub->world));
			bool there = sim_caught_up(life->clients[i], sub->sub, NS_PER_S);
			ck_assert(there || info.tick - sub->mirror.tick <= 64 * 4);
			ck_assert(sub->mirror.complete);
		}
}

static uint32_t bodies_with_tag(const struct world *world, int64_t tag, body_id *id)
{
	static body_id ids[1 << 14];
	uint32_t count = world_bodies(world, ids, COUNT_OF(ids)), found = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct body_view view;
		ck_assert_int_eq(world_body(world, ids[i], &view), STATUS_OK);
		if (view.tag != tag)
			continue;
		*id = ids[i];
		found++;
	}
	return found;
}

/* Every batch was done once or refused; what a client heard is what happened. */
static void judge(struct life *life)
{
	for (uint32_t i = 0; i < life->fate_count; i++) {
		struct fate *fate = &life->fates[i];
		const struct world *world = server_sim_world(life->sim, fate->world);
		const struct sim_result *result =
			sim_result(fate->client, fate->world, fate->batch);
		body_id id = 0;
		uint32_t bodies = bodies_with_tag(world, fate->tag, &id);
		ck_assert_uint_le(bodies, 1);
		if (result == NULL) {
			/* Only who went away, or was told at once that it may not, hears nothing. */
			ck_assert(fate->client->closed || fate->client->errors > 0 ||
				  fate->client->resumes > 0 || life->left[fate->client->index]);
			continue;
		}
		if (result->code != STATUS_OK) {
			ck_assert_uint_eq(bodies, 0);
		} else if (result->value_count > 0 && !life->goes_back) {
			ck_assert_uint_eq(bodies, 1);
			ck_assert_uint_eq(result->values[0], id);
		}
		if (!fate->client->closed && fate->client->errors == 0) {
			ck_assert_uint_ge(result->arrivals, 1);
			/* A batch that waits in a snapshot is done, and told, in every life after it. */
			uint32_t most = 1 + (uint32_t)fate->dated + fate->repeats;
			ck_assert(result->arrivals <= most || (life->goes_back && fate->dated));
		}
	}
}

static void live(uint64_t seed)
{
	static struct life life;
	(void)test_shape_source();
	int64_t heap = heap_live();
	life = (struct life){ 0 };
	begin(&life, seed);
	for (uint32_t i = 0; i < ACTIONS; i++) {
		act(&life);
		server_sim_run(life.sim, (uint64_t)draw(&life, 12) * NS_PER_MS);
	}
	settle(&life);
	judge(&life);
	ck_assert(server_sim_sound(life.sim));
	ck_assert_uint_gt(life.sim->compared, 100);
	ck_assert(server_sim_drain(life.sim, 60 * NS_PER_S));
	server_sim_destroy(life.sim);
	ck_assert_int_eq(heap_live(), heap);
}

START_TEST(whatever_happens_mirrors_are_the_world_and_batches_have_one_fate)
{
	live(check_seed() + (uint64_t)_i);
}
END_TEST

static Suite *make(void)
{
	const char *wanted = getenv("SEEDS");
	int seeds = wanted != NULL ? atoi(wanted) : SEEDS_DEFAULT;
	Suite *suite = suite_create("tests/sim/random");
	TCase *lives = tcase_create("lives");
	tcase_set_timeout(lives, 60);
	tcase_add_loop_test(lives, whatever_happens_mirrors_are_the_world_and_batches_have_one_fate,
			    0, seeds);
	suite_add_tcase(suite, lives);
	return suite;
}

int main(void)
{
	return check_main(make);
}
