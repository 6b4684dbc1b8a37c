"""A test that checks nothing cannot fail. Each START_TEST in C, each test function in Python and
each test in JavaScript must contain a check or call a function of the tests that contains one; a
loop test must have a range that is not empty, and so must every loop with constant bounds in a
test."""
import ast
import re

TITLE = "every test checks something, and its loops have a round"

C_TEST = re.compile(r"^tests/(unit|sim|property)/.*\.c$")
PYTHON_TEST = re.compile(r"^(tests|clients)/.*/test_\w+\.py$")
PYTHON_HELP = re.compile(r"^(tests/system/support|clients/python/tests/conftest)\.py$")
JS_TEST = re.compile(r"^clients/.*\.test\.m?js$")
# Ends the test or the program if a condition does not hold.
C_CHECK = re.compile(r"\b(ck_assert\w*|ck_abort\w*|ASSERT|abort|fail)\s*\(")
NAME = re.compile(r"\b[a-z_]\w*")
FUNCTION = re.compile(r"^[A-Za-z_][^\n;{}]*?\b(\w+)\([^;{}]*?\)\s*\n\{\n(.*?)^\}", re.M | re.S)
TEST = re.compile(r"^START_TEST\((\w+)\)\n(.*?)^END_TEST", re.M | re.S)
LOOP_TEST = re.compile(r"\btcase_add_loop\w*\(\s*\w+,\s*(\w+),\s*(\d+),\s*(\d+)\s*\)")
EMPTY_FOR = re.compile(r"\bfor \([^;()]*?\b(\w+) = (\d+); \1 < (\d+);")


def closure(functions, good=frozenset()):
    """`good` and the names of functions that check, themselves or in a function that they call or
    pass on."""
    names = {name: set(NAME.findall(body)) for name, body in functions}
    good = good | {name for name, body in functions if C_CHECK.search(body)}
    while more := {name for name in names if name not in good and names[name] & good}:
        good |= more
    return good


def line_of(text, place):
    return text.count("\n", 0, place) + 1


def check_c(tree):
    paths = [path for path in tree.ending(".c") if path.startswith("tests/")]
    code = {path: tree.code(path) for path in paths}
    shared = closure([pair for path in paths if path.startswith("tests/lib/") for pair in FUNCTION.findall(code[path])])
    for path in filter(C_TEST.match, paths):
        text = code[path]
        good = closure(FUNCTION.findall(text), shared)
        for match in TEST.finditer(text):
            if not C_CHECK.search(match[2]) and not good.intersection(NAME.findall(match[2])):
                yield f"{path}:{line_of(text, match.start())}: {match[1]} checks nothing"
        for match in LOOP_TEST.finditer(text):
            if int(match[3]) <= int(match[2]):
                yield f"{path}:{line_of(text, match.start())}: {match[1]} is run {match[3]} times from {match[2]}"
        for match in EMPTY_FOR.finditer(text):
            if int(match[3]) <= int(match[2]):
                yield f"{path}:{line_of(text, match.start())}: a loop without a round"


def called(node):
    names = [item.func for item in ast.walk(node) if isinstance(item, ast.Call)]
    return {name.id if isinstance(name, ast.Name) else getattr(name, "attr", "") for name in names}


def python_checks(node):
    """An assert, a raise, or a call that raises if a condition does not hold."""
    raising = {"raises", "refused", "fail", "run_check"}
    if any(isinstance(item, (ast.Assert, ast.Raise)) for item in ast.walk(node)) or called(node) & raising:
        return True
    return any(isinstance(item, ast.keyword) and item.arg == "check" and getattr(item.value, "value", None) is True
               for item in ast.walk(node))


def functions_of(text):
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def check_python(tree):
    shared = [node for path in tree.ending(".py") if PYTHON_HELP.match(path) for node in functions_of(tree.text(path))]
    for path in filter(PYTHON_TEST.match, tree.ending(".py")):
        mine = functions_of(tree.text(path))
        good = {node.name for node in shared + mine if python_checks(node)}
        while more := {node.name for node in shared + mine if node.name not in good and called(node) & good}:
            good |= more
        for node in mine:
            if node.name.startswith("test_") and node.name not in good:
                yield f"{path}:{node.lineno}: {node.name} checks nothing"


def check_js(tree):
    for path in filter(JS_TEST.match, tree.ending(".js", ".mjs")):
        text = tree.text(path)
        # From a match in the first column to the next line that begins there.
        parts = re.split(r"^(?=[a-z/])", text, flags=re.M)
        helpers = {name for part in parts for name in re.findall(r"^(?:async )?(?:const|function\*?) (\w+)", part)
                   if "assert" in part}
        at = 0
        for part in parts:
            is_test = re.match(r"(?:for .*\n\s*)?test\((.*)", part)
            if is_test and "assert" not in part and not helpers.intersection(re.findall(r"\b(\w+)\(", part)):
                yield f"{path}:{line_of(text, at)}: {is_test[1][:60]} checks nothing"
            at += len(part)


def check(tree):
    return [*check_c(tree), *check_python(tree), *check_js(tree)]


C = "tests/unit/a/test_a.c"
SELF_TESTS = [
    ("a test without a check is seen", {C: "START_TEST(a)\n{\n\tf();\n}\nEND_TEST\n"}, "a checks nothing"),
    ("an assert in a comment is no check", {C: "START_TEST(a)\n{\n\t/* ck_assert(x) */\n}\nEND_TEST\n"},
     "checks nothing"),
    ("a helper that checks nothing is no check", {
        C: "static void f(void)\n{\n\tg();\n}\n\nSTART_TEST(a)\n{\n\tf();\n}\nEND_TEST\n"}, "checks nothing"),
    ("a check in a helper of a helper is found", {
        C: "static void g(void)\n{\n\th();\n}\n\nSTART_TEST(a)\n{\n\tg();\n}\nEND_TEST\n",
        "tests/lib/h.c": "void h(void)\n{\n\tck_assert(1);\n}\n"}, None),
    ("a loop test without a round is seen", {C: "\ttcase_add_loop_test(x, a, 3, 3);\n"}, "run 3 times from 3"),
    ("a loop without a round is seen", {C: "\tfor (int i = 0; i < 0; i++)\n"}, "a loop without a round"),
    ("a Python test without a check is seen", {"tests/system/test_a.py": "def test_a():\n    run()\n"},
     "test_a checks nothing"),
    ("a Python helper's assert is found", {
        "tests/system/test_a.py": "def run():\n    assert f()\n\n\ndef test_a():\n    run()\n"}, None),
    ("a JavaScript test without a check is seen", {"clients/js/test/a.test.js": "test(\"a\", () => {\n  f();\n});\n"},
     "checks nothing"),
    ("a JavaScript helper's assert is found", {
        "clients/js/test/a.test.js": "const f = (x) => assert.ok(x);\ntest(\"a\", () => {\n  f(1);\n});\n"}, None),
]
