/* report.h: the reports of a world in service to the loop thread, in order, immutable once sent.
 *
 * A host (host.h) runs on a worker. The rest of the daemon gets all information on its world from
 * this one queue: after every boundary a TICK report with the changes (after several if a STEP
 * requested their ticks and nobody sees single ones), and REPLY reports that answer requests. Because
 * there is one queue, a reply never overtakes the tick it refers to. It is bounded: a host with
 * REPORTS_MAX reports not yet taken does not step until the loop has caught up (counted as `stalls`),
 * so no report is dropped.
 */
#ifndef CAIRN_HOST_REPORT_H
#define CAIRN_HOST_REPORT_H

#include "protocol/contacts.h"
#include "protocol/joint_rows.h"
#include "server/base/bytes.h"
#include "server/base/profile.h"
#include "server/engine/engine.h"
#include "server/store/shape_library.h"
#include "server/tick/tick_costs.h"

enum { REPORTS_MAX = 64 };

enum report_kind { REPORT_TICK, REPORT_REPLY };

/* Why a body is in a report; bits. */
enum {
	REPORT_CREATED = 1,
	REPORT_MOVED = 2,    /* pose, velocity or status */
	REPORT_CHANGED = 4,  /* owner, tag, flags or placements */
	REPORT_CONTACTS = 8, /* its contacts are listed, perhaps unchanged */
};
struct report_shape {
	uint8_t name[SHAPE_NAME_BYTES];
	vec3 position;
	quat rotation;
};
struct report_body {
	struct body_view view;
	uint8_t why;
	uint32_t first_shape, shape_count; /* into `shapes`; only with CREATED or CHANGED */
	/* Into `contacts_packed`, of profile `exact`, 0 bytes for none; only with CONTACTS. */
	uint64_t first_contact;
	uint32_t contact_bytes;
};
struct report_joint {
	struct joint_view view;
	uint8_t why; /* CREATED; else possibly unchanged */
};
/* A batch was applied, or refused (also where its commands could not be decoded), or is stored for
 * later: then status is WAITING, tick is the one for which it is stored, there are no values, and another
 * result follows when it is applied. */
struct report_result {
	uint32_t session;
	uint64_t batch, tick;
	uint32_t edit; /* of the state it was applied in */
	enum status status;
	int32_t index; /* of the refused command, −1 */
	bool step;     /* of a STEP's commands: sent in its STEPPED, not in a RESULT */
	uint32_t first_value, value_count; /* into `values` */
	char text[160], field[32];	   /* of struct reason, whole */
};

struct tick_report {
	uint64_t tick, tick_hash;
	uint32_t epoch, edit;
	uint8_t mode;  /* enum wire_mode */
	bool whole;    /* every body is listed as created: the first report, and after a restore */
	bool step;     /* steps were made; false: only commands, control or a restore */
	bool contacts; /* contacts are listed: of all bodies at first, then of those that changed */
	bool contacts_all; /* of all bodies */
	bool joints;	   /* joints are listed: all at first, then those that may have changed */
	bool joints_all;   /* all, as created */
	bool particles;	   /* all particles and systems are listed */
	bool unlisted;	   /* nobody watched: no change and no event is listed */
	uint32_t contacts_cut; /* points left out: beyond WIRE_BODY_CONTACTS of a body */
	struct reason failure; /* with mode FAILED: why */
	uint64_t
		stalls; /* so far: boundaries that had to wait for the loop, the journal or memory */
	uint64_t lateness_ns, cost_ns; /* of this tick; of several the largest cost */
	uint64_t late, dropped; /* so far: ticks begun a period late, ticks given up by the clock */
	uint32_t pace;		/* world time per wall time, thousandths */
	struct tick_costs costs;    /* of all ticks so far */
	struct profile_sums stages; /* of those that were profiled */
	uint32_t body_count, shape_count, removed_count, event_count, result_count, value_count;
	/* Capacity of each list below; a reused report keeps its lists. */
	uint32_t body_room, shape_room, removed_room, event_room, result_room, value_room;
	uint32_t joint_count, joint_room, joint_removed_count, joint_removed_room;
	uint32_t particle_count, particle_room, system_count, system_room;
	struct report_body *bodies; /* ascending ids */
	struct report_shape *shapes;
	struct bytes contacts_packed;
	body_id *removed;		    /* ascending */
	struct report_joint *joint_list;    /* ascending ids */
	joint_id *joints_removed;	    /* ascending */
	struct particle_row *particle_list; /* ascending by (system, serial) */
	struct system_flight *system_list;  /* ascending ids */
	struct event *events;
	struct report_result *results; /* in the order they were applied */
	uint32_t *values;
	struct world_stats stats;
	struct world_info info; /* `method` is a constant string of the engine */
};

