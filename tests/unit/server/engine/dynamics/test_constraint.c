/* Contacts as rows. Gaps, J, J'v and slip are compared with finite differences of gaps along the exact
 * motions, with the bias of contact_force, and with the rows of exchanged bodies. */
#include <math.h>

#include "server/base/rng.h"
#include "server/engine/dynamics/constraint.h"
#include "server/engine/dynamics/frame_rate.h"
#include "tests/lib/check_main.h"
#include "tests/lib/motions.h"
#include "tests/lib/poses.h"

enum { POINTS = 6, ROWS = 6 * POINTS, CASES = 200 };

static struct rng rng;
static struct contact_found found;
static struct contact_found_point points[POINTS];
static struct constraint constraint;
static struct constraint_row rows[ROWS];
static struct row_block blocks[POINTS];
static struct row_part parts[2 * ROWS];
static struct row_list list;
static struct constraint_options options;

static const enum contact_normal KINDS[] = { CONTACT_NORMAL_GIVEN, CONTACT_NORMAL_OF_A,
					     CONTACT_NORMAL_OF_B, CONTACT_NORMAL_OF_EDGES,
					     CONTACT_NORMAL_OF_CENTRES };
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

static void set_up(void)
{
	rng = rng_seeded(check_seed());
	options = (struct constraint_options){ CONSTRAINT_ACCELERATION, CONSTRAINT_PYRAMID, 1e-6,
					       NULL };
}

/* Makes a random contact with consistent geometry for the kind of its normal. */
static void make_found(enum contact_normal kind, double separation)
{
	found = (struct contact_found){ .a = random_motion(&rng),
					.b = random_motion(&rng),
					.normal_of = kind };
	found.normal = random_direction(&rng);
	vec3 place = random_vector(&rng, 2);
	if (kind == CONTACT_NORMAL_OF_EDGES) {
		do {
			found.edge_a = random_vector(&rng, 3);
			found.edge_b = random_vector(&rng, 3);
		} while (vec3_length(vec3_cross(found.edge_a, found.edge_b)) < 1);
		found.normal = vec3_normalize(vec3_cross(found.edge_a, found.edge_b));
		if (rng_below(&rng, 2) == 0)
			found.normal = vec3_negate(found.normal);
	}
	found.child_a = 3;
	found.child_b = 5;
	found.surface.static_friction[0] = found.surface.dynamic_friction[0] = 0.5;
	found.surface.static_friction[1] = found.surface.dynamic_friction[1] = 0.7;
	found.surface.restitution = 0.25;
	found.points = points;
	found.point_count = kind == CONTACT_NORMAL_OF_CENTRES ? 1 : 1 + rng_below(&rng, POINTS);
	for (uint32_t p = 0; p < found.point_count; p++) {
		points[p] = (struct contact_found_point){ vec3_sub(place, found.a.centre),
							  vec3_sub(place, found.b.centre),
							  separation, 7 + p };
		place = vec3_add(place, random_vector(&rng, 1));
	}
	if (kind == CONTACT_NORMAL_OF_CENTRES) {
		double back = rng_range(&rng, 0.2, 1), on = rng_range(&rng, 0.2, 1);
		found.ball_a = vec3_mul_sub(points[0].arm_a, found.normal, back);
		found.ball_b = vec3_mul_add(points[0].arm_b, found.normal, on);
	}
	constraint = (struct constraint){ &constraint_contact, 0, 1, 9, &found };
}

static void state_rows(const struct body_motion *motions)
{
	list = (struct row_list){ rows, blocks, parts, 0, 0, 0, ROWS, POINTS, 2 * ROWS };
	constraint_rows(&constraint, 1, motions, &options, &list);
}

/* Gaps of the first row of each block after `time`, from `motions`. */
static void gaps_after(const struct body_motion motions[2], double time, double gaps[POINTS])
{
	struct body_motion moved[2] = { after(motions[0], time), after(motions[1], time) };
	state_rows(moved);
	for (uint32_t k = 0; k < list.block_count; k++)
		gaps[k] = rows[blocks[k].first].gap;
}

