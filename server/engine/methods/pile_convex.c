/* pile_convex.c: rows of moving polyhedra (papers P-09, P-10), which keep their rotation.
 *
 * Two convex pieces meet when the displacement d of one against the other lies in the convex set A ⊕ −B. Its
 * point nearest to 0 is the difference of the nearest points of A and B, so the half-space through it is the
 * one across their shortest connection: GJK finds it, and EPA the least way out of an overlap. No sum is
 * built.
 *
 * A body may have several pieces, which are its shapes and the parts of solids: a mesh that moves is one of
 * convex parts. Two bodies then meet where d lies in a union of such sets, one for each pair of pieces, and
 * a half-space is made for the nearest set, then for the nearest of those that are not behind it, and so on.
 * So bodies with hollows hook into each other, and fill each other's hollows where the way is free.
 *
 * What does not move is such a set of pieces, too: shapes, and triangles of meshes, solid from the side of
 * their normals. Of one that lies behind a half-space as seen by the body none is made, because the body
 * cannot reach it in the step: without that, the triangle that lies flat before a body would stop it. Pieces
 * that reach beyond get the half-space of their nearest point, though a part of them may be out of reach:
 * that is more than is needed, and never less.
 *
 * Smoothing: the theorem of papers P-02 asks for smooth bodies, of which one in a pair may have edges. So
 * polyhedra are kept apart from each other, and from what does not move, by a gap, a part of their radius,
 * as if each were rounded by it. Each time that their group would be at rest the gap is halved,
 * SMOOTH_HALVINGS times, and then it is at rest. Pieces that are nearer than the gap, without overlap, come
 * no nearer. Spheres are smooth.
 *
 * Overlap that does not get less, because others are in the shortest way out (pieces in a row between
 * two walls), is taken away against gravity instead, until none is left or that is blocked too.
 */
#include "server/base/sort.h"
#include "server/engine/collision/epa.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/pairs.h"
#include "server/engine/geometry/solid.h"
#include "server/engine/geometry/support.h"
#include "server/engine/math/scalar.h"
#include "server/engine/methods/pile.h"

/* Of the radius: the gap of a body at first. Larger: fewer steps, of which the last ones are longer. */
#define SMOOTH_FIRST 0.01
/* m: a piece that reaches no farther than this beyond a half-space lies behind it. */
#define BEHIND 1e-10

bool pile_is_mover(const struct shape *shape)
{
	return shape->kind == SHAPE_SPHERE || shape->kind == SHAPE_BOX ||
	       shape->kind == SHAPE_HULL || (shape->kind == SHAPE_SOLID && !shape_is_field(shape));
}

double pile_smoothing(const struct pile_body *body)
{
	ASSERT(body->halved <= SMOOTH_HALVINGS);
	return body->round ? 0 : SMOOTH_FIRST * body->radius / (double)(1u << body->halved);
}

/* Of a plane or mesh the sphere has no meaning. */
static struct pile_piece piece_of(const struct pile *self, uint32_t placement, uint32_t child)
{
	const struct dynamics *dynamics = self->step->dynamics;
	const struct tables *tables = dynamics->tables;
	const struct shape *shape = placement_shape(dynamics, placement);
	uint32_t own = child;
	const struct shape *part = shape_part(shape, &own);
	pose at = pose_mul(body_pose(tables, placement_body(tables, placement)),
			   placement_pose(tables, placement));
	return (struct pile_piece){ .shape = shape,
				    .at = at,
				    .placement = placement,
				    .child = child,
				    .centre = pose_point(at, part->mass.centre),
				    .radius = part->radius_max };
}

static uint32_t part_count(const struct shape *shape)
{
	ASSERT(pile_is_obstacle(shape));
	return shape->kind == SHAPE_SOLID ? shape->solid->part_count : 1;
}

