/* See pages.h. */
#include "config.h"

#include "server/package/pages.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool at_line_start = true;
static bool after_section; /* a section begins a paragraph by itself */

void roff_text(const char *text)
{
	after_section = after_section && *text == '\0';
	for (; *text != '\0'; text++) {
		if (at_line_start && (*text == '.' || *text == '\''))
			fputs("\\&", stdout);
		at_line_start = *text == '\n';
		if (*text == '\\')
			fputs("\\e", stdout);
		else if (*text == '-')
			fputs("\\-", stdout);
		else if (*text == '|' && text[1] != ' ')
			fputs("|\\:", stdout); // a list of choices may be broken here
		else
			putchar(*text);
	}
}

void roff_line(void)
{
	if (!at_line_start)
		putchar('\n');
	at_line_start = true;
}

static void request(const char *name)
{
	after_section = false;
	roff_line();
	puts(name);
}

void roff_title(const char *name, const char *section, const char *what)
{
	printf(".TH %s %s \"\" \"Cairn " PACKAGE_VERSION "\" \"Cairn\"\n", name, section);
	// Lists of choices have no spaces to stretch, and a hyphen inside a name would be read as its own.
	puts(".ad l\n.nh\n.SH NAME");
	for (const char *at = name; *at != '\0'; at++)
		putchar(tolower((unsigned char)*at));
	fputs(" \\- ", stdout);
	at_line_start = false;
	roff_text(what);
	roff_line();
}

void roff_section(const char *name)
{
	roff_line();
	printf(".SH \"%s\"\n", name);
	after_section = true;
}

void roff_subsection(const char *name)
{
	roff_line();
	printf(".SS \"%s\"\n", name);
}

/* A request that begins a paragraph; none directly after the head of a section. */
static void begin_paragraph(const char *name)
{
	roff_line();
	if (!after_section)
		puts(name);
	after_section = false;
}

void roff_paragraph(const char *text)
{
	begin_paragraph(".PP");
	roff_text(text);
	roff_line();
}

void roff_code(const char *text)
{
	begin_paragraph(".PP");
	request(".nf");
	roff_text(text);
	request(".fi");
}

void roff_item(void)
{
	request(".TP");
}

static void styled(char font, const char *text)
{
	printf("\\f%c", font);
	at_line_start = false;
	roff_text(text);
	fputs("\\fR", stdout);
}

void roff_bold(const char *text)
{
	styled('B', text);
}

void roff_italic(const char *text)
{
	styled('I', text);
}

void roff_sentence(const char *text)
{
	size_t length = strlen(text);
	if (length == 0)
		return;
	char first[2] = { (char)toupper((unsigned char)text[0]), '\0' };
	roff_text(first);
	roff_text(text + 1);
	if (text[length - 1] != '.')
		roff_text(".");
}

void roff_range(double min, double max)
{
	char text[96];
	snprintf(text, sizeof text, " From %.10g to %.10g.", min, max);
	roff_text(text);
}

void roff_entry(const char *tag, const char *text)
{
	roff_item();
	roff_bold(tag);
	roff_line();
	roff_sentence(text);
	roff_line();
}

/* ---- a header ------------------------------------------------------------------------------------ */

enum { HEADER_LINE = 256, HEADER_TEXT = 8192 };

/* Adds a line of a comment without its frame; a line indented by a tab begins a line of its own. */
static void add_comment(char *comment, const char *line)
{
	const char *from = line + strspn(line, " \t");
	if (strncmp(from, "/*", 2) == 0 || (from[0] == '*' && from[1] != '/'))
		from += from[0] == '/' ? 2 : 1;
	from += from[0] == ' ';
	const char *end = strstr(from, "*/");
	size_t length = end != NULL ? (size_t)(end - from) : strcspn(from, "\n");
	while (length > 0 && from[length - 1] == ' ')
		length--;
	size_t used = strlen(comment);
	snprintf(comment + used, HEADER_TEXT - used, "%.*s\n", (int)length, from);
}

/* Prints a comment: an empty line begins a paragraph, and lines indented by a tab are code. */
static void say_comment(char *comment, const char *paragraph)
{
	bool code = false, empty = false;
	for (char *line = comment, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		bool is_code = line[0] == '\t';
		if (code && !is_code)
			request(".fi");
		if (line[0] != '\0' && (empty || is_code != code))
			begin_paragraph(paragraph);
		if (is_code && !code)
			request(".nf");
		code = is_code;
		empty = line[0] == '\0';
		roff_text(line + is_code);
		roff_line();
	}
	if (code)
		request(".fi");
	comment[0] = '\0';
}

void roff_header(const char *path)
{
	char line[HEADER_LINE], comment[HEADER_TEXT] = "";
	bool within = false, head = true, declaring = false;
	FILE *file = fopen(path, "r");
	if (file == NULL) {
		fprintf(stderr, "manual: %s: the file cannot be read\n", path);
		exit(EXIT_FAILURE);
	}
	while (fgets(line, sizeof line, file) != NULL) {
		bool opens = strncmp(line, "/*", 2) == 0;
		if (opens || within) {
			if (opens)
				comment[0] = '\0';
			add_comment(comment, line);
			within = strstr(line, "*/") == NULL;
			if (!within && head) {
				roff_section("DESCRIPTION");
				say_comment(comment, ".PP");
				roff_section("FUNCTIONS");
				head = false;
			}
			continue;
		}
		if (strncmp(line, "CAIRN_API ", 10) == 0) {
			request(".TP\n.nf");
			declaring = true;
		}
		if (declaring) {
			roff_text(line + (line[0] == 'C' ? 10 : strspn(line, "\t ")));
			declaring = strchr(line, ';') == NULL;
			if (!declaring) {
				request(".fi");
				if (comment[0] != '\0')
					request(".IP");
				say_comment(comment, ".IP");
			}
		} else {
			comment[0] = '\0';
		}
	}
	fclose(file);
}
