/* plates.c: see plates.h. */
#include "server/engine/statics/plates.h"

#include "server/base/heap.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/force.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/step_joints.h"
#include "server/engine/math/scalar.h"

/* 1, of a plate's size: corners this near to its lowest or highest one are level with it. */
#define LEVEL 1e-6

static enum status refuse_body(const struct dynamics *dynamics, uint32_t row, const char *what,
			       struct reason *why)
{
	return reason_set(why, STATUS_UNSUPPORTED, -1, "lowest",
			  "body %u %s: the lowest state is found of bodies of one polygon (in "
			  "space: one box or hull) each, with a level bottom and top",
			  dynamics->tables->body.id[row], what);
}

/* The interval of the corners that are level with `height`; false: there is at most one. */
static bool level_ends(const vec3 *corners, uint32_t count, double height, double size,
		       double ends[2])
{
	uint32_t level = 0;
	ASSERT(count <= SHAPE_POLYGON_VERTICES_MAX);
	ends[0] = __builtin_inf();
	ends[1] = -__builtin_inf();
	for (uint32_t i = 0; i < count; i++) {
		if (scalar_abs(corners[i].y - height) > LEVEL * size)
			continue;
		ends[0] = scalar_min(ends[0], corners[i].x);
		ends[1] = scalar_max(ends[1], corners[i].x);
		level++;
	}
	return level >= 2;
}

/* Whether r is on the left of the line from p to q: > 0. */
static double turn_of(const double *p, const double *q, const double *r)
{
	return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
}

/* Corners of a face from those of a body that are level with a height: their convex hull in plan (monotone
 * chain), counter-clockwise from x to z. Returns their number; 0: too many, or they span no area. */
static uint32_t hull_of_level(double (*level)[2], uint32_t count, double (*out)[2])
{
	uint32_t kept = 0;
	for (uint32_t i = 1; i < count; i++) /* by x, then z */
		for (uint32_t k = i;
		     k > 0 && (level[k][0] < level[k - 1][0] ||
			       (level[k][0] == level[k - 1][0] && level[k][1] < level[k - 1][1]));
		     k--)
			for (uint32_t c = 0; c < 2; c++) {
				double own = level[k][c];
				level[k][c] = level[k - 1][c];
				level[k - 1][c] = own;
			}
	for (uint32_t pass = 0; pass < 2; pass++) {
		uint32_t first = kept;
		for (uint32_t i = 0; i < count; i++) {
			const double *p = level[pass == 0 ? i : count - 1 - i];
			while (kept >= first + 2 && turn_of(out[kept - 2], out[kept - 1], p) <= 0)
				kept--;
			out[kept][0] = p[0];
			out[kept++][1] = p[1];
		}
		kept--; /* the last corner begins the other chain */
	}
	return kept >= 3 ? kept : 0;
}

/* The face of a hull's corners that are level with `height`, into the corners of `self`. */
static bool put_face(struct plates *self, const vec3 *corners, uint32_t count, double height,
		     double size, struct lowest_face *out, double ends[2])
{
	double level[LOWEST_CORNERS_MAX][2];
	uint32_t found = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (scalar_abs(corners[i].y - height) > LEVEL * size)
			continue;
		if (found == LOWEST_CORNERS_MAX)
			return false;
		level[found][0] = corners[i].x;
		level[found++][1] = corners[i].z;
	}
	double(*to)[2] = self->corners + self->corner_count;
	out->corners = (const double(*)[2])to;
	out->count = found >= 3 ? hull_of_level(level, found, to) : 0;
	self->corner_count += out->count;
	ends[0] = __builtin_inf();
	ends[1] = -__builtin_inf();
	for (uint32_t i = 0; i < out->count; i++) {
		ends[0] = scalar_min(ends[0], to[i][0]);
		ends[1] = scalar_max(ends[1], to[i][0]);
	}
	return out->count > 0;
}

