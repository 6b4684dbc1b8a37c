/* bench_closest: cost of a query about two bodies, for our algorithms, libccd and Bullet in one
 * run.
 *
 *   bench_closest [ROUNDS]
 *
 * A row is one pair of bodies and one query, along 16 paths of 64 poses of coherent motion (half a
 * degree and two millimetres from pose to pose). cold: no cache; warm: each query starts from the
 * result of the one before (libccd and the meshes have no cache). All methods are run in turn in
 * every round. A row prints the median of the rounds in ns a query with the quartiles, and the
 * greatest difference of the results from ours. libccd reports only whether two bodies are apart,
 * not how far. */
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/engine/collision/epa.h"
#include "server/engine/collision/hierarchy.h"
#include "server/engine/collision/vclip.h"
#include "server/engine/geometry/intersect_triangle_triangle.h"
#include "tests/bench/bench_closest.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PATHS = 16, STEPS = 64, POSES = PATHS * STEPS, ROUNDS_MAX = 101, METHODS_MAX = 8 };

static double now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

struct row {
	const char *name;
	const struct hull *a, *b;
	struct placing places[POSES];
	struct closest_pose poses[POSES];
	struct closest_shape of_a, of_b;
};

/* ---- ours ----------------------------------------------------------------------------------------- */

static struct vclip_features kept_features;
static struct gjk_simplex kept_simplex;
static struct pair_cache kept_axis;
static struct epa_workspace work;

static struct gjk_core core_of(const struct hull *hull)
{
	return (struct gjk_core){ hull->vertices, hull->vertex_count, hull, 0, NULL };
}

static double by_vclip(const struct row *row, uint32_t k, bool warm)
{
	struct vclip_result r;
	vclip_distance(row->a, row->b, &row->places[k], warm ? &kept_features : NULL, &r);
	kept_features = r.features;
	return r.distance;
}

static double by_gjk(const struct row *row, uint32_t k, bool warm)
{
	struct gjk_core a = core_of(row->a), b = core_of(row->b);
	struct gjk_result r;
	gjk_distance(&a, &b, &row->places[k].rotation, row->places[k].translation,
		     warm ? &kept_simplex : NULL, &r);
	kept_simplex = r.simplex;
	return r.distance;
}

static double by_sat(const struct row *row, uint32_t k, bool warm)
{
	struct pair_cache none = { 0 };
	struct sat_axis r;
	sat_greatest(row->a, row->b, &row->places[k], SCALAR_MAX, warm ? &kept_axis : &none, &r);
	if (!warm)
		kept_axis = none;
	return -r.separation;
}

static double by_sign(const struct row *row, uint32_t k, bool warm)
{
	struct gjk_core a = core_of(row->a), b = core_of(row->b);
	UNUSED(warm);
	return gjk_apart_by(&a, &b, &row->places[k].rotation, row->places[k].translation, 0, NULL);
}

static double by_cached_sign(const struct row *row, uint32_t k, bool warm)
{
	struct pair_cache none = { 0 };
	struct sat_axis r;
	sat_greatest(row->a, row->b, &row->places[k], 0, warm ? &kept_axis : &none, &r);
	return r.separation > 0;
}

static double by_epa(const struct row *row, uint32_t k, bool warm)
{
	struct gjk_core a = core_of(row->a), b = core_of(row->b);
	const struct placing *at = &row->places[k];
	struct gjk_result near;
	struct epa_result r;
	gjk_distance(&a, &b, &at->rotation, at->translation, warm ? &kept_simplex : NULL, &near);
	kept_simplex = near.simplex;
	if (!near.touching)
		return -near.distance;
	epa_depth(&a, &b, &at->rotation, at->translation, &near.simplex, &work, &r);
	return r.depth;
}

/* ---- rows ----------------------------------------------------------------------------------------- */

typedef double query(const struct row *row, uint32_t k, bool warm);
struct method {
	const char *name;
	query *own; /* or of another library */
	double (*peer)(void *pair, const struct closest_pose *at, bool warm);
	void *pair;
	double ns[2][ROUNDS_MAX], answers[POSES];
	bool is_boolean; /* yes or no: no number to compare */
	bool keeps_nothing;
};

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void run_once(struct method *method, const struct row *row, bool warm, uint32_t round)
{
	double start = now_ns();
	for (uint32_t k = 0; k < POSES; k++) {
		bool on = warm && k % STEPS != 0;
		method->answers[k] = method->own != NULL
					     ? method->own(row, k, on)
					     : method->peer(method->pair, &row->poses[k], on);
	}
	method->ns[warm][round] = (now_ns() - start) / POSES;
}

