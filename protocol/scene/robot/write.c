/* write.c: a robot as the text of a scene: its world, and its bodies.
 *
 * Scenes have y up, robot files z: (x, y, z) becomes (x, z, −y) in the world, while the axes
 * of a body stay as they are. A body whose joints cannot be one has links of its own between
 * them (write_joints.c). They have a share of its mass, centre and inertia, so that the sums
 * are the file's.
 *
 * MuJoCo lets two geoms collide if the type of one and the affinity of the other have a common
 * bit, in either order; scenes want it in both. So each pair (type, affinity) of the file
 * becomes a category of its own, with the mask of those that it collides with.
 */
#include "protocol/scene/robot/write.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the pen ------------------------------------------------------------------------------- */

static void end_line(struct pen *self)
{
	if (ARRAY_RESERVE(&self->lines, (uint64_t)self->lines.count + 1) != STATUS_OK)
		self->failed = true;
	else
		self->lines.items[self->lines.count++] = self->begun;
}

void pen_put(struct pen *self, const char *format, ...)
{
	char piece[2048];
	va_list arguments;
	va_start(arguments, format);
	int bytes = vsnprintf(piece, sizeof piece, format, arguments);
	va_end(arguments);
	ASSERT(bytes >= 0 && (size_t)bytes < sizeof piece);
	if (self->failed || ARRAY_RESERVE(&self->text, (uint64_t)self->text.count +
							       (uint64_t)bytes + 1) != STATUS_OK) {
		self->failed = true;
		return;
	}
	memcpy(self->text.items + self->text.count, piece, (size_t)bytes + 1);
	self->text.count += (uint32_t)bytes;
	for (const char *at = piece; *at != '\0'; at++) {
		if (!self->inside)
			self->begun = self->line;
		self->inside = *at != '\n';
		if (!self->inside)
			end_line(self);
	}
}

const char *real_text(double value, char room[REAL_BYTES])
{
	value = value == 0 ? 0 : value; /* no "-0" */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(room, REAL_BYTES, "%.*g", digits, value);
		if (strtod(room, NULL) == value)
			break;
	}
	return room;
}

void pen_real(struct pen *self, const char *before, double value)
{
	char room[REAL_BYTES];
	pen_put(self, "%s%s", before, real_text(value, room));
}

void pen_reals(struct pen *self, const char *before, const double *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		pen_real(self, i == 0 ? before : ", ", values[i]);
	pen_put(self, "]");
}

void pen_quote(struct pen *self, const char *text)
{
	pen_put(self, "\"");
	for (const char *at = text; *at != '\0'; at++) {
		unsigned char byte = (unsigned char)*at;
		if (byte < 32 || byte > 126)
			pen_put(self, "\\x%02X", byte);
		else if (byte == '$')
			pen_put(self, "$$");
		else
			pen_put(self, byte == '"' || byte == '\\' ? "\\%c" : "%c", byte);
	}
	pen_put(self, "\"");
}

void pen_vector(struct pen *self, const char *key, vec3 v)
{
	pen_put(self, ", %s: ", key);
	pen_reals(self, "[", (double[]){ v.x, v.y, v.z }, 3);
}

void pen_turn(struct pen *self, const char *key, quat q)
{
	if (quat_equal(q, quat_identity()))
		return;
	pen_put(self, ", %s: ", key);
	pen_reals(self, "[", (double[]){ q.w, q.x, q.y, q.z }, 4);
}

vec3 turn_up(vec3 v)
{
	return vec3_make(v.x, v.z, 0 - v.y);
}

quat turn_up_rotation(quat q)
{
	double half = scalar_sqrt(0.5);
	return quat_mul(quat_make(half, -half, 0, 0), q);
}

void pen_side(struct pen *self, const char *key, uint32_t link)
{
	const struct robot *robot = self->robot;
	if (link != ROBOT_NONE)
		link = robot->links.items[link].into;
	if (link == ROBOT_NONE || robot->links.items[link].name == NULL)
		return;
	pen_put(self, ", %s: ", key);
	pen_quote(self, robot->links.items[link].name);
}

/* ---- filters ------------------------------------------------------------------------------- */

enum { CLASSES_MAX = 32 };
/* The pairs (type, affinity) of the file; the first is that of MuJoCo's default. */
struct filters {
	uint32_t type[CLASSES_MAX], affinity[CLASSES_MAX], count;
};

