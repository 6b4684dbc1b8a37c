/* test_pile_polyhedra.c: polyhedra that move under `pile` (papers P-09, P-10), without turning: 54 of them
 * come to rest among planes, cubes and a mesh, with no overlap on the way of any step, with gaps that end
 * below 10⁻⁴ of their radii, and with forces that hold them. Masses are 1 kg. */
#include "tests/lib/near.h"
#include "tests/lib/oracle_convex.h"
#include "tests/lib/smooth_worlds.h"

#include "server/base/rng.h"
#include "server/engine/collision/epa.h"
#include "server/engine/math/quat.h"
#include "server/engine/math/scalar.h"

#include <stdio.h>
#include <string.h>

#define G 9.81
#define OVERLAP 1e-9 /* m: none above it, at any instant */
/* m: the radius of the largest, a cube's. Gaps of two end at 2 × 1 % / 2⁷ of it. */
#define RADIUS_MAX 0.8660254037844386
#define GAP_END (2 * 0.01 / 128 * RADIUS_MAX)
enum { PIECES_MAX = 64, FLATS_MAX = 8, INTERPOLANTS = 10 };

struct solid_piece {
	enum test_shape shape;
	body_id body;
	vec3 at;
	quat turn;
};

struct heap {
	struct world *world;
	struct solid_piece pieces[PIECES_MAX]; /* those that move first */
	uint32_t count, moving;
	struct {
		vec3 normal;
		double offset;
	} flats[FLATS_MAX];
	uint32_t flat_count;
};

static void add_piece(struct heap *self, enum test_shape shape, vec3 at, quat turn, uint8_t status)
{
	ck_assert_uint_lt(self->count, PIECES_MAX);
	body_id body = smooth_put(self->world, shape, at, turn, status);
	self->pieces[self->count++] = (struct solid_piece){ shape, body, at, turn };
	self->moving += status == BODY_DYNAMIC;
}

static void add_flat(struct heap *self, vec3 normal, double offset)
{
	quat turn = quat_identity();
	if (normal.x != 0)
		turn = quat_from_axis_angle(vec3_make(0, 0, 1), -normal.x * PI / 2);
	if (normal.z != 0)
		turn = quat_from_axis_angle(vec3_make(1, 0, 0), normal.z * PI / 2);
	smooth_put(self->world, TEST_PLANE, vec3_scale(normal, offset), turn, BODY_STATIC);
	self->flats[self->flat_count].normal = normal;
	self->flats[self->flat_count++].offset = offset;
}

static quat any_turn(struct rng *rng)
{
	double x = rng_range(rng, -1, 1);
	double y = rng_range(rng, -1, 1);
	double z = rng_range(rng, -1, 1);
	return quat_from_axis_angle(vec3_normalize(vec3_make(x, y, z + 1.1)), rng_range(rng, 0, 3));
}

/* An open box on y = 0 over which `layers` layers of side² pieces hang: cubes, octahedra and spheres. */
static void fill_box(struct heap *self, uint32_t side, uint32_t layers, uint64_t seed)
{
	static const enum test_shape SHAPES[] = { TEST_BOX, TEST_HULL, TEST_BOX, TEST_SPHERE };
	struct rng rng = rng_seeded(seed);
	double spacing = 1.8, half = 0.5 * side * spacing;
	*self = (struct heap){ .world = test_world(false, "pile") };
	for (uint32_t i = 0; i < side * side * layers; i++) {
		vec3 at = vec3_make(i % side, i / side / side, i / side % side);
		at = vec3_scale(vec3_add(at, vec3_all(0.5)), spacing);
		at = vec3_sub(at, vec3_make(half, 0, half));
		add_piece(self, SHAPES[i % COUNT_OF(SHAPES)], at, any_turn(&rng), BODY_DYNAMIC);
	}
	add_flat(self, vec3_make(0, 1, 0), 0);
	add_flat(self, vec3_make(1, 0, 0), -half);
	add_flat(self, vec3_make(-1, 0, 0), -half);
	add_flat(self, vec3_make(0, 0, 1), -half);
	add_flat(self, vec3_make(0, 0, -1), -half);
	smooth_set(self->world, "sleep.time", 0);
}

static vec3 place_of(const struct heap *self, const vec3 *at, uint32_t i)
{
	return i < self->moving ? at[i] : self->pieces[i].at;
}

