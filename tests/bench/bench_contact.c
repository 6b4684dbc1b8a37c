/* bench_contact: quality of contacts at default settings: heights, energy, momentum, rest, loads,
 * walls, seams, and what a floor costs by its triangles. Pyramids and grids are scenes of bench_cairn.
 *
 * Each line measures one property under one method: the figure, its unit, and the target. The
 * trials of tunnelling are seeded. A trial is a miss if the body's centre ends on the far side of
 * the wall and crossed it inside its outline: the wall is an infinite slab for the test, so a body
 * cannot pass beside it.
 *
 *   bench_contact [-m METHOD] [-n TRIALS] [WORD]…   lines whose name has one of the words; default:
 *   all */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/base/rng.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

#define GRAVITY 9.81

static const char *method = "soft-step";
static uint32_t trials = 1000;

static void begin(struct stage *stage, vec3 gravity)
{
	stage_init(stage, method);
	stage->tables.world.gravity[0] = gravity;
}

static vec3 down(void)
{
	return vec3_make(0, -GRAVITY, 0);
}

/* Adds a dynamic body and takes over the shape. */
static uint32_t add(struct stage *stage, struct shape *shape, struct stage_body body)
{
	body.status = BODY_DYNAMIC;
	body.shape = stage_shape(stage, shape);
	return stage_add(stage, body);
}

static void run(struct stage *stage, double seconds)
{
	stage_run(stage, (uint32_t)lround(seconds / stage->dt));
}

static vec3 place(const struct stage *stage, uint32_t body)
{
	return stage->tables.body.position[body];
}

/* ---- bounces ----------------------------------------------------------------------------------- */

/* A ball of 0.1 m falls from 1 m; the heights of its first `count` bounces, m. */
static void bounce_heights(double restitution, double *heights, uint32_t count)
{
	struct stage stage;
	begin(&stage, down());
	uint32_t ground = stage_ground(&stage);
	stage.tables.body.restitution[ground] = restitution;
	uint32_t ball =
		add(&stage, make_sphere(0.1),
		    (struct stage_body){ .position = { 0, 1.1, 0 }, .restitution = restitution });
	double before = 0;
	for (uint32_t found = 0, tick = 0; found < count && tick < 3000; tick++) {
		stage_step(&stage);
		/* The height that the speed would reach, which is exact in flight and also between
		 * ticks. */
		double speed = stage.tables.body.velocity[ball].y;
		if (before < 0 && speed > 0)
			heights[found++] =
				place(&stage, ball).y - 0.1 + speed * speed / (2 * GRAVITY);
		before = speed;
	}
	stage_release(&stage);
}

static double bounce_loss(double count)
{
	double heights[10] = { 0 };
	bounce_heights(1, heights, (uint32_t)count);
	return 100 * (1 - heights[(uint32_t)count - 1]);
}

/* The greatest error of a height's ratio to the height before, over e², of the first three bounces. */
static double bounce_ratio(double restitution)
{
	double heights[4] = { 1 }, worst = 0;
	bounce_heights(restitution, heights + 1, 3);
	for (uint32_t i = 0; i < 3; i++)
		worst = fmax(worst,
			     fabs(heights[i + 1] / heights[i] / (restitution * restitution) - 1));
	return 100 * worst;
}

/* 64 balls of 0.1 m at 5 m/s in a room of 4 m, elastic and smooth, without gravity. */
static double gas(double seconds)
{
	struct stage stage;
	begin(&stage, vec3_zero());
	struct rng rng = rng_seeded(7);
	for (uint32_t i = 0; i < 6; i++) {
		double normal[3] = { 0 };
		normal[i / 2] = i % 2 == 0 ? 1 : -1;
		uint32_t plane = stage_shape(
			&stage, make_plane(vec3_make(normal[0], normal[1], normal[2]), -2));
		stage_add(&stage, (struct stage_body){ .status = BODY_STATIC,
						       .shape = plane,
						       .friction = -1,
						       .restitution = 1 });
	}
	uint32_t ball = stage_shape(&stage, make_sphere(0.1));
	for (uint32_t i = 0; i < 64; i++) {
		vec3 at = vec3_make(i % 4, i / 4 % 4, i / 16);
		at = vec3_sub(at, vec3_all(1.5));
		stage_add(&stage,
			  (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = ball,
					       .position = at,
					       .velocity = vec3_scale(random_direction(&rng), 5),
					       .friction = -1,
					       .restitution = 1 });
	}
	double before = stage_kinetic(&stage);
	run(&stage, seconds);
	double kept = stage_kinetic(&stage) / before;
	stage_release(&stage);
	return 100 * kept;
}

