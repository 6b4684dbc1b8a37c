/* distance_field_cell.h: what the files of the distance field share. Private to distance_field*.c. */
#ifndef CAIRN_ENGINE_GEOMETRY_DISTANCE_FIELD_CELL_H
#define CAIRN_ENGINE_GEOMETRY_DISTANCE_FIELD_CELL_H

#include "server/engine/geometry/distance_field.h"

/* The value, m, at a point given in cells from node 0, within the grid. True: from a brick; false:
 * from a bare block. */
bool distance_field_cell(const struct distance_field *self, vec3 cells, double *value);
/* Central differences over one cell to each side (app G-06), less at the border of the grid; not
 * normalised. */
vec3 distance_field_slope(const struct distance_field *self, vec3 cells);

#endif
