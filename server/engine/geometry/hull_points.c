/* hull_points.c: the convex hull of a point cloud.
 *
 * Problem: from n ≤ 65536 points in metres, doubles, with duplicates, coplanar and collinear runs
 * and rounding noise, the polyhedron that contact solvers need: planar faces, real corners, closed,
 * convex; or the reason why there is none.
 *
 * Method, in three steps:
 *   1. Points are rounded to a grid of whole numbers below 2^41, 2⁻⁴¹…2⁻⁴⁰ of the cloud's size apart
 *      (a power of two, so the scaling itself rounds nothing).
 *   2. hull_exact.c finds the exact hull of the grid points.
 *   3. hull_merge.c merges coplanar triangles and marks superfluous vertices; while there are any, the
 *      hull of the remaining ones is taken.
 * The grid decides only which points are vertices and which are neighbours. Coordinates, planes and
 * all that is computed from them come from the points as given.
 *
 * The tolerance within which faces are planar is 10⁻⁶ of the size, so that data written as floats
 * keep their faces, but at most a tenth of SHAPE_LENGTH_MIN, so that it cannot remove a feature.
 *
 * What goes wrong: merging within a tolerance is not proved to end in a convex polyhedron that
 * still contains the cloud, so the result is checked (H-1…H-6, and the corners of the first exact
 * hull against the faces of the last). If that fails, or ROUNDS_MAX rounds do not suffice, merging
 * is repeated with tolerance 0, which is exact; the build then reports `exact_only`.
 *
 * Vertices are numbered in the order of the cloud; faces start at their least vertex and are sorted
 * by their first half-edge, so the numbers depend on the hull alone and not on how it was found.
 */
#include "server/base/heap.h"
#include "server/base/sort.h"
#include "server/engine/geometry/hull_build.h"
#include "server/engine/geometry/mass.h"

#include <string.h>

#define TOLERANCE_RELATIVE 1e-6
#define TOLERANCE_MAX (SHAPE_LENGTH_MIN / 10)
/* Rounding to the grid, in grid units, and the factor of the check on the tolerance: a face may
 * start on one side of its plane and end on the other, twice. */
#define GRID_SLACK 8.0
#define CHECK_FACTOR 4.0
/* How far the cloud may protrude from the result, in those tolerances: each round may lose two. */
#define OUTSIDE_FACTOR 4.0

enum { ROUNDS_MAX = 64 };

struct hull_cloud {
	const vec3 *given; /* borrowed */
	vec3 *grid;	   /* the candidate vertices, on the grid */
	uint32_t *index;   /* their numbers in `given`, ascending */
	uint32_t *outer;   /* the vertices of the first exact hull, numbers in `given` */
	uint32_t count, outer_count;
	double unit;	  /* metres between grid points */
	double tolerance; /* in grid units */
	struct hull_surface surface;
	struct hull_regions regions;
	struct hull_build build;
};

/* ---- the grid --------------------------------------------------------------------------------- */

/* Rounds the points, which are finite, to the grid. */
static void to_grid(struct hull_cloud *self, uint32_t count)
{
	ASSERT(count >= 4);
	struct aabb box = aabb_empty();
	for (uint32_t i = 0; i < count; i++)
		box = aabb_add_point(box, self->given[i]);
	double size = vec3_max_component(vec3_sub(box.max, box.min));
	double most = (double)((uint64_t)1 << HULL_GRID_BITS), scale = 1;
	while (size > 0 && size * scale * 2 <= most && scale < most)
		scale *= 2;
	while (size * scale > most)
		scale /= 2;
	for (uint32_t i = 0; i < count; i++) {
		vec3 p = vec3_scale(vec3_sub(self->given[i], box.min), scale);
		self->grid[i] = vec3_make(scalar_round(p.x), scalar_round(p.y), scalar_round(p.z));
		self->index[i] = i;
	}
	ASSERT(scale > 0);
	self->count = count;
	self->unit = 1 / scale;
	self->tolerance = scalar_min(TOLERANCE_RELATIVE * size, TOLERANCE_MAX) * scale;
}

static void keep_vertices(struct hull_cloud *self)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		if (!self->regions.keep[i])
			continue;
		self->grid[kept] = self->grid[i];
		self->index[kept] = self->index[i];
		kept++;
	}
	ASSERT(kept < self->count);
	self->count = kept;
}

/* ---- rounds ----------------------------------------------------------------------------------- */

/* Hull and faces of the candidate vertices. */
static enum status one_round(struct hull_cloud *self, struct reason *why)
{
	ASSERT(self->build.rounds < 2 * ROUNDS_MAX);
	hull_surface_release(&self->surface);
	hull_regions_release(&self->regions);
	self->build.rounds++;
	enum status status = hull_triangulate(self->grid, self->count, self->unit, &self->surface,
					      &self->build.facets_made, why);
	if (status != STATUS_OK)
		return status;
	status = hull_merge(self->grid, self->count, &self->surface, self->tolerance,
			    &self->regions);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "points", "out of memory");
	return STATUS_OK;
}

