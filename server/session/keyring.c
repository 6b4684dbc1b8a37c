/* See keyring.h. The parser fills a fresh keyring, which replaces the present lines only if the
 * whole file is valid. */
#include "server/session/keyring.h"

#include <stdio.h>

#include "protocol/unpack.h"
#include "server/base/heap.h"

enum { WORDS_MAX = 4 + TOKEN_WORLDS_MAX };

void keyring_init(struct keyring *self)
{
	memset(self, 0, sizeof *self);
	nonces_init(&self->nonces);
	self->compact_at = KEYRING_KEPT_MIN;
}

/* Overwrites secrets before their memory is freed; `volatile` keeps the compiler from dropping the
 * stores. */
static void wipe(void *data, size_t bytes)
{
	volatile uint8_t *at = data;
	for (size_t i = 0; i < bytes; i++)
		at[i] = 0;
}

static void release_lines(struct keyring *self)
{
	if (self->keys.items != NULL)
		wipe(self->keys.items, self->keys.capacity * sizeof *self->keys.items);
	ARRAY_RELEASE(&self->bearers);
	ARRAY_RELEASE(&self->keys);
}

void keyring_release(struct keyring *self)
{
	release_lines(self);
	nonces_release(&self->nonces);
	used_tokens_close(self->kept);
	memset(self, 0, sizeof *self);
}

/* ---- the file --------------------------------------------------------------------------------- */
struct token_line {
	struct wire_slice words[WORDS_MAX];
	uint32_t count;
	bool too_many;
};

