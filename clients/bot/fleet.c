/* fleet.c: sessions that play, watch and stall, in one thread.
 *
 * Each is a libcairn client. The sessions connect, join and subscribe one after the other and wait
 * for each answer. After that poll(2) reports which sessions are readable, and each bot has a time
 * at which it acts next.
 *
 * Lateness of a frame: tick t ends at time c + t / rate. The constant c is unknown, so it is the
 * minimum of arrival − t / rate over all frames of the run: the frame with the least delay has
 * lateness 0. All bots of a run share c, because a frame that one of them received early was
 * available to the others as well.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clients/bot/bot.h"
#include "clients/lib/cairn.h"
#include "server/base/array.h"
#include "server/base/bytes.h"
#include "server/base/heap.h"

enum {
	BATCHES_KEPT = 256,	/* batches of a session that may wait for their results at once */
	ARRIVALS_MAX = 1 << 16, /* frames of a session whose lateness is measured: the first ones */
	STALL_MIN_MS = 200, /* a staller stops reading for a random time between these two … */
	STALL_MAX_MS = 3000,
	READING_MS = 1500,     /* … and then reads for this time */
	CAUGHT_UP_US = 250000, /* a staller has caught up once its frames are less late than this */
};

const char *const BOT_KIND_NAMES[BOT_KINDS] = { "players", "observers", "stallers", "liars" };

struct arrival {
	uint64_t tick, us;
};

struct bot {
	struct fleet *fleet;
	struct tally *tally;
	struct cairn *client; /* NULL: ended */
	enum bot_kind kind;
	struct rng rng;
	uint64_t due; /* time of its next action, µs */
	/* Players. */
	int64_t body;
	struct {
		uint64_t batch, sent;
	} waiting[BATCHES_KEPT];
	/* Watching. */
	ARRAY_OF(struct arrival) arrivals;
	/* Stallers. */
	bool stalled, catching_up;
	uint64_t read_again;
};

struct fleet {
	const struct bot_options *options;
	const char *address; /* of the relay if there is one, else of the server */
	struct cairn_world world;
	int64_t shape;	   /* of every player; 0 before the first player has uploaded it */
	uint64_t start_us; /* minimum of arrival − tick / rate; UINT64_MAX before the first frame */
	struct bot *bots;
	uint32_t count;
};

