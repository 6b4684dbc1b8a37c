/* bench_shapes: real meshes as convex parts and as distance fields: counts, volumes, memory and times.
 *
 *   bench_shapes [FILE…]      default: those of glmark2-data and twenty of assimp-testmodels
 *   bench_shapes --field      fields of a cube and a ball of 1000 cells an axis
 *
 * Ends with 1 when a volume is not conserved to 1e-12 or a part is more concave than allowed.
 */
#include "server/engine/geometry/decompose.h"
#include "server/engine/geometry/distance_field.h"
#include "tests/lib/closed_meshes.h"
#include "tests/lib/model.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const MODELS[] = {
	"cube.3ds",
	"asteroid-low.3ds",
	"asteroid-high.3ds",
	"bunny.obj",
	"horse.3ds",
	"cat.3ds",
	"3DS/test1.3ds",
	"3DS/fels.3ds",
	"FBX/huesitos.fbx",
	"FBX/global_settings.fbx",
	"Collada/duck_triangulate.dae",
	"Collada/duck.dae",
	"Collada/sphere.dae",
	"Collada/earthCylindrical.DAE",
	"MS3D/twospheres_withmats.ms3d",
	"OBJ/empty_mat.obj",
	"AC/SphereWithLight.ac",
	"BLEND/NoisyTexturedCube_VoronoiGlob_248.blend",
	"BLEND/test_279.blend",
	"BLEND/4Cubes4Mats_248.blend",
	"BLEND/HUMAN.blend",
	"LWO/LWO2/UglyVertexColors.lwo",
	"LWO/LWO2/hierarchy_smoothed.lwo",
	"DXF/PinkEggFromLW.dxf",
	"COB/molecule.cob",
	"SMD/holy_grailref.smd",
	"NFF/NFF/dodecahedron.nff",
	"FBX/cubes_nonames.fbx",
};

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns whether all guarantees hold. */
static bool decompose(const struct mesh *mesh, enum decompose_mode mode)
{
	struct decompose_options options = decompose_options_default(mesh);
	struct decomposition *d;
	struct reason why;
	options.mode = mode;
	double began = seconds();
	enum status status = decompose_mesh(mesh, &options, &d, &why);
	double took = seconds() - began;
	if (status != STATUS_OK) {
		printf("  %s: %s\n", status_name(status), why.text);
		return true;
	}
	const struct decompose_report *r = &d->report;
	double v = r->volume, cut_error = r->volume_cut_error / v;
	printf("  %-6s %5u parts, %5u cuts, %3u halvings, %6u notches, %2u unresolved, %u approximated, "
	       "%u thin; off by %.1e; hulls +%.2f %%; concave %.4f, hull off by %.4f of %.4f m; %.2f s\n",
	       mode == DECOMPOSE_APPROXIMATE_ONLY ? "boxes:" : "cut:", d->part_count, r->cuts,
	       r->halvings, r->notches, r->unresolved, r->approximated, r->thin, cut_error,
	       100 * (r->volume_hulls / v - 1), r->concavity, r->deviation, options.concavity,
	       took);
	bool good = cut_error <= 1e-12 && r->concavity <= options.concavity &&
		    r->deviation <= options.concavity;
	decomposition_release(d);
	return good;
}

static void sample(const struct mesh *mesh, uint32_t resolution)
{
	struct distance_field *field;
	struct distance_field_mesh surface;
	struct reason why;
	double began = seconds();
	if (distance_field_create(mesh, resolution, 0, &field, &why) != STATUS_OK)
		return;
	double took = seconds() - began;
	printf("  field: %u x %u x %u cells, %u bricks, %.2f MB, %.2f s", field->cells[0],
	       field->cells[1], field->cells[2], field->brick_count, (double)field->bytes * 1e-6,
	       took);
	began = seconds();
	if (resolution <= 128 && distance_field_surface(field, &surface) == STATUS_OK) {
		printf("; surface: %u triangles, %.2f s", surface.triangle_count,
		       seconds() - began);
		distance_field_mesh_release(&surface);
	}
	printf("\n");
	distance_field_destroy(field);
}

static bool look_at(const char *name)
{
	struct shape *shape;
	struct reason why;
	enum status status = model_read(name, &shape, &why);
	if (status != STATUS_OK) {
		printf("%s: %s: %s\n", name, status_name(status), why.text);
		return true;
	}
	printf("%s: %u triangles, %s, volume %.6g m3\n", name, shape->mesh->triangle_count,
	       shape->mesh->closed ? "closed" : "open", shape->mass.volume);
	bool good = decompose(shape->mesh, DECOMPOSE_CUT_THEN_APPROXIMATE);
	if (shape->mesh->closed) {
		good = decompose(shape->mesh, DECOMPOSE_APPROXIMATE_ONLY) && good;
		sample(shape->mesh, 64);
	}
	fflush(stdout);
	shape_release(shape);
	return good;
}

static void sample_large(void)
{
	static const uint8_t ONE = 1;
	struct shape *shapes[2] = { make_voxels(1, 1, 1, &ONE), make_ball(3, 1, 0, NULL) };
	for (uint32_t i = 0; i < 2; i++) {
		printf("%s:\n", i == 0 ? "cube" : "ball");
		sample(shapes[i]->mesh, 1000);
		shape_release(shapes[i]);
	}
}

int main(int count, char **arguments)
{
	bool good = true;
	if (count > 1 && strcmp(arguments[1], "--field") == 0) {
		sample_large();
		return 0;
	}
	for (int i = 1; i < count; i++)
		good = look_at(arguments[i]) && good;
	for (uint32_t i = 0; count < 2 && i < COUNT_OF(MODELS); i++)
		good = look_at(MODELS[i]) && good;
	printf(good ? "all volumes conserved, all parts within their tolerance\n"
		    : "NOT all volumes conserved or parts within their tolerance\n");
	return good ? 0 : 1;
}
