/* pile_spring.c: springs between bodies as potentials of `pile` (papers P-11, P-12, P-14).
 *
 * A `distance` joint with a spring pulls its anchors together with f(L) = k (L − ℓ), at most the
 * spring's limit F on either side; L is their distance and ℓ the rest. A stiff spring of rest 0 with a
 * limit is a constant attraction (papers P-12) that ends smoothly at F / k. Bodies do not turn, so the
 * vector between the anchors is x = x₀ + m with m the displacement of one end against the other.
 *
 * The energy is the sum of a pulling part p(L), constant up to ℓ and then increasing, and a pushing part
 * q(L), decreasing up to ℓ and then 0; both are convex in L. p(|x|) is convex in m, because it
 * increases. q(|x|) is not, but |x| ≥ u·x for the unit vector u = x₀ / L₀, and q decreases:
 *
 *   q(|x|) ≤ q(u·x) = q(L₀ + u·m)
 *
 * which is convex in m. So p(|x|) + q(u·x) is convex, never below the energy, and touches it with its slope
 * at m = 0, as the potentials of pile_potential.c. Where anchors coincide, u is the first axis.
 */
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/joint.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/step_joints.h"
#include "server/engine/math/scalar.h"
#include "server/engine/methods/pile.h"
#include "server/engine/world/command.h"

#include <string.h>

/* ---- refusals ---------------------------------------------------------------------------------- */

static enum status refuse_joint(struct reason *why, const char *field, const char *what)
{
	return pile_refuse(why, field, what, "use a distance whose spring has a stiffness");
}

/* What a `distance` has that no potential has. Damping has no effect, as of bodies. */
static enum status check_axis(uint8_t mode, uint8_t spring, uint8_t motor, double friction,
			      struct reason *why)
{
	if (mode != JOINT_FREE)
		return refuse_joint(why, "mode", "a distance that is locked or limited");
	if (spring == JOINT_SPRING_HERTZ)
		return refuse_joint(why, "spring",
				    "a spring of a frequency, because nothing has inertia");
	if (motor != JOINT_MOTOR_NONE)
		return refuse_joint(why, "motor", "motors");
	if (friction > 0)
		return refuse_joint(why, "friction", "friction of joints");
	return STATUS_OK;
}

static const char ROTORS[] = "rotors of joints, because nothing has inertia";

enum status pile_check_joint(const struct joint_table *table, uint32_t row, struct reason *why)
{
	ASSERT(row < table->count && table->id[row] != 0);
	if (table->type[row] != JOINT_DISTANCE)
		return refuse_joint(why, "type", "joints but distances");
	if (table->break_force[row] > 0 || table->break_torque[row] > 0)
		return refuse_joint(why, "break_force", "joints that break");
	if (table->armature[row][0] > 0)
		return refuse_joint(why, "armature", ROTORS);
	return check_axis(table->mode[row][0], table->spring[row][0], table->motor[row][0],
			  table->friction[row][0], why);
}

enum status pile_admit_joint(const struct command *command, struct reason *why)
{
	const struct command_JOINT_CREATE *made = &command->joint_create;
	const struct command_JOINT_AXIS *axis = &command->joint_axis;
	if (command->op == COMMAND_JOINT_ARMATURE)
		return command->joint_armature.armature > 0 ? refuse_joint(why, "armature", ROTORS)
							    : STATUS_OK;
	if (command->op == COMMAND_JOINT_AXIS)
		return check_axis(axis->mode, axis->spring, axis->motor, axis->friction, why);
	ASSERT(command->op == COMMAND_JOINT_CREATE);
	if (made->type != JOINT_DISTANCE)
		return refuse_joint(why, "type", "joints but distances");
	if (made->break_force > 0 || made->break_torque > 0)
		return refuse_joint(why, "break_force", "joints that break");
	return STATUS_OK;
}

/* ---- terms ------------------------------------------------------------------------------------- */

/* Parts of the pull: what is at least 0, what is at most 0, all of it. */
enum pull_part { PULLING, PUSHING, WHOLE_PULL };

