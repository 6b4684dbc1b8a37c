"""Method `pile` by every way to ask: scenes, the CLI, the wire, replay, other methods after it, and the commands of docs/PILES.md."""
import json
import math
import re
import subprocess

import pytest
from support import BUILD, SOURCE, Cli, cairn, daemon
from test_tutorials import Shell, pattern, steps

BOX = SOURCE / "clients" / "scenes" / "pile-box.yaml"
SMALL = """
world: { name: small, rate: 10, gravity: [0, -1, 0], method: pile }
shapes: { ball: { kind: sphere, radius: 0.5 }, ground: { kind: plane }, hill: { kind: box, size: [1, 1, 1] } }
bodies:
  - { shape: ground, status: static, friction: 0 }
  - { shape: hill, status: static, friction: 0, at: [0, 0.2, 0], rotation: { axis: [1, 0.5, 0], degrees: 30 } }
  - { shape: ball, friction: 0, mass: 1, at: [0.1, 2, 0], grid: { count: [2, 2, 2], spacing: 1.1 }, jitter: 0.02 }
"""


@pytest.fixture(scope="module")
def cli():
    with daemon() as server:
        yield Cli(server.address)


def run(*words):
    done = subprocess.run([str(BUILD / "cairnd"), "run", *map(str, words)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_a_world_of_the_server_steps_as_the_batch_run_does(cli, tmp_path):
    scene = tmp_path / "small.yaml"
    scene.write_text(SMALL, encoding="utf-8")
    batch = run(scene, "--ticks", 12)
    assert batch["method"] == "pile" and batch["penetration"]["max"] <= 1e-9 and batch["fallbacks"] == 0
    assert run(scene, "--ticks", 12, "--workers", 3)["hash"] == batch["hash"]
    cli.text("load", "small", scene)
    with cairn.connect(cli.address) as client:
        world = client.join("small")
        world.step(12)
        places = [world.body(b)["position"] for b in range(3, 11)]
        assert all(math.dist(a, b) >= 1 - 1e-9 for i, a in enumerate(places) for b in places[:i])
        assert all(speed == 0 for b in range(3, 11) for speed in world.body(b)["velocity"])
        with pytest.raises(cairn.Refused) as refused:
            world.set_velocity(3, (1, 0, 0))
        assert "velocities" in str(refused.value)
    assert "pile" in cli.text("methods", "small")
    # Another method takes over, and pile takes back.
    cli.text("set", "small", "method", "soft-step")
    cli.text("step", "small", "5")
    cli.text("set", "small", "method", "pile")
    cli.text("step", "small", "5")


def test_what_pile_cannot_move_is_refused_at_the_switch(cli, tmp_path):
    scene = tmp_path / "capsules.yaml"
    scene.write_text(SMALL.replace("kind: sphere, radius: 0.5", "kind: capsule, length: 1, radius: 0.2").replace("name: small", "name: capsules")
                     .replace("method: pile", "method: soft-step"), encoding="utf-8")
    cli.text("load", "capsules", scene)
    text, code = cli.error("set", "capsules", "method", "pile")
    assert code == 1 and "a sphere" in text


def test_each_command_of_the_page_does_what_it_says(tmp_path):
    for link, target in (("build", BUILD.resolve()), ("clients", SOURCE / "clients"), ("docs", SOURCE / "docs")):
        (tmp_path / link).symlink_to(target)
    shell, ran = Shell(tmp_path), 0
    try:
        for kind, name, rest in steps(SOURCE / "docs" / "PILES.md"):
            assert kind == "run"
            output, status = shell.run(name)
            ran += 1
            assert status == 0 and re.fullmatch(pattern(rest), output), f"$ {name}\n{output}"
    finally:
        shell.end()
    assert ran > 2
