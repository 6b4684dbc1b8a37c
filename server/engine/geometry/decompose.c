/* decompose.c: Joe's convex decomposition as app F simplifies it, with its fallbacks.
 *
 * Pieces wait on a stack that starts with the connected surfaces of the mesh. The top piece is
 * taken:
 *
 *   it has no notch, or its hull deviates by at most `concavity`: it becomes a part (halved first if its
 *     hull has more than vertices_max vertices)
 *   otherwise its notches are tried, the deepest below its hull first, and at each the planes of F-03 in
 *     order: the first that passes F-04 and F-05 cuts the piece, and the results are pushed
 *   no plane passes: the thresholds are lowered for this piece (twice to half, then to zero) and it is
 *     pushed again; after that it is halved, which separates features that blocked each other, at most
 *     four times
 *   still no plane: unresolved. It is approximated (decompose_box.c), or in CUT_ONLY stays concave
 *
 * Each cut removes at least one notch and lengthens none, so the process ends; parts_max bounds it
 * in any case. Solids with a cavity are approximated as a whole. Volume sums are reported, not
 * asserted, because rounding moves them; tests compare them with bounds.
 *
 * The order of parts is part of the result: the stack is last in, first out; notches are sorted by
 * depth, then by number.
 */
#include "server/engine/geometry/decompose.h"

#include "server/base/sort.h"
#include "server/engine/geometry/decompose_box.h"
#include "server/engine/geometry/decompose_cut.h"
#include "server/engine/geometry/hull.h"
#include "server/engine/math/trig.h"

#include <string.h>

/* Points within SNAP of a plane count as in it: far above rounding, far below any feature. An edge
 * whose far corners lie outside the neighbour's plane by less than SLACK is no notch; it is four
 * times SNAP because four snaps can add up at one edge. Both are relative to the mesh's extent. */
#define SNAP_PER_EXTENT 1e-10
#define SLACK_PER_EXTENT 4e-10
/* Deviation allowed to the approximation when `concavity` is 0, which it could not meet. */
#define DEVIATION_PER_EXTENT 0.02

enum {
	CANDIDATES_MAX = 64,
	LEVEL_LAST = 3,		    /* the first level without thresholds */
	LEVEL_END = LEVEL_LAST + 4, /* after LEVEL_LAST each level halves the piece */
	NOTCHES_TRIED = 48, /* before LEVEL_LAST, because lowering the thresholds is cheaper */
	NOTCHES_TRIED_LAST = 1024,
	HIDDEN_FACTOR = 4096, /* of the slack: concavity that needle triangles may hide in a part */
};

struct notch {
	uint32_t half;
	vec3 normal;
};

struct decompose {
	const struct mesh *mesh; /* borrowed */
	struct decompose_options options;
	double snap, slack, deviation; /* m */
	vec3 middle;
	struct cutter cutter;
	piece_list waiting;
	/* The solid being approximated, and the boxes of it still to examine. */
	const struct mesh *solid;
	struct mesh *own_solid; /* owned; the same mesh, when it was made from a piece */
	ARRAY_OF(struct aabb) boxes;
	double volume_cut, volume_approximated;
	/* The result. */
	ARRAY_OF(struct decompose_part) parts;
	ARRAY_OF(vec3) points;
	struct {
		uint32_t (*items)[3];
		uint32_t count, capacity;
	} triangles;
	struct decompose_report report;
	/* Notches of the current piece. */
	ARRAY_OF(struct notch) notches;
	ARRAY_OF(uint64_t) keys;
	ARRAY_OF(uint32_t) order;
};

struct decompose_options decompose_options_default(const struct mesh *mesh)
{
	ASSERT(mesh->node_count > 0);
	vec3 size = vec3_sub(mesh->nodes[0].max, mesh->nodes[0].min);
	return (struct decompose_options){
		.mode = DECOMPOSE_CUT_THEN_APPROXIMATE,
		.concavity = vec3_max_component(size) / 50,
		.angle_min = 20 * RADIANS_PER_DEGREE,
		.distance_min = 0.05,
		.candidates = 16,
		.vertices_max = 256,
		.parts_max = 65536,
	};
}

void decomposition_release(struct decomposition *self)
{
	heap_free(self);
}

/* ---- output ----------------------------------------------------------------------------------- */

