/* expand.c: a file's tree without its variables, and each instance of an assembly as the entries
 * that it stands for. See expand.h.
 *
 * An instance is a copy of its assembly's entries: variables have their values for this instance,
 * names have the instance's name before them, and a key `frame` tells where it is. A name in an
 * entry belongs to the innermost assembly that has a body of this name (of a gear's leader: a joint);
 * names that none has are those of the file.
 * */
#include "protocol/scene/expand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/scene/compile.h"
#include "protocol/scene/formula.h"
#include "server/base/rng.h"

/* The tree that the schema lends as constant; its nodes are ours to change. */
static struct yaml_node *own(const struct yaml_node *node)
{
	return (struct yaml_node *)(uintptr_t)node;
}

static enum status no_memory(const struct scene_expansion *self, uint32_t line)
{
	return nodes_fail(&self->nodes, &self->source, line);
}

/* ---- names
 * --------------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void name_set_sort(struct name_set *self)
{
	if (self->count > 1)
		qsort(self->items, self->count, sizeof *self->items, compare_names);
}

/* Whether the set has the name up to its first dot or bracket. */
static bool has_head(const struct name_set *set, const char *name)
{
	char head[YAML_SCALAR_MAX + FORMULA_NUMBER_BYTES];
	const char *key = head;
	if (set->count == 0)
		return false;
	snprintf(head, sizeof head, "%.*s", (int)strcspn(name, ".["), name);
	return bsearch(&key, set->items, set->count, sizeof key, compare_names) != NULL;
}

const char *placing_name(struct scene_expansion *self, const struct emplacement *placing,
			 enum name_kind kind, const char *name)
{
	for (const struct emplacement *at = placing; at != NULL; at = at->around)
		if (at->prefix != NULL && has_head(&at->names[kind], name))
			return nodes_join(&self->nodes, at->prefix, name, "");
	return name;
}

/* A default name of an instance: that of its assembly. */
static const char *instance_name(struct yaml_node *entry)
{
	struct yaml_node *assembly = node_child(entry, "assembly");
	struct yaml_node *name = node_child(entry, "name");
	if (name == NULL && assembly != NULL)
		return assembly->kind == NODE_SCALAR ? assembly->text : "assembly";
	return name != NULL && name->kind == NODE_SCALAR ? name->text : NULL;
}

enum status names_of_entries(struct scene_expansion *self, const struct yaml_node *first,
			     uint32_t count, struct name_set *out)
{
	*out = (struct name_set){
		nodes_memory(&self->nodes, MAX_OF(count, 1u) * sizeof *out->items), 0
	};
	if (out->items == NULL)
		return source_no_memory(&self->source);
	for (const struct yaml_node *at = first; at != NULL; at = at->next) {
		const char *name = at->kind == NODE_MAP ? instance_name(own(at)) : NULL;
		if (name == NULL)
			continue;
		size_t bytes = strcspn(name, ".[");
		char *head = nodes_memory(&self->nodes, bytes + 1);
		if (head == NULL)
			return source_no_memory(&self->source);
		ASSERT(out->count < count);
		out->items[out->count++] = memcpy(head, name, bytes);
	}
	name_set_sort(out);
	return STATUS_OK;
}

/* ---- placing
 * ------------------------------------------------------------------------------------- */

/* Keys whose values are names. */
static const struct {
	const char *key;
	enum name_kind kind;
	bool bodies, joints; /* of which entries */
} REFERENCES[] = {
	{ "ends_with", NAME_BODY, true, false },
	{ "like", NAME_PROTOTYPE, true, false },
	{ "material", NAME_MATERIAL, true, false },
	{ "shape", NAME_SHAPE, true, false },
	{ "assembly", NAME_ASSEMBLY, true, false },
	{ "a", NAME_BODY, false, true },
	{ "b", NAME_BODY, false, true },
	{ "chain", NAME_BODY, false, true },
};

