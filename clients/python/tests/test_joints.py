"""Joints in the synchronous and the asyncio client: commands, frames of every profile, queries."""
import asyncio

import pytest

import cairn
from cairn import aio
from cairn.client import command
from cairn.testing import daemon, frames_to

PROFILES = ["plain", "exact", "view", "sim"]


def pair(world):
    """Two spheres joined by a hinge, and one apart; the hinge's id."""
    ball = world.shape(sphere=0.5)
    world.apply(command("gravity", (0, 0, 0)), *(command("spawn", position=(x, 0, 0), shapes=[ball]) for x in (0, 3, 40)))
    return world.apply(command("joint_create", "revolute", 1, 2, point_a=(1.5, 0, 0), place=1, tag=7)).values[0]


def last_frame(world, sub=1):
    frame = None
    for frame in world.frames(100, sub):
        if frame.tick == world.tick:
            break
    return frame


@pytest.mark.parametrize("profile", PROFILES)
def test_frames_have_the_creation_change_and_removal_of_a_joint(cairn_daemon, profile):
    with cairn_daemon.connect(caps=("ack", "exact")) as client:
        come_change_and_go(client.create("joints"), profile)


def come_change_and_go(world, profile):
    hinge = pair(world)
    world.subscribe(profile=profile, joints=True)
    shown = last_frame(world).joints[hinge]
    assert (shown.type, shown.a, shown.b, shown.passes, shown.tag) == ("revolute", 1, 2, True, 7)
    assert shown.point_a == (1.5, 0, 0) and shown.point_b == (-1.5, 0, 0) and len(shown.coordinates) == 6
    world.step(3, commands=[command("joint_set", hinge, tag=8, break_force=1e8), command("impulse", 1, (0, 900, 0))])
    frame = last_frame(world)
    queried = world.joint(hinge)
    assert (frame.joints[hinge].tag, frame.joints[hinge].break_force) == (8, 1e8)
    assert shown.tag == 7, "a frame given away keeps the joints it had"
    assert frame.joints[hinge].coordinates == pytest.approx(queried["coordinates"], abs=1e-6)
    world.step(1, commands=[command("remove", 2)])
    frame = last_frame(world)
    assert frame.joints == {} and 1 in frame.bodies


def test_frames_have_joints_of_their_bodies_only_with_the_columns_named(cairn_client):
    world = cairn_client.create("part")
    hinge = pair(world)
    world.subscribe(1, joints=["bodies", "owner"], follow=[2])
    world.subscribe(2, joints=True, follow=[3])
    world.subscribe(3)
    joint = last_frame(world, 1).joints[hinge]
    assert joint.type == "revolute" and joint.tag == 7 and joint.coordinates is None and joint.break_force is None
    assert last_frame(world, 2).joints == {} and last_frame(world, 3).joints == {}
    world.focus(1, follow=[3])
    world.step(1)
    assert last_frame(world, 1).joints == {}
    with pytest.raises(cairn.Refused) as refused:
        world.subscribe(4, joints=64)
        world.client.wait(["snapshot"], lambda f: f[0] == 4)
    assert refused.value.field == "joints"


