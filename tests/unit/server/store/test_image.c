/* Checkpoint images as stored in files: an image unpacks to the bytes that were packed, and a
 * damaged one is refused before its stated size is allocated. */
#include "server/store/image.h"

#include <string.h>
#include <zstd.h>

#include "server/base/hash.h"
#include "server/base/heap.h"
#include "server/engine/engine.h"
#include "tests/lib/check_main.h"

static struct bytes image, packed, out;
static struct reason why;

static void setup(void)
{
	struct world_options options = world_options_default();
	struct world *world;
	options.limits.memory_bytes = 1 << 20;
	ck_assert_int_eq(world_create(&options, &world, &why), STATUS_OK);
	ck_assert_int_eq(world_save(world, &image), STATUS_OK);
	world_destroy(world);
}

static void teardown(void)
{
	bytes_release(&image);
	bytes_release(&packed);
	bytes_release(&out);
}

/* Packs and unpacks the image; every checksum is right. */
static enum status unpack(void)
{
	bytes_reset(&packed);
	bytes_reset(&out);
	ck_assert_int_eq(image_pack(&image, &packed), STATUS_OK);
	return image_unpack(packed.data, packed.count, image.count,
			    hash64(image.data, image.count, 0), &out, &why);
}

START_TEST(an_image_unpacks_to_the_bytes_packed)
{
	ck_assert_int_eq(unpack(), STATUS_OK);
	ck_assert_uint_eq(out.count, image.count);
	ck_assert_mem_eq(out.data, image.data, image.count);
}
END_TEST

START_TEST(an_image_larger_than_its_worlds_limits_allow_is_corrupt)
{
	/* The largest size that the world's limits allow, and then one byte more. */
	size_t most = (2u << 20) + (1u << 20), small = image.count;
	ck_assert_int_eq(bytes_reserve(&image, most + 1), STATUS_OK);
	memset(image.data + small, 0, most + 1 - small);
	image.count = most;
	ck_assert_int_eq(unpack(), STATUS_OK);
	image.count = most + 1;
	ck_assert_int_eq(unpack(), STATUS_CORRUPT);
	ck_assert_ptr_nonnull(strstr(why.text, "memory_max"));
	ck_assert_uint_eq(out.count, 0);
	ck_assert_uint_lt(packed.count, 4096);
}
END_TEST

START_TEST(an_image_with_a_damaged_head_is_corrupt)
{
	ck_assert_int_eq(unpack(), STATUS_OK);
	/* Bytes 8 … table are the motion numbers and the count of sections, which world_load
	 * checks. */
	uint32_t methods = get_le32(image.data + 16);
	size_t table = 20 + 6 * (size_t)methods + 4;
	for (size_t at = 0; at < table + 6; at++) {
		if (at >= 8 && at < table)
			continue;
		image.data[at] ^= 0x40;
		ck_assert_msg(unpack() == STATUS_CORRUPT, "byte %zu", at);
		image.data[at] ^= 0x40;
	}
	image.count = table + 16;
	ck_assert_int_eq(unpack(), STATUS_CORRUPT);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("store/image");
	TCase *images = tcase_create("images");
	tcase_add_checked_fixture(images, setup, teardown);
	tcase_add_test(images, an_image_unpacks_to_the_bytes_packed);
	tcase_add_test(images, an_image_larger_than_its_worlds_limits_allow_is_corrupt);
	tcase_add_test(images, an_image_with_a_damaged_head_is_corrupt);
	suite_add_tcase(suite, images);
	return suite;
}

int main(void)
{
	return check_main(make);
}
