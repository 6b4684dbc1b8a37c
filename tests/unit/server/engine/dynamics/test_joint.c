/* Joints as rows: gaps, J and J'v against finite differences along exact motions, ranks, the reactions
 * of the book's examples, coordinates against quaternions, projection, and motion of two free bodies. */
#include <math.h>
#include <string.h>

#include "server/base/rng.h"
#include "server/engine/dynamics/joint.h"
#include "tests/lib/check_main.h"
#include "tests/lib/eliminate.h"
#include "tests/lib/motions.h"
#include "tests/lib/poses.h"
#include "tests/lib/random_joint.h"

enum { CASES = 60, ROWS = JOINT_ROWS_MAX };

static struct rng rng;
static struct joint joint;
static struct body_motion motions[2];
static struct mass_body masses[2];
static struct constraint constraint;
static struct constraint_row rows[ROWS];
static struct row_block blocks[ROWS];
static struct row_part parts[2 * ROWS];
static struct row_list list;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
}

/* ---- making joints ---------------------------------------------------------------------------- */

/* A joint of the type with default axes; frames and anchors are those of the bodies. */
static void make_joint(enum joint_type type)
{
	joint = (struct joint){ .type = (uint8_t)type,
				.frame_a = quat_identity(),
				.frame_b = quat_identity(),
				.a = still(),
				.b = still() };
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		joint.axes[axis].mode = joint_axis_kind(type, axis).mode;
	constraint = (struct constraint){ &constraint_joint, 0, 1, 0, &joint };
}

static void make_any_joint(enum joint_type type)
{
	make_joint(type);
	random_joint_place(&rng, &joint);
}

static void randomize_axes(void)
{
	random_joint_axes(&rng, &joint);
}

/* Whether all angles are far from their singular values and the anchors are more than 0.5 m apart. */
static bool is_regular(void)
{
	mat3 a = world_frame(motions[0].rotation, joint.frame_a);
	mat3 b = world_frame(motions[1].rotation, joint.frame_b);
	double xx = vec3_dot(a.x, b.x), xy = vec3_dot(a.x, b.y), xz = vec3_dot(a.x, b.z);
	double yy = vec3_dot(a.y, b.y), yz = vec3_dot(a.y, b.z), zz = vec3_dot(a.z, b.z);
	double w = 0.5 * sqrt(fmax(0, 1 + xx + yy + zz));
	vec3 apart =
		vec3_sub(joint_anchor_b(&joint, &motions[1]), joint_anchor_a(&joint, &motions[0]));
	return fabs(xx) < 0.95 && yy > -0.95 && zz > -0.95 && fabs(xy) < 0.95 && fabs(xz) < 0.95 &&
	       fabs(yz) < 0.95 && w > 0.2 && vec3_length(apart) > 0.5;
}

/* Stores the present angles in the joint, so that no angle jumps by a turn. */
static void remember_angles(void)
{
	double q[JOINT_AXES];
	joint_coordinates(&joint, &motions[0], &motions[1], q);
	for (uint32_t k = 0; k < 3; k++)
		joint.angle[k] = q[3 + k];
}

static void move_anywhere(void)
{
	do {
		motions[0] = random_motion(&rng);
		motions[1] = random_motion(&rng);
	} while (!is_regular());
	remember_angles();
}

static void state_rows(enum constraint_level level, const struct body_motion *at)
{
	struct constraint_options options = { level, CONSTRAINT_CONE, 1e-6, NULL };
	list = (struct row_list){ rows, blocks, parts, 0, 0, 0, ROWS, ROWS, 2 * ROWS };
	constraint_rows(&constraint, 1, at, &options, &list);
}

/* The coordinate that the row measures. A locked or limited twist is measured by a sine of half the
 * angle; `far`: the twist is more than 2 rad off, where the row uses 2 rad. */
static double row_coordinate(const double q[JOINT_AXES], uint32_t place, bool *far)
{
	uint32_t axis = place / JOINT_PARTS, part = place % JOINT_PARTS;
	double bound = part == JOINT_UPPER ? joint.axes[3].upper : joint.axes[3].lower;
	bool twist = joint.type == JOINT_SPHERICAL && axis == 3 && part <= JOINT_UPPER;
	if (far != NULL)
		*far = twist && fabs(q[3] - bound) > 2;
	return twist ? bound + 2 * cos(q[4] / 2) * sin(fmin(fmax(q[3] - bound, -2), 2) / 2)
		     : q[axis];
}

/* ---- derivatives ------------------------------------------------------------------------------ */

/* Rates of each row's gap, approach and coordinate by five-point differences, of the fourth order in
 * the step. */
static void differences(const struct body_motion at[2], const uint8_t places[ROWS],
			double gaps[ROWS], double approaches[ROWS], double coordinates[ROWS],
			bool far[ROWS])
{
	static const double WEIGHTS[5] = { 1, -8, 0, 8, -1 };
	const double step = 2e-4;
	double q[JOINT_AXES];
	memset(gaps, 0, ROWS * sizeof *gaps);
	memset(approaches, 0, ROWS * sizeof *approaches);
	memset(coordinates, 0, ROWS * sizeof *coordinates);
	for (uint32_t k = 0; k < 5; k++) {
		struct body_motion moved[2] = { after(at[0], (k - 2.0) * step),
						after(at[1], (k - 2.0) * step) };
		double weight = WEIGHTS[k] / (12 * step);
		state_rows(CONSTRAINT_VELOCITY, moved);
		joint_coordinates(&joint, &moved[0], &moved[1], q);
		for (uint32_t i = 0; i < list.row_count; i++) {
			gaps[i] += weight * rows[i].gap;
			approaches[i] += weight * rows[i].approach;
			coordinates[i] += weight * row_coordinate(q, places[i], &far[i]);
		}
	}
}

