"""Particles of subscriptions: the recorded streams that every client reads (tests/data/wire/particles.json), and frames of a world held
against the answers to queries."""
import asyncio
import json
import math
import os
import pathlib

import msgpack
import pytest

import cairn
from cairn import aio
from cairn.client import _Mirror
from cairn.columns import Malformed
from cairn.manifest import MESSAGE
from cairn.particles import Particles

SOURCE = pathlib.Path(os.environ.get("CAIRN_SRCDIR", pathlib.Path(__file__).parents[3]))
STREAMS = json.loads((SOURCE / "tests" / "data" / "wire" / "particles.json").read_text())
KINDS = {number: name for name, number in MESSAGE.items()}
PROFILES = {"plain": 0, "exact": 0, "view": 512, "sim": 4096}  # steps per metre


@pytest.mark.parametrize("stream", STREAMS["streams"], ids=lambda stream: stream["profile"])
def test_a_mirror_has_the_recorded_particles_after_each_frame(stream):
    mirror = _Mirror(STREAMS["fields"], stream["profile"], 0, STREAMS["particles"])
    for frame in stream["frames"]:
        done = []
        for part in frame["parts"]:
            number, *fields = msgpack.unpackb(msgpack.unpackb(bytes.fromhex(part)))
            done.append(mirror.take(KINDS[number], fields))
        assert done == [False, True] and mirror.tick == frame["tick"]
        shown = mirror.frames[-1]
        assert [list(pair) for pair in shown.systems.items()] == frame["systems"]
        assert [{"system": p.system, "serial": p.serial, "velocity": list(p.velocity), "position": list(p.position),
                 "size": [p.radius, p.mass], "life": [p.birth, p.death], "density": p.density, "pressure": p.pressure} for p in shown.particles] == frame["particles"]


def fountains(client, name):
    """A world with an emitter whose particles die, and one whose particles are dragged."""
    world = client.create(name)
    world.particles_create("short", position=(0, 2, 0), rate=8, life=0.3, life_deviation=0.2, speed=4, spread=1)
    world.particles_create("long", position=(8, 2, 0), rate=6, life=0, speed=4, spread=2, drag=0.002, mass_deviation=0.0004)
    return world


def last_frame(world, sub=1):
    frame = None
    for frame in world.frames(100, sub):
        if (frame.epoch, frame.tick) == (world.epoch, world.tick):
            break
    return frame


def check(frame, world, profile, seen=lambda serial, position: True):
    """The frame has the particles that a query finds."""
    meant = []
    for system in world.systems():
        meant += [(system["id"], serial, tuple(position)) for serial, position, *_ in world.particles(system["id"])
                  if seen(serial, position)]
    assert [p.key for p in frame.particles] == [(system, serial) for system, serial, _ in meant]
    most = 0.5 / PROFILES[profile] if PROFILES[profile] else 0
    for particle, (_, _, position) in zip(frame.particles, meant):
        assert all(abs(a - b) <= most for a, b in zip(particle.position, position))


@pytest.mark.parametrize("profile", PROFILES)
def test_frames_have_births_deaths_and_the_removal_of_a_system(cairn_server, profile):
    with cairn_server.connect(caps=("ack", "exact")) as client:
        world = fountains(client, f"spray-{profile}")
        world.subscribe(profile=profile, particles=True)
        for count in range(6):
            if count == 3:
                kept = list(frame.particles)
                world.particles_remove(1)
            world.step(7 + count)
            frame = last_frame(world)
            check(frame, world, profile)
            assert frame.systems == {system["id"]: system["alive"] for system in world.systems()}
            if count == 3:
                assert len(kept) > len(frame.particles), "a frame given away keeps the particles it had"


def test_areas_samples_and_counts_show_a_part(cairn_client):
    world = fountains(cairn_client, "parts")
    world.subscribe(1, profile="view", particles=["position"], areas=[cairn.areas.ball((8, 2, 0), 1)])
    world.subscribe(2, particles=["position", "velocity"], sample=3)
    world.subscribe(3, particles=["count"])
    world.step(20)
    check(last_frame(world, 1), world, "view", lambda _, position: math.dist(position, (8, 2, 0)) <= 1)
    frame = last_frame(world, 2)
    check(frame, world, "plain", lambda serial, _: serial % 3 == 0)
    assert frame.particles[0].radius is None
    frame = last_frame(world, 3)
    assert frame.particles == [] and len(frame.systems) == 2
    with pytest.raises(cairn.Refused) as refused:
        world.subscribe(4, particles=128)
        world.client.wait(["snapshot"], lambda f: f[0] == 4)
    assert refused.value.field == "particles"


def test_the_asyncio_client_has_the_same_particles(cairn_server):
    async def watch():
        async with aio.connect(cairn_server.address) as client:
            world = await client.create("same")
            await world.particles_create("spray", rate=9, life=0)
            await world.subscribe(particles=True, profile="view")
            await world.step(5)
            async for frame in world.frames(9):
                if frame.tick == 5:
                    return frame.particles
    assert len(asyncio.run(watch())) == 45


@pytest.mark.parametrize("blocks", [
    [1, 1, 3, 1, 1, 0, 0, 125, 0], [1, 1, 3, 0, 1, 0, 0, 125, 1, 0, 0, 0], [1, 1, 3, 0, 0, 0, 125, 2], [1, 1, 3, 0, 0, 0, 127],
    [1, 1, 3, 0, 0, 0, 126, 1, 1], [1, 0, 3, 0, 0, 0, 125, 1], [1, 3, 1, 0, 0, 0], [2, 1, 3, 0, 0, 0], [1, 1, 3, 1, 3, 0, 0],
    [1, 1, 1, 0, 0, 0, 62, 1, 1, 3, 0, 0, 0],
])
def test_damaged_blocks_are_refused_and_particles_shown_before_stay(blocks):
    particles = Particles(2, "view")
    particles.take([1, 1, 1, 3, 0, 1, [[1, 2]], bytes([1, 1, 3, 0, 2, 0, 1, 0, 2, 4, 6, 2, 4, 6]), None, 8])
    assert [p.position for p in particles.items] == [(1 / 512, 2 / 512, 3 / 512)] * 2
    with pytest.raises(Malformed):
        particles.take([1, 1, 2, 3, 0, 1, [[1, 2]], bytes(blocks), None, 0])
    assert len(particles.items) == 2
