#!/usr/bin/env python3
"""Writes cairn/manifest.py and cairn/commands.py from the manifests the server is compiled from.

    clients/python/make_manifest.py            write the files
    clients/python/make_manifest.py --check    fail if a file is not current
"""
import json
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(__file__).resolve().parent / "cairn"
TARGET = FOLDER / "manifest.py"
COMMANDS = FOLDER / "commands.py"


def calls(path, names):
    """Yields (macro, [argument, …]) of every call of a macro in `names`, in order."""
    text = re.sub(r"/\*.*?\*/", "", (ROOT / path).read_text(encoding="utf-8"), flags=re.S)
    text = re.sub(r"^#.*", "", text, flags=re.M)
    for match in re.finditer(r"\b(%s)\(((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*)\)" % "|".join(names), text):
        words = re.findall(r"\"[^\"]*\"|\([^()]*\)|[^,\s][^,\"]*", match.group(2))
        yield match.group(1), [word.strip() for word in words]


# Named bounds that commands.def uses as defaults.
NUMBERS = {"LENGTH_MAX": "1e6"}
WHOLE = ("BODY", "SHAPE", "JOINT", "FORCE_FIELD", "ENUM", "U32", "INTEGER", "SEED")
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


# Types of a command's fields whose numbers have the limits of the list, and of those within ±LENGTH_MAX.
LIMITED = ("ENUM", "U32", "INTEGER", "F64", "VEC3")
PLACED = ("ATTACHMENTS", "TARGETS", "POINTS")


def number_text(value):
    """The shortest text of a number, in Python and JavaScript."""
    return re.sub(r"\.0$", "", repr(value))


def limits_of():
    """{command: {field: (type, least, most, unit)}} of the numbers in commands, as texts; of a rotation no limits."""
    known, found = bounds(), {}
    for macro, words in calls("server/engine/world/commands.def", ["COMMAND", "FIELD"]):
        if macro == "COMMAND":
            name, _ = words[2], found.setdefault(words[2], {})
        elif words[1] in LIMITED + PLACED:
            ends = words[3:5] if words[1] in LIMITED else ("-LENGTH_MAX", "LENGTH_MAX")
            found[name][words[2]] = (words[1], *(number_text(bound(end, known)) for end in ends), words[6].strip('"'))
        elif words[1] == "QUAT":
            found[name][words[2]] = ("QUAT", "0", "0", "")
    return {name: fields for name, fields in found.items() if fields}


def query_limits():
    """{number: [(field, type, least, most), …]} of queries with fields, as texts."""
    known, found = bounds(), {}
    for macro, words in calls("protocol/queries.def", ["QUERY", "NEED", "FIELD"]):
        if macro == "QUERY":
            number = words[0]
        else:
            found.setdefault(number, []).append(
                (words[2], words[0], *(number_text(bound(end, known)) for end in words[3:5])))
    return found


def limit_lines():
    yield f"LENGTH_MAX = {number_text(bounds()['LENGTH_MAX'])}"
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


def version():
    """The version of the project, from configure.ac."""
    return re.search(r"AC_INIT\(\[[^]]*\],\s*\[([^]]*)\]", (ROOT / "configure.ac").read_text(encoding="utf-8")).group(1)


def number_lines():
    """Numbers by name: kinds of queries and observations, bits of columns."""
    for name, about, manifest, macro, number in (
            ("QUERY", "Kinds of QUERY by name.", "queries", "QUERY", int),
            ("OBSERVATION", "Kinds of observations of STEP_WORLDS.", "observations", "OBSERVATION", int),
            ("COLUMN", "Bits of SUBSCRIBE.fields by column.", "columns", "COLUMN", lambda bit: 1 << int(bit)),
            ("JOINT_COLUMN", "Bits of SUBSCRIBE.joints by column.", "columns", "JOINT_COLUMN", lambda bit: 1 << int(bit))):
        yield f"# {about}"
        yield f"{name} = {{"
        for _, words in calls(f"protocol/{manifest}.def", [macro]):
            yield f'    "{words[2]}": {number(words[0])},'
        yield "}"
        yield ""


def lines():
    yield '"""Numbers and fields of the wire. Written by make_manifest.py; do not edit."""'
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
    yield from limit_lines()
    yield from words_lines()
    yield from number_lines()


# ---- commands.py: a method for each command ---------------------------------------------------------

