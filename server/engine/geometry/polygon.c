/* polygon.c: a convex polygon in the x–y plane, grown by a radius r ≥ 0.
 *
 * Area and second moments are sums of three kinds of parts: the polygon itself (triangles from a
 * point inside), a rectangle of width r along each edge, and a sector of radius r at each corner
 * between the normals u of the edge before and w of the edge after it, of angle θ. With the corner
 * at the origin:
 *   ∫dA = r² θ/2,   ∫(x, y)dA = r³/3 (w_y − u_y, u_x − w_x),
 *   ∫x²dA = r⁴/8 (θ + w_x w_y − u_x u_y),   ∫y²dA = r⁴/8 (θ − w_x w_y + u_x u_y),
 *   ∫xy dA = r⁴/8 (w_y² − u_y²)
 * which are the integrals of cos², sin² and cos sin over the angle, written with the components of
 * the normals. All moments are taken about the mean of the vertices and moved to the centroid last.
 */
#include "server/base/heap.h"
#include "server/engine/geometry/cook.h"
#include "server/engine/math/trig.h"

/* Sine of the least turn at a corner; below it the vertex is a point of an edge rather than a
 * corner, and its two edges would give two almost equal contacts. */
#define TURN_MIN 1e-6

struct moments {
	double area, x, y, xx, yy, xy;
};

/* Adds a part with its own second moments about its own centre (cx, cy). */
static void add_about_centre(struct moments *sum, double area, double cx, double cy, double xx,
			     double yy, double xy)
{
	sum->area += area;
	sum->x += area * cx;
	sum->y += area * cy;
	sum->xx += xx + area * cx * cx;
	sum->yy += yy + area * cy * cy;
	sum->xy += xy + area * cx * cy;
}

/* The triangle (0, a, b). */
static void add_triangle(struct moments *sum, vec3 a, vec3 b)
{
	double area = 0.5 * (a.x * b.y - a.y * b.x);
	sum->area += area;
	sum->x += area * (a.x + b.x) / 3;
	sum->y += area * (a.y + b.y) / 3;
	sum->xx += area * (a.x * a.x + a.x * b.x + b.x * b.x) / 6;
	sum->yy += area * (a.y * a.y + a.y * b.y + b.y * b.y) / 6;
	sum->xy += area * (2 * a.x * a.y + a.x * b.y + b.x * a.y + 2 * b.x * b.y) / 12;
}

/* The rectangle of width r outside edge a → b with outward normal n. */
static void add_rectangle(struct moments *sum, vec3 a, vec3 b, vec3 n, double r)
{
	vec3 d = vec3_sub(b, a), c = vec3_mul_add(vec3_lerp(a, b, 0.5), n, r / 2);
	double area = vec3_length(d) * r, along = area / 12, across = area * r * r / 12;
	add_about_centre(sum, area, c.x, c.y, along * d.x * d.x + across * n.x * n.x,
			 along * d.y * d.y + across * n.y * n.y,
			 along * d.x * d.y + across * n.x * n.y);
}

/* The sector of radius r at `p` from direction u to direction w. */
static void add_sector(struct moments *sum, vec3 p, vec3 u, vec3 w, double r)
{
	VALIDATE(r > 0);
	double angle = trig_atan2(u.x * w.y - u.y * w.x, u.x * w.x + u.y * w.y);
	double area = r * r * angle / 2, k1 = r * r * r / 3, k2 = r * r * r * r / 8;
	double x = k1 * (w.y - u.y), y = k1 * (u.x - w.x);
	double skew = w.x * w.y - u.x * u.y;
	sum->area += area;
	sum->x += area * p.x + x;
	sum->y += area * p.y + y;
	sum->xx += k2 * (angle + skew) + 2 * p.x * x + area * p.x * p.x;
	sum->yy += k2 * (angle - skew) + 2 * p.y * y + area * p.y * p.y;
	sum->xy += k2 * (w.y * w.y - u.y * u.y) + p.x * y + p.y * x + area * p.x * p.y;
}

