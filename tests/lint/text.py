"""What no file may contain: leftover markers, paths of one machine, blanks at the end of a line,
lines far over 100 columns in C, spaces where C indents with tabs."""
import re

TITLE = "no leftovers, machine paths, trailing blanks or over-long lines"

# Split, so that this file passes its own check.
LEFTOVER = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK|place" + r"holder|not implemen" + r"ted)\b")
MACHINE = re.compile(r"(^|[\s\"'=(`])(/wo" + r"rk/|/ro" + r"ot/|/ho" + r"me/\w|/tm" + r"p/(wt|b|team)/|/Us" + r"ers/)")
# The aim is 100; the rest avoids a line of one word.
COLUMNS_MAX = 110
TEXTS = (".c", ".h", ".def", ".py", ".md", ".mk", ".am", ".ac", ".yaml", ".yml", ".js", ".html", ".css",
         ".sh", ".txt")


def is_text(tree, path):
    if path.endswith(TEXTS):
        return True
    return "." not in path.rsplit("/", 1)[-1] and tree.text(path).startswith("#!")


def check_line(path, number, line):
    where = f"{path}:{number}"
    if found := LEFTOVER.search(line):
        yield f"{where}: leftover {found.group(1)!r}"
    if MACHINE.search(line):
        yield f"{where}: a path of one machine"
    if line != line.rstrip() and not path.endswith(".md"):
        yield f"{where}: blanks at the end of the line"
    if path.endswith((".c", ".h")):
        # The backslash that continues a macro may be beyond the limit.
        if len(line.expandtabs(8).rstrip("\\").rstrip()) > COLUMNS_MAX:
            yield f"{where}: far over 100 columns"
        if line.startswith("        "):
            yield f"{where}: indent with tabs"


def check(tree):
    findings = []
    for path in tree.paths:
        if not is_text(tree, path):
            continue
        text = tree.text(path)
        if text and not text.endswith("\n"):
            findings.append(f"{path}: no newline at the end")
        if "\r" in text:
            findings.append(f"{path}: carriage returns")
        for number, line in enumerate(text.split("\n"), 1):
            findings += check_line(path, number, line)
    return findings


SELF_TESTS = [
    ("a leftover is seen", {"server/a.c": "/* TO" "DO: later */\n"}, "leftover"),
    ("a path of one machine is seen", {"server/a": "#!/bin/sh\ncd /ro" "ot/x\n"}, "path of one machine"),
    ("trailing blanks are seen", {"docs/a.py": "x = 1 \n"}, "blanks at the end"),
    ("a line too long is seen", {"server/a.c": "x" * 111 + "\n"}, "far over 100 columns"),
    ("a missing last newline is seen", {"server/a.h": "int a;"}, "no newline"),
    ("a clean file passes", {"server/a.c": "int f(void)\n{\n\treturn 0;\n}\n"}, None),
]
