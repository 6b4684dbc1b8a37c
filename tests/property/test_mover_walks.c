/* Random walks of movers in random worlds: a terrain, boxes, hulls, spheres and cones at rest,
 * animated bodies that move and turn, dynamic bodies, and movers of several shapes that walk, jump
 * and fall. After no tick a mover that is not squeezed is inside anything that is static or
 * animated. CAIRN_POSES=36 makes 10^5 moves (`make soak-movers`).
 */
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/check_main.h"
#include "tests/lib/hall.h"

#include <stdio.h>
#include <stdlib.h>

enum { MEN = 3, PLATFORMS = 4, ROCKS = 10, TICKS = 150, WORLDS = 6 };

/* m. Deeper than rounding of the sweeps (1e-6) is inside. */
static const double INSIDE = 2e-6;

static struct rng rng;

static vec3 draw(double x, double y, double z)
{
	double a = rng_range(&rng, -x, x), b = rng_range(&rng, -y, y), c = rng_range(&rng, -z, z);
	return vec3_make(a, b, c);
}

static quat draw_rotation(void)
{
	vec3 v = draw(1, 1, 1);
	return quat_normalize(quat_make(rng_range(&rng, -1, 1), v.x, v.y, v.z));
}

static struct shape *draw_shape(double size)
{
	vec3 points[8];
	double a = rng_range(&rng, 0.3, 1) * size, b = rng_range(&rng, 0.3, 1) * size;
	switch (rng_below(&rng, 6)) {
	case 0:
		return make_sphere(a);
	case 1:
		return make_capsule(a, b);
	case 2:
		return make_cylinder(a, b);
	case 3:
		return make_cone(a, b);
	case 4:
		for (uint32_t i = 0; i < 8; i++)
			points[i] = draw(size, size, size);
		return make_hull(points, 8);
	default:
		return make_box(a, b, size * rng_range(&rng, 0.1, 1));
	}
}

static struct shape *draw_walker(void)
{
	switch (rng_below(&rng, 5)) {
	case 0:
		return make_sphere(0.4);
	case 1:
		return make_cylinder(0.5, 0.3);
	case 2:
		return make_box(0.3, 0.8, 0.3);
	default:
		return make_capsule(0.6, 0.3);
	}
}

struct walks {
	struct hall hall;
	body_id men[MEN], platforms[PLATFORMS];
	uint64_t moves, squeezes, grounded, pushed, blocked;
};

static void build(struct walks *self, const char *method)
{
	struct hall *hall = &self->hall;
	hall_open(hall, method);
	hall_static(hall, make_terrain(16, 1, 0.8, rng_below(&rng, 1000)), pose_identity());
	for (uint32_t i = 0; i < ROCKS; i++)
		hall_static(hall, draw_shape(1), pose_make(draw(6, 1, 6), draw_rotation()));
	for (uint32_t i = 0; i < PLATFORMS; i++)
		self->platforms[i] = hall_animated(hall, draw_shape(1.2),
						   pose_make(draw(5, 1.5, 5), draw_rotation()),
						   vec3_zero(), vec3_zero());
	for (uint32_t i = 0; i < 4; i++)
		hall_dynamic(
			hall, draw_shape(0.5),
			pose_make(vec3_add(draw(5, 1, 5), vec3_make(0, 5, 0)), draw_rotation()), 20,
			0.5);
	for (uint32_t i = 0; i < MEN; i++) {
		vec3 at = vec3_add(draw(5, 0, 5), vec3_make(0, 4 + 2 * i, 0));
		self->men[i] = hall_animated(hall, draw_walker(), pose_make(at, quat_identity()),
					     vec3_zero(), vec3_zero());
		struct command set = hall_mover_command(self->men[i]);
		set.set_mover.step_height = rng_range(&rng, 0, 0.6);
		set.set_mover.slope = rng_range(&rng, 0.2, 1.2);
		set.set_mover.push_force = rng_range(&rng, 0, 1000);
		test_do(hall->world, &set);
	}
}

static void command_all(struct walks *self, uint32_t tick)
{
	struct hall *hall = &self->hall;
	struct command set = test_command(COMMAND_SET_VELOCITY);
	for (uint32_t i = 0; i < PLATFORMS && tick % 30 == 0; i++) {
		set.set_velocity.body = self->platforms[i];
		set.set_velocity.velocity = draw(3, 1.5, 3);
		set.set_velocity.angular_velocity = draw(1, 2, 1);
		test_do(hall->world, &set);
	}
	for (uint32_t i = 0; i < MEN; i++) {
		struct command back = test_command(COMMAND_SET_POSE);
		back.set_pose.body = self->men[i];
		back.set_pose.position = vec3_make(0, 4 + 2 * i, 0);
		if (tick % 12 == 0)
			hall_steer(hall, self->men[i], draw(4, 0, 4),
				   rng_below(&rng, 6) == 0 ? 4 : 0);
		if (hall_pose(hall, self->men[i]).position.y < -1)
			test_do(hall->world, &back);
	}
}

static void examine(struct walks *self, uint32_t world, uint32_t tick)
{
	for (uint32_t i = 0; i < MEN; i++) {
		struct mover_view view = hall_view(&self->hall, self->men[i]);
		bool squeezed = (view.flags & MOVER_SQUEEZED) != 0;
		self->moves++;
		self->squeezes += squeezed;
		self->grounded += (view.flags & MOVER_ON_GROUND) != 0;
		self->pushed += (view.flags & MOVER_PUSHES) != 0;
		self->blocked += (view.flags & MOVER_BLOCKED) != 0;
		double depth = squeezed ? 0 : hall_overlap(&self->hall, self->men[i]);
		ck_assert_msg(depth <= INSIDE, "world %u, tick %u: mover %u is %.3g m inside",
			      world, tick, self->men[i], depth);
	}
}

START_TEST(no_mover_ends_inside_anything)
{
	static const char *const methods[] = { "soft-step", "free", "lcp" };
	struct walks walks = { .moves = 0 };
	const char *factor = getenv("CAIRN_POSES");
	uint32_t worlds = WORLDS * (factor != NULL ? (uint32_t)atoi(factor) : 1);
	rng = rng_seeded(check_seed());
	for (uint32_t world = 0; world < worlds; world++) {
		build(&walks, methods[world % COUNT_OF(methods)]);
		for (uint32_t tick = 0; tick < TICKS; tick++) {
			command_all(&walks, tick);
			test_step(walks.hall.world, 1);
			examine(&walks, world, tick);
		}
		test_check(walks.hall.world);
		hall_close(&walks.hall);
	}
	printf("# %llu moves: %llu on ground, %llu blocked, %llu pushing, %llu squeezed\n",
	       (unsigned long long)walks.moves, (unsigned long long)walks.grounded,
	       (unsigned long long)walks.blocked, (unsigned long long)walks.pushed,
	       (unsigned long long)walks.squeezes);
	ck_assert_uint_gt(walks.grounded, walks.moves / 5);
	ck_assert_uint_lt(walks.squeezes, walks.moves / 20);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("property/mover walks");
	TCase *all = tcase_create("walks");
	tcase_set_timeout(all, 1200);
	tcase_add_test(all, no_mover_ends_inside_anything);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
