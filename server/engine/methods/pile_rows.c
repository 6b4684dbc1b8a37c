/* pile_rows.c: the bodies of a step of `pile` and the rows of all that may meet in it.
 *
 * A sphere stays in a cube around its centre (papers P-06), so only things that two cubes can bring
 * together need a row: near sets by radius. They come from the broad phase. A pair of spheres is
 * found by the one that goes farther, usually the larger (of equal ones by the lower slot), so a query is
 * no wider than its own cube and a cube of its own size beside it, and a large sphere costs small ones
 * nothing.
 */
#include "server/base/array.h"
#include "server/base/sort.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/force.h"
#include "server/engine/dynamics/pairs.h"
#include "server/engine/math/scalar.h"
#include "server/engine/methods/pile.h"

/* ---- bodies ------------------------------------------------------------------------------------ */

/* Most of the radius that `ahead` grows to, as pile.reach. */
#define AHEAD_MAX 10

/* How far a body may go in the step. */
static void set_reach(const struct pile *self, struct pile_body *body)
{
	double most = scalar_max(AHEAD_MAX * body->radius, body->reach);
	double ahead = body->reach + body->grown * self->acceleration * body->radius, square = 0;
	body->ahead = scalar_min(ahead, most);
	for (uint32_t k = 0; k < 3; k++) {
		double half = self->leads_down[k] ? body->ahead : body->reach;
		square += half * half;
	}
	body->farthest =
		body->ahead > body->reach ? scalar_sqrt(square) : PILE_DIAGONAL * body->reach;
	ASSERT(body->reach > 0 && body->ahead >= body->reach);
}

