/* walker.c: see walker.h.
 *
 * Sliding:
 *   while displacement is left:
 *       sweep along it; advance until `skin` before the first hit;
 *       store the hit's plane; remove from the remaining displacement the part that points into the
 *       planes hit so far: of one plane, the part along its normal; of two, all but the part along
 *       their crease; of three, all of it.
 *
 * Steps: a hit that cannot be walked on is first tried as a step: up by the step's height, along,
 * and down. The step is taken if it ends on ground, higher than before, and farther along.
 *
 * Ground: the normal at an edge depends on the shape of the walker and says nothing of the faces
 * beside the edge. Two short rays find these: one from above, just behind the edge, and one from
 * the side, just below it. An edge with a walkable top is ground if it is at most a step's height
 * above the foot, and a hit with a walkable normal is none if it is higher and has a steep side.
 *
 * Being pushed: the displacement is the least one, to the accuracy of some projections, that
 * satisfies all demands n·x ≥ b: of obstacles that overlap the walker, by their depth; of those
 * that block the displacement, with b = 0. It is swept, so that no wall is passed on the way out of
 * another.
 *
 * Failure: a crevice narrower than the walker ends the motion early (`left` is not zero); demands
 * that contradict each other leave it where it is (walker_free is false).
 */
#include "server/engine/collision/walker.h"

#include "server/engine/geometry/support.h"

enum { PUSHES_MAX = 8, PROJECTIONS_MAX = 32, DEMANDS_MAX = 32 };

/* m. How far beside an edge its faces are probed. Smaller: rounding of the hit's point decides;
 * larger: narrow steps are missed. */
#define PROBE_ASIDE 0.005
/* m. How far above the face behind an edge a ray begins: tops that are steeper than about 76° are
 * missed. */
#define PROBE_ABOVE 0.02
/* 1. A normal nearer to level than this is that of a wall: it is no edge's. */
#define LEVEL_LEAST 1e-3
/* 1, sine. A displacement that points into a plane by less counts as along it, and two planes with
 * a smaller angle as one: their crease would have no direction. */
#define INTO_LEAST 1e-6

void walker_init(struct walker *self, const struct placed_shape *placed,
		 const struct walker_trait *traits, uint32_t count, const struct shape *shape,
		 pose from, const struct mover_options *options, struct mover_result *out)
{
	*self = (struct walker){ .placed = placed,
				 .traits = traits,
				 .count = count,
				 .shape = shape,
				 .options = options,
				 .soft_skin = options->skin,
				 .at = from,
				 .out = out };
	*out = (struct mover_result){ .position = from.position };
}

/* ---- sweeps -------------------------------------------------------------------------------- */

void walker_pass(struct walker *self, uint32_t index)
{
	ASSERT(index < self->count);
	if (self->passed_count < WALKER_OVERLAPS_MAX)
		self->passed[self->passed_count++] = index;
}

void walker_pass_none(struct walker *self)
{
	ASSERT(self->passed_count <= WALKER_OVERLAPS_MAX);
	self->passed_count = 0;
}

static bool is_passed(const struct walker *self, uint32_t index)
{
	ASSERT(self->passed_count <= WALKER_OVERLAPS_MAX);
	for (uint32_t i = 0; i < self->passed_count; i++)
		if (self->passed[i] == index)
			return true;
	return false;
}

static bool is_soft(const struct walker *self, uint32_t index)
{
	return self->traits != NULL && self->traits[index].soft;
}

/* A one-way obstacle stops only what moves against its direction from outside. */
static bool lets_through(const struct walker *self, uint32_t index, vec3 way,
			 const struct cast_hit *hit)
{
	if (self->traits == NULL)
		return false;
	vec3 side = self->traits[index].one_way;
	return !vec3_equal(side, vec3_zero()) &&
	       (hit->depth > 0 || vec3_dot(side, hit->normal) < 0.5 || vec3_dot(side, way) > 0);
}

