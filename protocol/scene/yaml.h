/* yaml.h: a YAML text as a tree of nodes with line numbers.
 *
 * libyaml finds the tokens. The tree is built here, because error texts need lines, and because the limits
 * below (bytes, nodes, nesting, length of a scalar) must hold before memory is used. Anchors, aliases and
 * tags are refused: a scene has `like` for the same purpose, and a few lines of aliases can expand to
 * gigabytes. Keys are plain text, and a mapping must not have a key twice. JSON is a subset of YAML and
 * needs no code of its own.
 */
#ifndef CAIRN_PROTOCOL_SCENE_YAML_H
#define CAIRN_PROTOCOL_SCENE_YAML_H

#include "server/base/status.h"

enum {
	YAML_BYTES_MAX = 16 << 20,
	YAML_NODES_MAX = 1 << 21,
	YAML_DEPTH_MAX = 16,
	YAML_SCALAR_MAX = 1024, /* bytes of one scalar */
	YAML_KEYS_MAX = 4096,	/* of one mapping: each is compared with those before it */
};

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct yaml_node {
	enum node_kind kind;
	bool quoted;	     /* of a scalar: "5" in quotes is not a number */
	uint32_t line;	     /* from 1 */
	uint32_t count;	     /* items of a list, pairs of a map */
	const char *text;    /* of a scalar, ends in zero; borrowed from the document */
	const char *formula; /* of a scalar: what the file has in place of `text`; NULL: the same */
	/* Items, or key, value, key, value …; NULL for none. */
	struct yaml_node *first, *next;
};

/* Files that a file includes. Lines are counted through all files, so that a line names its file as
 * well: line `before` + 1 is the first one of an included file. */
enum { INCLUDED_MAX = 64 };
struct included_files {
	struct {
		char *path; /* owned */
		uint32_t before;
	} items[INCLUDED_MAX]; /* `before` ascends */
	uint32_t count;
};
void included_files_release(struct included_files *self);

/* The source of an error and its destination. */
struct source {
	const char *file;		       /* its name in error texts; borrowed */
	struct reason *why;		       /* may be NULL */
	const struct included_files *included; /* NULL: none */
	const char *hidden; /* folder that error texts leave out of names; borrowed; NULL: none */
};
/* Its name as texts have it. */
const char *source_name(const struct source *source, const char *file);
enum { SOURCE_NAME_BYTES = 60 };
/* A name that leaves room for the rest of a text: a long path is cut at its beginning, because its
 * end is more specific. Returns `out`. */
const char *source_name_short(const char *file, char out[SOURCE_NAME_BYTES]);
/* The file of a line, and *line in that file. */
const char *source_place(const struct source *source, uint32_t *line);

/* Fills the reason with "FILE:LINE: " and what follows, and returns `status`. */
enum status source_fail(const struct source *source, uint32_t line, enum status status,
			const char *field, const char *format, ...) PRINTF_LIKE(5, 6);
enum status source_no_memory(const struct source *source);

struct document {
	struct yaml_node *root; /* NULL until parsed */
	struct yaml_node *nodes;
	char *text;
	uint32_t node_count, node_capacity;
	uint32_t text_count, text_capacity;
};

/* Errors: MALFORMED (syntax, more than one document, a key that is no text), EXISTS (a key twice),
 * UNSUPPORTED (anchor, alias, tag), TOO_DEEP, TOO_LARGE, NO_MEMORY. On success the document is to be
 * released; on failure there is nothing to release. */
MUST_CHECK enum status document_parse(struct document *document, const struct source *source,
				      const char *text, size_t bytes);
void document_release(struct document *document);
/* Gives the nodes of line i the line lines[i − 1], for a text that was made of another file. */
void document_set_lines(struct document *document, const uint32_t *lines, uint32_t count);

/* Moves all nodes to lines that come after `before` others. */
void document_move_lines(struct document *document, uint32_t before);

/* The value of a key of a map; NULL if the key is absent. */
const struct yaml_node *node_find(const struct yaml_node *map, const char *key);
/* "a number", "a list", … for error texts. */
const char *node_kind_text(const struct yaml_node *node);

#endif
