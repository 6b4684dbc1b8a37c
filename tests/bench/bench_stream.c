/* bench_stream: cost of watching 901 cubes, in bytes and in time, by profile.
 *
 *	bench_stream figures [TICKS]		a table: bytes of a changed body, kbit/s, ns to encode
 *	bench_stream soak [TICKS] [SEED]	clients that join, leave and stall; every mirror is compared
 *
 * The trace is 901 moving cubes (tests/lib/cubes.h) after two seconds of settling. Bytes are those
 * of whole frames as they are sent, with their headers, ids, masks and hashes. A body counts as
 * changed in a frame if it has a row in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/delta.h"
#include "protocol/frame.h"
#include "protocol/pack.h"
#include "protocol/unpack.h"
#include "server/base/body_hash.h"
#include "server/base/heap.h"
#include "server/io/instant.h"
#include "server/host/report_queue.h"
#include "server/sync/quantised.h"
#include "tests/lib/cubes.h"
#include "tests/lib/watchers.h"

enum { SETTLE = 120, TICKS = 3600, REPEATS = 20 };

static struct cubes cubes;
static struct watchers watchers;
static const char *const NAMES[WATCHER_PROFILES] = { "plain", "exact", "view", "sim" };

static void start(uint64_t seed, bool changing, uint32_t clients, bool restless)
{
	cubes_start(&cubes, seed, changing);
	for (int i = 0; i < SETTLE; i++)
		cubes_play(&cubes);
	watchers_start(&watchers, clients, seed + 1, restless);
	watchers_tick(&watchers, cubes_report(&cubes, true), cubes.bodies, cubes.count);
}

static void finish(void)
{
	watchers_finish(&watchers);
	cubes_finish(&cubes);
}

/* ---- time -------------------------------------------------------------------------------------- */

/* The work of one group: collect and refine, pack; and separately the quantising of changed rows.
 * Of each frame the fastest of REPEATS counts, to exclude other load of the machine. */
struct times {
	uint64_t collect, pack, quantise, rows, quantised_rows;
};

static void time_quantising(const struct view *view, enum wire_profile profile, struct times *times)
{
	const struct view_changes *changes = &view->ring[view->serial % WIRE_RING_TICKS];
	static struct wire_quantised made[CUBES_MAX];
	uint64_t best = UINT64_MAX;
	for (int i = 0; i < REPEATS; i++) {
		uint64_t begun = instant_now();
		for (uint32_t k = 0; k < changes->rows.count; k++)
			wire_quantise(profile, &view->rows[changes->rows.items[k]].body, &made[k]);
		best = MIN_OF(best, instant_now() - begun);
	}
	times->quantise += best;
	times->quantised_rows += changes->rows.count;
}

static void time_one(struct view *view, struct quantised *quantised, enum wire_profile profile,
		     wire_mask fields, struct times *times)
{
	static struct view_delta delta;
	static uint8_t scratch[1 << 20];
	struct delta_part part;
	uint32_t parts, bytes;
	bool exact = !wire_profile_quantised(profile);
	uint64_t begun;
	if (!exact && quantised_follow(quantised, view, false) != STATUS_OK)
		abort();
	if (!exact)
		time_quantising(view, profile, times);
	uint64_t collect = UINT64_MAX, pack = UINT64_MAX;
	for (int i = 0; i < REPEATS; i++) {
		begun = instant_now();
		if (view_collect(view, view->serial - 1, fields, &delta) != STATUS_OK)
			abort();
		if (!exact)
			quantised_refine(quantised, view, view->serial - 1, &delta);
		uint64_t between = instant_now();
		struct delta_frame frame = { .profile = profile,
					     .fields = fields,
					     .tick = view->tick,
					     .rows = delta.rows.items,
					     .row_count = delta.rows.count };
		if (delta_plan(&frame, WIRE_FRAME_DOWN, &part, 1, &parts) != STATUS_OK ||
		    delta_pack_tail(&frame, &part, 1, 0, scratch, sizeof scratch, &bytes) !=
			    STATUS_OK)
			abort();
		pack = MIN_OF(pack, instant_now() - between);
		collect = MIN_OF(collect, between - begun);
	}
	times->collect += collect;
	times->pack += pack;
	times->rows += delta.rows.count;
}

