/* fanout_particles.c: the particles in the frames of groups, from two states of the view. */
#include <string.h>

#include "server/sync/fanout_state.h"

enum { BASE, NOW, FORECAST_TICKS_MAX = VIEW_PARTICLE_STATES };

void fanout_release_particles(struct fanout *self)
{
	particle_parts_release(&self->particle_delta.parts);
	ARRAY_RELEASE(&self->particle_delta.seen[BASE]);
	ARRAY_RELEASE(&self->particle_delta.seen[NOW]);
}

void fanout_no_particles(struct fanout *self)
{
	self->particle_delta.due = false;
}

/* ---- what a group sees
 * --------------------------------------------------------------------------- */

static enum status take_seen(struct particle_delta *delta, uint32_t which,
			     const struct view_particle_state *state,
			     const struct interest_sight *sight, uint32_t sample)
{
	delta->seen[which].count = 0;
	if (ARRAY_RESERVE(&delta->seen[which], state->rows.count) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < state->rows.count; i++) {
		const struct wire_particle *row = &state->rows.items[i];
		if (row->serial % sample == 0 &&
		    (sight == NULL || interest_sight_holds(sight, row->position)))
			delta->seen[which].items[delta->seen[which].count++] = *row;
	}
	return STATUS_OK;
}

/* Sets the lists of the frame. The base is left out for a whole frame. */
static enum status choose_rows(struct fanout *self, const struct fanout_group *group,
			       const struct view_particle_state *base,
			       const struct interest_sight *base_sight,
			       const struct view_particle_state *now,
			       const struct interest_sight *sight)
{
	struct particle_delta *delta = &self->particle_delta;
	struct particle_frame *frame = &delta->frame;
	enum status status = STATUS_OK;
	bool all = sight == NULL && group->sample == 1;
	if (!(group->particles & WIRE_PARTICLE_COLUMNS_OWN))
		return STATUS_OK;
	if (!all)
		status = take_seen(delta, NOW, now, sight, group->sample);
	if (status == STATUS_OK && !all && base != NULL)
		status = take_seen(delta, BASE, base, base_sight, group->sample);
	if (status != STATUS_OK)
		return status;
	frame->now = all ? now->rows.items : delta->seen[NOW].items;
	frame->now_count = all ? now->rows.count : delta->seen[NOW].count;
	if (base != NULL) {
		frame->base = all ? base->rows.items : delta->seen[BASE].items;
		frame->base_count = all ? base->rows.count : delta->seen[BASE].count;
	}
	self->particles_looked += now->rows.count;
	return STATUS_OK;
}

/* ---- forecasts
 * ----------------------------------------------------------------------------------- */

/* The flight of so many ticks, in steps of the profile. */
static struct wire_forecast forecast_of(const struct system_flight *flight, uint64_t ticks,
					const struct wire_scale *scale)
{
	double carry = 0, decay = 1;
	vec3 shift = vec3_zero(), gain = vec3_zero();
	for (uint64_t i = 0; i < ticks; i++) {
		carry += flight->carry * decay;
		shift = vec3_add(vec3_mul_add(shift, gain, flight->carry), flight->shift);
		decay *= flight->decay;
		gain = vec3_add(vec3_scale(gain, flight->decay), flight->gain);
	}
	struct wire_forecast forecast = { .carry = carry * scale->position / scale->speed,
					  .decay = decay };
	for (uint32_t axis = 0; axis < 3; axis++) {
		forecast.shift[axis] = vec3_get(shift, axis) * scale->position;
		forecast.gain[axis] = vec3_get(gain, axis) * scale->speed;
	}
	return forecast;
}

static void make_forecasts(struct particle_delta *delta, enum wire_profile profile,
			   const struct view_particle_state *base,
			   const struct view_particle_state *now)
{
	bool known = base != NULL && wire_profile_quantised(profile) && base->tick < now->tick &&
		     now->tick - base->tick <= FORECAST_TICKS_MAX;
	for (uint32_t i = 0; i < now->system_count && known; i++)
		delta->forecasts[i] = forecast_of(&now->systems[i], now->tick - base->tick,
						  wire_scale_of(profile));
	delta->frame.forecasts = known ? delta->forecasts : NULL;
}