uint64_t bot_now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static double tick_us(const struct fleet *fleet)
{
	return 1e6 * (double)fleet->world.rate.den / (double)fleet->world.rate.num;
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static void on_frame(void *context, uint64_t sub, const struct mirror *mirror)
{
	(void)sub;
	struct bot *bot = context;
	uint64_t now = bot_now();
	uint64_t start = now - MIN_OF(now, (uint64_t)((double)mirror->tick * tick_us(bot->fleet)));
	bot->fleet->start_us = MIN_OF(bot->fleet->start_us, start);
	bot->tally->frames++;
	if (bot->arrivals.count < ARRIVALS_MAX &&
	    ARRAY_RESERVE(&bot->arrivals, bot->arrivals.count + 1u) == STATUS_OK)
		bot->arrivals.items[bot->arrivals.count++] = (struct arrival){ mirror->tick, now };
	double behind =
		(double)(now - bot->fleet->start_us) - (double)mirror->tick * tick_us(bot->fleet);
	if (bot->catching_up && behind < CAUGHT_UP_US) {
		bot->catching_up = false;
		bot->tally->catch_ups++;
		histogram_add(&bot->tally->catch_up, now - bot->read_again);
	}
}

static void on_result(void *context, uint32_t world, const struct wire_result *result)
{
	(void)world;
	struct bot *bot = context;
	uint32_t place = (uint32_t)(result->batch % BATCHES_KEPT);
	if (bot->waiting[place].batch != result->batch)
		return;
	bot->waiting[place].batch = 0;
	bot->tally->batches++;
	bot->tally->refused += result->code != STATUS_OK;
	histogram_add(&bot->tally->latency, bot_now() - bot->waiting[place].sent);
}

static void on_notice(void *context, const struct msg_notice *notice)
{
	struct bot *bot = context;
	bot->tally->skipped += notice->skipped;
	bot->tally->lost += notice->lost;
}

static void on_diverged(void *context, uint64_t sub, uint64_t tick)
{
	(void)sub;
	(void)tick;
	((struct bot *)context)->tally->diverged++;
}

/* ---- connecting ------------------------------------------------------------------------------ */

static enum status open_session(struct bot *bot, struct reason *why)
{
	const struct bot_options *options = bot->fleet->options;
	struct cairn_options own = {
		.name = "cairn-bot",
		.callbacks = { .frame = on_frame,
			       .result = on_result,
			       .notice = on_notice,
			       .diverged = on_diverged,
			       .context = bot },
	};
	struct cairn_subscription sub = { .sub = 1, .fields = 31, .profile = options->profile };
	enum status status = cairn_connect(bot->fleet->address, &own, &bot->client, why);
	if (status == STATUS_OK)
		status = cairn_join(bot->client, options->world, &bot->fleet->world, why);
	sub.world = bot->fleet->world.number;
	if (status == STATUS_OK && bot->fleet->world.mode != WIRE_MODE_RUNNING)
		return reason_set(why, STATUS_PAUSED, -1, "world",
				  "world %s is not running; `cairn resume %s` starts it",
				  options->world, options->world);
	if (status == STATUS_OK)
		status = cairn_subscribe(bot->client, &sub, why);
	return status;
}

/* Spawns the player's ball at a random place above the origin of the world. */
static enum status spawn_player(struct bot *bot, struct reason *why)
{
	struct attachment ball = { .shape = bot->fleet->shape, .rotation = { 1, 0, 0, 0 } };
	struct command spawn;
	struct wire_result result;
	command_defaults(&spawn, COMMAND_SPAWN);
	spawn.spawn.status = 2;
	spawn.spawn.position.x = rng_range(&bot->rng, -10, 10);
	spawn.spawn.position.y = rng_range(&bot->rng, 5, 15);
	spawn.spawn.position.z = rng_range(&bot->rng, -10, 10);
	spawn.spawn.shapes = (struct attachment_list){ &ball, 1 };
	enum status status =
		cairn_apply(bot->client, bot->fleet->world.number, &spawn, 1, &result, why);
	if (status == STATUS_OK)
		bot->body = result_value(&result, 0);
	return status;
}

/* Uploads the shape of all players. */
static enum status upload_shape(struct bot *bot, struct reason *why)
{
	static const uint8_t BALL[10] = {
		1, 1, 0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xc9, 0x3f
	}; /* 0.2 m */
	struct command use;
	struct wire_result result;
	command_defaults(&use, COMMAND_SHAPE_USE);
	enum status status = cairn_shape(bot->client, bot->fleet->world.number, BALL, sizeof BALL,
					 &use.shape_use.name, why);
	if (status == STATUS_OK)
		status = cairn_apply(bot->client, bot->fleet->world.number, &use, 1, &result, why);
	if (status == STATUS_OK)
		bot->fleet->shape = result_value(&result, 0);
	return status;
}

static enum status connect_bots(struct fleet *fleet, uint64_t now, struct reason *why)
{
	for (uint32_t i = 0; i < fleet->count; i++) {
		struct bot *bot = &fleet->bots[i];
		enum status status;
		bot->due = now + rng_below(&bot->rng, 1000000);
		status = open_session(bot, why);
		if (status == STATUS_OK && bot->kind == BOT_PLAYER && fleet->shape == 0)
			status = upload_shape(bot, why);
		if (status == STATUS_OK && bot->kind == BOT_PLAYER)
			status = spawn_player(bot, why);
		if (status != STATUS_OK)
			return status;
		bot->tally->sessions++;
	}
	return STATUS_OK;
}

/* ---- acting ---------------------------------------------------------------------------------- */

static void end_session(struct bot *bot)
{
	cairn_close(bot->client);
	bot->client = NULL;
	bot->due = UINT64_MAX;
	bot->tally->ended++;
}

/* Pushes the player's ball in a random direction, never down. */
static void push_ball(struct bot *bot, uint64_t now)
{
	struct command push;
	uint64_t batch;
	command_defaults(&push, COMMAND_IMPULSE);
	push.impulse.body = bot->body;
	push.impulse.impulse.x = rng_range(&bot->rng, -30, 30);
	push.impulse.impulse.y = rng_range(&bot->rng, 0, 40);
	push.impulse.impulse.z = rng_range(&bot->rng, -30, 30);
	bot->due = now +
		   (uint64_t)(1e6 / bot->fleet->options->commands * rng_range(&bot->rng, 0.5, 1.5));
	if (cairn_commands(bot->client, bot->fleet->world.number, &push, 1, CAIRN_NEXT_TICK,
			   WIRE_LATE_APPLY, &batch, NULL) != STATUS_OK)
		return;
	bot->waiting[batch % BATCHES_KEPT].batch = batch;
	bot->waiting[batch % BATCHES_KEPT].sent = now;
	enum status status = cairn_poll(bot->client, 0, NULL);
	if (status != STATUS_OK && status != STATUS_AGAIN)
		end_session(bot);
}

static void toggle_stall(struct bot *bot, uint64_t now)
{
	bot->stalled = !bot->stalled;
	uint32_t ms = bot->stalled
			      ? STALL_MIN_MS + rng_below(&bot->rng, STALL_MAX_MS - STALL_MIN_MS)
			      : READING_MS;
	bot->due = now + (uint64_t)ms * 1000;
	if (bot->stalled)
		return;
	bot->catching_up = true;
	bot->read_again = now;
}

static void act(struct bot *bot, uint64_t now)
{
	switch (bot->kind) {
	case BOT_PLAYER:
		push_ball(bot, now);
		return;
	case BOT_STALLER:
		toggle_stall(bot, now);
		return;
	case BOT_OBSERVER:
	case BOT_LIAR:
	case BOT_KINDS:
		bot->due = UINT64_MAX;
	}
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void serve_ready_bots(struct fleet *fleet, struct pollfd *polls, uint64_t end)
{
	for (uint64_t now = bot_now(); now < end; now = bot_now()) {
		uint64_t next = end;
		for (uint32_t i = 0; i < fleet->count; i++) {
			struct bot *bot = &fleet->bots[i];
			if (bot->due <= now)
				act(bot, now);
			next = MIN_OF(next, bot->due);
			bool reads = bot->client != NULL && !bot->stalled;
			polls[i] = (struct pollfd){ reads ? cairn_fd(bot->client) : -1, POLLIN, 0 };
		}
		now = bot_now();
		int wait = next <= now ? 0 : (int)((next - now + 999) / 1000);
		if (poll(polls, fleet->count, MIN_OF(wait, 100)) <= 0)
			continue;
		for (uint32_t i = 0; i < fleet->count; i++) {
			if (polls[i].revents == 0)
				continue;
			enum status status = cairn_poll(fleet->bots[i].client, 0, NULL);
			/* A refused request does not end the connection. */
			if (status != STATUS_OK && status != STATUS_AGAIN &&
			    (status == STATUS_CLOSED || wire_status_closes(status)))
				end_session(&fleet->bots[i]);
		}
	}
}

/* Reads everything received while the other sessions connected, and starts the statistics anew,
 * because frames that waited for a session that was not read have no meaningful lateness. */
static void discard_backlog(struct fleet *fleet)
{
	for (uint32_t i = 0; i < fleet->count; i++) {
		struct bot *bot = &fleet->bots[i];
		while (bot->client != NULL && cairn_poll(bot->client, 0, NULL) == STATUS_OK)
			;
		bot->arrivals.count = 0;
		bot->tally->frames = bot->tally->skipped = bot->tally->lost = 0;
	}
	fleet->start_us = UINT64_MAX;
}

/* Adds the lateness of a bot's frames at the end of the run, when the frame with the least delay is
 * known. Stallers are excluded, because they are late on purpose. */
static void add_lateness(struct bot *bot)
{
	double tick = tick_us(bot->fleet);
	const struct mirror *mirror = bot->client != NULL ? cairn_mirror(bot->client, 1) : NULL;
	bot->tally->bodies += mirror != NULL ? mirror->count : 0;
	for (uint32_t i = 0; bot->kind != BOT_STALLER && i < bot->arrivals.count; i++) {
		double behind = (double)(bot->arrivals.items[i].us - bot->fleet->start_us) -
				(double)bot->arrivals.items[i].tick * tick;
		histogram_add(&bot->tally->lateness, behind > 0 ? (uint64_t)behind : 0);
		bot->tally->late += behind > tick;
	}
}

enum status fleet_run(const struct bot_options *options, struct tally tally[BOT_KINDS],
		      struct reason *why)
{
	struct fleet fleet = { .options = options,
			       .address = options->address,
			       .start_us = UINT64_MAX };
	struct pollfd *polls = NULL;
	for (uint32_t kind = 0; kind < BOT_LIAR; kind++)
		fleet.count += options->count[kind];
	fleet.bots = heap_alloc_zero((fleet.count + 1) * sizeof *fleet.bots);
	polls = heap_alloc_zero((fleet.count + 1) * sizeof *polls);
	enum status status = fleet.bots != NULL && polls != NULL ? STATUS_OK : STATUS_NO_MEMORY;
	for (uint32_t kind = 0, i = 0; status == STATUS_OK && kind < BOT_LIAR; kind++)
		for (uint32_t k = 0; k < options->count[kind]; k++, i++) {
			fleet.bots[i].fleet = &fleet;
			fleet.bots[i].tally = &tally[kind];
			fleet.bots[i].kind = (enum bot_kind)kind;
			fleet.bots[i].rng = rng_seeded(options->seed + rng_mix(i));
		}
	if (status == STATUS_OK)
		status = connect_bots(&fleet, bot_now(), why);
	else
		reason_set(why, status, -1, "bots", "%s", status_text(status));
	struct liars *liars = NULL;
	if (status == STATUS_OK)
		status = liars_start(options, &tally[BOT_LIAR], &liars, why);
	if (status == STATUS_OK)
		discard_backlog(&fleet);
	if (status == STATUS_OK)
		serve_ready_bots(&fleet, polls, bot_now() + (uint64_t)(options->seconds * 1e6));
	liars_stop(liars);
	for (uint32_t i = 0; fleet.bots != NULL && i < fleet.count; i++) {
		if (status == STATUS_OK)
			add_lateness(&fleet.bots[i]);
		if (fleet.bots[i].client != NULL)
			cairn_close(fleet.bots[i].client);
		ARRAY_RELEASE(&fleet.bots[i].arrivals);
	}
	heap_free(fleet.bots);
	heap_free(polls);
	return status;
}
