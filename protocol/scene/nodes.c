/* nodes.c: nodes in chunks that never move, and a tree as text. See nodes.h. */
#include "protocol/scene/nodes.h"

#include <stdio.h>
#include <string.h>

#include "protocol/scene/formula.h"
#include "server/base/array.h"

/* ---- memory -------------------------------------------------------------------------------------- */

enum { CHUNK_BYTES = 1 << 16, CHUNK_ALIGN = 16 };

struct nodes_chunk {
	struct nodes_chunk *before;
	size_t used, bytes;
};
_Static_assert(sizeof(struct nodes_chunk) <= 32, "the memory begins after 32 bytes");
enum { CHUNK_HEAD = 32 };

void *nodes_memory(struct nodes *self, size_t bytes)
{
	size_t wanted = (bytes + CHUNK_ALIGN - 1) / CHUNK_ALIGN * CHUNK_ALIGN;
	struct nodes_chunk *chunk = self->chunks;
	if (chunk == NULL || chunk->bytes - chunk->used < wanted) {
		size_t room = MAX_OF(wanted, (size_t)CHUNK_BYTES);
		chunk = heap_alloc(CHUNK_HEAD + room);
		if (chunk == NULL)
			return NULL;
		*chunk = (struct nodes_chunk){ self->chunks, 0, room };
		self->chunks = chunk;
	}
	void *out = (char *)chunk + CHUNK_HEAD + chunk->used;
	chunk->used += wanted;
	return memset(out, 0, wanted);
}

void nodes_release(struct nodes *self)
{
	while (self->chunks != NULL) {
		struct nodes_chunk *before = self->chunks->before;
		heap_free(self->chunks);
		self->chunks = before;
	}
	self->node_count = 0;
}

/* ---- nodes --------------------------------------------------------------------------------------- */

enum status nodes_fail(const struct nodes *self, const struct source *source, uint32_t line)
{
	if (self->node_count < YAML_NODES_MAX)
		return source_no_memory(source);
	return source_fail(source, line, STATUS_LIMIT, "scene",
			   "assemblies and included files make more than %d values, the limit of a "
			   "scene",
			   YAML_NODES_MAX);
}

struct yaml_node *nodes_new(struct nodes *self, enum node_kind kind, uint32_t line)
{
	if (self->node_count == YAML_NODES_MAX)
		return NULL;
	struct yaml_node *node = nodes_memory(self, sizeof *node);
	if (node == NULL)
		return NULL;
	self->node_count++;
	node->kind = kind;
	node->line = line;
	return node;
}

const char *nodes_join(struct nodes *self, const char *a, const char *b, const char *c)
{
	size_t bytes = strlen(a) + strlen(b) + strlen(c) + 1;
	char *text = nodes_memory(self, bytes);
	if (text != NULL)
		snprintf(text, bytes, "%s%s%s", a, b, c);
	return text;
}

struct yaml_node *nodes_text(struct nodes *self, uint32_t line, const char *text)
{
	struct yaml_node *node = nodes_new(self, NODE_SCALAR, line);
	if (node != NULL)
		node->text = nodes_join(self, text, "", "");
	return node != NULL && node->text != NULL ? node : NULL;
}

struct yaml_node *nodes_number(struct nodes *self, uint32_t line, double value)
{
	char text[FORMULA_NUMBER_BYTES];
	return nodes_text(self, line, formula_number(value, text));
}

void node_list_add(struct node_list *self, struct yaml_node *item)
{
	item->next = NULL;
	if (self->last == NULL)
		self->first = item;
	else
		self->last->next = item;
	self->last = item;
	self->count++;
}

void node_list_add_pair(struct node_list *self, struct yaml_node *key, struct yaml_node *value)
{
	node_list_add(self, key);
	node_list_add(self, value);
	self->count--;
}

struct yaml_node *nodes_copy(struct nodes *self, const struct yaml_node *node)
{
	struct yaml_node *copy = nodes_new(self, node->kind, node->line);
	struct node_list children = { 0 };
	if (copy == NULL)
		return NULL;
	copy->quoted = node->quoted;
	copy->text = node->text;
	copy->formula = node->formula;
	for (const struct yaml_node *at = node->first; at != NULL; at = at->next) {
		struct yaml_node *child = nodes_copy(self, at);
		if (child == NULL)
			return NULL;
		node_list_add(&children, child);
	}
	copy->first = children.first;
	copy->count = node->count;
	return copy;
}

static struct yaml_node *make_list(struct nodes *self, uint32_t line, const double *values,
				   uint32_t count)
{
	struct yaml_node *list = nodes_new(self, NODE_LIST, line);
	struct node_list items = { 0 };
	for (uint32_t i = 0; i < count && list != NULL; i++) {
		struct yaml_node *item = nodes_number(self, line, values[i]);
		if (item == NULL)
			return NULL;
		node_list_add(&items, item);
		list->first = items.first;
		list->count = items.count;
	}
	return list;
}

struct yaml_node *nodes_vector(struct nodes *self, uint32_t line, vec3 value)
{
	const double place[] = { value.x, value.y, value.z };
	return make_list(self, line, place, 3);
}

struct yaml_node *nodes_turn(struct nodes *self, uint32_t line, quat value)
{
	const double turn[] = { value.w, value.x, value.y, value.z };
	return make_list(self, line, turn, 4);
}

