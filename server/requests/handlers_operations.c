/* handlers_operations.c: SESSIONS, KICK, CONFIG, MONITOR, DRAIN: an administrator's requests to a
 * running daemon. Each is logged before (dispatch.c, "audit"). */
#include <stdio.h>
#include <string.h>

#include "protocol/packer.h"
#include "protocol/unpack.h"
#include "server/base/heap.h"
#include "server/io/address.h"
#include "server/io/log.h"
#include "server/requests/requests.h"
#include "server/session/service.h"
#include "server/worlds/worlds.h"

enum {
	PAGE = 256,		 /* sessions in one answer */
	SESSION_BYTES = 512,	 /* of one session, packed, at most */
	CONFIG_BYTES = 32 << 10, /* of all options, packed, at most */
	CHANGES_MAX = 64,	 /* options of one CONFIG: the bound of messages.def */
};

void requests_reply(struct session *self, const struct message *about, struct wire_packer *out)
{
	struct message reply;
	message_init(&reply, MESSAGE_REPLY);
	reply.reply.ref = message_ref(about);
	reply.reply.about = about->type;
	reply.reply.value = wire_packer_slice(out);
	if (session_send(self, &reply) == STATUS_FULL)
		session_refuse_status(self, about, STATUS_FULL);
}

static void pack_uint_pair(struct wire_packer *out, const char *key, uint64_t value)
{
	wire_pack_string(out, key);
	wire_pack_uint(out, value);
}

static void pack_text_pair(struct wire_packer *out, const char *key, const char *value)
{
	wire_pack_string(out, key);
	wire_pack_string(out, value);
}

/* ---- SESSIONS, KICK ------------------------------------------------------------------------------ */

static const char *state_name(const struct session *session)
{
	static const char *const NAMES[] = { "greeting", "open", "leaving", "lost" };
	return NAMES[session->state];
}

static void pack_session(struct wire_packer *out, const struct session *session, uint64_t now)
{
	uint32_t worlds = 0;
	for (uint32_t i = 0; i < session->memberships.count; i++)
		worlds += session->memberships.items[i].world != NULL;
	wire_pack_map(out, 13);
	pack_uint_pair(out, "session", session->number);
	pack_text_pair(out, "state", state_name(session));
	pack_text_pair(out, "role", wire_role_name(session_role(session)));
	pack_text_pair(out, "client", session->client);
	pack_text_pair(out, "peer", session->peer.text);
	pack_text_pair(out, "token", session->grant != NULL ? session->grant->name : "");
	pack_uint_pair(out, "seconds", (now - session->opened_at) / NS_PER_S);
	pack_uint_pair(out, "silent_ms", (now - session->heard_at) / NS_PER_MS);
	pack_uint_pair(out, "frames_in", session->frames_in);
	pack_uint_pair(out, "errors", session->errors);
	pack_uint_pair(out, "queued_bytes", outbox_queued(&session->outbox));
	pack_uint_pair(out, "worlds", worlds);
	pack_uint_pair(out, "subscriptions", session->subscriptions.count);
}

/* Writes the PAGE sessions with the smallest numbers from `from` on, ascending; returns how many. */
static uint32_t find_page(const struct service *service, uint64_t from, struct session *page[PAGE])
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < service->sessions.items.count; i++) {
		struct session *session = service->sessions.items.items[i];
		if (session->number < from ||
		    (count == PAGE && session->number > page[PAGE - 1]->number))
			continue;
		uint32_t at = count < PAGE ? count++ : PAGE - 1;
		for (; at > 0 && page[at - 1]->number > session->number; at--)
			page[at] = page[at - 1];
		page[at] = session;
	}
	return count;
}

void handle_sessions(struct session *self, const struct message *message)
{
	struct session *page[PAGE];
	uint32_t count = find_page(self->service, message->sessions.from, page);
	uint32_t room = 16 + count * SESSION_BYTES;
	uint8_t *packed = heap_alloc(room);
	if (packed == NULL) {
		session_refuse_status(self, message, STATUS_NO_MEMORY);
		return;
	}
	struct wire_packer out = wire_packer_over(packed, room);
	wire_pack_array(&out, count);
	for (uint32_t i = 0; i < count; i++)
		pack_session(&out, page[i], io_now(self->service->io));
	requests_reply(self, message, &out);
	heap_free(packed);
}

void handle_kick(struct session *self, const struct message *message)
{
	struct session *target =
		registry_find(&self->service->sessions, (uint32_t)message->kick.session);
	struct reason why;
	char text[WIRE_STRING_UP + 1];
	if (target == NULL || target == self) {
		if (target == self)
			reason_set(&why, STATUS_MISSING, -1, "session",
				   "a session cannot kick itself; send GOODBYE");
		else
			reason_set(&why, STATUS_MISSING, -1, "session",
				   "there is no session %u; SESSIONS lists them",
				   (unsigned)message->kick.session);
		session_refuse(self, message, &why);
		return;
	}
	snprintf(text, sizeof text, "%.*s", (int)message->kick.text.bytes,
		 (const char *)message->kick.text.at);
	log_audit("kicked", "session=%u by=%u text=%s", (unsigned)target->number,
		  (unsigned)self->number, LOG_TEXT(text));
	target->ended = true; /* a session that is leaving must not be resumed either */
	session_goodbye(target, STATUS_FORBIDDEN,
			text[0] != '\0' ? text : "ended by an administrator");
	/* Its bodies and leases are free before the REPLY says that it is gone. */
	worlds_leave_all(target);
	if (target->state == SESSION_LOST)
		session_destroy(target);
	session_done(self, message);
}

