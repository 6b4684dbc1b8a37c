/* See pairs.h. Rounded convex polygons in the plane.
 *
 * The separating axes of the cores are their edge normals. The reference is the edge with the greatest
 * separation: A's unless B's is greater by more than the slop; the cached one stays while it is within the
 * slop of the greatest. The most opposed edge of the other polygon is clipped to the reference, and each end
 * is a point of the manifold. If the cores are apart and two corners are nearest, the normal is the line
 * between them, which makes rounded corners round.
 *
 * All coordinates have z = 0; the pose rotates about z and translates in x–y.
 */
#include "server/engine/collision/gjk.h"
#include "server/engine/collision/pairs.h"
#include "server/engine/geometry/closest.h"

/* Cosine of the angle (0.8 degrees) between an edge's normal and the line between two corners up to which
 * the corners count as above the edge. It concerns stacked edges of equal length: with a single contact at a
 * corner they would see-saw. */
#define FACING_COSINE 0.9999

/* The two polygons in the frame of the reference. */
struct polygon_view {
	const struct polygon *reference, *other;
	mat3 rotation; /* of the other in the reference's frame */
	vec3 translation;
	bool reference_is_b;
};

struct polygon_axis {
	double separation; /* of the cores */
	uint32_t edge;
};

static vec3 view_vertex(const struct polygon_view *view, uint32_t i)
{
	VALIDATE(i < view->other->count);
	return vec3_add(view->translation, mat3_mul_vec(view->rotation, view->other->vertices[i]));
}

static double edge_separation(const struct polygon_view *view, uint32_t edge)
{
	VALIDATE(edge < view->reference->count);
	vec3 normal = view->reference->normals[edge];
	vec3 seen = mat3_transposed_mul_vec(view->rotation, normal);
	double least = SCALAR_MAX;
	for (uint32_t i = 0; i < view->other->count; i++)
		least = scalar_min(vec3_dot(seen, view->other->vertices[i]), least);
	return least +
	       vec3_dot(normal, vec3_sub(view->translation, view->reference->vertices[edge]));
}

static struct polygon_axis edges_best(const struct polygon_view *view)
{
	VALIDATE(view->reference->count > 0);
	struct polygon_axis best = { -SCALAR_MAX, 0 };
	for (uint32_t i = 0; i < view->reference->count; i++) {
		double separation = edge_separation(view, i);
		if (separation > best.separation)
			best = (struct polygon_axis){ separation, i };
	}
	VALIDATE(best.edge < view->reference->count);
	return best;
}

static uint32_t edge_against(const struct polygon_view *view, vec3 normal)
{
	vec3 seen = mat3_transposed_mul_vec(view->rotation, normal);
	double least = SCALAR_MAX;
	uint32_t best = 0;
	for (uint32_t i = 0; i < view->other->count; i++) {
		double along = vec3_dot(view->other->normals[i], seen);
		if (along < least) {
			least = along;
			best = i;
		}
	}
	VALIDATE(best < view->other->count);
	return best;
}

/* In the reference's frame; p on the reference's core, q on the other's, with their separation. */
static struct manifold_point point_make(const struct polygon_view *view, vec3 foot, vec3 normal,
					double apart, uint32_t feature)
{
	double radius = view->reference->radius;
	double separation = apart - radius - view->other->radius;
	return (struct manifold_point){ vec3_mul_add(foot, normal, radius + 0.5 * separation),
					separation, feature };
}

static uint32_t feature_of(const struct polygon_view *view, uint32_t mine, uint32_t others,
			   uint32_t end)
{
	uint32_t a = view->reference_is_b ? others : mine, b = view->reference_is_b ? mine : others;
	return feature_make(FEATURE_EDGES, a | end << 7, b) | (uint32_t)view->reference_is_b << 28;
}

/* Two corners that face each other; false if the nearest points lie on an edge. */
static bool corner_manifold(const struct polygon_view *view, const vec3 mine[2],
			    const vec3 others[2], uint32_t feature, double margin,
			    struct manifold *out)
{
	struct segment_pair near = closest_segment_segment(mine[0], mine[1], others[0], others[1]);
	bool corners = (near.s <= 0 || near.s >= 1) && (near.t <= 0 || near.t >= 1);
	if (!corners || !(near.distance_squared > 0))
		return false;
	double apart = scalar_sqrt(near.distance_squared);
	out->normal = vec3_scale(vec3_sub(near.second, near.first), 1.0 / apart);
	out->points[0] = point_make(view, near.first, out->normal, apart, feature);
	out->count = out->points[0].separation <= margin;
	return true;
}

