/* joints.c: joints as clients read them: one joint, one axis, the joints of a body, the bodies
 * linked by joints, drags, and the lists of joints that a boundary created, moved, changed and
 * removed. Lists are ascending by id.
 */
#include "server/engine/world/joints.h"

#include "server/base/array.h"
#include "server/base/heap.h"
#include "server/base/sort.h"

#include <string.h>

static body_id id_of(const struct tables *tables, uint32_t row, uint32_t side)
{
	uint32_t body = joint_body(tables, row, side);
	return body == DYNAMICS_NONE ? 0 : tables->body.id[body];
}

/* Neither body of the joint is awake. */
static bool is_asleep(const struct world *world, uint32_t row)
{
	for (uint32_t side = 0; side < 2; side++) {
		uint32_t body = joint_body(&world->tables, row, side);
		if (body != DYNAMICS_NONE && bitset_get(&world->dynamics.awake, body))
			return false;
	}
	return true;
}

enum status world_joint(const struct world *world, joint_id id, struct joint_view *out)
{
	const struct tables *tables = &world->tables;
	const struct joint_table *table = &tables->joint;
	uint32_t row = dynamics_find_joint(&world->dynamics, id);
	if (row == ROW_NONE)
		return STATUS_UNKNOWN_JOINT;
	struct joint joint;
	joint_from_tables(&world->dynamics, row, 0, &joint);
	*out = (struct joint_view){
		.id = id,
		.type = table->type[row],
		.flags = table->flags[row],
		.asleep = is_asleep(world, row),
		.owner = table->owner[row],
		.tag = table->tag[row],
		.a = id_of(tables, row, 0),
		.b = id_of(tables, row, 1),
		.point_a = table->point_a[row],
		.point_b = table->point_b[row],
		.frame_a = table->frame_a[row],
		.frame_b = table->frame_b[row],
		.break_force = table->break_force[row],
		.break_torque = table->break_torque[row],
		.anchor_a = joint_anchor_a(&joint, &joint.a),
		.anchor_b = joint_anchor_b(&joint, &joint.b),
		.force = table->force[row],
		.torque = table->torque[row],
	};
	joint_coordinates(&joint, &joint.a, &joint.b, out->coordinates);
	return STATUS_OK;
}

enum status world_joint_axis(const struct world *world, joint_id id, uint32_t axis,
			     struct joint_axis_view *out)
{
	const struct joint_table *table = &world->tables.joint;
	uint32_t row = dynamics_find_joint(&world->dynamics, id);
	if (row == ROW_NONE)
		return STATUS_UNKNOWN_JOINT;
	if (axis >= JOINT_AXES)
		return STATUS_RANGE;
	uint32_t leader = table->leader[row][axis];
	double rate =
		(double)world->tables.world.rate_num[0] / (double)world->tables.world.rate_den[0];
	*out = (struct joint_axis_view){
		.mode = table->mode[row][axis],
		.spring = table->spring[row][axis],
		.motor = table->motor[row][axis],
		.wave = table->wave[row][axis],
		.lower = table->lower[row][axis],
		.upper = table->upper[row][axis],
		.restitution = table->restitution[row][axis],
		.friction = table->friction[row][axis],
		.stiffness = table->stiffness[row][axis],
		.damping = table->damping[row][axis],
		.rest = table->rest[row][axis],
		.spring_limit = table->spring_limit[row][axis],
		.target = table->target[row][axis],
		.motor_limit = table->motor_limit[row][axis],
		.motor_stiffness = table->motor_stiffness[row][axis],
		.motor_damping = table->motor_damping[row][axis],
		.leader = leader == 0 ? 0 : table->id[leader - 1],
		.leader_axis = table->leader_axis[row][axis],
		.ratio = table->gear_ratio[row][axis],
		.offset = table->gear_offset[row][axis],
		.gear_force = table->gear_multiplier[row][axis] * rate,
		.armature = table->armature[row][axis],
		.rotor_force = table->rotor_multiplier[row][axis] * rate,
		.amplitude = table->amplitude[row][axis],
		.hertz = table->hertz[row][axis],
		.phase = table->phase[row][axis],
	};
	return STATUS_OK;
}

