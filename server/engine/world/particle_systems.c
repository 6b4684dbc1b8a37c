/* particle_systems.c: particle systems as clients command and read them.
 *
 * PARTICLES_CREATE and PARTICLES_SET have the same properties in the same order, so one function
 * checks both and one writes both. */
#include "server/engine/world/particle_systems.h"

#include "server/base/sort.h"
#include "server/engine/particles/particles.h"

#include <stdio.h>
#include <string.h>

/* The properties of either command. */
static struct command_PARTICLES_CREATE properties_of(const struct command_PARTICLES_SET *set)
{
	return (struct command_PARTICLES_CREATE){
		.emitter = set->emitter,
		.position = set->position,
		.rotation = set->rotation,
		.half = set->half,
		.capacity = set->capacity,
		.recycle = set->recycle,
		.rate = set->rate,
		.rate_deviation = set->rate_deviation,
		.delay = set->delay,
		.size = set->size,
		.size_deviation = set->size_deviation,
		.mass = set->mass,
		.mass_deviation = set->mass_deviation,
		.life = set->life,
		.life_deviation = set->life_deviation,
		.speed = set->speed,
		.speed_deviation = set->speed_deviation,
		.spread = set->spread,
		.drag = set->drag,
		.gravity_scale = set->gravity_scale,
		.static_friction = set->static_friction,
		.dynamic_friction = set->dynamic_friction,
		.restitution = set->restitution,
		.category = set->category,
		.mask = set->mask,
		.colours = set->colours,
		.owner = set->owner,
		.tag = set->tag,
		.seed = set->seed,
	};
}

/* ---- checks
 * ------------------------------------------------------------------------------------ */

enum status check_deviation(struct check *check, const char *name, double mean, double deviation,
			    double least, double most)
{
	if (mean - deviation >= least && mean + deviation <= most)
		return STATUS_OK;
	char field[48];
	snprintf(field, sizeof field, "%s_deviation", name);
	return REFUSE(check, STATUS_RANGE, field,
		      "%s is %.10g: with %s %.10g the numbers drawn must stay within %.10g and "
		      "%.10g",
		      field, deviation, name, mean, least, most);
}

static enum status check_deviations(struct check *check,
				    const struct command_PARTICLES_CREATE *system)
{
	enum status status = check_deviation(check, "rate", system->rate, system->rate_deviation, 0,
					     PARTICLES_MAX);
	if (status == STATUS_OK)
		status = check_deviation(check, "size", system->size, system->size_deviation,
					 PARTICLE_SIZE_MIN, PARTICLE_SIZE_MAX);
	if (status == STATUS_OK)
		status = check_deviation(check, "mass", system->mass, system->mass_deviation,
					 PARTICLE_MASS_MIN, MASS_MAX);
	if (status == STATUS_OK)
		status = check_deviation(check, "life", system->life, system->life_deviation, 0,
					 PARTICLE_LIFE_MAX);
	if (status == STATUS_OK)
		status = check_deviation(check, "speed", system->speed, system->speed_deviation, 0,
					 SPEED_MAX);
	return status;
}

static enum status check_emitter(struct check *check, const struct command_PARTICLES_CREATE *system)
{
	vec3 half = system->half;
	bool square = system->emitter == EMITTER_PLANAR || system->emitter == EMITTER_SPHERE;
	if (square && !(half.x > 0))
		return REFUSE(check, STATUS_RANGE, "half",
			      "half.x is %.10g: it is the %s of the emitter and must be above 0",
			      half.x, system->emitter == EMITTER_SPHERE ? "radius" : "half side");
	double least = check->planar ? scalar_min(half.x, half.y) : vec3_min_component(half);
	if (system->emitter == EMITTER_BOX && !(least > 0))
		return REFUSE(
			check, STATUS_RANGE, "half",
			"half is [%.10g, %.10g, %.10g]: the half sizes of a box must be above 0",
			half.x, half.y, half.z);
	if (system->emitter == EMITTER_PLANAR && 2 * half.x < 2 * system->size)
		return REFUSE(
			check, STATUS_RANGE, "half",
			"half.x is %.10g: a planar emitter needs a side of two diameters, so it "
			"must be at least size, %.10g",
			half.x, system->size);
	return STATUS_OK;
}

static enum status check_colours(struct check *check, const struct point_list *colours)
{
	for (uint32_t i = 0; i < colours->count; i++) {
		double value = colours->items[i].value;
		if (!(value >= 0 && value <= 0xffffff && value == (double)(uint32_t)value))
			return REFUSE(check, STATUS_RANGE, "colours",
				      "colour %u is %.10g: it must be a whole number within 0 and "
				      "16777215, 0xRRGGBB",
				      i, value);
	}
	return STATUS_OK;
}

