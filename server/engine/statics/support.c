/* support.c: see support.h. Pairs come from a broad phase of exact boxes made for the question,
 * because the boxes of the tables are fat by centimetres, which is the whole world if bodies are
 * micrometres. O(n log n) in bodies, O(corners) a contact. */
#include "server/engine/statics/support.h"

#include "server/base/array.h"
#include "server/base/parallel.h"
#include "server/engine/collision/broad_phase.h"
#include "server/engine/collision/contact_polygon.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/carrier.h"
#include "server/engine/dynamics/constraint.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/force.h"
#include "server/engine/dynamics/joint_torque.h"
#include "server/engine/dynamics/joint.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/mass_operator.h"
#include "server/engine/dynamics/pairs.h"
#include "server/engine/dynamics/step_joints.h"

struct support_work {
	struct support_graph *self;
	const struct dynamics *dynamics;
	const struct tables *tables;
	struct support_options options;
	struct reason *why;
};

/* ---- bodies ---------------------------------------------------------------------------------- */

static enum status number_bodies(struct support_work *work)
{
	struct support_graph *self = work->self;
	const struct body_table *body = &work->tables->body;
	uint32_t count = 0;
	self->slots = heap_alloc((body->count + 1u) * sizeof *self->slots);
	self->rows = heap_alloc((body->count + 1u) * sizeof *self->rows);
	if (self->slots == NULL || self->rows == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t row = 0; row < body->count; row++) {
		bool moves = body_is_solid(work->tables, row) &&
			     body->status[row] == BODY_DYNAMIC && body->mass_inv[row] > 0;
		self->slots[row] = moves ? count : ROW_NO_BODY;
		if (moves)
			self->rows[count++] = row;
	}
	self->problem.body_count = count;
	if (count > STATICS_BODIES_MAX)
		return reason_set(work->why, STATUS_LIMIT, -1, "bodies",
				  "the world has %u dynamic bodies, stability examines at most %u: "
				  "make some of them static",
				  count, (unsigned)STATICS_BODIES_MAX);
	self->bodies = heap_alloc_zero((count + 1u) * sizeof *self->bodies);
	self->loads = heap_alloc_zero(2 * (count + 1u) * sizeof *self->loads);
	self->weights = self->loads + count + 1;
	return self->bodies != NULL && self->loads != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Whether points carry the body of this carrier row, all of which take part. */
static bool find_carried(const struct support_work *work, uint32_t row, struct statics_carried *out)
{
	const struct tables *tables = work->tables;
	uint32_t body = tables->carrier.body[row] - 1;
	*out = (struct statics_carried){ .body = work->self->slots[body],
					 .frame = carrier_frame_of(tables, row),
					 .rotation = tables->body.rotation[body] };
	bool all = out->body != ROW_NO_BODY;
	for (uint32_t k = 0; k < out->frame.count; k++) {
		out->points[k] = work->self->slots[carrier_point(tables, row, k)];
		all &= out->points[k] != ROW_NO_BODY;
	}
	return all;
}

static enum status number_carried(struct support_work *work)
{
	struct support_graph *self = work->self;
	const struct bitset *used = &work->dynamics->carrier_used;
	self->carried = heap_alloc((used->count + 1u) * sizeof *self->carried);
	if (self->carried == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t row = bitset_next(used, 0); row != BITSET_NONE;
	     row = bitset_next(used, row + 1)) {
		ASSERT(self->problem.carried_count < used->count);
		if (find_carried(work, row, &self->carried[self->problem.carried_count]))
			self->problem.carried_count++;
	}
	return STATUS_OK;
}

static void put_mass(const struct mass_body *from, struct statics_body *to)
{
	mat3 turning = sym3_matrix(from->inertia_inv);
	double mass = scalar_max(scalar_max(from->mass.x, from->mass.y), from->mass.z);
	for (uint32_t i = 0; i < 3; i++) {
		to->mass_inv[i][i] = vec3_get(from->mass_inv, i);
		for (uint32_t k = 0; k < 3; k++)
			to->mass_inv[3 + i][3 + k] = mat3_get(turning, i, k);
	}
	if (mass > 0)
		to->gyration = scalar_sqrt(sym3_trace(from->inertia) / mass);
}

/* Masses, and all forces at rest; `weights` is the part of gravity. */
static enum status load_bodies(struct support_work *work)
{
	struct support_graph *self = work->self;
	uint32_t count = self->problem.body_count;
	ASSERT(self->bodies != NULL && self->loads != NULL);
	const struct body_table *body = &work->tables->body;
	struct mass_body *masses = heap_alloc((count + 1u) * sizeof *masses);
	struct body_motion *motions = heap_alloc_zero((count + 1u) * sizeof *motions);
	struct force_sum *sums = heap_alloc_zero((count + 1u) * sizeof *sums);
	struct force_list list;
	vec3 gravity = force_gravity(work->tables);
	bool good = masses != NULL && motions != NULL && sums != NULL;
	for (uint32_t i = 0; i < count && good; i++) {
		motions[i].centre = dynamics_centre(work->tables, self->rows[i]);
		motions[i].rotation = body->rotation[self->rows[i]];
	}
	if (good) {
		mass_bodies_from_tables(work->tables, self->rows, count, motions, masses);
		force_list_init(&list, work->tables, work->dynamics->shapes);
		force_list_push_joints(&list);
		struct force_bodies all = { self->rows, motions, count };
		force_list_all(&list, &all, 0, sums);
	}
	for (uint32_t i = 0; i < count && good; i++) {
		uint32_t row = self->rows[i];
		bool scaled = (body->flags[row] & BODY_SCALED) != 0;
		put_mass(&masses[i], &self->bodies[i]);
		self->loads[i].linear =
			vec3_mul_add(sums[i].force, sums[i].acceleration, body->mass[row]);
		self->loads[i].angular = sums[i].torque;
		self->weights[i].linear = vec3_scale(
			gravity, body->mass[row] * (scaled ? body->gravity_scale[row] : 1));
	}
	for (uint32_t i = 0; i < self->problem.carried_count && good; i++) {
		uint32_t slot = self->carried[i].body;
		self->bodies[slot] = (struct statics_body){ .gyration = 0 };
		self->loads[slot] = self->weights[slot] = spatial_zero();
	}
	heap_free(masses);
	heap_free(motions);
	heap_free(sums);
	return good ? STATUS_OK : STATUS_NO_MEMORY;
}

/* ---- contacts -------------------------------------------------------------------------------- */

static uint32_t id_of(const struct support_work *work, uint32_t row)
{
	return work->tables->body.id[row];
}

static uint32_t ordinal_of(const struct tables *tables, uint32_t placement)
{
	uint32_t body = placement_body(tables, placement), count = 0;
	ASSERT(tables->placement.body[placement] != 0);
	for (uint32_t p = tables->body.first_placement[body]; p != placement + 1;
	     p = tables->placement.next[p - 1])
		count++;
	return count;
}

/* The scale of a pair: the least half-width of its pieces; a plane has none. */
static double pair_size(const struct shape *a, const struct shape *b)
{
	double size_a = a->extent_min > 0 ? a->extent_min : SCALAR_MAX;
	double size_b = b->extent_min > 0 ? b->extent_min : SCALAR_MAX;
	return scalar_min(size_a, size_b);
}

static double touch_of(const struct support_work *work, double size)
{
	double most = SUPPORT_TOUCH_MAX * size;
	return work->options.touch > 0 ? scalar_min(work->options.touch, most)
				       : SUPPORT_TOUCH * size;
}

static double friction_of(const struct dynamics *dynamics, uint32_t a, uint32_t b)
{
	struct contact_material material = contact_material(
		dynamics, (struct contact_piece){ a, 0 }, (struct contact_piece){ b, 0 });
	bool directed = vec3_length_squared(material.axis) > 0;
	return directed ? scalar_min(material.static_friction, material.axis_static)
			: material.static_friction;
}

static enum status put_point(struct support_work *work, const uint32_t placements[2],
			     const pose *at, vec3 normal, double friction,
			     const struct manifold_point *from)
{
	struct support_graph *self = work->self;
	const struct tables *tables = work->tables;
	if (self->points.count == STATICS_POINTS_MAX)
		return reason_set(work->why, STATUS_LIMIT, -1, "points",
				  "the bodies touch in more than %u points, which is the limit",
				  (unsigned)STATICS_POINTS_MAX);
	if (ARRAY_RESERVE(&self->points, self->points.count + 1u) != STATUS_OK ||
	    ARRAY_RESERVE(&self->places, self->places.count + 1u) != STATUS_OK)
		return STATUS_NO_MEMORY;
	uint32_t a = placement_body(tables, placements[0]),
		 b = placement_body(tables, placements[1]);
	vec3 point = pose_point(*at, from->point);
	self->points.items[self->points.count++] = (struct statics_point){
		.a = self->slots[a],
		.b = self->slots[b],
		.arm_a = vec3_sub(point, work->dynamics->bodies.items[a].centre),
		.arm_b = vec3_sub(point, work->dynamics->bodies.items[b].centre),
		.normal = normal,
		.friction = friction,
	};
	self->places.items[self->places.count++] =
		(struct support_place){ a,
					b,
					ordinal_of(tables, placements[0]),
					ordinal_of(tables, placements[1]),
					point,
					from->separation };
	return STATUS_OK;
}

static enum status refuse_shape(struct support_work *work, uint32_t placement)
{
	const struct shape *shape = placement_shape(work->dynamics, placement);
	return reason_set(work->why, STATUS_UNSUPPORTED, -1, "body",
			  "body %u has a shape of kind %s in contact: stability needs convex "
			  "shapes (box, sphere, capsule, hull, polygon, plane)",
			  id_of(work, placement_body(work->tables, placement)),
			  shape_kind_name(shape->kind));
}

/* The points of two placements. */
static enum status examine_pair(struct support_work *work, uint32_t a, uint32_t b)
{
	const struct tables *tables = work->tables;
	const struct shape *shape_a = placement_shape(work->dynamics, a);
	const struct shape *shape_b = placement_shape(work->dynamics, b);
	ASSERT(a < b);
	if (shape_is_divided(shape_a) || shape_is_divided(shape_b))
		return refuse_shape(work, shape_is_divided(shape_a) ? a : b);
	pose at_a =
		pose_mul(body_pose(tables, placement_body(tables, a)), placement_pose(tables, a));
	pose at_b =
		pose_mul(body_pose(tables, placement_body(tables, b)), placement_pose(tables, b));
	pose b_in_a = pose_relative(at_a, at_b);
	struct piece piece_a = { shape_a, 0 }, piece_b = { shape_b, 0 };
	struct pair_cache cache = { 0 };
	struct manifold found;
	struct contact_polygon polygon;
	double size = pair_size(shape_a, shape_b), touch = touch_of(work, size);
	collide_pieces(piece_a, piece_b, &b_in_a, touch, &cache, &found);
	contact_polygon_exact(piece_a, piece_b, &b_in_a, touch, &found, &polygon);
	vec3 normal = pose_vector(at_a, polygon.normal);
	double friction = friction_of(work->dynamics, a, b);
	enum status status = STATUS_OK;
	for (uint32_t k = 0; k < polygon.count && status == STATUS_OK; k++) {
		double depth = -polygon.points[k].separation;
		if (depth > SUPPORT_OVERLAP * size)
			return reason_set(
				work->why, STATUS_DEGENERATE, -1, "body",
				"bodies %u and %u overlap by %.4g m, at most %.4g m count "
				"as a contact: move them apart",
				id_of(work, placement_body(tables, a)),
				id_of(work, placement_body(tables, b)), depth,
				SUPPORT_OVERLAP * size);
		if (-depth <= touch)
			status = put_point(work, (uint32_t[2]){ a, b }, &at_a, normal, friction,
					   &polygon.points[k]);
	}
	return status;
}

/* Filter of the broad phase. */
static bool may_meet(uint32_t a, uint32_t b, const void *context)
{
	const struct support_work *work = context;
	const struct tables *tables = work->tables;
	uint32_t body_a = placement_body(tables, a), body_b = placement_body(tables, b);
	if (work->self->slots[body_a] == ROW_NO_BODY && work->self->slots[body_b] == ROW_NO_BODY)
		return false;
	struct pair_reach at_a = pair_reach_fat(work->dynamics, a);
	struct pair_reach at_b = pair_reach_fat(work->dynamics, b);
	return pair_may_meet(work->dynamics, &at_a, &at_b);
}

static void add_boxes(struct support_work *work, struct broad_phase *boxes)
{
	const struct tables *tables = work->tables;
	for (uint32_t p = 0; p < tables->placement.count; p++) {
		if (tables->placement.body[p] == 0 || !tables->placement.active[p])
			continue;
		uint32_t body = placement_body(tables, p);
		const struct shape *shape = placement_shape(work->dynamics, p);
		pose at = pose_mul(body_pose(tables, body), placement_pose(tables, p));
		/* Half of what may touch on each side; the larger piece's half is at least the
		 * pair's. */
		double size = shape->extent_min > 0 ? shape->extent_min : 0;
		struct aabb box = aabb_grow(shape_aabb(shape, &at), touch_of(work, size));
		broad_phase_add(boxes, p, &box,
				work->self->slots[body] == ROW_NO_BODY ? PROXY_STATIC : 0);
	}
}

static enum status find_points(struct support_work *work)
{
	struct broad_phase *boxes;
	struct proxy_pairs pairs = { 0 };
	enum status status = broad_phase_create(BROAD_PHASE_TREE, &boxes);
	if (status != STATUS_OK)
		return status;
	status = broad_phase_reserve(boxes, work->tables->placement.count);
	if (status == STATUS_OK) {
		add_boxes(work, boxes);
		status = broad_phase_pairs(boxes, &parallel_serial, may_meet, work,
					   STATICS_POINTS_MAX, &pairs);
	}
	if (status == STATUS_LIMIT)
		reason_set(work->why, status, -1, "pairs",
			   "more than %u pairs of bodies are near, which is the limit",
			   (unsigned)STATICS_POINTS_MAX);
	for (uint32_t i = 0; i < pairs.count && status == STATUS_OK; i++)
		status = examine_pair(work, proxy_pair_a(pairs.items[i]),
				      proxy_pair_b(pairs.items[i]));
	broad_phase_destroy(boxes);
	ARRAY_RELEASE(&pairs);
	return status;
}

/* ---- joints ---------------------------------------------------------------------------------- */

/* m or rad: a limit this near is reached. */
#define LIMIT_REACHED 1e-4

/* What exerts `on` on b, about its mass centre, as seen from its anchor. */
static struct support_joint_row seen_from_anchor(const struct support_graph *self, uint32_t loaded,
						 const struct joint *joint, struct spatial on)
{
	vec3 arm = vec3_sub(self->loaded.items[loaded].anchor, joint->b.centre);
	return (struct support_joint_row){ .joint = loaded,
					   .row = self->joints.count,
					   .force = on.linear,
					   .torque = vec3_sub(on.angular,
							      vec3_cross(arm, on.linear)) };
}

/* What a row exerts on b about its anchor, by its part on b, which lists of joints always have. */
static struct support_joint_row on_anchor(const struct support_graph *self,
					  const struct joint_standing *joint,
					  const struct constraint_row *row)
{
	struct spatial on = spatial_zero();
	for (uint32_t k = 0; k < row->j.count; k++)
		if (row->j.parts[k].slot == 1)
			on = row->j.parts[k].on;
	return seen_from_anchor(self, self->loaded.count - 1, &joint->joint, on);
}

static enum status put_row(struct support_work *work, const struct joint_standing *joint,
			   const struct constraint_row *row, double lower, double upper)
{
	struct support_graph *self = work->self;
	struct statics_row made = { .lower = lower, .upper = upper };
	const uint32_t *ends = joint->ends;
	ASSERT(row->j.count <= COUNT_OF(made.parts));
	ASSERT(lower <= upper);
	for (uint32_t k = 0; k < row->j.count; k++) {
		uint32_t end = ends[row->j.parts[k].slot];
		uint32_t slot = end == DYNAMICS_NONE ? ROW_NO_BODY : self->slots[end];
		if (slot != ROW_NO_BODY)
			made.parts[made.count++] = (struct row_part){ slot, row->j.parts[k].on };
	}
	if (made.count == 0)
		return STATUS_OK;
	if (ARRAY_RESERVE(&self->joints, self->joints.count + 1u) != STATUS_OK ||
	    ARRAY_RESERVE(&self->joint_rows, self->joint_rows.count + 1u) != STATUS_OK)
		return STATUS_NO_MEMORY;
	self->joint_rows.items[self->joint_rows.count++] = on_anchor(self, joint, row);
	self->joints.items[self->joints.count++] = made;
	return STATUS_OK;
}

/* The force of a spring at its present length. */
static void load_spring(struct support_work *work, const struct joint_standing *joint,
			const struct constraint_row *row)
{
	struct support_graph *self = work->self;
	const uint32_t *ends = joint->ends;
	double stiffness = row->stiffness, respond = 0;
	ASSERT(row->softness != ROW_RIGID);
	for (uint32_t k = 0; k < row->j.count && row->softness == ROW_FREQUENCY; k++) {
		uint32_t end = ends[row->j.parts[k].slot];
		if (end == DYNAMICS_NONE || self->slots[end] == ROW_NO_BODY)
			continue;
		const double(*inv)[6] = self->bodies[self->slots[end]].mass_inv;
		struct spatial on = row->j.parts[k].on;
		double j[6] = { on.linear.x,  on.linear.y,  on.linear.z,
				on.angular.x, on.angular.y, on.angular.z };
		for (uint32_t i = 0; i < 6; i++)
			for (uint32_t m = 0; m < 6; m++)
				respond += j[i] * inv[i][m] * j[m];
	}
	if (row->softness == ROW_FREQUENCY)
		stiffness = respond > 0 ? scalar_square(TWO_PI * row->stiffness) / respond : 0;
	double force = -stiffness * row->gap + row->damping * row->wanted;
	if (row->set == ROW_BOX)
		force = scalar_clamp(force, row->lower, row->upper);
	struct support_joint_row on = on_anchor(self, joint, row);
	struct support_joint *loaded = &self->loaded.items[on.joint];
	loaded->force = vec3_mul_add(loaded->force, on.force, force);
	loaded->torque = vec3_mul_add(loaded->torque, on.torque, force);
	for (uint32_t k = 0; k < row->j.count; k++) {
		uint32_t end = ends[row->j.parts[k].slot];
		if (end == DYNAMICS_NONE || self->slots[end] == ROW_NO_BODY)
			continue;
		struct spatial *load = &self->loads[self->slots[end]];
		*load = spatial_mul_add(*load, row->j.parts[k].on, force);
	}
}

static bool end_moves(const struct support_work *work, uint32_t end)
{
	return end != DYNAMICS_NONE && work->self->slots[end] != ROW_NO_BODY;
}

/* The joint with what its force motors exert: those of axes 0 to 2 act at b's anchor. */
static struct support_joint given_of(const struct support_work *work, uint32_t row,
				     const struct joint *joint)
{
	struct support_joint out = { .row = row, .anchor = joint_anchor_b(joint, &joint->b) };
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		struct spatial on[2];
		if (work->tables->joint.motor[row][axis] != JOINT_MOTOR_FORCE)
			continue;
		double force = joint_axis_force(joint, axis);
		joint_axis_jacobian(joint, axis, &joint->a, &joint->b, on);
		out.force = vec3_mul_add(out.force, on[1].linear, force);
		if (axis >= 3)
			out.torque = vec3_mul_add(out.torque, on[1].angular, force);
	}
	return out;
}