static enum status rename_keys(struct scene_expansion *self, const struct emplacement *placing,
			       bool joints, struct yaml_node *entry)
{
	for (size_t i = 0; i < COUNT_OF(REFERENCES); i++) {
		struct yaml_node *value = node_child(entry, REFERENCES[i].key);
		bool wanted = joints ? REFERENCES[i].joints : REFERENCES[i].bodies;
		if (!wanted || value == NULL || value->kind != NODE_SCALAR)
			continue;
		value->text = placing_name(self, placing, REFERENCES[i].kind, value->text);
		if (value->text == NULL)
			return no_memory(self, value->line);
	}
	return STATUS_OK;
}

/* The keys of the items of a list `key` of the entry. */
static enum status rename_items(struct scene_expansion *self, const struct emplacement *placing,
				struct yaml_node *entry, const char *key)
{
	struct yaml_node *list = node_child(entry, key);
	enum status status = STATUS_OK;
	if (list == NULL || list->kind != NODE_LIST)
		return STATUS_OK;
	for (struct yaml_node *at = list->first; at != NULL && status == STATUS_OK; at = at->next)
		if (at->kind == NODE_MAP)
			status = rename_keys(self, placing, false, at);
	return status;
}

/* The names in a list `carried_by` of the entry. */
static enum status rename_points(struct scene_expansion *self, const struct emplacement *placing,
				 struct yaml_node *entry)
{
	struct yaml_node *list = node_child(entry, "carried_by");
	if (list == NULL || list->kind != NODE_LIST)
		return STATUS_OK;
	for (struct yaml_node *at = list->first; at != NULL; at = at->next) {
		if (at->kind != NODE_SCALAR)
			continue;
		at->text = placing_name(self, placing, NAME_BODY, at->text);
		if (at->text == NULL)
			return no_memory(self, at->line);
	}
	return STATUS_OK;
}

static enum status rename_body(struct scene_expansion *self, const struct emplacement *placing,
			       struct yaml_node *entry)
{
	enum status status = rename_keys(self, placing, false, entry);
	if (status == STATUS_OK)
		status = rename_items(self, placing, entry, "shapes");
	if (status == STATUS_OK)
		status = rename_items(self, placing, entry, "visuals");
	if (status == STATUS_OK)
		status = rename_points(self, placing, entry);
	return status == STATUS_OK ? rename_items(self, placing, entry, "pieces") : status;
}

enum status expand_rename(struct scene_expansion *self, const struct emplacement *placing,
			  enum name_kind kind, struct yaml_node *value)
{
	enum status status = STATUS_OK;
	if (value->kind != NODE_MAP || kind == NAME_MATERIAL || kind == NAME_SHAPE)
		return STATUS_OK;
	if (kind == NAME_PROTOTYPE)
		return rename_body(self, placing, value);
	/* An assembly: its bodies' names get their prefix when it is placed. */
	struct yaml_node *bodies = node_child(value, "bodies");
	struct yaml_node *at = bodies != NULL && bodies->kind == NODE_LIST ? bodies->first : NULL;
	for (; at != NULL && status == STATUS_OK; at = at->next) {
		if (at->kind != NODE_MAP)
			continue;
		status = rename_body(self, placing, at);
		struct yaml_node *inner = node_child(at, "assembly");
		if (status == STATUS_OK && inner != NULL)
			status = expand_rename(self, placing, NAME_ASSEMBLY, inner);
	}
	return status;
}

/* The leaders of gears are joints of the same assembly, if that has them. A gear is a key of the joint, or of
 * the table of one of its axes. */
static enum status rename_leaders(struct scene_expansion *self, const struct emplacement *placing,
				  struct yaml_node *entry)
{
	for (struct yaml_node *key = entry->first; key != NULL; key = key->next->next) {
		struct yaml_node *value = key->next;
		bool gear = strcmp(key->text, "gear") == 0;
		if (value->kind != NODE_MAP)
			continue;
		struct yaml_node *table = gear ? value : node_child(value, "gear");
		struct yaml_node *leader = table != NULL && table->kind == NODE_MAP
						   ? node_child(table, "leader")
						   : NULL;
		if (leader == NULL || leader->kind != NODE_SCALAR)
			continue;
		leader->text = placing_name(self, placing, NAME_JOINT, leader->text);
		if (leader->text == NULL)
			return no_memory(self, leader->line);
	}
	return STATUS_OK;
}

