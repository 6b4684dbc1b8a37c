/* fuzz_convex.c: any two hulls in any pose. V-Clip, GJK, EPA and separating axes terminate, their
 * results prove themselves, and they agree.
 *
 * Input: u8 points of a (4 + n % 20), u8 of b, u8 format of coordinates (0: multiples of 1/8 in i8;
 * else doubles, clamped to 100 m); then the place of b (3), its rotation as w x y z (4), and the
 * points. Missing bytes are 0. Point clouds without a hull are skipped. */
#include "server/engine/geometry/hull.h"

#include "server/base/heap.h"
#include "server/engine/collision/epa.h"
#include "server/engine/collision/vclip.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/lib/oracle_convex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static double next_number(struct fuzz_input *in)
{
	if (!in->raw)
		return (double)(int8_t)fuzz_byte(in) / 8;
	double x = fuzz_double(in);
	if (scalar_is_nan(x) || scalar_abs(x) < 1e-60)
		return 0;
	return scalar_clamp(x, -100, 100);
}

static vec3 next_vector(struct fuzz_input *in)
{
	double x = next_number(in), y = next_number(in);
	return vec3_make(x, y, next_number(in));
}

static struct hull *next_hull(struct fuzz_input *in, uint32_t count)
{
	vec3 points[24];
	struct hull *hull = NULL;
	for (uint32_t k = 0; k < count; k++)
		points[k] = next_vector(in);
	return hull_of_points(points, count, &hull, NULL, NULL) == STATUS_OK ? hull : NULL;
}

struct answers {
	struct gjk_result gjk;
	struct vclip_result vclip;
	struct sat_axis axis, sign;
	struct epa_result epa;
	double allowed; /* m: allowed difference of two results, besides 1e-9 of the distance */
};

static void check_unit(vec3 normal)
{
	ASSERT(scalar_abs(vec3_length(normal) - 1) < 1e-9);
}

static void check_apart(const struct answers *x)
{
	double bound = x->allowed + 1e-9 * x->gjk.distance;
	ASSERT(x->gjk.lower <= x->gjk.distance && x->gjk.distance - x->gjk.lower <= bound);
	ASSERT(x->vclip.lower <= x->vclip.distance && x->vclip.distance - x->vclip.lower <= bound);
	ASSERT(scalar_abs(x->gjk.distance - x->vclip.distance) <= bound);
	ASSERT(x->axis.separation <= x->gjk.distance + bound);
	check_unit(x->gjk.normal);
	check_unit(x->vclip.normal);
	if (x->gjk.distance > x->allowed) {
		ASSERT(x->axis.separation > 0);
		ASSERT(x->sign.separation > 0);
	}
}

static void check_overlap(const struct answers *x)
{
	double bound = x->allowed + 1e-9 * x->epa.depth;
	ASSERT(x->epa.status == EPA_DONE || x->epa.status == EPA_OPEN);
	ASSERT(x->epa.lower >= 0 && x->epa.lower <= x->epa.depth);
	check_unit(x->epa.normal);
	ASSERT(-x->axis.separation <= x->epa.depth + bound);
	ASSERT(-x->axis.separation >= x->epa.lower - bound);
	if (x->epa.status == EPA_DONE)
		ASSERT(x->epa.depth - x->epa.lower <= bound);
}

static void compare_methods(const struct hull *a, const struct hull *b, const struct placing *at)
{
	static struct epa_workspace work;
	static struct oracle_hull wide_a, wide_b;
	struct answers x;
	struct pair_cache none = { 0 }, wild = { 2, { 0 }, 9, 7 };
	struct gjk_core core_a = { a->vertices, a->vertex_count, a, 0, NULL };
	struct gjk_core core_b = { b->vertices, b->vertex_count, b, 0, NULL };
	oracle_hull_make(&wide_a, a, NULL);
	oracle_hull_make(&wide_b, b, at);
	/* Faces merged from triangles are flat only to the hull's tolerance. In that case the
	 * normals of short edges also have fewer digits than the vertices. */
	x.allowed = 1e-12 * scalar_max(wide_a.extent, wide_b.extent) +
		    4 * (wide_a.bumps + wide_b.bumps);
	gjk_distance(&core_a, &core_b, &at->rotation, at->translation, NULL, &x.gjk);
	vclip_distance(a, b, at, NULL, &x.vclip);
	sat_greatest(a, b, at, SCALAR_MAX, &none, &x.axis);
	sat_greatest(a, b, at, 0, &wild, &x.sign);
	ASSERT(vec3_is_finite(x.gjk.point_a) && vec3_is_finite(x.gjk.point_b));
	ASSERT(vec3_is_finite(x.vclip.point_a) && vec3_is_finite(x.vclip.point_b));
	if (x.gjk.touching != x.vclip.touching)
		ASSERT(scalar_max(x.gjk.distance, x.vclip.distance) <= x.allowed);
	if (!x.gjk.touching && !x.vclip.touching)
		check_apart(&x);
	if (!x.gjk.touching)
		return;
	epa_depth(&core_a, &core_b, &at->rotation, at->translation, &x.gjk.simplex, &work, &x.epa);
	ASSERT(vec3_is_finite(x.epa.point_a) && vec3_is_finite(x.epa.point_b));
	check_overlap(&x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz_input in = { data, bytes, false };
	uint32_t count_a = 4 + fuzz_byte(&in) % 20, count_b = 4 + fuzz_byte(&in) % 20;
	in.raw = fuzz_byte(&in) != 0;
	vec3 place = next_vector(&in);
	double w = next_number(&in);
	vec3 axis = next_vector(&in);
	quat turn = quat_make(w, axis.x, axis.y, axis.z);
	double size = w * w + vec3_dot(axis, axis);
	turn = size > 1e-12 ? quat_normalize(turn) : quat_identity();
	struct hull *a = next_hull(&in, count_a), *b = a == NULL ? NULL : next_hull(&in, count_b);
	if (b != NULL) {
		struct placing at = { mat3_from_quat(turn), place };
		compare_methods(a, b, &at);
		compare_methods(a, a, &at);
	}
	heap_free(b);
	heap_free(a);
	return 0;
}
