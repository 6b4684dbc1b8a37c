/* See surface_points.h. */
#include "server/engine/geometry/surface_points.h"

#include "server/engine/geometry/mesh.h"
#include "server/engine/geometry/rounded.h"
#include "server/engine/geometry/solid.h"
#include "server/engine/geometry/support.h"
#include "server/engine/math/trig.h"

#define TURN 6.283185307179586 /* rad */
enum { ELLIPSOID_STEPS = 32 }; /* of an octant, along each coordinate */

/* ---- which kind ------------------------------------------------------------------------------ */

/* The triangles of a mesh, a heightfield, or a solid with its mesh; NULL: it is another kind. */
static const struct mesh *mesh_of(const struct shape *shape)
{
	if (shape_is_surface(shape))
		return shape->mesh;
	return shape->kind == SHAPE_SOLID ? shape->solid->mesh : NULL;
}

/* The hull of a hull, a box, a solid in that form, or the core of a rounded shape; else NULL. */
static const struct hull *hull_of(const struct shape *shape)
{
	if (shape->kind == SHAPE_ROUNDED)
		return shape->stand_in->hull;
	if (shape->kind == SHAPE_SOLID)
		return shape->solid->mesh == NULL ? shape->solid->parts[0]->hull : NULL;
	return shape->kind == SHAPE_HULL || shape->kind == SHAPE_BOX ? shape->hull : NULL;
}

/* Patches of the kinds that are neither. */
static uint32_t own_patches(const struct shape *shape)
{
	switch (shape->kind) {
	case SHAPE_SPHERE:
	case SHAPE_ELLIPSOID:
		return 1;
	case SHAPE_CAPSULE:  /* tube, ends */
	case SHAPE_CONE:     /* side, base */
	case SHAPE_CYLINDER: /* side, ends */
		return 2;
	case SHAPE_POLYGON: /* edges, corners */
		return 2 * shape->polygon->count;
	default:
		ASSERT(shape->kind == SHAPE_PLANE);
		return 0;
	}
}

uint32_t surface_patches(const struct shape *shape)
{
	const struct mesh *mesh = mesh_of(shape);
	const struct hull *hull = mesh == NULL ? hull_of(shape) : NULL;
	if (mesh != NULL)
		return mesh->triangle_count;
	if (hull == NULL)
		return own_patches(shape);
	/* Of a rounded one also the wedges, and all corners as one. */
	return shape->kind == SHAPE_ROUNDED ? 2 * hull->edge_count + 1 : hull->edge_count;
}

/* ---- triangles ------------------------------------------------------------------------------- */

/* The triangle of a half-edge and its face's first corner; of those at that corner the area is 0. */
static void face_triangle(const struct hull *hull, uint32_t h, vec3 out[3])
{
	const struct half_edge *edge = &hull->edges[h];
	const struct hull_face *face = &hull->faces[edge->face];
	ASSERT(h < hull->edge_count);
	out[0] = hull->vertices[hull->edges[face->edge].origin];
	out[1] = hull->vertices[edge->origin];
	out[2] = hull->vertices[hull->edges[edge->next].origin];
}

static double triangle_area(const vec3 p[3])
{
	return 0.5 * vec3_length(vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])));
}

static vec3 draw_in_triangle(const vec3 p[3], struct rng *rng)
{
	double away = scalar_sqrt(rng_double(rng)), along = rng_double(rng);
	vec3 edge = vec3_lerp(p[1], p[2], along);
	return vec3_lerp(p[0], edge, away);
}

/* Whether a triangle of a mesh can be hit: of a heightfield those of holes and of the apron cannot. */
static bool is_there(const struct mesh *mesh, uint32_t triangle)
{
	return mesh->grid == NULL || heightfield_has(mesh->grid, triangle);
}

/* ---- areas ----------------------------------------------------------------------------------- */

/* How much of the surface belongs to a direction n of the unit sphere: x = half ∘ n. */
static double ellipsoid_stretch(vec3 half, vec3 n)
{
	return vec3_length(
		vec3_make(half.y * half.z * n.x, half.z * half.x * n.y, half.x * half.y * n.z));
}

static double ellipsoid_area(vec3 half)
{
	double sum = 0;
	for (uint32_t i = 0; i < ELLIPSOID_STEPS; i++)
		for (uint32_t k = 0; k < ELLIPSOID_STEPS; k++) {
			double y = (i + 0.5) / ELLIPSOID_STEPS, sine, cosine;
			double across = scalar_sqrt(1 - y * y);
			trig_sincos(0.25 * TURN * (k + 0.5) / ELLIPSOID_STEPS, &sine, &cosine);
			sum += ellipsoid_stretch(half,
						 vec3_make(across * cosine, y, across * sine));
		}
	return 2 * TURN * sum / (ELLIPSOID_STEPS * ELLIPSOID_STEPS);
}

