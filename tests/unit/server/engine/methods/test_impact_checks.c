/* More rows of the checklists under `impact`: impulses of a collision against the book's block system,
 * no impulse that pulls, a force that four points share, continuous tests of features, non-convex
 * solids by parts and by their distance field, and parts of a tick that are rejected. METHODS.md has
 * the rows' names. */
#include "server/base/rng.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/frame_rate.h"
#include "server/engine/dynamics/integrate.h"
#include "server/engine/math/trig.h"
#include "server/engine/solvers/impulse.h"
#include "tests/lib/joined.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/solids.h"
#include "tests/lib/stage_scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void open_stage(struct stage *stage, double dt)
{
	stage_init(stage, "impact");
	stage->dt = dt;
	stage->tables.world.gravity[0] = vec3_zero();
	stage_parameter(stage, PARAMETER_SLEEP_ENABLED, 0);
	stage_parameter(stage, PARAMETER_RESTITUTION_SPEED, 1e-6);
}

static uint32_t put(struct stage *stage, uint8_t status, struct shape *shape, vec3 at,
		    vec3 velocity)
{
	return stage_add(stage, (struct stage_body){ .status = status,
						     .shape = stage_shape(stage, shape),
						     .position = at,
						     .velocity = velocity,
						     .mass = 1,
						     .friction = -1 });
}

static double first_begin(const struct stage *stage)
{
	double first = __builtin_inf();
	for (uint32_t i = 0; i < stage->dynamics.events.count; i++)
		if (stage->dynamics.events.items[i].kind == EVENT_CONTACT_BEGIN)
			first = scalar_min(first, stage->dynamics.events.items[i].fraction);
	return first;
}

/* ---- one collision as the book's block system: I4, I3b ------------------------------------------- */

/* A ball of 1/2 m on the upper face of a box, whose friction axis is `axis`. */
struct collision {
	struct stage stage;
	uint32_t box, ball;
	vec3 arm[2];   /* from the mass centres to the point */
	vec3 frame[3]; /* the normal from the box to the ball, the axis, and across it */
	double friction[2], restitution;
};

static void make_collision(struct collision *self, struct rng *rng)
{
	struct stage *stage = &self->stage;
	vec3 half = { 0.6, 0.3, 0.9 };
	quat turn =
		quat_normalize(quat_make(rng_range(rng, -1, 1), 0.3, rng_range(rng, -1, 1), 0.2));
	double angle = rng_range(rng, 0, PI), x = rng_range(rng, -0.5, 0.5);
	double z = rng_range(rng, -0.8, 0.8);
	vec3 axis = vec3_make(trig_cos(angle), 0, trig_sin(angle));
	self->arm[0] = quat_rotate(turn, vec3_make(x, half.y, z));
	self->frame[0] = quat_rotate(turn, vec3_axis(1));
	self->frame[1] = quat_rotate(turn, axis);
	self->frame[2] = vec3_cross(self->frame[0], self->frame[1]);
	self->arm[1] = vec3_scale(self->frame[0], -0.5);
	for (uint32_t k = 0; k < 2; k++)
		self->friction[k] = rng_below(rng, 4) == 0 ? 0 : rng_range(rng, 0, 1);
	self->restitution = rng_range(rng, 0.2, 1);
	open_stage(stage, 1e-6);
	self->box = stage_add(
		stage,
		(struct stage_body){ .status = BODY_DYNAMIC,
				     .shape = stage_shape(stage, make_box(half.x, half.y, half.z)),
				     .rotation = turn,
				     .velocity = random_vector(rng, 1),
				     .spin = random_vector(rng, 1),
				     .mass = rng_range(rng, 0.2, 5),
				     .friction = self->friction[1],
				     .restitution = self->restitution });
	self->ball = stage_add(
		stage, (struct stage_body){
			       .status = BODY_DYNAMIC,
			       .shape = stage_shape(stage, make_sphere(0.5)),
			       .position = vec3_sub(self->arm[0], self->arm[1]),
			       .velocity = vec3_mul_add(random_vector(rng, 1), self->frame[0], -3),
			       .spin = random_vector(rng, 4),
			       .mass = rng_range(rng, 0.2, 5),
			       .friction = 1,
			       .restitution = self->restitution });
	struct body_table *body = &stage->tables.body;
	body->friction_axis[self->box] = vec3_scale(axis, 0.5);
	body->axis_friction[self->box] = self->friction[0];
	body->static_friction[self->box] = body->dynamic_friction[self->box] = self->friction[1];
	body->friction_rule[self->box] = body->friction_rule[self->ball] = COMBINE_MULTIPLY;
}

