/* See obb.h. ch1-3 G-04, both versions.
 *
 * Axes: eigenvectors of the covariance of the hull's surface. A triangle of area A with mean m and
 * corners v adds A/12 (9 m mᵀ + Σ v vᵀ); divided by the whole area, minus the mean's product. Sums are
 * relative to the first point, because far from the origin they would cancel. Cubes and spheres have no
 * distinct principal axes: the eigen-solver then returns the axes it started from, always the same ones.
 */
#include "server/engine/collision/obb.h"

#include "server/base/heap.h"
#include "server/engine/geometry/hull.h"
#include "server/engine/linalg/eigen3.h"

/* Bound on the rounding error of a projection, relative to the coordinates. A smaller one may leave points
 * outside the box. */
#define ROOM (8 * SCALAR_EPSILON)

mat3 obb_covariance_points(const vec3 *points, uint32_t count)
{
	ASSERT(count > 0);
	vec3 origin = points[0], mean = vec3_zero();
	mat3 sum = mat3_zero();
	for (uint32_t i = 0; i < count; i++)
		mean = vec3_add(mean, vec3_sub(points[i], origin));
	mean = vec3_add(origin, vec3_scale(mean, 1.0 / count));
	for (uint32_t i = 0; i < count; i++) {
		vec3 d = vec3_sub(points[i], mean);
		sum = mat3_add(sum, mat3_outer(d, d));
	}
	return mat3_scale(sum, 1.0 / count);
}

struct surface_sum {
	double area;
	vec3 mean;     /* times area */
	mat3 products; /* times area */
};

static void add_triangle(struct surface_sum *sum, vec3 a, vec3 b, vec3 c)
{
	double area = 0.5 * vec3_length(vec3_cross(vec3_sub(b, a), vec3_sub(c, b)));
	vec3 mean = vec3_scale(vec3_add(vec3_add(a, b), c), 1.0 / 3);
	mat3 products = mat3_scale(mat3_outer(mean, mean), 9);
	products = mat3_add(products, mat3_outer(a, a));
	products = mat3_add(products, mat3_outer(b, b));
	products = mat3_add(products, mat3_outer(c, c));
	sum->area += area;
	sum->mean = vec3_mul_add(sum->mean, mean, area);
	sum->products = mat3_add(sum->products, mat3_scale(products, area / 12));
}

static mat3 surface_covariance(const struct surface_sum *sum)
{
	vec3 mean = vec3_scale(sum->mean, 1 / sum->area);
	return mat3_sub(mat3_scale(sum->products, 1 / sum->area), mat3_outer(mean, mean));
}

mat3 obb_covariance_surface(const vec3 *corners, uint32_t triangles)
{
	ASSERT(triangles > 0);
	ASSERT(triangles <= UINT32_MAX / 3);
	struct surface_sum sum = { 0 };
	vec3 origin = corners[0];
	for (uint32_t i = 0; i < triangles; i++)
		add_triangle(&sum, vec3_sub(corners[3 * i], origin),
			     vec3_sub(corners[3 * i + 1], origin),
			     vec3_sub(corners[3 * i + 2], origin));
	return sum.area > 0 ? surface_covariance(&sum)
			    : obb_covariance_points(corners, 3 * triangles);
}

bool obb_covariance_hull(const vec3 *points, uint32_t count, mat3 *out)
{
	struct hull *hull;
	if (count < 4 || count > SHAPE_CLOUD_MAX ||
	    hull_of_points(points, count, &hull, NULL, NULL) != STATUS_OK)
		return false;
	struct surface_sum sum = { 0 };
	for (uint32_t f = 0; f < hull->face_count; f++) {
		/* Each face as a fan. */
		uint32_t at = hull->faces[f].edge;
		vec3 first = vec3_sub(hull->vertices[hull->edges[at].origin], hull->centre);
		at = hull->edges[at].next;
		for (uint32_t k = 2; k < hull->faces[f].edge_count; k++) {
			uint32_t next = hull->edges[at].next;
			add_triangle(
				&sum, first,
				vec3_sub(hull->vertices[hull->edges[at].origin], hull->centre),
				vec3_sub(hull->vertices[hull->edges[next].origin], hull->centre));
			at = next;
		}
	}
	heap_free(hull);
	*out = surface_covariance(&sum);
	return true;
}

/* The smallest box along `axes` (columns, orthonormal) that contains the points, plus a margin for
 * rounding. */
static struct obb obb_along(mat3 axes, const vec3 *points, uint32_t count)
{
	ASSERT(count > 0);
	vec3 low = vec3_all(SCALAR_MAX), high = vec3_all(-SCALAR_MAX), far = vec3_zero();
	for (uint32_t i = 0; i < count; i++) {
		vec3 seen = mat3_transposed_mul_vec(axes, vec3_sub(points[i], points[0]));
		low = vec3_min(low, seen);
		high = vec3_max(high, seen);
		far = vec3_max(far, vec3_abs(points[i]));
	}
	vec3 middle = vec3_scale(vec3_add(low, high), 0.5);
	double room = ROOM * (far.x + far.y + far.z);
	return (struct obb){
		.centre = vec3_add(points[0], mat3_mul_vec(axes, middle)),
		.axes = axes,
		.half = vec3_add(vec3_scale(vec3_sub(high, low), 0.5), vec3_all(room)),
	};
}

struct obb obb_of_points(const vec3 *points, uint32_t count)
{
	ASSERT(count > 0);
	mat3 covariance;
	if (!obb_covariance_hull(points, count, &covariance))
		covariance = obb_covariance_points(points, count);
	return obb_along(eigen3_symmetric(covariance).vectors, points, count);
}
