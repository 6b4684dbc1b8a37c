/* step_groups.h: STEP_WORLDS on LOOP: collects the outcomes of its worlds until they are sent in
 * one STEPPED_WORLDS.
 *
 * Without `batch` a message has an answer of its own, in the order of its worlds. With `batch` k
 * the outcomes of all such messages of the session are sent in the order in which they arrive: as
 * soon as there are k, or when no world of them is pending any more.
 *
 * Numbers of requests are those of STEP, for each session and world. The answer is stored by every
 * world in it, as for a STEP, so that a resumed client may repeat the message. A refused number is
 * used up too.
 */
#ifndef CAIRN_WORLDS_STEP_GROUPS_H
#define CAIRN_WORLDS_STEP_GROUPS_H

#include "server/host/host.h"
#include "server/session/session.h"

struct step_group;

/* Opens a group for the worlds of a message. It sends nothing before step_group_close, which may
 * free it. NO_MEMORY; BUSY: asynchronous requests with observations of another size are pending. */
MUST_CHECK enum status step_group_open(struct session *session,
				       const struct msg_step_worlds *message,
				       const struct step_plan *plan, struct step_group **out,
				       struct reason *why);
/* A world's request is under way; its outcome will be taken for this group. */
void step_group_await(struct session *session, struct step_group *group, uint32_t world,
		      uint64_t request);
/* A world's request is refused without its host. */
void step_group_refuse(struct session *session, struct step_group *group, uint32_t world,
		       uint64_t request, const struct reason *why);
/* An awaited request will have no outcome, because its host did not take it. */
void step_group_fail(struct session *session, uint32_t world, uint64_t request,
		     const struct reason *why);
void step_group_close(struct session *session, struct step_group *group);

/* The outcome of a request; the contents of `reply` are read. */
void step_groups_take(struct session *session, struct membership *membership, uint32_t world,
		      const struct reply_report *reply);
/* The session has left the world: its pending requests are refused. */
void step_groups_left(struct session *session, uint32_t world);
/* Forgets everything; sends nothing. */
void step_groups_release(struct session *session);

#endif
