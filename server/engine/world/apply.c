/* apply.c: batches at a tick boundary.
 *
 * Batches of a boundary are applied by (session, number), stored and new ones together; equal
 * keys in order of arrival, stored ones first. Each batch is checked whole and then applied or
 * refused. A call either runs to its end or, without memory, changes nothing: everything that
 * allocates (reading stored batches, encoding batches for later ticks, rows, look-ups, lists,
 * the plan) comes before the first batch is applied.
 */
#include "server/base/array.h"
#include "server/base/sort.h"
#include "server/engine/dynamics/carrier.h"
#include "server/engine/dynamics/force_field.h"
#include "server/engine/dynamics/mover_list.h"
#include "server/engine/particles/particles.h"
#include "server/engine/dynamics/piece.h"
#include "server/engine/dynamics/labels.h"
#include "server/engine/world/joints.h"
#include "server/engine/world/pending.h"
#include "server/engine/world/plan.h"
#include "server/engine/world/removal.h"

#include <string.h>

/* A batch that is applied in this call. */
struct due {
	struct batch *batch;
	struct batch_result *result;
	bool stored;
};

struct boundary_apply {
	struct world *world;
	struct batch *given;	      /* borrowed */
	struct batch_result *results; /* of `given` */
	uint32_t given_count;
	uint32_t stored_count; /* due now */
	struct due *due;
	uint32_t due_count;
	size_t *encoded_bytes; /* by given batch: 0, or its size in world->encoded */
	uint32_t to_store;
	bool session_ended; /* what ends with a session was removed */
	struct plan_size size;
	struct batch_plan plan;
};

static void start_result(struct batch_result *result, const struct batch *batch, uint64_t tick)
{
	memset(result, 0, sizeof *result);
	result->session = batch->session;
	result->number = batch->number;
	result->tick = tick;
	result->why.index = -1;
}

static void set_result_status(struct batch_result *result, enum status status)
{
	result->status = status;
	result->why.status = status;
}

/* ---- batches that are due
 * --------------------------------------------------------------------- */

