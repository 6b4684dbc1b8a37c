/* plates.c: see plates.h. */
#include "server/engine/statics/plates.h"

#include "server/base/heap.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/force.h"
#include "server/engine/math/scalar.h"

/* 1, of a plate's size: corners this near to its lowest or highest one are level with it. */
#define LEVEL 1e-6

static enum status refuse_body(const struct dynamics *dynamics, uint32_t row, const char *what,
			       struct reason *why)
{
	return reason_set(why, STATUS_UNSUPPORTED, -1, "lowest",
			  "body %u %s: the lowest state is found of bodies of one polygon each, "
			  "with a level bottom and top",
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

static enum status make_plate(const struct dynamics *dynamics, uint32_t row,
			      struct lowest_plate *out, struct reason *why)
{
	const struct tables *tables = dynamics->tables;
	uint32_t placement = tables->body.first_placement[row] - 1;
	ASSERT(tables->body.first_placement[row] != 0);
	const struct shape *shape = placement_shape(dynamics, placement);
	if (tables->placement.next[placement] != 0 || shape->kind != SHAPE_POLYGON)
		return refuse_body(dynamics, row, "has another shape", why);
	const struct polygon *polygon = shape->polygon;
	pose at = pose_mul(body_pose(tables, row), placement_pose(tables, placement));
	vec3 corners[SHAPE_POLYGON_VERTICES_MAX];
	out->bottom = __builtin_inf();
	out->top = -__builtin_inf();
	for (uint32_t i = 0; i < polygon->count; i++) {
		corners[i] = pose_point(at, polygon->vertices[i]);
		out->bottom = scalar_min(out->bottom, corners[i].y);
		out->top = scalar_max(out->top, corners[i].y);
	}
	double size = out->top - out->bottom;
	if (!level_ends(corners, polygon->count, out->bottom, size, out->under) ||
	    !level_ends(corners, polygon->count, out->top, size, out->above))
		return refuse_body(dynamics, row, "does not lie flat", why);
	out->bottom -= polygon->radius;
	out->top += polygon->radius;
	out->x = dynamics_centre(tables, row).x;
	out->fixed = tables->body.status[row] != BODY_DYNAMIC;
	bool scaled = (tables->body.flags[row] & BODY_SCALED) != 0;
	out->weight = tables->body.mass[row] * (scaled ? tables->body.gravity_scale[row] : 1) *
		      -force_gravity(tables).y;
	return STATUS_OK;
}

static enum status check_world(const struct dynamics *dynamics, struct reason *why)
{
	vec3 gravity = force_gravity(dynamics->tables);
	if (dynamics->tables->world.planar[0] == 0)
		return reason_set(why, STATUS_UNSUPPORTED, -1, "lowest",
				  "the world is not planar: the lowest state is found of plates in "
				  "the plane");
	if (!(gravity.y < 0) || scalar_abs(gravity.x) > LEVEL * -gravity.y)
		return reason_set(why, STATUS_UNSUPPORTED, -1, "lowest",
				  "gravity is [%.4g, %.4g]: for a lowest state it must go along -y",
				  gravity.x, gravity.y);
	if (dynamics->joint_used.count > 0 || dynamics->carrier_used.count > 0)
		return reason_set(why, STATUS_UNSUPPORTED, -1, "lowest",
				  "the world has %u joints and %u carried bodies: the lowest state "
				  "is found without any",
				  dynamics->joint_used.count, dynamics->carrier_used.count);
	return STATUS_OK;
}

enum status plates_make(struct plates *self, const struct dynamics *dynamics, struct reason *why)
{
	const struct tables *tables = dynamics->tables;
	*self = (struct plates){ .count = 0 };
	enum status status = check_world(dynamics, why);
	if (status != STATUS_OK)
		return status;
	self->items = heap_alloc(LOWEST_PLATES_MAX * sizeof *self->items);
	self->motions = heap_alloc(LOWEST_PLATES_MAX * sizeof *self->motions);
	self->rows = heap_alloc(LOWEST_PLATES_MAX * sizeof *self->rows);
	if (self->items == NULL || self->motions == NULL || self->rows == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t row = 0; row < tables->body.count && status == STATUS_OK; row++) {
		if (!body_is_solid(tables, row) || tables->body.first_placement[row] == 0)
			continue;
		if (self->count == LOWEST_PLATES_MAX)
			return reason_set(why, STATUS_LIMIT, -1, "lowest",
					  "the world has more than %u bodies, of which the lowest "
					  "state is found",
					  (unsigned)LOWEST_PLATES_MAX);
		self->rows[self->count] = row;
		status = make_plate(dynamics, row, &self->items[self->count++], why);
	}
	return status;
}

enum status plates_lower(struct plates *self, const struct dynamics *dynamics,
			 struct lowest_outcome *out, struct reason *why)
{
	uint32_t pair[2] = { 0, 0 };
	enum status status = lowest_find(self->items, self->count, self->motions, out, pair);
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
	*self = (struct plates){ .count = 0 };
}