static enum status open_part(struct decompose *self, uint64_t points, uint64_t triangles,
			     struct reason *why)
{
	if (self->parts.count >= self->options.parts_max)
		return reason_set(why, STATUS_LIMIT, -1, "parts_max",
				  "the decomposition needs more than %u parts",
				  self->options.parts_max);
	if (ARRAY_RESERVE(&self->parts, self->parts.count + 1u) != STATUS_OK ||
	    ARRAY_RESERVE(&self->points, self->points.count + points) != STATUS_OK ||
	    ARRAY_RESERVE(&self->triangles, self->triangles.count + triangles) != STATUS_OK)
		return STATUS_NO_MEMORY;
	ASSERT(self->parts.count < self->parts.capacity);
	self->parts.items[self->parts.count] =
		(struct decompose_part){ .first_point = self->points.count,
					 .first_triangle = self->triangles.count };
	return STATUS_OK;
}

static void close_part(struct decompose *self, double volume, double hull_volume)
{
	ASSERT(self->parts.count < self->parts.capacity);
	ASSERT(self->points.count <= self->points.capacity);
	ASSERT(self->triangles.count <= self->triangles.capacity);
	struct decompose_part *part = &self->parts.items[self->parts.count++];
	part->point_count = self->points.count - part->first_point;
	part->triangle_count = self->triangles.count - part->first_triangle;
	part->volume = volume;
	part->hull_volume = hull_volume;
	self->report.volume_parts += volume;
	self->report.volume_hulls += hull_volume;
}

static void add_triangle(struct decompose *self, uint32_t a, uint32_t b, uint32_t c)
{
	VALIDATE(a != b && b != c && c != a);
	VALIDATE(self->triangles.count < self->triangles.capacity);
	uint32_t base = self->parts.items[self->parts.count].first_point;
	uint32_t *corner = self->triangles.items[self->triangles.count++];
	corner[0] = base + a;
	corner[1] = base + b;
	corner[2] = base + c;
}

static enum status give_piece(struct decompose *self, const struct decompose_piece *piece,
			      const struct piece_hull *hull, double concavity, struct reason *why)
{
	ASSERT(concavity >= 0);
	VALIDATE(piece_is_closed(piece));
	double volume = piece_volume(piece, self->middle);
	self->volume_cut += volume;
	if (hull->thin) {
		self->report.thin++;
		self->report.volume_thin += volume;
		return STATUS_OK;
	}
	enum status status = open_part(self, piece->point_count, piece->triangle_count, why);
	if (status != STATUS_OK)
		return status;
	memcpy(self->points.items + self->points.count, piece->points,
	       piece->point_count * sizeof *piece->points);
	self->points.count += piece->point_count;
	for (uint32_t t = 0; t < piece->triangle_count; t++)
		add_triangle(self, piece->corner[3 * t], piece->corner[3 * t + 1],
			     piece->corner[3 * t + 2]);
	self->parts.items[self->parts.count].concavity = concavity;
	self->report.concavity = scalar_max(self->report.concavity, concavity);
	close_part(self, volume, hull->volume);
	return STATUS_OK;
}

static enum status give_box(struct decompose *self, const struct box_result *box,
			    struct reason *why)
{
	ASSERT(box->answer == BOX_PART && !box->hull.thin);
	ASSERT(box->deviation >= 0);
	const struct hull *hull = box->hull.hull;
	enum status status = open_part(self, hull->vertex_count, hull->edge_count, why);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < hull->vertex_count; i++)
		self->points.items[self->points.count++] = vec3_add(
			vec3_scale(hull->vertices[i], 1 / box->hull.factor), box->hull.middle);
	for (uint32_t f = 0; f < hull->face_count; f++) {
		uint32_t first = hull->faces[f].edge, h = hull->edges[first].next;
		for (; hull->edges[h].next != first; h = hull->edges[h].next)
			add_triangle(self, hull->edges[first].origin, hull->edges[h].origin,
				     hull->edges[hull->edges[h].next].origin);
	}
	self->parts.items[self->parts.count].approximate = true;
	self->report.deviation = scalar_max(self->report.deviation, box->deviation);
	self->volume_approximated += box->hull.volume;
	close_part(self, box->hull.volume, box->hull.volume);
	return STATUS_OK;
}

