/* pieces.c: see pieces.h.
 *
 * Densities. As soon as one piece has a density of its own, the body's mass, centre and inertia
 * are the sums over its pieces (app D-01), each with its own density or with the body's; that is
 * its mass divided by the volume of its shapes as they were before, and is kept (body.density).
 * The check and the application make the same sum in the same order, one from the plan and one
 * from the tables, so what was checked is what is set. The velocity is that of the mass centre:
 * when the centre moves in a body that turns, its points keep their velocities.
 */
#include "server/engine/world/pieces.h"

#include "server/engine/dynamics/belt.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/piece.h"

#include <string.h>

_Static_assert(ATTACHMENTS_MAX == 64 && PATCHES_END == 65, "limits of set_piece in commands.def");

/* ---- pieces of a planned body -------------------------------------------------------------- */

static const struct attachment_list *spawned(const struct check *check,
					     const struct planned_body *body)
{
	ASSERT(body->row == ROW_NONE);
	return &check->plan->commands[body->spawn].spawn.shapes;
}

/* Lists the body's pieces with density 0; returns how many. */
static uint32_t list_pieces(const struct check *check, const struct planned_body *body,
			    struct mass_part parts[ATTACHMENTS_MAX])
{
	uint32_t count = 0;
	if (body->row == ROW_NONE) {
		const struct attachment_list *list = spawned(check, body);
		const struct shape *const *shapes =
			check->plan->attached + (list->items - check->plan->attachments);
		for (; count < list->count; count++)
			parts[count] = (struct mass_part){ shapes[count],
							   pose_make(list->items[count].position,
								     list->items[count].rotation),
							   0 };
		return count;
	}
	const struct tables *tables = &check->world->tables;
	for (uint32_t p = tables->body.first_placement[body->row]; p != 0;
	     p = tables->placement.next[p - 1])
		parts[count++] =
			(struct mass_part){ check->world->shapes[tables->placement.shape[p - 1]],
					    placement_pose(tables, p - 1), 0 };
	ASSERT(count <= ATTACHMENTS_MAX);
	return count;
}

/* ---- densities ----------------------------------------------------------------------------- */

/* kg/m3: of a body of this mass, if all its pieces have the same; 0 without a volume. The parts'
 * densities are set to 1. */
static double mean_density(struct mass_part *parts, uint32_t count, double mass)
{
	for (uint32_t i = 0; i < count; i++)
		parts[i].density = 1;
	double volume = mass_combine(parts, count).mass;
	return volume > 0 ? mass / volume : 0;
}

/* Sets each density: the piece's own in the tables, 0 without. */
static void read_densities(const struct dynamics *dynamics, uint32_t row, struct mass_part *parts)
{
	const struct tables *tables = dynamics->tables;
	for (uint32_t p = tables->body.first_placement[row]; p != 0;
	     p = tables->placement.next[p - 1], parts++) {
		uint32_t own = piece_own(dynamics, (struct contact_piece){ p - 1, 0 }, OWN_DENSITY);
		parts->density = own != DYNAMICS_NONE ? tables->piece.density[own] : 0;
	}
}

static struct body_mass weigh(struct mass_part *parts, uint32_t count, double density, bool planar)
{
	for (uint32_t i = 0; i < count; i++)
		if (parts[i].density == 0)
			parts[i].density = density;
	return body_mass_of_parts(parts, count, planar);
}

/* Notes a density in the plan: replaces the piece's, if it is noted already. */
static void plan_weight(struct check *check, struct planned_body *body, uint32_t piece,
			double density)
{
	struct batch_plan *plan = check->plan;
	for (uint32_t at = body->weights; at != 0; at = plan->weights[at - 1].next)
		if (plan->weights[at - 1].piece == piece) {
			plan->weights[at - 1].density = density;
			return;
		}
	plan->weights[plan->weight_count++] =
		(struct planned_weight){ piece, body->weights, density };
	body->weights = plan->weight_count;
}

