/* particle_invariants.c: the invariants of particle systems and their particles; see
 * invariants.c. */
#include "server/engine/particles/particle_links.h"
#include "server/engine/particles/particle_meet.h"
#include "server/engine/world/checking.h"

/* A mean and a deviation: what is drawn stays within the limits. */
static bool is_drawn_within(const double parameter[2], double least, double most)
{
	return check_within(parameter[1], 0, most) &&
	       check_within(parameter[0] - parameter[1], least, most) &&
	       check_within(parameter[0] + parameter[1], least, most);
}

static enum status check_emitter(const struct system_table *t, uint32_t row, struct reason *why)
{
	EXPECT(t->emitter[row] <= EMITTER_BODY, TABLE_SYSTEM, row, "emitter");
	EXPECT(t->recycle[row] <= 1, TABLE_SYSTEM, row, "recycle");
	EXPECT(check_vector_within(t->position[row], LENGTH_MAX), TABLE_SYSTEM, row, "position");
	EXPECT(check_unit(t->rotation[row]), TABLE_SYSTEM, row, "rotation");
	EXPECT(check_vector_within(t->half[row], LENGTH_MAX) &&
		       vec3_min_component(t->half[row]) >= 0,
	       TABLE_SYSTEM, row, "half");
	EXPECT(t->most[row] >= 1 && t->most[row] <= PARTICLES_MAX, TABLE_SYSTEM, row, "most");
	EXPECT(t->rate_deviation[row] <= t->rate[row] &&
		       (uint64_t)t->rate[row] + t->rate_deviation[row] <= PARTICLES_MAX,
	       TABLE_SYSTEM, row, "rate");
	EXPECT(t->delay[row] >= 1, TABLE_SYSTEM, row, "delay");
	EXPECT(is_drawn_within(t->size[row], PARTICLE_SIZE_MIN, PARTICLE_SIZE_MAX), TABLE_SYSTEM,
	       row, "size");
	EXPECT(is_drawn_within(t->mass[row], PARTICLE_MASS_MIN, MASS_MAX), TABLE_SYSTEM, row,
	       "mass");
	EXPECT(is_drawn_within(t->life[row], 0, PARTICLE_LIFE_MAX), TABLE_SYSTEM, row, "life");
	EXPECT(is_drawn_within(t->speed[row], 0, SPEED_MAX), TABLE_SYSTEM, row, "speed");
	EXPECT(check_within(t->spread[row], 0, PARTICLE_SPREAD_MAX), TABLE_SYSTEM, row, "spread");
	return STATUS_OK;
}

/* Either PARTICLES_INTERACT gave all of it, or all is 0. */
static enum status check_interaction(const struct system_table *t, uint32_t row, struct reason *why)
{
	double given = t->substeps[row] > 0 ? 1 : 0;
	EXPECT(t->substeps[row] <= PARTICLE_SUBSTEPS_MAX, TABLE_SYSTEM, row, "substeps");
	EXPECT(t->forces[row] <= given * INTERACT_BOTH, TABLE_SYSTEM, row, "forces");
	EXPECT(t->collisions[row] <= given * INTERACT_BOTH, TABLE_SYSTEM, row, "collisions");
	EXPECT(check_within(t->cutoff[row], 0, given * PARTICLE_CUTOFF_MAX), TABLE_SYSTEM, row,
	       "cutoff");
	EXPECT(check_within(t->core[row], given * PARTICLE_CORE_MIN, given * PARTICLE_CUTOFF_MAX),
	       TABLE_SYSTEM, row, "core");
	EXPECT(check_within(t->charge[row], -given * PARTICLE_CHARGE_MAX,
			    given * PARTICLE_CHARGE_MAX),
	       TABLE_SYSTEM, row, "charge");
	EXPECT(check_within(t->gravitation[row], 0, given * PARTICLE_GRAVITATION_MAX), TABLE_SYSTEM,
	       row, "gravitation");
	EXPECT(check_within(t->well_depth[row], 0, given * STIFFNESS_MAX), TABLE_SYSTEM, row,
	       "well_depth");
	EXPECT(check_within(t->well_distance[row], 0, given * PARTICLE_SIZE_MAX), TABLE_SYSTEM, row,
	       "well_distance");
	EXPECT(check_within(t->repulsion[row], 0, given * STIFFNESS_MAX), TABLE_SYSTEM, row,
	       "repulsion");
	EXPECT(check_within(t->repulsion_damping[row], 0, given * PARTICLE_DAMPING_RATIO_MAX),
	       TABLE_SYSTEM, row, "repulsion_damping");
	return STATUS_OK;
}

