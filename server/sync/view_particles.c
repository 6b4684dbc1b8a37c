/* See view_particles.h. */
#include "server/sync/view_particles.h"

#include <string.h>

#include "server/base/heap.h"

void view_particles_release(struct view_particles *self)
{
	for (uint32_t i = 0; i < VIEW_PARTICLE_STATES; i++) {
		if (self->states[i] != NULL)
			ARRAY_RELEASE(&self->states[i]->rows);
		heap_free(self->states[i]);
	}
	memset(self, 0, sizeof *self);
}

const struct view_particle_state *view_particles_now(const struct view_particles *self)
{
	ASSERT(self->valid && self->count > self->first);
	return self->states[(self->count - 1) % VIEW_PARTICLE_STATES];
}

const struct view_particle_state *view_particles_at(const struct view_particles *self,
						    uint64_t serial)
{
	for (uint64_t i = self->count; i > self->first; i--) {
		const struct view_particle_state *state =
			self->states[(i - 1) % VIEW_PARTICLE_STATES];
		if (state->serial <= serial)
			return state;
	}
	return NULL;
}

static struct wire_particle wire_of(const struct particle_row *from)
{
	return (struct wire_particle){
		.system = from->system,
		.serial = from->serial,
		.velocity = { from->velocity.x, from->velocity.y, from->velocity.z },
		.position = { from->position.x, from->position.y, from->position.z },
		.size = { from->radius, from->mass },
		.life = { from->birth, from->death },
		.density = from->density,
		.pressure = from->pressure,
	};
}

static bool rows_are_equal(const struct wire_particle *a, const struct wire_particle *b)
{
	bool equal = wire_particle_compare(a, b) == 0;
	for (uint32_t bit = 1; bit <= WIRE_PARTICLE_COLUMNS_OWN && equal; bit *= 2)
		if (bit & WIRE_PARTICLE_COLUMNS_OWN)
			equal = !wire_particle_differs(WIRE_PROFILE_EXACT, a, b, (wire_mask)bit);
	return equal;
}

/* Whether the report repeats the state. */
static bool is_repeated(const struct view_particle_state *state, const struct tick_report *report)
{
	if (state->epoch != report->epoch || state->system_count != report->system_count ||
	    state->rows.count != report->particle_count)
		return false;
	for (uint32_t i = 0; i < state->system_count; i++)
		if (state->systems[i].id != report->system_list[i].id ||
		    state->systems[i].alive != report->system_list[i].alive)
			return false;
	for (uint32_t i = 0; i < state->rows.count; i++) {
		struct wire_particle row = wire_of(&report->particle_list[i]);
		if (!rows_are_equal(&state->rows.items[i], &row))
			return false;
	}
	return true;
}

static uint64_t bytes_of(const struct view_particle_state *state)
{
	return (uint64_t)state->rows.capacity * sizeof *state->rows.items;
}

/* Gives up the oldest state; its memory serves again unless there is too much. */
static void drop_oldest(struct view_particles *self, bool release)
{
	struct view_particle_state *oldest = self->states[self->first++ % VIEW_PARTICLE_STATES];
	if (!release)
		return;
	self->bytes -= bytes_of(oldest);
	ARRAY_RELEASE(&oldest->rows);
}

static enum status fill_state(struct view_particle_state *state, const struct tick_report *report,
			      uint64_t serial)
{
	enum status status = ARRAY_RESERVE(&state->rows, report->particle_count);
	if (status != STATUS_OK)
		return status;
	state->serial = serial;
	state->tick = report->tick;
	state->epoch = report->epoch;
	state->system_count = report->system_count;
	memcpy(state->systems, report->system_list, report->system_count * sizeof *state->systems);
	for (uint32_t i = 0; i < report->particle_count; i++)
		state->rows.items[i] = wire_of(&report->particle_list[i]);
	state->rows.count = report->particle_count;
	return STATUS_OK;
}

enum status view_particles_apply(struct view_particles *self, const struct tick_report *report,
				 uint64_t serial)
{
	if (!report->particles) {
		view_particles_release(self);
		return STATUS_OK;
	}
	if (self->valid && is_repeated(view_particles_now(self), report))
		return STATUS_OK;
	if (self->count - self->first == VIEW_PARTICLE_STATES)
		drop_oldest(self, false);
	struct view_particle_state **at = &self->states[self->count % VIEW_PARTICLE_STATES];
	if (*at == NULL)
		*at = heap_alloc_zero(sizeof **at);
	if (*at == NULL)
		return STATUS_NO_MEMORY;
	uint64_t before = bytes_of(*at);
	enum status status = fill_state(*at, report, serial);
	self->bytes += bytes_of(*at) - before;
	if (status != STATUS_OK)
		return status;
	self->count++;
	self->valid = true;
	while (self->bytes > VIEW_PARTICLE_BYTES && self->count - self->first > 2)
		drop_oldest(self, true);
	return STATUS_OK;
}
