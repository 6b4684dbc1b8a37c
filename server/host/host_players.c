/* host_players.c: the limits of a player in a world, and what ends when a session leaves.
 *
 * Players (restricted sessions) share a world with strangers: each has a limited share of the world's
 * tables, so that no player can fill them and keep others out. Limited are
 *
 *	at, ticks   how far ahead a batch may be dated, and how long a force may last (horizon_ticks)
 *	pending     batches that wait for a later tick: rows of the pending table
 *	forces      lasting forces and torques that it has requested, until their last tick
 *	bodies      bodies that it owns plus those it gave away, but at most those it made and did not
 *	            remove: otherwise gifts of others would use up its share
 *
 * A batch that would exceed a limit is refused whole, before the engine or the journal sees it.
 * Counts are those at the start of the boundary, plus all requests in it so far, refused ones
 * included: within one tick refused requests may use up a share, but no share is exceeded.
 *
 * When a session has left the world, its waiting batches are withdrawn at the next boundary: by a
 * batch of the host's own (LATE_WITHDRAW), recorded like any other, so that replays withdraw them
 * too. Its forces end within the horizon; its bodies stay, because they are part of the world.
 *
 * Drags of a session, of any role, end when it leaves, in the same way (LATE_REMOVE_DRAGS), after
 * all its batches. All drags of a world end before its first batch where their sessions do not
 * exist: after a restart, in a copy, and after RESTORE, which puts the world at another time; after a return
 * to a moment only if a session has left since, because that session's drags would live again.
 */
#include <string.h>

#include "server/host/host_state.h"

/* Ascending by session: the first whose session is not less. */
static uint32_t player_index(const struct host *host, uint32_t session)
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

static struct player *find_player(struct host *host, uint32_t session)
{
	uint32_t at = player_index(host, session);
	bool found = at < host->players.count && host->players.items[at].session == session;
	return found ? &host->players.items[at] : NULL;
}

static enum status add_player(struct host *host, uint32_t session)
{
	uint32_t at = player_index(host, session);
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
		if (add_player(host, waiting->batch.session) != STATUS_OK)
			return STATUS_NO_MEMORY;
	}
	boundary->own_count = host->all_drags_due;
	for (struct host_request *request = host->leaving; request != NULL;
	     request = host_request_next(request)) {
		struct player *player = find_player(host, host_request_session(request));
		boundary->own_count += 2;
		any = any || player != NULL;
		if (player != NULL)
			player->has_left = true;
	}
	boundary->share_count = any ? host->players.count : 0;
	boundary->shares = ARENA_ARRAY(&host->scratch, struct world_share, boundary->share_count);
	if (boundary->shares == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < boundary->share_count; i++) {
		boundary->shares[i] =
			(struct world_share){ .session = host->players.items[i].session };
		host->players.items[i].forces_requested = 0;
	}
	world_shares(host->world, boundary->shares, boundary->share_count);
	return STATUS_OK;
}

/* The resources that a batch requests. */
struct player_demand {
	uint32_t spawns, lasting; /* bodies; forces of more than one tick */
	uint32_t longest;	  /* ticks of its longest force */
};

static uint32_t force_ticks(const struct command *command)
{
	return command->op == COMMAND_FORCE    ? command->force.ticks
	       : command->op == COMMAND_TORQUE ? command->torque.ticks
					       : 0;
}

static struct player_demand demand_of(const struct command *commands, uint32_t count)
{
	struct player_demand demand = { 0 };
	for (uint32_t i = 0; i < count; i++) {
		uint32_t ticks = force_ticks(&commands[i]);
		demand.spawns += commands[i].op == COMMAND_SPAWN;
		demand.lasting += ticks > 1;
		demand.longest = MAX_OF(demand.longest, ticks);
	}
	return demand;
}

/* Drops forces whose last tick is past, or that are of an epoch before a RESTORE; returns how many
 * are left. */
static uint32_t drop_expired_forces(struct player *player, uint32_t epoch, uint64_t tick)
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

