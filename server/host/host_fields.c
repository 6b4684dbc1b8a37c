/* host_fields.c: the query about force fields, answered between two ticks. */
#include "server/host/host_answer.h"
#include "server/host/host_state.h"

/* Largest packed sizes, in bytes, of the answer's beginning and of a field. */
enum { HEAD_BYTES_MAX = 80, FIELD_BYTES_MAX = 256 };

static struct wire_force_field field_facts(const struct field_view *view)
{
	struct wire_force_field facts = {
		.id = view->id,
		.mask = view->mask,
		.kind = view->kind,
		.region = view->region,
		.falloff = view->falloff,
		.flags = view->flags,
		.power = view->power,
		.tag = view->tag,
		.linear = view->linear,
		.quadratic = view->quadratic,
		.angular = view->angular,
		.core = view->core,
		.density = view->density,
	};
	put_vec3(facts.position, view->position);
	put_quat(facts.rotation, view->rotation);
	put_vec3(facts.half, view->half);
	put_vec3(facts.strength, view->strength);
	put_vec3(facts.velocity, view->velocity);
	return facts;
}

enum status host_answer_fields(struct host *host, const struct wire_query *query, struct bytes *out)
{
	struct field_view *fields = ARENA_ARRAY(&host->scratch, struct field_view, FIELDS_MAX);
	struct wire_field_force head;
	vec3 acceleration, force;
	if (fields == NULL)
		return STATUS_NO_MEMORY;
	head.count = world_fields(host->world, fields);
	world_field_force(host->world, get_vec3(query->origin), get_vec3(query->direction),
			  query->value, &acceleration, &force);
	put_vec3(head.acceleration, acceleration);
	put_vec3(head.force, force);
	struct wire_packer packer =
		packer_into(out, HEAD_BYTES_MAX + (size_t)head.count * FIELD_BYTES_MAX);
	answer_pack_fields(&packer, &head);
	for (uint32_t i = 0; i < head.count; i++) {
		struct wire_force_field facts = field_facts(&fields[i]);
		answer_pack_field(&packer, &facts);
	}
	return packed(out, &packer);
}