static uint32_t filter_of(struct filters *self, uint32_t type, uint32_t affinity)
{
	for (uint32_t i = 0; i < self->count; i++)
		if (self->type[i] == type && self->affinity[i] == affinity)
			return i;
	if (self->count == CLASSES_MAX)
		return 0;
	self->type[self->count] = type;
	self->affinity[self->count] = affinity;
	return self->count++;
}

static uint32_t filter_mask(const struct filters *self, uint32_t index)
{
	uint32_t mask = 0;
	for (uint32_t i = 0; i < self->count; i++)
		if ((self->type[i] & self->affinity[index]) != 0 ||
		    (self->type[index] & self->affinity[i]) != 0)
			mask |= 1u << i;
	return mask;
}

static void collect_filters(const struct robot *robot, struct filters *out)
{
	static const int many = 0;
	*out = (struct filters){ .count = 0 };
	filter_of(out, 1, 1);
	for (uint32_t i = 0; i < robot->geoms.count; i++) {
		const struct robot_geom *geom = &robot->geoms.items[i];
		if (geom->collides && filter_of(out, geom->type, geom->affinity) == 0 &&
		    (geom->type != 1 || geom->affinity != 1))
			node_note(
				robot, geom->node, &many,
				"contype %u, conaffinity %u is not taken: the file has more than %d "
				"pairs of them",
				(unsigned)geom->type, (unsigned)geom->affinity, CLASSES_MAX);
	}
}

/* ---- shapes -------------------------------------------------------------------------------- */

/* A scene's capsules and cylinders are along y. */
static quat shape_turn(const struct robot_geom *geom, quat rotation)
{
	double half = scalar_sqrt(0.5);
	bool along = geom->shape == SHAPE_CAPSULE || geom->shape == SHAPE_CYLINDER;
	return along ? quat_mul(rotation, quat_make(half, half, 0, 0)) : rotation;
}

/* `surface`: a mesh as its triangles, not as their hull. */
static void put_shape(struct pen *pen, const struct robot_geom *geom, bool surface)
{
	vec3 s = geom->size;
	switch (geom->shape) {
	case SHAPE_PLANE:
		pen_put(pen, "{ kind: plane, normal: [0, 0, 1] }");
		return;
	case SHAPE_SPHERE:
		pen_real(pen, "{ kind: sphere, radius: ", s.x);
		pen_put(pen, " }");
		return;
	case SHAPE_CAPSULE:
	case SHAPE_CYLINDER:
		pen_put(pen, "{ kind: %s", geom->shape == SHAPE_CAPSULE ? "capsule" : "cylinder");
		pen_real(pen, ", radius: ", s.x);
		pen_real(pen, ", length: ", 2 * s.y);
		pen_put(pen, " }");
		return;
	case SHAPE_ELLIPSOID:
	case SHAPE_BOX:
		pen_put(pen, "{ kind: %s", geom->shape == SHAPE_BOX ? "box" : "ellipsoid");
		pen_vector(pen, "size", vec3_scale(s, 2));
		pen_put(pen, " }");
		return;
	case SHAPE_MESH:
		break;
	}
	pen_put(pen, "{ kind: %s, file: ", surface ? "mesh" : "hull");
	pen_quote(pen, geom->file);
	pen_vector(pen, "scale", s);
	pen_put(pen, " }");
}

static void put_surface(struct pen *pen, struct filters *filters, const struct robot_geom *geom)
{
	if (geom->friction[0] >= 0)
		pen_real(pen, ", friction_rule: maximum, friction: ", geom->friction[0]);
	if (geom->friction[1] > 0)
		pen_real(pen, ", spinning_friction: ", geom->friction[1]);
	if (geom->friction[2] > 0)
		pen_real(pen, ", rolling_friction: ", geom->friction[2]);
	uint32_t index = filter_of(filters, geom->type, geom->affinity);
	if (filters->count > 1)
		pen_put(pen, ", category: %u, mask: %u", 1u << index,
			(unsigned)filter_mask(filters, index));
}

/* ---- bodies -------------------------------------------------------------------------------- */

/* The geoms of a body: its own, then those of its parts; those that collide, or those that are
 * shown. */
struct geom_walk {
	const struct robot *robot;
	uint32_t link, next;
	bool shown;
};
static const struct robot_geom *next_geom(struct geom_walk *self)
{
	while (self->link != ROBOT_NONE) {
		const struct robot_link *link = &self->robot->links.items[self->link];
		while (self->next < link->geom_count) {
			const struct robot_geom *geom =
				&self->robot->geoms.items[link->geom_first + self->next++];
			if (self->shown ? geom->shown : geom->collides)
				return geom;
		}
		self->link = link->part_next;
		self->next = 0;
	}
	return NULL;
}

