/* include.c: the parts of included files. See expand.h.
 *
 * A file may include files of its own folder and of those below it, so that a scene reaches nothing else.
 * Each file has variables of its own. What it says of the world, of comparisons and of expectations is
 * not taken, because the first file says how the world runs; a note tells.
 */
#include "protocol/scene/expand.h"

#include <stdio.h>
#include <string.h>

#include "protocol/scene/compile.h"
#include "protocol/scene/files.h"
#include "protocol/scene/mesh.h"
#include "protocol/scene/robot/convert.h"

/* ---- notes --------------------------------------------------------------------------------------- */

static enum status add_note(struct scene_expansion *self, const char *text)
{
	size_t bytes = strlen(text);
	if (ARRAY_RESERVE(&self->notes, (uint64_t)self->notes.count + bytes) != STATUS_OK)
		return source_no_memory(&self->source);
	memcpy(self->notes.items + self->notes.count, text, bytes);
	self->notes.count += (uint32_t)bytes;
	return STATUS_OK;
}

/* The sections of an included file that are not taken. */
static enum status note_rest(struct scene_expansion *self, const struct yaml_node *root)
{
	static const char *const REST[] = { "world", "compare", "expect" };
	char text[512];
	enum status status = STATUS_OK;
	for (size_t i = 0; i < COUNT_OF(REST) && status == STATUS_OK; i++) {
		const struct yaml_node *value = node_find(root, REST[i]);
		if (value == NULL)
			continue;
		uint32_t line = value->line;
		const char *file = source_place(&self->source, &line);
		snprintf(text, sizeof text, "%.255s:%u: %s of an included file is not taken\n",
			 file, (unsigned)line, REST[i]);
		status = add_note(self, text);
	}
	return status;
}

/* ---- reading ------------------------------------------------------------------------------------- */

static enum status check_file(struct scene_expansion *self, uint32_t line, const char *name,
			      const struct open_file *file, const char *path)
{
	if (file->folder == NULL)
		return source_fail(&self->source, line, STATUS_UNSUPPORTED, "include",
				   "a scene that is no file includes no other");
	if (!mesh_name_is_below(name))
		return source_fail(
			&self->source, line, STATUS_RANGE, "include",
			"'%.40s' must be a relative name without '..': files are included "
			"from this folder and those below it",
			name);
	for (const struct open_file *at = file; at != NULL; at = at->around)
		if (strcmp(at->path, path) == 0)
			return source_fail(&self->source, line, STATUS_BACK_REFERENCE, "include",
					   "'%s' includes itself, directly or through others",
					   name);
	if (file->depth == INCLUDE_DEPTH_MAX)
		return source_fail(&self->source, line, STATUS_TOO_DEEP, "include",
				   "files are included more than %d levels deep",
				   INCLUDE_DEPTH_MAX);
	if (self->included->count == INCLUDED_MAX)
		return source_fail(&self->source, line, STATUS_LIMIT, "include",
				   "more than %d files are included", INCLUDED_MAX);
	if (!scene_file_is_readable(path))
		return source_fail(&self->source, line, STATUS_MISSING, "include",
				   "'%s' is not here, or is no file that can be read", name);
	return STATUS_OK;
}

/* Parses a text into the last document; robots become scenes first. */
static enum status parse_text(struct scene_expansion *self, const struct source *source,
			      const char *folder, const char *text, size_t bytes,
			      struct document *out)
{
	struct robot_scene robot;
	if (!robot_is_file(text, bytes))
		return document_parse(out, source, text, bytes);
	enum status status = robot_convert(source, text, bytes, folder, self->options, &robot);
	if (status != STATUS_OK)
		return status;
	self->robots++;
	status = add_note(self, robot.notes);
	if (status == STATUS_OK)
		status = document_parse(out, source, robot.text, robot.bytes);
	if (status == STATUS_OK)
		document_set_lines(out, robot.lines, robot.line_count);
	robot_scene_release(&robot);
	return status;
}

/* Reads a file; its lines come after all lines so far. *out is owned by `documents`. */
static enum status read_document(struct scene_expansion *self, const struct open_file *file,
				 struct yaml_node **root)
{
	struct included_files *files = self->included;
	struct source source = { .file = file->path,
				 .why = self->source.why,
				 .hidden = self->source.hidden };
	char *text = NULL;
	size_t bytes = 0;
	if (ARRAY_RESERVE(&self->documents, (uint64_t)self->documents.count + 1) != STATUS_OK)
		return source_no_memory(&self->source);
	enum status status = scene_file_read(&source, &text, &bytes);
	if (status != STATUS_OK)
		return status;
	struct document *document = &self->documents.items[self->documents.count];
	status = parse_text(self, &source, file->folder, text, bytes, document);
	uint32_t lines = 1;
	for (size_t i = 0; i < bytes; i++)
		lines += text[i] == '\n';
	heap_free(text);
	if (status != STATUS_OK)
		return status;
	self->documents.count++;
	document_move_lines(document, self->line_count);
	*root = document->root;
	size_t path_bytes = strlen(file->path) + 1;
	char *path = heap_alloc(path_bytes);
	if (path == NULL)
		return source_no_memory(&self->source);
	files->items[files->count].path = memcpy(path, file->path, path_bytes);
	files->items[files->count++].before = self->line_count;
	self->line_count += lines;
	return STATUS_OK;
}

