/* world_hash.c: the hashes of a world. The tick hash covers what clients see of bodies and costs
 * nothing here, because changes.c keeps its sum; the state hash covers every table and reads all
 * of them. The method saves its state first, because its block is a table too.
 */
#include "server/base/body_hash.h"
#include "server/engine/world/world.h"

#include <string.h>

_Static_assert((uint32_t)TABLE_COUNT <= (uint32_t)WORLD_TABLES_MAX, "every table has a place");

uint64_t world_tick_hash(const struct world *world)
{
	return body_hash_finish(world->tables.world.tick[0], world->changes.sum,
				world->changes.count);
}

uint64_t tables_state_hash(const struct tables *tables, uint64_t per_table[WORLD_TABLES_MAX])
{
	uint64_t hashes[TABLE_COUNT];
	for (uint32_t table = 0; table < TABLE_COUNT; table++)
		hashes[table] = tables_hash(tables, table);
	if (per_table != NULL)
		memcpy(per_table, hashes, sizeof hashes);
	return table_hashes_join(hashes);
}

uint64_t world_state_hash(const struct world *world, uint64_t per_table[WORLD_TABLES_MAX],
			  uint32_t *table_count)
{
	if (table_count != NULL)
		*table_count = TABLE_COUNT;
	method_save(&world->method, &world->dynamics);
	return tables_state_hash(&world->tables, per_table);
}

const char *world_table_name(uint32_t table)
{
	return table < TABLE_COUNT ? table_infos[table].name : "unknown";
}
