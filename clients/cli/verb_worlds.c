/* verb_worlds.c: worlds, create, destroy, load, pause, resume, speed, info. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/verbs.h"
#include "protocol/packer.h"
#include "protocol/scene/scene.h"
#include "server/base/heap.h"

static void print_world(const struct cli *cli, const struct cairn_world *world)
{
	out_begin(cli);
	out_u64(cli, "world", world->number);
	out_text(cli, "name", world->name);
	out_text(cli, "mode", mode_name(world->mode));
	out_text(cli, "method", world->method);
	out_u64(cli, "epoch", world->epoch);
	out_u64(cli, "tick", world->tick);
	out_u64(cli, "bodies", world->bodies);
	out_real(cli, "rate_hz", (double)world->rate.num / (double)MAX_OF(world->rate.den, 1u));
	out_end(cli);
}

int verb_worlds(struct cli *cli)
{
	enum { LIST_MAX = 4096 };
	static struct cairn_world worlds[LIST_MAX];
	uint32_t count;
	if (!cli_options_known(cli) ||
	    cairn_worlds(cli->client, worlds, LIST_MAX, &count, &cli->why) != STATUS_OK)
		return cli_fail(cli);
	if (!cli->json)
		printf("%6s  %-24s %-9s %-12s %8s %12s %8s\n", "number", "name", "mode", "method",
		       "epoch", "tick", "bodies");
	for (uint32_t i = 0; i < MIN_OF(count, (uint32_t)LIST_MAX); i++) {
		const struct cairn_world *world = &worlds[i];
		if (cli->json)
			print_world(cli, world);
		else
			printf("%6u  %-24s %-9s %-12s %8llu %12llu %8llu\n",
			       (unsigned)world->number, world->name, mode_name(world->mode),
			       world->method, (unsigned long long)world->epoch,
			       (unsigned long long)world->tick, (unsigned long long)world->bodies);
	}
	return EXIT_SUCCESS;
}

/* ---- making -------------------------------------------------------------------------------------- */

/* The pairs of WORLD_CREATE from the options of `create`. */
static bool pack_options(struct cli *cli, struct wire_packer *out, struct wire_list *list)
{
	const char *rate = cli_option(cli, "rate", 0), *gravity = cli_option(cli, "gravity", 0);
	const char *seed = cli_option(cli, "seed", 0), *method = cli_option(cli, "method", 0);
	if (rate != NULL) {
		char *end;
		uint64_t num = strtoull(rate, &end, 10), den = 1;
		if (*end == '/' && !cli_count(cli, end + 1, "rate", &den))
			return false;
		wire_pack_string(out, "rate");
		wire_pack_array(out, 2);
		wire_pack_uint(out, num);
		wire_pack_uint(out, den);
		list->count++;
	}
	if (gravity != NULL) {
		double values[3];
		if (!cli_numbers(cli, gravity, "gravity", values, 3))
			return false;
		wire_pack_string(out, "gravity");
		wire_pack_array(out, 3);
		for (int i = 0; i < 3; i++)
			wire_pack_real(out, values[i]);
		list->count++;
	}
	if (seed != NULL) {
		uint64_t value;
		if (!cli_count(cli, seed, "seed", &value))
			return false;
		wire_pack_string(out, "seed");
		wire_pack_uint(out, value);
		list->count++;
	}
	if (method != NULL) {
		wire_pack_string(out, "method");
		wire_pack_string(out, method);
		list->count++;
	}
	static const char *const flags[] = { "planar", "running" };
	for (size_t i = 0; i < COUNT_OF(flags); i++) {
		if (!cli_flag(cli, flags[i]))
			continue;
		wire_pack_string(out, flags[i]);
		wire_pack_bool(out, true);
		list->count++;
	}
	list->at = out->data;
	list->bytes = out->bytes;
	return true;
}

int verb_create(struct cli *cli)
{
	uint8_t packed[512];
	struct wire_packer out = wire_packer_over(packed, sizeof packed);
	struct wire_list options = { 0 };
	struct cairn_world world;
	if (cli->operand_count != 1)
		return cli_usage(cli, "create WORLD");
	if (!pack_options(cli, &out, &options) || !cli_options_known(cli) ||
	    cairn_create(cli->client, cli->operands[0], &options, &world, &cli->why) != STATUS_OK)
		return cli_fail(cli);
	print_world(cli, &world);
	return EXIT_SUCCESS;
}

int verb_destroy(struct cli *cli)
{
	struct cairn_world world;
	if (!cli_options_known(cli) || !cli_join(cli, &world) ||
	    cairn_destroy(cli->client, world.number, &cli->why) != STATUS_OK)
		return cli_fail(cli);
	return EXIT_SUCCESS;
}

/* ---- loading a scene ----------------------------------------------------------------------------- */

