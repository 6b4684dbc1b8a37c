/* convert.c: a robot file from its bytes to the text of a scene: tree, included files, check,
 * links, masses, text. */
#include "protocol/scene/robot/convert.h"

#include <stdio.h>
#include <string.h>

#include "protocol/scene/files.h"
#include "protocol/scene/mesh.h"
#include "protocol/scene/robot/model.h"

bool robot_is_file(const char *text, size_t bytes)
{
	static const char mark[] = "\xEF\xBB\xBF"; /* UTF-8 */
	size_t at = bytes >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
	while (at < bytes &&
	       (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n'))
		at++;
	return at < bytes && text[at] == '<';
}

/* ---- included files ------------------------------------------------------------------------ */

/* Reads a file below `base` whole; *text is returned owned. */
static enum status read_below(const struct xml_node *node, const char *base, const char *name,
			      char **text, size_t *bytes)
{
	char path[4096];
	if (base == NULL || !mesh_name_is_below(name) ||
	    snprintf(path, sizeof path, "%s/%s", base, name) >= (int)sizeof path)
		return node_fail(node, STATUS_RANGE, "file",
				 "'%.40s' must be a relative name without '..', beside a file",
				 name);
	FILE *file = scene_file_is_readable(path) ? fopen(path, "rb") : NULL;
	if (file == NULL)
		return node_fail(node, STATUS_MISSING, "file", "the file '%s' cannot be opened",
				 name);
	enum status status = STATUS_OK;
	*text = heap_alloc(XML_BYTES_MAX + 1);
	if (*text == NULL) {
		status = source_no_memory(node->source);
	} else {
		*bytes = fread(*text, 1, XML_BYTES_MAX + 1, file);
		if (ferror(file))
			status = node_fail(node, STATUS_IO, "file", "'%s' cannot be read", name);
	}
	fclose(file);
	if (status != STATUS_OK)
		heap_free(*text);
	return status;
}

static enum status note_file(struct xml_tree *tree, const struct xml_node *node, const char *name)
{
	for (uint32_t i = 0; i < tree->file_count; i++)
		if (strcmp(tree->files[i], name) == 0)
			return node_fail(node, STATUS_EXISTS, "file",
					 "'%.40s' is included twice; each file is included once",
					 name);
	if (tree->file_count == XML_FILES_MAX)
		return node_fail(node, STATUS_LIMIT, "file", "more than %d files are included",
				 XML_FILES_MAX);
	tree->files[tree->file_count++] = name;
	return STATUS_OK;
}

static enum status include_file(struct xml_tree *tree, struct xml_node *node, const char *base)
{
	const char *name = xml_attribute(node, "file");
	char *text = NULL;
	size_t bytes = 0;
	struct xml_node *root;
	if (name == NULL || node->parent == NULL)
		return node_fail(node, STATUS_MISSING, "file",
				 "<include> needs the attribute 'file' and an element around it");
	enum status status = note_file(tree, node, name);
	if (status == STATUS_OK)
		status = read_below(node, base, name, &text, &bytes);
	if (status != STATUS_OK)
		return status;
	const struct source source = { .file = name,
				       .why = node->source->why,
				       .hidden = node->source->hidden };
	status = xml_parse(tree, &source, text, bytes, &root);
	heap_free(text);
	if (status == STATUS_OK)
		xml_replace(node, root);
	return status;
}

/* Puts the files of all includes in their places, also of those in them. */
static enum status include_files(struct xml_tree *tree, const char *base)
{
	struct xml_node *root = tree->root;
	if (strcmp(root->name, "mujoco") != 0)
		return STATUS_OK;
	struct xml_node *at = root;
	while (at != NULL) {
		struct xml_node *parent = at->parent;
		if (strcmp(at->name, "include") != 0) {
			at = xml_next(root, at, false);
			continue;
		}
		enum status status = include_file(tree, at, base);
		if (status != STATUS_OK)
			return status;
		/* From the parent again: what has come may include more. */
		at = parent;
	}
	return STATUS_OK;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static enum status build(struct robot *robot, struct robot_scene *out)
{
	enum robot_format format;
	enum status status = include_files(robot->tree, robot->base);
	if (status == STATUS_OK)
		status = grammar_check(robot->tree, robot->notes, &format);
	if (status == STATUS_OK)
		status = format == FORMAT_URDF ? urdf_read(robot) : mjcf_read(robot);
	if (status != STATUS_OK)
		return status;
	out->urdf = format == FORMAT_URDF;
	robot_find_welds(robot);
	status = robot_weigh(robot);
	if (status == STATUS_OK)
		status = robot_arrange(robot);
	if (status == STATUS_OK)
		status = robot_check_helpers(robot);
	return status == STATUS_OK ? robot_write(robot, out) : status;
}

static enum status convert_tree(struct robot *robot, struct robot_scene *out)
{
	enum status status = build(robot, out);
	if (status != STATUS_OK)
		return status;
	out->notes = notes_text(robot->notes, "");
	if (out->notes != NULL)
		return STATUS_OK;
	robot_scene_release(out);
	return source_no_memory(robot->tree->root->source);
}

enum status robot_convert(const struct source *source, const char *text, size_t bytes,
			  const char *base, const struct scene_options *options,
			  struct robot_scene *out)
{
	struct xml_tree tree;
	struct notes notes = { 0 };
	struct xml_node *root;
	struct robot robot = { .options = options,
			       .base = base,
			       .tree = &tree,
			       .notes = &notes,
			       .helper_share = JOINT_LINK_SHARE };
	robot.balance = options != NULL && options->balance;
	if (options != NULL && options->joint_link_share != 0)
		robot.helper_share = options->joint_link_share;
	*out = (struct robot_scene){ 0 };
	if (!(robot.helper_share >= JOINT_LINK_SHARE_MIN &&
	      robot.helper_share <= JOINT_LINK_SHARE_MAX))
		return source_fail(source, 1, STATUS_RANGE, "joint_link_share",
				   "joint_link_share is %g; it must be from %g to %g",
				   robot.helper_share, JOINT_LINK_SHARE_MIN, JOINT_LINK_SHARE_MAX);
	enum status status = xml_init(&tree);
	if (status != STATUS_OK)
		return source_no_memory(source);
	status = xml_parse(&tree, source, text, bytes, &root);
	if (status == STATUS_OK)
		status = convert_tree(&robot, out);
	ARRAY_RELEASE(&robot.links);
	ARRAY_RELEASE(&robot.joints);
	ARRAY_RELEASE(&robot.geoms);
	ARRAY_RELEASE(&robot.loops);
	notes_release(&notes);
	xml_release(&tree);
	return status;
}

void robot_scene_release(struct robot_scene *self)
{
	heap_free(self->text);
	heap_free(self->lines);
	heap_free(self->notes);
	*self = (struct robot_scene){ 0 };
}