def test_queries_return_joints_their_axes_and_linked_bodies(cairn_client):
    world = cairn_client.create("queries")
    hinge = pair(world)
    rope = world.apply(command("joint_create", "spherical", 0, 3, (40, 1, 0), place=1)).values[0]
    world.apply(command("joint_axis", hinge, 3, "limited", lower=-1, upper=1, motor="velocity", target=0.5, motor_limit=20))
    listed = world.joints()
    assert [joint["id"] for joint in listed] == [hinge, rope]
    assert listed[0]["type"] == "revolute" and listed[0]["anchor_a"] == pytest.approx((1.5, 0, 0))
    assert [joint["id"] for joint in world.joints(3)] == [rope] and listed[1]["a"] == 0
    joint = world.joint(hinge)
    assert joint["axes"][3] == joint["axes"][3] | {"mode": "limited", "lower": -1, "upper": 1, "motor": "velocity",
                                                   "target": 0.5, "motor_limit": 20, "wave": "constant"}
    assert world.linked(1) == [1, 2] and world.linked(3) == [3]
    seen = world.step(0, joints=True)
    assert set(seen.joints) == {hinge, rope} and len(seen.joints_hash) == 16 == len(seen.hash)
    assert seen.joints_hash != world.step(1, joints=True).joints_hash and world.step(1).joints_hash is None
    assert world.step(0, bodies=True).joints is None
    for ask in (lambda: world.joint(99), lambda: world.joints(99), lambda: world.linked(99)):
        with pytest.raises(cairn.Refused) as refused:
            ask()
        assert refused.value.status in ("unknown_joint", "unknown_body")


def test_a_list_is_requested_in_pages(cairn_client, monkeypatch):
    monkeypatch.setattr("cairn.queries.PAGE", 2)
    world = cairn_client.create("pages")
    pair(world)
    for _ in range(4):
        world.apply(command("joint_create", "fixed", 2, 3, place=1))
    assert [joint["id"] for joint in world.joints()] == [1, 2, 3, 4, 5]
    assert world.linked(1) == [1, 2, 3]


def test_a_joint_that_breaks_sends_an_event_and_leaves_the_frame(cairn_client):
    world = cairn_client.create("breaks")
    world.apply(command("spawn", position=(0, 5, 0), shapes=[world.shape(sphere=0.5)], mass=10))
    thread = world.apply(command("joint_create", "spherical", 0, 1, (0, 6, 0), place=1, break_force=20)).values[0]
    world.subscribe(joints=True, events=1 << 9, follow=[1])
    assert thread in next(world.frames(1)).joints
    world.step(5)
    frames = frames_to(world)
    (_, kind, a, b, value, _, point, _, joint), = [event for frame in frames for event in frame.events]
    assert (kind, a, b, joint) == ("joint_break", 0, 1, thread) and value > 1 and point[1] == pytest.approx(6, abs=0.1)
    assert frames[-1].joints == {} and world.joints() == []


def test_a_command_takes_words_and_refuses_unknown_words_and_missing_fields():
    assert command("joint_create", "drag", 0, 5) == [50, 10, 0, 5]
    assert command("joint_axis", 4, 2, spring="hertz", stiffness=3) == [53, 4, 2, 0, 0.0, 0.0, 0.0, 0.0, 2, 3.0]
    assert command("joint_targets", [(4, 3, 0.5)]) == [54, [[4, 3, 0.5]]]
    with pytest.raises(TypeError, match="body_a"):
        command("joint_create", "fixed", body_b=3)
    with pytest.raises(ValueError, match="revolute"):
        command("joint_create", "glue", 1, 2)


def test_the_asyncio_client_has_the_same_frames_and_answers(cairn_daemon):
    async def run():
        async with aio.connect(cairn_daemon.address) as client:
            world = await client.create("aio")
            ball = await world.shape(sphere=0.5)
            await world.apply(*(command("spawn", position=(x, 0, 0), shapes=[ball]) for x in (0, 3)))
            hinge = (await world.apply(command("joint_create", "revolute", 1, 2, (1.5, 0, 0), place=1))).values[0]
            await world.subscribe(joints=True, profile="sim")
            async for frame in world.frames(1):
                assert frame.joints[hinge].type == "revolute"
            assert [joint["id"] for joint in await world.joints()] == [hinge]
            assert (await world.joint(hinge))["axes"][3]["mode"] == "free"
            assert await world.linked(2) == [1, 2]
            stepped = await world.step(2, joints=True)
            assert stepped.joints[hinge].a == 1
    asyncio.run(run())


@pytest.fixture
def cairn_daemon():
    with daemon() as running:
        yield running
