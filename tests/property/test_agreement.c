/* V-Clip, GJK, EPA and separating axes agree with brute force and with each other (spec 4.9, 4.10, 9.4's
 * neighbours; G4, V2, V6): a sample of `make agree`. */
#include "tests/lib/agree.h"

#include "tests/lib/check_main.h"

static void agrees(enum agree_family family, uint32_t count)
{
	struct agree *agree = agree_create(check_seed());
	struct agree_tally tally = { 0 };
	agree_run(agree, family, count, &tally);
	ck_assert_msg(tally.failures == 0, "%s", tally.first);
	ck_assert_uint_eq(tally.poses, count);
	/* The family is what it says: both verdicts come up. */
	ck_assert_uint_gt(tally.apart, count / 50);
	ck_assert_uint_gt(tally.overlapping, count / 50);
	/* Plan B is rare for V-Clip, and EPA's bounds always meet. */
	ck_assert_uint_le(tally.vclip_handed, count / 5);
	ck_assert_uint_eq(tally.epa_open + tally.epa_capacity, 0);
	agree_destroy(agree);
}

START_TEST(random_poses_get_one_answer)
{
	agrees(AGREE_RANDOM, 1500);
}
END_TEST

START_TEST(poses_near_contact_get_one_answer)
{
	agrees(AGREE_NEAR, 1500);
}
END_TEST

START_TEST(aligned_boxes_get_one_answer)
{
	agrees(AGREE_ALIGNED, 1000);
}
END_TEST

START_TEST(hulls_that_share_vertices_edges_and_faces_get_one_answer)
{
	agrees(AGREE_SHARED, 1000);
}
END_TEST

START_TEST(slivers_get_one_answer)
{
	agrees(AGREE_SLIVERS, 1000);
}
END_TEST

START_TEST(pieces_a_million_times_as_large_get_one_answer)
{
	agrees(AGREE_SIZES, 600);
}
END_TEST

START_TEST(faces_flat_only_to_their_tolerance_get_one_answer_within_it)
{
	agrees(AGREE_BUMPY, 500);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/agreement");
	TCase *tcase = tcase_create("agreement");
	tcase_add_test(tcase, random_poses_get_one_answer);
	tcase_add_test(tcase, poses_near_contact_get_one_answer);
	tcase_add_test(tcase, aligned_boxes_get_one_answer);
	tcase_add_test(tcase, hulls_that_share_vertices_edges_and_faces_get_one_answer);
	tcase_add_test(tcase, slivers_get_one_answer);
	tcase_add_test(tcase, pieces_a_million_times_as_large_get_one_answer);
	tcase_add_test(tcase, faces_flat_only_to_their_tolerance_get_one_answer_within_it);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
