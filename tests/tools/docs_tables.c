/* docs_tables: writes docs/COMMANDS.md or docs/FIELDS.md from the lists they document.
 *   docs_tables commands|fields
 */
#include "server/engine/engine.h"
#include "server/engine/world/tables.h"

#include <stdio.h>
#include <string.h>

#include "tests/tools/say.h"

/* ---- commands --------------------------------------------------------------------------------- */

static void say_range(const struct command_field *field)
{
	switch (field->type) {
	case FIELD_ENUM:
	case FIELD_U32:
	case FIELD_INTEGER:
	case FIELD_F64:
	case FIELD_VEC3:
		say_number(field->min);
		printf(" … ");
		say_number(field->max);
		return;
	case FIELD_ATTACHMENTS:
		printf("at most %d", ATTACHMENTS_MAX);
		return;
	case FIELD_TARGETS:
	case FIELD_POINTS:
		printf("%.10g … %.10g of them", field->min, field->max);
		return;
	default:
		return;
	}
}

static void say_default(const struct command_field *field, bool needed)
{
	if (needed) {
		printf("needed");
		return;
	}
	switch (field->type) {
	case FIELD_QUAT:
		printf("1, 0, 0, 0");
		return;
	case FIELD_ATTACHMENTS:
	case FIELD_TARGETS:
	case FIELD_POINTS:
		printf("none");
		return;
	case FIELD_VEC3:
		printf("each ");
		say_number(field->initial);
		return;
	default:
		say_number(field->initial);
		return;
	}
}

static void say_command(const struct command_info *info)
{
	printf("\n### %u %s\n\n", info->op, info->name);
	say_cell(info->doc);
	bool id = info->result != RESULT_NOTHING;
	printf(". Yields %s%s%s.\n\n", id ? "a " : "", command_result_name(info->result),
	       id ? " id" : "");
	printf("| # | field | type | range | default | unit | |\n|---|---|---|---|---|---|---|\n");
	for (uint32_t i = 0; i < info->field_count; i++) {
		const struct command_field *field = &info->fields[i];
		printf("| %u | `%s` | %s | ", i + 1, field->name, field_type_name(field->type));
		say_range(field);
		printf(" | ");
		say_default(field, i < info->needed);
		printf(" | %s | ", field->unit);
		say_cell(field->doc);
		printf(" |\n");
	}
}

static void say_parameters(void)
{
	struct parameter_info list[128];
	uint32_t count = world_parameters(list, COUNT_OF(list));
	printf("\n## Parameters\n\nSet by `parameter`; every world has its own. A parameter that the "
	       "world's method does not read\n"
	       "keeps its value. In the column *read by*, – means that no method reads the "
	       "parameter; the broad phases\n"
	       "read `broad_phase.*`. An old name is accepted wherever the new name is.\n\n"
	       "| # | name | initially | range | unit | read by | "
	       "|\n|---|---|---|---|---|---|---|\n");
	for (uint32_t i = 0; i < count && i < COUNT_OF(list); i++) {
		printf("| %u | `%s` | ", list[i].number, list[i].name);
		say_number(list[i].initial);
		printf(" | ");
		say_number(list[i].min);
		printf(" … ");
		say_number(list[i].max);
		printf(" | %s | %s | ", list[i].unit,
		       list[i].methods[0] != '\0' ? list[i].methods : "–");
		say_cell(list[i].doc);
		if (list[i].old != NULL)
			printf("; old name: `%s`", list[i].old);
		printf(" |\n");
	}
}

static const char *yes(bool value)
{
	return value ? "yes" : "–";
}

