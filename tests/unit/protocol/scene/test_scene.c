/* Scene files: the shipped scenes as a whole, then each part of the language. */
#include "protocol/scene/compile.h"
#include "protocol/scene/heights.h"
#include "protocol/scene/mesh.h"
#include "server/base/hash.h"
#include "server/base/rng.h"
#include "server/worlds/scene_world.h"
#include "tests/lib/check_main.h"
#include "tests/lib/scene_text.h"
#include "tests/lib/shipped_scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- helpers ---- */

static const char *source_path(const char *name)
{
	static char path[2048];
	const char *source = getenv("CAIRN_SRCDIR");
	snprintf(path, sizeof path, "%s/%s", source != NULL ? source : ".", name);
	return path;
}

static struct scene *load(const char *name)
{
	char path[256];
	struct scene *scene = NULL;
	struct reason why = { 0 };
	snprintf(path, sizeof path, "clients/scenes/%s.yaml", name);
	enum status status = scene_load(source_path(path), &scene, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", status_name(status), why.text);
	return scene;
}

/* The index-th body. */
static const struct command_SPAWN *spawn(const struct scene *scene, uint32_t index)
{
	return &scene_command(scene, COMMAND_SPAWN, index)->spawn;
}

static void assert_vec3(vec3 is, double x, double y, double z)
{
	ck_assert_msg(vec3_equal(is, vec3_make(x, y, z)),
		      "(%.17g %.17g %.17g) is not (%.17g %.17g %.17g)", is.x, is.y, is.z, x, y, z);
}

static void assert_near(vec3 is, double x, double y, double z)
{
	double apart = vec3_distance_squared(is, vec3_make(x, y, z));
	ck_assert_msg(apart < 1e-18, "(%g %g %g) is not (%g %g %g)", is.x, is.y, is.z, x, y, z);
}

static uint64_t digest_of(const char *text)
{
	struct scene *scene = scene_of_text(text);
	uint64_t value = scene_digest(scene);
	scene_destroy(scene);
	return value;
}

static struct world *world_of(struct scene *scene, struct shape_library *book)
{
	struct world *world = NULL;
	struct reason why = { 0 };
	shape_library_init(book);
	enum status status = scene_world_make(scene, NULL, book, &world, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s: %s", status_name(status), why.field, why.text);
	return world;
}

/* ---- shipped scenes
 * ------------------------------------------------------------------------------ */

START_TEST(every_shipped_scene_makes_a_world_that_steps)
{
	struct shape_library book;
	struct reason why;
	struct scene *scene = load(SHIPPED[_i].name);
	struct world *world = world_of(scene, &book);
	ck_assert_str_eq(scene->world.name, SHIPPED[_i].name);
	ck_assert_uint_eq(world_bodies(world, NULL, 0), SHIPPED[_i].bodies);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(world_step(world, &parallel_serial, &why), STATUS_OK);
	ck_assert_uint_eq(world_stats(world).quarantined_total, 0);
	scene_destroy(scene);
	world_destroy(world);
	shape_library_release(&book);
}
END_TEST

START_TEST(every_shipped_scene_is_tested)
{
	char path[2200];
	uint32_t found = 0;
	snprintf(path, sizeof path, "ls '%s'/*.yaml", source_path("clients/scenes"));
	FILE *list = popen(path, "r");
	ck_assert_ptr_nonnull(list);
	while (fgets(path, sizeof path, list) != NULL)
		found++;
	pclose(list);
	ck_assert_uint_eq(found, COUNT_OF(SHIPPED));
}
END_TEST

/* The positions of the peers' benchmarks, computed with their formulas. */
START_TEST(the_pyramid_equals_that_of_the_benchmarks)
{
	struct scene *scene = load("pyramid");
	uint32_t k = 1, n = 20;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = i; j < n; j++, k++) {
			const struct command_SPAWN *body = spawn(scene, k);
			assert_vec3(body->position, 0.5 * i + (j - i) - 0.5 * (n - 1), 0.5 + i, 0);
			ck_assert_double_eq(body->mass, 1);
			ck_assert_double_eq(body->static_friction, 0.6);
			ck_assert_double_eq(body->dynamic_friction, 0.6);
			ck_assert_double_eq(body->restitution, 0);
		}
	ck_assert_uint_eq(scene->world.rate_num, 60);
	ck_assert_uint_eq(scene->world.rate_den, 1);
	scene_destroy(scene);
}
END_TEST

START_TEST(the_grid_equals_that_of_the_benchmarks)
{
	struct scene *scene = load("grid");
	uint32_t k = 1, n = 10;
	for (uint32_t y = 0; y < n; y++)
		for (uint32_t x = 0; x < n; x++)
			for (uint32_t z = 0; z < n; z++, k++) {
				const struct command_SPAWN *body = spawn(scene, k);
				assert_vec3(body->position, 1.1 * (x - 0.5 * (n - 1)),
					    1.0 + 1.1 * y, 1.1 * (z - 0.5 * (n - 1)));
				ck_assert_double_eq(body->mass, 1);
				ck_assert_double_eq(body->static_friction, 0.6);
			}
	scene_destroy(scene);
}
END_TEST

START_TEST(the_spheres_are_within_their_jitter_of_the_benchmarks)
{
	struct scene *scene = load("spheres");
	uint32_t k = 1, n = 10, off = 0;
	for (uint32_t y = 0; y < n; y++)
		for (uint32_t x = 0; x < n; x++)
			for (uint32_t z = 0; z < n; z++, k++) {
				vec3 at = vec3_make(x - 0.5 * (n - 1), 1.0 + y, z - 0.5 * (n - 1));
				vec3 moved = vec3_abs(vec3_sub(spawn(scene, k)->position, at));
				ck_assert_double_le(vec3_max_component(moved), 0.05 + 1e-12);
				off += vec3_max_component(moved) > 0.025;
				ck_assert_double_eq(spawn(scene, k)->mass, 1);
			}
	/* Seven of eight have a component in the outer half. */
	ck_assert_uint_gt(off, 800);
	scene_destroy(scene);
}
END_TEST

START_TEST(the_tower_collapses_only_because_of_the_ball)
{
	struct reason why;
	double height[2];
	for (int hit = 0; hit < 2; hit++) {
		struct shape_library book;
		struct scene *scene = load("tower");
		/* The ball is the last body; only colours follow. */
		while (hit == 0 && scene->commands[scene->command_count - 1].op != COMMAND_SPAWN)
			scene->command_count--;
		scene->command_count -= hit == 0;
		struct world *world = world_of(scene, &book);
		scene_destroy(scene);
		for (int i = 0; i < 240; i++)
			ck_assert_int_eq(world_step(world, &parallel_serial, &why), STATUS_OK);
		height[hit] = 0;
		body_id ids[256];
		uint32_t count = world_bodies(world, ids, COUNT_OF(ids));
		for (uint32_t i = 1; i < MIN_OF(count, 193u); i++) {
			struct body_view view;
			ck_assert_int_eq(world_body(world, ids[i], &view), STATUS_OK);
			height[hit] += view.position.y / 192;
		}
		world_destroy(world);
		shape_library_release(&book);
	}
	ck_assert_double_eq_tol(height[0], 4.0, 0.02);
	ck_assert_double_lt(height[1], 2.0);
}
END_TEST

/* ---- the same everywhere
 * ------------------------------------------------------------------------- */

START_TEST(json_gives_the_same_scene_as_yaml)
{
	const char *yaml = "world:\n"
			   "  name: both\n"
			   "  gravity: [0, -1, 0]\n"
			   "shapes:\n"
			   "  ball: {kind: sphere, radius: 0.5}\n"
			   "bodies:\n"
			   "  - shape: ball\n"
			   "    at: [1, 2.5e-1, -3]\n"
			   "    may_sleep: false\n"
			   "    jitter: 0.1\n"
			   "    stack:\n"
			   "      count: 3\n";
	const char *json = "{\"world\": {\"name\": \"both\", \"gravity\": [0, -1, 0]},\n"
			   " \"shapes\": {\"ball\": {\"kind\": \"sphere\", \"radius\": 0.5}},\n"
			   "\t\"bodies\": [{\"shape\": \"ball\", \"at\": [1, 2.5e-1, -3],\n"
			   "   \"may_sleep\": false, \"jitter\": 0.1, \"stack\": {\"count\": 3}}]}";
	struct scene *a = scene_of_text(yaml), *b = scene_of_text(json);
	ck_assert_uint_eq(scene_digest(a), scene_digest(b));
	ck_assert_uint_eq(scene_count(b, COMMAND_SPAWN), 3);
	ck_assert_str_eq(b->world.name, "both");
	ck_assert(vec3_equal(a->world.gravity, b->world.gravity));
	scene_destroy(a);
	scene_destroy(b);
}
END_TEST

START_TEST(a_scene_read_twice_is_the_same)
{
	struct scene *a = load(SHIPPED[_i].name), *b = load(SHIPPED[_i].name);
	ck_assert_uint_eq(scene_digest(a), scene_digest(b));
	scene_destroy(a);
	scene_destroy(b);
}
END_TEST

#define JITTERED(world, first, second)                                                             \
	"world: {" world "}\nbodies:\n"                                                            \
	"  - {array: {count: " first "}, jitter: 1, jitter_degrees: 30}\n"                         \
	"  - {array: {count: 5}, jitter: [1, 2, 3], jitter_degrees: 90" second "}\n"

START_TEST(jitter_follows_the_seed)
{
	uint64_t one = digest_of(JITTERED("seed: 1", "5", ""));
	ck_assert_uint_eq(one, digest_of(JITTERED("seed: 1", "5", "")));
	ck_assert_uint_eq(one, digest_of(JITTERED("", "5", "")));
	ck_assert_uint_ne(one, digest_of(JITTERED("seed: 2", "5", "")));
	ck_assert_uint_ne(one, digest_of(JITTERED("seed: 1", "5", ", seed: 9")));
}
END_TEST

START_TEST(jitter_of_an_entry_does_not_depend_on_others)
{
	struct scene *few = scene_of_text(JITTERED("", "1", "")),
		     *many = scene_of_text(JITTERED("", "9", ""));
	for (uint32_t i = 0; i < 5; i++) {
		const struct command_SPAWN *a = spawn(few, 1 + i), *b = spawn(many, 9 + i);
		ck_assert(vec3_equal(a->position, b->position));
		ck_assert(quat_equal(a->rotation, b->rotation));
	}
	/* Two equal entries have different jitter. */
	ck_assert(!vec3_equal(spawn(many, 0)->position, spawn(many, 9)->position));
	scene_destroy(few);
	scene_destroy(many);
	struct scene *a = scene_of_text(JITTERED("seed: 1", "5", ", seed: 9"));
	struct scene *b = scene_of_text(JITTERED("seed: 2", "5", ", seed: 9"));
	ck_assert(vec3_equal(spawn(a, 5)->position, spawn(b, 5)->position));
	scene_destroy(a);
	scene_destroy(b);
}
END_TEST

START_TEST(jitter_is_drawn_as_documented)
{
	struct scene *scene =
		scene_of_text("bodies: [{seed: 77, at: [1, 2, 3], jitter: [0.1, 0.2, 0.3], "
			      "jitter_degrees: 10, array: {count: 2}}]");
	struct rng rng = rng_seeded(77);
	for (uint32_t i = 0; i < 2; i++) {
		double v[6];
		for (int k = 0; k < 6; k++) {
			double most = k < 3 ? 0.1 * (k + 1) : 10 * RADIANS_PER_DEGREE;
			/* 0.1 × 3 is not the 0.3 of the file. */
			most = k == 2 ? 0.3 : most;
			v[k] = rng_range(&rng, -most, most);
		}
		assert_vec3(spawn(scene, i)->position, 1 + v[0], 2 + v[1], 3 + v[2]);
		quat turn = quat_from_rotation_vector(vec3_make(v[3], v[4], v[5]));
		ck_assert_double_gt(quat_dot(turn, spawn(scene, i)->rotation), 1 - 1e-15);
	}
	scene_destroy(scene);
}
END_TEST

/* ---- shapes
 * -------------------------------------------------------------------------------------- */

START_TEST(canonical_bytes_cook_to_the_shape_of_the_file)
{
	struct scene *scene = scene_of_text(
		"shapes:\n"
		"  a: {kind: sphere, radius: 2}\n"
		"  b: {kind: capsule, radius: 0.5, length: 3}\n"
		"  c: {kind: box, size: [1, 2, 3]}\n"
		"  d: {kind: hull, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n"
		"  e: {kind: plane, normal: [0, 3, 4], offset: 7}\n"
		"  f: {kind: mesh, points: [[0, 0, 0], [1, 0, 0], [0, 0, 1]], triangles: [[0, 2, 1]]}\n"
		"  g: {kind: polygon, points: [[0, 0], [1, 0], [0, 1]], radius: 0.25}\n"
		"  h: {kind: solid, form: parts, detail: 9, tolerance: 0.1, weld: 0.01,\n"
		"      points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1.001]],\n"
		"      triangles: [[0, 1, 2], [0, 1, 3], [1, 2, 3], [2, 0, 4]]}\n");
	struct shape *shapes[8];
	ck_assert_uint_eq(scene->shape_count, 8);
	for (uint32_t i = 0; i < 8; i++) {
		const struct scene_shape *from = &scene->shapes[i];
		struct reason why = { 0 };
		uint8_t name[32];
		hash_sha256(from->canonical, from->bytes, name);
		ck_assert_mem_eq(name, from->name.bytes, 32);
		enum status status = shape_cook(from->canonical, from->bytes, from->name.bytes,
						&shapes[i], &why);
		ck_assert_msg(status == STATUS_OK, "%s: %s", from->label, why.text);
		ck_assert_int_eq(shapes[i]->kind, (int)i + 1);
	}
	ck_assert_double_eq(shapes[0]->sphere.radius, 2);
	ck_assert_double_eq(shapes[1]->capsule.radius, 0.5);
	ck_assert_double_eq(shapes[1]->capsule.half_length, 1.5);
	assert_vec3(shapes[2]->box.half, 0.5, 1, 1.5);
	ck_assert_uint_eq(shapes[3]->hull->vertex_count, 4);
	assert_near(shapes[4]->plane.normal, 0, 0.6, 0.8);
	ck_assert_double_eq(shapes[4]->plane.offset, 7);
	ck_assert_uint_eq(shapes[5]->mesh->triangle_count, 1);
	ck_assert_double_eq(shapes[6]->polygon->radius, 0.25);
	ck_assert_uint_eq(scene->shapes[7].canonical[4], 9);
	ck_assert_uint_eq(shape_piece_count(shapes[7]), 1);
	ck_assert_double_eq_tol(shapes[7]->mass.volume, 1.0 / 6, 1e-15);
	for (uint32_t i = 0; i < 8; i++)
		shape_release(shapes[i]);
	scene_destroy(scene);
}
END_TEST

START_TEST(equal_shapes_are_stored_once)
{
	struct scene *scene =
		scene_of_text("shapes:\n"
			      "  a: {kind: box, size: 1}\n"
			      "  b: {kind: box, size: [1, 1, 1]}\n"
			      "  c: {kind: box, size: 2}\n"
			      "bodies: [{shape: b}, {shape: {kind: box, size: 1.0}}, {shape: c}]");
	ck_assert_uint_eq(scene->shape_count, 2);
	ck_assert_str_eq(scene->shapes[0].label, "a");
	ck_assert_int_eq(spawn(scene, 0)->shapes.items[0].shape, -1);
	ck_assert_int_eq(spawn(scene, 1)->shapes.items[0].shape, -1);
	ck_assert_int_eq(spawn(scene, 2)->shapes.items[0].shape, -2);
	const uint32_t ids[] = { 30, 40 };
	scene_resolve(scene, ids);
	ck_assert_int_eq(spawn(scene, 0)->shapes.items[0].shape, 30);
	ck_assert_int_eq(spawn(scene, 2)->shapes.items[0].shape, 40);
	scene_destroy(scene);
}
END_TEST

START_TEST(limits_equal_those_of_the_engine)
{
	ck_assert_double_eq(SCENE_LENGTH_MIN, SHAPE_LENGTH_MIN);
	ck_assert_double_eq(SCENE_LENGTH_MAX, SHAPE_LENGTH_MAX);
	ck_assert_int_eq(CANONICAL_SPHERE, SHAPE_SPHERE);
	ck_assert_int_eq(CANONICAL_CAPSULE, SHAPE_CAPSULE);
	ck_assert_int_eq(CANONICAL_BOX, SHAPE_BOX);
	ck_assert_int_eq(CANONICAL_HULL, SHAPE_HULL);
	ck_assert_int_eq(CANONICAL_PLANE, SHAPE_PLANE);
	ck_assert_int_eq(CANONICAL_MESH, SHAPE_MESH);
	ck_assert_int_eq(CANONICAL_POLYGON, SHAPE_POLYGON);
	ck_assert_int_eq(CANONICAL_SOLID, SHAPE_SOLID);
	ck_assert_int_eq(CANONICAL_ROUNDED, SHAPE_ROUNDED);
	ck_assert_int_eq(CANONICAL_CYLINDER, SHAPE_CYLINDER);
	ck_assert_int_eq(CANONICAL_CONE, SHAPE_CONE);
	ck_assert_int_eq(CANONICAL_ELLIPSOID, SHAPE_ELLIPSOID);
	ck_assert_int_eq(CANONICAL_HEIGHTFIELD, SHAPE_HEIGHTFIELD);
	ck_assert_int_eq(HEIGHTS_SIDE_MAX, SHAPE_HEIGHTFIELD_SIDE_MAX);
	ck_assert_int_eq(HULL_POINTS_MAX, SHAPE_CLOUD_MAX);
	ck_assert_int_eq(HULL_VERTICES_MAX, SHAPE_HULL_VERTICES_MAX);
	ck_assert_int_eq(MESH_POINTS_MAX, SHAPE_MESH_VERTICES_MAX);
	ck_assert_int_eq(MESH_TRIANGLES_MAX, SHAPE_MESH_TRIANGLES_MAX);
	const struct schema_table *polygon = &schema_tables[SCHEMA_POLYGON];
	ck_assert_double_eq(polygon->keys[KEY_POLYGON_points].max, SHAPE_POLYGON_VERTICES_MAX);
	ck_assert_double_eq(schema_tables[SCHEMA_BODY].keys[KEY_BODY_shapes].max, ATTACHMENTS_MAX);
	ck_assert_double_eq(schema_tables[SCHEMA_SCENE].keys[KEY_SCENE_bodies].max,
			    SCENE_BODIES_MAX);
	struct world_options world = world_options_default();
	struct limits_keys limits;
	schema_defaults(SCHEMA_LIMITS, &limits);
	ck_assert_uint_eq(limits.bodies, world.limits.bodies);
	ck_assert_uint_eq(limits.placements, world.limits.placements);
	ck_assert_uint_eq(limits.contacts, world.limits.contacts);
	ck_assert_uint_eq(limits.shapes, world.limits.shapes);
	ck_assert_uint_eq(limits.events, world.limits.events);
	struct world_keys keys;
	schema_defaults(SCHEMA_WORLD, &keys);
	ck_assert_uint_eq(keys.seed, world.seed);
	ck_assert_uint_eq(keys.rate.num, world.rate_num);
	ck_assert_uint_eq(keys.rate.den, world.rate_den);
}
END_TEST

START_TEST(an_empty_body_has_the_defaults_of_the_command)
{
	char is[1024], should[1024];
	struct command command;
	struct scene *scene = scene_of_text("bodies: [{}]");
	command_defaults(&command, COMMAND_SPAWN);
	command_describe(&command, should, sizeof should);
	command_describe(&scene->commands[0], is, sizeof is);
	ck_assert_str_eq(is, should);
	ck_assert_uint_eq(scene->commands[0].spawn.shapes.count, 0);
	scene_destroy(scene);
}
END_TEST

/* ---- bodies
 * -------------------------------------------------------------------------------------- */

START_TEST(later_layers_override_earlier_ones)
{
	struct scene *scene = scene_of_text(
		"materials:\n"
		"  ice: {friction: 0.02, restitution: 0.1, density: 900}\n"
		"  rubber: {static_friction: 1.2, dynamic_friction: 1, restitution_rule: average}\n"
		"shapes: {ball: {kind: sphere, radius: 1}, cube: {kind: box, size: 1}}\n"
		"prototypes:\n"
		"  base: {mass: 5, friction: 0.3, shape: ball, tag: 4}\n"
		"  icy: {like: base, material: ice, shapes: [{shape: cube}, {shape: ball}]}\n"
		"bodies:\n"
		"  - {like: base}\n"
		"  - {like: icy}\n"
		"  - {like: icy, friction: 0.9, shape: cube}\n"
		"  - {like: icy, material: rubber, density: 50}\n"
		"  - {material: rubber, dynamic_friction: 0.7}\n");
	const struct command_SPAWN *base = spawn(scene, 0), *icy = spawn(scene, 1);
	ck_assert_double_eq(base->mass, 5);
	ck_assert_double_eq(base->static_friction, 0.3);
	ck_assert_int_eq(base->tag, 4);
	/* A later layer's material comes over an earlier one's key. */
	ck_assert_double_eq(icy->static_friction, 0.02);
	ck_assert_double_eq(icy->restitution, 0.1);
	ck_assert_double_eq(icy->density, 900);
	ck_assert_double_eq(icy->mass, 5);
	ck_assert_uint_eq(icy->shapes.count, 2);
	ck_assert_double_eq(spawn(scene, 2)->dynamic_friction, 0.9);
	ck_assert_uint_eq(spawn(scene, 2)->shapes.count, 1);
	ck_assert_int_eq(spawn(scene, 2)->shapes.items[0].shape, -2);
	const struct command_SPAWN *mixed = spawn(scene, 3);
	ck_assert_double_eq(mixed->static_friction, 1.2);
	ck_assert_double_eq(mixed->dynamic_friction, 1);
	ck_assert_double_eq(mixed->restitution, 0.1);
	ck_assert_uint_eq(mixed->restitution_rule, COMBINE_AVERAGE);
	ck_assert_double_eq(mixed->density, 50);
	ck_assert_double_eq(mixed->mass, 0);
	ck_assert_double_eq(spawn(scene, 4)->dynamic_friction, 0.7);
	scene_destroy(scene);
}
END_TEST

START_TEST(every_key_of_a_body_reaches_its_command)
{
	struct scene *scene = scene_of_text(
		"bodies:\n"
		"  - {status: animated, at: [1, 2, 3], rotation: {axis: [0, 2, 0], degrees: 90},\n"
		"     velocity: [4, 5, 6], angular_velocity: [7, 8, 9], density: 10, friction: 0.11,\n"
		"     restitution: 0.12, friction_rule: minimum, restitution_rule: multiply, category: 13,\n"
		"     mask: 14, group: -15, tag: 16, linear_damping: 17, angular_damping: 18,\n"
		"     may_sleep: false, fixed_rotation: false}\n"
		"  - {status: inactive, fixed_rotation: true, fast: true, integrator: rk45,\n"
		"     tolerance: 0.001, substeps: 7, rotation: [0, 0, 1, 0], gravity_scale: 0.25,\n"
		"     speed_max: 8, angular_speed_max: 9, mass: 2, inertia: [1, 2, 3],\n"
		"     inertia_rotation: [0, 1, 0, 0]}\n"
		"  - {shape: {kind: sphere, radius: 1}, centre: [0.1, 0.2, 0.3], one_way: [0, 0.5, 0],\n"
		"     surface_velocity: [1, 2, 3], locks: x rz ry}\n");
	const struct command_SPAWN *b = spawn(scene, 0);
	ck_assert_uint_eq(b->status, BODY_ANIMATED);
	assert_vec3(b->position, 1, 2, 3);
	assert_near(quat_rotate(b->rotation, vec3_axis(0)), 0, 0, -1);
	assert_vec3(b->velocity, 4, 5, 6);
	assert_vec3(b->angular_velocity, 7, 8, 9);
	ck_assert_double_eq(b->density, 10);
	ck_assert_double_eq(b->static_friction, 0.11);
	ck_assert_double_eq(b->dynamic_friction, 0.11);
	ck_assert_double_eq(b->restitution, 0.12);
	ck_assert_uint_eq(b->friction_rule, COMBINE_MINIMUM);
	ck_assert_uint_eq(b->restitution_rule, COMBINE_MULTIPLY);
	ck_assert_uint_eq(b->category, 13);
	ck_assert_uint_eq(b->mask, 14);
	ck_assert_int_eq(b->group, -15);
	ck_assert_int_eq(b->tag, 16);
	ck_assert_double_eq(b->linear_damping, 17);
	ck_assert_double_eq(b->angular_damping, 18);
	ck_assert_uint_eq(b->flags, 0);
	ck_assert_uint_eq(spawn(scene, 1)->status, BODY_INACTIVE);
	ck_assert_uint_eq(spawn(scene, 1)->flags, BODY_MAY_SLEEP | BODY_FIXED_ROTATION | BODY_FAST);
	ck_assert(quat_equal(spawn(scene, 1)->rotation, quat_make(0, 0, 1, 0)));
	ck_assert_uint_eq(spawn(scene, 0)->integrator, INTEGRATOR_AUTOMATIC);
	ck_assert_uint_eq(spawn(scene, 1)->integrator, INTEGRATOR_RK45);
	ck_assert_double_eq(spawn(scene, 1)->tolerance, 0.001);
	ck_assert_uint_eq(spawn(scene, 1)->substeps, 7);
	ck_assert_double_eq(spawn(scene, 0)->gravity_scale, 1);
	ck_assert_uint_eq(spawn(scene, 0)->mass_rule, MASS_OF_SHAPES);
	ck_assert_double_eq(spawn(scene, 1)->gravity_scale, 0.25);
	ck_assert_double_eq(spawn(scene, 1)->speed_max, 8);
	ck_assert_double_eq(spawn(scene, 1)->angular_speed_max, 9);
	ck_assert_uint_eq(spawn(scene, 1)->mass_rule, MASS_GIVEN);
	assert_vec3(spawn(scene, 1)->inertia, 1, 2, 3);
	assert_vec3(spawn(scene, 1)->one_way, 0, 0, 0);
	assert_vec3(spawn(scene, 2)->one_way, 0, 0.5, 0);
	assert_vec3(spawn(scene, 2)->surface_velocity, 1, 2, 3);
	ck_assert_uint_eq(spawn(scene, 1)->locks, 0);
	ck_assert_uint_eq(spawn(scene, 2)->locks, 1 | 16 | 32);
	ck_assert(quat_equal(spawn(scene, 1)->inertia_rotation, quat_make(0, 1, 0, 0)));
	ck_assert_uint_eq(spawn(scene, 2)->mass_rule, MASS_WITH_CENTRE);
	assert_vec3(spawn(scene, 2)->centre, 0.1, 0.2, 0.3);
	scene_destroy(scene);
}
END_TEST

START_TEST(commands_of_the_world_come_first)
{
	struct scene *scene = scene_of_text(
		"bodies: [{}]\n"
		"world:\n"
		"  rate: [60000, 1001]\n"
		"  planar: true\n"
		"  seed: 18446744073709551615\n"
		"  method: free\n"
		"  parameters: {sleep.enabled: 0, soft_step.substeps: 8}\n"
		"  bounds: {mode: walls, minimum: [-1, -2, -3], maximum: [1, 2, 3]}\n"
		"  limits: {bodies: 7, placements: 8, contacts: 9, shapes: 10, events: 11}\n");
	ck_assert_uint_eq(scene->world.rate_num, 60000);
	ck_assert_uint_eq(scene->world.rate_den, 1001);
	ck_assert(scene->world.planar);
	ck_assert(!scene->world.gravity_given);
	ck_assert(scene->world.seed_given);
	ck_assert_uint_eq(scene->world.seed, UINT64_MAX);
	ck_assert_str_eq(scene->world.method, "free");
	ck_assert_uint_eq(scene->world.bodies_max, 7);
	ck_assert_uint_eq(scene->world.placements_max, 8);
	ck_assert_uint_eq(scene->world.contacts_max, 9);
	ck_assert_uint_eq(scene->world.shapes_max, 10);
	ck_assert_uint_eq(scene->world.events_max, 11);
	ck_assert_uint_eq(scene->command_count, 4);
	ck_assert_uint_eq(scene->commands[0].op, COMMAND_PARAMETER);
	ck_assert_str_eq(scene->commands[0].parameter.name.text, "sleep.enabled");
	ck_assert_double_eq(scene->commands[1].parameter.value, 8);
	ck_assert_uint_eq(scene->commands[2].op, COMMAND_BOUNDS);
	ck_assert_uint_eq(scene->commands[2].bounds.mode, BOUNDS_WALLS);
	assert_vec3(scene->commands[2].bounds.maximum, 1, 2, 3);
	ck_assert_uint_eq(scene->commands[3].op, COMMAND_SPAWN);
	scene_destroy(scene);
}
END_TEST

START_TEST(a_parameter_may_be_given_by_an_old_name)
{
	static const char *const NAMES[] = { "soft_step.push_speed", "contact.push_speed" };
	for (uint32_t i = 0; i < COUNT_OF(NAMES); i++) {
		char text[64];
		snprintf(text, sizeof text, "world:\n  parameters: {%s: %u}\n", NAMES[i], 4 + i);
		struct scene *scene = scene_of_text(text);
		ck_assert_uint_eq(scene->command_count, 1);
		ck_assert_str_eq(scene->commands[0].parameter.name.text, NAMES[i]);
		ck_assert_double_eq(scene->commands[0].parameter.value, 4 + i);
		scene_destroy(scene);
	}
}
END_TEST

/* ---- generators
 * ---------------------------------------------------------------------------------- */

START_TEST(euler_angles_turn_about_fixed_axes_one_after_the_other)
{
	/* By quarter turns: about x, y becomes z; then about y, z becomes x; then about z, x
	 * becomes y. */
	struct scene *scene = scene_of_text("bodies:\n"
					    "- {rotation: {euler: [90, 0, 0]}}\n"
					    "- {rotation: {euler: [90, 90, 0]}}\n"
					    "- {rotation: {euler: [90, 90, 90]}}\n"
					    "- {rotation: {euler: [0, 33, 0]}}\n"
					    "- {rotation: {axis: [0, 1, 0], degrees: 33}}\n");
	const vec3 y = vec3_axis(1);
	assert_near(quat_rotate(spawn(scene, 0)->rotation, y), 0, 0, 1);
	assert_near(quat_rotate(spawn(scene, 1)->rotation, y), 1, 0, 0);
	assert_near(quat_rotate(spawn(scene, 2)->rotation, y), 0, 1, 0);
	vec3 same = quat_rotate(spawn(scene, 4)->rotation, vec3_axis(0));
	assert_near(quat_rotate(spawn(scene, 3)->rotation, vec3_axis(0)), same.x, same.y, same.z);
	scene_destroy(scene);
}
END_TEST

START_TEST(a_stack_turns_as_it_grows)
{
	struct scene *scene = scene_of_text(
		"bodies: [{at: [1, 2, 3], stack: {count: 5, height: 0.5, twist: 30}}]");
	ck_assert_uint_eq(scene_count(scene, COMMAND_SPAWN), 5);
	for (uint32_t i = 0; i < 5; i++) {
		assert_near(spawn(scene, i)->position, 1, 2 + 0.5 * i, 3);
		double angle = i * M_PI / 6;
		assert_near(quat_rotate(spawn(scene, i)->rotation, vec3_axis(2)), sin(angle), 0,
			    cos(angle));
	}
	scene_destroy(scene);
}
END_TEST

START_TEST(a_square_pyramid_has_square_layers)
{
	struct scene *scene =
		scene_of_text("bodies: [{pyramid: {base: 4, square: true, spacing: [2, 3, 5]}}]");
	ck_assert_uint_eq(scene_count(scene, COMMAND_SPAWN), 16 + 9 + 4 + 1);
	vec3 sum = vec3_zero();
	for (uint32_t i = 0; i < 16; i++) {
		ck_assert_double_eq(spawn(scene, i)->position.y, 0);
		sum = vec3_add(sum, spawn(scene, i)->position);
	}
	assert_near(sum, 0, 0, 0);
	assert_vec3(spawn(scene, 0)->position, -3, 0, -7.5);
	assert_vec3(spawn(scene, 1)->position, -3, 0, -2.5);
	assert_vec3(spawn(scene, 29)->position, 0, 9, 0);
	scene_destroy(scene);
}
END_TEST

START_TEST(bodies_of_a_ring_face_outwards)
{
	struct scene *scene =
		scene_of_text("bodies: [{at: [0, 5, 0], ring: {count: 8, radius: 3}}]");
	ck_assert_uint_eq(scene_count(scene, COMMAND_SPAWN), 8);
	assert_near(spawn(scene, 0)->position, 0, 5, 3);
	assert_near(spawn(scene, 2)->position, 3, 5, 0);
	for (uint32_t i = 0; i < 8; i++) {
		vec3 out = vec3_scale(quat_rotate(spawn(scene, i)->rotation, vec3_axis(2)), 3);
		vec3 at = spawn(scene, i)->position;
		assert_near(out, at.x, 0, at.z);
	}
	scene_destroy(scene);
}
END_TEST

START_TEST(every_second_ring_of_a_tower_is_turned_by_half_a_brick)
{
	struct scene *scene =
		scene_of_text("bodies: [{tower: {rings: 4, bricks: 6, radius: 2, height: 0.25}}]");
	ck_assert_uint_eq(scene_count(scene, COMMAND_SPAWN), 24);
	for (uint32_t i = 0; i < 24; i++) {
		double angle = (i % 6 + (i / 6 % 2 ? 0.5 : 0)) * M_PI / 3;
		assert_near(spawn(scene, i)->position, 2 * sin(angle), 0.25 * (i / 6),
			    2 * cos(angle));
	}
	scene_destroy(scene);
}
END_TEST

START_TEST(body_i_of_an_array_is_turned_i_times)
{
	struct scene *scene = scene_of_text(
		"bodies: [{at: [1, 0, 0], rotation: {axis: [1, 0, 0], degrees: 20},\n"
		"  array: {count: 50, step: [0, 1, 2], turn: {axis: [1, 2, 3], degrees: 11}}}]");
	quat turn =
		quat_from_axis_angle(vec3_normalize(vec3_make(1, 2, 3)), 11 * RADIANS_PER_DEGREE);
	quat q = quat_from_axis_angle(vec3_axis(0), 20 * RADIANS_PER_DEGREE);
	for (uint32_t i = 0; i < 50; i++) {
		assert_vec3(spawn(scene, i)->position, 1, i, 2 * i);
		ck_assert_double_gt(fabs(quat_dot(spawn(scene, i)->rotation, q)), 1 - 1e-12);
		q = quat_mul(turn, q);
	}
	scene_destroy(scene);
}
END_TEST

START_TEST(planar_jitter_stays_in_the_plane)
{
	struct scene *scene = scene_of_text(
		"world: {planar: true}\n"
		"shapes: {p: {kind: polygon, points: [[0, 0], [1, 0], [0, 1]]}}\n"
		"bodies: [{shape: p, jitter: 1, jitter_degrees: 90, array: {count: 20}}]");
	for (uint32_t i = 0; i < 20; i++) {
		ck_assert_double_eq(spawn(scene, i)->position.z, 0);
		ck_assert_double_eq(spawn(scene, i)->rotation.x, 0);
		ck_assert_double_eq(spawn(scene, i)->rotation.y, 0);
	}
	struct shape_library book;
	struct world *world = world_of(scene, &book);
	scene_destroy(scene);
	world_destroy(world);
	shape_library_release(&book);
}
END_TEST

/* ---- files
 * --------------------------------------------------------------------------------------- */

static const char *folder(void)
{
	static char path[256];
	const char *base = getenv("TMPDIR");
	snprintf(path, sizeof path, "%s/cairn-scene-XXXXXX", base != NULL ? base : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(path));
	return path;
}

static void write_file(const char *directory, const char *name, const char *text)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void remove_file(const char *directory, const char *name)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	ck_assert_int_eq(unlink(path), 0);
}

