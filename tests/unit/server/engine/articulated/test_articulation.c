/* Forests in reduced coordinates: inverse of forward, the mass matrix as energy, accelerations equal to
 * those of the joints' rows over free bodies, loops with dependent rows, any choice of the tree, the double
 * pendulum, Jacobians as velocities. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/rng.h"
#include "server/engine/articulated/closure.h"
#include "tests/lib/check_main.h"
#include "tests/lib/eliminate.h"
#include "tests/lib/motions.h"

enum { BODIES = 12, JOINTS = 2 * BODIES, AXES = 6 * BODIES, ROWS = 6 * JOINTS };

static struct rng rng;
static struct body_motion motions[BODIES];
static struct mass_body masses[BODIES];
static struct articulation_joint joints[JOINTS];
static struct spatial loads[BODIES];
static struct articulation_source source;
static struct articulation tree;
static struct tree_dynamics dynamics;
static struct closures closures;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
}

/* ---- mechanisms ---------------------------------------------------------------------------------- */

static const struct mass_body HELD;

static struct joint random_joint(void)
{
	static const uint8_t TYPES[] = { JOINT_SPHERICAL,   JOINT_REVOLUTE,  JOINT_PRISMATIC,
					 JOINT_CYLINDRICAL, JOINT_UNIVERSAL, JOINT_FIXED,
					 JOINT_WHEEL,	    JOINT_SIX_DOF };
	struct joint joint = { .type = TYPES[rng_below(&rng, 8)],
			       .point_a = random_vector(&rng, 1),
			       .point_b = random_vector(&rng, 1),
			       .frame_a = random_rotation(&rng),
			       .frame_b = random_rotation(&rng) };
	uint32_t free = joint.type == JOINT_SIX_DOF ? rng_below(&rng, 63) : 0;
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		joint.axes[axis].mode = joint_axis_kind((enum joint_type)joint.type, axis).mode;
		if (free >> axis & 1)
			joint.axes[axis].mode = JOINT_FREE;
		/* Some are locked away from 0. */
		else if (joint.type == JOINT_SIX_DOF && rng_below(&rng, 3) == 0) {
			joint.axes[axis].mode = JOINT_LIMITED;
			joint.axes[axis].lower = joint.axes[axis].upper =
				rng_range(&rng, -0.5, 0.5);
		}
		if (joint.type != JOINT_SPHERICAL && rng_below(&rng, 3) == 0)
			joint.axes[axis].armature = rng_range(&rng, 0.1, 2);
	}
	return joint;
}

/* Puts a body where a joint to `parent` (or the ground) wants it. False: it was not found. */
static bool attach(struct articulation_joint *out, uint32_t parent, uint32_t child)
{
	bool reversed = rng_below(&rng, 2) == 0, ground = parent == ARTICULATION_NONE;
	struct body_motion base = ground ? random_motion(&rng) : motions[parent], own = base;
	own.rotation = random_rotation(&rng);
	own.velocity = random_vector(&rng, 1);
	own.angular_velocity = random_vector(&rng, 1);
	*out = (struct articulation_joint){ .joint = random_joint() };
	out->body[reversed] = parent;
	out->body[!reversed] = child;
	out->joint.a = reversed ? own : base;
	out->joint.b = reversed ? base : own;
	struct mass_body pair[2] = { HELD, HELD };
	pair[!reversed] = masses[child];
	struct joint_error error = joint_project(&out->joint, pair, &out->joint.a, &out->joint.b);
	/* Twice, because the first leaves the rounding of a large displacement. */
	error = joint_project(&out->joint, pair, &out->joint.a, &out->joint.b);
	motions[child] = reversed ? out->joint.a : out->joint.b;
	return error.along < 1e-13 && error.about < 1e-13 && error.along_speed < 1e-12 &&
	       error.about_speed < 1e-12 && vec3_length(motions[child].angular_velocity) < 20 &&
	       vec3_distance(motions[child].centre, base.centre) < 10;
}

