/* Nothing passes through static and animated obstacles: seeded trials against a conservative oracle.
 *
 * The oracle knows nothing of the sweep. A wall's front face is a plane of which every mass centre must stay
 * on its side after every tick; of a mesh no segment between the mass centres of two ticks may pass a
 * triangle from its front to its back. A body that passes counts as a miss; none is allowed.
 *
 * CAIRN_TUNNEL=N is the number of trials of each family (1000 shots at walls, 200 drops; `make soak-tunnel`:
 * 10^5), CAIRN_TUNNEL_MINUTES the simulated time of each closed room (0.05; 10). */
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/engine/geometry/mesh.h"
#include "tests/lib/check_main.h"
#include "tests/lib/model.h"
#include "tests/lib/poses.h"
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
				printf("# seed %llu, body %u passes wall %d: tick %u, dt %.3g, %.3g m\n",
				       (unsigned long long)seed, row, (int)kind, tick, stage.dt,
				       stage.tables.body.position[row].x - front);
		}
	}
	stage_release(&stage);
	return misses;
}

static void shoot_all(make_shot *make, double spin_most, uint64_t family)
{
	uint32_t rounds = (uint32_t)(number_of("CAIRN_TUNNEL", 1000) / BODIES), misses = 0;
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

/* ---- drops on meshes ------------------------------------------------------------------------ */

/* Whether the way from p to q passes a triangle from its front to its back. */
static bool passes_triangle(const struct mesh *mesh, uint32_t t, vec3 p, vec3 q)
{
	vec3 a = mesh_corner(mesh, t, 0), b = mesh_corner(mesh, t, 1), c = mesh_corner(mesh, t, 2);
	vec3 n = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
	double before = vec3_dot(n, vec3_sub(p, a)), after = vec3_dot(n, vec3_sub(q, a));
	if (!(before > 0 && after <= 0))
		return false;
	vec3 at = vec3_lerp(p, q, before / (before - after));
	return vec3_dot(n, vec3_cross(vec3_sub(b, a), vec3_sub(at, a))) >= 0 &&
	       vec3_dot(n, vec3_cross(vec3_sub(c, b), vec3_sub(at, b))) >= 0 &&
	       vec3_dot(n, vec3_cross(vec3_sub(a, c), vec3_sub(at, c))) >= 0;
}

static bool passes_mesh(const struct mesh *mesh, vec3 p, vec3 q)
{
	struct mesh_walk walk;
	uint32_t t;
	mesh_walk_init(&walk, mesh, aabb_make(vec3_min(p, q), vec3_max(p, q)));
	while (mesh_walk_next(&walk, &t))
		if (passes_triangle(mesh, t, p, q))
			return true;
	return false;
}

/* Meshes of Debian's packages, in the size of a room, and a terrain. */
static struct shape *ground_mesh(uint32_t which)
{
	static const char *const NAMES[] = { "bunny.obj", "cat.3ds", "horse.3ds" };
	struct shape *shape;
	struct reason why;
	if (which >= COUNT_OF(NAMES) || model_read(NAMES[which], &shape, &why) != STATUS_OK)
		return make_terrain(40, 0.5, which % 2 == 0 ? 0.6 : 0.2, which);
	/* Made anew 8 m wide. */
	const struct mesh *mesh = shape->mesh;
	vec3 size = vec3_sub(shape->aabb_max, shape->aabb_min);
	double scale = 8 / vec3_max_component(size);
	vec3 *vertices = heap_alloc(mesh->vertex_count * sizeof *vertices);
	ck_assert(vertices != NULL);
	for (uint32_t v = 0; v < mesh->vertex_count; v++)
		vertices[v] = vec3_scale(mesh->vertices[v], scale);
	struct shape *large =
		make_mesh(vertices, mesh->vertex_count, (const uint32_t(*)[3])mesh->triangles,
			  mesh->triangle_count);
	heap_free(vertices);
	shape_release(shape);
	return large;
}

static uint32_t make_any(struct stage *stage, struct rng *rng, double *reach)
{
	vec3 points[12];
	double size = random_size(rng, 0.02, 0.4);
	*reach = 2 * size;
	switch (rng_below(rng, 5)) {
	case 0:
		return make_ball(stage, rng, reach);
	case 1:
		return make_thin(stage, rng, reach);
	case 2:
		return stage_shape(stage, make_box(size, size * 0.7, size * 0.5));
	case 3:
		return stage_shape(stage, make_capsule(size, 0.4 * size));
	default:
		for (uint32_t i = 0; i < COUNT_OF(points); i++)
			points[i] = vec3_scale(random_direction(rng), size);
		return stage_shape(stage, make_hull(points, COUNT_OF(points)));
	}
}

/* BODIES bodies fall from 2 to 200 m, at the speed that they have a little above the mesh. */
static uint32_t drop(uint64_t seed)
{
	enum { TICKS = 60 };
	struct rng rng = rng_seeded(seed);
	struct stage stage;
	stage_init(&stage, "soft-step");
	struct shape *shape = ground_mesh(rng_below(&rng, 5));
	uint32_t ground = stage_shape(&stage, shape), misses = 0, shapes[SHOTS];
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC, .shape = ground });
	double reach[SHOTS];
	bool passed[BODIES + 1] = { false };
	vec3 middle = vec3_lerp(shape->aabb_min, shape->aabb_max, 0.5);
	vec3 half = vec3_scale(vec3_sub(shape->aabb_max, shape->aabb_min), 0.5);
	for (uint32_t k = 0; k < SHOTS; k++)
		shapes[k] = make_any(&stage, &rng, &reach[k]);
	for (uint32_t i = 0; i < BODIES; i++) {
		uint32_t k = rng_below(&rng, SHOTS);
		double fall = random_size(&rng, 2, 200);
		struct stage_body body = { .status = BODY_DYNAMIC,
					   .shape = shapes[k],
					   .rotation = random_rotation(&rng) };
		body.velocity.y = -scalar_sqrt(2 * 9.81 * fall);
		body.position.x = middle.x + 0.8 * half.x * rng_range(&rng, -1, 1);
		body.position.z = middle.z + 0.8 * half.z * rng_range(&rng, -1, 1);
		body.position.y = shape->aabb_max.y + reach[k] + rng_range(&rng, 0.1, 3);
		vec3 spin = random_direction(&rng);
		body.spin = vec3_scale(spin, rng_range(&rng, 0, 10));
		uint32_t row = stage_add(&stage, body);
		stage.tables.body.group[row] = i % 2 == 0 ? -1 : 0;
	}
	for (uint32_t tick = 1; tick <= TICKS; tick++) {
		vec3 before[BODIES + 1];
		for (uint32_t row = 1; row <= BODIES; row++)
			before[row] = dynamics_centre(&stage.tables, row);
		stage_step(&stage);
		for (uint32_t row = 1; row <= BODIES; row++) {
			vec3 now = dynamics_centre(&stage.tables, row);
			if (passed[row] || !passes_mesh(shape->mesh, before[row], now))
				continue;
			passed[row] = true;
			if (misses++ == 0)
				printf("# seed %llu, body %u: passes a mesh of %u at tick %u\n",
				       (unsigned long long)seed, row, shape->mesh->triangle_count,
				       tick);
		}
	}
	stage_release(&stage);
	return misses;
}

