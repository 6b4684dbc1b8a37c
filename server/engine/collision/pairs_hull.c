/* See pairs.h. Polyhedron against polyhedron (hulls, and boxes with hulls).
 *
 * Order: the axis cached in the last step (if it still separates, done; if it is a face, its manifold, if
 * that is proved good enough); faces of A, faces of B, edge pairs, where each search ends as soon as an axis
 * separates by more than the margin; then the manifold of the best axis, a face unless an edge pair is better
 * by the slop. pairs_box.c explains the proof and the preference, sat.c the searches.
 *
 * Failure: where corners or edges are nearest, a face may clip to nothing. Then the nearest points decide
 * (gjk.c); if the pieces overlap there, the best edge pair or the deepest vertex of the best face.
 */
#include "server/engine/collision/face_contact.h"
#include "server/engine/collision/gjk.h"
#include "server/engine/collision/pairs.h"
#include "server/engine/collision/sat.h"
#include "server/engine/geometry/closest.h"

struct hulls {
	const struct hull *a, *b;
	struct placing b_in_a, a_in_b;
	double margin, slop;
};

static struct hulls hulls_of(const struct pair *pair)
{
	struct hulls x = { pair->a->hull,
			   pair->b->hull,
			   { mat3_from_quat(pair->b_in_a.rotation), pair->b_in_a.position },
			   { { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } }, { 0, 0, 0 } },
			   pair->margin,
			   pair_slop(pair->a, pair->b) };
	x.a_in_b = placing_inverse(&x.b_in_a);
	return x;
}

/* The manifold of a face of A (or of B), in A's frame; true if it is proved good enough. */
static bool face_manifold(const struct hulls *x, bool is_b, struct sat_face face,
			  struct manifold *out)
{
	VALIDATE(face.face < (is_b ? x->b : x->a)->face_count);
	struct face_contact contact = { is_b ? x->b : x->a,
					is_b ? x->a : x->b,
					is_b ? &x->a_in_b : &x->b_in_a,
					face,
					x->margin,
					x->slop,
					is_b };
	bool proved = face_contact(&contact, out);
	if (is_b && out->count > 0) {
		out->normal = vec3_negate(mat3_mul_vec(x->b_in_a.rotation, out->normal));
		for (uint32_t k = 0; k < out->count; k++)
			out->points[k].point = placing_point(&x->b_in_a, out->points[k].point);
	}
	return proved;
}

/* False: the edges are farther apart than their lines by more than the slop, so that other features
 * are nearer. */
static bool edges_manifold(const struct hulls *x, const struct sat_edges *edges,
			   struct manifold *out)
{
	VALIDATE(edges->edge_a < x->a->edge_count);
	VALIDATE(edges->edge_b < x->b->edge_count);
	const struct half_edge *e = &x->a->edges[edges->edge_a], *f = &x->b->edges[edges->edge_b];
	vec3 a0 = x->a->vertices[e->origin], a1 = x->a->vertices[x->a->edges[e->twin].origin];
	vec3 b0 = placing_point(&x->b_in_a, x->b->vertices[f->origin]);
	vec3 b1 = placing_point(&x->b_in_a, x->b->vertices[x->b->edges[f->twin].origin]);
	struct segment_pair nearest = closest_segment_segment(a0, a1, b0, b1);
	manifold_one(out, edges->normal, nearest.first, edges->separation,
		     feature_make(FEATURE_EDGES, edges->edge_a, edges->edge_b));
	return scalar_sqrt(nearest.distance_squared) <= scalar_abs(edges->separation) + x->slop;
}

/* Plan B for overlapping pieces whose best face clips to nothing and that have no edges crossing
 * there (slivers): the best face's axis, at a point that both pieces share. */
static void shared_manifold(const struct hulls *x, bool is_b, struct sat_face face, vec3 shared,
			    struct manifold *out)
{
	VALIDATE(face.face < (is_b ? x->b : x->a)->face_count);
	vec3 normal = (is_b ? x->b : x->a)->faces[face.face].normal;
	if (is_b)
		normal = vec3_negate(mat3_mul_vec(x->b_in_a.rotation, normal));
	out->normal = normal;
	out->count = 1;
	out->points[0] =
		(struct manifold_point){ shared, face.separation,
					 is_b ? feature_make(FEATURE_VERTEX, face.vertex, face.face)
					      : feature_make(FEATURE_VERTEX, face.face,
							     face.vertex) };
}

/* The best axis leads to features that are not the nearest ones: corners or edges that face each
 * other. Puts them into *out if they are nearer (deeper) than what is there by more than the slop. */
