/* contact_polygon.c: the whole polygon of a face contact.
 *
 * The face that the normal belongs to is determined from the shapes, not from the manifold's feature numbers,
 * because a sphere on a box and a triangle's neighbours have faces as well. If both pieces have a face along
 * the normal (stacked boxes), the manifold's feature numbers tell the reference face.
 */
#include "server/engine/collision/contact_polygon.h"

#include "server/engine/collision/pairs.h"
#include "server/engine/collision/sat.h"
#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/mesh.h"

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
	vec3 p[3];
	mesh_corners(mesh, piece->child, p);
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
	else if (shape_is_surface(shape))
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

/* slop: by how much corners may lie outside the face, doubled. */
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

static void make_polygon(struct piece a, struct piece b, const pose *b_in_a, double margin,
			 bool exact, const struct manifold *found, struct contact_polygon *out)
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
		find_face(sides, flats, found, margin, exact ? 0 : slop, out);
	else if (radius_a >= 0 && radius_b >= 0)
		find_centres(radius_a, radius_b, out);
	else if (sides[0].shape->hull != NULL && sides[1].shape->hull != NULL)
		find_edges(&sides[0], &sides[1], slop, out);
}

void contact_polygon(struct piece a, struct piece b, const pose *b_in_a, double margin,
		     const struct manifold *found, struct contact_polygon *out)
{
	make_polygon(a, b, b_in_a, margin, false, found, out);
}

void contact_polygon_exact(struct piece a, struct piece b, const pose *b_in_a, double margin,
			   const struct manifold *found, struct contact_polygon *out)
{
	make_polygon(a, b, b_in_a, margin, true, found, out);
}

/* ---- corners as pairs of features --------------------------------------------------------------- */

/* 1, of the smaller extent. A vertex no farther outside a face counts as above it: that of a brick which
 * stands exactly on another, in spite of rounding. */
#define CORNER_OUTSIDE 1e-6

/* Cosine. A face whose normal is no farther from the best axis touches the other piece; only where both are
 * steeper the axis of two edges is a contact by itself. */
#define FACES_TOUCH 0.99

static void add_corner(struct contact_corner *out, uint32_t *count, double margin,
		       struct contact_corner corner)
{
	if (corner.separation <= margin && *count < CONTACT_CORNERS_MAX)
		out[(*count)++] = corner;
}

/* A vertex of one piece above the face of the other, `of_b`: b's. */
static struct contact_corner vertex_on_face(vec3 vertex, vec3 face_normal, vec3 on_face, bool of_b,
					    uint32_t feature)
{
	double separation = vec3_dot(face_normal, vec3_sub(vertex, on_face));
	return (struct contact_corner){
		.normal_of = of_b ? CONTACT_NORMAL_OF_B : CONTACT_NORMAL_OF_A,
		.normal = of_b ? vec3_negate(face_normal) : face_normal,
		.point = vec3_mul_sub(vertex, face_normal, 0.5 * separation),
		.separation = separation,
		.feature = feature,
	};
}

/* The axis of two edges: `on_a` is a point of a's, `on_b` one of b's; normal unit, a → b. */
static struct contact_corner edge_on_edge(vec3 edge_a, vec3 on_a, vec3 edge_b, vec3 on_b,
					  vec3 normal, uint32_t feature)
{
	double separation = vec3_dot(normal, vec3_sub(on_b, on_a));
	return (struct contact_corner){
		.normal_of = CONTACT_NORMAL_OF_EDGES,
		.normal = normal,
		.edge_a = edge_a,
		.edge_b = edge_b,
		.point = vec3_mul_sub(on_b, normal, 0.5 * separation),
		.separation = separation,
		.feature = feature,
	};
}

/* The side of a flat with this number (feature_side). */
static uint32_t find_side(const struct flat *flat, uint32_t side)
{
	for (uint32_t k = 0; k < flat->count; k++)
		if (flat->corners[k].after == side)
			return k;
	return 0;
}

