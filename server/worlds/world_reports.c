#include "server/worlds/world_reports.h"

#include <string.h>

#include "protocol/capabilities.h"
#include "server/base/heap.h"
#include "server/log.h"
#include "server/server.h"
#include "server/session/session.h"

/* The session a report speaks to, with its place in the world; NULL when it is gone or has left. */
static struct session *addressee(struct served_world *world, uint32_t number,
				 struct membership **membership)
{
	struct session *session = registry_find(&world->server->sessions, number);
	if (session == NULL || session->state != SESSION_OPEN)
		return NULL;
	*membership = session_membership(session, world->number);
	return *membership != NULL ? session : NULL;
}

/* ---- results ----------------------------------------------------------------------------------- */

static struct wire_result result_of(const struct tick_report *report,
				    const struct report_result *from)
{
	return (struct wire_result){
		.batch = from->batch,
		.tick = from->tick,
		.code = from->status,
		.index = from->index,
		.values = report->values + from->first_value,
		.value_count = from->value_count,
		.field = wire_text(from->field),
		.text = wire_text(from->text),
	};
}

/* A run of results of one session, as few RESULT messages as fit. */
static void send_results(struct served_world *world, const struct tick_report *report,
			 uint32_t first, uint32_t last)
{
	struct membership *membership;
	struct session *session = addressee(world, report->results[first].session, &membership);
	if (session == NULL)
		return;
	struct bytes packed = { 0 };
	struct message message;
	message_init(&message, MESSAGE_RESULT);
	message.result.world = world->number;
	for (uint32_t i = first; i < last; i++) {
		struct wire_result result = result_of(report, &report->results[i]);
		struct wire_slice item = ledger_answer(&membership->ledger, &result);
		bool added = bytes_append(&packed, item.at, item.bytes) == STATUS_OK;
		message.result.list.count += added && item.bytes > 0;
		bool full = packed.count > session->handshake.limits.frame_down / 2;
		if (message.result.list.count > 0 && (full || i + 1 == last)) {
			message.result.list.at = packed.data;
			message.result.list.bytes = (uint32_t)packed.count;
			session_send(session, &message);
			packed.count = 0;
			message.result.list.count = 0;
		}
	}
	bytes_release(&packed);
}

