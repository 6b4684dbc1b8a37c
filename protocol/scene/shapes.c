/* shapes.c: shapes of a scene as canonical bytes (engine/geometry/shape.h), each stored once.
 *
 * A shape's name is the SHA-256 of its bytes: two entries with the same bytes are one shape, under any
 * names in the file.
 */
#include "protocol/scene/compile.h"

#include <stdio.h>
#include <string.h>

#include "protocol/scene/mesh.h"
#include "server/base/bytes.h"
#include "server/base/hash.h"

enum { CANONICAL_VERSION = 1 };

/* ---- storage ------------------------------------------------------------------------------------- */

enum canonical_kind compile_shape_kind(const struct compile *self, uint32_t shape)
{
	return (enum canonical_kind)self->shapes.items[shape].canonical[0];
}

/* Adds a shape; the list takes ownership of the bytes, or frees them if it has the shape already. */
static enum status keep_shape(struct compile *self, uint32_t line, struct bytes *bytes,
			      const char *label, uint32_t *index)
{
	struct scene_shape shape = { .canonical = bytes->data,
				     .bytes = bytes->count,
				     .line = line };
	snprintf(shape.label, sizeof shape.label, "%s", label);
	hash_sha256(bytes->data, bytes->count, shape.name.bytes);
	for (uint32_t i = 0; i < self->shapes.count; i++) {
		if (memcmp(self->shapes.items[i].name.bytes, shape.name.bytes, SHA256_BYTES) == 0) {
			*index = i;
			bytes_release(bytes);
			return STATUS_OK;
		}
	}
	enum status status = STATUS_OK;
	if (self->shapes.count >= SCENE_SHAPES_MAX)
		status = source_fail(&self->source, line, STATUS_LIMIT, "shapes",
				     "more than %d different shapes, the limit of a file",
				     SCENE_SHAPES_MAX);
	else if (ARRAY_RESERVE(&self->shapes, (uint64_t)self->shapes.count + 1) != STATUS_OK)
		status = source_no_memory(&self->source);
	if (status != STATUS_OK) {
		bytes_release(bytes);
		return status;
	}
	*index = self->shapes.count++;
	self->shapes.items[*index] = shape;
	return STATUS_OK;
}

static void write_vec3(struct writer *writer, vec3 v)
{
	write_f64(writer, v.x);
	write_f64(writer, v.y);
	write_f64(writer, v.z);
}

static void write_kind(struct writer *writer, enum canonical_kind kind)
{
	write_u8(writer, (uint8_t)kind);
	write_u8(writer, CANONICAL_VERSION);
}

enum { ROUNDED_BOX = 1, ROUNDED_HULL = 2 }; /* engine/geometry/rounded.c */

/* The head of a box or hull with a radius. */
static void write_rounded(struct writer *writer, uint8_t form, double radius)
{
	write_kind(writer, CANONICAL_ROUNDED);
	write_u8(writer, form);
	write_u8(writer, 0);
	write_f64(writer, radius);
}

/* ---- simple shapes ------------------------------------------------------------------------------- */

typedef enum status shape_write(struct compile *self, const struct yaml_node *node,
				struct writer *writer);

static enum status sphere_write(struct compile *self, const struct yaml_node *node,
				struct writer *writer)
{
	struct sphere_keys sphere;
	enum status status = schema_read(&self->source, node, SCHEMA_SPHERE, &sphere);
	if (status != STATUS_OK)
		return status;
	write_kind(writer, CANONICAL_SPHERE);
	write_f64(writer, sphere.radius);
	return STATUS_OK;
}

static enum status capsule_write(struct compile *self, const struct yaml_node *node,
				 struct writer *writer)
{
	struct capsule_keys capsule;
	enum status status = schema_read(&self->source, node, SCHEMA_CAPSULE, &capsule);
	if (status != STATUS_OK)
		return status;
	write_kind(writer, CANONICAL_CAPSULE);
	write_f64(writer, 0.5 * capsule.length);
	write_f64(writer, capsule.radius);
	return STATUS_OK;
}

static enum status box_write(struct compile *self, const struct yaml_node *node,
			     struct writer *writer)
{
	struct box_keys box;
	enum status status = schema_read(&self->source, node, SCHEMA_BOX, &box);
	if (status != STATUS_OK)
		return status;
	if (box.radius > 0)
		write_rounded(writer, ROUNDED_BOX, box.radius);
	else
		write_kind(writer, CANONICAL_BOX);
	write_vec3(writer, vec3_scale(box.size, 0.5));
	return STATUS_OK;
}

