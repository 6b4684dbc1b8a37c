/* Bytes of a server as a client reads them: split, validate, unpack, and read the lists. */
#include "protocol/frame.h"
#include "protocol/group_wire.h"
#include "protocol/handshake.h"
#include "protocol/pack.h"
#include "protocol/query_wire.h"
#include "protocol/result_wire.h"
#include "protocol/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

static uint8_t again[WIRE_FRAME_DOWN * 2];

static void read_results(const struct wire_list *list)
{
	struct wire_cursor in = wire_cursor_list(list);
	struct wire_result result;
	while (!wire_at_end(&in) && result_take(&in, &result) == STATUS_OK) {
		for (uint32_t i = 0; i < MIN_OF(result.value_list.count, 3u); i++)
			(void)result_value(&result, i);
		ASSERT(result_value(&result, result.value_list.count) == 0);
	}
}

static void read_events(const struct wire_list *list)
{
	struct wire_cursor in = wire_cursor_list(list);
	struct event event;
	while (!wire_at_end(&in) && event_take(&in, &event) == STATUS_OK)
		ASSERT(event.value - event.value == 0);
}

static bool is_finite3(const double v[3])
{
	return v[0] - v[0] == 0 && v[1] - v[1] == 0 && v[2] - v[2] == 0;
}

/* Lists of hits and regions. */
static void read_items(const struct wire_list *list)
{
	struct wire_cast_hit hit;
	struct wire_region region;
	struct wire_cursor hits = wire_cursor_list(list), regions = hits;
	while (!wire_at_end(&hits) && answer_take_cast_hit(&hits, &hit) == STATUS_OK)
		ASSERT(is_finite3(hit.point) && is_finite3(hit.normal));
	while (!wire_at_end(&regions) && answer_take_region(&regions, &region) == STATUS_OK)
		ASSERT(is_finite3(region.point) && region.volume - region.volume == 0);
}

/* Answers that consist of one item. */
static void read_item(struct wire_slice answer)
{
	struct wire_closest closest;
	struct wire_mass mass;
	struct wire_move move;
	struct wire_geometry geometry;
	struct wire_cursor whole = wire_cursor_of(answer), in = whole;
	if (answer_take_closest(&in, &closest) == STATUS_OK && closest.found)
		ASSERT(closest.a.feature_count <= WIRE_FEATURE_MAX &&
		       closest.b.feature_count <= WIRE_FEATURE_MAX);
	in = whole;
	if (answer_take_mass(&in, &mass) == STATUS_OK)
		ASSERT(is_finite3(mass.centre) && is_finite3(mass.moments));
	in = whole;
	if (answer_take_move(&in, &move) == STATUS_OK)
		ASSERT(is_finite3(move.position) && move.contact_count <= WIRE_MOVE_CONTACTS_MAX);
	in = whole;
	if (answer_take_geometry(&in, &geometry) == STATUS_OK)
		ASSERT(geometry.data.bytes <= answer.bytes && geometry.data.at >= answer.at);
}

static void read_answer(struct wire_slice answer)
{
	static uint8_t shapes[WIRE_BODY_SHAPES * WIRE_SHAPE_BYTES];
	struct wire_list list;
	struct wire_ray_hit hit;
	struct wire_contact contact;
	struct wire_totals totals;
	struct wire_body_facts facts;
	struct wire_cursor in = wire_cursor_of(answer), whole = in;
	read_item(answer);
	if (wire_take_list(&in, &list) != STATUS_OK)
		return;
	read_items(&list);
	struct wire_cursor hits = wire_cursor_list(&list), contacts = hits;
	while (!wire_at_end(&hits) && answer_take_hit(&hits, &hit) == STATUS_OK)
		ASSERT(hit.fraction - hit.fraction == 0);
	while (!wire_at_end(&contacts) && answer_take_contact(&contacts, &contact) == STATUS_OK)
		ASSERT(contact.impulse - contact.impulse == 0);
	in = whole;
	if (answer_take_totals(&in, &totals) != STATUS_OK)
		in = whole;
	if (answer_take_body(&in, &facts, shapes) == STATUS_OK)
		ASSERT(facts.body.shape_count <= WIRE_BODY_SHAPES);
}

static void read_group_items(const struct wire_list *list)
{
	struct wire_cursor in = wire_cursor_list(list);
	struct wire_group_item item;
	for (uint32_t i = 0; i < list->count; i++)
		if (group_item_take(&in, &item) != STATUS_OK)
			return;
}

static void read_lists(const struct message *message)
{
	struct handshake handshake;
	handshake_init(&handshake, &(struct handshake_offer){ .name = "a" });
	enum status status = handshake_welcome(&handshake, message);
	ASSERT((status == STATUS_OK) == (handshake.state == HANDSHAKE_OPEN));
	if (message->type == MESSAGE_RESULT)
		read_results(&message->result.list);
	else if (message->type == MESSAGE_STEPPED)
		read_results(&message->stepped.results);
	else if (message->type == MESSAGE_STEPPED_WORLDS)
		read_group_items(&message->stepped_worlds.worlds);
	else if (message->type == MESSAGE_EVENTS)
		read_events(&message->events.list);
	else if (message->type == MESSAGE_ANSWER)
		read_answer(message->answer.answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
	struct wire_slice content;
	size_t bytes;
	while (frame_split(data, count, WIRE_FRAME_DOWN, &content, &bytes) == STATUS_OK) {
		struct message message, second;
		uint32_t packed;
		if (message_read(content.at, content.bytes, &VALIDATE_DOWN, &message, NULL) ==
		    STATUS_OK) {
			read_lists(&message);
			ASSERT(message_pack_content(&message, again, sizeof again, &packed) ==
			       STATUS_OK);
			ASSERT(message_read(again, packed, &VALIDATE_DOWN, &second, NULL) ==
			       STATUS_OK);
		}
		data += bytes;
		count -= bytes;
	}
	return 0;
}
