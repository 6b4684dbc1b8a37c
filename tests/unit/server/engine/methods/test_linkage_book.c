/* The book's chapter on linked bodies, beyond the numbers of test_joint_book: the map from a
 * reaction to the accelerations of two bodies (A4), collisions between and within linkages (AC1,
 * AC2), scripted links (AR5). */
#include "server/base/heap.h"
#include "server/engine/math/mat3.h"
#include "tests/lib/joined.h"
#include "tests/lib/oracle_convex.h"
#include "tests/lib/poses.h"

#include <math.h>

static const char *const METHODS[] = { "lcp",	 "projection", "reflection",
				       "impact", "gauss",      "soft-step" };
enum { METHODS_COUNT = COUNT_OF(METHODS), SOFT = METHODS_COUNT - 1 };

/* ---- A4 ------------------------------------------------------------------------------------- */

/* A capsule with its inertia by hand, in world axes: the map is compared without the engine's own. */
struct link {
	body_id id;
	double mass;
	vec3 arm; /* m, from the mass centre to the joint */
	vec3 spin;
	mat3 inertia, inertia_inv;
};

static struct link put_link(struct world *world, double mass, vec3 at, vec3 spin)
{
	struct link self = { .mass = mass, .arm = vec3_negate(at), .spin = spin };
	self.id = joined_put(world, (struct joined_thing){ .shape = TEST_CAPSULE,
							   .at = at,
							   .mass = mass,
							   .spin = spin,
							   .velocity = vec3_cross(spin, at) });
	double *full, box[9];
	uint32_t axes;
	struct reason why;
	ck_assert_int_eq(world_robot_mass(world, self.id, &full, &axes, &why), STATUS_OK);
	ck_assert_uint_eq(axes, 6);
	for (uint32_t i = 0; i < 9; i++)
		box[i] = full[(3 + i / 3) * 6 + 3 + i % 3];
	heap_free(full);
	self.inertia = (mat3){ { box[0], box[3], box[6] },
			       { box[1], box[4], box[7] },
			       { box[2], box[5], box[8] } };
	ck_assert(mat3_inverse(self.inertia, &self.inertia_inv));
	return self;
}

