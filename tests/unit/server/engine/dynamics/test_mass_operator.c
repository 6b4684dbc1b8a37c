/* The mass operator of free bodies and the row systems over it, compared with dense matrix products. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/rng.h"
#include "server/engine/dynamics/frame_rate.h"
#include "server/engine/dynamics/mass_blocks.h"
#include "server/engine/dynamics/row_system.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage.h"

enum { SLOTS = 8, ROWS = 14, NUMBERS = 6 * SLOTS, CASES = 150 };

static struct rng rng;
static struct mass_body bodies[SLOTS];
static struct mass_operator mass;
static bool with_blocks; /* forces hold some of the bodies back */
static struct mass_block held[SLOTS];
static const struct mass_block *held_of[SLOTS];
static struct mass_blocks blocks;
static double inverse[NUMBERS][NUMBERS]; /* M⁻¹ by its definition */
static struct constraint_row rows[ROWS];
static struct row_part parts[ROWS * ROW_PARTS_MAX];
static struct row_block block;
static struct row_list list;
static double j[ROWS][NUMBERS], expected[ROWS * ROWS], a[ROWS * ROWS];
static struct row_system row_system;
static void *memory;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
	with_blocks = false;
	struct row_system_sizes sizes = { ROWS, ROWS * ROW_PARTS_MAX, ROWS * ROW_PARTS_MAX };
	memory = aligned_alloc(64, row_system_bytes(sizes));
	ck_assert_ptr_nonnull(memory);
	memset(memory, 0xa5, row_system_bytes(sizes));
	row_system_init(&row_system, memory, sizes);
}

static void tear_down(void)
{
	free(memory);
}

/* Locks of each kind: none, all rotation, planar, all axes (animated), random. */
static uint32_t make_locks(uint32_t kind)
{
	switch (kind) {
	case 0:
		return 0;
	case 1:
		return MASS_LOCK_TURNING;
	case 2:
		return MASS_LOCK_PLANAR;
	case 3:
		return 63;
	default:
		return rng_below(&rng, 64);
	}
}

/* The inverse of M without the rows and columns of locked axes, by Gauss–Jordan elimination. Locked
 * entries of `out` are 0. */
static void invert_free(double m[6][6], uint32_t locks, double out[6][6])
{
	memset(out, 0, 36 * sizeof(double));
	uint32_t axes[6], n = 0;
	double work[6][12] = { { 0 } };
	for (uint32_t i = 0; i < 6; i++)
		if (!(locks >> i & 1))
			axes[n++] = i;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < n; k++)
			work[i][k] = m[axes[i]][axes[k]];
		work[i][6 + i] = 1;
	}
	for (uint32_t i = 0; i < n; i++) {
		double pivot = work[i][i];
		for (uint32_t k = 0; k < 12; k++)
			work[i][k] /= pivot;
		for (uint32_t r = 0; r < n; r++) {
			double factor = r == i ? 0 : work[r][i];
			for (uint32_t k = 0; k < 12; k++)
				work[r][k] -= factor * work[i][k];
		}
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++)
			out[axes[i]][axes[k]] = work[i][6 + k];
}

/* A random S = B Bᵀ, which has no negative part, of any rank. */
static void make_stiffness(double s[6][6])
{
	double b[6][6] = { { 0 } };
	uint32_t rank = rng_below(&rng, 7);
	for (uint32_t i = 0; i < 6; i++)
		for (uint32_t k = 0; k < rank; k++)
			b[i][k] = rng_range(&rng, -3, 3);
	for (uint32_t i = 0; i < 6; i++)
		for (uint32_t k = 0; k < 6; k++) {
			s[i][k] = 0;
			for (uint32_t n = 0; n < 6; n++)
				s[i][k] += b[i][n] * b[k][n];
		}
}

