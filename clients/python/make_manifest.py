#!/usr/bin/env python3
"""Writes cairn/manifest.py and cairn/commands.py from the manifests the server is compiled from.

    clients/python/make_manifest.py            write the files
    clients/python/make_manifest.py --check    fail if a file is not current
"""
import json
import pathlib
import sys
import textwrap

FOLDER = pathlib.Path(__file__).resolve().parent / "cairn"
sys.path.insert(0, str(FOLDER.parents[1]))
from manifests import (FRICTION_DOC, bound, bounds, calls, commands, field_text, limits_of, named_numbers,  # noqa: E402
                       number_text, query_limits, version, words_of, write_or_check)

TARGET = FOLDER / "manifest.py"
COMMANDS = FOLDER / "commands.py"
BOUNDS = bounds()


WHOLE = ("BODY", "SHAPE", "JOINT", "FORCE_FIELD", "PARTICLES", "ENUM", "U32", "INTEGER", "SEED")
EMPTY = {"ATTACHMENTS": [], "TARGETS": [], "POINTS": [], "QUAT": (1.0, 0.0, 0.0, 0.0), "TEXT": "", "NAME": b""}


def default_of(kind, value):
    """The default of a command's field, as Python packs it."""
    if kind in EMPTY:
        return EMPTY[kind]
    number = bound(value, BOUNDS)
    if kind == "VEC3":
        return (number,) * 3
    return int(number) if kind in WHOLE else number


def limit_lines():
    yield f"LENGTH_MAX = {number_text(BOUNDS['LENGTH_MAX'])}"
    yield ""
    yield "# Least and most value of each number of a command's field, and its unit."
    yield "LIMITS = {"
    for name, fields in limits_of().items():
        yield f'    "{name}": {{'
        for field, (kind, least, most, unit) in fields.items():
            if kind == "QUAT":  # its length has limits, not its numbers
                continue
            yield f'        "{field}": ({least}, {most}, "{unit}"),'
        yield "    },"
    yield "}"
    yield ""
    yield "# The fields of each QUERY: (field, type, least, most), types as in protocol/queries.def."
    yield "QUERY_LIMITS = {"
    for number, fields in query_limits().items():
        yield f"    {number}: ("
        for field, kind, least, most in fields:
            yield f'        ("{field}", "{kind}", {least}, {most}),'
        yield "    ),"
    yield "}"
    yield ""


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


def number_lines():
    for name, about, numbers in named_numbers():
        yield f"# {about}"
        yield f"{name} = {{"
        yield from (f'    "{word}": {number},' for word, number in numbers.items())
        yield "}"
        yield ""


def lines():
    yield '"""Numbers and fields of the wire. Written by make_manifest.py; do not edit."""'
    yield '# table: a line for each number and field'
    yield ""
    yield f'VERSION = "{version()}"'
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
    for head, fields in commands():
        yield f'    "{head[2]}": ({head[0]}, {head[3]}, ['
        yield from (f'        ("{words[2]}", "{words[1]}"),' for words in fields)
        yield "    ]),"
    yield "}"
    yield ""
    yield "# The value of a field that is omitted before a given one. A field without a default is required."
    yield "DEFAULTS = {"
    for head, fields in commands():
        optional = fields[int(head[3]):]
        if optional:
            yield f'    "{head[2]}": {{'
            yield from (f'        "{words[2]}": {default_of(words[1], words[5])!r},' for words in optional)
            yield "    },"
    yield "}"
    yield ""
    yield from limit_lines()
    yield from words_lines()
    yield from number_lines()


# ---- commands.py: a method for each command ---------------------------------------------------------

# Commands to the whole world whose plain name would be an attribute of World.
RENAMED = {name: f"set_{name}" for name in ("gravity", "parameter", "method", "seed", "bounds")}
TYPES = {"BODY": "int", "SHAPE": "int", "JOINT": "int", "FORCE_FIELD": "int", "PARTICLES": "int", "ENUM": "int", "U32": "int", "INTEGER": "int", "SEED": "int",
         "F64": "float", "VEC3": "Vector", "QUAT": "Rotation", "TEXT": "str", "NAME": "bytes",
         "ATTACHMENTS": "Sequence", "TARGETS": "Sequence", "POINTS": "Sequence"}