/* m/s: what the velocity of the mass centre changes by when the centre moves, so that points keep
 * theirs. */
static vec3 centre_gain(quat rotation, vec3 spin, vec3 before, vec3 after)
{
	return vec3_cross(spin, quat_rotate(rotation, vec3_sub(after, before)));
}

/* The body's mass after the command; the parts are its pieces. */
static enum status check_weight(struct check *check, const struct command_SET_PIECE *set,
				struct planned_body *body, struct mass_part *parts, uint32_t count)
{
	struct batch_plan *plan = check->plan;
	bool own = (set->own & OWN_DENSITY) != 0;
	if (!own && body->density == 0)
		return STATUS_OK;
	double density = body->density;
	if (density == 0 && !body->static_only)
		density = mean_density(parts, count, body->mass.mass);
	if (density == 0)
		return REFUSE(check, STATUS_RANGE, "density",
			      "density is %.10g: body %u has a plane or a mesh and so no mass; "
			      "leave bit 4 of own out",
			      set->density, body->id);
	body->density = density;
	for (uint32_t i = 0; i < count; i++)
		parts[i].density = 0;
	if (body->row != ROW_NONE)
		read_densities(&check->world->dynamics, body->row, parts);
	plan_weight(check, body, set->piece, own ? set->density : 0);
	for (uint32_t at = body->weights; at != 0; at = plan->weights[at - 1].next)
		parts[plan->weights[at - 1].piece].density = plan->weights[at - 1].density;
	struct body_mass mass = weigh(parts, count, body->density, check->planar);
	body->velocity =
		vec3_add(body->velocity, centre_gain(body->rotation, body->angular_velocity,
						     body->mass.centre, mass.centre));
	body->mass = mass;
	if (body->status != BODY_DYNAMIC)
		return STATUS_OK;
	return body_mass_check(&mass, check->planar, body->flags & BODY_FIXED_ROTATION,
			       check->index, check->why);
}

/* ---- the command --------------------------------------------------------------------------- */

static const struct {
	const char *first, *last;
	uint8_t own;
} OWNED[] = {
	{ "static_friction", "axis_friction", OWN_MATERIAL },
	{ "category", "group", OWN_FILTER },
	{ "sensor", "sensor", OWN_SENSOR },
	{ "surface_velocity", "surface_velocity", OWN_SURFACE },
	{ "density", "density", OWN_DENSITY },
};

static size_t value_bytes(enum field_type type)
{
	switch (type) {
	case FIELD_ENUM:
		return sizeof(field_c_ENUM);
	case FIELD_U32:
		return sizeof(field_c_U32);
	case FIELD_VEC3:
		return sizeof(field_c_VEC3);
	default:
		ASSERT(type == FIELD_F64 || type == FIELD_INTEGER);
		return sizeof(field_c_F64);
	}
}

/* A value that the piece does not have is refused, because it would have no effect. */
static enum status check_owned(struct check *check, const struct command *command)
{
	const struct command_info *info = command_info(COMMAND_SET_PIECE);
	struct command initial;
	command_defaults(&initial, COMMAND_SET_PIECE);
	uint32_t group = 0;
	bool inside = false;
	for (uint32_t i = 0; i < info->field_count && group < COUNT_OF(OWNED); i++) {
		const struct command_field *field = &info->fields[i];
		inside |= strcmp(field->name, OWNED[group].first) == 0;
		if (!inside)
			continue;
		uint8_t own = OWNED[group].own;
		bool same = memcmp((const char *)command + field->offset,
				   (const char *)&initial + field->offset,
				   value_bytes(field->type)) == 0;
		if (!(command->set_piece.own & own) && !same)
			return REFUSE(check, STATUS_RANGE, field->name,
				      "%s is given, and own is %u: the piece has it from its body; "
				      "add %u to own",
				      field->name, command->set_piece.own, own);
		inside = strcmp(field->name, OWNED[group].last) != 0;
		group += !inside;
	}
	ASSERT(group == COUNT_OF(OWNED));
	return STATUS_OK;
}

