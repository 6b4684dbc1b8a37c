/* forces.c: contact forces as answers: N in place of N s, which of them the equations determine, and
 * the representative of least norm where they do not (ch. 4 K1 to K3).
 *
 * The unknowns of an island are one normal force a touching point and, of a pair with friction, two
 * tangential forces and (with two or more points) one torque about the normal; and one number a row of
 * each joint and each gear. All of them together exert Jᵀ λ on the bodies. A method finds one λ; every
 * λ + z with Jᵀ z = 0 moves the bodies alike. So an unknown is unique exactly where every such z has a
 * 0, and that is a matter of J at the present poses: the answer needs no method, and is the same for all.
 *
 *   U           orthonormal columns that span the columns of J (Gram and Schmidt, largest remaining
 *               column first, each made orthogonal twice)
 *   unique i    1 − Σ_k U_ik² vanishes: row i is orthogonal to the null space of Jᵀ
 *   least norm  U Uᵀ λ if that pulls nowhere; else min ½ |x|² with Uᵀ x = Uᵀ λ and x ≥ 0 in the normals
 *
 * In the least norm joints keep the forces that they report, and friction is not bounded by the normal
 * forces: an answer is about balance, not about Coulomb.
 *
 * Cost: islands of more than ROWS_MAX rows, and those after WORK_MAX products in one query, are not
 * examined; their forces are as found, and FORCE_NOT_DETERMINED says so.
 */
#include "server/base/heap.h"
#include "server/base/sort.h"
#include "server/base/union_find.h"
#include "server/engine/collision/manifold.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/gear.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/locks.h"
#include "server/engine/dynamics/step_joints.h"
#include "server/engine/linalg/dense.h"
#include "server/engine/solvers/qp_dual_active_set.h"
#include "server/engine/world/world.h"

#include <string.h>

enum { ROWS_MAX = 256, COLUMNS = 6 };
#define WORK_MAX 3e7 /* products; some 30 ms */
/* m. Points this far apart without an impulse still touch: a resting point that carries nothing may carry
 * something in another solution, and rounding leaves it a little apart. */
#define TOUCHING 1e-4
/* 1, of a column's length: a smaller remainder counts as dependent. Contact points are placed to
 * 1e-8 m; a smaller value would call three supports in a line independent. */
#define RANK_TOLERANCE 1e-6
#define UNIQUE_TOLERANCE 1e-8

/* N s: the least weight of a point in the mean place of its contact's friction. */
#define SHARE_MIN 1e-30

/* A touching contact: its points are in `points` from `first` on. */
struct force_contact {
	uint32_t row, island; /* of the contact table; lowest body row of its island */
	uint32_t first, count;
	vec3 friction_at; /* m, world: where friction acts */
	bool wanted;	  /* in the answer, not only in an island of it */
};

/* An axis that follows another one. */
struct force_gear {
	uint32_t island; /* lowest body row of it */
	uint32_t row, axis;
};

struct work {
	const struct world *world;
	double rate;	   /* ticks per second */
	uint32_t *parents; /* by body row: union-find; a root is the lowest row of its island */
	uint32_t *columns; /* by body row: number within the island, UINT32_MAX: none yet */
	uint32_t *members; /* body rows of the island in hand, in the order of their numbers */
	uint32_t member_count;
	struct force_contact *contacts;
	uint32_t contact_count;
	struct force_view *points; /* by contact */
	uint32_t point_count;
	struct force_gear *gears; /* ascending by (island, row, axis) */
	uint32_t gear_count;
	double left; /* products */
};

/* One island's rows. */
struct rows {
	double *j;	/* ROWS_MAX lines of `width` */
	double *lambda; /* N, N m */
	bool *presses;	/* λ ≥ 0 */
	uint32_t count, width;
	double length; /* m: lengths in torques are divided by it */
};

/* ---- islands ----------------------------------------------------------------------------------- */

