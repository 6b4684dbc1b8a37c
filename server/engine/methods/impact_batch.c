/* impact_batch.c: the constraints of a set of linked bodies at their clocks, and what becomes of the set.
 *
 * A batch is stated as a velocity_step over its own slots, so that the islands, rows, joints and solvers
 * of the exact velocity methods serve it. An event therefore costs with the bodies that are linked to
 * it and not with the world.
 */
#include "server/base/sort.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/geometry/curve.h"
#include "server/engine/methods/impact.h"

#include <string.h>

/* m/s. A point that parts faster carries no force. */
#define PART_SPEED 1e-6

#define ALLOCATE(type, count) ARENA_ARRAY(&self->of->step->dynamics->scratch, type, count)

/* ---- bodies ----------------------------------------------------------------------------------- */

static enum status make_bodies(struct impact_batch *self)
{
	struct impact_step *of = self->of;
	struct velocity_step *v = &self->solve;
	uint32_t n = self->count, *rows = ALLOCATE(uint32_t, n);
	enum status status = velocity_take_bodies(v, &of->step->dynamics->scratch, n);
	self->start = ALLOCATE(struct body_motion, n);
	self->integrator = ALLOCATE(uint8_t, n);
	if (status != STATUS_OK || rows == NULL || self->start == NULL || self->integrator == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t slot = self->slots[i];
		ASSERT(slot < of->step->body_count);
		rows[i] = of->step->bodies[slot];
		of->local[slot] = i;
		self->start[i] = impact_motion_at(of, rows[i], self->begin);
		v->before[i] = (struct spatial){ self->start[i].velocity,
						 self->start[i].angular_velocity };
		v->forced[i] = v->arriving[i] = v->moving[i] = v->after[i] = v->before[i];
		v->push[i] = v->force[i] = spatial_zero();
		v->motions[i] = self->start[i];
	}
	mass_bodies_from_tables(of->step->dynamics->tables, rows, n, self->start, v->masses);
	v->mass = mass_operator_free(v->masses, n);
	v->start = self->start;
	v->at = self->start;
	self->step.bodies = rows;
	self->step.body_count = n;
	v->step = &self->step;
	return STATUS_OK;
}

/* ---- contacts --------------------------------------------------------------------------------- */

/* Slot of the batch of a body row; ROW_NO_BODY if it is not in the batch. */
static uint32_t local_of(const struct impact_batch *self, uint32_t body)
{
	uint32_t slot = impact_slot(self->of, body);
	return slot == ROW_NO_BODY ? ROW_NO_BODY : self->of->local[slot];
}

static struct body_motion motion_of(const struct impact_batch *self, uint32_t body)
{
	uint32_t at = local_of(self, body);
	return at == ROW_NO_BODY ? impact_motion_at(self->of, body, self->begin) : self->start[at];
}

/* Calls for each pair of the lists of the batch's bodies once; counts only with `out` NULL. */
static uint32_t collect_pairs(const struct impact_batch *self, uint32_t *out)
{
	const struct impact_step *of = self->of;
	uint32_t count = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		uint32_t slot = self->slots[i], body = of->step->bodies[slot];
		for (uint32_t p = of->first_pair[slot]; p != UINT32_MAX;) {
			const struct contact_state *contact = &of->list->items[p];
			bool is_a = contact->body_a == body;
			uint32_t other = local_of(self, is_a ? contact->body_b : contact->body_a);
			if (of->pairs[p].touching && (other == ROW_NO_BODY || other > i)) {
				if (out != NULL)
					out[count] = p;
				count++;
			}
			p = is_a ? of->next_a[p] : of->next_b[p];
		}
	}
	return count;
}

bool impact_is_settled(const struct impact_step *self, const struct contact_state *contact)
{
	uint32_t a = impact_slot(self, contact->body_a), b = impact_slot(self, contact->body_b);
	return (a == ROW_NO_BODY ? 0 : self->rounds[a]) > 2 * self->rounds_max ||
	       (b == ROW_NO_BODY ? 0 : self->rounds[b]) > 2 * self->rounds_max;
}

/* Whether a point touches, or its gap is closed by forces. */
static bool point_touches(const struct impact_step *self, uint32_t pair,
			  const struct contact_state *contact, const struct contact_point *point,
			  const struct body_motion *a, const struct body_motion *b)
{
	if (point->separation <= 0 || impact_is_settled(self, contact))
		return true;
	vec3 u = vec3_sub(vec3_add(b->velocity, vec3_cross(b->angular_velocity, point->arm_b)),
			  vec3_add(a->velocity, vec3_cross(a->angular_velocity, point->arm_a)));
	double speed = vec3_dot(u, contact->normal);
	/* An approach this slow does not bounce, so its last part needs no event. */
	bool slow = speed > -0.5 * self->settings.restitution_speed;
	double near = slow ? IMPACT_CLOSE : self->pairs[pair].rested ? IMPACT_KEEP : IMPACT_TOUCH;
	if (self->pairs[pair].hit)
		near = scalar_max(near, -2 * speed * self->time_tolerance);
	return point->separation <= near && speed <= PART_SPEED;
}

