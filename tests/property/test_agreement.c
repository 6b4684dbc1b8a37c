/* V-Clip, GJK, EPA and separating axes agree with brute force and with each other about convex hulls
 * (spec 4.9, 4.10, 9.4's neighbours; G4, V2, V6). The test is a sample of `make agree`. */
#include "tests/lib/agree.h"

#include "tests/lib/check_main.h"

/* All methods agree in `count` random poses of the family. */
static void check_family(enum agree_family family, uint32_t count)
{
	struct agree *agree = agree_create(check_seed());
	struct agree_tally tally = { 0 };
	agree_run(agree, family, count, &tally);
	ck_assert_msg(tally.failures == 0, "%s", tally.first);
	ck_assert_uint_eq(tally.poses, count);
	/* At least 2 % of the poses have a gap and at least 2 % overlap, so both verdicts are tested. */
	ck_assert_uint_gt(tally.apart, count / 50);
	ck_assert_uint_gt(tally.overlapping, count / 50);
	/* V-Clip falls back to its second algorithm in at most 20 % of the poses, and the bounds of EPA
	 * always meet. */
	ck_assert_uint_le(tally.vclip_handed, count / 5);
	ck_assert_uint_eq(tally.epa_open + tally.epa_capacity, 0);
	agree_destroy(agree);
}

START_TEST(all_methods_agree_in_random_poses)
{
	check_family(AGREE_RANDOM, 1500);
}
END_TEST

START_TEST(all_methods_agree_near_contact)
{
	check_family(AGREE_NEAR, 1500);
}
END_TEST

START_TEST(all_methods_agree_on_aligned_boxes)
{
	check_family(AGREE_ALIGNED, 1000);
}
END_TEST

START_TEST(all_methods_agree_on_hulls_that_share_a_vertex_edge_or_face)
{
	check_family(AGREE_SHARED, 1000);
}
END_TEST

START_TEST(all_methods_agree_on_slivers)
{
	check_family(AGREE_SLIVERS, 1000);
}
END_TEST

START_TEST(all_methods_agree_on_sizes_of_1_to_1000000)
{
	check_family(AGREE_SIZES, 600);
}
END_TEST

START_TEST(all_methods_agree_within_the_tolerance_of_uneven_faces)
{
	check_family(AGREE_BUMPY, 500);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/agreement");
	TCase *tcase = tcase_create("agreement");
	tcase_add_test(tcase, all_methods_agree_in_random_poses);
	tcase_add_test(tcase, all_methods_agree_near_contact);
	tcase_add_test(tcase, all_methods_agree_on_aligned_boxes);
	tcase_add_test(tcase, all_methods_agree_on_hulls_that_share_a_vertex_edge_or_face);
	tcase_add_test(tcase, all_methods_agree_on_slivers);
	tcase_add_test(tcase, all_methods_agree_on_sizes_of_1_to_1000000);
	tcase_add_test(tcase, all_methods_agree_within_the_tolerance_of_uneven_faces);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
