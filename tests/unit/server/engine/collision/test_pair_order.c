/* Every query about two pieces in both orders: (b, a) with the inverted pose must give the result
 * of (a, b) seen from the other side. Covers all supported pairs of kinds at random poses. */
#include "server/base/rng.h"
#include "server/engine/collision/manifold.h"
#include "server/engine/collision/pairs.h"
#include "server/engine/collision/query.h"
#include "tests/lib/check_main.h"
#include "tests/lib/worlds.h"

enum { KINDS = TEST_POLYGON, ROUNDS = 400 };

static struct rng rng;

static struct piece piece_of(enum test_shape shape)
{
	struct piece piece = { test_shape(shape), 0 };
	if (shape == TEST_MESH)
		piece.child = rng_below(&rng, piece.shape->mesh->triangle_count);
	return piece;
}

static vec3 draw(double most)
{
	vec3 v;
	v.x = rng_range(&rng, -most, most);
	v.y = rng_range(&rng, -most, most);
	v.z = rng_range(&rng, -most, most);
	return v;
}

/* The approximate position of the piece: a triangle lies anywhere in its mesh. */
static vec3 middle(struct piece piece)
{
	if (piece.shape->kind != SHAPE_MESH)
		return vec3_zero();
	const uint32_t *corner = piece.shape->mesh->triangles[piece.child];
	vec3 sum = vec3_zero();
	for (int i = 0; i < 3; i++)
		sum = vec3_add(sum, piece.shape->mesh->vertices[corner[i]]);
	return vec3_scale(sum, 1.0 / 3);
}

static pose draw_pose(struct piece a, struct piece b)
{
	vec3 axis = draw(1);
	double w = rng_range(&rng, -1, 1);
	quat turn = quat_normalize(quat_make(w, axis.x, axis.y, axis.z));
	vec3 at = vec3_add(middle(a), draw(1.3));
	return pose_make(vec3_sub(at, quat_rotate(turn, middle(b))), turn);
}

static double deepest(const struct manifold *manifold)
{
	double least = 1e9;
	for (uint32_t k = 0; k < manifold->count; k++)
		least = scalar_min(least, manifold->points[k].separation);
	return least;
}

/* Of two faces of nearly equal separation either may be the reference; the separation differs by as
 * much. */
#define SLOP (2 * PAIR_SLOP_MAX)

START_TEST(a_manifold_is_the_same_in_both_orders)
{
	enum test_shape x = (enum test_shape)(_i / KINDS), y = (enum test_shape)(_i % KINDS);
	const double margin = 0.1;
	uint32_t met = 0, apart = 0;
	rng = rng_seeded(check_seed() + (uint64_t)_i);
	bool there = collide_supported(test_shape(x)->kind, test_shape(y)->kind);
	ck_assert_int_eq(there, collide_supported(test_shape(y)->kind, test_shape(x)->kind));
	for (uint32_t round = 0; there && round < ROUNDS; round++) {
		struct piece a = piece_of(x), b = piece_of(y);
		pose there_pose = draw_pose(a, b), back_pose = pose_inverse(there_pose);
		struct pair_cache cache = { 0 }, other = { 0 };
		struct manifold ab = { 0 }, ba = { 0 };
		collide_pieces(a, b, &there_pose, margin, &cache, &ab);
		collide_pieces(b, a, &back_pose, margin, &other, &ba);
		if (ab.count == 0 || ba.count == 0) {
			/* One order may find a contact just within the margin. */
			double found = scalar_min(deepest(&ab), deepest(&ba));
			ck_assert_double_gt(found, margin - SLOP);
			apart++;
			continue;
		}
		met++;
		ck_assert_double_eq_tol(deepest(&ab), deepest(&ba), SLOP);
		vec3 turned = quat_rotate(there_pose.rotation, ba.normal);
		if (deepest(&ab) > SLOP)
			ck_assert_double_gt(-vec3_dot(turned, ab.normal), 0.99);
	}
	/* A triangle collides on one side only, and most of its mesh is elsewhere. */
	bool mesh = x == TEST_MESH || y == TEST_MESH;
	ck_assert(!there || met > (mesh ? 2 : ROUNDS / 20));
	ck_assert(!there || met + apart == ROUNDS);
}
END_TEST

START_TEST(distance_and_overlap_are_the_same_in_both_orders)
{
	enum test_shape x = (enum test_shape)(_i / KINDS), y = (enum test_shape)(_i % KINDS);
	uint32_t over = 0, clear = 0;
	rng = rng_seeded(check_seed() + 100 + (uint64_t)_i);
	bool planes = x == TEST_PLANE || y == TEST_PLANE;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct piece a = piece_of(x), b = piece_of(y);
		pose there = draw_pose(a, b), back = pose_inverse(there);
		bool overlap = piece_overlap(a, b, &there);
		ck_assert_int_eq(overlap, piece_overlap(b, a, &back));
		over += overlap;
		if (planes)
			continue;
		struct piece_gap ab, ba;
		piece_distance(a, b, &there, &ab);
		piece_distance(b, a, &back, &ba);
		ck_assert_double_eq_tol(ab.distance, ba.distance, 1e-6);
		if (ab.distance < 1e-4)
			continue;
		clear++;
		ck_assert(!overlap);
		vec3 turned = quat_rotate(there.rotation, ba.normal);
		ck_assert_double_lt(vec3_distance(turned, vec3_negate(ab.normal)), 1e-3);
		/* The nearest points are `distance` apart along the normal. */
		vec3 way = vec3_sub(ab.point_b, ab.point_a);
		ck_assert_double_eq_tol(vec3_dot(way, ab.normal), ab.distance, 1e-6);
	}
	if (!planes && x != TEST_MESH && y != TEST_MESH) {
		ck_assert_uint_gt(over, 20);
		ck_assert_uint_gt(clear, 20);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/collision/pair_order");
	TCase *orders = tcase_create("orders");
	tcase_add_loop_test(orders, a_manifold_is_the_same_in_both_orders, 0, KINDS * KINDS);
	tcase_add_loop_test(orders, distance_and_overlap_are_the_same_in_both_orders, 0,
			    KINDS * KINDS);
	suite_add_tcase(suite, orders);
	return suite;
}

int main(void)
{
	return check_main(make);
}