bool impact_touches(const struct impact_step *self, uint32_t pair, const struct body_motion *a,
		    const struct body_motion *b)
{
	const struct contact_state *contact = &self->list->items[pair];
	for (uint32_t k = 0; k < contact->point_count; k++)
		if (point_touches(self, pair, contact, &contact->points[k], a, b))
			return true;
	return false;
}

/* Copies the points of a pair that touch, with their multipliers. */
static void copy_touching(struct impact_batch *self, uint32_t pair, uint32_t at)
{
	const struct impact_step *of = self->of;
	const struct contact_state *from = &of->list->items[pair];
	struct contact_state *to = &self->list.items[at];
	struct contact_made *made = &self->list.made[at];
	struct body_motion a = motion_of(self, from->body_a), b = motion_of(self, from->body_b);
	*to = *from;
	to->kept = false;
	to->point_count = 0;
	memset(made->multiplier, 0, sizeof made->multiplier);
	for (uint32_t k = 0; k < from->point_count; k++) {
		if (!point_touches(of, pair, from, &from->points[k], &a, &b))
			continue;
		memcpy(&made->multiplier[(size_t)3 * to->point_count],
		       &of->list->made[pair].multiplier[(size_t)3 * k], 3 * sizeof(double));
		to->points[to->point_count++] = from->points[k];
	}
	ASSERT(to->point_count <= from->point_count);
	self->pair[at] = pair;
}

static bool moves(const struct body_motion *a, const struct body_motion *b)
{
	const double still = 1e-9;
	return vec3_length(a->angular_velocity) > still ||
	       vec3_length(b->angular_velocity) > still ||
	       vec3_distance(a->velocity, b->velocity) > still;
}

static bool is_fixed(const struct impact_batch *self, uint32_t body)
{
	uint32_t slot = impact_slot(self->of, body);
	return slot == ROW_NO_BODY || !self->of->movable[slot];
}

/* m: the radius about which a curved piece rolls where its outward `normal` turns by `turning` against
 * it (1/s, world): with the mean radius a body that rolls would sink or rise. */
static double rolling_radius(const struct impact_batch *self, uint32_t placement, double mean,
			     const struct body_motion *at, vec3 normal, vec3 turning)
{
	const struct dynamics *dynamics = self->of->step->dynamics;
	const struct shape *shape = placement_shape(dynamics, placement);
	if (!shape_is_curved(shape))
		return mean;
	quat q = quat_mul(at->rotation, dynamics->tables->placement.rotation[placement]);
	return curve_rounding_along(shape, quat_rotate_inverse(q, normal),
				    quat_rotate_inverse(q, turning));
}

static void find_rolling(const struct impact_batch *self, const struct contact_state *contact,
			 struct contact_found *found)
{
	vec3 n = found->normal;
	vec3 apart = vec3_sub(found->b.angular_velocity, found->a.angular_velocity);
	vec3 turning = vec3_cross(apart, n);
	found->radius_a =
		rolling_radius(self, contact->a.placement, found->radius_a, &found->a, n, turning);
	found->radius_b = rolling_radius(self, contact->b.placement, found->radius_b, &found->b,
					 vec3_negate(n), turning);
}

/* The feature that the normal turns with is looked for only between bodies that move. A region (`deep`) has
 * none. */
static void find_normal_of(const struct impact_batch *self, const struct contact_state *contact,
			   bool deep, struct contact_found *found)
{
	const struct dynamics *dynamics = self->of->step->dynamics;
	const uint8_t *integrator = dynamics->tables->body.integrator;
	bool fixed_a = is_fixed(self, contact->body_a), fixed_b = is_fixed(self, contact->body_b);
	/* Stages of an explicit integrator move from rest within their step. */
	bool steps = impact_is_explicit(integrator[contact->body_a]) ||
		     impact_is_explicit(integrator[contact->body_b]);
	struct contact_corner by = { .normal_of = CONTACT_NORMAL_GIVEN };
	if (!deep && (steps || moves(&found->a, &found->b))) {
		struct collide_options options = collide_options_default(0);
		options.motions = self->of->now;
		struct contact_polygon polygon;
		step_polygon(self->of->step, contact, &options, &polygon);
		if (polygon.count > 0)
			by = (struct contact_corner){ .normal_of = polygon.normal_of,
						      .edge_a = polygon.edge_a,
						      .edge_b = polygon.edge_b,
						      .ball_a = polygon.ball_a,
						      .ball_b = polygon.ball_b };
	}
	velocity_find_turning(&self->solve, contact, fixed_a, fixed_b, &by, found);
	find_rolling(self, contact, found);
}