static enum status check_properties(struct check *check,
				    const struct command_PARTICLES_CREATE *system)
{
	enum status status = check_in_plane(check, system->position, "position");
	if (status == STATUS_OK)
		status = check_rotation_plane(check, system->rotation, "rotation");
	if (status != STATUS_OK)
		return status;
	if (system->dynamic_friction > system->static_friction)
		return REFUSE(check, STATUS_RANGE, "dynamic_friction",
			      "dynamic_friction is %.10g: it must be at most static_friction, "
			      "%.10g",
			      system->dynamic_friction, system->static_friction);
	status = check_deviations(check, system);
	if (status == STATUS_OK)
		status = check_emitter(check, system);
	if (status == STATUS_OK)
		status = check_colours(check, &system->colours);
	return status;
}

static enum status check_capacity(struct check *check, uint64_t others, uint32_t capacity)
{
	if (others + capacity <= PARTICLES_MAX)
		return STATUS_OK;
	return REFUSE(check, STATUS_LIMIT, "capacity",
		      "capacity is %u: with %llu of the other particle systems it exceeds the "
		      "world's limit of %u particles",
		      capacity, (unsigned long long)others, PARTICLES_MAX);
}

enum status check_particles_create(struct check *check, struct command *command)
{
	struct batch_plan *plan = check->plan;
	const struct command_PARTICLES_CREATE *create = &command->particles_create;
	enum status status = check_world_command(check);
	if (status == STATUS_OK)
		status = check_properties(check, create);
	if (status == STATUS_OK)
		status = check_capacity(check, plan->capacity_after, create->capacity);
	if (status != STATUS_OK)
		return status;
	if (plan->new_carriers + check->world->dynamics.carrier_used.count > 0)
		return REFUSE(check, STATUS_CARRIED, "system",
			      "points carry bodies of this world, and particles would not push "
			      "these points: uncarry them first, in an earlier batch");
	if (plan->systems_after >= SYSTEMS_MAX)
		return REFUSE(check, STATUS_LIMIT, "systems",
			      "the world has %u particle systems, the limit is %u: "
			      "particles_remove makes room",
			      plan->systems_after, SYSTEMS_MAX);
	if (plan->next_system >= IDS_END)
		return REFUSE(check, STATUS_LIMIT, "systems",
			      "all ids of particle systems of this world are used up");
	system_id id = plan->next_system++;
	plan->values[check->index] = id;
	plan->systems[plan->system_count] = (struct planned_system){ .id = id,
								     .owner = create->owner,
								     .recycle = create->recycle,
								     .capacity = create->capacity };
	plan_index_put(check, plan_system_key(id), plan->system_count++);
	plan->systems_after++;
	plan->new_systems++;
	plan->capacity_after += create->capacity;
	return STATUS_OK;
}

enum status check_particles_remove(struct check *check, struct command *command)
{
	struct planned_system *system;
	enum status status = plan_find_system(check, &command->particles_remove.system, &system);
	if (status != STATUS_OK)
		return status;
	system->removed = true;
	check->plan->systems_after--;
	check->plan->capacity_after -= system->capacity;
	return STATUS_OK;
}

enum status check_particles_set(struct check *check, struct command *command)
{
	struct planned_system *system;
	struct command_PARTICLES_CREATE set = properties_of(&command->particles_set);
	enum status status = plan_find_system(check, &command->particles_set.system, &system);
	if (status == STATUS_OK)
		status = check_properties(check, &set);
	if (status == STATUS_OK)
		status = check_capacity(check, check->plan->capacity_after - system->capacity,
					set.capacity);
	if (status != STATUS_OK)
		return status;
	if (set.capacity < system->alive)
		return REFUSE(check, STATUS_RANGE, "capacity",
			      "capacity is %u: the system has %u particles, it must be at least "
			      "that",
			      set.capacity, system->alive);
	if (check->plan->restricted && set.owner != system->owner)
		return REFUSE(check, STATUS_NOT_OWNER, "owner",
			      "owner is %u: a player may not give its particle systems away",
			      set.owner);
	check->plan->capacity_after += set.capacity - system->capacity;
	system->capacity = set.capacity;
	system->recycle = set.recycle;
	system->owner = set.owner;
	return STATUS_OK;
}