static void say_methods(void)
{
	struct method_info list[32];
	uint32_t count = world_methods(list, COUNT_OF(list));
	printf("\n## Methods\n\nNamed by `method` and by a world's options. A method refuses a world "
	       "or a command that it does not\n"
	       "support, and names the reason.\n\n| method |");
	for (int kind = 1; kind < SHAPE_KINDS; kind++)
		printf(" %s |", shape_kind_name((enum shape_kind)kind));
	printf(" friction | restitution | sleep | planar | spatial | joints | |\n|---|");
	for (int kind = 1; kind < SHAPE_KINDS; kind++)
		printf("---|");
	printf("---|---|---|---|---|---|---|\n");
	for (uint32_t i = 0; i < count && i < COUNT_OF(list); i++) {
		printf("| `%s` |", list[i].name);
		for (int kind = 1; kind < SHAPE_KINDS; kind++)
			printf(" %s |", yes(list[i].shapes >> kind & 1));
		printf(" %s | %s | %s | %s | %s | %s | ", yes(list[i].friction),
		       yes(list[i].restitution), yes(list[i].sleep), yes(list[i].planar),
		       yes(list[i].three_d), yes(list[i].joints));
		say_cell(list[i].summary);
		printf(" |\n");
	}
	struct method_name names[32];
	count = world_method_names(names, COUNT_OF(names));
	printf("\nOther names, from the sources:");
	for (uint32_t i = 0; i < count && i < COUNT_OF(names); i++) {
		printf("%s\n`%s` is `%s`", i == 0 ? "" : ",", names[i].name, names[i].method);
		if (names[i].parameter != NULL)
			printf(" with `%s` %g", names[i].parameter, names[i].value);
	}
	printf(".\n");
}

static void say_rules(void)
{
	printf("\n## What holds beyond the tables\n\n"
	       "- Each command of a batch is checked against the world as the commands before "
	       "it leave it. If one\n"
	       "  command is refused, no command of the batch is applied.\n"
	       "- A player names only bodies and joints that its session owns. The owner of a "
	       "body that it spawns is\n"
	       "  its session. It may use shapes (`shape_use`). It is refused `shape_drop` and "
	       "commands 30 to 34, which\n"
	       "  change the whole world.\n"
	       "- In a planar world z of positions, velocities, forces and points is 0, "
	       "rotations and torques are\n"
	       "  about z, and shapes are polygons; polygons exist only there. The walls of a "
	       "planar world are at most\n"
	       "  1e5 m apart.\n"
	       "- Planes and meshes stand on static or inactive bodies only. Velocity is for "
	       "dynamic and animated\n"
	       "  bodies, forces and impulses for dynamic ones. A body with fixed rotation "
	       "has no angular velocity.\n"
	       "- A dynamic body has a mass of %g to %g kg. A body whose inertia about one axis "
	       "is smaller than the\n"
	       "  rounding errors is refused (degenerate): use thicker shapes or fix its "
	       "rotation.\n"
	       "- `method` is refused if the new method does not support the world as it is "
	       "before the batch, or does\n"
	       "  not admit a command that stands before `method` in the batch. Commands after "
	       "it are checked against\n"
	       "  the new method.\n"
	       "- A body beyond ±%g m, or with a number that is not finite, goes to "
	       "quarantine: it stops, becomes\n"
	       "  inactive, and an event says so; `set_status` lifts it. The step clamps "
	       "speeds to %g m/s and rad/s.\n"
	       "- Walls (`bounds` mode 2) are half-spaces on one hidden static body, which "
	       "only contacts and their\n"
	       "  events name: its id is 4294967295, friction 0.6, no bounce of its own. "
	       "Filters do not open them.\n"
	       "- A force that lasts wakes its body when it begins and when it ends.\n"
	       "- Using a shape that is usable already gives the id it has.\n",
	       MASS_MIN, MASS_MAX, LENGTH_MAX, SPEED_MAX);
}

static void say_commands(void)
{
	uint32_t count;
	const struct command_info *list = command_list(&count);
	printf("# Commands\n\n"
	       "Made by `make docs-tables` from `server/engine/world/commands.def` and "
	       "`parameters.def`; a test\n"
	       "checks that it is current. Commands are the only way into a world. A batch of "
	       "them is applied at a\n"
	       "tick boundary, whole or not at all; a refused batch names the command "
	       "and the field at fault.\n\n"
	       "Fields come in the order given; later ones may be left out and then have "
	       "their default. Numbers of\n"
	       "commands and places of fields are permanent.\n\n"
	       "| type | on the wire | |\n|---|---|---|\n"
	       "| body, shape, joint | integer | an id; −k for what the k-th command of the same "
	       "batch makes, with k from 1 |\n"
	       "| enum, u32, integer | integer | |\n"
	       "| f64 | number | finite |\n"
	       "| vec3 | three numbers | x, y, z; limits hold for each |\n"
	       "| quat | four numbers | w, x, y, z; of length 0.5 to 2, normalised |\n"
	       "| text | string | 1 to 31 printable ASCII characters |\n"
	       "| name | 32 bytes | SHA-256 of a shape's canonical bytes |\n"
	       "| seed | 8 bytes | big-endian |\n"
	       "| attachments | list of [shape, position?, rotation?] | position ±%g m in "
	       "body axes |\n"
	       "| targets | list of [joint, axis, value] | at most %d |\n"
	       "| points | list of [time, value] | at most %d |\n",
	       LENGTH_MAX, JOINT_TARGETS_MAX, JOINT_POINTS_MAX);
	say_rules();
	printf("\n## List\n");
	for (uint32_t i = 0; i < count; i++)
		if (!list[i].reserved)
			say_command(&list[i]);
	printf("\n### Reserved\n\nRefused as `unsupported` until their time comes:");
	for (uint32_t i = 0; i < count; i++)
		if (list[i].reserved)
			printf(" %u `%s`", list[i].op, list[i].name);
	printf(".\n");
	say_parameters();
	say_methods();
}

