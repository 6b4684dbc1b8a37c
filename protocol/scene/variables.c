/* variables.c: variables are evaluated when they are first needed, so their order in the file is
 * free. One that needs itself, directly or through others, is found open and refused. */
#include "protocol/scene/variables.h"

#include <stdio.h>
#include <string.h>

#include "protocol/scene/formula.h"
#include "protocol/scene/schema.h"

enum { VARIABLES_DEPTH_MAX = 64 };

static enum status find_value(void *context, uint32_t line, const char *name, double *value);

static struct variable *find_variable(const struct scope *self, const char *name)
{
	for (uint32_t i = 0; i < self->count; i++)
		if (strcmp(self->items[i].name, name) == 0)
			return &self->items[i];
	return NULL;
}

static enum status evaluate_variable(const struct source *source, struct variable *variable,
				     uint32_t *depth)
{
	const struct yaml_node *formula = variable->formula;
	if (variable->state == VARIABLE_DONE)
		return STATUS_OK;
	if (variable->state == VARIABLE_OPEN)
		return source_fail(
			source, formula->line, STATUS_BACK_REFERENCE, variable->name,
			"variable '%.32s' needs its own value, directly or through others",
			variable->name);
	if (*depth == VARIABLES_DEPTH_MAX)
		return source_fail(source, formula->line, STATUS_TOO_DEEP, variable->name,
				   "a chain of more than %d variables, each of the next",
				   VARIABLES_DEPTH_MAX);
	variable->state = VARIABLE_OPEN;
	++*depth;
	enum status status =
		formula_evaluate(source, formula->line, formula->text, strlen(formula->text),
				 find_value, variable->in, &variable->value);
	--*depth;
	variable->state = VARIABLE_DONE;
	return status;
}

static enum status refuse_name(const struct scope *self, uint32_t line, const char *name)
{
	char room[64];
	struct suggestion suggestion = suggestion_for(name);
	for (const struct scope *at = self; at != NULL; at = at->around)
		for (uint32_t i = 0; i < at->count; i++)
			suggestion_offer(&suggestion, at->items[i].name);
	return source_fail(self->source, line, STATUS_MISSING, "variables",
			   "no variable has the name '%.32s'%s", name,
			   suggestion_text(&suggestion, room, sizeof room));
}

/* A formula_find. */
static enum status find_value(void *context, uint32_t line, const char *name, double *value)
{
	struct scope *self = context;
	for (struct scope *at = self; at != NULL; at = at->around) {
		bool index = strcmp(name, "index") == 0;
		if (at->numbered && (index || strcmp(name, "count") == 0)) {
			*value = index ? at->index : at->instances;
			return STATUS_OK;
		}
		struct variable *variable = find_variable(at, name);
		if (variable == NULL)
			continue;
		enum status status = evaluate_variable(self->source, variable, self->depth);
		*value = variable->value;
		return status;
	}
	return refuse_name(self, line, name);
}

/* ---- scopes -------------------------------------------------------------------------------------- */

/* In a flow mapping a comma ends a value, and what follows becomes a key. */
static const char *comma_hint(const char *key)
{
	return strpbrk(key, ")}") != NULL ? "; a formula with commas needs quotes" : "";
}

static enum status check_variable(const struct source *source, const struct yaml_node *key)
{
	size_t bytes = formula_name_bytes(key->text);
	if (bytes == 0 || key->text[bytes] != '\0' || bytes >= FORMULA_NAME_BYTES ||
	    formula_is_reserved(key->text))
		return source_fail(
			source, key->line, STATUS_RANGE, key->text,
			"'%.32s' cannot be a variable: a name has letters, digits and _, "
			"at most %d, and is not pi, index or count%s",
			key->text, FORMULA_NAME_BYTES - 1, comma_hint(key->text));
	if (key->next->kind != NODE_SCALAR)
		return source_fail(source, key->next->line, STATUS_TYPE, key->text,
				   "variable %.32s must be a number or a formula, not %s",
				   key->text, node_kind_text(key->next));
	return STATUS_OK;
}

enum status scope_fill(struct scope *self, struct nodes *nodes, const struct yaml_node *map,
		       const struct yaml_node *own, struct scope *outer)
{
	uint32_t count = map != NULL ? map->count : 0;
	self->items = nodes_memory(nodes, MAX_OF(count, 1u) * sizeof *self->items);
	self->count = 0;
	if (self->items == NULL)
		return source_no_memory(self->source);
	for (const struct yaml_node *key = count > 0 ? map->first : NULL; key != NULL;
	     key = key->next->next) {
		enum status status = check_variable(self->source, key);
		if (status != STATUS_OK)
			return status;
		self->items[self->count++] =
			(struct variable){ key->text, key->next, self, VARIABLE_NEW, 0 };
	}
	for (const struct yaml_node *key = own != NULL ? own->first : NULL; key != NULL;
	     key = key->next->next) {
		struct variable *variable = find_variable(self, key->text);
		enum status status = check_variable(self->source, key);
		if (status == STATUS_OK && variable == NULL)
			status = refuse_name(self, key->line, key->text);
		if (status != STATUS_OK)
			return status;
		variable->formula = key->next;
		variable->in = outer;
	}
	return STATUS_OK;
}

