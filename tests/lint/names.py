"""A name in a backtrace or a debugger must identify one thing: one tag names one struct, union or
enum of the programs, and a static function is named by verb and noun if another file has a static
function with the same bare verb."""
import collections
import re

# A tag that a header declares without a body may have a body in several files: one opaque type of
# several kinds.
OPAQUE = re.compile(r"^struct (\w+);", re.M)

TITLE = "one tag is one struct, and no two static functions share a bare verb"

TAG = re.compile(r"^(struct|union|enum) (\w+) \{", re.M)
STATIC = re.compile(r"^static [^;={}()]*?\b(\w+)\([^;{}]*?\)\n\{", re.M)


def check(tree):
    return list(findings(tree))


def findings(tree):
    tags, verbs = collections.defaultdict(list), collections.defaultdict(list)
    for path in tree.ending(".c", ".h"):
        if path.startswith("tests/"):
            continue
        text = tree.code(path)
        for pattern, group, found in ((TAG, 2, tags), (STATIC, 1, verbs)):
            for match in pattern.finditer(text):
                found[match[group]].append(f"{path}:{text.count(chr(10), 0, match.start(group)) + 1}")
    opaque = {name for path in tree.ending(".h") for name in OPAQUE.findall(tree.code(path))}
    for name, places in tags.items():
        if name in opaque and all(".c:" in place for place in places):
            continue
        for place in places[1:]:
            yield f"{place}: {name} is a tag already at {places[0]}"
    for name, places in verbs.items():
        for place in places[1:] if "_" not in name else ():
            yield f"{place}: {name} is a static function already at {places[0]}: name it by verb and noun"


SELF_TESTS = [
    ("a tag of two files is seen", {"server/a.c": "struct piece {\n};\n", "server/b.c": "struct piece {\n};\n"},
     "piece is a tag already"),
    ("a verb of two files is seen", {
        "server/a.c": "static int begin(void)\n{\n}\n", "server/b.c": "static void begin(int a,\n\tint b)\n{\n}\n"},
     "begin is a static function already"),
    ("an opaque tag may have several bodies", {
        "server/a.h": "struct index;\n", "server/a.c": "struct index {\n};\n", "server/b.c": "struct index {\n};\n"},
     None),
    ("verb and noun may stand in two files", {
        "server/a.c": "static int begin_a(void)\n{\n}\n", "server/b.c": "static int begin_a(void)\n{\n}\n"}, None),
]
