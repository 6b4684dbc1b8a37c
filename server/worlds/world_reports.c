/* See world_reports.h. A TICK report updates the world's figures, then results go to their sessions
 * and the state to the fanout. A reply report becomes one message to its session; SAVED waits until
 * the snapshot is on disk. */
#include "server/worlds/step_groups.h"
#include "server/worlds/recordings.h"
#include "server/worlds/world_reports.h"

#include <string.h>

#include "protocol/capabilities.h"
#include "protocol/unpack.h"
#include "server/base/heap.h"
#include "server/io/log.h"
#include "server/session/service.h"
#include "server/session/session.h"

/* The session that requested a reply, and its membership; NULL if it has ended or left the world. */
static struct session *find_requester(struct served_world *world, uint32_t number,
				      struct membership **membership)
{
	struct session *session = registry_find(&world->service->sessions, number);
	/* A lost session may be resumed and repeat its request, so the answer is stored for it. */
	if (session == NULL || (session->state != SESSION_OPEN && session->state != SESSION_LOST))
		return NULL;
	*membership = session_membership(session, world->number);
	return *membership != NULL ? session : NULL;
}

enum { RESULT_HEAD_BYTES = 32 };

/* ---- results ----------------------------------------------------------------------------------- */

static struct wire_result result_of(const struct tick_report *report,
				    const struct report_result *from)
{
	return (struct wire_result){
		.batch = from->batch,
		.tick = from->tick,
		.edit = from->edit,
		.code = from->status,
		.index = from->index,
		.values = from->value_count > 0 ? report->values + from->first_value : NULL,
		.value_count = from->value_count,
		.field = wire_text(from->field),
		.text = wire_text(from->text),
	};
}

static void send_result_list(struct session *session, const struct membership *membership,
			     const uint8_t *packed, size_t bytes, uint32_t count)
{
	struct message message;
	if (session->state != SESSION_OPEN || membership->world == NULL || count == 0)
		return;
	message_init(&message, MESSAGE_RESULT);
	message.result.world = membership->number;
	message.result.list = (struct wire_list){ packed, (uint32_t)bytes, count };
	session_send(session, &message);
}

/* Sends results `first` to `last` - 1, all of one session, in as few RESULT messages as fit.
 * Without memory to gather them, each gets a message of its own. */
static void send_results(struct served_world *world, const struct tick_report *report,
			 uint32_t first, uint32_t last)
{
	/* A session that left the world is sent nothing, but the results are stored for repeats. */
	struct session *session =
		registry_find(&world->service->sessions, report->results[first].session);
	struct membership *membership =
		session != NULL ? session_membership_or_past(session, world->number) : NULL;
	if (membership == NULL)
		return;
	uint8_t item[LEDGER_RESULT_BYTES];
	struct bytes packed = { 0 };
	uint32_t count = 0, room = session->handshake.limits.frame_down - RESULT_HEAD_BYTES;
	for (uint32_t i = first; i < last; i++) {
		struct wire_result result = result_of(report, &report->results[i]);
		struct wire_slice slice = ledger_answer(&membership->ledger, &result, item);
		if (packed.count + slice.bytes > room) {
			send_result_list(session, membership, packed.data, packed.count, count);
			packed.count = count = 0;
		}
		if (bytes_append(&packed, slice.at, slice.bytes) == STATUS_OK)
			count++;
		else
			send_result_list(session, membership, slice.at, slice.bytes, 1);
	}
	send_result_list(session, membership, packed.data, packed.count, count);
	bytes_release(&packed);
}

static void deliver_results(struct served_world *world, const struct tick_report *report)
{
	for (uint32_t first = 0; first < report->result_count;) {
		uint32_t last = first + 1;
		if (report->results[first].step) {
			first = last; /* part of its STEPPED */
			continue;
		}
		while (last < report->result_count && !report->results[last].step &&
		       report->results[last].session == report->results[first].session)
			last++;
		send_results(world, report, first, last);
		first = last;
	}
}

/* ---- ticks ------------------------------------------------------------------------------------- */

