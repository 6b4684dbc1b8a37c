/* bodies.c: entries of `bodies` as SPAWN commands.
 *
 * The keys of an entry are merged from layers: the prototype of its prototype first, its own keys
 * last. In each layer the material comes before the other keys. A later layer overrides an earlier
 * one: `shape` replaces `shapes` and vice versa, `density` replaces `mass` and vice versa, and a
 * generator replaces another one.
 *
 * Jitter is drawn body by body in the order they are made, position (x, y, z) before rotation, from
 * the entry's own random generator, so that one entry's jitter does not depend on another's.
 * */
#include "protocol/scene/compile.h"

#include <stdio.h>
#include <string.h>

#include "protocol/locks_text.h"
#include "server/base/rng.h"

struct command *compile_command(struct compile *self, uint16_t op, uint32_t line)
{
	uint64_t wanted = (uint64_t)self->commands.count + 1;
	if (ARRAY_RESERVE(&self->commands, wanted) != STATUS_OK ||
	    ARRAY_RESERVE(&self->firsts, wanted) != STATUS_OK ||
	    ARRAY_RESERVE(&self->lines, wanted) != STATUS_OK)
		return NULL;
	self->lines.items[self->lines.count++] = line;
	self->firsts.items[self->firsts.count++] = self->attachments.count;
	struct command *command = &self->commands.items[self->commands.count++];
	command_defaults(command, op);
	return command;
}

/* ---- layers
 * -------------------------------------------------------------------------------------- */

/* An entry with all its layers merged. */
struct entry {
	const struct yaml_node *node;
	struct body_keys body;
	const struct yaml_node *shape, *shapes; /* at most one of them */
	const struct yaml_node *colour;		/* NULL: none */
	pose frame;				/* the entry's axes to the world's */
};

static enum status find_named(struct compile *self, const struct yaml_node *map,
			      const struct yaml_node *use, const char *field,
			      const struct yaml_node **out)
{
	char room[64];
	struct suggestion suggestion = suggestion_for(use->text);
	*out = map != NULL ? node_find(map, use->text) : NULL;
	if (*out != NULL)
		return STATUS_OK;
	for (const struct yaml_node *at = map != NULL ? map->first : NULL; at != NULL;
	     at = at->next->next)
		suggestion_offer(&suggestion, at->text);
	return source_fail(&self->source, use->line, STATUS_MISSING, field,
			   "%s '%.32s' is not in this file%s", field, use->text,
			   suggestion_text(&suggestion, room, sizeof room));
}

/* The chain of the entry and its prototypes, the entry first. */
static enum status find_layers(struct compile *self, const struct yaml_node *node,
			       const struct yaml_node **layers, uint32_t *count)
{
	*count = 0;
	while (true) {
		if (node->kind != NODE_MAP)
			return source_fail(&self->source, node->line, STATUS_TYPE, "body",
					   "a body must be a mapping, not %s",
					   node_kind_text(node));
		layers[(*count)++] = node;
		const struct yaml_node *like = node_find(node, "like");
		if (like == NULL)
			return STATUS_OK;
		if (like->kind != NODE_SCALAR)
			return source_fail(&self->source, like->line, STATUS_TYPE, "like",
					   "like must be a name, not %s", node_kind_text(like));
		enum status status = find_named(self, self->prototypes, like, "like", &node);
		if (status != STATUS_OK)
			return status;
		for (uint32_t i = 0; i < *count; i++)
			if (layers[i] == node)
				return source_fail(
					&self->source, like->line, STATUS_BACK_REFERENCE, "like",
					"prototype '%.32s' is like itself, directly or through others",
					like->text);
		if (*count == LIKE_DEPTH_MAX)
			return source_fail(&self->source, like->line, STATUS_TOO_DEEP, "like",
					   "a chain of more than %d prototypes",
					   LIKE_DEPTH_MAX - 1);
	}
}

#define TAKE_FROM_MATERIAL(body, material, key)                                                    \
	do {                                                                                       \
		if (KEY_GIVEN(material, MATERIAL, key))                                            \
			(body)->key = (material)->key;                                             \
	} while (0)

