/* yaml.c: builds a tree from libyaml's events.
 *
 * Events are in the order of the text; a stack of the open lists and maps (at most YAML_DEPTH_MAX) gives
 * the parent of the next node. While the arrays grow, links between nodes are indices + 1; the last pass
 * turns them into pointers.
 */
#include "protocol/scene/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "server/base/array.h"

/* ---- messages ------------------------------------------------------------------------------------ */

const char *source_place(const struct source *source, uint32_t *line)
{
	const struct included_files *files = source->included;
	for (uint32_t i = files != NULL ? files->count : 0; i-- > 0;)
		if (*line > files->items[i].before) {
			*line -= files->items[i].before;
			return files->items[i].path;
		}
	return source->file;
}

const char *source_name(const struct source *source, const char *file)
{
	size_t bytes = source->hidden != NULL ? strlen(source->hidden) : 0;
	if (bytes == 0 || strncmp(file, source->hidden, bytes) != 0 ||
	    (source->hidden[bytes - 1] != '/' && file[bytes] != '/'))
		return file;
	return file + bytes + strspn(file + bytes, "/");
}

const char *source_name_short(const char *file, char out[SOURCE_NAME_BYTES])
{
	enum { KEPT = SOURCE_NAME_BYTES - 4 };
	size_t bytes = strlen(file);
	snprintf(out, SOURCE_NAME_BYTES, "%s%s", bytes > KEPT ? "..." : "",
		 bytes > KEPT ? file + bytes - KEPT : file);
	return out;
}

void included_files_release(struct included_files *self)
{
	for (uint32_t i = 0; i < self->count; i++)
		heap_free(self->items[i].path);
	self->count = 0;
}

enum status source_fail(const struct source *source, uint32_t line, enum status status,
			const char *field, const char *format, ...)
{
	struct reason message;
	const char *file = source_name(source, source_place(source, &line));
	va_list arguments;
	va_start(arguments, format);
	reason_set_list(&message, status, -1, field, format, arguments);
	va_end(arguments);
	if (line == 0) /* of the file as a whole */
		return reason_set(source->why, status, -1, field, "%s: %s", file, message.text);
	return reason_set(source->why, status, -1, field, "%s:%u: %s", file, (unsigned)line,
			  message.text);
}

enum status source_no_memory(const struct source *source)
{
	return source_fail(source, 0, STATUS_NO_MEMORY, "scene", "out of memory");
}

/* ---- the tree ------------------------------------------------------------------------------------ */

struct level {
	uint32_t node; /* the open list or map */
	uint32_t last; /* its last child + 1, or 0 */
	uint32_t children;
};

struct indices {
	uint32_t *items;
	uint32_t count, capacity;
};

struct builder {
	struct document *document;
	const struct source *source;
	/* Per node: index + 1 of the first child and of the next sibling, and where its text is. */
	struct indices first, next, text;
	struct level levels[YAML_DEPTH_MAX];
	uint32_t depth;
	bool done; /* the root is complete */
};

static uint32_t line_of(const yaml_event_t *event)
{
	return (uint32_t)event->start_mark.line + 1;
}

static bool push_index(struct indices *array, uint32_t value)
{
	if (ARRAY_RESERVE(array, (uint64_t)array->count + 1) != STATUS_OK)
		return false;
	array->items[array->count++] = value;
	return true;
}

/* Checks that the key of a map is text and not a repetition. */
static enum status check_key(struct builder *b, const struct level *level, uint32_t index)
{
	const struct document *d = b->document;
	const struct yaml_node *key = &d->nodes[index];
	if (key->kind != NODE_SCALAR)
		return source_fail(b->source, key->line, STATUS_MALFORMED, "key",
				   "a key must be text, not %s", node_kind_text(key));
	const char *text = d->text + b->text.items[index];
	if (text[0] == '\0')
		return source_fail(b->source, key->line, STATUS_MALFORMED, "key",
				   "a key is empty; it must be a name");
	if (level->children / 2 >= YAML_KEYS_MAX)
		return source_fail(b->source, key->line, STATUS_TOO_LARGE, text,
				   "a mapping may have at most %d keys", YAML_KEYS_MAX);
	uint32_t at = b->first.items[level->node];
	for (uint32_t i = 0; i < level->children; i += 2) {
		if (strcmp(d->text + b->text.items[at - 1], text) == 0)
			return source_fail(b->source, key->line, STATUS_EXISTS, text,
					   "key '%s' is given twice, first in line %u", text,
					   (unsigned)d->nodes[at - 1].line);
		at = b->next.items[b->next.items[at - 1] - 1];
	}
	return STATUS_OK;
}

