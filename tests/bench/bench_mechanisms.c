/* bench_mechanisms: how far mechanisms of joints are from the truth, under each method and tick rate.
 *
 * The truth is the same bodies and joints by Newton's law with forces of constraint: J M⁻¹ Jᵀ λ =
 * −(J M⁻¹ f + J' v), RK4 at 20 000 steps a second, redundant rows left out by full pivoting. A row
 * is a mechanism under a method: the greatest distance of its last body's centre from the truth
 * within two seconds (m) at each rate, the order (the slope of log error against log step between
 * 60 and 480 Hz), and at 60 Hz the worst joint error (m, rad) and what became of the energy (1 = it doubled).
 *
 *   bench_mechanisms [WORD]…      rows whose mechanism or method has one of the words; default: all
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/engine/dynamics/joint.h"
#include "tests/lib/eliminate.h"
#include "tests/lib/worlds.h"

enum { BODIES_MAX = 104, JOINTS_MAX = 104, ROWS_MAX = 6 * JOINTS_MAX };
#define GRAVITY 9.81
#define SECONDS 2.0
static const double RATES[] = { 60, 120, 240, 480 };
enum { RATES_COUNT = 4 };
static const char *const METHODS[] = { "soft-step", "lcp", "projection", "reflection" };

struct part {
	enum test_shape shape;
	vec3 position;
	quat rotation;
	vec3 velocity, spin;
	double mass;
};
struct link {
	uint8_t type;
	int a, b; /* parts, −1 the world */
	vec3 at;
	quat frame;
};
struct mechanism {
	const char *name;
	bool truth; /* chaotic ones have none worth naming, and long ones cost too much */
	int part_count, link_count;
	struct part parts[BODIES_MAX];
	struct link links[JOINTS_MAX];
};

static quat about(vec3 axis, double angle)
{
	vec3 v = vec3_scale(axis, sin(angle / 2));
	return (quat){ cos(angle / 2), v.x, v.y, v.z };
}

/* The frame whose x axis is z: of hinges in the x-y plane. */
static quat hinge(void)
{
	return about(vec3_make(0, 1, 0), -PI / 2);
}

static struct part *add_part(struct mechanism *self, enum test_shape shape, vec3 position)
{
	struct part *part = &self->parts[self->part_count++];
	*part = (struct part){ .shape = shape, .position = position, .rotation = quat_identity(), .mass = 1 };
	return part;
}

static void add_link(struct mechanism *self, uint8_t type, int a, int b, vec3 at, quat frame)
{
	self->links[self->link_count++] = (struct link){ type, a, b, at, frame };
}

/* ---- mechanisms --------------------------------------------------------------------------------- */

static void pendulum(struct mechanism *self)
{
	add_part(self, TEST_BOX, vec3_make(2, 0, 0));
	add_link(self, JOINT_REVOLUTE, -1, 0, vec3_zero(), hinge());
}

static void ball_pendulum(struct mechanism *self)
{
	struct part *bob = add_part(self, TEST_BOX, vec3_make(2, 0, 0));
	bob->velocity = vec3_make(0, 0, 2);
	bob->spin = vec3_make(0, -1, 0);
	add_link(self, JOINT_SPHERICAL, -1, 0, vec3_zero(), quat_identity());
}

static void double_pendulum(struct mechanism *self)
{
	add_part(self, TEST_BOX, vec3_make(1, 0, 0));
	add_part(self, TEST_BOX, vec3_make(3, 0, 0));
	add_link(self, JOINT_REVOLUTE, -1, 0, vec3_zero(), hinge());
	add_link(self, JOINT_REVOLUTE, 0, 1, vec3_make(2, 0, 0), hinge());
}

/* A crank of 1 m, a coupler of 3 m, a rocker of 2.5 m. */
static void four_bar(struct mechanism *self)
{
	struct part *crank = add_part(self, TEST_BOX, vec3_make(0, 0.5, 0));
	crank->spin = vec3_make(0, 0, 6);
	crank->velocity = vec3_make(-3, 0, 0);
	struct part *coupler = add_part(self, TEST_BOX, vec3_make(1.5, 1, 0));
	coupler->velocity = vec3_make(-6, 0, 0);
	struct part *rocker = add_part(self, TEST_BOX, vec3_make(3, -0.25, 0));
	rocker->spin = vec3_make(0, 0, 6 / 2.5);
	rocker->velocity = vec3_make(-3, 0, 0);
	add_link(self, JOINT_REVOLUTE, -1, 0, vec3_zero(), hinge());
	add_link(self, JOINT_REVOLUTE, 0, 1, vec3_make(0, 1, 0), hinge());
	add_link(self, JOINT_REVOLUTE, 1, 2, vec3_make(3, 1, 0), hinge());
	add_link(self, JOINT_REVOLUTE, -1, 2, vec3_make(3, -1.5, 0), hinge());
}

