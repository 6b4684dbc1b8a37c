/* cloud.c: turning, welding and thinning out points.
 *
 * Thinning out: the hull of a point cloud is determined by its support points, and a hull may have only
 * 1024 vertices. The farthest points in N evenly spread directions span a hull inside the true one; where
 * the surface has curvature 1/R the two are about R·θ²/2 apart, with θ ≈ √(4π/N) the spacing of
 * directions: with N = 512 about 1 % of the radius. The directions are a Fibonacci spiral: the i-th has
 * height 1 − (2i + 1)/N and is turned by the golden angle against the one before. The turn is a complex
 * multiplication with constants, so that no sine of the C library, which differs between machines, is used.
 */
#include "protocol/scene/cloud.h"

#include "server/base/sort.h"
#include "server/base/table.h"

#include <math.h>

/* cos and sin of π (3 − √5). */
#define GOLDEN_COSINE (-0.7373688780783197)
#define GOLDEN_SINE 0.6754902942615238
/* A triangle thinner than this fraction of its longest edge is dropped, because its normal is
 * mostly rounding. */
#define HEIGHT_PER_EDGE_MIN 1e-6

void cloud_release(struct point_cloud *cloud)
{
	ARRAY_RELEASE(&cloud->points);
	ARRAY_RELEASE(&cloud->triangles);
	ARRAY_RELEASE(&cloud->patches);
}

/* ---- transformation ------------------------------------------------------------------------------ */

static vec3 turned(vec3 p, uint32_t up)
{
	switch (up) {
	case 0:
		return vec3_make(-p.y, p.x, p.z);
	case 2:
		return vec3_make(p.x, p.z, -p.y);
	default:
		return p;
	}
}

void cloud_transform(struct point_cloud *cloud, uint32_t up, bool centre, vec3 scale)
{
	uint32_t count = cloud->points.count;
	vec3 *points = cloud->points.items, middle = vec3_zero();
	for (uint32_t i = 0; i < count; i++)
		points[i] = turned(points[i], up);
	if (centre && count > 0) {
		vec3 low = points[0], high = points[0];
		for (uint32_t i = 1; i < count; i++) {
			low = vec3_min(low, points[i]);
			high = vec3_max(high, points[i]);
		}
		middle = vec3_scale(vec3_add(low, high), 0.5);
	}
	for (uint32_t i = 0; i < count; i++)
		points[i] = vec3_hadamard(vec3_sub(points[i], middle), scale);
}

/* ---- welding ------------------------------------------------------------------------------------- */

/* The key by which points are equal: the point itself, or the corner of its cell. Adding 0 turns −0
 * into 0. */
static vec3 cell_of(vec3 p, double pitch)
{
	if (pitch > 0)
		p = vec3_make(floor(p.x / pitch), floor(p.y / pitch), floor(p.z / pitch));
	return vec3_add(p, vec3_zero());
}

/* Sorts the points into `order` by cell, and within a cell by index: three stable sorts, the least
 * significant axis first. */
static enum status sort_by_cell(const struct point_cloud *cloud, double pitch, uint32_t *order)
{
	uint32_t count = cloud->points.count;
	uint64_t *keys = heap_alloc(count * 2 * sizeof *keys);
	uint32_t *scratch = heap_alloc(count * sizeof *scratch);
	enum status status = keys != NULL && scratch != NULL ? STATUS_OK : STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		order[i] = i;
	for (uint32_t axis = 3; axis-- > 0 && status == STATUS_OK;) {
		for (uint32_t i = 0; i < count; i++)
			keys[i] = sort_key_of_double(
				vec3_get(cell_of(cloud->points.items[order[i]], pitch), axis));
		sort_keys(keys, order, keys + count, scratch, count);
	}
	heap_free(keys);
	heap_free(scratch);
	return status;
}

/* first[i]: the lowest index of a point in the cell of point i. */
static void find_firsts(const struct point_cloud *cloud, double pitch, const uint32_t *order,
			uint32_t *first)
{
	const vec3 *points = cloud->points.items;
	for (uint32_t i = 0; i < cloud->points.count; i++) {
		uint32_t p = order[i], before = i > 0 ? order[i - 1] : 0;
		bool same = i > 0 &&
			    vec3_equal(cell_of(points[p], pitch), cell_of(points[before], pitch));
		first[p] = same ? first[before] : p;
	}
}

