/* force_fields.c: force fields as clients command and read them.
 *
 * FIELD_CREATE and FIELD_SET have the same properties in the same order, so one function checks both and
 * one writes both. */
#include "server/engine/world/force_fields.h"

#include "server/base/sort.h"
#include "server/engine/dynamics/force_field.h"

/* The properties of either command. */
static struct command_FIELD_CREATE properties_of(const struct command_FIELD_SET *set)
{
	return (struct command_FIELD_CREATE){
		.kind = set->kind,
		.region = set->region,
		.position = set->position,
		.rotation = set->rotation,
		.half = set->half,
		.falloff = set->falloff,
		.strength = set->strength,
		.velocity = set->velocity,
		.linear = set->linear,
		.quadratic = set->quadratic,
		.angular = set->angular,
		.power = set->power,
		.core = set->core,
		.flags = set->flags,
		.mask = set->mask,
		.tag = set->tag,
		.density = set->density,
	};
}

/* ---- checks ------------------------------------------------------------------------------------ */

static enum status check_region(struct check *check, const struct command_FIELD_CREATE *field)
{
	vec3 half = field->half;
	bool box = field->region == FIELD_BOX;
	if (field->region == FIELD_BALL && !(half.x > 0))
		return REFUSE(check, STATUS_RANGE, "half",
			      "half.x is %.10g: it is the radius of the ball and must be above 0",
			      half.x);
	if (box && !(half.x > 0 && half.y > 0 && (half.z > 0 || check->planar)))
		return REFUSE(
			check, STATUS_RANGE, "half",
			"half is [%.10g, %.10g, %.10g]: the half sizes of a box must be above 0",
			half.x, half.y, half.z);
	if (field->kind == FIELD_FLUID && field->region == FIELD_BALL)
		return REFUSE(
			check, STATUS_RANGE, "region",
			"region is ball: a fluid has a level surface; choose everywhere (below "
			"position) or box (below its top)");
	if (field->kind == FIELD_FLUID && field->falloff != FIELD_CONSTANT)
		return REFUSE(
			check, STATUS_RANGE, "falloff",
			"falloff is %s: a fluid has the same density everywhere; leave it constant",
			command_word(WORDS_FIELD_FALLOFF, field->falloff));
	if (field->kind == FIELD_MUTUAL && box)
		return REFUSE(
			check, STATUS_RANGE, "region",
			"region is box: bodies attract each other at any distance or within one; "
			"choose everywhere or ball (radius: how far)");
	if (field->region == FIELD_EVERYWHERE && field->falloff != FIELD_CONSTANT)
		return REFUSE(
			check, STATUS_RANGE, "falloff",
			"falloff is %s: a field that is everywhere has no border to fall off to; "
			"choose the region ball or box",
			command_word(WORDS_FIELD_FALLOFF, field->falloff));
	if (field->falloff == FIELD_COMPONENTS && !(box && field->kind == FIELD_WIND))
		return REFUSE(check, STATUS_RANGE, "falloff",
			      "falloff is components: only a wind in a box has it; use linear");
	return STATUS_OK;
}

