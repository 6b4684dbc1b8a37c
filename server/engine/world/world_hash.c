#include "server/base/body_hash.h"
#include "server/base/hash.h"
#include "server/engine/world/world.h"

_Static_assert((uint32_t)TABLE_COUNT <= (uint32_t)WORLD_TABLES_MAX, "every table has a place");

uint64_t world_tick_hash(const struct world *world)
{
	return body_hash_finish(world->tables.world.tick[0], world->changes.sum,
				world->changes.count);
}

/* XXH3 of the tables' hashes, little-endian, in order of numbers. */
uint64_t tables_state_hash(const struct tables *tables, uint64_t per_table[WORLD_TABLES_MAX])
{
	struct hasher hasher;
	hasher_init(&hasher, 0);
	for (uint32_t table = 0; table < TABLE_COUNT; table++) {
		uint64_t hash = tables_hash(tables, table);
		if (per_table != NULL)
			per_table[table] = hash;
		hasher_u64(&hasher, hash);
	}
	return hasher_digest(&hasher);
}

uint64_t world_state_hash(const struct world *world, uint64_t per_table[WORLD_TABLES_MAX],
			  uint32_t *table_count)
{
	if (table_count != NULL)
		*table_count = TABLE_COUNT;
	return tables_state_hash(&world->tables, per_table);
}

const char *world_table_name(uint32_t table)
{
	return table < TABLE_COUNT ? table_infos[table].name : "unknown";
}
