/* soft_hard.c: hard islands: a heavy body on light ones, solved directly.
 *
 * Sweeps carry a load through a light body by at most its own mass at a time: under a load of a thousand
 * times its mass it takes a thousand sweeps, in which it is pressed flat; and a soft contact whose spring
 * fits the light body's mass gives way to the heavy one. An island is *hard* if two of its bodies that meet
 * differ in mass by more than HARD_RATIO and the light one meets another body too (a pebble on a box presses
 * nothing flat), if it has at most HARD_ROWS rows, and neither joints nor rough
 * manifolds (soft_rough). After each sweep the normal impulses of all its points are solved for exactly, in
 * double and without springs:
 *
 *   w = A λ + q ≥ 0,  λ ≥ 0,  λ w = 0,   A = J M⁻¹ Jᵀ,   q = J v − A λ₀ + bias
 *
 * with the bias of the sweep, v and λ₀ as the sweep leaves them. In relaxation friction is solved for with
 * them: two tangents and a twist a manifold, w = 0 between bounds from the normal impulses before. The
 * first tangent is along the sweep's friction, which is in the cone, and the second has what is left beside
 * it, so that the bounds act as the cone does. With soft_step.energy it is solved for before
 * bodies move, too. A is a little larger than J M⁻¹ Jᵀ on its diagonal, so that
 * the four points of a face share their load in one way. Larger islands are swept only.
 */
#include "server/engine/methods/soft_step.h"

#include "server/base/union_find.h"
#include "server/engine/dynamics/locks.h"
#include "server/engine/solvers/lcp_dantzig.h"

#include <float.h>
#include <string.h>

enum {
	HARD_ROWS = 224,   /* a tower of thirty boxes, whose tick takes 8 ms */
	HARD_FRICTION = 3, /* rows of friction a manifold */
	HARD_GRAIN = 1,
};

/* Of masses. Measured with a tower of eight boxes: sweeps alone carry a top of 10 times the mass of the
 * others (it sinks 6 mm); one of 30 sinks 15 mm, one of 50 falls. */
#define HARD_RATIO 10.0f

/* Of a diagonal, added to it. Larger: loads sink at a speed of this part of what they would gain; smaller:
 * points that depend on each other share their load by rounding. */
#define COMPLIANCE 1e-7
/* 1, of 1/m. As of the lanes (soft_sides.h). */
#define HELD 1e-4

struct hard_row {
	uint32_t block;
	uint8_t lane, point;
	uint32_t body[2];      /* numbers of soft bodies; 0 for one that is not dynamic */
	vec3 axis, turning[2]; /* J: ∓axis and these, for the bodies as they are listed */
	vec3 answer[2];	       /* I⁻¹ J, of the rotations */
};

struct soft_hard_island {
	uint32_t first, points; /* rows of normals */
	uint32_t friction;	/* first row of friction, HARD_FRICTION for each of */
	uint32_t manifolds;
	uint32_t fallbacks;
	struct lcp_dantzig lcp;
	double *a, *q, *before, *x, *lower, *upper; /* by row; before: impulses of the sweep */
	/* N s, N m s: bounds of friction by row, over its coefficient: of the normal impulses that the last
	 * relaxation found. The sweep's vary too much. */
	double *load;
	uint8_t *state; /* warm start */
};

/* ---- which ------------------------------------------------------------------------------------- */

static bool is_pair(const struct soft_block *block, uint32_t lane)
{
	return (block->writes_a & block->writes_b) >> lane & 1;
}

/* The number of the much lighter body of a lane's two, or 0. */
static uint32_t light_of(const struct soft_block *block, uint32_t lane)
{
	float a = block->mass_inv_a.at[lane], b = block->mass_inv_b.at[lane];
	if (!is_pair(block, lane) || !(a > 0 && b > 0))
		return 0;
	if (a > HARD_RATIO * b)
		return block->body_a[lane];
	return b > HARD_RATIO * a ? block->body_b[lane] : 0;
}

static bool has_hard_pair(const struct soft_step *self)
{
	for (uint32_t b = 0; b < self->block_count; b++)
		for (uint32_t lane = 0; lane < BLOCK_LANES; lane++)
			if (light_of(&self->blocks[b], lane) != 0)
				return true;
	return false;
}