/* What the scene says about its world, for a world that is made for it. */
static enum status create_for(struct cli *cli, const char *name, const struct scene_world *scene,
			      struct cairn_world *world)
{
	uint8_t packed[512];
	struct wire_packer out = wire_packer_over(packed, sizeof packed);
	uint32_t count = 0;
	if (scene->rate_num != 0) {
		wire_pack_string(&out, "rate");
		wire_pack_array(&out, 2);
		wire_pack_uint(&out, scene->rate_num);
		wire_pack_uint(&out, scene->rate_den);
		count++;
	}
	if (scene->gravity_given) {
		wire_pack_string(&out, "gravity");
		wire_pack_array(&out, 3);
		wire_pack_real(&out, scene->gravity.x);
		wire_pack_real(&out, scene->gravity.y);
		wire_pack_real(&out, scene->gravity.z);
		count++;
	}
	if (scene->method[0] != '\0') {
		wire_pack_string(&out, "method");
		wire_pack_string(&out, scene->method);
		count++;
	}
	if (scene->seed_given) {
		wire_pack_string(&out, "seed");
		wire_pack_uint(&out, scene->seed);
		count++;
	}
	if (scene->planar) {
		wire_pack_string(&out, "planar");
		wire_pack_bool(&out, true);
		count++;
	}
	struct wire_list options = { packed, out.bytes, count };
	enum status status = cairn_create(cli->client, name, &options, world, &cli->why);
	return status == STATUS_OK ? cairn_join(cli->client, name, world, &cli->why) : status;
}

static enum status send_shapes(struct cli *cli, uint32_t world, struct scene *scene)
{
	uint32_t *ids = heap_alloc(MAX_OF(scene->shape_count, 1u) * sizeof *ids);
	enum status status = STATUS_OK;
	if (ids == NULL)
		return reason_set(&cli->why, STATUS_NO_MEMORY, -1, "scene", "%s",
				  status_text(STATUS_NO_MEMORY));
	for (uint32_t i = 0; i < scene->shape_count && status == STATUS_OK; i++) {
		struct command use;
		struct wire_result result;
		command_defaults(&use, COMMAND_SHAPE_USE);
		status = cairn_shape(cli->client, world, scene->shapes[i].canonical,
				     scene->shapes[i].bytes, &use.shape_use.name, &cli->why);
		if (status == STATUS_OK)
			status = cairn_apply(cli->client, world, &use, 1, &result, &cli->why);
		if (status == STATUS_OK)
			ids[i] = result_value(&result, 0);
	}
	if (status == STATUS_OK)
		scene_resolve(scene, ids);
	heap_free(ids);
	return status;
}

static enum status send_commands(struct cli *cli, uint32_t world, const struct scene *scene)
{
	enum { AT_ONCE = 100 };
	enum status status = STATUS_OK;
	struct wire_result result;
	for (uint32_t first = 0; first < scene->command_count && status == STATUS_OK;
	     first += AT_ONCE)
		status = cairn_apply(cli->client, world, scene->commands + first,
				     MIN_OF(scene->command_count - first, (uint32_t)AT_ONCE),
				     &result, &cli->why);
	return status;
}

int verb_load(struct cli *cli)
{
	struct scene *scene;
	struct cairn_world world;
	if (cli->operand_count != 2)
		return cli_usage(cli, "load WORLD SCENE");
	if (!cli_options_known(cli) ||
	    scene_load(cli->operands[1], &scene, &cli->why) != STATUS_OK)
		return cli_fail(cli);
	enum status status = cairn_join(cli->client, cli->operands[0], &world, &cli->why);
	bool paused = status == STATUS_OK && world.mode != WIRE_MODE_RUNNING;
	if (status == STATUS_UNKNOWN_WORLD) {
		status = create_for(cli, cli->operands[0], &scene->world, &world);
		paused = true;
	}
	/* Commands wait for a tick: a paused world has to run while it is filled. */
	if (status == STATUS_OK && paused)
		status = cairn_control(cli->client, world.number, WIRE_CONTROL_RESUME, 1, NULL,
				       &cli->why);
	if (status == STATUS_OK)
		status = send_shapes(cli, world.number, scene);
	if (status == STATUS_OK)
		status = send_commands(cli, world.number, scene);
	if (status == STATUS_OK && paused)
		status = cairn_control(cli->client, world.number, WIRE_CONTROL_PAUSE, 1, &world,
				       &cli->why);
	scene_destroy(scene);
	if (status != STATUS_OK)
		return cli_fail(cli);
	print_world(cli, &world);
	return EXIT_SUCCESS;
}

/* ---- pace ---------------------------------------------------------------------------------------- */

static int control(struct cli *cli, enum wire_control action, double value)
{
	struct cairn_world world;
	if (!cli_options_known(cli) || !cli_join(cli, &world) ||
	    cairn_control(cli->client, world.number, action, value, &world, &cli->why) != STATUS_OK)
		return cli_fail(cli);
	print_world(cli, &world);
	return EXIT_SUCCESS;
}

int verb_pause(struct cli *cli)
{
	return control(cli, WIRE_CONTROL_PAUSE, 1);
}

int verb_resume(struct cli *cli)
{
	return control(cli, WIRE_CONTROL_RESUME, 1);
}

int verb_speed(struct cli *cli)
{
	double factor;
	if (cli->operand_count != 2)
		return cli_usage(cli, "speed WORLD FACTOR");
	if (!cli_number(cli, cli->operands[1], "FACTOR", &factor))
		return cli_fail(cli);
	return control(cli, WIRE_CONTROL_SPEED, factor);
}

int verb_info(struct cli *cli)
{
	struct message reply;
	const char *what = cli->operand_count > 0 ? cli->operands[0] : "";
	if (!cli_options_known(cli) ||
	    cairn_info(cli->client, what, &reply, &cli->why) != STATUS_OK)
		return cli_fail(cli);
	out_value(cli, reply.reply.value);
	return EXIT_SUCCESS;
}