/* Bottom and top of corners, and what is level there. */
static bool level_plate(struct plates *self, const vec3 *corners, uint32_t count,
			struct lowest_plate *out)
{
	out->bottom = __builtin_inf();
	out->top = -__builtin_inf();
	for (uint32_t i = 0; i < count; i++) {
		out->bottom = scalar_min(out->bottom, corners[i].y);
		out->top = scalar_max(out->top, corners[i].y);
	}
	double size = out->top - out->bottom;
	if (!self->space)
		return level_ends(corners, count, out->bottom, size, out->under) &&
		       level_ends(corners, count, out->top, size, out->above);
	return put_face(self, corners, count, out->bottom, size, &out->bottom_face, out->under) &&
	       put_face(self, corners, count, out->top, size, &out->top_face, out->above);
}

/* A ground plane, whose top is endless; false: it is not level. */
static bool plane_plate(const struct shape *shape, pose at, struct lowest_plate *out)
{
	vec3 normal = pose_vector(at, shape->plane.normal);
	if (!(normal.y > 1 - LEVEL * LEVEL))
		return false;
	out->top = pose_point(at, vec3_scale(shape->plane.normal, shape->plane.offset)).y;
	out->bottom = out->under[0] = out->above[0] = -__builtin_inf();
	out->under[1] = out->above[1] = __builtin_inf();
	return true;
}

static bool shape_is_plate(const struct plates *self, const struct shape *shape)
{
	if (!self->space)
		return shape->kind == SHAPE_POLYGON;
	return shape->kind == SHAPE_BOX || shape->kind == SHAPE_HULL;
}

static enum status make_plate(struct plates *self, const struct dynamics *dynamics, uint32_t row,
			      struct lowest_plate *out, struct reason *why)
{
	const struct tables *tables = dynamics->tables;
	uint32_t placement = tables->body.first_placement[row] - 1;
	ASSERT(tables->body.first_placement[row] != 0);
	const struct shape *shape = placement_shape(dynamics, placement);
	*out = (struct lowest_plate){ .fixed = tables->body.status[row] != BODY_DYNAMIC };
	bool plane = shape->kind == SHAPE_PLANE && out->fixed;
	if (tables->placement.next[placement] != 0 || !(plane || shape_is_plate(self, shape)))
		return refuse_body(dynamics, row, "has another shape", why);
	pose at = pose_mul(body_pose(tables, row), placement_pose(tables, placement));
	if (plane)
		return plane_plate(shape, at, out)
			       ? STATUS_OK
			       : refuse_body(dynamics, row, "is a plane aslant", why);
	uint32_t count = self->space ? shape->hull->vertex_count : shape->polygon->count;
	const vec3 *vertices = self->space ? shape->hull->vertices : shape->polygon->vertices;
	vec3 *corners = heap_alloc(count * sizeof *corners);
	if (corners == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		corners[i] = pose_point(at, vertices[i]);
	bool level = level_plate(self, corners, count, out);
	heap_free(corners);
	if (!level)
		return refuse_body(dynamics, row, "does not lie flat", why);
	double radius = self->space ? 0 : shape->polygon->radius;
	out->bottom -= radius;
	out->top += radius;
	out->x = dynamics_centre(tables, row).x;
	out->z = self->space ? dynamics_centre(tables, row).z : 0;
	bool scaled = (tables->body.flags[row] & BODY_SCALED) != 0;
	out->weight = tables->body.mass[row] * (scaled ? tables->body.gravity_scale[row] : 1) *
		      -force_gravity(tables).y;
	return STATUS_OK;
}

/* ---- joints ---------------------------------------------------------------------------------- */

static enum status refuse_joint(const struct dynamics *dynamics, uint32_t row, const char *what,
				struct reason *why)
{
	return reason_set(
		why, STATUS_UNSUPPORTED, -1, "lowest",
		"joint %u %s: the lowest state is found with spherical, revolute and fixed "
		"joints and slides along y or across it, without limits, springs, motors, "
		"friction and gears",
		dynamics->tables->joint.id[row], what);
}

/* The plate of an end of a joint; false: the body moves and is no plate. */
static bool end_of(const struct plates *self, const struct dynamics *dynamics, uint32_t body,
		   uint32_t *out)
{
	uint32_t low = 0, high = self->count;
	*out = LOWEST_WORLD;
	if (body == DYNAMICS_NONE || dynamics->tables->body.status[body] != BODY_DYNAMIC)
		return true;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (self->rows[middle] < body)
			low = middle + 1;
		else
			high = middle;
	}
	*out = low;
	return low < self->count && self->rows[low] == body;
}

