/* Solids of several convex parts in motion. Contacts are those of the parts; mass and inertia are those
 * of the mesh; the pairs of close parts follow the rotation. */
#include "server/engine/collision/query.h"
#include "server/engine/geometry/solid.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage.h"

#include <string.h>

static struct stage stage;

static void setup(void)
{
	stage_init(&stage, "soft-step");
}

static void teardown(void)
{
	stage_release(&stage);
}

/* Three separate boxes as legs, without a table top: a slab on boxes would have to be cut into convex
 * parts. */
static const vec3 LEGS[3][2] = { { { -1, 0, 0 }, { 0.2, 0.5, 0.2 } },
				 { { 1, 0, 0 }, { 0.2, 0.5, 0.2 } },
				 { { 0, 0, 1.5 }, { 0.2, 0.5, 0.2 } } };
/* A large box at one end and a small box at the other. */
static const vec3 CLUB[2][2] = { { { 0.9, 0, 0 }, { 0.3, 0.3, 0.3 } },
				 { { -0.9, 0, 0 }, { 0.15, 0.15, 0.15 } } };

START_TEST(a_solid_has_the_mass_of_its_mesh_and_the_pieces_of_its_parts)
{
	struct shape *legs = make_boxes_solid(LEGS, 3);
	ck_assert_uint_eq(shape_piece_count(legs), 3);
	ck_assert_double_eq_tol(legs->mass.volume, 3 * 0.16, 1e-14);
	ck_assert_double_eq_tol(legs->mass.centre.z, 0.5, 1e-14);
	ck_assert_double_eq_tol(legs->solid->volume_parts, 3 * 0.16, 1e-14);
	ck_assert_uint_eq(legs->solid->report.shells, 3);
	pose at = pose_make(vec3_zero(), quat_identity());
	struct aabb box = shape_aabb(legs, &at);
	ck_assert_double_eq_tol(box.max.z, 1.7, 1e-14);
	/* A ball between the legs overlaps nothing; a ball at a leg overlaps the leg. */
	struct shape *ball = make_sphere(0.3);
	pose middle = pose_make(vec3_make(0, 0, 0.4), quat_identity());
	ck_assert(!shape_overlap(legs, ball, &middle));
	pose on_leg = pose_make(vec3_make(1.3, 0, 0), quat_identity());
	ck_assert(shape_overlap(legs, ball, &on_leg));
	pose inverse = pose_inverse(on_leg);
	ck_assert(shape_overlap(ball, legs, &inverse));
	struct query_hit hit;
	ck_assert(shape_ray(legs, &at, vec3_make(0, 0, -3), vec3_make(0, 0, 9), 1, &hit));
	ck_assert_uint_lt(hit.child, 3);
	ck_assert_double_eq_tol(hit.fraction, 4.3 / 9, 1e-14);
	shape_release(ball);
	shape_release(legs);
}
END_TEST

/* The hull of a ball mesh, with all vertices and with fewer. */
START_TEST(a_simplified_hull_reports_its_largest_error)
{
	enum { ROWS = 20, COLUMNS = 40, VERTICES = ROWS * COLUMNS + 2 };
	static vec3 vertices[VERTICES];
	static uint32_t triangles[2 * ROWS * COLUMNS][3];
	uint32_t count = 0, top = VERTICES - 2, bottom = VERTICES - 1;
	for (uint32_t r = 0; r < ROWS; r++)
		for (uint32_t c = 0; c < COLUMNS; c++) {
			double polar = PI * (r + 1) / (ROWS + 1), around = TWO_PI * c / COLUMNS;
			vertices[r * COLUMNS + c] =
				vec3_make(trig_sin(polar) * trig_cos(around),
					  trig_sin(polar) * trig_sin(around), trig_cos(polar));
		}
	vertices[top] = vec3_make(0, 0, 1);
	vertices[bottom] = vec3_make(0, 0, -1);
	for (uint32_t c = 0; c < COLUMNS; c++) {
		uint32_t n = (c + 1) % COLUMNS, last = (ROWS - 1) * COLUMNS;
		const uint32_t ends[2][3] = { { top, c, n }, { bottom, last + n, last + c } };
		memcpy(triangles[count], ends, sizeof ends);
		count += 2;
		for (uint32_t r = 0; r + 1 < ROWS; r++) {
			uint32_t a = r * COLUMNS + c, b = r * COLUMNS + n;
			const uint32_t quad[2][3] = { { a, a + COLUMNS, b },
						      { b, a + COLUMNS, b + COLUMNS } };
			memcpy(triangles[count], quad, sizeof quad);
			count += 2;
		}
	}
	for (uint32_t detail = 0; detail <= 256; detail += 64) {
		struct bytes bytes = { 0 };
		bytes_of_solid(&bytes, SOLID_HULL, detail, vertices, VERTICES,
			       (const uint32_t(*)[3])triangles, count);
		struct shape *ball = shape_of_bytes(&bytes);
		const struct hull *hull = ball->solid->parts[0]->hull;
		ck_assert_uint_eq(ball->solid->report.triangles_turned, 0);
		ck_assert_double_eq_tol(ball->mass.volume, 4.0 / 3 * PI, 0.05);
		if (detail == 0) {
			ck_assert_uint_eq(hull->vertex_count, VERTICES);
			ck_assert_double_eq_tol(ball->solid->volume_parts, ball->mass.volume, 1e-9);
		} else {
			ck_assert_uint_le(hull->vertex_count, detail);
			ck_assert_uint_ge(hull->vertex_count, detail / 2);
			ck_assert_double_gt(ball->solid->deviation, 0);
			ck_assert_double_lt(ball->solid->deviation, 8.0 / detail);
			char line[96];
			ck_assert(shape_warning(ball, 0, line, sizeof line));
			ck_assert_msg(strstr(line, "simplified") != NULL, "%s", line);
		}
		/* No vertex of the mesh is farther outside the hull than the reported distance. */
		double out = 0;
		for (uint32_t f = 0; f < hull->face_count; f++)
			for (uint32_t v = 0; v < VERTICES; v++)
				out = scalar_max(out, vec3_dot(hull->faces[f].normal, vertices[v]) -
							      hull->faces[f].offset);
		ck_assert_double_le(out, ball->solid->deviation + 1e-6);
		shape_release(ball);
	}
}
END_TEST