/* Friction along the axis of one of the bodies, which turns with it within the tick. */
static void find_friction_axis(const struct impact_batch *self, const struct contact_state *contact,
			       struct contact_found *found)
{
	struct contact_axis axis = contact_axis(self->of->step->dynamics, contact->a, contact->b);
	if (axis.body == DYNAMICS_NONE)
		return;
	struct contact_surface *surface = &found->surface;
	surface->axis_of_b = axis.body == contact->body_b;
	surface->axis =
		quat_rotate(surface->axis_of_b ? found->b.rotation : found->a.rotation, axis.axis);
	surface->static_friction[0] = axis.resting;
	surface->dynamic_friction[0] = scalar_min(axis.sliding, axis.resting);
}

static void make_found(const struct impact_batch *self, uint32_t at, struct contact_found *out,
		       struct contact_found_point *points)
{
	const struct contact_state *contact = &self->list.items[at];
	velocity_find_contact(&self->solve, contact, motion_of(self, contact->body_a),
			      motion_of(self, contact->body_b), out, points);
	find_friction_axis(self, contact, out);
	find_normal_of(self, contact, self->of->pairs[self->pair[at]].deep, out);
}

static enum status make_contacts(struct impact_batch *self, uint32_t joints)
{
	struct velocity_step *v = &self->solve;
	uint32_t count = collect_pairs(self, NULL), *pairs = ALLOCATE(uint32_t, count);
	self->pair = ALLOCATE(uint32_t, count);
	self->list = (struct contact_list){ ALLOCATE(struct contact_state, count),
					    ALLOCATE(struct contact_made, count), 0, count, false };
	struct contact_found *found = ALLOCATE(struct contact_found, count);
	struct contact_found_point *points =
		ALLOCATE(struct contact_found_point, (size_t)MANIFOLD_POINTS_MAX * count);
	v->constraints = ALLOCATE(struct constraint, (size_t)count + joints);
	v->contact_of = ALLOCATE(uint32_t, count);
	if (pairs == NULL || self->pair == NULL || self->list.items == NULL ||
	    self->list.made == NULL || found == NULL || points == NULL || v->constraints == NULL ||
	    v->contact_of == NULL)
		return STATUS_NO_MEMORY;
	collect_pairs(self, pairs);
	enum status status = impact_pairs_sort(self->of, pairs, count);
	if (status != STATUS_OK)
		return status;
	v->list = &self->list;
	v->constraint_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = self->list.count;
		copy_touching(self, pairs[i], at);
		const struct contact_state *contact = &self->list.items[at];
		if (contact->point_count == 0)
			continue;
		self->list.count++;
		make_found(self, at, &found[at], &points[(size_t)MANIFOLD_POINTS_MAX * at]);
		velocity_add_contact(v, at, &found[at], local_of(self, contact->body_a),
				     local_of(self, contact->body_b));
	}
	ASSERT(self->list.count <= count);
	v->contact_count = v->constraint_count;
	return STATUS_OK;
}

/* ---- joints ----------------------------------------------------------------------------------- */

static uint32_t local_joint_slot(const struct impact_batch *self, uint32_t slot)
{
	return slot == ROW_NO_BODY ? ROW_NO_BODY : self->of->local[slot];
}

static uint32_t collect_joints(const struct impact_batch *self, uint32_t *out)
{
	const struct impact_step *of = self->of;
	uint32_t count = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		uint32_t slot = self->slots[i];
		for (uint32_t j = of->first_joint[slot]; j != UINT32_MAX;) {
			const struct constraint *joint = &of->joints.constraints[j];
			bool is_a = joint->body_a == slot;
			uint32_t other =
				local_joint_slot(self, is_a ? joint->body_b : joint->body_a);
			if (other == ROW_NO_BODY || other > i) {
				if (out != NULL)
					out[count] = j;
				count++;
			}
			j = is_a ? of->joint_next_a[j] : of->joint_next_b[j];
		}
	}
	return count;
}

/* The gear in place k of the batch, which is one of the tick with the slots of the batch. */
static enum status make_gear(struct impact_batch *self, uint32_t k)
{
	const struct joint *from = &self->of->joints.joints[self->joint[k]];
	struct gear *gear = ALLOCATE(struct gear, 1);
	if (gear == NULL)
		return STATUS_NO_MEMORY;
	*gear = *from->gear;
	for (uint32_t end = 0; end < GEAR_ENDS; end++)
		for (uint32_t side = 0; side < 2; side++)
			gear->slots[end][side] = local_joint_slot(self, gear->slots[end][side]);
	self->solve.joints.joints[k] = *from;
	self->solve.joints.joints[k].gear = gear;
	self->solve.joints.gears++;
	return STATUS_OK;
}

