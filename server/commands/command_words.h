/* command_words.h: numbers, ticks and ranges of ticks as words of a command line, and how a command is
 * refused. A refusal names the option, its value and what it may be; `option` is without its dashes. */
#ifndef CAIRN_COMMANDS_COMMAND_WORDS_H
#define CAIRN_COMMANDS_COMMAND_WORDS_H

#include "server/past/past.h"

/* With `--report json` among the words, command_refused prints JSON. Called first, because words that
 * are no options of the command are refused, too. */
void command_refusals_begin(int argc, char **argv);
/* Prints a refusal on standard error: one object (json_text.h), or the line
 * "cairnd COMMAND: FILE: KIND: text", without what is "". KIND is the field or the name of the status. */
void command_refused(const char *command, const char *file, const char *kind,
		     const struct reason *why);

/* A finite number within least and most, of this unit ("" for none). TYPE, RANGE. */
MUST_CHECK enum status real_read(const char *text, const char *option, double least, double most,
				 const char *unit, double *value, struct reason *why);
/* Three finite numbers, X,Y,Z. TYPE. */
MUST_CHECK enum status vector_read(const char *text, const char *option, vec3 *value,
				   struct reason *why);
/* A whole number within 0 and 2^53. RANGE. */
MUST_CHECK enum status tick_read(const char *text, const char *option, uint64_t *tick,
				 struct reason *why);
/* The values of --from and --to, each NULL if it is not given: sets has_from, from, has_to and to.
 * RANGE: one is no tick, or --from comes after --to. */
MUST_CHECK enum status tick_range_read(const char *from, const char *to, struct past_range *out,
				       struct reason *why);

#endif
