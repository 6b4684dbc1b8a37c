/* requests.h: clients' requests: from a message of an open session, past the role table, to its
 * handler. */
#ifndef CAIRN_REQUESTS_REQUESTS_H
#define CAIRN_REQUESTS_REQUESTS_H

#include "protocol/packer.h"
#include "server/session/session.h"

/* Handles one message of an open session: checks the role, then calls the handler of its type. */
void requests_dispatch(struct session *self, const struct message *message);
/* Refuses a batch without looking into it: sends a RESULT, which uses the batch number up. False:
 * the message is no COMMANDS for a world that the session has joined, and nothing was sent. */
bool requests_refuse_commands(struct session *self, const struct message *message,
			      const struct reason *why);

/* Handlers by theme (handlers_*.c); each gets a message of its own type and answers it. */
typedef void session_handler(struct session *self, const struct message *message);
session_handler handle_ping, handle_pong, handle_goodbye, handle_info; /* handlers_admin.c */
session_handler handle_sessions, handle_kick, handle_config, handle_monitor,
	handle_drain; /* handlers_operations.c */
session_handler handle_world_list, handle_world_create, handle_world_join, handle_world_leave,
	handle_world_destroy, handle_control;	      /* handlers_world.c */
session_handler handle_shape_upload;		      /* handlers_shape.c */
session_handler handle_scene_list, handle_scene_open; /* handlers_scene.c */
session_handler handle_subscribe, handle_unsubscribe, handle_ack, handle_resync, handle_focus,
	handle_seek;		    /* handlers_state.c */
session_handler handle_step_worlds; /* handlers_groups.c */
/* REPLY with a packed value (handlers_operations.c); without room in a frame the message is refused. */
void requests_reply(struct session *self, const struct message *about, struct wire_packer *out);
/* A zero-terminated copy of a name; false when it does not fit (handlers_world.c). */
bool requests_copy_name(struct wire_slice from, char to[WIRE_NAME_MAX + 1]);
/* True: the session's role may not see the past, and the message was refused. */
bool requests_refuse_past(struct session *self, const struct message *message);
session_handler handle_commands, handle_step, handle_query, handle_looks, handle_save,
	handle_restore, handle_fork, handle_record; /* handlers_input.c */

#endif
