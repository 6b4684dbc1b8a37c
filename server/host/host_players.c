/* host_players.c: what a player may have of a world at once, and what ends with him.
 *
 * Players are strangers who share a world with others: each has a share of what everybody draws on, so
 * that what he leaves about keeps nobody out. Of a restricted session are bounded
 *
 *	how far ahead a batch may be dated, and how long a force may last (player_limits.horizon_ticks)
 *	batches that wait for a later tick     rows of the pending table
 *	forces and torques that last           those that it has asked for, until their last tick
 *	bodies                                 those that it owns and those that it gave away; but no
 *						more than it has
 *	                                       made and not removed, or gifts of others would use its share up
 *
 * A batch that would pass one is refused whole, before the engine or the journal sees it. Counts are of
 * the boundary as it begins, with what was asked in it so far, refused or not: within one tick a share
 * may be used up by what is refused, never passed.
 *
 * When the session has left the world, what it has waiting is withdrawn at the next boundary: a batch
 * of our own (LATE_WITHDRAW), recorded like any other, so that replays withdraw it, too. Its forces end
 * by themselves within the horizon, its bodies stay: they are part of the world.
 *
 * A drag is a hand in the world, of whatever role: those that a session owns end with it in the same way
 * (LATE_LET_GO), after all its batches. Where a world goes on without those who held (after a
 * restart, in a copy, and after RESTORE, which takes everybody to another time), all hands let go before the
 * first batch.
 */
#include <string.h>

#include "server/host/host_state.h"

