/* The recorded streams (wire_streams.h), read by the library's mirror: after each frame it equals the state
 * of the world, in every profile and for every kind of frame. The same streams are read
 * by the Python client (clients/python/tests/test_streams.py) and the JavaScript client
 * (clients/js/test/streams.test.js). */
#include "tests/lib/wire_streams.h"

#include <string.h>

#include "protocol/frame.h"
#include "protocol/mirror.h"
#include "protocol/unpack.h"
#include "tests/lib/check_main.h"

struct reading {
	struct mirror mirror;
	uint32_t frames, absolute,
		turned;		  /* `turned`: rotations whose component left out has changed */
	uint8_t largest[1 << 17]; /* by id */
};

static bool give(struct mirror *mirror, const uint8_t *data, uint32_t bytes)
{
	struct wire_slice content;
	struct message message;
	size_t whole;
	bool last = false;
	ck_assert_int_eq(frame_split(data, bytes, WIRE_FRAME_DOWN, &content, &whole), STATUS_OK);
	ck_assert_uint_eq(whole, bytes);
	ck_assert_int_eq(message_read(content.at, content.bytes, &VALIDATE_DOWN, &message, NULL),
			 STATUS_OK);
	ck_assert_int_eq(mirror_take(mirror, &message, &last), STATUS_OK);
	return last;
}

static void take(const struct wire_stream_frame *frame, void *context)
{
	struct reading *self = context;
	for (uint32_t p = 0; p < frame->part_count; p++) {
		bool last = give(&self->mirror, frame->parts[p], frame->part_bytes[p]);
		ck_assert_int_eq(last, p + 1 == frame->part_count);
		ck_assert_int_eq(self->mirror.complete, last);
	}
	ck_assert_uint_eq(self->mirror.tick, frame->tick);
	ck_assert_uint_eq(self->mirror.epoch, frame->epoch);
	ck_assert_uint_eq(self->mirror.count, frame->count);
	for (uint32_t i = 0; i < frame->count; i++) {
		const struct wire_body *shown = &self->mirror.bodies[i], *meant = &frame->bodies[i];
		ck_assert_uint_eq(shown->id, meant->id);
		wire_mask off = wire_columns_differ(shown, meant) & WIRE_STREAM_FIELDS;
		ck_assert_msg(off == 0, "frame %u (%s): columns %#x of body %u", self->frames,
			      frame->kind, off, meant->id);
		if (!wire_profile_quantised(self->mirror.profile))
			continue;
		uint8_t *largest = &self->largest[meant->id];
		self->turned += self->frames > 0 && *largest != frame->steps[i].largest;
		*largest = frame->steps[i].largest;
	}
	const struct mirror_joints *joints = &self->mirror.joints;
	ck_assert_uint_eq(joints->count, frame->joint_count);
	for (uint32_t i = 0; i < frame->joint_count; i++) {
		ck_assert_uint_eq(joints->items[i].id, frame->joints[i].id);
		ck_assert_uint_eq(wire_joint_differs(&joints->items[i], &frame->joints[i]), 0);
	}
	self->absolute += strcmp(frame->kind, "absolute") == 0;
	self->frames++;
}

START_TEST(a_mirror_equals_the_world_after_every_kind_of_frame)
{
	static struct reading reading;
	mirror_init(&reading.mirror, (enum wire_profile)_i, WIRE_STREAM_FIELDS, 100);
	mirror_watch_joints(&reading.mirror, WIRE_STREAM_JOINTS, 100);
	wire_stream_tell((enum wire_profile)_i, take, &reading);
	ck_assert_uint_gt(reading.frames, 12);
	ck_assert_uint_gt(reading.absolute, 3);
	if (wire_profile_quantised((enum wire_profile)_i))
		ck_assert_uint_gt(reading.turned, 10);
	mirror_release(&reading.mirror);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("protocol/streams");
	TCase *streams = tcase_create("streams");
	tcase_add_loop_test(streams, a_mirror_equals_the_world_after_every_kind_of_frame, 0, 4);
	suite_add_tcase(suite, streams);
	return suite;
}

int main(void)
{
	return check_main(make);
}
