/* session_file.h: the sessions that can be resumed and the numbers of worlds, on disk, so that a client can
 * resume its session after the daemon was killed.
 *
 * DIR/cairnd.sessions is a SQLite file. LOOP puts changes; the store thread writes them in their order, many
 * to a transaction, and always before records that were put later. So if a batch of a session is on disk,
 * the session is too. A session is stored as the bytes that the session room packs (session/remember.h); its
 * resume tokens are stored as SHA-256 only. An orderly end removes all sessions, because then they have
 * ended. If the file cannot be read it stays as it is, and nothing is stored; if it cannot be written, no
 * further change is.
 */
#ifndef CAIRN_STORE_SESSION_FILE_H
#define CAIRN_STORE_SESSION_FILE_H

#include "protocol/limits.h"
#include "server/base/status.h"

struct store;
struct session_file;

/* A longer absence of the daemon ends the sessions: their clients are gone. */
enum { SESSION_FILE_LIFE_S = 600 };
/* Bytes of a packed session at most. */
enum { SESSION_FILE_BYTES = 4096 };

struct session_file_events {
	/* A stored session of the last daemon. */
	enum status (*session)(void *context, uint32_t number, const uint8_t *packed,
			       uint32_t bytes);
	/* On LOOP: further changes are on disk, or the file has stopped working. */
	void (*written)(void *context);
	void *context;
};
/* Reads the file at second `now_s` (since 1970), or creates it, and passes its sessions on; those of a daemon
 * that was last alive more than SESSION_FILE_LIFE_S ago are removed instead. On LOOP, before executor_start.
 * A status of `session` ends it. */
MUST_CHECK enum status session_file_open(struct store *store, uint64_t now_s,
					 const struct session_file_events *events,
					 struct reason *why);
/* The session, new or changed. On LOOP; without memory the file stops working. */
void session_file_put(struct store *store, uint32_t number, const void *packed, uint32_t bytes);
void session_file_remove(struct store *store, uint32_t number);
/* Changes put so far, and those that are on disk; UINT64_MAX if the file does not work. */
uint64_t session_file_changes(const struct store *store);
uint64_t session_file_written(const struct store *store);
/* The daemon is alive at second `now_s`; about once a minute. */
void session_file_alive(struct store *store, uint64_t now_s);

/* The number that a world had in the last daemon; 0: none. */
uint32_t session_file_world(const struct store *store, const char *name);
/* The highest number that a world ever had. */
uint32_t session_file_world_max(const struct store *store);
/* A world has a number. On LOOP. */
void session_file_put_world(struct store *store, const char *name, uint32_t number);
void session_file_remove_world(struct store *store, const char *name);

/* ---- for store.c */
/* STORE: writes the waiting changes. */
void session_file_turn(struct session_file *self);
/* LOOP: calls `written` if there is news. */
void session_file_report(struct session_file *self);
void session_file_destroy(struct session_file *self);

#endif