/* ---- figures ----------------------------------------------------------------------------------- */

static void print_row(const struct watcher_counts *counts, const char *name, wire_mask fields,
		      const struct times *times)
{
	double frames = (double)(counts->frames - counts->snapshots);
	double rows = (double)counts->rows, timed = (double)times->rows;
	printf("%-6s %6u %9.1f %8.2f %9.1f %9.0f %9.1f %9.1f", name, fields, rows / frames,
	       (double)counts->bytes / rows, (double)counts->bytes / frames,
	       (double)counts->bytes * 8 * 60 / frames / 1000, (double)times->collect / timed,
	       (double)times->pack / timed);
	if (times->quantise > 0)
		printf(" %9.1f", (double)times->quantise / (double)times->quantised_rows);
	printf("\n");
}

static void figures(uint32_t ticks, wire_mask fields, bool timed)
{
	struct times times[WATCHER_PROFILES] = { 0 };
	struct view view;
	struct quantised quantised[2];
	start(901, false, WATCHER_PROFILES, false);
	view_init(&view);
	for (uint32_t p = 0; p < WATCHER_PROFILES; p++)
		watchers_enter(&watchers, p, (enum wire_profile)p, fields, 1);
	for (uint32_t p = 0; p < 2; p++)
		quantised_init(&quantised[p], WIRE_PROFILE_VIEW + p);
	struct report *whole = cubes_report(&cubes, true);
	if (view_apply(&view, &whole->ticked) != STATUS_OK)
		abort();
	report_destroy(whole);
	for (uint32_t i = 0; i < ticks; i++) {
		cubes_play(&cubes);
		struct report *report = cubes_report(&cubes, false);
		if (view_apply(&view, &report->ticked) != STATUS_OK)
			abort();
		for (uint32_t p = 0; p < WATCHER_PROFILES && timed; p++)
			time_one(&view, p < 2 ? NULL : &quantised[p - 2], (enum wire_profile)p,
				 fields, &times[p]);
		watchers_tick(&watchers, report, cubes.bodies, cubes.count);
	}
	for (uint32_t p = 0; p < WATCHER_PROFILES; p++)
		print_row(&watchers.counts[p], NAMES[p], fields, &times[p]);
	for (uint32_t p = 0; p < 2; p++)
		quantised_release(&quantised[p]);
	view_release(&view);
	finish();
}

/* ---- contacts ---------------------------------------------------------------------------------- */

/* The contacts column alone, as a DELTA to the tick before: bytes of a point, with ids and masks,
 * and their number over all points of the world. */