static enum status gather_stored(struct boundary_apply *self)
{
	struct world *world = self->world;
	struct arena *arena = &world->dynamics.scratch;
	ASSERT(self->stored_count <= world->tables.pending.count);
	struct batch *batches = ARENA_ARRAY(arena, struct batch, self->stored_count);
	uint64_t first = world->stored_results.count;
	if (batches == NULL ||
	    ARRAY_RESERVE(&world->stored_results, first + self->stored_count) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (uint32_t row = 0; row < self->stored_count; row++) {
		enum status status = pending_read(&world->tables, row, arena, &batches[row]);
		if (status != STATUS_OK)
			return status;
		struct batch_result *result = &world->stored_results.items[first + row];
		start_result(result, &batches[row], world->tables.world.tick[0]);
		self->due[self->due_count++] = (struct due){ &batches[row], result, true };
		plan_size_add(&self->size, &batches[row]);
	}
	return STATUS_OK;
}

static enum status gather_given(struct boundary_apply *self)
{
	struct world *world = self->world;
	uint64_t tick = world->tables.world.tick[0];
	world->encoded.count = 0;
	for (uint32_t i = 0; i < self->given_count; i++) {
		struct batch *batch = &self->given[i];
		struct batch_result *result = &self->results[i];
		start_result(result, batch, tick);
		self->encoded_bytes[i] = 0;
		if (batch->at > tick) {
			enum status status = STATUS_OK;
			if (!batch->recorded)
				status = batch_asks(world, batch, &result->why);
			if (status == STATUS_OK)
				status = pending_encode(world, batch, self->to_store,
							&self->encoded_bytes[i], &result->why);
			if (status == STATUS_NO_MEMORY)
				return status;
			set_result_status(result, status);
			result->stored = status == STATUS_OK;
			result->tick = result->stored ? batch->at : tick;
			self->to_store += result->stored;
		} else if (batch->at < tick && batch->late == LATE_REFUSE) {
			reason_set(&result->why, STATUS_LATE, -1, "at",
				   "at is %llu: the world is at tick %llu already; late 0 applies "
				   "the batch at the next tick",
				   (unsigned long long)batch->at, (unsigned long long)tick);
			set_result_status(result, STATUS_LATE);
		} else {
			self->due[self->due_count++] = (struct due){ batch, result, false };
			plan_size_add(&self->size, batch);
		}
	}
	return STATUS_OK;
}

static int compare_due(const void *a, const void *b, void *context)
{
	UNUSED(context);
	const struct batch *x = ((const struct due *)a)->batch, *y = ((const struct due *)b)->batch;
	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static enum status gather_due(struct boundary_apply *self)
{
	struct arena *arena = &self->world->dynamics.scratch;
	uint64_t most = (uint64_t)self->stored_count + self->given_count;
	self->due = arena_push_array(arena, most, sizeof *self->due);
	self->encoded_bytes = ARENA_ARRAY(arena, size_t, self->given_count);
	struct due *scratch = arena_push_array(arena, most, sizeof *scratch);
	if (self->due == NULL || self->encoded_bytes == NULL || scratch == NULL)
		return STATUS_NO_MEMORY;
	enum status status = gather_stored(self);
	if (status == STATUS_OK)
		status = gather_given(self);
	ASSERT(self->due_count <= most);
	if (status == STATUS_OK)
		sort_items(self->due, scratch, self->due_count, sizeof *self->due, compare_due,
			   NULL);
	return status;
}

/* ---- memory
 * ----------------------------------------------------------------------------------- */

static uint32_t rows_to_reserve(uint64_t needed, uint32_t limit, uint32_t used)
{
	return (uint32_t)MIN_OF(needed, (uint64_t)(limit - MIN_OF(limit, used)));
}

static enum status reserve_particles(struct world *world, const struct plan_size *size)
{
	struct tables *tables = &world->tables;
	uint32_t systems =
		rows_to_reserve(size->systems, SYSTEMS_MAX, world->dynamics.system_used.count);
	uint32_t particles =
		rows_to_reserve(size->particles, PARTICLES_MAX, tables->particle.count);
	enum status status = dynamics_system_reserve(&world->dynamics, systems, particles);
	if (status == STATUS_OK && size->links > 0)
		status = tables_reserve(tables, TABLE_LINK,
					tables->link.count + rows_to_reserve(size->links,
									     PARTICLE_LINKS_MAX,
									     tables->link.count));
	if (status == STATUS_OK && size->pins > 0)
		status =
			tables_reserve(tables, TABLE_PIN, tables->pin.count + (uint32_t)size->pins);
	if (status == STATUS_OK && size->holds > 0)
		status = tables_reserve(tables, TABLE_HOLD,
					tables->hold.count + (uint32_t)size->holds);
	if (status == STATUS_OK && size->meetings > 0)
		status = tables_reserve(tables, TABLE_MEETING,
					tables->meeting.count +
						rows_to_reserve(size->meetings,
								SYSTEMS_MAX * PARTICLE_MEETINGS_MAX,
								tables->meeting.count));
	if (status == STATUS_OK && size->fluids > 0)
		status = tables_reserve(tables, TABLE_FLUID,
					tables->fluid.count + rows_to_reserve(size->fluids,
									      SYSTEMS_MAX,
									      tables->fluid.count));
	if (status == STATUS_OK && size->sinks > 0)
		status = tables_reserve(tables, TABLE_SINK,
					tables->sink.count +
						rows_to_reserve(size->sinks,
								SYSTEMS_MAX * PARTICLE_SINKS_MAX,
								tables->sink.count));
	return status;
}

/* Rows never exceed the limits of the world, so at most the difference to a limit is reserved. */
static enum status reserve_rows(struct boundary_apply *self)
{
	struct world *world = self->world;
	struct tables *tables = &world->tables;
	const struct world_table *limits = &tables->world;
	const struct plan_size *size = &self->size;
	uint32_t walls = size->walls ? WALLS_MAX : 0;
	uint32_t bodies =
		rows_to_reserve(size->bodies, limits->bodies_max[0], world_body_count(world));
	uint32_t placements = rows_to_reserve(size->placements, limits->placements_max[0],
					      world_placement_count(world));
	uint32_t shapes = rows_to_reserve(size->shapes, limits->shapes_max[0], shapes_count(world));
	enum status status =
		dynamics_body_reserve(&world->dynamics, bodies + (walls > 0), placements + walls);
	if (status == STATUS_OK)
		status = shapes_reserve(world, shapes + walls);
	if (status == STATUS_OK && size->walls)
		status = walls_cook(world);
	if (status == STATUS_OK)
		status = tables_reserve(tables, TABLE_DRIVE,
					tables->drive.count + (uint32_t)size->drives);
	uint32_t joints = rows_to_reserve(size->joints, limits->joints_max[0],
					  world->dynamics.joint_used.count);
	if (status == STATUS_OK)
		status = dynamics_joint_reserve(&world->dynamics, joints);
	uint32_t fields =
		rows_to_reserve(size->fields, FIELDS_MAX, world->dynamics.field_used.count);
	if (status == STATUS_OK)
		status = dynamics_field_reserve(&world->dynamics, fields);
	uint32_t movers = rows_to_reserve(size->movers, limits->bodies_max[0],
					  world->dynamics.mover_used.count);
	if (status == STATUS_OK)
		status = dynamics_mover_reserve(&world->dynamics, movers);
	if (status == STATUS_OK && size->pieces > 0)
		status = dynamics_piece_reserve(&world->dynamics, (uint32_t)size->pieces);
	if (status == STATUS_OK && size->visuals > 0)
		status = dynamics_visual_reserve(&world->dynamics, (uint32_t)size->visuals);
	uint32_t carriers = rows_to_reserve(size->carriers, limits->bodies_max[0],
					    world->dynamics.carrier_used.count);
	if (status == STATUS_OK)
		status = dynamics_carrier_reserve(&world->dynamics, carriers);
	if (status == STATUS_OK && size->labels > 0)
		status = dynamics_label_reserve(&world->dynamics, (uint32_t)size->labels);
	if (status == STATUS_OK)
		status = reserve_particles(world, size);
	if (status == STATUS_OK && size->points > 0)
		status = tables_reserve(tables, TABLE_JOINT_POINT,
					tables->joint_point.count + (uint32_t)size->points);
	if (status == STATUS_OK)
		status = pending_reserve(world, self->to_store, world->encoded.count);
	if (status == STATUS_OK)
		status = changes_reserve(&world->changes, tables->body.capacity);
	return status;
}

static enum status reserve_memory(struct boundary_apply *self)
{
	struct world *world = self->world;
	self->size.shapes_known = world->shape_used.count;
	if (self->size.removes > 0)
		self->size.followers = world->follower_count + (uint32_t)self->size.bodies;
	uint64_t applied = 0, given = 0;
	for (uint32_t i = 0; i < self->given_count; i++)
		given += self->given[i].count <= BATCH_COMMANDS_MAX ? self->given[i].count : 0;
	for (uint32_t i = 0; i < self->due_count; i++)
		applied += self->due[i].batch->count;
	enum status status = reserve_rows(self);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&world->stored_values, world->stored_values.count + applied);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&world->values, given);
	if (status == STATUS_OK)
		status = table_reserve(&world->plan_index,
				       self->size.shapes_known + 3 * self->size.commands +
					       self->size.followers + self->size.targets +
					       3 * (uint32_t)self->size.carriers);
	if (status == STATUS_OK)
		status = plan_init(&self->plan, &world->dynamics.scratch, &self->size);
	return status;
}

