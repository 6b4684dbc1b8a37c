/* bench_mechanisms: error of mechanisms of joints, under each method and tick rate.
 *
 * The reference solution has the same bodies and joints, by Newton's law with forces of constraint
 * and with rows of the book, not of the engine: J M⁻¹ Jᵀ λ = −(J M⁻¹ f + J' v), RK4 at 20 000 steps
 * a second, redundant rows left out by full pivoting. A row is a mechanism under a method: the
 * greatest distance of its last body's centre from the reference within two seconds (m) at each
 * rate, the order (the slope of log error against log step between 60 and 480 Hz), and at 60 Hz the
 * worst joint error (m, rad) and the relative change of energy (1: it doubled).
 *
 *   bench_mechanisms [WORD]…      rows whose mechanism or method has one of the words; default: all */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/engine/dynamics/dynamics.h"
#include "server/engine/dynamics/row.h"
#include "tests/lib/eliminate.h"
#include "tests/lib/worlds.h"

enum { BODIES_MAX = 8, JOINTS_MAX = 8, ROWS_MAX = 6 * JOINTS_MAX };
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
	int a, b; /* parts; −1: the world */
	vec3 at;
	quat frame;
};
struct mechanism {
	const char *name;
	int part_count, link_count;
	struct part parts[BODIES_MAX];
	struct link links[JOINTS_MAX];
};

static quat about(vec3 axis, double angle)
{
	vec3 v = vec3_scale(axis, sin(angle / 2));
	return (quat){ cos(angle / 2), v.x, v.y, v.z };
}

/* The frame of a hinge in the x-y plane: its x axis is z. */
static quat hinge(void)
{
	return about(vec3_make(0, 1, 0), -PI / 2);
}

static struct part *add_part(struct mechanism *self, enum test_shape shape, vec3 position)
{
	struct part *part = &self->parts[self->part_count++];
	*part = (struct part){
		.shape = shape, .position = position, .rotation = quat_identity(), .mass = 1
	};
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
	/* The far end of the rod is on the slide: from (0, 1) to (2.4, 0) it is 2.6 m long, and at
	 * this moment it only slides. */
	struct part *rod = add_part(self, TEST_BOX, vec3_make(1.2, 0.5, 0));
	rod->velocity = vec3_make(-6, 0, 0);
	struct part *slider = add_part(self, TEST_BOX, vec3_make(2.4, 0, 0));
	slider->velocity = vec3_make(-6, 0, 0);
	add_link(self, JOINT_REVOLUTE, -1, 0, vec3_zero(), hinge());
	add_link(self, JOINT_REVOLUTE, 0, 1, vec3_make(0, 1, 0), hinge());
	add_link(self, JOINT_REVOLUTE, 1, 2, vec3_make(2.4, 0, 0), hinge());
	add_link(self, JOINT_PRISMATIC, -1, 2, vec3_make(2.4, 0, 0), quat_identity());
}

/* A rotor in two rings, supported off its centre, so that it precesses. */
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

static const struct {
	const char *name;
	void (*make)(struct mechanism *self);
} MECHANISMS[] = {
	{ "pendulum", pendulum },
	{ "spherical-pendulum", ball_pendulum },
	{ "double-pendulum", double_pendulum },
	{ "four-bar", four_bar },
	{ "slider-crank", slider_crank },
	{ "gyroscope", gyroscope },
};

/* ---- the reference solution ---------------------------------------------------------------------- */

/* A mechanism as the reference solution computes it. */
struct reference {
	const struct mechanism *mechanism;
	int count;
	double mass[BODIES_MAX];
	vec3 moments[BODIES_MAX];		       /* kg m², body axes */
	vec3 point_a[JOINTS_MAX], point_b[JOINTS_MAX]; /* from centres, body axes */
	quat frame_a[JOINTS_MAX], frame_b[JOINTS_MAX];
};

/* A row of the book (5.3, J0): its Jacobian for both bodies, and the part of z'' that is not J
 * times acceleration. */
struct reference_row {
	int body[2]; /* −1 the world */
	vec3 linear[2], angular[2];
	double gamma;
};
struct reference_rows {
	struct reference_row rows[ROWS_MAX];
	int count;
};

/* A joint in its present state: levers, the vector between its points, axes in the world. */
struct reference_joint {
	int body[2];
	vec3 arm[2], spin[2], gap, gap_rate, inward, axes[2][3];
};

