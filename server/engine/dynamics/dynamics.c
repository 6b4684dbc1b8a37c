/* dynamics.c: the caches of dynamics.h are created, grown, looked up and rebuilt from the tables.
 *
 * Growth is by table: one reserve function makes room in a table and in every cache that is indexed
 * by its rows, so that later insertions cannot fail. */
#include "server/engine/dynamics/dynamics.h"

#include "server/engine/dynamics/force_field.h"

#include "server/base/array.h"
#include "server/base/heap.h"
#include "server/engine/dynamics/belt.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/carrier.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/mover_list.h"
#include "server/engine/fluids/fluid.h"
#include "server/engine/particles/particle_links.h"
#include "server/engine/particles/particle_pairs.h"
#include "server/engine/particles/particle_room.h"
#include "server/engine/particles/particle_skin.h"
#include "server/engine/dynamics/one_way.h"
#include "server/engine/dynamics/piece.h"
#include "server/engine/dynamics/labels.h"

#include <string.h>

enum { EVENTS_SPARE = 16 };

enum status dynamics_init(struct dynamics *self, struct tables *tables, const struct shape **shapes,
			  double ahead)
{
	ASSERT(ahead >= 0);
	memset(self, 0, sizeof *self);
	self->tables = tables;
	self->shapes = shapes;
	self->ahead = ahead;
	self->parallel = &parallel_serial;
	table_init(&self->body_index);
	bitset_init(&self->awake);
	bitset_init(&self->live);
	bitset_init(&self->parted);
	bitset_init(&self->one_way);
	bitset_init(&self->belts);
	bitset_init(&self->sensing);
	bitset_init(&self->body_used);
	bitset_init(&self->placement_used);
	bitset_init(&self->contact_used);
	bitset_init(&self->moved);
	table_init(&self->joint_index);
	bitset_init(&self->joint_used);
	bitset_init(&self->joint_geared);
	bitset_init(&self->field_used);
	bitset_init(&self->mover_used);
	bitset_init(&self->piece_used);
	bitset_init(&self->system_used);
	bitset_init(&self->visual_used);
	bitset_init(&self->label_used);
	bitset_init(&self->carrier_used);
	bitset_init(&self->joint_notes.moved);
	bitset_init(&self->joint_notes.changed);
	enum status status = arena_init(&self->scratch, 0);
	if (status == STATUS_OK)
		status = broad_phase_create(tables->world.broad_phase[0], &self->broad_phase);
	if (status == STATUS_OK)
		status = dynamics_rebuild(self);
	if (status != STATUS_OK)
		dynamics_release(self);
	return status;
}

/* What a tick makes anew. */
static void release_working(struct dynamics *self)
{
	arena_release(&self->scratch);
	ARRAY_RELEASE(&self->new_pairs);
	ARRAY_RELEASE(&self->gone);
	ARRAY_RELEASE(&self->sort_scratch);
	ARRAY_RELEASE(&self->triangles);
	ARRAY_RELEASE(&self->hits);
	ARRAY_RELEASE(&self->starts);
	ARRAY_RELEASE(&self->cuts);
	particle_pairs_destroy(self->pairs);
	self->pairs = NULL;
	particle_links_destroy(self->links);
	self->links = NULL;
	particle_room_destroy(self->room);
	self->room = NULL;
	particle_skin_destroy(self->skin);
	self->skin = NULL;
	fluids_destroy(self->fluid);
	self->fluid = NULL;
}

void dynamics_release(struct dynamics *self)
{
	table_release(&self->body_index);
	contact_index_release(&self->contact_index);
	bitset_release(&self->awake);
	bitset_release(&self->live);
	bitset_release(&self->parted);
	bitset_release(&self->one_way);
	bitset_release(&self->belts);
	bitset_release(&self->sensing);
	bitset_release(&self->body_used);
	bitset_release(&self->placement_used);
	bitset_release(&self->contact_used);
	bitset_release(&self->moved);
	bitset_release(&self->field_used);
	bitset_release(&self->mover_used);
	bitset_release(&self->piece_used);
	bitset_release(&self->system_used);
	bitset_release(&self->visual_used);
	bitset_release(&self->label_used);
	bitset_release(&self->carrier_used);
	joints_release(self);
	ARRAY_RELEASE(&self->bodies);
	ARRAY_RELEASE(&self->edges);
	ARRAY_RELEASE(&self->near_pairs);
	ARRAY_RELEASE(&self->slept);
	ARRAY_RELEASE(&self->events);
	broad_phase_destroy(self->broad_phase);
	self->broad_phase = NULL;
	release_working(self);
	for (uint32_t i = 0; i < PARALLEL_WORKERS_MAX; i++)
		arena_release(&self->worker_arenas[i]);
}

