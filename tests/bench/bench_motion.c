/* bench_motion: error of smooth motions at tick rates from 30 Hz to 10 kHz.
 *
 * Each motion has an analytic solution or a conserved quantity. A row is a motion under a method:
 * the error at each rate, and the order, the slope of log error against log step between 60 Hz and
 * 1 kHz: 1 halves the error with the step, 0 gains nothing, below 0 a higher rate makes it worse;
 * `-` if all errors are rounding.
 *
 *   bench_motion [WORD]…      rows whose motion or method has one of the words; default: all */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

static const double RATES[] = { 30, 60, 120, 240, 480, 1000, 3000, 10000 };
enum { RATE_LOW = 1, RATE_HIGH = 5 }; /* the order is that between these rates */
#define ROUNDING 1e-9

#define GRAVITY 9.81

/* The place of a motion: the origin, or far from it. */
struct ground {
	const char *method;
	double rate;
	vec3 at;
};

static void begin(struct stage *stage, const struct ground *ground, vec3 gravity)
{
	stage_init(stage, ground->method);
	stage->dt = 1 / ground->rate;
	stage->tables.world.gravity[0] = gravity;
	stage_parameter(stage, PARAMETER_SLEEP_ENABLED, 0);
}

static void run(struct stage *stage, double seconds)
{
	stage_run(stage, (uint32_t)lround(seconds / stage->dt));
}

static uint32_t add_box(struct stage *stage, const struct ground *ground, vec3 half,
			struct stage_body body)
{
	body.status = BODY_DYNAMIC;
	body.shape = stage_shape(stage, make_box(half.x, half.y, half.z));
	body.position = vec3_add(body.position, ground->at);
	return stage_add(stage, body);
}

/* ---- free motion ------------------------------------------------------------------------------- */

/* `place`: the error of the place, else of the speed. */
static double fall(const struct ground *ground, double place)
{
	struct stage stage;
	begin(&stage, ground, vec3_make(0, -GRAVITY, 0));
	uint32_t box = add_box(&stage, ground, vec3_all(0.5), (struct stage_body){ 0 });
	run(&stage, 10);
	double speed_off = fabs(stage.tables.body.velocity[box].y + 10 * GRAVITY);
	double place_off = fabs(stage.tables.body.position[box].y - ground->at.y + 50 * GRAVITY);
	stage_release(&stage);
	return place > 0 ? place_off : speed_off;
}

static double drag(const struct ground *ground, double rate)
{
	struct stage stage;
	begin(&stage, ground, vec3_make(0, -GRAVITY, 0));
	uint32_t box = add_box(&stage, ground, vec3_all(0.5),
			       (struct stage_body){ .velocity = { 20, 10, 0 } });
	stage.tables.body.linear_damping[box] = rate;
	run(&stage, 1);
	double left = exp(-rate), end = -GRAVITY / rate;
	vec3 truth = { 20 * left, end + (10 - end) * left, 0 };
	double error = vec3_distance(stage.tables.body.velocity[box], truth);
	stage_release(&stage);
	return error;
}

/* A box of 0.2 × 0.4 × 0.8 m that rotates about none of its axes. */
static void add_spinner(struct stage *stage, const struct ground *ground, double speed)
{
	vec3 along = vec3_normalize(vec3_make(1, 2, 3));
	begin(stage, ground, vec3_zero());
	add_box(stage, ground, vec3_make(0.1, 0.2, 0.4),
		(struct stage_body){ .spin = vec3_scale(along, speed) });
}

/* A negative speed: run for a minute. */
static double spin_seconds(double speed)
{
	return speed < 0 ? 60 : 10;
}

static double spin_energy(const struct ground *ground, double speed)
{
	struct stage stage;
	add_spinner(&stage, ground, speed);
	double before = stage_kinetic(&stage);
	run(&stage, spin_seconds(speed));
	double error = fabs(stage_kinetic(&stage) / before - 1);
	stage_release(&stage);
	return error;
}

static double spin_momentum(const struct ground *ground, double speed)
{
	struct stage stage;
	add_spinner(&stage, ground, speed);
	vec3 before = stage_angular_momentum(&stage);
	run(&stage, spin_seconds(speed));
	double error = vec3_distance(stage_angular_momentum(&stage), before) / vec3_length(before);
	stage_release(&stage);
	return error;
}

