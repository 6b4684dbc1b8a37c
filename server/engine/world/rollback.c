/* rollback.c: states of a world as differences against a base, and back.
 *
 * A restore decodes the image into tables that the world keeps for that purpose, checks them whole, and
 * only then trades them with its own. Where the world has the same shapes, its caches are made anew in
 * their own memory, so a steady series of restores does not allocate; else a second world is made around
 * the tables, as for a full image.
 */
#include "server/base/hash.h"
#include "server/base/heap.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/world/removal.h"
#include "server/engine/world/rollback.h"

#include <string.h>

/* ---- bases ------------------------------------------------------------------------------------ */

static uint64_t hash_tables(const struct tables *tables)
{
	struct hasher hasher;
	hasher_init(&hasher, 0);
	for (uint32_t table = 0; table < TABLE_COUNT; table++) {
		uint32_t rows = tables_count(tables, table);
		hasher_u32(&hasher, rows);
		for (uint32_t i = 0; i < table_infos[table].column_count && rows > 0; i++)
			hasher_update(&hasher, tables_column(tables, table, i),
				      rows * table_infos[table].columns[i].row_bytes);
	}
	return hasher_digest(&hasher);
}

enum status rollback_base_create(const struct world *world, struct rollback_base **out)
{
	struct rollback_base *base = heap_alloc_zero(sizeof *base);
	if (base == NULL)
		return STATUS_NO_MEMORY;
	method_save(&world->method, &world->dynamics);
	if (rollback_copy(&base->tables, &world->tables) != STATUS_OK) {
		rollback_base_destroy(base);
		return STATUS_NO_MEMORY;
	}
	base->number = hash_tables(&base->tables);
	base->charge = tables_charge(&base->tables);
	*out = base;
	return STATUS_OK;
}

void rollback_base_destroy(struct rollback_base *base)
{
	if (base == NULL)
		return;
	tables_release(&base->tables);
	heap_free(base);
}

uint64_t rollback_base_bytes(const struct rollback_base *base)
{
	return sizeof *base + base->tables.bytes;
}

uint64_t rollback_memory(const struct world *world)
{
	const struct rollback_work *work = world->rollback;
	if (work == NULL)
		return 0;
	uint64_t rows = (uint64_t)work->taken.capacity + work->different.capacity;
	return sizeof *work + work->tables.bytes + rows * sizeof *work->taken.items +
	       work->checking.arena.peak;
}

/* ---- saving ----------------------------------------------------------------------------------- */

static enum status reserve_work(struct world *world)
{
	if (world->rollback != NULL)
		return STATUS_OK;
	struct rollback_work *work = heap_alloc_zero(sizeof *work);
	if (work == NULL)
		return STATUS_NO_MEMORY;
	if (arena_init(&work->checking.arena, 0) != STATUS_OK) {
		heap_free(work);
		return STATUS_NO_MEMORY;
	}
	world->rollback = work;
	return STATUS_OK;
}

enum status world_save_rollback(struct world *world, const struct rollback_base *base,
				struct bytes *out)
{
	if (reserve_work(world) != STATUS_OK)
		return STATUS_NO_MEMORY;
	method_save(&world->method, &world->dynamics);
	return rollback_encode(&world->tables, base, world->rollback, out);
}

/* ---- restoring -------------------------------------------------------------------------------- */

/* True if the shapes of the decoded state are in the same rows as the world's, and its broad phase is of
 * the same kind. */
static bool fits_caches(const struct world *world)
{
	const struct tables *ours = &world->tables, *theirs = &world->rollback->tables;
	const struct shape_table *a = &ours->shape, *b = &theirs->shape;
	return ours->world.broad_phase[0] == theirs->world.broad_phase[0] && a->count == b->count &&
	       (a->count == 0 || (memcmp(a->id, b->id, a->count * sizeof *a->id) == 0 &&
				  memcmp(a->name, b->name, a->count * sizeof *a->name) == 0));
}

static void trade_tables(struct world *world)
{
	struct tables own = world->tables;
	world->tables = world->rollback->tables;
	world->rollback->tables = own;
	/* Its rows are of the other tables. */
	contact_index_reset(&world->dynamics.contact_index);
}