/* Blocks for some of the bodies; their M gets S. */
static void hold_back(uint32_t slot, double m[6][6])
{
	double s[6][6];
	held_of[slot] = NULL;
	if (!with_blocks || bodies[slot].locks == 63 || rng_below(&rng, 3) == 0)
		return;
	make_stiffness(s);
	struct mass_operator plain = mass_operator_free(bodies, SLOTS);
	memset(&held[slot], 0xa5, sizeof held[slot]);
	ck_assert(mass_block_make(&held[slot], &plain, slot, s));
	held_of[slot] = &held[slot];
	for (uint32_t i = 0; i < 6; i++)
		for (uint32_t k = 0; k < 6; k++)
			m[i][k] += s[i][k];
}

static void make_bodies(void)
{
	memset(inverse, 0, sizeof inverse);
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		uint32_t locks = make_locks(rng_below(&rng, 6));
		vec3 d = vec3_make(rng_range(&rng, 0.2, 2), rng_range(&rng, 0.2, 2),
				   rng_range(&rng, 0.2, 2));
		sym3 inertia = sym3_rotate(mat3_from_quat(random_rotation(&rng)), sym3_diagonal(d));
		sym3 inertia_inv;
		ck_assert(sym3_inverse(inertia, &inertia_inv));
		double kg = rng_range(&rng, 0.1, 10);
		quat rotation = random_rotation(&rng);
		bool scripted = locks == 63;
		bodies[slot] = mass_body_make(kg, scripted ? 0 : 1 / kg, inertia, inertia_inv,
					      rotation, scripted ? 0 : locks);
		double m[6][6] = { { 0 } }, inverted[6][6];
		mat3 world = mat3_rotate_tensor(mat3_from_quat(rotation), sym3_matrix(inertia));
		for (uint32_t i = 0; i < 3; i++) {
			m[i][i] = kg;
			for (uint32_t k = 0; k < 3; k++)
				m[3 + i][3 + k] = mat3_get(world, i, k);
		}
		hold_back(slot, m);
		invert_free(m, locks, inverted);
		for (uint32_t i = 0; i < 6; i++)
			for (uint32_t k = 0; k < 6; k++)
				inverse[6 * slot + i][6 * slot + k] = inverted[i][k];
	}
	mass = mass_operator_free(bodies, SLOTS);
	blocks = (struct mass_blocks){ mass, held_of };
	if (with_blocks)
		mass = mass_operator_blocks(&blocks);
}

static void make_rows(void)
{
	list = (struct row_list){ rows, &block, parts, 0, 0, 0, ROWS, 1, ROWS * ROW_PARTS_MAX };
	row_list_block(&list, 0, (struct row_key){ 0, 0, 0 });
	memset(j, 0, sizeof j);
	uint32_t count = rng_below(&rng, ROWS + 1);
	for (uint32_t i = 0; i < count; i++) {
		row_list_row(&list);
		uint32_t taken = 0, want = rng_below(&rng, ROW_PARTS_MAX + 1);
		for (uint32_t k = 0; k < want; k++) {
			uint32_t slot = rng_below(&rng, SLOTS);
			if (taken >> slot & 1)
				continue;
			taken |= 1u << slot;
			struct spatial on = { random_vector(&rng, 1), random_vector(&rng, 1) };
			row_list_part(&list, slot, on);
			for (uint32_t axis = 0; axis < 3; axis++) {
				j[i][6 * slot + axis] = vec3_get(on.linear, axis);
				j[i][6 * slot + 3 + axis] = vec3_get(on.angular, axis);
			}
		}
		row_list_part(&list, ROW_NO_BODY, spatial_about(vec3_axis(0)));
	}
	for (uint32_t r = 0; r < count; r++)
		for (uint32_t c = 0; c < count; c++) {
			double sum = 0;
			for (uint32_t i = 0; i < NUMBERS; i++)
				for (uint32_t k = 0; k < NUMBERS; k++)
					sum += j[r][i] * inverse[i][k] * j[c][k];
			expected[r * count + c] = sum;
		}
}

static void make_case(void)
{
	make_bodies();
	make_rows();
	row_system_make(&row_system, &mass, rows, list.row_count);
}

