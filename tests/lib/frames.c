/* frames.c: see frames.h. */
#include "tests/lib/frames.h"

/* Places of a square's nine points in halves of its side, row by row, their masses in 36ths, and bars. */
const double FRAME_PLACES[3] = { -0.5, 0, 0.5 };
static const double FRAME_MASSES[3] = { 1, 4, 1 };
static const uint8_t FRAME_BAR_ENDS[FRAME_BARS][2] = { { 0, 1 }, { 1, 2 }, { 3, 4 }, { 4, 5 },
						       { 6, 7 }, { 7, 8 }, { 0, 3 }, { 3, 6 },
						       { 1, 4 }, { 4, 7 }, { 2, 5 }, { 5, 8 },
						       { 0, 4 }, { 1, 5 }, { 3, 7 }, { 4, 8 } };

void frame_set(struct world *world, const char *name, double value)
{
	struct command command = test_command(COMMAND_PARAMETER);
	command.parameter.name = test_text(name);
	command.parameter.value = value;
	test_do(world, &command);
}

body_id frame_put(struct world *world, enum test_shape shape, vec3 at, uint8_t status, double mass)
{
	struct attachment item;
	struct command command = test_spawn_command(world, shape, at, &item);
	command.spawn.status = status;
	command.spawn.mass = mass;
	command.spawn.static_friction = command.spawn.dynamic_friction = 0;
	command.spawn.restitution = 0;
	return test_do(world, &command);
}

void frame_bar(struct world *world, body_id a, body_id b)
{
	struct command bar = test_command(COMMAND_JOINT_CREATE);
	bar.joint_create.type = JOINT_DISTANCE;
	bar.joint_create.body_a = a;
	bar.joint_create.body_b = b;
	bar.joint_create.point_a = test_body(world, a).position;
	bar.joint_create.point_b = test_body(world, b).position;
	bar.joint_create.place = 1;
	test_do(world, &bar);
}

struct command frame_carry_command(body_id body, const body_id *points, uint32_t count)
{
	struct command carry = test_command(COMMAND_CARRY);
	int64_t *ids[4] = { &carry.carry.a, &carry.carry.b, &carry.carry.c, &carry.carry.d };
	carry.carry.body = body;
	for (uint32_t k = 0; k < count; k++)
		*ids[k] = points[k];
	return carry;
}

/* A square brick of 1 kg; `points`: the ids of the nine points that carry it, or NULL: it is rigid. */
body_id frame_brick(struct world *world, vec3 at, body_id *points)
{
	body_id brick = frame_put(world, TEST_POLYGON, at, BODY_DYNAMIC, 1);
	if (points == NULL)
		return brick;
	for (uint32_t i = 0; i < FRAME_POINTS; i++)
		points[i] = frame_put(
			world, TEST_SHAPES,
			vec3_make(at.x + FRAME_PLACES[i % 3], at.y + FRAME_PLACES[i / 3], 0),
			BODY_DYNAMIC, FRAME_MASSES[i % 3] * FRAME_MASSES[i / 3] / 36);
	for (uint32_t i = 0; i < FRAME_BARS; i++)
		frame_bar(world, points[FRAME_BAR_ENDS[i][0]], points[FRAME_BAR_ENDS[i][1]]);
	const body_id corners[4] = { points[0], points[2], points[6], points[8] };
	struct command carry = frame_carry_command(brick, corners, 4);
	test_do(world, &carry);
	return brick;
}

struct world *frame_world(void)
{
	struct world *world = test_world(true, "gauss");
	frame_set(world, "sleep.enabled", 0);
	for (int i = -12; i <= 12; i++)
		frame_put(world, TEST_POLYGON, vec3_make(i, -0.5, 0), BODY_STATIC, 1);
	return world;
}

/* Rows of one, two and three bricks; `points`: of each brick, or NULL: they are rigid. */
uint32_t frame_triangle(struct world *world, body_id (*points)[FRAME_POINTS], body_id *bricks)
{
	uint32_t count = 0;
	for (uint32_t row = 0; row < 3; row++)
		for (uint32_t i = 0; i <= row; i++) {
			vec3 at = vec3_make(1.002 * (i - 0.5 * row), row + 0.5, 0);
			bricks[count] =
				frame_brick(world, at, points != NULL ? points[count] : NULL);
			count++;
		}
	return count;
}
