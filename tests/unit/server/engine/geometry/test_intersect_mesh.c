/* Points in meshes and meshes in meshes (ch1-3 G-28, G-16): the solids of the spec, with the book's
 * six rays and an analytic ball as oracles. */
#include "server/engine/geometry/intersect_point_mesh.h"

#include "server/engine/geometry/ray.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/oracle_primitives.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

static struct rng rng;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
}

struct solid {
	uint32_t vertices, triangles;
	vec3 vertex[4096];
	uint32_t triangle[8192][3];
};

static void add_triangle(struct solid *solid, uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t *corner = solid->triangle[solid->triangles++];
	corner[0] = a;
	corner[1] = b;
	corner[2] = c;
}

/* Faces outwards, or inwards for a void. */
static void add_box(struct solid *solid, vec3 low, vec3 high, bool inwards)
{
	static const uint32_t QUADS[6][4] = { { 0, 4, 6, 2 }, { 1, 3, 7, 5 }, { 0, 1, 5, 4 },
					      { 2, 6, 7, 3 }, { 0, 2, 3, 1 }, { 4, 5, 7, 6 } };
	uint32_t base = solid->vertices;
	for (uint32_t i = 0; i < 8; i++)
		solid->vertex[solid->vertices++] = vec3_make(
			i & 1 ? high.x : low.x, i & 2 ? high.y : low.y, i & 4 ? high.z : low.z);
	for (uint32_t f = 0; f < 6; f++) {
		const uint32_t *q = QUADS[f];
		uint32_t one = inwards ? 2 : 1, two = inwards ? 1 : 2;
		add_triangle(solid, base + q[0], base + q[one], base + q[two]);
		one = inwards ? 3 : 2;
		two = inwards ? 2 : 3;
		add_triangle(solid, base + q[0], base + q[one], base + q[two]);
	}
}

/* An L of height 1 standing on z = 0: [0,2]×[0,1] and [0,1]×[1,2]. */
static void add_l(struct solid *solid)
{
	static const double XY[6][2] = {
		{ 0, 0 }, { 2, 0 }, { 2, 1 }, { 1, 1 }, { 1, 2 }, { 0, 2 }
	};
	static const uint32_t CAP[4][3] = { { 0, 1, 2 }, { 0, 2, 3 }, { 0, 3, 4 }, { 0, 4, 5 } };
	for (uint32_t i = 0; i < 12; i++)
		solid->vertex[i] = vec3_make(XY[i % 6][0], XY[i % 6][1], i / 6);
	solid->vertices = 12;
	for (uint32_t k = 0; k < 4; k++) {
		add_triangle(solid, CAP[k][0], CAP[k][2], CAP[k][1]);
		add_triangle(solid, 6 + CAP[k][0], 6 + CAP[k][1], 6 + CAP[k][2]);
	}
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t j = (i + 1) % 6;
		add_triangle(solid, i, j, 6 + j);
		add_triangle(solid, i, 6 + j, 6 + i);
	}
}

/* A ball of radius 1: rings × 2 rings corners and two poles, on the axis x, so that rays along it
 * meet poles. */
static void add_ball(struct solid *solid, uint32_t rings)
{
	uint32_t around = 2 * rings, base = solid->vertices;
	solid->vertex[solid->vertices++] = vec3_make(1, 0, 0);
	for (uint32_t r = 1; r < rings; r++)
		for (uint32_t k = 0; k < around; k++) {
			double u = PI * r / rings, v = PI * k / rings;
			solid->vertex[solid->vertices++] = vec3_make(
				trig_cos(u), trig_sin(u) * trig_cos(v), trig_sin(u) * trig_sin(v));
		}
	solid->vertex[solid->vertices++] = vec3_make(-1, 0, 0);
	uint32_t last = solid->vertices - 1;
	for (uint32_t k = 0; k < around; k++) {
		uint32_t next = (k + 1) % around;
		add_triangle(solid, base, base + 1 + k, base + 1 + next);
		for (uint32_t r = 0; r + 2 < rings; r++) {
			uint32_t a = base + 1 + r * around, b = a + around;
			add_triangle(solid, a + k, b + k, b + next);
			add_triangle(solid, a + k, b + next, a + next);
		}
		add_triangle(solid, last - around + k, last, last - around + next);
	}
}