static bool is_driven(const struct constraint_row *row, uint8_t place)
{
	uint32_t part = place % JOINT_PARTS;
	return part == JOINT_FRICTION ||
	       (part == JOINT_MOTOR &&
		joint.axes[place / JOINT_PARTS].motor == JOINT_MOTOR_VELOCITY && row->gap == 0);
}

/* The angular velocity of b relative to a about the axis across twist and swing. */
static double across_speed(void)
{
	mat3 a = mat3_from_quat(quat_mul(motions[0].rotation, joint.frame_a));
	mat3 b = mat3_from_quat(quat_mul(motions[1].rotation, joint.frame_b));
	vec3 twist = vec3_add(a.x, b.x), swing = vec3_cross(a.x, b.x);
	vec3 across = vec3_normalize(vec3_cross(swing, twist));
	return vec3_dot(across, vec3_sub(motions[1].angular_velocity, motions[0].angular_velocity));
}

static void expect_derivatives(void)
{
	double gaps[ROWS], approaches[ROWS], q[ROWS];
	bool far[ROWS];
	uint8_t places[ROWS];
	uint32_t count = joint_places(&joint, places);
	differences(motions, places, gaps, approaches, q, far);
	ck_assert_uint_eq(count, list.row_count);
	struct spatial v[2] = { { motions[0].velocity, motions[0].angular_velocity },
				{ motions[1].velocity, motions[1].angular_velocity } };
	state_rows(CONSTRAINT_ACCELERATION, motions);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t part = places[i] % JOINT_PARTS;
		double slope = gaps[i];
		if (far[i])
			continue;
		if (joint.type == JOINT_SPHERICAL && places[i] / JOINT_PARTS == 5)
			slope = across_speed();
		else if (is_driven(&rows[i], places[i]))
			slope = q[i];
		else if (blocks[0].key.feature != 0 || i >= blocks[0].count)
			ck_assert_double_eq_tol(part == JOINT_UPPER ? -gaps[i] : gaps[i], q[i],
						1e-8);
		ck_assert_double_eq_tol(jacobian_speed(rows[i].j, v), rows[i].approach, 1e-12);
		ck_assert_double_eq_tol(rows[i].approach, slope, 1e-8 * (1 + fabs(slope)));
		ck_assert_double_eq_tol(rows[i].bias, approaches[i],
					1e-7 * (1 + fabs(approaches[i])));
	}
}

START_TEST(j_and_bias_are_the_derivatives_of_the_gap)
{
	for (uint32_t i = 0; i < 4 * CASES; i++)
		for (uint32_t type = JOINT_SPHERICAL; type < JOINT_TYPES_END; type++) {
			make_any_joint((enum joint_type)type);
			randomize_axes();
			move_anywhere();
			expect_derivatives();
		}
}
END_TEST

START_TEST(j_is_the_gradient_of_the_gap_to_each_shift_and_turn)
{
	for (uint32_t i = 0; i < CASES; i++)
		for (uint32_t type = JOINT_SPHERICAL; type < JOINT_TYPES_END; type++) {
			make_any_joint((enum joint_type)type);
			randomize_axes();
			move_anywhere();
			for (uint32_t way = 0; way < 12; way++) {
				for (uint32_t body = 0; body < 2; body++)
					motions[body].velocity = motions[body].angular_velocity =
						vec3_zero();
				struct body_motion *moving = &motions[way / 6];
				vec3_set(way % 6 < 3 ? &moving->velocity
						     : &moving->angular_velocity,
					 way % 3, 1);
				expect_derivatives();
			}
		}
}
END_TEST

/* A higher level adds numbers and keeps those of the lower levels and J. Motions that are not given are
 * those of the joint's data. A row of a joint with the world has one part. */
START_TEST(levels_agree_and_the_world_has_no_row_part)
{
	static struct constraint_row kept[ROWS];
	static struct row_part kept_parts[2 * ROWS];
	for (uint32_t i = 0; i < CASES; i++)
		for (uint32_t type = JOINT_SPHERICAL; type < JOINT_TYPES_END; type++) {
			make_any_joint((enum joint_type)type);
			randomize_axes();
			move_anywhere();
			state_rows(CONSTRAINT_ACCELERATION, motions);
			uint32_t count = list.row_count;
			memcpy(kept, rows, sizeof kept);
			memcpy(kept_parts, parts, sizeof parts);
			joint.a = motions[0];
			joint.b = motions[1];
			for (uint32_t level = 0; level < 3; level++) {
				state_rows((enum constraint_level)level, NULL);
				ck_assert_uint_eq(list.row_count, count);
				for (uint32_t r = 0; r < count; r++) {
					ck_assert(rows[r].gap == kept[r].gap);
					ck_assert(rows[r].wanted == kept[r].wanted);
					ck_assert(rows[r].approach ==
						  (level > 0 ? kept[r].approach : 0));
					ck_assert(rows[r].bias == (level > 1 ? kept[r].bias : 0));
				}
				for (uint32_t k = 0; k < list.part_count; k++) {
					ck_assert_uint_eq(parts[k].slot, kept_parts[k].slot);
					ck_assert(memcmp(&parts[k].on, &kept_parts[k].on,
							 sizeof parts[k].on) == 0);
				}
			}
			constraint.body_a = ROW_NO_BODY;
			state_rows(CONSTRAINT_ACCELERATION, motions);
			for (uint32_t r = 0; r < count; r++) {
				ck_assert_uint_eq(rows[r].j.count, 1);
				ck_assert_uint_eq(rows[r].j.parts[0].slot, 1);
				ck_assert(rows[r].approach == kept[r].approach);
				ck_assert(rows[r].bias == kept[r].bias);
			}
		}
}
END_TEST