static enum status set_frame(struct scene_expansion *self, pose frame, struct yaml_node *entry)
{
	pose inner;
	enum status status = compile_frame(&self->source, node_child(entry, "frame"), &inner);
	if (status != STATUS_OK)
		return status;
	pose at = pose_mul(frame, inner);
	at.rotation = quat_normalize(at.rotation);
	struct yaml_node *map = nodes_pose(&self->nodes, entry->line, at);
	if (map == NULL || !nodes_set(&self->nodes, entry, "frame", map))
		return no_memory(self, entry->line);
	return STATUS_OK;
}

/* The value of `system` in a table of a particle system is the name of one of the same assembly. */
static enum status rename_other(struct scene_expansion *self, const struct emplacement *placing,
				struct yaml_node *table)
{
	struct yaml_node *system =
		table != NULL && table->kind == NODE_MAP ? node_child(table, "system") : NULL;
	if (system == NULL || system->kind != NODE_SCALAR)
		return STATUS_OK;
	system->text = nodes_join(&self->nodes, placing->prefix, system->text, "");
	return system->text != NULL ? STATUS_OK : no_memory(self, system->line);
}

/* The other systems of a trail and of meetings. */
static enum status rename_others(struct scene_expansion *self, const struct emplacement *placing,
				 struct yaml_node *entry)
{
	enum status status = rename_other(self, placing, node_child(entry, "trail"));
	struct yaml_node *meets = node_child(entry, "meets");
	struct yaml_node *at = meets != NULL && meets->kind == NODE_LIST ? meets->first : NULL;
	for (; at != NULL && status == STATUS_OK; at = at->next)
		status = rename_other(self, placing, at);
	return status;
}

/* The bodies that the tables of a list name are those of the same assembly, if that has them. */
static enum status rename_bodies(struct scene_expansion *self, const struct emplacement *placing,
				 struct yaml_node *list)
{
	struct yaml_node *at = list != NULL && list->kind == NODE_LIST ? list->first : NULL;
	for (; at != NULL; at = at->next) {
		struct yaml_node *body = at->kind == NODE_MAP ? node_child(at, "body") : NULL;
		if (body == NULL || body->kind != NODE_SCALAR)
			continue;
		body->text = placing_name(self, placing, NAME_BODY, body->text);
		if (body->text == NULL)
			return no_memory(self, body->line);
	}
	return STATUS_OK;
}

/* Bodies that hold or take particles, or carry an emitter, are those of the same assembly, if that has
 * them. */
static enum status rename_carriers(struct scene_expansion *self, const struct emplacement *placing,
				   struct yaml_node *entry)
{
	enum status status = rename_bodies(self, placing, node_child(entry, "holds"));
	if (status == STATUS_OK)
		status = rename_bodies(self, placing, node_child(entry, "sinks"));
	if (status != STATUS_OK)
		return status;
	struct yaml_node *mount = node_child(entry, "mount");
	struct yaml_node *carrier = mount != NULL ? node_child(mount, "body") : NULL;
	if (carrier != NULL && carrier->kind == NODE_SCALAR) {
		carrier->text = placing_name(self, placing, NAME_BODY, carrier->text);
		if (carrier->text == NULL)
			return no_memory(self, carrier->line);
	}
	return STATUS_OK;
}

