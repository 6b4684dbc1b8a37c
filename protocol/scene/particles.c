/* particles.c: particle systems of a scene. See compile.h. */
#include <stdio.h>
#include <string.h>

#include "protocol/scene/compile.h"

static vec3 half_of(const struct particles_keys *keys)
{
	if (keys->emitter == EMITTER_SPHERE)
		return vec3_all(keys->radius);
	return keys->emitter == EMITTER_PLANAR ? vec3_all(0.5 * keys->side)
					       : vec3_scale(keys->box, 0.5);
}

/* Appends [age, colour] to the list of points. */
static enum status read_colour(struct compile *self, const struct yaml_node *node)
{
	double age;
	uint32_t colour;
	if (node->kind != NODE_LIST || node->count != 2)
		return source_fail(&self->source, node->line, STATUS_TYPE, "colours",
				   "an item of colours is [age, colour], as [0.5, 0xC87941]");
	enum status status =
		schema_number(&self->source, node->first, "colours", 0, LENGTH_MAX, "s", &age);
	if (status == STATUS_OK)
		status = compile_colour(self, node->first->next, &colour);
	if (status != STATUS_OK)
		return status;
	if (ARRAY_RESERVE(&self->points, (uint64_t)self->points.count + 1) != STATUS_OK)
		return source_no_memory(&self->source);
	self->points.items[self->points.count++] = (struct joint_point){ age, colour };
	return STATUS_OK;
}

static enum status read_colours(struct compile *self, const struct yaml_node *list)
{
	enum status status = STATUS_OK;
	double before = -1;
	for (const struct yaml_node *at = list != NULL ? list->first : NULL;
	     at != NULL && status == STATUS_OK; at = at->next) {
		status = read_colour(self, at);
		double age = status == STATUS_OK ? self->points.items[self->points.count - 1].time
						 : SCALAR_MAX;
		if (!(age > before))
			return source_fail(&self->source, at->line, STATUS_RANGE, "colours",
					   "age %g of colours is not above %g, the one before it",
					   age, before);
		before = age;
	}
	return status;
}

static void fill(struct command_PARTICLES_CREATE *out, const struct particles_keys *keys)
{
	snprintf(out->name.text, sizeof out->name.text, "%s", keys->name);
	out->emitter = (uint8_t)keys->emitter;
	out->position = keys->at;
	out->rotation = keys->rotation;
	out->half = half_of(keys);
	out->capacity = keys->capacity;
	out->recycle = keys->recycle;
	out->rate = keys->rate;
	out->rate_deviation = keys->rate_deviation;
	out->delay = keys->delay;
	out->size = keys->size;
	out->size_deviation = keys->size_deviation;
	out->mass = keys->mass;
	out->mass_deviation = keys->mass_deviation;
	out->life = keys->life;
	out->life_deviation = keys->life_deviation;
	out->speed = keys->speed;
	out->speed_deviation = keys->speed_deviation;
	out->spread = scalar_min(keys->spread * RADIANS_PER_DEGREE, PARTICLE_SPREAD_MAX);
	out->drag = keys->drag;
	out->gravity_scale = keys->gravity_scale;
	out->static_friction = out->dynamic_friction = keys->friction;
	out->restitution = keys->restitution;
	out->category = keys->category;
	out->mask = keys->mask;
	out->tag = keys->tag;
	out->seed = keys->seed;
}

