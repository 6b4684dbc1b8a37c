/* See pairs.h. Box against box.
 *
 * Axes (G-18): with A's axes e_i, B's axes b_j, R_ij = e_i · b_j, t = B's centre, half sizes a and
 * b, the separations along the 15 axes are
 *
 *   e_i        |t_i| − a_i − Σ_j b_j |R_ij|
 *   b_j        |t·b_j| − b_j − Σ_i a_i |R_ij|
 *   e_i × b_j  (|t_i2 R_i1j − t_i1 R_i2j| − a_i1|R_i2j| − a_i2|R_i1j| − b_j1|R_ij2| − b_j2|R_ij1|) / l,
 *              l² = R_i1j² + R_i2j², the squared length of the cross product without cancellation.
 *
 * One of them above the margin: apart. Otherwise the largest is the direction of least penetration;
 * a face is preferred to an edge pair, and A's face to B's, unless the other is better by the slop.
 *
 * Manifold of a face: the face of the other box that opposes it most is clipped to its rectangle,
 * in the plane of that rectangle, and what lies within the margin is kept.
 *
 * Memory between steps (pair_cache): the axis. If it still separates, the answer is given by that
 * one axis. If it was a face, its manifold is made first and then *proved* good enough: the mean c
 * of the clipped points belongs to the other box, and if it lies as deep inside all faces of this
 * box as its depth m below this face, a ball of that radius round c fits into this box, so no axis
 * at all has a separation above −m. If the face's own separation is within the slop of that, the full
 * search could have kept this face, so the search is skipped. (c above the face: no axis
 * separates by more than its height, if its foot lies in the rectangle.) The deepest point is tried
 * as well: the mean proves boxes that lie on each other, the deepest a corner on a face. Resting
 * boxes nearly always pass.
 *
 * Failure: the face that wins by the slop may clip to nothing near two edges that cross
 * or two corners that face each other; then the nearest points decide (GJK), or, for boxes that
 * overlap, the best edge pair.
 */
#include "server/engine/collision/clip.h"
#include "server/engine/collision/gjk.h"
#include "server/engine/collision/pairs.h"

/* Both boxes and their relative placement. */
struct boxes {
	double r[3][3], q[3][3]; /* R and |R| */
	double t[3];		 /* B's centre in A's frame */
	double u[3];		 /* the same vector along B's axes */
	double a[3], b[3];	 /* half sizes */
	double margin, slop;
};

static const uint8_t NEXT[3] = { 1, 2, 0 }, LAST[3] = { 2, 0, 1 };

static void boxes_set(struct boxes *x, const struct pair *pair)
{
	VALIDATE(pair->a->kind == SHAPE_BOX);
	VALIDATE(pair->b->kind == SHAPE_BOX);
	mat3 m = mat3_from_quat(pair->b_in_a.rotation);
	vec3 t = pair->b_in_a.position, a = pair->a->box.half, b = pair->b->box.half;
	const vec3 *columns[3] = { &m.x, &m.y, &m.z };
	for (int j = 0; j < 3; j++) {
		x->r[0][j] = columns[j]->x;
		x->r[1][j] = columns[j]->y;
		x->r[2][j] = columns[j]->z;
		x->q[0][j] = scalar_abs(columns[j]->x);
		x->q[1][j] = scalar_abs(columns[j]->y);
		x->q[2][j] = scalar_abs(columns[j]->z);
		x->u[j] = vec3_dot(t, *columns[j]);
	}
	x->t[0] = t.x, x->t[1] = t.y, x->t[2] = t.z;
	x->a[0] = a.x, x->a[1] = a.y, x->a[2] = a.z;
	x->b[0] = b.x, x->b[1] = b.y, x->b[2] = b.z;
	x->margin = pair->margin;
	x->slop = pair_slop(pair->a, pair->b);
}

static inline double axis_a(const struct boxes *x, uint32_t i)
{
	VALIDATE(i < 3);
	return scalar_abs(x->t[i]) - x->a[i] -
	       (x->b[0] * x->q[i][0] + x->b[1] * x->q[i][1] + x->b[2] * x->q[i][2]);
}