static vec3 twice(vec3 spin, vec3 v)
{
	return vec3_cross(spin, vec3_cross(spin, v));
}

static struct reference_row *add_row(struct reference_rows *list, const struct reference_joint *at)
{
	struct reference_row *row = &list->rows[list->count++];
	*row = (struct reference_row){ .body = { at->body[0], at->body[1] } };
	return row;
}

/* e·(p₁ − p₂) = 0, e fixed. */
static void point_row(struct reference_rows *list, const struct reference_joint *at, vec3 e)
{
	struct reference_row *row = add_row(list, at);
	row->linear[0] = e;
	row->linear[1] = vec3_negate(e);
	row->angular[0] = vec3_cross(at->arm[0], e);
	row->angular[1] = vec3_negate(vec3_cross(at->arm[1], e));
	row->gamma = vec3_dot(e, at->inward);
}

/* a·c = 0, a on the first body, c on the second. */
static void dot_row(struct reference_rows *list, const struct reference_joint *at, vec3 a, vec3 c)
{
	struct reference_row *row = add_row(list, at);
	row->angular[0] = vec3_cross(a, c);
	row->angular[1] = vec3_negate(row->angular[0]);
	row->gamma = vec3_dot(twice(at->spin[0], a), c) + vec3_dot(a, twice(at->spin[1], c)) +
		     2 * vec3_dot(vec3_cross(at->spin[0], a), vec3_cross(at->spin[1], c));
}

/* a·(p₁ − p₂) = 0, a on the first body. */
static void slide_row(struct reference_rows *list, const struct reference_joint *at, vec3 a)
{
	point_row(list, at, a);
	struct reference_row *row = &list->rows[list->count - 1];
	row->angular[0] = vec3_cross(vec3_sub(at->arm[0], at->gap), a);
	row->gamma += vec3_dot(twice(at->spin[0], a), at->gap) +
		      2 * vec3_dot(vec3_cross(at->spin[0], a), at->gap_rate);
}

static struct reference_joint stand(const struct reference *self, const struct body_motion *motions,
				    int index)
{
	const struct link *link = &self->mechanism->links[index];
	struct reference_joint at = { .body = { link->a, link->b } };
	vec3 places[2], rates[2];
	for (int side = 0; side < 2; side++) {
		struct body_motion still = { .rotation = quat_identity() };
		const struct body_motion *m = at.body[side] < 0 ? &still : &motions[at.body[side]];
		quat frame =
			quat_mul(m->rotation, (side == 0 ? self->frame_a : self->frame_b)[index]);
		at.spin[side] = m->angular_velocity;
		at.arm[side] = quat_rotate(m->rotation,
					   (side == 0 ? self->point_a : self->point_b)[index]);
		places[side] = vec3_add(m->centre, at.arm[side]);
		rates[side] = vec3_add(m->velocity, vec3_cross(at.spin[side], at.arm[side]));
		for (uint32_t k = 0; k < 3; k++)
			at.axes[side][k] = quat_rotate(frame, vec3_axis(k));
	}
	at.gap = vec3_sub(places[0], places[1]);
	at.gap_rate = vec3_sub(rates[0], rates[1]);
	at.inward = vec3_sub(twice(at.spin[0], at.arm[0]), twice(at.spin[1], at.arm[1]));
	return at;
}

static void list_rows(const struct reference *self, const struct body_motion *motions,
		      struct reference_rows *list)
{
	list->count = 0;
	for (int i = 0; i < self->mechanism->link_count; i++) {
		struct reference_joint at = stand(self, motions, i);
		uint8_t type = self->mechanism->links[i].type;
		for (uint32_t k = 0; k < 3; k++) {
			if (type != JOINT_PRISMATIC)
				point_row(list, &at, vec3_axis(k));
			else if (k > 0)
				slide_row(list, &at, at.axes[0][k]);
			if (type != JOINT_SPHERICAL && k > 0)
				dot_row(list, &at, at.axes[0][k], at.axes[1][0]);
		}
		if (type == JOINT_PRISMATIC)
			dot_row(list, &at, at.axes[0][1], at.axes[1][2]);
	}
}

