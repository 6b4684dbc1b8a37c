/* row_system.h: a list of rows over a mass operator, as solvers read it: u = J v, A = J M⁻¹ Jᵀ
 * dense, J and M over coordinates. Solvers of large islands take rows and bodies as they are and never see A.
 *
 * Two rows meet in A where they share a group that moves. The rows of each group stand in a list,
 * so that all of A costs as much as it has entries; bodies that nothing moves (a floor under a
 * thousand boxes) join none. Solvers see arrays only: they know neither bodies nor masses.
 *
 * The workspace is carved from the caller's memory for a largest list; nothing allocates. Rows and operator
 * are borrowed until the next make.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_ROW_SYSTEM_H
#define CAIRN_ENGINE_DYNAMICS_ROW_SYSTEM_H

#include "server/engine/dynamics/mass_operator.h"

struct row_system_sizes {
	uint32_t rows, parts; /* of the list */
	uint32_t room;	      /* mass_room summed over the rows; of free bodies: parts */
};

struct row_system {
	struct row_system_sizes sizes;
	const struct mass_operator *mass;
	const struct constraint_row *rows;
	uint32_t count;
	struct mass_response *responses; /* of each row */
	struct spatial *room;
	uint64_t *group, *scratch_group; /* of each incidence of a row with a group, ascending */
	uint32_t *row, *scratch_row;	 /* the rows, ascending within a group */
	uint32_t incidences;
	uint32_t (*list)[ROW_PARTS_MAX]; /* of each row: where the lists of its groups begin */
	uint32_t *list_end;		 /* where the list ends that begins here */
	uint32_t *groups, *first; /* that move, ascending; their first coordinates, one more */
	uint32_t group_count, coordinates;
};

size_t row_system_bytes(struct row_system_sizes sizes);
/* `memory` is aligned to 64 and borrowed. */
void row_system_init(struct row_system *self, void *memory, struct row_system_sizes sizes);

/* Takes rows 0 … count−1: their responses, and who meets whom. */
void row_system_make(struct row_system *self, const struct mass_operator *mass,
		     const struct constraint_row *rows, uint32_t count);
/* As from a list that was filled. */
struct row_system_sizes row_system_sizes(const struct mass_operator *mass,
					 const struct constraint_row *rows, uint32_t count);

/* u := J v, velocities by slot. */
void row_system_speeds(const struct row_system *self, const struct spatial *velocities, double *u);
/* v += M⁻¹ Jᵀ λ, in the order of rows. */
void row_system_apply(const struct row_system *self, const double *lambda,
		      struct spatial *velocities);

/* A, row by row: count × count entries of `a` with `stride` between rows. Symmetric to the bit. */
void row_system_dense(const struct row_system *self, double *a, uint32_t stride);
/* J over coordinates, in which M is positive definite: groups that move ascending, coordinates
 * within. start of count + 1; columns ascending. Returns the entries; with `column` NULL it only
 * counts. */
uint32_t row_system_jacobian(const struct row_system *self, uint32_t *start, uint32_t *column,
			     double *value);
/* M over them, `coordinates`² entries, row by row. */
void row_system_mass(const struct row_system *self, double *m);
/* Velocities of the slots of the rows' parts as coordinates (what locked axes do is left out), and
 * back: slots move as before along locked axes. For groups of one slot. */
void row_system_gather(const struct row_system *self, const struct spatial *velocities, double *x);
void row_system_scatter(const struct row_system *self, const double *x, struct spatial *velocities);

#endif
