/* continuous_triangle.c: ch1-3 G-30…G-32.
 *
 * Problem: corners move straight, x(s) = x₀ + s D. Two triangles first touch where a vertex meets a face or
 * two edges cross; then four points lie in one plane, which is a cubic equation in s. Every root in
 * [0, 1] is a candidate. The time is the first candidate at which the distance of the two features is zero
 * within the tolerance.
 *
 * What goes wrong, and what then happens:
 *   - Rounding loses a root where the cubic touches zero without crossing it, or at an end. Extrema and
 *     ends where the cubic is zero to rounding (NOISE) are candidates too.
 *   - For motion in one plane the cubic vanishes, or it is so small against its terms (SMALL) that its
 *     roots are inaccurate. Then vertices against the lines of edges are added: the cross product of edge and
 *     difference is zero, a quadratic for each of its three components (G-31; all three are used, which saves
 *     the rotation into the plane). For motion along one line these vanish as well, and vertices against
 *     vertices are added, by each coordinate (G-32). All of this only adds candidates.
 *   - A candidate may be wrong; the distance decides. So parallel edges, degenerate triangles and noise
 *     cannot cause a false hit.
 * Invariant: the candidates of one pair of features are tested in ascending order.
 */
#include "server/engine/collision/continuous_triangle.h"

#include "server/engine/geometry/aabb.h"
#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/intersect_triangle_triangle.h"
#include "server/engine/linalg/poly.h"

#define NOISE 0x1p-46	 /* of the sizes of the terms: rounding of a coefficient, with room */
#define SMALL 0x1p-14	 /* of the same: below it roots may be off by more than the tolerance */
#define SIDEWAYS 0x1p-30 /* sine between motion and a face below which the face gives no normal */

enum { TIMES_MAX = 7 + 12 * 5 + 4 * 3 };

struct times {
	uint32_t count;
	double time[TIMES_MAX];
};

static vec3 position(struct continuous_point p, double s)
{
	return s == 1 ? p.to : vec3_lerp(p.from, p.to, s);
}

static vec3 step_of(struct continuous_point p)
{
	return vec3_sub(p.to, p.from);
}

static struct continuous_point between(struct continuous_point a, struct continuous_point b)
{
	return (struct continuous_point){ vec3_sub(b.from, a.from), vec3_sub(b.to, a.to) };
}

/* ---- candidates ------------------------------------------------------------------------------- */

/* In ascending order, each once. */
static void times_add(struct times *self, double s)
{
	uint32_t i = self->count;
	while (i > 0 && self->time[i - 1] > s)
		i--;
	if (i > 0 && self->time[i - 1] == s)
		return;
	ASSERT(self->count < TIMES_MAX);
	for (uint32_t k = self->count; k > i; k--)
		self->time[k] = self->time[k - 1];
	self->time[i] = s;
	self->count++;
}

/* Adds the roots of f in [0, 1], and the ends and extrema where f is zero to rounding. `size`: an upper bound
 * of its terms. */
static void times_add_roots(struct times *self, const double *f, uint32_t degree, double size)
{
	ASSERT(degree >= 1 && degree <= 3);
	double roots[3], slope[3], flat[2];
	uint32_t count = poly_roots(f, degree, 0, 1, roots);
	for (uint32_t i = 0; i < count; i++)
		times_add(self, roots[i]);
	for (uint32_t i = 0; i < degree; i++)
		slope[i] = (i + 1) * f[i + 1];
	count = degree > 1 ? poly_roots(slope, degree - 1, 0, 1, flat) : 0;
	for (uint32_t i = 0; i < count; i++)
		if (scalar_abs(poly_value(f, degree, flat[i])) <= NOISE * size)
			times_add(self, flat[i]);
	for (uint32_t end = 0; end < 2; end++)
		if (scalar_abs(poly_value(f, degree, end)) <= NOISE * size)
			times_add(self, end);
}

static double reach_of(struct continuous_point p)
{
	return vec3_max_component(vec3_max(vec3_abs(p.from), vec3_abs(p.to)));
}

