/* See placed.h. Rays and overlaps over lists of placed shapes.
 *
 * The nearest hits are stored in a heap with the farthest at the top. Once the heap is full, a ray is only
 * followed up to the fraction of that hit. The heap is sorted in place at the end, so n hits cost O(n log n).
 */
#include "server/engine/collision/placed.h"

#include "server/base/sort.h"
#include "server/engine/collision/query.h"
#include "server/engine/types.h"

/* ---- rays ------------------------------------------------------------------------------------- */

enum status placed_ray_way(vec3 origin, vec3 direction, double length, vec3 *way)
{
	if (!vec3_is_finite(origin) || !vec3_is_finite(direction) || !scalar_is_finite(length))
		return STATUS_NOT_FINITE;
	double size = vec3_max_component(vec3_abs(direction));
	vec3 unit = size > 0 ? vec3_normalize(vec3_scale(direction, 1.0 / size)) : vec3_zero();
	if (!(vec3_max_component(vec3_abs(origin)) <= LENGTH_MAX) || !(length > 0) ||
	    !(length <= 4 * LENGTH_MAX) || !(vec3_dot(unit, unit) > 0.5))
		return STATUS_RANGE;
	*way = vec3_scale(unit, length);
	return STATUS_OK;
}

/* A total order: a placed shape is hit once. */
static bool hit_before(const struct ray_hit *a, const struct ray_hit *b)
{
	if (a->fraction != b->fraction)
		return a->fraction < b->fraction;
	return a->body != b->body ? a->body < b->body : a->placement < b->placement;
}

static void sink(struct ray_hit *heap, uint32_t count, uint32_t at, struct ray_hit hit)
{
	for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count && hit_before(&heap[child], &heap[child + 1]))
			child++;
		if (!hit_before(&hit, &heap[child]))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = hit;
}

static void rise(struct ray_hit *heap, uint32_t at, struct ray_hit hit)
{
	for (; at > 0 && hit_before(&heap[(at - 1) / 2], &hit); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = hit;
}

uint32_t placed_ray(const struct placed_shape *placed, uint32_t count, vec3 origin, vec3 way,
		    struct ray_hit *hits, uint32_t capacity)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < count && capacity > 0; i++) {
		struct query_hit found;
		double most = kept < capacity ? 1.0 : hits[0].fraction;
		if (!shape_ray(placed[i].shape, &placed[i].at, origin, way, most, &found))
			continue;
		struct ray_hit hit = { .body = placed[i].body,
				       .placement = placed[i].placement,
				       .child = found.child,
				       .fraction = found.fraction,
				       .point = vec3_mul_add(origin, way, found.fraction),
				       .normal = found.normal };
		if (kept < capacity)
			rise(hits, kept++, hit);
		else if (hit_before(&hit, &hits[0]))
			sink(hits, kept, 0, hit);
	}
	for (uint32_t left = kept; left > 1; left--) {
		struct ray_hit last = hits[left - 1];
		hits[left - 1] = hits[0];
		sink(hits, left - 1, 0, last);
	}
	return kept;
}

/* ---- overlaps --------------------------------------------------------------------------------- */

enum status placed_overlap_at(vec3 position, quat rotation, pose *at)
{
	if (!vec3_is_finite(position) || !quat_is_finite(rotation))
		return STATUS_NOT_FINITE;
	double length = scalar_max(scalar_max(scalar_abs(rotation.w), scalar_abs(rotation.x)),
				   scalar_max(scalar_abs(rotation.y), scalar_abs(rotation.z)));
	if (!(vec3_max_component(vec3_abs(position)) <= LENGTH_MAX) || !(length <= 2) ||
	    !(length >= 0.25))
		return STATUS_RANGE;
	*at = pose_make(position, quat_normalize(rotation));
	return STATUS_OK;
}

uint32_t placed_overlap(const struct placed_shape *placed, uint32_t count,
			const struct shape *shape, pose at, uint32_t *bodies, uint32_t capacity)
{
	uint32_t found = 0;
	/* The list is sorted by body, so the first ids are the lowest and a body's shapes are adjacent. */
	for (uint32_t i = 0; i < count && found < capacity; i++) {
		pose other = pose_relative(placed[i].at, at);
		if (found > 0 && bodies[found - 1] == placed[i].body)
			continue;
		if (shape_overlap(placed[i].shape, shape, &other))
			bodies[found++] = placed[i].body;
	}
	return found;
}