bool walker_cast_one(const struct walker *self, uint32_t index, pose from, vec3 way,
		     struct cast_hit *hit)
{
	enum status status;
	ASSERT(index < self->count);
	return placed_cast(&self->placed[index], 1, self->shape, from, way, hit, 1, &status) == 1 &&
	       !lets_through(self, index, way, hit);
}

/* Twice the way is swept, so the fraction is that of half the gap. */
static bool cast_at(const struct walker *self, uint32_t index, pose from, vec3 way,
		    struct cast_hit *hit)
{
	return walker_cast_one(self, index, from, is_soft(self, index) ? vec3_scale(way, 2) : way,
			       hit);
}

bool walker_cast(const struct walker *self, pose from, vec3 way, struct cast_hit *hit,
		 uint32_t *index)
{
	bool found = false;
	for (uint32_t i = 0; i < self->count; i++) {
		struct cast_hit next;
		if (is_passed(self, i) || !cast_at(self, i, from, way, &next))
			continue;
		bool first = !found || next.fraction < hit->fraction ||
			     (next.fraction == hit->fraction && next.depth > hit->depth);
		if (!first)
			continue;
		*hit = next;
		*index = i;
		found = true;
	}
	return found;
}

/* The fraction of `way` that leaves a gap of `skin` before the hit of obstacle `index`. */
static double walker_free_part(const struct walker *self, vec3 way, const struct cast_hit *hit,
			       uint32_t index)
{
	double skin = is_soft(self, index) ? self->soft_skin : self->options->skin;
	double length = vec3_length(way), against = -vec3_dot(hit->normal, way);
	if (!(length > 0) || !(against > 0))
		return hit->fraction;
	return scalar_clamp(hit->fraction - skin / against, 0, 1);
}

static void record_contact(struct walker *self, const struct cast_hit *hit, uint32_t index)
{
	ASSERT(self->out->contact_count <= MOVER_CONTACTS_MAX);
	struct mover_result *out = self->out;
	if (out->contact_count == MOVER_CONTACTS_MAX)
		return;
	self->contact_index[out->contact_count] = index;
	out->contacts[out->contact_count++] = *hit;
}

/* ---- being pushed -------------------------------------------------------------------------- */

struct demand_list {
	struct walker_demand items[DEMANDS_MAX];
	uint32_t count;
};

static void demand(struct demand_list *list, vec3 normal, double least)
{
	ASSERT(list->count <= DEMANDS_MAX);
	VALIDATE(vec3_is_finite(normal));
	if (list->count < DEMANDS_MAX)
		list->items[list->count++] = (struct walker_demand){ normal, least };
}

/* Demands of the solid obstacles that the walker overlaps; these are passed. Returns their number.
 *  */
static uint32_t find_overlaps(struct walker *self, struct demand_list *list, bool record)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < self->count && found < WALKER_OVERLAPS_MAX; i++) {
		struct cast_hit hit;
		if (is_soft(self, i) || is_passed(self, i) ||
		    !walker_cast_one(self, i, self->at, vec3_zero(), &hit))
			continue;
		demand(list, hit.normal, hit.depth + self->options->skin);
		walker_pass(self, i);
		if (record)
			record_contact(self, &hit, i);
		found++;
	}
	return found;
}

/* Cyclic projections; false if some demand is not met in the end. */
static bool solve_demands(const struct demand_list *list, double skin, vec3 *x)
{
	*x = vec3_zero();
	double worst = 0;
	for (uint32_t round = 0; round < PROJECTIONS_MAX; round++) {
		worst = 0;
		for (uint32_t i = 0; i < list->count; i++) {
			const struct walker_demand *item = &list->items[i];
			double lack = item->least - vec3_dot(item->normal, *x);
			if (!(lack > 0))
				continue;
			worst = scalar_max(worst, lack);
			*x = vec3_mul_add(*x, item->normal, lack);
		}
		if (!(worst > 0))
			break;
	}
	return worst <= 0.5 * skin;
}

/* The first solid obstacle along `way`. */
static bool cast_solid(const struct walker *self, vec3 way, struct cast_hit *hit, uint32_t *index)
{
	bool found = false;
	for (uint32_t i = 0; i < self->count; i++) {
		struct cast_hit next;
		if (is_soft(self, i) || is_passed(self, i) ||
		    !walker_cast_one(self, i, self->at, way, &next) ||
		    (found && next.fraction >= hit->fraction))
			continue;
		*hit = next;
		*index = i;
		found = true;
	}
	return found;
}

