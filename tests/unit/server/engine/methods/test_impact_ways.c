/* Ways into a tick of `impact` for solids that are not convex: penetration regions of deep
 * starts (ch4-5 C5, C3; ch1-3 A-18, G-29), distance fields as app G-08 and G-09 have them, and
 * meshes whose test has a bounded depth (ch4-5 X2). */
#include "server/base/rng.h"
#include "server/engine/collision/manifold.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/solids.h"
#include "tests/lib/stage_scenes.h"

#include <stdio.h>

/* Forms of geometry/solid.h, whose struct has a namesake in solids.h. */
enum { PARTS = 2, FIELD = 3, BOXES = 4 };
#define G 9.81

static void open_stage(struct stage *stage, double dt, double gravity)
{
	stage_init(stage, "impact");
	stage->dt = dt;
	stage->tables.world.gravity[0] = vec3_make(0, -gravity, 0);
	stage_parameter(stage, PARAMETER_SLEEP_ENABLED, 0);
}

static uint32_t put(struct stage *stage, uint8_t status, struct shape *shape, vec3 at,
		    vec3 velocity, double restitution)
{
	return stage_add(stage, (struct stage_body){ .status = status,
						     .shape = stage_shape(stage, shape),
						     .position = at,
						     .velocity = velocity,
						     .mass = 1,
						     .friction = -1,
						     .restitution = restitution });
}

/* Cells of 0.5 m in x-y and `thick` m in z, about the origin. */
static struct shape *make_cells(solid_cell *filled, uint32_t across, uint32_t up, double thick,
				uint32_t form, uint32_t detail)
{
	static struct solid solid;
	double x[8], y[8], z[2] = { -0.5 * thick, 0.5 * thick };
	ck_assert(across < COUNT_OF(x) && up < COUNT_OF(y));
	for (uint32_t i = 0; i <= across; i++)
		x[i] = 0.5 * i - 0.25 * across;
	for (uint32_t j = 0; j <= up; j++)
		y[j] = 0.5 * j - 0.25 * up;
	const struct solid_lines lines[3] = { { x, across + 1 }, { y, up + 1 }, { z, 2 } };
	struct bytes bytes = { 0 };
	solid_reset(&solid);
	solid_add_cells(&solid, lines, filled, NULL);
	bytes_of_solid(&bytes, form, detail, solid.vertex, solid.vertices,
		       (const uint32_t(*)[3])solid.triangle, solid.triangles);
	return shape_of_bytes(&bytes);
}

static bool is_cross(uint32_t i, uint32_t j, uint32_t k, const void *context)
{
	UNUSED(context);
	return (i == 1 || j == 1) && k == 0;
}

static bool is_u(uint32_t i, uint32_t j, uint32_t k, const void *context)
{
	UNUSED(context);
	return (i != 1 || j == 1) && k == 0;
}

/* Half of a box of 4 × 1 × 4 m, with its upper face at y = 0. */
static struct shape *make_slab(uint32_t form, uint32_t detail)
{
	static struct solid solid;
	struct bytes bytes = { 0 };
	solid_reset(&solid);
	solid_add_box(&solid, vec3_make(-2, -1, -2), vec3_make(2, 0, 2), false);
	bytes_of_solid(&bytes, form, detail, solid.vertex, solid.vertices,
		       (const uint32_t(*)[3])solid.triangle, solid.triangles);
	return shape_of_bytes(&bytes);
}

static double energy_of(const struct stage *stage)
{
	return stage_kinetic(stage) + stage_potential(stage);
}

/* Steps and checks that energy stays below its input and the counted work. */
struct energy {
	double most;
};

static void step_checked(struct stage *stage, struct energy *energy)
{
	stage_step(stage);
	energy->most += stage->dynamics.report.push_work;
	ck_assert_double_le(energy_of(stage), energy->most + 1e-9);
}

/* ---- regions -------------------------------------------------------------------------------------- */

