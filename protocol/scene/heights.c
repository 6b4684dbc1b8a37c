/* heights.c: reading grids of heights. Numbers of files are decimal, as in JSON. */
#include "protocol/scene/heights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/scene/formula.h"
#include "protocol/scene/mesh.h"
#include "protocol/scene/schema.h"
#include "server/base/heap.h"
#include "server/engine/math/scalar.h"

/* Of a file: room for the largest grid as text. */
#define HEIGHTS_BYTES_MAX ((size_t)HEIGHTS_SIDE_MAX * HEIGHTS_SIDE_MAX * 16)

void heights_release(struct height_table *self)
{
	heap_free(self->values);
	*self = (struct height_table){ 0 };
}

static enum status reserve_table(const struct source *source, uint32_t line, const char *field,
				 uint64_t columns, uint64_t rows, struct height_table *out)
{
	if (columns < 2 || rows < 2 || columns > HEIGHTS_SIDE_MAX || rows > HEIGHTS_SIDE_MAX)
		return source_fail(
			source, line,
			columns < 2 || rows < 2 ? STATUS_DEGENERATE : STATUS_TOO_LARGE, field,
			"%llu columns and %llu rows of heights; each must be 2 to %d",
			(unsigned long long)columns, (unsigned long long)rows, HEIGHTS_SIDE_MAX);
	out->values = heap_alloc(columns * rows * sizeof *out->values);
	if (out->values == NULL)
		return source_no_memory(source);
	out->columns = (uint32_t)columns;
	out->rows = (uint32_t)rows;
	return STATUS_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* A file in memory, and how far it is read. */
struct height_file {
	const struct source *source;
	uint32_t line; /* of the scene */
	const char *name;
	char *text; /* owned, ends in zero */
	size_t bytes, at;
};

static enum status refuse_file(const struct height_file *self, const char *what)
{
	return source_fail(self->source, self->line, STATUS_MALFORMED, "file", "%.40s %s",
			   self->name, what);
}

static enum status load_file(struct height_file *self, const char *path)
{
	FILE *file = fopen(path, "rb");
	long bytes = -1;
	if (file != NULL && fseek(file, 0, SEEK_END) == 0)
		bytes = ftell(file);
	enum status status = STATUS_OK;
	if (bytes < 0)
		status = source_fail(self->source, self->line, STATUS_IO, "file",
				     "%s cannot be read", self->name);
	else if ((size_t)bytes > HEIGHTS_BYTES_MAX)
		status = source_fail(self->source, self->line, STATUS_TOO_LARGE, "file",
				     "%s has %ld bytes, more than %zu", self->name, bytes,
				     HEIGHTS_BYTES_MAX);
	else if ((self->text = heap_alloc((size_t)bytes + 1)) == NULL)
		status = source_no_memory(self->source);
	if (status == STATUS_OK) {
		rewind(file);
		self->bytes = fread(self->text, 1, (size_t)bytes, file);
		self->text[self->bytes] = '\0';
	}
	if (file != NULL)
		fclose(file);
	return status;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The next whole number of a PGM file, after blanks and comments. */
static enum status read_count(struct height_file *self, uint32_t most, uint32_t *out)
{
	for (; self->at < self->bytes; self->at++) {
		while (self->text[self->at] == '#' && self->at < self->bytes)
			self->at += strcspn(self->text + self->at, "\n");
		if (!is_blank(self->text[self->at]))
			break;
	}
	uint64_t value = 0;
	size_t first = self->at;
	for (; self->text[self->at] >= '0' && self->text[self->at] <= '9' && value <= most;
	     self->at++)
		value = 10 * value + (uint64_t)(self->text[self->at] - '0');
	if (self->at == first || value > most)
		return refuse_file(self, "is no image: a number is missing or too large");
	*out = (uint32_t)value;
	return STATUS_OK;
}

/* After the numbers of the header: samples of one or two bytes, the higher one first. */
static enum status read_binary(struct height_file *self, double top, struct height_table *out)
{
	size_t wide = top > 255 ? 2 : 1, count = (size_t)out->columns * out->rows;
	self->at++; /* one blank */
	if (self->at > self->bytes || self->bytes - self->at < wide * count)
		return refuse_file(self, "ends before its last sample");
	const unsigned char *from = (const unsigned char *)self->text + self->at;
	for (size_t k = 0; k < count; k++) {
		uint32_t value = wide == 2 ? (uint32_t)from[2 * k] << 8 | from[2 * k + 1] : from[k];
		out->values[k] = value / top;
	}
	return STATUS_OK;
}

static enum status read_image(struct height_file *self, struct height_table *out)
{
	bool binary = self->text[1] == '5';
	uint32_t columns = 0, rows = 0, top = 0, value = 0;
	self->at = 2;
	enum status status = read_count(self, 1 << 24, &columns);
	if (status == STATUS_OK)
		status = read_count(self, 1 << 24, &rows);
	if (status == STATUS_OK)
		status = read_count(self, 65535, &top);
	if (status == STATUS_OK && top == 0)
		status = refuse_file(self, "is no image: its greatest value is 0");
	if (status == STATUS_OK)
		status = reserve_table(self->source, self->line, "file", columns, rows, out);
	if (status == STATUS_OK && binary)
		return read_binary(self, top, out);
	for (size_t k = 0; status == STATUS_OK && k < (size_t)columns * rows; k++) {
		status = read_count(self, top, &value);
		out->values[k] = value / (double)top;
	}
	return status;
}

/* The next number of a line; *more is false at the end of the line. */
static enum status read_value(struct height_file *self, uint64_t row, double *out, bool *more)
{
	char *end;
	self->at += strspn(self->text + self->at, ",; \t\r");
	char first = self->text[self->at];
	*more = first != '\n' && first != '\0' && first != '#';
	if (!*more) {
		self->at += strcspn(self->text + self->at, "\n");
		return STATUS_OK;
	}
	bool number = strchr("+-.0123456789", first) != NULL;
	*out = number ? strtod(self->text + self->at, &end) : 0;
	if (number && end != self->text + self->at && strchr(",; \t\r\n", *end) != NULL &&
	    scalar_is_finite(*out)) {
		self->at = (size_t)(end - self->text);
		return STATUS_OK;
	}
	return source_fail(self->source, self->line, STATUS_MALFORMED, "file",
			   "row %llu of %.40s has no finite number at '%.*s'",
			   (unsigned long long)row, self->name,
			   (int)MIN_OF(strcspn(self->text + self->at, "\r\n"), (size_t)12),
			   self->text + self->at);
}

/* Twice: the sizes, then the values. Lines without a number are passed over. */
static enum status read_rows(struct height_file *self, double *values, uint64_t *columns,
			     uint64_t *rows)
{
	uint64_t wide = 0, count = 0;
	*rows = 0;
	for (self->at = 0; self->at < self->bytes; self->at++) {
		uint64_t here = 0;
		for (bool more = true; more;) {
			double value = 0;
			enum status status = read_value(self, *rows, &value, &more);
			if (status != STATUS_OK)
				return status;
			here += more;
			if (more && values != NULL)
				values[count++] = value;
		}
		if (here == 0)
			continue;
		if (*rows > 0 && here != wide)
			return source_fail(self->source, self->line, STATUS_MALFORMED, "file",
					   "row %llu of %.40s has %llu numbers, the first one %llu",
					   (unsigned long long)*rows, self->name,
					   (unsigned long long)here, (unsigned long long)wide);
		wide = here;
		++*rows;
	}
	*columns = wide;
	return STATUS_OK;
}

enum status heights_read(const struct source *source, uint32_t line, const char *base,
			 const char *name, struct height_table *out)
{
	struct height_file file = { .source = source, .line = line, .name = name };
	char path[MESH_PATH_BYTES];
	uint64_t columns, rows;
	*out = (struct height_table){ 0 };
	enum status status = mesh_find(source, line, base, name, path);
	if (status == STATUS_OK)
		status = load_file(&file, path);
	if (status == STATUS_OK && file.text[0] == 'P' &&
	    (file.text[1] == '2' || file.text[1] == '5')) {
		status = read_image(&file, out);
	} else if (status == STATUS_OK) {
		status = read_rows(&file, NULL, &columns, &rows);
		if (status == STATUS_OK)
			status = reserve_table(source, line, "file", columns, rows, out);
		if (status == STATUS_OK)
			status = read_rows(&file, out->values, &columns, &rows);
	}
	heap_free(file.text);
	if (status != STATUS_OK)
		heights_release(out);
	return status;
}

/* ---- lists and formulas ---------------------------------------------------------------------- */

enum status heights_of_lists(const struct source *source, const struct yaml_node *list,
			     struct height_table *out)
{
	const struct yaml_node *row = list->first;
	uint64_t count = 0, columns = row->kind == NODE_LIST ? row->count : 0;
	*out = (struct height_table){ 0 };
	enum status status =
		reserve_table(source, list->line, "heights", columns, list->count, out);
	for (; row != NULL && status == STATUS_OK; row = row->next) {
		if (row->kind != NODE_LIST || row->count != columns)
			status = source_fail(source, row->line, STATUS_TYPE, "heights",
					     "each row of heights must be a list of %u numbers",
					     (unsigned)columns);
		const struct yaml_node *at = status == STATUS_OK ? row->first : NULL;
		for (; at != NULL && status == STATUS_OK; at = at->next)
			status = schema_number(source, at, "heights", -SCENE_LENGTH_MAX,
					       SCENE_LENGTH_MAX, "m", &out->values[count++]);
	}
	if (status != STATUS_OK)
		heights_release(out);
	return status;
}

struct height_place {
	const struct source *source;
	double x, z;
};

/* A formula_find. */
static enum status find_place(void *context, uint32_t line, const char *name, double *value)
{
	const struct height_place *self = context;
	if ((name[0] != 'x' && name[0] != 'z') || name[1] != '\0')
		return source_fail(
			self->source, line, STATUS_MISSING, "formula",
			"there is no '%.32s': a formula of heights has x and z, in metres; "
			"a variable of the file is written with a dollar sign",
			name);
	*value = name[0] == 'x' ? self->x : self->z;
	return STATUS_OK;
}

enum status heights_reserve(const struct source *source, uint32_t line, uint32_t columns,
			    uint32_t rows, struct height_table *out)
{
	*out = (struct height_table){ 0 };
	return reserve_table(source, line, "columns", columns, rows, out);
}

enum status heights_evaluate(const struct source *source, uint32_t line, const char *formula,
			     const double cell[2], const struct height_range *range,
			     struct height_table *out)
{
	struct height_place place = { source, 0, 0 };
	enum status status = STATUS_OK;
	ASSERT(range->last_column < out->columns && range->last_row < out->rows);
	for (uint32_t j = range->first_row; j <= range->last_row; j++)
		for (uint32_t i = range->first_column;
		     i <= range->last_column && status == STATUS_OK; i++) {
			place.x = (i - 0.5 * (out->columns - 1)) * cell[0];
			place.z = (j - 0.5 * (out->rows - 1)) * cell[1];
			status = formula_evaluate(source, line, formula, strlen(formula),
						  find_place, &place,
						  &out->values[(size_t)j * out->columns + i]);
		}
	return status;
}
