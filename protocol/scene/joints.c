/* joints.c: entries of `joints` as JOINT_CREATE commands, each followed by the commands of its axes.
 *
 * The poses of the bodies are those of their SPAWN commands, jitter included; an anchor in body axes is
 * computed from them. A joint with one anchor point is sent with that point in the world (place 1), so
 * that both sides agree even if the bodies have moved since. Only `at_a` and `at_b` together are
 * sent as two anchors in body axes.
 */
#include "protocol/scene/compile.h"

#include <stdio.h>
#include <string.h>

#include "server/base/rng.h"

struct joint_entry {
	const struct yaml_node *node;
	struct joint_keys keys;
	struct body_range a, b;
	uint32_t type; /* enum joint_type */
	pose frame;    /* the entry's axes to the world's */
};

/* ---- names --------------------------------------------------------------------------------------- */

static uint64_t name_hash(const char *name)
{
	uint64_t hash = 0;
	for (; *name != '\0'; name++)
		hash = rng_mix(hash ^ (uint8_t)*name);
	return hash;
}

const struct named_bodies *compile_named(const struct compile *self, const char *name)
{
	uint32_t at = 0;
	if (!table_find(&self->names, name_hash(name), &at))
		return NULL;
	for (; at != 0; at = self->bodies.items[at - 1].same)
		if (strcmp(self->bodies.items[at - 1].name, name) == 0)
			return &self->bodies.items[at - 1];
	return NULL;
}

enum status compile_name(struct compile *self, const struct named_bodies *named)
{
	uint32_t same = 0;
	uint64_t hash = name_hash(named->name);
	ASSERT(compile_named(self, named->name) == NULL);
	table_find(&self->names, hash, &same);
	if (ARRAY_RESERVE(&self->bodies, (uint64_t)self->bodies.count + 1) != STATUS_OK ||
	    table_put(&self->names, hash, self->bodies.count + 1) != STATUS_OK)
		return source_no_memory(&self->source);
	self->bodies.items[self->bodies.count] = *named;
	self->bodies.items[self->bodies.count++].same = same;
	return STATUS_OK;
}

static enum status find_name(struct compile *self, const struct yaml_node *use, const char *key,
			     const char *name, struct body_range *out)
{
	const struct named_bodies *named = compile_named(self, name);
	if (named != NULL) {
		*out = (struct body_range){ named->first, named->count };
		return STATUS_OK;
	}
	/* Suggestions cost far more than comparisons, so they are sought only for an error. */
	char room[64];
	struct suggestion suggestion = suggestion_for(name);
	for (uint32_t i = 0; i < self->bodies.count; i++)
		suggestion_offer(&suggestion, self->bodies.items[i].name);
	return source_fail(&self->source, use->line, STATUS_MISSING, key,
			   "%s: no body has the name '%.32s'%s", key, name,
			   suggestion_text(&suggestion, room, sizeof room));
}

/* "[i]" at the end of a name: the i-th body of a generator, from 0; −1 is the last one, −2 the one
 * before. */
static enum status take_index(struct compile *self, const struct yaml_node *use, const char *key,
			      const char *index, struct body_range *side)
{
	int number, bytes = 0;
	if (sscanf(index, "[%d]%n", &number, &bytes) != 1 || bytes == 0 || index[bytes] != '\0')
		return source_fail(&self->source, use->line, STATUS_TYPE, key,
				   "%s '%.32s' must be NAME or NAME[number]", key, use->text);
	int64_t place = number < 0 ? (int64_t)side->count + number : number;
	if (place < 0 || place >= (int64_t)side->count)
		return source_fail(
			&self->source, use->line, STATUS_RANGE, key,
			"%s '%.32s': the number must be from -%u to %u; -1 is the last body", key,
			use->text, (unsigned)side->count, (unsigned)side->count - 1);
	*side = (struct body_range){ side->first + (uint32_t)place, 1 };
	return STATUS_OK;
}

