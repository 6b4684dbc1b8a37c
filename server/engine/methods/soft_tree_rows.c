/* soft_tree_rows.c: contacts of links.
 *
 * A row with J on a link gives it the force f = Jᵀ λ, which goes up to the root and leaves a part on
 * each axis:
 *
 *   e = sᵀ f,  f ← f − A s e/m     J M⁻¹ Jᵀ = Σ e²/m,  J v = J v₀ + Σ (e/√m) x,  x ← x + (e/√m) λ
 *
 * so a row reads and writes one number x for each axis between its links and their roots, and sees
 * the mass of the whole tree. Bodies beside the links are moved as ever. Manifolds are in lanes of
 * blocks as all others (soft_prepare.c), which give gaps, arms and softness and take the impulses;
 * they are solved one after the other, in double, several times a pass, by the rules of
 * soft_contact.h.
 */
#include "server/engine/methods/soft_step.h"

#include "server/engine/dynamics/locks.h"

enum { SWEEPS = 4 };
/* 1, of the energy of the impulses: smaller changes end the sweeps. */
#define SWEEP_CHANGE 1e-8

/* m/s. Slower hits do not bounce, whatever their restitution (soft_contact.h). */
#define BOUNCE_LEAST 1e-2

static vec3 lane_vec3(const struct lane8x3 *from, uint32_t lane)
{
	return vec3_make((double)from->x.at[lane], (double)from->y.at[lane],
			 (double)from->z.at[lane]);
}

static vec3 wide_vec3(float4 v)
{
	return vec3_make((double)v[0], (double)v[1], (double)v[2]);
}

static double lane_of(const struct lane8 *from, uint32_t lane)
{
	return (double)from->at[lane];
}

/* ---- bodies beside links --------------------------------------------------------------------- */

static void load_partner(const struct soft_step *self, struct tree_partner *to)
{
	const struct soft_drive *drive = &self->drives[to->number];
	const struct soft_body *body = &self->bodies[to->number];
	const float *t =
		drive->spins ? self->turns[to->number].inertia_inv.at : drive->inertia_inv.at;
	to->velocity = vec3_add(drive->start.velocity.linear, wide_vec3(body->velocity));
	to->spin = vec3_add(drive->start.velocity.angular, wide_vec3(body->spin));
	to->mass_inv = locks_along(drive->locks, vec3_all((double)drive->mass_inv));
	to->inertia_inv = sym3_make((double)t[0], (double)t[1], (double)t[2], (double)t[3],
				    (double)t[4], (double)t[5]);
}

static void store_partner(const struct soft_step *self, const struct tree_partner *from)
{
	const struct spatial *start = &self->drives[from->number].start.velocity;
	struct soft_body *body = &self->bodies[from->number];
	vec3 v = vec3_sub(from->velocity, start->linear), w = vec3_sub(from->spin, start->angular);
	body->velocity = (float4){ (float)v.x, (float)v.y, (float)v.z, 0 };
	body->spin = (float4){ (float)w.x, (float)w.y, (float)w.z, 0 };
}

/* ---- rows ---------------------------------------------------------------------------------------- */

/* A manifold while its rows are made. */
struct made {
	struct soft_step *self;
	struct tree_manifold *of;
	const struct soft_block *block;
	vec3 r[2]; /* of links: the mass centre from the tree's origin */
	uint32_t rows;
};

/* Goes up from the row's two links. */
static void walk_two(const struct soft_trees *all, const struct tree_manifold *of,
		     struct tree_row *row)
{
	VALIDATE(of->points <= MANIFOLD_POINTS_MAX);
	struct spatial f[2] = { row->on[0], row->on[1] };
	const struct tree_way *way = &all->ways[of->way_first];
	row->response = 0;
	for (uint32_t k = 0; k < of->way_count; k++) {
		const struct tree_axis *axis = &all->axes[way[k].axis];
		struct spatial *on = &f[way[k].side];
		if (way[k].meets)
			f[0] = spatial_mul_add(f[0], f[1], 1);
		double e = spatial_dot(axis->s, *on);
		row->g[k] = e * axis->root;
		row->response += row->g[k] * row->g[k];
		*on = spatial_mul_add(*on, axis->u, -e * axis->inverse);
	}
}

/* Goes up from the links of all rows; those of one link side by side. */
static void walk_rows(const struct soft_trees *all, struct tree_manifold *of)
{
	VALIDATE(of->points <= MANIFOLD_POINTS_MAX);
	if (of->link[0] == TREE_NONE || of->link[1] == TREE_NONE) {
		all->wide->walk(all, of);
		return;
	}
	for (uint32_t r = 0; r < of->points + 3u; r++)
		walk_two(all, of, &of->rows[r]);
}

