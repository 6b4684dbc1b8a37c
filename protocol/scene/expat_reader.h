/* expat_reader.h: one run of expat over a text: refusals with their line, and a document type
 * refused, so that no entity but the five of XML expands and nothing outside the text is read. */
#ifndef CAIRN_PROTOCOL_SCENE_EXPAT_READER_H
#define CAIRN_PROTOCOL_SCENE_EXPAT_READER_H

#include <expat.h>

#include "protocol/scene/yaml.h"
#include "server/base/arena.h"

struct expat_reader {
	const struct source *source; /* borrowed: of error texts */
	XML_Parser parser;	     /* during the run */
	enum status status;
	void *user;	      /* of the handlers */
	const char *encoding; /* in place of the one that the text declares; NULL: that */
};

/* Handlers get the reader. */
struct expat_handlers {
	XML_StartElementHandler start;
	XML_EndElementHandler end;
};

/* Runs over the text. The status of a handler's expat_stop; MALFORMED with expat's words; UNSUPPORTED: a
 * document type; NO_MEMORY. */
MUST_CHECK enum status expat_run(struct expat_reader *self, const struct expat_handlers *handlers,
				 const char *text, size_t bytes);
/* Ends the run with a status, of several the first. */
void expat_stop(struct expat_reader *self, enum status status);
uint32_t expat_line(const struct expat_reader *self);
/* A copy of a text; NULL: no memory. */
const char *expat_copy(struct arena *arena, const char *text);

#endif
