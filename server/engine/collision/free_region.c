/* free_region.c: papers P-04 and P-09: successive nearest points of the border, with clipping.
 *
 * Each round: q is the point of the remaining border nearest to p, and w = (p − q)/|p − q|. The half-space
 * (x − q)·w ≥ r is added to the result, and the part of the border with (y − q)·w ≤ 0 is removed (P-09 prints
 * "≥ 0 remains", which never removes q itself). Pieces are cut along that plane and stay convex. The rounds
 * end when no border remains.
 *
 * Invariants: the piece that contains q is removed as a whole, because (y − q)·w ≤ 0 for all points y of a
 * convex piece whose nearest point is q. So there are at most as many rounds as pieces. Every point of the
 * border was removed by some half-space, hence it is not in the interior of their intersection.
 * What goes wrong: if p lies on the border, w is undefined, and the normal of the free side replaces it. If p
 * is behind the nearest piece, w is that normal too. Rounding would leave slivers of pieces beyond the
 * plane; points within SLIVER times the border's size of the plane count as removed, which can move the
 * border by that much.
 */
#include "server/engine/collision/free_region.h"

#include "server/base/array.h"
#include "server/engine/geometry/closest.h"

#define SLIVER 0x1p-44 /* of the greatest coordinate */

struct rest {
	uint32_t first, count; /* corners */
	uint32_t face;
};

struct free_work {
	ARRAY_OF(vec3) corners[2]; /* before and after a cut */
	ARRAY_OF(struct rest) rests;
	ARRAY_OF(struct free_plane) planes;
};

void free_region_init(struct free_region *self)
{
	*self = (struct free_region){ 0 };
}

void free_region_release(struct free_region *self)
{
	struct free_work *work = self->work;
	if (work != NULL) {
		ARRAY_RELEASE(&work->corners[0]);
		ARRAY_RELEASE(&work->corners[1]);
		ARRAY_RELEASE(&work->rests);
		ARRAY_RELEASE(&work->planes);
		heap_free(work);
	}
	heap_free(self->corners);
	heap_free(self->faces);
	free_region_init(self);
}

void free_region_reset(struct free_region *self)
{
	self->corner_count = self->face_count = 0;
}

/* ---- the border ------------------------------------------------------------------------------- */

enum status free_region_add_polygon(struct free_region *self, const vec3 *corners, uint32_t count)
{
	ASSERT(count >= 3);
	enum status status = array_reserve(&self->corners, &self->corner_room,
					   (uint64_t)self->corner_count + count, sizeof(vec3));
	if (status == STATUS_OK)
		status = array_reserve(&self->faces, &self->face_room,
				       (uint64_t)self->face_count + 1, sizeof *self->faces);
	if (status != STATUS_OK)
		return status;
	vec3 sum = vec3_zero();
	for (uint32_t i = 0; i < count; i++) {
		vec3 p = vec3_sub(corners[i], corners[0]);
		sum = vec3_add(sum, vec3_cross(p, vec3_sub(corners[(i + 1) % count], corners[0])));
		self->corners[self->corner_count + i] = corners[i];
	}
	self->faces[self->face_count++] =
		(struct free_face){ self->corner_count, count, vec3_normalize(sum) };
	self->corner_count += count;
	return STATUS_OK;
}

enum status free_region_add_hull(struct free_region *self, const struct hull *hull, const pose *at)
{
	enum status status = STATUS_OK;
	ARRAY_OF(vec3) loop = { 0 };
	for (uint32_t f = 0; f < hull->face_count && status == STATUS_OK; f++) {
		uint32_t h = hull->faces[f].edge;
		status = ARRAY_RESERVE(&loop, hull->faces[f].edge_count);
		if (status != STATUS_OK)
			break;
		for (uint32_t k = 0; k < hull->faces[f].edge_count; k++, h = hull->edges[h].next)
			loop.items[k] = pose_point(*at, hull->vertices[hull->edges[h].origin]);
		status = free_region_add_polygon(self, loop.items, hull->faces[f].edge_count);
	}
	ARRAY_RELEASE(&loop);
	return status;
}

enum status free_region_add_mesh(struct free_region *self, const struct mesh *mesh, const pose *at,
				 bool inside)
{
	enum status status = STATUS_OK;
	for (uint32_t t = 0; t < mesh->triangle_count && status == STATUS_OK; t++) {
		vec3 corner[3];
		for (uint32_t k = 0; k < 3; k++)
			corner[k] = pose_point(*at, mesh_corner(mesh, t, inside ? 2 - k : k));
		status = free_region_add_polygon(self, corner, 3);
	}
	return status;
}

/* ---- nearest ---------------------------------------------------------------------------------- */

/* Squared distance of p from a convex polygon, m², and its nearest point, by the triangles of its fan. */
static double nearest_on_rest(const vec3 *corner, uint32_t count, vec3 p, vec3 *out)
{
	ASSERT(count >= 3);
	double best = SCALAR_MAX;
	for (uint32_t k = 2; k < count; k++) {
		struct triangle_point near =
			closest_point_triangle(p, corner[0], corner[k - 1], corner[k]);
		if (near.distance_squared < best) {
			best = near.distance_squared;
			*out = near.point;
		}
	}
	return best;
}

