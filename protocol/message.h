/* message.h: messages as structs, derived from messages.def.
 *
 * A decoded message is a set of values and of slices into its frame: nothing is copied or
 * allocated, so the frame must outlive the message. The same structs are filled to send a message.
 *
 * Kinds of fields, as C and on the wire:
 *
 *   UINT     uint64_t             integer 0…max
 *   INT      int64_t              integer −max…max
 *   REAL     double               float or integer, finite, magnitude ≤ max
 *   TEXT     struct wire_slice    str, UTF-8 without NUL, ≤ max bytes
 *   BIN      struct wire_slice    bin, ≤ max bytes; nil is empty
 *   NAME     struct wire_name     bin of 32 bytes: the SHA-256 of a shape
 *   HASH     struct wire_hash     nil, or bin of 8 bytes, big-endian
 *   OPTION   struct wire_option   nil, or integer 0…max
 *   VERSION  struct wire_version  [major, minor]
 *   RATE     struct wire_rate     [numerator, denominator], at most 2^31, denominator not 0
 *   BOX      struct wire_box      nil, or [min x, y, z, max x, y, z], min ≤ max
 *   CAPS     uint32_t             list of names (capabilities.def); unknown ones are ignored
 *   LIMITS   struct wire_limits   map: frame_up, frame_down; unknown keys are ignored
 *   IDS      struct wire_list     array of integers 0…2^32−1
 *   REALS    struct wire_list     array of finite floats or integers
 *   LIST     struct wire_list     array of anything
 *   MAP      struct wire_list     map from str to anything; `count` is the number of pairs
 *   RAW      struct wire_slice    one value of any type; empty is nil
 */
#ifndef CAIRN_PROTOCOL_MESSAGE_H
#define CAIRN_PROTOCOL_MESSAGE_H

#include "protocol/limits.h"
#include "server/base/status.h"

/* Borrowed bytes. A TEXT is not terminated by NUL. */
struct wire_slice {
	const uint8_t *at;
	uint32_t bytes;
};

/* The items of an array, one after the other, without its header (borrowed). */
struct wire_list {
	const uint8_t *at;
	uint32_t bytes;
	uint32_t count;
};

struct wire_name {
	uint8_t bytes[32];
};

struct wire_hash {
	bool set;
	uint64_t value;
};

struct wire_option {
	bool set;
	uint64_t value;
};

struct wire_version {
	uint32_t major;
	uint32_t minor;
};

struct wire_rate {
	uint32_t num;
	uint32_t den;
};

struct wire_box {
	bool set;
	double min[3];
	double max[3];
};

/* Bytes of frame content; 0: the limit of the other side. */
struct wire_limits {
	uint32_t frame_up;
	uint32_t frame_down;
};

/* ---- numbers of fields; all permanent --------------------------------------------------- */

/* WORLD_INFO.mode */
enum wire_mode {
	WIRE_MODE_RUNNING = 0,
	WIRE_MODE_PAUSED = 1,
	WIRE_MODE_LOCKSTEP = 2,
	WIRE_MODE_BARRIER = 3,
	WIRE_MODE_FAILED = 4, /* paused because a limit was exceeded or the journal failed */
};

/* CONTROL.action */
enum wire_control {
	WIRE_CONTROL_PAUSE = 0,
	WIRE_CONTROL_RESUME = 1,
	WIRE_CONTROL_SPEED = 2, /* value: times real time */
	WIRE_CONTROL_LOCKSTEP =
		3, /* this session gets the stepping lease until it ends or sends RESUME */
	WIRE_CONTROL_BARRIER = 4, /* value: k; a tick runs when k sessions have sent STEP for it */
};

/* SAVE.kind, RESTORE.kind */
enum wire_save {
	WIRE_SAVE_SNAPSHOT = 0, /* by name, on disk if the world has a file */
	WIRE_SAVE_MOMENT = 1,	/* by name, in memory: for rollbacks */
};

