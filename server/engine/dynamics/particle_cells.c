/* See particle_cells.h. */
#include "server/engine/dynamics/particle_cells.h"

#include "server/base/rng.h"
#include "server/engine/math/scalar.h"

enum { BUCKETS_MIN = 4 }; /* three neighbours along x are three buckets */

enum status particle_cells_reserve(struct particle_cells *self, uint32_t items)
{
	uint64_t buckets = BUCKETS_MIN;
	while (buckets < items)
		buckets *= 2;
	enum status status = ARRAY_RESERVE(&self->entries, items);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->sorted, items);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->buckets, items);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->starts, buckets + 1);
	return status;
}

void particle_cells_release(struct particle_cells *self)
{
	ARRAY_RELEASE(&self->entries);
	ARRAY_RELEASE(&self->sorted);
	ARRAY_RELEASE(&self->buckets);
	ARRAY_RELEASE(&self->starts);
}

uint64_t particle_cells_memory(const struct particle_cells *self)
{
	uint64_t entries = (uint64_t)self->entries.capacity + self->sorted.capacity;
	uint64_t numbers = (uint64_t)self->buckets.capacity + self->starts.capacity;
	return entries * sizeof(struct cell_entry) + numbers * sizeof(uint32_t);
}

void particle_cells_begin(struct particle_cells *self, double edge)
{
	ASSERT(edge > 0);
	self->edge = scalar_max(edge, CELLS_EDGE_MIN);
	self->entries.count = 0;
	self->levels = 0;
}

static int64_t coordinate(double x, double edge_inv)
{
	double cell = scalar_floor(x * edge_inv);
	ASSERT(cell > -2147483648.0 && cell < 2147483647.0);
	return (int64_t)cell;
}

static double edge_of(const struct particle_cells *self, uint32_t level)
{
	ASSERT(level < CELLS_LEVELS);
	return self->edge * (double)(UINT64_C(1) << level);
}

static uint64_t line_of(int64_t y, int64_t z)
{
	return (uint64_t)y << 32 ^ (uint64_t)(uint32_t)z;
}

static uint32_t line_start(uint64_t line, uint32_t level)
{
	return (uint32_t)rng_mix(line + level * UINT64_C(0x9e3779b97f4a7c15));
}

void particle_cells_add(struct particle_cells *self, uint32_t item, vec3 at, double extent)
{
	ASSERT(self->entries.count < self->entries.capacity);
	ASSERT(extent >= 0 && self->entries.count <= item);
	uint32_t level = 0;
	while (level < CELLS_LEVELS - 1 && edge_of(self, level) < 2 * extent)
		level++;
	double inverse = 1 / edge_of(self, level);
	uint64_t line = line_of(coordinate(at.y, inverse), coordinate(at.z, inverse));
	uint32_t index = self->entries.count++;
	self->entries.items[index] = (struct cell_entry){ at, line, item, level };
	self->buckets.items[index] = (uint32_t)coordinate(at.x, inverse) + line_start(line, level);
	self->levels |= 1u << level;
}

void particle_cells_sort(struct particle_cells *self)
{
	uint32_t count = self->entries.count, buckets = BUCKETS_MIN;
	while (buckets < count)
		buckets *= 2;
	ASSERT(buckets < self->starts.capacity);
	uint32_t *starts = self->starts.items;
	self->mask = buckets - 1;
	memset(starts, 0, ((size_t)buckets + 1) * sizeof *starts);
	for (uint32_t i = 0; i < count; i++)
		starts[(self->buckets.items[i] & self->mask) + 1]++;
	for (uint32_t b = 0; b < buckets; b++)
		starts[b + 1] += starts[b];
	/* Now a start advances over its bucket; it is put back below. */
	for (uint32_t i = 0; i < count; i++)
		self->sorted.items[starts[self->buckets.items[i] & self->mask]++] =
			self->entries.items[i];
	memmove(starts + 1, starts, buckets * sizeof *starts);
	starts[0] = 0;
	self->starts.count = buckets + 1;
	self->sorted.count = count;
	ASSERT(starts[buckets] == count);
}

uint32_t particle_cells_near(const struct particle_cells *self, vec3 at, uint32_t level,
			     struct cell_span out[CELLS_RANGES])
{
	ASSERT(self->levels & 1u << level);
	double inverse = 1 / edge_of(self, level);
	int64_t x = coordinate(at.x, inverse), y = coordinate(at.y, inverse);
	int64_t z = coordinate(at.z, inverse);
	uint32_t count = 0;
	for (int64_t dz = -1; dz <= 1; dz++) {
		for (int64_t dy = -1; dy <= 1; dy++) {
			uint64_t line = line_of(y + dy, z + dz);
			uint32_t start = (uint32_t)x + line_start(line, level);
			for (uint32_t dx = 0; dx < 3; dx++) {
				uint32_t bucket = (start + dx - 1) & self->mask;
				struct cell_span range = { line, self->starts.items[bucket],
							   particle_cells_end(self, bucket),
							   level };
				if (range.first < range.last)
					out[count++] = range;
			}
		}
	}
	return count;
}
