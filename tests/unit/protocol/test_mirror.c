/* The encoders of body frames (block, delta) against the mirror that applies them. */
#include "protocol/mirror.h"

#include <string.h>

#include "protocol/delta.h"
#include "protocol/frame.h"
#include "protocol/pack.h"
#include "protocol/unpack.h"
#include "server/base/body_hash.h"
#include "server/base/bytes.h"
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/gen_message.h"

enum { BODIES_MAX = 300, PARTS_MAX = 64, SHAPES_MAX = 3, TOUCHES_MAX = 4 };

/* A small world of bodies inside this test, which a mirror must equal. */
struct truth {
	struct wire_body bodies[BODIES_MAX];
	uint8_t shapes[BODIES_MAX][SHAPES_MAX * WIRE_SHAPE_BYTES];
	uint8_t contacts[BODIES_MAX][1 + TOUCHES_MAX * WIRE_TOUCH_BYTES];
	uint32_t count;
	uint32_t next_id;
	uint64_t tick;
};
static struct truth now, before;
static uint8_t buffer[1 << 20];
static const enum wire_profile PROFILES[] = { WIRE_PROFILE_PLAIN, WIRE_PROFILE_EXACT,
					      WIRE_PROFILE_VIEW, WIRE_PROFILE_SIM };

static void point_at_lists(struct truth *truth)
{
	for (uint32_t i = 0; i < truth->count; i++) {
		truth->bodies[i].shapes = truth->shapes[i];
		truth->bodies[i].contacts = truth->contacts[i];
	}
}

/* A body's contacts in the encoding of a profile. */
static struct wire_slice contacts_in(enum wire_profile profile, const struct wire_body *body,
				     uint8_t out[1 + TOUCHES_MAX * WIRE_TOUCH_BYTES])
{
	struct wire_slice exact = { body->contacts, body->contact_bytes };
	if (!wire_profile_quantised(profile))
		return exact;
	return (struct wire_slice){ out, wire_touches_quantise(profile, exact, out) };
}

static void keep(void)
{
	before = now;
	point_at_lists(&before);
}

static void set_reals(struct rng *rng, double *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		values[i] = gen_real(rng);
}

static void set_contacts(struct rng *rng, struct truth *truth, uint32_t i)
{
	struct wire_touches_writer writer;
	struct wire_touch touch = { .other = 0 };
	uint32_t count = rng_below(rng, TOUCHES_MAX + 1);
	wire_touches_begin(&writer, WIRE_PROFILE_EXACT, truth->contacts[i], count);
	for (uint32_t k = 0; k < count; k++) {
		touch.other += rng_below(rng, 3);
		touch.child = rng_below(rng, 2);
		touch.other_child = rng_below(rng, 3) * 1000;
		set_reals(rng, touch.point, 3);
		if (rng_below(rng, 2) == 0)
			touch.normal[rng_below(rng, 3)] = rng_double(rng);
		touch.separation = gen_real(rng);
		touch.impulse = gen_real(rng);
		set_reals(rng, touch.friction, rng_below(rng, 2) * 3);
		wire_touches_put(&writer, &touch);
	}
	truth->bodies[i].contact_bytes =
		count == 0 ? 0 : (uint32_t)(writer.at - truth->contacts[i]);
}

static void set_column(struct rng *rng, struct truth *truth, uint32_t i, wire_mask bit)
{
	struct wire_body *body = &truth->bodies[i];
	switch (bit) {
	case WIRE_COLUMN_POSITION:
		set_reals(rng, body->position, 3);
		return;
	case WIRE_COLUMN_ROTATION:
		set_reals(rng, body->rotation, 4);
		return;
	case WIRE_COLUMN_VELOCITY:
		set_reals(rng, body->velocity, 3);
		return;
	case WIRE_COLUMN_SPIN:
		set_reals(rng, body->spin, 3);
		return;
	case WIRE_COLUMN_STATUS:
		body->status = (uint8_t)rng_below(rng, 4);
		body->flags = (uint8_t)rng_below(rng, 4);
		return;
	case WIRE_COLUMN_OWNER:
		body->owner = rng_u32(rng);
		body->tag = (int64_t)(rng_u64(rng) >> 11) - ((int64_t)1 << 52);
		return;
	case WIRE_COLUMN_CONTACTS:
		set_contacts(rng, truth, i);
		return;
	default:
		body->shape_count = (uint8_t)rng_below(rng, SHAPES_MAX + 1);
		for (uint32_t s = 0; s < body->shape_count; s++) {
			struct wire_placement placement;
			memset(&placement.shape, (int)rng_below(rng, 256), 32);
			set_reals(rng, placement.position, 3);
			set_reals(rng, placement.rotation, 4);
			wire_placement_put(truth->shapes[i] + s * WIRE_SHAPE_BYTES, &placement);
		}
	}
}

