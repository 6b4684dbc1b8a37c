/* query_stability.c: answers about stability. */
#include "protocol/query_items.h"

#include <string.h>

void answer_pack_stability(struct wire_packer *out, const struct wire_stability *head)
{
	wire_pack_array(out, 12);
	wire_pack_uint(out, head->verdict);
	wire_pack_uint(out, head->law);
	pack_vector(out, head->quality, 4);
	wire_pack_uint(out, head->rounds);
	wire_pack_uint(out, head->fallbacks);
	wire_pack_array(out, 3);
	wire_pack_uint(out, head->bodies);
	wire_pack_uint(out, head->points);
	wire_pack_uint(out, head->rows);
	pack_vector(out, head->margin, 3);
	wire_pack_array(out, head->motions);
}

static enum status take_number(struct wire_cursor *in, uint64_t max, uint32_t *value)
{
	uint64_t number = 0;
	enum status status = wire_take_uint(in, max, &number);
	*value = (uint32_t)number;
	return status;
}

static enum status take_counts(struct wire_cursor *in, struct wire_stability *head)
{
	uint32_t count;
	enum status status = wire_take_array(in, &count);
	if (status == STATUS_OK && count != 3)
		status = STATUS_TYPE;
	if (status == STATUS_OK)
		status = take_number(in, UINT32_MAX, &head->bodies);
	if (status == STATUS_OK)
		status = take_number(in, UINT32_MAX, &head->points);
	return status == STATUS_OK ? take_number(in, UINT32_MAX, &head->rows) : status;
}

enum status answer_take_stability(struct wire_cursor *in, struct wire_stability *head)
{
	memset(head, 0, sizeof *head);
	enum status status = wire_take_array(in, &head->items);
	if (status == STATUS_OK && head->items < 9)
		status = STATUS_TYPE;
	if (status == STATUS_OK)
		status = take_number(in, UINT8_MAX, &head->verdict);
	if (status == STATUS_OK)
		status = take_number(in, UINT8_MAX, &head->law);
	if (status == STATUS_OK)
		status = wire_take_tuple(in, head->quality, 4);
	if (status == STATUS_OK)
		status = take_number(in, UINT32_MAX, &head->rounds);
	if (status == STATUS_OK)
		status = take_number(in, UINT32_MAX, &head->fallbacks);
	if (status == STATUS_OK)
		status = take_counts(in, head);
	if (status == STATUS_OK)
		status = wire_take_tuple(in, head->margin, 3);
	return status == STATUS_OK ? wire_take_array(in, &head->motions) : status;
}

void answer_pack_stability_motion(struct wire_packer *out,
				  const struct wire_stability_motion *motion)
{
	wire_pack_array(out, 3);
	wire_pack_uint(out, motion->body);
	pack_vector(out, motion->acceleration, 3);
	pack_vector(out, motion->angular, 3);
}

enum status answer_take_stability_motion(struct wire_cursor *in,
					 struct wire_stability_motion *motion)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(motion, 0, sizeof *motion);
	take_u32(&taker, "body", true, UINT32_MAX, &motion->body);
	take_vector(&taker, "acceleration", true, motion->acceleration, 3);
	take_vector(&taker, "angular", true, motion->angular, 3);
	return taker.status;
}

void answer_pack_stability_contacts(struct wire_packer *out, const struct wire_stability *head)
{
	wire_pack_array(out, head->contacts);
}

enum status answer_take_stability_contacts(struct wire_cursor *in, struct wire_stability *head)
{
	return wire_take_array(in, &head->contacts);
}

void answer_pack_stability_contact(struct wire_packer *out,
				   const struct wire_stability_contact *contact)
{
	wire_pack_array(out, 12);
	wire_pack_uint(out, contact->a);
	wire_pack_uint(out, contact->b);
	wire_pack_uint(out, contact->child_a);
	wire_pack_uint(out, contact->child_b);
	pack_vector(out, contact->point, 3);
	pack_vector(out, contact->normal, 3);
	wire_pack_real(out, contact->separation);
	wire_pack_real(out, contact->force);
	pack_vector(out, contact->friction, 3);
	pack_vector(out, contact->parting, 3);
	wire_pack_uint(out, contact->breaks);
	wire_pack_uint(out, contact->known);
}

