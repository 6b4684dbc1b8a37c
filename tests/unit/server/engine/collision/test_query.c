/* Overlaps, gaps and rays of placed shapes. */
#include "server/engine/collision/query.h"

#include "tests/lib/check_main.h"
#include "tests/lib/oracle_collision.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

enum { SPHERE, CAPSULE, BOX, HULL, PLANE, MESH, KINDS };

static struct rng rng;
static struct shape *shapes[KINDS];

static void set_up(void)
{
	vec3 points[16];
	rng = rng_seeded(check_seed());
	for (int k = 0; k < 16; k++)
		points[k] = vec3_scale(random_direction(&rng), 0.6);
	shapes[SPHERE] = make_sphere(0.4);
	shapes[CAPSULE] = make_capsule(0.4, 0.2);
	shapes[BOX] = make_box(0.5, 0.3, 0.4);
	shapes[HULL] = make_hull(points, 16);
	shapes[PLANE] = make_plane(vec3_make(0, 1, 0), 0.1);
	shapes[MESH] = make_terrain(6, 0.5, 0.4, 7);
}

static void tear_down(void)
{
	for (int k = 0; k < KINDS; k++)
		shape_release(shapes[k]);
}

START_TEST(shapes_overlap_exactly_when_they_have_no_gap)
{
	uint32_t overlapping = 0;
	for (int k = 0; k < 4000; k++) {
		const struct shape *a = shapes[rng_below(&rng, PLANE)];
		const struct shape *b = shapes[rng_below(&rng, PLANE)];
		pose at = pose_make(random_vector(&rng, 0.9), awkward_rotation(&rng));
		struct piece_gap gap;
		piece_distance((struct piece){ a, 0 }, (struct piece){ b, 0 }, &at, &gap);
		bool overlap = shape_overlap(a, b, &at);
		ck_assert(overlap == (gap.distance == 0));
		ck_assert(overlap ==
			  piece_overlap((struct piece){ a, 0 }, (struct piece){ b, 0 }, &at));
		ck_assert_double_eq_tol(vec3_distance(gap.point_a, gap.point_b), gap.distance,
					1e-9);
		overlapping += overlap;
		if (a->hull != NULL && b->hull != NULL) {
			double axis = oracle_sat(a->hull, b->hull, &at);
			ck_assert(overlap ? axis < 1e-9 : axis > -1e-9);
		}
	}
	ck_assert_uint_gt(overlapping, 1000);
	ck_assert_uint_lt(overlapping, 3000);
}
END_TEST

/* Balls in and around the pieces decide most overlaps; they must never contradict the distance of the
 * cores (piece_overlap), however near to touching the shapes are. */
START_TEST(balls_agree_with_distances_near_touching)
{
	struct shape *rounded[2] = { make_rounded_box(0.3, 0.2, 0.4, 0.1), make_box(1e-3, 2, 30) };
	uint32_t overlapping = 0, count = 0;
	for (int k = 0; k < 8000; k++) {
		uint32_t i = rng_below(&rng, PLANE + 2), j = rng_below(&rng, PLANE + 2);
		const struct shape *a = i < PLANE ? shapes[i] : rounded[i - PLANE];
		const struct shape *b = j < PLANE ? shapes[j] : rounded[j - PLANE];
		pose at = pose_make(vec3_zero(), awkward_rotation(&rng));
		vec3 away = random_direction(&rng);
		struct piece_gap gap;
		at.position = vec3_scale(away, a->radius_max + b->radius_max + 1);
		piece_distance((struct piece){ a, 0 }, (struct piece){ b, 0 }, &at, &gap);
		/* Along the line of nearest points, to within a little of touching. */
		double left = rng_range(&rng, -1, 1);
		for (uint32_t power = rng_below(&rng, 14); power > 0; power--)
			left *= 0.1;
		at.position = vec3_mul_sub(at.position, gap.normal, gap.distance - left);
		bool overlap = shape_overlap(a, b, &at);
		ck_assert(overlap ==
			  piece_overlap((struct piece){ a, 0 }, (struct piece){ b, 0 }, &at));
		overlapping += overlap;
		count++;
	}
	ck_assert_uint_gt(overlapping, count / 4);
	ck_assert_uint_lt(overlapping, count / 4 * 3);
	shape_release(rounded[0]);
	shape_release(rounded[1]);
}
END_TEST

START_TEST(overlap_does_not_depend_on_the_order_of_the_shapes)
{
	for (int k = 0; k < 4000; k++) {
		const struct shape *a = shapes[rng_below(&rng, KINDS)];
		const struct shape *b = shapes[rng_below(&rng, KINDS)];
		pose at = pose_make(random_vector(&rng, 1.2), random_rotation(&rng));
		pose back = pose_inverse(at);
		ck_assert(shape_overlap(a, b, &at) == shape_overlap(b, a, &back));
	}
}
END_TEST

