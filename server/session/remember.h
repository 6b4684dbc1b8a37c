/* remember.h: sessions that survive a crash of the daemon.
 *
 * With --data each session that can be resumed is stored (store/session_file.h): number, role, capabilities,
 * grant, hashes of its resume tokens, and the worlds it has joined. The next daemon begins with these
 * sessions as LOST, so their clients resume them within WIRE_RESUME_MS. The numbers of their batches and the
 * results since a world's last checkpoint come from the world's file, by the replay. Not stored:
 * subscriptions, the stepping lease, drags, uploads, answers of STEPs.
 */
#ifndef CAIRN_SESSION_REMEMBER_H
#define CAIRN_SESSION_REMEMBER_H

#include "server/session/session.h"

/* The session is new or has changed: stores it, if it can be resumed. */
void remember_session(struct session *self);
/* The session ends. */
void remember_no_more(struct session *self);
/* Opens the file of the data directory; its sessions become LOST. Before the worlds are opened. */
MUST_CHECK enum status remember_open(struct service *service, struct reason *why);
/* The ledger of a remembered session in world `number`; NULL: there is none. */
struct membership *remember_membership(struct service *service, uint32_t session, uint32_t number);
/* Each quarter second. */
void remember_check(struct service *service, uint64_t now);

#endif
