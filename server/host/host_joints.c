/* host_joints.c: queries about joints, answered between two ticks, and the joints of a STEP's
 * observation. */
#include <string.h>

#include "server/base/body_hash.h"
#include "server/host/host_answer.h"
#include "server/host/host_state.h"

/* Largest packed size, in bytes, of an item of JOINTS and of a JOINT. */
enum { ITEM_BYTES_MAX = 256, JOINT_BYTES_MAX = 512 + WIRE_JOINT_AXES * 160 };

/* The neutral form of a joint, without its axes. */
static enum status joint_facts(const struct world *world, joint_id id,
			       struct wire_joint_facts *facts)
{
	struct joint_view view;
	enum status status = world_joint(world, id, &view);
	if (status != STATUS_OK)
		return status;
	*facts = (struct wire_joint_facts){ .joint = report_wire_joint(&view) };
	put_vec3(facts->anchor_a, view.anchor_a);
	put_vec3(facts->anchor_b, view.anchor_b);
	return STATUS_OK;
}

static struct wire_joint_axis axis_facts(const struct joint_axis_view *view)
{
	return (struct wire_joint_axis){
		.mode = view->mode,
		.spring = view->spring,
		.motor = view->motor,
		.wave = view->wave,
		.lower = view->lower,
		.upper = view->upper,
		.restitution = view->restitution,
		.friction = view->friction,
		.stiffness = view->stiffness,
		.damping = view->damping,
		.rest = view->rest,
		.spring_limit = view->spring_limit,
		.target = view->target,
		.motor_limit = view->motor_limit,
		.amplitude = view->amplitude,
		.hertz = view->hertz,
		.phase = view->phase,
		.motor_stiffness = view->motor_stiffness,
		.motor_damping = view->motor_damping,
		.leader = view->leader,
		.leader_axis = view->leader_axis,
		.ratio = view->ratio,
		.offset = view->offset,
		.gear_force = view->gear_force,
		.armature = view->armature,
		.rotor_force = view->rotor_force,
	};
}

enum status host_answer_joint(struct host *host, const struct wire_query *query, struct bytes *out,
			      struct reason *why)
{
	struct wire_joint_facts facts;
	enum status status = joint_facts(host->world, query->joint, &facts);
	for (uint32_t i = 0; i < WIRE_JOINT_AXES && status == STATUS_OK; i++) {
		struct joint_axis_view view;
		status = world_joint_axis(host->world, query->joint, i, &view);
		if (status == STATUS_OK)
			facts.axes[i] = axis_facts(&view);
	}
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "joint", "there is no joint %u",
				  (unsigned)query->joint);
	struct wire_packer packer = packer_into(out, JOINT_BYTES_MAX);
	answer_pack_joint(&packer, &facts);
	return packed(out, &packer);
}

/* Ids from `first` on, at most `limit`: moves them to the front and returns their number. */
static uint32_t select_page(uint32_t *ids, uint32_t count, uint32_t first, uint32_t limit)
{
	uint32_t from = 0;
	while (from < count && ids[from] < first)
		from++;
	count = MIN_OF(count - from, limit);
	if (count > 0)
		memmove(ids, ids + from, count * sizeof *ids);
	return count;
}

enum status host_answer_joints(struct host *host, const struct wire_query *query, struct bytes *out)
{
	const struct world *world = host->world;
	struct body_view body;
	/* A body that does not exist is an error; a body without joints has an empty list. */
	if (query->body != 0 && world_body(world, query->body, &body) != STATUS_OK)
		return STATUS_UNKNOWN_BODY;
	uint32_t count = world_joints(world, query->body, NULL, 0);
	joint_id *ids = ARENA_ARRAY(&host->scratch, joint_id, MAX_OF(count, 1u));
	if (ids == NULL)
		return STATUS_NO_MEMORY;
	world_joints(world, query->body, ids, count);
	count = select_page(ids, count, query->first, query->limit);
	struct wire_packer packer = packer_into(out, 8 + (size_t)count * ITEM_BYTES_MAX);
	wire_pack_array(&packer, count);
	for (uint32_t i = 0; i < count; i++) {
		struct wire_joint_facts facts;
		enum status status = joint_facts(world, ids[i], &facts);
		if (status != STATUS_OK)
			return status;
		answer_pack_joints_item(&packer, &facts);
	}
	return packed(out, &packer);
}

enum status host_answer_linked(struct host *host, const struct wire_query *query, struct bytes *out)
{
	const struct world *world = host->world;
	uint32_t count;
	enum status status = world_linked(world, query->body, NULL, 0, &count);
	if (status == STATUS_OK && count == 0)
		status = STATUS_UNKNOWN_BODY;
	if (status != STATUS_OK)
		return status;
	uint32_t room = count;
	body_id *ids = ARENA_ARRAY(&host->scratch, body_id, room);
	if (ids == NULL)
		return STATUS_NO_MEMORY;
	status = world_linked(world, query->body, ids, room, &count);
	if (status != STATUS_OK)
		return status;
	count = select_page(ids, count, query->first, query->limit);
	struct wire_packer packer = packer_into(out, 8 + (size_t)count * 5);
	wire_pack_array(&packer, count);
	for (uint32_t i = 0; i < count; i++)
		wire_pack_uint(&packer, ids[i]);
	return packed(out, &packer);
}

/* All ids, in the scratch arena. */
static enum status all_joints(struct host *host, joint_id **ids, uint32_t *count)
{
	*count = world_joints(host->world, 0, NULL, 0);
	*ids = ARENA_ARRAY(&host->scratch, joint_id, MAX_OF(*count, 1u));
	if (*ids == NULL)
		return STATUS_NO_MEMORY;
	world_joints(host->world, 0, *ids, *count);
	return STATUS_OK;
}

enum status host_hash_joints(struct host *host, struct wire_hash *out)
{
	struct arena_mark mark = arena_mark(&host->scratch);
	joint_id *ids;
	uint32_t count;
	uint64_t sum = 0;
	enum status status = all_joints(host, &ids, &count);
	for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
		struct wire_joint_facts facts;
		status = joint_facts(host->world, ids[i], &facts);
		if (status == STATUS_OK)
			sum += wire_joint_hash(WIRE_PROFILE_EXACT, &facts.joint,
					       WIRE_JOINT_COLUMNS_ALL);
	}
	arena_rewind(&host->scratch, mark);
	*out = (struct wire_hash){ true,
				   body_hash_finish(world_info(host->world).tick, sum, count) };
	return status;
}

enum status host_observe_joints(struct host *host, struct bytes *out)
{
	const struct world *world = host->world;
	uint32_t count;
	joint_id *ids;
	struct arena_mark mark = arena_mark(&host->scratch);
	enum status status = all_joints(host, &ids, &count);
	struct wire_joint *joints =
		ARENA_ARRAY(&host->scratch, struct wire_joint, MAX_OF(count, 1u));
	struct joint_row *rows = ARENA_ARRAY(&host->scratch, struct joint_row, MAX_OF(count, 1u));
	if (joints == NULL || rows == NULL)
		status = STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
		struct wire_joint_facts facts;
		status = joint_facts(world, ids[i], &facts);
		if (status == STATUS_OK)
			joints[i] = facts.joint;
		rows[i] = (struct joint_row){ &joints[i], WIRE_JOINT_COLUMNS_ALL };
	}
	if (status == STATUS_OK) {
		size_t room = BLOCK_HEADER_BYTES_MAX + (size_t)count * JOINT_ROW_PLAIN_MAX;
		struct wire_packer packer = packer_into(out, room);
		joint_rows_pack(&packer, WIRE_PROFILE_PLAIN, WIRE_JOINT_COLUMNS_ALL, rows, count);
		status = packed(out, &packer);
	}
	arena_rewind(&host->scratch, mark);
	return status;
}
