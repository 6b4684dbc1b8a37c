"""The lints. Each is a module with

    TITLE             what holds when the lint passes, as a sentence
    check(tree)       a list of findings, "path:line: what is wrong" each
    notes             (optional) further output of check(tree), printed as comments
    SELF_TESTS        a list of (what must be found, {path: text}, part of the expected finding)

Each self-test writes a small tree that breaks the rule; a lint that does not find it has failed.
Prints TAP; the exit code is 0 if all pass."""
import importlib
import os
import shutil
import sys
import tempfile

from tree import Tree

LINTS = ("layers", "headers", "libm", "sizes", "text", "draws", "manifests", "listed", "mutants", "checks",
         "layout", "names", "assertions", "heads", "sources", "reachable")


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = 0

    def result(self, name, findings):
        self.count += 1
        self.failed += bool(findings)
        print(f"{'not ok' if findings else 'ok'} {self.count} - {name}", flush=True)
        for finding in findings:
            print(f"#   {finding}")


def self_test(lint, files, expected, build):
    """Returns no findings if the lint reports `expected` on the tree made of `files`."""
    folder = tempfile.mkdtemp(prefix="cairn-lint-")
    try:
        for path, text in files.items():
            full = os.path.join(folder, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as out:
                out.write(text)
        findings = lint.check(Tree(folder, build, fixture=True))
    finally:
        shutil.rmtree(folder)
    if expected is None:
        return findings
    if any(expected in finding for finding in findings):
        return []
    return [f"expected a finding with {expected!r}, got {findings}"]


def main(arguments):
    if len(arguments) < 2:
        print("usage: tests/lint/run SRC BUILD [LINT…]", file=sys.stderr)
        return 2
    source, build, *wanted = arguments
    tree = Tree(source, build)
    tap = Tap()
    for name in wanted or LINTS:
        lint = importlib.import_module(name)
        tap.result(f"{name}: {lint.TITLE}", lint.check(tree))
        for note in getattr(lint, "notes", ()):
            print(f"#   {note}")
        for what, files, expected in lint.SELF_TESTS:
            tap.result(f"{name} self-test: {what}", self_test(lint, files, expected, build))
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