START_TEST(a_mesh_overlaps_a_shape_if_one_of_its_triangles_does)
{
	const struct shape *mesh = shapes[MESH];
	for (int k = 0; k < 1500; k++) {
		const struct shape *b = shapes[rng_below(&rng, MESH)];
		pose at = pose_make(random_vector(&rng, 1.5), random_rotation(&rng));
		bool any = false;
		for (uint32_t t = 0; t < mesh->mesh->triangle_count && !any; t++)
			any = piece_overlap((struct piece){ mesh, t }, (struct piece){ b, 0 }, &at);
		ck_assert(shape_overlap(mesh, b, &at) == any);
	}
}
END_TEST

START_TEST(overlap_by_radius_or_extents_agrees_with_overlap_by_shape)
{
	for (int k = 0; k < 3000; k++) {
		const struct shape *a = shapes[rng_below(&rng, KINDS)];
		pose at = pose_make(random_vector(&rng, 1.2), random_rotation(&rng));
		ck_assert(shape_overlap_sphere(a, at.position, 0.4) ==
			  shape_overlap(a, shapes[SPHERE], &at));
		ck_assert(shape_overlap_box(a, &at, vec3_make(0.5, 0.3, 0.4)) ==
			  shape_overlap(a, shapes[BOX], &at));
	}
}
END_TEST

START_TEST(known_overlaps_are_reproduced)
{
	struct shape *unit = make_box(0.5, 0.5, 0.5);
	/* G-21: unit box [0,1]³, centre (2,2,½): r = √2 hit, 1.4142 no hit. */
	vec3 c = vec3_make(1.5, 1.5, 0);
	ck_assert(shape_overlap_sphere(unit, c, 1.41421356237309515));
	ck_assert(!shape_overlap_sphere(unit, c, 1.4142));
	/* Inside, without touching the surface. */
	ck_assert(shape_overlap_sphere(unit, vec3_zero(), 0.1));
	/* Half-spaces with opposite normals, apart and overlapping. */
	struct shape *up = make_plane(vec3_make(0, 1, 0), 0),
		     *down = make_plane(vec3_make(0, -1, 0), 0);
	pose above = pose_make(vec3_make(0, 1, 0), quat_identity());
	pose below = pose_make(vec3_make(0, -1, 0), quat_identity());
	ck_assert(!shape_overlap(up, down, &above));
	ck_assert(shape_overlap(up, down, &below));
	ck_assert(shape_overlap(up, up, &above));
	shape_release(unit);
	shape_release(up);
	shape_release(down);
}
END_TEST

START_TEST(a_ray_hits_a_placed_shape_on_its_surface)
{
	uint32_t hits = 0;
	for (int k = 0; k < 3000; k++) {
		const struct shape *shape = shapes[rng_below(&rng, PLANE)];
		pose at = pose_make(random_vector(&rng, 5), random_rotation(&rng));
		vec3 from = random_vector(&rng, 6);
		vec3 along = vec3_sub(vec3_add(at.position, random_vector(&rng, 0.6)), from);
		struct query_hit hit;
		if (!shape_ray(shape, &at, from, along, 2, &hit))
			continue;
		hits++;
		vec3 point = vec3_mul_add(from, along, hit.fraction);
		vec3 local = pose_inverse_point(at, point);
		/* The point is on the surface: a tiny ball there overlaps, one slightly outside
		 * does not. */
		ck_assert(shape_overlap_sphere(shape, local, 1e-9));
		vec3 out = vec3_mul_add(local, pose_inverse_vector(at, hit.normal), 1e-4);
		ck_assert(hit.inside || !shape_overlap_sphere(shape, out, 1e-9));
		ck_assert(hit.inside || vec3_dot(hit.normal, along) <= 1e-9);
	}
	ck_assert_uint_gt(hits, 1000);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/collision/query");
	TCase *tcase = tcase_create("query");
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, shapes_overlap_exactly_when_they_have_no_gap);
	tcase_add_test(tcase, balls_agree_with_distances_near_touching);
	tcase_add_test(tcase, overlap_does_not_depend_on_the_order_of_the_shapes);
	tcase_add_test(tcase, a_mesh_overlaps_a_shape_if_one_of_its_triangles_does);
	tcase_add_test(tcase, overlap_by_radius_or_extents_agrees_with_overlap_by_shape);
	tcase_add_test(tcase, known_overlaps_are_reproduced);
	tcase_add_test(tcase, a_ray_hits_a_placed_shape_on_its_surface);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