static bool can_move(const struct work *self, uint32_t row)
{
	return row != DYNAMICS_NONE && self->world->tables.body.status[row] == BODY_DYNAMIC;
}

static void unite(struct work *self, uint32_t a, uint32_t b)
{
	if (can_move(self, a) && can_move(self, b))
		(void)union_find_join(self->parents, a, b);
}

static bool touches(const struct tables *tables, uint32_t row)
{
	const struct contact_table *contact = &tables->contact;
	bool any = false;
	for (uint32_t i = 0; contact->used[row] && i < contact->point_count[row]; i++)
		any |= contact->separation[row][i] <= TOUCHING ||
		       contact->normal_impulse[row][i] > 0;
	return any;
}

static void find_islands(struct work *self)
{
	const struct tables *tables = &self->world->tables;
	const struct bitset *joints = &self->world->dynamics.joint_used;
	for (uint32_t row = 0; row < tables->body.count; row++)
		self->parents[row] = row;
	for (uint32_t row = 0; row < tables->contact.count; row++)
		if (touches(tables, row))
			unite(self, contact_body_a(tables, row), contact_body_b(tables, row));
	for (uint32_t row = bitset_next(joints, 0); row != BITSET_NONE;
	     row = bitset_next(joints, row + 1))
		unite(self, joint_body(tables, row, 0), joint_body(tables, row, 1));
}

/* Row of the leader's joint of an axis; DYNAMICS_NONE: it follows none, or the gear has no effect. */
static uint32_t leader_of(const struct tables *tables, uint32_t row, uint32_t axis)
{
	uint32_t leader = tables->joint.leader[row][axis] - 1;
	ASSERT(axis < JOINT_AXES);
	if (leader == DYNAMICS_NONE || !joint_may_act(tables, row) ||
	    !joint_may_act(tables, leader))
		return DYNAMICS_NONE;
	return leader;
}

/* The four ends of a gear: bodies a and b of the follower, then of the leader. */
static void gear_ends(const struct tables *tables, uint32_t row, uint32_t leader, uint32_t ends[4])
{
	for (uint32_t k = 0; k < 4; k++)
		ends[k] = joint_body(tables, k < 2 ? row : leader, k % 2);
}

static int compare_gears(const void *x, const void *y, void *context)
{
	UNUSED(context);
	const struct force_gear *a = x, *b = y;
	const uint32_t keys[2][3] = { { a->island, a->row, a->axis },
				      { b->island, b->row, b->axis } };
	for (uint32_t k = 0; k < 3; k++)
		if (keys[0][k] != keys[1][k])
			return keys[0][k] < keys[1][k] ? -1 : 1;
	return 0;
}

/* Unites the bodies of gears and lists these. NO_MEMORY. */
static enum status find_gears(struct work *self)
{
	const struct tables *tables = &self->world->tables;
	const struct bitset *geared = &self->world->dynamics.joint_geared;
	size_t most = (size_t)geared->count * JOINT_AXES;
	uint32_t ends[4];
	self->gears = heap_alloc(2 * (most + 1) * sizeof *self->gears);
	if (self->gears == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t row = bitset_next(geared, 0); row != BITSET_NONE;
	     row = bitset_next(geared, row + 1))
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
			uint32_t leader = leader_of(tables, row, axis), first = DYNAMICS_NONE;
			if (leader == DYNAMICS_NONE)
				continue;
			gear_ends(tables, row, leader, ends);
			for (uint32_t k = 0; k < 4; k++) {
				if (!can_move(self, ends[k]))
					continue;
				first = first == DYNAMICS_NONE ? ends[k] : first;
				unite(self, first, ends[k]);
			}
			if (first != DYNAMICS_NONE)
				self->gears[self->gear_count++] =
					(struct force_gear){ first, row, axis };
		}
	for (uint32_t i = 0; i < self->gear_count; i++)
		self->gears[i].island = union_find_root(self->parents, self->gears[i].island);
	sort_items(self->gears, self->gears + most + 1, self->gear_count, sizeof *self->gears,
		   compare_gears, NULL);
	return STATUS_OK;
}

