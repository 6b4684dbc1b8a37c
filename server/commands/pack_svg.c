/* See pack_svg.h. Expat finds the tags and their bytes; a document type is refused, so that no entity expands
 * and nothing outside the file is read. */
#include "server/commands/pack_svg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/scene/expat_reader.h"
#include "protocol/scene/files.h"
#include "server/base/heap.h"

struct svg_reading {
	struct pack_svg *svg;
	const struct source *source;
	struct expat_reader reader;
	uint32_t depth;
	uint32_t skipped; /* depth of the element whose contents are not read; 0: none */
	bool in_shape;	  /* that element is a shape */
	vec2 moved[PACK_SVG_DEPTH_MAX + 1]; /* by depth: translation of the groups */
};

/* ---- numbers ----------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Whether the end of a number stands at `text`: how many bytes it has; 0: none. */
static size_t number_bytes(const char *text)
{
	size_t at = text[0] == '+' || text[0] == '-', digits = 0;
	for (; is_digit(text[at]); at++)
		digits++;
	at += text[at] == '.';
	for (; is_digit(text[at]); at++)
		digits++;
	if (digits == 0)
		return 0;
	size_t exponent = at + 1;
	if (text[at] == 'e' || text[at] == 'E') {
		exponent += text[exponent] == '+' || text[exponent] == '-';
		while (is_digit(text[exponent]))
			at = ++exponent;
	}
	return at;
}

static void skip_blanks(const char **at, bool comma)
{
	while (**at == ' ' || **at == '\t' || **at == '\n' || **at == '\r' ||
	       (comma && **at == ',')) {
		comma &= **at != ',';
		(*at)++;
	}
}

/* The next number and the blanks and comma after it. What is none stays where it is. */
static bool take_number(const char **at, double *value)
{
	enum { NUMBER_BYTES = 128 };
	char copy[NUMBER_BYTES];
	skip_blanks(at, false);
	size_t bytes = number_bytes(*at);
	if (bytes == 0 || bytes >= sizeof copy)
		return false;
	memcpy(copy, *at, bytes);
	copy[bytes] = '\0';
	*value = strtod(copy, NULL);
	if (!(*value >= -2 * PACKING_COORDINATE_MAX && *value <= 2 * PACKING_COORDINATE_MAX))
		return false;
	*at += bytes;
	skip_blanks(at, true);
	return true;
}

/* ---- tags -------------------------------------------------------------------------------------- */

static const char *attribute_of(const struct pack_tag *tag, const char *name)
{
	for (const struct pack_attribute *at = tag->attributes; at != NULL; at = at->next)
		if (strcmp(at->name, name) == 0)
			return at->value;
	return NULL;
}