static enum status check_patch(struct check *check, const struct command_SET_PIECE *set,
			       const struct shape *shape)
{
	if (set->patch == 0)
		return STATUS_OK;
	bool surface = shape_is_surface(shape);
	uint32_t most = surface ? shape->mesh->patch_max : 0;
	if (set->patch > most)
		return REFUSE(check, STATUS_RANGE, "patch",
			      "patch is %u: piece %u is a %s %s; 0 is the whole piece", set->patch,
			      set->piece, shape_kind_name(shape->kind),
			      surface ? "without triangles of this number"
				      : "and only meshes and heightfields have patches");
	if (set->own & ~(uint32_t)OWN_OF_PATCH)
		return REFUSE(
			check, STATUS_RANGE, "own",
			"own is %u: a patch of a mesh has bits 0 and 3 only, set the rest of patch 0",
			set->own);
	return STATUS_OK;
}

enum status check_set_piece(struct check *check, struct command *command)
{
	const struct command_SET_PIECE *set = &command->set_piece;
	struct mass_part parts[ATTACHMENTS_MAX];
	struct planned_body *body;
	enum status status = plan_find_body(check, &command->set_piece.body, &body);
	if (status != STATUS_OK)
		return status;
	uint32_t count = list_pieces(check, body, parts);
	if (set->piece >= count)
		return REFUSE(check, STATUS_RANGE, "piece",
			      "piece is %u: body %u has %u shapes, numbered from 0", set->piece,
			      body->id, count);
	status = check_owned(check, command);
	if (status == STATUS_OK)
		status = check_patch(check, set, parts[set->piece].shape);
	if (status == STATUS_OK)
		status = check_in_plane(check, set->surface_velocity, "surface_velocity");
	check->plan->new_pieces += set->own != 0;
	if (status != STATUS_OK || set->patch > 0)
		return status;
	return check_weight(check, set, body, parts, count);
}

static void fill_row(struct piece_table *table, uint32_t row, const struct command_SET_PIECE *set)
{
	ASSERT(set->own != 0 && set->own <= OWN_ALL);
	table->own[row] = (uint8_t)set->own;
	if (set->own & OWN_MATERIAL) {
		table->static_friction[row] = set->static_friction;
		table->dynamic_friction[row] = set->dynamic_friction;
		table->restitution[row] = set->restitution;
		table->friction_rule[row] = set->friction_rule;
		table->restitution_rule[row] = set->restitution_rule;
		table->rolling_friction[row] = set->rolling_friction;
		table->spinning_friction[row] = set->spinning_friction;
		table->friction_axis[row] = set->friction_axis;
		table->axis_friction[row] = set->axis_friction;
	}
	if (set->own & OWN_FILTER) {
		table->category[row] = set->category;
		table->mask[row] = set->mask;
		table->group[row] = set->group;
	}
	if (set->own & OWN_SENSOR)
		table->sensor[row] = set->sensor;
	if (set->own & OWN_SURFACE)
		table->surface_velocity[row] = set->surface_velocity;
	if (set->own & OWN_DENSITY)
		table->density[row] = set->density;
}

/* After its rows were set. `gets`: a piece has its own density now. */
static void set_weight(struct world *world, uint32_t row, bool gets)
{
	struct tables *tables = &world->tables;
	struct body_table *body = &tables->body;
	struct mass_part parts[ATTACHMENTS_MAX];
	uint32_t count = 0;
	if (!gets && body->density[row] == 0)
		return;
	for (uint32_t p = body->first_placement[row]; p != 0; p = tables->placement.next[p - 1])
		parts[count++] = (struct mass_part){ world->shapes[tables->placement.shape[p - 1]],
						     placement_pose(tables, p - 1), 0 };
	if (body->density[row] == 0)
		body->density[row] = mean_density(parts, count, body->mass[row]);
	ASSERT(body->density[row] > 0);
	read_densities(&world->dynamics, row, parts);
	struct body_mass mass =
		weigh(parts, count, body->density[row], tables->world.planar[0] != 0);
	vec3 gain = centre_gain(body->rotation[row], body->angular_velocity[row], body->centre[row],
				mass.centre);
	vec3 velocity = vec3_add(body->velocity[row], gain);
	double speed = vec3_length(velocity), most = dynamics_speed_max(tables, row);
	body->velocity[row] = speed > most ? vec3_scale(velocity, most / speed) : velocity;
	body->mass[row] = mass.mass;
	body->centre[row] = mass.centre;
	memcpy(body->inertia[row], mass.inertia, sizeof mass.inertia);
	body_inverses_set(tables, row);
}

