/* The polygon in which two pieces touch: known areas, agreement with the manifold's four points,
 * and the piece that gives the normal. */
#include "server/engine/collision/contact_polygon.h"

#include <math.h>
#include <string.h>

#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

#define MARGIN 0.02

enum { CORNERS = 12 };

static struct rng rng;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
}

static void find(const struct shape *a, const struct shape *b, const pose *at,
		 struct manifold *found, struct contact_polygon *out)
{
	struct pair_cache none = { 0 };
	struct piece piece_a = { a, 0 }, piece_b = { b, 0 };
	collide_pieces(piece_a, piece_b, at, MARGIN, &none, found);
	contact_polygon(piece_a, piece_b, at, MARGIN, found, out);
}

/* A prism around the y axis, from −height to height. */
static struct shape *prism(double radius, double height)
{
	vec3 points[2 * CORNERS];
	for (uint32_t k = 0; k < CORNERS; k++) {
		double angle = 2 * M_PI * k / CORNERS;
		points[k] = vec3_make(radius * cos(angle), -height, radius * sin(angle));
		points[CORNERS + k] = vec3_add(points[k], vec3_make(0, 2 * height, 0));
	}
	return make_hull(points, 2 * CORNERS);
}

/* The area of the points' convex hull seen along y; all points lie on its border. */
static double polygon_area(const struct contact_polygon *polygon)
{
	uint32_t order[CLIP_CORNERS_MAX];
	vec3 middle = vec3_zero();
	for (uint32_t k = 0; k < polygon->count; k++)
		middle = vec3_mul_add(middle, polygon->points[k].point, 1.0 / polygon->count);
	for (uint32_t k = 0; k < polygon->count; k++) {
		vec3 d = vec3_sub(polygon->points[k].point, middle);
		double angle = atan2(d.z, d.x);
		uint32_t at = k;
		for (; at > 0; at--) {
			vec3 e = vec3_sub(polygon->points[order[at - 1]].point, middle);
			if (atan2(e.z, e.x) <= angle)
				break;
			order[at] = order[at - 1];
		}
		order[at] = k;
	}
	double twice = 0;
	for (uint32_t k = 0; k < polygon->count; k++) {
		vec3 p = polygon->points[order[k]].point;
		vec3 q = polygon->points[order[(k + 1) % polygon->count]].point;
		twice += p.x * q.z - q.x * p.z;
	}
	return 0.5 * twice;
}

/* Two regular polygons of 12 sides, one turned by half a side's angle, share one of 24 sides. */
START_TEST(the_polygon_of_two_faces_has_the_area_of_their_intersection)
{
	struct shape *prisms[2] = { prism(1, 0.5), prism(1, 0.25) };
	struct manifold found;
	struct contact_polygon polygon;
	double inner = cos(M_PI / CORNERS);
	double wanted = 2 * CORNERS * inner * inner * tan(M_PI / (2 * CORNERS));
	for (int turned = 0; turned < 2; turned++) {
		double half = turned ? 0.5 * M_PI / CORNERS : 0;
		pose at = { vec3_make(0, 0.751, 0), quat_make(cos(half), 0, sin(half), 0) };
		find(prisms[0], prisms[1], &at, &found, &polygon);
		ck_assert_uint_eq(found.count, 4);
		ck_assert_uint_eq(polygon.count, turned ? 2 * CORNERS : CORNERS);
		ck_assert(polygon.normal_of == CONTACT_NORMAL_OF_A ||
			  polygon.normal_of == CONTACT_NORMAL_OF_B);
		/* The reference polygon is wider by a fraction of the slop, so that corners are not
		 * cut. */
		double whole = CORNERS * sin(M_PI / CORNERS) * inner;
		ck_assert_double_eq_tol(polygon_area(&polygon), turned ? wanted : whole,
					turned ? 5e-3 : 1e-9);
		for (uint32_t k = 0; k < polygon.count; k++)
			ck_assert_double_eq_tol(polygon.points[k].separation, 1e-3, 1e-12);
	}
	shape_release(prisms[0]);
	shape_release(prisms[1]);
}
END_TEST

static double distance_to_nearest(const struct contact_polygon *polygon, vec3 point)
{
	double least = INFINITY;
	for (uint32_t k = 0; k < polygon->count; k++)
		least = fmin(least, vec3_distance(polygon->points[k].point, point));
	return least;
}

static enum contact_normal exchanged_side(enum contact_normal of)
{
	return of == CONTACT_NORMAL_OF_A   ? CONTACT_NORMAL_OF_B
	       : of == CONTACT_NORMAL_OF_B ? CONTACT_NORMAL_OF_A
					   : of;
}

/* Random poses near contact: the polygon contains the points of the manifold, and (b, a) gives the
 * same. */
