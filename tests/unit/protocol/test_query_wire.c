/* The items inside messages that are not commands: queries, answers, results, events. */
#include "protocol/query_wire.h"

#include <string.h>

#include "protocol/result_wire.h"
#include "protocol/unpack.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/gen_message.h"

enum { ROUNDS = 200 };
static uint8_t data[1 << 16];

static void reals(struct rng *rng, double *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		values[i] = gen_real(rng);
}

/* Valid coordinates, some of them at their bounds. */
static void places(struct rng *rng, double *values)
{
	for (uint32_t i = 0; i < 3; i++)
		values[i] = rng_below(rng, 4) ? rng_range(rng, -1e6, 1e6) : 1e6;
}

static void gen_field(struct rng *rng, const struct query_field *field, void *value)
{
	static const uint8_t SHAPE[] = { 1, 1, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f };
	static const uint32_t BODIES[] = { 7, 1 };
	static const double NUMBERS[] = { 0.5, -1e15, 3 };
	double *numbers = value, size = rng_range(rng, 0.5, 2);
	switch (field->type) {
	case WIRE_ASK_U32:
		*(uint32_t *)value =
			field->max < UINT32_MAX
				? (uint32_t)field->min +
					  rng_below(rng, (uint32_t)(field->max - field->min) + 1)
				: rng_u32(rng);
		return;
	case WIRE_ASK_REAL:
		*numbers = rng_range(rng, field->min, field->max);
		return;
	case WIRE_ASK_LENGTH:
		*numbers = rng_below(rng, 4) ? rng_range(rng, 1e-9, 4e6) : 4e6;
		return;
	case WIRE_ASK_PLACE:
	case WIRE_ASK_WAY:
		places(rng, numbers);
		return;
	case WIRE_ASK_DIRECTION:
		/* Of any length but none. */
		reals(rng, numbers, 3);
		numbers[0] = numbers[0] != 0 ? numbers[0] : 1e-300;
		return;
	case WIRE_ASK_ROTATION:
		numbers[0] = size * 0.6;
		numbers[3] = size * -0.8;
		return;
	case WIRE_ASK_SHAPE:
		*(struct wire_slice *)value = (struct wire_slice){ SHAPE, sizeof SHAPE };
		return;
	case WIRE_ASK_BODIES:
		*(struct wire_slice *)value =
			(struct wire_slice){ (const uint8_t *)BODIES, sizeof BODIES };
		return;
	case WIRE_ASK_NUMBERS:
		*(struct wire_slice *)value =
			(struct wire_slice){ (const uint8_t *)NUMBERS, sizeof NUMBERS };
		return;
	case WIRE_ASK_NAME:
		for (uint32_t i = 0; i < sizeof(struct wire_name); i++)
			((struct wire_name *)value)->bytes[i] = (uint8_t)rng_below(rng, 256);
		return;
	}
}

static struct wire_query gen_query(struct rng *rng, const struct query_info *info)
{
	struct wire_query query;
	query_init(&query, (enum wire_query_kind)info->number);
	for (uint32_t i = 0; i < info->field_count; i++)
		gen_field(rng, &info->fields[i], (uint8_t *)&query + info->fields[i].offset);
	return query;
}

static bool slices_same(const struct wire_slice *a, const struct wire_slice *b)
{
	return a->bytes == b->bytes && (a->bytes == 0 || memcmp(a->at, b->at, a->bytes) == 0);
}

static bool queries_same(const struct wire_query *a, const struct wire_query *b)
{
	bool same = a->kind == b->kind && slices_same(&a->shape, &b->shape) &&
		    slices_same(&a->bodies, &b->bodies) && slices_same(&a->values, &b->values);
	static const char *const SLICES[] = { "shape", "bodies", "values" };
#define MEMBER(ctype, name, form, fallback, doc)                                                   \
	{                                                                                          \
		bool slice = false;                                                                \
		for (uint32_t i = 0; i < COUNT_OF(SLICES); i++)                                    \
			slice |= strcmp(#name, SLICES[i]) == 0;                                    \
		same &= slice || memcmp(&a->name, &b->name, sizeof a->name) == 0;                  \
	}
#include "protocol/queries.def"
	return same;
}

START_TEST(every_query_is_read_as_it_was_packed)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t kinds;
		const struct query_info *list = query_list(&kinds), *info = &list[round % kinds];
		struct wire_query asked = gen_query(&rng, info), got;
		struct wire_packer out = wire_packer_over(data, sizeof data);
		uint32_t count = query_pack(&out, &asked);
		ck_assert_int_eq(wire_packer_status(&out), STATUS_OK);
		struct wire_list packed = { data, out.bytes, count };
		ck_assert_int_eq(query_take(&packed, &got, NULL),
				 info->reserved ? STATUS_UNSUPPORTED : STATUS_OK);
		ck_assert(info->reserved || queries_same(&asked, &got));
	}
}
END_TEST