uint64_t dynamics_memory(const struct dynamics *self)
{
	uint64_t sets = 2 * (uint64_t)self->awake.size + self->live.size + self->body_used.size +
			self->placement_used.size + self->contact_used.size + self->moved.size;
	uint64_t arenas = 0;
	for (uint32_t i = 0; i < PARALLEL_WORKERS_MAX; i++)
		arenas += self->worker_arenas[i].peak;
	return sizeof *self + arenas + sets / 8 + (uint64_t)self->body_index.capacity * 16 +
	       (uint64_t)self->contact_index.capacity * sizeof *self->contact_index.slots +
	       (uint64_t)self->slept.capacity * sizeof *self->slept.items +
	       (uint64_t)self->bodies.capacity * sizeof *self->bodies.items +
	       (uint64_t)self->edges.capacity * sizeof *self->edges.items +
	       (uint64_t)self->near_pairs.capacity * 8 +
	       (uint64_t)self->starts.capacity * sizeof *self->starts.items + self->cuts.capacity +
	       (uint64_t)self->new_pairs.capacity * sizeof *self->new_pairs.items +
	       (uint64_t)self->sort_scratch.capacity * 8 + joints_memory(self) +
	       particle_pairs_memory(self->pairs) + particle_links_memory(self->links) +
	       particle_room_memory(self->room) + particle_skin_memory(self->skin) +
	       fluids_memory(self->fluid) +
	       ((uint64_t)self->events.capacity + self->hits.capacity) * sizeof(struct event) +
	       self->scratch.peak;
}

void dynamics_trim(struct dynamics *self)
{
	if (arena_used(&self->scratch) == 0)
		release_working(self);
}

/* ---- growth -------------------------------------------------------------------------------- */

static enum status reserve_bodies(struct dynamics *self, uint32_t rows)
{
	enum status status = tables_reserve(self->tables, TABLE_BODY, rows);
	uint32_t room = self->tables->body.capacity;
	if (status == STATUS_OK)
		status = table_reserve(&self->body_index, room);
	if (status == STATUS_OK)
		status = bitset_reserve(&self->awake, room);
	if (status == STATUS_OK)
		status = bitset_reserve(&self->parted, room);
	if (status == STATUS_OK)
		status = bitset_reserve(&self->one_way, room);
	if (status == STATUS_OK)
		status = bitset_reserve(&self->belts, room);
	if (status == STATUS_OK)
		status = bitset_reserve(&self->sensing, room);
	if (status == STATUS_OK)
		status = bitset_reserve(&self->body_used, room);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->bodies, room);
	ASSERT(status != STATUS_OK || (room >= rows && self->bodies.capacity >= room));
	return status;
}

static enum status reserve_placements(struct dynamics *self, uint32_t rows)
{
	enum status status = tables_reserve(self->tables, TABLE_PLACEMENT, rows);
	uint32_t room = self->tables->placement.capacity;
	if (status == STATUS_OK)
		status = bitset_reserve(&self->placement_used, room);
	if (status == STATUS_OK)
		status = bitset_reserve(&self->moved, room);
	if (status == STATUS_OK)
		status = broad_phase_reserve(self->broad_phase, room);
	ASSERT(status != STATUS_OK || room >= rows);
	return status;
}

enum status dynamics_contact_reserve(struct dynamics *self, uint32_t rows)
{
	enum status status = tables_reserve(self->tables, TABLE_CONTACT, rows);
	uint32_t room = self->tables->contact.capacity;
	if (status == STATUS_OK)
		status = bitset_reserve(&self->live, room);
	if (status == STATUS_OK)
		status = bitset_reserve(&self->contact_used, room);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->edges, (uint64_t)room * 2);
	if (status == STATUS_OK)
		status = contact_index_reserve(&self->contact_index, &self->tables->contact, room);
	ASSERT(status != STATUS_OK || self->edges.capacity / 2 >= rows);
	return status;
}

enum status dynamics_body_reserve(struct dynamics *self, uint32_t bodies, uint32_t placements)
{
	uint64_t body_rows = (uint64_t)self->tables->body.count + bodies;
	uint64_t placement_rows = (uint64_t)self->tables->placement.count + placements;
	if (body_rows >= BITSET_NONE || placement_rows >= BITSET_NONE)
		return STATUS_NO_MEMORY;
	enum status status = reserve_bodies(self, (uint32_t)body_rows);
	if (status == STATUS_OK)
		status = reserve_placements(self, (uint32_t)placement_rows);
	/* A batch can wake each body once and part each contact once. */
	uint64_t events =
		(uint64_t)self->events.count + self->contact_used.count + body_rows + EVENTS_SPARE;
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->events, events);
	return status;
}

uint32_t dynamics_body_take(struct dynamics *self)
{
	ASSERT(self->body_used.count < self->tables->body.capacity);
	return tables_take_row(self->tables, TABLE_BODY, &self->body_used);
}

uint32_t dynamics_placement_take(struct dynamics *self)
{
	ASSERT(self->placement_used.count < self->tables->placement.capacity);
	return tables_take_row(self->tables, TABLE_PLACEMENT, &self->placement_used);
}