/* ---- joining ------------------------------------------------------------------------------------- */

/* Mesh files beside the included file are named from the first file's folder. */
static enum status move_meshes(struct scene_expansion *self, const struct open_file *file,
			       struct yaml_node *node)
{
	enum status status = STATUS_OK;
	if (node->kind == NODE_MAP && node_child(node, "kind") != NULL) {
		struct yaml_node *mesh = node_child(node, "file");
		if (mesh == NULL || mesh->kind != NODE_SCALAR || !mesh_name_is_below(mesh->text) ||
		    !mesh_exists(file->folder, mesh->text))
			return STATUS_OK;
		mesh->text = nodes_join(&self->nodes, file->below, "/", mesh->text);
		return mesh->text != NULL ? STATUS_OK : source_no_memory(&self->source);
	}
	for (struct yaml_node *at = node->first; at != NULL && status == STATUS_OK; at = at->next)
		status = move_meshes(self, file, at);
	return status;
}

static enum status names_of_map(struct scene_expansion *self, const struct node_list *map,
				struct name_set *out)
{
	out->items = nodes_memory(&self->nodes, MAX_OF(map->count, 1u) * sizeof *out->items);
	if (out->items == NULL)
		return source_no_memory(&self->source);
	for (const struct yaml_node *key = map->first; key != NULL; key = key->next->next)
		out->items[out->count++] = key->text;
	name_set_sort(out);
	return STATUS_OK;
}

/* All names of the parts. */
static enum status take_names(struct scene_expansion *self, const struct parts *parts,
			      struct emplacement *placing)
{
	struct name_set *assemblies = &placing->names[NAME_ASSEMBLY];
	uint32_t count = 1;
	enum status status =
		names_of_entries(self, parts->lists[PART_BODY].first, parts->lists[PART_BODY].count,
				 &placing->names[NAME_BODY]);
	if (status == STATUS_OK)
		status = names_of_entries(self, parts->lists[PART_JOINT].first,
					  parts->lists[PART_JOINT].count,
					  &placing->names[NAME_JOINT]);
	for (enum name_kind kind = NAME_MATERIAL; kind <= NAME_PROTOTYPE && status == STATUS_OK;
	     kind++)
		status = names_of_map(self, &parts->maps[kind], &placing->names[kind]);
	for (const struct assembly *at = parts->assemblies; at != NULL; at = at->next)
		count++;
	assemblies->items = nodes_memory(&self->nodes, count * sizeof *assemblies->items);
	if (status == STATUS_OK && assemblies->items == NULL)
		status = source_no_memory(&self->source);
	for (const struct assembly *at = parts->assemblies; at != NULL && status == STATUS_OK;
	     at = at->next)
		assemblies->items[assemblies->count++] = at->name;
	name_set_sort(assemblies);
	return status;
}

static enum status join_maps(struct scene_expansion *self, const struct emplacement *placing,
			     struct parts *from, struct parts *out)
{
	enum status status = STATUS_OK;
	struct yaml_node *next;
	for (enum name_kind kind = NAME_MATERIAL; kind <= NAME_PROTOTYPE; kind++)
		for (struct yaml_node *key = from->maps[kind].first;
		     key != NULL && status == STATUS_OK; key = next) {
			struct yaml_node *value = key->next;
			next = value->next;
			key->text = placing_name(self, placing, kind, key->text);
			if (key->text == NULL)
				return source_no_memory(&self->source);
			status = expand_rename(self, placing, kind, value);
			if (status == STATUS_OK)
				status = parts_add(self, out, kind, key, value);
		}
	return status;
}

static enum status join_assemblies(struct scene_expansion *self, const struct emplacement *placing,
				   struct parts *from, struct parts *out)
{
	struct assembly *next;
	for (struct assembly *at = from->assemblies; at != NULL; at = next) {
		next = at->next;
		enum status status = expand_rename(self, placing, NAME_ASSEMBLY, at->node);
		if (status != STATUS_OK)
			return status;
		at->name = placing_name(self, placing, NAME_ASSEMBLY, at->name);
		if (at->name == NULL)
			return source_no_memory(&self->source);
		at->next = out->assemblies;
		out->assemblies = at;
	}
	return STATUS_OK;
}

