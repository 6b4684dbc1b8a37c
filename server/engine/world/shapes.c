/* shapes.c: the shapes that a world may use: rows of the shape table, and references to the shapes.
 *
 * A shape is found by id and by name, each with a hash index. Names are SHA-256 hashes, but the key
 * of the index is the first eight bytes of a name, and an attacker can construct two names that
 * share these. So a found row is compared with the whole name; if the names differ, all rows are
 * searched.
 * */
#include "server/base/bytes.h"
#include "server/base/heap.h"
#include "server/engine/world/world.h"
#include "server/engine/world/visuals.h"

#include <string.h>

static uint64_t name_key(const uint8_t name[SHAPE_NAME_BYTES])
{
	return get_le64(name);
}

enum status shapes_reserve(struct world *world, uint32_t more)
{
	uint32_t rows = world->shape_used.count + more;
	enum status status = tables_reserve(&world->tables, TABLE_SHAPE, rows);
	if (status == STATUS_OK)
		status = bitset_reserve(&world->shape_used, rows);
	if (status == STATUS_OK)
		status = table_reserve(&world->shape_index, rows);
	if (status == STATUS_OK)
		status = table_reserve(&world->shape_names, rows);
	if (status != STATUS_OK)
		return status;
	uint32_t room = world->tables.shape.capacity;
	if (room > world->shape_rows) {
		const struct shape **shapes =
			heap_realloc(world->shapes, room * sizeof *world->shapes);
		if (shapes == NULL)
			return STATUS_NO_MEMORY;
		memset(shapes + world->shape_rows, 0, (room - world->shape_rows) * sizeof *shapes);
		world->shapes = shapes;
		world->shape_rows = room;
		world->dynamics.shapes = shapes;
	}
	ASSERT(world->shape_rows >= rows);
	return STATUS_OK;
}

void shapes_release(struct world *world)
{
	for (uint32_t row = 0; row < world->shape_rows; row++)
		if (world->shapes[row] != NULL)
			shape_release((struct shape *)world->shapes[row]);
	for (uint32_t wall = 0; wall < WALLS_MAX; wall++)
		if (world->wall_shapes[wall] != NULL)
			shape_release((struct shape *)world->wall_shapes[wall]);
	heap_free(world->shapes);
	bitset_release(&world->shape_used);
	table_release(&world->shape_index);
	table_release(&world->shape_names);
}

/* Sets the shape of a row whose columns are filled, and enters the row in the index of names. Of
 * two names with the same key the first stays in the index. */
static void index_shape(struct world *world, uint32_t row, const struct shape *shape)
{
	const struct shape_table *table = &world->tables.shape;
	ASSERT(row < world->shape_rows && world->shapes[row] == NULL);
	world->shapes[row] = shape_retain(shape);
	if (table->id[row] >= IDS_END)
		return; /* walls cannot be found by name */
	enum status status = table_insert(&world->shape_names, name_key(table->name[row]), row);
	ASSERT(status == STATUS_OK || status == STATUS_EXISTS);
	world->shape_bytes += shape->canonical_bytes;
}

uint32_t shapes_add(struct world *world, shape_id id, const struct shape *shape)
{
	struct shape_table *table = &world->tables.shape;
	uint32_t row = tables_take_row(&world->tables, TABLE_SHAPE, &world->shape_used);
	table->id[row] = id;
	memcpy(table->name[row], shape->name, SHAPE_NAME_BYTES);
	enum status status = table_insert(&world->shape_index, id, row);
	ASSERT(status == STATUS_OK);
	index_shape(world, row, shape);
	return row;
}

/* The row is taken by a shape that can be found by name: not a wall's. */
static bool row_has_public_name(const struct shape_table *table, uint32_t row)
{
	return table->id[row] != 0 && table->id[row] < IDS_END;
}

