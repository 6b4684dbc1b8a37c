/* handshake.h: the start of a session: versions, capabilities, limits, roles; for both sides.
 *
 *	server                               client
 *	EXPECTING ──HELLO ok──► OPEN         EXPECTING ──WELCOME ok──► OPEN
 *	    │  ▲                                 │
 *	    │  └── a HELLO that may be           └── anything else ──► CLOSED
 *	    │      tried in another way
 *	    └── wrong version, anything else ──► CLOSED
 *
 * Pure: messages in, messages out; no clock (the deadline is the session's), no bytes. Majors must
 * be equal, the minor is the smaller one, capabilities are those of both, frame limits the smaller
 * ones. The transport determines the highest role without a token (a Unix socket of the same
 * user: admin; loopback: controller; elsewhere: none); with a token, the token does. HELLO.role may request
 * a lesser one. A token that is not accepted closes. The server finds the session that a HELLO resumes, and
 * gives its number and role in the offer.
 */
#ifndef CAIRN_PROTOCOL_HANDSHAKE_H
#define CAIRN_PROTOCOL_HANDSHAKE_H

#include "protocol/message.h"

enum handshake_state { HANDSHAKE_EXPECTING, HANDSHAKE_OPEN, HANDSHAKE_CLOSED };

/* The properties of one side. Texts are borrowed until the end of the handshake. */
struct handshake_offer {
	const char *name;  /* server's or client's name */
	const char *build; /* server */
	const char *abi;   /* server */
	uint32_t caps;
	struct wire_limits limits; /* 0: WIRE_FRAME_UP, WIRE_FRAME_DOWN */
	/* Server: the highest role granted without a token (NOBODY: a token is required). Client: the role it
	 * requests (NOBODY: the highest it can get). */
	enum wire_role role;
	/* Server: returns the role that a token grants, or refuses it (AUTH closes). NULL: tokens are not
	 * accepted. */
	enum status (*admit)(void *context, struct wire_slice token, enum wire_role *role,
			     struct reason *why);
	/* Server: called last, when all else of the HELLO is accepted: takes the token that `admit`
	 * saw last, or refuses the session. A token that is valid once is used up here, so that a
	 * HELLO refused for another reason does not use it up. NULL: not called. */
	enum status (*admitted)(void *context, enum wire_role role, struct reason *why);
	void *admit_context;		/* of both callbacks */
	struct wire_slice token;	/* client: its token; empty: none */
	uint32_t session;		/* server: number of the new session */
	bool resumes;			/* server: a session is resumed; `role` is its role */
	struct wire_slice resume_token; /* server: for WELCOME, to clients that can resume */
	struct wire_slice resume;	/* client: resume token of a lost session; empty: none */
	struct wire_list applied;	/* client: the frames it applied last (HELLO.applied) */
	uint64_t time_us;		/* server */
};

struct handshake {
	struct handshake_offer offer;
	enum handshake_state state;
	/* The agreed values; set in OPEN. */
	uint32_t minor;
	uint32_t caps;
	enum wire_role role;
	struct wire_limits limits;
	uint32_t session;
	struct reason why; /* of the last refusal; texts of ERROR are borrowed from here */
};

void handshake_init(struct handshake *self, const struct handshake_offer *offer);

/* Server: takes the first message of a connection. STATUS_OK: *reply is WELCOME and the session is
 * open. Else *reply is ERROR: send it, and close the connection if the state is CLOSED. */
MUST_CHECK enum status handshake_receive(struct handshake *self, const struct message *message,
					 struct message *reply);
/* The WELCOME of the HELLO that was accepted (OPEN) once more. */
void handshake_accepted(const struct handshake *self, struct message *reply);

/* Client: fills the HELLO to send. */
void handshake_hello(const struct handshake *self, struct message *hello);
/* Client: takes the answer. STATUS_OK: the session is open. Else the status is the reason (`why` has the
 * text), and the connection must be closed. */
MUST_CHECK enum status handshake_welcome(struct handshake *self, const struct message *message);

#endif
