/* The lanes of soft-step equal the rows of the same constraints to float precision, in a heap of all
 * shapes: J, gaps, approach, masses coupling rows, friction and restitution. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/engine/dynamics/constraint.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/row_system.h"
#include "server/engine/methods/soft_step.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

enum { ROWS = 4 * MANIFOLD_POINTS_MAX + 4, POINTS = MANIFOLD_POINTS_MAX + 1 };

/* Rounding of a few float products of numbers of this size; arms have at most some metres. */
#define NEAR 4e-6

static struct stage stage;
static struct step step;
static struct soft_step soft;
static struct mass_body *masses;
static struct body_motion *motions;
static struct mass_operator mass;
static uint32_t lanes_seen, points_seen, slides_seen, rests_seen;

/* One contact as a constraint: its points, and behind them the centre at which soft-step has
 * friction. */
static struct contact_found found;
static struct contact_found_point points[POINTS];
static struct constraint_row rows[ROWS];
static struct row_block blocks[POINTS];
static struct row_part parts[2 * ROWS];
static struct row_list list;

static vec3 get3(const struct lane8x3 *eight, uint32_t lane)
{
	return vec3_make((double)eight->x.at[lane], (double)eight->y.at[lane],
			 (double)eight->z.at[lane]);
}

static void near3(const struct lane8x3 *eight, uint32_t lane, vec3 expected, double sign)
{
	double off = vec3_distance(get3(eight, lane), vec3_scale(expected, sign));
	ck_assert_double_le(off, NEAR * (1 + vec3_length(expected)));
}

static void near1(float lane, double expected, double size)
{
	ck_assert_double_le(fabs((double)lane - expected), NEAR * (size + fabs(expected)));
}

static uint32_t slot_of(uint32_t body)
{
	return step_takes_part(&step, body) ? stage.dynamics.bodies.items[body].slot : ROW_NO_BODY;
}

/* The rows of the contact in the lane, with its friction centre as the last point. */
static void state_rows(const struct soft_block *block, uint32_t lane)
{
	const struct contact_state *contact =
		soft_manifold(&soft.clusters, &step, block->contact[lane]);
	struct contact_material material =
		contact_material(&stage.dynamics, contact->a, contact->b);
	struct constraint_options options = { CONSTRAINT_VELOCITY, CONSTRAINT_PYRAMID, 0, NULL };
	found = (struct contact_found){ .a = dynamics_motion(&stage.dynamics, contact->body_a),
					.b = dynamics_motion(&stage.dynamics, contact->body_b),
					.normal = contact->normal,
					.points = points,
					.point_count = contact->point_count + 1u };
	for (uint32_t k = 0; k < 2; k++) {
		found.surface.static_friction[k] = material.static_friction;
		found.surface.dynamic_friction[k] = material.dynamic_friction;
	}
	found.surface.restitution = material.restitution;
	found.surface.twist_friction = 1;
	for (uint32_t p = 0; p < contact->point_count; p++) {
		const struct contact_point *from = &contact->points[p];
		points[p] = (struct contact_found_point){ from->arm_a, from->arm_b,
							  from->separation, from->feature };
	}
	points[contact->point_count] =
		(struct contact_found_point){ get3(&block->arm_a, lane), get3(&block->arm_b, lane),
					      0, 0 };
	struct constraint constraint = { &constraint_contact, slot_of(contact->body_a),
					 slot_of(contact->body_b), contact->row, &found };
	list = (struct row_list){ rows, blocks, parts, 0, 0, 0, ROWS, POINTS, 2 * ROWS };
	constraint_rows(&constraint, 1, NULL, &options, &list);
}

/* The row's part on the body of `slot`; NULL for the world, which has no part. */
static const struct spatial *part_on(const struct constraint_row *row, uint32_t slot)
{
	for (uint32_t k = 0; k < row->j.count; k++)
		if (row->j.parts[k].slot == slot)
			return &row->j.parts[k].on;
	return NULL;
}

static double coupling(const struct constraint_row *one, const struct constraint_row *other)
{
	struct spatial room[ROW_PARTS_MAX];
	struct mass_response response;
	mass_respond(&mass, other->j, room, &response);
	return mass_couple(&mass, one->j, &response);
}