/* m: the distance of two pieces at such places; minus their depth. */
static double distance_of(const struct solid_piece *a, vec3 at_a, const struct solid_piece *b,
			  vec3 at_b)
{
	static struct epa_workspace work;
	const struct shape *shapes[2] = { test_shape(a->shape), test_shape(b->shape) };
	struct gjk_points rooms[2];
	struct gjk_core cores[2] = { gjk_core_of(shapes[0], 0, &rooms[0]),
				     gjk_core_of(shapes[1], 0, &rooms[1]) };
	if (vec3_distance(at_a, at_b) > shapes[0]->radius_max + shapes[1]->radius_max)
		return 1;
	pose to = pose_relative(pose_make(at_a, a->turn), pose_make(at_b, b->turn));
	mat3 rotation = mat3_from_quat(to.rotation);
	struct gjk_result near;
	struct epa_result depth;
	gjk_distance(&cores[0], &cores[1], &rotation, to.position, NULL, &near);
	double distance = near.distance;
	if (near.touching) {
		epa_depth(&cores[0], &cores[1], &rotation, to.position, &near.simplex, &work,
			  &depth);
		distance = -depth.depth;
	}
	return distance - cores[0].radius - cores[1].radius;
}

static double height_over(const struct solid_piece *piece, vec3 at, vec3 normal)
{
	const struct shape *shape = test_shape(piece->shape);
	if (shape->kind == SHAPE_SPHERE)
		return vec3_dot(normal, at) - shape->sphere.radius;
	double lowest = SCALAR_MAX;
	for (uint32_t v = 0; v < shape->hull->vertex_count; v++) {
		vec3 corner = quat_rotate(piece->turn, shape->hull->vertices[v]);
		lowest = scalar_min(lowest, vec3_dot(normal, vec3_add(at, corner)));
	}
	return lowest;
}

static double worst_overlap(const struct heap *self, const vec3 *at)
{
	double worst = 0;
	for (uint32_t i = 0; i < self->moving; i++) {
		for (uint32_t j = i + 1; j < self->count; j++)
			worst = scalar_max(worst,
					   -distance_of(&self->pieces[i], at[i], &self->pieces[j],
							place_of(self, at, j)));
		for (uint32_t w = 0; w < self->flat_count; w++)
			worst = scalar_max(worst, self->flats[w].offset -
							  height_over(&self->pieces[i], at[i],
								      self->flats[w].normal));
	}
	return worst;
}

/* One step: nothing overlaps on the way, nothing turns, energy does not grow. */
static void step_checked(struct heap *self)
{
	vec3 before[PIECES_MAX], now[PIECES_MAX], between[PIECES_MAX];
	double fall = 0, overlap = 0;
	test_step(self->world, 1);
	for (uint32_t i = 0; i < self->moving; i++) {
		struct body_view view = test_body(self->world, self->pieces[i].body);
		before[i] = self->pieces[i].at;
		now[i] = self->pieces[i].at = view.position;
		fall += before[i].y - now[i].y;
	}
	ck_assert_double_ge(fall, -1e-9 * self->moving);
	for (uint32_t k = 1; k <= INTERPOLANTS; k++) {
		for (uint32_t i = 0; i < self->moving; i++)
			between[i] = vec3_lerp(before[i], now[i], (double)k / INTERPOLANTS);
		overlap = scalar_max(overlap, worst_overlap(self, between));
	}
	ck_assert_double_le(overlap, OVERLAP);
}

static uint32_t step_to_rest(struct heap *self, uint32_t most)
{
	uint32_t steps = 0, waits = 0;
	while (world_stats(self->world).awake > 0) {
		step_checked(self);
		waits += world_stats(self->world).fallbacks;
		ck_assert_uint_le(++steps, most);
	}
	ck_assert_uint_eq(waits, 0);
	return steps;
}

/* At rest each piece is as near to some other one below it as the last gap, by an oracle that tries all
 * features. */
static void expect_small_gaps(const struct heap *self)
{
	double worst = 0;
	for (uint32_t i = 0; i < self->moving; i++) {
		const struct solid_piece *piece = &self->pieces[i];
		double least = height_over(piece, piece->at, vec3_make(0, 1, 0));
		for (uint32_t j = 0; j < self->count; j++) {
			const struct solid_piece *other = &self->pieces[j];
			const struct shape *shapes[2] = { test_shape(piece->shape),
							  test_shape(other->shape) };
			if (j == i || other->at.y > piece->at.y + 2)
				continue;
			double near = distance_of(piece, piece->at, other, other->at);
			if (shapes[0]->hull != NULL && shapes[1]->hull != NULL && near < 0.01) {
				struct placing at[2] = { { mat3_from_quat(piece->turn), piece->at },
							 { mat3_from_quat(other->turn),
							   other->at } };
				struct oracle_hull hulls[2];
				struct oracle_answer answer;
				oracle_hull_make(&hulls[0], shapes[0]->hull, &at[0]);
				oracle_hull_make(&hulls[1], shapes[1]->hull, &at[1]);
				oracle_convex(&hulls[0], &hulls[1], &answer);
				ck_assert_double_ge(answer.separation, -OVERLAP);
				near = answer.distance;
			}
			least = scalar_min(least, near);
		}
		worst = scalar_max(worst, least);
	}
	printf("# nearest other of any piece: at most %.1e m\n", worst);
	ck_assert_double_le(worst, GAP_END + OVERLAP);
}