bool walker_free(struct walker *self, struct walker_demand *demands, uint32_t count)
{
	pose start = self->at;
	ASSERT(count == 0 || demands != NULL);
	ASSERT(self->passed_count <= WALKER_OVERLAPS_MAX);
	struct demand_list blocks = { .count = 0 };
	bool asked = count > 0;
	for (uint32_t round = 0; round < PUSHES_MAX; round++) {
		struct demand_list all = blocks;
		struct cast_hit hit;
		uint32_t index;
		vec3 x;
		if (!asked)
			walker_pass_none(self);
		uint32_t overlaps = find_overlaps(self, &all, round == 0);
		for (uint32_t i = 0; i < count && asked; i++)
			demand(&all, demands[i].normal, demands[i].least);
		if (overlaps == 0 && !asked)
			return true;
		if (!solve_demands(&all, self->options->skin, &x))
			break;
		bool blocked = cast_solid(self, x, &hit, &index);
		double part = blocked ? walker_free_part(self, x, &hit, index) : 1;
		vec3 gone = vec3_scale(x, part);
		self->at.position = vec3_add(self->at.position, gone);
		for (uint32_t i = 0; i < count; i++)
			demands[i].least -= vec3_dot(demands[i].normal, gone);
		if (blocked)
			demand(&blocks, hit.normal, 0);
		asked = asked && blocked;
	}
	walker_pass_none(self);
	struct demand_list rest = { .count = 0 };
	bool moved = find_overlaps(self, &rest, false) == 0;
	walker_pass_none(self);
	for (uint32_t i = 0; i < count; i++)
		moved = moved && demands[i].least <= self->options->skin;
	if (!moved)
		self->at = start;
	return moved;
}

void walker_hold_soft(struct walker *self)
{
	self->held = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		struct cast_hit hit;
		if (!is_soft(self, i) || is_passed(self, i) ||
		    self->held == WALKER_PLANES_MAX / 2 ||
		    self->passed_count == WALKER_OVERLAPS_MAX ||
		    !walker_cast_one(self, i, self->at, vec3_zero(), &hit))
			continue;
		walker_pass(self, i);
		record_contact(self, &hit, i);
		self->planes[self->held++] = hit.normal;
	}
	self->plane_count = self->held;
}

/* ---- planes -------------------------------------------------------------------------------- */

/* The first plane, other than two of them, that the way points into; WALKER_PLANES_MAX: none. */
static uint32_t find_plane(const struct walker *self, vec3 way, uint32_t but, uint32_t and_but)
{
	double least = INTO_LEAST * vec3_length(way);
	for (uint32_t i = 0; i < self->plane_count; i++)
		if (i != but && i != and_but && vec3_dot(way, self->planes[i]) < -least)
			return i;
	return WALKER_PLANES_MAX;
}

vec3 walker_clip(const struct walker *self, vec3 way)
{
	ASSERT(self->plane_count <= WALKER_PLANES_MAX);
	uint32_t i = find_plane(self, way, WALKER_PLANES_MAX, WALKER_PLANES_MAX);
	if (i == WALKER_PLANES_MAX)
		return way;
	vec3 n = self->planes[i], along = vec3_mul_sub(way, n, vec3_dot(way, n));
	uint32_t k = find_plane(self, along, i, i);
	if (k == WALKER_PLANES_MAX)
		return along;
	/* The crease of the two planes; if it points into a third one, nothing is left. */
	double length;
	vec3 crease = vec3_normalize_length(vec3_cross(n, self->planes[k]), &length);
	along = vec3_scale(crease, vec3_dot(crease, way));
	bool open = length > INTO_LEAST && find_plane(self, along, i, k) == WALKER_PLANES_MAX;
	return open ? along : vec3_zero();
}