/* A ball hits another obliquely, free of gravity: the change of L about the origin, in % of |L|. */
static double oblique(double speed)
{
	double worst = 0;
	for (uint32_t rough = 0; rough < 2; rough++)
		for (uint32_t i = 0; i < 20; i++) {
			struct stage stage;
			begin(&stage, vec3_zero());
			struct stage_body body = { .friction = rough ? 0.6 : -1, .restitution = 1 };
			add(&stage, make_sphere(0.5), body);
			body.position = vec3_make(-3, 0.2 + 0.7 * i / 20, 0.1);
			body.velocity = vec3_make(speed, 0, 0);
			add(&stage, make_sphere(0.5), body);
			vec3 before = stage_angular_momentum(&stage);
			run(&stage, 6 / speed + 0.1);
			double off = vec3_distance(stage_angular_momentum(&stage), before) /
				     vec3_length(before);
			worst = fmax(worst, off);
			stage_release(&stage);
		}
	return 100 * worst;
}

/* ---- rolling ----------------------------------------------------------------------------------- */

/* An iron ball of 0.1 m with a rolling friction of 1 mm rolls at 1 m/s: its speed after `seconds`. */
static double rolling(double seconds)
{
	struct stage stage;
	begin(&stage, down());
	stage_ground(&stage);
	uint32_t ball = add(&stage, make_sphere(0.1),
			    (struct stage_body){ .position = { 0, 0.1, 0 },
						 .velocity = { 1, 0, 0 },
						 .spin = { 0, 0, -10 },
						 .mass = 32.7 });
	stage.tables.body.rolling_friction[ball] = 0.001;
	run(&stage, seconds);
	double speed = stage.tables.body.velocity[ball].x;
	stage_release(&stage);
	return speed;
}

/* ---- loads ------------------------------------------------------------------------------------- */

/* A box of 1 kg under one of `mass` kg, both of 1 m: how far the upper one sinks in 10 s, m. */
static double heavy(double mass)
{
	struct stage stage;
	begin(&stage, down());
	stage_ground(&stage);
	add(&stage, make_box(0.5, 0.5, 0.5),
	    (struct stage_body){ .position = { 0, 0.5, 0 }, .mass = 1 });
	uint32_t top = add(&stage, make_box(0.5, 0.5, 0.5),
			   (struct stage_body){ .position = { 0, 1.5, 0 }, .mass = mass });
	run(&stage, 10);
	double sunk = 1.5 - place(&stage, top).y;
	stage_release(&stage);
	return sunk;
}

/* A tower of eight boxes, the top one `ratio` times as heavy as each of the seven below. Returns
 * the distance of the top box from its start after 10 s, m. */
static double tower(double ratio)
{
	struct stage stage;
	begin(&stage, down());
	stage_ground(&stage);
	uint32_t top = 0;
	for (uint32_t i = 0; i < 8; i++)
		top = add(&stage, make_box(0.5, 0.5, 0.5),
			  (struct stage_body){ .position = { 0, 0.5 + i, 0 },
					       .mass = i == 7 ? 1000 * ratio : 1000 });
	run(&stage, 10);
	double off = vec3_distance(place(&stage, top), vec3_make(0, 7.5, 0));
	stage_release(&stage);
	return off;
}

/* ---- walls ------------------------------------------------------------------------------------- */

enum { MISSILE_BALL, MISSILE_ROD, MISSILE_PLATE };

static struct shape *make_missile(uint32_t kind, double size)
{
	if (kind == MISSILE_BALL)
		return make_sphere(size);
	if (kind == MISSILE_ROD)
		return make_box(size, 0.05 * size, 0.05 * size);
	return make_box(size, 0.05 * size, size);
}