static void expect_derivatives(const struct body_motion motions[2], bool at_found)
{
	/* Five-point differences: the error is of the fourth order in the step. Gaps of edges have the
	 * largest higher derivatives. */
	double gaps[5][POINTS], step = 2e-4;
	for (uint32_t i = 0; i < 5; i++)
		gaps_after(motions, (i - 2.0) * step, gaps[i]);
	state_rows(at_found ? NULL : motions);
	struct spatial velocities[2] = { { motions[0].velocity, motions[0].angular_velocity },
					 { motions[1].velocity, motions[1].angular_velocity } };
	for (uint32_t k = 0; k < list.block_count; k++) {
		const struct constraint_row *row = &rows[blocks[k].first];
		double outer = gaps[4][k] - gaps[0][k], inner = gaps[3][k] - gaps[1][k];
		double slope = (8 * inner - outer) / (12 * step);
		outer = gaps[4][k] + gaps[0][k];
		inner = gaps[3][k] + gaps[1][k];
		double bend = (16 * inner - outer - 30 * gaps[2][k]) / (12 * step * step);
		ck_assert_double_eq_tol(row->gap, gaps[2][k], 1e-13);
		ck_assert_double_eq_tol(row->approach, slope, 1e-8);
		ck_assert_double_eq_tol(jacobian_speed(row->j, velocities), row->approach, 1e-13);
		ck_assert_double_eq_tol(row->bias, bend, 1e-5);
	}
}

START_TEST(j_and_bias_are_the_derivatives_of_the_gap_at_any_motion)
{
	for (uint32_t i = 0; i < CASES; i++)
		for (uint32_t k = 0; k < KIND_COUNT; k++) {
			/* A given normal has rate 0 here: no motion of the bodies would show another. */
			make_found(KINDS[k], rng_range(&rng, -0.1, 0.1));
			struct body_motion motions[2] = { found.a, found.b };
			expect_derivatives(motions, true);
			expect_derivatives(motions, false);
			for (uint32_t body = 0; body < 2; body++) {
				vec3 shift = random_vector(&rng, 0.1),
				     turn = random_vector(&rng, 0.2);
				motions[body].centre = vec3_add(motions[body].centre, shift);
				motions[body].rotation = quat_mul(quat_from_rotation_vector(turn),
								  motions[body].rotation);
			}
			expect_derivatives(motions, false);
		}
}
END_TEST

static vec3 point_acceleration(const struct body_motion *motion, struct spatial acceleration,
			       vec3 arm)
{
	vec3 w = motion->angular_velocity;
	vec3 turning = vec3_cross(w, vec3_cross(w, arm));
	return vec3_add(vec3_add(acceleration.linear, vec3_cross(acceleration.angular, arm)),
			turning);
}

/* K2: b = (acceleration of b's point against a's)·axis + 2 (velocity)·axis', for touching points. */
static double book_bias(const struct contact_found_point *point,
			const struct spatial accelerations[2], vec3 axis, vec3 rate)
{
	vec3 a = vec3_sub(point_acceleration(&found.b, accelerations[1], point->arm_b),
			  point_acceleration(&found.a, accelerations[0], point->arm_a));
	vec3 u = vec3_sub(
		vec3_add(found.b.velocity, vec3_cross(found.b.angular_velocity, point->arm_b)),
		vec3_add(found.a.velocity, vec3_cross(found.a.angular_velocity, point->arm_a)));
	return vec3_dot(axis, a) + 2 * vec3_dot(u, rate);
}

