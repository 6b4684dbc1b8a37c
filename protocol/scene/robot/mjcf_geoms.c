/* mjcf_geoms.c: geoms of MJCF, and the meshes and materials that they name. */
#include "protocol/scene/robot/mjcf.h"

#include <stdio.h>
#include <string.h>

/* ---- assets -------------------------------------------------------------------------------- */

/* The name of a mesh without one: its file without folders and ending. Lives in the tree's
 * arena. */
static const char *file_stem(struct mjcf *self, const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *name = slash != NULL ? slash + 1 : file;
	const char *dot = strrchr(name, '.');
	size_t bytes = dot != NULL ? (size_t)(dot - name) : strlen(name);
	char *copy = arena_push(&self->robot->tree->arena, bytes + 1);
	if (copy == NULL)
		return NULL;
	memcpy(copy, name, bytes);
	copy[bytes] = '\0';
	return copy;
}

static enum status add_asset(struct mjcf *self, struct xml_node *node)
{
	bool mesh = grammar_is(node, ELEMENT_mesh);
	if (!mesh && !grammar_is(node, ELEMENT_material))
		return STATUS_OK;
	const char *name = grammar_text(node, "name");
	if (name == NULL && mesh && grammar_text(node, "file") != NULL) {
		name = file_stem(self, grammar_text(node, "file"));
		if (name == NULL)
			return source_no_memory(node->source);
	}
	if (name == NULL)
		return node_fail(node, STATUS_MISSING, "name", "<%s> needs a name", node->name);
	return names_add(mesh ? &self->meshes : &self->materials, node, name, node->mark);
}

enum status mjcf_assets(struct mjcf *self)
{
	struct xml_node *root = self->robot->tree->root;
	enum status status = STATUS_OK;
	for (struct xml_node *asset = root->first; asset != NULL; asset = asset->next) {
		if (!grammar_is(asset, ELEMENT_asset))
			continue;
		for (struct xml_node *at = asset->first; at != NULL && status == STATUS_OK;
		     at = at->next)
			status = add_asset(self, at);
	}
	if (status == STATUS_OK)
		status = names_sort(&self->meshes, "mesh");
	return status == STATUS_OK ? names_sort(&self->materials, "material") : status;
}

/* The element of an asset. */
static enum status find_asset(const struct names *assets, const char *what,
			      const struct xml_node *use, const char *name,
			      const struct xml_node **out)
{
	const struct name_entry *entry;
	enum status status = names_find_entry(assets, what, use, what, name, &entry);
	if (status == STATUS_OK)
		*out = entry->node;
	return status;
}

/* ---- one geom ------------------------------------------------------------------------------ */

static enum status read_mesh(struct mjcf *self, const struct xml_node *node, uint32_t class_,
			     struct robot_geom *geom)
{
	const struct xml_node *mesh = NULL;
	uint32_t own;
	double scale[GRAMMAR_REALS_MAX];
	const char *name = mjcf_text(self, node, class_, "mesh");
	if (name == NULL)
		return node_fail(node, STATUS_MISSING, "mesh", "a geom of type mesh needs 'mesh'");
	enum status status = find_asset(&self->meshes, "mesh", node, name, &mesh);
	if (status == STATUS_OK)
		status = mjcf_class_of(self, mesh, 0, &own);
	if (status != STATUS_OK)
		return status;
	mjcf_reals(self, mesh, own, "scale", scale);
	geom->size = vec3_make(scale[0], scale[1], scale[2]);
	const char *file = mjcf_text(self, mesh, own, "file");
	if (file == NULL)
		return node_fail(mesh, STATUS_MISSING, "file", "<mesh> needs a file");
	return robot_mesh_file(self->robot, mesh, self->mesh_folder, file, geom->file);
}

/* The pose and the length of a geom between two points: z points from the second to the first. */
static enum status span_geom(const struct xml_node *node, const double v[], struct robot_geom *geom)
{
	double length;
	vec3 from = vec3_make(v[0], v[1], v[2]), to = vec3_make(v[3], v[4], v[5]);
	vec3 along = vec3_normalize_length(vec3_sub(from, to), &length);
	if (!(length > 1e-9))
		return node_fail(node, STATUS_DEGENERATE, "fromto",
				 "the points of fromto are %g m apart", length);
	if (geom->shape != SHAPE_CAPSULE && geom->shape != SHAPE_CYLINDER &&
	    geom->shape != SHAPE_BOX && geom->shape != SHAPE_ELLIPSOID)
		return node_fail(node, STATUS_RANGE, "fromto",
				 "fromto is for capsules, cylinders, boxes and ellipsoids");
	bool round = geom->shape == SHAPE_CAPSULE || geom->shape == SHAPE_CYLINDER;
	geom->size.y = round ? length / 2 : geom->size.x;
	geom->size.z = round ? 0 : length / 2;
	geom->at = pose_make(vec3_scale(vec3_add(from, to), 0.5), mjcf_turn_z(along));
	return STATUS_OK;
}

static enum status read_size(struct mjcf *self, const struct xml_node *node, uint32_t class_,
			     struct robot_geom *geom)
{
	static const uint32_t needs[] = { 0, 1, 2, 3, 2, 3, 0 };
	double v[GRAMMAR_REALS_MAX] = { 0 }, ends[GRAMMAR_REALS_MAX];
	if (geom->shape == SHAPE_MESH)
		return read_mesh(self, node, class_, geom);
	bool spans = mjcf_reals(self, node, class_, "fromto", ends) > 0;
	uint32_t count = mjcf_reals(self, node, class_, "size", v);
	uint32_t need = spans ? MIN_OF(needs[geom->shape], 1u) : needs[geom->shape];
	if (count < need)
		return node_fail(node, STATUS_MISSING, "size",
				 "the geom has %u sizes; its type needs %u", (unsigned)count,
				 (unsigned)need);
	for (uint32_t i = 0; i < need; i++)
		if (!(v[i] > 0))
			return node_fail(node, STATUS_RANGE, "size",
					 "size %g of the geom must be above 0 m", v[i]);
	geom->size = vec3_make(v[0], v[1], v[2]);
	return spans ? span_geom(node, ends, geom) : STATUS_OK;
}

