"""A C file begins with a comment that tells which question the file answers, in which order, and
what it guarantees. If the header of a .c file tells it, the .c file says so: "See x.h."."""
TITLE = "every C file begins with its story, or names the header that tells it"


def check(tree):
    return [f"{path}:1: begins without a comment that says what the file is for" for path in tree.ending(".c", ".h")
            if not tree.text(path).startswith("/*")]


SELF_TESTS = [
    ("a file without a head is seen", {"server/a.c": "#include <stdio.h>\n"}, "server/a.c:1"),
    ("a head passes", {"server/a.c": "/* See a.h. */\n#include <stdio.h>\n"}, None),
]