static enum status put_joint(struct support_work *work, uint32_t joint_row)
{
	struct joint_standing joint;
	struct support_graph *self = work->self;
	enum status status = STATUS_OK;
	joint_standing_rows(work->dynamics, joint_row, &joint);
	if (!end_moves(work, joint.ends[0]) && !end_moves(work, joint.ends[1]))
		return STATUS_OK;
	if (ARRAY_RESERVE(&self->loaded, self->loaded.count + 1u) != STATUS_OK)
		return STATUS_NO_MEMORY;
	self->loaded.items[self->loaded.count++] = given_of(work, joint_row, &joint.joint);
	for (uint32_t i = 0; i < joint.count && status == STATUS_OK; i++) {
		const struct constraint_row *row = &joint.rows[i];
		if (row->softness != ROW_RIGID)
			load_spring(work, &joint, row);
		else if (row->wanted != 0)
			status = reason_set(work->why, STATUS_UNSUPPORTED, -1, "joint",
					    "joint %u has a motor of speed %.4g: stability needs "
					    "bodies at rest, set its target to 0",
					    work->tables->joint.id[joint_row], row->wanted);
		else if (row->set == ROW_FREE)
			status = put_row(work, &joint, row, -__builtin_inf(), __builtin_inf());
		else if (row->set == ROW_BOX)
			status = put_row(work, &joint, row, row->lower, row->upper);
		else if (row->set == ROW_POSITIVE && row->gap <= LIMIT_REACHED)
			status = put_row(work, &joint, row, 0, __builtin_inf());
	}
	return status;
}