/* The first gear of an island, by halving; gear_count or another island's if it has none. */
static uint32_t first_gear(const struct work *self, uint32_t island)
{
	uint32_t low = 0, high = self->gear_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (self->gears[middle].island < island)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The island of a contact: that of its body that moves. */
static uint32_t island_of(struct work *self, uint32_t a, uint32_t b)
{
	return union_find_root(self->parents, can_move(self, a) ? a : b);
}

/* ---- the contacts of the islands asked for ----------------------------------------------------- */

static int compare_islands(const void *x, const void *y, void *context)
{
	UNUSED(context);
	const struct force_contact *a = x, *b = y;
	if (a->island != b->island)
		return a->island < b->island ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* Forces as the method found them. */
static void collect_points(struct work *self, struct force_contact *contact)
{
	struct contact_view views[MANIFOLD_POINTS_MAX];
	uint32_t count = contact_views(&self->world->dynamics, contact->row, views);
	double weight = 0;
	contact->first = self->point_count;
	contact->friction_at = vec3_zero();
	for (uint32_t i = 0; i < count; i++) {
		const struct contact_view *view = &views[i];
		if (view->separation > TOUCHING && view->normal_impulse <= 0)
			continue;
		double share = scalar_max(view->normal_impulse, SHARE_MIN);
		contact->friction_at = vec3_mul_add(contact->friction_at, view->point, share);
		weight += share;
		self->points[self->point_count++] = (struct force_view){
			.a = view->a,
			.b = view->b,
			.child_a = view->child_a,
			.child_b = view->child_b,
			.point = view->point,
			.normal = view->normal,
			.separation = view->separation,
			.normal_force = view->normal_impulse * self->rate,
			.known = FORCE_NOT_DETERMINED,
		};
	}
	contact->count = self->point_count - contact->first;
	if (contact->count == 0)
		return;
	contact->friction_at = vec3_scale(contact->friction_at, 1 / weight);
	self->points[contact->first].friction_force =
		vec3_scale(views[0].friction_impulse, self->rate);
}

static void collect(struct work *self, uint32_t body)
{
	const struct tables *tables = &self->world->tables;
	/* The islands of the body's contacts, marked in `columns` for now. */
	for (uint32_t row = 0; row < tables->body.count; row++)
		self->columns[row] = UINT32_MAX;
	for (uint32_t row = 0; row < tables->contact.count; row++) {
		if (!touches(tables, row))
			continue;
		uint32_t a = contact_body_a(tables, row), b = contact_body_b(tables, row);
		if (body == DYNAMICS_NONE || a == body || b == body)
			self->columns[island_of(self, a, b)] = 0;
	}
	for (uint32_t row = 0; row < tables->contact.count; row++) {
		if (!touches(tables, row))
			continue;
		uint32_t a = contact_body_a(tables, row), b = contact_body_b(tables, row);
		uint32_t island = island_of(self, a, b);
		if (self->columns[island] == 0)
			self->contacts[self->contact_count++] =
				(struct force_contact){ .row = row,
							.island = island,
							.wanted = body == DYNAMICS_NONE ||
								  a == body || b == body };
	}
	for (uint32_t row = 0; row < tables->body.count; row++)
		self->columns[row] = UINT32_MAX;
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* The column of a body's first coordinate in the island; UINT32_MAX of a body that does not move. */
static uint32_t column_of(const struct work *self, uint32_t row)
{
	return can_move(self, row) ? COLUMNS * self->columns[row] : UINT32_MAX;
}

/* One body's part of a row, without the coordinates in which it cannot move. */
static void put_part(const struct work *self, struct rows *rows, double *line, uint32_t body,
		     struct spatial on)
{
	uint32_t at = column_of(self, body);
	if (at == UINT32_MAX)
		return;
	const struct tables *tables = &self->world->tables;
	bool planar = tables->world.planar[0];
	bool turns = !(tables->body.flags[body] & BODY_FIXED_ROTATION);
	uint32_t locks = locks_of(tables, body);
	on.linear = locks_along(locks, on.linear);
	on.angular = locks_about(locks, on.angular);
	for (uint32_t k = 0; k < 3; k++) {
		line[at + k] += planar && k == 2 ? 0 : vec3_get(on.linear, k);
		line[at + 3 + k] +=
			turns && (!planar || k == 2) ? vec3_get(on.angular, k) / rows->length : 0;
	}
}

/* A zero line, for a new unknown; NULL when the island has too many. */
static double *new_line(struct rows *rows, double lambda, bool presses)
{
	if (rows->count == ROWS_MAX)
		return NULL;
	double *line = rows->j + (size_t)rows->count * rows->width;
	dense_zero(line, rows->width);
	rows->lambda[rows->count] = lambda;
	rows->presses[rows->count++] = presses;
	return line;
}

/* An unknown force along `axis` at a world point, or (about) a torque along it. */
static bool put_row(const struct work *self, struct rows *rows, uint32_t contact, vec3 at,
		    vec3 axis, bool about, double lambda, bool presses)
{
	const struct tables *tables = &self->world->tables;
	double *line = new_line(rows, lambda, presses);
	if (line == NULL)
		return false;
	uint32_t ends[2] = { contact_body_a(tables, contact), contact_body_b(tables, contact) };
	for (uint32_t k = 0; k < 2; k++) {
		vec3 arm = vec3_sub(at, self->world->dynamics.bodies.items[ends[k]].centre);
		struct spatial on = about ? spatial_about(vec3_scale(axis, rows->length))
					  : spatial_along(arm, axis);
		put_part(self, rows, line, ends[k], k == 0 ? spatial_negate(on) : on);
	}
	return true;
}

static bool has_friction(const struct dynamics *dynamics, uint32_t row)
{
	const struct contact_table *contact = &dynamics->tables->contact;
	struct contact_piece a = { contact->placement_a[row], contact->child_a[row] };
	struct contact_piece b = { contact->placement_b[row], contact->child_b[row] };
	struct contact_material material = contact_material(dynamics, a, b);
	return material.static_friction > 0 || material.axis_static > 0;
}

/* The rows of a contact: a normal a point, then two tangents and the twist. False: too many. */
static bool put_contact(const struct work *self, struct rows *rows,
			const struct force_contact *contact)
{
	const struct force_view *points = self->points + contact->first;
	bool fits = true;
	if (contact->count == 0)
		return true;
	for (uint32_t i = 0; i < contact->count; i++)
		fits = fits && put_row(self, rows, contact->row, points[i].point, points[i].normal,
				       false, points[i].normal_force, true);
	if (!has_friction(&self->world->dynamics, contact->row))
		return fits;
	vec3 axes[2];
	row_frame(points[0].normal, &axes[0], &axes[1]);
	for (uint32_t k = 0; k < 2; k++)
		fits = fits && put_row(self, rows, contact->row, contact->friction_at, axes[k],
				       false, vec3_dot(points[0].friction_force, axes[k]), false);
	if (contact->count > 1)
		fits = fits && put_row(self, rows, contact->row, contact->friction_at,
				       points[0].normal, true, 0, false);
	return fits;
}

/* Rows of a joint that may carry an unknown: locked axes, limits that are reached, motors, friction. */
static bool put_joint(const struct work *self, struct rows *rows, uint32_t joint_row)
{
	struct joint_standing joint;
	joint_standing_rows(&self->world->dynamics, joint_row, &joint);
	for (uint32_t i = 0; i < joint.count; i++) {
		const struct constraint_row *row = &joint.rows[i];
		bool holds = row->set == ROW_FREE && row->softness == ROW_RIGID;
		bool reached = row->set == ROW_POSITIVE && row->gap <= TOUCHING;
		bool bounded = row->set == ROW_BOX && row->softness == ROW_RIGID;
		if (!holds && !reached && !bounded)
			continue;
		double *line = new_line(rows, 0, false);
		if (line == NULL)
			return false;
		for (uint32_t k = 0; k < row->j.count; k++)
			put_part(self, rows, line, joint.ends[row->j.parts[k].slot],
				 row->j.parts[k].on);
	}
	return true;
}

/* The row of a gear. False: too many. */
static bool put_gear(const struct work *self, struct rows *rows, const struct force_gear *at)
{
	const struct tables *tables = &self->world->tables;
	struct gear gear;
	struct gear_row row;
	uint32_t ends[4];
	double *line = new_line(rows, 0, false);
	if (line == NULL)
		return false;
	gear_row_from_tables(&self->world->dynamics, at->row, at->axis, &gear, &row);
	gear_ends(tables, at->row, tables->joint.leader[at->row][at->axis] - 1, ends);
	for (uint32_t k = 0; k < 4; k++)
		put_part(self, rows, line, ends[k], row.on[k / 2][k % 2]);
	return true;
}

/* ---- what a set of rows determines -------------------------------------------------------------- */

/* Orthonormal columns that span those of J: `u` has a line of `count` numbers each. Returns their
 * number. Overwrites J, whose columns become lines of `u`. */
static uint32_t span_columns(const struct rows *rows, uint32_t count, double *u)
{
	uint32_t m = count, n = rows->width, rank = 0;
	double most = 0;
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < m; i++)
			u[(size_t)k * m + i] = rows->j[(size_t)i * n + k];
	for (; rank < MIN_OF(m, n); rank++) {
		double best = 0;
		uint32_t pivot = rank;
		for (uint32_t k = rank; k < n; k++) {
			double square = dense_dot(u + (size_t)k * m, u + (size_t)k * m, m);
			if (square > best) {
				best = square;
				pivot = k;
			}
		}
		most = rank == 0 ? best : most;
		if (!(best > most * RANK_TOLERANCE * RANK_TOLERANCE))
			break;
		double *q = u + (size_t)rank * m, *other = u + (size_t)pivot * m;
		for (uint32_t i = 0; i < m; i++) {
			double kept = q[i];
			q[i] = other[i];
			if (other != q)
				other[i] = kept;
		}
		for (uint32_t k = 0; k < rank; k++)
			dense_mul_add(q, u + (size_t)k * m, -dense_dot(q, u + (size_t)k * m, m), m);
		double length = __builtin_sqrt(dense_dot(q, q, m));
		for (uint32_t i = 0; i < m; i++)
			q[i] /= length;
		for (uint32_t k = rank + 1; k < n; k++)
			dense_mul_add(u + (size_t)k * m, q, -dense_dot(u + (size_t)k * m, q, m), m);
	}
	return rank;
}

static bool is_unique(const double *u, uint32_t rank, uint32_t count, uint32_t row)
{
	double part = 0;
	for (uint32_t k = 0; k < rank; k++)
		part += u[(size_t)k * count + row] * u[(size_t)k * count + row];
	/* A row without a body that can follow it exerts nothing: whatever its number, it is 0. */
	return part == 0 || 1 - part <= UNIQUE_TOLERANCE;
}

/* x of least norm with Uᵀ x = c and x ≥ 0 where it presses. INEXACT and the like: false. NO_MEMORY. */
static enum status solve_pressing(const struct rows *rows, uint32_t count, const double *u,
				  const double *c, uint32_t rank, double *x, bool *solved)
{
	uint32_t lines = rank + count;
	size_t room = qp_dual_active_set_bytes(count, lines), square = (size_t)count * count;
	void *memory = heap_alloc_aligned(room);
	double *numbers = heap_alloc_zero((square + (size_t)lines * count + count + 2 * lines) *
					  sizeof *numbers);
	bool *equal = heap_alloc_zero(lines * sizeof *equal);
	*solved = false;
	if (memory != NULL && numbers != NULL && equal != NULL) {
		double *g = numbers, *matrix = g + square, *zero = matrix + (size_t)lines * count;
		double *d = zero + count, *multipliers = d + lines;
		uint32_t used = rank;
		for (uint32_t i = 0; i < count; i++)
			g[(size_t)i * count + i] = 1;
		dense_copy(matrix, u, rank * count);
		for (uint32_t k = 0; k < rank; k++) {
			d[k] = c[k];
			equal[k] = true;
		}
		for (uint32_t i = 0; i < count; i++)
			if (rows->presses[i])
				matrix[(size_t)used++ * count + i] = 1;
		struct qp_problem problem = { count, used, g, zero, matrix, d, equal };
		struct solver_options options = solver_options_default();
		struct qp_dual_active_set solver;
		qp_dual_active_set_init(&solver, memory, count, lines);
		*solved =
			qp_dual_active_set_solve(&solver, &problem, &options, x, multipliers, NULL)
				.status == SOLVER_SOLVED;
	}
	bool missing = memory == NULL || numbers == NULL || equal == NULL;
	heap_free(memory);
	heap_free(numbers);
	heap_free(equal);
	return missing ? STATUS_NO_MEMORY : STATUS_OK;
}

/* Replaces λ of the first `count` rows, those of contacts, by the representative of least norm. */
static enum status least_norm(const struct rows *rows, uint32_t count, double *u, bool *solved)
{
	double c[ROWS_MAX], x[ROWS_MAX];
	uint32_t rank = span_columns(rows, count, u);
	bool pulls = false;
	enum status status = STATUS_OK;
	dense_zero(x, count);
	for (uint32_t k = 0; k < rank; k++) {
		c[k] = dense_dot(u + (size_t)k * count, rows->lambda, count);
		dense_mul_add(x, u + (size_t)k * count, c[k], count);
	}
	double most = dense_max_abs(rows->lambda, count);
	for (uint32_t i = 0; i < count; i++)
		pulls |= rows->presses[i] && x[i] < -1e-12 * most;
	*solved = !pulls;
	if (pulls)
		status = solve_pressing(rows, count, u, c, rank, x, solved);
	for (uint32_t i = 0; i < count && *solved; i++)
		rows->lambda[i] = rows->presses[i] ? MAX_OF(x[i], 0.0) : x[i];
	return status;
}

/* ---- one island -------------------------------------------------------------------------------- */

/* Reads the contacts' numbers back, in the order of put_contact. */
static void take_contact(struct work *self, const struct rows *rows,
			 const struct force_contact *contact, const bool *unique, bool least,
			 uint32_t *row)
{
	struct force_view *points = self->points + contact->first;
	uint8_t otherwise = least ? FORCE_LEAST_NORM : FORCE_AS_FOUND;
	bool friction = contact->count > 0 && has_friction(&self->world->dynamics, contact->row);
	for (uint32_t i = 0; i < contact->count; i++, ++*row) {
		points[i].known = unique[*row] ? FORCE_UNIQUE : otherwise;
		points[i].normal_force = least ? rows->lambda[*row] : points[i].normal_force;
	}
	if (!friction)
		return;
	if (least) {
		vec3 axes[2];
		row_frame(points[0].normal, &axes[0], &axes[1]);
		points[0].friction_force = vec3_mul_add(vec3_scale(axes[0], rows->lambda[*row]),
							axes[1], rows->lambda[*row + 1]);
	}
	for (uint32_t k = 0; k < 2; k++, ++*row)
		if (!unique[*row])
			points[0].known = otherwise;
	*row += contact->count > 1;
}

/* The longest arm of an island's contacts, m. */
static double arm_length(const struct work *self, const struct force_contact *contacts,
			 uint32_t count)
{
	const struct tables *tables = &self->world->tables;
	double square = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t ends[2] = { contact_body_a(tables, contacts[i].row),
				     contact_body_b(tables, contacts[i].row) };
		for (uint32_t k = 0; k < 2 * contacts[i].count; k++) {
			vec3 point = self->points[contacts[i].first + k / 2].point;
			vec3 centre = self->world->dynamics.bodies.items[ends[k % 2]].centre;
			if (can_move(self, ends[k % 2]))
				square = scalar_max(square,
						    vec3_length_squared(vec3_sub(point, centre)));
		}
	}
	return square > 0 ? __builtin_sqrt(square) : 1;
}

static void number_body(struct work *self, uint32_t row)
{
	if (!can_move(self, row) || self->columns[row] != UINT32_MAX)
		return;
	self->columns[row] = self->member_count;
	self->members[self->member_count++] = row;
}

/* Numbers the island's bodies: those of its contacts and gears, then those that joints link with them. */
static void number_bodies(struct work *self, const struct force_contact *contacts, uint32_t count)
{
	const struct tables *tables = &self->world->tables;
	self->member_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		number_body(self, contact_body_a(tables, contacts[i].row));
		number_body(self, contact_body_b(tables, contacts[i].row));
	}
	for (uint32_t i = first_gear(self, contacts[0].island);
	     i < self->gear_count && self->gears[i].island == contacts[0].island; i++) {
		uint32_t row = self->gears[i].row, ends[4];
		gear_ends(tables, row, tables->joint.leader[row][self->gears[i].axis] - 1, ends);
		for (uint32_t k = 0; k < 4; k++)
			number_body(self, ends[k]);
	}
	for (uint32_t i = 0; i < self->member_count; i++)
		for (uint32_t e = joint_first(tables, self->members[i]); e != DYNAMICS_NONE;
		     e = joint_next(tables, e))
			number_body(self, joint_other(tables, e));
}