static enum status check_descent(const struct tables *tables, uint32_t row, struct reason *why)
{
	const struct system_table *t = &tables->system;
	double number[2] = { t->split_number[row][0], t->split_number[row][1] };
	EXPECT(is_drawn_within(number, 0, PARTICLE_CHILDREN_MAX), TABLE_SYSTEM, row,
	       "split_number");
	EXPECT(is_drawn_within(t->split_age[row], 0, PARTICLE_LIFE_MAX), TABLE_SYSTEM, row,
	       "split_age");
	EXPECT(t->split_depth[row] <= PARTICLE_GENERATIONS_MAX, TABLE_SYSTEM, row, "split_depth");
	EXPECT(is_drawn_within(t->split_velocity[row], 0, PARTICLE_SHARE_MAX), TABLE_SYSTEM, row,
	       "split_velocity");
	EXPECT(check_within(t->split_spread[row], 0, PARTICLE_SPREAD_MAX), TABLE_SYSTEM, row,
	       "split_spread");
	EXPECT(is_drawn_within(t->split_burst[row], 0, SPEED_MAX), TABLE_SYSTEM, row,
	       "split_burst");
	EXPECT(is_drawn_within(t->split_size[row], 0, PARTICLE_SHARE_MAX), TABLE_SYSTEM, row,
	       "split_size");
	EXPECT(is_drawn_within(t->split_life[row], 0, PARTICLE_SHARE_MAX), TABLE_SYSTEM, row,
	       "split_life");
	EXPECT(t->split_spend[row] <= 1, TABLE_SYSTEM, row, "split_spend");
	bool found = t->trail[row] == 0;
	for (uint32_t i = 0; i < t->count; i++)
		found |= t->id[i] != 0 && t->id[i] == t->trail[row] && i != row;
	EXPECT(found, TABLE_SYSTEM, row, "trail");
	EXPECT((t->trail[row] != 0) == (t->trail_delay[row] > 0), TABLE_SYSTEM, row, "trail_delay");
	EXPECT(check_within(t->trail_velocity[row], 0, PARTICLE_SHARE_MAX), TABLE_SYSTEM, row,
	       "trail_velocity");
	EXPECT(t->trail_depth[row] <= PARTICLE_GENERATIONS_MAX, TABLE_SYSTEM, row, "trail_depth");
	return STATUS_OK;
}

/* Self contacts and mounts: as they were given, or 0; bodies that carry exist. */
static enum status check_carried(const struct tables *tables, uint32_t row, struct reason *why)
{
	const struct system_table *t = &tables->system;
	uint32_t body = 0;
	EXPECT(check_within(t->stretch_limit[row], 0, 1), TABLE_SYSTEM, row, "stretch_limit");
	EXPECT(check_within(t->self_thickness[row], 0, PARTICLE_SIZE_MAX), TABLE_SYSTEM, row,
	       "self_thickness");
	EXPECT(check_within(t->self_friction[row], 0, FRICTION_MAX), TABLE_SYSTEM, row,
	       "self_friction");
	EXPECT(check_within(t->self_overlap[row], 0, 1), TABLE_SYSTEM, row, "self_overlap");
	while (body < tables->body.count && tables->body.id[body] != t->mount[row])
		body++;
	EXPECT(t->mount[row] == 0 || body < tables->body.count, TABLE_SYSTEM, row, "mount");
	EXPECT(check_within(t->mount_velocity[row], 0, 1), TABLE_SYSTEM, row, "mount_velocity");
	EXPECT(t->recoil[row] <= 1, TABLE_SYSTEM, row, "recoil");
	EXPECT(t->room[row] <= 1, TABLE_SYSTEM, row, "room");
	return STATUS_OK;
}

