/* See sweep.h. Which bodies are fast, and their way past static and animated obstacles. */
#include "server/engine/dynamics/sweep.h"

#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/pairs.h"
#include "server/engine/dynamics/sweep_list.h"

enum { SWEEP_GRAIN = 4 };

/* ---- which bodies are fast: those that move far, lie deep in an obstacle, or may be swept over ---- */

struct fast_search {
	struct step *step;
	const struct body_motion *motions;
	uint64_t *fast;	   /* bit a slot */
	double *moved;	   /* by slot, m: bound of how far any point moves */
	double inner_min;  /* m, of dynamic bodies */
	double slow_most;  /* m, the most that a slow dynamic body moves */
	double way;	   /* m, of the animated body that is being looked at */
	uint32_t animated; /* bodies that move */
};

static void mark_fast(struct fast_search *self, uint32_t slot)
{
	self->fast[slot / 64] |= UINT64_C(1) << (slot % 64);
}

static bool is_fast(const struct fast_search *self, uint32_t slot)
{
	return self->fast[slot / 64] >> (slot % 64) & 1;
}

/* m: bound of the way of the farthest point; a spin of many turns counts by its length. */
static double way_of(const struct step *step, uint32_t body, const struct body_motion *motion)
{
	const struct dynamics *dynamics = step->dynamics;
	const struct body_cache *cache = &dynamics->bodies.items[body];
	double cosine = quat_dot(dynamics->tables->body.rotation[body], motion->rotation);
	double arc = 2 * scalar_sqrt(scalar_max(1 - cosine * cosine, 0));
	double turn = scalar_max(arc, vec3_length(motion->angular_velocity) * step->dt);
	double straight = vec3_distance(cache->centre, motion->centre);
	return turn > 0 ? straight + turn * cache->reach : straight;
}

static void find_fast(struct fast_search *self)
{
	const struct step *step = self->step;
	const struct dynamics *dynamics = step->dynamics;
	const uint8_t *status = dynamics->tables->body.status;
	self->inner_min = __builtin_inf();
	for (uint32_t slot = 0; slot < step->body_count; slot++) {
		uint32_t body = step->bodies[slot];
		double inner = dynamics->bodies.items[body].inner;
		self->moved[slot] = 0;
		if (dynamics->tables->body.first_placement[body] == 0)
			continue;
		double way = self->moved[slot] = way_of(step, body, &self->motions[slot]);
		if (status[body] != BODY_DYNAMIC) {
			self->animated += way > 0;
			continue;
		}
		self->inner_min = scalar_min(self->inner_min, inner);
		if (way <= SWEEP_FAST * inner)
			self->slow_most = scalar_max(self->slow_most, way);
		else
			mark_fast(self, slot);
	}
}

/* A dynamic body that an animated one may sweep over. */
static bool visit_swept(uint32_t placement, void *context)
{
	struct fast_search *self = context;
	const struct dynamics *dynamics = self->step->dynamics;
	uint32_t body = placement_body(dynamics->tables, placement);
	if (dynamics->tables->body.status[body] != BODY_DYNAMIC ||
	    !step_takes_part(self->step, body))
		return true;
	if (self->way > SWEEP_FAST * dynamics->bodies.items[body].inner)
		mark_fast(self, dynamics->bodies.items[body].slot);
	return true;
}

static void mark_before_animated(struct fast_search *self)
{
	struct step *step = self->step;
	const struct dynamics *dynamics = step->dynamics;
	const struct tables *tables = dynamics->tables;
	for (uint32_t slot = 0; slot < step->body_count; slot++) {
		uint32_t body = step->bodies[slot];
		self->way = self->moved[slot];
		if (tables->body.status[body] == BODY_DYNAMIC ||
		    self->way <= SWEEP_FAST * self->inner_min)
			continue;
		for (uint32_t p = tables->body.first_placement[body]; p != 0;
		     p = tables->placement.next[p - 1]) {
			if (!tables->placement.active[p - 1])
				continue;
			/* The fat box holds the animated body's motion in this tick. */
			struct aabb box = aabb_grow(placement_box(tables, p - 1), self->slow_most);
			broad_phase_query(dynamics->broad_phase, &box, visit_swept, self);
		}
	}
}