static enum status find_joints(struct support_work *work)
{
	const struct bitset *joints = &work->dynamics->joint_used;
	enum status status = STATUS_OK;
	for (uint32_t row = bitset_next(joints, 0); row != BITSET_NONE && status == STATUS_OK;
	     row = bitset_next(joints, row + 1))
		if (joint_may_act(work->tables, row))
			status = put_joint(work, row);
	return status;
}

/* ---- gears ----------------------------------------------------------------------------------- */

/* Adds what a row exerts on a body, DYNAMICS_NONE: the world; both joints of a gear may have it. */
static void add_part(const struct support_work *work, uint32_t body, struct spatial on,
		     struct statics_row *to)
{
	uint32_t at = 0;
	if (!end_moves(work, body))
		return;
	uint32_t slot = work->self->slots[body];
	while (at < to->count && to->parts[at].slot != slot)
		at++;
	ASSERT(at < COUNT_OF(to->parts));
	if (at == to->count)
		to->parts[to->count++] = (struct row_part){ slot, spatial_zero() };
	to->parts[at].on = spatial_mul_add(to->parts[at].on, on, 1);
}

/* The index of a joint in `loaded`, which is sorted by rows; ROW_NO_BODY: none of its bodies moves. */
static uint32_t find_loaded(const struct support_graph *self, uint32_t row)
{
	uint32_t low = 0, high = self->loaded.count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (self->loaded.items[middle].row < row)
			low = middle + 1;
		else
			high = middle;
	}
	return low < self->loaded.count && self->loaded.items[low].row == row ? low : ROW_NO_BODY;
}

