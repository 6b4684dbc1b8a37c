/* apply.c: applies commands to a world and prints what they made. */
#include <stdio.h>
#include <stdlib.h>

#include "clients/cli/cli.h"

int cli_apply_and_print(struct cli *cli, const struct cairn_world *world,
			const struct command *commands, uint32_t count)
{
	struct wire_result result;
	if (cairn_apply_now(cli->client, world, commands, count, &result, &cli->why) != STATUS_OK)
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
