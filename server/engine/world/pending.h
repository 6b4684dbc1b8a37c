/* pending.h: batches accepted for a later tick.
 *
 * They are state: rows of the pending table in the order in which they will be applied (due, session,
 * batch; equal ones as they came), their commands in flat form in pending_bytes, in the same order
 * without gaps. So two worlds that hold the same batches hold the same bytes.
 */
#ifndef CAIRN_ENGINE_WORLD_PENDING_H
#define CAIRN_ENGINE_WORLD_PENDING_H

#include "server/engine/world/world.h"

/* Checks the values of a batch for a later tick and writes it to the end of world->encoded. The
 * status of its first bad command; LIMIT; NO_MEMORY. Changes no table. */
MUST_CHECK enum status pending_encode(struct world *world, const struct batch *batch,
				      uint32_t stored_before, size_t *bytes, struct reason *why);
/* Reserves room for `batches` more batches with `bytes` more bytes. NO_MEMORY. */
MUST_CHECK enum status pending_reserve(struct world *world, uint32_t batches, size_t bytes);
/* Inserts an encoded batch; room for it is reserved. */
void pending_insert(struct world *world, const struct batch *batch, const uint8_t *data,
		    size_t bytes);

/* Removes all stored restricted batches of the session. */
void pending_withdraw(struct world *world, uint32_t session);

/* How many batches are due at the world's tick. */
uint32_t pending_due(const struct world *world);
/* Reads batch `row`; commands and attachments are pushed to `arena`. MALFORMED only if the tables were
 * not checked. */
MUST_CHECK enum status pending_read(const struct tables *tables, uint32_t row, struct arena *arena,
				    struct batch *out);
/* Removes the first `rows` batches. */
void pending_remove(struct world *world, uint32_t rows);

#endif
