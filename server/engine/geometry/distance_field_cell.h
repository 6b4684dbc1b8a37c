/* distance_field_cell.h: what the files of the distance field share. Private to distance_field*.c. */
#ifndef CAIRN_ENGINE_GEOMETRY_DISTANCE_FIELD_CELL_H
#define CAIRN_ENGINE_GEOMETRY_DISTANCE_FIELD_CELL_H

#include "server/engine/geometry/distance_field.h"

/* The value at a place in cells from node 0, within the grid. True: of a brick; false: of a bare block. */
bool distance_field_cell(const struct distance_field *self, vec3 cells, double *value);
/* Central differences over a cell to each side (app G-06), less at the border; not normalised. */
vec3 distance_field_slope(const struct distance_field *self, vec3 cells);

#endif
