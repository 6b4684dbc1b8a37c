#!/usr/bin/env python3
"""Writes cairn/manifest.py from the manifests the server is compiled from.

    clients/python/make_manifest.py            write the file
    clients/python/make_manifest.py --check    fail if the file is not current
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(__file__).resolve().parent / "cairn" / "manifest.py"


def calls(path, names):
    """Yields (macro, [argument, …]) of every call of a macro in `names`, in order."""
    text = re.sub(r"/\*.*?\*/", "", (ROOT / path).read_text(encoding="utf-8"), flags=re.S)
    text = re.sub(r"^#.*", "", text, flags=re.M)
    for match in re.finditer(r"\b(%s)\(((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*)\)" % "|".join(names), text):
        words = re.findall(r"\"[^\"]*\"|\([^()]*\)|[^,\s][^,\"]*", match.group(2))
        yield match.group(1), [word.strip() for word in words]


# Named bounds that commands.def uses as defaults.
NUMBERS = {"LENGTH_MAX": "1e6"}
WHOLE = ("BODY", "SHAPE", "JOINT", "ENUM", "U32", "INTEGER", "SEED")
EMPTY = {"ATTACHMENTS": [], "TARGETS": [], "POINTS": [], "QUAT": (1.0, 0.0, 0.0, 0.0), "TEXT": "", "NAME": b""}


def default_of(kind, value):
    """The default of a command's field, as Python packs it."""
    for name, number in NUMBERS.items():
        value = value.replace(name, number)
    if kind in EMPTY:
        return EMPTY[kind]
    number = float(value)
    if kind == "VEC3":
        return (number,) * 3
    return int(number) if kind in WHOLE else number


def words_of():
    """{list: [word, …]} and {(command, field): list} of words.def."""
    lists, worded = {}, {}
    for macro, words in calls("server/engine/world/words.def", ["WORD", "WORDED"]):
        if macro == "WORD":
            known = lists.setdefault(words[0].lower(), [])
            known += [""] * (int(words[1]) - len(known)) + [words[2]]
        else:
            worded[words[0].lower(), words[1]] = words[2].lower()
    return lists, worded


def words_lines():
    lists, worded = words_of()
    yield '# Words for numbers, by list; the first word of a list that begins with 1 is "".'
    yield "WORDS = {"
    for name, words in lists.items():
        yield f'    "{name}": {json.dumps(words)},'
    yield "}"
    yield ""
    yield "# The list of words of each command field that has one."
    yield "WORDED = {"
    for (command, field), name in worded.items():
        yield f'    ("{command}", "{field}"): "{name}",'
    yield "}"
    yield ""


def lines():
    yield '"""Numbers and fields of the wire. Written by make_manifest.py; do not edit."""'
    yield ""
    yield "STATUS = {"
    for _, words in calls("server/base/status.def", ["STATUS"]):
        yield f'    {words[0]}: ("{words[2]}", {words[3]}),'
    yield "}"
    yield ""
    yield "MESSAGE = {"
    for _, words in calls("protocol/messages.def", ["MESSAGE", "RESERVED"]):
        yield f'    "{words[2]}": {words[0]},'
    yield "}"
    yield ""
    yield "# name: (number, count of required fields, [(field, type), ...])"
    yield "COMMAND = {"
    fields = []
    for macro, words in calls("server/engine/world/commands.def", ["COMMAND", "FIELD", "END"]):
        if macro == "COMMAND":
            head = f'    "{words[2]}": ({words[0]}, {words[3]}, ['
            fields = []
        elif macro == "FIELD":
            fields.append(f'("{words[2]}", "{words[1]}")')
        else:
            yield head
            for field in fields:
                yield f"        {field},"
            yield "    ]),"
    yield "}"
    yield ""
    yield "# The value of a field that is omitted before a given one. A field without a default is required."
    yield "DEFAULTS = {"
    for macro, words in calls("server/engine/world/commands.def", ["COMMAND", "FIELD", "END"]):
        if macro == "COMMAND":
            head, needed, defaults = words[2], int(words[3]), {}
            place = 0
        elif macro == "FIELD":
            if place >= needed:
                defaults[words[2]] = default_of(words[1], words[5])
            place += 1
        elif defaults:
            yield f'    "{head}": {{'
            for name, value in defaults.items():
                yield f'        "{name}": {value!r},'
            yield "    },"
    yield "}"
    yield ""
    yield from words_lines()
    yield "# Kinds of QUERY by name."
    yield "QUERY = {"
    for _, words in calls("protocol/queries.def", ["QUERY"]):
        yield f'    "{words[2]}": {words[0]},'
    yield "}"
    yield ""
    yield "COLUMN = {"
    for _, words in calls("protocol/columns.def", ["COLUMN"]):
        yield f'    "{words[2]}": {1 << int(words[0])},'
    yield "}"
    yield ""
    yield "# Bits of SUBSCRIBE.joints by column."
    yield "JOINT_COLUMN = {"
    for _, words in calls("protocol/columns.def", ["JOINT_COLUMN"]):
        yield f'    "{words[2]}": {1 << int(words[0])},'
    yield "}"


def write_or_check(target, text):
    """Writes a manifest; with --check exits with an error if the file is not current."""
    if "--check" in sys.argv[1:]:
        if target.read_text(encoding="utf-8") != text:
            sys.exit(f"{target.relative_to(ROOT)} is not what make_manifest.py writes")
    else:
        target.write_text(text, encoding="utf-8")


def main():
    write_or_check(TARGET, "\n".join(lines()) + "\n")


if __name__ == "__main__":
    main()