static void random_velocities(struct spatial velocities[SLOTS])
{
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		velocities[slot] =
			(struct spatial){ random_vector(&rng, 2), random_vector(&rng, 2) };
}

static double number_of(const struct spatial *values, uint32_t i)
{
	const struct spatial *value = &values[i / 6];
	return vec3_get(i % 6 < 3 ? value->linear : value->angular, i % 3);
}

START_TEST(the_dense_system_is_j_times_the_inverse_mass_times_j_transposed)
{
	with_blocks = _i != 0;
	for (uint32_t i = 0; i < CASES; i++) {
		make_case();
		uint32_t n = list.row_count;
		for (uint32_t k = 0; k < ROWS * ROWS; k++)
			a[k] = 1e300;
		row_system_dense(&row_system, a, ROWS);
		for (uint32_t r = 0; r < n; r++)
			for (uint32_t c = 0; c < n; c++) {
				ck_assert_double_eq_tol(a[r * ROWS + c], expected[r * n + c],
							1e-10);
				ck_assert_double_eq(a[r * ROWS + c], a[c * ROWS + r]);
			}
		for (uint32_t k = n; k < ROWS; k++)
			ck_assert_double_eq(a[k], 1e300);
	}
}
END_TEST

START_TEST(multipliers_change_velocities_by_the_inverse_mass)
{
	with_blocks = _i != 0;
	for (uint32_t i = 0; i < CASES; i++) {
		make_case();
		uint32_t n = list.row_count;
		struct spatial before[SLOTS], now[SLOTS], pushed[SLOTS], moved[SLOTS];
		double lambda[ROWS], u[ROWS], later[ROWS];
		random_velocities(before);
		memcpy(now, before, sizeof now);
		memset(pushed, 0, sizeof pushed);
		for (uint32_t r = 0; r < n; r++) {
			lambda[r] = r % 3 == 0 ? 0 : rng_range(&rng, -1, 1);
			jacobian_push(rows[r].j, lambda[r], pushed);
		}
		row_system_speeds(&row_system, before, u);
		row_system_apply(&row_system, lambda, now);
		row_system_speeds(&row_system, now, later);
		mass_accelerate(&mass, pushed, NULL, moved);
		for (uint32_t k = 0; k < NUMBERS; k++) {
			double change = 0;
			for (uint32_t r = 0; r < n; r++)
				for (uint32_t c = 0; c < NUMBERS; c++)
					change += inverse[k][c] * j[r][c] * lambda[r];
			ck_assert_double_eq_tol(number_of(now, k) - number_of(before, k), change,
						1e-10);
			ck_assert_double_eq_tol(number_of(moved, k), change, 1e-10);
		}
		for (uint32_t r = 0; r < n; r++) {
			double change = 0;
			for (uint32_t c = 0; c < n; c++)
				change += expected[r * n + c] * lambda[c];
			ck_assert_double_eq_tol(later[r] - u[r], change, 1e-9);
		}
	}
}
END_TEST

START_TEST(momentum_is_mass_times_velocity_and_infinite_mass_is_refused)
{
	with_blocks = _i != 0;
	for (uint32_t i = 0; i < CASES; i++) {
		make_bodies();
		struct spatial forces[SLOTS], velocities[SLOTS], momenta[SLOTS], again[SLOTS];
		random_velocities(forces);
		mass_accelerate(&mass, forces, NULL, velocities);
		ck_assert(mass_multiply(&mass, velocities, momenta));
		mass_accelerate(&mass, momenta, NULL, again);
		for (uint32_t k = 0; k < NUMBERS; k++)
			ck_assert_double_eq_tol(number_of(again, k), number_of(velocities, k),
						1e-10);
		for (uint32_t slot = 0; slot < SLOTS; slot++) {
			ck_assert_uint_eq(mass_moves(&mass, slot), bodies[slot].locks != 63);
			for (uint32_t axis = 0; axis < 6; axis++) {
				struct spatial kept = velocities[slot];
				struct spatial *v = &velocities[slot];
				vec3_set(axis < 3 ? &v->linear : &v->angular, axis % 3, 1);
				ck_assert_uint_eq(mass_multiply(&mass, velocities, momenta),
						  !(bodies[slot].locks >> axis & 1));
				*v = kept;
			}
		}
	}
}
END_TEST

