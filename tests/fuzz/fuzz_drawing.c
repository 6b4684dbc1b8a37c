/* fuzz_drawing.c: arbitrary bytes as the SVG file of `cairnd pack`. It is refused with a status and a
 * message that names the file, and leaves nothing allocated; or what is written for the places that were
 * read is a drawing of the same outlines. */
#include "server/commands/pack_svg.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "server/base/heap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { PATH_BYTES = 40 };

/* A file in memory; returns its descriptor, and its path. */
static int memory_file(char path[PATH_BYTES])
{
	int file = memfd_create("drawing", MFD_CLOEXEC);
	ASSERT(file >= 0);
	snprintf(path, PATH_BYTES, "/proc/self/fd/%d", file);
	return file;
}

static vec2 place_of(const struct pack_shape *shape)
{
	return (vec2){ shape->parent.x + shape->own.x, shape->parent.y + shape->own.y };
}

/* The drawing is written as it is, and read again. */
static void check_written(const struct pack_svg *drawing)
{
	char path[PATH_BYTES];
	struct reason why;
	struct pack_svg again;
	vec2 *places = heap_alloc((drawing->shapes.count + 1u) * sizeof *places);
	ASSERT(places != NULL);
	for (uint32_t i = 0; i < drawing->shapes.count; i++)
		places[i] = place_of(&drawing->shapes.items[i]);
	int file = memory_file(path);
	const struct source source = { .file = path, .why = &why };
	FILE *out = fopen(path, "w");
	ASSERT(out != NULL);
	pack_svg_print(drawing, places, drawing->box[2], out);
	bool written = ferror(out) == 0;
	written &= fclose(out) == 0;
	ASSERT(written);
	enum status status = pack_svg_read(&again, &source);
	ASSERT(status == STATUS_OK);
	ASSERT(again.shapes.count == drawing->shapes.count);
	ASSERT(again.corners.count == drawing->corners.count);
	for (uint32_t i = 0; i < again.corners.count; i++)
		ASSERT(again.corners.items[i].x == drawing->corners.items[i].x &&
		       again.corners.items[i].y == drawing->corners.items[i].y);
	pack_svg_release(&again);
	close(file);
	heap_free(places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	int64_t live = heap_live();
	char path[PATH_BYTES];
	struct pack_svg drawing;
	struct reason why;
	int file = memory_file(path);
	const struct source source = { .file = path, .why = &why };
	ASSERT(write(file, data, bytes) == (ssize_t)bytes);
	memset(&why, 0xa5, sizeof why);
	enum status status = pack_svg_read(&drawing, &source);
	if (status == STATUS_OK) {
		check_written(&drawing);
	} else {
		ASSERT(why.status == status);
		ASSERT(strncmp(why.text, path, strlen(path)) == 0);
	}
	pack_svg_release(&drawing);
	close(file);
	ASSERT(heap_live() == live);
	return 0;
}