/* Appends the rows of the island's joints and gears. False: too many. */
static bool put_joints(struct work *self, struct rows *rows, uint32_t island)
{
	const struct tables *tables = &self->world->tables;
	for (uint32_t i = 0; i < self->member_count; i++)
		for (uint32_t e = joint_first(tables, self->members[i]); e != DYNAMICS_NONE;
		     e = joint_next(tables, e)) {
			/* A joint of two members is in both lists: the list of a counts. */
			bool again = e % 2 == 1 && can_move(self, joint_other(tables, e));
			if (!again && !put_joint(self, rows, e / 2))
				return false;
		}
	for (uint32_t i = first_gear(self, island);
	     i < self->gear_count && self->gears[i].island == island; i++)
		if (!put_gear(self, rows, &self->gears[i]))
			return false;
	return true;
}

static enum status examine(struct work *self, const struct force_contact *contacts, uint32_t count,
			   bool least)
{
	number_bodies(self, contacts, count);
	uint32_t at = 0;
	struct rows rows = { .width = COLUMNS * self->member_count,
			     .length = arm_length(self, contacts, count) };
	size_t square = (size_t)ROWS_MAX * rows.width;
	double *numbers = heap_alloc((2 * square + ROWS_MAX) * sizeof *numbers);
	bool presses[ROWS_MAX], unique[ROWS_MAX], fits = true, solved = true;
	if (numbers == NULL)
		return STATUS_NO_MEMORY;
	double *u = numbers + square;
	rows.j = numbers;
	rows.lambda = u + square;
	rows.presses = presses;
	for (uint32_t i = 0; i < count; i++)
		fits = fits && put_contact(self, &rows, &contacts[i]);
	uint32_t of_contacts = rows.count;
	fits = fits && put_joints(self, &rows, contacts[0].island);
	double cost = (double)rows.count * rows.width * MIN_OF(rows.count, rows.width);
	enum status status = STATUS_OK;
	if (fits && cost <= self->left) {
		self->left -= cost;
		uint32_t rank = span_columns(&rows, rows.count, u);
		bool all = true;
		for (uint32_t i = 0; i < rows.count; i++)
			all &= unique[i] = is_unique(u, rank, rows.count, i);
		if (least && !all)
			status = least_norm(&rows, of_contacts, u, &solved);
		for (uint32_t i = 0; i < count; i++)
			take_contact(self, &rows, &contacts[i], unique, least && !all && solved,
				     &at);
	}
	heap_free(numbers);
	return status;
}

