/* See vclip.h. Closest features by walking Voronoi regions (Mirtich's V-Clip, spec V1…V6 with its
 * corrections).
 *
 * Problem: find features X of A and Y of B whose closest points x, y each lie in the Voronoi region
 * of the other's feature; x and y are then the closest points of the hulls (V2). The walk may start
 * anywhere. If y is not in X's region, the violated plane belongs to a neighbour of X that is
 * nearer, and X moves there.
 *
 * Planes (V1), S ≥ 0 inside:  of a vertex v, for each edge to w:  (p − v)·(v − w);
 *   of an edge o → d, u = d − o:  (p − o)·u,  (p − d)·(−u),  left face f: (p − o)·(u × n_f), right face
 *   g: (p − o)·(n_g × u);  of a face, for each of its half-edges: (p − o)·(n_f × u), into the face.
 * The book prints n_f for n_f × u, which is a misprint: n_f is not orthogonal to the plane.
 *
 * Edges are clipped to a region (V3): e(l) = tail + l (head − tail), l in [low, high]. The sign of the
 * derivative of the distance at an end decides if the minimum lies beyond the plane there.
 *
 * States (V4), each symmetric in A and B:
 *   V–V  each against the planes of the other.
 *   V–E  the vertex against the edge's planes; the edge clipped to the vertex's region.
 *   E–E  each clipped to the other's region.
 *   V–F  a vertex outside the prism: the face moves to the edge of the most violated plane. Inside
 *        it, the vertex moves to one of its edges that approaches the face's plane. If there is none
 *        and the vertex is below the plane (a local minimum), the face moves to the one that the
 *        vertex is highest above; below all faces: penetration.
 *   E–F  an edge outside the prism: the face moves to its boundary feature nearest to the edge (V5).
 *        If the clipped edge crosses the plane: penetration. Else the nearer end decides: the face
 *        moves to the feature that clips there (Nmin, Nmax), or the edge to its own vertex (a case
 *        missing in the book).
 *
 * A step to a neighbour of higher dimension strictly lowers the distance, one to lower dimension
 * keeps it, so without rounding no state occurs twice. With rounding it may, hence the limit on
 * steps. Faces merged from triangles are flat only within the hull's tolerance. Every result is
 * therefore proved: the supports along the normal give a lower bound, which must agree with the
 * distance. Touching is confirmed by gjk.c. If the proof fails, gjk.c computes the result, and
 * `handed_over` is set.
 */
#include "server/engine/collision/vclip.h"

#include "server/engine/geometry/closest.h"

/* The greatest difference of the two bounds: relative to the distance, plus relative to the largest
 * coordinate, whose rounding both bounds contain. A larger one accepts results that are not minima. */
#define GAP_RELATIVE 1e-10
#define GAP_ABSOLUTE 1e-14

/* Steps allowed in addition to one for each half-edge. */
enum { STEPS_EXTRA = 64 };

struct vclip_side {
	const struct hull *hull;
	const struct placing *at; /* NULL: the hull's frame is A's frame */
};

static vec3 place_point(const struct vclip_side *s, uint32_t vertex)
{
	VALIDATE(vertex < s->hull->vertex_count);
	vec3 p = s->hull->vertices[vertex];
	return s->at == NULL ? p : placing_point(s->at, p);
}

static vec3 normal_of(const struct vclip_side *s, uint32_t face)
{
	VALIDATE(face < s->hull->face_count);
	vec3 n = s->hull->faces[face].normal;
	return s->at == NULL ? n : mat3_mul_vec(s->at->rotation, n);
}

struct vclip_edge {
	vec3 tail, head, along;
	uint32_t from, to; /* vertices */
	uint32_t half;
};

static struct vclip_edge edge_of(const struct vclip_side *s, uint32_t half)
{
	VALIDATE(half < s->hull->edge_count);
	const struct half_edge *edge = &s->hull->edges[half];
	uint32_t from = edge->origin, to = s->hull->edges[edge->twin].origin;
	struct vclip_edge out = {
		place_point(s, from), place_point(s, to), { 0, 0, 0 }, from, to, half
	};
	out.along = vec3_sub(out.head, out.tail);
	return out;
}

static struct vclip_feature make_feature(enum vclip_kind kind, uint32_t index)
{
	VALIDATE(index <= UINT16_MAX);
	return (struct vclip_feature){ (uint16_t)kind, (uint16_t)index };
}

enum vclip_outcome { VCLIP_MOVED, VCLIP_STAY, VCLIP_TOUCH };

