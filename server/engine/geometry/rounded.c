/* See rounded.h.
 *
 * Core and prisms together are bounded by the faces moved outwards by r and by the sides of the
 * prisms; their integrals are those of polyhedra. With u the directions of a wedge of angle θ on an
 * edge of length L, direction d and midpoint m, between n and t = d × n:
 *   area A = r²/2 θ,   a = r³/3 ∫u dφ = r³/3 (n sin θ + t (1 − cos θ)),
 *   M = r⁴/4 ∫u uᵀ dφ = r⁴/8 [n nᵀ (θ + sin θ cos θ) + t tᵀ (θ − sin θ cos θ) + (n tᵀ + t nᵀ) sin²
 *   θ] ∫dV = L A,   ∫x dV = L (A m + a),
 *   ∫x xᵀ dV = L (A (m mᵀ + L²/12 d dᵀ) + m aᵀ + a mᵀ + M).
 * The sector at a vertex v has the solid angle Ω of the vertex's normal cone. By the divergence
 * theorem in the cone, whose sides are sectors of discs normal to the edges d (away from the
 * vertex):
 *   ∫n dΩ = −½ Σ θ d,   ∫n nᵀ dΩ = Ω/3 − 1/3 Σ (∫u dφ) dᵀ
 *   ∫dV = r³/3 Ω,   ∫(x − v) dV = r⁴/4 ∫n dΩ,   ∫(x − v)(x − v)ᵀ dV = r⁵/5 ∫n nᵀ dΩ.
 * Summed, the volume is Steiner's V + A r + ½ Σ L θ r² + 4/3 π r³. */
#include "server/engine/geometry/rounded.h"

#include "server/base/heap.h"
#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/cook.h"
#include "server/engine/geometry/hull.h"
#include "server/engine/geometry/mass.h"
#include "server/engine/math/trig.h"

enum rounded_form { ROUNDED_BOX = 1, ROUNDED_HULL = 2 };

/* ---- parts ----------------------------------------------------------------------------------- */

struct rounded_wedge rounded_wedge_of(const struct hull *core, uint32_t h)
{
	ASSERT(h < core->edge_count);
	const struct half_edge *edge = &core->edges[h], *twin = &core->edges[edge->twin];
	struct rounded_wedge self = { .from = core->vertices[edge->origin] };
	self.along = vec3_normalize_length(vec3_sub(core->vertices[twin->origin], self.from),
					   &self.length);
	self.normal = core->faces[edge->face].normal;
	self.across = vec3_normalize(vec3_cross(self.along, self.normal));
	self.cosine = vec3_dot(self.normal, core->faces[twin->face].normal);
	self.sine = vec3_dot(self.across, core->faces[twin->face].normal);
	self.angle = trig_atan2(scalar_max(self.sine, 0), self.cosine);
	return self;
}

/* ∫ u dφ over the wedge's directions u. */
static vec3 rounded_wedge_mean(const struct rounded_wedge *self)
{
	return vec3_mul_add(vec3_scale(self->normal, self->sine), self->across, 1 - self->cosine);
}

double rounded_solid_angle(vec3 a, vec3 b, vec3 c)
{
	double volume = vec3_triple(a, b, c);
	double sum = 1 + vec3_dot(a, b) + vec3_dot(b, c) + vec3_dot(c, a);
	return 2 * trig_atan2(volume, sum);
}

/* ---- mass ------------------------------------------------------------------------------------ */

static void add_second(struct volume_integrals *sum, double volume, vec3 first, mat3 second)
{
	sum->t1 += volume;
	sum->t = vec3_add(sum->t, first);
	sum->squares = vec3_add(sum->squares, vec3_make(second.x.x, second.y.y, second.z.z));
	sum->products = vec3_add(sum->products, vec3_make(0.5 * (second.x.y + second.y.x),
							  0.5 * (second.y.z + second.z.y),
							  0.5 * (second.z.x + second.x.z)));
}

static void add_prism(struct volume_integrals *sum, const struct hull *core, uint32_t f, double r)
{
	vec3 top[SHAPE_HULL_VERTICES_MAX], n = core->faces[f].normal;
	uint32_t edge = core->faces[f].edge, count = core->faces[f].edge_count;
	ASSERT(count <= SHAPE_HULL_VERTICES_MAX);
	for (uint32_t k = 0; k < count; k++) {
		vec3 p = vec3_sub(core->vertices[core->edges[edge].origin], core->centre);
		edge = core->edges[edge].next;
		vec3 q = vec3_sub(core->vertices[core->edges[edge].origin], core->centre);
		vec3 side[4] = { p, q, vec3_mul_add(q, n, r), vec3_mul_add(p, n, r) };
		top[k] = side[3];
		mass_add_face(sum, side, 4);
	}
	mass_add_face(sum, top, count);
}

