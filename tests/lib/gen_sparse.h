/* gen_sparse.h: complementarity problems over bodies for tests and benchmarks of the sparse
 * solvers: scenes of boxes, walls of bricks in running bond, and the random families of gen_lcp.h
 * as rows over bodies. */
#ifndef CAIRN_TESTS_GEN_SPARSE_H
#define CAIRN_TESTS_GEN_SPARSE_H

#include "server/engine/solvers/lcp_friction_sparse.h"
#include "tests/lib/gen_lcp.h"

/* The first `bricks` of a wall in running bond, with `wide` in the lower course and one fewer in
 * every other course. Bricks 2 × 1 × 1 touch those below, above and beside them, at `points` (2: a
 * plane wall whose bricks move in their plane only; 4: corners) a face. `tilt`: the wall and
 * gravity are rotated by this angle, rad, about x and z, so that no direction is an axis. */
struct gen_scene gen_bond_wall(uint32_t bricks, uint32_t wide, uint32_t points, double tilt);

/* The arrays are owned. */
struct gen_sparse {
	struct lcp_sparse_problem problem;
	uint32_t *start, *body;
	double (*jacobian)[LCP_BODY], (*mass_inv)[LCP_BODY][LCP_BODY];
	double *b, *lower, *upper, *compliance;
};
/* `directions` rows a contact (1: normals; 3: n, t, k), unbounded above. */
struct gen_sparse gen_scene_sparse(const struct gen_scene *self, uint32_t directions);
void gen_sparse_release(struct gen_sparse *self);
/* The rows of `self` as contacts with friction: n, t, k a contact, all static with μ. `kind` and
 * `friction`: one entry a row each. */
struct friction_sparse_problem gen_sparse_rough(const struct gen_sparse *self, double mu,
						uint8_t *kind, double *friction);
/* The energy that impulses add: ½ xᵀA x + bᵀx, for v = M⁻¹ Jᵀ x. */
double gen_sparse_energy(const struct friction_sparse_problem *problem, const double *x,
			 const double (*v)[LCP_BODY]);
/* 1 … `bodies` falling bodies of unit mass and random spin, 1 … `contacts` contacts among them and
 * the ground, at random points along the axes. */
struct gen_scene gen_random_contacts(struct rng *rng, uint32_t bodies, uint32_t contacts);

enum gen_sparse_family {
	GEN_SPARSE_DEFINITE,   /* compliance in every row */
	GEN_SPARSE_REDUNDANT,  /* many rows on few bodies, some twice */
	GEN_SPARSE_INTEGER,    /* the same from small integers: exact ties everywhere */
	GEN_SPARSE_BOXED,      /* finite bounds on either or both sides, given impulses */
	GEN_SPARSE_JOINTS,     /* some rows without bounds, five or six to a pair of bodies */
	GEN_SPARSE_RATIO,      /* masses 1 : 1e8 */
	GEN_SPARSE_NEAR,       /* rows 1e-4 to 1e-10 apart */
	GEN_SPARSE_MANY,       /* rows that act on up to five bodies */
	GEN_SPARSE_EMPTY,      /* no rows, no bodies, rows on nothing, bodies that do not move */
	GEN_SPARSE_ANY,	       /* b at random: many have no solution */
	GEN_SPARSE_INFEASIBLE, /* opposed rows that balance: no solution */
	GEN_SPARSE_FAMILIES
};
const char *gen_sparse_family_name(enum gen_sparse_family family);
/* At most `rows_max` (≤ 64) rows. All but the last two families have a solution with velocities of
 * the size of b, unless `b` of a row on nothing excludes it. */
struct gen_sparse gen_sparse_random(enum gen_sparse_family family, struct rng *rng,
				    uint32_t rows_max);

/* The residual of x and v as the solver defines it, computed with twice the digits. */
double gen_sparse_residual(const struct lcp_sparse_problem *problem, const double *x,
			   const double (*v)[LCP_BODY]);
/* The residual of x and v for Coulomb's conditions, computed with twice the digits: as
 * gen_sparse_residual with the bounds ±μ x_n of the given x_n. */
double gen_friction_residual(const struct friction_sparse_problem *problem, const double *x,
			     const double (*v)[LCP_BODY]);
/* Whether z proves that no solution exists, as lcp_sparse.h defines it, with twice the digits. */
bool gen_sparse_proves(const struct lcp_sparse_problem *problem, const double *z);

/* An ordered solver large enough for a problem. Memory owned. */
struct gen_solver {
	struct lcp_sparse solver;
	void *memory;
};
void gen_solver_init(struct gen_solver *self, const struct lcp_sparse_problem *problem);
void gen_solver_release(struct gen_solver *self);

#endif
