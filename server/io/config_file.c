/* See config_file.h. */
#include "server/io/config_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "protocol/scene/yaml.h"
#include "server/base/bytes.h"

void config_file_release(struct config_file *self)
{
	for (uint32_t i = 0; i < self->count; i++)
		heap_free(self->settings[i]);
	heap_free(self->settings);
	heap_free(self->lines);
	*self = (struct config_file){ 0 };
}

static uint32_t settings_of(const struct yaml_node *root)
{
	uint32_t count = 0;
	for (const struct yaml_node *key = root->first; key != NULL; key = key->next->next)
		count += key->next->kind == NODE_LIST ? key->next->count : 1;
	return count;
}

static enum status add_setting(struct config_file *self, const struct source *source,
			       const struct yaml_node *key, const struct yaml_node *value)
{
	if (value->kind != NODE_SCALAR)
		return source_fail(source, value->line, STATUS_TYPE, key->text,
				   "%s must be a value or a list of values", key->text);
	size_t bytes = strlen(key->text) + strlen(value->text) + 2;
	char *setting = heap_alloc(bytes);
	if (setting == NULL)
		return source_no_memory(source);
	snprintf(setting, bytes, "%s=%s", key->text, value->text);
	self->lines[self->count] = value->line;
	self->settings[self->count++] = setting;
	return STATUS_OK;
}

static enum status take_apart(struct config_file *self, const struct source *source,
			      const struct yaml_node *root)
{
	if (root->kind != NODE_MAP)
		return source_fail(source, root->line, STATUS_TYPE, "config",
				   "a mapping from names of options to values is needed");
	self->settings = heap_alloc_zero((settings_of(root) + 1) * sizeof *self->settings);
	self->lines = heap_alloc_zero((settings_of(root) + 1) * sizeof *self->lines);
	if (self->settings == NULL || self->lines == NULL)
		return source_no_memory(source);
	enum status status = STATUS_OK;
	for (const struct yaml_node *key = root->first; status == STATUS_OK && key != NULL;
	     key = key->next->next) {
		const struct yaml_node *value = key->next;
		if (value->kind != NODE_LIST)
			status = add_setting(self, source, key, value);
		for (const struct yaml_node *item = value->kind == NODE_LIST ? value->first : NULL;
		     status == STATUS_OK && item != NULL; item = item->next)
			status = add_setting(self, source, key, item);
	}
	return status;
}

void config_file_locate(const struct config_file *self, const char *path, struct reason *why)
{
	size_t field = strlen(why->field);
	uint32_t found = why->index >= 0 ? (uint32_t)MIN_OF(why->index, (int64_t)self->count) : 0;
	while (why->index < 0 && found < self->count &&
	       (strncmp(self->settings[found], why->field, field) != 0 ||
		self->settings[found][field] != '='))
		found++;
	if (found >= self->count)
		return;
	/* The end of a long path tells more than its beginning. */
	enum { PATH_SHOWN = 48 };
	size_t length = strlen(path), cut = length > PATH_SHOWN ? length - PATH_SHOWN : 0;
	struct reason inner = *why;
	reason_set(why, inner.status, -1, inner.field, "%s%s:%u: %s", cut > 0 ? "…" : "",
		   path + cut, (unsigned)self->lines[found], inner.text);
}

/* A file of blanks and comments only is allowed. */
static bool has_only_blanks(const char *text, size_t bytes)
{
	bool comment = false;
	for (size_t i = 0; i < bytes; i++) {
		comment = text[i] != '\n' && (comment || text[i] == '#');
		if (!comment && strchr(" \t\r\n", text[i]) == NULL)
			return false;
	}
	return true;
}

enum status config_file_parse(struct config_file *self, const char *name, const char *text,
			      size_t bytes, struct reason *why)
{
	struct source source = { .file = name, .why = why };
	struct document document;
	*self = (struct config_file){ 0 };
	if (has_only_blanks(text, bytes))
		return STATUS_OK;
	enum status status = document_parse(&document, &source, text, bytes);
	if (status != STATUS_OK)
		return status;
	status = take_apart(self, &source, document.root);
	document_release(&document);
	if (status != STATUS_OK)
		config_file_release(self);
	return status;
}

enum status config_file_read(struct config_file *self, const char *path, struct reason *why)
{
	struct bytes text = { 0 };
	FILE *file = fopen(path, "rb");
	enum status status = file == NULL ? STATUS_IO : bytes_reserve(&text, CONFIG_FILE_MAX + 1);
	*self = (struct config_file){ 0 };
	if (file == NULL)
		return reason_set(why, errno == ENOENT ? STATUS_MISSING : STATUS_IO, -1, "config",
				  "%s: %s", path, strerror(errno));
	if (status == STATUS_OK) {
		text.count = fread(text.data, 1, CONFIG_FILE_MAX + 1, file);
		if (ferror(file))
			status = reason_set(why, STATUS_IO, -1, "config", "%s could not be read",
					    path);
		else if (text.count > CONFIG_FILE_MAX)
			status = reason_set(why, STATUS_TOO_LARGE, -1, "config",
					    "%s has more than %d bytes", path, CONFIG_FILE_MAX);
	} else {
		reason_set(why, status, -1, "config", "%s", status_text(status));
	}
	fclose(file);
	if (status == STATUS_OK)
		status = config_file_parse(self, path, (const char *)text.data, text.count, why);
	bytes_release(&text);
	return status;
}
