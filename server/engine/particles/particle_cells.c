/* See particle_cells.h. */
#include "server/engine/particles/particle_cells.h"

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
}

static int64_t coordinate(double x, double edge_inv)
{
	double cell = scalar_floor(x * edge_inv);
	ASSERT(cell > -2147483648.0 && cell < 2147483647.0);
	return (int64_t)cell;
}

static uint64_t line_of(int64_t y, int64_t z)
{
	return (uint64_t)y << 32 ^ (uint64_t)(uint32_t)z;
}

static uint32_t line_start(uint64_t line)
{
	return (uint32_t)rng_mix(line);
}

void particle_cells_add(struct particle_cells *self, uint32_t item, vec3 at)
{
	ASSERT(self->entries.count < self->entries.capacity);
	ASSERT(self->entries.count <= item);
	double inverse = 1 / self->edge;
	uint64_t line = line_of(coordinate(at.y, inverse), coordinate(at.z, inverse));
	uint32_t index = self->entries.count++;
	self->entries.items[index] = (struct cell_entry){ at, line, item };
	self->buckets.items[index] = (uint32_t)coordinate(at.x, inverse) + line_start(line);
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

uint32_t particle_cells_near(const struct particle_cells *self, vec3 at,
			     struct cell_span out[CELLS_RANGES])
{
	ASSERT(self->sorted.count > 0);
	double inverse = 1 / self->edge;
	int64_t x = coordinate(at.x, inverse), y = coordinate(at.y, inverse);
	int64_t z = coordinate(at.z, inverse);
	uint32_t count = 0;
	for (int64_t dz = -1; dz <= 1; dz++) {
		for (int64_t dy = -1; dy <= 1; dy++) {
			uint64_t line = line_of(y + dy, z + dz);
			uint32_t start = (uint32_t)x + line_start(line);
			for (uint32_t dx = 0; dx < 3; dx++) {
				uint32_t bucket = (start + dx - 1) & self->mask;
				struct cell_span range = { line, self->starts.items[bucket],
							   particle_cells_end(self, bucket) };
				if (range.first < range.last)
					out[count++] = range;
			}
		}
	}
	return count;
}