static void slider_crank(struct mechanism *self)
{
	struct part *crank = add_part(self, TEST_BOX, vec3_make(0, 0.5, 0));
	crank->spin = vec3_make(0, 0, 6);
	crank->velocity = vec3_make(-3, 0, 0);
	/* The rod's far end is on the slide: from (0, 1) to (2.4, 0) it is 2.6 m long, and for the
	 * moment only slides. */
	struct part *rod = add_part(self, TEST_BOX, vec3_make(1.2, 0.5, 0));
	rod->velocity = vec3_make(-6, 0, 0);
	struct part *slider = add_part(self, TEST_BOX, vec3_make(2.4, 0, 0));
	slider->velocity = vec3_make(-6, 0, 0);
	add_link(self, JOINT_REVOLUTE, -1, 0, vec3_zero(), hinge());
	add_link(self, JOINT_REVOLUTE, 0, 1, vec3_make(0, 1, 0), hinge());
	add_link(self, JOINT_REVOLUTE, 1, 2, vec3_make(2.4, 0, 0), hinge());
	add_link(self, JOINT_PRISMATIC, -1, 2, vec3_make(2.4, 0, 0), quat_identity());
}

/* A rotor in two rings, hung off its centre, so that it precesses. */
static void gyroscope(struct mechanism *self)
{
	struct part *outer = add_part(self, TEST_BOX, vec3_zero());
	struct part *inner = add_part(self, TEST_BOX, vec3_zero());
	struct part *rotor = add_part(self, TEST_CAPSULE, vec3_make(0.3, 0, 0));
	outer->mass = inner->mass = 0.5;
	rotor->mass = 4;
	rotor->rotation = about(vec3_make(0, 0, 1), PI / 2);
	rotor->spin = vec3_make(30, 0, 0);
	add_link(self, JOINT_REVOLUTE, -1, 0, vec3_zero(), about(vec3_make(0, 0, 1), PI / 2));
	add_link(self, JOINT_REVOLUTE, 0, 1, vec3_zero(), hinge());
	add_link(self, JOINT_REVOLUTE, 1, 2, vec3_zero(), quat_identity());
}

static void chain(struct mechanism *self)
{
	self->truth = false;
	for (int i = 0; i < 100; i++) {
		add_part(self, TEST_BOX, vec3_make(0.5 + i, 0, 0));
		add_link(self, JOINT_SPHERICAL, i - 1, i, vec3_make(i, 0, 0), quat_identity());
	}
}

static void bridge(struct mechanism *self)
{
	self->truth = false;
	for (int i = 0; i < 40; i++) {
		add_part(self, TEST_BOX, vec3_make(0.5 + i, 0, 0));
		add_link(self, JOINT_REVOLUTE, i - 1, i, vec3_make(i, 0, 0), hinge());
	}
	add_link(self, JOINT_REVOLUTE, -1, 39, vec3_make(40, 0, 0), hinge());
}

static const struct {
	const char *name;
	void (*make)(struct mechanism *self);
} MECHANISMS[] = {
	{ "pendulum", pendulum },	  { "spherical-pendulum", ball_pendulum },
	{ "double-pendulum", double_pendulum }, { "four-bar", four_bar },
	{ "slider-crank", slider_crank }, { "gyroscope", gyroscope },
	{ "chain-100", chain },		  { "bridge-40", bridge },
};

/* ---- the truth ---------------------------------------------------------------------------------- */

struct truth {
	const struct mechanism *mechanism;
	int count;
	double mass[BODIES_MAX];
	sym3 inertia[BODIES_MAX], inverse[BODIES_MAX]; /* body axes */
	struct joint joints[JOINTS_MAX];
	struct constraint constraints[JOINTS_MAX];
};