static enum status check_system(const struct tables *tables, uint32_t row, struct reason *why)
{
	const struct system_table *t = &tables->system;
	EXPECT(t->id[row] < tables->world.next_system[0], TABLE_SYSTEM, row, "id");
	EXPECT(check_within((double)t->tag[row], -INTEGER_MAX, INTEGER_MAX), TABLE_SYSTEM, row,
	       "tag");
	EXPECT(check_within(t->drag[row], 0, STIFFNESS_MAX), TABLE_SYSTEM, row, "drag");
	EXPECT(check_within(t->gravity_scale[row], -GRAVITY_SCALE_MAX, GRAVITY_SCALE_MAX),
	       TABLE_SYSTEM, row, "gravity_scale");
	EXPECT(check_within(t->static_friction[row], 0, FRICTION_MAX), TABLE_SYSTEM, row,
	       "static_friction");
	EXPECT(check_within(t->dynamic_friction[row], 0, t->static_friction[row]), TABLE_SYSTEM,
	       row, "dynamic_friction");
	EXPECT(check_within(t->restitution[row], 0, 1), TABLE_SYSTEM, row, "restitution");
	EXPECT(t->colour_count[row] <= PARTICLE_COLOURS_MAX, TABLE_SYSTEM, row, "colour_count");
	for (uint32_t i = 0; i < t->colour_count[row]; i++)
		EXPECT(t->colour[row][i] <= 0xffffff &&
			       check_within(t->colour_age[row][i],
					    i > 0 ? t->colour_age[row][i - 1] : 0, LENGTH_MAX),
		       TABLE_SYSTEM, row, "colour");
	EXPECT(!tables->world.planar[0] || t->position[row].z == 0, TABLE_SYSTEM, row, "position");
	EXPECT(!tables->world.planar[0] || (t->rotation[row].x == 0 && t->rotation[row].y == 0),
	       TABLE_SYSTEM, row, "rotation");
	EXPECT(t->since[row] <= tables->world.tick[0], TABLE_SYSTEM, row, "since");
	EXPECT(t->alive[row] <= t->most[row] && t->alive[row] <= t->born[row], TABLE_SYSTEM, row,
	       "alive");
	EXPECT(t->refused[row] <= t->born[row], TABLE_SYSTEM, row, "refused");
	enum status status = check_interaction(t, row, why);
	if (status == STATUS_OK)
		status = check_descent(tables, row, why);
	if (status == STATUS_OK)
		status = check_carried(tables, row, why);
	return status == STATUS_OK ? check_emitter(t, row, why) : status;
}

static enum status check_particle(const struct tables *tables, uint32_t row, struct reason *why)
{
	const struct particle_table *t = &tables->particle;
	uint32_t system = t->system[row];
	EXPECT(system < tables->system.count && tables->system.id[system] != 0, TABLE_PARTICLE, row,
	       "system");
	EXPECT(t->serial[row] >= 1 && t->serial[row] <= tables->system.born[system], TABLE_PARTICLE,
	       row, "serial");
	EXPECT(t->birth[row] <= tables->world.tick[0], TABLE_PARTICLE, row, "birth");
	EXPECT(check_vector_within(t->position[row], LENGTH_MAX), TABLE_PARTICLE, row, "position");
	EXPECT(check_vector_within(t->velocity[row], SPEED_MAX), TABLE_PARTICLE, row, "velocity");
	EXPECT(check_within(t->radius[row], 0.5 * PARTICLE_SIZE_MIN, 0.5 * PARTICLE_SIZE_MAX),
	       TABLE_PARTICLE, row, "radius");
	EXPECT(check_within(t->mass[row], PARTICLE_MASS_MIN, MASS_MAX), TABLE_PARTICLE, row,
	       "mass");
	if (tables->world.planar[0]) {
		EXPECT(t->position[row].z == 0, TABLE_PARTICLE, row, "position");
		EXPECT(t->velocity[row].z == 0, TABLE_PARTICLE, row, "velocity");
		EXPECT(t->impulse[row].z == 0, TABLE_PARTICLE, row, "impulse");
		EXPECT(t->twist[row].x == 0 && t->twist[row].y == 0, TABLE_PARTICLE, row, "twist");
	}
	EXPECT(vec3_is_finite(t->impulse[row]), TABLE_PARTICLE, row, "impulse");
	EXPECT(vec3_is_finite(t->twist[row]), TABLE_PARTICLE, row, "twist");
	EXPECT(t->hit[row] != 0 || (vec3_equal(t->impulse[row], vec3_zero()) &&
				    vec3_equal(t->twist[row], vec3_zero())),
	       TABLE_PARTICLE, row, "hit");
	return STATUS_OK;
}

