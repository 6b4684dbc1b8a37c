/* soft_seams.c: contacts at seams of a flat surface are not solved.
 *
 * A body slides over a floor that is made of pieces: triangles with T-junctions, or the boxes, hulls,
 * planes and meshes of neighbouring static bodies. The narrow phase knows one piece at a time. At the
 * border of a piece it may report a normal d that points back along the floor, and the body bumps on a
 * seam that is not there. (Seams between triangles that share an edge are solved in the narrow phase,
 * pairs_mesh.c.)
 *
 * A contact of a dynamic body with piece T of a body that is not dynamic is dropped if for each of its
 * deepest points p, on T's surface, another piece F that is near the body continues T's face beyond its
 * border:
 *
 *   T has a face through p, whose normal n is not d
 *   F has a face with a normal within SEAM_COS of n at a point in that plane a little beyond p, in
 *   the direction of d
 *
 * In the last case the body's nearest point of the whole surface is on F, which reports it now or when
 * the body is over it. Only flat seams are seams: at the foot of a ramp n of floor and ramp differ, and
 * all contacts stay.
 *
 * A piece that a body of many parts touches many times is listed once. The pieces near a body of
 * many contacts lie in a grid over the two longest sides of the box of its contact points. A
 * point asks the pieces of its cell only, so the cost grows with the number of pieces, not with
 * its square. A piece that covers many cells is asked by all points.
 *
 * Invariant: the result is a function of the contacts of one body, and each body writes its own
 *   contacts only.
 */
#include "server/base/sort.h"
#include "server/engine/collision/gjk.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/contact_words.h"
#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/methods/soft_step.h"

enum {
	SEAM_GRAIN = 16,
	SEAM_FACES = 4,
	SEAM_MANY = 8,	     /* contacts, pieces: of fewer, each is compared with each */
	SEAM_CELLS_MOST = 9, /* cells of one piece; a piece in more is asked by all points */
};

/* Cosine of 1°: normals that differ by less are those of one face. Larger: bumps on nearly flat floors;
 * smaller: the foot of a gentle ramp counts as flat, and bodies sink into it. */
#define SEAM_COS 0.99985
/* Sine. Directions that differ by more are not equal up to rounding. Larger: a fast body is lifted by its
 * speed times as much at each seam. */
#define SEAM_SINE 1e-6
/* m, and of the body's inner radius: a point this near a face is on it. More than the depth of bodies at
 * rest; less than anything that is to be felt. */
#define SEAM_NEAR 2e-3
#define SEAM_NEAR_PART 0.1
/* Of that: how far beyond p the face must continue. */
#define SEAM_BEYOND 4.0

/* A convex piece with plane faces, in the world. */
struct seam_piece {
	const struct shape *shape; /* NULL: it has none */
	uint32_t child;
	bool repeated; /* several contacts are with it */
	pose at;
};

/* The pieces near a body. */
struct seam_pieces {
	struct seam_piece *items;
	uint32_t count;
	uint32_t *of_member; /* NULL: the pieces are those of the members, in their order */
	/* The grid; `cells` NULL: every piece is asked. */
	uint8_t axes[2]; /* of the world */
	double low[2], per_metre[2];
	uint32_t sides[2];
	uint32_t *cells;   /* first entry of each cell, and one more */
	uint32_t *entries; /* pieces */
	uint32_t *wide;	   /* pieces of many cells */
	uint32_t wide_count;
};

struct seam_work {
	struct step *step;
	const uint32_t *firsts;	 /* by slot, and one more: into members */
	const uint32_t *members; /* indexes of contacts */
	bool *failed;		 /* by worker: no memory */
};

static struct seam_piece piece_of(const struct dynamics *self, struct contact_piece piece)
{
	const struct tables *tables = self->tables;
	struct seam_piece out = { .child = piece.child };
	const struct shape *shape = placement_shape(self, piece.placement);
	if (shape_is_field(shape))
		return out;
	out.shape = shape_part(shape, &out.child);
	if (!shape_is_ground(out.shape) && out.shape->hull == NULL)
		out.shape = NULL;
	out.at = pose_mul(body_pose(tables, placement_body(tables, piece.placement)),
			  placement_pose(tables, piece.placement));
	return out;
}