static void spawn(struct rng *rng, uint32_t gap)
{
	now.next_id += 1 + gap;
	now.bodies[now.count] = (struct wire_body){ .id = now.next_id };
	now.bodies[now.count].shapes = now.shapes[now.count];
	now.bodies[now.count].contacts = now.contacts[now.count];
	now.count++;
	for (uint32_t c = 0; c < WIRE_COLUMN_COUNT; c++)
		set_column(rng, &now, now.count - 1, wire_column_info(c)->bit);
}

static void start(struct rng *rng, uint32_t count)
{
	memset(&now, 0, sizeof now);
	now.tick = 5;
	for (uint32_t i = 0; i < count; i++)
		spawn(rng, rng_below(rng, 3) == 0 ? rng_below(rng, 100000) : 0);
}

/* Removes some, changes some, spawns some. */
static void advance(struct rng *rng)
{
	now.tick += 1 + rng_below(rng, 3);
	uint32_t write = 0;
	for (uint32_t i = 0; i < now.count; i++) {
		if (rng_below(rng, 10) == 0)
			continue;
		now.bodies[write] = now.bodies[i];
		memmove(now.shapes[write], now.shapes[i], sizeof now.shapes[i]);
		memmove(now.contacts[write], now.contacts[i], sizeof now.contacts[i]);
		write++;
	}
	now.count = write;
	point_at_lists(&now);
	for (uint32_t i = 0; i < now.count; i++) {
		for (uint32_t c = 0; c < WIRE_COLUMN_COUNT; c++) {
			if (rng_below(rng, 4) == 0)
				set_column(rng, &now, i, wire_column_info(c)->bit);
		}
	}
	uint32_t spawns = rng_below(rng, 20);
	for (uint32_t i = 0; i < spawns && now.count < BODIES_MAX; i++)
		spawn(rng, rng_below(rng, 300));
}

/* ---- the server's side --------------------------------------------------------------------------
 */

struct sender {
	struct delta_frame frame;
	struct block_row rows[BODIES_MAX];
	uint32_t removed[BODIES_MAX];
	struct delta_part parts[PARTS_MAX];
	uint32_t part_count;
	struct wire_quantised to[BODIES_MAX], from[BODIES_MAX]; /* of rows and of the base */
	uint8_t contacts[BODIES_MAX][1 + TOUCHES_MAX * WIRE_TOUCH_BYTES];
};
static struct sender sender;

static uint64_t truth_hash(const struct truth *truth, enum wire_profile profile, wire_mask fields,
			   bool tick_hash)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < truth->count; i++) {
		const struct wire_body *body = &truth->bodies[i];
		struct wire_quantised values;
		if (wire_profile_quantised(profile)) {
			wire_quantise(profile, body, &values);
			uint8_t packed[1 + TOUCHES_MAX * WIRE_TOUCH_BYTES];
			sum += wire_quantised_hash(body, &values,
						   contacts_in(profile, body, packed), fields);
		} else {
			sum += tick_hash ? wire_tick_hash(body) : wire_view_hash(body, fields);
		}
	}
	return body_hash_finish(truth->tick, sum, truth->count);
}

static void prepare(enum wire_profile profile, wire_mask fields, bool snapshot)
{
	memset(&sender, 0, sizeof sender);
	bool whole = (fields & WIRE_COLUMNS_TICK) == WIRE_COLUMNS_TICK &&
		     !wire_profile_quantised(profile);
	sender.frame = (struct delta_frame){
		.snapshot = snapshot,
		.profile = profile,
		.fields = fields,
		.flags = (uint8_t)(WIRE_FRAME_ABSOLUTE | (whole ? WIRE_FRAME_TICK_HASH : 0)),
		.epoch = 3,
		.tick = now.tick,
		.base = before.tick,
		.hash = { true, truth_hash(&now, profile, fields, whole) },
		.removed = sender.removed,
		.rows = sender.rows,
	};
}

static struct block_row *add_row(const struct wire_body *body, wire_mask mask, bool created)
{
	uint32_t at = sender.frame.row_count++;
	sender.rows[at] = (struct block_row){ .body = body, .mask = mask, .created = created };
	if (wire_profile_quantised(sender.frame.profile)) {
		wire_quantise(sender.frame.profile, body, &sender.to[at]);
		sender.rows[at].to = &sender.to[at];
		sender.rows[at].contacts =
			contacts_in(sender.frame.profile, body, sender.contacts[at]);
	}
	return &sender.rows[at];
}