static enum status join_lists(struct scene_expansion *self, const struct emplacement *placing,
			      struct parts *from, struct parts *out)
{
	enum status status = STATUS_OK;
	struct yaml_node *next;
	for (enum part_kind kind = PART_BODY; kind < PART_KINDS; kind++)
		for (struct yaml_node *at = from->lists[kind].first;
		     at != NULL && status == STATUS_OK; at = next) {
			next = at->next;
			status = expand_place(self, placing, kind, at);
			node_list_add(&out->lists[kind], at);
		}
	return status;
}

static enum status join_parts(struct scene_expansion *self, const struct include_keys *keys,
			      struct parts *from, struct parts *out)
{
	struct emplacement placing = { .frame = pose_make(keys->at, keys->rotation) };
	placing.moved = KEY_GIVEN(keys, INCLUDE, at) || KEY_GIVEN(keys, INCLUDE, rotation);
	enum status status = STATUS_OK;
	if (keys->name != NULL) {
		placing.prefix = nodes_join(&self->nodes, keys->name, ".", "");
		status = placing.prefix != NULL ? take_names(self, from, &placing)
						: source_no_memory(&self->source);
	}
	if (status == STATUS_OK)
		status = join_maps(self, &placing, from, out);
	if (status == STATUS_OK)
		status = join_assemblies(self, &placing, from, out);
	return status == STATUS_OK ? join_lists(self, &placing, from, out) : status;
}

static enum status include_file(struct scene_expansion *self, const struct include_keys *keys,
				uint32_t line, const struct open_file *around, struct scope *outer,
				struct parts *out)
{
	char below[256] = "";
	const char *folder = around->folder != NULL ? around->folder : "";
	struct open_file file = { .around = around, .depth = around->depth + 1 };
	const char *slash = strrchr(keys->file, '/');
	if (slash != NULL)
		snprintf(below, sizeof below, "/%.*s", (int)(slash - keys->file), keys->file);
	/* "." is not written, so that errors have the name that a reader would give. */
	file.path = strcmp(folder, ".") == 0 ? keys->file
					     : nodes_join(&self->nodes, folder, "/", keys->file);
	file.folder = nodes_join(&self->nodes, folder, below, "");
	file.below = around->below[0] == '\0' && below[0] != '\0'
			     ? nodes_join(&self->nodes, below + 1, "", "")
			     : nodes_join(&self->nodes, around->below, below, "");
	if (file.path == NULL || file.folder == NULL || file.below == NULL)
		return source_no_memory(&self->source);
	struct yaml_node *root = NULL;
	struct scope *scope;
	struct parts parts;
	enum status status = check_file(self, line, keys->file, around, file.path);
	if (status == STATUS_OK)
		status = read_document(self, &file, &root);
	if (status == STATUS_OK && file.below[0] != '\0')
		status = move_meshes(self, &file, root);
	if (status == STATUS_OK)
		status = expand_parts(self, root, &file, keys->variables, outer, &scope, &parts);
	if (status == STATUS_OK)
		status = note_rest(self, root);
	return status == STATUS_OK ? join_parts(self, keys, &parts, out) : status;
}

/* One item: a name, or table include. */
static enum status include_item(struct scene_expansion *self, struct yaml_node *item,
				const struct open_file *file, struct scope *scope,
				struct parts *out)
{
	struct include_keys keys;
	enum status status = STATUS_OK;
	schema_defaults(SCHEMA_INCLUDE, &keys);
	if (item->kind == NODE_LIST)
		return source_fail(&self->source, item->line, STATUS_TYPE, "include",
				   "an include must be a file's name or a mapping, not a list");
	if (item->kind == NODE_SCALAR) {
		status = scope_substitute(scope, &self->nodes, item);
		keys.file = item->text;
		if (status == STATUS_OK && (item->text[0] == '\0' || strlen(item->text) > 255))
			status = source_fail(&self->source, item->line, STATUS_RANGE, "include",
					     "a file's name has from 1 to 255 bytes");
	} else {
		for (struct yaml_node *key = item->first; key != NULL && status == STATUS_OK;
		     key = key->next->next)
			if (strcmp(key->text, "variables") != 0)
				status = scope_substitute(scope, &self->nodes, key->next);
		if (status == STATUS_OK)
			status = schema_read(&self->source, item, SCHEMA_INCLUDE, &keys);
	}
	return status == STATUS_OK ? include_file(self, &keys, item->line, file, scope, out)
				   : status;
}

enum status expand_includes(struct scene_expansion *self, struct yaml_node *include,
			    const struct open_file *file, struct scope *scope, struct parts *out)
{
	enum status status = STATUS_OK;
	if (include->kind != NODE_LIST)
		return include_item(self, include, file, scope, out);
	for (struct yaml_node *at = include->first; at != NULL && status == STATUS_OK;
	     at = at->next)
		status = include_item(self, at, file, scope, out);
	return status;
}
