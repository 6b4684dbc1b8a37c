/* host_report.c: what a boundary changed, copied out of the world once, for everybody outside it. */
#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/host/host_state.h"

/* A list under construction inside a report. */
static void *copy_of(const void *items, uint32_t count, size_t item_bytes, bool *failed)
{
	if (count == 0)
		return NULL;
	void *copy = heap_alloc(count * item_bytes);
	if (copy == NULL)
		*failed = true;
	else
		memcpy(copy, items, count * item_bytes);
	return copy;
}

/* Appends one body; its shapes too when a client may not know them yet. */
static enum status add_body(const struct world *world, struct tick_report *ticked,
			    uint32_t *shape_capacity, body_id id, uint8_t why)
{
	struct report_body *body = &ticked->bodies[ticked->body_count];
	enum status status = world_body(world, id, &body->view);
	if (status != STATUS_OK)
		return status;
	body->why = why;
	body->first_shape = ticked->shape_count;
	body->shape_count = 0;
	ticked->body_count++;
	if (!(why & (REPORT_CREATED | REPORT_CHANGED)))
		return STATUS_OK;
	struct placement_view placements[ATTACHMENTS_MAX];
	uint32_t count = world_body_placements(world, id, placements, ATTACHMENTS_MAX);
	status = array_reserve(&ticked->shapes, shape_capacity,
			       (uint64_t)ticked->shape_count + count, sizeof *ticked->shapes);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < count; i++) {
		struct report_shape *shape = &ticked->shapes[ticked->shape_count++];
		memcpy(shape->name, placements[i].shape->name, SHAPE_NAME_BYTES);
		shape->position = placements[i].position;
		shape->rotation = placements[i].rotation;
	}
	body->shape_count = count;
	return STATUS_OK;
}

/* Every body, as created. */
static enum status add_all(const struct world *world, struct tick_report *ticked)
{
	uint32_t count = world_bodies(world, NULL, 0), shape_capacity = 0;
	body_id *ids = heap_alloc(MAX_OF(count, 1u) * sizeof *ids);
	ticked->bodies = heap_alloc(MAX_OF(count, 1u) * sizeof *ticked->bodies);
	enum status status = ids != NULL && ticked->bodies != NULL ? STATUS_OK : STATUS_NO_MEMORY;
	if (status == STATUS_OK)
		world_bodies(world, ids, count);
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = add_body(world, ticked, &shape_capacity, ids[i], REPORT_CREATED);
	heap_free(ids);
	return status;
}

/* The three ascending lists of the change set, merged into one by id. */
static enum status add_changes(const struct world *world, struct tick_report *ticked,
			       const struct world_changes *changes)
{
	const body_id *lists[3] = { changes->created, changes->moved, changes->changed };
	uint32_t counts[3] = { changes->created_count, changes->moved_count,
			       changes->changed_count };
	static const uint8_t reasons[3] = { REPORT_CREATED, REPORT_MOVED, REPORT_CHANGED };
	uint32_t next[3] = { 0, 0, 0 }, shape_capacity = 0;
	uint64_t most = (uint64_t)counts[0] + counts[1] + counts[2];
	ticked->bodies = heap_alloc(MAX_OF(most, 1u) * sizeof *ticked->bodies);
	if (ticked->bodies == NULL)
		return STATUS_NO_MEMORY;
	for (;;) {
		body_id least = UINT32_MAX;
		for (int k = 0; k < 3; k++)
			if (next[k] < counts[k])
				least = MIN_OF(least, lists[k][next[k]]);
		if (least == UINT32_MAX)
			return STATUS_OK;
		uint8_t why = 0;
		for (int k = 0; k < 3; k++)
			if (next[k] < counts[k] && lists[k][next[k]] == least) {
				why |= reasons[k];
				next[k]++;
			}
		enum status status = add_body(world, ticked, &shape_capacity, least, why);
		if (status != STATUS_OK)
			return status;
	}
}

