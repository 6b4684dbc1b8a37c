/* particle_cloth.c: linked particles that meet bodies and are held by them within their sub-steps.
 *
 * The problem: a cloth of a kilogram that holds a body of ten. If bodies were moved first, and felt
 * the cloth in the next tick only (ch1-3 P-22), the links would be springs that act with a delay of
 * a tick, which is unstable as soon as k dt² > 4 m; rigid links are far beyond. So coupled systems
 * move first, as a tick begins, together with a picture of each body that is near: pose and
 * velocities at the start, mass, inertia. In a sub-step of h s
 *
 *   1. the pictures move: a dynamic one gains g h, unless it touches other bodies or has joints,
 *      which are taken to carry it; each moves with its velocity
 *   2. particles fly, and links are corrected (particle_links.h)
 *   3. each hold, then each contact is corrected once, in the order of nodes: with the error C
 *      along n,
 *
 *        λ = C / (w + n·K n),  x ← x + w λ n,  the picture's place ← place − λ (M⁻¹, I⁻¹ r ×) n
 *
 *      and its velocities by an impulse, which a contact takes from the velocity of approach (no
 *      bounce, no pull, and a deep start adds no energy), with friction by the bodies' rules
 *
 * At the end the bodies get the sums of their impulses at once, before their method's step:
 * momentum is exact in the tick, and the method then adds gravity, contacts and joints. A body does
 * not end exactly where its picture did, because others act on it: by at most half of that change
 * of velocity times the tick. Then what it last touched or holds is carried along with it
 * (particle_cloth_recall), and the next tick begins without a gap. A body that hangs in a cloth in
 * balance: its picture is at rest, so both agree.
 *
 * Cost: a particle tests the placements in whose boxes its tick may end. */
#include "server/base/heap.h"
#include "server/base/sort.h"
#include "server/engine/collision/swept_ball.h"
#include "server/engine/dynamics/belt.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/force.h"
#include "server/engine/dynamics/integrate.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/particles/particle_bonds.h"
#include "server/engine/particles/particle_holds.h"
#include "server/engine/particles/particle_limit.h"
#include "server/engine/particles/particle_meet.h"
#include "server/engine/particles/particle_self.h"
#include "server/engine/particles/particle_weave.h"
#include "server/engine/dynamics/piece.h"

#include <string.h>

/* The picture of a body. */
struct cloth_body {
	uint32_t row;
	bool dynamic; /* it feels the particles */
	bool carried; /* it has no acceleration of its own */
	bool felt;    /* some impulse acted on it */
	double mass_inv;
	mat3 inertia_inv; /* world, as the tick began */
	vec3 centre, v, w;
	quat rotation;
	pose before, at; /* of its origin, at the sub-step's start and now */
	vec3 impulse, twist;
};

/* A placement near some particle. */
struct cloth_shape {
	uint32_t placement, body; /* body: index */
	pose in_body;
	struct aabb box; /* where it may be in this tick */
};

struct cloth_hold {
	uint32_t node, body;
	vec3 point;
	double softness, gamma; /* as of a bond; softness 0: rigid */
};

struct cloth {
	ARRAY_OF(struct cloth_body) bodies;  /* by row, ascending */
	ARRAY_OF(struct cloth_shape) shapes; /* by placement, ascending */
	ARRAY_OF(uint32_t) found;	     /* placement rows */
	ARRAY_OF(uint32_t) rows, scratch;    /* body rows */
	ARRAY_OF(uint32_t) near;	     /* shapes of each node */
	ARRAY_OF(struct cloth_hold) holds;
	ARRAY_OF(struct link_node) kept;     /* of the coupled systems, after their sub-steps */
	uint32_t particles, links;	     /* rows as the tick began */
	uint32_t system_count, nodes, bonds; /* of the lists after the sub-steps */
	bool moved;			     /* in this tick */
};

/* ---- memory --------------------------------------------------------------------------------------- */

