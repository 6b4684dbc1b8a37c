/* distance_field_sides.c: slopes, and the directions that parts of a surface can face.
 *
 * A triangle faces along its normal; a convex edge along any direction between the normals of its
 * two triangles; a vertex along any that the normals of its triangles span. A side contains a
 * feature when one of these directions is within REACH of its own: half the greatest angle between
 * neighbouring directions, plus a margin for the field's rounding. So the box of a side may be too
 * large, which costs a row of contacts, and is never too small.
 */
#include "server/engine/geometry/distance_field_sides.h"

#include "server/engine/geometry/distance_field_cell.h"

/* Cosine of 42 degrees: half the 54.7 between a face and a corner direction, and 15 for rounding. */
#define REACH 0.743
/* A slope (1 over a plane) below this means an edge within a cell: beside an edge of a box central
 * differences give 0.71, beside a corner 0.87. */
#define FLAT 0.96
#define LEVEL 0.01 /* a slope below this is no direction */

enum { FAN_MAX = 16 };

static vec3 side_direction(uint32_t number)
{
	vec3 d = vec3_make((double)(number % 3) - 1, (double)(number / 3 % 3) - 1,
			   (double)(number / 9) - 1);
	return vec3_normalize(d);
}

/* ---- building --------------------------------------------------------------------------------- */

/* Boxes of all 27 directions; number 13, the middle, is none. */
struct sides_build {
	const struct mesh *mesh;
	vec3 direction[27];
	struct aabb box[27];
};

static void grow_sides(struct sides_build *self, vec3 normal, const vec3 *points, uint32_t count)
{
	VALIDATE(count > 0);
	for (uint32_t k = 0; k < 27; k++) {
		if (k == 13 || vec3_dot(normal, self->direction[k]) < REACH)
			continue;
		for (uint32_t i = 0; i < count; i++)
			self->box[k] = aabb_add_point(self->box[k], points[i]);
	}
}

static void grow_sides_by_edge(struct sides_build *self, uint32_t triangle, uint32_t edge,
			       vec3 normal)
{
	VALIDATE(edge < 3);
	uint32_t other = self->mesh->adjacent[triangle][edge];
	const vec3 ends[2] = { mesh_corner(self->mesh, triangle, edge),
			       mesh_corner(self->mesh, triangle, (edge + 1) % 3) };
	if (other == UINT32_MAX || other < triangle ||
	    (self->mesh->edge_flags[triangle] >> edge & 1) == 0)
		return;
	vec3 across = mesh_normal(self->mesh, other);
	for (uint32_t i = 1; i < 4; i++)
		grow_sides(self, vec3_normalize(vec3_lerp(normal, across, 0.25 * i)), ends, 2);
}

/* Normals of the triangles around a corner, at most FAN_MAX. Returns the count. */
static uint32_t fan_normals(const struct mesh *mesh, uint32_t triangle, uint32_t corner,
			    vec3 *normals)
{
	vec3 place = mesh_corner(mesh, triangle, corner);
	uint32_t t = triangle, k = corner, count = 0;
	do {
		normals[count++] = mesh_normal(mesh, t);
		t = mesh->adjacent[t][(k + 2) % 3];
		for (k = 0; t != UINT32_MAX && k < 2 && !vec3_equal(mesh_corner(mesh, t, k), place);
		     k++)
			;
	} while (t != triangle && t != UINT32_MAX && count < FAN_MAX);
	ASSERT(count <= FAN_MAX);
	return count;
}

static void grow_sides_by_corner(struct sides_build *self, uint32_t triangle, uint32_t corner)
{
	vec3 normals[FAN_MAX], sum = vec3_zero(), place = mesh_corner(self->mesh, triangle, corner);
	uint32_t count = fan_normals(self->mesh, triangle, corner, normals);
	for (uint32_t i = 0; i < count; i++) {
		sum = vec3_add(sum, normals[i]);
		for (uint32_t k = 0; k < i; k++)
			grow_sides(self, vec3_normalize(vec3_add(normals[i], normals[k])), &place,
				   1);
	}
	grow_sides(self, vec3_normalize(sum), &place, 1);
}

enum status field_sides_init(struct field_sides *self, const struct mesh *mesh)
{
	struct sides_build growing = { .mesh = mesh };
	*self = (struct field_sides){ 0 };
	enum status status = distance_field_probe_init(&self->probe, mesh);
	if (status != STATUS_OK)
		return status;
	for (uint32_t k = 0; k < 27; k++) {
		growing.direction[k] = side_direction(k);
		growing.box[k] = aabb_empty();
	}
	for (uint32_t t = 0; t < mesh->triangle_count; t++) {
		vec3 normal = mesh_normal(mesh, t);
		const vec3 corners[3] = { mesh_corner(mesh, t, 0), mesh_corner(mesh, t, 1),
					  mesh_corner(mesh, t, 2) };
		grow_sides(&growing, normal, corners, 3);
		for (uint32_t k = 0; k < 3; k++) {
			grow_sides_by_edge(&growing, t, k, normal);
			if ((self->probe.owns[t] >> k & 1) != 0)
				grow_sides_by_corner(&growing, t, k);
		}
	}
	for (uint32_t k = 0; k < 27; k++)
		if (growing.box[k].min.x <= growing.box[k].max.x) {
			self->direction[self->count] = growing.direction[k];
			self->box[self->count++] = growing.box[k];
		}
	ASSERT(self->count > 0 && self->count <= FIELD_SIDES);
	return STATUS_OK;
}

void field_sides_release(struct field_sides *self)
{
	distance_field_probe_release(&self->probe);
}

/* ---- queries ---------------------------------------------------------------------------------- */

uint32_t field_sides_of(const struct field_sides *self, vec3 normal)
{
	ASSERT(self->count > 0);
	uint32_t best = 0;
	double most = -2;
	for (uint32_t k = 0; k < self->count; k++) {
		double along = vec3_dot(normal, self->direction[k]);
		best = along > most ? k : best;
		most = scalar_max(along, most);
	}
	return best;
}

bool distance_field_sample(const struct distance_field *self, vec3 p, double reach,
			   struct field_sample *out)
{
	double far = vec3_distance(p, vec3_min(vec3_max(p, self->solid.min), self->solid.max)),
	       length;
	if (!(far <= reach))
		return false;
	vec3 cells = vec3_scale(vec3_sub(p, self->origin), 1 / self->cell), in = cells;
	for (uint32_t axis = 0; axis < 3; axis++)
		vec3_set(&in, axis, scalar_clamp(vec3_get(cells, axis), 0, self->cells[axis]));
	distance_field_cell(self, in, &out->value);
	vec3 slope = distance_field_slope(self, in);
	if (!vec3_equal(in, cells)) {
		vec3 on = vec3_scale(vec3_sub(cells, in), self->cell);
		out->value = scalar_max(out->value + vec3_dot(slope, on), far);
	}
	out->normal = vec3_normalize_length(slope, &length);
	out->flat = length > FLAT;
	if (length > LEVEL)
		return true;
	/* On a medial axis: the direction away from the middle of the solid. */
	out->normal = vec3_normalize(vec3_sub(p, aabb_centre(self->solid)));
	if (vec3_length_squared(out->normal) == 0)
		out->normal = vec3_axis(1);
	return true;
}