enum status expand_place(struct scene_expansion *self, const struct emplacement *placing,
			 enum part_kind kind, struct yaml_node *entry)
{
	enum status status = STATUS_OK;
	if (entry->kind != NODE_MAP)
		return STATUS_OK; /* compile.h refuses it */
	if (placing->prefix != NULL) {
		struct yaml_node *name = node_child(entry, "name");
		if (name != NULL && name->kind == NODE_SCALAR)
			name->text = nodes_join(&self->nodes, placing->prefix, name->text, "");
		if (name != NULL && name->text == NULL && name->kind == NODE_SCALAR)
			return no_memory(self, name->line);
		if (kind == PART_BODY)
			status = rename_body(self, placing, entry);
		else if (kind == PART_JOINT)
			status = rename_keys(self, placing, true, entry);
		else if (kind == PART_PARTICLES)
			status = rename_carriers(self, placing, entry);
		if (status == STATUS_OK && kind == PART_JOINT)
			status = rename_leaders(self, placing, entry);
		if (status == STATUS_OK && kind == PART_PARTICLES)
			status = rename_others(self, placing, entry);
	}
	if (status == STATUS_OK && placing->moved)
		status = set_frame(self, placing->frame, entry);
	return status;
}

/* ---- instances
 * ----------------------------------------------------------------------------------- */

static enum status expand_bodies(struct scene_expansion *self, struct emplacement *placing,
				 struct scope *scope, struct yaml_node *list, struct parts *out);

/* All values of an entry, but for the formulas of its variables and an assembly in it. */
static enum status substitute_entry(struct scene_expansion *self, struct scope *scope,
				    struct yaml_node *entry)
{
	enum status status = STATUS_OK;
	if (entry->kind != NODE_MAP || node_child(entry, "assembly") == NULL)
		return scope_substitute(scope, &self->nodes, entry);
	for (struct yaml_node *key = entry->first; key != NULL && status == STATUS_OK;
	     key = key->next->next) {
		bool inner = strcmp(key->text, "assembly") == 0 && key->next->kind == NODE_MAP;
		if (!inner && strcmp(key->text, "variables") != 0)
			status = scope_substitute(scope, &self->nodes, key->next);
	}
	return status;
}

/* Appends the entries of an assembly's list of another kind than bodies. */
static enum status expand_list(struct scene_expansion *self, const struct emplacement *placing,
			       struct scope *scope, enum part_kind kind, struct yaml_node *list,
			       struct parts *out)
{
	enum status status = STATUS_OK;
	struct yaml_node *next;
	for (struct yaml_node *at = list != NULL ? list->first : NULL;
	     at != NULL && status == STATUS_OK; at = next) {
		next = at->next;
		status = scope_substitute(scope, &self->nodes, at);
		if (status == STATUS_OK)
			status = expand_place(self, placing, kind, at);
		node_list_add(&out->lists[kind], at);
	}
	return status;
}

/* Before the bodies, because gears of the instances among them may follow these joints. */
static enum status take_joint_names(struct scene_expansion *self, struct emplacement *placing,
				    struct scope *scope, struct yaml_node *joints)
{
	enum status status = STATUS_OK;
	for (struct yaml_node *at = joints->first; at != NULL && status == STATUS_OK; at = at->next)
		status = scope_substitute(scope, &self->nodes, at);
	return status == STATUS_OK ? names_of_entries(self, joints->first, joints->count,
						      &placing->names[NAME_JOINT])
				   : status;
}

static struct scope *new_scope(struct scene_expansion *self, struct scope *around)
{
	struct scope *scope = nodes_memory(&self->nodes, sizeof *scope);
	if (scope == NULL)
		return NULL;
	scope->around = around;
	scope->source = &self->source;
	scope->depth = &self->variable_depth;
	return scope;
}

/* One instance: its entries are copied, and placed. `index` has the number of the instance. */
static enum status expand_instance(struct scene_expansion *self, struct emplacement *placing,
				   const struct assembly *assembly,
				   const struct yaml_node *own_variables, struct scope *index,
				   struct parts *out)
{
	struct assembly_keys keys;
	struct yaml_node *copy = nodes_copy(&self->nodes, assembly->node);
	struct scope *scope = new_scope(self, assembly->scope);
	if (copy == NULL || scope == NULL)
		return no_memory(self, assembly->node->line);
	scope->numbered = index->numbered;
	scope->index = index->index;
	scope->instances = index->instances;
	enum status status = schema_read(&self->source, copy, SCHEMA_ASSEMBLY, &keys);
	if (status == STATUS_OK)
		status = scope_fill(scope, &self->nodes, keys.variables, own_variables, index);
	if (status == STATUS_OK)
		status = scope_check(scope);
	if (status == STATUS_OK && keys.joints != NULL)
		status = take_joint_names(self, placing, scope, own(keys.joints));
	if (status == STATUS_OK && keys.bodies != NULL)
		status = expand_bodies(self, placing, scope, own(keys.bodies), out);
	if (status == STATUS_OK)
		status = expand_list(self, placing, scope, PART_JOINT, own(keys.joints), out);
	if (status == STATUS_OK)
		status = expand_list(self, placing, scope, PART_FIELD, own(keys.fields), out);
	if (status == STATUS_OK)
		status =
			expand_list(self, placing, scope, PART_PARTICLES, own(keys.particles), out);
	return status;
}

