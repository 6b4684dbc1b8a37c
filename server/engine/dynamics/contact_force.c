/* See contact_force.h. */
#include "server/engine/dynamics/contact_force.h"

uint32_t contact_force_recheck(const double *approach, const double *bias, uint32_t count,
			       double speed_rest, uint32_t *kept)
{
	uint32_t found = 0;
	bool closes = false;
	for (uint32_t k = 0; k < count; k++) {
		if (contact_force_kind(approach[k], speed_rest) == CONTACT_PARTS)
			continue;
		kept[found++] = k;
		closes |= bias[k] < 0;
	}
	ASSERT(found <= count);
	return closes ? found : 0;
}
