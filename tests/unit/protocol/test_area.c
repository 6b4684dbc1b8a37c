/* Areas are packed and read back; malformed ones are refused by field; bounding boxes, pads and frustums are
 * compared with random points. */
#include "protocol/area.h"

#include <math.h>
#include <string.h>

#include "protocol/cursor.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"

static const double nowhere[3];

static double real(struct rng *rng, double span)
{
	return rng_range(rng, -span, span);
}

static struct wire_area draw(struct rng *rng)
{
	struct wire_area area = { .kind = (uint8_t)(1 + rng_below(rng, 3)) };
	double *n = area.numbers;
	for (int c = 0; c < 3; c++)
		n[c] = real(rng, 20);
	if (area.kind == WIRE_AREA_BOX) {
		for (int c = 0; c < 3; c++)
			n[3 + c] = n[c] + rng_range(rng, 0, 15);
	} else if (area.kind == WIRE_AREA_BALL) {
		n[3] = rng_range(rng, 0, 15);
	} else {
		for (int c = 0; c < 4; c++)
			n[3 + c] = real(rng, 1);
		n[7] = rng_range(rng, 0.1, 2);
		n[8] = rng_range(rng, 0.1, 2);
		n[9] = rng_range(rng, 0, 2);
		n[10] = n[9] + rng_range(rng, 1, 20);
	}
	return area;
}

static enum status there_and_back(const struct wire_area *area, struct wire_area *back)
{
	uint8_t bytes[256];
	struct wire_packer out = wire_packer_over(bytes, sizeof bytes);
	struct wire_area areas[WIRE_AREAS_MAX];
	struct reason why;
	uint32_t count;
	wire_area_pack(&out, area);
	enum status status =
		wire_areas_take(&(struct wire_list){ bytes, out.bytes, 1 }, areas, &count, &why);
	*back = areas[0];
	return status;
}

START_TEST(an_area_is_read_as_it_was_packed)
{
	struct rng rng = rng_seeded(check_seed());
	for (int i = 0; i < 1000; i++) {
		struct wire_area area = draw(&rng), once, twice;
		area.body = rng_below(&rng, 3);
		ck_assert_int_eq(there_and_back(&area, &once), STATUS_OK);
		if (area.kind != WIRE_AREA_FRUSTUM)
			ck_assert(wire_area_same(&area, &once));
		/* A frustum's rotation is made unit, everything else is as it was sent. */
		double *turn = area.numbers + 3, length = 1;
		if (area.kind == WIRE_AREA_FRUSTUM)
			length = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] +
				      turn[3] * turn[3]);
		for (int n = 0; n < WIRE_AREA_NUMBERS_MAX; n++) {
			bool turns = area.kind == WIRE_AREA_FRUSTUM && n >= 3 && n < 7;
			double wanted = turns ? area.numbers[n] / length : area.numbers[n];
			ck_assert_double_le(fabs(once.numbers[n] - wanted), turns ? 1e-15 : 0);
		}
		ck_assert_uint_eq(once.kind, area.kind);
		ck_assert_uint_eq(once.body, area.body);
		/* A unit rotation stays one, up to its last bits. */
		ck_assert_int_eq(there_and_back(&once, &twice), STATUS_OK);
		for (int n = 0; n < WIRE_AREA_NUMBERS_MAX; n++)
			ck_assert_double_eq_tol(once.numbers[n], twice.numbers[n], 1e-15);
	}
}
END_TEST

START_TEST(an_invalid_area_is_refused)
{
	static const struct wire_area wrong[] = {
		{ 1, 0, { 1, 0, 0, 0, 0, 0 } },
		{ 2, 0, { 0, 0, 0, -1 } },
		{ 2, 0, { 2e12, 0, 0, 1 } },
		{ 3, 0, { 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1 } },
		{ 3, 0, { 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1 } },
		{ 3, 0, { 0, 0, 0, 1, 0, 0, 0, 1, 1, 2, 1 } },
		{ 3, 0, { 0, 0, 0, 1, 0, 0, 0, 1, 1, -1, 1 } },
	};
	struct wire_area back;
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		ck_assert_int_eq(there_and_back(&wrong[i], &back), STATUS_RANGE);
	/* Another kind, too few numbers, no array. */
	static const uint8_t bytes[][8] = {
		{ 0x92, 9, 0x90 }, { 0x92, 2, 0x91, 1 }, { 0x05 }, { 0x91, 0 }
	};
	static const uint32_t sizes[] = { 3, 4, 1, 2 };
	for (size_t i = 0; i < COUNT_OF(bytes); i++) {
		struct wire_area areas[WIRE_AREAS_MAX];
		struct reason why;
		uint32_t count;
		enum status status = wire_areas_take(&(struct wire_list){ bytes[i], sizes[i], 1 },
						     areas, &count, &why);
		ck_assert(status == STATUS_RANGE || status == STATUS_TYPE);
		ck_assert_str_eq(why.field, "areas");
	}
}
END_TEST