/* Clips a face to the prism along `middle` over another; corners outside it by at most `outside`
 * stay. Returns the number of corners, in *out, one of both rooms. */
static uint32_t clip_to_prism(const struct flat *cut, const struct flat *over, vec3 middle,
			      double outside, struct clip_corner rooms[2][CLIP_CORNERS_MAX],
			      struct clip_corner **out)
{
	struct clip_corner *from = rooms[0], *to = rooms[1];
	ASSERT(cut->count <= CLIP_CORNERS_MAX);
	uint32_t count = cut->count;
	/* Corners run counter-clockwise about the normal of their own face. */
	vec3 up = vec3_dot(over->normal, middle) < 0 ? vec3_negate(middle) : middle;
	for (uint32_t k = 0; k < count; k++)
		from[k] = cut->corners[k];
	for (uint32_t k = 0; k < over->count && count > 0; k++) {
		const struct clip_corner *p = &over->corners[k];
		const struct clip_corner *q = &over->corners[(k + 1) % over->count];
		vec3 outward = vec3_normalize(vec3_cross(vec3_sub(q->point, p->point), up));
		count = clip_polygon(from, count, outward, vec3_dot(outward, p->point), outside,
				     p->after, to);
		struct clip_corner *swap = from;
		from = to;
		to = swap;
	}
	*out = from;
	return count;
}

/* The distance of two points across `middle`, m. */
static double distance_across(vec3 p, vec3 q, vec3 middle)
{
	return vec3_length(vec3_cross(vec3_sub(p, q), middle));
}

/* The crossing of an edge of a and one of b, unless it lies at an end of a's, which counts as a vertex. */
static void add_crossing(const struct flat flats[2], const struct clip_corner *c, vec3 middle,
			 double margin, double outside, struct contact_corner *out, uint32_t *made)
{
	const struct flat *a = &flats[0], *b = &flats[1];
	bool before_b = c->before >> 13 & 1;
	uint32_t i = find_side(a, before_b ? c->after : c->before);
	uint32_t j = find_side(b, before_b ? c->before : c->after);
	vec3 from_a = a->corners[i].point, to_a = a->corners[(i + 1) % a->count].point;
	vec3 from_b = b->corners[j].point, to_b = b->corners[(j + 1) % b->count].point;
	if (distance_across(c->point, from_a, middle) <= outside ||
	    distance_across(c->point, to_a, middle) <= outside)
		return;
	/* Edges that are parallel across `middle` cross anywhere; their axis is none of the pieces. */
	uint32_t feature = feature_corner(c->before, c->after, false);
	vec3 edge_a = vec3_sub(to_a, from_a), edge_b = vec3_sub(to_b, from_b);
	vec3 across = vec3_normalize(vec3_cross(edge_a, edge_b));
	if (vec3_dot(across, middle) < 0)
		across = vec3_negate(across);
	bool parallel = !(vec3_dot(across, middle) > FACES_TOUCH);
	add_corner(out, made, margin,
		   parallel ? vertex_on_face(c->point, a->normal, from_a, false, feature)
			    : edge_on_edge(edge_a, from_a, edge_b, c->point, across, feature));
}

/* The corners of the overlap of two faces, seen along the direction midway between their normals: vertices
 * of b over a's face, crossings of edges, and vertices of a over b's face. Vertices that coincide are both
 * counted, because no piece is preferred. */
