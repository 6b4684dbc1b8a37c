/* gen_message.h: random messages within their bounds, and a comparison of two messages. */
#ifndef CAIRN_TESTS_GEN_MESSAGE_H
#define CAIRN_TESTS_GEN_MESSAGE_H

#include "protocol/message.h"
#include "protocol/packer.h"
#include "server/base/rng.h"

/* Fills every field with a random value that unpack accepts, often the ends of a range. Slices
 * point into `scratch`, which is filled from its start. */
void gen_message(struct rng *rng, enum message_type type, struct message *message,
		 struct wire_packer *scratch);

/* Compares field by field, by the meaning of each kind. Returns the name of the first field that
 * differs, else NULL. */
const char *gen_message_difference(const struct message *a, const struct message *b);

/* One random MessagePack value of at most `depth` levels. */
void gen_value(struct rng *rng, struct wire_packer *out, uint32_t depth);
/* A finite double of any magnitude. */
double gen_real(struct rng *rng);

#endif
