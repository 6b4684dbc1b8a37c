/* Hashes: the published values, equal for pieces and the whole, and sensitive to each bit. */
#include "server/base/hash.h"

#include <string.h>

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"

/* XXH3-64 of no bytes: from the list of the xxHash specification. SHA-256 of "abc": FIPS 180-4. */
START_TEST(values_are_the_published_ones)
{
	static const uint8_t abc[SHA256_BYTES] = {
		0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40,
		0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17,
		0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
	};
	uint8_t digest[SHA256_BYTES];
	ck_assert_uint_eq(hash64(NULL, 0, 0), 0x2d06800538d394c2);
	hash_sha256("abc", 3, digest);
	ck_assert_mem_eq(digest, abc, sizeof abc);
}
END_TEST

START_TEST(hashing_in_pieces_equals_hashing_the_whole)
{
	struct rng rng = rng_seeded(check_seed());
	static uint8_t data[5000];
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (uint8_t)rng_u32(&rng);
	uint64_t calls = heap_calls();
	for (int round = 0; round < 300; round++) {
		size_t count = rng_below(&rng, sizeof data), done = 0;
		uint64_t seed = round % 3 ? rng_u64(&rng) : 0;
		struct hasher hasher;
		hasher_init(&hasher, seed);
		while (done < count) {
			size_t piece = rng_below(&rng, (uint32_t)(count - done) + 1);
			hasher_update(&hasher, data + done, piece);
			done += piece;
			ck_assert_uint_eq(hasher_digest(&hasher), hash64(data, done, seed));
		}
	}
	ck_assert_uint_eq(heap_calls(), calls);
}
END_TEST

START_TEST(single_values_hash_as_little_endian_bytes)
{
	static const uint8_t bytes[] = { 4, 3, 2, 1, 8, 7, 6, 5, 4,    3,
					 2, 1, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f };
	struct hasher hasher;
	hasher_init(&hasher, 0);
	hasher_u32(&hasher, 0x01020304);
	hasher_u64(&hasher, 0x0102030405060708);
	hasher_f64(&hasher, 1.5);
	ck_assert_uint_eq(hasher_digest(&hasher), hash64(bytes, sizeof bytes, 0));
}
END_TEST

START_TEST(a_changed_bit_changes_the_hash)
{
	uint8_t data[300] = { 0 };
	for (size_t count = 1; count < sizeof data; count += 13) {
		uint64_t before = hash64(data, count, 9);
		for (size_t bit = 0; bit < count * 8; bit++) {
			data[bit / 8] ^= (uint8_t)(1u << bit % 8);
			ck_assert_uint_ne(hash64(data, count, 9), before);
			data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
		ck_assert_uint_ne(hash64(data, count, 10), before);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("hash");
	TCase *all = tcase_create("hash");
	tcase_add_test(all, values_are_the_published_ones);
	tcase_add_test(all, hashing_in_pieces_equals_hashing_the_whole);
	tcase_add_test(all, single_values_hash_as_little_endian_bytes);
	tcase_add_test(all, a_changed_bit_changes_the_hash);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
