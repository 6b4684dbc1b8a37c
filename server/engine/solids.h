/* solids.h: what a solid is made of: its parts, and its distance field as a surface again. A door beside
 * engine.h for who shows shapes and simulates nothing (`cairnd mesh`). */
#ifndef CAIRN_ENGINE_SOLIDS_H
#define CAIRN_ENGINE_SOLIDS_H

#include "server/engine/geometry/distance_field.h"
#include "server/engine/geometry/solid.h"

#endif
