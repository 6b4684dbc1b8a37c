/* method_probe.h: a method for tests of the doors: it moves bodies freely, refuses hulls, and has a history.
 *
 * Its state is a random generator that is drawn from in each step and pushes bodies a little: no
 * function of the tables, so it must go through the block. It says how often it was created and
 * destroyed. */
#ifndef CAIRN_TESTS_METHOD_PROBE_H
#define CAIRN_TESTS_METHOD_PROBE_H

#include "server/engine/methods/method.h"

enum { METHOD_PROBE_NUMBER = 60000 };
extern const struct method method_probe;

/* From now on "probe" is found by name and number, as if it were listed. */
void method_probe_install(void);

struct method_probe_counts {
	uint32_t created, destroyed, saved, slept;
};
extern struct method_probe_counts method_probe_counts;

#endif