static enum status check_link(const struct tables *tables, uint32_t row, struct reason *why)
{
	const struct link_table *t = &tables->link;
	uint32_t system = t->system[row];
	EXPECT(t->kind[row] <= LINK_VOLUME, TABLE_LINK, row, "kind");
	uint32_t ends = particle_link_ends(tables, t->kind[row]);
	EXPECT(system < tables->system.count && tables->system.id[system] != 0, TABLE_LINK, row,
	       "system");
	for (uint32_t k = 0; k < LINK_ENDS; k++)
		EXPECT(k < ends ? dynamics_find_particle(tables, system, t->serial[row][k]) !=
					  ROW_NONE
				: t->serial[row][k] == 0,
		       TABLE_LINK, row, "serial");
	EXPECT(check_within(t->rest[row], t->kind[row] == LINK_VOLUME ? -SCALAR_MAX : 0,
			    SCALAR_MAX),
	       TABLE_LINK, row, "rest");
	EXPECT(check_within(t->compliance[row], 0, LINK_COMPLIANCE_MAX), TABLE_LINK, row,
	       "compliance");
	EXPECT(check_within(t->damping_ratio[row], 0, PARTICLE_DAMPING_RATIO_MAX), TABLE_LINK, row,
	       "damping_ratio");
	EXPECT(check_within(t->tear[row], 0, LINK_TEAR_MAX), TABLE_LINK, row, "tear");
	EXPECT(check_within(t->tear_force[row], 0, FORCE_MAX), TABLE_LINK, row, "tear_force");
	return STATUS_OK;
}

/* Holds refer to particles and bodies that exist, and systems count them. */
static enum status check_holds(const struct tables *tables, struct reason *why)
{
	uint32_t holds[SYSTEMS_MAX] = { 0 };
	const struct hold_table *t = &tables->hold;
	for (uint32_t row = 0; row < t->count; row++) {
		uint32_t system = t->system[row], body = 0;
		EXPECT(system < tables->system.count && tables->system.id[system] != 0, TABLE_HOLD,
		       row, "system");
		EXPECT(dynamics_find_particle(tables, system, t->serial[row]) != ROW_NONE,
		       TABLE_HOLD, row, "serial");
		while (body < tables->body.count && tables->body.id[body] != t->body[row])
			body++;
		EXPECT(t->body[row] != 0 && body < tables->body.count, TABLE_HOLD, row, "body");
		EXPECT(vec3_is_finite(t->point[row]) &&
			       (!tables->world.planar[0] || t->point[row].z == 0),
		       TABLE_HOLD, row, "point");
		EXPECT(check_within(t->stiffness[row], 0, STIFFNESS_MAX), TABLE_HOLD, row,
		       "stiffness");
		EXPECT(check_within(t->damping_ratio[row], 0, PARTICLE_DAMPING_RATIO_MAX),
		       TABLE_HOLD, row, "damping_ratio");
		for (uint32_t before = 0; before < row; before++)
			EXPECT(t->system[before] != system || t->serial[before] != t->serial[row],
			       TABLE_HOLD, row, "serial");
		holds[system]++;
	}
	for (uint32_t row = 0; row < tables->system.count; row++) {
		EXPECT(holds[row] == tables->system.holds[row], TABLE_SYSTEM, row, "holds");
		EXPECT(tables->system.contacts[row] <= CONTACTS_WITHIN, TABLE_SYSTEM, row,
		       "contacts");
		EXPECT(holds[row] == 0 || tables->system.link_substeps[row] > 0, TABLE_SYSTEM, row,
		       "link_substeps");
	}
	return STATUS_OK;
}