/* u before the impulse, and K. */
static void state_collision(const struct collision *self, double u[3], double k[9])
{
	const struct body_table *table = &self->stage.tables.body;
	uint32_t rows[2] = { self->box, self->ball };
	memset(k, 0, 9 * sizeof *k);
	memset(u, 0, 3 * sizeof *u);
	for (uint32_t b = 0; b < 2; b++) {
		uint32_t row = rows[b];
		vec3 speed = vec3_add(table->velocity[row],
				      vec3_cross(table->angular_velocity[row], self->arm[b]));
		for (uint32_t i = 0; i < 3; i++) {
			u[i] += (b == 0 ? -1 : 1) * vec3_dot(self->frame[i], speed);
			vec3 turns = integrate_tensor_at(sym3_load(table->inertia_inv[row]),
							 table->rotation[row],
							 vec3_cross(self->arm[b], self->frame[i]));
			for (uint32_t j = 0; j < 3; j++)
				k[3 * i + j] +=
					table->mass_inv[row] * (i == j) +
					vec3_dot(vec3_cross(self->arm[b], self->frame[j]), turns);
		}
	}
}

START_TEST(an_impulse_is_that_of_the_books_block_system)
{
	enum { PAIRS = 200 };
	struct rng rng = rng_seeded(check_seed());
	void *memory = aligned_alloc(64, (impulse_bytes(1) + 63) / 64 * 64);
	struct impulse book;
	uint32_t compared = 0, cases[4] = { 0 };
	impulse_init(&book, memory, 1);
	for (uint32_t pair = 0; pair < PAIRS; pair++) {
		static struct collision one;
		double u[3], k[9], p[3];
		make_collision(&one, &rng);
		state_collision(&one, u, k);
		struct impulse_problem problem = { 1, 3, k, u, &one.restitution, one.friction };
		struct solver_options options = solver_options_default();
		struct solver_result result = impulse_solve(&book, &problem, &options, p);
		stage_step(&one.stage);
		/* No consistent case, or one that gains energy: the fallbacks of both differ. */
		bool plain = result.status == SOLVER_SOLVED && result.fallbacks == 0 &&
			     result.regularisations == 0 && u[0] < -0.1 &&
			     one.stage.dynamics.report.fallbacks == 0;
		if (plain) {
			const struct contact_table *contact = &one.stage.tables.contact;
			const double *f = contact->friction_impulse[0];
			vec3 friction = vec3_make(f[0], f[1], f[2]);
			ck_assert_double_eq_tol(contact->normal_impulse[0][0], p[0], 1e-9);
			ck_assert_double_eq_tol(vec3_dot(friction, one.frame[1]), p[1], 1e-9);
			ck_assert_double_eq_tol(vec3_dot(friction, one.frame[2]), p[2], 1e-9);
			compared++;
			cases[2 * (book.slides[0] != 0) + (book.slides[1] != 0)]++;
		}
		stage_release(&one.stage);
	}
	printf("# %u pairs; stick, slide across, slide along, slide: %u %u %u %u\n", compared,
	       cases[0], cases[1], cases[2], cases[3]);
	ck_assert_uint_gt(compared, PAIRS * 8 / 10);
	for (uint32_t c = 0; c < 4; c++)
		ck_assert_uint_gt(cases[c], 3);
	free(memory);
}
END_TEST