enum status particle_cloth_reserve(struct dynamics *self)
{
	struct particle_links *links = self->links;
	const struct tables *tables = self->tables;
	bool coupled = false;
	ASSERT(links != NULL);
	for (uint32_t row = 0; row < tables->system.count && !coupled; row++)
		coupled = particle_system_coupled(tables, row);
	if (!coupled)
		return STATUS_OK;
	if (links->cloth == NULL)
		links->cloth = heap_alloc_zero(sizeof *links->cloth);
	if (links->cloth == NULL)
		return STATUS_NO_MEMORY;
	enum status status = ARRAY_RESERVE(&links->cloth->kept, tables->particle.count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&links->cloth->holds, tables->hold.count);
	return status;
}

void particle_cloth_release(struct particle_links *self)
{
	struct cloth *cloth = self->cloth;
	if (cloth == NULL)
		return;
	ARRAY_RELEASE(&cloth->bodies);
	ARRAY_RELEASE(&cloth->shapes);
	ARRAY_RELEASE(&cloth->found);
	ARRAY_RELEASE(&cloth->rows);
	ARRAY_RELEASE(&cloth->scratch);
	ARRAY_RELEASE(&cloth->near);
	ARRAY_RELEASE(&cloth->holds);
	ARRAY_RELEASE(&cloth->kept);
	heap_free(cloth);
	self->cloth = NULL;
}

uint64_t particle_cloth_memory(const struct particle_links *self)
{
	const struct cloth *cloth = self->cloth;
	if (cloth == NULL)
		return 0;
	return sizeof *cloth + (uint64_t)cloth->bodies.capacity * sizeof *cloth->bodies.items +
	       (uint64_t)cloth->shapes.capacity * sizeof *cloth->shapes.items +
	       ((uint64_t)cloth->found.capacity + cloth->rows.capacity + cloth->scratch.capacity +
		cloth->near.capacity) *
		       sizeof(uint32_t) +
	       (uint64_t)cloth->holds.capacity * sizeof *cloth->holds.items +
	       (uint64_t)cloth->kept.capacity * sizeof *cloth->kept.items;
}

/* ---- what is near --------------------------------------------------------------------------------- */

struct cloth_search {
	struct dynamics *dynamics;
	struct cloth *cloth;
	uint32_t mask;
	enum status status;
};

static bool find_shape(uint32_t placement, void *context)
{
	struct cloth_search *search = context;
	struct cloth *cloth = search->cloth;
	if (!particle_meets(search->dynamics, placement, search->mask))
		return true;
	search->status = ARRAY_RESERVE(&cloth->found, (uint64_t)cloth->found.count + 1);
	if (search->status != STATUS_OK)
		return false;
	cloth->found.items[cloth->found.count++] = placement;
	return true;
}

/* How far a particle of the system may come in this tick, m. */
static double reach_of(const struct particle_links *self, const struct linked_system *system)
{
	double speed = 0, radius = 0, dt = self->motion->dt;
	ASSERT(dt > 0);
	for (uint32_t i = 0; i < system->nodes; i++) {
		const struct link_node *node = &self->nodes.items[system->first_node + i];
		speed = scalar_max(speed, vec3_length_squared(node->v));
		radius = scalar_max(radius, node->radius);
	}
	double fall = vec3_length(self->motion->laws[system->row].acceleration) * dt;
	return radius + 2 * (scalar_sqrt(speed) + fall) * dt;
}

/* Adds what is near the system, and what holds it, to `found` and `rows`. */
static enum status find_near(struct particle_links *self, const struct linked_system *system)
{
	struct dynamics *dynamics = self->motion->dynamics;
	const struct tables *tables = dynamics->tables;
	struct cloth_search search = { dynamics, self->cloth, tables->system.mask[system->row],
				       STATUS_OK };
	struct aabb box = aabb_empty();
	for (uint32_t i = 0; i < system->nodes; i++)
		box = aabb_add_point(box, self->nodes.items[system->first_node + i].x);
	box = aabb_grow(box, reach_of(self, system));
	if (system->nodes > 0)
		broad_phase_query(dynamics->broad_phase, &box, find_shape, &search);
	return search.status;
}

