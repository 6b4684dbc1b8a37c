/* method_probe.h: a method for tests of the method interface: it moves bodies freely, refuses
 * hulls, and has a state.
 *
 * Its state is a random generator that each step draws from to push bodies slightly: the state is
 * no function of the tables, so it must be saved in the block. The method counts how often it was
 * created and destroyed. */
#ifndef CAIRN_TESTS_METHOD_PROBE_H
#define CAIRN_TESTS_METHOD_PROBE_H

#include "server/engine/methods/method.h"

enum { METHOD_PROBE_NUMBER = 60000 };
extern const struct method method_probe;

/* From now on "probe" is found by name and number, like a listed method. */
void method_probe_install(void);

struct method_probe_counts {
	uint32_t created, destroyed, saved, slept;
};
extern struct method_probe_counts method_probe_counts;

#endif
