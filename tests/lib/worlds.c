/* See worlds.h. */
#include "tests/lib/worlds.h"

#include "server/base/body_hash.h"
#include "server/base/hash.h"
#include "server/engine/geometry/mesh.h"
#include "tests/lib/closed_meshes.h"
#include "tests/lib/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void fail(const char *what, const struct reason *why)
{
	printf("# %s: %s (%s)\n", what, why != NULL ? why->text : "",
	       why != NULL ? why->field : "");
	fflush(stdout);
	abort();
}

/* ---- the catalogue ---------------------------------------------------------------------------- */

static struct shape *catalogue[TEST_SHAPES_ALL];

/* A mesh of cells × cells squares with gentle hills. */
static struct shape *make_ground(void)
{
	return make_terrain(16, 1.0, 0.5, 7);
}

/* As a field of so many cells, or with 0 as parts. The mesh is taken. */
static struct shape *make_solid(struct shape *mesh, double size, uint32_t cells)
{
	struct shape *small = NULL, *solid;
	vec3 *vertices = mesh->mesh->vertices;
	for (uint32_t v = 0; v < mesh->mesh->vertex_count; v++)
		vertices[v] = vec3_scale(vertices[v], size);
	small = make_mesh(vertices, mesh->mesh->vertex_count,
			  (const uint32_t(*)[3])mesh->mesh->triangles, mesh->mesh->triangle_count);
	solid = cells > 0 ? make_field_solid(small->mesh, cells) : make_parts_solid(small->mesh, 0);
	shape_release(small);
	shape_release(mesh);
	return solid;
}

static struct shape *make(enum test_shape shape)
{
	static const vec3 octahedron[] = { { 0.5, 0, 0 },  { -0.5, 0, 0 }, { 0, 0.5, 0 },
					   { 0, -0.5, 0 }, { 0, 0, 0.5 },  { 0, 0, -0.5 } };
	static const vec3 square[] = {
		{ -0.5, -0.5, 0 }, { 0.5, -0.5, 0 }, { 0.5, 0.5, 0 }, { -0.5, 0.5, 0 }
	};
	switch (shape) {
	case TEST_SPHERE:
		return make_sphere(0.5);
	case TEST_CAPSULE:
		return make_capsule(0.5, 0.25);
	case TEST_BOX:
		return make_box(0.5, 0.5, 0.5);
	case TEST_HULL:
		return make_hull(octahedron, COUNT_OF(octahedron));
	case TEST_PLANE:
		return make_plane(vec3_make(0, 1, 0), 0);
	case TEST_MESH:
		return make_ground();
	case TEST_POLYGON:
		return make_polygon(square, 4, 0);
	case TEST_RING:
		return make_solid(make_torus(3, 1, 24, 12), 0.2, 24);
	case TEST_BLOCK:
		return make_solid(make_l(), 0.5, 24);
	case TEST_ELBOW:
		return make_solid(make_l(), 0.5, 0);
	default:
		return make_polygon(square, 3, 0.1);
	}
}

const struct shape *test_shape(enum test_shape shape)
{
	if (catalogue[shape] == NULL) {
		catalogue[shape] = make(shape);
		hash_sha256(catalogue[shape]->canonical, catalogue[shape]->canonical_bytes,
			    catalogue[shape]->name);
	}
	return catalogue[shape];
}

struct name32 test_shape_name(enum test_shape shape)
{
	struct name32 name;
	memcpy(name.bytes, test_shape(shape)->name, sizeof name.bytes);
	return name;
}

static const struct shape *find(void *context, const uint8_t name[SHAPE_NAME_BYTES])
{
	UNUSED(context);
	for (uint32_t i = 0; i < TEST_SHAPES_ALL; i++)
		if (catalogue[i] != NULL && memcmp(catalogue[i]->name, name, SHAPE_NAME_BYTES) == 0)
			return catalogue[i];
	return NULL;
}

struct shape_source test_shape_source(void)
{
	for (uint32_t i = 0; i < TEST_SHAPES; i++)
		(void)test_shape((enum test_shape)i);
	return (struct shape_source){ .find = find };
}

/* ---- worlds ----------------------------------------------------------------------------------- */

struct world_options test_options(bool planar, const char *method)
{
	struct world_options options = world_options_default();
	options.planar = planar;
	options.shapes = test_shape_source();
	snprintf(options.method, sizeof options.method, "%s", method);
	return options;
}

struct world *test_world_of(const struct world_options *options)
{
	struct world *world;
	struct reason why;
	if (world_create(options, &world, &why) != STATUS_OK)
		fail("world_create", &why);
	static const char *const COORDINATES[] = { "articulated.coordinates",
						   "soft_step.coordinates" };
	const char *articulated = getenv("CAIRN_ARTICULATED");
	for (uint32_t i = 0; articulated != NULL && i < COUNT_OF(COORDINATES); i++) {
		struct command command = test_command(COMMAND_PARAMETER);
		command.parameter.name = test_text(COORDINATES[i]);
		command.parameter.value = atoi(articulated);
		test_do(world, &command);
	}
	return world;
}

struct world *test_world(bool planar, const char *method)
{
	struct world_options options = test_options(planar, method);
	return test_world_of(&options);
}

enum status test_batch(struct world *world, struct command *commands, uint32_t count,
		       struct batch_result *result)
{
	static uint64_t number;
	struct batch batch = {
		.session = 1, .number = ++number, .commands = commands, .count = count
	};
	struct batch_result own;
	result = result != NULL ? result : &own;
	enum status status = world_apply(world, &batch, 1, result);
	return status != STATUS_OK ? status : result->status;
}