static void begin(void)
{
	source = (struct articulation_source){ motions, masses, joints, 0, 0 };
}

static void finish(void)
{
	struct reason why = { 0 };
	enum status status = articulation_make(&tree, &source, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	ck_assert_int_eq(tree_dynamics_make(&dynamics, &tree), STATUS_OK);
	ck_assert_int_eq(closures_make(&closures, &tree, &why), STATUS_OK);
	ck_assert(tree_factor(&dynamics));
	closures_factor(&closures, &dynamics);
}

static void end(void)
{
	closures_release(&closures);
	tree_dynamics_release(&dynamics);
	articulation_release(&tree);
}

/* A random forest of `count` bodies. */
static void make_forest(uint32_t count)
{
	begin();
	for (uint32_t i = 0; i < count; i++) {
		masses[i] = random_mass(&rng);
		motions[i] = random_motion(&rng);
		loads[i] = (struct spatial){ random_vector(&rng, 5), random_vector(&rng, 5) };
		uint32_t parent = rng_below(&rng, i + 2);
		if (parent == i + 1)
			continue; /* a floating base */
		parent = parent == i ? ARTICULATION_NONE : parent;
		while (!attach(&joints[source.joint_count], parent, i))
			;
		source.joint_count++;
	}
	source.body_count = count;
	finish();
	ck_assert_uint_eq(tree.closure_count, 0);
}

static double norm(const double *v, uint32_t n)
{
	double size = 0;
	for (uint32_t i = 0; i < n; i++)
		size = fmax(size, fabs(v[i]));
	return size;
}

static void random_numbers(double *out, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		out[i] = rng_range(&rng, -3, 3);
}

/* Loads by link. */
static const struct spatial *link_loads(void)
{
	static struct spatial out[BODIES];
	for (uint32_t i = 0; i < tree.link_count; i++)
		out[i] = loads[tree.links[i].body];
	return out;
}

/* ---- trees --------------------------------------------------------------------------------------- */

START_TEST(inverse_dynamics_returns_the_forces_of_forward_dynamics)
{
	for (uint32_t i = 0; i < 1000; i++) {
		double forces[AXES], back[AXES], acceleration[AXES];
		make_forest(1 + rng_below(&rng, BODIES));
		uint32_t n = tree.axis_count;
		random_numbers(forces, n);
		tree_forward(&dynamics, forces, link_loads(), true, acceleration);
		tree_inverse(&dynamics, acceleration, link_loads(), back);
		double size = 1 + norm(acceleration, n);
		for (uint32_t k = 0; k < n; k++)
			ck_assert_msg(fabs(back[k] - forces[k]) <= 1e-10 * size,
				      "force %u is %.17g, was %.17g", k, back[k], forces[k]);
		end();
	}
}
END_TEST

static double rotor_energy(const struct joint *joint)
{
	double sum = 0;
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		struct joint_axis_motion q;
		if (!joint_axis_kind((enum joint_type)joint->type, axis).settable ||
		    joint_locked_axes(joint) >> axis & 1)
			continue;
		joint_axis_motion(joint, axis, &joint->a, &joint->b, CONSTRAINT_VELOCITY, &q);
		sum += 0.5 * joint->axes[axis].armature * q.speed * q.speed;
	}
	return sum;
}

