#include "server/session/nonces.h"

#include <string.h>

#include "server/base/bytes.h"
#include "server/base/heap.h"
#include "server/base/rng.h"

enum { ROOM_FIRST = 64 };

void nonces_init(struct nonces *self)
{
	memset(self, 0, sizeof *self);
}

void nonces_release(struct nonces *self)
{
	for (uint32_t i = 0; i < self->books.count; i++)
		heap_free(self->books.items[i].places);
	ARRAY_RELEASE(&self->books);
	memset(self, 0, sizeof *self);
}

/* The book of a key, an empty one where there was none; NULL without memory. */
static struct nonce_book *book_of(struct nonces *self, uint32_t key)
{
	for (uint32_t i = 0; i < self->books.count; i++)
		if (self->books.items[i].key == key)
			return &self->books.items[i];
	if (ARRAY_RESERVE(&self->books, self->books.count + 1u) != STATUS_OK)
		return NULL;
	struct nonce_book *book = &self->books.items[self->books.count++];
	*book = (struct nonce_book){ .key = key };
	return book;
}

/* Nonces have been signed, so no stranger chooses where they fall; a backend may well count them. */
static struct used_token *place_of(struct used_token *places, uint32_t room, const uint8_t *nonce)
{
	uint64_t mixed = rng_mix(get_be64(nonce) ^ rng_mix(get_be64(nonce + 8)));
	uint32_t at = (uint32_t)mixed & (room - 1);
	while (places[at].expires_s != 0 && memcmp(places[at].nonce, nonce, TOKEN_NONCE_BYTES) != 0)
		at = (at + 1) & (room - 1);
	return &places[at];
}

/* A table with room for one more, without those that have expired. BUSY: too many have not. */
static enum status sweep(struct nonce_book *book, uint64_t now_s)
{
	uint32_t living = 0, room = ROOM_FIRST;
	uint64_t floor_s = book->floor_s;
	for (uint32_t i = 0; i < book->room; i++) {
		bool lives = book->places[i].expires_s > now_s;
		living += lives;
		floor_s = lives ? floor_s : MAX_OF(floor_s, book->places[i].expires_s);
	}
	if (living >= NONCES_MAX)
		return STATUS_BUSY;
	/* At most half full after it has doubled. */
	while (room < 4 * (living + 1))
		room *= 2;
	struct used_token *fresh = heap_alloc_zero(room * sizeof *fresh);
	if (fresh == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < book->room; i++)
		if (book->places[i].expires_s > now_s)
			*place_of(fresh, room, book->places[i].nonce) = book->places[i];
	heap_free(book->places);
	book->places = fresh;
	book->room = room;
	book->count = living;
	book->floor_s = floor_s;
	return STATUS_OK;
}

enum status nonces_check(struct nonces *self, const struct used_token *token, uint64_t now_s)
{
	struct nonce_book *book = book_of(self, token->key);
	if (book == NULL)
		return STATUS_NO_MEMORY;
	if (token->expires_s <= book->floor_s)
		return STATUS_AUTH;
	if (book->room > 0 && place_of(book->places, book->room, token->nonce)->expires_s != 0)
		return STATUS_AUTH;
	if (book->count < NONCES_MAX && 2 * (book->count + 1) <= book->room)
		return STATUS_OK;
	enum status status = sweep(book, now_s);
	/* What was forgotten just now may have been this one's elder. */
	return status == STATUS_OK && token->expires_s <= book->floor_s ? STATUS_AUTH : status;
}

void nonces_put(struct nonces *self, const struct used_token *token)
{
	struct nonce_book *book = book_of(self, token->key);
	ASSERT(book != NULL && 2 * (book->count + 1) <= book->room);
	*place_of(book->places, book->room, token->nonce) = *token;
	book->count++;
}

enum status nonces_restore(struct nonces *self, const struct used_token *token, uint64_t now_s)
{
	static const uint8_t ZEROS[TOKEN_NONCE_BYTES];
	struct nonce_book *book = book_of(self, token->key);
	if (book == NULL)
		return STATUS_NO_MEMORY;
	if (token->expires_s <= now_s || memcmp(token->nonce, ZEROS, sizeof ZEROS) == 0) {
		book->floor_s = MAX_OF(book->floor_s, token->expires_s);
		return STATUS_OK;
	}
	enum status status = nonces_check(self, token, now_s);
	if (status == STATUS_OK)
		nonces_put(self, token);
	/* More than a book holds can only be where the clock was set back: none of them is believed again. */
	if (status == STATUS_BUSY)
		book->floor_s = MAX_OF(book->floor_s, token->expires_s);
	return status == STATUS_NO_MEMORY ? status : STATUS_OK;
}

enum status nonces_each(const struct nonces *self, uint64_t now_s,
			enum status (*each)(void *context, const struct used_token *token),
			void *context)
{
	enum status status = STATUS_OK;
	for (uint32_t b = 0; b < self->books.count; b++) {
		const struct nonce_book *book = &self->books.items[b];
		struct used_token forgotten = { .key = book->key, .expires_s = book->floor_s };
		for (uint32_t i = 0; i < book->room && status == STATUS_OK; i++) {
			const struct used_token *token = &book->places[i];
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
