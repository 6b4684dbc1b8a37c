/* solids.h: the triangles of a surface, the parts of a solid, and the surface of its distance field. A public
 * header beside engine.h for programs that inspect shapes and simulate nothing (`cairnd mesh`, exports).
 */
#ifndef CAIRN_ENGINE_SOLIDS_H
#define CAIRN_ENGINE_SOLIDS_H

#include "server/engine/geometry/distance_field.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/geometry/solid.h"

#endif