START_TEST(acceleration_rows_are_the_books_bias)
{
	for (uint32_t i = 0; i < CASES; i++)
		for (uint32_t k = 0; k < 3; k++) {
			make_found(KINDS[k], 0);
			found.normal_rate = vec3_cross(found.normal, random_vector(&rng, 1));
			vec3 rate = found.normal_rate, t, s, t_rate, s_rate;
			if (KINDS[k] != CONTACT_NORMAL_GIVEN)
				rate = frame_rate_fixed(KINDS[k] == CONTACT_NORMAL_OF_A
								? found.a.angular_velocity
								: found.b.angular_velocity,
							found.normal);
			struct spatial accelerations[2];
			for (uint32_t body = 0; body < 2; body++) {
				accelerations[body].linear = random_vector(&rng, 1);
				accelerations[body].angular = random_vector(&rng, 1);
			}
			vec3 side = row_frame_side(found.normal);
			double sign = vec3_dot(side, found.normal);
			row_frame(found.normal, &t, &s);
			frame_rate_tangents(side, vec3_scale(rate, sign), &t_rate, &s_rate);
			state_rows(NULL);
			vec3 axes[3] = { found.normal, t, s }, rates[3] = { rate, t_rate, s_rate };
			for (uint32_t r = 0; r < 3 * found.point_count; r++) {
				double b = book_bias(&points[r / 3], accelerations, axes[r % 3],
						     rates[r % 3]);
				double speeds = jacobian_speed(rows[r].j, accelerations);
				ck_assert_double_eq_tol(rows[r].bias + speeds, b, 1e-12);
			}
		}
}
END_TEST

/* P-30: without forces two balls' centres, a distance d apart, part with |u across|²/d. */
START_TEST(the_gap_of_balls_accelerates_as_the_distance_of_their_centres)
{
	for (uint32_t i = 0; i < CASES; i++) {
		make_found(CONTACT_NORMAL_OF_CENTRES, 0);
		/* Balls: the centres are the mass centres. */
		double radius = rng_range(&rng, 0.2, 1);
		found.ball_a = found.ball_b = vec3_zero();
		points[0].arm_a = vec3_scale(found.normal, radius);
		points[0].arm_b = vec3_scale(found.normal, -0.5);
		found.b.centre = vec3_mul_add(found.a.centre, found.normal, radius + 0.5);
		vec3 u = vec3_sub(found.b.velocity, found.a.velocity);
		vec3 across = vec3_mul_sub(u, found.normal, vec3_dot(u, found.normal));
		state_rows(NULL);
		ck_assert_double_eq_tol(rows[0].bias, vec3_length_squared(across) / (radius + 0.5),
					1e-12);
	}
}
END_TEST

static struct contact_found exchanged(const struct contact_found *from,
				      struct contact_found_point *to_points)
{
	struct contact_found to = *from;
	to.a = from->b;
	to.b = from->a;
	to.normal = vec3_negate(from->normal);
	to.normal_rate = vec3_negate(from->normal_rate);
	to.normal_of = from->normal_of == CONTACT_NORMAL_OF_A	? CONTACT_NORMAL_OF_B
		       : from->normal_of == CONTACT_NORMAL_OF_B ? CONTACT_NORMAL_OF_A
								: from->normal_of;
	to.edge_a = from->edge_b;
	to.edge_b = from->edge_a;
	to.ball_a = from->ball_b;
	to.ball_b = from->ball_a;
	for (uint32_t p = 0; p < from->point_count; p++) {
		to_points[p] = from->points[p];
		to_points[p].arm_a = from->points[p].arm_b;
		to_points[p].arm_b = from->points[p].arm_a;
	}
	to.points = to_points;
	return to;
}

