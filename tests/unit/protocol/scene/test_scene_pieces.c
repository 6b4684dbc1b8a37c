/* `pieces` of bodies and `patches` of meshes: each key reaches its command, a piece takes the
 * rest from its material and its body, patches come from lists and from the materials of files,
 * and what is wrong is named. */
#include "protocol/scene/scene.h"
#include "tests/lib/check_main.h"
#include "tests/lib/scene_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void refuse(const char *text, enum status status, const char *field, const char *part)
{
	struct scene *scene = NULL;
	struct reason why = { 0 };
	ck_assert_int_eq(scene_parse(text, strlen(text), NULL, &scene, &why), status);
	ck_assert_str_eq(why.field, field);
	ck_assert_msg(strstr(why.text, part) != NULL, "%s", why.text);
}

/* The n-th SET_PIECE. */
static const struct command_SET_PIECE *piece_of(const struct scene *scene, uint32_t n)
{
	return &scene_command(scene, COMMAND_SET_PIECE, n)->set_piece;
}

static const char *const TWO_SHAPES =
	"shapes: [{shape: {kind: sphere, radius: 1}}, {shape: {kind: sphere, radius: 2}}]";

START_TEST(every_key_reaches_its_command)
{
	char text[2048];
	snprintf(text, sizeof text,
		 "materials: {grip: {density: 5, friction: 0.9, rolling_friction: 0.2}}\n"
		 "bodies:\n"
		 "  - {at: [0, 9, 0]}\n"
		 "  - %s\n"
		 "    static_friction: 0.5\n"
		 "    dynamic_friction: 0.4\n"
		 "    restitution: 0.3\n"
		 "    category: 4\n"
		 "    mask: 6\n"
		 "    array: {count: 2, step: [9, 0, 0]}\n"
		 "    pieces:\n"
		 "      - {piece: 1, material: grip, dynamic_friction: 0.7}\n"
		 "      - {sensor: true, mask: 2, surface_velocity: [1, 2, 3]}\n",
		 TWO_SHAPES);
	struct scene *scene = scene_of_text(text);
	for (uint32_t body = 0; body < 2; body++) {
		const struct command_SET_PIECE *a = piece_of(scene, 2 * body);
		ck_assert_int_eq(a->body, -2 - (int64_t)body);
		ck_assert_uint_eq(a->piece, 1);
		ck_assert_uint_eq(a->own, OWN_MATERIAL | OWN_DENSITY);
		ck_assert_double_eq(a->static_friction, 0.9);
		ck_assert_double_eq(a->dynamic_friction, 0.7);
		ck_assert_double_eq(a->rolling_friction, 0.2);
		ck_assert_double_eq(a->restitution, 0.3); /* the body's */
		ck_assert_double_eq(a->density, 5);
		const struct command_SET_PIECE *b = piece_of(scene, 2 * body + 1);
		ck_assert_uint_eq(b->piece, 0);
		ck_assert_uint_eq(b->own, OWN_SENSOR | OWN_FILTER | OWN_SURFACE);
		ck_assert_uint_eq(b->category, 4);
		ck_assert_uint_eq(b->mask, 2);
		ck_assert_uint_eq(b->sensor, 1);
		ck_assert_double_eq(b->surface_velocity.z, 3);
	}
	scene_destroy(scene);
}
END_TEST

/* A density moves the mass centre, whose velocity the file gives. */
START_TEST(a_turning_body_keeps_the_velocity_of_its_centre)
{
	char text[1024];
	snprintf(text, sizeof text,
		 "bodies: [{%s, velocity: [1, 0, 0], angular_velocity: [0, 2, 0],"
		 " pieces: [{piece: 1, density: 9}]}]",
		 TWO_SHAPES);
	struct scene *scene = scene_of_text(text);
	const struct command *last = &scene->commands[scene->command_count - 1];
	ck_assert_uint_eq(last->op, COMMAND_SET_VELOCITY);
	ck_assert_int_eq(last->set_velocity.body, -1);
	ck_assert_double_eq(last->set_velocity.velocity.x, 1);
	ck_assert_double_eq(last->set_velocity.angular_velocity.y, 2);
	scene_destroy(scene);
}
END_TEST

#define MESH(more)                                                                                 \
	"shapes: {m: {kind: mesh, points: [[0,0,0],[0,0,1],[1,0,0],[1,0,1]],\n"                    \
	"  triangles: [[0,1,2],[2,1,3]]" more "}}\n"                                               \
	"bodies: [{shape: m, status: static}]\n"