OPTIONAL = {"int": "Whole", "float": "Real"}
YIELDS = {"BODY": "the body's id", "SHAPE": "the shape's id in the world", "JOINT": "the joint's id",
          "FORCE_FIELD": "the field's id", "PARTICLES": "the system's id"}
# What spawn() makes if these are not given: a dynamic body at the origin.
SPAWNED = {"status": '"dynamic"', "position": "(0, 0, 0)"}


def method_lines(head, fields, worded):
    """A method for one command. A field that is not given is None, and not sent."""
    _, _, name, needed, result, doc = head
    called = RENAMED.get(name, name)
    spawn = SPAWNED if name == "spawn" else {}
    parameters = ["self"]
    needed, names = int(needed), [words[2] for words in fields]
    frictions = "static_friction" in names
    if frictions:  # `friction` may stand for them
        needed = min(needed, names.index("static_friction"))
    for place, words in enumerate(fields):
        field, kind = words[2], TYPES[words[1]]
        kind = "Union[int, str]" if (name, field) in worded else kind
        if field in spawn:
            parameters.append(f"{field}: {kind} = {spawn[field]}")
        elif place < needed:
            parameters.append(f"{field}: {kind}")
        else:
            parameters.append(f"{field}: {OPTIONAL.get(kind, f'Optional[{kind}]')} = None")
    if frictions:
        parameters.append("friction: Real = None")
    # A parameter stays on one line.
    text = textwrap.wrap(", ".join(parameter.replace(" ", "\0") for parameter in parameters), 108 - len(called),
                         break_on_hyphens=False, break_long_words=False)
    yield f"    def {called}(" + f"\n{' ' * (9 + len(called))}".join(text).replace("\0", " ") + "):"
    about = doc.strip('"')
    yields = f" Returns {YIELDS[result]}." if result in YIELDS else ""
    yield from textwrap.wrap(f'"""{about[0].upper()}{about[1:]}.{yields} Raises Refused.', 112, initial_indent=" " * 8,
                             subsequent_indent=" " * 8, break_on_hyphens=False)
    yield ""
    for words in fields:
        yield from textwrap.wrap("- " + field_text(words[1], words, BOUNDS), 112, initial_indent=" " * 8,
                                 subsequent_indent=" " * 10, break_on_hyphens=False)
    if frictions:
        yield f"        - friction: {FRICTION_DOC}"
    yield '        """'
    given = ", ".join(f"{field}={field}" for field in names + ["friction"] * frictions)
    yield from textwrap.wrap(f'return self._command("{name}", {given})', 112, initial_indent=" " * 8,
                             subsequent_indent=" " * 29, break_on_hyphens=False)
    yield ""


def command_lines():
    _, worded = words_of()
    yield '"""A method for each command. Written by make_manifest.py; do not edit."""'
    yield '# table: methods have a line for each field'
    yield "from typing import Optional, Sequence, Tuple, Union"
    yield ""
    yield "Vector = Sequence[float]"
    yield "Rotation = Tuple[float, float, float, float]"
    yield "Whole, Real = Optional[int], Optional[float]"
    yield ""
    yield ""
    yield "class Commands:"
    yield '    """The commands as methods. A call sends a batch of this command alone and waits for its result; of the asyncio'
    yield "    client it is a coroutine. Several commands in one batch: World.apply(command(...), ...). A field that is not given"
    yield '    has the default of docs/COMMANDS.md. Numbers are in SI units, rotations (w, x, y, z)."""'
    yield ""
    for head, fields in commands():
        yield from method_lines(head, fields, worded)


def main():
    write_or_check(TARGET, "\n".join(lines()).rstrip() + "\n")
    write_or_check(COMMANDS, "\n".join(command_lines()).rstrip() + "\n")


if __name__ == "__main__":
    main()