/* The forces that the contacts tell hold every piece: without turning, their sum is enough. */
static void expect_balance(const struct heap *self)
{
	static struct contact_view contacts[16 * PIECES_MAX];
	uint32_t count = test_contacts(self->world, 0, contacts, COUNT_OF(contacts));
	double dt = 1.0 / world_info(self->world).rate_num, worst = 0;
	ck_assert_uint_lt(count, COUNT_OF(contacts));
	for (uint32_t i = 0; i < self->moving; i++) {
		vec3 force = vec3_make(0, -G, 0);
		for (uint32_t c = 0; c < count; c++) {
			double push = contacts[c].normal_impulse / dt;
			if (contacts[c].a == self->pieces[i].body)
				force = vec3_mul_sub(force, contacts[c].normal, push);
			if (contacts[c].b == self->pieces[i].body)
				force = vec3_mul_add(force, contacts[c].normal, push);
		}
		worst = scalar_max(worst, vec3_length(force));
	}
	printf("# %u contacts, unbalanced %.1e N\n", (unsigned)count, worst);
	ck_assert_double_le(worst, 1e-9 * G);
}

START_TEST(heaps_of_polyhedra_come_to_rest)
{
	struct heap heap;
	fill_box(&heap, 3, 6, check_seed());
	uint32_t steps = step_to_rest(&heap, 150);
	printf("# %u pieces: %u steps\n", (unsigned)heap.moving, (unsigned)steps);
	expect_small_gaps(&heap);
	expect_balance(&heap);
	world_destroy(heap.world);
}
END_TEST

/* A cube that leans on nothing slides off a turned one and over the seams of a floor of cubes to its end. */
START_TEST(a_cube_slides_over_seams)
{
	struct heap heap = { .world = test_world(false, "pile") };
	struct rng rng = rng_seeded(check_seed());
	smooth_set(heap.world, "sleep.time", 0);
	add_piece(&heap, TEST_BOX, vec3_make(-2.6, 1.3, 0.1), any_turn(&rng), BODY_DYNAMIC);
	for (int x = -3; x <= 3; x++)
		for (int z = -1; z <= 1; z++)
			add_piece(&heap, TEST_BOX, vec3_make(x, -0.5, z), quat_identity(),
				  BODY_STATIC);
	struct command gravity = test_command(COMMAND_GRAVITY);
	gravity.gravity.gravity = vec3_make(0.3 * G, -G, 0);
	test_do(heap.world, &gravity);
	for (uint32_t step = 0; step < 12; step++) {
		double before = heap.pieces[0].at.x;
		test_step(heap.world, 1);
		heap.pieces[0].at = test_body(heap.world, heap.pieces[0].body).position;
		/* The floor has no edge for it, so it goes at least half as far as its cube permits. */
		ck_assert_double_ge(heap.pieces[0].at.x, before + 0.2);
		ck_assert_double_le(worst_overlap(&heap, &heap.pieces[0].at), OVERLAP);
	}
	ck_assert_double_ge(heap.pieces[0].at.x, 3.5);
	world_destroy(heap.world);
}
END_TEST

/* On hilly ground of triangles a cube stops where forces balance it. */
START_TEST(a_cube_stops_on_a_mesh)
{
	struct heap heap = { .world = test_world(false, "pile") };
	struct rng rng = rng_seeded(check_seed());
	smooth_set(heap.world, "sleep.time", 0);
	add_piece(&heap, TEST_BOX, vec3_make(rng_range(&rng, -1, 1), 5, 0.4), any_turn(&rng),
		  BODY_DYNAMIC);
	smooth_put(heap.world, TEST_MESH, vec3_zero(), quat_identity(), BODY_STATIC);
	uint32_t steps = step_to_rest(&heap, 200);
	printf("# %u steps\n", (unsigned)steps);
	ck_assert_double_ge(heap.pieces[0].at.y, -1);
	ck_assert_double_le(world_stats(heap.world).penetration_max, OVERLAP);
	expect_balance(&heap);
	world_destroy(heap.world);
}
END_TEST

