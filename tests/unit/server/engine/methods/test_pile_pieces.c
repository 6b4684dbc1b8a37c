/* test_pile_pieces.c: bodies of several convex pieces under `pile` (papers P-09): hooks of cubes,
 * dumb-bells and solids of parts come to rest without overlap on the way of any step and with forces
 * that hold them; they fill hollows and hang on bars. Masses are 1 kg. */
#include "tests/lib/check_main.h"
#include "tests/lib/near.h"
#include "tests/lib/smooth_worlds.h"

#include "server/base/rng.h"
#include "server/engine/collision/epa.h"
#include "server/engine/geometry/solid.h"
#include "server/engine/math/quat.h"
#include "server/engine/math/scalar.h"

#include <stdio.h>

#define G 9.81
#define CONSERVATIVE 0.001 /* price of displacement, of the weight */
#define OVERLAP 1e-9	   /* m: none above it, at any instant */
enum { BODIES_MAX = 40, SHAPES_MAX = 5, INTERPOLANTS = 10 };

/* Shapes of a body at such places. */
struct kind {
	uint32_t count;
	struct {
		enum test_shape shape;
		vec3 at;
	} shapes[SHAPES_MAX];
};
static const struct kind HOOK = {
	3, { { TEST_BOX, { 0, 0, 0 } }, { TEST_BOX, { 1, 0, 0 } }, { TEST_BOX, { 0, 1, 0 } } }
};
static const struct kind BELL = { 3,
				  { { TEST_SPHERE, { -0.6, 0, 0 } },
				    { TEST_HULL, { 0, 0, 0 } },
				    { TEST_SPHERE, { 0.6, 0, 0 } } } };
static const struct kind ELBOW = { 1, { { TEST_ELBOW, { 0, 0, 0 } } } };
static const struct kind CUBE = { 1, { { TEST_BOX, { 0, 0, 0 } } } };
/* A trough: cubes around a hollow of 1.2 m. */
static const struct kind TROUGH = { 5,
				    { { TEST_BOX, { -1.1, 0, 0 } },
				      { TEST_BOX, { -0.5, -1, 0 } },
				      { TEST_BOX, { 0.5, -1, 0 } },
				      { TEST_BOX, { 1.1, 0, 0 } },
				      { TEST_BOX, { 0, -1, 0 } } } };

struct placed {
	const struct kind *kind;
	body_id body;
	vec3 at;
	quat turn;
};

struct heap {
	struct world *world;
	struct placed bodies[BODIES_MAX]; /* those that move first */
	uint32_t count, moving;
	double half; /* m: of the open box around them; 0: none */
};

static struct heap empty_heap(void)
{
	struct heap heap = { .world = test_world(false, "pile") };
	smooth_set(heap.world, "sleep.time", 0);
	return heap;
}

static struct command spawn_of(struct world *world, const struct kind *kind,
			       struct attachment items[SHAPES_MAX])
{
	struct command command = test_command(COMMAND_SPAWN);
	for (uint32_t i = 0; i < kind->count; i++)
		items[i] = (struct attachment){ .shape = test_use(world, kind->shapes[i].shape),
						.position = kind->shapes[i].at,
						.rotation = quat_identity() };
	command.spawn.shapes = (struct attachment_list){ items, kind->count };
	command.spawn.static_friction = command.spawn.dynamic_friction = 0;
	command.spawn.restitution = 0;
	command.spawn.mass = 1;
	return command;
}

static void add(struct heap *self, const struct kind *kind, vec3 at, quat turn, uint8_t status)
{
	struct attachment items[SHAPES_MAX];
	struct command command = spawn_of(self->world, kind, items);
	ck_assert_uint_lt(self->count, BODIES_MAX);
	command.spawn.position = at;
	command.spawn.rotation = turn;
	command.spawn.status = status;
	body_id body = test_do(self->world, &command);
	self->bodies[self->count++] = (struct placed){ kind, body, at, turn };
	self->moving += status == BODY_DYNAMIC;
}

