/* pages.h: writes a manual page in the man macros of roff to standard output. Texts are UTF-8;
 * what roff would read as a request or an escape is escaped. */
#ifndef CAIRN_PACKAGE_PAGES_H
#define CAIRN_PACKAGE_PAGES_H

#include "server/base/base.h"

/* The head, and the section NAME. */
void roff_title(const char *name, const char *section, const char *what);
void roff_section(const char *name);
void roff_subsection(const char *name);
void roff_paragraph(const char *text);
/* Lines that are not filled. */
void roff_code(const char *text);
/* A tagged paragraph: roff_item, the tag, roff_line, the text, roff_line. */
void roff_item(void);
void roff_entry(const char *tag, const char *text);
void roff_text(const char *text);
void roff_bold(const char *text);
void roff_italic(const char *text);
/* The text with a capital at the beginning and a full stop at the end. */
void roff_sentence(const char *text);
/* " From min to max." */
void roff_range(double min, double max);
void roff_line(void);
/* DESCRIPTION and FUNCTIONS from a header: its first comment, then each declaration of a
 * function (CAIRN_API) with the comment above it. Ends the program if the file cannot be read. */
void roff_header(const char *path);

#endif
