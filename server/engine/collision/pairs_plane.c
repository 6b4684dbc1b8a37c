/* See pairs.h. Spheres, capsules, boxes and hulls against the half-space normal · x ≤ offset.
 *
 * Each vertex within the margin is a contact point. The contact normal (A → B) is the negative normal of the
 * plane.
 */
#include "server/engine/collision/clip.h"
#include "server/engine/collision/pairs.h"

/* The plane in A's frame; a point x of A has the separation normal·x − offset. */
struct plane {
	vec3 normal;
	double offset;
};

static struct plane plane_in_a(const struct pair *pair)
{
	VALIDATE(pair->b->kind == SHAPE_PLANE);
	vec3 normal = quat_rotate(pair->b_in_a.rotation, pair->b->plane.normal);
	return (struct plane){ normal,
			       pair->b->plane.offset + vec3_dot(normal, pair->b_in_a.position) };
}

static struct manifold_point plane_point(const struct plane *plane, vec3 p, double separation,
					 uint32_t feature)
{
	return (struct manifold_point){ vec3_mul_sub(p, plane->normal, 0.5 * separation),
					separation, feature_make(FEATURE_VERTEX, feature, 0) };
}

void pair_sphere_plane(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	VALIDATE(pair->a->kind == SHAPE_SPHERE);
	UNUSED(cache);
	struct plane plane = plane_in_a(pair);
	double radius = pair->a->sphere.radius, separation = -plane.offset - radius;
	out->count = 0;
	if (separation > pair->margin)
		return;
	out->normal = vec3_negate(plane.normal);
	out->points[out->count++] =
		plane_point(&plane, vec3_scale(plane.normal, -radius), separation, 0);
}

void pair_capsule_plane(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	VALIDATE(pair->a->kind == SHAPE_CAPSULE);
	UNUSED(cache);
	struct plane plane = plane_in_a(pair);
	double half = pair->a->capsule.half_length, radius = pair->a->capsule.radius;
	out->count = 0;
	out->normal = vec3_negate(plane.normal);
	for (uint32_t k = 0; k < 2; k++) {
		vec3 p = vec3_mul_sub(vec3_make(0, k == 0 ? -half : half, 0), plane.normal, radius);
		double separation = vec3_dot(plane.normal, p) - plane.offset;
		if (separation <= pair->margin)
			out->points[out->count++] = plane_point(&plane, p, separation, k);
	}
	ASSERT(out->count <= 2);
}

/* Serves boxes too: a box has a hull of eight vertices. */
void pair_hull_plane(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	VALIDATE(pair->a->kind == SHAPE_BOX || pair->a->kind == SHAPE_HULL);
	UNUSED(cache);
	struct plane plane = plane_in_a(pair);
	const struct hull *hull = pair->a->hull;
	struct manifold_point points[SHAPE_HULL_VERTICES_MAX];
	uint32_t count = 0;
	for (uint32_t k = 0; k < hull->vertex_count; k++) {
		double separation = vec3_dot(plane.normal, hull->vertices[k]) - plane.offset;
		if (separation <= pair->margin)
			points[count++] = plane_point(&plane, hull->vertices[k], separation, k);
	}
	double slop = scalar_min(PAIR_SLOP_RELATIVE * pair->a->extent_min, PAIR_SLOP_MAX);
	manifold_reduce(points, count, vec3_negate(plane.normal), slop, out);
}
