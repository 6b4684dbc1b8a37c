/* pile_convex.c: rows of moving polyhedra (papers P-09, P-10), which keep their rotation.
 *
 * Two convex pieces meet when the displacement d of one against the other lies in the convex set A ⊕ −B. Its
 * point nearest to 0 is the difference of the nearest points of A and B, so the half-space through it is the
 * one across their shortest connection: GJK finds it, and EPA the least way out of an overlap. No sum is
 * built.
 *
 * What does not move is a set of convex pieces: shapes, and triangles of meshes, solid from the side of their
 * normals. They are taken nearest first, and a piece that lies behind a half-space as seen by the body
 * gets none of its own, because the body cannot reach it in the step: without that, the triangle that lies
 * flat before a body would stop it. Pieces that reach beyond get the half-space of their nearest point,
 * though a part of them may be out of reach: that is more than is needed, and never less.
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
#include "server/engine/geometry/support.h"
#include "server/engine/math/scalar.h"
#include "server/engine/methods/pile.h"

/* Of the radius: the gap of a body at first. Larger: fewer steps, of which the last ones are longer. */
#define SMOOTH_FIRST 0.01
/* m: a piece that reaches no farther than this beyond a half-space lies behind it. */
#define BEHIND 1e-10

bool pile_is_mover(const struct shape *shape)
{
	return shape->kind == SHAPE_SPHERE || shape->kind == SHAPE_BOX || shape->kind == SHAPE_HULL;
}

double pile_smoothing(const struct pile_body *body)
{
	ASSERT(body->halved <= SMOOTH_HALVINGS);
	return body->round ? 0 : SMOOTH_FIRST * body->radius / (double)(1u << body->halved);
}