/* The piece nearest to p and its nearest point; of equally near pieces the first. */
static uint32_t nearest_rest(const struct free_work *work, vec3 p, vec3 *out)
{
	ASSERT(work->rests.count > 0);
	uint32_t best = 0;
	double least = SCALAR_MAX;
	for (uint32_t i = 0; i < work->rests.count; i++) {
		const struct rest *rest = &work->rests.items[i];
		vec3 q = p;
		double square =
			nearest_on_rest(&work->corners[0].items[rest->first], rest->count, p, &q);
		if (square < least) {
			least = square;
			best = i;
			*out = q;
		}
	}
	return best;
}

/* ---- clipping --------------------------------------------------------------------------------- */

/* Writes the part of the polygon beyond the plane by more than `sliver`, m; returns its corners' number. */
static uint32_t cut(const vec3 *corner, uint32_t count, vec3 q, vec3 w, double sliver, vec3 *out)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < count; i++) {
		vec3 a = corner[i], b = corner[(i + 1) % count];
		double here = vec3_dot(vec3_sub(a, q), w), there = vec3_dot(vec3_sub(b, q), w);
		if (here > sliver)
			out[kept++] = a;
		if ((here > sliver) != (there > sliver))
			out[kept++] = vec3_lerp(a, b, (sliver - here) / (there - here));
	}
	return kept;
}

/* Cuts all pieces along the plane. `gone`: the piece that is removed as a whole, despite rounding. */
static enum status cut_all(struct free_work *work, uint32_t gone, vec3 q, vec3 w, double sliver)
{
	uint32_t kept = 0;
	ASSERT(gone < work->rests.count);
	enum status status = ARRAY_RESERVE(&work->corners[1], (uint64_t)work->corners[0].count +
								      2 * work->rests.count);
	if (status != STATUS_OK)
		return status;
	work->corners[1].count = 0;
	for (uint32_t i = 0; i < work->rests.count; i++) {
		struct rest rest = work->rests.items[i];
		vec3 *to = &work->corners[1].items[work->corners[1].count];
		uint32_t count = i == gone ? 0
					   : cut(&work->corners[0].items[rest.first], rest.count, q,
						 w, sliver, to);
		if (count < 3)
			continue;
		work->rests.items[kept++] =
			(struct rest){ work->corners[1].count, count, rest.face };
		work->corners[1].count += count;
	}
	ASSERT(kept < work->rests.count); /* Hence the rounds end. */
	work->rests.count = kept;
	vec3 *items = work->corners[0].items;
	uint32_t capacity = work->corners[0].capacity;
	work->corners[0].items = work->corners[1].items;
	work->corners[0].count = work->corners[1].count;
	work->corners[0].capacity = work->corners[1].capacity;
	work->corners[1].items = items;
	work->corners[1].capacity = capacity;
	return STATUS_OK;
}

/* ---- the whole -------------------------------------------------------------------------------- */

static enum status copy_border(struct free_region *self)
{
	if (self->work == NULL) {
		self->work = heap_alloc_zero(sizeof *self->work);
		if (self->work == NULL)
			return STATUS_NO_MEMORY;
	}
	struct free_work *work = self->work;
	enum status status = ARRAY_RESERVE(&work->corners[0], self->corner_count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->rests, self->face_count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->planes, self->face_count);
	if (status != STATUS_OK)
		return status;
	work->planes.count = 0;
	work->corners[0].count = self->corner_count;
	work->rests.count = self->face_count;
	for (uint32_t i = 0; i < self->corner_count; i++)
		work->corners[0].items[i] = self->corners[i];
	for (uint32_t f = 0; f < self->face_count; f++)
		work->rests.items[f] =
			(struct rest){ self->faces[f].first, self->faces[f].count, f };
	return STATUS_OK;
}

static double sliver_of(const struct free_region *self, vec3 p)
{
	double most = vec3_max_component(vec3_abs(p));
	for (uint32_t i = 0; i < self->corner_count; i++)
		most = scalar_max(most, vec3_max_component(vec3_abs(self->corners[i])));
	return SLIVER * most;
}

enum status free_region_find(struct free_region *self, vec3 p, double r,
			     const struct free_plane **out, uint32_t *count, bool *keeps)
{
	enum status status = copy_border(self);
	double sliver = sliver_of(self, p);
	*keeps = true;
	*count = 0;
	struct free_work *work = self->work;
	while (status == STATUS_OK && work->rests.count > 0) {
		vec3 q = vec3_zero();
		uint32_t i = nearest_rest(work, p, &q), face = work->rests.items[i].face;
		double distance;
		vec3 w = vec3_normalize_length(vec3_sub(p, q), &distance);
		vec3 side = self->faces[face].normal;
		/* Behind means opposite to the piece's own normal, not beside one of its edges. */
		bool behind = vec3_dot(w, side) < -1 + 1e-9;
		if (distance <= sliver || behind)
			w = side;
		*keeps = *keeps && !behind && distance >= r - sliver;
		ASSERT(work->planes.count < self->face_count);
		work->planes.items[work->planes.count++] =
			(struct free_plane){ w, vec3_dot(w, q) + r, q, face };
		status = cut_all(work, i, q, w, sliver);
	}
	if (status != STATUS_OK)
		return status;
	*out = work->planes.items;
	*count = work->planes.count;
	return STATUS_OK;
}
