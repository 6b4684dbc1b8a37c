/* decompose_cap.c: the triangulation of a cut face, by ear clipping.
 *
 * A simple polygon of n corners has an ear (a corner whose triangle contains no other corner) and
 * stays simple without it; n − 2 ears are its triangles. The best shaped ear (by height over
 * longest side) is clipped first, so that needles come last and mostly do not arise: faces start
 * with long rows of corners that would lie on one line but for rounding. Turns are signs of exact
 * determinants of the corners projected along the normal's largest axis, so no two of them
 * contradict each other.
 *
 * What goes wrong: rounding made the polygon touch itself and no ear is left: the plane is refused.
 */
#include "server/engine/geometry/decompose_cut.h"

static vec3 node_at(const struct cutter *self, uint32_t i)
{
	return self->nodes[i].at;
}

static bool turns_left(const struct cutter *self, uint32_t i)
{
	return cut_turn(self, node_at(self, self->before[i]), node_at(self, i),
			node_at(self, self->after[i])) > 0;
}

/* Only corners that do not turn left can block an ear first, and clipping ears makes no corner less
 * convex: so only the corners that did not turn left at the start are tested. A clipped corner
 * turned left when it was clipped and still stores its neighbours of that time. */
static bool holds_corner(const struct cutter *self, uint32_t i)
{
	vec3 a = node_at(self, self->before[i]), b = node_at(self, i),
	     c = node_at(self, self->after[i]);
	struct aabb box = aabb_add_point(aabb_add_point(aabb_of_point(a), b), c);
	for (uint32_t f = 0; f < self->blunt_count; f++) {
		uint32_t j = self->blunt[f];
		vec3 p = node_at(self, j);
		/* A face may touch itself in a corner; a second corner at the same place does not
		 * block the ear. */
		if (vec3_equal(p, a) || vec3_equal(p, b) || vec3_equal(p, c))
			continue;
		if (!aabb_contains_point(box, p) || turns_left(self, j))
			continue;
		if (cut_turn(self, a, b, p) >= 0 && cut_turn(self, b, c, p) >= 0 &&
		    cut_turn(self, c, a, p) >= 0)
			return true;
	}
	return false;
}

/* Quality of the ear at i: height over longest side, at least 0; −1 when i is no ear. */
static double ear_quality(const struct cutter *self, uint32_t i)
{
	if (!turns_left(self, i) || holds_corner(self, i))
		return -1;
	vec3 a = node_at(self, self->before[i]), b = node_at(self, i),
	     c = node_at(self, self->after[i]);
	double longest =
		scalar_max(scalar_max(vec3_distance_squared(a, b), vec3_distance_squared(b, c)),
			   vec3_distance_squared(c, a));
	double area = vec3_length(vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
	return longest > 0 ? area / longest : 0;
}

/* Clips triangle u i w. `border[u]` is the half-edge across the polygon's edge that starts at u. */
static void cut_off_ear(struct cutter *self, uint32_t i)
{
	ASSERT(i < self->node_count);
	ASSERT(self->before[i] != self->after[i]);
	uint32_t u = self->before[i], w = self->after[i], c = self->cap_count++;
	uint32_t across[3] = { self->border[u], self->border[i], CUT_LOOP };
	self->cap[c][0] = u;
	self->cap[c][1] = i;
	self->cap[c][2] = w;
	for (uint32_t k = 0; k < 3; k++) {
		self->cap_twin[c][k] = across[k];
		if ((across[k] & CUT_LOOP) == 0)
			self->cap_twin[across[k] / 3][across[k] % 3] = 3 * c + k;
	}
	self->border[u] = 3 * c + 2;
	self->after[u] = w;
	self->before[w] = u;
}

/* Clips the last triangle, whose third edge has a half-edge across as well. */
static void close_last_triangle(struct cutter *self, uint32_t i)
{
	uint32_t w = self->after[i], across = self->border[w], c = self->cap_count;
	cut_off_ear(self, i);
	self->cap_twin[c][2] = across;
	if ((across & CUT_LOOP) == 0)
		self->cap_twin[across / 3][across % 3] = 3 * c + 2;
}

bool cut_make_cap(struct cutter *self)
{
	ASSERT(self->node_count >= 3);
	uint32_t left = self->node_count, at = 0;
	self->cap_count = 0;
	for (uint32_t i = 0; i < left; i++) {
		self->before[i] = i == 0 ? left - 1 : i - 1;
		self->after[i] = i + 1 == left ? 0 : i + 1;
		self->border[i] = CUT_LOOP | i;
	}
	self->blunt_count = 0;
	for (uint32_t i = 0; i < left; i++)
		if (!turns_left(self, i))
			self->blunt[self->blunt_count++] = i;
	for (uint32_t i = 0; i < left; i++)
		self->ear[i] = ear_quality(self, i);
	for (; left > 3; left--) {
		/* Ties: the first, counted from a corner that is still in the polygon. */
		uint32_t best = at, i = at;
		do {
			if (self->ear[i] > self->ear[best])
				best = i;
			i = self->after[i];
		} while (i != at);
		if (!(self->ear[best] >= 0))
			return false;
		uint32_t u = self->before[best], w = self->after[best];
		cut_off_ear(self, best);
		self->ear[u] = ear_quality(self, u);
		self->ear[w] = ear_quality(self, w);
		at = u;
	}
	if (!turns_left(self, at))
		return false;
	close_last_triangle(self, at);
	ASSERT(self->cap_count == self->node_count - 2);
	return true;
}
