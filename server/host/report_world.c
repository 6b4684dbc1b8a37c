/* See report_world.h. */
#include "server/host/report_world.h"

#include <string.h>

#include "server/base/array.h"
#include "server/base/heap.h"

enum status report_put_contacts(struct tick_report *report, struct report_body *body,
				const struct contact_view *views, uint32_t count)
{
	struct bytes *packed = &report->contacts_packed;
	body->first_contact = packed->count;
	body->contact_bytes = 0;
	enum status status = STATUS_OK;
	if (count > 0)
		status =
			bytes_reserve(packed, WIRE_TOUCHES_HEAD + (size_t)count * WIRE_TOUCH_BYTES);
	if (status != STATUS_OK || count == 0)
		return status;
	struct wire_touches_writer writer;
	wire_touches_begin(&writer, WIRE_PROFILE_EXACT, packed->data + packed->count, count);
	for (uint32_t i = 0; i < count; i++) {
		struct wire_touch touch = { .other = views[i].a,
					    .child = views[i].child_b,
					    .other_child = views[i].child_a,
					    .separation = views[i].separation,
					    .impulse = views[i].normal_impulse };
		memcpy(touch.point, &views[i].point, sizeof touch.point);
		memcpy(touch.normal, &views[i].normal, sizeof touch.normal);
		memcpy(touch.friction, &views[i].friction_impulse, sizeof touch.friction);
		wire_touches_put(&writer, &touch);
	}
	body->contact_bytes = (uint32_t)(writer.at - (packed->data + packed->count));
	packed->count += body->contact_bytes;
	return STATUS_OK;
}

/* The contacts assigned to a body; `views` has room for WIRE_BODY_CONTACTS, further ones are left out. */
static enum status add_contacts(const struct world *world, struct tick_report *ticked,
				struct contact_view *views, struct report_body *body)
{
	uint32_t found, count;
	enum status status =
		world_assigned_contacts(world, body->view.id, views, WIRE_BODY_CONTACTS, &found);
	if (status != STATUS_OK)
		return status;
	count = MIN_OF(found, (uint32_t)WIRE_BODY_CONTACTS);
	ticked->contacts_cut += found - count;
	return report_put_contacts(ticked, body, views, count);
}

enum status report_add_body(const struct world *world, struct tick_report *ticked,
			    struct contact_view *views, body_id id, uint8_t why)
{
	struct report_body *body = &ticked->bodies[ticked->body_count];
	enum status status = world_body(world, id, &body->view);
	if (status != STATUS_OK)
		return status;
	body->why = why | (ticked->contacts ? REPORT_CONTACTS : 0);
	if (ticked->contacts)
		status = add_contacts(world, ticked, views, body);
	if (status != STATUS_OK)
		return status;
	body->first_shape = ticked->shape_count;
	body->shape_count = 0;
	ticked->body_count++;
	if (!(why & (REPORT_CREATED | REPORT_CHANGED)))
		return STATUS_OK;
	struct placement_view placements[ATTACHMENTS_MAX];
	uint32_t count = world_body_placements(world, id, placements, ATTACHMENTS_MAX);
	status = array_reserve(&ticked->shapes, &ticked->shape_room,
			       (uint64_t)ticked->shape_count + count, sizeof *ticked->shapes);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < count; i++) {
		struct report_shape *shape = &ticked->shapes[ticked->shape_count++];
		memcpy(shape->name, placements[i].shape->name, SHAPE_NAME_BYTES);
		shape->position = placements[i].position;
		shape->rotation = placements[i].rotation;
	}
	body->shape_count = count;
	return STATUS_OK;
}

enum status report_add_bodies(const struct world *world, struct tick_report *ticked,
			      struct contact_view *views)
{
	uint32_t count = world_bodies(world, NULL, 0);
	body_id *ids = heap_alloc(MAX_OF(count, 1u) * sizeof *ids);
	enum status status = ids != NULL ? STATUS_OK : STATUS_NO_MEMORY;
	if (status == STATUS_OK)
		status = array_reserve(&ticked->bodies, &ticked->body_room, count,
				       sizeof *ticked->bodies);
	if (status == STATUS_OK)
		world_bodies(world, ids, count);
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = report_add_body(world, ticked, views, ids[i], REPORT_CREATED);
	heap_free(ids);
	return status;
}

