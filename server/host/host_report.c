/* host_report.c: what a boundary changed, copied out of the world once, for everybody outside it. */
#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/host/host_state.h"

/* Appends one body; its shapes too when a client may not know them yet. */
static enum status add_body(const struct world *world, struct tick_report *ticked, body_id id,
			    uint8_t why)
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
	status = array_reserve(&ticked->shapes, &ticked->shape_room,
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
	uint32_t count = world_bodies(world, NULL, 0);
	body_id *ids = heap_alloc(MAX_OF(count, 1u) * sizeof *ids);
	enum status status = ids != NULL ? STATUS_OK : STATUS_NO_MEMORY;
	if (status == STATUS_OK)
		status = array_reserve(&ticked->bodies, &ticked->body_room, count,
				       sizeof *ticked->bodies);
	if (status == STATUS_OK)
		world_bodies(world, ids, count);
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = add_body(world, ticked, ids[i], REPORT_CREATED);
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
	uint32_t next[3] = { 0, 0, 0 };
	enum status status =
		array_reserve(&ticked->bodies, &ticked->body_room,
			      (uint64_t)counts[0] + counts[1] + counts[2], sizeof *ticked->bodies);
	while (status == STATUS_OK) {
		body_id least = UINT32_MAX;
		for (int k = 0; k < 3; k++)
			if (next[k] < counts[k])
				least = MIN_OF(least, lists[k][next[k]]);
		if (least == UINT32_MAX)
			break;
		uint8_t why = 0;
		for (int k = 0; k < 3; k++)
			if (next[k] < counts[k] && lists[k][next[k]] == least) {
				why |= reasons[k];
				next[k]++;
			}
		status = add_body(world, ticked, least, why);
	}
	return status;
}

/* Results of a boundary come in three lists: of the engine, of kept batches, of what never got there. */
struct result_list {
	const struct batch_result *items;
	uint32_t count;
};
enum { RESULTS_KEPT = 1, RESULT_LISTS = 3 };

static void add_result(struct tick_report *ticked, const struct batch_result *from)
{
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

static int pending_compare(const struct pending_batch *pending, const struct batch_result *result)
{
	if (pending->at != result->tick)
		return pending->at < result->tick ? -1 : 1;
	if (pending->session != result->session)
		return pending->session < result->session ? -1 : 1;
	return pending->number == result->number ? 0 : pending->number < result->number ? -1 : 1;
}

/* How many batches of that name were in the world when it came here. */
static uint32_t inherited_of(const struct host *host, const struct batch_result *result)
{
	uint32_t low = 0, high = host->inherited.count, count = 0;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (pending_compare(&host->inherited.items[middle], result) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + count < host->inherited.count &&
	       pending_compare(&host->inherited.items[low + count], result) == 0)
		count++;
	return count;
}

/* Whether kept result k is of a batch that came with the world. Of equal names those stand first: they waited
 * before anything was sent here. */
static bool is_inherited(const struct host *host, const struct batch_result *kept, uint32_t k)
{
	uint32_t inherited = inherited_of(host, &kept[k]), before = 0;
	while (before < inherited && before < k && kept[k - 1 - before].session == kept[k].session &&
	       kept[k - 1 - before].number == kept[k].number)
		before++;
	return before < inherited;
}

static enum status add_results(const struct host *host, struct tick_report *ticked,
			       const struct result_list *lists)
{
	uint32_t count = 0, values = 0;
	for (uint32_t k = 0; k < RESULT_LISTS; k++)
		for (uint32_t i = 0; i < lists[k].count; i++) {
			values += lists[k].items[i].value_count;
			count++;
		}
	enum status status = array_reserve(&ticked->results, &ticked->result_room, count,
					   sizeof *ticked->results);
	if (status == STATUS_OK)
		status = array_reserve(&ticked->values, &ticked->value_room, values,
				       sizeof *ticked->values);
	for (uint32_t k = 0; k < RESULT_LISTS && status == STATUS_OK; k++)
		for (uint32_t i = 0; i < lists[k].count; i++)
			if (k != RESULTS_KEPT ||
			    !is_inherited(host, lists[k].items - host->kept_told, i + host->kept_told))
				add_result(ticked, &lists[k].items[i]);
	return status;
}

/* The events that are news: a boundary that stays open tells of its limit, and the step that closes it of
 * all else, so that nobody hears anything twice. */
static enum status add_events(const struct host *host, const struct boundary *boundary,
			      struct tick_report *ticked)
{
	uint32_t count;
	const struct event *events = world_events(host->world, &count);
	bool failed = boundary->status != STATUS_OK;
	enum status status = array_reserve(&ticked->events, &ticked->event_room, count,
					   sizeof *ticked->events);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < count; i++) {
		bool limit = events[i].kind == EVENT_LIMIT;
		if (failed ? limit && !host->open : !limit)
			ticked->events[ticked->event_count++] = events[i];
	}
	return STATUS_OK;
}