static int compare_rows(const void *a, const void *b, void *context)
{
	UNUSED(context);
	const uint32_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Sorts and removes what is there twice; returns how many remain. */
static uint32_t sort_rows(uint32_t *rows, uint32_t *scratch, uint32_t count)
{
	uint32_t kept = 0;
	sort_items(rows, scratch, count, sizeof *rows, compare_rows, NULL);
	for (uint32_t i = 0; i < count; i++)
		if (kept == 0 || rows[kept - 1] != rows[i])
			rows[kept++] = rows[i];
	ASSERT(kept <= count);
	return kept;
}

static bool is_supported(const struct dynamics *self, uint32_t row)
{
	const struct tables *tables = self->tables;
	ASSERT(row < tables->body.count);
	if (tables->body.first_joint[row] != 0)
		return true;
	for (uint32_t e = self->bodies.items[row].first_edge; e != DYNAMICS_NONE;
	     e = self->edges.items[e].next)
		if (tables->contact.touching[e / 2])
			return true;
	return false;
}

static struct cloth_body picture_of(const struct dynamics *self, uint32_t row)
{
	const struct body_table *table = &self->tables->body;
	bool dynamic = table->status[row] == BODY_DYNAMIC && !table->quarantined[row];
	bool moves = (dynamic && table->sleep_set[row] == 0) || table->status[row] == BODY_ANIMATED;
	struct cloth_body body = {
		.row = row,
		.dynamic = dynamic && moves,
		.carried = !dynamic || !moves || is_supported(self, row),
		.inertia_inv = mat3_zero(),
		.centre = dynamics_centre(self->tables, row),
		.v = moves ? table->velocity[row] : vec3_zero(),
		.w = moves ? table->angular_velocity[row] : vec3_zero(),
		.rotation = table->rotation[row],
		.at = body_pose(self->tables, row),
	};
	body.before = body.at;
	if (body.dynamic) {
		body.mass_inv = table->mass_inv[row];
		body.inertia_inv = integrate_inertia_inv(self, row);
	}
	return body;
}

static uint32_t find_picture(const struct cloth *cloth, uint32_t row)
{
	uint32_t low = 0, high = cloth->bodies.count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (cloth->bodies.items[middle].row < row)
			low = middle + 1;
		else
			high = middle;
	}
	ASSERT(low < cloth->bodies.count && cloth->bodies.items[low].row == row);
	return low;
}

static enum status list_shapes(struct particle_links *self)
{
	struct dynamics *dynamics = self->motion->dynamics;
	const struct tables *tables = dynamics->tables;
	struct cloth *cloth = self->cloth;
	uint32_t count = cloth->found.count;
	enum status status = ARRAY_RESERVE(&cloth->scratch, count + tables->hold.count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&cloth->rows, count + tables->hold.count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&cloth->bodies, count + tables->hold.count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&cloth->shapes, count);
	if (status != STATUS_OK)
		return status;
	count = sort_rows(cloth->found.items, cloth->scratch.items, count);
	cloth->rows.count = cloth->bodies.count = cloth->shapes.count = 0;
	for (uint32_t i = 0; i < count; i++)
		cloth->rows.items[cloth->rows.count++] =
			placement_body(tables, cloth->found.items[i]);
	for (uint32_t i = 0; i < tables->hold.count; i++)
		cloth->rows.items[cloth->rows.count++] =
			dynamics_find_body(dynamics, tables->hold.body[i]);
	uint32_t bodies = sort_rows(cloth->rows.items, cloth->scratch.items, cloth->rows.count);
	for (uint32_t i = 0; i < bodies; i++)
		cloth->bodies.items[cloth->bodies.count++] =
			picture_of(dynamics, cloth->rows.items[i]);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t placement = cloth->found.items[i];
		cloth->shapes.items[cloth->shapes.count++] = (struct cloth_shape){
			.placement = placement,
			.body = find_picture(cloth, placement_body(tables, placement)),
			.in_body = placement_pose(tables, placement),
			.box = placement_box(tables, placement),
		};
	}
	return STATUS_OK;
}

/* Whether the body holds a particle of the system. */
static bool holds_some(const struct cloth *cloth, const struct linked_system *system, uint32_t body)
{
	for (uint32_t i = 0; i < cloth->holds.count; i++)
		if (cloth->holds.items[i].body == body &&
		    cloth->holds.items[i].node - system->first_node < system->nodes)
			return true;
	return false;
}

