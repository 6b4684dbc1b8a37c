"""Robot files by the command line and the client: `cairn convert`, `--base`, `--balance`, `--joint-link-share`, and what is told."""
import json
import os
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


def test_what_is_of_robots_is_refused_of_others():
    """Options that would change nothing are not left out silently."""
    for words in ("--base", "fixed"), ("--balance",), ("--joint-link-share", "0.01"):
        done = cairn("convert", ROBOTS.parent / "door.yaml", *words)
        assert done.returncode == 1 and "door.yaml:1" in done.stderr and "the scene has none" in done.stderr, words
    done = cairn("convert", ROBOTS / "crane.xml", "--base", "fixed")
    assert done.returncode == 1 and "base is of URDF" in done.stderr
    assert cairn("convert", ROBOTS / "crane.xml", "--joint-link-share", "0.01").returncode == 0


def test_inertia_is_balanced_if_asked(server):
    cli, robot = Cli(server.address), TRAPS / "impossible.urdf"
    text, _ = cli.error("load", "heavy", robot)
    assert "impossible.urdf:3:" in text and "--balance" in text
    done = cli.run("load", "heavy", robot, "--balance")
    assert done.returncode == 0 and "are balanced" in done.stderr


def test_links_between_joints_have_the_share_that_is_asked_for(server):
    cli, robot = Cli(server.address), TRAPS / "two_anchors.xml"

    def masses(world):
        return [cli.json("query", world, "body", body)["mass"] for body in (2, 3)]  # the link, the foot

    cli.json("load", "usual", robot)
    cli.json("load", "light", robot, "--joint-link-share", "1e-6")
    assert masses("usual") == [0.02, 1.98] and masses("light") == [2e-6, 2 * (1 - 1e-6)]
    for share, text in ("0", "it must be from 1e-15 to 0.1"), ("0.2", "from 1e-15 to 0.1"), ("1e-13", "must be 5e-13 at least"):
        told, status = cli.error("load", "refused", robot, "--joint-link-share", share)
        assert text in told and status == 1
    with server.connect() as client:
        client.load(robot, "python", joint_link_share=1e-6)
        assert masses("python") == masses("light")


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


def test_an_included_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.xml")
    (tmp_path / "robot.xml").write_text('<mujoco>\n  <include file="pipe.xml"/>\n  <worldbody/>\n</mujoco>\n')
    done = cairn("convert", tmp_path / "robot.xml")
    assert done.returncode == 1 and "robot.xml:2: the file 'pipe.xml' cannot be opened" in done.stderr
