/* host_particles.c: the queries about particle systems and their particles, answered between two
 * ticks. */
#include <string.h>

#include "server/host/host_answer.h"
#include "server/host/host_state.h"

/* Largest packed sizes, in bytes, of a system and of what is not a column in a page. */
enum { SYSTEM_BYTES_MAX = 1440, SINK_BYTES_MAX = 160, FLUID_BYTES_MAX = 320, HEAD_BYTES_MAX = 128 };
enum { STEPS = 65535 }; /* of positions in view */

/* ---- systems ------------------------------------------------------------------------------------- */

static void put_descent(struct wire_system *facts, const struct system_view *view)
{
	facts->split_number[0] = view->split_number[0];
	facts->split_number[1] = view->split_number[1];
	memcpy(facts->split_age, view->split_age, sizeof facts->split_age);
	memcpy(facts->split_velocity, view->split_velocity, sizeof facts->split_velocity);
	memcpy(facts->split_burst, view->split_burst, sizeof facts->split_burst);
	memcpy(facts->split_size, view->split_size, sizeof facts->split_size);
	memcpy(facts->split_life, view->split_life, sizeof facts->split_life);
	facts->split_spread = view->split_spread;
	facts->split_delay = view->split_delay;
	facts->split_depth = view->split_depth;
	facts->split_spend = view->split_spend;
	facts->splits = view->splits;
	facts->trail = view->trail;
	facts->trail_delay = view->trail_delay;
	facts->trail_depth = view->trail_depth;
	facts->trail_velocity = view->trail_velocity;
	facts->contacts = view->contacts;
	facts->holds = view->holds;
	facts->self_thickness = view->self_thickness;
	facts->self_friction = view->self_friction;
	facts->self_overlap = view->self_overlap;
	facts->stretch_limit = view->stretch_limit;
	facts->limit_passes = view->limit_passes;
	facts->mount = view->mount;
	facts->mount_velocity = view->mount_velocity;
	facts->recoil = view->recoil;
	facts->room = view->room;
	facts->meets = view->meet_count;
	for (uint32_t i = 0; i < view->meet_count; i++) {
		const struct meeting_view *meet = &view->meets[i];
		const double row[4] = { meet->other, meet->thickness, meet->friction,
					meet->overlap };
		memcpy(facts->meet[i], row, sizeof row);
	}
}

static struct wire_system system_facts(const struct system_view *view)
{
	struct wire_system facts = {
		.id = view->id,
		.name = { (const uint8_t *)view->name,
			  (uint32_t)strnlen(view->name, sizeof view->name) },
		.owner = view->owner,
		.tag = view->tag,
		.emitter = view->emitter,
		.alive = view->alive,
		.capacity = view->capacity,
		.born = view->born,
		.lost = view->lost,
		.refused = view->refused,
		.cut = view->cut,
		.spread = view->spread,
		.drag = view->drag,
		.gravity_scale = view->gravity_scale,
		.category = view->category,
		.mask = view->mask,
		.colours = view->colour_count,
		.forces = view->forces,
		.collisions = view->collisions,
		.substeps = view->substeps,
		.cutoff = view->cutoff,
		.core = view->core,
		.charge = view->charge,
		.gravitation = view->gravitation,
		.well_depth = view->well_depth,
		.well_distance = view->well_distance,
		.repulsion = view->repulsion,
		.repulsion_damping = view->repulsion_damping,
		.crowded = view->crowded,
		.links = view->links,
		.pins = view->pins,
		.link_substeps = view->link_substeps,
		.torn = view->torn,
		.stretch = view->stretch,
		.volume_error = view->volume_error,
	};
	put_vec3(facts.position, view->position);
	put_quat(facts.rotation, view->rotation);
	put_vec3(facts.half, view->half);
	memcpy(facts.size, view->size, sizeof facts.size);
	memcpy(facts.mass, view->mass, sizeof facts.mass);
	memcpy(facts.life, view->life, sizeof facts.life);
	memcpy(facts.speed, view->speed, sizeof facts.speed);
	put_descent(&facts, view);
	for (uint32_t i = 0; i < view->colour_count; i++) {
		facts.colour[i][0] = view->colour_age[i];
		facts.colour[i][1] = view->colour[i];
	}
	return facts;
}