enum status compile_find_bodies(struct compile *self, const struct yaml_node *entry,
				const char *key, const char *text, struct body_range *out)
{
	char name[80];
	*out = (struct body_range){ COMPILE_WORLD, 1 };
	if (text == NULL || strcmp(text, "world") == 0)
		return STATUS_OK;
	const struct yaml_node *use = node_find(entry, key);
	/* The brackets of instances, which have a dot behind them, belong to the name. */
	const char *last = strrchr(text, '[');
	size_t bytes =
		last != NULL && strchr(last, '.') == NULL ? (size_t)(last - text) : strlen(text);
	snprintf(name, sizeof name, "%.*s", (int)bytes, text);
	enum status status = find_name(self, use, key, name, out);
	return status == STATUS_OK && text[bytes] != '\0'
		       ? take_index(self, use, key, text + bytes, out)
		       : status;
}

static enum status find_chain(struct compile *self, struct joint_entry *entry)
{
	const struct joint_keys *keys = &entry->keys;
	struct body_range all;
	enum status status = compile_refuse_both(self, entry->node, keys->a != NULL, "chain", "a");
	if (status == STATUS_OK)
		status = compile_refuse_both(self, entry->node, keys->b != NULL, "chain", "b");
	if (status == STATUS_OK)
		status = compile_find_bodies(self, entry->node, "chain", keys->chain, &all);
	if (status != STATUS_OK)
		return status;
	if (all.first == COMPILE_WORLD || all.count < 2)
		return source_fail(
			&self->source, node_find(entry->node, "chain")->line, STATUS_RANGE, "chain",
			"chain '%.32s' is one body; a chain needs a generator with 2 or more bodies",
			keys->chain);
	entry->a = (struct body_range){ all.first, all.count - 1 };
	entry->b = (struct body_range){ all.first + 1, all.count - 1 };
	return STATUS_OK;
}

static enum status find_sides(struct compile *self, struct joint_entry *entry)
{
	const struct joint_keys *keys = &entry->keys;
	struct body_range *a = &entry->a, *b = &entry->b;
	if (keys->chain != NULL)
		return find_chain(self, entry);
	enum status status = compile_find_bodies(self, entry->node, "a", keys->a, a);
	if (status == STATUS_OK)
		status = compile_find_bodies(self, entry->node, "b", keys->b, b);
	if (status != STATUS_OK)
		return status;
	if (a->first == b->first)
		return source_fail(
			&self->source, entry->node->line, STATUS_RANGE, "b",
			a->first == COMPILE_WORLD
				? "both sides are the world: a joint needs a body, a or b"
				: "a and b are the same body; to join neighbours of a generator, "
				  "give chain");
	if (a->count > 1 && b->count > 1 && a->count != b->count)
		return source_fail(
			&self->source, entry->node->line, STATUS_RANGE, "b",
			"a has %u bodies and b has %u: the numbers must be equal, or one of them 1",
			(unsigned)a->count, (unsigned)b->count);
	return STATUS_OK;
}

/* The index-th body of a side: its command, or COMPILE_WORLD. */
static uint32_t side_at(struct body_range side, uint32_t index)
{
	return side.first == COMPILE_WORLD ? COMPILE_WORLD
					   : side.first + (side.count > 1 ? index : 0);
}

static pose pose_of(const struct compile *self, uint32_t body)
{
	if (body == COMPILE_WORLD)
		return pose_identity();
	const struct command_SPAWN *spawn = &self->commands.items[body].spawn;
	return pose_make(spawn->position, spawn->rotation);
}

/* ---- anchors ------------------------------------------------------------------------------------- */

static bool apart(const struct joint_entry *entry)
{
	return entry->type == JOINT_DISTANCE || entry->type == JOINT_DRAG;
}

