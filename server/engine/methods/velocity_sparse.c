/* velocity_sparse.c: islands too large for pivoting. */
#include "server/engine/methods/velocity.h"

enum status velocity_island_sparse(struct velocity_island *self, const struct velocity_question *question)
{
	UNUSED(self);
	UNUSED(question);
	return STATUS_NO_MEMORY;
}
