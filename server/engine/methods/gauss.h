/* gauss.h: parts of `gauss`: what keeps mirrored bodies mirrored (gauss_mirror.c), and bodies that
 * points carry (gauss_carried.c). Private to server/engine/methods. */
#ifndef CAIRN_ENGINE_METHODS_GAUSS_H
#define CAIRN_ENGINE_METHODS_GAUSS_H

#include "server/engine/dynamics/carrier.h"
#include "server/engine/methods/velocity.h"

struct gauss_mirror {
	const struct velocity_step *solve; /* borrowed */
	uint32_t *partner;		   /* by slot: its image; UINT32_MAX: it does not move */
	uint32_t count;			   /* of moving bodies */
	double plane;			   /* m: x0 */
	bool mirrored; /* every moving body has an image, with its forces, its joints, and what it touches */
};

/* Looks for the images of the moving bodies of a step whose contacts and joints are in `solve`, in the step's
 * scratch. NO_MEMORY. */
MUST_CHECK enum status gauss_mirror_find(struct gauss_mirror *self,
					 const struct velocity_step *solve);
/* Makes the motions (by slot) at the end of the step images of each other, if they are up to what
 * rows that are good to `error` (m/s) leave open. */
void gauss_mirror_apply(const struct gauss_mirror *self, struct body_motion *motions, double error);

/* ---- bodies that points carry ------------------------------------------------------------------ */

/* A carried body of a step. */
struct gauss_carried {
	uint32_t slot, points[CARRIER_POINTS]; /* slots */
	struct carrier_frame frame;
};

struct gauss_carriers {
	struct gauss_carried *items; /* by carrier rows */
	uint32_t count;
	uint32_t *
		of_slot; /* by slot: index into items, UINT32_MAX: nothing carries it; NULL: count 0 */
	uint32_t *order,
		*first; /* items by islands; by island, and one more: its first in `order` */
};

/* A contact of which a side is carried. */
struct gauss_carried_contact {
	struct contact_found found;	      /* first, so that readers of contacts find it */
	const struct gauss_carried *sides[2]; /* of a and b; NULL: moves by itself */
};

/* Lists them, in the step's scratch, and gives them the motion of their points at the beginning
 * (solve->start). A body of which a point takes no part moves by itself. NO_MEMORY. */
MUST_CHECK enum status gauss_carriers_find(struct gauss_carriers *self,
					   const struct velocity_step *solve,
					   struct body_motion *start);
/* The carried body in a slot; NULL: there is none. */
static inline const struct gauss_carried *gauss_carried_at(const struct gauss_carriers *self,
							   uint32_t slot)
{
	if (self->count == 0 || slot == ROW_NO_BODY || self->of_slot[slot] == UINT32_MAX)
		return NULL;
	return &self->items[self->of_slot[slot]];
}
/* Makes the islands of the step, in which the points of a body are together, and sorts the carried bodies
 * by them. An island may have no constraints. NO_MEMORY. */
MUST_CHECK enum status gauss_carriers_islands(struct gauss_carriers *self,
					      struct velocity_step *solve);
/* Puts the carried bodies of an island, or of all (UINT32_MAX), where their points are. */
void gauss_carriers_place(const struct gauss_carriers *self, const struct velocity_step *solve,
			  uint32_t island, struct body_motion *motions);
/* The kind of constraint of a contact of which a side is carried: the rows of constraint_contact, with parts
 * on the points; its data is a gauss_carried_contact of one point. */
extern const struct constraint_kind gauss_contact_carried;

#endif
