/* gjk.c: distance of two convex sets by their supports (Gilbert, Johnson, Keerthi).
 *
 * Problem: find the point v of W = B − A nearest to the origin; |v| is the distance, and v points
 * from A to B. W is never built: its support point against v is w = s_B(−v) − s_A(v). Each round
 * computes w. The plane through w across v has all of W on its far side, so
 *   lower = v·w / |v| ≤ distance ≤ |v|;
 * the search ends when both meet (relative GAP). Otherwise w joins the simplex, v becomes the
 * simplex's point nearest to the origin, and vertices that do not carry it are removed. If four
 * vertices remain, they contain the origin: the pieces overlap.
 *
 * Nearest point of a simplex: by the Voronoi regions of its vertices, edges and triangles, from
 * signs of products; for a tetrahedron, on each of its faces that has the origin outside, by exact
 * signs.
 *
 * What goes wrong: near the limit w repeats or v stops shrinking because of rounding, or |v| is
 * below SMALL times the coordinates, where v and the signs of a simplex are mostly rounding. If the
 * gap is still open then, a second search with 106 bits continues (gjk_exact.c), and the result has
 * handed_over set. Touching is reported only with a proof: four vertices around the origin, by
 * exact signs, or |v| within GJK_TOUCHING, the rounding of the vertices themselves.
 *
 * Invariant: the vertices of a simplex are distinct: those that carry v have v·w = v², and a new
 * one joins only with v·w < v² (1 − GAP).
 */
#include "server/engine/collision/gjk.h"

#include "server/engine/collision/gjk_exact.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/geometry/solid.h"

#define GAP 1e-12   /* of |v|²: relative error of the distance about half of it */
#define SMALL 1e-11 /* of the largest coordinate: a shorter vector has lost too many digits */
#define OPEN 1e-14  /* of the largest coordinate: a narrower gap is rounding */

/* From this number of vertices on, a climb over the edges is faster than a scan of all (measured).
 * */
enum { CLIMB_FROM = 40 };

struct vertex {
	vec3 w, a, b; /* w = b − a, all in A's frame */
	double part;  /* barycentric coordinate in v; they sum to 1 */
	uint16_t index_a, index_b;
};

struct simplex {
	uint32_t count;
	struct vertex vertices[4];
};

/* ---- supports -------------------------------------------------------------------------------- */

static uint32_t climb(const struct hull *hull, vec3 direction, uint32_t at)
{
	ASSERT(at < hull->vertex_count);
	double far = vec3_dot(hull->vertices[at], direction);
	for (;;) {
		uint32_t first = hull->vertex_edge[at], edge = first, next = at;
		do {
			uint32_t twin = hull->edges[edge].twin;
			uint32_t v = hull->edges[twin].origin;
			double d = vec3_dot(hull->vertices[v], direction);
			if (d > far) {
				far = d;
				next = v;
			}
			edge = hull->edges[twin].next;
		} while (edge != first);
		if (next == at)
			return at;
		at = next;
	}
}

uint32_t gjk_support(const struct gjk_core *core, vec3 direction, uint32_t start)
{
	if (core->hull != NULL && core->count >= CLIMB_FROM)
		return climb(core->hull, direction, start);
	ASSERT(core->count > 0);
	uint32_t best = 0;
	double far = vec3_dot(core->points[0], direction);
	for (uint32_t i = 1; i < core->count; i++) {
		double d = vec3_dot(core->points[i], direction);
		best = d > far ? i : best;
		far = d > far ? d : far;
	}
	return best;
}

uint32_t gjk_climb(const struct gjk_core *core, vec3 direction, uint32_t start)
{
	ASSERT(core->hull != NULL);
	return climb(core->hull, direction, start);
}

/* ---- the nearest point of a simplex to the origin -------------------------------------------- */

/* Reduces the simplex to the vertices `which`, with the given coordinates. */
static void keep_vertices(struct simplex *s, uint32_t count, const uint32_t *which,
			  const double *parts)
{
	ASSERT(count >= 1 && count < 4);
	VALIDATE(which[0] < s->count && which[count - 1] < s->count);
	struct simplex kept;
	kept.count = count;
	for (uint32_t i = 0; i < count; i++) {
		kept.vertices[i] = s->vertices[which[i]];
		kept.vertices[i].part = parts[i];
	}
	s->count = count;
	for (uint32_t i = 0; i < count; i++)
		s->vertices[i] = kept.vertices[i];
}

static void keep_one(struct simplex *s, uint32_t i)
{
	keep_vertices(s, 1, (uint32_t[]){ i }, (double[]){ 1 });
}

