/* heightfield.c: cooking a grid of heights, and its triangles.
 *
 * Everything is read from the canonical bytes: a triangle costs three loads of floats and its
 * number a division. A mesh of the same surface stores vertices, neighbours, edge flags and a
 * hierarchy, which cost 240 bytes a sample.
 *
 * Limits: heights are finite; neighbouring samples of a cell that is no hole differ by at most
 * HEIGHTFIELD_SLOPE_MAX cells, because a steeper triangle is a sliver without a reliable normal.
 */
#include "server/engine/geometry/heightfield.h"

#include "server/base/bytes.h"
#include "server/base/heap.h"
#include "server/engine/geometry/cook.h"
#include "server/engine/types.h"

#include <string.h>

enum { WITH_HOLES = 1, WITH_APRON = 2, WITH_PATCHES = 4, WITH_ALL = 7 };
/* Greatest difference of two neighbouring heights, in lengths of the shorter side of a cell. */
#define HEIGHTFIELD_SLOPE_MAX 1e4

static const struct height_bounds NOTHING = { 3e38F, -3e38F };

/* ---- samples and cells ----------------------------------------------------------------------- */

static float height_at(const struct heightfield *self, uint32_t sample)
{
	VALIDATE(sample < self->columns * self->rows);
	uint32_t bits = get_le32(self->heights + 4 * (size_t)sample);
	float height;
	memcpy(&height, &bits, sizeof height);
	return height;
}

static vec3 sample_point(const struct heightfield *self, uint32_t i, uint32_t j)
{
	VALIDATE(i < self->columns && j < self->rows);
	double x = (i - 0.5 * (self->columns - 1)) * self->cell_x;
	double z = (j - 0.5 * (self->rows - 1)) * self->cell_z;
	return vec3_make(x, (double)height_at(self, j * self->columns + i), z);
}

vec3 heightfield_vertex(const struct heightfield *self, uint32_t vertex)
{
	return sample_point(self, vertex % self->columns, vertex / self->columns);
}

static bool is_hole(const struct heightfield *self, uint32_t x, uint32_t z)
{
	uint32_t cell = z * (self->columns - 1) + x;
	VALIDATE(x + 1 < self->columns && z + 1 < self->rows);
	return self->holes != NULL && (self->holes[cell >> 3] >> (cell & 7) & 1);
}

static bool is_in_apron(const struct heightfield *self, uint32_t x, uint32_t z)
{
	return x < self->apron || z < self->apron || x + 1 + self->apron >= self->columns ||
	       z + 1 + self->apron >= self->rows;
}

bool heightfield_has_cell(const struct heightfield *self, uint32_t x, uint32_t z)
{
	return !is_in_apron(self, x, z) && !is_hole(self, x, z);
}

/* ---- triangles ------------------------------------------------------------------------------- */

/* Corners of the two triangles of a cell: steps along x and z from its sample of the least numbers. */
static const uint8_t STEP_X[2][3] = { { 0, 0, 1 }, { 0, 1, 1 } };
static const uint8_t STEP_Z[2][3] = { { 0, 1, 1 }, { 0, 1, 0 } };

static void cell_of(const struct heightfield *self, uint32_t triangle, uint32_t *x, uint32_t *z)
{
	VALIDATE(triangle < self->surface.triangle_count);
	uint32_t cell = triangle / 2, wide = self->columns - 1;
	*z = cell / wide;
	*x = cell - *z * wide;
}

uint32_t heightfield_vertex_of(const struct heightfield *self, uint32_t triangle, uint32_t corner)
{
	uint32_t x, z, half = triangle & 1;
	cell_of(self, triangle, &x, &z);
	return (z + STEP_Z[half][corner]) * self->columns + x + STEP_X[half][corner];
}

bool heightfield_has(const struct heightfield *self, uint32_t triangle)
{
	uint32_t x, z;
	cell_of(self, triangle, &x, &z);
	return heightfield_has_cell(self, x, z);
}