static enum status make_joints(struct impact_batch *self, uint32_t count)
{
	const struct impact_step *of = self->of;
	struct velocity_step *v = &self->solve;
	uint32_t *merged = ALLOCATE(uint32_t, count);
	self->joint = ALLOCATE(uint32_t, count);
	v->joints = (struct step_joints){ .joints = ALLOCATE(struct joint, count),
					  .constraints = v->constraints + v->constraint_count,
					  .count = count };
	v->joint_results = ALLOCATE(struct joint_result, count);
	if (merged == NULL || self->joint == NULL || v->joints.joints == NULL ||
	    v->joint_results == NULL)
		return STATUS_NO_MEMORY;
	ASSERT(v->constraint_count == v->contact_count);
	collect_joints(self, self->joint);
	sort_items(self->joint, merged, count, sizeof *merged, impact_compare_numbers, NULL);
	for (uint32_t k = 0; k < count; k++) {
		const struct constraint *from = &of->joints.constraints[self->joint[k]];
		struct constraint *to = &v->constraints[v->constraint_count++];
		*to = *from;
		to->data = &v->joints.joints[k];
		to->body_a = local_joint_slot(self, from->body_a);
		to->body_b = local_joint_slot(self, from->body_b);
		if (of->joints.joints[self->joint[k]].gear != NULL) {
			enum status status = make_gear(self, k);
			if (status != STATUS_OK)
				return status;
		} else {
			joint_from_tables(of->step->dynamics, from->source,
					  self->begin + self->step.dt, &v->joints.joints[k]);
		}
		v->joint_results[k] = (struct joint_result){ 0 };
	}
	return STATUS_OK;
}

/* ---- rows and islands ------------------------------------------------------------------------- */

/* Islands in reduced coordinates, if all bodies have their automatic integrator: stages of explicit ones need
 * accelerations of locked axes as rows, and forces that are implicit are part of the bodies' own masses. */
static enum status choose_trees(struct impact_batch *self)
{
	struct velocity_step *v = &self->solve;
	const uint8_t *integrator = self->of->step->dynamics->tables->body.integrator;
	for (uint32_t i = 0; i < self->count; i++)
		if (mass_moves(&v->mass, i) &&
		    integrator[self->step.bodies[i]] != INTEGRATOR_AUTOMATIC)
			return STATUS_OK;
	return velocity_trees_choose(v);
}

/* Counts islands that the settings ask to reduce, and that are not because of their integrators. */
static void count_maximal(struct velocity_step *v)
{
	for (uint32_t k = 0; k < v->islands.count; k++)
		v->outcomes[k].maximal = v->trees == NULL && v->joints.count > 0 &&
					 v->settings.articulated != VELOCITY_MAXIMAL &&
					 velocity_has_joints(v, &v->islands.items[k]);
}

static enum status make_rows(struct impact_batch *self)
{
	struct velocity_step *v = &self->solve;
	enum status status = choose_trees(self);
	if (status == STATUS_OK)
		status = velocity_rows(v, self->start, false, CONSTRAINT_ACCELERATION);
	if (status == STATUS_OK)
		status = velocity_islands(v);
	if (status != STATUS_OK)
		return status;
	v->outcomes = arena_push_zero(&self->of->step->dynamics->scratch,
				      v->islands.count * sizeof *v->outcomes);
	if (v->outcomes == NULL)
		return STATUS_NO_MEMORY;
	count_maximal(v);
	return STATUS_OK;
}

/* One integrator for all bodies of an island: implicit Euler if any has it, because something is stiff;
 * otherwise the highest. */
static void choose_integrators(struct impact_batch *self)
{
	const struct body_table *table = &self->of->step->dynamics->tables->body;
	struct velocity_step *v = &self->solve;
	for (uint32_t i = 0; i < self->count; i++)
		self->integrator[i] = table->integrator[self->step.bodies[i]];
	for (uint32_t k = 0; k < v->islands.count; k++) {
		const struct island *island = &v->islands.items[k];
		uint8_t chosen = INTEGRATOR_AUTOMATIC;
		for (uint32_t i = 0; i < island->slot_count; i++) {
			uint8_t of = self->integrator[island->slots[i]];
			if (of == INTEGRATOR_IMPLICIT_EULER || chosen == INTEGRATOR_IMPLICIT_EULER)
				chosen = INTEGRATOR_IMPLICIT_EULER;
			else if (of > chosen)
				chosen = of;
		}
		for (uint32_t i = 0; i < island->slot_count; i++)
			self->integrator[island->slots[i]] = chosen;
	}
	v->integrator = self->integrator;
}

enum status impact_batch_make(struct impact_batch *self, struct impact_step *of,
			      const uint32_t *slots, uint32_t count, double span)
{
	*self = (struct impact_batch){ .of = of, .slots = slots, .count = count };
	ASSERT(count <= of->step->body_count && span >= 0);
	self->step = *of->step;
	self->step.dt = span;
	self->solve.settings = of->settings;
	/* A member that cannot move (an animated body) has the clock of those that do. */
	for (uint32_t i = 0; i < count; i++)
		self->begin = scalar_max(self->begin, of->clock[slots[i]]);
	enum status status = make_bodies(self);
	uint32_t joints = collect_joints(self, NULL);
	if (status == STATUS_OK)
		status = make_contacts(self, joints);
	if (status == STATUS_OK && joints > 0)
		status = make_joints(self, joints);
	if (status == STATUS_OK)
		status = make_rows(self);
	if (status == STATUS_OK)
		choose_integrators(self);
	return status;
}

