/* Nothing passes through static and animated obstacles: seeded trials against a conservative oracle.
 *
 * The oracle knows nothing of the sweep. A wall's front face is a plane of which every mass centre must stay
 * on its side after every tick; of a mesh no segment between the mass centres of two ticks may pass a
 * triangle from its front to its back. A body that passes counts as a miss; none is allowed.
 *
 * CAIRN_TUNNEL=N is the number of trials of each family (2000; `make soak-tunnel`: 10^5), CAIRN_TUNNEL_MINUTES
 * the simulated time of the closed room (0.25; 10). */
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/engine/geometry/mesh.h"
#include "tests/lib/check_main.h"
#include "tests/lib/model.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 100, WALL_TICKS = 24 };

static double number_of(const char *name, double otherwise)
{
	const char *text = getenv(name);
	return text != NULL ? strtod(text, NULL) : otherwise;
}

static vec3 random_direction(struct rng *rng)
{
	for (;;) {
		double x = rng_range(rng, -1, 1), y = rng_range(rng, -1, 1),
		       z = rng_range(rng, -1, 1);
		vec3 v = vec3_make(x, y, z);
		double square = vec3_length_squared(v);
		if (square > 0.01 && square <= 1)
			return vec3_normalize(v);
	}
}

static quat random_rotation(struct rng *rng)
{
	vec3 axis = random_direction(rng);
	return quat_from_rotation_vector(vec3_scale(axis, rng_range(rng, 0, PI)));
}

/* Log-uniform, because small and large sizes and speeds matter alike. */
static double random_size(struct rng *rng, double low, double high)
{
	double octaves = 0, at = low;
	for (; at * 2 < high; at *= 2)
		octaves++;
	uint32_t octave = rng_below(rng, (uint32_t)octaves + 1);
	for (at = low; octave > 0; octave--)
		at *= 2;
	return scalar_min(at * rng_range(rng, 1, 2), high);
}

static double random_tick(struct rng *rng)
{
	static const double TICKS[] = { 1.0 / 60, 1.0 / 60, 1.0 / 120, 1.0 / 30, 0.25 };
	return TICKS[rng_below(rng, COUNT_OF(TICKS))];
}

/* ---- walls --------------------------------------------------------------------------------- */

enum wall { WALL_BOX, WALL_MESH, WALL_PLANE, WALL_ANIMATED, WALL_KINDS };

/* A wall whose front face is x = 0 (an animated one's: at the start), 2 km wide. Returns its speed along x,
 * m/s. */
static double add_wall(struct stage *stage, struct rng *rng, enum wall kind, double restitution)
{
	double thick = random_size(rng, 0.02, 0.2), speed = 0;
	struct stage_body wall = { .status = BODY_STATIC, .restitution = restitution };
	if (kind == WALL_PLANE) {
		wall.shape = stage_shape(stage, make_plane(vec3_make(-1, 0, 0), 0));
	} else if (kind == WALL_MESH) {
		/* A row of squares in x and z, turned so that its upper side looks along −x. */
		wall.shape = stage_shape(stage, make_terrain(20, 100, 0, 1));
		wall.rotation = quat_from_rotation_vector(vec3_make(0, 0, PI / 2));
	} else {
		wall.shape = stage_shape(stage, make_box(0.5 * thick, 1000, 1000));
		wall.position.x = 0.5 * thick;
		if (kind == WALL_ANIMATED) {
			wall.status = BODY_ANIMATED;
			speed = wall.velocity.x = rng_range(rng, -60, 20);
		}
	}
	stage_add(stage, wall);
	return speed;
}

typedef uint32_t make_shot(struct stage *stage, struct rng *rng, double *reach);

static uint32_t make_ball(struct stage *stage, struct rng *rng, double *reach)
{
	*reach = random_size(rng, 0.01, 0.5);
	return stage_shape(stage, make_sphere(*reach));
}

