/* robots.c: answers of ROBOT, DYNAMICS, INERTIA and JACOBIAN as text or JSON. */
#include <stdio.h>
#include <stdlib.h>

#include "clients/cli/verbs.h"
#include "protocol/query_wire.h"

static void print_column(const struct cli *cli, const char *key, struct wire_slice column)
{
	uint32_t count = column.bytes / (uint32_t)sizeof(double);
	double *values = malloc((count + 1u) * sizeof *values);
	for (uint32_t i = 0; values != NULL && i < count; i++)
		values[i] = wire_column_real(column, i);
	if (values != NULL)
		out_reals(cli, key, values, count);
	free(values);
}

static void print_link(const struct cli *cli, const struct wire_robot_link *link)
{
	static const char *const KINDS[] = { "floating base", "axes", "ball" };
	double axes[WIRE_JOINT_AXES];
	for (uint32_t i = 0; i < link->axis_count; i++)
		axes[i] = link->axis[i];
	out_begin(cli);
	out_u64(cli, "body", link->body);
	out_u64(cli, "parent", link->parent);
	out_u64(cli, "joint", link->joint);
	out_text(cli, "kind", link->kind < COUNT_OF(KINDS) ? KINDS[link->kind] : "unknown");
	out_reals(cli, "axes", axes, link->axis_count);
	out_end(cli);
}

bool cli_robot(const struct cli *cli, struct wire_cursor *in)
{
	uint32_t count = 0;
	struct wire_robot robot;
	struct wire_robot_link link;
	if (answer_take_robot_links(in, &count) != STATUS_OK)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (answer_take_robot_link(in, &link) != STATUS_OK)
			return false;
		print_link(cli, &link);
		if (!cli->json)
			putchar('\n');
	}
	if (answer_take_robot(in, &robot) != STATUS_OK)
		return false;
	out_begin(cli);
	print_column(cli, "q", robot.q);
	print_column(cli, "rates", robot.rates);
	print_column(cli, "accelerations", robot.accelerations);
	print_column(cli, "bias", robot.bias);
	print_column(cli, "forces", robot.forces);
	out_u64(cli, "closure_rows", robot.closure_rows);
	out_u64(cli, "closure_rank", robot.closure_rank);
	out_real(cli, "residual", robot.residual);
	out_u64(cli, "regular", robot.regular);
	out_end(cli);
	return true;
}

/* One line for each robot, with its part of the values. */
static bool print_robots(const struct cli *cli, struct wire_cursor *in,
			 struct wire_robot_dynamics *robots, uint32_t count)
{
	struct wire_slice values;
	uint32_t bytes = 0;
	for (uint32_t i = 0; i < count; i++)
		if (answer_take_dynamics_robot(in, &robots[i]) != STATUS_OK)
			return false;
	if (answer_take_column(in, &values) != STATUS_OK)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t own = robots[i].axes * (uint32_t)sizeof(double);
		if (robots[i].axes > values.bytes || own > values.bytes - bytes)
			return false;
		out_begin(cli);
		print_column(cli, "values", (struct wire_slice){ values.at + bytes, own });
		out_u64(cli, "closure_rows", robots[i].closure_rows);
		out_u64(cli, "closure_rank", robots[i].closure_rank);
		out_real(cli, "residual", robots[i].residual);
		out_u64(cli, "regular", robots[i].regular);
		out_end(cli);
		if (!cli->json && i + 1 < count)
			putchar('\n');
		bytes += own;
	}
	return true;
}

bool cli_dynamics(const struct cli *cli, struct wire_cursor *in)
{
	uint32_t count = 0;
	if (answer_take_dynamics(in, &count) != STATUS_OK || count > ROBOT_DYNAMICS_MAX)
		return false;
	struct wire_robot_dynamics *robots = malloc((count + 1u) * sizeof *robots);
	bool good = robots != NULL && print_robots(cli, in, robots, count);
	free(robots);
	return good;
}

bool cli_matrix(const struct cli *cli, struct wire_cursor *in)
{
	uint32_t axes = 0;
	struct wire_slice entries;
	if (answer_take_matrix(in, &axes, &entries) != STATUS_OK)
		return false;
	out_begin(cli);
	out_u64(cli, "axes", axes);
	print_column(cli, "entries", entries);
	out_end(cli);
	return true;
}