static void corner_manifold(const struct hulls *x, const struct pair *pair, bool is_b,
			    struct sat_face face, struct manifold *out)
{
	VALIDATE(face.vertex < (is_b ? x->a : x->b)->vertex_count);
	double bar = out->count > 0 ? manifold_deepest(out) - x->slop : SCALAR_MAX;
	struct gjk_result nearest;
	gjk_shapes(pair, &nearest);
	if (!nearest.touching) {
		if (nearest.distance <= x->margin && nearest.distance < bar)
			manifold_one(out, nearest.normal, nearest.point_a, nearest.distance,
				     feature_make(FEATURE_NEAREST, nearest.simplex.a[0],
						  nearest.simplex.b[0]));
		return;
	}
	double least = out->count > 0 ? face.separation - x->slop : -SCALAR_MAX;
	struct sat_edges edges =
		sat_edges(x->a, x->b, &x->b_in_a, least, scalar_max(x->margin, -face.separation),
			  vec3_zero(), vec3_zero());
	struct manifold crossing;
	if (edges.separation > -SCALAR_MAX && edges.separation < bar &&
	    edges_manifold(x, &edges, &crossing))
		*out = crossing;
	else if (out->count == 0)
		shared_manifold(x, is_b, face, nearest.point_a, out);
}

static void cache_face(struct pair_cache *cache, bool is_b, struct sat_face face)
{
	if (is_b)
		cache_set(cache, CACHE_FACE_B, face.vertex, face.face);
	else
		cache_set(cache, CACHE_FACE_A, face.face, face.vertex);
}

/* Tests the cached axis. True: *out is the result. Else, if the axis is a face, *used is that face and *out
 * its manifold. */
static bool test_cached_feature(const struct hulls *x, const struct pair_cache *cache,
				struct sat_face *used, struct manifold *out)
{
	uint32_t a = cache->feature_a, b = cache->feature_b;
	vec3 normal;
	switch (cache->kind) {
	case CACHE_FACE_A:
		if (a >= x->a->face_count || b >= x->b->vertex_count)
			return false;
		*used = sat_face(x->a, x->b, &x->b_in_a, a, b);
		break;
	case CACHE_FACE_B:
		if (b >= x->b->face_count || a >= x->a->vertex_count)
			return false;
		*used = sat_face(x->b, x->a, &x->a_in_b, b, a);
		break;
	case CACHE_EDGES:
		return a < x->a->edge_count && b < x->b->edge_count &&
		       sat_edge_pair(x->a, x->b, &x->b_in_a, a, b, &normal) > x->margin;
	default:
		return false;
	}
	return used->separation > x->margin ||
	       face_manifold(x, cache->kind == CACHE_FACE_B, *used, out);
}

static void search_axes(const struct hulls *x, const struct pair *pair, struct sat_face used,
			struct pair_cache *cache, struct manifold *out)
{
	uint32_t start_a = cache->kind == CACHE_FACE_A && used.separation > -SCALAR_MAX
				   ? used.face
				   : sat_face_guess(x->a, x->b, &x->b_in_a);
	struct sat_face a = sat_faces(x->a, x->b, &x->b_in_a, start_a, x->margin);
	if (a.separation > x->margin) {
		cache_face(cache, false, a);
		out->count = 0;
		return;
	}
	uint32_t start_b = cache->kind == CACHE_FACE_B && used.separation > -SCALAR_MAX
				   ? used.face
				   : sat_face_guess(x->b, x->a, &x->a_in_b);
	struct sat_face b = sat_faces(x->b, x->a, &x->a_in_b, start_b, x->margin);
	if (b.separation > x->margin) {
		cache_face(cache, true, b);
		out->count = 0;
		return;
	}
	bool is_b = b.separation > a.separation + x->slop;
	struct sat_face face = is_b ? b : a;
	double top = scalar_max(a.separation, b.separation);
	/* The cached face stays if it is within the slop of the best and its manifold reaches the contact. */
	if (used.separation >= top - x->slop &&
	    manifold_deepest(out) <= used.separation + x->slop) {
		face = used;
		is_b = cache->kind == CACHE_FACE_B;
	}
	struct sat_edges edges = sat_edges(x->a, x->b, &x->b_in_a, face.separation + x->slop,
					   scalar_max(x->margin, -top),
					   placing_point(&x->b_in_a, x->b->vertices[a.vertex]),
					   placing_point(&x->a_in_b, x->a->vertices[b.vertex]));
	if (edges.separation > -SCALAR_MAX) {
		cache_set(cache, CACHE_EDGES, edges.edge_a, edges.edge_b);
		out->count = 0;
		if (edges.separation <= x->margin && !edges_manifold(x, &edges, out) &&
		    edges.separation > 0) {
			out->count = 0;
			corner_manifold(x, pair, is_b, face, out);
		}
		return;
	}
	bool made = used.separation > -SCALAR_MAX && face.face == used.face &&
		    is_b == (cache->kind == CACHE_FACE_B);
	cache_face(cache, is_b, face);
	if (!made)
		face_manifold(x, is_b, face, out);
	if (manifold_deepest(out) > face.separation + x->slop)
		corner_manifold(x, pair, is_b, face, out);
}

void pair_hull_hull(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	struct hulls x = hulls_of(pair);
	struct sat_face used = { -SCALAR_MAX, 0, 0 };
	out->count = 0;
	if (!test_cached_feature(&x, cache, &used, out))
		search_axes(&x, pair, used, cache, out);
}
