/* particle_holding.c: what systems have to do with bodies and with themselves, as clients command it: when
 * linked particles meet bodies, which particles bodies hold, whether linked particles meet each other, and
 * which body carries an emitter. */
#include "server/engine/particles/particle_birth.h"
#include "server/engine/particles/particle_holds.h"
#include "server/engine/particles/particle_sinks.h"
#include "server/engine/particles/particle_links.h"
#include "server/engine/particles/particle_meet.h"
#include "server/engine/world/particle_systems.h"

enum status check_particles_contacts(struct check *check, struct command *command)
{
	struct planned_system *system;
	return plan_find_system(check, &command->particles_contacts.system, &system);
}

void apply_particles_contacts(const struct apply_context *context, const struct command *command)
{
	const struct command_PARTICLES_CONTACTS *set = &command->particles_contacts;
	uint32_t row = dynamics_find_system(&context->world->dynamics, (system_id)set->system);
	ASSERT(row != DYNAMICS_NONE && set->contacts <= CONTACTS_WITHIN);
	context->world->tables.system.contacts[row] = set->contacts;
}

enum status check_particles_hold(struct check *check, struct command *command)
{
	struct command_PARTICLES_HOLD *hold = &command->particles_hold;
	struct planned_system *system;
	struct planned_body *body;
	enum status status = STATUS_OK;
	if (hold->body != 0)
		status = plan_find_body(check, &hold->body, &body);
	if (status == STATUS_OK)
		status = plan_find_system(check, &hold->system, &system);
	if (status == STATUS_OK)
		status = check_particles_linkable(check, system);
	if (status == STATUS_OK)
		status = check_particle_serial(check, system, hold->particle, "particle");
	if (status == STATUS_OK && hold->place != 0)
		status = check_in_plane(check, hold->point, "point");
	if (status == STATUS_OK && hold->body != 0) {
		system->linked = true;
		check->plan->new_holds++;
	}
	return status;
}

void apply_particles_hold(const struct apply_context *context, const struct command *command)
{
	const struct command_PARTICLES_HOLD *hold = &command->particles_hold;
	struct dynamics *dynamics = &context->world->dynamics;
	struct tables *tables = &context->world->tables;
	uint32_t system = particles_linked_row(context, hold->system, 1);
	if (hold->body == 0) {
		dynamics_hold_remove(dynamics, system, hold->particle);
		return;
	}
	uint32_t body = dynamics_find_body(dynamics, (body_id)hold->body);
	uint32_t particle = dynamics_find_particle(tables, system, hold->particle);
	ASSERT(body != DYNAMICS_NONE && particle != DYNAMICS_NONE);
	pose at = pose_make(tables->body.position[body], tables->body.rotation[body]);
	vec3 point = hold->point;
	if (hold->place == 0)
		point = pose_inverse_point(at, tables->particle.position[particle]);
	else if (hold->place == 1)
		tables->particle.position[particle] =
			vec3_max(vec3_min(pose_point(at, point), vec3_all(LENGTH_MAX)),
				 vec3_all(-LENGTH_MAX));
	const struct particle_hold made = { hold->particle, (body_id)hold->body, point,
					    hold->stiffness, hold->damping_ratio };
	dynamics_hold_add(dynamics, system, &made);
}

enum status check_particles_self(struct check *check, struct command *command)
{
	struct planned_system *system;
	enum status status = plan_find_system(check, &command->particles_self.system, &system);
	if (status == STATUS_OK && command->particles_self.thickness > 0)
		status = check_particles_linkable(check, system);
	return status;
}

void apply_particles_self(const struct apply_context *context, const struct command *command)
{
	const struct command_PARTICLES_SELF *set = &command->particles_self;
	struct system_table *table = &context->world->tables.system;
	uint32_t row = dynamics_find_system(&context->world->dynamics, (system_id)set->system);
	ASSERT(row != DYNAMICS_NONE);
	table->self_thickness[row] = set->thickness;
	table->self_friction[row] = set->friction;
	table->self_overlap[row] = 0;
}

static enum status check_meets(struct check *check, const struct planned_system *system,
			       const char *field)
{
	if (system->meets < PARTICLE_MEETINGS_MAX)
		return check_particles_linkable(check, system);
	return REFUSE(check, STATUS_LIMIT, field,
		      "%s is %u: that system meets %u others, the limit is %u: particles_meet with "
		      "thickness 0 ends one",
		      field, system->id, system->meets, PARTICLE_MEETINGS_MAX);
}

enum status check_particles_meet(struct check *check, struct command *command)
{
	struct command_PARTICLES_MEET *set = &command->particles_meet;
	struct planned_system *system, *other;
	enum status status = plan_find_named_system(check, &set->other, &other, "other");
	if (status == STATUS_OK)
		status = plan_find_system(check, &set->system, &system);
	if (status == STATUS_OK && system == other)
		return REFUSE(check, STATUS_RANGE, "other",
			      "other is %u, the system itself: particles_self lets its own "
			      "particles meet",
			      other->id);
	if (status != STATUS_OK || !(set->thickness > 0))
		return status;
	/* A pair that meets already gets other numbers. */
	const struct meeting_table *table = &check->world->tables.meeting;
	for (uint32_t row = 0; row < table->count; row++)
		if (table->a[row] == MIN_OF(system->id, other->id) &&
		    table->b[row] == MAX_OF(system->id, other->id))
			return STATUS_OK;
	status = check_meets(check, system, "system");
	if (status == STATUS_OK)
		status = check_meets(check, other, "other");
	if (status != STATUS_OK)
		return status;
	system->meets++;
	other->meets++;
	check->plan->new_meetings++;
	return STATUS_OK;
}

