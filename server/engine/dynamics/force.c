/* force.c: the list of forces; gravity, drives, fields and loads of fluids.
 *
 * A drive applies a constant force, in world axes, at a point fixed in its body, and a constant
 * torque. Forces on one body are summed in the order of the list, drives in the order of their
 * table, which is the order of their commands.
 */
#include "server/engine/dynamics/force.h"

#include "server/engine/fluids/fluid.h"
#include "server/engine/dynamics/force_field.h"
#include "server/engine/dynamics/joint_torque.h"

struct force_state force_state_of(const struct tables *tables, uint32_t body,
				  const struct body_motion *motion)
{
	ASSERT(body < tables->body.count);
	const struct body_table *table = &tables->body;
	if (motion != NULL)
		return (struct force_state){ motion->centre, motion->rotation, motion->velocity,
					     motion->angular_velocity, table->mass[body] };
	return (struct force_state){ dynamics_centre(tables, body), table->rotation[body],
				     table->velocity[body], table->angular_velocity[body],
				     table->mass[body] };
}

static bool is_pushed(const struct tables *tables, uint32_t body)
{
	VALIDATE(body < tables->body.count);
	return tables->body.status[body] == BODY_DYNAMIC;
}

/* ---- gravity ------------------------------------------------------------------------------- */

vec3 force_gravity(const struct tables *tables)
{
	vec3 gravity = tables->world.gravity[0];
	if (tables->world.planar[0])
		gravity.z = 0;
	return gravity;
}

static vec3 gravity_on(const struct tables *tables, vec3 gravity, uint32_t body)
{
	bool scaled = (tables->body.flags[body] & BODY_SCALED) != 0;
	return scaled ? vec3_scale(gravity, tables->body.gravity_scale[body]) : gravity;
}

static void gravity_add_all(const struct force *self, const struct force_bodies *bodies,
			    double time, struct force_sum *sums)
{
	UNUSED(time);
	const struct tables *tables = self->context;
	vec3 gravity = force_gravity(tables);
	for (uint32_t i = 0; i < bodies->count; i++)
		if (is_pushed(tables, bodies->rows[i]))
			sums[i].acceleration = vec3_add(
				sums[i].acceleration, gravity_on(tables, gravity, bodies->rows[i]));
}

/* ---- drives -------------------------------------------------------------------------------- */

static void add_drive(const struct drive_table *table, uint32_t drive, quat rotation,
		      struct force_sum *sum)
{
	ASSERT(drive < table->count);
	if (table->ticks[drive] == 0)
		return;
	vec3 arm = mat3_mul_vec(mat3_from_quat(rotation), table->point[drive]);
	vec3 torque = vec3_add(table->torque[drive], vec3_cross(arm, table->force[drive]));
	sum->force = vec3_add(sum->force, table->force[drive]);
	sum->torque = vec3_add(sum->torque, torque);
}

uint32_t force_bodies_find(const struct force_bodies *self, uint32_t body)
{
	const uint32_t *rows = self->rows;
	VALIDATE(self->count == 0 || rows[0] <= rows[self->count - 1]);
	uint32_t low = 0, high = self->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (rows[middle] < body)
			low = middle + 1;
		else
			high = middle;
	}
	return low < self->count && rows[low] == body ? low : self->count;
}

static void drives_add_all(const struct force *self, const struct force_bodies *bodies, double time,
			   struct force_sum *sums)
{
	UNUSED(time);
	const struct force_list *list = self->context;
	const struct tables *tables = list->tables;
	for (uint32_t drive = 0; drive < tables->drive.count; drive++) {
		uint32_t body = tables->drive.body[drive];
		ASSERT(body < tables->body.count);
		uint32_t i = force_bodies_find(bodies, body);
		if (i == bodies->count || !is_pushed(tables, body))
			continue;
		quat rotation = bodies->motions != NULL ? bodies->motions[i].rotation
							: tables->body.rotation[body];
		add_drive(&tables->drive, drive, rotation, &sums[i]);
	}
}

