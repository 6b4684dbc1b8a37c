/* Signed distance fields (app G): grid, signs, distances, gradients, collision, surfaces. */
#include "server/engine/geometry/distance_field.h"

#include "server/base/heap.h"
#include "server/engine/geometry/intersect_point_mesh.h"
#include "tests/lib/check_main.h"
#include "tests/lib/closed_meshes.h"
#include "tests/lib/field_collide.h"

#include <string.h>

enum { SIDE = DISTANCE_FIELD_BRICK + 1 };

static struct rng rng;

static struct distance_field *make_field(const struct mesh *mesh, uint32_t resolution)
{
	struct distance_field *field = NULL;
	struct reason why = { 0 };
	enum status status = distance_field_create(mesh, resolution, 0, &field, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", status_name(status), why.text);
	return field;
}

static double exact_distance(const struct mesh *mesh, vec3 p)
{
	double d = intersect_nearest_on_mesh(mesh, p).distance;
	return intersect_point_mesh(mesh, p) == POINT_MESH_INSIDE ? -d : d;
}

static struct shape *cube(double half)
{
	static const uint8_t ONE = 1;
	struct shape *unit = make_voxels(1, 1, 1, &ONE);
	for (uint32_t i = 0; i < unit->mesh->vertex_count; i++)
		unit->mesh->vertices[i] =
			vec3_scale(vec3_sub(unit->mesh->vertices[i], vec3_all(0.5)), 2 * half);
	pose still = pose_identity();
	struct shape *shape = make_moved(unit->mesh, &still);
	shape_release(unit);
	return shape;
}

/* Solids of all kinds, some rotated. The caller releases them. */
enum { SOLIDS = 7 };
static void make_solids(struct shape *out[SOLIDS])
{
	pose turned = pose_make(vec3_make(0.3, -2, 5), random_turn(&rng));
	struct shape *l = make_l();
	out[0] = make_ring();
	out[1] = make_star(5, 0.4);
	out[2] = make_moved(l->mesh, &turned);
	out[3] = make_hollow();
	out[4] = make_random_cubes(&rng, 14);
	out[5] = make_ball(3, 1, 0.2, &rng);
	out[6] = cube(1);
	shape_release(l);
}

static struct aabb box_around(const struct mesh *mesh, double margin)
{
	return aabb_grow(aabb_make(mesh->nodes[0].min, mesh->nodes[0].max), margin);
}

/* ---- grid and nodes --------------------------------------------------------------------------- */

START_TEST(a_cube_of_resolution_32_has_34_cells_per_axis)
{
	struct shape *shape = cube(1);
	struct distance_field *field = make_field(shape->mesh, 32);
	for (uint32_t axis = 0; axis < 3; axis++) {
		ck_assert_uint_eq(field->cells[axis], 34);
		ck_assert_uint_eq(field->blocks[axis], 5);
	}
	ck_assert_double_eq_tol(field->cell, 2.0 / 32, 1e-15);
	ck_assert_double_eq_tol(field->origin.x, -1 - field->cell, 1e-15);
	/* Each of the 33 × 33 lines that meets the cube crosses it twice; lines along two of the
	 * edges may be missing. */
	ck_assert_uint_eq(field->hits % 2, 0);
	ck_assert_uint_ge(field->hits, 2 * 32 * 32);
	ck_assert_uint_le(field->hits, 2 * 33 * 33);
	/* The centre is not a node here; the deepest node is one cell away from it. */
	ck_assert(field->deepest >= -1 && field->deepest < -1 + 1.1 * field->cell);
	distance_field_destroy(field);
	shape_release(shape);
}
END_TEST

START_TEST(nodes_have_exact_distances_and_exact_signs)
{
	struct shape *solids[SOLIDS];
	make_solids(solids);
	for (uint32_t i = 0; i < SOLIDS; i++) {
		const struct mesh *mesh = solids[i]->mesh;
		struct distance_field *field = make_field(mesh, 20);
		uint32_t nx = field->blocks[0] + 1, ny = field->blocks[1] + 1, bricks = 0;
		for (uint32_t n = 0; n < nx * ny * (field->blocks[2] + 1); n++) {
			vec3 at = vec3_make(n % nx, n / nx % ny, n / nx / ny);
			vec3 p = vec3_mul_add(field->origin, at, field->cell * 8);
			ck_assert_double_eq_tol((double)field->coarse[n], exact_distance(mesh, p),
						1e-5);
		}
		for (uint32_t b = 0; b < field->blocks[0] * field->blocks[1] * field->blocks[2];
		     b++) {
			if (field->brick_of[b] == UINT32_MAX)
				continue;
			ck_assert_uint_eq(field->brick_of[b], bricks++);
			for (uint32_t n = b % 7; n < DISTANCE_FIELD_NODES; n += 7) {
				uint32_t x = b % field->blocks[0] * 8 + n % SIDE;
				uint32_t y = b / field->blocks[0] % field->blocks[1] * 8 +
					     n / SIDE % SIDE;
				uint32_t z = b / field->blocks[0] / field->blocks[1] * 8 +
					     n / SIDE / SIDE;
				vec3 p = vec3_mul_add(field->origin, vec3_make(x, y, z),
						      field->cell);
				double value = field->bricks[field->brick_of[b]][n] * field->cell *
					       DISTANCE_FIELD_QUANTUM;
				ck_assert_double_eq_tol(value, exact_distance(mesh, p),
							0.51 * field->cell *
								DISTANCE_FIELD_QUANTUM);
			}
		}
		ck_assert_uint_eq(bricks, field->brick_count);
		distance_field_destroy(field);
		shape_release(solids[i]);
	}
}
END_TEST

START_TEST(memory_grows_with_the_square_of_the_resolution)
{
	struct shape *shape = cube(1);
	size_t before = 0;
	for (uint32_t resolution = 80; resolution <= 160; resolution *= 2) {
		struct distance_field *field = make_field(shape->mesh, resolution);
		double dense = 8.0 * resolution * resolution * resolution;
		ck_assert(before == 0 || field->bytes < 5 * before);
		ck_assert((double)field->bytes < dense * 50 / resolution);
		before = field->bytes;
		distance_field_destroy(field);
	}
	shape_release(shape);
}
END_TEST

/* ---- values ----------------------------------------------------------------------------------- */

START_TEST(values_differ_by_at_most_the_interpolation_error)
{
	struct shape *solids[SOLIDS];
	make_solids(solids);
	for (uint32_t i = 0; i < SOLIDS; i++) {
		const struct mesh *mesh = solids[i]->mesh;
		struct distance_field *field = make_field(mesh, 40);
		for (uint32_t k = 0; k < 900; k++) {
			vec3 p = random_in_box(&rng, box_around(mesh, field->cell * 0.99));
			double value = SCALAR_MAX, true_value = exact_distance(mesh, p);
			ck_assert(distance_field_value(field, p, &value));
			double near = scalar_abs(true_value) < field->cell;
			double off = (near ? 0.87 : 8 * 0.87) * field->cell;
			ck_assert_double_eq_tol(value, true_value, off);
			if (scalar_abs(true_value) > 0.87 * field->cell)
				ck_assert((value < 0) == (true_value < 0));
		}
		distance_field_destroy(field);
		shape_release(solids[i]);
	}
}
END_TEST

START_TEST(a_box_is_negative_just_inside_its_edges_and_corners)
{
	struct shape *shape = cube(1);
	struct distance_field *field = make_field(shape->mesh, 32);
	static const vec3 AT[2] = { { 0.97, 0.97, 0 }, { 0.97, 0.97, 0.97 } };
	for (uint32_t i = 0; i < 2; i++) {
		double value;
		ck_assert(distance_field_value(field, AT[i], &value));
		ck_assert(value < 0);
		ck_assert_double_eq_tol(value, -0.03, field->cell);
	}
	distance_field_destroy(field);
	shape_release(shape);
}
END_TEST

START_TEST(values_change_no_faster_than_the_distance_moved)
{
	struct shape *solids[SOLIDS];
	make_solids(solids);
	for (uint32_t i = 0; i < SOLIDS; i++) {
		const struct mesh *mesh = solids[i]->mesh;
		struct distance_field *field = make_field(mesh, 32);
		for (uint32_t k = 0; k < 2000; k++) {
			vec3 p = random_in_box(&rng, box_around(mesh, 0));
			vec3 q = random_in_box(&rng, aabb_grow(aabb_of_point(p), 3 * field->cell));
			double one, two;
			if (!distance_field_value(field, p, &one) ||
			    !distance_field_value(field, q, &two))
				continue;
			/* Exact values have slope 1; each value may also be off by the
			 * interpolation error. */
			double way = vec3_distance(p, q), off = 0.87 * 8 * field->cell;
			ck_assert(scalar_abs(one - two) <= way + 2 * off);
			if (scalar_abs(one) < field->cell / 2 && scalar_abs(two) < field->cell / 2)
				ck_assert(scalar_abs(one - two) <= 1.7321 * way + 1e-9);
		}
		distance_field_destroy(field);
		shape_release(solids[i]);
	}
}
END_TEST

START_TEST(outside_the_grid_the_value_is_a_bound)
{
	struct shape *shape = make_star(7, 0.4);
	struct distance_field *field = make_field(shape->mesh, 24);
	for (uint32_t k = 0; k < 500; k++) {
		vec3 p = random_in_box(&rng, box_around(shape->mesh, 4));
		double value;
		if (distance_field_value(field, p, &value))
			continue;
		ck_assert(value > 0 && value <= exact_distance(shape->mesh, p) + 1e-12);
	}
	distance_field_destroy(field);
	shape_release(shape);
}
END_TEST

/* ---- gradients and nearest points ------------------------------------------------------------- */

START_TEST(gradients_of_a_sphere_are_radial_and_absent_at_its_centre)
{
	struct shape *ball = make_ball(4, 1, 0, NULL);
	struct distance_field *field = make_field(ball->mesh, 32);
	for (uint32_t k = 0; k < 500; k++) {
		vec3 p = random_in_box(&rng, aabb_grow(aabb_of_point(vec3_zero()), 1)), gradient;
		if (vec3_length(p) < 0.6)
			continue;
		ck_assert(distance_field_gradient(field, p, &gradient));
		ck_assert_double_eq_tol(vec3_length(gradient), 1, 1e-12);
		bool near = scalar_abs(vec3_length(p) - 1) < field->cell;
		ck_assert(vec3_dot(gradient, vec3_normalize(p)) > (near ? 0.998 : 0.9));
	}
	vec3 gradient;
	struct distance_field_point point;
	ck_assert(!distance_field_gradient(field, vec3_zero(), &gradient));
	ck_assert(!distance_field_closest(field, vec3_zero(), &point));
	ck_assert(!distance_field_gradient(field, vec3_all(3), &gradient));
	distance_field_destroy(field);
	shape_release(ball);
}
END_TEST

START_TEST(nearest_points_of_a_sphere_lie_on_it)
{
	struct shape *ball = make_ball(5, 1, 0, NULL);
	struct distance_field *field = make_field(ball->mesh, 32);
	for (uint32_t k = 0; k < 500; k++) {
		vec3 p = random_in_box(&rng, aabb_grow(aabb_of_point(vec3_zero()), 1));
		struct distance_field_point point;
		if (vec3_length(p) < 0.4)
			continue;
		ck_assert(distance_field_closest(field, p, &point));
		ck_assert_uint_le(point.iterations, 25);
		/* The faces of the mesh lie up to 7e-3 inside the sphere. */
		ck_assert_double_eq_tol(vec3_length(point.point), 1, 9e-3);
		ck_assert(scalar_abs(exact_distance(ball->mesh, point.point)) < 2e-3);
		ck_assert(point.residual <= field->cell * DISTANCE_FIELD_QUANTUM);
		ck_assert(vec3_distance(point.point, vec3_normalize(p)) < 0.2);
	}
	distance_field_destroy(field);
	shape_release(ball);
}
END_TEST

START_TEST(nearest_points_of_a_box_are_on_its_face)
{
	struct shape *shape = cube(1);
	struct distance_field *field = make_field(shape->mesh, 32);
	for (uint32_t k = 0; k < 200; k++) {
		double x = rng_range(&rng, -0.6, 0.6), z = rng_range(&rng, -0.6, 0.6);
		vec3 p = vec3_make(x, rng_range(&rng, 0.85, 1.05), z);
		struct distance_field_point point;
		ck_assert(distance_field_closest(field, p, &point));
		ck_assert_uint_le(point.iterations, 2);
		ck_assert(vec3_distance(point.point, vec3_make(x, 1, z)) < 2e-4);
		ck_assert(point.normal.y > 0.9999);
	}
	distance_field_destroy(field);
	shape_release(shape);
}
END_TEST

/* ---- collision -------------------------------------------------------------------------------- */

/* Compares each contact with the mesh from which the field was built. */
static void check_contacts(const struct mesh *mesh, const struct distance_field *field,
			   const struct field_contact *contacts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct field_contact *contact = &contacts[i];
		double off = 0.87 * 8 * field->cell;
		ck_assert(contact->depth > 0);
		ck_assert_double_eq_tol(vec3_length(contact->normal), 1, 1e-9);
		ck_assert_double_eq_tol(-exact_distance(mesh, contact->point), contact->depth, off);
	}
}

