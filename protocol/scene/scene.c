/* scene.c: a scene file from its bytes to shapes and commands, in one pass over the tree: world,
 * shapes, prototypes, bodies, joints. The first fault is reported, and then everything is freed. */
#include "protocol/scene/scene.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/scene/compile.h"
#include "protocol/scene/expand.h"
#include "protocol/scene/files.h"
#include "protocol/scene/placed.h"
#include "protocol/scene/robot/convert.h"

/* ---- the world
 * ----------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	double min, max;
	enum { REAL, WHOLE } kind;
} PARAMETERS[] = {
#define PARAMETER(number, NAME, name, kind, absent, initial, min, max, unit, methods, doc)         \
	[number] = { name, min, max, kind },
#include "server/engine/world/parameters.def"
};

enum {
#define PARAMETER(number, NAME, name, kind, absent, initial, min, max, unit, methods, doc)         \
	ROW_##NAME = (number),
#include "server/engine/world/parameters.def"
};
/* Old names of parameters, which older scene files have. */
static const struct {
	const char *name;
	uint32_t row;
} OLD_NAMES[] = {
#define PARAMETER_ALIAS(NAME, old) { old, ROW_##NAME },
#include "server/engine/world/parameters.def"
};

/* The row of a present or an old name. */
static bool parameter_row(const char *name, struct suggestion *suggestion, size_t *row)
{
	for (size_t i = 0; i < COUNT_OF(OLD_NAMES); i++)
		if (strcmp(OLD_NAMES[i].name, name) == 0) {
			*row = OLD_NAMES[i].row;
			return true;
		}
	for (*row = 0; *row < COUNT_OF(PARAMETERS); ++*row) {
		if (PARAMETERS[*row].name == NULL)
			continue;
		if (strcmp(PARAMETERS[*row].name, name) == 0)
			return true;
		suggestion_offer(suggestion, PARAMETERS[*row].name);
	}
	return false;
}

/* A parameter may be given by its old name, or by its present one. */
static enum status check_other_name(const struct compile *self, const struct yaml_node *first,
				    const struct yaml_node *key, size_t row)
{
	for (const struct yaml_node *at = first; at != key; at = at->next->next) {
		struct suggestion unused = suggestion_for(at->text);
		size_t other;
		if (parameter_row(at->text, &unused, &other) && other == row)
			return source_fail(
				&self->source, key->line, STATUS_EXISTS, key->text,
				"%.32s is the same parameter as %.32s of line %u; give it "
				"once",
				key->text, at->text, at->line);
	}
	return STATUS_OK;
}

