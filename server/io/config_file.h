/* config_file.h: a configuration file as settings for options_parse_with.
 *
 * YAML: one mapping from names of options (without the dashes) to a value, or to a list of values
 * where the option may be given several times:
 *
 *	listen: [tcp:127.0.0.1:7411, unix:/run/cairn/cairnd.sock]
 *	data: /var/lib/cairn
 *	slow-tick-us: 8000
 */
#ifndef CAIRN_IO_CONFIG_FILE_H
#define CAIRN_IO_CONFIG_FILE_H

#include "server/base/array.h"
#include "server/base/status.h"

enum { CONFIG_FILE_MAX = 1 << 20 };

struct config_file {
	char **settings; /* "name=value", terminated by NULL; owned */
	uint32_t *lines; /* of the file, for each setting; owned */
	uint32_t count;
};

/* Reads and parses the file. The reason names file and line: MISSING or IO for a file that cannot
 * be read, the errors of document_parse, TYPE for a document that is not a mapping of values. */
MUST_CHECK enum status config_file_read(struct config_file *self, const char *path,
					struct reason *why);
/* The same from text. `name` stands for the file in messages. */
MUST_CHECK enum status config_file_parse(struct config_file *self, const char *name,
					 const char *text, size_t bytes, struct reason *why);
/* Puts "FILE:LINE: " before a refusal's text if a setting of the file caused it: that of why->index, else the
 * one that why->field names. */
void config_file_locate(const struct config_file *self, const char *path, struct reason *why);
void config_file_release(struct config_file *self);

#endif
