/* See submerged_parts.h and rounded.h: the submerged part of a rounded hull, part by part.
 *
 * Core and prisms: a polyhedron, in closed form. A wedge: quadrature along its edge; the part of a
 * section, a sector of a disc, is in closed form, and the intervals end where the plane passes its
 * corners or touches its arc. The sector of a ball at a vertex: in cells of directions, each with
 * its exact solid angle; along the direction of a cell's middle, the wet part of the ray 0 … r is
 * in closed form. Parts that are wholly dry or wet are recognised by their ball or their ends and
 * not cut. */
#include "server/engine/geometry/rounded.h"
#include "server/engine/geometry/submerged_parts.h"
#include "server/engine/math/trig.h"

/* Cells along each side of a spherical triangle. Twice as many: a quarter of the error, four times
 * the work, for vertices at the surface only. */
enum { SECTOR_CELLS = 24, WEDGE_BREAKS_MAX = 8 };

static double height_of(const struct cut *cut, vec3 p)
{
	return vec3_dot(cut->normal, vec3_sub(p, cut->apex));
}

static void add_prisms(struct part_sum *sum, const struct hull *core, double r,
		       const struct cut *cut)
{
	for (uint32_t f = 0; f < core->face_count; f++) {
		vec3 top[SHAPE_HULL_VERTICES_MAX], n = core->faces[f].normal;
		uint32_t edge = core->faces[f].edge, count = core->faces[f].edge_count;
		ASSERT(count <= SHAPE_HULL_VERTICES_MAX);
		for (uint32_t k = 0; k < count; k++) {
			vec3 p = core->vertices[core->edges[edge].origin];
			edge = core->edges[edge].next;
			vec3 q = core->vertices[core->edges[edge].origin];
			vec3 side[4] = { p, q, vec3_mul_add(q, n, r), vec3_mul_add(p, n, r) };
			top[k] = side[3];
			submerged_face(sum, cut, side, 4);
		}
		submerged_face(sum, cut, top, count);
	}
}

/* ---- wedges ---------------------------------------------------------------------------------- */

struct wedge_cut {
	struct rounded_wedge wedge;
	double radius;
	double height, slope; /* of the edge over the plane: at its beginning, and per metre */
	double n, t,
		tilt; /* components of the plane's normal along normal and across; its length there */
};

/* Area and first moment, in the frame of normal and across, of the section at `at` metres. */
static struct part_sum cut_section(const struct wedge_cut *self, double at)
{
	const struct rounded_wedge *wedge = &self->wedge;
	double r = self->radius, height = self->height + self->slope * at;
	struct part_sum sum = { 0, vec3_zero() };
	struct cut cut;
	vec3 one = vec3_make(r, 0, 0);
	vec3 two = vec3_make(r * wedge->cosine, r * scalar_max(wedge->sine, 0), 0);
	if (!(self->tilt > 1e-12)) {
		/* The section is parallel to the surface: wholly wet or dry. */
		if (height > 0)
			return sum;
		cut = (struct cut){ vec3_make(1, 0, 0), vec3_make(2 * r, 0, 0) };
	} else {
		cut.normal = vec3_make(self->n / self->tilt, self->t / self->tilt, 0);
		cut.apex = vec3_scale(cut.normal, -height / self->tilt);
	}
	submerged_side(&sum, &cut, vec3_zero(), one);
	submerged_arc(&sum, &cut, vec3_zero(), r, 0, wedge->angle);
	submerged_side(&sum, &cut, two, vec3_zero());
	return sum;
}

static void add_section(const struct wedge_cut *self, double at, double weight,
			struct part_sum *sum)
{
	const struct rounded_wedge *wedge = &self->wedge;
	struct part_sum part = cut_section(self, at);
	vec3 foot = vec3_mul_add(wedge->from, wedge->along, at);
	vec3 moment = vec3_scale(foot, part.volume);
	moment = vec3_mul_add(moment, wedge->normal, part.moment.x);
	moment = vec3_mul_add(moment, wedge->across, part.moment.y);
	sum->volume += weight * part.volume;
	sum->moment = vec3_mul_add(sum->moment, moment, weight);
}

static void insert_break(double *breaks, uint32_t *count, double at, double length)
{
	if (!(at > 0 && at < length))
		return;
	uint32_t i = (*count)++;
	for (; breaks[i - 1] > at; i--)
		breaks[i] = breaks[i - 1];
	breaks[i] = at;
}

