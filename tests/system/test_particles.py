"""Particles by every way: the scene fountain, commands, queries from Python, asyncio, JavaScript and the command line with the same bits,
refusals by name, and a journal that gives the same state again."""
import asyncio
import json
import math
import os
import struct
import subprocess

import pytest
from cairn import aio
from support import BUILD, DAEMON, SOURCE, Cli, cairn, daemon, refused
from test_same_history import js  # noqa: F401

FOUNTAIN = SOURCE / "clients" / "scenes" / "fountain.yaml"
READ_BY_JS = """
import { connect } from "./src/tcp.js";
const [address, name] = process.argv.slice(1), client = await connect(address);
const world = await client.join(name), [system] = await world.systems();
const hex = ({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength).toString("hex");
const { count, serials, positions, velocities, ages } = await world.particles(system.id);
const view = await world.particlesView(system.id);
const off = Math.max(...view.positions.map((x, i) => Math.abs(x - positions[i])));
console.log(JSON.stringify({ count, name: system.name, emitter: system.emitter, alive: system.alive, off, colours: [...view.colours],
  serials: hex(serials), positions: hex(positions), velocities: hex(velocities), ages: hex(ages) }));
client.close();
"""


@pytest.fixture(scope="module")
def server():
    with daemon() as running:
        yield running


def test_all_clients_read_the_same_bits(server, js):  # noqa: F811
    cli = Cli(server.address)
    cli.text("load", "jet", FOUNTAIN)
    with cairn.connect(server.address) as client:
        world = client.join("jet")
        world.step(90)
        (system,) = world.systems()
        assert (system["name"], system["emitter"]) == ("jet", "point")
        assert system["born"] == 90 * 60 and system["lost"] == 0
        found = world.particles(system["id"])
        assert len(found) == system["alive"] > 4000  # several pages
        serials = [particle[0] for particle in found]
        assert serials == sorted(set(serials))
        assert all(particle[1][1] > -1e-6 for particle in found)  # above the ground

        async def read():
            other = await aio.connect(server.address)
            try:
                return await (await other.join("jet")).particles(system["id"])
            finally:
                await other.close()
        assert asyncio.run(read()) == found
        rows = [json.loads(line) for line in cli.text("--json", "query", "jet", "particles", system["id"]).splitlines()]
        assert [(r["serial"], tuple(r["position"]), r["age"]) for r in rows] == [(p[0], p[1], p[5]) for p in found]
        if js is not None:
            done = subprocess.run(["node", "--input-type=module", "--eval", READ_BY_JS, server.address, "jet"], cwd=js, check=True,
                                  capture_output=True, text=True, env={**os.environ, "CAIRN": str(BUILD.resolve() / "cairn")})
            seen = json.loads(done.stdout)
            flat = [x for p in found for x in p[1]]
            assert seen["positions"] == struct.pack(f"<{len(flat)}d", *flat).hex()
            assert seen["velocities"] == struct.pack(f"<{len(flat)}d", *(x for p in found for x in p[2])).hex()
            assert seen["serials"] == struct.pack(f"<{len(found)}Q", *serials).hex()
            assert seen["ages"] == struct.pack(f"<{len(found)}d", *(p[5] for p in found)).hex()
            assert seen["off"] < 1e-3
            ages = [age for age, _ in system["colours"]]
            assert seen["colours"] == [sum(age <= p[5] for age in ages) for p in found]


def test_systems_are_made_changed_and_removed_and_bad_input_is_named(server):
    with cairn.connect(server.address) as client:
        world = client.create("systems", gravity=(0, 0, 0))
        system = world.particles_create("smoke", emitter="sphere", rate=5, speed=2, life=0)
        world.step(2)
        assert len(world.particles(system)) == 10
        world.particles_add(system, (1, 2, 3), (0, 0, 1))
        world.step(1)
        assert (1, 2, 3 + 1 / 60) in [particle[1] for particle in world.particles(system)]
        with refused("range"):
            world.particles_set(system, capacity=3)
        with refused("unknown_particles"):
            world.particles_remove(system + 1)
        with refused("unknown_particles"):
            world.particles(system + 1)
        world.particles_set(system, emitter="none", life=0.05)
        world.particles_add(system, (0, 5, 0), (0, 0, 0))
        last = world.systems()[0]["born"]
        world.step(6)
        with pytest.raises(cairn.Refused, match="has died or left the world"):
            world.particles_pin(system, last, 1)
        with pytest.raises(cairn.Refused, match=f"1 to {last} so far"):
            world.particles_pin(system, last + 1, 1)
        world.particles_remove(system)
        assert world.systems() == []