/* ---- fields ----------------------------------------------------------------------------------- */

static void say_fields(void)
{
	static const char *const types[] = { "u8",  "u16", "u32",  "u64", "i64",
					     "f32", "f64", "vec3", "quat" };
	printf("# Fields\n\n"
	       "Made by `make docs-tables` from `server/engine/world/fields.def`; a test "
	       "checks that it is current.\n"
	       "This is everything that outlives a step: what an image holds, what the state "
	       "hash covers, and what\n"
	       "`world_image_difference` names. Numbers, types and flags of tables and columns are "
	       "permanent, and so is what a\n"
	       "file without a column means (*absent*: 0 unless stated).\n\n"
	       "A table's hash is XXH3-64 (seed 0) of its row count (u32), then, of each hashed "
	       "column that is not absent in\n"
	       "every row, its number (u32) and its values, little-endian, in order. That of the "
	       "parameters is of each that is not\n"
	       "at its absent value: u32 number, f64 value. The state hash is XXH3-64 of number "
	       "(u32) and hash (u64) of each table\n"
	       "with rows (or such a parameter), in order. In an image of version 1 every table "
	       "and column counts: a table is its row\n"
	       "count and columns without their numbers, the state the ten tables' hashes "
	       "without theirs.\n\n"
	       "An image: `CAIRNIMG`, u32 version (2), u32 core, u32 methods, of each u16 its "
	       "number and u32 the number of its motion,\n"
	       "u32 sections (version 1: u32 abi, 1, in place of core and methods); a section: "
	       "u16 table, u32 rows, u16\n"
	       "columns; a column: u16 number, u8 type (as below from 0), u32 values a row, "
	       "then the values row by\n"
	       "row; at the end u64 XXH3-64 of everything before. All little-endian. An image "
	       "with rows in a table, or with a\n"
	       "column, that is not listed here is of a later build and is refused as `version`.\n");
	for (uint32_t table = 0; table < TABLE_COUNT; table++) {
		const struct table_info *info = &table_infos[table];
		printf("\n## %u %s\n\n", info->number, info->name);
		say_cell(info->doc);
		printf(". A row has %zu bytes.\n\n| # | column | type | |\n|---|---|---|---|\n",
		       table_row_bytes((enum table_index)table));
		for (uint32_t i = 0; i < info->column_count; i++) {
			const struct column_info *column = &info->columns[i];
			printf("| %u | `%s` | %s", column->number, column->name,
			       types[column->type]);
			if (column->length > 1)
				printf(" × %u", column->length);
			printf(" | ");
			say_cell(column->doc);
			if (column->absent != 0)
				printf(" (absent: %g)", column->absent);
			if (column->flags & COLUMN_KEY)
				printf(" (key%s)",
				       column->flags & COLUMN_ID ? ", no two alike" : "");
			printf("%s%s |\n", column->flags & COLUMN_UNHASHED ? " (not hashed)" : "",
			       column->flags & COLUMN_UNCHARGED ? " (not charged)" : "");
		}
	}
}

int main(int count, char **arguments)
{
	const char *what = count > 1 ? arguments[1] : "";
	if (strcmp(what, "commands") == 0)
		say_commands();
	else if (strcmp(what, "fields") == 0)
		say_fields();
	else
		return fprintf(stderr, "usage: docs_tables commands|fields\n"), 2;
	return 0;
}