struct yaml_node *nodes_pose(struct nodes *self, uint32_t line, pose at)
{
	struct yaml_node *map = nodes_new(self, NODE_MAP, line);
	struct yaml_node *position = nodes_vector(self, line, at.position);
	struct yaml_node *rotation = nodes_turn(self, line, at.rotation);
	if (map == NULL || position == NULL || rotation == NULL ||
	    !nodes_set(self, map, "at", position) || !nodes_set(self, map, "rotation", rotation))
		return NULL;
	return map;
}

struct yaml_node *node_child(struct yaml_node *map, const char *key)
{
	for (struct yaml_node *at = map->first; at != NULL; at = at->next->next)
		if (strcmp(at->text, key) == 0)
			return at->next;
	return NULL;
}

void nodes_unset(struct yaml_node *map, const char *key)
{
	struct yaml_node **link = &map->first;
	ASSERT(map->kind == NODE_MAP);
	while (*link != NULL && strcmp((*link)->text, key) != 0)
		link = &(*link)->next->next;
	if (*link == NULL)
		return;
	*link = (*link)->next->next;
	map->count--;
}

bool nodes_set(struct nodes *self, struct yaml_node *map, const char *key, struct yaml_node *value)
{
	struct yaml_node *last = NULL;
	ASSERT(map->kind == NODE_MAP);
	for (struct yaml_node *at = map->first; at != NULL; at = at->next->next) {
		if (strcmp(at->text, key) == 0) {
			value->next = at->next->next;
			at->next = value;
			return true;
		}
		last = at->next;
	}
	struct yaml_node *name = nodes_text(self, value->line, key);
	if (name == NULL)
		return false;
	name->next = value;
	value->next = NULL;
	if (last != NULL)
		last->next = name;
	else
		map->first = name;
	map->count++;
	return true;
}

/* ---- text ---------------------------------------------------------------------------------------- */

struct yaml_writer {
	ARRAY_OF(char) text;
	bool failed;
};

static void put_bytes(struct yaml_writer *self, const char *bytes, size_t count)
{
	if (self->failed ||
	    ARRAY_RESERVE(&self->text, (uint64_t)self->text.count + count) != STATUS_OK) {
		self->failed = true;
		return;
	}
	memcpy(self->text.items + self->text.count, bytes, count);
	self->text.count += (uint32_t)count;
}

static void put(struct yaml_writer *self, const char *text)
{
	put_bytes(self, text, strlen(text));
}

/* Whether the text is a plain scalar of YAML wherever it stands: nothing in it is syntax. */
static bool is_plain(const char *text)
{
	static const char CHARACTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					 "0123456789_.+-/";
	size_t bytes = strspn(text, CHARACTERS);
	if (bytes == 0 || text[bytes] != '\0')
		return false;
	/* "-", "--" and "---" are syntax at some places. */
	return text[0] != '-' || strspn(text, "-") == 1 ? bytes > 1 || text[0] != '-' : false;
}

/* A dollar sign is doubled, because a single one begins a variable. */
static void put_scalar(struct yaml_writer *self, const struct yaml_node *node)
{
	if (!node->quoted && is_plain(node->text)) {
		put(self, node->text);
		return;
	}
	put(self, "\"");
	for (const char *at = node->text; *at != '\0'; at++) {
		char code[8];
		unsigned char c = (unsigned char)*at;
		if (c == '"' || c == '\\') {
			snprintf(code, sizeof code, "\\%c", c);
			put(self, code);
		} else if (c == '$') {
			put(self, "$$");
		} else if (c < 0x20 || c == 0x7f) {
			snprintf(code, sizeof code, "\\x%02x", c);
			put(self, code);
		} else {
			put_bytes(self, at, 1);
		}
	}
	put(self, "\"");
}

static void put_flow(struct yaml_writer *self, const struct yaml_node *node)
{
	if (node->kind == NODE_SCALAR) {
		put_scalar(self, node);
		return;
	}
	bool map = node->kind == NODE_MAP;
	put(self, map ? "{" : "[");
	for (const struct yaml_node *at = node->first; at != NULL; at = at->next) {
		put_flow(self, at);
		if (map) {
			at = at->next;
			put(self, ": ");
			put_flow(self, at);
		}
		put(self, at->next != NULL ? ", " : "");
	}
	put(self, map ? "}" : "]");
}

/* A key of the root: its entries are lines of their own. */
static void put_section(struct yaml_writer *self, const struct yaml_node *key)
{
	const struct yaml_node *value = key->next;
	put_scalar(self, key);
	put(self, ":");
	if (value->kind == NODE_SCALAR || value->first == NULL) {
		put(self, " ");
		put_flow(self, value);
	}
	put(self, "\n");
	if (value->kind == NODE_SCALAR)
		return;
	for (const struct yaml_node *at = value->first; at != NULL; at = at->next) {
		put(self, value->kind == NODE_MAP ? "  " : "  - ");
		put_flow(self, at);
		if (value->kind == NODE_MAP) {
			at = at->next;
			put(self, ": ");
			put_flow(self, at);
		}
		put(self, "\n");
	}
}

char *yaml_write(const struct yaml_node *root)
{
	struct yaml_writer self = { 0 };
	if (root->kind != NODE_MAP || root->first == NULL)
		put_flow(&self, root);
	else
		for (const struct yaml_node *at = root->first; at != NULL; at = at->next->next)
			put_section(&self, at);
	put_bytes(&self, "", 1);
	if (!self.failed)
		return self.text.items;
	ARRAY_RELEASE(&self.text);
	return NULL;
}