/* ---- approximating ---------------------------------------------------------------------------- */

static enum status begin_boxes(struct decompose *self, const struct mesh *solid, double volume)
{
	ASSERT(self->boxes.count == 0);
	ASSERT(solid->node_count > 0);
	self->solid = solid;
	self->report.approximated++;
	self->report.volume_excess -= volume;
	if (ARRAY_RESERVE(&self->boxes, 1) != STATUS_OK)
		return STATUS_NO_MEMORY;
	self->boxes.items[self->boxes.count++] =
		aabb_make(solid->nodes[0].min, solid->nodes[0].max);
	return STATUS_OK;
}

static enum status step_box(struct decompose *self, struct reason *why)
{
	ASSERT(self->boxes.count > 0 && self->solid != NULL);
	struct box_limits limits = { self->deviation, self->options.vertices_max };
	struct box_result result;
	struct aabb box = self->boxes.items[--self->boxes.count];
	enum status status = box_examine(self->solid, box, limits, &result);
	if (status == STATUS_OK && result.hull.thin)
		self->report.thin++;
	if (status == STATUS_OK && result.answer == BOX_PART)
		status = give_box(self, &result, why);
	if (status == STATUS_OK && result.answer == BOX_SPLIT) {
		status = ARRAY_RESERVE(&self->boxes, self->boxes.count + 2u);
		if (status == STATUS_OK) {
			self->boxes.items[self->boxes.count++] = result.second;
			self->boxes.items[self->boxes.count++] = result.first;
		}
	}
	piece_hull_release(&result.hull);
	if (self->boxes.count == 0) {
		heap_free(self->own_solid);
		self->own_solid = NULL;
	}
	return status;
}

/* No plane cuts the piece: it is approximated, or stays concave in CUT_ONLY. */
static enum status give_up(struct decompose *self, const struct decompose_piece *piece,
			   const struct piece_hull *hull, struct reason *why)
{
	ASSERT(self->own_solid == NULL);
	self->report.unresolved++;
	self->report.unresolved_notches += piece_count_notches(piece, self->slack);
	if (self->options.mode == DECOMPOSE_CUT_ONLY)
		return give_piece(self, piece, hull, piece_concavity(piece, hull, SCALAR_MAX), why);
	double volume = piece_volume(piece, self->middle);
	self->volume_cut += volume;
	self->own_solid = piece_mesh(piece);
	return self->own_solid == NULL ? STATUS_NO_MEMORY
				       : begin_boxes(self, self->own_solid, volume);
}

/* ---- cutting ---------------------------------------------------------------------------------- */

static struct cut_limits cut_limits_of(const struct decompose *self,
				       const struct decompose_piece *piece)
{
	ASSERT(piece->level <= LEVEL_END);
	struct cut_limits limits = { .snap = self->snap, .cosine = 1, .distance_min = 0 };
	if (piece->level < LEVEL_LAST) {
		double part = 1.0 / (double)(1u << piece->level);
		limits.cosine = trig_cos(self->options.angle_min * part);
		limits.distance_min = self->options.distance_min * part * piece_mean_edge(piece);
	}
	return limits;
}

static enum status find_notches(struct decompose *self, const struct decompose_piece *piece)
{
	self->notches.count = 0;
	for (uint32_t h = 0; h < 3 * piece->triangle_count; h++) {
		struct notch notch = { .half = h };
		if (h > piece->twin[h] || !piece_is_notch(piece, h, self->slack, &notch.normal))
			continue;
		if (ARRAY_RESERVE(&self->notches, self->notches.count + 1u) != STATUS_OK)
			return STATUS_NO_MEMORY;
		self->notches.items[self->notches.count++] = notch;
	}
	return STATUS_OK;
}

/* The deepest notch first, because it contributes most to the concavity; ties by half-edge. */
static enum status sort_notches(struct decompose *self, const struct decompose_piece *piece,
				const struct piece_hull *hull)
{
	ASSERT(self->notches.count > 0);
	ASSERT(!hull->thin);
	uint32_t count = self->notches.count;
	if (ARRAY_RESERVE(&self->keys, 2 * (uint64_t)count) != STATUS_OK ||
	    ARRAY_RESERVE(&self->order, 2 * (uint64_t)count) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		const struct notch *notch = &self->notches.items[i];
		double depth = piece_depth(piece, hull, notch->half, notch->normal);
		self->keys.items[i] = ~sort_key_of_double(depth);
		self->order.items[i] = i;
	}
	sort_keys(self->keys.items, self->order.items, self->keys.items + count,
		  self->order.items + count, count);
	return STATUS_OK;
}