void heightfield_corners(const struct heightfield *self, uint32_t triangle, vec3 out[3])
{
	uint32_t x, z, half = triangle & 1;
	cell_of(self, triangle, &x, &z);
	for (uint32_t k = 0; k < 3; k++)
		out[k] = sample_point(self, x + STEP_X[half][k], z + STEP_Z[half][k]);
}

/* The triangle of cell (x, z), or none if the cell is outside the grid (−1 included) or a hole. */
static uint32_t triangle_at(const struct heightfield *self, uint32_t x, uint32_t z, uint32_t half)
{
	if (x >= self->columns - 1 || z >= self->rows - 1 || is_hole(self, x, z))
		return UINT32_MAX;
	return 2 * (z * (self->columns - 1) + x) + half;
}

uint32_t heightfield_across(const struct heightfield *self, uint32_t triangle, uint32_t edge)
{
	uint32_t x, z;
	VALIDATE(edge < 3);
	cell_of(self, triangle, &x, &z);
	if ((triangle & 1) == 0) /* (a, d, c): towards −x, +z, the diagonal */
		return edge == 0   ? triangle_at(self, x - 1, z, 1)
		       : edge == 1 ? triangle_at(self, x, z + 1, 1)
				   : triangle + 1;
	/* (a, c, b): the diagonal, towards +x, −z */
	return edge == 0   ? triangle - 1
	       : edge == 1 ? triangle_at(self, x + 1, z, 0)
			   : triangle_at(self, x, z - 1, 0);
}

