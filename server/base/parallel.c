/* See parallel.h. The serial runner: one piece with all items, on worker 0. */
#include "server/base/parallel.h"

static void run_serial(const struct parallel *self, uint32_t count, uint32_t grain,
		       parallel_piece *piece, void *context)
{
	UNUSED(self);
	UNUSED(grain);
	piece(0, count, 0, context);
}

const struct parallel parallel_serial = { run_serial, 1, NULL };