/* RECORD.action */
enum wire_record {
	WIRE_RECORD_START = 0,
	WIRE_RECORD_STOP = 1,
	WIRE_RECORD_SAVE = 2,
	WIRE_RECORD_REMOVE = 3,
	WIRE_RECORD_READ = 4,
	WIRE_RECORD_WRITE = 5,
};

/* COMMANDS.late */
enum wire_late {
	WIRE_LATE_APPLY = 0,  /* at the next tick */
	WIRE_LATE_REFUSE = 1, /* RESULT(late) */
};

/* SUBSCRIBE.profile */
enum wire_profile {
	WIRE_PROFILE_PLAIN = 0, /* arrays of numbers, for ten-line clients */
	WIRE_PROFILE_EXACT = 1, /* raw double bits, by column */
	WIRE_PROFILE_VIEW = 2,	/* integers of 1/512 m (quantise.h), for viewers */
	WIRE_PROFILE_SIM = 3,	/* integers of 1/4096 m, for clients that predict motion */
	WIRE_PROFILES = 4,
};

/* STEP.want, a sum. The observation is nil without any of BODIES, TOTALS, EXACT, JOINTS, else the
 * array [bodies as `plain` rows or nil, totals as ANSWER(totals) or nil, bodies as an `exact` block
 * or nil]; with JOINTS it has a fourth item, all joints as `plain` rows with all their columns. */
enum wire_want {
	WIRE_WANT_HASH = 1,
	WIRE_WANT_BODIES = 2,
	WIRE_WANT_TOTALS = 4,
	WIRE_WANT_EXACT = 8,
	WIRE_WANT_JOINTS = 16,
	WIRE_WANT_JOINTS_HASH = 32,
};

/* Flags of SNAPSHOT, DELTA, ROWS and BLOCKS. */
enum wire_frame_flags {
	WIRE_FRAME_ABSOLUTE = 1,  /* columns are values, not differences to the base */
	WIRE_FRAME_TICK_HASH = 2, /* `hash` is the tick hash; else the view hash */
	WIRE_FRAME_ROWS =
		4, /* ROWS of the same state follow the last part, and complete the frame */
	WIRE_FRAME_WHOLE =
		8, /* of ROWS and BLOCKS: part 0 empties the set; the rows are all of it */
	WIRE_FRAME_BLOCKS =
		16, /* BLOCKS of the same state follow, after ROWS, and complete the frame */
	WIRE_FRAME_PARTIAL = 64, /* changes beyond the budget were left out and follow later */
};

/* ---- messages -------------------------------------------------------------------------- */

enum message_type {
	MESSAGE_NONE = 0,
#define MESSAGE(number, NAME, name, from, layout, role, doc) MESSAGE_##NAME = (number),
#define RESERVED(number, NAME, name, from, role, doc) MESSAGE_##NAME = (number),
#include "protocol/messages.def"
};

#define WIRE_TYPE_UINT uint64_t
#define WIRE_TYPE_INT int64_t
#define WIRE_TYPE_REAL double
#define WIRE_TYPE_TEXT struct wire_slice
#define WIRE_TYPE_BIN struct wire_slice
#define WIRE_TYPE_NAME struct wire_name
#define WIRE_TYPE_HASH struct wire_hash
#define WIRE_TYPE_OPTION struct wire_option
#define WIRE_TYPE_VERSION struct wire_version
#define WIRE_TYPE_RATE struct wire_rate
#define WIRE_TYPE_BOX struct wire_box
#define WIRE_TYPE_CAPS uint32_t
#define WIRE_TYPE_LIMITS struct wire_limits
#define WIRE_TYPE_IDS struct wire_list
#define WIRE_TYPE_REALS struct wire_list
#define WIRE_TYPE_LIST struct wire_list
#define WIRE_TYPE_MAP struct wire_list
#define WIRE_TYPE_RAW struct wire_slice