/* ---- applying
 * --------------------------------------------------------------------------------- */

/* Appends the ids that the batch yielded to `list`, which outlives the plan; room is reserved. */
static void store_values(struct boundary_apply *self, struct batch_result *result,
			 struct value_list *list)
{
	ASSERT(list->count + self->plan.count <= list->capacity);
	if (self->plan.count == 0)
		return;
	result->value_count = self->plan.count;
	result->values = list->items + list->count;
	memcpy(result->values, self->plan.values, self->plan.count * sizeof *result->values);
	list->count += self->plan.count;
}

static void apply_batch(struct boundary_apply *self, struct due *due)
{
	struct world *world = self->world;
	if (due->batch->late == LATE_REMOVE_DRAGS && due->batch->count == 0) {
		bool drags = joints_remove_drags(world, due->batch->session);
		bool bodies = removal_of_session(world, due->batch->session);
		self->session_ended |= drags || bodies;
	}
	enum status status = plan_check(&self->plan, world, due->batch, &due->result->why);
	/* A stored batch was asked when it came. */
	if (status == STATUS_OK && !due->stored && !due->batch->recorded)
		status = batch_asks(world, due->batch, &due->result->why);
	set_result_status(due->result, status);
	if (status != STATUS_OK)
		return;
	plan_apply(&self->plan, world);
	store_values(self, due->result, due->stored ? &world->stored_values : &world->values);
}

static void store_later_batches(struct boundary_apply *self)
{
	size_t at = 0;
	for (uint32_t i = 0; i < self->given_count; i++) {
		if (self->encoded_bytes[i] == 0)
			continue;
		pending_insert(self->world, &self->given[i], self->world->encoded.data + at,
			       self->encoded_bytes[i]);
		at += self->encoded_bytes[i];
	}
}

