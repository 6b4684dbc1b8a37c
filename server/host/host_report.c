/* host_report.c: builds a TICK report: copies the changes of a boundary out of the world, once for
 * all readers. In this order: bodies with shapes and contacts, joints (host_report_joints.c),
 * particles, events, results of batches, figures. NO_MEMORY at any point leaves the world and the
 * host as they were. */
#include <stdlib.h>
#include <string.h>

#include "server/host/host_state.h"
#include "server/host/report_world.h"

static int compare_body_ids(const void *a, const void *b)
{
	body_id x = *(const body_id *)a, y = *(const body_id *)b;
	return (x > y) - (x < y);
}

/* Ascending ids, in the arena, of the bodies whose contacts are listed although they did not change
 * themselves. Contacts of sleeping bodies do not change. */
static enum status list_contact_changes(struct host *host, const struct tick_report *ticked,
					body_id **ids, uint32_t *count)
{
	const struct world *world = host->world;
	bool all = ticked->contacts_all;
	*count = 0;
	*ids = NULL;
	if (!ticked->contacts)
		return STATUS_OK;
	*count = all ? world_bodies(world, NULL, 0) : world_contacts_changed(world, NULL, 0);
	*ids = ARENA_ARRAY(&host->scratch, body_id, MAX_OF(*count, 1u));
	if (*ids == NULL)
		return STATUS_NO_MEMORY;
	if (all)
		world_bodies(world, *ids, *count);
	else
		world_contacts_changed(world, *ids, *count);
	if (all || *count == 0)
		return STATUS_OK;
	/* Equal ids are the same body, so it does not matter which of them remains. */
	qsort(*ids, *count, sizeof **ids, compare_body_ids);
	uint32_t stored = 1;
	for (uint32_t i = 1; i < *count; i++)
		if ((*ids)[i] != (*ids)[stored - 1])
			(*ids)[stored++] = (*ids)[i];
	*count = stored;
	return STATUS_OK;
}

/* The three ascending lists of the change set and that of contacts, merged into one by id. */
static enum status add_changes(struct host *host, struct tick_report *ticked,
			       struct contact_view *views, const struct world_changes *changes)
{
	const body_id *lists[4] = { changes->created, changes->moved, changes->changed };
	uint32_t counts[4] = { changes->created_count, changes->moved_count,
			       changes->changed_count };
	static const uint8_t reasons[4] = { REPORT_CREATED, REPORT_MOVED, REPORT_CHANGED, 0 };
	uint32_t next[4] = { 0, 0, 0, 0 };
	body_id *touched;
	enum status status = list_contact_changes(host, ticked, &touched, &counts[3]);
	lists[3] = touched;
	if (status == STATUS_OK)
		status = array_reserve(&ticked->bodies, &ticked->body_room,
				       (uint64_t)counts[0] + counts[1] + counts[2] + counts[3],
				       sizeof *ticked->bodies);
	while (status == STATUS_OK) {
		body_id least = UINT32_MAX;
		for (int k = 0; k < 4; k++)
			if (next[k] < counts[k])
				least = MIN_OF(least, lists[k][next[k]]);
		if (least == UINT32_MAX)
			break;
		uint8_t why = 0;
		for (int k = 0; k < 4; k++)
			if (next[k] < counts[k] && lists[k][next[k]] == least) {
				why |= reasons[k];
				next[k]++;
			}
		status = report_add_body(host->world, ticked, views, least, why);
	}
	return status;
}

/* The results of a boundary are in three lists: of the boundary's own batches, of stored batches, and of
 * batches refused before they reached the engine. */
struct boundary_results {
	const struct batch_result *items;
	uint32_t count;
};
enum { RESULTS_STORED = 1, RESULT_LISTS = 3 };

static void add_result(struct tick_report *ticked, const struct batch_result *from)
{
	struct report_result *to = &ticked->results[ticked->result_count++];
	*to = (struct report_result){
		.session = from->session,
		.batch = from->number & ~HOST_STEP_BATCH,
		.tick = from->tick,
		.edit = from->edit,
		.status = from->stored ? STATUS_WAITING : from->status,
		.index = from->status == STATUS_OK ? -1 : (int32_t)from->why.index,
		.step = (from->number & HOST_STEP_BATCH) != 0,
		.first_value = ticked->value_count,
		.value_count = from->value_count,
	};
	if (from->status != STATUS_OK) {
		_Static_assert(sizeof to->text == sizeof from->why.text, "no text is cut");
		_Static_assert(sizeof to->field == sizeof from->why.field, "no field is cut");
		memcpy(to->field, from->why.field, sizeof to->field);
		memcpy(to->text, from->why.text, sizeof to->text);
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

/* How many batches with that tick, session and number waited in the world when the host was created. */
static uint32_t count_inherited(const struct host *host, const struct batch_result *result)
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

/* True if result k of a stored batch is of an inherited batch. Of batches with equal tick, session and number
 * the inherited ones are first, because they were stored before any batch was sent to this host. */
static bool is_inherited(const struct host *host, const struct batch_result *stored, uint32_t k)
{
	uint32_t inherited = count_inherited(host, &stored[k]), before = 0;
	while (before < inherited && before < k &&
	       stored[k - 1 - before].session == stored[k].session &&
	       stored[k - 1 - before].number == stored[k].number)
		before++;
	return before < inherited;
}

static enum status add_results(const struct host *host, struct tick_report *ticked,
			       const struct boundary_results *lists)
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
			if (k != RESULTS_STORED ||
			    !is_inherited(host, lists[k].items - host->stored_reported,
					  i + host->stored_reported))
				add_result(ticked, &lists[k].items[i]);
	return status;
}

/* Adds the events that are not reported yet. A boundary that stays open reports the limit that stopped it;
 * the step that closes it reports all other events, including that of events dropped over their limit. So
 * each event is reported once. */
static enum status add_events(const struct host *host, const struct boundary *boundary,
			      struct tick_report *ticked)
{
	uint32_t count;
	const struct event *events = world_events(host->world, &count);
	bool failed = boundary->status != STATUS_OK;
	enum status status =
		array_reserve(&ticked->events, &ticked->event_room, count, sizeof *ticked->events);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < count; i++) {
		bool limit = events[i].kind == EVENT_LIMIT && events[i].fraction == 0;
		if (failed ? limit && !host->open : !limit)
			ticked->events[ticked->event_count++] = events[i];
	}
	return STATUS_OK;
}

