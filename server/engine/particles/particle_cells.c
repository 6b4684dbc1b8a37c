/* See particle_cells.h. */
#include "server/engine/particles/particle_cells.h"

#include "server/base/rng.h"

enum { BUCKETS_MIN = 4 }; /* three neighbours along x are three buckets */

static uint32_t hashed_buckets(uint32_t items)
{
	uint32_t buckets = BUCKETS_MIN;
	while (buckets < items)
		buckets *= 2;
	return buckets;
}

enum status particle_cells_reserve(struct particle_cells *self, uint32_t items)
{
	uint64_t buckets = MAX_OF(hashed_buckets(items), (uint64_t)CELLS_DENSE * items);
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
	self->edge_inv = 1 / self->edge;
	self->entries.count = 0;
	for (uint32_t axis = 0; axis < 3; axis++) {
		self->least[axis] = INT32_MAX;
		self->most[axis] = INT32_MIN;
	}
}

static inline uint64_t line_of(int32_t y, int32_t z)
{
	return (uint64_t)(uint32_t)y << 32 | (uint32_t)z;
}

static inline uint32_t line_start(uint64_t line)
{
	return (uint32_t)rng_mix(line);
}

static inline void take_range(struct particle_cells *self, uint32_t axis, int32_t cell)
{
	self->least[axis] = MIN_OF(self->least[axis], cell);
	self->most[axis] = MAX_OF(self->most[axis], cell);
}

void particle_cells_add(struct particle_cells *self, uint32_t item, vec3 at)
{
	ASSERT(self->entries.count < self->entries.capacity);
	ASSERT(self->entries.count <= item);
	int32_t x = particle_cells_coordinate(self, at.x);
	int32_t y = particle_cells_coordinate(self, at.y);
	int32_t z = particle_cells_coordinate(self, at.z);
	uint32_t index = self->entries.count++;
	self->entries.items[index] = (struct cell_entry){ at, line_of(y, z), item };
	self->buckets.items[index] = (uint32_t)x;
	take_range(self, 0, x);
	take_range(self, 1, y);
	take_range(self, 2, z);
}

/* Chooses what buckets are. */
static void choose_buckets(struct particle_cells *self)
{
	uint64_t cells = 1, most = (uint64_t)CELLS_DENSE * self->entries.count;
	ASSERT(self->entries.count > 0);
	for (uint32_t axis = 0; axis < 3; axis++) {
		int64_t size = (int64_t)self->most[axis] - self->least[axis] + 1;
		self->size[axis] = (int32_t)MIN_OF(size, INT32_MAX);
		cells = MIN_OF(cells, most + 1) * (uint64_t)size;
	}
	self->dense = cells <= most;
	self->bucket_count = self->dense ? (uint32_t)cells : hashed_buckets(self->entries.count);
}

/* The bucket of the grid's first cell with these coordinates. */
static inline uint32_t row_start(const struct particle_cells *self, int32_t y, int32_t z)
{
	return ((uint32_t)(z - self->least[2]) * (uint32_t)self->size[1] +
		(uint32_t)(y - self->least[1])) *
	       (uint32_t)self->size[0];
}

static inline uint32_t bucket_of(const struct particle_cells *self, int32_t x, uint64_t line)
{
	if (!self->dense)
		return ((uint32_t)x + line_start(line)) & (self->bucket_count - 1);
	return row_start(self, (int32_t)(line >> 32), (int32_t)(uint32_t)line) +
	       (uint32_t)(x - self->least[0]);
}

void particle_cells_sort(struct particle_cells *self)
{
	uint32_t count = self->entries.count, *buckets = self->buckets.items;
	uint32_t *starts = self->starts.items;
	ASSERT(count > 0);
	choose_buckets(self);
	ASSERT(self->bucket_count < self->starts.capacity);
	memset(starts, 0, ((size_t)self->bucket_count + 1) * sizeof *starts);
	for (uint32_t i = 0; i < count; i++) {
		buckets[i] = bucket_of(self, (int32_t)buckets[i], self->entries.items[i].line);
		starts[buckets[i] + 1]++;
	}
	uint32_t most = 0;
	for (uint32_t b = 0; b < self->bucket_count; b++) {
		most = MAX_OF(most, starts[b + 1]);
		starts[b + 1] += starts[b];
	}
	self->crowded = most > CELLS_CROWD;
	/* Now a start advances over its bucket; it is put back below. */
	for (uint32_t i = 0; i < count; i++)
		self->sorted.items[starts[buckets[i]]++] = self->entries.items[i];
	memmove(starts + 1, starts, self->bucket_count * sizeof *starts);
	starts[0] = 0;
	self->starts.count = self->bucket_count + 1;
	self->sorted.count = count;
	ASSERT(starts[self->bucket_count] == count);
}

/* Adds the entries of `count` buckets that follow each other; mostly none is crowded, and they
 * are one range. */
static uint32_t add_ranges(const struct particle_cells *self, uint64_t line, uint32_t bucket,
			   uint32_t count, struct cell_span *out)
{
	const uint32_t *starts = self->starts.items + bucket;
	uint32_t added = 0;
	ASSERT(bucket + count <= self->bucket_count);
	if (starts[count] - starts[0] <= CELLS_CROWD) {
		out[0] = (struct cell_span){ line, starts[0], starts[count] };
		return starts[0] < starts[count];
	}
	for (uint32_t i = 0; i < count; i++) {
		out[added] =
			(struct cell_span){ line, starts[i], particle_cells_end(self, bucket + i) };
		added += out[added].first < out[added].last;
	}
	return added;
}

static uint32_t find_in_grid(const struct particle_cells *self, const int32_t cell[3],
			     struct cell_span out[CELLS_RANGES])
{
	int32_t low[3], high[3];
	uint32_t count = 0;
	ASSERT(self->dense);
	for (uint32_t axis = 0; axis < 3; axis++) {
		low[axis] = MAX_OF(cell[axis] - 1, self->least[axis]);
		high[axis] = MIN_OF(cell[axis] + 1, self->most[axis]);
	}
	if (low[0] > high[0])
		return 0;
	for (int32_t z = low[2]; z <= high[2]; z++)
		for (int32_t y = low[1]; y <= high[1]; y++)
			count += add_ranges(self, line_of(y, z),
					    row_start(self, y, z) +
						    (uint32_t)(low[0] - self->least[0]),
					    (uint32_t)(high[0] - low[0] + 1), out + count);
	return count;
}

uint32_t particle_cells_near(const struct particle_cells *self, vec3 at,
			     struct cell_span out[CELLS_RANGES])
{
	const int32_t cell[3] = { particle_cells_coordinate(self, at.x),
				  particle_cells_coordinate(self, at.y),
				  particle_cells_coordinate(self, at.z) };
	uint32_t count = 0, mask = self->bucket_count - 1;
	ASSERT(self->sorted.count > 0);
	if (self->dense)
		return find_in_grid(self, cell, out);
	for (int32_t z = cell[2] - 1; z <= cell[2] + 1; z++) {
		for (int32_t y = cell[1] - 1; y <= cell[1] + 1; y++) {
			uint64_t line = line_of(y, z);
			uint32_t first = ((uint32_t)cell[0] - 1 + line_start(line)) & mask;
			/* The three buckets, which may go on at the beginning. */
			uint32_t some = MIN_OF(3, self->bucket_count - first);
			count += add_ranges(self, line, first, some, out + count);
			if (some < 3)
				count += add_ranges(self, line, 0, 3 - some, out + count);
		}
	}
	return count;
}
