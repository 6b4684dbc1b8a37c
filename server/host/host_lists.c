/* host_lists.c: the lists of methods and parameters, packed as on the wire, for one world: for each method
 * whether the world could switch to it now, for each parameter its value in the world. */
#include <string.h>

#include "server/host/host_answer.h"
#include "server/host/host_state.h"

enum {
	METHODS_MAX = 64,
	NAMES_MAX = 64,
	PARAMETERS_MAX = 512,
	LIST_BYTES_MAX = 1024,
	ITEM_BYTES_MAX = 2048
};

/* The aliases of a method; the items are packed into `room`. */
static struct wire_list names_of(const char *method, uint8_t room[LIST_BYTES_MAX])
{
	struct method_name names[NAMES_MAX];
	uint32_t count = MIN_OF(world_method_names(names, NAMES_MAX), (uint32_t)NAMES_MAX),
		 listed = 0;
	struct wire_packer items = wire_packer_over(room, LIST_BYTES_MAX);
	for (uint32_t i = 0; i < count; i++) {
		if (strcmp(names[i].method, method) != 0)
			continue;
		struct wire_method_name name = { .name = wire_text(names[i].name),
						 .value = names[i].value };
		if (names[i].parameter != NULL)
			name.parameter = wire_text(names[i].parameter);
		answer_pack_method_name(&items, &name);
		listed++;
	}
	ASSERT(wire_packer_status(&items) == STATUS_OK);
	return (struct wire_list){ room, items.bytes, listed };
}

enum status host_answer_methods(struct host *host, struct bytes *out)
{
	struct method_info list[METHODS_MAX];
	uint32_t count = world_methods(list, METHODS_MAX);
	ASSERT(count <= METHODS_MAX);
	struct wire_packer packer = packer_into(out, 8 + (size_t)count * ITEM_BYTES_MAX);
	wire_pack_array(&packer, count);
	for (uint32_t i = 0; i < count; i++) {
		uint8_t room[LIST_BYTES_MAX];
		struct reason why = { .status = STATUS_OK };
		enum status status = world_supports(host->world, list[i].name, &why);
		struct wire_method method = {
			.number = list[i].number,
			.motion = list[i].motion,
			.shapes = list[i].shapes,
			.abilities = (list[i].friction ? WIRE_METHOD_FRICTION : 0u) |
				     (list[i].restitution ? WIRE_METHOD_RESTITUTION : 0u) |
				     (list[i].sleep ? WIRE_METHOD_SLEEP : 0u) |
				     (list[i].planar ? WIRE_METHOD_PLANAR : 0u) |
				     (list[i].three_d ? WIRE_METHOD_SPATIAL : 0u) |
				     (list[i].joints ? WIRE_METHOD_JOINTS : 0u),
			.code = (uint32_t)status,
			.name = wire_text(list[i].name),
			.why = wire_text(status == STATUS_OK ? "" : why.text),
			.summary = wire_text(list[i].summary),
			.names = names_of(list[i].name, room),
		};
		answer_pack_method(&packer, &method);
	}
	return packed(out, &packer);
}

/* The words of a text as a list; the items are packed into `room`. */
static struct wire_list words_of(const char *text, uint8_t room[LIST_BYTES_MAX])
{
	struct wire_packer items = wire_packer_over(room, LIST_BYTES_MAX);
	uint32_t count = 0;
	for (size_t length; *text != '\0'; text += length + (text[length] == ' ')) {
		length = strcspn(text, " ");
		wire_pack_text(&items,
			       (struct wire_slice){ (const uint8_t *)text, (uint32_t)length });
		count++;
	}
	ASSERT(wire_packer_status(&items) == STATUS_OK);
	return (struct wire_list){ room, items.bytes, count };
}

enum status host_answer_parameters(struct host *host, struct bytes *out)
{
	struct parameter_info *list =
		ARENA_ARRAY(&host->scratch, struct parameter_info, PARAMETERS_MAX);
	if (list == NULL)
		return STATUS_NO_MEMORY;
	uint32_t count = world_parameters(list, PARAMETERS_MAX);
	ASSERT(count <= PARAMETERS_MAX);
	struct wire_packer packer = packer_into(out, 8 + (size_t)count * ITEM_BYTES_MAX);
	wire_pack_array(&packer, count);
	for (uint32_t i = 0; i < count; i++) {
		uint8_t methods[LIST_BYTES_MAX], old[LIST_BYTES_MAX];
		struct wire_parameter parameter = {
			.number = list[i].number,
			.whole = list[i].whole,
			.value = world_parameter(host->world, list[i].name),
			.initial = list[i].initial,
			.min = list[i].min,
			.max = list[i].max,
			.name = wire_text(list[i].name),
			.unit = wire_text(list[i].unit),
			.doc = wire_text(list[i].doc),
			.methods = words_of(list[i].methods, methods),
			.old = words_of(list[i].old != NULL ? list[i].old : "", old),
		};
		answer_pack_parameter(&packer, &parameter);
	}
	return packed(out, &packer);
}