static bool is_blank(uint8_t byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

static struct token_line split_words(const uint8_t *at, const uint8_t *end)
{
	struct token_line line = { .count = 0 };
	while (at < end) {
		while (at < end && is_blank(*at))
			at++;
		if (at == end || *at == '#')
			break;
		const uint8_t *first = at;
		while (at < end && !is_blank(*at) && *at != '#')
			at++;
		line.too_many = line.count == WORDS_MAX;
		if (line.too_many)
			break;
		line.words[line.count++] =
			(struct wire_slice){ .at = first, .bytes = (uint32_t)(at - first) };
	}
	return line;
}

static int hex_value(uint8_t digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

/* Decodes an even number of hex digits to at most `room` bytes; returns the number of bytes, or 0
 * if the word is not such a number. */
static size_t take_hex(struct wire_slice word, uint8_t *out, size_t room)
{
	if (word.bytes % 2 != 0 || word.bytes / 2 > room)
		return 0;
	for (uint32_t i = 0; i < word.bytes; i += 2) {
		int high = hex_value(word.at[i]), low = hex_value(word.at[i + 1]);
		if (high < 0 || low < 0)
			return 0;
		out[i / 2] = (uint8_t)(high << 4 | low);
	}
	return word.bytes / 2;
}

static bool take_name(struct wire_slice word, char out[WIRE_NAME_MAX + 1])
{
	if (word.bytes == 0 || word.bytes > WIRE_NAME_MAX)
		return false;
	for (uint32_t i = 0; i < word.bytes; i++)
		if (word.at[i] <= ' ' || word.at[i] > '~' || word.at[i] == '"' ||
		    word.at[i] == '\\')
			return false;
	memcpy(out, word.at, word.bytes);
	out[word.bytes] = '\0';
	return true;
}

static const char ROLES[] = "ROLE must be observer, player, controller or admin";

static enum status refuse_line(struct reason *why, int32_t number, const char *what)
{
	return reason_set(why, STATUS_TYPE, number, "tokens", "line %d: %s", (int)number, what);
}

static enum status take_bearer(struct keyring *self, const struct token_line *line, int32_t number,
			       struct reason *why)
{
	if (ARRAY_RESERVE(&self->bearers, self->bearers.count + 1u) != STATUS_OK)
		return reason_set(why, STATUS_NO_MEMORY, -1, "tokens", "out of memory");
	struct bearer *bearer = &self->bearers.items[self->bearers.count];
	memset(bearer, 0, sizeof *bearer);
	if (line->count < 4 || !take_name(line->words[1], bearer->grant.name))
		return refuse_line(why, number,
				   "a bearer line is: bearer NAME ROLE HASH [WORLD ...]");
	if (wire_role_parse(line->words[2], &bearer->grant.role) != STATUS_OK)
		return refuse_line(why, number, ROLES);
	if (take_hex(line->words[3], bearer->hash, sizeof bearer->hash) != SHA256_BYTES)
		return refuse_line(why, number,
				   "HASH must be 64 hex digits, the SHA-256 of the token");
	for (uint32_t i = 4; i < line->count; i++)
		if (!take_name(line->words[i], bearer->grant.worlds[bearer->grant.world_count++]))
			return refuse_line(
				why, number,
				"a world's name must be 1 to 64 printable ASCII characters "
				"without '\"' and '\\'");
	self->bearers.count++;
	return STATUS_OK;
}

static bool take_id(struct wire_slice word, uint32_t *out)
{
	uint64_t number = 0;
	for (uint32_t i = 0; i < word.bytes; i++) {
		if (word.at[i] < '0' || word.at[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(word.at[i] - '0');
		if (number > UINT32_MAX)
			return false;
	}
	*out = (uint32_t)number;
	return word.bytes > 0;
}

static const struct signing_key *find_key(const struct keyring *self, uint32_t id)
{
	for (uint32_t i = 0; i < self->keys.count; i++)
		if (self->keys.items[i].id == id)
			return &self->keys.items[i];
	return NULL;
}

static enum status take_key(struct keyring *self, const struct token_line *line, int32_t number,
			    struct reason *why)
{
	if (ARRAY_RESERVE(&self->keys, self->keys.count + 1u) != STATUS_OK)
		return reason_set(why, STATUS_NO_MEMORY, -1, "tokens", "out of memory");
	struct signing_key *key = &self->keys.items[self->keys.count];
	memset(key, 0, sizeof *key);
	key->role = WIRE_ROLE_PLAYER;
	if (line->count < 3 || line->count > 4 || !take_id(line->words[1], &key->id))
		return refuse_line(
			why, number,
			"a key line is: key ID SECRET [ROLE], with ID a number from 0 to 4294967295");
	const struct signing_key *other = find_key(self, key->id);
	if (other != NULL)
		return reason_set(
			why, STATUS_TYPE, number, "tokens",
			"line %d: ID %u is also that of the key in line %d; give each key "
			"its own",
			(int)number, (unsigned)key->id, (int)other->line);
	key->line = number;
	key->bytes = (uint8_t)take_hex(line->words[2], key->secret, sizeof key->secret);
	if (key->bytes < TOKEN_KEY_MIN)
		return refuse_line(why, number,
				   "SECRET must be an even number of hex digits, from 32 to 128");
	if (line->count == 4 && wire_role_parse(line->words[3], &key->role) != STATUS_OK)
		return refuse_line(why, number, ROLES);
	self->keys.count++;
	return STATUS_OK;
}

static enum status take_line(struct keyring *self, const struct token_line *line, int32_t number,
			     struct reason *why)
{
	if (line->too_many)
		return reason_set(why, STATUS_TYPE, number, "tokens",
				  "line %d: too many words: a bearer line names at most %d worlds",
				  (int)number, TOKEN_WORLDS_MAX);
	if (line->count == 0)
		return STATUS_OK;
	if (wire_slice_is(line->words[0], "bearer"))
		return take_bearer(self, line, number, why);
	if (wire_slice_is(line->words[0], "key"))
		return take_key(self, line, number, why);
	return refuse_line(why, number, "the first word must be bearer or key");
}

enum status keyring_load(struct keyring *self, const char *text, size_t bytes, struct reason *why)
{
	struct keyring fresh;
	const uint8_t *at = (const uint8_t *)text, *end = at + bytes;
	enum status status = STATUS_OK;
	keyring_init(&fresh);
	for (int32_t number = 1; at < end && status == STATUS_OK; number++) {
		const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop != NULL ? stop : end;
		struct token_line line = split_words(at, stop);
		status = number <= KEYRING_LINES_MAX
				 ? take_line(&fresh, &line, number, why)
				 : reason_set(why, STATUS_TYPE, number, "tokens",
					      "line %d: the file must have at most %d lines",
					      (int)number, KEYRING_LINES_MAX);
		at = stop < end ? stop + 1 : end;
	}
	if (status != STATUS_OK) {
		keyring_release(&fresh);
		return status;
	}
	release_lines(self);
	self->bearers.items = fresh.bearers.items;
	self->bearers.count = fresh.bearers.count;
	self->bearers.capacity = fresh.bearers.capacity;
	self->keys.items = fresh.keys.items;
	self->keys.count = fresh.keys.count;
	self->keys.capacity = fresh.keys.capacity;
	return STATUS_OK;
}

/* ---- admission -------------------------------------------------------------------------------- */
static enum status refuse_token(struct reason *why, const char *text)
{
	return reason_set(why, STATUS_AUTH, -1, "token", "%s", text);
}

static enum status check_connect(const struct keyring *self, const struct connect_token *token,
				 uint64_t now_s, struct grant *out, struct reason *why)
{
	const struct signing_key *key = find_key(self, token->key);
	if (key == NULL || !token_genuine(token, key->secret, key->bytes))
		return refuse_token(why, "the token is not valid");
	/* From here on the token is genuine, so precise answers help the backend and no attacker. */
	if (token->expires_s <= now_s)
		return refuse_token(why, "the token has expired");
	if (token->expires_s > now_s + KEYRING_LIFE_S)
		return refuse_token(
			why, "the token expires more than 24 hours from now; sign a shorter one");
	if (token->role > key->role)
		return refuse_token(why, "the token's role is above the role of its key");
	out->role = token->role;
	out->once = true;
	out->use = (struct used_token){ .key = token->key, .expires_s = token->expires_s };
	memcpy(out->use.nonce, token->nonce, sizeof out->use.nonce);
	snprintf(out->name, sizeof out->name, "key %u", (unsigned)token->key);
	out->world_count = token->world_count;
	memcpy(out->worlds, token->worlds, sizeof out->worlds);
	return STATUS_OK;
}

static enum status check_bearer(const struct keyring *self, struct wire_slice token,
				struct grant *out, struct reason *why)
{
	uint8_t hash[SHA256_BYTES];
	const struct bearer *found = NULL;
	hash_sha256(token.at, token.bytes, hash);
	for (uint32_t i = 0; i < self->bearers.count; i++)
		if (hash_same(hash, self->bearers.items[i].hash, sizeof hash))
			found = &self->bearers.items[i];
	if (found == NULL || token.bytes < KEYRING_BEARER_MIN)
		return refuse_token(why, "the token is not valid");
	*out = found->grant;
	memcpy(out->hash, hash, sizeof hash);
	return STATUS_OK;
}

static enum status check_unused(struct keyring *self, const struct grant *grant, uint64_t now_s,
				struct reason *why)
{
	enum status status = nonces_check(&self->nonces, &grant->use, now_s);
	if (status == STATUS_AUTH)
		return refuse_token(why, "the token has been used already");
	if (status == STATUS_BUSY)
		return reason_set(
			why, status, -1, "token",
			"too many tokens of this key were used in the last 24 hours; try later");
	return status == STATUS_OK
		       ? status
		       : reason_set(why, status, -1, "token", "%s", status_text(status));
}

static enum status add_fresh(void *context, const struct used_token *token)
{
	return used_tokens_add_fresh(context, token);
}

/* Rewrites the file of used tokens without the expired ones, when it has doubled since the last
 * time. If that fails, the file keeps growing, and the next attempt follows when it has doubled
 * again. */
static void compact_used(struct keyring *self, uint64_t now_s)
{
	if (self->kept == NULL || used_tokens_count(self->kept) < self->compact_at)
		return;
	enum status status = used_tokens_begin(self->kept);
	if (status == STATUS_OK) {
		status = nonces_each(&self->nonces, now_s, add_fresh, self->kept);
		status = used_tokens_end(self->kept, status == STATUS_OK);
	}
	self->compact_at = 2 * used_tokens_count(self->kept) + KEYRING_KEPT_MIN;
}

/* True if every world of `then` is still allowed by `now`. */
static bool same_worlds(const struct grant *now, const struct grant *then)
{
	if (now->world_count == 0)
		return true;
	for (uint32_t i = 0; i < then->world_count; i++)
		if (!grant_allows_world(now, then->worlds[i]))
			return false;
	return then->world_count > 0;
}

enum status keyring_check(struct keyring *self, struct wire_slice token, uint64_t now_s,
			  struct grant *out, struct reason *why)
{
	struct connect_token connect;
	memset(out, 0, sizeof *out);
	enum status status = token_read(token, &connect) == STATUS_OK
				     ? check_connect(self, &connect, now_s, out, why)
				     : check_bearer(self, token, out, why);
	/* A used token is refused at once, whatever else HELLO requests. */
	if (status == STATUS_OK && out->once)
		status = check_unused(self, out, now_s, why);
	self->refused += status != STATUS_OK;
	return status;
}

enum status keyring_use(struct keyring *self, const struct grant *grant, uint64_t now_s,
			struct reason *why)
{
	enum status status = STATUS_OK;
	if (grant->once) {
		status = check_unused(self, grant, now_s, why);
		/* The record is written first, so that after a crash a token that admitted a
		 * session is still known as used. */
		if (status == STATUS_OK && self->kept != NULL &&
		    (status = used_tokens_add(self->kept, &grant->use)) != STATUS_OK)
			reason_set(
				why, status, -1, "token",
				"the use of the token could not be written to disk; try again later");
		if (status == STATUS_OK)
			nonces_put(&self->nonces, &grant->use);
	}
	if (status == STATUS_OK)
		self->admitted++;
	else
		self->refused++;
	if (status == STATUS_OK && grant->once)
		compact_used(self, now_s);
	return status;
}

enum status keyring_admit(struct keyring *self, struct wire_slice token, uint64_t now_s,
			  struct grant *out, struct reason *why)
{
	enum status status = keyring_check(self, token, now_s, out, why);
	return status == STATUS_OK ? keyring_use(self, out, now_s, why) : status;
}

bool keyring_holds(const struct keyring *self, const struct grant *grant)
{
	/* Removing a key is how keys are replaced, so its sessions stay. */
	if (grant->once)
		return true;
	for (uint32_t i = 0; i < self->bearers.count; i++) {
		const struct grant *now = &self->bearers.items[i].grant;
		if (hash_same(grant->hash, self->bearers.items[i].hash, sizeof grant->hash))
			return now->role >= grant->role && same_worlds(now, grant);
	}
	return false;
}

/* ---- on disk ---------------------------------------------------------------------------------- */

struct nonce_restore {
	struct nonces *nonces;
	uint64_t now_s;
};

static enum status restore_nonce(void *context, const struct used_token *token)
{
	const struct nonce_restore *restoring = context;
	return nonces_restore(restoring->nonces, token, restoring->now_s);
}

enum status keyring_persist(struct keyring *self, const char *directory, uint64_t now_s,
			    struct reason *why)
{
	struct nonce_restore restoring = { &self->nonces, now_s };
	return used_tokens_open(directory, restore_nonce, &restoring, &self->kept, why);
}

bool grant_allows_world(const struct grant *grant, const char *world)
{
	if (grant == NULL || grant->world_count == 0)
		return true;
	for (uint32_t i = 0; i < grant->world_count; i++)
		if (strcmp(grant->worlds[i], world) == 0)
			return true;
	return false;
}