static void contact_figures(uint32_t ticks)
{
	static uint8_t scratch[1 << 20];
	struct view_delta delta = { 0 };
	struct view view;
	struct quantised quantised[2];
	uint64_t bytes[WATCHER_PROFILES] = { 0 }, rows[WATCHER_PROFILES] = { 0 },
		 told[WATCHER_PROFILES] = { 0 };
	uint64_t points = 0;
	cubes_start(&cubes, 901, false);
	cubes.contacts = true;
	for (int i = 0; i < SETTLE; i++)
		cubes_play(&cubes);
	view_init(&view);
	for (uint32_t p = 0; p < 2; p++)
		quantised_init(&quantised[p], WIRE_PROFILE_VIEW + p);
	for (uint32_t i = 0; i <= ticks; i++) {
		struct report *report = cubes_report(&cubes, i == 0);
		if (view_apply(&view, &report->ticked) != STATUS_OK)
			abort();
		report_destroy(report);
		points += world_stats(cubes.world).points;
		for (uint32_t p = 0; p < WATCHER_PROFILES; p++) {
			struct wire_packer out = wire_packer_over(scratch, sizeof scratch);
			if (p >= 2 && quantised_follow(&quantised[p - 2], &view, true) != STATUS_OK)
				abort();
			if (i == 0)
				continue;
			if (view_collect(&view, view.serial - 1, WIRE_COLUMN_CONTACTS, &delta) !=
			    STATUS_OK)
				abort();
			if (p >= 2)
				quantised_refine(&quantised[p - 2], &view, view.serial - 1, &delta);
			block_pack(&out, (enum wire_profile)p, WIRE_COLUMN_CONTACTS,
				   delta.rows.items, delta.rows.count);
			bytes[p] += out.bytes;
			rows[p] += delta.rows.count;
			for (uint32_t k = 0; k < delta.rows.count; k++) {
				const struct wire_body *body = delta.rows.items[k].body;
				told[p] += wire_touches_count(
					(struct wire_slice){ body->contacts, body->contact_bytes });
			}
		}
		cubes_play(&cubes);
	}
	printf("contacts alone, of %.0f points in the world\n", (double)points / (ticks + 1));
	printf("%-6s %9s %9s %9s\n", "", "changed", "points", "B/point");
	for (uint32_t p = 0; p < WATCHER_PROFILES; p++)
		printf("%-6s %9.1f %9.1f %9.2f\n", NAMES[p], (double)rows[p] / ticks,
		       (double)told[p] / ticks, (double)bytes[p] / (double)told[p]);
	for (uint32_t p = 0; p < 2; p++)
		quantised_release(&quantised[p]);
	view_delta_release(&delta);
	view_release(&view);
	cubes_finish(&cubes);
}

static void all_figures(uint32_t ticks)
{
	printf("901 cubes at play, %u ticks at 60 Hz; a row a profile and choice of fields\n",
	       ticks);
	printf("%-6s %6s %9s %8s %9s %9s %9s %9s %9s\n", "", "fields", "changed", "B/body",
	       "B/frame", "kbit/s", "collect", "pack", "quantise");
	figures(ticks, WIRE_COLUMN_POSITION | WIRE_COLUMN_ROTATION | WIRE_COLUMN_STATUS, true);
	figures(ticks, WIRE_COLUMNS_TICK, true);
	contact_figures(MIN_OF(ticks, 600u));
	printf("collect and pack: ns a changed body and frame; quantise: ns a body the engine moved\n");
}

/* ---- soak -------------------------------------------------------------------------------------- */

static void soak(uint32_t ticks, uint64_t seed)
{
	start(seed, true, 12, true);
	for (uint32_t i = 0; i < 2; i++) {
		watchers.watchers[i].steady = true;
		watchers_enter(&watchers, i, WIRE_PROFILE_VIEW + i, WIRE_COLUMNS_ALL, 1);
	}
	for (uint32_t i = 0; i < ticks; i++) {
		cubes_play(&cubes);
		watchers_tick(&watchers, cubes_report(&cubes, false), cubes.bodies, cubes.count);
	}
	printf("%u ticks, seed %llu, 12 clients of whom 2 (view, sim) took every frame;\n"
	       "every compared mirror equalled the world, bit for bit\n",
	       ticks, (unsigned long long)seed);
	printf("%-6s %9s %9s %9s %9s %9s %6s %6s %9s %7s\n", "", "frames", "compared", "differ.",
	       "absolute", "snapshots", "joins", "leaves", "skips", "gap max");
	for (uint32_t p = 0; p < WATCHER_PROFILES; p++) {
		const struct watcher_counts *c = &watchers.counts[p];
		printf("%-6s %9llu %9llu %9llu %9llu %9llu %6llu %6llu %9llu %7llu\n", NAMES[p],
		       (unsigned long long)c->frames, (unsigned long long)c->compared,
		       (unsigned long long)c->differences, (unsigned long long)c->absolute,
		       (unsigned long long)c->snapshots, (unsigned long long)c->joins,
		       (unsigned long long)c->leaves, (unsigned long long)c->skips,
		       (unsigned long long)c->gap_max);
	}
	finish();
}

int main(int argc, char **argv)
{
	uint32_t ticks = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : TICKS;
	if (argc > 1 && strcmp(argv[1], "soak") == 0)
		soak(argc > 2 ? ticks : 100000, argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
	else
		all_figures(ticks);
	return 0;
}
