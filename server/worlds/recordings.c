/* See recordings.h. Session and world are found again by number when an answer comes. */
#include "server/worlds/recordings.h"

#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/io/log.h"
#include "server/session/service.h"

/* Parts of recordings that one session may have under way. */
enum { REQUESTS_MAX = 4 };

struct record_request {
	struct service *service; /* borrowed */
	uint32_t session, world; /* numbers */
	uint64_t ref;
	enum wire_record action;
};

/* ---- answering ----------------------------------------------------------------------------------- */

static void refuse_record(const struct record_request *request, const struct reason *why)
{
	struct session *session = registry_find(&request->service->sessions, request->session);
	struct message about;
	message_init(&about, MESSAGE_RECORD);
	about.record.ref = request->ref;
	if (session != NULL && session->state == SESSION_OPEN)
		session_refuse(session, &about, why);
}

static void answer_record(const struct record_request *request, const struct archive_entry *entry,
			  const struct bytes *data)
{
	struct session *session = registry_find(&request->service->sessions, request->session);
	struct message message;
	if (session == NULL || session->state != SESSION_OPEN)
		return;
	message_init(&message, MESSAGE_RECORDED);
	message.recorded.ref = request->ref;
	message.recorded.name = wire_text(entry->name);
	message.recorded.bytes = entry->bytes;
	message.recorded.first_epoch = entry->first.epoch;
	message.recorded.first = entry->first.tick;
	message.recorded.last_epoch = entry->last.epoch;
	message.recorded.last = entry->last.tick;
	if (data != NULL)
		message.recorded.data = (struct wire_slice){ data->data, (uint32_t)data->count };
	session_send(session, &message);
}

/* ---- asks of the past ---------------------------------------------------------------------------- */

static bool makes_file(enum wire_record action)
{
	return action == WIRE_RECORD_STOP || action == WIRE_RECORD_SAVE;
}

/* The world's file has the recording's end, so the part it kept is no longer needed. */
static void end_running(struct served_world *world)
{
	world->recording.running = false;
	/* Without memory it goes on, and a later stop makes another file. */
	if (host_record_end(world->host) != STATUS_OK)
		world->recording.running = true;
}

static void take_archived(void *context, struct past_answer *past)
{
	const struct record_request *request = context;
	struct service *service = request->service;
	struct served_world *world = worlds_find(service->worlds, request->world);
	struct session *session = registry_find(&service->sessions, request->session);
	if (session != NULL && !makes_file(request->action))
		session->past_requests--;
	if (world == NULL || world->stopping)
		return;
	if (makes_file(request->action)) {
		world->recording.busy = false;
		if (past->status == STATUS_OK)
			log_info("recording_saved", "world=%s name=%s bytes=%llu", world->name,
				 past->entry.name, (unsigned long long)past->entry.bytes);
		else
			log_warn("recording_not_saved", "world=%s status=%s text=%s", world->name,
				 status_name(past->status), LOG_TEXT(past->why.text));
	}
	if (past->status != STATUS_OK) {
		refuse_record(request, &past->why);
		return;
	}
	if (request->action == WIRE_RECORD_STOP)
		end_running(world);
	answer_record(request, &past->entry,
		      request->action == WIRE_RECORD_READ ? &past->raw : NULL);
}

static enum status ask_past(const struct record_request *from, struct served_world *world,
			    struct past_ask *ask, struct reason *why)
{
	struct past_job *job;
	struct record_request *request = heap_alloc(sizeof *request);
	enum status status = request == NULL ? STATUS_NO_MEMORY : STATUS_OK;
	ask->kind = PAST_ARCHIVE;
	ask->owns_context = true;
	if (request != NULL) {
		*request = *from;
		status = past_ask(world->past, ask, take_archived, request, &job);
	}
	if (status != STATUS_OK)
		heap_free(request);
	return reason_set(why, status, -1, "world", "%s", status_text(status));
}

static enum status copy_recording(const struct record_request *request, struct served_world *world,
				  struct recorded_place until, struct past_ask *ask,
				  struct reason *why)
{
	ask->archive.action = PAST_ARCHIVE_COPY;
	ask->archive.running = request->action == WIRE_RECORD_STOP;
	ask->archive.room = world->service->options->recordings_bytes;
	ask->place = until;
	ask->soon = true;
	enum status status = ask_past(request, world, ask, why);
	world->recording.busy = status == STATUS_OK;
	return status;
}