static void report(const struct row *row, struct method *methods, uint32_t count, uint32_t rounds)
{
	for (uint32_t round = 0; round < rounds; round++)
		for (int warm = 0; warm < 2; warm++)
			for (uint32_t m = 0; m < count; m++)
				run_once(&methods[m], row, warm, round);
	printf("%s\n", row->name);
	for (uint32_t m = 0; m < count; m++) {
		struct method *x = &methods[m];
		double off = 0;
		for (uint32_t k = 0; k < POSES; k++)
			off = scalar_max(off, scalar_abs(x->answers[k] - methods[0].answers[k]));
		for (int warm = 0; warm < 2; warm++)
			qsort(x->ns[warm], rounds, sizeof x->ns[0][0], by_size);
		printf("  %-14s cold %9.0f (%.0f…%.0f)  ", x->name, x->ns[0][rounds / 2],
		       x->ns[0][rounds / 4], x->ns[0][rounds * 3 / 4]);
		if (x->keeps_nothing)
			printf("warm %9s  ", "-");
		else
			printf("warm %9.0f (%.0f…%.0f)  ", x->ns[1][rounds / 2],
			       x->ns[1][rounds / 4], x->ns[1][rounds * 3 / 4]);
		if (x->is_boolean)
			printf("whether only\n");
		else
			printf("off by %.1e\n", off);
	}
	fflush(stdout);
}

static void set_pose(struct row *row, uint32_t k, const pose *at)
{
	quat q = at->rotation;
	row->places[k] = (struct placing){ mat3_from_quat(q), at->position };
	row->poses[k] = (struct closest_pose){ { at->position.x, at->position.y, at->position.z },
					       { q.w, q.x, q.y, q.z } };
}

/* Poses of b along paths around a, at a gap between near and far (negative: that much overlap). */
static void make_paths(struct row *row, struct rng *rng, double near, double far)
{
	struct gjk_core a = core_of(row->a), b = core_of(row->b);
	for (uint32_t path = 0; path < PATHS; path++) {
		vec3 direction = random_direction(rng), side = random_direction(rng);
		vec3 spin = vec3_scale(random_direction(rng), 0.5 * 0.5 * RADIANS_PER_DEGREE);
		quat turn = random_rotation(rng);
		double gap = rng_range(rng, near, far);
		for (uint32_t step = 0; step < STEPS; step++) {
			struct gjk_result r;
			turn = quat_normalize(quat_mul(quat_make(1, spin.x, spin.y, spin.z), turn));
			direction = vec3_normalize(vec3_mul_add(direction, side, 0.001));
			pose at = pose_make(vec3_scale(direction, 8), turn);
			mat3 m = mat3_from_quat(turn);
			/* Moves b along the line of centres until the gap is about right. */
			for (int n = 0; n < 20; n++) {
				gjk_distance(&a, &b, &m, at.position, NULL, &r);
				at.position = vec3_mul_sub(at.position, direction,
							   r.distance - scalar_max(gap, 1e-3));
			}
			if (gap < 0)
				at.position = vec3_mul_add(at.position, direction, gap);
			set_pose(row, path * STEPS + step, &at);
		}
	}
}

static unsigned climb(const void *of, const double direction[3])
{
	const struct hull *hull = of;
	struct gjk_core core = core_of(hull);
	return gjk_support(&core, vec3_make(direction[0], direction[1], direction[2]), 0);
}

static struct closest_shape shape_of(const struct shape *shape)
{
	struct closest_shape out = { { 0, 0, 0 },
				     &shape->hull->vertices[0].x,
				     (int)shape->hull->vertex_count,
				     climb,
				     shape->hull };
	if (shape->kind == SHAPE_BOX) {
		out.half[0] = shape->box.half.x;
		out.half[1] = shape->box.half.y;
		out.half[2] = shape->box.half.z;
	}
	return out;
}

