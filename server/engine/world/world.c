/* world.c: creation of worlds from options or tables, boundaries, destruction. */
#include "server/engine/world/removal.h"
#include "server/engine/world/world.h"

#include "server/base/array.h"
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/base/sort.h"
#include "server/engine/math/float_environment.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/world/parameters.h"

#include <string.h>

/* ---- options ---------------------------------------------------------------------------------- */

struct world_options world_options_default(void)
{
	return (struct world_options){
		.rate_num = 60,
		.rate_den = 1,
		.gravity = { 0, -9.81, 0 },
		.seed = 1,
		.method = "soft-step",
		.limits = { .bodies = 65536,
			    .placements = 131072,
			    .contacts = 524288,
			    .shapes = 16384,
			    .joints = 65536,
			    .events = 1048576,
			    .memory_bytes = UINT64_C(4) << 30,
			    .shape_bytes = UINT64_C(1) << 30 },
	};
}

#define ROWS_MAX                                                                                   \
	(1u << 24) /* largest limit on bodies, placements, contacts, shapes, joints or events */
#define MEMORY_LIMIT_MIN (1u << 16) /* bytes; a world without bodies uses a few hundred */
#define RATE_PART_MAX 1000000u	    /* largest numerator and denominator of the rate */

static enum status check_count(uint32_t value, const char *name, struct reason *why)
{
	if (value >= 1 && value <= ROWS_MAX)
		return STATUS_OK;
	return reason_set(why, STATUS_RANGE, -1, name, "%s is %u: it must be within 1 and %u", name,
			  value, ROWS_MAX);
}

static enum status check_limits(const struct world_limits *limits, struct reason *why)
{
	enum status status = check_count(limits->bodies, "bodies_max", why);
	if (status == STATUS_OK)
		status = check_count(limits->placements, "placements_max", why);
	if (status == STATUS_OK)
		status = check_count(limits->contacts, "contacts_max", why);
	if (status == STATUS_OK)
		status = check_count(limits->shapes, "shapes_max", why);
	if (status == STATUS_OK)
		status = check_count(limits->joints, "joints_max", why);
	if (status == STATUS_OK)
		status = check_count(limits->events, "events_max", why);
	if (status != STATUS_OK)
		return status;
	if (limits->memory_bytes < MEMORY_LIMIT_MIN || limits->memory_bytes > (uint64_t)INTEGER_MAX)
		return reason_set(why, STATUS_RANGE, -1, "memory_max",
				  "memory_max is %llu: it must be within %u and %lld",
				  (unsigned long long)limits->memory_bytes, MEMORY_LIMIT_MIN,
				  (long long)INTEGER_MAX);
	if (limits->shape_bytes > (uint64_t)INTEGER_MAX)
		return reason_set(why, STATUS_RANGE, -1, "shape_bytes",
				  "shape_bytes is %llu: it must be at most %lld, 2^53 - 1",
				  (unsigned long long)limits->shape_bytes, (long long)INTEGER_MAX);
	return STATUS_OK;
}

static enum status check_rate(uint32_t num, uint32_t den, struct reason *why)
{
	bool good = den >= 1 && den <= RATE_PART_MAX && num >= den && num <= RATE_PART_MAX &&
		    num <= (uint64_t)10000 * den;
	return good ? STATUS_OK
		    : reason_set(
			      why, STATUS_RANGE, -1, "rate",
			      "rate is %u/%u ticks per second: it must be within 1 and 10000, both "
			      "numbers within 1 and %u",
			      num, den, RATE_PART_MAX);
}

static enum status check_broad_phase(const struct world_options *options, struct reason *why)
{
	const char *name = options->broad_phase;
	size_t length = 0;
	while (length < sizeof options->broad_phase && name[length] != '\0')
		length++;
	if (length == 0 || (length < sizeof options->broad_phase &&
			    broad_phase_by_name(name) != BROAD_PHASE_KINDS))
		return STATUS_OK;
	return reason_set(
		why, STATUS_RANGE, -1, "broad_phase",
		"broad_phase is %.15s: there is no such broad phase; docs/COLLISION.md lists them",
		name);
}