static bool directions_apart(vec3 a, vec3 b)
{
	return vec3_distance_squared(a, b) > SEAM_SINE * SEAM_SINE;
}

/* The faces of a piece within `near` of p, a world point that is within `near` of the piece. Writes their
 * normals, in world axes, and returns their number; of more than SEAM_FACES the first. */
static uint32_t faces_at(const struct seam_piece *piece, vec3 p, double near,
			 vec3 normals[SEAM_FACES])
{
	vec3 q = pose_inverse_point(piece->at, p);
	uint32_t count = 0;
	if (shape_is_surface(piece->shape)) {
		const struct mesh *mesh = piece->shape->mesh;
		struct triangle_point on = closest_point_triangle(
			q, mesh_corner(mesh, piece->child, 0), mesh_corner(mesh, piece->child, 1),
			mesh_corner(mesh, piece->child, 2));
		if (on.distance_squared <= near * near)
			normals[count++] = pose_vector(piece->at, mesh_normal(mesh, piece->child));
		return count;
	}
	if (piece->shape->kind == SHAPE_PLANE) {
		vec3 n = piece->shape->plane.normal;
		if (scalar_abs(vec3_dot(n, q) - piece->shape->plane.offset) <= near)
			normals[count++] = pose_vector(piece->at, n);
		return count;
	}
	const struct hull *hull = piece->shape->hull;
	for (uint32_t f = 0; f < hull->face_count; f++) {
		double height = vec3_dot(hull->faces[f].normal, q) - hull->faces[f].offset;
		if (height > near)
			return 0;
		if (height >= -near && count < SEAM_FACES)
			normals[count++] = pose_vector(piece->at, hull->faces[f].normal);
	}
	return count;
}

/* Whether F has a face with normal n at `place`. */
static bool continues(const struct seam_piece *f, vec3 place, vec3 n, double near)
{
	vec3 normals[SEAM_FACES];
	uint32_t count = faces_at(f, place, near, normals);
	for (uint32_t k = 0; k < count; k++)
		if (vec3_dot(normals[k], n) >= SEAM_COS)
			return true;
	return false;
}

/* The point of a contact on the piece that is not the body's, and the direction from it to the body. */
static vec3 point_on_piece(const struct dynamics *self, const struct contact_state *contact,
			   uint32_t k, bool piece_is_b, vec3 *d)
{
	const struct contact_point *point = &contact->points[k];
	vec3 middle = vec3_add(self->bodies.items[contact->body_a].centre, point->arm_a);
	double half = 0.5 * point->separation;
	*d = piece_is_b ? vec3_negate(contact->normal) : contact->normal;
	return vec3_mul_sub(middle, *d, half);
}

/* The point of a triangle or hull that is nearest to p: points of a contact may be beside it. */
static vec3 nearest_on(const struct seam_piece *piece, vec3 p)
{
	static const vec3 ORIGIN = { 0, 0, 0 };
	if (piece->shape->kind == SHAPE_PLANE)
		return p;
	struct gjk_points room;
	struct gjk_core core = gjk_core_of(piece->shape, piece->child, &room);
	struct gjk_core point = { &ORIGIN, 1, NULL, 0, NULL };
	struct gjk_result near;
	mat3 rotation = mat3_from_quat(piece->at.rotation);
	gjk_distance(&point, &core, &rotation, vec3_sub(piece->at.position, p), NULL, &near);
	return near.touching ? p : vec3_add(p, near.point_b);
}

/* ---- the grid -------------------------------------------------------------------------------- */