/* Checks the anchor keys: at most one for each side, and those that the type needs. */
static enum status check_anchors(struct compile *self, const struct joint_entry *entry)
{
	const struct joint_keys *keys = &entry->keys;
	const struct yaml_node *node = entry->node;
	bool at = KEY_GIVEN(keys, JOINT, at), to = KEY_GIVEN(keys, JOINT, to);
	bool at_a = KEY_GIVEN(keys, JOINT, at_a), at_b = KEY_GIVEN(keys, JOINT, at_b);
	if (to && !apart(entry))
		return source_fail(
			&self->source, node_find(node, "to")->line, STATUS_RANGE, "to",
			"only a distance and a drag have two anchors in the world; give at");
	enum status status = compile_refuse_both(self, node, at && at_a, "at", "at_a");
	if (status == STATUS_OK)
		status = compile_refuse_both(self, node, to && at_b, "to", "at_b");
	if (status == STATUS_OK)
		status = compile_refuse_both(self, node, at && at_b && !apart(entry), "at", "at_b");
	if (status != STATUS_OK)
		return status;
	if (apart(entry) && (!(at || at_a) || !(to || at_b)))
		return source_fail(
			&self->source, node->line, STATUS_MISSING, "at_b",
			"a joint of this type needs the keys 'at' or 'at_a', and 'to' or 'at_b'");
	if (!at && !at_a && !at_b)
		return source_fail(&self->source, node->line, STATUS_MISSING, "at",
				   "joint needs one of the keys 'at', 'at_a' and 'at_b'");
	return STATUS_OK;
}

/* Joint axes with x along `x` and z along the part of `z` perpendicular to it. */
static quat frame_of(vec3 x, vec3 z)
{
	quat frame = quat_between(vec3_axis(0), x);
	vec3 is = quat_rotate(frame, vec3_axis(2));
	quat turn = vec3_dot(is, z) < -1 + 1e-12 ? quat_from_axis_angle(x, 180 * RADIANS_PER_DEGREE)
						 : quat_between(is, z);
	return quat_normalize(quat_mul(turn, frame));
}

/* In the axes of the anchor. */
static enum status read_frame(struct compile *self, const struct joint_entry *entry, quat *out)
{
	const struct joint_keys *keys = &entry->keys;
	const struct yaml_node *node = entry->node;
	double length;
	bool along_z = self->planar && entry->type == JOINT_REVOLUTE;
	bool axis = KEY_GIVEN(keys, JOINT, axis), across = KEY_GIVEN(keys, JOINT, across);
	bool rotation = KEY_GIVEN(keys, JOINT, rotation);
	enum status status = compile_refuse_both(self, node, rotation && axis, "rotation", "axis");
	if (status == STATUS_OK)
		status = compile_refuse_both(self, node, rotation && across, "rotation", "across");
	*out = keys->rotation;
	if (status != STATUS_OK || rotation)
		return status;
	vec3 x = axis ? vec3_normalize_length(keys->axis, &length) : vec3_axis(along_z ? 2 : 0);
	if (axis && !(length > 1e-9))
		return source_fail(&self->source, node_find(node, "axis")->line, STATUS_DEGENERATE,
				   "axis", "axis has length %g; it must be at least 1e-09", length);
	*out = quat_between(vec3_axis(0), x);
	if (!across)
		return STATUS_OK;
	vec3 z = vec3_mul_sub(keys->across, x, vec3_dot(keys->across, x));
	z = vec3_normalize_length(z, &length);
	if (!(length > 1e-9 * vec3_length(keys->across)))
		return source_fail(&self->source, node_find(node, "across")->line,
				   STATUS_DEGENERATE, "across",
				   "across is parallel to axis, or its length is 0");
	*out = frame_of(x, z);
	return STATUS_OK;
}

