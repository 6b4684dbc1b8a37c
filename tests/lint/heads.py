"""The first thing in a C file is a comment that tells its story: what question it answers, in which order, what it
guarantees. A .c file whose header tells it says so: "See x.h."."""
TITLE = "every C file begins with its story, or names the header that tells it"


def check(tree):
    return [f"{path}:1: begins without a comment that tells what it is for" for path in tree.ending(".c", ".h")
            if not tree.text(path).startswith("/*")]


SELF_TESTS = [
    ("a file without a head is seen", {"server/a.c": "#include <stdio.h>\n"}, "server/a.c:1"),
    ("a head passes", {"server/a.c": "/* See a.h. */\n#include <stdio.h>\n"}, None),
]