START_TEST(the_bounding_box_of_an_area_contains_its_points)
{
	struct rng rng = rng_seeded(check_seed());
	int inside = 0;
	for (int i = 0; i < 2000; i++) {
		struct wire_area area = draw(&rng), unit;
		double min[3], max[3], origin[3], pad = rng_range(&rng, 0, 2);
		ck_assert_int_eq(there_and_back(&area, &unit), STATUS_OK);
		for (int c = 0; c < 3; c++)
			origin[c] = real(&rng, 5);
		wire_area_box(&unit, origin, pad, min, max);
		for (int k = 0; k < 50; k++) {
			const double p[3] = { real(&rng, 40), real(&rng, 40), real(&rng, 40) };
			if (!wire_area_holds(&unit, origin, p, pad))
				continue;
			inside++;
			for (int c = 0; c < 3; c++)
				ck_assert(p[c] >= min[c] - 1e-9 && p[c] <= max[c] + 1e-9);
		}
	}
	ck_assert_int_gt(inside, 500);
}
END_TEST

START_TEST(a_pad_only_enlarges_an_area)
{
	struct rng rng = rng_seeded(check_seed());
	for (int i = 0; i < 2000; i++) {
		struct wire_area area = draw(&rng), unit;
		ck_assert_int_eq(there_and_back(&area, &unit), STATUS_OK);
		for (int k = 0; k < 50; k++) {
			const double p[3] = { real(&rng, 30), real(&rng, 30), real(&rng, 30) };
			if (wire_area_holds(&unit, nowhere, p, 0.5))
				ck_assert(wire_area_holds(&unit, nowhere, p, 1));
		}
	}
}
END_TEST

START_TEST(a_frustum_looks_along_minus_z_and_turns_with_its_rotation)
{
	struct wire_area area = { 3, 0, { 0, 0, 0, 1, 0, 0, 0, 1, 0.5, 1, 10 } };
	ck_assert(wire_area_holds(&area, nowhere, (double[]){ 0, 0, -5 }, 0));
	ck_assert(!wire_area_holds(&area, nowhere, (double[]){ 0, 0, 5 }, 0));
	ck_assert(!wire_area_holds(&area, nowhere, (double[]){ 0, 0, -0.5 }, 0));
	ck_assert(!wire_area_holds(&area, nowhere, (double[]){ 0, 0, -10.5 }, 0));
	ck_assert(wire_area_holds(&area, nowhere, (double[]){ 4.9, 0, -5 }, 0));
	ck_assert(!wire_area_holds(&area, nowhere, (double[]){ 5.1, 0, -5 }, 0));
	ck_assert(!wire_area_holds(&area, nowhere, (double[]){ 0, 2.6, -5 }, 0));
	/* A quarter turn about y takes −z to −x. */
	area.numbers[3] = area.numbers[5] = sqrt(0.5);
	ck_assert(wire_area_holds(&area, nowhere, (double[]){ -5, 0, 0 }, 0));
	ck_assert(!wire_area_holds(&area, nowhere, (double[]){ 0, 0, -5 }, 0));
	/* An area with a body moves with the body. */
	ck_assert(wire_area_holds(&area, (double[]){ 100, 0, 0 }, (double[]){ 95, 0, 0 }, 0));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("protocol/area");
	TCase *all = tcase_create("areas");
	tcase_add_test(all, an_area_is_read_as_it_was_packed);
	tcase_add_test(all, an_invalid_area_is_refused);
	tcase_add_test(all, the_bounding_box_of_an_area_contains_its_points);
	tcase_add_test(all, a_pad_only_enlarges_an_area);
	tcase_add_test(all, a_frustum_looks_along_minus_z_and_turns_with_its_rotation);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