static void send_world_info(struct served_world *world)
{
	struct message info;
	uint8_t counts[WORLD_INFO_BYTES];
	worlds_fill_info(world, &info, 0, counts, sizeof counts);
	for (uint32_t i = 0; i < world->members.count; i++)
		session_send(world->members.items[i], &info);
}

void world_reports_request_whole(struct served_world *world)
{
	if (!world->whole_requested)
		world->whole_requested = host_report_whole(world->host) == STATUS_OK;
}

void worlds_watch(struct served_world *world)
{
	host_watch_ticks(world->host, fanout_is_watched(world->fanout));
	bool wanted = fanout_needs_contacts(world->fanout);
	if (wanted != world->contacts_watched &&
	    host_watch_contacts(world->host, wanted) == STATUS_OK)
		world->contacts_watched = wanted;
	wanted = fanout_needs_joints(world->fanout);
	if (wanted != world->joints_watched && host_watch_joints(world->host, wanted) == STATUS_OK)
		world->joints_watched = wanted;
	wanted = fanout_needs_particles(world->fanout);
	if (wanted != world->particles_watched &&
	    host_watch_particles(world->host, wanted) == STATUS_OK)
		world->particles_watched = wanted;
}

/* Starts the timer, unless it runs: one timer serves all worlds that may come to rest. */
static void arm_rest_timer(struct service *service, uint64_t now)
{
	if (service->rest_armed)
		return;
	service->rest_armed = true;
	io_timer_start(service->rest, now + FANOUT_REST_NS);
}

void worlds_show_resting(void *context)
{
	struct service *service = context;
	uint64_t now = io_now(service->io);
	bool again = false;
	service->rest_armed = false;
	for (uint32_t i = 0; i < service->worlds->items.count; i++) {
		struct served_world *world = service->worlds->items.items[i];
		if (world->stopping || !fanout_may_rest(world->fanout))
			continue;
		fanout_rest(world->fanout, now);
		if (fanout_is_serving(world->fanout))
			executor_wake(service->executor, EXECUTOR_LOOP, &service->serving);
		again = again || fanout_may_rest(world->fanout);
	}
	if (again)
		arm_rest_timer(service, now);
}

static void update_fanout(struct served_world *world, const struct tick_report *report)
{
	if (report->whole)
		world->whole_requested = false;
	worlds_watch(world);
	struct service *service = world->service;
	if (!fanout_is_watched(world->fanout)) {
		fanout_skip(world->fanout);
		service_turn_spend(service, TURN_REPORTS, report->body_count + report->event_count);
		return;
	}
	uint64_t now = io_now(service->io), before = fanout_work(world->fanout);
	enum status status = fanout_report(world->fanout, report, now);
	service_turn_spend(service, TURN_REPORTS,
			   report->body_count + report->event_count + fanout_work(world->fanout) -
				   before);
	if (status == STATUS_OK && report->step && world->round_at == 0) {
		world->round_at = now;
		world->service->rounds.open++;
	}
	if (status == STATUS_OK && fanout_is_serving(world->fanout))
		executor_wake(service->executor, EXECUTOR_LOOP, &service->serving);
	if (fanout_may_rest(world->fanout))
		arm_rest_timer(service, now);
	if (status == STATUS_OK)
		return;
	if (status != STATUS_AGAIN)
		log_error("mirror_lost", "world=%u status=%s", (unsigned)world->number,
			  status_name(status));
	world_reports_request_whole(world);
}

/* Ticks of a new epoch may be smaller, so batches may be dated earlier than before. */
static void start_epoch(struct served_world *world)
{
	for (uint32_t i = 0; i < world->members.count; i++) {
		struct membership *membership =
			session_membership(world->members.items[i], world->number);
		ledger_start_epoch(&membership->ledger);
	}
}

static void report_mode(struct served_world *world, const struct tick_report *report)
{
	log_info("world_mode", "world=%u name=%s mode=%u pace_permille=%u epoch=%u tick=%llu",
		 (unsigned)world->number, world->name, (unsigned)world->mode, (unsigned)world->pace,
		 (unsigned)world->epoch, (unsigned long long)world->tick);
	if (world->mode == WIRE_MODE_FAILED)
		log_warn("world_failed", "world=%u name=%s status=%s text=%s",
			 (unsigned)world->number, world->name, status_name(report->failure.status),
			 LOG_TEXT(report->failure.text));
	send_world_info(world);
}