static void put_sinks(struct wire_system *facts, const struct world *world,
		      const struct system_view *view)
{
	struct sink_view sinks[PARTICLE_SINKS_MAX];
	facts->taken = view->taken;
	facts->sink_count = world_sinks(world, view->id, sinks);
	ASSERT(facts->sink_count <= WIRE_SINKS_MAX);
	for (uint32_t i = 0; i < facts->sink_count; i++) {
		struct wire_sink *out = &facts->sinks[i];
		*out = (struct wire_sink){ .number = sinks[i].number,
					   .region = sinks[i].region,
					   .body = sinks[i].body,
					   .radius = sinks[i].radius,
					   .taken = sinks[i].taken,
					   .mass = sinks[i].mass };
		put_vec3(out->position, sinks[i].position);
		put_quat(out->rotation, sinks[i].rotation);
		put_vec3(out->size, sinks[i].size);
	}
}

enum status host_answer_systems(struct host *host, struct bytes *out)
{
	struct system_view *systems = ARENA_ARRAY(&host->scratch, struct system_view, SYSTEMS_MAX);
	if (systems == NULL)
		return STATUS_NO_MEMORY;
	uint32_t count = world_systems(host->world, systems);
	size_t bytes = 8 + (size_t)count * SYSTEM_BYTES_MAX;
	for (uint32_t i = 0; i < count; i++)
		bytes += (size_t)systems[i].sinks * SINK_BYTES_MAX;
	struct wire_packer packer = packer_into(out, bytes);
	wire_pack_array(&packer, count);
	for (uint32_t i = 0; i < count; i++) {
		struct wire_system facts = system_facts(&systems[i]);
		put_sinks(&facts, host->world, &systems[i]);
		answer_pack_system(&packer, &facts);
	}
	return packed(out, &packer);
}

/* ---- fluids -------------------------------------------------------------------------------------- */

static struct wire_fluid fluid_facts(const struct fluid_view *view)
{
	ASSERT(view->system != 0);
	return (struct wire_fluid){
		.system = view->system,
		.particles = view->particles,
		.solver = view->solver,
		.kernel_radius = view->kernel_radius,
		.rest_density = view->rest_density,
		.viscosity = view->viscosity,
		.wall_viscosity = view->wall_viscosity,
		.surface_tension = view->surface_tension,
		.tolerance = view->tolerance,
		.compression = view->compression,
		.speed = view->speed,
		.stiffness = view->stiffness,
		.step_ratio = view->step_ratio,
		.substeps_max = view->substeps_max,
		.substeps = view->substeps,
		.iterations = view->iterations,
		.density_error = view->density_error,
		.density_error_max = view->density_error_max,
		.residual = view->residual,
		.divergence_error = view->divergence_error,
		.speed_max = view->speed_max,
		.capped = view->capped,
		.unconverged = view->unconverged,
		.inside = view->inside,
		.crowded = view->crowded,
		.lost = view->lost,
		.bad = view->bad,
		.blocked = view->blocked,
		.unsampled = view->unsampled,
		.coarse = view->coarse,
	};
}

enum status host_answer_fluids(struct host *host, struct bytes *out)
{
	struct fluid_view *fluids = ARENA_ARRAY(&host->scratch, struct fluid_view, SYSTEMS_MAX);
	if (fluids == NULL)
		return STATUS_NO_MEMORY;
	uint32_t count = world_fluids(host->world, fluids);
	struct wire_packer packer = packer_into(out, 8 + (size_t)count * FLUID_BYTES_MAX);
	wire_pack_array(&packer, count);
	for (uint32_t i = 0; i < count; i++) {
		struct wire_fluid facts = fluid_facts(&fluids[i]);
		answer_pack_fluid(&packer, &facts);
	}
	return packed(out, &packer);
}

/* ---- particles ----------------------------------------------------------------------------------- */