/* Bodies that something presses into an obstacle. */
static void mark_deep(struct fast_search *self)
{
	const struct step *step = self->step;
	const struct dynamics *dynamics = step->dynamics;
	const uint8_t *status = dynamics->tables->body.status;
	if (!(dynamics->report.penetration_max > SWEEP_FAST * self->inner_min))
		return;
	for (uint32_t i = 0; i < step->contacts.count; i++) {
		const struct contact_state *contact = &step->contacts.items[i];
		bool moves_a = status[contact->body_a] == BODY_DYNAMIC;
		bool moves_b = status[contact->body_b] == BODY_DYNAMIC;
		uint32_t body = moves_a ? contact->body_a : contact->body_b;
		if (moves_a == moves_b || !step_takes_part(step, body))
			continue;
		const struct body_cache *cache = &dynamics->bodies.items[body];
		for (uint32_t k = 0; k < contact->point_count; k++)
			if (contact->points[k].separation < -SWEEP_FAST * cache->inner)
				mark_fast(self, cache->slot);
	}
}

/* The list of fast bodies, ascending by slots. */
static enum status list_fast(struct fast_search *self, struct sweep_list *out)
{
	struct step *step = self->step;
	struct dynamics *dynamics = step->dynamics;
	uint32_t count = 0;
	for (uint32_t slot = 0; slot < step->body_count; slot++)
		count += is_fast(self, slot);
	out->items = NULL;
	out->count = 0;
	if (count == 0)
		return STATUS_OK;
	out->items = ARENA_ARRAY(&dynamics->scratch, struct sweep_body, count);
	if (out->items == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t slot = 0; slot < step->body_count; slot++) {
		if (!is_fast(self, slot))
			continue;
		struct sweep_body *to = &out->items[out->count];
		*to = (struct sweep_body){ .slot = slot, .body = step->bodies[slot], .left = 1 };
		if (sweep_path_of(dynamics, to->body, &self->motions[slot], step->dt, &to->path))
			out->count++;
	}
	return STATUS_OK;
}

/* ---- static and animated obstacles --------------------------------------------------------- */

struct sweep_work {
	struct step *step;
	struct body_motion *motions;
	const bool *alone;
	struct sweep_list *list;
	bool animated; /* some animated body moves */
};

/* One part of a body's path, searched against all obstacles of a kind. */
struct part_search {
	const struct sweep_work *work;
	const struct sweep_path *path;
	uint32_t placement; /* of the body */
	uint32_t part, parts;
	struct aabb box;
	bool animated;	 /* the obstacles' kind; false: static, and animated ones at rest */
	uint32_t passed; /* a body that is no obstacle */
	struct sweep_hit hit;
};

static struct sweep_path obstacle_path(const struct sweep_work *work, uint32_t body)
{
	const struct step *step = work->step;
	struct sweep_path path;
	if (step_takes_part(step, body)) {
		uint32_t slot = step->dynamics->bodies.items[body].slot;
		if (sweep_path_of(step->dynamics, body, &work->motions[slot], step->dt, &path))
			return path;
	}
	return sweep_path_still(step->dynamics, body);
}