static void receive_tick(struct served_world *world, const struct tick_report *report)
{
	bool news = world->mode != report->mode || world->pace != report->pace ||
		    world->epoch != report->epoch;
	if (world->epoch != report->epoch)
		start_epoch(world);
	world->tick = report->tick;
	world->edit = report->edit;
	world->epoch = report->epoch;
	world->mode = report->mode;
	world->pace = report->pace;
	world->info = report->info;
	world->stats = report->stats;
	world->lateness_max = MAX_OF(world->lateness_max, report->lateness_ns);
	world->cost_max = MAX_OF(world->cost_max, report->cost_ns);
	uint64_t slow = world->service->options->slow_tick_us * NS_PER_US;
	if (slow > 0 && report->cost_ns > slow)
		log_warn("slow_tick", "world=%s tick=%llu us=%llu awake=%u contacts=%u",
			 world->name, (unsigned long long)report->tick,
			 (unsigned long long)(report->cost_ns / NS_PER_US),
			 (unsigned)report->stats.awake, (unsigned)report->stats.contacts);
	if (world->stopping)
		return;
	update_fanout(world, report);
	if (news)
		report_mode(world, report);
}

/* ---- replies ----------------------------------------------------------------------------------- */

/* Sends STEPPED and stores it for a repeat. FULL: it exceeds the frame limit, and nothing was sent. */
static enum status send_stepped(struct session *session, struct membership *membership,
				const struct message *message)
{
	struct frame *frame;
	enum status status = outbox_pack(&session->outbox, message, &frame);
	if (status != STATUS_OK)
		return status;
	frame_release(membership->stepped);
	membership->step = message->stepped.request;
	membership->stepped = frame_retain(frame);
	outbox_put(&session->outbox, frame);
	return STATUS_OK;
}

static void reply_stepped(struct session *session, struct membership *membership,
			  const struct served_world *world, struct reply_report *reply)
{
	struct message message;
	message_init(&message, MESSAGE_STEPPED);
	struct msg_stepped *stepped = &message.stepped;
	stepped->world = world->number;
	stepped->request = reply->ref;
	stepped->tick = reply->tick;
	stepped->epoch = reply->epoch;
	stepped->edit = reply->edit;
	stepped->code = (uint64_t)reply->kept;
	stepped->state_hash = reply->state_hash;
	stepped->tick_hash = reply->tick_hash;
	stepped->joints_hash = reply->joints_hash;
	stepped->observation = (struct wire_slice){ reply->raw.data, (uint32_t)reply->raw.count };
	stepped->results = (struct wire_list){ reply->results.data, (uint32_t)reply->results.count,
					       reply->result_count };
	session_step_answered(membership, reply->ref);
	enum status status = send_stepped(session, membership, &message);
	if (status == STATUS_FULL) {
		/* The ticks are made, so STEPPED is sent without its observation, with code FULL. */
		stepped->observation = (struct wire_slice){ 0 };
		stepped->code = STATUS_FULL;
		status = send_stepped(session, membership, &message);
	}
	if (status != STATUS_OK)
		session->outbox.failed =
			true; /* ends the session, because its client would wait for ever */
}

/* An empty message of the requested type with its ref, from which an ERROR is made. */
static void message_about(struct message *about, const struct reply_report *reply)
{
	message_init(about, (enum message_type)reply->about);
	switch (reply->about) {
	case MESSAGE_CONTROL:
		about->control.ref = reply->ref;
		break;
	case MESSAGE_STEP:
		about->step.request = reply->ref;
		break;
	case MESSAGE_SAVE:
		about->save.ref = reply->ref;
		break;
	case MESSAGE_RESTORE:
		about->restore.ref = reply->ref;
		break;
	case MESSAGE_FORK:
		about->fork.ref = reply->ref;
		break;
	case MESSAGE_WORLD_CREATE:
		about->world_create.ref = reply->ref;
		break;
	case MESSAGE_SCENE_OPEN:
		about->scene_open.ref = reply->ref;
		break;
	case MESSAGE_QUERY:
		about->query.id = reply->ref;
		break;
	case MESSAGE_LOOKS:
		about->looks.ref = reply->ref;
		break;
	case MESSAGE_SHAPE_UPLOAD:
		about->shape_upload.ref = reply->ref;
		break;
	default:
		break;
	}
}