/* W = 1/m − [x] I⁻¹ [x], and b = g + α₀ × x + ω × (ω × x) with I α₀ = −ω × I ω. */
static mat3 response(const struct link *self)
{
	mat3 out;
	vec3 unit[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, column[3];
	for (uint32_t k = 0; k < 3; k++) {
		vec3 turn = mat3_mul_vec(self->inertia_inv, vec3_cross(self->arm, unit[k]));
		column[k] = vec3_mul_add(vec3_cross(turn, self->arm), unit[k], 1 / self->mass);
	}
	out = (mat3){ column[0], column[1], column[2] };
	return out;
}

static vec3 free_turn(const struct link *self)
{
	vec3 momentum = mat3_mul_vec(self->inertia, self->spin);
	return mat3_mul_vec(self->inertia_inv, vec3_cross(momentum, self->spin));
}

static vec3 free_point(const struct link *self, vec3 gravity)
{
	vec3 turning = vec3_cross(free_turn(self), self->arm);
	vec3 falling = vec3_cross(self->spin, vec3_cross(self->spin, self->arm));
	return vec3_add(gravity, vec3_add(turning, falling));
}

/* Two spinning capsules at a spherical joint: (W₁ + W₂) F = b₂ − b₁ is what the reduced
 * coordinates say, and the joint's force. */
START_TEST(a_reaction_accelerates_points_by_the_map)
{
	vec3 gravity = vec3_make(0.5, -9.81, 1);
	struct world *world = joined_world("lcp", 10000, gravity);
	struct link a = put_link(world, 2, vec3_make(-0.9, 0.3, 0.2), vec3_make(1.1, -0.4, 2));
	struct link b = put_link(world, 3, vec3_make(0.7, 0.5, -0.4), vec3_make(-0.6, 1.7, 0.3));
	joint_id joint =
		joined_join(world, JOINT_SPHERICAL, a.id, b.id, vec3_zero(), quat_identity());
	mat3 both = mat3_add(response(&a), response(&b)), inverse;
	ck_assert(mat3_inverse(both, &inverse));
	vec3 force =
		mat3_mul_vec(inverse, vec3_sub(free_point(&b, gravity), free_point(&a, gravity)));
	vec3 along = vec3_mul_add(gravity, force, 1 / a.mass);
	vec3 about = vec3_add(free_turn(&a), mat3_mul_vec(a.inertia_inv, vec3_cross(a.arm, force)));
	struct robot_view robot;
	struct reason why;
	ck_assert_int_eq(world_robot(world, a.id, &robot, &why), STATUS_OK);
	ck_assert_uint_eq(robot.link[0].body, a.id);
	const double *found = robot.accelerations;
	ASSERT_VEC3(vec3_make(found[0], found[1], found[2]), along, 1e-11);
	ASSERT_VEC3(vec3_make(found[3], found[4], found[5]), about, 1e-11);
	robot_view_release(&robot);
	test_step(world, 1);
	ASSERT_VEC3(joined_view(world, joint).force, vec3_negate(force), 1e-2);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- AC1, AC2 ------------------------------------------------------------------------------- */

enum { LINKS = 5, PAIRS = 100 };

/* m: pairs of links whose surfaces are nearer to each other than this are not compared. */
#define UNDECIDED 2e-3

struct linkage {
	body_id bodies[LINKS];
	pose at[LINKS];
};

/* A chain of cubes at random turns, each pair linked at the point midway. */
static struct linkage put_linkage(struct world *world, struct rng *random, vec3 at)
{
	struct linkage self;
	for (uint32_t i = 0; i < LINKS; i++) {
		struct attachment item;
		self.at[i].position = at;
		self.at[i].rotation = random_rotation(random);
		struct command spawn = test_spawn_command(world, TEST_BOX, at, &item);
		spawn.spawn.rotation = self.at[i].rotation;
		spawn.spawn.static_friction = spawn.spawn.dynamic_friction = 0;
		self.bodies[i] = test_do(world, &spawn);
		if (i > 0)
			joined_join(world, JOINT_SPHERICAL, self.bodies[i - 1], self.bodies[i],
				    vec3_scale(vec3_add(at, self.at[i - 1].position), 0.5),
				    quat_identity());
		at = vec3_add(at, random_vector(random, 0.9));
	}
	return self;
}

/* Whether two bodies have a contact point at which they overlap. */
static bool touch(const struct world *world, body_id a, body_id b)
{
	struct contact_view points[256];
	uint32_t count = test_contacts(world, a, points, COUNT_OF(points));
	bool found = false;
	for (uint32_t i = 0; i < count; i++)
		found |= (points[i].a == b || points[i].b == b) && points[i].separation < 0;
	return found;
}

/* Compares links of two linkages (the same: pairs within it, without neighbours, which the joints
 * let pass). Returns how many of them overlap. */
static uint32_t compare_linkages(const struct world *world, const struct linkage *a,
				 const struct linkage *b)
{
	static struct oracle_hull hulls[2];
	const struct hull *cube = test_shape(TEST_BOX)->hull;
	uint32_t overlaps = 0;
	for (uint32_t i = 0; i < LINKS; i++)
		for (uint32_t k = a == b ? i + 1 : 0; k < LINKS; k++) {
			bool pass = a == b && k == i + 1;
			struct oracle_answer answer = { 0 };
			struct placing at[2] = {
				{ mat3_from_quat(a->at[i].rotation), a->at[i].position },
				{ mat3_from_quat(b->at[k].rotation), b->at[k].position }
			};
			if (vec3_distance(a->at[i].position, b->at[k].position) > 2)
				continue;
			oracle_hull_make(&hulls[0], cube, &at[0]);
			oracle_hull_make(&hulls[1], cube, &at[1]);
			oracle_convex(&hulls[0], &hulls[1], &answer);
			if (fabs(answer.separation) < UNDECIDED)
				continue;
			bool wanted = answer.separation < 0 && !pass;
			ck_assert_msg(touch(world, a->bodies[i], b->bodies[k]) == wanted,
				      "links %u and %u at %g m", i, k, answer.separation);
			overlaps += wanted;
		}
	return overlaps;
}

/* A tick that is too short for motion: the links that touch are those that overlap by brute
 * force, between linkages (AC1) and within one (AC2). */
START_TEST(links_that_overlap_are_found_between_and_within_linkages)
{
	struct rng random;
	uint32_t between = 0, within = 0;
	random = rng_seeded(20 + (uint64_t)_i);
	for (uint32_t pair = 0; pair < PAIRS / METHODS_COUNT + 1; pair++) {
		struct world *world = joined_world(METHODS[_i], 10000, vec3_zero());
		struct linkage a = put_linkage(world, &random, vec3_zero());
		struct linkage b = put_linkage(world, &random, random_vector(&random, 1.5));
		test_step(world, 1);
		between += compare_linkages(world, &a, &b);
		within += compare_linkages(world, &a, &a) + compare_linkages(world, &b, &b);
		world_destroy(world);
	}
	ck_assert_uint_gt(between, 20);
	ck_assert_uint_gt(within, 10);
}
END_TEST

/* A ring of six links folded flat: exactly the links that are no neighbours and overlap are told
 * (AC2). */
START_TEST(a_folded_ring_meets_itself_but_not_its_neighbours)
{
	struct world *world = joined_world(METHODS[_i], 10000, vec3_zero());
	/* Two rows of three cubes, 0.9 m apart along and 0.8 m across. */
	static const double X[6] = { 0, 0.9, 1.8, 1.8, 0.9, 0 }, Y[6] = { 0, 0, 0, 0.8, 0.8, 0.8 };
	body_id bodies[6];
	for (uint32_t i = 0; i < 6; i++)
		bodies[i] = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
								     .at = vec3_make(X[i], Y[i], 0),
								     .mass = 1,
								     .meets = true,
								     .smooth = true });
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t k = (i + 1) % 6;
		joined_join(world, JOINT_SPHERICAL, bodies[i], bodies[k],
			    vec3_make(0.5 * (X[i] + X[k]), 0.5 * (Y[i] + Y[k]), 0),
			    quat_identity());
	}
	test_step(world, 1);
	for (uint32_t i = 0; i < 6; i++)
		for (uint32_t k = i + 1; k < 6; k++) {
			bool near = fabs(X[i] - X[k]) < 1 && fabs(Y[i] - Y[k]) < 1;
			bool neighbours = k == i + 1 || (i == 0 && k == 5);
			ck_assert_int_eq(touch(world, bodies[i], bodies[k]), near && !neighbours);
		}
	world_destroy(world);
}
END_TEST