double impact_batch_distance(const struct impact_step *self, uint32_t slot,
			     const struct body_motion *x, const struct body_motion *y, double h)
{
	double reach = self->step->dynamics->bodies.items[self->step->bodies[slot]].reach;
	quat turn = quat_mul(x->rotation, quat_conjugate(y->rotation));
	double way =
		vec3_distance(x->centre, y->centre) + h * vec3_distance(x->velocity, y->velocity);
	double angle = vec3_length(quat_to_rotation_vector(turn)) +
		       h * vec3_distance(x->angular_velocity, y->angular_velocity);
	return way + reach * angle;
}

/* ---- impulses --------------------------------------------------------------------------------- */

static void add_point(struct impact_impulses *to, uint32_t feature, double normal)
{
	uint32_t at = 0;
	ASSERT(to->count <= MANIFOLD_POINTS_MAX);
	while (at < to->count && to->feature[at] != feature)
		at++;
	if (at == to->count) {
		if (to->count == MANIFOLD_POINTS_MAX)
			at = 0;
		else {
			to->count++;
			to->feature[at] = feature;
			to->normal[at] = 0;
		}
	}
	to->normal[at] += normal;
}

void impact_add_impulses(struct impact_impulses *to, const struct impact_impulses *from)
{
	for (uint32_t k = 0; k < from->count; k++)
		add_point(to, from->feature[k], from->normal[k]);
	to->friction = vec3_add(to->friction, from->friction);
}

static void record_contacts(const struct impact_batch *self, bool coming)
{
	const struct velocity_step *v = &self->solve;
	for (uint32_t c = 0; c < v->contact_count; c++) {
		uint32_t at = v->contact_of[c];
		struct impact_record *record = &self->of->records[self->pair[at]];
		struct impact_impulses *to = coming ? &record->coming : &record->past;
		vec3 t, k;
		row_frame(self->list.items[at].normal, &t, &k);
		for (uint32_t b = v->first_block[c]; b < v->first_block[c + 1]; b++) {
			const struct velocity_impulse *p = &v->impulses[b];
			add_point(to, v->rows.blocks[b].key.feature, p->normal);
			to->friction = vec3_mul_add(to->friction, t, p->tangent[0]);
			to->friction = vec3_mul_add(to->friction, k, p->tangent[1]);
		}
	}
}

void impact_add_joint(struct joint_result *to, const struct joint_result *from)
{
	for (uint32_t k = 0; k < JOINT_PLACES; k++)
		to->multiplier[k] += from->multiplier[k];
	to->on_b = spatial_mul_add(to->on_b, from->on_b, 1);
	to->point = from->point;
}

static void record_joints(struct impact_batch *self, bool coming)
{
	struct velocity_step *v = &self->solve;
	velocity_joints_finish_results(v);
	for (uint32_t k = 0; k < v->joints.count; k++) {
		struct impact_joint_record *record = &self->of->joint_records[self->joint[k]];
		impact_add_joint(coming ? &record->coming : &record->past, &v->joint_results[k]);
	}
}

static bool is_inelastic(const struct impact_batch *self, uint32_t pair)
{
	const struct impact_step *of = self->of;
	const struct contact_state *contact = &of->list->items[pair];
	uint32_t a = impact_slot(of, contact->body_a), b = impact_slot(of, contact->body_b);
	return (a == ROW_NO_BODY ? 0 : of->rounds[a]) > of->rounds_max ||
	       (b == ROW_NO_BODY ? 0 : of->rounds[b]) > of->rounds_max;
}

/* No restitution for pairs whose bodies had too many events, and, up to IMPACT_HYSTERESIS times the speed,
 * for contacts that rested (ch1-3, with hysteresis). */
static void limit_restitution(struct impact_batch *self)
{
	struct velocity_step *v = &self->solve;
	for (uint32_t c = 0; c < v->contact_count; c++) {
		uint32_t pair = self->pair[v->contact_of[c]];
		bool never = is_inelastic(self, pair);
		for (uint32_t b = v->first_block[c]; b < v->first_block[c + 1]; b++) {
			struct row_block *block = &v->rows.blocks[b];
			double u = v->rows.rows[block->first].approach;
			if (u < -v->settings.restitution_speed && never && block->restitution > 0)
				self->of->counts.inelastic++;
			if (never || (self->of->pairs[pair].rested && !self->of->pairs[pair].hit &&
				      u > -IMPACT_HYSTERESIS * v->settings.restitution_speed))
				block->restitution = 0;
		}
	}
}

/* How fast the points that got an impulse had approached, if that is the fastest of their pair in this
 * tick. */