static inline double axis_b(const struct boxes *x, uint32_t j)
{
	VALIDATE(j < 3);
	return scalar_abs(x->u[j]) - x->b[j] -
	       (x->a[0] * x->q[0][j] + x->a[1] * x->q[1][j] + x->a[2] * x->q[2][j]);
}

/* The edge axis's separation times its length l, and l². */
static inline double axis_edges(const struct boxes *x, uint32_t i, uint32_t j,
				double *length_squared)
{
	VALIDATE(i < 3 && j < 3);
	uint32_t i1 = NEXT[i], i2 = LAST[i], j1 = NEXT[j], j2 = LAST[j];
	*length_squared = x->r[i1][j] * x->r[i1][j] + x->r[i2][j] * x->r[i2][j];
	return scalar_abs(x->t[i2] * x->r[i1][j] - x->t[i1] * x->r[i2][j]) -
	       (x->a[i1] * x->q[i2][j] + x->a[i2] * x->q[i1][j] + x->b[j1] * x->q[i][j2] +
		x->b[j2] * x->q[i][j1]);
}

#define PARALLEL_SQUARED (PAIR_PARALLEL_SINE * PAIR_PARALLEL_SINE)

static double edges_separation(const struct boxes *x, uint32_t i, uint32_t j)
{
	double length_squared, scaled = axis_edges(x, i, j, &length_squared);
	if (length_squared < PARALLEL_SQUARED)
		return -SCALAR_MAX;
	return scaled / scalar_sqrt(length_squared);
}

struct face_axis {
	double separation;
	bool is_b;
	uint32_t axis;
};

struct box_edge_axis {
	double separation; /* −SCALAR_MAX: none above the threshold */
	uint32_t i, j;
};

/* The best edge pair among those above `least`. Dividing and rooting is left to the few that are:
 * s/l > c is decided on squares. */
static struct box_edge_axis edges_best(const struct boxes *x, double least)
{
	struct box_edge_axis best = { -SCALAR_MAX, 0, 0 };
	double bar = least;
	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t j = 0; j < 3; j++) {
			double l2, s = axis_edges(x, i, j, &l2);
			double s2 = s * s, bar2 = bar * bar * l2;
			bool above = bar < 0 ? (s >= 0 || s2 < bar2) : (s > 0 && s2 > bar2);
			if (!above || l2 < PARALLEL_SQUARED)
				continue;
			double separation = s / scalar_sqrt(l2);
			if (separation <= bar)
				continue;
			best = (struct box_edge_axis){ separation, i, j };
			bar = separation;
		}
	}
	VALIDATE(best.i < 3 && best.j < 3);
	return best;
}

/* ---- the manifold of a face ------------------------------------------------------------------- */

/* A corner of the polygon: place in the reference rectangle, height above it, the sides it is
 * between: 0…3 of the incident face, 4…7 of the rectangle (+x, +y, −x, −y). */
struct box_corner {
	double x, y, d;
	uint8_t before, after;
};

enum { CORNERS_MAX = 8 };

/* The reference box and the other one in its frame. */
struct reference {
	const double *half, *other_half;
	double m[3][3];		 /* m[i][j]: reference axis i · other axis j */
	double c[3];		 /* the other's centre */
	uint32_t axis, incident; /* reference axis, incident axis */
	double sign;		 /* ±1: which of the two faces */
	bool is_b;
};

static void reference_set(struct reference *ref, const struct boxes *x, bool is_b, uint32_t axis)
{
	VALIDATE(axis < 3);
	ref->is_b = is_b;
	ref->axis = axis;
	ref->half = is_b ? x->b : x->a;
	ref->other_half = is_b ? x->a : x->b;
	for (int i = 0; i < 3; i++) {
		ref->c[i] = is_b ? -x->u[i] : x->t[i];
		for (int j = 0; j < 3; j++)
			ref->m[i][j] = is_b ? x->r[j][i] : x->r[i][j];
	}
	ref->sign = ref->c[axis] < 0 ? -1.0 : 1.0;
	const double *row = ref->m[axis];
	vec3 size = { scalar_abs(row[0]), scalar_abs(row[1]), scalar_abs(row[2]) };
	ref->incident = vec3_largest_axis(size);
	VALIDATE(ref->incident < 3);
}