START_TEST(drops_do_not_pass_meshes)
{
	uint32_t rounds = (uint32_t)(number_of("CAIRN_TUNNEL", 200) / BODIES), misses = 0;
	for (uint32_t i = 0; i < rounds; i++)
		misses += drop(check_seed() * 1000003 + 300000007 + i);
	printf("# %u drops, %u misses\n", rounds * BODIES, misses);
	fflush(stdout);
	ck_assert_uint_eq(misses, 0);
}
END_TEST

/* ---- a closed room -------------------------------------------------------------------------- */

/* 4 m wide, of walls of 5 cm: boxes, or one mesh. */
static void add_room(struct stage *stage, bool mesh)
{
	static const uint32_t FACES[6][4] = { { 0, 1, 3, 2 }, { 4, 6, 7, 5 }, { 0, 4, 5, 1 },
					      { 2, 3, 7, 6 }, { 0, 2, 6, 4 }, { 1, 5, 7, 3 } };
	if (!mesh) {
		uint32_t box = stage_shape(stage, make_box(2.1, 0.025, 2.1));
		for (uint32_t k = 0; k < 6; k++) {
			vec3 n = vec3_zero();
			double side = k % 2 == 0 ? 1 : -1;
			*(k < 2 ? &n.x : k < 4 ? &n.y : &n.z) = side;
			vec3 about = k < 2 ? vec3_make(0, 0, PI / 2) : vec3_make(PI / 2, 0, 0);
			stage_add(stage,
				  (struct stage_body){
					  .status = BODY_STATIC,
					  .shape = box,
					  .position = vec3_scale(n, 2.025),
					  .rotation = k == 2 || k == 3
							      ? quat_identity()
							      : quat_from_rotation_vector(about),
					  .restitution = 0.5 });
		}
		return;
	}
	vec3 corners[8];
	uint32_t triangles[12][3];
	for (uint32_t v = 0; v < 8; v++)
		corners[v] = vec3_make(v & 4 ? 2 : -2, v & 2 ? 2 : -2, v & 1 ? 2 : -2);
	for (uint32_t f = 0; f < 6; f++)
		for (uint32_t h = 0; h < 2; h++) {
			triangles[2 * f + h][0] = FACES[f][0];
			triangles[2 * f + h][1] = FACES[f][h == 0 ? 2 : 3];
			triangles[2 * f + h][2] = FACES[f][h == 0 ? 1 : 2];
		}
	uint32_t shape =
		stage_shape(stage, make_mesh(corners, 8, (const uint32_t(*)[3])triangles, 12));
	stage_add(stage,
		  (struct stage_body){ .status = BODY_STATIC, .shape = shape, .restitution = 0.5 });
}