/* ch4-5 I5c: K = ((1.2, 0.8), (0.8, 1.2)), u = (-1, -0.1), e = 0. A plank of 1 kg that meets two balls. */
START_TEST(no_impulse_pulls)
{
	struct stage stage;
	open_stage(&stage, 1e-10);
	double inertia = (2.0 * 2 + 0.1 * 0.1) / 12, a = scalar_sqrt(inertia / 5);
	for (uint32_t k = 0; k < 2; k++)
		put(&stage, BODY_STATIC, make_sphere(0.1), vec3_make(k == 0 ? -a : a, -0.15, 0),
		    vec3_zero());
	uint32_t plank = put(&stage, BODY_DYNAMIC, make_box(1, 0.05, 0.1), vec3_zero(),
			     vec3_make(0, -0.55, 0));
	/* The left point approaches with 1 m/s, the right one with 0.1. */
	stage.tables.body.angular_velocity[plank] = vec3_make(0, 0, 0.45 / a);
	ck_assert_double_eq_tol(1 / sym3_load(stage.tables.body.inertia_inv[plank]).zz, inertia,
				1e-12);
	stage_step(&stage);
	double v = stage.tables.body.velocity[plank].y;
	double w = stage.tables.body.angular_velocity[plank].z;
	ck_assert_double_eq_tol(v, -0.55 + 1 / 1.2, 1e-9);
	ck_assert_double_eq_tol(v - a * w, 0, 1e-9);
	ck_assert_double_eq_tol(v + a * w, 0.8 / 1.2 - 0.1, 1e-9);
	stage_release(&stage);
}
END_TEST

/* ch4-5 9.5: four points under a box, whose matrix is singular: the forces sum to the weight and have no
 * moment, wherever the mass centre is. */
START_TEST(the_forces_of_four_points_balance_the_weight)
{
	struct stage stage;
	open_stage(&stage, 1.0 / 60);
	stage.tables.world.gravity[0] = vec3_make(0, -9.81, 0);
	stage_ground(&stage);
	uint32_t box = put(&stage, BODY_DYNAMIC, make_box(0.5, 0.2, 0.8), vec3_make(0, 0.2, 0),
			   vec3_zero());
	stage_step(&stage);
	const struct contact_table *contact = &stage.tables.contact;
	vec3 moment = vec3_zero();
	double force = 0;
	uint32_t points = 0;
	for (uint32_t row = 0; row < contact->count; row++) {
		struct contact_motion motion =
			contact_motion(&stage.tables, row,
				       &(pose){ contact->relative_position[row],
						contact->relative_rotation[row] });
		for (uint32_t k = 0; contact->used[row] && k < contact->point_count[row]; k++) {
			uint32_t other = contact_body_a(&stage.tables, row);
			vec3 at = contact_place(&stage.tables, row, k, &motion).point;
			at = vec3_add(stage.tables.body.position[other],
				      quat_rotate(stage.tables.body.rotation[other], at));
			double p = contact->normal_impulse[row][k] / stage.dt;
			ck_assert_double_ge(p, 0);
			force += p;
			moment = vec3_add(moment,
					  vec3_cross(vec3_sub(at, stage.tables.body.position[box]),
						     vec3_make(0, p, 0)));
			points++;
		}
	}
	ck_assert_uint_eq(points, 4);
	ck_assert_double_eq_tol(force, 9.81, 1e-9);
	ck_assert_double_lt(vec3_length(moment), 1e-9);
	stage_release(&stage);
}
END_TEST

/* ---- random matrices: 9.5 ----------------------------------------------------------------------- */

/* Balls at rest that touch, each a random one of those before it: a tree, whose A over the 20 contacts is
 * positive definite. Random forces act on them. */
enum { TREE_BALLS = 21 };

struct tree {
	uint32_t body[TREE_BALLS], parent[TREE_BALLS];
	vec3 place[TREE_BALLS], force[TREE_BALLS];
	double radius[TREE_BALLS], mass[TREE_BALLS];
};

