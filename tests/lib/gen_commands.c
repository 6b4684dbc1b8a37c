/* See gen_commands.h. */
#include "tests/lib/gen_commands.h"

#include "tests/lib/worlds.h"

#include <math.h>
#include <string.h>

void gen_commands_init(struct gen_commands *gen, const struct world *world, uint64_t seed)
{
	memset(gen, 0, sizeof *gen);
	gen->rng = rng_seeded(seed);
	gen->world = world;
	gen->planar = world_info(world).planar;
	gen->size = 4;
}

static double real(struct gen_commands *gen)
{
	return rng_range(&gen->rng, -gen->size, gen->size);
}

static vec3 vector(struct gen_commands *gen, const char *name)
{
	/* One draw per statement, because C leaves the order of arguments open. */
	vec3 v;
	v.x = real(gen);
	v.y = real(gen);
	v.z = real(gen);
	bool turning = strstr(name, "angular") != NULL || strcmp(name, "torque") == 0;
	if (gen->planar && turning)
		v.x = v.y = 0;
	else if (gen->planar)
		v.z = 0;
	return v;
}

static quat rotation(struct gen_commands *gen)
{
	quat q;
	q.w = real(gen);
	q.x = real(gen);
	q.y = real(gen);
	q.z = real(gen);
	if (gen->planar)
		q.x = q.y = 0;
	q = quat_normalize(q);
	return rng_below(&gen->rng, 4) == 0 ? quat_identity() : q;
}

static int64_t any_body(struct gen_commands *gen)
{
	body_id ids[256];
	uint32_t count = world_bodies(gen->world, ids, COUNT_OF(ids));
	count = count < COUNT_OF(ids) ? count : COUNT_OF(ids);
	return count > 0 ? ids[rng_below(&gen->rng, count)] : 1;
}

static int64_t any_joint(struct gen_commands *gen)
{
	joint_id ids[256];
	uint32_t count = world_joints(gen->world, 0, ids, COUNT_OF(ids));
	count = count < COUNT_OF(ids) ? count : COUNT_OF(ids);
	return count > 0 ? ids[rng_below(&gen->rng, count)] : 1;
}

static int64_t any_field(struct gen_commands *gen)
{
	struct field_view fields[FIELDS_MAX];
	uint32_t count = world_fields(gen->world, fields);
	return count > 0 ? fields[rng_below(&gen->rng, count)].id : 1;
}

static int64_t any_system(struct gen_commands *gen)
{
	struct system_view systems[SYSTEMS_MAX];
	uint32_t count = world_systems(gen->world, systems);
	return count > 0 ? systems[rng_below(&gen->rng, count)].id : 1;
}

static struct target_list targets(struct gen_commands *gen)
{
	uint32_t count = rng_below(&gen->rng, COUNT_OF(gen->targets));
	for (uint32_t i = 0; i < count; i++) {
		gen->targets[i].joint = any_joint(gen);
		gen->targets[i].axis = (uint8_t)rng_below(&gen->rng, JOINT_AXES);
		gen->targets[i].value = real(gen);
	}
	return (struct target_list){ gen->targets, count };
}

static struct point_list points(struct gen_commands *gen)
{
	uint32_t count = 1 + rng_below(&gen->rng, COUNT_OF(gen->points) - 1);
	double time = 0;
	for (uint32_t i = 0; i < count; i++) {
		gen->points[i].time = time;
		gen->points[i].value = real(gen);
		time += rng_range(&gen->rng, 0.01, 1);
	}
	return (struct point_list){ gen->points, count };
}

static struct attachment_list attachments(struct gen_commands *gen)
{
	uint32_t count = rng_below(&gen->rng, COUNT_OF(gen->items));
	for (uint32_t i = 0; i < count; i++) {
		gen->items[i].shape = 1 + rng_below(&gen->rng, gen->planar ? 2 : 4);
		gen->items[i].position = vec3_scale(vector(gen, "position"), 0.2);
		gen->items[i].rotation = rotation(gen);
	}
	return (struct attachment_list){ gen->items, count };
}

static void put(struct command *command, const struct command_field *field, const void *value,
		size_t bytes)
{
	memcpy((char *)command + field->offset, value, bytes);
}

/* A copy of a value into a field. */
#define PUT(type, value)                                                                           \
	do {                                                                                       \
		type put_value = (value);                                                          \
		put(command, field, &put_value, sizeof put_value);                                 \
	} while (0)