static void keep_two(struct simplex *s, uint32_t i, uint32_t j, double part_j)
{
	keep_vertices(s, 2, (uint32_t[]){ i, j }, (double[]){ 1 - part_j, part_j });
}

static void solve_segment(struct simplex *s)
{
	vec3 a = s->vertices[0].w, ab = vec3_sub(s->vertices[1].w, a);
	double along = -vec3_dot(a, ab), length = vec3_dot(ab, ab);
	if (along <= 0)
		keep_one(s, 0);
	else if (along >= length)
		keep_one(s, 1);
	else
		keep_two(s, 0, 1, along / length);
}

/* Regions of a triangle by the products of its edges with the vectors to the origin; the numbers
 * are those of closest_point_triangle with p = 0. */
static void solve_triangle(struct simplex *s)
{
	vec3 a = s->vertices[0].w, b = s->vertices[1].w, c = s->vertices[2].w;
	vec3 ab = vec3_sub(b, a), ac = vec3_sub(c, a);
	double a_ab = -vec3_dot(ab, a), a_ac = -vec3_dot(ac, a);
	double b_ab = -vec3_dot(ab, b), b_ac = -vec3_dot(ac, b);
	double c_ab = -vec3_dot(ab, c), c_ac = -vec3_dot(ac, c);
	double part_c = a_ab * b_ac - b_ab * a_ac;
	double part_b = c_ab * a_ac - a_ab * c_ac;
	double part_a = b_ab * c_ac - c_ab * b_ac;
	if (a_ab <= 0 && a_ac <= 0)
		keep_one(s, 0);
	else if (b_ab >= 0 && b_ac <= b_ab)
		keep_one(s, 1);
	else if (part_c <= 0 && a_ab >= 0 && b_ab <= 0)
		keep_two(s, 0, 1, a_ab / (a_ab - b_ab));
	else if (c_ac >= 0 && c_ab <= c_ac)
		keep_one(s, 2);
	else if (part_b <= 0 && a_ac >= 0 && c_ac <= 0)
		keep_two(s, 0, 2, a_ac / (a_ac - c_ac));
	else if (part_a <= 0 && b_ac - b_ab >= 0 && c_ab - c_ac >= 0)
		keep_two(s, 1, 2, (b_ac - b_ab) / ((b_ac - b_ab) + (c_ab - c_ac)));
	else {
		double sum = part_a + part_b + part_c;
		s->vertices[0].part = part_a / sum;
		s->vertices[1].part = part_b / sum;
		s->vertices[2].part = part_c / sum;
	}
}

static vec3 simplex_point(const struct simplex *s)
{
	vec3 v = vec3_scale(s->vertices[0].w, s->vertices[0].part);
	for (uint32_t i = 1; i < s->count; i++)
		v = vec3_mul_add(v, s->vertices[i].w, s->vertices[i].part);
	return v;
}

/* Reduces to the nearest of the faces that have the origin outside; if there is none, all four
 * vertices stay. */
static void solve_tetrahedron(struct simplex *s)
{
	static const uint8_t FACES[4][4] = { /* three corners of the face, and the opposite one */
					     { 0, 1, 2, 3 },
					     { 0, 2, 3, 1 },
					     { 0, 3, 1, 2 },
					     { 1, 3, 2, 0 }
	};
	vec3 w[4] = { s->vertices[0].w, s->vertices[1].w, s->vertices[2].w, s->vertices[3].w };
	struct simplex best;
	double nearest = SCALAR_MAX;
	int inner[4];
	if (gjk_tetrahedron_holds(w, inner))
		return;
	for (int f = 0; f < 4; f++) {
		const uint8_t *face = FACES[f];
		if (inner[face[3]] > 0)
			continue;
		struct simplex three = { 3,
					 { s->vertices[face[0]], s->vertices[face[1]],
					   s->vertices[face[2]], s->vertices[face[2]] } };
		solve_triangle(&three);
		double squared = vec3_length_squared(simplex_point(&three));
		if (squared < nearest) {
			nearest = squared;
			best = three;
		}
	}
	*s = best;
}

static void simplex_solve(struct simplex *s)
{
	if (s->count == 2)
		solve_segment(s);
	else if (s->count == 3)
		solve_triangle(s);
	else if (s->count == 4)
		solve_tetrahedron(s);
	else
		s->vertices[0].part = 1;
}

/* ---- the rounds ------------------------------------------------------------------------------ */

