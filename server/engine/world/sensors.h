/* sensors.h: bodies with BODY_SENSOR have no contacts; the world tells which bodies they overlap,
 * and when that begins and ends. Private to the world's step. */
#ifndef CAIRN_ENGINE_WORLD_SENSORS_H
#define CAIRN_ENGINE_WORLD_SENSORS_H

#include "server/base/array.h"
#include "server/engine/collision/box_queries.h"
#include "server/engine/math/pose.h"
#include "server/engine/world/tables.h"

struct world;

/* A pair that met and parted within a tick. */
struct sensor_crossing {
	uint64_t pair;	 /* id of the sensor << 32 | id of the body */
	double fraction; /* of the tick: when their surfaces met */
};

/* The space that a fast body's shapes sweep in the tick. */
struct sensor_sweep {
	struct aabb box;
	uint32_t fast; /* index into the list of fast bodies */
};

/* Memory of the pass, kept from tick to tick. All zero at first. */
struct sensors {
	struct box_queries queries;  /* of the shapes of sensors */
	ARRAY_OF(uint32_t) querying; /* the placement of each query */
	ARRAY_OF(uint64_t)
	pairs, scratch;		 /* sensor << 32 | body: overlaps at the tick's end, ascending */
	ARRAY_OF(uint64_t) fast; /* rows of bodies that move far in this tick, ascending … */
	ARRAY_OF(pose) from;	 /* … and their poses at its beginning */
	ARRAY_OF(struct sensor_crossing) crossings;
	ARRAY_OF(struct sensor_sweep) sweeps; /* of the fast bodies, ascending by box.min.x */
	bool any;			      /* there is a sensor in this tick */
	bool lost; /* memory ran out: the overlaps of the last tick stay */
};

void sensors_release(struct sensors *self);
/* Before the method's step: notes the bodies that are fast. */
void sensors_begin(struct world *world);
/* After it: finds the overlaps, notes EVENT_SENSOR_BEGIN and EVENT_SENSOR_END for what changed, and
 * stores them. Nothing without sensors. Costs with the sensors, what is near them, and the fast
 * bodies. */
void sensors_end(struct world *world);

#endif