/* One field of a valid query gets a number that may be wrong; client and server must agree. */
static void spoil_field(struct rng *rng, const struct wire_query *valid,
			const struct query_field *field)
{
	static const double numbers[] = { 1e308, -1e308, 5e6, -5e6, 0, -1, 1e-7, 0.9, 2.5 };
	struct wire_query query = *valid, got;
	struct reason here = { 0 }, there = { 0 };
	double *at = (double *)(void *)((uint8_t *)&query + field->offset);
	if (field->type == WIRE_ASK_U32)
		*(uint32_t *)(void *)at = rng_below(rng, 2) ? UINT32_MAX : 5000;
	else
		*at = numbers[rng_below(rng, COUNT_OF(numbers))];
	struct wire_packer out = wire_packer_over(data, sizeof data);
	uint32_t count = query_pack(&out, &query);
	ck_assert_int_eq(wire_packer_status(&out), STATUS_OK);
	struct wire_list packed = { data, out.bytes, count };
	enum status server = query_take(&packed, &got, &there);
	ck_assert_int_eq(query_check(&query, &here), server);
	if (server != STATUS_OK)
		ck_assert_str_eq(here.field, there.field);
	if (field->type == WIRE_ASK_U32)
		return;
	*at = rng_below(rng, 2) ? __builtin_nan("") : -__builtin_inf();
	ck_assert_int_eq(query_check(&query, &here), STATUS_NOT_FINITE);
	ck_assert_str_eq(here.field, field->name);
}

START_TEST(a_client_refuses_what_the_server_would)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t kinds;
	const struct query_info *list = query_list(&kinds);
	for (uint32_t round = 0; round < ROUNDS * 5; round++) {
		const struct query_info *info = &list[round % kinds];
		const struct wire_query query = gen_query(&rng, info);
		ck_assert_int_eq(query_check(&query, NULL),
				 info->reserved ? STATUS_UNSUPPORTED : STATUS_OK);
		for (uint32_t i = 0; i < info->field_count; i++)
			if (info->fields[i].type < WIRE_ASK_SHAPE) /* numbers */
				spoil_field(&rng, &query, &info->fields[i]);
	}
	struct wire_query query = { .kind = (enum wire_query_kind)99 };
	ck_assert_int_eq(query_check(&query, NULL), STATUS_UNSUPPORTED);
}
END_TEST

static enum status ask(const uint8_t *bytes, uint32_t size, uint32_t count, struct reason *why)
{
	struct wire_query query;
	struct wire_list list = { bytes, size, count };
	return query_take(&list, &query, why);
}

#define ASK(count, why, ...)                                                                       \
	ask((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), count, why)

/* Numbers are permanent: this test fails if the list is shortened or reordered. */
START_TEST(queries_keep_their_numbers)
{
	static const char *const NAMES[] = {
		"ray",	    "overlap",	 "contacts",   "totals",     "body",
		"geometry", "cast",	 "closest",    "mass",	     "move",
		"regions",  "methods",	 "parameters", "joint",	     "particles_near",
		"",	    "stability", "fields",     "recordings", "joints",
		"linked",   "when",	 "past",       "difference", "forces"
	}; /* 16 is not used any more */
	ck_assert_ptr_null(query_info(16));
	uint32_t count;
	const struct query_info *list = query_list(&count);
	for (uint32_t i = 0; i < COUNT_OF(NAMES); i++) {
		const struct query_info *info = query_info(i + 1);
		ck_assert_str_eq(info != NULL ? info->name : "", NAMES[i]);
	}
	for (uint32_t i = 0; i < count; i++) {
		ck_assert(i == 0 || list[i].number > list[i - 1].number);
		ck_assert_ptr_eq(query_info(list[i].number), &list[i]);
	}
	ck_assert_ptr_null(query_info(0));
	ck_assert_ptr_null(query_info(list[count - 1].number + 1));
}
END_TEST

