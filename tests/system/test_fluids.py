"""Fluids by every way: a scene, commands, figures from Python and the command line, refusals by name, a fork in mid-splash, and a journal
that gives the same state again."""
import json
import subprocess

import pytest
from support import DAEMON, SOURCE, Cli, cairn, daemon, refused

DAM_BREAK = SOURCE / "clients" / "scenes" / "dam-break.yaml"
SPLASH = """
world: { name: splash }
bodies:
  - { shape: { kind: plane }, status: static }
  - { shape: { kind: box, size: 0.5 }, density: 300, at: [0.2, 0.5, 0] }
particles:
  - name: water
    emitter: none
    life: 0
    size: 0.05
    friction: 0
    restitution: 0
    fluid: { kernel_radius: 0.2 }
    fills: [{ at: [0, 1.2, 0], size: 0.6 }]
"""


@pytest.fixture(scope="module")
def server():
    with daemon() as running:
        yield running


def test_figures_are_the_same_from_python_and_the_command_line(server, tmp_path):
    scene = tmp_path / "splash.yaml"
    scene.write_text(SPLASH)
    cli = Cli(server.address)
    cli.text("load", "splash", scene)
    with cairn.connect(server.address) as client:
        world = client.join("splash")
        world.step(30)
        fluid, = world.fluids()
        assert fluid["solver"] == "incompressible" and fluid["particles"] == 216 and fluid["lost"] == fluid["bad"] == 0
        assert fluid["residual"] <= fluid["tolerance"] and fluid["substeps"] >= 1
        row = json.loads(cli.text("--json", "query", "splash", "fluids").splitlines()[0])
        assert row == fluid
        again = world.fork("splash-again")
        assert world.step(30).hash == again.step(30).hash
        assert world.particles(fluid["system"]) == again.particles(fluid["system"])


def test_commands_make_a_fluid_and_bad_ones_are_named(server):
    with cairn.connect(server.address) as client:
        world = client.create("fluids")
        system = world.particles_create("oil", emitter="none", life=0, capacity=100)
        with refused("not_fluid"):
            world.particles_fill(system, (0, 1, 0), (1, 1, 1), 0.25)
        world.particles_fluid(system, 0.5, rest_density=800, viscosity=2, solver="explicit")
        world.particles_fill(system, (0, 1, 0), (1, 1, 1), 0.25)
        with refused("fluid"):
            world.particles_interact(system, forces="none", collisions="internal")
        with refused("range"):
            world.particles_fluid(system, 0.0001)
        world.step(5)
        fluid, = world.fluids()
        assert fluid["particles"] == 64 and fluid["rest_density"] == 800 and fluid["solver"] == "explicit"
        assert world.particles(system)[0][4] == pytest.approx(800 * 0.25**3, rel=1e-15)
        world.particles_fluid(system, 0)
        assert world.fluids() == []


def test_a_basin_with_a_tap_and_an_overflow_counts_what_it_takes(server):
    with cairn.connect(server.address) as client:
        world = client.load(SOURCE / "clients" / "scenes" / "overflow.yaml", name="overflow")
        world.step(240)
        water, = world.systems()
        sink, = water["sinks"]
        assert sink["region"] == "box" and sink["taken"] == water["taken"] > 20 and sink["mass"] == pytest.approx(sink["taken"])
        assert 0 <= water["alive"] + water["taken"] - water["born"] < 9  # those of the last tick are still there
        row = json.loads(Cli(server.address).text("--json", "query", "overflow", "systems").splitlines()[0])
        assert row["taken"] == water["taken"] and row["sinks"][0]["region"] == "box", row
        again = world.fork("overflow-again")
        assert world.step(20).hash == again.step(20).hash
        world.particles_sink(water["id"], 1, region="none")
        with refused("unknown_sink"):
            world.particles_sink(water["id"], 1, region="none")
        with refused("range"):
            world.particles_sink(water["id"], 2, region="ball")
        assert world.systems()[0]["sinks"] == [] and world.systems()[0]["taken"] >= water["taken"]


def test_a_journal_gives_the_same_fluid_again(tmp_path):
    run = subprocess.run([DAEMON, "run", DAM_BREAK, "--ticks", "12", "--record", tmp_path / "dam.cairn"], capture_output=True, text=True,
                         check=False)
    assert run.returncode == 0, run.stderr
    done = subprocess.run([DAEMON, "replay", tmp_path / "dam.cairn", "--verify"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "same" in done.stdout, done.stdout + done.stderr
