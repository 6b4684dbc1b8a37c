/* dispatch.c: from a message to its handler. A message is refused, in this order, where no client
 * may send it, where the session's role may not, and where the session's token lists worlds and the
 * message concerns the whole server. Requests of administrators are logged before they are
 * handled. */
#include "protocol/message.h"
#include "server/io/log.h"
#include "server/requests/requests.h"
#include "server/worlds/worlds.h"

/* table: one line for each message that a client may send. HELLO is handled before (session.c). */
static session_handler *handler_of(enum message_type type)
{
	switch (type) {
	case MESSAGE_PING:
		return handle_ping;
	case MESSAGE_PONG:
		return handle_pong;
	case MESSAGE_GOODBYE:
		return handle_goodbye;
	case MESSAGE_INFO:
		return handle_info;
	case MESSAGE_CONFIG:
		return handle_config;
	case MESSAGE_SESSIONS:
		return handle_sessions;
	case MESSAGE_KICK:
		return handle_kick;
	case MESSAGE_MONITOR:
		return handle_monitor;
	case MESSAGE_DRAIN:
		return handle_drain;
	case MESSAGE_WORLD_LIST:
		return handle_world_list;
	case MESSAGE_WORLD_CREATE:
		return handle_world_create;
	case MESSAGE_WORLD_JOIN:
		return handle_world_join;
	case MESSAGE_WORLD_LEAVE:
		return handle_world_leave;
	case MESSAGE_WORLD_DESTROY:
		return handle_world_destroy;
	case MESSAGE_CONTROL:
		return handle_control;
	case MESSAGE_SHAPE_UPLOAD:
		return handle_shape_upload;
	case MESSAGE_SCENE_LIST:
		return handle_scene_list;
	case MESSAGE_SCENE_OPEN:
		return handle_scene_open;
	case MESSAGE_SUBSCRIBE:
		return handle_subscribe;
	case MESSAGE_UNSUBSCRIBE:
		return handle_unsubscribe;
	case MESSAGE_ACK:
		return handle_ack;
	case MESSAGE_RESYNC:
		return handle_resync;
	case MESSAGE_FOCUS:
		return handle_focus;
	case MESSAGE_SEEK:
		return handle_seek;
	case MESSAGE_COMMANDS:
		return handle_commands;
	case MESSAGE_STEP:
		return handle_step;
	case MESSAGE_STEP_WORLDS:
		return handle_step_worlds;
	case MESSAGE_QUERY:
		return handle_query;
	case MESSAGE_LOOKS:
		return handle_looks;
	case MESSAGE_SAVE:
		return handle_save;
	case MESSAGE_RESTORE:
		return handle_restore;
	case MESSAGE_RECORD:
		return handle_record;
	case MESSAGE_FORK:
		return handle_fork;
	default:
		return NULL;
	}
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
