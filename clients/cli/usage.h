/* usage.h: reads the usages of verbs.def: which options a verb has, and how many operands. */
#ifndef CAIRN_CLIENTS_CLI_USAGE_H
#define CAIRN_CLIENTS_CLI_USAGE_H

#include "server/base/base.h"

/* An option in a usage, such as `[--rate N[/D]]` or `[--planar]`. */
struct usage_option {
	char name[32]; /* without its dashes */
	bool has_value;
};
/* Finds the next option at or after *at and moves *at behind its name; false: there is none. */
bool usage_next_option(const char **at, struct usage_option *out);

/* The most operands that the usage allows; UINT32_MAX if it lists alternatives or ends in "…". */
uint32_t usage_operands_max(const char *usage);

/* Whether options may stand together, by the brackets of the usage: `[--a | --b]` are alternatives, and the
 * options in `[--a [--b]]` need the one with which the outer bracket begins. `given`: names without dashes;
 * those that the usage does not have are left out. On false, `text` says which and what to do. */
bool usage_allows(const char *usage, const char *const *given, uint32_t count, char *text,
		  size_t bytes);

#endif
