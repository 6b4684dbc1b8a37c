"""The Python client against a private daemon."""
import asyncio
import hashlib
import math
import socket
import time

import pytest

import cairn
from cairn import aio, columns
from cairn.manifest import COMMAND
from cairn.testing import daemon, frames_to


def falling(client, name="demo"):
    world = client.create(name, method="free")
    return world, world.spawn(shapes=[world.shape(sphere=0.5)], position=(0, 10, 0))


def test_a_body_falls_half_g_t_squared(cairn_client):
    world, body = falling(cairn_client)
    start = world.step(0, bodies=True)
    stepped = world.step(60, bodies=True)
    seconds = (stepped.tick - start.tick) / 60
    fallen = start.bodies[body].position[1] - stepped.bodies[body].position[1]
    speed = -start.bodies[body].velocity[1]
    # The integrator may be of first order in time, so the tolerance is the distance of one tick at the final speed.
    assert fallen == pytest.approx(speed * seconds + 9.81 * seconds ** 2 / 2, abs=9.81 * seconds / 60)


def test_the_same_commands_give_the_same_hashes(cairn_client):
    hashes = []
    for name in ("one", "two"):
        world, body = falling(cairn_client, name)
        world.apply(cairn.client.command("impulse", body, (1, 2, 3)))
        hashes.append(world.step(100).hash)
    assert hashes[0] == hashes[1]


def test_a_restored_snapshot_and_a_fork_have_the_same_hashes(cairn_client):
    world, _ = falling(cairn_client)
    world.step(10)
    saved = world.save("here")
    there = world.step(50).hash
    fork = world.fork("copy", "here")
    restored = world.restore("here")
    assert restored.hash == saved.hash and restored.epoch == saved.epoch + 1
    assert world.step(50).hash == there
    assert fork.step(50).hash == there


def test_a_rollback_takes_one_round_trip_and_leaves_no_trace(cairn_client):
    world, ball = falling(cairn_client)
    assert world.step(3, save="then").kept
    straight = world.fork("straight").step(7)
    world.set_velocity(ball, (9, 0, 0))
    wrong = world.step(7)
    right = world.step(7, restore="then", save="now")
    assert right.kept and (right.tick, right.epoch) == (10, wrong.epoch + 1)
    assert right.hash == straight.hash != wrong.hash
    saved = world.save("once", rollback=True)
    world.step(4)
    assert world.restore("once", rollback=True).hash == saved.hash == right.hash
    for refused in (lambda: world.restore("once"), lambda: world.step(1, restore="never")):
        with pytest.raises(cairn.Refused) as refusal:
            refused()
        assert refusal.value.status == "unknown_snapshot"


def test_frames_have_the_ticks_and_bodies_of_the_world(cairn_client):
    world, body = falling(cairn_client)
    world.subscribe(fields=31)
    first = next(world.frames(1))
    assert list(first.bodies) == [body]
    world.step(5)
    ticks = [frame.tick for frame in frames_to(world)]
    assert ticks == sorted(ticks) and ticks[-1] == world.tick


@pytest.mark.parametrize("profile, metre, speed, turn", [
    ("view", 1 / 1024, 1 / 256, 0.0097), ("sim", 1 / 8192, 1 / 2048, 0.00015), ("exact", 0, 0, 1e-12)])