static bool visit_obstacle(uint32_t placement, void *context)
{
	struct part_search *self = context;
	const struct step *step = self->work->step;
	const struct dynamics *dynamics = step->dynamics;
	uint32_t body = placement_body(dynamics->tables, placement);
	bool moves = step_takes_part(step, body);
	if (dynamics->tables->body.status[body] == BODY_DYNAMIC || moves != self->animated ||
	    body == self->passed)
		return true;
	struct pair_reach mine = { self->placement, self->box, 0 };
	struct pair_reach other = pair_reach_fat(dynamics, placement);
	if (!pair_may_meet(dynamics, &mine, &other))
		return true;
	struct sweep_path path = obstacle_path(self->work, body);
	/* An obstacle that turns farther than the body divides a part of the time again. */
	uint32_t again = (sweep_parts(&path, &path) + self->parts - 1) / self->parts;
	struct sweep_hit hit = { .fraction = 1 };
	for (uint32_t k = 0; k < again && hit.fraction == 1; k++)
		sweep_placements(dynamics, self->path, self->placement, &path, placement,
				 self->part * again + k, self->parts * again, &hit);
	self->hit.limits += hit.limits;
	if (hit.fraction < self->hit.fraction ||
	    (hit.fraction == self->hit.fraction && hit.placement < self->hit.placement)) {
		hit.limits = self->hit.limits;
		self->hit = hit;
	}
	return true;
}

/* The first touch of a body's path with the obstacles of a kind. */
static struct sweep_hit first_touch(const struct sweep_work *work, const struct sweep_path *path,
				    uint32_t body, bool animated, uint32_t passed)
{
	const struct dynamics *dynamics = work->step->dynamics;
	const struct tables *tables = dynamics->tables;
	struct part_search search = { .work = work,
				      .path = path,
				      .animated = animated,
				      .passed = passed,
				      .parts = sweep_parts(path, path),
				      .hit = { .fraction = 1 } };
	for (search.part = 0; search.part < search.parts && search.hit.fraction == 1;
	     search.part++) {
		search.box = sweep_path_box(path, search.part / (double)search.parts,
					    (search.part + 1) / (double)search.parts);
		for (uint32_t p = tables->body.first_placement[body]; p != 0;
		     p = tables->placement.next[p - 1]) {
			search.placement = p - 1;
			if (tables->placement.active[p - 1])
				broad_phase_query(dynamics->broad_phase, &search.box,
						  visit_obstacle, &search);
		}
	}
	return search.hit;
}

static void note_hit(struct sweep_body *body, const struct sweep_hit *hit)
{
	body->limits += hit->limits;
	if (hit->fraction == 1)
		return;
	body->left *= hit->fraction;
	body->stops = true;
	body->core |= hit->core;
	if (hit->core) {
		body->core_normal = hit->normal;
		body->core_way = hit->obstacle_way;
	}
}

/* Goes on from a touch with an animated body as if it stuck to it. */
static void carry_along(const struct sweep_work *work, struct sweep_body *body,
			const struct sweep_hit *hit)
{
	const struct dynamics *dynamics = work->step->dynamics;
	uint32_t by = placement_body(dynamics->tables, hit->placement);
	struct sweep_path path = obstacle_path(work, by);
	pose touch = sweep_path_at(&body->path, hit->fraction);
	pose in_obstacle = pose_relative(sweep_path_at(&path, hit->fraction), touch);
	pose end = pose_mul(path.to, in_obstacle);
	end.rotation = quat_normalize(end.rotation);
	struct sweep_path carried = sweep_path_between(touch, end, body->path.reach);
	struct sweep_hit wall = first_touch(work, &carried, body->body, false, by);
	body->limits += wall.limits;
	body->path = sweep_path_between(body->path.from, sweep_path_at(&carried, wall.fraction),
					body->path.reach);
}

static void sweep_one(const struct sweep_work *work, struct sweep_body *body)
{
	struct sweep_hit hit = first_touch(work, &body->path, body->body, false, DYNAMICS_NONE);
	body->limits += body->path.wound;
	note_hit(body, &hit);
	sweep_path_cut(&body->path, hit.fraction);
	if (!work->animated)
		return;
	hit = first_touch(work, &body->path, body->body, true, DYNAMICS_NONE);
	note_hit(body, &hit);
	if (hit.fraction < 1)
		carry_along(work, body, &hit);
}

static void sweep_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct sweep_work *work = context;
	for (uint32_t i = first; i < last; i++)
		sweep_one(work, &work->list->items[i]);
}

/* ---- the result ---------------------------------------------------------------------------- */