static void gen_field(struct gen_commands *gen, struct command *command,
		      const struct command_field *field)
{
	struct rng *rng = &gen->rng;
	double low = field->min, high = field->max;
	switch (field->type) {
	case FIELD_BODY:
		PUT(int64_t, any_body(gen));
		return;
	case FIELD_SHAPE:
		PUT(int64_t, 1 + rng_below(rng, 6));
		return;
	case FIELD_JOINT:
		PUT(int64_t, any_joint(gen));
		return;
	case FIELD_FORCE_FIELD:
		PUT(int64_t, any_field(gen));
		return;
	case FIELD_PARTICLES:
		PUT(int64_t, any_system(gen));
		return;
	case FIELD_ENUM:
		PUT(uint8_t, (uint8_t)(low + rng_below(rng, (uint32_t)(high - low) + 1)));
		return;
	case FIELD_U32:
		PUT(uint32_t, (uint32_t)low + rng_below(rng, (uint32_t)fmin(high - low, 3) + 1));
		return;
	case FIELD_INTEGER:
		PUT(int64_t, (int64_t)rng_below(rng, 7) - 3);
		return;
	case FIELD_F64:
		PUT(double, rng_range(rng, low > -gen->size ? low : -gen->size,
				      high < gen->size ? high : low + gen->size));
		return;
	case FIELD_VEC3:
		PUT(vec3, vector(gen, field->name));
		return;
	case FIELD_QUAT:
		PUT(quat, rotation(gen));
		return;
	case FIELD_NAME:
		PUT(struct name32, test_shape_name((enum test_shape)rng_below(rng, TEST_SHAPES)));
		return;
	case FIELD_SEED:
		PUT(uint64_t, rng_u64(rng));
		return;
	case FIELD_ATTACHMENTS:
		PUT(struct attachment_list, attachments(gen));
		return;
	case FIELD_TARGETS:
		PUT(struct target_list, targets(gen));
		return;
	case FIELD_POINTS:
		PUT(struct point_list, points(gen));
		return;
	case FIELD_TEXT:
		PUT(struct text32,
		    (struct text32){ "a name" }); /* others are chosen by reconcile */
		return;
	}
}

struct text32 gen_method_name(struct rng *rng)
{
	struct method_info methods[32];
	struct method_name names[32];
	uint32_t count = world_methods(methods, COUNT_OF(methods));
	uint32_t more = world_method_names(names, COUNT_OF(names));
	uint32_t drawn = rng_below(rng, count + more);
	return test_text(drawn < count ? methods[drawn].name : names[drawn - count].name);
}

static void choose_parameter(struct gen_commands *gen, struct command *out)
{
	struct parameter_info list[64];
	uint32_t count = world_parameters(list, COUNT_OF(list));
	const struct parameter_info *one = &list[rng_below(&gen->rng, count)];
	out->parameter.name = test_text(one->name);
	out->parameter.value = rng_below(&gen->rng, 2) ? one->initial : one->min;
}

/* Types of joints that a planar world accepts in any frame about z, and all types. */
static uint8_t joint_type(struct gen_commands *gen)
{
	static const uint8_t planar[] = { JOINT_SPHERICAL, JOINT_FIXED, JOINT_DISTANCE,
					  JOINT_SIX_DOF, JOINT_DRAG };
	return gen->planar ? planar[rng_below(&gen->rng, COUNT_OF(planar))]
			   : (uint8_t)(1 + rng_below(&gen->rng, JOINT_TYPES_END - 1));
}

static void reconcile_joint(struct gen_commands *gen, struct command_JOINT_CREATE *create)
{
	create->type = joint_type(gen);
	create->place = 1;
	create->violated = (uint8_t)(rng_below(&gen->rng, 2) * 2);
	if (create->type == JOINT_DRAG || rng_below(&gen->rng, 4) == 0)
		create->body_a = 0;
	if (rng_below(&gen->rng, 4) != 0)
		create->break_force = create->break_torque = 0;
}

/* An axis that joints of that type have. */
static uint32_t axis_of(struct gen_commands *gen, uint8_t type)
{
	static const uint8_t axes[JOINT_TYPES_END][2] = {
		[JOINT_SPHERICAL] = { 3, 4 }, [JOINT_REVOLUTE] = { 3, 3 },
		[JOINT_PRISMATIC] = { 0, 0 }, [JOINT_CYLINDRICAL] = { 0, 3 },
		[JOINT_UNIVERSAL] = { 3, 4 }, [JOINT_FIXED] = { 3, 3 },
		[JOINT_DISTANCE] = { 0, 0 },  [JOINT_SIX_DOF] = { 1, 5 },
		[JOINT_WHEEL] = { 0, 5 },     [JOINT_DRAG] = { 0, 2 },
	};
	return axes[type][rng_below(&gen->rng, 2)];
}

/* A random axis of the joint, or 3. */
static uint32_t axis_of_joint(struct gen_commands *gen, int64_t joint)
{
	struct joint_view view;
	if (world_joint(gen->world, (joint_id)joint, &view) != STATUS_OK)
		return 3;
	return axis_of(gen, view.type);
}

static void reconcile_axis(struct gen_commands *gen, struct command_JOINT_AXIS *axis)
{
	if (axis->motor != JOINT_MOTOR_POSITION)
		axis->motor_stiffness = 0;
	if (axis->motor != JOINT_MOTOR_VELOCITY && !(axis->motor_stiffness > 0))
		axis->motor_damping = 0;
	axis->axis = axis_of_joint(gen, axis->joint);
	if (axis->mode == JOINT_LOCKED)
		axis->mode = JOINT_FREE;
	axis->upper = axis->lower = 0;
	if (axis->mode == JOINT_LIMITED)
		axis->upper = rng_range(&gen->rng, 0.1, 2);
	axis->rest = axis->rest < 0 ? -axis->rest : axis->rest;
}

