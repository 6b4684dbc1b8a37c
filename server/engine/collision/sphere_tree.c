/* See sphere_tree.h. ch1-3 G-06 (Ritter's two passes, with the new radius in the centre's formula).
 *
 * The first pass finds the two points farthest along each axis and starts with the widest pair as a
 * diameter. The second grows the ball for each point outside it: the new diameter reaches from the far
 * side of the old ball to the point, so the new ball contains the old one. Exercise 3: the principal axes
 * of the points' covariance give a better start for elongated point sets; ball_of_points tries both.
 */
#include "server/engine/collision/sphere_tree.h"

#include "server/engine/collision/obb.h"
#include "server/engine/linalg/eigen3.h"

struct ball ball_add_point(struct ball ball, vec3 p)
{
	VALIDATE(!(ball.radius < 0));
	double far = vec3_distance(p, ball.centre);
	if (!(far > ball.radius))
		return ball;
	double radius = 0.5 * (ball.radius + far);
	vec3 centre = vec3_lerp(ball.centre, p, (far - radius) / far);
	return (struct ball){ centre, radius };
}

/* A ball that contains `count` > 0 points. It starts from the farthest pair of extreme points along
 * `axes` (columns, orthonormal), and its radius includes a margin for rounding. It is not minimal:
 * usually within some per cent. */
static struct ball ball_of_points_along(mat3 axes, const vec3 *points, uint32_t count)
{
	ASSERT(count > 0);
	struct ball ball = { points[0], 0 };
	double widest = -1;
	vec3 far = vec3_zero();
	for (uint32_t axis = 0; axis < 3; axis++) {
		vec3 along = axis == 0 ? axes.x : axis == 1 ? axes.y : axes.z;
		uint32_t low = 0, high = 0;
		for (uint32_t i = 1; i < count; i++) {
			double at = vec3_dot(along, points[i]);
			if (at < vec3_dot(along, points[low]))
				low = i;
			if (at > vec3_dot(along, points[high]))
				high = i;
		}
		double width = vec3_distance(points[low], points[high]);
		if (width > widest) {
			widest = width;
			ball.centre = vec3_lerp(points[low], points[high], 0.5);
			ball.radius = 0.5 * width;
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		ball = ball_add_point(ball, points[i]);
		far = vec3_max(far, vec3_abs(points[i]));
	}
	/* Each growth may lose a few units of rounding; their sum is far below this. */
	double most = 0;
	for (uint32_t i = 0; i < count; i++)
		most = scalar_max(most, vec3_distance(points[i], ball.centre));
	ball.radius = most + 8 * SCALAR_EPSILON * (far.x + far.y + far.z);
	return ball;
}

struct ball ball_of_points(const vec3 *points, uint32_t count)
{
	ASSERT(count > 0);
	mat3 spread = eigen3_symmetric(obb_covariance_points(points, count)).vectors;
	struct ball one = ball_of_points_along(mat3_identity(), points, count);
	struct ball other = ball_of_points_along(spread, points, count);
	return other.radius < one.radius ? other : one;
}

struct ball ball_union(struct ball a, struct ball b)
{
	VALIDATE(!(a.radius < 0) && !(b.radius < 0));
	double apart = vec3_distance(a.centre, b.centre);
	if (apart + b.radius <= a.radius)
		return a;
	if (apart + a.radius <= b.radius)
		return b;
	double radius = 0.5 * (apart + a.radius + b.radius);
	vec3 centre = vec3_lerp(a.centre, b.centre, (radius - a.radius) / apart);
	vec3 far = vec3_add(vec3_abs(a.centre), vec3_abs(b.centre));
	double room = 4 * SCALAR_EPSILON * (far.x + far.y + far.z + radius);
	return (struct ball){ centre, radius + room };
}
