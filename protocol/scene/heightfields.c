/* heightfields.c: canonical bytes of a heightfield (engine/geometry/heightfield.h) from a scene's keys.
 *
 * `part` cuts a tile out of the grid: its cells, and around them an apron of the cells beside it.
 * Cells that the grid does not have are holes of the apron.
 */
#include "protocol/scene/compile.h"
#include "protocol/scene/heights.h"
#include "server/base/bytes.h"
#include "server/engine/math/scalar.h"

#include <string.h>

enum { CANONICAL_VERSION = 1, WITH_HOLES = 1, WITH_APRON = 2 };

/* The samples to be written: of the table, from (column, row) on, which may be −1. */
struct height_window {
	const struct height_table *table;
	int64_t column, row, columns, rows;
	bool apron, any_low;
	double scale, offset, low; /* samples below `low` are absent, if any_low */
};

static bool has_sample(const struct height_window *self, int64_t i, int64_t j)
{
	int64_t column = self->column + i, row = self->row + j;
	return column >= 0 && row >= 0 && column < self->table->columns && row < self->table->rows;
}

/* Beside the table: that of the nearest sample. */
static double sample_of(const struct height_window *self, int64_t i, int64_t j)
{
	int64_t last_column = self->table->columns - 1, last_row = self->table->rows - 1;
	int64_t column = MIN_OF(MAX_OF(self->column + i, 0), last_column);
	int64_t row = MIN_OF(MAX_OF(self->row + j, 0), last_row);
	return self->offset +
	       self->scale * self->table->values[row * self->table->columns + column];
}

static bool is_hole(const struct height_window *self, int64_t i, int64_t j)
{
	for (int64_t k = 0; k < 4; k++) {
		int64_t x = i + k % 2, z = j + k / 2;
		if (!has_sample(self, x, z) || (self->any_low && sample_of(self, x, z) < self->low))
			return true;
	}
	return false;
}

/* A bit for each cell; returns whether any is set. */
static bool write_holes(const struct height_window *self, struct writer *writer)
{
	int64_t wide = self->columns - 1, cells = wide * (self->rows - 1);
	bool any = false;
	for (int64_t first = 0; first < cells; first += 8) {
		uint8_t bits = 0;
		for (int64_t k = 0; k < 8 && first + k < cells; k++)
			bits |= (uint8_t)(is_hole(self, (first + k) % wide, (first + k) / wide)
					  << k);
		any |= bits != 0;
		if (writer != NULL)
			write_u8(writer, bits);
	}
	return any;
}

static void write_window(const struct height_window *self, const double cell[2],
			 struct writer *writer)
{
	bool holes = write_holes(self, NULL);
	write_u8(writer, CANONICAL_HEIGHTFIELD);
	write_u8(writer, CANONICAL_VERSION);
	write_u8(writer, (uint8_t)((holes ? WITH_HOLES : 0) | (self->apron ? WITH_APRON : 0)));
	write_u8(writer, 0);
	write_u32(writer, (uint32_t)self->columns);
	write_u32(writer, (uint32_t)self->rows);
	write_f64(writer, cell[0]);
	write_f64(writer, cell[1]);
	for (int64_t j = 0; j < self->rows; j++)
		for (int64_t i = 0; i < self->columns; i++) {
			float height = scalar_to_float(sample_of(self, i, j));
			uint32_t bits;
			memcpy(&bits, &height, sizeof bits);
			write_u32(writer, bits);
		}
	if (holes)
		write_holes(self, writer);
}

/* Exactly one of file, heights and formula. */
static enum status read_table(struct compile *self, const struct yaml_node *node,
			      const struct heightfield_keys *keys, struct height_table *out)
{
	int given = (keys->file != NULL) + (keys->heights != NULL) + (keys->formula != NULL);
	bool sized = KEY_GIVEN(keys, HEIGHTFIELD, columns) && KEY_GIVEN(keys, HEIGHTFIELD, rows);
	if (given != 1)
		return source_fail(&self->source, node->line, STATUS_MISSING, "heights",
				   "give either 'file', 'heights' or 'formula'");
	if (sized != (keys->formula != NULL))
		return source_fail(&self->source, node->line, STATUS_MISSING, "columns",
				   "'columns' and 'rows' go with 'formula'");
	if (keys->file != NULL)
		return heights_read(&self->source, node_find(node, "file")->line, self->base,
				    keys->file, out);
	if (keys->heights != NULL)
		return heights_of_lists(&self->source, keys->heights, out);
	return heights_reserve(&self->source, node_find(node, "formula")->line, keys->columns,
			       keys->rows, out);
}

