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

static struct wire_query gen_query(struct rng *rng, uint32_t kind)
{
	static const uint8_t SHAPE[] = {1, 1, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f};
	struct wire_query query;
	query_init(&query, (enum wire_query_kind)kind);
	bool flies = kind == WIRE_QUERY_CAST || kind == WIRE_QUERY_MOVE;
	bool filtered = kind == WIRE_QUERY_RAY || kind == WIRE_QUERY_OVERLAP || flies;
	if (filtered)
		reals(rng, query.origin, 3);
	if (flies)
		reals(rng, query.direction, 3);
	if (kind == WIRE_QUERY_RAY) {
		reals(rng, query.direction, 3);
		reals(rng, &query.length, 1);
	}
	if (kind == WIRE_QUERY_OVERLAP || flies) {
		reals(rng, query.rotation, 4);
		query.shape = (struct wire_slice){SHAPE, sizeof SHAPE};
	}
	if (filtered) {
		query.category = rng_u32(rng);
		query.mask = rng_u32(rng);
		query.ignore = rng_u32(rng);
	}
	bool pair = kind == WIRE_QUERY_CLOSEST || kind == WIRE_QUERY_REGIONS;
	if ((filtered && kind != WIRE_QUERY_MOVE) || kind == WIRE_QUERY_CONTACTS ||
	    kind == WIRE_QUERY_REGIONS)
		query.limit = rng_below(rng, WIRE_QUERY_LIMIT_MAX + 1);
	if (kind == WIRE_QUERY_CONTACTS || kind == WIRE_QUERY_BODY || kind == WIRE_QUERY_MASS || pair)
		query.body = rng_u32(rng);
	if (pair)
		query.other = rng_u32(rng);
	if (kind == WIRE_QUERY_CLOSEST)
		query.length = rng_range(rng, 0, 1e6);
	if (kind == WIRE_QUERY_MOVE) {
		query.iterations = rng_below(rng, WIRE_MOVE_ITERATIONS_MAX + 1);
		query.slope = rng_range(rng, -1, 1);
		query.step = rng_range(rng, 0, 100);
		query.skin = rng_range(rng, 1e-5, 1);
	}
	if (kind == WIRE_QUERY_GEOMETRY) {
		for (uint32_t i = 0; i < sizeof query.name.bytes; i++)
			query.name.bytes[i] = (uint8_t)rng_below(rng, 256);
		query.part = rng_below(rng, WIRE_SHAPE_PARTS + 1);
	}
	return query;
}

static bool queries_same(const struct wire_query *a, const struct wire_query *b)
{
	return a->kind == b->kind && memcmp(a->origin, b->origin, sizeof a->origin) == 0 &&
	       memcmp(a->direction, b->direction, sizeof a->direction) == 0 &&
	       memcmp(&a->length, &b->length, sizeof a->length) == 0 &&
	       memcmp(a->rotation, b->rotation, sizeof a->rotation) == 0 && a->body == b->body &&
	       a->limit == b->limit && a->category == b->category && a->mask == b->mask &&
	       a->ignore == b->ignore && a->shape.bytes == b->shape.bytes &&
	       memcmp(&a->name, &b->name, sizeof a->name) == 0 && a->part == b->part &&
	       a->other == b->other && a->iterations == b->iterations &&
	       memcmp(&a->slope, &b->slope, sizeof a->slope) == 0 &&
	       memcmp(&a->step, &b->step, sizeof a->step) == 0 &&
	       memcmp(&a->skin, &b->skin, sizeof a->skin) == 0;
}

START_TEST(every_query_comes_back_as_it_was_asked)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct wire_query asked = gen_query(&rng, 1 + round % WIRE_QUERY_LAST), got;
		struct wire_packer out = wire_packer_over(data, sizeof data);
		uint32_t count = query_pack(&out, &asked);
		ck_assert_int_eq(wire_packer_status(&out), STATUS_OK);
		struct wire_list list = {data, out.bytes, count};
		ck_assert_int_eq(query_take(&list, &got, NULL), STATUS_OK);
		ck_assert(queries_same(&asked, &got));
	}
}
END_TEST

static enum status ask(const uint8_t *bytes, uint32_t size, uint32_t count, struct reason *why)
{
	struct wire_query query;
	struct wire_list list = {bytes, size, count};
	return query_take(&list, &query, why);
}

#define ASK(count, why, ...)                                                                       \
	ask((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), count, why)

