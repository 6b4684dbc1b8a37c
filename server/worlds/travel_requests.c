/* travel_requests.c: requests about the past that are answered once: RESTORE and FORK at a tick, queries, and
 * the daemon's own --sync-test. Session and world are found again by number when the answer comes. */
#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/io/log.h"
#include "server/session/service.h"
#include "server/worlds/recordings.h"
#include "server/worlds/travel.h"
#include "server/worlds/world_reports.h"

/* At most so many requests of one session may be under way. */
enum { REQUESTS_MAX = 4 };

struct request {
	struct service *service; /* borrowed */
	uint32_t session, world; /* numbers */
	uint64_t ref;
	enum reply_kind kind;
	uint8_t about;
	char name[WIRE_NAME_MAX + 1];
};

static struct reply_report reply_of(const struct request *request)
{
	struct reply_report reply = { .kind = request->kind,
				      .session = request->session,
				      .ref = request->ref,
				      .about = request->about };
	snprintf(reply.name, sizeof reply.name, "%s", request->name);
	shape_library_init(&reply.shapes);
	return reply;
}

/* Hands the image to the host, which answers. */
static void restore_image(const struct request *request, struct served_world *world,
			  struct past_answer *answer)
{
	enum status status =
		host_restore_state(world->host, request->session, request->ref, &answer->image);
	if (status == STATUS_OK)
		return;
	struct reply_report reply = reply_of(request);
	reply.status = reason_set(&reply.why, status == STATUS_FULL ? STATUS_BUSY : status, -1,
				  "world", "%s", status_text(status));
	world_reports_reply(world, &reply);
}

static void take_reply(void *context, struct past_answer *answer)
{
	const struct request *request = context;
	struct served_world *world = worlds_find(request->service->worlds, request->world);
	struct session *session = registry_find(&request->service->sessions, request->session);
	if (session != NULL)
		session->past_requests--;
	if (world == NULL || world->stopping)
		return;
	if (answer->status == STATUS_OK && request->kind == REPLY_RESTORED) {
		restore_image(request, world, answer);
		return;
	}
	struct reply_report reply = reply_of(request);
	reply.status = answer->status;
	reply.why = answer->why;
	reply.tick = answer->place.tick;
	reply.epoch = answer->place.epoch;
	reply.raw = answer->raw;
	reply.image = answer->image;
	reply.state_hash = (struct wire_hash){ true, answer->state_hash };
	reply.shapes = answer->shapes;
	shape_library_init(&answer->shapes);
	world_reports_reply(world, &reply);
	shape_library_release(&reply.shapes);
}

static enum status ask_past(struct session *session, struct served_world *world, struct past *past,
			    const struct request *from, struct past_ask *ask, struct reason *why)
{
	struct past_job *job;
	if (past == NULL)
		return reason_set(why, STATUS_UNSUPPORTED, -1, "world",
				  "the world has no file, so it has no past: start cairnd with "
				  "--data DIR");
	if (session->past_requests >= REQUESTS_MAX)
		return reason_set(why, STATUS_BUSY, -1, "world",
				  "%u requests of the session about the past are under way, the "
				  "limit: wait for an answer",
				  (unsigned)session->past_requests);
	struct request *request = heap_alloc_zero(sizeof *request);
	if (request == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "world", "%s",
				  status_text(STATUS_NO_MEMORY));
	*request = *from;
	request->service = session->service;
	request->session = session->number;
	request->world = world->number;
	ask->owns_context = true;
	ask->soon = past == world->past && travel_is_present(world, ask->place);
	enum status status = past_ask(past, ask, take_reply, request, &job);
	if (status != STATUS_OK) {
		heap_free(request);
		return reason_set(why, status, -1, "world", "%s", status_text(status));
	}
	session->past_requests++;
	return STATUS_OK;
}

enum status travel_restore(struct session *session, struct served_world *world, uint64_t ref,
			   struct recorded_place place, struct reason *why)
{
	struct request request = { .ref = ref, .kind = REPLY_RESTORED, .about = MESSAGE_RESTORE };
	struct past_ask image = { .kind = PAST_IMAGE, .place = place };
	return ask_past(session, world, world->past, &request, &image, why);
}