void continuous_cubic(struct continuous_point way, struct continuous_point e,
		      struct continuous_point g, double f[4])
{
	vec3 k1 = step_of(way), k3 = way.from;
	vec3 k2 = vec3_cross(step_of(e), step_of(g));
	vec3 k4 = vec3_add(vec3_cross(e.from, step_of(g)), vec3_cross(step_of(e), g.from));
	vec3 k5 = vec3_cross(e.from, g.from);
	f[3] = vec3_dot(k1, k2);
	f[2] = vec3_dot(k3, k2) + vec3_dot(k1, k4);
	f[1] = vec3_dot(k3, k4) + vec3_dot(k1, k5);
	f[0] = vec3_dot(k3, k5);
}

/* Adds the times at which the three vectors are coplanar. True: they may be unreliable, so the
 * caller must add those of lines as well. */
static bool times_add_plane(struct times *self, struct continuous_point way,
			    struct continuous_point e, struct continuous_point g)
{
	double f[4], size = 6 * reach_of(way) * reach_of(e) * reach_of(g), most = 0;
	continuous_cubic(way, e, g, f);
	for (uint32_t i = 0; i < 4; i++)
		most = scalar_max(most, scalar_abs(f[i]));
	if (most > NOISE * size)
		times_add_roots(self, f, 3, size);
	return most <= SMALL * size;
}

/* G-31 and G-32: adds the times at which p lies on the line a b, or coincides with a or b. */
static void times_add_line(struct times *self, struct continuous_point p, struct continuous_point a,
			   struct continuous_point b)
{
	struct continuous_point e = between(a, b), w = between(a, p), v = between(b, p);
	vec3 f0 = vec3_cross(e.from, w.from), f2 = vec3_cross(step_of(e), step_of(w));
	vec3 f1 = vec3_add(vec3_cross(e.from, step_of(w)), vec3_cross(step_of(e), w.from));
	double size = 2 * reach_of(e) * reach_of(w);
	for (uint32_t axis = 0; axis < 3; axis++) {
		double f[3] = { vec3_get(f0, axis), vec3_get(f1, axis), vec3_get(f2, axis) };
		double most = scalar_max(scalar_max(scalar_abs(f[0]), scalar_abs(f[1])),
					 scalar_abs(f[2]));
		if (most > NOISE * size)
			times_add_roots(self, f, 2, size);
		double from_a = vec3_get(w.from, axis), to_a = vec3_get(step_of(w), axis);
		double from_b = vec3_get(v.from, axis), to_b = vec3_get(step_of(v), axis);
		if (to_a != 0 && -from_a / to_a >= 0 && -from_a / to_a <= 1)
			times_add(self, -from_a / to_a);
		if (to_b != 0 && -from_b / to_b >= 0 && -from_b / to_b <= 1)
			times_add(self, -from_b / to_b);
	}
}

/* ---- normals ---------------------------------------------------------------------------------- */

/* Parts of a, b, c in p, a point of the triangle. */
static vec3 parts_of(vec3 p, vec3 a, vec3 b, vec3 c)
{
	vec3 u = vec3_sub(b, a), v = vec3_sub(c, a), w = vec3_sub(p, a), n = vec3_cross(u, v);
	double area = vec3_length_squared(n);
	if (!(area > 0))
		return vec3_all(1.0 / 3);
	double in_b = vec3_dot(vec3_cross(w, v), n) / area;
	double in_c = vec3_dot(vec3_cross(u, w), n) / area;
	return vec3_make(1 - in_b - in_c, in_b, in_c);
}

/* `across` turned against the motion; where the motion runs along it (or it is zero), the motion's own
 * part across `edge`, then the motion. Zero only when nothing moves. */