def test_a_journal_gives_the_same_particles_again(tmp_path):
    run = subprocess.run([DAEMON, "run", FOUNTAIN, "--ticks", "120", "--record", tmp_path / "jet.cairn"], capture_output=True, text=True,
                         check=False)
    assert run.returncode == 0, run.stderr
    done = subprocess.run([DAEMON, "replay", tmp_path / "jet.cairn", "--verify"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "same" in done.stdout, done.stdout + done.stderr


def test_links_are_told_in_their_order_and_page_by_page(server):
    with cairn.connect(server.address) as client:
        world = client.create("linked-particles", gravity=(0, 0, 0))
        cloth = world.particles_create("cloth", life=0, capacity=2000)
        world.particles_lattice(cloth, columns=40, rows=30, links=7)
        world.particles_link(cloth, 1, 1200, kind=1)
        world.step(1)
        links, system = world.links(cloth), world.systems()[0]
        edges, diagonals, seconds = 39 * 30 + 40 * 29, 2 * 39 * 29, 38 * 30 + 40 * 28
        assert len(links) == system["links"] == edges + diagonals + seconds + 1
        assert links[-1] == ("rope", [1, 1200]) and len({tuple(ends) for _, ends in links}) == len(links)
        assert all(kind == "rod" and 1 <= min(a, b) < max(a, b) <= 1200 or kind == "rope" for kind, (a, b) in links)
        with refused("unknown_particles"):
            world.links(cloth + 1)


@pytest.mark.parametrize("size", [0.0001, 0.05])
@pytest.mark.parametrize("shape", ["kind: cylinder, radius: 0.3, length: 1", "kind: cone, radius: 0.4, length: 1",
                                   "kind: ellipsoid, size: [0.6, 0.8, 1]", "kind: box, size: 1, radius: 0.1"])
def test_a_particle_may_begin_inside_a_body(server, tmp_path, shape, size):
    """Also inside one with a curved surface: nothing is lost, and it moves on the same way each time."""
    scene = tmp_path / f"inside-{shape.split()[1][:-1]}-{size}.yaml"
    scene.write_text(f"""
shapes: {{ thing: {{ {shape} }} }}
bodies: [{{ shape: thing, status: static, at: [0, 0.5, 0] }}]
particles: [{{ name: few, emitter: none, life: 0, size: {size}, points: [[[0.1, 0.6, 0]], [[0, 0.55, 0.05]], [[-0.1, 0.4, 0.1]]] }}]
""")
    with server.connect() as client:
        world = client.load(scene)
        again = world.fork(f"{world.name}-again")
        assert world.step(300).hash == again.step(300).hash
        system, = world.systems()
        found = world.particles(system["id"])
        assert len(found) == system["alive"] == 3 and found == again.particles(system["id"])
        assert all(math.isfinite(value) for _, position, velocity, *_ in found for value in (*position, *velocity))
        world.destroy()
        again.destroy()


SHOW = """
shapes: { ground: { kind: plane } }
bodies: [{ shape: ground, status: static }]
particles:
  - { name: shells, at: [0, 0.2, 0], rate: 1, delay: 20, speed: 6, spread: 20, life: 1, size: 0.1,
      split: { number: 6, number_deviation: 2, age: 0.3, depth: 2, burst: 2, spend: true }, trail: { system: smoke, delay: 2 } }
  - { name: smoke, emitter: none, capacity: 5000, life: 0.4, size: 0.02, gravity_scale: 0, mask: 0 }
"""


def test_splits_and_trails_come_by_every_way(server, tmp_path):
    scene, record = tmp_path / "show.yaml", tmp_path / "show.cairn"
    scene.write_text(SHOW)
    with server.connect() as client:
        world = client.load(scene)
        again = world.fork(f"{world.name}-again")
        hashed = world.step(100).hash
        assert hashed == again.step(100).hash
        shells, smoke = world.systems()
        assert shells["split_number"] == (6, 2) and shells["split_spend"] == "ends" and shells["split_depth"] == 2
        assert (shells["trail"], shells["trail_delay"], smoke["trail"]) == (smoke["id"], 2, 0)
        assert shells["splits"] > 10 and smoke["born"] > 200
        assert {particle[6] for particle in world.particles(shells["id"])} == {0, 1, 2}
        with refused("range"):
            world.particles_trail(shells["id"], shells["id"])
        with refused("range"):
            world.particles_split(shells["id"], number=1, number_deviation=2)
        world.particles_split(shells["id"], number=0)
        world.particles_trail(shells["id"], 0)
        world.step(1)
        assert world.systems()[0]["trail"] == 0
        rows = [json.loads(line) for line in Cli(server.address).text("--json", "query", again.name, "particles", shells["id"]).splitlines()]
        assert {row["generation"] for row in rows} == {0, 1, 2}
    run = subprocess.run([DAEMON, "run", scene, "--ticks", "100", "--record", record], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    done = subprocess.run([DAEMON, "replay", record, "--verify"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "same" in done.stdout, done.stdout + done.stderr


def test_a_trail_names_a_system_of_the_scene(tmp_path):
    scene = tmp_path / "wrong.yaml"
    scene.write_text(SHOW.replace("system: smoke", "system: smoek"))
    run = subprocess.run([DAEMON, "run", scene, "--ticks", "1"], capture_output=True, text=True, check=False)
    assert run.returncode != 0 and "smoek" in run.stderr and "no particle system" in run.stderr


PLANE = """
world: { planar: true, seed: 5 }
shapes:
  floor: { kind: polygon, points: [[-3, -0.1], [3, -0.1], [3, 0.1], [-3, 0.1]] }
  block: { kind: polygon, points: [[-0.3, -0.2], [0.3, -0.2], [0, 0.3]], radius: 0.05 }
bodies:
  - { shape: floor, status: static, at: [0, -0.1, 0] }
  - { name: burning, shape: block, at: [0, 2, 0], angular_velocity: [0, 0, 3] }
particles:
  - { name: fire, emitter: body, mount: { body: burning }, rate: 3, size: 0.05, mass: 0.001, life: 0.7, speed: 1, spread: 20, capacity: 90,
      split: { number: 2, age: 0.3, burst: 1, spend: true } }
  - { name: net, emitter: none, life: 0, size: 0.05, mass: 0.02, meets: [{ system: rope, thickness: 0.1 }],
      lattices: [{ at: [-0.4, 0.5, 0], columns: 9, rows: 4, spacing: 0.1, links: 11, compliance: 0.0001, substeps: 16 }], pins: [1, 9] }
  - { name: rope, emitter: none, life: 0, size: 0.05, mass: 0.01, lattices: [{ at: [-0.3, 1.2, 0], columns: 7, spacing: 0.1, links: 1, substeps: 8 }] }
"""


def state_of(world):
    return [(system, world.particles(system["id"])) for system in world.systems()]


def test_a_planar_world_is_saved_forked_replayed_and_watched_by_who_comes_late(server, tmp_path):
    """Births at the cap, splits, a burning body and meetings, in the plane; all that a client can do with a world keeps it."""
    scene = tmp_path / "plane.yaml"
    scene.write_text(PLANE)
    with server.connect(caps=("ack", "exact")) as client:
        world = client.load(scene)
        world.step(45)  # in the middle of splits, at the cap
        fire, net, rope = world.systems()
        assert fire["lost"] > 0 and fire["splits"] > 20 and fire["alive"] <= 90 and fire["emitter"] == "body"
        (other, thickness, friction, overlap), = net["meets"]
        assert (other, thickness, friction) == (rope["id"], 0.1, 0.3) and rope["meets"][0][0] == net["id"] and overlap < 0.3
        assert world.links(net["id"])[0][0] == "volume" and len(world.links(net["id"])[0][1]) == 3
        again = world.fork(f"{world.name}-again")
        world.save("here", rollback=True)
        expected = world.step(40).hash, state_of(world)
        assert (again.step(40).hash, state_of(again)) == expected
        world.restore("here", rollback=True)
        assert (world.step(40).hash, state_of(world)) == expected
        with server.connect(caps=("ack", "exact")) as late:
            seen = late.join(world.name)
            seen.subscribe(profile="exact", particles=True)
            world.step(3)
            world.particles_remove(rope["id"])  # while the net lies under it
            world.step(12)
            frame = next(frame for frame in seen.frames(100) if frame.tick == world.tick)
            assert frame.systems == {system["id"]: system["alive"] for system in world.systems()}
            there = [tuple(particle[1]) for system in world.systems() for particle in world.particles(system["id"])]
            assert [tuple(particle.position) for particle in frame.particles] == there and all(z == 0 for _, _, z in there)
        assert world.systems()[1]["meets"] == []
        with refused("planar"):
            world.particles_add(net["id"], (0, 0, 1), (0, 0, 0))
        with refused("planar"):
            world.particles_fluid(world.particles_create("water"), 0.1)
    run = subprocess.run([DAEMON, "run", scene, "--ticks", "90", "--record", tmp_path / "plane.cairn"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    done = subprocess.run([DAEMON, "replay", tmp_path / "plane.cairn", "--verify"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "same" in done.stdout, done.stdout + done.stderr
SHEET = """world: { name: sheet }
particles:
  - { name: sheet, emitter: none, life: 0, stretch_limit: LIMIT, pins: [1, 12],
      lattices: [{ at: [0, 2, 0], columns: 12, rows: 12, spacing: 0.1, substeps: 8 }] }
"""


def test_a_scene_limits_the_stretch_of_its_links(server, tmp_path):
    scene = tmp_path / "sheet.yaml"
    scene.write_text(SHEET.replace("LIMIT", "0.0001"))
    cli = Cli(server.address)
    failed = cli.run("load", "sheet", scene)
    assert failed.returncode != 0 and "stretch_limit is 0.0001: it must be 0 or at least 0.001" in failed.stderr
    scene.write_text(SHEET.replace("LIMIT", "0.02"))
    cli.text("load", "sheet", scene)
    with cairn.connect(server.address) as client:
        world = client.join("sheet")
        for _ in range(6):
            world.step(10)
            (system,) = world.systems()
            assert system["stretch"] <= system["stretch_limit"] == 0.02
        assert system["limit_passes"] >= 60 * 8
        (row,) = [json.loads(line) for line in cli.text("--json", "query", "sheet", "systems").splitlines()]
        assert row["limit_passes"] == system["limit_passes"] and row["stretch_limit"] == 0.02