/* Required fields come first, and a query may end after them. */
START_TEST(a_query_may_end_after_its_required_fields)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t count;
	const struct query_info *list = query_list(&count);
	for (uint32_t k = 0; k < count; k++) {
		uint32_t needed = 0;
		for (uint32_t i = 0; i < list[k].field_count; i++) {
			ck_assert_uint_eq(needed == i, list[k].fields[i].needed || needed == i);
			needed += list[k].fields[i].needed;
		}
		for (uint32_t n = 0; n <= list[k].field_count && !list[k].reserved; n++) {
			struct wire_query asked = gen_query(&rng, &list[k]), got;
			struct wire_packer out = wire_packer_over(data, sizeof data);
			query_pack(&out, &asked);
			struct wire_cursor in = wire_cursor_over(data, out.bytes);
			for (uint32_t i = 0; i < 1 + n; i++)
				ck_assert_int_eq(wire_skip(&in, NULL), STATUS_OK);
			struct wire_list cut = { data, (uint32_t)(in.at - data), 1 + n };
			ck_assert_int_eq(query_take(&cut, &got, NULL) == STATUS_OK, n >= needed);
		}
	}
}
END_TEST

START_TEST(the_error_of_an_invalid_query_names_the_field)
{
	struct reason why;
	ck_assert_int_eq(ask(NULL, 0, 0, &why), STATUS_TYPE);
	ck_assert_int_eq(ASK(1, &why, 126), STATUS_UNSUPPORTED);
	ck_assert_int_eq(ASK(1, &why, 16), STATUS_UNSUPPORTED);
	ck_assert_int_eq(ASK(1, &why, 15), STATUS_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(why.text, "particles_near"));
	ck_assert_int_eq(ASK(2, &why, 7, 1), STATUS_TYPE);
	ck_assert_str_eq(why.field, "shape");
	ck_assert_int_eq(ASK(3, &why, 7, 0xc4, 0, 0x93, 0, 0, 0), STATUS_TYPE);
	ck_assert_str_eq(why.field, "way");
	ck_assert_int_eq(ASK(4, &why, 8, 1, 2, 0xff), STATUS_RANGE);
	ck_assert_str_eq(why.field, "reach");
	ck_assert_int_eq(
		ASK(6, &why, 10, 0xc4, 0, 0x93, 0, 0, 0, 0x93, 0, 0, 0, 0x94, 1, 0, 0, 0, 17),
		STATUS_RANGE);
	ck_assert_str_eq(why.field, "iterations");
	ck_assert_int_eq(
		ASK(7, &why, 10, 0xc4, 0, 0x93, 0, 0, 0, 0x93, 0, 0, 0, 0x94, 1, 0, 0, 0, 4, 2),
		STATUS_RANGE);
	ck_assert_str_eq(why.field, "slope");
	ck_assert_int_eq(ASK(2, &why, 11, 1), STATUS_TYPE);
	ck_assert_str_eq(why.field, "other");
	ck_assert_int_eq(ASK(1, &why, 9), STATUS_OK);
	ck_assert_int_eq(ASK(1, &why, 0), STATUS_UNSUPPORTED);
	ck_assert_int_eq(ASK(1, &why, 5), STATUS_TYPE);
	ck_assert_str_eq(why.field, "body");
	ck_assert_int_eq(ASK(2, &why, 1, 0x92, 1, 2), STATUS_TYPE);
	ck_assert_str_eq(why.field, "origin");
	ck_assert_int_eq(ASK(3, &why, 1, 0x93, 0, 0, 0, 0xa1, 'x'), STATUS_TYPE);
	ck_assert_str_eq(why.field, "direction");
	ck_assert_int_eq(ASK(3, &why, 3, 0, 0xcd, 0x10, 0x01), STATUS_RANGE);
	ck_assert_str_eq(why.field, "limit");
	ck_assert_int_eq(ASK(2, &why, 5, 0xff), STATUS_RANGE);
	ck_assert_int_eq(ASK(2, &why, 6, 0xc4, 2, 1, 2), STATUS_RANGE);
	ck_assert_str_eq(why.field, "name");
	ck_assert_int_eq(ASK(1, &why, 3), STATUS_OK);
	ck_assert_int_eq(ASK(1, &why, 4), STATUS_OK);
}
END_TEST