enum status pile_list_pieces(const struct pile *self, struct pile_body *body)
{
	const struct dynamics *dynamics = self->step->dynamics;
	struct pile_room *room = self->room;
	body->first_piece = room->own.count;
	for (uint32_t p = dynamics->tables->body.first_placement[body->row]; p != 0;
	     p = dynamics->tables->placement.next[p - 1]) {
		uint32_t parts = part_count(placement_shape(dynamics, p - 1));
		enum status status = ARRAY_RESERVE(&room->own, room->own.count + parts);
		if (status != STATUS_OK)
			return status;
		for (uint32_t k = 0; k < parts; k++)
			room->own.items[room->own.count++] = piece_of(self, p - 1, k);
	}
	body->piece_count = room->own.count - body->first_piece;
	ASSERT(body->piece_count > 0);
	return STATUS_OK;
}

static bool placements_may_meet(const struct pile *self, uint32_t slot, uint32_t own,
				uint32_t placement)
{
	const struct pile_body *body = &self->bodies[slot];
	const struct dynamics *dynamics = self->step->dynamics;
	vec3 half = vec3_all(body->radius + body->farthest);
	struct pair_reach mine = { own, aabb_of_centre(body->centre, half), 0 };
	struct pair_reach its = pair_reach_fat(dynamics, placement);
	ASSERT(own != placement);
	return pair_may_meet(dynamics, &mine, &its);
}

bool pile_may_meet(const struct pile *self, uint32_t slot, uint32_t placement)
{
	const struct tables *tables = self->step->dynamics->tables;
	uint32_t p = tables->body.first_placement[self->bodies[slot].row];
	ASSERT(p != 0);
	for (; p != 0; p = tables->placement.next[p - 1])
		if (placements_may_meet(self, slot, p - 1, placement))
			return true;
	return false;
}

/* ---- two pieces -------------------------------------------------------------------------------- */

/* Pieces that share a point, of cores without radius: the least way out. Centres that coincide part along a
 * fixed axis. */
static struct pile_parting part_cores(const struct pile *self, const struct gjk_core cores[2],
				      const mat3 *rotation, vec3 translation,
				      const struct gjk_simplex *simplex)
{
	struct epa_result depth;
	ASSERT(self->room->epa != NULL);
	epa_depth(&cores[0], &cores[1], rotation, translation, simplex, self->room->epa, &depth);
	bool known = vec3_length_squared(depth.normal) > 0.5;
	return (struct pile_parting){ .normal = known ? depth.normal : vec3_axis(0),
				      .distance = -depth.depth };
}

static struct pile_parting part_pieces(const struct pile *self, const struct pile_piece *a,
				       const struct pile_piece *b)
{
	struct gjk_points rooms[2];
	const struct gjk_core cores[2] = { gjk_core_of(a->shape, a->child, &rooms[0]),
					   gjk_core_of(b->shape, b->child, &rooms[1]) };
	pose to = pose_relative(a->at, b->at);
	mat3 rotation = mat3_from_quat(to.rotation);
	struct gjk_result near;
	gjk_distance(&cores[0], &cores[1], &rotation, to.position, NULL, &near);
	struct pile_parting parting = { .normal = near.normal, .distance = near.distance };
	if (near.touching)
		parting = part_cores(self, cores, &rotation, to.position, &near.simplex);
	ASSERT(scalar_is_finite(parting.distance));
	/* From the middle of the cores to that of what is around them. */
	vec3 middle = vec3_scale(vec3_add(near.point_a, near.point_b), 0.5);
	middle = vec3_mul_add(middle, parting.normal, 0.5 * (cores[0].radius - cores[1].radius));
	parting.point = pose_point(a->at, middle);
	parting.normal = vec3_negate(pose_vector(a->at, parting.normal));
	parting.distance -= cores[0].radius + cores[1].radius;
	return parting;
}

