/* What pieces of a body have of their own: materials and patches of meshes against analytic
 * slides, densities against analytic moments and against merged shapes, filters, sensors,
 * conveyors; many pieces; images; refusals. Random worlds with sensor pieces and filters by piece
 * are in property/test_streams.c. */
#include "server/engine/collision/query.h"
#include "server/engine/math/mat3.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/check_main.h"
#include "tests/lib/gen_commands.h"
#include "tests/lib/shapes.h"
#include "tests/lib/worlds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const METHODS[] = { "soft-step",  "lcp",    "projection",
				       "reflection", "impact", "penalty" };
enum { METHOD_COUNT = 6 };
static const double G = 9.81, DT = 1.0 / 60;

static void set_parameter(struct world *world, const char *name, double value)
{
	struct command set = test_command(COMMAND_PARAMETER);
	set.parameter.name = test_text(name);
	set.parameter.value = value;
	test_do(world, &set);
}

static struct world *with_friction(struct world *world)
{
	set_parameter(world, "projection.friction_rounds", 20);
	set_parameter(world, "reflection.core", 1);
	return world;
}

/* ---- a mesh of two patches ----------------------------------------------------------------- */

/* Ground in z −2 … 2, x −10 … 10, squares of 1 m: patch 1 for x < 0, patch 2 beyond. */
static struct shape *make_patched(void)
{
	enum { NX = 20, NZ = 4 };
	static vec3 points[(NX + 1) * (NZ + 1)];
	static uint32_t triangles[2 * NX * NZ][3];
	struct bytes bytes = { 0 };
	uint32_t count = 0;
	for (uint32_t i = 0; i <= NX; i++)
		for (uint32_t k = 0; k <= NZ; k++)
			points[i * (NZ + 1) + k] = vec3_make(i - 10.0, 0, k - 2.0);
	for (uint32_t i = 0; i < NX; i++)
		for (uint32_t k = 0; k < NZ; k++) {
			uint32_t a = i * (NZ + 1) + k, b = a + NZ + 1;
			memcpy(triangles[count++], (uint32_t[3]){ a, a + 1, b + 1 }, 12);
			memcpy(triangles[count++], (uint32_t[3]){ a, b + 1, b }, 12);
		}
	bytes_of_mesh(&bytes, points, COUNT_OF(points), triangles, count);
	struct writer writer = writer_into(&bytes);
	for (uint32_t t = 0; t < count; t++)
		write_u8(&writer, t < count / 2 ? 1 : 2);
	struct shape *shape = shape_of_bytes(&bytes);
	memset(shape->name, 0x5a, sizeof shape->name);
	return shape;
}

static const struct shape *find_shape(void *context, const uint8_t name[SHAPE_NAME_BYTES])
{
	static struct shape *patched;
	struct shape_source rest = test_shape_source();
	if (patched == NULL)
		patched = make_patched();
	return memcmp(name, patched->name, sizeof patched->name) == 0 ? patched
								      : rest.find(context, name);
}

static struct shape_source source(void)
{
	struct shape_source out = test_shape_source();
	out.find = find_shape;
	return out;
}

static struct world *make_world(const char *method)
{
	struct world_options options = test_options(false, method);
	options.shapes = source();
	return with_friction(test_world_of(&options));
}

static body_id spawn_patched(struct world *world)
{
	struct attachment item;
	struct command use = test_command(COMMAND_SHAPE_USE);
	memset(use.shape_use.name.bytes, 0x5a, sizeof use.shape_use.name.bytes);
	struct command spawn = test_spawn_command(world, TEST_SPHERE, vec3_zero(), &item);
	item.shape = test_do(world, &use);
	spawn.spawn.status = BODY_STATIC;
	return test_do(world, &spawn);
}

/* ---- bodies of several pieces -------------------------------------------------------------- */

static body_id spawn_compound(struct world *world, const struct attachment *items, uint32_t count,
			      vec3 at, uint8_t status)
{
	struct command spawn = test_command(COMMAND_SPAWN);
	spawn.spawn.status = status;
	spawn.spawn.position = at;
	spawn.spawn.shapes = (struct attachment_list){ items, count };
	return test_do(world, &spawn);
}

static struct attachment piece_at(struct world *world, enum test_shape shape, vec3 at)
{
	return (struct attachment){ test_use(world, shape), at, quat_identity() };
}

static struct command set_piece(body_id body, uint32_t piece, uint32_t own)
{
	struct command set = test_command(COMMAND_SET_PIECE);
	set.set_piece.body = body;
	set.set_piece.piece = piece;
	set.set_piece.own = own;
	return set;
}

/* The rule makes the friction of a pair that of the piece, if the other's is 1. */
static struct command set_friction(body_id body, uint32_t piece, uint32_t patch, double friction)
{
	struct command set = set_piece(body, piece, OWN_MATERIAL);
	set.set_piece.patch = patch;
	set.set_piece.static_friction = set.set_piece.dynamic_friction = friction;
	set.set_piece.friction_rule = 2;
	return set;
}

static void give_friction(struct world *world, body_id body, uint32_t piece, uint32_t patch,
			  double friction)
{
	struct command set = set_friction(body, piece, patch, friction);
	test_do(world, &set);
}

