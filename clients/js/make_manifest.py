#!/usr/bin/env python3
"""Writes src/manifest.js and src/manifest.d.ts from the manifests the server is compiled from.

    clients/js/make_manifest.py            write the files
    clients/js/make_manifest.py --check    fail if a file is not current
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
from make_manifest import FRICTION_DOC, bounds, calls, field_text, limits_of, number_text, query_limits, words_of, write_or_check  # noqa: E402

TARGET = HERE / "src" / "manifest.js"
TYPES = HERE / "src" / "manifest.d.ts"
# Fallbacks in JavaScript, by type; those of other types are numbers, copied unchanged.
EMPTY = {"TEXT": '""', "BIN": "null", "CAPS": "[]", "LIMITS": "null", "RATE": "null", "BOX": "null", "HASH": "null",
         "OPTION": "null", "IDS": "[]", "REALS": "[]", "LIST": "[]", "MAP": "null", "RAW": "null"}


# Named bounds that commands.def uses as defaults.
NUMBERS = {"LENGTH_MAX": "1e6"}


def entry(name, head, fields):
    """The lines of one message or command."""
    yield f"  {name}: {{ {head}, fields: ["
    for field, fallback in fields:
        yield f'    ["{field}", {fallback}],'
    yield "  ] },"


def messages():
    fields = []
    for macro, words in calls("protocol/messages.def", ["MESSAGE", "RESERVED", "NEED", "FIELD", "END"]):
        if macro == "MESSAGE":
            head, fields = words, []
        elif macro == "NEED":
            fields.append((words[1], "undefined"))
        elif macro == "FIELD":
            fields.append((words[1], EMPTY.get(words[0], words[3])))
        elif macro == "END":
            yield from entry(head[2], f"number: {head[0]}, map: {str(head[4] == 'MAP').lower()}", fields)


def default_of(kind, value):
    for name, number in NUMBERS.items():
        value = value.replace(name, number)
    if kind == "VEC3":
        return f"[{value}, {value}, {value}]"
    return {"QUAT": "[1, 0, 0, 0]", "ATTACHMENTS": "[]", "TARGETS": "[]", "POINTS": "[]"}.get(kind, value)


def commands():
    fields = []
    for macro, words in calls("server/engine/world/commands.def", ["COMMAND", "FIELD", "END"]):
        if macro == "COMMAND":
            head, fields = words, []
        elif macro == "FIELD":
            needed = len(fields) < int(head[3])
            fields.append((words[2], "undefined" if needed else default_of(words[1], words[5])))
        else:
            yield from entry(head[2], f"number: {head[0]}", fields)


def limits():
    yield f"export const LENGTH_MAX = {number_text(bounds()['LENGTH_MAX'])};"
    yield ""
    yield "/** Of each command's field with numbers: [type, least, most, unit], types as in server/engine/world/commands.def. */"
    yield "export const LIMITS = {"
    for name, fields in limits_of().items():
        yield f"  {name}: {{"
        for field, (kind, least, most, unit) in fields.items():
            yield f'    {field}: ["{kind}", {least}, {most}, "{unit}"],'
        yield "  },"
    yield "};"
    yield ""
    yield "/** The fields of each QUERY: [field, type, least, most], types as in protocol/queries.def. */"
    yield "export const QUERY_LIMITS = {"
    for number, fields in query_limits().items():
        yield f"  {number}: ["
        for field, kind, least, most in fields:
            yield f'    ["{field}", "{kind}", {least}, {most}],'
        yield "  ],"
    yield "};"
    yield ""


def lines():
    yield "// Numbers and fields of the wire. Written by make_manifest.py; do not edit."
    yield ""
    yield "/** Statuses by number: [name, meaning]. */"
    yield "export const STATUS = {"
    for _, words in calls("server/base/status.def", ["STATUS"]):
        yield f'  {words[0]}: ["{words[2]}", {words[3]}],'
    yield "};"
    yield ""
    yield "/** Messages by name: number, whether fields are a map, and [name, fallback] of each field in order. */"
    yield "export const MESSAGE = {"
    yield from messages()
    yield "};"
    yield ""
    yield "/** Commands by name: number, and [name, default] of each field in order; a field with default undefined is required. */"
    yield "export const COMMAND = {"
    yield from commands()
    yield "};"
    yield ""
    yield from limits()
    lists, worded = words_of()
    yield '/** Words for numbers, by list; the first word of a list that begins with 1 is "". */'
    yield "export const WORDS = {"
    for name, words in lists.items():
        yield f"  {name}: ["
        yield from (f'    "{word}",' for word in words)
        yield "  ],"
    yield "};"
    yield ""
    yield "/** The list of words of each command field that has one. */"
    yield "export const WORDED = {"
    for command in dict.fromkeys(command for command, _ in worded):
        fields = ", ".join(f"{field}: WORDS.{name}" for (of, field), name in worded.items() if of == command)
        yield f"  {command}: {{ {fields} }},"
    yield "};"
    yield ""
    yield "/** Kinds of QUERY by name. */"
    yield "export const QUERY = {"
    for _, words in calls("protocol/queries.def", ["QUERY"]):
        yield f"  {words[2]}: {words[0]},"
    yield "};"
    yield ""
    yield "/** Kinds of observations of STEP_WORLDS. */"
    yield "export const OBSERVATION = {"
    for _, words in calls("protocol/observations.def", ["OBSERVATION"]):
        yield f"  {words[2]}: {words[0]},"
    yield "};"
    yield ""
    yield "/** Bits of SUBSCRIBE.fields by column. */"
    yield "export const COLUMN = {"
    for _, words in calls("protocol/columns.def", ["COLUMN"]):
        yield f"  {words[2]}: {1 << int(words[0])},"
    yield "};"
    yield ""
    yield "/** Bits of SUBSCRIBE.joints by column. */"
    yield "export const JOINT_COLUMN = {"
    for _, words in calls("protocol/columns.def", ["JOINT_COLUMN"]):
        yield f"  {words[2]}: {1 << int(words[0])},"
    yield "};"


# ---- manifest.d.ts ----------------------------------------------------------------------------------

# The type of a command's field.
TYPED = {"F64": "Placed", "VEC3": "Vector", "QUAT": "Rotation", "TEXT": "string", "NAME": "Uint8Array", "ATTACHMENTS": "Attachment[]",
         "TARGETS": "[joint: number, axis: number, value: Placed][]", "POINTS": "[time: number, value: number][]"}


def name_type(name, names):
    """The union of these names as a type."""
    yield f"export type {name} ="
    yield from (f'  | "{word}"' for word in names[:-1])
    yield f'  | "{names[-1]}";'
    yield ""


def command_types():
    known, (lists, worded) = bounds(), words_of()
    yield "/** The fields of each command; one with `?` has the default of docs/COMMANDS.md. */"
    yield "export interface CommandFields {"
    fields = []
    for macro, words in calls("server/engine/world/commands.def", ["COMMAND", "FIELD", "END"]):
        if macro == "COMMAND":
            head, fields = words, []
        elif macro == "FIELD":
            fields.append(words)
        else:
            yield f"  /** {head[5].strip(chr(34))} */"
            yield f"  {head[2]}: {{"
            for place, words_of_field in enumerate(fields):
                kind, name = words_of_field[1], words_of_field[2]
                typed = TYPED.get(kind, "number")
                if (head[2], name) in worded:
                    typed = " | ".join(["number", *(f'"{word}"' for word in lists[worded[head[2], name]] if word)])
                yield f"    /** {field_text(kind, words_of_field, known)} */"
                given = place < int(head[3]) and name not in ("static_friction", "dynamic_friction")
                yield f"    {name}{'' if given else '?'}: {typed};"
            if any(words_of_field[2] == "static_friction" for words_of_field in fields):
                yield f"    /** friction: {FRICTION_DOC} */"
                yield "    friction?: Placed;"
            yield "  };"
    yield "}"
    yield ""


def type_lines():
    yield "// Types of manifest.js. Written by make_manifest.py; do not edit."
    yield ""
    yield 'import type { ACTION } from "./index.js";'
    yield ""
    yield "/** A number, or in a command of Client.stepWorlds the place of one. */"
    yield "export type Placed = number | typeof ACTION;"
    yield "export type Vector = readonly Placed[] | typeof ACTION;"
    yield "/** w, x, y, z */"
    yield "export type Rotation = readonly Placed[] | typeof ACTION;"
    yield "/** A shape on a body: its id, and its place in body axes. */"
    yield "export type Attachment = readonly [shape: number, position?: Vector, rotation?: Rotation];"
    yield ""
    yield from name_type("StatusName", [words[2] for _, words in calls("server/base/status.def", ["STATUS"])])
    yield from name_type("Column", [words[2] for _, words in calls("protocol/columns.def", ["COLUMN"])])
    yield from name_type("JointColumn", [words[2] for _, words in calls("protocol/columns.def", ["JOINT_COLUMN"])])
    for name, words in words_of()[0].items():
        yield from name_type("".join(part.capitalize() for part in name.split("_")), [word for word in words if word])
    yield from command_types()
    yield "export const STATUS: Readonly<Record<number, readonly [StatusName, string]>>;"
    yield ("export const COMMAND: Readonly<Record<keyof CommandFields, { number: number, fields: readonly (readonly "
           "[string, unknown])[] }>>;")
    yield "export const COLUMN: Readonly<Record<Column, number>>;"
    yield "export const JOINT_COLUMN: Readonly<Record<JointColumn, number>>;"


def main():
    write_or_check(TARGET, "\n".join(lines()) + "\n")
    write_or_check(TYPES, "\n".join(type_lines()) + "\n")


if __name__ == "__main__":
    main()
