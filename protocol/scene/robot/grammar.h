/* grammar.h: robot.def as tables, and the check of a file by them.
 *
 * After grammar_check, each element that the readers see is of a known kind, each attribute
 * has its form, and grammar_reals and its sisters cannot fail. What is not taken has been
 * noted or refused.
 */
#ifndef CAIRN_PROTOCOL_SCENE_ROBOT_GRAMMAR_H
#define CAIRN_PROTOCOL_SCENE_ROBOT_GRAMMAR_H

#include "protocol/scene/robot/notes.h"
#include "protocol/scene/robot/xml.h"

enum robot_format { FORMAT_URDF, FORMAT_MJCF };
enum verdict { VERDICT_TAKEN, VERDICT_WARNED, VERDICT_IGNORED, VERDICT_REFUSED };
enum value_type {
	VALUE_REALS,
	VALUE_AMOUNTS,
	VALUE_WHOLES,
	VALUE_TEXT,
	VALUE_WORD,
	VALUE_BOOL,
};

struct attribute_rule {
	const char *name;
	enum value_type type;
	bool need;
	uint32_t least, most; /* how many numbers */
	const char *words;    /* of a VALUE_WORD, separated by bars */
	const char *initial;  /* "": none */
	enum verdict verdict;
	const char *doc;
};
struct element_rule {
	enum robot_format format;
	const char *name, *parents;
	enum verdict verdict;
	const char *doc;
	const struct attribute_rule *attributes;
	uint32_t attribute_count;
};

enum element_id {
#define ELEMENT(ID, FORMAT, name, parents, VERDICT, doc) ELEMENT_##ID,
#include "protocol/scene/robot/robot.def"
	ELEMENTS,
};
extern const struct element_rule element_rules[ELEMENTS];

/* Checks the tree below its root, whose name decides the format, and sets `rule` of the
 * elements that are taken; the others leave the tree. Errors: MALFORMED (unknown element or
 * attribute, with the nearest known one), MISSING, TYPE, NOT_FINITE, EXISTS, UNSUPPORTED. */
MUST_CHECK enum status grammar_check(struct xml_tree *tree, struct notes *notes,
				     enum robot_format *format);
/* `node` is an element of this kind that was taken. */
static inline bool grammar_is(const struct xml_node *node, enum element_id id)
{
	return node->rule == &element_rules[id];
}

/* The text of an attribute: the element's, or its initial value; NULL: none of them. */
const char *grammar_text(const struct xml_node *node, const char *name);
/* Reads the numbers of a text that has passed the check; returns how many, 0 for NULL. */
enum { GRAMMAR_REALS_MAX = 8 };
uint32_t text_reals(const char *text, double out[GRAMMAR_REALS_MAX]);
/* Which of the words separated by bars a text is. */
uint32_t text_word(const char *text, const char *words);
/* Of an attribute that is given or has an initial value. */
uint32_t grammar_reals(const struct xml_node *node, const char *name,
		       double out[GRAMMAR_REALS_MAX]);
double grammar_real(const struct xml_node *node, const char *name);
bool grammar_bool(const struct xml_node *node, const char *name);

#endif