enum status scope_let(struct scope *self, struct nodes *nodes, uint32_t line, const char *text)
{
	char name[FORMULA_NAME_BYTES];
	size_t bytes = strcspn(text, "=");
	if (text[bytes] == '\0' || bytes == 0 || bytes >= sizeof name)
		return source_fail(self->source, line, STATUS_MALFORMED, "let",
				   "--let \"%.40s\" must be NAME=NUMBER or NAME=FORMULA", text);
	snprintf(name, sizeof name, "%.*s", (int)bytes, text);
	struct variable *variable = find_variable(self, name);
	if (variable == NULL)
		return refuse_name(self, line, name);
	variable->formula = nodes_text(nodes, variable->formula->line, text + bytes + 1);
	return variable->formula != NULL ? STATUS_OK : nodes_fail(nodes, self->source, line);
}

enum status scope_check(struct scope *self)
{
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < self->count && status == STATUS_OK; i++)
		status = evaluate_variable(self->source, &self->items[i], self->depth);
	return status;
}

/* ---- values -------------------------------------------------------------------------------------- */

/* The bytes of "(…)" or "{…}" with the brackets in it; 0: it does not end. */
static size_t bracket_bytes(const char *text)
{
	char open = text[0], close = open == '(' ? ')' : '}';
	uint32_t depth = 0;
	for (size_t i = 0; text[i] != '\0'; i++) {
		depth += text[i] == open;
		depth -= text[i] == close;
		if (depth == 0)
			return i + 1;
	}
	return 0;
}

/* The value of what stands behind a dollar sign, and its bytes. */
static enum status read_reference(struct scope *self, uint32_t line, const char *text,
				  size_t *bytes, double *value)
{
	bool bracket = text[0] == '(' || text[0] == '{';
	*bytes = bracket ? bracket_bytes(text) : formula_name_bytes(text);
	if (*bytes == 0)
		return source_fail(
			self->source, line, STATUS_MALFORMED, "$",
			bracket ? "the bracket of '$%.32s' is not closed; a formula with "
				  "commas needs quotes"
				: "'$%.32s' is not $name, $(formula) or ${formula}; a "
				  "dollar sign itself is $$",
			text);
	return formula_evaluate(self->source, line, text + bracket, *bytes - 2u * bracket,
				find_value, self, value);
}

struct filled {
	char text[YAML_SCALAR_MAX + FORMULA_NUMBER_BYTES];
	size_t bytes;
};

/* Copies the scalar's text with the values of its references. *alone: it is nothing but one of them. */
static enum status fill_text(struct scope *self, const struct yaml_node *node, struct filled *out,
			     bool *alone)
{
	*alone = false;
	for (const char *at = node->text; *at != '\0';) {
		size_t bytes = 0;
		double value;
		if (*at != '$' || at[1] == '$') {
			out->text[out->bytes++] = *at;
			at += *at == '$' ? 2 : 1;
		} else {
			enum status status =
				read_reference(self, node->line, at + 1, &bytes, &value);
			if (status != STATUS_OK)
				return status;
			*alone = at == node->text && at[1 + bytes] == '\0';
			formula_number(value, out->text + out->bytes);
			out->bytes += strlen(out->text + out->bytes);
			at += 1 + bytes;
		}
		if (out->bytes > YAML_SCALAR_MAX)
			return source_fail(self->source, node->line, STATUS_TOO_LARGE, "$",
					   "a value has more than %d bytes with its variables",
					   YAML_SCALAR_MAX);
	}
	out->text[out->bytes] = '\0';
	return STATUS_OK;
}

static enum status substitute_scalar(struct scope *self, struct nodes *nodes,
				     struct yaml_node *node)
{
	struct filled filled = { .bytes = 0 };
	bool alone;
	if (strchr(node->text, '$') == NULL)
		return STATUS_OK;
	enum status status = fill_text(self, node, &filled, &alone);
	if (status != STATUS_OK)
		return status;
	const char *text = nodes_join(nodes, filled.text, "", "");
	if (text == NULL)
		return source_no_memory(self->source);
	node->formula = alone ? node->text : NULL;
	node->text = text;
	node->quoted = !alone;
	return STATUS_OK;
}

enum status scope_substitute(struct scope *self, struct nodes *nodes, struct yaml_node *node)
{
	if (node->kind == NODE_SCALAR)
		return substitute_scalar(self, nodes, node);
	enum status status = STATUS_OK;
	for (struct yaml_node *at = node->first; at != NULL && status == STATUS_OK; at = at->next) {
		if (node->kind == NODE_MAP)
			at = at->next;
		status = scope_substitute(self, nodes, at);
	}
	return status;
}
