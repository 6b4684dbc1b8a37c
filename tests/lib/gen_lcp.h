/* gen_lcp.h: complementarity problems for tests and benchmarks of solvers: random families, and
 * contact problems from geometry (stacks, walls and towers of boxes with four contacts a face). */
#ifndef CAIRN_TESTS_GEN_LCP_H
#define CAIRN_TESTS_GEN_LCP_H

#include "server/base/rng.h"
#include "server/engine/solvers/lcp.h"

/* A problem with owned arrays: count ≤ capacity, stride = capacity. */
struct gen_lcp {
	struct lcp_problem problem;
	double *a, *b, *lower, *upper;
	uint32_t capacity;
};

enum gen_family {
	GEN_DEFINITE,	  /* A = G Gᵀ + 0.1, b normal */
	GEN_REDUNDANT,	  /* A = G Gᵀ of low rank, some rows twice, b in its column space */
	GEN_INTEGER,	  /* the same from small integers: exact ties everywhere */
	GEN_BOXED,	  /* definite or not, finite bounds on either or both sides */
	GEN_FREE,	  /* redundant, some rows without bounds */
	GEN_EMPTY,	  /* no rows, or no forces: zero matrices and right-hand sides */
	GEN_RATIO,	  /* masses 1 : 1e8 */
	GEN_INCONSISTENT, /* b at random: many have no solution */
	GEN_FAMILIES
};
const char *gen_family_name(enum gen_family family);

void gen_lcp_init(struct gen_lcp *self, uint32_t capacity);
void gen_lcp_release(struct gen_lcp *self);
/* At most `capacity` and `rows_max` rows. */
void gen_lcp_random(struct gen_lcp *self, enum gen_family family, struct rng *rng,
		    uint32_t rows_max);

/* Dense and redundant, as many rows as the capacity: A = G Gᵀ with `rank` columns, b = G u. */
void gen_lcp_dense(struct gen_lcp *self, struct rng *rng, uint32_t rank);

enum { GEN_GROUND = -1 };
/* One contact: its directions n, t, k as rows of J over two bodies (linear, angular). */
struct gen_contact {
	int32_t body[2]; /* the first is pushed along +n; GEN_GROUND: none */
	double row[3][2][6];
};
struct gen_scene {
	uint32_t bodies, contacts;
	double (*mass_inv)[6]; /* diagonal */
	double (*velocity)[6]; /* before */
	struct gen_contact *contact;
};
/* No contacts yet, all masses and velocities 0. */
struct gen_scene gen_scene_make(uint32_t bodies, uint32_t contacts_max);
void gen_scene_release(struct gen_scene *self);
/* Adds a contact at `point` with directions n, t, k (n towards the first body) between bodies with
 * these centres. */
void gen_scene_touch(struct gen_scene *self, const double point[3], const double axes[3][3],
		     int32_t first, const double *centre_first, int32_t second,
		     const double *centre_second);
/* k unit boxes on each other; the top one `ratio` times as heavy (1: a stack). */
struct gen_scene gen_tower(uint32_t k, double ratio);
/* k boxes on the ground, k − 1 over the gaps, … */
struct gen_scene gen_wall(uint32_t k);
/* The velocities after a 60th of a second of gravity, plus `noise` in every component. */
void gen_scene_fall(struct gen_scene *self, struct rng *rng, double noise);
/* A and b of `directions` rows a contact (1: normals; 3: n, t, k), contacts in the given order
 * (NULL: as stored). Capacity ≥ directions × contacts. */
void gen_scene_lcp(const struct gen_scene *self, uint32_t directions, const uint32_t *order,
		   struct gen_lcp *out);
/* Velocities after the impulses x, ordered as in gen_scene_lcp; `bodies` rows of 6. */
void gen_scene_velocities(const struct gen_scene *self, uint32_t directions, const uint32_t *order,
			  const double *x, double (*out)[6]);

#endif
