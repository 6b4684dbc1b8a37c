"""A private daemon of this process: its own Unix socket in its own directory.

    import cairn
    with cairn.launch(scene="tower.yaml") as client:
        world = client.join("tower")
        print(world.step(60).hash)
"""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from .client import Client, let_words


def find_program(name="cairnd"):
    """The path of `cairnd`, or of `cairn`: from the environment ($CAIRND, $CAIRN; else $CAIRN_BUILDDIR), the PATH, then build/
    at or above the working directory and this file. Raises FileNotFoundError."""
    built = os.path.join(os.environ.get("CAIRN_BUILDDIR", "/nonexistent"), name)
    named = os.environ.get(name.upper()) or (built if os.path.exists(built) else shutil.which(name))
    if named:
        return named
    here = pathlib.Path.cwd()
    for folder in [here, *here.parents, *pathlib.Path(__file__).resolve().parents]:
        candidate = folder / "build" / name
        if candidate.exists():
            return str(candidate)
    raise FileNotFoundError(f"{name} was not found: set the environment variable {name.upper()} to its path")


class Daemon:
    """A running cairnd."""

    def __init__(self, process, directory):
        self.process = process
        self.directory = directory
        self.address = f"unix:{directory}/cairnd.sock"

    def connect(self, **options):
        return Client(self.address, **options)

    @property
    def log(self):
        """What the daemon has written so far."""
        with open(os.path.join(self.directory, "cairnd.log"), encoding="utf-8", errors="replace") as lines:
            return lines.read()

    @property
    def viewer(self):
        """HOST:PORT of the viewer, once the daemon was started with --web; else None."""
        found = re.findall(r"listening address=https?://([^/\s]+)/", self.log)
        return found[0] if found else None

    def kill(self):
        """Kills the process like a crash: no GOODBYE, no last checkpoint."""
        self.process.kill()
        self.process.wait()


def start(directory, *arguments, program=None):
    """Starts a daemon in a directory and waits up to 120 s until it listens. Raises RuntimeError with its log
    if it does not."""
    log = open(os.path.join(directory, "cairnd.log"), "ab")
    process = subprocess.Popen(
        [program or find_program(), "--unix", os.path.join(directory, "cairnd.sock"), *arguments],
        stdout=log, stderr=log)
    log.close()
    server = Daemon(process, directory)
    end = time.monotonic() + 120  # the daemon may have to rewrite a world's file first
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
    raise RuntimeError("cairnd did not start:\n" + server.log)


def stop(server, seconds=120):
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


class _Launched(Client):
    """A client that owns its daemon (`server`): close() ends both."""

    def __init__(self, server, options):
        self.server = server
        super().__init__(server.address, **options)

    def close(self):
        super().close()
        if self.server.process.poll() is None:
            stop(self.server)
        shutil.rmtree(self.server.directory, ignore_errors=True)


def launch(scene=None, paused=True, web=False, arguments=(), variables=None, **options):
    """Starts a daemon and returns a Client connected to it, whose close() (or the end of its `with` block) ends the daemon.

    `scene`: the path of a scene file, or several; each becomes a world with the scene's name, `paused` or running. `web`: the
    viewer is served on a free port of this machine (World.view shows it). `arguments`: further options of cairnd; `options`:
    those of connect(). `variables`: other values of variables of the scenes, {name: number or formula}. Raises RuntimeError with the daemon's log if it does not start, FileNotFoundError without cairnd."""
    scenes = [scene] if isinstance(scene, (str, os.PathLike)) else scene or []
    words = [word for path in scenes for word in ("--scene", os.fspath(path))]
    words += let_words(variables)
    if scenes and paused:
        words.append("--paused")
    if web:
        words += ["--web", "127.0.0.1:0"]
    directory = tempfile.mkdtemp(prefix="cairn-")
    try:
        return _Launched(start(directory, *words, *arguments), options)
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise
