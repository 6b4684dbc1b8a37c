/* expand.h: from the tree of a file with variables, included files and assemblies to that of a flat
 * file, which has none of them. compile.h reads the flat one; `cairn convert` prints it. So a scene and its
 * flat copy make the same commands.
 */
#ifndef CAIRN_PROTOCOL_SCENE_EXPAND_H
#define CAIRN_PROTOCOL_SCENE_EXPAND_H

#include "protocol/scene/scene.h"
#include "protocol/scene/variables.h"
#include "server/base/array.h"

enum {
	INCLUDE_DEPTH_MAX = 8,
	ASSEMBLY_DEPTH_MAX = 8,	 /* assemblies in assemblies */
	INSTANCES_MAX = 1 << 18, /* of all assemblies */
};

/* What an entry of a list is. */
enum part_kind { PART_BODY, PART_JOINT, PART_FIELD, PART_PARTICLES, PART_KINDS };
/* What a name is of. */
enum name_kind {
	NAME_BODY,
	NAME_MATERIAL,
	NAME_SHAPE,
	NAME_PROTOTYPE,
	NAME_ASSEMBLY,
	NAME_JOINT,
	NAME_KINDS
};

/* Names without repetition in ascending order, for bsearch. */
struct name_set {
	const char **items; /* in the tree's memory */
	uint32_t count;
};

/* Where entries are placed, and how their names are changed. */
struct emplacement {
	const struct emplacement *around; /* NULL: none */
	const char *prefix;		  /* put before names in `names`; NULL: none is changed */
	struct name_set names[NAME_KINDS];
	pose frame; /* the entries' axes to the world's */
	bool moved; /* false: the frame is the identity */
};

struct assembly {
	const char *name;
	struct yaml_node *node; /* table assembly */
	uint32_t line;		/* of its name */
	struct scope *scope;	/* around it */
	bool open;		/* an instance of it is being made */
	struct assembly *next;
};

/* The parts of a file, flat but for the assemblies. */
struct parts {
	struct node_list maps[NAME_KINDS]; /* of materials, shapes and prototypes */
	struct node_list lists[PART_KINDS];
	struct assembly *assemblies;
};

/* A file that is read, inside of those that include it. */
struct open_file {
	const char *path, *folder; /* folder NULL: it has no files beside it */
	const char *below;	   /* its folder, below that of the first file; "" for the same */
	const struct open_file *around;
	uint32_t depth;
};

struct scene_expansion {
	struct source source;		     /* with `included` */
	const struct scene_options *options; /* may be NULL */
	struct nodes nodes;
	ARRAY_OF(struct document) documents; /* of included files */
	struct included_files *included;     /* owned */
	uint32_t line_count, variable_depth, instance_count, entry_count, assembly_depth;
	uint32_t robots;      /* how many of the included files */
	bool planar;	      /* the first file's world is */
	ARRAY_OF(char) notes; /* lines, without a zero byte */
};

/* Expands the tree of a file in place; the included files are those of `file`. */
MUST_CHECK enum status expand_file(struct scene_expansion *self, struct document *document,
				   const struct open_file *file);
void expansion_release(struct scene_expansion *self);

/* ---- within this room: expand.c and include.c ----------------------------------------------------- */

/* Fills `out` with the parts of a file. `own` and `outer` as of scope_fill. */
MUST_CHECK enum status expand_parts(struct scene_expansion *self, struct yaml_node *root,
				    const struct open_file *file, const struct yaml_node *own,
				    struct scope *outer, struct scope **scope, struct parts *out);
/* Appends the parts of the files that `include` names. */
MUST_CHECK enum status expand_includes(struct scene_expansion *self, struct yaml_node *include,
				       const struct open_file *file, struct scope *scope,
				       struct parts *out);
/* Gives an entry the placing's frame and names. */
MUST_CHECK enum status expand_place(struct scene_expansion *self, const struct emplacement *placing,
				    enum part_kind kind, struct yaml_node *entry);
/* The same of an entry of one of the maps. */
MUST_CHECK enum status expand_rename(struct scene_expansion *self,
				     const struct emplacement *placing, enum name_kind kind,
				     struct yaml_node *value);
/* `name` with the prefix of the placing that has it in its set; NULL: no memory. */
const char *placing_name(struct scene_expansion *self, const struct emplacement *placing,
			 enum name_kind kind, const char *name);
/* The names of a list's bodies or joints, without indices and without what is in instances. */
MUST_CHECK enum status names_of_entries(struct scene_expansion *self, const struct yaml_node *first,
					uint32_t count, struct name_set *out);
/* Sorts the names. */
void name_set_sort(struct name_set *self);
/* Appends an entry of a map, and refuses a name that it has already. */
MUST_CHECK enum status parts_add(struct scene_expansion *self, struct parts *parts,
				 enum name_kind kind, struct yaml_node *key,
				 struct yaml_node *value);

#endif
