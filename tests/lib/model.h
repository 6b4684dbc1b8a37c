/* model.h: meshes of real files (Debian's glmark2-data and assimp-testmodels), for tests and benchmarks. */
#ifndef CAIRN_TESTS_MODEL_H
#define CAIRN_TESTS_MODEL_H

#include "server/engine/geometry/shape.h"

/* The file as a mesh with equal points joined; returned owned (shape_release). Searches where
 * mesh_read does and below /usr/share/assimp/models. MISSING if the package is not installed; other
 * statuses as in cooking. */
MUST_CHECK enum status model_read(const char *name, struct shape **out, struct reason *why);

#endif
