/* decompose_measure.c: how far a hull deviates from the surface it encloses.
 *
 * For a piece: a point x of the hull outside the piece has a nearest point y on its surface, and x
 * − y is normal to the surface there; so |x − y| is at most the length, within the hull, of the ray
 * from y along the normal. For a triangle and one plane m of the hull that length is linear over
 * the triangle, and the least over planes of its maximum at the corners bounds it over the whole
 * triangle. When y lies on a convex edge or corner the normal may be any direction between those of
 * its triangles; these are not followed.
 *
 * For an approximated part, which has no surface of its own: branch and bound over boxes around the
 * hull. The distance to the solid changes by no more than the way moved, so no point of a box with
 * middle c and half diagonal r is farther than d(c) + r. Boxes that cannot exceed the best value by
 * more than `slack` are skipped, and so are those outside the hull or inside the solid. After
 * CUBES_MAX boxes the answer is "too far": the part is halved, and its halves need fewer boxes.
 */
#include "server/engine/geometry/decompose_measure.h"

#include "server/base/heap.h"
#include "server/engine/geometry/hull.h"
#include "server/engine/geometry/intersect_point_mesh.h"

#include <string.h>

enum { ALL_POINTS_MAX = 3000, DIRECTION_STEPS = 8 };

/* ---- the hull --------------------------------------------------------------------------------- */

void piece_hull_release(struct piece_hull *self)
{
	heap_free(self->hull);
	heap_free(self->normals);
	self->hull = NULL;
	self->normals = NULL;
	self->offsets = NULL;
}

/* Marks the points farthest in each of 258 nearly uniform directions, the lattice points of the
 * octahedron |x| + |y| + |z| = 8. Ties: the first point. */
static void mark_extremes(const vec3 *points, uint32_t count, uint8_t *marked)
{
	ASSERT(count > 0);
	const int n = DIRECTION_STEPS;
	for (int x = -n; x <= n; x++) {
		for (int y = -n; y <= n; y++) {
			int rest = n - (x < 0 ? -x : x) - (y < 0 ? -y : y);
			for (int up = 0; rest >= 0 && up < (rest > 0 ? 2 : 1); up++) {
				vec3 along = vec3_make(x, y, up ? rest : -rest);
				uint32_t best = 0;
				double most = -SCALAR_MAX;
				for (uint32_t i = 0; i < count; i++) {
					double at = vec3_dot(along, points[i]);
					best = at > most ? i : best;
					most = scalar_max(at, most);
				}
				marked[best] = 1;
			}
		}
	}
}

/* Lengths are scaled by a power of two to about a kilometre, a size that hull_of_points accepts for
 * any piece. */
struct scaled_points {
	vec3 middle;
	double factor;
	vec3 *points; /* owned */
	uint32_t count;
};

static bool scale_points(struct scaled_points *self, const vec3 *points, uint32_t count,
			 bool sample)
{
	ASSERT(count > 0);
	struct aabb box = aabb_empty();
	for (uint32_t i = 0; i < count; i++)
		box = aabb_add_point(box, points[i]);
	self->middle = aabb_centre(box);
	double extent = vec3_max_component(vec3_sub(box.max, box.min));
	self->factor = 1;
	while (extent > 0 && extent * self->factor < 1024)
		self->factor *= 2;
	while (extent * self->factor > 2048)
		self->factor /= 2;
	self->points = heap_alloc((size_t)count * (sizeof *self->points + 1));
	if (self->points == NULL)
		return false;
	uint8_t *marked = (uint8_t *)(self->points + count);
	memset(marked, sample ? 0 : 1, count);
	if (sample)
		mark_extremes(points, count, marked);
	self->count = 0;
	for (uint32_t i = 0; i < count; i++)
		if (marked[i])
			self->points[self->count++] =
				vec3_scale(vec3_sub(points[i], self->middle), self->factor);
	ASSERT(self->factor > 0);
	ASSERT(self->count <= count);
	return true;
}

static bool store_planes(struct piece_hull *self, const struct scaled_points *scaled)
{
	ASSERT(self->hull->face_count >= 4);
	const struct hull *hull = self->hull;
	uint32_t count = hull->face_count;
	self->normals = heap_alloc(count * (sizeof *self->normals + sizeof *self->offsets));
	if (self->normals == NULL)
		return false;
	self->offsets = (double *)(self->normals + count);
	self->plane_count = count;
	self->vertex_count = hull->vertex_count;
	self->middle = scaled->middle;
	self->factor = scaled->factor;
	for (uint32_t f = 0; f < count; f++) {
		vec3 n = hull->faces[f].normal;
		self->normals[f] = n;
		self->offsets[f] =
			hull->faces[f].offset / scaled->factor + vec3_dot(n, scaled->middle);
	}
	return true;
}

enum status piece_hull_init(struct piece_hull *self, const vec3 *points, uint32_t count, bool exact)
{
	struct scaled_points scaled;
	struct hull_build build;
	*self = (struct piece_hull){ .sampled = !exact && count > ALL_POINTS_MAX };
	if (!scale_points(&scaled, points, count, self->sampled))
		return STATUS_NO_MEMORY;
	enum status status = hull_of_points(scaled.points, scaled.count, &self->hull, &build, NULL);
	if (status == STATUS_TOO_LARGE && !exact) {
		heap_free(scaled.points);
		self->sampled = true;
		if (!scale_points(&scaled, points, count, true))
			return STATUS_NO_MEMORY;
		status = hull_of_points(scaled.points, scaled.count, &self->hull, &build, NULL);
	}
	if (status == STATUS_OK) {
		double f = scaled.factor;
		self->volume = build.mass.volume / (f * f * f);
		if (!store_planes(self, &scaled))
			status = STATUS_NO_MEMORY;
	}
	heap_free(scaled.points);
	self->thin = status == STATUS_DEGENERATE;
	return self->thin ? STATUS_OK : status;
}

