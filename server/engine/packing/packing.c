/* packing.c: a compaction from beginning to end. The program of a jump is in packing_solve.c. */
#include "server/engine/packing/packing_work.h"

/* ---- beginning --------------------------------------------------------------------------------- */

static enum status check_polygon(const struct packing_polygon *polygon, struct reason *why)
{
	if (polygon->count < 3 || polygon->count > PACKING_CORNERS_MAX)
		return reason_set(why, STATUS_LIMIT, -1, "points",
				  "%u corners; an outline has from 3 to %d", polygon->count,
				  PACKING_CORNERS_MAX);
	for (uint32_t i = 0; i < polygon->count; i++) {
		vec2 at = vec2_add(polygon->corners[i], polygon->place);
		if (!vec2_is_finite(at))
			return reason_set(why, STATUS_NOT_FINITE, -1, "points",
					  "corner %u is not finite", i + 1);
		if (scalar_abs(at.x) > PACKING_COORDINATE_MAX ||
		    scalar_abs(at.y) > PACKING_COORDINATE_MAX ||
		    scalar_abs(polygon->place.x) > PACKING_COORDINATE_MAX ||
		    scalar_abs(polygon->place.y) > PACKING_COORDINATE_MAX)
			return reason_set(why, STATUS_RANGE, -1, "points",
					  "corner %u is at (%.9g, %.9g); coordinates are within "
					  "±%g",
					  i + 1, at.x, at.y, PACKING_COORDINATE_MAX);
	}
	return STATUS_OK;
}

static enum status check_problem(const struct packing_problem *problem, struct packing_fault *fault,
				 struct reason *why)
{
	uint64_t corners = 0;
	double height = problem->y_max - problem->y_min;
	if (problem->count == 0 || problem->count > PACKING_POLYGONS_MAX)
		return reason_set(why, STATUS_LIMIT, -1, "polygons",
				  "%u polygons; a layout has from 1 to %d", problem->count,
				  PACKING_POLYGONS_MAX);
	if (!scalar_is_finite(height) || !scalar_is_finite(problem->left))
		return reason_set(why, STATUS_NOT_FINITE, -1, "strip", "the strip is not finite");
	if (!(height > 0) || height > PACKING_COORDINATE_MAX)
		return reason_set(why, STATUS_RANGE, -1, "height",
				  "the strip is %.9g high; it must be above 0 and at most %g",
				  height, PACKING_COORDINATE_MAX);
	if (!(problem->pull >= 0 && problem->pull <= 1))
		return reason_set(why, STATUS_RANGE, -1, "pull", "%.9g; it is from 0 to 1",
				  problem->pull);
	if (!(problem->rest >= 0 && problem->rest <= 1))
		return reason_set(why, STATUS_RANGE, -1, "rest", "%.9g; it is from 0 to 1",
				  problem->rest);
	for (uint32_t i = 0; i < problem->count; i++) {
		fault->polygon = i;
		enum status status = check_polygon(&problem->polygons[i], why);
		if (status != STATUS_OK)
			return status;
		corners += problem->polygons[i].count;
		if (corners > PACKING_CORNERS_ALL)
			return reason_set(why, STATUS_LIMIT, -1, "points",
					  "all polygons to this one have %llu corners; at most %d",
					  (unsigned long long)corners, PACKING_CORNERS_ALL);
	}
	fault->polygon = PACKING_NONE;
	return STATUS_OK;
}

static enum status check_inside(const struct packing *self, const struct packing_shape *shape,
				struct reason *why)
{
	vec2 low = packing_low(shape), high = packing_high(shape);
	double slack = PACKING_OVERLAP * (self->y_max - self->y_min);
	if (high.y - low.y > self->y_max - self->y_min + 2 * slack)
		return reason_set(why, STATUS_RANGE, -1, "height",
				  "it is %.9g high and the strip %.9g; make the strip higher",
				  high.y - low.y, self->y_max - self->y_min);
	if (low.y < self->y_min - slack || high.y > self->y_max + slack)
		return reason_set(why, STATUS_RANGE, -1, "y",
				  "it reaches from y %.9g to %.9g and the strip from %.9g to %.9g; "
				  "move it into the strip",
				  low.y, high.y, self->y_min, self->y_max);
	if (low.x < self->left - slack)
		return reason_set(why, STATUS_RANGE, -1, "x",
				  "it begins at x %.9g, before the strip, which begins at %.9g; "
				  "move it into the strip",
				  low.x, self->left);
	return STATUS_OK;
}

static enum status add_shapes(struct packing *self, const struct packing_problem *problem,
			      struct packing_fault *fault, struct reason *why)
{
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < problem->count && status == STATUS_OK; i++) {
		fault->polygon = i;
		status = packing_divide(self, &problem->polygons[i], &self->shapes[i], why);
		if (status == STATUS_OK)
			status = check_inside(self, &self->shapes[i], why);
	}
	if (status != STATUS_OK)
		return status;
	fault->polygon = PACKING_NONE;
	return STATUS_OK;
}

/* Overlaps that rounding of a file's digits does not explain are refused. */
static enum status check_overlap(struct packing *self, struct packing_fault *fault,
				 struct reason *why)
{
	double depth;
	struct packing_fault worst;
	enum status status = packing_overlap(self, &depth, &worst);
	if (status != STATUS_OK)
		return status;
	if (depth <= PACKING_OVERLAP * self->scale)
		return STATUS_OK;
	*fault = worst;
	return reason_set(why, STATUS_EXISTS, -1, "points",
			  "two polygons overlap by %.9g; move them apart by this", depth);
}

