/* world_step.c: one tick.
 *
 * In this order: apply the stored batches that are due, give movers their velocities, make the
 * method's step, enforce the bounds, move the particles, count the drives down, then update the
 * changes and sort the events. If the step would exceed a limit or memory runs out, no step is
 * made, and the world reports that once per boundary.
 */
#include "server/base/array.h"
#include "server/engine/particles/particles.h"
#include "server/engine/world/body_mass.h"
#include "server/engine/world/controls.h"
#include "server/engine/world/drives.h"
#include "server/engine/world/movers.h"
#include "server/engine/world/world.h"

#include <string.h>

/* ---- bounds ----------------------------------------------------------------------------------- */

static bool is_outside(const struct world *world, vec3 centre)
{
	const struct world_table *table = &world->tables.world;
	vec3 low = table->bounds_min[0], high = table->bounds_max[0];
	bool flat = table->planar[0] != 0;
	return centre.x < low.x || centre.x > high.x || centre.y < low.y || centre.y > high.y ||
	       (!flat && (centre.z < low.z || centre.z > high.z));
}

static void deactivate_body(struct world *world, uint32_t row, vec3 centre)
{
	world->tables.body.status[row] = BODY_INACTIVE;
	body_inverses_set(&world->tables, row);
	dynamics_body_changed(&world->dynamics, row);
	dynamics_event(&world->dynamics, (struct event){ .kind = EVENT_OUT_OF_BOUNDS,
							 .a = world->tables.body.id[row],
							 .fraction = 1,
							 .point = centre });
}

/* Only an awake body can leave the bounds. Rows ascend, so the events have a defined order. */
static void enforce_bounds(struct world *world)
{
	if (world->tables.world.bounds_mode[0] != BOUNDS_INACTIVE)
		return;
	const struct bitset *awake = &world->dynamics.awake;
	for (uint32_t row = bitset_next(awake, 0); row != BITSET_NONE;
	     row = bitset_next(awake, row + 1)) {
		vec3 centre = dynamics_centre(&world->tables, row);
		if (is_outside(world, centre))
			deactivate_body(world, row, centre);
	}
}

/* ---- what changed ----------------------------------------------------------------------------- */

/* A body that is awake before or after the step may have moved. */
static void mark_awake_as_candidates(struct world *world)
{
	const struct bitset *awake = &world->dynamics.awake;
	for (uint32_t row = bitset_next(awake, 0); row != BITSET_NONE;
	     row = bitset_next_word(awake, row / 64 + 1))
		bitset_set_word(&world->changes.candidates, row / 64, awake->words[row / 64]);
}

/* ---- the step --------------------------------------------------------------------------------- */

static bool has_step_refusal(const struct event_list *events)
{
	for (uint32_t i = 0; i < events->count; i++)
		if (events->items[i].kind == EVENT_LIMIT && events->items[i].fraction == 0)
			return true;
	return false;
}

/* Reports, once per boundary, that no step was made. The next world_step tries again. */
static enum status refuse_step(struct world *world, enum status status)
{
	struct world_table *table = &world->tables.world;
	struct event_list *events = &world->dynamics.events;
	world->starved = status == STATUS_NO_MEMORY;
	table->stopped[0] |= !world->starved;
	if (!has_step_refusal(events))
		dynamics_event(
			&world->dynamics,
			(struct event){ .kind = EVENT_LIMIT, .value = world->dynamics.limit_met });
	world_sort_events(world);
	return status;
}

static void add_step_report(struct world *world)
{
	const struct step_report *report = &world->dynamics.report;
	world->fallbacks_total += report->fallbacks;
	world->quarantined_total += report->quarantined;
	world->joints_broken_total += report->joints_broken;
	world->push_work_total += report->push_work;
	world->sweeps_total.bodies += report->swept;
	world->sweeps_total.stops += report->sweep_stops;
	world->sweeps_total.cores += report->sweep_cores;
	world->sweeps_total.pairs += report->sweep_pairs;
	world->sweeps_total.limits += report->sweep_limits;
#define ADD_COUNT(name, NAME, text) world->impact_total.name += report->impact.name;
	IMPACT_COUNTS(ADD_COUNT)
#undef ADD_COUNT
	if (report->fallbacks > 0)
		dynamics_event(&world->dynamics, (struct event){ .kind = EVENT_FALLBACK,
								 .fraction = 1,
								 .value = report->fallbacks });
}

enum status world_step(struct world *world, const struct parallel *parallel, struct reason *why)
{
	struct reason own;
	why = why != NULL ? why : &own;
	memset(why, 0, sizeof *why);
	struct profile *profile = world->dynamics.profile;
	profile_enter(profile, PROFILE_APPLY);
	world_open_boundary(world);
	enum status status = world_apply_due(world, NULL, 0, NULL);
	if (status != STATUS_OK)
		return refuse_step(world, reason_set(why, status, -1, "memory", "out of memory"));
	controls_begin(world);
	world->dynamics.parallel = parallel;
	status = particles_prepare(&world->dynamics, world_dt(world));
	world->dynamics.parallel = &parallel_serial;
	if (status != STATUS_OK)
		return refuse_step(world, reason_set(why, status, -1, "memory", "out of memory"));
	status = movers_begin(world);
	if (status != STATUS_OK) {
		particles_undo(&world->dynamics);
		return refuse_step(world, reason_set(why, status, -1, "memory", "out of memory"));
	}
	sensors_begin(world);
	mark_awake_as_candidates(world);
	uint32_t first_event = world->dynamics.events.count;
	world->dynamics.parallel = parallel;
	memset(&world->dynamics.report, 0, sizeof world->dynamics.report);
	status = method_step(&world->method, &world->dynamics, world_dt(world), why);
	if (status != STATUS_OK) {
		world->dynamics.parallel = &parallel_serial;
		movers_undo(world);
		particles_undo(&world->dynamics);
		return refuse_step(world, status);
	}
	movers_end(world);
	add_step_report(world);
	enforce_bounds(world);
	particles_step(&world->dynamics, world_dt(world));
	world->dynamics.parallel = &parallel_serial;
	profile_enter(profile, PROFILE_CHANGES);
	sensors_end(world);
	drives_count_down(world);
	world->tables.world.tick[0]++;
	world->tables.world.edit[0] = 0;
	world->tables.world.stopped[0] = 0;
	world->starved = false;
	mark_awake_as_candidates(world);
	changes_update_candidates(&world->changes, &world->tables, parallel);
	/* A body that the step woke and then put to sleep or into quarantine was awake neither before
	 * nor after the step, so mark_awake_as_candidates has missed it. */
	world_note_woken(world, first_event);
	world_sort_events(world);
	world->open = false;
	return STATUS_OK;
}

void world_set_profile(struct world *world, struct profile *profile)
{
	world->dynamics.profile = profile;
}

bool world_stopped(const struct world *world)
{
	return world->tables.world.stopped[0] != 0 || world->starved;
}

const struct event *world_events(const struct world *world, uint32_t *count)
{
	*count = world->dynamics.events.count;
	return world->dynamics.events.items;
}
