/* velocity_taut.c: ropes and rods that are too short and too taut for a step.
 *
 * What holds a body at a distance also pulls it back into line, the harder the tauter and shorter
 * it is: with tension T at length L by T/L, N/m, across it, and the bodies by T times the part of
 * their arms along it, N·m/rad. Impulses along the line as it was when the step began know nothing
 * of that; where (h ω)² of it is more than about 4 the rounds of the way (velocity_joint.c) run
 * away, which a rope bridge of planks does at 60 Hz.
 *
 * So the impulse follows the line: a rope that carries λ on the way and turns by θ in it gives
 * −λ θ across. That is a row which gives way, across the line, and one about each body:
 *
 *   w = J v + x/s = 0      s = h λ/L, of two anchors apart;  h λ r, of a body with the arm r
 *
 * Of s as much is left out as steps carry as it is, PLAIN of the mass along the row: what is slow
 * enough to be seen keeps its motion, of second order and without loss; what is faster than steps
 * can show is damped. λ is what the round before found.
 */
#include "server/engine/methods/velocity.h"

/* 1. Of the mass along a row, in (h ω)². Larger: bridges ring, and rounds end later; smaller: what
 * swings within some ten steps loses energy. */
#define PLAIN 0.1

/* Two across, and two about each body. */
enum { ROWS = 6 };

static const struct joint *taut_joint(const struct velocity_step *step, uint32_t constraint)
{
	if (constraint < step->contact_count)
		return NULL;
	const struct joint *joint = &step->joints.joints[constraint - step->contact_count];
	uint8_t mode = joint->axes[0].mode;
	bool holds = joint->type == JOINT_DISTANCE && mode != JOINT_FREE;
	return holds ? joint : NULL;
}

uint32_t velocity_taut_count(const struct velocity_step *step, const struct island *island)
{
	uint32_t count = 0;
	for (uint32_t i = 0; step->at == NULL && i < island->constraint_count; i++)
		if (taut_joint(step, island->constraints[i]) != NULL)
			count += ROWS;
	return count;
}

/* Where the line's rows are put. */
struct taut_line {
	struct velocity_island *self;
	const struct constraint *of;
	struct velocity_joint_row like;
	uint32_t block;
	struct row_part *parts;
	uint32_t at;
};

static void add_row(struct taut_line *to, double per, const struct row_part parts[2])
{
	struct velocity_island *self = to->self;
	struct jacobian j = { to->parts, 0 };
	for (uint32_t k = 0; k < 2; k++)
		if (parts[k].slot != ROW_NO_BODY)
			to->parts[j.count++] = parts[k];
	to->parts += 2;
	self->rows[to->at] = (struct constraint_row){ .j = j, .set = ROW_FREE };
	self->block[to->at] = to->block;
	self->place[to->at] = 0;
	self->turned[to->at][0] = 1;
	self->turned[to->at][1] = 0;
	struct velocity_joint_row *row = &self->joints[to->at++ - self->contact_rows];
	*row = to->like;
	row->per = per;
}

static void add_line(struct taut_line *to, const struct joint *joint)
{
	uint32_t a = to->of->body_a, b = to->of->body_b;
	const struct body_motion *start = to->self->step->start;
	const struct body_motion *at_a = a == ROW_NO_BODY ? &joint->a : &start[a];
	const struct body_motion *at_b = b == ROW_NO_BODY ? &joint->b : &start[b];
	vec3 p_a = joint_anchor_a(joint, at_a), p_b = joint_anchor_b(joint, at_b);
	vec3 arm_a = vec3_sub(p_a, at_a->centre), arm_b = vec3_sub(p_b, at_b->centre), across[2];
	double length;
	vec3 line = vec3_normalize_length(vec3_sub(p_b, p_a), &length);
	const struct joint_axis *axis = &joint->axes[0];
	length = scalar_max(length, axis->mode == JOINT_LIMITED ? axis->upper : axis->rest);
	double reach_a = scalar_max(vec3_dot(arm_a, line), 0);
	double reach_b = scalar_max(-vec3_dot(arm_b, line), 0);
	vec3_frame(line, &across[0], &across[1]);
	for (uint32_t k = 0; k < 2; k++) {
		vec3 t = across[k];
		add_row(to, length > 0 ? 1 / length : 0,
			(struct row_part[2]){ { a, spatial_along(arm_a, vec3_negate(t)) },
					      { b, spatial_along(arm_b, t) } });
		add_row(to, reach_a,
			(struct row_part[2]){ { a, spatial_about(t) },
					      { ROW_NO_BODY, spatial_zero() } });
		add_row(to, reach_b,
			(struct row_part[2]){ { b, spatial_about(t) },
					      { ROW_NO_BODY, spatial_zero() } });
	}
}

enum status velocity_taut_gather(struct velocity_island *self)
{
	const struct velocity_step *step = self->step;
	uint32_t rows = self->count - self->taut_from, own = self->contact_rows;
	struct row_part *parts = ARENA_ARRAY(self->arena, struct row_part, 2 * (size_t)rows);
	if (parts == NULL)
		return STATUS_NO_MEMORY;
	struct taut_line to = { .self = self, .parts = parts, .at = self->taut_from };
	for (uint32_t i = 0; rows > 0 && i < self->island->constraint_count; i++) {
		uint32_t c = self->island->constraints[i];
		const struct joint *joint = taut_joint(step, c);
		uint8_t places[JOINT_ROWS_MAX];
		if (c < step->contact_count)
			continue;
		uint32_t count =
			joint_places(&step->joints.joints[c - step->contact_count], places);
		for (uint32_t k = 0; joint != NULL && k < count; k++)
			if (places[k] == JOINT_UPPER || (places[k] == JOINT_HOLD && count == 1)) {
				to.of = &step->constraints[c];
				to.block = step->first_block[c];
				to.like = (struct velocity_joint_row){ .joint = c -
										step->contact_count,
								       .role = VELOCITY_TAUT,
								       .of = own + k };
				add_line(&to, joint);
			}
		own += count;
	}
	return STATUS_OK;
}

void velocity_taut_soften(struct velocity_island *self, const double *x, bool *selected)
{
	double h = self->step->step->dt;
	for (uint32_t i = self->taut_from; i < self->count; i++) {
		struct velocity_joint_row *row = &self->joints[i - self->contact_rows];
		bool limit = self->joints[row->of - self->contact_rows].role == VELOCITY_LIMIT;
		double pull = limit ? x[row->of] : -x[row->of];
		double a =
			mass_couple(&self->step->mass, self->rows[i].j, &self->system.responses[i]);
		double stiff = h * pull * row->per - PLAIN / a;
		double soft = stiff > 0 ? 1 / stiff : 0;
		if (self->a != NULL)
			self->a[(size_t)i * self->count + i] += soft - row->soft;
		row->soft = soft;
		row->upper = soft > 0 ? __builtin_inf() : 0;
		row->lower = -row->upper;
		selected[i] = soft > 0;
	}
}
