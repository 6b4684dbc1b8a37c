/* interest_sights.c: what interests see of particles (interest.h). */
#include <string.h>

#include "server/base/heap.h"
#include "server/sync/interest.h"

/* Areas that are nowhere, because their body was never seen, are left out. */
static struct interest_sight sight_of(const struct interest *self, uint64_t serial)
{
	struct interest_sight sight;
	memset(&sight, 0, sizeof sight);
	sight.serial = serial;
	for (uint32_t i = 0; i < self->set.area_count; i++) {
		const struct wire_area *area = &self->set.areas[i];
		if (area->body != 0 && !self->placed[i])
			continue;
		uint32_t k = sight.area_count++;
		sight.areas[k] = *area;
		memcpy(sight.origins[k], self->origins[i], sizeof sight.origins[k]);
		/* The area lags behind its body by at most so much. */
		sight.pads[k] = area->body != 0 ? wire_area_margin(area) / 2 : 0;
	}
	return sight;
}

static bool is_same_sight(const struct interest_sight *a, const struct interest_sight *b)
{
	if (a->serial != b->serial || a->area_count != b->area_count)
		return false;
	for (uint32_t i = 0; i < a->area_count; i++)
		if (!wire_area_same(&a->areas[i], &b->areas[i]) ||
		    memcmp(a->origins[i], b->origins[i], sizeof a->origins[i]) != 0)
			return false;
	return true;
}

const struct interest_sight *interest_look(struct interest *self, uint64_t serial)
{
	if (self->sights == NULL)
		self->sights = heap_alloc_zero(INTEREST_SIGHTS * sizeof *self->sights);
	if (self->sights == NULL)
		return NULL;
	struct interest_sight sight = sight_of(self, serial);
	struct interest_sight *newest =
		&self->sights[(self->sight_next + INTEREST_SIGHTS - 1) % INTEREST_SIGHTS];
	if (is_same_sight(newest, &sight))
		return newest;
	struct interest_sight *to = &self->sights[self->sight_next++ % INTEREST_SIGHTS];
	*to = sight;
	return to;
}

/* The oldest entry is not recalled, because the next look takes its place. */
const struct interest_sight *interest_recall(const struct interest *self, uint64_t serial)
{
	for (uint32_t i = 1; i < INTEREST_SIGHTS && self->sights != NULL && serial != 0; i++) {
		const struct interest_sight *sight =
			&self->sights[(self->sight_next + INTEREST_SIGHTS - i) % INTEREST_SIGHTS];
		if (sight->serial == serial)
			return sight;
	}
	return NULL;
}

void interest_forget_sights(struct interest *self)
{
	if (self->sights != NULL)
		memset(self->sights, 0, INTEREST_SIGHTS * sizeof *self->sights);
}

bool interest_sight_holds(const struct interest_sight *sight, const double position[3])
{
	for (uint32_t i = 0; i < sight->area_count; i++)
		if (wire_area_holds(&sight->areas[i], sight->origins[i], position, sight->pads[i]))
			return true;
	return false;
}

bool interest_sight_is_everything(const struct interest_sight *sight)
{
	for (uint32_t i = 0; i < sight->area_count; i++)
		if (sight->areas[i].kind == WIRE_AREA_EVERYTHING)
			return true;
	return false;
}
