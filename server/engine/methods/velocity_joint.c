/* velocity_joint.c: the rows of joints in an island, and the two stages that joints add to the step.
 *
 * Joints' rows follow those of contacts in the island's system:
 *
 *   locked axis      w = J v = 0, any λ
 *   limit            as a contact without friction
 *   motor            w = J v − rate, or J v − (target − q)/h; |λ| ≤ limit h
 *   dry friction     w = J v, |λ| ≤ friction h
 *   spring           λ = −h (k (q + h J v) + c J v): with K = k h + c a compliant row,
 *                    w = J v + λ/(h K) + k q/K = 0
 *   rotor            of armature a and speed ω: the rotor loses λ/a and keeps up with its axis,
 *                    w = J v + λ/a − ω = 0, at both ends of a motion and in impacts; then ω is J v.
 *                    Within the motion J v is the mean speed of its coordinate, as for a lock
 *
 * Along a straight motion a pendulum leaves its circle, and correcting its velocity afterwards loses
 * energy: (ω h)²/2 of its speed in a step. So joints are enforced twice, as in RATTLE:
 *
 *   the motion    λ acts along J(x), so that coordinates are right at x': bodies are moved by the
 *                 straight solution, the curvature of each coordinate, (q(x') − q)/h − J v, is added to
 *                 its b for the next round, until no curvature changes by more than
 *                 VELOCITY_CURVATURE_TOLERANCE
 *   its end       v' = the velocity nearest to v_m with J(x') v' = 0 (motors: their rate)
 *
 * In an island bound by joints alone, half of the change of velocity by forces comes before the motion
 * and half after it: then the step is of second order, and its energy oscillates but does not drift. In
 * an island with contacts all of it comes before, because a body on the ground must be held against its
 * whole weight at once. The stage at the end closes no contact that was open.
 *
 *   of a pendulum (1 m, 60 Hz, 2 s):    error of its angle    of its energy, of 9.81 J
 *     straight motion, J(x) v = 0       6.0e-2, 1st order     −1.50 J, lost
 *     and J(x') v' = 0 at its end       6.0e-2, 1st order     −1.52 J, lost
 *     curved motion, all forces before  3.4e-2, 1st order      0.22 J, oscillating
 *     curved motion, half of them       2.7e-3, 2nd order      0.009 J, oscillating
 *
 * If a body turns so far in a step that the rounds do not converge (the tip of a whip), its motion is
 * straight, and energy is lost. Drift, from there or from a command, is removed at the end of the
 * motion before velocities are corrected: by displacements that give no velocity, Newton's rounds over
 * the joints' rows there, until no position is off by more than VELOCITY_DEPTH; contacts and limits
 * stay open meanwhile. A limit that was passed before returns no faster than contacts do, by
 * contact.push_speed.
 *
 * Impacts: locked axes, motors without limit and rotors hold; limits bounce as contacts do; springs, friction
 * and motors with a limit do nothing, because an impact takes no time.
 */
#include "server/engine/methods/velocity.h"

#include "server/engine/linalg/chol.h"

#include <string.h>

/* 1. Rounding error of an island's rows, as a part of its greatest coordinate and speed. */
#define ROUNDING 0x1p-50

/* 1. Rows' positions are not solved to less than this part of a metre, a radian and an island's greatest
 * coordinate. Smaller: rounds of the projection correct rounding. */
#define ATTAINED 0x1p-47

/* 1. A locked row whose diagonal, after elimination of the rows before it, is below this part depends
 * on them. */
#define RANK 1e-12

/* Parts of a row of a joint or a gear. */
enum { JOINT_PARTS_MAX = 2 * GEAR_ENDS };

#define ALLOCATE(type, count) ARENA_ARRAY(self->arena, type, count)

static const struct joint *joint_of(const struct velocity_island *self,
				    const struct velocity_joint_row *row)
{
	return &self->step->joints.joints[row->joint];
}