void apply_particles_meet(const struct apply_context *context, const struct command *command)
{
	const struct command_PARTICLES_MEET *set = &command->particles_meet;
	dynamics_meeting_set(&context->world->dynamics, (system_id)set->system,
			     (system_id)set->other, set->thickness, set->friction);
}

enum status check_particles_limit(struct check *check, struct command *command)
{
	const struct command_PARTICLES_LIMIT *set = &command->particles_limit;
	struct planned_system *system;
	enum status status = plan_find_system(check, &command->particles_limit.system, &system);
	if (status == STATUS_OK && set->stretch > 0 && set->stretch < STRETCH_LIMIT_MIN)
		return REFUSE(check, STATUS_RANGE, "stretch",
			      "stretch is %.10g: it must be 0 or at least %g", set->stretch,
			      STRETCH_LIMIT_MIN);
	return status;
}

void apply_particles_limit(const struct apply_context *context, const struct command *command)
{
	const struct command_PARTICLES_LIMIT *set = &command->particles_limit;
	uint32_t row = dynamics_find_system(&context->world->dynamics, (system_id)set->system);
	ASSERT(row != DYNAMICS_NONE);
	context->world->tables.system.stretch_limit[row] = set->stretch;
}

enum status check_particles_emitter(struct check *check, struct command *command)
{
	struct command_PARTICLES_EMITTER *set = &command->particles_emitter;
	struct planned_system *system;
	struct planned_body *body;
	enum status status = STATUS_OK;
	if (set->body != 0)
		status = plan_find_body(check, &set->body, &body);
	return status == STATUS_OK ? plan_find_system(check, &set->system, &system) : status;
}

void apply_particles_emitter(const struct apply_context *context, const struct command *command)
{
	const struct command_PARTICLES_EMITTER *set = &command->particles_emitter;
	struct dynamics *dynamics = &context->world->dynamics;
	struct system_table *table = &context->world->tables.system;
	uint32_t row = dynamics_find_system(dynamics, (system_id)set->system);
	ASSERT(row != DYNAMICS_NONE);
	dynamics_mount(dynamics, row, (body_id)set->body, set->place == 0);
	table->mount_velocity[row] = set->velocity;
	table->recoil[row] = set->recoil;
	table->room[row] = set->room;
}

/* ---- sinks ----------------------------------------------------------------------------------------- */

static enum status check_sink_region(struct check *check, const struct command_PARTICLES_SINK *set)
{
	if (set->region == SINK_BOX && !(vec3_min_component(set->size) > 0))
		return REFUSE(
			check, STATUS_RANGE, "size",
			"size of sink %u is (%.10g, %.10g, %.10g) m: a box needs lengths above 0",
			set->sink, set->size.x, set->size.y, set->size.z);
	if (set->region != SINK_BOX && !(set->radius > 0))
		return REFUSE(
			check, STATUS_RANGE, "radius",
			"radius of sink %u is %.10g m: a ball, and a body that takes particles, "
			"need one above 0",
			set->sink, set->radius);
	if (set->region == SINK_BODY && set->body == 0)
		return REFUSE(
			check, STATUS_RANGE, "body",
			"body of sink %u is 0: with region body, give the body that takes the "
			"particles",
			set->sink);
	return STATUS_OK;
}

enum status check_particles_sink(struct check *check, struct command *command)
{
	struct command_PARTICLES_SINK *set = &command->particles_sink;
	struct planned_system *system;
	struct planned_body *body;
	enum status status = plan_find_system(check, &set->system, &system);
	if (status == STATUS_OK && set->body != 0)
		status = plan_find_body(check, &set->body, &body);
	if (status != STATUS_OK)
		return status;
	uint32_t bit = 1u << (set->sink - 1);
	bool known = (system->sinks & bit) != 0;
	if (set->region == SINK_NONE && !known)
		return REFUSE(check, STATUS_UNKNOWN_SINK, "sink",
			      "system %u has no sink %u: there is none to remove", system->id,
			      set->sink);
	if (set->region == SINK_NONE) {
		system->sinks &= ~bit;
		return STATUS_OK;
	}
	status = check_sink_region(check, set);
	if (status != STATUS_OK)
		return status;
	check->plan->new_sinks += !known;
	system->sinks |= bit;
	return STATUS_OK;
}

void apply_particles_sink(const struct apply_context *context, const struct command *command)
{
	const struct command_PARTICLES_SINK *set = &command->particles_sink;
	struct dynamics *dynamics = &context->world->dynamics;
	uint32_t system = dynamics_find_system(dynamics, (system_id)set->system);
	ASSERT(system != DYNAMICS_NONE);
	if (set->region == SINK_NONE) {
		dynamics_sink_remove(dynamics, system, set->sink);
		return;
	}
	const struct particle_sink sink = {
		.number = set->sink,
		.region = set->region,
		.body = (body_id)set->body,
		.position = set->position,
		.size = set->size,
		.rotation = set->rotation,
		.radius = set->radius,
	};
	dynamics_sink_set(dynamics, system, &sink);
}
