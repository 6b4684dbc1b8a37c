/* host_query.c: queries of clients answered between two ticks, and the observation at the end of a
 * STEP, both packed as on the wire.
 *
 * The world's worker answers them and does not change the world, so an answer names the tick it is
 * of.
 * */
#include <string.h>

#include "protocol/block.h"
#include "protocol/command_wire.h"
#include "server/base/heap.h"
#include "server/host/host_answer.h"
#include "server/host/host_state.h"

/* ---- queries
 * ----------------------------------------------------------------------------------- */

enum { ITEM_BYTES_MAX = 192 }; /* largest packed size of a hit, a contact or a SET_PIECE */

static enum status answer_contacts(struct host *host, const struct wire_query *query,
				   struct bytes *out)
{
	struct contact_view *views = ARENA_ARRAY(&host->scratch, struct contact_view, query->limit);
	struct body_view body;
	uint32_t count;
	if (query->body != 0 && query->body != BODY_WALLS &&
	    world_body(host->world, query->body, &body) != STATUS_OK)
		return STATUS_UNKNOWN_BODY;
	if (views == NULL ||
	    world_contacts(host->world, query->body, views, query->limit, &count) != STATUS_OK)
		return STATUS_NO_MEMORY;
	struct wire_packer packer = packer_into(out, 8 + (size_t)count * ITEM_BYTES_MAX);
	wire_pack_array(&packer, count);
	for (uint32_t i = 0; i < count; i++) {
		struct wire_contact contact = {
			.a = views[i].a,
			.b = views[i].b,
			.child_a = views[i].child_a,
			.child_b = views[i].child_b,
			.separation = views[i].separation,
			.impulse = views[i].normal_impulse,
		};
		put_vec3(contact.point, views[i].point);
		put_vec3(contact.normal, views[i].normal);
		put_vec3(contact.friction, views[i].friction_impulse);
		answer_pack_contact(&packer, &contact);
	}
	return packed(out, &packer);
}

static enum status answer_forces(struct host *host, const struct wire_query *query,
				 struct bytes *out)
{
	struct force_view *views = ARENA_ARRAY(&host->scratch, struct force_view, query->limit);
	uint32_t count;
	if (views == NULL)
		return STATUS_NO_MEMORY;
	enum status status = world_forces(host->world, query->body, query->representative != 0,
					  views, query->limit, &count);
	if (status != STATUS_OK)
		return status;
	struct wire_packer packer = packer_into(out, 8 + (size_t)count * ITEM_BYTES_MAX);
	wire_pack_array(&packer, count);
	for (uint32_t i = 0; i < count; i++) {
		struct wire_force force = { .contact = { .a = views[i].a,
							 .b = views[i].b,
							 .child_a = views[i].child_a,
							 .child_b = views[i].child_b,
							 .separation = views[i].separation,
							 .impulse = views[i].normal_force },
					    .known = views[i].known };
		put_vec3(force.contact.point, views[i].point);
		put_vec3(force.contact.normal, views[i].normal);
		put_vec3(force.contact.friction, views[i].friction_force);
		answer_pack_force(&packer, &force);
	}
	return packed(out, &packer);
}

static enum status answer_sensed(struct host *host, const struct wire_query *query,
				 struct bytes *out)
{
	body_id *ids = ARENA_ARRAY(&host->scratch, body_id, query->limit);
	uint32_t count;
	if (ids == NULL)
		return STATUS_NO_MEMORY;
	enum status status = world_sensed(host->world, query->body, ids, query->limit, &count);
	if (status != STATUS_OK)
		return status;
	struct wire_packer packer = packer_into(out, 8 + (size_t)count * 5);
	wire_pack_array(&packer, count);
	for (uint32_t i = 0; i < count; i++)
		wire_pack_uint(&packer, ids[i]);
	return packed(out, &packer);
}

static enum status answer_pieces(struct host *host, const struct wire_query *query,
				 struct bytes *out)
{
	struct command_SET_PIECE *sets =
		ARENA_ARRAY(&host->scratch, struct command_SET_PIECE, query->limit);
	uint32_t count;
	if (sets == NULL)
		return STATUS_NO_MEMORY;
	enum status status =
		world_pieces(host->world, query->body, query->first, sets, query->limit, &count);
	if (status != STATUS_OK)
		return status;
	struct wire_packer packer = packer_into(out, 8 + (size_t)count * ITEM_BYTES_MAX);
	wire_pack_array(&packer, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct command command = { .op = COMMAND_SET_PIECE, .set_piece = sets[i] };
		command_pack(&packer, &command);
	}
	return packed(out, &packer);
}