static struct joint_axis *axis_of(const struct velocity_island *self,
				  const struct velocity_joint_row *row)
{
	return &self->step->joints.joints[row->joint].axes[joint_place_axis(row->place)];
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* Whether the row's J M⁻¹ Jᵀ is more than rounding. */
static bool row_can_move(const struct velocity_step *self, const struct constraint_row *row)
{
	double all = 0, most = 0;
	for (uint32_t k = 0; k < row->j.count; k++) {
		const struct mass_body *body = &self->masses[row->j.parts[k].slot];
		struct spatial on = row->j.parts[k].on;
		vec3 inverse = body->mass_inv;
		all += vec3_dot(on.linear, vec3_hadamard(inverse, on.linear)) +
		       sym3_quadratic(body->inertia_inv, on.angular);
		most += vec3_length_squared(on.linear) * (inverse.x + inverse.y + inverse.z) +
			vec3_length_squared(on.angular) * sym3_trace(body->inertia_inv);
	}
	return all > VELOCITY_MOVE_MIN * most;
}

/* Role and bounds of the row `place` of joint `index`. */
static struct velocity_joint_row make_joint_row(const struct velocity_step *step, uint32_t index,
						uint8_t place, const struct constraint_row *row)
{
	const struct joint *joint = &step->joints.joints[index];
	double h = step->step->dt;
	ASSERT(place < JOINT_PLACES);
	struct velocity_joint_row made = {
		.joint = index, .place = place, .lower = -__builtin_inf(), .upper = __builtin_inf()
	};
	switch (joint_place_part(place)) {
	case JOINT_ROTOR:
		made.role = VELOCITY_ROTOR;
		break;
	case JOINT_HOLD:
	case JOINT_UPPER:
		made.role = row->set == ROW_POSITIVE ? VELOCITY_LIMIT : VELOCITY_LOCK;
		break;
	case JOINT_SPRING:
		made.role = VELOCITY_SPRING;
		break;
	case JOINT_MOTOR:
		made.role = joint->axes[joint_place_axis(place)].motor == JOINT_MOTOR_POSITION
				    ? VELOCITY_POSITION
				    : VELOCITY_RATE;
		if (row->softness != ROW_RIGID)
			made.role = VELOCITY_SPRING; /* a servo */
		break;
	default:
		made.role = VELOCITY_FRICTION;
		break;
	}
	if (row->set == ROW_POSITIVE)
		made.lower = 0;
	if (row->set == ROW_BOX) {
		made.lower = h * row->lower;
		made.upper = h * row->upper;
	}
	if (!row_can_move(step, row))
		made.lower = made.upper = 0;
	return made;
}

enum status velocity_joints_gather(struct velocity_island *self)
{
	const struct velocity_step *step = self->step;
	uint32_t at = 0;
	self->joints = ALLOCATE(struct velocity_joint_row, self->count - self->contact_rows);
	if (self->joints == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < self->island->constraint_count; i++) {
		uint32_t c = self->island->constraints[i];
		if (c < step->contact_count)
			continue;
		const struct joint *joint = &step->joints.joints[c - step->contact_count];
		uint8_t places[JOINT_ROWS_MAX];
		uint32_t rows = joint_places(joint, places);
		uint32_t k = velocity_held_axes(step, c - step->contact_count);
		ASSERT(self->contact_rows + at + rows - k <= self->taut_from);
		for (; k < rows; k++, at++)
			self->joints[at] = make_joint_row(step, c - step->contact_count, places[k],
							  &self->rows[self->contact_rows + at]);
	}
	ASSERT(self->contact_rows + at == self->taut_from);
	return STATUS_OK;
}

/* J M⁻¹ J_iᵀ of rows k and i, with the masses of the bodies: what a step's forces add to them
 * (mass_blocks.h) makes no spring stiffer. */
static double couple_rows(const struct velocity_island *self, const struct constraint_row *k,
			  const struct constraint_row *i)
{
	struct mass_operator mass = mass_operator_free(self->step->masses, self->step->mass.slots);
	struct spatial room[ROW_PARTS_MAX];
	struct mass_response response;
	ASSERT(mass_room(&mass, i->j) <= ROW_PARTS_MAX);
	mass_respond(&mass, i->j, room, &response);
	return mass_couple(&mass, k->j, &response);
}

/* Row i's diagonal of A, reduced by the rows that hold (`held`, their factored part of A); 0 if it
 * depends on them. `coupled` gets row i's entries of A with them. */
static double remaining_diagonal(const struct velocity_island *self, const struct chol *held,
				 const struct constraint_row *const *rows,
				 const struct constraint_row *i, double *coupled)
{
	ASSERT(held->size <= JOINT_AXES);
	double solved[JOINT_AXES], left = couple_rows(self, i, i), least = RANK * left;
	for (uint32_t k = 0; k < held->size; k++)
		solved[k] = coupled[k] = couple_rows(self, rows[k], i);
	chol_solve_lower(held, solved);
	for (uint32_t k = 0; k < held->size; k++)
		left -= solved[k] * solved[k];
	return left > least ? left : 0;
}

/* The rows of the locked axes of row i's joint that move: they precede it in the island, or, where
 * they are no rows of it, stand in the step's list. */
static uint32_t locked_rows(const struct velocity_island *self, uint32_t i,
			    const struct constraint_row *out[JOINT_AXES])
{
	const struct velocity_step *step = self->step;
	uint32_t joint = self->joints[i - self->contact_rows].joint, first = i, count = 0;
	if (velocity_joint_is_held(step, joint)) {
		uint32_t b = step->first_block[step->contact_count + joint];
		const struct row_block *block = &step->rows.blocks[b];
		for (uint32_t k = 0; k < block->count && velocity_block_is_held(step, b); k++)
			if (row_can_move(step, &step->rows.rows[block->first + k]))
				out[count++] = &step->rows.rows[block->first + k];
		return count;
	}
	while (first > self->contact_rows &&
	       self->joints[first - 1 - self->contact_rows].joint == joint)
		first--;
	for (uint32_t k = first; k < i; k++) {
		if (self->joints[k - self->contact_rows].role != VELOCITY_LOCK)
			break;
		if (velocity_row_acts(&self->joints[k - self->contact_rows]))
			out[count++] = &self->rows[k];
	}
	return count;
}

/* Speed of row i for a unit impulse while its joint's locked rows, which precede it, hold: the
 * inverse mass of the motion that the joint permits, such as of an arm about its hinge, not about its
 * own centre. 0: nothing moves. */
static double compliance_at_joint(const struct velocity_island *self, uint32_t i)
{
	double storage[JOINT_AXES * JOINT_AXES], coupled[JOINT_AXES];
	const struct constraint_row *rows[JOINT_AXES], *locks[JOINT_AXES];
	uint32_t count = locked_rows(self, i, locks);
	struct chol held;
	chol_init(&held, storage, JOINT_AXES);
	for (uint32_t k = 0; k < count; k++) {
		rows[held.size] = locks[k];
		if (remaining_diagonal(self, &held, rows, locks[k], coupled) > 0 &&
		    !chol_append(&held, coupled, couple_rows(self, locks[k], locks[k])))
			break;
	}
	return remaining_diagonal(self, &held, rows, &self->rows[i], coupled);
}

void velocity_joints_spring(const struct velocity_island *self, uint32_t i, double *stiffness,
			    double *damping)
{
	const struct constraint_row *row = &self->rows[i];
	ASSERT(self->joints[i - self->contact_rows].role == VELOCITY_SPRING);
	*stiffness = row->stiffness;
	*damping = row->damping;
	if (row->softness != ROW_FREQUENCY)
		return;
	double a = compliance_at_joint(self, i);
	double armature = axis_of(self, &self->joints[i - self->contact_rows])->armature;
	double mass = (a > 0 ? 1 / a : 0) + armature, rate = TWO_PI * row->stiffness;
	*stiffness = mass * rate * rate;
	*damping = 2 * mass * row->damping * rate;
}

/* Compliance and bias of a spring. The bounds of one without stiffness and damping are 0. */
static void soften_spring(const struct velocity_island *self, uint32_t i)
{
	const struct constraint_row *row = &self->rows[i];
	struct velocity_joint_row *joint = &self->joints[i - self->contact_rows];
	double k, c, h = self->step->step->dt;
	velocity_joints_spring(self, i, &k, &c);
	joint->soft = 1 / (h * (k * h + c));
	joint->pull = (k * row->gap - c * row->wanted) / (k * h + c);
	if (scalar_is_finite(joint->soft) && scalar_is_finite(joint->pull))
		return;
	joint->soft = joint->pull = 0;
	joint->lower = joint->upper = 0;
}

void velocity_joints_soften(struct velocity_island *self)
{
	const struct velocity_step *step = self->step;
	const struct body_motion *at = step->at != NULL ? step->at : step->start;
	double far = 0, fast = 0;
	for (uint32_t i = 0; i < self->island->slot_count; i++) {
		uint32_t slot = self->island->slots[i];
		far = scalar_max(far, vec3_length(at[slot].centre));
		fast = scalar_max(fast, vec3_length(step->forced[slot].linear));
		fast = scalar_max(fast, vec3_length(step->forced[slot].angular));
	}
	self->noise = ROUNDING * (fast + far / step->step->dt);
	ASSERT(!(self->noise < 0));
	for (uint32_t i = self->contact_rows; i < self->count; i++) {
		struct velocity_joint_row *row = &self->joints[i - self->contact_rows];
		if (row->role == VELOCITY_SPRING)
			soften_spring(self, i);
		if (row->role == VELOCITY_ROTOR) {
			row->soft = 1 / self->rows[i].stiffness;
			row->pull = -axis_of(self, row)->rotor;
		}
	}
}

void velocity_joints_warm_start(const struct velocity_island *self, double *x)
{
	for (uint32_t i = self->taut_from; i < self->count; i++)
		x[i] = 0;
	for (uint32_t i = self->contact_rows; i < self->taut_from; i++) {
		const struct velocity_joint_row *row = &self->joints[i - self->contact_rows];
		VALIDATE(!(row->lower > row->upper));
		x[i] = scalar_clamp(joint_of(self, row)->multiplier[row->place], row->lower,
				    row->upper);
	}
}

/* ---- impulses of joints ----------------------------------------------------------------------- */

/* Motion of a body of the joint in this state; `given` if it takes no part. */
static const struct body_motion *motion_at(const struct velocity_step *self, uint32_t slot,
					   const struct body_motion *given)
{
	return slot == ROW_NO_BODY || self->at == NULL ? given : &self->at[slot];
}

/* The row's unit impulse on b, about b's anchor: its part on b; if b takes no part, the opposite of
 * that on a, which has the same line of force. */
static struct spatial unit_on_b(const struct velocity_island *self,
				const struct constraint_row *row, const struct constraint *of,
				const struct joint *joint)
{
	const struct body_motion *b = motion_at(self->step, of->body_b, &joint->b);
	if (joint->gear != NULL)
		return spatial_zero(); /* step_joints_store adds its forces to those of its joints */
	vec3 anchor = joint_anchor_b(joint, b), centre = b->centre;
	bool other = of->body_b == ROW_NO_BODY;
	uint32_t slot = other ? of->body_a : of->body_b;
	if (other)
		centre = motion_at(self->step, slot, &joint->a)->centre;
	for (uint32_t k = 0; k < row->j.count; k++) {
		struct spatial on = row->j.parts[k].on;
		if (row->j.parts[k].slot != slot)
			continue;
		on.angular = vec3_sub(on.angular, vec3_cross(vec3_sub(anchor, centre), on.linear));
		return other ? spatial_negate(on) : on;
	}
	return spatial_zero();
}

void velocity_joints_add_results(const struct velocity_island *self, const double *x)
{
	for (uint32_t i = self->contact_rows; i < self->count; i++) {
		const struct velocity_joint_row *row = &self->joints[i - self->contact_rows];
		if (x[i] == 0)
			continue;
		ASSERT(row->joint < self->step->joints.count && row->place < JOINT_PLACES);
		const struct constraint *of =
			&self->step->constraints[self->step->contact_count + row->joint];
		struct joint_result *to = &self->step->joint_results[row->joint];
		struct spatial unit = unit_on_b(self, &self->rows[i], of, joint_of(self, row));
		if (row->role != VELOCITY_TAUT)
			to->multiplier[row->place] += x[i];
		if (row->role == VELOCITY_ROTOR)
			axis_of(self, row)->rotor -= row->soft * x[i];
		to->on_b = spatial_mul_add(to->on_b, unit, x[i]);
	}
}

/* ---- the motion ------------------------------------------------------------------------------- */

static bool is_bound_by_joints_alone(const struct velocity_step *step, const struct island *island)
{
	return island->constraint_count > 0 && island->constraints[0] >= step->contact_count;
}

void velocity_joints_initial_velocities(const struct velocity_island *self)
{
	const struct velocity_step *step = self->step;
	if (!is_bound_by_joints_alone(step, self->island) ||
	    velocity_is_implicit(step, self->island))
		return;
	for (uint32_t i = 0; i < self->island->slot_count; i++) {
		uint32_t slot = self->island->slots[i];
		struct spatial sum = spatial_mul_add(step->before[slot], step->forced[slot], 1);
		step->moving[slot] = spatial_scale(sum, 0.5);
	}
}

void velocity_joints_targets(const struct velocity_island *self, bool *selected, double *b)
{
	double h = self->step->step->dt;
	for (uint32_t i = 0; i < self->contact_rows; i++)
		selected[i] = true;
	for (uint32_t i = self->contact_rows; i < self->count; i++) {
		const struct constraint_row *row = &self->rows[i];
		const struct velocity_joint_row *joint = &self->joints[i - self->contact_rows];
		selected[i] = velocity_row_acts(joint);
		switch (joint->role) {
		case VELOCITY_LIMIT:
			b[i] += scalar_max(row->gap, 0) / h;
			break;
		case VELOCITY_SPRING:
		case VELOCITY_ROTOR:
			b[i] += joint->pull;
			break;
		case VELOCITY_POSITION:
			b[i] += row->gap / h;
			break;
		default:
			b[i] -= row->wanted;
			break;
		}
		b[i] += joint->curvature;
	}
}

void velocity_island_move(const struct velocity_island *self, const double *x)
{
	const struct velocity_step *step = self->step;
	for (uint32_t i = 0; i < self->island->slot_count; i++)
		step->after[self->island->slots[i]] = step->moving[self->island->slots[i]];
	row_system_apply(&self->system, x, step->after);
	for (uint32_t i = 0; i < self->island->slot_count; i++) {
		uint32_t slot = self->island->slots[i];
		step->motions[slot] = integrate_motion(
			step->step->dynamics, step->step->bodies[slot], &step->start[slot],
			step->after[slot], step->after[slot], step->step->dt);
	}
}

/* Moves bodies with impulses x, into `motions`, and makes the joints' rows there. */
static void try_motion(const struct velocity_island *self, const double *x, struct row_list *list)
{
	const struct velocity_step *step = self->step;
	velocity_island_move(self, x);
	list->row_count = list->block_count = list->part_count = 0;
	for (uint32_t i = 0; i < self->island->constraint_count; i++)
		if (self->island->constraints[i] >= step->contact_count)
			velocity_constraint_rows(step, self->island->constraints[i], step->motions,
						 list);
	ASSERT(list->row_count == self->taut_from - self->contact_rows);
}

/* Updates the curvature of each coordinate in the motion with impulses x, in rows and b. Returns the
 * greatest change, m or rad, of a row that acts. */
static double measure_curvature(const struct velocity_island *self, const double *x,
				struct row_list *list, double *b)
{
	double worst = 0, h = self->step->step->dt;
	double tolerance = velocity_curvature_tolerance(self->step);
	try_motion(self, x, list);
	for (uint32_t i = self->contact_rows; i < self->count; i++) {
		struct velocity_joint_row *joint = &self->joints[i - self->contact_rows];
		const struct constraint_row *row = &self->rows[i];
		if (!velocity_row_has_place(joint))
			continue;
		double gap = list->rows[i - self->contact_rows].gap;
		double speed = jacobian_speed(row->j, self->step->after);
		double more = (gap - row->gap) / h - speed - joint->curvature;
		bool holds = joint->lower < x[i] && x[i] < joint->upper;
		b[i] += more;
		joint->curvature += more;
		if (holds ||
		    (joint->role == VELOCITY_LIMIT && gap < scalar_min(row->gap, 0) - tolerance))
			worst = scalar_max(worst, h * scalar_abs(more));
	}
	return worst;
}

/* Memory for the joints' rows of the island. */
static enum status allocate_rows(struct velocity_island *self, struct row_list *list)
{
	uint32_t rows = self->taut_from - self->contact_rows;
	*list = (struct row_list){ .rows = ALLOCATE(struct constraint_row, rows),
				   .blocks = ALLOCATE(struct row_block, rows),
				   .parts = ALLOCATE(struct row_part,
						     (size_t)JOINT_PARTS_MAX * rows),
				   .row_capacity = rows,
				   .block_capacity = rows,
				   .part_capacity = JOINT_PARTS_MAX * rows };
	return list->rows != NULL && list->blocks != NULL && list->parts != NULL ? STATUS_OK
										 : STATUS_NO_MEMORY;
}

enum status velocity_joints_solve_motion(struct velocity_island *self, bool *selected, double *b,
					 double *x)
{
	ASSERT(self->joints != NULL);
	struct velocity_problem motion = { selected, b, x };
	struct row_list list;
	double least = __builtin_inf(), *straight = ALLOCATE(double, self->count);
	if (straight == NULL || allocate_rows(self, &list) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (uint32_t round = 0, last = 0;; round++) {
		struct velocity_outcome before = *self->outcome;
		if (round < VELOCITY_TAUT_ROUNDS)
			velocity_taut_soften(self, x, selected);
		enum status status = velocity_island_solve(self, &motion);
		if (status != STATUS_OK)
			return status;
		if (self->outcome->fallbacks != before.fallbacks) {
			/* The curvature contradicts other rows; the straight motion did not. */
			if (round > 0) {
				*self->outcome = before;
				memcpy(x, straight, self->count * sizeof *x);
			}
			return STATUS_OK;
		}
		double worst = measure_curvature(self, x, &list, b);
		if (worst < least) {
			least = worst;
			last = round;
		}
		if (!(worst > velocity_curvature_tolerance(self->step)) ||
		    round == VELOCITY_CURVATURE_ROUNDS)
			return STATUS_OK;
		if (round == 0)
			memcpy(straight, x, self->count * sizeof *x);
		if (round - last > VELOCITY_ROUNDS_WITHOUT_GAIN_MAX) {
			if (!(worst > VELOCITY_CURVATURE_TOLERANCE))
				return STATUS_OK; /* rounding */
			/* Bodies turn too far in this step for rounds to converge: straight. */
			memcpy(x, straight, self->count * sizeof *x);
			return STATUS_OK;
		}
	}
}

void velocity_joints_push_targets(const struct velocity_island *self, bool *selected, double *b)
{
	double h = self->step->step->dt;
	for (uint32_t i = self->contact_rows; i < self->count; i++) {
		const struct velocity_joint_row *joint = &self->joints[i - self->contact_rows];
		selected[i] = velocity_holds(self, i) || joint->role == VELOCITY_LIMIT;
		VALIDATE(!selected[i] || i < self->taut_from);
		if (joint->role != VELOCITY_LIMIT) {
			b[i] = 0;
			continue;
		}
		double end = self->rows[i].gap + h * (b[i] + joint->curvature);
		b[i] = scalar_max(end, 0) / h;
	}
}

/* ---- the end of the motion -------------------------------------------------------------------- */

/* b of the joints' and contacts' rows at the end; whether any of them is violated. `before`: their
 * speeds without the second half of the forces. A contact or limit that approaches with these may go
 * on, and is stopped in the next step's motion. */
static bool set_end_targets(const struct velocity_island *self, bool impact, const double *before,
			    bool *selected, double *b)
{
	const struct velocity_step *step = self->step;
	bool any = false;
	ASSERT(self->taut_from == self->count); /* taut lines have rows in the motion only */
	for (uint32_t i = 0; i < self->contact_rows; i++) {
		bool touches = self->rows[i].gap <= VELOCITY_TOUCH ||
			       step->impulses[self->block[i]].normal > 0;
		selected[i] = self->place[i] == 0 && touches && !impact;
		b[i] -= scalar_min(before[i], 0);
		any |= selected[i] && b[i] < -VELOCITY_STILL;
	}
	for (uint32_t i = self->contact_rows; i < self->count; i++) {
		struct velocity_joint_row *row = &self->joints[i - self->contact_rows];
		double used = step->joint_results[row->joint].multiplier[row->place];
		/* A row that reached its bound in the motion does not act at its end. */
		bool strong = row->lower < used && used < row->upper;
		b[i] += row->role == VELOCITY_ROTOR ? row->pull : -self->rows[i].wanted;
		if (row->role == VELOCITY_LIMIT) {
			b[i] -= scalar_min(before[i], 0);
			selected[i] = velocity_row_acts(row) && !impact &&
				      (self->rows[i].gap <= VELOCITY_TOUCH || used > 0);
			any |= selected[i] && b[i] < -VELOCITY_STILL;
			continue;
		}
		selected[i] = row->role != VELOCITY_SPRING && strong;
		any |= selected[i] && scalar_abs(b[i]) > VELOCITY_STILL;
		row->lower -= used;
		row->upper -= used;
	}
	return any;
}

static enum status end_island(const struct island *members, uint32_t index, struct arena *arena,
			      void *context)
{
	struct velocity_stage *stage = context;
	struct velocity_step *begin = stage->begin;
	struct velocity_end self;
	const struct velocity_island *island = &self.island;
	if (!velocity_has_joints(begin, members))
		return STATUS_OK;
	enum status status = velocity_end_make(&self, stage->end, index, arena);
	if (status != STATUS_OK)
		return status;
	double *before = ARENA_ARRAY(arena, double, island->count);
	if (before == NULL)
		return STATUS_NO_MEMORY;
	row_system_speeds(&island->system, begin->after, before);
	if (is_bound_by_joints_alone(begin, members) && !velocity_is_whole(begin, members))
		velocity_add_half_of_forces(begin, members);
	if (island->tree != NULL)
		velocity_tree_hold(&self.island, begin->after);
	row_system_speeds(&island->system, begin->after, self.b);
	if (!set_end_targets(island, begin->outcomes[index].impact, before, self.selected,
			     self.b)) {
		if (island->tree != NULL)
			velocity_tree_add_results(island, begin->after, self.x);
		return STATUS_OK;
	}
	status = velocity_end_solve(&self, begin->after);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < island->contact_rows; i++)
		if (island->place[i] == 0)
			begin->impulses[island->block[i]].normal += self.x[i];
	velocity_joints_add_results(island, self.x);
	if (island->tree != NULL)
		velocity_tree_add_results(island, begin->after, self.x);
	return STATUS_OK;
}

void velocity_joints_finish_results(struct velocity_step *self)
{
	for (uint32_t i = 0; i < self->joints.count - self->joints.gears; i++) {
		const struct joint *joint = &self->joints.joints[i];
		uint32_t slot = self->joints.constraints[i].body_b;
		const struct body_motion *b =
			slot == ROW_NO_BODY ? &joint->b : &self->motions[slot];
		struct joint_result *to = &self->joint_results[i];
		to->point = joint_anchor_b(joint, b);
		vec3 arm = vec3_sub(to->point, b->centre);
		to->on_b.angular = vec3_add(to->on_b.angular, vec3_cross(arm, to->on_b.linear));
	}
}

/* ---- removal of drift ------------------------------------------------------------------------- */

/* m or rad: error of a row's position at the end. The target of a locked row is 0, or with
 * joint.push_speed what that rate leaves of its error at the beginning. A limit that was passed at the
 * beginning, and a gear that was violated (as one may be when it is set), need to return only by the
 * distance that push_speed permits in a step. */
static double position_error(const struct velocity_step *begin, const struct constraint_row *row,
			     uint32_t index, uint32_t constraint)
{
	double before = begin->rows.rows[index].gap, h = begin->step->dt;
	if (row->set == ROW_POSITIVE) {
		double least = before + begin->settings.push_speed * h;
		return scalar_min(row->gap - scalar_min(least, 0), 0);
	}
	bool gear = begin->constraints[constraint].kind == &constraint_gear;
	double by = h * (gear ? begin->settings.push_speed : begin->settings.joint_push_speed);
	if (!gear && !(by > 0))
		return row->gap;
	return row->gap - before + scalar_clamp(before, -by, by);
}

/* m, rad. The tolerance of a joint that closes a loop of links in reduced coordinates, whose other
 * joints are exact, is at most this. Larger: rounding opens a loop by as much in some 10⁶ steps. */
#define LOOP_DEPTH 5e-11

/* Whether the joint of a constraint closes a loop of links in reduced coordinates. */
static bool closes_loop(const struct velocity_step *begin, uint32_t constraint)
{
	ASSERT(constraint >= begin->contact_count && constraint < begin->constraint_count);
	const struct constraint *joint = &begin->constraints[constraint];
	const uint32_t slots[] = { joint->body_a, joint->body_b };
	if (begin->trees == NULL || joint->kind != &constraint_joint)
		return false;
	for (uint32_t k = 0; k < COUNT_OF(slots); k++)
		if (slots[k] != ROW_NO_BODY && begin->trees->link_of[slots[k]] != TREE_NONE)
			return true;
	return false;
}

/* m, rad: errors of an island's positions that are less are not corrected. Where the settings ask
 * for less than rounding of its coordinates, which no solution passes, that. */
static double depth_of(const struct velocity_step *begin, const struct island *island)
{
	double depth = begin->settings.joint_tolerance, far = 1;
	ASSERT(depth > 0);
	if (!(depth < LOOP_DEPTH))
		return depth;
	for (uint32_t i = 0; i < island->slot_count; i++)
		far = scalar_max(far, vec3_length(begin->motions[island->slots[i]].centre));
	return scalar_clamp(ATTAINED * far, depth, LOOP_DEPTH);
}

/* Fills `joint_depths`. NO_MEMORY. */
static enum status find_depths(struct velocity_step *begin)
{
	struct arena *scratch = &begin->step->dynamics->scratch;
	ASSERT(begin->joints.count > 0);
	begin->joint_depths = ARENA_ARRAY(scratch, struct velocity_depth, begin->joints.count);
	if (begin->joint_depths == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < begin->joints.count;
	     i++) /* those that nothing moves are in no island */
		begin->joint_depths[i] = (struct velocity_depth){ 0, 0 };
	for (uint32_t i = 0; i < begin->islands.count; i++) {
		const struct island *island = &begin->islands.items[i];
		double depth = depth_of(begin, island);
		for (uint32_t k = 0; k < island->constraint_count; k++) {
			uint32_t c = island->constraints[k];
			if (c < begin->contact_count)
				continue;
			struct velocity_depth *to = &begin->joint_depths[c - begin->contact_count];
			*to = (struct velocity_depth){ depth, depth };
			if (closes_loop(begin, c))
				to->lock = scalar_min(depth, LOOP_DEPTH);
		}
	}
	return STATUS_OK;
}

/* b of the displacement that corrects the joints' positions and keeps contacts and limits open; whether
 * any position is off by more than its depth. */
static bool set_projection_targets(const struct velocity_island *self,
				   const struct velocity_step *begin, bool *selected, double *b)
{
	double h = self->step->step->dt;
	bool off = false;
	for (uint32_t i = 0; i < self->count; i++) {
		const struct constraint_row *row = &self->rows[i];
		bool holds = velocity_holds(self, i), limit = row->set == ROW_POSITIVE;
		bool lock = holds && self->joints[i - self->contact_rows].role == VELOCITY_LOCK;
		selected[i] = holds || limit;
		b[i] = limit ? scalar_max(row->gap, 0) / h : 0;
		if (i < self->contact_rows || !(lock || limit) ||
		    !velocity_row_acts(&self->joints[i - self->contact_rows]))
			continue;
		uint32_t index = begin->rows.blocks[self->block[i]].first + self->place[i];
		uint32_t constraint = begin->rows.blocks[self->block[i]].constraint;
		double by = position_error(begin, row, index, constraint);
		const struct velocity_depth *depth =
			&begin->joint_depths[constraint - begin->contact_count];
		off |= scalar_abs(by) > (lock ? depth->lock : depth->limit);
		b[i] += by / h;
	}
	return off;
}

static enum status project_island(const struct island *members, uint32_t index, struct arena *arena,
				  void *context)
{
	struct velocity_stage *stage = context;
	struct velocity_step *begin = stage->begin;
	struct velocity_end self;
	/* An island without a solution is as near to one as its compliance permits. */
	if (!velocity_has_joints(begin, members) || begin->end_outcomes[index].fallbacks > 0)
		return STATUS_OK;
	enum status status = velocity_end_make(&self, stage->end, index, arena);
	if (status != STATUS_OK)
		return status;
	struct spatial *d = arena_push_zero(arena, begin->step->body_count * sizeof *d);
	if (d == NULL)
		return STATUS_NO_MEMORY;
	if (!set_projection_targets(&self.island, begin, self.selected, self.b))
		return STATUS_OK;
	status = velocity_end_solve(&self, d);
	if (status != STATUS_OK)
		return status;
	double turn = 0;
	for (uint32_t i = 0; i < members->slot_count; i++)
		turn = scalar_max(turn, vec3_length(d[members->slots[i]].angular));
	turn *= begin->step->dt;
	double share =
		turn > VELOCITY_PROJECTION_TURN_MAX ? VELOCITY_PROJECTION_TURN_MAX / turn : 1;
	ASSERT(share >= 0 && share <= 1);
	for (uint32_t i = 0; i < members->slot_count; i++)
		d[members->slots[i]] = spatial_scale(d[members->slots[i]], share);
	velocity_displace(begin, members, index, d);
	return STATUS_OK;
}

/* Whether some joint's position is off in this state by more than its depth. */
static bool any_position_error(const struct velocity_step *self, const struct velocity_step *begin)
{
	for (uint32_t c = self->contact_count; c < self->constraint_count; c++) {
		const struct velocity_depth *depth = &begin->joint_depths[c - self->contact_count];
		for (uint32_t b = self->first_block[c]; b < self->first_block[c + 1]; b++) {
			const struct row_block *block = &self->rows.blocks[b];
			if (velocity_block_is_held(self, b))
				continue;
			for (uint32_t i = block->first; i < block->first + block->count; i++) {
				const struct constraint_row *row = &self->rows.rows[i];
				bool lock = block->key.feature == 0;
				bool holds = lock || row->set == ROW_POSITIVE;
				if (holds && row_can_move(self, row) &&
				    scalar_abs(position_error(begin, row, i, c)) >
					    (lock ? depth->lock : depth->limit))
					return true;
			}
		}
	}
	return false;
}

enum status velocity_joints_project(struct velocity_step *begin)
{
	struct arena *scratch = &begin->step->dynamics->scratch;
	ASSERT(begin->joints.count > 0);
	begin->end_outcomes =
		arena_push_zero(scratch, begin->islands.count * sizeof *begin->end_outcomes);
	if (begin->end_outcomes == NULL || find_depths(begin) != STATUS_OK ||
	    velocity_trees_close(begin) != STATUS_OK)
		return STATUS_NO_MEMORY;
	begin->settled = NULL;
	struct velocity_step *end = ARENA_ARRAY(scratch, struct velocity_step, 1);
	if (end == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t round = 0; round < VELOCITY_PROJECTION_ROUNDS; round++) {
		enum status status = velocity_state_at_end(begin, end);
		if (status != STATUS_OK)
			return status;
		if (!any_position_error(end, begin)) {
			begin->settled = end;
			return STATUS_OK;
		}
		struct velocity_stage stage = { begin, end };
		status = islands_solve(begin->step, &begin->islands, project_island, &stage);
		if (status == STATUS_OK)
			status = velocity_trees_close(begin);
		if (status != STATUS_OK)
			return status;
		velocity_masses_at_end(begin);
	}
	return STATUS_OK;
}

enum status velocity_joints_solve_end(struct velocity_step *begin)
{
	struct velocity_step end;
	enum status status = STATUS_OK;
	if (begin->settled != NULL) {
		end = *begin->settled;
		end.impulses = begin->impulses;
	} else
		status = velocity_state_at_end(begin, &end);
	struct velocity_stage stage = { begin, &end };
	return status == STATUS_OK ? islands_solve(begin->step, &begin->islands, end_island, &stage)
				   : status;
}

/* ---- impacts ---------------------------------------------------------------------------------- */

enum status velocity_joints_solve_arriving(struct velocity_island *self, bool *selected, double *b,
					   double *x)
{
	const struct velocity_step *step = self->step;
	for (uint32_t i = self->contact_rows; i < self->count; i++)
		self->joints[i - self->contact_rows].curvature = 0;
	if (self->tree != NULL)
		velocity_tree_hold(self, step->arriving);
	row_system_speeds(&self->system, self->tree != NULL ? step->arriving : step->forced, b);
	velocity_joints_targets(self, selected, b);
	for (uint32_t i = 0; i < self->count; i++) {
		x[i] = 0;
		selected[i] &= i >= self->contact_rows && i < self->taut_from &&
			       self->joints[i - self->contact_rows].role != VELOCITY_LIMIT;
	}
	struct velocity_problem problem = { selected, b, x };
	enum status status = velocity_island_solve(self, &problem);
	if (status == STATUS_OK)
		row_system_apply(&self->system, x, step->arriving);
	return status;
}

bool velocity_joints_impact(const struct velocity_island *self, uint32_t i, double back, double *u)
{
	ASSERT(i >= self->contact_rows && i < self->count);
	const struct velocity_joint_row *row = &self->joints[i - self->contact_rows];
	/* A rotor arrives with the speed of its axis. */
	*u = row->role == VELOCITY_ROTOR ? 0 : *u - self->rows[i].wanted;
	if (row->role == VELOCITY_LIMIT)
		return velocity_row_acts(row) && (self->rows[i].gap <= VELOCITY_TOUCH || back > 0);
	return velocity_holds(self, i);
}

enum status velocity_joints_take_back(struct velocity_island *self, double *back, bool *selected,
				      double *b, double *x, struct spatial *change)
{
	for (uint32_t i = self->contact_rows; i < self->count; i++) {
		const struct velocity_joint_row *row = &self->joints[i - self->contact_rows];
		ASSERT(row->joint < self->step->joints.count);
		if (row->role == VELOCITY_LIMIT)
			back[i] = self->step->joint_results[row->joint].multiplier[row->place];
	}
	row_system_apply(&self->system, back, change);
	for (uint32_t i = 0; i < self->count; i++) {
		b[i] = jacobian_speed(self->rows[i].j, change);
		x[i] = 0;
		selected[i] = velocity_holds(self, i);
	}
	for (uint32_t i = 0; i < self->island->slot_count; i++)
		change[self->island->slots[i]] = spatial_zero();
	struct velocity_problem problem = { selected, b, x };
	enum status status = velocity_island_solve(self, &problem);
	for (uint32_t i = self->contact_rows; i < self->count && status == STATUS_OK; i++)
		back[i] += x[i];
	return status;
}