static enum status cylinder_write(struct compile *self, const struct yaml_node *node,
				  struct writer *writer)
{
	struct cylinder_keys cylinder;
	enum status status = schema_read(&self->source, node, SCHEMA_CYLINDER, &cylinder);
	if (status != STATUS_OK)
		return status;
	write_kind(writer, CANONICAL_CYLINDER);
	write_f64(writer, 0.5 * cylinder.length);
	write_f64(writer, cylinder.radius);
	return STATUS_OK;
}

static enum status cone_write(struct compile *self, const struct yaml_node *node,
			      struct writer *writer)
{
	struct cone_keys cone;
	enum status status = schema_read(&self->source, node, SCHEMA_CONE, &cone);
	if (status != STATUS_OK)
		return status;
	write_kind(writer, CANONICAL_CONE);
	write_f64(writer, 0.5 * cone.length);
	write_f64(writer, cone.radius);
	return STATUS_OK;
}

static enum status ellipsoid_write(struct compile *self, const struct yaml_node *node,
				   struct writer *writer)
{
	struct ellipsoid_keys ellipsoid;
	enum status status = schema_read(&self->source, node, SCHEMA_ELLIPSOID, &ellipsoid);
	if (status != STATUS_OK)
		return status;
	write_kind(writer, CANONICAL_ELLIPSOID);
	write_vec3(writer, vec3_scale(ellipsoid.size, 0.5));
	return STATUS_OK;
}

static enum status plane_write(struct compile *self, const struct yaml_node *node,
			       struct writer *writer)
{
	struct plane_keys plane;
	double length = 1;
	enum status status = schema_read(&self->source, node, SCHEMA_PLANE, &plane);
	if (status != STATUS_OK)
		return status;
	vec3 normal = vec3_axis(1);
	if (KEY_GIVEN(&plane, PLANE, normal))
		normal = vec3_normalize_length(plane.normal, &length);
	if (!(length > 1e-9))
		return source_fail(&self->source, node_find(node, "normal")->line,
				   STATUS_DEGENERATE, "normal",
				   "normal has length %g; it must be at least 1e-09", length);
	write_kind(writer, CANONICAL_PLANE);
	write_vec3(writer, normal);
	write_f64(writer, plane.offset);
	return STATUS_OK;
}

static enum status polygon_write(struct compile *self, const struct yaml_node *node,
				 struct writer *writer)
{
	struct polygon_keys polygon;
	enum status status = schema_read(&self->source, node, SCHEMA_POLYGON, &polygon);
	if (status != STATUS_OK)
		return status;
	write_kind(writer, CANONICAL_POLYGON);
	write_u32(writer, polygon.points->count);
	write_f64(writer, polygon.radius);
	for (const struct yaml_node *at = polygon.points->first; at != NULL; at = at->next) {
		double v[2];
		status = schema_vector(&self->source, at, "points", -SCENE_LENGTH_MAX,
				       SCENE_LENGTH_MAX, "m", 2, v);
		if (status != STATUS_OK)
			return status;
		write_f64(writer, v[0]);
		write_f64(writer, v[1]);
	}
	return STATUS_OK;
}

/* ---- clouds -------------------------------------------------------------------------------------- */

static enum status read_points(struct compile *self, const struct yaml_node *list,
			       struct point_cloud *out)
{
	if (ARRAY_RESERVE(&out->points, list->count) != STATUS_OK)
		return source_no_memory(&self->source);
	for (const struct yaml_node *at = list->first; at != NULL; at = at->next) {
		double v[3];
		enum status status = schema_vector(&self->source, at, "points", -SCENE_LENGTH_MAX,
						   SCENE_LENGTH_MAX, "m", 3, v);
		if (status != STATUS_OK)
			return status;
		out->points.items[out->points.count++] = vec3_make(v[0], v[1], v[2]);
	}
	return STATUS_OK;
}

static enum status read_triangles(struct compile *self, const struct yaml_node *list,
				  struct point_cloud *out)
{
	if (ARRAY_RESERVE(&out->triangles, list->count) != STATUS_OK)
		return source_no_memory(&self->source);
	for (const struct yaml_node *at = list->first; at != NULL; at = at->next) {
		double v[3];
		struct mesh_triangle t;
		enum status status = schema_vector(&self->source, at, "triangles", 0,
						   out->points.count - 1, "", 3, v);
		if (status != STATUS_OK)
			return status;
		for (int k = 0; k < 3; k++) {
			t.corner[k] = (uint32_t)v[k];
			if (t.corner[k] != v[k])
				return source_fail(&self->source, at->line, STATUS_TYPE,
						   "triangles", "%g is not the index of a point",
						   v[k]);
		}
		out->triangles.items[out->triangles.count++] = t;
	}
	return STATUS_OK;
}