/* The incident face's corners, in order round it. */
static void incident_corners(const struct reference *ref, struct box_corner corners[CORNERS_MAX])
{
	uint32_t i = ref->axis, i1 = NEXT[i], i2 = LAST[i];
	uint32_t j = ref->incident, j1 = NEXT[j], j2 = LAST[j];
	const double(*m)[3] = ref->m;
	/* Outward on the other box, against the reference normal. */
	double out = ref->sign * m[i][j] > 0 ? -ref->other_half[j] : ref->other_half[j];
	double h1 = ref->other_half[j1], h2 = ref->other_half[j2];
	double cx = ref->c[i1] + m[i1][j] * out, cy = ref->c[i2] + m[i2][j] * out;
	double cd = ref->sign * (ref->c[i] + m[i][j] * out) - ref->half[i];
	double ux = m[i1][j1] * h1, uy = m[i2][j1] * h1, ud = ref->sign * m[i][j1] * h1;
	double vx = m[i1][j2] * h2, vy = m[i2][j2] * h2, vd = ref->sign * m[i][j2] * h2;
	corners[0] = (struct box_corner){ cx + ux + vx, cy + uy + vy, cd + ud + vd, 3, 0 };
	corners[1] = (struct box_corner){ cx - ux + vx, cy - uy + vy, cd - ud + vd, 0, 1 };
	corners[2] = (struct box_corner){ cx - ux - vx, cy - uy - vy, cd - ud - vd, 1, 2 };
	corners[3] = (struct box_corner){ cx + ux - vx, cy + uy - vy, cd + ud - vd, 2, 3 };
}

/* Keeps what lies at or below `bound` on one side: sign · (x or y) ≤ bound. */
static uint32_t clip_side(const struct box_corner *in, uint32_t count, uint32_t axis, double sign,
			  double bound, uint8_t side, struct box_corner *out)
{
	VALIDATE(count > 0 && count <= CORNERS_MAX);
	VALIDATE(axis < 2);
	uint32_t made = 0;
	const struct box_corner *from = &in[count - 1];
	double from_out = sign * (axis ? from->y : from->x) - bound;
	for (uint32_t k = 0; k < count; k++) {
		const struct box_corner *to = &in[k];
		double to_out = sign * (axis ? to->y : to->x) - bound;
		if ((from_out <= 0) != (to_out <= 0) && made < CORNERS_MAX) {
			double f = from_out / (from_out - to_out);
			bool leaving = from_out <= 0;
			out[made++] = (struct box_corner){ from->x + f * (to->x - from->x),
							   from->y + f * (to->y - from->y),
							   from->d + f * (to->d - from->d),
							   leaving ? to->before : side,
							   leaving ? side : to->before };
		}
		if (to_out <= 0 && made < CORNERS_MAX)
			out[made++] = *to;
		from = to;
		from_out = to_out;
	}
	VALIDATE(made <= CORNERS_MAX);
	return made;
}

/* The incident face within the reference rectangle; the corners that stayed are in `corners`. */
static uint32_t clip_rectangle(const struct reference *ref, double slop,
			       struct box_corner corners[CORNERS_MAX])
{
	double wx = ref->half[NEXT[ref->axis]] + slop, wy = ref->half[LAST[ref->axis]] + slop;
	bool all_in = true;
	for (int k = 0; k < 4; k++)
		all_in = all_in && scalar_abs(corners[k].x) <= wx && scalar_abs(corners[k].y) <= wy;
	if (all_in)
		return 4;
	struct box_corner other[CORNERS_MAX];
	uint32_t count = clip_side(corners, 4, 0, 1, wx, 4, other);
	if (count > 0)
		count = clip_side(other, count, 1, 1, wy, 5, corners);
	if (count > 0)
		count = clip_side(corners, count, 0, -1, wx, 6, other);
	if (count > 0)
		count = clip_side(other, count, 1, -1, wy, 7, corners);
	return count;
}