static bool allocate_state(struct packing *self)
{
	size_t count = self->count;
	self->shapes = heap_alloc_zero(count * sizeof *self->shapes);
	self->moves = heap_alloc_zero(count * sizeof *self->moves);
	self->places = heap_alloc_zero(4 * count + 1);
	self->made = heap_alloc_zero((count * count + 63) / 64 * sizeof *self->made);
	return self->shapes != NULL && self->moves != NULL && self->places != NULL &&
	       self->made != NULL && arena_init(&self->arena, 0) == STATUS_OK;
}

enum status packing_create(const struct packing_problem *problem, struct packing **out,
			   struct packing_fault *fault, struct reason *why)
{
	*out = NULL;
	*fault = (struct packing_fault){ PACKING_NONE, PACKING_NONE };
	enum status status = check_problem(problem, fault, why);
	if (status != STATUS_OK)
		return status;
	struct packing *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return STATUS_NO_MEMORY;
	self->count = problem->count;
	self->left = problem->left;
	self->y_min = problem->y_min;
	self->y_max = problem->y_max;
	self->scale = problem->y_max - problem->y_min;
	self->pull = problem->pull;
	self->rest = problem->rest;
	status = allocate_state(self) ? STATUS_OK : STATUS_NO_MEMORY;
	if (status == STATUS_OK)
		status = add_shapes(self, problem, fault, why);
	if (status == STATUS_OK)
		status = check_overlap(self, fault, why);
	if (status == STATUS_OK)
		*out = self;
	else
		packing_destroy(self);
	return status;
}

void packing_destroy(struct packing *self)
{
	if (self == NULL)
		return;
	arena_release(&self->arena);
	ARRAY_RELEASE(&self->corners);
	ARRAY_RELEASE(&self->parts);
	ARRAY_RELEASE(&self->rows);
	heap_free(self->shapes);
	heap_free(self->moves);
	heap_free(self->places);
	heap_free(self->made);
	heap_free(self);
}

/* ---- facts ------------------------------------------------------------------------------------- */

vec2 packing_place(const struct packing *self, uint32_t polygon)
{
	ASSERT(polygon < self->count);
	return self->shapes[polygon].place;
}

double packing_length(const struct packing *self)
{
	double end = self->left;
	for (uint32_t i = 0; i < self->count; i++)
		end = scalar_max(end, packing_high(&self->shapes[i]).x);
	return end - self->left;
}

double packing_area(const struct packing *self)
{
	double area = 0;
	for (uint32_t i = 0; i < self->count; i++)
		area += self->shapes[i].area;
	return area;
}

uint32_t packing_part_count(const struct packing *self)
{
	return self->parts.count;
}

struct deepest {
	struct packing *packing;
	double depth;
	struct packing_fault fault;
};

static enum status visit_depth(void *context, uint32_t a, uint32_t b)
{
	struct deepest *self = context;
	double depth;
	enum status status = packing_depth(self->packing, a, b, &depth);
	if (status == STATUS_OK && depth > self->depth) {
		self->depth = depth;
		self->fault = (struct packing_fault){ a, b };
	}
	return status;
}

enum status packing_overlap(struct packing *self, double *depth, struct packing_fault *worst)
{
	struct deepest deepest = { .packing = self, .fault = { PACKING_NONE, PACKING_NONE } };
	enum status status = packing_each_pair(self, NULL, 0, visit_depth, &deepest);
	*depth = deepest.depth;
	*worst = deepest.fault;
	ASSERT(deepest.depth >= 0);
	return status;
}

/* ---- a jump ------------------------------------------------------------------------------------ */

/* Adds the moves. The end of the layout is not passed, whatever rounding says. */
static void move_shapes(struct packing *self)
{
	double end = self->left + packing_length(self);
	for (uint32_t i = 0; i < self->count; i++) {
		struct packing_shape *shape = &self->shapes[i];
		shape->place = vec2_add(shape->place, self->moves[i]);
		if (packing_high(shape).x > end)
			shape->place.x = vec2_sub(shape->place, self->moves[i]).x;
	}
}

static enum status make_move(struct packing *self, struct packing_jump *out)
{
	struct packing_fault worst;
	double before = out->overlap, length = out->length;
	vec2 *places = ARENA_ARRAY(&self->arena, vec2, self->count);
	if (places == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < self->count; i++)
		places[i] = self->shapes[i].place;
	move_shapes(self);
	enum status status = packing_overlap(self, &out->overlap, &worst);
	out->length = packing_length(self);
	out->moved = status == STATUS_OK && out->length <= length &&
		     out->overlap <= scalar_max(before, PACKING_OVERLAP * self->scale);
	for (uint32_t i = 0; !out->moved && i < self->count; i++)
		self->shapes[i].place = places[i];
	if (!out->moved) {
		out->overlap = before;
		out->length = length;
	}
	return status;
}

enum status packing_jump(struct packing *self, struct packing_jump *out)
{
	struct packing_fault worst;
	struct arena_mark mark = arena_mark(&self->arena);
	*out = (struct packing_jump){ .length = packing_length(self) };
	enum status status = packing_overlap(self, &out->overlap, &worst);
	if (status == STATUS_OK)
		status = packing_solve(self, out);
	if (status == STATUS_OK && out->status == SOLVER_SOLVED) {
		out->rest = out->gain <= self->rest * out->length;
		if (!out->rest)
			status = make_move(self, out);
	}
	arena_rewind(&self->arena, mark);
	return status;
}
