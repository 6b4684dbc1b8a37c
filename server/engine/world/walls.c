/* walls.c: BOUNDS_WALLS: the walls of the world's box, as shapes with which bodies collide from inside.
 *
 * The walls are shapes of one hidden static body, BODY_WALLS, so every method handles them as ordinary
 * contacts and needs no code for them. A spatial world has six planes. Their shapes have offset 0 and
 * fixed normals and are placed at the bounds, so all worlds use the same six shapes. In a planar world
 * polygons collide only with polygons, so its walls are four rectangles of 2·10⁵ m by 10⁵ m with their
 * inner side on the bounds. Their length is finite: planar walls may be at most WALL_SPAN_MAX apart.
 *
 * Body and shapes are in the tables, because contacts refer to them. They are not counted by the
 * limits, not covered by the tick hash, and in no list of bodies. Their ids are IDS_END and above, and
 * their names are not SHA-256 hashes.
 */
#include "server/base/bytes.h"
#include "server/engine/world/walls.h"

#include <string.h>

/* Inward normals. */
static const vec3 normals[WALLS_MAX] = { { 1, 0, 0 },  { -1, 0, 0 }, { 0, 1, 0 },
					 { 0, -1, 0 }, { 0, 0, 1 },  { 0, 0, -1 } };

uint32_t walls_count(bool planar)
{
	return planar ? 4 : 6;
}

/* The name is text and not a hash, so no uploaded shape can have it. */
static void wall_name(uint32_t wall, bool planar, uint8_t name[SHAPE_NAME_BYTES])
{
	ASSERT(wall < WALLS_MAX);
	memset(name, 0, SHAPE_NAME_BYTES);
	memcpy(name, "cairn wall", 10);
	name[16] = (uint8_t)(wall + 1);
	name[17] = planar;
}

static void write_plane(struct writer *writer, vec3 normal)
{
	write_u8(writer, SHAPE_PLANE);
	write_u8(writer, 1);
	write_f64(writer, normal.x);
	write_f64(writer, normal.y);
	write_f64(writer, normal.z);
	write_f64(writer, 0);
}

/* A rectangle whose inner side is on the line through the origin with this inward normal. */
static void write_slab(struct writer *writer, vec3 normal)
{
	vec3 along = vec3_make(-normal.y, normal.x, 0);
	vec3 near = vec3_scale(along, SHAPE_LENGTH_MAX);
	vec3 depth = vec3_scale(normal, -SHAPE_LENGTH_MAX);
	vec3 corners[4] = { near, vec3_add(near, depth), vec3_sub(depth, near), vec3_negate(near) };
	write_u8(writer, SHAPE_POLYGON);
	write_u8(writer, 1);
	write_u32(writer, 4);
	write_f64(writer, 0);
	for (uint32_t i = 0; i < 4; i++) {
		write_f64(writer, corners[i].x);
		write_f64(writer, corners[i].y);
	}
}

enum status walls_cook(struct world *world)
{
	bool planar = world->tables.world.planar[0] != 0;
	for (uint32_t wall = 0; wall < walls_count(planar); wall++) {
		if (world->wall_shapes[wall] != NULL)
			continue;
		uint8_t bytes[128], name[SHAPE_NAME_BYTES];
		struct writer writer = writer_over(bytes, sizeof bytes);
		if (planar)
			write_slab(&writer, normals[wall]);
		else
			write_plane(&writer, normals[wall]);
		ASSERT(!writer.failed && writer.count <= sizeof bytes);
		wall_name(wall, planar, name);
		struct shape *shape;
		struct reason why;
		enum status status = shape_cook(bytes, writer.count, name, &shape, &why);
		if (status != STATUS_OK)
			return status;
		world->wall_shapes[wall] = shape;
	}
	return STATUS_OK;
}

uint32_t walls_find_name(const struct world *world, const uint8_t name[SHAPE_NAME_BYTES])
{
	bool planar = world->tables.world.planar[0] != 0;
	for (uint32_t wall = 0; wall < walls_count(planar); wall++) {
		uint8_t own[SHAPE_NAME_BYTES];
		wall_name(wall, planar, own);
		if (memcmp(name, own, sizeof own) == 0)
			return wall;
	}
	return WALLS_MAX;
}

bool walls_fit_bounds(bool planar, vec3 minimum, vec3 maximum)
{
	vec3 span = vec3_sub(maximum, minimum);
	return !planar || (span.x <= WALL_SPAN_MAX && span.y <= WALL_SPAN_MAX);
}

/* A point of the wall's surface: its coordinate along the normal is that of the bounds, the others are
 * those of their centre, because a planar rectangle must be centred. */
static vec3 wall_position(const struct tables *tables, uint32_t wall)
{
	vec3 low = tables->world.bounds_min[0], high = tables->world.bounds_max[0];
	vec3 position = vec3_scale(vec3_add(low, high), 0.5);
	uint32_t axis = wall / 2;
	ASSERT(axis < 3);
	vec3_set(&position, axis, vec3_get(wall % 2 == 0 ? low : high, axis));
	if (tables->world.planar[0])
		position.z = 0;
	return position;
}

void walls_remove(struct world *world)
{
	uint32_t row = dynamics_find_body(&world->dynamics, BODY_WALLS);
	if (row == ROW_NONE)
		return;
	struct tables *tables = &world->tables;
	uint32_t shapes[WALLS_MAX], count = 0;
	for (uint32_t at = tables->body.first_placement[row]; at != 0;
	     at = tables->placement.next[at - 1])
		shapes[count++] = tables->placement.shape[at - 1];
	ASSERT(count == walls_count(tables->world.planar[0]));
	dynamics_body_removed(&world->dynamics, row);
	for (uint32_t i = 0; i < count; i++) {
		tables->shape.uses[shapes[i]]--;
		shapes_remove(world, shapes[i]);
	}
}

void walls_put(struct world *world)
{
	struct tables *tables = &world->tables;
	ASSERT(dynamics_find_body(&world->dynamics, BODY_WALLS) == ROW_NONE);
	uint32_t row = dynamics_body_take(&world->dynamics);
	struct body_table *body = &tables->body;
	body->id[row] = BODY_WALLS;
	body->status[row] = BODY_STATIC;
	body->rotation[row] = quat_identity();
	body->static_friction[row] = body->dynamic_friction[row] = WALL_FRICTION;
	body->friction_rule[row] = COMBINE_GEOMETRIC;
	body->restitution_rule[row] = COMBINE_MAXIMUM;
	body->category[row] = body->mask[row] = UINT32_MAX;
	uint32_t *link = &body->first_placement[row];
	for (uint32_t wall = 0; wall < walls_count(tables->world.planar[0]); wall++) {
		ASSERT(world->wall_shapes[wall] != NULL);
		uint32_t at = dynamics_placement_take(&world->dynamics);
		uint32_t shape = shapes_add(world, SHAPE_WALLS + wall, world->wall_shapes[wall]);
		tables->shape.uses[shape] = 1;
		tables->placement.body[at] = row + 1;
		tables->placement.shape[at] = shape;
		tables->placement.position[at] = wall_position(tables, wall);
		tables->placement.rotation[at] = quat_identity();
		*link = at + 1;
		link = &tables->placement.next[at];
	}
	dynamics_body_added(&world->dynamics, row);
}
