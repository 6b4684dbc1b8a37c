/* query_robot.c: answers about robots in reduced coordinates. */
#include "protocol/query_items.h"

#include <string.h>

static void pack_column(struct wire_packer *out, struct wire_slice column)
{
	wire_pack_bin(out, column.at, column.bytes);
}

static void take_column(struct taker *taker, const char *field, struct wire_slice *column)
{
	if (!more(taker, field, true))
		return;
	taker->allowed = "a bin of 64-bit floats";
	taker->status = wire_take_bin(&taker->in, column);
	if (taker->status == STATUS_OK && column->bytes % sizeof(double) != 0)
		taker->status = STATUS_RANGE;
}

void answer_pack_robot_links(struct wire_packer *out, uint32_t count)
{
	wire_pack_array(out, 8);
	wire_pack_array(out, count);
}

void answer_pack_robot_link(struct wire_packer *out, const struct wire_robot_link *link)
{
	ASSERT(link->axis_count <= WIRE_JOINT_AXES);
	wire_pack_array(out, 5);
	wire_pack_uint(out, link->body);
	wire_pack_uint(out, link->parent);
	wire_pack_uint(out, link->joint);
	wire_pack_uint(out, link->kind);
	wire_pack_array(out, link->axis_count);
	for (uint32_t i = 0; i < link->axis_count; i++)
		wire_pack_uint(out, link->axis[i]);
}

void answer_pack_robot(struct wire_packer *out, const struct wire_robot *robot)
{
	pack_column(out, robot->q);
	pack_column(out, robot->rates);
	pack_column(out, robot->accelerations);
	pack_column(out, robot->bias);
	wire_pack_array(out, 3);
	wire_pack_uint(out, robot->closure_rows);
	wire_pack_uint(out, robot->closure_rank);
	wire_pack_real(out, robot->residual);
	wire_pack_uint(out, robot->regular);
	pack_column(out, robot->forces);
}

enum status answer_take_robot_links(struct wire_cursor *in, uint32_t *count)
{
	uint32_t items = 0;
	enum status status = wire_take_array(in, &items);
	if (status == STATUS_OK && items < 8)
		status = STATUS_RANGE;
	return status == STATUS_OK ? wire_take_array(in, count) : status;
}

enum status answer_take_robot_link(struct wire_cursor *in, struct wire_robot_link *link)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(link, 0, sizeof *link);
	take_u32(&taker, "body", true, UINT32_MAX, &link->body);
	take_u32(&taker, "parent", true, UINT32_MAX, &link->parent);
	take_u32(&taker, "joint", true, UINT32_MAX, &link->joint);
	take_u32(&taker, "kind", true, UINT8_MAX, &link->kind);
	if (!more(&taker, "axes", true))
		return taker.status;
	taker.status = wire_take_array(&taker.in, &link->axis_count);
	if (taker.status == STATUS_OK && link->axis_count > WIRE_JOINT_AXES)
		taker.status = STATUS_RANGE;
	for (uint32_t i = 0; taker.status == STATUS_OK && i < link->axis_count; i++) {
		uint64_t axis = 0;
		taker.status = wire_take_uint(&taker.in, WIRE_JOINT_AXES - 1, &axis);
		link->axis[i] = (uint32_t)axis;
	}
	return taker.status;
}

/* The rest of the answer, of which the links are taken. */
enum status answer_take_robot(struct wire_cursor *in, struct wire_robot *robot)
{
	struct taker taker = { .in = *in, .left = 6 };
	uint32_t count = 0;
	memset(robot, 0, sizeof *robot);
	take_column(&taker, "q", &robot->q);
	take_column(&taker, "rates", &robot->rates);
	take_column(&taker, "accelerations", &robot->accelerations);
	take_column(&taker, "bias", &robot->bias);
	if (more(&taker, "closures", true))
		taker.status = wire_take_array(&taker.in, &count);
	if (taker.status == STATUS_OK && count != 3)
		taker.status = STATUS_RANGE;
	taker.left = 5;
	take_u32(&taker, "closure rows", true, UINT32_MAX, &robot->closure_rows);
	take_u32(&taker, "rank", true, UINT32_MAX, &robot->closure_rank);
	take_real(&taker, "residual", &robot->residual);
	take_u32(&taker, "regular", true, 1, &robot->regular);
	take_column(&taker, "forces", &robot->forces);
	*in = taker.in;
	return taker.status;
}

void answer_pack_dynamics(struct wire_packer *out, uint32_t count)
{
	wire_pack_array(out, 2);
	wire_pack_array(out, count);
}

void answer_pack_dynamics_robot(struct wire_packer *out, const struct wire_robot_dynamics *robot)
{
	wire_pack_array(out, 5);
	wire_pack_uint(out, robot->axes);
	wire_pack_uint(out, robot->closure_rows);
	wire_pack_uint(out, robot->closure_rank);
	wire_pack_real(out, robot->residual);
	wire_pack_uint(out, robot->regular);
}

void answer_pack_column(struct wire_packer *out, struct wire_slice column)
{
	pack_column(out, column);
}

enum status answer_take_dynamics(struct wire_cursor *in, uint32_t *count)
{
	uint32_t items = 0;
	enum status status = wire_take_array(in, &items);
	if (status == STATUS_OK && items < 2)
		status = STATUS_RANGE;
	return status == STATUS_OK ? wire_take_array(in, count) : status;
}

enum status answer_take_dynamics_robot(struct wire_cursor *in, struct wire_robot_dynamics *robot)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(robot, 0, sizeof *robot);
	take_u32(&taker, "axes", true, UINT32_MAX, &robot->axes);
	take_u32(&taker, "closure rows", true, UINT32_MAX, &robot->closure_rows);
	take_u32(&taker, "rank", true, UINT32_MAX, &robot->closure_rank);
	take_real(&taker, "residual", &robot->residual);
	take_u32(&taker, "regular", true, 1, &robot->regular);
	return taker.status;
}

enum status answer_take_column(struct wire_cursor *in, struct wire_slice *column)
{
	struct taker taker = { .in = *in, .left = 1 };
	take_column(&taker, "values", column);
	*in = taker.in;
	return taker.status;
}

void answer_pack_matrix(struct wire_packer *out, uint32_t axes, struct wire_slice entries)
{
	wire_pack_array(out, 2);
	wire_pack_uint(out, axes);
	pack_column(out, entries);
}

enum status answer_take_matrix(struct wire_cursor *in, uint32_t *axes, struct wire_slice *entries)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	take_u32(&taker, "axes", true, UINT32_MAX, axes);
	take_column(&taker, "entries", entries);
	return taker.status;
}

double wire_column_real(struct wire_slice column, uint32_t index)
{
	double value;
	ASSERT((index + 1u) * sizeof value <= column.bytes);
	memcpy(&value, column.at + index * sizeof value, sizeof value);
	return value;
}

uint32_t wire_column_id(struct wire_slice column, uint32_t index)
{
	uint32_t id;
	ASSERT((index + 1u) * sizeof id <= column.bytes);
	memcpy(&id, column.at + index * sizeof id, sizeof id);
	return id;
}