/* A gear between axes that their joints have; one in four ends one. */
static void reconcile_gear(struct gen_commands *gen, struct command_JOINT_GEAR *gear)
{
	gear->axis = axis_of_joint(gen, gear->joint);
	gear->ratio = rng_range(&gen->rng, 0.2, 3);
	gear->offset = 0;
	if (rng_below(&gen->rng, 4) == 0)
		gear->leader = 0;
	if (gear->leader != 0)
		gear->leader_axis = axis_of_joint(gen, gear->leader);
	if (gear->leader == gear->joint && gear->leader_axis == gear->axis)
		gear->leader = 0;
}

/* Of none, a light and a heavy rotor. */
static double armature_of(struct gen_commands *gen, int64_t joint)
{
	static const double SIZES[] = { 0, 0.01, 3 };
	struct joint_view view;
	if (world_joint(gen->world, (joint_id)joint, &view) != STATUS_OK ||
	    view.type == JOINT_SPHERICAL)
		return 0;
	return SIZES[rng_below(&gen->rng, COUNT_OF(SIZES))];
}

static bool has_motor(struct gen_commands *gen, int64_t joint, uint32_t axis)
{
	struct joint_axis_view view;
	return world_joint_axis(gen->world, (joint_id)joint, axis, &view) == STATUS_OK &&
	       view.motor != JOINT_MOTOR_NONE;
}

static void reconcile_targets(struct gen_commands *gen, struct target_list *list)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < list->count; i++)
		if (has_motor(gen, gen->targets[i].joint, gen->targets[i].axis))
			gen->targets[count++] = gen->targets[i];
	list->count = count;
}

/* Most bodies are smooth to rolling, because some methods refuse the others. */
static void reconcile_rough(struct gen_commands *gen, double *rolling, double *spinning, vec3 *axis)
{
	double length = vec3_length(*axis);
	bool rough = rng_below(&gen->rng, 8) == 0;
	*axis = rough && length > 0 ? vec3_scale(*axis, 1 / length) : vec3_zero();
	if (!rough)
		*rolling = *spinning = 0;
}

static void reconcile_explosion(struct gen_commands *gen, struct command_EXPLODE *explode)
{
	explode->radius = rng_range(&gen->rng, 0.5, 4);
	explode->core = rng_range(&gen->rng, 0, 1) * explode->radius;
}

/* Most bodies are solid from all sides, and their surfaces do not move. */
static void reconcile_surface(struct gen_commands *gen, vec3 *direction, vec3 *velocity)
{
	bool is = rng_below(&gen->rng, 4) == 0;
	if (gen->planar)
		direction->z = velocity->z = 0;
	double length = vec3_length(*direction);
	*direction = is && length > 0 ? vec3_scale(*direction, 0.9 / length) : vec3_zero();
	bool moves = rng_below(&gen->rng, 4) == 0;
	double speed = vec3_length(*velocity);
	*velocity = moves && speed > 0 ? vec3_scale(*velocity, 2 / speed) : vec3_zero();
}

/* Sets what the kind of a force field does not use to 0. FIELD_CREATE and FIELD_SET have the same fields. */
#define RECONCILE_FORCE_FIELD(gen, field)                                                          \
	do {                                                                                       \
		(field)->half = vec3_make(rng_range(&(gen)->rng, 0.5, 5),                          \
					  rng_range(&(gen)->rng, 0.5, 5), 3);                      \
		if ((field)->kind == FIELD_MUTUAL) /* pile alone has it */                         \
			(field)->kind = FIELD_ATTRACTOR;                                           \
		bool fluid = (field)->kind == FIELD_FLUID,                                         \
		     drag = (field)->kind == FIELD_DRAG || fluid;                                  \
		if (fluid && (field)->region == FIELD_BALL)                                        \
			(field)->region = FIELD_EVERYWHERE;                                        \
		if (fluid || (field)->region == FIELD_EVERYWHERE)                                  \
			(field)->falloff = FIELD_CONSTANT;                                         \
		if ((field)->falloff == FIELD_COMPONENTS &&                                        \
		    ((field)->kind != FIELD_WIND || (field)->region != FIELD_BOX))                 \
			(field)->falloff = FIELD_LINEAR;                                           \
		(field)->density = fluid ? rng_range(&(gen)->rng, 300, 3000) : 0;                  \
		if (drag)                                                                          \
			(field)->strength = vec3_zero();                                           \
		else                                                                               \
			(field)->velocity = vec3_zero();                                           \
		if (!drag)                                                                         \
			(field)->linear = (field)->quadratic = (field)->angular = 0;               \
		if ((field)->kind == FIELD_ATTRACTOR)                                              \
			(field)->strength.y = (field)->strength.z = 0;                             \
		if ((field)->kind == FIELD_VORTEX && (gen)->planar)                                \
			(field)->strength.y = 0;                                                   \
	} while (0)

/* Deviations within their means, few particles. PARTICLES_CREATE and PARTICLES_SET have the same fields. */
#define RECONCILE_PARTICLES(gen, system)                                                           \
	do {                                                                                       \
		(system)->half = vec3_make(2, 1, 2);                                               \
		(system)->size = rng_range(&(gen)->rng, 0.02, 0.4);                                \
		(system)->size_deviation = 0.5 * (system)->size;                                   \
		(system)->mass = rng_range(&(gen)->rng, 0.01, 1);                                  \
		(system)->mass_deviation = 0.5 * (system)->mass;                                   \
		(system)->life = rng_range(&(gen)->rng, 0, 0.5);                                   \
		(system)->life_deviation = 0.5 * (system)->life;                                   \
		(system)->speed_deviation = 0.5 * (system)->speed;                                 \
		(system)->rate_deviation = (system)->rate / 2;                                     \
		(system)->capacity = 40;                                                           \
		(system)->dynamic_friction = 0.5 * (system)->static_friction;                      \
		(system)->colours.count = 0;                                                       \
	} while (0)

