#!/usr/bin/env python3
"""Writes the part of cairn.h that follows from the manifests the server is compiled from.

    clients/c/make_header.py            write it
    clients/c/make_header.py --check    fail if it is not current
"""
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
from make_manifest import ROOT, bounds, calls, field_text, version, words_of, write_or_check  # noqa: E402

TARGET = HERE / "cairn.h"
BEGIN = "/* ---- from the manifests: make_header.py writes this part ---- */\n"
END = "/* ---- end of that part ---- */\n"
TYPES = {"BODY": "int64_t", "SHAPE": "int64_t", "JOINT": "int64_t", "ENUM": "uint8_t", "U32": "uint32_t",
         "INTEGER": "int64_t", "F64": "double", "VEC3": "cairn_vec3", "QUAT": "cairn_quat", "TEXT": "cairn_text",
         "NAME": "cairn_name", "SEED": "uint64_t", "ATTACHMENTS": "cairn_attachments",
         "TARGETS": "cairn_joint_targets", "POINTS": "cairn_joint_points"}
# Bytes of the union of commands, so that an array of commands keeps its layout when a field is appended.
COMMAND_BYTES = 512


def comment(text, indent=""):
    lines = textwrap.wrap(text, 92 - len(indent))
    yield from (f"{indent}{'/*' if place == 0 else ' *'} {line}" + (" */" if place + 1 == len(lines) else "")
                for place, line in enumerate(lines))


def enumeration(name, doc, members):
    yield from comment(doc)
    members = list(members)
    short = f"enum {name} {{ {', '.join(f'{member} = {number}' for member, number in members)} }};"
    if len(short) <= 100:  # as make format would have it
        yield short
        return
    yield f"enum {name} {{"
    yield from (f"\t{member} = {number}{',' if place + 1 < len(members) else ''}"
                for place, (member, number) in enumerate(members))
    yield "};"


def event_kinds():
    text = (ROOT / "server/engine/types.h").read_text(encoding="utf-8")
    body = re.search(r"enum event_kind \{(.*?)\};", text, re.S).group(1)
    return [(f"CAIRN_EVENT_{name}", number) for name, number in re.findall(r"EVENT_(\w+)\s*=\s*(\d+)", body)]


def commands():
    """[(head, fields)] of commands.def."""
    found = []
    for macro, words in calls("server/engine/world/commands.def", ["COMMAND", "FIELD", "END"]):
        if macro == "COMMAND":
            found.append((words, []))
        elif macro == "FIELD":
            found[-1][1].append(words)
    return found


def command_lines(head, fields, known):
    yield from comment(head[5].strip('"') + (f"; yields a {head[4].lower()}" if head[4] != "NOTHING" else "") + ".")
    yield f"struct cairn_command_{head[2]} {{"
    for words in fields:
        yield from comment(field_text(words[1], words, known), "\t")
        yield f"\t{TYPES[words[1]]} {words[2]};"
    yield "};"
    yield ""


def lines():
    known, listed = bounds(), commands()
    yield f'#define CAIRN_VERSION "{version()}"'
    yield ""
    yield from enumeration("cairn_status", "Results; numbers are permanent (cairn_status_text explains them).",
                           [(f"CAIRN_STATUS_{words[1]}", words[0]) for _, words in calls("server/base/status.def", ["STATUS"])])
    yield ""
    yield from enumeration("cairn_event_kind", "Kinds of events (docs/PROTOCOL.md, EVENTS).", event_kinds())
    yield ""
    for name, words in words_of()[0].items():
        yield from enumeration(f"cairn_{name}", f"Values of {name.replace('_', ' ')} fields.",
                               [(f"CAIRN_{name.upper()}_{word.upper()}", place)
                                for place, word in enumerate(words) if word])
        yield ""
    yield "/* `ticks` of a force that lasts until its body is removed. */"
    yield "#define CAIRN_FOREVER UINT32_MAX"
    yield ""
    for head, fields in listed:
        yield from command_lines(head, fields, known)
    yield from enumeration("cairn_command_op", "Commands (docs/COMMANDS.md).",
                           [(f"CAIRN_COMMAND_{head[1]}", head[0]) for head, _ in listed])
    yield ""
    yield "/* Made by cairn_command_make; then set the fields of the member of the same name. */"
    yield "typedef struct cairn_command {"
    yield "\tuint16_t op; /* enum cairn_command_op */"
    yield "\tunion {"
    yield from (f"\t\tstruct cairn_command_{head[2]} {head[2]};" for head, _ in listed)
    yield f"\t\tuint64_t reserved[{COMMAND_BYTES // 8}]; /* for fields of later versions */"
    yield "\t};"
    yield "} cairn_command;"


def main():
    text = TARGET.read_text(encoding="utf-8")
    before, after = text.index(BEGIN) + len(BEGIN), text.index(END)
    write_or_check(TARGET, text[:before] + "\n".join(lines()) + "\n" + text[after:])


if __name__ == "__main__":
    main()