/* Whether the free axes of the joint have nothing that resists. */
static bool is_bare(const struct joint *joint)
{
	bool bare = true;
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		struct joint_axis_kind kind = joint_axis_kind(joint->type, axis);
		const struct joint_axis *at = &joint->axes[axis];
		if (!kind.used || kind.mode != JOINT_FREE)
			continue;
		bare &= at->mode == JOINT_FREE && at->spring == JOINT_SPRING_NONE &&
			at->motor == JOINT_MOTOR_NONE && at->friction == 0;
	}
	return bare;
}

/* `turns`: it leaves a turn about `axis` free, if that is level; else no turn. */
static void put_slopes(struct plates *self, const struct lowest_tie *ends, vec3 axis, bool turns)
{
	double level = scalar_sqrt(scalar_square(axis.x) + scalar_square(axis.z));
	struct lowest_tie tie = *ends;
	tie.kind = LOWEST_LEVEL;
	/* A turn by (ω_x, ω_z) slopes by ω_z along x and by −ω_x along z. It is about the axis alone if
	 * ω_z axis.x − ω_x axis.z is 0: the slope along the axis. */
	if (turns && level > 1 - LEVEL) {
		tie.x = axis.x / level;
		tie.z = axis.z / level;
		self->ties[self->tie_count++] = tie;
		return;
	}
	for (uint32_t k = 0; k < 2; k++) {
		tie.x = k == 0;
		tie.z = k == 1;
		self->ties[self->tie_count++] = tie;
	}
}

static enum status make_tie(struct plates *self, const struct dynamics *dynamics, uint32_t row,
			    struct reason *why)
{
	struct joint joint;
	struct lowest_tie tie = { .kind = LOWEST_PINNED };
	uint32_t a = joint_body(dynamics->tables, row, 0), b = joint_body(dynamics->tables, row, 1);
	joint_from_tables(dynamics, row, 0, &joint);
	vec3 anchor = joint_anchor_b(&joint, &joint.b);
	vec3 axis = quat_rotate(quat_mul(joint.b.rotation, joint.frame_b), vec3_make(1, 0, 0));
	bool slides = joint.type == JOINT_PRISMATIC || joint.type == JOINT_CYLINDRICAL;
	bool turns = joint.type == JOINT_REVOLUTE || joint.type == JOINT_CYLINDRICAL;
	bool known = slides || turns || joint.type == JOINT_SPHERICAL || joint.type == JOINT_FIXED;
	if (!end_of(self, dynamics, a, &tie.a) || !end_of(self, dynamics, b, &tie.b))
		return refuse_joint(dynamics, row, "holds a body without a shape", why);
	if (!known || bitset_get(&dynamics->joint_geared, row) || !is_bare(&joint))
		return refuse_joint(dynamics, row, "is of another kind", why);
	bool upright = scalar_abs(axis.y) > 1 - LEVEL, level = scalar_abs(axis.y) < LEVEL;
	if (slides && !upright && !level)
		return refuse_joint(dynamics, row, "slides aslant", why);
	if (tie.a == LOWEST_WORLD && tie.b == LOWEST_WORLD)
		return STATUS_OK;
	tie.x = anchor.x;
	tie.z = self->space ? anchor.z : 0;
	if (!slides || level)
		self->ties[self->tie_count++] = tie;
	if (joint.type != JOINT_SPHERICAL)
		put_slopes(self, &tie, axis, turns);
	return STATUS_OK;
}

enum { TIES_MAX = 3 }; /* of a joint */

