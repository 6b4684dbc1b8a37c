/* joint_project.c: bodies put where a joint holds.
 *
 * Newton in the metric of mass: the least motion, as the masses see it, that makes the rows that
 * are off zero. Rows are those of the position level, so that each round begins with the exact J;
 * they end at rounding in a handful of rounds. Rows may depend on each other, or move nothing: G =
 * J M⁻¹ Jᵀ, its diagonal scaled to 1, is factored with the largest pivot first, and what has none
 * left is passed over.
 */
#include "server/engine/dynamics/joint.h"

enum {
	ROWS = 2 * JOINT_AXES, /* an axis is locked, or at one or both of its limits */
	ROUNDS = 20,
	CLOSINGS = 4, /* times that limits are found to close once others no longer do */
};
/* What of a row's own mass must be left for it to be one more than those before. */
#define RANK 1e-12
#define GOOD 1e-12    /* m, rad: where Newton ends */
#define AT_LIMIT 1e-9 /* m, rad */
#define TURN_MAX 1    /* rad: of one round, lest a turn that is far from small overshoots */

struct rig {
	struct constraint constraint;
	struct body_motion *motions[2];
	const struct mass_body *masses;
	quat from[2]; /* rotations that the masses are for */
	uint32_t count;
	uint8_t places[JOINT_ROWS_MAX];
	struct constraint_row rows[JOINT_ROWS_MAX];
	struct row_block blocks[JOINT_ROWS_MAX];
	struct row_part parts[2 * JOINT_ROWS_MAX];
	/* Those that are to be made zero, and what of them. */
	uint32_t active_count;
	uint32_t active[ROWS];
	double amount[ROWS];
};

static void state_rows(struct rig *self, enum constraint_level level)
{
	struct constraint_options options = { level, CONSTRAINT_SMOOTH, 0 };
	struct row_list list = { self->rows,	 self->blocks,	 self->parts,	    0, 0, 0,
				 JOINT_ROWS_MAX, JOINT_ROWS_MAX, 2 * JOINT_ROWS_MAX };
	constraint_joint.rows(&self->constraint, 0, self->motions[0], self->motions[1], &options,
			      &list);
}

static bool is_limit(const struct rig *self, uint32_t row)
{
	return self->rows[row].set == ROW_POSITIVE;
}

/* Whether a row holds or limits. */
static bool binds(const struct rig *self, uint32_t row)
{
	return self->places[row] % JOINT_PARTS <= JOINT_UPPER;
}

static void take(struct rig *self, uint32_t row, double amount)
{
	ASSERT(self->active_count < ROWS);
	self->active[self->active_count] = row;
	self->amount[self->active_count++] = amount;
}

/* M⁻¹ on a force on body 0 or 1 where it stands now. A body that may not turn about all axes turns
 * about one or none, which do not turn with it. */
static struct spatial respond(const struct rig *self, uint32_t body, struct spatial force)
{
	const struct mass_body *mass = &self->masses[body];
	vec3 linear = vec3_hadamard(mass->mass_inv, force.linear);
	if (mass->locks & MASS_LOCK_TURNING)
		return (struct spatial){ linear, sym3_apply(mass->inertia_inv, force.angular) };
	quat turn = quat_mul(self->motions[body]->rotation, quat_conjugate(self->from[body]));
	vec3 before = quat_rotate_inverse(turn, force.angular);
	return (struct spatial){ linear, quat_rotate(turn, sym3_apply(mass->inertia_inv, before)) };
}

