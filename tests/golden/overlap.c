/* overlap.c: hashes of regions, Minkowski sums, free regions, and first touches of meshes by both
 * methods: of every number of the results. */
#include "tests/golden/overlap.h"

#include "server/base/hash.h"
#include "server/base/heap.h"
#include "server/engine/collision/bisect.h"
#include "server/engine/collision/continuous_mesh.h"
#include "server/engine/collision/free_region.h"
#include "server/engine/geometry/minkowski.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/solids.h"

enum { POSES = 60, SUMS = 40, POINTS = 100, MOTIONS = 40 };

struct sums {
	struct hasher values, ways;
	struct rng rng;
};

static struct sums begin(uint64_t seed)
{
	struct sums sums;
	hasher_init(&sums.values, 1);
	hasher_init(&sums.ways, 2);
	sums.rng = rng_seeded(seed);
	return sums;
}

static void end(struct sums *sums, golden_line *line, const char *name, uint32_t count)
{
	line(name, count, hasher_digest(&sums->values), hasher_digest(&sums->ways));
}

static pose draw_pose(struct rng *rng, double size)
{
	vec3 position = random_vector(rng, size);
	return pose_make(position, random_rotation(rng));
}

static void add_vector(struct sums *sums, vec3 v)
{
	hasher_f64(&sums->values, v.x);
	hasher_f64(&sums->values, v.y);
	hasher_f64(&sums->values, v.z);
}

static struct shape *ring(uint32_t around, uint32_t across)
{
	static struct solid solid;
	solid_reset(&solid);
	solid_add_ring(&solid, 1, 0.375, around, across);
	solid_add_box(&solid, vec3_all(-0.25), vec3_all(0.25), false);
	return solid_shape(&solid);
}

static void add_regions(struct sums *sums, const struct regions *found)
{
	hasher_u32(&sums->ways, found->region_count);
	hasher_u32(&sums->ways, found->contour_count);
	hasher_u32(&sums->ways, found->pairs);
	for (uint32_t r = 0; r < found->region_count; r++) {
		const struct region *region = &found->regions[r];
		hasher_f64(&sums->values, region->volume);
		hasher_f64(&sums->values, region->depth);
		add_vector(sums, region->centre);
		add_vector(sums, region->normal);
		add_vector(sums, region->point_a);
		add_vector(sums, region->point_b);
		hasher_u32(&sums->ways, region->vertices_a);
		hasher_u32(&sums->ways, region->vertices_b);
	}
	for (uint32_t i = 0; i < found->point_count; i++)
		add_vector(sums, found->points[i].point);
}

static void regions_lines(golden_line *line)
{
	struct sums sums = begin(31);
	struct shape *a = ring(20, 9), *b = ring(16, 7);
	struct regions_options options = regions_options_default();
	struct regions found;
	regions_init(&found);
	for (uint32_t i = 0; i < POSES; i++) {
		vec3 by = i % 4 ? random_vector(&sums.rng, 1) : vec3_make(0.25 * (i % 3), 0.5, 0);
		pose at = pose_make(by, i % 4 ? random_rotation(&sums.rng) : quat_identity());
		enum status status = regions_find(&found, a->mesh, b->mesh, &at, &options);
		ASSERT(status == STATUS_OK);
		add_regions(&sums, &found);
	}
	end(&sums, line, "overlap-regions", POSES);
	regions_release(&found);
	shape_release(a);
	shape_release(b);
}

static struct hull *cloud(struct rng *rng)
{
	vec3 points[16];
	struct hull *hull = NULL;
	for (uint32_t i = 0; i < COUNT_OF(points); i++)
		points[i] = random_direction(rng);
	enum status status = hull_of_points(points, COUNT_OF(points), &hull, NULL, NULL);
	ASSERT(status == STATUS_OK);
	return hull;
}

