/* See output_file.h. */
#include "server/io/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/output_name.h"

/* A file that is not there is made, and removed again: only that tells whether its folder takes it. Through
 * a link that leads nowhere it is made where the link leads. */
static int try_new_file(const char *path)
{
	char made[PATH_MAX];
	int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (file < 0)
		return errno;
	close(file);
	if (realpath(path, made) != NULL)
		(void)unlink(made);
	return 0;
}

/* 0, or why the file cannot be written. */
static int find_obstacle(const char *path)
{
	struct stat found;
	if (stat(path, &found) != 0)
		return errno == ENOENT ? try_new_file(path) : errno;
	if (S_ISDIR(found.st_mode))
		return EISDIR;
	return access(path, W_OK) == 0 ? 0 : errno;
}

static enum status check_place(const struct output_file *file, struct reason *why)
{
	int obstacle = find_obstacle(file->path);
	return obstacle == 0 ? STATUS_OK
			     : output_name_unwritable(file->path, file->field, obstacle, why);
}

/* The whole path, without links, of a regular file or of one that is not there. */
static bool resolve(const char *path, char out[PATH_MAX])
{
	struct stat found;
	char folder[PATH_MAX] = ".", whole[PATH_MAX];
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	if (stat(path, &found) == 0)
		return S_ISREG(found.st_mode) && realpath(path, out) != NULL;
	if (slash != NULL && (size_t)snprintf(folder, sizeof folder, "%.*s",
					      (int)(slash + 1 - path), path) >= sizeof folder)
		return false;
	if (realpath(folder, whole) == NULL)
		return false;
	return (size_t)snprintf(out, PATH_MAX, "%s/%s", whole, name) < PATH_MAX;
}

static bool is_one_file(const char *a, const char *b)
{
	char first[PATH_MAX], second[PATH_MAX];
	return a != NULL && b != NULL && resolve(a, first) && resolve(b, second) &&
	       strcmp(first, second) == 0;
}

static enum status check_apart(const struct output_file *files, uint32_t at, const char *input,
			       struct reason *why)
{
	const struct output_file *file = &files[at];
	if (is_one_file(file->path, input))
		return reason_set(why, STATUS_EXISTS, -1, file->field,
				  "%s is the file that is read: give another name",
				  output_name_tail(file->path));
	for (uint32_t i = 0; i < at; i++)
		if (is_one_file(file->path, files[i].path))
			return reason_set(why, STATUS_EXISTS, -1, file->field,
					  "%s is the file of --%s, too: give another name",
					  output_name_tail(file->path), files[i].field);
	return STATUS_OK;
}

enum status output_files_check(const struct output_file *files, uint32_t count, const char *input,
			       struct reason *why)
{
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
		const struct output_file *file = &files[i];
		if (file->path == NULL)
			continue;
		if (file->format != NULL)
			status = output_name_check(file->path, file->field, file->format,
						   file->endings, why);
		if (status == STATUS_OK)
			status = check_apart(files, i, input, why);
		if (status == STATUS_OK && !file->made)
			status = check_place(file, why);
	}
	return status;
}