static void prepare_snapshot(enum wire_profile profile, wire_mask fields)
{
	prepare(profile, fields, true);
	for (uint32_t i = 0; i < now.count; i++)
		add_row(&now.bodies[i], fields, false);
}

/* The columns in which the body changed, in the resolution of the profile. */
static wire_mask difference(enum wire_profile profile, const struct wire_body *from,
			    const struct wire_body *to)
{
	wire_mask mask = wire_columns_differ(from, to);
	if (!wire_profile_quantised(profile))
		return mask;
	struct wire_quantised a, b;
	wire_quantise(profile, from, &a);
	wire_quantise(profile, to, &b);
	return (mask & (wire_mask)~WIRE_COLUMNS_QUANTISED) | wire_quantised_differ(&a, &b);
}

static void stand_on(struct block_row *row, const struct wire_body *base)
{
	if (!wire_profile_quantised(sender.frame.profile))
		return;
	struct wire_quantised *from = &sender.from[row - sender.rows];
	wire_quantise(sender.frame.profile, base, from);
	row->from = from;
}

/* `absolute`: as if the server no longer had the base. */
static void prepare_delta(enum wire_profile profile, wire_mask fields, bool absolute)
{
	prepare(profile, fields, false);
	if (wire_profile_quantised(profile) && !absolute)
		sender.frame.flags &= (uint8_t)~WIRE_FRAME_ABSOLUTE;
	uint32_t b = 0, n = 0;
	while (b < before.count || n < now.count) {
		uint32_t old = b < before.count ? before.bodies[b].id : UINT32_MAX;
		uint32_t new = n < now.count ? now.bodies[n].id : UINT32_MAX;
		if (old < new) {
			sender.removed[sender.frame.removed_count++] = old;
			b++;
			continue;
		}
		const struct wire_body *body = &now.bodies[n++];
		const struct wire_body *base = old == new ? &before.bodies[b++] : NULL;
		wire_mask mask = base == NULL ? fields : difference(profile, base, body) & fields;
		if (mask == 0)
			continue;
		struct block_row *row = add_row(body, mask, base == NULL);
		if (base != NULL && !absolute)
			stand_on(row, base);
	}
}

/* Sends the prepared frame in parts of `content_max`; stops at the first refusal. */
static enum status deliver(struct mirror *mirror, uint32_t content_max, bool *last)
{
	ck_assert_int_eq(
		delta_plan(&sender.frame, content_max, sender.parts, PARTS_MAX, &sender.part_count),
		STATUS_OK);
	for (uint32_t i = 0; i < sender.part_count; i++) {
		uint8_t *tail = buffer + WIRE_HEAD_MAX;
		uint8_t head[WIRE_HEAD_MAX];
		uint32_t bytes;
		struct message message;
		ck_assert_int_eq(delta_pack_tail(&sender.frame, sender.parts, sender.part_count, i,
						 tail, content_max, &bytes),
				 STATUS_OK);
		uint32_t count =
			message_pack_head(delta_type(&sender.frame), 1, bytes, false, head);
		memcpy(tail - count, head, count);
		ck_assert_uint_le(count + bytes, content_max);
		ck_assert_int_eq(
			message_read(tail - count, count + bytes, &VALIDATE_DOWN, &message, NULL),
			STATUS_OK);
		enum status status = message.type == MESSAGE_SNAPSHOT
					     ? mirror_snapshot(mirror, &message.snapshot, last)
					     : mirror_delta(mirror, &message.delta, last);
		if (status != STATUS_OK)
			return status;
		ck_assert(*last == (i + 1 == sender.part_count));
		ck_assert(mirror->complete == *last);
	}
	return STATUS_OK;
}

static void expect_truth(const struct mirror *mirror, wire_mask fields)
{
	ck_assert_uint_eq(mirror->count, now.count);
	ck_assert_uint_eq(mirror->tick, now.tick);
	for (uint32_t i = 0; i < now.count; i++) {
		ck_assert_uint_eq(mirror->bodies[i].id, now.bodies[i].id);
		struct wire_body shown = now.bodies[i];
		uint8_t packed[1 + TOUCHES_MAX * WIRE_TOUCH_BYTES];
		struct wire_slice contacts = contacts_in(mirror->profile, &shown, packed);
		shown.contacts = contacts.at;
		shown.contact_bytes = contacts.bytes;
		if (wire_profile_quantised(mirror->profile)) {
			struct wire_quantised values;
			wire_quantise(mirror->profile, &shown, &values);
			wire_dequantise(mirror->profile, &values, WIRE_COLUMNS_ALL, &shown);
			ck_assert_uint_eq(
				wire_quantised_differ(&mirror->quantised[i], &values) & fields, 0);
		}
		ck_assert_uint_eq(wire_columns_differ(&mirror->bodies[i], &shown) & fields, 0);
	}
}

