/* What a client does with the bytes of a server: split, validate, unpack, and look into the lists.
 */
#include "protocol/frame.h"
#include "protocol/handshake.h"
#include "protocol/pack.h"
#include "protocol/query_wire.h"
#include "protocol/result_wire.h"
#include "protocol/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

static uint8_t again[WIRE_FRAME_DOWN * 2];

static void look_into_results(const struct wire_list *list)
{
	struct wire_cursor in = wire_cursor_list(list);
	struct wire_result result;
	while (!wire_at_end(&in) && result_take(&in, &result) == STATUS_OK)
		(void)result_value(&result, result.value_list.count);
}

static void look_into_events(const struct wire_list *list)
{
	struct wire_cursor in = wire_cursor_list(list);
	struct event event;
	while (!wire_at_end(&in) && event_take(&in, &event) == STATUS_OK)
		ASSERT(event.value - event.value == 0);
}

static void look_into_answer(struct wire_slice answer)
{
	static uint8_t shapes[WIRE_BODY_SHAPES * WIRE_SHAPE_BYTES];
	struct wire_list list;
	struct wire_ray_hit hit;
	struct wire_contact contact;
	struct wire_totals totals;
	struct wire_body_facts facts;
	struct wire_cursor in = wire_cursor_of(answer), whole = in;
	if (wire_take_list(&in, &list) != STATUS_OK)
		return;
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

static void look_into(const struct message *message)
{
	struct handshake handshake;
	handshake_init(&handshake, &(struct handshake_offer){.name = "a"});
	enum status status = handshake_welcome(&handshake, message);
	ASSERT((status == STATUS_OK) == (handshake.state == HANDSHAKE_OPEN));
	if (message->type == MESSAGE_RESULT)
		look_into_results(&message->result.list);
	else if (message->type == MESSAGE_STEPPED)
		look_into_results(&message->stepped.results);
	else if (message->type == MESSAGE_EVENTS)
		look_into_events(&message->events.list);
	else if (message->type == MESSAGE_ANSWER)
		look_into_answer(message->answer.answer);
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
			look_into(&message);
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
