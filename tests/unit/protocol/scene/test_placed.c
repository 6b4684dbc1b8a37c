/* Bodies at places of their own: arrays of places, and the copy of a scene whose bodies are elsewhere. */
#include "protocol/scene/scene.h"
#include "server/base/heap.h"
#include "tests/lib/check_main.h"
#include "tests/lib/scene_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command_SPAWN *spawn(const struct scene *scene, uint32_t index)
{
	ck_assert_uint_lt(index, scene->command_count);
	ck_assert_uint_eq(scene->commands[index].op, COMMAND_SPAWN);
	return &scene->commands[index].spawn;
}

static void assert_vec3(vec3 is, double x, double y, double z)
{
	ck_assert_msg(vec3_distance(is, vec3_make(x, y, z)) < 1e-12, "(%g %g %g) is not (%g %g %g)",
		      is.x, is.y, is.z, x, y, z);
}

START_TEST(bodies_of_an_array_have_their_places)
{
	struct scene *scene = scene_of_text(
		"prototypes: {p: {grid: {count: [2, 2, 2], spacing: 3}, mass: 7}}\n"
		"bodies: [{like: p, at: [1, 0, 0], rotation: {axis: [0, 0, 1], degrees: 180},\n"
		"  array: {places: [[0.1, 2, 3], [4, 5, 6], [-7, 8, 9]],\n"
		"    turns: [[1, 0, 0, 0], {axis: [1, 0, 0], degrees: 180}, [0, 0, 0, 2]]}}]");
	ck_assert_uint_eq(scene->command_count, 3);
	assert_vec3(spawn(scene, 0)->position, 1.1, 2, 3);
	assert_vec3(spawn(scene, 1)->position, 5, 5, 6);
	assert_vec3(spawn(scene, 2)->position, -6, 8, 9);
	const quat turns[3] = { quat_make(0, 0, 0, 1), quat_make(0, 0, 1, 0),
				quat_make(1, 0, 0, 0) };
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_double_eq(spawn(scene, i)->mass, 7);
		ck_assert_double_gt(fabs(quat_dot(spawn(scene, i)->rotation, turns[i])), 1 - 1e-12);
	}
	scene_destroy(scene);
}
END_TEST

/* What `cairn pack` writes: the same bodies elsewhere, whatever moved them before. */
START_TEST(a_scene_with_bodies_elsewhere_reads_back)
{
	static const char TEXT[] =
		"world: {seed: 5}\n"
		"prototypes: {p: {jitter: 1, jitter_degrees: 40, velocity: [1, 2, 3], at: [9, 9, 9],\n"
		"  rotation: {axis: [0, 1, 0], degrees: 30}, stack: {count: 4}}}\n"
		"assemblies: {two: {bodies: [{name: x, at: [1, 0, 0]}, {name: y, status: static}]}}\n"
		"bodies: [{name: a, like: p, friction: 0.25}, {like: p, ring: {count: 3, radius: 2}},\n"
		"  {assembly: two, at: [0, 5, 0], array: {count: 2, step: [1, 2, 3]}},\n"
		"  {name: last, like: p, velocity: [0, 1, 0], at: [0, 1, 0], array: {count: 1},\n"
		"   frame: {at: [1, 1, 1], rotation: {axis: [1, 1, 0], degrees: 50}}}]\n";
	enum { BODIES = 12 };
	char path[] = "/tmp/placed-XXXXXX";
	int file = mkstemp(path);
	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(write(file, TEXT, sizeof TEXT - 1), (int)sizeof TEXT - 1);
	close(file);
	pose places[BODIES];
	for (uint32_t i = 0; i < BODIES; i++)
		places[i] = pose_make(vec3_make(0.1 * i, 1.0 / (i + 3), -7.0 * i),
				      quat_from_axis_angle(vec3_axis(i % 3), 0.3 * (i % 5)));
	struct scene *before, *after;
	struct reason why;
	char *text;
	ck_assert_int_eq(scene_load(path, &before, &why), STATUS_OK);
	/* A file that someone has changed while its bodies moved. */
	ck_assert_int_eq(scene_convert_placed(path, NULL, places, BODIES - 1, &text, &why),
			 STATUS_CORRUPT);
	ck_assert_ptr_null(text);
	ck_assert_ptr_nonnull(strstr(why.text, "has changed since it was read: it has 12 bodies"));
	enum status status = scene_convert_placed(path, NULL, places, BODIES, &text, &why);
	unlink(path);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	status = scene_parse(text, strlen(text), NULL, &after, &why);
	ck_assert_msg(status == STATUS_OK, "%s\n%s", why.text, text);
	ck_assert_uint_eq(after->command_count, before->command_count);
	for (uint32_t i = 0; i < BODIES; i++) {
		const struct command_SPAWN *was = spawn(before, i), *is = spawn(after, i);
		ck_assert_uint_eq(is->status, was->status);
		ck_assert_double_eq(is->static_friction, was->static_friction);
		bool moves = is->status == BODY_DYNAMIC;
		vec3 at = moves ? places[i].position : was->position;
		quat turn = moves ? places[i].rotation : was->rotation;
		ck_assert(vec3_equal(is->position, at));
		ck_assert_double_gt(quat_dot(is->rotation, turn), 1 - 1e-14);
		ck_assert(!moves || vec3_equal(is->velocity, vec3_zero()));
		char name[2][SCENE_BODY_NAME] = { "", "" };
		ck_assert_int_eq(scene_body_name(before, i + 1, name[0]),
				 scene_body_name(after, i + 1, name[1]));
		ck_assert_str_eq(name[0], name[1]);
	}
	heap_free(text);
	scene_destroy(before);
	scene_destroy(after);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("scene: places");
	TCase *places = tcase_create("places");
	tcase_add_test(places, bodies_of_an_array_have_their_places);
	tcase_add_test(places, a_scene_with_bodies_elsewhere_reads_back);
	suite_add_tcase(suite, places);
	return suite;
}

int main(void)
{
	return check_main(make);
}
