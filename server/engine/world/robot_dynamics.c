/* robot_dynamics.c: accelerations of given forces, and forces of given accelerations, of many robots. */
#include "server/base/heap.h"
#include "server/engine/world/robot_work.h"

#include <string.h>

struct dynamics_work {
	struct robot_work robot;
	const struct robot_dynamics *asked;
	struct robot_dynamics_view *out;
	uint32_t links, rows; /* so far */
	struct reason *why;
};

/* Refuses what is beyond the limits, or the values given. */
static enum status count_robot(struct dynamics_work *self, uint32_t at)
{
	const struct robot_dynamics *asked = self->asked;
	uint32_t axes = self->out->axes + self->robot.tree.axis_count;
	self->links += self->robot.tree.link_count;
	self->rows += self->robot.closures.row_count;
	if (axes > ROBOT_DYNAMICS_AXES || self->links > ROBOT_DYNAMICS_AXES ||
	    self->rows > ROBOT_DYNAMICS_ROWS)
		return reason_set(self->why, STATUS_LIMIT, -1, "bodies",
				  "the first %u robots have %u axes, %u links and %u rows of "
				  "loops, one answer has at most %u, %u and %u: ask for fewer "
				  "robots at once",
				  (unsigned)at + 1, (unsigned)axes, (unsigned)self->links,
				  (unsigned)self->rows, (unsigned)ROBOT_DYNAMICS_AXES,
				  (unsigned)ROBOT_DYNAMICS_AXES, (unsigned)ROBOT_DYNAMICS_ROWS);
	if (asked->value_count == 0 || axes <= asked->value_count)
		return STATUS_OK;
	return reason_set(self->why, STATUS_RANGE, -1, "values",
			  "values has %u numbers: the first %u robots have %u axes together, each "
			  "needs one (or give none for zeros)",
			  (unsigned)asked->value_count, (unsigned)at + 1, (unsigned)axes);
}

static void solve_robot(struct dynamics_work *self, const double *given, double *found,
			struct robot_dynamics_item *item)
{
	struct robot_work *robot = &self->robot;
	uint32_t axes = robot->tree.axis_count;
	ASSERT(self->out->axes + axes <= ROBOT_DYNAMICS_AXES);
	*item = (struct robot_dynamics_item){ .axes = axes, .regular = true };
	item->closure_rows = robot->closures.row_count;
	if (self->asked->inverse) {
		tree_inverse(&robot->dynamics, given, robot->loads, found);
		item->residual = closures_error(&robot->closures, robot->dynamics.acceleration);
		return;
	}
	item->regular = tree_factor(&robot->dynamics);
	if (!item->regular) {
		memset(found, 0, axes * sizeof *found);
		return;
	}
	closures_factor(&robot->closures, &robot->dynamics);
	closures_forward(&robot->closures, &robot->dynamics, given, robot->loads, found);
	item->closure_rank = robot->closures.rank;
	item->residual = robot->closures.residual;
}

static enum status answer_all(struct dynamics_work *self)
{
	const struct robot_dynamics *asked = self->asked;
	struct robot_dynamics_view *out = self->out;
	for (uint32_t i = 0; i < asked->body_count; i++) {
		if (asked->bodies[i] == 0)
			return reason_set(self->why, STATUS_UNKNOWN_BODY, -1, "bodies",
					  "body %u of bodies is 0: name a body of each robot",
					  (unsigned)i);
		enum status status = robot_work_open(&self->robot, asked->bodies[i], asked->still);
		if (status == STATUS_OK)
			status = count_robot(self, i);
		if (status != STATUS_OK)
			return status;
		const double *given = asked->value_count != 0 ? &asked->values[out->axes] : NULL;
		solve_robot(self, given, &out->values[out->axes], &out->items[i]);
		out->axes += out->items[i].axes;
	}
	if (asked->value_count == 0 || asked->value_count == out->axes)
		return STATUS_OK;
	return reason_set(self->why, STATUS_RANGE, -1, "values",
			  "values has %u numbers: the robots have %u axes together",
			  (unsigned)asked->value_count, (unsigned)out->axes);
}

enum status world_robot_dynamics(const struct world *world, const struct robot_dynamics *asked,
				 struct robot_dynamics_view *out, struct reason *why)
{
	struct dynamics_work self = { .asked = asked, .out = out, .why = why };
	ASSERT(asked->body_count <= ROBOT_DYNAMICS_MAX);
	*out = (struct robot_dynamics_view){ 0 };
	enum status status = robot_work_init(&self.robot, world, why);
	out->items = heap_alloc((asked->body_count + 1u) * sizeof *out->items);
	out->values = heap_alloc(ROBOT_DYNAMICS_AXES * sizeof *out->values);
	if (status == STATUS_OK && (out->items == NULL || out->values == NULL))
		status = reason_set(why, STATUS_NO_MEMORY, -1, "memory", "out of memory");
	if (status == STATUS_OK)
		status = answer_all(&self);
	if (status != STATUS_OK)
		robot_dynamics_view_release(out);
	robot_work_release(&self.robot);
	return status;
}

void robot_dynamics_view_release(struct robot_dynamics_view *self)
{
	heap_free(self->items);
	heap_free(self->values);
	*self = (struct robot_dynamics_view){ 0 };
}
