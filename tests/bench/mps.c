/* mps.c: see mps.h. A file is read by words, and if that fails by the columns of the fixed format, in
 * which names may have blanks. Sections NAME, OBJSENSE, ROWS, COLUMNS, RHS, RANGES, BOUNDS, ENDATA;
 * others are refused.
 *
 * The first row of type N is the objective; other rows of type N are left out. A range R makes of a row
 * E an interval from the right side towards the sign of R, of L and G one of width |R|. An upper bound
 * below 0 of a column whose lower bound has not been set takes the lower one away, as CLP does. */
#include "tests/bench/mps.h"

#include <stdlib.h>
#include <string.h>

#include "server/engine/math/scalar.h"

enum { NAME_BYTES = 32, TABLE = 1 << 18, FIELDS_MAX = 8, LINE_BYTES = 512 };
/* Numbers of rows that have no place in the program. */
enum { OBJECTIVE = -1, LEFT_OUT = -2, UNKNOWN = -3 };

/* Names with their numbers, found by hash. */
struct names {
	char (*name)[NAME_BYTES];
	int *number;
};

struct mps {
	struct gen_lp *lp;
	char *why;
	struct names rows, columns;
	char *types; /* of rows: L, G or E */
	double *rhs;
	bool *low_set;
	bool has_objective;
	double constant, sense;
	int column; /* the last one */
	uint32_t line;
	bool fixed; /* fields are columns of the line */
};

static bool refuse(struct mps *self, const char *what, const char *name)
{
	snprintf(self->why, 120, "line %u: %s %.40s", (unsigned)self->line, what, name);
	return false;
}

static uint32_t slot_of(const struct names *self, const char *name)
{
	uint32_t at = 2166136261u;
	for (const char *c = name; *c != '\0'; c++)
		at = (at ^ (uint8_t)*c) * 16777619u;
	for (at %= TABLE; self->name[at][0] != '\0'; at = (at + 1) % TABLE)
		if (strcmp(self->name[at], name) == 0)
			break;
	return at;
}

static int find(const struct names *self, const char *name)
{
	uint32_t at = slot_of(self, name);
	return self->name[at][0] != '\0' ? self->number[at] : UNKNOWN;
}

static bool add_name(struct mps *self, struct names *names, const char *name, int number)
{
	uint32_t at = slot_of(names, name);
	if (names->name[at][0] != '\0')
		return refuse(self, "a second", name);
	if (strlen(name) >= NAME_BYTES)
		return refuse(self, "a name that is too long,", name);
	memcpy(names->name[at], name, strlen(name) + 1);
	names->number[at] = number;
	return true;
}

/* ---- lines of sections ------------------------------------------------------------------------- */

static bool add_row(struct mps *self, char **field, uint32_t count)
{
	struct lp_matrix *matrix = &self->lp->problem.matrix;
	if (count != 2)
		return refuse(self, "no row", field[0]);
	if (field[0][0] == 'N') {
		int number = self->has_objective ? LEFT_OUT : OBJECTIVE;
		self->has_objective = true;
		return add_name(self, &self->rows, field[1], number);
	}
	if (matrix->rows == self->lp->rows_max || strchr("LGE", field[0][0]) == NULL)
		return refuse(self, "one row too many, or of an unknown type:", field[1]);
	uint32_t row = matrix->rows++;
	self->types[row] = field[0][0];
	self->rhs[row] = 0;
	return add_name(self, &self->rows, field[1], (int)row);
}

static bool add_entry(struct mps *self, const char *name, const char *number)
{
	struct gen_lp *lp = self->lp;
	int row = find(&self->rows, name);
	double value = strtod(number, NULL);
	uint32_t *end = &lp->starts[lp->problem.matrix.columns];
	if (row == UNKNOWN)
		return refuse(self, "no row", name);
	if (row == OBJECTIVE)
		lp->cost[self->column] = self->sense * value;
	if (row < 0 || value == 0)
		return true;
	if (*end == lp->nonzeros_max)
		return refuse(self, "too many entries:", name);
	uint32_t at = (*end)++;
	/* Rows ascend. */
	for (; at > lp->starts[self->column] && lp->index[at - 1] > (uint32_t)row; at--) {
		lp->index[at] = lp->index[at - 1];
		lp->values[at] = lp->values[at - 1];
	}
	lp->index[at] = (uint32_t)row;
	lp->values[at] = value;
	return true;
}