static void add_wedge(struct volume_integrals *sum, const struct hull *core, uint32_t h, double r)
{
	struct rounded_wedge wedge = rounded_wedge_of(core, h);
	double length = wedge.length, angle = wedge.angle, area = 0.5 * r * r * angle;
	vec3 n = wedge.normal, t = wedge.across;
	vec3 m = vec3_mul_add(vec3_sub(wedge.from, core->centre), wedge.along, 0.5 * length);
	vec3 a = vec3_scale(rounded_wedge_mean(&wedge), r * r * r / 3);
	double mixed = wedge.sine * wedge.cosine, k = r * r * r * r / 8;
	mat3 second = mat3_scale(mat3_outer(n, n), k * (angle + mixed));
	second = mat3_add(second, mat3_scale(mat3_outer(t, t), k * (angle - mixed)));
	mat3 skew = mat3_add(mat3_outer(n, t), mat3_outer(t, n));
	second = mat3_add(second, mat3_scale(skew, k * wedge.sine * wedge.sine));
	second = mat3_add(second, mat3_add(mat3_outer(m, a), mat3_outer(a, m)));
	second = mat3_add(second, mat3_scale(mat3_outer(m, m), area));
	second = mat3_add(second, mat3_scale(mat3_outer(wedge.along, wedge.along),
					     area * length * length / 12));
	vec3 first = vec3_mul_add(a, m, area);
	add_second(sum, length * area, vec3_scale(first, length), mat3_scale(second, length));
}

static void add_sector(struct volume_integrals *sum, const struct hull *core, uint32_t v, double r)
{
	ASSERT(v < core->vertex_count);
	uint32_t first_edge = core->vertex_edge[v], h = first_edge;
	vec3 start = core->faces[core->edges[h].face].normal, before = start, mean = vec3_zero();
	double angle = 0;
	mat3 spread = mat3_zero();
	do {
		struct rounded_wedge wedge = rounded_wedge_of(core, h);
		vec3 here = core->faces[core->edges[h].face].normal;
		/* Twin and next run clockwise around the vertex. */
		angle -= rounded_solid_angle(start, before, here);
		before = here;
		mean = vec3_mul_sub(mean, wedge.along, 0.5 * wedge.angle);
		spread = mat3_sub(
			spread,
			mat3_scale(mat3_outer(rounded_wedge_mean(&wedge), wedge.along), 1.0 / 3));
		h = core->edges[core->edges[h].twin].next;
	} while (h != first_edge);
	spread = mat3_add(spread, mat3_diagonal(vec3_all(angle / 3)));
	vec3 p = vec3_sub(core->vertices[v], core->centre);
	double volume = r * r * r / 3 * angle;
	vec3 arm = vec3_scale(mean, r * r * r * r / 4);
	mat3 second = mat3_scale(spread, r * r * r * r * r / 5);
	second = mat3_add(second, mat3_add(mat3_outer(p, arm), mat3_outer(arm, p)));
	second = mat3_add(second, mat3_scale(mat3_outer(p, p), volume));
	add_second(sum, volume, vec3_mul_add(arm, p, volume), second);
}

/* Mass properties at unit density. */
static struct mass_properties rounded_mass(const struct hull *core, double radius)
{
	ASSERT(radius > 0);
	struct volume_integrals sum = { 0, vec3_zero(), vec3_zero(), vec3_zero() };
	for (uint32_t f = 0; f < core->face_count; f++)
		add_prism(&sum, core, f, radius);
	for (uint32_t h = 0; h < core->edge_count; h++)
		if (core->edges[h].twin > h)
			add_wedge(&sum, core, h, radius);
	for (uint32_t v = 0; v < core->vertex_count; v++)
		add_sector(&sum, core, v, radius);
	return mass_of_integrals(&sum, core->centre);
}

/* ---- points ---------------------------------------------------------------------------------- */

