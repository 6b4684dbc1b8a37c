/* mesh.h: a mesh file as points and triangles, through assimp, which reads some forty formats. */
#ifndef CAIRN_PROTOCOL_SCENE_MESH_H
#define CAIRN_PROTOCOL_SCENE_MESH_H

#include "protocol/scene/cloud.h"
#include "protocol/scene/yaml.h"

/* The engine's limit for a mesh (engine/geometry/shape.h); a test compares them. */
enum { MESH_POINTS_MAX = 1 << 21, MESH_TRIANGLES_MAX = 1 << 21 };

/* Looks for `name` in `base` (may be NULL), then in the directories of CAIRN_MESH_PATH, then in
 * /usr/share/glmark2/models; reads all its meshes as one, each where the file's scene puts it. `name`
 * is relative and stays below those directories. The cloud is returned owned and to be released;
 * points are as in the file, not yet welded. Errors: MISSING, RANGE (the name), MALFORMED (assimp says
 * why), DEGENERATE (no triangle), TOO_LARGE, NOT_FINITE, NO_MEMORY; field "file". */
MUST_CHECK enum status mesh_read(const struct source *source, uint32_t line, const char *base,
				 const char *name, struct point_cloud *out);

#endif