static void add_plane(struct heap *self, vec3 normal, double offset)
{
	struct attachment item;
	struct command command =
		test_spawn_command(self->world, TEST_PLANE, vec3_scale(normal, offset), &item);
	quat turn = quat_identity();
	if (normal.x != 0)
		turn = quat_from_axis_angle(vec3_make(0, 0, 1), -normal.x * PI / 2);
	if (normal.z != 0)
		turn = quat_from_axis_angle(vec3_make(1, 0, 0), normal.z * PI / 2);
	command.spawn.rotation = turn;
	command.spawn.static_friction = command.spawn.dynamic_friction = 0;
	test_do(self->world, &command);
}

static quat any_turn(struct rng *rng)
{
	double x = rng_range(rng, -1, 1);
	double y = rng_range(rng, -1, 1);
	double z = rng_range(rng, -1, 1);
	return quat_from_axis_angle(vec3_normalize(vec3_make(x, y, z + 1.1)), rng_range(rng, 0, 3));
}

/* Walls in z, and cubes that fall straight and do not drift at equal energy. */
static void keep_in_plane(struct heap *self)
{
	smooth_set(self->world, "pile.box", 1);
	smooth_set(self->world, "pile.conservative", CONSERVATIVE);
	add_plane(self, vec3_make(0, 0, 1), -0.75);
	add_plane(self, vec3_make(0, 0, -1), -0.75);
}

/* An open box in which layers of four bodies hang, turned by chance. */
static void fill_box(struct heap *self, uint32_t layers, uint64_t seed)
{
	static const struct kind *const KINDS[] = { &HOOK, &BELL, &ELBOW, &CUBE, &HOOK };
	struct rng rng = rng_seeded(seed);
	*self = empty_heap();
	self->half = 3.6;
	for (uint32_t i = 0; i < 4 * layers; i++)
		add(self, KINDS[i % COUNT_OF(KINDS)],
		    vec3_make(i % 2 == 0 ? -1.8 : 1.8, 2 + 3.6 * (i / 4),
			      i / 2 % 2 == 0 ? -1.8 : 1.8),
		    any_turn(&rng), BODY_DYNAMIC);
	add_plane(self, vec3_make(0, 1, 0), 0);
	for (int side = -1; side <= 1; side += 2) {
		add_plane(self, vec3_make(side, 0, 0), -self->half);
		add_plane(self, vec3_make(0, 0, side), -self->half);
	}
}

/* ---- overlap ----------------------------------------------------------------------------------- */

/* m: the distance of two convex shapes; minus their depth. */
static double distance_of(const struct shape *a, pose at_a, const struct shape *b, pose at_b)
{
	static struct epa_workspace work;
	struct gjk_points rooms[2];
	struct gjk_core cores[2] = { gjk_core_of(a, 0, &rooms[0]), gjk_core_of(b, 0, &rooms[1]) };
	pose to = pose_relative(at_a, at_b);
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

struct part {
	const struct shape *shape;
	pose at;
};

/* The convex parts of a body with its origin at `at`. */
static uint32_t list_parts(const struct placed *body, vec3 at, struct part *out)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < body->kind->count; i++) {
		const struct shape *shape = test_shape(body->kind->shapes[i].shape);
		vec3 own = quat_rotate(body->turn, body->kind->shapes[i].at);
		pose place = pose_make(vec3_add(at, own), body->turn);
		if (shape->kind != SHAPE_SOLID)
			out[count++] = (struct part){ shape, place };
		for (uint32_t k = 0; shape->kind == SHAPE_SOLID && k < shape->solid->part_count;
		     k++)
			out[count++] = (struct part){ shape->solid->parts[k], place };
	}
	ck_assert_uint_le(count, 2 * SHAPES_MAX);
	return count;
}