/* The accelerations that a force and a torque cause on a body. */
static struct spatial accelerations(const struct reference *self, const struct body_motion *motions,
				    int body, vec3 force, vec3 torque)
{
	quat rotation = motions[body].rotation;
	vec3 own = quat_rotate_inverse(rotation, torque), m = self->moments[body];
	own = vec3_make(own.x / m.x, own.y / m.y, own.z / m.z);
	return (struct spatial){ vec3_scale(force, 1 / self->mass[body]),
				 quat_rotate(rotation, own) };
}

static double along(const struct reference_row *row, const struct spatial *motion)
{
	double sum = 0;
	for (int side = 0; side < 2; side++)
		if (row->body[side] >= 0)
			sum += vec3_dot(row->linear[side], motion[row->body[side]].linear) +
			       vec3_dot(row->angular[side], motion[row->body[side]].angular);
	return sum;
}

static void accelerate(struct reference *self, const struct body_motion *motions,
		       struct spatial *out)
{
	static double a[ROWS_MAX * ROWS_MAX], b[ROWS_MAX];
	static struct reference_rows list;
	list_rows(self, motions, &list);
	for (int i = 0; i < self->count; i++) {
		vec3 spin = motions[i].angular_velocity,
		     own = quat_rotate_inverse(motions[i].rotation, spin);
		vec3 turning =
			quat_rotate(motions[i].rotation, vec3_hadamard(self->moments[i], own));
		out[i] = accelerations(self, motions, i, vec3_make(0, -GRAVITY * self->mass[i], 0),
				       vec3_cross(turning, spin));
	}
	int n = list.count;
	for (int i = 0; i < n; i++) {
		const struct reference_row *row = &list.rows[i];
		struct spatial moved[BODIES_MAX] = { 0 };
		b[i] = -(along(row, out) + row->gamma);
		for (int side = 0; side < 2; side++)
			if (row->body[side] >= 0)
				moved[row->body[side]] =
					accelerations(self, motions, row->body[side],
						      row->linear[side], row->angular[side]);
		for (int k = 0; k < n; k++)
			a[k * n + i] = along(&list.rows[k], moved);
	}
	if (eliminate((uint32_t)n, a, b, 1e-12) == UINT32_MAX)
		abort();
	for (int i = 0; i < n; i++)
		for (int side = 0; side < 2; side++) {
			int body = list.rows[i].body[side];
			if (body < 0)
				continue;
			struct spatial by =
				accelerations(self, motions, body, list.rows[i].linear[side],
					      list.rows[i].angular[side]);
			out[body] = spatial_mul_add(out[body], by, b[i]);
		}
}

struct rates {
	vec3 centre, velocity, spin;
	quat rotation;
};