/* Force fields and particle systems. */
static void reconcile_made(struct gen_commands *gen, struct command *out)
{
	if (out->op == COMMAND_FIELD_SET) {
		RECONCILE_FORCE_FIELD(gen, &out->field_set);
	} else if (out->op == COMMAND_FIELD_CREATE) {
		RECONCILE_FORCE_FIELD(gen, &out->field_create);
	} else if (out->op == COMMAND_PARTICLES_SET) {
		RECONCILE_PARTICLES(gen, &out->particles_set);
	} else {
		out->particles_create.name = test_text("dust");
		RECONCILE_PARTICLES(gen, &out->particles_create);
	}
}

/* Moments that a body can have. */
static void reconcile_mass(struct gen_commands *gen, struct command_SPAWN *out)
{
	double least = rng_range(&gen->rng, 0.1, 2), wide = rng_range(&gen->rng, 1, 1.5);
	bool given = out->mass_rule == MASS_GIVEN;
	out->inertia = given ? vec3_make(least, least * wide, 1.5 * least) : vec3_zero();
	if (given)
		out->mass = rng_range(&gen->rng, 0.1, 10);
	if (out->mass_rule == MASS_OF_SHAPES)
		out->centre = vec3_zero();
}

/* The body of the lowest id goes with no other, so others may go with it. */
static void reconcile_end(struct gen_commands *gen, struct command_SPAWN *out)
{
	body_id lowest;
	bool any = world_bodies(gen->world, &lowest, 1) > 0;
	out->ends_with = any && rng_below(&gen->rng, 4) == 0 ? lowest : 0;
}

/* What cannot move begins at rest, and so do bodies with locks; most have none. */
static void reconcile_rest(struct gen_commands *gen, struct command_SPAWN *spawn)
{
	if (spawn->status < BODY_DYNAMIC)
		spawn->velocity = spawn->angular_velocity = vec3_zero();
	if (spawn->flags & BODY_FIXED_ROTATION)
		spawn->angular_velocity = vec3_zero();
	if (rng_below(&gen->rng, 8) != 0)
		spawn->locks = 0;
	if (spawn->locks != 0)
		spawn->velocity = spawn->angular_velocity = vec3_zero();
}

/* The first piece of the body; what it does not own has no value. */
static void reconcile_piece(struct gen_commands *gen, struct command_SET_PIECE *out)
{
	struct command initial;
	command_defaults(&initial, COMMAND_SET_PIECE);
	struct command_SET_PIECE given = *out;
	*out = initial.set_piece;
	out->body = given.body;
	out->own = rng_below(&gen->rng, OWN_ALL + 1);
	if (out->own & OWN_MATERIAL) {
		out->static_friction = given.static_friction;
		out->dynamic_friction = 0.5 * given.static_friction;
		out->restitution = given.restitution;
		out->friction_rule = given.friction_rule;
		reconcile_rough(gen, &out->rolling_friction, &out->spinning_friction,
				&out->friction_axis);
	}
	if (out->own & OWN_FILTER)
		out->mask = given.mask;
	if (out->own & OWN_SENSOR)
		out->sensor = given.sensor;
	if (out->own & OWN_SURFACE) {
		vec3 unused = vec3_zero();
		out->surface_velocity = given.surface_velocity;
		reconcile_surface(gen, &unused, &out->surface_velocity);
	}
	if (out->own & OWN_DENSITY)
		out->density = rng_range(&gen->rng, 100, 2000);
}

static void reconcile_spawn(struct gen_commands *gen, struct command *out)
{
	out->spawn.static_friction = 0.8;
	out->spawn.dynamic_friction = 0.5;
	out->spawn.density = rng_range(&gen->rng, 100, 2000);
	out->spawn.mass = rng_below(&gen->rng, 2) ? 0 : rng_range(&gen->rng, 0.1, 10);
	reconcile_mass(gen, &out->spawn);
	reconcile_end(gen, &out->spawn);
	out->spawn.category = 1;
	out->spawn.mask = UINT32_MAX;
	reconcile_rough(gen, &out->spawn.rolling_friction, &out->spawn.spinning_friction,
			&out->spawn.friction_axis);
	reconcile_surface(gen, &out->spawn.one_way, &out->spawn.surface_velocity);
	reconcile_rest(gen, &out->spawn);
}

/* A mover, or an animated body, if there is one. */
static void choose_walker(struct gen_commands *gen, bool mover, int64_t *body)
{
	body_id ids[64];
	uint32_t count = world_bodies(gen->world, ids, COUNT_OF(ids));
	uint32_t first = rng_below(&gen->rng, COUNT_OF(ids));
	count = count < COUNT_OF(ids) ? count : (uint32_t)COUNT_OF(ids);
	for (uint32_t i = 0; i < count; i++) {
		body_id id = ids[(first + i) % count];
		struct mover_view walker;
		struct body_view view;
		bool fits = mover ? world_mover(gen->world, id, &walker)
				  : world_body(gen->world, id, &view) == STATUS_OK &&
					    view.status == BODY_ANIMATED;
		if (fits) {
			*body = id;
			return;
		}
	}
}