/* The shapes that each particle of the system may meet: of bodies that hold none, and with contacts
 * within the sub-steps of those that do not hold this one. */
static enum status list_near(struct particle_links *self, const struct linked_system *system)
{
	const struct tables *tables = self->motion->dynamics->tables;
	struct cloth *cloth = self->cloth;
	bool within = tables->system.contacts[system->row] == CONTACTS_WITHIN;
	double reach = reach_of(self, system);
	for (uint32_t i = 0; i < system->nodes; i++) {
		struct link_node *node = &self->nodes.items[system->first_node + i];
		struct aabb box = aabb_grow(aabb_of_point(node->x), reach);
		enum status status = ARRAY_RESERVE(&cloth->near, (uint64_t)cloth->near.count +
									 cloth->shapes.count);
		if (status != STATUS_OK)
			return status;
		node->first_near = cloth->near.count;
		for (uint32_t k = 0; k < cloth->shapes.count; k++) {
			const struct cloth_shape *shape = &cloth->shapes.items[k];
			bool held = within ? node->holder == shape->body + 1
					   : holds_some(cloth, system, shape->body);
			if (!held && aabb_overlaps(box, shape->box) &&
			    particle_meets(self->motion->dynamics, shape->placement,
					   tables->system.mask[system->row]))
				cloth->near.items[cloth->near.count++] = k;
		}
		node->last_near = cloth->near.count;
	}
	return STATUS_OK;
}

static struct cloth_hold hold_of(const struct particle_links *self, uint32_t row, uint32_t node,
				 uint32_t body)
{
	const struct hold_table *table = &self->motion->dynamics->tables->hold;
	double h = self->motion->dt / self->substeps, k = table->stiffness[row];
	double mass_inv =
		self->nodes.items[node].mass_inv + self->cloth->bodies.items[body].mass_inv;
	struct cloth_hold hold = { .node = node, .body = body, .point = table->point[row] };
	if (k > 0)
		hold.softness = 1 / (k * h * h);
	if (k > 0 && mass_inv > 0)
		hold.gamma = 2 * table->damping_ratio[row] / scalar_sqrt(k * mass_inv) / h;
	ASSERT(hold.softness >= 0 && hold.gamma >= 0);
	return hold;
}

static void list_holds(struct particle_links *self, const struct linked_system *system)
{
	const struct dynamics *dynamics = self->motion->dynamics;
	const struct hold_table *table = &dynamics->tables->hold;
	struct cloth *cloth = self->cloth;
	for (uint32_t row = 0; row < table->count; row++) {
		if (table->system[row] != system->row)
			continue;
		ASSERT(cloth->holds.count < cloth->holds.capacity);
		uint32_t node = particle_links_node(self, system, table->serial[row]);
		uint32_t body = find_picture(cloth, dynamics_find_body(dynamics, table->body[row]));
		self->nodes.items[node].holder = body + 1;
		self->nodes.items[node].sprung = table->stiffness[row] > 0;
		cloth->holds.items[cloth->holds.count++] = hold_of(self, row, node, body);
	}
}

/* ---- sub-steps ------------------------------------------------------------------------------------ */

static void place_picture(const struct body_table *table, struct cloth_body *body)
{
	vec3 arm = quat_rotate(body->rotation, table->centre[body->row]);
	ASSERT(body->row < table->count);
	body->at = pose_make(vec3_sub(body->centre, arm), body->rotation);
}

static void move_picture(const struct tables *tables, struct cloth_body *body, double h)
{
	body->before = body->at;
	if (!body->carried) {
		bool scaled = (tables->body.flags[body->row] & BODY_SCALED) != 0;
		double factor = scaled ? tables->body.gravity_scale[body->row] : 1;
		body->v = vec3_mul_add(body->v, force_gravity(tables), factor * h);
	}
	body->centre = vec3_mul_add(body->centre, body->v, h);
	if (!vec3_equal(body->w, vec3_zero()))
		body->rotation = quat_integrate(body->rotation, body->w, h);
	place_picture(&tables->body, body);
}