/* Sinks belong to systems, in order, and their bodies exist. */
static enum status check_sinks(const struct tables *tables, struct reason *why)
{
	uint32_t sinks[SYSTEMS_MAX] = { 0 };
	const struct sink_table *t = &tables->sink;
	EXPECT(t->count <= SYSTEMS_MAX * PARTICLE_SINKS_MAX, TABLE_SINK, 0, "system");
	for (uint32_t row = 0; row < t->count; row++) {
		uint32_t system = t->system[row], body = 0;
		EXPECT(system < tables->system.count && tables->system.id[system] != 0, TABLE_SINK,
		       row, "system");
		EXPECT(t->number[row] >= 1 && t->number[row] <= PARTICLE_SINKS_MAX, TABLE_SINK, row,
		       "number");
		EXPECT(row == 0 || t->system[row - 1] < system ||
			       (t->system[row - 1] == system &&
				t->number[row - 1] < t->number[row]),
		       TABLE_SINK, row, "number");
		EXPECT(t->region[row] >= SINK_BALL && t->region[row] <= SINK_BODY, TABLE_SINK, row,
		       "region");
		while (body < tables->body.count && tables->body.id[body] != t->body[row])
			body++;
		EXPECT((t->body[row] == 0 && t->region[row] != SINK_BODY) ||
			       (t->body[row] != 0 && body < tables->body.count),
		       TABLE_SINK, row, "body");
		EXPECT(vec3_is_finite(t->position[row]) && vec3_is_finite(t->size[row]), TABLE_SINK,
		       row, "position");
		EXPECT(check_unit(t->rotation[row]), TABLE_SINK, row, "rotation");
		EXPECT(t->region[row] == SINK_BOX ? vec3_min_component(t->size[row]) > 0
						  : t->radius[row] > 0,
		       TABLE_SINK, row, "size");
		EXPECT(check_within(t->radius[row], 0, LENGTH_MAX), TABLE_SINK, row, "radius");
		EXPECT(check_within(t->mass[row], 0, SCALAR_MAX), TABLE_SINK, row, "mass");
		EXPECT(t->taken[row] <= tables->system.taken[system], TABLE_SINK, row, "taken");
		sinks[system]++;
	}
	for (uint32_t row = 0; row < tables->system.count; row++)
		EXPECT(sinks[row] == tables->system.sinks[row], TABLE_SYSTEM, row, "sinks");
	return STATUS_OK;
}

/* Links and pins refer to particles that exist, and systems count them. */
static enum status check_links(const struct tables *tables, struct reason *why)
{
	uint32_t links[SYSTEMS_MAX] = { 0 }, pins[SYSTEMS_MAX] = { 0 };
	const struct system_table *t = &tables->system;
	EXPECT(tables->link.count <= PARTICLE_LINKS_MAX, TABLE_LINK, 0, "system");
	for (uint32_t row = 0; row < tables->link.count; row++) {
		enum status status = check_link(tables, row, why);
		if (status != STATUS_OK)
			return status;
		links[tables->link.system[row]]++;
	}
	for (uint32_t row = 0; row < tables->pin.count; row++) {
		uint32_t system = tables->pin.system[row];
		EXPECT(system < t->count && t->id[system] != 0, TABLE_PIN, row, "system");
		EXPECT(dynamics_find_particle(tables, system, tables->pin.serial[row]) != ROW_NONE,
		       TABLE_PIN, row, "serial");
		pins[system]++;
	}
	for (uint32_t row = 0; row < t->count; row++) {
		bool linked = links[row] + pins[row] + t->holds[row] > 0;
		EXPECT(links[row] == t->links[row], TABLE_SYSTEM, row, "links");
		EXPECT(pins[row] == t->pins[row], TABLE_SYSTEM, row, "pins");
		EXPECT(t->link_substeps[row] >= linked &&
			       t->link_substeps[row] <= PARTICLE_SUBSTEPS_MAX,
		       TABLE_SYSTEM, row, "link_substeps");
		EXPECT(!linked || ((t->forces[row] == 0 || t->cutoff[row] == 0) &&
				   t->collisions[row] == 0),
		       TABLE_SYSTEM, row, "forces");
		EXPECT(check_within(t->stretch[row], 0, SCALAR_MAX), TABLE_SYSTEM, row, "stretch");
		EXPECT(check_within(t->volume_error[row], 0, SCALAR_MAX), TABLE_SYSTEM, row,
		       "volume_error");
	}
	return STATUS_OK;
}