static enum status read_place(const struct mjcf *self, const struct xml_node *node, uint32_t class_,
			      struct robot_geom *geom)
{
	double v[GRAMMAR_REALS_MAX];
	quat rotation;
	enum status status = mjcf_rotation(self, node, class_, &rotation);
	mjcf_reals(self, node, class_, "pos", v);
	geom->at = pose_make(vec3_make(v[0], v[1], v[2]), rotation);
	return status;
}

static enum status read_colour(struct mjcf *self, const struct xml_node *node, uint32_t class_,
			       struct robot_geom *geom)
{
	double rgba[GRAMMAR_REALS_MAX];
	const struct xml_node *material = NULL;
	uint32_t own;
	const char *name = mjcf_text(self, node, class_, "material");
	geom->colour = -1;
	if (mjcf_reals(self, node, class_, "rgba", rgba) > 0) {
		geom->colour = robot_colour(rgba);
		return STATUS_OK;
	}
	if (name == NULL)
		return STATUS_OK;
	enum status status = find_asset(&self->materials, "material", node, name, &material);
	if (status == STATUS_OK)
		status = mjcf_class_of(self, material, 0, &own);
	if (status != STATUS_OK)
		return status;
	mjcf_reals(self, material, own, "rgba", rgba);
	geom->colour = robot_colour(rgba);
	return STATUS_OK;
}

/* MuJoCo's own viewer shows groups below this one. */
#define HIDDEN_GROUP 3

/* Whole numbers of 32 bits. */
static uint32_t bits_of(double value)
{
	return value >= 0 && value < 4294967296.0 ? (uint32_t)value : UINT32_MAX;
}

static void read_contact(const struct mjcf *self, const struct xml_node *node, uint32_t class_,
			 struct robot_geom *geom)
{
	double friction[GRAMMAR_REALS_MAX] = { 1, 0.005, 0.0001 };
	double condim = mjcf_real(self, node, class_, "condim");
	mjcf_reals(self, node, class_, "friction", friction);
	geom->type = bits_of(mjcf_real(self, node, class_, "contype"));
	geom->affinity = bits_of(mjcf_real(self, node, class_, "conaffinity"));
	geom->collides = geom->type != 0 || geom->affinity != 0;
	geom->shown = mjcf_real(self, node, class_, "group") < HIDDEN_GROUP;
	geom->friction[0] = condim >= 3 ? friction[0] : 0;
	geom->friction[1] = condim >= 4 ? friction[1] : 0;
	geom->friction[2] = condim >= 6 ? friction[2] : 0;
}

static enum status read_mass(const struct mjcf *self, const struct xml_node *node, uint32_t class_,
			     struct robot_geom *geom)
{
	double v[GRAMMAR_REALS_MAX];
	double group = mjcf_real(self, node, class_, "group");
	bool given = mjcf_reals(self, node, class_, "mass", v) > 0;
	double density = mjcf_real(self, node, class_, "density");
	if (given ? v[0] < 0 : density < 0)
		return node_fail(node, STATUS_RANGE, given ? "mass" : "density",
				 "%s %g of the geom is negative", given ? "mass" : "density",
				 given ? v[0] : density);
	double mass = given ? v[0] : density * shape_volume(geom->shape, geom->size);
	if (group < self->group_least || group > self->group_most)
		mass = 0;
	else if (geom->shape == SHAPE_MESH && (given ? v[0] > 0 : density > 0))
		mass = -1;
	geom_weigh(geom, mass);
	return STATUS_OK;
}

enum status mjcf_geom(struct mjcf *self, const struct xml_node *node, uint32_t link,
		      uint32_t around)
{
	static const enum robot_shape shapes[] = { SHAPE_PLANE,	    SHAPE_SPHERE,   SHAPE_CAPSULE,
						   SHAPE_ELLIPSOID, SHAPE_CYLINDER, SHAPE_BOX,
						   SHAPE_MESH };
	static const char words[] = "plane|sphere|capsule|ellipsoid|cylinder|box|mesh|hfield|sdf";
	struct robot *robot = self->robot;
	uint32_t class_;
	enum status status = mjcf_class_of(self, node, around, &class_);
	if (status != STATUS_OK)
		return status;
	uint32_t word = text_word(mjcf_text(self, node, class_, "type"), words);
	if (word >= COUNT_OF(shapes))
		return node_fail(node, STATUS_UNSUPPORTED, "type",
				 "a geom of type hfield or sdf is refused; use a mesh");
	if (ARRAY_RESERVE(&robot->geoms, (uint64_t)robot->geoms.count + 1) != STATUS_OK)
		return source_no_memory(node->source);
	struct robot_geom *geom = &robot->geoms.items[robot->geoms.count++];
	*geom = (struct robot_geom){ .node = node, .link = link, .shape = shapes[word] };
	if (link != ROBOT_NONE)
		robot->links.items[link].geom_count++;
	status = read_place(self, node, class_, geom);
	if (status == STATUS_OK)
		status = read_size(self, node, class_, geom);
	if (status == STATUS_OK)
		status = read_colour(self, node, class_, geom);
	if (status == STATUS_OK)
		status = read_mass(self, node, class_, geom);
	read_contact(self, node, class_, geom);
	return status;
}