/* One number a triangle. */
static enum status read_patches(struct compile *self, const struct yaml_node *list,
				struct point_cloud *out)
{
	if (list->count != out->triangles.count)
		return source_fail(&self->source, list->line, STATUS_RANGE, "patches",
				   "%u patches for %u triangles; give one number each",
				   (unsigned)list->count, (unsigned)out->triangles.count);
	if (ARRAY_RESERVE(&out->patches, list->count) != STATUS_OK)
		return source_no_memory(&self->source);
	for (const struct yaml_node *at = list->first; at != NULL; at = at->next) {
		int64_t patch;
		enum status status =
			schema_integer(&self->source, at, "patches", 0, PATCHES_END - 1, &patch);
		if (status != STATUS_OK)
			return status;
		out->patches.items[out->patches.count++] = (uint32_t)patch;
	}
	return STATUS_OK;
}

/* Names of a file's materials: different texts, no more than there are patches. */
static enum status check_patch_names(struct compile *self, const struct yaml_node *list)
{
	if (list->count >= PATCHES_END)
		return source_fail(&self->source, list->line, STATUS_LIMIT, "patches",
				   "%u names of materials; a mesh has at most %d patches",
				   (unsigned)list->count, PATCHES_END - 1);
	for (const struct yaml_node *at = list->first; at != NULL; at = at->next) {
		if (at->kind != NODE_SCALAR)
			return source_fail(
				&self->source, at->line, STATUS_TYPE, "patches",
				"with a file, patches are names of its materials, not %s",
				node_kind_text(at));
		for (const struct yaml_node *before = list->first; before != at;
		     before = before->next)
			if (strcmp(before->text, at->text) == 0)
				return source_fail(
					&self->source, at->line, STATUS_EXISTS, "patches",
					"'%.32s' is in the list twice; name it once", at->text);
	}
	return STATUS_OK;
}

static enum status check_points(struct compile *self, uint32_t line,
				const struct point_cloud *cloud)
{
	for (uint32_t i = 0; i < cloud->points.count; i++) {
		double size = vec3_max_component(vec3_abs(cloud->points.items[i]));
		if (!(size <= SCENE_LENGTH_MAX))
			return source_fail(
				&self->source, line, STATUS_RANGE, "scale",
				"point %u has a coordinate of %g m, beyond the limit of %.10g m",
				(unsigned)i, size, SCENE_LENGTH_MAX);
	}
	return STATUS_OK;
}

/* The keys that hull, mesh and solid share. */
struct cloud_options {
	const struct yaml_node *points, *triangles,
		*patches; /* NULL: not given, or not used by the kind */
	const char *file;
	uint32_t up;
	bool centre;
	vec3 scale;
	double weld;
	bool raw; /* points and triangles are not welded: the server repairs them */
};

static enum status read_cloud(struct compile *self, const struct yaml_node *node,
			      const struct cloud_options *options, struct point_cloud *out)
{
	enum status status;
	if ((options->points != NULL) == (options->file != NULL))
		return source_fail(&self->source, node->line, STATUS_MISSING, "points",
				   "give either 'points' or 'file'");
	if (options->file != NULL)
		status = mesh_read(&self->source, node_find(node, "file")->line, self->base,
				   options->file, options->patches, out);
	else
		status = read_points(self, options->points, out);
	if (status == STATUS_OK && options->triangles != NULL)
		status = read_triangles(self, options->triangles, out);
	if (status == STATUS_OK && options->triangles != NULL && options->patches != NULL)
		status = read_patches(self, options->patches, out);
	if (status != STATUS_OK)
		return status;
	cloud_transform(out, options->up, options->centre, options->scale);
	status = check_points(self, node->line, out);
	if (status == STATUS_OK && !options->raw && cloud_weld(out, options->weld) != STATUS_OK)
		status = source_no_memory(&self->source);
	return status;
}

static enum status hull_points(struct compile *self, const struct yaml_node *node,
			       const struct hull_keys *hull, struct point_cloud *cloud)
{
	struct cloud_options options = { .points = hull->points,
					 .file = hull->file,
					 .up = hull->up,
					 .centre = hull->centre,
					 .scale = hull->scale,
					 .weld = hull->weld };
	enum status status = read_cloud(self, node, &options, cloud);
	uint32_t directions = KEY_GIVEN(hull, HULL, simplify) ? hull->simplify : 0;
	if (directions == 0 && cloud->points.count > HULL_VERTICES_MAX)
		directions = HULL_DIRECTIONS;
	if (status == STATUS_OK && directions > 0 && cloud_simplify(cloud, directions) != STATUS_OK)
		status = source_no_memory(&self->source);
	if (status == STATUS_OK && cloud->points.count < 4)
		status = source_fail(&self->source, node->line, STATUS_DEGENERATE, "points",
				     "%u different points; a hull needs at least 4",
				     (unsigned)cloud->points.count);
	return status;
}

