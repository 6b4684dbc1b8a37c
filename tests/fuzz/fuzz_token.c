/* A presented token, or a tokens file; the first byte chooses. A well-formed token is also signed
 * and presented to a keyring that knows the key: the keyring admits it at most once, and with no
 * higher role than the key may sign. */
#include <string.h>

#include "server/session/keyring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

static const char TOKENS_FILE[] =
	"bearer fan observer aacc69b1d43825c14a452af78880bf10d62dabf285f0acfbb5d11a0ad40b8ee4 arena\n"
	"key 7 0100000000000000000000000000000000000000000000000000000000000000 player\n";

/* Presents a token; returns whether it is admitted. */
static bool present(struct keyring *ring, const char *text, size_t count, struct grant *grant)
{
	struct reason why = { 0 };
	struct wire_slice slice = { .at = (const uint8_t *)text, .bytes = (uint32_t)count };
	enum status status = keyring_admit(ring, slice, 1700000000, grant, &why);
	ASSERT(status == STATUS_OK || (status == STATUS_AUTH && why.status == STATUS_AUTH));
	return status == STATUS_OK;
}

static void admit(const char *text, size_t count)
{
	static struct keyring ring;
	struct grant grant;
	struct reason why;
	if (keyring_empty(&ring))
		ASSERT(keyring_load(&ring, TOKENS_FILE, sizeof TOKENS_FILE - 1, &why) == STATUS_OK);
	bool bearer = present(&ring, text, count, &grant) && count < TOKEN_TEXT_MAX &&
		      strcmp(grant.name, "fan") == 0;
	ASSERT(!bearer || (grant.role == WIRE_ROLE_OBSERVER && grant.world_count == 1));
	if (bearer)
		return;
	/* A connect token has been used by now. */
	ASSERT(!present(&ring, text, count, &grant));
	keyring_release(&ring);
}

static void check_token(const uint8_t *data, size_t count)
{
	static const uint8_t KEY[32] = { 1 };
	struct connect_token token, back;
	char text[TOKEN_TEXT_MAX + 1];
	struct wire_slice slice = { .at = data, .bytes = (uint32_t)count };
	if (token_read(slice, &token) != STATUS_OK)
		return;
	/* A token has exactly one text. */
	bool genuine = token_genuine(&token, KEY, sizeof KEY);
	enum status status = token_write(&token, KEY, sizeof KEY, text);
	ASSERT(status == STATUS_OK);
	ASSERT(strlen(text) == count);
	ASSERT((memcmp(text, data, count) == 0) == genuine);
	slice.at = (const uint8_t *)text;
	status = token_read(slice, &back);
	ASSERT(status == STATUS_OK);
	ASSERT(token_genuine(&back, KEY, sizeof KEY));
	admit(text, strlen(text));
}

static void load(const uint8_t *data, size_t count)
{
	struct keyring ring;
	struct reason why;
	struct grant grant;
	keyring_init(&ring);
	enum status status = keyring_load(&ring, (const char *)data, count, &why);
	if (status != STATUS_OK)
		ASSERT(keyring_empty(&ring));
	struct wire_slice slice = { .at = data, .bytes = (uint32_t)count };
	status = keyring_admit(&ring, slice, 1700000000, &grant, &why);
	ASSERT(status == STATUS_OK || status == STATUS_AUTH);
	keyring_release(&ring);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
	if (count == 0 || count > 1 << 16)
		return 0;
	if (data[0] & 1)
		check_token(data + 1, count - 1);
	else if (data[0] & 2)
		admit((const char *)data + 1, count - 1);
	else
		load(data + 1, count - 1);
	return 0;
}
