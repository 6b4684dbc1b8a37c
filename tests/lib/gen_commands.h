/* gen_commands.h: random commands made from their descriptors, and every way in which one can be
 * invalid. */
#ifndef CAIRN_TESTS_GEN_COMMANDS_H
#define CAIRN_TESTS_GEN_COMMANDS_H

#include "server/base/rng.h"
#include "server/engine/engine.h"

/* The ids that commands may refer to. The most recent command borrows the lists. */
struct gen_commands {
	struct rng rng;
	const struct world *world; /* borrowed */
	bool planar;
	struct attachment items[4];
	struct joint_target targets[6];
	struct joint_point points[5];
	double size; /* typical magnitude of vectors, m, m/s, … */
};

void gen_commands_init(struct gen_commands *gen, const struct world *world, uint64_t seed);
/* A random command of this kind with everyday values; most of them are accepted. */
void gen_command(struct gen_commands *gen, enum command_op op, struct command *out);
/* JOINT_AXIS of a joint of that type, on an axis that such a joint has. A negative id (−k) names
 * the k-th joint of the same batch. */
void gen_joint_axis(struct gen_commands *gen, uint8_t type, int64_t joint, struct command *out);
/* The same, of a random kind (except METHOD, which the test decides). */
void gen_any_command(struct gen_commands *gen, struct command *out);

/* Makes field `field` of a valid command invalid in the `way`-th way (below its minimum, above its
 * maximum, NaN, infinite, 1e300, an unknown id, …). False: there are no more ways. *expected is the
 * status that the world must return. */
bool gen_spoil(struct command *command, const struct command_field *field, uint32_t way,
	       enum status *expected);

/* The name of any method, or an alias of one. */
struct text32 gen_method_name(struct rng *rng);

#endif
