/* output_file.h: the files that a program writes. The name, what stands there already and whether the file
 * can be written are looked at before the work; then the file is opened, filled and closed. */
#ifndef CAIRN_BASE_OUTPUT_FILE_H
#define CAIRN_BASE_OUTPUT_FILE_H

#include <stdio.h>

#include "server/base/status.h"

struct output_file {
	const char *path;    /* NULL: it is not written */
	const char *field;   /* of the reason: the option without its dashes */
	const char *format;  /* that is written, for the text; NULL: the name has any ending */
	const char *endings; /* that `format` may have: ".yaml .yml", separated by a blank */
	bool fresh;	     /* the file may not exist yet; otherwise it is replaced */
};

/* RANGE: the name has an ending, and it is none of `endings`; a name without one, such as /dev/stdout, is
 * accepted. IO: the file cannot be written. EXISTS: a fresh one is there; or two of the files are one, or one
 * is `input` (NULL: none), which the program reads. Nothing is changed; files that are no regular ones, such
 * as pipes, are not opened, and may be named twice. */
MUST_CHECK enum status output_files_check(const struct output_file *files, uint32_t count,
					  const char *input, struct reason *why);

/* Opens the file, empty. IO, EXISTS as above. *out is NULL then. */
MUST_CHECK enum status output_file_open(const struct output_file *file, FILE **out,
					struct reason *why);
/* IO: something written so far is lost, as on a full disk. */
MUST_CHECK enum status output_file_written(const struct output_file *file, FILE *stream,
					   struct reason *why);
/* The same of all that was written, and closes the stream in either case. */
MUST_CHECK enum status output_file_close(const struct output_file *file, FILE *stream,
					 struct reason *why);

/* Whether `path` ends with `ending` (".svg"), in letters of either case, with something before it. */
bool path_ends(const char *path, const char *ending);

#endif
