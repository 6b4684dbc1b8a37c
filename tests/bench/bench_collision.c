/* bench_collision: cost of one narrow-phase query, in nanoseconds.
 *
 * cold: an empty cache each time. warm: the cache of the step before, with the pose changed by a
 * tenth of a millimetre. apart: beyond the margin, warm. Each figure is the least of several rounds
 * over a batch of different poses, so that branch predictors cannot learn one pose. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/base/array.h"
#include "server/base/rng.h"
#include "server/engine/collision/broad_phase.h"
#include "server/engine/collision/gjk.h"
#include "server/engine/collision/manifold.h"
#include "server/engine/collision/pairs.h"
#include "tests/lib/closed_meshes.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

enum { POSES = 256, REPEATS = 40, ROUNDS = 5 };

static double now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

struct batch {
	const char *name;
	const struct shape *a, *b;
	pose poses[POSES];
	struct pair_cache caches[POSES];
};

static double run(struct batch *batch, bool cold, uint32_t *points)
{
	double best = 1e30;
	for (int round = 0; round < ROUNDS; round++) {
		double start = now_ns();
		*points = 0;
		for (int repeat = 0; repeat < REPEATS; repeat++) {
			for (int k = 0; k < POSES; k++) {
				struct manifold manifold;
				struct pair_cache none = { 0 };
				/* Every other time the same pose, with a slightly different one
				 * between. */
				pose at = batch->poses[k];
				at.position.x += repeat & 1 ? 1e-4 : 0;
				collide_pieces((struct piece){ batch->a, 0 },
					       (struct piece){ batch->b, 0 }, &at, 0.02,
					       cold ? &none : &batch->caches[k], &manifold);
				*points += manifold.count;
			}
		}
		double ns = (now_ns() - start) / (REPEATS * POSES);
		best = ns < best ? ns : best;
	}
	return best;
}

static void report(struct batch *batch)
{
	uint32_t points;
	double cold = run(batch, true, &points);
	memset(batch->caches, 0, sizeof batch->caches);
	run(batch, false, &points);
	double warm = run(batch, false, &points);
	printf("%-34s cold %7.0f ns  warm %7.0f ns  %.2f points\n", batch->name, cold, warm,
	       (double)points / (REPEATS * POSES));
}

/* b on top of a, slightly tilted and shifted. */
static void place_on_top(struct batch *batch, struct rng *rng, double height, double shift,
			 double tilt)
{
	for (int k = 0; k < POSES; k++) {
		vec3 at = random_vector(rng, shift), r = random_vector(rng, tilt);
		at.y = height + at.y * 1e-3;
		batch->poses[k] = pose_make(at, quat_normalize(quat_make(1, r.x, r.y, r.z)));
	}
	report(batch);
}

/* Any rotation, with centres at a distance between near and far. */
static void place_anywhere(struct batch *batch, struct rng *rng, double near, double far)
{
	for (int k = 0; k < POSES; k++) {
		vec3 direction = vec3_normalize(random_vector(rng, 1));
		vec3 place = vec3_scale(direction, rng_range(rng, near, far));
		batch->poses[k] = pose_make(place, random_rotation(rng));
	}
	report(batch);
}

/* Any rotation, moved together until they overlap by a millimetre, as bodies at rest do. */
static void settle(struct batch *batch, struct rng *rng)
{
	for (int k = 0; k < POSES; k++) {
		vec3 direction = vec3_normalize(random_vector(rng, 1));
		batch->poses[k] = pose_make(vec3_scale(direction, 5), random_rotation(rng));
		struct pair pair = { batch->a, batch->b, 0, 0, batch->poses[k], 0.02 };
		struct gjk_result near;
		gjk_shapes(&pair, &near);
		batch->poses[k].position =
			vec3_mul_sub(batch->poses[k].position, near.normal, near.distance + 1e-3);
	}
	report(batch);
}

static struct shape *round_hull(struct rng *rng, uint32_t count)
{
	vec3 points[256];
	for (uint32_t k = 0; k < count; k++)
		points[k] = vec3_scale(vec3_normalize(random_vector(rng, 1)), 0.6);
	return make_hull(points, count);
}

