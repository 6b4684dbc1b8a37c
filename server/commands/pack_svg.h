/* pack_svg.h: the outlines of an SVG file for `cairnd pack`, and the file again with other places.
 *
 * `polygon`, `rect`, and `path` of straight lines in one closed outline are read, with `transform` of
 * translations. Groups are walked; `defs`, `metadata`, `style`, `title`, `desc` and elements of other
 * programs are left as they are. Every other shape is refused with its line, because it would be in the way
 * of what moves. The written file is the text that was read; only the tags of moved shapes have another
 * `transform`, and the root's tag another `viewBox` and `width`.
 */
#ifndef CAIRN_COMMANDS_PACK_SVG_H
#define CAIRN_COMMANDS_PACK_SVG_H

#include <stdio.h>

#include "protocol/scene/yaml.h"
#include "server/base/arena.h"
#include "server/base/array.h"
#include "server/engine/packing/packing.h"

enum { PACK_SVG_DEPTH_MAX = 256 };

struct pack_attribute {
	const char *name, *value;
	struct pack_attribute *next;
};

/* A start tag of the text. */
struct pack_tag {
	const char *name;
	struct pack_attribute *attributes;
	size_t first, bytes;
	uint32_t line;
};

struct pack_shape {
	struct pack_tag tag;
	uint32_t first, count; /* corners */
	vec2 parent;	       /* translation of the groups around it */
	vec2 own;	       /* and of itself */
};

struct pack_svg {
	char *text; /* owned */
	size_t bytes;
	struct arena arena; /* names and attributes */
	struct pack_tag root;
	bool has_box; /* viewBox is given */
	double box[4];
	ARRAY_OF(struct pack_shape) shapes;
	ARRAY_OF(vec2) corners;
};

/* Errors name the line: MALFORMED, UNSUPPORTED, TOO_DEEP, TOO_LARGE, LIMIT, MISSING, NO_MEMORY, IO. To be
 * released in any case. */
MUST_CHECK enum status pack_svg_read(struct pack_svg *self, const struct source *source);
/* `places`: parent + own translation of each shape now. `length`: the viewBox's width. */
void pack_svg_print(const struct pack_svg *self, const vec2 *places, double length, FILE *file);
void pack_svg_release(struct pack_svg *self);

#endif
