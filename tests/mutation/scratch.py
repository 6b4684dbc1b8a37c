"""A copy of the tree for faults: updated, changed in one place, built as far as a test needs, and
restored."""
import hashlib
import os
import re
import shutil
import signal
import subprocess
import time

TEST_SECONDS = 150
BUILD_SECONDS = 900
GOLDEN = "tests/golden/run"
# What tests that are not programs depend on.
DAEMON = ("cairnd", "cairn", "cairn-bot")


def listed(source):
    """Tracked and new files if git knows them, else all files but builds."""
    if os.path.exists(os.path.join(source, ".git")):
        found = subprocess.run(["git", "-c", "safe.directory=*", "-C", source, "ls-files", "-co", "--exclude-standard"],
                               capture_output=True, text=True, check=True).stdout.splitlines()
        return {path for path in found if os.path.isfile(os.path.join(source, path))}
    found = set()
    for folder, folders, names in os.walk(source):
        folders[:] = [name for name in folders if not name.startswith("build") and name != "node_modules"]
        found |= {os.path.relpath(os.path.join(folder, name), source) for name in names}
    return found


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


class Scratch:
    """The copy is in `folder`, its build in `folder`/build; the paths stay the same, for the
    compiler cache."""

    def __init__(self, source, folder, log):
        self.source = source
        self.tree = folder
        self.build = os.path.join(folder, "build")
        self.log = log
        self.clean = {}
        self.environment = dict(os.environ, CAIRN_SRCDIR=self.tree, CAIRN_BUILDDIR=self.build, CAIRN_SANITIZE="",
                                PYTHONPATH=os.path.join(self.tree, "clients/python"), PYTHONDONTWRITEBYTECODE="1",
                                CK_TIMEOUT_MULTIPLIER=os.environ.get("CK_TIMEOUT_MULTIPLIER", "10"))
        for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
            self.environment.pop(name, None)

    # ---- the copy --------------------------------------------------------------------------------
    def update(self, switches, whole):
        """Makes the copy equal to the source tree and builds it; `whole`: with all tests. Only
        changed files are written, so only they are built."""
        wanted = listed(self.source)
        record = os.path.join(self.tree, ".copied")
        before = set((read(record) or b"").decode().splitlines())
        for path in before - wanted:
            if os.path.exists(os.path.join(self.tree, path)):
                os.unlink(os.path.join(self.tree, path))
        for path in wanted:
            here, there = os.path.join(self.source, path), os.path.join(self.tree, path)
            if read(here) != read(there):
                os.makedirs(os.path.dirname(there), exist_ok=True)
                shutil.copy(here, there)
                os.utime(there)
        with open(record, "w", encoding="utf-8") as file:
            file.write("\n".join(sorted(wanted)))
        if self._command(["server/setup", "tree", self.build, *switches], self.tree, BUILD_SECONDS * 4) != 0:
            return False
        self.tests = self._variable("TESTS").split()
        self.flags = self._variable("CAIRN_CFLAGS") + " -Wno-error"
        if not whole:
            return True
        programs = self._variable("check_PROGRAMS").split()
        if not self.make(["all", *programs, *self._variable("check_LIBRARIES").split()], spoiled=False):
            return False
        self.clean = {test: self.fingerprint(test) for test in self.tests}
        return True

    def spoil(self, fault):
        path = os.path.join(self.tree, fault.file)
        text = read(path).decode()
        self._write(path, fault.apply(text))

    def mend(self, fault):
        self._write(os.path.join(self.tree, fault.file), read(os.path.join(self.source, fault.file)).decode())

    def _write(self, path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    # ---- building --------------------------------------------------------------------------------
    def _command(self, command, cwd, seconds):
        with open(self.log, "ab") as log:
            log.write(f"\n== {' '.join(command)[:300]}\n".encode())
            log.flush()
            try:
                return subprocess.run(command, cwd=cwd, stdout=log, stderr=log, timeout=seconds, check=False,
                                      env=self.environment, stdin=subprocess.DEVNULL).returncode
            except subprocess.TimeoutExpired:
                return -1

    def _variable(self, name):
        found = subprocess.run(["make", "-s", "print-variable", f"NAME={name}"], cwd=self.build, capture_output=True,
                               text=True, check=True, env=self.environment)
        return found.stdout.strip()

    def make(self, targets, spoiled=True):
        """A fault may leave a variable unused, so warnings are not errors here."""
        flags = [f"CAIRN_CFLAGS={self.flags}"] if spoiled else []
        return self._command(["make", "-s", "-k", *flags, *targets], self.build, BUILD_SECONDS) == 0

    def needs(self, test):
        """What must be built before the test can be run."""
        if test == GOLDEN:
            return ["tests/golden/golden"]
        if test.endswith(".py") or os.path.isfile(os.path.join(self.tree, test)):
            return list(DAEMON)
        return [test]

    def fingerprint(self, test):
        """Hash of all files that the test runs: if it equals that of the clean tree, the test
        cannot notice the fault."""
        digest = hashlib.sha256()
        for program in self.needs(test):
            digest.update(read(os.path.join(self.build, program)) or b"missing")
        if self.needs(test) == list(DAEMON):
            for path in sorted(listed(self.source)):
                if path.startswith(("clients/python/", "clients/js/", "tests/system/")):
                    digest.update(read(os.path.join(self.tree, path)) or b"missing")
        return digest.hexdigest()

    # ---- running ---------------------------------------------------------------------------------
    def command(self, test):
        if test.endswith(".py"):
            return ["/usr/bin/python3", os.path.join(self.tree, "tests/lib/pytest_tap.py"),
                    os.path.join(self.tree, test)]
        if self.needs(test) == [test]:
            return ["stdbuf", "-oL", os.path.join(self.build, test)]
        return [os.path.join(self.tree, test)]

    def run(self, test):
        """(passed, message of its first failed line, seconds). Stops at the first failed line."""
        begin = time.monotonic()
        # To a file, not a pipe: a process that a test left running must not block the reader.
        output = os.path.join(self.build, "mutant.out")
        with open(output, "wb") as out:
            process = subprocess.Popen(self.command(test), stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                                       cwd=self.build, env=self.environment, start_new_session=True)
        said = ""
        while process.poll() is None and not said:
            time.sleep(0.02)
            if time.monotonic() - begin > TEST_SECONDS:
                said = f"not done after {TEST_SECONDS} s"
            elif time.monotonic() - begin > 1:
                said = self._failed_line(output)
                time.sleep(0.2)
        if process.poll() is None:
            self._end(process)
        said = said or self._failed_line(output)
        if not said and process.returncode != 0:
            last = (read(output) or b"").decode("utf-8", "replace").strip().splitlines()
            said = f"exit code {process.returncode}: {last[-1] if last else 'no output'}"
        return not said, said, time.monotonic() - begin

    def _end(self, process):
        """Ends the session of processes of the test, so that no process it started remains."""
        for what in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, what)
            except ProcessLookupError:
                break
            time.sleep(0.5)
        process.wait()

    @staticmethod
    def _failed_line(output):
        for line in (read(output) or b"").decode("utf-8", "replace").splitlines():
            if line.startswith("not ok "):
                # Without the number and, for a unit test, the file and the case.
                return re.sub(r"^not ok \d+ - (\S+\.c:\w+:)?", "", line)[:300]
        return ""