START_TEST(exchanging_the_bodies_keeps_the_axes_of_tangents)
{
	struct constraint_row other[ROWS];
	struct row_part kept[2 * ROWS];
	struct contact_found_point turned[POINTS];
	for (uint32_t i = 0; i < CASES; i++)
		for (uint32_t k = 0; k < KIND_COUNT; k++) {
			make_found(KINDS[k], 0.01);
			found.surface.twist_friction = 0.1;
			found.surface.rolling_friction = 0.2;
			found.normal_rate = vec3_cross(found.normal, random_vector(&rng, 1));
			struct contact_found back = exchanged(&found, turned);
			state_rows(NULL);
			uint32_t count = list.row_count;
			for (uint32_t r = 0; r < count; r++)
				other[r] = rows[r];
			for (uint32_t p = 0; p < list.part_count; p++)
				kept[p] = parts[p];
			constraint = (struct constraint){ &constraint_contact, 1, 0, 9, &back };
			state_rows(NULL);
			ck_assert_uint_eq(list.row_count, count);
			for (uint32_t r = 0; r < count; r++) {
				/* Exchange keeps the numbers of normal and twist rows. Tangents and
				 * rolling keep their axes, so their numbers change sign. */
				double sign = r % 6 == 0 || r % 6 == 3 ? 1 : -1;
				const struct row_part *was = kept + 2 * r, *is = rows[r].j.parts;
				ck_assert_uint_eq(was[0].slot, is[1].slot);
				ck_assert_double_le(
					vec3_distance(was[0].on.linear,
						      vec3_scale(is[1].on.linear, sign)),
					1e-14);
				ck_assert_double_le(
					vec3_distance(was[1].on.angular,
						      vec3_scale(is[0].on.angular, sign)),
					1e-13);
				ck_assert_double_eq_tol(other[r].approach, sign * rows[r].approach,
							1e-13);
				ck_assert_double_eq_tol(other[r].bias, sign * rows[r].bias, 1e-12);
				ck_assert_double_eq_tol(other[r].slip, sign * rows[r].slip, 1e-12);
				ck_assert_double_eq(other[r].gap, rows[r].gap);
			}
		}
}
END_TEST

START_TEST(tangents_of_a_normal_and_its_opposite_are_the_same_and_steady)
{
	for (uint32_t i = 0; i < CASES; i++) {
		vec3 n = random_direction(&rng), t[2], k[2];
		row_frame(n, &t[0], &k[0]);
		row_frame(vec3_negate(n), &t[1], &k[1]);
		ck_assert(vec3_equal(t[0], t[1]));
		ck_assert(vec3_equal(k[0], k[1]));
		ck_assert_double_le(fabs(vec3_dot(t[0], n)), 1e-15);
		ck_assert_double_eq_tol(fabs(vec3_triple(n, t[0], k[0])), 1, 1e-14);
		/* Rounding errors in a floor's normal do not rotate the tangents. */
		vec3 floor = vec3_normalize(vec3_make(rng_range(&rng, -1e-12, 1e-12), 1,
						      rng_range(&rng, -1e-9, -1e-10)));
		vec3 level[2];
		row_frame(vec3_make(1e-13, 1, -1e-9), &level[0], &level[1]);
		row_frame(floor, &t[0], &k[0]);
		ck_assert_double_ge(vec3_dot(t[0], level[0]), 0.99);
		ck_assert_double_ge(vec3_dot(k[0], level[1]), 0.99);
	}
}
END_TEST

