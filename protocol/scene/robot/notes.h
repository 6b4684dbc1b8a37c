/* notes.h: what a robot file asked for and does not get, by line, each once with the number of
 * its repetitions. */
#ifndef CAIRN_PROTOCOL_SCENE_ROBOT_NOTES_H
#define CAIRN_PROTOCOL_SCENE_ROBOT_NOTES_H

#include "protocol/scene/yaml.h"
#include "server/base/array.h"

enum { NOTE_BYTES = 200, NOTES_MAX = 256 };

struct note {
	const void *key; /* notes with an equal key are one */
	const char *file;
	uint32_t line, more;
	char text[NOTE_BYTES];
};
struct notes {
	ARRAY_OF(struct note) list;
	bool full; /* some are missing: the list was full, or there was no memory */
};

/* Adds a note, or counts it if there is one with its key. `file` is borrowed. */
void notes_add(struct notes *self, const void *key, const char *file, uint32_t line,
	       const char *format, ...) PRINTF_LIKE(5, 6);
/* Lines "PREFIX FILE:LINE: TEXT (and N more)", each ended by a line feed; returned owned,
 * NULL: no memory. */
MUST_CHECK char *notes_text(const struct notes *self, const char *prefix);
void notes_release(struct notes *self);

#endif
