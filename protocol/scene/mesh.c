/* mesh.c: assimp's scene of nodes and meshes, flattened.
 *
 * Assimp triangulates, applies the transformations of its nodes and removes points and lines. It computes
 * in float, so the same file gives the same points only with the same build of assimp. Therefore a shape is
 * named by its bytes and not by its file.
 */
#include "protocol/scene/mesh.h"

#include "server/base/suggestion.h"

#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MESH_DIRECTORY "/usr/share/glmark2/models"
#define MESH_PACKAGE "glmark2-data"

/* ---- finding ------------------------------------------------------------------------------------- */

bool mesh_name_is_below(const char *name)
{
	if (name[0] == '/' || strchr(name, '\\') != NULL)
		return false;
	for (const char *at = name; at != NULL; at = strchr(at, '/')) {
		at += *at == '/';
		if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
			return false;
	}
	return true;
}

static bool is_file(const char *directory, size_t bytes, const char *name, char *path)
{
	struct stat about;
	if (bytes == 0)
		return false;
	int length = snprintf(path, MESH_PATH_BYTES, "%.*s/%s", (int)bytes, directory, name);
	return length < MESH_PATH_BYTES && stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

static bool find_file(const char *base, const char *name, char *path)
{
	if (base != NULL && is_file(base, strlen(base), name, path))
		return true;
	const char *list = getenv("CAIRN_MESH_PATH");
	while (list != NULL && *list != '\0') {
		size_t bytes = strcspn(list, ":");
		if (is_file(list, bytes, name, path))
			return true;
		list += bytes + (list[bytes] == ':');
	}
	return is_file(MESH_DIRECTORY, strlen(MESH_DIRECTORY), name, path);
}

bool mesh_exists(const char *base, const char *name)
{
	char path[MESH_PATH_BYTES];
	return mesh_name_is_below(name) && find_file(base, name, path);
}

/* ---- reading ------------------------------------------------------------------------------------- */

static const struct aiScene *import(const char *path)
{
	struct aiPropertyStore *options = aiCreatePropertyStore();
	if (options == NULL)
		return NULL;
	aiSetImportPropertyInteger(options, AI_CONFIG_PP_SBP_REMOVE,
				   aiPrimitiveType_POINT | aiPrimitiveType_LINE);
	const struct aiScene *scene = aiImportFileExWithProperties(
		path,
		aiProcess_Triangulate | aiProcess_PreTransformVertices | aiProcess_SortByPType |
			aiProcess_JoinIdenticalVertices,
		NULL, options);
	aiReleasePropertyStore(options);
	return scene;
}

static enum status check_size(const struct source *source, uint32_t line, const char *name,
			      const struct aiScene *scene)
{
	uint64_t points = 0, triangles = 0;
	for (uint32_t m = 0; m < scene->mNumMeshes; m++) {
		points += scene->mMeshes[m]->mNumVertices;
		triangles += scene->mMeshes[m]->mNumFaces;
	}
	if (triangles == 0)
		return source_fail(source, line, STATUS_DEGENERATE, "file", "%.40s has no triangle",
				   name);
	if (points > MESH_POINTS_MAX || triangles > MESH_TRIANGLES_MAX)
		return source_fail(
			source, line, STATUS_TOO_LARGE, "file",
			"%.40s has %llu points and %llu triangles; the limits are %d and %d", name,
			(unsigned long long)points, (unsigned long long)triangles, MESH_POINTS_MAX,
			MESH_TRIANGLES_MAX);
	return STATUS_OK;
}

static enum status take_mesh(const struct source *source, uint32_t line, const struct aiMesh *mesh,
			     uint32_t patch, struct point_cloud *out)
{
	uint32_t before = out->points.count;
	if (ARRAY_RESERVE(&out->points, (uint64_t)before + mesh->mNumVertices) != STATUS_OK ||
	    ARRAY_RESERVE(&out->triangles, (uint64_t)out->triangles.count + mesh->mNumFaces) !=
		    STATUS_OK ||
	    ARRAY_RESERVE(&out->patches, (uint64_t)out->patches.count + mesh->mNumFaces) !=
		    STATUS_OK)
		return source_no_memory(source);
	for (uint32_t i = 0; i < mesh->mNumVertices; i++) {
		struct aiVector3D v = mesh->mVertices[i];
		if (!isfinite(v.x) || !isfinite(v.y) || !isfinite(v.z))
			return source_fail(source, line, STATUS_NOT_FINITE, "file",
					   "point %u is not finite", (unsigned)i);
		out->points.items[out->points.count++] = vec3_make(v.x, v.y, v.z);
	}
	for (uint32_t i = 0; i < mesh->mNumFaces; i++) {
		const struct aiFace *face = &mesh->mFaces[i];
		if (face->mNumIndices != 3)
			continue;
		struct mesh_triangle t;
		for (uint32_t k = 0; k < 3; k++) {
			if (face->mIndices[k] >= mesh->mNumVertices)
				return source_fail(
					source, line, STATUS_MALFORMED, "file",
					"triangle %u has the index of a point that does not exist",
					(unsigned)i);
			t.corner[k] = before + face->mIndices[k];
		}
		out->triangles.items[out->triangles.count++] = t;
		out->patches.items[out->patches.count++] = patch;
	}
	return STATUS_OK;
}

/* The number of a material's name in the list, from 1; 0: it is not there. */
static uint32_t patch_of(const struct aiMaterial *material, const struct yaml_node *patches)
{
	struct aiString name;
	uint32_t number = 1;
	if (patches == NULL || aiGetMaterialString(material, AI_MATKEY_NAME, &name) != AI_SUCCESS)
		return 0;
	for (const struct yaml_node *at = patches->first; at != NULL; at = at->next, number++)
		if (strcmp(at->text, name.data) == 0)
			return number;
	return 0;
}

/* Every name must be one of a material that triangles have. */
static enum status check_patches(const struct source *source, const char *name,
				 const struct aiScene *scene, const struct yaml_node *patches)
{
	char room[64];
	uint32_t number = 1;
	for (const struct yaml_node *at = patches != NULL ? patches->first : NULL; at != NULL;
	     at = at->next, number++) {
		struct suggestion suggestion = suggestion_for(at->text);
		bool found = false;
		for (uint32_t m = 0; m < scene->mNumMeshes; m++) {
			const struct aiMaterial *material =
				scene->mMaterials[scene->mMeshes[m]->mMaterialIndex];
			const struct aiMaterialProperty *has;
			found |= patch_of(material, patches) == number;
			/* A text with a NUL, behind its length; it lives as long as the material. */
			if (aiGetMaterialProperty(material, AI_MATKEY_NAME, &has) == AI_SUCCESS)
				suggestion_offer(&suggestion, has->mData + sizeof(uint32_t));
		}
		if (!found)
			return source_fail(source, at->line, STATUS_MISSING, "patches",
					   "no triangle of %.40s has the material '%.32s'%s", name,
					   at->text,
					   suggestion_text(&suggestion, room, sizeof room));
	}
	return STATUS_OK;
}

static enum status read_at(const struct source *source, uint32_t line, const char *name,
			   const char *path, const struct yaml_node *patches,
			   struct point_cloud *out)
{
	const struct aiScene *scene = import(path);
	if (scene == NULL)
		return source_fail(source, line, STATUS_MALFORMED, "file",
				   "%.40s cannot be read as a mesh: %s", name,
				   strstr(aiGetErrorString(), path) != NULL
					   ? "no reader of meshes knows its format"
					   : aiGetErrorString());
	enum status status = check_size(source, line, name, scene);
	if (status == STATUS_OK)
		status = check_patches(source, name, scene, patches);
	for (uint32_t m = 0; m < scene->mNumMeshes && status == STATUS_OK; m++) {
		const struct aiMesh *mesh = scene->mMeshes[m];
		status = take_mesh(source, line, mesh,
				   patch_of(scene->mMaterials[mesh->mMaterialIndex], patches), out);
	}
	aiReleaseImport(scene);
	return status;
}

enum status mesh_find(const struct source *source, uint32_t line, const char *base,
		      const char *name, char path[MESH_PATH_BYTES])
{
	if (!mesh_name_is_below(name))
		return source_fail(source, line, STATUS_RANGE, "file",
				   "%s must be a relative name without '..'", name);
	if (!find_file(base, name, path))
		return source_fail(source, line, STATUS_MISSING, "file",
				   "no %s beside the scene, in CAIRN_MESH_PATH or in %s, which "
				   "Debian's package %s fills",
				   name, MESH_DIRECTORY, MESH_PACKAGE);
	return STATUS_OK;
}

enum status mesh_read(const struct source *source, uint32_t line, const char *base,
		      const char *name, const struct yaml_node *patches, struct point_cloud *out)
{
	char path[MESH_PATH_BYTES];
	*out = (struct point_cloud){ 0 };
	enum status status = mesh_find(source, line, base, name, path);
	if (status == STATUS_OK)
		status = read_at(source, line, name, path, patches, out);
	if (status != STATUS_OK)
		cloud_release(out);
	return status;
}
