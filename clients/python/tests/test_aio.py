"""The asyncio client against a real daemon: its results equal those of the synchronous client."""
import asyncio
import contextlib
import random

import pytest

import cairn
from cairn import aio
from cairn.client import command
from cairn.testing import daemon


def run(body, *arguments):
    with daemon(*arguments) as server:
        return asyncio.run(asyncio.wait_for(body(server), 60))


async def falling(client, name="demo", **options):
    world = await client.create(name, method="free", **options)
    return world, await world.spawn(shapes=[await world.shape(sphere=0.5)], position=(0, 10, 0))


def test_it_steps_to_the_same_hash_as_the_synchronous_client():
    async def body(server):
        async with aio.connect(server.address) as client:
            world, ball = await falling(client)
            stepped = await world.step(60, bodies=True, totals=True)
            with server.connect() as plain:
                other = plain.create("other", method="free")
                other.spawn(shapes=[other.shape(sphere=0.5)], position=(0, 10, 0))
                same = other.step(60, bodies=True, totals=True)
            assert (stepped.tick, stepped.hash, stepped.kinetic) == (same.tick, same.hash, same.kinetic)
            assert stepped.bodies[ball].position == same.bodies[ball].position
    run(body)


def test_a_rollback_takes_one_round_trip():
    async def body(server):
        async with aio.connect(server.address) as client:
            world, ball = await falling(client)
            saved = await world.save("then", rollback=True)
            there = await world.step(20)
            again = await world.step(20, restore="then", save="later")
            assert again.kept and (again.hash, again.epoch) == (there.hash, there.epoch + 1)
            assert (await world.restore("then", rollback=True)).hash == saved.hash
    run(body)


def test_queries_have_the_same_answers():
    async def body(server):
        async with aio.connect(server.address) as client:
            world, ball = await falling(client)
            position = (await world.step(0, bodies=True)).bodies[ball].position
            hits = await world.ray((position[0] + 5, position[1], 0), (-1, 0, 0), 10)
            with server.connect() as plain:
                same = plain.join("demo")
                assert hits == same.ray((position[0] + 5, position[1], 0), (-1, 0, 0), 10) and hits[0][0] == ball
                assert await world.totals() == same.totals()
                assert await world.mass(ball) == same.mass(ball)
                assert await world.overlap(cairn.sphere(0.1), position) == [ball]
    run(body)


@pytest.mark.parametrize("profile", ["plain", "exact", "view", "sim"])
def test_frames_arrive_in_every_profile(profile):
    async def body(server):
        async with aio.connect(server.address) as client:
            world, ball = await falling(client, running=True)
            await world.subscribe(profile=profile)
            heights = [frame.bodies[ball].position[1] async for frame in world.frames(20)]
            assert len(heights) == 20 and heights[-1] < heights[0]
            await world.unsubscribe()
    run(body)


def test_many_tasks_share_one_connection():
    async def body(server):
        async with aio.connect(server.address) as client:
            world, ball = await falling(client, running=True)
            batches = [world.apply(command("impulse", ball, (0, 1, 0))) for _ in range(50)]
            questions = [world.totals() for _ in range(50)]
            done = await asyncio.gather(*batches, *questions, client.list())
            assert {result.batch for result in done[:50]} == set(range(done[0].batch, done[0].batch + 50))
            assert done[-1][0][1] == "demo"
    run(body)


def test_a_refusal_is_raised_in_the_task_that_sent_the_request():
    async def body(server):
        async with aio.connect(server.address) as client:
            world, _ = await falling(client, running=True)
            good, bad = world.apply(command("gravity", (0, -1, 0))), world.spawn(shapes=[4711])
            results = await asyncio.gather(good, bad, return_exceptions=True)
            assert results[0].values == [0] and isinstance(results[1], cairn.Refused)
            assert (results[1].status, results[1].field) == ("unknown_shape", "shapes")
            with pytest.raises(cairn.Refused, match="unknown_world"):
                await client.join("nowhere")
    run(body)


def test_waiting_tasks_raise_closed_when_the_connection_ends():
    async def body(server):
        client = await aio.connect(server.address)
        world, _ = await falling(client)
        waiting = asyncio.create_task(world.step(10000))
        await asyncio.sleep(0.05)
        server.process.kill()
        with pytest.raises(cairn.Closed):
            await waiting
            await client.list()
        with pytest.raises(cairn.Closed):
            await client.list()
        await client.close()
    run(body)


