/* `impact` on one-sided surfaces: no mass centre passes a mesh or a heightfield. Bodies of every
 * kind, thin ones among them, fall, spin and shoot onto uneven ground of steep triangles.
 *
 * CAIRN_SURFACES=N: N bodies, for 90 ticks, instead of 200 for 20 (`make soak-surfaces`). */
#include "server/base/rng.h"
#include "server/engine/geometry/ray.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage.h"

#include <stdio.h>
#include <stdlib.h>

enum { BODIES = 20, WORLDS = 10, TICKS = 20, TICKS_LONG = 90, CELLS_MAX = 80 };
#define SIDE_LENGTH 24.0 /* m */

static struct shape *make_any_hull(double size, struct rng *rng)
{
	vec3 points[10];
	for (uint32_t k = 0; k < COUNT_OF(points); k++)
		points[k] = vec3_scale(random_direction(rng), size);
	return make_hull(points, COUNT_OF(points));
}

enum { KINDS = 12 };
static const char *const NAMES[KINDS] = { "sphere",    "capsule",     "cube",	    "plank",
					  "thin box",  "coin",	      "cylinder",   "cone",
					  "ellipsoid", "rounded box", "octahedron", "hull" };

static struct shape *make_kind(uint32_t kind, struct rng *rng)
{
	double size = rng_range(rng, 0.15, 0.5);
	const vec3 points[6] = { { size, 0, 0 },  { -size, 0, 0 }, { 0, size, 0 },
				 { 0, -size, 0 }, { 0, 0, size },  { 0, 0, -size } };
	switch (kind) {
	case 0:
		return make_sphere(size);
	case 1:
		return make_capsule(size, 0.4 * size);
	case 2:
		return make_box(size, size, size);
	case 3:
		return make_box(size, 0.25 * size, 0.4 * size);
	case 4:
		return make_box(size, 0.02 * size, size);
	case 5:
		return make_cylinder(0.05 * size, size);
	case 6:
		return make_cylinder(size, 0.5 * size);
	case 7:
		return make_cone(size, 0.6 * size);
	case 8:
		return make_ellipsoid(size, 0.5 * size, 0.7 * size);
	case 9:
		return make_rounded_box(size, 0.3 * size, 0.5 * size, 0.1 * size);
	case 10:
		return make_hull(points, 6);
	}
	return make_any_hull(size, rng);
}

/* Whether the ground is above a point. */
static bool is_below(const struct shape *ground, vec3 at)
{
	struct shape_hit hit;
	vec3 high = vec3_make(at.x, 1000, at.z), down = vec3_make(0, -2000, 0);
	return ray_shape(ground, high, down, 1, &hit) && 1000 - 2000 * hit.fraction > at.y;
}

/* A mesh or a heightfield of slopes of up to 56 degrees. */
static struct shape *make_ground(bool mesh, double cell, double bump, struct rng *rng)
{
	static float heights[(CELLS_MAX + 1) * (CELLS_MAX + 1)];
	uint32_t cells = (uint32_t)(SIDE_LENGTH / cell), side = cells + 1;
	ck_assert_uint_le(cells, CELLS_MAX);
	if (mesh)
		return make_terrain(cells, cell, bump, rng_u64(rng));
	for (uint32_t k = 0; k < side * side; k++)
		heights[k] = (float)rng_range(rng, 0, bump);
	struct height_grid grid = { side, side, cell, cell, heights, NULL, NULL, false };
	return make_heightfield(&grid);
}

static uint32_t add_body(struct stage *stage, uint32_t kind, vec3 at, struct rng *rng)
{
	double spin = rng_below(rng, 2) == 0 ? 40 : 5;
	double speed = rng_below(rng, 4) == 0 ? 8 : 60;
	double restitution = rng_range(rng, -0.8, 0.8);
	vec3 velocity = random_vector(rng, 5);
	velocity.y = -rng_range(rng, 0, speed);
	struct stage_body body = {
		.status = BODY_DYNAMIC,
		.shape = stage_shape(stage, make_kind(kind, rng)),
		.position = at,
		.rotation = random_rotation(rng),
		.velocity = velocity,
		.restitution = scalar_max(restitution, 0),
	};
	body.spin = random_vector(rng, spin);
	return stage_add(stage, body);
}

/* Counts in `lost` by kind the bodies that pass the ground of a world. */
static uint32_t drop_bodies(uint32_t world, uint32_t ticks, uint32_t lost[KINDS])
{
	struct rng rng = rng_seeded(check_seed() + world);
	struct stage stage;
	uint32_t rows[BODIES], kinds[BODIES], count = 0;
	bool done[BODIES] = { false };
	double cell = rng_range(&rng, 0.3, 1.2);
	double bump = rng_range(&rng, 0.1, 1.5) * cell;
	struct shape *ground = make_ground(world % 2 == 0, cell, bump, &rng);
	stage_init(&stage, "impact");
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC,
					       .shape = stage_shape(&stage, ground) });
	for (uint32_t i = 0; i < BODIES; i++) {
		vec3 at = vec3_make((i % 5 - 2.0) * 4, bump + 0.8, (i / 5 - 1.5) * 4);
		kinds[i] = rng_below(&rng, KINDS);
		rows[i] = add_body(&stage, kinds[i], at, &rng);
	}
	for (uint32_t tick = 0; tick < ticks; tick++) {
		stage_step(&stage);
		for (uint32_t i = 0; i < BODIES; i++) {
			const struct body_table *body = &stage.tables.body;
			vec3 arm = quat_rotate(body->rotation[rows[i]], body->centre[rows[i]]);
			if (done[i] || !is_below(ground, vec3_add(body->position[rows[i]], arm)))
				continue;
			done[i] = true;
			lost[kinds[i]]++;
			count++;
			printf("# seed %llu world %u tick %u body %u: %s\n",
			       (unsigned long long)check_seed(), world, tick, rows[i],
			       NAMES[kinds[i]]);
		}
	}
	stage_release(&stage);
	return count;
}

START_TEST(no_mass_centre_passes_a_surface)
{
	const char *wanted = getenv("CAIRN_SURFACES");
	uint32_t worlds = 1, lost[KINDS] = { 0 }, count = 0;
	if (wanted != NULL)
		worlds = ((uint32_t)atoi(wanted) + BODIES * WORLDS - 1) / (BODIES * WORLDS);
	for (uint32_t k = 0; k < worlds; k++)
		count += drop_bodies(k * WORLDS + (uint32_t)_i, wanted != NULL ? TICKS_LONG : TICKS,
				     lost);
	for (uint32_t kind = 0; kind < KINDS; kind++)
		if (lost[kind] > 0)
			printf("# %s: %u lost\n", NAMES[kind], lost[kind]);
	ck_assert_msg(count == 0, "%u of %u bodies pass the ground", count, worlds * BODIES);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("impact surfaces");
	TCase *surfaces = tcase_create("surfaces");
	tcase_add_loop_test(surfaces, no_mass_centre_passes_a_surface, 0, WORLDS);
	suite_add_tcase(suite, surfaces);
	return suite;
}

int main(void)
{
	return check_main(make);
}