/* ---- fields -------------------------------------------------------------------------------- */

static void fields_add(const struct force *self, uint32_t body, const struct force_state *state,
		       double time, struct force_sum *sum)
{
	UNUSED(time);
	const struct force_list *list = self->context;
	const struct field_table *table = &list->tables->field;
	ASSERT(body < list->tables->body.count);
	for (uint32_t row = 0; row < table->count; row++)
		if (table->id[row] != 0)
			force_field_add(list, row, body, state, sum);
}

/* ---- fluids -------------------------------------------------------------------------------- */

static void loads_add(const struct force *self, uint32_t body, const struct force_state *state,
		      double time, struct force_sum *sum)
{
	UNUSED(state);
	UNUSED(time);
	const struct tables *tables = self->context;
	ASSERT(body < tables->body.count);
	uint32_t row = fluid_find_load(tables, body);
	if (row == DYNAMICS_NONE)
		return;
	ASSERT(tables->load.row[row] == body);
	sum->force = vec3_add(sum->force, tables->load.force[row]);
	sum->torque = vec3_add(sum->torque, tables->load.torque[row]);
}

/* ---- the list ------------------------------------------------------------------------------ */

void force_list_init(struct force_list *self, const struct tables *tables,
		     const struct shape *const *shapes)
{
	*self = (struct force_list){ .tables = tables, .shapes = shapes };
	force_list_push(self, (struct force){ .add_all = gravity_add_all, .context = tables });
	force_list_push(self, (struct force){ .add_all = drives_add_all, .context = self });
	if (tables->field.count > 0)
		force_list_push(self, (struct force){ .add = fields_add, .context = self });
	if (tables->load.count > 0)
		force_list_push(self, (struct force){ .add = loads_add, .context = tables });
}

void force_list_push(struct force_list *self, struct force force)
{
	ASSERT((force.add != NULL) != (force.add_all != NULL));
	ASSERT(self->count < FORCES_MAX);
	self->items[self->count++] = force;
}

/* Minus zero, because x + −0 = x for every x, 0 and −0 included: the sum of one force is that force. */
static struct force_sum no_force(void)
{
	return (struct force_sum){ vec3_all(-0.0), vec3_all(-0.0), vec3_all(-0.0) };
}

static struct force_sum zero_force(void)
{
	return (struct force_sum){ vec3_zero(), vec3_zero(), vec3_zero() };
}

static void add_one_by_one(const struct force_list *self, const struct force *force,
			   const struct force_bodies *bodies, double time, struct force_sum *sums)
{
	for (uint32_t i = 0; i < bodies->count; i++) {
		uint32_t body = bodies->rows[i];
		if (!is_pushed(self->tables, body))
			continue;
		struct force_state state = force_state_of(
			self->tables, body, bodies->motions != NULL ? &bodies->motions[i] : NULL);
		force->add(force, body, &state, time, &sums[i]);
	}
}

void force_list_all(const struct force_list *self, const struct force_bodies *bodies, double time,
		    struct force_sum *sums)
{
	ASSERT(bodies->count == 0 || sums != NULL);
	for (uint32_t i = 0; i < bodies->count; i++)
		sums[i] = is_pushed(self->tables, bodies->rows[i]) ? no_force() : zero_force();
	for (uint32_t k = 0; k < self->count; k++) {
		const struct force *force = &self->items[k];
		if (force->add_all != NULL)
			force->add_all(force, bodies, time, sums);
		else
			add_one_by_one(self, force, bodies, time, sums);
	}
}

void force_all(const struct dynamics *self, const uint32_t *bodies, uint32_t count, double span,
	       struct force_sum *sums)
{
	struct force_list list;
	struct force_bodies all = { bodies, NULL, count };
	force_list_init(&list, self->tables, self->shapes);
	force_list_push_joints(&list);
	list.span = span;
	list.ahead = 0.5 * span;
	force_list_all(&list, &all, 0, sums);
}