/* The bodies that changed since the last report with changes. */
static enum status add_bodies(struct host *host, bool stepping, struct tick_report *ticked)
{
	const struct world *world = host->world;
	struct contact_view *views = NULL;
	if (ticked->contacts)
		views = ARENA_ARRAY(&host->scratch, struct contact_view, WIRE_BODY_CONTACTS);
	if (ticked->contacts && views == NULL)
		return STATUS_NO_MEMORY;
	if (ticked->whole)
		return report_add_bodies(world, ticked, views);
	/* A report about control alone repeats no change. */
	struct world_changes changes = { 0 };
	if (stepping)
		changes = world_changes(world);
	enum status status = array_reserve(&ticked->removed, &ticked->removed_room,
					   changes.removed_count, sizeof *ticked->removed);
	if (status != STATUS_OK)
		return status;
	ticked->removed_count = changes.removed_count;
	if (changes.removed_count > 0)
		memcpy(ticked->removed, changes.removed,
		       changes.removed_count * sizeof *ticked->removed);
	return add_changes(host, ticked, views, &changes);
}

static enum status add_news(const struct host *host, const struct boundary *boundary,
			    struct tick_report *ticked)
{
	uint32_t stored_count;
	const struct batch_result *stored = world_stored_results(host->world, &stored_count);
	const struct boundary_results lists[RESULT_LISTS] = {
		{ boundary->results, boundary->count },
		{ stored_count > host->stored_reported ? &stored[host->stored_reported] : NULL,
		  stored_count - host->stored_reported },
		{ boundary->refused, boundary->refused_count },
	};
	enum status status = STATUS_OK;
	if (!ticked->unlisted)
		status = add_events(host, boundary, ticked);
	return status == STATUS_OK ? add_results(host, ticked, lists) : status;
}

/* The state's name, hash, mode, and the figures of schedule and world. */
static void add_figures(const struct host *host, const struct boundary *boundary,
			struct tick_report *ticked)
{
	ticked->info = world_info(host->world);
	ticked->stats = world_stats(host->world);
	ticked->tick = ticked->info.tick;
	ticked->epoch = ticked->info.epoch;
	ticked->edit = ticked->info.edit;
	ticked->tick_hash = world_tick_hash(host->world);
	ticked->mode = (uint8_t)host->mode;
	ticked->late = host->schedule.late;
	ticked->dropped = host->schedule.dropped;
	ticked->pace = schedule_pace(&host->schedule);
	ticked->stalls = host->stalls;
	ticked->costs = host->costs;
	ticked->stages = host->profile.sums;
	ticked->failure = host->failure;
	if (!boundary->stepping)
		return;
	ticked->step = boundary->status == STATUS_OK && !boundary->edits;
	ticked->lateness_ns = boundary->turn.lateness;
	ticked->cost_ns = boundary->cost;
}

/* The bodies, joints and particles that changed, or all of them. */
static enum status add_lists(struct host *host, const struct boundary *boundary,
			     struct tick_report *ticked)
{
	struct arena_mark mark = arena_mark(&host->scratch);
	/* A report about control alone repeats no change and no event of the boundary before it; the
	 * changes of one that was left open are counted from the last step that was made. */
	enum status status = STATUS_OK;
	ticked->whole = host->whole_due || (boundary->stepping && host->open);
	ticked->contacts = host->contacts_watched;
	ticked->contacts_all = host->contacts_watched && (host->contacts_due || ticked->whole);
	if (ticked->whole || ticked->contacts_all || boundary->stepping)
		status = add_bodies(host, boundary->stepping, ticked);
	if (status == STATUS_OK)
		status = host_report_joints(host, boundary->stepping, ticked);
	if (status == STATUS_OK && host->particles_watched)
		status = report_add_particles(host->world, ticked);
	arena_rewind(&host->scratch, mark);
	return status;
}

enum status host_report_tick(struct host *host, const struct boundary *boundary)
{
	struct report *report = report_queue_tick(&host->reports);
	if (report == NULL)
		return STATUS_NO_MEMORY;
	struct tick_report *ticked = &report->ticked;
	enum status status = STATUS_OK;
	ticked->unlisted = !atomic_load_explicit(&host->ticks_watched, memory_order_relaxed) &&
			   !host->whole_due && !host_is_followed(host);
	if (!ticked->unlisted)
		status = add_lists(host, boundary, ticked);
	if (status == STATUS_OK && boundary->stepping)
		status = add_news(host, boundary, ticked);
	if (status != STATUS_OK) {
		report_queue_return(&host->reports, report);
		return status;
	}
	add_figures(host, boundary, ticked);
	host_follow(host, ticked);
	host_send(host, report);
	return STATUS_OK;
}