void apply_set_piece(const struct apply_context *context, const struct command *command)
{
	struct world *world = context->world;
	struct dynamics *dynamics = &world->dynamics;
	struct tables *tables = &world->tables;
	const struct command_SET_PIECE *set = &command->set_piece;
	uint32_t row = dynamics_find_body(dynamics, (body_id)set->body);
	ASSERT(row != ROW_NONE);
	uint32_t p = tables->body.first_placement[row];
	for (uint32_t i = 0; i < set->piece; i++)
		p = tables->placement.next[p - 1];
	ASSERT(p != 0);
	if (set->own == 0)
		dynamics_piece_free(dynamics, p - 1, set->patch);
	else
		fill_row(&tables->piece, dynamics_piece_take(dynamics, p - 1, set->patch), set);
	if (set->patch == 0)
		set_weight(world, row, (set->own & OWN_DENSITY) != 0);
	piece_refresh(dynamics, row);
	dynamics_surface_changed(dynamics, row, false);
	changes_update(&world->changes, tables, row);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The command that fill_row would make this row from. */
static void read_row(const struct piece_table *table, uint32_t row, struct command_SET_PIECE *set)
{
	struct command initial;
	command_defaults(&initial, COMMAND_SET_PIECE);
	*set = initial.set_piece;
	set->own = table->own[row];
	set->patch = table->patch[row];
	if (set->own & OWN_MATERIAL) {
		set->static_friction = table->static_friction[row];
		set->dynamic_friction = table->dynamic_friction[row];
		set->restitution = table->restitution[row];
		set->friction_rule = table->friction_rule[row];
		set->restitution_rule = table->restitution_rule[row];
		set->rolling_friction = table->rolling_friction[row];
		set->spinning_friction = table->spinning_friction[row];
		set->friction_axis = table->friction_axis[row];
		set->axis_friction = table->axis_friction[row];
	}
	if (set->own & OWN_FILTER) {
		set->category = table->category[row];
		set->mask = table->mask[row];
		set->group = table->group[row];
	}
	if (set->own & OWN_SENSOR)
		set->sensor = table->sensor[row];
	if (set->own & OWN_SURFACE)
		set->surface_velocity = table->surface_velocity[row];
	if (set->own & OWN_DENSITY)
		set->density = table->density[row];
}

enum status world_pieces(const struct world *world, body_id body, uint32_t first,
			 struct command_SET_PIECE *out, uint32_t capacity, uint32_t *count)
{
	const struct tables *tables = &world->tables;
	const struct placement_table *placed = &tables->placement;
	uint32_t row =
		body == BODY_WALLS ? DYNAMICS_NONE : dynamics_find_body(&world->dynamics, body);
	uint32_t piece = 0, passed = 0;
	*count = 0;
	if (row == DYNAMICS_NONE)
		return STATUS_UNKNOWN_BODY;
	for (uint32_t p = tables->body.first_placement[row]; p != 0;
	     p = placed->next[p - 1], piece++)
		for (uint32_t at = placed->first_piece[p - 1]; at != 0;
		     at = tables->piece.next[at - 1]) {
			if (passed++ < first || *count == capacity)
				continue;
			struct command_SET_PIECE *set = &out[(*count)++];
			read_row(&tables->piece, at - 1, set);
			set->body = body;
			set->piece = piece;
		}
	return STATUS_OK;
}