START_TEST(a_polygon_contains_the_manifold_in_both_orders)
{
	vec3 corners[20];
	for (int k = 0; k < 20; k++)
		corners[k] = vec3_scale(random_direction(&rng), 0.5);
	struct shape *shapes[] = { make_box(0.5, 0.3, 0.4), make_hull(corners, 20), prism(0.5, 0.3),
				   make_sphere(0.4), make_capsule(0.3, 0.2) };
	uint32_t faces = 0, edges = 0, centres = 0;
	for (uint32_t round = 0; round < 3000; round++) {
		const struct shape *a = shapes[rng_below(&rng, COUNT_OF(shapes))];
		const struct shape *b = shapes[rng_below(&rng, COUNT_OF(shapes))];
		quat turn = random_rotation(&rng);
		vec3 direction = random_direction(&rng);
		pose at = { vec3_scale(direction, rng_range(&rng, 0.5, 1.1)), turn };
		pose back = pose_inverse(at);
		struct manifold found, found_back;
		struct contact_polygon polygon, other;
		find(a, b, &at, &found, &polygon);
		find(b, a, &back, &found_back, &other);
		ck_assert_uint_ge(polygon.count, found.count);
		if (found.count == 0 || found_back.count == 0)
			continue;
		ck_assert(vec3_equal(polygon.normal, found.normal));
		for (uint32_t k = 0; k < found.count; k++)
			ck_assert_double_lt(distance_to_nearest(&polygon, found.points[k].point),
					    1e-2);
		vec3 turned = quat_rotate(at.rotation, other.normal);
		if (vec3_distance(turned, vec3_negate(polygon.normal)) > 1e-6)
			continue; /* two axes that differ by less than the slop */
		ck_assert_int_eq(exchanged_side(other.normal_of), polygon.normal_of);
		for (uint32_t k = 0; k < other.count; k++)
			ck_assert_double_lt(
				distance_to_nearest(&polygon,
						    pose_point(at, other.points[k].point)),
				2e-2);
		faces += polygon.normal_of == CONTACT_NORMAL_OF_A ||
			 polygon.normal_of == CONTACT_NORMAL_OF_B;
		if (polygon.normal_of == CONTACT_NORMAL_OF_EDGES) {
			edges++;
			vec3 across = vec3_cross(polygon.edge_a, polygon.edge_b);
			ck_assert_double_lt(
				vec3_length(vec3_cross(vec3_normalize(across), polygon.normal)),
				1e-9);
		}
		if (polygon.normal_of == CONTACT_NORMAL_OF_CENTRES) {
			centres++;
			vec3 along = vec3_normalize(vec3_sub(polygon.ball_b, polygon.ball_a));
			ck_assert_double_lt(vec3_distance(along, polygon.normal), 1e-9);
		}
	}
	ck_assert_uint_gt(faces, 300);
	ck_assert_uint_gt(edges, 50);
	ck_assert_uint_gt(centres, 100);
	for (size_t k = 0; k < COUNT_OF(shapes); k++)
		shape_release(shapes[k]);
}
END_TEST

START_TEST(a_plane_touches_every_vertex_within_the_margin_and_a_triangle_is_two_sided)
{
	static const vec3 corners[3] = { { -3, 0, -3 }, { 0, 0, 4 }, { 3, 0, -3 } };
	static const uint32_t triangle[1][3] = { { 0, 1, 2 } };
	struct shape *top = prism(1, 0.5), *plane = make_plane(vec3_make(0, 1, 0), 0);
	struct shape *mesh = make_mesh(corners, 3, triangle, 1);
	struct manifold found;
	struct contact_polygon polygon;
	pose at = { vec3_make(0, -0.501, 0), quat_identity() };
	find(top, plane, &at, &found, &polygon);
	ck_assert_uint_eq(polygon.count, CORNERS);
	ck_assert_int_eq(polygon.normal_of, CONTACT_NORMAL_OF_B);
	at.position.y = -0.501;
	find(top, mesh, &at, &found, &polygon);
	ck_assert_uint_eq(polygon.count, CORNERS);
	ck_assert_double_eq_tol(polygon_area(&polygon),
				CORNERS * sin(M_PI / CORNERS) * cos(M_PI / CORNERS), 1e-9);
	shape_release(top);
	shape_release(plane);
	shape_release(mesh);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/collision/contact_polygon");
	TCase *polygons = tcase_create("polygons");
	tcase_add_checked_fixture(polygons, set_up, NULL);
	tcase_add_test(polygons, the_polygon_of_two_faces_has_the_area_of_their_intersection);
	tcase_add_test(polygons, a_polygon_contains_the_manifold_in_both_orders);
	tcase_add_test(polygons,
		       a_plane_touches_every_vertex_within_the_margin_and_a_triangle_is_two_sided);
	suite_add_tcase(suite, polygons);
	return suite;
}

int main(void)
{
	return check_main(make);
}
