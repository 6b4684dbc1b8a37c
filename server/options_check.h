/* options_check.h: what the options of a command must have beside the range of each: operands, known words,
 * addresses that are safe to open. Private to options.c. */
#ifndef CAIRN_OPTIONS_CHECK_H
#define CAIRN_OPTIONS_CHECK_H

#include "server/options.h"

MUST_CHECK enum status options_check(const struct options *options, struct reason *why);

#endif