static void record_met(const struct impact_batch *self)
{
	const struct velocity_step *v = &self->solve;
	for (uint32_t c = 0; c < v->contact_count; c++) {
		uint32_t at = v->contact_of[c];
		const struct contact_state *contact = &self->list.items[at];
		struct step_met *met = &self->of->records[self->pair[at]].met;
		for (uint32_t b = v->first_block[c]; b < v->first_block[c + 1]; b++) {
			double speed = -v->rows.rows[v->rows.blocks[b].first].approach;
			uint32_t p = MIN_OF(b - v->first_block[c], contact->point_count - 1u);
			if (!(speed > met->speed) || !(v->impulses[b].normal > 0))
				continue;
			ASSERT(p < contact->point_count);
			vec3 centre = motion_of(self, contact->body_a).centre;
			*met = (struct step_met){
				.speed = speed,
				.fraction = self->begin / self->of->step->dt,
				.point = vec3_add(centre, contact->points[p].arm_a),
				.normal = contact->normal,
			};
		}
	}
}

/* Bodies that cannot give way and press another one from both sides make it faster with each event,
 * without end: its speed is bounded within the tick as at its end, and counted. */
static vec3 bounded(vec3 v, double most, uint32_t *cut)
{
	double size = vec3_length(v);
	ASSERT(most > 0);
	if (!(size > most))
		return v;
	(*cut)++;
	return vec3_scale(v, most / size);
}

enum status impact_batch_collide(struct impact_batch *self)
{
	struct velocity_step *v = &self->solve;
	uint32_t cut = 0;
	limit_restitution(self);
	velocity_rotors_start(v, false);
	v->instant = true;
	enum status status = islands_solve(self->of->step, &v->islands, impact_island_collide, v);
	v->instant = false;
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < self->count; i++) {
		uint32_t slot = self->slots[i];
		if (!mass_moves(&v->mass, i))
			continue;
		self->changed |= !vec3_equal(v->after[i].linear, v->before[i].linear) ||
				 !vec3_equal(v->after[i].angular, v->before[i].angular);
		self->of->from[slot].velocity = bounded(v->after[i].linear, SPEED_MAX, &cut);
		self->of->from[slot].angular_velocity =
			bounded(v->after[i].angular, ANGULAR_SPEED_MAX, &cut);
	}
	self->of->step->dynamics->report.fallbacks += cut;
	velocity_merge_outcomes(&self->of->step->dynamics->report, v->outcomes, v->islands.count);
	record_contacts(self, false);
	if (step_hit_speed(self->of->step) > 0)
		record_met(self);
	if (v->joints.count > 0)
		record_joints(self, false);
	return STATUS_OK;
}

/* ---- motion ----------------------------------------------------------------------------------- */

/* Velocities after the forces of the span, without contact. */
static enum status apply_forces(struct impact_batch *self)
{
	const struct impact_step *of = self->of;
	struct velocity_step *v = &self->solve;
	const struct dynamics *dynamics = of->step->dynamics;
	struct force_sum *sums = ALLOCATE(struct force_sum, self->count);
	if (sums == NULL)
		return STATUS_NO_MEMORY;
	struct force_bodies bodies = { self->step.bodies, self->start, self->count };
	self->of->forces.ahead = 0.5 * self->step.dt;
	force_list_all(&of->forces, &bodies, self->begin, sums);
	self->of->forces.ahead = 0;
	enum status status = impact_stiff_forces(self, sums);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < self->count; i++) {
		uint32_t body = self->step.bodies[i];
		double mass = dynamics->tables->body.mass[body];
		v->starts[i] = integrate_start_at(dynamics, body, &self->start[i], &sums[i],
						  self->step.dt);
		v->before[i] = v->starts[i].velocity;
		v->force[i].linear = vec3_mul_add(sums[i].force, sums[i].acceleration, mass);
		v->force[i].angular = sums[i].torque;
		v->forced[i] = integrate_velocity(dynamics, body, &v->starts[i], self->step.dt);
		v->moving[i] = v->arriving[i] = v->after[i] = v->forced[i];
		if (!mass_moves(&v->mass, i))
			v->motions[i] = integrate_motion(dynamics, body, &self->start[i],
							 v->forced[i], v->forced[i], self->step.dt);
	}
	velocity_rotors_start(v, self->begin == 0);
	return STATUS_OK;
}

/* The islands' motion. Forces that are implicit are part of the masses until it is solved. */
static enum status solve_forces(struct impact_batch *self)
{
	struct velocity_step *v = &self->solve;
	struct velocity_stage stage = { v, NULL };
	bool stiff = self->stiff.blocks != NULL;
	if (stiff)
		v->mass = mass_operator_blocks(&self->stiff);
	enum status status =
		islands_solve(self->of->step, &v->islands, impact_island_forces, &stage);
	if (stiff)
		v->mass = self->stiff.plain;
	if (stiff && status == STATUS_OK)
		impact_stiff_finish(self);
	return status;
}