START_TEST(a_body_without_torque_turns_by_eulers_equation)
{
	for (uint32_t i = 0; i < CASES; i++) {
		make_bodies();
		struct spatial forces[SLOTS], velocities[SLOTS], found[SLOTS], plain[SLOTS];
		random_velocities(forces);
		random_velocities(velocities);
		mass_accelerate(&mass, forces, velocities, found);
		mass_accelerate(&mass, forces, NULL, plain);
		for (uint32_t slot = 0; slot < SLOTS; slot++) {
			ck_assert(vec3_equal(found[slot].linear, plain[slot].linear));
			vec3 turned = frame_rate_gyroscopic(sym3_matrix(bodies[slot].inertia),
							    sym3_matrix(bodies[slot].inertia_inv),
							    velocities[slot].angular,
							    forces[slot].angular);
			ck_assert_double_le(vec3_distance(found[slot].angular, turned), 1e-12);
		}
	}
}
END_TEST

/* A = J M⁻¹ Jᵀ from J and M over coordinates equals the dense A of the rows, so the projection of
 * velocities and the complementarity problem solve the same system. */
START_TEST(coordinates_give_the_same_system_as_rows)
{
	with_blocks = _i != 0;
	static double m[NUMBERS * NUMBERS], value[ROWS * NUMBERS], storage[NUMBERS * NUMBERS];
	uint32_t start[ROWS + 1], column[ROWS * NUMBERS];
	for (uint32_t i = 0; i < CASES; i++) {
		make_case();
		uint32_t n = list.row_count, c = row_system.coordinates;
		uint32_t entries = row_system_jacobian(&row_system, start, NULL, NULL);
		ck_assert_uint_eq(row_system_jacobian(&row_system, start, column, value), entries);
		row_system_mass(&row_system, m);
		double solved[NUMBERS];
		for (uint32_t r = 0; r < n; r++) {
			memset(solved, 0, sizeof solved);
			for (uint32_t at = start[r]; at < start[r + 1]; at++) {
				ck_assert(at == start[r] || column[at - 1] < column[at]);
				solved[column[at]] = value[at];
			}
			/* Plain elimination without pivots: M is positive definite. */
			memcpy(storage, m, sizeof storage);
			for (uint32_t p = 0; p < c; p++)
				for (uint32_t q = p + 1; q < c; q++) {
					double factor = storage[q * c + p] / storage[p * c + p];
					for (uint32_t k = 0; k < c; k++)
						storage[q * c + k] -= factor * storage[p * c + k];
					solved[q] -= factor * solved[p];
				}
			for (uint32_t p = c; p-- > 0;) {
				for (uint32_t k = p + 1; k < c; k++)
					solved[p] -= storage[p * c + k] * solved[k];
				solved[p] /= storage[p * c + p];
			}
			for (uint32_t other = 0; other < n; other++) {
				double sum = 0;
				for (uint32_t at = start[other]; at < start[other + 1]; at++)
					sum += value[at] * solved[column[at]];
				ck_assert_double_eq_tol(sum, expected[r * n + other], 1e-9);
			}
		}
	}
}
END_TEST

/* A floor of infinite mass carries a hundred boxes with four rows each. A has 4 × 4 blocks only, and
 * the floor has no list of its rows. */
