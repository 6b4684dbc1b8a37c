/* See shape_text.h. */
#include "clients/lib/shape_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int numbers_text_parse(const char *text, double *values, uint32_t capacity)
{
	uint32_t count = 0;
	for (;;) {
		char *end;
		double value = strtod(text, &end);
		if (end == text || count == capacity || !isfinite(value))
			return -1;
		values[count++] = value;
		if (*end == '\0')
			return (int)count;
		if (*end != ',')
			return -1;
		text = end + 1;
	}
}

/* ---- shapes -------------------------------------------------------------------------------------- */

enum { HULL_NUMBERS_MAX = 768, CAPSULE = 2, BOX = 3, ROUNDED = 9, ELLIPSOID = 12 };

/* table: kinds of shapes by name: their number in canonical bytes, and how many numbers follow the
 * colon. */
static const struct {
	const char *name;
	uint8_t kind;
	int numbers; /* −1: a multiple of three */
} kinds[] = {
	{ "sphere", 1, 1 },    { "capsule", CAPSULE, 2 }, { "box", BOX, 3 },
	{ "hull", 4, -1 },     { "plane", 5, 4 },	  { "rounded", ROUNDED, 4 },
	{ "cylinder", 10, 2 }, { "cone", 11, 2 },	  { "ellipsoid", ELLIPSOID, 3 },
};

/* KIND:length=L,radius=R, the words of scenes; false: the text is something else. */
static bool parse_named_round(const char *colon, double numbers[2])
{
	char *end;
	if (strncmp(colon, ":length=", 8) != 0)
		return false;
	numbers[0] = strtod(colon + 8, &end) / 2;
	if (strncmp(end, ",radius=", 8) != 0)
		return false;
	const char *radius = end + 8;
	numbers[1] = strtod(radius, &end);
	return end > radius && *end == '\0' && isfinite(numbers[0]) && isfinite(numbers[1]);
}

enum status shape_text_parse(const char *text, struct bytes *canonical, struct reason *why)
{
	double numbers[HULL_NUMBERS_MAX];
	const char *colon = strchr(text, ':');
	size_t length = colon != NULL ? (size_t)(colon - text) : 0;
	for (size_t k = 0; k < COUNT_OF(kinds); k++) {
		if (length != strlen(kinds[k].name) || strncmp(text, kinds[k].name, length) != 0)
			continue;
		int count = kinds[k].numbers == 2 && parse_named_round(colon, numbers)
				    ? 2
				    : numbers_text_parse(colon + 1, numbers, HULL_NUMBERS_MAX);
		bool fits = kinds[k].numbers >= 0 ? count == kinds[k].numbers
						  : count > 0 && count % 3 == 0;
		if (!fits)
			break;
		/* Boxes and ellipsoids are given by full sizes; canonical bytes contain half sizes. */
		bool sizes = kinds[k].kind == BOX || kinds[k].kind == ROUNDED ||
			     kinds[k].kind == ELLIPSOID;
		for (int i = 0; sizes && i < 3; i++)
			numbers[i] /= 2;
		struct writer writer = writer_into(canonical);
		write_u8(&writer, kinds[k].kind);
		write_u8(&writer, 1);
		if (kinds[k].numbers < 0)
			write_u32(&writer, (uint32_t)count / 3);
		if (kinds[k].kind == ROUNDED) {
			/* The radius, which is given last, comes first. */
			write_u8(&writer, 1);
			write_u8(&writer, 0);
			write_f64(&writer, numbers[--count]);
		}
		for (int i = 0; i < count; i++)
			write_f64(&writer, numbers[i]);
		if (writer_status(&writer) == STATUS_OK)
			return STATUS_OK;
	}
	return reason_set(
		why, STATUS_TYPE, -1, "shape",
		"shape %s is not one of sphere:R capsule:length=L,radius=R box:X,Y,Z hull:X,Y,Z,… "
		"plane:NX,NY,NZ,D rounded:X,Y,Z,R cylinder:length=L,radius=R cone:length=L,radius=R "
		"ellipsoid:X,Y,Z",
		text);
}