static void deliver_results(struct served_world *world, const struct tick_report *report)
{
	for (uint32_t first = 0; first < report->result_count;) {
		uint32_t last = first + 1;
		if (report->results[first].step) {
			first = last; /* goes out in its STEPPED */
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

static void tell_mode(struct served_world *world)
{
	struct message info;
	uint8_t counts[512];
	worlds_fill_info(world, &info, 0, counts, sizeof counts);
	for (uint32_t i = 0; i < world->members.count; i++)
		session_send(world->members.items[i], &info);
}

static void take_tick(struct served_world *world, const struct tick_report *report)
{
	bool news = world->mode != report->mode || world->pace != report->pace ||
		    world->epoch != report->epoch;
	world->tick = report->tick;
	world->epoch = report->epoch;
	world->mode = report->mode;
	world->pace = report->pace;
	world->info = report->info;
	world->stats = report->stats;
	world->lateness_max = MAX_OF(world->lateness_max, report->lateness_ns);
	world->cost_max = MAX_OF(world->cost_max, report->cost_ns);
	if (world->stopping)
		return;
	deliver_results(world, report);
	enum status status = fanout_report(world->fanout, report, io_now(world->server->io));
	if (status != STATUS_OK && status != STATUS_AGAIN) {
		log_error("mirror_lost", "world=%u status=%s", (unsigned)world->number,
			  status_name(status));
		status = host_report_whole(world->host);
		if (status != STATUS_OK)
			log_error("mirror_not_asked", "world=%u status=%s",
				  (unsigned)world->number, status_name(status));
	}
	if (news) {
		log_info("world_mode", "world=%u name=%s mode=%u pace_permille=%u epoch=%u tick=%llu",
			 (unsigned)world->number, world->name, (unsigned)world->mode,
			 (unsigned)world->pace, (unsigned)world->epoch,
			 (unsigned long long)world->tick);
		tell_mode(world);
	}
}

/* ---- replies ----------------------------------------------------------------------------------- */

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
	stepped->state_hash = reply->state_hash;
	stepped->tick_hash = reply->tick_hash;
	stepped->observation = (struct wire_slice){ reply->raw.data, (uint32_t)reply->raw.count };
	stepped->results = (struct wire_list){ reply->results.data,
					       (uint32_t)reply->results.count,
					       reply->result_count };
	struct frame *frame;
	enum status status = outbox_pack(&session->outbox, &message, &frame);
	if (status != STATUS_OK) {
		struct message about;
		message_init(&about, MESSAGE_STEP);
		about.step.request = reply->ref;
		session_refuse_status(session, &about, status);
		return;
	}
	if (membership->step == reply->ref) {
		frame_release(membership->stepped);
		membership->stepped = frame_retain(frame);
	}
	outbox_put(&session->outbox, frame);
}

/* The copy becomes a world of its own: paused, so that who asked for it can look first. */
static void reply_forked(struct session *session, struct served_world *world,
			 struct reply_report *reply, const struct message *about)
{
	struct server *server = world->server;
	struct reason why;
	struct world *copy;
	struct served_world *served;
	enum status status = world_load(reply->image.data, reply->image.count,
					shape_book_source(&reply->shapes), &copy, &why);
	if (status == STATUS_OK) {
		status = worlds_add(server, reply->name, copy, &reply->shapes, false, NULL, &served,
				    &why);
		if (status != STATUS_OK)
			world_destroy(copy);
	}
	if (status == STATUS_OK) {
		status = worlds_start(server, served);
		if (status != STATUS_OK)
			reason_set(&why, status, -1, "name", "%s", status_text(status));
	}
	if (status != STATUS_OK) {
		session_refuse(session, about, &why);
		return;
	}
	struct message message;
	message_init(&message, MESSAGE_FORKED);
	message.forked.ref = reply->ref;
	message.forked.epoch = served->epoch;
	message.forked.tick = served->tick;
	message.forked.hash = reply->state_hash;
	message.forked.world = served->number;
	session_send(session, &message);
}

static void reply_saved(struct session *session, const struct reply_report *reply)
{
	struct message message;
	message_init(&message, MESSAGE_SAVED);
	message.saved.ref = reply->ref;
	message.saved.epoch = reply->epoch;
	message.saved.tick = reply->tick;
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
	message.restored.hash = reply->state_hash;
	session_send(session, &message);
}

static void reply_answer(struct session *session, const struct reply_report *reply)
{
	struct message message;
	message_init(&message, MESSAGE_ANSWER);
	message.answer.id = reply->ref;
	message.answer.tick = reply->tick;
	message.answer.epoch = reply->epoch;
	message.answer.answer = (struct wire_slice){ reply->raw.data, (uint32_t)reply->raw.count };
	session_send(session, &message);
}

static void reply_control(struct session *session, const struct served_world *world, uint64_t ref)
{
	struct message message;
	uint8_t counts[512];
	worlds_fill_info(world, &message, ref, counts, sizeof counts);
	session_send(session, &message);
}

/* Packs the numbers of a SHAPE_INFO one after the other. */
static struct wire_list reals(struct wire_packer *out, const double *values, uint32_t count)
{
	struct wire_list list = { out->data + out->bytes, 0, count };
	for (uint32_t i = 0; i < count; i++)
		wire_pack_real(out, values[i]);
	list.bytes = (uint32_t)(out->data + out->bytes - list.at);
	return list;
}

/* Vertices, edges, faces, memory; for a mesh also whether it is closed. */
static uint32_t shape_facts(const struct shape *shape, double facts[5])
{
	uint32_t count = 4;
	facts[0] = facts[1] = facts[2] = 0;
	facts[3] = (double)shape->memory_bytes;
	if (shape->hull != NULL) {
		facts[0] = shape->hull->vertex_count;
		facts[1] = shape->hull->edge_count / 2;
		facts[2] = shape->hull->face_count;
	} else if (shape->kind == SHAPE_MESH) {
		facts[0] = shape->mesh->vertex_count;
		facts[2] = shape->mesh->triangle_count;
		facts[count++] = shape->mesh->closed;
	} else if (shape->kind == SHAPE_POLYGON) {
		facts[0] = facts[1] = shape->polygon->count;
	}
	return count;
}

static void reply_shape(struct session *session, const struct served_world *world,
			const struct reply_report *reply)
{
	const struct shape *shape =
		shape_book_find(&world->server->library, reply->shape.bytes);
	if (shape == NULL)
		return; /* the library keeps what it has cooked */
	uint8_t packed[512];
	struct wire_packer out = wire_packer_over(packed, sizeof packed);
	const struct mass_properties *mass = &shape->mass;
	const double centre[3] = { mass->centre.x, mass->centre.y, mass->centre.z };
	const double inertia[6] = { mass->inertia.x.x, mass->inertia.y.y, mass->inertia.z.z,
				    mass->inertia.y.x, mass->inertia.z.x, mass->inertia.z.y };
	const double box[6] = { shape->aabb_min.x, shape->aabb_min.y, shape->aabb_min.z,
				shape->aabb_max.x, shape->aabb_max.y, shape->aabb_max.z };
	double facts[5];
	uint32_t fact_count = shape_facts(shape, facts);
	struct message message;
	message_init(&message, MESSAGE_SHAPE_INFO);
	struct msg_shape_info *info = &message.shape_info;
	info->ref = reply->ref;
	info->shape = reply->shape;
	info->form = shape->kind;
	info->volume = mass->volume;
	info->centre = reals(&out, centre, 3);
	info->inertia = reals(&out, inertia, 6);
	info->box = reals(&out, box, 6);
	info->facts = reals(&out, facts, fact_count);
	session_send(session, &message);
}

/* An empty message of the kind that was asked, good enough for an ERROR to name it. */
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
	case MESSAGE_QUERY:
		about->query.id = reply->ref;
		break;
	case MESSAGE_SHAPE_UPLOAD:
		about->shape_upload.ref = reply->ref;
		break;
	default:
		break;
	}
}