bool rounded_holds(const struct hull *core, double radius, vec3 p)
{
	bool inside = true;
	for (uint32_t f = 0; f < core->face_count; f++) {
		double height = vec3_dot(core->faces[f].normal, p) - core->faces[f].offset;
		inside &= height <= 0;
		if (height > radius)
			return false;
		if (height <= 0)
			continue;
		uint32_t edge = core->faces[f].edge, beside = 0;
		for (uint32_t k = 0; k < core->faces[f].edge_count; k++) {
			struct rounded_wedge wedge = rounded_wedge_of(core, edge);
			beside += vec3_dot(wedge.across, vec3_sub(p, wedge.from)) > 0;
			edge = core->edges[edge].next;
		}
		if (beside == 0)
			return true;
	}
	for (uint32_t h = 0; h < core->edge_count && !inside; h++) {
		double k;
		const struct half_edge *edge = &core->edges[h];
		if (edge->twin < h)
			continue;
		vec3 near =
			closest_point_segment(p, core->vertices[edge->origin],
					      core->vertices[core->edges[edge->twin].origin], &k);
		inside = vec3_distance_squared(p, near) <= radius * radius;
	}
	return inside;
}

/* ---- cooking --------------------------------------------------------------------------------- */

static enum status read_box(struct cook *cook)
{
	static const char *const NAMES[3] = { "half_x", "half_y", "half_z" };
	vec3 half = vec3_zero(), points[8];
	enum status status = cook_expect(cook, 24);
	for (uint32_t k = 0; k < 3 && status == STATUS_OK; k++) {
		double value = 0;
		status = cook_number(cook, NAMES[k], SHAPE_LENGTH_MIN, SHAPE_LENGTH_MAX, &value);
		vec3_set(&half, k, value);
	}
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < 8; i++)
		points[i] = vec3_make(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y,
				      i & 4 ? half.z : -half.z);
	cook->shape->rounded.half = half;
	return shape_of_points(points, 8, &cook->shape->stand_in, cook->why);
}

static enum status read_hull(struct cook *cook)
{
	uint32_t count;
	enum status status = cook_count(cook, "points", 4, SHAPE_CLOUD_MAX, &count);
	if (status == STATUS_OK)
		status = cook_expect(cook, (uint64_t)count * 24);
	if (status != STATUS_OK)
		return status;
	vec3 *points = heap_alloc(count * sizeof *points);
	if (points == NULL)
		return cook_no_memory(cook);
	status = cook_points(cook, count, 3, points);
	if (status == STATUS_OK)
		status = shape_of_points(points, count, &cook->shape->stand_in, cook->why);
	heap_free(points);
	return status;
}

static void measure(struct shape *shape)
{
	const struct shape *core = shape->stand_in;
	const struct hull *hull = core->hull;
	double r = shape->rounded.radius, far = 0, near = SCALAR_MAX;
	shape->mass = rounded_mass(hull, r);
	vec3 centre = shape->mass.centre;
	for (uint32_t v = 0; v < hull->vertex_count; v++)
		far = scalar_max(far, vec3_distance(hull->vertices[v], centre));
	for (uint32_t f = 0; f < hull->face_count; f++)
		near = scalar_min(near,
				  hull->faces[f].offset - vec3_dot(hull->faces[f].normal, centre));
	shape->aabb_min = vec3_sub(core->aabb_min, vec3_all(r));
	shape->aabb_max = vec3_add(core->aabb_max, vec3_all(r));
	shape->radius_max = far + r;
	shape->extent_min = scalar_max(near, 0) + r;
	ASSERT(shape->extent_min <= shape->radius_max);
}

enum status rounded_cook(struct cook *cook)
{
	ASSERT(cook->shape->kind == SHAPE_ROUNDED);
	struct shape *shape = cook->shape;
	uint32_t form = read_u8(&cook->reader), zero = read_u8(&cook->reader);
	enum status status = cook_number(cook, "radius", SHAPE_LENGTH_MIN, SHAPE_LENGTH_MAX,
					 &shape->rounded.radius);
	if (status != STATUS_OK)
		return status;
	if (zero != 0)
		return reason_set(cook->why, STATUS_MALFORMED, -1, "shape",
				  "byte 3 of a rounded shape is %u, it must be 0", zero);
	if (form != ROUNDED_BOX && form != ROUNDED_HULL)
		return reason_set(cook->why, STATUS_MALFORMED, -1, "form",
				  "form %u is no form of a rounded shape: 1 is a box, 2 a hull",
				  form);
	status = form == ROUNDED_BOX ? read_box(cook) : read_hull(cook);
	if (status != STATUS_OK)
		return status;
	shape->memory_bytes += shape->stand_in->memory_bytes;
	measure(shape);
	if (!(shape->mass.volume > 0))
		return reason_set(cook->why, STATUS_DEGENERATE, -1, "points",
				  "the rounded hull has no volume");
	return STATUS_OK;
}