static bool is_thin(const vec3 *points, const struct mesh_triangle *t)
{
	vec3 a = points[t->corner[0]], b = points[t->corner[1]], c = points[t->corner[2]];
	double longest = fmax(vec3_distance_squared(a, b),
			      fmax(vec3_distance_squared(b, c), vec3_distance_squared(c, a)));
	double area = vec3_length(vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
	return !(area > HEIGHT_PER_EDGE_MIN * longest);
}

/* A key that does not depend on the order of the corners; indices are below 2^21. */
static uint64_t corners_key(const struct mesh_triangle *t)
{
	uint64_t a = t->corner[0], b = t->corner[1], c = t->corner[2];
	uint64_t low = MIN_OF(a, MIN_OF(b, c)), high = MAX_OF(a, MAX_OF(b, c));
	return low << 42 | (a + b + c - low - high) << 21 | high;
}

/* Renumbers the corners, and drops triangles that are degenerate or repeated. */
static enum status renumber_triangles(struct point_cloud *cloud, const uint32_t *number)
{
	struct table seen = { 0 };
	enum status status = STATUS_OK;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < cloud->triangles.count && status == STATUS_OK; i++) {
		struct mesh_triangle t = cloud->triangles.items[i];
		for (int k = 0; k < 3; k++)
			t.corner[k] = number[t.corner[k]];
		if (is_thin(cloud->points.items, &t))
			continue;
		status = table_insert(&seen, corners_key(&t), 0);
		if (status == STATUS_OK) {
			if (cloud->patches.count > 0)
				cloud->patches.items[kept] = cloud->patches.items[i];
			cloud->triangles.items[kept++] = t;
		} else if (status == STATUS_EXISTS) {
			status = STATUS_OK;
		}
	}
	cloud->triangles.count = kept;
	cloud->patches.count = MIN_OF(cloud->patches.count, kept);
	table_release(&seen);
	return status;
}

enum status cloud_weld(struct point_cloud *cloud, double pitch)
{
	uint32_t count = cloud->points.count, kept = 0;
	uint32_t *order = heap_alloc(MAX_OF(count, 1u) * sizeof *order);
	uint32_t *first = heap_alloc(MAX_OF(count, 1u) * sizeof *first);
	enum status status = order != NULL && first != NULL ? sort_by_cell(cloud, pitch, order)
							    : STATUS_NO_MEMORY;
	if (status == STATUS_OK) {
		find_firsts(cloud, pitch, order, first);
		/* The first point of a cell has the lowest index, so its new index is set before the others
		 * use it. */
		for (uint32_t i = 0; i < count; i++) {
			if (first[i] == i)
				cloud->points.items[kept] = cloud->points.items[i];
			first[i] = first[i] == i ? kept++ : first[first[i]];
		}
		cloud->points.count = kept;
		status = renumber_triangles(cloud, first);
	}
	heap_free(order);
	heap_free(first);
	return status;
}

/* ---- thinning out -------------------------------------------------------------------------------- */

static uint32_t farthest_point(const struct point_cloud *cloud, vec3 direction)
{
	uint32_t best = 0;
	double most = vec3_dot(cloud->points.items[0], direction);
	for (uint32_t i = 1; i < cloud->points.count; i++) {
		double reach = vec3_dot(cloud->points.items[i], direction);
		if (reach > most) {
			most = reach;
			best = i;
		}
	}
	return best;
}

enum status cloud_simplify(struct point_cloud *cloud, uint32_t count)
{
	uint32_t kept = 0, points = cloud->points.count;
	ASSERT(count > 0);
	if (points == 0)
		return STATUS_OK;
	bool *keep = heap_alloc_zero(points * sizeof *keep);
	if (keep == NULL)
		return STATUS_NO_MEMORY;
	double cosine = 1, sine = 0;
	for (uint32_t i = 0; i < count; i++) {
		double height = 1 - (2.0 * i + 1) / count;
		double radius = sqrt(1 - height * height);
		keep[farthest_point(cloud, vec3_make(radius * cosine, height, radius * sine))] =
			true;
		double next = cosine * GOLDEN_COSINE - sine * GOLDEN_SINE;
		sine = cosine * GOLDEN_SINE + sine * GOLDEN_COSINE;
		cosine = next;
	}
	for (uint32_t i = 0; i < points; i++)
		if (keep[i])
			cloud->points.items[kept++] = cloud->points.items[i];
	cloud->points.count = kept;
	cloud->triangles.count = 0;
	heap_free(keep);
	return STATUS_OK;
}
