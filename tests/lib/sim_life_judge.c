/* Checks the answers and mirrors of a life's clients against the worlds. */
#include <stdio.h>

#include "protocol/group_wire.h"
#include "server/host/host_state.h"
#include "server/session/session.h"
#include "tests/lib/check_main.h"
#include "tests/lib/sim_life.h"

enum { BODIES = 1 << 14 };

/* Whether the client still has the connection on which it sent, so that it must have an answer. */
static bool stayed(const struct life *life, const struct sim_client *client, uint32_t resumes)
{
	return client->open && !client->closed && client->resumes == resumes &&
	       !life->left[client->index];
}

static uint32_t bodies_with_tag(const struct world *world, int64_t tag, body_id *id)
{
	static body_id ids[BODIES];
	uint32_t count = world_bodies(world, ids, BODIES), found = 0;
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

/* ---- batches ------------------------------------------------------------------------------------ */

/* An ERROR about the batch itself. */
static bool was_refused(const struct life_fate *fate)
{
	for (uint32_t i = 0; i < fate->client->received.count; i++) {
		const struct message *message = &fate->client->received.items[i].message;
		if (message->type == MESSAGE_ERROR && message->error.about == MESSAGE_COMMANDS &&
		    message->error.ref == fate->batch)
			return true;
	}
	return false;
}

static bool failed_world(const struct life *life, uint32_t number)
{
	for (uint32_t w = 0; w < LIFE_WORLDS; w++)
		if (life->worlds[w] == number)
			return life_world_failed(life, w);
	return false;
}

static void judge_arrivals(const struct life *life, const struct life_fate *fate,
			   const struct sim_result *result)
{
	if (!stayed(life, fate->client, fate->resumes) || fate->resumes > 0)
		return;
	/* A batch that waits in a snapshot is applied and reported again after each restore of it. */
	uint32_t most = 1 + (uint32_t)fate->dated + fate->repeats;
	ck_assert_msg(result->arrivals <= most || (life->traits.goes_back && fate->dated),
		      "seed %llu: batch %d was reported %u times", (unsigned long long)life->seed,
		      (int)fate->batch, (unsigned)result->arrivals);
}

static void judge_fate(const struct life *life, const struct life_fate *fate, bool settled)
{
	const struct world *world = server_sim_world(life->sim, fate->world);
	const struct sim_result *result = sim_result(fate->client, fate->world, fate->batch);
	unsigned long long seed = life->seed;
	body_id id = 0;
	uint32_t bodies = bodies_with_tag(world, fate->tag, &id);
	ck_assert_msg(bodies <= 1, "seed %llu: a batch was applied twice", seed);
	/* After a RESTORE its own body may have that id. */
	if ((fate->trespass && !life->traits.goes_back) || fate->role < WIRE_ROLE_PLAYER)
		ck_assert_msg(bodies == 0, "seed %llu: a batch was applied against its role", seed);
	if (result == NULL) {
		bool heard = was_refused(fate) || !stayed(life, fate->client, fate->resumes) ||
			     failed_world(life, fate->world);
		ck_assert_msg(heard || !settled,
			      "seed %llu: client %u's batch %d in %u (at %llu) has no answer: tick "
			      "%llu",
			      seed, (unsigned)fate->client->index, (int)fate->batch,
			      (unsigned)fate->world, (unsigned long long)fate->at,
			      (unsigned long long)world_info(world).tick);
		return;
	}
	/* A batch that waits for its tick may not have its final result yet. */
	if (result->code == STATUS_NOT_STORED)
		return;
	if (result->code != STATUS_OK && result->code != STATUS_WAITING)
		ck_assert_msg(bodies == 0, "seed %llu: a batch was refused and applied", seed);
	else if (result->value_count > 0 && !life->traits.goes_back)
		ck_assert_msg(
			bodies == 1 && result->values[0] == id,
			"seed %llu: batch %d of client %u in world %u applied at %llu, body missing: %u "
			"with tag %d, body %u for %u",
			seed, (int)fate->batch, (unsigned)fate->client->index,
			(unsigned)fate->world, (unsigned long long)result->tick, (unsigned)bodies,
			(int)fate->tag, (unsigned)id, (unsigned)result->values[0]);
	judge_arrivals(life, fate, result);
}

/* After a restart: durable bodies exist. A refused batch made none. */
void life_judge_survivors(struct life *life, const struct sim_durable durable[LIFE_COPY])
{
	for (uint32_t i = 0; i < life->fate_count; i++) {
		const struct life_fate *fate = &life->fates[i];
		const struct sim_result *result =
			sim_result(fate->client, fate->world, fate->batch);
		uint32_t w = 0;
		while (w < LIFE_COPY && life->worlds[w] != fate->world)
			w++;
		body_id id = 0;
		ck_assert_uint_lt(w, LIFE_COPY);
		uint32_t bodies =
			bodies_with_tag(server_sim_world(life->sim, fate->world), fate->tag, &id);
		ck_assert_uint_le(bodies, 1);
		if (result == NULL || life->traits.goes_back || result->code == STATUS_NOT_STORED)
			continue;
		bool done = result->code == STATUS_OK && result->value_count > 0;
		if (result->code != STATUS_OK && result->code != STATUS_WAITING)
			ck_assert_uint_eq(bodies, 0);
		else if (done &&
			 (life->traits.command || result->tick < durable[w].tick ||
			  (result->tick == durable[w].tick && result->edit <= durable[w].edit)))
			ck_assert_msg(bodies == 1, "seed %llu: a durable body is gone",
				      (unsigned long long)life->seed);
	}
}

/* ---- requests ----------------------------------------------------------------------------------- */

/* How often the request was answered; the code of the last ERROR. */
static uint32_t answers_of(const struct life_ask *ask, enum status *code)
{
	uint32_t found = 0;
	*code = STATUS_OK;
	for (uint32_t i = 0; i < ask->client->received.count; i++) {
		const struct message *message = &ask->client->received.items[i].message;
		if (message->type == MESSAGE_ERROR &&
		    message->error.about == (uint64_t)ask->about &&
		    message->error.ref == ask->ref) {
			*code = (enum status)message->error.code;
			found++;
		} else if (message->type == ask->answer && sim_answers(message, ask->ref)) {
			found++;
		}
	}
	return found;
}

static void judge_ask(const struct life *life, const struct life_ask *ask, bool settled)
{
	enum status code;
	uint32_t found = answers_of(ask, &code);
	unsigned long long seed = life->seed;
	const char *name = message_info(ask->about)->name;
	if (found > 0 && ask->forbidden)
		ck_assert_msg(
			code == STATUS_FORBIDDEN || code == STATUS_BUSY || code == STATUS_NO_MEMORY,
			"seed %llu: %s was accepted against its role (%d)", seed, name, (int)code);
	if (!stayed(life, ask->client, ask->resumes) || ask->resumes > 0)
		return;
	ck_assert_msg(found <= 1, "seed %llu: %s answered %u times", seed, name, (unsigned)found);
	ck_assert_msg(found == 1 || !settled, "seed %llu: %s of client %u (ref %d) has no answer",
		      seed, name, (unsigned)ask->client->index, (int)ask->ref);
}

/* A STEP's hash is that of the tick it names. */
static void judge_stepped(const struct life *life, const struct sim_client *client)
{
	for (uint32_t i = 0; i < client->received.count; i++) {
		const struct message *message = &client->received.items[i].message;
		const struct msg_stepped *stepped = &message->stepped;
		if (message->type != MESSAGE_STEPPED ||
		    client->received.items[i].at < life->began_at || !stepped->tick_hash.set)
			continue;
		ck_assert_msg(server_sim_was(life->sim, (uint32_t)stepped->world, stepped->tick,
					     stepped->edit, stepped->tick_hash.value),
			      "seed %llu: STEPPED tick %d names a state that never existed",
			      (unsigned long long)life->seed, (int)stepped->tick);
	}
}

/* The same for each world of a STEPPED_WORLDS. */
static void judge_stepped_worlds(const struct life *life, const struct sim_client *client)
{
	for (uint32_t i = 0; i < client->received.count; i++) {
		const struct message *message = &client->received.items[i].message;
		if (message->type != MESSAGE_STEPPED_WORLDS ||
		    client->received.items[i].at < life->began_at)
			continue;
		struct wire_cursor in = wire_cursor_list(&message->stepped_worlds.worlds);
		for (uint32_t k = 0; k < message->stepped_worlds.worlds.count; k++) {
			struct wire_group_item item;
			ck_assert_int_eq(group_item_take(&in, &item), STATUS_OK);
			ck_assert_msg(
				!item.tick_hash.set ||
					server_sim_was(life->sim, item.world, item.tick, item.edit,
						       item.tick_hash.value),
				"seed %llu: STEPPED_WORLDS tick %d names a state that never existed",
				(unsigned long long)life->seed, (int)item.tick);
		}
	}
}

/* ---- mirrors ------------------------------------------------------------------------------------ */

static void judge_mirror(struct life *life, struct sim_client *client,
			 const struct sim_subscription *sub)
{
	const struct world *world = server_sim_world(life->sim, sub->world);
	if (client->closed || !client->open || sub->frames == 0 || sub->mirror.fields == 0 ||
	    world == NULL || sim_error(client, sub->sub) != NULL)
		return;
	bool there = sim_caught_up(client, sub->sub, NS_PER_S);
	/* With a divisor the last frame may be older than the last tick. */
	ck_assert_msg(there || world_info(world).tick - sub->mirror.tick <= 64 * 4,
		      "seed %llu: client %u's mirror %d is not up to date",
		      (unsigned long long)life->seed, (unsigned)client->index, (int)sub->sub);
	ck_assert(sub->mirror.complete);
}

/* ---- counters ----------------------------------------------------------------------------------- */

static void judge_counters(const struct life *life)
{
	const struct server *server = life->sim->server;
	const struct registry *sessions = &server->service.sessions;
	struct peer here = { .kind = ADDRESS_TCP4, .local = true, .octets = { 127, 0, 0, 1 } };
	uint32_t greeting = 0, lost = 0, counted = 0;
	for (uint32_t i = 0; i < sessions->items.count; i++) {
		const struct session *session = sessions->items.items[i];
		greeting += session->state == SESSION_GREETING ||
			    (session->state == SESSION_LEAVING &&
			     session->handshake.state != HANDSHAKE_OPEN);
		lost += session->state == SESSION_LOST;
		/* A session without a connection keeps its place. */
		counted += session->peer.kind != ADDRESS_UNIX;
	}
	ck_assert_uint_eq(sessions->opened - sessions->closed, sessions->items.count);
	ck_assert_uint_eq(sessions->greeting, greeting);
	ck_assert_uint_eq(sessions->lost, lost);
	ck_assert_uint_eq(address_limits_count(&server->service.address_limits, &here), counted);
}

/* A session that presented a token has the token's role; sessions of clients that left are unknown. */
static void judge_tokens(const struct life *life)
{
	uint32_t seen[LIFE_TOKENS] = { 0 };
	for (uint32_t i = 0; i < life->sim->client_count; i++) {
		const struct sim_client *client = life->sim->clients[i];
		for (uint32_t k = life->token_first; k < life->token_count && client->open; k++) {
			if (client->options.token != life->tokens[k])
				continue;
			ck_assert_uint_eq(++seen[k], 1);
			ck_assert_int_eq(client->handshake.role, life->token_roles[k]);
		}
	}
}

void life_judge(struct life *life, bool settled)
{
	for (uint32_t i = 0; i < life->fate_count; i++)
		judge_fate(life, &life->fates[i], settled);
	for (uint32_t i = 0; i < life->ask_count; i++)
		judge_ask(life, &life->asks[i], settled);
	for (uint32_t i = 0; i < life->sim->client_count; i++) {
		judge_stepped(life, life->sim->clients[i]);
		judge_stepped_worlds(life, life->sim->clients[i]);
	}
	for (uint32_t i = 0; settled && i < LIFE_CLIENTS_MAX; i++) {
		struct sim_client *client = life->seats[i].client;
		for (uint32_t k = 0; client != NULL && k < client->subscription_count; k++)
			judge_mirror(life, client, &client->subscriptions[k]);
	}
	const struct world *lab = server_sim_world(life->sim, life->worlds[LIFE_LAB]);
	if (!life->traits.goes_back && !settled)
		ck_assert_uint_le(world_info(lab).tick - life->lab_from, life->lab_steps);
	judge_counters(life);
	judge_tokens(life);
	ck_assert(server_sim_sound(life->sim));
}