/* The row of the gear by which an axis follows another. */
static enum status put_gear(struct support_work *work, uint32_t joint_row, uint32_t axis)
{
	struct support_graph *self = work->self;
	struct statics_row made = { .lower = -__builtin_inf(), .upper = __builtin_inf() };
	struct gear gear;
	struct gear_row row;
	gear_row_from_tables(work->dynamics, joint_row, axis, &gear, &row);
	for (uint32_t k = 0; k < 2 * GEAR_ENDS; k++)
		add_part(work, joint_body(work->tables, gear.joints[k / 2].row, k % 2),
			 row.on[k / 2][k % 2], &made);
	if (made.count == 0)
		return STATUS_OK;
	if (ARRAY_RESERVE(&self->joints, self->joints.count + 1u) != STATUS_OK ||
	    ARRAY_RESERVE(&self->joint_rows, self->joint_rows.count + GEAR_ENDS) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (uint32_t end = 0; end < GEAR_ENDS; end++) {
		const struct joint *joint = &gear.joints[end];
		uint32_t loaded = find_loaded(self, joint->row);
		if (loaded != ROW_NO_BODY)
			self->joint_rows.items[self->joint_rows.count++] =
				seen_from_anchor(self, loaded, joint, row.on[end][1]);
	}
	self->joints.items[self->joints.count++] = made;
	return STATUS_OK;
}

static enum status find_gears(struct support_work *work)
{
	const struct bitset *geared = &work->dynamics->joint_geared;
	const struct joint_table *joint = &work->tables->joint;
	enum status status = STATUS_OK;
	for (uint32_t row = bitset_next(geared, 0); row != BITSET_NONE;
	     row = bitset_next(geared, row + 1))
		for (uint32_t axis = 0; axis < JOINT_AXES && status == STATUS_OK; axis++)
			if (joint->leader[row][axis] != 0 && joint_may_act(work->tables, row) &&
			    joint_may_act(work->tables, joint->leader[row][axis] - 1))
				status = put_gear(work, row, axis);
	return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

enum status support_make(struct support_graph *self, const struct dynamics *dynamics,
			 const struct support_options *options, struct reason *why)
{
	struct support_work work = { self, dynamics, dynamics->tables, *options, why };
	*self = (struct support_graph){ 0 };
	enum status status = number_bodies(&work);
	if (status == STATUS_OK)
		status = number_carried(&work);
	if (status == STATUS_OK)
		status = load_bodies(&work);
	if (status == STATUS_OK)
		status = find_points(&work);
	if (status == STATUS_OK)
		status = find_joints(&work);
	if (status == STATUS_OK)
		status = find_gears(&work);
	self->problem.bodies = self->bodies;
	self->problem.carried = self->carried;
	self->problem.points = self->points.items;
	self->problem.point_count = self->points.count;
	self->problem.rows = self->joints.items;
	self->problem.row_count = self->joints.count;
	self->problem.planar = dynamics->tables->world.planar[0] != 0;
	self->problem.sides = self->problem.planar ? 2 : options->sides;
	if (status == STATUS_NO_MEMORY)
		reason_set(why, status, -1, "memory", "out of memory");
	ASSERT(self->points.count == self->places.count);
	return status;
}

void support_release(struct support_graph *self)
{
	heap_free(self->bodies);
	heap_free(self->carried);
	heap_free(self->rows);
	heap_free(self->slots);
	heap_free(self->loads);
	ARRAY_RELEASE(&self->points);
	ARRAY_RELEASE(&self->places);
	ARRAY_RELEASE(&self->joints);
	ARRAY_RELEASE(&self->joint_rows);
	ARRAY_RELEASE(&self->loaded);
	*self = (struct support_graph){ 0 };
}
