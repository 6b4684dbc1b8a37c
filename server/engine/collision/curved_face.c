/* curved_face.c: the corners of a core that face a direction.
 *
 * A flat end of a cylinder or cone is a polygon of CURVED_RIM points of its rim, which are fixed to
 * the body, so that the contacts of a body at rest keep their places and impulses, and one more
 * point: the exact lowest point of the rim, which carries a body that rolls on its rim. A side is
 * the straight line of the surface that faces the direction. */
#include "server/engine/collision/curved_pair.h"

/* The cosine to the axis above which a flat end of a cylinder faces a direction, and not the side. */
#define END_COSINE 0.7
/* The sine below which a direction has no lowest point of a rim. */
#define LEVEL_SINE 1e-9

static const double RIM[CURVED_RIM][2] = {
	/* cosine and sine of 22.5° k */
	{ 1, 0 },
	{ 0.92387953251128674, 0.38268343236508977 },
	{ 0.70710678118654752, 0.70710678118654752 },
	{ 0.38268343236508977, 0.92387953251128674 },
	{ 0, 1 },
	{ -0.38268343236508977, 0.92387953251128674 },
	{ -0.70710678118654752, 0.70710678118654752 },
	{ -0.92387953251128674, 0.38268343236508977 },
	{ -1, 0 },
	{ -0.92387953251128674, -0.38268343236508977 },
	{ -0.70710678118654752, -0.70710678118654752 },
	{ -0.38268343236508977, -0.92387953251128674 },
	{ 0, -1 },
	{ 0.38268343236508977, -0.92387953251128674 },
	{ 0.70710678118654752, -0.70710678118654752 },
	{ 0.92387953251128674, -0.38268343236508977 },
};

static void add_corner(struct curved_face *out, const struct curved_side *side, bool is_b, vec3 p,
		       uint32_t before, uint32_t after)
{
	ASSERT(out->count < CLIP_CORNERS_MAX);
	out->corners[out->count++] =
		(struct clip_corner){ placing_point(&side->at, p), feature_side(before, is_b),
				      feature_side(after, is_b) };
}

/* The disc of radius r at height y whose outward normal is ±y, counter-clockwise about it; d faces
 * it. */
static void add_rim(struct curved_face *out, const struct curved_side *side, bool is_b, double y,
		    double sign, double r, vec3 d)
{
	double across = scalar_sqrt(d.x * d.x + d.z * d.z);
	bool level = across < LEVEL_SINE;
	double x = level ? 0 : d.x / across, z = level ? 0 : d.z / across;
	for (uint32_t k = 0; k < CURVED_RIM; k++) {
		double c = RIM[k][0], s = -sign * RIM[k][1];
		const double *next = RIM[(k + 1) % CURVED_RIM];
		double next_s = -sign * next[1];
		add_corner(out, side, is_b, vec3_make(r * c, y, r * s), k, k);
		/* Between this point and the next one: on the inner side of both radii. */
		double from = -sign * (c * z - s * x), to = -sign * (x * next_s - z * next[0]);
		if (!level && from > 0 && to >= 0 && c * x + s * z > 0)
			add_corner(out, side, is_b, vec3_make(r * x, y, r * z), CURVED_RIM,
				   CURVED_RIM);
	}
	out->flat = out->rim = true;
	out->normal = mat3_mul_vec(side->at.rotation, vec3_make(0, sign, 0));
	out->centre = placing_point(&side->at, vec3_make(0, y, 0));
}

static void add_hull_face(struct curved_face *out, const struct curved_side *side, bool is_b,
			  vec3 d)
{
	const struct hull *hull = side->core.hull;
	uint32_t vertex = gjk_support(&side->core, d, 0);
	const struct hull_face *face = &hull->faces[sat_face_at(hull, vertex, vec3_negate(d))];
	uint32_t edge = face->edge, before = edge;
	for (uint32_t k = 0; k + 1 < face->edge_count; k++)
		before = hull->edges[before].next;
	for (uint32_t k = 0; k < face->edge_count; k++) {
		add_corner(out, side, is_b, hull->vertices[hull->edges[edge].origin], before, edge);
		before = edge;
		edge = hull->edges[edge].next;
	}
	out->flat = true;
	out->normal = mat3_mul_vec(side->at.rotation, face->normal);
}

static void add_triangle(struct curved_face *out, const struct curved_side *side, bool is_b, vec3 d)
{
	const vec3 *p = side->core.points;
	vec3 n = vec3_normalize(vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])));
	bool turned = vec3_dot(n, d) < 0;
	ASSERT(side->core.count == 3);
	for (uint32_t k = 0; k < 3; k++) {
		uint32_t corner = turned ? 2 - k : k;
		add_corner(out, side, is_b, p[corner], (corner + (turned ? 0 : 2)) % 3,
			   (corner + (turned ? 2 : 0)) % 3);
	}
	out->flat = true;
	out->normal = mat3_mul_vec(side->at.rotation, turned ? vec3_negate(n) : n);
}

static void add_cone(struct curved_face *out, const struct curved_side *side, bool is_b, vec3 d)
{
	double h = side->shape->cone.half_length, r = side->shape->cone.radius;
	double across = scalar_sqrt(d.x * d.x + d.z * d.z);
	double length = scalar_sqrt(4 * h * h + r * r);
	if (-d.y * length >= 2 * h * across + r * d.y) {
		add_rim(out, side, is_b, -h, -1, r, d);
		return;
	}
	add_corner(out, side, is_b, vec3_make(0, h, 0), 0, 0);
	if (across > LEVEL_SINE)
		add_corner(out, side, is_b, vec3_make(r * d.x / across, -h, r * d.z / across), 1,
			   1);
}

static void add_cylinder(struct curved_face *out, const struct curved_side *side, bool is_b, vec3 d)
{
	double h = side->shape->cylinder.half_length, r = side->shape->cylinder.radius;
	double across = scalar_sqrt(d.x * d.x + d.z * d.z);
	if (scalar_abs(d.y) > END_COSINE) {
		double sign = d.y > 0 ? 1 : -1;
		add_rim(out, side, is_b, sign * h, sign, r, d);
		return;
	}
	vec3 p = vec3_make(r * d.x / across, -h, r * d.z / across);
	add_corner(out, side, is_b, p, 0, 0);
	add_corner(out, side, is_b, vec3_make(p.x, h, p.z), 1, 1);
}

void curved_face_of(const struct curved_side *self, bool is_b, vec3 direction,
		    struct curved_face *out)
{
	vec3 d = mat3_transposed_mul_vec(self->at.rotation, direction);
	const struct gjk_core *core = &self->core;
	out->flat = out->rim = false;
	out->normal = vec3_zero();
	out->count = 0;
	if (core->hull != NULL)
		add_hull_face(out, self, is_b, d);
	else if (self->shape->kind == SHAPE_CYLINDER)
		add_cylinder(out, self, is_b, d);
	else if (self->shape->kind == SHAPE_CONE)
		add_cone(out, self, is_b, d);
	else if (core->curve != NULL)
		add_corner(out, self, is_b, curve_support(core->curve, d), 0, 0);
	else if (core->count == 3)
		add_triangle(out, self, is_b, d);
	else if (core->count == 2 && scalar_abs(d.y) > END_COSINE)
		add_corner(out, self, is_b, core->points[d.y > 0], d.y > 0, d.y > 0);
	else
		for (uint32_t k = 0; k < core->count; k++)
			add_corner(out, self, is_b, core->points[k], k, k);
	ASSERT(out->count > 0);
}
