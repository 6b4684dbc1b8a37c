/* The committed vectors and the generated parts of docs/PROTOCOL.md equal those of the present code, and the
 * library reads the vectors correctly. Other readers: test_vectors.py. */
#include "tests/lib/wire_vectors.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/frame.h"
#include "protocol/mirror.h"
#include "protocol/pack.h"
#include "protocol/unpack.h"
#include "tests/lib/check_main.h"

/* Owned text of a file of the source tree. */
static char *read_file(const char *name)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", getenv("CAIRN_SRCDIR") ? getenv("CAIRN_SRCDIR") : ".",
		 name);
	FILE *file = fopen(path, "rb");
	ck_assert_msg(file != NULL, "%s cannot be read", path);
	char *text = calloc(1, 1 << 20);
	size_t count = fread(text, 1, (1 << 20) - 1, file);
	ck_assert_uint_lt(count, (1 << 20) - 1);
	fclose(file);
	return text;
}

static char *written(void (*write)(FILE *out))
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	write(out);
	fclose(out);
	return text;
}

START_TEST(committed_vectors_equal_those_of_the_code)
{
	for (size_t i = 0; WIRE_VECTORS_FILES[i].name != NULL; i++) {
		char name[256];
		snprintf(name, sizeof name, "tests/data/wire/%s", WIRE_VECTORS_FILES[i].name);
		char *committed = read_file(name);
		char *made = written(WIRE_VECTORS_FILES[i].write);
		ck_assert_msg(strcmp(committed, made) == 0,
			      "%s is not what the code makes; run tests/wire/update", name);
		free(committed);
		free(made);
	}
}
END_TEST

START_TEST(the_page_equals_what_the_code_generates)
{
	char *page = read_file("docs/PROTOCOL.md");
	for (size_t i = 0; WIRE_VECTORS_SECTIONS[i].name != NULL; i++) {
		char begin[128];
		snprintf(begin, sizeof begin, "<!-- made by: wire_vectors %s -->\n",
			 WIRE_VECTORS_SECTIONS[i].name);
		char *at = strstr(page, begin);
		ck_assert_msg(at != NULL, "docs/PROTOCOL.md has no section %s", begin);
		at += strlen(begin);
		bool fenced = strncmp(at, "```\n", 4) == 0;
		at += fenced ? 4 : 0;
		char *made = written(WIRE_VECTORS_SECTIONS[i].write);
		ck_assert_msg(strncmp(at, made, strlen(made)) == 0,
			      "section %s is not what the code makes; run tests/wire/update",
			      WIRE_VECTORS_SECTIONS[i].name);
		at += strlen(made) + (fenced ? 4 : 0);
		ck_assert(strncmp(at, "<!-- end -->", 12) == 0);
		free(made);
	}
	free(page);
}
END_TEST

static uint32_t from_hex(const char *hex, uint8_t *data)
{
	uint32_t bytes = 0;
	unsigned byte;
	while (sscanf(hex + (size_t)2 * bytes, "%2x", &byte) == 1)
		data[bytes++] = (uint8_t)byte;
	return bytes;
}

/* The next `"key": "value` after `at`, or NULL. */
static const char *value_of(const char *at, const char *key)
{
	char quoted[64];
	snprintf(quoted, sizeof quoted, "\"%s\": \"", key);
	at = strstr(at, quoted);
	return at == NULL ? NULL : at + strlen(quoted);
}

START_TEST(every_message_vector_is_read_and_written_back)
{
	static uint8_t data[8192], again[8192];
	char *text = read_file("tests/data/wire/messages.json");
	uint32_t seen = 0;
	for (const char *at = text; (at = value_of(at, "frame")) != NULL; seen++) {
		uint32_t bytes = from_hex(at, data), second;
		struct wire_slice content;
		size_t whole;
		struct message message;
		ck_assert_int_eq(frame_split(data, bytes, sizeof data, &content, &whole),
				 STATUS_OK);
		ck_assert_uint_eq(whole, bytes);
		ck_assert_int_eq(
			message_read(content.at, content.bytes, &VALIDATE_DOWN, &message, NULL),
			STATUS_OK);
		ck_assert_int_eq(message_pack(&message, again, sizeof again, &second), STATUS_OK);
		ck_assert_uint_eq(second, bytes);
		ck_assert_mem_eq(again, data, bytes);
	}
	ck_assert_uint_gt(seen, 60);
	free(text);
}
END_TEST

