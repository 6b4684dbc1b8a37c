/* See output_file.h. */
#include "server/base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names --------------------------------------------------------------------------------------- */

static char lower_letter(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether the first `bytes` characters are the same, in letters of either case. */
static bool is_same(const char *a, const char *b, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (lower_letter(a[i]) != lower_letter(b[i]))
			return false;
	return true;
}

bool path_ends(const char *path, const char *ending)
{
	size_t length = strlen(path), bytes = strlen(ending);
	return length > bytes && is_same(path + length - bytes, ending, bytes);
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash != NULL ? slash + 1 : path;
}

static enum status check_ending(const struct output_file *file, struct reason *why)
{
	const char *name = name_of(file->path), *ending = strrchr(name, '.');
	if (file->format == NULL || ending == NULL || ending == name)
		return STATUS_OK;
	for (const char *at = file->endings; *at != '\0'; at += strspn(at, " ")) {
		size_t bytes = strcspn(at, " ");
		if (strlen(ending) == bytes && is_same(at, ending, bytes))
			return STATUS_OK;
		at += bytes;
	}
	return reason_set(why, STATUS_RANGE, -1, file->field,
			  "%.40s: %s is written, not %.12s: give a name that ends with %.*s, or "
			  "has no ending",
			  name, file->format, ending, (int)strcspn(file->endings, " "),
			  file->endings);
}

/* ---- places -------------------------------------------------------------------------------------- */

static enum status refuse_place(const struct output_file *file, int error, struct reason *why)
{
	if (error == EEXIST)
		return reason_set(why, STATUS_EXISTS, -1, file->field,
				  "%s exists already: remove it, or choose another name",
				  file->path);
	return reason_set(why, STATUS_IO, -1, file->field,
			  "%s cannot be written: %s; give a file in a folder that exists and may "
			  "be written",
			  file->path, strerror(error));
}

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
static int find_obstacle(const struct output_file *file)
{
	struct stat found;
	if (file->fresh && lstat(file->path, &found) == 0)
		return EEXIST;
	if (stat(file->path, &found) != 0)
		return errno == ENOENT ? try_new_file(file->path) : errno;
	if (S_ISDIR(found.st_mode))
		return EISDIR;
	return access(file->path, W_OK) == 0 ? 0 : errno;
}

static enum status check_place(const struct output_file *file, struct reason *why)
{
	int obstacle = find_obstacle(file);
	return obstacle == 0 ? STATUS_OK : refuse_place(file, obstacle, why);
}

/* The whole path, without links, of a regular file or of one that is not there. */
static bool resolve(const char *path, char out[PATH_MAX])
{
	struct stat found;
	char folder[PATH_MAX] = ".", whole[PATH_MAX];
	const char *name = name_of(path);
	if (stat(path, &found) == 0)
		return S_ISREG(found.st_mode) && realpath(path, out) != NULL;
	if (name != path && (size_t)snprintf(folder, sizeof folder, "%.*s", (int)(name - path),
					     path) >= sizeof folder)
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
				  "%s is the file that is read: give another name", file->path);
	for (uint32_t i = 0; i < at; i++)
		if (is_one_file(file->path, files[i].path))
			return reason_set(why, STATUS_EXISTS, -1, file->field,
					  "%s is the file of --%s, too: give another name",
					  file->path, files[i].field);
	return STATUS_OK;
}

enum status output_files_check(const struct output_file *files, uint32_t count, const char *input,
			       struct reason *why)
{
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
		if (files[i].path == NULL)
			continue;
		status = check_ending(&files[i], why);
		if (status == STATUS_OK)
			status = check_apart(files, i, input, why);
		if (status == STATUS_OK)
			status = check_place(&files[i], why);
	}
	return status;
}

/* ---- writing ------------------------------------------------------------------------------------- */

enum status output_file_open(const struct output_file *file, FILE **out, struct reason *why)
{
	*out = fopen(file->path, file->fresh ? "wx" : "w");
	return *out != NULL ? STATUS_OK : refuse_place(file, errno, why);
}

static enum status refuse_loss(const struct output_file *file, struct reason *why)
{
	return reason_set(why, STATUS_IO, -1, file->field,
			  "%s could not be written to its end; check the free space of its disk",
			  file->path);
}

enum status output_file_written(const struct output_file *file, FILE *stream, struct reason *why)
{
	return ferror(stream) == 0 ? STATUS_OK : refuse_loss(file, why);
}

enum status output_file_close(const struct output_file *file, FILE *stream, struct reason *why)
{
	bool lost = ferror(stream) != 0;
	lost |= fclose(stream) != 0;
	return lost ? refuse_loss(file, why) : STATUS_OK;
}