static body_id spawn_ground(struct world *world, enum test_shape shape, double friction)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, shape, vec3_zero(), &item);
	spawn.spawn.status = BODY_STATIC;
	spawn.spawn.static_friction = spawn.spawn.dynamic_friction = friction;
	return test_do(world, &spawn);
}

static void push(struct world *world, body_id body, vec3 velocity)
{
	struct command set = test_command(COMMAND_SET_VELOCITY);
	set.set_velocity.body = body;
	set.set_velocity.velocity = velocity;
	test_do(world, &set);
}

/* ---- materials ----------------------------------------------------------------------------- */

/* Two balls ±d before and behind the mass centre, which is r above ground: their loads are in
 * balance with the torque of friction, (n1 − n2) d = r μ with n1 + n2 = 1 and μ = μ1 n1 + μ2 n2,
 * and so a = μ g. */
START_TEST(a_body_slides_with_the_frictions_of_its_pieces)
{
	static const double FRICTIONS[][2] = {
		{ 0.1, 0.5 }, { 0.5, 0.1 }, { 0.3, 0.3 }, { 0, 0.4 }
	};
	for (uint32_t run = 0; run < COUNT_OF(FRICTIONS); run++) {
		struct world *world = make_world(METHODS[_i]);
		double d = 1.5, r = 0.5, front = FRICTIONS[run][0], back = FRICTIONS[run][1];
		spawn_ground(world, TEST_PLANE, 1);
		struct attachment items[2] = { piece_at(world, TEST_SPHERE, vec3_make(d, 0, 0)),
					       piece_at(world, TEST_SPHERE, vec3_make(-d, 0, 0)) };
		body_id body = spawn_compound(world, items, 2, vec3_make(0, r, 0), BODY_DYNAMIC);
		give_friction(world, body, 0, 0, front);
		give_friction(world, body, 1, 0, back);
		double n1 = 0.5, mean = 0;
		for (int k = 0; k < 100; k++) {
			mean = front * n1 + back * (1 - n1);
			n1 = 0.5 * (1 + r * mean / d);
		}
		test_step(world, 10);
		push(world, body, vec3_make(5, 0, 0));
		test_step(world, 10);
		double before = test_body(world, body).velocity.x;
		test_step(world, 30);
		double slower = (before - test_body(world, body).velocity.x) / (30 * DT);
		ck_assert_msg(scalar_abs(slower - mean * G) < 0.02 * G * mean + 0.01,
			      "%s, run %u: %.6g m/s2, analytic %.6g", METHODS[_i], run, slower,
			      mean * G);
		test_check(world);
		world_destroy(world);
	}
}
END_TEST