enum status compile_material(struct compile *self, const struct yaml_node *use,
			     struct material_keys *material, const struct yaml_node **colour)
{
	const struct yaml_node *node;
	enum status status = find_named(self, self->materials, use, "material", &node);
	if (status == STATUS_OK)
		status = schema_read(&self->source, node, SCHEMA_MATERIAL, material);
	if (status == STATUS_OK)
		status = compile_colour_key(self, node, material->colour, material->color, colour);
	if (status != STATUS_OK)
		return status;
	SPREAD_FRICTION(material, MATERIAL);
	return STATUS_OK;
}

static enum status apply_material(struct compile *self, const struct yaml_node *use,
				  struct entry *entry)
{
	const struct yaml_node *colour;
	struct body_keys *body = &entry->body;
	struct material_keys material;
	enum status status = compile_material(self, use, &material, &colour);
	if (status != STATUS_OK)
		return status;
	if (colour != NULL)
		entry->colour = colour;
	TAKE_FROM_MATERIAL(body, &material, density);
	TAKE_FROM_MATERIAL(body, &material, static_friction);
	TAKE_FROM_MATERIAL(body, &material, dynamic_friction);
	TAKE_FROM_MATERIAL(body, &material, restitution);
	TAKE_FROM_MATERIAL(body, &material, friction_rule);
	TAKE_FROM_MATERIAL(body, &material, restitution_rule);
	TAKE_FROM_MATERIAL(body, &material, rolling_friction);
	TAKE_FROM_MATERIAL(body, &material, spinning_friction);
	TAKE_FROM_MATERIAL(body, &material, friction_axis);
	TAKE_FROM_MATERIAL(body, &material, axis_friction);
	return STATUS_OK;
}

enum status compile_refuse_both(struct compile *self, const struct yaml_node *node, bool both,
				const char *one, const char *other)
{
	if (!both)
		return STATUS_OK;
	return source_fail(&self->source, node_find(node, one)->line, STATUS_EXISTS, one,
			   "'%s' and '%s' exclude each other; give one of them", one, other);
}

/* The generator of a later layer replaces that of an earlier one. */
static void drop_generators(struct body_keys *body)
{
#define GENERATOR(NAME, name) body->name = NULL;
	GENERATORS(GENERATOR)
#undef GENERATOR
}

static enum status apply_layer(struct compile *self, const struct yaml_node *node,
			       struct entry *entry)
{
	struct body_keys layer;
	enum status status = schema_read(&self->source, node, SCHEMA_BODY, &layer);
	if (status == STATUS_OK)
		status = compile_refuse_both(
			self, node, layer.shape != NULL && layer.shapes != NULL, "shapes", "shape");
	bool mass = KEY_GIVEN(&layer, BODY, mass), density = KEY_GIVEN(&layer, BODY, density);
	if (status == STATUS_OK)
		status = compile_refuse_both(self, node, mass && density, "mass", "density");
	if (status == STATUS_OK && layer.material != NULL)
		status = apply_material(self, node_find(node, "material"), entry);
	const struct yaml_node *colour = NULL;
	if (status == STATUS_OK)
		status = compile_colour_key(self, node, layer.colour, layer.color, &colour);
	if (status != STATUS_OK)
		return status;
	if (colour != NULL)
		entry->colour = colour;
	SPREAD_FRICTION(&layer, BODY);
	const struct generator_maps maps = GENERATOR_MAPS(&layer);
	if (generator_maps_any(&maps))
		drop_generators(&entry->body);
	schema_merge(SCHEMA_BODY, &entry->body, &layer);
	if (density)
		entry->body.mass = 0;
	if (layer.shape != NULL || layer.shapes != NULL) {
		entry->shape = layer.shape;
		entry->shapes = layer.shapes;
	}
	return STATUS_OK;
}

/* ---- frames
 * -------------------------------------------------------------------------------------- */

enum status compile_frame(const struct source *source, const struct yaml_node *node, pose *out)
{
	struct frame_keys frame;
	*out = pose_identity();
	enum status status =
		node == NULL ? STATUS_OK : schema_read(source, node, SCHEMA_FRAME, &frame);
	if (status == STATUS_OK && node != NULL)
		*out = pose_make(frame.at, frame.rotation);
	return status;
}