/* ---- the answer -------------------------------------------------------------------------------- */

static int compare_places(const void *x, const void *y, void *context)
{
	UNUSED(context);
	const struct force_view *a = x, *b = y;
	const uint32_t keys[2][4] = { { a->a, a->b, a->child_a, a->child_b },
				      { b->a, b->b, b->child_a, b->child_b } };
	for (uint32_t k = 0; k < 4; k++)
		if (keys[0][k] != keys[1][k])
			return keys[0][k] < keys[1][k] ? -1 : 1;
	return 0;
}

static enum status examine_all(struct work *self, bool least)
{
	enum status status = STATUS_OK;
	for (uint32_t i = 0, end; i < self->contact_count && status == STATUS_OK; i = end) {
		for (end = i; end < self->contact_count &&
			      self->contacts[end].island == self->contacts[i].island;
		     end++)
			collect_points(self, &self->contacts[end]);
		status = examine(self, self->contacts + i, end - i, least);
	}
	return status;
}

/* Writes the points asked for, in the order of world_contacts. */
static uint32_t write_points(struct work *self, struct force_view *scratch, struct force_view *out,
			     uint32_t capacity)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < self->contact_count; i++) {
		const struct force_contact *contact = &self->contacts[i];
		for (uint32_t k = 0; k < contact->count && contact->wanted; k++)
			self->points[count++] = self->points[contact->first + k];
	}
	/* The sort is stable, so the points of a contact keep their order. */
	sort_items(self->points, scratch, count, sizeof *scratch, compare_places, NULL);
	count = MIN_OF(count, capacity);
	if (count > 0)
		memcpy(out, self->points, count * sizeof *out);
	return count;
}