/* The body that a lane's points move: the island they belong to. */
static uint32_t mover_of(const struct soft_block *block, uint32_t lane)
{
	return block->writes_a >> lane & 1 ? block->body_a[lane] : block->body_b[lane];
}

static uint32_t points_of(const struct soft_step *self, const struct soft_block *block,
			  uint32_t lane)
{
	return soft_manifold(&self->clusters, self->step, block->contact[lane])->point_count;
}

static bool is_rough(const struct soft_step *self, uint32_t block, uint32_t lane)
{
	const struct soft_rough *rough = &self->roughs[block];
	return self->blocks[block].rough &&
	       (rough->rolling.at[lane] > 0 || rough->spinning.at[lane] > 0 ||
		rough->has_axis.at[lane] > 0);
}

/* Of an island, by its root. */
struct hard_group {
	uint32_t points, manifolds, island;
	bool hard, swept; /* swept: by sweeps only */
};

/* What a body meets: a number, 0 for one that does not move, or one of these. */
enum { MEETS_NONE = UINT32_MAX, MEETS_SEVERAL = UINT32_MAX - 1 };

static void note_met(uint32_t *meets, uint32_t body, uint32_t other)
{
	if (meets[body] == MEETS_NONE)
		meets[body] = other;
	else if (meets[body] != other)
		meets[body] = MEETS_SEVERAL;
}

static void note_all_met(const struct soft_step *self, uint32_t *meets)
{
	for (uint32_t i = 0; i <= self->body_count; i++)
		meets[i] = MEETS_NONE;
	for (uint32_t b = 0; b < self->block_count; b++)
		for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
			const struct soft_block *block = &self->blocks[b];
			if (block->contact[lane] == DYNAMICS_NONE)
				continue;
			note_met(meets, block->body_a[lane], block->body_b[lane]);
			note_met(meets, block->body_b[lane], block->body_a[lane]);
		}
}

static void group_islands(const struct soft_step *self, uint32_t *above, const uint32_t *meets,
			  struct hard_group *groups)
{
	for (uint32_t i = 0; i <= self->body_count; i++) {
		above[i] = i;
		groups[i] = (struct hard_group){ .island = UINT32_MAX };
	}
	for (uint32_t b = 0; b < self->block_count; b++)
		for (uint32_t lane = 0; lane < BLOCK_LANES; lane++)
			if (is_pair(&self->blocks[b], lane))
				(void)union_find_join(above, self->blocks[b].body_a[lane],
						      self->blocks[b].body_b[lane]);
	for (uint32_t i = 1; i <= self->body_count && self->joints.jointed_of != NULL; i++)
		if (self->joints.jointed_of[i - 1] != 0)
			groups[union_find_root(above, i)].swept = true;
	for (uint32_t i = 1; i <= self->body_count && self->trees.tree_count > 0; i++)
		if (soft_trees_have(&self->trees, i))
			groups[union_find_root(above, i)].swept = true;
	for (uint32_t b = 0; b < self->block_count; b++)
		for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
			const struct soft_block *block = &self->blocks[b];
			if (block->contact[lane] == DYNAMICS_NONE)
				continue;
			struct hard_group *group =
				&groups[union_find_root(above, mover_of(block, lane))];
			group->points += points_of(self, block, lane);
			group->manifolds++;
			uint32_t light = light_of(block, lane);
			group->hard |= light != 0 && meets[light] == MEETS_SEVERAL;
			group->swept |= is_rough(self, b, lane);
		}
}

/* Islands in the order of their roots; returns their number, and the rows of all. */
static uint32_t number_islands(const struct soft_step *self, struct hard_group *groups,
			       uint32_t *rows)
{
	uint32_t count = 0;
	*rows = 0;
	for (uint32_t i = 1; i <= self->body_count; i++) {
		struct hard_group *group = &groups[i];
		uint32_t count_of = group->points + HARD_FRICTION * group->manifolds;
		if (!group->hard || group->swept || count_of > HARD_ROWS)
			continue;
		group->island = count++;
		*rows += count_of;
	}
	return count;
}

enum { HARD_ARRAYS = 6 };