def test_many_worlds_are_listed():
    async def body(server):
        async with aio.connect(server.address) as client:
            names = [f"w{i}" for i in range(60)]
            await asyncio.gather(*(client.create(name) for name in names))
            assert sorted(name for _, name, _, _ in await client.list()) == sorted(names)
    run(body)


# ---- queries ---------------------------------------------------------------------------------------------------------

def test_every_kind_of_query_has_the_synchronous_clients_answer():
    async def body(server):
        async with aio.connect(server.address) as client:
            world = await client.create("w", method="free", gravity=(0, 0, 0))
            cube, ball = cairn.box(2, 2, 2), cairn.sphere(0.5)
            one = await world.spawn(shapes=[await world.shape(cube)], tag=7)
            other = await world.spawn(shapes=[await world.shape(cube)], position=(0.5, 0, 0), category=2)
            third = await world.spawn(shapes=[await world.shape(ball)], position=(9, 0, 0))
            name = (await world.query(5, one))[11][0][0]
            questions = [
                ("ray", ((-5, 0, 0), (1, 0, 0), 20, 9)),
                ("ray", ((-5, 0, 0), (1, 0, 0), 20, 9, 0xFFFFFFFF, 1, one)),
                ("overlap", (ball, (0, 0, 0))),
                ("overlap", (ball, (0, 0, 0), (1, 0, 0, 0), 1)),
                ("contacts", ()),
                ("contacts", (one,)),
                ("forces", (one, True)),
                ("totals", ()),
                ("body", (one,)),
                ("geometry", (name,)),
                ("cast", (ball, (-5, 0, 0), (20, 0, 0), (1, 0, 0, 0), 9)),
                ("closest", (one, third)),
                ("closest", (third,)),
                ("mass", (one,)),
                ("mass", ()),
                ("move", (ball, (-5, 0, 0), (20, 0, 0))),
                ("regions", (one, other)),
                ("methods", ()),
                ("parameters", ()),
            ]
            with server.connect() as plain:
                same = plain.join("w")
                for question, arguments in questions:
                    answer = await getattr(world, question)(*arguments)
                    assert answer == getattr(same, question)(*arguments), question
                    assert answer or question in ("contacts", "forces"), question
            assert {kind for kind, _ in questions} == {"ray", "overlap", "contacts", "totals", "body", "geometry", "cast",
                                                       "closest", "mass", "move", "regions", "methods", "parameters",
                                                       "forces"}
            assert (await world.body(one))["tag"] == 7 and await world.geometry(name) == cube
            assert [hit[0] for hit in await world.ray((-5, 0, 0), (1, 0, 0), 20, 9, ignore=one)][0] == other
    run(body)


# ---- a part of the world ---------------------------------------------------------------------------------------------

def test_areas_focus_divisor_and_budget_limit_a_subscription():
    async def body(server):
        async with aio.connect(server.address) as client:
            world = await client.create("w", method="free", gravity=(0, 0, 0))
            near = await world.spawn(position=(0, 0, 0), velocity=(1, 0, 0))
            far = await world.spawn(position=(100, 0, 0))
            await world.subscribe(areas=[cairn.areas.ball((0, 0, 0), 10)])
            assert [set(frame.bodies) async for frame in world.frames(1)] == [{near}]
            world.focus(areas=[cairn.areas.box((90, -1, -1), (110, 1, 1))])
            assert [set(frame.bodies) async for frame in world.frames(1)] == [{far}]
            world.focus(areas=[cairn.areas.ball((0, 0, 0), 5, body=near)], follow=[far])
            assert [set(frame.bodies) async for frame in world.frames(1)] == [{near, far}]
            await world.subscribe(2, divisor=10)
            await world.step(50)
            # Every tenth tick, and the tick at which each STEP ends.
            ticks = [(await anext(world.frames(1, 2))).tick]
            while ticks[-1] < world.tick:
                ticks.append((await anext(world.frames(1, 2))).tick)
            assert max(b - a for a, b in zip(ticks, ticks[1:])) == 10 and len(ticks) < 26, ticks
            for i in range(60):
                await world.spawn(position=(0, i, 0), velocity=(0, 0, 1 + i))
            await world.subscribe(3, profile="sim", budget=2000)
            await world.resume()
            shown = []
            async for frame in world.frames(600, 3):
                shown.append(len(frame.bodies))
                if shown[-1] == 62:
                    break
            assert shown[0] < 62 == shown[-1] and shown == sorted(shown)
            with pytest.raises(cairn.Refused) as why:
                await world.subscribe(4, budget=1)
            assert why.value.status == "range" and 4 not in world.subscriptions
    run(body)