/* A top without weight, a × 2a × a with two equal moments I and one J along y: its axis precesses
 * about L at |L| / I, while the body rotates about its axis at (1 − J/I) ω_y (Euler). Error:
 * radians. */
static double top(const struct ground *ground, double speed)
{
	struct stage stage;
	begin(&stage, ground, vec3_zero());
	vec3 spin = vec3_scale(vec3_normalize(vec3_make(0.5, 1, 0)), speed);
	uint32_t box = add_box(&stage, ground, vec3_make(0.3, 0.1, 0.3),
			       (struct stage_body){ .spin = spin });
	double ratio = (0.3 * 0.3 + 0.3 * 0.3) / (0.3 * 0.3 + 0.1 * 0.1), seconds = 5;
	run(&stage, seconds);
	vec3 momentum = { spin.x, ratio * spin.y, 0 }; /* over I */
	double length = vec3_length(momentum);
	quat round = quat_from_axis_angle(vec3_scale(momentum, 1 / length), length * seconds);
	quat own = quat_from_axis_angle(vec3_make(0, 1, 0), (1 - ratio) * spin.y * seconds);
	quat off = quat_mul(stage.tables.body.rotation[box], quat_conjugate(quat_mul(round, own)));
	double error = 2 * atan2(vec3_length(quat_vector(off)), fabs(off.w));
	stage_release(&stage);
	return error;
}

/* ---- contact ----------------------------------------------------------------------------------- */

/* A rod flies past another's middle and hits it with an edge, elastic and frictionless. (At 30 Hz
 * and 20 m/s it passes through.) */
static double impact(const struct ground *ground, double speed)
{
	struct stage stage;
	begin(&stage, ground, vec3_zero());
	vec3 half = vec3_make(0.1, 1, 0.1);
	struct stage_body body = { .friction = -1, .restitution = 1 };
	add_box(&stage, ground, half, body);
	body.position = vec3_make(-2, 1.2, 0.02);
	body.velocity = vec3_make(speed, 0, 0);
	body.rotation = quat_from_axis_angle(vec3_normalize(vec3_make(1, 2, 3)), 0.5);
	add_box(&stage, ground, half, body);
	vec3 before = stage_angular_momentum(&stage);
	run(&stage, 4 / speed);
	double error = vec3_distance(stage_angular_momentum(&stage), before) / vec3_length(before);
	stage_release(&stage);
	return error;
}

/* A ball rolls on level ground; the fraction of its speed lost after 10 s. */
static double rolling(const struct ground *ground, double speed)
{
	struct stage stage;
	begin(&stage, ground, vec3_make(0, -GRAVITY, 0));
	stage_ground(&stage);
	uint32_t ball = stage_add(
		&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					     .shape = stage_shape(&stage, make_sphere(0.5)),
					     .position = { ground->at.x, 0.5, ground->at.z },
					     .velocity = { speed, 0, 0 },
					     .spin = { 0, 0, -speed / 0.5 } });
	run(&stage, 10);
	double error = fabs(stage.tables.body.velocity[ball].x / speed - 1);
	stage_release(&stage);
	return error;
}

/* m that a flat box moves down a slope in `seconds`; the ground is level and gravity is tilted. */
static double creep(const struct ground *ground, double degrees, double seconds)
{
	struct stage stage;
	double angle = degrees * acos(-1) / 180;
	begin(&stage, ground, vec3_make(GRAVITY * sin(angle), -GRAVITY * cos(angle), 0));
	uint32_t plane = stage_ground(&stage);
	uint32_t box = add_box(&stage, ground, vec3_make(0.5, 0.1, 0.5),
			       (struct stage_body){ .position = { 0, 0.1, 0 } });
	for (uint32_t k = 0; k < 2; k++) {
		stage.tables.body.static_friction[k == 0 ? plane : box] = 0.6;
		stage.tables.body.dynamic_friction[k == 0 ? plane : box] = 0.3;
	}
	run(&stage, seconds);
	double moved = stage.tables.body.position[box].x - ground->at.x;
	stage_release(&stage);
	return moved;
}

/* Degrees between tan⁻¹ 0.6 and the steepest slope on which it moves by less than 1 cm in the second
 * second. */
static double slope(const struct ground *ground, double unused)
{
	UNUSED(unused);
	double holds = 10, slides = 60;
	while (slides - holds > 0.01) {
		double middle = 0.5 * (holds + slides);
		double moved = creep(ground, middle, 2) - creep(ground, middle, 1);
		*(moved < 0.01 ? &holds : &slides) = middle;
	}
	return fabs(holds - atan(0.6) * 180 / acos(-1));
}

