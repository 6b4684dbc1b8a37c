/* See expat_reader.h. */
#include "protocol/scene/expat_reader.h"

#include <string.h>

#include "server/base/heap.h"

const char *expat_copy(struct arena *arena, const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *copy = arena_push(arena, bytes);
	return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}

void expat_stop(struct expat_reader *self, enum status status)
{
	ASSERT(status != STATUS_OK);
	if (self->status == STATUS_OK)
		self->status = status;
	(void)XML_StopParser(self->parser, XML_FALSE);
}

uint32_t expat_line(const struct expat_reader *self)
{
	return (uint32_t)XML_GetCurrentLineNumber(self->parser);
}

static void XMLCALL take_type(void *context, const char *name, const char *system,
			      const char *public, int subset)
{
	struct expat_reader *self = context;
	UNUSED(system);
	UNUSED(public);
	UNUSED(subset);
	expat_stop(self,
		   source_fail(self->source, expat_line(self), STATUS_UNSUPPORTED, "DOCTYPE",
			       "a document type ('%.32s') and entities are refused; remove them",
			       name));
}

static enum status run_parser(struct expat_reader *self, const char *text, size_t bytes)
{
	enum XML_Status parsed = XML_Parse(self->parser, text, (int)bytes, XML_TRUE);
	if (self->status != STATUS_OK)
		return self->status;
	if (parsed == XML_STATUS_OK)
		return STATUS_OK;
	enum XML_Error error = XML_GetErrorCode(self->parser);
	if (error == XML_ERROR_NO_MEMORY)
		return source_no_memory(self->source);
	return source_fail(self->source, expat_line(self), STATUS_MALFORMED, "xml", "%s",
			   XML_ErrorString(error));
}

enum status expat_run(struct expat_reader *self, const struct expat_handlers *handlers,
		      const char *text, size_t bytes)
{
	static const XML_Memory_Handling_Suite heap = { heap_alloc, heap_realloc, heap_free };
	self->status = STATUS_OK;
	self->parser = XML_ParserCreate_MM(self->encoding, &heap, NULL);
	if (self->parser == NULL)
		return source_no_memory(self->source);
	XML_SetUserData(self->parser, self);
	XML_SetElementHandler(self->parser, handlers->start, handlers->end);
	XML_SetStartDoctypeDeclHandler(self->parser, take_type);
	enum status status = run_parser(self, text, bytes);
	XML_ParserFree(self->parser);
	self->parser = NULL;
	return status;
}