static void bench_pairs(struct rng *rng)
{
	struct shape *box = make_box(0.5, 0.5, 0.5), *sphere = make_sphere(0.5);
	struct shape *capsule = make_capsule(0.5, 0.25), *ground = make_terrain(1, 20, 0, 1);
	struct shape *small = round_hull(rng, 16), *middle = round_hull(rng, 48);
	struct shape *large = round_hull(rng, 200), *plane = make_plane(vec3_make(0, 1, 0), 0);
	static struct batch b;
#define BATCH(text, one, other) b = (struct batch){ .name = text, .a = one, .b = other }
	BATCH("sphere-sphere touching", sphere, sphere);
	place_anywhere(&b, rng, 0.95, 1.0);
	BATCH("sphere-sphere apart", sphere, sphere);
	place_anywhere(&b, rng, 1.1, 1.5);
	BATCH("box-box stacked", box, box);
	place_on_top(&b, rng, 1.0, 0.0, 1e-4);
	BATCH("box-box half over (pyramid)", box, box);
	place_on_top(&b, rng, 1.0, 0.4, 1e-4);
	BATCH("box-box tilted", box, box);
	place_on_top(&b, rng, 1.0, 0.4, 0.1);
	BATCH("box-box any rotation", box, box);
	place_anywhere(&b, rng, 0.9, 1.2);
	BATCH("box-box apart", box, box);
	place_anywhere(&b, rng, 1.3, 1.6);
	BATCH("sphere-box", sphere, box);
	place_anywhere(&b, rng, 0.9, 1.2);
	BATCH("box-capsule", box, capsule);
	place_anywhere(&b, rng, 0.6, 1.0);
	BATCH("capsule-capsule", capsule, capsule);
	place_anywhere(&b, rng, 0.4, 0.9);
	BATCH("sphere-hull48", sphere, middle);
	place_anywhere(&b, rng, 0.95, 1.1);
	BATCH("box-box diagonal, gap 18 mm", box, box);
	for (int k = 0; k < POSES; k++)
		b.poses[k] = pose_make(vec3_make(1.018, 1.018, rng_range(rng, -0.01, 0.01)),
				       quat_identity());
	report(&b);
	BATCH("box-box diagonal, gap 5 mm", box, box);
	for (int k = 0; k < POSES; k++)
		b.poses[k] = pose_make(vec3_make(1.005, 1.005, rng_range(rng, -0.01, 0.01)),
				       quat_identity());
	report(&b);
	BATCH("box-box settled", box, box);
	settle(&b, rng);
	BATCH("hull16-hull16 settled", small, small);
	settle(&b, rng);
	BATCH("hull16-hull16 deep", small, small);
	place_anywhere(&b, rng, 0.9, 1.15);
	BATCH("hull48-hull48 settled", middle, middle);
	settle(&b, rng);
	BATCH("hull48-hull48 deep", middle, middle);
	place_anywhere(&b, rng, 1.0, 1.2);
	BATCH("hull48-hull48 apart", middle, middle);
	place_anywhere(&b, rng, 1.25, 1.5);
	BATCH("hull200-hull200 settled", large, large);
	settle(&b, rng);
	BATCH("hull200-hull200 deep", large, large);
	place_anywhere(&b, rng, 1.1, 1.2);
	BATCH("box-hull48 settled", box, middle);
	settle(&b, rng);
	BATCH("box-plane", box, plane);
	place_on_top(&b, rng, -0.5, 0.0, 1e-3);
	BATCH("sphere-mesh triangle", sphere, ground);
	place_on_top(&b, rng, -0.5, 0.2, 1e-3);
	BATCH("box-mesh triangle", box, ground);
	place_on_top(&b, rng, -0.5, 0.2, 1e-3);
	BATCH("hull48-mesh triangle", middle, ground);
	place_on_top(&b, rng, -0.55, 0.2, 1e-3);
}

static void bench_broad(struct rng *rng)
{
	enum { SIDE = 20, COUNT = SIDE * SIDE * SIDE };
	struct broad_phase *broad;
	struct proxy_pairs pairs = { 0 };
	static struct aabb boxes[COUNT];
	if (broad_phase_create(BROAD_PHASE_TREE, &broad) != STATUS_OK ||
	    broad_phase_reserve(broad, COUNT) != STATUS_OK)
		return;
	for (uint32_t i = 0; i < COUNT; i++) {
		vec3 at = vec3_make(i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE);
		boxes[i] = aabb_of_centre(at, vec3_all(0.52));
	}
	double start = now_ns();
	for (uint32_t i = 0; i < COUNT; i++)
		broad_phase_add(broad, i, &boxes[i], 0);
	double added = now_ns();
	if (broad_phase_pairs(broad, &parallel_serial, NULL, NULL, UINT32_MAX, &pairs) != STATUS_OK)
		return;
	double paired = now_ns();
	broad_phase_settle(broad);
	for (uint32_t i = 0; i < COUNT; i++) {
		vec3 by = random_vector(rng, 0.05);
		boxes[i] = aabb_make(vec3_add(boxes[i].min, by), vec3_add(boxes[i].max, by));
	}
	double settled = now_ns();
	for (uint32_t i = 0; i < COUNT; i++)
		broad_phase_move(broad, i, &boxes[i]);
	double moved = now_ns();
	printf("broad phase, %d boxes: add %.0f ns, move %.0f ns, pairs %.0f ns a proxy (%u pairs)\n",
	       COUNT, (added - start) / COUNT, (moved - settled) / COUNT, (paired - added) / COUNT,
	       pairs.count);
	ARRAY_RELEASE(&pairs);
	broad_phase_destroy(broad);
}

