/* resume.h: sessions that lose their connection and are resumed on another.
 *
 *	          connection lost, GOODBYE(slow)        30 s, too many, drain
 *	OPEN ────────────────────────────────► LOST ─────────────────────────► gone
 *	  ▲                                      │
 *	  └────────── HELLO.resume = token ──────┘   also while the old connection is still open
 *
 * Only sessions with the capability `resume` become LOST. The token is 128 random bits. Each use
 * makes a new token; the previous one stays valid until a message arrives on the new connection, so
 * that the client can try again if the WELCOME is lost. A resume replaces the old connection in one
 * step: the new connection's greeting session and the resumed session exchange their streams, and
 * the greeting session ends with the old stream. Numbers of batches and STEPs, stored answers,
 * ownership of bodies, the stepping lease and subscriptions all stay. Bytes in flight to the client
 * are dropped; the client's HELLO says what it applied last, and the next DELTA is based on that.
 *
 * Bounded: at most a quarter of all sessions are lost, and the session that was lost first ends
 * first. A lost session holds no bytes but its events (subscription.h) and its stored answers.
 */
#ifndef CAIRN_SESSION_RESUME_H
#define CAIRN_SESSION_RESUME_H

#include "server/session/session.h"

/* Makes a token for the session's WELCOME. Without entropy there is none (has_token is false), and
 * the session cannot be resumed. */
void resume_prepare(struct session *self);
/* Handles a HELLO with a resume token: resumes or refuses, and returns true. False: HELLO has none. */
bool resume_receive_hello(struct session *self, const struct message *hello);
/* The handshake of a HELLO without a resume token; the session and its token are stored. AGAIN: they are
 * not on disk yet, so the HELLO must wait in the input. Else as handshake_receive. */
MUST_CHECK enum status resume_receive_new(struct session *self, const struct message *hello,
					  struct message *reply);
/* After resume_receive_hello: moves the input from byte `taken` on to the resumed session and
 * returns that session; NULL if none was resumed. */
struct session *resume_hand_over(struct session *self, size_t taken);
/* True if a session whose stream has closed becomes LOST rather than ending. */
bool resume_is_possible(const struct session *self);
/* Makes the session LOST. If too many are lost, ends the one that was lost first. */
void resume_detach(struct session *self);
/* Ends a lost session after WIRE_RESUME_MS; true: it is freed. */
bool resume_expire(struct session *self, uint64_t now);
/* Ends all lost sessions, or the one lost first; false if there is none. */
void resume_end_lost(struct service *service);
bool resume_end_oldest_lost(struct service *service);

#endif