/* The assembly that an entry names or has; *inside is the latter. */
static enum status find_assembly(struct scene_expansion *self, struct scope *scope,
				 const struct parts *parts, const struct yaml_node *use,
				 struct assembly *inside, struct assembly **out)
{
	char room[64];
	if (use->kind == NODE_MAP) {
		*inside = (struct assembly){ "assembly", own(use), use->line, scope, false, NULL };
		*out = inside;
		return STATUS_OK;
	}
	if (use->kind != NODE_SCALAR)
		return source_fail(&self->source, use->line, STATUS_TYPE, "assembly",
				   "assembly must be a name or a mapping, not %s",
				   node_kind_text(use));
	struct suggestion suggestion = suggestion_for(use->text);
	for (struct assembly *at = parts->assemblies; at != NULL; at = at->next) {
		*out = at;
		if (strcmp(at->name, use->text) == 0)
			return STATUS_OK;
		suggestion_offer(&suggestion, at->name);
	}
	return source_fail(&self->source, use->line, STATUS_MISSING, "assembly",
			   "assembly '%.32s' is not in this file%s", use->text,
			   suggestion_text(&suggestion, room, sizeof room));
}

static enum status check_instances(struct scene_expansion *self, const struct yaml_node *entry,
				   const struct assembly *assembly, uint64_t count)
{
	if (assembly->open)
		return source_fail(&self->source, entry->line, STATUS_BACK_REFERENCE, "assembly",
				   "assembly '%.32s' contains itself, directly or through others",
				   assembly->name);
	if (self->assembly_depth == ASSEMBLY_DEPTH_MAX)
		return source_fail(&self->source, entry->line, STATUS_TOO_DEEP, "assembly",
				   "assemblies are more than %d levels deep in each other",
				   ASSEMBLY_DEPTH_MAX);
	if (self->instance_count + count > INSTANCES_MAX)
		return source_fail(&self->source, entry->line, STATUS_LIMIT, "assembly",
				   "%llu instances of assemblies so far, more than the limit of %d",
				   (unsigned long long)(self->instance_count + count),
				   INSTANCES_MAX);
	self->instance_count += (uint32_t)count;
	return STATUS_OK;
}

/* The text before the names of the index-th instance. */
static const char *instance_prefix(struct scene_expansion *self, const struct emplacement *placing,
				   const char *name, bool several, uint32_t index)
{
	char number[16] = ".";
	if (several)
		snprintf(number, sizeof number, "[%u].", (unsigned)index);
	const char *prefix = placing->prefix != NULL ? placing->prefix : "";
	return nodes_join(&self->nodes, prefix, name, number);
}

struct instances {
	struct instance_keys keys;
	const struct yaml_node *entry;
	struct assembly *assembly;
	struct generator generator;
	pose frame; /* of the entry, its own and the placing's */
};

