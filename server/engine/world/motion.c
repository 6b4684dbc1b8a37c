/* motion.c: the motion numbers of a build, one for the core and one for each method. Two builds with
 * equal numbers compute the same bits.
 */
#include "server/engine/engine.h"
#include "server/engine/methods/method.h"

#include <stdio.h>
#include <string.h>

struct motion_numbers engine_motion(void)
{
	struct motion_numbers numbers = { .core = ENGINE_CORE };
	const struct method *const *list = method_list(&numbers.method_count);
	ASSERT(numbers.method_count <= MOTION_METHODS_MAX);
	for (uint32_t i = 0; i < numbers.method_count; i++) {
		numbers.methods[i].method = list[i]->number;
		numbers.methods[i].number = list[i]->motion;
	}
	return numbers;
}

/* The numbers that stand for `abi` 1: of free, soft-step and lcp. Frozen, because old files depend on
 * them. */
struct motion_numbers motion_of_abi_1(void)
{
	return (struct motion_numbers){
		.core = 1,
		.method_count = 3,
		.methods = { { .method = 1, .number = 1 },
			     { .method = 2, .number = 1 },
			     { .method = 3, .number = 0 } },
	};
}

/* The motion number of a method, or -1 if `numbers` does not contain the method. */
static int64_t method_motion(const struct motion_numbers *numbers, uint16_t method)
{
	for (uint32_t i = 0; i < numbers->method_count; i++)
		if (numbers->methods[i].method == method)
			return numbers->methods[i].number;
	return -1;
}

bool motion_is_same(const struct motion_numbers *a, const struct motion_numbers *b,
		    const char *method)
{
	const struct method *found = method_find(method);
	if (found == NULL || a->core != b->core)
		return false;
	int64_t number = method_motion(a, found->number);
	return number >= 0 && number == method_motion(b, found->number);
}

void motion_text(const struct motion_numbers *numbers, char text[MOTION_TEXT_MAX])
{
	size_t at = (size_t)snprintf(text, MOTION_TEXT_MAX, "core %u", numbers->core);
	for (uint32_t i = 0; i < numbers->method_count && at < MOTION_TEXT_MAX; i++) {
		const struct method *method = method_by_number(numbers->methods[i].method);
		if (method != NULL)
			at += (size_t)snprintf(text + at, MOTION_TEXT_MAX - at, ", %s %u",
					       method->name, numbers->methods[i].number);
	}
}

/* Parses "NAME NUMBER", which ends at a comma or at the end of the text. Returns the text after it; NULL
 * if the text has another form. */
static const char *parse_motion_number(const char *text, char name[32], uint32_t *number)
{
	uint32_t length = 0;
	uint64_t value = 0;
	while (length < 31 && text[length] != '\0' && text[length] != ' ' && text[length] != ',')
		length++;
	if (length == 0 || text[length] != ' ')
		return NULL;
	ASSERT(length < 32);
	memcpy(name, text, length);
	name[length] = '\0';
	text += length + 1;
	const char *digits = text;
	for (; *text >= '0' && *text <= '9' && value <= UINT32_MAX; text++)
		value = value * 10 + (uint64_t)(*text - '0');
	*number = (uint32_t)value;
	if (text == digits || value > UINT32_MAX)
		return NULL;
	if (*text == '\0')
		return text;
	return text[0] == ',' && text[1] == ' ' && text[2] != '\0' ? text + 2 : NULL;
}

enum status motion_parse(const char *text, struct motion_numbers *out)
{
	char name[32];
	uint32_t number;
	memset(out, 0, sizeof *out);
	text = parse_motion_number(text, name, &out->core);
	if (text == NULL || strcmp(name, "core") != 0)
		return STATUS_MALFORMED;
	while (*text != '\0') {
		text = parse_motion_number(text, name, &number);
		if (text == NULL)
			return STATUS_MALFORMED;
		const struct method *method = method_find(name);
		if (method == NULL)
			continue;
		if (out->method_count == MOTION_METHODS_MAX ||
		    method_motion(out, method->number) >= 0)
			return STATUS_MALFORMED;
		out->methods[out->method_count].method = method->number;
		out->methods[out->method_count++].number = number;
	}
	return STATUS_OK;
}