static bool allocate_island(struct arena *scratch, struct soft_hard_island *island)
{
	uint32_t n = island->points + HARD_FRICTION * island->manifolds;
	void *memory = arena_push(scratch, lcp_dantzig_bytes(n));
	double *numbers = ARENA_ARRAY(scratch, double, (size_t)n *(n + HARD_ARRAYS));
	island->state = arena_push_zero(scratch, n);
	if (memory == NULL || numbers == NULL || island->state == NULL)
		return false;
	double **arrays[HARD_ARRAYS] = { &island->q,	 &island->before, &island->x,
					 &island->lower, &island->upper,  &island->load };
	for (uint32_t i = 0; i < HARD_ARRAYS; i++)
		*arrays[i] = numbers + (size_t)n * i;
	island->a = numbers + (size_t)n * HARD_ARRAYS;
	lcp_dantzig_init(&island->lcp, memory, n);
	return true;
}

/* Adds the rows of a manifold to its island. */
static void add_rows(struct soft_hard *hard, struct soft_hard_island *island, struct hard_row row,
		     uint32_t points)
{
	for (uint32_t p = 0; p < points; p++) {
		row.point = (uint8_t)p;
		hard->rows[island->first + island->points++] = row;
	}
	for (uint32_t k = 0; k < HARD_FRICTION; k++)
		hard->rows[island->friction + HARD_FRICTION * island->manifolds + k] = row;
	island->manifolds++;
}

/* Assigns points and manifolds to the rows of their islands, in order of blocks. */
static void fill_rows(struct soft_step *self, uint32_t *above, const struct hard_group *groups)
{
	struct soft_hard *hard = &self->hard;
	for (uint32_t b = 0; b < self->block_count; b++)
		for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
			const struct soft_block *block = &self->blocks[b];
			if (block->contact[lane] == DYNAMICS_NONE)
				continue;
			uint32_t at = groups[union_find_root(above, mover_of(block, lane))].island;
			if (at == UINT32_MAX)
				continue;
			bool moves_a = block->writes_a >> lane & 1,
			     moves_b = block->writes_b >> lane & 1;
			struct hard_row row = { .block = b,
						.lane = (uint8_t)lane,
						.body = { moves_a ? block->body_a[lane] : 0,
							  moves_b ? block->body_b[lane] : 0 } };
			add_rows(hard, &hard->islands[at], row, points_of(self, block, lane));
		}
}

static enum status make_islands(struct soft_step *self)
{
	struct arena *scratch = &self->dynamics->scratch;
	uint32_t *above = ARENA_ARRAY(scratch, uint32_t, self->body_count + 1), rows;
	uint32_t *meets = ARENA_ARRAY(scratch, uint32_t, self->body_count + 1);
	struct hard_group *groups = ARENA_ARRAY(scratch, struct hard_group, self->body_count + 1);
	if (above == NULL || meets == NULL || groups == NULL)
		return STATUS_NO_MEMORY;
	note_all_met(self, meets);
	group_islands(self, above, meets, groups);
	uint32_t count = number_islands(self, groups, &rows);
	struct soft_hard *hard = &self->hard;
	hard->islands = ARENA_ARRAY(scratch, struct soft_hard_island, count);
	hard->rows = ARENA_ARRAY(scratch, struct hard_row, rows);
	if (hard->islands == NULL || hard->rows == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 1, first = 0; i <= self->body_count; i++) {
		if (groups[i].island == UINT32_MAX)
			continue;
		struct soft_hard_island *island = &hard->islands[groups[i].island];
		*island = (struct soft_hard_island){ .first = first,
						     .points = groups[i].points,
						     .friction = first + groups[i].points,
						     .manifolds = groups[i].manifolds };
		first = island->friction + HARD_FRICTION * island->manifolds;
		if (!allocate_island(scratch, island))
			return STATUS_NO_MEMORY;
		island->points = island->manifolds = 0;
	}
	fill_rows(self, above, groups);
	hard->count = count;
	return STATUS_OK;
}

static void measure_loads(const struct soft_step *self, struct soft_hard_island *island);

enum status soft_hard_make(struct soft_step *self, struct reason *why)
{
	self->hard = (struct soft_hard){ 0 };
	if (!has_hard_pair(self))
		return STATUS_OK;
	enum status status = make_islands(self);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "memory",
				  "no memory for the step's hard islands");
	for (uint32_t i = 0; i < self->hard.count; i++)
		measure_loads(self, &self->hard.islands[i]);
	return STATUS_OK;
}

