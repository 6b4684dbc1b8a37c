/* placed.c: entries of `bodies` with other places.
 *
 * What moves or turns bodies of an entry (frame, generator, jitter) is replaced by their places in
 * the world's axes: `at` and `rotation` of one body, an array of places of several. A prototype keeps
 * its keys, because other entries may be like it, so an entry that is like one states the values that
 * take no effect.
 */
#include "protocol/scene/placed.h"

#include "protocol/scene/compile.h"

/* Sets a key, or takes it out. */
static bool put_key(struct nodes *nodes, struct yaml_node *entry, const char *key,
		    struct yaml_node *value)
{
	return value != NULL && nodes_set(nodes, entry, key, value);
}

/* Takes keys out that would move bodies away from their places, or sets them to nothing. */
static bool clear_keys(struct nodes *nodes, struct yaml_node *entry)
{
	static const char *const VECTORS[] = { "at", "velocity", "angular_velocity" };
	static const char *const NUMBERS[] = { "jitter", "jitter_degrees" };
	static const char *const MAPS[] = { "frame",
#define GENERATOR(NAME, name) #name,
					    GENERATORS(GENERATOR)
#undef GENERATOR
	};
	bool like = node_child(entry, "like") != NULL, done = true;
	uint32_t line = entry->line;
	for (size_t i = 0; i < COUNT_OF(MAPS); i++)
		nodes_unset(entry, MAPS[i]);
	for (size_t i = 0; i < COUNT_OF(VECTORS); i++) {
		nodes_unset(entry, VECTORS[i]);
		done = done && (!like || put_key(nodes, entry, VECTORS[i],
						 nodes_vector(nodes, line, vec3_zero())));
	}
	for (size_t i = 0; i < COUNT_OF(NUMBERS); i++) {
		nodes_unset(entry, NUMBERS[i]);
		done = done &&
		       (!like || put_key(nodes, entry, NUMBERS[i], nodes_number(nodes, line, 0)));
	}
	nodes_unset(entry, "rotation");
	return done && (!like || put_key(nodes, entry, "rotation",
					 nodes_turn(nodes, line, quat_identity())));
}

static bool is_turned(quat q)
{
	return q.w != 1 || q.x != 0 || q.y != 0 || q.z != 0;
}

/* An array of the places. */
static struct yaml_node *make_array(struct nodes *nodes, uint32_t line, const pose *places,
				    uint32_t count)
{
	struct yaml_node *map = nodes_new(nodes, NODE_MAP, line);
	struct yaml_node *lists[2] = { nodes_new(nodes, NODE_LIST, line),
				       nodes_new(nodes, NODE_LIST, line) };
	bool turned = false;
	for (uint32_t i = 0; i < count; i++)
		turned = turned || is_turned(places[i].rotation);
	if (map == NULL || lists[0] == NULL || lists[1] == NULL)
		return NULL;
	for (uint32_t k = 0; k < (turned ? 2u : 1u); k++) {
		struct node_list items = { 0 };
		for (uint32_t i = 0; i < count; i++) {
			struct yaml_node *item =
				k == 0 ? nodes_vector(nodes, line, places[i].position)
				       : nodes_turn(nodes, line, places[i].rotation);
			if (item == NULL)
				return NULL;
			node_list_add(&items, item);
		}
		lists[k]->first = items.first;
		lists[k]->count = items.count;
		if (!nodes_set(nodes, map, k == 0 ? "places" : "turns", lists[k]))
			return NULL;
	}
	return map;
}

/* `several`: the entry has, or is like one that has, a generator. */
static bool place_entry(struct nodes *nodes, struct yaml_node *entry, bool several,
			const pose *places, uint32_t count)
{
	uint32_t line = entry->line;
	if (!clear_keys(nodes, entry))
		return false;
	if (several)
		return put_key(nodes, entry, "array", make_array(nodes, line, places, count));
	bool done = put_key(nodes, entry, "at", nodes_vector(nodes, line, places[0].position));
	if (is_turned(places[0].rotation))
		done = done && put_key(nodes, entry, "rotation",
				       nodes_turn(nodes, line, places[0].rotation));
	return done;
}

/* Whether the entry has a generator; one that is like a prototype may inherit it. */
static bool may_have_generator(struct yaml_node *entry)
{
	bool found = node_child(entry, "like") != NULL;
#define GENERATOR(NAME, name) found = found || node_child(entry, #name) != NULL;
	GENERATORS(GENERATOR)
#undef GENERATOR
	return found;
}

enum status place_bodies(const struct source *source, struct nodes *nodes, struct yaml_node *root,
			 const struct scene *scene, const pose *places)
{
	struct yaml_node *bodies = node_child(root, "bodies");
	struct yaml_node *entry = bodies != NULL ? bodies->first : NULL;
	uint32_t spawn = 0, body = 0;
	for (uint32_t i = 0; i < scene->entry_count; i++, entry = entry->next) {
		uint32_t count = scene->entry_bodies[i];
		ASSERT(entry != NULL && count > 0);
		while (scene->commands[spawn].op != COMMAND_SPAWN)
			spawn++;
		bool dynamic = scene->commands[spawn].spawn.status == BODY_DYNAMIC;
		/* SPAWNs of an entry follow each other. */
		if (dynamic && !place_entry(nodes, entry, count > 1 || may_have_generator(entry),
					    places + body, count))
			return nodes_fail(nodes, source, entry->line);
		spawn += count;
		body += count;
	}
	return STATUS_OK;
}