/* Numbers that the kind does not use must be 0, because they would have no effect. */
static enum status check_kind(struct check *check, const struct command_FIELD_CREATE *field)
{
	const char *kind = command_word(WORDS_FIELD_KIND, field->kind);
	bool fluid = field->kind == FIELD_FLUID, drag = field->kind == FIELD_DRAG || fluid;
	vec3 s = field->strength, v = field->velocity;
	if (drag && !vec3_equal(s, vec3_zero()))
		return REFUSE(
			check, STATUS_RANGE, "strength",
			"strength is [%.10g, %.10g, %.10g]: a %s has none; set linear, quadratic "
			"and the medium's velocity",
			s.x, s.y, s.z, kind);
	if (fluid != (field->density > 0))
		return REFUSE(
			check, STATUS_RANGE, "density",
			fluid ? "density is %.10g: that of a fluid must be above 0 (water: 1000)"
			      : "density is %.10g: only a fluid has one; use the kind fluid",
			field->density);
	if (field->kind == FIELD_ATTRACTOR && (s.y != 0 || s.z != 0))
		return REFUSE(
			check, STATUS_RANGE, "strength",
			"strength is [%.10g, %.10g, %.10g]: an attractor pulls towards its centre "
			"with x; y and z must be 0",
			s.x, s.y, s.z);
	if (field->kind == FIELD_MUTUAL && (s.y != 0 || s.z != 0))
		return REFUSE(
			check, STATUS_RANGE, "strength",
			"strength is [%.10g, %.10g, %.10g]: bodies attract each other with x; y and z "
			"must be 0",
			s.x, s.y, s.z);
	if (field->kind == FIELD_MUTUAL && !vec3_equal(field->position, vec3_zero()))
		return REFUSE(
			check, STATUS_RANGE, "position",
			"position is [%.10g, %.10g, %.10g]: a mutual field has no place; leave it 0",
			field->position.x, field->position.y, field->position.z);
	if (!drag && (field->linear != 0 || field->quadratic != 0 || field->angular != 0))
		return REFUSE(
			check, STATUS_RANGE,
			field->linear != 0	? "linear"
			: field->quadratic != 0 ? "quadratic"
						: "angular",
			"linear is %.10g, quadratic %.10g, angular %.10g: a %s has none of these, "
			"only a drag or fluid",
			field->linear, field->quadratic, field->angular, kind);
	if (!drag && !vec3_equal(v, vec3_zero()))
		return REFUSE(
			check, STATUS_RANGE, "velocity",
			"velocity is [%.10g, %.10g, %.10g]: only a drag or fluid has a medium that moves, "
			"and this is a %s",
			v.x, v.y, v.z, kind);
	return STATUS_OK;
}

/* In a planar world a field acts in the plane. */
static enum status check_plane(struct check *check, const struct command_FIELD_CREATE *field)
{
	vec3 s = field->strength;
	enum status status = check_in_plane(check, field->position, "position");
	if (status == STATUS_OK)
		status = check_about_z(check, vec3_make(field->rotation.x, field->rotation.y, 0),
				       "rotation");
	if (status == STATUS_OK)
		status = check_in_plane(check, field->velocity, "velocity");
	if (status != STATUS_OK || !check->planar)
		return status;
	if (field->kind == FIELD_VORTEX && s.y != 0)
		return REFUSE(
			check, STATUS_PLANAR, "strength",
			"strength has y = %.10g: in a planar world nothing moves along the axis of a "
			"vortex, so it must be 0",
			s.y);
	return field->kind == FIELD_WIND ? check_in_plane(check, s, "strength") : STATUS_OK;
}

static enum status check_properties(struct check *check, const struct command_FIELD_CREATE *field)
{
	enum status status = check_world_command(check);
	if (status == STATUS_OK)
		status = check_region(check, field);
	if (status == STATUS_OK)
		status = check_kind(check, field);
	if (status == STATUS_OK)
		status = check_plane(check, field);
	return status;
}

enum status check_field_create(struct check *check, struct command *command)
{
	struct batch_plan *plan = check->plan;
	enum status status = check_properties(check, &command->field_create);
	if (status != STATUS_OK)
		return status;
	if (plan->fields_after >= FIELDS_MAX)
		return REFUSE(
			check, STATUS_LIMIT, "fields",
			"the world has %u force fields, the limit is %u: field_remove makes room",
			plan->fields_after, FIELDS_MAX);
	if (plan->next_field >= IDS_END)
		return REFUSE(check, STATUS_LIMIT, "fields",
			      "all ids of force fields of this world are used up");
	field_id id = plan->next_field++;
	plan->values[check->index] = id;
	plan->fields[plan->field_count] = (struct planned_field){ .id = id };
	plan_index_put(check, plan_field_key(id), plan->field_count++);
	plan->fields_after++;
	plan->new_fields++;
	return STATUS_OK;
}

enum status check_field_remove(struct check *check, struct command *command)
{
	struct planned_field *field;
	enum status status = check_world_command(check);
	if (status == STATUS_OK)
		status = plan_find_field(check, &command->field_remove.field, &field);
	if (status != STATUS_OK)
		return status;
	field->removed = true;
	check->plan->fields_after--;
	return STATUS_OK;
}

enum status check_field_set(struct check *check, struct command *command)
{
	struct planned_field *field;
	struct command_FIELD_CREATE properties = properties_of(&command->field_set);
	enum status status = check_properties(check, &properties);
	if (status == STATUS_OK)
		status = plan_find_field(check, &command->field_set.field, &field);
	return status;
}