static double along(vec3 v, uint32_t axis)
{
	return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static uint32_t cell_along(const struct seam_pieces *self, uint32_t k, double at)
{
	double cell = scalar_floor((at - self->low[k]) * self->per_metre[k]);
	return (uint32_t)scalar_clamp(cell, 0, self->sides[k] - 1);
}

/* Cells first … last along both axes that a piece, grown by `near`, may touch. False: all. */
static bool cells_of(const struct seam_pieces *self, const struct seam_piece *piece, double near,
		     uint32_t first[2], uint32_t last[2])
{
	if (piece->shape->kind == SHAPE_PLANE)
		return false;
	struct aabb box;
	if (shape_is_surface(piece->shape)) {
		vec3 corners[3];
		for (uint32_t c = 0; c < 3; c++)
			corners[c] = pose_point(piece->at,
						mesh_corner(piece->shape->mesh, piece->child, c));
		box.min = vec3_min(corners[0], vec3_min(corners[1], corners[2]));
		box.max = vec3_max(corners[0], vec3_max(corners[1], corners[2]));
	} else {
		box = shape_aabb(piece->shape, &piece->at);
	}
	box = aabb_grow(box, SEAM_BEYOND * near);
	for (uint32_t k = 0; k < 2; k++) {
		first[k] = cell_along(self, k, along(box.min, self->axes[k]));
		last[k] = cell_along(self, k, along(box.max, self->axes[k]));
	}
	return (last[0] - first[0] + 1) * (last[1] - first[1] + 1) <= SEAM_CELLS_MOST;
}

/* Lays a grid of about as many cells as pieces over the box of the contact points. */
static void lay_grid(struct seam_pieces *self, struct aabb points)
{
	vec3 size = vec3_sub(points.max, points.min);
	uint32_t least = size.x < size.y ? 0 : 1;
	least = size.z < along(size, least) ? 2 : least;
	double sides[2], most = 0;
	for (uint32_t k = 0; k < 2; k++) {
		self->axes[k] = (uint8_t)((least + 1 + k) % 3);
		self->low[k] = along(points.min, self->axes[k]);
		sides[k] = along(size, self->axes[k]);
		most = scalar_max(most, sides[k]);
	}
	/* No side is so short that cells along the other would be all the pieces have. */
	double shorter = scalar_max(scalar_min(sides[0], sides[1]), most / self->count);
	double cell = scalar_sqrt(most * shorter / self->count);
	for (uint32_t k = 0; k < 2; k++) {
		uint32_t cells = 1;
		if (!(cell > 0) || !scalar_to_u32(scalar_ceil(sides[k] / cell), &cells))
			cells = 1;
		self->sides[k] = MAX_OF(MIN_OF(cells, self->count), 1u);
		self->per_metre[k] = sides[k] > 0 ? self->sides[k] / sides[k] : 0;
	}
}

/* Puts the pieces into their cells, by counting. Without memory every piece is asked, with the same
 * result. */
static void fill_grid(struct seam_pieces *self, double near, struct arena *arena)
{
	uint32_t cells = self->sides[0] * self->sides[1], first[2], last[2];
	uint32_t *starts = arena_push_zero(arena, ((size_t)cells + 2) * sizeof *starts);
	self->entries = ARENA_ARRAY(arena, uint32_t, (size_t)self->count * SEAM_CELLS_MOST);
	self->wide = ARENA_ARRAY(arena, uint32_t, self->count);
	if (starts == NULL || self->entries == NULL || self->wide == NULL)
		return;
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < self->count; i++) {
			if (self->items[i].shape == NULL)
				continue;
			if (!cells_of(self, &self->items[i], near, first, last)) {
				if (pass == 0)
					self->wide[self->wide_count++] = i;
				continue;
			}
			for (uint32_t y = first[1]; y <= last[1]; y++)
				for (uint32_t x = first[0]; x <= last[0]; x++) {
					uint32_t cell = y * self->sides[0] + x;
					if (pass == 0)
						starts[cell + 2]++;
					else
						self->entries[starts[cell + 1]++] = i;
				}
		}
		for (uint32_t cell = 0; cell < cells && pass == 0; cell++)
			starts[cell + 2] += starts[cell + 1];
	}
	self->cells = starts;
}

static bool is_b(const struct seam_work *work, const struct contact_state *contact, uint32_t slot)
{
	return contact->body_a == work->step->bodies[slot];
}

static bool any_continues(const struct seam_pieces *pieces, const uint32_t *which, uint32_t count,
			  uint32_t but, vec3 place, vec3 n, double near)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t f = which != NULL ? which[i] : i;
		if (f != but && pieces->items[f].shape != NULL &&
		    continues(&pieces->items[f], place, n, near))
			return true;
	}
	return false;
}

