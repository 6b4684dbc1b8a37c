/* carriers.c: see carriers.h. A body stays carried as long as it and all its points are dynamic bodies of
 * the world: a point that is removed, gets another status or goes to quarantine lets go what it carries,
 * which then moves by its own mass. */
#include "server/engine/world/carriers.h"

#include "server/engine/dynamics/carrier.h"

/* ---- checks -------------------------------------------------------------------------------- */

enum status check_not_carried(struct check *check, const struct planned_body *body)
{
	if (!body->carried)
		return STATUS_OK;
	return REFUSE(check, STATUS_CARRIED, "body",
		      "points carry body %u, so that they alone move it: command the points, or "
		      "uncarry the body first",
		      body->id);
}

static enum status check_dynamic(struct check *check, const struct planned_body *body,
				 const char *field)
{
	if (body->status == BODY_DYNAMIC && !body->quarantined)
		return STATUS_OK;
	return REFUSE(check, STATUS_STATUS_WRONG, field,
		      "%s is body %u, which is %s: it must be dynamic; set_status changes that",
		      field, body->id,
		      body->quarantined ? "in quarantine"
					: command_word(WORDS_BODY_STATUS, body->status));
}

static enum status check_carried_body(struct check *check, const struct planned_body *body)
{
	if (!check->planar)
		return REFUSE(check, STATUS_PLANAR, "body",
			      "body %u is in a spatial world: points carry bodies of planar worlds "
			      "only; joints hold bodies together in space",
			      body->id);
	if (check->plan->systems_after > 0)
		return REFUSE(check, STATUS_IN_USE, "body",
			      "body %u is in a world with particle systems, whose particles would "
			      "not push its points: particles_remove them first",
			      body->id);
	if (body->carries)
		return REFUSE(check, STATUS_CARRIED, "body",
			      "body %u is itself a point that carries a body: name another one",
			      body->id);
	if (body->joined)
		return REFUSE(check, STATUS_IN_USE, "body",
			      "body %u has joints, which do not act on a body that points carry: "
			      "join them to its points",
			      body->id);
	return check_dynamic(check, body, "body");
}

/* The point that a field names. */
static enum status check_point(struct check *check, const char *field,
			       const struct planned_body *body, const struct planned_body *point)
{
	ASSERT(body != NULL && point != NULL);
	if (point == body)
		return REFUSE(check, STATUS_RANGE, field, "%s is %u, the body itself: name a point",
			      field, body->id);
	if (point->carried)
		return REFUSE(check, STATUS_CARRIED, field,
			      "%s is body %u, which points carry: name a body that moves by itself",
			      field, point->id);
	return check_dynamic(check, point, field);
}

static enum status check_points(struct check *check, struct planned_body *const *points,
				const char *const *fields, uint32_t count)
{
	vec3 at[CARRIER_POINTS], middle = vec3_zero();
	double spread = 0;
	for (uint32_t k = 0; k < count; k++) {
		for (uint32_t i = 0; i < k; i++)
			if (points[i] == points[k])
				return REFUSE(check, STATUS_EXISTS, fields[k],
					      "%s and %s are both body %u: name a point once",
					      fields[i], fields[k], points[k]->id);
		at[k] = vec3_add(points[k]->position,
				 quat_rotate(points[k]->rotation, points[k]->mass.centre));
		middle = vec3_add(middle, at[k]);
	}
	ASSERT(count >= 2 && count <= CARRIER_POINTS);
	for (uint32_t k = 0; k < count; k++)
		spread += vec3_length_squared(vec3_sub(at[k], vec3_scale(middle, 1.0 / count)));
	if (spread >= CARRIER_SPREAD_MIN * CARRIER_SPREAD_MIN)
		return STATUS_OK;
	return REFUSE(check, STATUS_DEGENERATE, "a",
		      "the points lie within %.3g m of their mean: at least %.3g m are needed to "
		      "tell how the body turns",
		      scalar_sqrt(spread), CARRIER_SPREAD_MIN);
}

