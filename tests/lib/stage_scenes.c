/* See stage_scenes.h. */
#include "tests/lib/stage_scenes.h"

#include "server/base/rng.h"
#include "server/engine/math/sym3.h"
#include "tests/lib/shapes.h"

#include <stdlib.h>

uint32_t stage_ground(struct stage *self)
{
	uint32_t plane = stage_shape(self, make_plane(vec3_make(0, 1, 0), 0));
	return stage_add(self, (struct stage_body){ .status = BODY_STATIC, .shape = plane });
}

uint32_t stage_stack(struct stage *self, uint32_t count)
{
	stage_ground(self);
	uint32_t box = stage_shape(self, make_box(0.5, 0.5, 0.5));
	uint32_t lowest = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t row =
			stage_add(self, (struct stage_body){ .status = BODY_DYNAMIC,
							     .shape = box,
							     .position = { 0, 0.5 + i, 0 } });
		lowest = i == 0 ? row : lowest;
	}
	return lowest;
}

static vec3 random_within(struct rng *rng, vec3 low, vec3 high)
{
	double x = rng_range(rng, low.x, high.x), y = rng_range(rng, low.y, high.y);
	return vec3_make(x, y, rng_range(rng, low.z, high.z));
}

void stage_bomb(struct stage *self, uint32_t count, uint64_t seed)
{
	struct rng rng = rng_seeded(seed);
	uint32_t sphere = stage_shape(self, make_sphere(0.5));
	for (uint32_t i = 0; i < count; i++)
		stage_add(self, (struct stage_body){
					.status = BODY_DYNAMIC,
					.shape = sphere,
					.position = random_within(&rng, vec3_make(-.5, 2.5, -.5),
								  vec3_make(.5, 3.5, .5)) });
}

static uint32_t random_hull(struct stage *self, struct rng *rng)
{
	vec3 points[12];
	for (uint32_t i = 0; i < COUNT_OF(points); i++) {
		vec3 to = vec3_normalize(random_within(rng, vec3_all(-1), vec3_all(1)));
		points[i] = vec3_scale(to, rng_range(rng, 0.3, 0.6));
	}
	return stage_shape(self, make_hull(points, (uint32_t)COUNT_OF(points)));
}

static void add_walls(struct stage *self)
{
	for (uint32_t i = 0; i < 4; i++) {
		double side = i % 2 == 0 ? 1 : -1;
		vec3 normal = i < 2 ? vec3_make(side, 0, 0) : vec3_make(0, 0, side);
		uint32_t plane = stage_shape(self, make_plane(normal, -4));
		stage_add(self, (struct stage_body){ .status = BODY_STATIC, .shape = plane });
	}
}

void stage_mixed(struct stage *self, uint32_t count, uint64_t seed)
{
	struct rng rng = rng_seeded(seed);
	uint32_t terrain = stage_shape(self, make_terrain(10, 1.0, 0.4, seed));
	stage_add(self, (struct stage_body){ .status = BODY_STATIC, .shape = terrain });
	add_walls(self);
	uint32_t shapes[7];
	shapes[0] = stage_shape(self, make_sphere(0.3));
	shapes[1] = stage_shape(self, make_sphere(0.5));
	shapes[2] = stage_shape(self, make_capsule(0.3, 0.25));
	shapes[3] = stage_shape(self, make_box(0.4, 0.4, 0.4));
	shapes[4] = stage_shape(self, make_box(0.6, 0.2, 0.3));
	shapes[5] = random_hull(self, &rng);
	shapes[6] = random_hull(self, &rng);
	for (uint32_t i = 0; i < count; i++) {
		vec3 at = random_within(&rng, vec3_make(-3, 1.5, -3), vec3_make(3, 6, 3));
		vec3 turn = random_within(&rng, vec3_all(-3), vec3_all(3));
		stage_add(self, (struct stage_body){
					.status = BODY_DYNAMIC,
					.shape = shapes[rng_below(&rng, 7)],
					.position = at,
					.rotation = quat_from_rotation_vector(turn),
					.velocity = random_within(&rng, vec3_all(-3), vec3_all(3)),
					.spin = random_within(&rng, vec3_all(-5), vec3_all(5)),
					.restitution = rng_below(&rng, 3) == 0 ? 0.5 : 0 });
	}
}

uint32_t stage_terrain(struct stage *self, uint32_t cells, double size, double bump)
{
	uint32_t terrain = stage_shape(self, make_terrain(cells, size, bump, 7));
	return stage_add(self, (struct stage_body){ .status = BODY_STATIC, .shape = terrain });
}

static void set_slab_mass(struct stage *self, uint32_t row, double across, double high)
{
	struct body_table *body = &self->tables.body;
	double mass = 1000 * across * across * high,
	       flat = mass / 12 * (across * across + high * high);
	double upright = mass / 6 * across * across;
	body->mass[row] = mass;
	body->mass_inv[row] = 1 / mass;
	sym3_store(sym3_of(mat3_diagonal(vec3_make(flat, upright, flat))), body->inertia[row]);
	sym3_store(sym3_of(mat3_diagonal(vec3_make(1 / flat, 1 / upright, 1 / flat))),
		   body->inertia_inv[row]);
}

uint32_t stage_slab(struct stage *self, uint32_t side, double half, vec3 position, quat rotation)
{
	uint32_t cube = stage_shape(self, make_box(half, half, half)), more = side * side - 1;
	uint32_t row = stage_add(self, (struct stage_body){ .status = BODY_DYNAMIC,
							    .shape = cube,
							    .position = position,
							    .rotation = rotation });
	if (dynamics_body_reserve(&self->dynamics, 0, more) != STATUS_OK)
		abort();
	struct placement_table *placement = &self->tables.placement;
	uint32_t last = self->tables.body.first_placement[row] - 1;
	for (uint32_t i = 0; i <= more; i++) {
		if (i > 0) {
			uint32_t next = dynamics_placement_take(&self->dynamics);
			placement->next[last] = next + 1;
			placement->body[next] = row + 1;
			placement->shape[next] = cube;
			placement->rotation[next] = quat_identity();
			self->tables.shape.uses[cube]++;
			last = next;
		}
		placement->position[last] = vec3_make((2.0 * (i % side) + 1 - side) * half, 0,
						      (2.0 * (i / side) + 1 - side) * half);
	}
	set_slab_mass(self, row, 2 * half * side, 2 * half);
	dynamics_body_changed(&self->dynamics, row);
	return row;
}