/* ---- clipping an edge to a region (V3) ------------------------------------------------------- */

struct clip {
	double low, high;
	bool has_low, has_high, excluded;
	struct vclip_feature at_low, at_high; /* neighbours behind the planes that clip there */
	struct vclip_feature
		outside; /* excluded: the neighbour behind the plane that excludes the edge */
};

static void clip_begin(struct clip *clip)
{
	*clip = (struct clip){ .low = 0, .high = 1 };
}

/* Clips by a plane whose S is `tail` at the tail and `head` at the head. */
static void clip_plane(struct clip *clip, double tail, double head, struct vclip_feature behind)
{
	if (clip->excluded)
		return;
	if (tail < 0 && head < 0) {
		clip->excluded = true;
		clip->outside = behind;
	} else if (tail < 0) {
		double l = tail / (tail - head);
		if (l > clip->low || (!clip->has_low && l >= clip->low)) {
			clip->low = l;
			clip->has_low = true;
			clip->at_low = behind;
		}
	} else if (head < 0) {
		double l = tail / (tail - head);
		if (l < clip->high || (!clip->has_high && l <= clip->high)) {
			clip->high = l;
			clip->has_high = true;
			clip->at_high = behind;
		}
	}
}

static vec3 edge_point(const struct vclip_edge *e, double l)
{
	return vec3_mul_add(e->tail, e->along, l);
}

/* Sign of the derivative along the edge, at p, of the distance to a vertex or a face. *met is set
 * if p lies on it, where the distance has no derivative. */
static double derivative(const struct vclip_side *s, struct vclip_feature to, vec3 along, vec3 p,
			 bool *met)
{
	double value, sign = 1;
	if (to.kind == VCLIP_VERTEX) {
		vec3 from = vec3_sub(p, place_point(s, to.index));
		value = vec3_dot(along, from);
		*met |= vec3_length_squared(from) == 0;
	} else {
		vec3 n = normal_of(s, to.index);
		uint32_t corner = s->hull->edges[s->hull->faces[to.index].edge].origin;
		sign = vec3_dot(n, vec3_sub(p, place_point(s, corner)));
		value = vec3_dot(along, n);
		*met |= sign == 0;
	}
	return scalar_sign(value) * scalar_sign(sign);
}

/* The next feature, from an edge clipped to a feature's region. `low`, `high`: the features to
 * which the distance is measured at the ends. */