/* At the end of the answers that wait for the disk; `report` is taken. */
static void append_waiting(struct served_world *world, struct report *report)
{
	report->next = NULL;
	if (world->waiting_last != NULL)
		world->waiting_last->next = report;
	else
		world->waiting_first = report;
	world->waiting_last = report;
}

/* The answer to a request that made a world. */
static void answer_created(const struct served_world *world, struct session *session, uint8_t about,
			   uint64_t ref, struct wire_hash hash)
{
	struct message message;
	uint8_t counts[WORLD_INFO_BYTES];
	if (about == MESSAGE_FORK) {
		message_init(&message, MESSAGE_FORKED);
		message.forked.ref = ref;
		message.forked.epoch = world->epoch;
		message.forked.tick = world->tick;
		message.forked.edit = world->edit;
		message.forked.hash = hash;
		message.forked.world = world->number;
	} else {
		worlds_fill_info(world, &message, ref, counts, sizeof counts);
		message.world_info.of = 1;
		if (about == MESSAGE_SCENE_OPEN && world->notes != NULL)
			message.world_info.notes = wire_text(world->notes);
	}
	session_send(session, &message);
}

void world_reports_created(struct served_world *world, struct session *session,
			   const struct message *about, const struct wire_hash *hash)
{
	struct wire_hash none = { 0 };
	struct report *report = NULL;
	if (world->durability == DURABILITY_COMMAND)
		report = heap_alloc_zero(sizeof *report);
	if (report == NULL) {
		answer_created(world, session, about->type, message_ref(about),
			       hash != NULL ? *hash : none);
		return;
	}
	report->kind = REPORT_REPLY;
	report->stored_at = world->begins_at;
	report->reply.kind = REPLY_CREATED;
	report->reply.session = session->number;
	report->reply.about = (uint8_t)about->type;
	report->reply.ref = message_ref(about);
	report->reply.state_hash = hash != NULL ? *hash : none;
	append_waiting(world, report);
}

/* Makes the copied image a world of its own, paused, so that the requester can inspect it first. */
static void reply_forked(struct session *session, struct served_world *world,
			 struct reply_report *reply)
{
	struct service *service = world->service;
	struct reason why;
	struct world *copy;
	struct served_world *served;
	enum status status = world_load(reply->image.data, reply->image.count,
					shape_library_source(&reply->shapes), &copy, &why);
	struct world_start start = { .own_durability = world->own_durability,
				     .durability = world->durability };
	if (status == STATUS_OK)
		status = worlds_open(service, reply->name, copy, &reply->shapes, &start, &served,
				     &why);
	struct message about;
	message_about(&about, reply);
	if (status != STATUS_OK)
		session_refuse(session, &about, &why);
	else
		world_reports_created(served, session, &about, &reply->state_hash);
}

static void reply_saved(struct session *session, const struct reply_report *reply)
{
	struct message message;
	message_init(&message, MESSAGE_SAVED);
	message.saved.ref = reply->ref;
	message.saved.epoch = reply->epoch;
	message.saved.tick = reply->tick;
	message.saved.edit = reply->edit;
	message.saved.hash = reply->state_hash;
	session_send(session, &message);
}

static void reply_restored(struct session *session, const struct reply_report *reply)
{
	struct message message;
	message_init(&message, MESSAGE_RESTORED);
	message.restored.ref = reply->ref;
	message.restored.epoch = reply->epoch;
	message.restored.tick = reply->tick;
	message.restored.edit = reply->edit;
	message.restored.hash = reply->state_hash;
	message.restored.other_bits = reply->other_bits;
	session_send(session, &message);
}

/* An answer counts as one more query for every QUERY_WORK pieces that were examined for it. */
enum { QUERY_WORK = 4096 };

/* Charges the session for the work of an answer, which was not known when the query arrived. */
static void charge_answer(struct session *session, const struct reply_report *reply)
{
	double queries = (double)(reply->work / QUERY_WORK);
	quota_charge(&session->quota, QUOTA_QUERIES, queries, io_now(session->service->io));
}