# ---- lost connections ------------------------------------------------------------------------------------------------

class Relay:
    """Forwards bytes between a client and the daemon; cut() or cut_after closes the connections."""

    def __init__(self, target, path):
        self.target, self.address, self.links = target, "unix:" + path, []
        self.path, self.cut_after, self.connections = path, None, 0

    async def __aenter__(self):
        self.server = await asyncio.start_unix_server(self.accept, self.path)
        return self

    async def __aexit__(self, *_):
        self.server.close()
        self.cut()
        await asyncio.sleep(0)

    async def accept(self, reader, writer):
        self.connections += 1
        there, back = await asyncio.open_unix_connection(self.target.removeprefix("unix:"))
        self.links += [writer, back]
        await asyncio.gather(self.pass_on(reader, back, False), self.pass_on(there, writer, True))

    async def pass_on(self, reader, writer, counted):
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                if counted and self.cut_after is not None:
                    self.cut_after -= len(data)
                    if self.cut_after <= 0:
                        # The cut is after a number of bytes, so mostly in the middle of a frame.
                        writer.write(data[:len(data) + self.cut_after])
                        await writer.drain()
                        self.cut_after = None
                        self.cut()
                        return
                writer.write(data)
                await writer.drain()
        writer.close()

    def cut(self):
        for link in self.links:
            link.close()
        self.links = []


def kinds_of(client):
    """A list to which the names of all messages received from now on are appended."""
    seen, take = [], client._take
    client._take = lambda kind, fields: (seen.append(kind), take(kind, fields))
    return seen


async def cut_off(client, relay, after=None):
    """Cuts the connection, now or after `after` more bytes, and waits until the client raises Closed."""
    if after is None:
        relay.cut()
    else:
        relay.cut_after = after
    with pytest.raises(cairn.Closed):
        while True:
            await client.info("server")
            await asyncio.sleep(0.01)


async def crowd(client, **options):
    world = await client.create("w", method="free", gravity=(0, 0, 0), **options)
    ball = await world.shape(sphere=0.5)
    rng = random.Random(3)
    bodies = [await world.spawn(shapes=[ball], position=[rng.uniform(-20, 20) for _ in range(3)],
                                velocity=[rng.uniform(-3, 3) for _ in range(3)]) for _ in range(40)]
    return world, bodies


async def caught_up(world, sub, tick):
    mirror = world.subscriptions[sub]
    while mirror.tick < tick or not mirror.whole:
        await world._wait(10)
    return mirror


WATCHED = [
    {"profile": "plain"}, {"profile": "exact"}, {"profile": "view"}, {"profile": "sim"},
    {"profile": "sim", "divisor": 3},
    {"profile": "view", "areas": [cairn.areas.ball((0, 0, 0), 12)]},
]


@pytest.mark.parametrize("how", WATCHED, ids=lambda how: "-".join(map(str, how.values()))[:20])
def test_a_mirror_continues_with_deltas_after_a_resume(how):
    async def body(server):
        async with Relay(server.address, server.directory + "/relay") as relay, \
                aio.connect(server.address) as keeper, aio.connect(relay.address, resumes=True) as client:
            world, _ = await crowd(keeper)
            mine = await client.join("w")
            await mine.subscribe(**how)
            session, tokens, rng = client.session, {client.welcome["resume_token"]}, random.Random(5)
            await world.resume()
            continued = 0
            for turn in range(8):
                async for _ in mine.frames(3):
                    pass
                await cut_off(client, relay, None if turn % 2 else rng.randrange(1, 4000))
                whole = mine.subscriptions[1].whole
                seen = kinds_of(client)
                await client.resume()
                async for _ in mine.frames(2):
                    pass
                # A complete mirror gets deltas; a mirror with a part of a frame missing gets a snapshot.
                assert ("snapshot" not in seen) or not whole, seen
                continued += whole
                assert client.session == session
                tokens.add(client.welcome["resume_token"])
            assert continued >= 4
            assert len(tokens) == 9 and relay.connections == 9
            await world.pause()
            there = (await world.step(3)).tick
            mirror = await caught_up(mine, 1, there - how.get("divisor", 1) + 1)
            if "divisor" in how:
                there = mirror.tick
            else:
                await world.subscribe(9, **how)
                fresh = world.subscriptions[9]
                if "areas" in how:
                    # A body that has left the area stays in the mirror for a while, so the mirror may have more bodies.
                    assert set(fresh.bodies) <= set(mirror.bodies)
                    assert all(mirror.bodies[body] == fresh.bodies[body] for body in fresh.bodies)
                else:
                    assert mirror.bodies == fresh.bodies
            assert mirror.tick == there
    run(body)