/* ---- the rows of a joint ---------------------------------------------------------------------- */

static void expect_part(const struct constraint_row *row, const struct joint_axis *axis,
			uint32_t part, double q)
{
	double limit = part == JOINT_SPRING  ? axis->spring_limit
		       : part == JOINT_MOTOR ? axis->motor_limit
					     : axis->friction;
	if (part == JOINT_MOTOR && limit == 0)
		limit = INFINITY;
	if (part <= JOINT_UPPER)
		ck_assert_int_eq(row->set, ROW_POSITIVE);
	else
		ck_assert_int_eq(row->set, limit > 0 ? ROW_BOX : ROW_FREE);
	if (row->set == ROW_BOX)
		ck_assert(row->lower == -limit && row->upper == limit);
	double gap = part == JOINT_HOLD						  ? q - axis->lower
		     : part == JOINT_UPPER					  ? axis->upper - q
		     : part == JOINT_SPRING					  ? q - axis->rest
		     : part == JOINT_MOTOR && axis->motor == JOINT_MOTOR_POSITION ? q - axis->target
										  : 0;
	ck_assert_double_eq_tol(row->gap, gap, 1e-14);
	ck_assert(row->wanted == (part == JOINT_MOTOR ? axis->rate : 0));
	ck_assert_int_eq(row->softness, part != JOINT_SPRING		     ? ROW_RIGID
					: axis->spring == JOINT_SPRING_HERTZ ? ROW_FREQUENCY
									     : ROW_SPRING);
}

START_TEST(blocks_and_places_name_the_same_rows)
{
	for (uint32_t i = 0; i < CASES; i++)
		for (uint32_t type = JOINT_SPHERICAL; type < JOINT_TYPES_END; type++) {
			uint8_t places[ROWS];
			double q[JOINT_AXES];
			make_any_joint((enum joint_type)type);
			randomize_axes();
			move_anywhere();
			struct constraint_options options = { CONSTRAINT_VELOCITY, 0, 0, NULL };
			struct constraint_room room = constraint_room(&constraint, 1, &options);
			uint32_t count = joint_places(&joint, places);
			state_rows(CONSTRAINT_VELOCITY, motions);
			joint_coordinates(&joint, &motions[0], &motions[1], q);
			ck_assert_uint_eq(room.rows, count);
			ck_assert_uint_eq(room.rows, list.row_count);
			ck_assert_uint_eq(room.blocks, list.block_count);
			ck_assert_uint_eq(room.parts, list.part_count);
			for (uint32_t k = 0; k < list.block_count; k++) {
				const struct row_block *block = &blocks[k];
				if (block->key.feature == 0) {
					ck_assert_uint_eq(k, 0);
					for (uint32_t r = 0; r < block->count; r++) {
						ck_assert_uint_eq(places[r] % JOINT_PARTS,
								  JOINT_HOLD);
						ck_assert_int_eq(rows[r].set, ROW_FREE);
						ck_assert(r == 0 || places[r] > places[r - 1]);
					}
					continue;
				}
				uint32_t place = places[block->first];
				bool across = type == JOINT_SPHERICAL && place / JOINT_PARTS == 5;
				const struct joint_axis *axis =
					&joint.axes[across ? 4 : place / JOINT_PARTS];
				ck_assert_uint_eq(block->count, 1);
				ck_assert_uint_eq(block->key.feature, 1 + place);
				ck_assert(k == 0 || block->key.feature > blocks[k - 1].key.feature);
				expect_part(&rows[block->first], axis, place % JOINT_PARTS,
					    row_coordinate(q, place, NULL));
				ck_assert(block->restitution == (place % JOINT_PARTS <= JOINT_UPPER
									 ? axis->restitution
									 : 0));
			}
		}
}
END_TEST

/* ---- motions that satisfy a joint ------------------------------------------------------------- */

static void make_masses(void)
{
	for (uint32_t body = 0; body < 2; body++)
		masses[body] = random_mass(&rng);
}

/* The masses of make_masses, rotated to the motions `at`. */
static void masses_at(const struct body_motion at[2], struct mass_body out[2])
{
	for (uint32_t body = 0; body < 2; body++)
		out[body] = mass_body_make(masses[body].mass.x, masses[body].mass_inv.x,
					   masses[body].inertia, masses[body].inertia_inv,
					   at[body].rotation, masses[body].locks);
}

/* Places body b so that the joint has the translation `along` and the relative rotation `turn`. */
static void place_b(vec3 along, quat turn)
{
	quat frame = quat_mul(motions[0].rotation, joint.frame_a);
	motions[1].rotation = quat_mul(quat_mul(frame, turn), quat_conjugate(joint.frame_b));
	vec3 anchor = vec3_add(joint_anchor_a(&joint, &motions[0]), quat_rotate(frame, along));
	motions[1].centre = vec3_sub(anchor, quat_rotate(motions[1].rotation, joint.point_b));
}

/* The rotation of three angles. The locked angles (a bit each) decide the order of the axes. */
static quat turn_by(const double q[JOINT_AXES])
{
	static const char ORDERS[8][4] = { "xyz", "yxz", "xyz", "xyz", "xzy", "xzy", "xyz", "xyz" };
	uint32_t locked = 0;
	quat turn = quat_identity();
	for (uint32_t k = 0; k < 3; k++)
		locked |= (uint32_t)(joint.axes[3 + k].mode == JOINT_LOCKED) << k;
	for (const char *axis = ORDERS[locked]; *axis != 0; axis++)
		turn = quat_mul(turn, turn_about((uint32_t)(*axis - 'x'), q[3 + *axis - 'x']));
	return turn;
}