enum status check_carry(struct check *check, struct command *command)
{
	static const char *const fields[CARRIER_POINTS] = { "a", "b", "c", "d" };
	struct command_CARRY *carry = &command->carry;
	int64_t *ids[CARRIER_POINTS] = { &carry->a, &carry->b, &carry->c, &carry->d };
	struct planned_body *body, *points[CARRIER_POINTS];
	const char *named[CARRIER_POINTS];
	uint32_t count = 0;
	enum status status = plan_find_body(check, &carry->body, &body);
	for (uint32_t k = 0; k < CARRIER_POINTS && status == STATUS_OK; k++) {
		if (*ids[k] == 0)
			continue;
		named[count] = fields[k];
		status = plan_find_named_body(check, ids[k], &points[count++], fields[k]);
	}
	if (status == STATUS_OK)
		status = check_carried_body(check, body);
	for (uint32_t k = 0; k < count && status == STATUS_OK; k++)
		status = check_point(check, named[k], body, points[k]);
	if (status == STATUS_OK)
		status = check_points(check, points, named, count);
	if (status != STATUS_OK)
		return status;
	check->plan->new_carriers += !body->carried;
	body->carried = true;
	for (uint32_t k = 0; k < count; k++)
		points[k]->carries = true;
	return STATUS_OK;
}

enum status check_uncarry(struct check *check, struct command *command)
{
	struct planned_body *body;
	enum status status = plan_find_body(check, &command->uncarry.body, &body);
	if (status != STATUS_OK)
		return status;
	if (!body->carried)
		return REFUSE(check, STATUS_NOT_CARRIED, "body",
			      "no points carry body %u; carry lets points do so", body->id);
	body->carried = false;
	return STATUS_OK;
}

/* ---- applying ------------------------------------------------------------------------------ */

static uint32_t row_of(const struct apply_context *context, int64_t id)
{
	uint32_t row = dynamics_find_body(&context->world->dynamics, (body_id)id);
	ASSERT(row != ROW_NONE);
	return row;
}

void apply_carry(const struct apply_context *context, const struct command *command)
{
	struct world *world = context->world;
	const struct command_CARRY *carry = &command->carry;
	const int64_t ids[CARRIER_POINTS] = { carry->a, carry->b, carry->c, carry->d };
	uint32_t points[CARRIER_POINTS], count = 0, body = row_of(context, carry->body);
	for (uint32_t k = 0; k < CARRIER_POINTS; k++)
		if (ids[k] != 0)
			points[count++] = row_of(context, ids[k]);
	dynamics_carry(&world->dynamics, body, points, count);
	changes_update(&world->changes, &world->tables, body);
}

/* A point that an earlier command of the batch removed may have let it go already. */
void apply_uncarry(const struct apply_context *context, const struct command *command)
{
	uint32_t body = row_of(context, command->uncarry.body);
	dynamics_uncarry(&context->world->dynamics, body);
	changes_update(&context->world->changes, &context->world->tables, body);
}

/* ---- reading ------------------------------------------------------------------------------- */

static void view_row(const struct world *world, uint32_t row, struct carrier_view *out)
{
	const struct tables *tables = &world->tables;
	*out = (struct carrier_view){ .body = tables->body.id[tables->carrier.body[row] - 1],
				      .off = carrier_off(&world->dynamics, row) };
	for (uint32_t k = 0; k < CARRIER_POINTS; k++) {
		uint32_t point = carrier_point(tables, row, k);
		if (point != DYNAMICS_NONE)
			out->points[out->count++] = tables->body.id[point];
	}
}

