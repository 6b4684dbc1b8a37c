/* verb_input.c: the verbs spawn, remove, push, explode, target, motion, lock, surface, mover,
 * steer, piece, colour and set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/verbs.h"
#include "protocol/locks_text.h"
#include "server/base/bytes.h"

struct number_option {
	const char *name;
	double *to;
};

static bool number_options(struct cli *cli, const struct number_option *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *text = cli_option(cli, numbers[i].name, 0);
		if (text != NULL && !cli_number(cli, text, numbers[i].name, numbers[i].to))
			return false;
	}
	return true;
}

/* Fills the fields of a SPAWN that are one number from the options. */
static bool spawn_numbers(struct cli *cli, struct command_SPAWN *spawn)
{
	const struct number_option numbers[] = {
		{ "density", &spawn->density },
		{ "restitution", &spawn->restitution },
		{ "friction", &spawn->static_friction },
		{ "friction", &spawn->dynamic_friction },
		{ "rolling-friction", &spawn->rolling_friction },
		{ "spinning-friction", &spawn->spinning_friction },
		{ "axis-friction", &spawn->axis_friction },
		{ "tolerance", &spawn->tolerance },
		{ "gravity-scale", &spawn->gravity_scale },
		{ "speed-max", &spawn->speed_max },
		{ "angular-speed-max", &spawn->angular_speed_max },
	};
	return number_options(cli, numbers, COUNT_OF(numbers));
}

/* Fills the fields of a SPAWN that are vectors from the options. */
static bool spawn_vectors(struct cli *cli, struct command_SPAWN *spawn)
{
	const struct {
		const char *name;
		vec3 *to;
	} vectors[] = {
		{ "position", &spawn->position },
		{ "velocity", &spawn->velocity },
		{ "friction-axis", &spawn->friction_axis },
		{ "one-way", &spawn->one_way },
		{ "surface-velocity", &spawn->surface_velocity },
	};
	for (size_t i = 0; i < COUNT_OF(vectors); i++) {
		const char *text = cli_option(cli, vectors[i].name, 0);
		if (text != NULL && !cli_vec3(cli, text, vectors[i].name, vectors[i].to))
			return false;
	}
	return true;
}

/* Finds one of the words 0 … last of a list; `allowed` names them in the error. */
static bool word_option(struct cli *cli, const char *name, enum word_list words, uint8_t last,
			const char *allowed, uint8_t *value)
{
	const char *text = cli_option(cli, name, 0);
	if (text == NULL)
		return true;
	for (uint8_t k = 0; k <= last; k++)
		if (strcmp(text, command_word(words, k)) == 0) {
			*value = k;
			return true;
		}
	reason_set(&cli->why, STATUS_RANGE, -1, name, "--%s %.40s: it must be %s", name, text,
		   allowed);
	return false;
}

/* Fills the fields of a SPAWN that choose its integrator, but for the tolerance. */
static bool spawn_integrator(struct cli *cli, struct command_SPAWN *spawn)
{
	const char *substeps = cli_option(cli, "substeps", 0);
	uint64_t count = 0;
	if (substeps != NULL && !cli_count(cli, substeps, "substeps", &count))
		return false;
	if (count > SUBSTEPS_MAX) {
		reason_set(&cli->why, STATUS_RANGE, -1, "substeps",
			   "--substeps %.40s: at most %d are allowed", substeps, SUBSTEPS_MAX);
		return false;
	}
	spawn->substeps = (uint32_t)count;
	return word_option(cli, "integrator", WORDS_INTEGRATOR, INTEGRATORS_END - 1,
			   "automatic, euler, implicit_euler, rk2, rk4 or rk45",
			   &spawn->integrator);
}

static bool rotation_option(struct cli *cli, quat *to)
{
	const char *rotation = cli_option(cli, "rotation", 0);
	double q[4];
	if (rotation == NULL)
		return true;
	if (!cli_numbers(cli, rotation, "rotation", q, 4))
		return false;
	*to = quat_make(q[0], q[1], q[2], q[3]);
	return true;
}