START_TEST(default_masks_select_all_bodies)
{
	struct wire_query query;
	query_init(&query, WIRE_QUERY_RAY);
	ck_assert_uint_eq(query.limit, 1);
	ck_assert_uint_eq(query.category, UINT32_MAX);
	ck_assert_uint_eq(query.mask, UINT32_MAX);
	ck_assert_uint_eq(query.ignore, 0);
}
END_TEST

/* An item truncated at any byte is refused. */
#define EXPECT_CUT_REFUSED(out, take)                                                              \
	do {                                                                                       \
		for (uint32_t cut = 0; cut < (out).bytes; cut++) {                                 \
			struct wire_cursor in = wire_cursor_over(data, cut);                       \
			ck_assert_int_ne(take, STATUS_OK);                                         \
		}                                                                                  \
	} while (0)

START_TEST(robots_and_their_matrices_are_read_as_packed)
{
	const struct wire_robot_link link = { 7, 5, 3, 1, 2, { 0, 3 } };
	const uint8_t bytes[24] = { 0, 0, 0, 0, 0, 0, 0xf0, 0x3f };
	const struct wire_slice column = { bytes, sizeof bytes };
	struct wire_robot robot = { .q = column,
				    .forces = column,
				    .rates = column,
				    .accelerations = column,
				    .bias = column,
				    .closure_rows = 5,
				    .closure_rank = 2,
				    .residual = 0.5,
				    .regular = 1 };
	struct wire_robot_link link_got;
	struct wire_robot got;
	struct wire_slice entries;
	uint32_t count, axes;
	struct wire_packer out = wire_packer_over(data, sizeof data);
	answer_pack_robot(&out, &robot);
	EXPECT_CUT_REFUSED(out, answer_take_robot(&in, &got));
	out = wire_packer_over(data, sizeof data);
	answer_pack_robot_links(&out, 1);
	answer_pack_robot_link(&out, &link);
	answer_pack_robot(&out, &robot);
	answer_pack_matrix(&out, 2, column);
	ck_assert_int_eq(wire_packer_status(&out), STATUS_OK);
	struct wire_cursor in = wire_cursor_over(data, out.bytes);
	ck_assert_int_eq(answer_take_robot_links(&in, &count), STATUS_OK);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(answer_take_robot_link(&in, &link_got), STATUS_OK);
	ck_assert_mem_eq(&link_got, &link, sizeof link);
	ck_assert_int_eq(answer_take_robot(&in, &got), STATUS_OK);
	ck_assert_uint_eq(got.closure_rank, 2);
	ck_assert(got.residual == 0.5 && got.regular == 1);
	ck_assert(wire_column_real(got.bias, 0) == 1);
	ck_assert_int_eq(answer_take_matrix(&in, &axes, &entries), STATUS_OK);
	ck_assert_uint_eq(axes, 2);
	ck_assert_uint_eq(entries.bytes, sizeof bytes);
	ck_assert(wire_at_end(&in));
}
END_TEST

START_TEST(hits_contacts_and_totals_are_read_as_packed)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct wire_ray_hit hit = { rng_u32(&rng), rng_u32(&rng), rng_u32(&rng), 0,
					    { 0 },	   { 0 } };
		struct wire_ray_hit hit_got;
		struct wire_contact contact = { .a = rng_u32(&rng), .b = 2, .child_a = 3 };
		struct wire_contact contact_got;
		struct wire_totals totals, totals_got;
		reals(&rng, &hit.fraction, 7);
		reals(&rng, contact.point, 11);
		reals(&rng, &totals.kinetic, 8);
		struct wire_packer out = wire_packer_over(data, sizeof data);
		answer_pack_hit(&out, &hit);
		EXPECT_CUT_REFUSED(out, answer_take_hit(&in, &hit_got));
		answer_pack_contact(&out, &contact);
		answer_pack_totals(&out, &totals);
		ck_assert_int_eq(wire_packer_status(&out), STATUS_OK);
		struct wire_cursor in = wire_cursor_over(data, out.bytes);
		ck_assert_int_eq(answer_take_hit(&in, &hit_got), STATUS_OK);
		ck_assert_int_eq(answer_take_contact(&in, &contact_got), STATUS_OK);
		ck_assert_int_eq(answer_take_totals(&in, &totals_got), STATUS_OK);
		ck_assert(wire_at_end(&in));
		ck_assert_uint_eq(hit_got.child, hit.child);
		ck_assert_mem_eq(&hit_got.fraction, &hit.fraction, 7 * sizeof(double));
		ck_assert_uint_eq(contact_got.a, contact.a);
		ck_assert_mem_eq(contact_got.point, contact.point, 11 * sizeof(double));
		ck_assert_mem_eq(&totals_got, &totals, sizeof totals);
	}
}
END_TEST

