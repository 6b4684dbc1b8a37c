/* verb_load.c: load: a scene's shapes and bodies into a world.
 *
 * What a scene makes must not depend on when it arrives. A world that stands still gets all batches first,
 * where they wait for its next boundary, and is then stepped once: the whole scene begins at one tick. Only
 * into a running world the bodies come as they come.
 */
#include <stdlib.h>

#include "clients/cli/progress.h"
#include "clients/cli/verbs.h"
#include "protocol/packer.h"
#include "protocol/scene/scene.h"
#include "server/base/heap.h"

/* A batch must fit into a frame of 64 KiB; a command with its texts or shapes takes a few hundred bytes. */
enum { AT_ONCE = 100 };

/* The limits that the scene states; returns how many. */
static uint32_t pack_limits(struct wire_packer *out, const struct scene_world *scene)
{
	const struct {
		const char *key;
		uint32_t value;
	} limits[] = {
		{ "bodies_max", scene->bodies_max },
		{ "placements_max", scene->placements_max },
		{ "contacts_max", scene->contacts_max },
		{ "shapes_max", scene->shapes_max },
		{ "joints_max", scene->joints_max },
		{ "events_max", scene->events_max },
	};
	uint32_t count = 0;
	for (size_t i = 0; i < COUNT_OF(limits); i++) {
		if (limits[i].value == 0)
			continue;
		wire_pack_string(out, limits[i].key);
		wire_pack_uint(out, limits[i].value);
		count++;
	}
	return count;
}

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
	if (scene->broad_phase[0] != '\0') {
		wire_pack_string(&out, "broad_phase");
		wire_pack_string(&out, scene->broad_phase);
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
	count += pack_limits(&out, scene);
	struct wire_list options = { packed, out.bytes, count };
	enum status status = cairn_create(cli->client, name, &options, world, &cli->why);
	return status == STATUS_OK ? cairn_join(cli->client, name, world, &cli->why) : status;
}

/* Sends batches that wait for the boundary of one step, and makes it. `values` (may be NULL): ids made. */
static enum status apply_at_one_tick(struct cli *cli, uint32_t world, const struct command *commands,
				     uint32_t count, struct progress *progress)
{
	struct message stepped;
	uint64_t batch;
	enum status status = STATUS_OK;
	cli->refused.status = STATUS_OK;
	for (uint32_t first = 0; first < count && status == STATUS_OK; first += AT_ONCE) {
		status = cairn_commands(cli->client, world, commands + first,
					MIN_OF(count - first, (uint32_t)AT_ONCE), CAIRN_NEXT_TICK,
					WIRE_LATE_APPLY, &batch, &cli->why);
		progress_at(progress, first);
	}
	if (status == STATUS_OK)
		status = cairn_step(cli->client, world, &(struct cairn_step){ .n = 1 }, &stepped,
				    &cli->why);
	/* Results come before the STEPPED that they belong to (verb_callbacks). */
	if (status == STATUS_OK && cli->refused.status != STATUS_OK) {
		cli->why = cli->refused;
		status = cli->why.status;
	}
	return status;
}

static enum status apply_all(struct cli *cli, const struct cairn_world *world,
			     const struct command *commands, uint32_t count)
{
	struct wire_result result;
	struct progress progress;
	enum status status = STATUS_OK;
	progress_start(&progress, cli, "bodies", count);
	if (world->mode != WIRE_MODE_RUNNING)
		status = apply_at_one_tick(cli, world->number, commands, count, &progress);
	for (uint32_t first = 0; world->mode == WIRE_MODE_RUNNING && first < count && status == STATUS_OK;
	     first += AT_ONCE) {
		status = cairn_apply(cli->client, world->number, commands + first,
				     MIN_OF(count - first, (uint32_t)AT_ONCE), &result, &cli->why);
		progress_at(&progress, first);
	}
	progress_stop(&progress);
	return status;
}

/* One shape to the server and into the world. */
static enum status send_shape(struct cli *cli, const struct cairn_world *world,
			      const struct scene_shape *shape, uint32_t *id)
{
	struct command use;
	struct wire_result result;
	command_defaults(&use, COMMAND_SHAPE_USE);
	enum status status = cairn_shape(cli->client, world->number, shape->canonical, shape->bytes,
					 &use.shape_use.name, &cli->why);
	if (status == STATUS_OK)
		status = cli_apply(cli, world, &use, 1, &result);
	if (status == STATUS_OK)
		*id = result_value(&result, 0);
	return status;
}

/* One SHAPE_USE a batch, so that its result says the id. */
static enum status send_shapes(struct cli *cli, const struct cairn_world *world,
			       struct scene *scene)
{
	uint32_t *ids = heap_alloc(MAX_OF(scene->shape_count, 1u) * sizeof *ids);
	struct progress progress;
	uint64_t total = 0, sent = 0;
	enum status status = STATUS_OK;
	if (ids == NULL)
		return reason_set(&cli->why, STATUS_NO_MEMORY, -1, "scene", "%s",
				  status_text(STATUS_NO_MEMORY));
	for (uint32_t i = 0; i < scene->shape_count; i++)
		total += scene->shapes[i].bytes;
	progress_start(&progress, cli, "shapes", total);
	for (uint32_t i = 0; i < scene->shape_count && status == STATUS_OK; i++) {
		status = send_shape(cli, world, &scene->shapes[i], &ids[i]);
		progress_at(&progress, sent += scene->shapes[i].bytes);
	}
	progress_stop(&progress);
	if (status == STATUS_OK)
		scene_resolve(scene, ids);
	heap_free(ids);
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
	if (status == STATUS_UNKNOWN_WORLD)
		status = create_for(cli, cli->operands[0], &scene->world, &world);
	if (status == STATUS_OK)
		status = send_shapes(cli, &world, scene);
	if (status == STATUS_OK)
		status = apply_all(cli, &world, scene->commands, scene->command_count);
	if (status == STATUS_OK)
		status = cairn_join(cli->client, cli->operands[0], &world, &cli->why);
	scene_destroy(scene);
	if (status != STATUS_OK)
		return cli_fail(cli);
	out_world(cli, &world);
	return EXIT_SUCCESS;
}
