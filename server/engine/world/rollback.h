/* rollback.h: coding of tables as a difference against a base. Private to this folder; engine.h has the
 * functions for other rooms, and rollback_code.c describes the format.
 */
#ifndef CAIRN_ENGINE_WORLD_ROLLBACK_H
#define CAIRN_ENGINE_WORLD_ROLLBACK_H

#include "server/base/array.h"
#include "server/engine/world/checking.h"
#include "server/engine/world/world.h"

struct rollback_base {
	struct tables tables; /* each has a clear row behind its last one, for rows that it lacks */
	uint64_t number;      /* hash of all rows and columns */
	uint64_t charge;      /* tables_charge */
};

/* Memory that a world keeps between calls, so that a steady series of them does not allocate. */
struct rollback_work {
	struct tables tables; /* the state that is decoded; after a restore the old one */
	ARRAY_OF(uint32_t) taken, different; /* rows of the table at hand */
	struct checking checking;
};

/* Fills the columns `to`, which may have any rows before, with the rows and columns of `from`, and
 * reserves one clear row more in each table. NO_MEMORY. */
MUST_CHECK enum status rollback_copy(struct tables *to, const struct tables *from);
/* Appends what differs from the base. NO_MEMORY: nothing is appended. */
MUST_CHECK enum status rollback_encode(const struct tables *tables,
				       const struct rollback_base *base, struct rollback_work *work,
				       struct bytes *out);
/* Decodes into work->tables. CORRUPT, NO_MEMORY. Invariants of the tables are not checked. */
MUST_CHECK enum status rollback_decode(const struct rollback_base *base, const uint8_t *data,
				       size_t bytes, struct rollback_work *work,
				       struct reason *why);
#endif