/* The farthest point of a piece along a direction of the world. */
static vec3 farthest_of(const struct pile_piece *piece, vec3 normal)
{
	vec3 local = pose_inverse_vector(piece->at, normal);
	struct support far = support_core(piece->shape, piece->child, local);
	ASSERT(piece->shape->kind != SHAPE_PLANE);
	return vec3_mul_add(pose_point(piece->at, far.point), normal, support_radius(piece->shape));
}

/* How far it is from the origin: normal · x. */
static double extent_of(const struct pile_piece *piece, vec3 normal)
{
	return vec3_dot(normal, farthest_of(piece, normal));
}

/* A piece and a half-space normal · x ≤ level. */
static struct pile_parting part_plane(const struct pile_piece *piece, vec3 normal, double level)
{
	vec3 lowest = farthest_of(piece, vec3_negate(normal));
	double distance = vec3_dot(normal, lowest) - level;
	return (struct pile_parting){ normal, distance,
				      vec3_mul_sub(lowest, normal, 0.5 * distance) };
}

/* The gap of a row, with the smoothing of one or both. */
static double gap_of(double distance, double smoothing)
{
	return distance > smoothing ? distance - smoothing : scalar_min(distance, 0);
}

/* The parting of two pieces along the axis of gravity, with the one above that is there sooner. */
static struct pile_parting part_along(const struct pile *self, const struct pile_piece *a,
				      const struct pile_piece *b)
{
	struct pile_parting best = { .distance = -SCALAR_MAX };
	for (uint32_t k = 0; k < 2; k++) {
		vec3 normal = vec3_scale(self->down, k == 0 ? -1 : 1);
		vec3 lowest = farthest_of(a, vec3_negate(normal));
		vec3 highest = farthest_of(b, normal);
		double distance = vec3_dot(normal, vec3_sub(lowest, highest));
		if (distance > best.distance)
			best = (struct pile_parting){ normal, distance,
						      vec3_scale(vec3_add(lowest, highest), 0.5) };
	}
	ASSERT(scalar_is_finite(best.distance));
	return best;
}

/* ---- what is near ------------------------------------------------------------------------------ */

/* Pairs of a piece of a body and one of another, or of what does not move. */
struct parting_search {
	const struct pile *pile;
	uint32_t slot, other; /* PILE_STATIC: what does not move */
	double limit;	      /* m: what is farther is not met in the step */
	enum status status;
};

static void note_pair(struct parting_search *self, const struct pile_piece *own,
		      const struct pile_piece *piece, struct pile_parting parting)
{
	struct pile_room *room = self->pile->room;
	if (!(parting.distance < self->limit) || self->status != STATUS_OK)
		return;
	self->status = ARRAY_RESERVE(&room->pieces, room->pieces.count + 1);
	if (self->status == STATUS_OK)
		room->pieces.items[room->pieces.count++] =
			(struct pile_near_piece){ parting, *own, *piece };
}

static bool spheres_are_near(const struct parting_search *self, const struct pile_piece *own,
			     const struct pile_piece *piece)
{
	double near = own->radius + piece->radius + self->limit;
	ASSERT(near > 0);
	return vec3_distance_squared(own->centre, piece->centre) < near * near;
}

static int compare_pieces(const void *a, const void *b, void *context)
{
	const struct pile_near_piece *x = a, *y = b;
	UNUSED(context);
	if (x->parting.distance != y->parting.distance)
		return x->parting.distance < y->parting.distance ? -1 : 1;
	if (x->piece.placement != y->piece.placement)
		return x->piece.placement < y->piece.placement ? -1 : 1;
	if (x->piece.child != y->piece.child)
		return x->piece.child < y->piece.child ? -1 : 1;
	if (x->own.placement != y->own.placement)
		return x->own.placement < y->own.placement ? -1 : 1;
	return x->own.child < y->own.child ? -1 : x->own.child > y->own.child;
}

