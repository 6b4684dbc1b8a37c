/* velocity_taut.c: the lateral stiffness of ropes and rods that are too short and too taut for a step.
 *
 * A line under tension also resists lateral motion: with tension T and length L by T/L, N/m, and each
 * body by T times the part of its arm along the line, N·m/rad. Impulses along the line as it was at the
 * beginning do not contain that stiffness. If its (h ω)² is more than about 4, the rounds of the motion
 * (velocity_joint.c) diverge, which a rope bridge of planks does at 60 Hz.
 *
 * So the impulse follows the line: a rope that carries λ during the motion and rotates by θ gives an
 * impulse of −λ θ across the line. That is a compliant row across the line, and one about each body:
 *
 *   w = J v + x/s = 0      s = h λ/L, between the anchors;  h λ r, of a body with the arm r
 *
 * The part of s that steps can integrate explicitly, PLAIN of the mass along the row, is left out: slow
 * oscillations then keep second order and their energy, and those too fast for the step are damped. λ
 * is the previous round's.
 */
#include "server/engine/methods/velocity.h"

/* 1. Of the mass along a row, in (h ω)². Larger: bridges ring, and more rounds are needed; smaller:
 * oscillations with periods of some ten steps lose energy. */
#define PLAIN 0.1

/* Rows of a line: two across it, and two about each body. */
enum { ROWS = 6 };

/* The joint of a constraint if it is a distance joint that constrains its length, else NULL. */
static const struct joint *taut_joint(const struct velocity_step *step, uint32_t constraint)
{
	VALIDATE(constraint < step->constraint_count);
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
	bool begins = velocity_is_beginning(step);
	for (uint32_t i = 0; begins && i < island->constraint_count; i++)
		if (taut_joint(step, island->constraints[i]) != NULL)
			count += ROWS;
	return count;
}

/* Destination of a line's rows. */
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
	ASSERT(to->at >= self->taut_from && to->at < self->count);
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

/* The six rows of one line. */
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
		count -= velocity_held_axes(step, c - step->contact_count);
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
	ASSERT(to.at == self->count || rows == 0);
	ASSERT(own <= self->taut_from);
	return STATUS_OK;
}

void velocity_taut_soften(struct velocity_island *self, const double *x, bool *selected)
{
	double h = self->step->step->dt;
	for (uint32_t i = self->taut_from; i < self->count; i++) {
		struct velocity_joint_row *row = &self->joints[i - self->contact_rows];
		ASSERT(row->role == VELOCITY_TAUT && row->of < self->taut_from);
		bool limit = self->joints[row->of - self->contact_rows].role == VELOCITY_LIMIT;
		double pull = limit ? x[row->of] : -x[row->of];
		double a = self->tree != NULL ? self->tree->alone[i]
					      : mass_couple(&self->mass, self->rows[i].j,
							    &self->system.responses[i]);
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