/* ---- CONFIG -------------------------------------------------------------------------------------- */

struct option_change {
	char name[64], value[OPTION_VALUE_BYTES], before[OPTION_VALUE_BYTES];
};

/* Reads one pair of the map: an option's name and its value, a str or an integer, as text. */
static enum status take_change(struct wire_cursor *in, struct option_change *change,
			       struct reason *why)
{
	struct wire_token name, value;
	if (wire_next(in, &name) != STATUS_OK || name.type != WIRE_TOKEN_TEXT ||
	    name.count >= sizeof change->name)
		return reason_set(why, STATUS_TYPE, -1, "set",
				  "a key must be an option's name, a str of at most 63 bytes");
	snprintf(change->name, sizeof change->name, "%.*s", (int)name.count, (const char *)name.at);
	if (wire_next(in, &value) == STATUS_OK) {
		int length = -1;
		if (value.type == WIRE_TOKEN_INTEGER)
			length = snprintf(change->value, sizeof change->value, "%lld",
					  (long long)value.integer);
		else if (value.type == WIRE_TOKEN_TEXT)
			length = snprintf(change->value, sizeof change->value, "%.*s",
					  (int)value.count, (const char *)value.at);
		if (length >= 0 && (size_t)length < sizeof change->value)
			return STATUS_OK;
	}
	return reason_set(why, STATUS_TYPE, -1, change->name,
			  "%s must be a str or an integer of at most %d bytes as text",
			  change->name, OPTION_VALUE_BYTES - 1);
}

static void value_before(const struct options *options, struct option_change *change)
{
	struct option_view view;
	for (uint32_t i = 0; options_view(options, i, &view); i++)
		if (strcmp(view.name, change->name) == 0)
			memcpy(change->before, view.value, sizeof change->before);
}

/* Changes all options or none: where one is refused, those changed before get their old values back. */
static enum status change_options(struct options *options, struct option_change *changes,
				  uint32_t count, struct reason *why)
{
	uint32_t done = 0;
	enum status status = STATUS_OK;
	for (; status == STATUS_OK && done < count; done++) {
		value_before(options, &changes[done]);
		status = options_change(options, changes[done].name, changes[done].value, why);
	}
	if (status == STATUS_OK)
		return STATUS_OK;
	for (uint32_t i = done - 1; i-- > 0;)
		ASSERT(options_change(options, changes[i].name, changes[i].before, NULL) ==
		       STATUS_OK);
	return status;
}

static enum status set_config(struct session *self, const struct wire_list *map, struct reason *why)
{
	struct wire_cursor in = wire_cursor_list(map);
	struct option_change *changes = heap_alloc_zero(CHANGES_MAX * sizeof *changes);
	enum status status = STATUS_OK;
	if (changes == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "set", "%s",
				  status_text(STATUS_NO_MEMORY));
	for (uint32_t i = 0; status == STATUS_OK && i < map->count; i++)
		status = take_change(&in, &changes[i], why);
	if (status == STATUS_OK)
		status = change_options(self->service->options, changes, map->count, why);
	for (uint32_t i = 0; status == STATUS_OK && i < map->count; i++)
		log_audit("config_set", "session=%u option=%s value=%s before=%s",
			  (unsigned)self->number, changes[i].name, LOG_TEXT(changes[i].value),
			  LOG_TEXT(changes[i].before));
	heap_free(changes);
	log_set_level(self->service->options->log_level);
	return status;
}

/* CONFIG: answers {name: [value, live], …} after the changes. */
void handle_config(struct session *self, const struct message *message)
{
	struct reason why;
	struct option_view view;
	uint32_t count = 0;
	if (set_config(self, &message->config.set, &why) != STATUS_OK) {
		session_refuse(self, message, &why);
		return;
	}
	uint8_t *packed = heap_alloc(CONFIG_BYTES);
	if (packed == NULL) {
		session_refuse_status(self, message, STATUS_NO_MEMORY);
		return;
	}
	while (options_view(self->service->options, count, &view))
		count++;
	struct wire_packer out = wire_packer_over(packed, CONFIG_BYTES);
	wire_pack_map(&out, count);
	for (uint32_t i = 0; options_view(self->service->options, i, &view); i++) {
		wire_pack_string(&out, view.name);
		wire_pack_array(&out, 2);
		wire_pack_string(&out, view.value);
		wire_pack_uint(&out, view.live);
	}
	requests_reply(self, message, &out);
	heap_free(packed);
}

/* ---- MONITOR ------------------------------------------------------------------------------------- */

void handle_monitor(struct session *self, const struct message *message)
{
	bool on = message->monitor.on != 0;
	if (on != self->monitors)
		self->service->monitors += on ? 1 : -1;
	self->monitors = on;
	self->monitor_lost = 0;
	session_done(self, message);
}

/* ---- DRAIN --------------------------------------------------------------------------------------- */

void handle_drain(struct session *self, const struct message *message)
{
	struct service *service = self->service;
	struct reason why;
	char redirect[WIRE_STRING_UP + 1];
	snprintf(redirect, sizeof redirect, "%.*s", (int)message->drain.redirect.bytes,
		 (const char *)message->drain.redirect.at);
	if (redirect[0] != '\0' && address_check_target(redirect, "redirect", &why) != STATUS_OK) {
		session_refuse(self, message, &why);
		return;
	}
	session_done(self, message);
	if (redirect[0] != '\0')
		snprintf(service->redirect, sizeof service->redirect, "%s", redirect);
	/* A second DRAIN does nothing, whereas a second signal ends the daemon at once. */
	if (!service->draining)
		service->calls->drain(service);
}