/* Sets anchors and frames of the joint of two bodies. */
static void place_joint(const struct compile *self, const struct joint_entry *entry, uint32_t a,
			uint32_t b, quat frame, struct command_JOINT_CREATE *out)
{
	const struct joint_keys *keys = &entry->keys;
	pose at_a = pose_of(self, a), at_b = pose_of(self, b);
	bool by_a = KEY_GIVEN(keys, JOINT, at_a), by_b = KEY_GIVEN(keys, JOINT, at_b);
	vec3 point_a = by_a ? pose_point(at_a, keys->at_a) : keys->at;
	vec3 point_b = by_b ? pose_point(at_b, keys->at_b) : keys->to;
	if (by_a)
		frame = quat_mul(at_a.rotation, frame);
	else if (by_b && !KEY_GIVEN(keys, JOINT, at))
		frame = quat_mul(at_b.rotation, frame);
	else if (keys->frame != NULL)
		frame = quat_mul(entry->frame.rotation, frame);
	out->place = 1;
	out->point_a = apart(entry) || by_a || !by_b ? point_a : point_b;
	out->point_b = apart(entry) ? point_b : vec3_zero();
	out->frame_a = quat_normalize(frame);
	if (apart(entry) || !(by_a && by_b))
		return;
	out->place = 0;
	out->point_a = keys->at_a;
	out->point_b = keys->at_b;
	out->frame_a = quat_normalize(quat_mul(quat_conjugate(at_a.rotation), frame));
	out->frame_b = quat_normalize(quat_mul(quat_conjugate(at_b.rotation), frame));
}

/* ---- axes ---------------------------------------------------------------------------------------- */

#define TYPE_BIT(type) (1u << (type))
#define ANY_TYPE UINT32_MAX

/* table: keys of axes, and the types that have them. */
static const struct {
	const char *name;
	size_t offset; /* into struct joint_keys */
	uint32_t axis, types;
} AXES[] = {
#define AXIS_WORD(word, axis, types)                                                               \
	{                                                                                          \
#word, offsetof(struct joint_keys, word), axis, types                              \
	}
	AXIS_WORD(slide, 0, TYPE_BIT(JOINT_PRISMATIC) | TYPE_BIT(JOINT_CYLINDRICAL)),
	AXIS_WORD(turn, 3,
		  TYPE_BIT(JOINT_REVOLUTE) | TYPE_BIT(JOINT_CYLINDRICAL) |
			  TYPE_BIT(JOINT_UNIVERSAL)),
	AXIS_WORD(bend, 4, TYPE_BIT(JOINT_UNIVERSAL)),
	AXIS_WORD(length, 0, TYPE_BIT(JOINT_DISTANCE)),
	AXIS_WORD(twist, 3, TYPE_BIT(JOINT_SPHERICAL)),
	AXIS_WORD(swing, 4, TYPE_BIT(JOINT_SPHERICAL)),
	AXIS_WORD(suspension, 0, TYPE_BIT(JOINT_WHEEL)),
	AXIS_WORD(steer, 3, TYPE_BIT(JOINT_WHEEL)),
	AXIS_WORD(spin, 5, TYPE_BIT(JOINT_WHEEL)),
	AXIS_WORD(x, 0, ANY_TYPE),
	AXIS_WORD(y, 1, ANY_TYPE),
	AXIS_WORD(z, 2, ANY_TYPE),
	AXIS_WORD(rx, 3, ANY_TYPE),
	AXIS_WORD(ry, 4, ANY_TYPE),
	AXIS_WORD(rz, 5, ANY_TYPE),
};

uint32_t compile_axis_number(uint32_t word, uint32_t type)
{
	ASSERT(word < COUNT_OF(AXES));
	return AXES[word].types & TYPE_BIT(type) ? AXES[word].axis : UINT32_MAX;
}