/* A U that begins with both legs 0.2 m in a bar has two regions, and comes out along their
 * common way: at contact.push_speed, without turning. */
START_TEST(a_u_deep_in_a_bar_has_two_regions_and_comes_straight_out)
{
	static const uint32_t forms[] = { PARTS, FIELD };
	for (uint32_t f = 0; f < COUNT_OF(forms); f++) {
		struct stage stage;
		open_stage(&stage, 1.0 / 60, 0);
		put(&stage, BODY_STATIC, make_box(3, 0.5, 3), vec3_make(0, -0.5, 0), vec3_zero(),
		    0);
		uint32_t u = put(&stage, BODY_DYNAMIC, make_cells(is_u, 3, 2, 0.5, forms[f], 0),
				 vec3_make(0, 0.5 - 0.2, 0), vec3_zero(), 0);
		for (uint32_t tick = 1; tick <= 8; tick++) {
			stage_step(&stage);
			const struct impact_figures *told = &stage.dynamics.report.impact;
			ck_assert_uint_eq(told->met_regions, tick <= 4 ? 2 : 0);
			ck_assert_uint_eq(told->regions_left, 0);
			ck_assert_double_eq_tol(stage.tables.body.position[u].y,
						0.3 + MIN_OF(0.05 * tick, 0.2), 1e-6);
			ck_assert_double_le(scalar_abs(stage.tables.body.position[u].x), 1e-9);
			ck_assert_double_le(vec3_length(stage.tables.body.velocity[u]), 1e-9);
		}
		stage_release(&stage);
	}
}
END_TEST

/* Approach along the way out is stopped at the tick's start, motion across it and outwards is
 * not. */
START_TEST(only_the_approach_of_a_region_is_stopped)
{
	struct stage stage;
	open_stage(&stage, 1.0 / 60, 0);
	put(&stage, BODY_STATIC, make_slab(PARTS, 0), vec3_zero(), vec3_zero(), 0);
	uint32_t u = put(&stage, BODY_DYNAMIC, make_cells(is_u, 3, 2, 0.5, PARTS, 0),
			 vec3_make(0, 0.5 - 0.1, 0), vec3_make(0.5, -3, 0), 0);
	stage_step(&stage);
	ck_assert_double_eq_tol(stage.tables.body.velocity[u].x, 0.5, 1e-6);
	ck_assert_double_eq_tol(stage.tables.body.velocity[u].y, 0, 1e-6);
	stage_release(&stage);
}
END_TEST

/* Two crosses nearly in one place come apart by the same shortest way, whatever their form, without
 * turning, and gain no energy but the counted work. */
START_TEST(crosses_in_one_place_come_apart)
{
	static const uint32_t forms[] = { PARTS, FIELD, BOXES };
	for (uint32_t f = 0; f < COUNT_OF(forms); f++) {
		struct stage stage;
		struct energy energy = { 0 };
		uint32_t ticks = 0;
		double turned = 0;
		open_stage(&stage, 1.0 / 60, 0);
		put(&stage, BODY_STATIC, make_cells(is_cross, 3, 3, 0.5, forms[f], 0), vec3_zero(),
		    vec3_zero(), 0);
		uint32_t cross =
			put(&stage, BODY_DYNAMIC, make_cells(is_cross, 3, 3, 0.5, forms[f], 0),
			    vec3_make(0.03, 0.02, 0.1), vec3_zero(), 0);
		do {
			step_checked(&stage, &energy);
			ticks++;
		} while (ticks < 60 && stage.dynamics.report.impact.overlaps > 0);
		turned = vec3_length(quat_to_rotation_vector(stage.tables.body.rotation[cross]));
		printf("# form %d: apart after %d ticks, at (%.3g %.3g %.3g), turned %.2g, %d left\n",
		       (int)forms[f], (int)ticks, stage.tables.body.position[cross].x,
		       stage.tables.body.position[cross].y, stage.tables.body.position[cross].z,
		       turned, (int)stage.dynamics.report.impact.regions_left);
		ck_assert_uint_le(ticks, 12);
		ck_assert_double_eq_tol(stage.tables.body.position[cross].z, 0.5, 2e-3);
		ck_assert_double_le(turned, 0.01);
		ck_assert_double_le(vec3_length(stage.tables.body.velocity[cross]), 1e-6);
		stage_release(&stage);
	}
}
END_TEST

