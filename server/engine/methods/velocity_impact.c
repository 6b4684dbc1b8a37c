/* velocity_impact.c: impacts, resolved at the end of the step's motion.
 *
 * The motion stopped the bodies that arrived: at x' they have velocities v_m, because of the island's
 * impulses λ. These are taken back at x', along the rows as they are there:
 *
 *   v⁻ = v_m − s M⁻¹ N'ᵀ λ,   s > 0 so that ½ v⁻·M v⁻ = ½ v*·M v*
 *
 * so bodies meet with the momentum and exactly the energy that they had before (s is 1 if no body rotated
 * during the motion, because then v⁻ = v*). v* has the work of forces along the whole step; of it, with
 * velocity.exact_work, what belongs to the way that the bodies did not go is taken off:
 *
 *   ½ v⁻·M v⁻ = ½ v*·M v* − Σ F·(½ h (v + v*) − h v_m)
 *
 * so a ball meets the floor with the speed that its fall to there gives, and no bounce gains energy.
 *
 * Bodies that touched during the motion and do not at x'
 * keep their velocities; the energy they gained is deducted from that of the others. Then the impact
 * itself is solved, over all contacts that touch at x':
 *
 *   Newton        N' v⁺ ≥ −e N' v⁻ where contacts arrive faster than restitution.speed, else
 *                 N' v⁺ ≥ 0; friction as in the motion (papers C-08)
 *   reflections   solvers/reflection.h (papers C-09, C-10)
 *
 * Joints hold throughout: λ is taken back together with the joints' response to it, the energy is that
 * of v* as the joints alone change it, and the impact includes their rows J v⁺ = 0 (book AR1).
 */
#include "server/engine/methods/velocity.h"

#include <string.h>

bool velocity_bounces(const struct velocity_island *self, const double *x)
{
	const struct velocity_step *step = self->step;
	for (uint32_t i = 0; i < self->count; i++) {
		const struct constraint_row *row = &self->rows[i];
		if (row->set != ROW_POSITIVE || !(x[i] > 0) ||
		    !(step->rows.blocks[self->block[i]].restitution > 0))
			continue;
		if (jacobian_speed(row->j, step->arriving) - row->wanted <
		    -step->settings.restitution_speed)
			return true;
	}
	return false;
}

/* Whether some body of the island belongs to an island of the beginning that bounces. */
static bool was_hit(const struct velocity_impact *impact, const struct island *island)
{
	const struct islands *begin = &impact->begin->islands;
	for (uint32_t i = 0; i < island->slot_count; i++) {
		ASSERT(island->slots[i] < impact->begin->step->body_count);
		uint32_t before = begin->island_of[island->slots[i]];
		if (before != UINT32_MAX && impact->begin->outcomes[before].impact)
			return true;
	}
	return false;
}

/* Copies the motion's impulses of a contact to its rows first … last-1 at the end, by feature; the rest
 * of the normal impulse is divided equally among the points, so that its sum is kept. */
static void transfer_contact_impulses(const struct velocity_island *self,
				      const struct velocity_step *begin, uint32_t contact,
				      uint32_t first, uint32_t last, double *x)
{
	double left = 0;
	uint32_t points = 0, from, to;
	velocity_blocks_of(begin, contact, &from, &to);
	for (uint32_t b = from; b < to; b++)
		left += begin->impulses[b].normal;
	for (uint32_t i = first; i < last; i++) {
		const struct row_block *block = &self->step->rows.blocks[self->block[i]];
		const struct velocity_impulse *found = NULL;
		for (uint32_t b = from; b < to; b++)
			if (begin->rows.blocks[b].key.feature == block->key.feature)
				found = &begin->impulses[b];
		points += self->place[i] == 0;
		if (found == NULL)
			continue;
		x[i] = velocity_row_impulse(self, i, found->normal, found->tangent[0],
					    found->tangent[1]);
		if (self->place[i] == 0)
			left -= found->normal;
	}
	ASSERT(points > 0);
	for (uint32_t i = first; i < last; i++)
		if (self->place[i] == 0)
			x[i] += left / points;
}

static uint32_t contact_at(const struct velocity_island *self, uint32_t row)
{
	VALIDATE(row < self->contact_rows);
	return self->step->contact_of[self->step->rows.blocks[self->block[row]].constraint];
}

static void transfer_impulses(const struct velocity_island *self, const struct velocity_step *begin,
			      double *x)
{
	memset(x, 0, self->count * sizeof *x);
	for (uint32_t i = 0, end; i < self->contact_rows; i = end) {
		for (end = i + 1;
		     end < self->contact_rows && contact_at(self, end) == contact_at(self, i);)
			end++;
		transfer_contact_impulses(self, begin, contact_at(self, i), i, end, x);
	}
}

/* J: the work of forces on a body along the way that the motion kept it from. */
static double withheld_work(const struct velocity_step *begin, uint32_t slot)
{
	if (!begin->settings.exact_work)
		return 0;
	struct spatial way = spatial_mul_add(begin->before[slot], begin->arriving[slot], 1);
	way = spatial_mul_add(spatial_scale(way, 0.5), begin->moving[slot], -1);
	return begin->step->dt * spatial_dot(begin->force[slot], way);
}