static double lowest_along(const struct part *part, vec3 normal)
{
	if (part->shape->kind == SHAPE_SPHERE)
		return vec3_dot(normal, part->at.position) - part->shape->sphere.radius;
	double lowest = SCALAR_MAX;
	for (uint32_t v = 0; v < part->shape->hull->vertex_count; v++)
		lowest = scalar_min(
			lowest,
			vec3_dot(normal, pose_point(part->at, part->shape->hull->vertices[v])));
	return lowest;
}

/* m: how far parts are outside of the box. */
static double outside(const struct heap *self, const struct part *parts, uint32_t count)
{
	double worst = 0;
	for (uint32_t i = 0; self->half > 0 && i < count; i++) {
		worst = scalar_max(worst, -lowest_along(&parts[i], vec3_make(0, 1, 0)));
		for (int side = -1; side <= 1; side += 2) {
			double x = lowest_along(&parts[i], vec3_make(side, 0, 0));
			double z = lowest_along(&parts[i], vec3_make(0, 0, side));
			worst = scalar_max(worst, -self->half - scalar_min(x, z));
		}
	}
	return worst;
}

static double worst_overlap(const struct heap *self, const vec3 *at)
{
	struct part parts[2][2 * SHAPES_MAX];
	double worst = 0;
	for (uint32_t i = 0; i < self->moving; i++) {
		uint32_t own = list_parts(&self->bodies[i], at[i], parts[0]);
		worst = scalar_max(worst, outside(self, parts[0], own));
		for (uint32_t j = i + 1; j < self->count; j++) {
			vec3 its = j < self->moving ? at[j] : self->bodies[j].at;
			if (vec3_distance(at[i], its) > 4)
				continue;
			uint32_t others = list_parts(&self->bodies[j], its, parts[1]);
			for (uint32_t k = 0; k < own * others; k++) {
				const struct part *a = &parts[0][k / others];
				const struct part *b = &parts[1][k % others];
				double distance = distance_of(a->shape, a->at, b->shape, b->at);
				worst = scalar_max(worst, -distance);
			}
		}
	}
	return worst;
}

/* ---- steps ------------------------------------------------------------------------------------- */

/* One step: nothing overlaps on the way, nothing turns, energy does not grow. */
static void step_checked(struct heap *self)
{
	vec3 before[BODIES_MAX], between[BODIES_MAX];
	double fall = 0, overlap = 0;
	test_step(self->world, 1);
	for (uint32_t i = 0; i < self->moving; i++) {
		struct body_view view = test_body(self->world, self->bodies[i].body);
		before[i] = self->bodies[i].at;
		self->bodies[i].at = view.position;
		fall += before[i].y - view.position.y;
		ck_assert_double_eq_tol(view.rotation.w, self->bodies[i].turn.w, 1e-15);
	}
	ck_assert_double_ge(fall, -1e-9 * self->moving);
	for (uint32_t k = 1; k <= INTERPOLANTS; k++) {
		for (uint32_t i = 0; i < self->moving; i++)
			between[i] =
				vec3_lerp(before[i], self->bodies[i].at, (double)k / INTERPOLANTS);
		overlap = scalar_max(overlap, worst_overlap(self, between));
	}
	ck_assert_double_le(overlap, OVERLAP);
}

static uint32_t step_to_rest(struct heap *self, uint32_t most)
{
	uint32_t steps = 0;
	while (world_stats(self->world).awake > 0) {
		step_checked(self);
		ck_assert_uint_eq(world_stats(self->world).fallbacks, 0);
		ck_assert_uint_le(++steps, most);
	}
	return steps;
}

/* The forces that the contacts tell hold every body but for a part of its weight: without turning, their sum
 * is enough. */
