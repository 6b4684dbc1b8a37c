/* gear.c: the row of a gear, and gears as entries of a step's joints. */
#include "server/engine/dynamics/gear.h"

void gear_row_at(const struct gear *self, const struct body_motion *const motions[GEAR_ENDS][2],
		 enum constraint_level level, struct gear_row *out)
{
	static const enum gear_end ENDS[] = { GEAR_FOLLOWER, GEAR_LEADER };
	*out = (struct gear_row){ .gap = -self->offset };
	for (uint32_t k = 0; k < COUNT_OF(ENDS); k++) {
		enum gear_end end = ENDS[k];
		double share = end == GEAR_FOLLOWER ? 1 : -self->ratio;
		struct joint_axis_motion q;
		joint_axis_motion(&self->joints[end], self->axis[end], motions[end][0],
				  motions[end][1], level, &q);
		out->gap += share * q.value;
		out->speed += share * q.speed;
		out->bend += share * q.bend;
		for (uint32_t side = 0; side < 2; side++)
			out->on[end][side] = spatial_scale(q.on[side], share);
	}
}

struct joint gear_entry(const struct gear *self, uint32_t row, double multiplier)
{
	struct joint out = { .type = JOINT_FIXED,
			     .layout = { .locked = 1, .known = true },
			     .frame_a = quat_identity(),
			     .frame_b = quat_identity(),
			     .a = { .rotation = quat_identity() },
			     .b = { .rotation = quat_identity() },
			     .row = row,
			     .gear = self };
	out.multiplier[0] = multiplier;
	return out;
}

static struct constraint_room gear_room(const struct constraint *self,
					const struct constraint_options *options)
{
	UNUSED(self);
	UNUSED(options);
	return (struct constraint_room){ 1, 1, 2 * GEAR_ENDS };
}

/* J of bodies that both joints have is the sum of both parts. */
static void add_parts(const struct gear *gear, const struct gear_row *row, struct row_list *out)
{
	struct row_part parts[2 * GEAR_ENDS];
	uint32_t count = 0;
	for (uint32_t k = 0; k < 2 * GEAR_ENDS; k++) {
		uint32_t slot = gear->slots[k / 2][k % 2], at = 0;
		if (slot == ROW_NO_BODY)
			continue;
		while (at < count && parts[at].slot != slot)
			at++;
		if (at == count)
			parts[count++] = (struct row_part){ slot, spatial_zero() };
		parts[at].on = spatial_mul_add(parts[at].on, row->on[k / 2][k % 2], 1);
	}
	for (uint32_t k = 0; k < count; k++)
		row_list_part(out, parts[k].slot, parts[k].on);
}

static void write_gear_row(const struct constraint *self, uint32_t index,
			   const struct body_motion *a, const struct body_motion *b,
			   const struct constraint_options *options, struct row_list *out)
{
	UNUSED(a);
	UNUSED(b);
	const struct gear *gear = ((const struct joint *)self->data)->gear;
	const struct body_motion *motions[GEAR_ENDS][2];
	struct gear_row at;
	for (uint32_t end = 0; end < GEAR_ENDS; end++) {
		const struct joint *joint = &gear->joints[end];
		const struct body_motion *const given[2] = { &joint->a, &joint->b };
		for (uint32_t side = 0; side < 2; side++) {
			uint32_t slot = gear->slots[end][side];
			motions[end][side] = slot == ROW_NO_BODY || options->motions == NULL
						     ? given[side]
						     : &options->motions[slot];
		}
	}
	gear_row_at(gear, motions, options->level, &at);
	row_list_block(out, index, (struct row_key){ 0, 0, 0 });
	struct constraint_row *row = row_list_row(out);
	row->gap = at.gap;
	if (options->level != CONSTRAINT_POSITION)
		row->approach = at.speed;
	if (options->level == CONSTRAINT_ACCELERATION)
		row->bias = at.bend;
	add_parts(gear, &at, out);
}

const struct constraint_kind constraint_gear = {
	.name = "gear",
	.room = gear_room,
	.rows = write_gear_row,
};
