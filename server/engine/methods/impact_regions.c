/* impact_regions.c: penetration regions as a way in (ch4-5 C5, C3; ch1-3 A-18, G-29): solids
 * that are not convex and begin a tick deep in each other.
 *
 * Convex parts and the sides of a distance field each know the way out of one piece. Of pieces
 * that are deep in each other these ways disagree: a part in the middle of a floor of parts is
 * pushed along the floor, and two arms of a cross against each other. Where any pair of pieces
 * of two placements is deeper than IMPACT_REGION as a tick begins, and one of them is no convex
 * shape, the overlap of the whole meshes is found instead (collision/regions.h). Each region of
 * it is one contact: its normal is the way out of the region, its point the region's centre of
 * mass, its separation is −depth. (The book takes the two deepest vertices for points. Of two
 * faces that are nearly parallel these jump from corner to corner, and pushes there turn the
 * body to and fro instead of moving it.) So impulses stop the approach along that way, and the
 * push of the tick's end follows it.
 *
 * A contact has to be that of a pair of pieces, because the table has no other. The intersection
 * of two convex parts is connected and lies in one region, and every region holds one at least;
 * a region therefore takes the pair that overlaps nearest to its point and that no other region
 * took. The sides of a field are directions: one may meet several regions, which are then points
 * of its contact. Other pairs that overlap have no points as long as they do, and no pair of the
 * placements has an event for the rest of the tick.
 *
 * What goes wrong: meshes whose borders cross too often have no regions (LIMIT), and shapes
 * without faces have none. Their pieces then keep their own contacts; `regions_left` counts it.
 */
#include "server/base/sort.h"
#include "server/engine/collision/placed.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/geometry/solid.h"
#include "server/engine/methods/impact.h"

#include <string.h>

/* m. Less deep pieces come out by their own contacts. Larger: solids a little too deep take
 * longer ways; smaller: solids at rest, whose regions are thin, stand on one point each. */
#define IMPACT_REGION 1e-2

enum { REGIONS_MAX = 32 };

/* 1. Cosine of ways out that one contact may stand for. */
#define SAME_WAY 0.999

/* Names of the points of regions, which no pair of features has. */
#define REGION_FEATURE 0xffffff00u

#define ALLOCATE(type, count) ARENA_ARRAY(&self->step->dynamics->scratch, type, count)

/* The contacts of two placements: indices of the list, ascending. */
struct region_run {
	struct contact_list *list;
	const uint32_t *items;
	uint32_t count;
	const struct body_motion *motions; /* by slot */
};

static bool is_whole(const struct shape *shape)
{
	return shape->kind == SHAPE_SOLID && shape->solid->mesh != NULL;
}

static bool may_have_regions(const struct impact_step *self, const struct contact_state *contact)
{
	const struct dynamics *dynamics = self->step->dynamics;
	return is_whole(placement_shape(dynamics, contact->a.placement)) ||
	       is_whole(placement_shape(dynamics, contact->b.placement));
}

/* The least separation of a contact's points; infinite: it has none. */
static double least_gap(const struct contact_state *contact)
{
	double least = __builtin_inf();
	ASSERT(contact->point_count <= MANIFOLD_POINTS_MAX);
	for (uint32_t k = 0; k < contact->point_count; k++)
		least = scalar_min(least, contact->points[k].separation);
	return least;
}

/* By placements, then by place in the list. */
static int compare_runs(const void *a, const void *b, void *context)
{
	const struct contact_list *list = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct contact_state *of_x = &list->items[x], *of_y = &list->items[y];
	VALIDATE(x < list->count && y < list->count);
	if (of_x->a.placement != of_y->a.placement)
		return of_x->a.placement < of_y->a.placement ? -1 : 1;
	if (of_x->b.placement != of_y->b.placement)
		return of_x->b.placement < of_y->b.placement ? -1 : 1;
	return x < y ? -1 : x > y;
}

static struct body_motion motion_of(const struct impact_step *self, const struct region_run *run,
				    uint32_t body)
{
	uint32_t slot = impact_slot(self, body);
	return slot == ROW_NO_BODY ? dynamics_motion(self->step->dynamics, body)
				   : run->motions[slot];
}

