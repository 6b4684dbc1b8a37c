/* worlds.h: the worlds in service, seen from the loop thread: who is in them, what they last said.
 *
 * Reports of a host (host/report.h) come in here and leave as frames: state to the fanout, results
 * and replies to the sessions they belong to.
 */
#ifndef CAIRN_WORLDS_H
#define CAIRN_WORLDS_H

#include "server/base/array.h"
#include "server/host/host.h"
#include "server/store/store.h"
#include "server/sync/fanout.h"

struct service;
struct session;

struct served_world {
	struct service *service; /* borrowed */
	struct served_world
		*next_reporting; /* in worlds.reporting_first's list, where `reporting` */
	bool reporting;		 /* it may have reports that have not been taken */
	uint32_t number;
	char name[WIRE_NAME_MAX + 1];
	struct host *host;     /* owned */
	struct fanout *fanout; /* owned */
	bool has_journal;
	bool stopping, remove_file; /* on its way out */
	/* As of the last TICK report. */
	uint64_t tick;
	uint32_t edit;
	uint32_t epoch, pace;
	uint8_t mode;
	struct world_info info;
	struct world_stats stats;
	uint64_t lateness_max, cost_max; /* ns, since INFO last asked */
	/* Disk. */
	uint64_t durable_tick;
	uint32_t durable_epoch, durable_edit;
	struct journal_figures figures;
	ARRAY_OF(struct session *) members;
	uint64_t saves_written, saves_answered; /* named snapshots, both in the order of saving */
	/* SAVED replies that wait for the disk, oldest first, by their `next`. */
	struct report *waiting_for_disk;
	struct reason journal_failure; /* status OK: the file is being written */
	uint64_t round_at;	       /* instant at which its fan-out began, 0: it is done */
	bool whole_asked;	       /* the mirror is lost, and the host knows */
	bool contacts_asked;	       /* the host tells contacts, because somebody watches them */
	bool joints_asked;	       /* and joints */
	/* Who asked for its end; 0 nobody. */
	uint32_t destroyed_by;
	uint64_t destroyed_ref;
};

struct worlds {
	ARRAY_OF(struct served_world *) items; /* by number, ascending */
	uint32_t next_number;
	uint32_t stopping;
	uint32_t serve_from; /* index of the world that is served first in a turn */
	struct served_world *reporting_first, *reporting_last;
};

void worlds_release(struct worlds *self);
struct served_world *worlds_find(const struct worlds *self, uint32_t number);
struct served_world *worlds_find_name(const struct worlds *self, const char *name);
/* 1 … WIRE_NAME_MAX letters, digits, '-', '_', '.', not starting with a dot. */
bool worlds_name_valid(const char *name);

/* Creation options as they come over the wire, all defaulted. Refusals name the option. */
MUST_CHECK enum status worlds_parse_options(const struct wire_list *map,
					    struct world_options *options, bool *running,
					    struct reason *why);

/* Puts a world into service under `name` with the shapes it may use; takes `world` and `shapes` on
 * OK. With a store a file is made, unless `recovered` brings one. EXISTS, LIMIT, IO, NO_MEMORY. */
MUST_CHECK enum status worlds_add(struct service *service, const char *name, struct world *world,
				  struct shape_library *shapes, bool running,
				  struct recovered *recovered, struct served_world **out,
				  struct reason *why);
/* Worlds of the data directory, then of --scene options whose names are not there yet. */
MUST_CHECK enum status worlds_open_all(struct service *service, struct reason *why);
/* Takes an added world's host to the pool, after executor_start. */
MUST_CHECK enum status worlds_start(struct service *service, struct served_world *world);
/* Both, for a world that is made while the server runs: it is in service, or there is nothing of it. Takes
 * `world` in any case, and `shapes`' contents on OK. */
MUST_CHECK enum status worlds_open(struct service *service, const char *name, struct world *world,
				   struct shape_library *shapes, bool running,
				   struct served_world **out, struct reason *why);
/* Now and then: frames that were held back, news that could not be told. */
void worlds_check(struct service *service, uint64_t now);
/* The host learns whether contacts are to be told; for whoever changes who watches what. */
void worlds_watch(struct served_world *world);
/* Takes reports of those worlds that have some, one of each at a time, until none are left or the turn's
 * work is done; then it rings itself. `context` is the server. */
void worlds_deliver_reports(void *context);
/* Timer: worlds that may have come to rest are shown as they stand. `context` is the server. */
void worlds_show_resting(void *context);
/* The next slice of each world's round; rings itself while there are more. `context` is the server. */
void worlds_serve(void *context);
/* After a flush: notes how long the rounds took that have ended with it. */
void worlds_end_rounds(struct service *service);
/* Ends a world; its members are told. With `remove_file` its file goes too. */
void worlds_stop(struct service *service, struct served_world *world, bool remove_file);

/* WORLD_INFO as of now; texts are borrowed from the world. `scratch` holds the packed counts. */
void worlds_fill_info(const struct served_world *world, struct message *message, uint64_t ref,
		      uint8_t *scratch, uint32_t scratch_bytes);

/* ---- members.c: sessions in worlds */
/* A part in a world, a new one or the one it had. LIMIT, NO_MEMORY. */
MUST_CHECK enum status worlds_admit(struct served_world *world, struct session *session);
void worlds_leave(struct served_world *world, struct session *session);
void worlds_leave_all(struct session *session);
/* The world is ending: the client is told, and its number is forgotten. */
void worlds_expel(struct served_world *world, struct session *session);
/* For sessions, by struct service_calls. */
bool worlds_have(const struct service *service, const char *name);
void worlds_on_writable(struct session *session);
void worlds_resume(struct session *session, const struct wire_list *applied);

#endif