enum status check_particle_room(struct check *check, const struct planned_system *system,
				uint64_t count)
{
	uint64_t made = system->recycle ? system->alive : system->born - system->refused;
	if (made + count <= system->capacity)
		return STATUS_OK;
	const char *more = made + count <= PARTICLES_MAX ? "raise its capacity (particles_set)"
							 : "no capacity holds so many";
	return REFUSE(check, STATUS_LIMIT, "system",
		      "system %u has %llu particles and its capacity is %u: there is no room "
		      "for %llu%s more: %s",
		      system->id, (unsigned long long)made, system->capacity,
		      (unsigned long long)count, count > PARTICLES_MAX ? " or" : "", more);
}

enum status check_particles_add(struct check *check, struct command *command)
{
	struct planned_system *system;
	enum status status = plan_find_system(check, &command->particles_add.system, &system);
	if (status == STATUS_OK)
		status = check_particle_room(check, system, 1);
	if (status == STATUS_OK)
		status = check_in_plane(check, command->particles_add.position, "position");
	if (status == STATUS_OK)
		status = check_in_plane(check, command->particles_add.velocity, "velocity");
	if (status != STATUS_OK)
		return status;
	system->alive++;
	system->born++;
	check->plan->new_particles++;
	return STATUS_OK;
}

/* ---- applying
 * ---------------------------------------------------------------------------------- */

static uint32_t row_of(const struct apply_context *context, int64_t id)
{
	uint32_t row = dynamics_find_system(&context->world->dynamics, (system_id)id);
	ASSERT(row != ROW_NONE);
	return row;
}

static void fill_system(struct system_table *table, uint32_t row,
			const struct command_PARTICLES_CREATE *from)
{
	ASSERT(row < table->count && from->colours.count <= PARTICLE_COLOURS_MAX);
	table->emitter[row] = from->emitter;
	table->recycle[row] = from->recycle;
	table->owner[row] = from->owner;
	table->tag[row] = from->tag;
	table->position[row] = from->position;
	table->rotation[row] = from->rotation;
	table->half[row] = from->half;
	table->most[row] = from->capacity;
	table->rate[row] = from->rate;
	table->rate_deviation[row] = from->rate_deviation;
	table->delay[row] = from->delay;
	table->spread[row] = from->spread;
	table->drag[row] = from->drag;
	table->gravity_scale[row] = from->gravity_scale;
	table->static_friction[row] = from->static_friction;
	table->dynamic_friction[row] = from->dynamic_friction;
	table->restitution[row] = from->restitution;
	table->category[row] = from->category;
	table->mask[row] = from->mask;
	table->seed[row] = from->seed;
	table->size[row][0] = from->size;
	table->size[row][1] = from->size_deviation;
	table->mass[row][0] = from->mass;
	table->mass[row][1] = from->mass_deviation;
	table->life[row][0] = from->life;
	table->life[row][1] = from->life_deviation;
	table->speed[row][0] = from->speed;
	table->speed[row][1] = from->speed_deviation;
	table->colour_count[row] = (uint8_t)from->colours.count;
	for (uint32_t i = 0; i < PARTICLE_COLOURS_MAX; i++) {
		bool given = i < from->colours.count;
		table->colour_age[row][i] = given ? from->colours.items[i].time : 0;
		table->colour[row][i] = given ? (uint32_t)from->colours.items[i].value : 0;
	}
}

void apply_particles_create(const struct apply_context *context, const struct command *command)
{
	struct world *world = context->world;
	struct system_table *table = &world->tables.system;
	uint32_t row = dynamics_system_take(&world->dynamics);
	table->id[row] = world->tables.world.next_system[0]++;
	ASSERT(table->id[row] == context->plan->values[context->index]);
	memcpy(table->name[row], command->particles_create.name.text, sizeof table->name[row]);
	table->since[row] = world->tables.world.tick[0];
	fill_system(table, row, &command->particles_create);
}

void apply_particles_remove(const struct apply_context *context, const struct command *command)
{
	dynamics_system_free(&context->world->dynamics,
			     row_of(context, command->particles_remove.system));
}

void apply_particles_set(const struct apply_context *context, const struct command *command)
{
	struct command_PARTICLES_CREATE properties = properties_of(&command->particles_set);
	fill_system(&context->world->tables.system, row_of(context, command->particles_set.system),
		    &properties);
}

void apply_particles_add(const struct apply_context *context, const struct command *command)
{
	const struct command_PARTICLES_ADD *add = &command->particles_add;
	ASSERT(context->world->tables.particle.count < PARTICLES_MAX);
	dynamics_particle_add(&context->world->dynamics, row_of(context, add->system),
			      add->position, add->velocity);
}