/* m/s at 1° below the slope that holds. */
static double creeping(const struct ground *ground, double below)
{
	double degrees = atan(0.6) * 180 / acos(-1) - below;
	return fabs(creep(ground, degrees, 4) - creep(ground, degrees, 2)) / 2;
}

/* ---- the table --------------------------------------------------------------------------------- */

static const struct {
	const char *name, *unit;
	double (*error)(const struct ground *ground, double of);
	double of; /* the argument of the motion */
	bool contact;
	double far; /* m from the origin, in x */
} MOTIONS[] = {
	{ "fall, 10 s: speed", "m/s", fall, 0, false, 0 },
	{ "fall, 10 s: place", "m", fall, 1, false, 0 },
	{ "drag 10 /s, 1 s: velocity", "m/s", drag, 10, false, 0 },
	{ "spin 5 rad/s, 10 s: energy", "of it", spin_energy, 5, false, 0 },
	{ "spin 5 rad/s, 10 s: L", "of |L|", spin_momentum, 5, false, 0 },
	{ "spin 20 rad/s, 10 s: energy", "of it", spin_energy, 20, false, 0 },
	{ "spin 20 rad/s, 10 s: L", "of |L|", spin_momentum, 20, false, 0 },
	{ "spin 20 rad/s, 60 s: energy", "of it", spin_energy, -20, false, 0 },
	{ "spin 20 rad/s, 60 s: L", "of |L|", spin_momentum, -20, false, 0 },
	{ "spin 50 rad/s, 10 s: energy", "of it", spin_energy, 50, false, 0 },
	{ "spin 50 rad/s, 10 s: L", "of |L|", spin_momentum, 50, false, 0 },
	{ "top 10 rad/s, 5 s: turn", "rad", top, 10, false, 0 },
	{ "impact 6 m/s: L", "of |L|", impact, 6, true, 0 },
	{ "impact 20 m/s: L", "of |L|", impact, 20, true, 0 },
	{ "rolling 2 m/s, 10 s: speed", "of it", rolling, 2, true, 0 },
	{ "slope that holds", "degrees", slope, 0, true, 0 },
	{ "creep 1 degree below", "m/s", creeping, 1, true, 0 },
	{ "fall, 10 s, far: speed", "m/s", fall, 0, false, 1e5 },
	{ "spin 20 rad/s, 10 s, far: energy", "of it", spin_energy, 20, false, 1e5 },
	{ "creep 1 degree below, far", "m/s", creeping, 1, true, 1e5 },
};

static bool wanted(int argc, char **argv, const char *motion, const char *method)
{
	bool any = argc == 1;
	for (int k = 1; k < argc; k++)
		any |= strstr(motion, argv[k]) != NULL || strcmp(method, argv[k]) == 0;
	return any;
}

static void row(uint32_t motion, const char *method)
{
	double errors[COUNT_OF(RATES)];
	printf("%-33s %-8s %-11s", MOTIONS[motion].name, MOTIONS[motion].unit, method);
	for (uint32_t k = 0; k < COUNT_OF(RATES); k++) {
		struct ground ground = { method, RATES[k], { MOTIONS[motion].far, 0, 0 } };
		errors[k] = MOTIONS[motion].error(&ground, MOTIONS[motion].of);
		printf(" %8.1e", errors[k]);
		fflush(stdout);
	}
	double low = errors[RATE_LOW], high = errors[RATE_HIGH];
	if (low < ROUNDING && high < ROUNDING)
		printf("      -\n");
	else
		printf(" %6.1f\n", log(low / high) / log(RATES[RATE_HIGH] / RATES[RATE_LOW]));
}

int main(int argc, char **argv)
{
	static const char *const methods[] = { "free", "soft-step", "lcp" };
	printf("%-33s %-8s %-11s", "error of", "in", "under");
	for (uint32_t k = 0; k < COUNT_OF(RATES); k++)
		printf(" %5.0f Hz", RATES[k]);
	printf("  order\n");
	for (uint32_t m = 0; m < COUNT_OF(MOTIONS); m++)
		for (uint32_t k = MOTIONS[m].contact; k < COUNT_OF(methods); k++)
			if (wanted(argc, argv, MOTIONS[m].name, methods[k]))
				row(m, methods[k]);
	return 0;
}
