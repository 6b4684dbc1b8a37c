/* handlers_world.c: WORLD_LIST, WORLD_CREATE, WORLD_JOIN, WORLD_LEAVE, WORLD_DESTROY, CONTROL. A
 * world that the session's token does not allow is refused by its name, before the answer could
 * reveal that it exists. */
#include <string.h>

#include "protocol/unpack.h"
#include "server/io/log.h"
#include "server/requests/requests.h"
#include "server/session/remember.h"
#include "server/session/service.h"
#include "server/worlds/world_reports.h"
#include "server/worlds/worlds.h"

/* `of` > 1: one of a list. */
static void send_info(struct session *self, const struct served_world *world, uint64_t ref,
		      uint32_t index, uint32_t of)
{
	struct message info;
	uint8_t counts[WORLD_INFO_BYTES];
	worlds_fill_info(world, &info, ref, counts, sizeof counts);
	info.world_info.index = index;
	info.world_info.of = of;
	if (of > 1)
		session_send_listed(self, &info);
	else
		session_send(self, &info);
}

void handle_world_list(struct session *self, const struct message *message)
{
	const struct worlds *worlds = self->service->worlds;
	uint32_t of = 0, index = 0;
	for (uint32_t i = 0; i < worlds->items.count; i++)
		of += grant_allows_world(self->grant, worlds->items.items[i]->name);
	for (uint32_t i = 0; i < worlds->items.count; i++)
		if (grant_allows_world(self->grant, worlds->items.items[i]->name))
			send_info(self, worlds->items.items[i], message->world_list.ref, index++,
				  of);
	if (of > 0) {
		outbox_list_more(&self->outbox);
		return;
	}
	struct message none;
	message_init(&none, MESSAGE_WORLD_INFO);
	none.world_info.ref = message->world_list.ref;
	none.world_info.of = 0;
	session_send(self, &none);
}

bool requests_copy_name(struct wire_slice from, char to[WIRE_NAME_MAX + 1])
{
	if (from.bytes > WIRE_NAME_MAX)
		return false;
	/* A name left out has no pointer, and memcpy from NULL is undefined even for 0 bytes. */
	if (from.bytes > 0)
		memcpy(to, from.at, from.bytes);
	to[from.bytes] = '\0';
	return true;
}

void handle_world_create(struct session *self, const struct message *message)
{
	struct service *service = self->service;
	struct world_options options;
	struct reason why;
	struct world_start start;
	char name[WIRE_NAME_MAX + 1];
	if (!requests_copy_name(message->world_create.name, name) || !worlds_name_valid(name)) {
		reason_set(&why, STATUS_RANGE, -1, "name",
			   "a name must be 1 to %d letters, digits, '-', '_' or '.', and must not "
			   "begin with '.'",
			   WIRE_NAME_MAX);
		session_refuse(self, message, &why);
		return;
	}
	if (session_refuses_world(self, message, name))
		return;
	struct world *world;
	struct served_world *served;
	struct shape_library shapes;
	shape_library_init(&shapes);
	enum status status =
		worlds_parse_options(&message->world_create.options, &options, &start, &why);
	if (status == STATUS_OK)
		status = world_create(&options, &world, &why);
	if (status == STATUS_OK)
		status = worlds_open(service, name, world, &shapes, &start, &served, &why);
	shape_library_release(&shapes);
	if (status != STATUS_OK) {
		session_refuse(self, message, &why);
		return;
	}
	LOG_FROM(session_log(self), LOG_INFO, "world_created", "world=%u name=%s session=%u",
		 (unsigned)served->number, name, (unsigned)self->number);
	world_reports_created(served, self, message, NULL);
}

void handle_world_join(struct session *self, const struct message *message)
{
	struct service *service = self->service;
	char name[WIRE_NAME_MAX + 1] = "";
	struct served_world *world = NULL;
	struct reason why;
	if (message->world_join.world != 0) {
		world = worlds_find(service->worlds, (uint32_t)message->world_join.world);
	} else if (requests_copy_name(message->world_join.name, name)) {
		/* Before the search, because the answer must not reveal whether the world exists. */
		if (session_refuses_world(self, message, name))
			return;
		world = worlds_find_name(service->worlds, name);
	}
	if (world == NULL || world->stopping) {
		if (name[0] != '\0')
			reason_set(&why, STATUS_UNKNOWN_WORLD, -1, "name",
				   "there is no world %s; a list of the worlds has their names",
				   name);
		else
			reason_set(&why, STATUS_UNKNOWN_WORLD, -1, "world",
				   "there is no world of number %u",
				   (unsigned)message->world_join.world);
		session_refuse(self, message, &why);
		return;
	}
	if (session_refuses_world(self, message, world->name))
		return;
	if (session_membership(self, world->number) == NULL) {
		enum status status = worlds_admit(world, self);
		if (status != STATUS_OK) {
			if (status == STATUS_LIMIT)
				reason_set(
					&why, status, -1, "world",
					"the session has joined %d worlds, the limit; leave one first",
					SESSION_WORLDS_MAX);
			else
				reason_set(&why, status, -1, "world", "%s", status_text(status));
			session_refuse(self, message, &why);
			return;
		}
		remember_session(self);
	}
	send_info(self, world, message->world_join.ref, 0, 1);
}

void handle_world_leave(struct session *self, const struct message *message)
{
	struct membership *membership =
		session_membership(self, (uint32_t)message->world_leave.world);
	if (membership == NULL) {
		session_refuse_status(self, message, STATUS_NOT_JOINED);
		return;
	}
	worlds_leave(membership->world, self);
	remember_session(self);
	session_done(self, message);
}

void handle_world_destroy(struct session *self, const struct message *message)
{
	struct service *service = self->service;
	struct served_world *world =
		worlds_find(service->worlds, (uint32_t)message->world_destroy.world);
	if (world == NULL || world->stopping) {
		session_refuse_status(self, message, STATUS_UNKNOWN_WORLD);
		return;
	}
	if (session_refuses_world(self, message, world->name))
		return;
	if (world->recording.running || world->recording.busy) {
		struct reason why;
		reason_set(
			&why, STATUS_IN_USE, -1, "world",
			"the recording %s of the world runs: stop it first (cairn record %s stop)",
			world->recording.name, world->name);
		session_refuse(self, message, &why);
		return;
	}
	world->destroyed_by = self->number;
	world->destroyed_ref = message->world_destroy.ref;
	log_audit("world_destroyed", "world=%u name=%s session=%u", (unsigned)world->number,
		  world->name, (unsigned)self->number);
	worlds_stop(service, world, true);
}

void handle_control(struct session *self, const struct message *message)
{
	struct membership *membership = session_membership(self, (uint32_t)message->control.world);
	if (membership == NULL) {
		session_refuse_status(self, message, STATUS_NOT_JOINED);
		return;
	}
	enum status status =
		host_control(membership->world->host, self->number, message->control.ref,
			     (enum wire_control)message->control.action, message->control.value);
	if (status != STATUS_OK)
		session_refuse_status(self, message, status == STATUS_FULL ? STATUS_BUSY : status);
}