static uint32_t corners_of_flats(const struct flat flats[2], double margin, double outside,
				 struct contact_corner *out)
{
	const struct flat *a = &flats[0], *b = &flats[1];
	struct clip_corner rooms[2][CLIP_CORNERS_MAX], *corners;
	vec3 middle = vec3_normalize(vec3_sub(a->normal, b->normal));
	uint32_t made = 0;
	ASSERT(margin >= 0);
	if (!(vec3_dot(a->normal, middle) > 0))
		return 0; /* the faces do not face each other */
	uint32_t count = clip_to_prism(b, a, middle, outside, rooms, &corners);
	for (uint32_t k = 0; k < count; k++) {
		const struct clip_corner *c = &corners[k];
		bool before_b = c->before >> 13 & 1, after_b = c->after >> 13 & 1;
		if (before_b != after_b)
			add_crossing(flats, c, middle, margin, outside, out, &made);
		else if (before_b)
			add_corner(out, &made, margin,
				   vertex_on_face(c->point, a->normal, a->corners[0].point, false,
						  feature_corner(c->before, c->after, false)));
	}
	count = clip_to_prism(a, b, middle, outside, rooms, &corners);
	for (uint32_t k = 0; k < count; k++) {
		const struct clip_corner *c = &corners[k];
		if ((c->before >> 13 & 1) == 0 && (c->after >> 13 & 1) == 0)
			add_corner(out, &made, margin,
				   vertex_on_face(c->point, b->normal, b->corners[0].point, true,
						  feature_corner(c->before, c->after, true)));
	}
	return made;
}

static struct contact_corner corner_of_edges(const struct hull *a, const struct hull *b,
					     const pose *b_in_a, const struct sat_axis *axis)
{
	const struct half_edge *e = &a->edges[axis->axis.feature_a];
	const struct half_edge *f = &b->edges[axis->axis.feature_b];
	vec3 a0 = a->vertices[e->origin], a1 = a->vertices[a->edges[e->twin].origin];
	vec3 b0 = pose_point(*b_in_a, b->vertices[f->origin]);
	vec3 b1 = pose_point(*b_in_a, b->vertices[b->edges[f->twin].origin]);
	struct segment_pair near = closest_segment_segment(a0, a1, b0, b1);
	return edge_on_edge(
		vec3_sub(a1, a0), near.first, vec3_sub(b1, b0), near.second, axis->normal,
		feature_make(FEATURE_EDGES, axis->axis.feature_a, axis->axis.feature_b));
}

/* The best axis is found anew, without the narrow phase's preference for the one of the last step,
 * because the nearest features of bodies that slide past each other change at once. */
static uint32_t corners_of_hulls(const struct placed_piece sides[2], double margin, double outside,
				 struct contact_corner *out)
{
	const struct hull *a = sides[0].shape->hull, *b = sides[1].shape->hull;
	const pose *b_in_a = &sides[1].in_a;
	struct placing placing = { mat3_from_quat(b_in_a->rotation), b_in_a->position };
	struct pair_cache none = { 0 };
	struct sat_axis axis;
	struct flat flats[2];
	uint32_t count = 0;
	sat_greatest(a, b, &placing, SCALAR_MAX, &none, &axis);
	flat_of(&sides[0], axis.normal, &flats[0]);
	flat_of(&sides[1], vec3_negate(axis.normal), &flats[1]);
	bool edges = axis.axis.kind == CACHE_EDGES;
	if (!edges || vec3_dot(flats[0].normal, axis.normal) > FACES_TOUCH ||
	    vec3_dot(flats[1].normal, axis.normal) < -FACES_TOUCH)
		count = corners_of_flats(flats, margin, outside, out);
	if (count > 0)
		return count;
	struct contact_corner corner;
	if (edges)
		corner = corner_of_edges(a, b, b_in_a, &axis);
	else if (axis.axis.kind == CACHE_FACE_B)
		corner = vertex_on_face(a->vertices[axis.axis.feature_a], flats[1].normal,
					flats[1].corners[0].point, true,
					feature_make(FEATURE_VERTEX, axis.axis.feature_a, 0));
	else
		corner = vertex_on_face(pose_point(*b_in_a, b->vertices[axis.axis.feature_b]),
					flats[0].normal, flats[0].corners[0].point, false,
					feature_make(FEATURE_NEAREST, 0, axis.axis.feature_b));
	add_corner(out, &count, margin, corner);
	return count;
}

/* A polygon in a's frame. */
struct polygon_in_a {
	uint32_t count;
	vec3 vertices[SHAPE_POLYGON_VERTICES_MAX], normals[SHAPE_POLYGON_VERTICES_MAX];
};

