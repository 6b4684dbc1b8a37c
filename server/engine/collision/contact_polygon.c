/* contact_polygon.c: the whole polygon of a face contact.
 *
 * The face that the normal belongs to is determined from the shapes, not from the manifold's feature numbers,
 * because a sphere on a box and a triangle's neighbours have faces as well. If both pieces have a face along
 * the normal (stacked boxes), the manifold's feature numbers tell the reference face.
 */
#include "server/engine/collision/contact_polygon.h"

#include "server/engine/collision/pairs.h"
#include "server/engine/collision/sat.h"

/* Sine of the angle below which a normal is that of a face: above the rounding of a rotation into the other
 * frame and back, below the angle of two different faces. */
#define ALIGNED 1e-9

/* A face of a piece in A's frame, its corners counter-clockwise about the normal. */
struct flat {
	vec3 normal;
	double offset;
	uint32_t count; /* 0: the piece has no polygonal face */
	bool endless;	/* a plane, without corners */
	bool aligned;	/* its normal is the requested direction */
	struct clip_corner corners[CLIP_CORNERS_MAX];
};

struct placed_piece {
	const struct shape *shape;
	uint32_t child;
	pose in_a;
	bool of_b;
};

static void flat_corner(struct flat *out, const struct placed_piece *piece, vec3 p, uint32_t before,
			uint32_t after)
{
	out->corners[out->count++] =
		(struct clip_corner){ pose_point(piece->in_a, p), feature_side(before, piece->of_b),
				      feature_side(after, piece->of_b) };
}

static void flat_of_hull(const struct placed_piece *piece, vec3 local, struct flat *out)
{
	const struct hull *hull = piece->shape->hull;
	ASSERT(hull->vertex_count > 0);
	uint32_t outermost = 0;
	for (uint32_t v = 1; v < hull->vertex_count; v++)
		if (vec3_dot(hull->vertices[v], local) > vec3_dot(hull->vertices[outermost], local))
			outermost = v;
	uint32_t best = sat_face_at(hull, outermost, vec3_negate(local));
	ASSERT(best < hull->face_count);
	ASSERT(hull->faces[best].edge_count <= CLIP_CORNERS_MAX);
	out->normal = hull->faces[best].normal;
	uint32_t edge = hull->faces[best].edge, before = edge;
	for (uint32_t k = 1; k < hull->faces[best].edge_count; k++)
		before = hull->edges[before].next;
	for (uint32_t k = 0; k < hull->faces[best].edge_count; k++) {
		flat_corner(out, piece, hull->vertices[hull->edges[edge].origin], before, edge);
		before = edge;
		edge = hull->edges[edge].next;
	}
}

/* A triangle has a face on both sides. */
static void flat_of_triangle(const struct placed_piece *piece, vec3 local, struct flat *out)
{
	const struct mesh *mesh = piece->shape->mesh;
	ASSERT(piece->child < mesh->triangle_count);
	const uint32_t *of = mesh->triangles[piece->child];
	vec3 p[3] = { mesh->vertices[of[0]], mesh->vertices[of[1]], mesh->vertices[of[2]] };
	out->normal = vec3_normalize(vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])));
	bool turned = vec3_dot(out->normal, local) < 0;
	if (turned)
		out->normal = vec3_negate(out->normal);
	for (uint32_t k = 0; k < 3; k++) {
		uint32_t corner = turned ? 2 - k : k;
		uint32_t edge = turned ? (4 - k) % 3 : k;
		flat_corner(out, piece, p[corner], turned ? (edge + 1) % 3 : (edge + 2) % 3, edge);
	}
}

/* The face at the piece's support point along `along` (unit, A's frame) whose normal is nearest to it. */
static void flat_of(const struct placed_piece *piece, vec3 along, struct flat *out)
{
	vec3 local = quat_rotate_inverse(piece->in_a.rotation, along);
	const struct shape *shape = piece->shape;
	out->count = 0;
	out->endless = shape->kind == SHAPE_PLANE;
	if (shape->hull != NULL)
		flat_of_hull(piece, local, out);
	else if (shape->kind == SHAPE_MESH)
		flat_of_triangle(piece, local, out);
	else if (out->endless)
		out->normal = shape->plane.normal;
	out->aligned = (out->count > 0 || out->endless) && vec3_dot(out->normal, local) > 0 &&
		       vec3_length(vec3_cross(out->normal, local)) <= ALIGNED;
	out->normal = quat_rotate(piece->in_a.rotation, out->normal);
	vec3 on = out->endless ? vec3_scale(shape->plane.normal, shape->plane.offset) : vec3_zero();
	out->offset = vec3_dot(out->normal,
			       out->endless ? pose_point(piece->in_a, on) : out->corners[0].point);
}

