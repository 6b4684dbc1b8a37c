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
 * Invariant: the result is a function of the contacts of one body, and each body writes its own
 *   contacts only.
 */
#include "server/engine/collision/gjk.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/methods/soft_step.h"

enum {
	SEAM_GRAIN = 16,
	SEAM_FACES = 4,
	/* A body near more pieces than this is not searched, because each is compared with each: it lies
	 * on many, whose clusters support it, and one border more moves it little. */
	SEAM_PIECES_MAX = 32,
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
	pose at;
};

struct seam_work {
	struct step *step;
	const uint32_t *firsts;	 /* by slot, and one more: into members */
	const uint32_t *members; /* indexes of contacts */
};

static struct seam_piece piece_of(const struct dynamics *self, struct contact_piece piece)
{
	const struct tables *tables = self->tables;
	struct seam_piece out = { .child = piece.child };
	const struct shape *shape = placement_shape(self, piece.placement);
	if (shape_is_field(shape))
		return out;
	out.shape = shape_part(shape, &out.child);
	if (out.shape->kind != SHAPE_MESH && out.shape->kind != SHAPE_PLANE &&
	    out.shape->hull == NULL)
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
	if (piece->shape->kind == SHAPE_MESH) {
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
	struct gjk_core point = { &ORIGIN, 1, NULL, 0 };
	struct gjk_result near;
	mat3 rotation = mat3_from_quat(piece->at.rotation);
	gjk_distance(&point, &core, &rotation, vec3_sub(piece->at.position, p), NULL, &near);
	return near.touching ? p : vec3_add(p, near.point_b);
}

static bool is_b(const struct seam_work *work, const struct contact_state *contact, uint32_t slot)
{
	return contact->body_a == work->step->bodies[slot];
}

/* Whether point p of T's contact, with direction d, is at a seam with one of the body's other pieces. */
static bool is_at_seam(const struct seam_work *work, uint32_t slot, uint32_t member,
		       const struct seam_piece *t, vec3 p, vec3 d, double near)
{
	const struct step *step = work->step;
	vec3 normals[SEAM_FACES];
	uint32_t count = faces_at(t, p, near, normals);
	for (uint32_t n = 0; n < count; n++) {
		if (!directions_apart(normals[n], d))
			continue;
		vec3 along = vec3_normalize(vec3_mul_sub(d, normals[n], vec3_dot(d, normals[n])));
		vec3 beyond = vec3_mul_add(p, along, SEAM_BEYOND * near);
		for (uint32_t m = work->firsts[slot]; m < work->firsts[slot + 1]; m++) {
			const struct contact_state *other = &step->contacts.items[work->members[m]];
			if (m == member)
				continue;
			bool b = is_b(work, other, slot);
			struct seam_piece f = piece_of(step->dynamics, b ? other->b : other->a);
			if (f.shape != NULL && continues(&f, beyond, normals[n], near))
				return true;
		}
	}
	return false;
}

/* Whether the deepest points of a member are at seams. Others may be any points of T's face that lie
 * farther on in the direction of motion. */
static bool is_ghost(const struct seam_work *work, uint32_t slot, uint32_t member, double near)
{
	const struct step *step = work->step;
	const struct contact_state *contact = &step->contacts.items[work->members[member]];
	bool b = is_b(work, contact, slot);
	struct seam_piece t = piece_of(step->dynamics, b ? contact->b : contact->a);
	if (t.shape == NULL)
		return false;
	double deepest = contact->points[0].separation;
	for (uint32_t k = 1; k < contact->point_count; k++)
		deepest = scalar_min(deepest, contact->points[k].separation);
	for (uint32_t k = 0; k < contact->point_count; k++) {
		if (contact->points[k].separation > deepest + near)
			continue;
		vec3 d, p = point_on_piece(step->dynamics, contact, k, b, &d);
		p = nearest_on(&t, p);
		if (!is_at_seam(work, slot, member, &t, p, d, near))
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

static void seams_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct seam_work *work = context;
	struct step *step = work->step;
	for (uint32_t slot = first; slot < last; slot++) {
		uint32_t pieces = work->firsts[slot + 1] - work->firsts[slot];
		if (pieces < 2 || pieces > SEAM_PIECES_MAX || !may_have_ghosts(work, slot))
			continue;
		double inner = step->dynamics->bodies.items[step->bodies[slot]].inner;
		double near = scalar_min(SEAM_NEAR, SEAM_NEAR_PART * inner);
		for (uint32_t m = work->firsts[slot]; m < work->firsts[slot + 1]; m++) {
			struct contact_state *contact = &step->contacts.items[work->members[m]];
			if (contact->point_count > 0 && is_ghost(work, slot, m, near))
				contact->point_count = 0;
		}
	}
}

/* The slot of a contact's only dynamic body, or DYNAMICS_NONE. */
static uint32_t slot_of(const struct step *step, const struct contact_state *contact)
{
	const uint8_t *status = step->dynamics->tables->body.status;
	bool moves_a = status[contact->body_a] == BODY_DYNAMIC;
	bool moves_b = status[contact->body_b] == BODY_DYNAMIC;
	uint32_t body = moves_a ? contact->body_a : contact->body_b;
	if (moves_a == moves_b || !step_takes_part(step, body))
		return DYNAMICS_NONE;
	return step->dynamics->bodies.items[body].slot;
}

uint64_t soft_seams_need(uint64_t bodies, uint64_t contacts)
{
	return (bodies + 2 + contacts) * sizeof(uint32_t);
}

void soft_drop_seams(struct soft_step *self)
{
	struct step *step = self->step;
	struct arena *scratch = &self->dynamics->scratch;
	struct arena_mark mark = arena_mark(scratch);
	uint32_t slots = step->body_count, count = step->contacts.count;
	uint32_t *firsts = arena_push_zero(scratch, ((size_t)slots + 2) * sizeof *firsts);
	uint32_t *members = ARENA_ARRAY(scratch, uint32_t, count);
	ASSERT(firsts != NULL && members != NULL); /* step_begin reserved it */
	bool several = false;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t slot = slot_of(step, &step->contacts.items[i]);
		if (slot != DYNAMICS_NONE)
			several |= ++firsts[slot + 2] > 1;
	}
	if (several) {
		for (uint32_t slot = 0; slot < slots; slot++)
			firsts[slot + 2] += firsts[slot + 1];
		for (uint32_t i = 0; i < count; i++) {
			uint32_t slot = slot_of(step, &step->contacts.items[i]);
			if (slot != DYNAMICS_NONE)
				members[firsts[slot + 1]++] = i;
		}
		struct seam_work work = { step, firsts, members };
		parallel_run(step->parallel, slots, SEAM_GRAIN, seams_piece, &work);
	}
	arena_rewind(scratch, mark);
}
