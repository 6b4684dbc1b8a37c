/* See hall.h. */
#include "tests/lib/hall.h"

#include "server/base/hash.h"
#include "server/engine/collision/placed.h"

#include <stdlib.h>
#include <string.h>

static const double RADIUS = 0.3, HALF = 0.6;

static const struct shape *find(void *context, const uint8_t name[SHAPE_NAME_BYTES])
{
	const struct hall *hall = context;
	for (uint32_t i = 0; i < hall->shape_count; i++)
		if (memcmp(hall->shapes[i]->name, name, SHAPE_NAME_BYTES) == 0)
			return hall->shapes[i];
	return NULL;
}

void hall_open(struct hall *hall, const char *method)
{
	struct world_options options = test_options(false, method);
	*hall = (struct hall){ .shape_count = 0 };
	hall->source = options.shapes = (struct shape_source){ .context = hall, .find = find };
	hall->world = test_world_of(&options);
}

void hall_close(struct hall *hall)
{
	world_destroy(hall->world);
	for (uint32_t i = 0; i < hall->shape_count; i++)
		shape_release(hall->shapes[i]);
}

/* ---- bodies -------------------------------------------------------------------------------- */

static shape_id use_shape(struct hall *hall, struct shape *shape)
{
	struct command use = test_command(COMMAND_SHAPE_USE);
	if (hall->shape_count == HALL_SHAPES)
		abort();
	hash_sha256(shape->canonical, shape->canonical_bytes, shape->name);
	hall->shapes[hall->shape_count++] = shape;
	memcpy(use.shape_use.name.bytes, shape->name, SHAPE_NAME_BYTES);
	return test_do(hall->world, &use);
}

static body_id spawn(struct hall *hall, struct shape *shape, struct command *command, pose at)
{
	struct attachment item = { .shape = use_shape(hall, shape), .rotation = quat_identity() };
	command->spawn.shapes = (struct attachment_list){ &item, 1 };
	command->spawn.position = at.position;
	command->spawn.rotation = at.rotation;
	return test_do(hall->world, command);
}

body_id hall_static(struct hall *hall, struct shape *shape, pose at)
{
	struct command command = test_command(COMMAND_SPAWN);
	command.spawn.status = BODY_STATIC;
	return spawn(hall, shape, &command, at);
}

body_id hall_animated(struct hall *hall, struct shape *shape, pose at, vec3 velocity, vec3 spin)
{
	struct command command = test_command(COMMAND_SPAWN);
	command.spawn.status = BODY_ANIMATED;
	command.spawn.velocity = velocity;
	command.spawn.angular_velocity = spin;
	return spawn(hall, shape, &command, at);
}

body_id hall_dynamic(struct hall *hall, struct shape *shape, pose at, double mass, double friction)
{
	struct command command = test_command(COMMAND_SPAWN);
	command.spawn.mass = mass;
	command.spawn.static_friction = command.spawn.dynamic_friction = friction;
	return spawn(hall, shape, &command, at);
}

body_id hall_box(struct hall *hall, vec3 size, vec3 middle)
{
	struct shape *box = make_box(0.5 * size.x, 0.5 * size.y, 0.5 * size.z);
	return hall_static(hall, box, pose_make(middle, quat_identity()));
}

body_id hall_floor(struct hall *hall)
{
	return hall_static(hall, make_plane(vec3_make(0, 1, 0), 0), pose_identity());
}

/* ---- movers -------------------------------------------------------------------------------- */

struct command hall_mover_command(body_id body)
{
	struct command command = test_command(COMMAND_SET_MOVER);
	command.set_mover.body = body;
	return command;
}

body_id hall_mover(struct hall *hall, vec3 foot)
{
	struct command command = test_command(COMMAND_SPAWN);
	command.spawn.status = BODY_ANIMATED;
	command.spawn.mass = 80;
	foot.y += RADIUS + HALF;
	body_id body =
		spawn(hall, make_capsule(HALF, RADIUS), &command, pose_make(foot, quat_identity()));
	command = hall_mover_command(body);
	test_do(hall->world, &command);
	return body;
}

void hall_steer(struct hall *hall, body_id mover, vec3 velocity, double jump)
{
	struct command command = test_command(COMMAND_STEER);
	command.steer.body = mover;
	command.steer.velocity = velocity;
	command.steer.jump = jump;
	test_do(hall->world, &command);
}

struct mover_view hall_view(const struct hall *hall, body_id mover)
{
	struct mover_view view;
	if (!world_mover(hall->world, mover, &view))
		abort();
	return view;
}

pose hall_pose(const struct hall *hall, body_id body)
{
	struct body_view view = test_body(hall->world, body);
	return pose_make(view.position, view.rotation);
}

vec3 hall_foot(const struct hall *hall, body_id mover)
{
	vec3 p = hall_pose(hall, mover).position;
	return vec3_make(p.x, p.y - RADIUS - HALF, p.z);
}

/* ---- overlaps ------------------------------------------------------------------------------ */

double hall_overlap(const struct hall *hall, body_id body)
{
	struct placed_shape own, other;
	double depth = 0;
	uint32_t count = world_bodies(hall->world, NULL, 0);
	body_id *ids = calloc(count + 1, sizeof *ids);
	if (ids == NULL || world_placed(hall->world, body, &own, 1) != 1)
		abort();
	count = world_bodies(hall->world, ids, count);
	for (uint32_t i = 0; i < count; i++) {
		struct closest_pair pair;
		uint8_t status = test_body(hall->world, ids[i]).status;
		if (ids[i] == body || (status != BODY_STATIC && status != BODY_ANIMATED) ||
		    world_placed(hall->world, ids[i], &other, 1) != 1)
			continue;
		if (placed_closest(&other, 1, &own, 1, 0.01, &pair))
			depth = scalar_max(depth, -pair.distance);
	}
	free(ids);
	return depth;
}