static vec3 vertex_mean(const struct polygon *polygon)
{
	ASSERT(polygon->count > 0);
	vec3 sum = vec3_zero();
	for (uint32_t i = 0; i < polygon->count; i++)
		sum = vec3_add(sum, vec3_sub(polygon->vertices[i], polygon->vertices[0]));
	return vec3_mul_add(polygon->vertices[0], sum, 1.0 / polygon->count);
}

static struct mass_properties polygon_mass(const struct polygon *polygon)
{
	ASSERT(polygon->count >= 3);
	struct moments m = { 0 };
	vec3 origin = vertex_mean(polygon);
	uint32_t last = polygon->count - 1;
	for (uint32_t i = 0; i <= last; i++) {
		uint32_t next = i == last ? 0 : i + 1, before = i == 0 ? last : i - 1;
		vec3 a = vec3_sub(polygon->vertices[i], origin);
		vec3 b = vec3_sub(polygon->vertices[next], origin);
		add_triangle(&m, a, b);
		if (!(polygon->radius > 0))
			continue;
		add_rectangle(&m, a, b, polygon->normals[i], polygon->radius);
		add_sector(&m, a, polygon->normals[before], polygon->normals[i], polygon->radius);
	}
	ASSERT(m.area > 0);
	double cx = m.x / m.area, cy = m.y / m.area;
	double xx = m.xx - m.area * cx * cx, yy = m.yy - m.area * cy * cy;
	double xy = m.xy - m.area * cx * cy;
	return (struct mass_properties){
		.volume = m.area,
		.centre = vec3_add(origin, vec3_make(cx, cy, 0)),
		.inertia = mat3_columns(vec3_make(yy, -xy, 0), vec3_make(-xy, xx, 0),
					vec3_make(0, 0, xx + yy)),
	};
}

/* ---- checks ----------------------------------------------------------------------------------- */

static vec3 edge_of(const struct polygon *polygon, uint32_t i)
{
	VALIDATE(i < polygon->count);
	uint32_t next = i + 1 == polygon->count ? 0 : i + 1;
	return vec3_sub(polygon->vertices[next], polygon->vertices[i]);
}

static double cross2(vec3 a, vec3 b)
{
	return a.x * b.y - a.y * b.x;
}

/* Reverses a clockwise polygon; vertex 0 stays first. Returns whether it was reversed. */
static bool turn_counter_clockwise(struct polygon *polygon)
{
	double twice_area = 0;
	for (uint32_t i = 1; i + 1 < polygon->count; i++)
		twice_area += cross2(vec3_sub(polygon->vertices[i], polygon->vertices[0]),
				     vec3_sub(polygon->vertices[i + 1], polygon->vertices[0]));
	if (twice_area >= 0)
		return false;
	for (uint32_t i = 1, k = polygon->count - 1; i < k; i++, k--) {
		vec3 kept = polygon->vertices[i];
		polygon->vertices[i] = polygon->vertices[k];
		polygon->vertices[k] = kept;
	}
	return true;
}

/* The number of a vertex as given, before a reversal. */
static int64_t number_given(const struct polygon *polygon, uint32_t vertex, bool flipped)
{
	VALIDATE(vertex < polygon->count);
	return flipped && vertex > 0 ? polygon->count - vertex : vertex;
}

static enum status check_edges(struct cook *cook, const struct polygon *polygon, bool flipped)
{
	for (uint32_t i = 0; i < polygon->count; i++) {
		double length = vec3_length(edge_of(polygon, i));
		uint32_t next = i + 1 == polygon->count ? 0 : i + 1;
		int64_t named = number_given(polygon, flipped ? i : next, flipped);
		if (length < SHAPE_LENGTH_MIN)
			return reason_set(
				cook->why, STATUS_DEGENERATE, named, "vertices",
				"vertex %d is %g m from its neighbour, at least %g m are needed",
				(int)named, length, SHAPE_LENGTH_MIN);
	}
	return STATUS_OK;
}

/* Every vertex must lie left of or on every edge. That also refuses stars, which turn left
 * everywhere but wind twice. */
