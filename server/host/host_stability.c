/* host_stability.c: the query STABILITY: an image of the world for ANSWERS, which loads it, asks
 * the engine, and packs the answer. */
#include "server/host/host_stability.h"

#include "server/host/host_answer.h"
#include "server/host/host_state.h"

enum {
	MOTION_BYTES_MAX = 72,
	CONTACT_BYTES_MAX = 180,
	JOINT_BYTES_MAX = 100,
	PLATE_BYTES_MAX = 36,
	HEAD_BYTES_MAX = 192
};

enum status stability_image_make(struct stability_image *self, const struct host *host,
				 struct reason *why)
{
	shape_library_init(&self->shapes);
	bytes_init(&self->image);
	enum status status = shape_library_copy(&self->shapes, &host->shapes);
	if (status == STATUS_OK)
		status = world_save_open(host->world, &self->image);
	if (status != STATUS_OK)
		reason_set(why, status, -1, "query", "%s", status_text(status));
	return status;
}

void stability_image_release(struct stability_image *self)
{
	bytes_release(&self->image);
	shape_library_release(&self->shapes);
}

static double margin_on_wire(double value)
{
	return value < WIRE_STABILITY_ENDLESS ? value : WIRE_STABILITY_ENDLESS;
}

static void pack_motions(struct wire_packer *packer, const struct stability_view *view,
			 uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct wire_stability_motion motion = { .body = view->motions[i].body };
		put_vec3(motion.acceleration, view->motions[i].acceleration);
		put_vec3(motion.angular, view->motions[i].angular);
		answer_pack_stability_motion(packer, &motion);
	}
}

static void pack_contacts(struct wire_packer *packer, const struct stability_view *view,
			  uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct stability_contact *from = &view->contacts[i];
		struct wire_stability_contact contact = { .a = from->a,
							  .b = from->b,
							  .child_a = from->child_a,
							  .child_b = from->child_b,
							  .separation = from->separation,
							  .force = from->normal_force,
							  .breaks = from->breaks,
							  .known = from->known };
		put_vec3(contact.point, from->point);
		put_vec3(contact.normal, from->normal);
		put_vec3(contact.friction, from->friction_force);
		put_vec3(contact.parting, from->parting);
		answer_pack_stability_contact(packer, &contact);
	}
}

static void pack_joints(struct wire_packer *packer, const struct stability_view *view,
			uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct wire_stability_joint joint = { .joint = view->loaded[i].joint,
						      .known = view->loaded[i].known };
		put_vec3(joint.point, view->loaded[i].point);
		put_vec3(joint.force, view->loaded[i].force);
		put_vec3(joint.torque, view->loaded[i].torque);
		answer_pack_stability_joint(packer, &joint);
	}
}

enum status stability_view_pack(const struct stability_view *view, uint32_t limit,
				struct bytes *out)
{
	struct wire_stability head = {
		.verdict = view->verdict,
		.law = view->law,
		.rounds = view->rounds,
		.fallbacks = view->fallbacks,
		.known = view->known,
		.open = view->open,
		.quality = { view->residual, view->kkt, view->gap, view->witness },
		.bodies = view->bodies,
		.points = view->points,
		.rows = view->rows,
		.margin = { margin_on_wire(view->lower), margin_on_wire(view->upper),
			    margin_on_wire(view->stands) },
		.motions = MIN_OF(view->bodies, limit),
		.contacts = MIN_OF(view->points, limit),
		.joints = MIN_OF(view->joints, limit),
	};
	head.lowered = view->lowest != NULL;
	head.drop[0] = view->drop;
	head.drop[1] = view->drop_residual;
	head.limited = view->limited;
	head.programmes = view->programmes;
	head.plates = MIN_OF(view->plates, limit);
	struct wire_packer packer =
		packer_into(out, HEAD_BYTES_MAX + (size_t)head.motions * MOTION_BYTES_MAX +
					 (size_t)head.contacts * CONTACT_BYTES_MAX +
					 (size_t)head.joints * JOINT_BYTES_MAX +
					 (size_t)head.plates * PLATE_BYTES_MAX);
	answer_pack_stability(&packer, &head);
	pack_motions(&packer, view, head.motions);
	answer_pack_stability_contacts(&packer, &head);
	pack_contacts(&packer, view, head.contacts);
	answer_pack_stability_joints(&packer, &head);
	pack_joints(&packer, view, head.joints);
	answer_pack_stability_lowest(&packer, &head);
	for (uint32_t i = 0; i < head.plates; i++)
		answer_pack_stability_plate(
			&packer, &(struct wire_stability_plate){
					 view->lowest[i].body, view->lowest[i].rise,
					 view->lowest[i].slope, view->lowest[i].across });
	answer_pack_stability_known(&packer, &head);
	return packed(out, &packer);
}

enum status stability_image_answer(struct stability_image *self, const struct wire_query *query,
				   struct bytes *out, struct reason *why)
{
	struct world *world;
	struct stability_view view;
	vec3 direction = get_vec3(query->direction);
	struct stability_query question = {
		.touch = query->touch,
		.sides = query->sides,
		.margin = (uint8_t)query->margin,
		.body = query->body,
		.direction = vec3_length(direction) > 0 ? direction : vec3_make(1, 0, 0),
		.lowest = query->lowest != 0,
	};
	world_image_seal(&self->image);
	enum status status = world_load(self->image.data, self->image.count,
					shape_library_source(&self->shapes), &world, why);
	if (status != STATUS_OK)
		return status;
	status = world_stability(world, &question, &view, why);
	if (status == STATUS_OK) {
		status = stability_view_pack(&view, query->limit, out);
		stability_view_release(&view);
	}
	world_destroy(world);
	return status;
}
