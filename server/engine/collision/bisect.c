/* bisect.c: ch1-3 A-18.
 *
 * Invariant: clear at `low`, overlapping at `high`, and the regions are those at `high`. Each round
 * poses both bodies in the middle, turned as the motion turns them, and takes the half that keeps the
 * invariant; only an overlap brings new regions. It ends with the depth of all regions, the length of
 * the bracket or the number of rounds, whichever is first. The time of the collision is the clear end.
 */
#include "server/engine/collision/bisect.h"

struct search {
	struct regions *regions;
	const struct mesh *a, *b;
	const struct motion *motion_a, *motion_b;
	struct bisect_result *out;
};

/* Whether they overlap at t; if so, pose and regions are kept. */
static enum status look(struct search *search, double t, bool *overlap)
{
	struct bisect_result *out = search->out;
	struct regions_options options = regions_options_default();
	pose at_a = motion_at(search->motion_a, t), at_b = motion_at(search->motion_b, t);
	pose b_in_a = pose_relative(at_a, at_b);
	enum status status = regions_find(search->regions, search->a, search->b, &b_in_a, &options);
	if (status != STATUS_OK)
		return status;
	out->iterations++;
	/* The deepest comes first. */
	*overlap = search->regions->region_count > 0 && search->regions->regions[0].depth > 0;
	if (!*overlap)
		return STATUS_OK;
	out->time_overlap = t;
	out->at_a = at_a;
	out->at_b = at_b;
	return STATUS_OK;
}

/* Whether the bracket is small enough; says why. The regions are those of its end. */
static bool is_done(const struct bisect_options *options, double low, bool regions_known,
		    const struct search *search)
{
	struct bisect_result *out = search->out;
	double middle = low + 0.5 * (out->time_overlap - low);
	bool halves = middle > low && middle < out->time_overlap;
	if (regions_known && search->regions->regions[0].depth < options->depth)
		out->reason = BISECT_BY_DEPTH;
	else if (out->time_overlap - low < options->interval || !halves)
		out->reason = BISECT_BY_INTERVAL;
	else if (out->iterations >= options->iterations_max)
		out->reason = BISECT_BY_ITERATIONS;
	else
		return false;
	return true;
}

static enum status halve(struct search *search, const struct bisect_options *options)
{
	struct bisect_result *out = search->out;
	double low = search->motion_a->t0;
	bool known = true, overlap;
	while (!is_done(options, low, known, search)) {
		double middle = low + 0.5 * (out->time_overlap - low);
		enum status status = look(search, middle, &overlap);
		if (status != STATUS_OK)
			return status;
		known = overlap;
		if (!overlap)
			low = middle;
	}
	out->time = low;
	/* The last look may have been at a clear pose: regions once more for the end of the bracket. */
	return known ? STATUS_OK : look(search, out->time_overlap, &overlap);
}

enum status bisect_meshes(struct regions *regions, const struct mesh *a,
			  const struct motion *motion_a, const struct mesh *b,
			  const struct motion *motion_b, const struct bisect_options *options,
			  struct bisect_result *out)
{
	struct search search = { regions, a, b, motion_a, motion_b, out };
	ASSERT(motion_a->t0 == motion_b->t0 && motion_a->t1 == motion_b->t1);
	ASSERT(options->iterations_max > 0 && options->depth >= 0 && options->interval >= 0);
	*out = (struct bisect_result){ .outcome = BISECT_OVERLAP, .time = motion_a->t0 };
	bool overlap;
	enum status status = look(&search, motion_a->t0, &overlap);
	if (status != STATUS_OK || overlap)
		return status;
	status = look(&search, motion_a->t1, &overlap);
	if (status != STATUS_OK)
		return status;
	if (!overlap) {
		out->outcome = BISECT_CLEAR;
		out->time = motion_a->t1;
		regions->region_count = regions->contour_count = regions->point_count = 0;
		return STATUS_OK;
	}
	out->outcome = BISECT_HIT;
	return halve(&search, options);
}