static void add_wedge(struct part_sum *sum, const struct hull *core, uint32_t h, double r,
		      const struct cut *cut)
{
	struct wedge_cut self = { .wedge = rounded_wedge_of(core, h), .radius = r };
	const struct rounded_wedge *wedge = &self.wedge;
	double breaks[WEDGE_BREAKS_MAX] = { 0 }, length = wedge->length;
	uint32_t count = 1;
	self.height = height_of(cut, wedge->from);
	self.slope = vec3_dot(cut->normal, wedge->along);
	self.n = vec3_dot(cut->normal, wedge->normal);
	self.t = vec3_dot(cut->normal, wedge->across);
	self.tilt = scalar_sqrt(self.n * self.n + self.t * self.t);
	double end = self.height + self.slope * length;
	double low = scalar_min(self.height, end) - r, high = scalar_max(self.height, end) + r;
	if (low > 0)
		return;
	/* The level of the sector's corners and of its arc's ends over the edge, in radii. */
	double levels[5] = { 0, self.n, self.n * wedge->cosine + self.t * wedge->sine, self.tilt,
			     -self.tilt };
	for (uint32_t k = 0; k < 5 && high > 0; k++)
		insert_break(breaks, &count, -(self.height + r * levels[k]) / self.slope, length);
	breaks[count++] = length;
	ASSERT(count <= WEDGE_BREAKS_MAX);
	for (uint32_t i = 0; i + 1 < count; i++) {
		for (uint32_t k = 0; k < 2 * NODES; k++) {
			double weight, at = submerged_place(k, breaks[i], breaks[i + 1], &weight);
			add_section(&self, at, weight, sum);
		}
	}
}

/* ---- sectors of balls ------------------------------------------------------------------------ */

/* Adds the wet part of a cone of directions around unit n, of `angle` sr, with its tip at v. */
static void add_cone(struct part_sum *sum, const struct cut *cut, vec3 v, double r, vec3 n,
		     double angle)
{
	double height = height_of(cut, v), slope = vec3_dot(cut->normal, n), from = 0, to = r;
	if (height > 0)
		from = slope < 0 ? scalar_min(-height / slope, r) : r;
	else if (slope > 0)
		to = scalar_min(-height / slope, r);
	double volume = angle * (to * to * to - from * from * from) / 3;
	double arm = angle * (to * to * to * to - from * from * from * from) / 4;
	sum->volume += volume;
	sum->moment = vec3_add(sum->moment, vec3_mul_add(vec3_scale(v, volume), n, arm));
}

static vec3 direction_at(const vec3 corners[3], uint32_t i, uint32_t j)
{
	double u = (double)i / SECTOR_CELLS, w = (double)j / SECTOR_CELLS;
	vec3 p = vec3_scale(corners[0], 1 - u - w);
	return vec3_normalize(vec3_mul_add(vec3_mul_add(p, corners[1], u), corners[2], w));
}

static void add_cell(struct part_sum *sum, const struct cut *cut, vec3 v, double r, vec3 a, vec3 b,
		     vec3 c)
{
	vec3 middle = vec3_normalize(vec3_add(vec3_add(a, b), c));
	add_cone(sum, cut, v, r, middle, scalar_abs(rounded_solid_angle(a, b, c)));
}

static void add_triangle(struct part_sum *sum, const struct cut *cut, vec3 v, double r,
			 const vec3 corners[3])
{
	for (uint32_t i = 0; i < SECTOR_CELLS; i++) {
		for (uint32_t j = 0; i + j < SECTOR_CELLS; j++) {
			vec3 a = direction_at(corners, i, j), b = direction_at(corners, i + 1, j);
			vec3 c = direction_at(corners, i, j + 1);
			add_cell(sum, cut, v, r, a, b, c);
			if (i + j + 1 < SECTOR_CELLS)
				add_cell(sum, cut, v, r, b, direction_at(corners, i + 1, j + 1), c);
		}
	}
}

static void add_sector(struct part_sum *sum, const struct hull *core, uint32_t v, double r,
		       const struct cut *cut)
{
	vec3 p = core->vertices[v], mean = vec3_zero();
	double height = height_of(cut, p), angle = 0;
	uint32_t first_edge = core->vertex_edge[v], h = first_edge;
	vec3 start = core->faces[core->edges[h].face].normal, before = start;
	if (height >= r)
		return;
	do {
		vec3 here = core->faces[core->edges[h].face].normal;
		vec3 corners[3] = { start, before, here };
		if (height <= -r) {
			struct rounded_wedge wedge = rounded_wedge_of(core, h);
			mean = vec3_mul_sub(mean, wedge.along, 0.5 * wedge.angle);
			angle -= rounded_solid_angle(start, before, here);
		} else if (rounded_solid_angle(start, before, here) != 0) {
			add_triangle(sum, cut, p, r, corners);
		}
		before = here;
		h = core->edges[core->edges[h].twin].next;
	} while (h != first_edge);
	double volume = angle * r * r * r / 3;
	sum->volume += volume;
	sum->moment =
		vec3_add(sum->moment, vec3_mul_add(vec3_scale(p, volume), mean, r * r * r * r / 4));
}

struct part_sum submerged_rounded(const struct hull *core, double radius, const struct cut *cut)
{
	ASSERT(radius > 0);
	struct part_sum sum = { 0, vec3_zero() };
	add_prisms(&sum, core, radius, cut);
	for (uint32_t h = 0; h < core->edge_count; h++)
		if (core->edges[h].twin > h)
			add_wedge(&sum, core, h, radius, cut);
	for (uint32_t v = 0; v < core->vertex_count; v++)
		add_sector(&sum, core, v, radius, cut);
	return sum;
}