/* Adds a row with the direction `axis` (zero: of a couple) and moments on a and b. */
static void add_row(struct made *m, vec3 axis, vec3 turning_a, vec3 turning_b)
{
	struct tree_manifold *of = m->of;
	struct tree_row *row = &of->rows[m->rows++];
	vec3 turning[2] = { vec3_negate(turning_a), turning_b };
	row->axis = axis;
	for (uint32_t k = 0; k < 2; k++) {
		vec3 along = k == 0 ? vec3_negate(axis) : axis;
		row->turning[k] = turning[k];
		row->on[k] = spatial_zero();
		row->answer[k] = vec3_zero();
		if (of->link[k] != TREE_NONE) {
			vec3 moment = vec3_add(turning[k], vec3_cross(m->r[k], along));
			row->on[k] = (struct spatial){ along, moment };
		}
	}
}

/* What partners add to the responses of rows. */
static void add_partners(const struct soft_trees *all, struct tree_manifold *of)
{
	VALIDATE(of->points <= MANIFOLD_POINTS_MAX);
	for (uint32_t k = 0; k < 2; k++) {
		if (of->partner[k] == TREE_NONE)
			continue;
		const struct tree_partner *partner = &all->partners[of->partner[k]];
		for (uint32_t r = 0; r < of->points + 3u; r++) {
			struct tree_row *row = &of->rows[r];
			vec3 moved = vec3_hadamard(partner->mass_inv, row->axis);
			row->answer[k] = sym3_apply(partner->inertia_inv, row->turning[k]);
			row->response += vec3_dot(row->axis, moved) +
					 vec3_dot(row->turning[k], row->answer[k]);
		}
	}
}

/* J v of the velocities before contacts act, without partners. */
static void take_speeds(const struct soft_step *self, struct tree_manifold *of)
{
	VALIDATE(of->points <= MANIFOLD_POINTS_MAX);
	for (uint32_t r = 0; r < of->points + 3u; r++) {
		struct tree_row *row = &of->rows[r];
		row->speed = 0;
		for (uint32_t k = 0; k < 2; k++) {
			if (of->link[k] != TREE_NONE) {
				row->speed += spatial_dot(row->on[k],
							  self->trees.links[of->link[k]].velocity);
			} else if (of->partner[k] == TREE_NONE && of->number[k] != 0) {
				const struct spatial *v =
					&self->drives[of->number[k]].start.velocity;
				double along = vec3_dot(row->axis, v->linear);
				row->speed += (k == 0 ? -along : along) +
					      vec3_dot(row->turning[k], v->angular);
			}
		}
	}
}

/* J M⁻¹ Jᵀ of two rows of a manifold. */
static double couple_rows(const struct soft_trees *all, const struct tree_manifold *of,
			  const struct tree_row *i, const struct tree_row *j)
{
	VALIDATE(of->points <= MANIFOLD_POINTS_MAX);
	double sum = 0;
	for (uint32_t k = 0; k < of->way_count; k++)
		sum += i->g[k] * j->g[k];
	for (uint32_t k = 0; k < 2; k++)
		if (of->partner[k] != TREE_NONE)
			sum += vec3_dot(i->axis,
					vec3_hadamard(all->partners[of->partner[k]].mass_inv,
						      j->axis)) +
			       vec3_dot(i->turning[k], j->answer[k]);
	return sum;
}

typedef double double_two __attribute__((vector_size(16), aligned(8), may_alias));

static double speed_of(const struct soft_trees *all, const struct tree_manifold *of,
		       const struct tree_row *row)
{
	VALIDATE(of->points <= MANIFOLD_POINTS_MAX);
	const struct tree_stretch *stretch = &all->stretches[of->way_first];
	const double *g = row->g;
	double speed = row->speed;
	for (uint32_t i = 0; i < of->stretch_count; i++) {
		const double *change = &all->change[stretch[i].first];
		for (uint32_t k = 0; k < stretch[i].count; k++)
			speed += g[k] * change[k];
		g += stretch[i].count;
	}
	for (uint32_t k = 0; k < 2; k++)
		if (of->partner[k] != TREE_NONE) {
			const struct tree_partner *partner = &all->partners[of->partner[k]];
			double along = vec3_dot(row->axis, partner->velocity);
			speed += (k == 0 ? -along : along) +
				 vec3_dot(row->turning[k], partner->spin);
		}
	return speed;
}

