"""A private daemon for tests: its own Unix socket in its own directory, removed at the end of the block.

    from cairn.testing import daemon
    with daemon() as server, server.connect() as client:
        ...

With pytest, put `pytest_plugins = ["cairn.testing"]` into conftest.py and use the fixture `cairn_client`.
"""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from .client import connect


def find_program():
    """$CAIRND, $CAIRN_BUILDDIR/cairnd, the PATH, then build/ at or above the working directory."""
    built = os.path.join(os.environ.get("CAIRN_BUILDDIR", "/nonexistent"), "cairnd")
    named = os.environ.get("CAIRND") or (built if os.path.exists(built) else shutil.which("cairnd"))
    if named:
        return named
    for folder in [pathlib.Path.cwd(), *pathlib.Path.cwd().parents]:
        candidate = folder / "build" / "cairnd"
        if candidate.exists():
            return str(candidate)
    raise FileNotFoundError("cairnd was not found: set the environment variable CAIRND to its path")


class Daemon:
    """A running cairnd."""

    def __init__(self, process, directory):
        self.process = process
        self.directory = directory
        self.address = f"unix:{directory}/cairnd.sock"

    def connect(self, **options):
        return connect(self.address, **options)

    def kill(self):
        """Kills the process like a crash: no GOODBYE, no last checkpoint."""
        self.process.kill()
        self.process.wait()


def start(directory, *arguments, program=None):
    """Starts a daemon in a directory and waits up to 60 s until it listens. Raises RuntimeError with its log
    if it does not."""
    log = open(os.path.join(directory, "cairnd.log"), "ab")
    process = subprocess.Popen(
        [program or find_program(), "--unix", os.path.join(directory, "cairnd.sock"), *arguments],
        stdout=log, stderr=log)
    log.close()
    server = Daemon(process, directory)
    end = time.monotonic() + 60  # the daemon may have to rewrite a world's file first
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            server.connect().close()
            return server
        except (FileNotFoundError, ConnectionError):
            time.sleep(0.01)
    process.kill()
    process.wait()
    with open(os.path.join(directory, "cairnd.log"), encoding="utf-8", errors="replace") as lines:
        raise RuntimeError("cairnd did not start:\n" + lines.read())


def stop(server, seconds=20):
    """Sends SIGTERM and returns the exit status; waits at most `seconds`."""
    if server.process.poll() is None:
        server.process.send_signal(signal.SIGTERM)
    return server.process.wait(seconds)


@contextlib.contextmanager
def daemon(*arguments, program=None):
    """Runs a daemon with these arguments during the block."""
    with tempfile.TemporaryDirectory(prefix="cairn-") as directory:
        server = start(directory, *arguments, program=program)
        try:
            yield server
        finally:
            if server.process.poll() is None:
                stop(server)


try:
    import pytest
except ImportError:
    pass
else:
    @pytest.fixture
    def cairn_client():
        """A client of a private daemon."""
        with daemon() as server, server.connect() as client:
            yield client
