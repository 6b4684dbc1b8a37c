/* See files.h. */
#include "protocol/scene/files.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/heap.h"

enum status scene_file_read(const struct source *source, char **text, size_t *bytes)
{
	/* A client of a server must not make it wait for a pipe; who loads a file may read one. */
	bool may = source->hidden == NULL || scene_file_is_readable(source->file);
	FILE *file = may ? fopen(source->file, "rb") : NULL;
	if (file == NULL)
		return source_fail(source, 0, STATUS_MISSING, "scene", "cannot be opened");
	enum status status = STATUS_OK;
	*text = heap_alloc(YAML_BYTES_MAX + 1);
	if (*text == NULL) {
		status = source_no_memory(source);
	} else {
		*bytes = fread(*text, 1, YAML_BYTES_MAX + 1, file);
		if (ferror(file))
			status = source_fail(source, 0, STATUS_IO, "scene", "cannot be read");
	}
	if (status != STATUS_OK)
		heap_free(*text);
	fclose(file);
	return status;
}

bool scene_file_is_readable(const char *path)
{
	struct stat about;
	return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, R_OK) == 0;
}

char *scene_file_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t directory = slash != NULL ? (size_t)(slash - path) : 0;
	char *base = heap_alloc(directory + 2);
	if (base == NULL)
		return NULL;
	snprintf(base, directory + 2, "%s", slash == NULL ? "." : "/");
	if (directory > 0) {
		memcpy(base, path, directory);
		base[directory] = '\0';
	}
	return base;
}