START_TEST(a_body_is_read_with_its_shapes)
{
	static uint8_t shapes[2 * WIRE_SHAPE_BYTES], room[WIRE_BODY_SHAPES * WIRE_SHAPE_BYTES];
	struct rng rng = rng_seeded(check_seed());
	struct wire_body_facts facts = { .body = { .id = 9, .status = 2, .owner = 3, .tag = -5 } },
			       got;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < 2; i++) {
			struct wire_placement placement;
			memset(&placement.shape, (int)i, sizeof placement.shape);
			reals(&rng, placement.position, 3);
			reals(&rng, placement.rotation, 4);
			wire_placement_put(shapes + i * WIRE_SHAPE_BYTES, &placement);
		}
		facts.body.shapes = shapes;
		facts.body.shape_count = (uint8_t)(round % 3);
		reals(&rng, facts.body.position, 3);
		reals(&rng, facts.body.rotation, 4);
		reals(&rng, facts.body.velocity, 3);
		reals(&rng, facts.body.spin, 3);
		reals(&rng, &facts.mass, 1);
		struct wire_packer out = wire_packer_over(data, sizeof data);
		answer_pack_body(&out, &facts);
		ck_assert_int_eq(wire_packer_status(&out), STATUS_OK);
		EXPECT_CUT_REFUSED(out, answer_take_body(&in, &got, room));
		struct wire_cursor in = wire_cursor_over(data, out.bytes);
		ck_assert_int_eq(answer_take_body(&in, &got, room), STATUS_OK);
		ck_assert_uint_eq(wire_columns_differ(&facts.body, &got.body), 0);
		ck_assert_mem_eq(&got.mass, &facts.mass, sizeof got.mass);
	}
}
END_TEST

START_TEST(joints_are_read_with_their_axes)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t round = 0; round < ROUNDS / 10; round++) {
		struct wire_joint_facts facts = { .joint = { .id = rng_u32(&rng),
							     .type = 8,
							     .flags = 3,
							     .a = 1,
							     .b = rng_u32(&rng),
							     .owner = rng_u32(&rng),
							     .tag = -4 } },
					got;
		reals(&rng, facts.joint.point_a, 3);
		reals(&rng, facts.joint.frame_a, 4);
		reals(&rng, facts.joint.point_b, 3);
		reals(&rng, facts.joint.frame_b, 4);
		reals(&rng, facts.joint.coordinates, 6);
		reals(&rng, facts.joint.force, 3);
		reals(&rng, facts.joint.torque, 3);
		reals(&rng, facts.joint.breaks, 2);
		facts.joint.breaks[0] = 7; /* reals() may give zeros, which items leave out */
		reals(&rng, facts.anchor_a, 3);
		reals(&rng, facts.anchor_b, 3);
		for (uint32_t i = 0; i < WIRE_JOINT_AXES; i++) {
			facts.axes[i] = (struct wire_joint_axis){ .mode = (uint8_t)(i % 3),
								  .spring = 1,
								  .motor = 2,
								  .wave = (uint8_t)(i / 2) };
			reals(&rng, &facts.axes[i].lower, 13);
		}
		struct wire_packer out = wire_packer_over(data, sizeof data);
		answer_pack_joint(&out, &facts);
		ck_assert_int_eq(wire_packer_status(&out), STATUS_OK);
		EXPECT_CUT_REFUSED(out, answer_take_joint(&in, &got));
		struct wire_cursor whole = wire_cursor_over(data, out.bytes);
		ck_assert_int_eq(answer_take_joint(&whole, &got), STATUS_OK);
		ck_assert_uint_eq(wire_joint_differs(&facts.joint, &got.joint), 0);
		ck_assert_mem_eq(got.anchor_a, facts.anchor_a, 6 * sizeof(double));
		ck_assert_mem_eq(got.axes, facts.axes, sizeof got.axes);
		out = wire_packer_over(data, sizeof data);
		answer_pack_joints_item(&out, &facts);
		EXPECT_CUT_REFUSED(out, answer_take_joints_item(&in, &got));
		whole = wire_cursor_over(data, out.bytes);
		ck_assert_int_eq(answer_take_joints_item(&whole, &got), STATUS_OK);
		ck_assert_uint_eq(wire_joint_differs(&facts.joint, &got.joint),
				  WIRE_JOINT_FRAMES | WIRE_JOINT_BREAK);
	}
}
END_TEST