/* Whether a piece of another contact than one with piece t has a face with normal n at `place`. */
static bool continues_somewhere(const struct seam_pieces *pieces, uint32_t t, vec3 place, vec3 n,
				double near)
{
	uint32_t but = pieces->items[t].repeated ? pieces->count : t;
	if (pieces->cells == NULL)
		return any_continues(pieces, NULL, pieces->count, but, place, n, near);
	uint32_t x = cell_along(pieces, 0, along(place, pieces->axes[0]));
	uint32_t y = cell_along(pieces, 1, along(place, pieces->axes[1]));
	const uint32_t *range = &pieces->cells[y * pieces->sides[0] + x];
	return any_continues(pieces, pieces->wide, pieces->wide_count, but, place, n, near) ||
	       any_continues(pieces, &pieces->entries[range[0]], range[1] - range[0], but, place, n,
			     near);
}

/* Whether point p of the contact with piece t, with direction d, is at a seam with another of the pieces. */
static bool is_at_seam(const struct seam_pieces *pieces, uint32_t t, vec3 p, vec3 d, double near)
{
	vec3 normals[SEAM_FACES];
	uint32_t count = faces_at(&pieces->items[t], p, near, normals);
	for (uint32_t n = 0; n < count; n++) {
		if (!directions_apart(normals[n], d))
			continue;
		vec3 away = vec3_normalize(vec3_mul_sub(d, normals[n], vec3_dot(d, normals[n])));
		vec3 beyond = vec3_mul_add(p, away, SEAM_BEYOND * near);
		if (continues_somewhere(pieces, t, beyond, normals[n], near))
			return true;
	}
	return false;
}

/* Whether the deepest points of a member are at seams. Others may be any points of T's face that lie
 * farther on in the direction of motion. */
static bool is_ghost(const struct seam_work *work, uint32_t slot, const struct seam_pieces *pieces,
		     uint32_t number, double near)
{
	const struct step *step = work->step;
	const struct contact_state *contact =
		&step->contacts.items[work->members[work->firsts[slot] + number]];
	bool b = is_b(work, contact, slot);
	uint32_t piece = pieces->of_member != NULL ? pieces->of_member[number] : number;
	const struct seam_piece *t = &pieces->items[piece];
	if (t->shape == NULL)
		return false;
	double deepest = contact->points[0].separation;
	for (uint32_t k = 1; k < contact->point_count; k++)
		deepest = scalar_min(deepest, contact->points[k].separation);
	for (uint32_t k = 0; k < contact->point_count; k++) {
		if (contact->points[k].separation > deepest + near)
			continue;
		vec3 d, p = point_on_piece(step->dynamics, contact, k, b, &d);
		p = nearest_on(t, p);
		if (!is_at_seam(pieces, piece, p, d, near))
			return false;
	}
	return true;
}

/* Whether the directions of a body's contacts with points differ, as on a floor they do not, or there is only
 * one. */
static bool may_have_ghosts(const struct seam_work *work, uint32_t slot)
{
	vec3 first = vec3_zero();
	uint32_t count = 0;
	for (uint32_t m = work->firsts[slot]; m < work->firsts[slot + 1]; m++) {
		const struct contact_state *contact = &work->step->contacts.items[work->members[m]];
		if (contact->point_count == 0)
			continue;
		vec3 d = is_b(work, contact, slot) ? vec3_negate(contact->normal) : contact->normal;
		if (count++ > 0 && directions_apart(d, first))
			return true;
		first = d;
	}
	return count == 1;
}

/* The piece that is not the body's of a member. */
static struct contact_piece piece_met(const struct seam_work *work, uint32_t slot, uint32_t number)
{
	const struct contact_state *contact =
		&work->step->contacts.items[work->members[work->firsts[slot] + number]];
	return is_b(work, contact, slot) ? contact->b : contact->a;
}