static void expect_balance(const struct heap *self, double part)
{
	static struct contact_view contacts[64 * BODIES_MAX];
	uint32_t count = test_contacts(self->world, 0, contacts, COUNT_OF(contacts));
	double dt = 1.0 / world_info(self->world).rate_num, worst = 0;
	ck_assert_uint_lt(count, COUNT_OF(contacts));
	for (uint32_t i = 0; i < self->moving; i++) {
		vec3 force = vec3_make(0, -G, 0);
		for (uint32_t c = 0; c < count; c++) {
			double push = contacts[c].normal_impulse / dt;
			if (contacts[c].a == self->bodies[i].body)
				force = vec3_mul_sub(force, contacts[c].normal, push);
			if (contacts[c].b == self->bodies[i].body)
				force = vec3_mul_add(force, contacts[c].normal, push);
		}
		worst = scalar_max(worst, vec3_length(force));
	}
	printf("# %u contacts, unbalanced %.1e N\n", (unsigned)count, worst);
	ck_assert_double_le(worst, (part + 1e-9) * G);
}

START_TEST(heaps_of_hooks_come_to_rest)
{
	struct heap heap;
	fill_box(&heap, 4, check_seed());
	uint32_t steps = step_to_rest(&heap, 150);
	printf("# %u bodies: %u steps\n", (unsigned)heap.moving, (unsigned)steps);
	expect_balance(&heap, 0);
	world_destroy(heap.world);
}
END_TEST

/* A cube falls to the ground of a trough that moves, and does not stop on its rim. */
START_TEST(a_cube_fills_a_hollow)
{
	struct heap heap = empty_heap();
	struct rng rng = rng_seeded(check_seed());
	keep_in_plane(&heap);
	add_plane(&heap, vec3_make(0, 1, 0), 0);
	add(&heap, &TROUGH, vec3_make(0, 1.6, 0), quat_identity(), BODY_DYNAMIC);
	add(&heap, &CUBE, vec3_make(rng_range(&rng, -0.05, 0.05), 4, 0.2), quat_identity(),
	    BODY_DYNAMIC);
	step_to_rest(&heap, 100);
	double over = heap.bodies[1].at.y - heap.bodies[0].at.y;
	ck_assert_double_ge(over, -OVERLAP);
	ck_assert_double_le(over, 1e-3);
	expect_balance(&heap, CONSERVATIVE);
	world_destroy(heap.world);
}
END_TEST

/* A hook hangs on a static bar by one of its cubes: in its convex hull it would slide off. */
START_TEST(a_hook_hangs_on_a_bar)
{
	struct heap heap = empty_heap();
	struct rng rng = rng_seeded(check_seed());
	quat over = quat_from_axis_angle(vec3_make(0, 0, 1), PI);
	keep_in_plane(&heap);
	/* Its cubes: at the place, 1 m to the left, 1 m below. */
	add(&heap, &HOOK, vec3_make(0.05, 1.4, rng_range(&rng, -0.2, 0.2)), over, BODY_DYNAMIC);
	add(&heap, &CUBE, vec3_make(-1, 0, 0), quat_identity(), BODY_STATIC);
	step_to_rest(&heap, 60);
	ck_assert_double_ge(heap.bodies[0].at.y, 1 - OVERLAP);
	ck_assert_double_le(heap.bodies[0].at.y, 1 + 1e-3);
	expect_balance(&heap, CONSERVATIVE);
	world_destroy(heap.world);
}
END_TEST

/* Bodies begin in each other, and in a wall. */
START_TEST(overlapping_hooks_are_parted)
{
	struct heap heap = empty_heap();
	vec3 at[BODIES_MAX];
	uint32_t steps = 0;
	add_plane(&heap, vec3_make(0, 1, 0), 0);
	add(&heap, &HOOK, vec3_make(0, 0.8, 0), quat_identity(), BODY_DYNAMIC);
	add(&heap, &BELL, vec3_make(0.7, 1.1, 0.3), quat_identity(), BODY_DYNAMIC);
	add(&heap, &ELBOW, vec3_make(-0.5, 0.3, 0.2), quat_identity(), BODY_DYNAMIC);
	for (double overlap = 1; overlap > OVERLAP;) {
		test_step(heap.world, 1);
		for (uint32_t i = 0; i < heap.moving; i++)
			at[i] = heap.bodies[i].at =
				test_body(heap.world, heap.bodies[i].body).position;
		overlap = worst_overlap(&heap, at);
		ck_assert_uint_le(++steps, 30);
	}
	step_to_rest(&heap, 150);
	expect_balance(&heap, 0);
	world_destroy(heap.world);
}
END_TEST