static enum status make_ties(struct plates *self, const struct dynamics *dynamics,
			     struct reason *why)
{
	const struct bitset *used = &dynamics->joint_used;
	enum status status = STATUS_OK;
	self->ties = heap_alloc((TIES_MAX * (size_t)used->count + 1u) * sizeof *self->ties);
	if (self->ties == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t row = bitset_next(used, 0); row != BITSET_NONE && status == STATUS_OK;
	     row = bitset_next(used, row + 1))
		if (joint_may_act(dynamics->tables, row))
			status = make_tie(self, dynamics, row, why);
	return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

static enum status check_world(const struct dynamics *dynamics, struct reason *why)
{
	vec3 gravity = force_gravity(dynamics->tables);
	if (!(gravity.y < 0) || scalar_abs(gravity.x) > LEVEL * -gravity.y ||
	    scalar_abs(gravity.z) > LEVEL * -gravity.y)
		return reason_set(why, STATUS_UNSUPPORTED, -1, "lowest",
				  "gravity is [%.4g, %.4g, %.4g]: for a lowest state it must go "
				  "along -y",
				  gravity.x, gravity.y, gravity.z);
	if (dynamics->carrier_used.count > 0)
		return reason_set(why, STATUS_UNSUPPORTED, -1, "lowest",
				  "points carry %u bodies: the lowest state is found without such",
				  dynamics->carrier_used.count);
	return STATUS_OK;
}

/* Counts the plates, and in space the corners that their faces may have. LIMIT. */
static enum status count_plates(const struct dynamics *dynamics, bool space, uint32_t *plates,
				size_t *corners, struct reason *why)
{
	const struct tables *tables = dynamics->tables;
	*plates = 0;
	*corners = 0;
	for (uint32_t row = 0; row < tables->body.count; row++) {
		if (!body_is_solid(tables, row) || tables->body.first_placement[row] == 0)
			continue;
		const struct shape *shape =
			placement_shape(dynamics, tables->body.first_placement[row] - 1);
		if (space && shape->hull != NULL)
			*corners +=
				2 * MIN_OF(shape->hull->vertex_count + 1u, LOWEST_CORNERS_MAX + 1u);
		++*plates;
	}
	if (*plates > lowest_plates_max(space))
		return reason_set(
			why, STATUS_LIMIT, -1, "lowest",
			"the world has %u bodies, the lowest state is found of at most %u", *plates,
			lowest_plates_max(space));
	return STATUS_OK;
}

enum status plates_make(struct plates *self, const struct dynamics *dynamics, struct reason *why)
{
	const struct tables *tables = dynamics->tables;
	uint32_t count;
	size_t corners;
	*self = (struct plates){ .space = tables->world.planar[0] == 0 };
	enum status status = check_world(dynamics, why);
	if (status == STATUS_OK)
		status = count_plates(dynamics, self->space, &count, &corners, why);
	if (status != STATUS_OK)
		return status;
	self->items = heap_alloc((count + 1u) * sizeof *self->items);
	self->motions = heap_alloc((count + 1u) * sizeof *self->motions);
	self->rows = heap_alloc((count + 1u) * sizeof *self->rows);
	self->corners = heap_alloc((corners + 1u) * sizeof *self->corners);
	if (self->items == NULL || self->motions == NULL || self->rows == NULL ||
	    self->corners == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t row = 0; row < tables->body.count && status == STATUS_OK; row++) {
		if (!body_is_solid(tables, row) || tables->body.first_placement[row] == 0)
			continue;
		self->rows[self->count] = row;
		status = make_plate(self, dynamics, row, &self->items[self->count++], why);
	}
	return status == STATUS_OK ? make_ties(self, dynamics, why) : status;
}

enum status plates_lower(struct plates *self, const struct dynamics *dynamics,
			 struct lowest_outcome *out, struct reason *why)
{
	uint32_t pair[2] = { 0, 0 };
	const struct lowest_problem problem = { self->items, self->ties, self->count,
						self->tie_count, self->space };
	enum status status = lowest_find(&problem, self->motions, out, pair);
	if (status == STATUS_LIMIT)
		return reason_set(why, status, -1, "lowest",
				  "bodies are above each other at more than %u corners",
				  (unsigned)LOWEST_ROWS_MAX);
	if (status == STATUS_DEGENERATE)
		return reason_set(why, status, -1, "lowest",
				  "bodies %u and %u overlap: move them apart",
				  dynamics->tables->body.id[self->rows[pair[0]]],
				  dynamics->tables->body.id[self->rows[pair[1]]]);
	if (status == STATUS_OK && !out->solved)
		return reason_set(why, STATUS_UNSUPPORTED, -1, "lowest",
				  "the programme of the lowest state was not solved: its residual "
				  "is %.3g",
				  out->residual);
	return status;
}

void plates_release(struct plates *self)
{
	heap_free(self->items);
	heap_free(self->motions);
	heap_free(self->rows);
	heap_free(self->corners);
	heap_free(self->ties);
	*self = (struct plates){ .count = 0 };
}
