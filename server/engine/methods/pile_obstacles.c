/* pile_obstacles.c: rows of a sphere against static shapes (papers P-04), convex or not.
 *
 * The faces of all shapes near the sphere are the border of free space, from which free_region.h makes
 * half-spaces: nearest point by nearest point, and what lies behind a half-space is cut away. Without the
 * cut a sphere would be stopped by the edge of each triangle that lies flat before it. Half-spaces and
 * static spheres are convex as they are and give a row each.
 *
 * Triangles of a mesh are solid from the side of their normals. A sphere whose centre is behind one
 * by more than its radius is on the other side and is not held there.
 */
#include "server/base/array.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/solid.h"
#include "server/engine/math/scalar.h"
#include "server/engine/methods/pile.h"

/* A sphere and what is near it. */
struct surroundings {
	const struct pile *pile;
	struct pile_room *room;
	uint32_t own; /* its placement */
	uint32_t slot;
	vec3 centre;
	double radius;
	double limit; /* m: nothing farther from the centre is met */
	enum status status;
};

bool pile_is_obstacle(const struct shape *shape)
{
	return shape->kind == SHAPE_SPHERE || shape->kind == SHAPE_PLANE ||
	       shape->kind == SHAPE_BOX || shape->kind == SHAPE_HULL || shape->kind == SHAPE_MESH ||
	       (shape->kind == SHAPE_SOLID && !shape_is_field(shape));
}

static pose pose_of(const struct surroundings *self, uint32_t placement)
{
	const struct tables *tables = self->pile->step->dynamics->tables;
	return pose_mul(body_pose(tables, placement_body(tables, placement)),
			placement_pose(tables, placement));
}

/* `distance`: of the centre from what the row stays off, negative inside. */
static void add_row(struct surroundings *self, struct pile_face face, vec3 normal, double distance)
{
	ASSERT(face.placement != self->own);
	if (!(distance < self->limit) || self->status != STATUS_OK)
		return;
	self->status = ARRAY_RESERVE(&self->room->rows, self->room->rows.count + 1);
	if (self->status != STATUS_OK)
		return;
	double gap = distance - self->radius;
	self->room->rows.items[self->room->rows.count++] = (struct pile_row){
		.a = self->slot,
		.b = PILE_STATIC,
		.normal = normal,
		.gap = gap,
		.point = vec3_mul_sub(self->centre, normal, self->radius + 0.5 * gap),
		.distance = gap,
		.key = pile_key_of(self->own, 0, face.placement, face.part),
	};
}

static void add_face(struct surroundings *self, struct pile_face face, const vec3 *corners,
		     uint32_t count)
{
	struct pile_room *room = self->room;
	ASSERT(count >= 3);
	if (self->status == STATUS_OK)
		self->status = free_region_add_polygon(&room->region, corners, count);
	if (self->status == STATUS_OK)
		self->status = ARRAY_RESERVE(&room->faces, room->faces.count + 1);
	if (self->status == STATUS_OK)
		room->faces.items[room->faces.count++] = face;
}

/* ---- shapes ------------------------------------------------------------------------------------ */

static void add_plane(struct surroundings *self, uint32_t placement, const struct shape *shape)
{
	pose at = pose_of(self, placement);
	vec3 normal = pose_vector(at, shape->plane.normal);
	double height = vec3_dot(normal, vec3_sub(self->centre, at.position));
	add_row(self, (struct pile_face){ placement, 0 }, normal, height - shape->plane.offset);
}

static void add_ball(struct surroundings *self, uint32_t placement, const struct shape *shape)
{
	double distance;
	vec3 from = vec3_sub(self->centre, pose_of(self, placement).position);
	vec3 normal = vec3_normalize_length(from, &distance);
	if (!(distance > 0))
		normal = vec3_axis(0);
	add_row(self, (struct pile_face){ placement, 0 }, normal, distance - shape->sphere.radius);
}

/* All faces of a hull that is near: those on its far side are cut away by the others. `first`: the number of
 * its first face. */
