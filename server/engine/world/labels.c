/* labels.c: see labels.h. */
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/labels.h"
#include "server/engine/world/labels.h"

#include <string.h>

/* ---- commands ------------------------------------------------------------------------------ */

enum status check_name_body(struct check *check, struct command *command)
{
	struct planned_body *body;
	check->plan->new_labels++;
	return plan_find_body(check, &command->name_body.body, &body);
}

enum status check_name_joint(struct check *check, struct command *command)
{
	struct planned_joint *joint;
	check->plan->new_labels++;
	return plan_find_joint(check, &command->name_joint.joint, &joint, "joint");
}

void apply_name_body(const struct apply_context *context, const struct command *command)
{
	struct dynamics *dynamics = &context->world->dynamics;
	uint32_t row = dynamics_find_body(dynamics, (body_id)command->name_body.body);
	ASSERT(row != DYNAMICS_NONE);
	dynamics_label_set(dynamics, LABEL_BODY, row, command->name_body.name.text);
}

void apply_name_joint(const struct apply_context *context, const struct command *command)
{
	struct dynamics *dynamics = &context->world->dynamics;
	uint32_t row = dynamics_find_joint(dynamics, (joint_id)command->name_joint.joint);
	ASSERT(row != DYNAMICS_NONE);
	dynamics_label_set(dynamics, LABEL_JOINT, row, command->name_joint.name.text);
}

/* ---- view ---------------------------------------------------------------------------------- */

static bool copy_label(const struct tables *tables, uint32_t label, char out[LABEL_BYTES])
{
	memset(out, 0, LABEL_BYTES);
	if (label == 0)
		return false;
	ASSERT(label <= tables->label.count);
	memcpy(out, tables->label.text[label - 1], LABEL_BYTES);
	return true;
}

bool world_body_name(const struct world *world, body_id id, char out[LABEL_BYTES])
{
	uint32_t row = dynamics_find_body(&world->dynamics, id);
	return copy_label(&world->tables, row == DYNAMICS_NONE ? 0 : world->tables.body.label[row],
			  out);
}

bool world_joint_name(const struct world *world, joint_id id, char out[LABEL_BYTES])
{
	uint32_t row = dynamics_find_joint(&world->dynamics, id);
	return copy_label(&world->tables, row == DYNAMICS_NONE ? 0 : world->tables.joint.label[row],
			  out);
}

/* ---- invariants ---------------------------------------------------------------------------- */

static bool is_name(const uint8_t *text)
{
	uint32_t bytes = 0;
	while (bytes < LABEL_BYTES && text[bytes] >= 32 && text[bytes] <= 126)
		bytes++;
	if (bytes == 0 || bytes == LABEL_BYTES)
		return false;
	for (uint32_t i = bytes; i < LABEL_BYTES; i++)
		if (text[i] != 0)
			return false;
	return true;
}

enum status labels_check_tables(const struct tables *tables, struct reason *why)
{
	const struct label_table *t = &tables->label;
	for (uint32_t row = 0; row < tables->body.count; row++) {
		uint32_t label = tables->body.label[row];
		EXPECT(label <= t->count &&
			       (label == 0 || t->owner[label - 1] == label_owner(LABEL_BODY, row)),
		       TABLE_BODY, row, "label");
	}
	for (uint32_t row = 0; row < tables->joint.count; row++) {
		uint32_t label = tables->joint.label[row];
		EXPECT(label <= t->count &&
			       (label == 0 || t->owner[label - 1] == label_owner(LABEL_JOINT, row)),
		       TABLE_JOINT, row, "label");
	}
	for (uint32_t row = 0; row < t->count; row++) {
		if (t->owner[row] == 0)
			continue;
		uint32_t of = (t->owner[row] - 1) / 2;
		bool joint = t->owner[row] % 2 == 0;
		uint32_t back = 0;
		if (of < (joint ? tables->joint.count : tables->body.count))
			back = joint ? tables->joint.label[of] : tables->body.label[of];
		EXPECT(back == row + 1, TABLE_LABEL, row, "owner");
		EXPECT(is_name(t->text[row]), TABLE_LABEL, row, "text");
	}
	return STATUS_OK;
}
