/* view.c: read access to a world for engine.h; nothing here changes the state. */
#include "server/base/sort.h"
#include "server/engine/world/parameters.h"
#include "server/engine/world/world.h"

#include <string.h>

struct world_info world_info(const struct world *world)
{
	const struct world_table *t = &world->tables.world;
	return (struct world_info){
		.tick = t->tick[0],
		.edit = t->edit[0],
		.epoch = t->epoch[0],
		.rate_num = t->rate_num[0],
		.rate_den = t->rate_den[0],
		.planar = t->planar[0] != 0,
		.stopped = world_stopped(world),
		.gravity = t->gravity[0],
		.bounds_mode = (enum bounds_mode)t->bounds_mode[0],
		.bounds_min = t->bounds_min[0],
		.bounds_max = t->bounds_max[0],
		.method = world->method.method->name,
		.limits = { .bodies = t->bodies_max[0],
			    .placements = t->placements_max[0],
			    .contacts = t->contacts_max[0],
			    .shapes = t->shapes_max[0],
			    .joints = t->joints_max[0],
			    .events = t->events_max[0],
			    .memory_bytes = t->memory_max[0],
			    .shape_bytes = t->shape_bytes_max[0] },
	};
}

void world_begin(struct world *world)
{
	ASSERT(world->tables.world.tick[0] == 0);
	world->tables.world.edit[0] = 0;
}

void world_new_epoch(struct world *world, uint32_t epoch)
{
	world->tables.world.epoch[0] = epoch;
}

void world_set_shape_source(struct world *world, struct shape_source shapes)
{
	world->source = shapes;
}

struct world_stats world_stats(const struct world *world)
{
	const struct step_report *report = &world->dynamics.report;
	return (struct world_stats){
		.bodies = world_body_count(world),
		.awake = world->dynamics.awake.count,
		.placements = world_placement_count(world),
		.shapes = shapes_count(world),
		.contacts = world->dynamics.contact_used.count,
		.touching = report->touching,
		.points = report->points,
		.islands = report->islands,
		.colours = report->colours,
		.manifolds_made = report->manifolds_made,
		.manifolds_kept = report->manifolds_kept,
		.iterations = report->iterations,
		.fallbacks = report->fallbacks,
		.quarantined = report->quarantined,
		.islands_dense = report->islands_dense,
		.islands_sparse = report->islands_sparse,
		.islands_dependent = report->islands_dependent,
		.islands_reduced = report->islands_reduced,
		.islands_maximal = report->islands_maximal,
		.joints = world->dynamics.joint_used.count,
		.taut = report->taut,
		.sagging = report->sagging,
		.joints_broken_total = world->joints_broken_total,
		.joint_error = report->joint_error,
		.push_work = report->push_work,
		.push_work_total = world->push_work_total,
		.fallbacks_total = world->fallbacks_total,
		.sweeps_total = world->sweeps_total,
		.impact_total = world->impact_total,
		.impact_error = report->impact_error,
		.quarantined_total = world->quarantined_total,
		.residual = report->residual,
		.penetration_max = report->penetration_max,
		.penetration_mean = report->penetration_mean,
		.memory_bytes = sizeof *world + world->tables.bytes + rollback_memory(world) +
				dynamics_memory(&world->dynamics) + changes_memory(&world->changes),
	};
}

void world_trim(struct world *world)
{
	dynamics_trim(&world->dynamics);
}

/* ---- bodies ----------------------------------------------------------------------------------- */

static uint32_t find_visible(const struct world *world, body_id id)
{
	return id < IDS_END ? dynamics_find_body(&world->dynamics, id) : ROW_NONE;
}

enum status world_body(const struct world *world, body_id id, struct body_view *out)
{
	const struct body_table *body = &world->tables.body;
	uint32_t row = find_visible(world, id);
	if (row == ROW_NONE)
		return STATUS_UNKNOWN_BODY;
	*out = (struct body_view){
		.id = id,
		.status = body->status[row],
		.asleep = body->sleep_set[row] != 0,
		.quarantined = body->quarantined[row] != 0,
		.fast = (body->flags[row] & BODY_FAST) != 0,
		.sensor = (body->flags[row] & BODY_SENSOR) != 0,
		.owner = body->owner[row],
		.tag = body->tag[row],
		.colour = body->colour[row],
		.position = body->position[row],
		.rotation = body->rotation[row],
		.velocity = body->velocity[row],
		.angular_velocity = body->angular_velocity[row],
		.mass = body->mass[row],
		.centre = body->centre[row],
		.placement_count = world_body_placements(world, id, NULL, 0),
	};
	return STATUS_OK;
}