static void reconcile_walker(struct gen_commands *gen, struct command *out)
{
	switch (out->op) {
	case COMMAND_SET_MOVER:
		choose_walker(gen, false, &out->set_mover.body);
		return;
	case COMMAND_STEER:
		choose_walker(gen, true, &out->steer.body);
		return;
	case COMMAND_BOUNDS:
		out->bounds.minimum = vec3_make(-20, -20, -20);
		out->bounds.maximum = vec3_make(20, 20, 20);
		return;
	default:
		return;
	}
}

/* Small lattices, and serial numbers that a system may have. */
static void reconcile_linked(const struct gen_commands *gen, struct command *out)
{
	struct command_PARTICLES_LATTICE *lattice = &out->particles_lattice;
	struct command_PARTICLES_LINK *link = &out->particles_link;
	bool volume = link->kind == LINK_VOLUME;
	switch (out->op) {
	case COMMAND_PARTICLES_LATTICE:
		lattice->columns = 1 + lattice->columns % 4;
		lattice->rows = 1 + lattice->rows % 3;
		lattice->layers = gen->planar ? 1 : 1 + lattice->layers % 2;
		return;
	case COMMAND_PARTICLES_LINK:
		link->a = 1 + link->a % 16;
		link->b = link->a + 1;
		link->c = volume ? link->b + 1 : 0;
		link->d = volume && !gen->planar ? link->c + 1 : 0;
		link->length = volume ? 0 : link->length;
		link->tear = volume ? 0 : link->tear;
		link->tear_force = volume ? 0 : link->tear_force;
		return;
	default:
		out->particles_pin.particle = 1 + out->particles_pin.particle % 16;
	}
}

static void keep_within(double mean, double *deviation)
{
	*deviation = *deviation < mean ? *deviation : mean;
}

/* Few children, of few generations, and deviations that fit. */
static void reconcile_split(struct command_PARTICLES_SPLIT *out)
{
	out->number %= 5;
	out->number_deviation = out->number > 0 ? out->number_deviation % out->number : 0;
	out->depth = 1 + out->depth % 3;
	out->velocity *= 0.5;
	out->burst *= 0.5;
	out->size *= 0.5;
	out->life *= 0.5;
	out->age *= 0.5;
	keep_within(out->velocity, &out->velocity_deviation);
	keep_within(out->burst, &out->burst_deviation);
	keep_within(out->size, &out->size_deviation);
	keep_within(out->life, &out->life_deviation);
	keep_within(out->age, &out->age_deviation);
}

/* A body; 0: there is none, or none is wanted. */
static int64_t gen_some_body(struct gen_commands *gen)
{
	body_id ids[64];
	uint32_t count = world_bodies(gen->world, ids, COUNT_OF(ids));
	count = count < COUNT_OF(ids) ? count : (uint32_t)COUNT_OF(ids);
	uint32_t pick = rng_below(&gen->rng, count + 1);
	return pick < count ? ids[pick] : 0;
}

/* Another system than this one; 0: there is none. */
static int64_t gen_other_system(struct gen_commands *gen, int64_t system)
{
	static struct system_view systems[SYSTEMS_MAX];
	uint32_t count = world_systems(gen->world, systems);
	uint32_t pick = rng_below(&gen->rng, count + 1);
	return pick < count && systems[pick].id != (uint64_t)system ? (int64_t)systems[pick].id : 0;
}

/* Another system; an id that none has if there is no other. */
static int64_t gen_second_system(struct gen_commands *gen, int64_t system)
{
	static struct system_view systems[SYSTEMS_MAX];
	uint32_t count = world_systems(gen->world, systems);
	uint32_t first = count > 0 ? rng_below(&gen->rng, count) : 0;
	for (uint32_t i = 0; i < count; i++)
		if (systems[(first + i) % count].id != (uint64_t)system)
			return systems[(first + i) % count].id;
	return system + 1;
}

/* A few particles in a box. */
static void reconcile_sink(struct gen_commands *gen, struct command_PARTICLES_SINK *out)
{
	out->region = (uint8_t)(SINK_BALL + out->region % 3);
	out->size = vec3_max(vec3_abs(out->size), vec3_all(0.1));
	out->radius = fmax(fabs(out->radius), 0.1);
	out->body = gen_some_body(gen);
	if (out->region == SINK_BODY && out->body == 0)
		out->region = SINK_BOX;
}

static void reconcile_fill(struct command_PARTICLES_FILL *out)
{
	out->spacing = fmax(out->spacing, 0.02);
	for (uint32_t axis = 0; axis < 3; axis++)
		vec3_set(&out->size, axis, fmin(fabs(vec3_get(out->size, axis)), 3 * out->spacing));
}

