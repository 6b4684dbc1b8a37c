/* See particle_room.h. */
#include "server/engine/particles/particle_room.h"

#include "server/base/array.h"
#include "server/base/heap.h"
#include "server/base/rng.h"

#include <string.h>

enum { ROOM_LOOKS = 4096, ROOM_BUCKETS_MIN = 64 };

struct particle_room {
	ARRAY_OF(uint32_t) heads; /* by bucket: a row of particles + 1, 0 none */
	ARRAY_OF(uint32_t) nexts; /* by row, likewise */
	double edge;		  /* m: of a cell */
	uint32_t mask;		  /* buckets − 1 */
	bool open;		  /* in this tick */
};

static bool is_wanted(const struct tables *tables)
{
	bool wanted = false;
	for (uint32_t row = 0; row < tables->system.count; row++)
		wanted |= tables->system.room[row] != 0;
	return wanted;
}

enum status particle_room_reserve(struct dynamics *self, uint32_t rows)
{
	if (!is_wanted(self->tables))
		return STATUS_OK;
	if (self->room == NULL)
		self->room = heap_alloc_zero(sizeof *self->room);
	if (self->room == NULL)
		return STATUS_NO_MEMORY;
	uint64_t buckets = ROOM_BUCKETS_MIN;
	while (buckets < rows)
		buckets *= 2;
	enum status status = ARRAY_RESERVE(&self->room->heads, buckets);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->room->nexts, rows);
	return status;
}

void particle_room_destroy(struct particle_room *self)
{
	if (self == NULL)
		return;
	ARRAY_RELEASE(&self->heads);
	ARRAY_RELEASE(&self->nexts);
	heap_free(self);
}

uint64_t particle_room_memory(const struct particle_room *self)
{
	if (self == NULL)
		return 0;
	return sizeof *self +
	       ((uint64_t)self->heads.capacity + self->nexts.capacity) * sizeof(uint32_t);
}

struct room_cell {
	int64_t x, y, z;
};

static struct room_cell cell_of(const struct particle_room *self, vec3 at)
{
	ASSERT(vec3_max_component(vec3_abs(at)) <= 2 * LENGTH_MAX);
	double inverse = 1 / self->edge;
	return (struct room_cell){ (int64_t)scalar_floor(at.x * inverse),
				   (int64_t)scalar_floor(at.y * inverse),
				   (int64_t)scalar_floor(at.z * inverse) };
}

static uint32_t bucket_of(const struct particle_room *self, struct room_cell cell)
{
	uint64_t key = rng_mix((uint64_t)cell.x);
	key = rng_mix(key ^ (uint64_t)cell.y);
	return (uint32_t)rng_mix(key ^ (uint64_t)cell.z) & self->mask;
}

/* The largest diameter of particles and of births, m. */
static double largest_of(const struct tables *tables)
{
	const struct system_table *system = &tables->system;
	double most = PARTICLE_SIZE_MIN;
	for (uint32_t row = 0; row < tables->particle.count; row++)
		most = scalar_max(most, 2 * tables->particle.radius[row]);
	for (uint32_t row = 0; row < system->count; row++)
		if (system->id[row] != 0)
			most = scalar_max(most, system->size[row][0] + system->size[row][1]);
	return most;
}

void particle_room_begin(struct dynamics *self)
{
	struct particle_room *room = self->room;
	const struct tables *tables = self->tables;
	if (room != NULL)
		room->open = is_wanted(tables);
	if (room == NULL || !room->open)
		return;
	uint32_t buckets = ROOM_BUCKETS_MIN;
	while (buckets < tables->particle.count)
		buckets *= 2;
	ASSERT(buckets <= room->heads.capacity);
	room->mask = buckets - 1;
	room->edge = largest_of(tables);
	memset(room->heads.items, 0, buckets * sizeof *room->heads.items);
	for (uint32_t row = 0; row < tables->particle.count; row++)
		particle_room_add(self, row);
}

void particle_room_add(struct dynamics *self, uint32_t particle)
{
	struct particle_room *room = self->room;
	if (room == NULL || !room->open)
		return;
	ASSERT(particle < room->nexts.capacity);
	struct room_cell cell = cell_of(room, self->tables->particle.position[particle]);
	uint32_t bucket = bucket_of(room, cell);
	room->nexts.items[particle] = room->heads.items[bucket];
	room->heads.items[bucket] = particle + 1;
}

static bool is_taken(const struct dynamics *self, uint32_t bucket, vec3 position, double radius)
{
	const struct particle_table *table = &self->tables->particle;
	uint32_t looks = 0;
	for (uint32_t at = self->room->heads.items[bucket]; at != 0;
	     at = self->room->nexts.items[at - 1]) {
		double apart = radius + table->radius[at - 1];
		vec3 way = vec3_sub(table->position[at - 1], position);
		if (vec3_length_squared(way) < apart * apart || ++looks == ROOM_LOOKS)
			return true;
	}
	return false;
}

bool particle_room_taken(const struct dynamics *self, vec3 position, double radius)
{
	ASSERT(self->room != NULL && self->room->open);
	struct room_cell middle = cell_of(self->room, position);
	for (uint32_t i = 0; i < 27; i++) {
		struct room_cell cell = { middle.x + i % 3 - 1, middle.y + i / 3 % 3 - 1,
					  middle.z + i / 9 - 1 };
		if (is_taken(self, bucket_of(self->room, cell), position, radius))
			return true;
	}
	return false;
}