static void rates_of(struct reference *self, const struct body_motion *motions, struct rates *out)
{
	struct spatial accelerations[BODIES_MAX];
	accelerate(self, motions, accelerations);
	for (int i = 0; i < self->count; i++) {
		vec3 w = motions[i].angular_velocity;
		quat spin = quat_mul((quat){ 0, w.x, w.y, w.z }, motions[i].rotation);
		out[i] = (struct rates){ motions[i].velocity,
					 accelerations[i].linear,
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

static void truth_step(struct reference *self, struct body_motion *motions, double h)
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
#define MEAN(field)                                                                                \
	vec3_scale(vec3_add(vec3_add(k[0][i].field, k[3][i].field),                                \
			    vec3_scale(vec3_add(k[1][i].field, k[2][i].field), 2)),                \
		   1.0 / 6)
		k[0][i].centre = MEAN(centre);
		k[0][i].velocity = MEAN(velocity);
		k[0][i].spin = MEAN(spin);
#undef MEAN
#define MEAN(c)                                                                                    \
	((k[0][i].rotation.c + k[3][i].rotation.c +                                                \
	  2 * (k[1][i].rotation.c + k[2][i].rotation.c)) /                                         \
	 6)
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
		struct command spawn =
			test_spawn_command(built.world, part->shape, part->position, &item);
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

/* kg m²: of a cube, of a capsule along y. */
static vec3 moments_of(const struct part *part)
{
	if (part->shape == TEST_BOX)
		return vec3_all(part->mass / 6);
	double r = 0.25, length = 1, middle = length / (length + 4 * r / 3) * part->mass;
	double ends = part->mass - middle;
	double about = middle * r * r / 2 + ends * 2 * r * r / 5;
	double across = middle * (r * r / 4 + length * length / 12) +
			ends * (2 * r * r / 5 + length * length / 4 + 3 * r * length / 8);
	return vec3_make(across, about, across);
}

static void truth_init(struct reference *self, const struct mechanism *mechanism,
		       struct body_motion *motions)
{
	self->mechanism = mechanism;
	self->count = mechanism->part_count;
	for (int i = 0; i < self->count; i++) {
		const struct part *part = &mechanism->parts[i];
		self->mass[i] = part->mass;
		self->moments[i] = moments_of(part);
		motions[i] = (struct body_motion){ part->position, part->rotation, part->velocity,
						   part->spin };
	}
	for (int i = 0; i < mechanism->link_count; i++) {
		const struct link *link = &mechanism->links[i];
		struct body_motion world = { .rotation = quat_identity() };
		const struct body_motion *a = link->a < 0 ? &world : &motions[link->a],
					 *b = &motions[link->b];
		self->point_a[i] = quat_rotate_inverse(a->rotation, vec3_sub(link->at, a->centre));
		self->point_b[i] = quat_rotate_inverse(b->rotation, vec3_sub(link->at, b->centre));
		self->frame_a[i] = quat_mul(quat_conjugate(a->rotation), link->frame);
		self->frame_b[i] = quat_mul(quat_conjugate(b->rotation), link->frame);
	}
}

/* ---- rows of the table --------------------------------------------------------------------------- */

/* Centres of the last body at 60 Hz, of the reference and of each method. */
enum { SAMPLES = 120 };

static void truth_run(const struct mechanism *mechanism, vec3 *out)
{
	static struct reference reference;
	static struct body_motion motions[BODIES_MAX];
	enum { STEPS = 334 }; /* of the reference, a sample */
	truth_init(&reference, mechanism, motions);
	for (int i = 0; i < SAMPLES; i++) {
		for (int k = 0; k < STEPS; k++)
			truth_step(&reference, motions, 1.0 / 60 / STEPS);
		out[i] = motions[mechanism->part_count - 1].centre;
	}
}

struct figures {
	double distance, joint_error, energy;
};

static struct figures method_run(const struct mechanism *mechanism, const char *method, double rate,
				 const vec3 *reference)
{
	struct figures figures = { 0 };
	struct built built = build(mechanism, method, rate);
	struct world_energy energy = world_energy(built.world);
	double begun = energy.kinetic + energy.potential, scale = 0;
	for (int i = 0; i < SAMPLES; i++) {
		for (int k = 0; k < (int)(rate / 60); k++) {
			test_step(built.world, 1);
			figures.joint_error =
				fmax(figures.joint_error, world_stats(built.world).joint_error);
		}
		vec3 at = test_body(built.world, built.ids[mechanism->part_count - 1]).position;
		figures.distance = fmax(figures.distance, vec3_distance(at, reference[i]));
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

static void print_row(const struct mechanism *mechanism, const char *method, const vec3 *reference)
{
	double errors[RATES_COUNT];
	struct figures first = { 0 };
	printf("%-19s %-11s", mechanism->name, method);
	for (int r = 0; r < RATES_COUNT; r++) {
		struct figures figures = method_run(mechanism, method, RATES[r], reference);
		errors[r] = figures.distance;
		first = r == 0 ? figures : first;
		printf(" %9.2e", errors[r]);
		fflush(stdout);
	}
	printf(" %5.2f",
	       log(errors[0] / errors[RATES_COUNT - 1]) / log(RATES[RATES_COUNT - 1] / RATES[0]));
	printf(" %9.2e %+9.2e\n", first.joint_error, first.energy);
}

int main(int argc, char **argv)
{
	static struct mechanism mechanism;
	printf("%-19s %-11s", "mechanism", "method");
	for (int r = 0; r < RATES_COUNT; r++)
		printf("    %3.0f Hz", RATES[r]);
	printf(" order  joint 60 energy 60\n");
	for (size_t i = 0; i < COUNT_OF(MECHANISMS); i++) {
		vec3 reference[SAMPLES];
		bool known = false;
		memset(&mechanism, 0, sizeof mechanism);
		mechanism.name = MECHANISMS[i].name;
		MECHANISMS[i].make(&mechanism);
		for (size_t m = 0; m < COUNT_OF(METHODS); m++) {
			if (!wanted(argc, argv, mechanism.name, METHODS[m]))
				continue;
			if (!known)
				truth_run(&mechanism, reference);
			known = true;
			print_row(&mechanism, METHODS[m], reference);
		}
	}
	return 0;
}