/* ---- solving ----------------------------------------------------------------------------------- */

static vec3 lane_vec3(const struct lane8x3 *from, uint32_t lane)
{
	return vec3_make((double)from->x.at[lane], (double)from->y.at[lane],
			 (double)from->z.at[lane]);
}

static vec3 wide(float4 v)
{
	return vec3_make((double)v[0], (double)v[1], (double)v[2]);
}

static vec3 turn_by(const struct soft_step *self, uint32_t number, vec3 moment)
{
	const struct soft_drive *drive = &self->drives[number];
	const float *t = drive->spins ? self->turns[number].inertia_inv.at : drive->inertia_inv.at;
	sym3 tensor = { (double)t[0], (double)t[1], (double)t[2],
			(double)t[3], (double)t[4], (double)t[5] };
	return sym3_apply(tensor, moment);
}

static const struct soft_block *block_of(const struct soft_step *self, const struct hard_row *row)
{
	return &self->blocks[row->block];
}

static void answer_row(const struct soft_step *self, struct hard_row *row)
{
	for (uint32_t k = 0; k < 2; k++)
		row->answer[k] = row->body[k] == 0 ? vec3_zero()
						   : turn_by(self, row->body[k], row->turning[k]);
}

/* J v by the changes of velocities since the step's start. */
static double speed_change(const struct soft_step *self, const struct hard_row *row)
{
	const struct soft_body *a = &self->bodies[block_of(self, row)->body_a[row->lane]];
	const struct soft_body *b = &self->bodies[block_of(self, row)->body_b[row->lane]];
	return vec3_dot(row->axis, vec3_sub(wide(b->velocity), wide(a->velocity))) +
	       vec3_dot(row->turning[0], wide(a->spin)) + vec3_dot(row->turning[1], wide(b->spin));
}

/* J_i M⁻¹ J_jᵀ. */
static double couple(const struct soft_step *self, const struct hard_row *i,
		     const struct hard_row *j)
{
	double sum = 0;
	for (uint32_t k = 0; k < 2; k++)
		for (uint32_t l = 0; l < 2; l++) {
			if (i->body[k] == 0 || i->body[k] != j->body[l])
				continue;
			const struct soft_drive *drive = &self->drives[i->body[k]];
			double along = vec3_dot(locks_along(drive->locks, i->axis), j->axis) *
				       (double)drive->mass_inv;
			sum += (k == l ? along : -along) + vec3_dot(i->turning[k], j->answer[l]);
		}
	return sum;
}

static void apply_change(const struct soft_step *self, const struct hard_row *row, double change)
{
	for (uint32_t k = 0; k < 2; k++) {
		if (row->body[k] == 0)
			continue;
		struct soft_body *body = &self->bodies[row->body[k]];
		const struct soft_drive *drive = &self->drives[row->body[k]];
		double along = (double)drive->mass_inv * change;
		vec3 v = vec3_scale(locks_along(drive->locks, row->axis), k == 0 ? -along : along);
		vec3 w = vec3_scale(row->answer[k], change);
		body->velocity += (float4){ (float)v.x, (float)v.y, (float)v.z, 0 };
		body->spin += (float4){ (float)w.x, (float)w.y, (float)w.z, 0 };
	}
}

/* 1/kg: added for bodies with locked axes, which may leave a row nothing that moves. */
static double held(const struct soft_step *self, const struct hard_row *row)
{
	double sum = 0;
	ASSERT(row->body[0] <= self->body_count && row->body[1] <= self->body_count);
	for (uint32_t k = 0; k < 2; k++)
		if (row->body[k] != 0 && self->drives[row->body[k]].locks != 0)
			sum += HELD * (double)self->drives[row->body[k]].mass_inv;
	return sum;
}

/* Solves for the impulses of `count` rows, whose q holds J v and bias, and applies their change. False:
 * nothing changed. */
