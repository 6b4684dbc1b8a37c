/* Our engine on the common scenes, through engine.h only. Variants are methods: soft-step, lcp,
 * free. CAIRN_SET="key=value key=value" sets parameters. */
#include "server/engine/engine.h"
#include "server/io/parallel_pool.h"
#include "tests/bench/bench.h"
#include "tests/lib/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES_MAX = 6 };

static struct shape *shapes[SHAPES_MAX]; /* named by their index */
static uint32_t shape_count;

static void expect_ok(enum status status, const struct reason *why)
{
	if (status == STATUS_OK)
		return;
	fprintf(stderr, "bench_cairn: %s: %s\n", status_text(status), why->text);
	exit(1);
}

static const struct shape *find_shape(void *context, const uint8_t name[SHAPE_NAME_BYTES])
{
	UNUSED(context);
	return name[0] < shape_count ? shapes[name[0]] : NULL;
}

static uint32_t add_shape(struct shape *shape)
{
	memset(shape->name, 0, sizeof shape->name);
	shape->name[0] = (uint8_t)shape_count;
	shapes[shape_count] = shape;
	return shape_count++;
}

static uint32_t apply(struct world *world, struct command *command)
{
	static uint64_t number;
	struct batch batch = { .session = 1, .number = ++number, .commands = command, .count = 1 };
	struct batch_result result;
	struct reason why = { .text = "" };
	expect_ok(world_apply(world, &batch, 1, &result), &why);
	expect_ok(result.status, &result.why);
	return result.value_count > 0 ? result.values[0] : 0;
}

static shape_id use_shape(struct world *world, struct shape *shape)
{
	struct command command;
	command_defaults(&command, COMMAND_SHAPE_USE);
	command.shape_use.name.bytes[0] = (uint8_t)add_shape(shape);
	return apply(world, &command);
}

static body_id spawn(struct world *world, enum body_status status, shape_id shape, double mass,
		     struct bench_vec at)
{
	struct attachment item = { .shape = shape, .rotation = { 1, 0, 0, 0 } };
	struct command command;
	command_defaults(&command, COMMAND_SPAWN);
	command.spawn.status = (uint8_t)status;
	command.spawn.shapes = (struct attachment_list){ &item, 1 };
	command.spawn.position = vec3_make(at.x, at.y, at.z);
	command.spawn.mass = mass;
	command.spawn.static_friction = command.spawn.dynamic_friction = BENCH_FRICTION;
	return apply(world, &command);
}

static void set(struct world *world, const char *name, double value)
{
	struct command command;
	command_defaults(&command, COMMAND_PARAMETER);
	snprintf(command.parameter.name.text, sizeof command.parameter.name.text, "%s", name);
	command.parameter.value = value;
	apply(world, &command);
}

static void set_parameters(struct world *world, const struct bench *b)
{
	char text[256], *rest = text;
	const char *given = getenv("CAIRN_SET");
	set(world, "sleep.enabled", b->sleep);
	snprintf(text, sizeof text, "%s", given != NULL ? given : "");
	for (char *pair; (pair = strtok_r(rest, " ", &rest)) != NULL;) {
		char *equals = strchr(pair, '=');
		if (equals == NULL)
			continue;
		*equals = '\0';
		set(world, pair, atof(equals + 1));
	}
}

static struct world *make_world(const struct bench *b)
{
	struct world_options options = world_options_default();
	struct world *world;
	struct reason why;
	options.shapes = (struct shape_source){ find_shape, NULL };
	options.limits.bodies = options.limits.placements = 1 << 18; /* 100 000 boxes, and more */
	options.limits.contacts = 1 << 21;
	snprintf(options.method, sizeof options.method, "%s", b->variant);
	expect_ok(world_create(&options, &world, &why), &why);
	set_parameters(world, b);
	return world;
}

static void make_ground(struct world *world, const struct bench *b)
{
	static const vec3 walls[] = { { 1, 0, 0 }, { -1, 0, 0 }, { 0, 0, 1 }, { 0, 0, -1 } };
	struct bench_vec origin = { 0, 0, 0 };
	shape_id ground = use_shape(world, make_plane(vec3_make(0, 1, 0), 0));
	spawn(world, BODY_STATIC, ground, 0, origin);
	for (uint32_t i = 0; i < COUNT_OF(walls) && b->kind == BENCH_SPHERES; i++) {
		shape_id wall = use_shape(world, make_plane(walls[i], -BENCH_CONTAINER));
		spawn(world, BODY_STATIC, wall, 0, origin);
	}
}

static struct bench_vec from(vec3 v)
{
	return (struct bench_vec){ v.x, v.y, v.z };
}

static void read_state(struct bench *b, const struct world *world, const body_id *bodies)
{
	struct reason why = { .text = "a body" };
	for (int i = 0; i < b->count; i++) {
		struct body_view view;
		expect_ok(world_body(world, bodies[i], &view), &why);
		b->position[i] = from(view.position);
		b->rotation[i] = (struct bench_quat){ view.rotation.w, view.rotation.x,
						      view.rotation.y, view.rotation.z };
		b->velocity[i] = from(view.velocity);
		b->spin[i] = from(view.angular_velocity);
	}
}

static void run(struct bench *b, struct world *world, const struct parallel *parallel,
		const body_id *bodies)
{
	struct reason why;
	for (int step = 0; step < b->steps; step++) {
		double begin = bench_now();
		expect_ok(world_step(world, parallel, &why), &why);
		b->ms[step] = bench_now() - begin;
		read_state(b, world, bodies);
		bench_sample(b, step);
	}
}

int main(int argc, char **argv)
{
	struct bench b;
	struct parallel_pool *pool;
	struct reason why = { .text = "workers" };
	bench_init(&b, "cairn", "soft-step", argc, argv);
	expect_ok(parallel_pool_create((uint32_t)b.threads, &pool), &why);
	struct world *world = make_world(&b);
	make_ground(world, &b);
	struct shape *shape = b.kind == BENCH_SPHERES
				      ? make_sphere(BENCH_RADIUS)
				      : make_box(BENCH_HALF, BENCH_HALF, BENCH_HALF);
	shape_id used = use_shape(world, shape);
	body_id *bodies = calloc((size_t)b.count, sizeof *bodies);
	if (bodies == NULL)
		return 1;
	for (int i = 0; i < b.count; i++)
		bodies[i] = spawn(world, BODY_DYNAMIC, used, b.mass[i], b.start[i]);
	run(&b, world, parallel_pool_parallel(pool), bodies);
	bench_report(&b);
	world_destroy(world);
	parallel_pool_destroy(pool);
	for (uint32_t i = 0; i < shape_count; i++)
		shape_release(shapes[i]);
	bench_release(&b);
	free(bodies);
	return 0;
}
