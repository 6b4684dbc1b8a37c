/* host_robot.c: the queries ROBOT, INERTIA, JACOBIAN and DYNAMICS. */
#include "server/base/heap.h"
#include "server/host/host_answer.h"
#include "server/host/host_state.h"

enum { LINK_BYTES_MAX = 32, ITEM_BYTES_MAX = 32, REST_BYTES_MAX = 96 };

static struct wire_slice column_of(const double *numbers, size_t count)
{
	return (struct wire_slice){ (const uint8_t *)numbers, (uint32_t)(count * sizeof *numbers) };
}

static void pack_links(struct wire_packer *packer, const struct robot_view *view)
{
	answer_pack_robot_links(packer, view->links);
	for (uint32_t i = 0; i < view->links; i++) {
		const struct robot_view_link *from = &view->link[i];
		struct wire_robot_link link = { .body = from->body,
						.parent = from->parent,
						.joint = from->joint,
						.kind = from->kind,
						.axis_count = from->axes };
		for (uint32_t k = 0; k < from->axes; k++)
			link.axis[k] = from->axis[k];
		answer_pack_robot_link(packer, &link);
	}
}

enum status host_answer_robot(struct host *host, const struct wire_query *query, struct bytes *out,
			      uint64_t *work, struct reason *why)
{
	struct robot_view view;
	enum status status = world_robot(host->world, query->body, &view, why);
	if (status != STATUS_OK)
		return status;
	/* Each row of a loop is sent through the whole tree and against the other rows. */
	*work = view.closure_rows * ((uint64_t)view.axes + view.closure_rows);
	size_t numbers = view.coordinates + 4 * (size_t)view.axes;
	struct wire_packer packer =
		packer_into(out, REST_BYTES_MAX + (size_t)view.links * LINK_BYTES_MAX +
					 numbers * sizeof(double));
	const struct wire_robot robot = { .q = column_of(view.q, view.coordinates),
					  .rates = column_of(view.rates, view.axes),
					  .accelerations = column_of(view.accelerations, view.axes),
					  .bias = column_of(view.bias, view.axes),
					  .forces = column_of(view.forces, view.axes),
					  .closure_rows = view.closure_rows,
					  .closure_rank = view.closure_rank,
					  .regular = view.regular,
					  .residual = view.residual };
	pack_links(&packer, &view);
	answer_pack_robot(&packer, &robot);
	robot_view_release(&view);
	return packed(out, &packer);
}

/* Takes the matrix. */
static enum status pack_matrix(struct bytes *out, uint32_t axes, double *matrix, size_t count)
{
	struct wire_packer packer = packer_into(out, REST_BYTES_MAX + count * sizeof *matrix);
	answer_pack_matrix(&packer, axes, column_of(matrix, count));
	heap_free(matrix);
	return packed(out, &packer);
}

enum status host_answer_inertia(struct host *host, const struct wire_query *query,
				struct bytes *out, struct reason *why)
{
	uint32_t axes;
	double *matrix;
	enum status status = world_robot_mass(host->world, query->body, &matrix, &axes, why);
	size_t count = 0;
	if (status != STATUS_OK)
		return status;
	for (size_t i = 0; i < axes; i++)
		for (size_t j = 0; j <= i; j++)
			matrix[count++] = matrix[i * axes + j];
	return pack_matrix(out, axes, matrix, count);
}

enum status host_answer_jacobian(struct host *host, const struct wire_query *query,
				 struct bytes *out, struct reason *why)
{
	uint32_t axes;
	double *matrix;
	enum status status = world_robot_jacobian(host->world, query->body, get_vec3(query->origin),
						  &matrix, &axes, why);
	return status == STATUS_OK ? pack_matrix(out, axes, matrix, 6 * (size_t)axes) : status;
}

static enum status pack_dynamics(struct bytes *out, const struct robot_dynamics_view *view,
				 uint32_t count)
{
	struct wire_packer packer =
		packer_into(out, REST_BYTES_MAX + (size_t)count * ITEM_BYTES_MAX +
					 view->axes * sizeof *view->values);
	answer_pack_dynamics(&packer, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct robot_dynamics_item *item = &view->items[i];
		const struct wire_robot_dynamics robot = { .axes = item->axes,
							   .closure_rows = item->closure_rows,
							   .closure_rank = item->closure_rank,
							   .regular = item->regular,
							   .residual = item->residual };
		answer_pack_dynamics_robot(&packer, &robot);
	}
	answer_pack_column(&packer, column_of(view->values, view->axes));
	return packed(out, &packer);
}

enum status host_answer_dynamics(struct host *host, const struct wire_query *query,
				 struct bytes *out, uint64_t *work, struct reason *why)
{
	body_id bodies[ROBOT_DYNAMICS_MAX];
	struct robot_dynamics_view view;
	struct robot_dynamics asked = {
		.bodies = bodies,
		.body_count = query->bodies.bytes / (uint32_t)sizeof *bodies,
		.inverse = query->inverse != 0,
		.still = query->still != 0,
		.value_count = query->values.bytes / (uint32_t)sizeof(double),
	};
	ASSERT(asked.body_count <= ROBOT_DYNAMICS_MAX);
	for (uint32_t i = 0; i < asked.body_count; i++)
		bodies[i] = wire_column_id(query->bodies, i);
	/* A bin is aligned to nothing. */
	double *values = heap_alloc(query->values.bytes + sizeof *values);
	if (values == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory", "out of memory");
	for (uint32_t i = 0; i < asked.value_count; i++)
		values[i] = wire_column_real(query->values, i);
	asked.values = values;
	enum status status = world_robot_dynamics(host->world, &asked, &view, why);
	heap_free(values);
	if (status != STATUS_OK)
		return status;
	*work = view.axes;
	for (uint32_t i = 0; i < asked.body_count; i++) {
		uint64_t rows = view.items[i].closure_rows;
		*work += rows * (view.items[i].axes + rows);
	}
	status = pack_dynamics(out, &view, asked.body_count);
	robot_dynamics_view_release(&view);
	return status;
}