/* The angle by which a polygon turns at corner `i`, rad. */
static double corner_angle(const struct polygon *polygon, uint32_t i)
{
	vec3 before = polygon->normals[i > 0 ? i - 1 : polygon->count - 1];
	vec3 after = polygon->normals[i];
	return trig_atan2(scalar_max(vec3_cross(before, after).z, 0), vec3_dot(before, after));
}

static double polygon_length(const struct polygon *polygon, uint32_t patch)
{
	uint32_t i = patch < polygon->count ? patch : patch - polygon->count;
	uint32_t next = i + 1 < polygon->count ? i + 1 : 0;
	ASSERT(i < polygon->count);
	return patch < polygon->count ? vec3_distance(polygon->vertices[i], polygon->vertices[next])
				      : polygon->radius * corner_angle(polygon, i);
}

static double own_area(const struct shape *shape, uint32_t patch)
{
	double r;
	switch (shape->kind) {
	case SHAPE_SPHERE:
		return 2 * TURN * shape->sphere.radius * shape->sphere.radius;
	case SHAPE_CAPSULE:
		r = shape->capsule.radius;
		return 2 * TURN * r * (patch == 0 ? shape->capsule.half_length : r);
	case SHAPE_CYLINDER:
		r = shape->cylinder.radius;
		return TURN * r * (patch == 0 ? 2 * shape->cylinder.half_length : r);
	case SHAPE_CONE:
		r = shape->cone.radius;
		return 0.5 * TURN * r *
		       (patch == 0 ? scalar_sqrt(r * r + 4 * shape->cone.half_length *
								 shape->cone.half_length)
				   : r);
	case SHAPE_ELLIPSOID:
		return ellipsoid_area(shape->ellipsoid.half);
	default:
		ASSERT(shape->kind == SHAPE_POLYGON);
		return polygon_length(shape->polygon, patch);
	}
}

static double hull_area(const struct shape *shape, const struct hull *hull, uint32_t patch)
{
	double radius = shape->kind == SHAPE_ROUNDED ? shape->rounded.radius : 0;
	vec3 corner[3];
	if (patch < hull->edge_count) {
		face_triangle(hull, patch, corner);
		return triangle_area(corner);
	}
	if (patch == 2 * hull->edge_count)
		return 2 * TURN * radius * radius;
	uint32_t h = patch - hull->edge_count;
	if (h > hull->edges[h].twin)
		return 0; /* its twin has it */
	struct rounded_wedge wedge = rounded_wedge_of(hull, h);
	return wedge.length * radius * wedge.angle;
}

double surface_area(const struct shape *shape, uint32_t patch)
{
	const struct mesh *mesh = mesh_of(shape);
	const struct hull *hull = mesh == NULL ? hull_of(shape) : NULL;
	vec3 corner[3];
	ASSERT(patch < surface_patches(shape));
	if (hull != NULL)
		return hull_area(shape, hull, patch);
	if (mesh == NULL)
		return own_area(shape, patch);
	if (!is_there(mesh, patch))
		return 0;
	mesh_corners(mesh, patch, corner);
	return triangle_area(corner);
}

/* ---- points ---------------------------------------------------------------------------------- */

static vec3 draw_direction(struct rng *rng)
{
	double y = rng_range(rng, -1, 1), sine, cosine;
	double across = scalar_sqrt(scalar_max(1 - y * y, 0));
	trig_sincos(rng_range(rng, 0, TURN), &sine, &cosine);
	return vec3_make(across * cosine, y, across * sine);
}

/* A direction across y. */
static vec3 draw_around(struct rng *rng)
{
	double sine, cosine;
	trig_sincos(rng_range(rng, 0, TURN), &sine, &cosine);
	return vec3_make(cosine, 0, sine);
}

/* On a disc across y, at this height, whose outside is on the side of `up`. */
static struct surface_point draw_disc(double radius, double height, double up, struct rng *rng)
{
	double away = radius * scalar_sqrt(rng_double(rng));
	vec3 at = vec3_scale(draw_around(rng), away);
	at.y = height;
	return (struct surface_point){ at, vec3_make(0, up, 0) };
}

static struct surface_point draw_capsule(double half, double radius, uint32_t patch,
					 struct rng *rng)
{
	vec3 out = patch == 0 ? draw_around(rng) : draw_direction(rng), at;
	at = vec3_scale(out, radius);
	if (patch == 0)
		at.y = rng_range(rng, -half, half);
	else
		at.y += out.y < 0 ? -half : half;
	return (struct surface_point){ at, out };
}

static struct surface_point draw_cylinder(double half, double radius, uint32_t patch,
					  struct rng *rng)
{
	if (patch == 0)
		return draw_capsule(half, radius, 0, rng);
	double up = rng_u32(rng) & 1 ? 1 : -1;
	return draw_disc(radius, up * half, up, rng);
}