static void add_peer(struct method *methods, uint32_t *count, const struct closest_peer *peer,
		     const struct row *row, bool depth)
{
	if (peer->name == NULL)
		return;
	struct method *method = &methods[(*count)++];
	*method = (struct method){ .name = peer->name, .peer = depth ? peer->depth : peer->apart };
	method->pair = peer->create(&row->of_a, &row->of_b);
	method->is_boolean = peer == &closest_ccd && !depth;
	method->keeps_nothing = peer == &closest_ccd;
}

static void bench_convex(const char *name, const struct shape *a, const struct shape *b, bool depth,
			 struct rng *rng, uint32_t rounds)
{
	static struct row row;
	static struct method methods[METHODS_MAX];
	char title[100];
	uint32_t own = 0, count;
	snprintf(title, sizeof title, "%s, %s", name,
		 depth ? "overlapping: depth" : "apart: distance");
	row = (struct row){
		.name = title, .a = a->hull, .b = b->hull, .of_a = shape_of(a), .of_b = shape_of(b)
	};
	make_paths(&row, rng, depth ? -0.1 : 0.02, depth ? -0.01 : 0.4);
	if (depth) {
		methods[own++] = (struct method){ .name = "ours, SAT", .own = by_sat };
		methods[own++] = (struct method){ .name = "ours, EPA", .own = by_epa };
	} else {
		methods[own++] = (struct method){ .name = "ours, V-Clip", .own = by_vclip };
		methods[own++] = (struct method){ .name = "ours, GJK", .own = by_gjk };
		methods[own++] = (struct method){ .name = "ours, GJK",
						  .own = by_sign,
						  .is_boolean = true,
						  .keeps_nothing = true };
		methods[own++] = (struct method){ .name = "ours, SAT",
						  .own = by_cached_sign,
						  .is_boolean = true };
	}
	count = own;
	add_peer(methods, &count, &closest_ccd, &row, depth);
	add_peer(methods, &count, &closest_bullet, &row, depth);
	report(&row, methods, count, rounds);
	for (uint32_t m = own; m < count; m++)
		(methods[m].is_boolean || methods[m].keeps_nothing ? closest_ccd : closest_bullet)
			.destroy(methods[m].pair);
}

static struct shape *round_hull(struct rng *rng, uint32_t count)
{
	vec3 points[256];
	for (uint32_t k = 0; k < count; k++)
		points[k] = vec3_scale(random_direction(rng), 0.6);
	return make_hull(points, count);
}

/* ---- meshes --------------------------------------------------------------------------------------- */

/* A bumpy ball: bands × 2 bands quads of two triangles on the grid of a torus, closed at the poles. */
struct ball_mesh {
	vec3 *vertices;
	uint32_t (*triangles)[3];
	uint32_t vertex_count, triangle_count;
	struct hierarchy tree;
};

static void ball_mesh_make(struct ball_mesh *self, struct rng *rng, uint32_t bands)
{
	uint32_t around = 2 * bands;
	self->vertices = heap_alloc((size_t)(bands + 1) * around * sizeof *self->vertices);
	self->triangles = heap_alloc((size_t)bands * around * 2 * sizeof *self->triangles);
	self->vertex_count = self->triangle_count = 0;
	for (uint32_t i = 0; i <= bands; i++) {
		quat tilt = quat_from_axis_angle(vec3_make(1, 0, 0), PI * i / bands);
		for (uint32_t j = 0; j < around; j++) {
			quat turn = quat_from_axis_angle(vec3_make(0, 1, 0), TWO_PI * j / around);
			vec3 p = quat_rotate(turn, quat_rotate(tilt, vec3_make(0, 1, 0)));
			double bump = 1 + (i > 0 && i < bands ? rng_range(rng, -0.03, 0.03) : 0);
			self->vertices[self->vertex_count++] = vec3_scale(p, bump);
		}
	}
	for (uint32_t i = 0; i < bands; i++) {
		for (uint32_t j = 0; j < around; j++) {
			uint32_t a = i * around + j, b = i * around + (j + 1) % around;
			uint32_t c = a + around, d = b + around;
			uint32_t corners[2][3] = { { a, c, d }, { a, d, b } };
			for (uint32_t k = 0; k < 2; k++)
				if (k == 0 ? i < bands - 1 : i > 0)
					memcpy(self->triangles[self->triangle_count++], corners[k],
					       sizeof corners[k]);
		}
	}
	struct hierarchy_source source = { self->vertices, (const uint32_t(*)[3])self->triangles,
					   NULL, self->triangle_count };
	if (hierarchy_build(&self->tree, HIERARCHY_OBB, &source) != STATUS_OK)
		abort();
}