enum status travel_fork(struct session *session, struct served_world *world,
			const struct msg_fork *ask, const char *name, struct reason *why)
{
	struct request request = { .ref = ask->ref, .kind = REPLY_FORKED, .about = MESSAGE_FORK };
	struct past_ask image = { .kind = PAST_IMAGE,
				  .place = { (uint32_t)ask->epoch, ask->tick.value } };
	struct past *recording;
	snprintf(request.name, sizeof request.name, "%s", name);
	if (ask->recording.bytes == 0)
		return ask_past(session, world, world->past, &request, &image, why);
	enum status status = recordings_past(world, ask->recording, &recording, why);
	if (status != STATUS_OK)
		return status;
	image.nearby = true;
	if (!ask->tick.set)
		image.place.tick = WIRE_INTEGER_MAX; /* its end */
	status = ask_past(session, world, recording, &request, &image, why);
	past_let_go(recording);
	return status;
}

static bool is_tick(double tick)
{
	return tick == (double)(uint64_t)tick;
}

enum status travel_query(struct session *session, struct served_world *world, uint64_t id,
			 const struct wire_query *query, struct reason *why)
{
	struct request request = { .ref = id, .kind = REPLY_ANSWER, .about = MESSAGE_QUERY };
	struct past_ask past = { .limit = query->limit, .latest = query->latest != 0 };
	past.archive.running = world->recording.running;
	past.condition = (struct keyframe_condition){ .body = query->body,
						      .quantity = query->quantity,
						      .above = query->above != 0,
						      .value = query->value };
	past.kind = query->kind == WIRE_QUERY_RECORDINGS ? PAST_ARCHIVE
		    : query->kind == WIRE_QUERY_WHEN	 ? PAST_WHEN
		    : query->kind == WIRE_QUERY_PAST	 ? PAST_OUTLINE
							 : PAST_DIFFERENCE;
	if (past.kind == PAST_DIFFERENCE) {
		if (!is_tick(query->tick) || !is_tick(query->other_tick))
			return reason_set(why, STATUS_RANGE, -1, "tick",
					  "tick and other_tick must be integers");
		past.place = (struct recorded_place){ query->epoch, (uint64_t)query->tick };
		past.other =
			(struct recorded_place){ query->other_epoch, (uint64_t)query->other_tick };
	}
	return ask_past(session, world, world->past, &request, &past, why);
}

/* ---- --sync-test --------------------------------------------------------------------------------- */

static void take_test(void *context, struct past_answer *answer)
{
	const struct request *request = context;
	struct worlds *worlds = request->service->worlds;
	struct served_world *world = worlds_find(worlds, request->world);
	worlds->sync_test.busy = false;
	uint64_t used = MAX_OF(answer->used_ns, NS_PER_MS);
	worlds->sync_test.credit_ns -= MIN_OF(worlds->sync_test.credit_ns, used);
	if (world == NULL || !answer->checked)
		return;
	world->sync_tests++;
	if (answer->status == STATUS_OK)
		return;
	world->sync_failures++;
	log_error("sync_test_failed", "world=%s epoch=%u tick=%llu text=%s", world->name,
		  (unsigned)answer->place.epoch, (unsigned long long)answer->place.tick,
		  LOG_TEXT(answer->why.text));
}

/* The running world with the next higher number that has a past, wrapping; NULL: none. */
static struct served_world *world_to_test(struct worlds *worlds)
{
	struct served_world *first = NULL, *next = NULL;
	for (uint32_t i = 0; i < worlds->items.count; i++) {
		struct served_world *world = worlds->items.items[i];
		if (world->stopping || world->past == NULL)
			continue;
		if (first == NULL)
			first = world;
		if (next == NULL && world->number > worlds->sync_test.next)
			next = world;
	}
	return next != NULL ? next : first;
}

void travel_sync_test(struct service *service, uint64_t now)
{
	struct worlds *worlds = service->worlds;
	uint64_t permille = service->options->sync_test;
	uint64_t passed = worlds->sync_test.at > 0 ? now - worlds->sync_test.at : 0;
	worlds->sync_test.at = now;
	/* A test may be dearer than what there is; then the next ones wait for longer. */
	worlds->sync_test.credit_ns =
		MIN_OF(worlds->sync_test.credit_ns + passed / 1000 * permille, NS_PER_S);
	if (permille == 0 || worlds->sync_test.busy || worlds->sync_test.credit_ns < NS_PER_MS)
		return;
	struct served_world *world = world_to_test(worlds);
	struct request *request = world != NULL ? heap_alloc_zero(sizeof *request) : NULL;
	struct past_ask check = { .kind = PAST_CHECK, .owns_context = true };
	struct past_job *job;
	if (request == NULL)
		return;
	request->service = service;
	request->world = worlds->sync_test.next = world->number;
	if (past_ask(world->past, &check, take_test, request, &job) == STATUS_OK)
		worlds->sync_test.busy = true;
	else
		heap_free(request);
}