/* Returns the largest number of parts of a frame. */
static uint32_t follow(enum wire_profile profile, wire_mask fields, uint32_t content_max,
		       uint32_t bodies)
{
	struct rng rng = rng_seeded(check_seed() + fields);
	struct mirror mirror;
	bool last;
	mirror_init(&mirror, profile, fields, BODIES_MAX);
	start(&rng, bodies);
	prepare_snapshot(profile, fields);
	ck_assert_int_eq(deliver(&mirror, content_max, &last), STATUS_OK);
	uint32_t parts = sender.part_count;
	expect_truth(&mirror, fields);
	for (int step = 0; step < 12; step++) {
		keep();
		advance(&rng);
		prepare_delta(profile, fields, rng_below(&rng, 4) == 0);
		ck_assert_int_eq(deliver(&mirror, content_max, &last), STATUS_OK);
		parts = MAX_OF(parts, sender.part_count);
		ck_assert(mirror.checked);
		expect_truth(&mirror, fields);
	}
	mirror_release(&mirror);
	return parts;
}

START_TEST(a_mirror_equals_the_world_for_every_set_of_columns)
{
	int64_t live = heap_live();
	for (wire_mask fields = 1; fields <= WIRE_COLUMNS_SERVED; fields += 7) {
		for (size_t i = 0; (fields & 0x80) == 0 && i < COUNT_OF(PROFILES); i++)
			follow(PROFILES[i], fields, WIRE_FRAME_DOWN, 40);
	}
	ck_assert_int_eq(heap_live(), live);
}
END_TEST

START_TEST(frames_in_parts_give_the_same_state)
{
	for (size_t i = 0; i < COUNT_OF(PROFILES); i++) {
		/* A snapshot of 200 bodies never fits into one part; the size of a delta is random. */
		ck_assert_uint_gt(follow(PROFILES[i], WIRE_COLUMNS_SERVED, WIRE_FRAME_MIN, 200), 1);
	}
}
END_TEST

START_TEST(an_empty_world_has_a_snapshot)
{
	for (size_t i = 0; i < COUNT_OF(PROFILES); i++)
		follow(PROFILES[i], WIRE_COLUMNS_TICK, WIRE_FRAME_DOWN, 0);
}
END_TEST

/* A mirror at tick 5, and a prepared delta to the next state, which the caller makes invalid. */
static void at_first_delta(struct mirror *mirror, enum wire_profile profile)
{
	struct rng rng = rng_seeded(check_seed());
	bool last;
	mirror_init(mirror, profile, WIRE_COLUMNS_SERVED, BODIES_MAX);
	start(&rng, 100);
	prepare_snapshot(profile, WIRE_COLUMNS_SERVED);
	ck_assert_int_eq(deliver(mirror, WIRE_FRAME_DOWN, &last), STATUS_OK);
	keep();
	advance(&rng);
	prepare_delta(profile, WIRE_COLUMNS_SERVED, false);
}

START_TEST(a_delta_on_another_base_is_refused)
{
	struct mirror mirror;
	bool last;
	at_first_delta(&mirror, WIRE_PROFILE_EXACT);
	/* Another tick, or the same one edited. */
	sender.frame.base += _i == 0;
	sender.frame.base_edit += _i == 1;
	ck_assert_int_eq(deliver(&mirror, WIRE_FRAME_DOWN, &last), STATUS_SEQUENCE);
	ck_assert(!mirror.complete);
	/* Even the right one is of no use now. */
	sender.frame.base -= _i == 0;
	sender.frame.base_edit = 0;
	ck_assert_int_eq(deliver(&mirror, WIRE_FRAME_DOWN, &last), STATUS_SEQUENCE);
	prepare_snapshot(WIRE_PROFILE_EXACT, WIRE_COLUMNS_SERVED);
	ck_assert_int_eq(deliver(&mirror, WIRE_FRAME_DOWN, &last), STATUS_OK);
	expect_truth(&mirror, WIRE_COLUMNS_SERVED);
	mirror_release(&mirror);
}
END_TEST

START_TEST(another_epoch_needs_a_snapshot)
{
	struct mirror mirror;
	bool last;
	at_first_delta(&mirror, WIRE_PROFILE_PLAIN);
	sender.frame.epoch++;
	ck_assert_int_eq(deliver(&mirror, WIRE_FRAME_DOWN, &last), STATUS_SEQUENCE);
	mirror_release(&mirror);
}
END_TEST

