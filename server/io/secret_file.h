/* secret_file.h: reads a small file that other users must not be able to read. */
#ifndef CAIRN_IO_SECRET_FILE_H
#define CAIRN_IO_SECRET_FILE_H

#include "server/base/bytes.h"

/* Appends the whole file. `field` names the option in `why`: IO cannot be read, TOO_LARGE,
 * FORBIDDEN every user of this machine may read it. */
MUST_CHECK enum status secret_file_read(const char *path, size_t bytes_max, const char *field,
					struct bytes *out, struct reason *why);
/* OK: secret_file_read would succeed. For a file that a library reads by its name. */
MUST_CHECK enum status secret_file_check(const char *path, size_t bytes_max, const char *field,
					 struct reason *why);

#endif
