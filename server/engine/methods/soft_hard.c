/* soft_hard.c: hard islands: a heavy body on light ones, solved directly.
 *
 * Sweeps carry a load through a light body by at most its own mass at a time: under a load of a thousand
 * times its mass it takes a thousand sweeps, in which it is pressed flat; and a soft contact whose spring
 * fits the light body's mass gives way to the heavy one. An island is *hard* if two of its bodies that meet
 * differ in mass by more than HARD_RATIO, if it has at most HARD_ROWS points, and no joints. After each
 * sweep the normal impulses of all its points are solved for exactly, in double and without springs:
 *
 *   w = A λ + q ≥ 0,  λ ≥ 0,  λ w = 0,   A = J M⁻¹ Jᵀ,   q = J v − A λ₀ + bias
 *
 * with the bias of the sweep, v and λ₀ as the sweep leaves them. Friction stays with the sweeps, bounded by
 * these impulses. A is a little larger than that on its diagonal, so that the four points of a face share
 * their load in one way. Larger islands are swept only.
 */
#include "server/engine/methods/soft_step.h"
#include "server/engine/solvers/lcp_dantzig.h"

#include <string.h>

enum {
	HARD_ROWS = 64, /* a step of 64 takes about as long as sweeps over a thousand contacts */
	HARD_GRAIN = 1,
};

/* Of masses. Measured with a tower of eight boxes: sweeps alone carry a top of 10 times the mass of the
 * others (it sinks 6 mm), not one of 30. */
#define HARD_RATIO 10.0f

/* Of a diagonal, added to it. Larger: loads sink at a speed of this part of what they would gain; smaller:
 * points that depend on each other share their load by rounding. */
#define COMPLIANCE 1e-7

struct hard_row {
	uint32_t block;
	uint8_t lane, point;
	uint32_t body[2]; /* numbers of soft bodies; 0 for one that is not dynamic */
	vec3 normal, turning[2]; /* J: ∓n and these, for the bodies as they are listed */
	vec3 answer[2];		 /* I⁻¹ J, of the rotations */
};

struct soft_hard_island {
	uint32_t first, count; /* rows */
	uint32_t fallbacks;
	struct lcp_dantzig lcp;
	double *a, *q, *before, *x;
	uint8_t *state;
};

/* ---- which ------------------------------------------------------------------------------------- */

static bool is_pair(const struct soft_block *block, uint32_t lane)
{
	return (block->writes_a & block->writes_b) >> lane & 1;
}

static bool is_hard(const struct soft_block *block, uint32_t lane)
{
	float a = block->mass_inv_a.at[lane], b = block->mass_inv_b.at[lane];
	return is_pair(block, lane) && (a > HARD_RATIO * b || b > HARD_RATIO * a) && a > 0 && b > 0;
}

static bool has_hard_pair(const struct soft_step *self)
{
	for (uint32_t b = 0; b < self->block_count; b++)
		for (uint32_t lane = 0; lane < BLOCK_LANES; lane++)
			if (is_hard(&self->blocks[b], lane))
				return true;
	return false;
}

/* Union-find over soft bodies; a root has the least number of its island. */
static uint32_t root_of(uint32_t *above, uint32_t number)
{
	while (above[number] != number) {
		above[number] = above[above[number]];
		number = above[number];
	}
	return number;
}

static void join(uint32_t *above, uint32_t a, uint32_t b)
{
	a = root_of(above, a);
	b = root_of(above, b);
	above[MAX_OF(a, b)] = MIN_OF(a, b);
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

/* Of an island, by its root. */
struct hard_group {
	uint32_t points, island;
	bool hard, jointed;
};

static void group_islands(const struct soft_step *self, uint32_t *above, struct hard_group *groups)
{
	for (uint32_t i = 0; i <= self->body_count; i++) {
		above[i] = i;
		groups[i] = (struct hard_group){ .island = UINT32_MAX };
	}
	for (uint32_t b = 0; b < self->block_count; b++)
		for (uint32_t lane = 0; lane < BLOCK_LANES; lane++)
			if (is_pair(&self->blocks[b], lane))
				join(above, self->blocks[b].body_a[lane],
				     self->blocks[b].body_b[lane]);
	for (uint32_t i = 1; i <= self->body_count && self->joints.jointed_of != NULL; i++)
		if (self->joints.jointed_of[i - 1] != 0)
			groups[root_of(above, i)].jointed = true;
	for (uint32_t b = 0; b < self->block_count; b++)
		for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
			const struct soft_block *block = &self->blocks[b];
			if (block->contact[lane] == DYNAMICS_NONE)
				continue;
			struct hard_group *group = &groups[root_of(above, mover_of(block, lane))];
			group->points += points_of(self, block, lane);
			group->hard |= is_hard(block, lane);
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
		if (!group->hard || group->jointed || group->points > HARD_ROWS)
			continue;
		group->island = count++;
		*rows += group->points;
	}
	return count;
}