START_TEST(one_wrong_bit_changes_the_hash)
{
	struct mirror mirror;
	bool last;
	at_first_delta(&mirror, WIRE_PROFILE_EXACT);
	/* After the hash was made; which body the first row is about is chance. */
	uint32_t index = (uint32_t)(sender.rows[0].body - now.bodies);
	now.bodies[index].position[0] = 12345.5;
	sender.rows[0].mask |= WIRE_COLUMN_POSITION;
	ck_assert_int_eq(deliver(&mirror, WIRE_FRAME_DOWN, &last), STATUS_DIVERGED);
	ck_assert(!mirror.complete && !mirror.checked);
	mirror_release(&mirror);
}
END_TEST

START_TEST(removing_or_creating_twice_is_malformed)
{
	struct mirror mirror;
	bool last;
	at_first_delta(&mirror, WIRE_PROFILE_EXACT);
	ck_assert_uint_gt(sender.frame.removed_count, 0);
	sender.removed[sender.frame.removed_count - 1] = UINT32_MAX;
	ck_assert_int_eq(deliver(&mirror, WIRE_FRAME_DOWN, &last), STATUS_MALFORMED);
	mirror_release(&mirror);
	at_first_delta(&mirror, WIRE_PROFILE_PLAIN);
	for (uint32_t i = 0; i < sender.frame.row_count; i++)
		sender.rows[i].created = true;
	ck_assert_int_eq(deliver(&mirror, WIRE_FRAME_DOWN, &last), STATUS_MALFORMED);
	mirror_release(&mirror);
}
END_TEST

START_TEST(a_row_of_a_body_that_was_never_created_is_malformed)
{
	struct mirror mirror;
	bool last;
	at_first_delta(&mirror, WIRE_PROFILE_EXACT);
	/* Whether anything was born is chance: one more makes it sure. */
	struct rng rng = rng_seeded(check_seed());
	ck_assert_uint_lt(now.count, BODIES_MAX);
	spawn(&rng, 0);
	add_row(&now.bodies[now.count - 1], WIRE_COLUMNS_SERVED, false);
	sender.frame.hash.value = truth_hash(&now, WIRE_PROFILE_EXACT, WIRE_COLUMNS_SERVED, true);
	ck_assert_int_eq(deliver(&mirror, WIRE_FRAME_DOWN, &last), STATUS_MALFORMED);
	mirror_release(&mirror);
}
END_TEST

START_TEST(more_bodies_than_allowed_are_refused)
{
	struct rng rng = rng_seeded(check_seed());
	struct mirror mirror;
	bool last;
	mirror_init(&mirror, WIRE_PROFILE_EXACT, WIRE_COLUMNS_TICK, 10);
	start(&rng, 11);
	prepare_snapshot(WIRE_PROFILE_EXACT, WIRE_COLUMNS_TICK);
	ck_assert_int_eq(deliver(&mirror, WIRE_FRAME_DOWN, &last), STATUS_LIMIT);
	mirror_release(&mirror);
}
END_TEST

static void run_out_of_memory(enum wire_profile profile)
{
	for (uint64_t n = 1;; n++) {
		struct mirror mirror;
		bool last;
		at_first_delta(&mirror, profile);
		heap_fail_at(n);
		enum status status = deliver(&mirror, WIRE_FRAME_DOWN, &last);
		bool failed = !heap_fail_pending();
		heap_fail_at(0);
		ck_assert_int_eq(status, failed ? STATUS_NO_MEMORY : STATUS_OK);
		prepare_snapshot(profile, WIRE_COLUMNS_SERVED);
		ck_assert_int_eq(deliver(&mirror, WIRE_FRAME_DOWN, &last), STATUS_OK);
		expect_truth(&mirror, WIRE_COLUMNS_SERVED);
		mirror_release(&mirror);
		if (!failed)
			return;
	}
}

START_TEST(a_mirror_recovers_from_any_failed_allocation)
{
	run_out_of_memory(WIRE_PROFILE_EXACT);
	run_out_of_memory(WIRE_PROFILE_SIM);
}
END_TEST

/* Packs the rows of `now` as a bare block. */
static struct wire_slice block_of(enum wire_profile profile, wire_mask fields)
{
	struct wire_packer out = wire_packer_over(buffer, sizeof buffer);
	prepare_snapshot(profile, fields);
	block_pack(&out, profile, fields, sender.rows, sender.frame.row_count);
	ck_assert_int_eq(wire_packer_status(&out), STATUS_OK);
	return wire_packer_slice(&out);
}