/* A side of the polygon, named as an edge number of its box that no other edge of it has. */
static inline uint32_t side_name(const struct reference *ref, uint32_t side)
{
	VALIDATE(side < 8);
	uint32_t face = side < 4 ? 6 + ref->incident : ref->axis * 2 + (ref->sign > 0);
	return feature_side(face * 4 + (side & 3), (side < 4) != ref->is_b);
}

static void points_set(const struct boxes *x, const struct reference *ref,
		       const struct box_corner *corners, uint32_t count, struct manifold *out)
{
	ASSERT(count > 0 && count <= CORNERS_MAX);
	struct manifold_point points[CORNERS_MAX];
	uint32_t i = ref->axis, i1 = NEXT[i], i2 = LAST[i];
	for (uint32_t k = 0; k < count; k++) {
		const struct box_corner *corner = &corners[k];
		double p[3];
		p[i] = ref->sign * (ref->half[i] + 0.5 * corner->d);
		p[i1] = corner->x;
		p[i2] = corner->y;
		points[k] = (struct manifold_point){ vec3_make(p[0], p[1], p[2]), corner->d,
						     feature_corner(side_name(ref, corner->before),
								    side_name(ref, corner->after),
								    ref->is_b) };
	}
	vec3 normal = vec3_scale(vec3_axis(i), ref->sign);
	manifold_reduce(points, count, normal, x->slop, out);
	if (!ref->is_b)
		return;
	/* From B's frame to A's; the normal turns round. */
	vec3 t = { x->t[0], x->t[1], x->t[2] };
	mat3 r = { { x->r[0][0], x->r[1][0], x->r[2][0] },
		   { x->r[0][1], x->r[1][1], x->r[2][1] },
		   { x->r[0][2], x->r[1][2], x->r[2][2] } };
	out->normal = vec3_negate(mat3_mul_vec(r, normal));
	for (uint32_t k = 0; k < out->count; k++)
		out->points[k].point = vec3_add(t, mat3_mul_vec(r, out->points[k].point));
}

/* True if this point of the other box proves that no axis has a separation above that of the face by more
 * than the slop. */
static inline bool proves_axis(const struct boxes *x, const struct reference *ref, double cx,
			       double cy, double cd, double separation)
{
	double inside = scalar_min(cd, 0); /* −radius of the ball */
	return cd - separation <= x->slop &&
	       scalar_abs(cx) <= ref->half[NEXT[ref->axis]] + inside &&
	       scalar_abs(cy) <= ref->half[LAST[ref->axis]] + inside &&
	       ref->half[ref->axis] + inside >= 0;
}

/* By the mean of the corners (boxes that lie on each other) or by the deepest (a corner on a face). */
static bool face_is_proved(const struct boxes *x, const struct reference *ref,
			   const struct box_corner *corners, uint32_t count, double separation)
{
	ASSERT(count > 0 && count <= CORNERS_MAX);
	double cx = 0, cy = 0, cd = 0, part = 1.0 / count;
	const struct box_corner *deepest = corners;
	for (uint32_t k = 0; k < count; k++) {
		cx += corners[k].x;
		cy += corners[k].y;
		cd += corners[k].d;
		deepest = corners[k].d < deepest->d ? &corners[k] : deepest;
	}
	return proves_axis(x, ref, cx * part, cy * part, cd * part, separation) ||
	       proves_axis(x, ref, deepest->x, deepest->y, deepest->d, separation);
}

/* The face's manifold, empty if no corner lies within the margin; true if it is proved good enough. */
static bool face_manifold(const struct boxes *x, struct face_axis face, struct manifold *out)
{
	VALIDATE(face.axis < 3);
	struct reference ref;
	struct box_corner corners[CORNERS_MAX];
	reference_set(&ref, x, face.is_b, face.axis);
	incident_corners(&ref, corners);
	uint32_t all = clip_rectangle(&ref, PAIR_CLIP_SLOP * x->slop, corners), count = 0;
	for (uint32_t k = 0; k < all; k++)
		if (corners[k].d <= x->margin)
			corners[count++] = corners[k];
	out->count = 0;
	if (count == 0)
		return false;
	points_set(x, &ref, corners, count, out);
	return face_is_proved(x, &ref, corners, count, face.separation);
}