/* ---- pieces ----------------------------------------------------------------------------------- */

/* Length of the ray from p along n until it leaves plane m of the hull; SCALAR_MAX when it does
 * not. */
static inline double exit_through(vec3 m, double offset, vec3 p, vec3 n)
{
	double along = vec3_dot(m, n);
	return along > 1e-6 ? scalar_max(offset - vec3_dot(m, p), 0) / along : SCALAR_MAX;
}

double piece_depth(const struct decompose_piece *piece, const struct piece_hull *hull, uint32_t h,
		   vec3 normal)
{
	ASSERT(h < 3 * piece->triangle_count);
	ASSERT(!hull->thin);
	vec3 middle = vec3_lerp(piece_start(piece, h), piece_end(piece, h), 0.5);
	double least = SCALAR_MAX;
	for (uint32_t m = 0; m < hull->plane_count; m++)
		least = scalar_min(exit_through(hull->normals[m], hull->offsets[m], middle, normal),
				   least);
	return least;
}

static double triangle_depth(const struct decompose_piece *piece, const struct piece_hull *hull,
			     uint32_t t, vec3 normal)
{
	VALIDATE(t < piece->triangle_count);
	vec3 a = piece_start(piece, 3 * t), b = piece_start(piece, 3 * t + 1),
	     c = piece_start(piece, 3 * t + 2);
	double least = SCALAR_MAX;
	for (uint32_t m = 0; m < hull->plane_count; m++) {
		double along = vec3_dot(hull->normals[m], normal);
		if (!(along > 1e-6))
			continue;
		double low = scalar_min(
			scalar_min(vec3_dot(hull->normals[m], a), vec3_dot(hull->normals[m], b)),
			vec3_dot(hull->normals[m], c));
		double depth = scalar_max(hull->offsets[m] - low, 0);
		if (depth < least * along)
			least = depth / along;
	}
	return least;
}

double piece_concavity(const struct decompose_piece *piece, const struct piece_hull *hull,
		       double enough)
{
	ASSERT(enough >= 0);
	/* A triangle without height has no normal; its neighbours measure that place. */
	static const double HEIGHT_PER_EDGE = 1e-6;
	double most = 0;
	for (uint32_t t = 0; t < piece->triangle_count && most <= enough; t++) {
		double area, longest = 0;
		vec3 normal = vec3_normalize_length(piece_area(piece, t), &area);
		for (uint32_t k = 0; k < 3; k++)
			longest = scalar_max(longest,
					     vec3_distance_squared(piece_start(piece, 3 * t + k),
								   piece_end(piece, 3 * t + k)));
		if (area > HEIGHT_PER_EDGE * longest)
			most = scalar_max(most, triangle_depth(piece, hull, t, normal));
	}
	ASSERT(most >= 0);
	return most;
}

/* ---- approximated parts ----------------------------------------------------------------------- */

/* Depth first with 8 children a level: at most 7 siblings wait at each level. */
enum { LEVELS_MAX = 24, STACK_MAX = 7 * LEVELS_MAX + 8, CUBES_MAX = 1 << 16 };

struct deviation_cube {
	vec3 centre, half;
	uint32_t level;
};

/* Whether even the point of the cube farthest inward lies outside some plane of the hull. */
static bool outside_hull(const struct piece_hull *hull, const struct deviation_cube *cube)
{
	for (uint32_t m = 0; m < hull->plane_count; m++) {
		vec3 n = hull->normals[m];
		double reach = vec3_dot(vec3_abs(n), cube->half);
		if (vec3_dot(n, cube->centre) - reach > hull->offsets[m])
			return true;
	}
	return false;
}

double hull_deviation(const struct mesh *mesh, const struct piece_hull *hull, struct aabb box,
		      double enough, double slack)
{
	ASSERT(mesh->closed);
	ASSERT(slack >= 0);
	struct deviation_cube stack[STACK_MAX];
	uint32_t depth = 0;
	double most = slack;
	uint32_t looked_at = 0;
	stack[depth++] = (struct deviation_cube){ aabb_centre(box), aabb_half(box), 0 };
	while (depth > 0 && most <= enough) {
		struct deviation_cube cube = stack[--depth];
		if (looked_at++ == CUBES_MAX)
			return SCALAR_MAX;
		double reach = vec3_length(cube.half);
		if (outside_hull(hull, &cube))
			continue;
		double distance = intersect_nearest_on_mesh(mesh, cube.centre).distance;
		if (intersect_point_mesh(mesh, cube.centre) != POINT_MESH_OUTSIDE)
			distance = -distance;
		if (distance + reach <= most)
			continue;
		/* The middle may lie outside the hull; the value is then still a bound, if a loose
		 * one. */
		if (reach <= slack || cube.level == LEVELS_MAX) {
			most = distance + reach;
			continue;
		}
		ASSERT(depth + 8 <= STACK_MAX);
		vec3 half = vec3_scale(cube.half, 0.5);
		for (uint32_t i = 8; i-- > 0;) {
			vec3 at = vec3_make(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y,
					    i & 4 ? half.z : -half.z);
			stack[depth++] = (struct deviation_cube){ vec3_add(cube.centre, at), half,
								  cube.level + 1 };
		}
	}
	return most;
}