static struct shape *cook(const struct solid *solid)
{
	struct shape *shape = make_mesh(solid->vertex, solid->vertices,
					(const uint32_t(*)[3])solid->triangle, solid->triangles);
	ck_assert(shape->mesh->closed);
	return shape;
}

/* The book: inside iff the nearest face along each of six rays is hit from behind. */
static bool inside_by_six_rays(const struct mesh *mesh, vec3 p)
{
	for (uint32_t k = 0; k < 6; k++) {
		vec3 d = vec3_scale(vec3_axis(k / 2), k & 1 ? 1 : -1);
		double front = SCALAR_MAX, back = SCALAR_MAX;
		for (uint32_t t = 0; t < mesh->triangle_count; t++) {
			struct shape_hit hit;
			vec3 a = mesh_corner(mesh, t, 0), b = mesh_corner(mesh, t, 1),
			     c = mesh_corner(mesh, t, 2);
			if (ray_triangle(a, b, c, p, d, 1e6, &hit))
				front = scalar_min(front, hit.fraction);
			if (ray_triangle(a, c, b, p, d, 1e6, &hit))
				back = scalar_min(back, hit.fraction);
		}
		if (!(back < front))
			return false;
	}
	return true;
}

static struct solid solid;

static void clear_solid(void)
{
	solid.vertices = solid.triangles = 0;
}

START_TEST(g28_points_in_a_cube_a_notch_and_a_void_are_classified)
{
	clear_solid();
	add_box(&solid, vec3_all(-1), vec3_all(1), false);
	struct shape *cube = cook(&solid);
	ck_assert_int_eq(intersect_point_mesh(cube->mesh, vec3_zero()), POINT_MESH_INSIDE);
	ck_assert_int_eq(intersect_point_mesh(cube->mesh, vec3_make(2, 0, 0)), POINT_MESH_OUTSIDE);
	ck_assert_int_eq(intersect_point_mesh(cube->mesh, vec3_make(-2, 0, 0)), POINT_MESH_OUTSIDE);
	/* Points on a corner, an edge and a face. */
	ck_assert_int_eq(intersect_point_mesh(cube->mesh, vec3_all(1)), POINT_MESH_ON);
	ck_assert_int_eq(intersect_point_mesh(cube->mesh, vec3_make(-1, 1, 0.3)), POINT_MESH_ON);
	ck_assert_int_eq(intersect_point_mesh(cube->mesh, vec3_make(-1, 0, 0)), POINT_MESH_ON);
	ck_assert_int_eq(intersect_point_mesh(cube->mesh, vec3_make(0.1, 0.2, 1)), POINT_MESH_ON);
	/* Rays within faces, along edges and through corners, from outside. */
	ck_assert_int_eq(intersect_point_mesh(cube->mesh, vec3_make(-2, 1, 1)), POINT_MESH_OUTSIDE);
	ck_assert_int_eq(intersect_point_mesh(cube->mesh, vec3_make(-2, -1, 0)),
			 POINT_MESH_OUTSIDE);
	ck_assert_int_eq(intersect_point_mesh(cube->mesh, vec3_make(-2, -1, -1)),
			 POINT_MESH_OUTSIDE);
	shape_release(cube);
	clear_solid();
	add_l(&solid);
	struct shape *l = cook(&solid);
	ck_assert_int_eq(intersect_point_mesh(l->mesh, vec3_make(1.5, 1.5, 0.5)),
			 POINT_MESH_OUTSIDE);
	ck_assert_int_eq(intersect_point_mesh(l->mesh, vec3_make(0.5, 1.5, 0.5)),
			 POINT_MESH_INSIDE);
	ck_assert_int_eq(intersect_point_mesh(l->mesh, vec3_make(0.5, 1, 0.5)), POINT_MESH_INSIDE);
	shape_release(l);
	clear_solid();
	add_box(&solid, vec3_all(-2), vec3_all(2), false);
	add_box(&solid, vec3_all(-1), vec3_all(1), true);
	struct shape *shell = cook(&solid);
	ck_assert_int_eq(intersect_point_mesh(shell->mesh, vec3_zero()), POINT_MESH_OUTSIDE);
	ck_assert_int_eq(intersect_point_mesh(shell->mesh, vec3_make(1.5, 0, 0)),
			 POINT_MESH_INSIDE);
	ck_assert_int_eq(intersect_point_mesh(shell->mesh, vec3_make(-1.5, 1, 1)),
			 POINT_MESH_INSIDE);
	shape_release(shell);
}
END_TEST