/* struct msg_hello { struct wire_version protocol; … }; and so on. */
#define MESSAGE(number, NAME, name, from, layout, role, doc) struct msg_##name {
#define NEED(kind, field, max, doc) WIRE_TYPE_##kind field;
#define FIELD(kind, field, max, fallback, doc) WIRE_TYPE_##kind field;
#define END(name)                                                                                  \
	}                                                                                          \
	;
#include "protocol/messages.def"

struct message {
	enum message_type type;
	union {
#define MESSAGE(number, NAME, name, from, layout, role, doc) struct msg_##name name;
#include "protocol/messages.def"
	};
};

/* ---- descriptions of messages ------------------------------------------------------- */

enum wire_role {
	WIRE_ROLE_NOBODY = 0, /* before the handshake */
	WIRE_ROLE_OBSERVER = 1,
	WIRE_ROLE_PLAYER = 2,
	WIRE_ROLE_CONTROLLER = 3,
	WIRE_ROLE_ADMIN = 4,
};
enum { WIRE_ROLES = WIRE_ROLE_ADMIN + 1 };

enum wire_from { WIRE_FROM_CLIENT = 1, WIRE_FROM_SERVER = 2, WIRE_FROM_EITHER = 3 };

enum wire_layout { WIRE_LAYOUT_ARRAY = 0, WIRE_LAYOUT_MAP = 1 };

enum wire_kind {
	WIRE_KIND_UINT,
	WIRE_KIND_INT,
	WIRE_KIND_REAL,
	WIRE_KIND_TEXT,
	WIRE_KIND_BIN,
	WIRE_KIND_NAME,
	WIRE_KIND_HASH,
	WIRE_KIND_OPTION,
	WIRE_KIND_VERSION,
	WIRE_KIND_RATE,
	WIRE_KIND_BOX,
	WIRE_KIND_CAPS,
	WIRE_KIND_LIMITS,
	WIRE_KIND_IDS,
	WIRE_KIND_REALS,
	WIRE_KIND_LIST,
	WIRE_KIND_MAP,
	WIRE_KIND_RAW,
};

struct message_field {
	const char *name;
	const char *doc;
	enum wire_kind kind;
	bool needed;
	uint32_t offset;  /* bytes from the start of struct message */
	double max;	  /* see messages.def; exact: at most 2^53 for integers */
	int64_t fallback; /* of UINT, INT and REAL; other kinds are empty or unset */
};

struct message_info {
	enum message_type type;
	const char *name; /* as in messages.def, e.g. "WORLD_LIST" */
	const char *doc;
	enum wire_from from;
	enum wire_layout layout;
	enum wire_role role; /* the least role that may send it */
	bool reserved;	     /* decoded as STATUS_UNSUPPORTED */
	uint32_t field_count;
	const struct message_field *fields;
};

/* NULL for a number without a message. */
const struct message_info *message_info(uint32_t type);
/* The i-th message in order of numbers, NULL past the end: for tables and tests. */
const struct message_info *message_info_at(size_t index);

/* Zeroes a message and sets its type and the fallbacks of its fields. */
void message_init(struct message *self, enum message_type type);

/* "observer" and so on; the empty slice of an unknown role is "nobody". */
const char *wire_role_name(enum wire_role role);
/* STATUS_RANGE for a name that is no role of a session. */
MUST_CHECK enum status wire_role_parse(struct wire_slice name, enum wire_role *role);
/* May a session of this role send this message? True for unknown and reserved types, because they
 * have their own errors. */
bool wire_role_may(enum wire_role role, uint32_t type);

/* The slice of a C string (borrowed). */
struct wire_slice wire_text(const char *text);

/* Does an ERROR of this status end the connection, so that GOODBYE of the same status follows? Only
 * if the connection cannot be used further: the bytes are not frames, the handshake failed, the
 * peer does not read, the server ends. Every other fault refuses one message, and the connection
 * continues. */
bool wire_status_closes(enum status status);
/* The reason for which the server sends a GOODBYE of this status, for docs/PROTOCOL.md; NULL: it
 * never does. */
const char *wire_status_goodbye(enum status status);

#endif