static enum status read_all(enum wire_profile profile, wire_mask fields, struct wire_slice value)
{
	static struct block_reader reader;
	struct wire_body body = { 0 };
	wire_mask mask;
	enum status status = block_open(&reader, profile, fields, value);
	while (status == STATUS_OK)
		status = block_next(&reader, &body, &mask);
	return status;
}

static const enum wire_profile BINARY[] = { WIRE_PROFILE_EXACT, WIRE_PROFILE_VIEW,
					    WIRE_PROFILE_SIM };

START_TEST(a_block_cut_at_any_byte_is_malformed)
{
	struct rng rng = rng_seeded(check_seed());
	enum wire_profile profile = BINARY[_i];
	start(&rng, 12);
	struct wire_slice block = block_of(profile, WIRE_COLUMNS_SERVED);
	ck_assert_int_eq(read_all(profile, WIRE_COLUMNS_SERVED, block), STATUS_MISSING);
	ck_assert_uint_eq(block.at[0], 0xc5); /* bin 16: three bytes of header */
	for (uint32_t cut = 0; cut < block.bytes - 3; cut++) {
		put_be32(buffer, 0xc5000000 | cut << 8 | buffer[3]);
		ck_assert_int_eq(read_all(profile, WIRE_COLUMNS_SERVED,
					  (struct wire_slice){ buffer, 3 + cut }),
				 STATUS_MALFORMED);
	}
}
END_TEST

START_TEST(a_changed_byte_of_a_block_is_refused_or_read)
{
	struct rng rng = rng_seeded(check_seed());
	enum wire_profile profile = BINARY[_i];
	uint8_t copy[1 << 16];
	uint64_t calls = heap_calls();
	start(&rng, 20);
	struct wire_slice block = block_of(profile, WIRE_COLUMNS_SERVED);
	for (int round = 0; round < 20000; round++) {
		memcpy(copy, block.at, block.bytes);
		/* Mostly the head, where the structure is. */
		uint32_t reach = rng_below(&rng, 2) ? 70 : block.bytes;
		for (uint32_t i = 0; i <= rng_below(&rng, 3); i++)
			copy[rng_below(&rng, reach)] = (uint8_t)rng_u32(&rng);
		enum status status = read_all(profile, WIRE_COLUMNS_SERVED,
					      (struct wire_slice){ copy, block.bytes });
		ck_assert(status == STATUS_MISSING || status == STATUS_MALFORMED);
	}
	ck_assert_uint_eq(heap_calls(), calls);
}
END_TEST

START_TEST(the_bytes_of_a_small_exact_block_are_as_documented)
{
	memset(&now, 0, sizeof now);
	now.count = 2;
	now.bodies[0] = (struct wire_body){ .id = 1, .status = 2, .velocity = { 1, 0, 0 } };
	now.bodies[1] = (struct wire_body){ .id = 300, .status = 1, .flags = 1 };
	struct block_row rows[] = { { .body = &now.bodies[0],
				      .mask = WIRE_COLUMN_VELOCITY | WIRE_COLUMN_STATUS },
				    { .body = &now.bodies[1], .mask = WIRE_COLUMN_STATUS } };
	static const uint8_t WANTED[] = {
		0xc4, 34,      /* bin */
		2,	       /* rows */
		0,    0xaa, 2, /* gaps: 1 − 0 − 1, 300 − 1 − 1 = 0x12a */
		0x14, 0x10,    /* masks */
		0,    0,    0, 0, 0, 0, 0xf0, 0x3f, /* velocity x of body 1 */
		0,    0,    0, 0, 0, 0, 0,    0,    /* y */
		0,    0,    0, 0, 0, 0, 0,    0,    /* z */
		2,    0,			    /* status, flags of 1 */
		1,    1,			    /* of 300 */
	};
	struct wire_packer out = wire_packer_over(buffer, sizeof buffer);
	block_pack(&out, WIRE_PROFILE_EXACT, WIRE_COLUMNS_ALL, rows, 2);
	ck_assert_uint_eq(out.bytes, sizeof WANTED);
	ck_assert_mem_eq(buffer, WANTED, sizeof WANTED);
}
END_TEST

