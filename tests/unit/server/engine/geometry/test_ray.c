/* Rays against every shape (chapter 2, G-24…G-26), compared with brute force. */
#include "server/engine/geometry/ray.h"

#include "server/base/rng.h"
#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/hull.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

#include <stdio.h>

static struct rng rng;

/* ---- distance of a point to the solid, ≤ 0 inside; independent of ray.c ---------------------- */

static double distance_to(const struct shape *shape, vec3 p)
{
	double k, least = SCALAR_MAX, most = -SCALAR_MAX;
	switch (shape->kind) {
	case SHAPE_SPHERE:
		return vec3_length(p) - shape->sphere.radius;
	case SHAPE_CAPSULE: {
		vec3 end = vec3_make(0, shape->capsule.half_length, 0);
		vec3 q = closest_point_segment(p, vec3_negate(end), end, &k);
		return vec3_distance(p, q) - shape->capsule.radius;
	}
	case SHAPE_PLANE:
		return vec3_dot(shape->plane.normal, p) - shape->plane.offset;
	case SHAPE_POLYGON: {
		const struct polygon *polygon = shape->polygon;
		p.z = 0;
		for (uint32_t i = 0; i < polygon->count; i++) {
			vec3 a = polygon->vertices[i];
			vec3 b = polygon->vertices[(i + 1) % polygon->count];
			most = scalar_max(most, vec3_dot(polygon->normals[i], vec3_sub(p, a)));
			least = scalar_min(least,
					   vec3_distance(p, closest_point_segment(p, a, b, &k)));
		}
		return (most > 0 ? least : most) - polygon->radius;
	}
	default:
		for (uint32_t f = 0; f < shape->hull->face_count; f++)
			most = scalar_max(most, vec3_dot(shape->hull->faces[f].normal, p) -
							shape->hull->faces[f].offset);
		return most;
	}
}

static struct shape *random_shape(uint32_t kind)
{
	vec3 points[30];
	for (uint32_t i = 0; i < 30; i++)
		points[i] = random_vector(&rng, 1);
	vec3 house[5] = {
		{ -1, -1, 0 }, { 1, -1, 0 }, { 1, 0.5, 0 }, { 0, 1.2, 0 }, { -1, 0.5, 0 }
	};
	switch (kind) {
	case SHAPE_SPHERE:
		return make_sphere(0.8);
	case SHAPE_CAPSULE:
		return make_capsule(0.7, 0.4);
	case SHAPE_BOX:
		return make_box(0.5, 0.7, 0.9);
	case SHAPE_HULL:
		return make_hull(points, 30);
	case SHAPE_PLANE:
		return make_plane(vec3_normalize(vec3_make(1, 2, -0.5)), 0.1);
	default:
		return make_polygon(house, 5, kind == SHAPE_POLYGON ? 0.3 : 0);
	}
}

START_TEST(a_hit_lies_on_the_surface_with_nothing_solid_before_it)
{
	uint32_t hits[SHAPE_KINDS + 1] = { 0 }, inside = 0;
	rng = rng_seeded(check_seed());
	for (uint32_t kind = 1; kind <= SHAPE_KINDS; kind++) {
		if (kind == SHAPE_MESH || kind == SHAPE_HEIGHTFIELD)
			continue;
		struct shape *shape = random_shape(kind);
		for (uint32_t run = 0; run < 2000; run++) {
			vec3 from = random_vector(&rng, 2), along = random_vector(&rng, 3);
			struct shape_hit hit = { .fraction = 7 };
			bool found = ray_shape(shape, from, along, 1, &hit);
			double end = found ? hit.fraction : 1;
			/* Samples of the segment: no point of the solid lies before the hit, or
			 * anywhere when there is none. */
			for (uint32_t i = 0; i < 30; i++) {
				vec3 p = vec3_mul_add(from, along, end * i / 30);
				ck_assert(distance_to(shape, p) > -1e-12 || hit.inside);
			}
			ck_assert(found || hit.fraction == 7);
			if (!found)
				continue;
			hits[kind]++;
			inside += hit.inside;
			ck_assert_double_eq_tol(vec3_length(hit.normal), 1, 1e-12);
			ck_assert_double_lt(vec3_dot(hit.normal, along), 1e-12);
			double d = distance_to(shape, vec3_mul_add(from, along, hit.fraction));
			ck_assert(hit.inside ? d <= 0 && hit.fraction == 0
					     : d > -1e-12 && d < 1e-12);
			/* The normal is the direction in which the distance increases. */
			vec3 p = vec3_mul_add(from, along, hit.fraction);
			if (!hit.inside)
				ck_assert_double_eq_tol(
					distance_to(shape, vec3_mul_add(p, hit.normal, 1e-6)), 1e-6,
					1e-9);
		}
		shape_release(shape);
	}
	for (uint32_t kind = 1; kind <= SHAPE_KINDS; kind++)
		ck_assert_msg(kind == SHAPE_MESH || kind == SHAPE_HEIGHTFIELD || hits[kind] > 100,
			      "kind %u: %u", kind, hits[kind]);
	ck_assert_uint_gt(inside, 500);
}
END_TEST