START_TEST(a_box_on_the_ground_has_four_contacts)
{
	struct shape *ground = cube(4), *box = cube(0.5);
	struct distance_field *field = make_field(ground->mesh, 64);
	struct distance_field_probe probe;
	struct field_contact contacts[32];
	ck_assert_int_eq(distance_field_probe_init(&probe, box->mesh), STATUS_OK);
	ck_assert_uint_eq(probe.vertices, 8);
	ck_assert_uint_eq(probe.edges, 18);
	for (uint32_t i = 0; i < 20; i++) {
		double depth = rng_range(&rng, 0.01, 0.2), x = rng_range(&rng, -3, 3);
		pose at = pose_make(vec3_make(x, 4.5 - depth, rng_range(&rng, -3, 3)),
				    quat_identity());
		uint32_t count = field_collide(field, &probe, &at, contacts, 32);
		ck_assert_uint_eq(count, 4);
		check_contacts(ground->mesh, field, contacts, count);
		for (uint32_t k = 0; k < count; k++) {
			ck_assert_double_eq_tol(contacts[k].depth, depth, 1e-3);
			ck_assert(contacts[k].normal.y > 0.999);
			ck_assert_double_eq_tol(contacts[k].surface.y, 4, 1e-3);
			ck_assert_uint_lt(contacts[k].feature, 3);
		}
		/* With less capacity fewer contacts are written and the count is the same. */
		ck_assert_uint_eq(field_collide(field, &probe, &at, contacts, 1), 4);
		at.position.y = 4.6;
		ck_assert_uint_eq(field_collide(field, &probe, &at, contacts, 32), 0);
	}
	distance_field_probe_release(&probe);
	distance_field_destroy(field);
	shape_release(ground);
	shape_release(box);
}
END_TEST

