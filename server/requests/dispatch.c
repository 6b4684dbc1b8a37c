/* dispatch.c: from a message to its handler. A message is refused, in this order, where no client
 * may send it, where the session's role may not, and where the session's token lists worlds and the
 * message concerns the whole server. Requests of administrators are logged before they are
 * handled. */
#include "protocol/message.h"
#include "server/io/log.h"
#include "server/requests/requests.h"
#include "server/worlds/worlds.h"

/* Of each message that a client may send. HELLO is handled before (session.c). */
static session_handler *const HANDLERS[] = {
	[MESSAGE_PING] = handle_ping,
	[MESSAGE_PONG] = handle_pong,
	[MESSAGE_GOODBYE] = handle_goodbye,
	[MESSAGE_INFO] = handle_info,
	[MESSAGE_CONFIG] = handle_config,
	[MESSAGE_SESSIONS] = handle_sessions,
	[MESSAGE_KICK] = handle_kick,
	[MESSAGE_MONITOR] = handle_monitor,
	[MESSAGE_DRAIN] = handle_drain,
	[MESSAGE_WORLD_LIST] = handle_world_list,
	[MESSAGE_WORLD_CREATE] = handle_world_create,
	[MESSAGE_WORLD_JOIN] = handle_world_join,
	[MESSAGE_WORLD_LEAVE] = handle_world_leave,
	[MESSAGE_WORLD_DESTROY] = handle_world_destroy,
	[MESSAGE_CONTROL] = handle_control,
	[MESSAGE_SHAPE_UPLOAD] = handle_shape_upload,
	[MESSAGE_SCENE_LIST] = handle_scene_list,
	[MESSAGE_SCENE_OPEN] = handle_scene_open,
	[MESSAGE_SUBSCRIBE] = handle_subscribe,
	[MESSAGE_UNSUBSCRIBE] = handle_unsubscribe,
	[MESSAGE_ACK] = handle_ack,
	[MESSAGE_RESYNC] = handle_resync,
	[MESSAGE_FOCUS] = handle_focus,
	[MESSAGE_SEEK] = handle_seek,
	[MESSAGE_COMMANDS] = handle_commands,
	[MESSAGE_STEP] = handle_step,
	[MESSAGE_STEP_WORLDS] = handle_step_worlds,
	[MESSAGE_QUERY] = handle_query,
	[MESSAGE_LOOKS] = handle_looks,
	[MESSAGE_SAVE] = handle_save,
	[MESSAGE_RESTORE] = handle_restore,
	[MESSAGE_RECORD] = handle_record,
	[MESSAGE_FORK] = handle_fork,
};

static session_handler *handler_of(enum message_type type)
{
	return (size_t)type < COUNT_OF(HANDLERS) ? HANDLERS[type] : NULL;
}

/* True if the message changes something for others; false if it only reads. */
static bool changes_server(const struct message *message)
{
	switch (message->type) {
	case MESSAGE_SESSIONS:
	case MESSAGE_MONITOR:
		return false;
	case MESSAGE_CONFIG:
		return message->config.set.count > 0;
	default:
		return true;
	}
}

/* True if the message acts on, or reveals, sessions outside the worlds that a token lists. */
static bool concerns_server(enum message_type type)
{
	return type == MESSAGE_CONFIG || type == MESSAGE_SESSIONS || type == MESSAGE_KICK ||
	       type == MESSAGE_MONITOR || type == MESSAGE_DRAIN;
}

/* Logs a request of an administrator. Lines about changes have no rate limit, so that reading
 * requests cannot crowd them out. */
static void audit(struct session *self, const struct message *message)
{
	log_line(changes_server(message) ? NULL : &self->log, LOG_INFO, "audit",
		 "session=%u peer=%s token=\"%s\" message=%s", (unsigned)self->number,
		 self->peer.text, self->grant != NULL ? self->grant->name : "",
		 message_info(message->type)->name);
}

void requests_dispatch(struct session *self, const struct message *message)
{
	session_handler *handler = handler_of(message->type);
	if (handler == NULL) {
		/* A second HELLO, or a message that only a server sends. */
		session_refuse_status(self, message, STATUS_PROTOCOL);
		return;
	}
	if (!wire_role_may(session_role(self), message->type)) {
		struct reason why;
		reason_set(
			&why, STATUS_FORBIDDEN, -1, "",
			"%s needs the role %s or a higher one, and this session is %s; connect with a "
			"token that grants it",
			message_info(message->type)->name,
			wire_role_name(message_info(message->type)->role),
			wire_role_name(session_role(self)));
		session_refuse(self, message, &why);
		return;
	}
	if (session_has_world_list(self) && concerns_server(message->type)) {
		struct reason why;
		reason_set(
			&why, STATUS_FORBIDDEN, -1, "",
			"%s concerns the whole server, but the token lists worlds; connect with a token that "
			"lists none",
			message_info(message->type)->name);
		session_refuse(self, message, &why);
		return;
	}
	if (message_info(message->type)->role == WIRE_ROLE_ADMIN)
		audit(self, message);
	handler(self, message);
}