START_TEST(the_bytes_of_a_small_view_block_are_as_documented)
{
	memset(&now, 0, sizeof now);
	struct wire_quantised old[2] = { { .position = { 512, 0, 0 }, .largest = 1 },
					 { .largest = 3 } };
	struct wire_quantised new[2] = {
		{ .position = { 511, 200, 0 }, .rotation = { 0, -2, 64 }, .largest = 1 },
		{ .rotation = { 1, 0, 255 }, .largest = 2 }
	};
	now.bodies[0] = (struct wire_body){ .id = 7, .status = 2 };
	now.bodies[1] = (struct wire_body){ .id = 8 };
	now.bodies[2] = (struct wire_body){ .id = 10, .status = 3, .flags = 1 };
	now.bodies[3] = (struct wire_body){ .id = 11, .status = 3, .flags = 1 };
	struct block_row rows[] = {
		{ .body = &now.bodies[0],
		  .mask = WIRE_COLUMN_POSITION | WIRE_COLUMN_ROTATION | WIRE_COLUMN_STATUS,
		  .to = &new[0],
		  .from = &old[0] },
		{ .body = &now.bodies[1],
		  .mask = WIRE_COLUMN_ROTATION,
		  .to = &new[1],
		  .from = &old[1] },
		{ .body = &now.bodies[2],
		  .mask = WIRE_COLUMN_STATUS,
		  .to = &new[1],
		  .from = &old[1] },
		{ .body = &now.bodies[3],
		  .mask = WIRE_COLUMN_STATUS,
		  .to = &new[1],
		  .from = &old[1] },
	};
	static const uint8_t WANTED[] = {
		0xc4, 27,			 /* bin */
		4,				 /* rows */
		12,   0x13,			 /* 7 − 0 − 1 alone, its mask */
		0,    0x02,			 /* 8 − 7 − 1 alone, its mask */
		3,    0,    0x10,		 /* 10 − 8 − 1 and one more, their mask */
		1,    0x90, 0x03, 0,		 /* position: −1, 200, 0 */
		0,    3,    0x80, 1,		 /* the same left out: 0, −2, 64 */
		5,    2,    0,	  0xfe, 0x03,	 /* y left out: 1, 0, 255 */
		2,    0,    3,	  1,	3,    1, /* status, flags of 7, 10 and 11 */
	};
	struct wire_packer out = wire_packer_over(buffer, sizeof buffer);
	block_pack(&out, WIRE_PROFILE_VIEW, WIRE_COLUMNS_ALL, rows, 4);
	ck_assert_uint_eq(out.bytes, sizeof WANTED);
	ck_assert_mem_eq(buffer, WANTED, sizeof WANTED);
	/* Packing writes nothing beyond its capacity, and reports FULL if it does not fit. */
	for (uint32_t room = 0; room < sizeof WANTED + 60; room++) {
		memset(buffer, 0xee, sizeof WANTED + 70);
		out = wire_packer_over(buffer, room);
		block_pack(&out, WIRE_PROFILE_VIEW, WIRE_COLUMNS_ALL, rows, 4);
		ck_assert_uint_eq(buffer[room], 0xee);
		ck_assert(out.status == STATUS_FULL || out.bytes == sizeof WANTED);
	}
	ck_assert_int_eq(out.status, STATUS_OK);
}
END_TEST

START_TEST(a_change_that_leaves_the_range_is_malformed)
{
	struct wire_quantised far = { .position = { WIRE_QUANTISED_POSITION_MAX, 0, 0 },
				      .velocity = { -WIRE_QUANTISED_SPEED_MAX, 0, 0 },
				      .rotation = { 255, 0, 0 } };
	for (wire_mask bit = 1; bit <= WIRE_COLUMN_VELOCITY; bit <<= 1) {
		struct mirror mirror;
		bool last;
		mirror_init(&mirror, WIRE_PROFILE_VIEW, bit, 10);
		memset(&now, 0, sizeof now);
		now.bodies[now.count++] = (struct wire_body){ .id = 1 };
		prepare_snapshot(WIRE_PROFILE_VIEW, bit);
		sender.rows[0].to = &far;
		sender.frame.hash.set = false;
		ck_assert_int_eq(deliver(&mirror, WIRE_FRAME_DOWN, &last), STATUS_OK);
		keep();
		now.tick++;
		prepare_delta(WIRE_PROFILE_VIEW, bit, false);
		/* Once more the same difference. */
		struct wire_quantised zero = { .position = { 0 } };
		add_row(&now.bodies[0], bit, false)->to = &far;
		sender.rows[0].from = &zero;
		ck_assert_int_eq(deliver(&mirror, WIRE_FRAME_DOWN, &last), STATUS_MALFORMED);
		mirror_release(&mirror);
	}
}
END_TEST