/* `first`: the first key of the table. */
static enum status compile_parameter(struct compile *self, const struct yaml_node *first,
				     const struct yaml_node *key)
{
	char room[64];
	struct suggestion suggestion = suggestion_for(key->text);
	size_t i;
	if (!parameter_row(key->text, &suggestion, &i))
		return source_fail(&self->source, key->line, STATUS_UNKNOWN_PARAMETER, key->text,
				   "no parameter has the name '%.32s'%s", key->text,
				   suggestion_text(&suggestion, room, sizeof room));
	double value;
	enum status status = check_other_name(self, first, key, i);
	if (status == STATUS_OK)
		status = schema_number(&self->source, key->next, key->text, PARAMETERS[i].min,
				       PARAMETERS[i].max, "", &value);
	if (status == STATUS_OK && PARAMETERS[i].kind == WHOLE && value != (double)(int64_t)value)
		status = source_fail(&self->source, key->line, STATUS_RANGE, key->text,
				     "%s is %.10g; it must be an integer", key->text, value);
	if (status != STATUS_OK)
		return status;
	struct command *command = compile_command(self, COMMAND_PARAMETER, key->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	snprintf(command->parameter.name.text, sizeof command->parameter.name.text, "%s",
		 key->text);
	command->parameter.value = value;
	return STATUS_OK;
}

static enum status compile_bounds(struct compile *self, const struct yaml_node *node)
{
	struct bounds_keys bounds;
	enum status status = schema_read(&self->source, node, SCHEMA_BOUNDS, &bounds);
	if (status != STATUS_OK)
		return status;
	for (uint32_t axis = 0; axis < 3; axis++) {
		double low = vec3_get(bounds.minimum, axis), high = vec3_get(bounds.maximum, axis);
		if (!(low < high))
			return source_fail(&self->source, node->line, STATUS_RANGE, "maximum",
					   "maximum %g is not above minimum %g along %c", high, low,
					   "xyz"[axis]);
	}
	struct command *command = compile_command(self, COMMAND_BOUNDS, node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->bounds.mode = (uint8_t)bounds.mode;
	command->bounds.minimum = bounds.minimum;
	command->bounds.maximum = bounds.maximum;
	return STATUS_OK;
}

static enum status compile_limits(struct compile *self, const struct yaml_node *node,
				  struct scene_world *out)
{
	struct limits_keys limits;
	schema_defaults(SCHEMA_LIMITS, &limits);
	enum status status =
		node == NULL ? STATUS_OK : schema_read(&self->source, node, SCHEMA_LIMITS, &limits);
	self->bodies_max = limits.bodies;
	self->joints_max = limits.joints;
	if (status != STATUS_OK || node == NULL)
		return status;
	out->bodies_max = KEY_GIVEN(&limits, LIMITS, bodies) ? limits.bodies : 0;
	out->placements_max = KEY_GIVEN(&limits, LIMITS, placements) ? limits.placements : 0;
	out->contacts_max = KEY_GIVEN(&limits, LIMITS, contacts) ? limits.contacts : 0;
	out->shapes_max = KEY_GIVEN(&limits, LIMITS, shapes) ? limits.shapes : 0;
	out->joints_max = KEY_GIVEN(&limits, LIMITS, joints) ? limits.joints : 0;
	out->events_max = KEY_GIVEN(&limits, LIMITS, events) ? limits.events : 0;
	return STATUS_OK;
}

enum status compile_world(struct compile *self, const struct yaml_node *node,
			  struct scene_world *out)
{
	struct world_keys world;
	schema_defaults(SCHEMA_WORLD, &world);
	enum status status =
		node == NULL ? STATUS_OK : schema_read(&self->source, node, SCHEMA_WORLD, &world);
	if (status != STATUS_OK)
		return status;
	*out = (struct scene_world){ .planar = world.planar,
				     .gravity = world.gravity,
				     .gravity_given = KEY_GIVEN(&world, WORLD, gravity),
				     .seed = world.seed,
				     .seed_given = KEY_GIVEN(&world, WORLD, seed) };
	if (world.name != NULL)
		snprintf(out->name, sizeof out->name, "%s", world.name);
	if (world.method != NULL)
		snprintf(out->method, sizeof out->method, "%s", world.method);
	if (world.broad_phase != NULL)
		snprintf(out->broad_phase, sizeof out->broad_phase, "%s", world.broad_phase);
	static const char *const levels[] = { "off", "tick", "command" };
	if (KEY_GIVEN(&world, WORLD, durability))
		snprintf(out->durability, sizeof out->durability, "%s", levels[world.durability]);
	if (KEY_GIVEN(&world, WORLD, rate)) {
		out->rate_num = world.rate.num;
		out->rate_den = world.rate.den;
	}
	self->seed = world.seed;
	self->planar = world.planar;
	self->keeps_names = world.names;
	const struct yaml_node *first = world.parameters != NULL ? world.parameters->first : NULL;
	for (const struct yaml_node *key = first; key != NULL && status == STATUS_OK;
	     key = key->next->next)
		status = compile_parameter(self, first, key);
	if (status == STATUS_OK && world.bounds != NULL)
		status = compile_bounds(self, world.bounds);
	if (status == STATUS_OK)
		status = compile_limits(self, world.limits, out);
	return status;
}

/* ---- the whole
 * ----------------------------------------------------------------------------------- */

static void compile_release(struct compile *self)
{
	for (uint32_t i = 0; i < self->shapes.count; i++)
		heap_free(self->shapes.items[i].canonical);
	ARRAY_RELEASE(&self->named);
	ARRAY_RELEASE(&self->shapes);
	ARRAY_RELEASE(&self->commands);
	ARRAY_RELEASE(&self->firsts);
	ARRAY_RELEASE(&self->lines);
	ARRAY_RELEASE(&self->entry_bodies);
	ARRAY_RELEASE(&self->attachments);
	ARRAY_RELEASE(&self->points);
	ARRAY_RELEASE(&self->bodies);
	table_release(&self->names);
	ARRAY_RELEASE(&self->coloured);
	ARRAY_RELEASE(&self->joint_commands);
	ARRAY_RELEASE(&self->named_joints);
	ARRAY_RELEASE(&self->geared);
	ARRAY_RELEASE(&self->shown);
	ARRAY_RELEASE(&self->walking);
	ARRAY_RELEASE(&self->carried);
	ARRAY_RELEASE(&self->piece_sets);
	ARRAY_RELEASE(&self->pieced);
	ARRAY_RELEASE(&self->expectations);
}

static enum status compile_all(struct compile *self, const struct yaml_node *root,
			       struct scene_world *world, struct scene_compare *compare)
{
	struct scene_keys file;
	enum status status = schema_read(&self->source, root, SCHEMA_SCENE, &file);
	if (status != STATUS_OK)
		return status;
	self->materials = file.materials;
	self->prototypes = file.prototypes;
	status = compile_world(self, file.world, world);
	if (status == STATUS_OK)
		status = compile_shapes(self, file.shapes);
	if (status == STATUS_OK)
		status = compile_prototypes(self);
	if (status == STATUS_OK)
		status = compile_bodies(self, file.bodies);
	if (status == STATUS_OK)
		status = compile_all_pieces(self);
	if (status == STATUS_OK)
		status = compile_colours(self);
	if (status == STATUS_OK)
		status = compile_visuals(self);
	if (status == STATUS_OK)
		status = compile_body_names(self);
	if (status == STATUS_OK)
		status = compile_movers(self);
	if (status == STATUS_OK)
		status = compile_carried(self);
	if (status == STATUS_OK)
		status = compile_joints(self, file.joints);
	if (status == STATUS_OK)
		status = compile_fields(self, file.fields);
	if (status == STATUS_OK)
		status = compile_particles(self, file.particles);
	if (status == STATUS_OK)
		status = compile_compare(self, file.compare, compare);
	if (status == STATUS_OK)
		status = compile_expect(self, file.expect);
	return status;
}

/* The names of bodies, by the number of their SPAWN. */
static enum status keep_names(struct compile *self, struct scene *scene)
{
	uint32_t spawns = 0, next = 0;
	scene->names = heap_alloc(MAX_OF(self->bodies.count, 1u) * sizeof *scene->names);
	if (scene->names == NULL)
		return source_no_memory(&self->source);
	for (uint32_t i = 0; i < self->commands.count && next < self->bodies.count; i++) {
		spawns += self->commands.items[i].op == COMMAND_SPAWN;
		const struct named_bodies *bodies = &self->bodies.items[next];
		if (bodies->first != i)
			continue;
		struct scene_name *name = &scene->names[next++];
		*name = (struct scene_name){ .first = spawns,
					     .count = bodies->count,
					     .several = bodies->count > 1 };
		snprintf(name->name, sizeof name->name, "%s", bodies->name);
	}
	scene->name_count = next;
	return STATUS_OK;
}

bool scene_body_name(const struct scene *scene, uint32_t body, char out[SCENE_BODY_NAME])
{
	for (uint32_t i = 0; i < scene->name_count; i++) {
		const struct scene_name *name = &scene->names[i];
		if (body < name->first || body - name->first >= name->count)
			continue;
		if (name->several)
			snprintf(out, SCENE_BODY_NAME, "%s[%u]", name->name,
				 (unsigned)(body - name->first));
		else
			snprintf(out, SCENE_BODY_NAME, "%s", name->name);
		return true;
	}
	return false;
}

/* Moves the lists into the scene, and sets the pointers of commands to their shapes and points,
 * because the lists no longer grow. */
static void hand_over(struct compile *self, struct scene *scene)
{
	scene->shapes = self->shapes.items;
	scene->shape_count = self->shapes.count;
	scene->commands = self->commands.items;
	scene->lines = self->lines.items;
	scene->command_count = self->commands.count;
	scene->entry_bodies = self->entry_bodies.items;
	scene->entry_count = self->entry_bodies.count;
	scene->attachments = self->attachments.items;
	scene->attachment_count = self->attachments.count;
	scene->points = self->points.items;
	scene->expectations = self->expectations.items;
	scene->expectation_count = self->expectations.count;
	for (uint32_t i = 0; i < scene->command_count; i++) {
		struct command *command = &scene->commands[i];
		if (command->op == COMMAND_SPAWN && command->spawn.shapes.count > 0)
			command->spawn.shapes.items = scene->attachments + self->firsts.items[i];
		if (command->op == COMMAND_JOINT_TABLE)
			command->joint_table.points.items = scene->points + self->firsts.items[i];
		if (command->op == COMMAND_PARTICLES_CREATE &&
		    command->particles_create.colours.count > 0)
			command->particles_create.colours.items =
				scene->points + self->firsts.items[i];
	}
	ARRAY_RELEASE(&self->named);
	ARRAY_RELEASE(&self->bodies);
	table_release(&self->names);
	ARRAY_RELEASE(&self->coloured);
	ARRAY_RELEASE(&self->joint_commands);
	ARRAY_RELEASE(&self->named_joints);
	ARRAY_RELEASE(&self->geared);
	ARRAY_RELEASE(&self->shown);
	ARRAY_RELEASE(&self->carried);
	ARRAY_RELEASE(&self->walking);
	ARRAY_RELEASE(&self->piece_sets);
	ARRAY_RELEASE(&self->pieced);
	ARRAY_RELEASE(&self->firsts);
}

/* What is parsed, and where it is from. */
struct input {
	const char *text;
	size_t bytes;
	struct source source;
	const char *base; /* the folder, or NULL */
	const struct scene_options *options;
};

/* Parses and expands a text of YAML. `robot`: the text was made of its file, and has neither variables nor
 * assemblies; only its dollar signs are doubled. */
static enum status read_tree(const struct input *input, const struct robot_scene *robot,
			     struct scene_expansion *expansion, struct document *document)
{
	const struct open_file file = {
		.path = input->source.file, .folder = input->base, .below = "", .depth = 0
	};
	*document = (struct document){ 0 };
	*expansion = (struct scene_expansion){ .source = input->source, .options = input->options };
	expansion->included = heap_alloc_zero(sizeof *expansion->included);
	if (expansion->included == NULL)
		return source_no_memory(&input->source);
	expansion->source.included = expansion->included;
	enum status status = document_parse(document, &input->source, input->text, input->bytes);
	if (status != STATUS_OK)
		return status;
	if (robot != NULL) {
		struct scope none = { .source = &expansion->source,
				      .depth = &expansion->variable_depth };
		document_set_lines(document, robot->lines, robot->line_count);
		return scope_substitute(&none, &expansion->nodes, document->root);
	}
	expansion->line_count = 1;
	for (size_t i = 0; i < input->bytes; i++)
		expansion->line_count += input->text[i] == '\n';
	return expand_file(expansion, document, &file);
}

/* Messages about commands have the names of files as messages about keys do. */
static void name_files(const struct source *source, struct scene *scene)
{
	for (uint32_t i = 0; i < scene->included->count; i++) {
		char *path = scene->included->items[i].path;
		const char *name = source_name(source, path);
		memmove(path, name, strlen(name) + 1);
	}
	source_name_short(source_name(source, source->file), scene->file);
}

/* Compiles the tree into the scene, which is zero. */
static enum status compile_tree(const struct input *input, struct scene_expansion *expansion,
				const struct document *document, struct scene *scene)
{
	const struct scene_options *options = input->options;
	bool limited = options != NULL && options->formula_samples_max > 0;
	struct compile compile = {
		.source = expansion->source,
		.base = input->base,
		.formula_samples_max = limited ? options->formula_samples_max : UINT64_MAX,
	};
	enum status status = compile_all(&compile, document->root, &scene->world, &scene->compare);
	if (status == STATUS_OK)
		status = keep_names(&compile, scene);
	if (status == STATUS_OK && expansion->notes.count > 0) {
		scene->notes = heap_alloc_zero(expansion->notes.count + 1u);
		if (scene->notes == NULL)
			status = source_no_memory(&input->source);
		else
			memcpy(scene->notes, expansion->notes.items, expansion->notes.count);
	}
	if (status != STATUS_OK) {
		compile_release(&compile);
		return status;
	}
	hand_over(&compile, scene);
	scene->included = expansion->included;
	expansion->included = NULL;
	name_files(&compile.source, scene);
	return STATUS_OK;
}

/* What is given for robots would be lost on a scene without any. */
static enum status check_robots(const struct input *input, uint32_t robots)
{
	const struct scene_options *given = input->options;
	const char *field = given == NULL || robots > 0		? NULL
			    : given->base != SCENE_BASE_UNKNOWN ? "base"
			    : given->balance			? "balance"
			    : given->joint_link_share != 0	? "joint_link_share"
								: NULL;
	if (field == NULL)
		return STATUS_OK;
	return source_fail(&input->source, 1, STATUS_MISSING, field,
			   "%s is of robots (URDF, MJCF), and the scene has none; leave it out",
			   field);
}

/* `robot`: as of read_tree, or NULL. */
static enum status parse_yaml(const struct input *input, const struct robot_scene *robot,
			      struct scene **out)
{
	struct scene_expansion expansion;
	struct document document;
	struct scene *scene = heap_alloc_zero(sizeof *scene);
	if (scene == NULL)
		return source_no_memory(&input->source);
	enum status status = read_tree(input, robot, &expansion, &document);
	if (status == STATUS_OK)
		status = check_robots(input, expansion.robots + (robot != NULL));
	if (status == STATUS_OK)
		status = compile_tree(input, &expansion, &document, scene);
	document_release(&document);
	expansion_release(&expansion);
	if (status == STATUS_OK) {
		*out = scene;
		return STATUS_OK;
	}
	heap_free(scene->names);
	heap_free(scene->notes);
	heap_free(scene);
	return status;
}

static enum status parse_scene(const struct input *input, struct scene **out)
{
	struct robot_scene robot;
	if (!robot_is_file(input->text, input->bytes))
		return parse_yaml(input, NULL, out);
	if (input->options != NULL && input->options->let_count > 0)
		return source_fail(&input->source, 1, STATUS_MISSING, "let",
				   "a robot file has no variables; leave --let out");
	enum status status = robot_convert(&input->source, input->text, input->bytes, input->base,
					   input->options, &robot);
	if (status == STATUS_OK && !robot.urdf && input->options != NULL &&
	    input->options->base != SCENE_BASE_UNKNOWN) {
		robot_scene_release(&robot);
		return source_fail(&input->source, 1, STATUS_UNSUPPORTED, "base",
				   "base is of URDF; an MJCF file says itself which bodies are "
				   "free; leave it out");
	}
	if (status != STATUS_OK)
		return status;
	struct input yaml = *input;
	yaml.text = robot.text;
	yaml.bytes = robot.bytes;
	status = parse_yaml(&yaml, &robot, out);
	if (status == STATUS_OK && robot.notes[0] != '\0') {
		(*out)->notes = robot.notes;
		robot.notes = NULL;
	}
	robot_scene_release(&robot);
	return status;
}

static struct source source_of(const char *file, const struct scene_options *options,
			       struct reason *why)
{
	return (struct source){ .file = file,
				.why = why,
				.hidden = options != NULL ? options->hidden : NULL };
}

enum status scene_parse_with(const char *text, size_t bytes, const char *name, const char *base,
			     const struct scene_options *options, struct scene **out,
			     struct reason *why)
{
	const struct input input = { .text = text,
				     .bytes = bytes,
				     .source = source_of(name, options, why),
				     .base = base,
				     .options = options };
	return parse_scene(&input, out);
}

enum status scene_parse(const char *text, size_t bytes, const char *base, struct scene **out,
			struct reason *why)
{
	return scene_parse_with(text, bytes, "scene", base, NULL, out, why);
}

/* ---- files
 * --------------------------------------------------------------------------------------- */

/* The file's text and folder, both to be freed. */
static enum status read_input(const char *path, const struct scene_options *options,
			      struct reason *why, struct input *input)
{
	char *text = NULL;
	*input = (struct input){ .source = source_of(path, options, why), .options = options };
	enum status status = scene_file_read(&input->source, &text, &input->bytes);
	if (status != STATUS_OK)
		return status;
	input->text = text;
	input->base = scene_file_folder(path);
	if (input->base != NULL)
		return STATUS_OK;
	heap_free(text);
	return source_no_memory(&input->source);
}

static void free_input(struct input *input)
{
	heap_free((char *)(uintptr_t)input->text);
	heap_free((char *)(uintptr_t)input->base);
}

enum status scene_load_with(const char *path, const struct scene_options *options,
			    struct scene **out, struct reason *why)
{
	struct input input;
	enum status status = read_input(path, options, why, &input);
	if (status != STATUS_OK)
		return status;
	status = parse_scene(&input, out);
	free_input(&input);
	return status;
}

enum status scene_load(const char *path, struct scene **out, struct reason *why)
{
	return scene_load_with(path, NULL, out, why);
}

static enum status convert_robot(const struct input *input, char **text, char **notes)
{
	struct robot_scene robot;
	enum status status = robot_convert(&input->source, input->text, input->bytes, input->base,
					   input->options, &robot);
	if (status != STATUS_OK)
		return status;
	*text = robot.text;
	*notes = robot.notes;
	robot.text = robot.notes = NULL;
	robot_scene_release(&robot);
	return STATUS_OK;
}

/* The flat tree as text, with bodies at `places` if they are given. `scene` is of the same file. */
static enum status write_flat(const struct input *input, const struct scene *scene,
			      const pose *places, char **text)
{
	struct scene_expansion expansion;
	struct document document;
	enum status status = read_tree(input, NULL, &expansion, &document);
	if (status == STATUS_OK && places != NULL)
		status = place_bodies(&expansion.source, &expansion.nodes, document.root, scene,
				      places);
	*text = status == STATUS_OK ? yaml_write(document.root) : NULL;
	document_release(&document);
	expansion_release(&expansion);
	return status == STATUS_OK && *text == NULL ? source_no_memory(&input->source) : status;
}

/* The flat tree as text. `scene` is of the same file, and its notes are taken. */
static enum status convert_yaml(const struct input *input, struct scene *scene, char **text,
				char **notes)
{
	enum status status = write_flat(input, scene, NULL, text);
	*notes = scene->notes;
	scene->notes = NULL;
	if (*notes == NULL)
		*notes = heap_alloc_zero(1);
	if (status == STATUS_OK && *text != NULL && *notes != NULL)
		return STATUS_OK;
	heap_free(*text);
	heap_free(*notes);
	return status == STATUS_OK ? source_no_memory(&input->source) : status;
}

enum status scene_convert(const char *path, const struct scene_options *options, char **text,
			  char **notes, struct reason *why)
{
	struct input input;
	struct scene *scene;
	enum status status = read_input(path, options, why, &input);
	if (status != STATUS_OK)
		return status;
	/* The scene is compiled as well, so that what is printed is one that loads. */
	status = parse_scene(&input, &scene);
	if (status == STATUS_OK) {
		status = robot_is_file(input.text, input.bytes)
				 ? convert_robot(&input, text, notes)
				 : convert_yaml(&input, scene, text, notes);
		scene_destroy(scene);
	}
	free_input(&input);
	return status;
}

enum status scene_convert_placed(const char *path, const struct scene_options *options,
				 const pose *places, uint32_t count, char **text,
				 struct reason *why)
{
	struct input input;
	struct scene *scene;
	*text = NULL;
	enum status status = read_input(path, options, why, &input);
	if (status != STATUS_OK)
		return status;
	if (robot_is_file(input.text, input.bytes))
		status = source_fail(&input.source, 1, STATUS_UNSUPPORTED, "file",
				     "a robot file has no places of bodies; convert it to a scene "
				     "with `cairn convert`");
	else
		status = parse_scene(&input, &scene);
	if (status == STATUS_OK) {
		uint32_t bodies = 0;
		for (uint32_t i = 0; i < scene->entry_count; i++)
			bodies += scene->entry_bodies[i];
		status = bodies == count
				 ? write_flat(&input, scene, places, text)
				 : source_fail(&input.source, 1, STATUS_CORRUPT, "file",
					       "the file has changed since it was read: it has %u "
					       "bodies, no longer %u",
					       bodies, count);
		scene_destroy(scene);
	}
	free_input(&input);
	return status;
}

const char *scene_place(const struct scene *scene, uint32_t line, char out[SCENE_PLACE_BYTES])
{
	const struct source source = { .file = scene->file, .included = scene->included };
	char name[SOURCE_NAME_BYTES];
	const char *file = source_place(&source, &line);
	snprintf(out, SCENE_PLACE_BYTES, "%s:%u", source_name_short(file, name), (unsigned)line);
	return out;
}

void scene_destroy(struct scene *scene)
{
	if (scene == NULL)
		return;
	for (uint32_t i = 0; i < scene->shape_count; i++)
		heap_free(scene->shapes[i].canonical);
	heap_free(scene->shapes);
	heap_free(scene->commands);
	heap_free(scene->lines);
	heap_free(scene->entry_bodies);
	heap_free(scene->attachments);
	heap_free(scene->points);
	heap_free(scene->expectations);
	heap_free(scene->names);
	heap_free(scene->notes);
	included_files_release(scene->included);
	heap_free(scene->included);
	heap_free(scene);
}

void scene_resolve(struct scene *scene, const uint32_t *shape_ids)
{
	for (uint32_t i = 0; i < scene->attachment_count; i++) {
		int64_t *shape = &scene->attachments[i].shape;
		ASSERT(*shape < 0 && -*shape <= (int64_t)scene->shape_count);
		*shape = shape_ids[-*shape - 1];
	}
	for (uint32_t i = 0; i < scene->command_count; i++) {
		if (scene->commands[i].op != COMMAND_ADD_VISUAL)
			continue;
		int64_t *shape = &scene->commands[i].add_visual.shape;
		ASSERT(*shape < 0 && -*shape <= (int64_t)scene->shape_count);
		*shape = shape_ids[-*shape - 1];
	}
}

/* The fields of commands that hold ids that other commands make. */
static const struct {
	uint32_t op;
	size_t offset; /* of an int64_t in struct command */
} REFERENCES[] = {
	{ COMMAND_CARRY, offsetof(struct command, carry.body) },
	{ COMMAND_CARRY, offsetof(struct command, carry.a) },
	{ COMMAND_CARRY, offsetof(struct command, carry.b) },
	{ COMMAND_CARRY, offsetof(struct command, carry.c) },
	{ COMMAND_CARRY, offsetof(struct command, carry.d) },
	{ COMMAND_JOINT_CREATE, offsetof(struct command, joint_create.body_a) },
	{ COMMAND_JOINT_CREATE, offsetof(struct command, joint_create.body_b) },
	{ COMMAND_SPAWN, offsetof(struct command, spawn.ends_with) },
	{ COMMAND_SET_COLOUR, offsetof(struct command, set_colour.body) },
	{ COMMAND_ADD_VISUAL, offsetof(struct command, add_visual.body) },
	{ COMMAND_NAME_BODY, offsetof(struct command, name_body.body) },
	{ COMMAND_NAME_JOINT, offsetof(struct command, name_joint.joint) },
	{ COMMAND_SET_MOVER, offsetof(struct command, set_mover.body) },
	{ COMMAND_STEER, offsetof(struct command, steer.body) },
	{ COMMAND_SET_PIECE, offsetof(struct command, set_piece.body) },
	{ COMMAND_SET_VELOCITY, offsetof(struct command, set_velocity.body) },
	{ COMMAND_PARTICLES_SPLIT, offsetof(struct command, particles_split.system) },
	{ COMMAND_PARTICLES_TRAIL, offsetof(struct command, particles_trail.system) },
	{ COMMAND_PARTICLES_TRAIL, offsetof(struct command, particles_trail.trail) },
	{ COMMAND_PARTICLES_INTERACT, offsetof(struct command, particles_interact.system) },
	{ COMMAND_PARTICLES_LATTICE, offsetof(struct command, particles_lattice.system) },
	{ COMMAND_PARTICLES_LINK, offsetof(struct command, particles_link.system) },
	{ COMMAND_PARTICLES_PIN, offsetof(struct command, particles_pin.system) },
	{ COMMAND_PARTICLES_ADD, offsetof(struct command, particles_add.system) },
	{ COMMAND_PARTICLES_CONTACTS, offsetof(struct command, particles_contacts.system) },
	{ COMMAND_PARTICLES_SELF, offsetof(struct command, particles_self.system) },
	{ COMMAND_PARTICLES_MEET, offsetof(struct command, particles_meet.system) },
	{ COMMAND_PARTICLES_MEET, offsetof(struct command, particles_meet.other) },
	{ COMMAND_PARTICLES_LIMIT, offsetof(struct command, particles_limit.system) },
	{ COMMAND_PARTICLES_EMITTER, offsetof(struct command, particles_emitter.system) },
	{ COMMAND_PARTICLES_EMITTER, offsetof(struct command, particles_emitter.body) },
	{ COMMAND_PARTICLES_SINK, offsetof(struct command, particles_sink.system) },
	{ COMMAND_PARTICLES_SINK, offsetof(struct command, particles_sink.body) },
	{ COMMAND_PARTICLES_HOLD, offsetof(struct command, particles_hold.system) },
	{ COMMAND_PARTICLES_HOLD, offsetof(struct command, particles_hold.body) },
	{ COMMAND_PARTICLES_FLUID, offsetof(struct command, particles_fluid.system) },
	{ COMMAND_PARTICLES_FILL, offsetof(struct command, particles_fill.system) },
	{ COMMAND_JOINT_AXIS, offsetof(struct command, joint_axis.joint) },
	{ COMMAND_JOINT_ARMATURE, offsetof(struct command, joint_armature.joint) },
	{ COMMAND_JOINT_GEAR, offsetof(struct command, joint_gear.joint) },
	{ COMMAND_JOINT_GEAR, offsetof(struct command, joint_gear.leader) },
	{ COMMAND_JOINT_TABLE, offsetof(struct command, joint_table.joint) },
};

void scene_link(struct scene *scene, uint32_t first, uint32_t end, const uint32_t *values)
{
	for (uint32_t i = first; i < end; i++) {
		struct command *command = &scene->commands[i];
		for (uint32_t k = 0; k < COUNT_OF(REFERENCES); k++) {
			if (REFERENCES[k].op != command->op)
				continue;
			int64_t *id = (int64_t *)((char *)command + REFERENCES[k].offset);
			if (*id >= 0)
				continue;
			uint32_t maker = (uint32_t)(-*id - 1);
			ASSERT(maker < i);
			*id = maker < first ? (int64_t)values[maker]
					    : -(int64_t)(maker - first) - 1;
		}
	}
}