/* ---- frames
 * -------------------------------------------------------------------------------------- */

static bool systems_differ(const struct view_particle_state *a, const struct view_particle_state *b)
{
	if (a->system_count != b->system_count)
		return true;
	for (uint32_t i = 0; i < a->system_count; i++)
		if (a->systems[i].id != b->systems[i].id ||
		    a->systems[i].alive != b->systems[i].alive)
			return true;
	return false;
}

static enum status make_parts(struct fanout *self, const struct fanout_group *group)
{
	struct particle_delta *delta = &self->particle_delta;
	uint32_t small = MIN_OF(group->frame_max, (uint32_t)WIRE_FRAME_PARTICLES);
	enum status status = particle_parts_make(&delta->frame, small, &delta->parts);
	if (status == STATUS_FULL)
		status = particle_parts_make(&delta->frame, group->frame_max, &delta->parts);
	return status;
}

/* What the group sees now, and, if it is remembered, what it saw of its base; both NULL:
 * everything. */
static enum status find_sights(struct fanout *self, const struct fanout_group *group,
			       const struct interest_sight **base,
			       const struct interest_sight **now)
{
	*base = *now = NULL;
	if (group->interest == NULL)
		return STATUS_OK;
	*base = interest_recall(group->interest, group->base);
	*now = interest_look(group->interest, self->view.serial);
	if (*now == NULL)
		return STATUS_NO_MEMORY;
	if (*base != NULL && interest_sight_is_everything(*base) &&
	    interest_sight_is_everything(*now))
		*base = *now = NULL;
	return STATUS_OK;
}

enum status fanout_collect_particles(struct fanout *self, const struct fanout_group *group)
{
	struct particle_delta *delta = &self->particle_delta;
	const struct interest_sight *sight, *base_sight;
	fanout_no_particles(self);
	if (group->particles == 0)
		return STATUS_OK;
	const struct view_particle_state *now = view_particles_now(&self->view.particles), *base;
	enum status status = find_sights(self, group, &base_sight, &sight);
	if (status != STATUS_OK)
		return status;
	base = group->base != 0 ? view_particles_at(&self->view.particles, group->base) : NULL;
	if (base == now && sight == NULL)
		return STATUS_OK;
	if (base != NULL && (base->epoch != now->epoch || (sight != NULL && base_sight == NULL)))
		base = NULL;
	delta->frame = (struct particle_frame){
		.profile = group->profile,
		.columns = group->particles,
		.flags = base == NULL ? WIRE_FRAME_WHOLE : 0,
		.epoch = self->view.epoch,
		.tick = self->view.tick,
		.edit = self->view.edit,
		.systems = delta->systems,
		.system_count = now->system_count,
	};
	for (uint32_t i = 0; i < now->system_count; i++)
		delta->systems[i] =
			(struct wire_system_count){ now->systems[i].id, now->systems[i].alive };
	make_forecasts(delta, group->profile, base, now);
	status = choose_rows(self, group, base, base_sight, now, sight);
	if (status == STATUS_OK)
		status = make_parts(self, group);
	if (status != STATUS_OK)
		return status;
	/* A SNAPSHOT has emptied the client's set. */
	bool told = delta->parts.data.count > 0;
	if (group->base == 0)
		delta->due = told || now->system_count > 0;
	else
		delta->due = told || base == NULL || systems_differ(base, now);
	return STATUS_OK;
}

enum status fanout_encode_particles(struct fanout *self, struct fanout_group *group, uint8_t flags)
{
	struct particle_delta *delta = &self->particle_delta;
	uint32_t bytes;
	enum status status = STATUS_OK;
	delta->frame.flags |= flags;
	if (group->hashed) {
		delta->frame.hash = (struct wire_hash){ true, particle_frame_hash(&delta->frame) };
		self->particles_looked += delta->frame.now_count;
	}
	for (uint32_t i = 0; status == STATUS_OK && i < delta->parts.items.count; i++) {
		status = particle_parts_pack_tail(&delta->frame, &delta->parts, i, self->scratch,
						  WIRE_FRAME_DOWN + WIRE_FRAME_HEADER, &bytes);
		if (status == STATUS_OK)
			status = fanout_store_part(self, group, bytes);
	}
	return status;
}