START_TEST(the_largest_row_fits_the_smallest_frame)
{
	static uint8_t shapes[WIRE_BODY_SHAPES * WIRE_SHAPE_BYTES];
	struct wire_body body = { .id = 1, .shapes = shapes, .shape_count = WIRE_BODY_SHAPES };
	struct block_row row = { .body = &body, .mask = WIRE_COLUMN_SHAPES, .created = true };
	struct delta_frame frame = { .profile = WIRE_PROFILE_EXACT,
				     .fields = WIRE_COLUMN_SHAPES,
				     .rows = &row,
				     .row_count = 1 };
	struct delta_part parts[2];
	uint32_t count;
	ck_assert_int_eq(delta_plan(&frame, WIRE_FRAME_MIN, parts, 2, &count), STATUS_OK);
	ck_assert_uint_eq(count, 1);
	frame.profile = WIRE_PROFILE_PLAIN;
	frame.fields = row.mask = WIRE_COLUMNS_ALL;
	ck_assert_int_eq(delta_plan(&frame, WIRE_FRAME_MIN, parts, 2, &count), STATUS_OK);
	ck_assert_uint_eq(count, 1);
	/* With all contacts that it may hold it fits the frame that they ask for. */
	static uint8_t contacts[WIRE_TOUCHES_BYTES_MAX];
	body.contacts = contacts;
	body.contact_bytes = sizeof contacts;
	row.contacts = (struct wire_slice){ contacts, sizeof contacts };
	frame.fields = row.mask = WIRE_COLUMNS_SERVED;
	for (size_t i = 0; i < COUNT_OF(PROFILES); i++) {
		frame.profile = PROFILES[i];
		ck_assert_int_eq(delta_plan(&frame, WIRE_FRAME_CONTACTS, parts, 2, &count),
				 STATUS_OK);
		ck_assert_uint_eq(count, 1);
	}
}
END_TEST

START_TEST(only_four_profiles_are_valid)
{
	ck_assert_int_eq(block_profile_check(WIRE_PROFILE_PLAIN), STATUS_OK);
	ck_assert_int_eq(block_profile_check(WIRE_PROFILE_EXACT), STATUS_OK);
	ck_assert_int_eq(block_profile_check(WIRE_PROFILE_VIEW), STATUS_OK);
	ck_assert_int_eq(block_profile_check(WIRE_PROFILE_SIM), STATUS_OK);
	ck_assert_int_eq(block_profile_check(4), STATUS_RANGE);
}
END_TEST

START_TEST(the_tick_hash_depends_on_every_bit_but_not_on_order)
{
	struct rng rng = rng_seeded(check_seed());
	start(&rng, 50);
	uint64_t hash = truth_hash(&now, WIRE_PROFILE_EXACT, 0, true);
	struct wire_body swap = now.bodies[3];
	now.bodies[3] = now.bodies[40];
	now.bodies[40] = swap;
	ck_assert_uint_eq(truth_hash(&now, WIRE_PROFILE_EXACT, 0, true), hash);
	now.bodies[7].spin[2] = -now.bodies[7].spin[2];
	ck_assert_uint_ne(truth_hash(&now, WIRE_PROFILE_EXACT, 0, true), hash);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("protocol/mirror");
	TCase *truth = tcase_create("truth");
	tcase_add_test(truth, a_mirror_equals_the_world_for_every_set_of_columns);
	tcase_add_test(truth, frames_in_parts_give_the_same_state);
	tcase_add_test(truth, an_empty_world_has_a_snapshot);
	suite_add_tcase(suite, truth);
	TCase *lies = tcase_create("lies");
	tcase_add_loop_test(lies, a_delta_on_another_base_is_refused, 0, 2);
	tcase_add_test(lies, another_epoch_needs_a_snapshot);
	tcase_add_test(lies, one_wrong_bit_changes_the_hash);
	tcase_add_test(lies, removing_or_creating_twice_is_malformed);
	tcase_add_test(lies, a_row_of_a_body_that_was_never_created_is_malformed);
	tcase_add_test(lies, more_bodies_than_allowed_are_refused);
	tcase_add_test(lies, a_mirror_recovers_from_any_failed_allocation);
	suite_add_tcase(suite, lies);
	TCase *block = tcase_create("block");
	tcase_add_loop_test(block, a_block_cut_at_any_byte_is_malformed, 0, COUNT_OF(BINARY));
	tcase_add_loop_test(block, a_changed_byte_of_a_block_is_refused_or_read, 0,
			    COUNT_OF(BINARY));
	tcase_add_test(block, the_bytes_of_a_small_exact_block_are_as_documented);
	tcase_add_test(block, the_bytes_of_a_small_view_block_are_as_documented);
	tcase_add_test(block, a_change_that_leaves_the_range_is_malformed);
	tcase_add_test(block, the_largest_row_fits_the_smallest_frame);
	tcase_add_test(block, only_four_profiles_are_valid);
	tcase_add_test(block, the_tick_hash_depends_on_every_bit_but_not_on_order);
	suite_add_tcase(suite, block);
	return suite;
}

int main(void)
{
	return check_main(make);
}