/* Whether a pair of pieces cannot meet while the half-space of another keeps their bodies apart. */
static bool is_behind(const struct pile_near_piece *pair, const struct pile_parting *parting)
{
	if (pair->piece.shape->kind == SHAPE_PLANE)
		return false;
	double lowest = -extent_of(&pair->own, vec3_negate(parting->normal));
	return extent_of(&pair->piece, parting->normal) <= lowest - parting->distance + BEHIND;
}

static bool has_edges(const struct pile_piece *piece)
{
	return piece->shape->kind != SHAPE_SPHERE && piece->shape->kind != SHAPE_PLANE;
}

/* The row of a pair, and if the overlap of two bodies is parted against gravity that one. */
static void add_pair(struct parting_search *self, const struct pile_near_piece *near)
{
	const struct pile *pile = self->pile;
	struct pile_room *room = pile->room;
	const struct pile_body *a = &pile->bodies[self->slot];
	const struct pile_body *b = self->other != PILE_STATIC ? &pile->bodies[self->other] : NULL;
	bool edges = has_edges(&near->own) && has_edges(&near->piece);
	double smoothing = edges ? pile_smoothing(a) + (b != NULL ? pile_smoothing(b) : 0) : 0;
	bool lifts = b != NULL && near->parting.distance < -PILE_OVERLAP && a->lifts && b->lifts;
	self->status = ARRAY_RESERVE(&room->rows, room->rows.count + 2);
	if (self->status != STATUS_OK)
		return;
	struct pile_row row = {
		.a = self->slot,
		.b = self->other,
		.normal = near->parting.normal,
		/* An overlap that is parted against gravity does not grow. */
		.gap = lifts ? 0 : gap_of(near->parting.distance, smoothing),
		.point = near->parting.point,
		.distance = near->parting.distance,
		.smoothed = edges,
		.key = pile_key_of(near->own.placement, near->own.child, near->piece.placement,
				   near->piece.child),
	};
	room->rows.items[room->rows.count++] = row;
	if (!lifts)
		return;
	struct pile_parting parting = part_along(pile, &near->own, &near->piece);
	row.normal = parting.normal;
	row.gap = row.distance = parting.distance;
	row.point = parting.point;
	row.key.part_low |= PILE_ALONG;
	room->rows.items[room->rows.count++] = row;
}

/* A row for each pair, nearest first, that is not behind those before. */
static enum status add_pairs(struct parting_search *self)
{
	struct pile_room *room = self->pile->room;
	struct arena *arena = &self->pile->step->dynamics->scratch;
	uint32_t kept = 0;
	if (self->status != STATUS_OK || room->pieces.count == 0)
		return self->status;
	struct arena_mark mark = arena_mark(arena);
	void *scratch = ARENA_ARRAY(arena, struct pile_near_piece, room->pieces.count);
	if (scratch == NULL)
		return STATUS_NO_MEMORY;
	sort_items(room->pieces.items, scratch, room->pieces.count, sizeof *room->pieces.items,
		   compare_pieces, NULL);
	arena_rewind(arena, mark);
	for (uint32_t i = 0; i < room->pieces.count && self->status == STATUS_OK; i++) {
		const struct pile_near_piece near = room->pieces.items[i];
		bool behind = false;
		for (uint32_t k = 0; k < kept && !behind; k++)
			behind = is_behind(&near, &room->pieces.items[k].parting);
		if (behind)
			continue;
		room->pieces.items[kept++] = near;
		add_pair(self, &near);
	}
	return self->status;
}

/* ---- two bodies -------------------------------------------------------------------------------- */

