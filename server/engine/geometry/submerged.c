/* submerged.c: see submerged.h. */
#include "server/engine/geometry/submerged.h"

#include "server/engine/geometry/aabb.h"
#include "server/engine/geometry/solid.h"
#include "server/engine/geometry/submerged_parts.h"
#include "server/engine/math/trig.h"

static struct submerged part_of(const struct part_sum *sum)
{
	if (!(sum->volume > 0))
		return (struct submerged){ 0, vec3_zero() };
	return (struct submerged){ sum->volume, vec3_scale(sum->moment, 1 / sum->volume) };
}

/* ---- spheres --------------------------------------------------------------------------------- */

static struct submerged of_sphere(double r, vec3 normal, double offset)
{
	ASSERT(r > 0);
	double h = r + offset; /* of the cap */
	double volume = PI / 3 * h * h * (3 * r - h);
	double depth = 0.75 * (2 * r - h) * (2 * r - h) / (3 * r - h);
	return (struct submerged){ volume, vec3_scale(normal, -depth) };
}

/* With a_i the half axes, x = (a_i u_i) maps the unit ball to the ellipsoid and the plane n·x = d
 * to the plane m·u = d / |a∘n| with m along (a_i n_i): a ball's part, stretched. */
static struct submerged of_ellipsoid(vec3 half, vec3 normal, double offset)
{
	double length;
	vec3 turned = vec3_normalize_length(vec3_hadamard(half, normal), &length);
	ASSERT(length > 0);
	struct submerged ball = of_sphere(1, turned, scalar_clamp(offset / length, -1 + 1e-12, 1));
	ball.volume *= half.x * half.y * half.z;
	ball.centre = vec3_hadamard(half, ball.centre);
	return ball;
}

/* ---- capsules, cylinders, cones -------------------------------------------------------------- */

enum { BREAKS_MAX = 10 };
const double submerged_node[NODES] = {
	0.0950125098376374, 0.2816035507792589, 0.4580167776572274, 0.6178762444026438,
	0.7554044083550030, 0.8656312023878318, 0.9445750230732326, 0.9894009349916499,
};
const double submerged_weight[NODES] = {
	0.1894506104550685, 0.1826034150449236, 0.1691565193950025, 0.1495959888165767,
	0.1246289712555339, 0.0951585116824928, 0.0622535239386479, 0.0271524594117541,
};

double submerged_place(uint32_t k, double from, double to, double *weight)
{
	ASSERT(k < 2 * NODES);
	double middle = 0.5 * (from + to), half = 0.5 * (to - from);
	double s = k < NODES ? submerged_node[k] : -submerged_node[k - NODES];
	*weight = half * submerged_weight[k % NODES] * 1.5 * (1 - s * s);
	return middle + half * 0.5 * s * (3 - s * s);
}

/* The section of a capsule, cylinder or cone at t along its axis is a disc, of which the plane cuts
 * the part u <= `cut`; u runs across the axis, along the normal's component there. */
struct capsule_cut {
	enum shape_kind kind;
	double half_length, radius;
	double along, across; /* components of the normal; across >= 0 */
	double offset;
};

static double section_radius(const struct capsule_cut *self, double t)
{
	if (self->kind == SHAPE_CYLINDER)
		return self->radius;
	if (self->kind == SHAPE_CONE)
		return scalar_max(0.5 * self->radius * (1 - t / self->half_length), 0);
	double beyond = scalar_abs(t) - self->half_length;
	double square = self->radius * self->radius - beyond * beyond;
	return beyond <= 0 ? self->radius : scalar_sqrt(scalar_max(square, 0));
}

/* Area of the section's part, and its moment along u. */
static void cut_section(const struct capsule_cut *self, double t, double *area, double *moment)
{
	double r = section_radius(self, t), level = self->offset - self->along * t;
	*area = *moment = 0;
	if (level >= r * self->across) {
		*area = PI * r * r;
	} else if (level > -r * self->across) {
		double u = level / self->across, chord = scalar_sqrt(scalar_max(r * r - u * u, 0));
		*area = r * r * trig_atan2(chord, -u) + u * chord;
		*moment = -2.0 / 3 * chord * chord * chord;
	}
}

static void add_break(double *breaks, uint32_t *count, double t, double low, double high)
{
	if (!(t > low && t < high))
		return;
	uint32_t i = (*count)++;
	for (; i > 0 && breaks[i - 1] > t; i--)
		breaks[i] = breaks[i - 1];
	breaks[i] = t;
}

