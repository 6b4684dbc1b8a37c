"""STEP_WORLDS: what a world does in a group is what it does alone; what is refused in one world is refused there alone."""
import asyncio
import math

import cairn
import numpy
import pytest
from cairn import ACTION, aio, command, observe
from cairn.server import daemon, find_program

COUNT = 6
SPHERE, BOX = 2, 3


@pytest.fixture
def client(cairn_server):
    with cairn_server.connect() as client:
        yield client
        for world in list(client.worlds.values()):
            world.pause()
            world.destroy()


def build(client, name):
    """A sphere above a box on the ground, and a hinge."""
    world = client.create(name)
    world.spawn(status="static", shapes=[world.shape(plane=((0, 1, 0), 0))], static_friction=0.5, dynamic_friction=0.5)
    world.spawn(position=(0, 2, 0), shapes=[world.shape(sphere=0.5)], flags=0)
    world.spawn(position=(0, 0.5, 0), shapes=[world.shape(box=(1, 1, 1))], flags=0)
    hung = world.spawn(position=(5, 3, 0), shapes=[world.shape(box=(0.2, 1, 0.2))], flags=0)
    world.joint_create("revolute", 0, hung, (5, 3.5, 0), place=1)
    return world


def worlds_of(client, count=COUNT, name="w"):
    return [build(client, f"{name}{i}") for i in range(count)]


PUSH = [command("force", SPHERE, (ACTION, 0, ACTION)), command("torque", BOX, ACTION)]
PARTS = [observe.bodies([SPHERE, BOX]), observe.contacts([(BOX, 1), (SPHERE, 0)]), observe.joints([1]), observe.totals()]


def test_a_world_in_a_group_has_the_hashes_it_has_alone(client):
    together, alone = worlds_of(client, name="t"), worlds_of(client, name="a")
    vector = client.vector(together, PUSH, PARTS, ticks=2, hashes=True)
    rng = numpy.random.default_rng(1)
    for _ in range(20):
        actions = rng.uniform(-20, 20, (COUNT, 5))
        seen = vector.step(actions)
        assert not seen.refused
        for i, world in enumerate(alone):
            x, z, *torque = actions[i]
            own = world.step(2, [command("force", SPHERE, (x, 0, z)), command("torque", BOX, torque)])
            assert own.hash == seen.state_hashes[i].hex() and own.tick_hash == seen.hashes[i].hex()
            assert own.tick == seen.tick[i] == together[i].tick


def test_a_sequence_is_its_steps_one_after_the_other(client):
    once, steps = client.vector(worlds_of(client, 2, "s"), PUSH, PARTS, 3), client.vector(worlds_of(client, 2, "o"), PUSH, PARTS, 3)
    actions = numpy.random.default_rng(2).uniform(-20, 20, (2, 10, 5))
    whole = once.step(actions)
    assert whole.observations.shape == (2, 10, once.width) and whole.steps.tolist() == [10, 10]
    for t in range(10):
        single = steps.step(actions[:, t])
        assert (single.observations == whole.observations[:, t]).all()
    assert whole.hashes == single.hashes and whole.tick.tolist() == single.tick.tolist()


def test_an_observation_has_what_queries_find(client):
    world = build(client, "w")
    parts = PARTS + [observe.rays(observe.ray((0, 9, 0), (0, -2, 0), 20), observe.ray((0, 0, 0), (1, 0, 0), 3, body=BOX, ignore=BOX),
                                  observe.ray((0, 0, 0), (0, -1, 0), 8, body=SPHERE, ignore=SPHERE))]
    vector = client.vector([world], (), parts + [observe.bodies([4], ["status"])])
    numbers = vector.step(steps=60).observations[0, -1]
    assert numbers.shape == (vector.width,)
    for i, body in enumerate((SPHERE, BOX)):
        facts = world.body(body)
        expected = [*facts["position"], *facts["rotation"], *facts["velocity"], *facts["spin"]]
        assert numbers[13 * i:13 * i + 13].tolist() == expected
    contacts = [c for c in world.contacts(BOX) if 1 in c[:2]]
    points, normal, *impulse = numbers[26:31]
    assert points == len(contacts) == 4 and normal == pytest.approx(sum(c[5] for c in contacts))
    # The ground carries the box and the sphere on it.
    assert impulse[1] == pytest.approx(normal) and numbers[31] == 1 and numbers[34] == pytest.approx(numbers[32])
    joint = world.joint(1)
    assert numbers[36:48].tolist() == [*joint["coordinates"], *joint["force"], *joint["torque"]]
    kinetic, potential, linear, angular = world.totals()
    assert numbers[48:56].tolist() == [kinetic, potential, *linear, *angular]
    body, fraction, _, _ = world.ray((0, 9, 0), (0, -2, 0), 20)[0]
    assert numbers[56:62].tolist() == [20 * fraction, body, 3, 0, pytest.approx(0.5, abs=0.01), BOX] and body == SPHERE
    assert numbers[62:].tolist() == [2, 0]