static void push(struct stage *stage, uint32_t body, vec3 force)
{
	uint32_t next = stage->tables.drive.count + 1;
	ck_assert_int_eq(tables_reserve(&stage->tables, TABLE_DRIVE, next), STATUS_OK);
	uint32_t drive = tables_append(&stage->tables, TABLE_DRIVE);
	stage->tables.drive.body[drive] = body;
	stage->tables.drive.force[drive] = force;
	stage->tables.drive.ticks[drive] = UINT32_MAX;
}

static bool is_clear(const struct tree *tree, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (i != tree->parent[count] && vec3_distance(tree->place[i], tree->place[count]) <
							tree->radius[i] + tree->radius[count] + 0.1)
			return false;
	return true;
}

static void grow_tree(struct tree *tree, struct stage *stage, struct rng *rng)
{
	for (uint32_t i = 0; i < TREE_BALLS;) {
		tree->radius[i] = rng_range(rng, 0.2, 1);
		tree->mass[i] = rng_range(rng, 0.1, 10);
		tree->force[i] = random_vector(rng, 10);
		tree->parent[i] = i == 0 ? 0 : rng_below(rng, i);
		uint32_t on = tree->parent[i];
		vec3 way = vec3_normalize(random_vector(rng, 1));
		double reach = tree->radius[on] + tree->radius[i];
		tree->place[i] = i == 0 ? vec3_zero() : vec3_mul_add(tree->place[on], way, reach);
		i += i == 0 || is_clear(tree, i);
	}
	for (uint32_t i = 0; i < TREE_BALLS; i++) {
		tree->body[i] = stage_add(
			stage, (struct stage_body){
				       .status = BODY_DYNAMIC,
				       .shape = stage_shape(stage, make_sphere(tree->radius[i])),
				       .position = tree->place[i],
				       .mass = tree->mass[i],
				       .friction = -1 });
		push(stage, tree->body[i], tree->force[i]);
	}
}

/* The force of the contact of two bodies, from the lower row to the higher, N. */
static double contact_force_of(const struct stage *stage, uint32_t a, uint32_t b)
{
	const struct contact_table *contact = &stage->tables.contact;
	double force = 0;
	for (uint32_t row = 0; row < contact->count; row++) {
		uint32_t x = contact_body_a(&stage->tables, row);
		uint32_t y = contact_body_b(&stage->tables, row);
		bool same = (x == a && y == b) || (x == b && y == a);
		for (uint32_t k = 0; contact->used[row] && same && k < contact->point_count[row];
		     k++)
			force += contact->normal_impulse[row][k] / stage->dt;
	}
	return force;
}

/* ch4-5 9.5: random positive definite A of 20 rows: F >= 0, a >= 0, F a = 0, m a = f + sum F n. */
START_TEST(the_forces_of_random_trees_are_complementary)
{
	enum { TREES = 60 };
	struct rng rng = rng_seeded(check_seed());
	uint32_t presses = 0, parts = 0;
	for (uint32_t n = 0; n < TREES; n++) {
		struct stage stage;
		static struct tree tree;
		open_stage(&stage, 1e-6);
		grow_tree(&tree, &stage, &rng);
		stage_step(&stage);
		vec3 acceleration[TREE_BALLS], sum[TREE_BALLS];
		for (uint32_t i = 0; i < TREE_BALLS; i++) {
			vec3 change = stage.tables.body.velocity[tree.body[i]];
			acceleration[i] = vec3_scale(change, 1 / stage.dt);
			sum[i] = tree.force[i];
		}
		for (uint32_t i = 1; i < TREE_BALLS; i++) {
			uint32_t on = tree.parent[i];
			vec3 normal = vec3_normalize(vec3_sub(tree.place[i], tree.place[on]));
			double f = contact_force_of(&stage, tree.body[on], tree.body[i]);
			double a = vec3_dot(normal, vec3_sub(acceleration[i], acceleration[on]));
			ck_assert_double_ge(f, 0);
			ck_assert_double_ge(a, -1e-9);
			ck_assert_double_le(f * a, 1e-9);
			sum[i] = vec3_mul_add(sum[i], normal, f);
			sum[on] = vec3_mul_sub(sum[on], normal, f);
			presses += f > 1e-6;
			parts += a > 1e-6;
		}
		for (uint32_t i = 0; i < TREE_BALLS; i++)
			ck_assert_double_le(
				vec3_distance(sum[i], vec3_scale(acceleration[i], tree.mass[i])),
				1e-8);
		ck_assert_uint_eq(stage.dynamics.report.fallbacks, 0);
		stage_release(&stage);
	}
	printf("# %u contacts press, %u part\n", presses, parts);
	ck_assert_uint_eq(presses + parts, TREES * (TREE_BALLS - 1));
	ck_assert_uint_gt(presses, TREES);
	ck_assert_uint_gt(parts, TREES);
}
END_TEST