static bool solve_rows(const struct soft_step *self, struct soft_hard_island *island,
		       const struct hard_row *rows, uint32_t count)
{
	double *a = island->a;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j <= i; j++)
			a[i * count + j] = a[j * count + i] = couple(self, &rows[i], &rows[j]);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < count; j++)
			island->q[i] -= a[i * count + j] * island->before[j];
	for (uint32_t i = 0; i < count; i++)
		a[i * count + i] = (1 + COMPLIANCE) * a[i * count + i] + held(self, &rows[i]);
	struct lcp_problem problem = { .count = count,
				       .stride = count,
				       .a = a,
				       .b = island->q,
				       .lower = island->lower,
				       .upper = island->upper };
	struct solver_options options = solver_options_default();
	options.warm = true;
	struct solver_result result =
		lcp_dantzig_solve(&island->lcp, &problem, &options, island->x, island->state);
	if (result.status != SOLVER_SOLVED && result.status != SOLVER_INEXACT) {
		island->fallbacks++; /* the sweep's impulses stay */
		return false;
	}
	for (uint32_t i = 0; i < count; i++)
		apply_change(self, &rows[i], island->x[i] - island->before[i]);
	return true;
}

/* ---- normals ----------------------------------------------------------------------------------- */

static double bias_of(const struct soft_step *self, const struct soft_block *block, double gap,
		      uint32_t lane, bool biased)
{
	if (gap > 0)
		return gap * (double)self->h_inv;
	if (!biased)
		return 0;
	return scalar_max(gap * (double)block->bias_rate.at[lane], -(double)self->push_speed);
}

static void read_normal(const struct soft_step *self, struct soft_hard_island *island,
			struct hard_row *row, uint32_t i, bool biased)
{
	const struct soft_block *block = block_of(self, row);
	const struct soft_point *point = &block->points[row->point];
	row->axis = lane_vec3(&block->normal, row->lane);
	row->turning[0] = vec3_scale(lane_vec3(&point->j_a, row->lane), -1);
	row->turning[1] = lane_vec3(&point->j_b, row->lane);
	answer_row(self, row);
	island->before[i] = (double)point->impulse.at[row->lane];
	island->lower[i] = 0;
	island->upper[i] = __builtin_inf();
	island->q[i] = (double)point->approach.at[row->lane] + speed_change(self, row) +
		       bias_of(self, block, (double)point->gap.at[row->lane], row->lane, biased);
}

static void store_normals(struct soft_step *self, const struct soft_hard_island *island,
			  bool biased)
{
	const struct hard_row *rows = &self->hard.rows[island->first];
	for (uint32_t i = 0; i < island->points; i++) {
		struct soft_block *block = &self->blocks[rows[i].block];
		struct soft_point *point = &block->points[rows[i].point];
		uint32_t lane = rows[i].lane;
		point->impulse.at[lane] = (float)island->x[i];
		if (!biased)
			point->total.at[lane] += (float)(island->x[i] - island->before[i]);
		block->pushed.at[lane] = MAX_OF(block->pushed.at[lane], point->impulse.at[lane]);
	}
}

/* ---- friction ---------------------------------------------------------------------------------- */

/* The friction of a manifold: its frame, rotated by an angle of which these are cosine and sine. */
static void friction_frame(const struct soft_block *block, uint32_t lane, double *c, double *s)
{
	double x = (double)block->tangent_impulse[0].at[lane];
	double y = (double)block->tangent_impulse[1].at[lane], length = scalar_sqrt(x * x + y * y);
	*c = length > 0 ? x / length : 1;
	*s = length > 0 ? y / length : 0;
}

/* Sums the normal impulses for the bounds of friction. */
static void measure_loads(const struct soft_step *self, struct soft_hard_island *island)
{
	const struct hard_row *rows = &self->hard.rows[island->first];
	uint32_t count = island->points + HARD_FRICTION * island->manifolds;
	for (uint32_t i = island->points; i < count; i += HARD_FRICTION) {
		const struct soft_block *block = block_of(self, &rows[i]);
		double load = 0, moment = 0;
		for (uint32_t p = 0; p < block->point_count; p++) {
			double impulse = (double)block->points[p].impulse.at[rows[i].lane];
			load += impulse;
			moment += impulse * (double)block->points[p].lever.at[rows[i].lane];
		}
		island->load[i] = island->load[i + 1] = load;
		island->load[i + 2] = moment;
	}
}

/* 1. Of the bound of friction: the least bound across its direction, in which that may turn. */
#define TURN_LEAST 0.1