START_TEST(g28_a_ball_of_triangles_agrees_with_the_ball_and_with_six_rays)
{
	clear_solid();
	add_ball(&solid, 16);
	struct shape *ball = cook(&solid);
	/* Depth of the faces below the sphere: chords of 11.25° in both directions. */
	double sagitta = 1 - scalar_square(trig_cos(PI / 32));
	uint32_t inside = 0;
	for (uint32_t run = 0; run < oracle_runs(10000); run++) {
		vec3 p = random_vector(&rng, 1.2);
		double r = vec3_length(p);
		enum point_mesh found = intersect_point_mesh(ball->mesh, p);
		if (r > 1)
			ck_assert_int_eq(found, POINT_MESH_OUTSIDE);
		if (r < 1 - sagitta)
			ck_assert_int_eq(found, POINT_MESH_INSIDE);
		inside += found == POINT_MESH_INSIDE;
		if (run % 100 == 0 && found != POINT_MESH_ON)
			ck_assert(inside_by_six_rays(ball->mesh, p) ==
				  (found == POINT_MESH_INSIDE));
	}
	ck_assert_uint_gt(inside, 1000);
	/* Points between vertices and the centre, so that the ray passes through corners and along
	 * rings. */
	for (uint32_t v = 0; v < ball->mesh->vertex_count; v++) {
		vec3 p = ball->mesh->vertices[v];
		ck_assert_int_eq(intersect_point_mesh(ball->mesh, p), POINT_MESH_ON);
		vec3 in = vec3_make(0.5 * p.x, p.y, p.z), out = vec3_make(p.x - 3, p.y, p.z);
		if (scalar_abs(p.x) > 0.2)
			ck_assert_int_eq(intersect_point_mesh(ball->mesh, in), POINT_MESH_INSIDE);
		ck_assert_int_eq(intersect_point_mesh(ball->mesh, out), POINT_MESH_OUTSIDE);
	}
	shape_release(ball);
}
END_TEST

START_TEST(g28_on_a_grid_every_point_agrees_with_brute_force)
{
	/* Boxes of integer sizes next to each other and in voids, so that rays often hit edges and
	 * faces. */
	for (uint32_t run = 0; run < oracle_runs(40); run++) {
		struct aabb box[4];
		clear_solid();
		for (uint32_t k = 0; k < 4; k++) {
			vec3 low = oracle_grid_point(&rng, 1), size = oracle_grid_point(&rng, 1);
			low.x += 7 * k;
			box[k] = aabb_make(low, vec3_add(low, vec3_add(size, vec3_all(3))));
			add_box(&solid, box[k].min, box[k].max, false);
		}
		struct shape *shape = cook(&solid);
		for (uint32_t k = 0; k < 200; k++) {
			vec3 p = oracle_grid_point(&rng, 5);
			p.x = rng_below(&rng, 60) * 0.5 - 3;
			enum point_mesh wanted = POINT_MESH_OUTSIDE;
			for (uint32_t i = 0; i < 4; i++) {
				if (!aabb_contains_point(box[i], p))
					continue;
				bool deep = aabb_contains_point(aabb_grow(box[i], -0.25), p);
				wanted = deep ? POINT_MESH_INSIDE : POINT_MESH_ON;
			}
			ck_assert_int_eq(intersect_point_mesh(shape->mesh, p), wanted);
		}
		shape_release(shape);
	}
}
END_TEST

