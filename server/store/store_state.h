/* store_state.h: the inside of the store, shared by store.c, journal.c and recover.c only.
 *
 *	host's thread                 STORE                          LOOP
 *	journal_* ─► parcel ─ bell ─► store_turn ─► transaction ─ bell ─► durable, saved, failed, wake
 *
 * Two bells of the store's, and a line of journals behind each: those with work for STORE, those with
 * news for LOOP. A journal commits at once when it was idle and otherwise COMMIT_APART after its last
 * commit, so that a busy world's records share transactions; a flush or a close does not wait. A closed
 * journal's last news is that it is closed, whereupon LOOP frees it; STORE has let go of it before.
 */
#ifndef CAIRN_STORE_STORE_STATE_H
#define CAIRN_STORE_STORE_STATE_H

#include "server/io/lock.h"
#include "server/store/store.h"
#include "server/store/world_file.h"

#define COMMIT_APART (20 * NS_PER_MS)

enum { STORE_PATH_MAX = 4096 };

struct journal {
	struct store *store;
	char name[WIRE_NAME_MAX + 1];
	struct journal *next; /* in the store's list; LOOP's */

	struct lock lock;	      /* guards from here … */
	struct record_buffer waiting; /* what the host has put */
	uint64_t backlog;	      /* bytes of it and of the one being written */
	bool flush;		      /* commit now */
	bool queued;		      /* in the store's queue, or about to be */
	bool throttled;		      /* the host has been told to wait */
	bool wake_due;
	bool closing;			     /* the host has let go */
	bool remove;			     /* delete the file once it is closed */
	bool file_gone;			     /* it is closed, and STORE has looked at `remove` */
	struct world_file_progress progress; /* not yet told; `saved` adds up */
	struct journal_figures figures;
	bool figures_moved; /* and are not yet told */
	enum status failed; /* OK, or why nothing is written any more */
	bool failure_told;
	char failure[160];
	/* … to here */

	struct journal *next_work, *next_news; /* these four guarded by the store's lock */
	bool in_news, closed;
	struct journal_events events; /* LOOP's */
	void (*wake)(void *context);  /* LOOP calls it */
	void *wake_context;

	/* STORE's (LOOP's before executor_start) */
	struct world_file file;
	struct record_buffer writing;
	bool create;	    /* the file's tables are still to be made */
	uint64_t commit_at; /* not before this instant */
	struct journal_figures figures_now;
	bool failure_logged;	      /* of pruning; once */
	struct prune_counts unpruned; /* written since the last slice */
	uint32_t put_off;	      /* slices in a row that gave way to records */
};

struct store {
	char directory[STORE_PATH_MAX];
	bool ending;   /* nobody is left to be called */
	int lock_file; /* descriptor holding the lock on the directory, −1 none */
	struct executor *executor;
	struct retention retention; /* as set before executor_start */
	bool redo;
	struct journal *journals; /* LOOP's list */
	ARRAY_OF(char *) names;	  /* of worlds found at the start, ascending by bytes */
	ARRAY_OF(struct refused_file) refused; /* LOOP's */
	struct wakeup work, news;	       /* for STORE, for LOOP */
	struct lock lock;		       /* guards both lines */
	struct journal *work_first, **work_end;
	struct journal *news_first, **news_end;
};

/* ---- journal.c ---- */
/* In the store's list, with a closed file. NULL: out of memory. */
struct journal *journal_new(struct store *store, const char *name);
/* STORE: writes what is due (`force`: whatever waits). Returns when it wants to be called again. */
uint64_t journal_turn(struct journal *journal, uint64_t now, bool force);
/* LOOP: tells what STORE left. */
void journal_tell(struct journal *journal);
/* LOOP: out of the list; frees it. */
void journal_destroy(struct journal *journal);

/* ---- store.c ---- */
/* Any thread: STORE will look at the journal, which is not in its line. */
void store_give_work(struct store *store, struct journal *journal);
/* STORE: LOOP will look at the journal; `closed`: and free it, STORE does not touch it any more. */
void store_give_news(struct store *store, struct journal *journal, bool closed);
/* DIR/NAME.cairn with `suffix`. */
void store_path(const struct store *store, const char *name, const char *suffix,
		char path[STORE_PATH_MAX]);
/* Deletes the file and what SQLite keeps beside it. MISSING, IO. */
MUST_CHECK enum status store_delete(const struct store *store, const char *name,
				    struct reason *why);

#endif