START_TEST(a_query_that_is_wrong_names_the_field)
{
	struct reason why;
	ck_assert_int_eq(ask(NULL, 0, 0, &why), STATUS_TYPE);
	ck_assert_int_eq(ASK(1, &why, WIRE_QUERY_LAST + 1), STATUS_UNSUPPORTED);
	ck_assert_int_eq(ASK(2, &why, 7, 1), STATUS_TYPE);
	ck_assert_str_eq(why.field, "shape");
	ck_assert_int_eq(ASK(3, &why, 7, 0xc4, 0, 0x93, 0, 0, 0), STATUS_TYPE);
	ck_assert_str_eq(why.field, "way");
	ck_assert_int_eq(ASK(4, &why, 8, 1, 2, 0xff), STATUS_RANGE);
	ck_assert_str_eq(why.field, "reach");
	ck_assert_int_eq(ASK(6, &why, 10, 0xc4, 0, 0x93, 0, 0, 0, 0x93, 0, 0, 0, 0x94, 1, 0, 0, 0, 17),
			 STATUS_RANGE);
	ck_assert_str_eq(why.field, "iterations");
	ck_assert_int_eq(ASK(7, &why, 10, 0xc4, 0, 0x93, 0, 0, 0, 0x93, 0, 0, 0, 0x94, 1, 0, 0, 0, 4, 2),
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

START_TEST(defaults_see_everything)
{
	struct wire_query query;
	query_init(&query, WIRE_QUERY_RAY);
	ck_assert_uint_eq(query.limit, 1);
	ck_assert_uint_eq(query.category, UINT32_MAX);
	ck_assert_uint_eq(query.mask, UINT32_MAX);
	ck_assert_uint_eq(query.ignore, 0);
}
END_TEST

/* Cut at every byte, an item is refused. */
#define EXPECT_CUT_REFUSED(out, take)                                                              \
	do {                                                                                       \
		for (uint32_t cut = 0; cut < (out).bytes; cut++) {                                 \
			struct wire_cursor in = wire_cursor_over(data, cut);                       \
			ck_assert_int_ne(take, STATUS_OK);                                         \
		}                                                                                  \
	} while (0)

START_TEST(hits_contacts_and_totals_come_back)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct wire_ray_hit hit = {
			rng_u32(&rng), rng_u32(&rng), rng_u32(&rng), 0, {0}, {0}};
		struct wire_ray_hit hit_got;
		struct wire_contact contact = {.a = rng_u32(&rng), .b = 2, .child_a = 3};
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

START_TEST(facts_of_a_body_come_back_with_its_shapes)
{
	static uint8_t shapes[2 * WIRE_SHAPE_BYTES], room[WIRE_BODY_SHAPES * WIRE_SHAPE_BYTES];
	struct rng rng = rng_seeded(check_seed());
	struct wire_body_facts facts = {.body = {.id = 9, .status = 2, .owner = 3, .tag = -5}}, got;
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

START_TEST(results_come_back_and_give_their_values)
{
	static const uint32_t VALUES[] = {0, 17, UINT32_MAX};
	struct wire_result sent = {.batch = 5,
				   .tick = 120,
				   .code = STATUS_UNKNOWN_BODY,
				   .index = 2,
				   .values = VALUES,
				   .value_count = 3,
				   .field = wire_text("body"),
				   .text = wire_text("no such body")};
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
	vec3 v = {gen_real(rng), gen_real(rng), gen_real(rng)};
	return rng_below(rng, 2) ? v : (vec3){0, 0, 0};
}

START_TEST(events_come_back_however_much_of_their_end_is_zero)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct event sent, got;
		memset(&sent, 0, sizeof sent);
		sent.kind = (uint8_t)(1 + rng_below(&rng, 8));
		sent.a = rng_u32(&rng);
		sent.b = rng_below(&rng, 2) ? 0 : rng_u32(&rng);
		sent.value = rng_below(&rng, 2) ? 0 : 1.5;
		sent.fraction = rng_below(&rng, 2) ? 0 : 0.25;
		sent.point = gen_vec3(&rng);
		sent.normal = gen_vec3(&rng);
		sent.child_a = rng_below(&rng, 4) ? 0 : 7;
		sent.child_b = rng_below(&rng, 4) ? 0 : rng_u32(&rng);
		struct wire_packer out = wire_packer_over(data, sizeof data);
		event_pack(&out, &sent);
		EXPECT_CUT_REFUSED(out, event_take(&in, &got));
		struct wire_cursor in = wire_cursor_over(data, out.bytes);
		ck_assert_int_eq(event_take(&in, &got), STATUS_OK);
		ck_assert(got.kind == sent.kind && got.a == sent.a && got.b == sent.b);
		ck_assert(got.child_a == sent.child_a && got.child_b == sent.child_b);
		ck_assert(got.value == sent.value);
		ck_assert(got.fraction == sent.fraction);
		ck_assert(vec3_equal(got.point, sent.point) && vec3_equal(got.normal, sent.normal));
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("protocol/query_wire");
	TCase *queries = tcase_create("queries");
	tcase_add_test(queries, every_query_comes_back_as_it_was_asked);
	tcase_add_test(queries, a_query_that_is_wrong_names_the_field);
	tcase_add_test(queries, defaults_see_everything);
	suite_add_tcase(suite, queries);
	TCase *answers = tcase_create("answers");
	tcase_add_test(answers, hits_contacts_and_totals_come_back);
	tcase_add_test(answers, facts_of_a_body_come_back_with_its_shapes);
	suite_add_tcase(suite, answers);
	TCase *items = tcase_create("items");
	tcase_add_test(items, results_come_back_and_give_their_values);
	tcase_add_test(items, events_come_back_however_much_of_their_end_is_zero);
	suite_add_tcase(suite, items);
	return suite;
}

int main(void)
{
	return check_main(make);
}