START_TEST(the_mass_matrix_is_the_kinetic_energy_and_the_inertia_of_inverse_dynamics)
{
	for (uint32_t i = 0; i < 300; i++) {
		static double m[AXES * AXES];
		double bias[AXES], forces[AXES], acceleration[AXES], energy = 0, reduced = 0;
		make_forest(1 + rng_below(&rng, BODIES));
		uint32_t n = tree.axis_count;
		random_numbers(acceleration, n);
		tree_mass_matrix(&dynamics, m);
		tree_inverse(&dynamics, NULL, link_loads(), bias);
		tree_inverse(&dynamics, acceleration, link_loads(), forces);
		for (uint32_t r = 0; r < n; r++) {
			double force = bias[r];
			for (uint32_t c = 0; c < n; c++) {
				force += m[r * n + c] * acceleration[c];
				reduced += 0.5 * tree.rates[r] * m[r * n + c] * tree.rates[c];
				ck_assert(m[r * n + c] == m[c * n + r]);
			}
			ck_assert_double_le(fabs(force - forces[r]), 1e-10 * (1 + norm(forces, n)));
		}
		for (uint32_t k = 0; k < source.body_count; k++)
			energy += kinetic_energy_of(&masses[k], &motions[k]);
		for (uint32_t k = 0; k < source.joint_count; k++)
			energy += rotor_energy(&joints[k].joint);
		bool grounded = false;
		for (uint32_t k = 0; k < tree.link_count; k++)
			grounded |= tree.links[k].parent == ARTICULATION_NONE &&
				    tree.links[k].joint != ARTICULATION_NONE;
		/* Ground that moves has energy of its own. */
		if (!grounded)
			ck_assert_double_le(fabs(energy - reduced), 1e-10 * (1 + energy));
		end();
	}
}
END_TEST

START_TEST(links_move_as_their_bodies)
{
	for (uint32_t i = 0; i < 300; i++) {
		static double jacobian[6 * AXES];
		make_forest(1 + rng_below(&rng, BODIES));
		for (uint32_t k = 0; k < tree.link_count; k++) {
			const struct articulation_link *link = &tree.links[k];
			const struct body_motion *motion = &motions[link->body];
			ck_assert_double_le(vec3_distance(link->velocity.linear, motion->velocity),
					    1e-10);
			ck_assert_double_le(
				vec3_distance(link->velocity.angular, motion->angular_velocity),
				1e-10);
		}
		/* J is linear in q'. */
		uint32_t last = tree.link_count - 1, n = tree.axis_count, at = last;
		vec3 point = random_vector(&rng, 2);
		tree_jacobian(&tree, last, point, jacobian);
		while (tree.links[at].parent != ARTICULATION_NONE)
			at = tree.links[at].parent;
		const struct articulation_link *link = &tree.links[last];
		vec3 speed =
			vec3_add(link->velocity.linear,
				 vec3_cross(link->velocity.angular, vec3_sub(point, link->centre)));
		for (uint32_t r = 0; r < 3 && tree.links[at].joint == ARTICULATION_NONE; r++) {
			double sum = 0;
			for (uint32_t c = 0; c < n; c++)
				sum += jacobian[r * n + c] * tree.rates[c];
			ck_assert_double_le(fabs(sum - vec3_get(speed, r)), 1e-9);
		}
		end();
	}
}
END_TEST

/* ---- beside free bodies with rows ---------------------------------------------------------------- */

static struct constraint_row rows[ROWS];
static struct row_part parts[2 * ROWS];
static struct row_block blocks[ROWS];

/* Accelerations of free bodies under the loads and the joints' rows. Returns the rank. */
static uint32_t free_accelerations(struct spatial *out)
{
	static double a[ROWS * ROWS], b[ROWS];
	static struct spatial change[ROWS][BODIES];
	struct row_list list = { .rows = rows,
				 .blocks = blocks,
				 .parts = parts,
				 .row_capacity = ROWS,
				 .block_capacity = ROWS,
				 .part_capacity = 2 * ROWS };
	struct constraint_options options = { .level = CONSTRAINT_ACCELERATION };
	for (uint32_t i = 0; i < source.joint_count; i++) {
		struct constraint of = { &constraint_joint, joints[i].body[0], joints[i].body[1], 0,
					 &joints[i].joint };
		constraint_joint.rows(&of, i, NULL, NULL, &options, &list);
	}
	struct mass_operator mass = mass_operator_free(masses, source.body_count);
	struct spatial velocities[BODIES];
	for (uint32_t i = 0; i < source.body_count; i++)
		velocities[i] =
			(struct spatial){ motions[i].velocity, motions[i].angular_velocity };
	mass_accelerate(&mass, loads, velocities, out);
	for (uint32_t i = 0; i < list.row_count; i++) {
		struct spatial push[BODIES];
		memset(push, 0, sizeof push);
		jacobian_push(rows[i].j, 1, push);
		mass_accelerate(&mass, push, NULL, change[i]);
		b[i] = -rows[i].bias - jacobian_speed(rows[i].j, out);
	}
	for (uint32_t i = 0; i < list.row_count; i++)
		for (uint32_t k = 0; k < list.row_count; k++)
			a[i * list.row_count + k] = jacobian_speed(rows[i].j, change[k]);
	for (uint32_t i = 0; i < list.row_count; i++)
		if (rows[i].softness == ROW_ROTOR)
			a[i * list.row_count + i] += 1 / rows[i].stiffness;
	uint32_t rank = eliminate(list.row_count, a, b, 1e-11);
	for (uint32_t i = 0; i < list.row_count; i++)
		for (uint32_t k = 0; k < source.body_count; k++)
			out[k] = spatial_mul_add(out[k], change[i][k], b[i]);
	return rank;
}