static enum status answer_carriers(struct host *host, const struct wire_query *query,
				   struct bytes *out)
{
	struct carrier_view *views = ARENA_ARRAY(&host->scratch, struct carrier_view, query->limit);
	uint32_t count;
	if (views == NULL)
		return STATUS_NO_MEMORY;
	enum status status =
		world_carriers(host->world, query->body, query->first, views, query->limit, &count);
	if (status != STATUS_OK)
		return status;
	struct wire_packer packer = packer_into(out, 8 + (size_t)count * ITEM_BYTES_MAX);
	wire_pack_array(&packer, count);
	for (uint32_t i = 0; i < count; i++) {
		wire_pack_array(&packer, 3);
		wire_pack_uint(&packer, views[i].body);
		wire_pack_array(&packer, views[i].count);
		for (uint32_t k = 0; k < views[i].count; k++)
			wire_pack_uint(&packer, views[i].points[k]);
		wire_pack_real(&packer, views[i].off);
	}
	return packed(out, &packer);
}

static void pack_totals(const struct world *world, struct wire_packer *packer)
{
	struct world_energy energy = world_energy(world);
	struct wire_totals totals = { .kinetic = energy.kinetic, .potential = energy.potential };
	put_vec3(totals.linear, energy.linear);
	put_vec3(totals.angular, energy.angular);
	answer_pack_totals(packer, &totals);
}

static enum status answer_totals(struct host *host, struct bytes *out)
{
	struct wire_packer packer = packer_into(out, 128);
	pack_totals(host->world, &packer);
	return packed(out, &packer);
}

static struct wire_mover wire_mover_of(const struct mover_view *view)
{
	struct wire_mover mover = { .flags = view->flags,
				    .ground = view->ground,
				    .squeezes = view->squeezes,
				    .step_height = view->step_height,
				    .slope = view->slope,
				    .push_force = view->push_force,
				    .snap = view->snap };
	put_vec3(mover.normal, view->normal);
	put_vec3(mover.velocity, view->velocity);
	put_vec3(mover.wish, view->wish);
	return mover;
}

/* The neutral form of a body; `shapes` has room for WIRE_BODY_SHAPES of them and is borrowed. */
static enum status body_facts(const struct world *world, body_id id, uint8_t *shapes,
			      struct wire_body_facts *facts)
{
	struct body_view view;
	enum status status = world_body(world, id, &view);
	if (status != STATUS_OK)
		return status;
	struct placement_view placements[WIRE_BODY_SHAPES];
	uint32_t count = world_body_placements(world, id, placements, WIRE_BODY_SHAPES);
	struct wire_body *body = &facts->body;
	memset(facts, 0, sizeof *facts);
	body->id = view.id;
	body->status = view.status;
	body->flags = wire_body_flags(view.asleep, view.quarantined, view.fast, view.sensor);
	body->owner = view.owner;
	body->tag = view.tag;
	put_vec3(body->position, view.position);
	put_quat(body->rotation, view.rotation);
	put_vec3(body->velocity, view.velocity);
	put_vec3(body->spin, view.angular_velocity);
	body->shape_count = (uint8_t)count;
	body->shapes = shapes;
	for (uint32_t i = 0; i < count; i++) {
		struct wire_placement placement;
		memcpy(placement.shape.bytes, placements[i].shape->name, SHAPE_NAME_BYTES);
		put_vec3(placement.position, placements[i].position);
		put_quat(placement.rotation, placements[i].rotation);
		wire_placement_put(shapes + i * WIRE_SHAPE_BYTES, &placement);
	}
	struct mover_view mover;
	facts->walks = world_mover(world, id, &mover);
	if (facts->walks)
		facts->mover = wire_mover_of(&mover);
	facts->mass = view.mass;
	put_vec3(facts->centre, view.centre);
	return STATUS_OK;
}

static enum status answer_body(struct host *host, const struct wire_query *query, struct bytes *out)
{
	uint8_t shapes[WIRE_BODY_SHAPES * WIRE_SHAPE_BYTES];
	struct wire_body_facts facts;
	enum status status = body_facts(host->world, query->body, shapes, &facts);
	if (status != STATUS_OK)
		return status;
	struct wire_packer packer =
		packer_into(out, 512 + (size_t)facts.body.shape_count * ITEM_BYTES_MAX);
	answer_pack_body(&packer, &facts);
	return packed(out, &packer);
}

