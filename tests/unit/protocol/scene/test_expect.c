/* The sections `compare` and `expect` of scene files: what they mean, and refusals. */
#include "protocol/scene/scene.h"
#include "server/base/heap.h"
#include "tests/lib/check_main.h"
#include "tests/lib/scene_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BODIES                                                                                     \
	"bodies:\n"                                                                                \
	"- {name: ball, at: [0, 1, 0]}\n"                                                          \
	"- {name: row, grid: {count: [3, 1, 1]}}\n"

START_TEST(a_file_without_the_sections_expects_nothing)
{
	struct scene *scene = scene_of_text(BODIES);
	ck_assert_uint_eq(scene->expectation_count, 0);
	ck_assert_uint_eq(scene->compare.ticks, 600);
	ck_assert_uint_eq(scene->compare.methods.count, 0);
	scene_destroy(scene);
}
END_TEST

START_TEST(bounds_have_bodies_axes_ticks_and_limits)
{
	struct scene *scene = scene_of_text(
		BODIES
		"compare: {ticks: 120, methods: [lcp, soft-step]}\n"
		"expect:\n"
		"- {measure: position, body: 'row[1]', other: ball, axis: y, value: 2, within: 0.5}\n"
		"- {measure: energy_change, take: largest, from: 3, until: 9, at_most: 1e-3,\n"
		"   methods: [lcp]}\n"
		"- {measure: spin, body: ball, take: least, at_least: -4, name: slow}\n");
	const struct scene_expectation *expect = scene->expectations;
	ck_assert_uint_eq(scene->expectation_count, 3);
	ck_assert_uint_eq(scene->compare.ticks, 120);
	ck_assert_uint_eq(scene->compare.methods.count, 2);
	ck_assert_str_eq(scene->compare.methods.names[1], "soft-step");
	ck_assert_int_eq(expect[0].measure, MEASURE_POSITION);
	ck_assert_int_eq(expect[0].axis, AXIS_Y);
	ck_assert_uint_eq(expect[0].body, 2);
	ck_assert_uint_eq(expect[0].other, 0);
	ck_assert(expect[0].least == 1.5 && expect[0].most == 2.5);
	ck_assert_uint_eq(expect[0].until, UINT32_MAX);
	ck_assert_uint_eq(expect[0].line, 6);
	ck_assert_int_eq(expect[1].take, TAKE_LARGEST);
	ck_assert(expect[1].from == 3 && expect[1].until == 9 && isinf(expect[1].least));
	ck_assert(expect[1].most == 1e-3 && expect[1].methods.count == 1);
	ck_assert_uint_eq(expect[1].body, UINT32_MAX);
	ck_assert_str_eq(expect[2].name, "slow");
	ck_assert(expect[2].least == -4 && isinf(expect[2].most));
	/* Commands made the bodies 11, 12, 13, 14. */
	const uint32_t ids[] = { 11, 12, 13, 14 };
	scene_expect_link(scene, ids);
	ck_assert(expect[0].body == 13 && expect[0].other == 11 && expect[1].body == 0);
	scene_destroy(scene);
}
END_TEST

/* The words of the manifest and the names of measures are one list. */
START_TEST(every_measure_has_its_word)
{
	for (int m = 0; m < SCENE_MEASURES; m++) {
		char text[512];
		snprintf(text, sizeof text, BODIES "expect:\n- {measure: %s%s, at_most: 1}\n",
			 scene_measure_name((enum scene_measure)m),
			 m < MEASURES_OF_BODIES ? ", body: ball" : "");
		struct scene *scene = scene_of_text(text);
		ck_assert_int_eq(scene->expectations[0].measure, m);
		scene_destroy(scene);
	}
}
END_TEST