struct wire_joint report_wire_joint(const struct joint_view *from)
{
	struct wire_joint to = {
		.id = from->id,
		.a = from->a,
		.b = from->b,
		.owner = from->owner,
		.tag = from->tag,
		.type = from->type,
		.flags = (uint8_t)((from->flags & JOINT_BODIES_PASS ? WIRE_JOINT_BODIES_PASS : 0) |
				   (from->asleep ? WIRE_JOINT_ASLEEP : 0)),
		.breaks = { from->break_force, from->break_torque },
	};
	memcpy(to.point_a, &from->point_a, sizeof to.point_a);
	memcpy(to.frame_a, &from->frame_a, sizeof to.frame_a);
	memcpy(to.point_b, &from->point_b, sizeof to.point_b);
	memcpy(to.frame_b, &from->frame_b, sizeof to.frame_b);
	memcpy(to.coordinates, from->coordinates, sizeof to.coordinates);
	memcpy(to.force, &from->force, sizeof to.force);
	memcpy(to.torque, &from->torque, sizeof to.torque);
	return to;
}

enum status report_add_joint(const struct world *world, struct tick_report *ticked, joint_id id,
			     uint8_t why)
{
	struct report_joint *joint = &ticked->joint_list[ticked->joint_count];
	enum status status = world_joint(world, id, &joint->view);
	joint->why = why;
	ticked->joint_count += status == STATUS_OK;
	return status;
}

enum status report_add_joints(const struct world *world, struct tick_report *ticked)
{
	uint32_t count = world_joints(world, 0, NULL, 0);
	joint_id *ids = heap_alloc(MAX_OF(count, 1u) * sizeof *ids);
	enum status status = ids != NULL ? STATUS_OK : STATUS_NO_MEMORY;
	if (status == STATUS_OK)
		status = array_reserve(&ticked->joint_list, &ticked->joint_room, count,
				       sizeof *ticked->joint_list);
	if (status == STATUS_OK)
		world_joints(world, 0, ids, count);
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = report_add_joint(world, ticked, ids[i], REPORT_CREATED);
	heap_free(ids);
	return status;
}

enum status report_add_particles(const struct world *world, struct tick_report *ticked)
{
	uint32_t count = world_particle_count(world);
	enum status status = array_reserve(&ticked->particle_list, &ticked->particle_room, count,
					   sizeof *ticked->particle_list);
	if (status == STATUS_OK)
		status = array_reserve(&ticked->system_list, &ticked->system_room, SYSTEMS_MAX,
				       sizeof *ticked->system_list);
	if (status != STATUS_OK)
		return status;
	ticked->particles = true;
	ticked->system_count = world_system_flights(world, ticked->system_list);
	ticked->particle_count = count;
	if (count > 0)
		world_particle_rows(world, ticked->particle_list);
	return STATUS_OK;
}

enum status report_world(const struct world *world, struct report_choice choice,
			 struct tick_report *out)
{
	struct contact_view *views = NULL;
	enum status status = STATUS_OK;
	if (choice.contacts) {
		views = heap_alloc(WIRE_BODY_CONTACTS * sizeof *views);
		status = views != NULL ? STATUS_OK : STATUS_NO_MEMORY;
	}
	out->whole = true;
	out->contacts = out->contacts_all = choice.contacts;
	out->joints = out->joints_all = choice.joints;
	if (status == STATUS_OK)
		status = report_add_bodies(world, out, views);
	if (status == STATUS_OK && choice.joints)
		status = report_add_joints(world, out);
	if (status == STATUS_OK && choice.particles)
		status = report_add_particles(world, out);
	heap_free(views);
	out->info = world_info(world);
	out->stats = world_stats(world);
	out->tick = out->info.tick;
	out->epoch = out->info.epoch;
	out->edit = out->info.edit;
	out->tick_hash = world_tick_hash(world);
	return status;
}
