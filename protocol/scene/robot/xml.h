/* xml.h: an XML file as a tree of elements with their files and lines.
 *
 * Expat finds the tags. The tree is built here, because error texts need lines, and because
 * the limits below must hold before memory is used. A document type is refused, so there are
 * no entities but the five of XML: nothing outside the file is read, and no few lines expand
 * to gigabytes. Text between tags is ignored, because no robot file that we read has any.
 */
#ifndef CAIRN_PROTOCOL_SCENE_ROBOT_XML_H
#define CAIRN_PROTOCOL_SCENE_ROBOT_XML_H

#include "protocol/scene/yaml.h"
#include "server/base/arena.h"

enum {
	XML_BYTES_MAX = 16 << 20, /* of all files together */
	XML_DEPTH_MAX = 256,
	XML_FILES_MAX = 64, /* the file and those that it includes */
};

struct xml_attribute {
	const char *name, *value;
	struct xml_attribute *next;
};
struct element_rule; /* grammar.h */

struct xml_node {
	const char *name;
	const struct source *source; /* the file that it is in */
	uint32_t line, depth;
	uint32_t
		main_line; /* of the file that is not included: its own line, or that of the include */
	const struct element_rule *rule; /* NULL until the grammar has accepted it */
	uint32_t mark;			 /* a number for the reader of the tree */
	struct xml_attribute *attributes;
	struct xml_node *parent, *first, *last, *next;
};

struct xml_tree {
	struct arena arena; /* nodes, texts and sources */
	struct xml_node *root;
	const char *files[XML_FILES_MAX]; /* names as given; the first is the file itself */
	uint32_t file_count;
	uint64_t bytes;
};

/* Starts an empty tree. */
MUST_CHECK enum status xml_init(struct xml_tree *self);
void xml_release(struct xml_tree *self);

/* Parses a text; `source` names it and is copied. *root is its root element, and the tree's if
 * that has none. Errors: MALFORMED, UNSUPPORTED (document type), TOO_DEEP, TOO_LARGE,
 * NO_MEMORY. */
MUST_CHECK enum status xml_parse(struct xml_tree *self, const struct source *source,
				 const char *text, size_t bytes, struct xml_node **root);

/* The next element of the subtree of `top` in the order of the file; NULL: none. `skip`:
 * without the children of `at`. */
struct xml_node *xml_next(const struct xml_node *top, struct xml_node *at, bool skip);
/* The first child with a name, and the next sibling with the name of `at`; NULL: none. */
struct xml_node *xml_child(const struct xml_node *parent, const char *name);
struct xml_node *xml_sibling(const struct xml_node *at);
/* The value of an attribute; NULL: not given. */
const char *xml_attribute(const struct xml_node *node, const char *name);
/* Puts the children of `from` in the place of `at`, which leaves the tree. */
void xml_replace(struct xml_node *at, struct xml_node *from);

#endif