START_TEST(exactly_the_vertices_inside_the_field_are_contacts)
{
	struct shape *solids[SOLIDS];
	make_solids(solids);
	for (uint32_t i = 0; i < SOLIDS; i++) {
		const struct mesh *mesh = solids[i]->mesh;
		struct distance_field *field = make_field(mesh, 32);
		struct shape *ball = make_ball(3, 0.7, 0.3, &rng);
		struct distance_field_probe probe;
		struct field_contact contacts[600];
		ck_assert_int_eq(distance_field_probe_init(&probe, ball->mesh), STATUS_OK);
		for (uint32_t k = 0; k < 5; k++) {
			pose at = pose_make(random_in_box(&rng, box_around(mesh, 0)),
					    random_turn(&rng));
			uint32_t count = field_collide(field, &probe, &at, contacts, 600);
			uint32_t found = 0, sure = 0, possible = 0;
			ck_assert_uint_le(count, 600);
			check_contacts(mesh, field, contacts, count);
			for (uint32_t c = 0; c < count; c++)
				found += contacts[c].feature < 3;
			for (uint32_t v = 0; v < ball->mesh->vertex_count; v++) {
				vec3 p = pose_point(at, ball->mesh->vertices[v]);
				double d = exact_distance(mesh, p);
				sure += d < -0.87 * field->cell;
				possible += d < 0.87 * field->cell;
			}
			ck_assert_uint_ge(found, sure);
			ck_assert_uint_le(found, possible);
		}
		distance_field_probe_release(&probe);
		distance_field_destroy(field);
		shape_release(ball);
		shape_release(solids[i]);
	}
}
END_TEST