/* Rows are not in order of ids once a slot has been reused, so the ids are sorted, in the scratch
 * arrays of the lists of changes. */
uint32_t world_bodies(const struct world *world, body_id *ids, uint32_t capacity)
{
	const struct body_table *body = &world->tables.body;
	const struct changes *changes = &world->changes;
	uint32_t count = 0;
	for (uint32_t row = 0; row < body->count; row++)
		if (body->id[row] != 0 && body->id[row] != BODY_WALLS)
			changes->keys[count++] = body->id[row];
	ASSERT(count == world_body_count(world));
	sort_keys(changes->keys, NULL, changes->scratch, NULL, count);
	for (uint32_t i = 0; i < MIN_OF(count, capacity); i++)
		ids[i] = (body_id)changes->keys[i];
	return count;
}

uint32_t world_body_placements(const struct world *world, body_id id, struct placement_view *out,
			       uint32_t capacity)
{
	const struct placement_table *placement = &world->tables.placement;
	uint32_t row = find_visible(world, id), count = 0;
	if (row == ROW_NONE)
		return 0;
	for (uint32_t p = world->tables.body.first_placement[row]; p != 0;
	     p = placement->next[p - 1], count++)
		if (count < capacity)
			out[count] = (struct placement_view){
				.shape = world->shapes[placement->shape[p - 1]],
				.position = placement->position[p - 1],
				.rotation = placement->rotation[p - 1],
			};
	return count;
}

struct world_changes world_changes(const struct world *world)
{
	/* The lists are a cache, made on request; making them does not change the world's state. */
	struct changes *changes = (struct changes *)&world->changes;
	changes_list(changes, &world->tables);
	return (struct world_changes){
		.created = changes->created.items,
		.moved = changes->moved.items,
		.changed = changes->changed.items,
		.removed = changes->removed.items,
		.created_count = changes->created.count,
		.moved_count = changes->moved.count,
		.changed_count = changes->changed.count,
		.removed_count = changes->removed.count,
	};
}

/* ---- methods and parameters ------------------------------------------------------------------- */

uint32_t world_methods(struct method_info *out, uint32_t capacity)
{
	uint32_t count;
	const struct method *const *list = method_list(&count);
	for (uint32_t i = 0; i < MIN_OF(count, capacity); i++)
		out[i] = (struct method_info){ .number = list[i]->number,
					       .name = list[i]->name,
					       .summary = list[i]->summary,
					       .motion = list[i]->motion,
					       .shapes = list[i]->shapes,
					       .friction = list[i]->friction,
					       .restitution = list[i]->restitution,
					       .sleep = list[i]->sleep,
					       .planar = list[i]->planar,
					       .three_d = list[i]->three_d,
					       .joints = list[i]->joints };
	return count;
}

uint32_t world_method_names(struct method_name *out, uint32_t capacity)
{
	uint32_t count;
	const struct method_alias *list = method_aliases(&count);
	for (uint32_t i = 0; i < MIN_OF(count, capacity); i++)
		out[i] = (struct method_name){
			.name = list[i].name,
			.method = list[i].method,
			.parameter = list[i].parameter == UINT32_MAX
					     ? NULL
					     : parameter_entries[list[i].parameter].name,
			.value = list[i].value
		};
	return count;
}

enum status world_supports(const struct world *world, const char *method, struct reason *why)
{
	const struct method *found = method_find(method);
	if (found == NULL)
		return reason_set(
			why, STATUS_UNKNOWN_METHOD, -1, "method",
			"method is %.31s: there is no such method; docs/METHODS.md lists them",
			method);
	enum status status = method_supports(found, &world->dynamics, why);
	return status == STATUS_OK ? method_asks_world(found, &world->tables, why) : status;
}

uint32_t world_parameters(struct parameter_info *out, uint32_t capacity)
{
	uint32_t count = 0;
	for (uint32_t row = 0; row < PARAMETER_COUNT; row++) {
		const struct parameter_entry *entry = &parameter_entries[row];
		if (entry->name == NULL || count++ >= capacity)
			continue;
		out[count - 1] = (struct parameter_info){ .number = row,
							  .name = entry->name,
							  .methods = entry->methods,
							  .old = parameter_alias(row, 0),
							  .unit = entry->unit,
							  .doc = entry->doc,
							  .initial = entry->initial,
							  .min = entry->min,
							  .max = entry->max,
							  .whole = entry->whole };
	}
	return count;
}

double world_parameter(const struct world *world, const char *name)
{
	uint32_t row = parameter_find(name);
	return row < PARAMETER_COUNT ? world->tables.parameter.value[row]
				     : scalar_from_bits(UINT64_C(0x7ff8000000000000));
}
