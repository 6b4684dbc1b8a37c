/* Shape library: shapes by name, copies, trimming, and memory that runs out. */
#include "server/store/shape_library.h"

#include <string.h>

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"

enum { SHAPES = 60 };

/* Shapes under made-up names, of which many begin alike. */
static struct shape *shape_named(uint32_t prefix, uint32_t rest)
{
	struct shape *shape = make_sphere(0.5 + rest * 0.01);
	memset(shape->name, 0, SHAPE_NAME_BYTES);
	put_le32(shape->name, prefix);
	put_le32(shape->name + 8, rest);
	return shape;
}

START_TEST(names_that_begin_alike_are_told_apart)
{
	struct shape_library book;
	struct shape *shapes[SHAPES];
	uint8_t name[SHAPE_NAME_BYTES];
	int64_t live = heap_live();
	uint64_t bytes = 0;
	shape_library_init(&book);
	for (uint32_t i = 0; i < SHAPES; i++) {
		shapes[i] = shape_named(i % 4, i);
		ck_assert_int_eq(shape_library_add(&book, shapes[i]), STATUS_OK);
		ck_assert_int_eq(shape_library_add(&book, shapes[i]), STATUS_EXISTS);
		bytes += shapes[i]->memory_bytes;
	}
	ck_assert_uint_eq(book.count, SHAPES);
	ck_assert_uint_eq(book.bytes, bytes);
	struct shape_source source = shape_library_source(&book);
	for (uint32_t i = 0; i < SHAPES; i++) {
		ck_assert_ptr_eq(shape_library_find(&book, shapes[i]->name), shapes[i]);
		ck_assert_ptr_eq(source.find(source.context, shapes[i]->name), shapes[i]);
		ck_assert_ptr_eq(shape_library_at(&book, i), shapes[i]);
		/* Alike in all but the last byte. */
		memcpy(name, shapes[i]->name, sizeof name);
		name[SHAPE_NAME_BYTES - 1] ^= 1;
		ck_assert_ptr_null(shape_library_find(&book, name));
		shape_release(shapes[i]);
	}
	struct shape_library copy;
	shape_library_init(&copy);
	ck_assert_int_eq(shape_library_copy(&copy, &book), STATUS_OK);
	shape_library_release(&book);
	for (uint32_t i = 0; i < SHAPES; i++)
		ck_assert_ptr_eq(shape_library_find(&copy, shapes[i]->name), shapes[i]);
	shape_library_release(&copy);
	ck_assert_int_eq(heap_live(), live);
}
END_TEST

START_TEST(a_trimmed_book_forgets_the_oldest_that_nobody_holds)
{
	struct shape_library book;
	struct shape *held[SHAPES] = { 0 };
	uint8_t names[SHAPES][SHAPE_NAME_BYTES];
	int64_t live = heap_live();
	shape_library_init(&book);
	for (uint32_t i = 0; i < SHAPES; i++) {
		struct shape *shape = shape_named(i % 4, i);
		memcpy(names[i], shape->name, SHAPE_NAME_BYTES);
		ck_assert_int_eq(shape_library_add(&book, shape), STATUS_OK);
		if (i % 3 == 0)
			held[i] = shape;
		else
			shape_release(shape);
	}
	uint64_t each = book.bytes / SHAPES;
	shape_library_trim(&book, book.bytes);
	ck_assert_uint_eq(book.count, SHAPES);
	/* Ten go: those of the first fifteen that are not held. */
	shape_library_trim(&book, each * (SHAPES - 10));
	ck_assert_uint_eq(book.count, SHAPES - 10);
	ck_assert_uint_eq(book.bytes, each * (SHAPES - 10));
	for (uint32_t i = 0; i < SHAPES; i++)
		ck_assert_int_eq(shape_library_find(&book, names[i]) != NULL,
				 i >= 15 || i % 3 == 0);
	/* What is held stays however little is asked for, and can be forgotten when it is not. */
	shape_library_trim(&book, 0);
	ck_assert_uint_eq(book.count, SHAPES / 3);
	for (uint32_t i = 0; i < SHAPES; i++) {
		ck_assert_ptr_eq(shape_library_find(&book, names[i]), held[i]);
		if (held[i] != NULL)
			shape_release(held[i]);
	}
	shape_library_trim(&book, 0);
	ck_assert_uint_eq(book.count, 0);
	ck_assert_uint_eq(book.bytes, 0);
	struct shape *again = shape_named(1, 1);
	ck_assert_int_eq(shape_library_add(&book, again), STATUS_OK);
	ck_assert_ptr_eq(shape_library_find(&book, names[1]), again);
	shape_release(again);
	shape_library_release(&book);
	ck_assert_int_eq(heap_live(), live);
}
END_TEST

START_TEST(without_memory_a_book_stays_as_it_was)
{
	struct shape_library book, copy;
	struct shape *shapes[SHAPES];
	shape_library_init(&book);
	for (uint32_t i = 0; i < SHAPES; i++) {
		shapes[i] = shape_named(1, i);
		enum status status;
		uint64_t n = 1;
		do {
			heap_fail_at(n++);
			status = shape_library_add(&book, shapes[i]);
			heap_fail_at(0);
			ck_assert_uint_eq(book.count, status == STATUS_OK ? i + 1 : i);
			for (uint32_t k = 0; k < i; k++)
				ck_assert_ptr_eq(shape_library_find(&book, shapes[k]->name),
						 shapes[k]);
		} while (status == STATUS_NO_MEMORY);
		ck_assert_int_eq(status, STATUS_OK);
		ck_assert_ptr_eq(shape_library_find(&book, shapes[i]->name), shapes[i]);
	}
	for (uint64_t n = 1;; n++) {
		shape_library_init(&copy);
		heap_fail_at(n);
		enum status status = shape_library_copy(&copy, &book);
		heap_fail_at(0);
		ck_assert_uint_eq(copy.count, status == STATUS_OK ? SHAPES : 0);
		shape_library_release(&copy);
		if (status == STATUS_OK)
			break;
	}
	for (uint32_t i = 0; i < SHAPES; i++)
		shape_release(shapes[i]);
	shape_library_release(&book);
}
END_TEST

START_TEST(bytes_of_nonsense_are_refused_and_do_not_close)
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
	tcase_add_test(names, names_that_begin_alike_are_told_apart);
	tcase_add_test(names, a_trimmed_book_forgets_the_oldest_that_nobody_holds);
	tcase_add_test(names, without_memory_a_book_stays_as_it_was);
	tcase_add_test(names, bytes_of_nonsense_are_refused_and_do_not_close);
	suite_add_tcase(suite, names);
	return suite;
}

int main(void)
{
	return check_main(make);
}
