/* xml.c: builds a tree from expat's events. */
#include "protocol/scene/robot/xml.h"

#include <string.h>

#include "protocol/scene/expat_reader.h"

struct xml_reading {
	struct xml_tree *tree;
	struct expat_reader reader; /* its source is a copy in the arena */
	struct xml_node *open, *root;
};

enum status xml_init(struct xml_tree *self)
{
	*self = (struct xml_tree){ 0 };
	return arena_init(&self->arena, 0);
}

void xml_release(struct xml_tree *self)
{
	arena_release(&self->arena);
	*self = (struct xml_tree){ 0 };
}

/* ---- events -------------------------------------------------------------------------------- */

static struct xml_node *make_node(struct xml_reading *self, const char *name)
{
	struct arena *arena = &self->tree->arena;
	struct xml_node *node = arena_push_zero(arena, sizeof *node);
	if (node == NULL || (node->name = expat_copy(arena, name)) == NULL)
		return NULL;
	node->source = self->reader.source;
	node->line = node->main_line = expat_line(&self->reader);
	node->parent = self->open;
	node->depth = self->open != NULL ? self->open->depth + 1 : 1;
	return node;
}

static bool add_attributes(struct xml_reading *self, struct xml_node *node, const char **pairs)
{
	struct arena *arena = &self->tree->arena;
	struct xml_attribute **end = &node->attributes;
	for (; pairs[0] != NULL; pairs += 2) {
		struct xml_attribute *attribute = arena_push_zero(arena, sizeof *attribute);
		if (attribute == NULL)
			return false;
		attribute->name = expat_copy(arena, pairs[0]);
		attribute->value = expat_copy(arena, pairs[1]);
		if (attribute->name == NULL || attribute->value == NULL)
			return false;
		*end = attribute;
		end = &attribute->next;
	}
	return true;
}

static void XMLCALL take_start(void *context, const char *name, const char **pairs)
{
	struct xml_reading *self = ((struct expat_reader *)context)->user;
	struct xml_node *node = make_node(self, name);
	if (node == NULL || !add_attributes(self, node, pairs)) {
		expat_stop(&self->reader, source_no_memory(self->reader.source));
		return;
	}
	if (node->depth > XML_DEPTH_MAX) {
		expat_stop(&self->reader,
			   source_fail(self->reader.source, node->line, STATUS_TOO_DEEP, "xml",
				       "elements are nested more than %d levels deep",
				       XML_DEPTH_MAX));
		return;
	}
	if (self->open == NULL)
		self->root = node;
	else if (self->open->last == NULL)
		self->open->first = node;
	else
		self->open->last->next = node;
	if (self->open != NULL)
		self->open->last = node;
	self->open = node;
}

static void XMLCALL take_end(void *context, const char *name)
{
	struct xml_reading *self = ((struct expat_reader *)context)->user;
	UNUSED(name);
	if (self->reader.status == STATUS_OK)
		self->open = self->open->parent;
}

/* ---- parsing ------------------------------------------------------------------------------- */

enum status xml_parse(struct xml_tree *self, const struct source *source, const char *text,
		      size_t bytes, struct xml_node **root)
{
	static const struct expat_handlers handlers = { take_start, take_end };
	struct xml_reading reading = { .tree = self };
	self->bytes += bytes;
	if (self->bytes > XML_BYTES_MAX)
		return source_fail(source, 1, STATUS_TOO_LARGE, "xml",
				   "the file and what it includes have more than %d bytes",
				   XML_BYTES_MAX);
	struct source *copy = arena_push(&self->arena, sizeof *copy);
	const char *name = expat_copy(&self->arena, source->file);
	if (copy == NULL || name == NULL)
		return source_no_memory(source);
	*copy = (struct source){ .file = name, .why = source->why, .hidden = source->hidden };
	reading.reader.source = copy;
	reading.reader.user = &reading;
	enum status status = expat_run(&reading.reader, &handlers, text, bytes);
	if (status != STATUS_OK)
		return status;
	ASSERT(reading.root != NULL);
	*root = reading.root;
	if (self->root == NULL)
		self->root = reading.root;
	return STATUS_OK;
}

/* ---- walking ------------------------------------------------------------------------------- */

struct xml_node *xml_next(const struct xml_node *top, struct xml_node *at, bool skip)
{
	if (!skip && at->first != NULL)
		return at->first;
	while (at != top && at->next == NULL)
		at = at->parent;
	return at != top ? at->next : NULL;
}

struct xml_node *xml_child(const struct xml_node *parent, const char *name)
{
	for (struct xml_node *at = parent->first; at != NULL; at = at->next)
		if (strcmp(at->name, name) == 0)
			return at;
	return NULL;
}

struct xml_node *xml_sibling(const struct xml_node *at)
{
	for (struct xml_node *next = at->next; next != NULL; next = next->next)
		if (strcmp(next->name, at->name) == 0)
			return next;
	return NULL;
}

const char *xml_attribute(const struct xml_node *node, const char *name)
{
	for (const struct xml_attribute *at = node->attributes; at != NULL; at = at->next)
		if (strcmp(at->name, name) == 0)
			return at->value;
	return NULL;
}

void xml_replace(struct xml_node *at, struct xml_node *from)
{
	struct xml_node *parent = at->parent;
	struct xml_node **link = &parent->first;
	struct xml_node *before = NULL;
	for (; *link != at; link = &before->next)
		before = *link;
	for (struct xml_node *child = from; child != NULL; child = xml_next(from, child, false))
		child->main_line = at->main_line;
	for (struct xml_node *child = from->first; child != NULL; child = child->next)
		child->parent = parent;
	*link = from->first != NULL ? from->first : at->next;
	if (from->last != NULL)
		from->last->next = at->next;
	if (parent->last == at)
		parent->last = from->last != NULL ? from->last : before;
	from->first = from->last = NULL;
}