static struct placed_shape place_piece(const struct impact_step *self, struct contact_piece piece,
				       uint32_t body, const struct body_motion *at)
{
	const struct tables *tables = self->step->dynamics->tables;
	vec3 arm = quat_rotate(at->rotation, tables->body.centre[body]);
	pose whole = pose_make(vec3_sub(at->centre, arm), at->rotation);
	ASSERT(body < tables->body.count);
	return (struct placed_shape){
		.shape = placement_shape(self->step->dynamics, piece.placement),
		.at = pose_mul(whole, placement_pose(tables, piece.placement)),
		.body = body,
		.placement = piece.placement,
	};
}

/* The pair of the run that overlaps nearest to a point and is not taken; UINT32_MAX: none. */
static uint32_t nearest_pair(const struct region_run *run, const bool *taken, vec3 centre_a,
			     vec3 point)
{
	uint32_t best = UINT32_MAX;
	double nearest = __builtin_inf();
	ASSERT(run->count > 0);
	for (uint32_t i = 0; i < run->count; i++) {
		const struct contact_state *contact = &run->list->items[run->items[i]];
		if (taken[i] || !(least_gap(contact) < 0))
			continue;
		for (uint32_t k = 0; k < contact->point_count; k++) {
			vec3 there = vec3_add(centre_a, contact->points[k].arm_a);
			double distance = vec3_distance(there, point);
			if (distance < nearest) {
				nearest = distance;
				best = i;
			}
		}
	}
	return best;
}

/* A pair's contact becomes that of a region, or gets a point for another one with the same way
 * out. */
static void take_region(const struct impact_step *self, const struct region_run *run, uint32_t item,
			const struct overlap_region *region, bool first)
{
	struct contact_state *contact = &run->list->items[item];
	vec3 a = motion_of(self, run, contact->body_a).centre;
	vec3 b = motion_of(self, run, contact->body_b).centre;
	if (first) {
		contact->normal = region->normal;
		contact->point_count = 0;
		memset(run->list->made[item].multiplier, 0,
		       sizeof run->list->made[item].multiplier);
	}
	ASSERT(region->depth > 0 && contact->point_count < MANIFOLD_POINTS_MAX);
	contact->points[contact->point_count] = (struct contact_point){
		.arm_a = vec3_sub(region->centre, a),
		.arm_b = vec3_sub(region->centre, b),
		.separation = -region->depth,
		.feature = REGION_FEATURE + contact->point_count,
	};
	contact->point_count++;
}

/* The pair among those that regions have (`pair`, `count` of them) that has nearly the same way
 * out and room for another point; UINT32_MAX: none. */
static uint32_t pair_with_room(const struct region_run *run, const struct overlap_region *regions,
			       const uint32_t *pair, uint32_t count)
{
	uint32_t best = UINT32_MAX;
	double nearest = SAME_WAY;
	ASSERT(count < REGIONS_MAX);
	for (uint32_t r = 0; r < count; r++) {
		double along = vec3_dot(regions[r].normal, regions[count].normal);
		if (pair[r] == UINT32_MAX || !(along > nearest) ||
		    run->list->items[run->items[pair[r]]].point_count == MANIFOLD_POINTS_MAX)
			continue;
		nearest = along;
		best = pair[r];
	}
	return best;
}

/* Gives the regions of a run to its pairs; *taken: how many. */
static enum status take_regions(struct impact_step *self, const struct region_run *run,
				const struct overlap_region *regions, uint32_t count,
				uint32_t *taken)
{
	bool *used = arena_push_zero(&self->step->dynamics->scratch, run->count * sizeof *used);
	bool *first = ALLOCATE(bool, count);
	uint32_t *pair = ALLOCATE(uint32_t, count);
	ASSERT(count > 0 && count <= REGIONS_MAX);
	if (used == NULL || pair == NULL || first == NULL)
		return STATUS_NO_MEMORY;
	vec3 centre_a = motion_of(self, run, run->list->items[run->items[0]].body_a).centre;
	*taken = 0;
	for (uint32_t r = 0; r < count; r++) {
		pair[r] = regions[r].depth > VELOCITY_DEPTH
				  ? nearest_pair(run, used, centre_a, regions[r].centre)
				  : UINT32_MAX;
		first[r] = pair[r] != UINT32_MAX;
		if (first[r])
			used[pair[r]] = true;
		*taken += first[r];
	}
	if (*taken == 0)
		return STATUS_OK;
	for (uint32_t i = 0; i < run->count; i++)
		if (!used[i] && least_gap(&run->list->items[run->items[i]]) < -VELOCITY_DEPTH)
			run->list->items[run->items[i]].point_count = 0;
	for (uint32_t r = 0; r < count; r++)
		if (first[r])
			take_region(self, run, run->items[pair[r]], &regions[r], true);
	for (uint32_t r = 0; r < count; r++) {
		if (first[r] || !(regions[r].depth > VELOCITY_DEPTH))
			continue;
		uint32_t room = pair_with_room(run, regions, pair, r);
		if (room != UINT32_MAX) {
			take_region(self, run, run->items[room], &regions[r], false);
			++*taken;
		}
	}
	return STATUS_OK;
}