static enum status hull_write(struct compile *self, const struct yaml_node *node,
			      struct writer *writer)
{
	struct hull_keys hull;
	struct point_cloud cloud = { 0 };
	enum status status = schema_read(&self->source, node, SCHEMA_HULL, &hull);
	if (status == STATUS_OK)
		status = hull_points(self, node, &hull, &cloud);
	if (status == STATUS_OK) {
		if (hull.radius > 0)
			write_rounded(writer, ROUNDED_HULL, hull.radius);
		else
			write_kind(writer, CANONICAL_HULL);
		write_u32(writer, cloud.points.count);
		for (uint32_t i = 0; i < cloud.points.count; i++)
			write_vec3(writer, cloud.points.items[i]);
	}
	cloud_release(&cloud);
	return status;
}

static enum status mesh_cloud(struct compile *self, const struct yaml_node *node,
			      const struct mesh_keys *mesh, struct point_cloud *cloud)
{
	struct cloud_options options = { .points = mesh->points,
					 .triangles = mesh->triangles,
					 .patches = mesh->patches,
					 .file = mesh->file,
					 .up = mesh->up,
					 .centre = mesh->centre,
					 .scale = mesh->scale,
					 .weld = mesh->weld };
	if ((mesh->triangles != NULL) != (mesh->points != NULL))
		return source_fail(&self->source, node->line, STATUS_MISSING, "triangles",
				   "'points' and 'triangles' go together");
	enum status status = STATUS_OK;
	if (mesh->patches != NULL && mesh->file != NULL)
		status = check_patch_names(self, mesh->patches);
	if (status == STATUS_OK)
		status = read_cloud(self, node, &options, cloud);
	if (status == STATUS_OK && cloud->triangles.count == 0)
		status = source_fail(&self->source, node->line, STATUS_DEGENERATE, "triangles",
				     "no triangle has an area; a mesh needs at least one");
	return status;
}

/* Writes counts, points and triangles, in the layout of meshes and solids. */
static void write_cloud(struct writer *writer, const struct point_cloud *cloud)
{
	write_u32(writer, cloud->points.count);
	write_u32(writer, cloud->triangles.count);
	for (uint32_t i = 0; i < cloud->points.count; i++)
		write_vec3(writer, cloud->points.items[i]);
	for (uint32_t i = 0; i < cloud->triangles.count; i++)
		for (int k = 0; k < 3; k++)
			write_u32(writer, cloud->triangles.items[i].corner[k]);
}

/* A byte for each triangle, if any has a patch. */
static void write_patches(struct writer *writer, const struct point_cloud *cloud)
{
	bool any = false;
	for (uint32_t i = 0; i < cloud->patches.count; i++)
		any |= cloud->patches.items[i] != 0;
	for (uint32_t i = 0; i < cloud->patches.count && any; i++)
		write_u8(writer, (uint8_t)cloud->patches.items[i]);
}

static enum status mesh_write(struct compile *self, const struct yaml_node *node,
			      struct writer *writer)
{
	struct mesh_keys mesh;
	struct point_cloud cloud = { 0 };
	enum status status = schema_read(&self->source, node, SCHEMA_MESH, &mesh);
	if (status == STATUS_OK)
		status = mesh_cloud(self, node, &mesh, &cloud);
	if (status == STATUS_OK) {
		write_kind(writer, CANONICAL_MESH);
		write_cloud(writer, &cloud);
		write_patches(writer, &cloud);
	}
	cloud_release(&cloud);
	return status;
}

static enum status solid_cloud(struct compile *self, const struct yaml_node *node,
			       const struct solid_keys *solid, struct point_cloud *cloud)
{
	struct cloud_options options = { .points = solid->points,
					 .triangles = solid->triangles,
					 .file = solid->file,
					 .up = solid->up,
					 .centre = solid->centre,
					 .scale = solid->scale,
					 .raw = true };
	if ((solid->triangles != NULL) != (solid->points != NULL))
		return source_fail(&self->source, node->line, STATUS_MISSING, "triangles",
				   "'points' and 'triangles' go together");
	return read_cloud(self, node, &options, cloud);
}