static enum status expand_all(struct scene_expansion *self, const struct emplacement *placing,
			      struct scope *scope, const struct instances *all, struct parts *out)
{
	const struct instance_keys *keys = &all->keys;
	bool several = all->generator.kind != GENERATE_ONE;
	uint32_t count = (uint32_t)generator_count(&all->generator);
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
		pose place = generator_pose(&all->generator, i);
		pose at = pose_make(vec3_add(keys->at, place.position),
				    quat_mul(place.rotation, keys->rotation));
		struct emplacement inner = { .around = placing, .moved = true };
		struct scope *index = new_scope(self, scope);
		inner.frame = pose_mul(all->frame, at);
		inner.frame.rotation = quat_normalize(inner.frame.rotation);
		inner.prefix =
			instance_prefix(self, placing, instance_name(own(all->entry)), several, i);
		if (index == NULL || inner.prefix == NULL)
			return no_memory(self, all->entry->line);
		index->numbered = several;
		index->index = i;
		index->instances = count;
		status = expand_instance(self, &inner, all->assembly, keys->variables, index, out);
	}
	return status;
}

static enum status expand_instances(struct scene_expansion *self, const struct emplacement *placing,
				    struct scope *scope, struct yaml_node *entry, struct parts *out)
{
	struct instances all = { .entry = entry };
	struct assembly inside;
	enum status status = schema_read(&self->source, entry, SCHEMA_INSTANCE, &all.keys);
	if (status == STATUS_OK)
		status = compile_frame(&self->source, all.keys.frame, &all.frame);
	if (status == STATUS_OK)
		status = find_assembly(self, scope, out, all.keys.assembly, &inside, &all.assembly);
	if (status != STATUS_OK)
		return status;
	all.frame = pose_mul(placing->frame, all.frame);
	const struct generator_maps maps = GENERATOR_MAPS(&all.keys);
	uint64_t seed =
		KEY_GIVEN(&all.keys, INSTANCE, seed) ? all.keys.seed : rng_mix(self->entry_count);
	self->entry_count++;
	status = generator_read(&self->source, entry, &maps, seed, self->planar, &all.generator);
	if (status != STATUS_OK)
		return status;
	status = check_instances(self, entry, all.assembly, generator_count(&all.generator));
	if (status == STATUS_OK) {
		all.assembly->open = true;
		self->assembly_depth++;
		status = expand_all(self, placing, scope, &all, out);
		self->assembly_depth--;
		all.assembly->open = false;
	}
	generator_release(&all.generator);
	return status;
}

/* Appends the entries of a list of bodies; `placing` gets their names. */
static enum status expand_bodies(struct scene_expansion *self, struct emplacement *placing,
				 struct scope *scope, struct yaml_node *list, struct parts *out)
{
	enum status status = STATUS_OK;
	for (struct yaml_node *at = list->first; at != NULL && status == STATUS_OK; at = at->next)
		status = substitute_entry(self, scope, at);
	if (status != STATUS_OK)
		return status;
	if (placing->prefix != NULL)
		status = names_of_entries(self, list->first, list->count,
					  &placing->names[NAME_BODY]);
	struct yaml_node *next;
	for (struct yaml_node *at = list->first; at != NULL && status == STATUS_OK; at = next) {
		next = at->next;
		if (at->kind == NODE_MAP && node_child(at, "assembly") != NULL) {
			status = expand_instances(self, placing, scope, at, out);
			continue;
		}
		status = expand_place(self, placing, PART_BODY, at);
		node_list_add(&out->lists[PART_BODY], at);
	}
	return status;
}

/* ---- files
 * --------------------------------------------------------------------------------------- */

/* A name of a map that an included file has, too, in line `line` of all lines. */
static enum status refuse_included(const struct scene_expansion *self, const struct yaml_node *key,
				   uint32_t line)
{
	const char *file = source_place(&self->source, &line);
	return source_fail(&self->source, key->line, STATUS_EXISTS, key->text,
			   "'%.32s' is also in %.40s:%u; give the include a name", key->text, file,
			   (unsigned)line);
}

enum status parts_add(struct scene_expansion *self, struct parts *parts, enum name_kind kind,
		      struct yaml_node *key, struct yaml_node *value)
{
	/* One file has no name twice, so only those of included files are compared. */
	const struct yaml_node *at = self->documents.count > 0 ? parts->maps[kind].first : NULL;
	for (; at != NULL; at = at->next->next)
		if (strcmp(at->text, key->text) == 0)
			return refuse_included(self, key, at->line);
	node_list_add_pair(&parts->maps[kind], key, value);
	return STATUS_OK;
}