/* Appends a new node to the open list or map. */
static enum status attach_node(struct builder *b, uint32_t index)
{
	struct document *d = b->document;
	if (b->depth == 0)
		return STATUS_OK;
	struct level *level = &b->levels[b->depth - 1];
	struct yaml_node *parent = &d->nodes[level->node];
	if (parent->kind == NODE_MAP && level->children % 2 == 0) {
		enum status status = check_key(b, level, index);
		if (status != STATUS_OK)
			return status;
	}
	if (level->last == 0)
		b->first.items[level->node] = index + 1;
	else
		b->next.items[level->last - 1] = index + 1;
	level->last = index + 1;
	level->children++;
	parent->count = parent->kind == NODE_MAP ? level->children / 2 : level->children;
	return STATUS_OK;
}

static enum status add_node(struct builder *b, enum node_kind kind, const yaml_event_t *event,
			    uint32_t *index)
{
	struct document *d = b->document;
	if (d->node_count >= YAML_NODES_MAX)
		return source_fail(b->source, line_of(event), STATUS_TOO_LARGE, "scene",
				   "a scene may have at most %d values", YAML_NODES_MAX);
	if (array_reserve(&d->nodes, &d->node_capacity, (uint64_t)d->node_count + 1,
			  sizeof *d->nodes) != STATUS_OK ||
	    !push_index(&b->first, 0) || !push_index(&b->next, 0) ||
	    !push_index(&b->text, d->text_count))
		return source_no_memory(b->source);
	*index = d->node_count++;
	d->nodes[*index] = (struct yaml_node){ .kind = kind, .line = line_of(event) };
	return STATUS_OK;
}

static enum status refuse_decorations(struct builder *b, const yaml_event_t *event,
				      const yaml_char_t *anchor, const yaml_char_t *tag)
{
	if (anchor != NULL)
		return source_fail(
			b->source, line_of(event), STATUS_UNSUPPORTED, "anchor",
			"anchors and aliases are not supported; use prototypes and 'like'");
	if (tag != NULL)
		return source_fail(b->source, line_of(event), STATUS_UNSUPPORTED, "tag",
				   "tags are not supported; leave the tag out");
	return STATUS_OK;
}

static enum status add_scalar(struct builder *b, const yaml_event_t *event)
{
	struct document *d = b->document;
	size_t bytes = event->data.scalar.length;
	const char *text = (const char *)event->data.scalar.value;
	uint32_t index;
	if (bytes > YAML_SCALAR_MAX)
		return source_fail(b->source, line_of(event), STATUS_TOO_LARGE, "scene",
				   "a value has %zu bytes, more than the limit of %d", bytes,
				   YAML_SCALAR_MAX);
	if (memchr(text, '\0', bytes) != NULL)
		return source_fail(b->source, line_of(event), STATUS_MALFORMED, "scene",
				   "a value contains a zero byte");
	enum status status =
		refuse_decorations(b, event, event->data.scalar.anchor, event->data.scalar.tag);
	if (status == STATUS_OK)
		status = add_node(b, NODE_SCALAR, event, &index);
	if (status != STATUS_OK)
		return status;
	if (array_reserve(&d->text, &d->text_capacity, (uint64_t)d->text_count + bytes + 1, 1) !=
	    STATUS_OK)
		return source_no_memory(b->source);
	memcpy(d->text + d->text_count, text, bytes);
	d->text[d->text_count + bytes] = '\0';
	d->text_count += (uint32_t)bytes + 1;
	d->nodes[index].quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	b->done = b->depth == 0;
	return attach_node(b, index);
}

static enum status open_level(struct builder *b, enum node_kind kind, const yaml_event_t *event,
			      const yaml_char_t *anchor, const yaml_char_t *tag)
{
	uint32_t index;
	if (b->depth == YAML_DEPTH_MAX)
		return source_fail(b->source, line_of(event), STATUS_TOO_DEEP, "scene",
				   "nested more than %d levels deep", YAML_DEPTH_MAX);
	enum status status = refuse_decorations(b, event, anchor, tag);
	if (status == STATUS_OK)
		status = add_node(b, kind, event, &index);
	if (status == STATUS_OK)
		status = attach_node(b, index);
	if (status == STATUS_OK)
		b->levels[b->depth++] = (struct level){ .node = index };
	return status;
}