static struct vertex vertex_make(const struct gjk_core *a, const struct gjk_core *b,
				 const mat3 *rotation, vec3 translation, uint32_t i, uint32_t j)
{
	ASSERT(i < a->count && j < b->count);
	vec3 p = a->points[i];
	vec3 q = vec3_add(translation, mat3_mul_vec(*rotation, b->points[j]));
	return (struct vertex){ vec3_sub(q, p), p, q, 0, (uint16_t)i, (uint16_t)j };
}

static void simplex_start(const struct gjk_core *a, const struct gjk_core *b, const mat3 *rotation,
			  vec3 translation, const struct gjk_simplex *start, struct simplex *s)
{
	s->count = 0;
	for (uint32_t k = 0; start != NULL && k < start->count && k < 3; k++) {
		if (start->a[k] >= a->count || start->b[k] >= b->count)
			continue;
		struct vertex vertex =
			vertex_make(a, b, rotation, translation, start->a[k], start->b[k]);
		bool new = true; /* Coincident vertices would be a degenerate simplex. */
		for (uint32_t m = 0; m < s->count; m++)
			new &= !vec3_equal(s->vertices[m].w, vertex.w);
		if (new)
			s->vertices[s->count++] = vertex;
	}
	if (s->count == 0)
		s->vertices[s->count++] = vertex_make(a, b, rotation, translation, 0, 0);
	simplex_solve(s);
}

static bool simplex_has(const struct simplex *s, const struct vertex *vertex)
{
	for (uint32_t k = 0; k < s->count; k++)
		if (s->vertices[k].index_a == vertex->index_a &&
		    s->vertices[k].index_b == vertex->index_b)
			return true;
	return false;
}

/* Barycentric coordinates of the origin in a tetrahedron that contains it, from the volumes
 * opposite its corners. If it is so thin that these miss the origin, they are computed with 106
 * bits. */
static void tetrahedron_shares(struct simplex *s, double scale2)
{
	ASSERT(s->count == 4);
	vec3 w[4] = { s->vertices[0].w, s->vertices[1].w, s->vertices[2].w, s->vertices[3].w };
	double parts[4] = { scalar_abs(vec3_triple(w[1], w[2], w[3])),
			    scalar_abs(vec3_triple(w[0], w[2], w[3])),
			    scalar_abs(vec3_triple(w[0], w[1], w[3])),
			    scalar_abs(vec3_triple(w[0], w[1], w[2])) };
	double sum = parts[0] + parts[1] + parts[2] + parts[3];
	for (int k = 0; k < 4; k++)
		s->vertices[k].part = sum > 0 ? parts[k] / sum : 0.25;
	if (vec3_length_squared(simplex_point(s)) <= OPEN * OPEN * scale2)
		return;
	gjk_shares(w, parts);
	for (int k = 0; k < 4; k++)
		s->vertices[k].part = parts[k];
}

/* The direction of v computed from the vertices that carry it, more accurate than v itself when v
 * is short against them; zero for a single vertex and for four. */
static vec3 direction_of(const struct simplex *s, vec3 v)
{
	vec3 a = s->vertices[0].w, n = vec3_zero();
	if (s->count == 2) {
		vec3 e = vec3_sub(s->vertices[1].w, a);
		n = vec3_mul_sub(v, e, vec3_dot(v, e) / vec3_length_squared(e));
	} else if (s->count == 3) {
		n = vec3_cross(vec3_sub(s->vertices[1].w, a), vec3_sub(s->vertices[2].w, a));
		n = vec3_dot(n, v) < 0 ? vec3_negate(n) : n;
	}
	return vec3_normalize(n);
}

static void result_set(struct simplex *s, vec3 v, double v2, double scale2, struct gjk_result *out)
{
	ASSERT(s->count >= 1 && s->count <= 4);
	if (s->count == 4)
		tetrahedron_shares(s, scale2);
	out->handed_over = false;
	out->simplex.count = s->count;
	out->point_a = out->point_b = vec3_zero();
	for (uint32_t k = 0; k < s->count; k++) {
		const struct vertex *vertex = &s->vertices[k];
		out->simplex.a[k] = vertex->index_a;
		out->simplex.b[k] = vertex->index_b;
		out->point_a = vec3_mul_add(out->point_a, vertex->a, vertex->part);
		out->point_b = vec3_mul_add(out->point_b, vertex->b, vertex->part);
	}
	out->touching = s->count == 4 || v2 == 0;
	out->distance = out->touching ? 0 : scalar_sqrt(v2);
	out->normal = out->touching ? vec3_zero() : vec3_scale(v, 1.0 / out->distance);
	out->lower = out->touching ? 0 : scalar_min(out->lower, out->distance);
}

