/* fuzz_pairs.c: any two pieces of the table of pairs in any pose, with any cache of an earlier
 * step, give a manifold of at most four points, finite, with a unit normal and no two equal
 * features.
 *
 * Input: u8 kind of a, u8 of b, u8 format of numbers (as in fuzz_convex.c), 8 bytes of cache, u8
 * margin in 1/100 m, place (3), rotation (4), three sizes of a, three of b. */
#include "server/engine/collision/manifold.h"

#include "server/engine/collision/query.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/lib/closed_meshes.h"
#include "tests/lib/shapes.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static double next_number(struct fuzz_input *in)
{
	if (!in->raw)
		return (double)(int8_t)fuzz_byte(in) / 8;
	double x = fuzz_double(in);
	return scalar_is_nan(x) ? 0 : scalar_clamp(x, -100, 100);
}

static vec3 next_vector(struct fuzz_input *in)
{
	double x = next_number(in), y = next_number(in);
	return vec3_make(x, y, next_number(in));
}

/* A size that cooking accepts. */
static double length_of(double x)
{
	return scalar_clamp(scalar_abs(x), 1e-3, 100);
}

static struct shape *hull_shape(vec3 size)
{
	/* Half an octahedron on a prism of five corners: triangles, squares and a pentagon. */
	static const double C[9][3] = { { 1, -1, 0 },	    { 0.25, -1, 1 },
					{ -0.75, -1, 0.5 }, { -0.75, -1, -0.5 },
					{ 0.25, -1, -1 },   { 0, 1, 0 },
					{ 1, 0.25, 0 },	    { -0.75, 0.25, 0.5 },
					{ 0.25, 0.25, -1 } };
	vec3 points[9];
	for (int k = 0; k < 9; k++)
		points[k] = vec3_hadamard(vec3_make(C[k][0], C[k][1], C[k][2]), size);
	return make_hull(points, 9);
}

static struct shape *polygon_shape(vec3 size)
{
	vec3 points[5] = { { -size.x, -size.y, 0 },
			   { size.x, -size.y, 0 },
			   { size.x, size.y / 2, 0 },
			   { 0, size.y, 0 },
			   { -size.x, size.y / 2, 0 } };
	return make_polygon(points, 5, size.z / 4);
}

/* Three shapes, cooked once: a ring, a block with a step, a rough ball. */
static struct shape *field_shape(uint32_t which)
{
	static struct shape *fields[3];
	struct rng rng = rng_seeded(1);
	if (fields[which] == NULL) {
		struct shape *mesh = which == 0	  ? make_torus(1, 0.25, 12, 8)
				     : which == 1 ? make_l()
						  : make_ball(1, 1, 0.3, &rng);
		fields[which] = make_field_solid(mesh->mesh, 16);
		shape_release(mesh);
	}
	return shape_retain(fields[which]);
}

/* Round shapes are refused as slivers from a ratio of 10⁴ on. */
static vec3 thickened(vec3 size)
{
	double least = vec3_max_component(size) / 5000;
	return vec3_max(size, vec3_all(least));
}

static struct shape *shape_of(uint8_t kind, vec3 numbers)
{
	vec3 size = vec3_make(length_of(numbers.x), length_of(numbers.y), length_of(numbers.z));
	vec3 thick = thickened(size);
	switch (SHAPE_SPHERE + kind % (SHAPE_KINDS - SHAPE_SPHERE)) {
	case SHAPE_SPHERE:
		return make_sphere(size.x);
	case SHAPE_CAPSULE:
		return make_capsule(size.x, size.y);
	case SHAPE_BOX:
		return make_box(size.x, size.y, size.z);
	case SHAPE_HULL:
		return hull_shape(size);
	case SHAPE_PLANE:
		return make_plane(vec3_axis(kind % 3), numbers.x);
	case SHAPE_MESH:
		return make_terrain(2, size.x, size.y, kind);
	case SHAPE_SOLID:
		return field_shape(kind / 16 % 3);
	case SHAPE_ROUNDED:
		return make_rounded_box(thick.x, thick.y, thick.z, thick.x / 4);
	case SHAPE_CYLINDER:
		return make_cylinder(thick.x, thick.y);
	case SHAPE_CONE:
		return make_cone(thick.x, thick.y);
	case SHAPE_ELLIPSOID:
		return make_ellipsoid(thick.x, thick.y, thick.z);
	default:
		return polygon_shape(size);
	}
}

static void check(const struct manifold *m, double margin)
{
	ASSERT(m->count <= MANIFOLD_POINTS_MAX);
	if (m->count == 0)
		return;
	ASSERT(scalar_abs(vec3_length(m->normal) - 1) < 1e-6);
	for (uint32_t k = 0; k < m->count; k++) {
		ASSERT(vec3_is_finite(m->points[k].point));
		ASSERT(m->points[k].separation <= margin + 1e-9);
		for (uint32_t n = 0; n < k; n++)
			ASSERT(m->points[k].feature != m->points[n].feature);
	}
}

/* As dynamics collides them; of two fields also the second's pieces, which give no contacts. */
static uint32_t pieces_of(const struct shape *shape, const struct shape *other)
{
	return shape_is_field(shape) && !shape_is_sided(shape, other) ? 1
								      : shape_piece_count(shape);
}

static void collide(const struct shape *a, const struct shape *b, const pose *at, double margin,
		    struct pair_cache cache)
{
	struct manifold m;
	uint32_t children_a = pieces_of(a, b), children_b = pieces_of(b, a);
	for (uint32_t i = 0; i < children_a; i++) {
		for (uint32_t j = 0; j < children_b; j++) {
			struct piece p = { a, i }, q = { b, j };
			struct pair_cache none = { 0 };
			collide_pieces(p, q, at, margin, &none, &m);
			check(&m, margin);
			collide_pieces(p, q, at, margin, &none, &m);
			check(&m, margin);
			collide_pieces(p, q, at, margin, &cache, &m);
			check(&m, margin);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz_input in = { data, bytes, false };
	uint8_t kind_a = fuzz_byte(&in), kind_b = fuzz_byte(&in), memory[8];
	struct pair_cache cache;
	in.raw = fuzz_byte(&in) != 0;
	for (size_t k = 0; k < sizeof memory; k++)
		memory[k] = fuzz_byte(&in);
	memcpy(&cache, memory, sizeof cache);
	double margin = fuzz_byte(&in) / 100.0;
	vec3 place = next_vector(&in);
	double w = next_number(&in);
	vec3 axis = next_vector(&in);
	quat turn = quat_make(w, axis.x, axis.y, axis.z);
	turn = w * w + vec3_dot(axis, axis) > 1e-12 ? quat_normalize(turn) : quat_identity();
	pose at = pose_make(place, turn);
	vec3 numbers = next_vector(&in);
	struct shape *a = shape_of(kind_a, numbers), *b = shape_of(kind_b, next_vector(&in));
	if (collide_supported(a->kind, b->kind))
		collide(a, b, &at, margin, cache);
	shape_release(a);
	shape_release(b);
	return 0;
}