static bool allocate_island(struct arena *scratch, struct soft_hard_island *island)
{
	uint32_t n = island->count;
	void *memory = arena_push(scratch, lcp_dantzig_bytes(n));
	island->a = ARENA_ARRAY(scratch, double, (size_t)n * n);
	island->q = ARENA_ARRAY(scratch, double, n);
	island->before = ARENA_ARRAY(scratch, double, n);
	island->x = ARENA_ARRAY(scratch, double, n);
	island->state = arena_push_zero(scratch, n);
	if (memory == NULL || island->a == NULL || island->q == NULL || island->before == NULL ||
	    island->x == NULL || island->state == NULL)
		return false;
	lcp_dantzig_init(&island->lcp, memory, n);
	return true;
}

/* Assigns the points to the rows of their islands, in order of blocks. */
static void fill_rows(struct soft_step *self, uint32_t *above, const struct hard_group *groups)
{
	struct soft_hard *hard = &self->hard;
	for (uint32_t b = 0; b < self->block_count; b++)
		for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
			const struct soft_block *block = &self->blocks[b];
			if (block->contact[lane] == DYNAMICS_NONE)
				continue;
			uint32_t at = groups[root_of(above, mover_of(block, lane))].island;
			if (at == UINT32_MAX)
				continue;
			struct soft_hard_island *island = &hard->islands[at];
			uint32_t points = points_of(self, block, lane);
			for (uint32_t p = 0; p < points; p++)
				hard->rows[island->first + island->count++] = (struct hard_row){
					.block = b,
					.lane = (uint8_t)lane,
					.point = (uint8_t)p,
					.body = { block->writes_a >> lane & 1 ? block->body_a[lane] : 0,
						  block->writes_b >> lane & 1 ? block->body_b[lane] : 0 },
				};
		}
}

static enum status make_islands(struct soft_step *self)
{
	struct arena *scratch = &self->dynamics->scratch;
	uint32_t *above = ARENA_ARRAY(scratch, uint32_t, self->body_count + 1), rows;
	struct hard_group *groups =
		ARENA_ARRAY(scratch, struct hard_group, self->body_count + 1);
	if (above == NULL || groups == NULL)
		return STATUS_NO_MEMORY;
	group_islands(self, above, groups);
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
		*island = (struct soft_hard_island){ .first = first, .count = groups[i].points };
		first += groups[i].points;
		if (!allocate_island(scratch, island))
			return STATUS_NO_MEMORY;
		island->count = 0;
	}
	fill_rows(self, above, groups);
	hard->count = count;
	return STATUS_OK;
}

enum status soft_hard_make(struct soft_step *self, struct reason *why)
{
	self->hard = (struct soft_hard){ 0 };
	if (!has_hard_pair(self))
		return STATUS_OK;
	enum status status = make_islands(self);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "memory", "no memory for the step's hard islands");
	return STATUS_OK;
}

/* ---- solving ----------------------------------------------------------------------------------- */

static vec3 lane_vec3(const struct lane8x3 *from, uint32_t lane)
{
	return vec3_make((double)from->x.at[lane], (double)from->y.at[lane],
			 (double)from->z.at[lane]);
}

static vec3 wide(lanes v)
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

/* J and its answers, from the lanes as they are now. */
static void read_row(const struct soft_step *self, struct hard_row *row)
{
	const struct soft_block *block = &self->blocks[row->block];
	const struct soft_point *point = &block->points[row->point];
	row->normal = lane_vec3(&block->normal, row->lane);
	row->turning[0] = vec3_scale(lane_vec3(&point->j_a, row->lane), -1);
	row->turning[1] = lane_vec3(&point->j_b, row->lane);
	for (uint32_t k = 0; k < 2; k++)
		row->answer[k] = row->body[k] == 0 ? vec3_zero()
						   : turn_by(self, row->body[k], row->turning[k]);
}