/* Random motions that satisfy the joint, with free coordinates within ±`size`. */
static void satisfy_joint(double size)
{
	double q[JOINT_AXES] = { 0 };
	motions[0] = random_motion(&rng);
	motions[1] = random_motion(&rng);
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		if (joint.axes[axis].mode != JOINT_LOCKED)
			q[axis] = rng_range(&rng, -size, size);
	if (joint.type == JOINT_DISTANCE)
		q[0] = joint.axes[0].rest;
	place_b(vec3_make(q[0], q[1], q[2]), turn_by(q));
}

static const enum joint_type BOOK[6] = { JOINT_SPHERICAL,   JOINT_UNIVERSAL, JOINT_REVOLUTE,
					 JOINT_CYLINDRICAL, JOINT_PRISMATIC, JOINT_FIXED };
static const uint32_t REMOVES[6] = { 3, 4, 5, 4, 5, 6 };

/* The reaction of the locked axes on body b: of all rows, and of the angular rows alone. */
struct reaction {
	struct spatial on_b, about_b;
};

static uint32_t accelerate(const struct body_motion at[2], const struct spatial forces[2],
			   struct spatial out[2], struct reaction *reaction)
{
	struct mass_body turned[2];
	masses_at(at, turned);
	struct mass_operator mass = mass_operator_free(turned, 2);
	struct spatial v[2] = { { at[0].velocity, at[0].angular_velocity },
				{ at[1].velocity, at[1].angular_velocity } };
	struct spatial response[6][2] = { 0 };
	double g[36], lambda[6] = { 0 };
	mass_accelerate(&mass, forces, v, out);
	state_rows(CONSTRAINT_ACCELERATION, at);
	uint32_t n = list.row_count;
	ck_assert_uint_le(n, 6);
	for (uint32_t i = 0; i < n; i++) {
		struct spatial push[2] = { spatial_zero(), spatial_zero() };
		jacobian_push(rows[i].j, 1, push);
		mass_accelerate(&mass, push, NULL, response[i]);
		lambda[i] = -jacobian_speed(rows[i].j, out) - rows[i].bias;
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			g[i * n + j] = jacobian_speed(rows[i].j, response[j]);
	uint32_t rank = eliminate(n, g, lambda, 1e-10);
	*reaction = (struct reaction){ spatial_zero(), spatial_zero() };
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t body = 0; body < 2; body++)
			out[body] = spatial_mul_add(out[body], response[i][body], lambda[i]);
		struct spatial on = rows[i].j.parts[rows[i].j.count - 1].on;
		reaction->on_b = spatial_mul_add(reaction->on_b, on, lambda[i]);
		if (vec3_length(on.linear) == 0)
			reaction->about_b = spatial_mul_add(reaction->about_b, on, lambda[i]);
	}
	return rank;
}

START_TEST(a_joint_removes_the_books_number_of_freedoms)
{
	for (uint32_t i = 0; i < CASES; i++)
		for (uint32_t k = 0; k < 6; k++) {
			struct spatial forces[2] = { spatial_zero(), spatial_zero() }, out[2];
			struct reaction reaction;
			make_any_joint(BOOK[k]);
			make_masses();
			satisfy_joint(3);
			ck_assert_uint_eq(accelerate(motions, forces, out, &reaction), REMOVES[k]);
			ck_assert_uint_eq(list.row_count, REMOVES[k]);
			for (uint32_t r = 0; r < list.row_count; r++)
				ck_assert_double_eq_tol(rows[r].gap, 0, 1e-13);
		}
}
END_TEST

/* ---- the book's static examples --------------------------------------------------------------- */

static void expect_vector(vec3 value, double x, double y, double z, double tolerance)
{
	ck_assert_double_eq_tol(value.x, x, tolerance);
	ck_assert_double_eq_tol(value.y, y, tolerance);
	ck_assert_double_eq_tol(value.z, z, tolerance);
}

static void set_mass(uint32_t body, double mass, double moment)
{
	masses[body] = mass_body_make(mass, 1 / mass, sym3_diagonal(vec3_all(moment)),
				      sym3_diagonal(vec3_all(1 / moment)), quat_identity(), 0);
}

/* A joint of body b with the world's origin, at the point `arm` from b's centre; x of the joint along
 * `axis`. */
static void hang(enum joint_type type, vec3 arm, uint32_t axis, double mass, double moment)
{
	make_joint(type);
	constraint.body_a = ROW_NO_BODY;
	joint.point_b = arm;
	joint.frame_a = quat_between(vec3_axis(0), vec3_axis(axis));
	joint.frame_b = joint.frame_a;
	set_mass(0, 1, 1);
	set_mass(1, mass, moment);
	motions[0] = motions[1] = still();
	motions[1].centre = vec3_negate(arm);
	joint.a = joint.b = still();
}

static struct reaction pull(vec3 force, vec3 torque, struct spatial *out)
{
	struct spatial forces[2] = { spatial_zero(), { force, torque } }, both[2];
	struct reaction reaction;
	accelerate(motions, forces, both, &reaction);
	*out = both[1];
	return reaction;
}