/* REPLY with a page of LOOKS. */
static void reply_looks(struct session *session, const struct reply_report *reply)
{
	struct message message;
	message_init(&message, MESSAGE_REPLY);
	message.reply.ref = reply->ref;
	message.reply.about = MESSAGE_LOOKS;
	message.reply.value = (struct wire_slice){ reply->raw.data, (uint32_t)reply->raw.count };
	if (session_send(session, &message) != STATUS_FULL)
		return;
	struct message about;
	struct reason why;
	message_init(&about, MESSAGE_LOOKS);
	about.looks.ref = reply->ref;
	reason_set(&why, STATUS_FULL, -1, "from",
		   "the answer exceeds the client's frame limit; raise the limit in HELLO");
	session_refuse(session, &about, &why);
}

static void reply_answer(struct session *session, const struct reply_report *reply)
{
	if (reply->about == MESSAGE_LOOKS) {
		reply_looks(session, reply);
		return;
	}
	struct message message;
	message_init(&message, MESSAGE_ANSWER);
	message.answer.id = reply->ref;
	message.answer.tick = reply->tick;
	message.answer.edit = reply->edit;
	message.answer.epoch = reply->epoch;
	message.answer.answer = (struct wire_slice){ reply->raw.data, (uint32_t)reply->raw.count };
	if (session_send(session, &message) != STATUS_FULL)
		return;
	struct message about;
	struct reason why;
	message_init(&about, MESSAGE_QUERY);
	about.query.id = reply->ref;
	reason_set(&why, STATUS_FULL, -1, "limit",
		   "the answer exceeds the client's frame limit; lower the query's limit");
	session_refuse(session, &about, &why);
}

/* Takes the state from the reply, because the TICK report may be delayed if memory is short. */
static void reply_control(struct session *session, const struct served_world *world,
			  const struct reply_report *reply)
{
	struct message message;
	uint8_t counts[WORLD_INFO_BYTES];
	worlds_fill_info(world, &message, reply->ref, counts, sizeof counts);
	message.world_info.mode = reply->mode;
	message.world_info.epoch = reply->epoch;
	message.world_info.tick = reply->tick;
	message.world_info.edit = reply->edit;
	session_send(session, &message);
}

enum { WARNINGS_MAX = 16, WARNING_TEXT = 96 };
enum { WARNING_BYTES = WARNINGS_MAX * (WARNING_TEXT + 4) };

/* Packs `count` numbers behind what `out` holds; the list refers to out's buffer. */
static struct wire_list pack_reals(struct wire_packer *out, const double *values, uint32_t count)
{
	struct wire_list list = { out->data + out->bytes, 0, count };
	for (uint32_t i = 0; i < count; i++)
		wire_pack_real(out, values[i]);
	list.bytes = (uint32_t)(out->data + out->bytes - list.at);
	return list;
}

/* Packs the repairs and findings of cooking, one text each, at most WARNINGS_MAX. */
static struct wire_list pack_warnings(const struct shape *shape, uint8_t room[WARNING_BYTES])
{
	struct wire_packer out = wire_packer_over(room, WARNING_BYTES);
	struct wire_list list = { room, 0, 0 };
	char text[WARNING_TEXT];
	while (list.count < WARNINGS_MAX && shape_warning(shape, list.count, text, sizeof text)) {
		wire_pack_text(&out, wire_text(text));
		list.count++;
	}
	list.bytes = out.bytes;
	return list;
}