/* ---- AR5 ------------------------------------------------------------------------------------ */

/* A scripted link that accelerates along x carries another at a weld: it keeps its script in
 * every bit, the other follows, and the reaction is m (a − g). */
START_TEST(a_scripted_link_keeps_its_script_and_carries_another)
{
	enum { RATE = 240, TICKS = 120 };
	const double pull = 3, mass = 2;
	struct world *world = joined_world(METHODS[_i], RATE, vec3_make(0, -9.81, 0));
	body_id script = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
								  .mass = 1,
								  .smooth = true,
								  .status = BODY_ANIMATED });
	body_id load = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
								.at = vec3_make(0.3, -1, 0.2),
								.mass = mass,
								.smooth = true });
	joint_id joint = joined_join(world, JOINT_FIXED, script, load, vec3_make(0, -0.5, 0),
				     quat_identity());
	double worst = 0;
	for (uint32_t tick = 1; tick <= TICKS; tick++) {
		double time = (double)tick / RATE;
		struct command move = test_command(COMMAND_MOVE_TO);
		move.move_to.body = script;
		move.move_to.position = vec3_make(0.5 * pull * time * time, 0, 0);
		test_do(world, &move);
		test_step(world, 1);
		vec3 at = test_body(world, script).position;
		ASSERT_VEC3(at, move.move_to.position, 1e-12);
		vec3 other = test_body(world, load).position;
		worst = fmax(worst, vec3_distance(vec3_sub(other, at), vec3_make(0.3, -1, 0.2)));
	}
	ck_assert_msg(worst < (_i == SOFT ? 2e-3 : 1e-8), "%s: %g m", METHODS[_i], worst);
	ASSERT_VEC3(joined_view(world, joint).force, vec3_make(mass * pull, mass * 9.81, 0),
		    _i == SOFT ? 0.3 : 1e-3);
	test_check(world);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("linkage book");
	TCase *tcase = tcase_create("linkage book");
	tcase_add_test(tcase, a_reaction_accelerates_points_by_the_map);
	tcase_add_loop_test(tcase, links_that_overlap_are_found_between_and_within_linkages, 0,
			    METHODS_COUNT);
	tcase_add_loop_test(tcase, a_folded_ring_meets_itself_but_not_its_neighbours, 0,
			    METHODS_COUNT);
	tcase_add_loop_test(tcase, a_scripted_link_keeps_its_script_and_carries_another, 0,
			    METHODS_COUNT);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
