/* stability.c: whether the bodies stand: the question of statics/stability.h about a world. */
#include "server/base/heap.h"
#include "server/engine/statics/plates.h"
#include "server/engine/statics/stability.h"
#include "server/engine/world/world.h"

/* 1, of its terms: a joint's force that changes by less is the same. */
#define SAME 1e-6

/* Whether less is known of a force of kind a than of one of kind b. */
static bool less_known(uint8_t a, uint8_t b)
{
	static const uint8_t RANKS[FORCE_KNOWN_KINDS] = { [FORCE_UNIQUE] = 0,
							  [FORCE_LEAST_NORM] = 1,
							  [FORCE_AS_FOUND] = 2,
							  [FORCE_NOT_DETERMINED] = 3 };
	ASSERT(a < FORCE_KNOWN_KINDS && b < FORCE_KNOWN_KINDS);
	return RANKS[a] > RANKS[b];
}

static void note_known(uint8_t known, struct stability_view *out)
{
	out->open += known != FORCE_UNIQUE;
	if (less_known(known, out->known))
		out->known = known;
}

static void view_contacts(const struct world *world, const struct stability *found,
			  struct stability_view *out)
{
	ASSERT(out->points == found->support.places.count);
	const struct body_table *body = &world->tables.body;
	for (uint32_t i = 0; i < out->points; i++) {
		const struct support_place *place = &found->support.places.items[i];
		struct statics_force force = equilibrium_force(&found->equilibrium, i);
		bool falls = found->verdict == STABILITY_FALLS;
		vec3 normal = found->support.points.items[i].normal;
		vec3 parting = falls ? equilibrium_parting(&found->equilibrium, i) : vec3_zero();
		double least = STABILITY_FALLING * found->equilibrium.scale;
		out->contacts[i] = (struct stability_contact){
			.a = body->id[place->a],
			.b = body->id[place->b],
			.child_a = place->child_a,
			.child_b = place->child_b,
			.point = place->point,
			.normal = normal,
			.separation = place->separation,
			.normal_force = force.normal,
			.friction_force = force.friction,
			.parting = parting,
			.breaks = falls && vec3_dot(parting, normal) > least,
			.known = found->equilibrium.known[i],
		};
		note_known(out->contacts[i].known, out);
	}
}

/* How a joint's force and torque differ in other forces that do the same, and the sizes of the terms. */
struct joint_change {
	vec3 force, torque;
	double forces, torques;
	uint8_t known; /* the least of its rows */
};

static void add_change(struct joint_change *self, const struct support_joint_row *row,
		       double change, uint8_t known)
{
	self->force = vec3_mul_add(self->force, row->force, change);
	self->torque = vec3_mul_add(self->torque, row->torque, change);
	self->forces += vec3_length(row->force) * scalar_abs(change);
	self->torques += vec3_length(row->torque) * scalar_abs(change);
	if (less_known(known, self->known))
		self->known = known;
}

/* A joint whose rows are not unique may be so itself: gears in a ring bear any load between them. */
static enum status know_joints(const struct stability *found, struct stability_view *out)
{
	const struct support_graph *support = &found->support;
	struct joint_change *changes = heap_alloc_zero((out->joints + 1u) * sizeof *changes);
	if (changes == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < out->joints; i++)
		changes[i].known = FORCE_UNIQUE;
	for (uint32_t i = 0; i < support->joint_rows.count; i++) {
		const struct support_joint_row *row = &support->joint_rows.items[i];
		add_change(&changes[row->joint], row, found->equilibrium.change[row->row],
			   found->equilibrium.known[out->points + row->row]);
	}
	for (uint32_t i = 0; i < out->joints; i++) {
		const struct joint_change *at = &changes[i];
		bool same = vec3_length(at->force) <= SAME * at->forces &&
			    vec3_length(at->torque) <= SAME * at->torques;
		bool examined = at->known != FORCE_NOT_DETERMINED;
		out->loaded[i].known = same && examined ? FORCE_UNIQUE : at->known;
		note_known(out->loaded[i].known, out);
	}
	heap_free(changes);
	return STATUS_OK;
}

static enum status view_joints(const struct world *world, const struct stability *found,
			       struct stability_view *out)
{
	const struct support_graph *support = &found->support;
	for (uint32_t i = 0; i < out->joints; i++) {
		const struct support_joint *from = &support->loaded.items[i];
		out->loaded[i] =
			(struct stability_joint){ world->tables.joint.id[from->row], from->anchor,
						  from->force, from->torque, FORCE_UNIQUE };
	}
	for (uint32_t i = 0; i < support->joint_rows.count; i++) {
		const struct support_joint_row *row = &support->joint_rows.items[i];
		struct stability_joint *to = &out->loaded[row->joint];
		double force = equilibrium_row_force(&found->equilibrium, row->row);
		to->force = vec3_mul_add(to->force, row->force, force);
		to->torque = vec3_mul_add(to->torque, row->torque, force);
	}
	return know_joints(found, out);
}

