#!/usr/bin/env python3
"""Writes src/manifest.js and src/manifest.d.ts from the manifests the server is compiled from.

    clients/js/make_manifest.py            write the files
    clients/js/make_manifest.py --check    fail if a file is not current
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from manifests import (FRICTION_DOC, bound, bounds, calls, commands, field_text, grouped, limits_of,  # noqa: E402
                       named_numbers, number_text, query_limits, words_of, write_or_check)

TARGET = HERE / "src" / "manifest.js"
TYPES = HERE / "src" / "manifest.d.ts"
# Fallbacks in JavaScript, by type; those of other types are numbers, copied unchanged.
EMPTY = {"TEXT": '""', "BIN": "null", "CAPS": "[]", "LIMITS": "null", "RATE": "null", "BOX": "null", "HASH": "null",
         "OPTION": "null", "IDS": "[]", "REALS": "[]", "LIST": "[]", "MAP": "null", "RAW": "null"}
# Defaults of commands' fields that are no numbers.
DEFAULTS = {"QUAT": "[1, 0, 0, 0]", "ATTACHMENTS": "[]", "TARGETS": "[]", "POINTS": "[]", "TEXT": '""', "NAME": "null"}
BOUNDS = bounds()


def entry(name, head, fields):
    """The lines of one message or command."""
    yield f"  {name}: {{ {head}, fields: ["
    for field, fallback in fields:
        yield f'    ["{field}", {fallback}],'
    yield "  ] },"


def messages():
    for head, fields in grouped("protocol/messages.def", "MESSAGE", ["NEED", "FIELD"]):
        fallbacks = [(words[1], "undefined" if macro == "NEED" else EMPTY.get(words[0], words[3])) for macro, words in fields]
        yield from entry(head[2], f"number: {head[0]}, map: {str(head[4] == 'MAP').lower()}", fallbacks)


def default_of(kind, value):
    if kind in DEFAULTS:
        return DEFAULTS[kind]
    number = number_text(bound(value, BOUNDS))
    return f"[{number}, {number}, {number}]" if kind == "VEC3" else number


def command_entries():
    for head, fields in commands():
        needed = int(head[3])
        yield from entry(head[2], f"number: {head[0]}",
                         [(words[2], "undefined" if place < needed else default_of(words[1], words[5]))
                          for place, words in enumerate(fields)])


def limits():
    yield f"export const LENGTH_MAX = {number_text(BOUNDS['LENGTH_MAX'])};"
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
    yield "/* table */"
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
    yield from command_entries()
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
    for place, (name, about, numbers) in enumerate(named_numbers()):
        if place > 0:
            yield ""
        yield f"/** {about} */"
        yield f"export const {name} = {{"
        yield from (f"  {word}: {number}," for word, number in numbers.items())
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
    lists, worded = words_of()
    yield "/** The fields of each command; one with `?` has the default of docs/COMMANDS.md. */"
    yield "export interface CommandFields {"
    for head, fields in commands():
        yield f"  /** {head[5].strip(chr(34))} */"
        yield f"  {head[2]}: {{"
        for place, words_of_field in enumerate(fields):
            kind, name = words_of_field[1], words_of_field[2]
            typed = TYPED.get(kind, "number")
            if (head[2], name) in worded:
                typed = " | ".join(["number", *(f'"{word}"' for word in lists[worded[head[2], name]] if word)])
            yield f"    /** {field_text(kind, words_of_field, BOUNDS)} */"
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
    yield from name_type("ParticleColumn", [words[2] for _, words in calls("protocol/columns.def", ["PARTICLE_COLUMN"])])
    for name, words in words_of()[0].items():
        yield from name_type("".join(part.capitalize() for part in name.split("_")), [word for word in words if word])
    yield from command_types()
    yield "export const STATUS: Readonly<Record<number, readonly [StatusName, string]>>;"
    yield ("export const COMMAND: Readonly<Record<keyof CommandFields, { number: number, fields: readonly (readonly "
           "[string, unknown])[] }>>;")
    yield "export const COLUMN: Readonly<Record<Column, number>>;"
    yield "export const JOINT_COLUMN: Readonly<Record<JointColumn, number>>;"
    yield "export const PARTICLE_COLUMN: Readonly<Record<ParticleColumn, number>>;"


def main():
    write_or_check(TARGET, "\n".join(lines()) + "\n")
    write_or_check(TYPES, "\n".join(type_lines()) + "\n")


if __name__ == "__main__":
    main()
