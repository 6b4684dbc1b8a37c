/* See swept_ball.h. */
#include "server/engine/collision/swept_ball.h"

#include "server/engine/collision/placed.h"

/* A Newton step doubles the number of correct digits, so a search ends far earlier. */
enum { NEWTON_STEPS = 64 };

/* ---- signed distance of a point and the outward normal there, in the shape's frame --------------- */

static double gap_of_centre(vec3 p, double radius, vec3 *normal)
{
	ASSERT(radius > 0);
	double length = vec3_length(p);
	*normal = length > 0 ? vec3_scale(p, 1 / length) : vec3_make(0, 1, 0);
	return length - radius;
}

static double gap_of_box(vec3 p, vec3 half, vec3 *normal)
{
	vec3 inside = vec3_min(vec3_max(p, vec3_negate(half)), half);
	vec3 out = vec3_sub(p, inside), room = vec3_sub(half, vec3_abs(p));
	double distance = vec3_length(out);
	if (distance > 0) {
		*normal = vec3_scale(out, 1 / distance);
		return distance;
	}
	uint32_t axis = vec3_smallest_axis(room);
	*normal = vec3_zero();
	vec3_set(normal, axis, vec3_get(p, axis) < 0 ? -1 : 1);
	return -vec3_get(room, axis);
}

/* Of the core without its radius: outside from the nearest point, inside from the nearest edge. */
static double gap_of_polygon(vec3 p, const struct polygon *polygon, vec3 *normal)
{
	const vec3 *at = polygon->vertices;
	double inside = -SCALAR_MAX, best = SCALAR_MAX;
	vec3 nearest = at[0];
	ASSERT(polygon->count >= 3);
	for (uint32_t i = 0; i < polygon->count; i++) {
		vec3 edge = vec3_sub(at[i + 1 < polygon->count ? i + 1 : 0], at[i]);
		vec3 to = vec3_sub(p, at[i]);
		double depth = vec3_dot(to, polygon->normals[i]);
		double part = vec3_dot(to, edge) / vec3_length_squared(edge);
		vec3 q = vec3_mul_add(at[i], edge, scalar_clamp(part, 0, 1));
		double square = vec3_length_squared(vec3_sub(p, q));
		if (depth > inside) {
			inside = depth;
			*normal = polygon->normals[i];
		}
		if (square < best) {
			best = square;
			nearest = q;
		}
	}
	if (inside <= 0)
		return inside - polygon->radius;
	vec3 out = vec3_sub(p, nearest);
	double distance = vec3_length(out);
	/* So near an edge that the distance is rounding: the edge's own normal. */
	if (distance > inside * (1 + 4 * SCALAR_EPSILON))
		*normal = vec3_scale(out, 1 / distance);
	return distance - polygon->radius;
}

static double gap_of(const struct shape *shape, vec3 p, vec3 *normal)
{
	double h;
	switch (shape->kind) {
	case SHAPE_SPHERE:
		return gap_of_centre(p, shape->sphere.radius, normal);
	case SHAPE_CAPSULE:
		h = shape->capsule.half_length;
		p.y -= scalar_min(scalar_max(p.y, -h), h);
		return gap_of_centre(p, shape->capsule.radius, normal);
	case SHAPE_PLANE:
		*normal = shape->plane.normal;
		return vec3_dot(*normal, p) - shape->plane.offset;
	case SHAPE_POLYGON:
		return gap_of_polygon(p, shape->polygon, normal);
	default:
		ASSERT(shape->kind == SHAPE_BOX);
		return gap_of_box(p, shape->box.half, normal);
	}
}

/* ---- searches ---------------------------------------------------------------------------------- */

static bool has_gap(const struct shape *shape)
{
	return shape->kind == SHAPE_SPHERE || shape->kind == SHAPE_CAPSULE ||
	       shape->kind == SHAPE_BOX || shape->kind == SHAPE_PLANE ||
	       shape->kind == SHAPE_POLYGON;
}

/* The way goes into the shape, not along it; or the centre begins inside, and is put on the surface. */
static bool goes_in(vec3 way, vec3 normal, double depth, double radius)
{
	return depth > radius + SWEPT_BALL_TOLERANCE ||
	       -vec3_dot(way, normal) > SWEPT_BALL_GRAZING * vec3_length(way);
}

/* The path is in the shape's frame. */
static bool search(const struct shape *shape, const struct ball_path *path, double limit,
		   struct swept_hit *hit)
{
	vec3 at = path->from, way = path->way, normal;
	double time = 0, depth = 0;
	for (uint32_t i = 0;; i++) {
		double gap = gap_of(shape, at, &normal) - path->radius;
		if (i == 0)
			depth = scalar_max(-gap, 0);
		if (i == NEWTON_STEPS || !(gap > SWEPT_BALL_TOLERANCE))
			break;
		double closing = -vec3_dot(way, normal);
		if (!(closing > 0) || gap > closing * (limit - time))
			return false;
		time += gap / closing;
		at = vec3_mul_add(path->from, way, time);
	}
	if (!goes_in(way, normal, depth, path->radius))
		return false;
	*hit = (struct swept_hit){ time, normal, depth };
	return true;
}

static bool cast(const struct shape *shape, const pose *at, const struct ball_path *path,
		 double limit, struct swept_hit *out)
{
	struct shape ball = { .kind = SHAPE_SPHERE, .sphere = { path->radius } };
	struct placed_shape placed = { shape, *at, 0, 0 };
	struct cast_hit hit;
	enum status status;
	uint32_t count = placed_cast(&placed, 1, &ball, pose_make(path->from, quat_identity()),
				     path->way, &hit, 1, &status);
	ASSERT(status == STATUS_OK);
	if (count == 0 || hit.fraction > limit ||
	    !goes_in(path->way, hit.normal, hit.depth, path->radius))
		return false;
	*out = (struct swept_hit){ hit.fraction, hit.normal, hit.depth };
	return true;
}

bool swept_ball(const struct shape *shape, const pose *at, const struct ball_path *path,
		double limit, struct swept_hit *hit)
{
	ASSERT(path->radius >= 0 && limit >= 0);
	if (!has_gap(shape))
		return cast(shape, at, path, limit, hit);
	struct ball_path inside = { pose_inverse_point(*at, path->from),
				    pose_inverse_vector(*at, path->way), path->radius };
	if (!search(shape, &inside, limit, hit))
		return false;
	hit->normal = pose_vector(*at, hit->normal);
	return true;
}