def test_batches_steps_and_ownership_continue_after_a_resume():
    async def body(server):
        async with Relay(server.address, server.directory + "/relay") as relay, \
                aio.connect(server.address) as keeper, aio.connect(relay.address, resumes=True) as client:
            await keeper.create("w", method="free", gravity=(0, 0, 0), running=True)
            mine = await client.join("w")
            mine_own = await mine.spawn(owner=client.session)
            for turn in range(12):
                batches = [mine.send(command("set_tag", mine_own, 10 * turn + i)) for i in range(5)]
                waiting = asyncio.create_task(mine.result(batches[-1]))
                if turn % 3:
                    await asyncio.sleep(0.003 * turn)
                relay.cut()
                with contextlib.suppress(cairn.Closed):
                    await waiting
                await cut_off(client, relay)
                await client.resume()
                for batch in batches:
                    if batch in mine.unanswered or batch in mine.results:
                        assert (await mine.result(batch)).values == [0]
                assert (await mine.body(mine_own))["tag"] == 10 * turn + 4
            assert not mine.unanswered and (await mine.body(mine_own))["owner"] == client.session
            # Each batch was applied once: 12 times 5 commands, and the spawn.
            counted = next(w for w in (await keeper.info())["worlds"] if w["name"] == "w")
            assert counted["batches"] == 61, counted
    run(body)


def test_the_last_focus_applies_after_a_resume():
    async def body(server):
        async with Relay(server.address, server.directory + "/relay") as relay, \
                aio.connect(relay.address, resumes=True) as client:
            world = await client.create("w", method="free", gravity=(0, 0, 0), running=True)
            near, far = await world.spawn(velocity=(0, 0, 0.1)), await world.spawn(position=(100, 0, 0), velocity=(0, 1, 0))
            await world.subscribe(areas=[cairn.areas.ball((0, 0, 0), 10)])
            world.focus(follow=[far])
            await cut_off(client, relay)
            await client.resume()
            frames = [frame async for frame in world.frames(5)]
            assert set(frames[-1].bodies) == {far}
            world.focus(areas=[cairn.areas.ball((0, 0, 0), 10)])
            async for frame in world.frames(20):
                if set(frame.bodies) == {near}:
                    break
            assert set(frame.bodies) == {near}
    run(body)


def test_resume_can_be_repeated_and_is_refused_after_close():
    async def body(server):
        async with Relay(server.address, server.directory + "/relay") as relay:
            client = await aio.connect(relay.address, resumes=True)
            world = await client.create("w", running=True)
            await world.subscribe()
            waiting = [asyncio.create_task(coroutine) for coroutine in
                       (world.step(1), world.result(99), world.wait_durable(10 ** 6), client.list())]
            await asyncio.sleep(0.05)
            await cut_off(client, relay)
            ended = await asyncio.gather(*waiting, return_exceptions=True)
            assert all(isinstance(error, (cairn.Closed, cairn.Refused)) or index == 3
                       for index, error in enumerate(ended)), ended
            # No server at the address: resume fails, and may be called again.
            relay.server.close()
            client.address = "unix:/nonexistent/socket"
            with pytest.raises(OSError):
                await client.resume()
            with pytest.raises(cairn.Closed):
                world.send(command("gravity", (0, 0, 0)))
            client.address = server.address
            await client.resume()
            assert [frame async for frame in world.frames(2)] and await world.totals()
            # After close() the server does not keep the session.
            await client.close()
            with pytest.raises(cairn.Refused, match="expired"):
                await client.resume()
            plain = await aio.connect(server.address)
            await plain.close()
            with pytest.raises(cairn.Refused, match="expired"):
                await plain.resume()
    run(body)