/* J: the kinetic energy that a body lost in the motion, beyond what forces did not give it. */
static double body_lost(const struct velocity_impact *impact, uint32_t slot)
{
	const struct velocity_step *begin = impact->begin;
	return velocity_body_energy(&begin->masses[slot], begin->arriving[slot]) -
	       velocity_body_energy(&impact->end->masses[slot], begin->after[slot]) -
	       withheld_work(begin, slot);
}

enum status velocity_impact_init(struct velocity_impact *self, struct velocity_step *begin,
				 const struct velocity_step *end)
{
	ASSERT(begin->step == end->step);
	const struct islands *islands = &begin->islands;
	double *part = ARENA_ARRAY(&begin->step->dynamics->scratch, double, islands->count);
	*self = (struct velocity_impact){ begin, end, part };
	if (part == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t k = 0; k < islands->count; k++) {
		double all = 0, down = 0;
		for (uint32_t i = 0; i < islands->items[k].slot_count; i++) {
			uint32_t slot = islands->items[k].slots[i];
			double lost = body_lost(self, slot);
			all += lost;
			down += scalar_max(lost, 0);
		}
		part[k] = all > 0 ? all / down : 0;
		ASSERT(!(part[k] < 0));
	}
	return STATUS_OK;
}

/* The energy that the bodies of an island lost in the motion, J. If only some bodies of an island of
 * the beginning meet at the end, the others may have gained energy, which must not be returned twice. */
static double energy_lost(const struct velocity_impact *impact, const struct island *island)
{
	const struct velocity_step *begin = impact->begin;
	uint32_t before = begin->islands.island_of[island->slots[0]];
	ASSERT(island->slot_count > 0);
	bool whole = before != UINT32_MAX &&
		     begin->islands.items[before].slot_count == island->slot_count;
	for (uint32_t i = 1; i < island->slot_count; i++)
		whole = whole && begin->islands.island_of[island->slots[i]] == before;
	double sum = 0;
	for (uint32_t i = 0; i < island->slot_count && whole; i++)
		sum -= withheld_work(begin, island->slots[i]);
	if (whole)
		return sum + velocity_energy(begin->masses, begin->arriving, island) -
		       velocity_energy(impact->end->masses, begin->after, island) +
		       velocity_rotors_energy(impact->end, island, begin->start, begin->arriving) -
		       velocity_rotors_energy(impact->end, island, begin->motions, begin->after);
	for (uint32_t i = 0; i < island->slot_count; i++) {
		uint32_t slot = island->slots[i], of = begin->islands.island_of[slot];
		if (of == UINT32_MAX)
			continue; /* it had no constraint at the beginning */
		sum += impact->part[of] * scalar_max(body_lost(impact, slot), 0);
	}
	return sum;
}

/* The share s ≥ 0 of the motion's impulses x that is taken back; `change` gets M⁻¹ N'ᵀ x. */
static double share_to_take_back(const struct velocity_island *self,
				 const struct velocity_impact *impact, const double *x,
				 const double *u, struct spatial *change)
{
	double lost = energy_lost(impact, self->island), slope = 0, curve = 0;
	row_system_apply(&self->system, x, change);
	for (uint32_t i = 0; i < self->count; i++) {
		slope += x[i] * u[i];
		curve += x[i] * jacobian_speed(self->rows[i].j, change);
		if (velocity_is_rotor(self, i)) { /* it gets its part back from the axis */
			slope -= x[i] * u[i];
			curve += velocity_row_soft(self, i) * x[i] * x[i];
		}
	}
	/* A push gained more than was lost, which is counted: no further energy is returned. */
	if (lost < 0)
		return curve > 0 ? scalar_clamp(2 * slope / curve, 0, 1) : 1;
	double square = slope * slope + 2 * curve * lost;
	return curve > 0 && square > 0 ? (slope + scalar_sqrt(square)) / curve : 1;
}

/* m/s: the speed that the rotor of row i loses. */
static double rotor_loss(const struct velocity_island *self, uint32_t i, double x)
{
	return velocity_is_rotor(self, i) ? velocity_row_soft(self, i) * x : 0;
}

/* Energy that impulses add to speeds u: x·(u + ½ A x), J. `change` gets M⁻¹ Nᵀ x. */
static double energy_added(const struct velocity_island *self, const double *u, const double *x,
			   struct spatial *change)
{
	double sum = 0;
	for (uint32_t i = 0; i < self->island->slot_count; i++)
		change[self->island->slots[i]] = spatial_zero();
	row_system_apply(&self->system, x, change);
	for (uint32_t i = 0; i < self->count; i++)
		sum += x[i] * (u[i] + 0.5 * jacobian_speed(self->rows[i].j, change) +
			       0.5 * rotor_loss(self, i, x[i]));
	return sum;
}