uint32_t test_do(struct world *world, const struct command *command)
{
	struct command own = *command;
	struct batch_result result;
	if (test_batch(world, &own, 1, &result) != STATUS_OK)
		fail("command refused", &result.why);
	return result.values[0];
}

enum status test_try(struct world *world, const struct command *command)
{
	struct command own = *command;
	return test_batch(world, &own, 1, NULL);
}

struct command test_command(enum command_op op)
{
	struct command command;
	command_defaults(&command, (uint16_t)op);
	return command;
}

shape_id test_use(struct world *world, enum test_shape shape)
{
	struct command use = test_command(COMMAND_SHAPE_USE);
	use.shape_use.name = test_shape_name(shape);
	return test_do(world, &use);
}

struct command test_spawn_command(struct world *world, enum test_shape shape, vec3 position,
				  struct attachment *item)
{
	struct command spawn = test_command(COMMAND_SPAWN);
	spawn.spawn.position = position;
	if (shape != TEST_SHAPES) {
		*item = (struct attachment){ .shape = test_use(world, shape),
					     .rotation = quat_identity() };
		spawn.spawn.shapes = (struct attachment_list){ item, 1 };
	}
	if (shape == TEST_PLANE || shape == TEST_MESH)
		spawn.spawn.status = BODY_STATIC;
	return spawn;
}

void test_no_gravity(struct world *world)
{
	struct command command = test_command(COMMAND_GRAVITY);
	test_do(world, &command);
}

body_id test_spawn(struct world *world, enum test_shape shape, vec3 position)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, shape, position, &item);
	return test_do(world, &spawn);
}

body_id test_ground(struct world *world)
{
	struct attachment item;
	struct command ground = test_spawn_command(world, TEST_PLANE, vec3_zero(), &item);
	ground.spawn.status = BODY_STATIC;
	return test_do(world, &ground);
}

struct world *test_stack(const char *method, body_id ids[4])
{
	struct world *world = test_world(false, method);
	ids[0] = test_ground(world);
	for (uint32_t i = 1; i < 4; i++)
		ids[i] = test_spawn(world, TEST_BOX, vec3_make(0.1 * i, 1.1 * i, 0));
	return world;
}

struct body_view test_body(const struct world *world, body_id id)
{
	struct body_view view;
	if (world_body(world, id, &view) != STATUS_OK)
		fail("there is no such body", NULL);
	return view;
}

uint32_t test_contacts(const struct world *world, body_id body, struct contact_view *out,
		       uint32_t capacity)
{
	uint32_t count;
	if (world_contacts(world, body, out, capacity, &count) != STATUS_OK)
		fail("there is no memory to list contacts", NULL);
	return count;
}

void test_step(struct world *world, uint32_t ticks)
{
	struct reason why;
	for (uint32_t i = 0; i < ticks; i++)
		if (world_step(world, &parallel_serial, &why) != STATUS_OK)
			fail("world_step", &why);
}

uint64_t test_hash(const struct world *world)
{
	return world_state_hash(world, NULL, NULL);
}

void test_check(const struct world *world)
{
	struct reason why;
	if (world_check(world, &why) != STATUS_OK)
		fail("world_check", &why);
	uint32_t count = world_bodies(world, NULL, 0);
	body_id *ids = calloc(count + 1, sizeof *ids);
	if (world_bodies(world, ids, count) != count)
		fail("world_bodies", NULL);
	uint64_t sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct body_view v = test_body(world, ids[i]);
		sum += body_hash(
			v.id, v.status, (double[3]){ v.position.x, v.position.y, v.position.z },
			(double[4]){ v.rotation.w, v.rotation.x, v.rotation.y, v.rotation.z },
			(double[3]){ v.velocity.x, v.velocity.y, v.velocity.z },
			(double[3]){ v.angular_velocity.x, v.angular_velocity.y,
				     v.angular_velocity.z });
	}
	free(ids);
	if (body_hash_finish(world_info(world).tick, sum, count) != world_tick_hash(world))
		fail("the tick hash is not that of the bodies", NULL);
}

struct text32 test_text(const char *text)
{
	struct text32 result = { "" };
	snprintf(result.text, sizeof result.text, "%s", text);
	return result;
}

struct stability_view test_stability(const struct world *world, struct stability_query query)
{
	struct stability_view view;
	struct reason why = { 0 };
	if (world_stability(world, &query, &view, &why) != STATUS_OK)
		fail("world_stability", &why);
	if (!(view.kkt <= 1e-10) || !(view.gap <= 1e-10))
		fail("the answer of stability is not exact", NULL);
	return view;
}

struct bytes test_save(const struct world *world)
{
	struct bytes bytes = { 0 };
	if (world_save(world, &bytes) != STATUS_OK)
		fail("world_save", NULL);
	return bytes;
}

struct command test_system_command(const char *name)
{
	struct command command = test_command(COMMAND_PARTICLES_CREATE);
	command.particles_create.name = test_text(name);
	command.particles_create.emitter = EMITTER_NONE;
	command.particles_create.life = 0;
	return command;
}

void test_add_particle(struct world *world, system_id system, vec3 position, vec3 velocity)
{
	struct command command = test_command(COMMAND_PARTICLES_ADD);
	command.particles_add.system = system;
	command.particles_add.position = position;
	command.particles_add.velocity = velocity;
	test_do(world, &command);
}