/* A box slides at μ g of the patch that it is on, whichever contacts a method merges. */
START_TEST(a_mesh_of_ice_and_rubber_brakes_by_its_patches)
{
	static const double ICE = 0.05, RUBBER = 0.6;
	struct world *world = make_world(METHODS[_i]);
	body_id mesh = spawn_patched(world);
	give_friction(world, mesh, 0, 1, ICE);
	give_friction(world, mesh, 0, 2, RUBBER);
	struct attachment item;
	struct command spawn =
		test_spawn_command(world, TEST_BOX, vec3_make(-7.3, 0.5, 0.2), &item);
	spawn.spawn.static_friction = spawn.spawn.dynamic_friction = 1;
	body_id box = test_do(world, &spawn);
	test_step(world, 5);
	push(world, box, vec3_make(6, 0, 0));
	uint32_t on[2] = { 0, 0 };
	for (uint32_t tick = 0; tick < 150; tick++) {
		struct body_view was = test_body(world, box);
		test_step(world, 1);
		struct body_view is = test_body(world, box);
		if (is.velocity.x < 0.3)
			break;
		bool ice = is.position.x<-0.6, rubber = was.position.x> 0.6;
		double friction = (was.velocity.x - is.velocity.x) / (DT * G);
		on[0] += ice;
		on[1] += rubber;
		if (ice && tick > 2)
			ck_assert_msg(scalar_abs(friction - ICE) < 0.01, "%s, tick %u: ice %g",
				      METHODS[_i], tick, friction);
		if (rubber)
			ck_assert_msg(scalar_abs(friction - RUBBER) < 0.06,
				      "%s, tick %u: rubber %g", METHODS[_i], tick, friction);
	}
	ck_assert_uint_gt(on[0], 50);
	ck_assert_uint_gt(on[1], 20);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* 64 balls in a row of 8 by 8, each with its own friction: each contact slides by its own. */
START_TEST(sixty_four_pieces_have_sixty_four_materials)
{
	struct world *world = make_world(METHODS[_i]);
	struct attachment items[ATTACHMENTS_MAX];
	spawn_ground(world, TEST_PLANE, 1);
	for (uint32_t i = 0; i < ATTACHMENTS_MAX; i++)
		items[i] = piece_at(world, TEST_SPHERE, vec3_make(i % 8 - 3.5, 0, i / 8 - 3.5));
	body_id body =
		spawn_compound(world, items, ATTACHMENTS_MAX, vec3_make(0, 0.5, 0), BODY_DYNAMIC);
	for (uint32_t i = 0; i < ATTACHMENTS_MAX; i++) {
		struct command set = set_friction(body, i, 0, 0.01 * (i + 1));
		set.set_piece.own = OWN_ALL;
		set.set_piece.density = 1000;
		test_do(world, &set);
	}
	test_step(world, 5);
	push(world, body, vec3_make(8, 0, 0));
	/* Rounds of normals and frictions agree in sum. */
	bool rounds =
		strcmp(METHODS[_i], "projection") == 0 || strcmp(METHODS[_i], "reflection") == 0;
	double slack = 1e-4 * test_body(world, body).mass * G * DT;
	double shown[ATTACHMENTS_MAX] = { 0 };
	for (uint32_t tick = 0; tick < 20; tick++) {
		struct contact_view views[ATTACHMENTS_MAX];
		test_step(world, 1);
		struct body_view at = test_body(world, body);
		uint32_t count = test_contacts(world, body, views, ATTACHMENTS_MAX);
		double held_sum = 0, bound_sum = 0;
		for (uint32_t k = 0; k < count; k++) {
			vec3 in = quat_rotate_inverse(at.rotation,
						      vec3_sub(views[k].point, at.position));
			uint32_t i = (uint32_t)(floor(in.x + 4) + 8 * floor(in.z + 4));
			ck_assert_uint_lt(i, ATTACHMENTS_MAX);
			double load = views[k].normal_impulse;
			double held = vec3_length(views[k].friction_impulse);
			/* Some methods bound friction by a pyramid. */
			held_sum += held;
			bound_sum += 0.01 * (i + 1) * load;
			ck_assert_msg(rounds || held <= 0.01 * (i + 1) * load * 1.43 + slack,
				      "%s: piece %u holds %g of %g N s", METHODS[_i], i, held,
				      load);
			if (load > 1)
				shown[i] = scalar_max(shown[i], held / load);
		}
		ck_assert_msg(held_sum > 0.9 * bound_sum && held_sum < 1.45 * bound_sum,
			      "%s, tick %u: %g of %g N s", METHODS[_i], tick, held_sum, bound_sum);
	}
	uint32_t exact = 0;
	for (uint32_t i = 0; i < ATTACHMENTS_MAX; i++)
		exact += shown[i] > 0.98 * 0.01 * (i + 1);
	ck_assert_uint_ge(exact, 4); /* those that carry the body */
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- densities ----------------------------------------------------------------------------- */

struct moment {
	double mass;
	vec3 sum;   /* mass × centre */
	mat3 about; /* inertia about the origin */
};

/* Adds a solid with its moments about its own centre. */
static void add_solid(struct moment *to, double mass, vec3 at, vec3 own)
{
	double square = vec3_length_squared(at);
	mat3 shift = { vec3_make(square - at.x * at.x, -at.x * at.y, -at.x * at.z),
		       vec3_make(-at.y * at.x, square - at.y * at.y, -at.y * at.z),
		       vec3_make(-at.z * at.x, -at.z * at.y, square - at.z * at.z) };
	to->mass += mass;
	to->sum = vec3_mul_add(to->sum, at, mass);
	mat3 all = mat3_scale(shift, mass), diagonal = mat3_diagonal(own);
	to->about.x = vec3_add(to->about.x, vec3_add(all.x, diagonal.x));
	to->about.y = vec3_add(to->about.y, vec3_add(all.y, diagonal.y));
	to->about.z = vec3_add(to->about.z, vec3_add(all.z, diagonal.z));
}

/* kg m2 about the centre times a spin: what the angular impulse was that gave the spin. */
static vec3 momentum_of(const struct moment *of, vec3 spin)
{
	struct moment own = *of;
	add_solid(&own, -of->mass, vec3_scale(of->sum, 1 / of->mass), vec3_zero());
	return mat3_mul_vec(own.about, spin);
}

static void expect_moments(struct world *world, body_id body, const struct moment *expected)
{
	static const vec3 IMPULSES[] = {
		{ 300, 0, 0 }, { 0, 500, 0 }, { 0, 0, 700 }, { 90, -80, 70 }
	};
	struct body_view view = test_body(world, body);
	vec3 centre = vec3_scale(expected->sum, 1 / expected->mass);
	ck_assert_double_eq_tol(view.mass, expected->mass, 1e-12 * expected->mass);
	ck_assert_double_lt(vec3_distance(view.centre, centre), 1e-12);
	for (uint32_t k = 0; k < COUNT_OF(IMPULSES); k++) {
		struct command turn = test_command(COMMAND_ANGULAR_IMPULSE);
		vec3 before = test_body(world, body).angular_velocity;
		turn.angular_impulse.body = body;
		turn.angular_impulse.impulse = IMPULSES[k];
		test_do(world, &turn);
		vec3 spin = vec3_sub(test_body(world, body).angular_velocity, before);
		vec3 got = momentum_of(expected, spin);
		ck_assert_msg(vec3_distance(got, IMPULSES[k]) <
				      1e-12 * vec3_length(IMPULSES[k]) * 10,
			      "%.17g off", vec3_distance(got, IMPULSES[k]));
	}
}

START_TEST(densities_enter_mass_centre_and_inertia)
{
	struct world *world = make_world("soft-step");
	test_no_gravity(world);
	vec3 box_at = vec3_make(0.3, -0.2, 0.1), ball_at = vec3_make(-1.1, 0.7, 0.4),
	     other_at = vec3_make(0.2, 1.9, -0.6);
	struct attachment items[3] = { piece_at(world, TEST_BOX, box_at),
				       piece_at(world, TEST_SPHERE, ball_at),
				       piece_at(world, TEST_BOX, other_at) };
	body_id body = spawn_compound(world, items, 3, vec3_make(5, 2, 1), BODY_DYNAMIC);
	struct command set = set_piece(body, 0, OWN_DENSITY);
	set.set_piece.density = 7800;
	test_do(world, &set);
	set.set_piece.piece = 1;
	set.set_piece.density = 250;
	test_do(world, &set);
	double ball = 4 * PI / 3 * 0.125, round = 0.4 * 0.25;
	for (uint32_t removed = 0; removed < 2; removed++) {
		struct moment expected = { 0 };
		double densities[2] = { removed ? 1000 : 7800, 250 };
		add_solid(&expected, densities[0], box_at, vec3_all(densities[0] / 6));
		add_solid(&expected, densities[1] * ball, ball_at,
			  vec3_all(densities[1] * ball * round));
		add_solid(&expected, 1000, other_at, vec3_all(1000.0 / 6));
		expect_moments(world, body, &expected);
		set = set_piece(body, 0, 0); /* back to the body's density */
		test_do(world, &set);
	}
	test_check(world);
	world_destroy(world);
}
END_TEST

/* A box of density 3000 is three boxes of 1000 at one place. */
START_TEST(a_denser_piece_is_several_pieces)
{
	struct world *world = make_world("soft-step");
	struct attachment items[4];
	for (uint32_t i = 0; i < 4; i++)
		items[i] = piece_at(world, i < 3 ? TEST_BOX : TEST_CAPSULE,
				    i < 3 ? vec3_make(0.4, 0.1, 0) : vec3_make(-0.9, 0.5, 0.3));
	items[3].rotation = quat_from_axis_angle(vec3_normalize(vec3_make(1, 2, 3)), 0.7);
	for (uint32_t i = 0; i < 3; i++)
		items[i].rotation = quat_from_axis_angle(vec3_make(0, 0, 1), 0.3);
	body_id merged = spawn_compound(world, items, 4, vec3_make(0, 9, 0), BODY_DYNAMIC);
	body_id dense = spawn_compound(world, items + 2, 2, vec3_make(9, 9, 0), BODY_DYNAMIC);
	struct command set = set_piece(dense, 0, OWN_DENSITY);
	set.set_piece.density = 3000;
	test_do(world, &set);
	struct body_view a = test_body(world, merged), b = test_body(world, dense);
	ck_assert_double_eq_tol(a.mass, b.mass, 1e-12 * a.mass);
	ck_assert_double_lt(vec3_distance(a.centre, b.centre), 1e-12);
	body_id both[2] = { merged, dense };
	for (uint32_t i = 0; i < 2; i++) {
		struct command turn = test_command(COMMAND_ANGULAR_IMPULSE);
		turn.angular_impulse.body = both[i];
		turn.angular_impulse.impulse = vec3_make(400, -300, 200);
		test_do(world, &turn);
	}
	vec3 spin = test_body(world, merged).angular_velocity;
	ck_assert_double_lt(vec3_distance(spin, test_body(world, dense).angular_velocity),
			    1e-12 * vec3_length(spin));
	world_destroy(world);
}
END_TEST

/* A density that moves the mass centre of a turning body leaves the velocities of its points. */
START_TEST(points_keep_their_velocities)
{
	struct world *world = make_world("soft-step");
	struct attachment items[2] = { piece_at(world, TEST_BOX, vec3_make(1, 0, 0)),
				       piece_at(world, TEST_BOX, vec3_make(-1, 0, 0)) };
	struct command spawn = test_command(COMMAND_SPAWN);
	spawn.spawn.position = vec3_make(0, 5, 0);
	spawn.spawn.rotation = quat_from_axis_angle(vec3_make(0, 1, 0), 0.4);
	spawn.spawn.velocity = vec3_make(1, 2, 3);
	spawn.spawn.angular_velocity = vec3_make(0.3, -2, 0.5);
	spawn.spawn.shapes = (struct attachment_list){ items, 2 };
	struct command both[2] = { spawn, set_piece(0, 0, OWN_DENSITY) };
	both[1].set_piece.body = -1;
	both[1].set_piece.density = 4000;
	struct batch_result result;
	ck_assert_int_eq(test_batch(world, both, 2, &result), STATUS_OK);
	struct body_view view = test_body(world, (body_id)result.values[0]);
	ck_assert_double_eq_tol(view.centre.x, 0.6, 1e-12);
	vec3 arm = quat_rotate(view.rotation, view.centre);
	vec3 origin = vec3_sub(view.velocity, vec3_cross(view.angular_velocity, arm));
	ck_assert_double_lt(vec3_distance(origin, vec3_make(1, 2, 3)), 1e-12);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- filters, sensors, conveyors ----------------------------------------------------------- */

START_TEST(filters_decide_by_piece)
{
	struct world *world = make_world(METHODS[_i]);
	struct attachment items[2] = { piece_at(world, TEST_BOX, vec3_make(-2, 0, 0)),
				       piece_at(world, TEST_BOX, vec3_make(2, 0, 0)) };
	body_id shelf = spawn_compound(world, items, 2, vec3_zero(), BODY_STATIC);
	body_id left = test_spawn(world, TEST_SPHERE, vec3_make(-2, 1.2, 0));
	body_id right = test_spawn(world, TEST_SPHERE, vec3_make(2, 1.2, 0));
	struct command set = set_piece(shelf, 0, OWN_FILTER);
	set.set_piece.mask = 2;
	test_do(world, &set);
	struct ray_hit hit;
	vec3 down = vec3_make(0, -1, 0);
	struct query_filter filter = { .category = 1, .mask = UINT32_MAX, .ignore = left };
	ck_assert(!world_ray(world, vec3_make(-2, 2, 0), down, 3, filter, &hit, 1, NULL));
	filter.category = 2;
	ck_assert(world_ray(world, vec3_make(-2, 2, 0), down, 3, filter, &hit, 1, NULL));
	test_step(world, 60);
	ck_assert_double_lt(test_body(world, left).position.y, -1);
	ck_assert_double_eq_tol(test_body(world, right).position.y, 1, 0.02);
	set.set_piece.piece = 1;
	test_do(world, &set); /* the other wakes and falls, too */
	test_step(world, 60);
	ck_assert_double_lt(test_body(world, right).position.y, -1);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* The sensor below a solid piece tells what is in it and stops nothing. */
START_TEST(a_sensor_piece_tells_and_does_not_touch)
{
	struct world *world = make_world(METHODS[_i]);
	struct attachment items[2] = { piece_at(world, TEST_BOX, vec3_make(0, 0, 0)),
				       piece_at(world, TEST_BOX, vec3_make(0, -2, 0)) };
	body_id gate = spawn_compound(world, items, 2, vec3_zero(), BODY_STATIC);
	struct command set = set_piece(gate, 1, OWN_SENSOR);
	set.set_piece.sensor = 1;
	test_do(world, &set);
	body_id on = test_spawn(world, TEST_SPHERE, vec3_make(0, 1, 0));
	body_id in = test_spawn(world, TEST_SPHERE, vec3_make(0.6, -1, 0));
	body_id sensed[4];
	uint32_t count, begins = 0, ends = 0;
	for (uint32_t tick = 0; tick < 90; tick++) {
		test_step(world, 1);
		uint32_t events;
		const struct event *list = world_events(world, &events);
		for (uint32_t k = 0; k < events; k++) {
			begins += list[k].kind == EVENT_SENSOR_BEGIN && list[k].a == gate &&
				  list[k].b == in;
			ends += list[k].kind == EVENT_SENSOR_END && list[k].b == in;
			ck_assert(list[k].kind != EVENT_SENSOR_BEGIN || list[k].b != on);
		}
	}
	ck_assert_uint_eq(begins, 1);
	ck_assert_uint_eq(ends, 1);
	ck_assert_double_eq_tol(test_body(world, on).position.y, 1, 0.02);
	ck_assert_double_lt(test_body(world, in).position.y, -5);
	/* Of a body that is a sensor, a piece may be solid. */
	struct command filter = test_command(COMMAND_SET_FILTER);
	filter.set_filter.body = gate;
	filter.set_filter.category = 1;
	filter.set_filter.mask = UINT32_MAX;
	filter.set_filter.sensor = SWITCH_ON;
	set = set_piece(gate, 0, OWN_SENSOR);
	test_do(world, &set);
	test_do(world, &filter);
	test_step(world, 30);
	ck_assert_double_eq_tol(test_body(world, on).position.y, 1, 0.02);
	ck_assert_int_eq(world_sensed(world, gate, sensed, 4, &count), STATUS_OK);
	ck_assert_uint_eq(count, 0);
	set.set_piece.own = 0;
	test_do(world, &set);
	test_step(world, 2);
	ck_assert_int_eq(world_sensed(world, gate, sensed, 4, &count), STATUS_OK);
	ck_assert_uint_eq(count, 1);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_piece_may_be_a_conveyor)
{
	struct world *world = make_world(METHODS[_i]);
	struct attachment items[2] = { piece_at(world, TEST_BOX, vec3_make(0, 0, -3)),
				       piece_at(world, TEST_BOX, vec3_make(0, 0, 3)) };
	body_id belts = spawn_compound(world, items, 2, vec3_zero(), BODY_STATIC);
	struct command set = set_piece(belts, 1, OWN_SURFACE);
	set.set_piece.surface_velocity = vec3_make(0.3, 0, 0);
	test_do(world, &set);
	body_id still = test_spawn(world, TEST_BOX, vec3_make(0, 1, -3));
	body_id goes = test_spawn(world, TEST_BOX, vec3_make(0, 1, 3));
	test_step(world, 60);
	ck_assert_double_eq_tol(test_body(world, goes).velocity.x, 0.3, 0.01);
	ck_assert_double_lt(scalar_abs(test_body(world, still).position.x), 0.002);
	bool sleeps = strcmp(METHODS[_i], "penalty") != 0;
	ck_assert_int_eq(test_body(world, still).asleep, sleeps);
	ck_assert(!test_body(world, goes).asleep);
	set.set_piece.own = 0;
	set.set_piece.surface_velocity = vec3_zero();
	test_do(world, &set);
	test_step(world, 60);
	ck_assert_double_lt(scalar_abs(test_body(world, goes).velocity.x), 0.01);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- state --------------------------------------------------------------------------------- */

static struct world *make_busy(const char *method, body_id *mesh)
{
	struct world *world = make_world(method);
	*mesh = spawn_patched(world);
	give_friction(world, *mesh, 0, 1, 0.1);
	for (uint32_t k = 0; k < 3; k++) {
		struct attachment items[2] = { piece_at(world, TEST_BOX, vec3_make(0.5, 0, 0)),
					       piece_at(world, TEST_SPHERE,
							vec3_make(-0.5, 0, 0)) };
		body_id body = spawn_compound(world, items, 2, vec3_make(4.0 * k - 4, 0.8, 0),
					      BODY_DYNAMIC);
		push(world, body, vec3_make(3.0 - k, 0, 0.4));
		struct command set = set_friction(body, 0, 0, 0.2 * k);
		set.set_piece.own = k % 2 ? OWN_MATERIAL : OWN_MATERIAL | OWN_DENSITY;
		set.set_piece.density = k % 2 ? 1000 : 300 + 100 * k;
		test_do(world, &set);
	}
	return world;
}

static void expect_same(const struct world *world, const struct world *other)
{
	struct bytes x = test_save(world), y = test_save(other);
	ck_assert_uint_eq(test_hash(world), test_hash(other));
	ck_assert_uint_eq(x.count, y.count);
	ck_assert_int_eq(memcmp(x.data, y.data, x.count), 0);
	bytes_release(&x);
	bytes_release(&y);
}

/* Images keep pieces, also while commands change and remove them. */
START_TEST(images_keep_pieces)
{
	body_id mesh;
	struct world *world = make_busy(METHODS[_i], &mesh), *copy;
	test_step(world, 8);
	struct bytes image = test_save(world);
	ck_assert_int_eq(world_load(image.data, image.count, source(), &copy, NULL), STATUS_OK);
	bytes_release(&image);
	struct world *both[2] = { world, copy };
	for (uint32_t i = 0; i < 2; i++) {
		test_step(both[i], 8);
		give_friction(both[i], mesh, 0, 2, 0.9);
		give_friction(both[i], mesh, 0, 0, 0.3);
		struct command set = set_piece(mesh, 0, 0);
		set.set_piece.patch = 1;
		test_do(both[i], &set);
		struct command end = test_command(COMMAND_REMOVE);
		end.remove.body = mesh + 2;
		test_do(both[i], &end);
		test_check(both[i]);
		test_step(both[i], 8);
		test_check(both[i]);
	}
	expect_same(world, copy);
	world_destroy(copy);
	world_destroy(world);
}
END_TEST

/* A world that had pieces of their own and has them no more is one that never had any. */
START_TEST(what_is_taken_back_leaves_nothing)
{
	struct world *worlds[2];
	for (uint32_t i = 0; i < 2; i++) {
		worlds[i] = make_world("soft-step");
		body_id mesh = spawn_patched(worlds[i]);
		for (uint32_t patch = 0; patch < 3 && i == 0; patch++)
			give_friction(worlds[i], mesh, 0, patch, 0.2 * patch);
		for (uint32_t patch = 3; patch-- > 0 && i == 0;) {
			struct command set = set_piece(mesh, 0, 0);
			set.set_piece.patch = patch;
			test_do(worlds[i], &set);
		}
		test_spawn(worlds[i], TEST_BOX, vec3_make(0, 0.6, 0));
		test_step(worlds[i], 40);
	}
	struct body_view a = test_body(worlds[0], 2), b = test_body(worlds[1], 2);
	ck_assert_int_eq(memcmp(&a.position, &b.position, sizeof a.position), 0);
	world_destroy(worlds[0]);
	world_destroy(worlds[1]);
}
END_TEST

/* ---- reading ------------------------------------------------------------------------------- */

enum { READ_BODIES = 2, READ_PIECES = 3, READ_PATCHES = 3 }; /* a mesh, and a compound */

static struct world *make_readable(void)
{
	struct world *world = make_world("soft-step");
	spawn_patched(world);
	struct attachment items[READ_PIECES] = { piece_at(world, TEST_BOX, vec3_make(1, 0, 0)),
						 piece_at(world, TEST_SPHERE, vec3_zero()),
						 piece_at(world, TEST_BOX, vec3_make(-1, 0, 0)) };
	spawn_compound(world, items, READ_PIECES, vec3_make(0, 9, 0), BODY_DYNAMIC);
	return world;
}

static void expect_set(const struct command_SET_PIECE *a, const struct command_SET_PIECE *b)
{
	ck_assert_int_eq(a->body, b->body);
	ck_assert_uint_eq(a->piece, b->piece);
	ck_assert_uint_eq(a->patch, b->patch);
	ck_assert_uint_eq(a->own, b->own);
	ck_assert(a->static_friction == b->static_friction &&
		  a->dynamic_friction == b->dynamic_friction && a->restitution == b->restitution);
	ck_assert(a->friction_rule == b->friction_rule &&
		  a->restitution_rule == b->restitution_rule);
	ck_assert(a->rolling_friction == b->rolling_friction &&
		  a->spinning_friction == b->spinning_friction &&
		  a->axis_friction == b->axis_friction);
	ck_assert_mem_eq(&a->friction_axis, &b->friction_axis, sizeof a->friction_axis);
	ck_assert(a->category == b->category && a->mask == b->mask && a->group == b->group);
	ck_assert(a->sensor == b->sensor && a->density == b->density);
	ck_assert_mem_eq(&a->surface_velocity, &b->surface_velocity, sizeof a->surface_velocity);
}

/* All that is told of a body, in pages of two. */
static uint32_t read_pieces(const struct world *world, body_id body, struct command_SET_PIECE *out)
{
	uint32_t all = 0, count;
	do {
		ck_assert_int_eq(world_pieces(world, body, all, out + all, 2, &count), STATUS_OK);
		all += count;
	} while (count == 2);
	return all;
}

/* After random commands each piece and patch has what the last accepted one gave it, and what is told
 * gives the same to other bodies. */
START_TEST(what_is_told_is_what_was_set)
{
	struct world *world = make_readable(), *copy = make_readable();
	struct command_SET_PIECE told[READ_PIECES * READ_PATCHES + 2], again[COUNT_OF(told)];
	struct command last[READ_BODIES][READ_PIECES][READ_PATCHES] = { 0 };
	struct gen_commands gen;
	uint32_t accepted = 0, rows = 0, count;
	gen_commands_init(&gen, world, check_seed());
	for (uint32_t i = 0; i < 600; i++) {
		struct command set;
		struct batch_result result;
		gen_command(&gen, COMMAND_SET_PIECE, &set);
		set.set_piece.piece = rng_below(&gen.rng, READ_PIECES);
		set.set_piece.patch = rng_below(&gen.rng, READ_PATCHES);
		if (test_batch(world, &set, 1, &result) != STATUS_OK)
			continue;
		last[set.set_piece.body - 1][set.set_piece.piece][set.set_piece.patch] = set;
		accepted++;
	}
	ck_assert_uint_gt(accepted, 30);
	for (body_id body = 1; body <= READ_BODIES; body++) {
		count = read_pieces(world, body, told);
		uint32_t at = 0;
		for (uint32_t piece = 0; piece < READ_PIECES; piece++)
			for (uint32_t patch = 0; patch < READ_PATCHES; patch++) {
				const struct command *set = &last[body - 1][piece][patch];
				if (set->set_piece.own == 0)
					continue;
				ck_assert_uint_lt(at, count);
				expect_set(&told[at++], &set->set_piece);
			}
		ck_assert_uint_eq(at, count);
		rows += count;
		for (uint32_t i = 0; i < count; i++) {
			const struct command set = { .op = COMMAND_SET_PIECE,
						     .set_piece = told[i] };
			test_do(copy, &set);
		}
		ck_assert_uint_eq(read_pieces(copy, body, again), count);
		for (uint32_t i = 0; i < count; i++)
			expect_set(&again[i], &told[i]);
	}
	ck_assert_uint_gt(rows, 2);
	ck_assert_int_eq(world_pieces(world, 9, 0, told, 2, &count), STATUS_UNKNOWN_BODY);
	ck_assert_uint_eq(count, 0);
	world_destroy(copy);
	world_destroy(world);
}
END_TEST

/* ---- refusals ------------------------------------------------------------------------------ */

static void refused(struct world *world, struct command set, enum status status, const char *field)
{
	struct batch_result result;
	uint64_t before = test_hash(world);
	ck_assert_int_eq(test_batch(world, &set, 1, &result), status);
	ck_assert_str_eq(result.why.field, field);
	ck_assert_uint_eq(test_hash(world), before);
}

START_TEST(what_cannot_be_is_refused_by_name)
{
	struct world *world = make_world("soft-step");
	body_id mesh = spawn_patched(world), box = test_spawn(world, TEST_BOX, vec3_make(0, 3, 0));
	struct command set = set_piece(box, 1, OWN_SENSOR);
	refused(world, set, STATUS_RANGE, "piece");
	set = set_piece(box, 64, 0);
	refused(world, set, STATUS_RANGE, "piece");
	set = set_piece(box, 0, 32);
	refused(world, set, STATUS_RANGE, "own");
	set = set_piece(99, 0, 0);
	refused(world, set, STATUS_UNKNOWN_BODY, "body");
	set = set_friction(box, 0, 1, 0.5);
	refused(world, set, STATUS_RANGE, "patch");
	set = set_friction(mesh, 0, 3, 0.5);
	refused(world, set, STATUS_RANGE, "patch");
	set = set_piece(mesh, 0, OWN_SENSOR);
	set.set_piece.patch = 1;
	refused(world, set, STATUS_RANGE, "own");
	set = set_piece(mesh, 0, OWN_DENSITY);
	refused(world, set, STATUS_RANGE, "density");
	set = set_friction(box, 0, 0, 0.5);
	set.set_piece.dynamic_friction = 0.7;
	refused(world, set, STATUS_RANGE, "dynamic_friction");
	set = set_friction(box, 0, 0, NAN);
	refused(world, set, STATUS_NOT_FINITE, "static_friction");
	set = set_piece(box, 0, OWN_SURFACE);
	set.set_piece.surface_velocity.y = 1e5;
	refused(world, set, STATUS_RANGE, "surface_velocity");
	/* What is given and not owned would have no effect. */
	set = set_piece(box, 0, OWN_SENSOR);
	set.set_piece.restitution = 0.5;
	refused(world, set, STATUS_RANGE, "restitution");
	set = set_piece(box, 0, OWN_MATERIAL);
	set.set_piece.density = 10;
	refused(world, set, STATUS_RANGE, "density");
	world_destroy(world);
}
END_TEST

/* A method that ignores rolling friction refuses it for pieces, too; and so is it asked of a world. */
START_TEST(methods_refuse_what_they_ignore)
{
	struct world *world = make_world("lcp");
	body_id ball = test_spawn(world, TEST_SPHERE, vec3_make(0, 3, 0));
	struct command set = set_friction(ball, 0, 0, 0.5);
	set.set_piece.rolling_friction = 0.01;
	refused(world, set, STATUS_METHOD_REFUSES, "rolling_friction");
	struct command method = test_command(COMMAND_METHOD);
	method.method.name = test_text("soft-step");
	test_do(world, &method);
	test_do(world, &set);
	method.method.name = test_text("lcp");
	refused(world, method, STATUS_METHOD_REFUSES, "rolling_friction");
	world_destroy(world);
}
END_TEST

/* A byte a triangle after the mesh: each below PATCHES_END, not all 0, and neither more nor fewer. */
START_TEST(patches_in_canonical_bytes_are_checked)
{
	static const struct {
		uint8_t patches[3];
		uint32_t count;
		enum status status;
	} CASES[] = {
		{ { 0 }, 0, STATUS_OK },	{ { 0, 64 }, 2, STATUS_OK },
		{ { 1, 65 }, 2, STATUS_RANGE }, { { 0, 0 }, 2, STATUS_RANGE },
		{ { 1 }, 1, STATUS_MALFORMED }, { { 1, 1, 1 }, 3, STATUS_MALFORMED },
	};
	const vec3 points[4] = { { 0, 0, 0 }, { 0, 0, 1 }, { 1, 0, 0 }, { 1, 0, 1 } };
	const uint32_t triangles[2][3] = { { 0, 1, 2 }, { 2, 1, 3 } };
	for (uint32_t i = 0; i < COUNT_OF(CASES); i++) {
		struct bytes bytes = { 0 };
		struct shape *shape = NULL;
		struct reason why = { 0 };
		bytes_of_mesh(&bytes, points, 4, triangles, 2);
		struct writer writer = writer_into(&bytes);
		for (uint32_t k = 0; k < CASES[i].count; k++)
			write_u8(&writer, CASES[i].patches[k]);
		ck_assert_int_eq(shape_cook(bytes.data, bytes.count, NULL, &shape, &why),
				 CASES[i].status);
		if (CASES[i].status == STATUS_OK) {
			ck_assert_uint_eq(shape->mesh->patch_max, CASES[i].count > 0 ? 64 : 0);
			ck_assert_int_eq(shape->mesh->patches == NULL, CASES[i].count == 0);
			shape_release(shape);
		} else if (CASES[i].status == STATUS_RANGE) {
			ck_assert_str_eq(why.field, "patches");
		}
		bytes_release(&bytes);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("pieces");
	TCase *tests = tcase_create("pieces");
	tcase_add_loop_test(tests, a_body_slides_with_the_frictions_of_its_pieces, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, a_mesh_of_ice_and_rubber_brakes_by_its_patches, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, sixty_four_pieces_have_sixty_four_materials, 0, METHOD_COUNT);
	tcase_add_test(tests, densities_enter_mass_centre_and_inertia);
	tcase_add_test(tests, a_denser_piece_is_several_pieces);
	tcase_add_test(tests, points_keep_their_velocities);
	tcase_add_loop_test(tests, filters_decide_by_piece, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, a_sensor_piece_tells_and_does_not_touch, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, a_piece_may_be_a_conveyor, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, images_keep_pieces, 0, METHOD_COUNT);
	tcase_add_test(tests, what_is_taken_back_leaves_nothing);
	tcase_add_test(tests, what_is_told_is_what_was_set);
	tcase_add_test(tests, what_cannot_be_is_refused_by_name);
	tcase_add_test(tests, methods_refuse_what_they_ignore);
	tcase_add_test(tests, patches_in_canonical_bytes_are_checked);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
