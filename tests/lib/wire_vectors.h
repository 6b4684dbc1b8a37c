/* wire_vectors.h: examples of the wire format, as files with which any other implementation can
 * test itself.
 *
 * Each function writes one file of tests/data/wire/ (see docs/PROTOCOL.md, "Test vectors") or, for
 * the session, the block of hex in that page. tests/wire/wire_vectors is the command that writes
 * them; the unit test test_vectors compares the committed files with the output of these functions. */
#ifndef CAIRN_TESTS_WIRE_VECTORS_H
#define CAIRN_TESTS_WIRE_VECTORS_H

#include <stdio.h>

#include "protocol/cursor.h"

/* messages.json: every message, with all its fields and with the required ones only. */
void wire_vectors_messages(FILE *out);
/* bodies.json: bodies, and the frames and hashes they make in each profile. */
void wire_vectors_bodies(FILE *out);
/* queries.json: a query and an answer of every kind (wire_queries.c). */
void wire_vectors_queries(FILE *out);
/* The table of queries in docs/PROTOCOL.md. */
void wire_vectors_query_table(FILE *out);
/* hostile.json: contents that must be refused, with the status. */
void wire_vectors_hostile(FILE *out);
/* Sections of docs/PROTOCOL.md, in Markdown. */
void wire_vectors_session(FILE *out); /* a short session in hex, with what each frame means */
void wire_vectors_tables(FILE *out);  /* every message with its fields */
void wire_vectors_commands(FILE *out);
void wire_vectors_columns(FILE *out);
void wire_vectors_joint_columns(FILE *out);
void wire_vectors_particle_columns(FILE *out);
void wire_vectors_statuses(FILE *out);
void wire_vectors_capabilities(FILE *out);
void wire_vectors_observations(FILE *out); /* of STEP_WORLDS */
void wire_vectors_numbers(FILE *out);	   /* modes, actions, profiles, flags, wants */
void wire_vectors_parameters(FILE *out);
void wire_vectors_shape_limits(FILE *out);

/* Any MessagePack value as JSON; bytes as {"bin": hex}. */
void wire_vectors_value(FILE *out, struct wire_cursor *in);

struct wire_vectors_file {
	const char *name; /* of the file in tests/data/wire/, or of the section */
	void (*write)(FILE *out);
};
/* All of them; the last entry of each has no name. */
extern const struct wire_vectors_file WIRE_VECTORS_FILES[];
extern const struct wire_vectors_file WIRE_VECTORS_SECTIONS[];

#endif
