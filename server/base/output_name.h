/* output_name.h: the names of files that a command writes. The format of such a file is fixed, so a name that
 * promises another one is refused before anything is computed. */
#ifndef CAIRN_BASE_OUTPUT_NAME_H
#define CAIRN_BASE_OUTPUT_NAME_H

#include "server/base/status.h"

/* Whether `path` ends with `ending` (".svg"), in letters of either case, with something before it. */
bool output_name_ends(const char *path, const char *ending);
/* RANGE: the name has an ending, and it is none of `endings` (".yaml .yml", separated by a blank). A name
 * without an ending, such as /dev/stdout, is accepted. `field`: of the reason, an option without its dashes;
 * `format`: of the file, in the text. NULL is accepted: nothing is written. */
MUST_CHECK enum status output_name_check(const char *path, const char *field, const char *format,
					 const char *endings, struct reason *why);

/* IO: the file cannot be written, because of `error` (of errno.h). The text has the end of a long path, so
 * that the remedy fits in. */
enum status output_name_unwritable(const char *path, const char *field, int error,
				   struct reason *why);
/* The end of a long path, as it stands in texts. */
const char *output_name_tail(const char *path);

#endif