/* A long thin rod, box or capsule, or a thin plate. */
static uint32_t make_thin(struct stage *stage, struct rng *rng, double *reach)
{
	double thin = random_size(rng, 0.005, 0.05), length = random_size(rng, 0.2, 2);
	*reach = length + 2 * thin;
	switch (rng_below(rng, 3)) {
	case 0:
		return stage_shape(stage, make_box(thin, length, thin));
	case 1:
		return stage_shape(stage, make_capsule(length, thin));
	default:
		*reach = 1.5 * length + thin;
		return stage_shape(stage, make_box(thin, length, length));
	}
}

enum { SHOTS = 10 }; /* shapes of a stage */

/* One stage of BODIES trials. Returns the misses. */
static uint32_t shoot(uint64_t seed, make_shot *make, double spin_most)
{
	struct rng rng = rng_seeded(seed);
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage.dt = stage.dynamics.ahead = random_tick(&rng);
	double restitution = rng_below(&rng, 3) * 0.5;
	enum wall kind = rng_below(&rng, WALL_KINDS);
	double speed = add_wall(&stage, &rng, kind, restitution), reach[SHOTS];
	uint32_t shapes[SHOTS], misses = 0;
	bool passed[BODIES + 1] = { false };
	for (uint32_t k = 0; k < SHOTS; k++)
		shapes[k] = make(&stage, &rng, &reach[k]);
	for (uint32_t i = 0; i < BODIES; i++) {
		uint32_t k = rng_below(&rng, SHOTS);
		vec3 aim = random_direction(&rng);
		aim.x = scalar_abs(aim.x) + 0.05;
		double fast = random_size(&rng, 1, 500), away = rng_range(&rng, 1e-3, 12);
		vec3 spin = random_direction(&rng);
		struct stage_body body = { .status = BODY_DYNAMIC,
					   .shape = shapes[k],
					   .position = vec3_make(-reach[k] - away, 0, 0),
					   .rotation = random_rotation(&rng),
					   .velocity = vec3_scale(vec3_normalize(aim), fast),
					   .restitution = restitution };
		body.position.y = rng_range(&rng, -50, 50);
		body.position.z = rng_range(&rng, -50, 50);
		body.spin = vec3_scale(spin, rng_range(&rng, 0, spin_most));
		uint32_t row = stage_add(&stage, body);
		stage.tables.body.group[row] = -1;
	}
	for (uint32_t tick = 1; tick <= WALL_TICKS; tick++) {
		stage_step(&stage);
		double front = speed * stage.dt * tick;
		for (uint32_t row = 1; row <= BODIES; row++) {
			if (stage.tables.body.position[row].x < front || passed[row])
				continue;
			passed[row] = true;
			if (misses++ == 0)
				printf("# seed %llu, body %u: passes wall %d at tick %u, dt %.3g, by %.3g m\n",
				       (unsigned long long)seed, row, (int)kind, tick, stage.dt,
				       stage.tables.body.position[row].x - front);
		}
	}
	stage_release(&stage);
	return misses;
}

static void shoot_all(make_shot *make, double spin_most, uint64_t family)
{
	uint32_t rounds = (uint32_t)(number_of("CAIRN_TUNNEL", 2000) / BODIES), misses = 0;
	for (uint32_t i = 0; i < rounds; i++)
		misses += shoot(check_seed() * 1000003 + family * 100000007 + i, make, spin_most);
	printf("# %u trials, %u misses\n", rounds * BODIES, misses);
	fflush(stdout);
	ck_assert_uint_eq(misses, 0);
}

START_TEST(balls_do_not_pass_walls)
{
	shoot_all(make_ball, 0, 1);
}
END_TEST

START_TEST(spinning_rods_and_plates_do_not_pass_walls)
{
	shoot_all(make_thin, 60, 2);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tunnel");
	TCase *tcase = tcase_create("tunnel");
	tcase_set_timeout(tcase, 0);
	tcase_add_test(tcase, balls_do_not_pass_walls);
	tcase_add_test(tcase, spinning_rods_and_plates_do_not_pass_walls);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