/* −λ at the arm: the picture's place. */
static void shift_picture(const struct tables *tables, struct cloth_body *body, vec3 arm, vec3 push)
{
	if (!body->dynamic)
		return;
	ASSERT(body->mass_inv > 0);
	vec3 turn = mat3_mul_vec(body->inertia_inv, vec3_cross(arm, push));
	body->centre = vec3_mul_sub(body->centre, push, body->mass_inv);
	if (!vec3_equal(turn, vec3_zero()))
		body->rotation = quat_integrate(body->rotation, turn, -1);
	place_picture(&tables->body, body);
}

/* The opposite of an impulse on a particle. */
static void push_picture(struct cloth_body *body, vec3 arm, vec3 impulse)
{
	vec3 twist = vec3_cross(arm, impulse);
	body->felt = true;
	if (!body->dynamic)
		return;
	ASSERT(body->mass_inv > 0);
	body->impulse = vec3_sub(body->impulse, impulse);
	body->twist = vec3_sub(body->twist, twist);
	body->v = vec3_mul_sub(body->v, impulse, body->mass_inv);
	body->w = vec3_sub(body->w, mat3_mul_vec(body->inertia_inv, twist));
}

static vec3 picture_velocity(const struct cloth_body *body, vec3 arm)
{
	return vec3_add(body->v, vec3_cross(body->w, arm));
}

/* The velocity along n that an impulse along n gives the picture. */
static double picture_response(const struct cloth_body *body, vec3 arm, vec3 n)
{
	if (!body->dynamic)
		return 0;
	ASSERT(body->mass_inv > 0);
	vec3 lever = vec3_cross(arm, n);
	return body->mass_inv + vec3_dot(lever, mat3_mul_vec(body->inertia_inv, lever));
}

/* With a stiffness it is a spring of length 0, as a link is one (particle_links.h), in all directions. */
static void correct_hold(struct particle_links *self, const struct cloth_hold *hold, double h)
{
	const struct tables *tables = self->motion->dynamics->tables;
	struct link_node *node = &self->nodes.items[hold->node];
	struct cloth_body *body = &self->cloth->bodies.items[hold->body];
	ASSERT(node->holder == hold->body + 1);
	vec3 point = pose_point(body->at, hold->point), arm = vec3_sub(point, body->centre);
	mat3 skew = mat3_skew(arm), inverse;
	mat3 k = mat3_scale(mat3_identity(), node->mass_inv + body->mass_inv);
	k = mat3_sub(k, mat3_mul(skew, mat3_mul(body->inertia_inv, skew)));
	k = mat3_scale(k, 1 + hold->gamma);
	k = mat3_add(k, mat3_scale(mat3_identity(), hold->softness));
	if (!mat3_inverse(k, &inverse))
		return; /* a pinned particle and a body that does not move */
	vec3 gap = vec3_sub(point, node->x), impulse;
	if (hold->softness > 0) {
		vec3 way = vec3_sub(point, pose_point(body->before, hold->point));
		way = vec3_sub(way, vec3_sub(node->x, node->before));
		gap = vec3_mul_add(gap, way, hold->gamma);
	}
	vec3 push = mat3_mul_vec(inverse, gap);
	if (hold->softness > 0)
		impulse = vec3_scale(push, 1 / h);
	else
		impulse = mat3_mul_vec(inverse, vec3_sub(picture_velocity(body, arm), node->v));
	node->x = vec3_mul_add(node->x, push, node->mass_inv);
	node->v = vec3_mul_add(node->v, impulse, node->mass_inv);
	shift_picture(tables, body, arm, push);
	push_picture(body, arm, impulse);
}

/* A contact of a particle in a sub-step. */
struct cloth_touch {
	struct link_node *node;
	struct cloth_body *body;
	uint32_t system, placement;
	vec3 n, arm;
	double depth; /* m */
};

