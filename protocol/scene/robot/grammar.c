/* grammar.c: robot.def as tables, and the check of a tree by them. */
#include "protocol/scene/robot/grammar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/scene/schema.h"
#include "server/base/suggestion.h"

#define ELEMENT(ID, FORMAT, name, parents, VERDICT, doc)                                           \
	static const struct attribute_rule ID##_attributes[] = {
#define ATTRIBUTE(ID, name_, TYPE, need_, least_, most_, words_, initial_, VERDICT, doc_)          \
	{ .name = #name_,                                                                          \
	  .type = VALUE_##TYPE,                                                                    \
	  .need = (need_) != 0,                                                                    \
	  .least = least_,                                                                         \
	  .most = most_,                                                                           \
	  .words = words_,                                                                         \
	  .initial = initial_,                                                                     \
	  .verdict = VERDICT_##VERDICT,                                                            \
	  .doc = doc_ },
/* The last row ends the list, because some elements have no attribute. */
#define END(ID)                                                                                    \
	{                                                                                          \
		.name = NULL                                                                       \
	}                                                                                          \
	}                                                                                          \
	;
#include "protocol/scene/robot/robot.def"

const struct element_rule element_rules[ELEMENTS] = {
#define ELEMENT(ID, FORMAT, name_, parents_, VERDICT, doc_)                                        \
	[ELEMENT_##ID] = { .format = FORMAT_##FORMAT,                                              \
			   .name = #name_,                                                         \
			   .parents = parents_,                                                    \
			   .verdict = VERDICT_##VERDICT,                                           \
			   .doc = doc_,                                                            \
			   .attributes = ID##_attributes,                                          \
			   .attribute_count = COUNT_OF(ID##_attributes) - 1 },
#include "protocol/scene/robot/robot.def"
};

/* ---- values -------------------------------------------------------------------------------- */

static const char *skip_space(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

uint32_t text_reals(const char *text, double out[GRAMMAR_REALS_MAX])
{
	uint32_t count = 0;
	for (const char *at = skip_space(text != NULL ? text : ""); *at != '\0';
	     at = skip_space(at)) {
		char *end;
		double value = strtod(at, &end);
		ASSERT(end != at);
		if (count < GRAMMAR_REALS_MAX)
			out[count] = value;
		count++;
		at = end;
	}
	return MIN_OF(count, (uint32_t)GRAMMAR_REALS_MAX);
}

static bool is_word(const char *text, const char *word, size_t bytes)
{
	return strncmp(text, word, bytes) == 0 && text[bytes] == '\0';
}

/* False: the text is none of the words. */
static bool find_word(const char *text, const char *words, uint32_t *index)
{
	for (*index = 0; *words != '\0'; ++*index) {
		size_t bytes = strcspn(words, "|");
		if (is_word(text, words, bytes))
			return true;
		words += bytes + (words[bytes] == '|');
	}
	return false;
}

uint32_t text_word(const char *text, const char *words)
{
	uint32_t index;
	bool found = find_word(text, words, &index);
	ASSERT(found);
	return index;
}

static const struct attribute_rule *find_attribute(const struct element_rule *rule,
						   const char *name)
{
	for (uint32_t i = 0; i < rule->attribute_count; i++)
		if (strcmp(rule->attributes[i].name, name) == 0)
			return &rule->attributes[i];
	return NULL;
}

const char *grammar_text(const struct xml_node *node, const char *name)
{
	const struct attribute_rule *rule = find_attribute(node->rule, name);
	ASSERT(rule != NULL && rule->verdict == VERDICT_TAKEN);
	const char *value = xml_attribute(node, name);
	return value != NULL ? value : rule->initial[0] != '\0' ? rule->initial : NULL;
}

uint32_t grammar_reals(const struct xml_node *node, const char *name, double out[GRAMMAR_REALS_MAX])
{
	uint32_t count = text_reals(grammar_text(node, name), out);
	ASSERT(count > 0);
	return count;
}

double grammar_real(const struct xml_node *node, const char *name)
{
	double values[GRAMMAR_REALS_MAX];
	grammar_reals(node, name, values);
	return values[0];
}

bool grammar_bool(const struct xml_node *node, const char *name)
{
	return strcmp(grammar_text(node, name), "true") == 0;
}

/* ---- the check of values ------------------------------------------------------------------- */

/* One number of a list, through the reader of scenes, which knows the forms of numbers. */
static enum status check_number(const struct xml_node *node, const struct attribute_rule *rule,
				const char *at, size_t bytes)
{
	const char *name = rule->name;
	char text[64];
	double value;
	int64_t whole;
	if (bytes >= sizeof text)
		return source_fail(node->source, node->line, STATUS_TYPE, name,
				   "%s %s: '%.24s...' is not a number", node->name, name, at);
	memcpy(text, at, bytes);
	text[bytes] = '\0';
	struct yaml_node scalar = { .kind = NODE_SCALAR, .line = node->line, .text = text };
	char label[64];
	snprintf(label, sizeof label, "%.24s %.24s", node->name, name);
	if (rule->type == VALUE_WHOLES)
		return schema_integer(node->source, &scalar, label, INT32_MIN, UINT32_MAX, &whole);
	double least = rule->type == VALUE_AMOUNTS ? 0 : -1e18;
	return schema_number(node->source, &scalar, label, least, 1e18, "", &value);
}

static enum status check_reals(const struct xml_node *node, const struct attribute_rule *rule,
			       const char *value)
{
	uint32_t count = 0;
	for (const char *at = skip_space(value); *at != '\0'; count++) {
		size_t bytes = strcspn(at, " \t\r\n");
		enum status status = check_number(node, rule, at, bytes);
		if (status != STATUS_OK)
			return status;
		at = skip_space(at + bytes);
	}
	if (count >= rule->least && count <= rule->most)
		return STATUS_OK;
	return source_fail(node->source, node->line, STATUS_TYPE, rule->name,
			   rule->least == rule->most ? "%s %s has %u numbers, not %u"
						     : "%s %s has %u numbers, not %u to %u",
			   node->name, rule->name, (unsigned)count, (unsigned)rule->least,
			   (unsigned)rule->most);
}

static enum status check_value(const struct xml_node *node, const struct attribute_rule *rule,
			       const char *value)
{
	uint32_t index;
	switch (rule->type) {
	case VALUE_REALS:
	case VALUE_AMOUNTS:
	case VALUE_WHOLES:
		return check_reals(node, rule, value);
	case VALUE_TEXT:
		return STATUS_OK;
	case VALUE_WORD:
	case VALUE_BOOL:
		break;
	}
	const char *words = rule->type == VALUE_BOOL ? "false|true" : rule->words;
	if (find_word(value, words, &index))
		return STATUS_OK;
	return source_fail(node->source, node->line, STATUS_TYPE, rule->name,
			   "%s %s is '%.24s'; it must be one of %s", node->name, rule->name, value,
			   words);
}

/* ---- the check of elements ----------------------------------------------------------------- */

static enum status refuse_node(const struct xml_node *node, const char *name, const char *doc)
{
	if (name == NULL)
		return source_fail(node->source, node->line, STATUS_UNSUPPORTED, node->name,
				   "<%.32s> is refused: %s", node->name, doc);
	return source_fail(node->source, node->line, STATUS_UNSUPPORTED, name,
			   "%.32s of <%.32s> is refused: %s", name, node->name, doc);
}

static enum status check_attribute(struct notes *notes, const struct xml_node *node,
				   const struct xml_attribute *given)
{
	char room[64];
	const struct attribute_rule *rule = find_attribute(node->rule, given->name);
	if (rule == NULL && strncmp(given->name, "xmlns", 5) == 0)
		return STATUS_OK;
	if (rule == NULL) {
		struct suggestion suggestion = suggestion_for(given->name);
		for (uint32_t i = 0; i < node->rule->attribute_count; i++)
			suggestion_offer(&suggestion, node->rule->attributes[i].name);
		return source_fail(node->source, node->line, STATUS_MALFORMED, given->name,
				   "<%.32s> has no attribute '%.32s'%s", node->name, given->name,
				   suggestion_text(&suggestion, room, sizeof room));
	}
	if (rule->verdict == VERDICT_REFUSED)
		return refuse_node(node, rule->name, rule->doc);
	enum status status = check_value(node, rule, given->value);
	if (status == STATUS_OK && rule->verdict == VERDICT_WARNED)
		notes_add(notes, rule, source_name(node->source, node->source->file), node->line,
			  "%s of <%s> is not taken: %s", rule->name, node->name, rule->doc);
	return status;
}

static enum status check_attributes(struct notes *notes, const struct xml_node *node)
{
	enum status status = STATUS_OK;
	for (const struct xml_attribute *at = node->attributes; at != NULL && status == STATUS_OK;
	     at = at->next)
		status = check_attribute(notes, node, at);
	/* A class of defaults needs not give everything. */
	if (status != STATUS_OK ||
	    (node->parent != NULL && strcmp(node->parent->name, "default") == 0))
		return status;
	for (uint32_t i = 0; i < node->rule->attribute_count; i++) {
		const struct attribute_rule *rule = &node->rule->attributes[i];
		if (rule->need && xml_attribute(node, rule->name) == NULL)
			return source_fail(node->source, node->line, STATUS_MISSING, rule->name,
					   "<%s> needs the attribute '%s'", node->name, rule->name);
	}
	return STATUS_OK;
}

/* The rule of an element, or NULL. */
static const struct element_rule *find_rule(const struct xml_node *node, enum robot_format format,
					    struct suggestion *suggestion)
{
	uint32_t index;
	const char *parent = node->parent != NULL ? node->parent->name : "";
	for (uint32_t i = 0; i < ELEMENTS; i++) {
		const struct element_rule *rule = &element_rules[i];
		if (rule->format != format)
			continue;
		bool fits = rule->parents[0] == '*' || find_word(parent, rule->parents, &index) ||
			    (node->parent == NULL && rule->parents[0] == '\0');
		if (fits && strcmp(rule->name, node->name) == 0)
			return rule;
		if (fits)
			suggestion_offer(suggestion, rule->name);
	}
	return NULL;
}

static enum status check_element(struct notes *notes, struct xml_node *node,
				 enum robot_format format)
{
	char room[64];
	struct suggestion suggestion = suggestion_for(node->name);
	const struct element_rule *rule = find_rule(node, format, &suggestion);
	if (rule == NULL && strncmp(node->name, "xacro:", 6) == 0)
		return refuse_node(node, NULL, "expand the file with the program xacro first");
	if (rule == NULL)
		return source_fail(node->source, node->line, STATUS_MALFORMED, node->name,
				   "<%.32s> in <%.32s> is not known%s", node->name,
				   node->parent != NULL ? node->parent->name : "the file",
				   suggestion_text(&suggestion, room, sizeof room));
	if (rule->verdict == VERDICT_REFUSED)
		return refuse_node(node, NULL, rule->doc);
	if (rule->verdict == VERDICT_WARNED)
		notes_add(notes, rule, source_name(node->source, node->source->file), node->line,
			  "<%s> is not taken: %s", node->name, rule->doc);
	if (rule->verdict != VERDICT_TAKEN)
		return STATUS_OK;
	node->rule = rule;
	return check_attributes(notes, node);
}

/* Unlinks the children of a node that were not taken. */
static void drop_children(struct xml_node *node)
{
	struct xml_node **link = &node->first;
	node->last = NULL;
	while (*link != NULL) {
		if ((*link)->rule == NULL) {
			*link = (*link)->next;
			continue;
		}
		node->last = *link;
		link = &(*link)->next;
	}
}

enum status grammar_check(struct xml_tree *tree, struct notes *notes, enum robot_format *format)
{
	struct xml_node *root = tree->root;
	if (strcmp(root->name, "robot") != 0 && strcmp(root->name, "mujoco") != 0)
		return source_fail(root->source, root->line, STATUS_MALFORMED, root->name,
				   "<%.32s> is no robot file: URDF has <robot>, MJCF <mujoco>",
				   root->name);
	*format = root->name[0] == 'r' ? FORMAT_URDF : FORMAT_MJCF;
	for (struct xml_node *at = root; at != NULL; at = xml_next(root, at, at->rule == NULL)) {
		enum status status = check_element(notes, at, *format);
		if (status != STATUS_OK)
			return status;
	}
	for (struct xml_node *at = root; at != NULL; at = xml_next(root, at, false))
		drop_children(at);
	return STATUS_OK;
}
