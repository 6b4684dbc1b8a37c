"""Fluids by every way: a scene, commands, figures from Python and the command line, refusals by name, a fork in mid-splash, and a journal
that gives the same state again."""
import json
import subprocess

import pytest
from support import DAEMON, SOURCE, Cli, cairn, daemon, log_of, refused, until

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
    with daemon("--web", "127.0.0.1:0") as running:
        yield running


def shown(world, sub=1, tick=None):
    """The particles of the subscription's frame of a tick, by default the world's."""
    tick = world.tick if tick is None else tick
    for frame in world.frames(100, sub):
        if frame.tick == tick:
            return {particle.key: particle for particle in frame.particles}
    raise AssertionError(f"no frame of tick {tick}")


def web_address(server):
    found = [line.split("http://")[1] for line in log_of(server).splitlines() if "listening address=http" in line]
    return "ws://" + found[0].split("/")[0] if found else None


def near(value, rounded, bits):
    return abs(value - rounded) <= value / 2**bits


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
        for _ in range(2):
            world.step(130)  # it runs over from tick 200 on
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


def test_frames_have_density_and_pressure_in_every_profile_for_early_late_and_partial_watchers(server, tmp_path):
    scene = tmp_path / "splash.yaml"
    scene.write_text(SPLASH.replace("name: splash", "name: gauges"))
    Cli(server.address).text("load", "gauges", scene)
    profiles = ["exact", "plain", "view", "sim"]
    area = cairn.areas.box((-50, -1, -50), (50, 0.25, 50))
    with cairn.connect(server.address, caps=("ack", "exact")) as client:
        world = client.join("gauges")
        for sub, profile in enumerate(profiles):
            world.subscribe(sub, profile=profile, particles=True)
        world.subscribe(4, profile="exact", particles=["pressure"], sample=5)
        world.subscribe(5, profile="exact", particles=["density", "pressure", "position"], areas=[area])
        world.step(25)
        fresh = shown(world, 0)
        world.step(20)
        exact, plain, view, sim, sampled, low = (shown(world, sub) for sub in range(6))
        assert exact == plain and set(view) == set(sim) == set(exact) == set(fresh) and len(exact) == 216
        for key, particle in exact.items():
            assert near(particle.density, view[key].density, 16) and near(particle.pressure, view[key].pressure, 8)
            assert view[key].density == sim[key].density and near(particle.pressure, sim[key].pressure, 16)
        assert {key: particle.pressure for key, particle in sampled.items()} == \
            {key: particle.pressure for key, particle in exact.items() if key[1] % 5 == 0}
        assert next(iter(sampled.values())).density is None
        assert {key: (p.density, p.pressure) for key, p in low.items()} == \
            {key: (p.density, p.pressure) for key, p in exact.items() if p.position[1] <= 0.25} and 0 < len(low) < 216
        assert sum(p.pressure != fresh[key].pressure for key, p in exact.items()) > 40, "pressures change"
        fluid, = world.fluids()
        assert max(p.density for p in exact.values()) == pytest.approx(1000 * (1 + fluid["density_error_max"]), rel=1e-12)
        assert max(p.pressure for p in low.values()) > 100, "the fluid carries itself"
        with cairn.connect(until(lambda: web_address(server)), caps=("ack", "exact")) as late:
            again, same = late.join("gauges"), late.join(world.fork("gauges-2").name)
            for sub, copy in enumerate((again, same)):
                copy.subscribe(sub, profile="exact", particles=True)
                assert shown(copy, sub, world.tick) == exact
            client.join("gauges-2").step(3)
            world.step(3)
            assert shown(again, 0, world.tick) == shown(same, 1, world.tick) == shown(world, 0) != exact


def test_the_past_has_the_pressures_it_had(tmp_path):
    with daemon("--data", str(tmp_path / "data")) as stored, cairn.connect(stored.address, caps=("ack", "exact")) as client:
        world = client.create("then")
        world.spawn(status=1, shapes=[(world.shape(cairn.shapes.plane((0, 1, 0))),)], position=(0, 0.6, 0))
        system = world.particles_create("water", emitter="none", life=0, capacity=100, size=0.1, friction=0, restitution=0)
        world.particles_fluid(system, 0.4)
        world.particles_fill(system, (0, 1, 0), (0.8, 0.8, 0.8), 0.2)
        world.subscribe(1, profile="exact", particles=True)
        world.step(10)
        before = shown(world)
        world.save("mark")
        world.step(10)
        after = shown(world)
        assert sum(p.density for p in before.values()) != sum(p.density for p in after.values())
        world.seek(10)
        assert shown(world, 1, 10) == before
        world.seek(None)
        means = [sum(getattr(p, name) for p in after.values()) / len(after) for name in ("density", "pressure")]
        row = [json.loads(line) for line in Cli(stored.address).text("--json", "watch", "then", "--particles", "--ticks", "1").splitlines()]
        row = next(item for item in row if "middle" in item)
        assert [row["density"], row["pressure"]] == pytest.approx(means, rel=1e-9)
        line = Cli(stored.address).text("watch", "then", "--particles", "--ticks", "1")
        assert f"density {means[0]:.6g} pressure {means[1]:.6g}" in line
        world.restore("mark")
        assert shown(world, 1, 10) == before
        world.step(10)
        assert shown(world) == after


def test_particles_of_no_fluid_have_neither_density_nor_pressure(server):
    with cairn.connect(server.address, caps=("ack", "exact")) as client:
        world = client.create("dry")
        system = world.particles_create("sand", emitter="none", life=0, capacity=100, size=0.1)
        world.particles_fluid(system, 0.5)
        world.particles_fill(system, (0, 1, 0), (0.5, 0.5, 0.5), 0.25)
        world.subscribe(1, profile="sim", particles=["density", "pressure"])
        assert all(p.density == p.pressure == 0 for p in shown(world).values()), "born after the last step"
        world.step(3)
        assert all(p.density > 0 and p.position is None for p in shown(world).values())
        world.particles_fluid(system, 0)
        world.step(1)
        assert all(p.density == p.pressure == 0 for p in shown(world).values())
