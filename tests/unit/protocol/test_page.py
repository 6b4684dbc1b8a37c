"""docs/PROTOCOL.md is complete without the source: it refers to no names of the source, and has a row for every status,
value, parameter, option and range of the source."""
import os
import pathlib
import re

import pytest

SOURCE = pathlib.Path(os.environ["CAIRN_SRCDIR"])
PAGE = (SOURCE / "docs" / "PROTOCOL.md").read_text()
PROSE = re.sub(r"```.*?```", "", PAGE, flags=re.S)


@pytest.mark.parametrize("pattern", [
    r"\b[\w/]+\.(?:h|c|def)\b",             # files of the source
    r"\benum \w+",                           # its enums
    r"\b(?:WIRE|MESSAGE|STATUS|COMMAND)_[A-Z_]+\b",  # and its constants
    r"\b(?:struct|uint\d+_t|int\d+_t)\b",
], ids=["files", "enums", "constants", "types"])
def test_the_page_does_not_refer_to_names_of_the_source(pattern):
    assert sorted(set(re.findall(pattern, PROSE))) == []


def test_every_link_within_the_page_has_its_target():
    headings = {re.sub(r"[^a-z0-9 -]", "", line.lower()).strip().replace(" ", "-")
                for line in re.findall(r"^#+ (.*)$", PAGE, flags=re.M)}
    assert [target for target in re.findall(r"\]\(#([^)]*)\)", PAGE) if target not in headings] == []


def test_every_file_named_on_the_page_exists():
    named = set(re.findall(r"`((?:tests|docs)/[\w./]+)", PROSE)) | {f"docs/{n}" for n in re.findall(r"\]\((\w+\.md)", PROSE)}
    assert named and [name for name in sorted(named) if not (SOURCE / name.rstrip("/")).exists()] == []


def table(title):
    """The rows of the generated table, without its head."""
    text = PAGE.split(f"<!-- made by: wire_vectors {title} -->")[1].split("<!-- end -->")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")]


def macros(path, name):
    text = (SOURCE / path).read_text()
    return re.findall(rf"^{name}\((\d+), (\w+)", text, flags=re.M)


def test_every_status_has_a_row():
    rows = {row[0]: row for row in table("statuses")[1:]}
    assert set(rows) == {number for number, _ in macros("server/base/status.def", "STATUS")}
    for row in rows.values():
        assert row[2] in ("yes", "no")
        assert row[2] == "no" or row[4], "what closes is told in GOODBYE"


def test_every_value_of_an_enumerated_field_has_a_row():
    """The enums of the source that stand in fields, by their values."""
    source = (SOURCE / "protocol" / "message.h").read_text()
    rows = table("numbers")
    for enum in ("mode", "control", "late", "profile", "want", "frame_flags"):
        body = re.search(rf"^enum wire_{enum} \{{(.*?)^\}};", source, flags=re.S | re.M).group(1)
        numbers = re.findall(r"= (\d+),", re.sub(r"WIRE_PROFILES = \d+,", "", body))
        assert numbers
        named = [row[0] for row in rows]
        assert all(number in named for number in numbers)


def test_every_parameter_has_its_range_and_initial_value():
    listed = table("parameters")
    rows = {row[0]: row for row in listed[1:] if len(row) == 5}
    source = (SOURCE / "server/engine/world/parameters.def").read_text()
    names = dict(re.findall(r'^PARAMETER\(\d+, (\w+), "([^"]+)"', source, re.M))
    assert set(rows) == set(names.values())
    assert all("…" in row[1] and row[2] and row[3] for row in rows.values())
    old = {row[0]: row[1] for row in listed if len(row) == 2 and not row[0].startswith("old name")}
    assert old == {name: names[of] for of, name in re.findall(r'^PARAMETER_ALIAS\((\w+), "([^"]+)"', source, re.M)}
    assert old


def test_every_option_of_a_new_world_is_listed():
    code = (SOURCE / "server" / "worlds" / "worlds_open.c").read_text()
    options = set(re.findall(r'wire_slice_is\(key, "(\w+)"\)', code))
    section = PAGE.split("## Worlds")[1].split("## Commands")[0]
    assert len(options) > 10 and {o for o in options if f"| {o} |" not in section} == set()


def test_every_number_in_a_command_has_its_range():
    text = PAGE.split("<!-- made by: wire_vectors commands -->")[1].split("<!-- end -->")[0]
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| ") and not line.startswith("| field")]
    numbers = [row for row in rows if row[2].strip() in ("ENUM", "U32", "INTEGER", "F64", "VEC3")]
    assert len(numbers) > 40 and all("…" in row[3] for row in numbers)
