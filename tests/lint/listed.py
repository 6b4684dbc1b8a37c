"""Every source, header and manifest is named in a local.mk (or the top Makefile.am), so that it is
built, rebuilt when it changes, and part of a release; and `make check` runs every unit and Python
test."""
import os
import re

TITLE = "every source is listed in the build and every test is run"

SOURCES = re.compile(r"^(server|protocol|clients/(lib|cli|bot)|tests/(lib|fuzz))/.*\.(c|h|def)$")
UNIT_TEST = re.compile(r"^tests/unit/.*/test_\w+\.c$")
PYTHON_TEST = re.compile(r"^(tests|clients)/.*/test_\w+\.py$")


def check(tree):
    words = set()
    for path in tree.ending(".mk", "Makefile.am"):
        words |= set(re.sub(r"#.*", "", tree.text(path)).split())
    findings = []
    for path in tree.paths:
        name = os.path.splitext(path)[0]
        if SOURCES.match(path) and path not in words and name not in words:
            findings.append(f"{path}: named in no local.mk")
        if UNIT_TEST.match(path) and name not in words:
            findings.append(f"{path}: not in UNIT_TESTS")
        if path.endswith("/local.mk") and path not in words:
            findings.append(f"{path}: included by nobody")
        if PYTHON_TEST.match(path) and path not in words:
            findings.append(f"{path}: not in PYTHON_TESTS")
    return findings


SELF_TESTS = [
    ("a forgotten source is seen", {"server/a.c": "", "server/local.mk": "# server/a.c\n"}, "named in no"),
    ("a forgotten unit test is seen", {"tests/unit/x/test_a.c": ""}, "not in UNIT_TESTS"),
    ("a forgotten Python test is seen", {"tests/system/test_a.py": ""}, "not in PYTHON_TESTS"),
    ("a local.mk that nobody includes is seen", {"server/local.mk": ""}, "included by nobody"),
    ("listed ones pass", {
        "Makefile.am": "include server/local.mk\n", "server/a.c": "", "tests/unit/x/test_a.c": "",
        "server/local.mk": "x_SOURCES = \\\n\tserver/a.c\nUNIT_TESTS += tests/unit/x/test_a\n"}, None),
]