/* What changed since the last report that told of changes. */
static enum status add_bodies(const struct world *world, struct tick_report *ticked)
{
	if (ticked->whole)
		return add_all(world, ticked);
	struct world_changes changes = world_changes(world);
	enum status status = array_reserve(&ticked->removed, &ticked->removed_room,
					   changes.removed_count, sizeof *ticked->removed);
	if (status != STATUS_OK)
		return status;
	ticked->removed_count = changes.removed_count;
	if (changes.removed_count > 0)
		memcpy(ticked->removed, changes.removed,
		       changes.removed_count * sizeof *ticked->removed);
	return add_changes(world, ticked, &changes);
}

static enum status add_news(const struct host *host, const struct boundary *boundary,
			    struct tick_report *ticked)
{
	uint32_t kept_count;
	const struct batch_result *kept = world_kept_results(host->world, &kept_count);
	const struct result_list lists[RESULT_LISTS] = {
		{ boundary->results, boundary->count },
		{ kept_count > host->kept_told ? &kept[host->kept_told] : NULL,
		  kept_count - host->kept_told },
		{ boundary->refused, boundary->refused_count },
	};
	enum status status = add_events(host, boundary, ticked);
	return status == STATUS_OK ? add_results(host, ticked, lists) : status;
}

/* Where the world stands, and how it is doing. */
static void add_figures(const struct host *host, const struct boundary *boundary,
			struct tick_report *ticked)
{
	ticked->info = world_info(host->world);
	ticked->stats = world_stats(host->world);
	ticked->tick = ticked->info.tick;
	ticked->epoch = ticked->info.epoch;
	ticked->tick_hash = world_tick_hash(host->world);
	ticked->mode = (uint8_t)host->mode;
	ticked->late = host->schedule.late;
	ticked->dropped = host->schedule.dropped;
	ticked->pace = schedule_pace(&host->schedule);
	ticked->stalls = host->stalls;
	ticked->failure = host->failure;
	if (!boundary->stepping)
		return;
	ticked->step = boundary->status == STATUS_OK;
	ticked->lateness_ns = boundary->turn.lateness;
	ticked->cost_ns = boundary->cost;
}

enum status host_report_tick(struct host *host, const struct boundary *boundary)
{
	struct report *report = report_queue_tick(&host->reports);
	if (report == NULL)
		return STATUS_NO_MEMORY;
	struct tick_report *ticked = &report->ticked;
	/* A report about control alone repeats no change and no event of the boundary before it; the
	 * changes of one that was left open are counted from the last step that was made. */
	enum status status = STATUS_OK;
	ticked->whole = host->whole_due || (boundary->stepping && host->open);
	if (ticked->whole || boundary->stepping)
		status = add_bodies(host->world, ticked);
	if (status == STATUS_OK && boundary->stepping)
		status = add_news(host, boundary, ticked);
	if (status != STATUS_OK) {
		report_queue_return(&host->reports, report);
		return status;
	}
	add_figures(host, boundary, ticked);
	host_send(host, report);
	return STATUS_OK;
}
