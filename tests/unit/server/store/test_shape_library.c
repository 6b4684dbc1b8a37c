/* Shape library: shapes by name, copies, trimming, and allocations that fail. */
#include "server/store/shape_library.h"

#include <string.h>

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"

enum { SHAPES = 60 };

/* Shapes under made-up names, many of which begin with the same bytes. */
static struct shape *shape_named(uint32_t prefix, uint32_t rest)
{
	struct shape *shape = make_sphere(0.5 + rest * 0.01);
	memset(shape->name, 0, SHAPE_NAME_BYTES);
	put_le32(shape->name, prefix);
	put_le32(shape->name + 8, rest);
	return shape;
}

START_TEST(names_with_equal_beginnings_are_distinguished)
{
	struct shape_library library;
	struct shape *shapes[SHAPES];
	uint8_t name[SHAPE_NAME_BYTES];
	int64_t live = heap_live();
	uint64_t bytes = 0;
	shape_library_init(&library);
	for (uint32_t i = 0; i < SHAPES; i++) {
		shapes[i] = shape_named(i % 4, i);
		ck_assert_int_eq(shape_library_add(&library, shapes[i]), STATUS_OK);
		ck_assert_int_eq(shape_library_add(&library, shapes[i]), STATUS_EXISTS);
		bytes += shapes[i]->memory_bytes;
	}
	ck_assert_uint_eq(library.count, SHAPES);
	ck_assert_uint_eq(library.bytes, bytes);
	struct shape_source source = shape_library_source(&library);
	for (uint32_t i = 0; i < SHAPES; i++) {
		ck_assert_ptr_eq(shape_library_find(&library, shapes[i]->name), shapes[i]);
		ck_assert_ptr_eq(source.find(source.context, shapes[i]->name), shapes[i]);
		ck_assert_ptr_eq(shape_library_at(&library, i), shapes[i]);
		/* These names differ in the last byte only. */
		memcpy(name, shapes[i]->name, sizeof name);
		name[SHAPE_NAME_BYTES - 1] ^= 1;
		ck_assert_ptr_null(shape_library_find(&library, name));
		shape_release(shapes[i]);
	}
	struct shape_library copy;
	shape_library_init(&copy);
	ck_assert_int_eq(shape_library_copy(&copy, &library), STATUS_OK);
	shape_library_release(&library);
	for (uint32_t i = 0; i < SHAPES; i++)
		ck_assert_ptr_eq(shape_library_find(&copy, shapes[i]->name), shapes[i]);
	shape_library_release(&copy);
	ck_assert_int_eq(heap_live(), live);
}
END_TEST

START_TEST(trimming_removes_the_oldest_shapes_without_a_holder)
{
	struct shape_library library;
	struct shape *held[SHAPES] = { 0 };
	uint8_t names[SHAPES][SHAPE_NAME_BYTES];
	int64_t live = heap_live();
	shape_library_init(&library);
	for (uint32_t i = 0; i < SHAPES; i++) {
		struct shape *shape = shape_named(i % 4, i);
		memcpy(names[i], shape->name, SHAPE_NAME_BYTES);
		ck_assert_int_eq(shape_library_add(&library, shape), STATUS_OK);
		if (i % 3 == 0)
			held[i] = shape;
		else
			shape_release(shape);
	}
	uint64_t each = library.bytes / SHAPES;
	shape_library_trim(&library, library.bytes);
	ck_assert_uint_eq(library.count, SHAPES);
	/* Ten are removed: those of the first fifteen that have no other holder. */
	shape_library_trim(&library, each * (SHAPES - 10));
	ck_assert_uint_eq(library.count, SHAPES - 10);
	ck_assert_uint_eq(library.bytes, each * (SHAPES - 10));
	for (uint32_t i = 0; i < SHAPES; i++)
		ck_assert_int_eq(shape_library_find(&library, names[i]) != NULL,
				 i >= 15 || i % 3 == 0);
	/* A held shape stays however small the limit; after its release it can be removed. */
	shape_library_trim(&library, 0);
	ck_assert_uint_eq(library.count, SHAPES / 3);
	for (uint32_t i = 0; i < SHAPES; i++) {
		ck_assert_ptr_eq(shape_library_find(&library, names[i]), held[i]);
		if (held[i] != NULL)
			shape_release(held[i]);
	}
	shape_library_trim(&library, 0);
	ck_assert_uint_eq(library.count, 0);
	ck_assert_uint_eq(library.bytes, 0);
	struct shape *again = shape_named(1, 1);
	ck_assert_int_eq(shape_library_add(&library, again), STATUS_OK);
	ck_assert_ptr_eq(shape_library_find(&library, names[1]), again);
	shape_release(again);
	shape_library_release(&library);
	ck_assert_int_eq(heap_live(), live);
}
END_TEST

START_TEST(without_memory_a_library_is_unchanged)
{
	struct shape_library library, copy;
	struct shape *shapes[SHAPES];
	shape_library_init(&library);
	for (uint32_t i = 0; i < SHAPES; i++) {
		shapes[i] = shape_named(1, i);
		enum status status;
		uint64_t n = 1;
		do {
			heap_fail_at(n++);
			status = shape_library_add(&library, shapes[i]);
			heap_fail_at(0);
			ck_assert_uint_eq(library.count, status == STATUS_OK ? i + 1 : i);
			for (uint32_t k = 0; k < i; k++)
				ck_assert_ptr_eq(shape_library_find(&library, shapes[k]->name),
						 shapes[k]);
		} while (status == STATUS_NO_MEMORY);
		ck_assert_int_eq(status, STATUS_OK);
		ck_assert_ptr_eq(shape_library_find(&library, shapes[i]->name), shapes[i]);
	}
	for (uint64_t n = 1;; n++) {
		shape_library_init(&copy);
		heap_fail_at(n);
		enum status status = shape_library_copy(&copy, &library);
		heap_fail_at(0);
		ck_assert_uint_eq(copy.count, status == STATUS_OK ? SHAPES : 0);
		shape_library_release(&copy);
		if (status == STATUS_OK)
			break;
	}
	for (uint32_t i = 0; i < SHAPES; i++)
		shape_release(shapes[i]);
	shape_library_release(&library);
}
END_TEST

START_TEST(malformed_shape_bytes_are_refused_but_do_not_close_the_session)
{
	static const uint8_t nonsense[] = { 0xff, 1, 2, 3 };
	struct shape *shape;
	struct reason why;
	for (uint32_t bytes = 0; bytes <= sizeof nonsense; bytes++) {
		struct wire_slice slice = { nonsense, bytes };
		enum status status = shape_library_cook(slice, NULL, &shape, &why);
		ck_assert_int_ne(status, STATUS_OK);
		ck_assert_int_eq(status, why.status);
		ck_assert(!wire_status_closes(status));
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/store/shape_library");
	TCase *names = tcase_create("names");
	tcase_add_test(names, names_with_equal_beginnings_are_distinguished);
	tcase_add_test(names, trimming_removes_the_oldest_shapes_without_a_holder);
	tcase_add_test(names, without_memory_a_library_is_unchanged);
	tcase_add_test(names, malformed_shape_bytes_are_refused_but_do_not_close_the_session);
	suite_add_tcase(suite, names);
	return suite;
}

int main(void)
{
	return check_main(make);
}