static vec3 normal_against(vec3 motion, vec3 across, vec3 edge)
{
	double speed, length;
	vec3 way = vec3_normalize_length(motion, &speed);
	vec3 normal = vec3_normalize_length(across, &length);
	double into = vec3_dot(normal, way);
	if (length > 0 && scalar_abs(into) > SIDEWAYS)
		return into > 0 ? vec3_negate(normal) : normal;
	vec3 along = vec3_normalize(edge);
	vec3 side = vec3_mul_sub(way, along, vec3_dot(way, along));
	if (vec3_length_squared(side) > scalar_square(SIDEWAYS))
		return vec3_negate(vec3_normalize(side));
	return speed > 0 ? vec3_negate(way) : normal;
}

/* ---- the two pairs ---------------------------------------------------------------------------- */

/* The squared tolerance, m²: relative to the longest side of the box around all paths, so that the result
 * does not depend on the choice of origin. */
static double square_of_tolerance(const struct continuous_point *all, uint32_t count)
{
	struct aabb box = aabb_empty();
	for (uint32_t i = 0; i < count; i++)
		box = aabb_add_point(aabb_add_point(box, all[i].from), all[i].to);
	double reach = vec3_max_component(vec3_sub(box.max, box.min));
	return scalar_square(CONTINUOUS_TOLERANCE * reach);
}

static bool vertex_face(struct continuous_point p, const struct continuous_point f[3],
			double tolerance, struct continuous_hit *hit)
{
	struct times times = { .count = 0 };
	if (times_add_plane(&times, between(f[0], p), between(f[0], f[1]), between(f[1], f[2])))
		for (uint32_t i = 0; i < 3; i++)
			times_add_line(&times, p, f[i], f[(i + 1) % 3]);
	for (uint32_t i = 0; i < times.count; i++) {
		double s = times.time[i];
		vec3 at = position(p, s), a = position(f[0], s), b = position(f[1], s),
		     c = position(f[2], s);
		struct triangle_point near = closest_point_triangle(at, a, b, c);
		if (!(near.distance_squared <= tolerance))
			continue;
		vec3 part = parts_of(near.point, a, b, c);
		vec3 carried = vec3_scale(step_of(f[0]), part.x);
		carried = vec3_mul_add(carried, step_of(f[1]), part.y);
		carried = vec3_mul_add(carried, step_of(f[2]), part.z);
		static const uint32_t EDGE_OF[7] = { 0, 1, 2, 0, 1, 2, 0 };
		uint32_t k = EDGE_OF[near.feature];
		vec3 edge = near.feature < TRIANGLE_EDGE_0 || near.feature == TRIANGLE_FACE
				    ? vec3_zero()
				    : vec3_sub(position(f[(k + 1) % 3], s), position(f[k], s));
		vec3 across = vec3_cross(vec3_sub(b, a), vec3_sub(c, b));
		*hit = (struct continuous_hit){
			.time = s,
			.kind = CONTINUOUS_FACE_VERTEX,
			.point = at,
			.normal = normal_against(vec3_sub(carried, step_of(p)), across, edge),
		};
		return true;
	}
	return false;
}

static bool edge_edge(const struct continuous_point a[2], const struct continuous_point b[2],
		      double tolerance, struct continuous_hit *hit)
{
	struct times times = { .count = 0 };
	if (times_add_plane(&times, between(a[0], b[0]), between(a[0], a[1]), between(b[0], b[1])))
		for (uint32_t i = 0; i < 2; i++) {
			times_add_line(&times, a[i], b[0], b[1]);
			times_add_line(&times, b[i], a[0], a[1]);
		}
	for (uint32_t i = 0; i < times.count; i++) {
		double s = times.time[i];
		vec3 a0 = position(a[0], s), a1 = position(a[1], s), b0 = position(b[0], s),
		     b1 = position(b[1], s);
		struct segment_pair near = closest_segment_segment(a0, a1, b0, b1);
		if (!(near.distance_squared <= tolerance))
			continue;
		vec3 of_a = vec3_lerp(step_of(a[0]), step_of(a[1]), near.s);
		vec3 of_b = vec3_lerp(step_of(b[0]), step_of(b[1]), near.t);
		bool end_of_a = near.s == 0 || near.s == 1;
		vec3 edge = end_of_a ? vec3_sub(b1, b0) : vec3_sub(a1, a0);
		*hit = (struct continuous_hit){
			.time = s,
			.kind = CONTINUOUS_EDGES,
			.point = vec3_lerp(near.first, near.second, 0.5),
			.normal = normal_against(vec3_sub(of_a, of_b),
						 vec3_cross(vec3_sub(a1, a0), vec3_sub(b1, b0)),
						 edge),
		};
		return true;
	}
	return false;
}

