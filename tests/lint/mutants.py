"""Each fault of tests/mutation has a unique name and a reason, and its pattern is found in exactly
one place, so that `make mutants` does not stop at a line that was moved."""
import importlib.util
import os

TITLE = "every fault of tests/mutation has one place in the tree"

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mutation", "faults.py")
SPEC = importlib.util.spec_from_file_location("faults", SOURCE)
faults = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(faults)


def check_fault(tree, fault):
    if fault.file not in tree.paths:
        raise faults.Mistake(f"{fault.name}: there is no {fault.file}")
    fault.apply(tree.text(fault.file))
    for test in fault.tests:
        if not any(test + ending in tree.paths for ending in ("", ".c")):
            raise faults.Mistake(f"{fault.name}: there is no test {test}")


def check(tree):
    findings, names = [], set()
    for path in tree.paths:
        if os.path.dirname(path) != faults.FOLDER or not path.endswith(".toml"):
            continue
        try:
            found = faults.parse(path, tree.text(path))
        except faults.Mistake as mistake:
            findings.append(f"{path}: {mistake}")
            continue
        for fault in found:
            if fault.name in names:
                findings.append(f"{path}: {fault.name} is there twice")
            names.add(fault.name)
            try:
                check_fault(tree, fault)
            except faults.Mistake as mistake:
                findings.append(f"{path}: {mistake}")
    return findings


def entry(**changes):
    values = {"name": "a", "file": "server/a.c", "find": "x < y", "replace": "x <= y", "why": "It matters."} | changes
    return "[[fault]]\n" + "".join(f"{key} = {value!r}\n" for key, value in values.items() if value is not None)


LIST = faults.FOLDER + "/a.toml"
CODE = "if (x <\n\ty)\n\tf();\n"
SELF_TESTS = [
    ("a pattern that is nowhere is seen", {LIST: entry(find="z"), "server/a.c": CODE}, "found 0 times"),
    ("a pattern that is there twice is seen", {LIST: entry(), "server/a.c": CODE * 2}, "found 2 times"),
    ("a place that is there twice is seen", {LIST: entry(after="f()"), "server/a.c": CODE * 2}, "after is found 2"),
    ("a fault that changes nothing is seen", {LIST: entry(replace="x < y"), "server/a.c": "x < y"}, "equals the text found"),
    ("a fault without a reason is seen", {LIST: entry(why=None), "server/a.c": CODE}, "why is missing"),
    ("a name used twice is seen", {LIST: entry() * 2, "server/a.c": CODE}, "is there twice"),
    ("a file that is gone is seen", {LIST: entry()}, "there is no server/a.c"),
    ("a test that is gone is seen", {LIST: entry(tests=["tests/t"]), "server/a.c": CODE}, "there is no test"),
    ("a list that is no TOML is seen", {LIST: "[[fault]\n"}, "not TOML"),
    ("reformatted code is still found", {LIST: entry(), "server/a.c": "x\n   <  y" + "\nb\n"}, None),
]