static const struct {
	const char *entry;
	enum status status;
	const char *field, *says;
} BROKEN[] = {
	{ "{measure: hight, at_most: 1}", STATUS_RANGE, "measure", "not one of position" },
	{ "{at_most: 1}", STATUS_MISSING, "measure", "" },
	{ "{measure: speed, at_most: 1}", STATUS_MISSING, "body", "a measure of a body" },
	{ "{measure: energy, body: ball, at_most: 1}", STATUS_RANGE, "body", "of the world" },
	{ "{measure: speed, body: bal, at_most: 1}", STATUS_MISSING, "body", "'ball'" },
	{ "{measure: speed, body: row, at_most: 1}", STATUS_RANGE, "body", "3 bodies" },
	{ "{measure: speed, body: 'row[3]', at_most: 1}", STATUS_RANGE, "body", "from -3 to 2" },
	{ "{measure: speed, body: world, at_most: 1}", STATUS_RANGE, "body", "the world" },
	{ "{measure: speed, body: ball, axis: x, at_most: 1}", STATUS_RANGE, "axis", "one number" },
	{ "{measure: spin, body: ball, other: ball, at_most: 1}", STATUS_RANGE, "other",
	  "no second body" },
	{ "{measure: energy}", STATUS_MISSING, "value", "needs a bound" },
	{ "{measure: energy, value: 1}", STATUS_MISSING, "within", "needs 'within'" },
	{ "{measure: energy, within: 1, at_most: 2}", STATUS_MISSING, "value", "needs a value" },
	{ "{measure: energy, value: 1, within: 1, at_most: 2}", STATUS_EXISTS, "value",
	  "exclude each other" },
	{ "{measure: energy, at_least: 3, at_most: 2}", STATUS_RANGE, "at_most", "below" },
	{ "{measure: energy, at_most: .nan}", STATUS_NOT_FINITE, "at_most", "" },
	{ "{measure: energy, at_most: 1, from: 9, until: 8}", STATUS_RANGE, "until", "before" },
	{ "{measure: energy, at_most: 1, methods: [lcp, lcp]}", STATUS_EXISTS, "methods", "twice" },
	{ "{measure: energy, at_most: 1, methods: [[lcp]]}", STATUS_TYPE, "methods", "names" },
	{ "{measure: energy, at_most: 1, methods: []}", STATUS_LIMIT, "methods", "from 1 to 8" },
	{ "{measure: energy, at_most: 1, mehods: [lcp]}", STATUS_MALFORMED, "mehods", "'methods'" },
};

START_TEST(every_refusal_names_line_and_key)
{
	char text[512];
	struct scene *scene = NULL;
	struct reason why = { 0 };
	int64_t live = heap_live();
	snprintf(text, sizeof text, BODIES "expect:\n- %s\n", BROKEN[_i].entry);
	enum status status = scene_parse(text, strlen(text), NULL, &scene, &why);
	ck_assert_msg(status == BROKEN[_i].status, "%s: %s %s", BROKEN[_i].entry,
		      status_name(status), why.text);
	ck_assert_msg(strcmp(why.field, BROKEN[_i].field) == 0, "%s: %s: %s", BROKEN[_i].entry,
		      why.field, why.text);
	ck_assert_msg(strncmp(why.text, "scene:5: ", 9) == 0, "%s", why.text);
	ck_assert_msg(strstr(why.text, BROKEN[_i].says) != NULL, "%s", why.text);
	ck_assert_int_eq(heap_live(), live);
}
END_TEST

START_TEST(an_arch_stands_on_its_two_ends)
{
	struct scene *scene =
		scene_of_text("bodies:\n- {name: arch, arch: {count: 5, radius: 2}}\n");
	ck_assert_uint_eq(scene->command_count, 5);
	for (uint32_t i = 0; i < 5; i++) {
		const struct command_SPAWN *stone = &scene->commands[i].spawn;
		double turn = (i + 0.5) / 5 - 0.5;
		ck_assert_double_eq_tol(stone->position.x, -2 * sin(M_PI * turn), 1e-12);
		ck_assert_double_eq_tol(stone->position.y, 2 * cos(M_PI * turn), 1e-12);
		/* Its y axis points outwards. */
		vec3 up = quat_rotate(stone->rotation, vec3_axis(1));
		ck_assert_double_eq_tol(up.x, stone->position.x / 2, 1e-12);
		ck_assert_double_eq_tol(up.y, stone->position.y / 2, 1e-12);
	}
	scene_destroy(scene);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("expect");
	TCase *tcase = tcase_create("expect");
	tcase_add_test(tcase, a_file_without_the_sections_expects_nothing);
	tcase_add_test(tcase, bounds_have_bodies_axes_ticks_and_limits);
	tcase_add_test(tcase, every_measure_has_its_word);
	tcase_add_loop_test(tcase, every_refusal_names_line_and_key, 0, COUNT_OF(BROKEN));
	tcase_add_test(tcase, an_arch_stands_on_its_two_ends);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
