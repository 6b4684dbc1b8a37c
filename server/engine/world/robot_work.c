/* robot_work.c: see robot_work.h. */
#include "server/engine/world/robot_work.h"

#include "server/base/heap.h"
#include "server/base/sort.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/step_joints.h"

static bool body_moves(const struct tables *tables, uint32_t row)
{
	ASSERT(row < tables->body.count);
	return tables->body.id[row] != 0 && tables->body.status[row] == BODY_DYNAMIC &&
	       tables->body.mass_inv[row] > 0;
}

static void add_body(struct robot_work *self, uint32_t row)
{
	ASSERT(self->index[row] == ARTICULATION_NONE);
	ASSERT(self->count < self->tables->body.count);
	self->index[row] = 0;
	self->rows[self->count++] = row;
}

static void add_bodies_of(struct robot_work *self, uint32_t joint)
{
	for (uint32_t side = 0; side < 2; side++) {
		uint32_t body = joint_body(self->tables, joint, side);
		if (body != DYNAMICS_NONE && self->index[body] == ARTICULATION_NONE &&
		    body_moves(self->tables, body))
			add_body(self, body);
	}
}

/* Adds the bodies of the joints that gears couple with this one. */
static void follow_gears(struct robot_work *self, uint32_t joint)
{
	const struct bitset *geared = &self->world->dynamics.joint_geared;
	const struct joint_table *table = &self->tables->joint;
	for (uint32_t row = bitset_next(geared, 0); row != BITSET_NONE;
	     row = bitset_next(geared, row + 1))
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
			uint32_t leader = table->leader[row][axis] - 1;
			if (leader == DYNAMICS_NONE || (row != joint && leader != joint))
				continue;
			add_bodies_of(self, row);
			add_bodies_of(self, leader);
		}
}

/* The bodies that joints and gears link with `first`; they are numbered by rows afterwards. */
static void follow_joints(struct robot_work *self, uint32_t first)
{
	const struct tables *tables = self->tables;
	add_body(self, first);
	for (uint32_t i = 0; i < self->count; i++)
		for (uint32_t e = joint_first(tables, self->rows[i]); e != DYNAMICS_NONE;
		     e = joint_next(tables, e)) {
			add_bodies_of(self, e / 2);
			if (self->world->dynamics.joint_geared.count > 0)
				follow_gears(self, e / 2);
		}
}

static int compare_rows(const void *a, const void *b, void *context)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	ASSERT(context == NULL);
	return (x > y) - (x < y);
}

static enum status find_linked(struct robot_work *self, body_id body)
{
	uint32_t first = dynamics_find_body(&self->world->dynamics, body);
	if (first == DYNAMICS_NONE || body == BODY_WALLS)
		return reason_set(self->why, STATUS_UNKNOWN_BODY, -1, "body", "there is no body %u",
				  (unsigned)body);
	if (!body_moves(self->tables, first))
		return reason_set(self->why, STATUS_RANGE, -1, "body",
				  "body %u does not move by forces: ask for a dynamic body of the "
				  "robot",
				  (unsigned)body);
	follow_joints(self, first);
	sort_items(self->rows, self->order, self->count, sizeof *self->rows, compare_rows, NULL);
	return STATUS_OK;
}

static enum status find_bodies(struct robot_work *self, body_id body)
{
	const struct tables *tables = self->tables;
	enum status status = STATUS_OK;
	if (body != 0)
		status = find_linked(self, body);
	for (uint32_t row = 0; body == 0 && row < tables->body.count; row++)
		if (body_moves(tables, row))
			add_body(self, row);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < self->count; i++)
		self->index[self->rows[i]] = i;
	if (self->count <= ROBOT_LINKS_MAX)
		return STATUS_OK;
	return reason_set(
		self->why, STATUS_LIMIT, -1, "links",
		"%u bodies are linked, one answer has at most %u: ask for one robot of the "
		"world by one of its bodies",
		(unsigned)self->count, (unsigned)ROBOT_LINKS_MAX);
}