/* Fills the optional fields of a SPAWN from the options. */
static bool spawn_options(struct cli *cli, struct command_SPAWN *spawn)
{
	if (!spawn_vectors(cli, spawn) || !spawn_numbers(cli, spawn) ||
	    !spawn_integrator(cli, spawn) || !rotation_option(cli, &spawn->rotation))
		return false;
	if (cli_flag(cli, "fast"))
		spawn->flags |= BODY_FAST;
	if (cli_flag(cli, "sensor"))
		spawn->flags |= BODY_SENSOR;
	spawn->ends_with_owner = cli_flag(cli, "ends-with-owner");
	const char *with = cli_option(cli, "ends-with", 0);
	uint32_t id = 0;
	if (with != NULL && !cli_u32(cli, with, "ends-with", &id))
		return false;
	spawn->ends_with = id;
	const char *locks = cli_option(cli, "locks", 0);
	if (locks != NULL && locks_read(locks, &spawn->locks, &cli->why) != STATUS_OK)
		return false;
	return word_option(cli, "status", WORDS_BODY_STATUS, BODY_ANIMATED,
			   "inactive, static, dynamic or animated", &spawn->status);
}

int verb_spawn(struct cli *cli)
{
	struct cairn_world world;
	struct command commands[2];
	struct bytes canonical = { 0 };
	const char *shape = cli_option(cli, "shape", 0);
	if (cli->operand_count != 1 || shape == NULL)
		return cli_wrong_words(cli);
	command_defaults(&commands[0], COMMAND_SHAPE_USE);
	command_defaults(&commands[1], COMMAND_SPAWN);
	struct attachment attachment = { .shape = -1, .rotation = { 1, 0, 0, 0 } };
	commands[1].spawn.shapes = (struct attachment_list){ &attachment, 1 };
	bool good = spawn_options(cli, &commands[1].spawn) && cli_shape(cli, shape, &canonical) &&
		    cli_options_known(cli) && cli_join(cli, &world) &&
		    cairn_shape(cli->client, world.number, canonical.data, canonical.count,
				&commands[0].shape_use.name, &cli->why) == STATUS_OK;
	bytes_release(&canonical);
	return good ? cli_apply_and_print(cli, &world, commands, 2) : cli_fail(cli);
}

/* Parses the second operand as a body. */
static bool body_operand(struct cli *cli, int64_t *body)
{
	uint64_t id;
	if (!cli_count(cli, cli->operands[1], "BODY", &id))
		return false;
	*body = (int64_t)id;
	return true;
}

int verb_remove(struct cli *cli)
{
	struct cairn_world world;
	struct command command;
	if (cli->operand_count != 2)
		return cli_wrong_words(cli);
	command_defaults(&command, COMMAND_REMOVE);
	if (!body_operand(cli, &command.remove.body) || !cli_options_known(cli) ||
	    !cli_join(cli, &world))
		return cli_fail(cli);
	return cli_apply_and_print(cli, &world, &command, 1);
}