static enum status check_convex(struct cook *cook, const struct polygon *polygon, bool flipped)
{
	uint32_t count = polygon->count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t next = i + 1 == count ? 0 : i + 1;
		int64_t named = number_given(polygon, next, flipped);
		vec3 d = edge_of(polygon, i), e = edge_of(polygon, next);
		if (cross2(d, e) <= TURN_MIN * vec3_length(d) * vec3_length(e))
			return reason_set(cook->why, STATUS_DEGENERATE, named, "vertices",
					  "the polygon is straight or not convex at vertex %d",
					  (int)named);
		for (uint32_t k = 0; k < count; k++)
			if (cross2(d, vec3_sub(polygon->vertices[k], polygon->vertices[i])) < 0 &&
			    k != i && k != next)
				return reason_set(cook->why, STATUS_DEGENERATE,
						  number_given(polygon, k, flipped), "vertices",
						  "the polygon winds round more than once");
	}
	return STATUS_OK;
}

/* The least width over edges: the distance of the farthest vertex from the edge's line. */
static enum status check_width(struct cook *cook, const struct polygon *polygon)
{
	for (uint32_t i = 0; i < polygon->count; i++) {
		double width = 0;
		for (uint32_t k = 0; k < polygon->count; k++)
			width = scalar_max(width, -vec3_dot(polygon->normals[i],
							    vec3_sub(polygon->vertices[k],
								     polygon->vertices[i])));
		if (width < SHAPE_LENGTH_MIN)
			return reason_set(cook->why, STATUS_DEGENERATE, -1, "vertices",
					  "the polygon is %g m wide, at least %g m are needed",
					  width, SHAPE_LENGTH_MIN);
	}
	return STATUS_OK;
}

static void measure_polygon(struct shape *shape)
{
	const struct polygon *polygon = shape->polygon;
	struct aabb box = aabb_empty();
	double farthest = 0, nearest = SCALAR_MAX;
	for (uint32_t i = 0; i < polygon->count; i++) {
		vec3 arm = vec3_sub(polygon->vertices[i], shape->mass.centre);
		box = aabb_add_point(box, polygon->vertices[i]);
		farthest = scalar_max(farthest, vec3_length(arm));
		nearest = scalar_min(nearest, vec3_dot(polygon->normals[i], arm));
	}
	box = aabb_grow(box, polygon->radius);
	ASSERT(farthest > 0);
	shape->aabb_min = box.min;
	shape->aabb_max = box.max;
	shape->radius_max = farthest + polygon->radius;
	shape->extent_min = nearest + polygon->radius;
}

enum status polygon_cook(struct cook *cook)
{
	ASSERT(cook->shape->kind == SHAPE_POLYGON);
	struct shape *shape = cook->shape;
	uint32_t count;
	enum status status = cook_count(cook, "vertices", 3, SHAPE_POLYGON_VERTICES_MAX, &count);
	if (status == STATUS_OK)
		status = cook_expect(cook, 8 + (uint64_t)count * 16);
	if (status != STATUS_OK)
		return status;
	struct polygon *polygon = cook_alloc(cook, sizeof *polygon);
	if (polygon == NULL)
		return cook_no_memory(cook);
	memset(polygon, 0, sizeof *polygon);
	shape->polygon = polygon;
	polygon->count = count;
	status = cook_number(cook, "radius", 0, SHAPE_LENGTH_MAX, &polygon->radius);
	if (status == STATUS_OK)
		status = cook_points(cook, count, 2, polygon->vertices);
	if (status != STATUS_OK)
		return status;
	bool flipped = turn_counter_clockwise(polygon);
	status = check_edges(cook, polygon, flipped);
	if (status == STATUS_OK)
		status = check_convex(cook, polygon, flipped);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < count; i++) {
		vec3 d = edge_of(polygon, i);
		double length = vec3_length(d);
		polygon->normals[i] = vec3_make(d.y / length, -d.x / length, 0);
	}
	status = check_width(cook, polygon);
	if (status != STATUS_OK)
		return status;
	shape->mass = polygon_mass(polygon);
	measure_polygon(shape);
	return STATUS_OK;
}