START_TEST(single_bodies_have_the_books_reactions)
{
	struct spatial a;
	hang(JOINT_SPHERICAL, vec3_make(-1, 0, 0), 0, 1, 0.1); /* J1 */
	struct reaction r = pull(vec3_make(0, -9.81, 0), vec3_zero(), &a);
	expect_vector(r.on_b.linear, 0, 9.81 - 9.81 / 1.1, 0, 1e-12);
	expect_vector(a.angular, 0, 0, -9.81 / 1.1, 1e-12);

	hang(JOINT_REVOLUTE, vec3_make(-0.5, 0, 0), 2, 1, 1.0 / 6); /* J3 */
	r = pull(vec3_make(0, -9.81, 0), vec3_zero(), &a);
	expect_vector(r.on_b.linear, 0, 3.924, 0, 1e-12);
	expect_vector(a.angular, 0, 0, -11.772, 1e-12);
	r = pull(vec3_make(0, 0, -9.81), vec3_zero(), &a);
	expect_vector(r.on_b.linear, 0, 0, 9.81, 1e-12);
	expect_vector(r.about_b.angular, 0, -4.905, 0, 1e-12);
	expect_vector(a.angular, 0, 0, 0, 1e-12);

	hang(JOINT_CYLINDRICAL, vec3_make(-0.5, 0, 0), 2, 1, 0.5); /* J4; its centre on the axis */
	joint.point_b = vec3_zero();
	motions[1].centre = vec3_make(0, 0, 0.7);
	r = pull(vec3_make(3, 0, -9.81), vec3_make(0, 0, 2), &a);
	expect_vector(a.linear, 0, 0, -9.81, 1e-12);
	expect_vector(r.on_b.linear, -3, 0, 0, 1e-12);
	expect_vector(a.angular, 0, 0, 4, 1e-12);

	hang(JOINT_PRISMATIC, vec3_make(-0.5, 0.3, 0.2), 0, 1, 0.5); /* J5 */
	motions[1].centre.x += 0.8;
	r = pull(vec3_make(2, -9.81, 0), vec3_zero(), &a);
	expect_vector(a.linear, 2, 0, 0, 1e-12);
	expect_vector(a.angular, 0, 0, 0, 1e-12);
	expect_vector(r.on_b.linear, 0, 9.81, 0, 1e-12);
}
END_TEST

START_TEST(pairs_have_the_books_reactions)
{
	struct reaction r;
	struct spatial a[2], forces[2] = { { vec3_zero(), vec3_make(0, 0, 4) }, spatial_zero() };
	make_joint(JOINT_UNIVERSAL); /* J2: x of a and y of b */
	motions[0] = motions[1] = still();
	set_mass(0, 1, 1);
	set_mass(1, 1, 3);
	accelerate(motions, forces, a, &r);
	expect_vector(a[0].angular, 0, 0, 1, 1e-12);
	expect_vector(a[1].angular, 0, 0, 1, 1e-12);
	forces[0].angular = vec3_make(4, 0, 0);
	accelerate(motions, forces, a, &r);
	expect_vector(a[0].angular, 4, 0, 0, 1e-12);
	expect_vector(a[1].angular, 0, 0, 0, 1e-12);

	make_joint(JOINT_FIXED); /* J6 */
	joint.point_a = vec3_make(0.5, 0, 0);
	joint.point_b = vec3_make(-0.5, 0, 0);
	motions[1].centre = vec3_make(1, 0, 0);
	set_mass(0, 1, 1.0 / 6);
	set_mass(1, 2, 2.0 / 6);
	forces[0] = (struct spatial){ vec3_make(6, 0, 0), vec3_zero() };
	accelerate(motions, forces, a, &r);
	expect_vector(a[0].linear, 2, 0, 0, 1e-12);
	expect_vector(a[1].linear, 2, 0, 0, 1e-12);
	expect_vector(r.on_b.linear, 4, 0, 0, 1e-12);
	set_mass(1, 1, 1.0 / 6);
	forces[0].linear = vec3_make(0, 6, 0);
	accelerate(motions, forces, a, &r);
	expect_vector(a[0].linear, 0, 4.8, 0, 1e-12);
	expect_vector(a[1].linear, 0, 1.2, 0, 1e-12);
	expect_vector(a[0].angular, 0, 0, -3.6, 1e-12);
	expect_vector(a[1].angular, 0, 0, -3.6, 1e-12);
}
END_TEST

/* ---- coordinates ------------------------------------------------------------------------------ */

START_TEST(coordinates_reproduce_the_relative_frame)
{
	for (uint32_t i = 0; i < 4 * CASES; i++)
		for (uint32_t type = JOINT_REVOLUTE; type < JOINT_TYPES_END; type++) {
			double q[JOINT_AXES];
			bool about = type != JOINT_DISTANCE && type != JOINT_DRAG;
			make_any_joint((enum joint_type)type);
			for (uint32_t k = 3; k < JOINT_AXES && type == JOINT_SIX_DOF; k++)
				joint.axes[k].mode = (uint8_t)rng_below(&rng, 2);
			move_anywhere();
			joint_coordinates(&joint, &motions[0], &motions[1], q);
			mat3 a = world_frame(motions[0].rotation, joint.frame_a);
			mat3 b = world_frame(motions[1].rotation, joint.frame_b);
			vec3 d = vec3_sub(joint_anchor_b(&joint, &motions[1]),
					  joint_anchor_a(&joint, &motions[0]));
			if (type == JOINT_DISTANCE)
				expect_vector(vec3_make(q[0], q[1], q[2]), vec3_length(d), 0, 0,
					      1e-13);
			else
				expect_vector(mat3_mul_vec(a, vec3_make(q[0], q[1], q[2])), d.x,
					      d.y, d.z, 1e-13);
			mat3 turn = about ? mat3_from_quat(turn_by(q)) : mat3_transposed_mul(a, b);
			mat3 to = mat3_mul(a, turn);
			expect_vector(to.x, b.x.x, b.x.y, b.x.z, 1e-13);
			expect_vector(to.y, b.y.x, b.y.y, b.y.z, 1e-13);
			expect_vector(to.z, b.z.x, b.z.y, b.z.z, 1e-13);
			for (uint32_t k = 3; k < JOINT_AXES && !about; k++)
				ck_assert(q[k] == 0);
		}
}
END_TEST