static enum status solid_write(struct compile *self, const struct yaml_node *node,
			       struct writer *writer)
{
	enum {
		FORM_HULL = 1,
		FORM_PARTS = 2
	}; /* engine/geometry/solid.h: words in their order from 1 */
	struct solid_keys solid;
	struct point_cloud cloud = { 0 };
	enum status status = schema_read(&self->source, node, SCHEMA_SOLID, &solid);
	if (status == STATUS_OK)
		status = solid_cloud(self, node, &solid, &cloud);
	if (status == STATUS_OK) {
		uint32_t form = FORM_HULL + solid.form;
		write_kind(writer, CANONICAL_SOLID);
		write_u8(writer, (uint8_t)form);
		write_u8(writer, 0);
		write_u16(writer, (uint16_t)solid.detail);
		write_f64(writer, solid.weld);
		write_f64(writer, form == FORM_PARTS ? solid.tolerance : 0);
		write_cloud(writer, &cloud);
	}
	cloud_release(&cloud);
	return status;
}

/* ---- all kinds ----------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	shape_write *write;
} KINDS[] = {
	{ "sphere", sphere_write },
	{ "capsule", capsule_write },
	{ "box", box_write },
	{ "plane", plane_write },
	{ "hull", hull_write },
	{ "mesh", mesh_write },
	{ "heightfield", compile_heightfield },
	{ "polygon", polygon_write },
	{ "solid", solid_write },
	{ "cylinder", cylinder_write },
	{ "cone", cone_write },
	{ "ellipsoid", ellipsoid_write },
};

static enum status find_kind(struct compile *self, const struct yaml_node *node, shape_write **out)
{
	char room[64];
	const struct yaml_node *kind = node_find(node, "kind");
	if (kind == NULL)
		return source_fail(&self->source, node->line, STATUS_MISSING, "kind",
				   "a shape needs the key 'kind'");
	if (kind->kind != NODE_SCALAR)
		return source_fail(&self->source, kind->line, STATUS_TYPE, "kind",
				   "kind must be a word, not %s", node_kind_text(kind));
	struct suggestion suggestion = suggestion_for(kind->text);
	for (size_t i = 0; i < COUNT_OF(KINDS); i++) {
		schema_offer(&suggestion, KINDS[i].name);
		if (strcmp(KINDS[i].name, kind->text) == 0) {
			*out = KINDS[i].write;
			return STATUS_OK;
		}
	}
	return source_fail(&self->source, kind->line, STATUS_RANGE, "kind",
			   "'%.24s' is not a kind of shape%s", kind->text,
			   suggestion_text(&suggestion, room, sizeof room));
}

static enum status make_shape(struct compile *self, const struct yaml_node *node, const char *label,
			      uint32_t *index)
{
	shape_write *write = NULL;
	struct bytes bytes = { 0 };
	struct writer writer = writer_into(&bytes);
	if (node->kind != NODE_MAP)
		return source_fail(&self->source, node->line, STATUS_TYPE, "shape",
				   "a shape must be a mapping, not %s", node_kind_text(node));
	enum status status = find_kind(self, node, &write);
	if (status == STATUS_OK)
		status = write(self, node, &writer);
	if (status == STATUS_OK && writer_status(&writer) != STATUS_OK)
		status = source_no_memory(&self->source);
	if (status == STATUS_OK)
		return keep_shape(self, node->line, &bytes, label, index);
	bytes_release(&bytes);
	return status;
}

enum status compile_shapes(struct compile *self, const struct yaml_node *shapes)
{
	const struct yaml_node *key = shapes != NULL ? shapes->first : NULL;
	for (; key != NULL; key = key->next->next) {
		struct named_shape named = { .name = key->text };
		enum status status = make_shape(self, key->next, key->text, &named.shape);
		if (status != STATUS_OK)
			return status;
		if (ARRAY_RESERVE(&self->named, (uint64_t)self->named.count + 1) != STATUS_OK)
			return source_no_memory(&self->source);
		self->named.items[self->named.count++] = named;
	}
	return STATUS_OK;
}

enum status compile_shape(struct compile *self, const struct yaml_node *node, const char *label,
			  uint32_t *index)
{
	char room[64];
	if (node->kind != NODE_SCALAR)
		return make_shape(self, node, label, index);
	struct suggestion suggestion = suggestion_for(node->text);
	for (uint32_t i = 0; i < self->named.count; i++) {
		suggestion_offer(&suggestion, self->named.items[i].name);
		if (strcmp(self->named.items[i].name, node->text) == 0) {
			*index = self->named.items[i].shape;
			return STATUS_OK;
		}
	}
	return source_fail(&self->source, node->line, STATUS_UNKNOWN_SHAPE, "shape",
			   "no shape has the name '%.32s'%s", node->text,
			   suggestion_text(&suggestion, room, sizeof room));
}