static void check_point(const struct soft_block *block, uint32_t lane, uint32_t p)
{
	const struct soft_point *point = &block->points[p];
	const struct constraint_row *normal = &rows[blocks[p].first];
	uint32_t a = block->body_a[lane] - 1, b = block->body_b[lane] - 1;
	const struct spatial *on_a = part_on(normal, a), *on_b = part_on(normal, b);
	ck_assert(block->body_a[lane] == 0 || on_a != NULL);
	ck_assert(block->body_b[lane] == 0 || on_b != NULL);
	/* Lanes have arm × normal, whose sign is opposite on a. */
	if (block->body_a[lane] != 0)
		near3(&point->j_a, lane, on_a->angular, -1);
	if (block->body_b[lane] != 0)
		near3(&point->j_b, lane, on_b->angular, 1);
	near1(point->separation.at[lane], normal->gap, 0);
	near1(point->approach.at[lane], normal->approach, 100);
	double inverse = coupling(normal, normal);
	near1(point->mass.at[lane] * (float)inverse, inverse > 0 ? 1 : 0, 1);
	/* Bounds: positive and without an upper limit. */
	ck_assert_int_eq(normal->set, ROW_POSITIVE);
	ck_assert_double_eq(normal->upper, HUGE_VAL);
	points_seen++;
}

static void check_friction(const struct soft_block *block, uint32_t lane, uint32_t centre)
{
	const struct constraint_row *t = &rows[blocks[centre].first + 1];
	vec3 tangent = get3(&block->tangent, lane), t0, t1;
	row_frame(found.normal, &t0, &t1);
	double side = vec3_dot(tangent, t0) < 0 ? -1 : 1;
	/* The second tangent is normal × tangent; its sign changes with the sign of the normal. */
	double turned = vec3_dot(vec3_cross(found.normal, tangent), t1) < 0 ? -1 : 1;
	near3(&block->tangent, lane, t0, side);
	near3(&block->normal, lane, found.normal, 1);
	double k11 = coupling(&t[0], &t[0]), k22 = coupling(&t[1], &t[1]);
	double k12 = coupling(&t[0], &t[1]) * side * turned, det = k11 * k22 - k12 * k12;
	double spread = k11 * k22 / det;
	/* In a planar world one tangent leaves the plane; no body moves coupling it. */
	if (stage.tables.world.planar[0]) {
		uint32_t flat = fabs(t0.z) < 0.5 ? 0 : 1;
		near1(block->tangent_mass[flat].at[lane] * (float)(flat == 0 ? k11 : k22), 1, 1);
		ck_assert_double_eq(flat == 0 ? k22 : k11, 0);
		return;
	}
	near1(block->tangent_mass[0].at[lane] * (float)k11, k22 / det * k11, 4 * spread);
	near1(block->tangent_mass[1].at[lane] * (float)k22, k11 / det * k22, 4 * spread);
	near1(block->tangent_mass[2].at[lane] * (float)k11, -k12 / det * k11, 4 * spread);
}

static void check_shared(const struct soft_block *block, uint32_t lane, uint32_t centre)
{
	const struct constraint_row *t = &rows[blocks[centre].first + 1];
	double twist = coupling(&t[2], &t[2]);
	near1(block->twist_mass.at[lane] * (float)twist, twist > 0 ? 1 : 0, 1);
	double slip = hypot(t[0].approach, t[1].approach);
	bool slides = slip > 0.02, rests = slip + 2 * fabs(t[2].approach) < 0.005;
	if (slides)
		near1(block->friction.at[lane], t[1].dynamic_friction, 0);
	if (rests)
		near1(block->friction.at[lane], t[0].static_friction, 0);
	slides_seen += slides;
	rests_seen += rests;
	near1(hypotf(block->slip[0].at[lane], block->slip[1].at[lane]), slip, 100);
	near1(fabsf(block->spin_slip.at[lane]), fabs(t[2].approach), 100);
	near1(block->restitution.at[lane], blocks[centre].restitution, 0);
}