/* Throws a body of `size` m (1 … 50 cm; log-uniform) at a wall 0.02 … 0.2 m thick and 40 m wide, at
 * 1 … `speed` m/s, up to 60° off its normal, with some spin. True: it passed. */
static bool passes_wall(struct rng *rng, uint32_t kind, double speed)
{
	struct stage stage;
	begin(&stage, vec3_zero());
	double half = 0.5 * rng_range(rng, 0.02, 0.2), size = 0.01 * pow(50, rng_range(rng, 0, 1));
	uint32_t wall = stage_shape(&stage, make_box(half, 20, 20));
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC, .shape = wall });
	vec3 way = random_direction(rng);
	while (fabs(way.x) < 0.5)
		way = random_direction(rng);
	double fast = pow(speed, rng_range(rng, 0, 1));
	vec3 velocity = vec3_scale(way, way.x < 0 ? -fast : fast);
	/* Reaches the wall within the fourth tick. */
	double start = (3 + rng_range(rng, 0, 1)) * stage.dt * velocity.x + half + 2 * size;
	struct stage_body body = { .position = { -start, 0, 0 },
				   .rotation = random_rotation(rng),
				   .velocity = velocity };
	body.spin =
		vec3_scale(random_direction(rng), kind == MISSILE_BALL ? 0 : rng_range(rng, 0, 30));
	uint32_t row = add(&stage, make_missile(kind, size), body);
	bool passed = false;
	for (uint32_t i = 0; i < 30 && !passed; i++) {
		stage_step(&stage);
		vec3 at = place(&stage, row);
		/* Not one that flies by: oblique ones may miss the wall. */
		passed = at.x > half && fabs(at.y) < 20 && fabs(at.z) < 20;
	}
	stage_release(&stage);
	return passed;
}

static double walls(uint32_t kind, double speed)
{
	struct rng rng = rng_seeded(11 + kind);
	uint32_t passed = 0;
	for (uint32_t i = 0; i < trials; i++)
		passed += passes_wall(&rng, kind, speed);
	return 100.0 * passed / trials;
}

static double ball_walls(double speed)
{
	return walls(MISSILE_BALL, speed);
}

static double rod_walls(double speed)
{
	return walls(MISSILE_ROD, speed);
}

static double plate_walls(double speed)
{
	return walls(MISSILE_PLATE, speed);
}

/* 100 small bodies fall from `height` m on a terrain of triangles; % that are below it 6 s after
 * the fall. Those that bounced over its edge are not. */
static double drops(double height)
{
	struct stage stage;
	struct rng rng = rng_seeded(5);
	begin(&stage, down());
	stage_terrain(&stage, 40, 1, 0.5);
	uint32_t first = 0, lost = 0;
	uint32_t shapes[3] = { stage_shape(&stage, make_sphere(0.05)),
			       stage_shape(&stage, make_box(0.1, 0.03, 0.05)),
			       stage_shape(&stage, make_capsule(0.1, 0.03)) };
	for (uint32_t i = 0; i < 100; i++) {
		vec3 at = vec3_make(1.2 * (i % 10) - 6, height, 1.2 * (double)(i / 10) - 6);
		uint32_t row =
			stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							       .shape = shapes[i % 3],
							       .position = at,
							       .rotation = random_rotation(&rng),
							       .spin = random_vector(&rng, 10) });
		first = i == 0 ? row : first;
	}
	run(&stage, sqrt(2 * height / GRAVITY) + 6);
	for (uint32_t i = 0; i < 100; i++) {
		vec3 at = place(&stage, first + i);
		lost += at.y < -0.05 && fabs(at.x) < 20 && fabs(at.z) < 20;
	}
	stage_release(&stage);
	return lost;
}

/* ---- seams ------------------------------------------------------------------------------------- */

/* A ball (`ball` > 0) of radius 0.2 m, or a box of that half side, slides 40 m over flat triangles of
 * 0.5 m at 5 m/s without friction: the greatest change of its velocity in a tick, m/s, once it has
 * settled. */