/* Canonical bytes of a shape, so that a viewer can draw shapes that other clients uploaded. */
static enum status answer_geometry(struct host *host, const struct wire_query *query,
				   struct bytes *out, struct reason *why)
{
	const struct shape *shape = shape_library_find(&host->shapes, query->name.bytes);
	if (shape == NULL)
		return reason_set(why, STATUS_UNKNOWN_SHAPE, -1, "name",
				  "the world's shape library has no shape of that name: upload it");
	size_t bytes = shape->canonical_bytes;
	uint32_t of = (uint32_t)((bytes + WIRE_SHAPE_PART - 1) / WIRE_SHAPE_PART);
	if (query->part >= of)
		return reason_set(why, STATUS_RANGE, -1, "part",
				  "part is %u, but the shape has %u parts, counted from 0",
				  (unsigned)query->part, (unsigned)of);
	size_t from = (size_t)query->part * WIRE_SHAPE_PART;
	uint32_t count = (uint32_t)MIN_OF(bytes - from, (size_t)WIRE_SHAPE_PART);
	struct wire_geometry geometry = { query->part, of, { shape->canonical + from, count } };
	struct wire_packer packer = packer_into(out, (size_t)count + 32);
	answer_pack_geometry(&packer, &geometry);
	return packed(out, &packer);
}

static enum status answer_query(struct host *host, const struct wire_query *query,
				struct bytes *out, uint64_t *work, struct reason *why)
{
	switch (query->kind) {
	case WIRE_QUERY_CONTACTS:
		return answer_contacts(host, query, out);
	case WIRE_QUERY_FORCES:
		return answer_forces(host, query, out);
	case WIRE_QUERY_SENSED:
		return answer_sensed(host, query, out);
	case WIRE_QUERY_PIECES:
		return answer_pieces(host, query, out);
	case WIRE_QUERY_CARRIERS:
		return answer_carriers(host, query, out);
	case WIRE_QUERY_TOTALS:
		return answer_totals(host, out);
	case WIRE_QUERY_BODY:
		return answer_body(host, query, out);
	case WIRE_QUERY_GEOMETRY:
		return answer_geometry(host, query, out, why);
	case WIRE_QUERY_METHODS:
		return host_answer_methods(host, out);
	case WIRE_QUERY_PARAMETERS:
		return host_answer_parameters(host, out);
	case WIRE_QUERY_JOINT:
		return host_answer_joint(host, query, out, why);
	case WIRE_QUERY_JOINTS:
		return host_answer_joints(host, query, out);
	case WIRE_QUERY_FIELDS:
		return host_answer_fields(host, query, out);
	case WIRE_QUERY_LINKED:
		return host_answer_linked(host, query, out);
	case WIRE_QUERY_SYSTEMS:
		return host_answer_systems(host, out);
	case WIRE_QUERY_FLUIDS:
		return host_answer_fluids(host, out);
	case WIRE_QUERY_PARTICLES:
		return host_answer_particles(host, query, out, why);
	case WIRE_QUERY_LINKS:
		return host_answer_links(host, query, out, why);
	case WIRE_QUERY_ROBOT:
		return host_answer_robot(host, query, out, work, why);
	case WIRE_QUERY_DYNAMICS:
		return host_answer_dynamics(host, query, out, work, why);
	case WIRE_QUERY_INERTIA:
		return host_answer_inertia(host, query, out, why);
	case WIRE_QUERY_JACOBIAN:
		return host_answer_jacobian(host, query, out, why);
	default: /* host_shape_query.c */
		return STATUS_UNSUPPORTED;
	}
}

/* The cost of an answer, in pieces examined. */
static uint64_t work_of(const struct host *host, const struct wire_query *query,
			const struct bytes *out)
{
	struct world_stats stats = world_stats(host->world);
	uint64_t looked = query->kind == WIRE_QUERY_TOTALS	? stats.bodies
			  : query->kind == WIRE_QUERY_LINKED	? stats.bodies
			  : query->kind == WIRE_QUERY_JOINTS	? stats.joints
			  : query->kind == WIRE_QUERY_PIECES	? 1 + query->first
			  : query->kind == WIRE_QUERY_CARRIERS	? stats.bodies
			  : query->kind >= WIRE_QUERY_ROBOT	? stats.bodies + stats.joints
			  : query->kind == WIRE_QUERY_CONTACTS	? stats.contacts
			  : query->kind == WIRE_QUERY_PARTICLES ? world_particle_count(host->world)
			  : query->kind == WIRE_QUERY_LINKS	? 2 * (uint64_t)query->after
			  : query->kind == WIRE_QUERY_FORCES	? 64 * (uint64_t)stats.contacts
								: 1;
	return looked + out->count / 64;
}

