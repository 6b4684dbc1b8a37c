"""An assertion is a comment that the program checks. The engine asserts arguments, results and both
sides of a decision, at least four times in ten functions. ASSERT is always on; VALIDATE is for
checks that cost more than the work they guard."""
import re

TITLE = "the engine asserts at least four facts in ten functions"

AT_LEAST = 0.4
ENGINE = "server/engine/"
ASSERTION = re.compile(r"\b(?:ASSERT|VALIDATE)\(")
FUNCTION = re.compile(r"^\{", re.M)
notes = []


def ratio(texts):
    functions = sum(len(FUNCTION.findall(text)) for text in texts)
    return functions, sum(len(ASSERTION.findall(text)) for text in texts)


def check(tree):
    paths = [path for path in tree.ending(".c", ".h") if path.startswith(ENGINE)]
    functions, assertions = ratio([tree.code(path) for path in paths])
    notes[:] = [f"{assertions} assertions in {functions} functions of the engine"]
    if assertions < AT_LEAST * functions:
        return [f"{ENGINE}:1: {assertions} assertions in {functions} functions, {AT_LEAST} a function is the least"]
    return []


FUNCTIONS = "int f(void)\n{\n}\n" * 5
SELF_TESTS = [
    ("too few are seen", {ENGINE + "a.c": FUNCTIONS + "int g(void)\n{\n\tASSERT(x);\n}\n"}, "1 assertions in 6"),
    ("a comment asserts nothing", {ENGINE + "a.c": "int g(void)\n{\n\t/* ASSERT(x) */\n}\n"}, "0 assertions in 1"),
    ("enough pass", {ENGINE + "a.c": FUNCTIONS + "\tASSERT(x);\n\tVALIDATE(y);\n"}, None),
]