/* ---- frames of edges: 9.2 ------------------------------------------------------------------------ */

/* Two boxes of 1 m, an edge of each towards the other, crossing with a gap of 1 mm. */
struct crossing {
	uint32_t body[2];
	vec3 edge[2]; /* in the bodies' axes */
};

static struct crossing cross_edges(struct stage *stage, struct rng *rng)
{
	struct crossing self = { .edge = { vec3_axis(2), vec3_axis(0) } };
	const vec3 corner[2] = { { 0.5, 0.5, 0 }, { 0, -0.5, 0.5 } };
	quat q[2], lean[2];
	for (uint32_t k = 0; k < 2; k++) {
		vec3 little = random_vector(rng, 0.2);
		little.y = rng_range(rng, -0.4, 0.4);
		lean[k] = quat_from_rotation_vector(little);
		vec3 about = vec3_scale(k == 0 ? vec3_axis(2) : vec3_axis(0), PI / 4);
		q[k] = quat_mul(lean[k], quat_from_rotation_vector(about));
	}
	vec3 normal = vec3_normalize(
		vec3_cross(quat_rotate(q[0], self.edge[0]), quat_rotate(q[1], self.edge[1])));
	vec3 at = vec3_mul_add(quat_rotate(q[0], corner[0]), normal, 1e-3);
	at = vec3_sub(at, quat_rotate(q[1], corner[1]));
	for (uint32_t k = 0; k < 2; k++)
		self.body[k] = stage_add(
			stage,
			(struct stage_body){ .status = BODY_DYNAMIC,
					     .shape = stage_shape(stage, make_box(0.5, 0.5, 0.5)),
					     .position = k == 0 ? vec3_zero() : at,
					     .rotation = q[k],
					     .velocity = random_vector(rng, 1),
					     .spin = random_vector(rng, 2),
					     .mass = 1 });
	return self;
}

/* ch4-5 9.2: over 1e-5 s the normals and tangents of edges that cross change as their rates say. */
START_TEST(frames_of_crossing_edges_turn_at_their_rates)
{
	enum { PAIRS = 200 };
	struct rng rng = rng_seeded(check_seed());
	double least = 1e300, most = 0;
	for (uint32_t n = 0; n < PAIRS; n++) {
		struct stage stage;
		open_stage(&stage, 1e-5);
		struct crossing pair = cross_edges(&stage, &rng);
		const struct body_table *body = &stage.tables.body;
		vec3 frame[3][3], e[2], w[2];
		for (uint32_t tick = 0; tick < 3; tick++) {
			stage_step(&stage);
			for (uint32_t k = 0; k < 2 && tick == 1; k++) {
				e[k] = quat_rotate(body->rotation[pair.body[k]], pair.edge[k]);
				w[k] = body->angular_velocity[pair.body[k]];
			}
			ck_assert_uint_eq(stage.tables.contact.point_count[0], 1);
			/* A manifold is that of the motions at the end of its tick. */
			frame[tick][0] = row_frame_side(quat_rotate(
				body->rotation[pair.body[0]], stage.tables.contact.normal[0]));
			row_frame(frame[tick][0], &frame[tick][1], &frame[tick][2]);
		}
		vec3 normal = vec3_normalize(vec3_cross(e[0], e[1])), rate[3];
		bool turned = vec3_dot(normal, frame[1][0]) < 0;
		rate[0] = frame_rate_edges(e[turned], e[!turned], w[turned], w[!turned]);
		frame_rate_tangents(frame[1][0], rate[0], &rate[1], &rate[2]);
		for (uint32_t k = 0; k < 3; k++) {
			vec3 slope = vec3_scale(vec3_sub(frame[2][k], frame[0][k]), 0.5e5);
			ck_assert_double_le(vec3_distance(slope, rate[k]), 1e-6);
		}
		least = scalar_min(least, vec3_length(rate[0]));
		most = scalar_max(most, vec3_length(rate[0]));
		stage_release(&stage);
	}
	printf("# rates of normals %.3g to %.3g 1/s\n", least, most);
	ck_assert(least < 0.7 && most > 1.4);
}
END_TEST

