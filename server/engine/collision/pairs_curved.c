/* See pairs.h and curved_pair.h. Cylinders, cones, ellipsoids and rounded hulls against convex
 * pieces, planes and distance fields. (Triangles of meshes: pairs_mesh.c.)
 *
 * The axis is that of curved_axis.c. If a face of one piece has nearly this normal, and is as good
 * up to the slop, the corners that the other piece turns to it are clipped to the face and become
 * points: a cylinder stands on its end with four points and lies on its side with two. Two straight
 * lines of two surfaces that are nearly parallel give two points, the ends of what they share.
 * Otherwise there is one point, between the nearest ones.
 *
 * The least separation of a manifold is always that of the axis: points are moved along the normal
 * by the difference, which is less than the slop. So the separation of a pair is continuous while
 * features change.
 *
 * Against a field, a rounded hull is its core with a radius, a curved shape the hull of points of
 * its surface (shape.stand_in). */
#include "server/engine/collision/curved_pair.h"

/* A face counts as touched if the cosine of the angle to the axis is greater (2.6 degrees). */
#define LYING_COSINE 0.999
/* Two lines share two points if the square of the cosine between them is greater (3 degrees). */
#define PARALLEL_COSINE2 0.997
/* cos(π / CURVED_RIM) */
#define RIM_COSINE 0.98078528040323044

/* ---- points ---------------------------------------------------------------------------------- */

/* Points over a face of B (or of A), at core distances. */
struct over_face {
	const struct curved_pair *pair;
	bool by_b;
	vec3 normal;   /* unit, A → B */
	double offset; /* of the face along the normal */
};

static double core_gap(const struct over_face *self, vec3 p)
{
	double along = vec3_dot(self->normal, p);
	return self->by_b ? self->offset - along : along - self->offset;
}

/* A corner of the other piece as a point midway between the surfaces. */
static struct manifold_point face_point(const struct over_face *self, vec3 p, uint32_t feature)
{
	const struct curved_pair *pair = self->pair;
	double gap = core_gap(self, p), separation = gap - pair->radii;
	double from_a = pair->a.core.radius + 0.5 * separation;
	double along = self->by_b ? from_a : from_a - gap;
	return (struct manifold_point){ vec3_mul_add(p, self->normal, along), separation, feature };
}

/* Moves all points along the normal so that the deepest has this separation. */
static void set_deepest(struct manifold *out, double separation)
{
	double shift = separation - manifold_deepest(out);
	for (uint32_t k = 0; k < out->count; k++)
		out->points[k].separation += shift;
}

/* The sides that a face is clipped to. A disc is clipped to the polygon around it, so that a disc
 * that lies on a disc of its size keeps its corners, and with them its impulses; at the polygon's
 * corners a point may be 2 % of the radius outside of the rim. */
static uint32_t sides_of(const struct curved_face *face, struct clip_corner *out)
{
	uint32_t count = 0;
	for (uint32_t k = 0; k < face->count; k++) {
		if (face->rim && (face->corners[k].after & 0x1fff) == CURVED_RIM)
			continue;
		out[count] = face->corners[k];
		if (face->rim)
			out[count].point = vec3_mul_add(
				face->centre, vec3_sub(face->corners[k].point, face->centre),
				1 / RIM_COSINE);
		count++;
	}
	return count;
}

/* The other piece's corners over the face. Returns the least gap of the cores among them;
 * SCALAR_MAX: there is none. */
static double clip_to_face(const struct over_face *self, const struct curved_face *face,
			   struct curved_face *other, struct manifold *out)
{
	struct clip_corner room[CLIP_CORNERS_MAX], *from = other->corners, *to = room;
	struct manifold_point points[CLIP_CORNERS_MAX];
	const struct curved_pair *pair = self->pair;
	struct clip_corner border[CLIP_CORNERS_MAX];
	uint32_t count = other->count, kept = 0, sides = sides_of(face, border);
	double least = SCALAR_MAX;
	for (uint32_t k = 0; k < sides && count > 0; k++) {
		const struct clip_corner *a = &border[k], *b = &border[(k + 1) % sides];
		vec3 across = vec3_cross(vec3_sub(b->point, a->point), face->normal);
		vec3 outward = vec3_normalize(across);
		count = clip_polygon(from, count, outward, vec3_dot(outward, a->point),
				     PAIR_CLIP_SLOP * pair->slop, a->after, to);
		struct clip_corner *swap = from;
		from = to;
		to = swap;
	}
	for (uint32_t k = 0; k < count; k++) {
		uint32_t feature = feature_corner(from[k].before, from[k].after, self->by_b);
		struct manifold_point point = face_point(self, from[k].point, feature);
		least = scalar_min(least, core_gap(self, from[k].point));
		if (point.separation <= pair->margin)
			points[kept++] = point;
	}
	manifold_reduce(points, kept, self->normal, pair->slop, out);
	return least;
}