void host_do_query(struct host *host, struct requester *requester, struct wire_list list)
{
	struct reason why = { .status = STATUS_OK, .index = -1 };
	struct wire_query query;
	struct bytes out = { 0 };
	uint64_t work = 0;
	if (host_refuse_in_boundary(host, requester))
		return;
	struct arena_mark mark = arena_mark(&host->scratch);
	enum status status = query_take(&list, &query, &why);
	if (status == STATUS_OK && query_info((uint32_t)query.kind)->placed) {
		host_do_shape_query(host, requester, &query);
		return;
	}
	if (status == STATUS_OK)
		status = answer_query(host, &query, &out, &work, &why);
	arena_rewind(&host->scratch, mark);
	if (status == STATUS_OK) {
		struct report *report = host_reply(host, requester);
		report->reply.raw = out;
		report->reply.work = work + work_of(host, &query, &out);
		host_send(host, report);
		return;
	}
	bytes_release(&out);
	if (why.status != status && status == STATUS_UNKNOWN_BODY)
		reason_set(&why, status, -1, "body", "there is no body %u", (unsigned)query.body);
	else if (why.status != status)
		reason_set(&why, status, -1, "query", "%s", status_text(status));
	host_refuse(host, requester, &why);
}

/* ---- the observation of a STEP
 * ----------------------------------------------------------------- */

/* All bodies as one block of the profile. */
static enum status observe_bodies(const struct world *world, enum wire_profile profile,
				  struct bytes *out)
{
	uint32_t count = world_bodies(world, NULL, 0);
	body_id *ids = heap_alloc(MAX_OF(count, 1u) * sizeof *ids);
	struct wire_body_facts *facts = heap_alloc(MAX_OF(count, 1u) * sizeof *facts);
	struct block_row *rows = heap_alloc(MAX_OF(count, 1u) * sizeof *rows);
	uint8_t shapes[WIRE_BODY_SHAPES * WIRE_SHAPE_BYTES];
	enum status status =
		ids != NULL && facts != NULL && rows != NULL ? STATUS_OK : STATUS_NO_MEMORY;
	/* Poses and velocities, which a test harness reads every step. */
	const uint8_t fields = WIRE_COLUMNS_TICK;
	size_t room = BLOCK_HEADER_BYTES_MAX;
	if (status == STATUS_OK)
		world_bodies(world, ids, count);
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
		status = body_facts(world, ids[i], shapes, &facts[i]);
		facts[i].body.shapes = NULL;
		facts[i].body.shape_count = 0;
		rows[i] = (struct block_row){ .body = &facts[i].body, .mask = fields };
		room += block_row_bytes_max(profile, fields, &rows[i]);
	}
	if (status == STATUS_OK) {
		struct wire_packer packer = packer_into(out, room);
		block_pack(&packer, profile, fields, rows, count);
		status = packed(out, &packer);
	}
	heap_free(ids);
	heap_free(facts);
	heap_free(rows);
	return status;
}

static enum status observe_nil(struct bytes *out)
{
	struct wire_packer packer = packer_into(out, 1);
	wire_pack_nil(&packer);
	return packed(out, &packer);
}

enum status host_observe(struct host *host, uint8_t want, struct bytes *out)
{
	if (!(want & (WIRE_WANT_BODIES | WIRE_WANT_TOTALS | WIRE_WANT_EXACT | WIRE_WANT_JOINTS)))
		return STATUS_OK; /* nothing is nil on the wire */
	struct wire_packer packer = packer_into(out, 1);
	wire_pack_array(&packer, want & WIRE_WANT_JOINTS ? 4 : 3);
	enum status status = packed(out, &packer);
	if (status == STATUS_OK)
		status = want & WIRE_WANT_BODIES
				 ? observe_bodies(host->world, WIRE_PROFILE_PLAIN, out)
				 : observe_nil(out);
	if (status == STATUS_OK)
		status = want & WIRE_WANT_TOTALS ? answer_totals(host, out) : observe_nil(out);
	if (status == STATUS_OK)
		status = want & WIRE_WANT_EXACT
				 ? observe_bodies(host->world, WIRE_PROFILE_EXACT, out)
				 : observe_nil(out);
	if (status == STATUS_OK && (want & WIRE_WANT_JOINTS))
		status = host_observe_joints(host, out);
	return status;
}
