/* See pack_text.h. */
#include "tests/lib/pack_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/bytes.h"
#include "tests/lib/check_main.h"

static const char *pack_one(struct wire_packer *out, const char *at);

static void pack_raw_real(struct wire_packer *out, double value)
{
	uint8_t bytes[9] = { 0xcb };
	put_be64(bytes + 1, bits_of_f64(value));
	wire_pack_raw(out, bytes, sizeof bytes);
}

static const char *pack_list(struct wire_packer *out, const char *at, char end)
{
	static uint8_t rooms[8][1 << 18];
	static uint32_t depth;
	uint8_t *items = rooms[depth++];
	struct wire_packer inner = wire_packer_over(items, sizeof rooms[0]);
	uint32_t count = 0;
	for (at++; *at != end; count++) {
		at = pack_one(&inner, at);
		while (*at == ' ')
			at++;
	}
	if (end == ']')
		wire_pack_array(out, count);
	else
		wire_pack_map(out, count / 2);
	wire_pack_raw(out, items, inner.bytes);
	depth--;
	return at + 1;
}

static const char *pack_bin(struct wire_packer *out, const char *at)
{
	uint8_t bytes[512];
	uint32_t count = 0;
	for (at++; *at != '>'; at += 2) {
		unsigned value;
		ck_assert_int_eq(sscanf(at, "%2x", &value), 1);
		bytes[count++] = (uint8_t)value;
	}
	wire_pack_bin(out, bytes, count);
	return at + 1;
}

static const char *pack_number(struct wire_packer *out, const char *at)
{
	char *end, *real_end;
	long long integer = strtoll(at, &end, 10);
	double real = strtod(at, &real_end);
	if (real_end > end)
		pack_raw_real(out, real);
	else
		wire_pack_int(out, integer);
	return real_end;
}

static const char *pack_one(struct wire_packer *out, const char *at)
{
	while (*at == ' ')
		at++;
	if (*at == '[')
		return pack_list(out, at, ']');
	if (*at == '{')
		return pack_list(out, at, '}');
	if (*at == '<')
		return pack_bin(out, at);
	if (*at == '\'') {
		const char *end = strchr(at + 1, '\'');
		wire_pack_text(out, (struct wire_slice){ (const uint8_t *)at + 1,
							 (uint32_t)(end - at - 1) });
		return end + 1;
	}
	if (strncmp(at, "nil", 3) == 0) {
		wire_pack_nil(out);
		return at + 3;
	}
	if (strncmp(at, "true", 4) == 0) {
		wire_pack_bool(out, true);
		return at + 4;
	}
	if (strncmp(at, "nan", 3) == 0 || strncmp(at, "inf", 3) == 0) {
		pack_raw_real(out, at[0] == 'n' ? (double)NAN : (double)INFINITY);
		return at + 3;
	}
	return pack_number(out, at);
}

void pack_text(struct wire_packer *out, const char *text)
{
	(void)pack_one(out, text);
}