static enum status solve_newton_once(struct velocity_island *self, const bool *selected,
				     const double *u, double least, double *b, double *x)
{
	for (uint32_t i = 0; i < self->count; i++) {
		const struct constraint_row *row = &self->rows[i];
		double e = self->step->rows.blocks[self->block[i]].restitution;
		bool bounces = row->set == ROW_POSITIVE && u[i] < least;
		double wanted = i < self->contact_rows ? row->wanted : 0;
		b[i] = u[i] - wanted + (bounces ? e * u[i] : 0);
		x[i] = 0;
	}
	struct velocity_problem problem = { selected, b, x };
	return velocity_island_solve(self, &problem);
}

enum status velocity_newton(struct velocity_island *self, const bool *selected, const double *u,
			    double *b, double *x)
{
	struct spatial *change = self->step->push; /* scratch: bodies have moved already */
	enum status status =
		solve_newton_once(self, selected, u, -self->step->settings.restitution_speed, b, x);
	if (status != STATUS_OK)
		return status;
	double elastic = energy_added(self, u, x, change), spent = 0;
	for (uint32_t i = 0; i < self->count; i++)
		spent += scalar_abs(x[i] * u[i]);
	if (elastic <= 1e-13 * spent)
		return STATUS_OK;
	double *stopped = ARENA_ARRAY(self->arena, double, self->count);
	if (stopped == NULL)
		return STATUS_NO_MEMORY;
	status = solve_newton_once(self, selected, u, -__builtin_inf(), b, stopped);
	if (status != STATUS_OK)
		return status;
	self->outcome->fallbacks++;
	/* E(s) of stopped + s (x − stopped): E(0) ≤ 0 < E(1), and E is a parabola open above. */
	double rest = scalar_min(energy_added(self, u, stopped, change), 0), curve = 0;
	for (uint32_t i = 0; i < self->count; i++)
		b[i] = x[i] - stopped[i];
	(void)energy_added(self, u, b, change);
	for (uint32_t i = 0; i < self->count; i++)
		curve += 0.5 * b[i] * jacobian_speed(self->rows[i].j, change);
	double slope = elastic - rest - curve; /* E(1) = rest + slope + curve */
	double root = scalar_sqrt(scalar_max(slope * slope - 4 * curve * rest, 0));
	double share = curve > 0 ? (root - slope) / (2 * curve) : slope > 0 ? -rest / slope : 0;
	for (uint32_t i = 0; i < self->count; i++)
		x[i] = stopped[i] + scalar_clamp(share, 0, 1) * b[i];
	return STATUS_OK;
}

/* Applies the impulse of the impact, less the part of the motion's impulse that it takes back, to
 * velocities and blocks. If rows depend on each other, the two impulses may be divided differently
 * among them, so a single block may end below 0. */
static void apply_impact(struct velocity_island *self, struct velocity_step *begin, const double *x)
{
	if (self->tree != NULL)
		velocity_tree_hold(self, begin->after);
	row_system_apply(&self->system, x, begin->after);
	if (self->joints != NULL)
		velocity_joints_add_results(self, x);
	if (self->tree != NULL)
		velocity_tree_add_results(self, begin->after, x);
	velocity_add_impulses(self, x, 1);
}

enum status velocity_impact_island(const struct island *members, uint32_t index,
				   struct arena *arena, void *context)
{
	struct velocity_impact *impact = context;
	struct velocity_island self;
	if (!was_hit(impact, members))
		return STATUS_OK;
	enum status status = velocity_island_make(&self, impact->end, index, arena);
	if (status != STATUS_OK)
		return status;
	uint32_t n = self.count;
	double *back = ARENA_ARRAY(arena, double, n), *u = ARENA_ARRAY(arena, double, n);
	double *b = ARENA_ARRAY(arena, double, n), *x = ARENA_ARRAY(arena, double, n);
	bool *selected = ARENA_ARRAY(arena, bool, n);
	/* Scratch: bodies have moved already. It is 0 for bodies that cannot move. */
	struct spatial *change = impact->end->push;
	if (back == NULL || u == NULL || b == NULL || x == NULL || selected == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < members->slot_count; i++)
		change[members->slots[i]] = spatial_zero();
	transfer_impulses(&self, impact->begin, back);
	if (self.joints != NULL)
		status = velocity_joints_take_back(&self, back, selected, b, x, change);
	if (status != STATUS_OK)
		return status;
	row_system_speeds(&self.system, impact->begin->after, u);
	double share = share_to_take_back(&self, impact, back, u, change);
	for (uint32_t i = 0, normal = 0; i < n; i++) {
		normal = self.place[i] == 0 ? i : normal;
		VALIDATE(i >= self.contact_rows || i - normal < 3);
		selected[i] = self.rows[normal].gap <= VELOCITY_TOUCH || back[normal] > 0;
		if (i >= self.contact_rows)
			selected[i] = velocity_joints_impact(&self, i, back[i], &u[i]);
		back[i] *= -share;
		u[i] -= share * jacobian_speed(self.rows[i].j, change);
	}
	status = (impact->end->settings.method.reflects ? velocity_reflect : velocity_newton)(
		&self, selected, u, b, x);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < n; i++)
		x[i] += back[i];
	apply_impact(&self, impact->begin, x);
	return STATUS_OK;
}
