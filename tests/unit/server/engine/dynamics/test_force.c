/* Gravity and drives as a list of forces. The sums, at the motions of the tables and at other motions,
 * equal sums written out here. */
#include "server/engine/dynamics/force.h"

#include <string.h>

#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage.h"

enum { BODIES = 12, DRIVES = 40 };

static struct rng rng;
static struct stage stage;
static struct force_list list;
static uint32_t rows[BODIES];
static struct body_motion motions[BODIES];
static struct force_sum sums[BODIES];

static void set_up(void)
{
	rng = rng_seeded(check_seed());
	stage_init(&stage, "soft-step");
	uint32_t shape = stage_shape(&stage, make_box(0.5, 0.3, 0.4));
	for (uint32_t i = 0; i < BODIES; i++) {
		struct stage_body body = { BODY_DYNAMIC, shape, .rotation = random_rotation(&rng) };
		body.position = vec3_make(5 * i, random_vector(&rng, 1).y, 0);
		body.mass = rng_range(&rng, 1, 9);
		body.status = i % 5 == 4 ? BODY_ANIMATED : BODY_DYNAMIC;
		rows[i] = stage_add(&stage, body);
		motions[i] = (struct body_motion){ random_vector(&rng, 3), random_rotation(&rng),
						   random_vector(&rng, 1), random_vector(&rng, 1) };
	}
	/* A negative zero keeps its sign. */
	stage.tables.world.gravity[0] = vec3_make(-0.0, -9.81, 0.25);
	ck_assert_int_eq(tables_reserve(&stage.tables, TABLE_DRIVE, DRIVES), STATUS_OK);
	for (uint32_t d = 0; d < DRIVES; d++) {
		uint32_t row = tables_append(&stage.tables, TABLE_DRIVE);
		struct drive_table *drive = &stage.tables.drive;
		drive->body[row] = rows[rng_below(&rng, BODIES)];
		/* The sizes differ so much that another order gives other sums. */
		double size = d % 3 == 0 ? 1e16 : d % 3 == 1 ? 1 : 1e-8;
		drive->force[row] = random_vector(&rng, size);
		drive->point[row] = random_vector(&rng, 1);
		drive->torque[row] = random_vector(&rng, size);
		drive->ticks[row] = d % 7 == 6 ? 0 : 1 + d;
	}
	force_list_init(&list, &stage.tables, stage.dynamics.shapes);
}

static void tear_down(void)
{
	stage_release(&stage);
}

/* The force and torque on a body by definition, in the order of the tables. */
static struct force_sum sum_forces(uint32_t body, quat rotation)
{
	const struct tables *tables = &stage.tables;
	struct force_sum sum = { vec3_zero(), vec3_zero(), vec3_zero() };
	bool any = false;
	if (tables->body.status[body] != BODY_DYNAMIC)
		return sum;
	vec3 gravity = tables->world.gravity[0];
	if (tables->world.planar[0])
		gravity.z = 0;
	sum.acceleration = gravity;
	for (uint32_t d = 0; d < tables->drive.count; d++) {
		if (tables->drive.body[d] != body || tables->drive.ticks[d] == 0)
			continue;
		vec3 arm = mat3_mul_vec(mat3_from_quat(rotation), tables->drive.point[d]);
		vec3 push = tables->drive.force[d];
		vec3 turn = vec3_add(tables->drive.torque[d], vec3_cross(arm, push));
		sum.force = any ? vec3_add(sum.force, push) : push;
		sum.torque = any ? vec3_add(sum.torque, turn) : turn;
		any = true;
	}
	if (!any) /* the first force is copied, because adding it to +0 would lose a −0 */
		sum.force = sum.torque = vec3_all(-0.0);
	return sum;
}

static void expect_same_bits(const struct force_sum *a, const struct force_sum *b)
{
	ck_assert_mem_eq(a, b, sizeof *a);
}

START_TEST(sums_are_those_of_the_tables_to_the_bit)
{
	for (uint32_t planar = 0; planar < 2; planar++)
		for (uint32_t moved = 0; moved < 2; moved++) {
			stage.tables.world.planar[0] = (uint8_t)planar;
			struct force_bodies all = { rows, moved ? motions : NULL, BODIES };
			memset(sums, 0xa5, sizeof sums);
			force_list_all(&list, &all, 0, sums);
			for (uint32_t i = 0; i < BODIES; i++) {
				quat rotation = moved ? motions[i].rotation
						      : stage.tables.body.rotation[rows[i]];
				struct force_sum sum = sum_forces(rows[i], rotation);
				expect_same_bits(&sums[i], &sum);
			}
		}
}
END_TEST

START_TEST(sums_for_some_bodies_equal_those_for_all)
{
	struct force_sum some[BODIES];
	uint32_t few[BODIES];
	struct force_bodies all = { rows, NULL, BODIES };
	force_list_all(&list, &all, 0, sums);
	for (uint32_t trial = 0; trial < 50; trial++) {
		uint32_t count = 0, from[BODIES];
		for (uint32_t i = 0; i < BODIES; i++)
			if (rng_below(&rng, 2) == 0) {
				from[count] = i;
				few[count++] = rows[i];
			}
		struct force_bodies part = { few, NULL, count };
		force_list_all(&list, &part, 0, some);
		for (uint32_t i = 0; i < count; i++)
			expect_same_bits(&some[i], &sums[from[i]]);
	}
}
END_TEST

/* A spring to the origin whose strength grows with time. */
static void spring_add(const struct force *self, uint32_t body, const struct force_state *state,
		       double time, struct force_sum *sum)
{
	const double *stiffness = self->context;
	UNUSED(body);
	sum->force = vec3_mul_sub(sum->force, state->centre, *stiffness * (1 + time));
	sum->torque = vec3_mul_sub(sum->torque, state->angular_velocity, 2);
}

START_TEST(a_force_gets_time_and_state)
{
	const double stiffness = 3;
	struct force_sum before[BODIES];
	struct force_bodies all = { rows, motions, BODIES };
	force_list_all(&list, &all, 0.5, before);
	force_list_push(&list, (struct force){ .add = spring_add, .context = &stiffness });
	force_list_all(&list, &all, 0.5, sums);
	for (uint32_t i = 0; i < BODIES; i++) {
		/* The spring is the last force of the list. */
		struct force_state state = force_state_of(&stage.tables, rows[i], &motions[i]);
		if (stage.tables.body.status[rows[i]] == BODY_DYNAMIC)
			spring_add(&(struct force){ .context = &stiffness }, rows[i], &state, 0.5,
				   &before[i]);
		expect_same_bits(&sums[i], &before[i]);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("force");
	TCase *tests = tcase_create("forces as a list");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, sums_are_those_of_the_tables_to_the_bit);
	tcase_add_test(tests, sums_for_some_bodies_equal_those_for_all);
	tcase_add_test(tests, a_force_gets_time_and_state);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