/* ---- other manifolds -------------------------------------------------------------------------- */

/* Number of an edge: its axis and the signs of the two others. */
static uint32_t edge_name(uint32_t axis, double sign1, double sign2)
{
	VALIDATE(axis < 3);
	return axis * 4 + (sign1 > 0) * 2 + (sign2 > 0);
}

/* False: the lines are nearest beyond the ends of the edges by more than the slop, so that other
 * features are nearer. */
static bool edges_manifold(const struct boxes *x, struct box_edge_axis edge, struct manifold *out)
{
	uint32_t i = edge.i, j = edge.j, i1 = NEXT[i], i2 = LAST[i], j1 = NEXT[j], j2 = LAST[j];
	double n[3];
	double length_squared = x->r[i1][j] * x->r[i1][j] + x->r[i2][j] * x->r[i2][j];
	double scale = 1.0 / scalar_sqrt(length_squared);
	if (x->t[i2] * x->r[i1][j] - x->t[i1] * x->r[i2][j] < 0)
		scale = -scale;
	n[i] = 0;
	n[i1] = -x->r[i2][j] * scale;
	n[i2] = x->r[i1][j] * scale;
	/* The edge of A farthest along n, the edge of B farthest against it. */
	double a1 = n[i1] > 0 ? x->a[i1] : -x->a[i1], a2 = n[i2] > 0 ? x->a[i2] : -x->a[i2];
	double n1 = n[0] * x->r[0][j1] + n[1] * x->r[1][j1] + n[2] * x->r[2][j1];
	double n2 = n[0] * x->r[0][j2] + n[1] * x->r[1][j2] + n[2] * x->r[2][j2];
	double b1 = n1 > 0 ? -x->b[j1] : x->b[j1], b2 = n2 > 0 ? -x->b[j2] : x->b[j2];
	double p[3], q[3];
	p[i] = 0, p[i1] = a1, p[i2] = a2;
	for (int k = 0; k < 3; k++)
		q[k] = x->t[k] + x->r[k][j1] * b1 + x->r[k][j2] * b2;
	/* Nearest points of the lines p + s e_i and q + f b_j: with w = q − p, c = R_ij,
	 * s − f c = w_i and s c − f = w·b_j. */
	double w[3] = { q[0] - p[0], q[1] - p[1], q[2] - p[2] };
	double c = x->r[i][j], wi = w[i];
	double wj = w[0] * x->r[0][j] + w[1] * x->r[1][j] + w[2] * x->r[2][j];
	double s = (wi - wj * c) / length_squared; /* 1 − c² */
	double f = s * c - wj;
	p[i] = scalar_clamp(s, -x->a[i], x->a[i]);
	manifold_one(out, vec3_make(n[0], n[1], n[2]), vec3_make(p[0], p[1], p[2]), edge.separation,
		     feature_make(FEATURE_EDGES, edge_name(i, a1, a2), edge_name(j, b1, b2)));
	return scalar_abs(s) <= x->a[i] + x->slop && scalar_abs(f) <= x->b[j] + x->slop;
}

/* Separations along three axes at right angles add up like the sides of a box: a lower bound of the
 * distance, at hand for boxes that lie diagonally to each other, as in a grid. */
static bool diagonally_apart(const struct boxes *x)
{
	double a = 0, b = 0, margin2 = x->margin * x->margin;
	for (uint32_t i = 0; i < 3; i++) {
		a += scalar_square(scalar_max(axis_a(x, i), 0));
		b += scalar_square(scalar_max(axis_b(x, i), 0));
	}
	return a > margin2 || b > margin2;
}

/* The best axis leads to features that are not the nearest ones: corners or edges that face each
 * other. Puts them into *out if they are nearer (deeper) than what is there by more than the slop. */