static enum status check_options(const struct world_options *options, struct reason *why)
{
	enum status status = check_rate(options->rate_num, options->rate_den, why);
	if (status == STATUS_OK)
		status = check_limits(&options->limits, why);
	if (status != STATUS_OK)
		return status;
	vec3 gravity = options->gravity;
	if (!vec3_is_finite(gravity) || vec3_max_component(vec3_abs(gravity)) > GRAVITY_MAX)
		return reason_set(
			why, STATUS_RANGE, -1, "gravity",
			"gravity is [%.10g, %.10g, %.10g]: it must be within ±%.10g m/s2 on "
			"each axis",
			gravity.x, gravity.y, gravity.z, GRAVITY_MAX);
	if (options->planar && gravity.z != 0)
		return reason_set(why, STATUS_RANGE, -1, "gravity",
				  "gravity has z = %.10g: in a planar world z must be 0",
				  gravity.z);
	uint32_t length = 0;
	while (length < sizeof options->method && options->method[length] != '\0')
		length++;
	if (length == sizeof options->method || method_find(options->method) == NULL)
		return reason_set(
			why, STATUS_UNKNOWN_METHOD, -1, "method",
			"method is %.31s: there is no such method; docs/METHODS.md lists them",
			options->method);
	return check_broad_phase(options, why);
}

/* ---- creation and destruction ----------------------------------------------------------------- */

static enum status fill_tables(struct tables *tables, const struct world_options *options)
{
	tables_init(tables);
	enum status status = tables_reserve(tables, TABLE_WORLD, 1);
	if (status == STATUS_OK)
		status = tables_reserve(tables, TABLE_PARAMETER, PARAMETER_COUNT);
	if (status != STATUS_OK)
		return status;
	struct world_table *world = &tables->world;
	tables_begin_row(tables, TABLE_WORLD, tables_append(tables, TABLE_WORLD));
	world->rate_num[0] = options->rate_num;
	world->rate_den[0] = options->rate_den;
	world->planar[0] = options->planar;
	world->gravity[0] = options->gravity;
	world->bounds_min[0] = vec3_all(-LENGTH_MAX);
	world->bounds_max[0] = vec3_all(LENGTH_MAX);
	const struct method *method = method_find(options->method);
	world->method[0] = method->number;
	world->broad_phase[0] = (uint8_t)(options->broad_phase[0] != '\0'
						  ? broad_phase_by_name(options->broad_phase)
						  : method->broad_phase);
	struct rng rng = rng_seeded(options->seed);
	memcpy(world->rng[0], rng.state, sizeof rng.state);
	world->bodies_max[0] = options->limits.bodies;
	world->placements_max[0] = options->limits.placements;
	world->contacts_max[0] = options->limits.contacts;
	world->shapes_max[0] = options->limits.shapes;
	world->joints_max[0] = options->limits.joints;
	world->events_max[0] = options->limits.events;
	world->memory_max[0] = options->limits.memory_bytes;
	world->shape_bytes_max[0] = options->limits.shape_bytes;
	for (uint32_t row = 0; row < PARAMETER_COUNT; row++) {
		tables_append(tables, TABLE_PARAMETER);
		tables->parameter.value[row] = parameter_entries[row].initial;
	}
	ASSERT(tables->world.count == 1 && tables->parameter.count == PARAMETER_COUNT);
	const struct method_alias *alias = method_alias(options->method);
	if (alias != NULL && alias->parameter != UINT32_MAX)
		tables->parameter.value[alias->parameter] = alias->value;
	return STATUS_OK;
}

