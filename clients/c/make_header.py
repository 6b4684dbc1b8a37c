#!/usr/bin/env python3
"""Writes cairn_manifest.h from the manifests the server is compiled from.

    clients/c/make_header.py            write it
    clients/c/make_header.py --check    fail if it is not current
"""
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from manifests import (ROOT, bound_text, bounds, calls, commands, field_text, queries, version, words_of,  # noqa: E402
                       write_or_check)

TARGET = HERE / "cairn_manifest.h"
HEAD = """\
/* cairn_manifest.h: the part of cairn.h that follows from the server's lists: statuses, commands and queries.
 * cairn.h includes it. Written by make_header.py; do not edit. */
/* table */
#ifndef CAIRN_MANIFEST_H
#define CAIRN_MANIFEST_H

#include <stdint.h>

typedef struct cairn_vec3 {
	double x, y, z;
} cairn_vec3;
typedef struct cairn_quat {
	double w, x, y, z;
} cairn_quat;
/* Zero-terminated. */
typedef struct cairn_text {
	char text[32];
} cairn_text;
/* SHA-256 of the canonical bytes of a shape. */
typedef struct cairn_name {
	uint8_t bytes[32];
} cairn_name;
/* A shape on a body: its id in the world, and its place in body axes. A rotation of all zeros is
 * none. */
typedef struct cairn_attachment {
	int64_t shape;
	cairn_vec3 position;
	cairn_quat rotation;
} cairn_attachment;
/* A target of one axis (0 … 5) of a joint. */
typedef struct cairn_joint_target {
	int64_t joint;
	uint8_t axis;
	double value;
} cairn_joint_target;
/* A point of a motor's table: s since the table was set, and the value. */
typedef struct cairn_joint_point {
	double time;
	double value;
} cairn_joint_point;
/* Lists are borrowed for the call that gets the command. */
typedef struct cairn_attachments {
	const cairn_attachment *items;
	uint32_t count;
} cairn_attachments;
typedef struct cairn_joint_targets {
	const cairn_joint_target *items;
	uint32_t count;
} cairn_joint_targets;
typedef struct cairn_joint_points {
	const cairn_joint_point *items;
	uint32_t count;
} cairn_joint_points;
/* Borrowed for the call that gets the query. */
typedef struct cairn_bodies {
	const uint32_t *items;
	uint32_t count;
} cairn_bodies;
typedef struct cairn_numbers {
	const double *items;
	uint32_t count;
} cairn_numbers;

"""
TYPES = {"BODY": "int64_t", "SHAPE": "int64_t", "JOINT": "int64_t", "FORCE_FIELD": "int64_t", "PARTICLES": "int64_t", "ENUM": "uint8_t", "U32": "uint32_t",
         "INTEGER": "int64_t", "F64": "double", "VEC3": "cairn_vec3", "QUAT": "cairn_quat", "TEXT": "cairn_text",
         "NAME": "cairn_name", "SEED": "uint64_t", "ATTACHMENTS": "cairn_attachments",
         "TARGETS": "cairn_joint_targets", "POINTS": "cairn_joint_points"}
# Bytes of the union of commands, so that an array of commands keeps its layout when a field is appended.
COMMAND_BYTES = 512
# Numbers of a query for members that are appended; one that is takes from it.
QUERY_RESERVED = 11


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


def command_lines(head, fields, known):
    yield from comment(head[5].strip('"') + (f"; yields a {head[4].lower()}" if head[4] != "NOTHING" else "") + ".")
    yield f"struct cairn_command_{head[2]} {{"
    for words in fields:
        yield from comment(field_text(words[1], words, known), "\t")
        yield f"\t{TYPES[words[1]]} {words[2]};"
    yield "};"
    yield ""


# Members of a query, by form of the manifest. A shape is a text for users of the library.
FORMS = {"VECTOR": "cairn_vec3", "QUATERNION": "cairn_quat", "VALUE": None}
MEMBERS = {"shape": ("const char *", "as in cairn_world_shape; borrowed"), "name": ("cairn_name ", None),
           "bodies": ("cairn_bodies ", None), "values": ("cairn_numbers ", None)}


def query_member(words, known):
    ctype, name, form, fallback, doc = words
    kind, about = MEMBERS.get(name, (f"{FORMS.get(form) or ctype} ", None))
    text = about or doc.strip('"')
    if form == "VALUE" and fallback not in ("0", "UINT32_MAX"):
        text += f"; {bound_text(fallback, known)} unless set"
    yield from comment(text, "\t")
    yield f"\t{kind}{name};"


def query_comment(head, fields):
    """A paragraph on a query: what it reads, and its answer."""
    answer, about = (word.strip('"') for word in head[5:7])
    needed = [words[1] for macro, words in fields if macro == "NEED"]
    given = [words[1] for macro, words in fields if macro == "FIELD"]
    reads = ", ".join(needed + ([f"[{', '.join(given)}]"] if given else [])) or "nothing"
    yield from (f" * {line}" for line in textwrap.wrap(f"CAIRN_QUERY_{head[1]}: {head[4].strip(chr(34))}", 92))
    for text in (f"reads {reads}", answer, about):
        yield from (f" *\t{line}" for line in textwrap.wrap(text, 84, break_long_words=False, break_on_hyphens=False))
    yield " *"


def query_lines(known):
    listed = list(queries())
    yield from enumeration("cairn_query_kind", "Queries (docs/PROTOCOL.md).",
                           [(f"CAIRN_QUERY_{head[1]}", head[0]) for head, _ in listed])
    yield ""
    yield "/* Made by cairn_query_make; then set what the kind reads. In brackets: what may stay as it is."
    yield " * Below each kind is the layout of its answer (cairn_world_query)."
    yield " *"
    for head, fields in listed:
        yield from query_comment(head, fields)
    yield " */"
    yield "typedef struct cairn_query {"
    yield "\tint kind; /* enum cairn_query_kind */"
    for _, words in calls("protocol/queries.def", ["MEMBER"]):
        yield from query_member(words, known)
    yield f"\tuint64_t reserved[{QUERY_RESERVED}]; /* for members of later versions */"
    yield "} cairn_query;"


def lines():
    known, listed = bounds(), list(commands())
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
    yield ""
    yield from query_lines(known)


def main():
    write_or_check(TARGET, HEAD + "\n".join(lines()) + "\n\n#endif\n")


if __name__ == "__main__":
    main()