enum status pile_make_bodies(struct pile *self)
{
	struct step *step = self->step;
	struct dynamics *dynamics = step->dynamics;
	const struct tables *tables = dynamics->tables;
	struct arena *arena = &dynamics->scratch;
	uint32_t count = step->body_count;
	struct force_sum *sums = ARENA_ARRAY(arena, struct force_sum, count);
	self->bodies = ARENA_ARRAY(arena, struct pile_body, count);
	self->places = arena_push_array(arena, count, sizeof *self->places);
	self->moves = ARENA_ARRAY(arena, vec3, count);
	self->resting = ARENA_ARRAY(arena, bool, count);
	if (sums == NULL || self->bodies == NULL || self->places == NULL || self->moves == NULL ||
	    self->resting == NULL)
		return STATUS_NO_MEMORY;
	self->room->own.count = 0;
	force_all(dynamics, step->bodies, count, step->dt, sums);
	for (uint32_t slot = 0; slot < count; slot++) {
		uint32_t row = step->bodies[slot];
		ASSERT(tables->body.status[row] == BODY_DYNAMIC);
		uint32_t placement = tables->body.first_placement[row] - 1;
		const struct shape *shape = placement_shape(dynamics, placement);
		ASSERT(pile_is_mover(shape));
		bool one = tables->placement.next[placement] == 0;
		bool round = one && shape->kind == SHAPE_SPHERE;
		bool parts = !one || shape->kind == SHAPE_SOLID;
		const struct body_cache *cache = &dynamics->bodies.items[row];
		double radius = round	? shape->sphere.radius
				: parts ? cache->reach
					: shape->radius_max;
		pose at = pose_mul(body_pose(tables, row), placement_pose(tables, placement));
		double mass = tables->body.mass[row];
		self->bodies[slot] = (struct pile_body){
			.row = row,
			.placement = placement,
			.centre = round	  ? at.position
				  : parts ? cache->centre
					  : pose_point(at, shape->mass.centre),
			.radius = radius,
			.reach = self->reach * radius,
			.force = vec3_mul_add(sums[slot].force, sums[slot].acceleration, mass),
			.round = round,
		};
		pile_basis_counts(self->before, tables->body.id[row], &self->bodies[slot]);
		self->bodies[slot].size = vec3_length(self->bodies[slot].force);
		set_reach(self, &self->bodies[slot]);
		self->moves[slot] = vec3_zero();
		self->resting[slot] = false;
		enum status status = pile_list_pieces(self, &self->bodies[slot]);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

/* ---- near things ------------------------------------------------------------------------------- */

/* A search of what is near a body. */
struct near_search {
	const struct pile *pile;
	uint32_t slot;
	enum status status;
};

/* Whether the body finds the pair, and not the other one. */
static bool finds_pair(const struct pile *self, uint32_t slot, uint32_t other)
{
	ASSERT(slot != other);
	double mine = self->bodies[slot].farthest, its = self->bodies[other].farthest;
	return mine > its || (mine == its && slot < other);
}

static double near_distance(const struct pile_body *a, const struct pile_body *b)
{
	ASSERT(a->reach > 0 && b->reach > 0);
	return a->radius + b->radius + a->farthest + b->farthest;
}

static bool is_near_sphere(const struct pile *self, uint32_t slot, uint32_t other)
{
	const struct pile_body *a = &self->bodies[slot], *b = &self->bodies[other];
	double near = near_distance(a, b);
	return finds_pair(self, slot, other) &&
	       vec3_distance_squared(a->centre, b->centre) < near * near;
}

static bool note_near(uint32_t placement, void *context)
{
	struct near_search *search = context;
	const struct pile *self = search->pile;
	const struct dynamics *dynamics = self->step->dynamics;
	const struct pile_body *body = &self->bodies[search->slot];
	uint32_t row = placement_body(dynamics->tables, placement);
	if (row == body->row)
		return true;
	bool moves = step_takes_part(self->step, row);
	uint32_t slot = moves ? dynamics->bodies.items[row].slot : PILE_STATIC;
	ASSERT(!moves || slot < self->step->body_count);
	if (moves && !is_near_sphere(self, search->slot, slot))
		return true;
	if (!pile_may_meet(self, search->slot, placement))
		return true;
	struct pile_room *room = self->room;
	search->status = moves ? ARRAY_RESERVE(&room->spheres, room->spheres.count + 1)
			       : ARRAY_RESERVE(&room->obstacles, room->obstacles.count + 1);
	if (search->status == STATUS_OK && moves)
		room->spheres.items[room->spheres.count++] = slot;
	else if (search->status == STATUS_OK)
		room->obstacles.items[room->obstacles.count++] = placement;
	return search->status == STATUS_OK;
}

static int compare_numbers(const void *a, const void *b, void *context)
{
	const uint32_t *x = a, *y = b;
	UNUSED(context);
	return *x < *y ? -1 : *x > *y;
}

/* Sorts, and leaves each number once. */
static enum status sort_numbers(struct arena *arena, uint32_t *items, uint32_t *count)
{
	struct arena_mark mark = arena_mark(arena);
	void *scratch = ARENA_ARRAY(arena, uint32_t, *count);
	uint32_t kept = 0;
	if (scratch == NULL)
		return STATUS_NO_MEMORY;
	sort_items(items, scratch, *count, sizeof *items, compare_numbers, NULL);
	arena_rewind(arena, mark);
	for (uint32_t i = 0; i < *count; i++)
		if (kept == 0 || items[i] != items[kept - 1])
			items[kept++] = items[i];
	*count = kept;
	return STATUS_OK;
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* Two spheres (papers P-03). Centres that coincide part along a fixed axis. */
static enum status add_spheres(const struct pile *self, uint32_t slot, uint32_t other)
{
	struct pile_room *room = self->room;
	ASSERT(slot != other);
	uint32_t a = MIN_OF(slot, other), b = MAX_OF(slot, other);
	const struct pile_body *first = &self->bodies[a], *second = &self->bodies[b];
	double distance;
	vec3 normal = vec3_normalize_length(vec3_sub(first->centre, second->centre), &distance);
	if (!(distance > 0))
		normal = vec3_axis(0);
	double gap = distance - first->radius - second->radius;
	enum status status = ARRAY_RESERVE(&room->rows, room->rows.count + 1);
	if (status != STATUS_OK)
		return status;
	room->rows.items[room->rows.count++] = (struct pile_row){
		.a = a,
		.b = b,
		.normal = normal,
		.gap = gap,
		.point = vec3_mul_add(second->centre, normal, second->radius + 0.5 * gap),
		.distance = gap,
		.key = pile_key_of(first->placement, 0, second->placement, 0),
	};
	return STATUS_OK;
}

/* A query holds the cubes of the body and of a sphere of its size beside it. */
static enum status add_rows(const struct pile *self, uint32_t slot)
{
	struct near_search search = { .pile = self, .slot = slot, .status = STATUS_OK };
	struct pile_room *room = self->room;
	struct dynamics *dynamics = self->step->dynamics;
	const struct pile_body *body = &self->bodies[slot];
	ASSERT(slot < self->step->body_count);
	room->spheres.count = room->obstacles.count = 0;
	struct aabb box = aabb_of_centre(body->centre, vec3_all(body->radius + 2 * body->farthest));
	broad_phase_query(dynamics->broad_phase, &box, note_near, &search);
	enum status status = search.status;
	if (status == STATUS_OK)
		status =
			sort_numbers(&dynamics->scratch, room->spheres.items, &room->spheres.count);
	if (status == STATUS_OK)
		status = sort_numbers(&dynamics->scratch, room->obstacles.items,
				      &room->obstacles.count);
	for (uint32_t i = 0; i < room->spheres.count && status == STATUS_OK; i++) {
		uint32_t other = room->spheres.items[i];
		status = body->round && self->bodies[other].round
				 ? add_spheres(self, slot, other)
				 : pile_add_convex(self, slot, other);
	}
	if (status != STATUS_OK)
		return status;
	const uint32_t *obstacles = room->obstacles.items;
	return body->round ? pile_add_static(self, slot, obstacles, room->obstacles.count)
			   : pile_add_static_convex(self, slot, obstacles, room->obstacles.count);
}

static int compare_made(const void *a, const void *b, void *context)
{
	const struct pile_row *x = a, *y = b;
	UNUSED(context);
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return pile_key_compare(&x->key, &y->key);
}

enum status pile_make_rows(struct pile *self)
{
	struct arena *arena = &self->step->dynamics->scratch;
	struct pile_room *room = self->room;
	enum status status = STATUS_OK;
	ASSERT(self->bodies != NULL);
	room->rows.count = 0;
	for (uint32_t slot = 0; slot < self->step->body_count && status == STATUS_OK; slot++)
		status = add_rows(self, slot);
	if (status != STATUS_OK)
		return status;
	self->rows = room->rows.items;
	self->row_count = room->rows.count;
	struct pile_row *scratch = ARENA_ARRAY(arena, struct pile_row, self->row_count);
	if (scratch == NULL)
		return STATUS_NO_MEMORY;
	sort_items(self->rows, scratch, self->row_count, sizeof *scratch, compare_made, NULL);
	return STATUS_OK;
}
