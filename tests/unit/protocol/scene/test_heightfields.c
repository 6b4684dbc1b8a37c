/* Heightfields of scenes: from lists, formulas, images and tables of numbers; parts with aprons; refusals. */
#include "protocol/scene/scene.h"
#include "server/engine/geometry/heightfield.h"
#include "tests/lib/check_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static void make_folder(void)
{
	snprintf(folder, sizeof folder, "/tmp/cairn-heights-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void put_file(const char *name, const void *data, size_t bytes)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "wb");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(data, 1, bytes, file), bytes);
	fclose(file);
}

static void put_text(const char *name, const char *text)
{
	put_file(name, text, strlen(text));
}

static void remove_folder(void)
{
	static const char *const FILES[] = { "plain.pgm", "wide.pgm", "grid.csv", "bad.csv",
					     "short.pgm" };
	char path[128];
	for (size_t i = 0; i < COUNT_OF(FILES); i++) {
		snprintf(path, sizeof path, "%s/%s", folder, FILES[i]);
		unlink(path);
	}
	ck_assert_int_eq(rmdir(folder), 0);
}

/* The shape of a scene whose one shape has these keys. */
static struct shape *shape_of(const char *keys)
{
	char text[1024];
	struct scene *scene = NULL;
	struct shape *shape = NULL;
	struct reason why = { 0 };
	snprintf(text, sizeof text, "variables: {high: 2}\nshapes: {a: {kind: heightfield, %s}}",
		 keys);
	enum status status = scene_parse(text, strlen(text), folder, &scene, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", why.field, why.text);
	status = shape_cook(scene->shapes[0].canonical, scene->shapes[0].bytes, NULL, &shape, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", why.field, why.text);
	scene_destroy(scene);
	return shape;
}

static void refuse(const char *keys, enum status status, const char *field, const char *part)
{
	char text[1024];
	struct scene *scene = NULL;
	struct reason why = { 0 };
	snprintf(text, sizeof text, "shapes: {a: {kind: heightfield, %s}}", keys);
	enum status found = scene_parse(text, strlen(text), folder, &scene, &why);
	ck_assert_msg(found == status, "%s: %d, %s", keys, found, why.text);
	ck_assert_msg(strstr(why.text, part) != NULL, "%s", why.text);
	ck_assert_str_eq(why.field, field);
}

static const struct heightfield *grid_of(const struct shape *shape)
{
	ck_assert_int_eq(shape->kind, SHAPE_HEIGHTFIELD);
	return shape->mesh->grid;
}

START_TEST(lists_and_formulas_give_the_heights)
{
	struct shape *list = shape_of("cell: 2, cell_z: 3, scale: 2, offset: 1, "
				      "heights: [[0, 1, 2], [3, 4, 5]]");
	for (uint32_t v = 0; v < 6; v++) {
		vec3 p = heightfield_vertex(grid_of(list), v);
		ck_assert(p.x == (v % 3 - 1.0) * 2 && p.z == (v / 3 - 0.5) * 3);
		ck_assert(p.y == 1 + 2.0 * v);
	}
	shape_release(list);
	struct shape *formula =
		shape_of("cell: 0.5, columns: 9, rows: 5, formula: '$high * x - z'");
	for (uint32_t v = 0; v < 45; v++) {
		vec3 p = heightfield_vertex(grid_of(formula), v);
		ck_assert(p.y == 2 * p.x - p.z);
	}
	shape_release(formula);
}
END_TEST

START_TEST(noise_is_smooth_and_bounded)
{
	struct shape *shape =
		shape_of("cell: 0.01, columns: 400, rows: 400, formula: 'noise(x, z)'");
	const struct heightfield *grid = grid_of(shape);
	double most = 0, step = 0;
	for (uint32_t v = 0; v + 1 < 160000; v++) {
		double here = heightfield_vertex(grid, v).y;
		most = scalar_max(most, scalar_abs(here));
		if ((v + 1) % 400 != 0)
			step = scalar_max(step,
					  scalar_abs(heightfield_vertex(grid, v + 1).y - here));
	}
	/* The quintic's greatest slope is 15/8, between values that differ by at most 2. */
	ck_assert(most > 0.3 && most <= 1);
	ck_assert(step > 0 && step <= 0.01 * 15 / 8 * 2);
	shape_release(shape);
}
END_TEST

START_TEST(images_and_tables_are_read)
{
	static const uint8_t WIDE[] = "P5 3 2 65535\n\0\0\1\0\377\377\200\0\0\1\0\0";
	make_folder();
	put_text("plain.pgm", "P2\n# a comment\n3 2\n4\n0 1 2\n3 4 0\n");
	put_file("wide.pgm", WIDE, sizeof WIDE - 1);
	put_text("grid.csv", "0,0.5;-1e1\n\n# a comment\n1 2\t3\n");
	struct shape *plain = shape_of("cell: 1, file: plain.pgm, scale: 8");
	struct shape *wide = shape_of("cell: 10, file: wide.pgm, scale: 65535");
	struct shape *table = shape_of("cell: 1, file: grid.csv");
	static const double PLAIN[6] = { 0, 2, 4, 6, 8, 0 };
	static const double VALUES[6] = { 0, 256, 65535, 32768, 1, 0 };
	static const double TABLE[6] = { 0, 0.5, -10, 1, 2, 3 };
	for (uint32_t v = 0; v < 6; v++) {
		ck_assert_double_eq(heightfield_vertex(grid_of(plain), v).y, PLAIN[v]);
		ck_assert_double_eq_tol(heightfield_vertex(grid_of(wide), v).y, VALUES[v], 1e-2);
		ck_assert_double_eq(heightfield_vertex(grid_of(table), v).y, TABLE[v]);
	}
	shape_release(plain);
	shape_release(wide);
	shape_release(table);
	remove_folder();
}
END_TEST

/* A part has the samples of the whole, with those around it; what the whole lacks is a hole. */
START_TEST(a_part_is_a_tile_with_an_apron)
{
	const char *whole_keys = "cell: 1, columns: 9, rows: 7, formula: '5 * x + 100 * z'";
	char keys[200];
	struct shape *whole = shape_of(whole_keys);
	snprintf(keys, sizeof keys, "%s, part: [4, 2, 4, 3]", whole_keys);
	struct shape *part = shape_of(keys);
	const struct heightfield *grid = grid_of(part);
	ck_assert_uint_eq(grid->apron, 1);
	ck_assert_uint_eq(grid->columns, 7);
	ck_assert_uint_eq(grid->rows, 6);
	for (uint32_t j = 0; j < 6; j++)
		for (uint32_t i = 0; i < 6; i++)
			ck_assert(heightfield_vertex(grid, j * 7 + i).y ==
				  heightfield_vertex(grid_of(whole), (j + 1) * 9 + i + 3).y);
	/* Cells at the right have no neighbours in the whole. */
	uint32_t right = 2 * (1 * 6 + 4) + 1, left = 2 * (1 * 6 + 1);
	ck_assert_uint_eq(heightfield_across(grid, right, 1), UINT32_MAX);
	ck_assert_uint_eq(heightfield_across(grid, left, 0), 2 * (1 * 6) + 1);
	shape_release(whole);
	shape_release(part);
}
END_TEST

START_TEST(low_cells_are_holes)
{
	struct shape *shape =
		shape_of("cell: 1, heights: [[0, 0, 0], [0, 0, -3], [0, 0, 0]], holes_below: -1");
	ck_assert_uint_eq(grid_of(shape)->holes_count, 2);
	ck_assert(heightfield_has_cell(grid_of(shape), 0, 1));
	ck_assert(!heightfield_has_cell(grid_of(shape), 1, 0));
	shape_release(shape);
}
END_TEST

START_TEST(what_is_wrong_is_named)
{
	make_folder();
	put_text("bad.csv", "0,1\n2,three\n");
	put_text("short.pgm", "P5 9 9 255\nabc");
	refuse("cell: 1", STATUS_MISSING, "heights", "either 'file', 'heights' or 'formula'");
	refuse("cell: 1, formula: x", STATUS_MISSING, "columns", "go with 'formula'");
	refuse("cell: 1, formula: y, columns: 3, rows: 3", STATUS_MISSING, "formula",
	       "there is no 'y': a formula of heights has x and z");
	refuse("cell: 1, formula: '1 / x', columns: 3, rows: 3", STATUS_NOT_FINITE, "formula", "");
	refuse("cell: 1, heights: [[0, 1], [2]]", STATUS_TYPE, "heights", "a list of 2 numbers");
	refuse("cell: 1, heights: [[0], [2]]", STATUS_DEGENERATE, "heights",
	       "1 columns and 2 rows");
	refuse("cell: 1, heights: [[0, .nan], [0, 0]]", STATUS_NOT_FINITE, "heights", "");
	refuse("cell: 1, file: bad.csv", STATUS_MALFORMED, "file",
	       "row 1 of bad.csv has no finite number at 'three");
	refuse("cell: 1, file: short.pgm", STATUS_MALFORMED, "file", "ends before its last sample");
	refuse("cell: 1, file: none.pgm", STATUS_MISSING, "file", "no none.pgm beside the scene");
	refuse("cell: 1, file: ../x", STATUS_RANGE, "file", "without '..'");
	refuse("cell: 1, heights: [[0, 1], [2, 3]], part: [0, 0, 2, 1]", STATUS_RANGE, "part",
	       "cells 0 to 2 of 1 along x");
	refuse("cell: 1, heights: [[0, 1], [2, 3]], part: [0, 0, 0.5, 1]", STATUS_TYPE, "part",
	       "0.5 is not a whole number");
	remove_folder();
}
END_TEST

START_TEST(a_body_of_a_heightfield_does_not_move)
{
	static const char TEXT[] =
		"bodies: [{shape: {kind: heightfield, cell: 1, heights: [[0, 0], [0, 0]]}}]";
	struct scene *scene = NULL;
	struct reason why = { 0 };
	ck_assert_int_eq(scene_parse(TEXT, strlen(TEXT), NULL, &scene, &why), STATUS_STATUS_WRONG);
	ck_assert_msg(strstr(why.text, "a heightfield cannot move") != NULL, "%s", why.text);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("scene/heightfields");
	TCase *tcase = tcase_create("heightfields");
	tcase_add_test(tcase, lists_and_formulas_give_the_heights);
	tcase_add_test(tcase, noise_is_smooth_and_bounded);
	tcase_add_test(tcase, images_and_tables_are_read);
	tcase_add_test(tcase, a_part_is_a_tile_with_an_apron);
	tcase_add_test(tcase, low_cells_are_holes);
	tcase_add_test(tcase, what_is_wrong_is_named);
	tcase_add_test(tcase, a_body_of_a_heightfield_does_not_move);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