static uint32_t end_of(const struct robot_work *self, uint32_t row, uint32_t side)
{
	ASSERT(side < 2);
	uint32_t body = joint_body(self->tables, row, side);
	return body == DYNAMICS_NONE ? ARTICULATION_NONE : self->index[body];
}

static void stop_motion(struct body_motion *motion)
{
	motion->velocity = motion->angular_velocity = vec3_zero();
}

/* The joints of its bodies, each once, by rows: an end at b is passed over if the robot has a too. */
static enum status find_joints(struct robot_work *self, bool still)
{
	for (uint32_t i = 0; i < self->count; i++)
		for (uint32_t e = joint_first(self->tables, self->rows[i]); e != DYNAMICS_NONE;
		     e = joint_next(self->tables, e))
			if (joint_may_act(self->tables, e / 2) &&
			    (e % 2 == 0 || end_of(self, e / 2, 0) == ARTICULATION_NONE))
				self->joint_rows[self->joint_count++] = e / 2;
	sort_items(self->joint_rows, self->order, self->joint_count, sizeof *self->joint_rows,
		   compare_rows, NULL);
	self->joints = heap_alloc((self->joint_count + 1u) * sizeof *self->joints);
	if (self->joints == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < self->joint_count; i++) {
		struct articulation_joint *to = &self->joints[i];
		uint32_t row = self->joint_rows[i];
		joint_from_tables(&self->world->dynamics, row, 0, &to->joint);
		if (still) {
			stop_motion(&to->joint.a);
			stop_motion(&to->joint.b);
		}
		to->body[0] = end_of(self, row, 0);
		to->body[1] = end_of(self, row, 1);
	}
	return STATUS_OK;
}

/* The gears between joints of the robot. */
static enum status find_gears(struct robot_work *self, bool still)
{
	const struct joint_table *table = &self->tables->joint;
	const struct bitset *geared = &self->world->dynamics.joint_geared;
	self->gears = heap_alloc(((size_t)geared->count * JOINT_AXES + 1) * sizeof *self->gears);
	if (self->gears == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < self->joint_count && geared->count > 0; i++)
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
			uint32_t row = self->joint_rows[i], leader = table->leader[row][axis] - 1;
			struct gear *gear = &self->gears[self->gear_count];
			if (leader == DYNAMICS_NONE || !joint_may_act(self->tables, leader))
				continue;
			gear_from_tables(&self->world->dynamics, row, axis, 0, gear);
			for (uint32_t end = 0; end < GEAR_ENDS; end++)
				for (uint32_t side = 0; side < 2; side++)
					gear->slots[end][side] =
						end_of(self, gear->joints[end].row, side);
			for (uint32_t end = 0; end < GEAR_ENDS && still; end++) {
				stop_motion(&gear->joints[end].a);
				stop_motion(&gear->joints[end].b);
			}
			self->gear_count++;
		}
	return STATUS_OK;
}

/* Motions, masses, and forces that do not come from joints and contacts. */
static enum status find_motions(struct robot_work *self, bool still)
{
	const struct dynamics *dynamics = &self->world->dynamics;
	uint32_t count = self->count;
	ASSERT(count <= ROBOT_LINKS_MAX);
	self->motions = heap_alloc((count + 1u) * sizeof *self->motions);
	self->masses = heap_alloc((count + 1u) * sizeof *self->masses);
	self->sums = heap_alloc_zero((count + 1u) * sizeof *self->sums);
	self->loads = heap_alloc((count + 1u) * sizeof *self->loads);
	if (self->motions == NULL || self->masses == NULL || self->sums == NULL ||
	    self->loads == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		self->motions[i] = dynamics_motion(dynamics, self->rows[i]);
		if (still)
			stop_motion(&self->motions[i]);
	}
	mass_bodies_from_tables(self->tables, self->rows, count, self->motions, self->masses);
	struct force_list forces;
	const struct force_bodies bodies = { self->rows, self->motions, count };
	force_list_init(&forces, self->tables, dynamics->shapes);
	force_list_all(&forces, &bodies, 0, self->sums);
	return STATUS_OK;
}

