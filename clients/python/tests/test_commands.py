"""Commands as methods, and states as NumPy arrays."""
import asyncio
import inspect
import struct

import pytest

import cairn
from cairn import aio, arrays
from cairn.columns import Malformed
from cairn.commands import Commands
from cairn.manifest import COMMAND


def scene(world, count=3):
    """A floor and a row of balls; returns their ids."""
    world.spawn("static", shapes=[world.shape(plane=((0, 1, 0), 0))])
    ball = world.shape(sphere=0.5)
    return [world.spawn(position=(2 * i, 1 + i, 0), shapes=[ball], tag=i) for i in range(count)]


def test_every_command_is_a_method_with_its_fields():
    renamed = {f"set_{name}": name for name in ("gravity", "parameter", "method", "seed", "bounds")}
    methods = {name: function for name, function in vars(Commands).items() if not name.startswith("_")}
    assert {renamed.get(name, name) for name in methods} == set(COMMAND)
    for name, function in methods.items():
        _, needed, fields = COMMAND[renamed.get(name, name)]
        parameters = list(inspect.signature(function).parameters.values())[1:]
        names = [field for field, _ in fields]
        short = ["friction"] if "static_friction" in names else []
        assert [p.name for p in parameters] == names + short
        required = [p.name for p in parameters if p.default is inspect.Parameter.empty]
        assert required == ([] if name == "spawn" else names[:1] if "static_friction" in names[:needed] else names[:needed])
        assert all(field in function.__doc__ for field, _ in fields)


def test_friction_is_the_static_and_the_dynamic_friction_that_are_not_given():
    names = [field for field, _ in COMMAND["spawn"][2]]

    def frictions(packed, first):
        return packed[first:first + 2]
    for given, expected in (({"friction": 0.3}, [0.3, 0.3]), ({"friction": 0.3, "dynamic_friction": 0.2}, [0.3, 0.2]),
                            ({"friction": 0.3, "static_friction": 0.4}, [0.4, 0.3]), ({"dynamic_friction": 0.2}, [0.6, 0.2])):
        assert frictions(cairn.command("spawn", **{"restitution": 0.1} | given), 1 + names.index("static_friction")) == expected
    assert cairn.command("set_material", 1, friction=0.3, restitution=0.1) == cairn.command("set_material", 1, 0.3, 0.3, 0.1)
    with pytest.raises(TypeError, match="set_material needs dynamic_friction"):
        cairn.command("set_material", 1, static_friction=0.3, restitution=0.1)
    assert cairn.command("joint_axis", 1, 3, friction=2)[7] == 2.0  # a field of its own
    with pytest.raises(TypeError, match="no field friction"):
        cairn.command("set_pose", 1, (0, 0, 0), friction=0.3)


def test_friction_of_spawn_and_set_material_reach_the_world(cairn_server):
    """A world made with the short word has the hash of one made with both fields, by either client."""
    short, long = {"friction": 0.25}, {"static_friction": 0.25, "dynamic_friction": 0.25}

    async def by_asyncio(name):
        async with aio.connect(cairn_server.address) as client:
            world = await client.create(name)
            body = await world.spawn(mass=1, **short)
            await world.set_material(body, restitution=0.5, friction=0.7)
            return (await world.step(0)).hash
    with cairn_server.connect() as client:
        hashes = []
        for name, words, other in (("friction-short", short, {"friction": 0.7}),
                                   ("friction-long", long, {"static_friction": 0.7, "dynamic_friction": 0.7})):
            world = client.create(name)
            body = world.spawn(mass=1, **words)
            hashes.append(world.step(0).hash)
            world.set_material(body, restitution=0.5, **other)
            hashes.append(world.step(0).hash)
        assert hashes[:2] == hashes[2:] and hashes[0] != hashes[1]
        assert asyncio.run(by_asyncio("friction-asyncio")) == hashes[1]