static enum status view_stability(const struct world *world, const struct stability *found,
				  struct stability_view *out)
{
	const struct statics_problem *problem = &found->support.problem;
	*out = (struct stability_view){
		.verdict = (uint8_t)found->verdict,
		.law = (uint8_t)found->law,
		.residual = found->residual,
		.kkt = found->kkt,
		.gap = found->gap,
		.witness = found->witness,
		.rounds = found->rounds,
		.fallbacks = found->equilibrium.fallbacks,
		.known = FORCE_UNIQUE,
		.bodies = problem->body_count,
		.points = problem->point_count,
		.rows = problem->row_count,
		.joints = found->support.loaded.count,
		.lower = found->margin_lower,
		.upper = found->margin_upper,
		.stands = found->margin_stands,
	};
	out->contacts = heap_alloc((out->points + 1u) * sizeof *out->contacts);
	out->motions = heap_alloc((out->bodies + 1u) * sizeof *out->motions);
	out->loaded = heap_alloc((out->joints + 1u) * sizeof *out->loaded);
	if (out->contacts == NULL || out->motions == NULL || out->loaded == NULL) {
		stability_view_release(out);
		return STATUS_NO_MEMORY;
	}
	view_contacts(world, found, out);
	enum status status = view_joints(world, found, out);
	if (status != STATUS_OK) {
		stability_view_release(out);
		return status;
	}
	for (uint32_t i = 0; i < out->bodies; i++) {
		bool falls = found->verdict == STABILITY_FALLS;
		struct spatial a = falls ? found->equilibrium.acceleration[i] : spatial_zero();
		out->motions[i] =
			(struct stability_motion){ world->tables.body.id[found->support.rows[i]],
						   a.linear, a.angular };
	}
	return STATUS_OK;
}

/* The state of lowest energy, into the view. */
static enum status view_lowest(const struct world *world, struct stability_view *out,
			       struct reason *why)
{
	struct plates plates;
	struct lowest_outcome found = { 0 };
	enum status status = plates_make(&plates, &world->dynamics, why);
	if (status == STATUS_OK)
		status = plates_lower(&plates, &world->dynamics, &found, why);
	if (status == STATUS_OK) {
		out->lowest = heap_alloc((plates.count + 1u) * sizeof *out->lowest);
		status = out->lowest != NULL ? STATUS_OK : STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0; i < plates.count && status == STATUS_OK; i++)
		if (!plates.items[i].fixed)
			out->lowest[out->plates++] = (struct stability_plate){
				world->tables.body.id[plates.rows[i]], plates.motions[i].rise,
				plates.motions[i].slope, plates.motions[i].across
			};
	out->drop = found.drop;
	out->drop_residual = found.residual;
	out->limited = found.limited;
	out->programmes = found.rounds;
	plates_release(&plates);
	return status;
}

static enum status check_query(const struct stability_query *query, struct reason *why)
{
	if (query->sides < STATICS_SIDES_MIN || query->sides > STATICS_SIDES_MAX ||
	    query->sides % 2 != 0)
		return reason_set(why, STATUS_RANGE, -1, "sides",
				  "sides is %u: a pyramid has an even number of %u to %u",
				  query->sides, (unsigned)STATICS_SIDES_MIN,
				  (unsigned)STATICS_SIDES_MAX);
	if (query->margin >= STABILITY_MARGINS)
		return reason_set(why, STATUS_RANGE, -1, "margin",
				  "margin is %u: it must be 0 none, 1 load, 2 push or 3 tilt",
				  query->margin);
	if (!(query->touch >= 0 && query->touch <= LENGTH_MAX))
		return reason_set(why, STATUS_RANGE, -1, "touch",
				  "touch is %.4g m: it must be from 0 to %.4g m", query->touch,
				  (double)LENGTH_MAX);
	if (!vec3_is_finite(query->direction))
		return reason_set(why, STATUS_NOT_FINITE, -1, "direction",
				  "direction is [%g, %g, %g]: its numbers must be finite",
				  query->direction.x, query->direction.y, query->direction.z);
	return STATUS_OK;
}

enum status world_stability(const struct world *world, const struct stability_query *query,
			    struct stability_view *out, struct reason *why)
{
	struct stability found;
	struct stability_options options = { .support = { query->touch, query->sides },
					     .margin = query->margin,
					     .direction = query->direction };
	enum status status = check_query(query, why);
	if (status != STATUS_OK)
		return status;
	bool of_body = query->margin == STABILITY_LOAD || query->margin == STABILITY_PUSH;
	if (of_body && query->body == 0)
		return reason_set(why, STATUS_MISSING, -1, "body",
				  "a margin of load or push is that of a body: name one with body");
	if (of_body) {
		options.body = dynamics_find_body(&world->dynamics, query->body);
		if (options.body == DYNAMICS_NONE || query->body == BODY_WALLS)
			return reason_set(why, STATUS_UNKNOWN_BODY, -1, "body",
					  "there is no body %u: a load or push needs one",
					  query->body);
	}
	status = stability_find(&found, &world->dynamics, &options, why);
	if (status == STATUS_OK)
		status = view_stability(world, &found, out);
	if (status == STATUS_OK && query->lowest) {
		status = view_lowest(world, out, why);
		if (status != STATUS_OK)
			stability_view_release(out);
	}
	if (status == STATUS_NO_MEMORY)
		reason_set(why, status, -1, "memory", "out of memory");
	stability_release(&found);
	return status;
}

void stability_view_release(struct stability_view *self)
{
	heap_free(self->contacts);
	heap_free(self->motions);
	heap_free(self->loaded);
	heap_free(self->lowest);
	*self = (struct stability_view){ 0 };
}