/* The state of a search. */
struct rounds {
	const struct gjk_core *a, *b;
	const mat3 *rotation;
	vec3 translation;
	struct simplex s;
	vec3 v, proof;			/* proof: unit, the direction that gave `lower` */
	double v2, scale2, lower, last; /* last: the lower bound along v itself */
	double enough;			/* m: a greater lower bound ends the search */
	uint32_t i, j, count;
	bool closed;
};

/* The support vertex of B − A against `direction`. */
static struct vertex support_vertex(struct rounds *r, vec3 direction)
{
	r->i = gjk_support(r->a, direction, r->i);
	r->j = gjk_support(r->b, mat3_transposed_mul_vec(*r->rotation, vec3_negate(direction)),
			   r->j);
	return vertex_make(r->a, r->b, r->rotation, r->translation, r->i, r->j);
}

/* Iterates until the bounds meet, the origin is enclosed, or rounding stops progress. */
static void run_rounds(struct rounds *r)
{
	ASSERT(r->s.count >= 1 && r->s.count <= 4);
	struct simplex before;
	while (r->s.count < 4 && r->v2 > 0 && r->count < GJK_ITERATIONS_MAX) {
		r->count++;
		struct vertex vertex = support_vertex(r, r->v);
		r->scale2 = scalar_max(r->scale2, scalar_max(vec3_length_squared(vertex.a),
							     vec3_length_squared(vertex.b)));
		if (r->v2 <= SMALL * SMALL * r->scale2)
			return;
		double vw = vec3_dot(r->v, vertex.w), length = scalar_sqrt(r->v2);
		r->last = vw > 0 ? vw / length : 0;
		if (r->last > r->lower) {
			r->lower = r->last;
			r->proof = vec3_scale(r->v, 1.0 / length);
		}
		r->closed = r->v2 - vw <= GAP * r->v2;
		if (r->closed || r->lower > r->enough || simplex_has(&r->s, &vertex))
			return;
		before = r->s;
		r->s.vertices[r->s.count++] = vertex;
		simplex_solve(&r->s);
		vec3 nearer = simplex_point(&r->s);
		double nearer2 = vec3_length_squared(nearer);
		if (r->s.count < 4 &&
		    nearer2 >= r->v2) { /* Rounding: the previous simplex was better. */
			r->s = before;
			return;
		}
		r->v = nearer;
		r->v2 = nearer2;
	}
}

/* The search has stopped before the bounds met. They may meet along another direction; otherwise
 * the exact search continues. */
static void close_gap(struct rounds *r, struct gjk_result *out)
{
	double open = OPEN * scalar_sqrt(r->scale2);
	bool small = r->v2 <= SMALL * SMALL * r->scale2;
	vec3 n = direction_of(&r->s, r->v);
	if (out->lower - r->last > open)
		out->normal = r->proof;
	if (!small && out->distance - out->lower > open && vec3_length_squared(n) > 0.5) {
		double proved = vec3_dot(n, support_vertex(r, n).w);
		if (proved > out->lower) {
			out->lower = scalar_min(proved, out->distance);
			out->normal = n;
		}
	}
	if (small || out->distance - out->lower > open)
		gjk_exact(r->a, r->b, r->rotation, r->translation, out);
}

static void rounds_init(struct rounds *r, const struct gjk_core *a, const struct gjk_core *b,
			const mat3 *rotation, vec3 translation, const struct gjk_simplex *start)
{
	r->a = a;
	r->b = b;
	r->rotation = rotation;
	r->translation = translation;
	simplex_start(a, b, rotation, translation, start, &r->s);
	r->v = simplex_point(&r->s);
	r->v2 = vec3_length_squared(r->v);
	r->scale2 = r->lower = r->last = 0;
	r->enough = SCALAR_MAX;
	r->i = r->s.vertices[0].index_a;
	r->j = r->s.vertices[0].index_b;
	r->count = 0;
	r->closed = false;
}

void gjk_distance(const struct gjk_core *a, const struct gjk_core *b, const mat3 *rotation,
		  vec3 translation, const struct gjk_simplex *start, struct gjk_result *out)
{
	struct rounds r;
	if (a->curve != NULL || b->curve != NULL) {
		gjk_curved(a, b, rotation, translation, SCALAR_MAX, out);
		return;
	}
	rounds_init(&r, a, b, rotation, translation, start);
	run_rounds(&r);
	out->iterations = r.count;
	out->lower = r.lower;
	result_set(&r.s, r.v, r.v2, r.scale2, out);
	if (!out->touching && !r.closed)
		close_gap(&r, out);
}