static void sums_lines(golden_line *line)
{
	struct sums sums = begin(32), free = begin(33);
	struct free_region region;
	free_region_init(&region);
	for (uint32_t i = 0; i < SUMS; i++) {
		struct hull *a = i % 2 ? cloud(&sums.rng) : box_hull(vec3_make(1, 0.5, 2));
		struct hull *b = i % 3 ? cloud(&sums.rng) : box_hull(vec3_make(0.25, 1, 0.5));
		struct hull *sum = NULL;
		struct minkowski_report report;
		enum status status = minkowski_sum(a, b, &sum, &report);
		ASSERT(status == STATUS_OK);
		hasher_u32(&sums.ways, report.from_faces);
		hasher_u32(&sums.ways, report.from_edges);
		for (uint32_t v = 0; v < sum->vertex_count; v++)
			add_vector(&sums, sum->vertices[v]);
		for (uint32_t f = 0; f < sum->face_count; f++)
			add_vector(&sums, sum->faces[f].normal);
		pose at = draw_pose(&free.rng, 8);
		if (i < 8)
			status = free_region_add_hull(&region, sum, &at);
		ASSERT(status == STATUS_OK);
		heap_free(sum);
		heap_free(a);
		heap_free(b);
	}
	end(&sums, line, "overlap-sums", SUMS);
	for (uint32_t i = 0; i < POINTS; i++) {
		const struct free_plane *planes;
		uint32_t count;
		bool keeps;
		enum status status = free_region_find(&region, random_vector(&free.rng, 9), 0.1,
						      &planes, &count, &keeps);
		ASSERT(status == STATUS_OK);
		hasher_u32(&free.ways, count);
		hasher_u32(&free.ways, keeps);
		for (uint32_t k = 0; k < count; k++) {
			add_vector(&free, planes[k].normal);
			hasher_f64(&free.values, planes[k].offset);
		}
	}
	end(&free, line, "overlap-free", POINTS);
	free_region_release(&region);
}

static struct motion draw_motion(struct rng *rng)
{
	struct motion motion;
	pose from = draw_pose(rng, 4);
	pose to = draw_pose(rng, 1);
	enum status status = motion_between(from, 0, to, 1, &motion);
	ASSERT(status == STATUS_OK);
	return motion;
}

static void motion_lines(golden_line *line)
{
	struct sums forwards = begin(34), backwards = begin(35);
	struct shape *a = ring(10, 5), *b = ring(8, 4);
	struct continuous_mesh one, other;
	struct regions regions;
	regions_init(&regions);
	enum status status = continuous_mesh_init(&one, a);
	ASSERT(status == STATUS_OK);
	status = continuous_mesh_init(&other, b);
	ASSERT(status == STATUS_OK);
	for (uint32_t i = 0; i < MOTIONS; i++) {
		struct motion of_a = draw_motion(&forwards.rng);
		struct motion of_b = draw_motion(&forwards.rng);
		struct continuous_mesh_hit hit = { .time = 2 };
		bool found = continuous_mesh_mesh(&one, &of_a, &other, &of_b, 1e-6, &hit, NULL);
		hasher_f64(&forwards.values, hit.time);
		add_vector(&forwards, hit.point);
		add_vector(&forwards, hit.normal);
		hasher_u32(&forwards.ways, found);
		hasher_u32(&forwards.ways, hit.triangle_a);
		hasher_u32(&forwards.ways, hit.triangle_b);
		struct bisect_options options = { 1e-5, 1e-7, 50 };
		struct bisect_result result;
		status = bisect_meshes(&regions, a->mesh, &of_a, b->mesh, &of_b, &options, &result);
		ASSERT(status == STATUS_OK);
		hasher_f64(&backwards.values, result.time);
		hasher_u32(&backwards.ways, (uint32_t)result.outcome);
		hasher_u32(&backwards.ways, result.iterations);
		add_regions(&backwards, &regions);
	}
	end(&forwards, line, "overlap-motions", MOTIONS);
	end(&backwards, line, "overlap-bisect", MOTIONS);
	continuous_mesh_release(&one);
	continuous_mesh_release(&other);
	regions_release(&regions);
	shape_release(a);
	shape_release(b);
}

void golden_overlap(golden_line *line)
{
	regions_lines(line);
	sums_lines(line);
	motion_lines(line);
}
