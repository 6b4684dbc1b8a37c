/* resume.h: sessions that lose their connection and come back.
 *
 *	          connection lost, GOODBYE(slow)        30 s, too many, drain
 *	OPEN ────────────────────────────────► LOST ─────────────────────────► gone
 *	  ▲                                      │
 *	  └────────── HELLO.resume = token ──────┘   also while the old connection still seems to live
 *
 * Only sessions with the capability `resume` are kept. The token is 128 random bits; each use makes a new
 * one, and the one before is good until the client has been heard on its new connection, so that a WELCOME
 * that never arrived costs nothing. A resume takes the place of the old connection in one step: the new
 * connection's greeting session and the old one's change their streams, and what was greeting goes with the
 * old stream. Numbers of batches and STEPs, answers kept for repeats, ownership of bodies, the stepping
 * lease, subscriptions all stay; what was in flight to the client is dropped, and it says what it applied
 * last, so that the next DELTA stands on that.
 *
 * Bounded: lost sessions are at most a quarter of all, the one lost first goes first; none has a byte
 * waiting but its events (subscription.h) and its kept answers.
 */
#ifndef CAIRN_SESSION_RESUME_H
#define CAIRN_SESSION_RESUME_H

#include "server/session/session.h"

/* A fresh token for an offer. IO: none is given out, and the session will not be kept. */
void resume_prepare(struct session *self);
/* A HELLO that asks to resume: done or refused, true. False: it does not ask. */
bool resume_greet(struct session *self, const struct message *hello);
/* After resume_greet: what follows HELLO in the input, from byte `taken` on, belongs to the session that
 * has come back, which is returned; NULL: nobody has. */
struct session *resume_hand_over(struct session *self, size_t taken);
/* Whether a session whose stream is gone is to be kept. */
bool resume_is_kept(const struct session *self);
/* Keeps it. May end the one that was lost first. */
void resume_lose(struct session *self);
/* Ends a lost session whose time is over; true: it is gone. */
bool resume_look_after(struct session *self, uint64_t now);
/* Ends all that are lost, or the one lost first; false where there is none. */
void resume_end_all(struct service *service);
bool resume_end_oldest(struct service *service);

#endif