/* ---- reading
 * ----------------------------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b, void *context)
{
	UNUSED(context);
	const struct system_view *x = a, *y = b;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void view_descent(struct system_view *view, const struct system_table *table, uint32_t row)
{
	ASSERT(row < table->count);
	view->split_number = table->split_number[row];
	view->split_age = table->split_age[row];
	view->split_velocity = table->split_velocity[row];
	view->split_burst = table->split_burst[row];
	view->split_size = table->split_size[row];
	view->split_life = table->split_life[row];
	view->split_delay = table->split_delay[row];
	view->split_depth = table->split_depth[row];
	view->split_spread = table->split_spread[row];
	view->split_spend = table->split_spend[row] != 0;
	view->splits = table->splits[row];
	view->trail = table->trail[row];
	view->trail_delay = table->trail_delay[row];
	view->trail_depth = table->trail_depth[row];
	view->trail_velocity = table->trail_velocity[row];
}

static void view_meetings(struct system_view *view, const struct meeting_table *table)
{
	for (uint32_t row = 0; row < table->count; row++) {
		if (table->a[row] != view->id && table->b[row] != view->id)
			continue;
		ASSERT(view->meet_count < PARTICLE_MEETINGS_MAX);
		view->meets[view->meet_count++] = (struct meeting_view){
			.other = table->a[row] == view->id ? table->b[row] : table->a[row],
			.thickness = table->thickness[row],
			.friction = table->friction[row],
			.overlap = table->overlap[row],
		};
	}
}

/* Of links, and of what linked particles meet. */
static void view_links(struct system_view *view, const struct system_table *table, uint32_t row)
{
	view->links = table->links[row];
	view->pins = table->pins[row];
	view->link_substeps = table->link_substeps[row];
	view->torn = table->torn[row];
	view->contacts = table->contacts[row];
	view->holds = table->holds[row];
	view->self_thickness = table->self_thickness[row];
	view->self_friction = table->self_friction[row];
	view->self_overlap = table->self_overlap[row];
	view->stretch_limit = table->stretch_limit[row];
	view->limit_passes = table->limit_passes[row];
	view->stretch = table->stretch[row];
	view->volume_error = table->volume_error[row];
}

static struct system_view view_of(const struct tables *tables, uint32_t row)
{
	const struct system_table *table = &tables->system;
	struct system_view view = {
		.id = table->id[row],
		.emitter = table->emitter[row],
		.recycle = table->recycle[row],
		.owner = table->owner[row],
		.tag = table->tag[row],
		.position = table->position[row],
		.rotation = table->rotation[row],
		.half = table->half[row],
		.capacity = table->most[row],
		.rate = table->rate[row],
		.rate_deviation = table->rate_deviation[row],
		.delay = table->delay[row],
		.spread = table->spread[row],
		.drag = table->drag[row],
		.gravity_scale = table->gravity_scale[row],
		.static_friction = table->static_friction[row],
		.dynamic_friction = table->dynamic_friction[row],
		.restitution = table->restitution[row],
		.category = table->category[row],
		.mask = table->mask[row],
		.seed = table->seed[row],
		.size = table->size[row],
		.mass = table->mass[row],
		.life = table->life[row],
		.speed = table->speed[row],
		.colour_count = table->colour_count[row],
		.colour_age = table->colour_age[row],
		.colour = table->colour[row],
		.alive = table->alive[row],
		.born = table->born[row],
		.lost = table->lost[row],
		.refused = table->refused[row],
		.cut = table->cut[row],
		.forces = table->forces[row],
		.collisions = table->collisions[row],
		.substeps = table->substeps[row],
		.cutoff = table->cutoff[row],
		.core = table->core[row],
		.charge = table->charge[row],
		.gravitation = table->gravitation[row],
		.well_depth = table->well_depth[row],
		.well_distance = table->well_distance[row],
		.repulsion = table->repulsion[row],
		.repulsion_damping = table->repulsion_damping[row],
		.crowded = table->crowded[row],
		.mount = table->mount[row],
		.mount_velocity = table->mount_velocity[row],
		.recoil = table->recoil[row] != 0,
		.room = table->room[row] != 0,
		.sinks = table->sinks[row],
		.taken = table->taken[row],
	};
	view_descent(&view, table, row);
	view_links(&view, table, row);
	view_meetings(&view, &tables->meeting);
	memcpy(view.name, table->name[row], sizeof view.name);
	return view;
}

uint32_t world_systems(const struct world *world, struct system_view out[SYSTEMS_MAX])
{
	const struct system_table *table = &world->tables.system;
	struct system_view scratch[SYSTEMS_MAX];
	uint32_t count = 0;
	for (uint32_t row = 0; row < table->count; row++)
		if (table->id[row] != 0)
			out[count++] = view_of(&world->tables, row);
	/* Rows are in order of ids unless a later system has reused the row of a removed one. */
	sort_items(out, scratch, count, sizeof *out, compare_ids, NULL);
	return count;
}