START_TEST(results_are_read_with_their_values)
{
	static const uint32_t VALUES[] = { 0, 17, UINT32_MAX };
	struct wire_result sent = { .batch = 5,
				    .tick = 120,
				    .code = STATUS_UNKNOWN_BODY,
				    .index = 2,
				    .values = VALUES,
				    .value_count = 3,
				    .field = wire_text("body"),
				    .text = wire_text("no such body") };
	struct wire_result got;
	struct wire_packer out = wire_packer_over(data, sizeof data);
	result_pack(&out, &sent);
	EXPECT_CUT_REFUSED(out, result_take(&in, &got));
	struct wire_cursor in = wire_cursor_over(data, out.bytes);
	ck_assert_int_eq(result_take(&in, &got), STATUS_OK);
	ck_assert_uint_eq(got.batch, 5);
	ck_assert_uint_eq(got.tick, 120);
	ck_assert_int_eq(got.code, STATUS_UNKNOWN_BODY);
	ck_assert_int_eq(got.index, 2);
	ck_assert(wire_slice_is(got.field, "body"));
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(result_value(&got, i), VALUES[i]);
	ck_assert_uint_eq(result_value(&got, 3), 0);
}
END_TEST

static vec3 gen_vec3(struct rng *rng)
{
	vec3 v = { gen_real(rng), gen_real(rng), gen_real(rng) };
	return rng_below(rng, 2) ? v : (vec3){ 0, 0, 0 };
}

START_TEST(events_are_read_with_any_number_of_zeros_at_the_end)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct event sent, got;
		memset(&sent, 0, sizeof sent);
		sent.kind = (uint8_t)(1 + rng_below(&rng, EVENT_HIT));
		sent.a = rng_u32(&rng);
		sent.b = rng_below(&rng, 2) ? 0 : rng_u32(&rng);
		sent.value = rng_below(&rng, 2) ? 0 : 1.5;
		sent.fraction = rng_below(&rng, 2) ? 0 : 0.25;
		sent.point = gen_vec3(&rng);
		sent.normal = gen_vec3(&rng);
		sent.child_a = rng_below(&rng, 4) ? 0 : 7;
		sent.child_b = rng_below(&rng, 4) ? 0 : rng_u32(&rng);
		sent.speed = rng_below(&rng, 4) ? 0 : 2.5;
		struct wire_packer out = wire_packer_over(data, sizeof data);
		event_pack(&out, &sent);
		EXPECT_CUT_REFUSED(out, event_take(&in, &got));
		struct wire_cursor in = wire_cursor_over(data, out.bytes);
		ck_assert_int_eq(event_take(&in, &got), STATUS_OK);
		ck_assert(got.kind == sent.kind && got.a == sent.a && got.b == sent.b);
		ck_assert(got.child_a == sent.child_a && got.child_b == sent.child_b);
		ck_assert(got.value == sent.value && got.speed == sent.speed);
		ck_assert(got.fraction == sent.fraction);
		ck_assert(vec3_equal(got.point, sent.point) && vec3_equal(got.normal, sent.normal));
	}
}
END_TEST

