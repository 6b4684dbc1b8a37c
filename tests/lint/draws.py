"""C does not define the order in which arguments, operands and initializers are evaluated, and gcc
and clang differ in it. An expression may therefore draw from a random number generator once at
most; otherwise the same seed gives different worlds, or a different simulation, under different
compilers. Unit tests are exempt: there a seed only gives different data under different compilers."""
import re

TITLE = "no expression draws random numbers twice"

DRAW = re.compile(r"\brng_(?!seeded|mix)\w+\s*\(")
# A function whose only or first argument is a generator draws from it.
GIVEN = re.compile(r"\b(?!rng_)[a-z_]\w*\(\s*&?(?:\w+->|\w+\.)?rng\b\s*[,)]")
# These operators define an order, so each side may draw once.
SEQUENCED = re.compile(r"&&|\|\||\?|:")


def declarators(statement):
    """(place, text) of each declarator; commas outside all brackets separate them, and C orders
    them."""
    depth, start = 0, 0
    for place, letter in enumerate(statement + ","):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth <= 0:
            yield start, statement[start:place]
            start = place + 1


def past_condition(code, start, end):
    """The place after the parentheses of an if, for or while that begins at `start`; else `start`."""
    head = re.compile(r"\s*(?:else\s+)?(?:if|for|while|switch)\s*\(").match(code, start, end)
    if not head:
        return start
    depth = 1
    for place in range(head.end(), end):
        depth += (code[place] == "(") - (code[place] == ")")
        if depth == 0:
            return place + 1
    return start


def statements(code):
    """(line, text) of each statement; a block or a condition ends one as a semicolon does."""
    start = 0
    for match in re.finditer(r";|\)\s*\{|\belse\s*\{|\}\s*\n", code):
        cuts = [start, past_condition(code, start, match.start() + 1), match.start() + 1]
        for first, last in zip(cuts, cuts[1:]):
            yield code.count("\n", 0, first) + 1, code[first:last]
        start = match.end()


def check(tree):
    findings = []
    for path in tree.ending(".c", ".h"):
        code = tree.code(path)
        if "rng" not in code or path.startswith(("server/base/rng", "tests/unit/")):
            continue
        for line, statement in statements(code):
            for place, text in declarators(statement):
                drawn = [len(DRAW.findall(part)) + len(GIVEN.findall(part))
                         for part in SEQUENCED.split(text)]
                if max(drawn) > 1:
                    first = place + len(text) - len(text.lstrip())
                    findings.append(f"{path}:{line + statement.count(chr(10), 0, first)}: "
                                    "draws twice in one expression")
    return findings


SELF_TESTS = [
    ("two draws in an argument list are seen", {
        "server/a.c": "void f(void)\n{\n\tvec3 v = vec3_make(rng_double(r), 0, rng_double(r));\n}\n"}, "a.c:3"),
    ("two draws in an initializer are seen", {
        "server/a.c": "int a[] = {\n\trng_u32(r),\n\trng_u32(r)\n};\n"}, "a.c:1"),
    ("a function that is given the generator draws as well", {
        "server/a.c": "int f(void)\n{\n\treturn g(&self->rng) + rng_u32(&self->rng);\n}\n"}, "a.c:3"),
    ("one after the other passes", {
        "server/a.c": "int f(void)\n{\n\tif (rng_u32(r))\n\t\trng_u32(r);\n\tint a = rng_u32(r), b = rng_u32(r);\n\ta = g(r, 1) ? rng_u32(r) :\n"
                      "\t\t(int)rng_u32(r);\n\treturn a + rng_mix(rng_mix(b));\n}\n"}, None),
]