enum status pile_add_convex(const struct pile *self, uint32_t slot, uint32_t other)
{
	struct pile_room *room = self->room;
	ASSERT(slot != other);
	uint32_t a = MIN_OF(slot, other), b = MAX_OF(slot, other);
	const struct pile_body *first = &self->bodies[a], *second = &self->bodies[b];
	bool one = first->piece_count == 1 && second->piece_count == 1;
	struct parting_search near = {
		.pile = self,
		.slot = a,
		.other = b,
		/* Of two pieces always one row: their bodies are near. */
		.limit = one ? SCALAR_MAX
			     : first->farthest + second->farthest + pile_smoothing(first) +
					 pile_smoothing(second),
	};
	room->pieces.count = 0;
	for (uint32_t i = 0; i < first->piece_count; i++)
		for (uint32_t k = 0; k < second->piece_count; k++) {
			const struct pile_piece own = room->own.items[first->first_piece + i];
			const struct pile_piece its = room->own.items[second->first_piece + k];
			if (!one && (!spheres_are_near(&near, &own, &its) ||
				     !placements_may_meet(self, a, own.placement, its.placement)))
				continue;
			note_pair(&near, &own, &its, part_pieces(self, &own, &its));
		}
	return add_pairs(&near);
}

/* ---- static pieces ----------------------------------------------------------------------------- */

static void note_plane(struct parting_search *self, const struct pile_piece *own,
		       const struct pile_piece *piece)
{
	vec3 normal = pose_vector(piece->at, piece->shape->plane.normal);
	double level = vec3_dot(normal, piece->at.position) + piece->shape->plane.offset;
	note_pair(self, own, piece, part_plane(own, normal, level));
}

static void note_mesh(struct parting_search *self, const struct pile_piece *own,
		      const struct pile_piece *piece)
{
	const struct mesh *mesh = piece->shape->mesh;
	struct mesh_walk walk;
	vec3 centre = pose_inverse_point(piece->at, own->centre);
	mesh_walk_init(&walk, mesh, aabb_of_centre(centre, vec3_all(own->radius + self->limit)));
	struct pile_piece part = *piece;
	while (mesh_walk_next(&walk, &part.child)) {
		vec3 normal = pose_vector(piece->at, mesh_normal(mesh, part.child));
		vec3 corner = pose_point(piece->at, mesh_corner(mesh, part.child, 0));
		/* A body that is all behind it is on its other side. */
		if (extent_of(own, normal) <= vec3_dot(normal, corner))
			continue;
		struct pile_parting parting = part_pieces(self->pile, own, &part);
		if (parting.distance < 0)
			parting = part_plane(own, normal, vec3_dot(normal, corner));
		note_pair(self, own, &part, parting);
	}
}

static void note_parts(struct parting_search *self, const struct pile_piece *own,
		       const struct pile_piece *piece)
{
	for (uint32_t k = 0; k < part_count(piece->shape); k++) {
		struct pile_piece part = piece_of(self->pile, piece->placement, k);
		if (spheres_are_near(self, own, &part))
			note_pair(self, own, &part, part_pieces(self->pile, own, &part));
	}
}

static void note_static(struct parting_search *self, const struct pile_piece *own,
			const struct pile_piece *piece)
{
	ASSERT(pile_is_obstacle(piece->shape));
	if (piece->shape->kind == SHAPE_PLANE)
		note_plane(self, own, piece);
	else if (piece->shape->kind == SHAPE_MESH)
		note_mesh(self, own, piece);
	else
		note_parts(self, own, piece);
}

enum status pile_add_static_convex(const struct pile *self, uint32_t slot,
				   const uint32_t *placements, uint32_t count)
{
	const struct pile_body *body = &self->bodies[slot];
	struct parting_search near = {
		.pile = self,
		.slot = slot,
		.other = PILE_STATIC,
		.limit = body->farthest + pile_smoothing(body),
	};
	self->room->pieces.count = 0;
	for (uint32_t i = 0; i < body->piece_count; i++) {
		const struct pile_piece own = self->room->own.items[body->first_piece + i];
		for (uint32_t k = 0; k < count; k++) {
			if (!placements_may_meet(self, slot, own.placement, placements[k]))
				continue;
			struct pile_piece piece = piece_of(self, placements[k], 0);
			note_static(&near, &own, &piece);
		}
	}
	return add_pairs(&near);
}