/* Overlap is removed first, also of pieces at one place. */
START_TEST(overlapping_polyhedra_are_parted)
{
	struct heap heap;
	fill_box(&heap, 2, 1, check_seed());
	for (uint32_t i = 0; i < 3; i++)
		add_piece(&heap, i == 1 ? TEST_HULL : TEST_BOX, vec3_make(0, 0.9, 0.1 * (i / 2)),
			  quat_identity(), BODY_DYNAMIC);
	vec3 at[PIECES_MAX];
	uint32_t steps = 0;
	double overlap = 1;
	while (overlap > OVERLAP) {
		test_step(heap.world, 1);
		for (uint32_t i = 0; i < heap.moving; i++)
			at[i] = heap.pieces[i].at =
				test_body(heap.world, heap.pieces[i].body).position;
		overlap = worst_overlap(&heap, at);
		ck_assert_uint_le(++steps, 30);
	}
	step_to_rest(&heap, 150);
	world_destroy(heap.world);
}
END_TEST

/* Two cubes do not fit side by side between the walls, though that is the shortest way apart: one goes on top
 * of the other. The way that was chosen is state. */
START_TEST(cubes_that_walls_hold_together_part_upwards)
{
	struct heap heap;
	fill_box(&heap, 1, 0, 1);
	for (int i = -1; i <= 1; i += 2)
		add_piece(&heap, TEST_BOX, vec3_make(0.4 * i, 0.6, 0), quat_identity(),
			  BODY_DYNAMIC);
	uint32_t steps = 0;
	for (double overlap = 1; overlap > OVERLAP;) {
		struct bytes image = test_save(heap.world);
		struct world *loaded;
		struct reason why;
		vec3 at[2];
		ck_assert_int_eq(
			world_load(image.data, image.count, test_shape_source(), &loaded, &why),
			STATUS_OK);
		test_step(heap.world, 1);
		test_step(loaded, 1);
		ck_assert_uint_eq(test_hash(heap.world), test_hash(loaded));
		for (uint32_t i = 0; i < 2; i++)
			at[i] = heap.pieces[i].at =
				test_body(heap.world, heap.pieces[i].body).position;
		overlap = worst_overlap(&heap, at);
		/* The first finds the way blocked; the height of a cube is less than twice its radius, which
		 * is how far a step may lift it. */
		ck_assert_uint_le(++steps, 3);
		world_destroy(loaded);
		bytes_release(&image);
	}
	step_to_rest(&heap, 150);
	ck_assert_double_ge(scalar_abs(heap.pieces[0].at.y - heap.pieces[1].at.y), 1 - OVERLAP);
	expect_balance(&heap);
	world_destroy(heap.world);
}
END_TEST

/* A cube that comes to rest on a sleeping one wakes it, though a gap is between them, and both bear it. */
START_TEST(a_sleeping_cube_bears_another)
{
	struct heap heap;
	fill_box(&heap, 1, 0, 1);
	for (uint32_t i = 0; i < 2; i++) {
		add_piece(&heap, TEST_BOX, vec3_make(0, 0.6 + 2 * i, 0), quat_identity(),
			  BODY_DYNAMIC);
		step_to_rest(&heap, 150);
		expect_balance(&heap);
	}
	world_destroy(heap.world);
}
END_TEST

/* The gap of each body is state. */
START_TEST(a_loaded_world_has_the_same_future)
{
	struct heap heap;
	fill_box(&heap, 2, 2, check_seed());
	smooth_set(heap.world, "pile.acceleration", 0.2);
	for (uint32_t step = 0; step < 40; step++) {
		struct bytes image = test_save(heap.world);
		struct world *loaded;
		struct reason why;
		ck_assert_int_eq(
			world_load(image.data, image.count, test_shape_source(), &loaded, &why),
			STATUS_OK);
		test_step(heap.world, 2);
		test_step(loaded, 2);
		ck_assert_uint_eq(test_hash(heap.world), test_hash(loaded));
		world_destroy(loaded);
		bytes_release(&image);
	}
	ck_assert_uint_eq(world_stats(heap.world).awake, 0);
	world_destroy(heap.world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("pile_polyhedra");
	TCase *tcase = tcase_create("pile_polyhedra");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, heaps_of_polyhedra_come_to_rest);
	tcase_add_test(tcase, a_cube_slides_over_seams);
	tcase_add_test(tcase, a_cube_stops_on_a_mesh);
	tcase_add_test(tcase, overlapping_polyhedra_are_parted);
	tcase_add_test(tcase, cubes_that_walls_hold_together_part_upwards);
	tcase_add_test(tcase, a_sleeping_cube_bears_another);
	tcase_add_test(tcase, a_loaded_world_has_the_same_future);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