START_TEST(g24_segments_and_a_sphere)
{
	struct shape_hit hit;
	vec3 o = vec3_zero();
	ck_assert(ray_sphere(o, 1, vec3_make(-2, 1, 0), vec3_make(4, 0, 0), 1, &hit));
	ck_assert_double_eq_tol(hit.fraction, 0.5, 1e-15);
	ck_assert(!ray_sphere(o, 1, vec3_make(-2, 1.0001, 0), vec3_make(4, 0, 0), 1, &hit));
	ck_assert(!ray_sphere(o, 1, vec3_make(2, 0, 0), vec3_make(3, 0, 0), 1, &hit));
	ck_assert(ray_sphere(o, 1, vec3_make(0.5, 0, 0), vec3_make(8.5, 0, 0), 1, &hit));
	ck_assert(hit.inside && hit.fraction == 0);
	/* A segment without length tests the point. */
	ck_assert(ray_sphere(o, 1, vec3_make(0.5, 0, 0), o, 1, &hit));
	ck_assert(!ray_sphere(o, 1, vec3_make(1.5, 0, 0), o, 1, &hit));
	/* A start far away loses no accuracy. */
	ck_assert(ray_sphere(o, 1, vec3_make(-1e7, 0, 0), vec3_make(1, 0, 0), 2e7, &hit));
	ck_assert_double_eq_tol(hit.fraction, 1e7 - 1, 1e-8);
}
END_TEST

START_TEST(g26_boxes_and_slabs_agree_for_every_class_of_direction)
{
	uint32_t hits[8] = { 0 };
	rng = rng_seeded(check_seed());
	vec3 half = vec3_make(1, 0.5, 0.7);
	struct aabb box = aabb_of_centre(vec3_zero(), half);
	for (uint32_t run = 0; run < 100000; run++) {
		vec3 from = random_vector(&rng, 2), along = random_vector(&rng, 2);
		if (run % 10 == 0)
			vec3_set(&along, rng_below(&rng, 3), 0);
		struct shape_hit hit = { 0 };
		double enter = 0, leave = 0;
		bool a = ray_box(half, from, along, 1, &hit);
		bool b = aabb_clip_line(box, from, along, 1, &enter, &leave);
		ck_assert(a == b || leave - enter < 1e-14);
		if (!a || !b)
			continue;
		ck_assert_double_eq_tol(hit.fraction, enter, 1e-13);
		hits[(along.x >= 0) | (along.y >= 0) << 1 | (along.z >= 0) << 2]++;
	}
	for (uint32_t i = 0; i < 8; i++)
		ck_assert_uint_gt(hits[i], 1000);
}
END_TEST

START_TEST(g25_triangles_are_hit_from_outside_only)
{
	vec3 a = vec3_make(0, 0, 0), b = vec3_make(1, 0, 0), c = vec3_make(0, 1, 0);
	struct shape_hit hit;
	vec3 down = vec3_make(0, 0, -2), up = vec3_make(0, 0, 2);
	ck_assert(ray_triangle(a, b, c, vec3_make(0.25, 0.25, 1), down, 1, &hit));
	ck_assert(hit.fraction == 0.5 && vec3_equal(hit.normal, vec3_make(0, 0, 1)));
	ck_assert(!ray_triangle(a, b, c, vec3_make(0.25, 0.25, -1), up, 1, &hit));
	ck_assert(!ray_triangle(a, b, c, vec3_make(0.6, 0.6, 1), down, 1, &hit));
	ck_assert(!ray_triangle(a, b, c, vec3_make(0.25, 0.25, 3), down, 1, &hit));
	/* Edges and corners belong to the triangle; a start on it is a hit at 0; a segment in its
	 * plane hits nothing. */
	ck_assert(ray_triangle(a, b, c, vec3_make(0.5, 0.5, 1), down, 1, &hit));
	ck_assert(ray_triangle(a, b, c, vec3_make(0, 0, 1), down, 1, &hit));
	ck_assert(ray_triangle(a, b, c, vec3_make(0.25, 0.25, 0), down, 1, &hit));
	ck_assert(hit.fraction == 0);
	ck_assert(!ray_triangle(a, b, c, vec3_make(-1, 0.25, 0), vec3_make(3, 0, 0), 1, &hit));
	ck_assert(!ray_triangle(a, b, b, vec3_make(0.25, 0, 1), down, 1, &hit));
}
END_TEST

static bool brute_force(const struct mesh *mesh, vec3 from, vec3 along, struct shape_hit *best)
{
	bool found = false;
	for (uint32_t t = 0; t < mesh->triangle_count; t++) {
		struct shape_hit hit;
		if (!ray_triangle(mesh_corner(mesh, t, 0), mesh_corner(mesh, t, 1),
				  mesh_corner(mesh, t, 2), from, along, 1, &hit))
			continue;
		if (found && hit.fraction >= best->fraction)
			continue;
		*best = hit;
		best->child = t;
		found = true;
	}
	return found;
}

