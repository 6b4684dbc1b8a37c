/* store_state.h: the inside of the store, shared by store.c, journal.c and recover.c only.
 *
 *	host's thread                 STORE                          LOOP
 *	journal_* ─► record_buffer ─► journal_turn: transaction ─► durable, saved, failed, wake
 *
 * The store has two wakeups, each with a list of journals: `work` for STORE, `news` for LOOP. A
 * journal commits at once if it was idle, otherwise COMMIT_APART after its last commit, so that the
 * records of a busy world share transactions; a flush or a close does not wait. The last news of a
 * journal is that it is closed. LOOP then frees it, and STORE does not use it any more.
 */
#ifndef CAIRN_STORE_STORE_STATE_H
#define CAIRN_STORE_STORE_STATE_H

#include "server/io/lock.h"
#include "server/store/session_file.h"
#include "server/store/store.h"
#include "server/store/world_file.h"

/* Between two commits of a busy journal with durability `tick`. An fsync costs some ms: a shorter time
 * lets one world keep a disk busy, a longer one delays DURABLE. With `command` the next transaction begins
 * when the last one has ended, because clients wait for it. */
#define COMMIT_APART (20 * NS_PER_MS)
/* A file that another program has locked is tried again after BUSY_RETRY; after BUSY_MAX its journal has
 * failed. */
#define BUSY_RETRY (50 * NS_PER_MS)
#define BUSY_MAX (10 * NS_PER_S)

enum { STORE_PATH_MAX = 4096 };

struct journal {
	struct store *store;
	char name[WIRE_NAME_MAX + 1];
	struct journal *next; /* in the store's list; LOOP's */
	enum durability durability;
	bool own_durability; /* given for this world, and stored in its file */

	struct lock lock;	      /* guards from here … */
	struct record_buffer waiting; /* records that the host has put */
	uint64_t backlog;	      /* bytes of it and of the buffer being written */
	uint64_t records;	      /* put so far */
	bool flush;		      /* commit now */
	bool queued;		      /* in the store's work list, or about to be */
	bool throttled;		      /* journal_ready has returned false */
	bool wake_due;
	bool closing;			     /* journal_close was called */
	bool remove;			     /* delete the file once it is closed */
	bool file_gone;			     /* the file is closed, and STORE has read `remove` */
	struct world_file_progress progress; /* not yet reported */
	uint64_t stored,
		stored_told; /* records on disk, and of those the ones that were reported */
	struct journal_figures figures;
	bool figures_moved; /* and are not yet reported */
	enum status failed; /* OK, or why no record is written any more */
	bool failure_told;
	char failure[160];
	/* … to here */

	struct journal *next_work, *next_news; /* these four guarded by the store's lock */
	bool in_news, closed;
	struct journal_events events; /* LOOP's */
	void (*wake)(void *context);  /* LOOP calls it */
	void *wake_context;

	/* used by STORE (by LOOP before executor_start) */
	struct world_file file;
	struct record_buffer writing;
	uint64_t writing_to; /* records put when it was taken */
	bool create;	     /* the file's tables are still to be made */
	uint64_t busy_since; /* instant of the first refusal (AGAIN) of `writing`; 0: none */
	uint64_t commit_at;  /* not before this instant */
	struct journal_figures figures_now;
	bool failure_logged;	      /* of pruning; once */
	struct prune_counts unpruned; /* written since the last slice */
	uint32_t put_off;	      /* slices in a row postponed in favour of records */
};

struct store {
	char directory[STORE_PATH_MAX];
	bool ending;   /* the executor has stopped: no wakeups */
	int lock_file; /* descriptor holding the lock on the directory, −1 none */
	struct executor *executor;
	struct retention retention; /* as set before executor_start */
	enum durability durability; /* likewise */
	bool redo;
	struct session_file *sessions; /* owned; NULL until session_file_open */
	struct journal *journals;      /* LOOP's list */
	ARRAY_OF(char *) names;	       /* of worlds found at the start, ascending by bytes */
	ARRAY_OF(struct refused_file) refused; /* LOOP's */
	struct wakeup work, news;	       /* for STORE, for LOOP */
	struct lock lock;		       /* guards both lists */
	struct journal *work_first, **work_end;
	struct journal *news_first, **news_end;
};

/* ---- journal.c ---- */
/* In the store's list, with a closed file. NULL: out of memory. */
struct journal *journal_new(struct store *store, const char *name);
/* STORE: writes the waiting records if they are due (`force`: in any case). Returns the instant of the next
 * call, INSTANT_NEVER for none. */
uint64_t journal_turn(struct journal *journal, uint64_t now, bool force);
/* LOOP: calls the events for the progress that STORE made. */
void journal_report(struct journal *journal);
/* LOOP: removes it from the list and frees it. */
void journal_destroy(struct journal *journal);

/* ---- store.c ---- */
/* Any thread: appends the journal, which is not in the work list, and wakes STORE. */
void store_queue_work(struct store *store, struct journal *journal);
/* STORE: appends the journal to the news list and wakes LOOP; `closed`: LOOP frees it. */
void store_queue_news(struct store *store, struct journal *journal, bool closed);
/* DIR/NAME.cairn with `suffix`. */
void store_path(const struct store *store, const char *name, const char *suffix,
		char path[STORE_PATH_MAX]);
/* Deletes the file and what SQLite keeps beside it. MISSING, IO. */
MUST_CHECK enum status store_delete(const struct store *store, const char *name,
				    struct reason *why);

#endif