static void reconcile_particles(struct gen_commands *gen, struct command *out)
{
	switch (out->op) {
	case COMMAND_PARTICLES_FLUID:
		out->particles_fluid.substeps_max = 1 + out->particles_fluid.substeps_max % 4;
		return;
	case COMMAND_PARTICLES_FILL:
		reconcile_fill(&out->particles_fill);
		return;
	case COMMAND_PARTICLES_HOLD:
		out->particles_hold.particle = 1 + out->particles_hold.particle % 16;
		out->particles_hold.body = gen_some_body(gen);
		return;
	case COMMAND_PARTICLES_EMITTER:
		out->particles_emitter.body = gen_some_body(gen);
		return;
	case COMMAND_PARTICLES_MEET:
		out->particles_meet.other = gen_second_system(gen, out->particles_meet.system);
		return;
	case COMMAND_PARTICLES_SINK:
		reconcile_sink(gen, &out->particles_sink);
		return;
	case COMMAND_PARTICLES_TRAIL:
		out->particles_trail.trail = gen_other_system(gen, out->particles_trail.system);
		return;
	case COMMAND_PARTICLES_SPLIT:
		reconcile_split(&out->particles_split);
		return;
	case COMMAND_PARTICLES_INTERACT:
		out->particles_interact.well_distance += 0.01;
		return;
	case COMMAND_PARTICLES_LATTICE:
	case COMMAND_PARTICLES_LINK:
	case COMMAND_PARTICLES_PIN:
		reconcile_linked(gen, out);
		return;
	default:
		reconcile_walker(gen, out);
	}
}

/* Makes fields agree that depend on each other. */
static void reconcile(struct gen_commands *gen, struct command *out)
{
	switch (out->op) {
	case COMMAND_SPAWN:
		reconcile_spawn(gen, out);
		return;
	case COMMAND_SET_SURFACE:
		reconcile_surface(gen, &out->set_surface.one_way,
				  &out->set_surface.surface_velocity);
		return;
	case COMMAND_SET_PIECE:
		reconcile_piece(gen, &out->set_piece);
		return;
	case COMMAND_EXPLODE:
		reconcile_explosion(gen, &out->explode);
		return;
	case COMMAND_SET_MATERIAL:
		out->set_material.dynamic_friction = 0.5 * out->set_material.static_friction;
		reconcile_rough(gen, &out->set_material.rolling_friction,
				&out->set_material.spinning_friction,
				&out->set_material.friction_axis);
		return;
	case COMMAND_PARAMETER:
		choose_parameter(gen, out);
		return;
	case COMMAND_METHOD:
		out->method.name = gen_method_name(&gen->rng);
		return;
	case COMMAND_ANGULAR_IMPULSE:
		if (gen->planar)
			out->angular_impulse.impulse = vec3_make(0, 0, real(gen));
		return;
	case COMMAND_JOINT_CREATE:
		reconcile_joint(gen, &out->joint_create);
		return;
	case COMMAND_JOINT_AXIS:
		reconcile_axis(gen, &out->joint_axis);
		return;
	case COMMAND_JOINT_TARGETS:
		reconcile_targets(gen, &out->joint_targets.targets);
		return;
	case COMMAND_JOINT_GEAR:
		reconcile_gear(gen, &out->joint_gear);
		break;
	case COMMAND_JOINT_ARMATURE:
		out->joint_armature.axis = axis_of_joint(gen, out->joint_armature.joint);
		out->joint_armature.armature = armature_of(gen, out->joint_armature.joint);
		break;
	case COMMAND_JOINT_TABLE:
		out->joint_table.axis = axis_of_joint(gen, out->joint_table.joint);
		out->joint_table.period = rng_below(&gen->rng, 2) * 10.0;
		return;
	case COMMAND_FIELD_CREATE:
	case COMMAND_FIELD_SET:
	case COMMAND_PARTICLES_CREATE:
	case COMMAND_PARTICLES_SET:
		reconcile_made(gen, out);
		return;
	default:
		reconcile_particles(gen, out);
	}
}

void gen_command(struct gen_commands *gen, enum command_op op, struct command *out)
{
	const struct command_info *info = command_info(op);
	command_defaults(out, (uint16_t)op);
	for (uint32_t i = 0; i < info->field_count; i++)
		gen_field(gen, out, &info->fields[i]);
	reconcile(gen, out);
}

void gen_joint_axis(struct gen_commands *gen, uint8_t type, int64_t joint, struct command *out)
{
	gen_command(gen, COMMAND_JOINT_AXIS, out);
	out->joint_axis.joint = joint;
	out->joint_axis.axis = axis_of(gen, type);
}

void gen_any_command(struct gen_commands *gen, struct command *out)
{
	/* Bodies are spawned more often than the rest, so that there are bodies to command. */
	static const uint16_t often[] = { COMMAND_SPAWN, COMMAND_SPAWN,	  COMMAND_SPAWN,
					  COMMAND_SPAWN, COMMAND_SPAWN,	  COMMAND_SPAWN,
					  COMMAND_SPAWN, COMMAND_SPAWN,	  COMMAND_IMPULSE,
					  COMMAND_FORCE, COMMAND_SET_POSE };
	uint32_t count;
	const struct command_info *list = command_list(&count);
	uint32_t pick = rng_below(&gen->rng, count + (uint32_t)COUNT_OF(often));
	uint16_t op = pick < count ? list[pick].op : often[pick - count];
	bool fluid = op == COMMAND_PARTICLES_FLUID || op == COMMAND_PARTICLES_FILL;
	if (command_info(op)->reserved || op == COMMAND_METHOD || (gen->planar && fluid))
		op = COMMAND_SPAWN;
	gen_command(gen, op, out);
}

