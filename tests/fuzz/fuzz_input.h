/* fuzz_input.h: reads the numbers of a target's input one after the other. Missing bytes are 0. */
#ifndef CAIRN_TESTS_FUZZ_FUZZ_INPUT_H
#define CAIRN_TESTS_FUZZ_FUZZ_INPUT_H

#include "server/engine/math/vec3.h"

#include <string.h>

struct fuzz_input {
	const uint8_t *data;
	size_t left;
	bool raw; /* numbers are any doubles; else small multiples, as the target says */
};

static inline uint8_t fuzz_byte(struct fuzz_input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->data++;
}

/* The double that eight bytes are: any of them. */
static inline double fuzz_double(struct fuzz_input *in)
{
	double value;
	uint8_t bytes[sizeof value];
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = fuzz_byte(in);
	memcpy(&value, bytes, sizeof value);
	return value;
}

#endif
