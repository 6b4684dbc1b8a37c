/* host_past.c: what the host does for its world's past: the snapshot "start", keyframes, and bounds of what
 * bodies did between them (store/keyframes.h).
 *
 * The bounds are gathered from the reports, which list every body that moved: a report costs some ns a body.
 * A keyframe costs a world_save; it is packed by ANSWERS.
 */
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/host/host_state.h"

/* Between two keyframes of a world that is stepped as fast as it can. Packing a keyframe takes some ms, and
 * ticks that took this time take no longer to compute again. */
#define KEYFRAMES_APART (100 * NS_PER_MS)

void host_follow_release(struct host *host)
{
	ARRAY_RELEASE(&host->follow.bounds);
	keyframes_release(host->options.keyframes);
	host->options.keyframes = NULL;
}

/* ---- the snapshot "start" ------------------------------------------------------------------------ */

enum status host_keep_start(struct host *host)
{
	struct reason why;
	if (!host->start_due)
		return STATUS_OK;
	struct report *report = heap_alloc_zero(sizeof *report);
	if (report == NULL)
		return STATUS_NO_MEMORY;
	enum status status = host_store_snapshot(host, HOST_START,
						 world_state_hash(host->world, NULL, NULL), &why);
	if (status == STATUS_NO_MEMORY || status == STATUS_FULL) {
		heap_free(report);
		return status;
	}
	host->start_due = false;
	if (status != STATUS_OK) {
		/* Over the quota of snapshots: the world has no start to return to. */
		heap_free(report);
		return STATUS_OK;
	}
	/* LOOP counts the named snapshots of the file by their replies; this one has no requester. */
	struct requester nobody = { 0, 0, REPLY_SAVED, MESSAGE_SAVE, report };
	host_send(host, host_reply(host, &nobody));
	return STATUS_OK;
}

/* ---- bounds -------------------------------------------------------------------------------------- */

/* Rounding to float moves a value by at most 2^-24 of it, or by less than the least normal float. */
static void widen_bounds(struct keyframe_bounds *bounds, const double values[KEYFRAME_QUANTITIES])
{
	for (uint32_t q = 0; q < KEYFRAME_QUANTITIES; q++) {
		double size = values[q] < 0 ? -values[q] : values[q];
		double spare = size * 0x1p-23 + 1e-37;
		bounds->low[q] = MIN_OF(bounds->low[q], (float)(values[q] - spare));
		bounds->high[q] = MAX_OF(bounds->high[q], (float)(values[q] + spare));
	}
}

/* The bounds of `body`, new ones if the span does not list it; *at is where the search begins, because both
 * lists ascend. NULL without memory. */
static struct keyframe_bounds *bounds_of(struct follow *follow, body_id body, uint32_t *at)
{
	struct keyframe_bounds_list *list = &follow->bounds;
	while (*at < list->count && list->items[*at].body < body)
		(*at)++;
	if (*at < list->count && list->items[*at].body == body)
		return &list->items[*at];
	if (ARRAY_RESERVE(list, list->count + 1u) != STATUS_OK)
		return NULL;
	memmove(&list->items[*at + 1], &list->items[*at],
		(list->count - *at) * sizeof *list->items);
	list->count++;
	struct keyframe_bounds *bounds = &list->items[*at];
	bounds->body = body;
	for (uint32_t q = 0; q < KEYFRAME_QUANTITIES; q++) {
		bounds->low[q] = FLT_MAX;
		bounds->high[q] = -FLT_MAX;
	}
	return bounds;
}

static void gather_body(struct follow *follow, const struct body_view *view, uint32_t *at)
{
	double values[KEYFRAME_QUANTITIES];
	struct keyframe_bounds *bounds = follow->bounded ? bounds_of(follow, view->id, at) : NULL;
	follow->moved = true;
	follow->bounded = bounds != NULL;
	if (bounds == NULL)
		return;
	keyframe_quantities(view, values);
	widen_bounds(bounds, values);
}

static void gather_bounds(struct follow *follow, const struct tick_report *ticked)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < ticked->body_count; i++)
		if (ticked->bodies[i].why & (REPORT_CREATED | REPORT_MOVED))
			gather_body(follow, &ticked->bodies[i].view, &at);
}