/* ---- look-up and events -------------------------------------------------------------------- */

uint32_t dynamics_find_body(const struct dynamics *self, body_id id)
{
	uint32_t row = DYNAMICS_NONE;
	if (id != 0)
		(void)table_find(&self->body_index, id, &row);
	ASSERT(row == DYNAMICS_NONE || self->tables->body.id[row] == id);
	return row;
}

void dynamics_event(struct dynamics *self, struct event event)
{
	if (self->events.count == self->events.capacity &&
	    ARRAY_RESERVE(&self->events, (uint64_t)self->events.count + 1) != STATUS_OK)
		self->events.lost++;
	else
		self->events.items[self->events.count++] = event;
	ASSERT(self->events.count <= self->events.capacity);
}

enum status dynamics_visual_reserve(struct dynamics *self, uint32_t rows)
{
	enum status status =
		tables_reserve(self->tables, TABLE_VISUAL, self->tables->visual.count + rows);
	return status == STATUS_OK
		       ? bitset_reserve(&self->visual_used, self->tables->visual.capacity)
		       : status;
}

/* ---- rebuilding ---------------------------------------------------------------------------- */

/* Room for what the tables hold. */
static enum status reserve_all(struct dynamics *self)
{
	const struct tables *tables = self->tables;
	enum status status = reserve_bodies(self, tables->body.count);
	if (status == STATUS_OK)
		status = reserve_placements(self, tables->placement.count);
	if (status == STATUS_OK)
		status = dynamics_contact_reserve(self, tables->contact.count);
	if (status == STATUS_OK)
		status = dynamics_body_reserve(self, 0, 0);
	if (status == STATUS_OK)
		status = joints_rebuild(self);
	if (status == STATUS_OK)
		status = dynamics_field_reserve(self, 0);
	if (status == STATUS_OK)
		status = dynamics_mover_reserve(self, 0);
	if (status == STATUS_OK)
		status = dynamics_piece_reserve(self, 0);
	if (status == STATUS_OK)
		status = dynamics_system_reserve(self, 0, 0);
	if (status == STATUS_OK)
		status = dynamics_visual_reserve(self, 0);
	if (status == STATUS_OK)
		status = dynamics_label_reserve(self, 0);
	if (status == STATUS_OK)
		status = dynamics_carrier_reserve(self, 0);
	return status;
}

enum status dynamics_rebuild(struct dynamics *self)
{
	const struct tables *tables = self->tables;
	ASSERT(arena_used(&self->scratch) == 0);
	enum status status = reserve_all(self);
	if (status != STATUS_OK)
		return status;
	table_reset(&self->body_index);
	contact_index_reset(&self->contact_index);
	bitset_reset(&self->awake);
	bitset_reset(&self->parted);
	bitset_reset(&self->one_way);
	bitset_reset(&self->belts);
	bitset_reset(&self->sensing);
	bitset_reset(&self->live);
	bitset_reset(&self->body_used);
	bitset_reset(&self->placement_used);
	bitset_reset(&self->contact_used);
	bitset_reset(&self->moved);
	bitset_reset(&self->field_used);
	bitset_reset(&self->mover_used);
	self->disturbed = true;
	bitset_reset(&self->piece_used);
	bitset_reset(&self->system_used);
	bitset_reset(&self->visual_used);
	bitset_reset(&self->label_used);
	bitset_reset(&self->carrier_used);
	broad_phase_reset(self->broad_phase);
	/* Fat boxes are columns and are not made anew, because pairs are a function of them. */
	tables_find_rows(tables, TABLE_PLACEMENT, &self->placement_used, NULL);
	tables_find_rows(tables, TABLE_FIELD, &self->field_used, NULL);
	tables_find_rows(tables, TABLE_MOVER, &self->mover_used, NULL);
	tables_find_rows(tables, TABLE_PIECE, &self->piece_used, NULL);
	tables_find_rows(tables, TABLE_SYSTEM, &self->system_used, NULL);
	tables_find_rows(tables, TABLE_VISUAL, &self->visual_used, NULL);
	tables_find_rows(tables, TABLE_LABEL, &self->label_used, NULL);
	tables_find_rows(tables, TABLE_CARRIER, &self->carrier_used, NULL);
	tables_find_rows(tables, TABLE_BODY, &self->body_used, &self->body_index);
	for (uint32_t body = bitset_next(&self->body_used, 0); body != BITSET_NONE;
	     body = bitset_next(&self->body_used, body + 1)) {
		body_cache_init(self, body);
		body_refresh_proxies(self, body);
		body_refresh_awake(self, body);
		one_way_refresh(self, body);
		belt_refresh(self, body);
		piece_refresh(self, body);
	}
	for (uint32_t row = 0; row < tables->contact.count; row++)
		if (tables->contact.used[row])
			contact_link(self, row);
	particle_links_forget(self);
	ASSERT(self->contact_index.count == self->contact_used.count);
	return STATUS_OK;
}
