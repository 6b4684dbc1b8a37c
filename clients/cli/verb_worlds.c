/* verb_worlds.c: the verbs worlds, create, destroy, pause, resume, speed and info. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/verbs.h"
#include "protocol/packer.h"

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
			out_world(cli, world);
		else
			printf("%6u  %-24s %-9s %-12s %8llu %12llu %8llu\n",
			       (unsigned)world->number, world->name, mode_name(world->mode),
			       world->method, (unsigned long long)world->epoch,
			       (unsigned long long)world->tick, (unsigned long long)world->bodies);
	}
	return EXIT_SUCCESS;
}

/* ---- creating ------------------------------------------------------------------------------------ */

/* Packs each --limit NAME=N. */
static bool pack_limits(struct cli *cli, struct wire_packer *out, struct wire_list *list)
{
	static const char *const limits[] = { "bodies", "placements", "contacts", "shapes",
					      "joints", "events",     "memory" };
	const char *text;
	for (uint32_t k = 0; (text = cli_option(cli, "limit", k)) != NULL; k++) {
		const char *equals = strchr(text, '=');
		size_t i = 0, length = equals != NULL ? (size_t)(equals - text) : 0;
		char key[32];
		uint64_t value;
		while (i < COUNT_OF(limits) &&
		       (strncmp(limits[i], text, length) != 0 || limits[i][length] != '\0'))
			i++;
		if (i == COUNT_OF(limits)) {
			reason_set(
				&cli->why, STATUS_RANGE, -1, "limit",
				"--limit %.40s: it must be NAME=N; NAME is bodies, placements, contacts, "
				"shapes, joints, events or memory",
				text);
			return false;
		}
		if (!cli_count(cli, equals + 1, "limit", &value))
			return false;
		snprintf(key, sizeof key, "%s_max", limits[i]);
		wire_pack_string(out, key);
		wire_pack_uint(out, value);
		list->count++;
	}
	return true;
}

/* Packs the options of `create` as the pairs of WORLD_CREATE. */
static bool pack_options(struct cli *cli, struct wire_packer *out, struct wire_list *list)
{
	const char *rate = cli_option(cli, "rate", 0), *gravity = cli_option(cli, "gravity", 0);
	const char *seed = cli_option(cli, "seed", 0), *method = cli_option(cli, "method", 0);
	const char *broad_phase = cli_option(cli, "broad-phase", 0);
	const char *durability = cli_option(cli, "durability", 0);
	if (rate != NULL) {
		uint64_t num, den = 1;
		char head[32];
		const char *slash = strchr(rate, '/');
		snprintf(head, sizeof head, "%.*s", (int)strcspn(rate, "/"), rate);
		if (!cli_count(cli, head, "rate", &num) ||
		    (slash != NULL && !cli_count(cli, slash + 1, "rate", &den)))
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
	if (broad_phase != NULL) {
		wire_pack_string(out, "broad_phase");
		wire_pack_string(out, broad_phase);
		list->count++;
	}
	if (durability != NULL) {
		wire_pack_string(out, "durability");
		wire_pack_string(out, durability);
		list->count++;
	}
	if (!pack_limits(cli, out, list))
		return false;
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
		return cli_wrong_words(cli);
	if (!pack_options(cli, &out, &options) || !cli_options_known(cli) ||
	    cairn_create(cli->client, cli->operands[0], &options, &world, &cli->why) != STATUS_OK)
		return cli_fail(cli);
	out_world(cli, &world);
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

/* ---- mode and speed ------------------------------------------------------------------------------ */

static int control_world(struct cli *cli, enum wire_control action, double value)
{
	struct cairn_world world;
	if (!cli_options_known(cli) || !cli_join(cli, &world) ||
	    cairn_control(cli->client, world.number, action, value, &world, &cli->why) != STATUS_OK)
		return cli_fail(cli);
	out_world(cli, &world);
	return EXIT_SUCCESS;
}

int verb_pause(struct cli *cli)
{
	return control_world(cli, WIRE_CONTROL_PAUSE, 1);
}

int verb_resume(struct cli *cli)
{
	return control_world(cli, WIRE_CONTROL_RESUME, 1);
}

int verb_speed(struct cli *cli)
{
	double factor;
	if (cli->operand_count != 2)
		return cli_wrong_words(cli);
	if (!cli_number(cli, cli->operands[1], "FACTOR", &factor))
		return cli_fail(cli);
	return control_world(cli, WIRE_CONTROL_SPEED, factor);
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