/* ---- times of features: 9.4, A-19, C4, C5 --------------------------------------------------------- */

static quat turned(vec3 axis, double angle)
{
	return quat_from_rotation_vector(vec3_scale(axis, angle));
}

/* ch4-5 9.4: a vertex at z = 1 - 2t and a face at -1 + t meet at 2/3; two edges at 0.5. Ticks of 1 s. */
START_TEST(a_vertex_meets_a_face_and_an_edge_an_edge_at_their_times)
{
	static const vec3 corners[6] = { { 0.5, 0, 0 },	 { -0.5, 0, 0 }, { 0, 0.5, 0 },
					 { 0, -0.5, 0 }, { 0, 0, 0.5 },	 { 0, 0, -0.5 } };
	struct stage stage;
	open_stage(&stage, 1);
	put(&stage, BODY_DYNAMIC, make_hull(corners, 6), vec3_make(0, 0, 1.5), vec3_make(0, 0, -2));
	put(&stage, BODY_DYNAMIC, make_box(1, 1, 0.5), vec3_make(0, 0, -1.5), vec3_make(0, 0, 1));
	stage_step(&stage);
	ck_assert_double_eq_tol(first_begin(&stage), 2.0 / 3, 1e-9);
	stage_release(&stage);
	open_stage(&stage, 1);
	double up = 0.25 * scalar_sqrt(2);
	uint32_t above = stage_add(
		&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					     .shape = stage_shape(&stage, make_box(1, 0.25, 0.25)),
					     .position = { 0, 0, 1 + up },
					     .rotation = turned(vec3_axis(0), PI / 4),
					     .velocity = { 0, 0, -2 },
					     .mass = 1 });
	uint32_t below = stage_add(
		&stage, (struct stage_body){ .status = BODY_STATIC,
					     .shape = stage_shape(&stage, make_box(0.25, 1, 0.25)),
					     .position = { 0, 0, -up },
					     .rotation = turned(vec3_axis(1), PI / 4) });
	ck_assert_uint_ne(above, below);
	stage_step(&stage);
	ck_assert_double_eq_tol(first_begin(&stage), 0.5, 1e-9);
	stage_release(&stage);
}
END_TEST

/* Forms of a solid (geometry/solid.h). */
enum { SOLID_HULL = 1, SOLID_PARTS = 2, SOLID_FIELD = 3 };

static bool is_l(uint32_t i, uint32_t j, uint32_t k, const void *context)
{
	UNUSED(context);
	return (i == 0 || j == 0) && k == 0;
}

static bool is_u(uint32_t i, uint32_t j, uint32_t k, const void *context)
{
	UNUSED(context);
	return (i != 1 || j == 1) && k == 0;
}

/* Cells of 0.5 m and `thick` m, about the origin. */
static struct shape *make_cells(solid_cell *filled, uint32_t across, uint32_t up, double thick,
				uint32_t form)
{
	static struct solid solid;
	double x[4], y[4], z[2] = { -0.5 * thick, 0.5 * thick };
	for (uint32_t i = 0; i <= across; i++)
		x[i] = 0.5 * i - 0.25 * across;
	for (uint32_t j = 0; j <= up; j++)
		y[j] = 0.5 * j - 0.25 * up;
	const struct solid_lines lines[3] = { { x, across + 1 }, { y, up + 1 }, { z, 2 } };
	struct bytes bytes = { 0 };
	solid_reset(&solid);
	solid_add_cells(&solid, lines, filled, NULL);
	bytes_of_solid(&bytes, form, 0, solid.vertex, solid.vertices,
		       (const uint32_t(*)[3])solid.triangle, solid.triangles);
	return shape_of_bytes(&bytes);
}