static void keep_in_room(bool mesh)
{
	enum { DEBRIS = 60 };
	struct rng rng = rng_seeded(check_seed() + mesh);
	struct stage stage;
	stage_init(&stage, "soft-step");
	add_room(&stage, mesh);
	uint32_t first = stage.tables.body.count, shapes[SHOTS], lost = 0;
	double reach[SHOTS];
	for (uint32_t k = 0; k < SHOTS; k++)
		shapes[k] = make_any(&stage, &rng, &reach[k]);
	for (uint32_t i = 0; i < DEBRIS; i++) {
		struct stage_body body = { .status = BODY_DYNAMIC,
					   .shape = shapes[rng_below(&rng, SHOTS)],
					   .restitution = 0.5,
					   .wakeful = true };
		body.rotation = random_rotation(&rng);
		body.position = random_direction(&rng);
		stage_add(&stage, body);
	}
	uint32_t ticks = (uint32_t)(3600 * number_of("CAIRN_TUNNEL_MINUTES", 0.05));
	for (uint32_t tick = 0; tick < ticks; tick++) {
		/* One of them is shot anew in each tick. */
		uint32_t row = first + rng_below(&rng, DEBRIS);
		vec3 aim = random_direction(&rng);
		stage.tables.body.velocity[row] = vec3_scale(aim, random_size(&rng, 1, 100));
		vec3 about = random_direction(&rng);
		stage.tables.body.angular_velocity[row] = vec3_scale(about, rng_range(&rng, 0, 50));
		dynamics_body_moved(&stage.dynamics, row);
		stage_step(&stage);
		for (uint32_t i = first; i < first + DEBRIS; i++) {
			vec3 at = vec3_abs(dynamics_centre(&stage.tables, i));
			if (vec3_max_component(at) < 2)
				continue;
			if (lost++ == 0)
				printf("# seed %llu: body %u leaves the room at tick %u\n",
				       (unsigned long long)check_seed(), i, tick);
			stage.tables.body.position[i] = vec3_zero();
			dynamics_body_moved(&stage.dynamics, i);
		}
	}
	printf("# %u ticks, %u lost\n", ticks, lost);
	fflush(stdout);
	stage_release(&stage);
	ck_assert_uint_eq(lost, 0);
}

START_TEST(debris_stays_in_a_room_of_boxes)
{
	keep_in_room(false);
}
END_TEST

START_TEST(debris_stays_in_a_room_of_triangles)
{
	keep_in_room(true);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tunnel");
	TCase *walls = tcase_create("walls"), *meshes = tcase_create("meshes"),
	      *rooms = tcase_create("rooms");
	tcase_set_timeout(walls, 0);
	tcase_set_timeout(meshes, 0);
	tcase_set_timeout(rooms, 0);
	tcase_add_test(walls, balls_do_not_pass_walls);
	tcase_add_test(walls, spinning_rods_and_plates_do_not_pass_walls);
	tcase_add_test(meshes, drops_do_not_pass_meshes);
	tcase_add_test(rooms, debris_stays_in_a_room_of_boxes);
	tcase_add_test(rooms, debris_stays_in_a_room_of_triangles);
	suite_add_tcase(suite, walls);
	suite_add_tcase(suite, meshes);
	suite_add_tcase(suite, rooms);
	return suite;
}

int main(void)
{
	return check_main(make);
}