void shapes_remove(struct world *world, uint32_t row)
{
	struct shape_table *table = &world->tables.shape;
	ASSERT(row < table->count && table->id[row] != 0);
	ASSERT(table->uses[row] == 0);
	visuals_drop_shape(world, row);
	uint64_t key = name_key(table->name[row]);
	uint32_t named = ROW_NONE;
	if (table->id[row] < IDS_END)
		world->shape_bytes -= world->shapes[row]->canonical_bytes;
	if (table_find(&world->shape_names, key, &named) && named == row)
		table_remove(&world->shape_names, key);
	shape_release((struct shape *)world->shapes[row]);
	world->shapes[row] = NULL;
	tables_free_row(&world->tables, TABLE_SHAPE, row, &world->shape_used, &world->shape_index);
	/* Index another shape with this key, if there is one. */
	for (uint32_t other = 0; named == row && other < table->count; other++) {
		if (row_has_public_name(table, other) && name_key(table->name[other]) == key) {
			enum status status = table_insert(&world->shape_names, key, other);
			ASSERT(status == STATUS_OK);
			break;
		}
	}
}

uint32_t shapes_find(const struct world *world, shape_id id)
{
	uint32_t row = ROW_NONE;
	return table_find(&world->shape_index, id, &row) ? row : ROW_NONE;
}

uint32_t shapes_find_name(const struct world *world, const uint8_t name[SHAPE_NAME_BYTES])
{
	const struct shape_table *table = &world->tables.shape;
	uint32_t row;
	if (!table_find(&world->shape_names, name_key(name), &row))
		return ROW_NONE;
	if (memcmp(table->name[row], name, SHAPE_NAME_BYTES) == 0)
		return row;
	for (row = 0; row < table->count; row++)
		if (row_has_public_name(table, row) &&
		    memcmp(table->name[row], name, SHAPE_NAME_BYTES) == 0)
			return row;
	return ROW_NONE;
}

uint32_t shapes_count(const struct world *world)
{
	uint32_t walls = world_has_walls(world) ? walls_count(world->tables.world.planar[0]) : 0;
	return world->shape_used.count - walls;
}

static void name_text(const uint8_t name[SHAPE_NAME_BYTES], char text[2 * SHAPE_NAME_BYTES + 1])
{
	static const char digits[] = "0123456789abcdef";
	for (uint32_t i = 0; i < SHAPE_NAME_BYTES; i++) {
		text[2 * i] = digits[name[i] >> 4];
		text[2 * i + 1] = digits[name[i] & 15];
	}
	text[2 * SHAPE_NAME_BYTES] = '\0';
}

enum status shapes_rebuild(struct world *world, struct reason *why)
{
	const struct shape_table *table = &world->tables.shape;
	enum status status = shapes_reserve(world, table->count);
	if (status == STATUS_OK)
		tables_find_rows(&world->tables, TABLE_SHAPE, &world->shape_used,
				 &world->shape_index);
	for (uint32_t row = 0; row < table->count && status == STATUS_OK; row++) {
		if (table->id[row] == 0)
			continue;
		const struct shape *shape = NULL;
		if (table->id[row] >= IDS_END) {
			status = walls_cook(world);
			uint32_t wall = walls_find_name(world, table->name[row]);
			shape = status == STATUS_OK && wall < WALLS_MAX ? world->wall_shapes[wall]
									: NULL;
		} else if (world->source.find != NULL) {
			shape = world->source.find(world->source.context, table->name[row]);
		}
		if (shape != NULL) {
			index_shape(world, row, shape);
		} else if (status == STATUS_OK) {
			char text[2 * SHAPE_NAME_BYTES + 1];
			name_text(table->name[row], text);
			status = reason_set(
				why, STATUS_UNKNOWN_SHAPE, row, "shape",
				"shape %s is not in the library: upload it, then try again", text);
		}
	}
	if (status == STATUS_NO_MEMORY)
		return reason_set(why, STATUS_NO_MEMORY, -1, "shapes", "out of memory");
	return status;
}