static enum status copy_tag(struct svg_reading *self, const char *name, const char **pairs,
			    struct pack_tag *tag)
{
	struct arena *arena = &self->svg->arena;
	struct pack_attribute **end = &tag->attributes;
	*tag = (struct pack_tag){ .name = expat_copy(arena, name),
				  .line = expat_line(&self->reader) };
	tag->first = (size_t)XML_GetCurrentByteIndex(self->reader.parser);
	tag->bytes = (size_t)XML_GetCurrentByteCount(self->reader.parser);
	ASSERT(tag->first + tag->bytes <= self->svg->bytes);
	for (; pairs[0] != NULL && tag->name != NULL; pairs += 2) {
		struct pack_attribute *attribute = arena_push_zero(arena, sizeof *attribute);
		if (attribute == NULL)
			return source_no_memory(self->source);
		attribute->name = expat_copy(arena, pairs[0]);
		attribute->value = expat_copy(arena, pairs[1]);
		if (attribute->name == NULL || attribute->value == NULL)
			return source_no_memory(self->source);
		*end = attribute;
		end = &attribute->next;
	}
	return tag->name != NULL ? STATUS_OK : source_no_memory(self->source);
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether the text begins with the name in letters of either case. */
static bool begins_with(const char *text, size_t bytes, const char *name)
{
	size_t length = strlen(name);
	for (size_t i = 0; i < length; i++)
		if (i == bytes || lower(text[i]) != name[i])
			return false;
	return true;
}

/* What in a style of `bytes` bytes may move or resize outlines: such a property, or an escape, a reference or
 * an import, which may stand for one. NULL: nothing. */
static const char *moving_property(const char *text, size_t bytes)
{
	static const char *const names[] = { "transform", "translate", "rotate", "scale",
					     "offset-path" };
	for (size_t at = 0; at < bytes; at++) {
		bool begins = at == 0 || strchr(" \t\r\n;{/\"'", text[at - 1]) != NULL;
		if (text[at] == '\\' || text[at] == '&')
			return text[at] == '&' ? "&" : "\\";
		if (begins_with(text + at, bytes - at, "@import"))
			return "@import";
		for (uint32_t i = 0; begins && i < COUNT_OF(names); i++) {
			size_t end = at + strlen(names[i]);
			if (!begins_with(text + at, bytes - at, names[i]))
				continue;
			while (end < bytes && strchr(" \t\r\n/", text[end]) != NULL)
				end++;
			if (end < bytes && (text[end] == ':' || text[end] == '*'))
				return names[i];
		}
	}
	return NULL;
}

static enum status refuse_style(const struct svg_reading *self, const char *property)
{
	return source_fail(self->source, expat_line(&self->reader), STATUS_UNSUPPORTED, "style",
			   "a style with '%s' may move outlines and is not read; apply it to "
			   "the points first",
			   property);
}

/* The contents of a style element, as they stand in the file. */
static enum status check_sheet(const struct svg_reading *self)
{
	static const char END[] = "</";
	size_t first = (size_t)XML_GetCurrentByteIndex(self->reader.parser), end = first;
	ASSERT(first <= self->svg->bytes);
	while (end + 1 < self->svg->bytes && strncmp(self->svg->text + end, END, 2) != 0)
		end++;
	const char *property = moving_property(self->svg->text + first, end - first);
	return property != NULL ? refuse_style(self, property) : STATUS_OK;
}

/* A clip or a mask of a group stays where it is while its shapes move; one of a shape moves with it. */
static enum status check_clip(const struct svg_reading *self, const struct pack_tag *tag)
{
	static const char *const names[] = { "clip-path", "mask" };
	const char *style = attribute_of(tag, "style");
	for (uint32_t i = 0; i < COUNT_OF(names); i++) {
		const char *value = attribute_of(tag, names[i]);
		if ((value != NULL && strcmp(value, "none") != 0) ||
		    (style != NULL && strstr(style, names[i]) != NULL))
			return source_fail(
				self->source, tag->line, STATUS_UNSUPPORTED, names[i],
				"of <%.20s> stays where it is while its shapes move; put "
				"it on each shape",
				tag->name);
	}
	return STATUS_OK;
}

/* "translate(x)" and "translate(x, y)", any number of them. */
static enum status read_transform(const struct svg_reading *self, const struct pack_tag *tag,
				  vec2 *moved)
{
	static const char word[] = "translate";
	const char *text = attribute_of(tag, "transform"), *at = text != NULL ? text : "";
	const char *style = attribute_of(tag, "style");
	const char *property = style != NULL ? moving_property(style, strlen(style)) : NULL;
	*moved = vec2_zero();
	if (property != NULL)
		return refuse_style(self, property);
	skip_blanks(&at, false);
	while (*at != '\0') {
		vec2 by = vec2_zero();
		bool good = strncmp(at, word, sizeof word - 1) == 0;
		at += good ? sizeof word - 1 : 0;
		skip_blanks(&at, false);
		good = good && *at++ == '(' && take_number(&at, &by.x);
		if (good && *at != ')')
			good = take_number(&at, &by.y);
		if (!good || *at++ != ')')
			return source_fail(
				self->source, tag->line, STATUS_UNSUPPORTED, "transform",
				"'%.60s' of <%.20s>: only translate(x, y) is read; apply "
				"other transforms to the points first",
				text, tag->name);
		*moved = vec2_add(*moved, by);
		skip_blanks(&at, true);
	}
	return STATUS_OK;
}

/* ---- outlines ---------------------------------------------------------------------------------- */

static enum status add_corner(struct svg_reading *self, const struct pack_tag *tag, vec2 corner)
{
	struct pack_svg *svg = self->svg;
	if (svg->corners.count == PACKING_CORNERS_ALL)
		return source_fail(self->source, tag->line, STATUS_LIMIT, "points",
				   "the file has more than %d corners", PACKING_CORNERS_ALL);
	if (ARRAY_RESERVE(&svg->corners, svg->corners.count + UINT64_C(1)) != STATUS_OK)
		return source_no_memory(self->source);
	svg->corners.items[svg->corners.count++] = corner;
	return STATUS_OK;
}

static enum status refuse_number(const struct svg_reading *self, const struct pack_tag *tag,
				 const char *name, const char *text, const char *at)
{
	ASSERT(at >= text);
	return source_fail(self->source, tag->line, STATUS_MALFORMED, name,
			   "byte %zu, at '%.20s': a number within ±%g is missing",
			   (size_t)(at - text) + 1, at, 2 * PACKING_COORDINATE_MAX);
}

static enum status read_polygon(struct svg_reading *self, const struct pack_tag *tag)
{
	const char *text = attribute_of(tag, "points"), *at = text != NULL ? text : "";
	enum status status = STATUS_OK;
	skip_blanks(&at, false);
	while (*at != '\0' && status == STATUS_OK) {
		vec2 corner;
		status = take_number(&at, &corner.x) && take_number(&at, &corner.y)
				 ? add_corner(self, tag, corner)
				 : refuse_number(self, tag, "points", text, at);
	}
	return status;
}

static enum status read_rect(struct svg_reading *self, const struct pack_tag *tag)
{
	static const char *const names[] = { "x", "y", "width", "height", "rx", "ry" };
	double values[COUNT_OF(names)] = { 0 };
	for (uint32_t i = 0; i < COUNT_OF(names); i++) {
		const char *text = attribute_of(tag, names[i]), *at = text;
		if (text != NULL && (!take_number(&at, &values[i]) || *at != '\0'))
			return refuse_number(self, tag, names[i], text, at);
	}
	if (values[2] < 0 || values[3] < 0)
		return source_fail(self->source, tag->line, STATUS_RANGE,
				   values[2] < 0 ? "width" : "height",
				   "%g of <%.20s>: it must be at least 0",
				   values[2] < 0 ? values[2] : values[3], tag->name);
	if (values[4] != 0 || values[5] != 0)
		return source_fail(self->source, tag->line, STATUS_UNSUPPORTED, "rx",
				   "a rect with round corners is not read; make it a polygon");
	vec2 low = vec2_make(values[0], values[1]);
	vec2 high = vec2_add(low, vec2_make(values[2], values[3]));
	const vec2 corners[] = { low, { high.x, low.y }, high, { low.x, high.y } };
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < COUNT_OF(corners) && status == STATUS_OK; i++)
		status = add_corner(self, tag, corners[i]);
	return status;
}