static void reply_shape(struct session *session, const struct served_world *world,
			const struct reply_report *reply)
{
	const struct shape *shape =
		shape_library_find(&world->service->library, reply->shape.bytes);
	if (shape == NULL)
		return; /* cannot happen: the world's own library retains the shape */
	uint8_t packed[512], words[WARNING_BYTES];
	struct wire_packer out = wire_packer_over(packed, sizeof packed);
	const struct mass_properties *mass = &shape->mass;
	const double centre[3] = { mass->centre.x, mass->centre.y, mass->centre.z };
	const double inertia[6] = { mass->inertia.x.x, mass->inertia.y.y, mass->inertia.z.z,
				    mass->inertia.y.x, mass->inertia.z.x, mass->inertia.z.y };
	const double box[6] = { shape->aabb_min.x, shape->aabb_min.y, shape->aabb_min.z,
				shape->aabb_max.x, shape->aabb_max.y, shape->aabb_max.z };
	double facts[SHAPE_FACTS_MAX];
	uint32_t fact_count = shape_facts(shape, facts);
	struct message message;
	message_init(&message, MESSAGE_SHAPE_INFO);
	struct msg_shape_info *info = &message.shape_info;
	info->ref = reply->ref;
	info->shape = reply->shape;
	info->form = shape->kind;
	info->volume = mass->volume;
	info->centre = pack_reals(&out, centre, 3);
	info->inertia = pack_reals(&out, inertia, 6);
	info->box = pack_reals(&out, box, 6);
	info->facts = pack_reals(&out, facts, fact_count);
	info->warnings = pack_warnings(shape, words);
	session_send(session, &message);
}

/* Sends ERROR. A refused STEP has done nothing, so its number is free again. */
static void send_refusal(struct session *session, struct membership *membership,
			 const struct reply_report *reply)
{
	struct message about;
	message_about(&about, reply);
	if (reply->kind == REPLY_STEPPED)
		session_step_answered(membership, reply->ref);
	session_refuse(session, &about, &reply->why);
}

/* The requester of a new world need not be its member. */
static void reply_created(const struct served_world *world, const struct reply_report *reply)
{
	struct session *session = registry_find(&world->service->sessions, reply->session);
	struct message about;
	if (session == NULL || session->state != SESSION_OPEN)
		return;
	message_about(&about, reply);
	if (reply->status != STATUS_OK)
		session_refuse(session, &about, &reply->why);
	else
		answer_created(world, session, reply->about, reply->ref, reply->state_hash);
}

static void deliver_reply(struct served_world *world, struct reply_report *reply)
{
	struct membership *membership;
	if (reply->kind == REPLY_CREATED) {
		reply_created(world, reply);
		return;
	}
	if (reply->kind == REPLY_RECORDED) {
		recordings_reply(world, reply);
		return;
	}
	struct session *session = find_requester(world, reply->session, &membership);
	if (session == NULL)
		return;
	if (reply->about == MESSAGE_STEP_WORLDS) {
		step_groups_take(session, membership, world->number, reply);
		return;
	}
	if (reply->kind == REPLY_ANSWER)
		charge_answer(session, reply);
	if (reply->status != STATUS_OK) {
		send_refusal(session, membership, reply);
		return;
	}
	switch (reply->kind) {
	case REPLY_CONTROL:
		reply_control(session, world, reply);
		break;
	case REPLY_STEPPED:
		reply_stepped(session, membership, world, reply);
		break;
	case REPLY_SAVED:
		reply_saved(session, reply);
		break;
	case REPLY_RESTORED:
		reply_restored(session, reply);
		break;
	case REPLY_FORKED:
		reply_forked(session, world, reply);
		break;
	case REPLY_ANSWER:
		reply_answer(session, reply);
		break;
	case REPLY_SHAPE:
		reply_shape(session, world, reply);
		break;
	case REPLY_RECORDED:
	case REPLY_CREATED:
		break;
	}
}

void world_reports_reply(struct served_world *world, struct reply_report *reply)
{
	deliver_reply(world, reply);
}

/* ---- answers that wait for the disk ------------------------------------------------------------ */

/* True if the report answers a request whose effect must be on disk before the answer: SAVED promises that,
 * and with durability `command` so does every answer but those of queries. Refusals changed nothing. */
static bool promises_disk(const struct served_world *world, const struct report *report)
{
	bool waits = world->durability == DURABILITY_COMMAND;
	if (!world->has_journal)
		return false;
	if (report->kind == REPORT_TICK)
		return waits && report->ticked.result_count > 0;
	if (report->reply.status != STATUS_OK || report->reply.kind == REPLY_ANSWER)
		return false;
	/* A moment has no name here: it is in memory only. */
	return waits || (report->reply.kind == REPLY_SAVED && report->reply.name[0] != '\0') ||
	       report->reply.kind == REPLY_RECORDED;
}