/* Any rotation is a twist about x followed by a swing about an axis across x. */
START_TEST(twist_and_swing_are_those_of_the_quaternion)
{
	for (uint32_t i = 0; i < 10 * CASES; i++) {
		double twist = rng_range(&rng, -3.1, 3.1), swing = rng_range(&rng, 0, 3.1);
		double q[JOINT_AXES], way = rng_range(&rng, -3.1, 3.1);
		make_any_joint(JOINT_SPHERICAL);
		motions[0] = random_motion(&rng);
		motions[1] = random_motion(&rng);
		quat lean = quat_from_axis_angle(vec3_make(0, cos(way), sin(way)), swing);
		place_b(vec3_zero(), quat_mul(lean, turn_about(0, twist)));
		joint_coordinates(&joint, &motions[0], &motions[1], q);
		expect_vector(vec3_make(q[0], q[1], q[2]), 0, 0, 0, 1e-13);
		ck_assert_double_eq_tol(q[3], twist, 1e-12);
		ck_assert_double_eq_tol(q[4], swing, 1e-12);
		ck_assert(q[5] == 0);
	}
}
END_TEST

START_TEST(whole_turns_are_counted)
{
	static const struct {
		enum joint_type type;
		uint32_t axis, beside; /* turning, and free at any angle */
	} TURNING[] = { { JOINT_REVOLUTE, 3, 3 },  { JOINT_CYLINDRICAL, 3, 3 },
			{ JOINT_UNIVERSAL, 3, 4 }, { JOINT_UNIVERSAL, 4, 3 },
			{ JOINT_WHEEL, 5, 3 },	   { JOINT_WHEEL, 3, 5 },
			{ JOINT_SPHERICAL, 3, 3 }, { JOINT_SIX_DOF, 3, 3 },
			{ JOINT_SIX_DOF, 4, 4 },   { JOINT_SIX_DOF, 5, 5 },
			{ JOINT_SIX_DOF, 4, 5 },   { JOINT_SIX_DOF, 5, 4 } };
	for (uint32_t k = 0; k < sizeof TURNING / sizeof *TURNING; k++)
		for (uint32_t way = 0; way < 2; way++) {
			uint32_t axis = TURNING[k].axis;
			make_any_joint(TURNING[k].type);
			joint.axes[TURNING[k].beside].mode = JOINT_FREE;
			joint.axes[axis].mode = JOINT_LIMITED;
			joint.axes[axis].lower = joint.axes[axis].upper = way ? -15.5 : 15.5;
			joint.axes[axis].upper += 1;
			motions[0] = random_motion(&rng);
			motions[1] = random_motion(&rng);
			double angle = 0, q[JOINT_AXES], to[JOINT_AXES] = { 0 };
			to[TURNING[k].beside] = rng_range(&rng, -3, 3);
			for (uint32_t i = 0; i < 200; i++) {
				to[axis] = angle += (way ? -1 : 1) * rng_range(&rng, 0, 0.8);
				place_b(vec3_zero(), turn_by(to));
				joint_coordinates(&joint, &motions[0], &motions[1], q);
				ck_assert_double_eq_tol(q[axis], angle, 1e-11);
				state_rows(CONSTRAINT_POSITION, motions);
				const struct constraint_row *lower = &rows[list.row_count - 2];
				double at =
					row_coordinate(q, JOINT_PARTS * axis + JOINT_HOLD, NULL);
				ck_assert_double_eq_tol(lower->gap, at - joint.axes[axis].lower,
							1e-11);
				joint.angle[axis - 3] = q[axis];
			}
			ck_assert_double_gt(fabs(angle), 6 * PI);
		}
}
END_TEST

/* ---- errors and projection -------------------------------------------------------------------- */

/* The momentum of both bodies about the world's origin. */
static struct spatial momentum(const struct body_motion at[2])
{
	struct mass_body turned[2];
	struct spatial sum = spatial_zero();
	masses_at(at, turned);
	for (uint32_t body = 0; body < 2; body++)
		sum = spatial_mul_add(sum, momentum_of(&turned[body], &at[body]), 1);
	return sum;
}

static double kinetic_energy(const struct body_motion at[2])
{
	struct mass_body turned[2];
	double sum = 0;
	masses_at(at, turned);
	for (uint32_t body = 0; body < 2; body++)
		sum += kinetic_energy_of(&turned[body], &at[body]);
	return sum;
}

static struct joint_error project(void)
{
	struct mass_body turned[2];
	masses_at(motions, turned);
	return joint_project(&joint, turned, &motions[0], &motions[1]);
}

static void expect_same(struct spatial a, struct spatial b, double tolerance)
{
	expect_vector(a.linear, b.linear.x, b.linear.y, b.linear.z, tolerance);
	expect_vector(a.angular, b.angular.x, b.angular.y, b.angular.z, tolerance);
}

static void expect_small(struct joint_error error, double tolerance)
{
	ck_assert_double_lt(error.along, tolerance);
	ck_assert_double_lt(error.about, tolerance);
	ck_assert_double_lt(error.along_speed, tolerance);
	ck_assert_double_lt(error.about_speed, tolerance);
}