def test_what_is_not_finite_or_out_of_range_is_refused_for_its_world_alone(client):
    vector = client.vector(worlds_of(client), PUSH, PARTS)
    before = vector.step(numpy.zeros((COUNT, 5))).tick
    actions = numpy.ones((COUNT, 4, 5))
    actions[0, 0, 0], actions[1, 3, 1], actions[2, 0, 2], actions[3, 2, 0] = math.nan, math.inf, -math.inf, 1e308
    seen = vector.step(actions)
    assert {i: (why.status, why.field, why.index) for i, why in seen.refused.items()} == {
        0: ("not_finite", "force", 0), 1: ("not_finite", "force", 0), 2: ("not_finite", "torque", 1), 3: ("range", "force", 0)}
    assert (seen.tick - before).tolist() == [0, 0, 0, 2, 4, 4] and seen.steps.tolist() == [0, 0, 0, 2, 4, 4]
    assert (seen.observations[:3] == 0).all() and (seen.observations[3, 2:] == 0).all()
    assert seen.observations[3, :2].any(axis=1).all() and not vector.step(numpy.zeros((COUNT, 5))).refused


def test_worlds_that_cannot_step_are_refused_alone(client, cairn_server):
    worlds = worlds_of(client)
    with cairn_server.connect() as other:
        worlds[0].resume()
        other.join("w1").lockstep()
        worlds[2].client.ask("reply", "world_leave", worlds[2].number)
        seen = client.vector(worlds, (), PARTS).step()
        assert {i: why.status for i, why in seen.refused.items()} == {0: "running", 1: "leased", 2: "not_joined"}
        assert seen.steps.tolist() == [0, 0, 0, 1, 1, 1]
    client.join("w2")


def test_a_body_that_is_gone_is_named_and_the_ticks_run(client):
    worlds = worlds_of(client, 2)
    vector = client.vector(worlds, (), [observe.bodies([SPHERE, BOX])])
    seen = vector.step(commands={1: [command("remove", BOX)]})
    assert list(seen.refused) == [1] and seen.refused[1].status == "unknown_body" and "body 3" in str(seen.refused[1])
    assert seen.tick.tolist() == [1, 1] and (seen.observations[1] == 0).all() and seen.observations[0].any()


def test_own_commands_come_first_and_return_ids(client):
    worlds = worlds_of(client, 3)
    vector = client.vector(worlds, [command("force", 5, ACTION)], [observe.bodies([5], ["velocity"])])
    spawn = command("spawn", position=(0, 9, 9), mass=1.0)
    seen = vector.step(numpy.tile([60.0, 0, 0], (3, 1)), commands={row: [spawn] for row in (0, 2)})
    assert seen.values == {0: [5], 2: [5]} and seen.refused[1].status == "unknown_body"
    assert seen.observations[0][0] == pytest.approx(1, rel=1e-3) and seen.steps.tolist() == [1, 0, 1]


def test_no_ticks_only_observe(client):
    worlds = worlds_of(client, 2)
    nothing = client.vector(worlds).step()
    assert nothing.observations.shape == (2, 0) and nothing.tick.tolist() == [1, 1]
    vector = client.vector(worlds, (), [observe.bodies([SPHERE], ["position"])], ticks=0)
    seen = vector.step(commands={0: [command("set_pose", SPHERE, (7, 8, 9))]})
    assert seen.tick.tolist() == [1, 1] and seen.observations.tolist() == [[7, 8, 9], [0, pytest.approx(2, abs=0.01), 0]]


