/* apply.c: applies commands to a world in any mode.
 *
 * A running world applies a batch at its next tick and answers with a RESULT. In any other mode the
 * batch is sent in a STEP of 0 ticks, which applies it without a tick and answers at once.
 */
#include <stdio.h>
#include <stdlib.h>

#include "clients/cli/cli.h"

static enum status apply_by_step(struct cli *cli, uint32_t world, const struct command *commands,
				 uint32_t count, struct wire_result *result)
{
	struct message stepped;
	const struct cairn_step step = { .n = 0, .commands = commands, .command_count = count };
	enum status status = cairn_step(cli->client, world, &step, &stepped, &cli->why);
	if (status != STATUS_OK)
		return status;
	struct wire_cursor in = wire_cursor_list(&stepped.stepped.results);
	if (stepped.stepped.results.count == 0 || result_take(&in, result) != STATUS_OK)
		return reason_set(&cli->why, STATUS_PROTOCOL, -1, "results",
				  "the server answered STEP without a result of its commands");
	return cairn_result_status(result, &cli->why);
}

enum status cli_apply(struct cli *cli, const struct cairn_world *world,
		      const struct command *commands, uint32_t count, struct wire_result *result)
{
	if (world->mode != WIRE_MODE_RUNNING)
		return apply_by_step(cli, world->number, commands, count, result);
	return cairn_apply(cli->client, world->number, commands, count, result, &cli->why);
}

int cli_apply_and_print(struct cli *cli, const struct cairn_world *world,
			const struct command *commands, uint32_t count)
{
	struct wire_result result;
	if (cli_apply(cli, world, commands, count, &result) != STATUS_OK)
		return cli_fail(cli);
	uint32_t id = result_value(&result, count - 1);
	out_begin(cli);
	out_u64(cli, "tick", result.tick);
	out_u64(cli, "edit", result.edit);
	if (id != 0)
		out_u64(cli, "id", id);
	out_end(cli);
	return EXIT_SUCCESS;
}