START_TEST(projection_satisfies_the_joint_and_keeps_momentum)
{
	for (uint32_t i = 0; i < 4 * CASES; i++)
		for (uint32_t type = JOINT_SPHERICAL; type < JOINT_TYPES_END; type++) {
			make_any_joint((enum joint_type)type);
			for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
				if (type != JOINT_SIX_DOF && type != JOINT_DISTANCE &&
				    joint_axis_kind((enum joint_type)type, axis).settable) {
					random_joint_axis(
						&rng, &joint.axes[axis],
						joint_axis_kind((enum joint_type)type, axis)
							.limits);
				}
			make_masses();
			motions[0] = random_motion(&rng);
			motions[1] = random_motion(&rng);
			remember_angles();
			for (uint32_t k = 0; k < 3; k++)
				joint.angle[k] = 0;
			struct joint_error before = joint_error(&joint, &motions[0], &motions[1]);
			ck_assert_double_le(before.about, PI + 3);
			expect_small(project(), 1e-12);
			/* Now only velocities violate the joint. */
			for (uint32_t body = 0; body < 2; body++) {
				motions[body].velocity = random_vector(&rng, 1);
				motions[body].angular_velocity = random_vector(&rng, 1);
			}
			struct spatial kept = momentum(motions);
			double energy = kinetic_energy(motions);
			expect_small(project(), 1e-12);
			expect_same(momentum(motions), kept, 1e-11);
			ck_assert_double_le(kinetic_energy(motions), energy + 1e-12);
		}
}
END_TEST

/* Frames turned by quarter and half turns, planar worlds and bodies without freedom. Rows that no body
 * can move for are skipped. */
START_TEST(projection_succeeds_from_singular_places)
{
	for (uint32_t k = 0; k < 6; k++)
		for (uint32_t axis = 0; axis < 3; axis++)
			for (uint32_t turns = 0; turns < 9; turns++) {
				make_any_joint(BOOK[k]);
				make_masses();
				motions[0] = random_motion(&rng);
				motions[1] = random_motion(&rng);
				double off = turns < 3 ? 0 : (turns - 6.0) * 1e-9;
				place_b(random_vector(&rng, 1),
					turn_about(axis, (1 + turns % 3) * HALF_PI + off));
				if (turns == 8) /* body a is fixed */
					masses[0] = (struct mass_body){ .locks = 63 };
				expect_small(project(), 1e-12);
			}
	/* A hinge across the plane of a planar world, where three of its rows move nothing. */
	make_joint(JOINT_REVOLUTE);
	joint.frame_a = joint.frame_b = quat_between(vec3_axis(0), vec3_axis(2));
	joint.point_a = vec3_make(0.3, 0.2, 0);
	joint.point_b = vec3_make(-0.1, 0.5, 0);
	make_masses();
	masses[0].locks = masses[1].locks = MASS_LOCK_PLANAR;
	motions[0] = motions[1] = still();
	motions[1].centre = vec3_make(2, 1, 0);
	motions[1].velocity = vec3_make(1, 2, 0);
	motions[1].angular_velocity = vec3_make(0, 0, 3);
	expect_small(project(), 1e-12);
	ck_assert(motions[0].centre.z == 0 && motions[1].centre.z == 0);
	/* Two fixed bodies: the remaining error is reported. */
	masses[0] = masses[1] = (struct mass_body){ .locks = 63 };
	motions[1].centre.x += 1;
	struct joint_error error = joint_project(&joint, masses, &motions[0], &motions[1]);
	ck_assert_double_ge(error.along, sqrt(0.5) - 1e-12); /* the greater of two components */
	ck_assert_double_le(error.along, 1);
	ck_assert_uint_lt(error.axis, 3);
}
END_TEST

START_TEST(an_error_is_the_largest_violation_of_an_axis)
{
	for (uint32_t i = 0; i < CASES; i++) {
		double lean = rng_range(&rng, 0, 3), along = rng_range(&rng, -1, 1);
		make_any_joint(JOINT_CYLINDRICAL);
		joint.axes[0].mode = JOINT_LIMITED;
		joint.axes[0].lower = -0.5;
		joint.axes[0].upper = 0.5;
		motions[0] = random_motion(&rng);
		motions[1] = random_motion(&rng);
		place_b(vec3_make(along, 0.25, 0), turn_about(1, lean));
		motions[0].velocity = motions[0].angular_velocity = vec3_zero();
		motions[1].angular_velocity = vec3_zero();
		vec3 x = world_frame(motions[0].rotation, joint.frame_a).x;
		motions[1].velocity = vec3_scale(x, along);
		struct joint_error error = joint_error(&joint, &motions[0], &motions[1]);
		double passed = fabs(along) - 0.5;
		ck_assert_double_eq_tol(error.along, fmax(0.25, passed), 1e-13);
		ck_assert_double_eq_tol(error.about, lean, 1e-13);
		ck_assert_double_eq_tol(error.along_speed, passed > 0 ? fabs(along) : 0, 1e-13);
		ck_assert_double_eq_tol(error.about_speed, 0, 1e-13);
		ck_assert_uint_eq(error.axis, lean > fmax(0.25, passed) ? 4
					      : passed > 0.25		? 0
									: 1);
	}
}
END_TEST

/* ---- two free bodies -------------------------------------------------------------------------- */

struct rates {
	vec3 velocity[2];
	quat turning[2];
	struct spatial acceleration[2];
};

static struct rates rates_at(const struct body_motion at[2])
{
	struct spatial forces[2] = { spatial_zero(), spatial_zero() };
	struct reaction reaction;
	struct rates rates;
	accelerate(at, forces, rates.acceleration, &reaction);
	for (uint32_t body = 0; body < 2; body++) {
		rates.velocity[body] = at[body].velocity;
		rates.turning[body] = quat_derivative(at[body].rotation, at[body].angular_velocity);
	}
	return rates;
}