START_TEST(a_body_of_infinite_mass_couples_no_rows)
{
	enum { BOXES = 100, COUNT = 4 * BOXES };
	struct mass_body *many = calloc(BOXES + 1, sizeof *many);
	struct constraint_row *some = calloc(COUNT, sizeof *some);
	struct row_part *on = calloc(2 * COUNT, sizeof *on);
	struct row_system_sizes sizes = { COUNT, 2 * COUNT, 2 * COUNT };
	void *room = aligned_alloc(64, row_system_bytes(sizes));
	double *dense = calloc((size_t)COUNT * COUNT, sizeof *dense);
	ck_assert(many != NULL && some != NULL && on != NULL && room != NULL && dense != NULL);
	many[0] = mass_body_make(1, 0, sym3_zero(), sym3_zero(), quat_identity(), 0);
	for (uint32_t b = 1; b <= BOXES; b++)
		many[b] = mass_body_make(1, 1, sym3_diagonal(vec3_all(1)),
					 sym3_diagonal(vec3_all(1)), quat_identity(), 0);
	for (uint32_t r = 0; r < COUNT; r++) {
		on[2 * r] = (struct row_part){ 0, { vec3_axis(1), vec3_zero() } };
		on[2 * r + 1] =
			(struct row_part){ 1 + r / 4, { vec3_axis(1), random_vector(&rng, 1) } };
		some[r].j = (struct jacobian){ on + 2 * r, 2 };
	}
	struct mass_operator heavy = mass_operator_free(many, BOXES + 1);
	struct row_system system;
	struct row_system_sizes asked = row_system_sizes(&heavy, some, COUNT);
	ck_assert_uint_eq(asked.parts, sizes.parts);
	ck_assert_uint_eq(asked.room, sizes.room);
	row_system_init(&system, room, sizes);
	row_system_make(&system, &heavy, some, COUNT);
	ck_assert_uint_eq(system.incidences, COUNT);
	row_system_dense(&system, dense, COUNT);
	for (uint32_t r = 0; r < COUNT; r++)
		for (uint32_t c = 0; c < COUNT; c++)
			ck_assert((dense[r * COUNT + c] != 0) == (r / 4 == c / 4));
	ck_assert_uint_eq(system.coordinates, 6 * BOXES);
	free(many);
	free(some);
	free(on);
	free(room);
	free(dense);
}
END_TEST

/* Of any S, also one that drives away or is not symmetric, the block has what holds back: for every v,
 * v (M + S+) v is at least v M v and v (M + S) v. Of -M there is nothing. */
START_TEST(a_block_is_never_lighter_than_its_body)
{
	for (uint32_t i = 0; i < CASES; i++) {
		make_bodies();
		for (uint32_t slot = 0; slot < SLOTS; slot++) {
			uint32_t n = mass_coordinates(&mass, slot);
			double s[6][6], minus[6][6] = { { 0 } };
			for (uint32_t k = 0; k < 36; k++)
				s[k / 6][k % 6] = rng_range(&rng, -20, 20);
			struct mass_block some, none;
			if (n == 0)
				continue;
			ck_assert(mass_block_make(&some, &mass, slot, s));
			struct spatial v[SLOTS], p[SLOTS];
			memset(v, 0, sizeof v);
			for (uint32_t k = 0; k < n; k++)
				v[slot] = spatial_mul_add(v[slot], mass_axis(&mass, slot, k),
							  rng_range(&rng, -2, 2));
			ck_assert(mass_multiply(&mass, v, p));
			struct spatial with = mass_block_momentum(&some, &mass, slot, v[slot]);
			double bare = spatial_dot(v[slot], p[slot]);
			double all = spatial_dot(v[slot], with), asked = bare;
			for (uint32_t k = 0; k < 36; k++)
				asked += number_of(&v[slot], k / 6) * s[k / 6][k % 6] *
					 number_of(&v[slot], k % 6);
			ck_assert_double_ge(all, bare - 1e-10);
			ck_assert_double_ge(all, asked - 1e-10);
			struct spatial back = mass_block_velocity(&some, &mass, slot, with);
			for (uint32_t k = 0; k < 6; k++)
				ck_assert_double_eq_tol(number_of(&back, k), number_of(&v[slot], k),
							1e-10);
			for (uint32_t k = 0; k < 6; k++)
				minus[k][k] = -1;
			ck_assert(mass_block_make(&none, &mass, slot, minus));
			for (uint32_t k = 0; k < n * n; k++)
				ck_assert_double_eq_tol(none.matrix[k / n][k % n],
							mass_entry(&mass, slot, k / n, k % n),
							1e-12);
			for (uint32_t k = 0; k < 6; k++)
				s[k][k] = NAN;
			ck_assert(!mass_block_make(&some, &mass, slot, s));
		}
	}
}
END_TEST