/* The pieces of a body's `count` contacts, each once if they are many. False: no memory. */
static bool list_pieces(const struct seam_work *work, uint32_t slot, uint32_t count,
			struct arena *arena, struct seam_pieces *out)
{
	const struct dynamics *dynamics = work->step->dynamics;
	out->items = ARENA_ARRAY(arena, struct seam_piece, count);
	if (out->items == NULL)
		return false;
	if (count < SEAM_MANY) {
		out->count = count;
		for (uint32_t i = 0; i < count; i++)
			out->items[i] = piece_of(dynamics, piece_met(work, slot, i));
		return true;
	}
	uint64_t *keys = ARENA_ARRAY(arena, uint64_t, 2 * (size_t)count);
	uint32_t *order = ARENA_ARRAY(arena, uint32_t, 2 * (size_t)count);
	out->of_member = ARENA_ARRAY(arena, uint32_t, count);
	if (keys == NULL || order == NULL || out->of_member == NULL)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct contact_piece piece = piece_met(work, slot, i);
		keys[i] = (uint64_t)piece.placement << 32 | piece.child;
		order[i] = i;
	}
	sort_keys(keys, order, keys + count, order + count, count);
	for (uint32_t i = 0; i < count; i++) {
		if (i > 0 && keys[i] == keys[i - 1])
			out->items[out->count - 1].repeated = true;
		else
			out->items[out->count++] =
				piece_of(dynamics, piece_met(work, slot, order[i]));
		out->of_member[order[i]] = out->count - 1;
	}
	return true;
}

/* The pieces near a body, and their grid. False: no memory. */
static bool gather_pieces(const struct seam_work *work, uint32_t slot, double near,
			  struct arena *arena, struct seam_pieces *out)
{
	const struct step *step = work->step;
	uint32_t first = work->firsts[slot], members = work->firsts[slot + 1] - first;
	*out = (struct seam_pieces){ .count = 0 };
	if (!list_pieces(work, slot, members, arena, out))
		return false;
	if (out->count < SEAM_MANY)
		return true;
	struct aabb box = aabb_make(vec3_all(__builtin_inf()), vec3_all(-__builtin_inf()));
	for (uint32_t i = 0; i < members; i++) {
		const struct contact_state *contact =
			&step->contacts.items[work->members[first + i]];
		bool b = is_b(work, contact, slot);
		for (uint32_t k = 0; k < contact->point_count; k++) {
			vec3 d, p = point_on_piece(step->dynamics, contact, k, b, &d);
			box = aabb_make(vec3_min(box.min, p), vec3_max(box.max, p));
		}
	}
	lay_grid(out, box);
	fill_grid(out, near, arena);
	return true;
}

/* False: no memory. */
static bool drop_ghosts(const struct seam_work *work, uint32_t slot, struct arena *arena)
{
	struct step *step = work->step;
	struct seam_pieces pieces;
	double inner = step->dynamics->bodies.items[step->bodies[slot]].inner;
	double near = scalar_min(SEAM_NEAR, SEAM_NEAR_PART * inner);
	if (!gather_pieces(work, slot, near, arena, &pieces))
		return false;
	for (uint32_t i = 0; i < work->firsts[slot + 1] - work->firsts[slot]; i++) {
		struct contact_state *contact =
			&step->contacts.items[work->members[work->firsts[slot] + i]];
		if (contact->point_count > 0 && is_ghost(work, slot, &pieces, i, near))
			contact->point_count = 0;
	}
	return true;
}

static void seams_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	const struct seam_work *work = context;
	struct arena *arena = &work->step->dynamics->worker_arenas[worker];
	for (uint32_t slot = first; slot < last; slot++) {
		if (work->firsts[slot + 1] - work->firsts[slot] < 2 || !may_have_ghosts(work, slot))
			continue;
		if (!drop_ghosts(work, slot, arena))
			work->failed[worker] = true;
		arena_reset(arena);
	}
}