bool link_collides(const struct robot *robot, uint32_t link)
{
	struct geom_walk walk = { robot, link, 0, false };
	return next_geom(&walk) != NULL;
}

static bool differ(const struct robot_geom *a, const struct robot_geom *b)
{
	return a->type != b->type || a->affinity != b->affinity ||
	       memcmp(a->friction, b->friction, sizeof a->friction) != 0;
}

/* A geom on the body of link `index`, without the closing brace. */
static void put_placed(struct pen *pen, const struct robot_geom *geom, uint32_t index, bool surface)
{
	const struct robot *robot = pen->robot;
	pose in = pose_mul(pose_inverse(robot->links.items[index].at),
			   robot->links.items[geom->link].at);
	pose at = geom->link == index ? geom->at : pose_mul(in, geom->at);
	pen->line = geom->node->main_line;
	pen_put(pen, "\n        { shape: ");
	put_shape(pen, geom, surface);
	pen_vector(pen, "at", at.position);
	pen_turn(pen, "rotation", shape_turn(geom, at.rotation));
}

/* What is shown of a body, if that is not what collides. */
static void put_visuals(struct pen *pen, uint32_t index)
{
	struct geom_walk walk = { pen->robot, index, 0, true };
	bool other = false, first = true;
	uint32_t count = 0;
	for (const struct robot_geom *geom; (geom = next_geom(&walk)) != NULL; count++)
		other |= !geom->collides;
	if (!other || count > VISUALS_MAX)
		return;
	walk = (struct geom_walk){ pen->robot, index, 0, true };
	pen_put(pen, ",\n      visuals: [");
	for (const struct robot_geom *geom; (geom = next_geom(&walk)) != NULL; first = false) {
		pen_put(pen, "%s", first ? "" : ",");
		put_placed(pen, geom, index, true);
		if (geom->colour >= 0)
			pen_put(pen, ", colour: 0x%06X", (unsigned)geom->colour);
		pen_put(pen, " }");
	}
	pen_put(pen, "]");
}

static void put_shapes(struct pen *pen, struct filters *filters, uint32_t index)
{
	static const int mixed = 0;
	const struct robot *robot = pen->robot;
	struct geom_walk walk = { robot, index, 0, false };
	const struct robot_geom *first = next_geom(&walk);
	if (first == NULL)
		return;
	put_surface(pen, filters, first);
	pen_put(pen, ",\n      shapes: [");
	for (const struct robot_geom *geom = first; geom != NULL; geom = next_geom(&walk)) {
		pen_put(pen, "%s", geom == first ? "" : ",");
		put_placed(pen, geom, index, false);
		pen_put(pen, " }");
		if (differ(first, geom))
			node_note(
				robot, geom->node, &mixed,
				"friction and filter of the first shape hold for the whole of '%.32s'",
				robot->links.items[index].name != NULL
					? robot->links.items[index].name
					: "world");
	}
	pen_put(pen, "]");
}

static void put_mass(struct pen *pen, const struct robot_link *link, double share)
{
	quat axes;
	vec3 moments = tensor_principal(link->inertia, &axes);
	pen_real(pen, ", mass: ", link->mass * share);
	pen_vector(pen, "centre", link->centre);
	pen_vector(pen, "inertia", vec3_scale(moments, share));
	pen_turn(pen, "inertia_rotation", axes);
	if (link->gravity_scale != 1)
		pen_real(pen, ", gravity_scale: ", link->gravity_scale);
}

static void put_pose(struct pen *pen, pose at)
{
	pen_vector(pen, "at", turn_up(at.position));
	pen_turn(pen, "rotation", quat_normalize(turn_up_rotation(at.rotation)));
}

/* Bodies fixed to each other never collide: equal negative groups. */
static void put_group(struct pen *pen, const struct robot_link *link)
{
	if (!link->still && pen->robot->links.items[link->weld].weld_count > 1)
		pen_put(pen, ", group: -%u", (unsigned)link->weld + 1);
}

static void put_helpers(struct pen *pen, uint32_t index, uint32_t helpers)
{
	const struct robot_link *link = &pen->robot->links.items[index];
	char name[96];
	for (uint32_t i = 0; i < helpers; i++) {
		snprintf(name, sizeof name, "%.80s/%u", link->name, (unsigned)i + 1);
		pen_put(pen, "  - { name: ");
		pen_quote(pen, name);
		put_pose(pen, link->at);
		put_mass(pen, link, pen->robot->helper_share);
		pen_put(pen, " }\n");
	}
}