static enum status add_results(struct tick_report *ticked, const struct batch_result *results,
			       uint32_t count)
{
	uint32_t values = 0;
	for (uint32_t i = 0; i < count; i++)
		values += results[i].value_count;
	ticked->results = heap_alloc_zero(MAX_OF(count, 1u) * sizeof *ticked->results);
	ticked->values = heap_alloc(MAX_OF(values, 1u) * sizeof *ticked->values);
	if (ticked->results == NULL || ticked->values == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		const struct batch_result *from = &results[i];
		struct report_result *to = &ticked->results[ticked->result_count++];
		*to = (struct report_result){
			.session = from->session,
			.batch = from->number & ~HOST_STEP_BATCH,
			.tick = from->tick,
			.status = from->status,
			.index = from->status == STATUS_OK ? -1 : (int32_t)from->why.index,
			.step = (from->number & HOST_STEP_BATCH) != 0,
			.first_value = ticked->value_count,
			.value_count = from->value_count,
		};
		if (from->status != STATUS_OK) {
			memcpy(to->field, from->why.field, sizeof to->field);
			snprintf(to->text, sizeof to->text, "%.*s", (int)sizeof to->text - 1,
				 from->why.text);
		}
		if (from->value_count > 0)
			memcpy(ticked->values + ticked->value_count, from->values,
			       from->value_count * sizeof *ticked->values);
		ticked->value_count += from->value_count;
	}
	return STATUS_OK;
}

static enum status fill(struct host *host, struct tick_report *ticked,
			const struct batch_result *results, uint32_t result_count)
{
	const struct world *world = host->world;
	enum status status;
	ticked->whole = host->whole_due;
	if (ticked->whole) {
		status = add_all(world, ticked);
	} else {
		struct world_changes changes = world_changes(world);
		bool failed = false;
		ticked->removed = copy_of(changes.removed, changes.removed_count,
					  sizeof *changes.removed, &failed);
		ticked->removed_count = failed ? 0 : changes.removed_count;
		status = failed ? STATUS_NO_MEMORY : add_changes(world, ticked, &changes);
	}
	if (status == STATUS_OK) {
		bool failed = false;
		uint32_t count;
		const struct event *events = world_events(world, &count);
		ticked->events = copy_of(events, count, sizeof *events, &failed);
		ticked->event_count = failed ? 0 : count;
		status = failed ? STATUS_NO_MEMORY : STATUS_OK;
	}
	if (status == STATUS_OK)
		status = add_results(ticked, results, result_count);
	return status;
}

bool host_report_tick(struct host *host, const struct schedule_turn *turn, uint64_t cost_ns,
		      const struct batch_result *results, uint32_t result_count)
{
	struct report *report = heap_alloc_zero(sizeof *report);
	if (report == NULL) {
		host->whole_due = true;
		return false;
	}
	report->kind = REPORT_TICK;
	struct tick_report *ticked = &report->ticked;
	/* A report about control alone repeats no change and no event of the boundary before it. */
	enum status status = STATUS_OK;
	if (turn != NULL || host->whole_due)
		status = fill(host, ticked, results, result_count);
	if (status != STATUS_OK) {
		report_destroy(report);
		host->whole_due = true;
		return false;
	}
	host->whole_due = false;
	ticked->info = world_info(host->world);
	ticked->stats = world_stats(host->world);
	ticked->tick = ticked->info.tick;
	ticked->epoch = ticked->info.epoch;
	ticked->tick_hash = world_tick_hash(host->world);
	ticked->mode = (uint8_t)host->mode;
	ticked->step = turn != NULL;
	ticked->lateness_ns = turn != NULL ? turn->lateness : 0;
	ticked->cost_ns = cost_ns;
	ticked->late = host->schedule.late;
	ticked->dropped = host->schedule.dropped;
	ticked->pace = schedule_pace(&host->schedule);
	host_send(host, report);
	return true;
}