/* The impulse on the particle. */
static vec3 impulse_of(const struct particle_links *self, const struct cloth_touch *touch)
{
	const struct dynamics *dynamics = self->motion->dynamics;
	const struct system_table *system = &dynamics->tables->system;
	struct contact_piece piece = { touch->placement, PIECE_WHOLE };
	struct piece_surface surface = piece_surface(dynamics, piece);
	vec3 surface_velocity =
		vec3_add(picture_velocity(touch->body, touch->arm), belt_surface(dynamics, piece));
	vec3 u = vec3_sub(touch->node->v, surface_velocity);
	double closing = -vec3_dot(u, touch->n), speed;
	if (!(closing > 0))
		return vec3_zero();
	double own = touch->node->mass_inv;
	double normal = closing / (own + picture_response(touch->body, touch->arm, touch->n));
	vec3 t = vec3_normalize_length(vec3_mul_add(u, touch->n, closing), &speed);
	double stop = speed / (own + picture_response(touch->body, touch->arm, t));
	double sticking = 0.5 * (surface.static_friction + system->static_friction[touch->system]);
	double sliding = 0.5 * (surface.dynamic_friction + system->dynamic_friction[touch->system]);
	double friction = stop <= sticking * normal ? stop : scalar_min(stop, sliding * normal);
	return vec3_mul_sub(vec3_scale(touch->n, normal), t, friction);
}

static void correct_contact(const struct particle_links *self, const struct cloth_touch *touch,
			    double h)
{
	const struct tables *tables = self->motion->dynamics->tables;
	struct link_node *node = touch->node;
	double k = node->mass_inv + picture_response(touch->body, touch->arm, touch->n);
	if (!(node->mass_inv > 0))
		return; /* a pinned one is no obstacle */
	ASSERT(k > 0 && touch->depth >= 0);
	vec3 impulse = impulse_of(self, touch);
	double normal = vec3_dot(impulse, touch->n);
	/* The part of friction moves, too: else what sticks would creep. */
	vec3 slide = vec3_scale(vec3_mul_sub(impulse, touch->n, normal), h);
	vec3 push = vec3_mul_add(slide, touch->n, touch->depth / k);
	node->x = vec3_mul_add(node->x, push, node->mass_inv);
	node->v = vec3_mul_add(node->v, impulse, node->mass_inv);
	shift_picture(tables, touch->body, touch->arm, push);
	push_picture(touch->body, touch->arm, impulse);
}

static void meet_shape(struct particle_links *self, uint32_t system, struct link_node *node,
		       const struct cloth_shape *shape, double h)
{
	const struct dynamics *dynamics = self->motion->dynamics;
	const struct shape *geometry =
		dynamics->shapes[dynamics->tables->placement.shape[shape->placement]];
	struct cloth_body *body = &self->cloth->bodies.items[shape->body];
	uint32_t index = shape->body + 1;
	vec3 from = pose_point(body->at, pose_inverse_point(body->before, node->before));
	pose at = pose_mul(body->at, shape->in_body);
	struct swept_hit hit;
	vec3 way = vec3_sub(node->x, from);
	const struct ball_path path = { from, way, node->radius };
	if (!swept_ball(geometry, &at, &path, 1, &hit) ||
	    particle_passes(dynamics, body->row, &hit))
		return;
	vec3 place = vec3_mul_add(vec3_mul_add(from, way, hit.fraction), hit.normal, hit.depth);
	ASSERT(hit.fraction >= 0 && hit.depth >= 0);
	struct cloth_touch touch = {
		.node = node,
		.body = body,
		.system = system,
		.placement = shape->placement,
		.n = hit.normal,
		.depth = scalar_max(vec3_dot(vec3_sub(place, node->x), hit.normal), 0),
	};
	vec3 point = vec3_mul_sub(vec3_mul_add(node->x, hit.normal, touch.depth), hit.normal,
				  node->radius);
	touch.arm = vec3_sub(point, body->centre);
	node->touched = index;
	correct_contact(self, &touch, h);
}

static void meet_bodies(struct particle_links *self, const struct linked_system *system, double h)
{
	const struct cloth *cloth = self->cloth;
	ASSERT(h > 0);
	for (uint32_t i = 0; i < system->nodes; i++) {
		struct link_node *node = &self->nodes.items[system->first_node + i];
		if (!vec3_is_finite(node->x) || !vec3_is_finite(node->v))
			continue;
		for (uint32_t k = node->first_near; k < node->last_near; k++)
			meet_shape(self, system->row, node,
				   &cloth->shapes.items[cloth->near.items[k]], h);
	}
}

