/* mesh.h: reads a mesh file into points and triangles, with assimp (about forty formats). */
#ifndef CAIRN_PROTOCOL_SCENE_MESH_H
#define CAIRN_PROTOCOL_SCENE_MESH_H

#include "protocol/scene/cloud.h"
#include "protocol/scene/yaml.h"

/* The engine's limit for a mesh (engine/geometry/shape.h); a test compares them. */
enum { MESH_POINTS_MAX = 1 << 21, MESH_TRIANGLES_MAX = 1 << 21 };

/* Searches `name` in `base` (may be NULL), then in the directories of CAIRN_MESH_PATH, then in
 * /usr/share/glmark2/models. Reads all meshes of the file as one, each at its pose in the file's
 * scene. `name` is relative and stays below those directories. The caller owns the cloud and
 * releases it; its points are as in the file, not welded. `patches` (may be NULL): names of the
 * file's materials, checked; the triangles of the n-th, from 1, get the patch n. Errors: MISSING
 * (also a material), RANGE (the name), MALFORMED (with assimp's text), DEGENERATE (no triangle),
 * TOO_LARGE, NOT_FINITE, NO_MEMORY; field "file". */
MUST_CHECK enum status mesh_read(const struct source *source, uint32_t line, const char *base,
				 const char *name, const struct yaml_node *patches,
				 struct point_cloud *out);

enum { MESH_PATH_BYTES = 4096 };
/* The path of the file that mesh_read would read. Errors: MISSING, RANGE; field "file". */
MUST_CHECK enum status mesh_find(const struct source *source, uint32_t line, const char *base,
				 const char *name, char path[MESH_PATH_BYTES]);
/* A relative name without "..". */
bool mesh_name_is_below(const char *name);
/* Whether mesh_read would find a file of this name. */
bool mesh_exists(const char *base, const char *name);

#endif