#ifdef CAIRN_VALIDATE
static bool ascending(const uint32_t *list, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (list[i - 1] >= list[i])
			return false;
	return true;
}
#endif

/* Stores the corners of the exact hull. All other points are inside it, so no point protrudes from
 * a later hull by more than these. */
static void store_outer(struct hull_cloud *self)
{
	VALIDATE(ascending(self->index, self->count));
	const struct hull_surface *surface = &self->surface;
	self->outer_count = 0;
	for (uint32_t i = 0; i < self->count; i++)
		self->outer[i] = HULL_NONE;
	for (uint32_t t = 0; t < surface->count; t++)
		for (uint32_t k = 0; k < 3; k++)
			self->outer[surface->corner[t][k]] = 0;
	for (uint32_t i = 0; i < self->count; i++)
		if (self->outer[i] != HULL_NONE)
			self->outer[self->outer_count++] = self->index[i];
}

/* Integrals over the triangles with the coordinates as given. */
static struct mass_properties surface_mass(const struct hull_cloud *self, vec3 origin)
{
	struct volume_integrals sum = { 0 };
	for (uint32_t t = 0; t < self->surface.count; t++) {
		vec3 corner[3];
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t point = self->index[self->surface.corner[t][k]];
			corner[k] = vec3_sub(self->given[point], origin);
		}
		mass_add_face(&sum, corner, 3);
	}
	return mass_of_integrals(&sum, origin);
}

/* Takes hulls until no vertex is dropped. AGAIN: ROUNDS_MAX rounds did not suffice. */
static enum status merge_until_stable(struct hull_cloud *self, struct reason *why)
{
	for (uint32_t round = 0; round < ROUNDS_MAX; round++) {
		enum status status = one_round(self, why);
		if (status != STATUS_OK)
			return status;
		if (round == 0) {
			store_outer(self);
			self->build.cloud_volume =
				surface_mass(self, self->given[self->index[0]]).volume;
		}
		if (self->regions.dropped == 0)
			return STATUS_OK;
		keep_vertices(self);
	}
	return STATUS_AGAIN;
}

/* ---- the result ------------------------------------------------------------------------------- */