/* ---- distance fields ------------------------------------------------------------------------------ */

/* app G-09: the velocity is turned round where the path begins, so a bounce keeps (1 − e²) of
 * the way that was left to the surface, and its energy never grows. */
START_TEST(a_bounce_on_a_field_is_off_by_what_was_left_of_its_way)
{
	double before = 0;
	for (uint32_t hertz = 60; hertz <= 960; hertz *= 4) {
		struct stage stage;
		struct energy energy;
		const double e = 0.8, fall = 1, h = 1.0 / hertz;
		double apex = 0, last = 0;
		uint64_t hits = 0;
		open_stage(&stage, h, G);
		stage_parameter(&stage, PARAMETER_IMPACT_FIELD_ROUNDS, 4);
		put(&stage, BODY_STATIC, make_slab(FIELD, 32), vec3_zero(), vec3_zero(), e);
		uint32_t ball = put(&stage, BODY_DYNAMIC, make_sphere(0.25),
				    vec3_make(0.3, 0.25 + fall, 0.2), vec3_zero(), e);
		energy.most = energy_of(&stage);
		for (uint32_t tick = 0; tick < hertz; tick++) {
			step_checked(&stage, &energy);
			hits += stage.dynamics.report.impact.met_depths;
			double y = stage.tables.body.position[ball].y - 0.25;
			apex = hits > 0 ? scalar_max(apex, y) : 0;
			last = y;
		}
		double most = (1 - e * e) * scalar_sqrt(2 * G * fall) * h;
		printf("# %d Hz: apex off by %.3g, at most %.3g, end at %.3g\n", (int)hertz,
		       apex - e * e * fall, most, last);
		ck_assert_uint_ge(hits, 1);
		ck_assert_double_ge(apex, e * e * fall - 1e-3);
		ck_assert_double_le(apex, e * e * fall + most + 1e-3);
		ck_assert(hertz == 60 || most < 0.3 * before);
		before = most;
		stage_release(&stage);
	}
}
END_TEST

static vec3 corner_of(uint32_t i, vec3 half)
{
	return vec3_make(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y,
			 i & 4 ? half.z : -half.z);
}

/* app G-08, G-09: the corners of a box that are deep at the end are collisions of their own,
 * weighted by depth. Depths are those of the field, to a hundredth of its cells. */