enum status world_carriers(const struct world *world, body_id body, uint32_t first,
			   struct carrier_view *out, uint32_t capacity, uint32_t *count)
{
	const struct bitset *used = &world->dynamics.carrier_used;
	uint32_t passed = 0;
	*count = 0;
	if (body != 0) {
		uint32_t at = dynamics_find_body(&world->dynamics, body);
		if (at == ROW_NONE)
			return STATUS_UNKNOWN_BODY;
		uint32_t row = carrier_of(&world->tables, at);
		if (row != DYNAMICS_NONE && first == 0 && capacity > 0)
			view_row(world, row, &out[(*count)++]);
		return STATUS_OK;
	}
	for (uint32_t row = bitset_next(used, 0); row != BITSET_NONE && *count < capacity;
	     row = bitset_next(used, row + 1))
		if (passed++ >= first)
			view_row(world, row, &out[(*count)++]);
	return STATUS_OK;
}

/* ---- invariants ---------------------------------------------------------------------------- */

static bool is_dynamic(const struct tables *tables, uint32_t body)
{
	return body < tables->body.count && tables->body.id[body] != 0 &&
	       tables->body.status[body] == BODY_DYNAMIC;
}

/* The places of a row: at least two, then none; anchors within the world; points apart. */
static enum status check_places(const struct tables *tables, uint32_t row, struct reason *why)
{
	const struct carrier_table *t = &tables->carrier;
	for (uint32_t k = 0; k < CARRIER_POINTS; k++) {
		uint32_t point = t->point[row][k] - 1;
		if (t->point[row][k] == 0) {
			EXPECT(k >= 2 && t->next[row][k] == 0, TABLE_CARRIER, row, "point");
			continue;
		}
		EXPECT(k == 0 || t->point[row][k - 1] != 0, TABLE_CARRIER, row, "point");
		EXPECT(is_dynamic(tables, point) && tables->body.carrier[point] == 0, TABLE_CARRIER,
		       row, "point");
		for (uint32_t i = 0; i < k; i++)
			EXPECT(t->point[row][i] != t->point[row][k], TABLE_CARRIER, row, "point");
		EXPECT(check_within(t->anchor[row][2 * k], -2 * LENGTH_MAX, 2 * LENGTH_MAX) &&
			       check_within(t->anchor[row][2 * k + 1], -2 * LENGTH_MAX,
					    2 * LENGTH_MAX),
		       TABLE_CARRIER, row, "anchor");
	}
	double least = CARRIER_SPREAD_MIN * CARRIER_SPREAD_MIN;
	EXPECT(carrier_frame_of(tables, row).spread >= 0.5 * least, TABLE_CARRIER, row, "anchor");
	return STATUS_OK;
}

enum status carriers_check_tables(const struct tables *tables, struct reason *why)
{
	const struct carrier_table *t = &tables->carrier;
	uint32_t linked = 0, listed = 0, places = 0;
	for (uint32_t row = 0; row < t->count; row++) {
		uint32_t body = t->body[row] - 1;
		if (t->body[row] == 0)
			continue;
		EXPECT(is_dynamic(tables, body) && tables->body.carrier[body] == row + 1 &&
			       tables->body.first_carried[body] == 0 && tables->world.planar[0],
		       TABLE_CARRIER, row, "body");
		enum status status = check_places(tables, row, why);
		if (status != STATUS_OK)
			return status;
		linked++;
		for (uint32_t k = 0; k < CARRIER_POINTS; k++)
			places += t->point[row][k] != 0;
	}
	for (uint32_t body = 0; body < tables->body.count; body++) {
		linked -= tables->body.carrier[body] != 0;
		for (uint32_t at = tables->body.first_carried[body]; at != 0;) {
			uint32_t row = (at - 1) / CARRIER_POINTS, k = (at - 1) % CARRIER_POINTS;
			EXPECT(row < t->count && t->body[row] != 0 &&
				       t->point[row][k] == body + 1 && ++listed <= places,
			       TABLE_BODY, body, "first_carried");
			at = t->next[row][k];
		}
	}
	EXPECT(linked == 0, TABLE_BODY, 0, "carrier");
	EXPECT(listed == places, TABLE_BODY, 0, "first_carried");
	return STATUS_OK;
}