static bool add_column(struct mps *self, char **field, uint32_t count)
{
	struct lp_matrix *matrix = &self->lp->problem.matrix;
	if (count >= 3 && strstr(field[1], "MARKER") != NULL)
		return true;
	if (find(&self->columns, field[0]) == UNKNOWN) {
		if (matrix->columns == self->lp->columns_max)
			return refuse(self, "one column too many:", field[0]);
		self->column = (int)matrix->columns++;
		self->lp->starts[matrix->columns] = self->lp->starts[self->column];
		self->lp->cost[self->column] = self->lp->column_low[self->column] = 0;
		self->lp->column_high[self->column] = LP_INFINITY;
		self->low_set[self->column] = false;
		if (!add_name(self, &self->columns, field[0], self->column))
			return false;
	}
	if (find(&self->columns, field[0]) != self->column || count < 3 || count % 2 != 1)
		return refuse(self, "entries of one column are apart, or not pairs:", field[0]);
	for (uint32_t k = 1; k + 1 < count; k += 2)
		if (!add_entry(self, field[k], field[k + 1]))
			return false;
	return true;
}

static void add_range(struct mps *self, uint32_t row, double range)
{
	double *low = &self->lp->row_low[row], *high = &self->lp->row_high[row];
	double side = self->rhs[row];
	if (self->types[row] == 'E') {
		*low = side + scalar_min(range, 0);
		*high = side + scalar_max(range, 0);
	} else if (self->types[row] == 'L') {
		*low = side - scalar_abs(range);
	} else {
		*high = side + scalar_abs(range);
	}
}

/* Right sides, or ranges; the name of the vector may be missing. */
static bool add_sides(struct mps *self, char **field, uint32_t count, bool ranges)
{
	for (uint32_t k = count % 2; k + 1 < count; k += 2) {
		int row = find(&self->rows, field[k]);
		double value = strtod(field[k + 1], NULL);
		if (row == UNKNOWN)
			return refuse(self, "no row", field[k]);
		if (row == OBJECTIVE && !ranges)
			self->constant = -value;
		if (row >= 0 && ranges)
			add_range(self, (uint32_t)row, value);
		else if (row >= 0)
			self->rhs[row] = value;
	}
	return true;
}

static bool add_bound(struct mps *self, char **field, uint32_t count)
{
	const char *type = field[0];
	bool valued = strcmp(type, "FR") != 0 && strcmp(type, "MI") != 0 &&
		      strcmp(type, "PL") != 0 && strcmp(type, "BV") != 0;
	uint32_t least = valued ? 3 : 2;
	int j = count < least ? UNKNOWN : find(&self->columns, field[count > least ? 2 : 1]);
	/* Without a value the last field may be a number all the same. */
	if (j == UNKNOWN && !valued && count == 3)
		j = find(&self->columns, field[1]);
	if (j == UNKNOWN)
		return refuse(self, "no column of a bound", field[count - 1]);
	double value = valued ? strtod(field[count - 1], NULL) : 0;
	double *low = &self->lp->column_low[j], *high = &self->lp->column_high[j];
	if (strcmp(type, "UP") == 0 || strcmp(type, "UI") == 0) {
		*high = value;
		if (value < 0 && !self->low_set[j])
			*low = -LP_INFINITY;
	} else if (strcmp(type, "LO") == 0 || strcmp(type, "LI") == 0) {
		*low = value;
		self->low_set[j] = true;
	} else if (strcmp(type, "FX") == 0) {
		*low = *high = value;
	} else if (strcmp(type, "FR") == 0 || strcmp(type, "MI") == 0) {
		*low = -LP_INFINITY;
		self->low_set[j] = true;
	} else if (strcmp(type, "BV") == 0) {
		*low = 0;
		*high = 1;
	} else if (strcmp(type, "PL") != 0) {
		return refuse(self, "an unknown bound", type);
	}
	return true;
}

/* ---- the file ---------------------------------------------------------------------------------- */

static void set_row_bounds(struct mps *self)
{
	for (uint32_t i = 0; i < self->lp->problem.matrix.rows; i++) {
		char type = self->types[i];
		self->lp->row_low[i] = type == 'L' ? -LP_INFINITY : self->rhs[i];
		self->lp->row_high[i] = type == 'G' ? LP_INFINITY : self->rhs[i];
	}
}

