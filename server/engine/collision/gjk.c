/* gjk.c: distance of two convex sets by their supports (Gilbert, Johnson, Keerthi).
 *
 * Problem: the point v of W = B − A nearest to the origin; |v| is the distance, v points from A to
 * B. W is never built: its farthest point against v is w = s_B(−v) − s_A(v). One round: ask for w.
 * The plane through w across v has all of W on its far side, so
 *   lower = v·w / |v| ≤ distance ≤ |v|;
 * done when the two meet (relative GAP). Otherwise w joins the simplex, v becomes the simplex's
 * point nearest to the origin, and vertices that do not carry it leave. Four that carry it hold the
 * origin: the pieces overlap.
 *
 * Nearest point of a simplex: by the regions of its faces (vertices, edges, triangles), from exact
 * signs of products; a tetrahedron asks each of its faces that has the origin outside.
 *
 * What goes wrong: near its limit w repeats or v stops shrinking (rounding): the round before is
 * the answer, and `lower` says how far it may be off. |v| below TOUCHING of the numbers involved
 * cannot be told from zero: touching, and the caller must find depth another way.
 *
 * Invariant: no two vertices of a simplex are in one place: those that carry v have v·w = v², and a
 * new one joins only with v·w < v² (1 − GAP).
 */
#include "server/engine/collision/gjk.h"

#define GAP 1e-12      /* of |v|²: relative error of the distance about half of it */
#define TOUCHING 1e-11 /* of the largest coordinate: a hundred times the rounding of a difference */

enum { CLIMB_FROM = 40 }; /* vertices from which walking the edges beats looking at all */

struct vertex {
	vec3 w, a, b; /* w = b − a, all in A's frame */
	double part;  /* share of it in v; the shares sum to 1 */
	uint16_t index_a, index_b;
};

struct simplex {
	uint32_t count;
	struct vertex vertices[4];
};

/* ---- supports --------------------------------------------------------------------------------- */

static uint32_t climb(const struct hull *hull, vec3 direction, uint32_t at)
{
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
	uint32_t best = 0;
	double far = vec3_dot(core->points[0], direction);
	for (uint32_t i = 1; i < core->count; i++) {
		double d = vec3_dot(core->points[i], direction);
		best = d > far ? i : best;
		far = d > far ? d : far;
	}
	return best;
}

/* ---- the nearest point of a simplex to the origin --------------------------------------------- */

static void keep(struct simplex *s, uint32_t count, const uint32_t *which, const double *parts)
{
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
	keep(s, 1, (uint32_t[]){ i }, (double[]){ 1 });
}