static void near_accelerations(const struct spatial *expected, double tolerance)
{
	double size = 1;
	for (uint32_t i = 0; i < source.body_count; i++)
		size = fmax(size, fmax(vec3_length(expected[i].linear),
				       vec3_length(expected[i].angular)));
	for (uint32_t i = 0; i < tree.link_count; i++) {
		struct spatial is = dynamics.acceleration[i], should = expected[tree.links[i].body];
		double off = fmax(vec3_distance(is.linear, should.linear),
				  vec3_distance(is.angular, should.angular));
		ck_assert_msg(off <= tolerance * size, "body %u: off by %.3g of %.3g",
			      tree.links[i].body, off, size);
	}
}

START_TEST(trees_accelerate_as_free_bodies_with_rows)
{
	for (uint32_t i = 0; i < 300; i++) {
		double acceleration[AXES];
		struct spatial expected[BODIES];
		make_forest(1 + rng_below(&rng, 8));
		free_accelerations(expected);
		closures_forward(&closures, &dynamics, NULL, link_loads(), acceleration);
		near_accelerations(expected, 1e-9);
		ck_assert_double_eq(closures.residual, 0);
		end();
	}
}
END_TEST

/* ---- loops --------------------------------------------------------------------------------------- */

/* A plane four-bar linkage of hinges along z in space, in any pose; bars turn with consistent speeds. The
 * joints come in the order of a seed, so the tree is cut elsewhere. */
static void make_four_bar(const uint32_t order[4], quat turn)
{
	const double angle = 0.7, rate = 1.3; /* a parallelogram: cranks 1 long, coupler 2 */
	vec3 crank = vec3_make(cos(angle), sin(angle), 0);
	vec3 speed = vec3_scale(vec3_make(-sin(angle), cos(angle), 0), rate);
	vec3 centres[3] = { vec3_scale(crank, 0.5), vec3_add(crank, vec3_make(1, 0, 0)),
			    vec3_add(vec3_scale(crank, 0.5), vec3_make(2, 0, 0)) };
	vec3 anchors[4] = { vec3_zero(), crank, vec3_add(crank, vec3_make(2, 0, 0)),
			    vec3_make(2, 0, 0) };
	uint32_t ends[4][2] = {
		{ ARTICULATION_NONE, 0 }, { 0, 1 }, { 1, 2 }, { ARTICULATION_NONE, 2 }
	};
	begin();
	source.body_count = 3;
	source.joint_count = 4;
	for (uint32_t i = 0; i < 3; i++) {
		motions[i] = (struct body_motion){ .centre = quat_rotate(turn, centres[i]),
						   .rotation = turn };
		vec3 v = i == 1 ? speed : vec3_scale(speed, 0.5);
		motions[i].velocity = quat_rotate(turn, v);
		if (i != 1)
			motions[i].angular_velocity = quat_rotate(turn, vec3_make(0, 0, rate));
		masses[i] = mass_body_make(1.0 + i, 1 / (1.0 + i), sym3_diagonal(vec3_all(0.5)),
					   sym3_diagonal(vec3_all(2)), turn, 0);
		loads[i] = (struct spatial){ vec3_make(1.0 + i, -9.81, 0.3), vec3_make(0, 1, 2) };
	}
	quat along = quat_from_axis_angle(vec3_make(0, 1, 0), -1.5707963267948966);
	for (uint32_t i = 0; i < 4; i++) {
		const uint32_t *end = ends[order[i]];
		struct joint *joint = &joints[i].joint;
		memcpy(joints[i].body, end, sizeof joints[i].body);
		*joint = (struct joint){ .type = JOINT_REVOLUTE,
					 .frame_a = along,
					 .frame_b = along };
		joint->a = end[0] == ARTICULATION_NONE ? still() : motions[end[0]];
		joint->b = motions[end[1]];
		joint->point_a = end[0] == ARTICULATION_NONE
					 ? quat_rotate(turn, anchors[order[i]])
					 : vec3_sub(anchors[order[i]], centres[end[0]]);
		joint->point_b = vec3_sub(anchors[order[i]], centres[end[1]]);
		if (end[0] == ARTICULATION_NONE)
			joint->frame_a = quat_mul(turn, along);
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
			joint->axes[axis].mode = joint_axis_kind(JOINT_REVOLUTE, axis).mode;
	}
	finish();
}

