/* Real meshes as convex parts and as fields: a few small ones of those that `make bench-shapes`
 * measures. If a package of models is not installed, its tests are skipped; if it is, each of its
 * models must exist. */
#include "server/engine/geometry/decompose.h"
#include "server/engine/geometry/distance_field.h"
#include "server/engine/geometry/mass.h"
#include "tests/lib/check_main.h"
#include "tests/lib/model.h"
#include "tests/lib/shapes.h"

/* glmark2-data has the first GLMARK of them, assimp-testmodels the others. */
enum { GLMARK = 2 };
static const struct {
	const char *name;
	uint32_t parts_most;
} MODELS[] = {
	{ "cube.3ds", 1 },
	{ "asteroid-low.3ds", 40 },
	{ "3DS/test1.3ds", 16 },
	{ "3DS/fels.3ds", 60 },
	{ "OBJ/empty_mat.obj", 8 },
	{ "Collada/sphere.dae", 8 },
	{ "BLEND/test_279.blend", 10 },
	{ "NFF/NFF/dodecahedron.nff", 1 },
	{ "DXF/PinkEggFromLW.dxf", 4 },
};

START_TEST(real_meshes_keep_their_volumes_and_their_parts_are_convex_enough)
{
	struct shape *shape;
	struct decomposition *d;
	struct reason why = { 0 };
	enum status status = model_read(MODELS[_i].name, &shape, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", MODELS[_i].name, why.text);
	struct decompose_options options = decompose_options_default(shape->mesh);
	ck_assert_int_eq(decompose_mesh(shape->mesh, NULL, &d, &why), STATUS_OK);
	ck_assert_uint_le(d->part_count, MODELS[_i].parts_most);
	ck_assert_double_eq_tol(d->report.volume, shape->mass.volume, 1e-9 * shape->mass.volume);
	ck_assert(d->report.volume_cut_error <= 1e-12 * d->report.volume);
	ck_assert(d->report.concavity <= options.concavity);
	ck_assert(d->report.deviation <= options.concavity);
	ck_assert_uint_eq(d->report.unresolved, d->report.approximated);
	decomposition_release(d);
	shape_release(shape);
}
END_TEST

START_TEST(the_field_of_an_asteroid_has_its_volume)
{
	struct shape *shape;
	struct distance_field *field;
	struct distance_field_mesh surface;
	struct reason why = { 0 };
	enum status status = model_read("asteroid-low.3ds", &shape, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	ck_assert_int_eq(distance_field_create(shape->mesh, 32, 0, &field, &why), STATUS_OK);
	ck_assert_int_eq(distance_field_surface(field, &surface), STATUS_OK);
	struct shape *again =
		make_mesh(surface.vertices, surface.vertex_count,
			  (const uint32_t(*)[3])surface.triangles, surface.triangle_count);
	ck_assert(again->mesh->closed);
	ck_assert_double_eq_tol(again->mass.volume, shape->mass.volume, 0.02 * shape->mass.volume);
	shape_release(again);
	distance_field_mesh_release(&surface);
	distance_field_destroy(field);
	shape_release(shape);
}
END_TEST

START_TEST(open_and_tangled_meshes_are_refused)
{
	static const char *const NAMES[] = { "cat.3ds", "horse.3ds" };
	struct shape *shape;
	struct decomposition *d;
	struct distance_field *field;
	struct reason why = { 0 };
	for (uint32_t i = 0; i < COUNT_OF(NAMES); i++) {
		enum status status = model_read(NAMES[i], &shape, &why);
		ck_assert_msg(status == STATUS_OK, "%s: %s", NAMES[i], why.text);
		ck_assert_int_eq(decompose_mesh(shape->mesh, NULL, &d, &why), STATUS_DEGENERATE);
		ck_assert_int_eq(distance_field_create(shape->mesh, 32, 0, &field, &why),
				 STATUS_DEGENERATE);
		shape_release(shape);
	}
}
END_TEST

static bool is_installed(uint32_t model)
{
	struct shape *shape;
	struct reason why;
	enum status status = model_read(MODELS[model].name, &shape, &why);
	if (status == STATUS_OK)
		shape_release(shape);
	return status != STATUS_MISSING;
}

static Suite *make(void)
{
	Suite *suite = suite_create("decompose_models");
	TCase *models = tcase_create("models");
	bool glmark = is_installed(0), assimp = is_installed(GLMARK);
	if (glmark) {
		tcase_add_loop_test(
			models, real_meshes_keep_their_volumes_and_their_parts_are_convex_enough, 0,
			GLMARK);
		tcase_add_test(models, the_field_of_an_asteroid_has_its_volume);
		tcase_add_test(models, open_and_tangled_meshes_are_refused);
	} else {
		check_skip(suite, "models", "glmark2-data is not installed");
	}
	if (assimp)
		tcase_add_loop_test(
			models, real_meshes_keep_their_volumes_and_their_parts_are_convex_enough,
			GLMARK, COUNT_OF(MODELS));
	else
		check_skip(suite, "models", "assimp-testmodels is not installed");
	suite_add_tcase(suite, models);
	return suite;
}

int main(void)
{
	return check_main(make);
}
