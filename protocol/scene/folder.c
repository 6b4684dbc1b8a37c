/* See folder.h. */
#include "protocol/scene/folder.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "protocol/validate.h"
#include "server/base/utf8.h"

enum {
	HEAD_BYTES = 1024, /* of a file, in which its title is searched */
	PATH_BYTES = 4096,
};

struct listing {
	const char *folder, *after;
	struct scene_file *files;
	uint32_t room, count;
};

static bool has_ending(const char *name)
{
	static const char *const ENDINGS[] = { ".yaml", ".yml", ".json", ".urdf", ".xml", ".mjcf" };
	const char *dot = strrchr(name, '.');
	for (size_t i = 0; dot != NULL && i < COUNT_OF(ENDINGS); i++)
		if (strcmp(dot, ENDINGS[i]) == 0)
			return true;
	return false;
}

bool scene_folder_may_have(const char *path)
{
	if (!has_ending(path))
		return false;
	for (uint32_t depth = 0; depth < SCENE_FOLDER_DEPTH; depth++) {
		size_t bytes = strcspn(path, "/");
		if (!validate_name(path, bytes))
			return false;
		if (path[bytes] == '\0')
			return true;
		path += bytes + 1;
	}
	return false;
}

/* ---- titles ---------------------------------------------------------------------------------------- */

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* Leaves the text of the comment that a YAML file's lines begin with at the beginning of `head`. */
static void take_lines(char *head)
{
	char *to = head;
	for (const char *line = head; *line == '#';) {
		size_t bytes = strcspn(++line, "\n");
		memmove(to, line, bytes);
		to += bytes;
		line += bytes + (line[bytes] == '\n');
		*to++ = ' ';
	}
	*to = '\0';
}

/* The same of an XML file. */
static void take_element(char *head)
{
	const char *at = skip_blanks(head);
	const char *end = strncmp(at, "<?xml", 5) == 0 ? strstr(at, "?>") : NULL;
	at = end != NULL ? skip_blanks(end + 2) : at;
	end = strncmp(at, "<!--", 4) == 0 ? strstr(at, "-->") : NULL;
	size_t bytes = end != NULL ? (size_t)(end - (at + 4)) : 0;
	memmove(head, at + 4, bytes);
	head[bytes] = '\0';
}

/* The first sentence of a text, with single blanks, in whole characters. */
static void take_sentence(const char *text, char title[SCENE_TITLE_BYTES + 1])
{
	uint32_t length = 0;
	for (const char *at = skip_blanks(text); *at != '\0';) {
		const char *next = skip_blanks(at);
		uint32_t bytes = next > at ? 1 : MAX_OF(utf8_bytes(at, UTF8_BYTES_MAX), 1u);
		if (length + bytes > SCENE_TITLE_BYTES)
			break;
		memcpy(title + length, next > at ? " " : at, bytes);
		length += bytes;
		bool ends = next == at && *at == '.' && skip_blanks(at + 1) > at + 1;
		at = next > at ? next : at + bytes;
		if (ends)
			break;
	}
	while (length > 0 && title[length - 1] == ' ')
		length--;
	title[length] = '\0';
	utf8_mend(title);
}

static void read_title(const char *path, char title[SCENE_TITLE_BYTES + 1])
{
	/* A text of lines grows by nothing: each '#' makes room for a blank. */
	char head[HEAD_BYTES + 1];
	FILE *file = fopen(path, "rb");
	size_t bytes = file != NULL ? fread(head, 1, HEAD_BYTES, file) : 0;
	if (file != NULL)
		fclose(file);
	head[bytes] = '\0';
	/* Some editors write a mark of the order of bytes first. */
	char *text = strncmp(head, "\xEF\xBB\xBF", 3) == 0 ? head + 3 : head;
	if (text[0] == '#')
		take_lines(text);
	else
		take_element(text);
	take_sentence(text, title);
}

/* ---- the list -------------------------------------------------------------------------------------- */

/* Keeps the smallest names, in order. */
static void add_file(struct listing *self, const char *name, uint64_t bytes)
{
	struct scene_file *files = self->files;
	if (self->count == self->room && strcmp(name, files[self->room - 1].name) > 0)
		return;
	uint32_t at = self->count < self->room ? self->count++ : self->room - 1;
	for (; at > 0 && strcmp(files[at - 1].name, name) > 0; at--)
		files[at] = files[at - 1];
	files[at] = (struct scene_file){ .bytes = bytes };
	ASSERT(strlen(name) < sizeof files[at].name);
	memcpy(files[at].name, name, strlen(name) + 1);
}

/* Adds the files of a folder below the listed one; `below` is its path there, "" or ending in '/'. */
static enum status walk_folder(struct listing *self, const char *below, uint32_t depth)
{
	char path[PATH_BYTES], name[WIRE_NAME_MAX + 1];
	if (snprintf(path, sizeof path, "%s/%s", self->folder, below) >= (int)sizeof path)
		return STATUS_MISSING;
	DIR *directory = opendir(path);
	if (directory == NULL)
		return STATUS_MISSING;
	for (struct dirent *item; (item = readdir(directory)) != NULL;) {
		struct stat about;
		if (!validate_name(item->d_name, strlen(item->d_name)) ||
		    snprintf(name, sizeof name, "%s%s", below, item->d_name) >= (int)sizeof name ||
		    snprintf(path, sizeof path, "%s/%s", self->folder, name) >= (int)sizeof path ||
		    stat(path, &about) != 0)
			continue;
		if (S_ISREG(about.st_mode) && has_ending(name) && strcmp(name, self->after) > 0)
			add_file(self, name, (uint64_t)about.st_size);
		else if (S_ISDIR(about.st_mode) && depth > 1 && strlen(name) < WIRE_NAME_MAX)
			(void)walk_folder(self, strcat(name, "/"), depth - 1);
	}
	closedir(directory);
	return STATUS_OK;
}

enum status scene_folder_list(const char *folder, const char *after, struct scene_file *files,
			      uint32_t room, uint32_t *count)
{
	struct listing listing = {
		.folder = folder, .after = after, .files = files, .room = room, .count = 0
	};
	enum status status = walk_folder(&listing, "", SCENE_FOLDER_DEPTH);
	char path[PATH_BYTES];
	for (uint32_t i = 0; i < listing.count; i++)
		if (snprintf(path, sizeof path, "%s/%s", folder, files[i].name) < (int)sizeof path)
			read_title(path, files[i].title);
	*count = listing.count;
	return status;
}