static void write_link(struct pen *pen, struct filters *filters, uint32_t index)
{
	const struct robot_link *link = &pen->robot->links.items[index];
	uint32_t helpers = joint_helpers(pen->robot, index);
	if (link->into != index || (link->name == NULL && link->geom_count == 0))
		return;
	pen->line = link->node->main_line;
	put_helpers(pen, index, helpers);
	pen_put(pen, "  - { status: %s",
		link->still	 ? "static"
		: link->animated ? "animated"
				 : "dynamic");
	if (link->name != NULL) {
		pen_put(pen, ", name: ");
		pen_quote(pen, link->name);
	}
	put_pose(pen, link->at);
	if (!link->still && !link->animated)
		put_mass(pen, link, 1 - pen->robot->helper_share * helpers);
	if (link->colour >= 0)
		pen_put(pen, ", colour: 0x%06X", (unsigned)link->colour);
	put_group(pen, link);
	put_shapes(pen, filters, index);
	put_visuals(pen, index);
	pen->line = link->node->main_line;
	pen_put(pen, " }\n");
}

/* A geom of the world: a static body. */
static void write_ground(struct pen *pen, struct filters *filters, const struct robot_geom *geom)
{
	pen->line = geom->node->main_line;
	pen_put(pen, "  - { status: static");
	pose at = geom->at;
	at.rotation = shape_turn(geom, at.rotation);
	put_pose(pen, at);
	if (geom->colour >= 0)
		pen_put(pen, ", colour: 0x%06X", (unsigned)geom->colour);
	put_surface(pen, filters, geom);
	pen_put(pen, ", shape: ");
	put_shape(pen, geom, false);
	pen_put(pen, " }\n");
}

/* ---- the world ----------------------------------------------------------------------------- */

/* Letters, digits, '-', '_' and '.', which every world's name may have. */
static void put_name(struct pen *pen, const char *name)
{
	char plain[65];
	size_t bytes = 0;
	for (; name[bytes] != '\0' && bytes < sizeof plain - 1; bytes++) {
		char c = name[bytes];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
		bool fits = letter || (c >= '0' && c <= '9') || c == '-' || c == '_';
		plain[bytes] = fits ? c : '-';
	}
	plain[bytes] = '\0';
	if (bytes > 0)
		pen_put(pen, "  name: \"%s\"\n", plain);
}

static void write_world(struct pen *pen)
{
	static const int odd = 0;
	const struct robot *robot = pen->robot;
	vec3 gravity = turn_up(robot->gravity);
	pen->line = robot->tree->root->line;
	pen_put(pen, "world:\n");
	put_name(pen, robot->name != NULL ? robot->name : "robot");
	pen_put(pen, "  names: true\n");
	if (robot->is_mjcf) {
		pen_reals(pen, "  gravity: [", (double[]){ gravity.x, gravity.y, gravity.z }, 3);
		pen_put(pen, "\n");
	}
	if (robot->timestep == 0)
		return;
	double rate = 1 / robot->timestep;
	uint32_t whole = (uint32_t)(rate + 0.5);
	pen_put(pen, "  rate: %u\n", (unsigned)whole);
	if (scalar_abs(rate - whole) > 1e-6 * rate)
		node_note(robot, robot->tree->root, &odd,
			  "a timestep of %g s is not one over a whole number: the rate is %u 1/s",
			  robot->timestep, (unsigned)whole);
}

static void write_bodies(struct pen *pen)
{
	const struct robot *robot = pen->robot;
	struct filters filters;
	collect_filters(robot, &filters);
	pen_put(pen, "bodies:\n");
	uint64_t before = pen->text.count;
	for (uint32_t i = 0; i < robot->geoms.count; i++)
		if (robot->geoms.items[i].link == ROBOT_NONE && robot->geoms.items[i].collides)
			write_ground(pen, &filters, &robot->geoms.items[i]);
	for (uint32_t i = 0; i < robot->links.count; i++)
		write_link(pen, &filters, i);
	if (pen->text.count == before)
		pen_put(pen, "  []\n");
}

enum status robot_write(const struct robot *self, struct robot_scene *out)
{
	struct pen pen = { .robot = self };
	write_world(&pen);
	write_bodies(&pen);
	write_joints(&pen);
	if (pen.failed) {
		ARRAY_RELEASE(&pen.text);
		ARRAY_RELEASE(&pen.lines);
		return source_no_memory(self->tree->root->source);
	}
	out->text = pen.text.items;
	out->bytes = pen.text.count;
	out->lines = pen.lines.items;
	out->line_count = pen.lines.count;
	return STATUS_OK;
}