/* The bound across the present friction: what the cone leaves beside that. */
static double across_of(double most, double along)
{
	double rest = most * most - along * along, least = TURN_LEAST * most;
	return scalar_max(scalar_sqrt(scalar_max(rest, 0)), least);
}

static void read_friction(const struct soft_step *self, struct soft_hard_island *island,
			  struct hard_row *rows, uint32_t i)
{
	const struct soft_block *block = block_of(self, &rows[i]);
	uint32_t lane = rows[i].lane;
	double c, s, mu = (double)block->friction.at[lane];
	friction_frame(block, lane, &c, &s);
	vec3 n = lane_vec3(&block->normal, lane), t1 = lane_vec3(&block->tangent, lane);
	vec3 t2 = vec3_cross(n, t1);
	vec3 arm_a = lane_vec3(&block->arm_a, lane), arm_b = lane_vec3(&block->arm_b, lane);
	double slip[2] = { (double)block->slip[0].at[lane], (double)block->slip[1].at[lane] };
	double impulse[2] = { (double)block->tangent_impulse[0].at[lane],
			      (double)block->tangent_impulse[1].at[lane] };
	for (uint32_t k = 0; k < HARD_FRICTION; k++) {
		struct hard_row *row = &rows[i + k];
		double along1 = k == 0 ? c : -s, along2 = k == 0 ? s : c;
		bool twists = k == 2;
		row->axis = twists ? vec3_zero() : vec3_mul_add(vec3_scale(t1, along1), t2, along2);
		row->turning[0] = vec3_scale(twists ? n : vec3_cross(arm_a, row->axis), -1);
		row->turning[1] = twists ? n : vec3_cross(arm_b, row->axis);
		answer_row(self, row);
		double start = twists ? (double)block->spin_slip.at[lane]
				      : slip[0] * along1 + slip[1] * along2;
		island->before[i + k] = twists ? (double)block->twist_impulse.at[lane]
					       : impulse[0] * along1 + impulse[1] * along2;
		double most = mu * island->load[i + k];
		if (k == 1)
			most = across_of(most, island->before[i]);
		island->upper[i + k] = most;
		island->lower[i + k] = -island->upper[i + k];
		island->q[i + k] = start + speed_change(self, row);
	}
}

static void store_friction(struct soft_step *self, const struct soft_hard_island *island,
			   bool biased)
{
	const struct hard_row *rows = &self->hard.rows[island->first];
	uint32_t count = island->points + HARD_FRICTION * island->manifolds;
	for (uint32_t i = island->points; i < count; i += HARD_FRICTION) {
		struct soft_block *block = &self->blocks[rows[i].block];
		uint32_t lane = rows[i].lane;
		double c, s;
		friction_frame(block, lane, &c, &s);
		const double *x = &island->x[i];
		float after[2] = { (float)(c * x[0] - s * x[1]), (float)(s * x[0] + c * x[1]) };
		for (uint32_t k = 0; k < 2; k++) {
			if (!biased)
				block->tangent_total[k].at[lane] +=
					after[k] - block->tangent_impulse[k].at[lane];
			block->tangent_impulse[k].at[lane] = after[k];
		}
		block->twist_impulse.at[lane] = (float)x[2];
		/* Of friction alone: both bodies leave their free paths. */
		bool acts = after[0] != 0 || after[1] != 0 || x[2] != 0;
		if (self->energy && acts && !(block->pushed.at[lane] > 0))
			block->pushed.at[lane] = FLT_MIN;
	}
}

/* The part of an impulse x that a bound leaves. */
static double part_within(double x, double most)
{
	double size = scalar_abs(x);
	return size > most ? scalar_max(most, 0) / size : 1;
}

/* m/s, rad/s: where nothing slips by more, and friction changes no slip by more, that is left to
 * relaxation, so that towers at rest cost one solution less. Larger: light bodies between heavy ones gain
 * energy. */
#define FRICTION_IDLE 1e-3

