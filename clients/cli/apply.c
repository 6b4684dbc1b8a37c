/* apply.c: commands to a world at any pace.
 *
 * A world that runs applies a batch at its next tick and says so in a RESULT. A world that is not running
 * applies a batch without a tick: the batch is sent in a STEP of 0 ticks, which answers at once.
 */
#include <stdio.h>
#include <stdlib.h>

#include "clients/cli/cli.h"

static enum status step_with(struct cli *cli, uint32_t world, const struct command *commands,
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
				  "the answer of the server contains no result of the commands");
	return cairn_result_status(result, &cli->why);
}

enum status cli_apply(struct cli *cli, const struct cairn_world *world,
		      const struct command *commands, uint32_t count, struct wire_result *result)
{
	if (world->mode != WIRE_MODE_RUNNING)
		return step_with(cli, world->number, commands, count, result);
	return cairn_apply(cli->client, world->number, commands, count, result, &cli->why);
}

int cli_apply_and_tell(struct cli *cli, const struct cairn_world *world,
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