/* Fills in the samples that the window reads. */
static enum status evaluate_window(struct compile *self, const struct yaml_node *formula,
				   const struct height_window *window, const double cell[2],
				   struct height_table *table)
{
	const int64_t last_column = table->columns - 1, last_row = table->rows - 1;
	const struct height_range range = {
		(uint32_t)MAX_OF(window->column, 0),
		(uint32_t)MIN_OF(window->column + window->columns - 1, last_column),
		(uint32_t)MAX_OF(window->row, 0),
		(uint32_t)MIN_OF(window->row + window->rows - 1, last_row),
	};
	self->formula_samples += (uint64_t)(range.last_column - range.first_column + 1) *
				 (range.last_row - range.first_row + 1);
	if (self->formula_samples > self->formula_samples_max)
		return source_fail(&self->source, formula->line, STATUS_LIMIT, "formula",
				   "formulas of heights have %llu samples so far, at most %llu are "
				   "computed here: give a file of heights, or load the scene with "
				   "cairn load",
				   (unsigned long long)self->formula_samples,
				   (unsigned long long)self->formula_samples_max);
	return heights_evaluate(&self->source, formula->line, formula->text, cell, &range, table);
}

/* [column, row, columns, rows] in cells. */
static enum status read_part(struct compile *self, const struct yaml_node *list,
			     struct height_window *window)
{
	double v[4];
	int64_t columns = window->table->columns - 1, rows = window->table->rows - 1;
	enum status status =
		schema_vector(&self->source, list, "part", 0, HEIGHTS_SIDE_MAX, "", 4, v);
	if (status != STATUS_OK)
		return status;
	for (int k = 0; k < 4; k++)
		if (v[k] != scalar_floor(v[k]))
			return source_fail(&self->source, list->line, STATUS_TYPE, "part",
					   "%g is not a whole number of cells", v[k]);
	if (v[2] < 1 || v[3] < 1 || v[0] + v[2] > (double)columns || v[1] + v[3] > (double)rows)
		return source_fail(
			&self->source, list->line, STATUS_RANGE, "part",
			"the part has cells %g to %g of %lld along x and %g to %g of %lld "
			"along z",
			v[0], v[0] + v[2], (long long)columns, v[1], v[1] + v[3], (long long)rows);
	window->column = (int64_t)v[0] - 1;
	window->row = (int64_t)v[1] - 1;
	window->columns = (int64_t)v[2] + 3;
	window->rows = (int64_t)v[3] + 3;
	window->apron = true;
	return STATUS_OK;
}

enum status compile_heightfield(struct compile *self, const struct yaml_node *node,
				struct writer *writer)
{
	struct heightfield_keys keys;
	struct height_table table = { 0 };
	enum status status = schema_read(&self->source, node, SCHEMA_HEIGHTFIELD, &keys);
	if (status != STATUS_OK)
		return status;
	double cell[2] = { keys.cell,
			   KEY_GIVEN(&keys, HEIGHTFIELD, cell_z) ? keys.cell_z : keys.cell };
	status = read_table(self, node, &keys, &table);
	if (status != STATUS_OK)
		return status;
	struct height_window window = { .table = &table,
					.columns = table.columns,
					.rows = table.rows,
					.any_low = KEY_GIVEN(&keys, HEIGHTFIELD, holes_below),
					.scale = keys.scale,
					.offset = keys.offset,
					.low = keys.holes_below };
	if (keys.part != NULL)
		status = read_part(self, keys.part, &window);
	if (status == STATUS_OK && keys.formula != NULL)
		status = evaluate_window(self, node_find(node, "formula"), &window, cell, &table);
	if (status == STATUS_OK)
		write_window(&window, cell, writer);
	heights_release(&table);
	return status;
}