uint32_t heightfield_patch(const struct heightfield *self, uint32_t triangle)
{
	VALIDATE(triangle < self->surface.triangle_count);
	return self->patches != NULL ? self->patches[triangle / 2] : 0;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

struct height_block heightfield_top(const struct heightfield *self)
{
	VALIDATE(self->level_count > 0);
	return (struct height_block){ self->level_count - 1, 0, 0 };
}

struct height_cells heightfield_block_cells(const struct heightfield *self,
					    struct height_block block)
{
	VALIDATE(block.level < self->level_count);
	uint32_t shift = HEIGHTFIELD_BLOCK_SHIFT + block.level, side = (1u << shift) - 1;
	uint32_t x = block.x << shift, z = block.z << shift;
	return (struct height_cells){ x, MIN_OF(x + side, self->columns - 2), z,
				      MIN_OF(z + side, self->rows - 2) };
}

bool heightfield_block_box(const struct heightfield *self, struct height_block block,
			   struct aabb *box)
{
	const struct heightfield_level *level = &self->levels[block.level];
	VALIDATE(block.x < level->wide && block.z < level->deep);
	struct height_bounds bounds = self->bounds[level->first + block.z * level->wide + block.x];
	if (bounds.low > bounds.high)
		return false;
	struct height_cells cells = heightfield_block_cells(self, block);
	vec3 low = sample_point(self, cells.first_x, cells.first_z);
	vec3 high = sample_point(self, cells.last_x + 1, cells.last_z + 1);
	low.y = (double)bounds.low;
	high.y = (double)bounds.high;
	*box = aabb_make(low, high);
	return true;
}

/* The cells, of `count`, that a range of coordinates may touch; in cells, a millionth more on both
 * sides, which covers the rounding of the quotient. */
static bool cells_along(double low, double high, double cell, uint32_t count, uint32_t *first,
			uint32_t *last)
{
	VALIDATE(count > 0 && cell > 0);
	double from = low / cell + 0.5 * count - 1e-6, to = high / cell + 0.5 * count + 1e-6;
	if (!(from < count) || !(to >= 0))
		return false;
	*first = from > 0 ? (uint32_t)from : 0;
	*last = to < count - 1 ? (uint32_t)to : count - 1;
	return true;
}

bool heightfield_cells_near(const struct heightfield *self, struct aabb box,
			    struct height_cells *out)
{
	return cells_along(box.min.x, box.max.x, self->cell_x, self->columns - 1, &out->first_x,
			   &out->last_x) &&
	       cells_along(box.min.z, box.max.z, self->cell_z, self->rows - 1, &out->first_z,
			   &out->last_z);
}

/* ---- cooking --------------------------------------------------------------------------------- */

static struct height_bounds bounds_with(struct height_bounds a, struct height_bounds b)
{
	return (struct height_bounds){ a.low < b.low ? a.low : b.low,
				       a.high > b.high ? a.high : b.high };
}

static struct height_bounds bounds_of_cells(const struct heightfield *self,
					    struct height_cells cells)
{
	struct height_bounds bounds = NOTHING;
	for (uint32_t z = cells.first_z; z <= cells.last_z; z++)
		for (uint32_t x = cells.first_x; x <= cells.last_x; x++) {
			if (!heightfield_has_cell(self, x, z))
				continue;
			for (uint32_t k = 0; k < 4; k++) {
				uint32_t sample = (z + k / 2) * self->columns + x + k % 2;
				float height = height_at(self, sample);
				bounds = bounds_with(bounds,
						     (struct height_bounds){ height, height });
			}
		}
	return bounds;
}

/* Lays out the levels; returns the number of blocks in all. */
static uint32_t plan_levels(struct heightfield *self)
{
	uint32_t round = (1u << HEIGHTFIELD_BLOCK_SHIFT) - 1, blocks = 0;
	uint32_t wide = (self->columns - 1 + round) >> HEIGHTFIELD_BLOCK_SHIFT;
	uint32_t deep = (self->rows - 1 + round) >> HEIGHTFIELD_BLOCK_SHIFT;
	for (self->level_count = 0;; wide = (wide + 1) / 2, deep = (deep + 1) / 2) {
		ASSERT(self->level_count < HEIGHTFIELD_LEVELS_MAX);
		self->levels[self->level_count++] =
			(struct heightfield_level){ wide, deep, blocks };
		blocks += wide * deep;
		if (wide == 1 && deep == 1)
			return blocks;
	}
}

static void fill_bounds(struct heightfield *self)
{
	ASSERT(self->level_count > 0);
	struct heightfield_level below = self->levels[0];
	for (uint32_t z = 0; z < below.deep; z++)
		for (uint32_t x = 0; x < below.wide; x++)
			self->bounds[z * below.wide + x] = bounds_of_cells(
				self,
				heightfield_block_cells(self, (struct height_block){ 0, x, z }));
	for (uint32_t l = 1; l < self->level_count; l++) {
		struct heightfield_level level = self->levels[l];
		for (uint32_t at = 0; at < level.wide * level.deep; at++)
			self->bounds[level.first + at] = NOTHING;
		for (uint32_t z = 0; z < below.deep; z++)
			for (uint32_t x = 0; x < below.wide; x++) {
				uint32_t at = level.first + z / 2 * level.wide + x / 2;
				self->bounds[at] =
					bounds_with(self->bounds[at],
						    self->bounds[below.first + z * below.wide + x]);
			}
		below = level;
	}
}

static enum status check_heights(struct cook *cook, const struct heightfield *self)
{
	for (uint32_t s = 0; s < self->columns * self->rows; s++) {
		double height = (double)height_at(self, s);
		if (!scalar_is_finite(height))
			return reason_set(cook->why, STATUS_NOT_FINITE, s, "heights",
					  "the height of column %u, row %u is not a finite number: "
					  "mark cells without ground as holes",
					  s % self->columns, s / self->columns);
		enum status status =
			cook_check(cook, "heights", s, height, -SHAPE_LENGTH_MAX, SHAPE_LENGTH_MAX);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

/* The differences along the sides and the diagonal of one cell. */
static enum status check_cell(struct cook *cook, const struct heightfield *self, uint32_t x,
			      uint32_t z)
{
	double least = scalar_min(self->cell_x, self->cell_z), most = 0;
	uint32_t a = z * self->columns + x, d = a + self->columns;
	double corner[4] = { (double)height_at(self, a), (double)height_at(self, a + 1),
			     (double)height_at(self, d + 1), (double)height_at(self, d) };
	for (uint32_t k = 0; k < 4; k++)
		most = scalar_max(most, scalar_abs(corner[k] - corner[(k + 1) % 4]));
	most = scalar_max(most, scalar_abs(corner[0] - corner[2]));
	if (most <= HEIGHTFIELD_SLOPE_MAX * least)
		return STATUS_OK;
	return reason_set(
		cook->why, STATUS_DEGENERATE, a, "heights",
		"heights of the cell at column %u, row %u differ by %g m, at most %g m are "
		"allowed there: use larger cells or make it a hole",
		x, z, most, HEIGHTFIELD_SLOPE_MAX * least);
}

/* Counts the cells, and refuses needless holes and a surface without triangles. */
static enum status check_cells(struct cook *cook, struct heightfield *self)
{
	bool any = false;
	for (uint32_t z = 0; z + 1 < self->rows; z++)
		for (uint32_t x = 0; x + 1 < self->columns; x++) {
			bool hole = is_hole(self, x, z), inside = !is_in_apron(self, x, z);
			any |= hole;
			self->holes_count += hole && inside;
			self->cells_count += !hole && inside;
			enum status status = hole ? STATUS_OK : check_cell(cook, self, x, z);
			if (status != STATUS_OK)
				return status;
		}
	if (self->holes != NULL && !any)
		return reason_set(cook->why, STATUS_RANGE, -1, "holes",
				  "no cell is a hole: leave the holes out");
	if (self->cells_count == 0)
		return reason_set(cook->why, STATUS_DEGENERATE, -1, "holes",
				  "every cell is a hole: at least one must have ground");
	return STATUS_OK;
}

static enum status check_patches(struct cook *cook, struct heightfield *self)
{
	uint32_t cells = (self->columns - 1) * (self->rows - 1), most = 0;
	for (uint32_t c = 0; c < cells && self->patches != NULL; c++) {
		if (self->patches[c] >= PATCHES_END)
			return reason_set(cook->why, STATUS_RANGE, c, "patches",
					  "cell %u has patch %u: it must be at most %u", c,
					  self->patches[c], PATCHES_END - 1);
		most = MAX_OF(most, self->patches[c]);
	}
	if (self->patches != NULL && most == 0)
		return reason_set(cook->why, STATUS_RANGE, -1, "patches",
				  "all patches are 0: leave them out");
	self->surface.patch_max = most;
	return STATUS_OK;
}

/* The sizes, from the bytes before the heights. */
static enum status read_sizes(struct cook *cook, struct heightfield *head, uint32_t *flags)
{
	*flags = read_u8(&cook->reader);
	uint32_t spare = read_u8(&cook->reader);
	if (!cook->reader.failed && (*flags > WITH_ALL || spare != 0))
		return reason_set(cook->why, STATUS_RANGE, -1, "flags",
				  "flags are %u, %u: they must be at most %d, 0", *flags, spare,
				  WITH_ALL);
	head->apron = (*flags & WITH_APRON) != 0;
	uint32_t least = 2 + 2 * head->apron;
	enum status status =
		cook_count(cook, "columns", least, SHAPE_HEIGHTFIELD_SIDE_MAX, &head->columns);
	if (status == STATUS_OK)
		status = cook_count(cook, "rows", least, SHAPE_HEIGHTFIELD_SIDE_MAX, &head->rows);
	if (status == STATUS_OK)
		status = cook_number(cook, "cell_x", SHAPE_LENGTH_MIN,
				     2 * SHAPE_LENGTH_MAX / (head->columns - 1), &head->cell_x);
	if (status == STATUS_OK)
		status = cook_number(cook, "cell_z", SHAPE_LENGTH_MIN,
				     2 * SHAPE_LENGTH_MAX / (head->rows - 1), &head->cell_z);
	if (status != STATUS_OK)
		return status;
	double ratio =
		scalar_max(head->cell_x, head->cell_z) / scalar_min(head->cell_x, head->cell_z);
	if (ratio > SHAPE_SLENDER_MAX)
		return reason_set(cook->why, STATUS_DEGENERATE, -1, "cell_x",
				  "the sides of a cell have the ratio %g: at most %g is allowed",
				  ratio, SHAPE_SLENDER_MAX);
	uint64_t samples = (uint64_t)head->columns * head->rows;
	uint64_t cells = (uint64_t)(head->columns - 1) * (head->rows - 1);
	return cook_expect(cook, 4 * samples + (*flags & WITH_HOLES ? (cells + 7) / 8 : 0) +
					 (*flags & WITH_PATCHES ? cells : 0));
}

static void measure_heightfield(struct shape *shape, const struct heightfield *self)
{
	struct aabb box;
	bool any = heightfield_block_box(self, heightfield_top(self), &box);
	ASSERT(any);
	vec3 rim = vec3_make(self->apron * self->cell_x, 0, self->apron * self->cell_z);
	shape->aabb_min = vec3_add(box.min, rim);
	shape->aabb_max = vec3_sub(box.max, rim);
	shape->mass = (struct mass_properties){ 0, vec3_zero(), mat3_zero() };
	shape->radius_max =
		vec3_length(vec3_max(vec3_abs(shape->aabb_min), vec3_abs(shape->aabb_max)));
	shape->extent_min = 0;
}

enum status heightfield_cook(struct cook *cook)
{
	struct heightfield head = { .apron = 0 };
	uint32_t flags = 0;
	enum status status = read_sizes(cook, &head, &flags);
	if (status != STATUS_OK)
		return status;
	uint32_t cells = (head.columns - 1) * (head.rows - 1), blocks = plan_levels(&head);
	struct heightfield *self = cook_alloc(cook, sizeof *self + blocks * sizeof *self->bounds);
	if (self == NULL)
		return cook_no_memory(cook);
	*self = head;
	self->surface = (struct mesh){ .vertex_count = head.columns * head.rows,
				       .triangle_count = 2 * cells,
				       .grid = self };
	cook->shape->mesh = &self->surface;
	self->heights = reader_take(&cook->reader, 4 * (size_t)self->surface.vertex_count);
	if (flags & WITH_HOLES)
		self->holes = reader_take(&cook->reader, (cells + 7) / 8);
	if (flags & WITH_PATCHES)
		self->patches = reader_take(&cook->reader, cells);
	if (self->holes != NULL && cells % 8 != 0 && self->holes[cells / 8] >> cells % 8 != 0)
		return reason_set(cook->why, STATUS_MALFORMED, -1, "holes",
				  "bits after the last of %u cells are not 0", cells);
	status = check_heights(cook, self);
	if (status == STATUS_OK)
		status = check_cells(cook, self);
	if (status == STATUS_OK)
		status = check_patches(cook, self);
	if (status != STATUS_OK)
		return status;
	fill_bounds(self);
	measure_heightfield(cook->shape, self);
	return STATUS_OK;
}

void heightfield_attach(const struct shape *shape)
{
	enum { HEAD_BYTES = 28 };
	struct heightfield *self = (struct heightfield *)shape->mesh->grid;
	ASSERT(shape->kind == SHAPE_HEIGHTFIELD && shape->canonical != NULL);
	uint32_t cells = self->surface.triangle_count / 2;
	self->heights = shape->canonical + HEAD_BYTES;
	const uint8_t *at = self->heights + 4 * (size_t)self->surface.vertex_count;
	if (self->holes != NULL)
		self->holes = at;
	if (self->holes != NULL)
		at += (cells + 7) / 8;
	if (self->patches != NULL)
		self->patches = at;
	if (self->patches != NULL)
		at += cells;
	ASSERT(at == shape->canonical + shape->canonical_bytes);
}
