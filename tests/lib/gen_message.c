/* See gen_message.h. */
#include "tests/lib/gen_message.h"

#include <string.h>

#include "protocol/capabilities.h"
#include "server/base/bytes.h"

double gen_real(struct rng *rng)
{
	switch (rng_below(rng, 4)) {
	case 0:
		return (double)rng_below(rng, 1000) - 500;
	case 1:
		return rng_range(rng, -1, 1);
	case 2:
		return rng_below(rng, 2) ? 0.0 : -0.0;
	default:
		for (;;) {
			double value = f64_of_bits(rng_u64(rng));
			if (value - value == 0)
				return value;
		}
	}
}

/* 0 … max; the ends, and the values where the encoding grows, more often than a uniform draw would. */
static uint64_t gen_uint(struct rng *rng, double max)
{
	static const uint64_t EDGES[] = { 0,   1,     127,   128,	 255,
					  256, 65535, 65536, UINT32_MAX, UINT64_C(1) << 32 };
	uint64_t top = (uint64_t)max;
	uint32_t pick = rng_below(rng, 3);
	if (pick == 0)
		return top;
	uint64_t value = pick == 1 ? EDGES[rng_below(rng, COUNT_OF(EDGES))] : rng_u64(rng);
	return top == UINT64_MAX ? value : value % (top + 1);
}

static struct wire_slice gen_text(struct rng *rng, struct wire_packer *scratch, double max)
{
	static const char *const PIECES[] = { "a", "Z", "7", " ", "é", "→", "😀" };
	uint32_t start = scratch->bytes, room = MIN_OF((uint32_t)max, 40u);
	uint32_t wanted = rng_below(rng, room + 1);
	for (;;) {
		const char *piece = PIECES[rng_below(rng, COUNT_OF(PIECES))];
		if (scratch->bytes - start + strlen(piece) > wanted)
			break;
		wire_pack_raw(scratch, piece, (uint32_t)strlen(piece));
	}
	return (struct wire_slice){ scratch->data + start, scratch->bytes - start };
}

static struct wire_slice gen_bin(struct rng *rng, struct wire_packer *scratch, double max)
{
	uint32_t bytes = rng_below(rng, MIN_OF((uint32_t)max, (uint32_t)WIRE_SHAPE_PART) + 1);
	uint8_t *at = wire_pack_take(scratch, bytes);
	for (uint32_t i = 0; at != NULL && i < bytes; i++)
		at[i] = (uint8_t)rng_u32(rng);
	return (struct wire_slice){ bytes == 0 ? NULL : at, bytes };
}

static void gen_leaf(struct rng *rng, struct wire_packer *out)
{
	uint8_t noise[300] = { 1, 2, 3 };
	switch (rng_below(rng, 7)) {
	case 0:
		wire_pack_nil(out);
		return;
	case 1:
		wire_pack_bool(out, rng_below(rng, 2) == 1);
		return;
	case 2:
		wire_pack_uint(out, gen_uint(rng, (double)WIRE_INTEGER_MAX));
		return;
	case 3:
		wire_pack_int(out, -(int64_t)gen_uint(rng, (double)WIRE_INTEGER_MAX));
		return;
	case 4:
		wire_pack_real(out, gen_real(rng));
		return;
	case 5:
		wire_pack_string(out, rng_below(rng, 2) ? "text" : "");
		return;
	default:
		wire_pack_bin(out, noise, rng_below(rng, sizeof noise));
	}
}

void gen_value(struct rng *rng, struct wire_packer *out, uint32_t depth)
{
	uint32_t pick = rng_below(rng, 5);
	if (depth == 0 || pick > 1) {
		gen_leaf(rng, out);
		return;
	}
	uint32_t most = rng_below(rng, 8) == 0 ? 20 : 4;
	uint32_t count = rng_below(rng, most);
	if (pick == 0)
		wire_pack_array(out, count);
	else
		wire_pack_map(out, count);
	for (uint32_t i = 0; i < count; i++) {
		if (pick == 1)
			wire_pack_string(out, "key");
		gen_value(rng, out, depth - 1);
	}
}

static struct wire_list gen_list(struct rng *rng, enum wire_kind kind, struct wire_packer *scratch,
				 double max)
{
	uint32_t start = scratch->bytes;
	uint32_t count = rng_below(rng, MIN_OF((uint32_t)max, 20u) + 1);
	for (uint32_t i = 0; i < count; i++) {
		if (kind == WIRE_KIND_IDS)
			wire_pack_uint(scratch, gen_uint(rng, UINT32_MAX));
		else if (kind == WIRE_KIND_REALS)
			wire_pack_real(scratch, gen_real(rng));
		else if (kind == WIRE_KIND_MAP)
			wire_pack_string(scratch, "key");
		if (kind == WIRE_KIND_LIST || kind == WIRE_KIND_MAP)
			gen_value(rng, scratch, 3);
	}
	return (struct wire_list){ scratch->data + start, scratch->bytes - start, count };
}

static struct wire_slice gen_raw(struct rng *rng, struct wire_packer *scratch)
{
	uint32_t start = scratch->bytes;
	gen_value(rng, scratch, 4);
	/* nil has two representations in C and one on the wire. */
	if (scratch->data[start] == 0xC0)
		return (struct wire_slice){ NULL, 0 };
	return (struct wire_slice){ scratch->data + start, scratch->bytes - start };
}