uint32_t world_sinks(const struct world *world, system_id system,
		     struct sink_view out[PARTICLE_SINKS_MAX])
{
	const struct sink_table *table = &world->tables.sink;
	uint32_t of = dynamics_find_system(&world->dynamics, system), count = 0;
	for (uint32_t row = 0; row < table->count; row++)
		if (table->system[row] == of)
			out[count++] = (struct sink_view){
				.number = table->number[row],
				.region = table->region[row],
				.body = table->body[row],
				.position = table->position[row],
				.size = table->size[row],
				.rotation = table->rotation[row],
				.radius = table->radius[row],
				.mass = table->mass[row],
				.taken = table->taken[row],
			};
	return count;
}

uint32_t world_particle_count(const struct world *world)
{
	return world->tables.particle.count;
}

uint32_t world_particles(const struct world *world, system_id id, uint64_t after,
			 struct particle_view *out, uint32_t capacity)
{
	const struct particle_table *table = &world->tables.particle;
	uint32_t system = dynamics_find_system(&world->dynamics, id), count = 0;
	for (uint32_t row = 0; row < table->count && count < capacity; row++)
		if (table->system[row] == system && table->serial[row] > after)
			out[count++] = (struct particle_view){
				.serial = table->serial[row],
				.generation = table->generation[row],
				.position = table->position[row],
				.velocity = table->velocity[row],
				.radius = table->radius[row],
				.mass = table->mass[row],
				.age = (double)(world->tables.world.tick[0] - table->birth[row]) *
				       world_dt(world),
			};
	return count;
}

static int compare_flights(const void *a, const void *b, void *context)
{
	UNUSED(context);
	const struct system_flight *x = a, *y = b;
	return x->id < y->id ? -1 : x->id > y->id;
}

uint32_t world_system_flights(const struct world *world, struct system_flight out[SYSTEMS_MAX])
{
	const struct system_table *table = &world->tables.system;
	struct system_flight scratch[SYSTEMS_MAX];
	uint32_t count = 0;
	double dt = world_dt(world);
	for (uint32_t row = 0; row < table->count; row++) {
		struct particle_law law = { 0 };
		if (table->id[row] == 0)
			continue;
		particle_law_of_system(&law, &world->tables, row, dt);
		out[count++] = (struct system_flight){
			.id = table->id[row],
			.alive = table->alive[row],
			.carry = law.coast * dt,
			.decay = law.decay,
			.shift = vec3_scale(law.acceleration, law.fall * dt * dt),
			.gain = vec3_scale(law.acceleration, law.coast * dt),
		};
	}
	sort_items(out, scratch, count, sizeof *out, compare_flights, NULL);
	return count;
}

void world_particle_rows(const struct world *world, struct particle_row *out)
{
	const struct particle_table *table = &world->tables.particle;
	const struct system_table *systems = &world->tables.system;
	struct system_flight flights[SYSTEMS_MAX];
	uint32_t next[SYSTEMS_MAX] = { 0 }, before = 0;
	uint32_t count = world_system_flights(world, flights);
	for (uint32_t i = 0; i < count; i++) {
		next[dynamics_find_system(&world->dynamics, flights[i].id)] = before;
		before += flights[i].alive;
	}
	ASSERT(before == table->count);
	/* Rows are in the order of births, so those of a system ascend. */
	for (uint32_t row = 0; row < table->count; row++) {
		uint32_t system = table->system[row];
		out[next[system]++] = (struct particle_row){
			.system = systems->id[system],
			.serial = table->serial[row],
			.birth = table->birth[row],
			.death = table->death[row],
			.position = table->position[row],
			.velocity = table->velocity[row],
			.radius = table->radius[row],
			.mass = table->mass[row],
			.density = table->density[row],
			.pressure = table->pressure[row],
		};
	}
}

uint32_t world_links(const struct world *world, system_id id, uint64_t after, struct link_view *out,
		     uint32_t capacity)
{
	const struct link_table *table = &world->tables.link;
	uint32_t system = dynamics_find_system(&world->dynamics, id), count = 0;
	uint64_t passed = 0;
	for (uint32_t row = 0; row < table->count && count < capacity; row++) {
		if (table->system[row] != system || passed++ < after)
			continue;
		out[count].kind = table->kind[row];
		memcpy(out[count++].serial, table->serial[row], sizeof out->serial);
	}
	return count;
}
