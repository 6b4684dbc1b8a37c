/* soft_move.h: moves LANES_WIDTH bodies by a sub-step, with the bits of soft_move_body (soft_body.c). */
#ifndef CAIRN_ENGINE_METHODS_SOFT_MOVE_H
#define CAIRN_ENGINE_METHODS_SOFT_MOVE_H

#include "server/engine/methods/soft_sides.h"

/* Whether the bodies first … first + LANES_WIDTH - 1 go through soft_move_lanes. */
ALWAYS_INLINE bool move_together(const struct soft_drive *drives, uint32_t first)
{
	bool all = true;
	for (uint32_t i = 0; i < LANES_WIDTH; i++)
		all &= drives[first + i].constrained & !drives[first + i].spins;
	return all;
}

/* False: some turn is large, and nothing is changed. */
ALWAYS_INLINE bool move_lanes_by(struct soft_body *bodies, const struct soft_drive *drives,
				 uint32_t first, float step)
{
	float4 spins[LANES_WIDTH];
	const float4 *spin_rows[LANES_WIDTH], *turn_rows[LANES_WIDTH];
	lanes none, before_w, h = lanes_all(step), zero = lanes_all(0), one = lanes_all(1);
	LANES_UNROLL
	for (uint32_t i = 0; i < LANES_WIDTH; i++) {
		spins[i] = drives[first + i].spin + bodies[first + i].spin;
		spin_rows[i] = &spins[i];
		turn_rows[i] = &bodies[first + i].turn;
	}
	struct lanes3 spin = lanes_gather(spin_rows, &none);
	struct lanes3 before = lanes_gather(turn_rows, &before_w);
	lanes least = lanes_all(SOFT_TURN_TINY / step);
	lanes_mask tiny = (lanes_abs(spin.x) < least) & (lanes_abs(spin.y) < least) &
			  (lanes_abs(spin.z) < least);
	/* Squares of tiny spins would be subnormal. */
	struct lanes3 large = { lanes_select(tiny, zero, spin.x), lanes_select(tiny, zero, spin.y),
				lanes_select(tiny, zero, spin.z) };
	lanes xx = h * h * (large.x * large.x + large.y * large.y + large.z * large.z);
	if (lanes_any(xx > one))
		return false;
	lanes sine = h * (lanes_all(0.5f) - xx * lanes_all(1.0f / 48.0f) +
			  xx * xx * lanes_all(1.0f / 3840.0f));
	lanes cosine = one - xx * lanes_all(0.125f) + xx * xx * lanes_all(1.0f / 384.0f);
	sine = lanes_select(tiny, h * lanes_all(0.5f), sine);
	lanes w = lanes_select(tiny, one, cosine);
	struct lanes3 a = { spin.x * sine, spin.y * sine, spin.z * sine };
	struct lanes3 q = {
		w * before.x + a.x * before_w + a.y * before.z - a.z * before.y,
		w * before.y - a.x * before.z + a.y * before_w + a.z * before.x,
		w * before.z + a.x * before.y - a.y * before.x + a.z * before_w,
	};
	lanes q_w = w * before_w - a.x * before.x - a.y * before.y - a.z * before.z;
	lanes scale = one / lanes_sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q_w * q_w);
	float4 turns[LANES_WIDTH];
	lanes_rows4((struct lanes3){ q.x * scale, q.y * scale, q.z * scale }, q_w * scale, turns);
	LANES_UNROLL
	for (uint32_t i = 0; i < LANES_WIDTH; i++) {
		struct soft_body *body = &bodies[first + i];
		body->shift += body->velocity * float4_all(step);
		body->turn = turns[i];
	}
	return true;
}

/* Items: bodies by number - 1; context: struct soft_step. */
static inline void move_piece(uint32_t from, uint32_t to, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct soft_step *self = context;
	VALIDATE(from <= to && to <= self->body_count);
	for (uint32_t i = from + 1; i <= to;) {
		bool together = i + LANES_WIDTH - 1 <= to && move_together(self->drives, i) &&
				move_lanes_by(self->bodies, self->drives, i, self->h);
		uint32_t count = together ? 0 : MIN_OF((uint32_t)LANES_WIDTH, to + 1 - i);
		for (uint32_t k = 0; k < count; k++)
			soft_move_body(self, i + k);
		i += together ? LANES_WIDTH : count;
	}
}

#endif