static void gen_box(struct rng *rng, struct wire_box *box)
{
	box->set = rng_below(rng, 2) == 1;
	for (int i = 0; i < 3 && box->set; i++) {
		double a = gen_real(rng), b = gen_real(rng);
		box->min[i] = MIN_OF(a, b);
		box->max[i] = MAX_OF(a, b);
	}
}

static void gen_structured(struct rng *rng, const struct message_field *field, void *at,
			   struct wire_packer *scratch)
{
	uint32_t *two = at;
	switch (field->kind) {
	case WIRE_KIND_VERSION:
		two[0] = rng_below(rng, 65536);
		two[1] = rng_below(rng, 65536);
		return;
	case WIRE_KIND_RATE:
	case WIRE_KIND_LIMITS:
		two[0] = (uint32_t)gen_uint(rng, UINT32_C(1) << 31);
		two[1] = 1 + (uint32_t)gen_uint(rng, INT32_MAX);
		return;
	case WIRE_KIND_BOX:
		gen_box(rng, at);
		return;
	case WIRE_KIND_CAPS:
		two[0] = rng_u32(rng) & WIRE_CAPS_ALL;
		return;
	case WIRE_KIND_RAW:
		*(struct wire_slice *)at = gen_raw(rng, scratch);
		return;
	default:
		*(struct wire_list *)at = gen_list(rng, field->kind, scratch, field->max);
	}
}

static void gen_field(struct rng *rng, const struct message_field *field, void *at,
		      struct wire_packer *scratch)
{
	struct wire_option *option = at;
	switch (field->kind) {
	case WIRE_KIND_UINT:
		*(uint64_t *)at = gen_uint(rng, field->max);
		return;
	case WIRE_KIND_INT:
		*(int64_t *)at = (int64_t)gen_uint(rng, field->max);
		if (rng_below(rng, 2) == 0)
			*(int64_t *)at = -*(int64_t *)at;
		return;
	case WIRE_KIND_REAL:
		*(double *)at = rng_range(rng, -1, 1) * field->max;
		return;
	case WIRE_KIND_TEXT:
		*(struct wire_slice *)at = gen_text(rng, scratch, field->max);
		return;
	case WIRE_KIND_BIN:
		*(struct wire_slice *)at = gen_bin(rng, scratch, field->max);
		return;
	case WIRE_KIND_NAME:
		for (int i = 0; i < 32; i++)
			((uint8_t *)at)[i] = (uint8_t)rng_u32(rng);
		return;
	case WIRE_KIND_HASH: /* stored as an optional number too */
	case WIRE_KIND_OPTION:
		option->set = rng_below(rng, 2) == 1;
		option->value = !option->set			? 0
				: field->kind == WIRE_KIND_HASH ? rng_u64(rng)
								: gen_uint(rng, field->max);
		return;
	default:
		gen_structured(rng, field, at, scratch);
	}
}

void gen_message(struct rng *rng, enum message_type type, struct message *message,
		 struct wire_packer *scratch)
{
	const struct message_info *info = message_info(type);
	message_init(message, type);
	for (uint32_t i = 0; i < info->field_count; i++)
		gen_field(rng, &info->fields[i], (uint8_t *)message + info->fields[i].offset,
			  scratch);
}

static bool bytes_same(const void *a, uint32_t a_bytes, const void *b, uint32_t b_bytes)
{
	return a_bytes == b_bytes && (a_bytes == 0 || memcmp(a, b, a_bytes) == 0);
}

static bool field_same(enum wire_kind kind, const void *a, const void *b)
{
	const struct wire_slice *slice_a = a, *slice_b = b;
	const struct wire_list *list_a = a, *list_b = b;
	const struct wire_option *option_a = a, *option_b = b;
	const struct wire_box *box_a = a, *box_b = b;
	switch (kind) {
	case WIRE_KIND_UINT:
	case WIRE_KIND_INT:
	case WIRE_KIND_REAL:
	case WIRE_KIND_VERSION:
	case WIRE_KIND_RATE:
	case WIRE_KIND_LIMITS:
		return memcmp(a, b, 8) == 0;
	case WIRE_KIND_CAPS:
		return memcmp(a, b, 4) == 0;
	case WIRE_KIND_NAME:
		return memcmp(a, b, 32) == 0;
	case WIRE_KIND_TEXT:
	case WIRE_KIND_BIN:
	case WIRE_KIND_RAW:
		return bytes_same(slice_a->at, slice_a->bytes, slice_b->at, slice_b->bytes);
	case WIRE_KIND_HASH:
	case WIRE_KIND_OPTION:
		return option_a->set == option_b->set &&
		       (!option_a->set || option_a->value == option_b->value);
	case WIRE_KIND_BOX:
		return box_a->set == box_b->set &&
		       (!box_a->set || (memcmp(box_a->min, box_b->min, sizeof box_a->min) == 0 &&
					memcmp(box_a->max, box_b->max, sizeof box_a->max) == 0));
	default:
		return list_a->count == list_b->count &&
		       bytes_same(list_a->at, list_a->bytes, list_b->at, list_b->bytes);
	}
}

const char *gen_message_difference(const struct message *a, const struct message *b)
{
	if (a->type != b->type)
		return "type";
	const struct message_info *info = message_info(a->type);
	for (uint32_t i = 0; i < info->field_count; i++) {
		const struct message_field *field = &info->fields[i];
		if (!field_same(field->kind, (const uint8_t *)a + field->offset,
				(const uint8_t *)b + field->offset))
			return field->name;
	}
	return NULL;
}
