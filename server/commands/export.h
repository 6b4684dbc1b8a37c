/* export.h: what bodies did, written as a file of another program's format.
 *
 * The states come one after the other from past_play_file; a sink turns each into rows, messages or records
 * of its format. All numbers are SI; times are tick / rate in seconds.
 */
#ifndef CAIRN_COMMANDS_EXPORT_H
#define CAIRN_COMMANDS_EXPORT_H

#include <stdio.h>

#include "protocol/scene/scene.h"
#include "server/base/output_file.h"
#include "server/past/past.h"

struct export_sink;
struct export_ops {
	enum status (*begin)(struct export_sink *self, struct reason *why);
	/* `sampled`: the state is one of every n; events of the others count, too. */
	enum status (*state)(struct export_sink *self, const struct world *world,
			     struct recorded_place place, bool sampled, struct reason *why);
	enum status (*end)(struct export_sink *self, struct reason *why);
	void (*release)(struct export_sink *self);
};
struct export_sink {
	const struct export_ops *ops;
	const char *source;	/* path of the world's file */
	struct output_file out; /* the export */
	struct past_range range;
	const struct scene *names; /* of bodies; NULL: none */
	FILE *file;		   /* of `out`; NULL for .sqlite */
	uint64_t states, rows;
	/* Scratch. */
	ARRAY_OF(body_id) ids;
	struct bytes bytes;
};

/* Writes the whole export. `names`: the scene file that the world was made of, or NULL. On failure
 * the file is removed. */
MUST_CHECK enum status export_file(const char *source, const char *path, const char *names,
				   const struct past_range *range, uint64_t *states, uint64_t *rows,
				   struct reason *why);
/* The name of a body, "" without one. A body that was made later than the scene has none. */
void export_name(const struct export_sink *self, body_id body, char name[SCENE_BODY_NAME]);
/* Reports a failed write or a lack of memory. */
enum status export_failed(enum status status, struct reason *why);
double export_time(const struct world *world, uint64_t tick);

extern const struct export_ops export_csv, export_npy, export_json; /* export_rows.c */
struct export_sink *export_mcap_create(void);
struct export_sink *export_sqlite_create(void);

#endif
