/* pile_obstacles.c: rows of a sphere against static shapes (papers P-04), convex or not.
 *
 * The surface of all shapes near the sphere is a set of convex polygons, at first triangles. The nearest
 * point q of any of them gives a row: with v the unit vector from q to the centre, (x − q)·v ≥ radius.
 * What of the surface lies behind it, (t − q)·v ≤ 0, cannot be met any more and is cut away, and the
 * next nearest point of the rest gives the next row, until nothing near is left. Without the cut a
 * sphere would be stopped by the edge of each triangle that lies flat before it.
 *
 * Half-spaces and spheres give their rows first. A centre inside a box or hull is pushed out through
 * the face that is nearest to it. Triangles of meshes are walls on both sides.
 *
 * Surfaces that are flat up to rounding must not leave slivers, whose edges would stop the sphere as
 * above. So the cut goes CUT × radius beyond the plane; so much of a surface may be overlapped.
 */
#include "server/base/array.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/hull.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/math/scalar.h"
#include "server/engine/methods/pile.h"

#define CUT 1e-10
#define SQRT_3 1.7320508075688772

/* A polygon that was cut so often is not cut further, which leaves rows that are not needed. */
enum { CORNERS_MAX = 24 };

struct wall_polygon {
	uint32_t placement, part, count;
	vec3 corners[CORNERS_MAX];
	vec3 nearest; /* to the centre */
	double distance;
};

struct walls {
	const struct pile *pile;
	uint32_t slot;
	vec3 centre;
	double radius;
	double limit; /* m: nothing farther from the centre is met */
	ARRAY_OF(struct wall_polygon) polygons;
	struct pile_row_list *rows;
	uint32_t first_row;
	enum status status;
};

bool pile_is_obstacle(const struct shape *shape)
{
	return shape->kind == SHAPE_SPHERE || shape->kind == SHAPE_PLANE ||
	       shape->kind == SHAPE_BOX || shape->kind == SHAPE_HULL || shape->kind == SHAPE_MESH;
}

static pose pose_of(const struct walls *self, uint32_t placement)
{
	const struct tables *tables = self->pile->step->dynamics->tables;
	return pose_mul(body_pose(tables, placement_body(tables, placement)),
			placement_pose(tables, placement));
}

/* `distance`: of the centre from the surface, negative inside. */
static void add_row(struct walls *self, uint32_t placement, uint32_t part, vec3 normal,
		    double distance)
{
	uint32_t own = self->pile->bodies[self->slot].placement;
	if (self->status == STATUS_OK)
		self->status = ARRAY_RESERVE(self->rows, self->rows->count + 1);
	if (self->status != STATUS_OK)
		return;
	self->rows->items[self->rows->count++] = (struct pile_row){
		.a = self->slot,
		.b = PILE_STATIC,
		.normal = normal,
		.gap = distance - self->radius,
		.key = { MIN_OF(own, placement), MAX_OF(own, placement), part },
	};
}

/* ---- polygons ---------------------------------------------------------------------------------- */

/* The nearest point, by the triangles from corner 0. */
static void find_nearest(const struct walls *self, struct wall_polygon *polygon)
{
	ASSERT(polygon->count >= 3);
	double least = LP_INFINITY;
	for (uint32_t i = 1; i + 1 < polygon->count; i++) {
		struct triangle_point at =
			closest_point_triangle(self->centre, polygon->corners[0],
					       polygon->corners[i], polygon->corners[i + 1]);
		if (at.distance_squared < least) {
			least = at.distance_squared;
			polygon->nearest = at.point;
		}
	}
	polygon->distance = scalar_sqrt(least);
}

