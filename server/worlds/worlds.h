/* worlds.h: the worlds in service as the loop thread has them: their members and their last
 * reported state.
 *
 * Reports of a host (host/report.h) become frames: state is sent through the fanout, results and replies
 * to the sessions that requested them.
 */
#ifndef CAIRN_WORLDS_H
#define CAIRN_WORLDS_H

#include "server/base/array.h"
#include "server/host/host.h"
#include "server/past/past.h"
#include "server/store/store.h"
#include "server/sync/fanout.h"

struct service;
struct session;

struct served_world {
	struct service *service; /* borrowed */
	/* Next in the list of worlds.reporting_first, if `reporting`. */
	struct served_world *next_reporting;
	bool reporting; /* may have reports that are not delivered yet */
	uint32_t number;
	char name[WIRE_NAME_MAX + 1];
	struct host *host;     /* owned */
	struct fanout *fanout; /* owned */
	bool has_journal;
	enum durability durability; /* in force; OFF also after its journal has failed */
	bool own_durability;	    /* chosen for this world */
	struct past *past;	    /* owned; NULL without a file */
	uint64_t sync_tests,
		sync_failures;	    /* of --sync-test: tests made, and those that differed */
	bool stopping, remove_file; /* it is ending, and its file is to be removed */
	struct {
		bool running;		      /* a recording (recordings.h) */
		bool busy;		      /* it starts, or one is being written */
		char name[WIRE_NAME_MAX + 1]; /* of the one that runs or starts */
		char as[WIRE_NAME_MAX + 1];   /* of the file that a stop makes */
	} recording;
	/* As of the last TICK report. */
	uint64_t tick;
	uint32_t edit;
	uint32_t epoch, pace;
	uint8_t mode;
	struct world_info info;
	struct world_stats stats;
	uint64_t lateness_max, cost_max; /* ns, since the last INFO */
	/* Disk. */
	uint64_t durable_tick;
	uint32_t durable_epoch, durable_edit;
	struct journal_figures figures;
	ARRAY_OF(struct session *) members;
	uint64_t stored,
		begins_at; /* records on disk; of these, the ones with which its file begins */
	/* Answers that wait for the disk, oldest first, by their `next`: SAVED, and with durability
	 * `command` every answer to a request that changed the world. */
	struct report *waiting_first, *waiting_last;
	struct reason journal_failure; /* status OK: the file is being written */
	uint64_t round_at;	       /* instant at which its fan-out began, 0: it is done */
	bool whole_requested;  /* a whole report has been requested, because the mirror is lost */
	bool contacts_watched; /* the host reports contacts, because a subscription needs them */
	bool joints_watched;   /* the host reports joints, likewise */
	char *notes;	       /* owned; of the scene that made it (WORLD_INFO), or NULL */
	bool particles_watched;
	/* The session that requested its end and the ref of that request; 0: none. */
	uint32_t destroyed_by;
	uint64_t destroyed_ref;
};

struct worlds {
	ARRAY_OF(struct served_world *) items; /* by number, ascending */
	uint32_t next_number;
	uint32_t stopping;
	uint32_t serve_from; /* index of the world that the next turn serves first */
	struct served_world *reporting_first, *reporting_last;
	ARRAY_OF(struct travel *) travels; /* subscriptions that show the past (travel.h) */
	struct {
		bool busy;	    /* a test is under way */
		uint64_t credit_ns; /* processor time that may be spent on tests */
		uint64_t at;	    /* instant of the last look */
		uint32_t next;	    /* number of the world to test */
	} sync_test;
};

void worlds_release(struct worlds *self);
/* NULL where there is none. */
struct served_world *worlds_find(const struct worlds *self, uint32_t number);
struct served_world *worlds_find_name(const struct worlds *self, const char *name);
/* True for 1 to WIRE_NAME_MAX letters, digits, '-', '_', '.', not beginning with a dot. */
bool worlds_name_valid(const char *name);

/* How a new world begins, beside its options for the engine. */
struct world_start {
	bool running;
	bool own_durability; /* false: that of the daemon */
	enum durability durability;
};

/* Reads WORLD_CREATE's options over the defaults. A refusal names the option. */
MUST_CHECK enum status worlds_parse_options(const struct wire_list *map,
					    struct world_options *options,
					    struct world_start *start, struct reason *why);

/* Puts a world into service under `name` with the shapes it may use; takes `world` and `shapes` on
 * OK. With a store, and durability above OFF, a file is made, unless `recovered` brings one. EXISTS, LIMIT,
 * IO, NO_MEMORY; RANGE: the durability needs a store. */
MUST_CHECK enum status worlds_add(struct service *service, const char *name, struct world *world,
				  struct shape_library *shapes, const struct world_start *start,
				  struct recovered *recovered, struct served_world **out,
				  struct reason *why);
/* Opens the worlds of the data directory, then those of --scene options whose names are not taken. */
MUST_CHECK enum status worlds_open_all(struct service *service, struct reason *why);
/* Starts an added world's host in the pool; only after executor_start. */
MUST_CHECK enum status worlds_start(struct service *service, struct served_world *world);
/* worlds_add and worlds_start, for a world that is made while the server runs; on failure nothing
 * remains. Takes `world` in any case, and the contents of `shapes` on OK. */
MUST_CHECK enum status worlds_open(struct service *service, const char *name, struct world *world,
				   struct shape_library *shapes, const struct world_start *start,
				   struct served_world **out, struct reason *why);
/* True if the world goes on when its file cannot be written (--disk-failure). */
bool worlds_may_lose_journal(const struct served_world *world);
/* Each quarter second: retries frames that were held back and requests that a host could not take. */
void worlds_check(struct service *service, uint64_t now);
/* Switches the host's reports of contacts, joints and particles as the subscriptions need; call it after they
 * change. */
void worlds_watch(struct served_world *world);
/* Delivers reports, one of each world in turn, until none are left or the turn's budget is used up;
 * then it rings its wakeup. `context` is the service. */
void worlds_deliver_reports(void *context);
/* Timer: sends the final state of worlds that may have stopped changing. `context` is the service. */
void worlds_show_resting(void *context);
/* Serves the next slice of each world's fan-out; rings its wakeup while more remain. `context` is
 * the service. */
void worlds_serve(void *context);
/* After a flush: records the duration of the rounds that ended with it. */
void worlds_end_rounds(struct service *service);
/* Ends a world and informs its members; `remove_file` removes its file, too. */
void worlds_stop(struct service *service, struct served_world *world, bool remove_file);

/* Room for the counts of one world (worlds_fill_info). */
enum { WORLD_INFO_BYTES = 1536 };
/* Fills a WORLD_INFO with the present state; texts are borrowed from the world. `scratch` holds the
 * packed counts, WORLD_INFO_BYTES suffice. */
void worlds_fill_info(const struct served_world *world, struct message *message, uint64_t ref,
		      uint8_t *scratch, uint32_t scratch_bytes);

/* ---- members.c: sessions in worlds */
/* Makes the session a member, with the numbers of its earlier membership if it had one. LIMIT: it
 * has joined SESSION_WORLDS_MAX worlds; NO_MEMORY. */
MUST_CHECK enum status worlds_admit(struct served_world *world, struct session *session);
void worlds_leave(struct served_world *world, struct session *session);
void worlds_leave_all(struct session *session);
/* The world is ending: informs the client, and drops the membership with its numbers. */
void worlds_expel(struct served_world *world, struct session *session);
/* Calls of struct service_calls. */
bool worlds_have(const struct service *service, const char *name);
void worlds_on_writable(struct session *session);
void worlds_resume(struct session *session, const struct wire_list *applied);

#endif
