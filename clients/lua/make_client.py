#!/usr/bin/env python3
"""Writes a client's tables and functions for Lua from the schema that `cairn schema` prints, and from nothing else.

    clients/lua/make_client.py SCHEMA.json            write cairn/wire.lua
    clients/lua/make_client.py SCHEMA.json --check    fail if it is not current
"""
import json
import pathlib
import sys

TARGET = pathlib.Path(__file__).resolve().parent / "cairn" / "wire.lua"
# Types of commands whose fields are numbers; the others have no number as default.
WHOLE = {"body", "shape", "joint", "enum", "u32", "integer", "seed"}


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def number(value):
    return repr(int(value)) if float(value).is_integer() and abs(value) < 2 ** 53 else repr(float(value))


def real(value):
    text = repr(float(value))
    return text if "inf" not in text else "math.huge"


def default(field):
    """The default of a command's field as Lua."""
    if field["type"] in WHOLE:
        return number(field["default"])
    if field["type"] == "f64":
        return real(field["default"])
    if field["type"] == "vec3":
        return "{" + ", ".join([real(field["default"])] * 3) + "}"
    return {"quat": "{1.0, 0.0, 0.0, 0.0}", "text": '""', "name": '""'}.get(field["type"], "{}")


def table(name, items):
    yield f"wire.{name} = {{"
    yield from (f"\t{item}," for item in items)
    yield "}"
    yield ""


def command(item):
    fields = []
    for place, field in enumerate(item["fields"]):
        fallback = "" if place < item["needed"] else f", default = {default(field)}"
        fields.append(f"{{name = {quoted(field['name'])}, type = {quoted(field['type'])}, min = {number(field['min'])}, "
                      f"max = {number(field['max'])}{fallback}}}")
    return f"{item['name']} = {{number = {item['number']}, fields = {{\n\t\t" + ",\n\t\t".join(fields) + "}}"


def message(item):
    fields = ", ".join(quoted(field["name"]) for field in item["fields"])
    return (f"{item['name'].lower()} = {{number = {item['number']}, layout = {quoted(item['layout'])}, "
            f"fields = {{{fields}}}}}")


def query(item):
    fields = ", ".join(f"{{name = {quoted(field['name'])}"
                       + ("" if field["needed"] else f", default = {number(field['fallback'])}") + "}"
                       for field in item["fields"])
    return f"{item['name']} = {{number = {item['number']}, fields = {{{fields}}}}}"


def lines(schema):
    yield "-- The lists of the wire. Written by make_client.py from `cairn schema`; do not edit."
    yield f"local wire = {{version = {quoted(schema['version'])}, major = {schema['protocol'][0]}, minor = {schema['protocol'][1]}}}"
    yield ""
    yield from table("status", (f"[{item['number']}] = {quoted(item['name'].lower())}" for item in schema["statuses"]))
    yield "-- Messages by name: number, layout, and the names of the fields in order."
    yield from table("message", map(message, (item for item in schema["messages"] if not item["reserved"])))
    yield "-- Commands by name: number and fields in order; a field without default is required."
    yield from table("command", map(command, (item for item in schema["commands"] if not item["reserved"])))
    yield from table("query", map(query, (item for item in schema["queries"] if not item["reserved"])))
    yield from table("column", (f"{item['name']} = {1 << item['bit']}" for item in schema["columns"]))
    lists = {}
    for item in schema["words"]:
        lists.setdefault(item["list"].lower(), []).append(f"{item['word']} = {item['number']}")
    yield from table("words", (f"{name} = {{{', '.join(words)}}}" for name, words in lists.items()))
    yield "-- The list of words of a command's field: wire.worded[\"spawn.status\"]."
    yield from table("worded", (f"[{quoted(item['command'].lower() + '.' + item['field'])}] = wire.words.{item['list'].lower()}"
                                for item in schema["worded"]))
    yield "return wire"


def main():
    text = "\n".join(lines(json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")))) + "\n"
    if "--check" in sys.argv[2:]:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
            sys.exit(f"{TARGET.name} is not what make_client.py writes")
    else:
        TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