def test_every_profile_equals_plain_within_its_steps(profile, metre, speed, turn):
    with daemon() as server, server.connect(caps=("ack", "durable", "exact")) as client:
        world, first = falling(client)
        box = world.shape(box=(1, 1, 1))
        bodies = [first] + [world.spawn(shapes=[box], position=(3 * i, 5, 0), angular_velocity=(2, i, -1),
                                        velocity=(i, 3, 0)) for i in range(1, 6)]
        names = ["position", "rotation", "velocity", "spin", "status", "owner", "shapes"]
        world.subscribe(1, fields=names)
        world.subscribe(2, fields=names, profile=profile)
        for step in range(30):
            if step == 10:
                world.apply(cairn.client.command("remove", bodies.pop(2)))
                bodies.append(world.spawn(shapes=[box], position=(0, 9, 9)))
            world.step(1)
        plain = {frame.tick: frame for frame in frames_to(world, 1)}
        seen = {frame.tick: frame for frame in frames_to(world, 2)}
        assert world.tick in plain and world.tick in seen and len(set(plain) & set(seen)) > 20
        for tick in set(plain) & set(seen):
            wanted, shown = plain[tick].bodies, seen[tick].bodies
            assert sorted(wanted) == sorted(shown)
            for body, real in wanted.items():
                assert near(shown[body].position, real.position, metre)
                assert near(shown[body].velocity, real.velocity, speed)
                assert near(shown[body].spin, real.spin, speed)
                opposite = [-value for value in real.rotation]
                apart = min(math.dist(shown[body].rotation, real.rotation),
                            math.dist(shown[body].rotation, opposite))
                assert 2 * apart <= turn * 1.001
                for name in ("status", "asleep", "owner", "tag", "shapes"):
                    assert getattr(shown[body], name) == getattr(real, name)


def near(shown, real, most):
    return all(abs(a - b) <= most for a, b in zip(shown, real))


def test_a_block_cut_short_is_refused():
    # Bodies 7 and 8: one run with mask 1, and their positions.
    block = bytes([2, 13, 0, 1, 2, 0x80, 1, 1, 0, 0, 3])
    steps = {}
    shown = list(columns.read_block(block, "view", 1, steps, False))
    assert shown == [(7, "position", (1 / 512, 64 / 512, -1 / 512)), (8, "position", (0, 0, -2 / 512))]
    for cut in range(len(block)):
        with pytest.raises(columns.Malformed):
            list(columns.read_block(block[:cut], "view", 1, {}, False))


@pytest.mark.parametrize("profile, part", [("plain", 0), ("exact", 0), ("view", 2 ** -8), ("sim", 2 ** -24)])
def test_contacts_of_a_resting_body_carry_its_weight(profile, part):
    with daemon() as server, server.connect(caps=("ack", "exact")) as client:
        world = client.create("rest")
        ground = world.spawn(status=1, shapes=[world.shape(plane=((0, 1, 0),))])
        body = world.spawn(shapes=[world.shape(sphere=0.5)], position=(0, 0.5, 0), mass=2)
        world.step(120)
        world.subscribe(fields=["contacts"], profile=profile)
        contact, = next(world.frames(1)).bodies[body].contacts
        assert contact.other == ground and near(contact.normal, (0, 1, 0), 0.007)
        assert near(contact.point, (0, 0, 0), 0.01)
        assert abs(contact.impulse * 60 - 2 * 9.81) <= 2 * 9.81 * (part + 1e-4)
        assert next(iter(world.subscriptions.values())).bodies[ground].contacts == []


def test_a_frame_has_only_the_subscribed_columns(cairn_client):
    world, body = falling(cairn_client)
    world.subscribe(fields=["position"], profile="view", hash_every=0)
    frame = next(world.frames(1))
    assert near(frame.bodies[body].position, (0, 10, 0), 0.01) and frame.bodies[body].rotation is None
    with pytest.raises(cairn.Refused) as refused:
        world.subscribe(2, fields=31 + 512)
        world.client.wait(["snapshot"], lambda f: f[0] == 2)
    assert refused.value.status == "unsupported" and "joints (bit 9)" in str(refused.value)


@pytest.mark.parametrize("fields, status", [
    ({"position": (1e300, 0, 0)}, "range"),
    ({"shapes": [4711]}, "unknown_shape"),
    ({"restitution": -1}, "range"),
    ({"rotation": (0, 0, 0, 0)}, "range"),
])
def test_a_bad_spawn_is_refused_by_name_and_changes_nothing(cairn_client, fields, status):
    world, _ = falling(cairn_client)
    before = world.step(0, bodies=True)
    with pytest.raises(cairn.Refused) as refused:
        world.spawn(**fields)
    assert refused.value.status == status
    assert list(world.step(0, bodies=True).bodies) == list(before.bodies)