/* Keeps the part of a polygon where height = along · t − offset > 0. */
static void cut_polygon(struct wall_polygon *polygon, vec3 along, double offset)
{
	vec3 kept[2 * CORNERS_MAX];
	uint32_t count = 0;
	for (uint32_t i = 0; i < polygon->count; i++) {
		vec3 here = polygon->corners[i];
		vec3 next = polygon->corners[(i + 1) % polygon->count];
		double from = vec3_dot(along, here) - offset, to = vec3_dot(along, next) - offset;
		if (from > 0)
			kept[count++] = here;
		if ((from > 0) != (to > 0))
			kept[count++] = vec3_lerp(here, next, from / (from - to));
	}
	if (count > CORNERS_MAX)
		return;
	for (uint32_t i = 0; i < count; i++)
		polygon->corners[i] = kept[i];
	polygon->count = count;
}

/* Drops what lies behind a row, and what is too far. */
static void cut_polygons(struct walls *self, vec3 normal, double offset)
{
	uint32_t left = 0;
	for (uint32_t i = 0; i < self->polygons.count; i++) {
		struct wall_polygon *polygon = &self->polygons.items[i];
		cut_polygon(polygon, normal, offset + CUT * self->radius);
		if (polygon->count < 3)
			continue;
		find_nearest(self, polygon);
		if (polygon->distance < self->limit)
			self->polygons.items[left++] = *polygon;
	}
	self->polygons.count = left;
}

static void add_triangle(struct walls *self, uint32_t placement, uint32_t part, vec3 a, vec3 b,
			 vec3 c)
{
	struct wall_polygon polygon = { .placement = placement,
					.part = part,
					.count = 3,
					.corners = { a, b, c } };
	find_nearest(self, &polygon);
	if (!(polygon.distance < self->limit))
		return;
	if (self->status == STATUS_OK)
		self->status = ARRAY_RESERVE(&self->polygons, self->polygons.count + 1);
	if (self->status == STATUS_OK)
		self->polygons.items[self->polygons.count++] = polygon;
}

/* ---- shapes ------------------------------------------------------------------------------------ */

static void add_plane(struct walls *self, uint32_t placement, const struct shape *shape)
{
	pose at = pose_of(self, placement);
	vec3 normal = pose_vector(at, shape->plane.normal);
	double distance = vec3_dot(normal, vec3_sub(self->centre, at.position)) -
			  shape->plane.offset;
	if (distance < self->limit)
		add_row(self, placement, 0, normal, distance);
}

static void add_ball(struct walls *self, uint32_t placement, const struct shape *shape)
{
	double distance;
	vec3 from = vec3_sub(self->centre, pose_of(self, placement).position);
	vec3 normal = vec3_normalize_length(from, &distance);
	if (!(distance > 0))
		normal = vec3_axis(0);
	if (distance - shape->sphere.radius < self->limit)
		add_row(self, placement, 0, normal, distance - shape->sphere.radius);
}

/* The faces as triangles; of a centre inside, the nearest face as a row. */
static void add_hull(struct walls *self, uint32_t placement, const struct hull *hull)
{
	pose at = pose_of(self, placement);
	vec3 centre = pose_inverse_point(at, self->centre);
	uint32_t best = 0, part = 0;
	double highest = -LP_INFINITY;
	for (uint32_t f = 0; f < hull->face_count; f++) {
		double height = vec3_dot(hull->faces[f].normal, centre) - hull->faces[f].offset;
		if (height > highest) {
			highest = height;
			best = f;
		}
	}
	if (highest < 0) {
		add_row(self, placement, best, pose_vector(at, hull->faces[best].normal), highest);
		return;
	}
	for (uint32_t f = 0; f < hull->face_count; f++) {
		const struct half_edge *edge = &hull->edges[hull->faces[f].edge];
		vec3 apex = pose_point(at, hull->vertices[edge->origin]);
		edge = &hull->edges[edge->next];
		for (uint32_t i = 2; i < hull->faces[f].edge_count; i++) {
			const struct half_edge *next = &hull->edges[edge->next];
			add_triangle(self, placement, hull->face_count + part++, apex,
				     pose_point(at, hull->vertices[edge->origin]),
				     pose_point(at, hull->vertices[next->origin]));
			edge = next;
		}
	}
}