/* Reads the point of a command other than Z. */
static bool take_point(const char **at, char command, vec2 *pen)
{
	bool relative = command >= 'a';
	vec2 to = vec2_zero();
	char kind = relative ? (char)(command - 'a' + 'A') : command;
	if (kind == 'H' || kind == 'V') {
		double value;
		if (!take_number(at, &value))
			return false;
		to = kind == 'H' ? vec2_make(value, relative ? 0 : pen->y)
				 : vec2_make(relative ? 0 : pen->x, value);
	} else if (!take_number(at, &to.x) || !take_number(at, &to.y)) {
		return false;
	}
	*pen = relative ? vec2_add(*pen, to) : to;
	return true;
}

static enum status refuse_path(const struct svg_reading *self, const struct pack_tag *tag,
			       char command)
{
	if (command == 'M' || command == 'm')
		return source_fail(self->source, tag->line, STATUS_UNSUPPORTED, "d",
				   "the path has a second outline (a hole?); one is packed: divide "
				   "the path, or leave the hole out");
	return source_fail(
		self->source, tag->line, STATUS_UNSUPPORTED, "d",
		"'%.1s' in a path; M, L, H, V and Z are read: flatten curves to straight "
		"lines first",
		(char[]){ command, '\0' });
}

static enum status read_path(struct svg_reading *self, const struct pack_tag *tag)
{
	const char *text = attribute_of(tag, "d"), *at = text != NULL ? text : "";
	char command = '\0';
	vec2 pen = vec2_zero();
	enum status status = STATUS_OK;
	skip_blanks(&at, false);
	while (*at != '\0' && status == STATUS_OK) {
		bool named = number_bytes(at) == 0, first = command == '\0';
		char next = named ? *at++ : command == 'M' ? 'L' : command == 'm' ? 'l' : command;
		bool closed = command == 'Z' || command == 'z';
		if (next == '\0' || strchr("MmLlHhVvZz", next) == NULL ||
		    first != (next == 'M' || next == 'm') || closed)
			return refuse_path(self, tag, closed ? 'M' : next);
		command = next;
		if (command == 'Z' || command == 'z')
			skip_blanks(&at, false);
		else
			status = take_point(&at, command, &pen)
					 ? add_corner(self, tag, pen)
					 : refuse_number(self, tag, "d", text, at);
	}
	return status;
}