/* ---- points ----------------------------------------------------------------------------------- */

static void add_point(struct contact_polygon *out, const struct flat *reference, vec3 p,
		      double margin, uint32_t feature)
{
	double separation = vec3_dot(reference->normal, p) - reference->offset;
	if (separation <= margin && out->count < CLIP_CORNERS_MAX)
		out->points[out->count++] = (struct manifold_point){
			vec3_mul_sub(p, reference->normal, 0.5 * separation), separation, feature
		};
}

/* Clips `cut` to the prism over the reference face; its corners within the margin become points. */
static void clip_flats(const struct flat *reference, struct flat *cut, double margin, double slop,
		       bool reference_b, struct contact_polygon *out)
{
	struct clip_corner other[CLIP_CORNERS_MAX];
	struct clip_corner *from = cut->corners, *to = other;
	uint32_t count = cut->count;
	for (uint32_t k = 0; k < reference->count && count > 0; k++) {
		const struct clip_corner *a = &reference->corners[k];
		const struct clip_corner *b = &reference->corners[(k + 1) % reference->count];
		vec3 across = vec3_cross(vec3_sub(b->point, a->point), reference->normal);
		vec3 outward = vec3_normalize(across);
		count = clip_polygon(from, count, outward, vec3_dot(outward, a->point),
				     PAIR_CLIP_SLOP * slop, a->after, to);
		struct clip_corner *swap = from;
		from = to;
		to = swap;
	}
	out->count = 0;
	for (uint32_t k = 0; k < count; k++)
		add_point(out, reference, from[k].point, margin,
			  feature_corner(from[k].before, from[k].after, reference_b));
}

static void vertices_on_plane(const struct placed_piece *piece, const struct flat *plane,
			      double margin, struct contact_polygon *out)
{
	const struct hull *hull = piece->shape->hull;
	ASSERT(hull->vertex_count <= CLIP_CORNERS_MAX);
	out->count = 0;
	for (uint32_t k = 0; k < hull->vertex_count; k++)
		add_point(out, plane, pose_point(piece->in_a, hull->vertices[k]), margin, k);
}

/* ---- normals that are not a face's ------------------------------------------------------------ */

struct edge_found {
	vec3 from, to;
	double apart; /* m, distance of the manifold's point; SCALAR_MAX: no edge found */
};

/* Of the edges whose ends are both extreme along `along` within `slop`, the one nearest to the point. */
static struct edge_found edge_at(const struct placed_piece *piece, vec3 along, vec3 point,
				 double slop)
{
	struct edge_found best = { vec3_zero(), vec3_zero(), SCALAR_MAX };
	const struct hull *hull = piece->shape->hull;
	double most = -SCALAR_MAX;
	for (uint32_t k = 0; k < hull->vertex_count; k++)
		most = scalar_max(most,
				  vec3_dot(along, pose_point(piece->in_a, hull->vertices[k])));
	for (uint32_t e = 0; e < hull->edge_count; e++) {
		const struct half_edge *edge = &hull->edges[e];
		vec3 p = pose_point(piece->in_a, hull->vertices[edge->origin]);
		vec3 q = pose_point(piece->in_a, hull->vertices[hull->edges[edge->twin].origin]);
		if (edge->twin < e || vec3_dot(along, p) < most - slop ||
		    vec3_dot(along, q) < most - slop)
			continue;
		vec3 d = vec3_sub(q, p);
		double t = vec3_dot(vec3_sub(point, p), d) / vec3_length_squared(d);
		double apart = vec3_distance(point, vec3_lerp(p, q, scalar_clamp(t, 0, 1)));
		if (apart < best.apart)
			best = (struct edge_found){ p, q, apart };
	}
	return best;
}