static void push_row(struct soft_trees *all, const struct tree_manifold *of,
		     const struct tree_row *row, double impulse)
{
	VALIDATE(of->points <= MANIFOLD_POINTS_MAX);
	const struct tree_stretch *stretch = &all->stretches[of->way_first];
	const double *g = row->g;
	for (uint32_t i = 0; i < of->stretch_count; i++) {
		double *change = &all->change[stretch[i].first];
		uint32_t count = stretch[i].count, k = 0;
		for (; k + 2 <= count; k += 2)
			*(double_two *)&change[k] += *(const double_two *)&g[k] * impulse;
		if (k < count)
			change[k] += g[k] * impulse;
		g += count;
	}
	for (uint32_t k = 0; k < 2; k++)
		if (of->partner[k] != TREE_NONE) {
			struct tree_partner *partner = &all->partners[of->partner[k]];
			vec3 by = vec3_hadamard(partner->mass_inv, row->axis);
			partner->velocity =
				vec3_mul_add(partner->velocity, by, k == 0 ? -impulse : impulse);
			partner->spin = vec3_mul_add(partner->spin, row->answer[k], impulse);
		}
}

static void set_row(struct soft_trees *all, const struct tree_manifold *of, struct tree_row *row,
		    double impulse)
{
	VALIDATE(of->points <= MANIFOLD_POINTS_MAX);
	double change = impulse - row->impulse;
	row->impulse = impulse;
	if (change != 0)
		push_row(all, of, row, change);
}

/* ---- a manifold ------------------------------------------------------------------------------------ */

/* The impulses that a lane has. */
static void load_impulses(struct tree_manifold *of, const struct soft_block *block, bool biased)
{
	VALIDATE(of->points <= MANIFOLD_POINTS_MAX);
	for (uint32_t r = 0; r < of->points + 3u; r++) {
		struct tree_row *row = &of->rows[r];
		row->impulse = r < of->points ? lane_of(&block->points[r].impulse, of->lane)
			       : r < of->points + 2u
				       ? lane_of(&block->tangent_impulse[r - of->points], of->lane)
				       : lane_of(&block->twist_impulse, of->lane);
		row->start = biased ? 0 : row->impulse;
	}
}

/* m/s: points that approach faster bounce. */
static double bounce_speed(const struct soft_step *self, double restitution)
{
	if (!(restitution > 0))
		return (double)SOFT_NOWHERE;
	return scalar_max((double)self->restitution_speed * (1 - restitution), BOUNCE_LEAST);
}

/* Whether a point bounces in this sub-step: it approached before forces acted, and would
 * pass its gap. */
static void find_bounce(const struct soft_step *self, struct tree_manifold *of, uint32_t p)
{
	const struct soft_block *block = &self->blocks[of->block];
	const struct tree_row *row = &of->rows[p];
	double e = lane_of(&block->restitution, of->lane), before = 0;
	double gap = lane_of(&block->points[p].gap, of->lane);
	of->leave[p] = 0;
	if (!(e > 0))
		return;
	for (uint32_t k = 0; k < 2; k++) {
		vec3 along = k == 0 ? vec3_negate(row->axis) : row->axis;
		if (of->link[k] != TREE_NONE) {
			before += spatial_dot(row->on[k], self->trees.links[of->link[k]].before);
			continue;
		}
		const struct soft_drive *drive = &self->drives[of->number[k]];
		const struct soft_body *body = &self->bodies[of->number[k]];
		vec3 v = vec3_add(drive->start.velocity.linear, wide_vec3(body->velocity));
		vec3 w = vec3_add(drive->start.velocity.angular, wide_vec3(body->spin));
		if (drive->dynamic)
			v = vec3_sub(v, wide_vec3(drive->change));
		before += vec3_dot(along, v) + vec3_dot(row->turning[k], w);
	}
	double now = speed_of(&self->trees, of, row);
	if (before < -bounce_speed(self, e) && now * self->trees.h < -gap)
		of->leave[p] = -e * before;
}