/* ---- spoiling --------------------------------------------------------------------------------- */

/* Bad numbers for a range: the first two only where the type can hold them. */
static bool bad_number(const struct command_field *field, uint32_t way, double *value,
		       enum status *expected)
{
	double below = field->min - fmax(1, fabs(field->min)) * 1e-6;
	double above = field->max + fmax(1, fabs(field->max)) * 1e-6;
	const double values[] = { below, above, NAN, INFINITY, -INFINITY, 1e300, -1e300 };
	if (way >= COUNT_OF(values))
		return false;
	*value = values[way];
	*expected = isfinite(values[way]) ? STATUS_RANGE : STATUS_NOT_FINITE;
	return true;
}

static bool spoil_f64(struct command *command, const struct command_field *field, uint32_t way,
		      enum status *expected)
{
	double value;
	if (!bad_number(field, way, &value, expected))
		return false;
	/* PARAMETER's value may be ±1e300, so only the parameter's own limits can be exceeded. */
	put(command, field, &value, sizeof value);
	return true;
}

static bool spoil_vec3(struct command *command, const struct command_field *field, uint32_t way,
		       enum status *expected)
{
	double value;
	if (!bad_number(field, way / 3, &value, expected))
		return false;
	vec3 v;
	memcpy(&v, (char *)command + field->offset, sizeof v);
	vec3_set(&v, way % 3, value);
	put(command, field, &v, sizeof v);
	return true;
}

static bool spoil_quat(struct command *command, const struct command_field *field, uint32_t way,
		       enum status *expected)
{
	const quat values[] = { { 0, 0, 0, 0 },	    { 0.4, 0, 0, 0 }, { 2.1, 0, 0, 0 },
				{ 1e300, 0, 0, 0 }, { NAN, 0, 0, 0 }, { 1, 0, 0, INFINITY } };
	if (way >= COUNT_OF(values))
		return false;
	*expected = quat_is_finite(values[way]) ? STATUS_RANGE : STATUS_NOT_FINITE;
	put(command, field, &values[way], sizeof values[way]);
	return true;
}

static bool spoil_id(struct command *command, const struct command_field *field, uint32_t way,
		     enum status *expected)
{
	static const int64_t values[] = { 0,	     4000000000, UINT32_MAX, 1LL << 40,
					  INT64_MAX, -4096,	 -100,	     INT64_MIN };
	if (way >= COUNT_OF(values))
		return false;
	if (values[way] == 0 && field->max == 1)
		way++; /* 0 is the world */
	enum status unknown = field->type == FIELD_BODY	       ? STATUS_UNKNOWN_BODY
			      : field->type == FIELD_SHAPE     ? STATUS_UNKNOWN_SHAPE
			      : field->type == FIELD_JOINT     ? STATUS_UNKNOWN_JOINT
			      : field->type == FIELD_PARTICLES ? STATUS_UNKNOWN_PARTICLES
							       : STATUS_UNKNOWN_FIELD;
	*expected = values[way] < 0 ? STATUS_BACK_REFERENCE : unknown;
	put(command, field, &values[way], sizeof values[way]);
	return true;
}

static bool spoil_text(struct command *command, const struct command_field *field, uint32_t way,
		       enum status *expected)
{
	struct text32 text = { "" };
	*expected = STATUS_RANGE;
	if (way == 1)
		memset(text.text, 'a', sizeof text.text);
	else if (way == 2)
		memcpy(text.text, "a\nb", 4);
	else if (way == 3)
		memcpy(text.text, "\xff", 2);
	else if (way == 4)
		memcpy(text.text, "no such thing", 14);
	if (way == 4 && command->op != COMMAND_METHOD && command->op != COMMAND_PARAMETER)
		return false; /* any name will do */
	if (way == 4)
		*expected = command->op == COMMAND_METHOD ? STATUS_UNKNOWN_METHOD
							  : STATUS_UNKNOWN_PARAMETER;
	put(command, field, &text, sizeof text);
	return way < 5;
}

static bool spoil_attachments(struct command *command, const struct command_field *field,
			      uint32_t way, enum status *expected)
{
	static const struct attachment good = { .shape = 1, .rotation = { 1, 0, 0, 0 } };
	static struct attachment items[ATTACHMENTS_MAX + 1];
	for (uint32_t i = 0; i < COUNT_OF(items); i++)
		items[i] = good;
	struct attachment_list list = { items, 2 };
	static const struct {
		enum status status;
		struct attachment item;
	} bad[] = {
		{ STATUS_UNKNOWN_SHAPE, { 0, { 0, 0, 0 }, { 1, 0, 0, 0 } } },
		{ STATUS_UNKNOWN_SHAPE, { 77777, { 0, 0, 0 }, { 1, 0, 0, 0 } } },
		{ STATUS_BACK_REFERENCE, { -4000, { 0, 0, 0 }, { 1, 0, 0, 0 } } },
		{ STATUS_RANGE, { 1, { 2e6, 0, 0 }, { 1, 0, 0, 0 } } },
		{ STATUS_NOT_FINITE, { 1, { 0, NAN, 0 }, { 1, 0, 0, 0 } } },
		{ STATUS_RANGE, { 1, { 0, 0, 0 }, { 0, 0, 0, 0 } } },
		{ STATUS_NOT_FINITE, { 1, { 0, 0, 0 }, { 1, INFINITY, 0, 0 } } },
	};
	*expected = STATUS_RANGE;
	if (way == COUNT_OF(bad))
		list.count = ATTACHMENTS_MAX + 1;
	else if (way > COUNT_OF(bad))
		return false;
	else
		items[1] = bad[way].item;
	if (way < COUNT_OF(bad))
		*expected = bad[way].status;
	put(command, field, &list, sizeof list);
	return true;
}

