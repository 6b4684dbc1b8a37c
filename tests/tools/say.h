/* say.h: cells of the tables that docs_tables and scene_tables print. */
#ifndef CAIRN_TESTS_TOOLS_SAY_H
#define CAIRN_TESTS_TOOLS_SAY_H

#include <math.h>
#include <stdio.h>

/* Prints the text of a table cell; a bar is escaped, because it would end the cell. */
static inline void say_cell(const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '|')
			putchar('\\');
		putchar(*text);
	}
}

static inline void say_number(double value)
{
	if (fabs(value) < 1e7 && value == floor(value))
		printf("%.0f", value);
	else
		printf("%.10g", value);
}

#endif