static bool add_line(struct mps *self, const char *section, char **field, uint32_t count)
{
	if (strcmp(section, "ROWS") == 0)
		return add_row(self, field, count);
	if (strcmp(section, "COLUMNS") == 0)
		return add_column(self, field, count);
	if (strcmp(section, "RHS") == 0)
		return add_sides(self, field, count, false);
	if (strcmp(section, "RANGES") == 0)
		return add_sides(self, field, count, true);
	if (strcmp(section, "BOUNDS") == 0)
		return add_bound(self, field, count);
	if (strcmp(section, "OBJSENSE") == 0) {
		self->sense = strncmp(field[0], "MAX", 3) == 0 ? -1 : 1;
		return true;
	}
	return refuse(self, "an unknown section", section);
}

static uint32_t split_words(char *line, char *field[FIELDS_MAX])
{
	char *rest = NULL;
	uint32_t count = 0;
	for (char *word = strtok_r(line, " \t\r\n", &rest); word != NULL && count < FIELDS_MAX;
	     word = strtok_r(NULL, " \t\r\n", &rest))
		field[count++] = word;
	return count;
}

/* Fields of the fixed format, without the blanks around them; empty ones are left out. */
static uint32_t split_columns(char *line, char *field[FIELDS_MAX])
{
	static const size_t FIRST[] = { 1, 4, 14, 24, 39, 49 }, END[] = { 3, 12, 22, 36, 47, 61 };
	size_t length = strcspn(line, "\r\n");
	uint32_t count = 0;
	for (uint32_t k = 0; k < COUNT_OF(FIRST); k++) {
		size_t from = FIRST[k], to = MIN_OF(END[k], length);
		while (from < to && line[from] == ' ')
			from++;
		while (from < to && line[to - 1] == ' ')
			to--;
		if (from >= to)
			continue;
		line[to] = '\0';
		field[count++] = line + from;
	}
	return count;
}

static bool read_lines(struct mps *self, FILE *file)
{
	char line[LINE_BYTES], section[NAME_BYTES] = "NAME";
	bool bounded = false;
	while (fgets(line, sizeof line, file) != NULL) {
		char *field[FIELDS_MAX];
		bool head = line[0] != ' ' && line[0] != '\t';
		self->line++;
		if (line[0] == '*')
			continue;
		uint32_t count = self->fixed && !head ? split_columns(line, field)
						      : split_words(line, field);
		if (count == 0)
			continue;
		if (head) {
			snprintf(section, sizeof section, "%.31s", field[0]);
			if (strcmp(section, "ENDATA") == 0)
				break;
			bool before =
				strcmp(section, "RANGES") == 0 || strcmp(section, "BOUNDS") == 0;
			if (before && !bounded) {
				set_row_bounds(self);
				bounded = true;
			}
		} else if (!add_line(self, section, field, count)) {
			return false;
		}
	}
	if (!bounded)
		set_row_bounds(self);
	return self->has_objective || refuse(self, "no objective", "");
}

static bool read_as(FILE *file, struct gen_lp *out, double *constant, char why[120], bool fixed)
{
	struct mps self = { .lp = out, .why = why, .sense = 1, .column = UNKNOWN, .fixed = fixed };
	out->problem.matrix.rows = out->problem.matrix.columns = 0;
	out->problem.start = NULL;
	out->starts[0] = 0;
	self.rows.name = calloc(TABLE, NAME_BYTES);
	self.columns.name = calloc(TABLE, NAME_BYTES);
	self.rows.number = calloc(TABLE, sizeof(int));
	self.columns.number = calloc(TABLE, sizeof(int));
	self.types = calloc(out->rows_max, 1);
	self.rhs = calloc(out->rows_max, sizeof(double));
	self.low_set = calloc(out->columns_max, sizeof(bool));
	bool good = self.low_set != NULL && self.rhs != NULL && self.types != NULL &&
		    self.columns.number != NULL && self.rows.number != NULL &&
		    self.columns.name != NULL && self.rows.name != NULL;
	good = good ? read_lines(&self, file) : refuse(&self, "no memory", "");
	*constant = self.sense * self.constant;
	void *blocks[] = { self.rows.name, self.columns.name, self.rows.number, self.columns.number,
			   self.types,	   self.rhs,	      self.low_set };
	for (uint32_t i = 0; i < COUNT_OF(blocks); i++)
		free(blocks[i]);
	return good;
}

bool mps_read(FILE *file, struct gen_lp *out, double *constant, char why[120])
{
	char first[120];
	if (read_as(file, out, constant, why, false))
		return true;
	memcpy(first, why, sizeof first);
	rewind(file);
	if (read_as(file, out, constant, why, true))
		return true;
	memcpy(why, first, sizeof first);
	return false;
}