START_TEST(every_hostile_vector_is_refused_with_its_status)
{
	uint8_t data[1024];
	char *text = read_file("tests/data/wire/hostile.json");
	uint32_t seen = 0;
	for (const char *at = text; (at = value_of(at, "content")) != NULL; seen++) {
		uint32_t bytes = from_hex(at, data);
		struct message message;
		enum status status = message_read(data, bytes, &VALIDATE_UP, &message, NULL);
		const char *wanted = value_of(at, "status");
		ck_assert_msg(strncmp(wanted, status_name(status), strlen(status_name(status))) ==
				      0,
			      "%.40s", wanted);
	}
	ck_assert_uint_gt(seen, 30);
	free(text);
}
END_TEST

/* Reads the frame at `at` into a message. */
static void read_frame(const char *at, uint8_t *data, struct message *message)
{
	uint32_t bytes = from_hex(at, data);
	ck_assert_uint_gt(bytes, WIRE_FRAME_HEADER);
	ck_assert_int_eq(message_read(data + WIRE_FRAME_HEADER, bytes - WIRE_FRAME_HEADER,
				      &VALIDATE_DOWN, message, NULL),
			 STATUS_OK);
}

START_TEST(mirrors_of_body_vectors_have_the_recorded_hashes)
{
	static uint8_t data[8192];
	char *text = read_file("tests/data/wire/bodies.json");
	uint32_t seen = 0;
	for (const char *at = text; (at = value_of(at, "profile")) != NULL; seen++) {
		struct mirror mirror;
		struct message message;
		unsigned fields = 0;
		bool last;
		static const char *const NAMES[] = { "plain", "exact", "view", "sim" };
		uint32_t profile = 0;
		while (profile < 3 && strncmp(at, NAMES[profile], strlen(NAMES[profile])) != 0)
			profile++;
		ck_assert_int_eq(sscanf(strstr(at, "\"fields\""), "\"fields\": %u", &fields), 1);
		mirror_init(&mirror, (enum wire_profile)profile, (wire_mask)fields, 100);
		at = value_of(at, "frame");
		read_frame(at, data, &message);
		ck_assert_int_eq(mirror_snapshot(&mirror, &message.snapshot, &last), STATUS_OK);
		ck_assert(last && mirror.checked);
		at = value_of(at, "frame");
		read_frame(at, data, &message);
		ck_assert_int_eq(mirror_delta(&mirror, &message.delta, &last), STATUS_OK);
		ck_assert(last && mirror.checked);
		ck_assert_ptr_null(mirror_find(&mirror, 1));
		ck_assert_ptr_nonnull(mirror_find(&mirror, 301));
		mirror_release(&mirror);
	}
	ck_assert_uint_eq(seen, 24);
	free(text);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("protocol/vectors");
	TCase *files = tcase_create("files");
	tcase_add_test(files, committed_vectors_equal_those_of_the_code);
	tcase_add_test(files, the_page_equals_what_the_code_generates);
	suite_add_tcase(suite, files);
	TCase *meaning = tcase_create("meaning");
	tcase_add_test(meaning, every_message_vector_is_read_and_written_back);
	tcase_add_test(meaning, every_hostile_vector_is_refused_with_its_status);
	tcase_add_test(meaning, mirrors_of_body_vectors_have_the_recorded_hashes);
	suite_add_tcase(suite, meaning);
	return suite;
}

int main(void)
{
	return check_main(make);
}