/* Its part at right angles to up. */
static vec3 level_of(const struct walker *self, vec3 v)
{
	return vec3_mul_sub(v, self->options->up, vec3_dot(v, self->options->up));
}

vec3 walker_along(const struct walker *self, vec3 way, vec3 normal)
{
	vec3 level = level_of(self, way);
	double slope = vec3_dot(normal, self->options->up);
	ASSERT(slope > 0);
	return vec3_mul_sub(level, self->options->up, vec3_dot(level, normal) / slope);
}

/* An upright wall in place of a slope; zero for a level surface. */
static vec3 wall_of(const struct walker *self, vec3 normal)
{
	vec3 level = level_of(self, normal);
	double length;
	level = vec3_normalize_length(level, &length);
	return length > LEVEL_LEAST ? level : vec3_zero();
}

/* ---- ground -------------------------------------------------------------------------------- */

static bool is_walkable(const struct walker *self, vec3 normal)
{
	return vec3_dot(normal, self->options->up) >= self->options->slope_cosine;
}

/* m: of a hit above the lowest point of the walker. */
static double height_of(const struct walker *self, const struct cast_hit *hit)
{
	return vec3_dot(self->options->up, vec3_sub(hit->point, self->at.position)) - self->foot;
}

/* Whether a short ray beside the hit's point meets a walkable face: from above and behind, or from
 * the side and below. */
static bool face_is_walkable(const struct walker *self, const struct cast_hit *hit, uint32_t index,
			     vec3 behind, bool top)
{
	struct ray_hit face;
	vec3 up = self->options->up, along = top ? up : vec3_negate(behind);
	vec3 aside = top ? vec3_scale(behind, PROBE_ASIDE) : vec3_scale(up, -PROBE_ASIDE);
	vec3 from = vec3_add(hit->point, vec3_mul_add(aside, along, PROBE_ABOVE));
	return placed_ray(&self->placed[index], 1, from, vec3_scale(along, -2 * PROBE_ABOVE), &face,
			  1) == 1 &&
	       is_walkable(self, face.normal);
}

bool walker_is_ground(const struct walker *self, const struct cast_hit *hit, uint32_t index)
{
	bool walkable = is_walkable(self, hit->normal);
	if (!self->edges)
		return walkable;
	double lean = vec3_dot(hit->normal, self->options->up), height = height_of(self, hit);
	double length, most = self->options->step_height + 2 * self->options->skin;
	vec3 behind = vec3_normalize_length(vec3_negate(level_of(self, hit->normal)), &length);
	if (!(length > LEVEL_LEAST))
		return walkable;
	if (walkable)
		return height <= most || face_is_walkable(self, hit, index, behind, false);
	return lean > LEVEL_LEAST && height <= most &&
	       face_is_walkable(self, hit, index, behind, true);
}

bool walker_land(struct walker *self, double reach, uint32_t *index)
{
	struct mover_result *out = self->out;
	struct cast_hit hit;
	vec3 down = vec3_scale(self->options->up, -reach);
	out->grounded = false;
	ASSERT(reach > 0);
	if (!walker_cast(self, self->at, down, &hit, index) ||
	    !walker_is_ground(self, &hit, *index))
		return false;
	/* The gap along the normal is to be `skin`; a gap that is nearly so stays, so that a walker
	 * at rest does not move at all. */
	double skin = is_soft(self, *index) ? self->soft_skin : self->options->skin;
	double lean = scalar_max(vec3_dot(hit.normal, self->options->up), 0.1);
	double lower = hit.fraction * reach - skin / lean;
	if (lower > 0.1 * skin)
		self->at.position = vec3_mul_sub(self->at.position, self->options->up, lower);
	out->grounded = true;
	out->ground = hit;
	return true;
}

/* ---- steps and slopes ---------------------------------------------------------------------- */

/* Sweeps up, along and down; true, and the walker is moved, if that ends on ground, higher and
 * farther by more than `least` m. */
