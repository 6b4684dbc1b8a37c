"""The asyncio client against a real daemon: it says and sees the same as the synchronous one."""
import asyncio

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


def test_questions_have_the_same_answers():
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
def test_frames_are_awaited(profile):
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


def test_refusals_are_raised_where_they_belong():
    async def body(server):
        async with aio.connect(server.address) as client:
            world, _ = await falling(client, running=True)
            good, bad = world.apply(command("gravity", (0, -1, 0))), world.spawn(density=-1)
            results = await asyncio.gather(good, bad, return_exceptions=True)
            assert results[0].values == [0] and isinstance(results[1], cairn.Refused)
            assert (results[1].status, results[1].field) == ("range", "density")
            with pytest.raises(cairn.Refused, match="unknown_world"):
                await client.join("nowhere")
    run(body)


def test_who_waits_hears_that_the_connection_ended():
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