/* Undoes trade_tables. The caches have the memory already; of what the boundary has changed, the contacts
 * are all reported again. */
static void trade_back(struct world *world)
{
	trade_tables(world);
	enum status status = dynamics_rebuild(&world->dynamics);
	ASSERT(status == STATUS_OK);
	const struct bitset *used = &world->dynamics.body_used;
	for (uint32_t row = bitset_next(used, 0); row != BITSET_NONE;
	     row = bitset_next(used, row + 1))
		bitset_set(&world->dynamics.parted, row);
}

static enum status rebuild_caches(struct world *world, struct reason *why)
{
	enum status status = changes_reserve(&world->changes, world->tables.body.capacity);
	if (status == STATUS_OK)
		status = dynamics_rebuild(&world->dynamics);
	return status == STATUS_OK
		       ? status
		       : reason_set(why, status, -1, "world", "%s", status_text(status));
}

/* The boundary of a state that was just restored: nothing has happened in it. */
static void begin_boundary(struct world *world)
{
	struct dynamics *dynamics = &world->dynamics;
	world->open = world->keeps_changes = world->starved = false;
	dynamics->events.count = dynamics->events.lost = dynamics->slept.count = 0;
	memset(&dynamics->report, 0, sizeof dynamics->report);
	dynamics->limit_met = 0;
	world->stored_results.count = world->stored_values.count = world->values.count = 0;
	changes_rebuild(&world->changes, &world->tables);
	removal_recount(world);
	changes_open(&world->changes, world->tables.world.next_body[0]);
	dynamics_joints_open(dynamics, world->tables.world.next_joint[0]);
}

static enum status restore_in_place(struct world *world, struct reason *why)
{
	struct method_instance method = { .method = method_by_number(
						  world->rollback->tables.world.method[0]) };
	enum status status = tables_check_pieces(&world->rollback->tables, world->shapes, why);
	if (status != STATUS_OK)
		return status;
	trade_tables(world);
	status = rebuild_caches(world, why);
	if (status == STATUS_OK)
		status = method_supports(method.method, &world->dynamics, why);
	if (status == STATUS_OK)
		status = method_ready(&method, &world->dynamics, why);
	if (status != STATUS_OK) {
		method_release(&method);
		trade_back(world);
		return status;
	}
	method_release(&world->method);
	world->method = method;
	begin_boundary(world);
	return STATUS_OK;
}

/* With other shapes or another broad phase. The totals since the process began go on. */
static enum status restore_anew(struct world *world, struct reason *why)
{
	struct world *fresh;
	enum status status = world_of_tables(&world->rollback->tables, world->source, &fresh, why);
	if (status != STATUS_OK)
		return status;
	fresh->fallbacks_total = world->fallbacks_total;
	fresh->quarantined_total = world->quarantined_total;
	fresh->joints_broken_total = world->joints_broken_total;
	fresh->sweeps_total = world->sweeps_total;
	fresh->push_work_total = world->push_work_total;
	world_trade(world, fresh);
	struct rollback_work *work = fresh->rollback;
	fresh->rollback = world->rollback;
	world->rollback = work;
	world_destroy(fresh);
	return STATUS_OK;
}

enum status world_restore_rollback(struct world *world, const struct rollback_base *base,
				   const uint8_t *data, size_t bytes, struct reason *why)
{
	if (reserve_work(world) != STATUS_OK)
		return reason_set(why, STATUS_NO_MEMORY, -1, "world", "%s",
				  status_text(STATUS_NO_MEMORY));
	struct rollback_work *work = world->rollback;
	enum status status = rollback_decode(base, data, bytes, work, why);
	if (status == STATUS_OK)
		status = tables_check_with(&work->tables, &work->checking, why);
	if (status == STATUS_OK)
		status = check_same_rate_and_space(&world->tables, &work->tables, why);
	if (status != STATUS_OK)
		return status;
	work->tables.world.epoch[0] = world->tables.world.epoch[0];
	return fits_caches(world) ? restore_in_place(world, why) : restore_anew(world, why);
}
