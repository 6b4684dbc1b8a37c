/* float_environment.h: whether this thread's arithmetic gives the bits that every other machine gives.
 *
 * Tested once when a world is created, on the thread that will step it: rounding to nearest, ties to
 * even; small numbers (denormals) neither read nor written as zero; no wider intermediates. A
 * library with fast-math start-up code can switch denormals off for a whole process.
 */
#ifndef CAIRN_ENGINE_MATH_FLOAT_ENVIRONMENT_H
#define CAIRN_ENGINE_MATH_FLOAT_ENVIRONMENT_H

#include "server/base/status.h"

/* STATUS_OK, or STATUS_UNSUPPORTED with the reason in `why` (may be NULL). */
MUST_CHECK enum status float_environment_check(struct reason *why);

#endif