/* ---- kinds of contact ------------------------------------------------------------------------ */

static bool face_contact_of(const struct curved_pair *self, const struct curved_axis *axis,
			    bool by_b, struct curved_face *face, struct curved_face *other,
			    struct manifold *out)
{
	struct over_face over = { self, by_b, by_b ? vec3_negate(face->normal) : face->normal, 0 };
	over.offset = vec3_dot(over.normal, face->corners[0].point);
	double least = clip_to_face(&over, face, other, out);
	if (out->count == 0 || least > axis->separation + self->slop)
		return false;
	set_deepest(out, axis->separation - self->radii);
	return true;
}

/* Two points, if the lines a and b are nearly parallel and share more than a thousandth of a. */
static bool line_contact(const struct curved_pair *self, const struct curved_axis *axis,
			 const struct curved_face *a, const struct curved_face *b,
			 struct manifold *out)
{
	vec3 p = a->corners[0].point, q = b->corners[0].point, n = axis->normal;
	vec3 u = vec3_sub(a->corners[1].point, p), v = vec3_sub(b->corners[1].point, q);
	double uu = vec3_dot(u, u), vv = vec3_dot(v, v), uv = vec3_dot(u, v);
	if (!(uv * uv > PARALLEL_COSINE2 * uu * vv))
		return false;
	double first = -vec3_dot(vec3_sub(q, p), u) / uv, last = first + uu / uv;
	double t[2] = { scalar_clamp(first, 0, 1), scalar_clamp(last, 0, 1) };
	if (!(scalar_abs(t[1] - t[0]) * scalar_sqrt(vv) > 1e-3 * scalar_sqrt(uu)))
		return false;
	out->normal = n;
	out->count = 0;
	for (uint32_t k = 0; k < 2; k++) {
		vec3 on_b = vec3_mul_add(q, v, t[k]);
		vec3 on_a =
			vec3_mul_add(p, u, scalar_clamp(vec3_dot(vec3_sub(on_b, p), u) / uu, 0, 1));
		double separation = vec3_dot(vec3_sub(on_b, on_a), n) - self->radii;
		if (separation > self->margin)
			continue;
		vec3 surface = vec3_mul_add(on_a, n, self->a.core.radius);
		out->points[out->count++] =
			(struct manifold_point){ vec3_mul_add(surface, n, 0.5 * separation),
						 separation, feature_make(FEATURE_EDGES, k, 0) };
	}
	if (out->count < 2 || manifold_deepest(out) > axis->separation - self->radii + self->slop)
		return false;
	set_deepest(out, axis->separation - self->radii);
	return true;
}

/* Whether B's face is taken, of two that separate by of_a and of_b: the last one while it is within
 * the slop of the axis, or the normal would change with every tick while two faces lie on each
 * other; else the better. */
static bool prefers_b(const struct pair_cache *cache, double of_a, double of_b, double least)
{
	if (cache->kind == CACHE_FACE_A && of_a >= least)
		return false;
	return (cache->kind == CACHE_FACE_B && of_b >= least) || of_b >= of_a;
}

