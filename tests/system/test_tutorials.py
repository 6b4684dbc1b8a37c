"""Each tutorial of docs/tutorials: its files are written, its commands run in order, and their output compared.

A block of code below a line "`name`:" is the file of that name. In a block `console`, a line "$ command" runs in bash, and the
lines below it are its output: "…" in a line stands for any text, a line "…" for any number of lines. A block `sh` runs as a whole;
a block `text` directly after it is its output. A command that ends in "&" goes on until the tutorial ends. The folder has
links to `build` and `clients`."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest
from support import BUILD, SEEDLESS, SOURCE, until

FOLDER = SOURCE / "docs" / "tutorials"
SHELL_SECONDS = 100


def steps(page):
    """Yields ("file", name, text) and ("run", command, expected lines)."""
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(r"(?:^`([\w.-]+)`:\n\n)?^```(\w*)\n(.*?)^```$(?:\n+^```text\n(.*?)^```$)?", text, re.S | re.M):
        name, kind, body, output = match.groups()
        if name:
            yield "file", name, body
        elif kind == "sh":
            yield "run", body.rstrip("\n"), ["…"] if output is None else output.rstrip("\n").split("\n")
        elif kind == "console":
            parts = re.split(r"^\$ ", body, flags=re.M)
            assert parts[0] == "", f"{page.name}: output before the first command"
            for part in parts[1:]:
                command, *lines = part.rstrip("\n").split("\n")
                yield "run", command, lines


def pattern(lines):
    """The output that these lines stand for, as an expression."""
    found = ""
    for line in lines:
        found += r"(?:.*\n)*?" if line == "…" else ".*".join(map(re.escape, line.split("…"))) + r"\n"
    return found


def environment(folder):
    clients = [str(SOURCE / "clients" / "python")]
    try:
        import gymnasium  # noqa: F401
    except ImportError:
        clients.append(str(SOURCE / "clients" / "python" / "tests" / "stand_in"))
    build, python = BUILD.resolve(), folder / "bin" / "python3"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return {**SEEDLESS, "PATH": f"{python.parent}:{build}:{os.environ['PATH']}", "PYTHONPATH": ":".join(clients), "CAIRND": str(build / "cairnd"),
            "CAIRN": str(build / "cairn"), "JS": str(build / "npm" / "js"), "HOME": str(folder)}


def needs(page):
    """Skips a page whose tools are not installed."""
    text = page.read_text(encoding="utf-8")
    if "node " in text and shutil.which("npm") is None:
        pytest.skip("Node.js and npm are not installed")
    if "numpy" in text:
        pytest.importorskip("numpy")
    if "node " in text:
        subprocess.run([str(SOURCE / "clients" / "npm_stage"), str(SOURCE), str(BUILD.resolve()), "js"], check=True)


class Shell:
    """One bash for a page, so that jobs and variables live on between its commands."""

    def __init__(self, folder):
        self.folder = folder
        self.bash = subprocess.Popen(["bash"], cwd=folder, env=environment(folder), stdin=subprocess.PIPE,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.count = 0

    def run(self, command):
        """The command's output and status."""
        self.count += 1
        done, output = self.folder / f".done{self.count}", self.folder / f".output{self.count}"
        self.bash.stdin.write(f"{{ {command}\n}} > {output} 2>&1; echo $? > {done}.part; mv {done}.part {done}\n".encode())
        self.bash.stdin.flush()
        until(lambda: done.exists() or self.bash.poll() is not None, SHELL_SECONDS, 0.02)
        return output.read_text(encoding="utf-8"), int(done.read_text()) if done.exists() else -1

    def end(self):
        """Ends the bash and the jobs that it started: the session is theirs alone."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.bash.pid, sign)
            except ProcessLookupError:
                break
            try:
                self.bash.wait(5)
            except subprocess.TimeoutExpired:
                continue


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.md")), ids=lambda page: page.stem)
def test_each_command_of_the_page_does_what_the_page_says(page, tmp_path):
    needs(page)
    for link, target in (("build", BUILD.resolve()), ("clients", SOURCE / "clients")):
        (tmp_path / link).symlink_to(target)
    shell = Shell(tmp_path)
    ran = 0
    try:
        for kind, name, rest in steps(page):
            if kind == "file":
                (tmp_path / name).write_text(rest, encoding="utf-8")
                continue
            output, status = shell.run(name)
            ran += 1
            assert status == 0, f"$ {name}\n{output}"
            if name.endswith("&"):
                continue  # it has only begun to print
            assert re.fullmatch(pattern(rest), output), f"$ {name}\nis expected to print\n" + "\n".join(rest) + \
                f"\nand printed\n{output}"
    finally:
        shell.end()
    assert ran > 0
