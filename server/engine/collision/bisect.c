/* bisect.c: bisection of the time of collision (ch1-3 A-18).
 *
 * Invariant: the meshes are clear at `low` and overlap at `time_overlap`; the result's poses are those at
 * `time_overlap`. Each round computes both poses at the middle of the bracket, along the motion, and
 * keeps the half that satisfies the invariant. The search ends when the depth of all regions, the
 * length of the bracket or the number of rounds reaches its limit, whichever comes first. The time of the
 * collision is the clear end of the bracket.
 */
#include "server/engine/collision/bisect.h"

struct bisection {
	struct regions *regions;
	const struct mesh *a, *b;
	const struct motion *motion_a, *motion_b;
	struct bisect_result *out;
};

/* Finds the regions at t. If the meshes overlap, *out gets the time and the poses. */
static enum status find_overlap(struct bisection *bisection, double t, bool *overlap)
{
	struct bisect_result *out = bisection->out;
	struct regions_options options = regions_options_default();
	pose at_a = motion_at(bisection->motion_a, t), at_b = motion_at(bisection->motion_b, t);
	pose b_in_a = pose_relative(at_a, at_b);
	enum status status =
		regions_find(bisection->regions, bisection->a, bisection->b, &b_in_a, &options);
	if (status != STATUS_OK)
		return status;
	out->iterations++;
	/* Regions are sorted by descending depth. */
	*overlap = bisection->regions->region_count > 0 && bisection->regions->regions[0].depth > 0;
	if (!*overlap)
		return STATUS_OK;
	out->time_overlap = t;
	out->at_a = at_a;
	out->at_b = at_b;
	return STATUS_OK;
}

/* True when a limit is reached; sets the reason. `regions_known`: the regions are those at time_overlap. */
static bool reached_limit(const struct bisect_options *options, double low, bool regions_known,
			  const struct bisection *bisection)
{
	struct bisect_result *out = bisection->out;
	ASSERT(low < out->time_overlap);
	ASSERT(!regions_known || bisection->regions->region_count > 0);
	double middle = low + 0.5 * (out->time_overlap - low);
	bool halves = middle > low && middle < out->time_overlap;
	if (regions_known && bisection->regions->regions[0].depth < options->depth)
		out->reason = BISECT_BY_DEPTH;
	else if (out->time_overlap - low < options->interval || !halves)
		out->reason = BISECT_BY_INTERVAL;
	else if (out->iterations >= options->iterations_max)
		out->reason = BISECT_BY_ITERATIONS;
	else
		return false;
	return true;
}

static enum status halve_bracket(struct bisection *bisection, const struct bisect_options *options)
{
	struct bisect_result *out = bisection->out;
	double low = bisection->motion_a->t0;
	bool known = true, overlap;
	while (!reached_limit(options, low, known, bisection)) {
		double middle = low + 0.5 * (out->time_overlap - low);
		enum status status = find_overlap(bisection, middle, &overlap);
		if (status != STATUS_OK)
			return status;
		known = overlap;
		if (!overlap)
			low = middle;
	}
	out->time = low;
	/* If the last tested pose was clear, the regions at time_overlap are computed again. */
	return known ? STATUS_OK : find_overlap(bisection, out->time_overlap, &overlap);
}

enum status bisect_meshes(struct regions *regions, const struct mesh *a,
			  const struct motion *motion_a, const struct mesh *b,
			  const struct motion *motion_b, const struct bisect_options *options,
			  struct bisect_result *out)
{
	struct bisection bisection = { regions, a, b, motion_a, motion_b, out };
	ASSERT(motion_a->t0 == motion_b->t0 && motion_a->t1 == motion_b->t1);
	ASSERT(options->iterations_max > 0);
	ASSERT(options->depth >= 0 && options->interval >= 0);
	*out = (struct bisect_result){ .outcome = BISECT_OVERLAP, .time = motion_a->t0 };
	bool overlap;
	enum status status = find_overlap(&bisection, motion_a->t0, &overlap);
	if (status != STATUS_OK || overlap)
		return status;
	status = find_overlap(&bisection, motion_a->t1, &overlap);
	if (status != STATUS_OK)
		return status;
	if (!overlap) {
		out->outcome = BISECT_CLEAR;
		out->time = motion_a->t1;
		regions->region_count = regions->contour_count = regions->point_count = 0;
		return STATUS_OK;
	}
	out->outcome = BISECT_HIT;
	return halve_bracket(&bisection, options);
}