START_TEST(an_edge_through_a_bar_is_a_contact_at_its_deepest_point)
{
	/* A tetrahedron's long edge crosses a thin plate; all its vertices are outside. */
	static const vec3 POINTS[4] = { { 0, -3, 0 }, { 0, 3, 0 }, { 4, 0, 3 }, { 4, 0, -3 } };
	static const uint32_t TRIANGLES[4][3] = {
		{ 0, 1, 2 }, { 0, 3, 1 }, { 0, 2, 3 }, { 1, 3, 2 }
	};
	struct shape *wedge = make_mesh(POINTS, 4, TRIANGLES, 4), *bar = cube(0.5);
	struct distance_field *field = make_field(bar->mesh, 40);
	struct distance_field_probe probe;
	struct field_contact contacts[16];
	ck_assert(wedge->mesh->closed);
	ck_assert_int_eq(distance_field_probe_init(&probe, wedge->mesh), STATUS_OK);
	for (uint32_t i = 0; i < 20; i++) {
		double depth = rng_range(&rng, 0.05, 0.2);
		pose at = pose_make(vec3_make(0.5 - depth, 0, 0), quat_identity());
		uint32_t count = field_collide(field, &probe, &at, contacts, 16);
		ck_assert_uint_eq(count, 1);
		ck_assert_uint_ge(contacts[0].feature, 3);
		ck_assert_double_eq_tol(contacts[0].depth, depth, 2e-3);
		ck_assert_double_eq_tol(contacts[0].point.x, 0.5 - depth, 1e-9);
		/* If part of the edge is equally deep, any point of that part is correct. */
		ck_assert(contacts[0].normal.x > 0.6);
	}
	distance_field_probe_release(&probe);
	distance_field_destroy(field);
	shape_release(wedge);
	shape_release(bar);
}
END_TEST