static double row_speed(const struct soft_step *self, const struct hard_row *row)
{
	const struct soft_block *block = &self->blocks[row->block];
	double speed = (double)block->points[row->point].approach.at[row->lane];
	const struct soft_body *a = &self->bodies[block->body_a[row->lane]];
	const struct soft_body *b = &self->bodies[block->body_b[row->lane]];
	speed += vec3_dot(row->normal, vec3_sub(wide(b->velocity), wide(a->velocity)));
	return speed + vec3_dot(row->turning[0], wide(a->spin)) +
	       vec3_dot(row->turning[1], wide(b->spin));
}

static double row_bias(const struct soft_step *self, const struct hard_row *row, bool biased)
{
	const struct soft_block *block = &self->blocks[row->block];
	double gap = (double)block->points[row->point].gap.at[row->lane];
	if (gap > 0)
		return gap * (double)self->h_inv;
	if (!biased)
		return 0;
	return scalar_max(gap * (double)block->bias_rate.at[row->lane], -(double)self->push_speed);
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
			double along = vec3_dot(i->normal, j->normal) *
				       (double)self->drives[i->body[k]].mass_inv;
			sum += (k == l ? along : -along) + vec3_dot(i->turning[k], j->answer[l]);
		}
	return sum;
}

/* A λ + q = w. */
static void make_problem(const struct soft_step *self, struct soft_hard_island *island,
			 struct hard_row *rows, bool biased)
{
	uint32_t n = island->count;
	for (uint32_t i = 0; i < n; i++) {
		const struct soft_block *block = &self->blocks[rows[i].block];
		read_row(self, &rows[i]);
		island->before[i] = (double)block->points[rows[i].point].impulse.at[rows[i].lane];
		for (uint32_t j = 0; j <= i; j++)
			island->a[i * n + j] = island->a[j * n + i] =
				couple(self, &rows[i], &rows[j]);
	}
	for (uint32_t i = 0; i < n; i++) {
		double q = row_speed(self, &rows[i]) + row_bias(self, &rows[i], biased);
		for (uint32_t j = 0; j < n; j++)
			q -= island->a[i * n + j] * island->before[j];
		island->q[i] = q;
	}
	for (uint32_t i = 0; i < n; i++)
		island->a[i * n + i] *= 1 + COMPLIANCE;
}

static void apply_change(const struct soft_step *self, const struct hard_row *row, double change)
{
	for (uint32_t k = 0; k < 2; k++) {
		if (row->body[k] == 0)
			continue;
		struct soft_body *body = &self->bodies[row->body[k]];
		double along = (double)self->drives[row->body[k]].mass_inv * change;
		vec3 v = vec3_scale(row->normal, k == 0 ? -along : along);
		vec3 w = vec3_scale(row->answer[k], change);
		body->velocity += (lanes){ (float)v.x, (float)v.y, (float)v.z, 0 };
		body->spin += (lanes){ (float)w.x, (float)w.y, (float)w.z, 0 };
	}
}

static void store_impulses(const struct soft_step *self, const struct soft_hard_island *island,
			   const struct hard_row *rows, bool biased)
{
	for (uint32_t i = 0; i < island->count; i++) {
		struct soft_block *block = &self->blocks[rows[i].block];
		struct soft_point *point = &block->points[rows[i].point];
		uint32_t lane = rows[i].lane;
		double change = island->x[i] - island->before[i];
		apply_change(self, &rows[i], change);
		point->impulse.at[lane] = (float)island->x[i];
		if (!biased)
			point->total.at[lane] += (float)change;
		block->pushed.at[lane] = MAX_OF(block->pushed.at[lane], point->impulse.at[lane]);
	}
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
		struct hard_row *rows = &work->step->hard.rows[island->first];
		make_problem(work->step, island, rows, work->biased);
		struct lcp_problem problem = { .count = island->count,
					       .stride = island->count,
					       .a = island->a,
					       .b = island->q };
		struct solver_options options = solver_options_default();
		options.warm = true;
		struct solver_result result = lcp_dantzig_solve(&island->lcp, &problem, &options,
								island->x, island->state);
		if (result.status == SOLVER_SOLVED || result.status == SOLVER_INEXACT)
			store_impulses(work->step, island, rows, work->biased);
		else
			island->fallbacks++; /* the sweep's impulses stay */
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