static bool try_notch(struct decompose *self, const struct decompose_piece *piece, uint32_t half,
		      struct cut_limits limits)
{
	ASSERT(self->options.candidates <= CANDIDATES_MAX);
	ASSERT(half < 3 * piece->triangle_count);
	struct cut_plane planes[CANDIDATES_MAX];
	uint32_t count = cut_candidates(piece, half, self->options.candidates, planes);
	for (uint32_t i = 0; i < count; i++) {
		self->report.planes++;
		enum decompose_refusal answer =
			cut_trace(&self->cutter, planes[i], limits, half, false);
		if (answer == DECOMPOSE_REFUSALS)
			return true;
		self->report.refused[answer]++;
	}
	return false;
}

static bool try_notches(struct decompose *self, const struct decompose_piece *piece)
{
	ASSERT(self->notches.count <= self->order.capacity);
	struct cut_limits limits = cut_limits_of(self, piece);
	uint32_t most = piece->level < LEVEL_LAST ? NOTCHES_TRIED : NOTCHES_TRIED_LAST;
	for (uint32_t i = 0; i < MIN_OF(most, self->notches.count); i++)
		if (try_notch(self, piece, self->notches.items[self->order.items[i]].half, limits))
			return true;
	return false;
}

/* Finds an edge that runs from above the plane to below it, clear of the snap distance. */
static bool find_crossed(const struct decompose *self, const struct decompose_piece *piece,
			 uint32_t axis, double level, uint32_t *half)
{
	ASSERT(axis < 3);
	for (uint32_t h = 0; h < 3 * piece->triangle_count; h++) {
		*half = h;
		if (vec3_get(piece_start(piece, h), axis) > level + 2 * self->snap &&
		    vec3_get(piece_end(piece, h), axis) < level - 2 * self->snap)
			return true;
	}
	return false;
}

/* Tries planes across the longest side of the box: the middle, then positions beside it (where
 * edges in the middle plane block the trace), then the same across the other axes. */
static bool try_halves(struct decompose *self, const struct decompose_piece *piece)
{
	static const double WHERE[5] = { 0.5, 0.45, 0.56, 0.38, 0.64 };
	struct aabb box = piece_box(piece);
	struct cut_limits limits = { .snap = self->snap, .cosine = 1, .distance_min = 0 };
	uint32_t axis = vec3_largest_axis(vec3_sub(box.max, box.min)), half;
	for (uint32_t i = 0; i < 15; i++) {
		uint32_t across = (axis + i / 5) % 3;
		struct cut_plane plane = { vec3_lerp(box.min, box.max, WHERE[i % 5]),
					   vec3_axis(across) };
		if (find_crossed(self, piece, across, vec3_get(plane.at, across), &half) &&
		    cut_trace(&self->cutter, plane, limits, half, true) == DECOMPOSE_REFUSALS)
			return true;
	}
	return false;
}

/* ---- one piece -------------------------------------------------------------------------------- */

