/* wire_streams.h: recorded streams of state, which every client reads: a world of a few bodies that
 * move, turn, appear and disappear, and joints between them, encoded in each profile by frames of
 * every kind: snapshots, differences to the last frame, differences that join several ticks,
 * absolute frames in between (after which differences continue), and frames in parts. Everything is
 * drawn from a fixed seed, so the bytes are the same in every run. */
#ifndef CAIRN_TESTS_WIRE_STREAMS_H
#define CAIRN_TESTS_WIRE_STREAMS_H

#include <stdio.h>

#include "protocol/joint_rows.h"
#include "protocol/message.h"

enum {
	WIRE_STREAM_BODIES = 8,
	WIRE_STREAM_PARTS = 6,
	WIRE_STREAM_JOINTS_MAX = 6,
	WIRE_STREAM_BYTES = 4096
};

struct wire_stream_frame {
	const char *kind; /* snapshot, difference, joined, absolute */
	uint32_t epoch;
	uint64_t tick;
	/* Whole messages with their headers. */
	uint8_t parts[WIRE_STREAM_PARTS][WIRE_STREAM_BYTES];
	uint32_t part_bytes[WIRE_STREAM_PARTS], part_count;
	/* The content of a mirror after the last part, ascending ids. */
	struct wire_body bodies[WIRE_STREAM_BODIES];
	struct wire_quantised steps[WIRE_STREAM_BODIES]; /* in view and sim */
	uint32_t count;
	struct wire_joint joints[WIRE_STREAM_JOINTS_MAX];
	uint32_t joint_count;
};

/* The columns of all streams. */
extern const wire_mask WIRE_STREAM_FIELDS, WIRE_STREAM_JOINTS;
/* Generates the stream of one profile, frame by frame. */
void wire_stream_tell(enum wire_profile profile,
		      void (*take)(const struct wire_stream_frame *frame, void *context),
		      void *context);
/* streams.json */
void wire_vectors_streams(FILE *out);
/* particles.json (wire_particles.c) */
void wire_vectors_particles(FILE *out);

#endif