static void accelerate(struct truth *self, const struct body_motion *motions, struct spatial *out)
{
	static double a[ROWS_MAX * ROWS_MAX], b[ROWS_MAX];
	static struct constraint_row rows[ROWS_MAX];
	static struct row_block blocks[ROWS_MAX];
	static struct row_part parts[2 * ROWS_MAX];
	struct mass_body masses[BODIES_MAX];
	struct row_list list = { rows, blocks, parts, 0, 0, 0, ROWS_MAX, ROWS_MAX, 2 * ROWS_MAX };
	struct constraint_options options = { CONSTRAINT_ACCELERATION, CONSTRAINT_SMOOTH, 0 };
	for (int i = 0; i < self->count; i++) {
		masses[i] = mass_body_make(self->mass[i], 1 / self->mass[i], self->inertia[i],
					   self->inverse[i], motions[i].rotation, 0);
		vec3 spin = motions[i].angular_velocity;
		vec3 gyro = vec3_cross(spin, sym3_apply(masses[i].inertia, spin));
		out[i].linear = vec3_make(0, -GRAVITY, 0);
		out[i].angular = vec3_negate(sym3_apply(masses[i].inertia_inv, gyro));
	}
	constraint_rows(self->constraints, (uint32_t)self->mechanism->link_count, motions, &options, &list);
	int n = (int)list.row_count;
	for (int i = 0; i < n; i++) {
		b[i] = -(jacobian_speed(rows[i].j, out) + rows[i].bias);
		struct spatial answer[BODIES_MAX] = { 0 };
		for (uint32_t k = 0; k < rows[i].j.count; k++) {
			const struct row_part *part = &rows[i].j.parts[k];
			const struct mass_body *mass = &masses[part->slot];
			answer[part->slot].linear = vec3_hadamard(mass->mass_inv, part->on.linear);
			answer[part->slot].angular = sym3_apply(mass->inertia_inv, part->on.angular);
		}
		for (int j = 0; j < n; j++)
			a[j * n + i] = jacobian_speed(rows[j].j, answer);
	}
	if (eliminate((uint32_t)n, a, b, 1e-12) == UINT32_MAX)
		abort();
	struct spatial force[BODIES_MAX] = { 0 };
	for (int i = 0; i < n; i++)
		jacobian_push(rows[i].j, b[i], force);
	for (int i = 0; i < self->count; i++) {
		out[i].linear = vec3_add(out[i].linear,
					 vec3_hadamard(masses[i].mass_inv, force[i].linear));
		out[i].angular = vec3_add(out[i].angular,
					  sym3_apply(masses[i].inertia_inv, force[i].angular));
	}
}

struct rates {
	vec3 centre, velocity, spin;
	quat rotation;
};

static void rates_of(struct truth *self, const struct body_motion *motions, struct rates *out)
{
	struct spatial accelerations[BODIES_MAX];
	accelerate(self, motions, accelerations);
	for (int i = 0; i < self->count; i++) {
		vec3 w = motions[i].angular_velocity;
		quat spin = quat_mul((quat){ 0, w.x, w.y, w.z }, motions[i].rotation);
		out[i] = (struct rates){ motions[i].velocity, accelerations[i].linear,
					 accelerations[i].angular,
					 { spin.w / 2, spin.x / 2, spin.y / 2, spin.z / 2 } };
	}
}

static void go(const struct body_motion *from, const struct rates *rates, double h, int count,
	       struct body_motion *to)
{
	for (int i = 0; i < count; i++) {
		quat q = from[i].rotation, r = rates[i].rotation;
		to[i].centre = vec3_mul_add(from[i].centre, rates[i].centre, h);
		to[i].velocity = vec3_mul_add(from[i].velocity, rates[i].velocity, h);
		to[i].angular_velocity = vec3_mul_add(from[i].angular_velocity, rates[i].spin, h);
		to[i].rotation = quat_normalize(
			(quat){ q.w + h * r.w, q.x + h * r.x, q.y + h * r.y, q.z + h * r.z });
	}
}