/* ---- starting and stopping ----------------------------------------------------------------------- */

static enum status start_recording(struct session *session, struct served_world *world,
				   const struct msg_record *ask, const char *name,
				   const char *title, struct reason *why)
{
	const struct world_info *info = &world->info;
	uint64_t most = session->service->options->recording_bytes;
	struct journal_keep keep = { .ticks = ask->seconds * info->rate_num / info->rate_den };
	if (world->recording.running)
		return reason_set(why, STATUS_EXISTS, -1, "name",
				  "the recording %s runs: stop it first", world->recording.name);
	if (ask->bytes > most)
		return reason_set(why, STATUS_RANGE, -1, "bytes",
				  "%llu is over the limit of the server, %llu (--recording-bytes)",
				  (unsigned long long)ask->bytes, (unsigned long long)most);
	enum status status = archive_refuse_taken(past_path(world->past), name, why);
	if (status != STATUS_OK)
		return status;
	keep.bytes = ask->bytes != 0 ? ask->bytes : most;
	snprintf(keep.name, sizeof keep.name, "%s", name);
	snprintf(keep.title, sizeof keep.title, "%s", title);
	status = host_record(world->host, session->number, ask->ref, &keep);
	if (status != STATUS_OK)
		return reason_set(why, status == STATUS_FULL ? STATUS_BUSY : status, -1, "world",
				  "%s", status_text(status));
	memcpy(world->recording.name, keep.name, sizeof keep.name);
	world->recording.busy = true;
	return STATUS_OK;
}

/* The host writes a checkpoint, so that the recording ends with a whole state. */
static enum status stop_recording(struct session *session, struct served_world *world,
				  const struct msg_record *ask, const char *name,
				  struct reason *why)
{
	if (!world->recording.running)
		return reason_set(why, STATUS_MISSING, -1, "name",
				  "no recording of the world runs");
	enum status status = archive_refuse_taken(
		past_path(world->past), name[0] != '\0' ? name : world->recording.name, why);
	if (status == STATUS_OK) {
		status = host_record(world->host, session->number, ask->ref, NULL);
		reason_set(why, status == STATUS_FULL ? STATUS_BUSY : status, -1, "world", "%s",
			   status_text(status));
	}
	if (status != STATUS_OK)
		return why->status;
	snprintf(world->recording.as, sizeof world->recording.as, "%s",
		 name[0] != '\0' ? name : world->recording.name);
	world->recording.busy = true;
	return STATUS_OK;
}

void recordings_reply(struct served_world *world, const struct reply_report *reply)
{
	bool starts = !world->recording.running;
	struct record_request request = { world->service, reply->session, world->number, reply->ref,
					  starts ? WIRE_RECORD_START : WIRE_RECORD_STOP };
	struct recorded_place at = { reply->epoch, reply->tick };
	struct reason why = reply->why;
	world->recording.busy = false;
	if (reply->status != STATUS_OK) {
		refuse_record(&request, &why);
		return;
	}
	if (starts) {
		struct archive_entry entry = { .first = at, .last = at, .running = true };
		memcpy(entry.name, world->recording.name, sizeof entry.name);
		world->recording.running = true;
		log_info("recording_started", "world=%s name=%s", world->name, entry.name);
		answer_record(&request, &entry, NULL);
		return;
	}
	struct past_ask copy = { 0 };
	memcpy(copy.archive.name, world->recording.as, sizeof copy.archive.name);
	if (copy_recording(&request, world, at, &copy, &why) != STATUS_OK)
		refuse_record(&request, &why);
}

/* ---- requests ------------------------------------------------------------------------------------ */

static enum status save_recording(const struct record_request *request, struct served_world *world,
				  const struct msg_record *ask, struct past_ask *past,
				  struct reason *why)
{
	struct recorded_place now = { world->epoch, world->tick };
	past->archive.has_from = ask->tick.set;
	past->other = (struct recorded_place){ (uint32_t)ask->epoch, ask->tick.value };
	enum status status = archive_refuse_taken(past_path(world->past), past->archive.name, why);
	return status == STATUS_OK ? copy_recording(request, world, now, past, why) : status;
}