/* What the answers of a report acknowledge is not on disk: they get the code NOT_STORED. Whether it survives
 * a restart is unknown, because a failed write may have reached the disk. */
static void refuse_answers(struct report *report, const struct reason *cause)
{
	struct reason stored, *why = &stored;
	reason_set(why, STATUS_NOT_STORED, -1, "journal", "applied, and not stored (%s): %.110s",
		   status_name(cause->status), cause->text);
	if (report->kind == REPORT_REPLY) {
		report->reply.status = why->status;
		report->reply.why = *why;
		return;
	}
	for (uint32_t i = 0; i < report->ticked.result_count; i++) {
		struct report_result *result = &report->ticked.results[i];
		if (result->status != STATUS_OK && result->status != STATUS_WAITING)
			continue;
		result->status = why->status;
		result->index = -1;
		result->value_count = 0;
		memcpy(result->text, why->text, sizeof result->text);
		memcpy(result->field, why->field, sizeof result->field);
	}
}

static void deliver_answers(struct served_world *world, struct report *report)
{
	if (report->kind == REPORT_TICK)
		deliver_results(world, &report->ticked);
	else
		deliver_reply(world, &report->reply);
}

/* Holds answers back until the world's file has what they acknowledge. Records and reports have one order,
 * so the answers keep theirs. True: the report waits and is taken. */
static bool wait_for_disk(struct served_world *world, struct report *report)
{
	if (!promises_disk(world, report))
		return false;
	if (world->waiting_first == NULL && report->stored_at <= world->stored)
		return false;
	/* The journal may have failed before this report; nothing is written after a failure. */
	if (world->journal_failure.status != STATUS_OK) {
		refuse_answers(report, &world->journal_failure);
		return false;
	}
	append_waiting(world, report);
	return true;
}

/* The results of a TICK report as a report of their own, so that the rest can be returned to the host.
 * NULL: no memory. */
static struct report *split_results(struct report *report)
{
	struct report *results = heap_alloc_zero(sizeof *results);
	if (results == NULL)
		return NULL;
	struct tick_report *from = &report->ticked, *to = &results->ticked;
	results->kind = REPORT_TICK;
	results->stored_at = report->stored_at;
	to->results = from->results;
	to->result_count = from->result_count;
	to->result_room = from->result_room;
	to->values = from->values;
	to->value_count = from->value_count;
	to->value_room = from->value_room;
	from->results = NULL;
	from->values = NULL;
	from->result_count = from->result_room = from->value_count = from->value_room = 0;
	return results;
}

/* Delivers the results of a tick now, or when they are on disk. True: the report is taken. */
static bool receive_results(struct served_world *world, struct report *report)
{
	if (world->stopping)
		return false;
	if (!wait_for_disk(world, report)) {
		deliver_results(world, &report->ticked);
		return false;
	}
	return true;
}

/* Delivers the answers that have waited the longest; refused where `why` is given. */
static void release_waiting(struct served_world *world, const struct reason *why)
{
	struct report *report = world->waiting_first;
	world->waiting_first = report->next;
	if (world->waiting_first == NULL)
		world->waiting_last = NULL;
	if (why != NULL)
		refuse_answers(report, why);
	if (!world->stopping)
		deliver_answers(world, report);
	report_destroy(report);
}

static void on_stored(void *context, uint64_t records)
{
	struct served_world *world = context;
	world->stored = records;
	while (world->waiting_first != NULL && world->waiting_first->stored_at <= records)
		release_waiting(world, NULL);
}

static void on_durable(void *context, uint32_t epoch, uint64_t tick, uint32_t edit)
{
	struct served_world *world = context;
	world->durable_epoch = epoch;
	world->durable_tick = tick;
	world->durable_edit = edit;
	struct message message;
	message_init(&message, MESSAGE_DURABLE);
	message.durable.world = world->number;
	message.durable.epoch = epoch;
	message.durable.tick = tick;
	message.durable.edit = edit;
	for (uint32_t i = 0; i < world->members.count; i++) {
		struct session *session = world->members.items[i];
		if (session->handshake.caps & WIRE_CAP_DURABLE)
			session_send(session, &message);
	}
}