/* The motion of a body whose path ended early. */
static void store_end(const struct sweep_work *work, const struct sweep_body *body)
{
	const struct body_table *table = &work->step->dynamics->tables->body;
	struct body_motion *motion = &work->motions[body->slot];
	/* Its components in body axes stay, and with them the energy: at another rotation the same spin
	 * of a rod may have a thousand times the energy. */
	vec3 spin = quat_rotate_inverse(quat_normalize(motion->rotation), motion->angular_velocity);
	motion->centre = body->path.to.position;
	motion->rotation = body->path.to.rotation;
	motion->angular_velocity = quat_rotate(motion->rotation, spin);
	if (work->alone[body->slot])
		motion->velocity =
			vec3_lerp(table->velocity[body->body], motion->velocity, body->left);
	if (body->core) {
		vec3 obstacle = vec3_scale(body->core_way, 1 / work->step->dt);
		double into = vec3_dot(vec3_sub(motion->velocity, obstacle), body->core_normal);
		motion->velocity =
			vec3_mul_sub(motion->velocity, body->core_normal, scalar_max(into, 0));
	}
}

static void store_ends(const struct sweep_work *work)
{
	struct step_report *report = &work->step->dynamics->report;
	report->swept = work->list->count;
	for (uint32_t i = 0; i < work->list->count; i++) {
		const struct sweep_body *body = &work->list->items[i];
		report->sweep_limits += body->limits;
		report->sweep_cores += body->core;
		report->sweep_stops += body->stops;
		if (body->stops)
			store_end(work, body);
	}
}

static enum status sweep_all(struct sweep_work *work)
{
	parallel_run(work->step->parallel, work->list->count, SWEEP_GRAIN, sweep_piece, work);
	enum status status = sweep_pairs(work->step, work->motions, work->list);
	if (status == STATUS_OK)
		store_ends(work);
	return status;
}

enum status step_sweep(struct step *self, struct body_motion *motions, const bool *alone,
		       struct reason *why)
{
	struct dynamics *dynamics = self->dynamics;
	struct arena *scratch = &dynamics->scratch;
	struct fast_search search = { .step = self, .motions = motions };
	struct sweep_list list = { 0 };
	struct sweep_work work = { self, motions, alone, &list, false };
	enum profile_stage before = profile_enter(dynamics->profile, PROFILE_SWEEP);
	search.fast = arena_push_zero(scratch, (self->body_count + 63) / 64 * sizeof(uint64_t));
	struct arena_mark mark = arena_mark(scratch);
	search.moved = ARENA_ARRAY(scratch, double, self->body_count);
	enum status status = STATUS_NO_MEMORY;
	if (search.fast != NULL && search.moved != NULL) {
		find_fast(&search);
		mark_before_animated(&search);
		mark_deep(&search);
		status = list_fast(&search, &list);
	}
	work.animated = search.animated > 0;
	list.slow_most = search.slow_most;
	self->swept = search.fast;
	if (status == STATUS_OK && list.count > 0)
		status = sweep_all(&work);
	arena_rewind(scratch, mark);
	profile_enter(dynamics->profile, before);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "memory", "no memory to sweep fast bodies");
	return STATUS_OK;
}

void step_sweep_commit(struct step *self)
{
	struct dynamics *dynamics = self->dynamics;
	struct contact_table *table = &dynamics->tables->contact;
	uint32_t words = (self->body_count + 63) / 64;
	for (uint32_t w = 0; w < words; w++) {
		for (uint64_t bits = self->swept[w]; bits != 0; bits &= bits - 1) {
			uint32_t slot = w * 64 + (uint32_t)__builtin_ctzll(bits);
			uint32_t e = dynamics->bodies.items[self->bodies[slot]].first_edge;
			for (; e != DYNAMICS_NONE; e = dynamics->edges.items[e].next) {
				table->fresh[edge_row(e)] = 1;
				table->cache_kind[edge_row(e)] = 0;
			}
		}
	}
}