/* The kind of request that is answered; `ref` returns to the requester. */
enum reply_kind {
	REPLY_CONTROL, /* answer with WORLD_INFO */
	REPLY_STEPPED,
	REPLY_SAVED,
	REPLY_RESTORED,
	REPLY_FORKED, /* `image` holds the copy; the server makes the world */
	REPLY_ANSWER, /* `raw` is the answer, packed */
	REPLY_RECORDED, /* a checkpoint, and with it the beginning of a recording, is in the journal */
	REPLY_SHAPE,	/* the shape is in the world's library */
	REPLY_CREATED, /* LOOP's own: the world's beginning is on disk; answers WORLD_CREATE or FORK */
};
struct reply_report {
	enum reply_kind kind;
	uint32_t session;
	uint64_t ref;  /* ref, id or request of the requester */
	uint8_t about; /* number of the message that is answered */
	enum status status;
	struct reason why; /* when status is not OK */
	uint64_t tick;
	uint32_t epoch, edit;
	uint8_t mode;
	struct wire_hash state_hash, tick_hash, joints_hash;
	bool other_bits; /* to a RESTORE: an incompatible build (engine.h, motion) saved the snapshot */
	struct bytes raw;	     /* packed value: answer or observation */
	uint64_t work;		     /* REPLY_ANSWER: approximate number of pieces examined */
	struct bytes image;	     /* REPLY_FORKED */
	struct shape_library shapes; /* REPLY_FORKED: the shape library of the copied world */
	struct bytes results;	     /* REPLY_STEPPED: packed results, `result_count` of them */
	uint32_t result_count;
	/* REPLY_STEPPED about STEP_WORLDS: steps that were made; `raw` has their observations,
	 * `results` the ids that the world's own commands made; `status` may be set although steps
	 * were made. */
	uint32_t steps;
	char name
		[WIRE_NAME_MAX +
		 1]; /* REPLY_FORKED: of the new world; REPLY_SAVED: of the snapshot, "" for a moment */
	struct wire_name shape; /* REPLY_SHAPE */
	enum status kept;	/* REPLY_STEPPED: not OK if the requested moment was not kept */
};

struct report {
	struct report *next; /* used by the queue */
	enum report_kind kind;
	/* What it tells is on disk when the journal has stored this many records (journal_records). */
	uint64_t stored_at;
	union {
		struct tick_report ticked;
		struct reply_report reply;
	};
};

/* What a report of a world lists beside its bodies. */
struct report_choice {
	bool contacts, joints, particles;
};

/* Packs the contact points assigned to `body`, one of the report's (world_assigned_contacts), into
 * `contacts_packed`; `count` ≤ WIRE_BODY_CONTACTS. NO_MEMORY: the body then has none. */
MUST_CHECK enum status report_put_contacts(struct tick_report *report, struct report_body *body,
					   const struct contact_view *views, uint32_t count);
/* A joint in the form of the wire. */
struct wire_joint report_wire_joint(const struct joint_view *view);
/* Frees what a report owns; its contents are undefined from then on. */
void report_release(struct report *report);
/* Frees a report and all it owns. */
void report_destroy(struct report *report);

#endif