/* Applies the traced cut and pushes its results. */
static enum status apply_cut(struct decompose *self, struct reason *why)
{
	if (self->waiting.count + self->parts.count > self->options.parts_max)
		return reason_set(why, STATUS_LIMIT, -1, "parts_max",
				  "the decomposition needs more than %u parts",
				  self->options.parts_max);
	return cut_apply(&self->cutter, &self->waiting) ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status return_to_stack(struct decompose *self, struct decompose_piece **piece)
{
	ASSERT((*piece)->level <= LEVEL_END);
	enum status status = ARRAY_RESERVE(&self->waiting, self->waiting.count + 1u);
	if (status == STATUS_OK)
		self->waiting.items[self->waiting.count++] = *piece;
	if (status == STATUS_OK)
		*piece = NULL;
	return status;
}

/* The piece is convex enough: it becomes a part, or is halved when its hull is too large. */
static enum status give_or_halve(struct decompose *self, struct decompose_piece *piece,
				 const struct piece_hull *hull, bool large, double concavity,
				 struct reason *why)
{
	ASSERT(concavity >= 0);
	if (!large && hull->vertex_count <= self->options.vertices_max)
		return give_piece(self, piece, hull, concavity, why);
	if (!try_halves(self, piece))
		return give_up(self, piece, hull, why);
	self->report.halvings++;
	return apply_cut(self, why);
}

static enum status cut_or_lower(struct decompose *self, struct decompose_piece **piece,
				const struct piece_hull *hull, struct reason *why)
{
	ASSERT((*piece)->level <= LEVEL_END);
	enum status status = sort_notches(self, *piece, hull);
	if (status != STATUS_OK)
		return status;
	if (try_notches(self, *piece)) {
		self->report.cuts++;
		return apply_cut(self, why);
	}
	if ((*piece)->level == LEVEL_END)
		return give_up(self, *piece, hull, why);
	(*piece)->level++;
	if ((*piece)->level > LEVEL_LAST && try_halves(self, *piece)) {
		self->report.halvings++;
		return apply_cut(self, why);
	}
	self->report.relaxed++;
	return return_to_stack(self, piece);
}

static enum status classify_piece(struct decompose *self, struct decompose_piece **piece,
				  struct piece_hull *hull, struct reason *why)
{
	/* Needle triangles have edges that look like notches; a deviation within the slack is
	 * convex. */
	double allowed = scalar_max(self->options.concavity, self->slack);
	bool convex = self->notches.count == 0, large = false;
	if (hull->thin)
		return give_or_halve(self, *piece, hull, false, 0, why);
	/* A convex piece is measured completely; the early exit serves only to refuse. */
	double enough = convex ? SCALAR_MAX : allowed;
	double concavity = piece_concavity(*piece, hull, enough);
	if (!convex && concavity > allowed)
		return cut_or_lower(self, piece, hull, why);
	if (hull->sampled) {
		/* The sampled hull passes: measure again with all points. */
		piece_hull_release(hull);
		enum status status =
			piece_hull_init(hull, (*piece)->points, (*piece)->point_count, true);
		large = status == STATUS_TOO_LARGE;
		if (status != STATUS_OK && !large)
			return status;
		if (!large && !hull->thin)
			concavity = piece_concavity(*piece, hull, enough);
		if (!large && !convex && concavity > allowed)
			return cut_or_lower(self, piece, hull, why);
	}
	/* No notch and yet concave: needle triangles hide the notch. */
	if (convex && !large && concavity > scalar_max(allowed, HIDDEN_FACTOR * self->slack))
		return give_up(self, *piece, hull, why);
	return give_or_halve(self, *piece, hull, large, concavity, why);
}

static enum status step_piece(struct decompose *self, struct reason *why)
{
	ASSERT(self->waiting.count > 0);
	ASSERT(self->boxes.count == 0);
	struct decompose_piece *piece = self->waiting.items[--self->waiting.count];
	struct piece_hull hull = { 0 };
	enum status status = cutter_reserve(&self->cutter, piece) ? STATUS_OK : STATUS_NO_MEMORY;
	if (status == STATUS_OK)
		status = find_notches(self, piece);
	if (status == STATUS_OK)
		status = piece_hull_init(&hull, piece->points, piece->point_count, false);
	if (status == STATUS_OK)
		status = classify_piece(self, &piece, &hull, why);
	piece_hull_release(&hull);
	piece_destroy(piece);
	return status;
}

/* ---- the decomposition ------------------------------------------------------------------------ */

static enum status check_options(const struct mesh *mesh, const struct decompose_options *options,
				 struct reason *why)
{
	if (!mesh->closed)
		return reason_set(why, STATUS_DEGENERATE, -1, "triangles",
				  "the mesh is open (%u loose edges): it bounds no solid",
				  mesh->loose_edges);
	bool good = options->concavity >= 0 && options->angle_min >= 0 &&
		    options->angle_min <= HALF_PI && options->distance_min >= 0 &&
		    options->distance_min <= 1 && options->candidates >= 1 &&
		    options->candidates <= CANDIDATES_MAX && options->vertices_max >= 8 &&
		    options->vertices_max <= SHAPE_HULL_VERTICES_MAX && options->parts_max >= 1 &&
		    options->mode <= DECOMPOSE_APPROXIMATE_ONLY;
	if (!good || !scalar_is_finite(options->concavity))
		return reason_set(
			why, STATUS_RANGE, -1, "options",
			"an option is out of range (concavity %g m, angle_min %g rad, distance_min %g, "
			"candidates %u, vertices_max %u, parts_max %u)",
			options->concavity, options->angle_min, options->distance_min,
			options->candidates, options->vertices_max, options->parts_max);
	return STATUS_OK;
}

static uint32_t vertex_at(const struct mesh *mesh, vec3 place)
{
	ASSERT(mesh->vertex_count > 0);
	uint32_t i = 0;
	while (i + 1 < mesh->vertex_count && !vec3_equal(mesh->vertices[i], place))
		i++;
	return i;
}

/* F-01: checks what cutting does not cover: pinched vertices (refused) and cavities (approximated). */
static enum status sort_solids(struct decompose *self, struct reason *why)
{
	ASSERT(self->waiting.count > 0);
	bool pinched, hollow = false;
	vec3 place;
	self->report.solids = self->waiting.count;
	if (!piece_list_find_pinch(&self->waiting, &pinched, &place))
		return STATUS_NO_MEMORY;
	if (pinched)
		return reason_set(why, STATUS_DEGENERATE, vertex_at(self->mesh, place), "vertices",
				  "surfaces that share no edge meet at vertex %u",
				  vertex_at(self->mesh, place));
	for (uint32_t i = 0; i < self->waiting.count; i++) {
		self->report.notches += piece_count_notches(self->waiting.items[i], self->slack);
		hollow = hollow || piece_volume(self->waiting.items[i], self->middle) < 0;
	}
	if (!hollow)
		return STATUS_OK;
	if (self->options.mode == DECOMPOSE_CUT_ONLY)
		return reason_set(why, STATUS_DEGENERATE, -1, "triangles",
				  "a surface bounds a void, which mode CUT_ONLY cannot divide");
	piece_list_release(&self->waiting);
	return begin_boxes(self, self->mesh, self->report.volume);
}

static double mesh_volume(const struct mesh *mesh, vec3 origin)
{
	double six = 0;
	for (uint32_t t = 0; t < mesh->triangle_count; t++)
		six += vec3_triple(vec3_sub(mesh_corner(mesh, t, 0), origin),
				   vec3_sub(mesh_corner(mesh, t, 1), origin),
				   vec3_sub(mesh_corner(mesh, t, 2), origin));
	return six / 6;
}

static enum status begin_solid(struct decompose *self, struct reason *why)
{
	ASSERT(self->mesh->closed);
	ASSERT(self->parts.count == 0);
	struct aabb box = aabb_make(self->mesh->nodes[0].min, self->mesh->nodes[0].max);
	double extent = vec3_max_component(vec3_sub(box.max, box.min));
	self->middle = aabb_centre(box);
	self->snap = SNAP_PER_EXTENT * extent;
	self->slack = SLACK_PER_EXTENT * extent;
	self->deviation = self->options.concavity > 0 ? self->options.concavity
						      : DEVIATION_PER_EXTENT * extent;
	self->report.volume = mesh_volume(self->mesh, self->middle);
	if (!(self->report.volume > 0))
		return reason_set(
			why, STATUS_DEGENERATE, -1, "triangles",
			"the volume is %g m³: the surface is inside out or encloses nothing",
			self->report.volume);
	if (self->options.mode == DECOMPOSE_APPROXIMATE_ONLY)
		return begin_boxes(self, self->mesh, self->report.volume);
	if (!piece_list_of_mesh(self->mesh, &self->waiting))
		return STATUS_NO_MEMORY;
	return sort_solids(self, why);
}

enum status decompose_create(const struct mesh *mesh, const struct decompose_options *options,
			     struct decompose **out, struct reason *why)
{
	struct decompose_options wanted =
		options != NULL ? *options : decompose_options_default(mesh);
	enum status status = check_options(mesh, &wanted, why);
	if (status != STATUS_OK)
		return status;
	struct decompose *self = heap_alloc_zero(sizeof *self);
	if (self != NULL) {
		self->mesh = mesh;
		self->options = wanted;
		status = begin_solid(self, why);
	} else {
		status = STATUS_NO_MEMORY;
	}
	if (status == STATUS_OK) {
		*out = self;
		return status;
	}
	decompose_destroy(self);
	return status == STATUS_NO_MEMORY
		       ? reason_set(why, status, -1, "triangles", "out of memory")
		       : status;
}

void decompose_destroy(struct decompose *self)
{
	if (self == NULL)
		return;
	cutter_release(&self->cutter);
	piece_list_release(&self->waiting);
	heap_free(self->own_solid);
	ARRAY_RELEASE(&self->boxes);
	ARRAY_RELEASE(&self->parts);
	ARRAY_RELEASE(&self->points);
	ARRAY_RELEASE(&self->triangles);
	ARRAY_RELEASE(&self->notches);
	ARRAY_RELEASE(&self->keys);
	ARRAY_RELEASE(&self->order);
	heap_free(self);
}

#ifdef CAIRN_VALIDATE
/* Parts follow one another in both lists without gaps, and triangles name points of their own part. */
static bool parts_are_contiguous(const struct decompose *self)
{
	uint32_t point = 0, triangle = 0;
	for (uint32_t i = 0; i < self->parts.count; i++) {
		const struct decompose_part *part = &self->parts.items[i];
		if (part->first_point != point || part->first_triangle != triangle)
			return false;
		point += part->point_count;
		for (uint32_t end = triangle + part->triangle_count; triangle < end; triangle++)
			for (uint32_t k = 0; k < 3; k++) {
				uint32_t corner = self->triangles.items[triangle][k];
				if (corner < part->first_point || corner >= point)
					return false;
			}
	}
	return point == self->points.count && triangle == self->triangles.count;
}
#endif

/* Copies the result into one block: head, parts, points, triangles. */
static enum status copy_result(struct decompose *self, struct decomposition **out,
			       struct reason *why)
{
	ASSERT(self->boxes.count == 0 && self->waiting.count == 0);
	VALIDATE(parts_are_contiguous(self));
	struct decompose_report *report = &self->report;
	uint32_t parts = self->parts.count, points = self->points.count;
	uint32_t triangles = self->triangles.count;
	if (parts == 0)
		return reason_set(why, STATUS_DEGENERATE, -1, "triangles",
				  "every part of the solid is too thin for a hull");
	if (report->approximated > 0)
		report->volume_excess += self->volume_approximated;
	if (self->volume_cut != 0)
		report->volume_cut_error = scalar_abs(self->volume_cut - report->volume);
	struct decomposition *result =
		heap_alloc(sizeof *result + parts * sizeof *result->parts +
			   points * sizeof *result->points + triangles * sizeof *result->triangles);
	if (result == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "parts", "out of memory");
	*result = (struct decomposition){ .part_count = parts,
					  .point_count = points,
					  .triangle_count = triangles,
					  .report = *report };
	result->parts = (struct decompose_part *)(result + 1);
	result->points = (vec3 *)(result->parts + parts);
	result->triangles = (uint32_t(*)[3])(result->points + points);
	memcpy(result->parts, self->parts.items, parts * sizeof *result->parts);
	memcpy(result->points, self->points.items, points * sizeof *result->points);
	memcpy(result->triangles, self->triangles.items, triangles * sizeof *result->triangles);
	*out = result;
	return STATUS_OK;
}

enum status decompose_step(struct decompose *self, uint32_t work, struct decomposition **out,
			   struct reason *why)
{
	enum status status = STATUS_OK;
	do {
		if (self->boxes.count > 0)
			status = step_box(self, why);
		else if (self->waiting.count > 0)
			status = step_piece(self, why);
		if (status == STATUS_NO_MEMORY)
			return reason_set(why, status, -1, "parts", "out of memory");
		if (status != STATUS_OK)
			return status;
	} while (work-- > 1 && self->boxes.count + self->waiting.count > 0);
	if (self->boxes.count + self->waiting.count > 0)
		return STATUS_AGAIN;
	return copy_result(self, out, why);
}

enum status decompose_mesh(const struct mesh *mesh, const struct decompose_options *options,
			   struct decomposition **out, struct reason *why)
{
	struct decompose *self;
	enum status status = decompose_create(mesh, options, &self, why);
	if (status != STATUS_OK)
		return status;
	do
		status = decompose_step(self, UINT32_MAX, out, why);
	while (status == STATUS_AGAIN);
	decompose_destroy(self);
	return status;
}
