/* pile_matrix.h: the matrix of the Newton steps of `pile`: a block of 3 × 3 for each body of a group and each
 * two bodies that a link joins. Divided by √D on both sides, D a diagonal that the caller chooses, it is the
 * identity and something positive, which chol_panel.c factors in an order with little fill-in. Private to
 * `pile`. */
#ifndef CAIRN_ENGINE_METHODS_PILE_MATRIX_H
#define CAIRN_ENGINE_METHODS_PILE_MATRIX_H

#include "server/engine/linalg/chol_panel.h"
#include "server/engine/methods/pile_group.h"

/* A row or a term with its two bodies as indices in the group, PILE_STATIC for what does not move in it, and
 * the blocks of the factor. */
struct pile_link {
	uint32_t index; /* in the pile's rows or terms */
	uint32_t a, b;
	size_t aa, bb, ab;
};

struct pile_matrix {
	struct chol_panel factor; /* of the arena of the step */
	double *root;		  /* by columns: 1/√D; for the caller to fill in */
	/* The order of elimination, kept for later patterns of the group in the step, which hardly
	 * differ; the products of a factor when it was made, 0: it has not been made yet. */
	uint32_t *order;
	double products;
};

/* Allocates `root` and `order` for the group, of the step's memory. False: no memory. */
MUST_CHECK bool pile_matrix_begin(struct pile_matrix *self, struct pile_group *group);

/* Finds the pattern of the factor for the links, with memory of the step from the present mark on. The bodies
 * are ordered for the first pattern, and again where the order has become a bad one. NO_MEMORY. */
MUST_CHECK enum status pile_matrix_analyse(struct pile_matrix *self, struct pile_group *group,
					   const struct pile_link *links, uint32_t count);
/* The blocks of `count` links. Whether the pattern has all of them. */
bool pile_matrix_find(const struct pile_matrix *self, struct pile_link *links, uint32_t count);
/* Adds m, symmetric, to the diagonal blocks of the link's bodies, and −m to the one between. */
void pile_matrix_add(struct pile_matrix *self, const struct pile_link *link, mat3 m);
/* side := A⁻¹ side; of the factor. */
void pile_matrix_solve(struct pile_matrix *self, double *side);
/* What a round with the factor takes, of PILE_WORK. */
double pile_matrix_work(const struct pile_matrix *self);

#endif
