/* See address_limits.h. Both counts of an address are halves of one table value, so that an address
 * with no connection takes no memory, and a removal never needs any. */
#include "server/session/address_limits.h"

#include <string.h>

#include "server/base/bytes.h"
#include "server/base/rng.h"

/* The lower half counts connections, the upper half those before HELLO. */
enum { HALF_BITS = 16, HALF_MASK = 0xffff };

void address_limits_init(struct address_limits *self, uint32_t greetings_max, uint32_t sessions_max)
{
	memset(self, 0, sizeof *self);
	table_init(&self->counts);
	self->greetings_max = greetings_max;
	self->sessions_max = sessions_max;
}

void address_limits_release(struct address_limits *self)
{
	table_release(&self->counts);
}

static uint64_t key_of(const struct peer *peer)
{
	uint64_t half =
		peer->kind == ADDRESS_TCP6 ? get_be64(peer->octets) : get_be32(peer->octets);
	return rng_mix(half ^ (peer->kind == ADDRESS_TCP6 ? UINT64_C(1) << 63 : 0));
}

/* Unix peers are never counted, peers of this machine only under an explicit limit. */
static bool is_counted(const struct address_limits *self, const struct peer *peer)
{
	if (peer->kind == ADDRESS_UNIX)
		return false;
	return !peer->local || self->greetings_max > 0 || self->sessions_max > 0;
}

uint32_t address_limits_count(const struct address_limits *self, const struct peer *peer)
{
	uint32_t counts = 0;
	if (is_counted(self, peer))
		(void)table_find(&self->counts, key_of(peer), &counts);
	return counts & HALF_MASK;
}

/* Replaces the counts of a key that is in the table already, so that no memory is needed. */
static void replace_counts(struct address_limits *self, uint64_t key, uint32_t counts)
{
	if (counts == 0) {
		(void)table_remove(&self->counts, key);
		return;
	}
	enum status status = table_put(&self->counts, key, counts);
	ASSERT(status == STATUS_OK);
}

enum status address_limits_add(struct address_limits *self, const struct peer *peer)
{
	uint32_t counts = 0;
	if (!is_counted(self, peer))
		return STATUS_OK;
	uint64_t key = key_of(peer);
	(void)table_find(&self->counts, key, &counts);
	uint32_t sessions = counts & HALF_MASK, greetings = counts >> HALF_BITS;
	uint32_t usual = peer->local ? HALF_MASK : ADDRESS_GREETINGS;
	uint32_t greetings_max = self->greetings_max > 0 ? self->greetings_max : usual;
	uint32_t sessions_max = self->sessions_max > 0 ? self->sessions_max : HALF_MASK;
	if (greetings >= greetings_max || sessions >= MIN_OF(sessions_max, (uint32_t)HALF_MASK)) {
		self->refused++;
		return STATUS_FULL;
	}
	return table_put(&self->counts, key, counts + 1 + (1u << HALF_BITS));
}

void address_limits_greeted(struct address_limits *self, const struct peer *peer)
{
	uint32_t counts;
	if (is_counted(self, peer) && table_find(&self->counts, key_of(peer), &counts))
		replace_counts(self, key_of(peer), counts - (1u << HALF_BITS));
}

void address_limits_remove(struct address_limits *self, const struct peer *peer, bool greeting)
{
	uint32_t counts;
	if (is_counted(self, peer) && table_find(&self->counts, key_of(peer), &counts))
		replace_counts(self, key_of(peer), counts - 1 - (greeting ? 1u << HALF_BITS : 0));
}