static void find_edges(const struct placed_piece *a, const struct placed_piece *b, double slop,
		       struct contact_polygon *out)
{
	ASSERT(out->count > 0);
	vec3 point = out->points[0].point;
	struct edge_found on_a = edge_at(a, out->normal, point, slop);
	struct edge_found on_b = edge_at(b, vec3_negate(out->normal), point, slop);
	if (on_a.apart == SCALAR_MAX || on_b.apart == SCALAR_MAX)
		return;
	vec3 edge_a = vec3_sub(on_a.to, on_a.from), edge_b = vec3_sub(on_b.to, on_b.from);
	double length;
	vec3 across = vec3_normalize_length(vec3_cross(edge_a, edge_b), &length);
	if (!(length > 0) || vec3_length(vec3_cross(across, out->normal)) > ALIGNED)
		return;
	out->normal_of = CONTACT_NORMAL_OF_EDGES;
	out->edge_a = edge_a;
	out->edge_b = edge_b;
}

/* Radius of a sphere or capsule, m; −1 for any other shape. */
static double ball_radius(const struct shape *shape)
{
	return shape->kind == SHAPE_SPHERE    ? shape->sphere.radius
	       : shape->kind == SHAPE_CAPSULE ? shape->capsule.radius
					      : -1;
}

/* Nearest points on the axes of two round pieces: the contact point moved back by half the gap and the
 * radius. */
static void find_centres(double radius_a, double radius_b, struct contact_polygon *out)
{
	ASSERT(out->count > 0);
	ASSERT(radius_a >= 0 && radius_b >= 0);
	const struct manifold_point *point = &out->points[0];
	double half = 0.5 * point->separation;
	out->normal_of = CONTACT_NORMAL_OF_CENTRES;
	out->ball_a = vec3_mul_sub(point->point, out->normal, half + radius_a);
	out->ball_b = vec3_mul_add(point->point, out->normal, half + radius_b);
}

/* ---- all ---------------------------------------------------------------------------------------- */

static void find_face(const struct placed_piece sides[2], struct flat flats[2],
		      const struct manifold *found, double margin, double slop,
		      struct contact_polygon *out)
{
	bool by_b = !flats[0].aligned || flats[1].endless;
	bool corners = !flats[0].endless && !flats[1].endless &&
		       found->points[0].feature >> 29 == FEATURE_CORNER;
	if (flats[0].aligned && flats[1].aligned && corners)
		by_b = found->points[0].feature >> 28 & 1;
	out->normal_of = by_b ? CONTACT_NORMAL_OF_B : CONTACT_NORMAL_OF_A;
	if (flats[by_b].endless && sides[!by_b].shape->hull != NULL)
		vertices_on_plane(&sides[!by_b], &flats[by_b], margin, out);
	else if (flats[by_b].count > 0 && flats[!by_b].count > 0)
		clip_flats(&flats[by_b], &flats[!by_b], margin, slop, by_b, out);
	/* No point lies over the face (a corner against a corner): the manifold's points remain. */
	if (out->count == 0) {
		out->count = found->count;
		for (uint32_t k = 0; k < found->count; k++)
			out->points[k] = found->points[k];
	}
}

void contact_polygon(struct piece a, struct piece b, const pose *b_in_a, double margin,
		     const struct manifold *found, struct contact_polygon *out)
{
	struct placed_piece sides[2] = { { NULL, a.child, pose_identity(), false },
					 { NULL, b.child, *b_in_a, true } };
	struct flat flats[2];
	sides[0].shape = shape_part(a.shape, &sides[0].child);
	sides[1].shape = shape_part(b.shape, &sides[1].child);
	ASSERT(found->count <= MANIFOLD_POINTS_MAX);
	out->normal_of = CONTACT_NORMAL_GIVEN;
	out->normal = found->normal;
	out->edge_a = out->edge_b = out->ball_a = out->ball_b = vec3_zero();
	out->count = found->count;
	for (uint32_t k = 0; k < found->count; k++)
		out->points[k] = found->points[k];
	if (found->count == 0)
		return;
	double radius_a = ball_radius(sides[0].shape), radius_b = ball_radius(sides[1].shape);
	double slop = pair_slop(sides[0].shape, sides[1].shape);
	flat_of(&sides[0], found->normal, &flats[0]);
	flat_of(&sides[1], vec3_negate(found->normal), &flats[1]);
	if (flats[0].aligned || flats[1].aligned)
		find_face(sides, flats, found, margin, slop, out);
	else if (radius_a >= 0 && radius_b >= 0)
		find_centres(radius_a, radius_b, out);
	else if (sides[0].shape->hull != NULL && sides[1].shape->hull != NULL)
		find_edges(&sides[0], &sides[1], slop, out);
}