/* Where along the axis the sections change from dry to cut to whole, ascending, with both ends. */
static uint32_t find_breaks(const struct capsule_cut *self, double breaks[BREAKS_MAX])
{
	double h = self->half_length, r = self->radius;
	uint32_t count = 0;
	breaks[count++] = -h - r;
	for (int side = -1; side <= 1; side += 2) {
		double end = side * h, low = side < 0 ? -h - r : h, high = side < 0 ? -h : h + r;
		double level = self->offset - self->along * end;
		add_break(breaks, &count, (self->offset + side * r * self->across) / self->along,
			  -h, h);
		add_break(breaks, &count, end, -h - r, h + r);
		if (scalar_abs(level) < r) {
			double chord = self->across * scalar_sqrt(r * r - level * level);
			double foot = end + self->along * level;
			add_break(breaks, &count, foot - chord, low, high);
			add_break(breaks, &count, foot + chord, low, high);
		}
	}
	breaks[count++] = h + r;
	ASSERT(count <= BREAKS_MAX);
	return count;
}

/* The same for flat ends: the radius at t is r0 + slope t, and the plane meets the section's rim
 * where offset − along t = ±across (r0 + slope t). */
static uint32_t find_flat_breaks(const struct capsule_cut *self, double breaks[BREAKS_MAX])
{
	double h = self->half_length, slope = 0, middle = self->radius;
	uint32_t count = 0;
	if (self->kind == SHAPE_CONE) {
		middle = 0.5 * self->radius;
		slope = -middle / h;
	}
	breaks[count++] = -h;
	for (int side = -1; side <= 1; side += 2)
		add_break(breaks, &count,
			  (self->offset - side * self->across * middle) /
				  (self->along + side * self->across * slope),
			  -h, h);
	breaks[count++] = h;
	ASSERT(count <= BREAKS_MAX);
	return count;
}

static struct submerged of_capsule(const struct shape *shape, vec3 normal, double offset)
{
	double across = scalar_sqrt(normal.x * normal.x + normal.z * normal.z);
	struct capsule_cut self = {
		shape->kind, shape->capsule.half_length, shape->capsule.radius, normal.y, across,
		offset
	};
	if (shape_is_curved(shape)) {
		self.half_length = shape->cylinder.half_length;
		self.radius = shape->cylinder.radius;
	}
	double breaks[BREAKS_MAX], volume = 0, axial = 0, lateral = 0;
	uint32_t count = shape_is_curved(shape) ? find_flat_breaks(&self, breaks)
						: find_breaks(&self, breaks);
	ASSERT(shape->kind != SHAPE_ELLIPSOID && count >= 2);
	for (uint32_t i = 0; i + 1 < count; i++) {
		for (uint32_t k = 0; k < 2 * NODES; k++) {
			double area, moment, weight;
			double t = submerged_place(k, breaks[i], breaks[i + 1], &weight);
			cut_section(&self, t, &area, &moment);
			volume += weight * area;
			axial += weight * area * t;
			lateral += weight * moment;
		}
	}
	vec3 side = across > 0 ? vec3_make(normal.x / across, 0, normal.z / across) : vec3_zero();
	struct part_sum sum = { volume, vec3_mul_add(vec3_make(0, axial, 0), side, lateral) };
	return part_of(&sum);
}

/* ---- polyhedra ------------------------------------------------------------------------------- */

static double height_over(const struct cut *self, vec3 p)
{
	return vec3_dot(self->normal, vec3_sub(p, self->apex));
}

/* The point of the plane between p at height a and q at height b, of different signs. */
static vec3 cross_at(vec3 p, vec3 q, double a, double b)
{
	return vec3_lerp(p, q, a / (a - b));
}

/* Adds the pyramid over a triangle, counter-clockwise from outside. */
static void add_pyramid(struct part_sum *sum, vec3 apex, vec3 a, vec3 b, vec3 c)
{
	vec3 u = vec3_sub(a, apex), v = vec3_sub(b, apex), w = vec3_sub(c, apex);
	double volume = vec3_dot(u, vec3_cross(v, w)) / 6;
	vec3 mean = vec3_mul_add(apex, vec3_add(vec3_add(u, v), w), 0.25);
	sum->volume += volume;
	sum->moment = vec3_mul_add(sum->moment, mean, volume);
}

/* Walks around a face: the part below the plane is fanned from its first point. */
struct face_walk {
	struct part_sum *sum;
	const struct cut *cut;
	vec3 first, last;
	uint32_t count;
};

static void walk_point(struct face_walk *self, vec3 p)
{
	if (self->count == 0)
		self->first = p;
	else if (self->count >= 2)
		add_pyramid(self->sum, self->cut->apex, self->first, self->last, p);
	self->last = p;
	self->count++;
}