START_TEST(corners_of_a_box_are_weighted_by_their_depth)
{
	struct stage stage;
	const vec3 half = { 0.5, 0.3, 0.1 };
	const double e = 1, h = 1.0 / 60;
	quat turned = quat_mul(quat_from_rotation_vector(vec3_make(0, 0, 0.3)),
			       quat_from_rotation_vector(vec3_make(0.04, 0, 0)));
	vec3 at = vec3_make(0, 0.5, 0), v = vec3_make(0, -6, 0);
	open_stage(&stage, h, 0);
	stage_parameter(&stage, PARAMETER_IMPACT_FIELD_ROUNDS, 1);
	stage_parameter(&stage, PARAMETER_IMPACT_ROUNDS, 1);
	put(&stage, BODY_STATIC, make_slab(FIELD, 64), vec3_zero(), vec3_zero(), e);
	uint32_t box = stage_add(
		&stage,
		(struct stage_body){ .status = BODY_DYNAMIC,
				     .shape = stage_shape(&stage, make_box(half.x, half.y, half.z)),
				     .position = at,
				     .rotation = turned,
				     .velocity = v,
				     .mass = 2,
				     .friction = -1,
				     .restitution = e });
	vec3 spin = vec3_zero(), linear = vec3_zero();
	double sum = 0;
	vec3 inertia = vec3_scale(vec3_make(half.y * half.y + half.z * half.z,
					    half.x * half.x + half.z * half.z,
					    half.x * half.x + half.y * half.y),
				  2.0 / 3);
	for (uint32_t i = 0; i < 8; i++) {
		vec3 arm = quat_rotate(turned, corner_of(i, half)), up = vec3_make(0, 1, 0);
		double depth = -(at.y + v.y * h + arm.y);
		if (!(depth > 0))
			continue;
		vec3 local = quat_rotate(quat_conjugate(turned), vec3_cross(arm, up));
		vec3 change =
			quat_rotate(turned, vec3_make(local.x / inertia.x, local.y / inertia.y,
						      local.z / inertia.z));
		double k = 0.5 + vec3_dot(vec3_cross(arm, up), change);
		double impulse = -(1 + e) * v.y / k;
		linear = vec3_mul_add(linear, up, depth * impulse / 2);
		spin = vec3_mul_add(spin, change, depth * impulse);
		sum += depth;
	}
	ck_assert_double_gt(sum, 0);
	linear = vec3_mul_add(v, linear, 1 / sum);
	spin = vec3_scale(spin, 1 / sum);
	stage_step(&stage);
	printf("# %d corners; v %.4f (%.4f), w (%.4f %.4f) (%.4f %.4f)\n",
	       (int)stage.dynamics.report.impact.met_depths, stage.tables.body.velocity[box].y,
	       linear.y, stage.tables.body.angular_velocity[box].x,
	       stage.tables.body.angular_velocity[box].z, spin.x, spin.z);
	ck_assert_uint_ge(stage.dynamics.report.impact.met_depths, 2);
	ck_assert_double_eq_tol(stage.tables.body.velocity[box].y, linear.y, 1e-3);
	ck_assert_double_le(vec3_distance(stage.tables.body.angular_velocity[box], spin),
			    0.02 * vec3_length(spin));
	stage_release(&stage);
}
END_TEST

/* Two free crosses with fields, and a third that only one of them meets: momentum is kept,
 * energy does not grow. */
START_TEST(fields_of_free_bodies_keep_momentum)
{
	struct rng rng = rng_seeded(29);
	for (uint32_t run = 0; run < 2; run++) {
		struct stage stage;
		struct energy energy;
		uint64_t hits = 0;
		open_stage(&stage, 1.0 / 60, 0);
		stage_parameter(&stage, PARAMETER_IMPACT_FIELD_ROUNDS, 8);
		for (uint32_t i = 0; i < 3; i++) {
			vec3 way = vec3_make(i == 0 ? 4 : -3, rng_range(&rng, -0.3, 0.3), 0);
			stage_add(&stage,
				  (struct stage_body){
					  .status = BODY_DYNAMIC,
					  .shape = stage_shape(&stage, make_cells(is_cross, 3, 3,
										  0.5, FIELD, 12)),
					  .position = vec3_make(i == 0 ? -1.4 : 0.9,
								i == 2 ? 1.7 : 0, 0.1 * i),
					  .velocity = way,
					  .spin = vec3_make(0, 0, rng_range(&rng, -2, 2)),
					  .mass = 1 + i,
					  .friction = 0.4,
					  .restitution = 0.7 });
		}
		vec3 momentum = stage_momentum(&stage);
		energy.most = energy_of(&stage);
		for (uint32_t tick = 0; tick < 30; tick++) {
			step_checked(&stage, &energy);
			hits += stage.dynamics.report.impact.met_depths;
			ck_assert_double_le(vec3_distance(stage_momentum(&stage), momentum), 1e-11);
		}
		ck_assert_uint_gt(hits, 0);
		stage_release(&stage);
	}
}
END_TEST

