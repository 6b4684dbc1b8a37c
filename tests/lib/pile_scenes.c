/* See pile_scenes.h. */
#include "tests/lib/pile_scenes.h"

#include "server/base/rng.h"
#include "server/engine/math/quat.h"
#include "server/engine/math/scalar.h"
#include "server/engine/math/trig.h"
#include "tests/lib/shapes.h"

/* n³ spheres on a lattice over (0, bottom, 0). */
static void add_lattice(struct stage *self, uint32_t n, double bottom, double spacing,
			double jitter, uint64_t seed)
{
	struct rng rng = rng_seeded(seed);
	uint32_t ball = stage_shape(self, make_sphere(0.5));
	double half = 0.5 * (n - 1) * spacing;
	for (uint32_t i = 0; i < n * n * n; i++) {
		vec3 at = vec3_scale(vec3_make(i % n, i / n / n, i / n % n), spacing);
		at = vec3_add(at, vec3_make(-half, bottom, -half));
		at.x += rng_range(&rng, -jitter, jitter);
		at.y += rng_range(&rng, -jitter, jitter);
		at.z += rng_range(&rng, -jitter, jitter);
		stage_add(self, (struct stage_body){ .status = BODY_DYNAMIC,
						     .shape = ball,
						     .position = at,
						     .mass = 1,
						     .friction = -1 });
	}
}

static void add_wall(struct stage *self, vec3 normal, double offset)
{
	uint32_t wall = stage_shape(self, make_plane(normal, offset));
	stage_add(self,
		  (struct stage_body){ .status = BODY_STATIC, .shape = wall, .friction = -1 });
}

void pile_scene_box(struct stage *self, uint32_t n, uint64_t seed)
{
	double spacing = 1.25, half = 0.5 * n * spacing;
	stage_init(self, "pile");
	stage_parameter(self, PARAMETER_SLEEP_TIME, 0);
	add_wall(self, vec3_make(0, 1, 0), 0);
	add_wall(self, vec3_make(1, 0, 0), -half);
	add_wall(self, vec3_make(-1, 0, 0), -half);
	add_wall(self, vec3_make(0, 0, 1), -half);
	add_wall(self, vec3_make(0, 0, -1), -half);
	add_lattice(self, n, 0.5 * spacing, spacing, 0.1, seed);
}

void pile_scene_hourglass(struct stage *self, uint32_t n, uint64_t seed)
{
	enum { SIDES = 32, RINGS = 6, CAP = SIDES - 2 };
	double wide = 0.84 * n;
	const double rings[RINGS][2] = { { wide, 1.8 * n },	 { wide, 0.7 * n },
					 { 0.24 * n, 0.12 * n }, { 0.24 * n, -0.12 * n },
					 { wide, -0.7 * n },	 { wide, -1.8 * n } };
	vec3 points[RINGS * SIDES];
	uint32_t triangles[2 * SIDES * (RINGS - 1) + 2 * CAP][3], count = 0;
	for (uint32_t i = 0; i < RINGS * SIDES; i++) {
		double sine, cosine;
		trig_sincos(TWO_PI * (i % SIDES) / SIDES, &sine, &cosine);
		points[i] = vec3_make(rings[i / SIDES][0] * cosine, rings[i / SIDES][1],
				      rings[i / SIDES][0] * sine);
	}
	for (uint32_t i = 0; i < (RINGS - 1) * SIDES; i++) {
		uint32_t next = i / SIDES * SIDES + (i + 1) % SIDES;
		const uint32_t two[2][3] = { { i, i + SIDES, next },
					     { next, i + SIDES, next + SIDES } };
		for (uint32_t k = 0; k < 6; k++)
			triangles[count + k / 3][k % 3] = two[k / 3][k % 3];
		count += 2;
	}
	for (uint32_t i = 0; i < CAP; i++) {
		uint32_t last = (RINGS - 1) * SIDES;
		const uint32_t two[2][3] = { { 0, i + 1, i + 2 },
					     { last, last + i + 2, last + i + 1 } };
		for (uint32_t k = 0; k < 6; k++)
			triangles[count + k / 3][k % 3] = two[k / 3][k % 3];
		count += 2;
	}
	stage_init(self, "pile");
	stage_parameter(self, PARAMETER_SLEEP_TIME, 0);
	uint32_t glass = stage_shape(self, make_mesh(points, RINGS * SIDES, triangles, count));
	stage_add(self,
		  (struct stage_body){ .status = BODY_STATIC, .shape = glass, .friction = -1 });
	add_lattice(self, n, 0.7 * n + 0.81, 1.04, 0.015, seed);
}

double pile_scene_energy(const struct stage *self)
{
	return stage_potential(self);
}

uint32_t pile_scene_below(const struct stage *self, double height)
{
	const struct body_table *bodies = &self->tables.body;
	uint32_t count = 0;
	for (uint32_t row = 0; row < bodies->count; row++)
		count += bodies->status[row] == BODY_DYNAMIC && bodies->position[row].y < height;
	return count;
}

uint32_t pile_scene_outside(const struct stage *self, double radius)
{
	const struct body_table *bodies = &self->tables.body;
	uint32_t count = 0;
	for (uint32_t row = 0; row < bodies->count; row++) {
		vec3 at = bodies->position[row];
		at.y = 0;
		count += bodies->status[row] == BODY_DYNAMIC && vec3_length(at) > radius;
	}
	return count;
}
