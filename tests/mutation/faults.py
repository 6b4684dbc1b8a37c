"""The faults that the tests should notice: tests/mutation/faults/<room>.toml, one table each:

    [[fault]]
    name = "fork-into-another-world"        unique in the tree
    file = "server/session/handlers_world.c"
    after = 'handle_fork('                  optional: occurs once; `find` is searched in the lines after it
    find = 'if (a < b)'                     blanks match any blanks, so that a reformatted line is still found
    replace = 'if (a <= b)'
    why = "A token for one world copies another."
    tests = ["tests/sim/test_tokens"]       optional: run first
    equivalent = "..."                      optional: why no test can notice the fault

A pattern that is found nowhere, or twice, is a mistake of the list; the lint reports it."""
import hashlib
import os
import re
import tomllib

FOLDER = "tests/mutation/faults"
# A pattern is in the function that `after` names, and no function is longer.
AFTER_LINES_MAX = 90
NEEDED = {"name", "file", "find", "replace", "why"}
KNOWN = NEEDED | {"after", "tests", "equivalent"}


class Mistake(Exception):
    """What is wrong with an entry of the list."""


class Fault:
    def __init__(self, room, entry):
        self.room = room
        self.name = entry.get("name", "(no name)")
        if missing := NEEDED - entry.keys():
            raise Mistake(f"{self.name}: {', '.join(sorted(missing))} is missing")
        if unknown := entry.keys() - KNOWN:
            raise Mistake(f"{self.name}: unknown keys {', '.join(sorted(unknown))}")
        self.file = entry["file"]
        self.find = entry["find"]
        self.replace = entry["replace"]
        self.why = entry["why"]
        self.after = entry.get("after", "")
        self.tests = entry.get("tests", [])
        self.equivalent = entry.get("equivalent", "")

    def key(self):
        """Changes with the fault, so that an old result is not used for a new fault."""
        parts = (self.file, self.after, self.find, self.replace, self.equivalent)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def locate(self, text):
        """(start, end) of the one place in the text of the file."""
        begin, end = 0, len(text)
        if self.after:
            _, begin = self._once(self.after, text, 0, end, "after")
            lines = [match.end() for match in re.finditer("\n", text[begin:])]
            if len(lines) > AFTER_LINES_MAX:
                end = begin + lines[AFTER_LINES_MAX]
        return self._once(self.find, text, begin, end, "find")

    def _once(self, words, text, begin, end, field):
        pattern = r"\s+".join(re.escape(word) for word in words.split())
        if not pattern:
            raise Mistake(f"{self.name}: {field} is empty")
        found = list(re.compile(pattern).finditer(text, begin, end))
        # The same text may occur again further on; `after` decides which is meant.
        if len(found) == 1 or (found and field == "find" and self.after):
            return found[0].span()
        raise Mistake(f"{self.name}: {field} is found {len(found)} times in {self.file}, once is needed: {words!r}")

    def apply(self, text):
        begin, end = self.locate(text)
        if text[begin:end] == self.replace:
            raise Mistake(f"{self.name}: replace equals the text found")
        return text[:begin] + self.replace + text[end:]


def parse(room, text):
    """The faults of one file; raises Mistake."""
    try:
        entries = tomllib.loads(text).get("fault", [])
    except tomllib.TOMLDecodeError as error:
        raise Mistake(f"not TOML: {error}") from error
    return [Fault(room, entry) for entry in entries]


def load(source):
    """All faults of the tree at `source`, in the order of their files."""
    faults = []
    folder = os.path.join(source, FOLDER)
    for name in sorted(os.listdir(folder)):
        if name.endswith(".toml"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                faults += parse(name[:-5], file.read())
    return faults