static enum vclip_outcome clip_decide(const struct vclip_side *s, const struct clip *clip,
				      const struct vclip_edge *e, struct vclip_feature low,
				      struct vclip_feature high, struct vclip_feature *moves)
{
	bool met = false;
	if (clip->excluded) {
		*moves = clip->outside;
		return VCLIP_MOVED;
	}
	if (clip->has_low && derivative(s, low, e->along, edge_point(e, clip->low), &met) > 0) {
		*moves = clip->at_low;
		return VCLIP_MOVED;
	}
	if (clip->has_high && derivative(s, high, e->along, edge_point(e, clip->high), &met) < 0) {
		*moves = clip->at_high;
		return VCLIP_MOVED;
	}
	if (clip->low > clip->high) {
		*moves = clip->at_low;
		return VCLIP_MOVED;
	}
	return met ? VCLIP_TOUCH : VCLIP_STAY;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* Stays if p lies in the region of the vertex; else moves to the edge whose plane p violates. */
static enum vclip_outcome point_in_vertex(const struct vclip_side *s, struct vclip_feature *vertex,
					  vec3 p)
{
	const struct hull *hull = s->hull;
	vec3 v = place_point(s, vertex->index), to = vec3_sub(p, v);
	if (s->at != NULL) /* In the hull's own frame its edges need no transformation. */
		to = mat3_transposed_mul_vec(s->at->rotation, to);
	v = hull->vertices[vertex->index];
	uint32_t first = hull->vertex_edge[vertex->index], half = first;
	do {
		uint32_t twin = hull->edges[half].twin;
		vec3 w = hull->vertices[hull->edges[twin].origin];
		if (vec3_dot(to, vec3_sub(v, w)) < 0) {
			*vertex = make_feature(VCLIP_EDGE, half);
			return VCLIP_MOVED;
		}
		half = hull->edges[twin].next;
	} while (half != first);
	return VCLIP_STAY;
}

static enum vclip_outcome vertex_vertex(const struct vclip_side *p, const struct vclip_side *q,
					struct vclip_feature *v, struct vclip_feature *w)
{
	if (point_in_vertex(p, v, place_point(q, w->index)) == VCLIP_MOVED)
		return VCLIP_MOVED;
	return point_in_vertex(q, w, place_point(p, v->index));
}

/* The two planes of an edge's faces, as vectors: S(x) = (x − tail) · plane. */
static void edge_planes(const struct vclip_side *s, const struct vclip_edge *e, vec3 planes[2],
			struct vclip_feature faces[2])
{
	uint32_t left = s->hull->edges[e->half].face;
	uint32_t right = s->hull->edges[s->hull->edges[e->half].twin].face;
	planes[0] = vec3_cross(e->along, normal_of(s, left));
	planes[1] = vec3_cross(normal_of(s, right), e->along);
	faces[0] = make_feature(VCLIP_FACE, left);
	faces[1] = make_feature(VCLIP_FACE, right);
}

static enum vclip_outcome vertex_edge(const struct vclip_side *p, const struct vclip_side *q,
				      struct vclip_feature *v, struct vclip_feature *w)
{
	struct vclip_edge e = edge_of(q, w->index);
	vec3 x = place_point(p, v->index), planes[2];
	struct vclip_feature faces[2];
	vec3 from = vec3_sub(x, e.tail);
	if (vec3_dot(from, e.along) < 0) {
		*w = make_feature(VCLIP_VERTEX, e.from);
		return VCLIP_MOVED;
	}
	if (vec3_dot(vec3_sub(x, e.head), e.along) > 0) {
		*w = make_feature(VCLIP_VERTEX, e.to);
		return VCLIP_MOVED;
	}
	edge_planes(q, &e, planes, faces);
	for (int k = 0; k < 2; k++) {
		if (vec3_dot(from, planes[k]) < 0) {
			*w = faces[k];
			return VCLIP_MOVED;
		}
	}
	struct clip clip;
	clip_begin(&clip);
	uint32_t first = p->hull->vertex_edge[v->index], half = first;
	do {
		uint32_t twin = p->hull->edges[half].twin;
		vec3 plane = vec3_sub(x, place_point(p, p->hull->edges[twin].origin));
		clip_plane(&clip, vec3_dot(vec3_sub(e.tail, x), plane),
			   vec3_dot(vec3_sub(e.head, x), plane), make_feature(VCLIP_EDGE, half));
		half = p->hull->edges[twin].next;
	} while (half != first);
	return clip_decide(p, &clip, &e, *v, *v, v);
}

/* Clips e to the region of edge f of side s, which moves if the distance falls beyond it. */
static enum vclip_outcome edge_in_edge(const struct vclip_side *s, struct vclip_feature *moves,
				       const struct vclip_edge *f, const struct vclip_edge *e)
{
	struct clip clip;
	vec3 planes[2];
	struct vclip_feature faces[2];
	vec3 tail = vec3_sub(e->tail, f->tail), head = vec3_sub(e->head, f->tail);
	clip_begin(&clip);
	clip_plane(&clip, vec3_dot(tail, f->along), vec3_dot(head, f->along),
		   make_feature(VCLIP_VERTEX, f->from));
	clip_plane(&clip, -vec3_dot(vec3_sub(e->tail, f->head), f->along),
		   -vec3_dot(vec3_sub(e->head, f->head), f->along),
		   make_feature(VCLIP_VERTEX, f->to));
	edge_planes(s, f, planes, faces);
	for (int k = 0; k < 2; k++)
		clip_plane(&clip, vec3_dot(tail, planes[k]), vec3_dot(head, planes[k]), faces[k]);
	return clip_decide(s, &clip, e, clip.at_low, clip.at_high, moves);
}

static enum vclip_outcome edge_edge(const struct vclip_side *p, const struct vclip_side *q,
				    struct vclip_feature *v, struct vclip_feature *w)
{
	struct vclip_edge e = edge_of(p, v->index), f = edge_of(q, w->index);
	enum vclip_outcome step = edge_in_edge(p, v, &e, &f);
	return step != VCLIP_STAY ? step : edge_in_edge(q, w, &f, &e);
}

static double face_height(const struct vclip_side *s, uint32_t face, vec3 n, vec3 x)
{
	uint32_t corner = s->hull->edges[s->hull->faces[face].edge].origin;
	return vec3_dot(n, vec3_sub(x, place_point(s, corner)));
}

/* The face whose plane x is highest above; *height in m. */
static uint32_t highest_face(const struct vclip_side *s, vec3 x, double *height)
{
	vec3 own = x;
	if (s->at != NULL)
		own = mat3_transposed_mul_vec(s->at->rotation, vec3_sub(x, s->at->translation));
	uint32_t best = 0;
	*height = -SCALAR_MAX;
	for (uint32_t f = 0; f < s->hull->face_count; f++) {
		double above = vec3_dot(s->hull->faces[f].normal, own) - s->hull->faces[f].offset;
		best = above > *height ? f : best;
		*height = above > *height ? above : *height;
	}
	return best;
}

/* The prism plane of the face that x violates most, or UINT32_MAX. */
static uint32_t most_violated(const struct vclip_side *s, uint32_t face, vec3 n, vec3 x)
{
	uint32_t half = s->hull->faces[face].edge, worst = UINT32_MAX;
	double least = 0;
	for (uint32_t k = 0; k < s->hull->faces[face].edge_count; k++) {
		struct vclip_edge e = edge_of(s, half);
		double inside = vec3_dot(vec3_sub(x, e.tail), vec3_cross(n, e.along));
		if (inside < 0) {
			inside = -inside * inside / vec3_length_squared(e.along);
			worst = inside < least ? half : worst;
			least = scalar_min(inside, least);
		}
		half = s->hull->edges[half].next;
	}
	return worst;
}

static enum vclip_outcome vertex_face(const struct vclip_side *p, const struct vclip_side *q,
				      struct vclip_feature *v, struct vclip_feature *w)
{
	vec3 x = place_point(p, v->index), n = normal_of(q, w->index);
	uint32_t out = most_violated(q, w->index, n, x);
	if (out != UINT32_MAX) {
		*w = make_feature(VCLIP_EDGE, out);
		return VCLIP_MOVED;
	}
	double height = face_height(q, w->index, n, x);
	if (height == 0)
		return VCLIP_TOUCH;
	uint32_t first = p->hull->vertex_edge[v->index], half = first;
	do {
		uint32_t twin = p->hull->edges[half].twin;
		vec3 other = place_point(p, p->hull->edges[twin].origin);
		double rise = face_height(q, w->index, n, other) - height;
		if (height > 0 ? rise < 0 : rise > 0) {
			*v = make_feature(VCLIP_EDGE, half);
			return VCLIP_MOVED;
		}
		half = p->hull->edges[twin].next;
	} while (half != first);
	if (height > 0)
		return VCLIP_STAY;
	double most;
	uint32_t face = highest_face(q, x, &most);
	if (most <= 0 || face == w->index)
		return VCLIP_TOUCH;
	*w = make_feature(VCLIP_FACE, face);
	return VCLIP_MOVED;
}

/* V5: the boundary feature of the face that is nearest to the edge. */
static struct vclip_feature face_boundary(const struct vclip_side *s, uint32_t face,
					  const struct vclip_edge *e)
{
	uint32_t half = s->hull->faces[face].edge;
	struct vclip_feature best = make_feature(VCLIP_EDGE, half);
	double least = SCALAR_MAX;
	for (uint32_t k = 0; k < s->hull->faces[face].edge_count; k++) {
		struct vclip_edge f = edge_of(s, half);
		struct segment_pair near =
			closest_segment_segment(e->tail, e->head, f.tail, f.head);
		if (near.distance_squared < least) {
			least = near.distance_squared;
			best = near.t <= 0   ? make_feature(VCLIP_VERTEX, f.from)
			       : near.t >= 1 ? make_feature(VCLIP_VERTEX, f.to)
					     : make_feature(VCLIP_EDGE, half);
		}
		half = s->hull->edges[half].next;
	}
	return best;
}

static enum vclip_outcome edge_face(const struct vclip_side *p, const struct vclip_side *q,
				    struct vclip_feature *v, struct vclip_feature *w)
{
	struct vclip_edge e = edge_of(p, v->index);
	vec3 n = normal_of(q, w->index);
	struct clip clip;
	clip_begin(&clip);
	uint32_t half = q->hull->faces[w->index].edge;
	for (uint32_t k = 0; k < q->hull->faces[w->index].edge_count; k++) {
		struct vclip_edge f = edge_of(q, half);
		vec3 plane = vec3_cross(n, f.along);
		clip_plane(&clip, vec3_dot(vec3_sub(e.tail, f.tail), plane),
			   vec3_dot(vec3_sub(e.head, f.tail), plane),
			   make_feature(VCLIP_EDGE, half));
		half = q->hull->edges[half].next;
	}
	if (clip.excluded || clip.low > clip.high) {
		*w = face_boundary(q, w->index, &e);
		return VCLIP_MOVED;
	}
	double low = face_height(q, w->index, n, edge_point(&e, clip.low));
	double high = face_height(q, w->index, n, edge_point(&e, clip.high));
	if ((low <= 0 && high >= 0) || (low >= 0 && high <= 0))
		return VCLIP_TOUCH;
	if (scalar_sign(vec3_dot(e.along, n)) * scalar_sign(low) >= 0) {
		if (clip.has_low)
			*w = clip.at_low;
		else
			*v = make_feature(VCLIP_VERTEX, e.from);
	} else if (clip.has_high) {
		*w = clip.at_high;
	} else {
		*v = make_feature(VCLIP_VERTEX, e.to);
	}
	return VCLIP_MOVED;
}

typedef enum vclip_outcome vclip_state(const struct vclip_side *p, const struct vclip_side *q,
				       struct vclip_feature *v, struct vclip_feature *w);

/* The state F–F does not occur: a step moves at most one feature to a face, and only if the other
 * is a vertex or an edge. */
static enum vclip_outcome move_features(const struct vclip_side *a, const struct vclip_side *b,
					struct vclip_features *at)
{
	static vclip_state *const STATES[3][3] = { { vertex_vertex, vertex_edge, vertex_face },
						   { NULL, edge_edge, edge_face },
						   { NULL, NULL, NULL } };
	if (at->a.kind <= at->b.kind)
		return STATES[at->a.kind][at->b.kind](a, b, &at->a, &at->b);
	return STATES[at->b.kind][at->a.kind](b, a, &at->b, &at->a);
}

/* ---- the result ------------------------------------------------------------------------------ */

/* The nearest points x of p's feature and y of q's, where kind of v ≤ kind of w. Returns the unit
 * direction x → y from the features, which is accurate also if x and y nearly coincide; 0 if y − x
 * is the best one. */
static vec3 measure_gap(const struct vclip_side *p, const struct vclip_side *q,
			struct vclip_feature v, struct vclip_feature w, vec3 *x, vec3 *y)
{
	if (w.kind == VCLIP_FACE) {
		vec3 n = normal_of(q, w.index);
		*x = place_point(p, v.index);
		*y = vec3_mul_sub(*x, n, face_height(q, w.index, n, *x));
		return vec3_negate(n);
	}
	if (w.kind == VCLIP_VERTEX) {
		*x = place_point(p, v.index);
		*y = place_point(q, w.index);
		return vec3_zero();
	}
	struct vclip_edge f = edge_of(q, w.index);
	if (v.kind == VCLIP_VERTEX) {
		double k;
		*x = place_point(p, v.index);
		*y = closest_point_segment(*x, f.tail, f.head, &k);
		vec3 d = vec3_sub(*y, *x);
		double part = vec3_dot(d, f.along) / vec3_length_squared(f.along);
		return k > 0 && k < 1 ? vec3_normalize(vec3_mul_sub(d, f.along, part))
				      : vec3_zero();
	}
	struct vclip_edge e = edge_of(p, v.index);
	struct segment_pair near = closest_segment_segment(e.tail, e.head, f.tail, f.head);
	*x = near.first;
	*y = near.second;
	vec3 n = vec3_cross(e.along, f.along);
	double size = vec3_length_squared(e.along) * vec3_length_squared(f.along);
	if (!(vec3_length_squared(n) > 1e-6 * size) || near.s <= 0 || near.s >= 1 || near.t <= 0 ||
	    near.t >= 1)
		return vec3_zero();
	n = vec3_normalize(n);
	return vec3_dot(n, vec3_sub(*y, *x)) < 0 ? vec3_negate(n) : n;
}

static uint32_t feature_vertex(const struct hull *hull, struct vclip_feature f)
{
	if (f.kind == VCLIP_VERTEX)
		return f.index;
	return hull->edges[f.kind == VCLIP_EDGE ? f.index : hull->faces[f.index].edge].origin;
}

/* Fills the result from the features; true if the lower bound agrees with the distance. */
static bool prove_distance(const struct vclip_side *a, const struct vclip_side *b,
			   struct vclip_result *out)
{
	struct vclip_features at = out->features;
	vec3 n;
	if (at.a.kind <= at.b.kind)
		n = measure_gap(a, b, at.a, at.b, &out->point_a, &out->point_b);
	else
		n = vec3_negate(measure_gap(b, a, at.b, at.a, &out->point_b, &out->point_a));
	vec3 d = vec3_sub(out->point_b, out->point_a);
	out->distance = vec3_length(d);
	if (!(out->distance > 0))
		return false;
	out->normal = vec3_dot(n, d) > 0 ? n : vec3_scale(d, 1.0 / out->distance);
	struct gjk_core core_a = { a->hull->vertices, a->hull->vertex_count, a->hull, 0, NULL };
	struct gjk_core core_b = { b->hull->vertices, b->hull->vertex_count, b->hull, 0, NULL };
	vec3 towards = mat3_transposed_mul_vec(b->at->rotation, vec3_negate(out->normal));
	vec3 far_a = place_point(a, gjk_climb(&core_a, out->normal, feature_vertex(a->hull, at.a)));
	vec3 far_b = place_point(b, gjk_climb(&core_b, towards, feature_vertex(b->hull, at.b)));
	out->lower = scalar_min(vec3_dot(out->normal, vec3_sub(far_b, far_a)), out->distance);
	double scale = scalar_max(vec3_max_component(vec3_abs(far_a)),
				  vec3_max_component(vec3_abs(far_b)));
	return out->distance - out->lower <= GAP_RELATIVE * out->distance + GAP_ABSOLUTE * scale;
}

/* Replaces the result by that of gjk.c. If the hulls touch, the features remain, as the next start.
 * `counted`: sets handed_over also if the hulls touch. */
static void compute_by_gjk(const struct vclip_side *a, const struct vclip_side *b, bool counted,
			   struct vclip_result *out)
{
	struct gjk_core core_a = { a->hull->vertices, a->hull->vertex_count, a->hull, 0, NULL };
	struct gjk_core core_b = { b->hull->vertices, b->hull->vertex_count, b->hull, 0, NULL };
	struct gjk_simplex start = { 1,
				     { (uint16_t)feature_vertex(a->hull, out->features.a) },
				     { (uint16_t)feature_vertex(b->hull, out->features.b) } };
	struct gjk_result near;
	gjk_distance(&core_a, &core_b, &b->at->rotation, b->at->translation, &start, &near);
	out->touching = near.touching;
	out->handed_over = counted || !near.touching;
	out->distance = near.distance;
	out->lower = near.lower;
	out->normal = near.normal;
	out->point_a = near.point_a;
	out->point_b = near.point_b;
	out->simplex = near.simplex;
	if (!near.touching)
		out->features =
			(struct vclip_features){ make_feature(VCLIP_VERTEX, near.simplex.a[0]),
						 make_feature(VCLIP_VERTEX, near.simplex.b[0]) };
}

static bool feature_exists(const struct hull *hull, struct vclip_feature f)
{
	uint32_t counts[3] = { hull->vertex_count, hull->edge_count, hull->face_count };
	return f.kind <= VCLIP_FACE && f.index < counts[f.kind];
}

static struct vclip_features start_features(const struct vclip_side *a, const struct vclip_side *b,
					    const struct vclip_features *start)
{
	if (start != NULL && feature_exists(a->hull, start->a) &&
	    feature_exists(b->hull, start->b) &&
	    (start->a.kind != VCLIP_FACE || start->b.kind != VCLIP_FACE))
		return *start;
	struct gjk_core core_a = { a->hull->vertices, a->hull->vertex_count, a->hull, 0, NULL };
	struct gjk_core core_b = { b->hull->vertices, b->hull->vertex_count, b->hull, 0, NULL };
	vec3 d = vec3_sub(placing_point(b->at, b->hull->centre), a->hull->centre);
	vec3 towards = mat3_transposed_mul_vec(b->at->rotation, vec3_negate(d));
	return (struct vclip_features){ make_feature(VCLIP_VERTEX, gjk_support(&core_a, d, 0)),
					make_feature(VCLIP_VERTEX,
						     gjk_support(&core_b, towards, 0)) };
}

void vclip_distance(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
		    const struct vclip_features *start, struct vclip_result *out)
{
	struct vclip_side p = { a, NULL }, q = { b, b_in_a };
	uint32_t most = STEPS_EXTRA + a->edge_count + b->edge_count;
	enum vclip_outcome now = VCLIP_MOVED;
	*out = (struct vclip_result){ .features = start_features(&p, &q, start) };
	while (now == VCLIP_MOVED && out->steps < most) {
		out->steps++;
		now = move_features(&p, &q, &out->features);
	}
	if (now == VCLIP_STAY && prove_distance(&p, &q, out))
		return;
	compute_by_gjk(&p, &q, now == VCLIP_MOVED || out->distance > 0, out);
}