/* The same from the world itself, for a tick whose report is that of a later one. */
static void gather_changes(struct follow *follow, const struct world *world)
{
	struct world_changes changes = world_changes(world);
	const body_id *const lists[2] = { changes.created, changes.moved };
	const uint32_t counts[2] = { changes.created_count, changes.moved_count };
	for (int k = 0; k < 2; k++) {
		uint32_t at = 0;
		for (uint32_t i = 0; i < counts[k]; i++) {
			struct body_view view;
			if (world_body(world, lists[k][i], &view) == STATUS_OK)
				gather_body(follow, &view, &at);
		}
	}
}

/* ---- keyframes ----------------------------------------------------------------------------------- */

/* ANSWERS: takes a reference. */
static void pack_keyframes(void *context)
{
	struct keyframes *keyframes = context;
	while (keyframes_pack(keyframes))
		;
	keyframes_release(keyframes);
}

static void begin_span(struct follow *follow, uint64_t tick)
{
	follow->from = follow->seen = tick;
	follow->bounds.count = 0;
	follow->bounded = true;
	follow->moved = false;
}

/* The end of an epoch, which has no keyframe. */
static void end_epoch(struct host *host)
{
	struct follow *follow = &host->follow;
	struct recorded_place place = { follow->epoch, follow->seen };
	if (follow->seen > follow->from)
		keyframes_put(host->options.keyframes, place, follow->from, NULL, &follow->bounds,
			      follow->bounded);
}

static bool keyframe_is_due(const struct host *host, uint64_t tick)
{
	const struct follow *follow = &host->follow;
	uint64_t spacing = keyframes_spacing(host->options.keyframes);
	uint64_t least = follow->moved ? spacing : spacing * KEYFRAMES_QUIET;
	return tick - follow->from >= least &&
	       executor_now(host->executor) - follow->kept_at >= KEYFRAMES_APART;
}

static void keep_keyframe(struct host *host, uint64_t tick)
{
	struct follow *follow = &host->follow;
	struct keyframes *keyframes = host->options.keyframes;
	struct recorded_place place = { follow->epoch, tick };
	struct bytes image = { 0 };
	if (!keyframes_has_room(keyframes))
		return;
	/* Without memory the next tick tries again. */
	if (world_save_open(host->world, &image) != STATUS_OK) {
		bytes_release(&image);
		return;
	}
	keyframes_put(keyframes, place, follow->from, &image, &follow->bounds, follow->bounded);
	begin_span(follow, tick);
	follow->kept_at = executor_now(host->executor);
	/* Where the queue is full, the next keyframe's work packs this one, too. */
	if (executor_post(host->executor, EXECUTOR_ANSWERS, pack_keyframes,
			  keyframes_retain(keyframes)) != STATUS_OK)
		keyframes_release(keyframes);
}

bool host_is_followed(const struct host *host)
{
	return host->options.keyframes != NULL && keyframes_spacing(host->options.keyframes) > 0;
}

void host_follow(struct host *host, const struct tick_report *ticked)
{
	struct follow *follow = &host->follow;
	if (!host_is_followed(host))
		return;
	if (!follow->begun || follow->epoch != ticked->epoch) {
		if (follow->begun)
			end_epoch(host);
		follow->begun = true;
		follow->epoch = ticked->epoch;
		begin_span(follow, ticked->tick);
		return;
	}
	follow->bounded = follow->bounded && ticked->tick <= follow->seen + 1;
	follow->seen = ticked->tick;
	gather_bounds(follow, ticked);
	if (ticked->step && keyframe_is_due(host, ticked->tick))
		keep_keyframe(host, ticked->tick);
}

void host_follow_tick(struct host *host)
{
	struct follow *follow = &host->follow;
	if (!host_is_followed(host) || !follow->begun)
		return;
	uint64_t tick = world_info(host->world).tick;
	follow->bounded = follow->bounded && tick <= follow->seen + 1;
	follow->seen = tick;
	gather_changes(follow, host->world);
	if (keyframe_is_due(host, tick))
		keep_keyframe(host, tick);
}