def test_a_number_that_is_not_finite_is_refused_by_name(cairn_client):
    world, body = falling(cairn_client)
    with pytest.raises(cairn.Refused) as refused:
        world.apply([COMMAND["impulse"][0], body, [math.nan, 0.0, 0.0]])
    assert (refused.value.status, refused.value.field, refused.value.index) == ("not_finite", "impulse", 0)
    with pytest.raises(cairn.BadNumber) as unsent:
        world.impulse(body, (math.nan, 0, 0))
    assert (unsent.value.status, unsent.value.field) == ("not_finite", "impulse") and isinstance(unsent.value, ValueError)
    assert world.step(0).tick == world.tick


def test_the_text_of_a_refusal_arrives_complete(cairn_client):
    world = cairn_client.create("demo")
    body = world.spawn(position=(0, 10, 0))
    join = cairn.client.command("joint_create", 6, 0, body, point_b=(5, 0, 0))
    for batch in (lambda: world.apply(join), lambda: world.result(world.send(join))):
        with pytest.raises(cairn.Refused) as refused:
            batch()
        assert str(refused.value).endswith("use place 1 (in scenes: at), or violated 2 (move) to move the bodies (point_b)")


def test_ray_overlap_and_body_find_the_body(cairn_client):
    world, body = falling(cairn_client)
    position = world.step(0, bodies=True).bodies[body].position
    hits = world.ray((position[0] + 5, position[1], 0), (-1, 0, 0), 10)
    assert hits[0][0] == body and hits[0][2][0] == pytest.approx(0.5)
    assert world.overlap(cairn.sphere(0.1), position) == [body]
    assert world.totals()[1] == pytest.approx(
        position[1] * 9.81 * 1000 * math.pi / 6, rel=1e-9)


def test_geometry_returns_the_uploaded_bytes(cairn_client):
    world, _ = falling(cairn_client)
    # 5000 points of 24 bytes need more than two parts.
    points = [(math.sin(i) * (i % 7), math.cos(i) * (i % 11), i * 1e-3) for i in range(5000)]
    for data in (cairn.sphere(0.5), cairn.hull(points)):
        world.shape(data)
        assert world.geometry(hashlib.sha256(data).digest()) == data
    with pytest.raises(cairn.Refused) as refused:
        world.geometry(bytes(32))
    assert refused.value.status == "unknown_shape"
    with pytest.raises(cairn.Refused) as refused:
        world.query(6, hashlib.sha256(data).digest(), 3)
    assert (refused.value.status, refused.value.field) == ("range", "part")


