/* run_output.h: what `cairnd run` writes while it steps: a recording and a trajectory; and when it stops. */
#ifndef CAIRN_COMMANDS_RUN_OUTPUT_H
#define CAIRN_COMMANDS_RUN_OUTPUT_H

#include <stdio.h>

#include "server/base/output_file.h"
#include "server/engine/engine.h"
#include "server/options.h"
#include "server/store/shape_library.h"
#include "server/store/world_file.h"

/* --until: the first tick at which it holds is the last. */
struct run_condition {
	enum { UNTIL_NEVER, UNTIL_ASLEEP, UNTIL_ENERGY, UNTIL_TICK } kind;
	double value; /* J; the tick */
};
/* NULL: never. RANGE. */
MUST_CHECK enum status run_condition_parse(const char *text, struct run_condition *out,
					   struct reason *why);
bool run_condition_holds(const struct run_condition *self, const struct world *world);

/* One line of numbers for each body, ascending by id, with 17 digits; `tick` is put first unless negative. */
void run_print_bodies(FILE *file, const struct world *world, const body_id *ids, uint32_t count,
		      int64_t tick);
#define RUN_BODY_COLUMNS "id,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz"

enum { RUN_RECORD, RUN_TRAJECTORY, RUN_POSES, RUN_FILES };

struct run_output {
	const struct options *options;
	struct output_file files[RUN_FILES];
	FILE *trajectory; /* NULL: none */
	body_id *ids;
	uint32_t ids_room;
	bool records;
	struct world_file file;
	struct record_buffer records_waiting;
	uint64_t waiting, since_checkpoint; /* ticks */
};

/* Takes the files of the options: RANGE, IO, EXISTS as output_files_check. */
MUST_CHECK enum status run_output_init(struct run_output *self, const struct options *options,
				       struct reason *why);
/* Opens recording and trajectory and writes the first state. */
MUST_CHECK enum status run_output_open(struct run_output *self, const struct world *world,
				       const struct shape_library *shapes, struct reason *why);
/* A tick was made. */
MUST_CHECK enum status run_output_tick(struct run_output *self, const struct world *world,
				       struct reason *why);
/* Writes the last state and closes both. `status` is that of the run; after a failure what was made
 * before it is kept. */
MUST_CHECK enum status run_output_close(struct run_output *self, const struct world *world,
					enum status status, struct reason *why);

#endif