START_TEST(a_plane_loop_in_space_has_dependent_rows_and_moves_the_same_wherever_it_is_cut)
{
	static const uint32_t ORDERS[4][4] = {
		{ 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 0, 3, 1, 2 }, { 2, 3, 1, 0 }
	};
	for (uint32_t i = 0; i < 40; i++) {
		double acceleration[AXES], size = 0;
		struct spatial expected[BODIES];
		quat turn = i < 4 ? quat_identity() : random_rotation(&rng);
		make_four_bar(ORDERS[i % 4], turn);
		ck_assert_uint_eq(tree.closure_count, 1);
		ck_assert_uint_eq(tree.axis_count, 3);
		ck_assert_uint_eq(closures.row_count, 5);
		ck_assert_uint_eq(closures.rank, 2);
		free_accelerations(expected);
		closures_forward(&closures, &dynamics, NULL, link_loads(), acceleration);
		near_accelerations(expected, 1e-9);
		ck_assert_double_le(closures.residual, 1e-11);
		size = norm(closures.force, closures.row_count);
		ck_assert_double_lt(size, 1e3);
		end();
	}
}
END_TEST

/* Random loops: another joint between bodies of a tree, at their present motions. */
START_TEST(loops_accelerate_as_free_bodies_with_rows)
{
	uint32_t moved = 0;
	for (uint32_t i = 0; i < 200; i++) {
		double acceleration[AXES];
		struct spatial expected[BODIES];
		uint32_t n = 3 + rng_below(&rng, 5);
		make_forest(n);
		struct articulation_joint *extra = &joints[source.joint_count];
		*extra = (struct articulation_joint){ .body = { 0, n - 1 } };
		/* A ball joint at a point that has one velocity in both; here a distance. */
		extra->joint = (struct joint){ .type = JOINT_DISTANCE,
					       .frame_a = quat_identity(),
					       .frame_b = quat_identity(),
					       .a = motions[0],
					       .b = motions[n - 1] };
		extra->joint.axes[0].mode = JOINT_LOCKED;
		extra->joint.axes[0].rest = vec3_distance(motions[0].centre, motions[n - 1].centre);
		end();
		source.joint_count++;
		finish();
		ck_assert_uint_eq(tree.closure_count, 1);
		free_accelerations(expected);
		closures_forward(&closures, &dynamics, NULL, link_loads(), acceleration);
		/* Bodies whose distance cannot change have no such row. */
		if (closures.rank == 1 && fabs(closures.force[0]) < 1e4) {
			ck_assert_double_le(closures.residual, 1e-8);
			near_accelerations(expected, 1e-8);
			moved++;
		}
		end();
	}
	ck_assert_uint_gt(moved, 100);
}
END_TEST