/* ch1-3 A-17 with fields: a ball between two walls ends its tick, without restitution after the
 * cap. */
START_TEST(rounds_with_a_field_end)
{
	struct stage stage;
	struct energy energy;
	open_stage(&stage, 1.0 / 24, 0);
	stage_parameter(&stage, PARAMETER_IMPACT_FIELD_ROUNDS, 3);
	put(&stage, BODY_STATIC, make_slab(FIELD, 16), vec3_zero(), vec3_zero(), 1);
	put(&stage, BODY_STATIC, make_slab(FIELD, 16), vec3_make(0, 1.3, 0), vec3_zero(), 1);
	uint32_t ball = put(&stage, BODY_DYNAMIC, make_sphere(0.1), vec3_make(0, 0.15, 0),
			    vec3_make(0, -6, 0), 1);
	energy.most = energy_of(&stage);
	step_checked(&stage, &energy);
	ck_assert_uint_ge(stage.dynamics.report.impact.met_depths, 3);
	ck_assert_uint_ge(stage.dynamics.report.impact.inelastic, 1);
	ck_assert_double_le(vec3_length(stage.tables.body.velocity[ball]), 1e-9);
	stage_release(&stage);
}
END_TEST

/* ---- meshes with a budget: X2 ----------------------------------------------------------------------- */

/* A ring of 2 × around × across triangles: as a mesh, or as the boxes of its hierarchy at a
 * depth. */
static struct shape *make_ring(uint32_t around, uint32_t across, uint32_t form, uint32_t detail)
{
	static struct solid solid;
	struct bytes bytes = { 0 };
	solid_reset(&solid);
	solid_add_ring(&solid, 1, 0.3, around, across);
	if (form == 0)
		return solid_shape(&solid);
	bytes_of_solid(&bytes, form, detail, solid.vertex, solid.vertices,
		       (const uint32_t(*)[3])solid.triangle, solid.triangles);
	return shape_of_bytes(&bytes);
}

/* When a ball that falls on the ring meets it, s; infinite: within 40 ticks it does not. *rows:
 * the most contacts at once. */
static double time_of_meeting(struct shape *ring, vec3 from, uint32_t *rows)
{
	struct stage stage;
	double found = __builtin_inf();
	open_stage(&stage, 1.0 / 60, 0);
	put(&stage, BODY_STATIC, ring, vec3_zero(), vec3_zero(), 0);
	put(&stage, BODY_DYNAMIC, make_sphere(0.1), from, vec3_make(0, 0, -2), 0);
	for (uint32_t tick = 0; tick < 60 && !(found < __builtin_inf()); tick++) {
		stage_step(&stage);
		*rows = MAX_OF(*rows, stage.tables.contact.count);
		for (uint32_t i = 0; i < stage.dynamics.events.count; i++)
			if (stage.dynamics.events.items[i].kind == EVENT_CONTACT_BEGIN)
				found = (tick + stage.dynamics.events.items[i].fraction) * stage.dt;
	}
	stage_release(&stage);
	return found;
}

START_TEST(boxes_of_a_mesh_are_met_whenever_the_mesh_is)
{
	struct rng rng = rng_seeded(31);
	uint32_t exact_rows = 0, box_rows = 0, met = 0, more = 0;
	for (uint32_t run = 0; run < 6; run++) {
		vec3 from = vec3_make(rng_range(&rng, -1.4, 1.4), rng_range(&rng, -1.4, 1.4), 1);
		double exact = time_of_meeting(make_ring(24, 12, 0, 0), from, &exact_rows);
		double last = 0;
		/* The deeper, the nearer to the mesh, and never after it. */
		for (uint32_t depth = 3; depth <= 9; depth += 3) {
			uint32_t rows = 0;
			double boxes =
				time_of_meeting(make_ring(24, 12, BOXES, depth), from, &rows);
			ck_assert(!(exact < boxes - 1e-9));
			ck_assert_double_ge(boxes, last - 1e-9);
			box_rows = depth == 3 ? MAX_OF(box_rows, rows) : box_rows;
			more += boxes < exact;
			last = boxes;
		}
		met += exact < __builtin_inf();
	}
	printf("# %d of 6 meet the mesh; contacts at most %d, of 8 boxes %d\n", (int)met,
	       (int)exact_rows, (int)box_rows);
	ck_assert_uint_ge(met, 3);
	ck_assert_uint_gt(more, 0);
	ck_assert_uint_le(box_rows, 8);
}
END_TEST

