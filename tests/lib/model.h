/* model.h: meshes of real files (Debian's glmark2-data and assimp-testmodels), for tests and benchmarks. */
#ifndef CAIRN_TESTS_MODEL_H
#define CAIRN_TESTS_MODEL_H

#include "server/engine/geometry/shape.h"

/* The file, its equal points joined, as a mesh; returned owned (shape_release). Looks where mesh_read looks
 * and below /usr/share/assimp/models. MISSING when the package is not there; others as cooking says. */
MUST_CHECK enum status model_read(const char *name, struct shape **out, struct reason *why);

#endif