static void make_manifold(struct soft_step *self, struct tree_manifold *of)
{
	VALIDATE(of->points <= MANIFOLD_POINTS_MAX);
	struct soft_trees *all = &self->trees;
	const struct soft_block *block = &self->blocks[of->block];
	struct made m = { .self = self, .of = of, .block = block };
	uint32_t lane = of->lane;
	vec3 normal = lane_vec3(&block->normal, lane), t1 = lane_vec3(&block->tangent, lane);
	vec3 t2 = vec3_cross(normal, t1), arm_a = lane_vec3(&block->arm_a, lane),
	     arm_b = lane_vec3(&block->arm_b, lane);
	for (uint32_t k = 0; k < 2; k++)
		if (of->link[k] != TREE_NONE) {
			uint32_t tree = all->tree_of_link[of->link[k]];
			m.r[k] = vec3_sub(all->links[of->link[k]].centre, all->trees[tree].origin);
		}
	for (uint32_t p = 0; p < of->points; p++)
		add_row(&m, normal, lane_vec3(&block->points[p].j_a, lane),
			lane_vec3(&block->points[p].j_b, lane));
	add_row(&m, t1, vec3_cross(arm_a, t1), vec3_cross(arm_b, t1));
	add_row(&m, t2, vec3_cross(arm_a, t2), vec3_cross(arm_b, t2));
	add_row(&m, vec3_zero(), normal, normal);
	walk_rows(all, of);
	add_partners(all, of);
	of->coupling = couple_rows(all, of, &of->rows[of->points], &of->rows[of->points + 1u]);
	for (uint32_t r = 0; r < m.rows; r++)
		of->rows[r].mass = of->rows[r].response > 0 ? 1 / of->rows[r].response : 0;
}

static double point_impulse(const struct soft_step *self, const struct tree_manifold *of,
			    const struct soft_block *block, uint32_t p, bool biased)
{
	VALIDATE(of->points <= MANIFOLD_POINTS_MAX);
	const struct tree_row *row = &of->rows[p];
	uint32_t lane = of->lane;
	double gap = lane_of(&block->points[p].gap, lane), before = row->impulse;
	double speed = speed_of(&self->trees, of, row), mass = row->mass;
	if (of->leave[p] > 0)
		return scalar_max(before - mass * (speed - of->leave[p]), 0);
	double e = lane_of(&block->restitution, lane);
	if (!biased && gap > 0 && e > 0 && speed < -bounce_speed(self, e))
		return before; /* until it bounces, in the next sub-step */
	if (gap > 0)
		return scalar_max(before - mass * (speed + gap / self->trees.h), 0);
	if (!biased)
		return scalar_max(before - mass * speed, 0);
	double bias = scalar_max(gap * lane_of(&block->bias_rate, lane), -(double)self->push_speed);
	double change = mass * lane_of(&block->mass_scale, lane) * (speed + bias) +
			lane_of(&block->impulse_scale, lane) * before;
	return scalar_max(before - change, 0);
}

static void solve_tangents(struct soft_step *self, struct tree_manifold *of, double most)
{
	VALIDATE(of->points <= MANIFOLD_POINTS_MAX);
	struct soft_trees *all = &self->trees;
	struct tree_row *row1 = &of->rows[of->points], *row2 = row1 + 1;
	double slip1 = speed_of(all, of, row1), slip2 = speed_of(all, of, row2);
	double k12 = of->coupling, det = row1->response * row2->response - k12 * k12;
	if (!(det > 0))
		return;
	double x1 = row1->impulse - (row2->response * slip1 - k12 * slip2) / det;
	double x2 = row2->impulse - (row1->response * slip2 - k12 * slip1) / det;
	double square = x1 * x1 + x2 * x2;
	double scale = square > most * most ? most / scalar_sqrt(square) : 1;
	set_row(all, of, row1, x1 * scale);
	set_row(all, of, row2, x2 * scale);
}

static void solve_friction(struct soft_step *self, struct tree_manifold *of,
			   const struct soft_block *block)
{
	VALIDATE(of->points <= MANIFOLD_POINTS_MAX);
	struct soft_trees *all = &self->trees;
	struct tree_row *twist = &of->rows[of->points + 2u];
	double mu = lane_of(&block->friction, of->lane), load = 0, moment = 0;
	for (uint32_t p = 0; p < of->points; p++) {
		load += of->rows[p].impulse;
		moment += of->rows[p].impulse * lane_of(&block->points[p].lever, of->lane);
	}
	if (twist->response > 0) {
		double x = twist->impulse - speed_of(all, of, twist) * twist->mass;
		set_row(all, of, twist, scalar_clamp(x, -mu * moment, mu * moment));
	}
	solve_tangents(self, of, mu * load);
}

static void sweep_manifold(struct soft_step *self, struct tree_manifold *of, bool biased)
{
	VALIDATE(of->points <= MANIFOLD_POINTS_MAX);
	struct soft_block *block = &self->blocks[of->block];
	double most = 0;
	for (uint32_t p = 0; p < of->points; p++) {
		if (!(of->rows[p].response > 0))
			continue;
		set_row(&self->trees, of, &of->rows[p], point_impulse(self, of, block, p, biased));
		most = scalar_max(most, of->rows[p].impulse);
	}
	if (!biased)
		solve_friction(self, of, block);
	float *pushed = &block->pushed.at[of->lane];
	*pushed = MAX_OF(*pushed, (float)most);
}

