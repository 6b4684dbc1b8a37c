"""The scenes of particle effects do what they are made for (ch1-3 P-45): smoke rises and splits, rain falls at a constant speed and
leaves it dry under a roof, a jet pushes a crate, an explosion throws blocks over, snow stays on a roof, a hammock holds a ball."""
import math

import pytest
from support import SOURCE, daemon

SCENES = SOURCE / "clients" / "scenes"


@pytest.fixture(scope="module")
def server():
    with daemon() as running:
        yield running


def show(client, name, ticks):
    world = client.load(SCENES / f"{name}.yaml")
    world.step(ticks)
    systems = {system["name"]: system for system in world.systems()}
    assert all(system["lost"] == 0 for system in systems.values()), name
    return world, {key: world.particles(system["id"]) for key, system in systems.items()}, systems


def speed(particle):
    return math.hypot(*particle[2])


def test_smoke_rises_drifts_and_splits(server):
    with server.connect() as client:
        _, found, systems = show(client, "smoke", 240)
        smoke = found["smoke"]
        assert systems["smoke"]["splits"] > 200 and {p[6] for p in smoke} == {0, 1, 2}
        assert max(p[1][1] for p in smoke) > 4 and all(p[1][1] > 0 for p in smoke)
        old = [p for p in smoke if p[6] == 2]
        assert sum(p[1][0] for p in old) / len(old) > 0.7  # the wind takes them from above the chimney, 0.6


def test_fire_has_sparks_with_trails(server):
    with server.connect() as client:
        _, found, systems = show(client, "fire", 120)
        assert systems["sparks"]["trail"] == systems["glow"]["id"]
        assert len(found["glow"]) > 50 and len(found["flames"]) > 300
        assert sum(p[1][1] for p in found["flames"]) / len(found["flames"]) > 0.4


def test_rain_falls_at_a_constant_speed_and_not_under_the_roof(server):
    with server.connect() as client:
        _, found, systems = show(client, "rain", 120)
        assert systems["rain"]["cut"] < len(found["rain"])
        falling = [p for p in found["rain"] if p[5] > 0.5 and p[1][1] > 3]
        terminal = [-p[2][1] for p in falling if 2.5 < p[5]]
        assert len(falling) > 200 and all(v > 3 for v in (-p[2][1] for p in falling))
        assert all(abs(v / 6 - 1) < 0.01 for v in terminal)
        under = [p for p in found["rain"] if abs(p[1][0]) < 0.9 and abs(p[1][2]) < 0.7 and 0.3 < p[1][1] < 1.5]
        assert under == []


def test_fireworks_burst_twice_and_leave_smoke(server):
    with server.connect() as client:
        _, found, systems = show(client, "fireworks", 145)
        assert systems["red"]["splits"] >= 1 and systems["blue"]["splits"] >= 1 and systems["gold"]["splits"] > 10
        assert {p[6] for p in found["gold"]} >= {2} and len(found["smoke"]) > 2000
        assert max(p[1][1] for p in found["red"]) > 8


def test_a_jet_pushes_a_crate(server):
    with server.connect() as client:
        world, _, _ = show(client, "jet", 240)
        crate = next(body for body in world.step(0, bodies=True).bodies.values() if abs(body.position[1] - 0.3) < 0.2 and body.position[0] > -2)
        assert crate.position[0] > 0.5


def test_an_explosion_throws_blocks_over(server):
    with server.connect() as client:
        world, found, _ = show(client, "explosion", 150)
        bodies = [body for body in world.step(0, bodies=True).bodies.values() if math.hypot(body.position[0], body.position[2]) > 1]
        assert len(bodies) == 10 and sum(body.position[1] < 0.3 for body in bodies) >= 8
        assert len(found["smoke"]) > 500


