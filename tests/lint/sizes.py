"""Files end at 1000 lines, functions at 70. A table or a straight-line numeric kernel may be longer if
it says so on the line directly above it (for a file: among its first ten lines):

    /* table */
    /* straight-line kernel */

(in Python: "# table").
"""
import ast
import re

TITLE = "files stay under 1000 lines and functions under 70"

FILE_LINES_MAX = 1000
FUNCTION_LINES_MAX = 70
MARKER = re.compile(r"(/\*|^#)\s*(table|straight-line kernel)\b")
SIGNATURE = re.compile(r"([A-Za-z_]\w*)\s*\(")


def c_functions(lines):
    """(name, first line, last line, marked) of each function: from a brace alone in the first
    column to the next closing one; the signature is the paragraph above the brace."""
    start = None
    for number, line in enumerate(lines):
        if line.rstrip() == "{":
            start = number
        elif line.startswith("}") and start is not None:
            head = start
            while head > 0 and lines[head - 1].strip() and not lines[head - 1].startswith(("}", "#")) \
                    and "*/" not in lines[head - 1]:
                head -= 1
            found = SIGNATURE.search(" ".join(lines[head:start]))
            marked = head > 0 and MARKER.search(lines[head - 1])
            yield (found.group(1) if found else "?", head + 1, number + 1, bool(marked))
            start = None


def python_functions(text, lines):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            marked = node.lineno > 1 and MARKER.search(lines[node.lineno - 2])
            yield node.name, node.lineno, node.end_lineno, bool(marked)


def check(tree):
    findings = []
    for path in tree.ending(".c", ".h", ".py", ".js", ".sh"):
        text = tree.text(path)
        lines = text.splitlines()
        whole = any(MARKER.search(line) for line in lines[:10])
        if len(lines) > FILE_LINES_MAX and not whole:
            findings.append(f"{path}:{len(lines)}: {len(lines)} lines, {FILE_LINES_MAX} is the limit")
        functions = c_functions(lines) if path.endswith((".c", ".h")) else \
            python_functions(text, lines) if path.endswith(".py") else ()
        for name, first, last, marked in functions:
            if last - first + 1 > FUNCTION_LINES_MAX and not marked and not whole:
                findings.append(f"{path}:{first}: {name} has {last - first + 1} lines, "
                                f"{FUNCTION_LINES_MAX} is the limit")
    return findings


LONG = "int f(void)\n{\n" + "\tg();\n" * 70 + "}\n"
SELF_TESTS = [
    ("a long function is seen", {"server/a.c": LONG}, "f has 73 lines"),
    ("a long file is seen", {"server/a.c": "int a;\n" * 1001}, "1001 lines"),
    ("a long Python function is seen", {"tests/a.py": "def f():\n" + "    g()\n" * 70}, "f has 71 lines"),
    ("a marked kernel may be longer", {
        "server/a.c": "/* Story. */\n/* straight-line kernel */\n" + "\n" * 9 + "/* table */\n" + LONG}, None),
]