void curved_manifold(const struct curved_pair *self, const struct curved_axis *axis,
		     struct pair_cache *cache, struct manifold *out)
{
	struct curved_face a, b;
	vec3 n = axis->normal;
	curved_face_of(&self->a, false, n, &a);
	curved_face_of(&self->b, true, vec3_negate(n), &b);
	double least = axis->separation - self->slop, of_a = -SCALAR_MAX, of_b = -SCALAR_MAX;
	if (a.flat && vec3_dot(a.normal, n) > LYING_COSINE)
		of_a = curved_separation(self, a.normal);
	if (b.flat && -vec3_dot(b.normal, n) > LYING_COSINE)
		of_b = curved_separation(self, vec3_negate(b.normal));
	bool by_b = prefers_b(cache, of_a, of_b, least);
	cache_set(cache, by_b ? CACHE_FACE_B : CACHE_FACE_A, 0, 0);
	if ((by_b ? of_b : of_a) >= least &&
	    face_contact_of(self, axis, by_b, by_b ? &b : &a, by_b ? &a : &b, out))
		return;
	cache_set(cache, CACHE_NONE, 0, 0);
	if (a.count == 2 && b.count == 2 && line_contact(self, axis, &a, &b, out))
		return;
	vec3 surface = vec3_mul_add(axis->point_a, n, self->a.core.radius);
	manifold_one(out, n, surface, axis->separation - self->radii,
		     feature_make(FEATURE_NEAREST, 0, 0));
}

void curved_over_face(const struct curved_pair *self, vec3 normal, struct manifold *out)
{
	struct curved_face a, b;
	curved_face_of(&self->a, false, normal, &a);
	curved_face_of(&self->b, true, vec3_negate(normal), &b);
	ASSERT(b.flat);
	struct over_face over = { self, true, normal, vec3_dot(normal, b.corners[0].point) };
	double least = clip_to_face(&over, &b, &a, out);
	if (out->count > 0)
		set_deepest(out, least - self->radii);
}

/* ---- routines -------------------------------------------------------------------------------- */

void pair_curved(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	struct curved_pair self;
	struct curved_axis axis;
	out->count = 0;
	curved_pair_init(&self, pair);
	if (curved_axis_find(&self, &axis))
		curved_manifold(&self, &axis, cache, out);
	else
		cache_set(cache, CACHE_NONE, 0, 0);
}

/* All corners that face the plane, or all vertices of a core, within the margin. */
void pair_curved_plane(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	VALIDATE(pair->b->kind == SHAPE_PLANE);
	struct curved_side side = { .shape = pair->a, .at = { mat3_identity(), vec3_zero() } };
	struct manifold_point points[CLIP_CORNERS_MAX];
	struct curved_face face = { .count = 0 };
	uint32_t count = 0;
	UNUSED(cache);
	side.core = gjk_core_of(pair->a, 0, &side.room);
	vec3 normal = quat_rotate(pair->b_in_a.rotation, pair->b->plane.normal);
	double offset = pair->b->plane.offset + vec3_dot(normal, pair->b_in_a.position);
	double radius = side.core.radius, least = SCALAR_MAX;
	double slop = scalar_min(PAIR_SLOP_RELATIVE * pair->a->extent_min, PAIR_SLOP_MAX);
	if (side.core.hull == NULL)
		curved_face_of(&side, false, vec3_negate(normal), &face);
	uint32_t all = side.core.hull == NULL ? face.count : side.core.count;
	for (uint32_t k = 0; k < all; k++) {
		vec3 p = side.core.hull == NULL ? face.corners[k].point : side.core.points[k];
		uint32_t id = side.core.hull == NULL ? face.corners[k].after & 0x1fff : k;
		double separation = vec3_dot(normal, p) - offset - radius;
		least = scalar_min(least, separation);
		if (separation > pair->margin)
			continue;
		points[count++] =
			(struct manifold_point){ vec3_mul_sub(p, normal, radius + 0.5 * separation),
						 separation, feature_make(FEATURE_VERTEX, id, 0) };
	}
	manifold_reduce(points, count, vec3_negate(normal), slop, out);
	if (out->count > 0)
		set_deepest(out, least);
}

/* A field against a rounded or curved shape, by the hull that stands for it. */
void pair_field_curved(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	double radius = pair->b->kind == SHAPE_ROUNDED ? pair->b->rounded.radius : 0;
	struct pair hull = *pair;
	ASSERT(pair->b->stand_in != NULL);
	hull.b = pair->b->stand_in;
	hull.margin += radius;
	pair_field(&hull, cache, out);
	for (uint32_t k = 0; k < out->count; k++) {
		out->points[k].separation -= radius;
		out->points[k].point =
			vec3_mul_sub(out->points[k].point, out->normal, 0.5 * radius);
	}
}