START_TEST(a_field_smaller_than_a_large_fields_node_is_found_in_both_orders)
{
	/* A grain whose corner enters the face of a huge block: only the grain's vertices are
	 * inside. */
	struct shape *block = cube(8), *grain = cube(0.05);
	struct distance_field *large = make_field(block->mesh, 64);
	struct distance_field *small = make_field(grain->mesh, 16);
	struct distance_field_probe of_block, of_grain;
	struct field_contact contacts[64];
	ck_assert_int_eq(distance_field_probe_init(&of_block, block->mesh), STATUS_OK);
	ck_assert_int_eq(distance_field_probe_init(&of_grain, grain->mesh), STATUS_OK);
	pose at = pose_make(vec3_make(8.04, 0.3, 0.1), quat_identity());
	uint32_t count = field_collide_both(large, &of_grain, small, &of_grain, &at, NULL, 0);
	count = field_collide_both(large, &of_block, small, &of_grain, &at, contacts, 64);
	ck_assert_uint_ge(count, 4);
	for (uint32_t i = 0; i < count; i++)
		ck_assert(contacts[i].normal.x > 0.9);
	/* The grain on an edge of the block, which only the opposite test finds. */
	at = pose_make(vec3_make(8.03, 8.03, 0), quat_from_axis_angle(vec3_axis(2), QUARTER_PI));
	count = field_collide_both(large, &of_block, small, &of_grain, &at, contacts, 64);
	uint32_t swapped = 0;
	for (uint32_t i = 0; i < count; i++)
		swapped += contacts[i].swapped && contacts[i].feature >= 3;
	ck_assert_uint_eq(swapped, 1);
	distance_field_probe_release(&of_block);
	distance_field_probe_release(&of_grain);
	distance_field_destroy(large);
	distance_field_destroy(small);
	shape_release(block);
	shape_release(grain);
}
END_TEST