END_TEST

START_TEST(g29_a_tip_in_a_floor_is_as_deep_as_it_reaches)
{
	clear_solid();
	add_box(&solid, vec3_make(-5, -5, -2), vec3_make(5, 5, 0), false);
	struct shape *slab = cook(&solid);
	struct mesh_point nearest;
	/* The lower tip of an octahedron, then its other corners. */
	ck_assert_double_eq_tol(
		intersect_vertex_depth(slab->mesh, vec3_make(0.3, 0.2, -0.1), &nearest), 0.1,
		1e-15);
	ck_assert_double_lt(vec3_distance(nearest.point, vec3_make(0.3, 0.2, 0)), 1e-15);
	ck_assert(intersect_vertex_depth(slab->mesh, vec3_make(1.3, 0.2, 0.9), &nearest) == 0);
	ck_assert_double_eq_tol(nearest.distance, 0.9, 1e-15);
	ck_assert(intersect_vertex_depth(slab->mesh, vec3_make(1, 1, 0), NULL) == 0);
	/* In a box the depth is the distance to the nearest side. */
	for (uint32_t run = 0; run < oracle_runs(2000); run++) {
		vec3 p = random_vector(&rng, 1);
		p.z -= 1;
		double depth = intersect_vertex_depth(slab->mesh, p, NULL);
		ck_assert_double_eq_tol(depth, scalar_min(-p.z, p.z + 2), 1e-14);
	}
	shape_release(slab);
}
END_TEST

START_TEST(g29_the_nearest_point_is_the_nearest_of_all_triangles)
{
	clear_solid();
	add_ball(&solid, 12);
	struct shape *ball = cook(&solid);
	const struct mesh *mesh = ball->mesh;
	for (uint32_t run = 0; run < oracle_runs(1000); run++) {
		/* On the grid many triangles are equally near. */
		vec3 p = run % 2 ? random_vector(&rng, 2) : oracle_grid_point(&rng, 2);
		struct mesh_point found = intersect_nearest_on_mesh(mesh, p);
		double square = SCALAR_MAX;
		uint32_t first = 0;
		for (uint32_t t = 0; t < mesh->triangle_count; t++) {
			struct triangle_point near = closest_point_triangle(
				p, mesh_corner(mesh, t, 0), mesh_corner(mesh, t, 1),
				mesh_corner(mesh, t, 2));
			if (near.distance_squared < square) {
				square = near.distance_squared;
				first = t;
			}
		}
		ck_assert_uint_eq(found.triangle, first);
		ck_assert(found.distance == scalar_sqrt(square));
		ck_assert_double_eq_tol(vec3_distance(found.point, p), found.distance, 1e-15);
	}
	shape_release(ball);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/geometry/intersect_mesh");
	TCase *tc = tcase_create("inside");
	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, g28_points_in_a_cube_a_notch_and_a_void_are_classified);
	tcase_add_test(tc, g28_a_ball_of_triangles_agrees_with_the_ball_and_with_six_rays);
	tcase_add_test(tc, g28_on_a_grid_every_point_agrees_with_brute_force);
	tcase_add_test(tc, g29_a_tip_in_a_floor_is_as_deep_as_it_reaches);
	tcase_add_test(tc, g29_the_nearest_point_is_the_nearest_of_all_triangles);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return check_main(make);
}