int verb_push(struct cli *cli)
{
	struct cairn_world world;
	struct command command;
	int64_t body;
	vec3 vector;
	uint32_t ticks = 1;
	bool impulse = cli_flag(cli, "impulse");
	const char *ticks_text = cli_option(cli, "ticks", 0);
	if (cli->operand_count != 3)
		return cli_wrong_words(cli);
	if (!body_operand(cli, &body) || !cli_vec3(cli, cli->operands[2], "X,Y,Z", &vector) ||
	    (ticks_text != NULL && !cli_u32(cli, ticks_text, "ticks", &ticks)) ||
	    !cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	if (impulse) {
		command_defaults(&command, COMMAND_IMPULSE);
		command.impulse.body = body;
		command.impulse.impulse = vector;
	} else {
		command_defaults(&command, COMMAND_FORCE);
		command.force.body = body;
		command.force.force = vector;
		command.force.ticks = ticks;
	}
	return cli_apply_and_print(cli, &world, &command, 1);
}

int verb_explode(struct cli *cli)
{
	struct cairn_world world;
	struct command command;
	command_defaults(&command, COMMAND_EXPLODE);
	struct command_EXPLODE *explode = &command.explode;
	const struct number_option numbers[] = {
		{ "radius", &explode->radius },
		{ "core", &explode->core },
	};
	const char *mask_text = cli_option(cli, "mask", 0);
	explode->shadow = cli_flag(cli, "shadow");
	if (cli->operand_count != 3 || cli_option(cli, "radius", 0) == NULL)
		return cli_wrong_words(cli);
	if (!cli_vec3(cli, cli->operands[1], "X,Y,Z", &explode->position) ||
	    !cli_number(cli, cli->operands[2], "IMPULSE", &explode->impulse) ||
	    !number_options(cli, numbers, COUNT_OF(numbers)) ||
	    (mask_text != NULL && !cli_u32(cli, mask_text, "mask", &explode->mask)) ||
	    !cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	return cli_apply_and_print(cli, &world, &command, 1);
}

int verb_target(struct cli *cli)
{
	struct cairn_world world;
	struct command command;
	command_defaults(&command, COMMAND_MOVE_TO);
	if (cli->operand_count != 3)
		return cli_wrong_words(cli);
	if (!body_operand(cli, &command.move_to.body) ||
	    !cli_vec3(cli, cli->operands[2], "X,Y,Z", &command.move_to.position) ||
	    !rotation_option(cli, &command.move_to.rotation) || !cli_options_known(cli) ||
	    !cli_join(cli, &world))
		return cli_fail(cli);
	return cli_apply_and_print(cli, &world, &command, 1);
}

int verb_motion(struct cli *cli)
{
	struct cairn_world world;
	struct command command;
	command_defaults(&command, COMMAND_SET_MOTION);
	struct command_SET_MOTION *set = &command.set_motion;
	const struct number_option numbers[] = {
		{ "gravity-scale", &set->gravity_scale },
		{ "speed-max", &set->speed_max },
		{ "angular-speed-max", &set->angular_speed_max },
	};
	if (cli->operand_count != 2)
		return cli_wrong_words(cli);
	if (!body_operand(cli, &set->body) || !number_options(cli, numbers, COUNT_OF(numbers)) ||
	    !cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	return cli_apply_and_print(cli, &world, &command, 1);
}

int verb_lock(struct cli *cli)
{
	struct cairn_world world;
	struct command command;
	command_defaults(&command, COMMAND_SET_LOCKS);
	struct command_SET_LOCKS *set = &command.set_locks;
	if (cli->operand_count != 3)
		return cli_wrong_words(cli);
	if (!body_operand(cli, &set->body) ||
	    locks_read(cli->operands[2], &set->locks, &cli->why) != STATUS_OK ||
	    !cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	return cli_apply_and_print(cli, &world, &command, 1);
}

int verb_surface(struct cli *cli)
{
	struct cairn_world world;
	struct command command;
	command_defaults(&command, COMMAND_SET_SURFACE);
	struct command_SET_SURFACE *set = &command.set_surface;
	const char *one_way = cli_option(cli, "one-way", 0);
	const char *velocity = cli_option(cli, "surface-velocity", 0);
	if (cli->operand_count != 2)
		return cli_wrong_words(cli);
	if (!body_operand(cli, &set->body) ||
	    (one_way != NULL && !cli_vec3(cli, one_way, "one-way", &set->one_way)) ||
	    (velocity != NULL &&
	     !cli_vec3(cli, velocity, "surface-velocity", &set->surface_velocity)) ||
	    !cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	return cli_apply_and_print(cli, &world, &command, 1);
}

int verb_mover(struct cli *cli)
{
	struct cairn_world world;
	struct command command;
	command_defaults(&command, COMMAND_SET_MOVER);
	struct command_SET_MOVER *set = &command.set_mover;
	double degrees = set->slope / RADIANS_PER_DEGREE;
	const struct number_option numbers[] = {
		{ "step-height", &set->step_height },
		{ "slope-degrees", &degrees },
		{ "push-force", &set->push_force },
		{ "snap", &set->snap },
	};
	set->enabled = !cli_flag(cli, "end");
	if (cli->operand_count != 2)
		return cli_wrong_words(cli);
	if (!body_operand(cli, &set->body) || !number_options(cli, numbers, COUNT_OF(numbers)) ||
	    !cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	if (cli_option(cli, "slope-degrees", 0) != NULL)
		set->slope = degrees * RADIANS_PER_DEGREE;
	return cli_apply_and_print(cli, &world, &command, 1);
}

int verb_steer(struct cli *cli)
{
	struct cairn_world world;
	struct command command;
	command_defaults(&command, COMMAND_STEER);
	struct command_STEER *steer = &command.steer;
	const struct number_option numbers[] = { { "jump", &steer->jump } };
	const char *ticks = cli_option(cli, "ticks", 0);
	if (cli->operand_count != 3)
		return cli_wrong_words(cli);
	if (!body_operand(cli, &steer->body) ||
	    !cli_vec3(cli, cli->operands[2], "X,Y,Z", &steer->velocity) ||
	    !number_options(cli, numbers, COUNT_OF(numbers)) ||
	    (ticks != NULL && !cli_u32(cli, ticks, "ticks", &steer->ticks)) ||
	    !cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	return cli_apply_and_print(cli, &world, &command, 1);
}

/* An option that is a whole number of 32 bits; *own gets `bit` if it is given. */
static bool bits_option(struct cli *cli, const char *name, uint32_t *to, uint32_t *own,
			uint32_t bit)
{
	const char *text = cli_option(cli, name, 0);
	if (text == NULL)
		return true;
	if (!cli_u32(cli, text, name, to))
		return false;
	*own |= bit;
	return true;
}

/* Fills what a piece has of its own from the options. */
static bool piece_options(struct cli *cli, struct command_SET_PIECE *set)
{
	const struct {
		struct number_option number;
		uint32_t own;
	} numbers[] = {
		{ { "friction", &set->static_friction }, OWN_MATERIAL },
		{ { "friction", &set->dynamic_friction }, OWN_MATERIAL },
		{ { "restitution", &set->restitution }, OWN_MATERIAL },
		{ { "rolling-friction", &set->rolling_friction }, OWN_MATERIAL },
		{ { "spinning-friction", &set->spinning_friction }, OWN_MATERIAL },
		{ { "density", &set->density }, OWN_DENSITY },
	};
	uint32_t none = 0;
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		if (cli_option(cli, numbers[i].number.name, 0) != NULL)
			set->own |= numbers[i].own;
		if (!number_options(cli, &numbers[i].number, 1))
			return false;
	}
	const char *velocity = cli_option(cli, "surface-velocity", 0);
	set->own |= velocity != NULL ? (uint32_t)OWN_SURFACE : 0;
	bool sensor = cli_flag(cli, "sensor"), solid = cli_flag(cli, "solid");
	set->own |= sensor || solid ? (uint32_t)OWN_SENSOR : 0;
	set->sensor = sensor && !solid;
	return (velocity == NULL ||
		cli_vec3(cli, velocity, "surface-velocity", &set->surface_velocity)) &&
	       bits_option(cli, "patch", &set->patch, &none, 0) &&
	       bits_option(cli, "category", &set->category, &set->own, OWN_FILTER) &&
	       bits_option(cli, "mask", &set->mask, &set->own, OWN_FILTER);
}

int verb_piece(struct cli *cli)
{
	struct cairn_world world;
	struct command command;
	command_defaults(&command, COMMAND_SET_PIECE);
	struct command_SET_PIECE *set = &command.set_piece;
	if (cli->operand_count != 3)
		return cli_wrong_words(cli);
	if (!body_operand(cli, &set->body) ||
	    !cli_u32(cli, cli->operands[2], "PIECE", &set->piece) || !piece_options(cli, set) ||
	    !cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	return cli_apply_and_print(cli, &world, &command, 1);
}

/* Reads RRGGBB, with # or 0x before it or without, or "none". */
static bool colour_operand(struct cli *cli, const char *text, struct command_SET_COLOUR *set)
{
	if (strcmp(text, "none") == 0) {
		set->given = 0;
		return true;
	}
	const char *digits = text + (text[0] == '#' ? 1 : strncmp(text, "0x", 2) == 0 ? 2 : 0);
	if (strspn(digits, "0123456789abcdefABCDEF") != 6 || digits[6] != '\0') {
		reason_set(&cli->why, STATUS_RANGE, -1, "RRGGBB",
			   "colour %.40s: it must be RRGGBB, six hexadecimal digits, or none",
			   text);
		return false;
	}
	set->colour = (uint32_t)strtoul(digits, NULL, 16);
	return true;
}

static int print_colours(struct cli *cli, const struct cairn_world *world)
{
	static struct cairn_run runs[CAIRN_RUNS_MAX];
	uint32_t from = 0, count = CAIRN_RUNS_MAX;
	while (count == CAIRN_RUNS_MAX) {
		if (cairn_colours(cli->client, world->number, from, runs, &count, &cli->why) !=
		    STATUS_OK)
			return cli_fail(cli);
		for (uint32_t i = 0; i < count; i++) {
			char colour[8];
			snprintf(colour, sizeof colour, "%06X",
				 (unsigned)runs[i].colour & 0xFFFFFF);
			out_begin(cli);
			out_u64(cli, "body", runs[i].first);
			out_u64(cli, "count", runs[i].count);
			out_text(cli, "colour", colour);
			out_end(cli);
		}
		if (count > 0)
			from = runs[count - 1].first + runs[count - 1].count;
	}
	return EXIT_SUCCESS;
}

int verb_colour(struct cli *cli)
{
	struct cairn_world world;
	struct command command;
	command_defaults(&command, COMMAND_SET_COLOUR);
	if (cli->operand_count != 1 && cli->operand_count != 3)
		return cli_wrong_words(cli);
	bool sets = cli->operand_count == 3;
	if ((sets && (!body_operand(cli, &command.set_colour.body) ||
		      !colour_operand(cli, cli->operands[2], &command.set_colour))) ||
	    !cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	return sets ? cli_apply_and_print(cli, &world, &command, 1) : print_colours(cli, &world);
}

static int print_visuals(struct cli *cli, const struct cairn_world *world)
{
	static struct cairn_look looks[CAIRN_VISUALS_MAX];
	for (uint32_t from = 0, count = 1; count > 0;) {
		enum status status =
			cairn_visuals(cli->client, world->number, from, looks, &count, &cli->why);
		if (status != STATUS_OK)
			return cli_fail(cli);
		for (uint32_t i = 0; i < count; i++) {
			const struct cairn_look *look = &looks[i];
			vec3 p = look->position;
			quat q = look->rotation;
			const double position[] = { p.x, p.y, p.z };
			const double rotation[] = { q.w, q.x, q.y, q.z };
			char name[2 * sizeof look->shape.bytes + 1], colour[8] = "body's";
			for (size_t k = 0; k < sizeof look->shape.bytes; k++)
				snprintf(name + 2 * k, 3, "%02x", look->shape.bytes[k]);
			if (look->coloured)
				snprintf(colour, sizeof colour, "%06X",
					 (unsigned)look->colour & 0xFFFFFF);
			out_begin(cli);
			out_u64(cli, "body", look->body);
			out_text(cli, "shape", name);
			out_reals(cli, "position", position, 3);
			out_reals(cli, "rotation", rotation, 4);
			out_text(cli, "colour", colour);
			out_end(cli);
		}
		if (count > 0)
			from = looks[count - 1].body + 1;
	}
	return EXIT_SUCCESS;
}

/* Adds a visual, made of the third operand and the options. */
static int add_visual(struct cli *cli)
{
	struct cairn_world world;
	struct command commands[2];
	struct command_SET_COLOUR colour = { .given = 1 };
	struct bytes canonical = { 0 };
	const char *position = cli_option(cli, "position", 0),
		   *given = cli_option(cli, "colour", 0);
	command_defaults(&commands[0], COMMAND_SHAPE_USE);
	command_defaults(&commands[1], COMMAND_ADD_VISUAL);
	struct command_ADD_VISUAL *add = &commands[1].add_visual;
	add->shape = -1;
	bool good = body_operand(cli, &add->body) && rotation_option(cli, &add->rotation) &&
		    (position == NULL || cli_vec3(cli, position, "position", &add->position)) &&
		    (given == NULL || colour_operand(cli, given, &colour));
	add->colour = colour.colour;
	add->given = given != NULL && colour.given != 0;
	good = good && cli_shape(cli, cli->operands[2], &canonical) && cli_options_known(cli) &&
	       cli_join(cli, &world) &&
	       cairn_shape(cli->client, world.number, canonical.data, canonical.count,
			   &commands[0].shape_use.name, &cli->why) == STATUS_OK;
	bytes_release(&canonical);
	return good ? cli_apply_and_print(cli, &world, commands, 2) : cli_fail(cli);
}

int verb_visual(struct cli *cli)
{
	struct cairn_world world;
	struct command command;
	bool clears = cli->operand_count == 3 && strcmp(cli->operands[2], "none") == 0;
	if (cli->operand_count != 1 && cli->operand_count != 3)
		return cli_wrong_words(cli);
	if (cli->operand_count == 3 && !clears)
		return add_visual(cli);
	command_defaults(&command, COMMAND_CLEAR_VISUALS);
	if ((clears && !body_operand(cli, &command.clear_visuals.body)) ||
	    !cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	return clears ? cli_apply_and_print(cli, &world, &command, 1) : print_visuals(cli, &world);
}

/* Copies a name; refuses one of more than 31 bytes. */
static bool copy_name(struct cli *cli, const char *from, struct text32 *to)
{
	if (strlen(from) >= sizeof to->text) {
		reason_set(&cli->why, STATUS_RANGE, -1, "NAME",
			   "name %.60s is too long: it must have at most %zu bytes", from,
			   sizeof to->text - 1);
		return false;
	}
	snprintf(to->text, sizeof to->text, "%s", from);
	return true;
}

/* One line for each body or joint with a name. */
static int print_names(struct cli *cli, const struct cairn_world *world, bool joints)
{
	struct cairn_named *names = malloc(CAIRN_LABELS_MAX * sizeof *names);
	uint32_t from = 0, count = 1;
	bool good = names != NULL;
	while (good && count > 0) {
		good = cairn_labels(cli->client, world->number, joints, from, names, &count,
				    &cli->why) == STATUS_OK;
		for (uint32_t i = 0; good && i < count; i++) {
			out_begin(cli);
			out_u64(cli, joints ? "joint" : "body", names[i].id);
			out_text(cli, "name", names[i].text);
			out_end(cli);
			from = names[i].id + 1;
		}
	}
	free(names);
	return good ? EXIT_SUCCESS : cli_fail(cli);
}

int verb_name(struct cli *cli)
{
	struct cairn_world world;
	struct command command;
	bool joint = cli_flag(cli, "joint"), sets = cli->operand_count == 3;
	if (cli->operand_count != 1 && !sets)
		return cli_wrong_words(cli);
	command_defaults(&command, joint ? COMMAND_NAME_JOINT : COMMAND_NAME_BODY);
	int64_t *id = joint ? &command.name_joint.joint : &command.name_body.body;
	struct text32 *name = joint ? &command.name_joint.name : &command.name_body.name;
	if ((sets && (!body_operand(cli, id) || !copy_name(cli, cli->operands[2], name))) ||
	    !cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	return sets ? cli_apply_and_print(cli, &world, &command, 1)
		    : print_names(cli, &world, joint);
}

int verb_set(struct cli *cli)
{
	struct cairn_world world;
	struct command command;
	bool good = true;
	if (cli->operand_count != 3)
		return cli_wrong_words(cli);
	const char *name = cli->operands[1], *value = cli->operands[2];
	if (strcmp(name, "gravity") == 0) {
		command_defaults(&command, COMMAND_GRAVITY);
		good = cli_vec3(cli, value, "gravity", &command.gravity.gravity);
	} else if (strcmp(name, "method") == 0) {
		command_defaults(&command, COMMAND_METHOD);
		good = copy_name(cli, value, &command.method.name);
	} else if (strcmp(name, "seed") == 0) {
		command_defaults(&command, COMMAND_SEED);
		good = cli_count(cli, value, "seed", &command.seed.seed);
	} else {
		command_defaults(&command, COMMAND_PARAMETER);
		good = copy_name(cli, name, &command.parameter.name) &&
		       cli_number(cli, value, name, &command.parameter.value);
	}
	if (!good || !cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	return cli_apply_and_print(cli, &world, &command, 1);
}