static void add_mesh(struct walls *self, uint32_t placement, const struct mesh *mesh)
{
	pose at = pose_of(self, placement);
	struct mesh_walk walk;
	uint32_t triangle;
	vec3 centre = pose_inverse_point(at, self->centre);
	mesh_walk_init(&walk, mesh, aabb_of_centre(centre, vec3_all(self->limit)));
	while (mesh_walk_next(&walk, &triangle))
		add_triangle(self, placement, triangle,
			     pose_point(at, mesh_corner(mesh, triangle, 0)),
			     pose_point(at, mesh_corner(mesh, triangle, 1)),
			     pose_point(at, mesh_corner(mesh, triangle, 2)));
}

static void add_shape(struct walls *self, uint32_t placement)
{
	const struct shape *shape = placement_shape(self->pile->step->dynamics, placement);
	ASSERT(pile_is_obstacle(shape));
	if (shape->kind == SHAPE_PLANE)
		add_plane(self, placement, shape);
	else if (shape->kind == SHAPE_SPHERE)
		add_ball(self, placement, shape);
	else if (shape->kind == SHAPE_MESH)
		add_mesh(self, placement, shape->mesh);
	else
		add_hull(self, placement, shape->hull);
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* The nearest polygon; of equally near ones the first by placement and part. */
static const struct wall_polygon *nearest_polygon(const struct walls *self)
{
	const struct wall_polygon *best = &self->polygons.items[0];
	for (uint32_t i = 1; i < self->polygons.count; i++) {
		const struct wall_polygon *other = &self->polygons.items[i];
		bool first = other->placement < best->placement ||
			     (other->placement == best->placement && other->part < best->part);
		if (other->distance < best->distance ||
		    (other->distance == best->distance && first))
			best = other;
	}
	return best;
}

/* A centre on a surface is pushed off along its normal. */
static vec3 direction_from(const struct walls *self, const struct wall_polygon *polygon)
{
	double distance;
	vec3 v = vec3_normalize_length(vec3_sub(self->centre, polygon->nearest), &distance);
	if (distance > 0)
		return v;
	vec3 normal = vec3_normalize_length(
		vec3_cross(vec3_sub(polygon->corners[1], polygon->corners[0]),
			   vec3_sub(polygon->corners[2], polygon->corners[0])),
		&distance);
	return distance > 0 ? normal : vec3_axis(2);
}

static void add_polygon_rows(struct walls *self)
{
	while (self->polygons.count > 0 && self->status == STATUS_OK) {
		const struct wall_polygon *polygon = nearest_polygon(self);
		struct wall_polygon from = *polygon;
		vec3 v = direction_from(self, polygon);
		add_row(self, from.placement, from.part, v, from.distance);
		/* The polygon of q lies behind its row but for rounding. */
		self->polygons.items[polygon - self->polygons.items] =
			self->polygons.items[--self->polygons.count];
		cut_polygons(self, v, vec3_dot(v, from.nearest));
	}
}

enum status pile_add_static(const struct pile *self, uint32_t slot, const uint32_t *placements,
			    uint32_t count, struct pile_row_list *rows)
{
	const struct pile_body *body = &self->bodies[slot];
	struct walls walls = {
		.pile = self,
		.slot = slot,
		.centre = body->centre,
		.radius = body->radius,
		.limit = body->radius + SQRT_3 * body->reach,
		.rows = rows,
		.first_row = rows->count,
		.status = STATUS_OK,
	};
	for (uint32_t i = 0; i < count; i++)
		add_shape(&walls, placements[i]);
	for (uint32_t i = walls.first_row; i < rows->count && walls.status == STATUS_OK; i++) {
		const struct pile_row *row = &rows->items[i];
		/* The surface that the row stays off passes through centre − distance × normal. */
		double distance = row->gap + body->radius;
		cut_polygons(&walls, row->normal,
			     vec3_dot(row->normal, body->centre) - distance);
	}
	if (walls.status == STATUS_OK)
		add_polygon_rows(&walls);
	ARRAY_RELEASE(&walls.polygons);
	return walls.status;
}