/* Whether the friction of a manifold, row i and the next two, is idle: of rows that have been read. */
static bool is_idle(const struct soft_step *self, const struct soft_hard_island *island, uint32_t i)
{
	const struct hard_row *row = &self->hard.rows[island->first + i];
	const struct soft_block *block = block_of(self, row);
	const struct lane8 *mass[HARD_FRICTION] = { &block->tangent_mass[0],
						    &block->tangent_mass[1], &block->twist_mass };
	bool idle = true;
	for (uint32_t k = 0; k < HARD_FRICTION; k++) {
		double most = FRICTION_IDLE * (double)mass[k]->at[row->lane];
		idle &= scalar_abs(island->q[i + k]) <= FRICTION_IDLE &&
			scalar_abs(island->before[i + k]) <= most;
	}
	return idle;
}

/* Takes back what friction of the warm start exceeds its bounds by the present loads. False: all of it is
 * idle. */
static bool release_friction(struct soft_step *self, struct soft_hard_island *island)
{
	struct hard_row *rows = &self->hard.rows[island->first];
	uint32_t count = island->points + HARD_FRICTION * island->manifolds;
	bool idle = true;
	measure_loads(self, island);
	for (uint32_t i = island->points; i < count; i += HARD_FRICTION) {
		read_friction(self, island, rows, i);
		idle &= is_idle(self, island, i);
	}
	for (uint32_t i = island->points; i < count && !idle; i += HARD_FRICTION) {
		struct soft_block *block = &self->blocks[rows[i].block];
		uint32_t lane = rows[i].lane;
		double mu = (double)block->friction.at[lane];
		double along = part_within(island->before[i], mu * island->load[i]);
		double twist = part_within(island->before[i + 2], mu * island->load[i + 2]);
		apply_change(self, &rows[i], island->before[i] * (along - 1));
		apply_change(self, &rows[i + 2], island->before[i + 2] * (twist - 1));
		block->tangent_impulse[0].at[lane] *= (float)along;
		block->tangent_impulse[1].at[lane] *= (float)along;
		block->twist_impulse.at[lane] *= (float)twist;
	}
	return !idle;
}

/* Solves for the normal impulses of an island. False: they are as they were. */
static bool solve_normals(struct soft_step *self, struct soft_hard_island *island)
{
	struct hard_row *rows = &self->hard.rows[island->first];
	for (uint32_t i = 0; i < island->points; i++)
		read_normal(self, island, &rows[i], i, true);
	if (!solve_rows(self, island, rows, island->points))
		return false;
	store_normals(self, island, true);
	return true;
}

/* Solves for all impulses of an island, friction within the loads of the last solution. */
static void solve_island(struct soft_step *self, struct soft_hard_island *island, bool biased)
{
	struct hard_row *rows = &self->hard.rows[island->first];
	uint32_t count = island->points + HARD_FRICTION * island->manifolds;
	for (uint32_t i = 0; i < island->points; i++)
		read_normal(self, island, &rows[i], i, biased);
	for (uint32_t i = island->points; i < count; i += HARD_FRICTION)
		read_friction(self, island, rows, i);
	if (!solve_rows(self, island, rows, count))
		return;
	store_normals(self, island, biased);
	store_friction(self, island, biased);
	measure_loads(self, island);
}

/* Before bodies move. With friction of the warm start alone a light body would move for a sub-step with the
 * friction of a load that it has no more, which may be 10⁵ times its momentum, and what takes that back
 * later acts on other arms. Friction within its bounds is no sign of the contrary: stale friction makes the
 * loads that would bear it. */
static void solve_biased(struct soft_step *self, struct soft_hard_island *island)
{
	if (solve_normals(self, island) && self->energy && release_friction(self, island))
		solve_island(self, island, true);
}

struct hard_work {
	struct soft_step *step;
	bool biased;
};

static void hard_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct hard_work *work = context;
	for (uint32_t i = first; i < last; i++) {
		struct soft_hard_island *island = &work->step->hard.islands[i];
		if (work->biased)
			solve_biased(work->step, island);
		else
			solve_island(work->step, island, false);
	}
}

void soft_hard_solve(struct soft_step *self, bool biased)
{
	struct hard_work work = { self, biased };
	parallel_run(self->dynamics->parallel, self->hard.count, HARD_GRAIN, hard_piece, &work);
}

void soft_hard_report(const struct soft_step *self)
{
	self->dynamics->report.islands_dense = self->hard.count;
	for (uint32_t i = 0; i < self->hard.count; i++)
		self->dynamics->report.fallbacks += self->hard.islands[i].fallbacks;
}
