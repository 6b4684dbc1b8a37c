/* gen_commands.h: random commands from their descriptors, and every way in which one can be wrong. */
#ifndef CAIRN_TESTS_GEN_COMMANDS_H
#define CAIRN_TESTS_GEN_COMMANDS_H

#include "server/base/rng.h"
#include "server/engine/engine.h"

/* What commands may refer to. The lists are filled and borrowed by the command that was made last. */
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
/* A random command of this kind, with values of everyday size; most of them can be done. */
void gen_command(struct gen_commands *gen, enum command_op op, struct command *out);
/* JOINT_AXIS of a joint of that type, which may not be made yet (−k), of an axis that may be told of. */
void gen_joint_axis(struct gen_commands *gen, uint8_t type, int64_t joint, struct command *out);
/* The same, of a random kind (METHOD not among them: the test decides on that). */
void gen_any_command(struct gen_commands *gen, struct command *out);

/* Spoils field `field` of a good command in its `way`-th way (below its least, above its most, not a
 * number, infinite, 1e300, an id of nothing, …). False when there are no more ways. *expected is the
 * status that must come of it. */
bool gen_spoil(struct command *command, const struct command_field *field, uint32_t way,
	       enum status *expected);

/* The name of any method there is, or another name of one. */
struct text32 gen_method_name(struct rng *rng);

#endif