def test_a_method_does_what_its_command_does(cairn_client):
    by_method, by_command = (cairn_client.create(name) for name in ("method", "command"))
    for world in (by_method, by_command):
        world.ids = scene(world)
    body = by_method.ids[1]
    by_method.impulse(body, (1, 2, 3))
    by_method.set_gravity((0, -3, 0))
    by_method.set_parameter("sleep.speed", 0.1)
    by_method.set_material(body, 0.3, 0.2, 0.5, friction_rule=1)
    joint = by_method.joint_create("revolute", body, by_method.ids[2], point_a=(1, 0, 0), point_b=(-1, -1, 0))
    by_method.joint_axis(joint, 3, motor="velocity", target=2, motor_limit=10)
    by_method.push(by_method.ids[0], (5, 0, 0), ticks=3)
    by_method.remove(by_method.ids[2])
    for words in (("impulse", body, (1, 2, 3)), ("gravity", (0, -3, 0)), ("parameter", "sleep.speed", 0.1),
                  ("set_material", body, 0.3, 0.2, 0.5, 1)):
        by_command.apply(cairn.command(*words))
    made = by_command.apply(cairn.command("joint_create", "revolute", body, by_command.ids[2], (1, 0, 0), (1, 0, 0, 0),
                                          (-1, -1, 0))).values[0]
    by_command.apply(cairn.command("joint_axis", made, 3, motor="velocity", target=2, motor_limit=10))
    by_command.apply(cairn.command("force", by_command.ids[0], (5, 0, 0), ticks=3))
    by_command.apply(cairn.command("remove", by_command.ids[2]))
    assert made == joint and by_method.step(20).hash == by_command.step(20).hash


def test_a_refusal_names_the_field_and_changes_nothing(cairn_client):
    world = cairn_client.create("refusing")
    ids = scene(world)
    before = world.step(0).hash
    for call, field in ((lambda: world.impulse(ids[0], (float("nan"), 0, 0)), "impulse"),
                        (lambda: world.set_gravity((0, 1e308, 0)), "gravity"),
                        (lambda: world.spawn(mass=-1), "mass"),
                        (lambda: world.set_parameter("no.such", 1), "name")):
        with pytest.raises(cairn.Refused) as refused:
            call()
        assert refused.value.field == field
    with pytest.raises(ValueError, match="static"):
        world.spawn("statick")
    assert world.step(0).hash == before


def test_arrays_equal_the_bodies(cairn_client):
    numpy = pytest.importorskip("numpy")
    world = cairn_client.create("arrays")
    ids = scene(world, 20)
    for gone in ids[3:18]:
        world.remove(gone)
    stepped = world.step(30, bodies=True, arrays=True)
    found = stepped.arrays
    assert list(found.id) == sorted(stepped.bodies) and found.position.shape == (6, 3)
    for row, body in zip(range(6), sorted(stepped.bodies.items())):
        body = body[1]
        for name in ("position", "rotation", "velocity", "spin"):
            assert tuple(getattr(found, name)[row]) == getattr(body, name)
        assert cairn.client.STATUSES[found.status[row]] == body.status and bool(found.asleep[row]) == body.asleep
    assert numpy.array_equal(found.id[found.rows(ids[:3])], ids[:3])
    assert not found.fast.any()
    again = world.state()
    assert numpy.array_equal(again.position, found.position) and world.tick == stepped.tick
    world.apply(cairn.command("set_status", ids[0], "dynamic", "on"))
    state = world.state()
    assert list(state.id[state.fast]) == [ids[0]] and world.step(1, bodies=True).bodies[ids[0]].fast
    world.apply(cairn.command("set_status", ids[0], "dynamic", "off"))
    assert not world.state().fast.any()
    with pytest.raises(KeyError):
        found.rows([ids[4]])
    assert len(cairn_client.create("empty").state().id) == 0


