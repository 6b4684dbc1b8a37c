/* checks.c: world_check: the tables by themselves, then against shapes and caches. */
#include "server/base/body_hash.h"
#include "server/engine/world/checking.h"

#include <string.h>

static bool child_exists(const struct tables *tables, const struct shape *const *shapes,
			 uint32_t placement, uint32_t child)
{
	return child < shape_piece_count(shapes[tables->placement.shape[placement]]);
}

enum status tables_check_pieces(const struct tables *tables, const struct shape *const *shapes,
				struct reason *why)
{
	const struct contact_table *contact = &tables->contact;
	for (uint32_t row = 0; row < contact->count; row++) {
		if (!contact->used[row])
			continue;
		EXPECT(child_exists(tables, shapes, contact->placement_a[row],
				    contact->child_a[row]),
		       TABLE_CONTACT, row, "child_a");
		EXPECT(child_exists(tables, shapes, contact->placement_b[row],
				    contact->child_b[row]),
		       TABLE_CONTACT, row, "child_b");
	}
	bool planar = tables->world.planar[0] != 0;
	for (uint32_t row = 0; row < tables->placement.count; row++) {
		if (tables->placement.body[row] == 0)
			continue;
		const struct shape *shape = shapes[tables->placement.shape[row]];
		uint8_t status = tables->body.status[tables->placement.body[row] - 1];
		EXPECT(planar == (shape->kind == SHAPE_POLYGON), TABLE_PLACEMENT, row, "shape");
		EXPECT(!shape_is_ground(shape) || status == BODY_STATIC || status == BODY_INACTIVE,
		       TABLE_PLACEMENT, row, "shape");
	}
	return STATUS_OK;
}

static enum status check_shape_cache(const struct world *world, struct reason *why)
{
	const struct shape_table *shape = &world->tables.shape;
	uint64_t bytes = 0;
	enum status status = tables_check_sets(&world->tables, TABLE_SHAPE, &world->shape_used,
					       &world->shape_index, why);
	if (status != STATUS_OK)
		return status;
	for (uint32_t row = 0; row < shape->count; row++) {
		bool used = shape->id[row] != 0;
		EXPECT(used == (world->shapes[row] != NULL), TABLE_SHAPE, row, "id");
		if (!used)
			continue;
		EXPECT(memcmp(world->shapes[row]->name, shape->name[row], SHAPE_NAME_BYTES) == 0,
		       TABLE_SHAPE, row, "name");
		if (shape->id[row] >= IDS_END)
			continue;
		EXPECT(shapes_find_name(world, shape->name[row]) == row, TABLE_SHAPE, row, "name");
		bytes += world->shapes[row]->canonical_bytes;
	}
	EXPECT(bytes == world->shape_bytes, TABLE_SHAPE, 0, "name");
	return STATUS_OK;
}

/* The caches of bodies: index, sets of used rows, and the sum behind the tick hash. */
static enum status check_body_cache(const struct world *world, struct reason *why)
{
	const struct body_table *body = &world->tables.body;
	const struct dynamics *dynamics = &world->dynamics;
	uint64_t sum = 0;
	uint32_t count = 0;
	enum status status = tables_check_sets(&world->tables, TABLE_BODY, &dynamics->body_used,
					       &dynamics->body_index, why);
	if (status == STATUS_OK)
		status = tables_check_sets(&world->tables, TABLE_PLACEMENT,
					   &dynamics->placement_used, NULL, why);
	if (status == STATUS_OK)
		status = tables_check_sets(&world->tables, TABLE_CONTACT, &dynamics->contact_used,
					   NULL, why);
	if (status == STATUS_OK)
		status = tables_check_sets(&world->tables, TABLE_JOINT, &dynamics->joint_used,
					   &dynamics->joint_index, why);
	if (status == STATUS_OK)
		status = tables_check_sets(&world->tables, TABLE_FIELD, &dynamics->field_used, NULL,
					   why);
	if (status == STATUS_OK)
		status = tables_check_sets(&world->tables, TABLE_MOVER, &dynamics->mover_used, NULL,
					   why);
	if (status == STATUS_OK)
		status = tables_check_sets(&world->tables, TABLE_PIECE, &dynamics->piece_used, NULL,
					   why);
	if (status == STATUS_OK)
		status = tables_check_sets(&world->tables, TABLE_SYSTEM, &dynamics->system_used,
					   NULL, why);
	if (status == STATUS_OK)
		status = tables_check_sets(&world->tables, TABLE_VISUAL, &dynamics->visual_used,
					   NULL, why);
	if (status == STATUS_OK)
		status = tables_check_sets(&world->tables, TABLE_CARRIER, &dynamics->carrier_used,
					   NULL, why);
	if (status == STATUS_OK)
		status = tables_check_sets(&world->tables, TABLE_LABEL, &dynamics->label_used, NULL,
					   why);
	if (status != STATUS_OK)
		return status;
	for (uint32_t row = 0; row < body->count; row++) {
		body_id id = body->id[row];
		bool may_move = (body->status[row] == BODY_DYNAMIC && body->sleep_set[row] == 0) ||
				body->status[row] == BODY_ANIMATED;
		EXPECT(may_move || !bitset_get(&world->dynamics.awake, row), TABLE_BODY, row,
		       "status");
		EXPECT(body->status[row] != BODY_DYNAMIC || body->sleep_set[row] != 0 ||
			       bitset_get(&world->dynamics.awake, row),
		       TABLE_BODY, row, "sleep_set");
		if (id == 0 || id == BODY_WALLS)
			continue;
		vec3 p = body->position[row], v = body->velocity[row],
		     w = body->angular_velocity[row];
		quat q = body->rotation[row];
		sum += body_hash(id, body->status[row], (double[3]){ p.x, p.y, p.z },
				 (double[4]){ q.w, q.x, q.y, q.z }, (double[3]){ v.x, v.y, v.z },
				 (double[3]){ w.x, w.y, w.z });
		count++;
	}
	EXPECT(sum == world->changes.sum && count == world->changes.count, TABLE_BODY, 0,
	       "position");
	return STATUS_OK;
}

enum status world_check(const struct world *world, struct reason *why)
{
	struct reason own;
	why = why != NULL ? why : &own;
	enum status status = tables_check(&world->tables, why);
	if (status == STATUS_OK)
		status = tables_check_pieces(&world->tables, world->shapes, why);
	if (status == STATUS_OK)
		status = check_shape_cache(world, why);
	if (status == STATUS_OK)
		status = check_body_cache(world, why);
	return status;
}
