"""What a user installs: the wheel, built without a network; README's examples; a daemon of one's own; notebooks."""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

import pytest

import cairn
from cairn.server import find_program

HERE = pathlib.Path(__file__).resolve().parents[1]
ROOT = HERE.parents[1]
SCENE = ROOT / "clients" / "scenes" / "pyramid.yaml"


def run(*words, folder, path=None):
    """Output of a Python program that sees the packages in `path` and nothing of this tree."""
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    outside |= {"CAIRND": find_program(), "CAIRN": find_program("cairn")}
    if path is not None:
        outside["PYTHONPATH"] = str(path)
    done = subprocess.run([sys.executable, *words], cwd=folder, env=outside, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder into which the wheel has been installed."""
    for part in ("pip", "setuptools", "wheel"):
        if importlib.util.find_spec(part) is None:
            pytest.skip(f"python3-{part} is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    # The build writes beside its sources.
    shutil.copytree(HERE, folder / "source", ignore=shutil.ignore_patterns("tests", "__pycache__"))
    offline = ("--no-index", "--no-deps", "--quiet", "--disable-pip-version-check")
    run("-m", "pip", "wheel", *offline, "--no-build-isolation", "--wheel-dir", str(folder / "dist"),
        str(folder / "source"), folder=folder)
    wheel, = (folder / "dist").glob("*.whl")
    assert wheel.name == f"cairn_physics-{cairn.__version__}-py3-none-any.whl"
    run("-m", "pip", "install", *offline, "--target", str(folder / "site"), str(wheel), folder=folder)
    return folder / "site"


def test_the_wheel_runs_without_the_tree(installed, tmp_path):
    assert (installed / "cairn" / "py.typed").exists() and not (installed / "tests").exists()
    program = tmp_path / "first.py"
    program.write_text(textwrap.dedent("""
        import cairn
        with cairn.launch() as client:
            world = client.create("demo")
            body = world.spawn(shapes=[world.shape(sphere=0.5)], position=(0, 10, 0))
            print(cairn.__file__, world.step(60, bodies=True).bodies[body].position[1] < 10)
    """), encoding="utf-8")
    assert run(str(program), folder=tmp_path, path=installed).split() == [str(installed / "cairn" / "__init__.py"), "True"]


@pytest.mark.parametrize("number", range(3))
def test_examples_of_the_readme_run(number, tmp_path):
    """Against a running daemon where they connect to one; the last is the one with asyncio."""
    blocks = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(encoding="utf-8"), re.S)
    assert len(blocks) == 3
    with cairn.launch(scene=ROOT / "clients" / "scenes" / "tower.yaml", paused=False) as client:
        code = blocks[number].replace("tcp:127.0.0.1:7411", client.address)
        program = tmp_path / "example.py"
        program.write_text(code, encoding="utf-8")
        out = run(str(program), folder=tmp_path, path=HERE)
    assert out.strip(), "the example prints something"


def test_launch_makes_worlds_of_scenes_and_ends_its_daemon():
    with cairn.launch(scene=[SCENE, ROOT / "clients" / "scenes" / "door.yaml"]) as client:
        assert [(name, mode) for _, name, mode, _ in client.list()] == [("pyramid", "paused"), ("door", "paused")]
        assert client.join("pyramid").step(3).tick == 3
        process, directory = client.server.process, client.server.directory
    assert process.poll() == 0 and not os.path.exists(directory)
    with pytest.raises(RuntimeError, match="nowhere.yaml"):
        cairn.launch(scene="nowhere.yaml")


def test_load_sends_a_scene_to_a_world():
    with cairn.launch(scene=SCENE) as client:
        world = client.load(SCENE, "again")
        assert world.name == "again" and world.body_count == client.join("pyramid").body_count == 211
        with pytest.raises(RuntimeError, match="nowhere.yaml"):
            client.load("nowhere.yaml")


def test_a_notebook_shows_the_viewer_of_a_world():
    with cairn.launch(scene=SCENE, web=True, arguments=["--web-files", "/nonexistent"]) as client:
        view = client.join("pyramid").view(height=300)
        assert view.url == f"http://{client.server.viewer}/#world=pyramid"
        assert f'src="{view.url}"' in view._repr_html_() and "height: 300px" in view._repr_html_()
        assert client.join("pyramid").view("example.org:80").url == "http://example.org:80/#world=pyramid"
    with cairn.launch(scene=SCENE) as client, pytest.raises(ValueError, match="--web"):
        client.join("pyramid").view()


def test_a_failing_test_reports_what_the_daemon_logged(tmp_path):
    (tmp_path / "conftest.py").write_text("pytest_plugins = ['cairn.testing']\n", encoding="utf-8")
    (tmp_path / "test_log.py").write_text(textwrap.dedent("""
        def test_own(cairn_client):
            cairn_client.create("first_world")
            assert False
        def test_shared_before(cairn_server):
            with cairn_server.connect() as client:
                client.create("second_world")
        def test_shared(cairn_server):
            with cairn_server.connect() as client:
                assert len(client.list()) == 1, "one daemon for the module"
                client.create("third_world")
            assert False
    """), encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(words, env=os.environ | {"PYTHONPATH": str(HERE)}, capture_output=True, text=True, check=False)
    own, shared = done.stdout.split("___ test_shared ___")
    assert done.returncode == 1 and "2 failed, 1 passed" in done.stdout
    assert "first_world" in own and "third_world" in shared and "second_world" not in shared