/* ---- surfaces --------------------------------------------------------------------------------- */

static struct shape *surface_of(const struct distance_field *field)
{
	struct distance_field_mesh mesh;
	ck_assert_int_eq(distance_field_surface(field, &mesh), STATUS_OK);
	struct shape *shape = make_mesh(mesh.vertices, mesh.vertex_count,
					(const uint32_t(*)[3])mesh.triangles, mesh.triangle_count);
	distance_field_mesh_release(&mesh);
	return shape;
}

START_TEST(the_surface_of_a_sphere_is_closed_and_has_its_volume)
{
	struct shape *ball = make_ball(3, 1, 0, NULL);
	struct distance_field *field = make_field(ball->mesh, 64);
	struct shape *again = surface_of(field);
	ck_assert(again->mesh->closed);
	/* One sphere: V − E + F = 2, with 3 F = 2 E. */
	ck_assert_uint_eq(again->mesh->triangle_count, 2 * again->mesh->vertex_count - 4);
	ck_assert_double_eq_tol(again->mass.volume, ball->mass.volume, 0.01 * ball->mass.volume);
	shape_release(again);
	distance_field_destroy(field);
	shape_release(ball);
}
END_TEST

START_TEST(extracted_surfaces_are_closed_and_near_the_original_mesh)
{
	struct shape *solids[SOLIDS];
	make_solids(solids);
	for (uint32_t i = 0; i < SOLIDS; i++) {
		struct distance_field *field = make_field(solids[i]->mesh, 20 + 4 * i);
		struct shape *again = surface_of(field);
		ck_assert(again->mesh->closed);
		ck_assert_double_eq_tol(again->mass.volume, solids[i]->mass.volume,
					0.05 * solids[i]->mass.volume);
		for (uint32_t v = 0; v < again->mesh->vertex_count; v += 5)
			ck_assert(scalar_abs(exact_distance(solids[i]->mesh,
							    again->mesh->vertices[v])) <
				  field->cell);
		shape_release(again);
		distance_field_destroy(field);
		shape_release(solids[i]);
	}
}
END_TEST

/* ---- refusals and slices ---------------------------------------------------------------------- */

START_TEST(open_and_inverted_meshes_and_resolutions_out_of_range_are_refused)
{
	static const vec3 POINTS[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
	static const uint32_t OUT[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 0, 3, 2 }, { 1, 2, 3 } };
	static const uint32_t IN[4][3] = { { 0, 1, 2 }, { 0, 3, 1 }, { 0, 2, 3 }, { 1, 3, 2 } };
	struct shape *open = make_mesh(POINTS, 4, OUT, 3), *inverted = make_mesh(POINTS, 4, IN, 4);
	struct shape *good = make_mesh(POINTS, 4, OUT, 4);
	struct distance_field *field = NULL;
	struct reason why;
	ck_assert_int_eq(distance_field_create(open->mesh, 8, 0, &field, &why), STATUS_DEGENERATE);
	ck_assert_int_eq(distance_field_create(inverted->mesh, 8, 0, &field, &why),
			 STATUS_DEGENERATE);
	ck_assert_int_eq(distance_field_create(good->mesh, 1, 0, &field, &why), STATUS_RANGE);
	ck_assert_int_eq(distance_field_create(good->mesh, 1025, 0, &field, &why), STATUS_RANGE);
	ck_assert_int_eq(distance_field_create(good->mesh, 64, 20000, &field, &why), STATUS_LIMIT);
	ck_assert_ptr_nonnull(strstr(why.text, "bytes"));
	ck_assert_ptr_null(field);
	shape_release(open);
	shape_release(inverted);
	shape_release(good);
}
END_TEST