static double lowest(const struct stage *s, uint32_t body, const vec3 (*boxes)[2], uint32_t count)
{
	double low = 1e9;
	for (uint32_t b = 0; b < count; b++)
		for (uint32_t i = 0; i < 8; i++) {
			vec3 half = boxes[b][1];
			vec3 p = vec3_add(boxes[b][0], vec3_make(i & 1 ? half.x : -half.x,
								 i & 2 ? half.y : -half.y,
								 i & 4 ? half.z : -half.z));
			p = vec3_add(s->tables.body.position[body],
				     quat_rotate(s->tables.body.rotation[body], p));
			low = scalar_min(low, p.y);
		}
	return low;
}

static void check_rest_on(struct shape *ground)
{
	uint32_t floor = stage_shape(&stage, ground);
	uint32_t legs = stage_shape(&stage, make_boxes_solid(LEGS, 3));
	uint32_t club = stage_shape(&stage, make_boxes_solid(CLUB, 2));
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC, .shape = floor });
	uint32_t table = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								.shape = legs,
								.position = { 0, 1, 0 } });
	uint32_t thrown = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								 .shape = club,
								 .position = { 3.5, 2, 0 },
								 .velocity = { 0, 0, 1 },
								 .spin = { 1, 2, 3 } });
	stage_run(&stage, 420);
	ck_assert_double_lt(scalar_abs(lowest(&stage, table, LEGS, 3)), 0.01);
	ck_assert_double_lt(scalar_abs(lowest(&stage, thrown, CLUB, 2)), 0.01);
	/* The table stands upright on its three legs. */
	ck_assert_double_gt(quat_rotate(stage.tables.body.rotation[table], vec3_make(0, 1, 0)).y,
			    0.999);
	ck_assert_double_lt(stage_kinetic(&stage), 1e-3);
}

START_TEST(solids_come_to_rest_on_a_plane)
{
	check_rest_on(make_plane(vec3_make(0, 1, 0), 0));
}
END_TEST

START_TEST(solids_come_to_rest_on_a_mesh)
{
	check_rest_on(make_terrain(16, 1, 0, 1));
}
END_TEST

/* The number of touching contacts with the bodies and pieces of an event. */
static uint32_t touching_as(const struct event *event)
{
	const struct contact_table *contact = &stage.tables.contact;
	uint32_t found = 0;
	for (uint32_t row = 0; row < contact->count; row++) {
		if (!contact->used[row] || !contact->touching[row])
			continue;
		uint32_t a = stage.tables.placement.body[contact->placement_a[row]] - 1;
		uint32_t b = stage.tables.placement.body[contact->placement_b[row]] - 1;
		found += stage.tables.body.id[a] == event->a &&
			 stage.tables.body.id[b] == event->b &&
			 contact->child_a[row] == event->child_a &&
			 contact->child_b[row] == event->child_b;
	}
	return found;
}

START_TEST(events_name_a_piece_of_each_side)
{
	uint32_t floor = stage_shape(&stage, make_terrain(16, 1, 0, 1));
	uint32_t legs = stage_shape(&stage, make_boxes_solid(LEGS, 3));
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC, .shape = floor });
	stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = legs,
					       .position = { 0.1, 1, 0.2 },
					       .velocity = { 2, 0, 1 },
					       .spin = { 1, 3, 0 } });
	uint32_t begins = 0, ends = 0, both = 0;
	for (int tick = 0; tick < 240; tick++) {
		stage_step(&stage);
		for (uint32_t i = 0; i < stage.dynamics.events.count; i++) {
			const struct event *event = &stage.dynamics.events.items[i];
			if (event->kind != EVENT_CONTACT_BEGIN && event->kind != EVENT_CONTACT_END)
				continue;
			bool begin = event->kind == EVENT_CONTACT_BEGIN;
			ck_assert_uint_eq(touching_as(event), begin);
			begins += begin;
			ends += !begin;
			both += begin && event->child_a != 0 && event->child_b != 0;
		}
	}
	ck_assert_uint_gt(both, 3);
	ck_assert_uint_gt(ends, 3);
	uint32_t touching = 0;
	for (uint32_t row = 0; row < stage.tables.contact.count; row++)
		touching += stage.tables.contact.touching[row];
	ck_assert_uint_eq(begins - ends, touching);
}
END_TEST

