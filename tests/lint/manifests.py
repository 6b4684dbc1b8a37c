"""Within one manifest (.def), entries of one kind have different numbers and different names."""
import re

TITLE = "numbers and names in manifests are unique"

ENTRY = re.compile(r"^([A-Z][A-Z_0-9]*)\((\d+)\s*,\s*(\w+)", re.M)


def check(tree):
    findings = []
    for path in tree.ending(".def"):
        seen = {}
        code = tree.code(path)
        for match in ENTRY.finditer(code):
            kind, number, name = match.groups()
            # Columns are numbered within the table above them.
            scope = kind
            line = code.count("\n", 0, match.start()) + 1
            for what, value in (("number", number), ("name", name)):
                first = seen.setdefault((scope, what, value), line)
                if first != line:
                    findings.append(f"{path}:{line}: {kind} {what} {value} is already used in line {first}")
    return findings


SELF_TESTS = [
    ("a number used twice is seen", {"server/a.def": "A(1, X, x)\nA(1, Y, y)\n"}, "number 1"),
    ("a name used twice is seen", {"server/a.def": "A(1, X, x)\nA(2, X, y)\n"}, "name X"),
    ("different kinds number by themselves", {"server/a.def": "A(1, X)\nB(1, X)\n"}, None),
]