/* The edge from p: p if it is below, and the crossing if there is one. */
static void walk_edge(struct face_walk *self, vec3 p, vec3 q)
{
	double a = height_over(self->cut, p), b = height_over(self->cut, q);
	if (a <= 0)
		walk_point(self, p);
	if ((a < 0 && b > 0) || (a > 0 && b < 0))
		walk_point(self, cross_at(p, q, a, b));
}

static struct part_sum of_hull(const struct hull *hull, const struct cut *cut)
{
	struct part_sum sum = { 0, vec3_zero() };
	ASSERT(hull->face_count >= 4);
	for (uint32_t f = 0; f < hull->face_count; f++) {
		struct face_walk walk = { .sum = &sum, .cut = cut };
		uint32_t edge = hull->faces[f].edge;
		for (uint32_t k = 0; k < hull->faces[f].edge_count; k++) {
			uint32_t next = hull->edges[edge].next;
			walk_edge(&walk, hull->vertices[hull->edges[edge].origin],
				  hull->vertices[hull->edges[next].origin]);
			edge = next;
		}
	}
	return sum;
}

void submerged_face(struct part_sum *sum, const struct cut *cut, const vec3 *points, uint32_t count)
{
	ASSERT(count >= 3);
	struct face_walk walk = { .sum = sum, .cut = cut };
	for (uint32_t k = 0; k < count; k++)
		walk_edge(&walk, points[k], points[(k + 1) % count]);
}

static struct part_sum of_mesh(const struct mesh *mesh, const struct cut *cut)
{
	struct part_sum sum = { 0, vec3_zero() };
	for (uint32_t f = 0; f < mesh->triangle_count; f++) {
		struct face_walk walk = { .sum = &sum, .cut = cut };
		for (uint32_t k = 0; k < 3; k++)
			walk_edge(&walk, mesh->vertices[mesh->triangles[f][k]],
				  mesh->vertices[mesh->triangles[f][(k + 1) % 3]]);
	}
	return sum;
}

static struct submerged of_solid(const struct shape *shape, const struct cut *cut)
{
	const struct solid *solid = shape->solid;
	if (solid->mesh != NULL) {
		struct part_sum sum = of_mesh(solid->mesh, cut);
		return part_of(&sum);
	}
	ASSERT(solid->part_count > 0 && solid->parts[0]->mass.volume > 0);
	struct part_sum sum = of_hull(solid->parts[0]->hull, cut);
	struct submerged part = part_of(&sum);
	part.volume *= shape->mass.volume / solid->parts[0]->mass.volume;
	return part;
}

/* ---- polygons -------------------------------------------------------------------------------- */

static double cross_z(vec3 a, vec3 b)
{
	return a.x * b.y - a.y * b.x;
}

static void add_triangle(struct part_sum *sum, vec3 apex, vec3 p, vec3 q)
{
	vec3 u = vec3_sub(p, apex), v = vec3_sub(q, apex);
	double area = 0.5 * cross_z(u, v);
	sum->volume += area;
	sum->moment = vec3_mul_add(sum->moment, vec3_mul_add(apex, vec3_add(u, v), 1.0 / 3), area);
}

void submerged_side(struct part_sum *sum, const struct cut *cut, vec3 p, vec3 q)
{
	double a = height_over(cut, p), b = height_over(cut, q);
	if (a > 0 && b > 0)
		return;
	vec3 from = a > 0 ? cross_at(p, q, a, b) : p, to = b > 0 ? cross_at(p, q, a, b) : q;
	add_triangle(sum, cut->apex, from, to);
}

/* Adds what lies between the apex and the arc of radius r about c from angle a to b: with q from
 * the apex to c and e the direction of the arc's point, dA = (r² + r q·e) / 2 dθ, its mean apex +
 * 2/3 (q + r e). */
static void add_arc_part(struct part_sum *sum, vec3 apex, vec3 c, double r, double a, double b)
{
	double sine_a, cosine_a, sine_b, cosine_b, angle = b - a;
	trig_sincos(a, &sine_a, &cosine_a);
	trig_sincos(b, &sine_b, &cosine_b);
	vec3 q = vec3_sub(c, apex), e = vec3_make(sine_b - sine_a, cosine_a - cosine_b, 0);
	double twice = sine_b * cosine_b - sine_a * cosine_a;
	double xx = 0.5 * (angle + twice), yy = 0.5 * (angle - twice);
	double xy = 0.5 * (sine_b * sine_b - sine_a * sine_a);
	double area = 0.5 * r * (r * angle + vec3_dot(q, e));
	/* ∫ (q + r e) (r² + r q·e) dθ / 3 */
	vec3 turned = vec3_make(xx * q.x + xy * q.y, xy * q.x + yy * q.y, 0);
	vec3 moment = vec3_scale(q, r * (r * angle + vec3_dot(q, e)));
	moment = vec3_mul_add(moment, e, r * r * r);
	moment = vec3_scale(vec3_mul_add(moment, turned, r * r), 1.0 / 3);
	sum->volume += area;
	sum->moment = vec3_add(sum->moment, vec3_mul_add(moment, apex, area));
}

