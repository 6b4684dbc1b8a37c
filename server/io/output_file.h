/* output_file.h: the files that a command writes when it has computed what stands in them. A command that
 * takes minutes finds out before them whether it can write its files, and whether one would replace
 * another. */
#ifndef CAIRN_IO_OUTPUT_FILE_H
#define CAIRN_IO_OUTPUT_FILE_H

#include "server/base/status.h"

struct output_file {
	const char *path;   /* NULL: it is not written */
	const char *field;  /* of the reason: the option without its dashes */
	const char *format; /* as in output_name_check; NULL: the name has any ending */
	const char *endings;
	bool made; /* something else looks whether it can be written */
};

/* RANGE: the name promises another format. IO: the file cannot be written. EXISTS: two of the files are one,
 * or one is `input` (NULL: none), which the command reads. Nothing is changed; files that are no regular
 * ones, such as pipes, are not opened, and may be named twice. */
MUST_CHECK enum status output_files_check(const struct output_file *files, uint32_t count,
					  const char *input, struct reason *why);

#endif