/* ---- elements ---------------------------------------------------------------------------------- */

/* The name without the prefix that the file gives SVG; NULL: of another program. */
static const char *svg_name(const char *name)
{
	const char *colon = strchr(name, ':');
	if (colon == NULL)
		return name;
	return strncmp(name, "svg:", 4) == 0 ? colon + 1 : NULL;
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static enum status add_shape(struct svg_reading *self, const char *kind, const struct pack_tag *tag)
{
	struct pack_svg *svg = self->svg;
	struct pack_shape shape = { .tag = *tag,
				    .first = svg->corners.count,
				    .parent = self->moved[self->depth - 1] };
	if (svg->shapes.count == PACKING_POLYGONS_MAX)
		return source_fail(self->source, tag->line, STATUS_LIMIT, "svg",
				   "the file has more than %d shapes", PACKING_POLYGONS_MAX);
	enum status status = read_transform(self, tag, &shape.own);
	if (status == STATUS_OK)
		status = strcmp(kind, "polygon") == 0 ? read_polygon(self, tag)
			 : strcmp(kind, "rect") == 0  ? read_rect(self, tag)
						      : read_path(self, tag);
	if (status != STATUS_OK)
		return status;
	if (ARRAY_RESERVE(&svg->shapes, svg->shapes.count + UINT64_C(1)) != STATUS_OK)
		return source_no_memory(self->source);
	shape.count = svg->corners.count - shape.first;
	svg->shapes.items[svg->shapes.count++] = shape;
	return STATUS_OK;
}

static enum status read_root(struct svg_reading *self, const char *kind, const struct pack_tag *tag)
{
	struct pack_svg *svg = self->svg;
	const char *text = attribute_of(tag, "viewBox"), *at = text;
	if (kind == NULL || strcmp(kind, "svg") != 0)
		return source_fail(self->source, tag->line, STATUS_MALFORMED, "svg",
				   "the file begins with <%.20s>; an SVG file begins with <svg>",
				   tag->name);
	if (attribute_of(tag, "transform") != NULL)
		return source_fail(self->source, tag->line, STATUS_UNSUPPORTED, "transform",
				   "of the root is not read; move it to a group");
	static const char SHEET[] = "<?xml-stylesheet";
	for (size_t i = 0; i + sizeof SHEET <= tag->first; i++)
		if (strncmp(svg->text + i, SHEET, sizeof SHEET - 1) == 0)
			return refuse_style(self, SHEET + 2);
	enum status status = check_clip(self, tag);
	if (status != STATUS_OK)
		return status;
	svg->root = *tag;
	svg->has_box = text != NULL;
	for (uint32_t i = 0; svg->has_box && i < 4; i++)
		if (!take_number(&at, &svg->box[i]))
			return refuse_number(self, tag, "viewBox", text, at);
	if (svg->has_box && (*at != '\0' || !(svg->box[2] > 0) || !(svg->box[3] > 0)))
		return source_fail(self->source, tag->line, STATUS_RANGE, "viewBox",
				   "'%.40s' must be four numbers, width and height above 0", text);
	return STATUS_OK;
}

static const char *const animations[] = { "animate", "animateMotion", "animateTransform", "set" };

static enum status refuse_animation(const struct svg_reading *self, const char *name)
{
	return source_fail(self->source, expat_line(&self->reader), STATUS_UNSUPPORTED, "svg",
			   "<%.20s> may move outlines and is not read; remove it", name);
}

/* Of what is in a shape, texts about it do not matter. */
static enum status read_in_shape(const struct svg_reading *self, const char *name)
{
	const char *kind = svg_name(name);
	return kind != NULL && is_one_of(kind, animations, COUNT_OF(animations))
		       ? refuse_animation(self, name)
		       : STATUS_OK;
}

static enum status read_element(struct svg_reading *self, const char *name, const char **pairs)
{
	static const char *const ignored[] = { "defs", "metadata", "style", "title", "desc" };
	static const char *const shapes[] = { "polygon", "rect", "path" };
	const char *kind = svg_name(name);
	struct pack_tag tag;
	enum status status = copy_tag(self, name, pairs, &tag);
	if (status != STATUS_OK)
		return status;
	self->moved[self->depth] = self->depth > 0 ? self->moved[self->depth - 1] : vec2_zero();
	if (self->depth == 1)
		return read_root(self, kind, &tag);
	if (kind == NULL || is_one_of(kind, ignored, COUNT_OF(ignored))) {
		self->skipped = self->depth;
		return kind != NULL && strcmp(kind, "style") == 0 ? check_sheet(self) : STATUS_OK;
	}
	if (is_one_of(kind, shapes, COUNT_OF(shapes))) {
		self->skipped = self->depth;
		self->in_shape = true;
		return add_shape(self, kind, &tag);
	}
	if (is_one_of(kind, animations, COUNT_OF(animations)))
		return refuse_animation(self, name);
	if (strcmp(kind, "g") != 0 && strcmp(kind, "a") != 0)
		return source_fail(
			self->source, tag.line, STATUS_UNSUPPORTED, "svg",
			"<%.20s> cannot be packed; make it a polygon or a path of straight "
			"lines, or remove it",
			name);
	vec2 moved;
	status = check_clip(self, &tag);
	if (status == STATUS_OK)
		status = read_transform(self, &tag, &moved);
	if (status == STATUS_OK)
		self->moved[self->depth] = vec2_add(self->moved[self->depth], moved);
	return status;
}

static void XMLCALL take_start(void *context, const char *name, const char **pairs)
{
	struct svg_reading *self = ((struct expat_reader *)context)->user;
	self->depth++;
	if (self->reader.status != STATUS_OK || (self->skipped != 0 && !self->in_shape))
		return;
	enum status status =
		self->skipped != 0 ? read_in_shape(self, name)
		: self->depth > PACK_SVG_DEPTH_MAX
			? source_fail(self->source, expat_line(&self->reader), STATUS_TOO_DEEP,
				      "svg", "elements are nested more than %d levels deep",
				      PACK_SVG_DEPTH_MAX)
			: read_element(self, name, pairs);
	if (status != STATUS_OK)
		expat_stop(&self->reader, status);
}

static void XMLCALL take_end(void *context, const char *name)
{
	struct svg_reading *self = ((struct expat_reader *)context)->user;
	UNUSED(name);
	if (self->skipped == self->depth) {
		self->skipped = 0;
		self->in_shape = false;
	}
	self->depth--;
}

/* ---- reading ----------------------------------------------------------------------------------- */

enum status pack_svg_read(struct pack_svg *self, const struct source *source)
{
	static const struct expat_handlers handlers = { take_start, take_end };
	struct svg_reading reading = { .svg = self, .source = source };
	*self = (struct pack_svg){ .text = NULL };
	enum status status = scene_file_read(source, &self->text, &self->bytes);
	if (status != STATUS_OK) {
		self->text = NULL;
		return status;
	}
	if (self->bytes > YAML_BYTES_MAX)
		return source_fail(source, 1, STATUS_TOO_LARGE, "svg",
				   "the file has more than %d bytes", YAML_BYTES_MAX);
	status = arena_init(&self->arena, 0);
	if (status != STATUS_OK)
		return source_no_memory(source);
	/* Whatever the file declares: bytes of the text are counted as UTF-8. */
	reading.reader =
		(struct expat_reader){ .source = source, .user = &reading, .encoding = "UTF-8" };
	status = expat_run(&reading.reader, &handlers, self->text, self->bytes);
	if (status == STATUS_OK && self->shapes.count == 0)
		return source_fail(source, 1, STATUS_MISSING, "svg",
				   "the file has no polygon, rect or path");
	return status;
}

void pack_svg_release(struct pack_svg *self)
{
	arena_release(&self->arena);
	ARRAY_RELEASE(&self->shapes);
	ARRAY_RELEASE(&self->corners);
	heap_free(self->text);
	*self = (struct pack_svg){ .text = NULL };
}

/* ---- writing ----------------------------------------------------------------------------------- */

static void write_value(FILE *file, const char *name, const char *value)
{
	fprintf(file, " %s=\"", name);
	for (; *value != '\0'; value++) {
		unsigned char c = (unsigned char)*value;
		if (c == '&' || c == '<' || c == '"' || c < ' ')
			fprintf(file, "&#%u;", c);
		else
			fputc(c, file);
	}
	fputc('"', file);
}

/* A tag again, with other values of up to two attributes (NULL: none). */
static void write_tag(const struct pack_svg *self, const struct pack_tag *tag,
		      const char *const names[2], const char *const values[2], FILE *file)
{
	bool written[2] = { false, false };
	fprintf(file, "<%s", tag->name);
	for (const struct pack_attribute *at = tag->attributes; at != NULL; at = at->next) {
		const char *value = at->value;
		for (uint32_t i = 0; i < 2; i++)
			if (values[i] != NULL && strcmp(at->name, names[i]) == 0) {
				value = values[i];
				written[i] = true;
			}
		write_value(file, at->name, value);
	}
	for (uint32_t i = 0; i < 2; i++)
		if (values[i] != NULL && !written[i])
			write_value(file, names[i], values[i]);
	fputs(self->text[tag->first + tag->bytes - 2] == '/' ? "/>" : ">", file);
}

/* The root's box has the new length; a width that is a number with a unit shrinks in the same ratio. */
static void write_root(const struct pack_svg *self, double length, FILE *file)
{
	enum { VALUE_BYTES = 160 };
	static const char *const names[2] = { "viewBox", "width" };
	char box[VALUE_BYTES], width[VALUE_BYTES];
	const char *text = attribute_of(&self->root, "width"), *unit = text;
	double value = 0;
	bool scaled = self->has_box && text != NULL && take_number(&unit, &value) &&
		      strlen(unit) < 8 && unit[0] != '%';
	snprintf(box, sizeof box, "%.17g %.17g %.17g %.17g", self->box[0], self->box[1], length,
		 self->box[3]);
	snprintf(width, sizeof width, "%.9g%s", value * length / self->box[2], scaled ? unit : "");
	const char *const values[2] = { self->has_box ? box : NULL, scaled ? width : NULL };
	write_tag(self, &self->root, names, values, file);
}

static void write_shape(const struct pack_svg *self, const struct pack_shape *shape, vec2 place,
			FILE *file)
{
	static const char *const names[2] = { "transform", "transform" };
	char transform[80];
	vec2 own = vec2_sub(place, shape->parent);
	snprintf(transform, sizeof transform, "translate(%.17g %.17g)", own.x, own.y);
	const char *const values[2] = { transform, NULL };
	write_tag(self, &shape->tag, names, values, file);
}

enum status pack_svg_write(const struct pack_svg *self, const vec2 *places, double length,
			   const char *path, struct reason *why)
{
	FILE *file = fopen(path, "wb");
	if (file == NULL)
		return reason_set(why, STATUS_IO, -1, "file", "%s cannot be written", path);
	size_t at = self->root.first;
	fwrite(self->text, 1, at, file);
	write_root(self, length, file);
	at += self->root.bytes;
	for (uint32_t i = 0; i < self->shapes.count; i++) {
		const struct pack_shape *shape = &self->shapes.items[i];
		ASSERT(shape->tag.first >= at);
		fwrite(self->text + at, 1, shape->tag.first - at, file);
		write_shape(self, shape, places[i], file);
		at = shape->tag.first + shape->tag.bytes;
	}
	fwrite(self->text + at, 1, self->bytes - at, file);
	bool failed = ferror(file) != 0;
	failed |= fclose(file) != 0;
	return failed ? reason_set(why, STATUS_IO, -1, "file", "%s could not be written", path)
		      : STATUS_OK;
}