START_TEST(a_ball_rolls_between_the_legs)
{
	uint32_t floor = stage_shape(&stage, make_plane(vec3_make(0, 1, 0), 0));
	uint32_t legs = stage_shape(&stage, make_boxes_solid(LEGS, 3));
	uint32_t ball = stage_shape(&stage, make_sphere(0.25));
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC, .shape = floor });
	uint32_t table = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								.shape = legs,
								.position = { 0, 0.5, 0 } });
	uint32_t roller = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
								 .shape = ball,
								 .position = { 0.1, 0.25, -3 },
								 .velocity = { 0, 0, 6 } });
	stage_run(&stage, 50);
	/* The ball passes the two front legs and reaches the third. A hull of all legs would stop it at
	 * z = −0.2. */
	ck_assert_double_gt(stage.tables.body.position[roller].z, 0.5);
	stage_run(&stage, 240);
	ck_assert_double_lt(stage.tables.body.position[roller].z, 1.3);
	ck_assert_double_gt(stage.tables.body.position[table].z, -1e-3);
}
END_TEST

/* A heap of turning solids. At every tick a stage rebuilt from the tables steps to the same next state,
 * so the close parts are a function of the tables. */
START_TEST(a_restored_heap_of_solids_has_the_same_future)
{
	struct stage other;
	stage_init(&other, "soft-step");
	uint32_t floor = stage_shape(&stage, make_terrain(24, 1, 0.3, 5));
	uint32_t legs = stage_shape(&stage, make_boxes_solid(LEGS, 3));
	uint32_t club = stage_shape(&stage, make_boxes_solid(CLUB, 2));
	uint32_t box = stage_shape(&stage, make_box(0.3, 0.3, 0.3));
	for (uint32_t i = 0; i < 4; i++)
		stage_shape(&other, shape_retain(stage.shapes[i]));
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC, .shape = floor });
	const uint32_t kinds[] = { legs, club, box };
	for (uint32_t i = 0; i < 12; i++)
		stage_add(&stage, (struct stage_body){
					  .status = BODY_DYNAMIC,
					  .shape = kinds[i % 3],
					  .position = { 0.3 * (i % 2), 1 + 0.9 * i, 0.2 * (i % 3) },
					  .spin = { 0.3 * i, 1, -0.2 * i },
				  });
	uint32_t contacts = 0;
	for (uint32_t tick = 0; tick < 200; tick++) {
		if (tick % 7 == 0)
			stage_restore(&other, &stage);
		stage_step(&stage);
		stage_step(&other);
		ck_assert_uint_eq(stage_hash(&stage), stage_hash(&other));
		contacts = MAX_OF(contacts, stage.dynamics.report.contacts);
	}
	ck_assert_uint_gt(contacts, 20);
	for (uint32_t b = 1; b < stage.tables.body.count; b++)
		ck_assert_double_gt(stage.tables.body.position[b].y, -0.5);
	stage_release(&other);
}
END_TEST

/* Two clubs that collide in free space keep linear and angular momentum. */
START_TEST(a_collision_of_solids_conserves_momentum)
{
	uint32_t club = stage_shape(&stage, make_boxes_solid(CLUB, 2));
	stage.tables.world.gravity[0] = vec3_zero();
	stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = club,
					       .position = { -2, 0.1, 0 },
					       .velocity = { 3, 0, 0 },
					       .spin = { 0, 0, 2 } });
	stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = club,
					       .position = { 2, 0, 0.1 },
					       .velocity = { -2, 0, 0 } });
	vec3 momentum = stage_momentum(&stage), angular = stage_angular_momentum(&stage);
	uint32_t touching = 0;
	for (uint32_t tick = 0; tick < 120; tick++) {
		stage_step(&stage);
		touching = MAX_OF(touching, stage.dynamics.report.touching);
	}
	ck_assert_uint_gt(touching, 0);
	ck_assert_double_lt(vec3_distance(stage_momentum(&stage), momentum), 1e-3);
	ck_assert_double_lt(vec3_distance(stage_angular_momentum(&stage), angular),
			    0.02 * vec3_length(angular) + 20);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/dynamics/solids");
	TCase *all = tcase_create("solids");
	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_solid_has_the_mass_of_its_mesh_and_the_pieces_of_its_parts);
	tcase_add_test(all, a_simplified_hull_reports_its_largest_error);
	tcase_add_test(all, solids_come_to_rest_on_a_plane);
	tcase_add_test(all, solids_come_to_rest_on_a_mesh);
	tcase_add_test(all, events_name_a_piece_of_each_side);
	tcase_add_test(all, a_ball_rolls_between_the_legs);
	tcase_add_test(all, a_restored_heap_of_solids_has_the_same_future);
	tcase_add_test(all, a_collision_of_solids_conserves_momentum);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
