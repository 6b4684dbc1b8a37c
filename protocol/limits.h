/* limits.h: every bound on the wire, with its reason.
 *
 * "Up" is client to server, "down" is server to client. Sizes and counts in a frame are checked
 * against these bounds before anything is parsed, so a hostile frame allocates no memory.
 */
#ifndef CAIRN_PROTOCOL_LIMITS_H
#define CAIRN_PROTOCOL_LIMITS_H

#include <stdint.h>

/* The version of this protocol. Major must match; minor is the smaller of the two sides. */
#define WIRE_MAJOR 1
#define WIRE_MINOR 0

/* A frame is 0xC6, a big-endian length of four bytes, and that many bytes of content. The limits
 * below count the content only. */
#define WIRE_FRAME_HEADER 5
/* Before HELLO: enough for a handshake with the longest token, no more. */
#define WIRE_FRAME_HELLO 4096
#define WIRE_TOKEN_MAX 2048
/* Batches are bounded by their bytes: a controller's hold 300 spawns with every field given as a
 * double, and a thousand ordinary ones. The limit of lesser roles is smaller, because they have
 * many connections. */
#define WIRE_FRAME_UP 262144
#define WIRE_FRAME_UP_GUEST 65536
/* A whole-world frame of ten thousand bodies fits; more is sent in parts. Negotiated down. */
#define WIRE_FRAME_DOWN 1048576
/* The smallest frame limit that can be negotiated: a body of WIRE_BODY_SHAPES shapes in any
 * profile, and the result of a batch of WIRE_BATCH_MAX commands, must fit. */
#define WIRE_FRAME_MIN 8192

/* The smallest frame limit for a subscription to contacts: a body with WIRE_BODY_CONTACTS contact
 * points must fit in any profile. */
#define WIRE_FRAME_CONTACTS 131072

/* The smallest frame limit for a subscription to particles: a whole block must fit in any profile,
 * and all particles of a world into WIRE_PARTS_MAX parts. */
#define WIRE_FRAME_PARTICLES 65536
#define WIRE_BLOCK_ROWS 512 /* particles of one block */

/* Structure of untrusted frames. Eight levels hold every message with two to spare. Elements are
 * array items, and keys and values of maps, counted over the whole frame; each takes a byte at
 * least, so the frame's limit is theirs as well. */
#define WIRE_DEPTH_MAX 8
#define WIRE_ELEMENTS_UP WIRE_FRAME_UP
#define WIRE_ELEMENTS_DOWN 1048576
#define WIRE_STRING_UP 256
#define WIRE_STRING_DOWN 65536

/* Integers are exact in a double, the only number type of many JavaScript programs. */
#define WIRE_INTEGER_MAX (INT64_C(1) << 53)
/* Floats are finite; the fields' own bounds are much smaller (commands.def). */
#define WIRE_REAL_MAX 1e300

/* Lists within messages. */
#define WIRE_CAPS_MAX 32
#define WIRE_BATCH_MAX 1024	   /* commands of a batch: a few milliseconds of checking */
#define WIRE_FOLLOW_MAX 64	   /* bodies a subscription follows */
#define WIRE_AREAS_MAX 16	   /* areas of a subscription, beside its box */
#define WIRE_APPLIED_MAX 64	   /* subscriptions a resuming client names */
#define WIRE_STEPS_MAX 10000	   /* ticks of one STEP */
#define WIRE_GROUP_MAX 256	   /* worlds of one STEP_WORLDS; as many a session may join */
#define WIRE_OBSERVE_MAX 256	   /* parts of an observation, each with many items */
#define WIRE_OBSERVE_NUMBERS 65536 /* numbers of one observation */
#define WIRE_RESULTS_KEPT 1024	   /* results per (session, world), for batches that are repeated */
#define WIRE_TITLE_MAX 200	   /* bytes of a recording's title */
#define WIRE_NAME_MAX 64	   /* bytes of a world's, method's or snapshot's name */
#define WIRE_SCENE_TEXT 196608	   /* bytes of a scene file in a message */
#define WIRE_NOTES_MAX 2000	   /* bytes of the notes about a scene; the log has all */
#define WIRE_SCENE_LETS 64	   /* variables of a scene */
#define WIRE_SHAPE_PART 57344	   /* bytes of one part of a shape: fits into a frame */
#define WIRE_SHAPE_PARTS 1024	   /* parts of a shape: 56 MiB, far beyond any quota */
#define WIRE_PARTS_MAX 4096	   /* parts of one SNAPSHOT or DELTA */
#define WIRE_BODY_SHAPES 64	   /* shapes of one body on the wire */
#define WIRE_BODY_CONTACTS 1024	   /* contact points that one body holds on the wire */
#define WIRE_RING_TICKS 64	   /* ticks of history the server keeps to base deltas on */

/* Milliseconds for which a session without a connection can be resumed. */
#define WIRE_RESUME_MS 30000
/* Milliseconds within which the whole HELLO must arrive. */
#define WIRE_HELLO_MS 2000

#endif