/* The regions of the placements of a run instead of its contacts. *taken: of how many. */
static enum status solve_run(struct impact_step *self, const struct region_run *run,
			     uint32_t *taken)
{
	const struct contact_state *first = &run->list->items[run->items[0]];
	struct body_motion at_a = motion_of(self, run, first->body_a);
	struct body_motion at_b = motion_of(self, run, first->body_b);
	struct placed_shape a = place_piece(self, first->a, first->body_a, &at_a);
	struct placed_shape b = place_piece(self, first->b, first->body_b, &at_b);
	struct overlap_region regions[REGIONS_MAX];
	uint32_t found = 0;
	*taken = 0;
	enum status status = placed_regions(&a, 1, &b, 1, regions, REGIONS_MAX, &found);
	if (status == STATUS_NO_MEMORY)
		return status;
	if (status != STATUS_OK || found == 0)
		return STATUS_OK;
	return take_regions(self, run, regions, MIN_OF(found, REGIONS_MAX + 0u), taken);
}

/* Whether a run has regions: as a tick begins, by its depth; later, because it had. */
static bool is_deep(const struct impact_step *self, const struct region_run *run,
		    const uint32_t *pairs, bool begins)
{
	bool deep = false;
	ASSERT(run->count > 0 && run->items[0] < run->list->count);
	for (uint32_t i = 0; i < run->count; i++)
		deep |= begins ? least_gap(&run->list->items[run->items[i]]) < -IMPACT_REGION
			       : self->pairs[pairs[run->items[i]]].deep;
	return deep;
}

static enum status treat_run(struct impact_step *self, const struct region_run *run,
			     const uint32_t *pairs, bool begins)
{
	uint32_t taken;
	enum status status = solve_run(self, run, &taken);
	if (status != STATUS_OK || !begins)
		return status;
	self->counts.met_regions += taken;
	self->counts.regions_left += taken == 0;
	for (uint32_t i = 0; i < run->count; i++)
		self->pairs[pairs[run->items[i]]].deep = taken > 0;
	return STATUS_OK;
}

enum status impact_regions_apply(struct impact_step *self, struct contact_list *list,
				 const uint32_t *pairs, const struct body_motion *motions,
				 bool begins)
{
	uint32_t count = 0, *items = ALLOCATE(uint32_t, list->count);
	uint32_t *merged = ALLOCATE(uint32_t, list->count);
	if (items == NULL || merged == NULL)
		return STATUS_NO_MEMORY;
	bool any = false;
	for (uint32_t i = 0; i < list->count; i++) {
		if (!may_have_regions(self, &list->items[i]))
			continue;
		items[count++] = i;
		any |= begins ? least_gap(&list->items[i]) < -IMPACT_REGION
			      : self->pairs[pairs[i]].deep;
	}
	if (!any)
		return STATUS_OK;
	sort_items(items, merged, count, sizeof *items, compare_runs, list);
	enum status status = STATUS_OK;
	for (uint32_t first = 0, end; first < count && status == STATUS_OK; first = end) {
		const struct contact_state *of = &list->items[items[first]];
		end = first + 1;
		while (end < count && list->items[items[end]].a.placement == of->a.placement &&
		       list->items[items[end]].b.placement == of->b.placement)
			end++;
		struct region_run run = { list, &items[first], end - first, motions };
		if (is_deep(self, &run, pairs, begins))
			status = treat_run(self, &run, pairs, begins);
	}
	return status;
}
