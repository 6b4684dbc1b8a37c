/* variables.h: the variables of a scene file or an assembly, and formulas in the values of its tree. */
#ifndef CAIRN_PROTOCOL_SCENE_VARIABLES_H
#define CAIRN_PROTOCOL_SCENE_VARIABLES_H

#include "protocol/scene/nodes.h"

struct scope;
struct variable {
	const char *name;
	const struct yaml_node *formula; /* borrowed */
	struct scope *in;		 /* where the formula's names are sought */
	enum { VARIABLE_NEW, VARIABLE_OPEN, VARIABLE_DONE } state;
	double value; /* of a done one */
};
/* Names and their values: its own, then those of the scope around it. */
struct scope {
	struct scope *around; /* NULL: none */
	const struct source *source;
	struct variable *items; /* in the tree's memory */
	uint32_t count;
	bool numbered; /* of an instance: it has `index` and `count` */
	double index, instances;
	uint32_t *depth; /* of variables that wait for each other */
};

/* Fills the scope with the variables of a map (NULL: none); `around`, `source` and `depth` are set. `own`
 * are given in place of them by a map (NULL: none) whose names are sought in `outer`. */
MUST_CHECK enum status scope_fill(struct scope *self, struct nodes *nodes,
				  const struct yaml_node *map, const struct yaml_node *own,
				  struct scope *outer);
/* Replaces a variable's formula by that of "NAME=FORMULA" from the command line. `line` is of the file's
 * variables. */
MUST_CHECK enum status scope_let(struct scope *self, struct nodes *nodes, uint32_t line,
				 const char *text);
/* Evaluates all variables, also those that nothing uses. */
MUST_CHECK enum status scope_check(struct scope *self);
/* Replaces $name, $(formula) and ${formula} in all values below `node`, and $$ by a dollar sign. */
MUST_CHECK enum status scope_substitute(struct scope *self, struct nodes *nodes,
					struct yaml_node *node);

#endif