def test_a_message_that_is_wrong_as_a_whole_changes_nothing(client):
    worlds = worlds_of(client, 2)
    ticks = [world.tick for world in worlds]
    for parts, actions, status in (
            ([[9, []]], (), "range"), ([[0, [1], 64]], (), "range"), ([[1, [[[0, 0, 0], [0, 0, 0], 1.0]]]], (), "range"),
            ([], [[99, None]], "unknown_command"), ([], [[15, None, [0.0, 0.0, 0.0]]], "type")):
        ref = client.next_ref()
        client.wire.send("step_worlds", ref, [[world.number, world.request + 1] for world in worlds], 1, 1, actions, b"", parts)
        with pytest.raises(cairn.Refused) as refused:
            client.wait(["stepped_worlds"], lambda f: f[0] == ref)
        assert refused.value.status == status and refused.value.field
    with pytest.raises(cairn.Refused, match="frames at most"):
        client.vector(worlds, (), [observe.totals()]).step(steps=10000)
    assert [world.step(0).tick for world in worlds] == ticks


def test_recv_returns_whichever_worlds_are_ready(client):
    worlds = worlds_of(client)
    vector = client.vector(worlds, (), PARTS, ticks=1, batch=2)
    heavy = client.create("heavy")
    heavy.spawn(status="static", shapes=[heavy.shape(plane=((0, 1, 0), 0))])
    box = heavy.shape(box=(1, 1, 1))
    heavy.apply(*[command("spawn", position=(1.2 * (i % 20), 0.5 + i // 400, 1.2 * (i // 20 % 20)), shapes=[box])
                  for i in range(1000)])
    mixed = client.vector([heavy, *worlds], (), [observe.totals()], ticks=40, batch=2)
    mixed.send()
    order = [i for _ in range(3) for i in mixed.recv().ids]
    assert 0 not in order and sorted(order) == [1, 2, 3, 4, 5, 6]  # the heavy one is not waited for
    mixed.send(ids=[3])
    assert sorted(mixed.recv().ids) == [0, 3]
    counts = numpy.zeros(COUNT, int)
    vector.send()
    rounds = 0
    while counts.min() < 5:
        seen = vector.recv()
        assert len(seen.ids) == 2 and not seen.refused
        counts[seen.ids] += 1
        rounds += 1
        vector.send(ids=seen.ids)
    assert counts.sum() == 2 * rounds
    for _ in range(3):
        vector.recv()
    with pytest.raises(ValueError):
        vector.recv()
    assert [world.step(0).tick - 40 for world in worlds][2] == counts[2] + 1 + 40


def run_async(body, server):
    async def connected():
        async with aio.connect(server.address) as client:
            await body(client)
    asyncio.run(connected())


async def join_all(client, worlds):
    return [await client.join(world.name) for world in worlds]


def test_asyncio_steps_worlds_as_the_synchronous_client_does(client, cairn_server):
    ours, theirs = worlds_of(client, name="sync"), worlds_of(client, name="aio")
    vector = client.vector(ours, PUSH, PARTS, ticks=2, hashes=True)
    rng = numpy.random.default_rng(3)
    actions = [rng.uniform(-20, 20, (COUNT, 5)) for _ in range(5)]
    actions[3][2, 1] = math.nan

    async def body(other):
        many = other.vector(await join_all(other, theirs), PUSH, PARTS, ticks=2, hashes=True)
        saved = await many.save("before")
        for action in actions:
            seen, expected = await many.step(action), vector.step(action)
            assert seen.state_hashes == expected.state_hashes and (seen.observations == expected.observations).all()
            assert {i: why.status for i, why in seen.refused.items()} == {i: why.status for i, why in expected.refused.items()}
        assert await many.restore("before", [1]) == saved[1:2]
        with pytest.raises(cairn.Refused):
            await many.step(actions[0], steps=10001, commands={0: [[99]]})
    run_async(body, cairn_server)


def test_asyncio_recv_returns_whichever_worlds_are_ready(client, cairn_server):
    worlds = worlds_of(client)
    before = [world.step(0).tick for world in worlds]

    async def body(other):
        joined = await join_all(other, worlds)
        # Two vectors whose observations have one size: the server may answer their worlds together.
        pools = [other.vector(joined[:4], (), [observe.totals()], batch=2), other.vector(joined[4:], (), [observe.totals()], batch=1)]

        async def play(pool, counts):
            pool.send()
            while min(counts) < 20:
                seen = await pool.recv()
                assert len(seen.ids) == pool.batch and not seen.refused
                for i in seen.ids:
                    counts[i] += 1
                pool.send(ids=seen.ids)
            for _ in range(len(counts) // pool.batch):
                for i in (await pool.recv()).ids:
                    counts[i] += 1
            with pytest.raises(ValueError, match="0 worlds are pending"):
                await pool.recv()
            return counts
        made = await asyncio.gather(*(play(pool, [0] * len(pool.worlds)) for pool in pools))
        assert other.vectors == {}
        ticks = [(await world.step(0)).tick for world in joined]
        assert [tick - start for tick, start in zip(ticks, before)] == made[0] + made[1]
        pools[0].observe = [[9, []]]  # a message that is wrong as a whole
        pools[0].send()
        with pytest.raises(cairn.Refused, match="range"):
            await pools[0].recv()
        pools[0].observe = [list(observe.totals())]
        pools[0].send()
        assert len((await pools[0].recv()).ids) == 2
        pools[1].send()
        await other._drop(cairn.Closed("the connection is gone"))
        with pytest.raises((cairn.Closed, ValueError)):
            for _ in range(3):
                await pools[1].recv()
    run_async(body, cairn_server)


def test_actions_of_another_shape_are_refused_before_they_are_sent(client):
    worlds = worlds_of(client, 2)
    vector = client.vector(worlds, PUSH, PARTS)
    for wrong in (numpy.zeros((2, 4)), numpy.zeros((3, 5)), numpy.zeros(10), None):
        with pytest.raises(ValueError):
            vector.step(wrong)
    with pytest.raises(ValueError, match="twice"):
        client.vector([worlds[0], worlds[0]])
    with pytest.raises(ValueError, match="column"):
        observe.bodies([1], ["mass"])


def test_a_repeated_message_is_answered_again_and_not_run_again(cairn_server):
    with cairn_server.connect(resumes=True) as client:
        worlds = worlds_of(client, 3, "resumed")
        vector = client.vector(worlds, PUSH, PARTS)
        vector.step(numpy.ones((3, 5)))
        message = ("step_worlds", 777, [[world.number, world.request + 1] for world in worlds], 1, 1, PUSH,
                   numpy.ones((3, 5)).tobytes(), PARTS)
        client.wire.send(*message)
        for world in worlds:
            world.request += 1
        first = client.wait(["stepped_worlds"], lambda f: f[0] == 777)
        client.wire.close()
        client.resume()
        client.wire.send(*message)
        assert client.wait(["stepped_worlds"], lambda f: f[0] == 777) == first
        assert [world.step(0).tick for world in worlds] == [2, 2, 2]
        for world in worlds:
            world.destroy()


def test_a_group_is_journalled_and_replays(tmp_path):
    import subprocess
    with daemon("--data", str(tmp_path / "data")) as server, server.connect() as client:
        vector = client.vector(worlds_of(client, 2, "kept"), PUSH, PARTS, 2)
        seen = vector.step(numpy.random.default_rng(3).uniform(-20, 20, (2, 15, 5)))
    files = sorted(tmp_path.glob("data/**/kept*"))
    assert len([file for file in files if file.suffix not in (".wal", ".shm")]) >= 2 and not seen.refused
    for name in ("kept0", "kept1"):
        file = next(file for file in files if file.name.startswith(name) and "-" not in file.name)
        done = subprocess.run([find_program(), "replay", str(file), "--verify"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_message_that_the_server_would_not_take_is_refused_before_it_is_sent(client):
    worlds = worlds_of(client, 1)
    vector = client.vector(worlds, PUSH)
    with pytest.raises(ValueError, match=r"step_worlds takes 288\d\d\d bytes.*262144"):
        vector.step(numpy.zeros((1, 36000 // vector.action_width, vector.action_width)))
    assert vector.step(numpy.zeros((1, vector.action_width))).tick.tolist() == [1]

    async def asynchronous():
        async with aio.connect(client.address) as other:
            world = await other.join(worlds[0].name)
            with pytest.raises(ValueError, match="commands takes"):
                await world.send(*[cairn.command("force", SPHERE, (0.1, 0.2, 0.3)) for _ in range(9000)])
            assert (await world.step(0)).tick == 1
    asyncio.run(asynchronous())