/* The keys of one axis that are in the entry itself; false if there are none. */
static bool own_axis(const struct joint_keys *keys, struct axis_keys *out)
{
	schema_defaults(SCHEMA_AXIS, out);
#define TAKE(key)                                                                                  \
	do {                                                                                       \
		const uint64_t one = 1;                                                            \
		out->key = keys->key;                                                              \
		if (KEY_GIVEN(keys, JOINT, key))                                                   \
			out->given |= one << KEY_AXIS_##key;                                       \
	} while (0)
	TAKE(mode);
	TAKE(limits);
	TAKE(limits_degrees);
	TAKE(restitution);
	TAKE(friction);
	TAKE(spring);
	TAKE(motor);
	TAKE(gear);
	TAKE(armature);
	return out->given != 0;
}

/* The axes to which the entry's own keys apply: first … first + count − 1. */
static enum status own_axes(struct compile *self, const struct joint_entry *entry, uint32_t *first,
			    uint32_t *count)
{
	*count = 1;
	*first = entry->type == JOINT_REVOLUTE ? 3 : 0;
	if (entry->type == JOINT_DRAG)
		*count = 3;
	if (entry->type == JOINT_REVOLUTE || entry->type == JOINT_PRISMATIC || apart(entry))
		return STATUS_OK;
	const char *words = entry->type == JOINT_SPHERICAL     ? "twist: {…} or swing"
			    : entry->type == JOINT_CYLINDRICAL ? "slide: {…} or turn"
			    : entry->type == JOINT_UNIVERSAL   ? "turn: {…} or bend"
			    : entry->type == JOINT_WHEEL       ? "suspension: {…}, steer or spin"
							       : "x: {…}, y, z, rx, ry or rz";
	if (entry->type == JOINT_FIXED)
		return source_fail(&self->source, entry->node->line, STATUS_RANGE, "type",
				   "a fixed joint has no axis with limits, springs or motors");
	return source_fail(&self->source, entry->node->line, STATUS_RANGE, "type",
			   "the type has several axes; give limits, springs and motors in %s: {…}",
			   words);
}

static enum status make_own_axes(struct compile *self, const struct joint_entry *entry,
				 uint32_t joint, double length)
{
	struct axis_keys keys;
	uint32_t first, count;
	if (!own_axis(&entry->keys, &keys))
		return STATUS_OK;
	enum status status = own_axes(self, entry, &first, &count);
	for (uint32_t i = 0; status == STATUS_OK && i < count; i++)
		status = compile_axis(self, entry->node, &keys, joint, entry->type, first + i,
				      length);
	return status;
}

static enum status make_axes(struct compile *self, const struct joint_entry *entry, uint32_t joint,
			     double length)
{
	enum status status = make_own_axes(self, entry, joint, length);
	for (size_t i = 0; status == STATUS_OK && i < COUNT_OF(AXES); i++) {
		const struct yaml_node *node;
		struct axis_keys keys;
		memcpy(&node, (const char *)&entry->keys + AXES[i].offset, sizeof node);
		if (node == NULL)
			continue;
		if (!(AXES[i].types & TYPE_BIT(entry->type)))
			return source_fail(&self->source, node->line, STATUS_RANGE, AXES[i].name,
					   "a joint of this type has no axis %s", AXES[i].name);
		status = schema_read(&self->source, node, SCHEMA_AXIS, &keys);
		if (status == STATUS_OK)
			status = compile_axis(self, node, &keys, joint, entry->type, AXES[i].axis,
					      length);
	}
	return status;
}

/* ---- commands ------------------------------------------------------------------------------------ */

static int64_t named(uint32_t body)
{
	return body == COMPILE_WORLD ? 0 : -(int64_t)body - 1;
}