static struct ball_mesh meshes[2];

static double by_trees(const struct row *row, uint32_t k, bool warm)
{
	const struct ball_mesh *a = &meshes[0], *b = &meshes[1];
	const struct closest_pose *at = &row->poses[k];
	const double *q4 = at->rotation;
	pose b_in_a = pose_make(row->places[k].translation, quat_make(q4[0], q4[1], q4[2], q4[3]));
	struct hierarchy_walk walk;
	struct triangle_cut cut;
	uint32_t i, j, count = 0;
	UNUSED(warm);
	hierarchy_walk_pair(&walk, &a->tree, &b->tree, &b_in_a);
	while (hierarchy_walk_next(&walk, &i, &j)) {
		vec3 p[3], q[3];
		for (int c = 0; c < 3; c++) {
			p[c] = a->vertices[a->triangles[i][c]];
			q[c] = placing_point(&row->places[k], b->vertices[b->triangles[j][c]]);
		}
		count += intersect_triangle_triangle(p, q, &cut);
	}
	return count;
}

static struct closest_surface surface_of(const struct ball_mesh *mesh)
{
	return (struct closest_surface){ &mesh->vertices[0].x, mesh->triangles[0],
					 (int)mesh->vertex_count, (int)mesh->triangle_count };
}

static void bench_meshes(uint32_t bands, struct rng *rng, uint32_t rounds)
{
	static struct row row;
	static struct method methods[METHODS_MAX];
	char title[100];
	uint32_t count = 0;
	for (int m = 0; m < 2; m++)
		ball_mesh_make(&meshes[m], rng, bands);
	snprintf(title, sizeof title, "mesh-mesh, %u triangles each: pairs that meet, and where",
		 meshes[0].triangle_count);
	row = (struct row){ .name = title };
	for (uint32_t k = 0; k < POSES; k++) {
		double r = rng_range(rng, 1.7, 1.95);
		vec3 direction = random_direction(rng);
		pose at = pose_make(vec3_scale(direction, r), random_rotation(rng));
		set_pose(&row, k, &at);
	}
	methods[count++] =
		(struct method){ .name = "ours, trees", .own = by_trees, .keeps_nothing = true };
	if (closest_bullet.name != NULL) {
		struct closest_surface a = surface_of(&meshes[0]), b = surface_of(&meshes[1]);
		methods[count++] = (struct method){ .name = "Bullet GImpact",
						    .peer = closest_bullet.meet,
						    .keeps_nothing = true,
						    .pair = closest_bullet.create_mesh(&a, &b) };
	}
	report(&row, methods, count, rounds);
	if (closest_bullet.name != NULL)
		closest_bullet.destroy_mesh(methods[1].pair);
	for (int m = 0; m < 2; m++) {
		hierarchy_release(&meshes[m].tree);
		heap_free(meshes[m].vertices);
		heap_free(meshes[m].triangles);
	}
}

int main(int count, char **arguments)
{
	uint32_t rounds = count > 1 ? (uint32_t)strtoul(arguments[1], NULL, 10) : 15;
	struct rng rng = rng_seeded(1);
	rounds = MIN_OF(MAX_OF(rounds, 1u), (uint32_t)ROUNDS_MAX);
	struct shape *box = make_box(0.5, 0.4, 0.6);
	struct shape *h32 = round_hull(&rng, 32);
	struct shape *h256 = round_hull(&rng, 256);
	for (int depth = 0; depth < 2; depth++) {
		bench_convex("box-box", box, box, depth, &rng, rounds);
		bench_convex("hull32-hull32", h32, h32, depth, &rng, rounds);
		bench_convex("hull256-hull256", h256, h256, depth, &rng, rounds);
	}
	bench_meshes(20, &rng, MIN_OF(rounds, 5u));
	shape_release(box);
	shape_release(h32);
	shape_release(h256);
	return 0;
}