/* Ids are unique, so ascending is a total order. */
static int compare_ids(const void *a, const void *b, void *context)
{
	UNUSED(context);
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

static bool ids_ascend(const uint32_t *ids, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (ids[i] < ids[i - 1])
			return false;
	return true;
}

static void sort_ids(uint32_t *ids, uint32_t *scratch, uint32_t count)
{
	sort_items(ids, scratch, count, sizeof *ids, compare_ids, NULL);
}

static uint32_t joints_of(const struct world *world, uint32_t body, joint_id *ids,
			  uint32_t capacity)
{
	const struct tables *tables = &world->tables;
	uint32_t count = 0;
	for (uint32_t e = joint_first(tables, body); e != DYNAMICS_NONE;
	     e = joint_next(tables, e), count++)
		if (count < capacity)
			ids[count] = tables->joint.id[e / 2];
	return count;
}

uint32_t world_joints(const struct world *world, body_id body, joint_id *ids, uint32_t capacity)
{
	const struct bitset *used = &world->dynamics.joint_used;
	uint32_t count = 0, row = body != 0 ? dynamics_find_body(&world->dynamics, body) : ROW_NONE;
	if (body != 0)
		count = row == ROW_NONE ? 0 : joints_of(world, row, ids, capacity);
	for (row = bitset_next(used, 0); body == 0 && row != BITSET_NONE;
	     row = bitset_next(used, row + 1), count++)
		if (count < capacity)
			ids[count] = world->tables.joint.id[row];
	/* Rows are in order of ids unless a later joint has reused the row of a removed one. */
	if (count > capacity || ids_ascend(ids, count))
		return count;
	/* Without scratch memory: insertion sort, which gives the same order. */
	uint32_t *scratch = heap_alloc(count * sizeof *scratch);
	if (scratch != NULL)
		sort_ids(ids, scratch, count);
	for (uint32_t i = 1; scratch == NULL && i < count; i++) {
		joint_id id = ids[i];
		uint32_t at = i;
		for (; at > 0 && ids[at - 1] > id; at--)
			ids[at] = ids[at - 1];
		ids[at] = id;
	}
	heap_free(scratch);
	return count;
}

/* ---- drags ------------------------------------------------------------------------------------- */

/* The next row, from `row` on, of a drag owned by `session`, or by any session if it is 0. */
static uint32_t next_drag(const struct world *world, uint32_t row, uint32_t session)
{
	const struct joint_table *table = &world->tables.joint;
	for (row = bitset_next(&world->dynamics.joint_used, row); row != BITSET_NONE;
	     row = bitset_next(&world->dynamics.joint_used, row + 1)) {
		uint32_t owner = table->owner[row];
		if (table->type[row] == JOINT_DRAG && owner != 0 &&
		    (session == 0 || owner == session))
			break;
	}
	return row;
}

uint32_t world_drags(const struct world *world, uint32_t owner)
{
	uint32_t count = 0, row = next_drag(world, 0, owner);
	for (; row != BITSET_NONE; row = next_drag(world, row + 1, owner))
		count++;
	return count;
}

bool joints_remove_drags(struct world *world, uint32_t session)
{
	uint32_t first = next_drag(world, 0, session), row = first;
	for (; row != BITSET_NONE; row = next_drag(world, row + 1, session))
		dynamics_joint_removed(&world->dynamics, row);
	return first != BITSET_NONE;
}

/* ---- linked bodies ----------------------------------------------------------------------------- */

enum status world_linked(const struct world *world, body_id body, body_id *ids, uint32_t capacity,
			 uint32_t *count)
{
	const struct tables *tables = &world->tables;
	uint32_t first = body < IDS_END ? dynamics_find_body(&world->dynamics, body) : ROW_NONE;
	*count = 0;
	if (first == ROW_NONE)
		return STATUS_OK;
	/* Rows in the order in which they are reached, then scratch memory for sorting. */
	uint32_t bodies = tables->body.count;
	uint32_t *reached = heap_alloc(2 * (size_t)bodies * sizeof *reached);
	uint64_t *visited = heap_alloc_zero(((size_t)bodies + 63) / 64 * sizeof *visited);
	if (reached == NULL || visited == NULL) {
		heap_free(reached);
		heap_free(visited);
		return STATUS_NO_MEMORY;
	}
	uint32_t found = 0;
	reached[found++] = first;
	visited[first / 64] |= UINT64_C(1) << (first % 64);
	for (uint32_t i = 0; i < found; i++) {
		if (i > 0 && tables->body.status[reached[i]] != BODY_DYNAMIC)
			continue; /* a body that is not dynamic links no further bodies */
		for (uint32_t e = joint_first(tables, reached[i]); e != DYNAMICS_NONE;
		     e = joint_next(tables, e)) {
			uint32_t other = joint_other(tables, e);
			if (other == DYNAMICS_NONE || (visited[other / 64] >> (other % 64) & 1))
				continue;
			ASSERT(other < bodies && found < bodies);
			visited[other / 64] |= UINT64_C(1) << (other % 64);
			reached[found++] = other;
		}
	}
	for (uint32_t i = 0; i < found; i++)
		reached[i] = tables->body.id[reached[i]];
	sort_ids(reached, reached + bodies, found);
	if (capacity > 0)
		memcpy(ids, reached, MIN_OF(found, capacity) * sizeof *ids);
	*count = found;
	heap_free(reached);
	heap_free(visited);
	return STATUS_OK;
}

/* ---- changes ----------------------------------------------------------------------------------- */

enum { LIST_CREATED, LIST_MOVED, LIST_CHANGED, LIST_REMOVED, LISTS };

static enum status list_rows(const struct world *world, const struct bitset *rows,
			     struct joint_ids *lists, uint32_t kind)
{
	joint_id first_new = world->dynamics.joint_notes.first_new;
	for (uint32_t row = bitset_next(rows, 0); row != BITSET_NONE;
	     row = bitset_next(rows, row + 1)) {
		joint_id id = world->tables.joint.id[row];
		bool created = id >= first_new;
		if (created && kind != LIST_CHANGED)
			continue; /* a new joint is in both sets, or in LIST_CHANGED's alone: list it once */
		struct joint_ids *list = &lists[created ? LIST_CREATED : kind];
		if (ARRAY_RESERVE(list, list->count + 1u) != STATUS_OK)
			return STATUS_NO_MEMORY;
		list->items[list->count++] = id;
	}
	return STATUS_OK;
}

/* The lists are a cache, made on request; making them does not change the world's state. */
enum status world_joint_changes(const struct world *world, struct world_joint_changes *out)
{
	struct joint_ids *lists = ((struct world *)world)->joint_lists;
	const struct dynamics *dynamics = &world->dynamics;
	uint32_t removed_count = dynamics->joint_notes.removed.count, most = removed_count;
	*out = (struct world_joint_changes){ 0 };
	for (uint32_t i = 0; i < LISTS; i++)
		lists[i].count = 0;
	enum status status = list_rows(world, &dynamics->joint_notes.moved, lists, LIST_MOVED);
	if (status == STATUS_OK)
		status = list_rows(world, &dynamics->joint_notes.changed, lists, LIST_CHANGED);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&lists[LIST_REMOVED], removed_count);
	for (uint32_t i = 0; i < LISTS; i++)
		most = MAX_OF(most, lists[i].count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&lists[LISTS], most);
	if (status != STATUS_OK)
		return status;
	if (removed_count > 0)
		memcpy(lists[LIST_REMOVED].items, dynamics->joint_notes.removed.items,
		       removed_count * sizeof(joint_id));
	lists[LIST_REMOVED].count = removed_count;
	for (uint32_t i = 0; i < LISTS; i++)
		if (lists[i].count > 1)
			sort_ids(lists[i].items, lists[LISTS].items, lists[i].count);
	*out = (struct world_joint_changes){
		.created = lists[LIST_CREATED].items,
		.moved = lists[LIST_MOVED].items,
		.changed = lists[LIST_CHANGED].items,
		.removed = lists[LIST_REMOVED].items,
		.created_count = lists[LIST_CREATED].count,
		.moved_count = lists[LIST_MOVED].count,
		.changed_count = lists[LIST_CHANGED].count,
		.removed_count = removed_count,
	};
	return STATUS_OK;
}
