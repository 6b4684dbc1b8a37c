/* See status.h. Texts and names come from status.def. */
#include "server/base/status.h"

#include <stdio.h>
#include <string.h>

#include "server/base/utf8.h"

const char *status_text(enum status status)
{
	switch (status) {
#define STATUS(number, NAME, name, text)                                                           \
	case STATUS_##NAME:                                                                        \
		return text;
#include "server/base/status.def"
	}
	return "unknown status";
}

const char *status_name(enum status status)
{
	switch (status) {
#define STATUS(number, NAME, name, text)                                                           \
	case STATUS_##NAME:                                                                        \
		return #name;
#include "server/base/status.def"
	}
	return "unknown";
}

const char *reason_number(double value, char text[REASON_NUMBER_BYTES])
{
	const double whole_max = 9007199254740992.0;
	bool whole = value >= -whole_max && value <= whole_max && value == (double)(int64_t)value;
	snprintf(text, REASON_NUMBER_BYTES, whole ? "%.0f" : "%.10g", value);
	return text;
}

/* Room for a whole text: two paths of PATH_MAX at most, which are behind one another in one sentence. */
enum { WHOLE_BYTES = 8960, WORD_BYTES_MIN = 24 };
static const char CUT[] = "…";

/* Where a character begins at or before `at`. */
static size_t character_begin(const char *text, size_t at)
{
	while (at > 0 && ((unsigned char)text[at] & 0xc0u) == 0x80u)
		at--;
	return at;
}

/* Takes at least `bytes` bytes (and less than a character more) out of the middle of a word of `length`
 * bytes: a third of what stays is its beginning, because a path is told by its end. CUT is put there. */
static void shorten_word(char *text, size_t word, size_t length, size_t bytes)
{
	size_t begin = character_begin(text, word + (length - bytes) / 3);
	size_t end = begin + bytes + strlen(CUT);
	while (((unsigned char)text[end] & 0xc0u) == 0x80u)
		end++;
	memmove(text + begin + strlen(CUT), text + end, strlen(text + end) + 1);
	memcpy(text + begin, CUT, strlen(CUT));
}

/* The longest word; returns its length. */
static size_t longest_word(const char *text, size_t *word)
{
	size_t longest = 0;
	for (size_t at = 0; text[at] != '\0';) {
		size_t length = strcspn(text + at, " ");
		if (length > longest) {
			longest = length;
			*word = at;
		}
		at += length + strspn(text + at + length, " ");
	}
	return longest;
}

/* Shortens words until the text has at most `most` bytes; without long words, the whole as one word. */
static void shorten_text(char *text, size_t most)
{
	size_t length, word = 0;
	while ((length = strlen(text)) > most) {
		size_t over = length - most, longest = longest_word(text, &word);
		if (longest > WORD_BYTES_MIN + strlen(CUT))
			shorten_word(text, word, longest,
				     MIN_OF(over, longest - WORD_BYTES_MIN - strlen(CUT)));
		else
			shorten_word(text, 0, length, over);
	}
}

enum status reason_set_list(struct reason *why, enum status status, int64_t index,
			    const char *field, const char *format, va_list arguments)
{
	char text[WHOLE_BYTES];
	if (why == NULL)
		return status;
	vsnprintf(text, sizeof text, format, arguments);
	utf8_mend(text);
	shorten_text(text, sizeof why->text - 1);
	/* Not before: parts of the text may be parts of `why`. */
	why->status = status;
	why->index = index;
	snprintf(why->field, sizeof why->field, "%s", field);
	memcpy(why->text, text, strlen(text) + 1);
	utf8_mend(why->field);
	return status;
}

enum status reason_set(struct reason *why, enum status status, int64_t index, const char *field,
		       const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	status = reason_set_list(why, status, index, field, format, arguments);
	va_end(arguments);
	return status;
}