/* One event; `last` is set by the end of the stream. */
static enum status take_event(struct builder *b, const yaml_event_t *event, bool *last)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return add_scalar(b, event);
	case YAML_SEQUENCE_START_EVENT:
		return open_level(b, NODE_LIST, event, event->data.sequence_start.anchor,
				  event->data.sequence_start.tag);
	case YAML_MAPPING_START_EVENT:
		return open_level(b, NODE_MAP, event, event->data.mapping_start.anchor,
				  event->data.mapping_start.tag);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		b->done = --b->depth == 0;
		return STATUS_OK;
	case YAML_ALIAS_EVENT:
		return source_fail(
			b->source, line_of(event), STATUS_UNSUPPORTED, "alias",
			"anchors and aliases are not supported; use prototypes and 'like'");
	case YAML_DOCUMENT_START_EVENT:
		if (b->done)
			return source_fail(
				b->source, line_of(event), STATUS_MALFORMED, "scene",
				"a second document begins; a scene file has one document");
		return STATUS_OK;
	case YAML_STREAM_END_EVENT:
		*last = true;
		return STATUS_OK;
	default:
		return STATUS_OK;
	}
}

static enum status read_events(struct builder *b, yaml_parser_t *parser)
{
	enum status status = STATUS_OK;
	for (bool last = false; !last && status == STATUS_OK;) {
		yaml_event_t event;
		if (!yaml_parser_parse(parser, &event)) {
			if (parser->error == YAML_MEMORY_ERROR)
				return source_no_memory(b->source);
			const char *problem = parser->problem;
			return source_fail(b->source, (uint32_t)parser->problem_mark.line + 1,
					   STATUS_MALFORMED, "yaml", "%s",
					   problem != NULL ? problem : "no YAML");
		}
		status = take_event(b, &event, &last);
		yaml_event_delete(&event);
	}
	return status;
}

/* Turns indices into pointers, after the arrays have their final addresses. */
static void link_nodes(struct builder *b)
{
	struct document *d = b->document;
	for (uint32_t i = 0; i < d->node_count; i++) {
		struct yaml_node *node = &d->nodes[i];
		uint32_t first = b->first.items[i], next = b->next.items[i];
		node->first = first != 0 ? &d->nodes[first - 1] : NULL;
		node->next = next != 0 ? &d->nodes[next - 1] : NULL;
		node->text = node->kind == NODE_SCALAR ? d->text + b->text.items[i] : NULL;
	}
	d->root = d->node_count > 0 ? d->nodes : NULL;
}

enum status document_parse(struct document *document, const struct source *source, const char *text,
			   size_t bytes)
{
	yaml_parser_t parser;
	struct builder builder = { .document = document, .source = source };
	*document = (struct document){ 0 };
	if (bytes > YAML_BYTES_MAX)
		return source_fail(source, 1, STATUS_TOO_LARGE, "scene",
				   "the text has %zu bytes, more than the limit of %d", bytes,
				   YAML_BYTES_MAX);
	if (!yaml_parser_initialize(&parser))
		return source_no_memory(source);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
	enum status status = read_events(&builder, &parser);
	yaml_parser_delete(&parser);
	if (status == STATUS_OK && document->node_count == 0)
		status = source_fail(source, 1, STATUS_MALFORMED, "scene", "the file is empty");
	if (status == STATUS_OK)
		link_nodes(&builder);
	else
		document_release(document);
	ARRAY_RELEASE(&builder.first);
	ARRAY_RELEASE(&builder.next);
	ARRAY_RELEASE(&builder.text);
	return status;
}

void document_release(struct document *document)
{
	heap_free(document->nodes);
	heap_free(document->text);
	*document = (struct document){ 0 };
}

void document_set_lines(struct document *document, const uint32_t *lines, uint32_t count)
{
	for (uint32_t i = 0; i < document->node_count; i++) {
		struct yaml_node *node = &document->nodes[i];
		ASSERT(node->line >= 1 && node->line <= count);
		node->line = lines[node->line - 1];
	}
}

void document_move_lines(struct document *document, uint32_t before)
{
	for (uint32_t i = 0; i < document->node_count; i++)
		document->nodes[i].line += before;
}

const struct yaml_node *node_find(const struct yaml_node *map, const char *key)
{
	ASSERT(map->kind == NODE_MAP);
	for (const struct yaml_node *at = map->first; at != NULL; at = at->next->next)
		if (strcmp(at->text, key) == 0)
			return at->next;
	return NULL;
}

const char *node_kind_text(const struct yaml_node *node)
{
	switch (node->kind) {
	case NODE_LIST:
		return "a list";
	case NODE_MAP:
		return "a mapping";
	case NODE_SCALAR:
		break;
	}
	return node->quoted ? "text in quotes" : "a single value";
}