enum status world_make(struct tables *tables, struct shape_source source, struct world **out,
		       struct reason *why)
{
	ASSERT(tables->world.count == 1);
	struct world *world = heap_alloc_zero(sizeof *world);
	if (world == NULL) {
		tables_release(tables);
		return reason_set(why, STATUS_NO_MEMORY, -1, "world", "out of memory");
	}
	world->tables = *tables;
	tables_init(tables);
	world->source = source;
	world->method.method = method_by_number(world->tables.world.method[0]);
	enum status status = shapes_rebuild(world, why);
	if (status == STATUS_OK) {
		status = dynamics_init(&world->dynamics, &world->tables, world->shapes,
				       world_dt(world));
		if (status == STATUS_OK)
			status = changes_reserve(&world->changes, world->tables.body.capacity);
		if (status != STATUS_OK)
			reason_set(why, status, -1, "world", "out of memory");
	}
	if (status != STATUS_OK) {
		world_destroy(world);
		return status;
	}
	changes_rebuild(&world->changes, &world->tables);
	removal_recount(world);
	changes_open(&world->changes, world->tables.world.next_body[0]);
	dynamics_joints_open(&world->dynamics, world->tables.world.next_joint[0]);
	*out = world;
	return STATUS_OK;
}

enum status world_create(const struct world_options *options, struct world **out,
			 struct reason *why)
{
	enum status status = check_options(options, why);
	if (status == STATUS_OK)
		status = float_environment_check(why);
	if (status != STATUS_OK)
		return status;
	struct tables tables;
	status = fill_tables(&tables, options);
	if (status != STATUS_OK) {
		tables_release(&tables);
		return reason_set(why, status, -1, "world", "out of memory");
	}
	struct world *world;
	status = world_make(&tables, options->shapes, &world, why);
	if (status != STATUS_OK)
		return status;
	status = method_supports(world->method.method, &world->dynamics, why);
	if (status != STATUS_OK) {
		world_destroy(world);
		return status;
	}
	world->method.method->attach(&world->dynamics);
	*out = world;
	return STATUS_OK;
}

void world_destroy(struct world *world)
{
	if (world == NULL)
		return;
	method_release(&world->method);
	dynamics_release(&world->dynamics);
	shapes_release(world);
	changes_release(&world->changes);
	ARRAY_RELEASE(&world->stored_results);
	ARRAY_RELEASE(&world->stored_values);
	ARRAY_RELEASE(&world->values);
	for (uint32_t i = 0; i < COUNT_OF(world->joint_lists); i++)
		ARRAY_RELEASE(&world->joint_lists[i]);
	table_release(&world->plan_index);
	bytes_release(&world->encoded);
	sensors_release(&world->sensors);
	mover_work_release(&world->mover_work);
	rollback_work_destroy(world->rollback);
	tables_release(&world->tables);
	heap_free(world);
}

/* ---- boundaries ------------------------------------------------------------------------------- */

void world_open_boundary(struct world *world)
{
	if (world->open)
		return;
	world->open = true;
	world->dynamics.events.count = 0;
	world->stored_results.count = 0;
	world->stored_values.count = 0;
	bool keeps = world->keeps_changes;
	world->keeps_changes = false;
	if (keeps)
		return;
	bitset_reset(&world->dynamics.parted);
	changes_open(&world->changes, world->tables.world.next_body[0]);
	dynamics_joints_open(&world->dynamics, world->tables.world.next_joint[0]);
}

void world_keep_changes(struct world *world)
{
	world->keeps_changes = !world->open;
}

void world_close_boundary(struct world *world)
{
	world->open = false;
}

/* The defined order: kind, a, b, child a, child b. The sort is stable: equal events stay in the order
 * in which they happened. */
static int compare_events(const void *a, const void *b, void *context)
{
	UNUSED(context);
	const struct event *x = a, *y = b;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	if (x->child_a != y->child_a)
		return x->child_a < y->child_a ? -1 : 1;
	return x->child_b < y->child_b ? -1 : x->child_b > y->child_b;
}

/* Insertion sort, for when the arena has no room for a merge sort: it gives the same order. */
static void insertion_sort_events(struct event *items, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		struct event event = items[i];
		uint32_t at = i;
		for (; at > 0 && compare_events(&items[at - 1], &event, NULL) > 0; at--)
			items[at] = items[at - 1];
		items[at] = event;
	}
}

