/* See nonces.h. A set is a hash table with linear probing, at most half full. */
#include "server/session/nonces.h"

#include <string.h>

#include "server/base/bytes.h"
#include "server/base/heap.h"
#include "server/base/rng.h"

enum { SLOTS_MIN = 64 };

void nonces_init(struct nonces *self)
{
	memset(self, 0, sizeof *self);
}

void nonces_release(struct nonces *self)
{
	for (uint32_t i = 0; i < self->sets.count; i++)
		heap_free(self->sets.items[i].slots);
	ARRAY_RELEASE(&self->sets);
	memset(self, 0, sizeof *self);
}

/* The set of a key, made empty at its first use; NULL without memory. */
static struct nonce_set *set_of(struct nonces *self, uint32_t key)
{
	for (uint32_t i = 0; i < self->sets.count; i++)
		if (self->sets.items[i].key == key)
			return &self->sets.items[i];
	if (ARRAY_RESERVE(&self->sets, self->sets.count + 1u) != STATUS_OK)
		return NULL;
	struct nonce_set *set = &self->sets.items[self->sets.count++];
	*set = (struct nonce_set){ .key = key };
	return set;
}

/* The slot of a nonce, or the empty slot where it belongs. Nonces are signed, so an attacker cannot
 * choose colliding ones; they are mixed because a backend may simply count them. */
static struct used_token *slot_of(struct used_token *slots, uint32_t room, const uint8_t *nonce)
{
	uint64_t mixed = rng_mix(get_be64(nonce) ^ rng_mix(get_be64(nonce + 8)));
	uint32_t at = (uint32_t)mixed & (room - 1);
	while (slots[at].expires_s != 0 && memcmp(slots[at].nonce, nonce, TOKEN_NONCE_BYTES) != 0)
		at = (at + 1) & (room - 1);
	return &slots[at];
}

/* Replaces the table by one without the expired nonces that has a slot for one more. BUSY:
 * NONCES_MAX have not expired; NO_MEMORY. */
static enum status drop_expired(struct nonce_set *set, uint64_t now_s)
{
	uint32_t living = 0, room = SLOTS_MIN;
	uint64_t floor_s = set->floor_s;
	for (uint32_t i = 0; i < set->room; i++) {
		bool lives = set->slots[i].expires_s > now_s;
		living += lives;
		floor_s = lives ? floor_s : MAX_OF(floor_s, set->slots[i].expires_s);
	}
	if (living >= NONCES_MAX)
		return STATUS_BUSY;
	/* At most half full after it has doubled. */
	while (room < 4 * (living + 1))
		room *= 2;
	struct used_token *fresh = heap_alloc_zero(room * sizeof *fresh);
	if (fresh == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < set->room; i++)
		if (set->slots[i].expires_s > now_s)
			*slot_of(fresh, room, set->slots[i].nonce) = set->slots[i];
	heap_free(set->slots);
	set->slots = fresh;
	set->room = room;
	set->count = living;
	set->floor_s = floor_s;
	return STATUS_OK;
}

enum status nonces_check(struct nonces *self, const struct used_token *token, uint64_t now_s)
{
	struct nonce_set *set = set_of(self, token->key);
	if (set == NULL)
		return STATUS_NO_MEMORY;
	if (token->expires_s <= set->floor_s)
		return STATUS_AUTH;
	if (set->room > 0 && slot_of(set->slots, set->room, token->nonce)->expires_s != 0)
		return STATUS_AUTH;
	if (set->count < NONCES_MAX && 2 * (set->count + 1) <= set->room)
		return STATUS_OK;
	enum status status = drop_expired(set, now_s);
	/* The floor may have risen just now, to or above this token's expiry. */
	return status == STATUS_OK && token->expires_s <= set->floor_s ? STATUS_AUTH : status;
}

void nonces_put(struct nonces *self, const struct used_token *token)
{
	struct nonce_set *set = set_of(self, token->key);
	ASSERT(set != NULL && 2 * (set->count + 1) <= set->room);
	*slot_of(set->slots, set->room, token->nonce) = *token;
	set->count++;
}

enum status nonces_restore(struct nonces *self, const struct used_token *token, uint64_t now_s)
{
	static const uint8_t ZEROS[TOKEN_NONCE_BYTES];
	struct nonce_set *set = set_of(self, token->key);
	if (set == NULL)
		return STATUS_NO_MEMORY;
	if (token->expires_s <= now_s || memcmp(token->nonce, ZEROS, sizeof ZEROS) == 0) {
		set->floor_s = MAX_OF(set->floor_s, token->expires_s);
		return STATUS_OK;
	}
	enum status status = nonces_check(self, token, now_s);
	if (status == STATUS_OK)
		nonces_put(self, token);
	/* More nonces than a set holds occur only where the clock was set back: the floor refuses
	 * their tokens. */
	if (status == STATUS_BUSY)
		set->floor_s = MAX_OF(set->floor_s, token->expires_s);
	return status == STATUS_NO_MEMORY ? status : STATUS_OK;
}

enum status nonces_each(const struct nonces *self, uint64_t now_s,
			enum status (*each)(void *context, const struct used_token *token),
			void *context)
{
	enum status status = STATUS_OK;
	for (uint32_t b = 0; b < self->sets.count; b++) {
		const struct nonce_set *set = &self->sets.items[b];
		struct used_token forgotten = { .key = set->key, .expires_s = set->floor_s };
		for (uint32_t i = 0; i < set->room && status == STATUS_OK; i++) {
			const struct used_token *token = &set->slots[i];
			if (token->expires_s > now_s)
				status = each(context, token);
			else
				forgotten.expires_s = MAX_OF(forgotten.expires_s, token->expires_s);
		}
		if (status == STATUS_OK && forgotten.expires_s > 0)
			status = each(context, &forgotten);
	}
	return status;
}