static enum status add_map(struct scene_expansion *self, struct scope *scope, enum name_kind kind,
			   struct yaml_node *map, struct parts *out)
{
	struct yaml_node *next;
	enum status status = STATUS_OK;
	for (struct yaml_node *key = map != NULL ? map->first : NULL;
	     key != NULL && status == STATUS_OK; key = next) {
		struct yaml_node *value = key->next;
		next = value->next;
		status = scope_substitute(scope, &self->nodes, value);
		if (status == STATUS_OK)
			status = parts_add(self, out, kind, key, value);
	}
	return status;
}

static enum status add_assemblies(struct scene_expansion *self, struct scope *scope,
				  struct yaml_node *map, struct parts *out)
{
	for (struct yaml_node *key = map != NULL ? map->first : NULL; key != NULL;
	     key = key->next->next) {
		struct assembly_keys keys;
		enum status status = schema_read(&self->source, key->next, SCHEMA_ASSEMBLY, &keys);
		if (status != STATUS_OK)
			return status;
		struct assembly *assembly = nodes_memory(&self->nodes, sizeof *assembly);
		if (assembly == NULL)
			return source_no_memory(&self->source);
		for (const struct assembly *at = out->assemblies; at != NULL; at = at->next)
			if (strcmp(at->name, key->text) == 0)
				return refuse_included(self, key, at->line);
		*assembly = (struct assembly){ key->text, key->next, key->line,
					       scope,	  false,     out->assemblies };
		out->assemblies = assembly;
	}
	return STATUS_OK;
}

/* What is not a part is substituted where it is. */
static enum status substitute_rest(struct scene_expansion *self, struct scope *scope,
				   const struct scene_keys *keys)
{
	const struct yaml_node *const rest[] = { keys->world, keys->compare, keys->expect };
	enum status status = STATUS_OK;
	for (size_t i = 0; i < COUNT_OF(rest) && status == STATUS_OK; i++)
		if (rest[i] != NULL)
			status = scope_substitute(scope, &self->nodes, own(rest[i]));
	return status;
}

static enum status read_planar(struct scene_expansion *self, const struct yaml_node *world)
{
	struct world_keys keys;
	enum status status = schema_read(&self->source, world, SCHEMA_WORLD, &keys);
	self->planar = status == STATUS_OK && keys.planar;
	return status;
}

static enum status add_parts(struct scene_expansion *self, struct scope *scope,
			     const struct scene_keys *keys, const struct open_file *file,
			     struct parts *out)
{
	struct emplacement nowhere = { .frame = pose_identity() };
	enum status status = substitute_rest(self, scope, keys);
	if (status == STATUS_OK && keys->world != NULL && file->around == NULL)
		status = read_planar(self, keys->world);
	if (status == STATUS_OK && keys->include != NULL)
		status = expand_includes(self, own(keys->include), file, scope, out);
	if (status == STATUS_OK)
		status = add_map(self, scope, NAME_MATERIAL, own(keys->materials), out);
	if (status == STATUS_OK)
		status = add_map(self, scope, NAME_SHAPE, own(keys->shapes), out);
	if (status == STATUS_OK)
		status = add_map(self, scope, NAME_PROTOTYPE, own(keys->prototypes), out);
	if (status == STATUS_OK)
		status = add_assemblies(self, scope, own(keys->assemblies), out);
	if (status == STATUS_OK && keys->bodies != NULL)
		status = expand_bodies(self, &nowhere, scope, own(keys->bodies), out);
	if (status == STATUS_OK)
		status = expand_list(self, &nowhere, scope, PART_JOINT, own(keys->joints), out);
	if (status == STATUS_OK)
		status = expand_list(self, &nowhere, scope, PART_FIELD, own(keys->fields), out);
	if (status == STATUS_OK)
		status = expand_list(self, &nowhere, scope, PART_PARTICLES, own(keys->particles),
				     out);
	return status;
}

