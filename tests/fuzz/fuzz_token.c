/* A token that somebody shows, and the file that says who may come in: the first byte chooses. What is a
 * token at all is also signed and shown to a door that knows the key: it lets in once at most, and nobody
 * as more than the key may sign for. */
#include <string.h>

#include "server/session/keyring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

static const char DOOR[] =
	"bearer fan observer aacc69b1d43825c14a452af78880bf10d62dabf285f0acfbb5d11a0ad40b8ee4 arena\n"
	"key 7 0100000000000000000000000000000000000000000000000000000000000000 player\n";

/* Whether the door opened. */
static bool knock(struct keyring *ring, const char *text, size_t count, struct grant *grant)
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
		ASSERT(keyring_load(&ring, DOOR, sizeof DOOR - 1, &why) == STATUS_OK);
	bool bearer = knock(&ring, text, count, &grant) && count < TOKEN_TEXT_MAX &&
		      strcmp(grant.name, "fan") == 0;
	ASSERT(!bearer || (grant.role == WIRE_ROLE_OBSERVER && grant.world_count == 1));
	if (bearer)
		return;
	/* If it was a connect token, it has been used. */
	ASSERT(!knock(&ring, text, count, &grant));
	keyring_release(&ring);
}

static void show(const uint8_t *data, size_t count)
{
	static const uint8_t KEY[32] = { 1 };
	struct connect_token token, back;
	char text[TOKEN_TEXT_MAX + 1];
	struct wire_slice slice = { .at = data, .bytes = (uint32_t)count };
	if (token_read(slice, &token) != STATUS_OK)
		return;
	/* Whatever is one has one text. */
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
		show(data + 1, count - 1);
	else if (data[0] & 2)
		admit((const char *)data + 1, count - 1);
	else
		load(data + 1, count - 1);
	return 0;
}