bool continuous_vertex_face(struct continuous_point vertex, const struct continuous_point face[3],
			    struct continuous_hit *hit)
{
	struct continuous_point all[4] = { vertex, face[0], face[1], face[2] };
	return vertex_face(vertex, face, square_of_tolerance(all, 4), hit);
}

bool continuous_edge_edge(const struct continuous_point a[2], const struct continuous_point b[2],
			  struct continuous_hit *hit)
{
	struct continuous_point all[4] = { a[0], a[1], b[0], b[1] };
	return edge_edge(a, b, square_of_tolerance(all, 4), hit);
}

/* ---- the triangles ---------------------------------------------------------------------------- */

static struct aabb swept_box(const struct continuous_point p[3])
{
	struct aabb box = aabb_empty();
	for (uint32_t i = 0; i < 3; i++)
		box = aabb_add_point(aabb_add_point(box, p[i].from), p[i].to);
	return box;
}

static bool overlap_at_start(const struct continuous_point a[3], const struct continuous_point b[3],
			     struct continuous_hit *hit)
{
	struct triangle_cut cut;
	vec3 first[3] = { a[0].from, a[1].from, a[2].from };
	vec3 second[3] = { b[0].from, b[1].from, b[2].from };
	if (!intersect_triangle_triangle(first, second, &cut))
		return false;
	*hit = (struct continuous_hit){ .kind = CONTINUOUS_OVERLAP, .point = cut.from };
	return true;
}

/* Tests the three vertices of `b` against face `a`; *hit is replaced by a hit that is not later.
 * `turned`: the caller's a and b are exchanged. */
static bool face_vertices(const struct continuous_point a[3], const struct continuous_point b[3],
			  bool turned, double tolerance, struct continuous_hit *hit, bool found)
{
	for (uint32_t i = 0; i < 3; i++) {
		struct continuous_hit one;
		if (!vertex_face(b[i], a, tolerance, &one) || (found && one.time > hit->time))
			continue;
		*hit = one;
		found = true;
		if (turned) {
			hit->kind = CONTINUOUS_VERTEX_FACE;
			hit->feature_a = i;
			hit->normal = vec3_negate(one.normal);
		} else {
			hit->feature_b = i;
		}
	}
	return found;
}

bool continuous_triangle_triangle(const struct continuous_point a[3],
				  const struct continuous_point b[3], struct continuous_hit *hit)
{
	struct continuous_point all[6] = { a[0], a[1], a[2], b[0], b[1], b[2] };
	double tolerance = square_of_tolerance(all, 6);
	struct aabb near_b = aabb_grow(swept_box(b), scalar_sqrt(tolerance));
	if (!aabb_overlaps(swept_box(a), near_b))
		return false;
	if (overlap_at_start(a, b, hit))
		return true;
	bool found = face_vertices(a, b, false, tolerance, hit, false);
	found = face_vertices(b, a, true, tolerance, hit, found);
	for (uint32_t k = 0; k < 9; k++) {
		uint32_t i = k / 3, j = k % 3;
		struct continuous_point edge_a[2] = { a[i], a[(i + 1) % 3] };
		struct continuous_point edge_b[2] = { b[j], b[(j + 1) % 3] };
		struct continuous_hit one;
		if (!edge_edge(edge_a, edge_b, tolerance, &one) || (found && one.time >= hit->time))
			continue;
		*hit = one;
		hit->feature_a = i;
		hit->feature_b = j;
		found = true;
	}
	return found;
}