/* Reads the entry's frame and turns its velocities into world axes. */
static enum status apply_frame(struct compile *self, struct entry *entry)
{
	struct body_keys *body = &entry->body;
	enum status status = compile_frame(&self->source, body->frame, &entry->frame);
	if (status != STATUS_OK || body->frame == NULL)
		return status;
	if (node_find(entry->node, "frame") == NULL)
		return source_fail(&self->source, entry->node->line, STATUS_EXISTS, "frame",
				   "frame is in a prototype; give it in the body's entry");
	bool turned = !vec3_equal(quat_vector(entry->frame.rotation), vec3_zero());
	if (turned && KEY_GIVEN(body, BODY, locks))
		return source_fail(&self->source, entry->node->line, STATUS_RANGE, "locks",
				   "locks are axes of the world; a body in a rotated frame cannot "
				   "have them");
	body->velocity = quat_rotate(entry->frame.rotation, body->velocity);
	body->angular_velocity = quat_rotate(entry->frame.rotation, body->angular_velocity);
	return STATUS_OK;
}

static enum status read_entry(struct compile *self, const struct yaml_node *node,
			      struct entry *entry)
{
	const struct yaml_node *layers[LIKE_DEPTH_MAX];
	uint32_t count;
	*entry = (struct entry){ .node = node, .frame = pose_identity() };
	schema_defaults(SCHEMA_BODY, &entry->body);
	enum status status = find_layers(self, node, layers, &count);
	while (count > 0 && status == STATUS_OK)
		status = apply_layer(self, layers[--count], entry);
	if (status != STATUS_OK)
		return status;
	struct body_keys *body = &entry->body;
	status = apply_frame(self, entry);
	if (status != STATUS_OK)
		return status;
	if (body->mover != NULL && !KEY_GIVEN(body, BODY, status))
		body->status = BODY_ANIMATED;
	if (body->dynamic_friction > body->static_friction)
		return source_fail(&self->source, node->line, STATUS_RANGE, "dynamic_friction",
				   "dynamic_friction %g is above static_friction %g; lower it",
				   body->dynamic_friction, body->static_friction);
	return STATUS_OK;
}

/* ---- shapes
 * -------------------------------------------------------------------------------------- */

static enum status check_shape(struct compile *self, uint32_t line, const struct body_keys *body,
			       uint32_t shape)
{
	enum canonical_kind kind = compile_shape_kind(self, shape);
	if (canonical_is_ground(kind) &&
	    (body->status == BODY_DYNAMIC || body->status == BODY_ANIMATED))
		return source_fail(&self->source, line, STATUS_STATUS_WRONG, "status",
				   "a %s cannot move: its body must be static or inactive",
				   kind == CANONICAL_PLANE  ? "plane"
				   : kind == CANONICAL_MESH ? "mesh"
							    : "heightfield");
	if (self->planar != (kind == CANONICAL_POLYGON))
		return source_fail(&self->source, line, STATUS_PLANAR, "shape",
				   self->planar ? "in a planar world all shapes must be polygons"
						: "a polygon needs a world with 'planar: true'");
	return STATUS_OK;
}

static enum status check_plane(struct compile *self, uint32_t line, pose at)
{
	if (!self->planar || (at.position.z == 0 && at.rotation.x == 0 && at.rotation.y == 0))
		return STATUS_OK;
	return source_fail(
		&self->source, line, STATUS_PLANAR, "at",
		"the pose is at z = %g; in a planar world z is 0 and rotations are about z",
		at.position.z);
}

static enum status attach_shape(struct compile *self, const struct yaml_node *shape, vec3 at,
				quat rotation, const struct body_keys *body)
{
	char label[32];
	uint32_t index = 0;
	snprintf(label, sizeof label, "line %u", (unsigned)shape->line);
	enum status status = compile_shape(self, shape, label, &index);
	if (status == STATUS_OK)
		status = check_shape(self, shape->line, body, index);
	if (status == STATUS_OK)
		status = check_plane(self, shape->line, pose_make(at, rotation));
	if (status != STATUS_OK)
		return status;
	if (self->attachments.count >= SCENE_ATTACHMENTS_MAX)
		return source_fail(&self->source, shape->line, STATUS_LIMIT, "shapes",
				   "the bodies have more than %d shapes, the limit of a file",
				   SCENE_ATTACHMENTS_MAX);
	if (ARRAY_RESERVE(&self->attachments, (uint64_t)self->attachments.count + 1) != STATUS_OK)
		return source_no_memory(&self->source);
	self->attachments.items[self->attachments.count++] = (struct attachment){
		.shape = -(int64_t)index - 1, .position = at, .rotation = rotation
	};
	return STATUS_OK;
}