static struct pile_piece piece_of(const struct pile *self, uint32_t placement, uint32_t child)
{
	const struct dynamics *dynamics = self->step->dynamics;
	const struct tables *tables = dynamics->tables;
	pose at = pose_mul(body_pose(tables, placement_body(tables, placement)),
			   placement_pose(tables, placement));
	return (struct pile_piece){ placement_shape(dynamics, placement), at, placement, child };
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

enum status pile_add_convex(const struct pile *self, uint32_t slot, uint32_t other)
{
	struct pile_room *room = self->room;
	ASSERT(slot != other);
	uint32_t a = MIN_OF(slot, other), b = MAX_OF(slot, other);
	const struct pile_body *first = &self->bodies[a], *second = &self->bodies[b];
	struct pile_piece pieces[2] = { piece_of(self, first->placement, 0),
					piece_of(self, second->placement, 0) };
	struct pile_parting parting = part_pieces(self, &pieces[0], &pieces[1]);
	bool edges = !first->round && !second->round;
	double smoothing = edges ? pile_smoothing(first) + pile_smoothing(second) : 0;
	enum status status = ARRAY_RESERVE(&room->rows, room->rows.count + 2);
	if (status != STATUS_OK)
		return status;
	struct pile_row row = {
		.a = a,
		.b = b,
		.normal = parting.normal,
		.gap = gap_of(parting.distance, smoothing),
		.point = parting.point,
		.distance = parting.distance,
		.smoothed = edges,
		.key = { MIN_OF(first->placement, second->placement),
			 MAX_OF(first->placement, second->placement), 0 },
	};
	bool lifts = parting.distance < -PILE_OVERLAP && first->lifts && second->lifts;
	if (lifts)
		row.gap = 0; /* the overlap does not grow */
	room->rows.items[room->rows.count++] = row;
	if (!lifts)
		return STATUS_OK;
	parting = part_along(self, &pieces[0], &pieces[1]);
	row.normal = parting.normal;
	row.gap = row.distance = parting.distance;
	row.point = parting.point;
	row.key.part = 1;
	room->rows.items[room->rows.count++] = row;
	return STATUS_OK;
}

/* ---- static pieces ----------------------------------------------------------------------------- */

struct static_search {
	const struct pile *pile;
	struct pile_piece own;
	double limit; /* m: what is farther is not met in the step */
	uint32_t slot;
	enum status status;
};

static void note_piece(struct static_search *self, const struct pile_piece *piece,
		       struct pile_parting parting)
{
	if (!(parting.distance < self->limit) || self->status != STATUS_OK)
		return;
	self->status = ARRAY_RESERVE(&self->pile->room->pieces, self->pile->room->pieces.count + 1);
	if (self->status == STATUS_OK)
		self->pile->room->pieces.items[self->pile->room->pieces.count++] =
			(struct pile_near_piece){ parting, *piece };
}

static void note_plane(struct static_search *self, const struct pile_piece *piece)
{
	vec3 normal = pose_vector(piece->at, piece->shape->plane.normal);
	double level = vec3_dot(normal, piece->at.position) + piece->shape->plane.offset;
	note_piece(self, piece, part_plane(&self->own, normal, level));
}

static void note_mesh(struct static_search *self, const struct pile_piece *piece)
{
	const struct mesh *mesh = piece->shape->mesh;
	struct mesh_walk walk;
	const struct pile_body *body = &self->pile->bodies[self->slot];
	vec3 centre = pose_inverse_point(piece->at, body->centre);
	mesh_walk_init(&walk, mesh, aabb_of_centre(centre, vec3_all(body->radius + self->limit)));
	struct pile_piece part = *piece;
	while (mesh_walk_next(&walk, &part.child)) {
		vec3 normal = pose_vector(piece->at, mesh_normal(mesh, part.child));
		vec3 corner = pose_point(piece->at, mesh_corner(mesh, part.child, 0));
		/* A body that is all behind it is on its other side. */
		if (extent_of(&self->own, normal) <= vec3_dot(normal, corner))
			continue;
		struct pile_parting parting = part_pieces(self->pile, &self->own, &part);
		if (parting.distance < 0)
			parting = part_plane(&self->own, normal, vec3_dot(normal, corner));
		note_piece(self, &part, parting);
	}
}

static int compare_pieces(const void *a, const void *b, void *context)
{
	const struct pile_near_piece *x = a, *y = b;
	UNUSED(context);
	if (x->parting.distance != y->parting.distance)
		return x->parting.distance < y->parting.distance ? -1 : 1;
	if (x->piece.placement != y->piece.placement)
		return x->piece.placement < y->piece.placement ? -1 : 1;
	return x->piece.child < y->piece.child ? -1 : x->piece.child > y->piece.child;
}

/* Whether a piece lies behind a half-space, as the body sees it. */
static bool is_behind(const struct static_search *self, const struct pile_piece *piece,
		      const struct pile_parting *parting)
{
	if (piece->shape->kind == SHAPE_PLANE)
		return false;
	double lowest = -extent_of(&self->own, vec3_negate(parting->normal));
	return extent_of(piece, parting->normal) <= lowest - parting->distance + BEHIND;
}

/* A row for each piece, nearest first, that is not behind those before. */
static void add_pieces(struct static_search *self)
{
	struct pile_room *room = self->pile->room;
	const struct pile_body *body = &self->pile->bodies[self->slot];
	double smoothing = pile_smoothing(body);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < self->pile->room->pieces.count && self->status == STATUS_OK; i++) {
		const struct pile_near_piece near = self->pile->room->pieces.items[i];
		bool behind = false;
		for (uint32_t k = 0; k < kept && !behind; k++)
			behind = is_behind(self, &near.piece,
					   &self->pile->room->pieces.items[k].parting);
		if (behind)
			continue;
		self->pile->room->pieces.items[kept++] = near;
		bool edges = !body->round && near.piece.shape->kind != SHAPE_SPHERE &&
			     near.piece.shape->kind != SHAPE_PLANE;
		self->status = ARRAY_RESERVE(&room->rows, room->rows.count + 1);
		if (self->status != STATUS_OK)
			return;
		room->rows.items[room->rows.count++] = (struct pile_row){
			.a = self->slot,
			.b = PILE_STATIC,
			.normal = near.parting.normal,
			.gap = gap_of(near.parting.distance, edges ? smoothing : 0),
			.point = near.parting.point,
			.distance = near.parting.distance,
			.smoothed = edges,
			.key = { MIN_OF(body->placement, near.piece.placement),
				 MAX_OF(body->placement, near.piece.placement), near.piece.child },
		};
	}
}

enum status pile_add_static_convex(const struct pile *self, uint32_t slot,
				   const uint32_t *placements, uint32_t count)
{
	const struct pile_body *body = &self->bodies[slot];
	struct pile_room *room = self->room;
	struct arena *arena = &self->step->dynamics->scratch;
	struct static_search near = {
		.pile = self,
		.own = piece_of(self, body->placement, 0),
		.slot = slot,
		.limit = body->farthest + pile_smoothing(body),
	};
	room->pieces.count = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct pile_piece piece = piece_of(self, placements[i], 0);
		ASSERT(pile_is_obstacle(piece.shape));
		if (piece.shape->kind == SHAPE_PLANE)
			note_plane(&near, &piece);
		else if (piece.shape->kind == SHAPE_MESH)
			note_mesh(&near, &piece);
		else
			note_piece(&near, &piece, part_pieces(self, &near.own, &piece));
	}
	if (near.status != STATUS_OK || room->pieces.count == 0)
		return near.status;
	struct arena_mark mark = arena_mark(arena);
	void *scratch = ARENA_ARRAY(arena, struct pile_near_piece, room->pieces.count);
	if (scratch == NULL)
		return STATUS_NO_MEMORY;
	sort_items(room->pieces.items, scratch, room->pieces.count, sizeof *room->pieces.items,
		   compare_pieces, NULL);
	arena_rewind(arena, mark);
	add_pieces(&near);
	return near.status;
}