/* `count`: with those that the batch asks for. */
static enum status refuse_excess(struct reason *why, const char *field, const char *what,
				 uint64_t count, uint32_t most, const char *remedy)
{
	return reason_set(why, STATUS_LIMIT, -1, field,
			  "the player would have %llu %s in this world; the limit is %u: %s",
			  (unsigned long long)count, what, (unsigned)most, remedy);
}

enum status host_players_check(struct host *host, struct boundary *boundary,
			       const struct host_batch *from, const struct command *commands,
			       struct reason *why)
{
	const struct player_limits *limits = &host->options.players;
	struct world_info info = world_info(host->world);
	uint64_t tick = info.tick;
	struct player_demand demand = demand_of(commands, from->list.count);
	struct player *player = find_player(host, from->session);
	ASSERT(player != NULL && boundary->share_count == host->players.count);
	struct world_share *share = &boundary->shares[player - host->players.items];
	bool later = from->at > tick;
	uint64_t made = player->made - MIN_OF(player->removed, player->made);
	/* Waiting batches may create bodies, too: then every body it made counts. */
	uint64_t bodies = share->pending > 0 ? made : MIN_OF(share->bodies + player->given, made);
	if (later && (player->has_left || from->at - tick > limits->horizon_ticks))
		return reason_set(
			why, STATUS_RANGE, -1, "at",
			"at is %llu: a player's batch may wait for at most %u ticks; the world is at %llu",
			(unsigned long long)from->at, (unsigned)limits->horizon_ticks,
			(unsigned long long)tick);
	if (demand.longest > limits->horizon_ticks)
		return reason_set(why, STATUS_RANGE, -1, "ticks",
				  "a player's force lasts at most %u ticks, not %u",
				  (unsigned)limits->horizon_ticks, (unsigned)demand.longest);
	if (later && share->pending >= limits->pending)
		return refuse_excess(why, "at", "waiting batches", share->pending + 1u,
				     limits->pending, "wait until a batch has run");
	uint64_t forces = demand.lasting > 0 ? drop_expired_forces(player, info.epoch, tick) : 0;
	forces += player->forces_requested + demand.lasting;
	if (demand.lasting > 0 && forces > limits->forces)
		return refuse_excess(why, "ticks", "lasting forces", forces, limits->forces,
				     "wait until a force has ended");
	if (demand.spawns > 0 && bodies + demand.spawns > limits->bodies)
		return refuse_excess(why, "bodies", "bodies", bodies + demand.spawns,
				     limits->bodies, "remove a body first");
	share->pending += later;
	player->forces_requested += demand.lasting;
	/* Room for host_players_applied, which must not fail. */
	if (ARRAY_RESERVE(&player->forces, player->forces.count + player->forces_requested) !=
	    STATUS_OK)
		return reason_set(why, STATUS_NO_MEMORY, -1, "ticks", "%s",
				  status_text(STATUS_NO_MEMORY));
	share->bodies += demand.spawns;
	return STATUS_OK;
}

/* The session to which a command may give a drag or a body that ends with its owner; 0: none. *any: it
 * may. */
static uint32_t owner_given(const struct command *command, bool *any)
{
	*any = true;
	switch (command->op) {
	case COMMAND_JOINT_CREATE:
		return command->joint_create.owner;
	case COMMAND_JOINT_SET:
		return command->joint_set.owner;
	case COMMAND_SET_OWNER:
		return command->set_owner.owner;
	case COMMAND_SPAWN:
		*any = command->spawn.ends_with_owner != 0;
		return command->spawn.owner;
	default:
		*any = false;
		return 0;
	}
}

/* True if a command applied at this tick boundary may give the session something that ends with it: in
 * its own name, or in that of the session. */
static bool may_get_ending(const struct boundary *boundary, uint32_t session)
{
	for (uint32_t i = 0; i < boundary->count; i++) {
		const struct batch *batch = &boundary->batches[i];
		for (uint32_t k = 0; k < batch->count; k++) {
			bool any;
			uint32_t owner = owner_given(&batch->commands[k], &any);
			if (any &&
			    (owner == session || (batch->restricted && batch->session == session)))
				return true;
		}
	}
	return false;
}