/* ---- whole solids ------------------------------------------------------------------------------ */

struct whole {
	const char *name;
	const struct shape *a, *b;
};

/* All pieces of a near b, in the order of dynamics; counts[]: manifolds and points. */
static void whole_pair(const struct whole *pair, const pose *at, uint32_t counts[2])
{
	struct aabb box = aabb_grow(shape_aabb(pair->b, at), 0.05);
	bool one = shape_is_field(pair->a) && !shape_is_sided(pair->a, pair->b);
	uint32_t others = shape_is_field(pair->b) ? 1 : shape_piece_count(pair->b);
	for (uint32_t i = 0; i < (one ? 1 : shape_piece_count(pair->a)); i++) {
		if (!one && !aabb_overlaps(shape_piece_aabb(pair->a, i), box))
			continue;
		for (uint32_t k = 0; k < others; k++) {
			struct manifold manifold;
			struct pair_cache none = { 0 };
			collide_pieces((struct piece){ pair->a, i }, (struct piece){ pair->b, k },
				       at, 0.05, &none, &manifold);
			counts[0] += manifold.count > 0;
			counts[1] += manifold.count;
		}
	}
}

static void report_whole(const struct whole *pair, const pose *poses)
{
	double best = 1e30;
	uint32_t counts[2] = { 0, 0 };
	for (int round = 0; round < ROUNDS; round++) {
		double start = now_ns();
		counts[0] = counts[1] = 0;
		for (int k = 0; k < POSES; k++)
			whole_pair(pair, &poses[k], counts);
		double took = (now_ns() - start) / POSES;
		best = took < best ? took : best;
	}
	printf("%-26s %9.2f us %8.2f manifolds %8.2f points\n", pair->name, best / 1000,
	       (double)counts[0] / POSES, (double)counts[1] / POSES);
}

/* One torus as field, parts and hull, touching other bodies at the same places. */
static void bench_whole(struct rng *rng)
{
	struct shape *mesh = make_torus(1, 0.25, 48, 24);
	struct shape *forms[3] = { make_field_solid(mesh->mesh, 64),
				   make_parts_solid(mesh->mesh, 512),
				   make_hull(mesh->mesh->vertices, mesh->mesh->vertex_count) };
	struct shape *others[4] = { make_sphere(0.3), make_box(0.2, 0.3, 0.4),
				    make_plane(vec3_make(0, 1, 0), 0), NULL };
	static const char *const FORMS[3] = { "field", "parts", "hull" };
	static const char *const OTHERS[4] = { "sphere", "box", "plane", "itself" };
	pose poses[POSES];
	printf("\nwhole pairs in touch: a torus as a field of 64 cells, as %u parts, as its hull\n",
	       shape_piece_count(forms[1]));
	for (int o = 0; o < 4; o++) {
		for (int k = 0; k < POSES;) {
			poses[k] = (pose){ random_vector(rng, 1.6), random_rotation(rng) };
			const struct shape *other = others[o] != NULL ? others[o] : forms[0];
			struct whole probe = { "", forms[0], other };
			uint32_t counts[2] = { 0, 0 };
			if (o == 2) /* the plane just below */
				poses[k].position = vec3_mul_add(
					vec3_zero(), quat_rotate(poses[k].rotation, vec3_axis(1)),
					-shape_aabb(forms[0],
						    &(pose){ vec3_zero(),
							     quat_conjugate(poses[k].rotation) })
						 .max.y);
			whole_pair(&probe, &poses[k], counts);
			k += counts[0] > 0;
		}
		for (int f = 0; f < 3; f++) {
			char name[64];
			snprintf(name, sizeof name, "%s - %s", FORMS[f], OTHERS[o]);
			struct whole pair = { name, forms[f],
					      others[o] != NULL ? others[o] : forms[f] };
			report_whole(&pair, poses);
		}
	}
	for (int k = 0; k < 3; k++) {
		shape_release(forms[k]);
		shape_release(others[k]);
	}
	shape_release(mesh);
}

int main(void)
{
	struct rng rng = rng_seeded(1);
	bench_pairs(&rng);
	bench_broad(&rng);
	bench_whole(&rng);
	return 0;
}