static void move_together(struct particle_links *self)
{
	const struct tables *tables = self->motion->dynamics->tables;
	struct cloth *cloth = self->cloth;
	double h = self->motion->dt / self->substeps;
	for (uint32_t i = 0; i < self->system_count; i++) {
		particle_weave_begin(self, &self->systems[i]);
		particle_self_begin(self, &self->systems[i]);
		particle_limit_begin(self, &self->systems[i]);
	}
	particle_meet_begin(self);
	for (uint32_t step = 0; step < self->substeps; step++) {
		for (uint32_t i = 0; i < cloth->bodies.count; i++)
			move_picture(tables, &cloth->bodies.items[i], h);
		for (uint32_t i = 0; i < self->system_count; i++) {
			particle_weave_move(self, &self->systems[i], h, 1);
			particle_limit_correct(self, &self->systems[i], h);
			particle_self_correct(self, &self->systems[i]);
		}
		particle_meet_correct(self);
		for (uint32_t i = 0; i < cloth->holds.count; i++)
			correct_hold(self, &cloth->holds.items[i], h);
		for (uint32_t i = 0; i < self->system_count; i++)
			meet_bodies(self, &self->systems[i], h);
	}
	for (uint32_t i = 0; i < self->system_count; i++) {
		particle_weave_end(self, &self->systems[i]);
		particle_limit_end(self, &self->systems[i]);
	}
}

/* ---- a tick --------------------------------------------------------------------------------------- */

static vec3 within_speed(vec3 v, double most)
{
	ASSERT(most > 0);
	double speed = vec3_length(v);
	return speed > most ? vec3_scale(v, most / speed) : v;
}

static void push_bodies(struct dynamics *self)
{
	struct body_table *table = &self->tables->body;
	const struct cloth *cloth = self->links->cloth;
	for (uint32_t i = 0; i < cloth->bodies.count; i++) {
		const struct cloth_body *body = &cloth->bodies.items[i];
		uint32_t row = body->row;
		/* A number overflowed: what caused it leaves the world (particle_links_run). */
		if (!body->dynamic || !vec3_is_finite(body->impulse) ||
		    !vec3_is_finite(body->twist))
			continue;
		struct spatial before = { table->velocity[row], table->angular_velocity[row] };
		vec3 turn = mat3_mul_vec(body->inertia_inv, body->twist);
		vec3 v = vec3_mul_add(table->velocity[row], body->impulse, body->mass_inv);
		vec3 w = vec3_add(table->angular_velocity[row], turn);
		table->velocity[row] = within_speed(v, dynamics_speed_max(self->tables, row));
		table->angular_velocity[row] =
			within_speed(w, dynamics_angular_speed_max(self->tables, row));
		dynamics_body_struck(self, row, before);
	}
}

static enum status gather_coupled(struct particle_links *self)
{
	const struct tables *tables = self->motion->dynamics->tables;
	struct cloth *cloth = self->cloth;
	enum status status = STATUS_OK;
	self->nodes.count = self->bonds.count = self->system_count = self->substeps = 0;
	cloth->found.count = cloth->near.count = cloth->holds.count = 0;
	for (uint32_t row = 0; row < tables->system.count; row++)
		if (particle_system_coupled(tables, row))
			self->substeps = MAX_OF(self->substeps, tables->system.link_substeps[row]);
	self->lists += self->substeps > 0;
	for (uint32_t row = 0; row < tables->system.count && status == STATUS_OK; row++) {
		if (!particle_system_coupled(tables, row))
			continue;
		struct linked_system *system = particle_links_gather(self, row);
		system->coupled = true;
		for (uint32_t i = 0; i < system->nodes; i++)
			self->nodes.items[system->first_node + i].coupled = true;
		status = find_near(self, system);
	}
	if (status == STATUS_OK)
		status = list_shapes(self);
	for (uint32_t i = 0; i < self->system_count && status == STATUS_OK; i++) {
		list_holds(self, &self->systems[i]);
		status = list_near(self, &self->systems[i]);
	}
	return status;
}