def test_malformed_blocks_are_named():
    pytest.importorskip("numpy")
    row = struct.pack("<3d4d3d3d2B", *range(13), 2, 0)
    whole = bytes([1, 4, arrays.MASK]) + row
    assert arrays.read(whole).id[0] == 5 and arrays.read(whole).spin[0, 2] == 12
    # An id in several bytes.
    assert arrays.read(bytes([1, 0xAC, 0x02, arrays.MASK]) + row).id[0] == 301
    for cut in range(len(whole)):
        with pytest.raises((Malformed, ValueError)):
            arrays.read(whole[:cut])
    for bad in (whole + b"\0", bytes([1, 4, 1]) + row, bytes([200, 200, 200, 1]) + row):
        with pytest.raises(Malformed):
            arrays.read(bad)


def test_asyncio_has_the_same_commands(cairn_client):
    async def play():
        async with aio.connect(cairn_client.address) as client:
            world = await client.create("waiting")
            body = await world.spawn(position=(0, 5, 0))
            assert await world.impulse(body, (1, 0, 0)) is None
            if pytest.importorskip("numpy"):
                assert (await world.state()).position[0, 1] == 5
            await world.destroy()
            return [name for _, name, *_ in await client.list()]
    assert asyncio.run(play()) == []


def test_destroy_ends_a_world(cairn_client):
    cairn_client.create("stays")
    cairn_client.create("ends").destroy()
    assert [name for _, name, *_ in cairn_client.list()] == ["stays"]
    assert [world.name for world in cairn_client.worlds.values()] == ["stays"]


def test_a_capsule_has_the_words_of_scenes():
    assert cairn.capsule(length=1, radius=0.25) == cairn.capsule(0.5, 0.25)
    for wrong in ({"length": 1}, {"radius": 1}, {"length": 1, "half_length": 0.5, "radius": 1}):
        with pytest.raises(TypeError):
            cairn.capsule(**wrong)


CURVED = {"cylinder": (cairn.cylinder(1, 0.25), 10), "cone": (cairn.cone(length=1, radius=0.25), 11),
          "ellipsoid": (cairn.ellipsoid(1, 2, 3), 12), "rounded box": (cairn.box(1, 2, 3, radius=0.1), 9),
          "rounded hull": (cairn.hull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], radius=0.1), 9)}


@pytest.mark.parametrize("kind", CURVED)
def test_shapes_with_curved_surfaces_are_accepted_and_fall(cairn_client, kind):
    data, number = CURVED[kind]
    assert data[0] == number
    world = cairn_client.create("curved-" + kind.replace(" ", "-"))
    body = world.spawn(shapes=[(world.shape(data),)], position=(0, 5, 0))
    world.step(30)
    assert world.body(body)["position"][1] < 4.5
    assert world.ray((0, 20, 0), (0, -1, 0), 40)