CORNERS = [(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]
FACES = [(0, 2, 1), (1, 2, 3), (4, 5, 6), (5, 7, 6), (0, 1, 4), (1, 5, 4), (2, 6, 3), (3, 6, 7),
         (0, 4, 2), (2, 4, 6), (1, 3, 5), (3, 7, 5)]


def test_long_queries_find_the_body(cairn_client):
    world = cairn_client.create("demo", method="free", gravity=(0, 0, 0))
    box = world.shape(box=(2, 2, 2))
    wall = world.spawn(shapes=[box], position=(5, 0, 0), status=1)
    other = world.spawn(shapes=[box], position=(0, 0, 9), density=100)
    world.step(1)
    (hit,) = world.cast(cairn.sphere(0.5), (0, 0, 0), (10, 0, 0))
    assert hit[0] == wall and hit[1] == pytest.approx(0.35, abs=1e-6) and hit[4] == 0
    assert hit[2] == pytest.approx((4, 0, 0), abs=1e-6) and hit[3] == pytest.approx((-1, 0, 0))
    named = world.cast(hashlib.sha256(cairn.box(2, 2, 2)).digest(), (0, 0, 0), (10, 0, 0))
    assert named[0][1] == pytest.approx(0.3, abs=1e-6)
    distance, normal, own, its = world.closest(wall)
    assert (own[0], its[0]) == (wall, other) and distance == pytest.approx(math.hypot(3, 7))
    assert normal == pytest.approx((-3 / math.hypot(3, 7), 0, 7 / math.hypot(3, 7)))
    assert world.closest(wall, other, 1) is None
    mass = world.mass(other)
    assert mass["mass"] == pytest.approx(800) and mass["moments"] == pytest.approx([800 * 4 / 6] * 3)
    assert mass["radius"] == pytest.approx(math.sqrt(3)) and world.mass()["bodies"] == 1
    walked = world.move(cairn.capsule(0.5, 0.25), (3, 0, 0), (2, 0, -1))
    assert walked["position"] == pytest.approx((3.75, 0, -1), abs=0.01) and not walked["grounded"]
    assert [contact[0] for contact in walked["contacts"]] == [wall]
    assert world.regions(wall, other) == []


def test_events_over_the_worlds_limit_are_dropped_and_counted_in_a_limit_event(cairn_client):
    def events_of(**options):
        world = cairn_client.create(f"events{len(options)}", **options)
        world.spawn(status=1, shapes=[world.shape(cairn.plane((0, 1, 0)))])
        ball = world.shape(cairn.sphere(0.5))
        world.subscribe(len(options) + 1, events=0xFFFF)
        _, = world.frames(1, len(options) + 1, 5)
        world.apply(*(cairn.client.command("spawn", 2, (3 * k, 0.49, 0), [ball]) for k in range(12)))
        tick = world.step(1).tick
        world.step(1)
        frames = []
        while not frames or frames[-1].tick <= tick:
            frames += world.frames(1, len(options) + 1, 5)
        return [event[1:] for frame in frames for event in frame.events if event[0] == tick]
    free, bound = events_of(), events_of(events_max=4)
    assert [event[0] for event in free] == ["contact_begin"] * 12
    # The first three events in their order, and one event of kind limit that counts the nine others.
    assert bound[:3] == free[:3] and [event[0] for event in bound[3:]] == ["limit"] and 9 in bound[3], bound
    with pytest.raises(cairn.Refused) as refused:
        cairn_client.create("none", events_max=0)
    assert refused.value.status == "range" and "events_max" in str(refused.value)


def test_methods_and_parameters_are_listed(cairn_client):
    world = cairn_client.create("learns")
    methods = {method["name"]: method for method in world.methods()}
    assert {"free", "soft-step", "lcp", "projection", "reflection"} <= set(methods)
    assert all(method["why"] is None for method in methods.values())
    assert methods["reflection"]["names"]["gr-velocity-projection"] == ("reflection.core", 1.0)
    assert methods["projection"]["names"] == {"velocity-projection": None}
    parameters = world.parameters()
    push = parameters["contact.push_speed"]
    assert push["value"] == push["initial"] == 3 and push["old"] == ["soft_step.push_speed"]
    assert set(push["methods"]) <= set(methods) and "lcp" in push["methods"] and not push["whole"]
    world.apply(cairn.client.command("parameter", "soft_step.push_speed", 5.0))
    assert world.parameters()["contact.push_speed"]["value"] == 5
    assert len({row["number"] for row in parameters.values()}) == len(parameters)
    # The bodies of a world decide which methods it can switch to.
    world.spawn(status="static", shapes=[world.shape(cairn.mesh([(0, 0, 0), (1, 0, 0), (0, 0, 1)], [(0, 2, 1)]))])
    after = {method["name"]: method["why"] for method in world.methods()}
    assert after["soft-step"] is None
    for name, why in after.items():
        if why is not None:
            with pytest.raises(cairn.Refused):
                world.apply(cairn.client.command("method", name))


def test_regions_come_from_the_helper_and_name_their_tick(cairn_client):
    world = cairn_client.create("demo", method="free", gravity=(0, 0, 0))
    cube = world.shape(cairn.solid(CORNERS, FACES))
    one = world.spawn(shapes=[cube])
    two = world.spawn(shapes=[cube], position=(1.5, 0.25, 0))
    world.step(1)
    ((depth, volume, point, its, normal),) = world.regions(one, two)
    assert volume == pytest.approx(0.5 * 1.75 * 2) and depth == pytest.approx(math.dist(point, its))


def torus(around, across):
    """A torus as a closed mesh of 2 * around * across triangles."""
    corners = []
    for i in range(around):
        for k in range(across):
            u, v = 2 * math.pi * i / around, 2 * math.pi * k / across
            corners.append(((3 + math.cos(v)) * math.cos(u), (3 + math.cos(v)) * math.sin(u), math.sin(v)))
    faces = []
    for i in range(around):
        for k in range(across):
            a, b = i * across + k, (i + 1) % around * across + k
            c, d = i * across + (k + 1) % across, (i + 1) % around * across + (k + 1) % across
            faces += [(a, b, d), (a, d, c)]
    return corners, faces


def test_a_ring_is_cut_into_parts_that_leave_its_hole_free(cairn_client):
    world = cairn_client.create("ring", gravity=(0, 0, 0))
    ring = cairn.solid(*torus(24, 10), form="parts", tolerance=0.2)
    shape = world.shape(ring)
    body = world.spawn(shapes=[shape])
    world.step(1)
    assert world.overlap(cairn.sphere(1.5), (0, 0, 0)) == []
    assert world.overlap(cairn.sphere(0.5), (3, 0, 0)) == [body]
    # One ray through the hole, one against the rim.
    assert world.cast(cairn.sphere(1.0), (0, 0, -5), (0, 0, 10)) == []
    assert world.cast(cairn.sphere(1.0), (3, 0, -5), (0, 0, 10))[0][0] == body
    walked = world.move(cairn.sphere(0.5), (3, 0, -5), (0, 0, 10), iterations=8)
    assert abs(math.hypot(*walked["position"][:2]) - 3) > 1.2 or walked["position"][2] < -1.4


def test_the_end_of_a_world_waits_for_its_queries_in_the_helper():
    with daemon() as server, server.connect() as client:
        client.timeout = 100  # on a busy machine the thread of low priority that answers hardly runs
        corners, faces = torus(160, 60)
        for round_ in range(3):
            world = client.create("ring%d" % round_, method="free", gravity=(0, 0, 0))
            mesh = world.shape(cairn.mesh(corners, faces))
            one = world.spawn(shapes=[mesh], status=1)
            two = world.spawn(shapes=[mesh], position=(0.5, 0.25, 0.1), status=1)
            world.step(1)
            for _ in range(20):
                client.wire.send("query", client.next_ref(), world.number, [11, one, two])
            client.ask("reply", "world_destroy", world.number)
        # The daemon still serves requests after the pending answers were dropped.
        world = client.create("after", method="free")
        assert world.step(3).tick >= 3


@pytest.mark.parametrize("query, status, field", [
    ((7, cairn.plane((0, 1, 0)), [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]), "unsupported", "shape"),
    ((7, bytes(32), [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]), "unknown_shape", "shape"),
    ((7, cairn.solid(CORNERS, FACES), [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]), "unsupported", "shape"),
    ((7, cairn.sphere(1), [1e9, 0.0, 0.0], [1.0, 0.0, 0.0]), "range", "position"),
    ((7, cairn.sphere(1), [0.0, 0.0, 0.0], [1e9, 0.0, 0.0]), "range", "way"),
    ((7, cairn.sphere(1), [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]), "range", "rotation"),
    ((7, b"\x01", [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]), "corrupt", "shape"),
    ((8, 4711), "unknown_body", "body"),
    ((8, 1, 1), "range", "other"),
    ((9, 4711), "unknown_body", "body"),
    ((10, cairn.sphere(1), [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], 99), "range", "iterations"),
    ((11, 1, 0), "unknown_body", "other"),
    ((17, 1, 0.0, 5), "range", "sides"),
    ((126, 1), "unsupported", "kind"),
])
def test_a_bad_query_is_refused_by_name(cairn_client, query, status, field):
    world, _ = falling(cairn_client)
    with pytest.raises(cairn.Refused) as refused:
        world.query(*query)
    assert (refused.value.status, refused.value.field) == (status, field)


def test_a_second_subscription_of_a_number_leaves_the_first_one_whole(cairn_client):
    world, body = falling(cairn_client)
    other, _ = falling(cairn_client, "other")
    world.subscribe(profile="view")
    for again in (world, other):
        with pytest.raises(ValueError, match="subscription 1 exists already"):
            again.subscribe(profile="plain")
    world.step(3)
    ticks = [frame.tick for frame in frames_to(world)]
    assert ticks[-1] == 3 and body in world.subscriptions[1].bodies
    with pytest.raises(cairn.Refused):
        other.subscribe(sub=2, divisor=100000)
    other.subscribe(sub=2)
    assert [frame.tick for frame in other.frames(1, sub=2)] == [0]
    world.unsubscribe()
    world.subscribe(profile="plain")
    assert [frame.tick for frame in world.frames(1)] == [3]


LYING = (math.sqrt(0.5), 0, 0, math.sqrt(0.5))  # y along -x


@pytest.mark.parametrize("first", ["body", "ground"])
@pytest.mark.parametrize("kind, rotation, spin, points", [
    ({"sphere": 0.5}, (1, 0, 0, 0), (20, 0, 60), 1), ({"capsule": (1, 0.5)}, LYING, (60, 0, 0), 2),
    ({"cylinder": (1, 0.5)}, LYING, (60, 0, 0), 2), ({"ellipsoid": (2, 1, 1)}, (1, 0, 0, 0), (60, 0, 0), 1)])
def test_what_spins_where_it_lies_touches_below_itself(cairn_client, kind, rotation, spin, points, first):
    """A radian a tick: neither point nor normal turn with the body, whichever of both was made first."""
    world = cairn_client.create("lathe", method="lcp")

    def ground():
        world.spawn(status="static", shapes=[world.shape(plane=((0, 1, 0), 0))], friction=0)

    if first == "ground":
        ground()
    body = world.spawn(shapes=[world.shape(**kind)], position=(0, 0.5, 0), rotation=rotation, angular_velocity=spin, friction=0)
    if first == "body":
        ground()
    world.step(30)
    contacts = world.contacts(body)
    assert len(contacts) == points
    for a, _, (_, y, z), normal, separation, _ in contacts:
        assert abs(y) < 1e-9 and abs(z) < 1e-9 and abs(separation) < 1e-9
        assert normal == pytest.approx((0, -1 if a == body else 1, 0), abs=1e-12)


@pytest.mark.parametrize("address", ["tcp:127.0.0.1:99999", "tcp:127.0.0.1:0", "tcp:127.0.0.1:-1", "tcp:127.0.0.1:web", "tcp:127.0.0.1", "tls:a:65536",
                                     "ws://127.0.0.1:70000", "nonsense", ""])
def test_an_address_that_is_none_is_named(address):
    async def by_asyncio(address):
        await aio.connect(address)

    for connect in (cairn.connect, lambda address: asyncio.run(by_asyncio(address))):
        with pytest.raises(ValueError, match="is not unix:PATH, tcp:HOST:PORT.*from 1 to 65535"):
            connect(address)


def test_an_open_mesh_is_refused_as_a_solid_and_its_edges_are_named(cairn_client):
    world, _ = falling(cairn_client)
    with pytest.raises(cairn.Refused) as refused:
        world.shape(cairn.solid(CORNERS, FACES[:-1]))
    assert refused.value.status == "degenerate" and "3-5, 3-7, 5-7" in str(refused.value)


def test_a_player_commands_only_its_own_bodies():
    with daemon() as server, server.connect() as owner:
        world, body = falling(owner)
        world.resume()
        with server.connect(role="player") as player:
            theirs = player.join("demo")
            with pytest.raises(cairn.Refused) as refused:
                theirs.apply(cairn.client.command("impulse", body, (0, 1, 0)))
            assert refused.value.status == "not_owner"
            with pytest.raises(cairn.Refused) as refused:
                theirs.save("mine")
            assert refused.value.status == "forbidden"


def test_areas_and_focus_select_the_bodies_of_frames(cairn_client):
    world = cairn_client.create("w", gravity=(0, 0, 0))
    near = world.spawn(position=(0, 0, 0), velocity=(1, 0, 0))
    far = world.spawn(position=(100, 0, 0))
    world.subscribe(areas=[cairn.areas.ball((0, 0, 0), 10)])
    frame, = world.frames(1)
    assert set(frame.bodies) == {near}
    world.focus(areas=[cairn.areas.box((90, -1, -1), (110, 1, 1))])
    frame, = world.frames(1)
    assert set(frame.bodies) == {far}
    world.focus(areas=[cairn.areas.ball((0, 0, 0), 5, body=near)], follow=[far])
    frame, = world.frames(1)
    assert set(frame.bodies) == {near, far}
    # The area moves with the body.
    world.step(600)
    last = frames_to(world)[-1]
    assert set(last.bodies) == {near, far} and last.bodies[near].position[0] > 9


def test_a_lost_connection_is_resumed_with_its_numbers_and_mirrors():
    with daemon() as server, server.connect() as keeper, server.connect(resumes=True) as client:
        world = keeper.create("w", gravity=(0, 0, 0), running=True)
        mine = client.join("w")
        mine.subscribe(profile="sim")
        next(mine.frames(1))
        session = client.session
        body = mine.spawn(position=(0, 0, 0), velocity=(1, 0, 0), owner=session)
        for turn in range(4):
            batch = mine.send(cairn.client.command("set_tag", body, turn))
            client.wire.socket.shutdown(socket.SHUT_RDWR)
            client.resume()
            assert client.session == session
            assert mine.result(batch).batch == batch
            # Frames that came before the body was made may still be waiting.
            assert any(frame.bodies for frame in mine.frames(30))
        world.pause()
        while mine.subscriptions[1].tick < world.tick:
            client.take()
        shown = mine.subscriptions[1].bodies[body]
        assert shown.position[0] == pytest.approx(world.query(5, body)[5][0], abs=1 / 4096)
        assert keeper.info("server")["server"]["sessions_lost"] == 0
        # A session without GOODBYE is kept for a resume; after close(), which sends GOODBYE, it is not.
        client.wire.socket.shutdown(socket.SHUT_RDWR)
        until = time.monotonic() + 5
        while keeper.info("server")["server"]["sessions_lost"] == 0:
            assert time.monotonic() < until
        client.resume()
        client.close()
        while keeper.info("server")["server"]["sessions"] > 1:
            assert time.monotonic() < until
        with pytest.raises(cairn.Refused) as refused:
            client.resume()
        assert refused.value.status == "expired"


def test_the_tick_hash_is_computed_from_the_bodies(cairn_server):
    with cairn_server.connect() as client:
        world = client.create("hashed")
        world.spawn(status="static", shapes=[world.shape(plane=((0, 1, 0), 0))])
        for k in range(20):
            world.spawn(shapes=[world.shape(box=(1, 1, 1))], position=(0.3 * k, 2 + k, 0), tag=k)
        for n in (1, 100):
            stepped = world.step(n, bodies=True)
            assert cairn.tick_hash(stepped.tick, stepped.bodies) == stepped.tick_hash
        stepped.bodies[5].position = (0, *stepped.bodies[5].position[1:])
        assert cairn.tick_hash(stepped.tick, stepped.bodies) != stepped.tick_hash
        with pytest.raises(TypeError, match="a shape is one of sphere=…, box=…"):
            world.shape(cube=1)
        with pytest.raises(cairn.Refused, match="there is no world nowhere"):
            client.join("nowhere")
