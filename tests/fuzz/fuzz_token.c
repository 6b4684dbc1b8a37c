/* A token that somebody shows, and the file that says who may come in: the first byte chooses. */
#include <string.h>

#include "server/session/keyring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

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
	else
		load(data + 1, count - 1);
	return 0;
}