static void place_polygon(const struct polygon *polygon, const pose *at, struct polygon_in_a *out)
{
	ASSERT(polygon->count <= SHAPE_POLYGON_VERTICES_MAX);
	out->count = polygon->count;
	for (uint32_t i = 0; i < out->count; i++) {
		out->vertices[i] = pose_point(*at, polygon->vertices[i]);
		out->normals[i] = pose_vector(*at, polygon->normals[i]);
	}
}

/* The edge of `mine` from which the nearest vertex of `other` is farthest; that vertex, its distance. */
static uint32_t best_edge(const struct polygon_in_a *mine, const struct polygon_in_a *other,
			  uint32_t *vertex, double *separation)
{
	uint32_t best = 0;
	*separation = -SCALAR_MAX;
	for (uint32_t i = 0; i < mine->count; i++) {
		double least = SCALAR_MAX;
		uint32_t nearest = 0;
		for (uint32_t k = 0; k < other->count; k++) {
			double s = vec3_dot(mine->normals[i],
					    vec3_sub(other->vertices[k], mine->vertices[i]));
			if (s < least) {
				least = s;
				nearest = k;
			}
		}
		if (least > *separation) {
			*separation = least;
			*vertex = nearest;
			best = i;
		}
	}
	ASSERT(best < mine->count);
	return best;
}

static uint32_t opposed_edge(const struct polygon_in_a *of, vec3 normal)
{
	uint32_t best = 0;
	ASSERT(of->count > 0);
	for (uint32_t i = 1; i < of->count; i++)
		if (vec3_dot(of->normals[i], normal) < vec3_dot(of->normals[best], normal))
			best = i;
	return best;
}

/* The ends of two edges that face each other, along the direction midway between them, which no polygon
 * is preferred in. */
struct facing_edges {
	const struct polygon_in_a *a, *b;
	uint32_t edge_a, edge_b;
	vec3 along;
	double outside;
};

/* Adds the lower (upper) end of the interval in which both edges lie: the vertex of that edge which ends
 * first; where both end, both vertices. */
static void add_end(const struct facing_edges *self, bool upper, double margin,
		    struct contact_corner *out, uint32_t *count)
{
	const struct polygon_in_a *a = self->a, *b = self->b;
	/* a's edge runs along, b's against it. */
	uint32_t i = upper ? (self->edge_a + 1) % a->count : self->edge_a;
	uint32_t j = upper ? self->edge_b : (self->edge_b + 1) % b->count;
	vec3 p = a->vertices[i], q = b->vertices[j];
	double apart = vec3_dot(vec3_sub(q, p), self->along);
	double beyond = upper ? apart : -apart; /* b's end beyond a's */
	ASSERT(i < a->count && j < b->count);
	if (beyond <= self->outside)
		add_corner(out, count, margin,
			   vertex_on_face(q, a->normals[self->edge_a], a->vertices[self->edge_a],
					  false, feature_make(FEATURE_NEAREST, self->edge_a, j)));
	if (beyond >= -self->outside)
		add_corner(out, count, margin,
			   vertex_on_face(p, b->normals[self->edge_b], b->vertices[self->edge_b],
					  true, feature_make(FEATURE_VERTEX, i, self->edge_b)));
}

/* How far both edges lie beside each other, m; negative: they have passed each other. */
static double facing_length(const struct facing_edges *self)
{
	const struct polygon_in_a *a = self->a, *b = self->b;
	double from_a = vec3_dot(a->vertices[self->edge_a], self->along);
	double to_a = vec3_dot(a->vertices[(self->edge_a + 1) % a->count], self->along);
	double from_b = vec3_dot(b->vertices[(self->edge_b + 1) % b->count], self->along);
	double to_b = vec3_dot(b->vertices[self->edge_b], self->along);
	return scalar_min(to_a, to_b) - scalar_max(from_a, from_b);
}