static double least_of(const struct pile_spring *self, enum pull_part part)
{
	return part == PULLING ? 0 : -self->limit;
}

static double most_of(const struct pile_spring *self, enum pull_part part)
{
	return part == PUSHING ? 0 : self->limit;
}

/* N: at a distance; below 0 a push. */
static double pull_at(const struct pile_spring *self, enum pull_part part, double length)
{
	ASSERT(self->stiffness > 0 && self->limit > 0);
	double pull = self->stiffness * (length - self->rest);
	return scalar_clamp(pull, least_of(self, part), most_of(self, part));
}

/* J: the integral of a part of the pull less that at `from`, from there to `to`; at least 0. */
static double work_between(const struct pile_spring *self, enum pull_part part, double from,
			   double to)
{
	double pull = pull_at(self, part, from);
	/* Between these the pull changes. */
	double low = self->rest + least_of(self, part) / self->stiffness;
	double high = self->rest + most_of(self, part) / self->stiffness;
	double begin = scalar_clamp(from, low, high), end = scalar_clamp(to, low, high);
	double mean = self->stiffness * (0.5 * (begin + end) - self->rest) - pull;
	double rest = pull_at(self, part, to) - pull;
	return scalar_max(mean * (end - begin) + rest * (to - end), 0);
}

/* A spring in a row of the table. False: it exerts no force. */
static bool spring_of(const struct pile *self, uint32_t row, struct pile_spring *out)
{
	const struct dynamics *dynamics = self->step->dynamics;
	const struct joint_table *table = &dynamics->tables->joint;
	struct joint joint;
	ASSERT(row < table->count);
	if (table->type[row] != JOINT_DISTANCE || table->mode[row][0] != JOINT_FREE ||
	    table->spring[row][0] != JOINT_SPRING_STIFFNESS || !(table->stiffness[row][0] > 0))
		return false;
	joint_from_tables(dynamics, row, 0, &joint);
	out->stiffness = table->stiffness[row][0];
	out->rest = table->rest[row][0];
	double limit = table->spring_limit[row][0];
	out->limit = limit > 0 ? limit : LP_INFINITY;
	out->from = vec3_sub(joint_anchor_a(&joint, &joint.a), joint_anchor_b(&joint, &joint.b));
	out->along = vec3_normalize_length(out->from, &out->length);
	if (!(out->length > 0))
		out->along = vec3_axis(0);
	return true;
}

static uint32_t slot_of(const struct pile *self, uint32_t body)
{
	const struct dynamics *dynamics = self->step->dynamics;
	return body != DYNAMICS_NONE && step_takes_part(self->step, body)
		       ? dynamics->bodies.items[body].slot
		       : PILE_STATIC;
}

/* Adds the pull of a spring to its bodies at the beginning. */
static void add_pull(struct pile *self, const struct pile_term *term)
{
	ASSERT(term->a != PILE_STATIC && term->a != term->b);
	double pull = pull_at(&term->spring, WHOLE_PULL, term->spring.length);
	const uint32_t ends[2] = { term->a, term->b };
	for (uint32_t side = 0; side < 2; side++) {
		if (ends[side] == PILE_STATIC)
			continue;
		struct pile_body *body = &self->bodies[ends[side]];
		body->force =
			vec3_mul_add(body->force, term->spring.along, side == 0 ? -pull : pull);
		body->size += scalar_abs(pull);
		body->bent = true;
	}
}

uint32_t pile_spring_count(const struct pile *self)
{
	return self->step->dynamics->joint_used.count;
}