static bool spoil_targets(struct command *command, const struct command_field *field, uint32_t way,
			  enum status *expected)
{
	static struct joint_target items[JOINT_TARGETS_MAX + 1];
	static const struct {
		enum status status;
		struct joint_target item;
	} bad[] = {
		{ STATUS_UNKNOWN_JOINT, { 0, 0, 0 } },
		{ STATUS_UNKNOWN_JOINT, { 77777, 0, 0 } },
		{ STATUS_BACK_REFERENCE, { -4000, 0, 0 } },
		{ STATUS_RANGE, { 1, JOINT_AXES, 0 } },
		{ STATUS_RANGE, { 1, 0, 2e6 } },
		{ STATUS_NOT_FINITE, { 1, 0, NAN } },
		{ STATUS_NOT_FINITE, { 1, 0, INFINITY } },
	};
	for (uint32_t i = 0; i < COUNT_OF(items); i++)
		items[i] = (struct joint_target){ 1, 0, 0 };
	struct target_list list = { items, 1 };
	*expected = STATUS_RANGE;
	if (way == COUNT_OF(bad))
		list.count = JOINT_TARGETS_MAX + 1;
	else if (way > COUNT_OF(bad))
		return false;
	else
		items[0] = bad[way].item;
	if (way < COUNT_OF(bad))
		*expected = bad[way].status;
	put(command, field, &list, sizeof list);
	return true;
}

static bool spoil_points(struct command *command, const struct command_field *field, uint32_t way,
			 enum status *expected)
{
	static struct joint_point items[JOINT_POINTS_MAX + 1];
	for (uint32_t i = 0; i < COUNT_OF(items); i++)
		items[i] = (struct joint_point){ .time = i };
	struct point_list list = { items, 2 };
	*expected = STATUS_RANGE;
	switch (way) {
	case 0:
		list.count = field->min > 0 ? 0 : (uint32_t)field->max + 1;
		break;
	case 1:
		list.count = JOINT_POINTS_MAX + 1;
		break;
	case 2:
		items[1].time = 0; /* not after the first */
		break;
	case 3:
		items[0].time = -1;
		break;
	case 4:
		items[1].value = NAN;
		*expected = STATUS_NOT_FINITE;
		break;
	default:
		return false;
	}
	put(command, field, &list, sizeof list);
	return true;
}

bool gen_spoil(struct command *command, const struct command_field *field, uint32_t way,
	       enum status *expected)
{
	switch (field->type) {
	case FIELD_F64:
		return spoil_f64(command, field, way, expected);
	case FIELD_VEC3:
		return spoil_vec3(command, field, way, expected);
	case FIELD_QUAT:
		return spoil_quat(command, field, way, expected);
	case FIELD_BODY:
	case FIELD_SHAPE:
	case FIELD_JOINT:
	case FIELD_FORCE_FIELD:
	case FIELD_PARTICLES:
		return spoil_id(command, field, way, expected);
	case FIELD_TARGETS:
		return spoil_targets(command, field, way, expected);
	case FIELD_POINTS:
		return spoil_points(command, field, way, expected);
	case FIELD_TEXT:
		return spoil_text(command, field, way, expected);
	case FIELD_ATTACHMENTS:
		return spoil_attachments(command, field, way, expected);
	case FIELD_ENUM:
		*expected = STATUS_RANGE;
		PUT(uint8_t, way == 0 ? (uint8_t)(field->max + 1) : 255);
		return way < 2;
	case FIELD_U32:
		/* Only a limit narrower than the type can be exceeded. */
		*expected = STATUS_RANGE;
		if (way > 0 || (field->min <= 0 && field->max >= UINT32_MAX))
			return false;
		PUT(uint32_t, field->min > 0 ? (uint32_t)field->min - 1 : (uint32_t)field->max + 1);
		return true;
	case FIELD_INTEGER: {
		const int64_t values[] = { INT64_MIN, INT64_MAX, (int64_t)field->min - 1,
					   (int64_t)field->max + 1 };
		*expected = STATUS_RANGE;
		if (way < COUNT_OF(values))
			put(command, field, &values[way], sizeof values[way]);
		return way < COUNT_OF(values);
	}
	case FIELD_NAME:
		*expected = STATUS_UNKNOWN_SHAPE;
		memset((char *)command + field->offset, 0xab, 32);
		return way < 1;
	case FIELD_SEED:
		return false;
	}
	return false;
}
