/* See pending.h. Encoding checks values and limits without touching a table; insertion runs
 * after every allocation of the call and cannot fail. Offsets into pending_bytes ascend without
 * gaps, so inserting or removing a batch shifts the offsets of all later rows by its size.
 */
#include "server/engine/world/pending.h"

#include "server/base/arena.h"
#include "server/base/bytes.h"
#include "server/engine/world/command_bytes.h"

#include <string.h>

enum status pending_encode(struct world *world, const struct batch *batch, uint32_t stored_before,
			   size_t *bytes, struct reason *why)
{
	const struct tables *tables = &world->tables;
	size_t start = world->encoded.count;
	if (batch->count > BATCH_COMMANDS_MAX)
		return reason_set(
			why, STATUS_RANGE, -1, "count",
			"the batch has %u commands, the limit is %u: send several batches",
			batch->count, BATCH_COMMANDS_MAX);
	for (uint32_t i = 0; i < batch->count; i++) {
		enum status status = command_check_values(&batch->commands[i], i, why);
		if (status != STATUS_OK)
			return status;
	}
	struct writer writer = writer_into(&world->encoded);
	write_u32(&writer, batch->count);
	for (uint32_t i = 0; i < batch->count; i++)
		command_write(&writer, &batch->commands[i]);
	if (writer.failed)
		return reason_set(why, STATUS_NO_MEMORY, -1, "batch",
				  "the server has no memory to store the batch for its tick");
	uint64_t rows = (uint64_t)tables->pending.count + stored_before + 1;
	uint64_t total = (uint64_t)tables->pending_bytes.count + world->encoded.count;
	uint64_t memory = tables_charge(tables) + world->encoded.count +
			  (stored_before + 1) * table_row_charge(TABLE_PENDING);
	if (rows > PENDING_MAX || total > PENDING_BYTES_MAX ||
	    memory > tables->world.memory_max[0]) {
		world->encoded.count = start;
		return reason_set(
			why, STATUS_LIMIT, -1, "pending",
			"later ticks have %llu batches of %llu bytes: limits are %u batches, %u "
			"bytes and the world's memory_max",
			(unsigned long long)rows, (unsigned long long)total, (unsigned)PENDING_MAX,
			(unsigned)PENDING_BYTES_MAX);
	}
	*bytes = world->encoded.count - start;
	return STATUS_OK;
}

enum status pending_reserve(struct world *world, uint32_t batches, size_t bytes)
{
	struct tables *tables = &world->tables;
	enum status status = tables_reserve(tables, TABLE_PENDING, tables->pending.count + batches);
	if (status == STATUS_OK)
		status = tables_reserve(tables, TABLE_PENDING_BYTES,
					tables->pending_bytes.count + (uint32_t)bytes);
	return status;
}

static bool row_is_applied_after(const struct pending_table *table, uint32_t row,
				 const struct batch *batch)
{
	if (table->due[row] != batch->at)
		return table->due[row] > batch->at;
	if (table->session[row] != batch->session)
		return table->session[row] > batch->session;
	return table->batch[row] > batch->number;
}

void pending_insert(struct world *world, const struct batch *batch, const uint8_t *data,
		    size_t bytes)
{
	struct tables *tables = &world->tables;
	struct pending_table *table = &tables->pending;
	uint32_t row = table->count;
	while (row > 0 && row_is_applied_after(table, row - 1, batch))
		row--;
	uint32_t offset = row < table->count ? table->offset[row] : tables->pending_bytes.count;
	ASSERT(offset <= tables->pending_bytes.count);
	ASSERT(batch->at > tables->world.tick[0]);
	tables_insert(tables, TABLE_PENDING, row, 1);
	tables_insert(tables, TABLE_PENDING_BYTES, offset, (uint32_t)bytes);
	memcpy(tables->pending_bytes.byte + offset, data, bytes);
	table->due[row] = batch->at;
	table->session[row] = batch->session;
	table->batch[row] = batch->number;
	table->restricted[row] = batch->restricted;
	table->offset[row] = offset;
	table->bytes[row] = (uint32_t)bytes;
	for (uint32_t later = row + 1; later < table->count; later++)
		table->offset[later] += (uint32_t)bytes;
}

uint32_t pending_due(const struct world *world)
{
	const struct pending_table *table = &world->tables.pending;
	uint32_t rows = 0;
	while (rows < table->count && table->due[rows] <= world->tables.world.tick[0])
		rows++;
	return rows;
}

enum status pending_read(const struct tables *tables, uint32_t row, struct arena *arena,
			 struct batch *out)
{
	const struct pending_table *table = &tables->pending;
	struct reader reader =
		reader_over(tables->pending_bytes.byte + table->offset[row], table->bytes[row]);
	uint32_t count = read_u32(&reader);
	if (reader.failed || count > BATCH_COMMANDS_MAX)
		return STATUS_MALFORMED;
	struct command *commands = ARENA_ARRAY(arena, struct command, count);
	if (commands == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		enum status status = command_read(&reader, arena, &commands[i]);
		if (status != STATUS_OK)
			return status;
	}
	*out = (struct batch){ .session = table->session[row],
			       .number = table->batch[row],
			       .at = table->due[row],
			       .restricted = table->restricted[row] != 0,
			       .commands = commands,
			       .count = count };
	return reader_finish(&reader);
}

void pending_remove(struct world *world, uint32_t rows)
{
	struct tables *tables = &world->tables;
	struct pending_table *table = &tables->pending;
	ASSERT(rows <= table->count);
	uint32_t bytes = rows < table->count ? table->offset[rows] : tables->pending_bytes.count;
	tables_remove(tables, TABLE_PENDING, 0, rows);
	tables_remove(tables, TABLE_PENDING_BYTES, 0, bytes);
	for (uint32_t row = 0; row < table->count; row++)
		table->offset[row] -= bytes;
}

void pending_withdraw(struct world *world, uint32_t session)
{
	struct tables *tables = &world->tables;
	struct pending_table *table = &tables->pending;
	uint8_t *data = tables->pending_bytes.byte;
	uint32_t kept = 0, at = 0;
	for (uint32_t row = 0; row < table->count; row++) {
		if (table->session[row] == session && table->restricted[row] != 0)
			continue;
		if (kept != row) {
			memmove(data + at, data + table->offset[row], table->bytes[row]);
			tables_copy_row(tables, TABLE_PENDING, kept, row);
			table->offset[kept] = at;
		}
		at += table->bytes[kept++];
	}
	ASSERT(kept <= table->count && at <= tables->pending_bytes.count);
	tables_truncate(tables, TABLE_PENDING, kept);
	tables_truncate(tables, TABLE_PENDING_BYTES, at);
}
