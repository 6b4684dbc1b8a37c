/* See belt.h. */
#include "server/engine/dynamics/belt.h"

#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/piece.h"

/* Body axes. */
static vec3 velocity_of(const struct dynamics *self, struct contact_piece piece, uint32_t body)
{
	uint32_t own = piece_own(self, piece, OWN_SURFACE);
	return own != DYNAMICS_NONE ? self->tables->piece.surface_velocity[own]
				    : self->tables->body.surface_velocity[body];
}

vec3 belt_surface(const struct dynamics *self, struct contact_piece piece)
{
	uint32_t body = placement_body(self->tables, piece.placement);
	if (!bitset_get(&self->belts, body))
		return vec3_zero();
	return quat_rotate(self->tables->body.rotation[body], velocity_of(self, piece, body));
}

bool belt_touches(const struct dynamics *self, struct contact_piece a, struct contact_piece b)
{
	const struct contact_piece both[2] = { a, b };
	ASSERT(a.placement != b.placement);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t body = placement_body(self->tables, both[i].placement);
		if (bitset_get(&self->belts, body) &&
		    !vec3_equal(velocity_of(self, both[i], body), vec3_zero()))
			return true;
	}
	return false;
}

vec3 belt_velocity(const struct dynamics *self, struct contact_piece a, struct contact_piece b)
{
	ASSERT(a.placement != b.placement);
	if (self->belts.count == 0)
		return vec3_zero();
	return vec3_sub(belt_surface(self, a), belt_surface(self, b));
}

/* Whether a piece of the body has a moving surface of its own. */
static bool has_moving_piece(const struct dynamics *self, uint32_t body)
{
	const struct tables *tables = self->tables;
	for (uint32_t p = tables->body.first_placement[body]; p != 0;
	     p = tables->placement.next[p - 1])
		for (uint32_t at = tables->placement.first_piece[p - 1]; at != 0;
		     at = tables->piece.next[at - 1])
			if (!vec3_equal(tables->piece.surface_velocity[at - 1], vec3_zero()))
				return true;
	return false;
}

void belt_refresh(struct dynamics *self, uint32_t body)
{
	ASSERT(body < self->tables->body.count);
	bool is = self->tables->body.id[body] != 0 &&
		  (!vec3_equal(self->tables->body.surface_velocity[body], vec3_zero()) ||
		   (self->piece_used.count > 0 && has_moving_piece(self, body)));
	if (is && !bitset_get(&self->belts, body))
		bitset_set(&self->belts, body);
	if (!is && bitset_get(&self->belts, body))
		bitset_clear(&self->belts, body);
}
