"""A number of a result in a comment (`app A-01`, `ch4-5 K2`) must have a row in docs/SOURCES.md,
and the files and tests of the row must exist. A hyphenated number without the short name of its
document must have exactly one row that names the file."""
import os
import re

TITLE = "every source that a comment cites is in docs/SOURCES.md, and the files of every row exist"

PAGE = "docs/SOURCES.md"
ENGINE, TESTS = "server/engine/", "tests/unit/server/engine/"
CITING = (ENGINE, TESTS, "tests/lib/", "tests/property/", "tests/bench/", "tests/golden/")
SECTION = re.compile(r"^## (\S+)$", re.M)
ROW = re.compile(r"^\| ([A-Z]{1,2}-?\d{1,2}) \| .* \| ([^|]*) \| ([^|]*) \|$", re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
NUMBER = r"[A-Z]{1,2}-?\d{1,2}"
NAMED = re.compile(rf"\b(ch1-3|ch4-5|app|papers) ({NUMBER}(?:(?:, | and | to |…|, and )(?:{NUMBER}))*)\b")
BARE = re.compile(r"\b[A-Z]-\d{2}\b")


def rows_of(tree):
    """{(document, number): files and tests, from the root}, and findings of rows whose files are
    missing."""
    rows, findings = {}, []
    parts = SECTION.split(tree.text(PAGE))
    for document, text in zip(parts[1::2], parts[2::2]):
        for match in ROW.finditer(text):
            paths = set()
            for column, room in ((2, ENGINE), (3, TESTS)):
                names = re.findall(r"`([^`]+)`", match[column])
                found = [path for name in names for path in places(tree, name, room)]
                if len(found) < len(names) or not names:
                    findings.append(f"{PAGE}:1: {document} {match[1]}: one of {match[column] or 'no file'} is not there")
                paths.update(found)
            rows[document, match[1]] = paths
    return rows, findings


def places(tree, name, room):
    for full in (room + name, name):
        if any(os.path.exists(os.path.join(tree.source, full + ending)) for ending in (".c", ".h")):
            return [full]
    return []


def check(tree):
    if PAGE not in tree.paths:
        return [f"{PAGE}:1: is missing"]
    rows, findings = rows_of(tree)
    for path in tree.ending(".c", ".h"):
        if not path.startswith(CITING):
            continue
        for comment in COMMENT.finditer(tree.text(path)):
            line = tree.text(path).count("\n", 0, comment.start()) + 1
            text = re.sub(r"\n\s*\*?\s*", " ", comment[0])
            named = [(match[1], number) for match in NAMED.finditer(text) for number in re.findall(NUMBER, match[2])]
            for document, number in named:
                if path[:-2] not in rows.get((document, number), ()):
                    findings.append(f"{path}:{line}: {document} {number} has no row in {PAGE} that names this file")
            for number in set(BARE.findall(text)) - {number for _, number in named}:
                known = [key for key, paths in rows.items() if key[1] == number and path[:-2] in paths]
                if len(known) != 1:
                    findings.append(f"{path}:{line}: {number} has {len(known)} rows in {PAGE} that name this file; "
                                    "say which document it is of")
    return findings


C = ENGINE + "a/b.c"
GOOD = "## app\n\n| id | result | files | tests |\n|---|---|---|---|\n| A-01 | x | `a/b` | `a/test_b` |\n"
T = TESTS + "a/test_b.c"
SELF_TESTS = [
    ("a number without a row is seen", {PAGE: GOOD, C: "/* app A-02 */\n", T: ""}, "app A-02 has no row"),
    ("a bare number without a row is seen", {PAGE: GOOD, C: "/* A-02 */\n", T: ""}, "A-02 has 0 rows"),
    ("a row whose test is gone is seen", {PAGE: GOOD, C: "/* app A-01 */\n"}, "is not there"),
    ("a row that does not name the file is seen", {PAGE: GOOD, C: "", T: "", ENGINE + "a/c.c": "/* app A-01 */\n"},
     "app A-01 has no row"),
    ("what is cited and built passes", {PAGE: GOOD, C: "/* app A-01 */\n", T: "/* A-01 */\n"}, None),
]