START_TEST(sliding_friction_opposes_the_slip_with_the_coulomb_force)
{
	for (uint32_t i = 0; i < CASES; i++)
		for (uint32_t f = CONSTRAINT_PYRAMID; f <= CONSTRAINT_CONE; f++) {
			make_found(CONTACT_NORMAL_OF_A, 0);
			found.surface.velocity = random_vector(&rng, 1);
			options.friction = (enum constraint_friction)f;
			state_rows(NULL);
			double power = 0, size = 0;
			for (uint32_t k = 1; k <= 2; k++) {
				const struct constraint_row *row = &rows[k];
				double lambda = -row->slip * row->dynamic_friction;
				power += lambda * (row->approach - row->wanted);
				double part = lambda / row->dynamic_friction;
				size += part * part;
				ck_assert_uint_eq(row->of, 0);
				ck_assert_int_eq(row->set,
						 f == CONSTRAINT_CONE ? ROW_CONE : ROW_PYRAMID);
				if (f == CONSTRAINT_PYRAMID)
					ck_assert_double_eq(fabs(row->slip), 1);
			}
			ck_assert_double_lt(power, 0);
			if (f == CONSTRAINT_PYRAMID)
				continue;
			/* Of all forces on the border of the cone it has the greatest braking power. */
			ck_assert_double_eq_tol(size, 1, 1e-12);
			for (uint32_t turn = 0; turn < 64; turn++) {
				double c = cos(turn * 0.1), s = sin(turn * 0.1);
				double other = rows[1].dynamic_friction * c *
						       (rows[1].approach - rows[1].wanted) +
					       rows[2].dynamic_friction * s *
						       (rows[2].approach - rows[2].wanted);
				ck_assert_double_ge(other, power - 1e-12);
			}
		}
	found.b = found.a;
	found.surface.velocity = vec3_zero();
	for (uint32_t p = 0; p < found.point_count; p++)
		points[p].arm_b = points[p].arm_a;
	state_rows(NULL);
	ck_assert_double_eq(rows[1].slip, 0);
	ck_assert_double_eq(rows[2].slip, 0);
}
END_TEST

START_TEST(a_constraint_writes_the_counts_it_announced_and_no_part_for_the_world)
{
	for (uint32_t i = 0; i < CASES; i++)
		for (uint32_t f = CONSTRAINT_SMOOTH; f <= CONSTRAINT_CONE; f++) {
			make_found(KINDS[i % KIND_COUNT], 0.02);
			found.surface.twist_friction = i % 2;
			found.surface.rolling_friction = i % 3;
			options.friction = (enum constraint_friction)f;
			struct constraint_room room = constraint_room(&constraint, 1, &options);
			state_rows(NULL);
			ck_assert_uint_eq(list.row_count, room.rows);
			ck_assert_uint_eq(list.block_count, room.blocks);
			ck_assert_uint_eq(list.part_count, room.parts);
			for (uint32_t k = 0; k < list.block_count; k++) {
				ck_assert_uint_eq(blocks[k].key.child_a, 3);
				ck_assert_uint_eq(blocks[k].key.child_b, 5);
				ck_assert_uint_eq(blocks[k].key.feature, 7 + k);
				ck_assert_uint_eq(blocks[k].constraint, 0);
				ck_assert_double_eq(blocks[k].restitution, 0.25);
			}
			struct constraint_row first = rows[0];
			struct row_part part = parts[1];
			constraint.body_a = ROW_NO_BODY;
			found.a.velocity = found.a.angular_velocity = vec3_zero();
			state_rows(NULL);
			ck_assert_uint_eq(2 * list.part_count, room.parts);
			ck_assert_uint_eq(rows[0].j.count, 1);
			ck_assert_uint_eq(rows[0].j.parts[0].slot, 1);
			ck_assert(vec3_equal(rows[0].j.parts[0].on.angular, part.on.angular));
			ck_assert_double_eq(rows[0].gap, first.gap);
		}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("constraint");
	TCase *tests = tcase_create("contacts as rows");
	tcase_add_checked_fixture(tests, set_up, NULL);
	tcase_add_test(tests, j_and_bias_are_the_derivatives_of_the_gap_at_any_motion);
	tcase_add_test(tests, acceleration_rows_are_the_books_bias);
	tcase_add_test(tests, the_gap_of_balls_accelerates_as_the_distance_of_their_centres);
	tcase_add_test(tests, exchanging_the_bodies_keeps_the_axes_of_tangents);
	tcase_add_test(tests, tangents_of_a_normal_and_its_opposite_are_the_same_and_steady);
	tcase_add_test(tests, sliding_friction_opposes_the_slip_with_the_coulomb_force);
	tcase_add_test(tests,
		       a_constraint_writes_the_counts_it_announced_and_no_part_for_the_world);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