/* A page's columns, in memory of the arena. */
struct columns {
	uint8_t *serials, *positions, *velocities, *radii, *masses, *ages, *colours, *generations;
};

static bool make_columns(struct arena *arena, uint32_t count, struct columns *columns)
{
	columns->serials = ARENA_ARRAY(arena, uint8_t, count * 8u);
	columns->positions = ARENA_ARRAY(arena, uint8_t, count * 24u);
	columns->velocities = ARENA_ARRAY(arena, uint8_t, count * 24u);
	columns->radii = ARENA_ARRAY(arena, uint8_t, count * 8u);
	columns->masses = ARENA_ARRAY(arena, uint8_t, count * 8u);
	columns->ages = ARENA_ARRAY(arena, uint8_t, count * 8u);
	columns->colours = ARENA_ARRAY(arena, uint8_t, count);
	columns->generations = ARENA_ARRAY(arena, uint8_t, count);
	return columns->serials != NULL && columns->positions != NULL &&
	       columns->velocities != NULL && columns->radii != NULL && columns->masses != NULL &&
	       columns->ages != NULL && columns->colours != NULL && columns->generations != NULL;
}

static void put_real(uint8_t *to, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	put_le64(to, bits);
}

static void put_reals(uint8_t *to, vec3 v)
{
	put_real(to, v.x);
	put_real(to + 8, v.y);
	put_real(to + 16, v.z);
}

static struct wire_slice slice_of(const uint8_t *data, uint32_t bytes)
{
	return (struct wire_slice){ data, bytes };
}

static struct wire_particles exact_page(const struct particle_view *views, uint32_t count,
					const struct columns *columns)
{
	for (uint32_t i = 0; i < count; i++) {
		put_le64(columns->serials + 8 * (size_t)i, views[i].serial);
		put_reals(columns->positions + 24 * (size_t)i, views[i].position);
		put_reals(columns->velocities + 24 * (size_t)i, views[i].velocity);
		put_real(columns->radii + 8 * (size_t)i, views[i].radius);
		put_real(columns->masses + 8 * (size_t)i, views[i].mass);
		put_real(columns->ages + 8 * (size_t)i, views[i].age);
		columns->generations[i] = views[i].generation;
	}
	return (struct wire_particles){ .form = WIRE_PARTICLES_EXACT,
					.count = count,
					.serials = slice_of(columns->serials, count * 8),
					.positions = slice_of(columns->positions, count * 24),
					.velocities = slice_of(columns->velocities, count * 24),
					.radii = slice_of(columns->radii, count * 8),
					.masses = slice_of(columns->masses, count * 8),
					.ages = slice_of(columns->ages, count * 8),
					.generations = slice_of(columns->generations, count) };
}

/* How many of the system's colours have begun at that age. */
static uint8_t colour_at(const struct system_view *system, double age)
{
	uint8_t begun = 0;
	while (begun < system->colour_count && system->colour_age[begun] <= age)
		begun++;
	return begun;
}

static struct wire_particles view_page(const struct particle_view *views, uint32_t count,
				       const struct system_view *system,
				       const struct columns *columns)
{
	vec3 low = count > 0 ? views[0].position : vec3_zero(), high = low;
	for (uint32_t i = 1; i < count; i++) {
		low = vec3_min(low, views[i].position);
		high = vec3_max(high, views[i].position);
	}
	double step = vec3_max_component(vec3_sub(high, low)) / STEPS;
	step = step > 0 ? step : 1;
	for (uint32_t i = 0; i < count; i++) {
		vec3 at = vec3_scale(vec3_sub(views[i].position, low), 1 / step);
		for (uint32_t axis = 0; axis < 3; axis++) {
			double steps = vec3_get(at, axis) + 0.5;
			uint32_t whole = (uint32_t)(steps < STEPS ? steps : STEPS);
			uint8_t *to = columns->positions + 6 * (size_t)i + 2 * (size_t)axis;
			to[0] = (uint8_t)whole;
			to[1] = (uint8_t)(whole >> 8);
		}
		columns->colours[i] = colour_at(system, views[i].age);
	}
	struct wire_particles page = { .form = WIRE_PARTICLES_VIEW,
				       .count = count,
				       .last = count > 0 ? views[count - 1].serial : 0,
				       .step = step,
				       .places = slice_of(columns->positions, count * 6),
				       .colours = slice_of(columns->colours, count) };
	put_vec3(page.corner, low);
	return page;
}