START_TEST(time_slices_do_not_change_the_field)
{
	struct shape *star = make_star(6, 0.5);
	struct distance_field *whole = make_field(star->mesh, 30), *sliced;
	struct distance_field_build *build;
	uint32_t slices = 1;
	enum status status;
	ck_assert_int_eq(distance_field_build_create(star->mesh, 30, 0, &build, NULL), STATUS_OK);
	while ((status = distance_field_build_step(build, 1, &sliced, NULL)) == STATUS_AGAIN)
		slices++;
	ck_assert_int_eq(status, STATUS_OK);
	distance_field_build_destroy(build);
	ck_assert_uint_ge(slices, star->mesh->triangle_count + whole->brick_count);
	ck_assert_uint_eq(whole->brick_count, sliced->brick_count);
	ck_assert_uint_eq(whole->bytes, sliced->bytes);
	ck_assert_mem_eq(whole->bricks, sliced->bricks, whole->brick_count * sizeof *whole->bricks);
	distance_field_destroy(whole);
	distance_field_destroy(sliced);
	shape_release(star);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
	struct shape *l = make_l();
	int64_t live = heap_live();
	bool pending = false;
	for (uint64_t n = 1; !pending; n++) {
		struct distance_field *field = NULL;
		struct distance_field_mesh mesh;
		heap_fail_at(n);
		enum status status = distance_field_create(l->mesh, 8, 0, &field, NULL);
		if (status == STATUS_OK)
			status = distance_field_surface(field, &mesh);
		pending = heap_fail_pending();
		heap_fail_at(0);
		ck_assert_int_eq(status, pending ? STATUS_OK : STATUS_NO_MEMORY);
		if (status == STATUS_OK)
			distance_field_mesh_release(&mesh);
		distance_field_destroy(field);
		ck_assert_int_eq(heap_live(), live);
	}
	shape_release(l);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("distance_field");
	rng = rng_seeded(check_seed());
	TCase *nodes = tcase_create("nodes");
	tcase_add_test(nodes, a_cube_of_resolution_32_has_34_cells_per_axis);
	tcase_add_test(nodes, nodes_have_exact_distances_and_exact_signs);
	tcase_add_test(nodes, memory_grows_with_the_square_of_the_resolution);
	suite_add_tcase(suite, nodes);
	TCase *values = tcase_create("values");
	tcase_add_test(values, values_differ_by_at_most_the_interpolation_error);
	tcase_add_test(values, a_box_is_negative_just_inside_its_edges_and_corners);
	tcase_add_test(values, values_change_no_faster_than_the_distance_moved);
	tcase_add_test(values, outside_the_grid_the_value_is_a_bound);
	suite_add_tcase(suite, values);
	TCase *nearest = tcase_create("nearest");
	tcase_add_test(nearest, gradients_of_a_sphere_are_radial_and_absent_at_its_centre);
	tcase_add_test(nearest, nearest_points_of_a_sphere_lie_on_it);
	tcase_add_test(nearest, nearest_points_of_a_box_are_on_its_face);
	suite_add_tcase(suite, nearest);
	TCase *collision = tcase_create("collision");
	tcase_add_test(collision, a_box_on_the_ground_has_four_contacts);
	tcase_add_test(collision, exactly_the_vertices_inside_the_field_are_contacts);
	tcase_add_test(collision, an_edge_through_a_bar_is_a_contact_at_its_deepest_point);
	tcase_add_test(collision, a_field_smaller_than_a_large_fields_node_is_found_in_both_orders);
	suite_add_tcase(suite, collision);
	TCase *surfaces = tcase_create("surfaces");
	tcase_add_test(surfaces, the_surface_of_a_sphere_is_closed_and_has_its_volume);
	tcase_add_test(surfaces, extracted_surfaces_are_closed_and_near_the_original_mesh);
	suite_add_tcase(suite, surfaces);
	TCase *refusals = tcase_create("refusals");
	tcase_add_test(refusals, open_and_inverted_meshes_and_resolutions_out_of_range_are_refused);
	tcase_add_test(refusals, time_slices_do_not_change_the_field);
	tcase_add_test(refusals, every_allocation_may_fail);
	suite_add_tcase(suite, refusals);
	return suite;
}

int main(void)
{
	return check_main(make);
}
