/* notes.c: a short list; a note is found by its key. */
#include "protocol/scene/robot/notes.h"

#include <stdarg.h>
#include <stdio.h>

#include "server/base/utf8.h"

void notes_add(struct notes *self, const void *key, const char *file, uint32_t line,
	       const char *format, ...)
{
	ASSERT(key != NULL);
	for (uint32_t i = 0; i < self->list.count; i++)
		if (self->list.items[i].key == key) {
			self->list.items[i].more++;
			return;
		}
	if (self->list.count == NOTES_MAX ||
	    ARRAY_RESERVE(&self->list, (uint64_t)self->list.count + 1) != STATUS_OK) {
		self->full = true;
		return;
	}
	struct note *note = &self->list.items[self->list.count++];
	*note = (struct note){ .key = key, .file = file, .line = line };
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(note->text, sizeof note->text, format, arguments);
	va_end(arguments);
	utf8_mend(note->text);
}

char *notes_text(const struct notes *self, const char *prefix)
{
	size_t room = 256, used = 0;
	for (uint32_t i = 0; i < self->list.count; i++)
		room += NOTE_BYTES + strlen(prefix) + strlen(self->list.items[i].file) + 64;
	char *text = heap_alloc(room);
	if (text == NULL)
		return NULL;
	text[0] = '\0';
	for (uint32_t i = 0; i < self->list.count; i++) {
		const struct note *note = &self->list.items[i];
		used += (size_t)snprintf(text + used, room - used, "%s%s:%u: %s", prefix,
					 note->file, (unsigned)note->line, note->text);
		if (note->more > 0)
			used += (size_t)snprintf(text + used, room - used, " (and %u more)",
						 (unsigned)note->more);
		used += (size_t)snprintf(text + used, room - used, "\n");
	}
	if (self->full)
		snprintf(text + used, room - used, "%smore is not taken; the first %u are listed\n",
			 prefix, (unsigned)self->list.count);
	return text;
}

void notes_release(struct notes *self)
{
	ARRAY_RELEASE(&self->list);
}
