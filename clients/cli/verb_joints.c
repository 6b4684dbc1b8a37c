/* verb_joints.c: joints: those of a world or of a body, where they stand and what they carry. */
#include <stdio.h>
#include <stdlib.h>

#include "clients/cli/verbs.h"

enum { AT_ONCE = 512 };

static double length_of(const double v[3])
{
	return vec3_length(vec3_make(v[0], v[1], v[2]));
}

/* A line for people: lengths of what it carries; a record for programs: all of it. */
static void print_joint(const struct cli *cli, const struct wire_joint_facts *facts)
{
	const struct wire_joint *joint = &facts->joint;
	if (!cli->json) {
		printf("%6u  %-11s %8u %8u %12.5g %12.5g ", (unsigned)joint->id,
		       cli_joint_type(joint->type), (unsigned)joint->a, (unsigned)joint->b,
		       length_of(joint->force), length_of(joint->torque));
		for (uint32_t i = 0; i < COUNT_OF(joint->coordinates); i++)
			printf(" %.4g", joint->coordinates[i]);
		putchar('\n');
		return;
	}
	out_begin(cli);
	out_u64(cli, "id", joint->id);
	out_text(cli, "type", cli_joint_type(joint->type));
	out_u64(cli, "flags", joint->flags);
	out_u64(cli, "a", joint->a);
	out_u64(cli, "b", joint->b);
	out_reals(cli, "coordinates", joint->coordinates, COUNT_OF(joint->coordinates));
	out_reals(cli, "force", joint->force, 3);
	out_reals(cli, "torque", joint->torque, 3);
	out_u64(cli, "owner", joint->owner);
	out_real(cli, "tag", (double)joint->tag);
	out_end(cli);
}

/* Prints what one question brings; *first is then above the last id. */
static enum status print_some(struct cli *cli, uint32_t world, uint32_t body, uint32_t *first,
			      uint32_t *count)
{
	struct wire_query query;
	struct message answer;
	struct wire_list list;
	query_init(&query, WIRE_QUERY_JOINTS);
	query.body = body;
	query.limit = AT_ONCE;
	query.first = *first;
	enum status status = cairn_query(cli->client, world, &query, &answer, &cli->why);
	if (status != STATUS_OK)
		return status;
	struct wire_cursor in = wire_cursor_of(answer.answer.answer);
	status = wire_take_list(&in, &list);
	struct wire_cursor items = wire_cursor_list(&list);
	for (*count = 0; status == STATUS_OK && *count < list.count; ++*count) {
		struct wire_joint_facts facts;
		status = answer_take_joints_item(&items, &facts);
		if (status != STATUS_OK)
			break;
		print_joint(cli, &facts);
		*first = facts.joint.id + 1;
	}
	if (status != STATUS_OK)
		reason_set(&cli->why, status, -1, "joints", "the answer cannot be read");
	return status;
}

int verb_joints(struct cli *cli)
{
	struct cairn_world world;
	uint64_t body = 0;
	if (cli->operand_count != 1 && cli->operand_count != 2)
		return cli_usage(cli, "joints WORLD [BODY]");
	if ((cli->operand_count == 2 && !cli_count(cli, cli->operands[1], "BODY", &body)) ||
	    !cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	if (!cli->json)
		printf("%6s  %-11s %8s %8s %12s %12s  %s\n", "id", "type", "a", "b", "force", "torque",
		       "coordinates");
	uint32_t first = 0, count = AT_ONCE;
	while (count == AT_ONCE)
		if (print_some(cli, world.number, (uint32_t)MIN_OF(body, (uint64_t)UINT32_MAX), &first,
			       &count) != STATUS_OK)
			return cli_fail(cli);
	return EXIT_SUCCESS;
}