static void add_hull(struct surroundings *self, uint32_t placement, const struct hull *hull,
		     uint32_t first)
{
	pose at = pose_of(self, placement);
	vec3 centre = pose_inverse_point(at, self->centre);
	double height = -SCALAR_MAX;
	for (uint32_t f = 0; f < hull->face_count; f++)
		height = scalar_max(height, vec3_dot(hull->faces[f].normal, centre) -
						    hull->faces[f].offset);
	if (!(height < self->limit))
		return;
	for (uint32_t f = 0; f < hull->face_count && self->status == STATUS_OK; f++) {
		uint32_t edge = hull->faces[f].edge, count = hull->faces[f].edge_count;
		self->room->corners.count = 0;
		self->status = ARRAY_RESERVE(&self->room->corners, count);
		for (uint32_t k = 0; k < count && self->status == STATUS_OK; k++) {
			const struct half_edge *from = &hull->edges[edge];
			self->room->corners.items[k] = pose_point(at, hull->vertices[from->origin]);
			edge = from->next;
		}
		add_face(self, (struct pile_face){ placement, first + f },
			 self->room->corners.items, count);
	}
}

/* The faces between parts that touch lie behind others. */
static void add_parts(struct surroundings *self, uint32_t placement, const struct solid *solid)
{
	uint32_t first = 0;
	for (uint32_t k = 0; k < solid->part_count; k++) {
		add_hull(self, placement, solid->parts[k]->hull, first);
		first += solid->parts[k]->hull->face_count;
	}
}

static void add_mesh(struct surroundings *self, uint32_t placement, const struct mesh *mesh)
{
	pose at = pose_of(self, placement);
	struct mesh_walk walk;
	uint32_t triangle;
	ASSERT(self->limit > self->radius);
	vec3 centre = pose_inverse_point(at, self->centre);
	mesh_walk_init(&walk, mesh, aabb_of_centre(centre, vec3_all(self->limit)));
	while (mesh_walk_next(&walk, &triangle)) {
		vec3 corners[3];
		for (uint32_t k = 0; k < 3; k++)
			corners[k] = pose_point(at, mesh_corner(mesh, triangle, k));
		vec3 normal = pose_vector(at, mesh_normal(mesh, triangle));
		double height = vec3_dot(normal, vec3_sub(self->centre, corners[0]));
		struct triangle_point near =
			closest_point_triangle(self->centre, corners[0], corners[1], corners[2]);
		if (height > -self->radius && near.distance_squared < self->limit * self->limit)
			add_face(self, (struct pile_face){ placement, triangle }, corners, 3);
	}
}

static void add_shape(struct surroundings *self, uint32_t placement)
{
	const struct shape *shape = placement_shape(self->pile->step->dynamics, placement);
	ASSERT(pile_is_obstacle(shape));
	if (shape->kind == SHAPE_PLANE)
		add_plane(self, placement, shape);
	else if (shape->kind == SHAPE_SPHERE)
		add_ball(self, placement, shape);
	else if (shape->kind == SHAPE_MESH)
		add_mesh(self, placement, shape->mesh);
	else if (shape->kind == SHAPE_SOLID)
		add_parts(self, placement, shape->solid);
	else
		add_hull(self, placement, shape->hull, 0);
}

enum status pile_add_static(const struct pile *self, uint32_t slot, const uint32_t *placements,
			    uint32_t count)
{
	const struct pile_body *body = &self->bodies[slot];
	struct surroundings near = {
		.pile = self,
		.room = self->room,
		.own = body->placement,
		.slot = slot,
		.centre = body->centre,
		.radius = body->radius,
		.limit = body->radius + body->farthest,
		.status = STATUS_OK,
	};
	free_region_reset(&self->room->region);
	self->room->faces.count = 0;
	for (uint32_t i = 0; i < count; i++)
		add_shape(&near, placements[i]);
	if (near.status != STATUS_OK || self->room->faces.count == 0)
		return near.status;
	ASSERT(self->room->faces.count == self->room->region.face_count);
	const struct free_plane *planes;
	uint32_t found;
	bool keeps;
	near.status = free_region_find(&self->room->region, body->centre, body->radius, &planes,
				       &found, &keeps);
	for (uint32_t i = 0; i < found && near.status == STATUS_OK; i++)
		add_row(&near, self->room->faces.items[planes[i].face], planes[i].normal,
			vec3_dot(planes[i].normal, body->centre) - planes[i].offset + body->radius);
	return near.status;
}