/* ---- an island --------------------------------------------------------------------------------------- */

/* Rows are made anew where poses or holds have changed; bodies beside links turn in any case. */
static void begin_manifolds(struct soft_step *self, struct soft_island *island, bool biased,
			    bool first)
{
	struct soft_trees *all = &self->trees;
	uint32_t version = 0;
	ASSERT(island->tree_first < island->tree_last);
	for (uint32_t t = island->tree_first; t < island->tree_last; t++)
		version += all->trees[t].version;
	bool same = island->closed && version == island->version;
	island->version = version;
	for (uint32_t i = island->manifold_first; i < island->manifold_last; i++) {
		struct tree_manifold *of = &all->manifolds[i];
		if (!same)
			make_manifold(self, of);
		take_speeds(self, of);
		if (first)
			load_impulses(of, &self->blocks[of->block], biased);
		for (uint32_t p = 0; p < of->points && biased && first; p++)
			find_bounce(self, of, p);
	}
}

void soft_tree_contacts(struct soft_step *self, struct soft_island *island, bool biased, bool first)
{
	ASSERT(island->tree_first < island->tree_last);
	struct soft_trees *all = &self->trees;
	for (uint32_t i = island->partner_first; i < island->partner_last; i++)
		load_partner(self, &all->partners[i]);
	for (uint32_t t = island->tree_first; t < island->tree_last; t++) {
		const struct soft_tree *tree = &all->trees[t];
		double *change = &all->change[soft_tree_change(all, tree->axis_first +
									    tree->axis_count - 1)];
		for (uint32_t k = 0; k < tree->axis_count; k++)
			change[k] = 0;
		for (uint32_t k = 0; k < tree->count; k++)
			all->links[tree->first + k].pushed = spatial_zero();
	}
	begin_manifolds(self, island, biased, first);
	for (uint32_t i = island->manifold_first; i < island->manifold_last; i++) {
		struct tree_manifold *of = &all->manifolds[i];
		for (uint32_t r = 0; r < of->points + 3u; r++)
			if (of->rows[r].impulse != of->rows[r].start)
				push_row(all, of, &of->rows[r],
					 of->rows[r].impulse - of->rows[r].start);
	}
	for (uint32_t sweep = 0; sweep < SWEEPS; sweep++) {
		double changed = 0, size = 0;
		for (uint32_t i = island->manifold_first; i < island->manifold_last; i++) {
			struct tree_manifold *of = &all->manifolds[i];
			double before[TREE_ROWS_MAX];
			for (uint32_t r = 0; r < of->points + 3u; r++)
				before[r] = of->rows[r].impulse;
			sweep_manifold(self, of, biased);
			for (uint32_t r = 0; r < of->points + 3u; r++) {
				double by = of->rows[r].impulse - before[r];
				changed += by * by * of->rows[r].response;
				size += of->rows[r].impulse * of->rows[r].impulse *
					of->rows[r].response;
			}
		}
		if (!(changed > SWEEP_CHANGE * size))
			break;
	}
	for (uint32_t i = island->manifold_first; i < island->manifold_last; i++) {
		const struct tree_manifold *of = &all->manifolds[i];
		for (uint32_t k = 0; k < 2; k++) {
			if (of->link[k] == TREE_NONE)
				continue;
			struct spatial *to = &all->links[of->link[k]].pushed;
			for (uint32_t r = 0; r < of->points + 3u; r++)
				*to = spatial_mul_add(*to, of->rows[r].on[k],
						      of->rows[r].impulse - of->rows[r].start);
		}
	}
}

void soft_tree_contacts_store(struct soft_step *self, struct soft_island *island, bool biased)
{
	ASSERT(island->tree_first < island->tree_last);
	struct soft_trees *all = &self->trees;
	for (uint32_t i = island->partner_first; i < island->partner_last; i++)
		store_partner(self, &all->partners[i]);
	for (uint32_t i = island->manifold_first; i < island->manifold_last; i++) {
		const struct tree_manifold *of = &all->manifolds[i];
		struct soft_block *block = &self->blocks[of->block];
		uint32_t lane = of->lane;
		for (uint32_t r = 0; r < of->points + 3u; r++) {
			float impulse = (float)of->rows[r].impulse;
			if (r < of->points) {
				block->points[r].impulse.at[lane] = impulse;
				if (!biased)
					block->points[r].total.at[lane] += impulse;
			} else if (r < of->points + 2u) {
				block->tangent_impulse[r - of->points].at[lane] = impulse;
				if (!biased)
					block->tangent_total[r - of->points].at[lane] += impulse;
			} else
				block->twist_impulse.at[lane] = impulse;
		}
	}
}
