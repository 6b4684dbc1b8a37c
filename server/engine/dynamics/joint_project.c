/* joint_project.c: projection of two bodies onto the positions and velocities that satisfy a joint
 * (spec A2, A3).
 *
 * Newton in the metric of mass: the motion of least ½ Δᵀ M Δ that makes the violated rows zero.
 * Rows are of position level, so each round has the exact J; a few rounds reach rounding. Rows may
 * be linearly dependent or move nothing: G = J M⁻¹ Jᵀ, its diagonal scaled to 1, is factored with
 * the largest pivot first, and rows without a pivot are skipped.
 */
#include "server/engine/dynamics/joint.h"

enum {
	ROWS = 2 * JOINT_AXES, /* an axis is locked, or at one or both of its limits */
	ROUNDS = 20,
	CLOSINGS = 4, /* rounds for limits that begin to close when others stop */
};
/* 1, of the scaled diagonal. A pivot that is no larger counts as zero: the row depends on those
 * before. */
#define RANK 1e-12
#define GOOD 1e-12    /* m, rad: Newton ends below this error */
#define AT_LIMIT 1e-9 /* m, rad: a limit is reached within this gap */
#define TURN_MAX                                                                                   \
	1 /* rad: the largest turn of one round, because the linear step of a larger one overshoots */

/* A joint being projected. */
struct joint_projection {
	struct constraint constraint;
	struct body_motion *motions[2];
	const struct mass_body *masses;
	quat from[2]; /* the rotations at which `masses` holds */
	uint32_t count;
	uint8_t places[JOINT_ROWS_MAX];
	struct constraint_row rows[JOINT_ROWS_MAX];
	struct row_block blocks[JOINT_ROWS_MAX];
	struct row_part parts[2 * JOINT_ROWS_MAX];
	/* The rows that are to become zero, and their present gaps or speeds. */
	uint32_t active_count;
	uint32_t active[ROWS];
	double amount[ROWS];
};

static void write_rows(struct joint_projection *self, enum constraint_level level)
{
	struct constraint_options options = { .level = level };
	struct row_list list = { self->rows,	 self->blocks,	 self->parts,	    0, 0, 0,
				 JOINT_ROWS_MAX, JOINT_ROWS_MAX, 2 * JOINT_ROWS_MAX };
	constraint_joint.rows(&self->constraint, 0, self->motions[0], self->motions[1], &options,
			      &list);
	ASSERT(list.row_count == self->count);
}

static bool is_limit(const struct joint_projection *self, uint32_t row)
{
	ASSERT(row < self->count);
	return self->rows[row].set == ROW_POSITIVE;
}

/* True for rows of locked axes and of limits. */
static bool is_bound_row(const struct joint_projection *self, uint32_t row)
{
	ASSERT(row < self->count);
	return joint_place_part(self->places[row]) <= JOINT_UPPER;
}

static void activate_row(struct joint_projection *self, uint32_t row, double amount)
{
	ASSERT(self->active_count < ROWS);
	self->active[self->active_count] = row;
	self->amount[self->active_count++] = amount;
}

/* M⁻¹ times a force on body 0 or 1 at its present rotation. A body with locked turning turns about
 * one fixed axis or none, so its inverse inertia in world axes is constant. */
static struct spatial find_response(const struct joint_projection *self, uint32_t body,
				    struct spatial force)
{
	ASSERT(body < 2);
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
	ASSERT(n <= ROWS);
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
		/* Columns of L are stored below the pivots. Both halves of the remaining matrix are
		 * updated by the same operations, which keeps it symmetric. */
		for (uint32_t i = rank + 1; i < n; i++) {
			uint32_t r = order[i];
			double l = g[r][p] / g[p][p];
			for (uint32_t j = rank + 1; j < n; j++)
				g[r][order[j]] -= l * g[p][order[j]];
		}
	}
	ASSERT(rank <= n);
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

/* The changes M⁻¹ Jᵀ x of both bodies that make the active rows zero, to first order. */
static void solve_change(struct joint_projection *self, struct spatial change[2])
{
	double g[ROWS][ROWS];
	struct spatial response[ROWS][2];
	for (uint32_t i = 0; i < self->active_count; i++)
		for (uint32_t body = 0; body < 2; body++)
			response[i][body] = find_response(
				self, body, self->rows[self->active[i]].j.parts[body].on);
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

static void move_bodies(struct joint_projection *self, const struct spatial change[2])
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

/* A limit that was passed is a locked row from then on, because correcting two limits in turn would
 * violate each again. It is released if the other limit of its axis is passed. */
static void hold_limit(const struct joint_projection *self, uint32_t row, bool held[JOINT_ROWS_MAX])
{
	ASSERT(is_limit(self, row));
	uint32_t other = joint_place_part(self->places[row]) == JOINT_HOLD ? row + 1 : row - 1;
	if (self->rows[row].gap >= 0)
		return;
	held[row] = true;
	if (other < self->count && is_limit(self, other) &&
	    joint_place_axis(self->places[other]) == joint_place_axis(self->places[row]))
		held[other] = false;
}

/* Newton over the locked axes, and over the limits that are passed if `limits`. */
static void project_poses(struct joint_projection *self, bool limits)
{
	bool held[JOINT_ROWS_MAX] = { false };
	for (uint32_t round = 0; round < ROUNDS; round++) {
		double worst = 0;
		struct spatial change[2];
		write_rows(self, CONSTRAINT_POSITION);
		self->active_count = 0;
		for (uint32_t i = 0; i < self->count && limits; i++)
			if (is_limit(self, i))
				hold_limit(self, i, held);
		for (uint32_t i = 0; i < self->count; i++)
			if (held[i] || (is_bound_row(self, i) && !is_limit(self, i))) {
				activate_row(self, i, self->rows[i].gap);
				worst = scalar_max(worst, scalar_abs(self->rows[i].gap));
			}
		if (worst < GOOD)
			return;
		solve_change(self, change);
		move_bodies(self, change);
	}
}

/* Locked axes first; then also the limits that are reached and closing. */
static void project_velocities(struct joint_projection *self)
{
	bool closes[JOINT_ROWS_MAX] = { false };
	for (uint32_t round = 0; round < CLOSINGS; round++) {
		bool more =
			round < 2; /* the second round removes the rounding error of the first */
		struct spatial change[2];
		write_rows(self, CONSTRAINT_VELOCITY);
		self->active_count = 0;
		for (uint32_t i = 0; i < self->count; i++) {
			const struct constraint_row *row = &self->rows[i];
			if (!is_bound_row(self, i))
				continue;
			if (round > 0 && is_limit(self, i) && !closes[i] && row->gap <= AT_LIMIT &&
			    row->approach < 0)
				closes[i] = more = true;
			if (!is_limit(self, i) || closes[i])
				activate_row(self, i, row->approach);
		}
		if (!more)
			return;
		solve_change(self, change);
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
	ASSERT(a != b);
	struct joint_projection work = { .constraint = { &constraint_joint, 0, 1, 0, self },
					 .motions = { a, b },
					 .masses = masses,
					 .from = { a->rotation, b->rotation } };
	work.count = joint_places(self, work.places);
	/* Locked axes first, because angles mean little while the joint is far from satisfied. */
	project_poses(&work, false);
	project_poses(&work, true);
	project_velocities(&work);
	return joint_error(self, a, b);
}
