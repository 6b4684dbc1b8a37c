"""Robot files by the command line and the client: `cairn convert`, `--base`, `--balance`, and what is told."""
import json
import subprocess

import pytest
from support import CLIENT, DAEMON, SEEDLESS, SOURCE, Cli, daemon, log_of, until

ROBOTS = SOURCE / "clients" / "scenes" / "robots"
TRAPS = SOURCE / "tests" / "data" / "robots"


@pytest.fixture(scope="module")
def server():
    with daemon() as running:
        yield running


def cairn(*words):
    return subprocess.run([CLIENT, *map(str, words)], capture_output=True, text=True, timeout=60)


def hash_of(scene):
    done = subprocess.run([DAEMON, "run", str(scene), "--ticks", "10"], check=True, capture_output=True, text=True, env=SEEDLESS)
    return json.loads(done.stdout)["hash"], done.stderr


@pytest.mark.parametrize("robot", sorted(ROBOTS.iterdir()), ids=lambda path: path.name)
def test_a_converted_robot_has_the_same_history(robot, tmp_path):
    done = cairn("convert", robot)
    assert done.returncode == 0, done.stderr
    scene = tmp_path / "robot.yaml"
    scene.write_text(done.stdout)
    (ours, told), (converted, none) = hash_of(robot), hash_of(scene)
    assert ours == converted
    assert told == done.stderr and none == ""
    assert [line[2:] for line in done.stdout.splitlines() if line.startswith("# ")] == told.splitlines()


def test_the_base_is_asked_for(server, tmp_path):
    cli, robot = Cli(server.address), TRAPS / "no_base.urdf"
    text, status = cli.error("load", "asked", robot)
    assert "no_base.urdf:2:" in text and "--base fixed|floating" in text and status == 1
    text, _ = cli.error("load", "asked", robot, "--base", "flying")
    assert "--base is 'flying'; it must be fixed or floating" in text
    assert cli.json("load", "fixed", robot, "--base", "fixed")["name"] == "fixed"
    with server.connect() as client:
        for world in client.join("fixed"), client.load(robot, "floating", base="floating"):
            world.step(30)
        y = [cli.json("query", name, "body", 1)["position"][1] for name in ("fixed", "floating")]
    assert y[0] == 0 and y[1] < -0.5


def test_inertia_is_balanced_if_asked(server):
    cli, robot = Cli(server.address), TRAPS / "impossible.urdf"
    text, _ = cli.error("load", "heavy", robot)
    assert "impossible.urdf:3:" in text and "--balance" in text
    done = cli.run("load", "heavy", robot, "--balance")
    assert done.returncode == 0 and "are balanced" in done.stderr


def test_a_daemon_logs_what_is_not_taken(server):
    with daemon("--scene", str(TRAPS / "margin.xml"), "--paused") as other:
        until(lambda: "scene_not_taken" in log_of(other))
        assert "margin.xml:4: margin of <geom> is not taken" in log_of(other)


def test_what_is_no_robot_is_refused(tmp_path):
    done = cairn("convert", SOURCE / "clients" / "scenes" / "robots" / "arm.urdf", "--let", "n=3")
    assert done.returncode == 1 and "a robot file has no variables" in done.stderr
    other = tmp_path / "other.xml"
    other.write_text("<svg/>")
    done = cairn("convert", other)
    assert done.returncode == 1 and "<svg> is no robot file: URDF has <robot>, MJCF <mujoco>" in done.stderr