static enum status make_joint(struct compile *self, const struct joint_entry *entry, uint32_t index,
			      quat frame)
{
	const struct joint_keys *keys = &entry->keys;
	uint32_t a = side_at(entry->a, index), b = side_at(entry->b, index);
	uint32_t joint = self->commands.count;
	if (self->joint_count == MIN_OF(self->joints_max, (uint32_t)SCENE_JOINTS_MAX))
		return source_fail(&self->source, entry->node->line, STATUS_LIMIT, "joints",
				   "more joints than the limit of %u (world.limits.joints)",
				   (unsigned)self->joint_count);
	struct command *command = compile_command(self, COMMAND_JOINT_CREATE, entry->node->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	self->joint_count++;
	if (ARRAY_RESERVE(&self->joint_commands, self->joint_commands.count + 1u) != STATUS_OK)
		return source_no_memory(&self->source);
	self->joint_commands.items[self->joint_commands.count++] = joint;
	struct command_JOINT_CREATE *out = &command->joint_create;
	out->type = (uint8_t)entry->type;
	out->body_a = named(a);
	out->body_b = named(b);
	place_joint(self, entry, a, b, frame, out);
	out->violated = (uint8_t)keys->violated;
	out->flags = keys->collide ? 0 : (uint32_t)JOINT_BODIES_PASS;
	out->break_force = keys->break_force;
	out->break_torque = keys->break_torque;
	out->tag = keys->tag;
	/* Without `rest`, the spring of a distance pulls to its initial length, other springs to 0. */
	double length =
		entry->type == JOINT_DISTANCE ? vec3_distance(out->point_a, out->point_b) : 0;
	double reach = vec3_max_component(vec3_max(vec3_abs(out->point_a), vec3_abs(out->point_b)));
	if (!(reach <= LENGTH_MAX))
		return source_fail(&self->source, entry->node->line, STATUS_RANGE, "at_a",
				   "an anchor would be at %g m, beyond the limit of %.10g m", reach,
				   LENGTH_MAX);
	enum status status = make_axes(self, entry, joint, length);
	if (status != STATUS_OK || keys->name == NULL)
		return status;
	return compile_joint_name(self, keys->name, entry->node->line, joint, index,
				  MAX_OF(entry->a.count, entry->b.count));
}

/* Notes the name of the next `count` joints, by which gears find them. */
static enum status note_name(struct compile *self, const char *name, uint32_t count, uint32_t line)
{
	if (ARRAY_RESERVE(&self->named_joints, self->named_joints.count + 1u) != STATUS_OK)
		return source_no_memory(&self->source);
	self->named_joints.items[self->named_joints.count++] =
		(struct named_joints){ name, self->joint_commands.count, count, line };
	return STATUS_OK;
}

static enum status compile_joint(struct compile *self, const struct yaml_node *node)
{
	struct joint_entry entry = { .node = node };
	quat frame;
	enum status status = schema_read(&self->source, node, SCHEMA_JOINT, &entry.keys);
	if (status != STATUS_OK)
		return status;
	status = compile_frame(&self->source, entry.keys.frame, &entry.frame);
	if (status != STATUS_OK)
		return status;
	if (entry.keys.frame != NULL) {
		entry.keys.at = pose_point(entry.frame, entry.keys.at);
		entry.keys.to = pose_point(entry.frame, entry.keys.to);
	}
	entry.type = entry.keys.type + JOINT_SPHERICAL;
	status = find_sides(self, &entry);
	if (status == STATUS_OK)
		status = check_anchors(self, &entry);
	if (status == STATUS_OK)
		status = read_frame(self, &entry, &frame);
	uint32_t count = MAX_OF(entry.a.count, entry.b.count);
	if (status == STATUS_OK && entry.keys.name != NULL)
		status = note_name(self, entry.keys.name, count, node_find(node, "name")->line);
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = make_joint(self, &entry, i, frame);
	return status;
}

enum status compile_joints(struct compile *self, const struct yaml_node *joints)
{
	enum status status = STATUS_OK;
	for (const struct yaml_node *at = joints != NULL ? joints->first : NULL;
	     at != NULL && status == STATUS_OK; at = at->next)
		status = compile_joint(self, at);
	return status == STATUS_OK ? compile_gears(self) : status;
}