/* Ascending by session: the first whose session is not less. */
static uint32_t place_of(const struct host *host, uint32_t session)
{
	uint32_t low = 0, high = host->players.count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (host->players.items[middle].session < session)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct player *find(struct host *host, uint32_t session)
{
	uint32_t at = place_of(host, session);
	bool found = at < host->players.count && host->players.items[at].session == session;
	return found ? &host->players.items[at] : NULL;
}

static enum status add(struct host *host, uint32_t session)
{
	uint32_t at = place_of(host, session);
	if (at < host->players.count && host->players.items[at].session == session)
		return STATUS_OK;
	if (ARRAY_RESERVE(&host->players, host->players.count + 1u) != STATUS_OK)
		return STATUS_NO_MEMORY;
	struct player *player = &host->players.items[at];
	memmove(player + 1, player, (host->players.count - at) * sizeof *player);
	*player = (struct player){ .session = session };
	host->players.count++;
	return STATUS_OK;
}

enum status host_players_begin(struct host *host, struct boundary *boundary)
{
	bool any = false;
	for (uint32_t i = 0; i < boundary->entry_count; i++) {
		const struct waiting_batch *waiting = boundary->entries[i].payload;
		if (!waiting->batch.restricted)
			continue;
		any = true;
		if (add(host, waiting->batch.session) != STATUS_OK)
			return STATUS_NO_MEMORY;
	}
	boundary->own = host->let_go_all;
	for (struct host_request *request = host->gone; request != NULL;
	     request = host_request_next(request)) {
		struct player *player = find(host, host_request_session(request));
		boundary->own += 2;
		any = any || player != NULL;
		if (player != NULL)
			player->gone = true;
	}
	boundary->share_count = any ? host->players.count : 0;
	boundary->shares = ARENA_ARRAY(&host->scratch, struct world_share, boundary->share_count);
	if (boundary->shares == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < boundary->share_count; i++) {
		boundary->shares[i] =
			(struct world_share){ .session = host->players.items[i].session };
		host->players.items[i].asked = 0;
	}
	world_shares(host->world, boundary->shares, boundary->share_count);
	return STATUS_OK;
}

/* What a batch asks for. */
struct wish {
	uint32_t spawns, lasting, longest;
};

static uint32_t lasts(const struct command *command)
{
	return command->op == COMMAND_FORCE    ? command->force.ticks
	       : command->op == COMMAND_TORQUE ? command->torque.ticks
					       : 0;
}

static struct wish wish_of(const struct command *commands, uint32_t count)
{
	struct wish wish = { 0 };
	for (uint32_t i = 0; i < count; i++) {
		uint32_t ticks = lasts(&commands[i]);
		wish.spawns += commands[i].op == COMMAND_SPAWN;
		wish.lasting += ticks > 1;
		wish.longest = MAX_OF(wish.longest, ticks);
	}
	return wish;
}

/* How many of its forces last on. Those of a time before a RESTORE are no more. */
static uint32_t forces_of(struct player *player, uint32_t epoch, uint64_t tick)
{
	uint32_t kept = 0;
	if (player->epoch != epoch)
		player->forces.count = 0;
	player->epoch = epoch;
	for (uint32_t i = 0; i < player->forces.count; i++)
		if (player->forces.items[i] > tick)
			player->forces.items[kept++] = player->forces.items[i];
	player->forces.count = kept;
	return kept;
}

static enum status too_many(struct reason *why, const char *field, const char *what, uint32_t most)
{
	return reason_set(why, STATUS_LIMIT, -1, field,
			  "a player has at most %u %s in a world at once", (unsigned)most, what);
}

enum status host_players_check(struct host *host, struct boundary *boundary,
			       const struct host_batch *from, const struct command *commands,
			       struct reason *why)
{
	const struct player_limits *limits = &host->options.players;
	struct world_info info = world_info(host->world);
	uint64_t tick = info.tick;
	struct wish wish = wish_of(commands, from->list.count);
	struct player *player = find(host, from->session);
	ASSERT(player != NULL && boundary->share_count == host->players.count);
	struct world_share *share = &boundary->shares[player - host->players.items];
	bool later = from->at > tick;
	uint64_t made = player->made - MIN_OF(player->removed, player->made);
	/* What waits may make some, too. */
	uint64_t bodies = share->pending > 0 ? made : MIN_OF(share->bodies + player->given, made);
	if (later && (player->gone || from->at - tick > limits->horizon_ticks))
		return reason_set(
			why, STATUS_RANGE, -1, "at",
			"a player's batch waits for at most %u ticks; the world is at %llu",
			(unsigned)limits->horizon_ticks, (unsigned long long)tick);
	if (wish.longest > limits->horizon_ticks)
		return reason_set(why, STATUS_RANGE, -1, "ticks",
				  "a player's force lasts at most %u ticks",
				  (unsigned)limits->horizon_ticks);
	if (later && share->pending >= limits->pending)
		return too_many(why, "at", "batches that wait", limits->pending);
	if (wish.lasting > 0 &&
	    forces_of(player, info.epoch, tick) + player->asked + wish.lasting > limits->forces)
		return too_many(why, "ticks", "forces that last", limits->forces);
	if (wish.spawns > 0 && bodies + wish.spawns > limits->bodies)
		return too_many(why, "bodies", "bodies", limits->bodies);
	share->pending += later;
	player->asked += wish.lasting;
	/* For host_players_applied, which must not fail. */
	if (ARRAY_RESERVE(&player->forces, player->forces.count + player->asked) != STATUS_OK)
		return reason_set(why, STATUS_NO_MEMORY, -1, "ticks", "%s",
				  status_text(STATUS_NO_MEMORY));
	share->bodies += wish.spawns;
	return STATUS_OK;
}

/* Whether a batch of this boundary may give the session a drag: one that it makes, or is made an owner of. */
static bool may_hold(const struct boundary *boundary, uint32_t session)
{
	for (uint32_t i = 0; i < boundary->count; i++) {
		const struct batch *batch = &boundary->batches[i];
		for (uint32_t k = 0; k < batch->count; k++) {
			const struct command *command = &batch->commands[k];
			uint32_t owner =
				command->op == COMMAND_JOINT_CREATE ? command->joint_create.owner
				: command->op == COMMAND_JOINT_SET  ? command->joint_set.owner
								    : 0;
			bool joint = command->op == COMMAND_JOINT_CREATE ||
				     command->op == COMMAND_JOINT_SET;
			if (joint &&
			    (owner == session || (batch->restricted && batch->session == session)))
				return true;
		}
	}
	return false;
}

static void put_own(struct boundary *boundary, uint32_t session, uint64_t number, uint8_t late)
{
	uint32_t at = boundary->count + boundary->own++;
	boundary->batches[at] = (struct batch){
		.session = session, .number = number, .late = late, .restricted = true
	};
	boundary->records[at] = (struct journal_batch){ .session = session,
							.batch = number,
							.late = late,
							.restricted = true,
							.commands = (const uint8_t *)"" };
}

/* The journal keeps only what may change something. */
void host_players_leave(struct host *host, struct boundary *boundary)
{
	struct host_request *request;
	boundary->own = 0;
	if (host->let_go_all && world_drags(host->world, 0) > 0)
		put_own(boundary, 0, 0, LATE_LET_GO);
	while ((request = host_request_take(&host->gone)) != NULL) {
		uint32_t session = host_request_session(request);
		const struct player *player = find(host, session);
		if (player != NULL && boundary->shares[player - host->players.items].pending > 0)
			put_own(boundary, session, 0, LATE_WITHDRAW);
		if (world_drags(host->world, session) > 0 || may_hold(boundary, session))
			put_own(boundary, session, UINT64_MAX, LATE_LET_GO);
		host_request_put(&host->ending, request);
	}
}

void host_players_applied(struct host *host, const struct boundary *boundary)
{
	uint64_t tick = world_info(host->world).tick;
	for (uint32_t i = 0; i < boundary->count; i++) {
		const struct batch *batch = &boundary->batches[i];
		struct player *player =
			batch->restricted && boundary->results[i].status == STATUS_OK
				? find(host, batch->session)
				: NULL;
		for (uint32_t k = 0; player != NULL && k < batch->count; k++) {
			const struct command *command = &batch->commands[k];
			player->made += command->op == COMMAND_SPAWN;
			player->removed += command->op == COMMAND_REMOVE;
			player->given += command->op == COMMAND_SET_OWNER &&
					 command->set_owner.owner != player->session;
			uint32_t ticks = lasts(command);
			if (ticks > 1)
				player->forces.items[player->forces.count++] =
					MAX_OF(batch->at, tick) + ticks;
		}
	}
}

/* Batches of a world it was copied from may be among what was withdrawn. */
static void forget_inherited(struct host *host, uint32_t session)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < host->inherited.count; i++)
		if (host->inherited.items[i].session != session)
			host->inherited.items[kept++] = host->inherited.items[i];
	host->inherited.count = kept;
}

