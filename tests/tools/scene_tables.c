/* scene_tables: copies docs/SCENES.md to standard output, with its tables generated from
 * schema.def.
 *
 *   scene_tables FILE
 *
 * A table begins below a line "<!-- table: NAME -->", or "<!-- synonyms -->" for that of synonyms.def,
 * and ends at the first empty line. */
#include "protocol/scene/schema.h"

#include <stdio.h>
#include <string.h>

#include "tests/tools/say.h"

static void say_type(const struct schema_key *key)
{
	static const char *const names[KEY_TYPES] = {
		[TYPE_REAL] = "number",
		[TYPE_COUNT] = "whole number",
		[TYPE_INTEGER] = "whole number",
		[TYPE_SEED] = "whole number",
		[TYPE_BOOL] = "true, false",
		[TYPE_TEXT] = "text",
		[TYPE_VEC3] = "[x, y, z]",
		[TYPE_SCALE] = "number or [x, y, z]",
		[TYPE_COUNTS] = "[x, y, z], whole",
		[TYPE_TURN] = "rotation",
		[TYPE_RATE] = "whole number or [n, d]",
		[TYPE_MAP] = "mapping",
		[TYPE_LIST] = "list",
		[TYPE_ANY] = "text or mapping",
	};
	if (key->type != TYPE_WORD) {
		printf("%s", names[key->type]);
		return;
	}
	for (const char *at = key->unit; *at != '\0'; at++)
		printf(*at == '|' ? ", " : "%c", *at);
}

static void say_range(const struct schema_key *key)
{
	switch (key->type) {
	case TYPE_SEED:
	case TYPE_BOOL:
	case TYPE_WORD:
	case TYPE_TURN:
	case TYPE_ANY:
	case TYPE_MAP:
		return;
	default:
		break;
	}
	say_number(key->min);
	printf(" … ");
	say_number(key->max);
	if (key->type == TYPE_TEXT)
		printf(" bytes");
	if (key->type == TYPE_LIST)
		printf(" items");
	else if (key->unit[0] != '\0')
		printf(" %s", key->unit);
}

/* Prints word number `index` of a list separated by bars. */
static void say_word(const char *words, uint32_t index)
{
	for (; index > 0; index--)
		words += strcspn(words, "|") + 1;
	printf("%.*s", (int)strcspn(words, "|"), words);
}

static void say_default(const struct schema_key *key)
{
	if (key->need) {
		printf("needed");
		return;
	}
	/* The documentation states a default that is not a single value. */
	if (strstr(key->doc, "when not given") != NULL)
		return;
	switch (key->type) {
	case TYPE_TEXT:
	case TYPE_MAP:
	case TYPE_LIST:
	case TYPE_ANY:
		return;
	case TYPE_WORD:
		say_word(key->unit, (uint32_t)key->initial);
		return;
	case TYPE_BOOL:
		printf(key->initial != 0 ? "true" : "false");
		return;
	case TYPE_TURN:
		printf("none");
		return;
	default:
		say_number(key->initial);
		return;
	}
}

static void say_table(const struct schema_table *table)
{
	printf("| key | value | range | if absent | %s |\n|---|---|---|---|---|\n", table->doc);
	for (uint32_t i = 0; i < table->key_count; i++) {
		const struct schema_key *key = &table->keys[i];
		printf("| `%s` | ", key->name);
		say_type(key);
		printf(" | ");
		say_range(key);
		printf(" | ");
		say_default(key);
		printf(" | ");
		say_cell(key->doc);
		printf(" |\n");
	}
}

/* Each word of a scene once, with all words of others for it. */
static void say_synonyms(void)
{
	static const struct {
		const char *word, *ours;
	} all[] = {
#define SYNONYM(word, ours) { word, ours },
#include "protocol/scene/synonyms.def"
	};
	printf("| here | elsewhere |\n|---|---|\n");
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		size_t first = 0;
		while (strcmp(all[first].ours, all[i].ours) != 0)
			first++;
		if (first != i)
			continue;
		printf("| `%s` |", all[i].ours);
		for (size_t k = i; k < COUNT_OF(all); k++)
			if (strcmp(all[k].ours, all[i].ours) == 0)
				printf(" `%s`", all[k].word);
		printf(" |\n");
	}
}

static const struct schema_table *named(const char *line)
{
	char name[32];
	if (sscanf(line, "<!-- table: %31[a-z_] -->", name) != 1)
		return NULL;
	for (uint32_t i = 0; i < SCHEMA_TABLES; i++)
		if (strcmp(schema_tables[i].name, name) == 0)
			return &schema_tables[i];
	return NULL;
}

int main(int count, char **arguments)
{
	char line[4096];
	uint32_t tables = 0;
	FILE *file = count == 2 ? fopen(arguments[1], "r") : NULL;
	if (file == NULL)
		return fprintf(stderr, "usage: scene_tables FILE\n"), 2;
	bool skipping = false;
	while (fgets(line, sizeof line, file) != NULL) {
		const struct schema_table *table = named(line);
		skipping = skipping && line[0] != '\n';
		if (!skipping)
			fputs(line, stdout);
		if (strcmp(line, "<!-- synonyms -->\n") == 0) {
			say_synonyms();
			skipping = true;
		}
		if (table != NULL) {
			say_table(table);
			skipping = true;
			tables++;
		}
	}
	fclose(file);
	if (tables != SCHEMA_TABLES)
		return fprintf(stderr, "scene_tables: %u of %d tables\n", (unsigned)tables,
			       SCHEMA_TABLES),
		       1;
	return 0;
}