void world_note_woken(struct world *world, uint32_t first)
{
	const struct event_list *events = &world->dynamics.events;
	ASSERT(first <= events->count);
	for (uint32_t i = first; i < events->count; i++) {
		uint32_t row = ROW_NONE;
		if (events->items[i].kind == EVENT_WAKE)
			row = dynamics_find_body(&world->dynamics, events->items[i].a);
		if (row != ROW_NONE)
			changes_update_sleep(&world->changes, &world->tables, row);
	}
}

/* True if the call changed the state: stored batches were due, batches were applied or stored,
 * or what ends with a session was removed. */
static bool state_has_changed(const struct boundary_apply *self)
{
	bool edited = self->stored_count > 0 || self->to_store > 0 || self->session_ended;
	for (uint32_t i = 0; i < self->given_count && !edited; i++) {
		const struct batch *batch = &self->given[i];
		bool withdraws = batch->late == LATE_WITHDRAW && batch->count == 0;
		edited = withdraws || (batch->count > 0 && self->results[i].status == STATUS_OK);
	}
	return edited;
}

/* Raises the world's edit number if the state has changed, and reports it in every result. */
static void update_edit(struct boundary_apply *self)
{
	uint32_t *edit = &self->world->tables.world.edit[0];
	*edit += state_has_changed(self);
	for (uint32_t i = 0; i < self->due_count; i++)
		self->due[i].result->edit = *edit;
	for (uint32_t i = 0; i < self->given_count; i++)
		self->results[i].edit = self->results[i].stored ? 0 : *edit;
}

enum status world_apply_due(struct world *world, struct batch *batches, uint32_t count,
			    struct batch_result *results)
{
	/* Withdrawal is idempotent, because the call may be repeated after NO_MEMORY. */
	for (uint32_t i = 0; i < count; i++)
		if (batches[i].late == LATE_WITHDRAW && batches[i].count == 0)
			pending_withdraw(world, batches[i].session);
	struct boundary_apply self = { .world = world,
				       .given = batches,
				       .results = results,
				       .given_count = count,
				       .stored_count = pending_due(world) };
	if (count == 0 && self.stored_count == 0)
		return STATUS_OK;
	struct arena_mark mark = arena_mark(&world->dynamics.scratch);
	enum status status = gather_due(&self);
	if (status == STATUS_OK)
		status = reserve_memory(&self);
	if (status == STATUS_OK) {
		uint32_t first_event = world->dynamics.events.count;
		world->values.count = 0;
		world->stored_results.count += self.stored_count;
		for (uint32_t i = 0; i < self.due_count; i++)
			apply_batch(&self, &self.due[i]);
		pending_remove(world, self.stored_count);
		store_later_batches(&self);
		world_note_woken(world, first_event);
		update_edit(&self);
	}
	arena_rewind(&world->dynamics.scratch, mark);
	return status;
}

enum status world_apply(struct world *world, struct batch *batches, uint32_t count,
			struct batch_result *results)
{
	world_open_boundary(world);
	enum status status = world_apply_due(world, batches, count, results);
	world_sort_events(world);
	if (status == STATUS_OK && count > 0)
		method_touch(&world->method, &world->dynamics);
	return status;
}

uint32_t world_pending(const struct world *world, struct pending_batch *out, uint32_t capacity)
{
	const struct pending_table *table = &world->tables.pending;
	for (uint32_t row = 0; row < MIN_OF(table->count, capacity); row++)
		out[row] = (struct pending_batch){ table->due[row], table->session[row],
						   table->batch[row] };
	return table->count;
}

static struct world_share *share_of(struct world_share *shares, uint32_t count, uint32_t session)
{
	uint32_t low = 0, high = count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (shares[middle].session < session)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && shares[low].session == session ? &shares[low] : NULL;
}

void world_shares(const struct world *world, struct world_share *shares, uint32_t count)
{
	const struct tables *tables = &world->tables;
	struct world_share *share;
	for (uint32_t i = 0; i < count; i++)
		shares[i] = (struct world_share){ .session = shares[i].session };
	if (count == 0)
		return;
	for (uint32_t row = 0; row < tables->body.count; row++)
		if (tables->body.id[row] != 0 &&
		    (share = share_of(shares, count, tables->body.owner[row])) != NULL)
			share->bodies++;
	for (uint32_t row = 0; row < tables->pending.count; row++)
		if (tables->pending.restricted[row] != 0 &&
		    (share = share_of(shares, count, tables->pending.session[row])) != NULL)
			share->pending++;
}

const struct batch_result *world_stored_results(const struct world *world, uint32_t *count)
{
	*count = world->stored_results.count;
	return world->stored_results.items;
}