static struct surface_point draw_cone(double half, double radius, uint32_t patch, struct rng *rng)
{
	if (patch == 1)
		return draw_disc(radius, -half, -1, rng);
	/* By the distance from the apex, whose square is evenly distributed. */
	double away = scalar_sqrt(rng_double(rng));
	vec3 out = draw_around(rng), at = vec3_scale(out, radius * away);
	at.y = half - 2 * half * away;
	vec3 normal = vec3_scale(out, 2 * half);
	normal.y = radius;
	return (struct surface_point){ at, vec3_normalize(normal) };
}

/* Directions are kept with the probability of their stretch by the largest one. */
static struct surface_point draw_ellipsoid(vec3 half, struct rng *rng)
{
	double most = scalar_max(half.y * half.z, scalar_max(half.z * half.x, half.x * half.y));
	vec3 n;
	double chance;
	do {
		n = draw_direction(rng);
		chance = rng_double(rng) * most;
	} while (chance >= ellipsoid_stretch(half, n));
	vec3 normal = vec3_make(n.x / half.x, n.y / half.y, n.z / half.z);
	return (struct surface_point){ vec3_hadamard(half, n), vec3_normalize(normal) };
}

static struct surface_point draw_polygon(const struct polygon *polygon, uint32_t patch,
					 struct rng *rng)
{
	uint32_t i = patch < polygon->count ? patch : patch - polygon->count;
	uint32_t next = i + 1 < polygon->count ? i + 1 : 0;
	vec3 at = polygon->vertices[i], out = polygon->normals[i];
	double part = rng_double(rng), sine, cosine;
	if (patch < polygon->count) {
		at = vec3_lerp(at, polygon->vertices[next], part);
	} else {
		/* Back from the normal of the edge after the corner. */
		trig_sincos(-part * corner_angle(polygon, i), &sine, &cosine);
		out = vec3_make(cosine * out.x - sine * out.y, sine * out.x + cosine * out.y, 0);
	}
	return (struct surface_point){ vec3_mul_add(at, out, polygon->radius), out };
}

static struct surface_point own_draw(const struct shape *shape, uint32_t patch, struct rng *rng)
{
	vec3 out;
	switch (shape->kind) {
	case SHAPE_SPHERE:
		out = draw_direction(rng);
		return (struct surface_point){ vec3_scale(out, shape->sphere.radius), out };
	case SHAPE_CAPSULE:
		return draw_capsule(shape->capsule.half_length, shape->capsule.radius, patch, rng);
	case SHAPE_CYLINDER:
		return draw_cylinder(shape->cylinder.half_length, shape->cylinder.radius, patch,
				     rng);
	case SHAPE_CONE:
		return draw_cone(shape->cone.half_length, shape->cone.radius, patch, rng);
	case SHAPE_ELLIPSOID:
		return draw_ellipsoid(shape->ellipsoid.half, rng);
	default:
		ASSERT(shape->kind == SHAPE_POLYGON);
		return draw_polygon(shape->polygon, patch, rng);
	}
}

static struct surface_point hull_draw(const struct shape *shape, const struct hull *hull,
				      uint32_t patch, struct rng *rng)
{
	double radius = shape->kind == SHAPE_ROUNDED ? shape->rounded.radius : 0;
	vec3 corner[3], at, out;
	if (patch < hull->edge_count) {
		face_triangle(hull, patch, corner);
		out = hull->faces[hull->edges[patch].face].normal;
		at = draw_in_triangle(corner, rng);
	} else if (patch == 2 * hull->edge_count) {
		/* The normals of all corners together are those of a sphere. */
		out = draw_direction(rng);
		at = support_hull(hull, out).point;
	} else {
		struct rounded_wedge wedge = rounded_wedge_of(hull, patch - hull->edge_count);
		double along = rng_range(rng, 0, wedge.length), sine, cosine;
		trig_sincos(rng_range(rng, 0, wedge.angle), &sine, &cosine);
		at = vec3_mul_add(wedge.from, wedge.along, along);
		out = vec3_add(vec3_scale(wedge.normal, cosine), vec3_scale(wedge.across, sine));
	}
	return (struct surface_point){ vec3_mul_add(at, out, radius), out };
}

struct surface_point surface_draw(const struct shape *shape, uint32_t patch, struct rng *rng)
{
	const struct mesh *mesh = mesh_of(shape);
	const struct hull *hull = mesh == NULL ? hull_of(shape) : NULL;
	vec3 corner[3];
	ASSERT(patch < surface_patches(shape));
	if (hull != NULL)
		return hull_draw(shape, hull, patch, rng);
	if (mesh == NULL)
		return own_draw(shape, patch, rng);
	mesh_corners(mesh, patch, corner);
	return (struct surface_point){ draw_in_triangle(corner, rng), mesh_normal(mesh, patch) };
}