static void add_own_batch(struct boundary *boundary, uint32_t session, uint64_t number,
			  uint8_t late)
{
	uint32_t at = boundary->count + boundary->own_count++;
	boundary->batches[at] = (struct batch){
		.session = session, .number = number, .late = late, .restricted = true
	};
	boundary->records[at] = (struct journal_batch){ .session = session,
							.batch = number,
							.late = late,
							.restricted = true,
							.commands = (const uint8_t *)"" };
}

/* Adds only batches that may change something, because each is recorded in the journal. */
void host_players_leave(struct host *host, struct boundary *boundary)
{
	struct host_request *request;
	boundary->own_count = 0;
	if (host->all_drags_due && world_session_leaves(host->world, 0))
		add_own_batch(boundary, 0, 0, LATE_REMOVE_DRAGS);
	while ((request = host_request_take(&host->leaving)) != NULL) {
		uint32_t session = host_request_session(request);
		const struct player *player = find_player(host, session);
		if (player != NULL && boundary->shares[player - host->players.items].pending > 0)
			add_own_batch(boundary, session, 0, LATE_WITHDRAW);
		if (world_session_leaves(host->world, session) || may_get_ending(boundary, session))
			add_own_batch(boundary, session, UINT64_MAX, LATE_REMOVE_DRAGS);
		host_request_put(&host->closing, request);
	}
}

void host_players_applied(struct host *host, const struct boundary *boundary)
{
	uint64_t tick = world_info(host->world).tick;
	for (uint32_t i = 0; i < boundary->count; i++) {
		const struct batch *batch = &boundary->batches[i];
		struct player *player =
			batch->restricted && boundary->results[i].status == STATUS_OK
				? find_player(host, batch->session)
				: NULL;
		for (uint32_t k = 0; player != NULL && k < batch->count; k++) {
			const struct command *command = &batch->commands[k];
			player->made += command->op == COMMAND_SPAWN;
			player->removed += command->op == COMMAND_REMOVE;
			player->given += command->op == COMMAND_SET_OWNER &&
					 command->set_owner.owner != player->session;
			uint32_t ticks = force_ticks(command);
			if (ticks > 1)
				player->forces.items[player->forces.count++] =
					MAX_OF(batch->at, tick) + ticks;
		}
	}
}

/* Withdrawn batches may include inherited ones of the same session number. */
static void forget_inherited(struct host *host, uint32_t session)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < host->inherited.count; i++)
		if (host->inherited.items[i].session != session)
			host->inherited.items[kept++] = host->inherited.items[i];
	host->inherited.count = kept;
}

static void forget_player(struct host *host, uint32_t session)
{
	struct player *player = find_player(host, session);
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
	while ((request = host_request_take(&host->closing)) != NULL) {
		forget_player(host, host_request_session(request));
		host_request_destroy(request);
	}
	host->all_drags_due = false;
	host->drags_due = false;
	for (request = host->leaving; request != NULL; request = host_request_next(request))
		host->drags_due |= world_session_leaves(host->world, host_request_session(request));
}

/* True: a batch of the session is still to be applied. */
static bool has_unapplied(struct host *host, uint32_t session)
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
	bool drags = world_session_leaves(host->world, session);
	bool leaves = drags || find_player(host, session) != NULL || has_unapplied(host, session);
	for (struct host_request *request = host->leaving; request != NULL;
	     request = host_request_next(request))
		leaves = leaves && host_request_session(request) != session;
	host->drags_due |= drags;
	host->departures++;
	if (leaves)
		host_request_put(&host->leaving, closing);
	else
		host_request_destroy(closing);
}

void host_players_release(struct host *host)
{
	struct host_request *request;
	while ((request = host_request_take(&host->leaving)) != NULL ||
	       (request = host_request_take(&host->closing)) != NULL)
		host_request_destroy(request);
	for (uint32_t i = 0; i < host->players.count; i++)
		ARRAY_RELEASE(&host->players.items[i].forces);
	ARRAY_RELEASE(&host->players);
}
