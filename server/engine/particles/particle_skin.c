/* See particle_skin.h. */
#include "server/engine/particles/particle_skin.h"

#include "server/base/array.h"
#include "server/base/heap.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/piece.h"
#include "server/engine/geometry/surface_points.h"

struct skin {
	ARRAY_OF(double) sums; /* m²: of the areas of all patches up to this one */
	uint64_t key;	       /* of the shapes; 0: none yet */
};

struct particle_skin {
	struct skin skins[SYSTEMS_MAX]; /* by system */
};

static bool is_wanted(const struct tables *tables, uint32_t row)
{
	const struct system_table *table = &tables->system;
	return table->id[row] != 0 && table->emitter[row] == EMITTER_BODY && table->mount[row] != 0;
}

/* The patches of a placement: none of a sensor. */
static uint32_t patches_of(const struct dynamics *self, uint32_t placement)
{
	const struct shape *shape = self->shapes[self->tables->placement.shape[placement]];
	return piece_is_sensor(self, placement) ? 0 : surface_patches(shape);
}

static enum status fill_skin(const struct dynamics *self, struct skin *skin, uint32_t body)
{
	const struct placement_table *table = &self->tables->placement;
	uint64_t count = 0, key = 1;
	uint32_t first = self->tables->body.first_placement[body];
	for (uint32_t p = first; p != 0; p = table->next[p - 1]) {
		uint32_t patches = patches_of(self, p - 1);
		count += patches;
		key = rng_mix(key ^ self->shapes[table->shape[p - 1]]->serial) + patches;
	}
	if (key == skin->key)
		return STATUS_OK;
	skin->key = 0;
	enum status status = ARRAY_RESERVE(&skin->sums, count);
	if (status != STATUS_OK)
		return status;
	double sum = 0;
	skin->sums.count = 0;
	for (uint32_t p = first; p != 0; p = table->next[p - 1]) {
		const struct shape *shape = self->shapes[table->shape[p - 1]];
		uint32_t patches = patches_of(self, p - 1);
		for (uint32_t i = 0; i < patches; i++) {
			sum += surface_area(shape, i);
			skin->sums.items[skin->sums.count++] = sum;
		}
	}
	skin->key = key;
	return STATUS_OK;
}

enum status particle_skin_reserve(struct dynamics *self)
{
	const struct tables *tables = self->tables;
	enum status status = STATUS_OK;
	for (uint32_t row = 0; row < tables->system.count && status == STATUS_OK; row++) {
		if (!is_wanted(tables, row))
			continue;
		if (self->skin == NULL)
			self->skin = heap_alloc_zero(sizeof *self->skin);
		if (self->skin == NULL)
			return STATUS_NO_MEMORY;
		uint32_t body = dynamics_find_body(self, tables->system.mount[row]);
		ASSERT(body != DYNAMICS_NONE);
		status = fill_skin(self, &self->skin->skins[row], body);
	}
	return status;
}

void particle_skin_destroy(struct particle_skin *self)
{
	for (uint32_t row = 0; row < SYSTEMS_MAX && self != NULL; row++)
		ARRAY_RELEASE(&self->skins[row].sums);
	heap_free(self);
}

uint64_t particle_skin_memory(const struct particle_skin *self)
{
	uint64_t sum = self != NULL ? sizeof *self : 0;
	for (uint32_t row = 0; row < SYSTEMS_MAX && self != NULL; row++)
		sum += (uint64_t)self->skins[row].sums.capacity * sizeof(double);
	return sum;
}

bool particle_skin_draw(const struct dynamics *self, uint32_t row, struct rng *rng, vec3 *at,
			vec3 *normal)
{
	const struct tables *tables = self->tables;
	const struct placement_table *table = &tables->placement;
	const struct skin *skin = &self->skin->skins[row];
	uint32_t low = 0, high = skin->sums.count;
	double whole = high > 0 ? skin->sums.items[high - 1] : 0;
	if (!(whole > 0))
		return false;
	double below = rng_double(rng) * whole;
	/* The first patch whose sum is above it; one of area 0 is never the first. */
	while (low + 1 < high) {
		uint32_t middle = (low + high - 1) / 2;
		if (skin->sums.items[middle] > below)
			high = middle + 1;
		else
			low = middle + 1;
	}
	uint32_t body = dynamics_find_body(self, tables->system.mount[row]);
	uint32_t p = tables->body.first_placement[body];
	while (low >= patches_of(self, p - 1)) {
		low -= patches_of(self, p - 1);
		p = table->next[p - 1];
	}
	const struct shape *shape = self->shapes[table->shape[p - 1]];
	struct surface_point point = surface_draw(shape, low, rng);
	pose in_body = placement_pose(tables, p - 1);
	*at = pose_point(in_body, point.at);
	*normal = pose_vector(in_body, point.normal);
	return true;
}