/* ch1-3 A-19: a plate of 1 cm in the form of an L at 100 m/s and a wall of 1 cm, 24 ticks a second:
 * without the wall it would be on the other side at the tick's end. */
START_TEST(a_thin_plate_meets_a_thin_wall)
{
	struct stage stage;
	open_stage(&stage, 1.0 / 24);
	uint32_t plate = put(&stage, BODY_DYNAMIC, make_cells(is_l, 2, 2, 0.01, SOLID_PARTS),
			     vec3_make(0, 0, -2), vec3_make(0, 0, 100));
	put(&stage, BODY_STATIC, make_box(3, 3, 0.005), vec3_zero(), vec3_zero());
	stage_step(&stage);
	ck_assert_double_eq_tol(first_begin(&stage) / 24, 1.99 / 100, 1e-9);
	ck_assert_double_lt(stage.tables.body.position[plate].z, -0.0099);
	stage_release(&stage);
}
END_TEST

/* ch4-5 C4: the same L as a hull, in parts and as a distance field takes three ways of detection, and
 * meets a floor at the same time. */
START_TEST(each_form_of_a_solid_meets_the_floor_at_the_same_time)
{
	static const uint32_t forms[] = { SOLID_HULL, SOLID_PARTS, SOLID_FIELD };
	static const double tolerances[] = { 1e-9, 1e-9, 1e-4 };
	for (uint32_t k = 0; k < COUNT_OF(forms); k++) {
		struct stage stage;
		open_stage(&stage, 1.0 / 60);
		put(&stage, BODY_DYNAMIC, make_cells(is_l, 2, 2, 0.5, forms[k]),
		    vec3_make(0, 0.5 + 0.013, 0), vec3_make(0, -1, 0));
		put(&stage, BODY_STATIC, make_box(3, 0.5, 3), vec3_make(0, -0.5, 0), vec3_zero());
		stage_step(&stage);
		printf("# form %d: off %.2g\n", (int)forms[k], first_begin(&stage) / 60 - 0.013);
		ck_assert_double_eq_tol(first_begin(&stage) / 60, 0.013, tolerances[k]);
		/* The way in is told. */
		const struct impact_figures *told = &stage.dynamics.report.impact;
		ck_assert_int_eq(told->met_fields > 0, forms[k] == SOLID_FIELD);
		ck_assert_int_eq(told->met_parts > 0, forms[k] != SOLID_FIELD);
		ck_assert_uint_eq(told->overlaps, 0);
		stage_release(&stage);
	}
}
END_TEST

/* ch4-5 C5: a U over a bar has two regions of contact, one a leg, each with half of the weight. */
START_TEST(a_u_stands_on_its_two_legs)
{
	struct stage stage;
	open_stage(&stage, 1.0 / 60);
	stage.tables.world.gravity[0] = vec3_make(0, -9.81, 0);
	put(&stage, BODY_STATIC, make_box(3, 0.5, 0.1), vec3_make(0, -0.5, 0), vec3_zero());
	put(&stage, BODY_DYNAMIC, make_cells(is_u, 3, 2, 0.5, SOLID_PARTS), vec3_make(0, 0.501, 0),
	    vec3_zero());
	stage_run(&stage, 60);
	const struct contact_table *contact = &stage.tables.contact;
	double legs[2] = { 0 };
	for (uint32_t row = 0; row < contact->count; row++) {
		struct contact_motion motion =
			contact_motion(&stage.tables, row,
				       &(pose){ contact->relative_position[row],
						contact->relative_rotation[row] });
		for (uint32_t k = 0; contact->used[row] && k < contact->point_count[row]; k++) {
			double x = contact_place(&stage.tables, row, k, &motion).point.x;
			double force = contact->normal_impulse[row][k] / stage.dt;
			ck_assert(force < 1e-9 || scalar_abs(x) >= 0.25 - 1e-6);
			legs[x > 0] += force;
		}
	}
	ck_assert_double_eq_tol(legs[0], 0.5 * 9.81, 1e-6);
	ck_assert_double_eq_tol(legs[1], 0.5 * 9.81, 1e-6);
	stage_release(&stage);
}
END_TEST