# Commands to the whole world whose plain name would be an attribute of World.
RENAMED = {name: f"set_{name}" for name in ("gravity", "parameter", "method", "seed", "bounds")}
TYPES = {"BODY": "int", "SHAPE": "int", "JOINT": "int", "FORCE_FIELD": "int", "ENUM": "int", "U32": "int", "INTEGER": "int", "SEED": "int",
         "F64": "float", "VEC3": "Vector", "QUAT": "Rotation", "TEXT": "str", "NAME": "bytes",
         "ATTACHMENTS": "Sequence", "TARGETS": "Sequence", "POINTS": "Sequence"}
YIELDS = {"BODY": "the body's id", "SHAPE": "the shape's id in the world", "JOINT": "the joint's id",
          "FORCE_FIELD": "the field's id"}
# The field of clients that stands for two.
FRICTION_DOC = "static_friction and dynamic_friction, where they are not given, as in scenes"
# What spawn() makes if these are not given: a dynamic body at the origin.
SPAWNED = {"status": '"dynamic"', "position": "(0, 0, 0)"}


def bounds():
    """{name: value} of the limits that commands.def names."""
    text = "".join((ROOT / path).read_text(encoding="utf-8") for path in
                   ("server/engine/types.h", "server/engine/world/command.h", "protocol/limits.h", "protocol/query_wire.h"))
    found = {"UINT32_MAX": 4294967295.0} | {name: float(value) for name, value in re.findall(r"#define (\w+) ([-+.\de]+)", text)}
    for name, value in re.findall(r"(\w+) = (\d+)", text):
        found.setdefault(name, float(value))
    return found


def bound(word, known):
    sign, name = (-1, word[1:]) if word.startswith("-") else (1, word)
    return sign * (known[name] if name in known else float(name))


def bound_text(word, known):
    return f"{bound(word, known):.10g}"


def field_text(kind, words, known):
    """A line on a field: name, unit, range, meaning."""
    _, _, name, least, most, _, unit, doc = words
    parts = []
    if kind in ("F64", "VEC3") and (least, most) != ("0", "0"):
        parts.append(f"{bound_text(least, known)} … {bound_text(most, known)}")
    if unit.strip('"'):
        parts.append(unit.strip('"'))
    head = f"{name} ({' '.join(parts)})" if parts else name
    doc = doc.strip('"')
    return f"{head}: {doc}" if doc else head


def method_lines(head, fields, worded, known):
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
            parameters.append(f"{field}: Optional[{kind}] = None")
    if frictions:
        parameters.append("friction: Optional[float] = None")
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
        yield from textwrap.wrap("- " + field_text(words[1], words, known), 112, initial_indent=" " * 8,
                                 subsequent_indent=" " * 10, break_on_hyphens=False)
    if frictions:
        yield f"        - friction: {FRICTION_DOC}"
    yield '        """'
    given = ", ".join(f"{field}={field}" for field in names + ["friction"] * frictions)
    yield from textwrap.wrap(f'return self._command("{name}", {given})', 112, initial_indent=" " * 8,
                             subsequent_indent=" " * 29, break_on_hyphens=False)
    yield ""


def command_lines():
    known, (_, worded) = bounds(), words_of()
    yield '"""A method for each command. Written by make_manifest.py; do not edit."""'
    yield "from typing import Optional, Sequence, Tuple, Union"
    yield ""
    yield "Vector = Sequence[float]"
    yield "Rotation = Tuple[float, float, float, float]"
    yield ""
    yield ""
    yield "class Commands:"
    yield '    """The commands as methods. A call sends a batch of this command alone and waits for its result; of the asyncio'
    yield "    client it is a coroutine. Several commands in one batch: World.apply(command(...), ...). A field that is not given"
    yield '    has the default of docs/COMMANDS.md. Numbers are in SI units, rotations (w, x, y, z)."""'
    yield ""
    fields = []
    for macro, words in calls("server/engine/world/commands.def", ["COMMAND", "FIELD", "END"]):
        if macro == "COMMAND":
            head, fields = words, []
        elif macro == "FIELD":
            fields.append(words)
        else:
            yield from method_lines(head, fields, worded, known)


def write_or_check(target, text):
    """Writes a manifest; with --check exits with an error if the file is not current."""
    if "--check" in sys.argv[1:]:
        if target.read_text(encoding="utf-8") != text:
            sys.exit(f"{target.relative_to(ROOT)} is not what make_manifest.py writes")
    else:
        target.write_text(text, encoding="utf-8")


def main():
    write_or_check(TARGET, "\n".join(lines()).rstrip() + "\n")
    write_or_check(COMMANDS, "\n".join(command_lines()).rstrip() + "\n")


if __name__ == "__main__":
    main()