/* Rows of pairs of parts are state. */
START_TEST(a_loaded_world_has_the_same_future)
{
	struct heap heap;
	fill_box(&heap, 2, check_seed());
	for (uint32_t step = 0; step < 24; step++) {
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
	test_check(heap.world);
	world_destroy(heap.world);
}
END_TEST

/* A ball and a hook come to rest in the corners of two static solids of parts that make a U. */
START_TEST(static_solids_of_parts_hold)
{
	static const struct kind BALL = { 1, { { TEST_SPHERE, { 0, 0, 0 } } } };
	struct heap heap = empty_heap();
	struct rng rng = rng_seeded(check_seed());
	add_plane(&heap, vec3_make(0, 0, 1), 0);
	add_plane(&heap, vec3_make(0, 0, -1), -1);
	add(&heap, &BALL, vec3_make(0.3 + rng_range(&rng, -0.2, 0.2), 2.2, 0.5), quat_identity(),
	    BODY_DYNAMIC);
	add(&heap, &ELBOW, vec3_make(-0.1, 3.2, 0.2), quat_identity(), BODY_DYNAMIC);
	/* Walls at x = −0.5 and 0.9, and between them steps of ½ m with a groove from x = 0 to 0.4. */
	add(&heap, &ELBOW, vec3_make(-1, 0, 0), quat_identity(), BODY_STATIC);
	add(&heap, &ELBOW, vec3_make(1.4, 0, 1), quat_from_axis_angle(vec3_make(0, 1, 0), PI),
	    BODY_STATIC);
	add(&heap, &ELBOW, vec3_make(-1, 0, 0.5), quat_identity(), BODY_STATIC);
	add(&heap, &ELBOW, vec3_make(1.4, 0, 0.5), quat_from_axis_angle(vec3_make(0, 1, 0), PI),
	    BODY_STATIC);
	step_to_rest(&heap, 100);
	ck_assert_double_eq_tol(heap.bodies[0].at.y, 0.5 + scalar_sqrt(0.25 - 0.04), 1e-6);
	expect_balance(&heap, 0);
	world_destroy(heap.world);
}
END_TEST

/* What is no set of convex pieces is refused by name. */
START_TEST(other_bodies_are_refused)
{
	struct world *world = test_world(false, "pile");
	struct attachment item;
	struct command command = test_spawn_command(world, TEST_RING, vec3_zero(), &item);
	ck_assert_int_eq(test_try(world, &command), STATUS_METHOD_REFUSES);
	command = test_spawn_command(world, TEST_SHAPES, vec3_zero(), &item);
	ck_assert_int_eq(test_try(world, &command), STATUS_METHOD_REFUSES);
	command = test_spawn_command(world, TEST_CAPSULE, vec3_zero(), &item);
	ck_assert_int_eq(test_try(world, &command), STATUS_METHOD_REFUSES);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("pile_pieces");
	TCase *tcase = tcase_create("pile_pieces");
	tcase_add_test(tcase, heaps_of_hooks_come_to_rest);
	tcase_add_test(tcase, a_cube_fills_a_hollow);
	tcase_add_test(tcase, a_hook_hangs_on_a_bar);
	tcase_add_test(tcase, overlapping_hooks_are_parted);
	tcase_add_test(tcase, a_loaded_world_has_the_same_future);
	tcase_add_test(tcase, static_solids_of_parts_hold);
	tcase_add_test(tcase, other_bodies_are_refused);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
