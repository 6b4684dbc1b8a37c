/* heights.h: grids of heights for heightfields: from a file, from lists, or by a formula. */
#ifndef CAIRN_PROTOCOL_SCENE_HEIGHTS_H
#define CAIRN_PROTOCOL_SCENE_HEIGHTS_H

#include "protocol/scene/yaml.h"

/* The engine's limits (engine/geometry/shape.h); a test compares them. */
enum { HEIGHTS_SIDE_MAX = 4098 };

/* `columns` samples along x in each of `rows` along z, row by row. */
struct height_table {
	uint32_t columns, rows;
	double *values; /* owned */
};

void heights_release(struct height_table *self);

/* A file that is found as meshes are (mesh.h). It is a PGM image (P2 or P5, at most 16 bits), whose values
 * are shares of its maximum, from 0 to 1; or a text with a row a line, numbers separated by commas,
 * semicolons or blanks. Errors: MISSING, RANGE (the name), MALFORMED, TOO_LARGE, NO_MEMORY; field "file". */
MUST_CHECK enum status heights_read(const struct source *source, uint32_t line, const char *base,
				    const char *name, struct height_table *out);
/* A list of rows, each a list of as many numbers. Field "heights". */
MUST_CHECK enum status heights_of_lists(const struct source *source, const struct yaml_node *list,
					struct height_table *out);
/* Samples from the first to the last along x and z. */
struct height_range {
	uint32_t first_column, last_column, first_row, last_row;
};
/* A table whose values heights_evaluate fills in. Field "columns". */
MUST_CHECK enum status heights_reserve(const struct source *source, uint32_t line, uint32_t columns,
				       uint32_t rows, struct height_table *out);
/* The samples of a range by a formula of x and z in metres, for samples at (i − (columns − 1)/2) cell_x and
 * likewise along z; the others stay as they are. */
MUST_CHECK enum status heights_evaluate(const struct source *source, uint32_t line,
					const char *formula, const double cell[2],
					const struct height_range *range, struct height_table *out);

#endif
