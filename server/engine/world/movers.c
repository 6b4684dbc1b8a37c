/* movers.c: commands of movers, and reading them. See movers.h. */
#include "server/engine/world/movers.h"

#include "server/engine/dynamics/mover_list.h"

/* `ticks` of a wish that lasts until there is another. */
#define WISH_FOR_EVER UINT32_MAX

/* ---- checks -------------------------------------------------------------------------------- */

enum status check_no_mover(struct check *check, const struct planned_body *body)
{
	if (!body->mover)
		return STATUS_OK;
	return REFUSE(check, STATUS_STATUS_WRONG, "body",
		      "body %u is a mover, whose velocities the world makes: steer moves it, "
		      "set_pose puts it elsewhere, set_mover with enabled 0 ends that",
		      body->id);
}

/* The only shape of a body; NULL: it has none or several. */
static const struct shape *only_shape(const struct check *check, const struct planned_body *body)
{
	const struct batch_plan *plan = check->plan;
	const struct tables *tables = &check->world->tables;
	if (body->row == ROW_NONE) {
		const struct attachment_list *list = &plan->commands[body->spawn].spawn.shapes;
		return list->count == 1 ? plan->attached[list->items - plan->attachments] : NULL;
	}
	uint32_t first = tables->body.first_placement[body->row];
	if (first == 0 || tables->placement.next[first - 1] != 0)
		return NULL;
	return check->world->shapes[tables->placement.shape[first - 1]];
}

static bool may_walk(const struct shape *shape)
{
	return shape != NULL && !shape_is_ground(shape) && !shape_is_field(shape) &&
	       shape_piece_count(shape) == 1;
}

enum status check_set_mover(struct check *check, struct command *command)
{
	const struct command_SET_MOVER *set = &command->set_mover;
	struct planned_body *body;
	enum status status = plan_find_body(check, &command->set_mover.body, &body);
	if (status != STATUS_OK)
		return status;
	if (set->enabled == 0) {
		body->mover = false;
		return STATUS_OK;
	}
	if (check->planar)
		return REFUSE(
			check, STATUS_PLANAR, "body",
			"body %u is in a planar world: movers need a spatial one; move_to and "
			"set_velocity move animated bodies in the plane",
			body->id);
	if (body->status != BODY_ANIMATED || body->quarantined)
		return REFUSE(check, STATUS_STATUS_WRONG, "body",
			      "body %u is %s: a mover must be animated; set_status changes that",
			      body->id,
			      body->quarantined ? "in quarantine"
						: command_word(WORDS_BODY_STATUS, body->status));
	if (!may_walk(only_shape(check, body)))
		return REFUSE(
			check, STATUS_UNSUPPORTED, "body",
			"body %u must have exactly one shape, and that a convex one: a capsule, "
			"sphere, cylinder, box or hull",
			body->id);
	check->plan->new_movers += !body->mover;
	body->mover = true;
	body->velocity = body->angular_velocity = vec3_zero();
	return STATUS_OK;
}

enum status check_steer(struct check *check, struct command *command)
{
	struct planned_body *body;
	enum status status = plan_find_body(check, &command->steer.body, &body);
	if (status == STATUS_OK && !body->mover)
		return REFUSE(check, STATUS_STATUS_WRONG, "body",
			      "body %u is no mover: set_mover makes an animated body one",
			      body->id);
	return status;
}

/* ---- applying ------------------------------------------------------------------------------ */

static uint32_t row_of(const struct apply_context *context, int64_t id)
{
	uint32_t row = dynamics_find_body(&context->world->dynamics, (body_id)id);
	ASSERT(row != ROW_NONE);
	return row;
}

static void set_velocity(struct world *world, uint32_t body, vec3 velocity)
{
	if (world->tables.body.status[body] == BODY_ANIMATED)
		dynamics_body_steered(&world->dynamics, body, velocity);
	changes_update(&world->changes, &world->tables, body);
}

void apply_set_mover(const struct apply_context *context, const struct command *command)
{
	struct world *world = context->world;
	struct tables *tables = &world->tables;
	const struct command_SET_MOVER *set = &command->set_mover;
	uint32_t body = row_of(context, set->body), row = dynamics_mover_of(tables, body);
	world->dynamics.disturbed = true;
	if (row != DYNAMICS_NONE || set->enabled != 0)
		set_velocity(world, body, vec3_zero());
	if (set->enabled == 0) {
		dynamics_mover_free(&world->dynamics, body);
		return;
	}
	if (row == DYNAMICS_NONE) {
		row = dynamics_mover_take(&world->dynamics, body);
		tables->mover.ticks[row] = WISH_FOR_EVER;
	}
	tables->body.flags[body] &= (uint8_t) ~(BODY_AIMED | BODY_ARRIVES);
	tables->mover.step_height[row] = set->step_height;
	tables->mover.slope[row] = set->slope;
	tables->mover.push_force[row] = set->push_force;
	tables->mover.snap[row] = set->snap;
	ASSERT(tables->mover.body[row] == body + 1);
}

void apply_steer(const struct apply_context *context, const struct command *command)
{
	struct mover_table *mover = &context->world->tables.mover;
	const struct command_STEER *steer = &command->steer;
	uint32_t row = dynamics_mover_of(&context->world->tables, row_of(context, steer->body));
	ASSERT(row < mover->count);
	mover->wish[row] = steer->velocity;
	mover->jump[row] = steer->jump;
	mover->ticks[row] = steer->ticks;
}

void movers_displaced(struct tables *tables, uint32_t body)
{
	uint32_t row = dynamics_mover_of(tables, body);
	if (row == DYNAMICS_NONE)
		return;
	ASSERT(row < tables->mover.count);
	tables->mover.flags[row] = 0;
	tables->mover.ground[row] = 0;
	tables->mover.normal[row] = tables->mover.velocity[row] = vec3_zero();
}

/* ---- reading ------------------------------------------------------------------------------- */

bool world_mover(const struct world *world, body_id id, struct mover_view *out)
{
	const struct mover_table *mover = &world->tables.mover;
	uint32_t body = dynamics_find_body(&world->dynamics, id);
	uint32_t row = body == ROW_NONE ? ROW_NONE : dynamics_mover_of(&world->tables, body);
	if (row == ROW_NONE)
		return false;
	*out = (struct mover_view){
		.flags = mover->flags[row],
		.ground = mover->ground[row],
		.squeezes = mover->squeezes[row],
		.normal = mover->normal[row],
		.velocity = mover->velocity[row],
		.wish = mover->wish[row],
		.step_height = mover->step_height[row],
		.slope = mover->slope[row],
		.push_force = mover->push_force[row],
		.snap = mover->snap[row],
	};
	return true;
}
