/* gauss.h: the part of `gauss` that keeps mirrored bodies mirrored (gauss_mirror.c). Private to
 * server/engine/methods. */
#ifndef CAIRN_ENGINE_METHODS_GAUSS_H
#define CAIRN_ENGINE_METHODS_GAUSS_H

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

#endif
