"""What the lints read: the files of the project, and the configured build."""
import os
import re
import subprocess

TOP_FOLDERS = ("server", "protocol", "clients", "tests", "docs", ".ci")
SKIPPED_FOLDERS = {"__pycache__", "node_modules", ".pytest_cache", ".deps", ".libs", "build-aux",
                   "autom4te.cache", "corpus", ".git"}
COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def blank(match):
    """As many lines, otherwise empty; strings keep their quotes."""
    text = match.group(0)
    kept = "\n" * text.count("\n")
    return '""' if text.startswith('"') else "0" if text.startswith("'") else " " + kept


class Tree:
    def __init__(self, source, build, fixture=False):
        self.source = os.path.abspath(source)
        self.build = os.path.abspath(build)
        self.fixture = fixture
        self._texts = {}
        self.paths = sorted(self._list())

    def _list(self):
        """Tracked and new files if git knows them, else (in an unpacked release) all files."""
        if not self.fixture and os.path.exists(os.path.join(self.source, ".git")):
            listing = subprocess.run(
                ["git", "-c", "safe.directory=*", "-C", self.source, "ls-files", "-co",
                 "--exclude-standard"], capture_output=True, text=True, check=False)
            if listing.returncode == 0:
                return {path for path in listing.stdout.splitlines()
                        if os.path.isfile(os.path.join(self.source, path))}
        found = {name for name in os.listdir(self.source)
                 if os.path.isfile(os.path.join(self.source, name))
                 and (name.endswith((".ac", ".am", ".md")) or name == "LICENSE")}
        for top in TOP_FOLDERS:
            for folder, folders, names in os.walk(os.path.join(self.source, top)):
                folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
                found |= {os.path.relpath(os.path.join(folder, name), self.source) for name in names}
        return found

    def ending(self, *endings):
        return [path for path in self.paths if path.endswith(endings)]

    def text(self, path):
        if path not in self._texts:
            with open(os.path.join(self.source, path), "rb") as file:
                data = file.read()
            self._texts[path] = "" if b"\0" in data else data.decode("utf-8", "replace")
        return self._texts[path]

    def code(self, path):
        """The text of a C file without comments and the contents of strings; line numbers stay the
        same."""
        return COMMENT_OR_STRING.sub(blank, self.text(path))

    def makefile_variable(self, name):
        """A variable of the configured build, or an empty string."""
        try:
            with open(os.path.join(self.build, "Makefile"), encoding="utf-8") as file:
                found = re.search(rf"^{name} = (.*)$", file.read(), re.M)
        except FileNotFoundError:
            return ""
        return found.group(1).strip() if found else ""
