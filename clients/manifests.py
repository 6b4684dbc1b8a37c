"""Reads the manifests the server is compiled from, for the programs that write the clients' tables:
python/make_manifest.py, js/make_manifest.py and c/make_header.py.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def calls(path, names):
    """Yields (macro, [argument, …]) of every call of a macro in `names`, in order."""
    text = re.sub(r"/\*.*?\*/", "", (ROOT / path).read_text(encoding="utf-8"), flags=re.S)
    text = re.sub(r"^#.*", "", text, flags=re.M)
    text = re.sub(r'"\s*\n\s*"', "", text)  # a text in several literals
    for match in re.finditer(r"\b(%s)\(((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*)\)" % "|".join(names), text):
        words = re.findall(r"\"[^\"]*\"|\([^()]*\)|[^,\s][^,\"]*", match.group(2))
        yield match.group(1), [word.strip() for word in words]


def grouped(path, head, ends):
    """Yields (words of a `head` macro, [(macro, words), …] of those of `ends` that follow it), in order."""
    first, items = None, []
    for macro, words in calls(path, [head, *ends]):
        if macro != head:
            items.append((macro, words))
            continue
        if first is not None:
            yield first, items
        first, items = words, []
    if first is not None:
        yield first, items


def commands():
    """Yields (words of COMMAND, [words of FIELD, …])."""
    for head, fields in grouped("server/engine/world/commands.def", "COMMAND", ["FIELD"]):
        yield head, [words for _, words in fields]


def queries():
    """Yields (words of QUERY, [(NEED or FIELD, words), …])."""
    yield from grouped("protocol/queries.def", "QUERY", ["NEED", "FIELD"])


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


# Types of a command's fields whose numbers have the limits of the list, and of those within ±LENGTH_MAX.
LIMITED = ("ENUM", "U32", "INTEGER", "F64", "VEC3")
PLACED = ("ATTACHMENTS", "TARGETS", "POINTS")


def number_text(value):
    """The shortest text of a number, in Python and JavaScript."""
    return re.sub(r"\.0$", "", repr(value))


def limits_of():
    """{command: {field: (type, least, most, unit)}} of the numbers in commands, as texts; of a rotation no limits."""
    known, found = bounds(), {}
    for head, fields in commands():
        limits = found[head[2]] = {}
        for words in fields:
            if words[1] in LIMITED + PLACED:
                ends = words[3:5] if words[1] in LIMITED else ("-LENGTH_MAX", "LENGTH_MAX")
                if words[1] == "POINTS" and words[5] != "0":
                    ends = (f"-{words[5]}", words[5])
                limits[words[2]] = (words[1], *(number_text(bound(end, known)) for end in ends), words[6].strip('"'))
            elif words[1] == "QUAT":
                limits[words[2]] = ("QUAT", "0", "0", "")
    return {name: limits for name, limits in found.items() if limits}


def query_limits():
    """{number: [(field, type, least, most), …]} of queries with fields, as texts."""
    known = bounds()
    return {head[0]: [(words[2], words[0], *(number_text(bound(end, known)) for end in words[3:5])) for _, words in fields]
            for head, fields in queries() if fields}


def named_numbers():
    """Yields (name, what it is, {word: number}): kinds of queries and observations, bits of columns."""
    for name, about, manifest, macro, number in (
            ("QUERY", "Kinds of QUERY by name.", "queries", "QUERY", int),
            ("OBSERVATION", "Kinds of observations of STEP_WORLDS.", "observations", "OBSERVATION", int),
            ("COLUMN", "Bits of SUBSCRIBE.fields by column.", "columns", "COLUMN", lambda bit: 1 << int(bit)),
            ("JOINT_COLUMN", "Bits of SUBSCRIBE.joints by column.", "columns", "JOINT_COLUMN", lambda bit: 1 << int(bit)),
            ("PARTICLE_COLUMN", "Bits of SUBSCRIBE.particles by column.", "columns", "PARTICLE_COLUMN", lambda bit: 1 << int(bit))):
        yield name, about, {words[2]: number(words[0]) for _, words in calls(f"protocol/{manifest}.def", [macro])}


def version():
    """The version of the project, from configure.ac."""
    return re.search(r"AC_INIT\(\[[^]]*\],\s*\[([^]]*)\]", (ROOT / "configure.ac").read_text(encoding="utf-8")).group(1)


# The field of clients that stands for two.
FRICTION_DOC = "static_friction and dynamic_friction, where they are not given, as in scenes"


def write_or_check(target, text):
    """Writes a manifest; with --check exits with an error if the file is not current."""
    if "--check" in sys.argv[1:]:
        if target.read_text(encoding="utf-8") != text:
            sys.exit(f"{target.relative_to(ROOT)} is not what make_manifest.py writes")
    else:
        target.write_text(text, encoding="utf-8")