static void truth_step(struct truth *self, struct body_motion *motions, double h)
{
	static struct rates k[4][BODIES_MAX];
	static struct body_motion at[BODIES_MAX];
	int n = self->count;
	rates_of(self, motions, k[0]);
	go(motions, k[0], h / 2, n, at);
	rates_of(self, at, k[1]);
	go(motions, k[1], h / 2, n, at);
	rates_of(self, at, k[2]);
	go(motions, k[2], h, n, at);
	rates_of(self, at, k[3]);
	for (int i = 0; i < n; i++) {
#define MEAN(field)                                                                               \
	vec3_scale(vec3_add(vec3_add(k[0][i].field, k[3][i].field),                               \
			    vec3_scale(vec3_add(k[1][i].field, k[2][i].field), 2)), 1.0 / 6)
		k[0][i].centre = MEAN(centre);
		k[0][i].velocity = MEAN(velocity);
		k[0][i].spin = MEAN(spin);
#undef MEAN
#define MEAN(c)                                                                                   \
	((k[0][i].rotation.c + k[3][i].rotation.c +                                               \
	  2 * (k[1][i].rotation.c + k[2][i].rotation.c)) / 6)
		k[0][i].rotation = (quat){ MEAN(w), MEAN(x), MEAN(y), MEAN(z) };
#undef MEAN
	}
	go(motions, k[0], h, n, motions);
}

/* ---- a world ------------------------------------------------------------------------------------ */

struct built {
	struct world *world;
	body_id ids[BODIES_MAX];
};

static struct built build(const struct mechanism *self, const char *method, double rate)
{
	struct built built;
	struct world_options options = test_options(false, method);
	options.rate_num = (uint32_t)rate;
	options.gravity = vec3_make(0, -GRAVITY, 0);
	built.world = test_world_of(&options);
	for (int i = 0; i < self->part_count; i++) {
		const struct part *part = &self->parts[i];
		struct attachment item;
		struct command spawn = test_spawn_command(built.world, part->shape, part->position, &item);
		spawn.spawn.rotation = part->rotation;
		spawn.spawn.velocity = part->velocity;
		spawn.spawn.angular_velocity = part->spin;
		spawn.spawn.mass = part->mass;
		spawn.spawn.group = -1;
		spawn.spawn.flags = 0;
		built.ids[i] = test_do(built.world, &spawn);
	}
	for (int i = 0; i < self->link_count; i++) {
		const struct link *link = &self->links[i];
		struct command create = test_command(COMMAND_JOINT_CREATE);
		create.joint_create.type = link->type;
		create.joint_create.body_a = link->a < 0 ? 0 : built.ids[link->a];
		create.joint_create.body_b = built.ids[link->b];
		create.joint_create.point_a = link->at;
		create.joint_create.frame_a = link->frame;
		create.joint_create.place = 1;
		test_do(built.world, &create);
	}
	return built;
}

static void truth_init(struct truth *self, const struct mechanism *mechanism, struct body_motion *motions)
{
	struct built built = build(mechanism, "soft-step", 60);
	self->mechanism = mechanism;
	self->count = mechanism->part_count;
	for (int i = 0; i < self->count; i++) {
		const struct part *part = &mechanism->parts[i];
		struct mass_view mass;
		if (world_mass(built.world, built.ids[i], &mass) != STATUS_OK)
			abort();
		mat3 back = mat3_from_quat(quat_conjugate(part->rotation));
		self->mass[i] = mass.mass;
		self->inertia[i] = sym3_rotate(back, sym3_of(mass.inertia));
		if (!sym3_inverse(self->inertia[i], &self->inverse[i]))
			abort();
		motions[i] = (struct body_motion){ mass.centre, part->rotation, part->velocity, part->spin };
	}
	for (int i = 0; i < mechanism->link_count; i++) {
		const struct link *link = &mechanism->links[i];
		struct joint *joint = &self->joints[i];
		struct body_motion world = { .rotation = quat_identity() };
		const struct body_motion *a = link->a < 0 ? &world : &motions[link->a],
					 *b = &motions[link->b];
		*joint = (struct joint){ .type = link->type, .a = world, .b = world };
		joint->point_a = quat_rotate_inverse(a->rotation, vec3_sub(link->at, a->centre));
		joint->point_b = quat_rotate_inverse(b->rotation, vec3_sub(link->at, b->centre));
		joint->frame_a = quat_mul(quat_conjugate(a->rotation), link->frame);
		joint->frame_b = quat_mul(quat_conjugate(b->rotation), link->frame);
		for (uint32_t k = 0; k < JOINT_AXES; k++)
			joint->axes[k].mode = joint_axis_kind((enum joint_type)link->type, k).mode;
		self->constraints[i] = (struct constraint){
			&constraint_joint, link->a < 0 ? ROW_NO_BODY : (uint32_t)link->a,
			(uint32_t)link->b, (uint32_t)i, joint };
	}
	world_destroy(built.world);
}