/* ---- the double pendulum ------------------------------------------------------------------------- */

/* Two bars in the plane z = 0 of any pose: the first on the ground, the second L below that hinge in the
 * first; mass centres l₁ and l₂ below their hinges. With angles θ from the vertical and k = m₂ L l₂
 *
 *   (I₁ + m₁ l₁² + m₂ L²) θ₁'' + k cos(θ₁ − θ₂) θ₂'' = −k sin(θ₁ − θ₂) θ₂'² − (m₁ l₁ + m₂ L) g sin θ₁
 *   k cos(θ₁ − θ₂) θ₁'' + (I₂ + m₂ l₂²) θ₂''         =  k sin(θ₁ − θ₂) θ₁'² − m₂ l₂ g sin θ₂
 *
 * The accelerations below solve these with 60 decimal digits (Python's decimal; sine and cosine by their
 * series up to terms of 1e-58). Every number of a state and of the bars is exact in binary. */
static const struct {
	double angle[2], rate[2], acceleration[2];
} PENDULUMS[] = {
	{ { 0, 0 }, { 0, 0 }, { 0, 0 } },
	{ { 0.5, -0.25 },
	  { 0, 0 },
	  { -10.5465126674931006789392995, 12.5930697199776702177587140 } },
	{ { 0.75, 2.5 },
	  { 1.5, -2 },
	  { -5.9882082588229152975145553, -11.3634009894157177456008867 } },
	{ { 1.5, -1.5 },
	  { -8, 11 },
	  { -25.2168209405676755352487817, -7.6281063484905953231418607 } },
	{ { 3.125, 3 },
	  { 0.25, -0.5 },
	  { 3.0936241037615759275070104, -5.5197118269776233034917823 } },
	{ { -2.25, -2.25 },
	  { 4, 4 },
	  { 9.6295320200430793988743972, -2.4761653765825060169447625 } },
	{ { 0.125, 1.625 },
	  { -20, 30 },
	  { 560.9713130815896420244826004, -556.7308439883112214374705218 } },
};

static void make_double_pendulum(const double angle[2], const double rate[2], quat turn)
{
	const double mass[2] = { 2, 3 }, moment[2] = { 0.25, 0.125 }, below[2] = { 0.5, 0.75 };
	quat along = quat_from_axis_angle(vec3_make(0, 1, 0), -1.5707963267948966);
	vec3 hinge = vec3_zero(), speed = vec3_zero();
	begin();
	source.body_count = source.joint_count = 2;
	for (uint32_t i = 0; i < 2; i++) {
		vec3 down = vec3_make(sin(angle[i]), -cos(angle[i]), 0);
		vec3 way = vec3_make(cos(angle[i]) * rate[i], sin(angle[i]) * rate[i], 0);
		vec3 moments = vec3_make(0.5, 0.75, moment[i]); /* the first two do not matter */
		vec3 inverse = vec3_make(1 / moments.x, 1 / moments.y, 1 / moments.z);
		struct body_motion *own = &motions[i];
		own->rotation = quat_mul(turn, turn_about(2, angle[i]));
		own->centre = quat_rotate(turn, vec3_mul_add(hinge, down, below[i]));
		own->velocity = quat_rotate(turn, vec3_mul_add(speed, way, below[i]));
		own->angular_velocity = quat_rotate(turn, vec3_make(0, 0, rate[i]));
		masses[i] = mass_body_make(mass[i], 1 / mass[i], sym3_diagonal(moments),
					   sym3_diagonal(inverse), own->rotation, 0);
		loads[i] = (struct spatial){ quat_rotate(turn, vec3_make(0, -9.8125 * mass[i], 0)),
					     vec3_zero() };
		joints[i] = (struct articulation_joint){ .body = { i == 0 ? ARTICULATION_NONE : 0,
								   i } };
		joints[i].joint =
			(struct joint){ .type = JOINT_REVOLUTE,
					.point_a = vec3_make(0, i == 0 ? 0 : below[0] - 1, 0),
					.point_b = vec3_make(0, below[i], 0),
					.frame_a = i == 0 ? quat_mul(turn, along) : along,
					.frame_b = along,
					.a = i == 0 ? still() : motions[0],
					.b = *own };
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
			joints[i].joint.axes[axis].mode =
				joint_axis_kind(JOINT_REVOLUTE, axis).mode;
		hinge = vec3_add(hinge, down);
		speed = vec3_add(speed, way);
	}
	finish();
}

