#!/usr/bin/env python3
"""Writes src/manifest.js from the manifests the server is compiled from.

    clients/js/make_manifest.py            write the file
    clients/js/make_manifest.py --check    fail if the file is not current
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
from make_manifest import calls, words_of, write_or_check  # noqa: E402

TARGET = HERE / "src" / "manifest.js"
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


def main():
    write_or_check(TARGET, "\n".join(lines()) + "\n")


if __name__ == "__main__":
    main()