/* Dynamic bodies, bodies of fixed rotation and animated bodies, in space and in a planar world. */
START_TEST(masses_are_read_from_the_tables_and_rotated)
{
	for (uint32_t planar = 0; planar < 2; planar++) {
		struct stage stage;
		stage_init(&stage, "soft-step");
		stage.tables.world.planar[0] = (uint8_t)planar;
		uint32_t shape = stage_shape(&stage, make_box(0.5, 0.25, 1)), three[3];
		quat turn = planar ? quat_from_rotation_vector(vec3_make(0, 0, 0.7))
				   : random_rotation(&rng);
		struct stage_body body = { BODY_DYNAMIC, shape, .rotation = turn };
		for (uint32_t i = 0; i < 3; i++) {
			body.position.x = 4 * i;
			body.status = i == 2 ? BODY_ANIMATED : BODY_DYNAMIC;
			three[i] = stage_add(&stage, body);
		}
		memset(stage.tables.body.inertia_inv[three[1]], 0, sizeof(double[6]));
		struct body_motion motions[3] = { { .rotation = turn },
						  { .rotation = turn },
						  { .rotation = turn } };
		struct mass_body read[3];
		mass_bodies_from_tables(&stage.tables, three, 3, motions, read);
		double kg = 1000 * 1 * 0.5 * 2;
		vec3 d = vec3_make(kg / 12 * (0.25 + 4), kg / 12 * (1 + 4), kg / 12 * (1 + 0.25));
		sym3 expect = planar ? sym3_diagonal(vec3_make(0, 0, d.z))
				     : sym3_rotate(mat3_from_quat(turn), sym3_diagonal(d));
		for (uint32_t i = 0; i < 9; i++) {
			double found = mat3_get(sym3_matrix(read[0].inertia), i / 3, i % 3);
			ck_assert_double_eq_tol(found, mat3_get(sym3_matrix(expect), i / 3, i % 3),
						1e-9 * kg);
		}
		ck_assert_double_eq_tol(read[0].mass_inv.x * kg, 1, 1e-12);
		ck_assert_double_eq_tol(read[0].mass_inv.z * kg, !planar, 1e-12);
		ck_assert_uint_eq(read[0].locks, planar ? MASS_LOCK_PLANAR : 0);
		ck_assert_uint_eq(read[1].locks, MASS_LOCK_TURNING | (planar ? MASS_LOCK_Z : 0u));
		ck_assert_double_gt(read[1].mass_inv.y, 0);
		ck_assert_uint_eq(read[2].locks, 63);
		ck_assert_double_eq(sym3_trace(read[1].inertia_inv), 0);
		stage_release(&stage);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("mass_operator");
	TCase *tests = tcase_create("masses and systems");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, the_dense_system_is_j_times_the_inverse_mass_times_j_transposed,
			    0, 2);
	tcase_add_loop_test(tests, multipliers_change_velocities_by_the_inverse_mass, 0, 2);
	tcase_add_loop_test(tests, momentum_is_mass_times_velocity_and_infinite_mass_is_refused, 0,
			    2);
	tcase_add_test(tests, a_body_without_torque_turns_by_eulers_equation);
	tcase_add_loop_test(tests, coordinates_give_the_same_system_as_rows, 0, 2);
	tcase_add_test(tests, a_body_of_infinite_mass_couples_no_rows);
	tcase_add_test(tests, a_block_is_never_lighter_than_its_body);
	tcase_add_test(tests, masses_are_read_from_the_tables_and_rotated);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