/* Two triangles with a common edge whose points are in the file twice, and a degenerate
 * triangle. */
#define ROOF                                                                                       \
	"v 0 0 0\nv 2 0 0\nv 0 1 1\nv 2 0 0\nv 2 1 1\nv 0 1 1\nv 1 0 0\n"                          \
	"f 1 2 3\nf 4 5 6\nf 1 7 2\n"

START_TEST(a_mesh_file_beside_the_scene_is_read_and_welded)
{
	const char *directory = folder();
	char path[512];
	struct scene *scene = NULL;
	struct reason why = { 0 };
	write_file(directory, "roof.obj", ROOF);
	write_file(directory, "house.yaml",
		   "shapes: {roof: {kind: mesh, file: roof.obj, scale: [1, 2, 1]}}");
	snprintf(path, sizeof path, "%s/house.yaml", directory);
	enum status status = scene_load(path, &scene, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	const uint8_t *bytes = scene->shapes[0].canonical;
	ck_assert_uint_eq(get_le32(bytes + 6), 2);
	ck_assert_uint_le(get_le32(bytes + 2), 5);
	struct shape *shape = NULL;
	ck_assert_int_eq(shape_cook(bytes, scene->shapes[0].bytes, NULL, &shape, &why), STATUS_OK);
	assert_vec3(shape->aabb_min, 0, 0, 0);
	assert_vec3(shape->aabb_max, 2, 2, 1);
	shape_release(shape);
	scene_destroy(scene);
	remove_file(directory, "roof.obj");
	remove_file(directory, "house.yaml");
	rmdir(directory);
}
END_TEST

START_TEST(mesh_files_are_found_through_the_environment)
{
	const char *text = "shapes: {roof: {kind: hull, file: roof.obj, up: z}}";
	const char *directory = folder();
	char list[600];
	struct scene *scene = NULL;
	struct reason why = { 0 };
	write_file(directory, "roof.obj", ROOF);
	unsetenv("CAIRN_MESH_PATH");
	ck_assert_int_eq(scene_parse(text, strlen(text), NULL, &scene, &why), STATUS_MISSING);
	snprintf(list, sizeof list, "/nowhere::%s", directory);
	setenv("CAIRN_MESH_PATH", list, 1);
	enum status status = scene_parse(text, strlen(text), "/nowhere", &scene, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	scene_destroy(scene);
	remove_file(directory, "roof.obj");
	rmdir(directory);
}
END_TEST

START_TEST(a_large_cloud_is_reduced_to_the_limit_of_a_hull)
{
	struct reason why = { 0 };
	struct scene *scene = scene_of_text("shapes: {bunny: {kind: hull, file: bunny.obj}}");
	const struct scene_shape *from = &scene->shapes[0];
	ck_assert_uint_le(get_le32(from->canonical + 2), HULL_DIRECTIONS);
	struct shape *shape = NULL;
	enum status status = shape_cook(from->canonical, from->bytes, NULL, &shape, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	/* The file's own box is [-1, 1] along x. */
	ck_assert_double_eq_tol(shape->aabb_max.x - shape->aabb_min.x, 2, 0.02);
	shape_release(shape);
	scene_destroy(scene);
}
END_TEST

/* ---- errors found by the world
 * ------------------------------------------------------------------- */

static void refused_by_the_world(const char *text, enum status expected, const char *says)
{
	struct shape_library book;
	struct world *world = NULL;
	struct reason why = { 0 };
	struct scene *scene = scene_of_text(text);
	int64_t live = heap_live();
	shape_library_init(&book);
	enum status status = scene_world_make(scene, NULL, &book, &world, &why);
	ck_assert_msg(status == expected, "%s: %s", status_name(status), why.text);
	ck_assert_msg(strncmp(why.text, says, strlen(says)) == 0, "%s", why.text);
	ck_assert_int_eq(heap_live(), live);
	scene_destroy(scene);
}

START_TEST(an_error_of_the_world_names_the_line)
{
	refused_by_the_world(
		"shapes:\n"
		"  flat: {kind: hull, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}\n",
		STATUS_DEGENERATE, "scene:2: shape flat: ");
	/* 4e-15 kg. */
	refused_by_the_world("bodies:\n- {}\n- {}\n"
			     "- {shape: {kind: sphere, radius: 0.0001}, density: 0.001}\n",
			     STATUS_RANGE, "scene:4: ");
}
END_TEST

/* ---- documentation and memory
 * -------------------------------------------------------------------- */

START_TEST(every_example_of_the_page_is_a_valid_scene)
{
	static char text[1 << 18];
	FILE *file = fopen(source_path("docs/SCENES.md"), "r");
	ck_assert_ptr_nonnull(file);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	uint32_t examples = 0;
	for (char *at = strstr(text, "\n```yaml\n"); at != NULL;
	     at = strstr(at + 1, "\n```yaml\n")) {
		char *begin = at + strlen("\n```yaml\n"), *end = strstr(begin, "\n```\n");
		ck_assert_ptr_nonnull(end);
		struct scene *scene = NULL;
		struct reason why = { 0 };
		enum status status =
			scene_parse(begin, (size_t)(end + 1 - begin), NULL, &scene, &why);
		ck_assert_msg(status == STATUS_OK, "%s in: %.80s", why.text, begin);
		struct shape_library book;
		struct world *world = world_of(scene, &book);
		scene_destroy(scene);
		world_destroy(world);
		shape_library_release(&book);
		examples++;
	}
	ck_assert_uint_ge(examples, 5);
}
END_TEST

START_TEST(any_failed_allocation_leaves_no_memory)
{
	const char *text =
		"world: {parameters: {sleep.enabled: 0}, bounds: {mode: none}}\n"
		"shapes:\n"
		"  h: {kind: hull, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], simplify: 9}\n"
		"  m: {kind: mesh, points: [[0, 0, 0], [1, 0, 0], [0, 0, 1]], triangles: [[0, 2, 1]]}\n"
		"  c: {kind: mesh, file: cube.3ds}\n"
		"bodies: [{shape: h, stack: {count: 20}}, {shape: m, status: static}]\n";
	int64_t live = heap_live();
	uint32_t failures = 0;
	for (uint64_t n = 1;; n++) {
		struct scene *scene = NULL;
		struct reason why = { 0 };
		heap_fail_at(n);
		enum status status = scene_parse(text, strlen(text), NULL, &scene, &why);
		bool pending = heap_fail_pending();
		heap_fail_at(0);
		if (status == STATUS_OK) {
			scene_destroy(scene);
			ck_assert_int_eq(heap_live(), live);
			ck_assert(pending);
			break;
		}
		ck_assert_int_eq(status, STATUS_NO_MEMORY);
		ck_assert_int_eq(heap_live(), live);
		failures++;
	}
	ck_assert_uint_gt(failures, 20);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("scene");
	TCase *shipped = tcase_create("shipped");
	tcase_add_loop_test(shipped, every_shipped_scene_makes_a_world_that_steps, 0,
			    COUNT_OF(SHIPPED));
	tcase_add_test(shipped, every_shipped_scene_is_tested);
	tcase_add_test(shipped, the_pyramid_equals_that_of_the_benchmarks);
	tcase_add_test(shipped, the_grid_equals_that_of_the_benchmarks);
	tcase_add_test(shipped, the_spheres_are_within_their_jitter_of_the_benchmarks);
	tcase_add_test(shipped, the_tower_collapses_only_because_of_the_ball);
	suite_add_tcase(suite, shipped);
	TCase *same = tcase_create("the same everywhere");
	tcase_add_test(same, json_gives_the_same_scene_as_yaml);
	tcase_add_loop_test(same, a_scene_read_twice_is_the_same, 0, COUNT_OF(SHIPPED));
	tcase_add_test(same, jitter_follows_the_seed);
	tcase_add_test(same, jitter_of_an_entry_does_not_depend_on_others);
	tcase_add_test(same, jitter_is_drawn_as_documented);
	suite_add_tcase(suite, same);
	TCase *parts = tcase_create("shapes and bodies");
	tcase_add_test(parts, canonical_bytes_cook_to_the_shape_of_the_file);
	tcase_add_test(parts, equal_shapes_are_stored_once);
	tcase_add_test(parts, limits_equal_those_of_the_engine);
	tcase_add_test(parts, an_empty_body_has_the_defaults_of_the_command);
	tcase_add_test(parts, later_layers_override_earlier_ones);
	tcase_add_test(parts, every_key_of_a_body_reaches_its_command);
	tcase_add_test(parts, commands_of_the_world_come_first);
	tcase_add_test(parts, a_parameter_may_be_given_by_an_old_name);
	suite_add_tcase(suite, parts);
	TCase *generators = tcase_create("generators");
	tcase_add_test(generators, euler_angles_turn_about_fixed_axes_one_after_the_other);
	tcase_add_test(generators, a_stack_turns_as_it_grows);
	tcase_add_test(generators, a_square_pyramid_has_square_layers);
	tcase_add_test(generators, bodies_of_a_ring_face_outwards);
	tcase_add_test(generators, every_second_ring_of_a_tower_is_turned_by_half_a_brick);
	tcase_add_test(generators, body_i_of_an_array_is_turned_i_times);
	tcase_add_test(generators, planar_jitter_stays_in_the_plane);
	suite_add_tcase(suite, generators);
	TCase *files = tcase_create("files and memory");
	tcase_add_test(files, a_mesh_file_beside_the_scene_is_read_and_welded);
	tcase_add_test(files, mesh_files_are_found_through_the_environment);
	tcase_add_test(files, a_large_cloud_is_reduced_to_the_limit_of_a_hull);
	tcase_add_test(files, an_error_of_the_world_names_the_line);
	tcase_add_test(files, every_example_of_the_page_is_a_valid_scene);
	tcase_add_test(files, any_failed_allocation_leaves_no_memory);
	suite_add_tcase(suite, files);
	return suite;
}

int main(void)
{
	return check_main(make);
}