static void advance(struct body_motion at[2], const struct rates *rates, double time)
{
	for (uint32_t body = 0; body < 2; body++) {
		struct body_motion *m = &at[body];
		m->centre = vec3_mul_add(m->centre, rates->velocity[body], time);
		m->rotation = quat_add(m->rotation, quat_scale(rates->turning[body], time));
		m->velocity = vec3_mul_add(m->velocity, rates->acceleration[body].linear, time);
		m->angular_velocity =
			vec3_mul_add(m->angular_velocity, rates->acceleration[body].angular, time);
	}
}

/* One Runge–Kutta step of the fourth order. */
static void step(double time)
{
	static const double AT[4] = { 0, 0.5, 0.5, 1 }, WEIGHT[4] = { 1, 2, 2, 1 };
	struct body_motion from[2], to[2];
	struct rates rates;
	memcpy(from, motions, sizeof from);
	memcpy(to, motions, sizeof to);
	for (uint32_t k = 0; k < 4; k++) {
		struct body_motion at[2];
		memcpy(at, from, sizeof at);
		if (k > 0)
			advance(at, &rates, AT[k] * time);
		for (uint32_t body = 0; body < 2; body++)
			at[body].rotation = quat_normalize(at[body].rotation);
		rates = rates_at(at);
		advance(to, &rates, WEIGHT[k] * time / 6);
	}
	for (uint32_t body = 0; body < 2; body++)
		to[body].rotation = quat_normalize(to[body].rotation);
	memcpy(motions, to, sizeof to);
}

START_TEST(two_joined_free_bodies_conserve_momentum_and_energy)
{
	for (uint32_t k = 0; k < 6; k++) {
		make_any_joint(BOOK[k]);
		make_masses();
		satisfy_joint(1);
		expect_small(project(), 1e-12);
		struct spatial kept = momentum(motions);
		double energy = kinetic_energy(motions);
		for (uint32_t i = 0; i < 500; i++)
			step(0.002);
		expect_small(joint_error(&joint, &motions[0], &motions[1]), 1e-10);
		expect_same(momentum(motions), kept, 1e-12 * 10);
		ck_assert_double_eq_tol(kinetic_energy(motions) / energy, 1, 1e-10);
	}
}
END_TEST

/* ---- singular places -------------------------------------------------------------------------- */

static void expect_finite(void)
{
	double q[JOINT_AXES];
	for (uint32_t level = 0; level < 3; level++) {
		state_rows((enum constraint_level)level, motions);
		for (uint32_t i = 0; i < list.row_count; i++) {
			ck_assert_double_finite(rows[i].gap);
			ck_assert_double_finite(rows[i].approach);
			ck_assert_double_finite(rows[i].bias);
			for (uint32_t k = 0; k < rows[i].j.count; k++) {
				const struct spatial *on = &rows[i].j.parts[k].on;
				ck_assert(vec3_is_finite(on->linear) &&
					  vec3_is_finite(on->angular));
				ck_assert(vec3_length(on->linear) + vec3_length(on->angular) >
					  1e-3);
			}
		}
	}
	joint_coordinates(&joint, &motions[0], &motions[1], q);
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		ck_assert_double_finite(q[axis]);
	struct joint_error error = joint_error(&joint, &motions[0], &motions[1]);
	ck_assert_double_finite(error.along + error.about + error.along_speed + error.about_speed);
	make_masses();
	error = project();
	ck_assert_double_finite(error.along + error.about + error.along_speed + error.about_speed);
}

START_TEST(rows_are_finite_at_degenerate_places)
{
	for (uint32_t i = 0; i < 40 * CASES; i++)
		for (uint32_t type = JOINT_SPHERICAL; type < JOINT_TYPES_END; type++) {
			make_any_joint((enum joint_type)type);
			randomize_axes();
			motions[0] = random_motion(&rng);
			motions[1] = random_motion(&rng);
			if (rng_below(&rng, 2) == 0) {
				motions[0].rotation = joint.frame_a = joint.frame_b =
					quat_identity();
				joint.point_a = joint.point_b = motions[0].centre = vec3_zero();
			}
			vec3 off = random_vector(&rng, 1);
			place_b(vec3_scale(off, rng_below(&rng, 2)), awkward_rotation(&rng));
			expect_finite();
		}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("joint");
	TCase *tests = tcase_create("joints");
	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, set_up, NULL);
	tcase_add_test(tests, j_and_bias_are_the_derivatives_of_the_gap);
	tcase_add_test(tests, j_is_the_gradient_of_the_gap_to_each_shift_and_turn);
	tcase_add_test(tests, levels_agree_and_the_world_has_no_row_part);
	tcase_add_test(tests, blocks_and_places_name_the_same_rows);
	tcase_add_test(tests, a_joint_removes_the_books_number_of_freedoms);
	tcase_add_test(tests, single_bodies_have_the_books_reactions);
	tcase_add_test(tests, pairs_have_the_books_reactions);
	tcase_add_test(tests, coordinates_reproduce_the_relative_frame);
	tcase_add_test(tests, twist_and_swing_are_those_of_the_quaternion);
	tcase_add_test(tests, whole_turns_are_counted);
	tcase_add_test(tests, an_error_is_the_largest_violation_of_an_axis);
	tcase_add_test(tests, projection_satisfies_the_joint_and_keeps_momentum);
	tcase_add_test(tests, projection_succeeds_from_singular_places);
	tcase_add_test(tests, two_joined_free_bodies_conserve_momentum_and_energy);
	tcase_add_test(tests, rows_are_finite_at_degenerate_places);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