static void move_bodies(struct impact_batch *self)
{
	struct velocity_step *v = &self->solve;
	const struct dynamics *dynamics = self->of->step->dynamics;
	velocity_mark_constrained(v);
	for (uint32_t i = 0; i < self->count; i++) {
		uint32_t body = self->step.bodies[i];
		struct spatial by = spatial_mul_add(v->moving[i], v->push[i], 1);
		if (impact_is_explicit(self->integrator[i]) && mass_moves(&v->mass, i))
			continue;
		if (self->integrator[i] == INTEGRATOR_IMPLICIT_EULER && !v->constrained[i] &&
		    mass_moves(&v->mass, i))
			v->motions[i] = integrate_motion(dynamics, body, &self->start[i],
							 v->forced[i], v->forced[i], self->step.dt);
		else if (v->constrained[i] && mass_moves(&v->mass, i))
			v->motions[i] = integrate_motion(dynamics, body, &self->start[i],
							 v->moving[i], by, self->step.dt);
		else
			v->motions[i] = integrate_free_at(dynamics, body, &self->start[i],
							  &v->starts[i], self->step.dt, 1);
		v->after[i] =
			(struct spatial){ v->motions[i].velocity, v->motions[i].angular_velocity };
	}
}

/* The rows at the end of the motion, where tangents are rotated by the slip of `after`. */
static enum status make_end(struct impact_batch *self, struct velocity_step *end)
{
	enum status status = velocity_state_at_end(&self->solve, end);
	end->forced = self->solve.after;
	return status;
}

/* Pushes, then velocities, at the end of the motion. */
static enum status finish_motion(struct impact_batch *self)
{
	struct velocity_step *v = &self->solve, end;
	struct step *step = self->of->step;
	enum status status = STATUS_OK;
	v->end_outcomes = arena_push_zero(&step->dynamics->scratch,
					  v->islands.count * sizeof *v->end_outcomes);
	if (v->end_outcomes == NULL)
		return STATUS_NO_MEMORY;
	/* Bodies outside of islands have no rows at the end; only those that cannot move are looked at. */
	memcpy(v->masses_end, v->masses, self->count * sizeof *v->masses);
	if (v->contact_count > 0) {
		status = make_end(self, &end);
		struct velocity_stage stage = { v, &end };
		if (status == STATUS_OK)
			status = islands_solve(step, &v->islands, impact_island_push, &stage);
	}
	if (status == STATUS_OK && v->joints.count > 0)
		status = velocity_joints_project(v);
	if (status != STATUS_OK)
		return status;
	velocity_masses_at_end(v);
	velocity_finish_pushes(v);
	if (v->joints.count > 0)
		status = velocity_joints_solve_end(v);
	if (status != STATUS_OK || v->contact_count == 0)
		return status;
	status = make_end(self, &end);
	struct velocity_stage stage = { v, &end };
	return status == STATUS_OK ? islands_solve(step, &v->islands, impact_island_end, &stage)
				   : status;
}

/* The kinetic energy that bodies gained in their motion beyond the work of their forces: the error of its
 * integration. */
static double energy_gain(const struct impact_batch *self, const uint32_t *slots, uint32_t count)
{
	const struct velocity_step *v = &self->solve;
	double gain = 0, h = self->step.dt;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = slots[i];
		ASSERT(at < self->count);
		vec3 way = vec3_sub(v->motions[at].centre, self->start[at].centre);
		gain += velocity_body_energy(&v->masses_end[at], v->after[at]) -
			velocity_body_energy(&v->masses[at], v->before[at]) -
			vec3_dot(v->force[at].linear, way) -
			h * vec3_dot(v->force[at].angular, v->moving[at].angular);
	}
	return gain;
}

/* Whether the motion of a body without constraints may gain energy. Under its automatic integrator it gains
 * nothing, unless it turns farther than that keeps its energy. */
static bool may_gain(const struct impact_batch *self, uint32_t i)
{
	const struct velocity_step *v = &self->solve;
	return mass_moves(&v->mass, i) &&
	       (self->integrator[i] != INTEGRATOR_AUTOMATIC ||
		vec3_length(v->forced[i].angular) * self->step.dt > INTEGRATE_TURN_MAX);
}

/* Whether joints of an island give it energy, of springs, motors or rotors: what it gains is then no
 * error. */
static bool is_driven(const struct velocity_step *v, const struct island *island)
{
	bool driven = false;
	for (uint32_t i = 0; i < island->constraint_count; i++) {
		uint32_t c = island->constraints[i];
		if (c < v->contact_count)
			continue;
		ASSERT(c - v->contact_count < v->joints.count);
		const struct joint *joint = &v->joints.joints[c - v->contact_count];
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
			driven |= joint->axes[axis].motor != 0 || joint->axes[axis].spring != 0 ||
				  joint->axes[axis].armature > 0;
	}
	return driven;
}