static uint32_t corners_of_polygons(const struct polygon *of_a, const struct polygon *of_b,
				    const pose *b_in_a, double margin, double outside,
				    struct contact_corner *out)
{
	struct polygon_in_a a, b;
	pose here = pose_identity();
	double by_a, by_b;
	uint32_t vertex_a = 0, vertex_b = 0, count = 0;
	place_polygon(of_a, &here, &a);
	place_polygon(of_b, b_in_a, &b);
	uint32_t edge_a = best_edge(&a, &b, &vertex_b, &by_a);
	uint32_t edge_b = best_edge(&b, &a, &vertex_a, &by_b);
	bool best_is_b = by_b > by_a;
	uint32_t facing_b = best_is_b ? edge_b : opposed_edge(&b, a.normals[edge_a]);
	uint32_t facing_a = best_is_b ? opposed_edge(&a, b.normals[edge_b]) : edge_a;
	vec3 middle = vec3_sub(a.normals[facing_a], b.normals[facing_b]);
	vec3 along = vec3_normalize(vec3_make(-middle.y, middle.x, 0));
	struct facing_edges facing = { &a, &b, facing_a, facing_b, along, outside };
	if (facing_length(&facing) >= -outside) {
		add_end(&facing, false, margin, out, &count);
		add_end(&facing, true, margin, out, &count);
	}
	if (count > 0)
		return count;
	struct contact_corner corner =
		best_is_b ? vertex_on_face(a.vertices[vertex_a], b.normals[edge_b],
					   b.vertices[edge_b], true,
					   feature_make(FEATURE_VERTEX, vertex_a, edge_b))
			  : vertex_on_face(b.vertices[vertex_b], a.normals[edge_a],
					   a.vertices[edge_a], false,
					   feature_make(FEATURE_NEAREST, edge_a, vertex_b));
	add_corner(out, &count, margin, corner);
	return count;
}

/* The manifold's points and normal. */
static uint32_t corners_of_manifold(struct piece a, struct piece b, const pose *b_in_a,
				    double margin, const struct manifold *found,
				    struct contact_corner *out)
{
	struct contact_polygon polygon;
	uint32_t count = 0;
	contact_polygon_exact(a, b, b_in_a, margin, found, &polygon);
	for (uint32_t k = 0; k < polygon.count; k++)
		add_corner(out, &count, margin,
			   (struct contact_corner){ polygon.normal_of, polygon.normal,
						    polygon.edge_a, polygon.edge_b, polygon.ball_a,
						    polygon.ball_b, polygon.points[k].point,
						    polygon.points[k].separation,
						    polygon.points[k].feature });
	return count;
}

uint32_t contact_corners(struct piece a, struct piece b, const pose *b_in_a, double margin,
			 const struct manifold *found, struct contact_corner *out)
{
	struct placed_piece sides[2] = { { NULL, a.child, pose_identity(), false },
					 { NULL, b.child, *b_in_a, true } };
	sides[0].shape = shape_part(a.shape, &sides[0].child);
	sides[1].shape = shape_part(b.shape, &sides[1].child);
	const struct shape *of_a = sides[0].shape, *of_b = sides[1].shape;
	double outside = CORNER_OUTSIDE * scalar_min(of_a->extent_min, of_b->extent_min);
	uint32_t count = 0;
	ASSERT(found->count <= MANIFOLD_POINTS_MAX);
	if (found->count == 0)
		return 0;
	bool polygons = of_a->kind == SHAPE_POLYGON && of_b->kind == SHAPE_POLYGON;
	if (polygons && !(of_a->polygon->radius > 0) && !(of_b->polygon->radius > 0))
		return corners_of_polygons(of_a->polygon, of_b->polygon, b_in_a, margin, outside,
					   out);
	if (of_a->hull != NULL && of_b->hull != NULL)
		count = corners_of_hulls(sides, margin, outside, out);
	return count > 0 ? count : corners_of_manifold(a, b, b_in_a, margin, found, out);
}
