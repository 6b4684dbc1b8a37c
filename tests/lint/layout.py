"""The layout of C files is that of clang-format with .clang-format at the root; `make format`
applies it."""
import os
import re
import shutil
import subprocess

TITLE = "C files have the layout of clang-format (make format), and MUST_CHECK stands first in a declaration"

MUST_CHECK_LAST = re.compile(r"\bMUST_CHECK;")

FILES_AT_ONCE = 64


def check(tree):
    if tree.fixture:
        shutil.copy(os.path.join(os.path.dirname(__file__), "../../.clang-format"), tree.source)
    paths = tree.ending(".c", ".h")
    findings = []
    for first in range(0, len(paths), FILES_AT_ONCE):
        told = subprocess.run(["clang-format", "--dry-run", "--ferror-limit=1", *paths[first:first + FILES_AT_ONCE]],
                              cwd=tree.source, capture_output=True, text=True).stderr
        findings += [line.split(" warning:")[0].split(" error:")[0] + " not laid out as by clang-format; run make format"
                     for line in told.splitlines() if "-Wclang-format-violations" in line]
    for path in paths:
        for match in MUST_CHECK_LAST.finditer(tree.code(path)):
            line = tree.code(path).count("\n", 0, match.start()) + 1
            findings.append(f"{path}:{line}: MUST_CHECK stands first in a declaration")
    return findings


SELF_TESTS = [
    ("an indent by spaces is seen", {"server/a.c": "int f(void)\n{\n    return 0;\n}\n"}, "server/a.c:2"),
    ("MUST_CHECK at the end is seen", {"server/a.h": "int f(void) MUST_CHECK;\n"}, "MUST_CHECK stands first"),
    ("what is laid out passes", {"server/a.c": "int f(void)\n{\n\treturn 0;\n}\n"}, None),
]