enum status answer_take_stability_contact(struct wire_cursor *in,
					  struct wire_stability_contact *contact)
{
	struct taker taker;
	uint32_t breaks = 0;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(contact, 0, sizeof *contact);
	take_u32(&taker, "a", true, UINT32_MAX, &contact->a);
	take_u32(&taker, "b", true, UINT32_MAX, &contact->b);
	take_u32(&taker, "child_a", true, UINT32_MAX, &contact->child_a);
	take_u32(&taker, "child_b", true, UINT32_MAX, &contact->child_b);
	take_vector(&taker, "point", true, contact->point, 3);
	take_vector(&taker, "normal", true, contact->normal, 3);
	take_real(&taker, "separation", &contact->separation);
	take_real(&taker, "force", &contact->force);
	take_vector(&taker, "friction", true, contact->friction, 3);
	take_vector(&taker, "parting", true, contact->parting, 3);
	take_u32(&taker, "breaks", true, 1, &breaks);
	contact->breaks = breaks != 0;
	contact->known = FORCE_NOT_DETERMINED;
	take_u32(&taker, "known", false, FORCE_KNOWN_KINDS - 1, &contact->known);
	return taker.status;
}

void answer_pack_stability_joints(struct wire_packer *out, const struct wire_stability *head)
{
	wire_pack_array(out, head->joints);
}

enum status answer_take_stability_joints(struct wire_cursor *in, struct wire_stability *head)
{
	return head->items > 9 ? wire_take_array(in, &head->joints) : STATUS_OK;
}

void answer_pack_stability_joint(struct wire_packer *out, const struct wire_stability_joint *joint)
{
	wire_pack_array(out, 5);
	wire_pack_uint(out, joint->joint);
	pack_vector(out, joint->point, 3);
	pack_vector(out, joint->force, 3);
	pack_vector(out, joint->torque, 3);
	wire_pack_uint(out, joint->known);
}

enum status answer_take_stability_joint(struct wire_cursor *in, struct wire_stability_joint *joint)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(joint, 0, sizeof *joint);
	take_u32(&taker, "joint", true, UINT32_MAX, &joint->joint);
	take_vector(&taker, "point", true, joint->point, 3);
	take_vector(&taker, "force", true, joint->force, 3);
	take_vector(&taker, "torque", true, joint->torque, 3);
	joint->known = FORCE_NOT_DETERMINED;
	take_u32(&taker, "known", false, FORCE_KNOWN_KINDS - 1, &joint->known);
	return taker.status;
}

void answer_pack_stability_lowest(struct wire_packer *out, const struct wire_stability *head)
{
	wire_pack_array(out, head->lowered ? 4 : 0);
	if (!head->lowered)
		return;
	pack_vector(out, head->drop, 2);
	wire_pack_uint(out, head->limited);
	wire_pack_uint(out, head->programmes);
	wire_pack_array(out, head->plates);
}

enum status answer_take_stability_lowest(struct wire_cursor *in, struct wire_stability *head)
{
	uint32_t items = 0;
	enum status status = head->items > 10 ? wire_take_array(in, &items) : STATUS_OK;
	head->lowered = items > 0;
	if (status != STATUS_OK || !head->lowered)
		return status;
	if (items < 4)
		return STATUS_TYPE;
	status = wire_take_tuple(in, head->drop, 2);
	if (status == STATUS_OK)
		status = take_number(in, UINT32_MAX, &head->limited);
	if (status == STATUS_OK)
		status = take_number(in, UINT32_MAX, &head->programmes);
	return status == STATUS_OK ? wire_take_array(in, &head->plates) : status;
}

void answer_pack_stability_plate(struct wire_packer *out, const struct wire_stability_plate *plate)
{
	wire_pack_array(out, 4);
	wire_pack_uint(out, plate->body);
	wire_pack_real(out, plate->rise);
	wire_pack_real(out, plate->slope);
	wire_pack_real(out, plate->across);
}

enum status answer_take_stability_plate(struct wire_cursor *in, struct wire_stability_plate *plate)
{
	struct taker taker;
	enum status status = open_item(in, &taker);
	if (status != STATUS_OK)
		return status;
	memset(plate, 0, sizeof *plate);
	take_u32(&taker, "body", true, UINT32_MAX, &plate->body);
	take_real(&taker, "rise", &plate->rise);
	take_real(&taker, "slope", &plate->slope);
	if (more(&taker, "across", false)) {
		taker.allowed = "a number";
		taker.status = wire_take_real(&taker.in, &plate->across);
	}
	return taker.status;
}

void answer_pack_stability_known(struct wire_packer *out, const struct wire_stability *head)
{
	wire_pack_array(out, 2);
	wire_pack_uint(out, head->known);
	wire_pack_uint(out, head->open);
}

enum status answer_take_stability_known(struct wire_cursor *in, struct wire_stability *head)
{
	uint32_t items = 0;
	head->known = FORCE_NOT_DETERMINED;
	head->open = 0;
	if (head->items <= 11)
		return STATUS_OK;
	enum status status = wire_take_array(in, &items);
	if (status == STATUS_OK && items < 2)
		status = STATUS_TYPE;
	if (status == STATUS_OK)
		status = take_number(in, FORCE_KNOWN_KINDS - 1, &head->known);
	return status == STATUS_OK ? take_number(in, UINT32_MAX, &head->open) : status;
}