static void corner_manifold(const struct boxes *x, const struct pair *pair, double separation,
			    struct manifold *out)
{
	double bar = out->count > 0 ? manifold_deepest(out) - x->slop : SCALAR_MAX;
	struct gjk_result nearest;
	if (out->count == 0 && diagonally_apart(x))
		return;
	gjk_shapes(pair, &nearest);
	if (!nearest.touching) {
		if (nearest.distance <= x->margin && nearest.distance < bar)
			manifold_one(out, nearest.normal, nearest.point_a, nearest.distance,
				     feature_make(FEATURE_NEAREST, nearest.simplex.a[0],
						  nearest.simplex.b[0]));
		return;
	}
	double least = out->count > 0 ? separation - x->slop : -SCALAR_MAX;
	struct box_edge_axis edge = edges_best(x, least);
	struct manifold crossing;
	if (edge.separation > -SCALAR_MAX && edge.separation < bar &&
	    (edges_manifold(x, edge, &crossing) || out->count == 0))
		*out = crossing;
}

/* ---- the search ------------------------------------------------------------------------------- */

static struct face_axis faces_best(const struct boxes *x, bool is_b)
{
	struct face_axis best = { -SCALAR_MAX, is_b, 0 };
	for (uint32_t i = 0; i < 3; i++) {
		double separation = is_b ? axis_b(x, i) : axis_a(x, i);
		if (separation > best.separation) {
			best.separation = separation;
			best.axis = i;
		}
	}
	return best;
}

static void cache_face(struct pair_cache *cache, struct face_axis face)
{
	if (face.is_b)
		cache_set(cache, CACHE_FACE_B, 0, face.axis);
	else
		cache_set(cache, CACHE_FACE_A, face.axis, 0);
}

/* What the cached axis says. True: the answer is in *out. Else *used is the face in use, if it
 * was one, and *out its manifold. */
static bool test_cached_axis(const struct boxes *x, const struct pair_cache *cache,
			     struct face_axis *used, struct manifold *out)
{
	uint32_t i = cache->feature_a % 3, j = cache->feature_b % 3;
	switch (cache->kind) {
	case CACHE_FACE_A:
		*used = (struct face_axis){ axis_a(x, i), false, i };
		break;
	case CACHE_FACE_B:
		*used = (struct face_axis){ axis_b(x, j), true, j };
		break;
	case CACHE_EDGES:
		return edges_separation(x, i, j) > x->margin;
	default:
		return false;
	}
	return used->separation > x->margin || face_manifold(x, *used, out);
}

/* The best face: A's unless B's is better by the slop; the one in use stays while it is as good
 * and its manifold holds what touches. */
static struct face_axis face_choose(const struct boxes *x, struct face_axis used,
				    const struct manifold *used_manifold)
{
	struct face_axis a = faces_best(x, false);
	if (a.separation > x->margin)
		return a;
	struct face_axis b = faces_best(x, true);
	struct face_axis best = b.separation > a.separation + x->slop ? b : a;
	if (b.separation > x->margin)
		return b;
	double top = scalar_max(a.separation, b.separation);
	bool stays = used.separation >= top - x->slop &&
		     manifold_deepest(used_manifold) <= used.separation + x->slop;
	return stays ? used : best;
}

void pair_box_box(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	struct boxes x;
	struct face_axis used = { -SCALAR_MAX, false, 0 };
	boxes_set(&x, pair);
	out->count = 0;
	if (test_cached_axis(&x, cache, &used, out))
		return;
	struct face_axis face = face_choose(&x, used, out);
	struct box_edge_axis edge = { -SCALAR_MAX, 0, 0 };
	if (face.separation <= x.margin)
		edge = edges_best(&x, face.separation + x.slop);
	bool edges = edge.separation > -SCALAR_MAX;
	bool apart = scalar_max(face.separation, edge.separation) > x.margin;
	if (edges)
		cache_set(cache, CACHE_EDGES, edge.i, edge.j);
	else
		cache_face(cache, face);
	if (apart) {
		out->count = 0;
	} else if (edges) {
		if (!edges_manifold(&x, edge, out) && edge.separation > 0) {
			out->count = 0;
			corner_manifold(&x, pair, edge.separation, out);
		}
	} else {
		/* The manifold of the face in use is there already. */
		if (used.separation == -SCALAR_MAX || face.is_b != used.is_b ||
		    face.axis != used.axis)
			face_manifold(&x, face, out);
		if (manifold_deepest(out) > face.separation + x.slop)
			corner_manifold(&x, pair, face.separation, out);
	}
}