/* --let of the command line, in the first file. */
static enum status apply_lets(struct scene_expansion *self, struct scope *scope, uint32_t line)
{
	enum status status = STATUS_OK;
	const struct scene_options *options = self->options;
	for (uint32_t i = 0; options != NULL && i < options->let_count && status == STATUS_OK; i++)
		status = scope_let(scope, &self->nodes, line, options->lets[i]);
	return status;
}

enum status expand_parts(struct scene_expansion *self, struct yaml_node *root,
			 const struct open_file *file, const struct yaml_node *own_variables,
			 struct scope *outer, struct scope **scope, struct parts *out)
{
	struct scene_keys keys;
	*out = (struct parts){ 0 };
	*scope = new_scope(self, NULL);
	if (*scope == NULL)
		return source_no_memory(&self->source);
	enum status status = schema_read(&self->source, root, SCHEMA_SCENE, &keys);
	if (status == STATUS_OK)
		status = scope_fill(*scope, &self->nodes, keys.variables, own_variables, outer);
	if (status == STATUS_OK && file->around == NULL)
		status = apply_lets(self, *scope,
				    keys.variables != NULL ? keys.variables->line : root->line);
	if (status == STATUS_OK)
		status = scope_check(*scope);
	return status == STATUS_OK ? add_parts(self, *scope, &keys, file, out) : status;
}

/* ---- the root
 * ------------------------------------------------------------------------------------ */

static bool is_removed(const char *key)
{
	return strcmp(key, "variables") == 0 || strcmp(key, "include") == 0 ||
	       strcmp(key, "assemblies") == 0;
}

/* Sets or adds the section `key` of the flat file, if there is something in it. */
static enum status put_section(struct scene_expansion *self, struct yaml_node *root,
			       const char *key, enum node_kind kind, const struct node_list *list)
{
	struct yaml_node *section = node_child(root, key);
	if (section == NULL && list->count == 0)
		return STATUS_OK;
	if (section == NULL) {
		section = nodes_new(&self->nodes, kind, root->line);
		if (section == NULL || !nodes_set(&self->nodes, root, key, section))
			return no_memory(self, root->line);
	}
	section->first = list->first;
	section->count = list->count;
	return STATUS_OK;
}

enum status expand_file(struct scene_expansion *self, struct document *document,
			const struct open_file *file)
{
	struct scope *scope;
	struct parts parts;
	struct yaml_node *root = document->root, *next;
	enum status status = expand_parts(self, root, file, NULL, NULL, &scope, &parts);
	if (status != STATUS_OK)
		return status;
	struct node_list kept = { 0 };
	for (struct yaml_node *key = root->first; key != NULL; key = next) {
		struct yaml_node *value = key->next;
		next = value->next;
		if (!is_removed(key->text))
			node_list_add_pair(&kept, key, value);
	}
	root->first = kept.first;
	root->count = kept.count;
	static const struct {
		const char *key;
		enum name_kind map;
	} maps[] = { { "materials", NAME_MATERIAL },
		     { "shapes", NAME_SHAPE },
		     { "prototypes", NAME_PROTOTYPE } };
	for (size_t i = 0; i < COUNT_OF(maps) && status == STATUS_OK; i++)
		status = put_section(self, root, maps[i].key, NODE_MAP, &parts.maps[maps[i].map]);
	static const char *const lists[PART_KINDS] = { "bodies", "joints", "fields", "particles" };
	for (size_t i = 0; i < COUNT_OF(lists) && status == STATUS_OK; i++)
		status = put_section(self, root, lists[i], NODE_LIST, &parts.lists[i]);
	return status;
}

void expansion_release(struct scene_expansion *self)
{
	for (uint32_t i = 0; i < self->documents.count; i++)
		document_release(&self->documents.items[i]);
	ARRAY_RELEASE(&self->documents);
	ARRAY_RELEASE(&self->notes);
	nodes_release(&self->nodes);
	if (self->included != NULL)
		included_files_release(self->included);
	heap_free(self->included);
	self->included = NULL;
}
