/* nodes.h: nodes that are made, not read: memory that lives as long as a scene is compiled. */
#ifndef CAIRN_PROTOCOL_SCENE_NODES_H
#define CAIRN_PROTOCOL_SCENE_NODES_H

#include "protocol/scene/yaml.h"
#include "server/engine/math/pose.h"

struct nodes_chunk; /* private */
struct nodes {
	struct nodes_chunk *chunks; /* owned */
	uint32_t node_count;
};
/* Zeroed memory until nodes_release; NULL: none is left. */
void *nodes_memory(struct nodes *self, size_t bytes);
void nodes_release(struct nodes *self);

/* Refuses for one of the two reasons for which the functions below return NULL. */
enum status nodes_fail(const struct nodes *self, const struct source *source, uint32_t line);

/* All of these return NULL if there is no memory, or YAML_NODES_MAX nodes. */
struct yaml_node *nodes_new(struct nodes *self, enum node_kind kind, uint32_t line);
struct yaml_node *nodes_text(struct nodes *self, uint32_t line, const char *text);
struct yaml_node *nodes_number(struct nodes *self, uint32_t line, double value);
struct yaml_node *nodes_copy(struct nodes *self, const struct yaml_node *node);
/* {at: [x, y, z], rotation: [w, x, y, z]} */
struct yaml_node *nodes_pose(struct nodes *self, uint32_t line, pose at);
/* The text a, b, c in one. */
const char *nodes_join(struct nodes *self, const char *a, const char *b, const char *c);

/* Appends to the children of `parent`: an item of a list, or the key and value of a map. */
struct node_list {
	struct yaml_node *first, *last;
	uint32_t count; /* of items, or of pairs */
};
void node_list_add(struct node_list *self, struct yaml_node *item);
void node_list_add_pair(struct node_list *self, struct yaml_node *key, struct yaml_node *value);
/* node_find, of a tree that may be changed. */
struct yaml_node *node_child(struct yaml_node *map, const char *key);
/* Gives `map` the key with this value, in the place of one that it has. False: no memory. */
bool nodes_set(struct nodes *self, struct yaml_node *map, const char *key, struct yaml_node *value);

/* Takes the key and its value out of `map`, if it has it. */
void nodes_unset(struct yaml_node *map, const char *key);
/* [x, y, z] and [w, x, y, z]. */
struct yaml_node *nodes_vector(struct nodes *self, uint32_t line, vec3 value);
struct yaml_node *nodes_turn(struct nodes *self, uint32_t line, quat value);

/* The tree as the text of a scene file, returned owned; NULL: no memory. Reading it gives the same tree. */
char *yaml_write(const struct yaml_node *root);

#endif