START_TEST(a_mesh_ray_agrees_with_all_its_triangles)
{
	struct shape *shape = make_terrain(20, 0.5, 0.4, 9);
	uint32_t hits = 0;
	rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 3000; run++) {
		vec3 from = random_vector(&rng, 5), along = vec3_sub(random_vector(&rng, 5), from);
		from.y = run % 3 ? scalar_abs(from.y) : from.y;
		struct shape_hit slow = { 0 }, fast = { 0 };
		bool a = brute_force(shape->mesh, from, along, &slow);
		bool b = ray_shape(shape, from, along, 1, &fast);
		ck_assert_int_eq(a, b);
		if (!a)
			continue;
		hits++;
		ck_assert(slow.fraction == fast.fraction);
		ck_assert_uint_eq(slow.child, fast.child);
		ck_assert(vec3_equal(slow.normal, fast.normal));
	}
	printf("# %u of 3000 rays hit the terrain\n", hits);
	ck_assert_uint_gt(hits, 800);
	shape_release(shape);
}
END_TEST

START_TEST(no_ray_slips_between_neighbouring_triangles)
{
	/* Rays at edges and vertices of the terrain, from arbitrary directions. */
	struct shape *shape = make_terrain(10, 0.37, 0.3, 4);
	const struct mesh *mesh = shape->mesh;
	rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 20000; run++) {
		uint32_t t = rng_below(&rng, mesh->triangle_count), k = rng_below(&rng, 3);
		if (mesh->adjacent[t][0] == UINT32_MAX || mesh->adjacent[t][1] == UINT32_MAX ||
		    mesh->adjacent[t][2] == UINT32_MAX)
			continue;
		vec3 target = vec3_lerp(mesh_corner(mesh, t, k), mesh_corner(mesh, t, (k + 1) % 3),
					run % 4 ? rng_double(&rng) : 0);
		/* Vertices on the outer rim are not surrounded by triangles. */
		if (scalar_abs(target.x) > 1.8 || scalar_abs(target.z) > 1.8)
			continue;
		vec3 from = vec3_make(target.x + rng_range(&rng, -0.1, 0.1), 2,
				      target.z + rng_range(&rng, -0.1, 0.1));
		struct shape_hit hit;
		ck_assert(ray_mesh(mesh, from, vec3_scale(vec3_sub(target, from), 2), 1, &hit));
	}
	shape_release(shape);
}
END_TEST

START_TEST(the_nearest_of_equal_triangles_is_the_first)
{
	/* Two sheets that cross in a line: equal fractions on it. */
	vec3 vertices[6] = { { -1, 0, -1 },  { 1, 0, 0 }, { -1, 0, 1 },
			     { -1, -1, -1 }, { 1, 1, 0 }, { -1, -1, 1 } };
	static const uint32_t TRIANGLES[2][3] = { { 0, 2, 1 }, { 3, 5, 4 } };
	struct shape *shape = make_mesh(vertices, 6, TRIANGLES, 2);
	struct shape_hit hit;
	ck_assert(ray_shape(shape, vec3_make(0, 1, 0), vec3_make(0, -2, 0), 1, &hit));
	ck_assert(hit.fraction == 0.5);
	ck_assert_uint_eq(hit.child, 0);
	shape_release(shape);
}
END_TEST

START_TEST(a_limit_shorter_than_the_hit_misses)
{
	rng = rng_seeded(check_seed());
	for (uint32_t kind = 1; kind < SHAPE_KINDS; kind++) {
		struct shape *shape =
			kind == SHAPE_MESH ? make_terrain(6, 0.5, 0.2, 1) : random_shape(kind);
		for (uint32_t run = 0; run < 500; run++) {
			vec3 from = random_vector(&rng, 3), along = vec3_negate(from);
			struct shape_hit hit, again;
			if (!ray_shape(shape, from, along, 1, &hit) || hit.fraction == 0)
				continue;
			ck_assert(!ray_shape(shape, from, along, hit.fraction * 0.999999, &again));
			ck_assert(ray_shape(shape, from, along, hit.fraction, &again));
			ck_assert(again.fraction == hit.fraction);
		}
		shape_release(shape);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/geometry/ray");
	TCase *solids = tcase_create("solids");
	tcase_add_test(solids, a_hit_lies_on_the_surface_with_nothing_solid_before_it);
	tcase_add_test(solids, g24_segments_and_a_sphere);
	tcase_add_test(solids, g26_boxes_and_slabs_agree_for_every_class_of_direction);
	tcase_add_test(solids, a_limit_shorter_than_the_hit_misses);
	suite_add_tcase(suite, solids);
	TCase *meshes = tcase_create("meshes");
	tcase_add_test(meshes, g25_triangles_are_hit_from_outside_only);
	tcase_add_test(meshes, a_mesh_ray_agrees_with_all_its_triangles);
	tcase_add_test(meshes, no_ray_slips_between_neighbouring_triangles);
	tcase_add_test(meshes, the_nearest_of_equal_triangles_is_the_first);
	suite_add_tcase(suite, meshes);
	return suite;
}

int main(void)
{
	return check_main(make);
}