/* Solves G x = −amount in place of the amounts. Rows without a pivot get 0. */
static void factor_and_solve(uint32_t n, double g[ROWS][ROWS], double x[ROWS])
{
	uint32_t order[ROWS], rank = 0;
	double scale[ROWS], y[ROWS] = { 0 };
	for (uint32_t i = 0; i < n; i++) {
		order[i] = i;
		scale[i] = g[i][i] > 0 ? 1 / scalar_sqrt(g[i][i]) : 0;
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			g[i][j] *= scale[i] * scale[j];
	for (; rank < n; rank++) {
		uint32_t best = rank;
		for (uint32_t i = rank + 1; i < n; i++)
			if (g[order[i]][order[i]] > g[order[best]][order[best]])
				best = i;
		uint32_t p = order[best];
		if (!(g[p][p] > RANK))
			break;
		order[best] = order[rank];
		order[rank] = p;
		/* Columns of L stand below the pivots; what is left is made symmetric again by both
		 * halves being done alike. */
		for (uint32_t i = rank + 1; i < n; i++) {
			uint32_t r = order[i];
			double l = g[r][p] / g[p][p];
			for (uint32_t j = rank + 1; j < n; j++)
				g[r][order[j]] -= l * g[p][order[j]];
		}
	}
	for (uint32_t k = 0; k < rank; k++) {
		uint32_t p = order[k];
		y[p] = -x[p] * scale[p];
		for (uint32_t i = 0; i < k; i++)
			y[p] -= g[p][order[i]] / g[order[i]][order[i]] * y[order[i]];
	}
	for (uint32_t i = 0; i < n; i++)
		x[i] = 0;
	for (uint32_t k = rank; k-- > 0;) {
		uint32_t p = order[k];
		for (uint32_t i = k + 1; i < rank; i++)
			y[p] -= g[p][order[i]] * x[order[i]];
		x[p] = y[p] / g[p][p];
	}
	for (uint32_t i = 0; i < n; i++)
		x[i] *= scale[i];
}

/* M⁻¹ Jᵀ of what makes the active rows zero, by body. */
static void find_change(struct rig *self, struct spatial change[2])
{
	double g[ROWS][ROWS];
	struct spatial response[ROWS][2];
	for (uint32_t i = 0; i < self->active_count; i++)
		for (uint32_t body = 0; body < 2; body++)
			response[i][body] =
				respond(self, body, self->rows[self->active[i]].j.parts[body].on);
	for (uint32_t i = 0; i < self->active_count; i++)
		for (uint32_t j = 0; j <= i; j++) {
			const struct row_part *parts = self->rows[self->active[i]].j.parts;
			g[i][j] = spatial_dot(parts[0].on, response[j][0]) +
				  spatial_dot(parts[1].on, response[j][1]);
			g[j][i] = g[i][j];
		}
	factor_and_solve(self->active_count, g, self->amount);
	for (uint32_t body = 0; body < 2; body++) {
		change[body] = spatial_zero();
		for (uint32_t i = 0; i < self->active_count; i++)
			change[body] =
				spatial_mul_add(change[body], response[i][body], self->amount[i]);
	}
}

static void move(struct rig *self, const struct spatial change[2])
{
	double turn = scalar_max(vec3_length(change[0].angular), vec3_length(change[1].angular));
	double part = turn > TURN_MAX ? TURN_MAX / turn : 1;
	for (uint32_t body = 0; body < 2; body++) {
		struct body_motion *motion = self->motions[body];
		vec3 by = vec3_scale(change[body].angular, part);
		motion->centre = vec3_mul_add(motion->centre, change[body].linear, part);
		if (vec3_length_squared(by) > 0)
			motion->rotation = quat_normalize(
				quat_mul(quat_from_rotation_vector(by), motion->rotation));
	}
}

/* A limit that was passed is held from then on: of two that are put right in turn, each would be
 * passed again by putting the other right. Unless the other end of its axis is passed. */
static void hold_limit(const struct rig *self, uint32_t row, bool held[JOINT_ROWS_MAX])
{
	uint32_t other = self->places[row] % JOINT_PARTS == JOINT_HOLD ? row + 1 : row - 1;
	if (self->rows[row].gap >= 0)
		return;
	held[row] = true;
	if (other < self->count && is_limit(self, other) &&
	    self->places[other] / JOINT_PARTS == self->places[row] / JOINT_PARTS)
		held[other] = false;
}

/* With or without limits. */
static void project_poses(struct rig *self, bool limits)
{
	bool held[JOINT_ROWS_MAX] = { false };
	for (uint32_t round = 0; round < ROUNDS; round++) {
		double worst = 0;
		struct spatial change[2];
		state_rows(self, CONSTRAINT_POSITION);
		self->active_count = 0;
		for (uint32_t i = 0; i < self->count && limits; i++)
			if (is_limit(self, i))
				hold_limit(self, i, held);
		for (uint32_t i = 0; i < self->count; i++)
			if (held[i] || (binds(self, i) && !is_limit(self, i))) {
				take(self, i, self->rows[i].gap);
				worst = scalar_max(worst, scalar_abs(self->rows[i].gap));
			}
		if (worst < GOOD)
			return;
		find_change(self, change);
		move(self, change);
	}
}

/* First what is locked; then also limits that close then. */
static void project_velocities(struct rig *self)
{
	bool closes[JOINT_ROWS_MAX] = { false };
	for (uint32_t round = 0; round < CLOSINGS; round++) {
		bool more = round < 2; /* the second takes away what rounding left of the first */
		struct spatial change[2];
		state_rows(self, CONSTRAINT_VELOCITY);
		self->active_count = 0;
		for (uint32_t i = 0; i < self->count; i++) {
			const struct constraint_row *row = &self->rows[i];
			if (!binds(self, i))
				continue;
			if (round > 0 && is_limit(self, i) && !closes[i] && row->gap <= AT_LIMIT &&
			    row->approach < 0)
				closes[i] = more = true;
			if (!is_limit(self, i) || closes[i])
				take(self, i, row->approach);
		}
		if (!more)
			return;
		find_change(self, change);
		for (uint32_t body = 0; body < 2; body++) {
			struct body_motion *motion = self->motions[body];
			motion->velocity = vec3_add(motion->velocity, change[body].linear);
			motion->angular_velocity =
				vec3_add(motion->angular_velocity, change[body].angular);
		}
	}
}

struct joint_error joint_project(const struct joint *self, const struct mass_body masses[2],
				 struct body_motion *a, struct body_motion *b)
{
	struct rig rig = { .constraint = { &constraint_joint, 0, 1, 0, self },
			   .motions = { a, b },
			   .masses = masses,
			   .from = { a->rotation, b->rotation } };
	rig.count = joint_places(self, rig.places);
	/* Where the joint does not hold, its angles may say little. */
	project_poses(&rig, false);
	project_poses(&rig, true);
	project_velocities(&rig);
	return joint_error(self, a, b);
}