enum status world_forces(const struct world *world, body_id body, bool least,
			 struct force_view *out, uint32_t capacity, uint32_t *count)
{
	const struct tables *tables = &world->tables;
	struct work work = { .world = world, .left = WORK_MAX };
	uint32_t bodies = tables->body.count, contacts = tables->contact.count;
	size_t points = (size_t)MANIFOLD_POINTS_MAX * contacts;
	struct world_info info = world_info(world);
	uint32_t row = body == 0 ? DYNAMICS_NONE : dynamics_find_body(&world->dynamics, body);
	*count = 0;
	if (body != 0 && row == ROW_NONE)
		return STATUS_UNKNOWN_BODY;
	work.rate = (double)info.rate_num / info.rate_den;
	work.parents = heap_alloc(3 * ((size_t)bodies + 1) * sizeof *work.parents);
	work.contacts = heap_alloc(2 * ((size_t)contacts + 1) * sizeof *work.contacts);
	work.points = heap_alloc(2 * (points + 1) * sizeof *work.points);
	enum status status = STATUS_NO_MEMORY;
	if (work.parents != NULL && work.contacts != NULL && work.points != NULL) {
		work.columns = work.parents + bodies + 1;
		work.members = work.columns + bodies + 1;
		find_islands(&work);
		status = find_gears(&work);
	}
	if (status == STATUS_OK) {
		collect(&work, row);
		sort_items(work.contacts, work.contacts + contacts + 1, work.contact_count,
			   sizeof *work.contacts, compare_islands, NULL);
		status = examine_all(&work, least);
	}
	if (status == STATUS_OK)
		*count = write_points(&work, work.points + points + 1, out, capacity);
	heap_free(work.parents);
	heap_free(work.contacts);
	heap_free(work.points);
	heap_free(work.gears);
	return status;
}