static double seams(double ball)
{
	struct stage stage;
	begin(&stage, down());
	uint32_t mesh = stage_shape(&stage, make_terrain(100, 0.5, 0, 1));
	stage_add(&stage,
		  (struct stage_body){ .status = BODY_STATIC, .shape = mesh, .friction = -1 });
	vec3 velocity = vec3_make(5 * cos(0.3), 0, 5 * sin(0.3)), before = velocity;
	struct shape *shape = ball > 0 ? make_sphere(0.2) : make_box(0.2, 0.2, 0.2);
	uint32_t row =
		add(&stage, shape,
		    (struct stage_body){ .position = { -19, 0.2, -6 },
					 .rotation = quat_from_axis_angle(vec3_make(0, 1, 0), 0.4),
					 .velocity = velocity,
					 .friction = -1,
					 .wakeful = true });
	double worst = 0;
	for (uint32_t i = 0; i < 8 * 60; i++) {
		stage_step(&stage);
		vec3 now = stage.tables.body.velocity[row];
		if (i >= 30)
			worst = fmax(worst, vec3_distance(now, before));
		before = now;
	}
	stage_release(&stage);
	return worst;
}

/* ---- floors ------------------------------------------------------------------------------------ */

enum { FLOOR_BODIES = 100, FLOOR_SETTLE = 60, FLOOR_TICKS = 240, FLOOR_SMALL = 22 };

/* Bodies that fall on a flat floor of squares, then rest or slide on it. The floor has `cells` squared
 * squares of 1 m; of one cell, one of 40 m. */
static void floor_scene(struct stage *stage, uint32_t cells, double speed)
{
	begin(stage, down());
	stage_parameter(stage, PARAMETER_SLEEP_ENABLED, 0);
	struct shape *mesh = make_terrain(cells, cells == 1 ? 40 : 1, 0, 1);
	stage_add(stage, (struct stage_body){ .status = BODY_STATIC,
					      .shape = stage_shape(stage, mesh),
					      .friction = speed > 0 ? -1 : 0 });
	uint32_t shapes[3] = { stage_shape(stage, make_sphere(0.3)),
			       stage_shape(stage, make_box(0.3, 0.2, 0.4)),
			       stage_shape(stage, make_capsule(0.3, 0.2)) };
	for (uint32_t i = 0; i < FLOOR_BODIES; i++)
		stage_add(stage, (struct stage_body){ .status = BODY_DYNAMIC,
						      .shape = shapes[i % 3],
						      .friction = speed > 0 ? -1 : 0,
						      .position = { 1.3 * (i % 10) - 6, 0.6,
								    1.3 * (i / 10.0) - 6 },
						      .velocity = { speed, 0, 0 } });
}