/* ---- rows of the table --------------------------------------------------------------------------- */

/* Centres of the last body at 60 Hz, for the truth and each method. */
enum { SAMPLES = 120 };

static void truth_run(const struct mechanism *mechanism, vec3 *out)
{
	static struct truth truth;
	static struct body_motion motions[BODIES_MAX];
	enum { STEPS = 334 }; /* a sample */
	truth_init(&truth, mechanism, motions);
	for (int i = 0; i < SAMPLES; i++) {
		for (int k = 0; k < STEPS; k++)
			truth_step(&truth, motions, 1.0 / 60 / STEPS);
		out[i] = motions[mechanism->part_count - 1].centre;
	}
}

struct figures {
	double distance, joint_error, energy;
};

static struct figures method_run(const struct mechanism *mechanism, const char *method, double rate,
				 const vec3 *truth)
{
	struct figures figures = { 0 };
	struct built built = build(mechanism, method, rate);
	struct world_energy energy = world_energy(built.world);
	double begun = energy.kinetic + energy.potential, scale = 0;
	for (int i = 0; i < SAMPLES; i++) {
		for (int k = 0; k < (int)(rate / 60); k++) {
			test_step(built.world, 1);
			figures.joint_error = fmax(figures.joint_error, world_stats(built.world).joint_error);
		}
		vec3 at = test_body(built.world, built.ids[mechanism->part_count - 1]).position;
		if (truth != NULL)
			figures.distance = fmax(figures.distance, vec3_distance(at, truth[i]));
		energy = world_energy(built.world);
		scale = fmax(scale, energy.kinetic);
	}
	figures.energy = (energy.kinetic + energy.potential - begun) / scale;
	world_destroy(built.world);
	return figures;
}

static bool wanted(int argc, char **argv, const char *mechanism, const char *method)
{
	bool any = argc < 2;
	for (int i = 1; i < argc; i++)
		any |= strstr(mechanism, argv[i]) != NULL || strstr(method, argv[i]) != NULL;
	return any;
}

static void print_row(const struct mechanism *mechanism, const char *method, const vec3 *truth)
{
	double errors[RATES_COUNT];
	struct figures first = { 0 };
	printf("%-19s %-11s", mechanism->name, method);
	for (int r = 0; r < RATES_COUNT; r++) {
		struct figures figures = method_run(mechanism, method, RATES[r], truth);
		errors[r] = figures.distance;
		first = r == 0 ? figures : first;
		if (truth != NULL)
			printf(" %9.2e", errors[r]);
		else
			printf(" %9.2e", figures.joint_error);
		fflush(stdout);
	}
	if (truth != NULL)
		printf(" %5.2f", log(errors[0] / errors[RATES_COUNT - 1]) /
					 log(RATES[RATES_COUNT - 1] / RATES[0]));
	else
		printf("     –");
	printf(" %9.2e %+9.2e\n", first.joint_error, first.energy);
}

int main(int argc, char **argv)
{
	static struct mechanism mechanism;
	printf("%-19s %-11s", "mechanism", "method");
	for (int r = 0; r < RATES_COUNT; r++)
		printf("    %3.0f Hz", RATES[r]);
	printf(" order  joint 60 energy 60   (without a truth: joint errors at the rates)\n");
	for (size_t i = 0; i < COUNT_OF(MECHANISMS); i++) {
		vec3 truth[SAMPLES];
		bool known = false;
		memset(&mechanism, 0, sizeof mechanism);
		mechanism.name = MECHANISMS[i].name;
		mechanism.truth = true;
		MECHANISMS[i].make(&mechanism);
		for (size_t m = 0; m < COUNT_OF(METHODS); m++) {
			if (!wanted(argc, argv, mechanism.name, METHODS[m]))
				continue;
			if (mechanism.truth && !known)
				truth_run(&mechanism, truth);
			known = true;
			print_row(&mechanism, METHODS[m], mechanism.truth ? truth : NULL);
		}
	}
	return 0;
}