/* The slot of a contact's only dynamic body, or DYNAMICS_NONE. */
ALWAYS_INLINE uint32_t slot_of(const struct step *step, const struct contact_state *contact)
{
	const uint8_t *status = step->dynamics->tables->body.status;
	bool moves_a = status[contact->body_a] == BODY_DYNAMIC;
	bool moves_b = status[contact->body_b] == BODY_DYNAMIC;
	if (moves_a == moves_b)
		return DYNAMICS_NONE;
	uint32_t body = moves_a ? contact->body_a : contact->body_b;
	return step_takes_part(step, body) ? step->dynamics->bodies.items[body].slot
					   : DYNAMICS_NONE;
}

uint64_t soft_seams_need(uint64_t bodies, uint64_t contacts)
{
	return (bodies + 2 + contacts) * sizeof(uint32_t) +
	       contact_words((uint32_t)contacts) * sizeof(uint64_t);
}

struct lone_work {
	const struct step *step;
	uint64_t *lone; /* bit a contact */
};

/* Whether one of its bodies is dynamic and takes part, and the other is not dynamic. */
ALWAYS_INLINE bool is_lone(const struct step *step, const struct contact_state *contact)
{
	return slot_of(step, contact) != DYNAMICS_NONE;
}

static void lone_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct lone_work *work = context;
	for (uint32_t w = first; w < last; w++)
		work->lone[w] = contact_word(work->step, w, is_lone);
}

/* The contacts of each slot, in `firsts` and `members`; false if no slot has several. `lone`: a bit a
 * contact. */
static bool group_contacts(const struct step *step, uint32_t *firsts, uint32_t *members,
			   uint64_t *lone)
{
	const struct contact_state *contacts = step->contacts.items;
	uint32_t slots = step->body_count, words = contact_words(step->contacts.count);
	bool several = false;
	struct lone_work work = { step, lone };
	parallel_run(step->parallel, words, CONTACT_WORD_GRAIN, lone_piece, &work);
	for (uint32_t w = 0; w < words; w++)
		for (uint64_t bits = lone[w]; bits != 0; bits &= bits - 1) {
			uint32_t i = w * CONTACT_WORD + (uint32_t)__builtin_ctzll(bits);
			several |= ++firsts[slot_of(step, &contacts[i]) + 2] > 1;
		}
	for (uint32_t slot = 0; slot < slots && several; slot++)
		firsts[slot + 2] += firsts[slot + 1];
	for (uint32_t w = 0; w < words && several; w++)
		for (uint64_t bits = lone[w]; bits != 0; bits &= bits - 1) {
			uint32_t i = w * CONTACT_WORD + (uint32_t)__builtin_ctzll(bits);
			members[firsts[slot_of(step, &contacts[i]) + 1]++] = i;
		}
	return several;
}

enum status soft_drop_seams(struct soft_step *self, struct reason *why)
{
	struct step *step = self->step;
	struct dynamics *dynamics = self->dynamics;
	struct arena *scratch = &dynamics->scratch;
	if (step->contacts.count < 2)
		return STATUS_OK;
	struct arena_mark mark = arena_mark(scratch);
	uint32_t slots = step->body_count;
	uint32_t *firsts = arena_push_zero(scratch, ((size_t)slots + 2) * sizeof *firsts);
	uint32_t *members = ARENA_ARRAY(scratch, uint32_t, step->contacts.count);
	uint64_t *lone = ARENA_ARRAY(scratch, uint64_t, contact_words(step->contacts.count));
	bool failed[PARALLEL_WORKERS_MAX] = { false }, any = false;
	ASSERT(firsts != NULL && members != NULL && lone != NULL); /* step_begin reserved it */
	if (group_contacts(step, firsts, members, lone)) {
		struct seam_work work = { step, firsts, members, failed };
		/* An arena that had to grow becomes one block again (islands_solve). */
		for (uint32_t i = 0; i < step->parallel->workers && !any; i++)
			any = arena_reserve(&dynamics->worker_arenas[i],
					    dynamics->worker_arenas[i].peak) != STATUS_OK;
		if (!any)
			parallel_run(step->parallel, slots, SEAM_GRAIN, seams_piece, &work);
	}
	for (uint32_t i = 0; i < step->parallel->workers; i++)
		any |= failed[i];
	arena_rewind(scratch, mark);
	if (any)
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory",
				  "no memory to search for seams");
	return STATUS_OK;
}