/* In the reference's frame. */
static void edge_manifold(const struct polygon_view *view, struct polygon_axis axis, double margin,
			  struct manifold *out)
{
	VALIDATE(axis.edge < view->reference->count);
	const struct polygon *mine = view->reference;
	uint32_t j = edge_against(view, mine->normals[axis.edge]);
	vec3 normal = mine->normals[axis.edge];
	vec3 e[2] = { mine->vertices[axis.edge], mine->vertices[(axis.edge + 1) % mine->count] };
	vec3 f[2] = { view_vertex(view, j), view_vertex(view, (j + 1) % view->other->count) };
	vec3 along = vec3_sub(e[1], e[0]);
	double length = vec3_length(along);
	along = vec3_scale(along, 1.0 / length);
	double from = vec3_dot(vec3_sub(f[0], e[0]), along),
	       to = vec3_dot(vec3_sub(f[1], e[0]), along);
	/* The other edge runs against this one; what of it lies beside this one. */
	double low = scalar_max(scalar_min(from, to), 0);
	double high = scalar_min(scalar_max(from, to), length);
	uint32_t corner = feature_of(view, axis.edge, j, 2);
	if (axis.separation > 0 && corner_manifold(view, e, f, corner, margin, out) &&
	    (low > high || vec3_dot(out->normal, normal) < FACING_COSINE))
		return;
	out->count = 0;
	out->normal = normal;
	if (low > high)
		return;
	for (uint32_t k = 0; k < 2; k++) {
		double at = scalar_clamp(k == 0 ? from : to, low, high);
		double t = from == to ? k : (at - from) / (to - from);
		vec3 p = vec3_lerp(f[0], f[1], t);
		double apart = vec3_dot(vec3_sub(p, e[0]), normal);
		struct manifold_point point =
			point_make(view, vec3_mul_sub(p, normal, apart), normal, apart,
				   feature_of(view, axis.edge, j, k));
		if (point.separation <= margin)
			out->points[out->count++] = point;
	}
}

/* Puts the nearest points into *out if they are nearer than what is there by more than the slop:
 * the edges that face each other need not hold them where corners meet. */
static void nearest_manifold(const struct pair *pair, double radii, double slop,
			     struct manifold *out)
{
	struct gjk_result nearest;
	gjk_shapes(pair, &nearest);
	double separation = nearest.distance - radii;
	if (nearest.touching || separation > pair->margin ||
	    separation >= manifold_deepest(out) - slop)
		return;
	vec3 on_a = vec3_mul_add(nearest.point_a, nearest.normal, pair->a->polygon->radius);
	manifold_one(out, nearest.normal, on_a, separation,
		     feature_make(FEATURE_NEAREST, nearest.simplex.a[0], nearest.simplex.b[0]));
}

void pair_polygon_polygon(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	VALIDATE(pair->a->kind == SHAPE_POLYGON);
	VALIDATE(pair->b->kind == SHAPE_POLYGON);
	mat3 rotation = mat3_from_quat(pair->b_in_a.rotation), inverse = mat3_transpose(rotation);
	vec3 at = pair->b_in_a.position;
	struct polygon_view views[2] = { { pair->a->polygon, pair->b->polygon, rotation, at,
					   false },
					 { pair->b->polygon, pair->a->polygon, inverse,
					   vec3_negate(mat3_mul_vec(inverse, at)), true } };
	double reach = pair->a->polygon->radius + pair->b->polygon->radius + pair->margin;
	double slop = pair_slop(pair->a, pair->b);
	bool used_b = cache->kind == CACHE_FACE_B, used = used_b || cache->kind == CACHE_FACE_A;
	uint32_t old = used_b ? cache->feature_b : cache->feature_a;
	struct polygon_axis kept = { -SCALAR_MAX, old };
	out->count = 0;
	if (used && old < views[used_b].reference->count)
		kept.separation = edge_separation(&views[used_b], old);
	if (kept.separation > reach)
		return;
	struct polygon_axis a = edges_best(&views[0]), b = edges_best(&views[1]);
	bool is_b = b.separation > a.separation + slop;
	struct polygon_axis best = is_b ? b : a;
	double top = scalar_max(a.separation, b.separation);
	if (kept.separation >= top - slop) {
		best = kept;
		is_b = used_b;
	}
	cache_set(cache, is_b ? CACHE_FACE_B : CACHE_FACE_A, is_b ? 0 : best.edge,
		  is_b ? best.edge : 0);
	if (top > reach)
		return;
	edge_manifold(&views[is_b], best, pair->margin, out);
	if (is_b) {
		out->normal = vec3_negate(mat3_mul_vec(rotation, out->normal));
		for (uint32_t k = 0; k < out->count; k++)
			out->points[k].point =
				vec3_add(at, mat3_mul_vec(rotation, out->points[k].point));
	}
	double radii = reach - pair->margin;
	if (top > 0 && manifold_deepest(out) > top - radii + slop)
		nearest_manifold(pair, radii, slop, out);
}