static bool system_exists(const struct tables *tables, system_id id)
{
	bool found = false;
	for (uint32_t row = 0; row < tables->system.count; row++)
		found |= tables->system.id[row] == id;
	return id != 0 && found;
}

/* Pairs ascend and are of systems that exist, each in few of them. */
static enum status check_meetings(const struct tables *tables, struct reason *why)
{
	const struct meeting_table *t = &tables->meeting;
	for (uint32_t row = 0; row < t->count; row++) {
		EXPECT(system_exists(tables, t->a[row]), TABLE_MEETING, row, "a");
		EXPECT(system_exists(tables, t->b[row]) && t->a[row] < t->b[row], TABLE_MEETING,
		       row, "b");
		EXPECT(row == 0 || t->a[row - 1] < t->a[row] ||
			       (t->a[row - 1] == t->a[row] && t->b[row - 1] < t->b[row]),
		       TABLE_MEETING, row, "a");
		EXPECT(particle_meetings(tables, t->a[row]) <= PARTICLE_MEETINGS_MAX &&
			       particle_meetings(tables, t->b[row]) <= PARTICLE_MEETINGS_MAX,
		       TABLE_MEETING, row, "a");
		EXPECT(t->thickness[row] > 0 && t->thickness[row] <= PARTICLE_SIZE_MAX,
		       TABLE_MEETING, row, "thickness");
		EXPECT(check_within(t->friction[row], 0, FRICTION_MAX), TABLE_MEETING, row,
		       "friction");
		EXPECT(check_within(t->overlap[row], 0, 1), TABLE_MEETING, row, "overlap");
	}
	return STATUS_OK;
}

enum status particles_check_tables(const struct tables *tables, struct reason *why)
{
	uint32_t alive[SYSTEMS_MAX] = { 0 };
	uint64_t last[SYSTEMS_MAX] = { 0 }, capacity = 0;
	EXPECT(tables->system.count <= SYSTEMS_MAX, TABLE_SYSTEM, 0, "id");
	for (uint32_t row = 0; row < tables->system.count; row++) {
		enum status status =
			tables->system.id[row] != 0 ? check_system(tables, row, why) : STATUS_OK;
		if (status != STATUS_OK)
			return status;
		capacity += tables->system.most[row];
	}
	EXPECT(capacity <= PARTICLES_MAX, TABLE_SYSTEM, 0, "most");
	for (uint32_t row = 0; row < tables->particle.count; row++) {
		enum status status = check_particle(tables, row, why);
		if (status != STATUS_OK)
			return status;
		uint32_t system = tables->particle.system[row];
		EXPECT(tables->particle.serial[row] > last[system], TABLE_PARTICLE, row, "serial");
		last[system] = tables->particle.serial[row];
		alive[system]++;
	}
	for (uint32_t row = 0; row < tables->system.count; row++)
		EXPECT(alive[row] == tables->system.alive[row], TABLE_SYSTEM, row, "alive");
	enum status status = check_links(tables, why);
	if (status == STATUS_OK)
		status = check_meetings(tables, why);
	if (status == STATUS_OK)
		status = check_holds(tables, why);
	return status == STATUS_OK ? check_sinks(tables, why) : status;
}