static void keep_two(struct simplex *s, uint32_t i, uint32_t j, double part_j)
{
	keep(s, 2, (uint32_t[]){ i, j }, (double[]){ 1 - part_j, part_j });
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

/* Of the faces with the origin outside, the one that comes nearest; none: all four stay. */
static void solve_tetrahedron(struct simplex *s)
{
	static const uint8_t FACES[4][4] = { /* three of the face, one against it */
		{ 0, 1, 2, 3 }, { 0, 2, 3, 1 }, { 0, 3, 1, 2 }, { 1, 3, 2, 0 }
	};
	struct simplex best = { 0, { { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 }, 0, 0, 0 } } };
	double nearest = SCALAR_MAX;
	for (int f = 0; f < 4; f++) {
		const uint8_t *face = FACES[f];
		vec3 p = s->vertices[face[0]].w;
		vec3 normal = vec3_cross(vec3_sub(s->vertices[face[1]].w, p),
					 vec3_sub(s->vertices[face[2]].w, p));
		double apex = vec3_dot(normal, vec3_sub(s->vertices[face[3]].w, p));
		double origin = -vec3_dot(normal, p);
		/* Strictly on the apex's side is inside; a flat tetrahedron has no inside. */
		if (apex * origin > 0)
			continue;
		struct simplex three = { 3, { s->vertices[face[0]], s->vertices[face[1]],
					      s->vertices[face[2]], s->vertices[face[2]] } };
		solve_triangle(&three);
		double squared = vec3_length_squared(simplex_point(&three));
		if (squared < nearest) {
			nearest = squared;
			best = three;
		}
	}
	if (best.count > 0)
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

/* ---- the rounds ------------------------------------------------------------------------------- */

static struct vertex vertex_make(const struct gjk_core *a, const struct gjk_core *b,
				 const mat3 *rotation, vec3 translation, uint32_t i, uint32_t j)
{
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
		bool new = true; /* Two in one place have no line between them. */
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

/* The shares of the origin in a tetrahedron that holds it: volumes opposite its corners. */
static void tetrahedron_shares(struct simplex *s)
{
	vec3 a = s->vertices[0].w, b = s->vertices[1].w, c = s->vertices[2].w, d = s->vertices[3].w;
	double volumes[4] = { scalar_abs(vec3_triple(b, c, d)), scalar_abs(vec3_triple(a, c, d)),
			      scalar_abs(vec3_triple(a, b, d)), scalar_abs(vec3_triple(a, b, c)) };
	double sum = volumes[0] + volumes[1] + volumes[2] + volumes[3];
	for (int k = 0; k < 4; k++)
		s->vertices[k].part = sum > 0 ? volumes[k] / sum : 0.25;
}

static void result_set(struct simplex *s, vec3 v, double v2, double touching2,
		       struct gjk_result *out)
{
	if (s->count == 4)
		tetrahedron_shares(s);
	out->simplex.count = s->count;
	out->point_a = out->point_b = vec3_zero();
	for (uint32_t k = 0; k < s->count; k++) {
		const struct vertex *vertex = &s->vertices[k];
		out->simplex.a[k] = vertex->index_a;
		out->simplex.b[k] = vertex->index_b;
		out->point_a = vec3_mul_add(out->point_a, vertex->a, vertex->part);
		out->point_b = vec3_mul_add(out->point_b, vertex->b, vertex->part);
	}
	out->touching = s->count == 4 || v2 <= touching2;
	out->distance = out->touching ? 0 : scalar_sqrt(v2);
	out->normal = out->touching ? vec3_zero() : vec3_scale(v, 1.0 / out->distance);
	out->lower = out->touching ? 0 : scalar_min(out->lower, out->distance);
}

void gjk_distance(const struct gjk_core *a, const struct gjk_core *b, const mat3 *rotation,
		  vec3 translation, const struct gjk_simplex *start, struct gjk_result *out)
{
	struct simplex s, before;
	simplex_start(a, b, rotation, translation, start, &s);
	vec3 v = simplex_point(&s);
	double v2 = vec3_length_squared(v), scale2 = 0;
	uint32_t i = s.vertices[0].index_a, j = s.vertices[0].index_b;
	out->lower = 0;
	out->iterations = 0;
	while (s.count < 4 && out->iterations < GJK_ITERATIONS_MAX) {
		out->iterations++;
		i = gjk_support(a, v, i);
		j = gjk_support(b, mat3_transposed_mul_vec(*rotation, vec3_negate(v)), j);
		struct vertex vertex = vertex_make(a, b, rotation, translation, i, j);
		scale2 = scalar_max(scale2, scalar_max(vec3_length_squared(vertex.a),
						       vec3_length_squared(vertex.b)));
		if (v2 <= TOUCHING * TOUCHING * scale2)
			break;
		double vw = vec3_dot(v, vertex.w);
		if (vw > 0)
			out->lower = scalar_max(out->lower, vw / scalar_sqrt(v2));
		if (v2 - vw <= GAP * v2 || simplex_has(&s, &vertex))
			break;
		before = s;
		s.vertices[s.count++] = vertex;
		simplex_solve(&s);
		vec3 nearer = simplex_point(&s);
		double nearer2 = vec3_length_squared(nearer);
		if (s.count < 4 && nearer2 >= v2) { /* Rounding: the round before was better. */
			s = before;
			break;
		}
		v = nearer;
		v2 = nearer2;
	}
	result_set(&s, v, v2, TOUCHING * TOUCHING * scale2, out);
}

/* ---- pieces ----------------------------------------------------------------------------------- */

struct gjk_core gjk_core_of(const struct shape *shape, uint32_t child, struct gjk_points *room)
{
	struct gjk_core core = { room->points, 1, NULL, 0 };
	switch (shape->kind) {
	case SHAPE_CAPSULE:
		room->points[0] = vec3_make(0, -shape->capsule.half_length, 0);
		room->points[1] = vec3_make(0, shape->capsule.half_length, 0);
		core.count = 2;
		core.radius = shape->capsule.radius;
		break;
	case SHAPE_BOX:
	case SHAPE_HULL:
		core = (struct gjk_core){ shape->hull->vertices, shape->hull->vertex_count, shape->hull,
					  0 };
		break;
	case SHAPE_MESH:
		for (int k = 0; k < 3; k++)
			room->points[k] = shape->mesh->vertices[shape->mesh->triangles[child][k]];
		core.count = 3;
		break;
	case SHAPE_POLYGON:
		core = (struct gjk_core){ shape->polygon->vertices, shape->polygon->count, NULL,
					  shape->polygon->radius };
		break;
	case SHAPE_SPHERE:
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
