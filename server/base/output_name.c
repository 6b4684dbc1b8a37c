/* See output_name.h. */
#include "server/base/output_name.h"

#include <string.h>

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

bool output_name_ends(const char *path, const char *ending)
{
	size_t length = strlen(path), bytes = strlen(ending);
	return length > bytes && is_same(path + length - bytes, ending, bytes);
}

/* The last dot of the name and what follows; NULL: none. */
static const char *ending_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	return dot != NULL && dot > name ? dot : NULL;
}

enum status output_name_check(const char *path, const char *field, const char *format,
			      const char *endings, struct reason *why)
{
	const char *ending = path != NULL ? ending_of(path) : NULL;
	if (ending == NULL)
		return STATUS_OK;
	for (const char *at = endings; *at != '\0'; at += strspn(at, " ")) {
		size_t bytes = strcspn(at, " ");
		if (strlen(ending) == bytes && is_same(at, ending, bytes))
			return STATUS_OK;
		at += bytes;
	}
	const char *slash = strrchr(path, '/');
	return reason_set(why, STATUS_RANGE, -1, field,
			  "%.40s: %s is written, not %.12s: give a name that ends with %.*s, or "
			  "has no ending",
			  slash != NULL ? slash + 1 : path, format, ending,
			  (int)strcspn(endings, " "), endings);
}

const char *output_name_tail(const char *path)
{
	enum { TAIL = 60 };
	size_t bytes = strlen(path);
	return bytes > TAIL ? path + bytes - TAIL : path;
}

enum status output_name_unwritable(const char *path, const char *field, int error,
				   struct reason *why)
{
	return reason_set(why, STATUS_IO, -1, field,
			  "%s cannot be written: %s; give a file in a folder that exists and may "
			  "be written",
			  output_name_tail(path), strerror(error));
}