static enum status make_tree(struct robot_work *self)
{
	const struct articulation_source source = { self->motions, self->masses, self->joints,
						    self->count, self->joint_count };
	enum status status = articulation_make(&self->tree, &source, self->why);
	if (status == STATUS_UNSUPPORTED) {
		uint32_t row = self->rows[self->why != NULL ? self->why->index : 0];
		return reason_set(
			self->why, status, -1, "locks",
			"the locks of body %u hold a part of an axis of its joint: reduced "
			"coordinates need bodies without locks, or a planar world whose "
			"joints stay in the plane",
			(unsigned)self->tables->body.id[row]);
	}
	if (status == STATUS_OK)
		status = tree_dynamics_make(&self->dynamics, &self->tree);
	if (status == STATUS_OK)
		status = closures_make_geared(&self->closures, &self->tree, self->gears,
					      self->gear_count, self->why);
	for (uint32_t i = 0; status == STATUS_OK && i < self->tree.link_count; i++) {
		uint32_t body = self->tree.links[i].body;
		const struct force_sum *sum = &self->sums[body];
		double mass = self->tables->body.mass[self->rows[body]];
		self->loads[i] =
			(struct spatial){ vec3_mul_add(sum->force, sum->acceleration, mass),
					  sum->torque };
	}
	return status;
}

enum status robot_work_init(struct robot_work *self, const struct world *world, struct reason *why)
{
	const struct tables *tables = &world->tables;
	uint32_t bodies = tables->body.count, joints = tables->joint.count;
	*self = (struct robot_work){ .world = world, .tables = tables, .why = why };
	self->rows = heap_alloc((bodies + 1u) * sizeof *self->rows);
	self->index = heap_alloc((bodies + 1u) * sizeof *self->index);
	self->joint_rows = heap_alloc((joints + 1u) * sizeof *self->joint_rows);
	self->order = heap_alloc((MAX_OF(bodies, joints) + 1u) * sizeof *self->order);
	if (self->rows == NULL || self->index == NULL || self->joint_rows == NULL ||
	    self->order == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory", "out of memory");
	for (uint32_t row = 0; row < bodies; row++)
		self->index[row] = ARTICULATION_NONE;
	return STATUS_OK;
}

/* Forgets the robot; its bodies belong to none. */
static void forget_robot(struct robot_work *self)
{
	closures_release(&self->closures);
	tree_dynamics_release(&self->dynamics);
	articulation_release(&self->tree);
	heap_free(self->motions);
	heap_free(self->masses);
	heap_free(self->joints);
	heap_free(self->gears);
	heap_free(self->sums);
	heap_free(self->loads);
	self->motions = NULL;
	self->masses = NULL;
	self->joints = NULL;
	self->gears = NULL;
	self->sums = NULL;
	self->loads = NULL;
	for (uint32_t i = 0; i < self->count; i++)
		self->index[self->rows[i]] = ARTICULATION_NONE;
	self->count = self->joint_count = self->gear_count = 0;
}

enum status robot_work_open(struct robot_work *self, body_id body, bool still)
{
	forget_robot(self);
	enum status status = find_bodies(self, body);
	if (status == STATUS_OK)
		status = find_joints(self, still);
	if (status == STATUS_OK)
		status = find_gears(self, still);
	if (status == STATUS_OK)
		status = find_motions(self, still);
	if (status == STATUS_OK)
		status = make_tree(self);
	if (status == STATUS_NO_MEMORY)
		reason_set(self->why, status, -1, "memory", "out of memory");
	return status;
}

void robot_work_release(struct robot_work *self)
{
	forget_robot(self);
	heap_free(self->rows);
	heap_free(self->index);
	heap_free(self->joint_rows);
	heap_free(self->order);
}