bool gjk_apart_by(const struct gjk_core *a, const struct gjk_core *b, const mat3 *rotation,
		  vec3 translation, double gap, const struct gjk_simplex *start)
{
	struct rounds r;
	struct gjk_simplex looking = { 1, { 0 }, { 0 } };
	struct gjk_result full;
	if (a->curve != NULL || b->curve != NULL) {
		gjk_curved(a, b, rotation, translation, gap, &full);
		return !full.touching && full.lower > gap;
	}
	/* Start with the vertices that are extreme along the line of centres; their plane often
	 * separates. */
	if (start == NULL && a->hull != NULL && b->hull != NULL) {
		vec3 centre = vec3_add(translation, mat3_mul_vec(*rotation, b->hull->centre));
		vec3 d = vec3_sub(centre, a->hull->centre);
		vec3 back = mat3_transposed_mul_vec(*rotation, vec3_negate(d));
		looking.a[0] = (uint16_t)gjk_support(a, d, 0);
		looking.b[0] = (uint16_t)gjk_support(b, back, 0);
		start = &looking;
		rounds_init(&r, a, b, rotation, translation, start);
		double size = scalar_max(vec3_length_squared(r.s.vertices[0].a),
					 vec3_length_squared(r.s.vertices[0].b));
		if (vec3_dot(d, r.v) > (gap + OPEN * scalar_sqrt(size)) * vec3_length(d))
			return true;
	} else {
		rounds_init(&r, a, b, rotation, translation, start);
	}
	r.enough = gap;
	run_rounds(&r);
	if (r.lower > gap + OPEN * scalar_sqrt(r.scale2))
		return true;
	if (r.s.count == 4 || (r.closed && r.lower <= gap))
		return false;
	gjk_distance(a, b, rotation, translation, start, &full);
	return !full.touching && full.lower > gap;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Not inlined, to keep the frame of the other kinds short. */
static __attribute__((noinline)) void core_of_curve(const struct shape *shape,
						    struct gjk_points *room, struct gjk_core *out)
{
	room->points[0] = shape->mass.centre;
	room->curve = curve_of(shape);
	out->curve = &room->curve;
}

struct gjk_core gjk_core_of(const struct shape *shape, uint32_t child, struct gjk_points *room)
{
	struct gjk_core core = { room->points, 1, NULL, 0, NULL };
	shape = shape_part(shape, &child);
	if (shape->kind == SHAPE_SOLID) /* a distance field: its convex hull */
		shape = shape->solid->parts[0];
	switch (shape->kind) {
	case SHAPE_CAPSULE:
		room->points[0] = vec3_make(0, -shape->capsule.half_length, 0);
		room->points[1] = vec3_make(0, shape->capsule.half_length, 0);
		core.count = 2;
		core.radius = shape->capsule.radius;
		break;
	case SHAPE_BOX:
	case SHAPE_HULL:
		core.points = shape->hull->vertices;
		core.count = shape->hull->vertex_count;
		core.hull = shape->hull;
		break;
	case SHAPE_MESH:
	case SHAPE_HEIGHTFIELD:
		ASSERT(child < shape->mesh->triangle_count);
		mesh_corners(shape->mesh, child, room->points);
		core.count = 3;
		break;
	case SHAPE_POLYGON:
		core = (struct gjk_core){ shape->polygon->vertices, shape->polygon->count, NULL,
					  shape->polygon->radius, NULL };
		break;
	case SHAPE_ROUNDED:
		core.points = shape->stand_in->hull->vertices;
		core.count = shape->stand_in->hull->vertex_count;
		core.hull = shape->stand_in->hull;
		core.radius = shape->rounded.radius;
		break;
	case SHAPE_CYLINDER:
	case SHAPE_CONE:
	case SHAPE_ELLIPSOID:
		core_of_curve(shape, room, &core);
		break;
	case SHAPE_SPHERE:
	case SHAPE_SOLID:
	case SHAPE_PLANE:
	case SHAPE_KINDS:
		ASSERT(shape->kind == SHAPE_SPHERE);
		room->points[0] = vec3_zero();
		core.radius = shape->sphere.radius;
		break;
	}
	return core;
}

void gjk_shapes(const struct pair *pair, struct gjk_result *out)
{
	struct gjk_points room_a, room_b;
	struct gjk_core a = gjk_core_of(pair->a, 0, &room_a);
	struct gjk_core b = gjk_core_of(pair->b, pair->child, &room_b);
	mat3 rotation = mat3_from_quat(pair->b_in_a.rotation);
	gjk_distance(&a, &b, &rotation, pair->b_in_a.position, NULL, out);
}