/* ---- applying ---------------------------------------------------------------------------------- */

static uint32_t row_of(const struct apply_context *context, int64_t id)
{
	uint32_t row = dynamics_find_field(&context->world->dynamics, (field_id)id);
	ASSERT(row != ROW_NONE);
	return row;
}

static void fill_field(struct field_table *table, uint32_t row,
		       const struct command_FIELD_CREATE *from)
{
	ASSERT(row < table->count);
	table->kind[row] = from->kind;
	table->region[row] = from->region;
	table->falloff[row] = from->falloff;
	table->flags[row] = (uint8_t)from->flags;
	table->power[row] = (uint8_t)from->power;
	table->mask[row] = from->mask;
	table->tag[row] = from->tag;
	table->position[row] = from->position;
	table->rotation[row] = from->rotation;
	table->half[row] = from->half;
	table->strength[row] = from->strength;
	table->velocity[row] = from->velocity;
	table->linear[row] = from->linear;
	table->quadratic[row] = from->quadratic;
	table->angular[row] = from->angular;
	table->core[row] = from->core;
	table->density[row] = from->density;
}

void apply_field_create(const struct apply_context *context, const struct command *command)
{
	struct world *world = context->world;
	struct tables *tables = &world->tables;
	uint32_t row = dynamics_field_take(&world->dynamics);
	tables->field.id[row] = tables->world.next_field[0]++;
	ASSERT(tables->field.id[row] == context->plan->values[context->index]);
	fill_field(&tables->field, row, &command->field_create);
	dynamics_field_wake(&world->dynamics, row);
}

void apply_field_remove(const struct apply_context *context, const struct command *command)
{
	struct dynamics *dynamics = &context->world->dynamics;
	uint32_t row = row_of(context, command->field_remove.field);
	dynamics_field_wake(dynamics, row);
	dynamics_field_free(dynamics, row);
}

void apply_field_set(const struct apply_context *context, const struct command *command)
{
	struct dynamics *dynamics = &context->world->dynamics;
	struct command_FIELD_CREATE properties = properties_of(&command->field_set);
	uint32_t row = row_of(context, command->field_set.field);
	dynamics_field_wake(dynamics, row);
	fill_field(&context->world->tables.field, row, &properties);
	dynamics_field_wake(dynamics, row);
}

/* ---- reading ----------------------------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b, void *context)
{
	UNUSED(context);
	const struct field_view *x = a, *y = b;
	return x->id < y->id ? -1 : x->id > y->id;
}

uint32_t world_fields(const struct world *world, struct field_view out[FIELDS_MAX])
{
	const struct field_table *table = &world->tables.field;
	struct field_view scratch[FIELDS_MAX];
	uint32_t count = 0;
	for (uint32_t row = 0; row < table->count; row++) {
		if (table->id[row] == 0)
			continue;
		out[count++] = (struct field_view){
			.id = table->id[row],
			.kind = table->kind[row],
			.region = table->region[row],
			.falloff = table->falloff[row],
			.flags = table->flags[row],
			.power = table->power[row],
			.mask = table->mask[row],
			.tag = table->tag[row],
			.position = table->position[row],
			.rotation = table->rotation[row],
			.half = table->half[row],
			.strength = table->strength[row],
			.velocity = table->velocity[row],
			.linear = table->linear[row],
			.quadratic = table->quadratic[row],
			.angular = table->angular[row],
			.core = table->core[row],
			.density = table->density[row],
		};
	}
	/* Rows are in order of ids unless a later field has reused the row of a removed one. */
	sort_items(out, scratch, count, sizeof *out, compare_ids, NULL);
	return count;
}

void world_field_force(const struct world *world, vec3 at, vec3 velocity, double mass,
		       vec3 *acceleration, vec3 *force)
{
	const struct tables *tables = &world->tables;
	struct force_sum sum = { vec3_zero(), vec3_zero(), vec3_zero() };
	const struct force_state state = { at, quat_identity(), velocity, vec3_zero(), mass };
	for (uint32_t row = 0; row < tables->field.count; row++)
		if (tables->field.id[row] != 0)
			force_field_at(tables, row, &state, 0, &sum);
	*acceleration = sum.acceleration;
	*force = sum.force;
}