/* The step of soft-step up to its first sub-step, on the present scene; it is then abandoned. */
static void check_lanes(void)
{
	struct reason why;
	ck_assert_int_eq(step_begin(&step, &stage.dynamics, stage.dt, true, NULL, &why), STATUS_OK);
	struct collide_options options = collide_options_default(stage.dt);
	options.carry = CARRY_NORMALS;
	step_collide(&step, &step.contacts, 0, &options);
	step_wake_reached(&step, &options);
	step_number(&step);
	soft = (struct soft_step){ .kernels = soft_kernels_choose(),
				   .step = &step,
				   .dynamics = &stage.dynamics,
				   .dt = stage.dt,
				   .substeps = 4,
				   .contact_hertz = 30,
				   .contact_damping = 10 };
	soft_prepare_bodies(&soft);
	soft_clusters_make(&soft.clusters, &step, stage.dt);
	ck_assert_int_eq(soft_colour(&soft, NULL), STATUS_OK);
	soft_prepare_contacts(&soft);
	struct arena *scratch = &stage.dynamics.scratch;
	masses = ARENA_ARRAY(scratch, struct mass_body, step.body_count);
	motions = ARENA_ARRAY(scratch, struct body_motion, step.body_count);
	ck_assert(masses != NULL && motions != NULL);
	for (uint32_t slot = 0; slot < step.body_count; slot++)
		motions[slot] = dynamics_motion(&stage.dynamics, step.bodies[slot]);
	mass_bodies_from_tables(&stage.tables, step.bodies, step.body_count, motions, masses);
	mass = mass_operator_free(masses, step.body_count);
	for (uint32_t k = 0; k < soft.block_count; k++)
		for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
			const struct soft_block *block = &soft.blocks[k];
			if (block->contact[lane] == DYNAMICS_NONE)
				continue;
			state_rows(block, lane);
			for (uint32_t p = 0; p + 1 < found.point_count; p++)
				check_point(block, lane, p);
			check_friction(block, lane, found.point_count - 1);
			check_shared(block, lane, found.point_count - 1);
			lanes_seen++;
		}
	step_abandon(&step);
}

static void set_up(void)
{
	stage_init(&stage, "soft-step");
	lanes_seen = points_seen = slides_seen = rests_seen = 0;
}

static void tear_down(void)
{
	stage_release(&stage);
}

START_TEST(lanes_of_a_heap_of_all_shapes_equal_the_rows)
{
	stage_mixed(&stage, 40, check_seed());
	for (uint32_t i = 0; i < 10; i++) {
		stage_run(&stage, 12);
		check_lanes();
	}
	printf("# %u manifolds, %u points\n", lanes_seen, points_seen);
	ck_assert_uint_gt(lanes_seen, 300);
	ck_assert_uint_gt(points_seen, lanes_seen);
	ck_assert_uint_gt(slides_seen, 50);
	ck_assert_uint_gt(rests_seen, 5);
}
END_TEST

START_TEST(lanes_of_a_planar_heap_equal_the_rows)
{
	static const vec3 SQUARE[4] = {
		{ -0.5, -0.5, 0 }, { 0.5, -0.5, 0 }, { 0.5, 0.5, 0 }, { -0.5, 0.5, 0 }
	};
	static const vec3 FLOOR[4] = { { -9, -1, 0 }, { 9, -1, 0 }, { 9, 0, 0 }, { -9, 0, 0 } };
	stage.tables.world.planar[0] = 1;
	uint32_t square = stage_shape(&stage, make_polygon(SQUARE, 4, 0.02));
	uint32_t floor = stage_shape(&stage, make_polygon(FLOOR, 4, 0));
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC, .shape = floor });
	for (uint32_t i = 0; i < 12; i++)
		stage_add(&stage,
			  (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = square,
					       .position = { 0.3 * (i % 5), 1 + 1.1 * i, 0 } });
	for (uint32_t i = 0; i < 14; i++) {
		stage_run(&stage, 15);
		check_lanes();
	}
	ck_assert_uint_gt(lanes_seen, 60);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("soft_rows");
	TCase *tests = tcase_create("lanes and rows");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, lanes_of_a_heap_of_all_shapes_equal_the_rows);
	tcase_add_test(tests, lanes_of_a_planar_heap_equal_the_rows);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