static void on_failed(void *context, enum status status, const char *text)
{
	struct served_world *world = context;
	struct reason *why = &world->journal_failure;
	log_error("journal_failed", "world=%u name=%s status=%s then=%s text=%s",
		  (unsigned)world->number, world->name, status_name(status),
		  worlds_may_lose_journal(world) ? "continues" : "stops", LOG_TEXT(text));
	reason_set(why, status, -1, "journal", "%.150s", text);
	while (world->waiting_first != NULL)
		release_waiting(world, why);
	if (worlds_may_lose_journal(world))
		world->durability = DURABILITY_OFF;
	if (world->stopping)
		return;
	host_journal_failed(world->host);
	send_world_info(world);
}

static void on_figures(void *context, const struct journal_figures *figures)
{
	((struct served_world *)context)->figures = *figures;
}

struct journal_events world_journal_events(struct served_world *world)
{
	return (struct journal_events){
		.durable = on_durable,
		.stored = on_stored,
		.failed = on_failed,
		.figures = on_figures,
		.context = world,
	};
}

/* The part of a turn's budget that a report uses: REPORT_WORK, plus 1 for each REPLY_WORK_BYTES of a
 * reply. */
enum { REPORT_WORK = 16, REPLY_WORK_BYTES = 128 };

/* Delivers the oldest report of a world. False: there is none. */
static bool deliver_oldest_report(struct served_world *world)
{
	struct report *report = host_take_report(world->host);
	if (report == NULL)
		return false;
	service_turn_spend(world->service, TURN_REPORTS, REPORT_WORK);
	if (report->kind == REPORT_TICK) {
		struct report *results =
			promises_disk(world, report) ? split_results(report) : NULL;
		bool taken = receive_results(world, results != NULL ? results : report);
		receive_tick(world, &report->ticked);
		if (results != NULL && !taken)
			report_destroy(results);
		if (results == NULL && taken)
			return true;
	} else if (!world->stopping) { /* a stopping world has no members */
		service_turn_spend(world->service, TURN_REPORTS,
				   report->reply.raw.count / REPLY_WORK_BYTES);
		if (wait_for_disk(world, report))
			return true;
		deliver_reply(world, &report->reply);
	}
	host_return_report(world->host, report);
	return true;
}

static void append_reporting(struct worlds *worlds, struct served_world *world)
{
	world->reporting = true;
	world->next_reporting = NULL;
	if (worlds->reporting_last != NULL)
		worlds->reporting_last->next_reporting = world;
	else
		worlds->reporting_first = world;
	worlds->reporting_last = world;
}

static struct served_world *pop_reporting(struct worlds *worlds)
{
	struct served_world *world = worlds->reporting_first;
	worlds->reporting_first = world->next_reporting;
	if (worlds->reporting_first == NULL)
		worlds->reporting_last = NULL;
	world->reporting = false;
	return world;
}

void world_reports_forget(struct served_world *world)
{
	struct worlds *worlds = world->service->worlds;
	struct served_world *before = NULL, *at = worlds->reporting_first;
	if (!world->reporting)
		return;
	for (; at != world; at = at->next_reporting)
		before = at;
	if (before != NULL)
		before->next_reporting = world->next_reporting;
	else
		worlds->reporting_first = world->next_reporting;
	if (worlds->reporting_last == world)
		worlds->reporting_last = before;
	world->reporting = false;
}

void worlds_deliver_reports(void *context)
{
	struct service *service = context;
	struct worlds *worlds = service->worlds;
	/* One report of each world in turn, so that a world with many or costly reports delays no
	 * other. */
	while (worlds->reporting_first != NULL && service_turn_has_budget(service, TURN_REPORTS)) {
		struct served_world *world = pop_reporting(worlds);
		if (deliver_oldest_report(world))
			append_reporting(worlds, world);
	}
	if (worlds->reporting_first != NULL)
		executor_wake(service->executor, EXECUTOR_LOOP, &service->reporting);
}

void world_reports(struct host *host, void *context)
{
	struct served_world *world = context;
	UNUSED(host);
	if (!world->reporting)
		append_reporting(world->service->worlds, world);
	worlds_deliver_reports(world->service);
}