/* The batch made no sense: its result, sent and kept like any other. */
static void reply_refused(struct session *session, struct membership *membership,
			  const struct reply_report *reply)
{
	struct wire_result result = {
		.batch = reply->ref,
		.tick = reply->tick,
		.code = reply->status,
		.index = reply->why.index,
		.field = wire_text(reply->why.field),
		.text = wire_text(reply->why.text),
	};
	struct wire_slice item = ledger_answer(&membership->ledger, &result);
	struct message message;
	message_init(&message, MESSAGE_RESULT);
	message.result.world = membership->world->number;
	message.result.list = (struct wire_list){ item.at, item.bytes, item.bytes > 0 };
	session_send(session, &message);
}

static void deliver(struct served_world *world, struct reply_report *reply)
{
	struct membership *membership;
	struct session *session = addressee(world, reply->session, &membership);
	if (session == NULL)
		return;
	struct message about;
	message_about(&about, reply);
	if (reply->kind == REPLY_REFUSED) {
		reply_refused(session, membership, reply);
		return;
	}
	if (reply->status != STATUS_OK) {
		session_refuse(session, &about, &reply->why);
		return;
	}
	switch (reply->kind) {
	case REPLY_CONTROL:
		reply_control(session, world, reply->ref);
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
		reply_forked(session, world, reply, &about);
		break;
	case REPLY_ANSWER:
		reply_answer(session, reply);
		break;
	case REPLY_SHAPE:
		reply_shape(session, world, reply);
		break;
	case REPLY_REFUSED:
		break;
	}
}

/* SAVED promises that the snapshot is on disk where there is a file. Snapshots are written and answered in
 * one order, so the n-th answer may go when the n-th has been written. */
static bool kept_for_disk(struct served_world *world, struct report *report)
{
	const struct reply_report *reply = &report->reply;
	if (!world->has_journal || reply->kind != REPLY_SAVED || reply->status != STATUS_OK)
		return false;
	bool written = ++world->saves_answered <= world->saves_written;
	if (written || ARRAY_RESERVE(&world->waiting_for_disk,
				     world->waiting_for_disk.count + 1u) != STATUS_OK)
		return false;
	world->waiting_for_disk.items[world->waiting_for_disk.count++] = report;
	return true;
}

static void on_saved(void *context)
{
	struct served_world *world = context;
	world->saves_written++;
	if (world->waiting_for_disk.count == 0)
		return;
	struct report *report = world->waiting_for_disk.items[0];
	world->waiting_for_disk.count--;
	memmove(world->waiting_for_disk.items, world->waiting_for_disk.items + 1,
		world->waiting_for_disk.count * sizeof *world->waiting_for_disk.items);
	deliver(world, &report->reply);
	report_destroy(report);
}

static void on_durable(void *context, uint32_t epoch, uint64_t tick)
{
	struct served_world *world = context;
	world->durable_epoch = epoch;
	world->durable_tick = tick;
	struct message message;
	message_init(&message, MESSAGE_DURABLE);
	message.durable.world = world->number;
	message.durable.epoch = epoch;
	message.durable.tick = tick;
	for (uint32_t i = 0; i < world->members.count; i++) {
		struct session *session = world->members.items[i];
		if (session->handshake.caps & WIRE_CAP_DURABLE)
			session_send(session, &message);
	}
}

static void on_failed(void *context, enum status status, const char *text)
{
	struct served_world *world = context;
	log_error("journal_failed", "world=%u name=%s status=%s text=\"%s\"",
		  (unsigned)world->number, world->name, status_name(status), text);
}

struct journal_events world_journal_events(struct served_world *world)
{
	return (struct journal_events){
		.durable = on_durable,
		.saved = on_saved,
		.failed = on_failed,
		.context = world,
	};
}

void world_reports(struct host *host, void *context)
{
	struct served_world *world = context;
	for (struct report *report; (report = host_take_report(host)) != NULL;) {
		if (report->kind == REPORT_TICK)
			take_tick(world, &report->ticked);
		else if (world->stopping)
			; /* nobody is left to hear it */
		else if (kept_for_disk(world, report))
			continue;
		else
			deliver(world, &report->reply);
		report_destroy(report);
	}
}