/* The system that a query names; borrowed from the arena. */
static enum status find_system(struct host *host, const struct wire_query *query,
			       const struct system_view **out, struct reason *why)
{
	struct system_view *systems = ARENA_ARRAY(&host->scratch, struct system_view, SYSTEMS_MAX);
	if (systems == NULL)
		return STATUS_NO_MEMORY;
	uint32_t count = world_systems(host->world, systems);
	for (uint32_t i = 0; i < count; i++)
		if (systems[i].id == query->system) {
			*out = &systems[i];
			return STATUS_OK;
		}
	return reason_set(why, STATUS_UNKNOWN_PARTICLES, -1, "system",
			  "system is %u: there is no such particle system in this world; the query "
			  "systems lists them",
			  query->system);
}

/* The answer has serial numbers of 32 bits. */
static enum status check_serials(const struct link_view *links, uint32_t count, struct reason *why)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < LINK_ENDS; k++)
			if (links[i].serial[k] > UINT32_MAX)
				return reason_set(
					why, STATUS_RANGE, -1, "system",
					"a link of the system joins particle %llu: links "
					"can be listed up to serial number 4294967295; make "
					"the system anew",
					(unsigned long long)links[i].serial[k]);
	return STATUS_OK;
}

enum status host_answer_links(struct host *host, const struct wire_query *query, struct bytes *out,
			      struct reason *why)
{
	enum { NUMBERS = 1 + LINK_ENDS };
	struct arena *arena = &host->scratch;
	const struct system_view *system;
	uint32_t room = MAX_OF(query->limit, 1u);
	struct link_view *links = ARENA_ARRAY(arena, struct link_view, room);
	uint8_t *numbers = ARENA_ARRAY(arena, uint8_t, room * NUMBERS * 4u);
	if (links == NULL || numbers == NULL)
		return STATUS_NO_MEMORY;
	enum status status = find_system(host, query, &system, why);
	if (status != STATUS_OK)
		return status;
	uint32_t count = world_links(host->world, query->system, (uint64_t)query->after, links,
				     query->limit);
	status = check_serials(links, count, why);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < count; i++) {
		uint8_t *to = numbers + (size_t)i * NUMBERS * 4;
		put_le32(to, links[i].kind);
		for (uint32_t k = 0; k < LINK_ENDS; k++)
			put_le32(to + 4 + 4 * (size_t)k, (uint32_t)links[i].serial[k]);
	}
	uint32_t bytes = count * NUMBERS * 4;
	struct wire_packer packer = packer_into(out, HEAD_BYTES_MAX + (size_t)bytes);
	answer_pack_matrix(&packer, count, slice_of(numbers, bytes));
	return packed(out, &packer);
}

enum status host_answer_particles(struct host *host, const struct wire_query *query,
				  struct bytes *out, struct reason *why)
{
	struct arena *arena = &host->scratch;
	const struct system_view *system = NULL;
	uint32_t room = MAX_OF(query->limit, 1u);
	struct particle_view *views = ARENA_ARRAY(arena, struct particle_view, room);
	struct columns columns;
	if (views == NULL || !make_columns(arena, room, &columns))
		return STATUS_NO_MEMORY;
	enum status status = find_system(host, query, &system, why);
	if (status != STATUS_OK)
		return status;
	uint32_t count = world_particles(host->world, query->system, (uint64_t)query->after, views,
					 query->limit);
	struct wire_particles page = query->form == WIRE_PARTICLES_VIEW
					     ? view_page(views, count, system, &columns)
					     : exact_page(views, count, &columns);
	struct wire_packer packer = packer_into(out, HEAD_BYTES_MAX + (size_t)count * 81);
	answer_pack_particles(&packer, &page);
	return packed(out, &packer);
}