START_TEST(methods_and_parameters_are_read_with_their_lists)
{
	uint8_t room[128], texts[128];
	struct wire_packer names = wire_packer_over(room, sizeof room),
			   words = wire_packer_over(texts, sizeof texts);
	struct wire_method_name first = { .name = wire_text("gr-lcp"),
					  .parameter = wire_text("reflection.core"),
					  .value = 1 };
	struct wire_method_name second = { .name = wire_text("gr") }, name;
	answer_pack_method_name(&names, &first);
	answer_pack_method_name(&names, &second);
	struct wire_method method = { .number = 5,
				      .motion = 2,
				      .shapes = 6,
				      .abilities = 31,
				      .code = 52,
				      .name = wire_text("reflection"),
				      .why = wire_text("no"),
				      .summary = wire_text("elastic"),
				      .names = { room, names.bytes, 2 } },
			   got;
	struct wire_packer out = wire_packer_over(data, sizeof data);
	answer_pack_method(&out, &method);
	EXPECT_CUT_REFUSED(out, answer_take_method(&in, &got));
	struct wire_cursor whole = wire_cursor_over(data, out.bytes);
	ck_assert_int_eq(answer_take_method(&whole, &got), STATUS_OK);
	ck_assert(got.number == 5 && got.motion == 2 && got.shapes == 6 && got.abilities == 31 &&
		  got.code == 52);
	ck_assert(wire_slice_is(got.name, "reflection") && wire_slice_is(got.why, "no"));
	ck_assert(wire_slice_is(got.summary, "elastic") && got.names.count == 2);
	struct wire_cursor items = wire_cursor_list(&got.names);
	ck_assert_int_eq(answer_take_method_name(&items, &name), STATUS_OK);
	ck_assert(wire_slice_is(name.name, "gr-lcp") &&
		  wire_slice_is(name.parameter, "reflection.core"));
	ck_assert_double_eq(name.value, 1);
	ck_assert_int_eq(answer_take_method_name(&items, &name), STATUS_OK);
	ck_assert(wire_slice_is(name.name, "gr") && name.parameter.bytes == 0);

	wire_pack_string(&words, "lcp");
	struct wire_parameter parameter = { .number = 6,
					    .whole = true,
					    .value = 3,
					    .initial = 2,
					    .min = -1,
					    .max = 9,
					    .name = wire_text("a.b"),
					    .unit = wire_text("m/s"),
					    .doc = wire_text("what"),
					    .methods = { texts, words.bytes, 1 },
					    .old = { texts, words.bytes, 1 } },
			      back;
	out = wire_packer_over(data, sizeof data);
	answer_pack_parameter(&out, &parameter);
	EXPECT_CUT_REFUSED(out, answer_take_parameter(&in, &back));
	whole = wire_cursor_over(data, out.bytes);
	ck_assert_int_eq(answer_take_parameter(&whole, &back), STATUS_OK);
	ck_assert(back.number == 6 && back.whole && back.value == 3 && back.initial == 2);
	ck_assert(back.min == -1 && back.max == 9 && back.methods.count == 1 &&
		  back.old.count == 1);
	ck_assert(wire_slice_is(back.name, "a.b") && wire_slice_is(back.unit, "m/s") &&
		  wire_slice_is(back.doc, "what"));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("protocol/query_wire");
	TCase *queries = tcase_create("queries");
	tcase_add_test(queries, queries_keep_their_numbers);
	tcase_add_test(queries, a_query_may_end_after_its_required_fields);
	tcase_add_test(queries, every_query_is_read_as_it_was_packed);
	tcase_add_test(queries, a_client_refuses_what_the_server_would);
	tcase_add_test(queries, the_error_of_an_invalid_query_names_the_field);
	tcase_add_test(queries, default_masks_select_all_bodies);
	suite_add_tcase(suite, queries);
	TCase *answers = tcase_create("answers");
	tcase_add_test(answers, hits_contacts_and_totals_are_read_as_packed);
	tcase_add_test(answers, methods_and_parameters_are_read_with_their_lists);
	tcase_add_test(answers, a_body_is_read_with_its_shapes);
	tcase_add_test(answers, robots_and_their_matrices_are_read_as_packed);
	tcase_add_test(answers, joints_are_read_with_their_axes);
	suite_add_tcase(suite, answers);
	TCase *items = tcase_create("items");
	tcase_add_test(items, results_are_read_with_their_values);
	tcase_add_test(items, events_are_read_with_any_number_of_zeros_at_the_end);
	suite_add_tcase(suite, items);
	return suite;
}

int main(void)
{
	return check_main(make);
}
