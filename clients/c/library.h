/* library.h: the objects behind cairn.h, shared by the files of this room only. A client of
 * cairn.h is a client of clients/lib and the worlds that it joined. */
#ifndef CAIRN_CLIENTS_C_LIBRARY_H
#define CAIRN_CLIENTS_C_LIBRARY_H

#include "clients/c/cairn.h"
#include "clients/lib/cairn.h"
#include "server/base/array.h"

struct cairn_joined {
	struct cairn_connected *client; /* borrowed: its owner */
	struct cairn_world info;
	uint64_t sub; /* of cairn_world_watch; 0: none */
};

struct cairn_connected {
	struct cairn *wire;
	cairn_client_options options;
	ARRAY_OF(struct cairn_joined *) worlds; /* each owned */
	uint64_t last_sub;
	/* Owned; what was returned last is borrowed from them. `watched` is of the callbacks'
	 * frames, because a call that waits for a state runs them. */
	struct library_bodies {
		cairn_body *items;
		uint32_t count, capacity;
	} stepped, watched;
	struct {
		cairn_contact *items;
		uint32_t count, capacity;
	} contacts;
	struct library_joints {
		cairn_joint *items;
		uint32_t count, capacity;
	} joints, watched_joints;
	ARRAY_OF(cairn_particle) watched_particles;
	struct {
		cairn_value *items;
		uint32_t count, capacity;
	} values;
	struct {
		cairn_colour_run *items;
		uint32_t count, capacity;
	} colours;
	struct {
		cairn_visual *items;
		uint32_t count, capacity;
	} visuals;
	struct {
		cairn_label *items;
		uint32_t count, capacity;
	} labels;
};

/* Copies a reason to the caller's error, which may be NULL; returns `status` as a number. */
int library_fail(enum status status, const struct reason *why, cairn_error *error);
/* A reason whose index is "none". */
struct reason library_reason(void);
enum status library_no_memory(struct reason *why);
enum status library_malformed(struct reason *why, const char *what);
/* A packed answer as values, which last until the next call. */
MUST_CHECK enum status library_values(cairn_client *client, struct wire_slice packed,
				      const cairn_value **out, struct reason *why);
void library_body(const struct wire_body *from, cairn_body *to);
cairn_vec3 library_vec3(const double from[3]);
/* Without anchors. */
void library_joint(const struct wire_joint *from, cairn_joint *to);
/* Calls options.frame with the bodies of a mirror, and options.event (observe.c). */
void library_frame(void *context, uint64_t sub, const struct mirror *mirror);
void library_event(void *context, uint64_t sub, uint64_t tick, const struct event *event);

#endif