/* Whether a body that cannot give way moves in the batch's time, or a belt of its does. */
static bool is_carried(const struct impact_batch *self, const struct island *island)
{
	const struct velocity_step *v = &self->solve;
	bool carried = false;
	for (uint32_t i = 0; i < island->constraint_count; i++) {
		uint32_t c = island->constraints[i];
		ASSERT(c < v->contact_count);
		const struct contact_state *contact = &self->list.items[v->contact_of[c]];
		const uint32_t bodies[2] = { contact->body_a, contact->body_b };
		for (uint32_t side = 0; side < 2; side++) {
			struct body_motion at = motion_of(self, bodies[side]);
			carried |= is_fixed(self, bodies[side]) &&
				   !(vec3_equal(at.velocity, vec3_zero()) &&
				     vec3_equal(at.angular_velocity, vec3_zero()));
		}
		for (uint32_t b = v->first_block[c]; b < v->first_block[c + 1]; b++)
			for (uint32_t k = 0; k < v->rows.blocks[b].count; k++)
				carried |= v->rows.rows[v->rows.blocks[b].first + k].wanted != 0;
	}
	return carried;
}

/* Whether an island's motion gained more than IMPACT_GAIN permits, so that it moves again. Not where
 * the gain may be no error: joints and what carries a body do work, explicit integrators have the
 * errors of their order, and implicit Euler loses. */
static bool repeats(const struct impact_batch *self, const struct island *island, double gain)
{
	const struct velocity_step *v = &self->solve;
	double part = self->step.dt / self->of->step->dt, energy = 0;
	bool own = self->repeats && gain > 0 && !velocity_has_joints(v, island);
	ASSERT(part > 0);
	for (uint32_t i = 0; i < island->slot_count && own; i++) {
		uint32_t slot = island->slots[i];
		own = self->integrator[slot] == INTEGRATOR_AUTOMATIC;
		/* With what forces alone give in a tick: of a body that turns around it is all. */
		struct spatial more = spatial_mul_add(v->forced[slot], v->before[slot], -1);
		energy += velocity_body_energy(&v->masses[slot], v->before[slot]) +
			  velocity_body_energy(&v->masses[slot], more) / (part * part);
	}
	return own && gain > IMPACT_GAIN * part * energy && !is_carried(self, island);
}

/* Counts what the motion gained beyond what its pushes count already with them. */
static void count_gains(struct impact_batch *self)
{
	struct velocity_step *v = &self->solve;
	for (uint32_t i = 0; i < self->count && self->repeats; i++)
		self->of->gained[self->slots[i]] = 0;
	for (uint32_t i = 0; i < v->islands.count; i++) {
		const struct island *island = &v->islands.items[i];
		double gain = is_driven(v, island)
				      ? 0
				      : energy_gain(self, island->slots, island->slot_count);
		if (repeats(self, island, gain - v->outcomes[i].push_work)) {
			for (uint32_t k = 0; k < island->slot_count; k++)
				self->of->gained[self->slots[island->slots[k]]] = gain;
			v->outcomes[i] =
				(struct velocity_outcome){ .iterations =
								   v->outcomes[i].iterations };
			if (v->end_outcomes != NULL)
				v->end_outcomes[i] = v->outcomes[i];
			continue;
		}
		v->outcomes[i].push_work = scalar_max(v->outcomes[i].push_work, gain);
		self->of->counts.dead_ends += v->outcomes[i].dead_ends;
	}
	for (uint32_t i = 0; i < self->count; i++) {
		if (v->islands.island_of[i] != UINT32_MAX || !may_gain(self, i))
			continue;
		mass_bodies_from_tables(self->of->step->dynamics->tables, &self->step.bodies[i], 1,
					&v->motions[i], &v->masses_end[i]);
		double gain = energy_gain(self, &i, 1);
		self->of->step->dynamics->report.push_work += scalar_max(gain, 0);
	}
}

enum status impact_batch_move(struct impact_batch *self, struct body_motion *out, bool coming)
{
	struct velocity_step *v = &self->solve;
	for (uint32_t b = 0; b < v->rows.block_count; b++)
		v->rows.blocks[b].restitution = 0; /* collisions are resolved */
	enum status status = apply_forces(self);
	if (status == STATUS_OK)
		status = impact_stages_move(self);
	if (status == STATUS_OK)
		status = solve_forces(self);
	if (status != STATUS_OK)
		return status;
	move_bodies(self);
	if (v->constraint_count > 0)
		status = finish_motion(self);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < self->count; i++) {
		if (!mass_moves(&v->mass, i))
			continue;
		v->motions[i].velocity = v->after[i].linear;
		v->motions[i].angular_velocity = v->after[i].angular;
		out[self->slots[i]] = v->motions[i];
	}
	count_gains(self);
	velocity_merge_outcomes(&self->of->step->dynamics->report, v->outcomes, v->islands.count);
	if (v->end_outcomes != NULL)
		velocity_merge_outcomes(&self->of->step->dynamics->report, v->end_outcomes,
					v->islands.count);
	record_contacts(self, coming);
	if (v->joints.count > 0)
		record_joints(self, coming);
	return STATUS_OK;
}