static bool step_up(struct walker *self, vec3 way, double least)
{
	const struct mover_options *options = self->options;
	struct cast_hit hit;
	uint32_t index;
	ASSERT(least >= 0);
	pose at = self->at;
	vec3 up = vec3_scale(options->up, options->step_height + (self->edges ? options->skin : 0));
	vec3 level = level_of(self, way);
	if (!(options->step_height > 0) || !(vec3_length(level) > 0))
		return false;
	double rise = walker_cast(self, at, up, &hit, &index)
			      ? walker_free_part(self, up, &hit, index)
			      : 1;
	at.position = vec3_mul_add(at.position, up, rise);
	double part = walker_cast(self, at, level, &hit, &index)
			      ? walker_free_part(self, level, &hit, index)
			      : 1;
	if (!(part * vec3_length(level) > least))
		return false;
	at.position = vec3_mul_add(at.position, level, part);
	vec3 down = vec3_scale(up, -rise);
	if (!walker_cast(self, at, down, &hit, &index) || !walker_is_ground(self, &hit, index))
		return false;
	at.position = vec3_mul_add(at.position, down, walker_free_part(self, down, &hit, index));
	double climbed = vec3_dot(vec3_sub(at.position, self->at.position), options->up);
	if (!(climbed > least))
		return false;
	self->at = at;
	self->out->climbed += climbed;
	self->out->left = vec3_scale(level, 1 - part);
	return true;
}

static void add_plane(struct walker *self, vec3 normal)
{
	ASSERT(self->plane_count <= WALKER_PLANES_MAX);
	if (self->plane_count < WALKER_PLANES_MAX)
		self->planes[self->plane_count++] = normal;
}

/* What is left of a level way after a hit. */
static vec3 turn_level(struct walker *self, const struct cast_hit *hit, uint32_t index)
{
	struct mover_result *out = self->out;
	if (walker_is_ground(self, hit, index) && is_walkable(self, hit->normal)) {
		add_plane(self, hit->normal);
		return walker_clip(self, walker_along(self, out->left, hit->normal));
	}
	if (step_up(self, out->left, 1e-3 * self->options->skin)) {
		self->plane_count = self->held;
		return out->left;
	}
	vec3 wall = wall_of(self, hit->normal);
	if (vec3_equal(wall, vec3_zero()))
		return vec3_zero();
	add_plane(self, wall);
	return walker_clip(self, out->left);
}

/* What is left of a way through the air after a hit. */
static vec3 turn_free(struct walker *self, const struct cast_hit *hit)
{
	struct mover_result *out = self->out;
	if (!self->edges && !is_walkable(self, hit->normal) &&
	    step_up(self, out->left, self->options->skin))
		return out->left;
	add_plane(self, hit->normal);
	return walker_clip(self, out->left);
}

bool walker_slide(struct walker *self, vec3 way, bool level, bool lands)
{
	struct mover_result *out = self->out;
	uint32_t most = MIN_OF(self->options->iterations, (uint32_t)MOVER_ITERATIONS_MAX);
	double least = self->options->skin * (self->edges ? 1e-6 : 1e-3);
	vec3 aim = way;
	ASSERT(vec3_is_finite(way));
	ASSERT(self->held <= WALKER_PLANES_MAX);
	self->plane_count = self->held;
	out->left = walker_clip(self, way);
	for (out->iterations = 0; out->iterations < most; out->iterations++) {
		struct cast_hit hit;
		uint32_t index;
		vec3 left = out->left;
		/* To go back would begin an oscillation. */
		if (!(vec3_length(left) > least) || vec3_dot(left, aim) < 0)
			return false;
		if (!walker_cast(self, self->at, left, &hit, &index)) {
			self->at.position = vec3_add(self->at.position, left);
			out->left = vec3_zero();
			out->iterations++;
			return false;
		}
		double part = walker_free_part(self, left, &hit, index);
		self->at.position = vec3_mul_add(self->at.position, left, part);
		out->left = vec3_scale(left, 1 - part);
		record_contact(self, &hit, index);
		bool down = vec3_dot(left, self->options->up) < 0;
		if (lands && down && walker_is_ground(self, &hit, index)) {
			out->iterations++;
			return true;
		}
		out->left = level ? turn_level(self, &hit, index) : turn_free(self, &hit);
	}
	return false;
}
