/* requests.h: what clients ask for: from a message, past the role table, to its handler. */
#ifndef CAIRN_REQUESTS_REQUESTS_H
#define CAIRN_REQUESTS_REQUESTS_H

#include "server/session/session.h"

/* One message of an open session. */
void requests_dispatch(struct session *self, const struct message *message);
/* The refusal of a batch that is not to be looked into: a RESULT, which uses the number up. False: it is no
 * COMMANDS of this session's for a world it is in, and nothing was sent. */
bool requests_refuse_commands(struct session *self, const struct message *message,
			      const struct reason *why);

/* Handlers by theme (handlers_*.c); each gets a message of its own type. */
typedef void session_handler(struct session *self, const struct message *message);
session_handler handle_ping, handle_pong, handle_goodbye, handle_info; /* handlers_admin.c */
session_handler handle_sessions, handle_kick, handle_config, handle_monitor,
	handle_drain; /* handlers_operations.c */
session_handler handle_world_list, handle_world_create, handle_world_join, handle_world_leave,
	handle_world_destroy, handle_control; /* handlers_world.c */
session_handler handle_shape_upload;	      /* handlers_shape.c */
session_handler handle_subscribe, handle_unsubscribe, handle_ack, handle_resync,
	handle_focus; /* handlers_state.c */
session_handler handle_commands, handle_step, handle_query, handle_save, handle_restore,
	handle_fork; /* handlers_input.c */

#endif