static enum status sort_faces(const struct hull_cloud *self, const uint32_t *number, uint64_t *keys,
			      uint32_t *face)
{
	ASSERT(self->regions.count > 0);
	const struct hull_regions *regions = &self->regions;
	uint32_t count = regions->count;
	for (uint32_t f = 0; f < count; f++) {
		const uint32_t *loop = regions->loop + regions->first[f];
		uint32_t length = regions->first[f + 1] - regions->first[f], least = 0;
		for (uint32_t i = 1; i < length; i++)
			if (number[loop[i]] < number[loop[least]])
				least = i;
		uint32_t next = least + 1 == length ? 0 : least + 1;
		keys[f] = (uint64_t)number[loop[least]] << 32 | number[loop[next]];
		face[f] = f;
	}
	uint64_t *scratch_keys = heap_alloc(count * sizeof *scratch_keys);
	uint32_t *scratch = heap_alloc(count * sizeof *scratch);
	bool good = scratch_keys != NULL && scratch != NULL;
	if (good)
		sort_keys(keys, face, scratch_keys, scratch, count);
	heap_free(scratch_keys);
	heap_free(scratch);
	return good ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Half-edges of face f from the loop that holds the least vertex `keys[f] >> 32`. */
static void fill_face(struct hull *hull, const uint32_t *number, const uint32_t *loop,
		      uint32_t length, uint64_t key, uint32_t f, uint32_t edge)
{
	ASSERT(length >= 3);
	uint32_t start = 0;
	while (number[loop[start]] != key >> 32)
		start++;
	for (uint32_t i = 0; i < length; i++)
		hull->edges[edge + i] = (struct half_edge){
			.origin = (uint16_t)number[loop[(start + i) % length]],
			.next = (uint16_t)(i + 1 == length ? edge : edge + i + 1),
			.face = (uint16_t)f,
		};
	hull->faces[f].edge = (uint16_t)edge;
	hull->faces[f].edge_count = (uint16_t)length;
}

/* The hull from the regions. NULL: out of memory. The caller has checked that the numbers fit. */
static struct hull *make_hull(const struct hull_cloud *self, uint32_t vertices)
{
	ASSERT(vertices >= 4 && vertices <= SHAPE_HULL_VERTICES_MAX);
	const struct hull_regions *regions = &self->regions;
	struct hull *hull = hull_alloc(vertices, regions->count, regions->corners);
	uint32_t *number = heap_alloc(self->count * sizeof *number);
	uint64_t *keys = heap_alloc(regions->count * sizeof *keys);
	uint32_t *face = heap_alloc(regions->count * sizeof *face);
	bool good = hull != NULL && number != NULL && keys != NULL && face != NULL;
	if (good) {
		uint32_t vertex = 0, edge = 0;
		for (uint32_t i = 0; i < self->count; i++) {
			number[i] = vertex;
			if (regions->keep[i])
				hull->vertices[vertex++] = self->given[self->index[i]];
		}
		good = sort_faces(self, number, keys, face) == STATUS_OK;
		for (uint32_t f = 0; good && f < regions->count; f++) {
			uint32_t first = regions->first[face[f]];
			uint32_t length = regions->first[face[f] + 1] - first;
			fill_face(hull, number, regions->loop + first, length, keys[f], f, edge);
			edge += length;
		}
	}
	ASSERT(!good || hull->vertex_count == vertices);
	heap_free(number);
	heap_free(keys);
	heap_free(face);
	if (good)
		return hull;
	heap_free(hull);
	return NULL;
}

static double outside_distance(const struct hull_cloud *self, const struct hull *hull)
{
	double highest = 0;
	for (uint32_t i = 0; i < self->outer_count; i++) {
		vec3 p = self->given[self->outer[i]];
		for (uint32_t f = 0; f < hull->face_count; f++)
			highest = scalar_max(highest, vec3_dot(hull->faces[f].normal, p) -
							      hull->faces[f].offset);
	}
	ASSERT(highest >= 0);
	return highest;
}

/* Builds and checks the result. CORRUPT: it is not a convex polyhedron around the cloud. */
static enum status make_result(struct hull_cloud *self, struct hull **out, struct reason *why)
{
	uint32_t vertices = 0;
	for (uint32_t i = 0; i < self->count; i++)
		vertices += self->regions.keep[i];
	if (vertices > SHAPE_HULL_VERTICES_MAX)
		return reason_set(why, STATUS_TOO_LARGE, -1, "points",
				  "the hull has %u vertices, at most %d are allowed", vertices,
				  SHAPE_HULL_VERTICES_MAX);
	/* Euler bounds both for anything that may be a polyhedron. */
	if (vertices < 4 || self->regions.corners > 6 * vertices - 12)
		return STATUS_CORRUPT;
	struct hull *hull = make_hull(self, vertices);
	if (hull == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "points", "out of memory");
	ASSERT(hull->edge_count == self->regions.corners);
	self->build.tolerance = (CHECK_FACTOR * self->tolerance + GRID_SLACK) * self->unit;
	bool good = hull_finish(hull) && hull_is_valid(hull, self->build.tolerance, NULL);
	if (good)
		self->build.outside = outside_distance(self, hull);
	if (!good || self->build.outside > OUTSIDE_FACTOR * self->build.tolerance) {
		heap_free(hull);
		return STATUS_CORRUPT;
	}
	self->build.mass = surface_mass(self, hull->centre);
	*out = hull;
	return STATUS_OK;
}

static enum status merge_and_finish(struct hull_cloud *self, struct hull **out, struct reason *why)
{
	enum status status = merge_until_stable(self, why);
	return status == STATUS_OK ? make_result(self, out, why) : status;
}

static enum status find_hull(struct hull_cloud *self, uint32_t count, struct hull **out,
			     struct reason *why)
{
	to_grid(self, count);
	enum status status = merge_and_finish(self, out, why);
	if (status != STATUS_CORRUPT && status != STATUS_AGAIN)
		return status;
	to_grid(self, count);
	self->tolerance = 0;
	self->build.exact_only = 1;
	status = merge_and_finish(self, out, why);
	if (status == STATUS_CORRUPT || status == STATUS_AGAIN)
		return reason_set(
			why, STATUS_DEGENERATE, -1, "points",
			"the hull has features too thin for its size: merge near points or scale the shape");
	return status;
}

enum status hull_of_points(const vec3 *points, uint32_t count, struct hull **out,
			   struct hull_build *build, struct reason *why)
{
	if (count < 4)
		return reason_set(why, STATUS_DEGENERATE, -1, "points",
				  "%u points are given, at least 4 are needed", count);
	struct hull_cloud self = { .given = points };
	self.grid = heap_alloc(count * sizeof *self.grid);
	self.index = heap_alloc(count * 2 * sizeof *self.index);
	self.outer = self.index == NULL ? NULL : self.index + count;
	enum status status = STATUS_NO_MEMORY;
	if (self.grid != NULL && self.index != NULL)
		status = find_hull(&self, count, out, why);
	else
		reason_set(why, status, -1, "points", "out of memory");
	if (build != NULL)
		*build = self.build;
	hull_surface_release(&self.surface);
	hull_regions_release(&self.regions);
	heap_free(self.grid);
	heap_free(self.index);
	return status;
}