def test_snow_settles_on_the_roof(server):
    with server.connect() as client:
        _, found, _ = show(client, "snow", 600)
        roof = [p for p in found["snow"] if abs(p[1][0]) < 1.2 and abs(p[1][2]) < 1.1 and 1.3 < p[1][1] < 2.4]
        lying = [p for p in roof if speed(p) < 1e-3]
        assert len(lying) > 100 and len(lying) > 0.8 * len(roof)


def test_a_hammock_holds_a_ball_and_a_rope_a_bucket(server):
    with server.connect() as client:
        world, found, systems = show(client, "hammock", 240)
        assert systems["rope"]["holds"] == 1 and systems["hammock"]["contacts"] == "within"
        bodies = sorted(world.step(0, bodies=True).bodies.items())
        ball, bucket = bodies[5][1], bodies[7][1]
        assert 1 < ball.position[1] < 2.4 and abs(ball.position[0]) < 0.6
        assert math.dist(bucket.position, (3, 2.2, 0)) < 1.4
        assert len(found["rope"]) == 11


def test_a_rocket_rises_and_a_sprinkler_turns(server):
    with server.connect() as client:
        world = client.load(SCENES / "rockets.yaml")
        rocket, arm = 2, 4
        flame, left, right = world.systems()
        assert (flame["mount"], left["mount"], right["mount"]) == (rocket, arm, arm) and flame["recoil"] == "pushes"
        world.step(120)
        found = {key: world.body(key) for key in (rocket, arm)}
        assert found[rocket]["position"][1] > 2.5, found
        assert abs(found[arm]["spin"][1]) > 2, found
        assert all(system["refused"] == 0 for system in world.systems())


def test_a_ribbon_and_a_rope_lie_in_folds_on_themselves(server):
    with server.connect() as client:
        _, found, systems = show(client, "folds", 240)
        for name in ("ribbon", "rope"):
            heights = [p[1][1] for p in found[name]]
            assert max(heights) < 1 and systems[name]["self_overlap"] < 0.13, (name, systems[name]["self_overlap"])
            places = [p[1] for p in found[name]]
            near = sum(math.dist(places[i], places[k]) < 0.04 for i in range(len(places)) for k in range(i - 12))
            assert near == 0, (name, near)  # no layer lies in another


def test_jelly_and_rope_lie_on_the_sheet(server):
    with server.connect() as client:
        _, found, systems = show(client, "layers", 150)
        assert [other for other, *_ in systems["sheet"]["meets"]] == [systems["jelly"]["id"], systems["rope"]["id"]]
        assert all(overlap < 0.13 for system in systems.values() for _, _, _, overlap in system["meets"])
        assert min(p[1][1] for p in found["jelly"]) > 0.3  # without the sheet it would lie on the ground
        assert len([p for p in found["rope"] if p[1][1] > 0.5]) > 10


def test_bodies_burn_on_all_their_faces(server):
    with server.connect() as client:
        world, found, systems = show(client, "ember", 60)
        assert all(system["emitter"] == "body" for system in systems.values())
        # Beside the cone, on its slope and above: not from one point.
        young = [p[1] for p in found["cone_fire"] if p[5] < 0.1]
        assert max(x for x, _, _ in young) - min(x for x, _, _ in young) > 0.5 and max(y for _, y, _ in young) > 0.6
        assert len(found["gem_fire"]) > 300


def test_sand_stays_in_the_plane(server):
    with server.connect() as client:
        world, found, systems = show(client, "sand", 60)
        for _ in range(4):
            world.step(60)
        systems = {system["name"]: system for system in world.systems()}
        found = {name: world.particles(system["id"]) for name, system in systems.items()}
        assert len(found["grains"]) > 250 and systems["pillow"]["volume_error"] < 0.1
        assert all(p[1][2] == 0 and p[2][2] == 0 for name in found for p in found[name])
        assert len([p for p in found["grains"] if p[1][1] < 0.9]) > 10  # through the neck
        assert min(p[1][1] for name in found for p in found[name]) > 0