/* ---- parts of a tick: A-11 ------------------------------------------------------------------------ */

static struct world *open_racket(double tolerance, uint32_t substeps, body_id *body)
{
	struct world *world = joined_world("impact", 32, vec3_zero());
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	spawn.spawn.mass = 1;
	spawn.spawn.mass_rule = 2;
	spawn.spawn.inertia = vec3_make(0.1, 0.2, 0.25);
	spawn.spawn.angular_velocity = vec3_make(1, 8, 0.5);
	*body = test_do(world, &spawn);
	struct command command = test_command(COMMAND_SET_INTEGRATOR);
	command.set_integrator.body = *body;
	command.set_integrator.integrator = INTEGRATOR_RK2;
	command.set_integrator.tolerance = tolerance;
	command.set_integrator.substeps = substeps;
	test_do(world, &command);
	return world;
}

/* ch1-3 A-11: an error that is too large for one part and for two, and small enough for four: two parts
 * are rejected, from the bits of the beginning. What is accepted are the two halves by which the error
 * of a part is estimated, so the motion is that of eight sub-steps, whose lengths are exact at 32 ticks
 * a second. Once it is calm, one part is enough. */
START_TEST(rejected_parts_leave_no_trace)
{
	body_id body;
	struct world *world = open_racket(1, 0, &body);
	test_step(world, 1);
	double whole = world_stats(world).impact_error;
	world_destroy(world);
	world = open_racket(whole / 8, 0, &body);
	test_step(world, 1);
	struct world_stats stats = world_stats(world);
	printf("# error of one part %.3g m, accepted %.3g m\n", whole, stats.impact_error);
	ck_assert_uint_eq(stats.impact_total.redone, 2);
	ck_assert_uint_eq(stats.impact_total.substeps, 7);
	ck_assert_uint_eq(stats.impact_total.forced, 0);
	ck_assert_double_le(stats.impact_error, whole / 32);
	struct body_view found = test_body(world, body);
	body_id other;
	struct world *eight = open_racket(0, 8, &other);
	test_step(eight, 1);
	struct body_view expected = test_body(eight, other);
	ck_assert(vec3_equal(found.angular_velocity, expected.angular_velocity));
	ck_assert(quat_equal(found.rotation, expected.rotation));
	ck_assert(vec3_equal(found.position, expected.position));
	world_destroy(eight);
	struct command calm = test_command(COMMAND_SET_VELOCITY);
	calm.set_velocity.body = body;
	test_do(world, &calm);
	test_step(world, 2);
	struct world_stats after = world_stats(world);
	ck_assert_uint_eq(after.impact_total.redone, 2);
	/* Two ticks of one part, in two halves each. */
	ck_assert_uint_eq(after.impact_total.substeps, 9);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/impact: checklists");
	TCase *tcase = tcase_create("rows");
	tcase_add_test(tcase, an_impulse_is_that_of_the_books_block_system);
	tcase_add_test(tcase, no_impulse_pulls);
	tcase_add_test(tcase, the_forces_of_four_points_balance_the_weight);
	tcase_add_test(tcase, the_forces_of_random_trees_are_complementary);
	tcase_add_test(tcase, frames_of_crossing_edges_turn_at_their_rates);
	tcase_add_test(tcase, a_vertex_meets_a_face_and_an_edge_an_edge_at_their_times);
	tcase_add_test(tcase, a_thin_plate_meets_a_thin_wall);
	tcase_add_test(tcase, each_form_of_a_solid_meets_the_floor_at_the_same_time);
	tcase_add_test(tcase, a_u_stands_on_its_two_legs);
	tcase_add_test(tcase, rejected_parts_leave_no_trace);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