static void forget(struct host *host, uint32_t session)
{
	struct player *player = find(host, session);
	if (player == NULL)
		return;
	forget_inherited(host, session);
	ARRAY_RELEASE(&player->forces);
	host->players.count--;
	memmove(player, player + 1,
		(host->players.count - (size_t)(player - host->players.items)) * sizeof *player);
}

void host_players_end(struct host *host)
{
	struct host_request *request;
	while ((request = host_request_take(&host->ending)) != NULL) {
		forget(host, host_request_session(request));
		host_request_destroy(request);
	}
	host->let_go_all = false;
	host->drags_due = false;
	for (request = host->gone; request != NULL; request = host_request_next(request))
		host->drags_due |= world_drags(host->world, host_request_session(request)) > 0;
}

/* Whether a batch of the session is still to be applied. */
static bool has_sent(struct host *host, uint32_t session)
{
	const struct boundary *boundary = &host->boundary;
	bool sent = inbox_has(host->inbox, session);
	for (uint32_t i = 0; i < boundary->entry_count && !sent; i++)
		sent = boundary->entries[i].session == session;
	return sent;
}

void host_players_gone(struct host *host, struct host_request *closing)
{
	uint32_t session = host_request_session(closing);
	bool drags = world_drags(host->world, session) > 0;
	bool leaves = drags || find(host, session) != NULL || has_sent(host, session);
	for (struct host_request *request = host->gone; request != NULL;
	     request = host_request_next(request))
		leaves = leaves && host_request_session(request) != session;
	host->drags_due |= drags;
	if (leaves)
		host_request_put(&host->gone, closing);
	else
		host_request_destroy(closing);
}

void host_players_release(struct host *host)
{
	struct host_request *request;
	while ((request = host_request_take(&host->gone)) != NULL ||
	       (request = host_request_take(&host->ending)) != NULL)
		host_request_destroy(request);
	for (uint32_t i = 0; i < host->players.count; i++)
		ARRAY_RELEASE(&host->players.items[i].forces);
	ARRAY_RELEASE(&host->players);
}