def test_a_heightfield_with_a_hole_and_materials_carries_what_is_over_its_ground(cairn_client):
    world = cairn_client.create("terrain")
    heights = [[0.25 * x for x in range(9)] for _ in range(7)]
    holes = [[x == 1 for x in range(8)] for _ in range(6)]
    data = cairn.heightfield(heights, 1, holes=holes, patches=[[x // 4 for x in range(8)] for _ in range(6)])
    assert data[:3] == bytes([13, 1, 5])
    assert world.shape(heightfield={"heights": heights, "cell": 1}) == world.shape(cairn.heightfield(heights, 1))
    ground = world.spawn(status="static", shapes=[(world.shape(data),)])
    hit = world.ray((1, 9, 0), (0, -1, 0), 20)
    assert [h[0] for h in hit] == [ground] and hit[0][2][1] == pytest.approx(1.25)
    assert not world.ray((-2.5, 9, 0), (0, -1, 0), 20)
    ball = world.shape(sphere=0.3)
    held, lost = world.spawn(shapes=[(ball,)], position=(2, 2, 0)), world.spawn(shapes=[(ball,)], position=(-2.5, 2, 0))
    world.step(120)
    assert world.body(lost)["position"][1] < -3 < 0 < world.body(held)["position"][1]


def test_tiles_of_a_heightfield_come_and_go_below_a_ball_that_does_not_feel_them(cairn_client):
    world = cairn_client.create("tiles")
    side = 8
    tile = world.shape(cairn.heightfield([[0] * (side + 3)] * (side + 3), 1, apron=True))
    ball = world.spawn(shapes=[(world.shape(sphere=0.4),)], position=(0, 0.4, 0.1), velocity=(8, 0, 0))
    tiles = [world.spawn(status="static", shapes=[(tile,)], position=(side * i, 0, 0)) for i in range(2)]
    world.step(30)
    speed = world.body(ball)["velocity"][0]
    for number in range(2, 8):
        # It is 1 m on the second tile when the first one goes and the third one comes.
        while world.body(ball)["position"][0] < side * (number - 1.5) + 1:
            world.step(1)
            state = world.body(ball)
            assert state["position"][1] == pytest.approx(0.4, abs=1e-3)
            assert abs(state["velocity"][1]) < 1e-3
        world.remove(tiles.pop(0))
        tiles.append(world.spawn(status="static", shapes=[(tile,)], position=(side * number, 0, 0)))
    assert world.body(ball)["velocity"][0] == pytest.approx(speed, rel=0.02)


def test_a_heightfield_that_is_no_ground_is_refused_by_name(cairn_client):
    world = cairn_client.create("abyss")
    with pytest.raises(cairn.Refused, match="column 1, row 0 is not a finite number: mark cells without ground as holes"):
        world.shape(cairn.heightfield([[0, float("nan")], [0, 0]], 1))
    with pytest.raises(cairn.Refused, match="every cell is a hole"):
        world.shape(cairn.heightfield([[0, 0], [0, 0]], 1, holes=[[True]]))
    with pytest.raises(cairn.Refused, match="cannot move|static"):
        world.spawn(shapes=[(world.shape(cairn.heightfield([[0, 0], [0, 0]], 1)),)])
    with pytest.raises(ValueError, match="different lengths"):
        cairn.heightfield([[0, 0], [0]], 1)


def test_a_sliver_is_refused_by_name(cairn_client):
    world = cairn_client.create("slivers")
    with pytest.raises(cairn.Refused, match="sliver"):
        world.shape(cairn.cylinder(1000, 0.001))


def test_a_player_spawns_shapes_that_the_world_has(cairn_server):
    with cairn_server.connect() as controller:
        world = controller.create("shared", method="free", running=True)
        world.shape(sphere=0.5)
        with cairn_server.connect(role="player") as player:
            mine = player.join("shared")
            ball = mine.spawn(shapes=[mine.shape(sphere=0.5)], position=(0, 1, 0))
            assert world.body(ball)["owner"] == player.session
            with pytest.raises(cairn.Refused, match="a controller may upload one"):
                mine.shape(sphere=0.123)
        world.destroy()


def test_a_player_of_asyncio_spawns_shapes_that_the_world_has(cairn_server):
    async def play():
        async with aio.connect(cairn_server.address, role="player") as player:
            mine = await player.join("shared")
            return await mine.spawn(shapes=[await mine.shape(sphere=0.5)], position=(0, 1, 0))
    with cairn_server.connect() as controller:
        world = controller.create("shared", method="free", running=True)
        world.shape(sphere=0.5)
        assert world.body(asyncio.run(play()))["owner"] != 0
        world.destroy()


@pytest.mark.parametrize("value", ["x", [1], 10**400, {}])
def test_what_is_no_number_is_told_with_its_field(value):
    for call in (lambda: cairn.command("impulse", 2, (value, 0, 0)), lambda: cairn.command("spawn", "dynamic", (0, value, 0))):
        with pytest.raises(ValueError, match="impulse|position") as why:
            call()
        assert why.value.status == "type" and isinstance(why.value, TypeError) and len(str(why.value)) < 100