/* The bytes of a part are copied, because the message is gone when they are written. */
static enum status pass_on(struct session *session, const struct record_request *request,
			   struct served_world *world, const struct msg_record *ask,
			   struct past_ask *past, struct reason *why)
{
	static const enum past_archive_action actions[] = {
		[WIRE_RECORD_REMOVE] = PAST_ARCHIVE_REMOVE,
		[WIRE_RECORD_READ] = PAST_ARCHIVE_READ,
		[WIRE_RECORD_WRITE] = PAST_ARCHIVE_PUT,
	};
	struct past_archive *archive = &past->archive;
	if (session->past_requests >= REQUESTS_MAX)
		return reason_set(why, STATUS_BUSY, -1, "world",
				  "%u requests of the session about the past are under way, the "
				  "limit: wait for an answer",
				  (unsigned)session->past_requests);
	archive->action = actions[request->action];
	archive->offset = ask->offset;
	archive->room = session->service->options->recordings_bytes;
	enum status status = STATUS_OK;
	if (request->action == WIRE_RECORD_WRITE)
		status = bytes_append(&archive->part, ask->data.at, ask->data.bytes);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "data", "%s", status_text(status));
	if (request->action == WIRE_RECORD_REMOVE)
		log_audit("recording_removed", "world=%s name=%s session=%u", world->name,
			  archive->name, (unsigned)session->number);
	status = ask_past(request, world, past, why);
	if (status != STATUS_OK)
		bytes_release(&archive->part);
	else
		session->past_requests++;
	return status;
}

enum status recordings_request(struct session *session, struct served_world *world,
			       const struct msg_record *ask, const char *name, const char *title,
			       struct reason *why)
{
	struct record_request request = { session->service, session->number, world->number,
					  ask->ref, (enum wire_record)ask->action };
	struct past_ask past = { 0 };
	if (world->past == NULL)
		return reason_set(why, STATUS_UNSUPPORTED, -1, "world",
				  "the world has no file, so it cannot be recorded: start cairnd "
				  "with --data DIR");
	if (world->recording.busy && request.action <= WIRE_RECORD_SAVE)
		return reason_set(why, STATUS_BUSY, -1, "world",
				  "a recording of the world is being started or written: wait for "
				  "its answer");
	snprintf(past.archive.name, sizeof past.archive.name, "%s", name);
	snprintf(past.archive.title, sizeof past.archive.title, "%s", title);
	switch (request.action) {
	case WIRE_RECORD_START:
		return start_recording(session, world, ask, name, title, why);
	case WIRE_RECORD_STOP:
		return stop_recording(session, world, ask, name, why);
	case WIRE_RECORD_SAVE:
		return save_recording(&request, world, ask, &past, why);
	case WIRE_RECORD_REMOVE:
	case WIRE_RECORD_READ:
	case WIRE_RECORD_WRITE:
		return pass_on(session, &request, world, ask, &past, why);
	}
	return reason_set(why, STATUS_RANGE, -1, "action", "%u is no action; 0 to %d are possible",
			  (unsigned)ask->action, WIRE_RECORD_WRITE);
}

enum status recordings_past(const struct served_world *world, struct wire_slice name,
			    struct past **out, struct reason *why)
{
	char text[WIRE_NAME_MAX + 1], path[NEW_FILE_PATH];
	snprintf(text, sizeof text, "%.*s", (int)name.bytes, (const char *)name.at);
	if (world->past == NULL)
		return reason_set(why, STATUS_UNSUPPORTED, -1, "recording",
				  "the world has no file, so it has no recordings: start cairnd "
				  "with --data DIR");
	if (strlen(text) != name.bytes || !worlds_name_valid(text) ||
	    !archive_exists(past_path(world->past), text) ||
	    !archive_path(past_path(world->past), text, path))
		return reason_set(why, STATUS_MISSING, -1, "recording",
				  "the world has no recording named %s", text);
	enum status status = past_create(world->service->past, path, NULL, out);
	return reason_set(why, status, -1, "recording", "%s", status_text(status));
}