static double seconds_of(struct stage *stage, uint32_t ticks)
{
	struct timespec from, to;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	stage_run(stage, ticks);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

/* Time of a tick over that on a floor of FLOOR_SMALL cells; by turns, because the machine has other work. */
static double floor_ratio(uint32_t cells, double speed)
{
	struct stage small, large;
	double times[2] = { 0, 0 };
	floor_scene(&small, FLOOR_SMALL, speed);
	floor_scene(&large, cells, speed);
	stage_run(&small, FLOOR_SETTLE);
	stage_run(&large, FLOOR_SETTLE);
	for (uint32_t k = 0; k < FLOOR_TICKS / 10; k++) {
		times[0] += seconds_of(&small, 10);
		times[1] += seconds_of(&large, 10);
	}
	stage_release(&small);
	stage_release(&large);
	return times[1] / times[0];
}

static double floor_rest(double cells)
{
	return floor_ratio((uint32_t)cells, 0);
}

static double floor_slide(double cells)
{
	return floor_ratio((uint32_t)cells, 1);
}

/* The first FLOOR_SETTLE ticks, in which all fall and land. */
static double floor_fall(double cells)
{
	double times[2] = { 0, 0 };
	for (uint32_t k = 0; k < 5; k++)
		for (uint32_t i = 0; i < 2; i++) {
			struct stage stage;
			floor_scene(&stage, i == 0 ? FLOOR_SMALL : (uint32_t)cells, 0);
			stage_run(&stage, 1); /* which finds all pairs */
			times[i] += seconds_of(&stage, FLOOR_SETTLE);
			stage_release(&stage);
		}
	return times[1] / times[0];
}

/* ---- the table --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	double (*measure)(double of);
	double of;
	const char *unit, *wanted;
} PROPERTIES[] = {
	{ "bounce e = 1: energy lost in 10", bounce_loss, 10, "%", "<= 1" },
	{ "bounce e = 0.9: heights off e^2", bounce_ratio, 0.9, "%", "<= 1" },
	{ "bounce e = 0.7: heights off e^2", bounce_ratio, 0.7, "%", "<= 1" },
	{ "gas of 64, e = 1, 40 s: energy kept", gas, 40, "%", ">= 95" },
	{ "oblique 20 m/s: L changed", oblique, 20, "%", "<= 0.1" },
	{ "rolling iron ball: speed after 60 s", rolling, 60, "m/s", "0 with resistance" },
	{ "heavy 1000 kg on 1 kg: sinks", heavy, 1000, "m", "<= 0.01" },
	{ "heavy tower of 8, top x 100: off", tower, 100, "m", "stands" },
	{ "heavy tower of 8, top x 1000: off", tower, 1000, "m", "stands" },
	{ "wall, ball to 50 m/s: passed", ball_walls, 50, "%", "0" },
	{ "wall, ball to 500 m/s: passed", ball_walls, 500, "%", "0" },
	{ "wall, rod to 100 m/s: passed", rod_walls, 100, "%", "0" },
	{ "wall, plate to 100 m/s: passed", plate_walls, 100, "%", "0" },
	{ "drop from 2 m on terrain: lost", drops, 2, "%", "0" },
	{ "drop from 20 m on terrain: lost", drops, 20, "%", "0" },
	{ "drop from 200 m on terrain: lost", drops, 200, "%", "0" },
	{ "seams, box: velocity changed", seams, 0, "m/s", "<= 1e-3" },
	{ "seams, ball: velocity changed", seams, 1, "m/s", "<= 1e-3" },
	{ "floor of 2 to 968 triangles, rest", floor_rest, 1, "", "below 1" },
	{ "floor of 10 082 to 968, rest", floor_rest, 71, "", "1" },
	{ "floor of 99 458 to 968, rest", floor_rest, 223, "", "1" },
	{ "floor of 2 to 968, slide", floor_slide, 1, "", "below 1" },
	{ "floor of 10 082 to 968, slide", floor_slide, 71, "", "1" },
	{ "floor of 99 458 to 968, slide", floor_slide, 223, "", "1" },
	{ "floor of 10 082 to 968, fall", floor_fall, 71, "", "1" },
	{ "floor of 99 458 to 968, fall", floor_fall, 223, "", "1" },
};

static void usage(void)
{
	fprintf(stderr, "usage: bench_contact [-m METHOD] [-n TRIALS] [WORD]…\n");
	exit(2);
}

static bool is_wanted(int argc, char **argv, int first, const char *name)
{
	bool any = first == argc;
	for (int k = first; k < argc; k++)
		any |= strstr(name, argv[k]) != NULL;
	return any;
}

int main(int argc, char **argv)
{
	int first = 1;
	for (; first < argc && argv[first][0] == '-'; first += 2) {
		if (first + 1 == argc)
			usage();
		if (strcmp(argv[first], "-m") == 0)
			method = argv[first + 1];
		else if (strcmp(argv[first], "-n") == 0)
			trials = (uint32_t)strtoul(argv[first + 1], NULL, 10);
		else
			usage();
	}
	if (trials == 0 || method_find(method) == NULL)
		usage();
	for (uint32_t i = 0; i < COUNT_OF(PROPERTIES); i++) {
		if (!is_wanted(argc, argv, first, PROPERTIES[i].name))
			continue;
		printf("%-38s %10.3g %-4s wanted %s\n", PROPERTIES[i].name,
		       PROPERTIES[i].measure(PROPERTIES[i].of), PROPERTIES[i].unit,
		       PROPERTIES[i].wanted);
		fflush(stdout);
	}
	return 0;
}