void pile_make_springs(struct pile *self)
{
	const struct dynamics *dynamics = self->step->dynamics;
	for (uint32_t row = bitset_next(&dynamics->joint_used, 0); row != BITSET_NONE;
	     row = bitset_next(&dynamics->joint_used, row + 1)) {
		uint32_t a = slot_of(self, joint_body(dynamics->tables, row, 0));
		uint32_t b = slot_of(self, joint_body(dynamics->tables, row, 1));
		struct pile_term term = { .kind = PILE_TERM_SPRING, .joint = row };
		if (a == PILE_STATIC && b == PILE_STATIC)
			continue;
		/* A joint that is no spring, as a new distance before JOINT_AXIS, exerts no force. */
		if (!spring_of(self, row, &term.spring)) {
			self->fallbacks += dynamics->tables->joint.mode[row][0] != JOINT_FREE;
			continue;
		}
		term.turned = a == PILE_STATIC;
		term.a = term.turned ? b : a;
		term.b = term.turned ? PILE_STATIC : b;
		if (term.turned) {
			term.spring.from = vec3_negate(term.spring.from);
			term.spring.along = vec3_negate(term.spring.along);
		}
		add_pull(self, &term);
		self->terms[self->term_count++] = term;
	}
	ASSERT(self->term_count == 0 || self->terms != NULL);
}

double pile_spring_excess(const struct pile_spring *self, vec3 way, vec3 *slope)
{
	ASSERT(self->length >= 0);
	vec3 to = vec3_add(self->from, way);
	double along = vec3_dot(self->along, way), square = vec3_length_squared(way);
	double length = vec3_length(to), sum = length + self->length;
	double grown = sum > 0 ? (2 * self->length * along + square) / sum : 0;
	/* |x| − L₀ − u·m ≥ 0, without the difference. */
	double bent = sum > 0 ? scalar_max(square - along * grown, 0) / sum : 0;
	double reached = self->length + along;
	double pull = pull_at(self, PULLING, self->length);
	double push = pull_at(self, PUSHING, reached) - pull_at(self, PUSHING, self->length);
	*slope = vec3_scale(self->along, push - pull);
	if (length > 0)
		*slope = vec3_mul_add(*slope, to, pull_at(self, PULLING, length) / length);
	return work_between(self, PULLING, self->length, length) + pull * bent +
	       work_between(self, PUSHING, self->length, reached);
}

/* Whether the part of the pull changes with the length there. */
static bool changes_at(const struct pile_spring *self, enum pull_part part, double length)
{
	double pull = self->stiffness * (length - self->rest);
	return pull > least_of(self, part) && pull < most_of(self, part);
}

/* Of p: p″ along x, p′ / |x| across it. Of q: q″ along u. */
mat3 pile_spring_bend(const struct pile_spring *self, vec3 way)
{
	vec3 to = vec3_add(self->from, way);
	double length, reached = self->length + vec3_dot(self->along, way);
	vec3 along = vec3_normalize_length(to, &length);
	mat3 line = mat3_outer(along, along);
	double stiff = changes_at(self, PULLING, length) ? self->stiffness : 0;
	double pull = pull_at(self, PULLING, length);
	double across = length > 0 ? pull / length : self->rest > 0 ? 0 : self->stiffness;
	mat3 bend = mat3_scale(mat3_sub(mat3_identity(), line), across);
	bend = mat3_add(bend, mat3_scale(line, stiff));
	if (!changes_at(self, PUSHING, reached))
		return bend;
	return mat3_add(bend, mat3_scale(mat3_outer(self->along, self->along), self->stiffness));
}

void pile_store_springs(const struct pile *self)
{
	struct joint_table *table = &self->step->dynamics->tables->joint;
	for (uint32_t i = 0; i < self->term_count; i++) {
		const struct pile_term *term = &self->terms[i];
		if (term->kind != PILE_TERM_SPRING)
			continue;
		vec3 slope;
		ASSERT(term->joint < table->count);
		(void)pile_spring_excess(&term->spring, pile_term_way(self, term), &slope);
		double pull = pull_at(&term->spring, WHOLE_PULL, term->spring.length);
		/* On b of the term, which is b of the joint unless that is static. */
		vec3 force = vec3_mul_add(slope, term->spring.along, pull);
		memset(table->multiplier[term->joint], 0, sizeof table->multiplier[0]);
		table->force[term->joint] = term->turned ? vec3_negate(force) : force;
		table->torque[term->joint] = vec3_zero();
	}
}