enum status particle_cloth_move(struct dynamics *self, const struct particle_motion *motion)
{
	struct particle_links *links = self->links;
	if (links == NULL || links->cloth == NULL)
		return STATUS_OK;
	struct cloth *cloth = links->cloth;
	links->motion = motion;
	cloth->moved = false;
	enum status status = gather_coupled(links);
	if (status == STATUS_OK && links->system_count > 0) {
		move_together(links);
		push_bodies(self);
		cloth->moved = true;
		cloth->particles = self->tables->particle.count;
		cloth->links = self->tables->link.count;
		cloth->nodes = links->nodes.count;
		cloth->bonds = links->bonds.count;
		cloth->system_count = links->system_count;
	}
	links->substeps = 0;
	links->motion = NULL;
	return status;
}

void particle_cloth_undo(struct dynamics *self)
{
	if (self->links == NULL || self->links->cloth == NULL || !self->links->cloth->moved)
		return;
	struct cloth *cloth = self->links->cloth;
	ASSERT(self->starts.count == self->tables->body.count);
	for (uint32_t i = 0; i < cloth->bodies.count; i++) {
		uint32_t row = cloth->bodies.items[i].row;
		struct body_table *body = &self->tables->body;
		struct spatial pushed = { body->velocity[row], body->angular_velocity[row] };
		body->velocity[row] = self->starts.items[row].velocity;
		body->angular_velocity[row] = self->starts.items[row].angular_velocity;
		dynamics_body_struck(self, row, pushed);
	}
	cloth->moved = false;
}

/* Particles or links have gone since the sub-steps: the lists are made anew for those that are left. */
static void match_again(struct particle_links *self)
{
	const struct cloth *cloth = self->cloth;
	struct linked_system before[SYSTEMS_MAX];
	ASSERT(cloth->nodes <= cloth->kept.capacity);
	memcpy(cloth->kept.items, self->nodes.items, cloth->nodes * sizeof *cloth->kept.items);
	memcpy(before, self->systems, cloth->system_count * sizeof *before);
	for (uint32_t i = 0; i < cloth->system_count; i++) {
		struct linked_system *system = particle_links_gather(self, before[i].row);
		const struct link_node *old = cloth->kept.items + before[i].first_node;
		system->coupled = true;
		for (uint32_t k = 0; k < system->nodes; k++) {
			struct link_node *node = &self->nodes.items[system->first_node + k];
			uint32_t row = node->row;
			while (old->serial < node->serial)
				old++;
			ASSERT(old->serial == node->serial);
			*node = *old;
			node->row = row;
		}
	}
}

/* With the body from its picture's place to its own. */
static void carry_along(struct particle_links *self)
{
	struct dynamics *dynamics = self->motion->dynamics;
	const struct cloth *cloth = self->cloth;
	for (uint32_t i = 0; i < self->nodes.count; i++) {
		struct link_node *node = &self->nodes.items[i];
		uint32_t holder = node->sprung ? 0 : node->holder;
		uint32_t index = holder != 0 ? holder : node->touched;
		if (index == 0 || !(node->mass_inv > 0))
			continue;
		ASSERT(index <= cloth->bodies.count);
		const struct cloth_body *body = &cloth->bodies.items[index - 1];
		node->x = pose_point(body_pose(dynamics->tables, body->row),
				     pose_inverse_point(body->at, node->x));
	}
	for (uint32_t i = 0; i < cloth->bodies.count; i++) {
		uint32_t row = cloth->bodies.items[i].row;
		bool wakes = dynamics->tables->body.status[row] == BODY_DYNAMIC &&
			     !dynamics->tables->body.quarantined[row];
		if (cloth->bodies.items[i].felt && wakes)
			dynamics_wake(dynamics, row);
	}
}

void particle_cloth_recall(struct particle_links *self)
{
	const struct tables *tables = self->motion->dynamics->tables;
	struct cloth *cloth = self->cloth;
	bool kept = cloth != NULL && cloth->moved && tables->particle.count == cloth->particles &&
		    tables->link.count == cloth->links;
	self->nodes.count = self->bonds.count = self->system_count = 0;
	self->lists += !kept;
	if (cloth == NULL || !cloth->moved)
		return;
	if (kept) {
		self->nodes.count = cloth->nodes;
		self->bonds.count = cloth->bonds;
		self->system_count = cloth->system_count;
	} else {
		match_again(self);
	}
	carry_along(self);
	cloth->moved = false;
}