/* What a test costs is bounded by the depth: of 128 and of 2304 triangles at most 2^depth boxes;
 * the mass is that of the mesh. */
START_TEST(a_depth_bounds_the_boxes_and_keeps_the_masses)
{
	struct shape *exact = make_ring(8, 8, FIELD, 4);
	for (uint32_t depth = 1; depth <= 9; depth += 4)
		for (uint32_t k = 0; k < 2; k++) {
			struct shape *boxes = make_ring(k ? 48 : 8, k ? 24 : 8, BOXES, depth);
			ck_assert_uint_le(shape_piece_count(boxes), 1u << depth);
			if (k == 0)
				ck_assert_double_eq_tol(boxes->mass.volume, exact->mass.volume,
							1e-12);
			shape_release(boxes);
		}
	shape_release(exact);
}
END_TEST

/* A ring of boxes falls and comes to rest as high as its lowest box allows. */
START_TEST(a_ring_of_boxes_lies_on_the_ground)
{
	struct stage stage;
	struct energy energy;
	open_stage(&stage, 1.0 / 60, G);
	put(&stage, BODY_STATIC, make_box(4, 0.5, 4), vec3_make(0, -0.5, 0), vec3_zero(), 0);
	uint32_t ring = stage_add(
		&stage, (struct stage_body){
				.status = BODY_DYNAMIC,
				.shape = stage_shape(&stage, make_ring(24, 12, BOXES, 6)),
				.position = { 0, 0.5, 0 },
				.rotation = quat_from_rotation_vector(vec3_make(0.5 * PI, 0, 0)),
				.mass = 3,
				.friction = 0.5 });
	energy.most = energy_of(&stage);
	for (uint32_t tick = 0; tick < 120; tick++)
		step_checked(&stage, &energy);
	ck_assert_double_eq_tol(stage.tables.body.position[ring].y, 0.3, 1e-3);
	ck_assert_double_le(vec3_length(stage.tables.body.velocity[ring]), 1e-6);
	stage_release(&stage);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/impact: ways in");
	TCase *regions = tcase_create("regions"), *fields = tcase_create("fields");
	TCase *budget = tcase_create("budget");
	tcase_add_test(regions, a_u_deep_in_a_bar_has_two_regions_and_comes_straight_out);
	tcase_add_test(regions, only_the_approach_of_a_region_is_stopped);
	tcase_add_test(regions, crosses_in_one_place_come_apart);
	tcase_add_test(fields, a_bounce_on_a_field_is_off_by_what_was_left_of_its_way);
	tcase_add_test(fields, corners_of_a_box_are_weighted_by_their_depth);
	tcase_add_test(fields, fields_of_free_bodies_keep_momentum);
	tcase_add_test(fields, rounds_with_a_field_end);
	tcase_add_test(budget, boxes_of_a_mesh_are_met_whenever_the_mesh_is);
	tcase_add_test(budget, a_depth_bounds_the_boxes_and_keeps_the_masses);
	tcase_add_test(budget, a_ring_of_boxes_lies_on_the_ground);
	suite_add_tcase(suite, regions);
	suite_add_tcase(suite, fields);
	suite_add_tcase(suite, budget);
	return suite;
}

int main(void)
{
	return check_main(make);
}
