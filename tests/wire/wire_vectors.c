/* wire_vectors NAME: writes a file of tests/data/wire/ or a section of docs/PROTOCOL.md to standard
 * output; without a name it lists the names. tests/wire/update writes all files and sections. */
#include <stdio.h>
#include <string.h>

#include "tests/lib/wire_vectors.h"

static int write_one(const struct wire_vectors_file *list, const char *name)
{
	for (; list->name != NULL; list++) {
		if (strcmp(list->name, name) == 0) {
			list->write(stdout);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 &&
	    (write_one(WIRE_VECTORS_FILES, argv[1]) || write_one(WIRE_VECTORS_SECTIONS, argv[1])))
		return 0;
	fputs("usage: wire_vectors NAME\n", stderr);
	for (size_t i = 0; WIRE_VECTORS_FILES[i].name != NULL; i++)
		fprintf(stderr, "  %s\n", WIRE_VECTORS_FILES[i].name);
	for (size_t i = 0; WIRE_VECTORS_SECTIONS[i].name != NULL; i++)
		fprintf(stderr, "  %s\n", WIRE_VECTORS_SECTIONS[i].name);
	return 2;
}