/* The part of an arc below the plane: all but the angles within acos(k) of the normal's. */
void submerged_arc(struct part_sum *sum, const struct cut *cut, vec3 c, double r, double a,
		   double b)
{
	ASSERT(r > 0 && a <= b);
	double k = -height_over(cut, c) / r;
	if (k >= 1) {
		add_arc_part(sum, cut->apex, c, r, a, b);
		return;
	}
	if (!(k > -1))
		return;
	double dry = trig_atan2(scalar_sqrt((1 - k) * (1 + k)), k);
	double normal = trig_atan2(cut->normal.y, cut->normal.x);
	/* The wet angles repeat with every turn: three copies reach over each arc. */
	for (int turn = -2; turn <= 1; turn++) {
		double from = scalar_max(a, normal + dry + 2 * PI * turn);
		double to = scalar_min(b, normal - dry + 2 * PI * (turn + 1));
		if (from < to)
			add_arc_part(sum, cut->apex, c, r, from, to);
	}
}

static struct submerged of_polygon(const struct polygon *polygon, const struct cut *cut)
{
	struct part_sum sum = { 0, vec3_zero() };
	double r = polygon->radius;
	ASSERT(polygon->count > 0 && !(r < 0));
	for (uint32_t i = 0; i < polygon->count; i++) {
		uint32_t next = (i + 1) % polygon->count;
		vec3 n = polygon->normals[i], m = polygon->normals[next];
		vec3 corner = polygon->vertices[next];
		submerged_side(&sum, cut, vec3_mul_add(polygon->vertices[i], n, r),
			       vec3_mul_add(corner, n, r));
		if (!(r > 0))
			continue;
		double from = trig_atan2(n.y, n.x);
		submerged_arc(&sum, cut, corner, r, from,
			      from + trig_atan2(cross_z(n, m), vec3_dot(n, m)));
	}
	return part_of(&sum);
}

/* ---- every kind ------------------------------------------------------------------------------ */

struct submerged shape_submerged(const struct shape *shape, vec3 normal, double offset)
{
	ASSERT(scalar_abs(vec3_dot(normal, normal) - 1) < 1e-6);
	const struct submerged none = { 0, vec3_zero() };
	if (shape_is_ground(shape))
		return none;
	vec3 middle = vec3_scale(vec3_add(shape->aabb_min, shape->aabb_max), 0.5);
	vec3 half = vec3_sub(shape->aabb_max, middle);
	double reach = scalar_abs(normal.x) * half.x + scalar_abs(normal.y) * half.y +
		       scalar_abs(normal.z) * half.z;
	double depth = offset - vec3_dot(normal, middle);
	if (shape->kind == SHAPE_SPHERE)
		reach = shape->sphere.radius;
	if (shape->kind == SHAPE_ELLIPSOID)
		reach = vec3_length(vec3_hadamard(half, normal));
	if (depth <= -reach)
		return none;
	if (depth >= reach)
		return (struct submerged){ shape->mass.volume, shape->mass.centre };
	vec3 centre = shape->mass.centre;
	struct cut cut = { normal,
			   vec3_mul_add(centre, normal, offset - vec3_dot(normal, centre)) };
	switch (shape->kind) {
	case SHAPE_SPHERE:
		return of_sphere(shape->sphere.radius, normal, offset);
	case SHAPE_ELLIPSOID:
		return of_ellipsoid(shape->ellipsoid.half, normal, offset);
	case SHAPE_ROUNDED: {
		struct part_sum sum =
			submerged_rounded(shape->stand_in->hull, shape->rounded.radius, &cut);
		return part_of(&sum);
	}
	case SHAPE_CYLINDER:
	case SHAPE_CONE:
	case SHAPE_CAPSULE:
		return of_capsule(shape, normal, offset);
	case SHAPE_POLYGON:
		return of_polygon(shape->polygon, &cut);
	case SHAPE_SOLID:
		return of_solid(shape, &cut);
	default: {
		ASSERT(shape->hull != NULL);
		struct part_sum sum = of_hull(shape->hull, &cut);
		return part_of(&sum);
	}
	}
}