START_TEST(a_double_pendulum_has_the_accelerations_of_sixty_digits)
{
	for (uint32_t i = 0; i < 20 * sizeof PENDULUMS / sizeof *PENDULUMS; i++) {
		const double *should = PENDULUMS[i / 20].acceleration;
		double is[2], forces[2], size = 1;
		quat turn = i % 20 == 0 ? quat_identity() : random_rotation(&rng);
		make_double_pendulum(PENDULUMS[i / 20].angle, PENDULUMS[i / 20].rate, turn);
		ck_assert_uint_eq(tree.axis_count, 2);
		tree_forward(&dynamics, NULL, link_loads(), true, is);
		/* The second coordinate is the angle between the bars. */
		const double relative[2] = { should[0], should[1] - should[0] };
		for (uint32_t k = 0; k < 2; k++)
			size += fabs(should[k]);
		for (uint32_t k = 0; k < 2; k++)
			ck_assert_msg(fabs(is[k] - relative[k]) <= 1e-13 * size,
				      "state %u, axis %u: %.17g instead of %.17g", i / 20, k, is[k],
				      relative[k]);
		tree_inverse(&dynamics, relative, link_loads(), forces);
		ck_assert_double_le(norm(forces, 2), 1e-12 * size);
		end();
	}
}
END_TEST

/* ---- locks and planes ---------------------------------------------------------------------------- */

START_TEST(a_body_with_locks_of_its_own_is_refused)
{
	struct reason why = { 0 };
	begin();
	source.body_count = 1;
	motions[0] = still();
	masses[0] = mass_body_make(1, 1, sym3_diagonal(vec3_all(1)), sym3_diagonal(vec3_all(1)),
				   quat_identity(), MASS_LOCK_Y);
	ck_assert_int_eq(articulation_make(&tree, &source, &why), STATUS_UNSUPPORTED);
	ck_assert_str_eq(why.field, "locks");
	articulation_release(&tree);
	masses[0] = mass_body_make(1, 1, sym3_diagonal(vec3_all(1)), sym3_diagonal(vec3_all(1)),
				   quat_identity(), MASS_LOCK_PLANAR);
	finish();
	ck_assert_uint_eq(tree.axis_count, 3);
	ck_assert_uint_eq(articulation_coordinate_count(&tree), 3);
	end();
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("articulation");
	TCase *trees = tcase_create("trees"), *loops = tcase_create("loops");
	tcase_add_checked_fixture(trees, set_up, NULL);
	tcase_add_test(trees, inverse_dynamics_returns_the_forces_of_forward_dynamics);
	tcase_add_test(trees,
		       the_mass_matrix_is_the_kinetic_energy_and_the_inertia_of_inverse_dynamics);
	tcase_add_test(trees, links_move_as_their_bodies);
	tcase_add_test(trees, trees_accelerate_as_free_bodies_with_rows);
	tcase_add_test(trees, a_double_pendulum_has_the_accelerations_of_sixty_digits);
	tcase_add_test(trees, a_body_with_locks_of_its_own_is_refused);
	suite_add_tcase(suite, trees);
	tcase_add_checked_fixture(loops, set_up, NULL);
	tcase_add_test(
		loops,
		a_plane_loop_in_space_has_dependent_rows_and_moves_the_same_wherever_it_is_cut);
	tcase_add_test(loops, loops_accelerate_as_free_bodies_with_rows);
	suite_add_tcase(suite, loops);
	return suite;
}

int main(void)
{
	return check_main(make);
}