static enum status attach_all(struct compile *self, const struct entry *entry)
{
	if (entry->shape != NULL)
		return attach_shape(self, entry->shape, vec3_zero(), quat_identity(), &entry->body);
	const struct yaml_node *at = entry->shapes != NULL ? entry->shapes->first : NULL;
	for (; at != NULL; at = at->next) {
		struct placement_keys placement;
		enum status status = schema_read(&self->source, at, SCHEMA_PLACEMENT, &placement);
		if (status == STATUS_OK)
			status = attach_shape(self, placement.shape, placement.at,
					      placement.rotation, &entry->body);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

/* ---- commands
 * ------------------------------------------------------------------------------------ */

/* The values that all bodies of an entry share. */
static struct command_SPAWN spawn_of(const struct body_keys *body)
{
	struct command defaults;
	command_defaults(&defaults, COMMAND_SPAWN);
	struct command_SPAWN spawn = defaults.spawn;
	spawn.status = (uint8_t)body->status;
	spawn.velocity = body->velocity;
	spawn.angular_velocity = body->angular_velocity;
	spawn.density = body->density;
	spawn.mass = body->mass;
	spawn.static_friction = body->static_friction;
	spawn.dynamic_friction = body->dynamic_friction;
	spawn.restitution = body->restitution;
	spawn.friction_rule = (uint8_t)body->friction_rule;
	spawn.restitution_rule = (uint8_t)body->restitution_rule;
	spawn.rolling_friction = body->rolling_friction;
	spawn.spinning_friction = body->spinning_friction;
	spawn.friction_axis = body->friction_axis;
	spawn.axis_friction = body->axis_friction;
	spawn.one_way = body->one_way;
	spawn.surface_velocity = body->surface_velocity;
	spawn.integrator = (uint8_t)body->integrator;
	spawn.tolerance = body->tolerance;
	spawn.substeps = body->substeps;
	spawn.gravity_scale = body->gravity_scale;
	if (KEY_GIVEN(body, BODY, locks) &&
	    locks_read(body->locks, &spawn.locks, NULL) != STATUS_OK)
		spawn.locks = 0; /* refused by check_locks */
	spawn.speed_max = body->speed_max;
	spawn.angular_speed_max = body->angular_speed_max;
	spawn.mass_rule = KEY_GIVEN(body, BODY, inertia)  ? MASS_GIVEN
			  : KEY_GIVEN(body, BODY, centre) ? MASS_WITH_CENTRE
							  : MASS_OF_SHAPES;
	spawn.centre = body->centre;
	spawn.inertia = body->inertia;
	spawn.inertia_rotation = body->inertia_rotation;
	spawn.category = body->category;
	spawn.mask = body->mask;
	spawn.group = body->group;
	spawn.tag = body->tag;
	spawn.linear_damping = body->linear_damping;
	spawn.angular_damping = body->angular_damping;
	spawn.flags = (body->may_sleep ? (uint32_t)BODY_MAY_SLEEP : 0) |
		      (body->fixed_rotation ? (uint32_t)BODY_FIXED_ROTATION : 0) |
		      (body->fast ? (uint32_t)BODY_FAST : 0) |
		      (body->sensor ? (uint32_t)BODY_SENSOR : 0);
	return spawn;
}

static vec3 random_vector(struct rng *rng, vec3 size)
{
	/* One statement per axis, because the order of draws decides the values. */
	double x = rng_range(rng, -size.x, size.x);
	double y = rng_range(rng, -size.y, size.y);
	double z = rng_range(rng, -size.z, size.z);
	return vec3_make(x, y, z);
}

static pose jittered(const struct compile *self, pose at, const struct body_keys *body,
		     struct rng *rng)
{
	if (KEY_GIVEN(body, BODY, jitter)) {
		vec3 size = body->jitter;
		if (self->planar)
			size.z = 0;
		at.position = vec3_add(at.position, random_vector(rng, size));
	}
	if (KEY_GIVEN(body, BODY, jitter_degrees)) {
		double most = body->jitter_degrees * RADIANS_PER_DEGREE;
		vec3 turn =
			random_vector(rng, self->planar ? vec3_make(0, 0, most) : vec3_all(most));
		at.rotation = quat_mul(quat_from_rotation_vector(turn), at.rotation);
	}
	return at;
}

static enum status check_locks(struct compile *self, const struct entry *entry)
{
	uint32_t locks = 0;
	struct reason why;
	if (!KEY_GIVEN(&entry->body, BODY, locks) ||
	    locks_read(entry->body.locks, &locks, &why) == STATUS_OK)
		return STATUS_OK;
	return source_fail(&self->source, entry->node->line, STATUS_RANGE, "locks", "%s", why.text);
}

/* The world's rules for velocities, checked here because the error can name a line. */
static enum status check_motion(struct compile *self, const struct entry *entry)
{
	const struct body_keys *body = &entry->body;
	bool turns = !vec3_equal(body->angular_velocity, vec3_zero());
	bool moving = turns || !vec3_equal(body->velocity, vec3_zero());
	if (moving && body->status != BODY_DYNAMIC && body->status != BODY_ANIMATED)
		return source_fail(
			&self->source, entry->node->line, STATUS_STATUS_WRONG, "velocity",
			"only a dynamic or animated body has velocity; leave it out or change status");
	if (turns && body->fixed_rotation)
		return source_fail(&self->source, entry->node->line, STATUS_STATUS_WRONG,
				   "angular_velocity",
				   "a body with fixed rotation has no angular velocity");
	if (self->planar && (body->velocity.z != 0 || body->angular_velocity.x != 0 ||
			     body->angular_velocity.y != 0))
		return source_fail(&self->source, entry->node->line, STATUS_PLANAR, "velocity",
				   "in a planar world bodies move in x-y and turn about z only");
	return STATUS_OK;
}

static enum status check_room(struct compile *self, const struct entry *entry, uint64_t more)
{
	uint64_t bodies = self->body_count + more;
	uint32_t most = MIN_OF(self->bodies_max, (uint32_t)SCENE_BODIES_MAX);
	if (bodies <= most)
		return STATUS_OK;
	return source_fail(&self->source, entry->node->line, STATUS_LIMIT, "bodies",
			   "%llu bodies so far, more than the limit of %u (world.limits.bodies)",
			   (unsigned long long)bodies, (unsigned)most);
}

static enum status spawn_one(struct compile *self, const struct entry *entry,
			     const struct command_SPAWN *spawn, pose at, uint32_t first)
{
	double reach = vec3_max_component(vec3_abs(at.position));
	if (!(reach <= LENGTH_MAX))
		return source_fail(&self->source, entry->node->line, STATUS_RANGE, "at",
				   "a body would be at %g m, beyond the limit of %.10g m", reach,
				   LENGTH_MAX);
	enum status status = check_plane(self, entry->node->line, at);
	if (status != STATUS_OK)
		return status;
	struct command *command = compile_command(self, COMMAND_SPAWN, entry->node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->spawn = *spawn;
	command->spawn.position = at.position;
	command->spawn.rotation = quat_normalize(at.rotation);
	self->body_count++;
	/* All bodies of an entry share its list. */
	self->firsts.items[self->firsts.count - 1] = first;
	command->spawn.shapes.count = self->attachments.count - first;
	return STATUS_OK;
}

/* Whether each bracket of a name is that of an instance: "tower[3].brick", and not "tower[3]",
 * which is the name of one body of a generator. */
static bool brackets_are_indices(const char *name)
{
	for (const char *open = strpbrk(name, "[]"); open != NULL; open = strpbrk(name, "[]")) {
		size_t digits = open[0] == '[' ? strspn(open + 1, "0123456789") : 0;
		if (digits == 0 || open[1 + digits] != ']' || open[2 + digits] != '.')
			return false;
		name = open + 3 + digits;
	}
	return true;
}

/* Records the name of the bodies that are made next. */
static enum status name_bodies(struct compile *self, const struct entry *entry, uint64_t count)
{
	const char *name = entry->body.name;
	if (name == NULL)
		return STATUS_OK;
	const struct yaml_node *node = node_find(entry->node, "name");
	if (node == NULL)
		return source_fail(&self->source, entry->node->line, STATUS_EXISTS, "name",
				   "name '%.32s' is in a prototype; give it in the body's entry",
				   name);
	if (strcmp(name, "world") == 0 || !brackets_are_indices(name))
		return source_fail(
			&self->source, node->line, STATUS_RANGE, "name",
			"name '%.32s' is not allowed: 'world' is the world, and brackets are indices",
			name);
	const struct named_bodies *other = compile_named(self, name);
	if (other != NULL)
		return compile_refuse_name(self, node->line, name, other->line);
	if (self->bodies.count == SCENE_NAMES_MAX)
		return source_fail(&self->source, node->line, STATUS_LIMIT, "name",
				   "more than %d entries have names, the limit of a file",
				   SCENE_NAMES_MAX);
	const struct named_bodies named = { name, self->commands.count, (uint32_t)count, node->line,
					    0 };
	return compile_name(self, &named);
}

/* The bodies with which those of an entry are removed; none: the world. */
static enum status find_ends_with(struct compile *self, const struct entry *entry, uint64_t count,
				  struct body_range *with)
{
	const char *name = entry->body.ends_with;
	*with = (struct body_range){ COMPILE_WORLD, 1 };
	if (name == NULL)
		return STATUS_OK;
	if (node_find(entry->node, "ends_with") == NULL)
		return source_fail(
			&self->source, entry->node->line, STATUS_EXISTS, "ends_with",
			"ends_with '%.32s' is in a prototype; give it in the body's entry", name);
	enum status status = compile_find_bodies(self, entry->node, "ends_with", name, with);
	if (status == STATUS_OK && with->count != 1 && with->count != count)
		return source_fail(
			&self->source, node_find(entry->node, "ends_with")->line, STATUS_RANGE,
			"ends_with",
			"ends_with '%.32s' are %u bodies, these are %llu; name one of them", name,
			(unsigned)with->count, (unsigned long long)count);
	return status;
}

/* Notes the colour of the bodies that are made next. */
static enum status note_colour(struct compile *self, const struct entry *entry, uint64_t count)
{
	if (ARRAY_RESERVE(&self->coloured, (uint64_t)self->coloured.count + 1) != STATUS_OK)
		return source_no_memory(&self->source);
	self->coloured.items[self->coloured.count++] =
		(struct coloured_bodies){ entry->colour, self->commands.count, (uint32_t)count };
	return STATUS_OK;
}

/* Notes that the bodies that are made next walk. */
static enum status note_mover(struct compile *self, const struct entry *entry, uint64_t count)
{
	if (self->planar)
		return source_fail(&self->source, entry->body.mover->line, STATUS_PLANAR, "mover",
				   "in a planar world there are no movers; leave it out");
	if (entry->body.status != BODY_ANIMATED)
		return source_fail(
			&self->source, entry->body.mover->line, STATUS_STATUS_WRONG, "status",
			"a mover is animated; leave `status` out, or set it to animated");
	if (ARRAY_RESERVE(&self->walking, (uint64_t)self->walking.count + 1) != STATUS_OK)
		return source_no_memory(&self->source);
	self->walking.items[self->walking.count++] =
		(struct walking_bodies){ entry->body.mover, entry->frame.rotation,
					 self->commands.count, (uint32_t)count };
	return STATUS_OK;
}

/* Checks an entry, and notes what its `count` bodies have beside their SPAWNs. */
static enum status prepare_entry(struct compile *self, const struct entry *entry, uint32_t first,
				 uint64_t count, struct body_range *with)
{
	struct piece_range pieces = { 0, 0 };
	enum status status = check_locks(self, entry);
	if (status == STATUS_OK)
		status = check_motion(self, entry);
	if (status == STATUS_OK)
		status = attach_all(self, entry);
	if (status == STATUS_OK)
		status = compile_pieces(self, &entry->body, self->attachments.count - first,
					&pieces);
	if (status == STATUS_OK)
		status = check_room(self, entry, count);
	if (status == STATUS_OK)
		status = find_ends_with(self, entry, count, with);
	if (status == STATUS_OK)
		status = name_bodies(self, entry, count);
	if (status == STATUS_OK && entry->colour != NULL)
		status = note_colour(self, entry, count);
	if (status == STATUS_OK && entry->body.visuals != NULL)
		status = compile_note_visuals(self, entry->body.visuals, count);
	if (status == STATUS_OK && entry->body.carried_by != NULL)
		status = compile_note_carried(self, entry->node, entry->body.carried_by, count);
	if (status == STATUS_OK && entry->body.mover != NULL)
		status = note_mover(self, entry, count);
	if (status == STATUS_OK && pieces.count > 0)
		status = compile_pieces_of(self, pieces, entry->node->line, count);
	return status;
}

static enum status spawn_all(struct compile *self, const struct entry *entry, uint64_t seed,
			     const struct generator *generator)
{
	struct body_range with;
	uint32_t first = self->attachments.count;
	uint64_t count = generator_count(generator);
	enum status status = prepare_entry(self, entry, first, count, &with);
	if (status != STATUS_OK)
		return status;
	struct command_SPAWN spawn = spawn_of(&entry->body);
	struct rng rng = rng_seeded(seed);
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
		pose place = generator_pose(generator, i);
		pose at = pose_make(vec3_add(entry->body.at, place.position),
				    quat_mul(place.rotation, entry->body.rotation));
		at = jittered(self, at, &entry->body, &rng);
		if (entry->body.frame != NULL)
			at = pose_mul(entry->frame, at);
		if (with.first != COMPILE_WORLD)
			spawn.ends_with = -(int64_t)(with.first + (with.count == 1 ? 0 : i)) - 1;
		status = spawn_one(self, entry, &spawn, at, first);
	}
	return status;
}

static enum status compile_entry(struct compile *self, const struct yaml_node *node,
				 uint32_t number)
{
	struct entry entry;
	struct generator generator;
	enum status status = read_entry(self, node, &entry);
	if (status != STATUS_OK)
		return status;
	uint64_t seed = KEY_GIVEN(&entry.body, BODY, seed) ? entry.body.seed
							   : rng_mix(self->seed + rng_mix(number));
	const struct generator_maps maps = GENERATOR_MAPS(&entry.body);
	status = generator_read(&self->source, node, &maps, seed, self->planar, &generator);
	if (status != STATUS_OK)
		return status;
	status = spawn_all(self, &entry, seed, &generator);
	uint32_t count = (uint32_t)generator_count(&generator);
	generator_release(&generator);
	if (status != STATUS_OK)
		return status;
	if (ARRAY_RESERVE(&self->entry_bodies, (uint64_t)self->entry_bodies.count + 1) != STATUS_OK)
		return source_no_memory(&self->source);
	self->entry_bodies.items[self->entry_bodies.count++] = count;
	return STATUS_OK;
}

/* Checks all prototypes, also those that no body uses. */
enum status compile_prototypes(struct compile *self)
{
	const struct yaml_node *map = self->materials;
	enum status status = STATUS_OK;
	for (const struct yaml_node *key = map != NULL ? map->first : NULL;
	     key != NULL && status == STATUS_OK; key = key->next->next) {
		struct material_keys material;
		const struct yaml_node *colour;
		status = schema_read(&self->source, key->next, SCHEMA_MATERIAL, &material);
		if (status == STATUS_OK)
			status = compile_colour_key(self, key->next, material.colour,
						    material.color, &colour);
	}
	map = self->prototypes;
	for (const struct yaml_node *key = map != NULL ? map->first : NULL;
	     key != NULL && status == STATUS_OK; key = key->next->next) {
		struct entry entry;
		status = read_entry(self, key->next, &entry);
	}
	return status;
}

enum status compile_bodies(struct compile *self, const struct yaml_node *bodies)
{
	enum status status = STATUS_OK;
	uint32_t number = 0;
	for (const struct yaml_node *at = bodies != NULL ? bodies->first : NULL;
	     at != NULL && status == STATUS_OK; at = at->next)
		status = compile_entry(self, at, ++number);
	return status;
}