static enum status compile_interact(struct compile *self, const struct yaml_node *node,
				    int64_t system)
{
	struct interact_keys keys;
	enum status status = schema_read(&self->source, node, SCHEMA_INTERACT, &keys);
	if (status != STATUS_OK)
		return status;
	struct command *command = compile_command(self, COMMAND_PARTICLES_INTERACT, node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->particles_interact = (struct command_PARTICLES_INTERACT){
		.system = system,
		.forces = (uint8_t)keys.forces,
		.collisions = (uint8_t)keys.collisions,
		.cutoff = keys.cutoff,
		.core = keys.core,
		.substeps = keys.substeps,
		.charge = keys.charge,
		.gravitation = keys.gravitation,
		.well_depth = keys.well_depth,
		.well_distance = keys.well_distance,
		.repulsion = keys.repulsion,
		.repulsion_damping = keys.repulsion_damping,
	};
	return STATUS_OK;
}

static enum status compile_split(struct compile *self, const struct yaml_node *node, int64_t system)
{
	struct split_keys keys;
	enum status status = schema_read(&self->source, node, SCHEMA_SPLIT, &keys);
	if (status != STATUS_OK)
		return status;
	struct command *command = compile_command(self, COMMAND_PARTICLES_SPLIT, node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->particles_split = (struct command_PARTICLES_SPLIT){
		.system = system,
		.number = keys.number,
		.number_deviation = keys.number_deviation,
		.age = keys.age,
		.age_deviation = keys.age_deviation,
		.delay = keys.delay,
		.depth = keys.depth,
		.velocity = keys.velocity,
		.velocity_deviation = keys.velocity_deviation,
		.spread = scalar_min(keys.spread * RADIANS_PER_DEGREE, PARTICLE_SPREAD_MAX),
		.burst = keys.burst,
		.burst_deviation = keys.burst_deviation,
		.size = keys.size,
		.size_deviation = keys.size_deviation,
		.life = keys.life,
		.life_deviation = keys.life_deviation,
		.spend = keys.spend,
	};
	return STATUS_OK;
}

/* [position] or [position, velocity]. */
static enum status compile_point(struct compile *self, const struct yaml_node *node, int64_t system)
{
	double position[3], velocity[3] = { 0 };
	if (node->kind != NODE_LIST || node->count < 1 || node->count > 2)
		return source_fail(&self->source, node->line, STATUS_TYPE, "points",
				   "an item of points is [position, velocity], as [[0, 1, 0], [2, "
				   "0, 0]]; the velocity may be left out");
	enum status status = schema_vector(&self->source, node->first, "points", -LENGTH_MAX,
					   LENGTH_MAX, "m", 3, position);
	if (status == STATUS_OK && node->count == 2)
		status = schema_vector(&self->source, node->first->next, "points", -SPEED_MAX,
				       SPEED_MAX, "m/s", 3, velocity);
	if (status != STATUS_OK)
		return status;
	struct command *command = compile_command(self, COMMAND_PARTICLES_ADD, node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->particles_add = (struct command_PARTICLES_ADD){
		.system = system,
		.position = vec3_make(position[0], position[1], position[2]),
		.velocity = vec3_make(velocity[0], velocity[1], velocity[2]),
	};
	return STATUS_OK;
}

static enum status compile_lattice(struct compile *self, const struct yaml_node *node,
				   int64_t system)
{
	struct lattice_keys keys;
	enum status status = schema_read(&self->source, node, SCHEMA_LATTICE, &keys);
	if (status != STATUS_OK)
		return status;
	struct command *command = compile_command(self, COMMAND_PARTICLES_LATTICE, node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->particles_lattice = (struct command_PARTICLES_LATTICE){
		.system = system,
		.position = keys.at,
		.rotation = keys.rotation,
		.columns = keys.columns,
		.rows = keys.rows,
		.layers = keys.layers,
		.spacing = keys.spacing,
		.links = keys.links,
		.compliance = keys.compliance,
		.shear_compliance = keys.shear_compliance,
		.bend_compliance = keys.bend_compliance,
		.damping_ratio = keys.damping_ratio,
		.tear = keys.tear,
		.tear_force = keys.tear_force,
		.substeps = keys.substeps,
	};
	return STATUS_OK;
}

static enum status compile_link(struct compile *self, const struct yaml_node *node, int64_t system)
{
	struct link_keys keys;
	enum status status = schema_read(&self->source, node, SCHEMA_LINK, &keys);
	if (status != STATUS_OK)
		return status;
	struct command *command = compile_command(self, COMMAND_PARTICLES_LINK, node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->particles_link = (struct command_PARTICLES_LINK){
		.system = system,
		.a = keys.a,
		.b = keys.b,
		.kind = (uint8_t)keys.kind,
		.c = keys.c,
		.d = keys.d,
		.length = keys.length,
		.compliance = keys.compliance,
		.damping_ratio = keys.damping_ratio,
		.tear = keys.tear,
		.tear_force = keys.tear_force,
		.substeps = keys.substeps,
	};
	return STATUS_OK;
}

static enum status compile_pin(struct compile *self, const struct yaml_node *node, int64_t system)
{
	double serial;
	enum status status = schema_number(&self->source, node, "pins", 1, UINT32_MAX, "", &serial);
	if (status != STATUS_OK)
		return status;
	if (serial != (double)(uint32_t)serial)
		return source_fail(&self->source, node->line, STATUS_TYPE, "pins",
				   "%g of pins is no serial number: write a whole number from 1",
				   serial);
	struct command *command = compile_command(self, COMMAND_PARTICLES_PIN, node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->particles_pin = (struct command_PARTICLES_PIN){ .system = system,
								 .particle = (uint32_t)serial,
								 .pinned = 1 };
	return STATUS_OK;
}

static enum status compile_fluid(struct compile *self, const struct yaml_node *node, int64_t system,
				 double *radius)
{
	struct fluid_keys keys;
	enum status status = schema_read(&self->source, node, SCHEMA_FLUID, &keys);
	if (status != STATUS_OK)
		return status;
	struct command *command = compile_command(self, COMMAND_PARTICLES_FLUID, node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	*radius = keys.kernel_radius;
	command->particles_fluid = (struct command_PARTICLES_FLUID){
		.system = system,
		.kernel_radius = keys.kernel_radius,
		.rest_density = keys.rest_density,
		.viscosity = keys.viscosity,
		.wall_viscosity = keys.wall_viscosity,
		.surface_tension = keys.surface_tension,
		.solver = (uint8_t)keys.solver,
		.tolerance = keys.tolerance,
		.compression = keys.compression,
		.speed = keys.speed,
		.stiffness = keys.stiffness,
		.step_ratio = keys.step_ratio,
		.substeps_max = keys.substeps_max,
	};
	return STATUS_OK;
}

static enum status compile_fill(struct compile *self, const struct yaml_node *node, pose frame,
				int64_t system, double radius)
{
	struct fill_keys keys;
	enum status status = schema_read(&self->source, node, SCHEMA_FILL, &keys);
	if (status != STATUS_OK)
		return status;
	if (keys.spacing == 0)
		keys.spacing = 0.5 * radius;
	if (keys.spacing < PARTICLE_SIZE_MIN)
		return source_fail(
			&self->source, node->line, STATUS_RANGE, "spacing",
			"spacing of the fill is %g m: it must be at least %g; without it, it "
			"is half of kernel_radius of the system's table fluid",
			keys.spacing, PARTICLE_SIZE_MIN);
	struct command *command = compile_command(self, COMMAND_PARTICLES_FILL, node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->particles_fill = (struct command_PARTICLES_FILL){
		.system = system,
		.position = pose_point(frame, keys.at),
		.rotation = quat_normalize(quat_mul(frame.rotation, keys.rotation)),
		.size = keys.size,
		.spacing = keys.spacing,
		.velocity = keys.velocity,
	};
	return STATUS_OK;
}

static enum status compile_fluids(struct compile *self, const struct particles_keys *keys,
				  pose frame, int64_t system)
{
	double radius = 0;
	enum status status = STATUS_OK;
	if (keys->fluid != NULL)
		status = compile_fluid(self, keys->fluid, system, &radius);
	for (const struct yaml_node *at = keys->fills != NULL ? keys->fills->first : NULL;
	     at != NULL && status == STATUS_OK; at = at->next)
		status = compile_fill(self, at, frame, system, radius);
	return status;
}

static enum status find_one_body(struct compile *self, const struct yaml_node *node,
				 const char *name, struct body_range *out)
{
	enum status status = compile_find_bodies(self, node, "body", name, out);
	if (status != STATUS_OK)
		return status;
	if (out->first == COMPILE_WORLD || out->count != 1)
		return source_fail(
			&self->source, node->line, STATUS_RANGE, "body",
			"body '%.32s' is not one body: give the name of one, or NAME[i] of "
			"a generator",
			name);
	return STATUS_OK;
}

static enum status compile_hold(struct compile *self, const struct yaml_node *node, int64_t system)
{
	struct hold_keys keys;
	struct body_range body;
	enum status status = schema_read(&self->source, node, SCHEMA_HOLD, &keys);
	if (status == STATUS_OK)
		status = find_one_body(self, node, keys.body, &body);
	if (status != STATUS_OK)
		return status;
	struct command *command = compile_command(self, COMMAND_PARTICLES_HOLD, node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->particles_hold = (struct command_PARTICLES_HOLD){
		.system = system,
		.particle = keys.particle,
		.body = -(int64_t)body.first - 1,
		.place = node_find(node, "point") == NULL ? 0
			 : keys.stiffness > 0		  ? 2
							  : 1,
		.point = keys.point,
		.stiffness = keys.stiffness,
		.damping_ratio = keys.damping_ratio,
	};
	return STATUS_OK;
}

static enum status compile_self(struct compile *self, const struct yaml_node *node, int64_t system)
{
	struct self_keys keys;
	enum status status = schema_read(&self->source, node, SCHEMA_SELF, &keys);
	if (status != STATUS_OK)
		return status;
	struct command *command = compile_command(self, COMMAND_PARTICLES_SELF, node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->particles_self = (struct command_PARTICLES_SELF){ .system = system,
								   .thickness = keys.thickness,
								   .friction = keys.friction };
	return STATUS_OK;
}

static enum status compile_limit(struct compile *self, const struct yaml_node *node, double stretch,
				 int64_t system)
{
	if (stretch < STRETCH_LIMIT_MIN)
		return source_fail(&self->source, node->line, STATUS_RANGE, "stretch_limit",
				   "stretch_limit is %.10g: it must be 0 or at least %g", stretch,
				   STRETCH_LIMIT_MIN);
	struct command *command = compile_command(self, COMMAND_PARTICLES_LIMIT, node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->particles_limit =
		(struct command_PARTICLES_LIMIT){ .system = system, .stretch = stretch };
	return STATUS_OK;
}

/* Of `mount`, which may be NULL, and `room`. */
static enum status compile_emitter(struct compile *self, uint32_t line,
				   const struct yaml_node *mount, bool room, int64_t system)
{
	struct mount_keys keys = { .velocity = 1, .recoil = true };
	struct body_range body = { 0 };
	enum status status = STATUS_OK;
	if (mount != NULL)
		status = schema_read(&self->source, mount, SCHEMA_MOUNT, &keys);
	if (status == STATUS_OK && mount != NULL)
		status = find_one_body(self, mount, keys.body, &body);
	if (status != STATUS_OK)
		return status;
	struct command *command = compile_command(self, COMMAND_PARTICLES_EMITTER, line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->particles_emitter = (struct command_PARTICLES_EMITTER){
		.system = system,
		.body = mount != NULL ? -(int64_t)body.first - 1 : 0,
		.place = (uint8_t)keys.place,
		.velocity = keys.velocity,
		.recoil = keys.recoil,
		.room = room,
	};
	return STATUS_OK;
}

/* The sinks of a system; `frame`: the part's, for those that no body carries. */
static enum status compile_sinks(struct compile *self, const struct yaml_node *list, pose frame,
				 int64_t system)
{
	uint32_t number = 0;
	for (const struct yaml_node *node = list != NULL ? list->first : NULL; node != NULL;
	     node = node->next) {
		struct sink_keys keys;
		struct body_range body = { 0 };
		enum status status = schema_read(&self->source, node, SCHEMA_SINK, &keys);
		bool carried = status == STATUS_OK && keys.body != NULL;
		if (carried)
			status = find_one_body(self, node, keys.body, &body);
		if (status != STATUS_OK)
			return status;
		number++;
		if (keys.region == SINK_NONE)
			continue;
		struct command *command = compile_command(self, COMMAND_PARTICLES_SINK, node->line);
		if (command == NULL)
			return source_no_memory(&self->source);
		pose at = pose_make(keys.at, keys.rotation);
		if (!carried)
			at = pose_mul(frame, at);
		command->particles_sink = (struct command_PARTICLES_SINK){
			.system = system,
			.sink = number,
			.region = (uint8_t)keys.region,
			.position = at.position,
			.size = keys.size,
			.radius = keys.radius,
			.rotation = quat_normalize(at.rotation),
			.body = carried ? -(int64_t)body.first - 1 : 0,
		};
	}
	return STATUS_OK;
}

static enum status compile_contacts(struct compile *self, uint32_t line, uint32_t contacts,
				    int64_t system)
{
	struct command *command = compile_command(self, COMMAND_PARTICLES_CONTACTS, line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->particles_contacts =
		(struct command_PARTICLES_CONTACTS){ .system = system,
						     .contacts = (uint8_t)contacts };
	return STATUS_OK;
}

typedef enum status compile_item(struct compile *self, const struct yaml_node *node,
				 int64_t system);

static enum status compile_list(struct compile *self, const struct yaml_node *list, int64_t system,
				compile_item *item)
{
	enum status status = STATUS_OK;
	for (const struct yaml_node *at = list != NULL ? list->first : NULL;
	     at != NULL && status == STATUS_OK; at = at->next)
		status = item(self, at, system);
	return status;
}

/* A system that a trail or a meeting may name: its back reference, and its own trail and meetings (NULL:
 * none). */
struct named_system {
	const char *name; /* borrowed from the document */
	uint32_t line;	  /* of it */
	int64_t number;
	const struct yaml_node *trail, *meets;
};

static enum status compile_system(struct compile *self, const struct yaml_node *node,
				  struct named_system *out)
{
	struct particles_keys keys;
	uint32_t first = self->points.count;
	enum status status = schema_read(&self->source, node, SCHEMA_PARTICLES, &keys);
	if (status == STATUS_OK)
		status = read_colours(self, keys.colours);
	pose frame;
	if (status == STATUS_OK && keys.emitter == EMITTER_BODY && keys.mount == NULL)
		return source_fail(
			&self->source, node->line, STATUS_RANGE, "emitter",
			"emitter is body, so the system needs the table mount, which names "
			"the body on whose faces particles are born");
	if (status == STATUS_OK)
		status = compile_frame(&self->source, keys.frame, &frame);
	if (status != STATUS_OK)
		return status;
	/* In the axes of the body that carries the emitter there is no frame. */
	const struct yaml_node *place = keys.mount != NULL ? node_find(keys.mount, "place") : NULL;
	bool carried =
		place != NULL && place->kind == NODE_SCALAR && strcmp(place->text, "point") == 0;
	if (keys.frame != NULL && !carried) {
		keys.at = pose_point(frame, keys.at);
		keys.rotation = quat_normalize(quat_mul(frame.rotation, keys.rotation));
	}
	struct command *command = compile_command(self, COMMAND_PARTICLES_CREATE, node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	fill(&command->particles_create, &keys);
	command->particles_create.colours.count = self->points.count - first;
	self->firsts.items[self->firsts.count - 1] = first;
	const int64_t system = -(int64_t)self->commands.count;
	status = compile_list(self, keys.points, system, compile_point);
	if (status == STATUS_OK)
		status = compile_list(self, keys.lattices, system, compile_lattice);
	if (status == STATUS_OK)
		status = compile_list(self, keys.links, system, compile_link);
	if (status == STATUS_OK)
		status = compile_list(self, keys.pins, system, compile_pin);
	if (status == STATUS_OK)
		status = compile_list(self, keys.holds, system, compile_hold);
	if (status == STATUS_OK && keys.contacts != CONTACTS_AFTER)
		status = compile_contacts(self, node->line, keys.contacts, system);
	if (status == STATUS_OK && keys.self != NULL)
		status = compile_self(self, keys.self, system);
	if (status == STATUS_OK && keys.stretch_limit > 0)
		status = compile_limit(self, node, keys.stretch_limit, system);
	if (status == STATUS_OK && (keys.mount != NULL || keys.room))
		status = compile_emitter(self, node->line, keys.mount, keys.room, system);
	if (status == STATUS_OK)
		status = compile_sinks(self, keys.sinks, frame, system);
	if (status == STATUS_OK)
		status = compile_fluids(self, &keys, frame, system);
	if (status == STATUS_OK && keys.interact != NULL)
		status = compile_interact(self, keys.interact, system);
	if (status == STATUS_OK && keys.split != NULL)
		status = compile_split(self, keys.split, system);
	*out = (struct named_system){ keys.name, node_find(node, "name")->line, system, keys.trail,
				      keys.meets };
	return status;
}

/* The system of that name; NULL and a failure: there is none. */
static const struct named_system *find_named(struct compile *self, uint32_t line, const char *table,
					     const struct named_system *systems, uint32_t count,
					     const char *name, enum status *status)
{
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(systems[i].name, name) == 0)
			return &systems[i];
	*status = source_fail(
		&self->source, line, STATUS_UNKNOWN_PARTICLES, "system",
		"system '%.31s' of %s is the name of no particle system; give that of one", name,
		table);
	return NULL;
}

static enum status compile_meet(struct compile *self, const struct yaml_node *node,
				const struct named_system *systems, uint32_t count,
				const struct named_system *of)
{
	struct meet_keys keys;
	enum status status = schema_read(&self->source, node, SCHEMA_MEET, &keys);
	const struct named_system *other = NULL;
	if (status == STATUS_OK)
		other = find_named(self, node->line, "meets", systems, count, keys.system, &status);
	if (other == NULL)
		return status;
	struct command *command = compile_command(self, COMMAND_PARTICLES_MEET, node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->particles_meet = (struct command_PARTICLES_MEET){ .system = of->number,
								   .other = other->number,
								   .thickness = keys.thickness,
								   .friction = keys.friction };
	return STATUS_OK;
}

static enum status compile_meets(struct compile *self, const struct named_system *systems,
				 uint32_t count, const struct named_system *of)
{
	enum status status = STATUS_OK;
	for (const struct yaml_node *at = of->meets != NULL ? of->meets->first : NULL;
	     at != NULL && status == STATUS_OK; at = at->next)
		status = compile_meet(self, at, systems, count, of);
	return status;
}

static enum status compile_trail(struct compile *self, const struct named_system *systems,
				 uint32_t count, const struct named_system *of)
{
	struct trail_keys keys;
	enum status status = schema_read(&self->source, of->trail, SCHEMA_TRAIL, &keys);
	const struct named_system *trail = NULL;
	if (status == STATUS_OK)
		trail = find_named(self, of->trail->line, "trail", systems, count, keys.system,
				   &status);
	if (trail == NULL)
		return status;
	struct command *command = compile_command(self, COMMAND_PARTICLES_TRAIL, of->trail->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->particles_trail = (struct command_PARTICLES_TRAIL){
		.system = of->number,
		.trail = trail->number,
		.delay = keys.delay,
		.velocity = keys.velocity,
		.depth = keys.depth,
	};
	return STATUS_OK;
}

enum status compile_particles(struct compile *self, const struct yaml_node *systems)
{
	struct named_system named[SYSTEMS_MAX];
	uint32_t count = 0;
	enum status status = STATUS_OK;
	for (const struct yaml_node *at = systems != NULL ? systems->first : NULL;
	     at != NULL && status == STATUS_OK; at = at->next) {
		if (count == SYSTEMS_MAX)
			return source_fail(&self->source, at->line, STATUS_LIMIT, "particles",
					   "particles has more than %u systems", SYSTEMS_MAX);
		status = compile_system(self, at, &named[count]);
		for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
			if (strcmp(named[i].name, named[count].name) == 0)
				status = compile_refuse_name(self, named[count].line,
							     named[count].name, named[i].line);
		count++;
	}
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		if (named[i].trail != NULL)
			status = compile_trail(self, named, count, &named[i]);
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = compile_meets(self, named, count, &named[i]);
	return status;
}
