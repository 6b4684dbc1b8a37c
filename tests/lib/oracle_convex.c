/* See oracle_convex.h. */
#include "tests/lib/oracle_convex.h"

/* libm's sqrtl, by Newton from the double: tests link no libm. */
static long double root(long double x)
{
	if (!(x > 0))
		return 0;
	long double r = (long double)scalar_sqrt((double)x);
	if (!(r > 0))
		return 0;
	r = 0.5L * (r + x / r);
	return 0.5L * (r + x / r);
}

static wide3 sub(wide3 a, wide3 b)
{
	return (wide3){ a.x - b.x, a.y - b.y, a.z - b.z };
}

static long double dot(wide3 a, wide3 b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static wide3 cross(wide3 a, wide3 b)
{
	return (wide3){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

static wide3 scale(wide3 a, long double s)
{
	return (wide3){ a.x * s, a.y * s, a.z * s };
}

static wide3 mul_add(wide3 a, wide3 b, long double s)
{
	return (wide3){ a.x + b.x * s, a.y + b.y * s, a.z + b.z * s };
}

static long double length(wide3 a)
{
	return root(dot(a, a));
}

static wide3 widen(vec3 v)
{
	return (wide3){ v.x, v.y, v.z };
}

static wide3 place(const struct placing *at, vec3 p)
{
	wide3 out = widen(p);
	if (at == NULL)
		return out;
	wide3 x = scale(widen(at->rotation.x), out.x), y = scale(widen(at->rotation.y), out.y);
	wide3 z = scale(widen(at->rotation.z), out.z), t = widen(at->translation);
	return (wide3){ x.x + y.x + z.x + t.x, x.y + y.y + z.y + t.y, x.z + y.z + z.z + t.z };
}

/* Newell's sum about the first corner. */
static wide3 face_normal(const struct oracle_hull *self, uint32_t f)
{
	const struct hull *hull = self->hull;
	uint32_t h = hull->faces[f].edge;
	wide3 sum = { 0, 0, 0 }, origin = self->vertices[hull->edges[h].origin];
	for (uint32_t k = 0; k < hull->faces[f].edge_count; k++) {
		uint32_t next = hull->edges[h].next;
		wide3 a = sub(self->vertices[hull->edges[h].origin], origin);
		wide3 b = sub(self->vertices[hull->edges[next].origin], origin);
		wide3 c = cross(a, b);
		sum = (wide3){ sum.x + c.x, sum.y + c.y, sum.z + c.z };
		h = next;
	}
	return scale(sum, 1 / length(sum));
}

static wide3 face_point(const struct oracle_hull *self, uint32_t f)
{
	return self->vertices[self->hull->edges[self->hull->faces[f].edge].origin];
}

static double bumps_of(const struct oracle_hull *self)
{
	long double most = 0;
	for (uint32_t f = 0; f < self->face_count; f++) {
		uint32_t h = self->hull->faces[f].edge;
		for (uint32_t k = 0; k < self->hull->faces[f].edge_count; k++) {
			wide3 v = self->vertices[self->hull->edges[h].origin];
			long double off = dot(self->normals[f], sub(v, face_point(self, f)));
			most = off > most ? off : -off > most ? -off : most;
			h = self->hull->edges[h].next;
		}
		for (uint32_t v = 0; v < self->vertex_count; v++) {
			long double off =
				dot(self->normals[f], sub(self->vertices[v], face_point(self, f)));
			most = off > most ? off : most;
		}
	}
	return (double)most;
}

void oracle_hull_make(struct oracle_hull *self, const struct hull *hull, const struct placing *at)
{
	ASSERT(hull->vertex_count <= ORACLE_VERTICES_MAX);
	ASSERT(hull->face_count <= ORACLE_FACES_MAX && hull->edge_count <= 2 * ORACLE_EDGES_MAX);
	self->hull = hull;
	self->vertex_count = hull->vertex_count;
	self->face_count = hull->face_count;
	self->edge_count = 0;
	self->extent = 0;
	for (uint32_t v = 0; v < hull->vertex_count; v++) {
		self->vertices[v] = place(at, hull->vertices[v]);
		self->extent = scalar_max(self->extent, (double)length(self->vertices[v]));
	}
	for (uint32_t f = 0; f < hull->face_count; f++)
		self->normals[f] = face_normal(self, f);
	for (uint32_t h = 0; h < hull->edge_count; h++) {
		if (hull->edges[h].twin < h)
			continue;
		uint16_t *edge = self->edges[self->edge_count++];
		edge[0] = hull->edges[h].origin;
		edge[1] = hull->edges[hull->edges[h].twin].origin;
	}
	self->bumps = bumps_of(self);
}

/* ---- separation ----------------------------------------------------------------------------------- */

/* Along unit n: least of b minus greatest of a, or any value below `bar` once it is known to be
 * below. */
static long double along(const struct oracle_hull *a, const struct oracle_hull *b, wide3 n,
			 long double bar, wide3 from_a, wide3 from_b)
{
	long double most = dot(n, from_a), least = dot(n, from_b);
	for (uint32_t v = 0; v < a->vertex_count && least - most > bar; v++) {
		long double d = dot(n, a->vertices[v]);
		most = d > most ? d : most;
	}
	for (uint32_t v = 0; v < b->vertex_count && least - most > bar; v++) {
		long double d = dot(n, b->vertices[v]);
		least = d < least ? d : least;
	}
	return least - most;
}

static long double separation(const struct oracle_hull *a, const struct oracle_hull *b)
{
	long double best = -SCALAR_MAX;
	for (uint32_t f = 0; f < a->face_count; f++) {
		long double s = along(a, b, a->normals[f], best, face_point(a, f), b->vertices[0]);
		best = s > best ? s : best;
	}
	for (uint32_t f = 0; f < b->face_count; f++) {
		wide3 n = scale(b->normals[f], -1);
		long double s = along(a, b, n, best, a->vertices[0], face_point(b, f));
		best = s > best ? s : best;
	}
	for (uint32_t i = 0; i < a->edge_count; i++) {
		wide3 p = a->vertices[a->edges[i][0]], e = sub(a->vertices[a->edges[i][1]], p);
		for (uint32_t j = 0; j < b->edge_count; j++) {
			wide3 q = b->vertices[b->edges[j][0]],
			      f = sub(b->vertices[b->edges[j][1]], q);
			wide3 n = cross(e, f);
			long double size = length(n), sizes = length(e) * length(f);
			if (!(size > 1e-17L * sizes))
				continue;
			n = scale(n, 1 / size);
			long double s = along(a, b, n, best, p, q);
			best = s > best ? s : best;
			n = scale(n, -1);
			s = along(a, b, n, best, p, q);
			best = s > best ? s : best;
		}
	}
	return best;
}

/* ---- distance ------------------------------------------------------------------------------------- */

static void less(long double *best, long double value)
{
	if (value < *best)
		*best = value;
}

/* Squared. */
static long double point_segment(wide3 p, wide3 a, wide3 u)
{
	wide3 w = sub(p, a);
	long double t = dot(w, u) / dot(u, u);
	t = t > 0 ? (t < 1 ? t : 1) : 0;
	wide3 d = sub(w, scale(u, t));
	return dot(d, d);
}

static long double segment_segment(wide3 p, wide3 u, wide3 q, wide3 v)
{
	long double best = point_segment(p, q, v);
	less(&best, point_segment(mul_add(p, u, 1), q, v));
	less(&best, point_segment(q, p, u));
	less(&best, point_segment(mul_add(q, v, 1), p, u));
	wide3 n = cross(u, v), w = sub(q, p);
	long double nn = dot(n, n);
	if (!(nn > 0))
		return best;
	long double s = dot(cross(w, v), n) / nn, t = dot(cross(w, u), n) / nn;
	if (s > 0 && s < 1 && t > 0 && t < 1)
		less(&best, dot(w, n) * dot(w, n) / nn);
	return best;
}

static bool over_face(const struct oracle_hull *self, uint32_t f, wide3 p)
{
	const struct hull *hull = self->hull;
	uint32_t h = hull->faces[f].edge;
	for (uint32_t k = 0; k < hull->faces[f].edge_count; k++) {
		uint32_t next = hull->edges[h].next;
		wide3 a = self->vertices[hull->edges[h].origin];
		wide3 u = sub(self->vertices[hull->edges[next].origin], a);
		if (dot(cross(self->normals[f], u), sub(p, a)) < 0)
			return false;
		h = next;
	}
	return true;
}

static void vertices_over_faces(const struct oracle_hull *a, const struct oracle_hull *b,
				long double *best)
{
	for (uint32_t f = 0; f < b->face_count; f++) {
		for (uint32_t v = 0; v < a->vertex_count; v++) {
			long double h = dot(b->normals[f], sub(a->vertices[v], face_point(b, f)));
			if (h > 0 && h * h < *best && over_face(b, f, a->vertices[v]))
				*best = h * h;
		}
	}
}

void oracle_convex(const struct oracle_hull *a, const struct oracle_hull *b,
		   struct oracle_answer *out)
{
	long double best = SCALAR_MAX;
	out->separation = (double)separation(a, b);
	out->distance = 0;
	if (!(out->separation > 0))
		return;
	for (uint32_t i = 0; i < a->edge_count; i++) {
		wide3 p = a->vertices[a->edges[i][0]], u = sub(a->vertices[a->edges[i][1]], p);
		for (uint32_t j = 0; j < b->edge_count; j++) {
			wide3 q = b->vertices[b->edges[j][0]],
			      v = sub(b->vertices[b->edges[j][1]], q);
			less(&best, segment_segment(p, u, q, v));
		}
	}
	vertices_over_faces(a, b, &best);
	vertices_over_faces(b, a, &best);
	out->distance = (double)root(best);
}

double oracle_outside(const struct oracle_hull *self, vec3 p)
{
	long double most = -SCALAR_MAX;
	for (uint32_t f = 0; f < self->face_count; f++) {
		long double h = dot(self->normals[f], sub(widen(p), face_point(self, f)));
		most = h > most ? h : most;
	}
	return (double)most;
}
