/* fuzz_regions.c: arbitrary bytes as two unions of boxes on a small lattice, one of them rotated
 * and moved. Their overlap has closed contours and regions in order of depth; without a rotation
 * its volume equals that of the counted common cells.
 *
 * u8 rotation (0: none), 6 × i8 (rotation, translation), then cells: nibbles x y z, and one bit for
 * the union. */
#include "server/base/heap.h"
#include "server/engine/collision/regions.h"
#include "tests/lib/shapes.h"
#include "tests/lib/solids.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { SIDE = 4, HEAD = 7 };

struct cells {
	bool filled[SIDE][SIDE][SIDE];
};

static bool is_filled(uint32_t i, uint32_t j, uint32_t k, const void *context)
{
	return ((const struct cells *)context)->filled[i][j][k];
}

static struct shape *shape_of(const struct cells *cells)
{
	static const double AT[SIDE + 1] = { 0, 1, 2, 3, 4 };
	static struct solid solid;
	struct solid_lines lines[3] = { { AT, SIDE + 1 }, { AT, SIDE + 1 }, { AT, SIDE + 1 } };
	solid_reset(&solid);
	solid_add_cells(&solid, lines, is_filled, cells);
	return solid.triangles > 0 ? solid_shape(&solid) : NULL;
}

/* The number of common cells, b moved by whole cells. */
static double count_common(const struct cells *a, const struct cells *b, const int by[3])
{
	uint32_t count = 0;
	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++)
			for (int k = 0; k < SIDE; k++) {
				int x = i - by[0], y = j - by[1], z = k - by[2];
				bool within = x >= 0 && y >= 0 && z >= 0 && x < SIDE && y < SIDE &&
					      z < SIDE;
				count += a->filled[i][j][k] && within && b->filled[x][y][z];
			}
	return count;
}

static void check(const struct regions *found)
{
	uint32_t points = 0;
	for (uint32_t r = 0; r < found->region_count; r++) {
		const struct region *region = &found->regions[r];
		ASSERT(region->depth >= 0);
		ASSERT(r == 0 || region->depth <= found->regions[r - 1].depth);
		ASSERT(vec3_is_finite(region->normal) && vec3_is_finite(region->centre));
		ASSERT(region->first_contour + region->contour_count <= found->contour_count);
	}
	for (uint32_t c = 0; c < found->contour_count; c++) {
		ASSERT(found->contours[c].region < found->region_count);
		ASSERT(found->contours[c].first == points);
		ASSERT(found->contours[c].closed || found->broken > 0);
		points += found->contours[c].count;
	}
	ASSERT(points == found->point_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	if (bytes < HEAD)
		return 0;
	struct cells a = { { { { false } } } }, b = { { { { false } } } };
	for (size_t at = HEAD; at + 1 < bytes; at += 2) {
		struct cells *to = data[at + 1] & 0x80 ? &b : &a;
		to->filled[data[at] % SIDE][data[at] / 16 % SIDE][data[at + 1] % SIDE] = true;
	}
	struct shape *one = shape_of(&a), *other = shape_of(&b);
	if (one == NULL || other == NULL || !one->mesh->closed || !other->mesh->closed)
		goto out;
	int by[3];
	pose at = pose_identity();
	int8_t turn[3], move[3];
	memcpy(turn, data + 1, 3);
	memcpy(move, data + 4, 3);
	bool turned = data[0] != 0;
	for (uint32_t k = 0; k < 3; k++) {
		by[k] = move[k] % 5;
		vec3_set(&at.position, k, turned ? move[k] / 32.0 : by[k]);
	}
	if (turned)
		at.rotation = quat_normalize(quat_make(data[0], turn[0], turn[1], turn[2]));
	struct regions found;
	struct regions_options options = regions_options_default();
	regions_init(&found);
	if (regions_find(&found, one->mesh, other->mesh, &at, &options) == STATUS_OK) {
		double volume = 0;
		check(&found);
		for (uint32_t r = 0; r < found.region_count; r++)
			volume += found.regions[r].volume;
		ASSERT(turned || found.broken == 0);
		ASSERT(turned || scalar_abs(volume - count_common(&a, &b, by)) < 1e-9);
	}
	regions_release(&found);
out:
	if (one != NULL)
		shape_release(one);
	if (other != NULL)
		shape_release(other);
	return 0;
}
