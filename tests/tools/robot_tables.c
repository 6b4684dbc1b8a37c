/* robot_tables: copies docs/ROBOTS.md to standard output, with its tables generated from
 * robot.def.
 *
 *    robot_tables FILE
 *
 * A table begins below a line "<!-- table: FORMAT VERDICT -->" and ends at the first empty
 * line. */
#include "protocol/scene/robot/grammar.h"

#include <stdio.h>
#include <string.h>

#include "tests/tools/say.h"

static const char *const FORMATS[] = { "urdf", "mjcf" };
static const char *const VERDICTS[] = { "taken", "warned", "ignored", "refused" };

static void say_form(const struct attribute_rule *rule)
{
	const char *whole = rule->type == VALUE_WHOLES ? "whole " : "";
	switch (rule->type) {
	case VALUE_REALS:
	case VALUE_AMOUNTS:
	case VALUE_WHOLES:
		if (rule->least == rule->most)
			printf("%u %snumber%s", (unsigned)rule->most, whole,
			       rule->most == 1 ? "" : "s");
		else
			printf("%u … %u %snumbers", (unsigned)rule->least, (unsigned)rule->most,
			       whole);
		printf("%s", rule->type == VALUE_AMOUNTS ? " from 0" : "");
		return;
	case VALUE_TEXT:
		printf("text");
		return;
	case VALUE_BOOL:
		printf("true, false");
		return;
	case VALUE_WORD:
		break;
	}
	for (const char *at = rule->words; *at != '\0'; at++)
		printf(*at == '|' ? ", " : "%c", *at);
}

static void say_taken(const struct element_rule *rule, const struct attribute_rule *attribute)
{
	if (attribute == NULL) {
		printf("| `<%s>` | | | ", rule->name);
		say_cell(rule->doc);
		printf(" |\n");
		return;
	}
	printf("| | `%s` | ", attribute->name);
	say_form(attribute);
	printf("%s%s | ",
	       attribute->need		       ? ", needed"
	       : attribute->initial[0] != '\0' ? ", if absent "
					       : "",
	       attribute->need ? "" : attribute->initial);
	say_cell(attribute->doc);
	printf(" |\n");
}

static void say_other(const struct element_rule *rule, const struct attribute_rule *attribute)
{
	if (attribute != NULL)
		printf("| `%s` of `<%s>` | ", attribute->name, rule->name);
	else if (rule->parents[0] == '*')
		printf("| `<%s>` anywhere | ", rule->name);
	else
		printf("| `<%s>` in `<%.*s>` | ", rule->name, (int)strcspn(rule->parents, "|"),
		       rule->parents);
	say_cell(attribute != NULL ? attribute->doc : rule->doc);
	printf(" |\n");
}

static void say_table(uint32_t format, uint32_t verdict)
{
	bool taken = verdict == VERDICT_TAKEN;
	printf(taken ? "| element | attribute | value | |\n|---|---|---|---|\n"
		     : "| element or attribute | why |\n|---|---|\n");
	for (uint32_t i = 0; i < ELEMENTS; i++) {
		const struct element_rule *rule = &element_rules[i];
		if (rule->format != (enum robot_format)format)
			continue;
		if (rule->verdict == (enum verdict)verdict)
			(taken ? say_taken : say_other)(rule, NULL);
		for (uint32_t k = 0; k < rule->attribute_count; k++)
			if (rule->attributes[k].verdict == (enum verdict)verdict)
				(taken ? say_taken : say_other)(rule, &rule->attributes[k]);
	}
}

/* Prints the table that a line begins; false: it begins none. */
static bool say_named(const char *line)
{
	char name[64];
	for (uint32_t format = 0; format < 2; format++)
		for (uint32_t verdict = 0; verdict < 4; verdict++) {
			snprintf(name, sizeof name, "<!-- table: %s %s -->\n", FORMATS[format],
				 VERDICTS[verdict]);
			if (strcmp(line, name) != 0)
				continue;
			say_table(format, verdict);
			return true;
		}
	return false;
}

int main(int count, char **arguments)
{
	char line[4096];
	uint32_t tables = 0;
	FILE *file = count == 2 ? fopen(arguments[1], "r") : NULL;
	if (file == NULL)
		return fprintf(stderr, "usage: robot_tables FILE\n"), 2;
	bool skipping = false;
	while (fgets(line, sizeof line, file) != NULL) {
		skipping = skipping && line[0] != '\n';
		if (skipping)
			continue;
		fputs(line, stdout);
		skipping = say_named(line);
		tables += skipping;
	}
	fclose(file);
	if (tables == 8)
		return 0;
	return fprintf(stderr, "robot_tables: %u of 8 tables\n", (unsigned)tables), 1;
}