START_TEST(patches_are_at_the_end_of_a_mesh)
{
	struct scene *plain = scene_of_text(MESH("")),
		     *zero = scene_of_text(MESH(", patches: [0, 0]"));
	struct scene *two = scene_of_text(MESH(", patches: [3, 64]"));
	const struct scene_shape *a = &plain->shapes[0], *b = &two->shapes[0];
	ck_assert_uint_eq(b->bytes, a->bytes + 2);
	ck_assert_int_eq(memcmp(a->canonical, b->canonical, a->bytes), 0);
	ck_assert_uint_eq(b->canonical[a->bytes], 3);
	ck_assert_uint_eq(b->canonical[a->bytes + 1], 64);
	ck_assert_int_eq(memcmp(a->name.bytes, zero->shapes[0].name.bytes, sizeof a->name), 0);
	scene_destroy(plain);
	scene_destroy(zero);
	scene_destroy(two);
	refuse(MESH(", patches: [1]"), STATUS_RANGE, "patches", "1 patches for 2 triangles");
	refuse(MESH(", patches: [1, 65]"), STATUS_RANGE, "patches", "65");
	refuse(MESH(", patches: [1, ice]"), STATUS_TYPE, "patches", "ice");
}
END_TEST

static void print_rink(char *text, size_t bytes, const char *more)
{
	snprintf(text, bytes, "bodies: [{shape: {kind: mesh, file: rink.obj%s}, status: static}]",
		 more);
}

/* The materials of a file give its triangles their patches, whether a library defines them or not. */
START_TEST(patches_of_a_file_are_its_materials)
{
	char folder[] = "/tmp/cairn_patches_XXXXXX", path[64], text[512];
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/rink.obj", folder);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs("v 0 0 0\nv 0 0 1\nv 1 0 0\nv 1 0 1\nv 2 0 0\nv 2 0 1\n"
	      "usemtl ice\nf 1 2 3\nf 3 2 4\nusemtl rubber\nf 3 4 5\nf 5 4 6\n",
	      file);
	fclose(file);
	setenv("CAIRN_MESH_PATH", folder, 1);
	print_rink(text, sizeof text, ", patches: [rubber, ice]");
	struct scene *scene = scene_of_text(text);
	const struct scene_shape *shape = &scene->shapes[0];
	uint32_t counts[3] = { 0 };
	for (uint32_t t = 0; t < 4; t++) {
		uint8_t patch = shape->canonical[shape->bytes - 4 + t];
		ck_assert_uint_lt(patch, 3);
		counts[patch]++;
	}
	ck_assert_uint_eq(counts[0], 0);
	ck_assert_uint_eq(counts[1], 2);
	ck_assert_uint_eq(counts[2], 2);
	size_t bytes = shape->bytes;
	scene_destroy(scene);
	print_rink(text, sizeof text, "");
	scene = scene_of_text(text);
	ck_assert_uint_eq(scene->shapes[0].bytes, bytes - 4);
	scene_destroy(scene);
	print_rink(text, sizeof text, ", patches: [rubbre]");
	refuse(text, STATUS_MISSING, "patches", "rubbre");
	print_rink(text, sizeof text, ", patches: [ice, ice]");
	refuse(text, STATUS_EXISTS, "patches", "twice");
	remove(path);
	rmdir(folder);
}
END_TEST

static void refuse_pieces(const char *more, enum status status, const char *field, const char *part)
{
	char text[1024];
	snprintf(text, sizeof text, "bodies: [{%s, %s}]", TWO_SHAPES, more);
	refuse(text, status, field, part);
}

START_TEST(what_is_wrong_is_named)
{
	refuse_pieces("pieces: [{piece: 2, friction: 1}]", STATUS_RANGE, "piece", "2 shapes");
	refuse_pieces("pieces: [{piece: 1}]", STATUS_MISSING, "piece", "nothing of its own");
	refuse_pieces("pieces: [{friction: 1}, {friction: 0}]", STATUS_EXISTS, "piece", "twice");
	refuse_pieces("pieces: [{material: ice}]", STATUS_MISSING, "material", "ice");
	refuse_pieces("pieces: [{dynamic_friction: 0.9}]", STATUS_RANGE, "dynamic_friction",
		      "above");
	refuse_pieces("pieces: [{friction: .nan}]", STATUS_NOT_FINITE, "friction", "");
	refuse_pieces("pieces: [{density: 0}]", STATUS_RANGE, "density", "");
	refuse_pieces("mass: 3, pieces: [{density: 9}]", STATUS_EXISTS, "density", "mass");
	refuse_pieces("pieces: [{colour: 0x123456}]", STATUS_MALFORMED, "colour", "");
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("scene pieces");
	TCase *tests = tcase_create("scene pieces");
	tcase_add_test(tests, every_key_reaches_its_command);
	tcase_add_test(tests, a_turning_body_keeps_the_velocity_of_its_centre);
	tcase_add_test(tests, patches_are_at_the_end_of_a_mesh);
	tcase_add_test(tests, patches_of_a_file_are_its_materials);
	tcase_add_test(tests, what_is_wrong_is_named);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