#ifdef CAIRN_VALIDATE
static bool events_are_sorted(const struct event_list *events)
{
	for (uint32_t i = 1; i < events->count; i++)
		if (compare_events(&events->items[i - 1], &events->items[i], NULL) > 0)
			return false;
	return true;
}
#endif

static void sort_events(struct world *world)
{
	struct event_list *events = &world->dynamics.events;
	uint32_t sorted = 1;
	while (sorted < events->count &&
	       compare_events(&events->items[sorted - 1], &events->items[sorted], NULL) <= 0)
		sorted++;
	if (sorted >= events->count)
		return;
	struct arena *arena = &world->dynamics.scratch;
	struct arena_mark mark = arena_mark(arena);
	struct event *scratch = ARENA_ARRAY(arena, struct event, events->count);
	if (scratch != NULL)
		sort_items(events->items, scratch, events->count, sizeof *scratch, compare_events,
			   NULL);
	else
		insertion_sort_events(events->items, events->count);
	arena_rewind(arena, mark);
}

/* Index of the EVENT_LIMIT that reports dropped events of this boundary; `count` if there is none. */
static uint32_t find_dropped_report(const struct event_list *events)
{
	uint32_t at = 0;
	while (at < events->count &&
	       (events->items[at].kind != EVENT_LIMIT || events->items[at].fraction != 1))
		at++;
	return at;
}

/* Drops the events over the limit. The list is sorted first, so that two runs drop the same events. */
static void limit_events(struct world *world)
{
	struct event_list *events = &world->dynamics.events;
	uint32_t most = world->tables.world.events_max[0], dropped = events->lost,
		 report_at = find_dropped_report(events);
	if (events->count <= most && dropped == 0)
		return;
	if (report_at < events->count) {
		dropped += events->items[report_at].child_a;
		memmove(&events->items[report_at], &events->items[report_at + 1],
			(events->count - report_at - 1) * sizeof *events->items);
		events->count--;
	}
	/* The last place is for the event that reports the dropped ones. */
	if (events->count > most - 1) {
		dropped += events->count - (most - 1);
		events->count = most - 1;
	}
	/* Without memory for this report, too, the next list of events reports the loss. */
	events->lost = events->capacity == events->count ? dropped : 0;
	if (events->lost > 0)
		return;
	struct event limit = {
		.kind = EVENT_LIMIT, .child_a = dropped, .fraction = 1, .value = most
	};
	uint32_t at = events->count++;
	for (; at > 0 && compare_events(&events->items[at - 1], &limit, NULL) > 0; at--)
		events->items[at] = events->items[at - 1];
	events->items[at] = limit;
	ASSERT(events->count <= most && events->count <= events->capacity);
}

void world_sort_events(struct world *world)
{
	sort_events(world);
	limit_events(world);
	VALIDATE(events_are_sorted(&world->dynamics.events));
}

/* ---- derived numbers -------------------------------------------------------------------------- */

double world_dt(const struct world *world)
{
	return (double)world->tables.world.rate_den[0] / (double)world->tables.world.rate_num[0];
}

bool world_has_walls(const struct world *world)
{
	return world->tables.world.bounds_mode[0] == BOUNDS_WALLS;
}

uint32_t world_body_count(const struct world *world)
{
	return world->dynamics.body_used.count - (world_has_walls(world) ? 1 : 0);
}

uint32_t world_placement_count(const struct world *world)
{
	bool planar = world->tables.world.planar[0] != 0;
	return world->dynamics.placement_used.count -
	       (world_has_walls(world) ? walls_count(planar) : 0);
}

enum status world_rebuild_caches(struct world *world)
{
	enum status status = dynamics_rebuild(&world->dynamics);
	if (status == STATUS_OK)
		changes_rebuild(&world->changes, &world->tables);
	removal_recount(world);
	return status;
}
