/* row_system.h: the arrays that solvers read, from a list of rows and a mass operator: u = J v, dense
 * A = J M⁻¹ Jᵀ, J and M over coordinates. Solvers of large islands use rows and bodies directly,
 * without A.
 *
 * An entry of A is not zero only if its rows share a group that moves. Each group has a list of its
 * rows, so A costs time in the number of its entries; bodies that cannot move (a floor under a
 * thousand boxes) couple no rows. Solvers see arrays only, neither bodies nor masses.
 *
 * The workspace lies in the caller's memory, sized for a largest list; nothing allocates. Rows and
 * operator are borrowed until the next row_system_make.
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
	uint32_t (*list)[ROW_PARTS_MAX]; /* of each row: starts of its groups' lists */
	uint32_t *list_end;		 /* by start of a list: its end */
	uint32_t *groups, *first; /* that move, ascending; their first coordinates, one more */
	uint32_t group_count, coordinates;
};

size_t row_system_bytes(struct row_system_sizes sizes);
/* `memory` is aligned to 64 and borrowed. */
void row_system_init(struct row_system *self, void *memory, struct row_system_sizes sizes);

/* Sets rows 0 … count−1 and computes their responses and the lists of groups. The sizes must suffice. */
void row_system_make(struct row_system *self, const struct mass_operator *mass,
		     const struct constraint_row *rows, uint32_t count);
/* The sizes needed for these rows. */
struct row_system_sizes row_system_sizes(const struct mass_operator *mass,
					 const struct constraint_row *rows, uint32_t count);

/* u := J v, velocities by slot. */
void row_system_speeds(const struct row_system *self, const struct spatial *velocities, double *u);
/* v += M⁻¹ Jᵀ λ, velocities by slot, summed in the order of rows. */
void row_system_apply(const struct row_system *self, const double *lambda,
		      struct spatial *velocities);

/* A, row by row: count × count entries of `a` with `stride` between rows. Symmetric to the bit. */
void row_system_dense(const struct row_system *self, double *a, uint32_t stride);
/* J over coordinates, in compressed rows: groups that move ascending, coordinates within.
 * `start` has count + 1 entries; columns ascend. Returns the number of entries; with `column` NULL
 * it only counts. */
uint32_t row_system_jacobian(const struct row_system *self, uint32_t *start, uint32_t *column,
			     double *value);
/* M over coordinates, positive definite: `coordinates`² entries, row by row. */
void row_system_mass(const struct row_system *self, double *m);

#endif
